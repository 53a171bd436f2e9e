"""The coordinator's section of conflicts: its rows, and the sentence after a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.annotate.conflicts import Keep, Kept, choices, token_of
from pipeline.annotate.tasks import Work
from pipeline.annotate.web.languages import ENGLISH, Language
from pipeline.runner.conflicts import Conflict, SheetAnswer


@dataclass(frozen=True)
class ConflictRow:
    """A conflict of the list.

    Parameters
    ----------
    conflict : Conflict
        The conflict.
    sheets : tuple of tuple
        The equal answers in sheets, and whether they can be kept.
    token : str
        For its decision.
    """

    conflict: Conflict
    sheets: tuple[tuple[tuple[SheetAnswer, ...], bool], ...]
    token: str


@dataclass(frozen=True)
class PersonInConflict:
    """An annotator with several conflicts, to be decided together.

    Parameters
    ----------
    name : str
        The annotator.
    count : int
        Number of conflicts.
    token : str
        For their decision.
    """

    name: str
    count: int
    token: str


def row_of(work: Work, conflict: Conflict) -> ConflictRow:
    """Return the row of a conflict."""
    offered = choices(work, conflict)
    equal: dict[str | None, list[SheetAnswer]] = {}
    for each in conflict.sheets:
        equal.setdefault(each.answer, []).append(each)
    sheets = ((tuple(some), any(each in offered for each in some)) for some in equal.values())
    return ConflictRow(conflict, tuple(sheets), token_of([conflict]))


def people_in_conflict(conflicts: Sequence[Conflict]) -> list[PersonInConflict]:
    """Return the annotators with several conflicts, in the order of the list."""
    found: dict[str, list[Conflict]] = {}
    for each in conflicts:
        found.setdefault(each.annotator, []).append(each)
    return [
        PersonInConflict(who, len(own), token_of(own)) for who, own in found.items() if len(own) > 1
    ]


def kept_text(wanted: Keep, kept: Kept, language: Language = ENGLISH) -> str:
    """Return a sentence on what a decision did.

    Examples
    --------
    >>> kept_text(Keep(keep="page", annotator="anna", token=""), Kept(2))
    "Kept 2 answers of anna's page."
    """
    name, count = wanted.annotator, kept.decided
    if wanted.keep == "page":
        said = language.text_n(
            "Kept {n} answer of {name}'s page.", "Kept {n} answers of {name}'s page.", count,
            name=name,
        )  # fmt: skip
    else:
        said = language.text_n(
            "Kept {n} answer of {name}'s sheets.", "Kept {n} answers of {name}'s sheets.", count,
            name=name,
        )  # fmt: skip
    if kept.left:
        said += " " + language.text(
            "{left} more must be decided one by one: two sheets differ, the answer is not a label,"
            " or adjudicators have seen the page's answer.", left=kept.left,
        )  # fmt: skip
    return said
