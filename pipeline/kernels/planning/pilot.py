"""What judgements that exist already say of the sets: precisions, and what predictions explain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.design.sets import Sets, set_sums
from pipeline.kernels.estimates.lists import list_estimates
from pipeline.kernels.estimates.pairs import pair_estimates
from pipeline.kernels.estimates.study import Study
from pipeline.kernels.estimates.tuning import ENOUGH, divided

PRIOR = 1.0
"""Draws that the precision of all candidates counts as, in each set."""
SHARED = 100.0
"""Draws that what predictions explain in all sets counts as, in each set."""


def set_precisions(
    given: Study, sets: Sets, *, measures: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> FloatArray:
    """Return the precision of each set by a pilot, drawn a little towards that of all candidates.

    ``(n p^ + p0) / (n + 1)``, p^ the estimate of `list_estimates` and `pair_estimates`, n the
    judged draws of the set, p0 the precision of all candidates: so that no set with a few draws,
    all alike, is taken for known. p0 itself is drawn towards one half.

    Parameters
    ----------
    given : Study
        The pilot.
    sets : Sets
        The sets, from the same measures and pairs in the same order.
    measures : sequence of str
        Measures of the lists.
    pairs : sequence of (str, str)
        The measures that are compared.

    Returns
    -------
    array of float, shape (sets,)
        Inside (0, 1); that of all candidates where a set has no judged draw.

    Examples
    --------
    >>> from pipeline.kernels.design.sets import question_sets
    >>> from pipeline.kernels.estimates.study import study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> drawn = pl.DataFrame({"id": ["a", "c", "d"], "tp": [True, False, True], "pi": 0.75})
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([2])
    ... )
    >>> set_precisions(study(ranks, drawn), sets, measures=["mi"], pairs=[]).round(3).tolist()
    [0.812, 0.625]
    """
    at = [int(n) for n in sets.n]
    whole = list_estimates(given, at=[len(sets.ids)]).head(1).rename({"estimate": "p"})
    base = _drawn(*_columns(whole.select("p", n="n_sampled")), 0.5)
    lists = list_estimates(given, at=at)
    own = pl.DataFrame({"measure": list(measures)}).join(
        lists.select("measure", p="estimate", n="n_sampled"),
        on="measure", how="left", maintain_order="left_right",
    )  # fmt: skip
    parts = [own.select("p", "n"), *_sides(given, pairs, at)]
    found = _drawn(*_columns(pl.concat(parts)), float(base[0]))
    return np.append(found, base)


def _sides(given: Study, pairs: Sequence[tuple[str, str]], at: Sequence[int]) -> list[pl.DataFrame]:
    """Return estimates and draws of the two sides of each pair, in the order of the sets."""
    compared = pair_estimates(given, pairs=pairs, at=at)
    sides = []
    for one, two in pairs:
        rows = compared.filter(measure_1=one, measure_2=two).sort("n")
        sides += [rows.select(p=f"estimate_{side}", n=f"n_sampled_{side}") for side in (1, 2)]
    return sides


def _columns(table: pl.DataFrame) -> tuple[FloatArray, FloatArray]:
    p = table["p"].fill_null(np.nan).to_numpy()
    return p, np.where(np.isnan(p), 0.0, table["n"].to_numpy())


def _drawn(p: FloatArray, n: FloatArray, towards: float) -> FloatArray:
    """Draw estimates towards a value; NaN becomes it."""
    return np.asarray((np.nan_to_num(p) * n + PRIOR * towards) / (n + PRIOR))


def explained(sets: Sets, y: FloatArray, prediction: FloatArray, weight: FloatArray) -> FloatArray:
    """Return what share of the variance within each set predictions explain.

    The squared correlation of judgement and prediction, each candidate weighted by how many it
    stands for, less what chance gives, ``1 - (1 - r^2) (n - 1) / (n - 2)``; 0 where it is negative.
    In each set it is drawn towards the mean over all, as if that were another 100 draws; sets
    with fewer than 30 judged draws have the mean.

    Parameters
    ----------
    sets : Sets
        The sets.
    y, prediction : array of float, shape (candidates,)
        Judgements in [0, 1], and what was predicted of them out of fold; not looked at where the
        weight is 0.
    weight : array of float, shape (candidates,)
        1 / pi of what is judged, else 0.

    Returns
    -------
    array of float, shape (sets,)
        In [0, 1]; 0 everywhere where no set has 30 judged draws.

    References
    ----------
    Ezekiel, Methods of Correlation Analysis (1930), on the adjusted squared correlation.

    Examples
    --------
    >>> from pipeline.kernels.design.sets import question_sets
    >>> ids, ranks = pl.Series([f"{i:03}" for i in range(200)]), {"mi": np.arange(1, 201)}
    >>> sets = question_sets(ids, ranks, pairs=[], n=np.array([100]))
    >>> y = np.tile([1.0, 0.0], 100)
    >>> explained(sets, y, 0.2 + y / 2, np.ones(200)).round(6).tolist()
    [1.0, 1.0]
    """
    judged = weight > 0
    y, g = np.where(judged, y, 0.0), np.where(judged, prediction, 0.0)
    kinds = [judged.astype(float), weight, *(weight * e for e in (y, g, y * y, y * g, g * g))]
    n, w, *moments = set_sums(sets, kinds)
    y_, g_, yy, yg, gg = (divided(each, w) for each in moments)
    spread = np.maximum(yy - y_**2, 0.0) * np.maximum(gg - g_**2, 0.0)
    r = divided(yg - y_ * g_, np.sqrt(np.where(spread > 1e-18, spread, 0.0)))
    many = n >= ENOUGH
    kept = np.where(many, 1.0 - (1.0 - np.maximum(r, 0.0) ** 2) * divided(n - 1.0, n - 2.0), 0.0)
    kept = np.clip(kept, 0.0, 1.0)
    own = np.where(many, n, 0.0)
    shared = float(divided(np.array((own * kept).sum()), np.array(own.sum())))
    return np.asarray((own * kept + SHARED * shared) / (own + SHARED))
