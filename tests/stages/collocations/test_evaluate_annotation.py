"""From annotations to agreement, average precision and evaluated judges."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from schemas import GoldCoverage, Judgements, Predictions
from tests.stages.run_stage import run_stage

ANNOTATIONS = pl.DataFrame({
    "id": ["x", "y", "z"] * 2, "annotator": ["ann"] * 3 + ["bob"] * 3,
    "label": ["svc", "no", "fig", "svc", "no", "svc"], "note": None,
}, schema_overrides={"note": pl.String})  # fmt: skip
CONFIG = {"seed": "s", "categories": {"TP": ["svc", "fig"]}, "replicates": 50}


def test_agreement_and_disagreements_are_computed() -> None:
    tables = run_stage("evaluate.agreement", CONFIG, annotations=ANNOTATIONS)
    kappa = tables["agreement"].filter(coefficient="cohen_kappa", method="analytic")
    assert kappa.select("category", "items", "estimate").rows() == [
        ("*", 3, pytest.approx(0.5)), ("TP", 3, 1.0),
    ]  # fmt: skip
    assert tables["disagreements"].rows() == [("z", "ann", "fig"), ("z", "bob", "svc")]


def test_ac1_depends_on_the_offered_labels() -> None:
    """P = 2/3, shares 1/2, 1/3, 1/6: P_e = 11/18 / (q - 1)."""
    offered = pl.DataFrame({"label": ["svc", "no", "fig", "free", "unclear"]})
    for tables, chance in (({}, 11 / 36), ({"labels": offered}, 11 / 72)):
        table = run_stage("evaluate.agreement", CONFIG, annotations=ANNOTATIONS, **tables)[
            "agreement"
        ]
        row = table.filter(category="*", coefficient="gwet_ac1", annotator_1="*").row(0, named=True)
        assert row["estimate"] == pytest.approx((2 / 3 - chance) / (1 - chance))


def test_ac2_counts_near_labels_of_a_scale_in_part() -> None:
    """Worked by hand: fig and svc are neighbours of four labels, so they agree by 2/3 or 8/9."""
    scale = ["no", "fig", "svc", "idiom"]
    mean = np.array([1 / 3, 1 / 6, 1 / 2, 0.0])
    for closeness, near in (("linear", 2 / 3), ("quadratic", 8 / 9)):
        options = CONFIG | {"scale": scale, "closeness": closeness}
        table = run_stage("evaluate.agreement", options, annotations=ANNOTATIONS)["agreement"]
        steps = np.abs(np.subtract.outer(range(4), range(4))) / 3
        close = 1 - steps ** (1 if closeness == "linear" else 2)
        chance = close.sum() / 12 * (mean * (1 - mean)).sum()
        expected = ((2 + near) / 3 - chance) / (1 - chance)
        for pair in (("*", "*"), ("ann", "bob")):
            rows = table.filter(coefficient="gwet_ac2", annotator_1=pair[0], annotator_2=pair[1])
            assert rows.select("category", "method").rows() == [
                ("*", "analytic"), ("*", "bootstrap"),
            ]  # fmt: skip
            assert rows["estimate"].to_list() == pytest.approx([expected] * 2)
    plain = run_stage("evaluate.agreement", CONFIG, annotations=ANNOTATIONS)["agreement"]
    assert "gwet_ac2" not in plain["coefficient"]


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (["no", "svc"], "scale: lacks 1 label: 'fig'; name all labels, from one end to the other"),
        (["no", "fig", "svc", "no"], "scale: names a label twice"),
    ],
)
def test_a_scale_without_all_labels_is_refused(scale: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run_stage("evaluate.agreement", CONFIG | {"scale": scale}, annotations=ANNOTATIONS)


def test_without_annotations_there_is_no_agreement() -> None:
    tables = run_stage("evaluate.agreement", CONFIG, annotations=ANNOTATIONS.clear())
    assert tables["agreement"]["items"].unique().to_list() == [0]
    assert tables["disagreements"].is_empty()


def test_a_reserved_name_of_a_category_is_refused() -> None:
    with pytest.raises(ValidationError, match="is the name for the labels themselves"):
        run_stage("evaluate.agreement", {"categories": {"*": ["svc"]}}, annotations=ANNOTATIONS)


def test_a_single_annotator_and_unused_labels_are_refused() -> None:
    alone = ANNOTATIONS.filter(pl.col("annotator") == ANNOTATIONS["annotator"][0])
    with pytest.raises(ConfigError, match="only one annotator"):
        run_stage("evaluate.agreement", CONFIG, annotations=alone)
    wrong = CONFIG | {"categories": {"SVC": ["scv"]}}
    with pytest.raises(ConfigError, match="nobody used the label scv"):
        run_stage("evaluate.agreement", wrong, annotations=ANNOTATIONS)


# The average precision of rankings from samples of several kinds

USE = "evaluate.average_precision"
IDS = [f"x{i}" for i in range(10)]
SCORES = pl.DataFrame({"id": IDS, "a": [float(-i) for i in range(10)], "b": [1.0] * 10})
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]
TP = [True, False, False, True, False, True, False, True, False, True]
ALL = pl.DataFrame({"category": "TP", "id": IDS, "tp": TP})
DRAWN_PLACES = [0, 2, 3, 5, 6, 8, 9]
SAMPLE = pl.DataFrame({
    "id": [IDS[i] for i in DRAWN_PLACES], "multiplicity": 1, "position": range(1, 8),
})  # fmt: skip


def average_precision_of(**options: Any) -> pl.DataFrame:
    config = options.pop("config", {"measures": ["a"]})
    return run_stage(USE, config, **({"ranks": RANKS, "judgements": ALL} | options))[
        "average_precision"
    ]


def test_a_simple_sample_has_the_published_value() -> None:
    row = average_precision_of(sample=SAMPLE).row(0, named=True)
    assert row["average_precision"] == pytest.approx(0.7243053, abs=5e-8)
    assert (row["n_candidates"], row["n_sampled"], row["k_sampled"]) == (10, 7, 4)


def test_full_annotation_gives_the_exact_value() -> None:
    row = average_precision_of().row(0, named=True)
    exact = (1 + 2 / 4 + 3 / 6 + 4 / 8 + 5 / 10) / 5
    values = [row[name] for name in ("average_precision", "lower", "upper")]
    assert values == pytest.approx([exact] * 3)
    assert average_precision_of(config={})["measure"].to_list() == ["a", "b"]


def list_coverage(n_true: int, n_unmatched: int, category: str = "TP") -> pl.DataFrame:
    """Return the coverage of a list by its candidates."""
    counts = dict.fromkeys(GoldCoverage.columns(), 0)
    counts |= {"n_candidates": n_true, "n_judged": n_true, "n_true": n_true, "n_matched": n_true,
               "n_unmatched": n_unmatched, "n_entries": n_true + n_unmatched}  # fmt: skip
    return pl.DataFrame([counts | {"category": category}], schema=GoldCoverage.columns())


def test_recall_may_limit_or_index_precision() -> None:
    config = {"measures": ["a"], "recall": 0.5, "at_recall": [0.2, 1.0]}
    tables = run_stage(USE, config, ranks=RANKS, judgements=ALL)
    row = tables["average_precision"].row(0, named=True)
    assert row["average_precision"] == pytest.approx((1 + 2 / 4 + 3 / 6) / 3)
    assert (row["recall"], row["base"], row["positives"]) == (0.5, "ranked", 5)
    assert tables["at_recall"].select("recall", "n", "precision").rows() == [
        (0.2, 1, 1.0), (1.0, 10, 0.5),
    ]  # fmt: skip


@pytest.mark.parametrize(("base", "positives"), [("gold", 9), ("candidates", 6)])
def test_recall_may_refer_to_a_list(base: str, positives: int) -> None:
    config = {"measures": ["a"], "base": base}
    row = average_precision_of(config=config, positives=list_coverage(6, 3)).row(0, named=True)
    assert row["average_precision"] == pytest.approx(3 / positives)
    assert (row["base"], row["positives"]) == (base, positives)


def test_unsuitable_bases_of_recall_are_refused() -> None:
    with pytest.raises(ConfigError, match="5 ranked candidates are true positives of 'TP', but"):
        average_precision_of(positives=list_coverage(3, 1))
    with pytest.raises(ConfigError, match="there is no category 'TP'; did you mean TPs"):
        average_precision_of(positives=list_coverage(6, 1, "TPs"))
    with pytest.raises(ValidationError, match="base requires positives"):
        average_precision_of(config={"base": "candidates"})


@pytest.mark.parametrize("option", ["recall", "at_recall", "positives"])
@pytest.mark.parametrize("how", ["sample", "judgements"])
def test_recall_requires_full_annotation(option: str, how: str) -> None:
    inputs: dict[str, Any] = {"sample": SAMPLE} if how == "sample" else {"judgements": ALL.head(7)}
    options: dict[str, dict[str, Any]] = {
        "recall": {"config": {"recall": 0.5}},
        "at_recall": {"config": {"at_recall": [0.5]}},
        "positives": {"positives": list_coverage(9, 9)},
    }
    message = f"3 of 10 have none in category 'TP'; omit {option}; after join.gold"
    with pytest.raises(ConfigError, match=message):
        average_precision_of(**inputs, **options[option])


def test_a_subset_of_the_candidates_may_be_ranked() -> None:
    some = pl.DataFrame({"id": IDS[::2]})
    ranks = run_stage("score.rank", {"seed": "s"}, scores=SCORES, candidates=some)["ranks"]
    assert ranks.filter(measure="a").select("rank", "id").rows() == list(enumerate(IDS[::2], 1))
    with pytest.raises(ConfigError, match="none of these candidates has scores, for example y"):
        run_stage("score.rank", {}, scores=SCORES, candidates=pl.DataFrame({"id": ["y"]}))


def test_inclusion_probabilities_weight_the_draws() -> None:
    chances = [1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25]
    designed = SAMPLE.with_columns(pi=pl.Series(chances), stratum=pl.lit("all"))
    row = average_precision_of(sample=designed).row(0, named=True)
    assert row["unequal"]
    assert row["average_precision"] != pytest.approx(0.7243, abs=1e-3)
    same = SAMPLE.with_columns(pi=pl.lit(0.7))
    assert average_precision_of(sample=same).rows()[0] == pytest.approx(
        average_precision_of(sample=SAMPLE).rows()[0]
    )


def test_a_candidate_drawn_twice_counts_once() -> None:
    again = SAMPLE.with_columns(multiplicity=pl.lit(2))
    assert average_precision_of(sample=again).equals(average_precision_of(sample=SAMPLE))


@pytest.mark.parametrize("size", [49, 98, 103])
@pytest.mark.parametrize("how", ["all", "random", "with_replacement", "judged", "design"])
def test_full_annotation_has_no_uncertainty(size: int, how: str) -> None:
    """True positives at ranks 1 and 8 of any number: (1 + 2/8) / 2."""
    ids = [f"x{i:03}" for i in range(size)]
    scores = pl.DataFrame({"id": ids, "a": [float(-i) for i in range(size)]})
    ranks = run_stage("score.rank", {"seed": "s"}, scores=scores)["ranks"]
    frame = pl.DataFrame({"category": "TP", "id": ids, "tp": [i in {0, 7} for i in range(size)]})
    sample: dict[str, pl.DataFrame] = {}
    match how:
        case "random" | "with_replacement":
            sample = run_stage("sample.random", {"rate": 1.0, "seed": "s"}, candidates=scores)
        case "judged":
            sample = run_stage("sample.judged", {}, candidates=scores, judgements=frame)
        case "design":
            sample = run_stage("sample.design", {"size": size, "cuts": [9]}, ranks=ranks)
    if how == "with_replacement":  # each twice
        again = {"multiplicity": pl.lit(2, pl.Int64), "pi": pl.lit(None, pl.Float64)}
        sample = {"sample": sample["sample"].with_columns(**again)}
    draws = {name: table for name, table in sample.items() if name == "sample"}
    row = average_precision_of(ranks=ranks, judgements=frame, **draws)
    assert row.select("average_precision", "lower", "upper").row(0) == (0.625, 0.625, 0.625)


def test_draws_with_replacement_are_not_certain() -> None:
    again = SAMPLE.with_columns(multiplicity=pl.lit(2), pi=pl.lit(None, pl.Float64))
    assert average_precision_of(sample=again).equals(average_precision_of(sample=SAMPLE))
    some = again.with_columns(pi=pl.when(pl.col("position") > 2).then(0.7))
    with pytest.raises(ConfigError, match="2 of 7 draws have no pi, for example x0, x2"):
        average_precision_of(sample=some)


def test_unsuitable_samples_are_refused() -> None:
    with pytest.raises(ConfigError, match="no column 'multiplicity', only id"):
        average_precision_of(sample=SAMPLE.select("id"))
    with pytest.raises(ConfigError, match="strata differ in inclusion probability"):
        average_precision_of(sample=SAMPLE.with_columns(stratum=pl.lit("top")))
    with pytest.raises(ConfigError, match="the rankings are pooled"):
        average_precision_of(ranks=RANKS.with_columns(pool_depth=pl.lit(3)))
    with pytest.raises(
        ConfigError, match="none of the 1 drawn candidates is ranked, for example y"
    ):
        average_precision_of(
            sample=pl.DataFrame({"id": ["y"], "multiplicity": [1], "position": [1]})
        )


def test_tables_without_rows_give_no_rows() -> None:
    assert average_precision_of(ranks=RANKS.clear(), judgements=ALL.clear(), config={}).is_empty()
    assert average_precision_of(judgements=ALL.clear()).is_empty()


# Machine judges compared with annotators: samples of all kinds, categories, refusals

SIZE = 120
IDS_EVALUATE_MACHINE = [f"x{i:03}" for i in range(SIZE)]
TRUE = [i % 3 == 0 for i in range(SIZE)]
JUDGEMENTS = pl.DataFrame(
    {"category": "TP", "id": IDS_EVALUATE_MACHINE, "tp": TRUE}, schema=Judgements.columns()
)
RANKS_EVALUATE_MACHINE = run_stage(
    "score.rank", {"seed": "s"},
    scores=pl.DataFrame({"id": IDS_EVALUATE_MACHINE, "a": [float(-i) for i in range(SIZE)],
                         "b": [float(i % 7) for i in range(SIZE)]}),
)["ranks"]  # fmt: skip
PREDICTIONS = pl.DataFrame(
    {
        "category": "TP", "judge": ["perfect"] * SIZE + ["same"] * SIZE, "id": IDS_EVALUATE_MACHINE * 2,
        "prediction": [*map(float, TRUE), *[0.5] * SIZE],
    },
    schema=Predictions.columns(),
)  # fmt: skip


def evaluate(**options: Any) -> dict[str, pl.DataFrame]:
    names = ("predictions", "judgements", "sample", "ranks")
    tables = {name: options.pop(name) for name in names if name in options}
    return run_stage(
        "evaluate.machine", {"seed": "s", "cuts": [60, 120]} | options,
        **{"predictions": PREDICTIONS, "judgements": JUDGEMENTS} | tables,
    )  # fmt: skip


def test_a_perfect_and_a_constant_judge_have_known_values() -> None:
    tables = evaluate(ranks=RANKS_EVALUATE_MACHINE)
    near = tables["judges"].select("judge", "n_judged", "kappa", "brier", "rho2").rows()
    assert near == [
        ("perfect", SIZE, 1.0, 0.0, pytest.approx(1.0)), ("same", SIZE, pytest.approx(0), 0.25, None),
    ]  # fmt: skip
    cells = tables["confusion"].select("judge", "true_positives", "false_positives", "ppv").rows()
    assert cells == [("perfect", 40, 0, 1.0), ("same", 40, 80, pytest.approx(1 / 3))]
    saved = tables["savings"].group_by("judge", maintain_order=True).agg("labels_saved")
    assert dict(saved.rows()) == {"perfect": pytest.approx([1.0] * 4), "same": [0.0] * 4}
    assert tables["calibration"].select("judge", "bin", "share").rows() == [
        ("perfect", 1, 0.0), ("perfect", 10, 1.0), ("same", 6, pytest.approx(1 / 3)),
    ]  # fmt: skip


def test_draws_are_weighted_by_inclusion_probabilities() -> None:
    """Of 20 true positives drawn 10 are found: those that represent four candidates each."""
    draws = [i for i in range(60) if TRUE[i]]
    sample = pl.DataFrame({"id": [IDS_EVALUATE_MACHINE[i] for i in draws], "pi": [0.25, 0.5] * 10})
    predictions = PREDICTIONS.filter(judge="perfect").with_columns(
        prediction=pl.Series([float(i in draws[::2]) for i in range(SIZE)])
    )
    row = evaluate(predictions=predictions, sample=sample)["confusion"].row(0, named=True)
    assert (row["n_judged"], row["sensitivity"]) == (20, pytest.approx(40 / 60))
    alike = evaluate(predictions=predictions, sample=sample.drop("pi"))["confusion"]
    assert alike["sensitivity"].item() == 0.5


def test_judges_are_evaluated_on_a_designed_sample() -> None:
    design = {"size": 60, "cuts": [40], "seed": "s"}
    sample = run_stage("sample.design", design, ranks=RANKS_EVALUATE_MACHINE)["sample"]
    tables = evaluate(sample=sample, ranks=RANKS_EVALUATE_MACHINE, pairs=[("a", "b")])
    assert set(tables["judges"]["n_judged"]) == {60}
    assert tables["pair_savings"].select("measure_1", "measure_2", "n").row(0) == ("a", "b", 60)


def test_draws_with_replacement_count_by_their_multiplicity() -> None:
    sample = pl.DataFrame({"id": IDS_EVALUATE_MACHINE[:2], "multiplicity": [3, 1]})
    for table in (sample, sample.with_columns(pi=pl.lit(None, pl.Float64))):
        row = evaluate(sample=table)["confusion"].row(0, named=True)
        assert (row["true_positives"], row["true_negatives"]) == (3, 1)
    some = sample.with_columns(pi=pl.Series([0.5, None]))
    with pytest.raises(ConfigError, match="1 of 2 draws have no pi, for example x001"):
        evaluate(sample=some)


def test_strata_without_inclusion_probabilities_are_refused() -> None:
    sample = pl.DataFrame({"id": IDS_EVALUATE_MACHINE[:4], "stratum": ["u", "u", "v", "v"]})
    with pytest.raises(ConfigError, match="2 strata, but has no inclusion probabilities"):
        evaluate(sample=sample)
    one = evaluate(sample=sample.with_columns(stratum=pl.lit("all")))
    assert set(one["judges"]["n_judged"]) == {4}


def test_undecided_and_unjudged_candidates_are_not_counted() -> None:
    some = JUDGEMENTS.with_columns(tp=pl.when(pl.col("id") != "x000").then("tp")).head(50)
    assert set(evaluate(judgements=some)["judges"]["n_judged"]) == {49}


def test_without_judgements_or_predictions_values_are_undefined() -> None:
    tables = evaluate(judgements=JUDGEMENTS.clear(), ranks=RANKS_EVALUATE_MACHINE)
    assert tables["judges"].select("n_predicted", "n_judged", "ac1").rows() == [(120, 0, None)] * 2
    assert tables["calibration"].is_empty()
    assert tables["savings"]["labels_saved"].is_null().all()
    nothing = evaluate(predictions=PREDICTIONS.clear(), ranks=RANKS_EVALUATE_MACHINE)
    assert all(table.is_empty() for table in nothing.values())


def test_with_a_single_class_values_are_undefined() -> None:
    tables = evaluate(
        judgements=JUDGEMENTS.with_columns(tp=pl.lit(value=True)), ranks=RANKS_EVALUATE_MACHINE
    )
    assert tables["confusion"]["specificity"].is_null().all()
    assert tables["judges"]["rho2"].is_null().all()
    assert tables["savings"]["labels_saved"].is_null().all()


def test_fewer_than_30_judged_draws_give_no_savings() -> None:
    table = evaluate(judgements=JUDGEMENTS.head(29), ranks=RANKS_EVALUATE_MACHINE)["savings"]
    assert table["labels_saved"].is_null().all()
    enough = evaluate(judgements=JUDGEMENTS.head(30), ranks=RANKS_EVALUATE_MACHINE)["savings"]
    assert enough.filter(judge="perfect", n=120)["labels_saved"].to_list() == [1.0, 1.0]


def test_categories_are_evaluated_separately() -> None:
    other = PREDICTIONS.with_columns(category=pl.lit("idiom"))
    people = pl.concat(
        [JUDGEMENTS, JUDGEMENTS.with_columns(pl.lit("idiom").alias("category"), ~pl.col("tp"))]
    )
    table = evaluate(predictions=pl.concat([PREDICTIONS, other]), judgements=people)["judges"]
    assert table.select("category", "judge", "kappa").rows() == [
        ("TP", "perfect", 1.0), ("TP", "same", pytest.approx(0)), ("idiom", "perfect", pytest.approx(-0.8)),
        ("idiom", "same", pytest.approx(0)),
    ]  # fmt: skip


def test_predictions_of_an_unjudged_category_are_refused() -> None:
    with pytest.raises(
        ConfigError,
        match="there are predictions but no judgements of category 'svc'",
    ):
        evaluate(predictions=PREDICTIONS.with_columns(category=pl.lit("svc")))


def test_unranked_measures_are_refused() -> None:
    with pytest.raises(ConfigError, match="'c' has not been ranked"):
        evaluate(ranks=RANKS_EVALUATE_MACHINE, measures=["c"])
    one = evaluate(ranks=RANKS_EVALUATE_MACHINE, measures=["b"])["savings"]
    assert set(one["measure"]) == {"b"}


def test_a_pool_is_evaluated_down_to_its_depth() -> None:
    pooled = run_stage(
        "score.pool", {"depth": 70, "measures": ["a", "b"]}, ranks=RANKS_EVALUATE_MACHINE
    )["ranks"]
    table = evaluate(ranks=pooled)["savings"]
    assert table.filter(judge="perfect")["n"].to_list() == [60, 60]


def test_a_random_judge_saves_no_labels() -> None:
    rng = np.random.default_rng(3)
    predictions = PREDICTIONS.filter(judge="perfect").with_columns(
        prediction=pl.Series(rng.random(SIZE))
    )
    table = evaluate(predictions=predictions, ranks=RANKS_EVALUATE_MACHINE)["savings"]
    assert table["rho2"].max() < 0.1
    assert table["labels_saved"].max() < 0.05
