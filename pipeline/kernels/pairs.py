"""Pair tokens: which left and right units of a corpus belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from pipeline.kernels.units import SENTENCE, Unit, units


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
    """

    where: pl.Expr
    governor: Literal["left", "right", "either"] = "left"
    through: pl.Expr | None = None


def pair_tokens(
    tokens: pl.LazyFrame, *, left: Unit, right: Unit, relation: Dependency | None
) -> pl.LazyFrame:
    """Return every co-occurrence of a left and a right unit.

    Parameters
    ----------
    tokens : LazyFrame
        file, sentence, position, attributes; with a dependency also head.
    left, right : Unit
        What to pair.
    relation : Dependency or None
        The syntactic relation; None pairs every left with every right unit of the sentence.

    Returns
    -------
    LazyFrame
        file, sentence, l1, l2, position_1, position_2. A token never pairs with itself.

    References
    ----------
    Evert & Krenn, section 2: every PP with every main verb of the sentence.
    """
    first = _named(units(tokens, left), 1)
    second = _named(units(tokens, right), 2)
    if relation is None:
        paired = first.join(second, on=SENTENCE, how="inner")
    elif relation.governor == "either":
        one = _related(first, second, tokens, relation, governor=1)
        two = _related(first, second, tokens, relation, governor=2)
        paired = pl.concat([one, two]).unique()
    else:
        governor = 1 if relation.governor == "left" else 2
        paired = _related(first, second, tokens, relation, governor=governor)
    apart = paired.filter(pl.col("position_1") != pl.col("position_2"))
    return apart.select(*SENTENCE, "l1", "l2", "position_1", "position_2")


def count(pairs: pl.LazyFrame) -> pl.LazyFrame:
    """Count pair tokens: l1, l2, f (Int64).

    Examples
    --------
    >>> pairs = pl.LazyFrame({"l1": ["a", "a"], "l2": ["b", "b"]})
    >>> count(pairs).collect().rows()
    [('a', 'b', 2)]
    """
    return pairs.group_by("l1", "l2").agg(f=pl.len().cast(pl.Int64))


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
    renamed = {"unit": f"l{number}", "position": f"position_{number}", "head": f"head_{number}"}
    return found.rename(renamed, strict=False)


def _related(
    first: pl.LazyFrame,
    second: pl.LazyFrame,
    tokens: pl.LazyFrame,
    relation: Dependency,
    *,
    governor: int,
) -> pl.LazyFrame:
    """Pair a governor with its dependents, directly or through one token between them."""
    dependent = 3 - governor
    edges = tokens.filter(relation.where).select(
        *SENTENCE, pl.col("position").alias(f"position_{dependent}"), pl.col("head").alias("_by")
    )
    if relation.through is not None:
        between = tokens.filter(relation.through).select(
            *SENTENCE, pl.col("position").alias("_by"), pl.col("head").alias("_above")
        )
        edges = edges.join(between, on=[*SENTENCE, "_by"]).drop("_by").rename({"_above": "_by"})
    edges = edges.rename({"_by": f"position_{governor}"})
    columns = [*SENTENCE, "l1", "l2", "position_1", "position_2"]
    joined = first.join(edges, on=[*SENTENCE, "position_1"], how="inner").join(
        second, on=[*SENTENCE, "position_2"], how="inner"
    )
    return joined.select(columns)
