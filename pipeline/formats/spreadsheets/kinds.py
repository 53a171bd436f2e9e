"""Kinds of sheets: annotation and keying sheets with layouts and readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from pipeline.formats.base import FormatOptions, SkippedPart, reader
from pipeline.formats.spreadsheets.layout import Column, Layout
from pipeline.formats.spreadsheets.read import check_is_sheet, scan
from schemas.candidates import MOST, arity, names_of_units

_PAIR = names_of_units(2)
_FURTHER = names_of_units(MOST)[len(_PAIR) :]
"""Units that only tuples have."""
_ANNOTATION_COLUMNS = ("line", "annotator", "id", *_PAIR, "label", "note", *_FURTHER, "round")

_EMPTY = "If you cannot decide, leave the cell empty and say why under note."
_SIDES = ("Left unit.", "Right unit.")
_ORDINALS = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth")


def _history(name: str, text: str, *, guarded: bool = True) -> Column:
    return Column(
        name, name, writable=False, width=12, required=False, help=text, printed=False,
        guarded=guarded,
    )  # fmt: skip


HISTORY = (
    _history("unsure", "yes: the annotator was not sure."),
    _history("round", "annotation, or adjudication: a decision where answers differ."),
    _history("at", "When the answer was given, UTC.", guarded=False),
    _history("seconds", "From seeing the card to deciding.", guarded=False),
    _history("suggested", "The suggestion that the annotator saw."),
)
"""Columns of exports; of them, only the round is read."""
_ROUND = HISTORY[1:2]


def annotation_layout(
    *,
    labels: Sequence[str] = (),
    examples: Sequence[str] = (),
    units: Sequence[str] = _PAIR,
    optional: Sequence[str] = (),
    further: Sequence[Column] = (),
) -> Layout:
    """Return the columns of an annotation sheet.

    Parameters
    ----------
    labels : sequence of str
        Labels in the drop-down list.
    examples : sequence of str
        Names of example columns.
    units : sequence of str
        Names of unit columns: two for pairs, up to six for tuples.
    optional : sequence of str
        Units that completed sheets may lack.
    further : sequence of Column
        Those of `HISTORY` that the sheet has.

    Examples
    --------
    >>> annotation_layout(labels=["SVC", "free"], examples=["example_1"]).names
    ('l1', 'l2', 'label', 'note', 'example_1', 'annotator', 'id')
    >>> annotation_layout(units=["l1", "l2", "l3"]).names
    ('l1', 'l2', 'l3', 'label', 'note', 'annotator', 'id')
    """
    pair = len(units) == len(_PAIR)
    what, helps = ("pair", _SIDES) if pair else ("tuple", [f"{each} unit." for each in _ORDINALS])
    sides = (Column(name, name, writable=False, width=24, help=text, required=name not in optional)
             for name, text in zip(units, helps, strict=False))  # fmt: skip
    texts = (Column(name, name.replace("_", " "), writable=False, width=48, required=False,
                    help="" if number else _marks_help(what))
             for number, name in enumerate(examples))  # fmt: skip
    return Layout(
        (
            *sides,
            Column("label", "label", writable=True, width=16, choices=tuple(labels), help=_EMPTY),
            Column("note", "note", writable=True, width=28, help="Any remark.", required=False),
            *texts,
            Column(
                "annotator", "annotator", writable=False, width=14, help="Your name.", printed=False
            ),
            Column(
                "id",
                "id",
                writable=False,
                width=20,
                help=f"Identifies the {what} of this row.",
                printed=False,
            ),
            *further,
        )
    )


def _marks_help(what: str) -> str:
    return (
        f"The {what} is marked by [[ ]], and […] replaces omitted words; ⟦⟦ ⟧⟧ and ⟦…⟧ are used if "
        "the text has square brackets."
    )


_ANY = annotation_layout(units=(*_PAIR, *_FURTHER), optional=_FURTHER, further=_ROUND)
"""Layout of completed sheets of pairs or tuples."""


def _check_annotation(path: Path, _options: FormatOptions) -> Sequence[SkippedPart]:
    """Find files that are not sheets; other errors are raised on reading."""
    return check_is_sheet(path, _ANY)


@reader("annotation_sheet", suffixes=[], check=_check_annotation, kind="sheet")
def scan_annotation(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """Read completed annotation sheets, as saved by any spreadsheet program.

    In sheets of pairs, further units of tuples are null.
    """
    return scan(path, _ANY, _ANNOTATION_COLUMNS)


# Keying sheets: the forms of a printed dictionary.

_KEYING_COLUMNS = ("line", "annotator", "id", "lemma", "forms", "note", "round")
_FORMS_HELP = (
    "All forms that the dictionary gives for the lemma, separated by commas, including the lemma "
    "itself if it is a form; - (a hyphen) if the dictionary lacks the lemma."
)


def keying_layout(
    *, has_lexicon: bool = True, keyed: bool = False, further: Sequence[Column] = ()
) -> Layout:
    """Return the columns of a keying sheet.

    Parameters
    ----------
    has_lexicon : bool
        Show the forms of the lexicon beside the lemma.
    keyed : bool
        Show the different forms that people keyed in.
    further : sequence of Column
        Those of `HISTORY` that the sheet has.

    Examples
    --------
    >>> keying_layout().names
    ('lemma', 'forms', 'note', 'lexicon_forms', 'annotator', 'id')
    """
    beside = Column(
        "lexicon_forms", "forms in the lexicon", writable=False, width=60, required=False,
        help="Forms in the lexicon, for comparison only.",
    )  # fmt: skip
    first = Column(
        "keyed_forms", "forms keyed in", writable=False, width=60, required=False,
        help="What each person keyed in: decide which forms the dictionary gives.",
    )  # fmt: skip
    return Layout(
        (
            Column(
                "lemma", "lemma", writable=False, width=24, help=("Look it up in the dictionary.")
            ),
            Column("forms", "forms in the dictionary", writable=True, width=60, help=_FORMS_HELP),
            Column("note", "note", writable=True, width=40, help="Any remark.", required=False),
            *((first,) if keyed else ()),
            *((beside,) if has_lexicon else ()),
            Column("annotator", "annotator", writable=False, width=14, help="Your name."),
            Column("id", "id", writable=False, width=20, help="Identifies the lemma of this row."),
            *further,
        )
    )


_ANY_KEYING = keying_layout(keyed=True, further=_ROUND)


def _check_keying(path: Path, _options: FormatOptions) -> Sequence[SkippedPart]:
    """Find files that are not sheets; other errors are raised on reading."""
    return check_is_sheet(path, _ANY_KEYING)


@reader("keying_sheet", suffixes=[], check=_check_keying, kind="sheet")
def scan_keying(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """Read completed keying sheets, as saved by any spreadsheet program."""
    return scan(path, _ANY_KEYING, _KEYING_COLUMNS)


# Kinds of sheets by format


@dataclass(frozen=True)
class SheetKind:
    """A kind of sheet.

    Parameters
    ----------
    format : str
        The format that reads it.
    answer : str
        The column to fill in.
    layout : callable
        (labels, columns of the table) -> Layout.
    """

    format: str
    answer: str
    layout: Callable[[Sequence[str], Sequence[str]], Layout]


def _annotation(labels: Sequence[str], columns: Sequence[str]) -> Layout:
    examples = [name for name in columns if name.startswith("example_")]
    units = names_of_units(arity(columns))
    return annotation_layout(
        labels=labels, examples=examples, units=units, further=_history_of(columns)
    )


def _keying(_labels: Sequence[str], columns: Sequence[str]) -> Layout:
    return keying_layout(
        has_lexicon="lexicon_forms" in columns, keyed="keyed_forms" in columns,
        further=_history_of(columns),
    )  # fmt: skip


def _history_of(columns: Sequence[str]) -> list[Column]:
    return [each for each in HISTORY if each.name in columns]


SHEETS: Mapping[str, SheetKind] = {
    "annotation_sheet": SheetKind("annotation_sheet", "label", _annotation),
    "keying_sheet": SheetKind("keying_sheet", "forms", _keying),
}
"""Kinds by format."""
