"""From tests at the cuts to matrices."""

from __future__ import annotations

import polars as pl

from pipeline.report.views.collocations.comparison import Mark, matrix_of, starred, together
from tests.report import report_frames as frames

TESTED = frames.cuts(
    frames.comparison({("a", "b"): {100: 0.2, 200: -0.1}}, significant=[100]), [100, 200]
)
NOTHING = frames.against_baseline({})
MARK = Mark(alpha=0.05, margin=0.0)


def test_each_pair_stands_in_both_directions() -> None:
    found = matrix_of(TESTED, NOTHING, 100, MARK).cells
    assert found.select("row", "column", "difference", "significant").rows() == [
        ("a", "b", 0.2, True), ("b", "a", -0.2, True),
    ]  # fmt: skip


def test_significance_is_after_correction_and_needs_the_margin() -> None:
    def stars(alpha: float, margin: float) -> list[bool]:
        return TESTED.select(starred(Mark(alpha=alpha, margin=margin))).to_series().to_list()

    assert stars(0.05, 0.0) == [True, False]
    assert stars(0.015, 0.0) == [False, False]  # p is 0.01, adjusted 0.02
    assert stars(0.05, 0.3) == [False, False]
    nothing = TESTED.with_columns(p_adjusted=pl.lit(None, pl.Float64))
    assert nothing.select(starred(Mark(alpha=0.5, margin=0.0))).to_series().to_list() == [
        False,
        False,
    ]


def test_without_estimates_the_order_is_by_name() -> None:
    assert matrix_of(TESTED, NOTHING, 200, MARK).order == ("a", "b")


def test_small_matrices_share_a_figure() -> None:
    two = [matrix_of(TESTED, NOTHING, n, MARK) for n in (100, 200)]
    assert [len(group) for group in together(two, most=2)] == [2]
    assert [len(group) for group in together(two, most=1)] == [1, 1]
    assert together([], most=2) == []
