"""Average precision of rankings: published value, sklearn's, chances, degenerate input."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from pipeline.kernels.nbest.average_precision import average_precisions, judged_chances
from schemas import AveragePrecision
from schemas.validate import validate

JUDGED = [True, None, False, True, None, True, False, None, False, True]


def ranking(size: int, *measures: str) -> pl.DataFrame:
    """Return ranks of c1, c2 ...; each second measure has them the other way round."""
    ids = [f"c{place}" for place in range(1, size + 1)]
    parts = [
        pl.DataFrame(
            {"measure": name, "rank": range(1, size + 1), "id": ids[:: -1 if i % 2 else 1]}
        )
        for i, name in enumerate(measures)
    ]
    return pl.concat(parts)


def labelled(labels: list[bool | None], pi: list[float] | None = None) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "category": "TP",
            "id": [f"c{place}" for place in range(1, len(labels) + 1)],
            "tp": labels,
        },
        schema_overrides={"tp": pl.Boolean},
    )
    return frame if pi is None else frame.with_columns(pi=pl.Series(pi, dtype=pl.Float64))


def made(labels: list[bool | None], pi: list[float] | None = None) -> pl.DataFrame:
    judged = judged_chances(labelled(labels, pi), candidates=len(labels))
    found = average_precisions(ranking(len(labels), "mi", "rare"), judged, confidence=0.95)
    validate([found], AveragePrecision, name="average_precision")
    return found


def test_the_published_value() -> None:
    row = made(JUDGED).row(0, named=True)
    assert row["average_precision"] == pytest.approx(0.7243053, abs=5e-8)
    facts = [row[name] for name in ("n_candidates", "n_sampled", "k_sampled", "unequal")]
    assert facts == [10, 7, 4, False]
    assert row["lower"] < 0.7243 < row["upper"]


@given(st.lists(st.booleans(), min_size=1, max_size=20).filter(any))
def test_all_judged_is_the_average_precision(labels: list[bool]) -> None:
    places = np.arange(len(labels))
    for row, order in zip(made(list(labels)).rows(named=True), (-places, places), strict=True):
        expected = average_precision_score(labels, order)
        values = [row[name] for name in ("average_precision", "lower", "upper")]
        assert values == pytest.approx([expected] * 3)


def test_designed_chances_shrink_by_what_nobody_judged() -> None:
    chances = judged_chances(
        labelled([True, None, False, True], [0.2, 0.4, 0.6, 1.0]), candidates=9
    )
    assert chances["pi"].to_list() == pytest.approx([0.2 * 2 / 3, None, 0.4, 1.0])
    assert made(JUDGED, [0.7] * 10)["average_precision"].to_list() == pytest.approx(
        made(JUDGED)["average_precision"].to_list()
    )
    assert made(JUDGED, [0.9, *[0.7] * 9])["unequal"].all()


def test_each_category_has_its_own_chances() -> None:
    both = pl.concat([
        labelled([True, None]),
        labelled([True, False]).with_columns(category=pl.lit("other")),
    ])  # fmt: skip
    assert judged_chances(both, candidates=2)["pi"].to_list() == [0.5, None, 1.0, 1.0]


def test_no_true_positive_and_nothing_judged() -> None:
    for labels in ([False, None, False], [None, None, None]):
        found = made(list(labels))
        assert found.select("average_precision", "lower", "upper").row(0) == (None, 0.0, 1.0)
    nothing = judged_chances(labelled([]), candidates=0)
    empty = average_precisions(ranking(0, "mi"), nothing, confidence=0.95)
    assert empty.is_empty()
    assert empty.columns == list(AveragePrecision.columns())
