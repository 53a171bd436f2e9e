"""The blocks of the view of estimates from a stratified sample."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from pipeline.errors import ConfigError
from pipeline.report.page.images import still
from pipeline.report.view import Block, Figure, Fold, Listing, Text
from pipeline.report.views.collocations.designed import (
    DesignedView,
    QuestionsView,
    show_designed,
    show_questions,
)
from pipeline.report.views.collocations.stratified import (
    StratifiedView,
    SubsetView,
    show_stratified,
    show_subset,
)
from schemas import StratifiedComparison, StratifiedPrecision, SubsetComparison, SubsetPrecision
from tests.report import report_frames as frames
from tests.stages.run_stage import run_stage

CURVES = {"dice": [i % 3 == 0 for i in range(400)], "mi": [i % 2 == 0 for i in range(400)]}
STEPS = (
    frames.precision(CURVES)
    .filter(pl.col("n") % 10 == 0)
    .with_columns(variance=pl.lit(0.01), strata=pl.lit(2), strata_unsampled=pl.lit(0))
    .with_columns(lower=pl.when(pl.col("n") != 200).then("lower"))
    .select(pl.col(name).cast(dtype) for name, dtype in StratifiedPrecision.columns().items())
)
TESTS = pl.DataFrame(
    [("TP", "dice", "mi", 100, 60, 6, 1, 6, 4, -0.25, -0.4, -0.1, True),
     ("TP", "dice", "mi", 200, 60, 0, 0, 6, 4, None, None, None, False)],
    schema=StratifiedComparison.columns(), orient="row",
)  # fmt: skip
TABLES = {"precision": STEPS, "comparison": TESTS}


def shown(tables: dict[str, pl.DataFrame] = TABLES, **options: Any) -> list[Block]:
    stage = frames.stage("evaluate.stratified", tables, cuts=[100, 200])
    return list(show_stratified(stage, StratifiedView(**options)))


def test_how_it_was_estimated_a_graph_and_tables() -> None:
    text, figure, table, differences = shown(bands=("dice",))
    assert isinstance(text, Text)
    assert "bootstrap" in text.text
    assert isinstance(figure, Figure)
    assert "baseline" not in figure.caption
    assert isinstance(table, Listing)
    assert isinstance(differences, Listing)


def test_steps_of_n_are_all_drawn() -> None:
    figure = shown(first_n=10)[1]
    assert isinstance(figure, Figure)
    spec = still(figure.chart)
    lines = [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    sizes = [len(layer["data"]["values"].splitlines()) for layer in lines]
    assert sizes == [1 + 40, 1 + 40]


def test_missing_limits_and_no_ties() -> None:
    table = shown()[2]
    assert isinstance(table, Listing)
    assert table.shown is not None
    assert table.shown.columns == ["measure", "n = 100", "n = 200"]
    assert table.shown.row(1) == ("MI", "50.00 [40.0, 60.0]", "50.00 [–, 60.0]")
    assert "Ties" not in table.caption


def test_differences_with_limits() -> None:
    table = shown()[3]
    assert isinstance(table, Listing)
    assert table.shown is not None
    first, second = table.shown.rows()
    assert first[-2:] == ("* −25.00", "[−40.00, −10.00]")
    assert second[-2:] == ("–", "[–, –]")
    assert len(shown(measures=("dice",))) == 3


def test_nothing_judged_gives_a_sentence() -> None:
    (said,) = shown({name: frame.clear() for name, frame in TABLES.items()})
    assert isinstance(said, Text)


# The blocks of the view of a set without ranks.

SUBSETS = pl.DataFrame(
    [("TP", "filter", 120, 12, 6, 0.5, 0.3, 0.7, 0.2)],
    schema=SubsetPrecision.columns(),
    orient="row",
)
TESTS_SUBSET = pl.DataFrame(
    [("TP", "filter", "dice", 120, 60, 6, 4, 6, 1, 0.25, 0.01, 0.02, True, "holm"),
     ("TP", "filter", "mi", 120, 60, 0, 0, 6, 1, None, None, None, False, "holm")],
    schema=SubsetComparison.columns(), orient="row",
)  # fmt: skip
CURVES_SUBSET = {"dice": [i % 3 == 0 for i in range(300)], "mi": [i % 2 == 0 for i in range(300)]}
TABLES_SUBSET = {
    "subsets": SUBSETS, "comparison": TESTS_SUBSET, "shown.subsets": SUBSETS,
    "full.precision": frames.precision(CURVES_SUBSET), "full.baseline": frames.baseline(125, 300),
}  # fmt: skip


def shown_subset(tables: dict[str, pl.DataFrame] = TABLES_SUBSET, **options: Any) -> list[Block]:
    config = options.pop("config", {})
    return list(
        show_subset(frames.stage("evaluate.subset", tables, **config), SubsetView(**options))
    )


def test_the_set_beside_the_curves_of_another_stage() -> None:
    text, figure, table = shown_subset(precision="full")
    assert isinstance(text, Text)
    assert isinstance(figure, Figure)
    assert isinstance(table, Listing)
    assert figure.name == "subset"
    marks = [layer["mark"] for layer in still(figure.chart)["layer"]]
    assert [mark["type"] for mark in marks].count("line") == 2
    assert "diamond" in {mark.get("shape") for mark in marks}
    assert "Vertical lines" not in figure.caption


def test_the_set_alone() -> None:
    figure = shown_subset()[1]
    assert isinstance(figure, Figure)
    spec = still(figure.chart)
    assert not [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    assert "filter (120)" in json.dumps(spec)


def test_the_differences_from_the_lists_of_its_size() -> None:
    table = shown_subset(measures=("mi", "dice"))[2]
    assert isinstance(table, Listing)
    assert table.shown is not None
    assert table.shown.columns == ["set A", "|A|", "precision (%)", "− MI", "− Dice"]
    assert table.shown.row(0) == ("filter", "120", "50.00 [30.0, 70.0]", "–", "* +25.00\np = .020")


def test_the_test_is_named() -> None:
    said = shown_subset(config={"test": "fisher_mid_p"})[0]
    assert isinstance(said, Text)
    assert "Fisher's test with mid-p values" in said.text


def test_nothing_judged_gives_a_sentence_subset() -> None:
    (said,) = shown_subset({**TABLES_SUBSET, "subsets": SUBSETS.clear()})
    assert isinstance(said, Text)


def test_an_unknown_measure_is_an_error() -> None:
    with pytest.raises(ConfigError, match="views.shown.measures: unknown name 'dic'"):
        shown_subset(measures=("dic",))


BITS = np.random.default_rng(3)
IDS = [f"x{i:03}" for i in range(300)]
SCORES = pl.DataFrame({"id": IDS, "mi": BITS.normal(size=300), "dice": BITS.normal(size=300)})
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]
MADE = run_stage("sample.design", {"cuts": [50, 100], "size": 80, "seed": "s"}, ranks=RANKS)
LABELS = pl.DataFrame({"category": "TP", "id": IDS, "tp": BITS.random(300) < 0.3})
DONE = run_stage(
    "evaluate.designed",
    {"cuts": [50, 100], "seed": "s", "band": "simultaneous", "assist": "scores"},
    ranks=RANKS, judgements=LABELS.join(MADE["sample"], on="id", how="semi"),
    sample=MADE["sample"], inclusion=MADE["inclusion"],
)  # fmt: skip


def shown_designed(tables: dict[str, pl.DataFrame] = DONE, **options: Any) -> list[Block]:
    stage = frames.stage("evaluate.designed", tables, cuts=[50, 100])
    return list(show_designed(stage, DesignedView(**options)))


def test_how_it_was_estimated_figures_and_tables() -> None:
    text, graph, table, resting, differences, bands = shown_designed(bands=("mi",))
    assert isinstance(text, Text)
    assert "Predictions narrow the limits" in text.text
    assert isinstance(graph, Figure)
    assert "simultaneous limits for all n from 50 to 100" in graph.caption
    assert isinstance(table, Listing)
    assert isinstance(resting, Fold)
    assert isinstance(differences, Listing)
    assert isinstance(bands, Figure)
    areas = [layer for layer in still(bands.chart)["layer"] if layer["mark"]["type"] == "area"]
    assert len(areas) == 1


def test_some_measures_some_pairs() -> None:
    assert len(shown_designed(measures=("mi",))) == 4  # no differences, no band of them
    assert len(shown_designed(pairs=(("mi", "dice"),))) == 6
    assert len(shown_designed(pairs=())) == 5


def test_without_judgements() -> None:
    (said,) = shown_designed({name: frame.clear() for name, frame in DONE.items()})
    assert isinstance(said, Text)


def test_questions_beside_the_simple_sample() -> None:
    stage = frames.stage("sample.design", MADE)
    text, table = show_questions(stage, QuestionsView())
    assert isinstance(text, Text)
    assert "80 candidates were drawn" in text.text
    assert isinstance(table, Listing)
    assert table.shown is not None
    assert table.shown["question"].to_list() == [
        "baseline", "Dice − MI", "Dice − MI", "Dice", "MI", "Dice", "MI",
    ]  # fmt: skip
    text, table, fold = show_questions(stage, QuestionsView(most=3))
    assert isinstance(fold, Fold)
    (said,) = show_questions(
        frames.stage("sample.design", {name: frame.clear() for name, frame in MADE.items()}),
        QuestionsView(),
    )
    assert isinstance(said, Text)
