"""Tables of judges: confusion with people, calibration, agreement, one row or more for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.estimates.domains import Weights, weights_of
from pipeline.kernels.machine.agreement import agreement_with_people
from pipeline.kernels.machine.calibration import brier_score, calibration, calibration_error
from pipeline.kernels.machine.confusion import confusion
from pipeline.kernels.machine.correlation import explained
from schemas import Calibration, Judges, MachineConfusion, Table


class Judged(NamedTuple):
    """The judged draws that a judge has a prediction for, in one category."""

    category: str
    judge: str
    predicted: int
    """Candidates with a prediction."""
    unpredicted: int
    """Judged draws without one."""
    draws: pl.DataFrame
    """id, tp, prediction, and pi where chances are known; ordered by id."""

    @property
    def weights(self) -> Weights:
        """What the draws stand for."""
        pi = self.draws["pi"].to_numpy() if "pi" in self.draws.columns else None
        return weights_of(pi, draws=self.draws.height)

    @property
    def tp(self) -> BoolArray:
        """The judgements."""
        return self.draws["tp"].to_numpy()

    @property
    def prediction(self) -> FloatArray:
        """The predictions."""
        return self.draws["prediction"].to_numpy()


def by_judge(predictions: pl.DataFrame, draws: pl.DataFrame) -> Iterator[Judged]:
    """Put judgements beside predictions, for each category and judge.

    Parameters
    ----------
    predictions : pl.DataFrame
        Table `Predictions`.
    draws : pl.DataFrame
        category, id, tp, and pi where chances are known; a candidate that was drawn several times
        stands there as often. Where tp is null nobody judged.

    Yields
    ------
    Judged
        Sorted by category and judge; categories that nobody judged without draws.

    Examples
    --------
    >>> given = pl.DataFrame(
    ...     {"category": "TP", "judge": "m", "id": ["a", "b"], "prediction": [0.9, 0.2]}
    ... )
    >>> draws = pl.DataFrame({"category": "TP", "id": ["a", "c"], "tp": [True, False]})
    >>> [(each.predicted, each.unpredicted, each.draws.height) for each in by_judge(given, draws)]
    [(2, 1, 1)]
    """
    judged = draws.drop_nulls("tp")
    parts = predictions.partition_by("category", "judge", as_dict=True)
    for category, judge in sorted(parts):
        mine = judged.filter(category=category).drop("category")
        said = parts[category, judge].select("id", "prediction")
        both = mine.join(said, on="id", how="inner").sort("id")
        yield Judged(category, judge, said.height, mine.height - both.height, both)


def judge_tables(
    predictions: pl.DataFrame,
    draws: pl.DataFrame,
    *,
    threshold: float = 0.5,
    bins: int = 10,
    confidence: float = 0.95,
) -> dict[str, pl.DataFrame]:
    """Return how near the judges come to people.

    Parameters
    ----------
    predictions, draws
        As for `by_judge`.
    threshold : float
        From which prediction on a label is positive.
    bins : int
        Bins of the calibration, from 1.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    dict of str to pl.DataFrame
        Tables `MachineConfusion`, `Calibration` and `Judges`, by the names confusion, calibration
        and judges.

    Raises
    ------
    ValueError
        If there is no bin, or the confidence is not inside (0, 1).

    Examples
    --------
    >>> given = pl.DataFrame(
    ...     {"category": "TP", "judge": "m", "id": ["a", "b"], "prediction": [0.9, 0.2]}
    ... )
    >>> draws = pl.DataFrame({"category": "TP", "id": ["a", "b"], "tp": [True, False]})
    >>> judge_tables(given, draws)["judges"].select("n_judged", "kappa", "brier").rows()
    [(2, 1.0, 0.025)]
    """
    rows: dict[str, list[dict[str, Any]]] = {"confusion": [], "calibration": [], "judges": []}
    for each in by_judge(predictions, draws):
        key = {"category": each.category, "judge": each.judge}
        given = (each.tp, each.prediction, each.weights)
        cells = confusion(*given, threshold=threshold, confidence=confidence)
        binned = calibration(*given, bins=bins, confidence=confidence)
        rows["confusion"].append(key | cells)
        rows["calibration"] += [key | row for row in binned.iter_rows(named=True)]
        rows["judges"].append(key | _nearness(each, binned, threshold, confidence))
    models: dict[str, type[Table]] = {
        "confusion": MachineConfusion, "calibration": Calibration, "judges": Judges,
    }  # fmt: skip
    return {name: typed(rows[name], model) for name, model in models.items()}


def _nearness(
    each: Judged, binned: pl.DataFrame, threshold: float, confidence: float
) -> dict[str, Any]:
    """Return the further columns of `Judges`."""
    label, weights = each.prediction >= threshold, each.weights
    everybody = np.ones((1, 1, len(label)), dtype=np.bool_)
    found: dict[str, Any] = {
        "n_predicted": each.predicted,
        "n_judged": len(label),
        "n_unpredicted": each.unpredicted,
        "calibration_error": calibration_error(binned),
        "brier": brier_score(each.tp, each.prediction, weights),
    }
    both = agreement_with_people(each.tp, label, weights, confidence=confidence)
    y = each.tp.astype(np.float64)
    rho2 = explained(y, each.prediction, everybody, weights, confidence=confidence)
    for name, values in {**both, "rho2": [float(part[0]) for part in rho2]}.items():
        found |= dict(zip((name, f"{name}_lower", f"{name}_upper"), values, strict=True))
    return found


def typed(rows: list[dict[str, Any]], model: type[Table]) -> pl.DataFrame:
    """Return rows as a table of this schema, with null for NaN, in the order of its key.

    Examples
    --------
    >>> typed([], Judges).height
    0
    """
    table = pl.DataFrame(rows, schema=model.columns(), orient="row")
    return table.fill_nan(None).sort(*model.key())
