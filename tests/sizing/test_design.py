"""Precisions on both sides of a difference, and looks as numbers or rates."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from pipeline.errors import ConfigError, NotMadeYet
from pipeline.kernels.survey.design import inclusion
from pipeline.kernels.survey.planning import PLANS
from pipeline.sizing.design import (
    COLUMNS,
    RHO2,
    TOGETHER,
    Assumptions,
    Goal,
    Planner,
    QuestionOverrides,
    added_questions,
    curves,
    look_times,
    prepare_plans,
    question_table,
    sides_apart,
)
from pipeline.sizing.output import design_options, options_text, wide
from pipeline.stages.collocations.sample import SampleDesign, sample_design
from tests.kernels.survey.slow import sets_of
from tests.sizing.design_experiment import COUNT, STAGES, write

SETS = sets_of({"x": [1, 2, 3, 4, 5, 6], "y": [6, 5, 1, 2, 3, 4]}, [("x", "y")], [2, 4])


@given(
    precision=st.lists(st.floats(0, 1), min_size=9, max_size=9),
    difference=st.floats(0.01, 0.9),
)
def test_precisions_of_the_sides_have_the_difference(
    precision: list[float], difference: float
) -> None:
    """|D| is 2 of 2 and 2 of 4."""
    apart, result = sides_apart(SETS, np.array(precision), 2, difference)
    np.testing.assert_array_equal(apart[:4], precision[:4])
    for place, (share, one, two) in enumerate([(1.0, 4, 6), (0.5, 5, 7)]):
        middle = (precision[one] + precision[two]) / 2
        fits = middle - difference / share / 2 >= 0 and middle + difference / share / 2 <= 1
        if fits:
            assert share * (apart[one] - apart[two]) == pytest.approx(difference)
            assert (apart[one] + apart[two]) / 2 == pytest.approx(middle)
        near = min(abs(middle - difference / share / 2), abs(middle + difference / share / 2 - 1))
        if near > 1e-9:
            assert result[place] == (difference if fits else 0.0)


def test_differences_of_a_pilot_are_unchanged() -> None:
    precision = np.array([0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.4, 0.9, 0.5])
    same, result = sides_apart(SETS, precision, 2, None)
    assert same is precision
    np.testing.assert_allclose(result, [0.2, 0.1])


def test_without_pairs_there_are_no_differences() -> None:
    alone = sets_of({"x": [1, 2, 3]}, [], [2])
    assert sides_apart(alone, np.full(2, 0.5), 0, 0.1)[1].tolist() == []


def test_a_single_look_has_no_plan() -> None:
    assert look_times([0.5, 1], "pocock").shares == (0.5, 1.0)  # type: ignore[union-attr]  # two
    assert look_times([1.0], "pocock") is None


# Labels for declared questions: the columns of the table, and minimality of the labels.

NAMES = [
    "mi at 40", "mi at 100", "t_score at 40", "t_score at 100", "mi - t_score at 40",
    "mi - t_score at 100", "baseline",
]  # fmt: skip


@pytest.fixture(scope="module")
def done_designs(tmp_path_factory: pytest.TempPathFactory) -> lx.Run:
    folder = tmp_path_factory.mktemp("designs")
    return lx.run(write(folder), runs=folder / "runs", report=False)


def plans(run: lx.Run, goal: Goal, **more: Any) -> Planner:
    rate = more.pop("rate", 0.3)
    how: dict[str, Any] = {"questions": (), "pilot": None, "category": None, **more}
    return prepare_plans(
        run, QuestionOverrides(), goal, Assumptions(rate=None if how["pilot"] else rate), **how
    )


@pytest.mark.long
def test_the_plan_has_a_row_for_each_question(done_designs: lx.Run) -> None:
    table = lx.plan_design(done_designs, half_width=0.1, rate=0.3)
    assert dict(table.schema) == COLUMNS
    for plan in PLANS:
        for looks in (1, 4):
            rows = table.filter(plan=plan, looks=looks)
            assert rows["question"].to_list() == [*NAMES, TOGETHER]
            own, whole = rows.head(7), rows.row(-1, named=True)
            assert whole["labels"] == own["labels"].max()
            assert own.filter("hardest")["labels"].unique().to_list() == [whole["labels"]]
            assert own["labels"].is_between(1, COUNT).all()
            assert (own["reached"] <= 0.1).all()
    assert table.filter(kind="precision")["expected"].unique().to_list() == [0.3]
    together = dict(table.filter(question=TOGETHER, looks=1).select("plan", "labels").rows())
    assert together["designed"] < together["simple"]
    assert together["assisted"] <= together["designed"]


@pytest.mark.parametrize("how", [{"half_width": 0.07}, {"difference": 0.2}])
def test_one_label_less_misses_the_target(done_designs: lx.Run, how: dict[str, float]) -> None:
    table = lx.plan_design(done_designs, rate=0.3, **how)  # type: ignore[arg-type]  # options of one type
    plan = plans(done_designs, Goal(**how))
    for row in table.filter((pl.col("looks") == 1) & pl.col("kind").is_not_null()).rows(named=True):
        place = NAMES.index(row["question"])
        levels = np.full(len(NAMES), 0.05)
        is_met = [plan.target.is_met(plan.at[row["plan"]](row["labels"] - less), levels)[place]
                  for less in (0, 1)]  # fmt: skip
        assert is_met == [True, False]


def test_looks_require_more_labels(done_designs: lx.Run) -> None:
    for spending in ("obrien_fleming", "pocock"):
        table = lx.plan_design(
            done_designs, half_width=0.1, rate=0.3, looks=[0.3, 1], spending=spending
        )
        once, twice = (table.filter(looks=looks) for looks in (1, 2))
        assert (twice["labels"] >= once["labels"]).all()
        assert (twice["level"].drop_nulls() < 0.05).any()
    alone = lx.plan_design(done_designs, half_width=0.1, rate=0.3, looks=[1])
    assert alone["looks"].unique().to_list() == [1]
    assert alone.equals(once)


def test_only_named_questions_are_planned(done_designs: lx.Run) -> None:
    table = lx.plan_design(
        done_designs, half_width=0.1, rate=0.3, questions=["mi at 40", "baseline"]
    )
    assert table.filter(plan="simple", looks=1)["question"].to_list() == [
        "mi at 40", "baseline", TOGETHER,
    ]  # fmt: skip
    every = lx.plan_design(done_designs, half_width=0.1, rate=0.3)
    both = table.join(every, on=["plan", "looks", "question"]).filter(looks=1)
    simple = both.filter(plan="simple").head(2)
    assert simple["labels"].equals(simple["labels_right"], check_names=False)
    fewer = both.filter(plan="designed").select(pl.col("labels") < pl.col("labels_right"))
    assert fewer.to_series().to_list() == [True, True, True]


@pytest.mark.parametrize("change", [
    {"questions": ["mi - t_score at 100"]}, {"questions": ["mi at 40", "difference"]}, {},
    {"questions": ["t_score at 100", "mi at 40"]}, {"questions": ["baseline"]},
    {"n": [50, 90], "questions": ["mi at 50", "baseline"]}, {"measures": ["mi"], "n": [70]},
    {"questions": ["mi at 40", "mi at 100", "mi - t_score at 40"]},
    {"weights": {"mi at 40": 9.0, "difference": 0.0}, "floor": 0.2}, {"baseline_width": 1.1},
    {"weights": {"precision": 4.0, "mi at 40": 1.0, "baseline": 2.0}, "questions": ["precision"]},
    {"baseline": False, "weights": {"t_score at 40": 0.5, "mi at 100": 0.0}},
])  # fmt: skip
def test_the_stage_draws_the_planned_sample(done_designs: lx.Run, change: dict[str, Any]) -> None:
    """Inclusion probabilities of the stage with the printed options are those of the plan."""
    change = dict(change)
    overrides = QuestionOverrides(
        measures=tuple(change.pop("measures", ())), n=tuple(change.pop("n", ()))
    )
    questions = change.pop("questions", ())
    run = configure(done_designs, change)
    plan = prepare_plans(
        run, overrides, Goal(0.1), Assumptions(0.3), questions=questions, pilot=None, category=None
    )
    options = tomllib.loads(options_text(design_options(plan, 60)))
    assert options.pop("size") == 60
    config = SampleDesign(ranks="ranks", size=60, seed="s", **options)
    tables: Any = sample_design(config, {"ranks": done_designs.table("ranks").lazy()})
    table = tables["inclusion"].lazy().collect()
    planned = pl.DataFrame({"id": plan.selection.sets.ids, "x": plan.x["designed"]})
    both = planned.join(table, on="id", how="left", maintain_order="left")
    np.testing.assert_allclose(both["pi"], inclusion(both["x"].to_numpy(), size=60), atol=1e-9)


def configure(run: lx.Run, change: dict[str, Any]) -> lx.Run:
    """Return the results with other options of the stage that designs the sample."""
    nodes = dict(run.project.nodes)
    config = nodes["designed"].config.model_copy(update=change)
    nodes["designed"] = replace(nodes["designed"], config=config)
    return replace(run, project=replace(run.project, nodes=nodes))


@pytest.mark.parametrize(("goal", "questions"), [
    (Goal(0.1), ("mi at 40", "baseline")), (Goal(0.08), ()), (Goal(difference=0.2), ()),
    (Goal(difference=0.15), ("mi - t_score at 100",)),
])  # fmt: skip
def test_added_questions_are_planned_together(
    done_designs: lx.Run, goal: Goal, questions: tuple[str, ...]
) -> None:
    """Each row equals a separate plan of the questions up to it."""
    plan = plans(done_designs, goal, questions=questions)
    added = added_questions(plan)
    names = added["question"].to_list()
    own = plan.selection.questions.filter(pl.Series(plan.mask))["question"].to_list()
    assert set(names[: len(own)]) == set(own)
    assert added["asked"].to_list() == [True] * len(own) + [False] * (len(names) - len(own))
    assert set(names) == set(NAMES if goal.half_width else NAMES[4:6])
    for place, row in enumerate(added.iter_rows(named=True)):
        for group, column in (([row["question"]], "alone"), (names[: place + 1], "labels")):
            one = plans(done_designs, goal, questions=group)
            assert question_table(one, "designed", None)["labels"][-1] == row[column]


def test_an_unanswerable_question_is_not_added(done_designs: lx.Run) -> None:
    ranks = done_designs.table("ranks")
    best = [set(ranks.filter(pl.col("rank") <= 100, measure=m)["id"]) for m in ("mi", "t_score")]
    share = len(best[0] - best[1]) / 100
    added = added_questions(plans(done_designs, Goal(difference=share + 0.01), rate=0.5))
    assert added["question"].to_list() == ["mi - t_score at 40", "mi - t_score at 100"]
    assert added["labels"].is_null().to_list() == [False, True]
    assert added["alone"][1] is None


@pytest.mark.parametrize(("more", "rho2", "judged"), [
    ({}, RHO2, 0), ({"rho2": 0.1}, 0.1, 0), ({"rho2": 0.1, "pilot": "answers"}, 0.1, 0),
    ({"pilot": "answers"}, None, 120),
])  # fmt: skip
def test_predictions_give_an_estimate_or_a_range(
    done_designs: lx.Run, more: dict[str, Any], rho2: float | None, judged: int
) -> None:
    table = lx.plan_design(done_designs, half_width=0.1, looks=[1], **more)
    rows = table.filter(plan="assisted")
    assert rows["rho2_judged"].unique().to_list() == [judged]
    assert rho2 is None or rows["rho2"].to_numpy() == pytest.approx(rho2)
    assert (
        table.filter(pl.col("plan") != "assisted")["rho2", "rho2_judged"].null_count().row(0)
        == (table.height - rows.height,) * 2
    )
    least, most = (table.filter(plan=p)["labels"].to_list() for p in ("assisted", "designed"))
    assert all(a <= b for a, b in zip(least, most, strict=True))
    values = wide(table)["with predictions"].to_list()
    ranges = [f"{a:,} to {b:,}" if a < b else f"{a:,}" for a, b in zip(least, most, strict=True)]
    assert values == (least if judged else ranges)


def test_questions_of_the_command_replace_those_of_the_stage(done_designs: lx.Run) -> None:
    table = lx.plan_design(done_designs, half_width=0.1, measures=["mi"], n=[50])
    assert table.equals(lx.plan_design(done_designs, half_width=0.1, measures="mi", n=[50]))
    assert table.filter(plan="simple", looks=1)["question"].to_list() == [
        "mi at 50", "baseline", TOGETHER,
    ]  # fmt: skip
    assert table["expected"].drop_nulls().unique().to_list() == [0.5]


def test_an_experiment_without_a_design_can_be_planned(tmp_path: Path) -> None:
    path = write(tmp_path, stages="")
    run = lx.run(path, runs=tmp_path / "runs", report=False)
    with pytest.raises(ConfigError, match="no stage of the experiment designs a sample.*--cuts"):
        lx.plan_design(run, half_width=0.1)
    table = lx.plan_design(run, half_width=0.1, n=[40], pairs=[("t_score", "mi")])
    assert table.equals(lx.plan_design(run, half_width=0.1, n=[40], pairs=("t_score", "mi")))
    with pytest.raises(ConfigError, match=r"pairs: \('mi',\) is not a pair of measures"):
        lx.plan_design(run, half_width=0.1, n=[40], pairs=[("mi",)])  # type: ignore[list-item]  # on purpose
    assert "t_score - mi at 40" in table["question"].to_list()


def test_a_pilot_provides_precisions_and_differences(done_designs: lx.Run) -> None:
    table = lx.plan_design(done_designs, half_width=0.1, pilot="answers")
    estimates = done_designs.table("answers.cuts")
    for row in estimates.iter_rows(named=True):
        name = f"{row['measure']} at {row['n']}"
        values = table.filter(question=name, plan="simple", looks=1)["expected"].item()
        assert values == pytest.approx(row["precision"], abs=0.5 / (row["n_sampled"] + 1))
    prepared = plans(done_designs, Goal(0.1), pilot="answers")
    assert (prepared.expectations.rho2 > 0).all()
    assert len(np.unique(prepared.expectations.rho2)) > 1
    assumed = lx.plan_design(done_designs, half_width=0.1, pilot="answers", rho2=0.0)
    both = [assumed.filter(plan=plan)["labels"].to_list() for plan in ("designed", "assisted")]
    assert both[0] == both[1]


def test_full_annotation_can_be_the_pilot(done_designs: lx.Run) -> None:
    table = lx.plan_design(done_designs, power=0.8, pilot="judgements")
    true = dict(done_designs.table("judgements").select("id", "tp").iter_rows())
    best = {
        m: set(done_designs.table("ranks").filter(pl.col("rank") <= 40, measure=m)["id"])
        for m in ("mi", "t_score")
    }
    apart = (sum(true[i] for i in best["mi"]) - sum(true[i] for i in best["t_score"])) / 40
    values = table.filter(question="mi - t_score at 40", plan="simple", looks=1)["expected"].item()
    assert values == pytest.approx(abs(apart), abs=0.02)  # drawn to the mean a little
    assert table["kind"].drop_nulls().unique().to_list() == ["difference"]
    assert (table["reached"].drop_nulls() >= 0.8).all()


@pytest.mark.long
def test_a_pilot_too_small_for_predictions_leaves_a_range(tmp_path: Path) -> None:
    path = write(tmp_path, judged=60)
    run = lx.run(path, runs=tmp_path / "runs", report=False)
    assert (
        run.table("designed")
        .join(run.table("judgements").drop_nulls("tp"), on="id", how="semi")
        .height
        < 30
    )
    plan = plans(run, Goal(0.1), pilot="answers")
    assert set(plan.expectations.rho2) == {RHO2}
    assert plan.judged == 0


def test_shared_candidates_limit_the_difference(done_designs: lx.Run) -> None:
    ranks = done_designs.table("ranks")
    best = [set(ranks.filter(pl.col("rank") <= 100, measure=m)["id"]) for m in ("mi", "t_score")]
    share = len(best[0] - best[1]) / 100
    table = lx.plan_design(done_designs, difference=min(0.99, share + 0.01), rate=0.5)
    rows = table.filter(question="mi - t_score at 100")
    assert rows["labels"].null_count() == rows.height
    assert table.filter(question=TOGETHER)["labels"].null_count() == 10
    with pytest.raises(
        ConfigError, match=r"all 300 candidates are not enough for any of 2.*smaller"
    ):
        lx.plan_design(done_designs, difference=0.99, rate=0.5)


def test_curves_reach_the_target_at_the_planned_labels(done_designs: lx.Run) -> None:
    prepared = plans(done_designs, Goal(0.1))
    table = lx.plan_design(done_designs, half_width=0.1, rate=0.3)
    for plan in PLANS:
        labels = table.filter(plan=plan, looks=1, question=TOGETHER)["labels"].item()
        result = curves(prepared, [labels - 1, labels]).filter(plan=plan)["y"].to_list()
        assert result[0] > 0.1 >= result[1]


@pytest.mark.parametrize(("change", "message"), [
    ({}, "no target is given"), ({"half_width": 5.0}, "half_width: 5 is not between"),
    ({"half_width": 0.1, "power": 0.8}, "cannot be combined with power"),
    ({"power": 0.8}, "difference: no difference to detect; e.g. 0.05, or name a pilot"),
    ({"difference": 0.1, "questions": ["baseline"]}, "none of the 7 questions is about a difference"),
    ({"half_width": 0.1, "questions": ["mi at 41"]}, "did you mean mi at 40"),
    ({"half_width": 0.1, "measures": ["m"]}, "'m' has not been ranked; did you mean mi"),
    ({"half_width": 0.1, "pairs": [("mi", "dice")]}, "'dice' has not been ranked"),
    ({"half_width": 0.1, "pairs": [("mi", "mi")]}, "compared with itself"),
    ({"half_width": 0.1, "n": [301]}, "no list of 301 among 300"),
    ({"half_width": 0.1, "design": "design"}, "did you mean designed"),
    ({"half_width": 0.1, "rate": 30.0}, "rate: 30 is not between"),
    ({"half_width": 0.1, "rho2": 1.5}, "rho2: 1.5 is not between 0 and 1"),
    ({"half_width": 0.1, "rate": 0.3, "pilot": "answers"}, "rate: cannot be combined with a pilot"),
    ({"half_width": 0.1, "pilot": "ranks"}, "no stage 'ranks' with judgements"),
    ({"half_width": 0.1, "pilot": "replaced"}, "drawn with replacement"),
    ({"half_width": 0.1, "pilot": "answers", "category": "SVC"}, "unknown category 'SVC'"),
    ({"half_width": 0.1, "looks": [0.5, 0.4, 1]}, "looks: 0.5, 0.4, 1: shares of the labels must increase"),
    ({"half_width": 0.1, "looks": [0.5]}, "must increase to 1"),
    ({"half_width": 0.1, "spending": "pocok"}, "spending: unknown 'pocok'; did you mean pocock"),
])  # fmt: skip
def test_invalid_options_are_refused(
    done_designs: lx.Run, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        lx.plan_design(done_designs, **change)
    assert message in str(caught.value)


TINY = """
[stages.one]
use = "sample.random"
candidates = "candidates"
size = 1

