"""One spelling for lemmas and forms: each step of it, and what it changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

UnicodeForm: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD", "as_it_is"]
Case: TypeAlias = Literal["lower", "as_it_is"]


@dataclass(frozen=True)
class Spelling:
    """How texts are normalised, in this order; blanks around them always go.

    Parameters
    ----------
    unicode : str
        Unicode normalisation form.
    case : str
        "lower" for lower case.
    replace : mapping of str to str
        What stands for what, such as ё: е; all at once, the longest first.
    """

    unicode: UnicodeForm = "NFC"
    case: Case = "as_it_is"
    replace: Mapping[str, str] = field(default_factory=dict)


class Change(NamedTuple):
    """How many texts a step changed, and the first of them in the order of the alphabet."""

    step: str
    n: int
    first: tuple[str, str] | None


def steps(spelling: Spelling) -> Iterator[tuple[str, dict[str, str] | str]]:
    """Yield the name of each step and what it needs."""
    yield "blanks around", "strip"
    if spelling.unicode != "as_it_is":
        yield f"Unicode {spelling.unicode}", spelling.unicode
    if spelling.case == "lower":
        yield "lower case", "lower"
    if spelling.replace:
        shown = ", ".join(f"{old} → {new}" for old, new in spelling.replace.items())
        yield f"replaced: {shown}", dict(spelling.replace)


def normalised(
    rows: pl.DataFrame, spelling: Spelling, *, columns: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows with their texts in one spelling, and what each step changed.

    Parameters
    ----------
    rows : DataFrame
        With the `columns`, String.
    spelling : Spelling
        What to do.
    columns : sequence of str
        The texts.

    Returns
    -------
    rows, counts : DataFrame
        The rows, an empty text made null; and step, n (Int64), example: how many texts a step
        changed, and the first of them in the order of the alphabet.

    Examples
    --------
    >>> rows = pl.DataFrame({"form": ["ёж", "ЁЖ", " ель"]})
    >>> found, counts = normalised(
    ...     rows, Spelling(case="lower", replace={"ё": "е"}), columns=["form"]
    ... )
    >>> found["form"].to_list(), counts["n"].to_list()
    (['еж', 'еж', 'ель'], [1, 0, 1, 2])
    """
    found, changes = spelt(rows, spelling, columns=columns)
    return found, counts_of([changes])


def spelt(
    rows: pl.DataFrame, spelling: Spelling, *, columns: Sequence[str]
) -> tuple[pl.DataFrame, list[Change]]:
    """Return what `normalised` does of some of many rows, with what `counts_of` adds up."""
    changes = []
    for name, how in steps(spelling):
        after = rows.with_columns(_changed(pl.col(column), how) for column in columns)
        changes.append(_difference(name, rows, after, columns))
        rows = after
    filled = [pl.when(pl.col(column) != "").then(column).alias(column) for column in columns]
    return rows.with_columns(filled), changes


def counts_of(batches: Iterable[Sequence[Change]]) -> pl.DataFrame:
    """Return what each step changed in all batches: step, n (Int64), example.

    Examples
    --------
    >>> one, two = Change("lower", 1, ("B", "b")), Change("lower", 2, ("A", "a"))
    >>> counts_of([[one], [two]]).rows()
    [('lower', 3, "'A' → 'a'")]
    """
    rows = []
    for changes in zip(*batches, strict=True):
        first = min((each.first for each in changes if each.first), default=None)
        example = first and f"{first[0]!r} → {first[1]!r}"
        rows.append((changes[0].step, sum(each.n for each in changes), example))
    schema = {"step": pl.String, "n": pl.Int64, "example": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _changed(text: pl.Expr, how: dict[str, str] | str) -> pl.Expr:
    if isinstance(how, dict):
        longest = sorted(how, key=lambda old: (-len(old), old))
        return text.str.replace_many(longest, [how[old] for old in longest], leftmost=True)
    if how == "strip":
        return text.str.strip_chars()
    return text.str.to_lowercase() if how == "lower" else text.str.normalize(how)  # type: ignore[arg-type]  # else a Unicode form


def _difference(
    name: str, before: pl.DataFrame, after: pl.DataFrame, columns: Sequence[str]
) -> Change:
    """Return how many texts differ, and an example."""
    pairs = [
        pl.DataFrame({"old": before[column], "new": after[column]}).filter(
            pl.col("old") != pl.col("new")
        )
        for column in columns
    ]
    changed = pl.concat(pairs)
    return Change(name, changed.height, next(iter(changed.sort("old", "new").head(1).rows()), None))
