"""The further tables of evaluate.precision: local precision, recall, cut lists, thresholds."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from tests.stages.run_stage import run_stage

IDS = [f"x{i}" for i in range(8)]
SCORES = pl.DataFrame({"id": IDS, "a": [8.0, 7, 6, 5, 4, 3, 2, 1], "b": [1.0, 2, 3, 4, 5, 6, 7, 8]})
VERDICTS = pl.DataFrame({"category": "TP", "id": IDS, "tp": [True] * 3 + [False] * 5})
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]


def evaluate(**config: object) -> dict[str, pl.DataFrame]:
    return run_stage("evaluate.precision", dict(config), ranks=RANKS, judgements=VERDICTS)


def test_no_rows_unless_asked_for() -> None:
    made = evaluate()
    further = ("local", "recall", "cut", "thresholds", "bands")
    assert [made[name].height for name in further] == [0] * len(further)


def test_local_precision() -> None:
    local = evaluate(window=2)["local"].filter(measure="a")
    assert local["precision"].to_list() == [1, 1, 0.5, 0, 0, 0, 0]
    assert local.select("n", "first_rank", "last_rank", "size").row(0) == (2, 1, 2, 2)


def test_recall_with_intervals() -> None:
    recall = evaluate(recall=True)["recall"].filter(measure="b")
    assert recall["recall"].to_list() == [0] * 5 + [1 / 3, 2 / 3, 1]
    limits = clopper_pearson(1, 3)
    row = recall.filter(n=6).select("positives", "lower", "upper").row(0)
    assert row == (3, pytest.approx(float(limits[0])), pytest.approx(float(limits[1])))


def test_recall_beside_finite_intervals_is_clopper_and_pearsons() -> None:
    plain, finite = (
        evaluate(recall=True, interval=name)["recall"]
        for name in ("clopper_pearson", "hypergeometric")
    )
    assert plain.equals(finite)


def test_the_cut_best_list_as_the_whole() -> None:
    cut = evaluate(cut=4)["cut"]
    last = cut.filter(n=4).select("measure", "precision", "recall", "baseline", "positives").rows()
    assert last == [("a", 0.75, 1.0, 0.75, 3), ("b", 0.0, None, 0.0, 0)]
    assert cut.height == 8


def test_thresholds() -> None:
    made = evaluate(thresholds=[0.2, 0.001])
    lower = made["precision"].filter(measure="a")["lower"].to_list()
    falls = max(n for n, limit in enumerate(lower, start=1) if limit >= 0.2) + 1
    rows = made["thresholds"].select("measure", "threshold", "n").rows()
    assert rows == [("a", 0.001, None), ("a", 0.2, falls), ("b", 0.001, None), ("b", 0.2, 1)]


def test_bands_over_the_declared_range() -> None:
    made = evaluate(band="simultaneous", cuts=[3, 6, 100], replicates=200)
    band = made["bands"].filter(measure="a")
    assert band["n"].to_list() == [3, 4, 5, 6, 7, 8]
    inside = made["precision"].filter(measure="a").join(band, on=["measure", "n"])
    assert (inside["lower_band"] <= inside["lower"]).all()
    chosen = evaluate(band="simultaneous", band_range=[2, 4], replicates=200)["bands"]
    assert sorted(set(chosen["n"])) == [2, 3, 4]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"band_range": [1, 5]}, "goes with"),
        ({"band": "simultaneous", "band_range": [5, 4]}, "first and last n"),
        ({"band": "simultaneous", "cuts": []}, "needs band_range"),
    ],
)
def test_a_band_that_makes_no_sense_is_refused(config: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        evaluate(**config)
