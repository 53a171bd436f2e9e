"""The stages that combine measures and apply a model: their inputs, refusals and marks."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from tests.stages.run_stage import run_stage

SIZE = 120
BITS = np.random.default_rng(11)
IDS = [f"x{i:03}" for i in range(SIZE)]
TP = BITS.random(SIZE) < 0.4
CANDIDATES = pl.DataFrame({
    "id": IDS,
    "l1": [f"{('in', 'zu')[i % 2]}:{'nmk'[i % 3]}" for i in range(SIZE)],
    "l2": [f"v{i % 7}" for i in range(SIZE)],
    "f": BITS.integers(1, 50, SIZE), "f1": [90] * SIZE, "f2": [90] * SIZE, "N": [9000] * SIZE,
})  # fmt: skip
SCORES = pl.DataFrame({
    "id": IDS, "good": TP + BITS.normal(scale=0.7, size=SIZE), "bad": BITS.normal(size=SIZE),
})  # fmt: skip
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]
JUDGEMENTS = pl.DataFrame({"category": "TP", "id": IDS, "tp": TP})
SAMPLE = pl.DataFrame({
    "id": IDS[::2], "multiplicity": 1, "position": range(1, SIZE // 2 + 1), "pi": 0.5,
    "stratum": "all",
})  # fmt: skip


def combine(
    config: dict[str, Any] | None = None, **tables: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    inputs = {"ranks": RANKS, "candidates": CANDIDATES, "judgements": JUDGEMENTS} | tables
    return run_stage("score.combination", {"seed": "s"} | (config or {}), **inputs)


def apply_model(
    model: pl.DataFrame, config: dict[str, Any] | None = None, **tables: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    options = {"ranks": RANKS, "candidates": CANDIDATES, "coefficients": model} | tables
    return run_stage("score.apply", {"seed": "s"} | (config or {}), **options)


def test_the_combination_is_an_additional_measure() -> None:
    tables = combine(sample=SAMPLE)
    assert tables["ranks"]["measure"].unique().sort().to_list() == ["bad", "combination", "good"]
    assert tables["ranks"].group_by("measure").len()["len"].to_list() == [SIZE] * 3
    first = tables["ranks"].filter(measure="combination").sort("rank")
    scores = tables["scores"].sort("combination", descending=True)
    assert first["score"].to_list() == scores["combination"].to_list()
    others = tables["ranks"].filter(pl.col("measure") != "combination").sort("measure", "rank")
    assert others.equals(RANKS.select(others.columns).sort("measure", "rank"))
    lists = run_stage(
        "evaluate.precision",
        {"cuts": [20]},
        ranks=tables["ranks"],
        judgements=JUDGEMENTS,
        sample=SAMPLE,
    )["cuts"]
    assert set(lists["measure"]) == {"bad", "combination", "good"}


def test_only_judged_draws_are_learned() -> None:
    tables = combine(sample=SAMPLE)
    judged = tables["refit"].filter(pl.col("tp").is_not_null())["id"].to_list()
    assert judged == IDS[::2]
    labels = tables["coefficients"].filter(kind="label")["value"].sort().to_list()
    assert labels == IDS[::2]
    facts = tables["fit"].select("n_judged", "positives").unique().row(0)
    assert facts == (60, int(TP[::2].sum()))


def test_the_fit_names_the_chosen_measure_and_unseen_words() -> None:
    fit = combine()["fit"]
    assert fit.select("ranking", "word", "measure").sort(pl.all()).rows() == [
        ("chosen single measure", "", "good"), ("combination", "", ""),
        ("combination, word unseen", "{l1}", ""), ("combination, word unseen", "{l2}", ""),
    ]  # fmt: skip
    assert fit["average_precision"].is_between(0.3, 1.0).all()


def test_parts_of_words_have_separate_effects() -> None:
    tables = combine({"separator": ":"})
    words = tables["coefficients"].filter(kind="word")
    assert set(words["feature"]) == {"{l1}:[1]", "{l1}:[2]", "{l2}"}
    assert words.filter(feature="{l1}:[1]")["value"].sort().to_list() == ["in", "zu"]
    again = apply_model(tables["coefficients"])["scores"]
    assert (again["known_words"] == 3).all()


def test_templates_and_frequencies_add_features() -> None:
    tables = combine({"words": ["{l1} {l2}"], "frequencies": True})
    kinds = tables["coefficients"].group_by("kind").len().sort("kind").rows()
    assert kinds == [
        ("frequency", 3),
        ("intercept", 1),
        ("label", SIZE),
        ("measure", 2),
        ("word", 42),
    ]
    none = combine({"words": []})["coefficients"]
    assert set(none["kind"]) == {"intercept", "label", "measure"}


def test_further_labels_change_only_the_refit() -> None:
    """They weigh as much as the mean label; labels of the sample take precedence."""
    first = combine(sample=SAMPLE)
    further = JUDGEMENTS.filter(pl.col("id").is_in([*IDS[1:40:2], IDS[0]]))
    wrong = further.with_columns(tp=pl.col("tp") ^ (pl.col("id") == IDS[0]))
    tables = combine(sample=SAMPLE, further=wrong)
    for name in ("scores", "ranks", "fit"):
        assert tables[name].equals(first[name])
    assert not tables["refit"]["probability"].equals(first["refit"]["probability"])
    known = tables["refit"].drop_nulls("tp").join(JUDGEMENTS, on="id")
    assert known.height == SIZE // 2 + 20
    assert known["tp"].equals(known["tp_right"])
    assert known.filter("sampled")["id"].sort().to_list() == IDS[::2]
    labels = tables["coefficients"].filter(kind="label")["value"].sort().to_list()
    assert labels == known["id"].sort().to_list()
    ridge = first["fit"].filter(ranking="combination")["ridge"][0]
    judged = JUDGEMENTS.filter(pl.col("id").is_in(known["id"].implode()))
    alone = combine({"ridge": ridge}, judgements=judged)["coefficients"]
    assert tables["coefficients"]["coefficient"].to_list() == pytest.approx(
        alone["coefficient"].to_list(), abs=1e-8
    )
    others = JUDGEMENTS.with_columns(category=pl.lit("other"))
    assert combine(sample=SAMPLE, further=others)["refit"].equals(first["refit"])


def test_a_cluster_is_in_one_fold() -> None:
    scores = combine({"cluster": "{l2}"})["scores"].join(CANDIDATES, on="id")
    assert (scores.group_by("l2").agg(pl.col("fold").n_unique())["fold"] == 1).all()


def test_draws_are_weighted_by_inclusion_probabilities() -> None:
    unequal = SAMPLE.with_columns(pi=pl.when(pl.col("id").is_in(IDS[:30])).then(0.9).otherwise(0.1))
    designed = combine({"ridge": 1.0}, sample=unequal)
    simple = combine({"ridge": 1.0}, sample=SAMPLE)
    keys = ["kind", "feature", "value"]
    assert designed["coefficients"].select(keys).equals(simple["coefficients"].select(keys))
    assert not designed["coefficients"].equals(simple["coefficients"])


def test_only_one_category_is_learned() -> None:
    two = pl.concat(
        [JUDGEMENTS, JUDGEMENTS.with_columns(pl.lit("FIG").alias("category"), ~pl.col("tp"))]
    )
    with pytest.raises(ConfigError, match="there are 2 categories"):
        combine(judgements=two)
    own = combine({"category": "FIG"}, judgements=two)
    assert set(own["fit"]["category"]) == {"FIG"}
    assert own["fit"]["positives"][0] == int((~TP).sum())


def test_invalid_options_and_tables_are_refused() -> None:
    with pytest.raises(ConfigError, match="'good' is a measure that is already ranked"):
        combine({"name": "good"})
    others = JUDGEMENTS.filter(pl.col("id").is_in(IDS[1::2]))
    with pytest.raises(ConfigError, match="no candidate is judged: .* judge more candidates"):
        combine(sample=SAMPLE, judgements=others)
    with pytest.raises(ConfigError, match="has only true ones"):
        combine(judgements=JUDGEMENTS.with_columns(tp=True))
    with pytest.raises(ConfigError, match="no column 'l3'"):
        combine({"words": ["{l3}"]})
    with pytest.raises(ConfigError, match="119 of 120 ranked candidates have no l1, l2"):
        combine(candidates=CANDIDATES.head(1))
    for wrong in (0, -1, True, "best", float("inf")):
        with pytest.raises(ValidationError, match='should be "cv" or a number above 0'):
            combine({"ridge": wrong})
    for template in ("l1", "{}", "{l1", "{l1:3}"):
        with pytest.raises(ValidationError, match="l1|braces|expected"):
            combine({"words": [template]})


def test_without_judgements_all_tables_are_empty() -> None:
    none = combine(judgements=JUDGEMENTS.clear())
    assert all(table.is_empty() for table in none.values())


def test_a_model_marks_its_labels() -> None:
    """A model applied to the candidates that it was fitted to is not evaluated by their labels."""
    model = combine(sample=SAMPLE)["coefficients"]
    applied = apply_model(model, {"name": "applied"})
    assert applied["scores"]["learned"].sum() == 60
    with pytest.raises(ConfigError, match="60 of 120 judged candidates were used to fit 'applied'"):
        run_stage("evaluate.precision", {}, ranks=applied["ranks"], judgements=JUDGEMENTS)
    only = {"measures": ["good"], "cuts": [10]}
    run_stage("evaluate.precision", only, ranks=applied["ranks"], judgements=JUDGEMENTS)
    rest = JUDGEMENTS.filter(~pl.col("id").is_in(IDS[::2]))
    run_stage("evaluate.precision", {"cuts": [10]}, ranks=applied["ranks"], judgements=rest)
    again = run_stage("score.rank", {"seed": "s"}, scores=applied["scores"])["ranks"]
    with pytest.raises(ConfigError, match="would be overestimated"):
        run_stage("evaluate.comparison", {}, ranks=again, judgements=JUDGEMENTS)
    with pytest.raises(ConfigError, match="would be overestimated"):
        combine({"name": "second"}, ranks=applied["ranks"])


def test_labelled_candidates_can_be_excluded() -> None:
    model = combine(sample=SAMPLE)["coefficients"]
    applied = apply_model(model, {"exclude_learned": True})
    assert applied["scores"]["id"].to_list() == IDS[1::2]
    for _, own in applied["ranks"].group_by("measure"):
        assert own["rank"].sort().to_list() == list(range(1, 61))
        assert (own["tie"] <= own["rank"]).all()
    lists = run_stage(
        "evaluate.precision", {"cuts": [10]}, ranks=applied["ranks"], judgements=JUDGEMENTS
    )
    assert lists["cuts"].height == 3


def test_the_applied_model_equals_the_refit() -> None:
    """All candidates have the order of the refit."""
    tables = combine(sample=SAMPLE)
    applied = apply_model(tables["coefficients"])["scores"]
    both = applied.join(tables["refit"], on="id")
    odds = (both["probability"] / (1 - both["probability"])).log()
    assert both["combination"].to_numpy() == pytest.approx(odds.to_numpy(), abs=1e-6)


def test_a_model_file_is_read_and_checked() -> None:
    model = combine(sample=SAMPLE)["coefficients"]
    inputs = {"ranks": RANKS, "candidates": CANDIDATES}
    as_text = model.with_columns(pl.col("coefficient").cast(pl.String))
    tables = run_stage("score.apply", {"seed": "s"}, path=as_text, **inputs)
    assert tables["scores"].equals(apply_model(model)["scores"])
    broken = as_text.with_columns(coefficient=pl.lit("1,5"))
    with pytest.raises(ConfigError, match="rows without a coefficient of a model, e.g. row 1"):
        run_stage("score.apply", {"seed": "s"}, path=broken, **inputs)
    with pytest.raises(ConfigError, match="no column 'kind'"):
        run_stage("score.apply", {"seed": "s"}, path=as_text.drop("kind"), **inputs)
    with pytest.raises(ConfigError, match="'good' has not been ranked"):
        apply_model(model, ranks=RANKS.filter(measure="bad"))
    with pytest.raises(ValidationError, match="either coefficients or path"):
        run_stage("score.apply", {"seed": "s"}, **inputs)


def test_labels_behind_scores_of_another_program_are_marked() -> None:
    pairs = CANDIDATES.select("l1", "l2").with_columns(mine=SCORES["good"])
    learned = pairs.select("l1", "l2").head(5).with_columns(file=pl.lit("l.tsv"), line=pl.lit(2))
    config = {"scores": {"mine": "mine"}}
    tables = run_stage(
        "extract.scores", config, path=pairs.unique(["l1", "l2"]), learned_from=learned
    )
    assert tables["scores"]["learned"].sum() == 5
    assert (
        "learned"
        not in run_stage("extract.scores", config, path=pairs.unique(["l1", "l2"]))[
            "scores"
        ].columns
    )
