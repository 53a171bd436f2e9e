"""The sheet on which candidates are annotated: what it looks like, how it is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipeline.formats.base import FormatOptions, Skipped, reader
from pipeline.formats.sheets.layout import Column, Layout
from pipeline.formats.sheets.reading import scan, strays

_READ = ("line", "annotator", "id", "l1", "l2", "label", "note")

_EMPTY = "Leave it empty if you cannot say yet."
_MARKS = (
    "The pair stands in [[ ]], and […] for words that were left out;"
    " ⟦⟦ ⟧⟧ and ⟦…⟧ where the text has square brackets."
)


def layout(*, labels: Sequence[str] = (), examples: Sequence[str] = ()) -> Layout:
    """Return the columns of an annotation sheet.

    Parameters
    ----------
    labels : sequence of str
        What the drop-down of the label offers.
    examples : sequence of str
        Names of the columns with examples in context.

    Examples
    --------
    >>> layout(labels=["SVC", "free"], examples=["example_1"]).names
    ('l1', 'l2', 'label', 'note', 'example_1', 'annotator', 'id')
    """
    shown = (Column(name, name.replace("_", " "), writable=False, width=48, required=False,
                    help="" if number else _MARKS)
             for number, name in enumerate(examples))  # fmt: skip
    return Layout(
        (
            Column("l1", "l1", writable=False, width=24, help="Left unit."),
            Column("l2", "l2", writable=False, width=24, help="Right unit."),
            Column("label", "label", writable=True, width=16, choices=tuple(labels), help=_EMPTY),
            Column("note", "note", writable=True, width=28, help="Anything.", required=False),
            *shown,
            Column(
                "annotator", "annotator", writable=False, width=14, help="Your name.", printed=False
            ),
            Column(
                "id",
                "id",
                writable=False,
                width=20,
                help="Ties the row to its pair.",
                printed=False,
            ),
        )
    )


def _check(path: Path, _options: FormatOptions) -> Sequence[Skipped]:
    """Find files that are no sheets: reading complains by itself of all else."""
    return strays(path, layout())


@reader("annotation_sheet", suffixes=[], check=_check, kind="sheet")
def scan_annotation(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """Read filled annotation sheets, as any spreadsheet program saves them."""
    return scan(path, layout(), _READ)
