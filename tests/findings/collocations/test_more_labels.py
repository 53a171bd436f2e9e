"""How many judgements more: the same answer as planning from the pilot gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from pipeline.findings.collocations.comparison import further_judgements, said
from tests.small_experiment import SMALL

STAGES = """
[stages.sample]
use = "sample.random"
candidates = "candidates"
rate = 0.3

[stages.pilot]
use = "evaluate.comparison"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
cuts = [30]
alpha = 0.2
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> lx.Run:
    folder = tmp_path_factory.mktemp("labels")
    (folder / "x.toml").write_text(SMALL + STAGES)
    lines = [
        f"a{i}\tb{i % 7}\t{i + 1}\t{i + 3 + i * 7 % 40}\t{290 - i}\t1900\t{int(i * 7 % 40 < 18 or i % 5 == 0)}"
        for i in range(120)
    ]
    (folder / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN\tTP", *lines]) + "\n")
    return lx.run(folder / "x.toml", runs=folder / "runs", report=False)


def test_the_answer_is_that_of_planning(done: lx.Run) -> None:
    row = done.table("pilot.cuts").row(0, named=True)
    pair = (row["measure_1"], row["measure_2"])
    planned = lx.plan_pilot(done, "pilot", measures=pair, n=[30], powers=[0.8], replicates=1000)
    sizes = planned.filter(wanted=0.8)["size"].to_list()
    judged = done.table("sample").height
    further = further_judgements(
        row, candidates=120, judged=judged, test="fisher", alternative="two_sided", alpha=0.2,
        margin=0.0,
    )  # fmt: skip
    assert [None if further is None else further + judged] == sizes


def test_the_finding_says_it(done: lx.Run) -> None:
    needed = done.findings.filter(about="needed", stage="pilot")
    assert needed.height <= 1
    for row in needed.iter_rows(named=True):
        further = None if row["value"] is None else int(row["value"])
        assert row["text"].lower().rstrip(".") == said(further, candidates=120)


PAIRS = st.tuples(st.integers(0, 20), st.integers(1, 20), st.integers(0, 20), st.integers(1, 20))


@given(PAIRS)
def test_a_sample_grows_within_the_candidates(counts: tuple[int, int, int, int]) -> None:
    k_1, n_1, k_2, n_2 = counts
    pair = {
        "n": 100, "size": 40, "k_1": min(k_1, n_1), "n_1": n_1, "k_2": min(k_2, n_2), "n_2": n_2,
    }  # fmt: skip
    further = further_judgements(
        pair, candidates=400, judged=60, test="fisher", alternative="two_sided", alpha=0.05,
        margin=0.0,
    )  # fmt: skip
    assert further is None or 0 <= further <= 340
