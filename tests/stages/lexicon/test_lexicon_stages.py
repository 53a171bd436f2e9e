"""From wordlists to L*: samples, quality, comparison, keyed-in gold."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError, WaitsForPerson
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import FAULTS, STAGES
from schemas import KeyedEntries
from schemas.validate import validate
from tests.stages.run_stage import run_stage

Rows = list[tuple[str, str | None]]
SCHEMA = {"lemma": pl.String, "form": pl.String}


def words(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def many(count: int, forms: int = 3) -> pl.DataFrame:
    return words([(f"l{i}", f"w{i}{j}") for i in range(count) for j in range(1 + i % forms)])


GOLD = words([("a", "u"), ("a", "v"), ("b", "x"), ("c", "y")])
LEXICON = words([("a", "u"), ("b", "x"), ("b", "v"), ("d", "y")])


def listed(use: str, config: dict[str, Any], **tables: Any) -> dict[str, pl.DataFrame]:
    """Run a stage with lists of tables, given as mappings of reference to table."""
    stage = STAGES.get(use)
    flat: dict[str, pl.LazyFrame] = {}
    for option, table in tables.items():
        if isinstance(table, dict):
            config = config | {option: list(table)}
            flat |= {f"{option}.{i}": each.lazy() for i, each in enumerate(table.values())}
        else:
            config = config | {option: option}
            flat[option] = table.lazy()
    made = stage.run(stage.config.model_validate(config), flat)
    found = {name: table.lazy().collect() for name, table in made.items()}
    for name, model in stage.outputs.items():
        validate([found[name]], model, name=name)
    return found


def sample(config: dict[str, Any], **tables: Any) -> pl.DataFrame:
    return listed("sample.lemmas", {"seed": "s", **config}, **tables)["sample"]


def quality(
    gold: pl.DataFrame, lexicon: pl.DataFrame, config: dict[str, Any] | None = None, **tables: Any
) -> dict[str, pl.DataFrame]:
    overlaps = run_stage("score.lexicon", {}, gold=gold, lexicon=lexicon)["overlaps"]
    given = {"gold": gold, "lexicon": lexicon, "overlaps": overlaps, **tables}
    return run_stage("evaluate.lexicon", {"seed": "s", **(config or {})}, **given)


def values(made: dict[str, pl.DataFrame]) -> dict[str, float | None]:
    return dict(made["quality"].select("statistic", "value").rows())


def test_lambda_of_the_common_lemmas() -> None:
    gold, lexicon = many(40), many(30)
    drawn = sample({"rate": 0.1}, gold=gold, lexicons={"x": lexicon})
    assert (drawn.height, drawn["population"][0], drawn["drawn"].all()) == (3, 30, True)
    assert drawn.select("pi", "stratum").unique().rows() == [(0.1, "all")]
    more = sample({"rate": 0.5}, gold=gold, lexicons={"x": lexicon})
    assert set(drawn["lemma"]) < set(more["lemma"])
    assert sample({"rate": 0.001}, gold=gold, lexicons={"x": lexicon}).height == 1
    assert sample({"size": 7}, gold=gold, lexicons={"x": lexicon}).height == 7
    assert sample({"size": 99}, lexicons={"x": lexicon}).height == 30


def test_lemmas_that_all_lexicons_have() -> None:
    drawn = sample({"rate": 1.0}, gold=many(9), lexicons={"x": many(8), "y": many(7)})
    assert sorted(drawn["lemma"]) == [f"l{i}" for i in range(7)]


def test_no_common_lemma() -> None:
    made = sample({"rate": 0.5}, gold=words([("a", "x")]), lexicons={"x": words([("b", "x")])})
    assert made.height == 0


def test_a_list_of_lemmas() -> None:
    made = sample({"lemmas": ["b", "a", "b"]}, gold=GOLD, lexicons={"x": LEXICON})
    assert made.rows() == [("b", 1, 2, False, None, "all"), ("a", 2, 2, False, None, "all")]
    with pytest.raises(ConfigError, match="2 of 3 lemmas are not .* such as 'c', 'zz'"):
        sample({"lemmas": ["a", "c", "zz"]}, gold=GOLD, lexicons={"x": LEXICON})


def test_a_file_of_lemmas() -> None:
    rows = pl.DataFrame({"file": "l.tsv", "line": [2, 3], "lemma": ["b", "zz"]})
    stage = STAGES.get("sample.lemmas")
    config = {"gold": "gold", "lexicons": ["x"], "path": "l.tsv", "drawn": True}
    tables = {"gold": GOLD.lazy(), "lexicons.0": LEXICON.lazy(), "path": rows.lazy()}
    made = stage.run(stage.config.model_validate(config), tables)
    assert made["sample"].lazy().collect().rows() == [("b", 1, 2, True, 0.5, "all")]
    assert made[FAULTS].lazy().collect().select("line", "value").rows() == [(3, "zz")]


@pytest.mark.parametrize(
    "config",
    [{}, {"rate": 0.0}, {"rate": 1.1}, {"rate": 0.1, "size": 3}, {"rate": 0.1, "drawn": True}],
)
def test_rates_out_of_range(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        STAGES.get("sample.lemmas").config.model_validate({"lexicons": ["x"], **config})


def test_quality_of_all_common_lemmas() -> None:
    """a: 1 of 2 forms, L = 2/3; b: 1 of 1, and one more, L = 2/3. c is d, but not in Y."""
    made = quality(GOLD, LEXICON)
    found = values(made)
    assert found["L*"] == pytest.approx(2 / 3)
    assert (found["gold lemmas"], found["lexicon lemmas"], found["common lemmas"]) == (3, 3, 2)
    assert found["coverage"] == pytest.approx(2 / 3)
    assert found["F*"] == pytest.approx((2 * 2 / 3 + 2 / 3 + 1) / 4)
    assert found["best-match F1"] == pytest.approx(2 * 3 / (4 + 4))
    assert found["mean precision"] == pytest.approx(0.75)
    assert found["population variance of L"] == 0.0
    assert found["r(L, P)"] is None
    rows = made["lemmas"].select("lemma", "missing", "spurious").rows()
    assert rows == [("a", "v", ""), ("b", "", "v")]
    assert made["forms"].filter(lemma="b").sort("form").rows() == [
        ("b", "v", False, True), ("b", "x", True, True),
    ]  # fmt: skip
    limits = made["quality"].filter(statistic="L*").select("lower", "upper").row(0)
    assert limits == pytest.approx((2 / 3, 2 / 3))


def test_quality_of_a_sample() -> None:
    gold = many(200)
    lexicon = gold.filter(pl.col("form").str.ends_with("1").not_())
    drawn = sample({"rate": 0.3}, gold=gold, lexicons={"x": lexicon})
    made = quality(gold, lexicon, {"replicates": 200}, sample=drawn)
    row = made["quality"].filter(statistic="L*").row(0, named=True)
    truth = values(quality(gold, lexicon))["L*"]
    assert row["lower"] < row["value"] < row["upper"]
    assert truth is not None
    assert row["lower"] < truth < row["upper"]
    widths = made["widths"].filter(pl.col("rate") == 1.0).row(0, named=True)
    assert (widths["n_lemmas"], widths["standard_error"]) == (200, 0.0)
    assert made["trends"].height == drawn.height
    chosen = made["intervals"].filter("chosen").select("method", "used").rows()
    assert chosen == [("bootstrap_t", "bootstrap_t")]


def test_a_list_gives_no_interval() -> None:
    gold = many(50)
    lexicon = gold.filter(~pl.col("form").str.ends_with("1"))
    lemmas = ["l0", "l1", "l2", "l5", "l6"]
    for drawn in (False, True):
        asked = {"lemmas": lemmas, "drawn": drawn}
        chosen = sample(asked, gold=gold, lexicons={"x": lexicon})
        made = quality(gold, lexicon, {"replicates": 100}, sample=chosen)
        row = made["quality"].filter(statistic="L*").row(0, named=True)
        assert row["value"] < 1
        assert (row["lower"] is not None, row["upper"] is not None) == (drawn, drawn)
        assert made["widths"]["width"].is_not_null().all() == drawn


def test_the_published_weights_and_n() -> None:
    rows: Rows = [("missier", f"w{i}") for i in range(10)]
    made = quality(words(rows), words(rows[:7]), {"weights": "published", "n": 5887})
    assert round(values(made)["L*"] or 0, 9) == 0.000979226
    assert values(made)["n"] == 5887


@pytest.mark.parametrize("lexicon", [words([]), words([("z", "y")])])
def test_nothing_in_common(lexicon: pl.DataFrame) -> None:
    made = quality(GOLD, lexicon)
    found = values(made)
    assert (found["sampled lemmas"], found["L*"], found["mean L"]) == (0, None, None)
    assert found["coverage"] == 0.0
    assert made["lemmas"].height == made["forms"].height == made["trends"].height == 0


def test_an_empty_gold() -> None:
    found = values(quality(words([]), LEXICON))
    assert (found["F*"], found["coverage"], found["lemmas outside"]) == (None, None, 3)


def test_a_lemma_without_forms() -> None:
    gold = words([("a", None), ("b", "x")])
    made = quality(gold, words([("a", "u"), ("b", "x")]))
    assert values(made)["L*"] == 1.0
    assert values(made)["lemmas without forms"] == 1
    assert made["lemmas"]["L"].to_list() == [0.0, 1.0]


def test_comparison_on_the_same_lemmas() -> None:
    gold = many(120)
    one, two = gold, gold.filter(~pl.col("form").str.ends_with("1"))
    drawn = sample({"rate": 0.4}, gold=gold, lexicons={"x": one, "y": two})
    scores = {
        name: quality(gold, lexicon, {"replicates": 100}, sample=drawn)["lemmas"]
        for name, lexicon in {"x": one, "y": two}.items()
    }
    made = listed("evaluate.lexicons", {"seed": "s", "replicates": 300}, lexicons=scores)
    row = made["differences"].row(0, named=True)
    stars = dict(made["lexicons"].select("lexicon", "l_star").rows())
    assert row["difference"] == pytest.approx(stars["x"] - stars["y"])
    assert 0 < row["lower"] < row["difference"] < row["upper"]
    assert (row["n_first"] + row["n_equal"], row["n_second"]) == (drawn.height, 0)
    first = made["lemmas"].filter(rank=1)
    assert first["range"].max() == made["lemmas"]["range"].max()
    assert made["lemmas"].height == 2 * drawn.height


def test_other_lemmas_cannot_be_compared() -> None:
    gold = many(30)
    scores = {
        "x": quality(gold, gold)["lemmas"],
        "y": quality(gold, gold.filter(pl.col("lemma") != "l3"))["lemmas"],
    }
    with pytest.raises(ConfigError, match="1 lemmas are in x or in y alone, such as 'l3'"):
        listed("evaluate.lexicons", {}, lexicons=scores)
    other = quality(gold.filter(~pl.col("form").str.ends_with("2")), gold)["lemmas"]
    with pytest.raises(ConfigError, match="different golds"):
        listed("evaluate.lexicons", {}, lexicons={"x": scores["x"], "y": other})


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"weights": "published"}, {}, "x, y were evaluated with different weights"),
        ({}, {"n": 5887}, "y was evaluated with an n of its own"),
    ],
)
def test_other_weights_cannot_be_compared(
    first: dict[str, Any], second: dict[str, Any], said: str
) -> None:
    gold = many(30)
    lexicon = gold.filter(~pl.col("form").str.ends_with("1"))
    scores = {
        "x": quality(gold, lexicon, first)["lemmas"],
        "y": quality(gold, lexicon, second)["lemmas"],
    }
    with pytest.raises(ConfigError, match=said):
        listed("evaluate.lexicons", {"seed": "s"}, lexicons=scores)
    alike = {"x": scores["x"], "y": quality(gold, lexicon, {**first, "n": None})["lemmas"]}
    assert listed("evaluate.lexicons", {"seed": "s"}, lexicons=alike)["differences"].height == 1


def test_equal_clusters_weigh_the_same_whatever_the_weights() -> None:
    gold = many(30)
    scores = {
        "x": quality(gold, gold, {"weights": "published"})["lemmas"],
        "y": quality(gold, gold.filter(~pl.col("form").str.ends_with("1")))["lemmas"],
    }
    made = listed("evaluate.lexicons", {"seed": "s"}, lexicons=scores)
    assert made["lexicons"]["l_star"][0] == 1.0


def keyed(rows: list[tuple[str, str | None]], **config: Any) -> dict[str, pl.DataFrame]:
    lemmas = pl.DataFrame({"lemma": ["a", "b", "c"]}).with_columns(candidate_id("lemma"))
    order = pl.Series("order", [1, 2, 3], pl.Int64)
    sheet = lemmas.select(pl.lit("anna").alias("annotator"), order, "id", "lemma")
    entries = pl.DataFrame(
        [("s.csv", line, "anna", lemma, forms, None) for line, (lemma, forms) in enumerate(rows, 2)],
        schema={k: v for k, v in KeyedEntries.columns().items() if k != "id"}, orient="row",
    ).with_columns(candidate_id("lemma")).select(*KeyedEntries.columns())  # fmt: skip
    return run_stage("join.keying", config, sheet=sheet, entries=entries)


def test_keyed_forms_are_the_gold() -> None:
    made = keyed([("a", "u, v; v"), ("b", "-"), ("c", "Y"), ("old", "x")], case="lower")
    assert made["gold"].sort("lemma", "form").rows() == [("a", "u"), ("a", "v"), ("c", "y")]
    assert made["keyed"].sort("lemma").select("lemma", "found", "n_forms").rows() == [
        ("a", True, 2), ("b", False, 0), ("c", True, 1),
    ]  # fmt: skip
    assert made["others"]["lemma"].to_list() == ["old"]
    assert made[FAULTS].height == 0
    steps = made["preparation"].sort("number").select("step", "n", "such_as").rows()
    assert steps == [
        ("forms keyed in", 4, None),
        ("texts changed: blanks around", 0, None),
        ("texts changed: Unicode NFC", 0, None),
        ("texts changed: lower case", 1, "'Y' → 'y'"),
        ("lemmas to look up", 3, None),
        ("lemmas not looked up yet", 0, None),
    ]


def test_lemmas_among_their_forms() -> None:
    made = keyed([("a", "u"), ("b", "-"), ("c", "c")], lemma_is_form=True)
    assert made["gold"].sort("lemma", "form").rows() == [("a", "a"), ("a", "u"), ("c", "c")]


def test_missing_lemmas_are_waited_for() -> None:
    rows: list[tuple[str, str | None]] = [("a", "u"), ("b", None), ("c", " ")]
    with pytest.raises(WaitsForPerson, match="waits for 2 lemmas"):
        keyed(rows)
    made = keyed(rows, partial=True)
    assert made["keyed"].height == 1
    steps = dict(made["preparation"].select("step", "n").rows())
    assert steps["lemmas not looked up yet"] == 2


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("a", "u, -"), ("b", "x"), ("c", "y")], "holds forms and a -"),
        ([("a", " ; "), ("b", "x"), ("c", "y")], "holds no form"),
        ([("a", "u"), ("a", "-"), ("b", "x"), ("c", "y")], "one row of this lemma has forms"),
    ],
)
def test_what_cannot_be_used(rows: list[tuple[str, str | None]], said: str) -> None:
    assert said in keyed(rows, partial=True)[FAULTS]["problem"][0]


def test_a_keyed_gold_stands_for_the_lemmas_that_the_dictionary_has() -> None:
    """30 of 60 lemmas drawn, two thirds of them found: they stand for 40."""
    lexicon = many(60)
    drawn = sample({"rate": 0.5}, lexicons={"x": lexicon})
    known = drawn.sort("lemma").head(20)["lemma"]
    gold = lexicon.filter(pl.col("lemma").is_in(known.to_list()))
    made = quality(gold, lexicon, {"complete": False}, sample=drawn)
    assert made["lemmas"]["population"].unique().to_list() == [40]
    assert made["lemmas"].height == 20
    assert values(made)["F*"] is None


def test_lemmas_not_looked_up_are_not_absent() -> None:
    """30 of 60 lemmas drawn, 20 looked up, 15 of them found: they stand for 45."""
    lexicon = many(60)
    drawn = sample({"rate": 0.5}, lexicons={"x": lexicon})
    looked_up = drawn.sort("position")["lemma"].head(20)
    gold = lexicon.filter(pl.col("lemma").is_in(looked_up.head(15).to_list()))
    found = pl.Series("found", [True] * 15 + [False] * 5)
    keyed = looked_up.to_frame().with_columns(
        found, pl.lit(1, pl.Int64).alias("n_forms"), pl.lit(None, pl.String).alias("note")
    )
    config = {"complete": False}
    made = quality(gold, lexicon, config, sample=drawn, looked_up=keyed)
    assert made["lemmas"]["population"].unique().to_list() == [45]
    without = quality(gold, lexicon, config, sample=drawn)
    assert without["lemmas"]["population"].unique().to_list() == [30]
