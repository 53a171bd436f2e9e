"""Annotators' names: what people type, and which person it means."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Sequence

import polars as pl

_ANNOTATOR = "annotator"
_NEAREST = 3
"""Names that a message offers."""


def fold(name: str) -> str:
    r"""Return a name as it is compared: in one Unicode form, blanks collapsed, case folded.

    Examples
    --------
    >>> fold(" Anna\u00a0 Bo "), fold("Jose\u0301") == fold("JOSÉ")
    ('anna bo', True)
    """
    # Folding may take letters apart again.
    return unicodedata.normalize("NFC", _bare(name).casefold())


def named(rows: pl.LazyFrame, known: Sequence[str] = ()) -> pl.LazyFrame:
    """Return the rows with one spelling of every person's name.

    Parameters
    ----------
    rows : LazyFrame
        With the String column ``annotator``.
    known : sequence of str
        The names of those who were asked, as they are to be spelt. Who is not among them is
        spelt as most often; of spellings as frequent, the first in the alphabet.

    Returns
    -------
    LazyFrame
        The same rows; a name that is blank is null.

    Examples
    --------
    >>> rows = pl.LazyFrame({"annotator": ["A1", " a1", "B", "b ", "b", " "]})
    >>> named(rows, ["a1"]).collect().to_series().to_list()
    ['a1', 'a1', 'b', 'b', 'b', None]
    """
    counted = rows.drop_nulls(_ANNOTATOR).group_by(_ANNOTATOR).len().collect()
    often = counted.with_columns(pl.col(_ANNOTATOR).map_elements(_bare, return_dtype=pl.String))
    often = often.group_by(_ANNOTATOR).agg(often=-pl.sum("len").cast(pl.Int64))
    meant = by_fold([*known, *often.sort("often", _ANNOTATOR)[_ANNOTATOR]])
    spelt = {typed: meant[fold(typed)] or None for typed in counted[_ANNOTATOR]}
    person = pl.col(_ANNOTATOR).replace_strict(
        pl.Series(list(spelt), dtype=pl.String),
        pl.Series(list(spelt.values()), dtype=pl.String),
        default=None,
        return_dtype=pl.String,
    )
    return rows.with_columns(person)


def by_fold(names: Iterable[str]) -> dict[str, str]:
    """Return the first of the names that are one when they are folded, by what they fold to.

    Examples
    --------
    >>> by_fold(["Anna", "ben", "anna "])
    {'anna': 'Anna', 'ben': 'ben'}
    """
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(fold(name), name)
    return first


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Return the three known names that are most like a name, the nearest first.

    Examples
    --------
    >>> nearest("a2", ["ben", "a1", "A22", "carla"])
    ['A22', 'a1', 'carla']
    """
    meant = by_fold(known)
    found = difflib.get_close_matches(fold(name), meant, n=_NEAREST, cutoff=0)
    return [meant[each] for each in found]


def unasked(rows: pl.LazyFrame, *, known: Sequence[str], answer: str) -> pl.LazyFrame:
    """Return a fault for every answer of somebody who was not asked.

    Parameters
    ----------
    rows : LazyFrame
        file, line, annotator and the answer; names as `named` spells them.
    known : sequence of str
        Who was asked.
    answer : str
        The column of answers; a row where it is blank is nobody's.

    Returns
    -------
    LazyFrame
        As `schemas.Faults`.

    Examples
    --------
    >>> row = {"file": "a.csv", "line": 2, "annotator": "amna", "label": "SVC"}
    >>> found = unasked(pl.LazyFrame([row]), known=["anna", "ben"], answer="label")
    >>> found.collect()["problem"].item()
    'was not asked: did you mean anna, ben? If this person was asked formerly: former = ["amna"]'
    """
    stranger = ~pl.col(_ANNOTATOR).is_in(list(known))

    def problem(name: str) -> str:
        near = ", ".join(nearest(name, known))
        meant = f"was not asked: did you mean {near}?" if near else "was not asked."
        return f'{meant} If this person was asked formerly: former = ["{name}"]'

    said = pl.col(_ANNOTATOR).map_elements(problem, return_dtype=pl.String)
    return _faults(rows.filter(_answered(answer) & stranger), said)


def nobodys(rows: pl.LazyFrame, *, answer: str) -> pl.LazyFrame:
    """Return a fault for every answer without the name of whoever gave it.

    Parameters
    ----------
    rows : LazyFrame
        file, line, annotator and the answer.
    answer : str
        The column of answers; a row where it is blank is nobody's.

    Returns
    -------
    LazyFrame
        As `schemas.Faults`.

    Examples
    --------
    >>> row = {"file": "a.csv", "line": 2, "annotator": " ", "label": "SVC"}
    >>> nobodys(pl.LazyFrame([row]), answer="label").collect()["problem"].item()
    'is empty: say who gave the label of this row'
    """
    nobody = (pl.col(_ANNOTATOR).str.strip_chars() == "").fill_null(value=True)
    said = pl.lit(f"is empty: say who gave the {answer} of this row")
    return _faults(rows.filter(_answered(answer) & nobody), said)


def _answered(answer: str) -> pl.Expr:
    return pl.col(answer).str.strip_chars() != ""


def _faults(wrong: pl.LazyFrame, problem: pl.Expr) -> pl.LazyFrame:
    name = pl.col(_ANNOTATOR)
    return wrong.select("file", "line", column=pl.lit(_ANNOTATOR), value=name, problem=problem)


def _bare(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split())
