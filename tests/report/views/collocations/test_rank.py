"""The blocks of the view of ranks."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from pipeline.errors import ConfigError
from pipeline.report.view import Block, Listing, Text
from pipeline.report.views.collocations.candidates import RankView, show_ranks
from tests.report import report_frames as frames

RANKS = frames.ranks({"dice": [3.0, 2.0, 2.0, None], "mi": [math.inf, 1.0, -math.inf, None]})
SCORES = pl.DataFrame(
    {"id": ["c1", "c2", "c3", "c4"], "l1": ["in:Frage", "zu:Ende", "um:Uhr", "auf:Weg"],
     "l2": ["kommen", "gehen", "treffen", "sein"], "f": [9, 8, 7, 6]}
)  # fmt: skip
JUDGEMENTS = frames.judgements({"c1": True, "c2": False, "c3": None})
TABLES = {"ranks": RANKS, "scores": SCORES, "judgements": JUDGEMENTS}


def shown(tables: dict[str, pl.DataFrame] = TABLES, **options: Any) -> list[Block]:
    stage = frames.stage("score.rank", tables, name="ranks", scores="scores")
    return list(show_ranks(stage, RankView(**options)))


def both(**options: Any) -> tuple[Listing, Listing]:
    best, scores, _ = shown(**options)
    assert isinstance(best, Listing)
    assert isinstance(scores, Listing)
    return best, scores


def test_the_best_side_by_side() -> None:
    best, _ = both(k=2)
    assert best.shown is not None
    assert best.shown.rows() == [
        ("1", "in:Frage kommen", "in:Frage kommen"), ("2", "zu:Ende gehen", "zu:Ende gehen"),
    ]  # fmt: skip
    assert best.frame.select("measure", "rank").rows() == [
        ("dice", 1), ("dice", 2), ("mi", 1), ("mi", 2),
    ]  # fmt: skip


def test_verdicts_are_marked() -> None:
    best, _ = both(k=4, judgements="judgements", measures=("mi",))
    assert best.shown is not None
    ends = [text.rpartition("\u00a0")[2] for text in best.shown["MI"]]
    assert ends == ["+", "-", "?", "auf:Weg sein"]
    assert "(TP)" in best.caption


def test_undefined_infinite_and_distinct_scores_are_counted() -> None:
    _, scores = both()
    assert scores.frame.rows() == [("dice", 4, 1, 0, 3), ("mi", 4, 1, 2, 4)]


def test_the_marks_are_those_of_one_category() -> None:
    two = pl.concat([JUDGEMENTS, frames.judgements({"c1": False}, category="fvg")])
    tables = {**TABLES, "judgements": two}
    first, _ = both(tables=tables, judgements="judgements", k=1)
    other, _ = both(tables=tables, judgements="judgements", k=1, category="fvg")
    assert first.shown is not None
    assert other.shown is not None
    assert first.shown["MI"].item() == "in:Frage kommen\u00a0+"
    assert other.shown["MI"].item() == "in:Frage kommen\u00a0-"


def test_without_words_the_id_is_shown() -> None:
    best, _ = both(tables={**TABLES, "scores": SCORES.drop("l1")}, k=1)
    assert best.shown is not None
    assert best.shown["MI"].to_list() == ["c1"]


def test_a_measure_may_be_called_rank() -> None:
    best, _ = both(tables={**TABLES, "ranks": frames.ranks({"rank": [1.0]})})
    assert best.shown is not None
    assert best.shown.rows() == [("1", "in:Frage kommen")]


def test_nothing_to_rank_gives_a_sentence() -> None:
    assert shown({**TABLES, "ranks": RANKS.clear()}) == [Text("There is no candidate to rank.")]


def test_an_unknown_category_is_an_error() -> None:
    with pytest.raises(ConfigError, match="views.ranks.category"):
        shown(judgements="judgements", category="x")
