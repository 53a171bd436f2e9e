"""Differences of n-best precision from a stratified sample, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray, labels_of
from pipeline.kernels.nbest.difference_sets import samples, set_counts
from pipeline.kernels.nbest.difference_tests import relevant
from pipeline.kernels.nbest.stratified_designs import pair_limits, stratified_sets
from pipeline.kernels.nbest.stratified_estimates import (
    DESIGNED,
    replicated,
    stratified_estimate,
)
from pipeline.kernels.nbest.stratified_lists import places_in
from pipeline.kernels.parts import counted, divided, parts_needed
from pipeline.kernels.percentiles import percentiles
from schemas import StratifiedComparison


def stratified_difference(
    first: IntArray,
    second: IntArray,
    *,
    share: float,
    confidence: float,
    replicates: int,
    seed: str,
    method: str = DESIGNED,
) -> tuple[float, float, float]:
    """Estimate the difference in precision of two lists from their difference sets.

    ``(|D1|/n) (p(D1) - p(D2))``, each p the weighted estimate over strata. D1 and D2 have no
    candidate in common, so their bootstrap samples, or predictions, are drawn independently of
    each other, and the limits are percentiles; those of "korn_graubard" come from the limits of
    both by squares and recovery (MOVER).

    Parameters
    ----------
    first, second : array of int, shape (3, strata)
        Members of D1 and of D2 in each stratum, judged draws among them, true positives.
    share : float
        |D1| / n.
    confidence : float
        Confidence level in (0, 1), which the coverage meets in the limit only.
    replicates : int
        Number of bootstrap samples, or of predictions.
    seed : str
        Fixes them.
    method : str
        "korn_graubard", or a name in `stratified_estimates.REPLICATES`.

    Returns
    -------
    difference, lower, upper : float
        In [-1, 1], the limits on both sides of the difference. NaN where a stratum of D1 or D2
        has no draw; the limits of the bootstrap also where it has one draw of several members.
        All 0 if the lists are equal.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3, on difference sets; Rao & Wu,
    Resampling Inference with Complex Survey Data (1988), on the bootstrap.

    Examples
    --------
    >>> first, second = np.array([[4], [4], [3]]), np.array([[4], [4], [1]])
    >>> stratified_difference(
    ...     first, second, share=0.5, confidence=0.95, replicates=100, seed="s"
    ... )
    (0.25, 0.25, 0.25)
    """
    estimates = _differences(
        np.stack([first, second])[None], np.array([share]), confidence=confidence,
        replicates=replicates, seed=seed, method=method,
    )  # fmt: skip
    difference, lower, upper = estimates[0].tolist()
    return difference, lower, upper


def _differences(
    sets: IntArray,
    share: FloatArray,
    *,
    confidence: float,
    replicates: int,
    seed: str,
    method: str,
) -> FloatArray:
    """Return difference and limits of each list, from counts of shape (lists, 2, 3, strata)."""
    p, variance = stratified_estimate(*np.moveaxis(sets, 2, 0))
    difference = np.where(share == 0.0, 0.0, share * (p[:, 0] - p[:, 1]))
    limits = np.full((2, len(sets)), np.where(share == 0.0, 0.0, np.nan))
    estimable = ~np.isnan(variance if method == "bootstrap" else p).any(axis=1)
    rows = np.flatnonzero((share > 0.0) & estimable)
    if rows.size and method == DESIGNED:
        one, two = (stratified_sets(*np.moveaxis(sets[rows, side], 1, 0)) for side in (0, 1))
        limits[:, rows] = share[rows] * np.stack(pair_limits(one, two, confidence=confidence))
    elif rows.size:
        draw = partial(replicated(method), replicates=replicates, seed=seed)
        again_one, again_two = (
            [draw(each, purpose=f"difference {name}") for each in sets[rows, side]]
            for side, name in enumerate(("D1", "D2"))
        )
        again = percentiles(np.subtract(again_one, again_two), confidence=confidence)
        limits[:, rows] = np.clip(share[rows] * again, -1.0, 1.0)
    lower, upper = np.minimum(limits[0], difference), np.maximum(limits[1], difference)
    return np.stack([difference, lower, upper], axis=1)


def stratified_comparison(
    ranks: pl.DataFrame | pl.LazyFrame,
    judged: pl.DataFrame,
    strata: pl.DataFrame | pl.LazyFrame,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
    margin: float,
    confidence: float,
    replicates: int,
    seed: str,
    method: str = DESIGNED,
) -> pl.DataFrame:
    """Compare the n-best precision of measures by a stratified sample.

    Fisher's test does not apply: the true positives of a difference set are not binomial where
    draws stand for different numbers of candidates. The interval takes its place.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.DataFrame
        Columns category, id, tp (null = not judged): the sampled candidates, each once.
    strata : pl.DataFrame or pl.LazyFrame
        id and stratum of all candidates.
    pairs : sequence of (str, str)
        The measures to compare.
    at : sequence of int
        List sizes; those beyond the data set are left out.
    margin : float
        Relevance margin: the smallest difference that is marked; proportion.
    confidence, replicates, seed, method
        As for `stratified_difference`.

    Returns
    -------
    pl.DataFrame
        Table `StratifiedComparison`, sorted; difference and limits null where unknown.

    Examples
    --------
    >>> ranks = pl.DataFrame({
    ...     "measure": ["a"] * 2 + ["b"] * 2, "id": ["x", "y", "y", "x"], "rank": [1, 2] * 2,
    ... })
    >>> strata = pl.DataFrame({"id": ["x", "y"], "stratum": "all"})
    >>> judged = pl.DataFrame({"category": "TP", "id": ["x", "y"], "tp": [True, False]})
    >>> stratified_comparison(
    ...     ranks, judged, strata, pairs=[("a", "b")], at=[1], margin=0.0, confidence=0.95,
    ...     replicates=100, seed="s",
    ... ).select("difference", "lower", "upper", "excludes_zero").rows()
    [(1.0, 1.0, 1.0, True)]
    """
    rows = []
    for key, n, sets in stratified_counts(ranks, judged, strata, pairs=pairs, at=at):
        (size, n_1, k_1), (_, n_2, k_2) = np.moveaxis(sets.sum(axis=3), 0, -1)
        estimates = _differences(
            sets, size / n, confidence=confidence, replicates=replicates, seed=seed, method=method
        )
        counts = np.stack([n, size, n_1, k_1, n_2, k_2], axis=1)
        rows += [
            (*key, *row, *limits)
            for row, limits in zip(counts.tolist(), estimates.tolist(), strict=True)
        ]
    schema = StratifiedComparison.columns()
    columns = {name: schema[name] for name in list(schema)[:-1]}
    table = pl.DataFrame(rows, schema=columns, orient="row").fill_nan(None)
    apart = (pl.col("lower") > 0) | (pl.col("upper") < 0)
    marked = table.with_columns(excludes_zero=(apart & relevant(margin)).fill_null(value=False))
    return marked.sort(*StratifiedComparison.key())


def stratified_counts(
    ranks: pl.DataFrame | pl.LazyFrame,
    judged: pl.DataFrame,
    strata: pl.DataFrame | pl.LazyFrame,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
) -> Iterator[tuple[tuple[str, str, str], IntArray, IntArray]]:
    """Count the candidates in the difference sets by stratum.

    Parameters
    ----------
    ranks, judged, strata, pairs, at
        As for `stratified_comparison`.

    Yields
    ------
    key : tuple of str
        Category and the two measures.
    n : array of int, shape (lists,)
        The list sizes.
    sets : array of int, shape (lists, 2, 3, strata)
        Of D1 and of D2: members, judged draws, true positives.

    Raises
    ------
    ValueError
        If a measure does not rank just the candidates that have a stratum.
    """
    names = sorted({*chain(*pairs)})
    own = ranks.lazy().filter(pl.col("measure").is_in(names)).select("measure", "rank", "id")
    beside = strata.lazy().select("id", "stratum")
    labels = labels_of(beside, "stratum")
    candidates = counted(own) // max(1, len(names))
    sizes = np.array(sorted({size for size in at if 1 <= size <= candidates}), dtype=np.int64)
    draws, ranked = judged.with_columns(multiplicity=1), _Ranked(names)
    total: dict[tuple[str, str, str], IntArray] = {}
    for some, theirs in divided(own, beside, number=parts_needed(own, beside), by="id"):
        base, vectors = ranked.of(some, theirs)
        if ranked.differ():
            continue
        places = base.select(places_in(labels, "stratum")).to_series().to_numpy()
        drawn, size = samples(base["id"], draws), len(labels)
        for key, sets in set_counts(vectors, places, drawn, pairs=pairs, n=sizes, size=size):
            total[key] = sets + total.get(key, 0)
    ranked.require_all()
    yield from ((key, sizes, sets) for key, sets in total.items())


class _Ranked:
    """Ranks of some candidates after the other; counts whom each measure ranks."""

    def __init__(self, measures: Sequence[str]) -> None:
        self._own = dict.fromkeys(measures, 0)
        self._placed = dict.fromkeys(measures, 0)
        self._candidates = 0

    def of(
        self, ranks: pl.DataFrame, strata: pl.DataFrame
    ) -> tuple[pl.DataFrame, dict[str, IntArray]]:
        """Return the ranked candidates with their strata, by id, and their ranks."""
        base = strata.join(ranks, on="id", how="semi").sort("id")
        self._candidates += base.height
        vectors = {}
        for name in self._own:
            own = ranks.filter(pl.col("measure") == name).select("id", "rank")
            joined = base.join(own, on="id", how="inner", maintain_order="left")
            self._own[name] += own.height
            self._placed[name] += joined.height
            vectors[name] = joined["rank"].to_numpy()
        return base, vectors

    def differ(self) -> bool:
        """Say whether a measure does not rank just the candidates that have a stratum."""
        return any(
            not self._own[name] == self._placed[name] == self._candidates for name in self._own
        )

    def require_all(self) -> None:
        """Refuse such a measure."""
        for name, own in self._own.items():
            placed = self._placed[name]
            if not own == placed == self._candidates:
                what = f"{name} ranks {own:,} candidates, of which {placed:,}"
                raise ValueError(f"{what} are among the {self._candidates:,} with a stratum")
