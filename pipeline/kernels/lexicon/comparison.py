"""Several lexicons against one gold, on the same lemmas: differences in L*."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import polars as pl

from pipeline.kernels.lexicon.limits import Limiting, difference_interval
from pipeline.kernels.lexicon.ratio import Interval
from pipeline.kernels.lexicon.statistics import mean_of
from schemas import LexiconComparison, LexiconDifferences


def lexicons(scores: Mapping[str, pl.DataFrame], intervals: Mapping[str, Interval]) -> pl.DataFrame:
    """Return the means and L* of each lexicon.

    Parameters
    ----------
    scores : mapping of str to DataFrame
        `schemas.LemmaScores` of each lexicon.
    intervals : mapping of str to Interval
        Its L*.

    Returns
    -------
    DataFrame
        `schemas.LexiconComparison`.
    """
    rows = [
        (
            name, each.height, *(mean_of(each, column) for column in ("precision", "recall", "L")),
            found.estimate, found.standard_error, found.lower, found.upper,
        )
        for (name, each), found in zip(scores.items(), intervals.values(), strict=True)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=LexiconComparison.columns(), orient="row")


def differences(scores: Mapping[str, pl.DataFrame], how: Limiting) -> pl.DataFrame:
    """Return the difference in L* of each two lexicons, with an interval.

    The same lemmas are in both, so that what makes a lemma hard for both cancels out: the
    interval is mostly much narrower than those of the two L*.

    Parameters
    ----------
    scores : mapping of str to DataFrame
        `schemas.LemmaScores` of each lexicon, the same lemmas in each.
    how : Limiting
        How limits are made; there are none of lemmas that were not drawn at random.

    Returns
    -------
    DataFrame
        `schemas.LexiconDifferences`; pairs in the order of the mapping.
    """
    rows = []
    for first, second in itertools.combinations(scores, 2):
        one, two = (scores[name].sort("lemma") for name in (first, second))
        interval = difference_interval(one, two, how)
        wins = [int(count) for count in ((one["L"] > two["L"]).sum(), (one["L"] < two["L"]).sum())]
        rows.append((
            first, second, interval.estimate, interval.standard_error, interval.lower,
            interval.upper, how.confidence, *wins, one.height - sum(wins),
        ))  # fmt: skip
    return pl.DataFrame(rows, schema=LexiconDifferences.columns(), orient="row")


def differing(scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the L of each lemma in each lexicon; rank 1 is the lemma where they differ most.

    The order is that of n_gold times the difference between greatest and smallest L: what the
    lemma adds to a difference in L*.

    Parameters
    ----------
    scores : mapping of str to DataFrame
        `schemas.LemmaScores` of each lexicon, the same lemmas in each.

    Returns
    -------
    DataFrame
        `schemas.LexiconLemmas`.
    """
    kept: Sequence[str] = ("lemma", "n_gold", "L", "missing", "spurious", "pi")
    long = pl.concat(
        each.select(pl.lit(name).alias("lexicon"), *kept) for name, each in scores.items()
    )
    by_lemma = long.group_by("lemma").agg(
        range=pl.col("L").max() - pl.col("L").min(), n_gold=pl.col("n_gold").first()
    )
    moved = (pl.col("range") * pl.col("n_gold")).alias("~moved")
    ordered = by_lemma.with_columns(moved).sort("~moved", "lemma", descending=[True, False])
    ranked = ordered.select("lemma", "range").with_row_index("rank", offset=1)
    joined = long.join(ranked.with_columns(pl.col("rank").cast(pl.Int64)), on="lemma")
    columns = ("rank", "lexicon", "lemma", "n_gold", "L", "range", "missing", "spurious", "pi")
    return joined.select(columns).sort("rank", "lexicon")
