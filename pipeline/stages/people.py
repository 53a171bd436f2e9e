"""Options that name people: two names that mean one person are refused."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Annotated, TypeAlias

import polars as pl
from pydantic import AfterValidator

from pipeline.kernels.annotation import taken_over
from pipeline.kernels.annotation.names import by_fold, fold, named
from pipeline.kernels.annotation.rounds import of_round
from pipeline.stages.base import StageConfig


def distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names.

    Raises
    ------
    ValueError
        If one is blank or holds a control character, or two mean the same: they differ in case,
        blanks or Unicode form alone.

    Examples
    --------
    >>> distinct(("a1", "A1 "))
    Traceback (most recent call last):
    ...
    ValueError: two names differ in case or blanks alone: 'a1', 'A1 '
    """
    for name in names:
        if not fold(name) or any(unicodedata.category(sign) == "Cc" for sign in name):
            raise ValueError(f"{name!r} is no name: it is blank or holds a control character")
    first = by_fold(names)
    for name in names:
        if first[fold(name)] != name or names.count(name) > 1:
            same = [each for each in names if fold(each) == fold(name)]
            shown = ", ".join(map(repr, same))
            raise ValueError(f"two names differ in case or blanks alone: {shown}")
    return names


Names: TypeAlias = Annotated[tuple[str, ...], AfterValidator(distinct)]
"""Names of people, or labels, that cannot be taken for each other."""


def as_asked(rows: pl.LazyFrame, people: Sequence[str]) -> pl.LazyFrame:
    """Return rows of sheets with the names of those who were asked, whatever was typed."""
    return named(rows, people)


def first_round(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out what somebody decided who saw the labels of others."""
    return of_round(rows, "annotation")


def counting(rows: pl.LazyFrame, seen: pl.DataFrame, *, log: str, answer: str) -> pl.LazyFrame:
    """Return rows of sheets and of a log of decisions with the answers alone that count."""
    return taken_over.counting(rows, seen.lazy(), log=log, answer=answer)


class Asks(StageConfig):
    """Options of a stage that reads what people filled in."""

    former: Names = ()
    """Who was asked formerly, and is no longer: their answers count, too. Answers of anybody else
    whom no sheet asks are refused."""

    def known(self, *tables: pl.LazyFrame) -> list[str]:
        """Return who was asked: the annotators of the tables and the former ones."""
        asked = [
            name
            for table in tables
            for name in table.select(pl.col("annotator").unique().sort()).collect().to_series()
        ]
        return list(by_fold([*asked, *self.former]).values())
