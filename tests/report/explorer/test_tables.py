"""Where the table of all rows finds what belongs to it."""

from __future__ import annotations

import polars as pl

from pipeline.findings.base import StageView
from pipeline.report.explorer import attributes_of, sources


def stages(inputs: dict[str, list[str]]) -> dict[str, StageView]:
    among: dict[str, StageView] = {}
    for name, read in inputs.items():
        named = {f"option.{i}": f"{each}.table" for i, each in enumerate(read)}
        among[name] = StageView(name, "x", {}, lambda _: pl.LazyFrame(), inputs=named, among=among)
    return among


def test_sources_are_all_that_a_stage_rests_on_the_nearest_first() -> None:
    among = stages({"corpus": [], "pairs": ["corpus"], "scores": ["pairs"], "ranks": ["scores"],
                    "sample": ["pairs"], "joined": ["sample", "gone"]})  # fmt: skip
    assert [s.name for s in sources(among["ranks"])] == ["ranks", "scores", "pairs", "corpus"]
    assert [s.name for s in sources(among["joined"])] == ["joined", "sample", "pairs", "corpus"]


def test_columns_that_cannot_be_shown_are_left_out_and_those_of_one_value_hidden() -> None:
    frame = pl.DataFrame({"l1": ["a", "b"], "N": [9, 9], "parts": [[1], [2]], "f": [1, 2]})
    found = {
        each.name: each for each in attributes_of(frame, frame.columns, shown=["l1", "N", "f"])
    }
    assert list(found) == ["l1", "N", "f"]
    assert [each.shown for each in found.values()] == [True, False, True]
