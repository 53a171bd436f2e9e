"""Designed samples as a stage: options, pilot, predictions, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

import pipeline as lx
from pipeline.errors import ConfigError
from pipeline.stages.base import STAGES
from pipeline.stages.collocations.score import ScoreAssociation
from schemas import Judgements, Ranks
from tests.stages.run_stage import SmallRun, run_stage

IDS = [f"x{i:02}" for i in range(60)]
SCORES = pl.DataFrame(
    {"id": IDS, "a": [float(-i) for i in range(60)], "b": [float(i % 7) for i in range(60)]}
)
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]
PILOT = pl.DataFrame(
    {
        "category": ["TP", "TP", "TP", "any", "TP"],
        "id": ["x00", "x01", "x02", "x00", "gone"],
        "tp": [True, False, None, True, True],
    },
    schema=Judgements.columns(),
)
P = pl.DataFrame({"id": IDS, "prediction": [0.5] * 30 + [0.02] * 30})


def design(ranks: pl.DataFrame = RANKS, **config: Any) -> dict[str, pl.DataFrame]:
    tables = {name: config.pop(name) for name in ("pilot", "assist") if name in config}
    options = {"cuts": [5, 20], "size": 12, "seed": "s"}
    return run_stage("sample.design", options | config, ranks=ranks, **tables)


def test_all_questions_are_answered_by_default() -> None:
    tables = design()
    assert tables["questions"]["question"].to_list() == [
        "a - b at 20", "a - b at 5", "a at 20", "a at 5", "b at 20", "b at 5", "baseline",
    ]  # fmt: skip
    assert tables["sample"].height == 12
    assert tables["inclusion"].height == 60
    assert tables["questions"].filter("worse")["question"].to_list() == ["baseline"]


def test_measures_and_pairs_can_be_selected() -> None:
    tables = design(measures=["a"], cuts=[5, 61], baseline=False)
    assert tables["questions"]["question"].to_list() == ["a at 5"]
    tables = design(pairs=[("b", "a")], cuts=[5], weights={"precision": 0, "baseline": 0})
    assert tables["questions"]["question"].to_list() == ["b - a at 5"]


def test_questions_of_a_pool_end_at_its_depth() -> None:
    pooled = run_stage(
        "score.pool", {"depth": 20, "measures": ["a", "b"]}, ranks=RANKS
    )["ranks"]  # fmt: skip
    tables = design(pooled, cuts=[5, 20, 25])
    assert set(tables["questions"]["n"]) == {5, 20, tables["inclusion"].height}
    assert tables["inclusion"].height == pooled["id"].n_unique()


def test_draws_depend_on_the_seed_and_not_on_the_row_order() -> None:
    assert design()["sample"].equals(design(RANKS.sample(fraction=1, shuffle=True))["sample"])
    assert not design()["sample"].equals(design(seed="t")["sample"])


def test_the_pilot_is_included_and_the_rest_drawn_anew() -> None:
    tables = design(pilot=PILOT)
    assert tables["sample"]["id"].head(3).sort().to_list() == ["x00", "x01", "x02"]
    assert tables["sample"]["certain"].head(3).all()
    assert tables["sample"].height == 15
    fresh = set(tables["sample"]["id"]) - set(design()["sample"]["id"])
    assert len(fresh - {"x00", "x01", "x02"}) > 0


def test_the_rate_changes_widths_and_not_draws() -> None:
    first, second = design(rate=0.5), design(rate=0.1)
    assert first["sample"]["id"].equals(second["sample"]["id"])
    narrower = second["questions"]["half_width"] / first["questions"]["half_width"]
    assert narrower.to_list() == pytest.approx([0.6] * 7)
    # of the pilot the category closest to one half: 2 of 3 in TP
    by_pilot, by_both = design(pilot=PILOT), design(pilot=PILOT, rate=2 / 3)
    assert by_pilot["questions"]["half_width"].to_list() == pytest.approx(
        by_both["questions"]["half_width"].to_list()
    )


def test_uncertain_predictions_attract_labels() -> None:
    only: dict[str, Any] = {"weights": {"difference": 0, "precision": 0}, "baseline_width": 10}
    assisted = design(assist=P, **only)["inclusion"]["pi"].to_numpy()
    assert assisted[0] / assisted[-1] == pytest.approx((0.25 / (0.02 * 0.98)) ** 0.5)
    alone = design(assist=P, assisted=False, **only)["inclusion"]["pi"].to_numpy()
    v = [0.25 + 0.24**2, 0.02 * 0.98 + 0.24**2]
    assert alone[0] / alone[-1] == pytest.approx((v[0] / v[1]) ** 0.5)


@pytest.mark.parametrize(
    ("assist", "message"),
    [
        (P.head(58), "2 of 60 candidates have no probability, for example x58, x59"),
        (P.with_columns(prediction=1.5), "60 of 60 candidates have no probability"),
        (P.rename({"prediction": "p"}), "no numeric column 'prediction', only id, p"),
    ],
)
def test_invalid_predictions_are_refused(assist: pl.DataFrame, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        design(assist=assist)


def test_judged_candidates_need_no_prediction() -> None:
    some = P.filter(~pl.col("id").is_in(["x00", "x01", "x02"]))
    assert design(assist=some, pilot=PILOT)["sample"].height == 15


SEVERAL = pl.concat(
    P.select(pl.lit("TP").alias("category"), pl.lit(name).alias("judge"), "id", prediction=p)
    for name, p in (("one", pl.col("prediction")), ("two", pl.lit(0.5)))
)


def test_predictions_of_one_judge_can_be_selected() -> None:
    assert design(assist=SEVERAL, judge="one")["sample"].equals(design(assist=P)["sample"])
    other = SEVERAL.with_columns(category=pl.lit("idiom"), prediction=pl.lit(0.5))
    both = pl.concat([SEVERAL, other])
    table = design(assist=both, judge="one", category="TP")
    assert table["inclusion"].equals(design(assist=P)["inclusion"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "60 candidates have several predictions, .* choose judge = 'one' or judge = 'two'"),
        ({"judge": "three"}, "there are no predictions for 'three'"),
        ({"judge": "one", "category": "svc"}, "there are no predictions for 'svc'"),
    ],
)
def test_of_several_judges_one_must_be_chosen(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        design(assist=SEVERAL, **options)


def test_choosing_a_judge_requires_a_column_of_judges() -> None:
    with pytest.raises(ConfigError, match="have no column judge"):
        design(assist=P, judge="one")
    with pytest.raises(ValidationError, match="judge requires assist"):
        design(judge="one")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model": True}, "require pilot"),
        ({"effects": ["l2"], "groups": "g"}, "effects require model"),
        ({"pilot_inclusion": "i"}, "pilot_inclusion requires pilot_sample"),
        ({"model": True, "pilot": "p", "rate": 0.3}, "either model or rate"),
        ({"category": "TP"}, "category requires assist or model"),
    ],
)
def test_invalid_options_of_a_model_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        run_stage("sample.design", {"cuts": [5], "size": 12, "seed": "s"} | config, ranks=RANKS)


def test_a_model_requires_a_pilot_of_one_category() -> None:
    with pytest.raises(ConfigError, match="the pilot has 2 categories: TP, any; name one"):
        design(pilot=PILOT, model=True)
    with pytest.raises(ConfigError, match="no category 'tp'"):
        design(pilot=PILOT, model=True, category="tp")
    with pytest.raises(ConfigError, match="the pilot has 2 judgements, fewer than 30"):
        design(pilot=PILOT, model=True, category="TP")


def test_a_larger_sample_starts_with_its_earlier_steps() -> None:
    tables = design(size=20, steps=[12])
    assert tables["sample"]["id"].head(12).to_list() == design()["sample"]["id"].to_list()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"steps": [12]}, r"steps must ascend from 1 and stay below size = 12, not \[12\]"),
        ({"steps": [5, 4]}, "ascend"),
        ({"steps": [0]}, "ascend from 1"),
        ({"floor": 1.0}, "less than 1"),
        ({"baseline_width": 0.9}, "greater than or equal to 1"),
        ({"assist": P, "rate": 0.2}, "either assist or rate"),
    ],
)
def test_invalid_options_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        design(**config)


def test_unknown_questions_are_refused() -> None:
    with pytest.raises(ConfigError, match="weights: no question or kind for 1 weight"):
        design(weights={"a at 7": 2.0})
    with pytest.raises(ConfigError, match="pairs: 'c' has not been ranked"):
        design(pairs=[("a", "c")])


def test_without_ranks_all_tables_are_empty() -> None:
    result = design(pl.DataFrame(schema=Ranks.columns()))
    assert all(table.is_empty() for table in result.values())


RUN = """seed = "s"
[stages.candidates]
use = "extract.table"
path = "pairs.tsv"
[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["mi", "t_score"]
[stages.ranks]
use = "score.rank"
scores = "scores"
[stages.judgements]
use = "join.table"
path = "pairs.tsv"
candidates = "candidates"
categories = { TP = "tp" }
[stages.sample]
use = "sample.design"
ranks = "ranks"
measures = ["t_score", "mi"]
cuts = [5]
size = 8
weights = { "t_score - mi at 5" = 3 }
"""


def pairs() -> dict[str, str]:
    rows = [f"a{i}\tb{i}\t{i + 1}\t{i + 9}\t{70 - i}\t999\t{i % 2}" for i in range(30)]
    return {"pairs.tsv": "\n".join(["l1\tl2\tf\tf1\tf2\tN\ttp", *rows, ""])}


def test_a_design_runs_in_an_experiment(tmp_path: Path) -> None:
    tables = SmallRun(tmp_path, pairs()).run(RUN)
    assert tables["sample.sample"].height == 8
    weight = tables["sample.questions"].filter(question="t_score - mi at 5")["weight"]
    assert weight.to_list() == [3.0]


def test_stages_for_simple_samples_refuse_a_designed_one(tmp_path: Path) -> None:
    wrong = """[stages.precision]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
"""
    with pytest.raises(ConfigError, match=r"but Sample is needed here; .*evaluate\.designed"):
        SmallRun(tmp_path, pairs()).run(RUN + wrong)


GROUPS = pl.DataFrame({"id": IDS, "l2": [f"v{i % 12:02}" for i in range(60)]})


def test_costs_take_shared_work_into_account() -> None:
    cost = {"group": "l2", "first": 10.0, "further": 1.0}
    options = {"cuts": [5, 20], "size": 12, "seed": "s", "groups": "candidates"}
    tables = run_stage("sample.design", options | {"cost": cost}, ranks=RANKS, groups=GROUPS)
    costs = {row["design"]: row for row in tables["costs"].iter_rows(named=True)}
    assert costs["priced"]["cost"] < costs["unpriced"]["cost"]
    assert costs["priced"]["groups"] < costs["unpriced"]["groups"]
    assert costs["priced"]["labels"] == pytest.approx(12)
    assert costs["simple"]["variance"] == pytest.approx(1)
    assert design()["costs"].is_empty()


def test_invalid_costs_are_refused() -> None:
    cost = {"group": "l2", "first": 10.0, "further": 1.0}
    with pytest.raises(ValidationError, match="together with cost or effects"):
        design(cost=cost)
    with pytest.raises(ValidationError, match="must not exceed"):
        design(cost=cost | {"further": 20.0})
    options = {"cuts": [5], "size": 12, "seed": "s", "groups": "candidates", "cost": cost}
    with pytest.raises(ValidationError, match="cannot be combined with steps"):
        run_stage("sample.design", options | {"steps": [5]}, ranks=RANKS, groups=GROUPS)
    with pytest.raises(ConfigError, match="1 of 60 candidates have no l2, for example x07"):
        run_stage(
            "sample.design", options, ranks=RANKS, groups=GROUPS.filter(pl.col("id") != "x07")
        )
    with pytest.raises(ConfigError, match="l2"):
        run_stage("sample.design", options, ranks=RANKS, groups=GROUPS.rename({"l2": "verb"}))


@pytest.mark.parametrize(
    ("measures", "seed"),
    [(["all", "random"], "s"), (["mi", "random"], "s"), (["all"], ""), (None, "")],
)
def test_the_seed_is_kept_only_if_it_is_used(measures: list[str] | None, seed: str) -> None:
    options = {"candidates": "c", "seed": "s"} | ({"measures": measures} if measures else {})
    assert ScoreAssociation.model_validate(options).seed == seed


def test_unknown_measures_are_reported() -> None:
    with pytest.raises(ValueError, match="unknown measure 'nonsense'"):
        ScoreAssociation.model_validate({"candidates": "c", "measures": ["nonsense"]})
    with pytest.raises(ValueError, match="measures"):
        ScoreAssociation.model_validate({"candidates": "c", "measures": 5})


# Active continuation: it is not a sample, and no estimate accepts it as one

REFIT = pl.DataFrame({
    "id": ["a", "b", "c", "d", "e"], "probability": [0.1, 0.9, 0.8, 0.7, 0.2],
    "measure": "combination", "refit_rank": [5, 1, 2, 3, 4], "tp": [None, True, None, None, False],
    "sampled": [False, True, False, False, True],
})  # fmt: skip


def active(size: int, **tables: pl.DataFrame) -> list[tuple[str, int]]:
    table = run_stage("sample.active", {"size": size}, refit=REFIT, **tables)["sample"]
    assert table["id"].is_sorted()
    return table.sort("position").select("id", "position").rows()


def test_the_most_probable_unjudged_candidates_are_next() -> None:
    assert active(2) == [("c", 1), ("d", 2)]
    assert active(9) == [("c", 1), ("d", 2), ("a", 3)]
    draws = pl.DataFrame({"id": ["b", "d", "e"], "multiplicity": 1, "position": [1, 2, 3],
                          "pi": 0.6, "stratum": "all"})  # fmt: skip
    assert active(2, sample=draws) == [("c", 1), ("a", 2)]  # d is drawn, and will be judged anyway


ACTIVE = """
name = "small"
[stages.candidates]
use = "extract.table"
path = "pairs.tsv"
[stages.judgements]
use = "join.table"
path = "pairs.tsv"
candidates = "candidates"
categories = { TP = "tp" }
[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["t_score", "mi"]
[stages.ranks]
use = "score.rank"
scores = "scores"
[stages.combined]
use = "score.combination"
ranks = "ranks"
candidates = "candidates"
judgements = "judgements"
[stages.next]
use = "sample.active"
refit = "combined.refit"
size = 5
[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "next"
labels = ["yes", "no"]
folder = "next"
"""
SAMPLED = [
    name
    for name in STAGES
    if name.startswith("evaluate.")
    and {"ranks", "sample"} <= set(STAGES.get(name).config.model_fields)
]


def check_experiment(tmp_path: Path, further: str = "") -> None:
    for name, text in (pairs() | {"active.toml": ACTIVE + further}).items():
        (tmp_path / name).write_text(text)
    lx.check(tmp_path / "active.toml", runs=tmp_path)


@pytest.mark.parametrize("use", [*SAMPLED, "score.combination"])
def test_no_estimate_accepts_the_continuation_as_a_sample(use: str, tmp_path: Path) -> None:
    wrong = f"""[stages.wrong]
use = "{use}"
ranks = "ranks"
judgements = "judgements"
sample = "next"
"""
    with pytest.raises(
        ConfigError, match=r"stages\.wrong\.sample: .* not drawn at random"
    ) as error:
        check_experiment(tmp_path, wrong)
    assert "would accept it" not in str(error.value)


def test_a_sheet_accepts_the_continuation(tmp_path: Path) -> None:
    check_experiment(tmp_path)


def test_a_choice_from_a_designed_sample_is_refused(tmp_path: Path) -> None:
    wrong = """[stages.choice]
use = "evaluate.choice"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
size = 5
"""
    message = (
        r"different chances: evaluate\.designed estimates from them; choose measure and list size"
    )
    with pytest.raises(ConfigError, match=message):
        SmallRun(tmp_path, pairs()).run(RUN + wrong)
