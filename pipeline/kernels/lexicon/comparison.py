"""Several lexicons against one gold, on the same lemmas: differences in L*."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from pipeline.kernels.lexicon import ratio
from pipeline.kernels.lexicon.ratio import Interval, Method
from schemas import LexiconComparison, LexiconDifferences


def sample_of(*scores: pl.DataFrame) -> ratio.Sample:
    """Return what the sampling error of L* is reckoned from; of two tables, of their difference.

    Parameters
    ----------
    *scores : DataFrame
        lemma, size, base, L, population; the same lemmas in each.
    """
    ordered = [each.sort("lemma") for each in scores]
    population = int(ordered[0]["population"].max() or 0)  # type: ignore[arg-type]  # a column of numbers
    y = tuple(each["size"].to_numpy() * each["L"].to_numpy() for each in ordered)
    x = tuple(each["base"].to_numpy().astype(np.float64) for each in ordered)
    return ratio.Sample(y, x, population)


def unsure(found: Interval) -> Interval:
    """Return an estimate without error and limits: of lemmas that were not drawn at random."""
    return Interval(found.estimate, None, None, None, found.method)


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
            name, each.height,
            *(float(each.sort("lemma")[column].to_numpy().mean()) if each.height else None
              for column in ("precision", "recall", "L")),
            found.estimate, found.standard_error, found.lower, found.upper,
        )
        for (name, each), found in zip(scores.items(), intervals.values(), strict=True)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=LexiconComparison.columns(), orient="row")


def differences(
    scores: Mapping[str, pl.DataFrame],
    *,
    method: Method,
    confidence: float,
    replicates: int,
    seed: str,
    drawn: bool,
) -> pl.DataFrame:
    """Return the difference in L* of each two lexicons, with an interval.

    The same lemmas are in both, so that what makes a lemma hard for both cancels out: the
    interval is mostly much narrower than those of the two L*.

    Parameters
    ----------
    scores : mapping of str to DataFrame
        `schemas.LemmaScores` of each lexicon, the same lemmas in each.
    method, confidence, replicates, seed
        As for `pipeline.kernels.lexicon.ratio.interval`.
    drawn : bool
        Whether the lemmas were drawn at random; without limits if not.

    Returns
    -------
    DataFrame
        `schemas.LexiconDifferences`; pairs in the order of the mapping.
    """
    rows = []
    for first, second in itertools.combinations(scores, 2):
        one, two = (scores[name].sort("lemma") for name in (first, second))
        interval = ratio.interval(
            sample_of(one, two), method=method, confidence=confidence, replicates=replicates,
            seed=seed, bounds=(-1.0, 1.0),
        )  # fmt: skip
        interval = interval if drawn else unsure(interval)
        wins = [int(count) for count in ((one["L"] > two["L"]).sum(), (one["L"] < two["L"]).sum())]
        rows.append((
            first, second, interval.estimate, interval.standard_error, interval.lower,
            interval.upper, confidence, *wins, one.height - sum(wins),
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
    kept: Sequence[str] = ("lemma", "n_gold", "L", "missing", "spurious")
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
    columns = ("rank", "lexicon", "lemma", "n_gold", "L", "range", "missing", "spurious")
    return joined.select(columns).sort("rank", "lexicon")
