"""Lexicons from tables: selected rows, normalised text, homographs, listed forms, unions."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline import memory
from pipeline.errors import ConfigError, DataError, WaitsForPerson
from pipeline.kernels.sampling import candidate_id
from pipeline.runner.store.digest import table_digest
from pipeline.stages.base import FAULTS, STAGES, iterate_pieces
from schemas import KeyedEntries
from schemas.validate import validate
from tests.kernels.room_for import room_for
from tests.stages.run_stage import faults, run_stage

TABLE = pl.DataFrame(
    {
        "lemma": ["ra", "ra ", "bank", "bank", "bank", "dar", "ra"],
        "form": ["ra", "RAT", "bank", "banks", "banke", None, "ra"],
        "pos": ["V", "V", "N1", "N1", "N2", "N", "V"],
    }
)


def read(table: pl.DataFrame = TABLE, **config: Any) -> dict[str, pl.DataFrame]:
    return run_stage("extract.lexicon", config, path=table)


def forms(tables: dict[str, pl.DataFrame], lemma: str) -> list[str | None]:
    return tables["lexicon"].filter(lemma=lemma)["form"].sort().to_list()


def test_forms_of_each_lemma_are_listed_once() -> None:
    tables = read()
    assert forms(tables, "ra") == ["RAT", "ra"]
    assert forms(tables, "bank") == ["bank", "banke", "banks"]
    assert forms(tables, "dar") == [None]
    assert tables["lemmas"].sort("position").rows() == [
        (1, "ra", 3, 2),
        (2, "bank", 3, 3),
        (3, "dar", 1, 0),
    ]
    assert faults(tables) == []


def test_all_steps_of_preparation_are_counted() -> None:
    steps = dict(read(case="lower")["preparation"].select("step", "n").rows())
    assert steps == {
        "rows read": 7,
        "texts changed: blanks around": 1,
        "texts changed: Unicode NFC": 0,
        "texts changed: lower case": 1,
        "rows without a form": 1,
        "rows that repeat another": 1,
        "lemmas": 3,
        "lemmas without any form": 1,
        "forms, each counted once per lemma": 5,
    }


def test_homographs_can_be_separated() -> None:
    result = read(apart_by=["pos"])
    assert forms(result, "bank|N1") == ["bank", "banks"]
    assert forms(result, "bank|N2") == ["banke"]


def test_a_lemma_with_the_homograph_separator_is_a_fault() -> None:
    odd = TABLE.with_columns(lemma=pl.lit("a|b"))
    assert len(faults(read(odd, apart_by=["pos"]))) == 7
    assert faults(read(odd)) == []


def test_rows_are_selected() -> None:
    assert read(where="pos = 'V'")["lemmas"]["lemma"].to_list() == ["ra"]
    with pytest.raises(ValidationError, match="is not a Polars SQL condition"):
        read(where="pos = = 'V'")
    with pytest.raises(ConfigError, match="where: the file has no column 'part'"):
        read(where="part = 'V'")


def test_a_printed_dictionary_can_be_read() -> None:
    keyed = pl.DataFrame(
        {"headword": ["missier", "ra", "ra"], "homograph": [None, "1", "2"],
         "forms": ["missierek, missierna,missier", "rajt", None]}
    )  # fmt: skip
    names = {"lemma": "headword", "form": "forms"}
    result = read(keyed, columns=names, forms_separator=", ", lemma_is_form=True)
    assert forms(result, "missier") == ["missier", "missierek", "missierna"]
    assert forms(result, "ra") == ["ra", "rajt"]
    apart = read(
        keyed, columns=names, forms_separator=",", lemma_is_form=True, apart_by=["homograph"]
    )
    assert forms(apart, "ra|2") == ["ra"]
    assert forms(apart, "missier|")[0] == "missier"


def test_separators_alone_are_not_forms() -> None:
    keyed = pl.DataFrame({"lemma": ["bank", "dar"], "form": ["bank, ,banks,, ", " , "]})
    tables = read(keyed, forms_separator=",")
    assert forms(tables, "bank") == ["bank", "banks"]
    assert forms(tables, "dar") == [None]
    steps = dict(tables["preparation"].select("step", "n").rows())
    assert (steps["rows without a form"], steps["texts changed: blanks around"]) == (1, 0)


def test_spelling_can_be_normalised() -> None:
    table = pl.DataFrame({"lemma": ["Ёж", "еж"], "form": ["ежи", "ёжи"]})
    tables = read(table, case="lower", replace={"ё": "е"})
    assert tables["lexicon"].rows() == [("еж", "ежи")]


def test_a_row_without_a_lemma_is_a_fault() -> None:
    odd = pl.DataFrame({"word": ["a", None], "form": ["b", "c"]})
    assert faults(read(odd, columns={"lemma": "word"})) == [(3, "word", None)]


def test_missing_columns_are_refused() -> None:
    with pytest.raises(ConfigError, match="columns.form.*\n.*apart_by.*no column 'part'"):
        read(TABLE.drop("form"), apart_by=["part"])


def test_several_lexicons_can_be_united() -> None:
    one = pl.DataFrame({"lemma": ["a", "b"], "form": ["x", None]})
    two = pl.DataFrame({"lemma": ["a", "b"], "form": ["y", "z"]})
    stage = STAGES.get("extract.union")
    config = stage.config.model_validate({"lexicons": ["p", "q"]})
    table = stage.run(config, {"lexicons.0": one.lazy(), "lexicons.1": two.lazy()})["lexicon"]
    assert sorted(table.lazy().collect().rows()) == [("a", "x"), ("a", "y"), ("b", "z")]


def test_forms_are_generated_by_paradigms() -> None:
    entries = pl.DataFrame({"lemma": ["kiteb"], "stem": ["ktib"], "paradigm": ["I"]})
    paradigms = pl.DataFrame({"paradigm": ["I", "I"], "ending": ["na", "ni~"]})
    stage = STAGES.get("extract.paradigms")
    config = stage.config.model_validate({"entries": "e.tsv", "paradigms": "p.tsv"})

    def run_paradigms(entries: pl.DataFrame) -> dict[str, pl.DataFrame]:
        tables = {"entries": _add_places(entries), "paradigms": _add_places(paradigms)}
        return {k: v.lazy().collect() for k, v in stage.run(config, tables).items()}

    assert sorted(run_paradigms(entries)["lexicon"]["form"]) == ["ktibna", "niktib"]
    assert faults(run_paradigms(entries)) == []
    wrong = entries.with_columns(paradigm=pl.lit("VII"))
    assert faults(run_paradigms(wrong)) == [(2, "paradigm", "VII")]
    assert faults(run_paradigms(entries.with_columns(stem=pl.lit(None, pl.String)))) == [
        (2, "stem", None)
    ]


def test_generated_forms_are_counted() -> None:
    entries = pl.DataFrame({"lemma": ["Ir"], "stem": ["i"], "paradigm": ["I"]})
    paradigms = pl.DataFrame({"paradigm": ["I", "I"], "ending": ["r", "R"]})
    tables = {
        "entries": _add_places(entries).collect(),
        "paradigms": _add_places(paradigms).collect(),
    }
    outputs = run_stage("extract.paradigms", {"case": "lower"}, **tables)
    assert dict(outputs["preparation"].select("step", "n").rows()) == {
        "forms generated": 2,
        "texts changed: blanks around": 0,
        "texts changed: Unicode NFC": 0,
        "texts changed: lower case": 3,
        "lemmas": 1,
        "forms, each counted once per lemma": 1,
    }


def _add_places(frame: pl.DataFrame) -> pl.LazyFrame:
    line = pl.int_range(2, pl.len() + 2, dtype=pl.Int64).alias("line")
    return frame.lazy().select(pl.lit("t.tsv").alias("file"), line, pl.all())


# Stages of lexicons in parts: the same tables in the order of their keys for any memory

ROOMS = [pytest.param(1, marks=pytest.mark.long), 3, pytest.param(10, marks=pytest.mark.long)]
Tables = dict[str, pl.DataFrame]


def in_parts(use: str, config: Mapping[str, Any], **tables: pl.DataFrame) -> Tables:
    """Run a stage part by part; its parts are valid, and in the order of their key."""
    stage = STAGES.get(use)
    options = stage.config.model_validate(config)
    lazy = {name.replace("_0", ".0").replace("_1", ".1"): t.lazy() for name, t in tables.items()}
    result: dict[str, list[pl.DataFrame]] = {}
    for piece in iterate_pieces(stage.make(options, lazy)):
        for name, frame in piece.items():
            result.setdefault(name, []).append(_sort_part(use, name, frame))
    whole = {name: pl.concat(parts) for name, parts in result.items()}
    assert whole.pop(FAULTS, pl.DataFrame()).is_empty()
    for name, model in stage.outputs.items():
        validate([whole[name]], model, name=name)
        assert whole[name].equals(whole[name].sort(model.key())), name
    return whole


def _sort_part(use: str, name: str, frame: Any) -> pl.DataFrame:
    """Sort a part as the runner does before it is written."""
    outputs = STAGES.get(use).outputs
    table: pl.DataFrame = frame.lazy().collect()
    return table.sort(outputs[name].key()) if name in outputs else table


def digests(use: str, tables: Tables) -> dict[str, str]:
    models = STAGES.get(use).outputs
    return {
        name: table_digest(frame.lazy(), key=models[name].key(), name=name)[0]
        for name, frame in tables.items()
    }


def rows(seed: str, count: int = 60) -> pl.DataFrame:
    """Return a file with homographs, repeats, blanks, fields of several forms and of none."""
    draw = random.Random(seed)
    lemmas = ["ra", "Ra", "dar", "ktieb", "bank", "ħobż", "z", "é", "é"]
    forms = [None, "", " ", "rat", "RAT", "rajt, rat", "dar", "djar,", "kotba", "é", "é", " xemx"]
    return pl.DataFrame(
        {
            "file": [draw.choice(["a.tsv", "b.tsv"]) for _ in range(count)],
            "line": list(range(2, count + 2)),
            "lemma": [draw.choice(lemmas) for _ in range(count)],
            "form": [draw.choice(forms) for _ in range(count)],
            "pos": [draw.choice(["N", "V", None]) for _ in range(count)],
        }
    )


def lexicon(seed: str, **config: Any) -> Tables:
    return in_parts("extract.lexicon", {"path": "a.tsv", **config}, path=rows(seed))


@pytest.mark.parametrize("parts", ROOMS)
@pytest.mark.parametrize(
    "config",
    [
        {},
        {"case": "lower", "apart_by": ["pos"]},
        {"forms_separator": ",", "lemma_is_form": True},
        {"where": "pos = 'N'", "replace": {"a": "o", "at": "x"}, "unicode": "NFD"},
        {"where": "pos = 'X'"},
    ],
)
def test_a_lexicon_in_parts_equals_the_whole(config: dict[str, Any], parts: int) -> None:
    expected = lexicon("one", **config)
    with room_for(parts):
        table = lexicon("one", **config)
    assert digests("extract.lexicon", table) == digests("extract.lexicon", expected)


@pytest.mark.parametrize("parts", ROOMS)
def test_faults_are_reported_before_any_part(parts: int) -> None:
    stage = STAGES.get("extract.lexicon")
    empty = rows("one").with_columns(lemma=pl.when(pl.col("line") % 20 > 0).then("lemma"))
    with room_for(parts):
        pieces = iterate_pieces(
            stage.make(stage.config.model_validate({"path": "a"}), {"path": empty.lazy()})
        )
        first = next(iter(pieces))
    assert first[FAULTS].lazy().collect()["line"].sort().to_list() == [20, 40, 60]


def generate_forms(**config: Any) -> Tables:
    """Generate forms by paradigms of many endings, of one, and of none."""
    entries = [(f" l{i % 7}", f"s{i % 5}", f"p{i % 3}") for i in range(40)]
    endings = [("p0", f"{i % 9}~É") for i in range(12)] + [("p1", None), ("p2", "e")]
    one = pl.DataFrame(entries, schema=["lemma", "stem", "paradigm"], orient="row")
    two = pl.DataFrame(endings, schema=["paradigm", "ending"], orient="row")
    line = pl.int_range(2, pl.len() + 2, dtype=pl.Int64).alias("line")
    tables = {
        name: table.select("*", line, file=pl.lit(f"{name}.tsv"))
        for name, table in (("entries", one), ("paradigms", two))
    }
    options = {"entries": "e.tsv", "paradigms": "p.tsv", **config}
    return in_parts("extract.paradigms", options, **tables)


@pytest.mark.parametrize("parts", [*ROOMS, 100])
@pytest.mark.parametrize("config", [{}, {"case": "lower", "replace": {"l1": "l2"}}])
def test_forms_generated_in_parts_equal_the_whole(config: dict[str, Any], parts: int) -> None:
    expected = generate_forms(**config)
    assert expected["lexicon"]["form"].n_unique() > 30
    with room_for(parts):
        table = generate_forms(**config)
    assert digests("extract.paradigms", table) == digests("extract.paradigms", expected)


def unite(seeds: tuple[str, ...]) -> pl.DataFrame:
    several = {f"lexicons_{i}": lexicon(seed)["lexicon"] for i, seed in enumerate(seeds)}
    return in_parts("extract.union", {"lexicons": seeds}, **several)["lexicon"]


@pytest.mark.long
@pytest.mark.parametrize("parts", ROOMS)
def test_a_union_in_parts_equals_the_whole(parts: int) -> None:
    expected = unite(("one", "two"))
    with room_for(parts):
        assert unite(("one", "two")).equals(expected)


def words(seed: str, lemmas: int) -> pl.DataFrame:
    """Return a wordlist whose lemmas share forms, some without any."""
    draw = random.Random(seed)
    pairs = {
        (f"l{draw.randrange(lemmas)}", f"w{draw.randrange(lemmas)}") for _ in range(lemmas * 3)
    }
    bare: set[tuple[str, str | None]] = {(f"bare{i}", None) for i in range(3)}
    schema = {"lemma": pl.String, "form": pl.String}
    return pl.DataFrame([*pairs, *bare], schema=schema, orient="row").sort("lemma", "form")


def evaluation_digests(
    config: dict[str, Any], sampled: dict[str, Any] | None, lemmas: int = 25
) -> dict[str, str]:
    """Return the digests of all tables from two wordlists to L*."""
    gold, other = words("gold", lemmas), words("lexicon", lemmas)
    tables = {"gold": gold, "lexicon": other}
    references = {name: name for name in tables}
    overlaps = in_parts("score.lexicon", references, **tables)
    result = digests("score.lexicon", overlaps)
    options = {**references, "overlaps": "overlaps", "seed": "s", **config}
    if sampled is not None:
        draw = {"gold": "gold", "lexicons": ["lexicon"], "seed": "s", **sampled}
        sample = in_parts("sample.lemmas", draw, gold=gold, lexicons_0=other)
        result |= digests("sample.lemmas", sample)
        tables |= {"sample": sample["sample"]}
        options["sample"] = "sample"
    output = in_parts("evaluate.lexicon", options, **tables, overlaps=overlaps["overlaps"])
    return result | digests("evaluate.lexicon", output)


@pytest.mark.long
@pytest.mark.parametrize("parts", ROOMS)
@pytest.mark.parametrize(
    ("config", "sampled"),
    [
        ({}, None),
        ({"weights": "published", "order": "size"}, None),
        ({"n": 5887, "weights": "published"}, {"rate": 0.4, "design": "simple"}),
        ({}, {"rate": 0.5, "design": "size"}),
        ({"complete": False, "order": "size"}, {"size": 7}),
        ({}, {"lemmas": ["l1", "l2", "bare1"]}),
    ],
)
def test_an_evaluation_in_parts_equals_the_whole(
    config: dict[str, Any], sampled: dict[str, Any] | None, parts: int
) -> None:
    lemmas = 25 if parts > 3 else 12
    expected = evaluation_digests(config, sampled, lemmas)
    with room_for(parts):
        assert evaluation_digests(config, sampled, lemmas) == expected


@pytest.mark.parametrize("parts", ROOMS)
def test_lexicons_without_common_lemmas_have_no_overlaps(parts: int) -> None:
    gold = words("gold", 5)
    other = gold.select(lemma="x" + pl.col("lemma"), form=pl.lit("y")).unique()
    references = {"gold": "gold", "lexicon": "lexicon"}
    with room_for(parts):
        overlaps = in_parts("score.lexicon", references, gold=gold, lexicon=other)["overlaps"]
        tables = in_parts(
            "evaluate.lexicon", {**references, "overlaps": "overlaps", "seed": "s"},
            gold=gold, lexicon=other, overlaps=overlaps,
        )  # fmt: skip
    assert overlaps.is_empty()
    assert tables["lemmas"].is_empty()


def test_scores_that_exceed_the_memory_are_refused() -> None:

    with memory.with_limit(2_000), pytest.raises(DataError, match="the scores of .* lemmas"):
        evaluation_digests({}, None)


# From wordlists to L*: samples, quality, comparison, keyed-in gold

Rows = list[tuple[str, str | None]]
SCHEMA = {"lemma": pl.String, "form": pl.String}


def words_by_stages(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def many(count: int, forms: int = 3) -> pl.DataFrame:
    return words_by_stages(
        [(f"l{i}", f"w{i}{j}") for i in range(count) for j in range(1 + i % forms)]
    )


GOLD = words_by_stages([("a", "u"), ("a", "v"), ("b", "x"), ("c", "y")])
LEXICON = words_by_stages([("a", "u"), ("b", "x"), ("b", "v"), ("d", "y")])


def run_on_lists(use: str, config: dict[str, Any], **tables: Any) -> dict[str, pl.DataFrame]:
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
    result = stage.run(stage.config.model_validate(config), flat)
    by_name = {name: table.lazy().collect() for name, table in result.items()}
    for name, model in stage.outputs.items():
        validate([by_name[name]], model, name=name)
    return by_name


def sample(config: dict[str, Any], **tables: Any) -> pl.DataFrame:
    return run_on_lists("sample.lemmas", {"seed": "s", **config}, **tables)["sample"]


def quality(
    gold: pl.DataFrame, lexicon: pl.DataFrame, config: dict[str, Any] | None = None, **tables: Any
) -> dict[str, pl.DataFrame]:
    overlaps = run_stage("score.lexicon", {}, gold=gold, lexicon=lexicon)["overlaps"]
    inputs = {"gold": gold, "lexicon": lexicon, "overlaps": overlaps, **tables}
    return run_stage("evaluate.lexicon", {"seed": "s", **(config or {})}, **inputs)


def values(tables: dict[str, pl.DataFrame]) -> dict[str, float | None]:
    return dict(tables["quality"].select("statistic", "value").rows())


def test_a_share_of_the_common_lemmas_is_drawn() -> None:
    gold, lexicon = many(40), many(30)
    draws = sample({"rate": 0.1, "design": "simple"}, gold=gold, lexicons={"x": lexicon})
    assert (draws.height, draws["population"][0], draws["drawn"].all()) == (3, 30, True)
    assert draws.select("pi", "stratum").unique().rows() == [(0.1, "all")]
    more = sample({"rate": 0.5, "design": "simple"}, gold=gold, lexicons={"x": lexicon})
    assert set(draws["lemma"]) < set(more["lemma"])
    assert sample({"rate": 0.001}, gold=gold, lexicons={"x": lexicon}).height == 1
    assert sample({"size": 7}, gold=gold, lexicons={"x": lexicon}).height == 7
    assert sample({"size": 99}, lexicons={"x": lexicon}).height == 30


def test_only_lemmas_of_all_lexicons_are_drawn() -> None:
    draws = sample({"rate": 1.0}, gold=many(9), lexicons={"x": many(8), "y": many(7)})
    assert sorted(draws["lemma"]) == [f"l{i}" for i in range(7)]


def test_without_common_lemmas_none_is_drawn() -> None:
    result = sample(
        {"rate": 0.5},
        gold=words_by_stages([("a", "x")]),
        lexicons={"x": words_by_stages([("b", "x")])},
    )
    assert result.height == 0


def test_lemmas_can_be_listed() -> None:
    result = sample({"lemmas": ["b", "a", "b"]}, gold=GOLD, lexicons={"x": LEXICON})
    assert result.rows() == [("b", 1, 2, False, None, "all"), ("a", 2, 2, False, None, "all")]
    with pytest.raises(ConfigError, match="2 of 3 lemmas are not .* for example 'c', 'zz'"):
        sample({"lemmas": ["a", "c", "zz"]}, gold=GOLD, lexicons={"x": LEXICON})


def test_lemmas_can_be_listed_in_a_file() -> None:
    rows = pl.DataFrame({"file": "l.tsv", "line": [2, 3], "lemma": ["b", "zz"]})
    stage = STAGES.get("sample.lemmas")
    config = {"gold": "gold", "lexicons": ["x"], "path": "l.tsv", "drawn": True}
    tables = {"gold": GOLD.lazy(), "lexicons.0": LEXICON.lazy(), "path": rows.lazy()}
    outputs = stage.run(stage.config.model_validate(config), tables)
    assert outputs["sample"].lazy().collect().rows() == [("b", 1, 2, True, 0.5, "all")]
    assert outputs[FAULTS].lazy().collect().select("line", "value").rows() == [(3, "zz")]


@pytest.mark.parametrize(
    "config",
    [{}, {"rate": 0.0}, {"rate": 1.1}, {"rate": 0.1, "size": 3}, {"rate": 0.1, "drawn": True}],
)
def test_invalid_rates_and_sizes_are_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        STAGES.get("sample.lemmas").config.model_validate({"lexicons": ["x"], **config})


def test_quality_is_computed_from_all_common_lemmas() -> None:
    """a: 1 of 2 forms, L = 2/3; b: 1 of 1, and one more, L = 2/3. c is d, but not in Y."""
    tables = quality(GOLD, LEXICON)
    results = values(tables)
    assert results["L*"] == pytest.approx(2 / 3)
    assert (results["gold lemmas"], results["lexicon lemmas"], results["common lemmas"]) == (
        3,
        3,
        2,
    )
    assert results["coverage"] == pytest.approx(2 / 3)
    assert results["F*"] == pytest.approx((2 * 2 / 3 + 2 / 3 + 1) / 4)
    assert results["best-match F1"] == pytest.approx(2 * 3 / (4 + 4))
    assert results["mean precision"] == pytest.approx(0.75)
    assert results["population variance of L"] == 0.0
    assert results["r(L, P)"] is None
    rows = tables["lemmas"].select("lemma", "missing", "spurious").rows()
    assert rows == [("a", "v", ""), ("b", "", "v")]
    assert tables["forms"].filter(lemma="b").sort("form").rows() == [
        ("b", "v", False, True), ("b", "x", True, True),
    ]  # fmt: skip
    limits = tables["quality"].filter(statistic="L*").select("lower", "upper").row(0)
    assert limits == pytest.approx((2 / 3, 2 / 3))


@pytest.mark.parametrize(("design", "method"), [("size", "beta"), ("simple", "bootstrap_t")])
def test_quality_of_a_sample_has_intervals(design: str, method: str) -> None:
    gold = many(200)
    lexicon = gold.filter(pl.col("form").str.ends_with("1").not_())
    draws = sample({"rate": 0.3, "design": design}, gold=gold, lexicons={"x": lexicon})
    tables = quality(gold, lexicon, {"replicates": 200}, sample=draws)
    row = tables["quality"].filter(statistic="L*").row(0, named=True)
    truth = values(quality(gold, lexicon))["L*"]
    assert row["lower"] < row["value"] < row["upper"]
    assert truth is not None
    assert row["lower"] < truth < row["upper"]
    widths = tables["widths"].filter(pl.col("rate") == 1.0).row(0, named=True)
    assert (widths["n_lemmas"], widths["standard_error"]) == (200, 0.0)
    assert tables["trends"].height == draws.height
    methods = tables["intervals"].filter("chosen").select("method", "used").rows()
    assert methods == [(method, method)]


def test_a_list_of_lemmas_has_no_interval() -> None:
    gold = many(50)
    lexicon = gold.filter(~pl.col("form").str.ends_with("1"))
    lemmas = ["l0", "l1", "l2", "l5", "l6"]
    for drawn in (False, True):
        options = {"lemmas": lemmas, "drawn": drawn}
        table = sample(options, gold=gold, lexicons={"x": lexicon})
        tables = quality(gold, lexicon, {"replicates": 100}, sample=table)
        row = tables["quality"].filter(statistic="L*").row(0, named=True)
        assert row["value"] < 1
        assert (row["lower"] is not None, row["upper"] is not None) == (drawn, drawn)
        assert tables["widths"]["width"].is_not_null().all() == drawn


def test_published_weights_and_n_give_the_published_value() -> None:
    rows: Rows = [("missier", f"w{i}") for i in range(10)]
    result = quality(
        words_by_stages(rows),
        words_by_stages(rows[:7]),
        {"weights": "published", "n": 5887},
    )
    assert round(values(result)["L*"] or 0, 9) == 0.000979226
    assert values(result)["n"] == 5887


@pytest.mark.parametrize("lexicon", [words_by_stages([]), words_by_stages([("z", "y")])])
def test_without_common_lemmas_quality_is_undefined(lexicon: pl.DataFrame) -> None:
    tables = quality(GOLD, lexicon)
    results = values(tables)
    assert (results["sampled lemmas"], results["L*"], results["mean L"]) == (0, None, None)
    assert results["coverage"] == 0.0
    assert tables["lemmas"].height == tables["forms"].height == tables["trends"].height == 0


def test_an_empty_gold_has_no_coverage() -> None:
    results = values(quality(words_by_stages([]), LEXICON))
    assert (results["F*"], results["coverage"], results["lemmas outside"]) == (None, None, 3)


def test_a_lemma_without_forms_has_no_weight() -> None:
    gold = words_by_stages([("a", None), ("b", "x")])
    tables = quality(gold, words_by_stages([("a", "u"), ("b", "x")]))
    assert values(tables)["L*"] == 1.0
    assert values(tables)["lemmas without forms"] == 1
    assert tables["lemmas"]["L"].to_list() == [0.0, 1.0]


def test_lexicons_are_compared_on_the_same_lemmas() -> None:
    gold = many(120)
    one, two = gold, gold.filter(~pl.col("form").str.ends_with("1"))
    draws = sample({"rate": 0.4}, gold=gold, lexicons={"x": one, "y": two})
    scores = {
        name: quality(gold, lexicon, {"replicates": 100}, sample=draws)["lemmas"]
        for name, lexicon in {"x": one, "y": two}.items()
    }
    tables = run_on_lists("evaluate.lexicons", {"seed": "s", "replicates": 300}, lexicons=scores)
    row = tables["differences"].row(0, named=True)
    stars = dict(tables["lexicons"].select("lexicon", "l_star").rows())
    assert row["difference"] == pytest.approx(stars["x"] - stars["y"])
    assert 0 < row["lower"] < row["difference"] < row["upper"]
    assert (row["n_first"] + row["n_equal"], row["n_second"]) == (draws.height, 0)
    first = tables["lemmas"].filter(rank=1)
    assert first["range"].max() == tables["lemmas"]["range"].max()
    assert tables["lemmas"].height == 2 * draws.height


def test_evaluations_on_other_lemmas_cannot_be_compared() -> None:
    gold = many(30)
    scores = {
        "x": quality(gold, gold)["lemmas"],
        "y": quality(gold, gold.filter(pl.col("lemma") != "l3"))["lemmas"],
    }
    with pytest.raises(ConfigError, match="1 lemmas are only in x or only in y, for example 'l3'"):
        run_on_lists("evaluate.lexicons", {}, lexicons=scores)
    other = quality(gold.filter(~pl.col("form").str.ends_with("2")), gold)["lemmas"]
    with pytest.raises(ConfigError, match="different gold standards"):
        run_on_lists("evaluate.lexicons", {}, lexicons={"x": scores["x"], "y": other})


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"weights": "published"}, {}, "x, y were evaluated with different weights"),
        ({}, {"n": 5887}, "y was evaluated with option n"),
    ],
)
def test_evaluations_with_other_weights_cannot_be_compared(
    first: dict[str, Any], second: dict[str, Any], message: str
) -> None:
    gold = many(30)
    lexicon = gold.filter(~pl.col("form").str.ends_with("1"))
    scores = {
        "x": quality(gold, lexicon, first)["lemmas"],
        "y": quality(gold, lexicon, second)["lemmas"],
    }
    with pytest.raises(ConfigError, match=message):
        run_on_lists("evaluate.lexicons", {"seed": "s"}, lexicons=scores)
    alike = {"x": scores["x"], "y": quality(gold, lexicon, {**first, "n": None})["lemmas"]}
    assert (
        run_on_lists("evaluate.lexicons", {"seed": "s"}, lexicons=alike)["differences"].height == 1
    )


def test_equal_clusters_have_equal_weights_in_any_case() -> None:
    gold = many(30)
    scores = {
        "x": quality(gold, gold, {"weights": "published"})["lemmas"],
        "y": quality(gold, gold.filter(~pl.col("form").str.ends_with("1")))["lemmas"],
    }
    tables = run_on_lists("evaluate.lexicons", {"seed": "s"}, lexicons=scores)
    assert tables["lexicons"]["l_star"][0] == 1.0


def join_keying(rows: list[tuple[str, str | None]], **config: Any) -> dict[str, pl.DataFrame]:
    lemmas = pl.DataFrame({"lemma": ["a", "b", "c"]}).with_columns(candidate_id("lemma"))
    order = pl.Series("order", [1, 2, 3], pl.Int64)
    sheet = lemmas.select(pl.lit("anna").alias("annotator"), order, "id", "lemma")
    entries = pl.DataFrame(
        [("s.csv", line, "anna", lemma, forms, None) for line, (lemma, forms) in enumerate(rows, 2)],
        schema={k: v for k, v in KeyedEntries.columns().items() if k != "id"}, orient="row",
    ).with_columns(candidate_id("lemma")).select(*KeyedEntries.columns())  # fmt: skip
    return run_stage("join.keying", config, sheet=sheet, entries=entries)


def test_keyed_forms_become_the_gold() -> None:
    tables = join_keying([("a", "u, v; v"), ("b", "-"), ("c", "Y"), ("old", "x")], case="lower")
    assert tables["gold"].sort("lemma", "form").rows() == [("a", "u"), ("a", "v"), ("c", "y")]
    assert tables["keyed"].sort("lemma").select("lemma", "found", "n_forms").rows() == [
        ("a", True, 2), ("b", False, 0), ("c", True, 1),
    ]  # fmt: skip
    assert tables["others"]["lemma"].to_list() == ["old"]
    assert tables[FAULTS].height == 0
    steps = tables["preparation"].sort("number").select("step", "n", "such_as").rows()
    assert steps == [
        ("forms keyed in", 4, None),
        ("texts changed: blanks around", 0, None),
        ("texts changed: Unicode NFC", 0, None),
        ("texts changed: lower case", 1, "'Y' → 'y'"),
        ("lemmas to look up", 3, None),
        ("lemmas not looked up yet", 0, None),
    ]


def test_lemmas_can_be_among_their_forms() -> None:
    tables = join_keying([("a", "u"), ("b", "-"), ("c", "c")], lemma_is_form=True)
    assert tables["gold"].sort("lemma", "form").rows() == [("a", "a"), ("a", "u"), ("c", "c")]


def test_the_stage_waits_for_missing_lemmas() -> None:
    rows: list[tuple[str, str | None]] = [("a", "u"), ("b", None), ("c", " ")]
    with pytest.raises(WaitsForPerson, match="waiting for 2 lemmas"):
        join_keying(rows)
    tables = join_keying(rows, partial=True)
    assert tables["keyed"].height == 1
    steps = dict(tables["preparation"].select("step", "n").rows())
    assert steps["lemmas not looked up yet"] == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "u, -"), ("b", "x"), ("c", "y")], "contains forms and a -"),
        ([("a", " ; "), ("b", "x"), ("c", "y")], "contains no form"),
        ([("a", "u"), ("a", "-"), ("b", "x"), ("c", "y")], "one row of this lemma has forms"),
    ],
)
def test_invalid_keyed_forms_are_faults(rows: list[tuple[str, str | None]], message: str) -> None:
    assert message in join_keying(rows, partial=True)[FAULTS]["problem"][0]


def test_a_keyed_gold_represents_lemmas_of_the_dictionary() -> None:
    """30 of 60 lemmas are drawn, and two thirds of these found: they represent 40."""
    lexicon = many(60)
    draws = sample({"rate": 0.5, "design": "simple"}, lexicons={"x": lexicon})
    known = draws.sort("lemma").head(20)["lemma"]
    gold = lexicon.filter(pl.col("lemma").is_in(known.to_list()))
    tables = quality(gold, lexicon, {"complete": False}, sample=draws)
    assert tables["lemmas"]["population"].unique().to_list() == [40]
    assert tables["lemmas"].height == 20
    assert values(tables)["F*"] is None


def test_lemmas_not_looked_up_are_not_absent() -> None:
    """30 of 60 lemmas are drawn, 20 looked up, and 15 of these found: they represent 45."""
    lexicon = many(60)
    draws = sample({"rate": 0.5, "design": "simple"}, lexicons={"x": lexicon})
    looked_up = draws.sort("position")["lemma"].head(20)
    gold = lexicon.filter(pl.col("lemma").is_in(looked_up.head(15).to_list()))
    found_lemmas = pl.Series("found", [True] * 15 + [False] * 5)
    keyed = looked_up.to_frame().with_columns(
        found_lemmas, pl.lit(1, pl.Int64).alias("n_forms"), pl.lit(None, pl.String).alias("note")
    )
    config = {"complete": False}
    tables = quality(gold, lexicon, config, sample=draws, looked_up=keyed)
    assert tables["lemmas"]["population"].unique().to_list() == [45]
    without = quality(gold, lexicon, config, sample=draws)
    assert without["lemmas"]["population"].unique().to_list() == [30]
