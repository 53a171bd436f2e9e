"""Small tables of a run, computed by counting, and a stage that opens them."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from pipeline.findings.base import StageView
from pipeline.kernels.nbest.comparison import verdict
from pipeline.report.explorer import Payload
from pipeline.stages.base import STAGES
from schemas import (
    BandThresholds,
    Baseline,
    BaselineComparison,
    BestMeasures,
    ClusteredDifferences,
    ClusteredPrecision,
    Comparison,
    CorrectedPrecision,
    CutBaselineComparison,
    CutComparison,
    CutLists,
    Guarantees,
    Judgements,
    LocalPrecision,
    MeasureDifferences,
    Precision,
    Ranks,
    Recall,
    SimultaneousBands,
    Thresholds,
    WorstCase,
)

EMPTY = {
    "evaluate.choice": {"guarantee": Guarantees.zero_rows().collect()},
    "evaluate.precision": {
        "local": LocalPrecision.zero_rows().collect(), "recall": Recall.zero_rows().collect(),
        "cut": CutLists.zero_rows().collect(), "thresholds": Thresholds.zero_rows().collect(),
        "bands": SimultaneousBands.zero_rows().collect(),
        "band_thresholds": BandThresholds.zero_rows().collect(),
        "worst_case": WorstCase.zero_rows().collect(),
        "corrected": CorrectedPrecision.zero_rows().collect(),
        "clustered": ClusteredPrecision.zero_rows().collect(),
    },
    "evaluate.comparison": {
        "baseline": BaselineComparison.zero_rows().collect(),
        "baseline_cuts": CutBaselineComparison.zero_rows().collect(),
        "best": BestMeasures.zero_rows().collect(),
        "differences": MeasureDifferences.zero_rows().collect(),
        "clustered": ClusteredDifferences.zero_rows().collect(),
    },
}  # fmt: skip


def precision(
    curves: Mapping[str, Sequence[bool]], *, category: str = "TP", width: float = 0.1
) -> pl.DataFrame:
    """Return the n-best precision of lists; their true positives are in rank order."""
    rows = []
    for measure, hits in curves.items():
        for n, k in enumerate(itertools.accumulate(hits), 1):
            p = k / n
            limits = {"lower": max(0.0, p - width), "upper": min(1.0, p + width)}
            rows.append({
                "category": category, "measure": measure, "n": n, "precision": p, **limits,
                "recall": k / max(sum(hits), 1), "n_sampled": n, "k_sampled": k,
                "tp_min": k, "tp_max": k,
            })  # fmt: skip
    return pl.DataFrame(rows, schema=Precision.columns()).sort("category", "measure", "n")


def recall(
    curves: Mapping[str, Sequence[bool]], *, category: str = "TP", width: float = 0.1
) -> pl.DataFrame:
    """Return the recall, with limits, of lists; their true positives are in rank order."""
    result = precision(curves, category=category)
    limits = {
        "lower": (pl.col("recall") - width).clip(0, 1),
        "upper": (pl.col("recall") + width).clip(0, 1),
    }
    whole = pl.col("k_sampled").max().over("measure").alias("positives")
    return result.with_columns(whole, **limits).select(*Recall.columns())


def local(precise: pl.DataFrame, *, size: int) -> pl.DataFrame:
    """Return a precision table whose lists are windows of a size."""
    ranks = {"first_rank": pl.col("n"), "last_rank": pl.col("n") + size - 1}
    return precise.with_columns(**ranks, size=size).select(*LocalPrecision.columns())


def baseline(k: int, n: int, *, category: str = "TP", **changed: Any) -> pl.DataFrame:
    """Return the baseline of k true positives among n judged candidates."""
    p = k / n if n else None
    row = {
        "category": category, "precision": p, "lower": max(0.0, (p or 0.0) - 0.05),
        "upper": min(1.0, (p or 1.0) + 0.05), "n_sampled": n, "k_sampled": k, "n_candidates": n,
        "n_drawn": n, "n_unjudged": 0, "n_undecided": 0, "confidence": 0.95, "interval": "clopper_pearson",
        "sampled": False,
    }  # fmt: skip
    return pl.DataFrame([row | changed], schema=Baseline.columns())


def comparison(
    differences: Mapping[tuple[str, str], Mapping[int, float]],
    *,
    significant: Sequence[int] = (),
    category: str = "TP",
) -> pl.DataFrame:
    """Return tests of pairs with these differences at these n."""
    rows = [
        {
            "category": category, "measure_1": one, "measure_2": two, "n": n, "size": n,
            "n_1": n, "k_1": 0, "n_2": n, "k_2": 0, "difference": gap,
            "p_value": 0.01 if n in significant else 0.5, "significant": n in significant,
        }
        for (one, two), gaps in differences.items() for n, gap in gaps.items()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=Comparison.columns())


def cuts(tested: pl.DataFrame, at: Sequence[int]) -> pl.DataFrame:
    """Return the tests at these n, their p-values adjusted by doubling."""
    rows = tested.filter(pl.col("n").is_in(at))
    adjusted = (2 * pl.col("p_value")).clip(0, 1).alias("p_adjusted")
    known = rows.with_columns(adjusted, correction=pl.lit("holm"))
    table = known.with_columns(verdict("p_adjusted", 0.05, 0.0))
    return table.select(*CutComparison.columns())


def differences(
    ends: Mapping[tuple[str, str], tuple[float, float, float]],
    at: Sequence[int],
    *,
    populations: Sequence[str] = ("finite", "super"),
) -> pl.DataFrame:
    """Return differences with their limits (lower, difference, upper), the same at each n."""
    rows = [
        {"category": "TP", "measure_1": one, "measure_2": two, "n": n, "size": n, "n_1": n, "k_1": 0,
         "n_2": n, "k_2": 0, "population": each, "difference": gap, "lower": lower, "upper": upper,
         "confidence": 0.95, "interval": "clopper_pearson", "p_value": 0.01, "p_adjusted": 0.02,
         "p_margin": 0.03, "p_margin_adjusted": 0.06, "equivalent": False, "verdict": "better",
         "lower_family": lower, "upper_family": upper}
        for (one, two), (lower, gap, upper) in ends.items() for n in at for each in populations
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=MeasureDifferences.columns())


def best(names_by_size: Mapping[int, Sequence[str]], *, category: str = "TP") -> pl.DataFrame:
    """Return the best measures at each n: the first of a list is the best."""
    rows = [
        (category, n, measure, index == 0, names[0], 0.3, -0.02 if index else 0.0,
         0.5 if index else None)
        for n, names in names_by_size.items() for index, measure in enumerate(names)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=BestMeasures.columns(), orient="row")


def against_baseline(
    counts_by_measure: Mapping[str, Mapping[int, tuple[int, int, float]]], *, category: str = "TP"
) -> pl.DataFrame:
    """Return tests against a baseline of 10 in 100: measure to n to k_1, n_1 and adjusted p."""
    rows = [
        (category, measure, n, n_1, k_1, 100, 10, k_1 / n_1 - 0.1 if n_1 else None, p / 2, p < 0.05,
         p, "holm")
        for measure, cuts_of in counts_by_measure.items() for n, (k_1, n_1, p) in cuts_of.items()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=CutBaselineComparison.columns(), orient="row")


def ranks(scores: Mapping[str, Sequence[float | None]]) -> pl.DataFrame:
    """Return the ranks of candidates c1, c2 ... whose scores are in rank order."""
    rows = []
    for measure, values in scores.items():
        for rank, score in enumerate(values, 1):
            tie = list(values).index(score) + 1
            rows.append((measure, rank, f"c{rank}", score, tie, rank))
    return pl.DataFrame(rows, schema=Ranks.columns(), orient="row")


def judgements(positive: Mapping[str, bool | None], *, category: str = "TP") -> pl.DataFrame:
    """Return judgements of candidates."""
    rows = [(category, name, tp) for name, tp in positive.items()]
    return pl.DataFrame(rows, schema=Judgements.columns(), orient="row")


def stage(
    use: str, tables: Mapping[str, pl.DataFrame], *, name: str = "shown", **config: Any
) -> StageView:
    """Return a stage that opens these tables; its other tables have no rows.

    Other options are the defaults of the stage.
    """
    there = {**EMPTY.get(use, {}), **tables}
    return StageView(name, use, defaults(use) | config, lambda table: there[table].lazy())


def defaults(use: str) -> dict[str, Any]:
    """Return the options of a kind of stage that have a default."""
    fields = STAGES.get(use).config.model_fields if use in STAGES else {}
    return {
        name: field.get_default(call_default_factory=True)
        for name, field in fields.items()
        if not field.is_required()
    }


SPECIAL = {0: None, 1: math.inf, 2: -math.inf}


class Reader:
    """Reads columns stored one after the other."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def take(self, length: int) -> bytes:
        self.at += length
        assert self.at <= len(self.content)
        return self.content[self.at - length : self.at]

    def planes(self, width: int, rows: int) -> list[int]:
        result = np.zeros(rows, np.int64)
        for place in range(width):
            result += np.frombuffer(self.take(rows), np.uint8).astype(np.int64) * 256**place
        return result.tolist()

    def column(self, code: dict[str, Any], rows: int) -> list[Any]:
        if code["as"] == "list":
            return json.loads(self.take(code["bytes"]))
        if code["as"] == "text":
            texts = [None, *json.loads(self.take(code["bytes"]))]
            return [texts[place] for place in self.planes(code["width"], rows)]
        if code["as"] == "whole":
            scale = code.get("scale")
            results = [
                number - 1 if number else None for number in self.planes(code["width"], rows)
            ]
            return [n / scale if n is not None and scale else n for n in results]
        assert code["as"] == "decimal"
        mantissas, powers = (
            [n - 65536 if n > 32767 else n for n in self.planes(2, rows)] for _ in range(2)
        )
        return [
            SPECIAL[m] if power == -(2**15) else float(f"{m}e{power}")
            for m, power in zip(mantissas, powers, strict=True)
        ]


def table_on_page(payload: Payload) -> dict[str, list[Any]]:
    """Return the columns of the table; all bytes are read."""
    reader = Reader(payload.rows)
    columns = {
        head["name"]: reader.column(head["code"], payload.height)
        for head in payload.head["columns"]
    }
    assert reader.at == len(payload.rows)
    return columns


def details_on_page(payload: Payload) -> dict[str, list[list[tuple[Any, ...]]]]:
    """Return, for each kind of details, the rows that belong to each row of the table."""
    reader = Reader(payload.details)
    kinds = {}
    for head in payload.head["details"]:
        counts = reader.column(head["counts"], payload.height)
        columns = [reader.column(each["code"], head["rows"]) for each in head["columns"]]
        rows = list(zip(*columns, strict=True))
        ends = np.cumsum([0, *counts])
        kinds[head["name"]] = [rows[ends[i] : ends[i + 1]] for i in range(payload.height)]
    assert reader.at == len(payload.details)
    return kinds
