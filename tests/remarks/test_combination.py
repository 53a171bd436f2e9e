"""Checks of combinations: few labels, a better single measure, unknown words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from schemas import CombinationFit
from tests.remarks.run_check import run_check


def fit(
    own: float | None, single: float | None, *, positives: int = 45, gain: float | None = 0.1
) -> Mapping[str, pl.DataFrame]:
    rows: list[dict[str, Any]] = [
        {
            "measure": measure,
            "word": word,
            "average_precision": value,
            "gain": None if measure else gain,
        }
        for measure, word, value in (("mi", "", single), ("", "", own), ("", "{l1}", 0.01))
    ]
    facts = {"category": "TP", "n_judged": 100, "positives": positives, "ranking": "x"}
    return {"fit": pl.DataFrame([facts | row for row in rows], schema=CombinationFit.columns())}


def test_few_true_positives_have_a_warning() -> None:
    (remark,) = run_check("few_positives", outputs=fit(0.5, 0.4, positives=19))
    assert remark.level == "warning"
    assert "learns from 19 true positives among 100 labels, fewer than 20" in remark.text
    assert not run_check("few_positives", outputs=fit(0.5, 0.4, positives=20))
    assert not run_check("few_positives", outputs={"fit": fit(0.5, 0.4)["fit"].clear()})


@pytest.mark.parametrize("own", [0.5, 0.4, None])
def test_a_combination_that_is_not_worse_has_no_remark(own: float | None) -> None:
    assert not run_check("single_is_better", outputs=fit(own, 0.4))


def test_a_better_single_measure_is_reported() -> None:
    (remark,) = run_check("single_is_better", outputs=fit(0.3, 0.4))
    assert remark.level == "note"
    assert "(MI in most folds)" in remark.text
    assert "40.0% and 30.0%" in remark.text
    assert remark.remedy == "use the single measure: MI"
    assert not run_check("single_is_better", outputs=fit(0.3, None))


@pytest.mark.parametrize("gain", [0.0, -0.00123])
def test_a_combination_that_learned_nothing_has_a_warning(gain: float) -> None:
    (remark,) = run_check("nothing_learned", outputs=fit(0.5, 0.4, gain=gain))
    assert remark.level == "warning"
    assert f"({gain:+.4f} nats per label)" in remark.text
    assert "nothing from 100 labels" in remark.text


@pytest.mark.parametrize("gain", [0.00001, None])
def test_a_combination_that_learned_something_has_no_remark(gain: float | None) -> None:
    assert not run_check("nothing_learned", outputs=fit(0.5, 0.4, gain=gain))


UNITS = pl.DataFrame({"id": ["a", "b", "c"], "l1": ["in", "auf", "zu"], "l2": ["x", "y", "z"]})
WORDS = pl.DataFrame({"kind": ["measure", "word"], "feature": ["mi", "{l1}"]})


def remarks_on_scores(known: list[int], model: pl.DataFrame = WORDS) -> Any:
    scores = pl.DataFrame({"id": ["a", "b", "c"][: len(known)], "known_words": known})
    inputs = {"coefficients": model, "candidates": UNITS}
    return run_check("few_known_words", inputs=inputs, outputs={"scores": scores})


def test_few_known_words_are_reported() -> None:
    (remark,) = remarks_on_scores([0, 2, 0])
    assert "no word of 2 of 3 candidates (67%)" in remark.text
    assert remark.such_as == ("in x", "zu z")
    assert not remarks_on_scores([0, 1, 2])
    assert not remarks_on_scores([])
    assert not remarks_on_scores([0, 0, 0], WORDS.filter(kind="measure"))  # learned without words
