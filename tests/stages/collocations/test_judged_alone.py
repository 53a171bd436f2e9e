"""Where all candidates count, those that nobody judged need no row: what is told is the same."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.precision import (
    baseline,
    draw_totals,
    nbest_counts,
    positives,
    precision_columns,
    worst_cases,
)
from pipeline.stages.collocations.evaluation import judged_alone, judged_draws
from tests.kernels.nbest.rank_frames import name, ranks_of

labels = st.dictionaries(st.integers(0, 9), st.sampled_from([True, False, None]), max_size=10)
HOW = {"method": "hypergeometric", "confidence": 0.9}


@given(st.integers(1, 8), labels, labels)
def test_counts_baseline_and_worst_cases(size: int, one: dict, other: dict) -> None:  # type: ignore[type-arg]
    scores = [float(-(place // 3)) for place in range(size)]
    ranks = ranks_of({"x": scores, "y": scores[::-1]}).lazy()
    given_ = [("A", name(c), tp) for c, tp in one.items()]
    given_ += [("B", name(c), tp) for c, tp in other.items()]
    schema = {"category": pl.String, "id": pl.String, "tp": pl.Boolean}
    judgements = pl.LazyFrame(given_, schema=schema, orient="row")
    tables = {"ranks": ranks, "judgements": judgements}
    every, few = judged_draws(tables).collect(), judged_alone(tables)
    assert few.height <= len(given_) + 2
    assert few.select(every.columns).schema == every.schema
    assert draw_totals(few).equals(draw_totals(every))
    counts = nbest_counts(ranks, few.lazy())
    assert counts.equals(nbest_counts(ranks, every.lazy()))
    whole = [baseline(each, n_candidates=size, sampled=False, **HOW) for each in (few, every)]  # type: ignore[arg-type]
    assert whole[0].equals(whole[1])
    lists = precision_columns(counts, positives=positives(few), **HOW)  # type: ignore[arg-type]
    worst = [worst_cases(lists, ranks, each, **HOW) for each in (None, every)]  # type: ignore[arg-type]
    assert worst[0].equals(worst[1])
