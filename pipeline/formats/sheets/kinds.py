"""The kinds of sheets that people are given: how each is laid out, what it asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.formats.sheets import annotation, keying
from pipeline.formats.sheets.layout import Layout


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
        (options of the stage, columns of its table) -> Layout.
    """

    format: str
    answer: str
    layout: Callable[[Any, Sequence[str]], Layout]


def _annotation(config: Any, columns: Sequence[str]) -> Layout:
    examples = [name for name in columns if name.startswith("example_")]
    return annotation.layout(labels=config.labels, examples=examples)


def _keying(_config: Any, columns: Sequence[str]) -> Layout:
    return keying.layout(shown="lexicon_forms" in columns)


SHEETS: Mapping[str, SheetKind] = {
    "annotation_sheet": SheetKind("annotation_sheet", "label", _annotation),
    "keying_sheet": SheetKind("keying_sheet", "forms", _keying),
}
"""Format to kind."""
