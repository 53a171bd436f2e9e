"""What the rows of a corpus must keep to, and what is said of those that do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from pipeline.errors import DataError
from pipeline.formats.base import LINE, Skipped
from pipeline.formats.corpora.attributes import first_in_unit
from pipeline.formats.corpora.marks import HEAD, POSITION, RAW_HEAD, ROW, UNIT
from pipeline.formats.lines import TEXT

NOT_UTF8 = "not UTF-8"
BARE_RETURN = "holds a carriage return without a line feed, which may be meant as a line end"

_EXAMPLES = 3
_WIDTH = 80


@dataclass(frozen=True)
class Rule:
    """One thing that can be wrong with a row.

    Parameters
    ----------
    broken : Expr
        Boolean, evaluated over all rows of a block in order; null counts as kept.
    says : str or Expr
        What is wrong, as text or what makes it.
    value : str or Expr
        What stands there: a column, or what makes it. `TEXT` is the whole line.
    among : Expr, optional
        Which lines of the block it is evaluated over, if not over the rows.
    """

    broken: pl.Expr
    says: str | pl.Expr
    value: str | pl.Expr = TEXT
    among: pl.Expr | None = None


@dataclass(frozen=True)
class Unique:
    """What may not come twice in a file.

    Parameters
    ----------
    key : sequence of str or Expr
        What is compared.
    says, value, among
        As in `Rule`; it is evaluated over the first row of each unit, if not among other lines.
    """

    key: Sequence[str | pl.Expr]
    says: str
    value: str | pl.Expr
    among: pl.Expr | None = None


def text_rules() -> list[Rule]:
    """Return the rules of a line of text, as `lines.lines` gives it."""
    binary = pl.col(TEXT).str.contains("\0", literal=True)
    return [
        Rule(pl.col(TEXT).is_null(), NOT_UTF8),
        Rule(binary, "holds a NUL byte: binary, or UTF-16"),
        # On any line: what follows a comment may be a token.
        Rule(pl.col(TEXT).str.contains("\r", literal=True), BARE_RETURN, among=pl.lit(value=True)),
    ]


def field_rules(width: int) -> list[Rule]:
    """Return the rules of a line of `width` tab-separated fields, as `lines.split` gives it."""
    count = pl.col(TEXT).str.count_matches("\t", literal=True) + 1
    said = count.cast(pl.String) + f" field(s), not {width}"
    return [*text_rules(), Rule(count != width, said)]


def head_rules() -> list[Rule]:
    """Return the rules that a head is a whole number, and a position in its sentence or 0."""
    head, position = pl.col(HEAD), pl.col(POSITION)
    bad = position.is_not_null() & (pl.col(RAW_HEAD) != "_") & (head.is_null() | (head < 0))
    size = position.max().over(UNIT)
    says = pl.lit("head outside its sentence of ") + size.cast(pl.String) + " token(s)"
    return [
        Rule(bad, "head is no whole number", RAW_HEAD),
        Rule(head > size, says, HEAD),
    ]


def readable() -> pl.Expr:
    """Return whether `TEXT` is text at all."""
    return pl.col(TEXT).is_not_null() & ~pl.col(TEXT).str.contains("\0", literal=True)


def are_broken(lines: pl.DataFrame, rows: pl.DataFrame, rules: Sequence[Rule]) -> bool:
    """Return whether any rule is broken in a block, given its lines and its rows."""
    return any(
        frame.lazy().select(_any(own)).collect().item()
        for frame, own in _judged(lines, rows, rules)
    )


def violations(
    lines: pl.DataFrame,
    rows: pl.DataFrame,
    rules: Sequence[Rule],
    *,
    of_lines: Sequence[Rule],
) -> pl.DataFrame:
    """Return the first thing wrong with each line of a block: `LINE`, `UNIT`, problem, value.

    Parameters
    ----------
    lines, rows : DataFrame
        Its lines, and those of them that are `ROW`, with what is known of them.
    rules : sequence of Rule
        What the rows must keep to.
    of_lines : sequence of Rule
        What their lines must keep to; what breaks these is not asked for more.
    """
    # Of two things wrong with a line the first is said: what parts lines, before what they hold.
    own = reversed(_judged(lines, lines.filter(ROW), of_lines))
    judged = [*own, *_judged(lines, rows, rules)]
    broken = pl.concat(_broken(frame, those) for frame, those in judged if those)
    return broken.unique(LINE, keep="first", maintain_order=True).sort(LINE)


def keys(lines: pl.DataFrame, rows: pl.DataFrame, unique: Unique) -> pl.DataFrame:
    """Return what may not come twice, with its `LINE`, as ``key``."""
    frame = rows.filter(first_in_unit()) if unique.among is None else lines.filter(unique.among)
    return frame.select(LINE, pl.struct(unique.key).alias("key"))


def valid(rows: pl.DataFrame, violations: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the units in which nothing is wrong."""
    return rows.join(violations, on=UNIT, how="anti", nulls_equal=True, maintain_order="left")


def skipped(violations: pl.DataFrame) -> tuple[Skipped, ...]:
    """Return the first thing wrong in each unit, and each thing wrong outside of units."""
    again = pl.col(UNIT).is_not_null() & ~pl.col(UNIT).is_first_distinct()
    return tuple(_skipped(violations.filter(~again)))


def refusal(path: Path, violations: pl.DataFrame, remedy: str) -> DataError:
    """Return the error that says which lines of a file are wrong: how many, three examples."""
    shown = "".join(f"\n  {each}" for each in _skipped(violations.head(_EXAMPLES)))
    advice = f", or {remedy}" if remedy else ""
    return DataError(
        f"{path}: {violations.height:,} line(s) cannot be used:{shown}\n"
        f"Mend them{advice}, or set lenient = true to leave out the sentences concerned."
    )


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


def _judged(
    lines: pl.DataFrame, rows: pl.DataFrame, rules: Sequence[Rule]
) -> list[tuple[pl.DataFrame, list[Rule]]]:
    """Return what the rules are evaluated over: those of rows together, others one by one."""
    own = [rule for rule in rules if rule.among is None]
    others = [(lines.filter(rule.among), [rule]) for rule in rules if rule.among is not None]
    return [*([(rows, own)] if own else []), *others]


def _broken(frame: pl.DataFrame, rules: Sequence[Rule]) -> pl.DataFrame:
    flags = {f"~{index}": rule for index, rule in enumerate(rules)}
    flagged = frame.with_columns(rule.broken.alias(name) for name, rule in flags.items())
    says = {name: _text(rule.says, literal=True) for name, rule in flags.items()}
    value = {name: _text(rule.value).fill_null("") for name, rule in flags.items()}
    return flagged.select(
        LINE,
        UNIT,
        pl.coalesce(pl.when(name).then(text) for name, text in says.items()).alias("problem"),
        pl.coalesce(pl.when(name).then(text) for name, text in value.items()).alias("value"),
    ).filter(pl.col("problem").is_not_null())


def _text(given: str | pl.Expr, *, literal: bool = False) -> pl.Expr:
    if isinstance(given, str):
        return pl.lit(given) if literal else pl.col(given).cast(pl.String)
    return given


def _any(rules: Sequence[Rule]) -> pl.Expr:
    return pl.any_horizontal(rule.broken.any() for rule in rules)


def _skipped(violations: pl.DataFrame) -> list[Skipped]:
    rows = violations.select(LINE, "problem", "value").iter_rows()
    return [Skipped(line, problem, value[:_WIDTH]) for line, problem, value in rows]
