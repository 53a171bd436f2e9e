"""Tables of what predictions save: for the precision of n-best lists, and for differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.estimates.predictions import folds_of
from pipeline.kernels.estimates.study import rank_matrix
from pipeline.kernels.machine.correlation import explained
from pipeline.kernels.machine.judges import Judged, by_judge, typed
from pipeline.kernels.machine.savings import saved
from schemas import PairSavings, Savings

_FOLDS = 10


@dataclass(frozen=True)
class Ranked:
    """Candidates with their ranks under each measure."""

    ids: pl.Series
    measures: list[str]
    ranks: IntArray
    """Shape (measures, candidates)."""

    def of(self, draws: pl.DataFrame) -> tuple[pl.DataFrame, IntArray]:
        """Return the draws that are ranked, and their ranks, shape (measures, draws)."""
        places = pl.DataFrame({"id": self.ids, "place": np.arange(len(self.ids))})
        held = draws.join(places, on="id", how="inner", maintain_order="left")
        return held.drop("place"), self.ranks[:, held["place"].to_numpy()]


class Sets(NamedTuple):
    """What is asked about: lists, or the difference sets of pairs."""

    keys: list[dict[str, Any]]
    """What tells their rows apart."""
    members: BoolArray
    """Shape (sets, parts, draws)."""
    share: FloatArray | None = None
    """The part of each that was not certain, shape (sets, parts); all if None."""


def saving_tables(
    predictions: pl.DataFrame,
    draws: pl.DataFrame,
    ranks: pl.DataFrame,
    *,
    at: Sequence[int],
    pairs: Sequence[tuple[str, str]] = (),
    confidence: float = 0.95,
    seed: str = "",
) -> dict[str, pl.DataFrame]:
    """Return what each judge saves for the lists of all measures, and for pairs of them.

    Parameters
    ----------
    predictions, draws
        As for `judges.by_judge`.
    ranks : pl.DataFrame
        Table `Ranks`: all candidates under each measure.
    at : sequence of int
        List sizes.
    pairs : sequence of (str, str)
        The measures to compare.
    confidence : float
        Confidence level in (0, 1).
    seed : str
        Fixes the folds in which the weight of the predictions is found.

    Returns
    -------
    dict of str to pl.DataFrame
        Tables `Savings` and `PairSavings`, by the names savings and pair_savings.

    Raises
    ------
    ValueError
        If a measure doesn't rank all candidates, or the confidence is not inside (0, 1).

    Examples
    --------
    >>> ids = [f"x{i}" for i in range(40)]
    >>> given = pl.DataFrame(
    ...     {"category": "TP", "judge": "m", "id": ids, "prediction": [1.0, 0.0] * 20}
    ... )
    >>> draws = given.select("category", "id", tp=pl.col("prediction") == 1)
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ids, "rank": range(1, 41)})
    >>> found = saving_tables(given, draws, ranks, at=[20, 40])["savings"]
    >>> found.select("n", "n_judged", "labels_saved").rows()
    [(20, 20, None), (40, 40, 1.0)]
    """
    ids, measures, matrix = rank_matrix(ranks)
    ranked = Ranked(ids, measures.to_list(), matrix)
    lists: list[dict[str, Any]] = []
    compared: list[dict[str, Any]] = []
    for each in by_judge(predictions, draws):
        held, mine = ranked.of(each.draws)
        one = each._replace(draws=held)
        fold = folds_of(held["id"], folds=_FOLDS, seed=seed)
        for n in at:
            inside = mine <= n
            names = [{"measure": name, "n": n} for name in ranked.measures]
            lists += _rows(one, Sets(names, inside[:, None]), fold, confidence)
            if pairs:
                sets = _differences(ranked, one, inside, n, pairs)
                compared += _rows(one, sets, fold, confidence)
    return {"savings": typed(lists, Savings), "pair_savings": typed(compared, PairSavings)}


def _differences(
    ranked: Ranked, each: Judged, inside: BoolArray, n: int, pairs: Sequence[tuple[str, str]]
) -> Sets:
    """Return the difference sets of pairs."""
    place = {name: row for row, name in enumerate(ranked.measures)}
    one, two = np.array([[place[name] for name in pair] for pair in pairs]).T
    members = np.stack([inside[one] & ~inside[two], inside[two] & ~inside[one]], axis=1)
    held = (ranked.ranks <= n).astype(np.float64)
    size = (held.sum(axis=1)[one] - (held @ held.T)[one, two])[:, None]
    certain = members @ (each.weights.c == 0).astype(np.float64)
    share = 1.0 - np.divide(certain, size, out=np.zeros_like(certain), where=size > 0)
    keys = [{"measure_1": first, "measure_2": second, "n": n} for first, second in pairs]
    return Sets(keys, members, share)


def _rows(each: Judged, sets: Sets, fold: IntArray, confidence: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of some sets."""
    y, g, weights = each.tp.astype(np.float64), each.prediction, each.weights
    rho2 = explained(y, g, sets.members, weights, confidence=confidence)
    found = saved(y, g, sets.members, weights, fold=fold, share=sets.share)
    columns = (*rho2, found.tau, found.labels, sets.members.sum(axis=(1, 2)))
    names = ("rho2", "rho2_lower", "rho2_upper", "tau", "labels_saved", "n_judged")
    for key, *values in zip(sets.keys, *columns, strict=True):
        numbers = dict(zip(names, map(float, values), strict=True))
        whole = {"n_judged": int(numbers["n_judged"])}
        yield {"category": each.category, "judge": each.judge, **key, **numbers, **whole}
