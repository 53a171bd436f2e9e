"""Agreement between annotators, with intervals: all of them and each two, for each category."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from pipeline import room
from pipeline.kernels.annotation import agreement_of_many as many
from pipeline.kernels.annotation import agreement_of_two as two
from pipeline.kernels.annotation.adjudication import votes
from pipeline.kernels.annotation.gwet_agreement import gwet_ac, gwet_standard_error
from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.hashing import seeded_generator
from pipeline.kernels.percentiles import check_bootstrap, summary, tail_of
from pipeline.kernels.statistics.binomial_intervals import wilson
from schemas import Agreement

_Row = tuple[str | float, ...]

_AT_A_TIME = 8_000_000  # numbers of the samples drawn again: bounds the memory
EVERY = "*"
"""Stands for all annotators, and for the labels themselves instead of a category."""


def agreement(
    annotations: pl.DataFrame | pl.LazyFrame,
    *,
    categories: Mapping[str, Collection[str]],
    confidence: float,
    replicates: int,
    seed: str,
) -> pl.DataFrame:
    """Return the coefficients of agreement with their intervals.

    For all annotators the mean observed agreement, Fleiss' kappa, Krippendorff's alpha and Gwet's
    AC1, for each two the observed agreement, Cohen's kappa and AC1; over the labels as they are,
    and for each category, where a label is either in it or not, with positive and negative
    agreement.
    Only candidates with two votes or more count; an annotator who did not judge is missing.

    Analytic intervals are Wilson's for the agreement of two, and normal ones with the
    published large-sample errors for Cohen's and Fleiss' kappa and AC1, cut off at -1 and 1. The
    bootstrap draws candidates with replacement and takes percentiles.

    Parameters
    ----------
    annotations : pl.DataFrame or pl.LazyFrame
        id, annotator, label, as table `Annotations` has them. An annotator who gives an id two
        different labels has no vote on it.
    categories : mapping of str to collection of str
        The labels that make a true positive of each category.
    confidence : float
        Confidence level in (0, 1).
    replicates : int
        Number of bootstrap samples, from 1; 2,000 for limits that are stable in the second
        digit.
    seed : str
        Fixes the bootstrap samples. The order of the rows makes no difference.

    Returns
    -------
    pl.DataFrame
        Table `Agreement`, sorted. Estimates are at most 1, and null where the coefficient is
        undefined, e.g. kappa where all labels are the same. At perfect agreement the
        intervals of kappa have no width, but Wilson's interval has.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1), or there are no replicates.

    References
    ----------
    Fleiss, Cohen & Everitt (1969); Gwet (2008, 2021); Efron & Tibshirani, An Introduction to the
    Bootstrap (1993), chapter 13; Zapf et al., Measuring Inter-Rater Reliability for Nominal
    Data (2016), on the bootstrap for Fleiss' kappa and Krippendorff's alpha.

    Examples
    --------
    >>> given = pl.DataFrame({
    ...     "id": [f"x{i}" for i in range(4)] * 2, "annotator": ["a"] * 4 + ["b"] * 4,
    ...     "label": ["svc", "svc", "no", "no", "svc", "no", "no", "no"],
    ... })
    >>> agreement(
    ...     given, categories={"SVC": ["svc"]}, confidence=0.95, replicates=100, seed="s"
    ... ).filter(category="SVC", annotator_1="a", method="bootstrap").select(
    ...     "coefficient", pl.col("estimate").round(4)
    ... ).head(4).rows()
    [('cohen_kappa', 0.5), ('gwet_ac1', 0.5294), ('negative', 0.8), ('observed', 0.75)]
    """
    check_bootstrap(confidence=confidence, replicates=replicates)
    voices = votes(annotations.lazy()).sort("id", "annotator").collect()
    _require_room(voices, replicates)
    rows: list[_Row] = []
    for group in _groups(voices, categories):
        bits = seeded_generator(seed=seed, purpose=" ".join(("agreement", *group.key)))
        rows += _bootstrap(group, bits, replicates=replicates, confidence=confidence)
        rows += _analytic(group, confidence=confidence)
    table = pl.DataFrame(rows, schema=list(Agreement.columns()), orient="row").fill_nan(None)
    typed = [pl.col(name).cast(dtype) for name, dtype in Agreement.columns().items()]
    return table.select(typed).sort(*Agreement.key())


def _require_room(voices: pl.DataFrame, replicates: int) -> None:
    """Refuse tables of so many labels that they are no choice of labels."""
    labels, items = voices["label"].n_unique(), voices["id"].n_unique()
    table = max(labels * labels, labels * items)
    drawn = min(_AT_A_TIME // max(1, labels**2) + 1, replicates) * labels * labels
    room.require(
        8 * (table + 4 * drawn),
        f"agreement: {labels:,} different labels of {items:,} candidates: their tables",
        otherwise="look whether the column of labels holds what was chosen from a list",
    )


class _Group(NamedTuple):
    """Candidates that were judged alike, how many there are, and what to compute of them."""

    key: tuple[str, str, str]
    frequencies: IntArray
    coefficients: Callable[[FloatArray], dict[str, FloatArray]]
    errors: Callable[[FloatArray], dict[str, FloatArray]]


def _groups(given: pl.DataFrame, categories: Mapping[str, Collection[str]]) -> Iterator[_Group]:
    labels, annotators = given["label"].unique().sort(), given["annotator"].unique().sort()
    codes = _codes(given, labels, annotators)
    for category, positive in [(EVERY, None), *categories.items()]:
        size = len(labels) if positive is None else 2
        coded = codes
        if positive is not None:
            place = np.array([0 if label in positive else 1 for label in labels], dtype=np.int64)
            coded = np.where(codes < 0, -1, np.append(place, -1)[codes])
        yield _all(coded, size, category)
        for a, b in itertools.combinations(range(len(annotators)), 2):
            yield _pair(coded[:, [a, b]], size, (category, annotators[a], annotators[b]))


def _codes(given: pl.DataFrame, labels: pl.Series, annotators: pl.Series) -> IntArray:
    """Return the place of the label, items by annotators; -1 where there is none."""
    ids = given["id"].unique().sort()
    codes = np.full((len(ids), len(annotators)), -1, dtype=np.int64)
    rows = ids.search_sorted(given["id"]).to_numpy()
    columns = annotators.search_sorted(given["annotator"]).to_numpy()
    codes[rows, columns] = labels.search_sorted(given["label"]).to_numpy()
    return codes


def _all(codes: IntArray, size: int, category: str) -> _Group:
    counts = (codes[:, :, None] == np.arange(size)).sum(axis=1)
    rated = counts[counts.sum(axis=1) >= 2]
    patterns, frequencies = np.unique(rated, axis=0, return_counts=True)

    def coefficients(weights: FloatArray) -> dict[str, FloatArray]:
        specific = many.category_agreement(patterns, weights=weights)
        return {
            "observed": many.mean_agreement(patterns, weights=weights),
            "fleiss_kappa": many.fleiss_kappa(patterns, weights=weights),
            "krippendorff_alpha": many.krippendorff_alpha(patterns, weights=weights),
            "gwet_ac1": gwet_ac(patterns, weights=weights),
            **_sides(specific, category),
        }

    def errors(weights: FloatArray) -> dict[str, FloatArray]:
        return {
            "fleiss_kappa": many.fleiss_standard_error(patterns, weights=weights),
            "gwet_ac1": gwet_standard_error(patterns, weights=weights),
        }

    return _Group((category, EVERY, EVERY), frequencies, coefficients, errors)


def _pair(codes: IntArray, size: int, key: tuple[str, str, str]) -> _Group:
    both = codes[(codes >= 0).all(axis=1)]
    frequencies = np.bincount(both[:, 0] * size + both[:, 1], minlength=size * size)
    each = np.eye(size)
    patterns = (each[:, None] + each).reshape(size * size, size)

    def table(weights: FloatArray) -> FloatArray:
        return weights.reshape(*weights.shape[:-1], size, size)

    def coefficients(weights: FloatArray) -> dict[str, FloatArray]:
        return {
            "observed": two.observed_agreement(table(weights)),
            "cohen_kappa": two.cohen_kappa(table(weights)),
            "gwet_ac1": gwet_ac(patterns, weights=weights),
            **_sides(two.specific_agreement(table(weights)), key[0]),
        }

    def errors(weights: FloatArray) -> dict[str, FloatArray]:
        return {
            "cohen_kappa": two.cohen_standard_error(table(weights)),
            "gwet_ac1": gwet_standard_error(patterns, weights=weights),
        }

    return _Group(key, frequencies, coefficients, errors)


def _sides(specific: FloatArray, category: str) -> dict[str, FloatArray]:
    if category == EVERY:
        return {}
    return {"positive": specific[..., 0], "negative": specific[..., 1]}


def _bootstrap(
    group: _Group, bits: np.random.Generator, *, replicates: int, confidence: float
) -> Iterator[_Row]:
    """Draw candidates again, and take percentiles of the samples that have a value."""
    frequencies, items = group.frequencies, int(group.frequencies.sum())
    estimates = group.coefficients(frequencies.astype(float))
    parts = [group.coefficients(np.zeros((0, len(frequencies))))]
    step = max(1, _AT_A_TIME // len(frequencies)) if items else replicates
    for start in range(0, replicates if items else 0, step):
        size = min(step, replicates - start)
        drawn = bits.multinomial(items, frequencies / items, size=size).astype(np.float64)
        parts.append(group.coefficients(drawn))
    again = {name: np.concatenate([part[name] for part in parts]) for name in estimates}
    for name, estimate in estimates.items():
        lower, upper, error, undefined = summary(again[name], confidence=confidence)
        numbers = (items, float(estimate), error, lower, upper, undefined)
        yield (*group.key, name, "bootstrap", *map(float, numbers))


def _analytic(group: _Group, *, confidence: float) -> Iterator[_Row]:
    weights, z = group.frequencies.astype(np.float64), -scipy.special.ndtri(tail_of(confidence))
    items, estimates = weights.sum(), group.coefficients(weights)
    for name, error in group.errors(weights).items():
        estimate = estimates[name]
        limits = np.clip([estimate - z * error, estimate + z * error], -1.0, 1.0)
        numbers = (items, estimate, error, *limits, 0)
        yield (*group.key, name, "analytic", *map(float, numbers))
    if group.key[1] != EVERY:
        yield (
            *group.key,
            "observed",
            "analytic",
            *_share(estimates["observed"], items, confidence),
        )


def _share(estimate: FloatArray, items: float, confidence: float) -> tuple[float, ...]:
    """Return Wilson's interval: the agreement of two is a proportion of the items."""
    if not items:
        return (0.0, *[float("nan")] * 4, 0.0)
    lower, upper = wilson(np.rint(estimate * items), items, confidence=confidence)
    error = np.sqrt(estimate * (1.0 - estimate) / items)
    return (items, *map(float, (estimate, error, lower, upper)), 0.0)
