"""Tables of a lexicon evaluation: statistics, differences between lexicons, moving averages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.lexicon.inference import (
    Interval,
    IntervalOptions,
    by_chance,
    difference_interval,
    equal_weights,
    unequal,
)
from pipeline.kernels.lexicon.l_measure import Entropy, l_star
from pipeline.kernels.numeric import FloatArray
from schemas import LexiconComparison, LexiconDifferences, LexiconQuality, LexiconTrends

Row = tuple[str, float | None, str]


@dataclass(frozen=True)
class Whole:
    """Statistics of whole lexicons; None if the gold is incomplete.

    Parameters
    ----------
    gold_lemmas, lexicon_lemmas, common_lemmas : int or None
        Lemmas of each, and of both.
    f_star, best_match : float or None
        F* over all lemmas of the gold, and F1 of the one-to-one assignment.
    entropy : Entropy or None
        E*, and the parts without entropy.
    """

    gold_lemmas: int | None = None
    lexicon_lemmas: int | None = None
    common_lemmas: int | None = None
    f_star: float | None = None
    best_match: float | None = None
    entropy: Entropy | None = None


def quality(
    scores: pl.DataFrame, interval: Interval, whole: Whole, *, n: int | None
) -> pl.DataFrame:
    """Return the table of statistics.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`: the sampled lemmas.
    interval : Interval
        L* with its limits.
    whole : Whole
        Statistics of all lemmas.
    n : int or None
        Replaces the sum of sampled sizes.

    Returns
    -------
    DataFrame
        `schemas.LexiconQuality`. Undefined values (means of no lemma, variances of one,
        correlations of constants) are null.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, section 5.
    """
    ordered = scores.sort("lemma")
    total = n if n is not None else int(ordered["base"].sum())
    whole_size = int(ordered["population"][0]) if ordered.height else None
    rows = [
        *_lemma_rows(whole),
        ("lemmas sampled from", whole_size, "lemmas that the sample represents; lemmas"),
        ("sampled lemmas", ordered.height, "S; lemmas"),
        ("n", total, "wordforms of the sampled lemmas that L is weighted over; forms"),
        ("L*", interval.estimate, "sum of size/n times L, the quality of the lexicon; 0 to 1"),
        ("standard error", interval.standard_error, "of L*, linearised"),
        *_mean_rows(ordered),
        *_form_rows(ordered),
        *_whole_rows(whole),
    ]
    limits = {"L*": (interval.lower, interval.upper)}
    return pl.DataFrame(
        [
            (number, name, value, *limits.get(name, (None, None)), meaning)
            for number, (name, value, meaning) in enumerate(rows, 1)
        ],
        schema=LexiconQuality.columns(),
        orient="row",
    )


def _lemma_rows(whole: Whole) -> Sequence[Row]:
    gold, common = whole.gold_lemmas, whole.common_lemmas
    coverage = common / gold if gold and common is not None else None
    return (
        ("gold lemmas", gold, "|W'|; lemmas"),
        ("lexicon lemmas", whole.lexicon_lemmas, "|W|; lemmas"),
        ("common lemmas", common, "|Y|, in both; lemmas"),
        ("coverage", coverage, "|Y| / |W'|; proportion"),
    )


def _mean_rows(scores: pl.DataFrame) -> Sequence[Row]:
    means = {name: mean_of(scores, name) for name in ("precision", "recall", "L", "same_l")}
    return (
        ("mean precision", means["precision"], "P of the best match; proportion"),
        ("mean recall", means["recall"], "R of the best match; proportion"),
        ("mean L", means["L"], "each lemma counts alike; 0 to 1"),
        ("variance of L", _variance(scores, 1), "of the sample, divisor S - 1"),
        ("population variance of L", _variance(scores, 0), "divisor S"),
        ("r(L, P)", _correlation(scores, "precision"), "Pearson correlation; -1 to 1"),
        ("r(L, R)", _correlation(scores, "recall"), "Pearson correlation; -1 to 1"),
        ("mean contribution", _mean(scores["contribution"]),
         "L* / S where n is the sum of the sizes"),
        ("mean L, same lemma", means["same_l"], "the lexicon's own cluster of each lemma; 0 to 1"),
        ("L*, same lemma", _same_lemma_star(scores), "the same, weighted by gold sizes; 0 to 1"),
    )  # fmt: skip


def mean_of(scores: pl.DataFrame, name: str) -> float | None:
    """Return an unweighted population mean, corrected for inclusion probabilities.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    name : str
        The column.
    """
    ordered = scores.sort("lemma")
    if not unequal(ordered):
        return _mean(ordered[name])
    values = ordered[name].to_numpy()
    mean = float(equal_weights(ordered) @ values)
    return min(max(mean, float(values.min())), float(values.max()))  # rounding: 1.0000000000000002


def _same_lemma_star(scores: pl.DataFrame) -> float | None:
    """Return L* by the lexicon's own cluster of each lemma, weighted by the gold's forms."""
    if not unequal(scores):
        return l_star(scores["n_gold"], scores["same_l"], float(scores["n_gold"].sum()))
    total = pl.lit(None, pl.Int64) if (scores["base"] != scores["n_gold"]).any() else "base_total"
    by_gold = by_chance(scores.with_columns(size="n_gold", base="n_gold", base_total=total))
    weight = by_gold["weight"].to_numpy()
    return float(weight @ by_gold["same_l"].to_numpy()) if by_gold["base"].sum() else None


def _form_rows(scores: pl.DataFrame) -> Sequence[Row]:
    names = ("n_gold", "n_common", "n_missing", "n_spurious")
    gold, common, missing, spurious = (int(scores[name].sum()) for name in names)
    empty = scores.filter(pl.col("n_gold") == 0).height
    return (
        ("gold forms", gold, "of the sampled lemmas; forms"),
        ("common forms", common, "forms that are also in the best match; forms"),
        ("missing forms", missing, "of the gold, not in the best match; forms"),
        ("spurious forms", spurious, "of the best match, not in the gold; forms"),
        ("lemmas without forms", empty, "in the gold: their L is 0, with weight 0; lemmas"),
    )


def _whole_rows(whole: Whole) -> Sequence[Row]:
    bits = whole.entropy
    return (
        ("F*", whole.f_star, "best match of every gold lemma, in Y or not; 0 to 1"),
        ("E*", bits.value if bits else None,
         "entropy of the lexicon's clusters; bits, 0 if none is mixed"),
        ("lemmas outside", bits.outside if bits else None,
         "of the lexicon, no form in the gold; lemmas"),
        ("forms outside", bits.unknown if bits else None,
         "of the lexicon, in no gold lemma; forms"),
        ("best-match F1", whole.best_match, "one-to-one, all lemmas of both count; 0 to 1"),
    )  # fmt: skip


def _mean(values: pl.Series) -> float | None:
    return float(values.to_numpy().mean()) if len(values) else None


def _variance(scores: pl.DataFrame, ddof: int) -> float | None:
    values = scores["L"].to_numpy()
    if len(values) <= ddof:
        return None
    if not unequal(scores):
        return float(values.var(ddof=ddof))
    off = _deviations(scores, "L", equal_weights(scores))
    return float(equal_weights(scores) @ off**2) * len(values) / (len(values) - ddof)


def _correlation(scores: pl.DataFrame, name: str) -> float | None:
    """Return the correlation with L; None if L or the other column is constant."""
    if min(scores["L"].n_unique(), scores[name].n_unique()) < 2:
        return None
    weights = equal_weights(scores)
    x, y = (_deviations(scores, each, weights) for each in ("L", name))
    if unequal(scores):
        root = np.sqrt(weights * scores.height)
        x, y = root * x, root * y
    scale = math.sqrt(float((x @ x) * (y @ y)))
    if scale <= 1e-20 * scores.height:  # values that differ by rounding errors only
        return None
    return max(-1.0, min(1.0, float(x @ y) / scale))


def _deviations(scores: pl.DataFrame, name: str, weights: FloatArray) -> FloatArray:
    """Return the deviations from the mean."""
    values = scores[name].to_numpy()
    mean = weights @ values if unequal(scores) else _mean(scores[name]) or 0.0
    return np.asarray(values - mean)


# Differences in L* between lexicons on the same lemmas


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
            interval.estimate, interval.standard_error, interval.lower, interval.upper,
        )
        for (name, each), interval in zip(scores.items(), intervals.values(), strict=True)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=LexiconComparison.columns(), orient="row")


def differences(scores: Mapping[str, pl.DataFrame], how: IntervalOptions) -> pl.DataFrame:
    """Return the difference in L* of each pair of lexicons, with limits and a verdict.

    Both are scored on the same lemmas, so the interval is usually much narrower than those of the
    two L*. The limits of the family have the level ``1 - (1 - confidence) / pairs`` (Bonferroni); a
    lexicon is better or worse than another where they exclude 0.

    Parameters
    ----------
    scores : mapping of str to DataFrame
        `schemas.LemmaScores` of each lexicon, the same lemmas in each.
    how : IntervalOptions
        Options of limits; lemmas not drawn at random have none.

    Returns
    -------
    DataFrame
        `schemas.LexiconDifferences`; pairs in the order of the mapping.
    """
    rows = []
    pairs = list(itertools.combinations(scores, 2))
    together = replace(how, confidence=1.0 - (1.0 - how.confidence) / len(pairs))
    for first, second in pairs:
        one, two = (scores[name].sort("lemma") for name in (first, second))
        interval = difference_interval(one, two, how)
        wide = interval if len(pairs) == 1 else difference_interval(one, two, together)
        wins = [int(count) for count in ((one["L"] > two["L"]).sum(), (one["L"] < two["L"]).sum())]
        rows.append((
            first, second, interval.estimate, interval.standard_error, interval.lower,
            interval.upper, how.confidence, *_verdict(wide), *wins, one.height - sum(wins),
        ))  # fmt: skip
    return pl.DataFrame(rows, schema=LexiconDifferences.columns(), orient="row")


def _verdict(interval: Interval) -> tuple[float, float, str]:
    """Return the limits (-1 and 1 if unknown) and the verdict on the first."""
    if interval.lower is None or interval.upper is None:
        return -1.0, 1.0, "open"
    lower, upper = max(-1.0, interval.lower), min(1.0, interval.upper)
    return lower, upper, "better" if lower > 0 else "worse" if upper < 0 else "open"


def rank_differences(scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the L of each lemma in each lexicon, ranked by their difference.

    Lemmas are ordered by n_gold times the range of L, their contribution to a difference in L*.

    Parameters
    ----------
    scores : mapping of str to DataFrame
        `schemas.LemmaScores` of each lexicon, the same lemmas in each.

    Returns
    -------
    DataFrame
        `schemas.LexiconLemmas`.
    """
    names: Sequence[str] = ("lemma", "n_gold", "L", "missing", "spurious", "pi")
    long = pl.concat(
        each.select(pl.lit(name).alias("lexicon"), *names) for name, each in scores.items()
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


# Scores along the sampled lemmas, with moving averages

Order: TypeAlias = Literal["position", "size"]


def trends(
    scores: pl.DataFrame, *, order: Order = "position", span: int | None = None
) -> pl.DataFrame:
    """Return the values of each lemma in order, and their moving averages.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    order : str
        "position": as drawn. "size": by number of gold forms, to show the effect of paradigm size.
    span : int, optional
        Lemmas per centred average, fewer at the ends (default: a tenth of the sample, at least 3).

    Returns
    -------
    DataFrame
        `schemas.LexiconTrends`.
    """
    keys = ("position",) if order == "position" else ("n_gold", "position")
    ordered = scores.sort(*keys, "lemma")
    width = span or max(3, ordered.height // 10)
    averages = {
        f"{name.lower()}_trend": moving_average(ordered[name].to_numpy(), span=width)
        for name in ("precision", "recall", "L")
    }
    number = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("n")
    table = ordered.select(number, "lemma", "n_gold", "precision", "recall", "L")
    columns = {name: pl.Series(values) for name, values in averages.items()}
    return table.with_columns(**columns, span=pl.lit(width, pl.Int64)).select(
        *LexiconTrends.columns()
    )


def moving_average(values: npt.ArrayLike, *, span: int) -> FloatArray:
    """Return the mean of the values around each place.

    Parameters
    ----------
    values : array_like, shape (n,)
        In order.
    span : int
        Values in a mean: (span - 1) // 2 before and span // 2 after each place, as far as
        there are any.

    Examples
    --------
    >>> moving_average([0.0, 3.0, 6.0, 0.0], span=3).tolist()
    [1.5, 3.0, 3.0, 3.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    sums = np.concatenate([[0.0], np.cumsum(numbers)])
    places = np.arange(len(numbers))
    low = np.maximum(places - (span - 1) // 2, 0)
    high = np.minimum(places + span // 2 + 1, len(numbers))
    means = (sums[high] - sums[low]) / (high - low)
    # Sums taken from each other leave rounding errors, which must not leave the range.
    return np.asarray(np.clip(means, numbers.min(), numbers.max())) if len(numbers) else means
