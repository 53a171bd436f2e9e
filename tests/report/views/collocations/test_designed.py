"""The blocks of the views of a designed sample, and of estimates from any sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from pipeline.report.page.images import still
from pipeline.report.view import Block, Figure, Fold, Listing, Text
from pipeline.report.views.collocations.designed import (
    DesignedView,
    QuestionsView,
    show_designed,
    show_questions,
)
from schemas import ClusteredDesignedDifferences
from tests.report import report_frames as frames
from tests.stages.run_stage import run_stage

BITS = np.random.default_rng(3)
IDS = [f"x{i:03}" for i in range(300)]
SCORES = pl.DataFrame({"id": IDS, "mi": BITS.normal(size=300), "dice": BITS.normal(size=300)})
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]
SAMPLE_TABLES = run_stage(
    "sample.design", {"cuts": [50, 100], "size": 80, "seed": "s"}, ranks=RANKS
)
LABELS = pl.DataFrame({"category": "TP", "id": IDS, "tp": BITS.random(300) < 0.3})
ESTIMATES = run_stage(
    "evaluate.designed",
    {"cuts": [50, 100], "seed": "s", "band": "simultaneous", "assist": "scores"},
    ranks=RANKS, judgements=LABELS.join(SAMPLE_TABLES["sample"], on="id", how="semi"),
    sample=SAMPLE_TABLES["sample"], inclusion=SAMPLE_TABLES["inclusion"],
)  # fmt: skip


def shown_designed(tables: dict[str, pl.DataFrame] = ESTIMATES, **options: Any) -> list[Block]:
    stage = frames.stage("evaluate.designed", tables, cuts=[50, 100])
    return list(show_designed(stage, DesignedView(**options)))


def test_the_view_has_notes_figures_and_tables() -> None:
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


def test_measures_and_pairs_can_be_selected() -> None:
    assert len(shown_designed(measures=("mi",))) == 4  # no differences, no band of them
    assert len(shown_designed(pairs=(("mi", "dice"),))) == 6
    assert len(shown_designed(pairs=())) == 5


def test_differences_beyond_the_candidates_are_in_a_fold() -> None:
    row = ESTIMATES["differences"].head(1).to_dicts()[0]
    row |= {"cluster": "l1, l2", "clusters": 40, "effective_clusters": 12.5, "confidence": 0.95,
            "p_value": 0.2, "p_adjusted": 0.4, "significant": False, "verdict": "open"}  # fmt: skip
    columns = ClusteredDesignedDifferences.columns()
    tables = ESTIMATES | {"clustered": pl.DataFrame([row], schema=columns)}
    (fold,) = [block for block in shown_designed(tables) if isinstance(block, Fold)][1:]
    assert fold.summary == "Differences for candidates to come"
    (table,) = fold.blocks
    assert isinstance(table, Listing)
    assert "those with the same l1 or l2 vary together" in table.caption
    assert table.texts is not None
    assert not any("*" in str(cell) for cell in table.texts.row(0))  # no second verdict


def test_the_absence_of_judgements_is_stated() -> None:
    (block,) = shown_designed({name: frame.clear() for name, frame in ESTIMATES.items()})
    assert isinstance(block, Text)


def test_questions_are_compared_with_the_simple_sample() -> None:
    stage = frames.stage("sample.design", SAMPLE_TABLES)
    text, table = show_questions(stage, QuestionsView())
    assert isinstance(text, Text)
    assert "80 candidates were drawn" in text.text
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert table.texts["question"].to_list() == [
        "baseline", "Dice − MI", "Dice − MI", "Dice", "MI", "Dice", "MI",
    ]  # fmt: skip
    text, table, fold = show_questions(stage, QuestionsView(most=3))
    assert isinstance(fold, Fold)
    (block,) = show_questions(
        frames.stage(
            "sample.design", {name: frame.clear() for name, frame in SAMPLE_TABLES.items()}
        ),
        QuestionsView(),
    )
    assert isinstance(block, Text)
