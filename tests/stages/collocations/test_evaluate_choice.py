"""The choice of a list and its delivery: results, refusals and messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

import pipeline as lx
from pipeline.errors import ConfigError
from tests.stages.run_stage import run_stage

IDS = [f"x{i}" for i in range(8)]
SCORES = pl.DataFrame({"id": IDS, "a": [8.0, 7, 6, 5, 4, 3, 2, 1], "b": [1.0, 2, 3, 4, 5, 6, 7, 8]})
VERDICTS = pl.DataFrame({"category": "TP", "id": IDS, "tp": [True] * 3 + [None] + [False] * 4})
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]
COUNTS = {name: [1] * 8 for name in ("f", "f1", "f2")}
UNITS = pl.DataFrame({"id": IDS, "l1": IDS, "l2": IDS, **COUNTS, "N": [9] * 8})


def choose(judgements: pl.DataFrame = VERDICTS, **config: Any) -> pl.DataFrame:
    return run_stage("evaluate.choice", config, ranks=RANKS, judgements=judgements)["choice"]


def deliver(choice: pl.DataFrame, **tables: pl.DataFrame) -> pl.DataFrame:
    inputs = {"ranks": RANKS, "candidates": UNITS, "judgements": VERDICTS} | tables
    return run_stage("sheet.list", {"folder": "out"}, choice=choice, **inputs)["list"]


def test_the_chosen_list_has_its_judgements() -> None:
    """Conflicting judgements are marked; unjudged candidates are not."""
    listed = deliver(
        choose(min_precision=0.6, sizes=[2, 4, 5]), judgements=VERDICTS.filter(pl.col("id") != "x1")
    )
    assert listed.select("rank", "id", "verdict").rows() == [
        (1, "x0", "+"), (2, "x1", None), (3, "x2", "+"), (4, "x3", "?"), (5, "x4", "-"),
    ]  # fmt: skip


def test_example_sentences_are_beside_the_candidates() -> None:
    examples = pl.DataFrame({
        "id": ["x0", "x0", "x2"], "number": [1, 2, 1], "doc": "d", "draw_key": 1,
        "text": ["[[a]] [[b]]", "[[a]] c [[b]]", "[[d]] [[e]]"],
    })  # fmt: skip
    choice = choose(size=3)
    listed = deliver(choice, examples=examples)
    assert listed["example_1"].to_list() == ["[[a]] [[b]]", None, "[[d]] [[e]]"]
    inputs = {"ranks": RANKS, "candidates": UNITS, "examples": examples, "choice": choice}
    two = run_stage("sheet.list", {"folder": "out", "shown": 2}, **inputs)["list"]
    assert two["example_2"].to_list() == ["[[a]] c [[b]]", None, None]
    assert (
        "example_1" not in run_stage("sheet.list", {"folder": "out", "shown": 0}, **inputs)["list"]
    )


def test_sizes_beyond_the_lists_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"size: the longest lists have 8 .* fewer than 500"):
        choose(size=500)
    with pytest.raises(ConfigError, match="sizes: the longest lists have 8"):
        choose(sizes=[100, 500], min_precision=0.2)
    with pytest.raises(ValidationError, match="must be at least 1, not 0"):
        choose(sizes=[0, 2], min_precision=0.2)


def test_choices_without_judgements_are_refused() -> None:
    unknown = VERDICTS.with_columns(tp=pl.lit(None, pl.Boolean))
    with pytest.raises(ConfigError, match="no candidate in the lists of size 4 has been judged"):
        choose(unknown, size=4)
    none = VERDICTS.with_columns(tp=pl.lit(value=False))
    with pytest.raises(ConfigError, match="no true positives among the judged candidates"):
        choose(none, sizes=[2, 4], min_recall=0.5)


def test_an_incomplete_list_is_not_delivered() -> None:
    choice = choose(size=4)
    with pytest.raises(
        ConfigError, match="2 of the 4 listed candidates are missing, for example x0"
    ):
        deliver(choice, candidates=UNITS.filter(~pl.col("id").is_in(["x0", "x3", "x7"])))
    with pytest.raises(ConfigError, match="they have only 0 of the 4 chosen candidates of 'a'"):
        deliver(choice, ranks=RANKS.filter(measure="b"))
    pool = run_stage("score.pool", {"depth": 3}, ranks=RANKS)["ranks"]
    with pytest.raises(ConfigError, match="they have only 3 of the 4"):
        deliver(choice, ranks=pool)


MANY = [f"y{i:03}" for i in range(200)]
LONG = run_stage(
    "score.rank", {"seed": "s"},
    scores=pl.DataFrame({
        "id": MANY, "a": [float(-i) for i in range(200)], "b": [float(i) for i in range(200)],
    }),
)["ranks"]  # fmt: skip
TOP = pl.DataFrame({"category": "TP", "id": MANY, "tp": [i < 90 for i in range(200)]})


def choose_guaranteed(judgements: pl.DataFrame = TOP, **config: Any) -> dict[str, pl.DataFrame]:
    options = {"guarantee": True} | config
    return run_stage("evaluate.choice", options, ranks=LONG, judgements=judgements)


def test_a_guaranteed_list_is_shorter_than_an_estimated_one() -> None:
    """90 of 120 are 75 %, and 90 of 100 are 90 % with a lower limit of 82.4 % at 2.5 %."""
    config: dict[str, Any] = {"sizes": [20, 100, 120], "min_precision": 0.7}
    tables = choose_guaranteed(**config)
    assert tables["choice"].select("measure", "n", "criterion").row(0) == (
        "a", 100, "min_precision = 0.7, guaranteed",
    )  # fmt: skip
    tests = tables["guarantee"].select("measure", "n", "place", "tested", "passed").rows()
    assert tests == [
        ("a", 20, 1, True, True), ("a", 100, 2, True, True), ("a", 120, 3, True, False),
        ("b", 20, 1, True, False), ("b", 100, 2, False, False), ("b", 120, 3, False, False),
    ]  # fmt: skip
    plain = choose_guaranteed(**config, guarantee=False)
    assert plain["choice"]["n"].item() == 120
    assert plain["choice"]["criterion"].item() == "min_precision = 0.7"
    assert plain["guarantee"].is_empty()


def test_lists_are_tested_in_the_declared_order() -> None:
    config: dict[str, Any] = {"min_precision": 0.7, "measures": ["a"]}
    assert choose_guaranteed(sizes=[100, 20, 20], **config)["guarantee"]["place"].to_list() == [
        2,
        1,
    ]
    with pytest.raises(ConfigError, match="1 were tested"):
        choose_guaranteed(sizes=[120, 20], **config)


def test_a_failed_guarantee_states_the_closest_lists() -> None:
    near = (
        r"no list is guaranteed to reach min_precision = 0.9: 2 were tested.* a at n = 100 with a lower "
        r"limit of 0.824 \(90 of 100\), b at n = 100 with a lower limit of 0.000 \(0 of 100\)"
    )
    with pytest.raises(ConfigError, match=near):
        choose_guaranteed(sizes=[100], min_precision=0.9)
    few = TOP.head(3)
    with pytest.raises(ConfigError, match="enough judged draws .3 at most. to guarantee 0.7"):
        choose_guaranteed(few, sizes=[100], min_precision=0.7)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"size": 100}, "guarantee requires min_precision"),
        (
            {"min_precision": 0.3, "interval": "wilson"},
            "clopper_pearson or hypergeometric, not wil",
        ),
        ({"min_precision": 0.3, "confidence": 0.4}, "a confidence above 0.5, not 0.4"),
    ],
)
def test_invalid_options_of_a_guarantee_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        choose_guaranteed(**config)


def test_without_judgements_there_is_no_guarantee() -> None:
    tables = run_stage(
        "evaluate.choice", {"guarantee": True, "min_precision": 0.3}, ranks=RANKS.clear(),
        judgements=VERDICTS.clear(),
    )  # fmt: skip
    assert all(table.is_empty() for table in tables.values())


# The list of a combination: judged true positives, then the first of the model of all labels

COMBINED = RANKS.filter(measure="a").with_columns(measure=pl.lit("combination"))
LABELS = {"x1": False, "x3": True, "x6": True}
"""Judged draws; the cross-fitted order is x0 ... x7, that of the refit x7 ... x0."""
REFIT = pl.DataFrame({
    "id": IDS, "probability": [i / 10 for i in range(8)],
    "measure": "combination", "refit_rank": [8 - i for i in range(8)], "tp": [LABELS.get(each) for each in IDS],
    "sampled": [each in LABELS for each in IDS],
})  # fmt: skip
SAMPLE = pl.DataFrame({
    "id": ["x1", "x3", "x6"], "multiplicity": 1, "position": [1, 2, 3], "pi": 3 / 8,
    "stratum": "all",
})  # fmt: skip
ALL = pl.concat([RANKS, COMBINED]).sort("measure", "rank")


def combination_chosen(**config: Any) -> pl.DataFrame:
    labels = pl.DataFrame({"category": "TP", "id": [*LABELS], "tp": [*LABELS.values()]})
    options = {"sizes": [4], "measures": ["combination"], "size": 4} | config
    return run_stage("evaluate.choice", options, ranks=ALL, judgements=labels)["choice"]


def refit_list(**tables: pl.DataFrame) -> dict[str, pl.DataFrame]:
    inputs = {"ranks": ALL, "candidates": UNITS, "refit": REFIT, "choice": combination_chosen()}
    return run_stage("sheet.list", {"folder": "out"}, **inputs | tables)


@pytest.mark.parametrize("tables", [{}, {"sample": SAMPLE}])
def test_judged_true_positives_are_first(tables: dict[str, pl.DataFrame]) -> None:
    """x1 is false and missing. Its cross-fitted list x0 ... x4 has one true among two judged."""
    outputs = refit_list(**tables)
    assert outputs["list"].select("rank", "id", "score", "verdict", "part").rows() == [
        (1, "x6", 0.6, "+", "judged"), (2, "x3", 0.3, "+", "judged"),
        (3, "x7", 0.7, None, "unjudged"), (4, "x5", 0.5, None, "unjudged"),
    ]  # fmt: skip
    parts = outputs["parts"].select("part", "n", "precision", "depth", "n_sampled", "k_sampled")
    assert parts.rows() == [
        ("judged", 2, 1.0, 0, 0, 0), ("list", 4, 0.5, 3, 1, 0), ("unjudged", 2, 0.0, 3, 1, 0),
    ]  # fmt: skip
    assert outputs["parts"].filter(part="unjudged").select("lower", "upper").row(0) == (
        0.0, pytest.approx(0.975),
    )  # fmt: skip


def test_a_candidate_drawn_twice_counts_twice() -> None:
    twice = SAMPLE.with_columns(multiplicity=pl.Series([2, 1, 1]), pi=pl.lit(None, pl.Float64))
    parts = refit_list(sample=twice)["parts"]
    assert parts.filter(part="unjudged")["n_sampled"].item() == 2


def test_judgements_beside_the_sample_change_only_the_list() -> None:
    """x7 is true, x5 false: known, but not draws of the estimate; x2 has a conflict."""
    further = pl.DataFrame({
        "category": "TP", "id": ["x7", "x5", "x2"], "tp": [True, False, None],
    })  # fmt: skip
    tables = refit_list(judgements=further, choice=combination_chosen(size=6))
    assert tables["list"].select("id", "verdict", "part").rows() == [
        ("x7", "+", "judged"), ("x6", "+", "judged"), ("x3", "+", "judged"),
        ("x4", None, "unjudged"), ("x2", "?", "unjudged"), ("x0", None, "unjudged"),
    ]  # fmt: skip
    (unjudged,) = tables["parts"].filter(part="unjudged").to_dicts()
    assert (unjudged["n"], unjudged["n_sampled"], unjudged["k_sampled"]) == (3, 2, 1)


def test_further_labels_of_the_model_are_not_draws() -> None:
    """The model of all labels includes x7 and x5; the estimate has the same draws."""
    known = LABELS | {"x7": True, "x5": False}
    more = REFIT.with_columns(tp=pl.Series([known.get(each) for each in IDS]))
    further = pl.DataFrame({"category": "TP", "id": ["x7", "x5"], "tp": [True, False]})
    choice = combination_chosen(size=6)
    learned = refit_list(refit=more, choice=choice)
    beside = refit_list(judgements=further, choice=choice)
    assert learned["parts"].equals(beside["parts"])
    assert learned["list"]["id"].to_list() == beside["list"]["id"].to_list()


def test_a_list_of_judged_candidates_needs_no_estimate() -> None:
    tables = refit_list(choice=combination_chosen(size=2))
    assert tables["list"]["part"].to_list() == ["judged"] * 2
    assert tables["parts"].select("part", "precision", "lower").rows() == [
        ("judged", 1.0, 1.0), ("list", 1.0, 1.0),
    ]  # fmt: skip


def test_another_choice_is_delivered_in_its_ranking() -> None:
    tables = refit_list(choice=choose(min_precision=0.6, sizes=[2, 4, 5]), judgements=VERDICTS)
    assert tables["list"].select("id", "part").rows()[2:4] == [("x2", "judged"), ("x3", "unjudged")]
    assert tables["parts"].is_empty()


REFITTED = """
name = "small"
[stages.candidates]
use = "extract.table"
path = "pairs.csv"
[stages.judgements]
use = "join.table"
path = "pairs.csv"
candidates = "candidates"
categories = { TP = "TP", figur = "figur" }
[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["t_score"]
[stages.ranks]
use = "score.rank"
scores = "scores"
[stages.combined]
use = "score.combination"
ranks = "ranks"
candidates = "candidates"
judgements = "judgements"
category = "TP"
[stages.choice]
use = "evaluate.choice"
ranks = "combined"
judgements = "judgements"
size = 3
category = "TP"
[stages.list]
use = "sheet.list"
choice = "choice"
ranks = "combined"
candidates = "candidates"
refit = "combined.refit"
folder = "list"
"""


def check_refitted(before: str, after: str, folder: Path) -> None:
    (folder / "pairs.csv").write_text("l1,l2,f,f1,f2,N,TP,figur\na,b,1,1,1,9,1,0\n")
    (folder / "small.toml").write_text(REFITTED.replace(before, after, 1))
    lx.check(folder / "small.toml", runs=folder)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            'ranks = "combined"\ncandidates',
            'ranks = "ranks"\ncandidates',
            "list.refit: is of stage 'combined', but the rankings are of stage 'ranks'; use ranks =",
        ),
        (
            'ranks = "combined"\njudgements',
            'ranks = "ranks"\njudgements',
            "list.choice: stage 'choice' chose from the rankings of 'ranks', not 'combined'; use",
        ),
        (
            'category = "TP"\n[stages.choice]',
            (
                'category = "TP"\nsample = "drawn"\n[stages.drawn]\nuse = "sample.design"\n'
                'ranks = "ranks"\ncuts = [1]\nsize = 1\n[stages.choice]'
            ),
            "list.sample: the draws that stage 'combined' learned from have different chances; name",
        ),
        (
            'size = 3\ncategory = "TP"',
            'size = 3\ncategory = "figur"',
            "list.refit: the refit learned category 'TP', but the list is chosen for 'figur'; use",
        ),
    ],
)
def test_a_refit_of_other_candidates_is_refused(
    before: str, after: str, message: str, tmp_path: Path
) -> None:
    check_refitted("", "", tmp_path)
    with pytest.raises(ConfigError) as refused:
        check_refitted(before, after, tmp_path)
    assert message in str(refused.value)
