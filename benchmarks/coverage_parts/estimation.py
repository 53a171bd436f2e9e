"""Estimates of many sets from many samples, by the kernel of the stages, without a table."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse

from coverage_parts.populations import FOLDS
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.survey.ratio_estimator import (
    CertainCounts,
    Estimates,
    Moments,
    draw_moments,
    hajek,
)
from pipeline.kernels.survey.study import add_classes, chance_classes, cross_fit, merge_classes

_GUESSED = Moments._fields.index("guessed")


def estimate_sets(
    y: BoolArray,
    pi: FloatArray,
    draws: BoolArray,
    members: BoolArray,
    *,
    guess: FloatArray | None = None,
    fold: IntArray | None = None,
) -> Estimates:
    """Estimate sets from samples whose predictions, if any, come from outside.

    Parameters
    ----------
    y, pi : arrays, shape (candidates,)
        Labels and chances.
    draws : array of bool, shape (samples, candidates)
        Who is drawn; all of them are judged.
    members : array of bool, shape (sets, candidates)
        Who is in which set.
    guess : array of float, shape (candidates,), optional
        Predictions in [0, 1].
    fold : array of int, shape (candidates,), optional
        The fold of each; needed with predictions.

    Returns
    -------
    Estimates
        Arrays of shape (samples, sets).
    """
    columns = _columns(y, pi, guess)
    kinds = 1 if fold is None else FOLDS
    group = chance_classes(pi)
    classes = int(group.max(initial=0)) + 1
    sums = np.zeros((len(columns), len(draws), len(members), classes, kinds))
    sample = scipy.sparse.csc_array(draws.astype(np.float64))
    for number, at in itertools.product(range(kinds), range(classes)):
        mine = (pi < 1) & (pi > 0) & (group == at)
        units = np.flatnonzero(mine & ((fold == number) if kinds > 1 else True))
        part, inside = sample[:, units].tocsr(), members[:, units].T
        for field in np.flatnonzero(columns[:, units].any(axis=1)):
            added = part @ (columns[field, units, None] * inside)
            sums[field, :, :, at, number] = np.asarray(added)
    rest = None
    if guess is not None:
        rest = _by_class(members, np.where(pi < 1, guess, 0.0), group) - sums[_GUESSED].sum(axis=-1)
    return _hajek(y, pi, members, sums, rest)


def estimate_with_fit(
    y: BoolArray,
    pi: FloatArray,
    draws: BoolArray,
    members: BoolArray,
    *,
    features: FloatArray,
    fold: IntArray,
) -> Estimates:
    """Estimate sets with predictions that are fitted in each sample; as `estimate_sets`."""
    group = chance_classes(pi)
    classes = int(group.max(initial=0)) + 1
    sums = np.zeros((len(Moments._fields), len(draws), len(members), classes, FOLDS))
    rest = np.zeros((len(draws), len(members), classes))
    uncertain, inside = pi < 1, members.astype(np.float64)
    for row, sample in enumerate(draws):
        places = np.flatnonzero(sample)
        guess = cross_fit(features, places, y[places], fold[places], folds=FOLDS)
        used = places[uncertain[places]]
        rest[row] = _by_class(members, np.where(uncertain & ~sample, guess, 0.0), group)
        if not used.size:  # all that was drawn was certain
            continue
        columns = draw_moments(y[used], pi[used], prediction=guess[used])
        cell = group[used] * FOLDS + fold[used]
        cells = columns[:, None, :] * (cell == np.arange(classes * FOLDS)[:, None])
        flat = cells.reshape(-1, len(used)) @ inside[:, used].T
        shape = len(columns), classes, FOLDS, len(members)
        sums[:, row] = flat.reshape(shape).transpose(0, 3, 1, 2)
    return _hajek(y, pi, members, sums, rest)


def _columns(y: BoolArray, pi: FloatArray, guess: FloatArray | None) -> FloatArray:
    """Return what each candidate adds if it is drawn; nothing if it is certain."""
    open_ = (pi < 1) & (pi > 0)
    safe = np.where(open_, pi, 0.5)
    return draw_moments(y, safe, prediction=0.0 if guess is None else guess) * open_


def _hajek(
    y: BoolArray, pi: FloatArray, members: BoolArray, sums: FloatArray, rest: FloatArray | None
) -> Estimates:
    group = chance_classes(pi)
    sizes = _by_class(members, (pi < 1).astype(np.float64), group)
    expected = _by_class(members, pi * (pi < 1), group)
    certain = members & (pi == 1)
    hits, all_ = (certain & y).sum(axis=1), certain.sum(axis=1)
    shape = sums.shape[1:3]
    known = CertainCounts(
        *(np.broadcast_to(each, shape) * 1.0 for each in (hits, all_ - hits, 0 * hits))
    )
    return class_estimates(sums, sizes, expected, known=known, rest=rest)


def class_estimates(
    sums: FloatArray,
    sizes: FloatArray,
    expected: FloatArray,
    *,
    known: CertainCounts,
    rest: FloatArray | None,
) -> Estimates:
    """Estimate sets by classes of chances, of which thin ones are merged.

    Parameters
    ----------
    sums : array of float, shape (fields, ..., classes, folds)
        `Moments` of the draws.
    sizes, expected : array of float, shape (..., classes)
        Uncertain members of each class, and the sum of their chances.
    known : CertainCounts
        Certain members.
    rest : array of float, shape (..., classes), or None
        Sums of predictions of the members that were not drawn.
    """
    into = np.broadcast_to(merge_classes(sizes, expected).into, sums.shape[1:-1])
    mass = add_classes(np.broadcast_to(sizes, into.shape)[None, ..., None], into)[0, ..., 0]
    if rest is not None:
        rest = add_classes(rest[None, ..., None], into)[0, ..., 0]
    return hajek(add_classes(sums, into), mass, certain=known, guessed=rest)


def strata_estimates(size: IntArray, n: IntArray, k: IntArray, pi: FloatArray) -> Estimates:
    """Estimate sets from stratified samples by their counts in each stratum.

    Parameters
    ----------
    size, n, k : array of int, shape (..., strata)
        Members of each set, draws, and true positives among them.
    pi : array of float, shape (strata,)
        The share of each stratum that is drawn.
    """
    complete, shape = pi == 1, (-1, *[1] * (n.ndim - 1), len(pi))
    chance = np.where((pi > 0) & ~complete, pi, 0.5)
    hit, miss = (draw_moments(y, chance).reshape(shape) for y in (1.0, 0.0))
    sums = np.where(complete, 0.0, hit * k + miss * (n - k))
    hits, misses = (np.where(complete, each, 0.0).sum(axis=-1) for each in (k, n - k))
    mass = np.where(complete, 0.0, np.broadcast_to(size, n.shape))
    return hajek(sums[..., None], mass, certain=CertainCounts(hits, misses, np.zeros_like(hits)))


def enough_draws(pi: FloatArray, members: BoolArray) -> BoolArray:
    """Return which sets, shape (sets,), get an estimate: not those with too few expected draws."""
    group = chance_classes(pi)
    sizes = _by_class(members, (pi < 1).astype(np.float64), group)
    merged = merge_classes(sizes, _by_class(members, pi * (pi < 1), group))
    return np.asarray(merged.factor == 1)


def _by_class(members: BoolArray, values: FloatArray, group: IntArray) -> FloatArray:
    """Add up values of the members of each set by class, shape (sets, classes)."""
    return np.asarray(members @ (values[:, None] * np.eye(int(group.max(initial=0)) + 1)[group]))
