"""What the rows of a corpus must keep to, and what becomes of a sentence that does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from pipeline.errors import DataError
from pipeline.formats.base import LINE, Skipped
from pipeline.formats.lines import TEXT, reading

UNIT = "~unit"
"""Column with the number of the unit (sentence) that stands or falls as one; null: none."""
POSITION = "position"
HEAD = "head"

_WRONG = "~wrong"
_EXAMPLES = 3
_WIDTH = 80


@dataclass(frozen=True)
class Law:
    """One thing that can be wrong with a row.

    Parameters
    ----------
    broken : Expr
        Boolean, evaluated over all rows in order; null counts as kept.
    says : Expr
        What is wrong, as text.
    value : Expr
        What stands there.
    """

    broken: pl.Expr
    says: pl.Expr
    value: pl.Expr


@dataclass(frozen=True)
class Rows:
    """The rows of a file that are to be judged.

    Parameters
    ----------
    plan : LazyFrame
        `LINE`, `UNIT`, `POSITION`, perhaps `HEAD`, and what the laws ask for.
    laws : sequence of Law
        What each row must keep to; the first that is broken is reported.
    others : LazyFrame, optional
        What is wrong elsewhere than in a row: `LINE`, `UNIT`, problem, value.
    """

    plan: pl.LazyFrame
    laws: Sequence[Law]
    others: pl.LazyFrame | None = None


def text_laws() -> list[Law]:
    """Return the laws of a line of text, as `lines.lines` gives it."""
    nothing = pl.lit(None, pl.String())
    return [
        Law(pl.col(TEXT).is_null(), pl.lit("not UTF-8"), nothing),
        Law(_is_binary(), pl.lit("holds a NUL byte: binary, or UTF-16"), pl.col(TEXT)),
    ]


def field_laws(width: int) -> list[Law]:
    """Return the laws of a line of `width` tab-separated fields, as `lines.split` gives it."""
    count = pl.col(TEXT).str.count_matches("\t", literal=True) + 1
    says = pl.format(f"{{}} field(s), not {width}", count)
    return [*text_laws(), Law(count != width, says, pl.col(TEXT))]


def readable() -> pl.Expr:
    """Return whether `TEXT` is text at all."""
    return pl.col(TEXT).is_not_null() & ~_is_binary()


def _is_binary() -> pl.Expr:
    return pl.col(TEXT).str.contains("\0", literal=True)


def sound(rows: Rows) -> pl.LazyFrame:
    """Return the rows without those of units that break a law, in order."""
    broken = _units(rows).filter(_WRONG).select(UNIT)
    if rows.others is not None:
        broken = pl.concat([broken, rows.others.select(UNIT).drop_nulls()]).unique()
    return rows.plan.join(broken, on=UNIT, how="anti", nulls_equal=True, maintain_order="left")


def verdict(path: Path, rows: Rows, *, lenient: bool, remedy: str = "") -> tuple[Skipped, ...]:
    """Read the file to its end and judge it.

    Parameters
    ----------
    path : Path
        The file.
    rows : Rows
        Its rows and their laws.
    lenient : bool
        Whether to skip what is wrong.
    remedy : str
        What else to try, for the message.

    Returns
    -------
    tuple of Skipped
        One for each sentence that `sound` leaves out, at the first thing wrong in it, and one
        for each thing wrong outside sentences; all of it lenient, or empty.

    Raises
    ------
    DataError
        If something is wrong and not lenient: file, lines, how many, three examples.
    """
    with reading(path):
        found, empty = _judge(rows)
    if found is None:
        return nothing_in(path, lenient=lenient) if empty else ()
    if not lenient:
        raise _refusal(path, found, remedy)
    return _by_unit(found)


def skips(rows: Rows) -> tuple[Skipped, ...]:
    """Return what `sound` leaves out, as `verdict` does of a whole file."""
    found, _ = _judge(rows)
    return () if found is None else _by_unit(found)


def _judge(rows: Rows) -> tuple[pl.DataFrame | None, bool]:
    """Return what is wrong, None if nothing is, and whether there are no units at all."""
    elsewhere = [] if rows.others is None else [rows.others]
    units, *others = pl.collect_all([_units(rows), *elsewhere])
    broken = units.filter(_WRONG)
    clean = broken.is_empty() and all(each.is_empty() for each in others)
    return None if clean else _flaws(rows, broken, others).collect(), units.is_empty()


def _by_unit(found: pl.DataFrame) -> tuple[Skipped, ...]:
    """Return the first thing wrong in each unit, and each thing wrong outside of units."""
    inside = pl.col(UNIT).is_not_null()
    first = found.filter(inside).unique(UNIT, keep="first", maintain_order=True)
    shown = pl.concat([first, found.filter(~inside)]).sort(LINE)
    return tuple(_skipped(*row) for row in shown.select(LINE, "problem", "value").iter_rows())


def nothing_in(path: Path, *, lenient: bool) -> tuple[Skipped, ...]:
    """Say that a file has no tokens.

    Raises
    ------
    DataError
        If not lenient.
    """
    if lenient:
        return (Skipped(1, "the file is empty: it has no tokens"),)
    raise DataError(
        f"{path}: line 1: the file is empty: it has no tokens\n"
        "Take it out, or set lenient = true to pass over such files."
    )


def _units(rows: Rows) -> pl.LazyFrame:
    """Return each `UNIT` once, and whether a law is broken in it.

    A head that lies outside its sentence breaks one, too: that is seen from the whole unit.
    """
    wrong = pl.any_horizontal(law.broken.fill_null(value=False) for law in rows.laws)
    schema = rows.plan.collect_schema()
    places = [name for name in (POSITION, HEAD) if name in schema]
    bad = pl.col(_WRONG).any()
    if HEAD in schema:
        bad |= (pl.col(HEAD).max() > pl.col(POSITION).max()).fill_null(value=False)
    return rows.plan.select(UNIT, *places, wrong.alias(_WRONG)).group_by(UNIT).agg(bad)


def _flaws(rows: Rows, broken: pl.DataFrame, others: Sequence[pl.DataFrame]) -> pl.LazyFrame:
    """Return everything that is wrong, by line: `LINE`, `UNIT`, problem, value."""
    laws = {f"~{index}": law for index, law in enumerate(rows.laws)}
    flagged = rows.plan.with_columns(law.broken.alias(name) for name, law in laws.items())
    within = flagged.join(
        broken.lazy(), on=UNIT, how="semi", nulls_equal=True, maintain_order="left"
    )
    if HEAD in rows.plan.collect_schema():
        size = pl.col(POSITION).max().over(UNIT)
        within = within.with_columns((pl.col(HEAD) > size).alias("~head"), size.alias("~size"))
        says = pl.format("head outside its sentence of {} token(s)", "~size")
        laws["~head"] = Law(pl.col("~head"), says, pl.col(HEAD).cast(pl.String))
    # What is wrong is put into words among whole units: it may speak of the row before.
    problem = pl.coalesce(pl.when(name).then(law.says) for name, law in laws.items())
    value = pl.coalesce(pl.when(name).then(law.value.fill_null("")) for name, law in laws.items())
    found = within.select(LINE, UNIT, problem.alias("problem"), value.alias("value"))
    found = found.filter(pl.col("problem").is_not_null())
    return pl.concat([found, *(each.lazy() for each in others)]).sort(LINE)


def _skipped(line: int, problem: str, value: str) -> Skipped:
    return Skipped(line, problem, value[:_WIDTH])


def _refusal(path: Path, found: pl.DataFrame, remedy: str) -> DataError:
    examples = found.select(LINE, "problem", "value").head(_EXAMPLES).iter_rows()
    shown = "".join(f"\n  {_skipped(*row)}" for row in examples)
    advice = f", or {remedy}" if remedy else ""
    return DataError(
        f"{path}: {found.height:,} line(s) cannot be used:{shown}\n"
        f"Mend them{advice}, or set lenient = true to leave out the sentences concerned."
    )
