"""Laws of measures: symmetry, sign, monotony, range, and independence of the other rows."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.association import scoring
from pipeline.kernels.association.scoring import score
from pipeline.kernels.measure import MEASURES
from tests.kernels.association.cells import Cells, frame, rare, signatures, tables

MONOTONE = {
    "t_score", "z_score", "z_score_corr", "log_likelihood", "simple_ll", "chi_squared",
    "chi_squared_corr", "chi_squared_clipped", "chi_squared_corr_pv", "t_score_pv", "z_score_pv", "z_score_corr_pv", "log_likelihood_pv",
    "simple_ll_pv", "chi_squared_pv", "chi_squared_clipped_pv", "mi", "mi2", "mi3", "npmi", "ppmi",
    "relative_risk", "odds_ratio", "odds_ratio_disc", "log_ratio", "delta_p_21", "delta_p_12",
    "liddell", "percent_diff", "yule_q", "yule_y", "phi", "dice", "log_dice", "jaccard", "simpson",
    "geometric_mean", "minimum_sensitivity", "kulczynski", "kulczynski_1", "frequency", "mi_like",
    "mikolov", "fisher_pv", "binomial_pv", "poisson_pv", "poisson_mu_2", "poisson_mu_3",
    "poisson_mu_5", "poisson_mu_10", "mi_conf_1", "mi_conf_2", "mi_conf_3", "mi_conf_5",
    "mi_conf_10", "positive_lrc", "lrc", "mi_log2", "keyness_ll",
}  # fmt: skip
"""More joint tokens under the same margins score as high or higher.

