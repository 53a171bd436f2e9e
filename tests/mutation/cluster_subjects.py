"""Clusters and gold classes of word types."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pipeline as lx
from tests.mutation import oracles
from tests.mutation.mutations import MutationByteMutations, table_mutation
from tests.mutation.subject import Subject

_WORDS = ["dog", "cat", "run", "walk", "big", "small", "the", "of"]
_EXPERIMENT = """
name = "x"
[stages.gold]
use = "extract.gold_table"
path = "gold.tsv"
[stages.clusters]
use = "extract.clusters"
system = "x"
path = "PATH"
[stages.types]
use = "evaluate.type_level"
gold = "gold"
systems = ["clusters"]
"""
_GOLD = "item\tgold\tf\n" + "".join(
    f"{w}\t{'NVAF'[n // 2]}\t{n + 1}\n" for n, w in enumerate(_WORDS)
)
_PATHS = "".join(f"{n // 3:03b}\t{w}\t{n + 1}\n" for n, w in enumerate(_WORDS))
_TABLE = "item\tcluster\tf\n" + "".join(f"{w}\t{n // 3}\t{n + 1}\n" for n, w in enumerate(_WORDS))
_BLOCKS = "\n\n".join(["\n".join(_WORDS[:3]), "\n".join(_WORDS[3:6]), "\n".join(_WORDS[6:])]) + "\n"


def _table_counter(table: str) -> Callable[[Path], object]:
    def count(folder: Path) -> object:
        entries = lx.show(folder / "x.toml", runs=folder / "runs").table(table)
        return entries.height, entries["f"].sum()

    return count


def _items(folder: Path) -> object:
    """Return the number of clustered items; a repeated item of a cluster counts once."""
    lines = oracles.lines_of(folder / "x.blocks")
    blocks = "\n".join(line.strip() for line in lines or []).split("\n\n")
    return (
        sum(len({line for line in block.split("\n") if line}) for block in blocks)
        if lines
        else None
    )


def _path_rows(folder: Path) -> object:
    rows = [line.split("\t") for line in oracles.lines_of(folder / "x.paths") or [] if line.strip()]
    if not rows or any(len(row) != 3 for row in rows):
        return None
    counted = oracles.rows_and_sum([{"f": row[2]} for row in rows], "f")
    return None if counted is None else (len({(row[0], row[1]) for row in rows}), counted[1])


def _subject(
    name: str,
    content: str,
    mutation: MutationByteMutations,
    expected: Callable[[Path], object],
    observed: Callable[[Path], object],
) -> Subject:
    path = "x.tsv" if name == "gold.tsv" else name
    others = {"gold.tsv": _GOLD.encode(), path: (_TABLE if path == "x.tsv" else content).encode()}
    return Subject(
        name=name,
        kind="clusters",
        files={"x.toml": _EXPERIMENT.replace("PATH", path).encode(), **others},
        targets={name: mutation},
        expected=expected,
        observed=observed,
    )


def _sum_of(name: str, label: str) -> Callable[[Path], object]:
    """Return a function that counts distinct pairs of item and label, and sums f."""

    def count(folder: Path) -> object:
        rows = oracles.records(folder / name, "\t")
        counted = oracles.rows_and_sum(rows, "f")
        if rows is None or counted is None:
            return None
        return len({(row.get("item"), row.get(label)) for row in rows}), counted[1]

    return count


def _number_of_items(folder: Path) -> object:
    return lx.show(folder / "x.toml", runs=folder / "runs").table("clusters").height


SUBJECTS = (
    _subject(
        "gold.tsv", _GOLD, table_mutation("\t"), _sum_of("gold.tsv", "gold"), _table_counter("gold")
    ),
    _subject(
        "x.tsv",
        _TABLE,
        table_mutation("\t"),
        _sum_of("x.tsv", "cluster"),
        _table_counter("clusters"),
    ),
    _subject("x.paths", _PATHS, table_mutation("\t"), _path_rows, _table_counter("clusters")),
    _subject("x.blocks", _BLOCKS, table_mutation(" "), _items, _number_of_items),
)
"""Dictionaries of clusters and of classes."""
