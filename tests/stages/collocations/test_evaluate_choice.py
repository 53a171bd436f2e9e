"""The choice of a list and its delivery: what they refuse, and what they say then."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

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
    given = {"ranks": RANKS, "candidates": UNITS, "judgements": VERDICTS} | tables
    return run_stage("sheet.list", {"folder": "out"}, choice=choice, **given)["list"]


def test_the_chosen_list_with_its_judgements() -> None:
    """What judgements differ on is marked; what nobody judged is not."""
    listed = deliver(
        choose(min_precision=0.6, sizes=[2, 4, 5]), judgements=VERDICTS.filter(pl.col("id") != "x1")
    )
    assert listed.select("rank", "id", "verdict").rows() == [
        (1, "x0", "+"), (2, "x1", None), (3, "x2", "+"), (4, "x3", "?"), (5, "x4", "-"),
    ]  # fmt: skip


def test_example_sentences_stand_beside_the_candidates() -> None:
    examples = pl.DataFrame({
        "id": ["x0", "x0", "x2"], "number": [1, 2, 1], "doc": "d", "draw_key": 1,
        "text": ["[[a]] [[b]]", "[[a]] c [[b]]", "[[d]] [[e]]"],
    })  # fmt: skip
    choice = choose(size=3)
    listed = deliver(choice, examples=examples)
    assert listed["example_1"].to_list() == ["[[a]] [[b]]", None, "[[d]] [[e]]"]
    given = {"ranks": RANKS, "candidates": UNITS, "examples": examples, "choice": choice}
    two = run_stage("sheet.list", {"folder": "out", "shown": 2}, **given)["list"]
    assert two["example_2"].to_list() == ["[[a]] c [[b]]", None, None]
    assert (
        "example_1" not in run_stage("sheet.list", {"folder": "out", "shown": 0}, **given)["list"]
    )


def test_lists_that_are_not_there() -> None:
    with pytest.raises(ConfigError, match=r"size: the longest lists have 8 .* fewer than 500"):
        choose(size=500)
    with pytest.raises(ConfigError, match="sizes: the longest lists have 8"):
        choose(sizes=[100, 500], min_precision=0.2)
    with pytest.raises(ValidationError, match="must be at least 1, not 0"):
        choose(sizes=[0, 2], min_precision=0.2)


def test_nothing_to_go_by() -> None:
    unknown = VERDICTS.with_columns(tp=pl.lit(None, pl.Boolean))
    with pytest.raises(ConfigError, match="no candidate in the lists of size 4 has been judged"):
        choose(unknown, size=4)
    none = VERDICTS.with_columns(tp=pl.lit(value=False))
    with pytest.raises(ConfigError, match="no true positives among the judged candidates"):
        choose(none, sizes=[2, 4], min_recall=0.5)


def test_a_list_with_holes_is_not_delivered() -> None:
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


def sure(judgements: pl.DataFrame = TOP, **config: Any) -> dict[str, pl.DataFrame]:
    given = {"guarantee": True} | config
    return run_stage("evaluate.choice", given, ranks=LONG, judgements=judgements)


def test_a_guaranteed_list_is_shorter_than_one_that_is_estimated_to_do() -> None:
    """90 of 120 are 75 %, and 90 of 100 are 90 % with a lower limit of 82.4 % at 2.5 %."""
    config: dict[str, Any] = {"sizes": [20, 100, 120], "min_precision": 0.7}
    made = sure(**config)
    assert made["choice"].select("measure", "n", "criterion").row(0) == (
        "a", 100, "min_precision = 0.7, guaranteed",
    )  # fmt: skip
    tests = made["guarantee"].select("measure", "n", "place", "tested", "passed").rows()
    assert tests == [
        ("a", 20, 1, True, True), ("a", 100, 2, True, True), ("a", 120, 3, True, False),
        ("b", 20, 1, True, False), ("b", 100, 2, False, False), ("b", 120, 3, False, False),
    ]  # fmt: skip
    plain = sure(**config, guarantee=False)
    assert plain["choice"]["n"].item() == 120
    assert plain["choice"]["criterion"].item() == "min_precision = 0.7"
    assert plain["guarantee"].is_empty()


def test_the_declared_order_counts() -> None:
    config: dict[str, Any] = {"min_precision": 0.7, "measures": ["a"]}
    assert sure(sizes=[100, 20, 20], **config)["guarantee"]["place"].to_list() == [2, 1]
    with pytest.raises(ConfigError, match="1 were tested"):
        sure(sizes=[120, 20], **config)


def test_how_near_a_guarantee_came() -> None:
    near = (
        r"no list is guaranteed to reach min_precision = 0.9: 2 were tested.* a at n = 100 with a lower "
        r"limit of 0.824 \(90 of 100\), b at n = 100 with a lower limit of 0.000 \(0 of 100\)"
    )
    with pytest.raises(ConfigError, match=near):
        sure(sizes=[100], min_precision=0.9)
    few = TOP.head(3)
    with pytest.raises(ConfigError, match="enough judged draws .3 at most. to guarantee 0.7"):
        sure(few, sizes=[100], min_precision=0.7)


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
def test_guarantees_that_cannot_be_given(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        sure(**config)


def test_a_guarantee_of_nothing() -> None:
    made = run_stage(
        "evaluate.choice", {"guarantee": True, "min_precision": 0.3}, ranks=RANKS.clear(),
        judgements=VERDICTS.clear(),
    )  # fmt: skip
    assert all(table.is_empty() for table in made.values())
