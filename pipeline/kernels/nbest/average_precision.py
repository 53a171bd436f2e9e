"""Average precision of every ranking, from what was judged of a sample of any design."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from pipeline.kernels.nbest.inferred_average_precision import average_precision_limits
from schemas import AveragePrecision


def judged_chances(judged: pl.DataFrame, *, candidates: int) -> pl.DataFrame:
    """Return with what chance each candidate was drawn and judged.

    Draws that nobody judged are taken to be like the others: where the sample has chances `pi`,
    those below 1 shrink by the share of such draws that are judged; where it has none, all have
    the share of the candidates that is judged, whether they were drawn once or several times.

    Parameters
    ----------
    judged : pl.DataFrame
        category, id, tp (null = not judged) of the sampled candidates; pi, where chances differ.
    candidates : int
        Candidates in the data set.

    Returns
    -------
    pl.DataFrame
        category, id, tp, and pi: in (0, 1], null where the candidate is not judged.

    Examples
    --------
    >>> draws = pl.DataFrame({"category": "TP", "id": ["a", "b", "c"], "tp": [True, None, False]})
    >>> judged_chances(draws, candidates=8)["pi"].to_list()
    [0.25, None, 0.25]
    >>> designed = draws.with_columns(pi=pl.Series([0.4, 0.2, 1.0]))
    >>> judged_chances(designed, candidates=8)["pi"].to_list()
    [0.2, None, 1.0]
    """
    known = pl.col("tp").is_not_null()
    if "pi" in judged.columns:
        below = pl.col("pi") < 1.0
        share = (known & below).sum() / below.sum()
        pi = pl.when(below).then(pl.col("pi") * share.over("category")).otherwise(1.0)
    else:
        pi = known.sum().over("category") / max(candidates, 1)
    return judged.select("category", "id", "tp", pi=pl.when(known).then(pi))


def average_precisions(
    ranks: pl.DataFrame, judged: pl.DataFrame, *, confidence: float
) -> pl.DataFrame:
    """Estimate the average precision of each ranking in each category, with limits.

    Parameters
    ----------
    ranks : pl.DataFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.DataFrame
        What `judged_chances` gives.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        Table `AveragePrecision`, sorted. The estimate is null where no judged candidate is a true
        positive, with limits [0, 1]; see `average_precision_limits`.

    Raises
    ------
    ValueError
        As `average_precision_limits`.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "rank": [1, 2, 3], "id": ["a", "b", "c"]})
    >>> judged = pl.DataFrame({"category": "TP", "id": ["a", "b", "c"], "tp": [True, False, True],
    ...     "pi": 1.0})
    >>> average_precisions(ranks, judged, confidence=0.95).select(
    ...     pl.col("average_precision", "lower", "upper").round(4)
    ... ).row(0)
    (0.8333, 0.8333, 0.8333)
    """
    schema = AveragePrecision.columns()
    rows = list(_rows(ranks, judged, confidence))
    return pl.DataFrame(rows, schema=schema, orient="row").sort(*AveragePrecision.key())


def _rows(ranks: pl.DataFrame, judged: pl.DataFrame, confidence: float) -> Iterator[dict[str, Any]]:
    ordered = ranks.select("measure", "rank", "id").sort("measure", "rank")
    for (category,), mine in judged.group_by("category"):
        labels = mine.select("id", "pi", tp=pl.col("tp").cast(pl.Float64))
        whole = ordered.join(labels, on="id", how="left", maintain_order="left")
        facts = {
            "category": category, "n_sampled": mine["tp"].count(), "confidence": confidence,
            "k_sampled": int(mine["tp"].sum()), "unequal": _unequal(mine["pi"].drop_nulls()),
        }  # fmt: skip
        for (measure,), listed in whole.group_by("measure", maintain_order=True):
            yield facts | {"measure": measure} | _estimated(listed, confidence)


def _unequal(pi: pl.Series) -> bool:
    """Say whether the judged candidates had different chances.

    Examples
    --------
    >>> _unequal(pl.Series([0.2, 0.2])), _unequal(pl.Series([0.2, 1.0]))
    (False, True)
    """
    return bool(pi.n_unique() > 1)


def _estimated(listed: pl.DataFrame, confidence: float) -> dict[str, Any]:
    tp, pi = (listed[name].fill_null(float("nan")).to_numpy() for name in ("tp", "pi"))
    found = average_precision_limits(tp, pi=pi, confidence=confidence)
    return {
        "n_candidates": listed.height,
        "average_precision": None if np.isnan(found.estimate) else found.estimate,
        "lower": found.lower,
        "upper": found.upper,
    }
