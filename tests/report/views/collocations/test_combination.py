"""The blocks of the views of a combination and of a delivered list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from pipeline.report.page.images import still
from pipeline.report.view import Block, Figure, Listing, Text, ViewOptions
from pipeline.report.views.collocations.combination import (
    CombinationView,
    show_combination,
    show_list,
)
from schemas import Choice, Coefficients, CombinationFit, ListParts, ListRows, Table
from tests.report import report_frames as frames


def rows(model: type[Table], *values: Mapping[str, Any], **same: Any) -> pl.DataFrame:
    return pl.DataFrame([{**same, **row} for row in values], schema=model.columns())


FIT = rows(
    CombinationFit,
    {"ranking": "chosen", "word": "", "measure": "log_likelihood", "average_precision": 0.289},
    {"ranking": "combination", "word": "", "measure": "", "ridge": 0.3, "average_precision": 0.67,
     "gain": 0.1234},
    {"ranking": "unseen", "word": "{l2}", "measure": "", "ridge": 0.3, "average_precision": None},
    category="TP", n_judged=510, positives=45,
)  # fmt: skip
TERMS = rows(
    Coefficients,
    {"kind": "intercept", "feature": "", "value": "", "coefficient": -5.0},
    {"kind": "measure", "feature": "mi", "value": "", "coefficient": -0.5},
    {"kind": "measure", "feature": "t_score", "value": "", "coefficient": 2.0},
    {"kind": "frequency", "feature": "f1", "value": "", "coefficient": 0.25},
    *(
        {"kind": "word", "feature": "{l2}", "value": word, "coefficient": effect, "n_judged": 9}
        for word, effect in (("bringen", 3.5), ("kommen", 2.5), ("", 0.0), ("sagen", -1.5))
    ),
    lowest=-9.0, highest=9.0, n_judged=510,
)  # fmt: skip


def combination(
    fit: pl.DataFrame = FIT, terms: pl.DataFrame = TERMS, **options: Any
) -> Sequence[Block]:
    stage = frames.stage("score.combination", {"fit": fit, "coefficients": terms}, folds=5)
    return show_combination(stage, CombinationView(**options))


def test_the_view_has_the_fit_a_graph_and_words() -> None:
    fit, graph, words = combination()
    assert isinstance(fit, Listing)
    assert isinstance(graph, Figure)
    assert isinstance(words, Listing)
    assert fit.texts is not None
    assert fit.texts.rows() == [
        ("combination", "67.00", "0.3", "0.123"),
        ("single measure (log-likelihood)", "28.90", "–", "–"),
        ("combination without labels of the same {l2}", "–", "0.3", "–"),
    ]
    assert "from 510 judged candidates with 45 true positives" in fit.caption
    assert "5 folds" in fit.caption
    assert "range over the 5 models without a fold" in graph.caption
    assert "largest" not in graph.caption
    assert still(graph.chart)
    assert words.texts is not None
    assert words.texts.select("word", "judged candidates", "effect").rows() == [
        ("bringen", "9", "3.50"), ("kommen", "9", "2.50"), ("sagen", "9", "−1.50"),
    ]  # fmt: skip


def test_only_the_largest_effects_are_shown() -> None:
    _, graph, words = combination(measures=2, words=1)
    assert isinstance(graph, Figure)
    assert isinstance(words, Listing)
    assert graph.caption.endswith("Drawn: the 2 largest of 3.")
    assert words.frame["value"].to_list() == ["bringen", "sagen"]
    assert len(combination(words=0)) == 2


def test_the_view_without_words_or_judgements() -> None:
    assert len(combination(terms=TERMS.filter(pl.col("kind") != "word"))) == 2
    assert combination(FIT.clear(), TERMS.clear()) == [
        Text("No candidate is judged, so no model was fitted.")
    ]


# The view of a delivered list.

LIMITS = ("precision", "lower", "upper", "lower_simultaneous", "upper_simultaneous")
PARTS = rows(
    ListParts,
    *(
        {"part": part, "n": n, "n_sampled": m, "k_sampled": k, "depth": depth,
         **dict(zip(LIMITS, values, strict=True))}
        for part, n, m, k, depth, values in (
            ("judged", 45, 0, 0, 0, (1.0,) * 5),
            ("list", 500, 42, 28, 497, (0.7, 0.6, 0.8, 0.5, 0.9)),
            ("unjudged", 455, 42, 28, 497, (0.66, 0.5, 0.8, 0.4, 0.85)),
        )
    ),
    category="TP", considered=8, confidence=0.95,
)  # fmt: skip
LIST = rows(ListRows, {"verdict": "+"}, {"verdict": "-"}, {"verdict": "?"}, {"verdict": None})
ABOUT = rows(Choice, {"measure": "t_score"})


def show_blocks(parts: pl.DataFrame, about: pl.DataFrame = ABOUT) -> Sequence[Block]:
    stage = frames.stage("sheet.list", {"list": LIST, "about": about, "parts": parts})
    return show_list(stage, ViewOptions())


def test_the_parts_of_a_delivered_list_are_shown() -> None:
    blocks, parts = show_blocks(PARTS)
    assert blocks == Text(
        "4 candidates by t-score, 2 of them judged: 1 true positive and 1 false positive."
    )
    assert isinstance(parts, Listing)
    assert parts.texts is not None
    assert parts.texts.rows() == [
        ("judged true positives, first", "45", "100.0", "–", "–", "100.0"),
        ("unjudged candidates, by the model of all labels", "455", "66.0 [40.0, 85.0]",
         "28 of 42", "497", "66.0 [50.0, 80.0]"),
        ("whole list", "500", "70.0 [50.0, 90.0]", "28 of 42", "497", "70.0 [60.0, 80.0]"),
    ]  # fmt: skip
    assert "account for the choice among 8 lists" in parts.caption


def test_a_list_without_parts_and_the_absence_of_a_list() -> None:
    assert len(show_blocks(PARTS.clear())) == 1
    nothing = Text("No candidate is judged, so no list was delivered.")
    assert show_blocks(PARTS.clear(), ABOUT.clear()) == [nothing]
