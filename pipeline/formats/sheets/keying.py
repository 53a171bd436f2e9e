"""The sheet on which the forms of a printed dictionary are keyed in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipeline.formats.base import FormatOptions, Skipped, reader
from pipeline.formats.sheets.layout import Column, Layout
from pipeline.formats.sheets.reading import scan, strays

_READ = ("line", "annotator", "id", "lemma", "forms", "note")
_ASKED = (
    "All forms that the dictionary gives for the lemma, with commas between them, the lemma itself"
    " too where it is a form; - (a hyphen) if the dictionary lacks the lemma."
)


def layout(*, shown: bool = True) -> Layout:
    """Return the columns of a keying sheet.

    Parameters
    ----------
    shown : bool
        Whether the forms of the lexicon stand beside the lemma.

    Examples
    --------
    >>> layout().names
    ('lemma', 'forms', 'note', 'lexicon_forms', 'annotator', 'id')
    """
    beside = Column(
        "lexicon_forms", "forms in the lexicon", writable=False, width=60, required=False,
        help="What the lexicon says; for comparison alone.",
    )  # fmt: skip
    return Layout(
        (
            Column("lemma", "lemma", writable=False, width=24, help="Look it up."),
            Column("forms", "forms in the dictionary", writable=True, width=60, help=_ASKED),
            Column("note", "note", writable=True, width=40, help="Anything.", required=False),
            *((beside,) if shown else ()),
            Column("annotator", "annotator", writable=False, width=14, help="Your name."),
            Column("id", "id", writable=False, width=20, help="Ties the row to its lemma."),
        )
    )


def _check(path: Path, _options: FormatOptions) -> Sequence[Skipped]:
    """Find files that are no sheets: reading complains by itself of all else."""
    return strays(path, layout())


@reader("keying_sheet", suffixes=[], check=_check, kind="sheet")
def scan_keying(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """Read filled keying sheets, as any spreadsheet program saves them."""
    return scan(path, layout(), _READ)
