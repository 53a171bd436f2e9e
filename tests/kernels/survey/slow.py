"""Questions as rows of a matrix, one candidate after the other: the slow twin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import polars as pl

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.survey.allocation import Sets, question_sets
from pipeline.kernels.survey.ratio_estimator import CertainCounts, Estimates, draw_moments, hajek


def sets_of(
    ranks: Mapping[str, Sequence[int]], pairs: Sequence[tuple[str, str]], n: Sequence[int]
) -> Sets:
    """Return the sets of a few candidates c0, c1, ..."""
    count = len(next(iter(ranks.values())))
    vectors = {name: np.array(vector, dtype=np.int64) for name, vector in ranks.items()}
    ids = pl.Series([f"c{i:03}" for i in range(count)])
    return question_sets(ids, vectors, pairs=pairs, n=np.array(n, dtype=np.int64))


def coefficients(
    ranks: Mapping[str, Sequence[int]], pairs: Sequence[tuple[str, str]], n: Sequence[int]
) -> list[list[float]]:
    """Return a_qi, question by question, in the order of `declared_questions`."""
    count = len(next(iter(ranks.values())))
    rows = [[1 / size if r <= size else 0.0 for r in ranks[m]] for m in ranks for size in n]
    for one, two in pairs:
        for size in n:
            both = zip(ranks[one], ranks[two], strict=True)
            rows.append([((a <= size) - (b <= size)) / size for a, b in both])
    return [*rows, [1 / count] * count]


def residuals(
    a: Sequence[float], p: Sequence[float], judged: Sequence[bool], *, assisted: bool
) -> list[float]:
    """Return v_qi; each sign of a is a set of its own."""
    values = [0.0] * len(a)
    for sign in (1, -1):
        inside = [i for i in range(len(a)) if a[i] * sign > 0 and not judged[i]]
        mean = sum(p[i] for i in inside) / len(inside) if inside else 0.0
        for i in inside:
            spread = 0.0 if assisted else (p[i] - mean) ** 2
            values[i] = max(p[i] * (1 - p[i]), 0.01) + spread
    return values


def squares(
    rows: Sequence[Sequence[float]],
    p: Sequence[float],
    judged: Sequence[bool],
    *,
    assisted: bool,
) -> FloatArray:
    """Return a_qi^2 v_qi, shape (questions, candidates)."""
    return np.array(
        [
            [c * c * v for c, v in zip(a, residuals(a, p, judged, assisted=assisted), strict=True)]
            for a in rows
        ]
    )


# Many samples at once from known populations, and the estimates from them.


def chances(x: FloatArray, size: int) -> FloatArray:
    """Return chances in proportion to x that add up to a size; those at 1 or more become 1."""
    certain = np.zeros(len(x), dtype=bool)
    while True:
        factor = (size - certain.sum()) / x[~certain].sum()
        more = ~certain & (x * factor >= 1)
        if not more.any():
            return np.where(certain, 1.0, x * factor)
        certain |= more


def sequential_poisson(
    pi: FloatArray, samples: int, seed: int, stratum: IntArray | None = None
) -> IntArray:
    """Draw samples: in each stratum the smallest u / pi, and all certain candidates.

    Shape (samples, draws); the size is the sum of the chances in each stratum.
    """
    random = np.random.default_rng(seed)
    keys = np.where(pi < 1, random.random((samples, len(pi))) / pi, 0.0)
    strata = np.zeros(len(pi), dtype=np.int64) if stratum is None else stratum
    parts = []
    for place in np.unique(strata):
        (own,) = np.nonzero(strata == place)
        size = round(pi[own].sum())
        parts.append(own[np.argpartition(keys[:, own], size - 1, axis=1)[:, :size]])
    return np.concatenate(parts, axis=1)


def estimate_set(
    members: BoolArray,
    y: FloatArray,
    pi: FloatArray,
    drawn: IntArray,
    *,
    stratum: IntArray | None = None,
    prediction: FloatArray | None = None,
    folds: int = 10,
) -> Estimates:
    """Estimate one set from many samples: arrays over the samples.

    Predictions are those of an external judge; folds follow the order of the draws.
    """
    samples, draws = drawn.shape
    strata = np.zeros(len(y), dtype=np.int64) if stratum is None else stratum
    count, kinds = int(strata.max()) + 1, folds if prediction is not None else 1
    guess = np.zeros(len(y)) if prediction is None else prediction
    inside = members[drawn] & (pi[drawn] < 1)
    safe = np.where(pi < 1, pi, 0.5)[drawn]
    columns = draw_moments(y[drawn].ravel(), safe.ravel(), prediction=guess[drawn].ravel())
    columns = columns * inside.ravel()
    fold = np.broadcast_to(np.arange(draws) % kinds, drawn.shape)
    cell = (np.arange(samples)[:, None] * count + strata[drawn]) * kinds + fold
    shape, cells = (samples, count, kinds), samples * count * kinds
    sums: FloatArray = np.stack(
        [np.bincount(cell.ravel(), each, cells).reshape(shape) for each in columns],
        dtype=np.float64,
    )
    uncertain = members & (pi < 1)
    mass = np.bincount(strata[uncertain], minlength=count).astype(float)
    all_guesses = np.bincount(strata[uncertain], guess[uncertain], count)
    certain = members & (pi == 1)
    known = (y[certain].sum(), (1 - y[certain]).sum(), 0.0)
    judged_draws = sums[3].sum(axis=-1)
    return hajek(
        sums,
        np.broadcast_to(mass, (samples, count)),
        certain=CertainCounts(*(np.full(samples, each) for each in known)),
        guessed=None if prediction is None else all_guesses - judged_draws,
    )


# The formulas of the estimates again, one candidate after the other, in exact fractions.


def sum_fractions(values: Iterable[Fraction]) -> Fraction:
    return sum(values, Fraction(0))


@dataclass(frozen=True)
class Member:
    """A candidate of a set; y is None where it was not drawn, or not judged."""

    y: int | None
    pi: Fraction
    stratum: int = 0
    fold: int = 0
    guess: Fraction = Fraction(0)


def slow_estimate(
    members: Sequence[Member], tau: Sequence[Fraction] = (Fraction(0),)
) -> tuple[Fraction | None, Fraction | None]:
    """Return the estimate of a set and its variance: None where there is none."""
    size = len(members)
    strata = sorted({each.stratum for each in members if each.pi < 1})
    parts = {h: [each for each in members if each.pi < 1 and each.stratum == h] for h in strata}
    certain = [each for each in members if each.pi == 1]
    for h in strata:
        if all(each.y is not None for each in parts[h]):
            certain += parts.pop(h)
    if any(each.y is None for each in certain) or not size:
        return None, None
    rest = sum(map(len, parts.values()))
    hits = sum(each.y or 0 for each in certain)
    if not rest:
        return Fraction(hits, size), Fraction(0)
    parts = {h: centre_guesses(part) for h, part in parts.items()}
    drawn = {h: [each for each in part if each.y is not None] for h, part in parts.items()}
    if not all(drawn.values()):
        return None, None
    means = {h: mean_residual(part, tau) for h, part in drawn.items()}
    overall = sum_fractions(Fraction(len(parts[h]), rest) * means[h] for h in parts)
    p = variance = Fraction(0)
    for h, part in parts.items():
        share = Fraction(len(part), rest)
        p += share * means[h]
        if len(drawn[h]) > 1:
            variance += share**2 * spread(drawn[h], means[h], tau)
        elif rest and sum(map(len, drawn.values())) > 1:
            variance += share**2 * (1 - drawn[h][0].pi) * whole_spread(parts, drawn, overall, tau)
    if any(tau) and not Fraction(1, 10**12) < p < 1 - Fraction(
        1, 10**12
    ):  # predictions have no weight
        return slow_estimate(members, [Fraction(0)] * len(tau))
    p = min(max(p, Fraction(0)), Fraction(1))
    single = sum(map(len, drawn.values())) == 1
    theta = (hits + rest * p) / size
    return theta, None if single else Fraction(rest, size) ** 2 * variance


def centre_guesses(part: Sequence[Member]) -> list[Member]:
    mean = sum_fractions(each.guess for each in part) / len(part)
    return [replace(each, guess=each.guess - mean) for each in part]


def residual(each: Member, tau: Sequence[Fraction]) -> Fraction:
    return Fraction(each.y or 0) - tau[each.fold] * each.guess


def mean_residual(drawn: Sequence[Member], tau: Sequence[Fraction]) -> Fraction:
    top = sum_fractions(residual(each, tau) / each.pi for each in drawn)
    return top / sum_fractions(1 / each.pi for each in drawn)


def spread(drawn: Sequence[Member], mean: Fraction, tau: Sequence[Fraction]) -> Fraction:
    total, m = sum_fractions(1 / each.pi for each in drawn), len(drawn)
    z = [(residual(each, tau) - mean) / (total * each.pi) for each in drawn]
    c = [1 - each.pi for each in drawn]
    centre = sum_fractions(a * b for a, b in zip(c, z, strict=True)) / sum_fractions(c)
    return Fraction(m, m - 1) * sum_fractions(
        a * (b - centre) ** 2 for a, b in zip(c, z, strict=True)
    )


def whole_spread(
    parts: dict[int, list[Member]],
    drawn: dict[int, list[Member]],
    mean: Fraction,
    tau: Sequence[Fraction],
) -> Fraction:
    """The mean square about the mean of all, by squared weights."""
    rest, m = sum(map(len, parts.values())), sum(map(len, drawn.values()))
    above = below = Fraction(0)
    for h, part in drawn.items():
        scale = Fraction(len(parts[h]), rest) / sum_fractions(1 / each.pi for each in part)
        for each in part:
            squared = (1 - each.pi) * (scale / each.pi) ** 2
            above += squared * (residual(each, tau) - mean) ** 2
            below += squared
    return Fraction(m, m - 1) * above / below


def slow_tau(drawn: Sequence[Member], sizes: dict[int, int], fold: int, *, folds: int) -> Fraction:
    """The slope in the other folds, clipped; 0 for constant predictions."""
    others = [each for each in drawn if folds == 1 or each.fold != fold]
    rest = sum(sizes.values())
    joint = own = Fraction(0)
    for h, size in sizes.items():
        part = [each for each in others if each.stratum == h]
        if len(part) < 2:
            continue
        share, total = Fraction(size, rest), sum_fractions(1 / each.pi for each in part)
        y, g = (
            sum_fractions(value / each.pi for value, each in zip(values, part, strict=True)) / total
            for values in ([Fraction(each.y or 0) for each in part], [each.guess for each in part])
        )
        c = [1 - each.pi for each in part]
        zy = [(Fraction(each.y or 0) - y) / (total * each.pi) for each in part]
        zg = [(each.guess - g) / (total * each.pi) for each in part]
        by, bg = (
            sum_fractions(a * b for a, b in zip(c, z, strict=True)) / sum_fractions(c)
            for z in (zy, zg)
        )
        factor = share**2 * Fraction(len(part), len(part) - 1)
        joint += factor * sum_fractions(
            a * (u - by) * (v - bg) for a, u, v in zip(c, zy, zg, strict=True)
        )
        own += factor * sum_fractions(a * (v - bg) ** 2 for a, v in zip(c, zg, strict=True))
    alike = len({each.y for each in others}) < 2
    return Fraction(0) if alike or not own else min(max(joint / own, Fraction(0)), Fraction(1))
