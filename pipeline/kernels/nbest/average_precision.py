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
    ranks: pl.DataFrame | pl.LazyFrame, judged: pl.DataFrame, *, confidence: float
) -> pl.DataFrame:
    """Estimate the average precision of each ranking in each category, with limits.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure, of whom the judged are held.
    judged : pl.DataFrame
        What `judged_chances` gives; those whom nobody judged may be left out.
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


def _rows(
    ranks: pl.DataFrame | pl.LazyFrame, judged: pl.DataFrame, confidence: float
) -> Iterator[dict[str, Any]]:
    listed = ranks.lazy().group_by("measure").agg(pl.len()).collect(engine="streaming")
    known = judged.drop_nulls("tp")
    some = ranks.lazy().filter(pl.col("id").is_in(known["id"].unique().implode()))
    placed = some.select("measure", "rank", "id").collect(engine="streaming")
    ordered = placed.sort("measure", "rank")
    for (category,) in judged.select("category").unique().iter_rows():
        mine = known.filter(pl.col("category") == category)
        labels = ordered.join(mine, on="id", maintain_order="left")
        facts = {
            "category": category, "n_sampled": mine.height, "confidence": confidence,
            "k_sampled": int(mine["tp"].sum()), "unequal": _unequal(mine["pi"]),
        }  # fmt: skip
        for measure, candidates in listed.iter_rows():
            own = labels.filter(pl.col("measure") == measure)
            estimated = _estimated(own, candidates, confidence)
            yield facts | {"measure": measure, "n_candidates": candidates} | estimated


def _unequal(pi: pl.Series) -> bool:
    """Say whether the judged candidates had different chances.

    Examples
    --------
    >>> _unequal(pl.Series([0.2, 0.2])), _unequal(pl.Series([0.2, 1.0]))
    (False, True)
    """
    return bool(pi.n_unique() > 1)


def _estimated(labels: pl.DataFrame, candidates: int, confidence: float) -> dict[str, Any]:
    found = average_precision_limits(
        labels["tp"].cast(pl.Float64).to_numpy(), pi=labels["pi"].to_numpy(),
        confidence=confidence, ranks=labels["rank"].to_numpy(), candidates=candidates,
    )  # fmt: skip
    return {
        "average_precision": None if np.isnan(found.estimate) else found.estimate,
        "lower": found.lower,
        "upper": found.upper,
    }
