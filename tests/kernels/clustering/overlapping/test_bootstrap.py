"""Bootstrap limits of measures for overlapping clusters, over items."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.clustering.overlapping.measures import (
    overlapping_intervals,
    overlapping_scores,
)
from schemas import OverlappingScores
from schemas.validate import validate


def items(n: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    bits = np.random.default_rng(1)
    names = [f"i{k:03}" for k in range(n)]
    classes, clusters = bits.integers(3, size=n), bits.integers(3, size=n)
    gold = pl.DataFrame({"item": names, "gold": [f"c{c}" for c in classes]})
    return gold, pl.DataFrame({"item": names, "cluster": [f"k{k}" for k in clusters]})


def intervals(
    gold: pl.DataFrame, induced: pl.DataFrame, *measures: str, replicates: int = 60
) -> pl.DataFrame:
    return overlapping_intervals(
        gold, induced, measures=measures, confidence=0.9, replicates=replicates, seed="s"
    )


def test_limits_are_in_the_order_of_the_measures() -> None:
    gold, induced = items(60)
    result = intervals(gold, induced, "omega", "all", "fuzzy_nmi", replicates=5)
    whole = overlapping_scores(gold, induced, measures=result["measure"].to_list(), seed="s")
    assert result["measure"][0] == "omega"
    assert result["value"].equals(whole["value"])
    with_names = result.select(pl.lit("s").alias("system"), pl.lit("1").alias("run"), pl.all())
    assert validate([with_names], OverlappingScores, name="scores") == result.height


def test_the_seed_fixes_the_samples_in_any_order_of_rows() -> None:
    gold, induced = items(30)
    result = intervals(gold, induced, "bcubed_f")
    assert result.equals(intervals(gold.reverse(), induced.reverse(), "bcubed_f"))
    row = result.row(0, named=True)
    assert row["lower"] < row["upper"]
    assert row["standard_error"] > 0
    assert row["undefined"] == 0


@pytest.mark.long
def test_the_width_equals_that_of_a_mean_over_items() -> None:
    """Recall of items in one class is 1 for those in a cluster of their own kind, else 0."""
    n, clustered = 200, 80
    gold = pl.DataFrame({"item": [f"i{k}" for k in range(n)], "gold": ["c"] * n})
    induced = gold.head(clustered).select("item", cluster="gold")
    row = intervals(gold, induced, "element_centric", replicates=200).row(0, named=True)
    # p = .4 of the items are in the cluster, each with similarity p: the value is p^2.
    assert row["value"] == pytest.approx(0.16)
    assert row["standard_error"] == pytest.approx(2 * 0.4 * np.sqrt(0.4 * 0.6 / n), rel=0.2)


def test_items_without_a_class_have_limits() -> None:
    gold, induced = items(12)
    more = pl.concat([induced, pl.DataFrame({"item": ["x"], "cluster": ["k0"]})])
    result = intervals(gold, more, "fuzzy_bcubed_precision", replicates=20)
    assert result["undefined"].item() == 0


def test_tables_without_items_have_no_limits() -> None:
    gold, induced = (each.clear() for each in items(2))
    row = intervals(gold, induced, "omega", replicates=3).row(0)
    assert row == ("omega", None, None, None, None, 3)
    with pytest.raises(ValueError, match="confidence"):
        overlapping_intervals(
            gold, induced, measures=["omega"], confidence=1.0, replicates=3, seed=""
        )
