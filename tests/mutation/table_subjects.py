"""Tables of candidates and of annotations, in every format."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

import pipeline as lx
from tests.mutation import oracles
from tests.mutation.mutations import (
    BYTES_BYTE_MUTATIONS,
    TEXTS_CELL_MUTATIONS,
    MutationByteMutations,
    damage_gzip,
    table_mutation,
)
from tests.mutation.subject import Subject

HEAD = ["l1", "l2", "f", "f1", "f2", "N", "TP"]
WORDS = ["take", "make", "give", "pay", "have", "do"]
ROWS = [
    [
        word,
        f"{noun}{number}",
        str(number + 2),
        str(number + 9),
        str(number + 4),
        "999",
        str(number % 2),
    ]
    for number, word in enumerate(WORDS)
    for noun in ("walk", "place", "attention")
]
EXPERIMENT = """
name = "x"
[stages.candidates]
use = "extract.table"
path = "PATH"
[stages.judgements]
use = "join.table"
path = "PATH"
candidates = "candidates"
[stages.gold]
use = "join.gold"
path = "PATH"
candidates = "candidates"
covered = "l1"
[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["mi", "log_likelihood"]
"""


FREQUENCIES = """
name = "x"
[stages.words]
use = "extract.word_table"
path = "words.tsv"
columns = { word = "l1" }
"""


def text(separator: str = "\t", *, top: str = "") -> bytes:
    """Return the table as text."""
    return (top + "".join(separator.join(row) + "\n" for row in [HEAD, *ROWS])).encode()


def json_lines() -> bytes:
    """Return the table as JSON lines."""
    rows = [dict(zip(HEAD, row, strict=True)) for row in ROWS]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def table() -> pa.Table:
    """Return the table with its types."""
    columns = zip(*ROWS, strict=True)
    return pa.table({
        name: list(values) if name in {"l1", "l2"} else [int(value) for value in values]
        for name, values in zip(HEAD, columns, strict=True)
    })  # fmt: skip


def any_bytes(random: Random, content: bytes) -> bytes:
    """Change bytes or lines."""
    return random.choice(BYTES_BYTE_MUTATIONS)(random, content)


def parquet_bytes(rows: pa.Table) -> bytes:
    """Return a table as a Parquet file."""
    buffer = io.BytesIO()
    pq.write_table(rows, buffer)
    return buffer.getvalue()


def parquet(random: Random, content: bytes) -> bytes:
    """Change a Parquet file: its bytes, its columns, their types or their values."""
    if random.random() < 0.3:
        return random.choice(BYTES_BYTE_MUTATIONS)(random, content)
    rows = pq.read_table(io.BytesIO(content))
    place = random.randrange(rows.num_columns)
    name = rows.column_names[place]
    values = rows.column(place).to_pylist()
    act = random.choice(
        ["gone", "type", "value", "value", "value", "null", "again", "renamed", "cut"]
    )
    if act == "gone":
        return parquet_bytes(rows.remove_column(place))
    if act == "again":
        return parquet_bytes(pa.concat_tables([rows, rows.slice(random.randrange(len(values)), 1)]))
    if act == "cut":
        return parquet_bytes(rows.slice(0, random.choice([0, 1, 5])))
    if act == "renamed":
        names = [*rows.column_names]
        names[place] = random.choice(["other", "", name.upper(), "line"])
        return parquet_bytes(rows.rename_columns(names))
    if act == "null":
        values[random.randrange(len(values))] = None
    elif act == "type":
        kinds: list[Callable[[object], object]] = [str, lambda v: [v], lambda v: {"x": v}, lambda v: str(v).encode(),
                                                   lambda v: float(len(str(v))), lambda v: len(str(v)) > 1]  # fmt: skip
        change = random.choice(kinds)
        values = [change(value) for value in values]
    elif isinstance(values[0], str):
        values[random.randrange(len(values))] = random.choice(TEXTS_CELL_MUTATIONS)
    elif random.random() < 0.3:
        values = [float(value) for value in values]
        values[random.randrange(len(values))] = random.choice(
            [float("nan"), float("inf"), 1.5, -1.0, 1e300]
        )
    else:
        values[random.randrange(len(values))] = random.choice([-1, 0, 1 << 62, (1 << 63) - 1, 7])
    return parquet_bytes(rows.set_column(place, name, pa.array(values)))


def _expected_counts(
    reader: Callable[[Path], oracles.Records | None], name: str
) -> Callable[[Path], object]:
    def count(folder: Path) -> object:
        rows = reader(folder / name)
        if rows is not None and all(oracles.whole_number(row.get("f")) is not None for row in rows):
            rows = [row for row in rows if oracles.whole_number(row["f"]) != 0]  # min_frequency
        candidates, labels = oracles.rows_and_sum(rows, "f"), oracles.rows_and_sum(rows, "TP")
        return None if candidates is None or labels is None else (*candidates, labels[1])

    return count


def _observed_counts(folder: Path) -> object:
    finished = lx.show(folder / "x.toml", runs=folder / "runs")
    candidates, judged = finished.table("candidates"), finished.table("judgements.coverage")
    return candidates.height, candidates["f"].sum(), judged["n_true"].sum()


def _subject(
    name: str,
    content: bytes,
    mutation: MutationByteMutations,
    reader: Callable[[Path], oracles.Records | None],
    weight: int = 2,
) -> Subject:
    return Subject(
        name=name,
        kind="tables",
        files={"x.toml": EXPERIMENT.replace("PATH", name).encode(), name: content},
        targets={name: mutation},
        expected=_expected_counts(reader, name),
        observed=_observed_counts,
        weight=weight,
    )  # fmt: skip


def _words_expected(folder: Path) -> object:
    rows = oracles.records(folder / "words.tsv", "\t")
    summed = oracles.rows_and_sum(rows, "f")
    if rows is None or summed is None:
        return None
    return len({row.get("l1") for row in rows if oracles.whole_number(row["f"])}), summed[1]


def _words_observed(folder: Path) -> object:
    words = lx.show(folder / "x.toml", runs=folder / "runs").table("words")
    return words.height, words["f"].sum()


WORD_LIST = Subject(
    name="words.tsv",
    kind="tables",
    files={"x.toml": FREQUENCIES.encode(), "words.tsv": text()},
    targets={"words.tsv": table_mutation("\t")},
    expected=_words_expected,
    observed=_words_observed,
)
"""A frequency list with repeated words."""

SUBJECTS = (
    _subject("pairs.tsv", text(), table_mutation("\t"), lambda path: oracles.records(path, "\t"), 4),
    _subject("pairs.csv", text(","), table_mutation(","), lambda path: oracles.records(path, ","), 3),
    _subject("pairs.ds", text(top="# made by hand\n"), table_mutation("\t", top=1), lambda path: oracles.records(path, "\t", comment="#")),
    _subject("pairs.tsv.gz", gzip.compress(text(), mtime=0), damage_gzip, lambda path: oracles.records(path, "\t")),
    _subject("pairs.jsonl", json_lines(), any_bytes, oracles.json_lines),
    _subject("pairs.parquet", parquet_bytes(table()), parquet, oracles.parquet, 3),
    WORD_LIST,
)  # fmt: skip
"""Candidates and their judgements."""


_JUDGED_BY_MACHINE = """
name = "x"
[stages.candidates]
use = "extract.table"
path = "pairs.tsv"
[stages.machine]
use = "join.machine"
path = "said.tsv"
candidates = "candidates"
categories = { TP = "TP" }
judge = "robot"
"""


def _expected_of_machine(folder: Path) -> object:
    return oracles.rows_and_sum(oracles.records(folder / "said.tsv", "\t"), "TP")


def _observed_of_machine(folder: Path) -> object:
    predictions = lx.show(folder / "x.toml", runs=folder / "runs").table("machine")
    return predictions.height, int(predictions["prediction"].sum())


MACHINES = (
    Subject(
        name="said.tsv",
        kind="tables",
        files={"x.toml": _JUDGED_BY_MACHINE.encode(), "pairs.tsv": text(), "said.tsv": text()},
        targets={"said.tsv": table_mutation("\t")},
        expected=_expected_of_machine,
        observed=_observed_of_machine,
    ),
)
"""Predictions of a machine, one for each candidate."""
