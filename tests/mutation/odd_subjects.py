"""Valid files in unusual forms: number formats, headers, encodings, types, many columns or files.

A writer changes the form of a table and not its content. The only correct outcomes are the same
rows, or a refusal.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

import pipeline as lx
from tests.mutation import cluster_subjects, lexicon_subjects
from tests.mutation.mutations import MutationByteMutations
from tests.mutation.subject import Subject
from tests.mutation.table_subjects import HEAD, parquet_bytes

Rows = list[list[str]]

WORDS = ["Maß", "nähme", "École", "naïf", "señor", "İzmir"]
ROWS: Rows = [
    [f"{word}{place}", f"œuvre{number}", str(1_000 + 37 * number + place), str(20_000 + number),
     str(30_000 + place), "5082148", str((number + place) % 2)]
    for number, word in enumerate(WORDS)
    for place in range(3)
]  # fmt: skip
COUNTS = ("f", "f1", "f2", "N")
PAIRS = {(row[0], row[1]) for row in ROWS}
TRUTH = (PAIRS, sum(int(row[2]) for row in ROWS), sum(row[6] == "1" for row in ROWS))
"""The pairs, the sum of their frequencies, and the number of true positives."""
EXPERIMENT = """
name = "x"
[stages.candidates]
use = "extract.table"
path = "PATH"
[stages.judgements]
use = "join.table"
path = "PATH"
candidates = "candidates"
[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["mi", "log_likelihood"]
"""


# Numbers and labels


def _group_digits(mark: str) -> Callable[[int], str]:
    return lambda number: f"{number:,}".replace(",", mark)


def _scientific(number: int) -> str:
    digits = str(number).rstrip("0")
    return f"{digits[0]}.{digits[1:] or '0'}E+{len(str(number)) - 1:02d}"


NUMBERS: tuple[Callable[[int], str], ...] = (
    *(_group_digits(mark) for mark in (",", ".", "'", "\u2019", " ", "\u00a0", "\u202f", "_")),
    *(lambda n, end=end: f"{n}{end}" for end in (".0", ",0", ".", ".00", " ", "\u00a0")),
    *(lambda n, start=start: f"{start}{n}" for start in ("+", " ", "0", "00", "\u200e", "'")),
    _scientific,
    lambda n: str(n).translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")),
    lambda n: str(n).translate(str.maketrans("0123456789", "０１２３４５６７８９")),
    lambda n: f"{n} %",
    lambda n: f"{n:,}.00",
)
"""Ways to write the same whole number."""
LABELS = (("TRUE", "FALSE"), ("True", "False"), ("t", "f"), ("yes", "no"), ("ja", "nein"), ("x", ""),
          ("1.0", "0.0"), ("1,0", "0,0"), ("+", "-"), ("TP", "FP"), ("1 ", "0 "), ("100%", "0%"))  # fmt: skip
"""Ways to write true and false."""


def reformat(random: Random, head: Sequence[str], rows: Rows) -> Rows:
    """Change the form of counts or labels, in all columns or in one."""
    counts = [place for place, name in enumerate(head) if name in COUNTS]
    if "TP" in head and random.random() < 0.3:
        true, false = random.choice(LABELS)
        at = head.index("TP")
        return [[*row[:at], true if row[at] == "1" else false, *row[at + 1 :]] for row in rows]
    if not counts:
        return rows
    form = random.choice(NUMBERS)
    columns = counts if random.random() < 0.5 else [random.choice(counts)]
    share = random.choice([1.0, 1.0, 0.5])
    return [
        [form(int(value)) if place in columns and random.random() < share else value
         for place, value in enumerate(row)]
        for row in rows
    ]  # fmt: skip


# Headers and columns


def rename_columns(random: Random, head: list[str], rows: Rows) -> tuple[list[str], Rows]:
    """Change the header or the columns: case, spaces, order, row numbers, more columns."""
    change = random.choice(COLUMNS)
    return change(random, head, rows)


def _spaces(random: Random, head: list[str], rows: Rows) -> tuple[list[str], Rows]:
    return [random.choice([f" {name}", f"{name} ", f"{name}\u00a0"]) for name in head], rows


def _reorder(random: Random, head: list[str], rows: Rows) -> tuple[list[str], Rows]:
    order = random.sample(range(len(head)), len(head))
    return [head[place] for place in order], [[row[place] for place in order] for row in rows]


def _widen(random: Random, head: list[str], rows: Rows) -> tuple[list[str], Rows]:
    many = random.choice([50, 1_000, 3_000])
    values = [random.choice(["", "0", "x", "1,5"])] * many
    return [*head, *(f"c{number}" for number in range(many))], [[*row, *values] for row in rows]


COLUMNS: tuple[Callable[[Random, list[str], Rows], tuple[list[str], Rows]], ...] = (
    _spaces,
    _reorder,
    _widen,
    lambda _, head, rows: ([name.upper() for name in head], rows),
    lambda _, head, rows: (["", *head], [[str(number), *row] for number, row in enumerate(rows)]),
    lambda _, head, rows: ([*head, ""], [[*row, ""] for row in rows]),
    # as R writes row names, and a row of units
    lambda _, head, rows: (head, [[str(number + 1), *row] for number, row in enumerate(rows)]),
    lambda _, head, rows: (head, [["(word)", "(word)", *("(tokens)" for _ in head[2:])], *rows]),
)
"""Changes of a header or of columns."""


# Text


def write_text(separator: str) -> MutationByteMutations:
    """Return a mutation that writes a delimited table in an unusual form."""

    def write(random: Random, content: bytes) -> bytes:
        head, *rows = ([*line.split("\t")] for line in content.decode().splitlines())
        rows = reformat(random, head, rows) if random.random() < 0.6 else rows
        if random.random() < 0.4:
            head, rows = rename_columns(random, head, rows)
        quoting: Literal[0, 1] = csv.QUOTE_ALL if random.random() < 0.3 else csv.QUOTE_MINIMAL
        mark = random.choice([separator] * 6 + [";", ",", "\t", "|"])
        ends = random.choice(["\n", "\n", "\r\n", "\r"])
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer, delimiter=mark, quoting=quoting, lineterminator=ends)
        writer.writerows([head, *rows])
        text = _above(random, ends, mark, len(head)) + buffer.getvalue()
        if random.random() < 0.2:
            text = text.removesuffix(ends) if random.random() < 0.5 else text + ends * 2
        return _encode(random, text)

    return write


def _above(random: Random, ends: str, mark: str, columns: int) -> str:
    """Return lines above a header, rarely any."""
    return (
        random.choice(
            [""] * 12 + ["# made by hand", "", " ", f"sep={mark}", "Table 1", mark * (columns - 1)]
        )
        + (ends if random.random() < 0.3 else "")
        if random.random() < 0.25
        else ""
    )


def _encode(random: Random, text: str) -> bytes:
    if random.random() < 0.2:
        text = unicodedata.normalize("NFD", text)
    name = random.choice(
        ["utf-8"] * 8 + ["utf-8-sig", "utf-16", "utf-16-le", "cp1252", "mac-roman"]
    )
    try:
        return text.encode(name)
    except UnicodeEncodeError:  # a letter that the encoding lacks
        return text.encode()


# JSON lines and Parquet


def write_json(random: Random, content: bytes) -> bytes:
    """Write JSON lines in unusual forms: numbers as text or with a point, order of keys, escapes."""
    rows = [json.loads(line) for line in content.decode().splitlines()]
    form = random.choice([int, float, str, Decimal, lambda n: f"{int(n):,}", lambda n: f"{n}.0"])
    columns = random.choice([COUNTS, ("f",), ("f1", "N")])
    share, ascii_only = random.choice([1.0, 0.5]), random.random() < 0.5
    more: dict[str, Any] = random.choice([{}, {}, {"note": None}, {"note": [{"a": 1}]}])
    lines = []
    for row in rows:
        for name in columns:
            if random.random() < share:
                row[name] = form(row[name])
        items = random.sample(sorted(row), len(row)) if random.random() < 0.3 else list(row)
        lines.append(json.dumps({**{name: row[name] for name in items}, **more},
                                ensure_ascii=ascii_only, default=int))  # fmt: skip
    return _encode(random, random.choice(["\n"] * 6 + ["\r\n", "\n\n"]).join(lines) + "\n")


TYPES: tuple[tuple[Any, Callable[[int], Any]], ...] = (
    *((kind, int) for kind in (pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.uint64())),
    *((kind, float) for kind in (pa.float32(), pa.float64())),
    (pa.decimal128(12, 0), Decimal),
    (pa.decimal128(14, 2), Decimal),
    (pa.decimal256(60, 0), Decimal),
    (pa.float64(), lambda n: n + 0.5),
    (pa.decimal128(14, 2), lambda n: Decimal(n) + Decimal("0.25")),
    *((kind, str) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    (pa.dictionary(pa.int32(), pa.string()), str),
    (pa.binary(), lambda n: str(n).encode()),
    *((kind, int) for kind in (pa.date32(), pa.timestamp("ms"), pa.duration("s"), pa.time64("us"))),
    (pa.list_(pa.int64()), lambda n: [n]),
    (pa.struct({"n": pa.int64()}), lambda n: {"n": n}),
    (pa.bool_(), bool),
    (pa.null(), lambda _: None),
)
"""Types of Arrow with conversions of a count; two of them give counts a fraction."""


def write_parquet(random: Random, content: bytes) -> bytes:
    """Write a Parquet file in unusual forms: types, codecs, row groups, dictionaries, columns."""
    table = pq.read_table(io.BytesIO(content))
    counts = random.choice([COUNTS, ("f",), ("N",)])
    kind, form = random.choice(TYPES)
    for name in counts if random.random() < 0.7 else ():
        values = [form(value) for value in table[name].to_pylist()]
        try:
            column = pa.array(values, kind)
        except (pa.ArrowInvalid, OverflowError):  # a count that the type cannot hold
            continue
        table = table.set_column(table.column_names.index(name), name, column)
    for name in ("l1", "l2"):
        kind = random.choice([pa.string(), pa.string(), pa.large_string(), pa.string_view()])
        table = table.set_column(table.column_names.index(name), name, table[name].cast(kind))
    if random.random() < 0.3:
        values = [value == 1 for value in table["TP"].to_pylist()]
        table = table.set_column(table.column_names.index("TP"), "TP", pa.array(values))
    if random.random() < 0.2:
        table = table.append_column("more", pa.array([[{"a": 1}]] * table.num_rows))
    buffer = io.BytesIO()
    pq.write_table(
        table,
        buffer,
        row_group_size=random.choice([1, 4, 1_000]),
        compression=random.choice(["none", "snappy", "gzip", "brotli", "zstd", "lz4"]),
        use_dictionary=random.random() < 0.5,
        data_page_version=random.choice(["1.0", "2.0"]),
        version=random.choice(["1.0", "2.4", "2.6"]),
    )
    return buffer.getvalue()


# Expected and observed results


def _fraction(path: Path) -> bool:
    """Return true for a Parquet file in which a count has a fraction: it must be refused."""
    if path.suffix != ".parquet":
        return False
    values = [value for name in COUNTS for value in pq.read_table(path)[name].to_pylist()]
    return any(isinstance(each, float | Decimal) and each != int(each) for each in values)


def _expected_counts(name: str) -> Callable[[Path], object]:
    def rows(folder: Path) -> object:
        return "a refusal: counts have fractions" if _fraction(folder / name) else TRUTH

    return rows


def _observed_counts(folder: Path) -> object:
    finished = lx.show(folder / "x.toml", runs=folder / "runs")
    candidates, judged = finished.table("candidates"), finished.table("judgements.coverage")
    pairs = {tuple(unicodedata.normalize("NFC", text) for text in pair)
             for pair in candidates.select("l1", "l2").iter_rows()}  # fmt: skip
    return pairs, candidates["f"].sum(), judged["n_true"].sum()


def _text(rows: Rows, head: Sequence[str] = HEAD) -> bytes:
    return "".join("\t".join(row) + "\n" for row in [list(head), *rows]).encode()


def _records() -> list[dict[str, Any]]:
    return [
        {name: value if name in {"l1", "l2"} else int(value) for name, value in zip(HEAD, row, strict=True)}
        for row in ROWS
    ]  # fmt: skip


def _subject(
    name: str, content: bytes, mutation: MutationByteMutations, *, weight: int = 2
) -> Subject:
    return Subject(
        name=f"odd {name}",
        kind="odd files",
        files={"x.toml": EXPERIMENT.replace("PATH", name).encode(), name: content},
        targets={name: mutation},
        expected=_expected_counts(name),
        observed=_observed_counts,
        weight=weight,
    )


_MANY = {f"parts/{number:03d}.tsv": _text([row]) for number, row in enumerate(ROWS)}
_GOLD, _LEXICON = cluster_subjects.SUBJECTS[0], lexicon_subjects.SUBJECTS[0]
_FORMS = [tuple(line.split("\t")) for line in _LEXICON.files["lexicon.tsv"].decode().splitlines()]

SUBJECTS = (
    _subject("pairs.tsv", _text(ROWS), write_text("\t"), weight=5),
    _subject("pairs.csv", _text(ROWS), write_text(","), weight=5),
    _subject("pairs.jsonl", "".join(json.dumps(row) + "\n" for row in _records()).encode(), write_json),
    _subject("pairs.parquet", parquet_bytes(pa.Table.from_pylist(_records())), write_parquet, weight=5),
    Subject(
        name="odd file of many",
        kind="odd files",
        files={"x.toml": EXPERIMENT.replace("PATH", "parts/*.tsv").encode(), **_MANY},
        targets={"parts/*.tsv": write_text("\t")},
        expected=lambda _: TRUTH,
        observed=_observed_counts,
        weight=2,
    ),
    replace(_GOLD, name="odd gold.tsv", kind="odd files", targets={"gold.tsv": write_text("\t")},
            expected=lambda _: (8, 36)),
    replace(_LEXICON, name="odd lexicon.tsv", kind="odd files",
            targets={"lexicon.tsv": write_text("\t")}, expected=lambda _: frozenset(_FORMS[1:])),
)  # fmt: skip
"""Tables in each format, as other programs and people write them."""
