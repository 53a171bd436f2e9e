"""The kinds of sheets that people are given: how each is laid out, what it asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.formats.sheets import annotation, keying
from pipeline.formats.sheets.layout import Layout
from schemas.tuples import arity, names_of_units


@dataclass(frozen=True)
class SheetKind:
    """A kind of sheet.

    Parameters
    ----------
    format : str
        The format that reads it back.
    answer : str
        The column that people fill in.
    layout : callable
        (labels to choose from, columns of the table) -> Layout.
    """

    format: str
    answer: str
    layout: Callable[[Sequence[str], Sequence[str]], Layout]


def _annotation(labels: Sequence[str], columns: Sequence[str]) -> Layout:
    examples = [name for name in columns if name.startswith("example_")]
    units = names_of_units(arity(columns))
    return annotation.layout(labels=labels, examples=examples, units=units)


def _keying(_labels: Sequence[str], columns: Sequence[str]) -> Layout:
    return keying.layout(shown="lexicon_forms" in columns)


SHEETS: Mapping[str, SheetKind] = {
    "annotation_sheet": SheetKind("annotation_sheet", "label", _annotation),
    "keying_sheet": SheetKind("keying_sheet", "forms", _keying),
}
"""Format to kind."""
