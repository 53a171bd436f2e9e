from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.nbest.comparison import Asked, pair_differences
from pipeline.kernels.statistics.multiplicity import holm
from schemas import Comparison, MeasureDifferences
from tests.valid import valid

ASKED = Asked(confidence=0.95, alpha=0.05, margin=0.0, equivalence=0.1, correction="holm")
ROWS = [  # category, pair, n, size, n_1, k_1, n_2, k_2, difference, p
    ("figur", "a", "b", 100, 40, 40, 12, 40, 9, 0.03, 0.6),  # judged as a whole
    ("figur", "a", "b", 200, 0, 0, 0, 0, 0, 0.0, None),  # the same lists
    ("figur", "a", "c", 100, 40, 20, 12, 20, 5, 0.14, 0.05),
    ("fvg", "a", "b", 100, 40, 20, 12, 0, 0, None, None),  # nothing judged in D2
]
TESTS = pl.DataFrame(
    [(*row, False) for row in ROWS], schema=Comparison.columns(), orient="row"
)  # fmt: skip


def found(population: str, asked: Asked = ASKED) -> pl.DataFrame:
    method = {"finite": "hypergeometric", "super": "clopper_pearson"}[population]
    made = pair_differences(TESTS, population=population, method=method, asked=asked)
    return valid(made, MeasureDifferences)


def test_these_candidates() -> None:
    whole, same, part, unknown = found("finite").iter_rows(named=True)
    assert (whole["lower"], whole["upper"], whole["p_value"]) == pytest.approx((0.03, 0.03, 0.0))
    assert whole["equivalent"]
    assert (same["lower"], same["upper"], same["p_value"], same["p_margin"]) == (0, 0, None, 1)
    assert same["equivalent"]
    assert (part["lower"], part["upper"]) == pytest.approx((0.03, 0.22))
    assert part["p_value"] == pytest.approx(0.0026, abs=5e-5)
    assert not part["equivalent"]
    assert (unknown["p_value"], unknown["p_margin"]) == (None, 1.0)
    # 12 of 20, of 40: 14 to 32 true positives; D2 may have none and may be all true positives
    assert unknown["lower"] < 0 < unknown["upper"]


def test_beyond_them() -> None:
    rows = found("super")
    assert rows["p_value"].to_list() == [0.6, None, 0.05, None]
    assert rows["upper"][0] - rows["lower"][0] > 0.1
    assert rows["interval"].unique().to_list() == ["clopper_pearson"]


@pytest.mark.parametrize("population", ["finite", "super"])
def test_each_category_is_a_family_and_each_question(population: str) -> None:
    rows = found(population)
    for name in ("p_value", "p_margin", "p_equivalent"):
        adjusted = f"{name}_adjusted".replace("value_", "")
        for part in rows.partition_by("category"):
            expected = holm(part[name].to_numpy())
            assert part[adjusted].fill_null(-1).to_list() == pytest.approx(
                np.nan_to_num(expected, nan=-1.0)
            )


def test_equivalence_goes_by_the_adjusted_p_value() -> None:
    rows = found("super", replace(ASKED, equivalence=0.25))
    level = rows["p_equivalent_adjusted"][2]
    for alpha, said in ((level * 1.001, True), (level * 0.999, False)):
        again = found("super", replace(ASKED, equivalence=0.25, alpha=alpha))
        assert again["equivalent"][2] == said
    assert found("super", replace(ASKED, equivalence=None))["p_equivalent"].null_count() == 4


def test_no_tests() -> None:
    made = pair_differences(
        TESTS.clear(), population="finite", method="hypergeometric", asked=ASKED
    )
    assert valid(made, MeasureDifferences).is_empty()