[stages.tiny]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
sample = "one"
"""


@pytest.mark.long
def test_a_pilot_without_judgements_is_refused(tmp_path: Path) -> None:
    run = lx.run(write(tmp_path, judged=0), runs=tmp_path / "runs", report=False)
    with pytest.raises(ConfigError, match="answers: no judgements yet; fill in its sheet"):
        lx.plan_design(run, half_width=0.1, pilot="answers")
    path = write(tmp_path, stages=STAGES + TINY, judged=1)
    other = lx.run(path, runs=tmp_path / "runs", report=False)
    with pytest.raises(ConfigError, match="tiny: none of its 1 candidates is judged; fill in"):
        lx.plan_design(other, half_width=0.1, pilot="tiny")
    part = lx.run(write(tmp_path, judged=9), runs=tmp_path / "runs", report=False)
    with pytest.raises(ConfigError, match="9 of 300 candidates are judged, but not as a random"):
        lx.plan_design(part, half_width=0.1, pilot="judgements")


def test_planning_without_ranks_is_refused(tmp_path: Path) -> None:
    run = lx.show(write(tmp_path), runs=tmp_path / "runs")
    with pytest.raises(NotMadeYet, match="ranks"):
        lx.plan_design(run, half_width=0.1)


@pytest.mark.long
def test_of_several_designs_one_must_be_named(tmp_path: Path) -> None:
    more = STAGES + STAGES.split("[stages.answers]")[0].replace("designed]", "second]")
    run = lx.run(write(tmp_path, stages=more), runs=tmp_path / "runs", report=False)
    with pytest.raises(ConfigError, match="2 stages design samples: designed, second"):
        lx.plan_design(run, half_width=0.1)
    assert lx.plan_design(run, half_width=0.1, design="second").height > 0


def test_curves_of_unreachable_targets_have_a_power_of_0(done_designs: lx.Run) -> None:
    ranks = done_designs.table("ranks")
    best = [set(ranks.filter(pl.col("rank") <= 100, measure=m)["id"]) for m in ("mi", "t_score")]
    plan = plans(done_designs, Goal(difference=len(best[0] - best[1]) / 100 + 0.01), rate=0.5)
    assert set(curves(plan, [50, COUNT])["y"]) == {0.0}


@pytest.mark.long
def test_weights_of_the_stage_are_used(tmp_path: Path) -> None:
    more = STAGES.replace(
        "size = 120\n", 'size = 120\nbaseline = false\nweights = { "mi at 40" = 9.0 }\n', 1
    )
    run = lx.run(write(tmp_path, stages=more), runs=tmp_path / "runs", report=False)
    table = lx.plan_design(run, half_width=0.1, rate=0.3)
    assert table["question"].unique().sort().to_list() == sorted([*NAMES[:-1], TOGETHER])
    other = lx.plan_design(run, half_width=0.1, rate=0.3, n=[40], questions=["mi at 40"])
    assert other["labels"].null_count() == 0
    alone = lx.plan_design(run, half_width=0.1, rate=0.3, n=[50], measures=["mi", "t_score"])
    assert "mi at 40" not in alone["question"].to_list()
