from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.comparison import compare, difference_counts, subset_difference_counts
from schemas import Comparison
from tests.kernels.nbest.rank_frames import Draws, Scores, judged_of, name, ranks_of, studies
from tests.valid import valid

COLUMNS = ("category", "measure_2", "n", "size", "n_1", "k_1", "n_2", "k_2")


def ids(members: list[int]) -> pl.DataFrame:
    return pl.DataFrame({"id": [name(c) for c in members]}, schema={"id": pl.String})


@given(studies(largest=8), st.sets(st.integers(0, 9)))
def test_agrees_with_sets(study: tuple[Scores, Draws], members: set[int]) -> None:
    scores, draws = study
    ranks, rows = ranks_of(scores), []
    subset = {c for c in members if c < len(scores["x"])}  # the others are no candidates
    for category, every in sorted(draws.items()):
        for measure in sorted(scores):
            order = ranks.filter(measure=measure).sort("rank")["tie_key"].to_list()
            best = set(order[: len(subset)])
            sums: list[int] = []
            for difference in (subset - best, best - subset):
                drawn = [draw for c in difference if (draw := every[c])]
                seen = [(int(d[1]), bool(d[0])) for d in drawn if d[0] is not None]
                sums += [sum(times for times, _ in seen), sum(times for times, hit in seen if hit)]
            if subset and any(every):
                rows.append((category, measure, len(subset), len(subset - best), *sums))
    found = subset_difference_counts(ids(sorted(members)), ranks, judged_of(draws), name="rule")
    assert found.select(COLUMNS).rows() == rows


def test_an_nbest_list_as_a_subset_gives_the_comparison_of_two_measures() -> None:
    scores: Scores = {"x": [5.0, 4.0, 3.0, 2.0, 1.0], "y": [1.0, 5.0, 3.0, 4.0, 2.0]}
    draws: Draws = {"TP": [(True, 2), (True, 1), (False, 4), (False, 1), (None, 3)]}
    ranks, judged = ranks_of(scores), judged_of(draws)
    best = ranks.filter(pl.col("measure") == "x", pl.col("rank") <= 2).select("id")
    found = subset_difference_counts(best, ranks.filter(measure="y"), judged, name="x")
    assert found.equals(difference_counts(ranks, judged, pairs=[("x", "y")], at=[2]))
    compared = compare(found, alpha=0.05, margin=0.0)
    valid(compared, Comparison)


def test_names_of_measures_are_refused() -> None:
    ranks = ranks_of({"x": [1.0]})
    with pytest.raises(ValueError, match="'x' is a measure already"):
        subset_difference_counts(ids([0]), ranks, judged_of({}), name="x")