Not: two-sided ones; local_mi and poisson_stirling, which fall until O = E / e and O = E;
conservative_log_ratio, whose interval widens as O21 gets small.
"""
FOLLOW_THE_SIGN = {
    "t_score", "z_score", "log_likelihood", "simple_ll", "chi_squared", "mi", "local_mi", "npmi",
    "relative_risk", "odds_ratio", "liddell", "delta_p_21", "delta_p_12", "percent_diff", "yule_q",
    "yule_y", "phi", "mi_log2", "keyness_ll",
}  # fmt: skip
NEVER_THE_OTHER_SIGN = {"chi_squared_corr", "chi_squared_clipped", "ppmi"}
SIGNED_BUT_FOR_YATES = {"z_score_corr"}
PER_CANDIDATE = {"random"}
KNOWN = sorted(set(MEASURES) - PER_CANDIDATE)


def scores(*cells: Cells) -> list[dict[str, float | None]]:
    return score(frame(*cells), measures=["all"]).collect().to_dicts()


def close(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return first == second or math.isclose(first, second, rel_tol=1e-12, abs_tol=1e-13)


@given(rows=st.lists(tables, min_size=1, max_size=60))
def test_swapping_the_units(rows: list[Cells]) -> None:
    symmetric = [name for name in KNOWN if MEASURES.get(name).symmetric]
    swapped = scores(*(cells.swapped for cells in rows))
    for here, there in zip(scores(*rows), swapped, strict=True):
        assert not [name for name in symmetric if not close(here[name], there[name])]


def test_what_is_not_symmetric() -> None:
    here, there = scores(Cells(3, 10, 40, 1000), Cells(3, 40, 10, 1000))
    differ = {name for name in KNOWN if not close(here[name], there[name])}
    assert differ == {name for name in KNOWN if not MEASURES.get(name).symmetric}


@given(rows=st.lists(signatures(10**9), min_size=1, max_size=60))
def test_the_sign_is_that_of_the_difference(rows: list[Cells]) -> None:
    for cells, found in zip(rows, scores(*rows), strict=True):
        expected = (cells.delta > 0) - (cells.delta < 0)
        for name in FOLLOW_THE_SIGN | NEVER_THE_OTHER_SIGN:
            if (value := found[name]) is not None:
                allowed = {expected} if name in FOLLOW_THE_SIGN else {expected, 0}
                assert (value > 0) - (value < 0) in allowed, (name, value)


def test_signed_tests_are_known() -> None:
    signed = {name for name in MEASURES if MEASURES.get(name).sided == "signed"}
    known = FOLLOW_THE_SIGN | NEVER_THE_OTHER_SIGN | SIGNED_BUT_FOR_YATES
    assert signed <= known, "add it to FOLLOW_THE_SIGN, or to the set after it"


@given(
    cells=st.one_of(signatures(10**6, least=0), rare()),
    steps=st.lists(st.integers(1, 50), max_size=15),
)
def test_more_joint_tokens_score_higher(cells: Cells, steps: list[int]) -> None:
    most = min(cells.f1, cells.f2)
    joint = sorted({min(most, f) for f in itertools.accumulate(steps, initial=cells.f)})
    found = scores(*(Cells(f, cells.f1, cells.f2, cells.n) for f in joint))
    for low, high in itertools.pairwise(found):
        for name in MONOTONE:
            before, after = low[name], high[name]
            if before is not None and after is not None:
                assert before <= after or close(before, after), (name, before, after)


def test_what_is_not_monotone() -> None:
    """A witness for each that the table of monotone measures leaves out."""
    margins = [(f, 40, 50, 100) for f in range(41)] + [(f, 60, 60, 10**4) for f in range(61)]
    found = scores(*(Cells(*each) for each in margins if each[1] + each[2] - each[0] <= each[3]))
    falls = {
        name
        for name in KNOWN
        for low, high in itertools.pairwise(found)
        if high["frequency"] > low["frequency"]
        and low[name] is not None and high[name] is not None
        and low[name] > high[name] and not close(low[name], high[name])
    }  # fmt: skip
    assert set(KNOWN) - falls <= MONOTONE, "never falls: add it to MONOTONE"
    assert not falls & MONOTONE, "falls: remove it from MONOTONE"


def bounds(name: str) -> tuple[float, float, str]:
    said = MEASURES.get(name).range
    low, high = said[1:-1].replace("N", "inf").split(",")
    return float(low), float(high), said


@given(rows=st.lists(st.one_of(tables, signatures(50, least=0)), min_size=1, max_size=60))
@pytest.mark.filterwarnings("error")
def test_range(rows: list[Cells]) -> None:
    for found in scores(*rows):
        for name in MEASURES:
            low, high, said = bounds(name)
            value = found[name]
            if value is not None:
                assert low <= value <= high, (name, value, said)
                assert not (value == -math.inf and said[0] == "("), (name, value, said)
                assert not (value == math.inf and said[-1] == ")" and "N" not in said), name


def test_perfect_association_scores_exactly_the_most() -> None:
    together = [Cells(k, k, k, n) for n in (1000, 99_991) for k in range(1, 400)]
    found = score(frame(*together), measures=["all"]).collect()
    for name in ("npmi", "phi", "yule_y", "yule_q", "geometric_mean", "dice", "kulczynski"):
        assert 1 - 1e-15 <= found.get_column(name).min() <= found.get_column(name).max() <= 1


def test_how_a_table_is_stored_does_not_matter() -> None:
    """One row, chunks of one row, columns of a single value: Polars divides these differently."""
    rows = [Cells(f, 60, 70, 1000) for f in range(1, 40)]
    formulas = {"third": "o11 / 3", "tenth": "e11 / 10"}
    among = score(frame(*rows), measures=["all"], formulas=formulas).collect()
    alone = [score(frame(row), measures=["all"], formulas=formulas).collect() for row in rows]
    assert pl.concat(alone).equals(among)
    chunked = pl.concat(frame(row).collect() for row in rows).lazy()
    constant = frame(*rows).with_columns(f1=pl.lit(60), f2=pl.lit(70), N=pl.lit(1000))
    for table in (chunked, constant):
        found = score(table, measures=["all"], formulas=formulas).collect()
        assert found.select(among.columns[4:]).equals(among.select(among.columns[4:]))


@given(rows=st.lists(signatures(10**5), min_size=1, max_size=30), seed=st.integers(0, 99))
def test_row_order_and_batches_do_not_matter(rows: list[Cells], seed: int) -> None:
    table = frame(*rows, *rows).with_row_index("row").collect()
    whole = score(table.lazy(), measures=["all"]).collect()
    shuffled = score(table.sample(fraction=1, shuffle=True, seed=seed).lazy(), measures=["all"])
    parts = [score(part.lazy(), measures=["all"]).collect() for part in table.iter_slices(7)]
    assert whole.equals(shuffled.collect().sort("row"))
    assert whole.equals(pl.concat(parts))
    assert whole.get_column("row").is_sorted()


@pytest.mark.long
@given(
    rows=st.lists(st.one_of(tables, signatures(50, least=0)), min_size=1, max_size=40),
    size=st.integers(1, 9),
)
def test_batch_size_does_not_matter(rows: list[Cells], size: int) -> None:
    whole = score(frame(*rows), measures=["all"]).collect()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "BATCH", size)
        assert score(frame(*rows), measures=["all"]).collect().equals(whole)


THREADS = """
import hashlib, sys
from tests.kernels.association.cells import Cells, frame
from pipeline.kernels.association.scoring import score
rows = [Cells(1 + i % 7, 10 + i, 20 + i * i % 997, 10**6 + i) for i in range(3000)]
found = score(frame(*rows), measures=["all"]).collect().rechunk()
print(hashlib.sha256(b"".join(column.to_numpy().tobytes() for column in found)).hexdigest())
"""


def test_number_of_threads_does_not_matter() -> None:
    path = os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])
    digests = {
        subprocess.run(
            [sys.executable, "-c", THREADS],
            env={**os.environ, "PYTHONPATH": path, "POLARS_MAX_THREADS": threads},
            check=True, capture_output=True, text=True,
        ).stdout
        for threads in ("1", "3")
    }  # fmt: skip
    assert len(digests) == 1
