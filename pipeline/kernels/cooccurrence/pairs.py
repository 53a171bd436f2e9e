"""Pair tokens: which left and right units of a corpus belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from pipeline.kernels.cooccurrence.tokens import PLACE, TOKEN, head_token
from pipeline.kernels.cooccurrence.units import LABELS, Unit, units

_HALF = 2**32
_RELATION = "_relation"
_PAIR = ("l1", "l2")
TOKEN_1, TOKEN_2 = "token_1", "token_2"
COLUMNS = (PLACE, "l1", "l2", TOKEN_1, TOKEN_2)
"""What a pair token says: its sentence, its units, and their tokens."""


@dataclass(frozen=True)
class Dependency:
    """A syntactic relation between the two units.

    Parameters
    ----------
    where : Expr
        Condition on the dependent token of the relation, usually on its deprel.
    governor : str
        Which unit governs the other: "left", "right" or "either".
    through : Expr or None
        If given, the governor governs a token of this kind, and that governs the dependent.
    named : bool
        Whether l1 says in which relation it is, as `deprel` of the dependent calls it:
        ``obj(take, *)`` where it governs, ``obj(*, place)`` where it depends.
    """

    where: pl.Expr
    governor: Literal["left", "right", "either"] = "left"
    through: pl.Expr | None = None
    named: bool = False


def pair_tokens(
    tokens: pl.LazyFrame, *, left: Unit, right: Unit, relation: Dependency | None
) -> pl.LazyFrame:
    """Return every co-occurrence of a left and a right unit.

    Parameters
    ----------
    tokens : LazyFrame
        As `tokens.numbered` gives them, with attributes; with a dependency also head.
    left, right : Unit
        What to pair.
    relation : Dependency or None
        The syntactic relation; None pairs every left with every right unit of the sentence.

    Returns
    -------
    LazyFrame
        place, l1, l2 (Categorical), token_1, token_2. A token never pairs with itself.

    References
    ----------
    Evert & Krenn, section 2: every PP with every main verb of the sentence.
    """
    if relation is None:
        return in_sentence(units(tokens, left), units(tokens, right))
    first, second = _named(units(tokens, left), 1), _named(units(tokens, right), 2)
    if relation.governor == "either":
        one = _related(first, second, tokens, relation, governor=1)
        two = _related(first, second, tokens, relation, governor=2)
        paired = pl.concat([one, two]).unique()
    else:
        number = 1 if relation.governor == "left" else 2
        paired = _related(first, second, tokens, relation, governor=number)
    return _apart(paired)


def in_sentence(first: pl.LazyFrame, second: pl.LazyFrame) -> pl.LazyFrame:
    """Pair every left with every right unit of its sentence, as `pair_tokens` does.

    Parameters
    ----------
    first, second : LazyFrame
        As `units` gives them.
    """
    return _apart(_named(first, 1).join(_named(second, 2), on=PLACE))


def _apart(paired: pl.LazyFrame) -> pl.LazyFrame:
    return paired.filter(pl.col(TOKEN_1) != pl.col(TOKEN_2)).select(COLUMNS)


def located(pairs: pl.LazyFrame, tokens: pl.LazyFrame) -> pl.LazyFrame:
    """Add where the pairs stand: file, doc, sentence, position_1, position_2.

    Parameters
    ----------
    pairs : LazyFrame
        With `COLUMNS`.
    tokens : LazyFrame
        The tokens that they were found among.

    Returns
    -------
    LazyFrame
        The pairs; the sentence is that of the left unit, position_2 is null if the right one
        stands in another.
    """
    one = tokens.select(
        pl.col(TOKEN).alias(TOKEN_1), "file", "doc", "sentence", position_1=pl.col("position")
    )
    two = tokens.select(pl.col(TOKEN).alias(TOKEN_2), pl.col(PLACE).alias("_place_2"))
    distance = pl.col(TOKEN_2) - pl.col(TOKEN_1)
    joined = pairs.join(one, on=TOKEN_1).join(two, on=TOKEN_2)
    same = pl.when(pl.col("_place_2") == pl.col(PLACE))
    return joined.with_columns(position_2=same.then(pl.col("position_1") + distance))


def count(pairs: pl.LazyFrame) -> pl.LazyFrame:
    """Count pair tokens: l1, l2, f (Int64).

    Parameters
    ----------
    pairs : LazyFrame
        l1 and l2.

    Returns
    -------
    LazyFrame
        One row per pair type.

    Examples
    --------
    >>> pairs = pl.LazyFrame({"l1": ["a", "a"], "l2": ["b", "b"]})
    >>> count(pairs).collect().rows()
    [('a', 'b', 2)]
    """
    return by_key(pairs, _PAIR, pl.len().cast(pl.Int64).alias("f"))


def by_key(rows: pl.LazyFrame, key: Sequence[str], *made: pl.Expr) -> pl.LazyFrame:
    """Group rows, which is cheapest where l1 and l2 are Categorical: then a pair is one number.

    Parameters
    ----------
    rows : LazyFrame
        The key, as text or Categorical, and what else is wanted.
    key : sequence of str
        The columns to group by.
    *made : Expr
        What to make of each group.

    Returns
    -------
    LazyFrame
        The key and what was made.
    """
    others = [name for name in key if name not in _PAIR]
    coded = rows.collect_schema()[key[0]] != pl.String
    if not coded or not {*_PAIR} <= {*key}:
        return rows.group_by(key).agg(*made)
    grouped = rows.group_by(pair_key().alias("_pair"), *others).agg(*made)
    return grouped.select(*of_key(pl.col("_pair")), *others, pl.exclude("_pair", *others))


def pair_key() -> pl.Expr:
    """Return one whole number for two Categorical columns, l1 and l2."""
    one, two = (pl.col(name).to_physical().cast(pl.UInt64) for name in ("l1", "l2"))
    return one * _HALF + two


def of_key(key: pl.Expr) -> list[pl.Expr]:
    """Return l1 and l2 of such a number."""
    labels = pl.Categorical(pl.Categories(LABELS))
    halves = {"l1": key // _HALF, "l2": key % _HALF}
    return [half.cast(pl.UInt32).cat.to(labels).alias(name) for name, half in halves.items()]


def marginals(counts: pl.LazyFrame) -> pl.LazyFrame:
    """Add the marginal frequencies over all pair tokens, and their number.

    f1 = sum of f over all pairs with this l1, f2 likewise, N = sum of all f.

    Parameters
    ----------
    counts : LazyFrame
        l1, l2, f: every pair type, before any threshold.

    Returns
    -------
    LazyFrame
        The same rows with f1, f2, N (Int64).

    Examples
    --------
    >>> counts = pl.LazyFrame({"l1": ["a", "a", "b"], "l2": ["x", "y", "x"], "f": [3, 1, 2]})
    >>> marginals(counts).sort("l1", "l2").select("f", "f1", "f2", "N").collect().rows()
    [(3, 4, 5, 6), (1, 4, 1, 6), (2, 2, 5, 6)]
    """
    f = pl.col("f")
    return counts.with_columns(f1=f.sum().over("l1"), f2=f.sum().over("l2"), N=f.sum())


def _named(found: pl.LazyFrame, number: int) -> pl.LazyFrame:
    return found.rename({"unit": f"l{number}", TOKEN: f"token_{number}"})


def _related(
    first: pl.LazyFrame,
    second: pl.LazyFrame,
    tokens: pl.LazyFrame,
    relation: Dependency,
    *,
    governor: int,
) -> pl.LazyFrame:
    """Pair a governor with its dependents, directly or through one token between them."""
    above, below = f"token_{governor}", f"token_{3 - governor}"
    name = [pl.col("deprel").alias(_RELATION)] if relation.named else []
    edges = tokens.filter(relation.where).select(
        pl.col(TOKEN).alias(below), head_token().alias("_by"), *name
    )
    if relation.through is not None:
        between = tokens.filter(relation.through).select(
            pl.col(TOKEN).alias("_by"), head_token().alias("_above")
        )
        edges = edges.join(between, on="_by").drop("_by").rename({"_above": "_by"})
    edges = edges.rename({"_by": above}).drop_nulls()
    joined = first.join(edges, on=TOKEN_1).join(second.drop(PLACE), on=TOKEN_2)
    if relation.named:
        joined = joined.with_columns(l1=_in_relation(governs=governor == 1))
    return joined.select(COLUMNS)


def _in_relation(*, governs: bool) -> pl.Expr:
    """Return l1 with its relation, written as a dependency with a place for l2."""
    places = "{}({}, *)" if governs else "{}(*, {})"
    label = pl.format(places, _RELATION, pl.col("l1").cast(pl.String))
    return label.cast(pl.Categorical(pl.Categories(LABELS)))
