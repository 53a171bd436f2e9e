"""Classes of candidates with similar inclusion probabilities, whose sizes in a set are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.survey.ratio_estimator import ratio_classes, ratio_or_zero

ENOUGH = 4.0
"""Expected draws from which a class is estimated by itself."""


def chance_classes(pi: FloatArray) -> IntArray:
    """Return the class of each candidate, from 0, that of the largest probabilities.

    ``floor(log_3(max pi / pi))``, at most 5.

    Parameters
    ----------
    pi : array of float, shape (candidates,)
        Inclusion probabilities in [0, 1]; NaN if unknown.

    Returns
    -------
    array of int, shape (candidates,)
        Unknown probabilities are in the class of the median; 0 and 1, about which nothing is
        estimated, in the first.

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), section 7.6, on
    poststratification.

    Examples
    --------
    >>> chance_classes(np.array([1.0, 0.6, 0.3, 0.19, 0.001, 0.0])).tolist()
    [0, 0, 0, 1, 5, 0]
    """
    open_ = (pi > 0) & (pi < 1)
    if not open_.any():
        return np.zeros(len(pi), dtype=np.int64)
    chance = np.where(np.isnan(pi), np.median(pi[open_]), np.where(open_, pi, pi[open_].max()))
    return ratio_classes(chance.max() / chance)


class MergedClasses(NamedTuple):
    """The classes of each set after those with few expected draws were merged."""

    into: IntArray
    """The class that each class became part of, shape (..., classes)."""
    needed: FloatArray
    """By how many times more labels the thinnest class would have enough draws, shape (...); 1 if
    no class lacks them."""


def merge_classes(sizes: FloatArray, expected: FloatArray) -> MergedClasses:
    """Merge classes with fewer than four expected draws with their neighbours.

    Hájek's ratio ignores the sizes of the classes: if few of many draws are expected in a class
    that is most of a set, and none was drawn, the other draws seem to describe all of it. So each
    class is estimated by itself, as in a stratified sample. One with fewer than four expected draws
    becomes part of the next class with larger probabilities, or smaller ones if there is none.

    This does harm if the class is more than ``1 / (4 sqrt(m))`` of the set, m its expected draws,
    and more draws are expected in classes with at least three times its probabilities. Unless its
    immediate neighbour and the classes below have four with it, the set then needs more labels.

    Parameters
    ----------
    sizes : array of float, shape (..., classes)
        Uncertain members of each set, by class.
    expected : array of float, shape (..., classes)
        The sums of their probabilities.

    Examples
    --------
    >>> merge_classes(np.array([100.0, 50.0, 0.0, 5.0]), np.array([20.0, 3.0, 0.0, 0.1])).into
    array([0, 0, 2, 0])
    >>> float(merge_classes(np.array([100.0, 0.0, 400.0]), np.array([70.0, 0.0, 0.4])).needed)
    10.0
    """
    classes = sizes.shape[-1]
    into = np.broadcast_to(np.arange(classes), sizes.shape).copy()
    size, draws = sizes.copy(), expected.copy()
    # upwards from the last class, then down from the first ones if these still have too few
    for at in range(classes - 1, 0, -1):
        _merge(at, range(at), into, size, draws)
    for at in range(classes - 1):
        _merge(at, range(classes - 1, at, -1), into, size, draws)
    thin = _lacking(sizes, expected)
    times = np.where(thin, ENOUGH / np.where(expected > 0, expected, np.nan), 1.0)
    return MergedClasses(into, np.fmax.reduce(times, axis=-1))


def _merge(at: int, others: range, into: IntArray, size: FloatArray, draws: FloatArray) -> None:
    """Merge a class with the last of others that has members, in sets where it is thin."""
    thin = (size[..., at] > 0) & (draws[..., at] < ENOUGH)
    target = np.full(thin.shape, -1)
    for other in others:
        target = np.where(size[..., other] > 0, other, target)
    for other in others:
        chosen = thin & (target == other)
        into[chosen] = np.where(into[chosen] == at, other, into[chosen])
        for values in (size, draws):
            values[..., other] += np.where(chosen, values[..., at], 0.0)
    moved = thin & (target >= 0)
    for values in (size, draws):
        values[..., at] = np.where(moved, 0.0, values[..., at])


def _lacking(sizes: FloatArray, expected: FloatArray) -> BoolArray:
    """Return which classes have too few draws for their size."""
    share = ratio_or_zero(sizes, sizes.sum(axis=-1, keepdims=True))
    least = 0.25 / np.sqrt(np.maximum(expected.sum(axis=-1, keepdims=True), 1.0))
    above = np.cumsum(expected, axis=-1)
    thin: BoolArray = (share > least) & (expected < ENOUGH)
    for at in range(sizes.shape[-1]):
        heavier = above[..., at - 2] if at > 1 else np.zeros(sizes.shape[:-1])
        near = above[..., -1] - heavier
        thin[..., at] &= (heavier > expected[..., at]) & (near < ENOUGH)
    return thin


def add_classes(values: FloatArray, into: IntArray) -> FloatArray:
    """Add up the values of merged classes.

    Parameters
    ----------
    values : array of float, shape (columns, ..., classes, folds)
        Sums of each set by class.
    into : array of int, shape (..., classes)
        `MergedClasses.into`.

    Returns
    -------
    array of float, shape (columns, ..., classes, folds)
        0 in classes that became part of others.

    Examples
    --------
    >>> add_classes(np.array([[[1.0], [2.0], [4.0]]]), np.array([0, 1, 0]))[0, :, 0].tolist()
    [5.0, 2.0, 0.0]
    """
    found = np.zeros_like(values)
    classes = into.shape[-1]
    for one in range(classes):
        for other in range(classes):
            chosen = (into[..., one] == other)[..., None]
            found[..., other, :] += np.where(chosen, values[..., one, :], 0.0)
    return found
