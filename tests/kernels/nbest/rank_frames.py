"""Small tables of ranks and judgements from plain Python lists, and the Krenn data set."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import strategies as st

from schemas import Ranks

Draw = tuple[bool | None, int] | None
Scores = Mapping[str, Sequence[float | None]]
Draws = Mapping[str, Sequence[Draw]]

JUDGED = {
    "category": pl.String,
    "id": pl.String,
    "tp": pl.Boolean,
    "multiplicity": pl.Int64,
}


def name(candidate: int) -> str:
    return f"c{candidate:05d}"


def ranks_of(scores: Scores) -> pl.DataFrame:
    """Rank candidates 0, 1, ... under each measure; equal scores keep their order."""
    rows = [row for measure, values in scores.items() for row in _rank(measure, values)]
    return pl.DataFrame(rows, schema=Ranks.columns(), orient="row")


def _rank(measure: str, values: Sequence[float | None]) -> list[tuple[object, ...]]:
    keys = [float("-inf") if value is None else value for value in values]
    order = sorted(range(len(keys)), key=lambda candidate: (-keys[candidate], candidate))
    tie = {keys[c]: place for place, c in reversed(list(enumerate(order, start=1)))}
    return [
        (measure, place, name(c), values[c], tie[keys[c]], c)
        for place, c in enumerate(order, start=1)
    ]


def judged_of(draws: Draws) -> pl.DataFrame:
    """Give each candidate its (verdict, multiplicity); None: it is not in the sample."""
    rows = [
        (category, name(candidate), *draw)
        for category, every in draws.items()
        for candidate, draw in enumerate(every)
        if draw is not None
    ]
    return pl.DataFrame(rows, schema=JUDGED, orient="row")


@st.composite
def studies(draw: st.DrawFn, largest: int = 6) -> tuple[Scores, Draws]:
    """Make up to `largest` candidates with many ties, and a sample with gaps."""
    size = draw(st.integers(1, largest))
    score = st.sampled_from([None, 1.0, 2.0, 3.0])
    verdict = st.tuples(st.sampled_from([True, False, None]), st.integers(1, 3))
    scores = {m: draw(st.lists(score, min_size=size, max_size=size)) for m in ("x", "y")}
    sampled = st.lists(st.none() | verdict, min_size=size, max_size=size)
    return scores, {category: draw(sampled) for category in ("A", "B")}


def krenn() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return scores and full annotation of the Krenn data set, or skip the test."""
    root = os.environ.get("LEXASSAY_DATA")
    if not root:
        pytest.skip("LEXASSAY_DATA is not set: no folder with the public data sets")
    path = Path(root) / "collocations" / "krenn_pp_verb.ds"
    if not path.is_file():
        pytest.skip(f"{path} is absent: it is the KrennPPV set of the R package corpora")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    scores = table.select(
        frequency=pl.col("f").cast(pl.Float64),
        t_score="am.t.score",
        log_likelihood="am.log.likelihood",
        chi_squared_corr="am.chi.squared.corr",
    )
    verdicts = [(bool(tp), 1) for tp in table["b.TP"]]
    return ranks_of(scores.to_dict(as_series=False)), judged_of({"TP": verdicts})
