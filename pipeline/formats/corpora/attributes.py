"""What readers of corpora share: names of attributes, numbers in a block, heads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, TypeAlias

import polars as pl
from pydantic import AfterValidator

from pipeline.formats import delimited
from pipeline.formats.base import LINE
from pipeline.formats.corpora.marks import HEAD, POSITION, RAW_HEAD, SPACE_AFTER, UNIT

PLACE = {
    LINE: pl.Int64(),
    "doc": pl.String(),
    "paragraph": pl.Int64(),
    "sentence": pl.Int64(),
    POSITION: pl.Int64(),
}
"""The first columns of every corpus."""


def _own(names: tuple[str, ...]) -> tuple[str, ...]:
    taken = [name for name in names if name in {"file", *PLACE}]
    if taken:
        raise ValueError(f"{taken[0]!r} is a column that the reader makes; choose another name")
    return delimited.distinct(names)


Attributes: TypeAlias = Annotated[tuple[str, ...], AfterValidator(_own)]
"""Names of attributes, each once, none of them a column that the reader makes."""


def raw(names: Iterable[str]) -> list[str]:
    """Return the names under which fields are read: `HEAD` as `RAW_HEAD`."""
    return [RAW_HEAD if name == HEAD else name for name in names]


def first_in_unit() -> pl.Expr:
    """Return whether a row is the first of its `UNIT`; false outside of units."""
    return pl.col(UNIT).ne_missing(pl.col(UNIT).shift()) & pl.col(UNIT).is_not_null()


def numbers(lists: Sequence[str] = ()) -> list[pl.Expr]:
    """Return sentence, counting the units that have rows, and `POSITION`, counting tokens.

    Parameters
    ----------
    lists : sequence of str
        Columns with lists, if a row holds several tokens; its positions are a list, too.

    Examples
    --------
    >>> rows = pl.DataFrame({UNIT: [1, 1, 2], "form": [["a", "b"], ["c"], ["d"]]})
    >>> rows.select(numbers()).rows()
    [(1, 1), (1, 2), (2, 1)]
    >>> rows.select(numbers(["form"])).rows()
    [(1, [1, 2]), (1, [3]), (2, [1])]
    """
    size = pl.col(lists[0]).list.len().cast(pl.Int64) if lists else pl.lit(1, pl.Int64)
    before = size.fill_null(0).cum_sum() - size if lists else pl.int_range(pl.len())
    first = before - pl.when(first_in_unit()).then(before).forward_fill() + 1
    place = pl.int_ranges(first, first + size, dtype=pl.Int64) if lists else first
    sentence = first_in_unit().cum_sum().cast(pl.Int64)
    return [sentence.alias("sentence"), place.alias(POSITION)]


def heads(names: Collection[str]) -> list[pl.Expr]:
    """Return `HEAD`, if `RAW_HEAD` is among names: null where there is none."""
    head = pl.col(RAW_HEAD).cast(pl.Int64, strict=False).alias(HEAD)
    return [head] if RAW_HEAD in names else []


def no_spaces(names: Collection[str]) -> list[pl.Expr]:
    """Return `SPACE_AFTER`, if it is a column of a table: "" where it says No, false or 0.

    Examples
    --------
    >>> rows = pl.DataFrame({"space_after": ["No", "false", "Yes", None]})
    >>> rows.select(no_spaces(rows.columns)).to_series().to_list()
    ['', '', None, None]
    """
    none = pl.col(SPACE_AFTER).str.to_lowercase().is_in(["no", "false", "0"])
    found = pl.when(none).then(pl.lit("")).alias(SPACE_AFTER)
    return [found] if SPACE_AFTER in names else []


def columns(attributes: Iterable[str]) -> list[str]:
    """Return the columns of a token table, in order."""
    return [*PLACE, *attributes]
