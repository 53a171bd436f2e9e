"""The stages that evaluate clusters, on the worked examples."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

import pipeline as lx
from pipeline.errors import ConfigError, DataError
from pipeline.kernels.clustering.types import bounds
from pipeline.memory import with_limit
from pipeline.stages.base import STAGES
from schemas import GoldEntries, InducedEntries, TaggedTypes
from tests.stages.run_stage import SmallRun, counts, run_stage

GOLD = {"dog": "N", "run": "NV", "eat": "V", "walk": "NV"}
INDUCED = {"dog": "0", "run": "01", "eat": "1", "walk": "2"}


def gold(classes: Mapping[str, str] = GOLD) -> pl.DataFrame:
    rows = [(item, one, 1) for item, clusters in classes.items() for one in clusters]
    return pl.DataFrame(rows, schema=GoldEntries.columns(), orient="row")


def entries(
    clusters: Mapping[str, str] = INDUCED, *, system: str = "S", run: str = "1"
) -> pl.DataFrame:
    rows = [(system, run, item, one, None) for item, labels in clusters.items() for one in labels]
    return pl.DataFrame(rows, schema=InducedEntries.columns(), orient="row")


def tagged_table(cells: Mapping[tuple[str, str | None], int], *, run: str = "1") -> pl.DataFrame:
    rows = [("S", run, f"{c}{k}", c, k, f) for (c, k), f in cells.items()]
    return pl.DataFrame(rows, schema=TaggedTypes.columns(), orient="row")


def stage(use: str, config: dict[str, Any], **tables: Any) -> dict[str, pl.DataFrame]:
    """Run a stage; tables of an option that is a list of tables are named "a", "b" ..."""
    options: dict[str, pl.DataFrame] = {}
    for option, value in tables.items():
        if isinstance(value, list):
            options |= {f"{option}.{number}": each for number, each in enumerate(value)}
            config = config | {option: [chr(97 + number) for number in range(len(value))]}
        else:
            options[option] = value
            config = config | {option: option}
    known = STAGES.get(use)
    lazily = {name: frame.lazy() for name, frame in options.items()}
    result = known.run(known.config.model_validate(config), lazily)
    return {name: each.lazy().collect() for name, each in result.items()}


def test_the_type_level_has_the_values_of_the_example() -> None:
    tables = stage("evaluate.type_level", {"seed": "s"}, gold=gold(), systems=[entries()])
    by_name = {
        (measure, mapping): value
        for measure, mapping, value in tables["scores"]
        .select("measure", "mapping", "value")
        .iter_rows()
    }
    expected = {
        ("MacroI", "1-1"): Fraction(8, 11), ("MicroI", "1-1"): Fraction(3, 4),
        ("MicroC", "1-1"): Fraction(16, 25), ("MacroI", "M-1"): Fraction(10, 11),
        ("MicroI", "M-1"): Fraction(11, 12), ("MicroC", "M-1"): Fraction(23, 25),
    }  # fmt: skip
    assert {key: by_name[key] for key in expected} == pytest.approx(
        {key: float(value) for key, value in expected.items()}
    )
    assert tables["overlaps"].sort("gold", "cluster").drop("system", "run").rows() == [
        ("N", "0", 2, 3, 2), ("N", "1", 1, 3, 2), ("N", "2", 1, 3, 1),
        ("V", "0", 1, 3, 2), ("V", "1", 2, 3, 2), ("V", "2", 1, 3, 1),
    ]  # fmt: skip


def test_runs_are_evaluated_separately_with_the_options() -> None:
    both = pl.concat([entries(run="1"), entries({"dog": "7", "cat": "78"}, run="2")])
    config = {"seed": "s", "measures": ["MicroI"], "mappings": ["M-1"], "worst": 1}
    tables = stage("evaluate.type_level", config, gold=gold(), systems=[both, entries(system="T")])
    scores = tables["scores"].filter(mapping="M-1")
    assert scores.select("system", "run", "n_dropped", "n_without_cluster").rows() == [
        ("S", "1", 0, 0), ("S", "2", 1, 3), ("T", "1", 0, 0),
    ]  # fmt: skip
    assert tables["items"].height == 3
    second = tables["overlaps"].filter(run="2").drop("system", "run")
    assert second.rows() == [("N", "7", 1, 3, 1)]


def test_the_worst_frequent_items_are_first() -> None:
    counted = gold().with_columns(f=pl.Series([1, 2, 2, 9, 3, 3]))
    nothing = entries({"other": "0"})
    config = {"seed": "s", "measures": ["MacroI"], "mappings": ["M-1"], "worst": 3}
    items = stage("evaluate.type_level", config, gold=counted, systems=[nothing])["items"]
    assert items.select("rank", "item", "tokens", "f").rows() == [
        (1, "eat", 9, 0.0), (2, "walk", 6, 0.0), (3, "run", 4, 0.0),
    ]  # fmt: skip


def test_memberships_that_exceed_the_memory_are_refused() -> None:
    """There are six in the gold standard and in each run: all are in memory, one run is encoded."""
    result = {"gold": gold(), "systems": [entries(), entries(run="2")]}
    rows, encoded = gold().height + 2 * entries().height, gold().height + entries().height
    needed = 60 * rows + 130 * encoded
    with with_limit(needed):
        stage("evaluate.type_level", {"seed": "s"}, **result)
    with with_limit(needed - 1), pytest.raises(DataError) as refused:
        stage("evaluate.type_level", {"seed": "s"}, **result)
    assert f"the evaluation of {rows} memberships would need about" in str(refused.value)


STUCK_GOLD = {"a": "0", "b": "01", "c": "0", "d": "01", "e": "0"}
STUCK = {"a": "2", "b": "03", "c": "23", "d": "12", "e": "01"}
"""The last worked example: a single climb sticks at 6/7, the best M-1 mapping has 7/8."""


def certificate_row(**config: Any) -> tuple[Any, ...]:
    """Return the results of MacroI under M-1."""
    options = {"seed": "s", "measures": ["MacroI"], "mappings": ["M-1"]} | config
    tables = stage("evaluate.type_level", options, gold=gold(STUCK_GOLD), systems=[entries(STUCK)])
    messages = ["value", "certificate", "bound", "gap", "starts", "starts_reaching_best"]
    row: tuple[Any, ...] = tables["scores"].filter(mapping="M-1").select(messages).row(0)
    return row


@pytest.mark.long
def test_a_certificate_proves_a_climb_or_finds_better() -> None:
    assert certificate_row()[:4] == (0.875, "not proven", None, None)
    assert certificate_row()[4] == 22
    assert 0 < certificate_row()[5] <= 22
    assert certificate_row(certificate_seconds=30)[:4] == (0.875, "proven", 0.875, 0.0)
    stuck = certificate_row(restarts=0, kicks=0)
    assert stuck[0] == pytest.approx(6 / 7)
    assert stuck[4:] == (2, 2)
    # No climb has reached the value that the search found.
    proven = certificate_row(restarts=0, kicks=0, certificate_seconds=30)
    assert proven == (0.875, "proven", 0.875, 0.0, 2, 0)
    # Nor have kicks.
    assert certificate_row(restarts=0) == (0.875, "not proven", None, None, 2, 0)


def test_an_unfinished_certificate_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "ROOT_STEPS", 1)
    value, message, bound, gap, *_ = certificate_row(certificate_seconds=1e-9)
    assert (value, message) == (0.875, "not proven")
    assert 0.875 < bound <= 1
    assert gap == bound - value


def test_two_stages_with_the_same_run_are_refused() -> None:
    with pytest.raises(DataError, match="system S, run 1 comes from two stages: a and b"):
        stage("evaluate.type_level", {"seed": "s"}, gold=gold(), systems=[entries(), entries()])


CELLS: dict[tuple[str, str | None], int] = {("a", "1"): 4, ("b", "2"): 2, ("c", "2"): 2}


def token_level(config: dict[str, Any], **tables: Any) -> dict[str, pl.DataFrame]:
    return stage("evaluate.token_level", {"seed": "s"} | config, **tables)


def values(tables: dict[str, pl.DataFrame]) -> dict[str, float]:
    return dict(tables["scores"].select("measure", "value").iter_rows())


def test_the_token_level_has_the_values_of_the_example() -> None:
    tables = token_level({"measures": ["1-1", "M-1", "V", "NVI"]}, taggings=[tagged_table(CELLS)])
    expected = {"one_to_one": 0.75, "many_to_one": 0.75, "v": 0.8, "nvi": 1 / 3}
    assert values(tables) == pytest.approx(expected)
    assert tables["overlaps"].filter(gold="b").select("n_ij", "n_i", "n_j").rows() == [(2, 2, 4)]
    assert tables["scores"]["lower"].null_count() == 4


def test_a_dictionary_is_applied_to_every_token() -> None:
    known = pl.DataFrame(
        [("x", "a", 4), ("y", "b", 2), ("y", "c", 2), ("z", "a", 9)],
        schema=GoldEntries.columns(), orient="row",
    )  # fmt: skip
    tables = token_level(
        {"measures": ["M-1", "V"]}, gold=known, dictionaries=[entries({"x": "1", "y": "2"})]
    )
    assert values(tables) == pytest.approx({"many_to_one": 0.75, "v": 0.8})
    assert counts(tables["sizes"]) == {"tokens": 17, "tokens without a cluster": 9}


def test_items_in_several_clusters_have_no_token_level() -> None:
    with pytest.raises(DataError) as error:
        token_level({}, gold=gold(), dictionaries=[entries()])
    for text in ["system S, run 1", "undefined", "1 gold item", "'run': 0, 1"]:
        assert text in str(error.value)
    fine = token_level({}, gold=gold({"dog": "N"}), dictionaries=[entries()])
    assert values(fine)["many_to_one"] == 1.0


def test_tokens_without_a_cluster_are_omitted_or_clustered() -> None:
    cells = {**CELLS, ("a", None): 4}
    assert values(token_level({"measures": ["M-1"]}, taggings=[tagged_table(cells)])) == {
        "many_to_one": 0.75
    }
    options = {"measures": ["M-1"], "without_cluster": "cluster"}
    assert values(token_level(options, taggings=[tagged_table(cells)])) == {"many_to_one": 10 / 12}


INCOMPLETE = [
    ({}, "name taggings or dictionaries"),
    ({"dictionaries": ["d"]}, "dictionaries require gold"),
    ({"taggings": ["t"], "replicates": 5}, "limits of taggings require tagging_sentences"),
    (
        {"dictionaries": ["d"], "gold": "g", "replicates": 5},
        "limits of dictionaries require gold_sentences",
    ),
    ({"taggings": ["t"], "measures": ["M1"]}, "unknown token-level measure 'M1'"),
]


@pytest.mark.parametrize(("config", "message"), INCOMPLETE)
def test_incompatible_options_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        STAGES.get("evaluate.token_level").config.model_validate(config)


def test_systems_have_ranks_and_correlations() -> None:
    types = stage(
        "evaluate.type_level", {"seed": "s", "measures": ["MacroI"]}, gold=gold(),
        systems=[entries(), entries({"dog": "0", "run": "0"}, system="T")],
    )  # fmt: skip
    cells = tagged_table(CELLS).with_columns(system=pl.lit("T"))
    apart = tagged_table({(c, c): f for (c, _), f in CELLS.items()})
    apart = apart.with_columns(item=cells["item"])
    tokens = token_level({"measures": ["M-1", "VI"]}, taggings=[apart, cells])
    tables = run_stage(
        "evaluate.systems", {}, type_level=types["scores"], token_level=tokens["scores"]
    )
    table = tables["table"].filter(system="S").select("measure", "rank").rows()
    assert table == [("MacroI 1-1", 1.0), ("MacroI M-1", 1.0), ("many_to_one", 1.0), ("vi", 1.0)]
    assert tables["correlations"]["correlation"].to_list() == [1.0] * 32
    with pytest.raises(ValidationError, match="name at least one of"):
        run_stage("evaluate.systems", {})


def test_shares_are_counted_by_class_and_band() -> None:
    tables = run_stage("evaluate.shares", {"most": [1, 2]}, gold=gold())
    assert tables["shares"].select("gold", "types", "tokens").rows() == [
        ("*", 4, 6), ("N", 3, 3), ("V", 3, 3),
    ]  # fmt: skip
    assert tables["frequent"]["k"].unique().to_list() == [1, 2]
    assert tables["frequent"].filter(gold="*")["classes"].to_list() == [2, 2]
    few = run_stage("evaluate.shares", {"bands": [1, 3]}, gold=gold())["bands"]
    assert few.filter(words="all").select("first_rank", "last_rank", "types").rows() == [
        (1, 1, 1), (2, 3, 2), (4, 4, 1), (1, 4, 4),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("bands", "message"),
    [([100, 10], "10 follows 100"), ([10, 10], "10 follows 10"), ([0], "greater than or equal")],
)
def test_bands_that_do_not_increase_are_refused(bands: list[int], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        run_stage("evaluate.shares", {"bands": bands}, gold=gold())


def test_overlapping_measures_of_equal_clusters_are_1() -> None:
    same = {"dog": "N", "run": "NV", "eat": "V", "walk": "NV"}
    tables = stage("evaluate.overlapping", {"seed": "s"}, gold=gold(), systems=[entries(same)])
    assert tables["scores"]["value"].to_list() == pytest.approx([1.0] * tables["scores"].height)
    assert "omega" in tables["scores"]["measure"]


@pytest.mark.parametrize("use", ["evaluate.type_level", "evaluate.overlapping"])
def test_weights_are_refused_if_no_measure_uses_them(use: str) -> None:
    weighed = entries().with_columns(weight=pl.Series([1.0, 0.3, 0.7, None, 1.0]))
    message = (
        "systems: stages.a has weights of clusters, 2 other than 1, for example 0.3 of 'run' in '0'"
    )
    with pytest.raises(DataError, match=message):
        stage(use, {"seed": "s"}, gold=gold(), systems=[weighed])
    classes = gold().with_columns(weight=pl.Series([1.0, 0.5, 1.0, 1.0, 1.0, 1.0]))
    with pytest.raises(
        DataError, match="gold: .* has weights of classes, 1 other than 1, for example 0.5"
    ):
        stage(use, {"seed": "s"}, gold=classes, systems=[entries()])
    alike = entries().with_columns(weight=pl.Series([1.0, 1.0, 1.0, None, 1.0]))
    tables = stage(use, {"seed": "s"}, gold=gold(), systems=[alike])
    assert tables["scores"].equals(
        stage(use, {"seed": "s"}, gold=gold(), systems=[entries()])["scores"]
    )


def test_overlapping_measures_have_limits() -> None:
    tables = {"gold": gold(), "systems": [entries()]}
    config = {"seed": "s", "measures": ["bcubed_f", "omega"], "replicates": 20}
    table = stage("evaluate.overlapping", config, **tables)["scores"]
    plain = stage("evaluate.overlapping", config | {"replicates": 0}, **tables)["scores"]
    assert table["value"].equals(plain["value"])
    assert plain["lower"].null_count() == 2
    for row in table.rows(named=True):
        assert row["lower"] < row["upper"]


def test_fuzzy_measures_use_weights_of_entries() -> None:
    weighed = entries().with_columns(weight=pl.Series([1.0, 0.3, 0.7, 1.0, 1.0]))
    config = {"seed": "s", "measures": ["fuzzy_bcubed_recall"]}
    one, other = (
        stage("evaluate.overlapping", config, gold=gold(), systems=[each])["scores"]["value"].item()
        for each in (entries(), weighed)
    )
    assert one != other
    with pytest.raises(DataError, match="1 other than 1|2 other than 1"):
        stage(
            "evaluate.overlapping",
            config | {"measures": ["fuzzy_nmi", "omega"]},
            gold=gold(),
            systems=[weighed],
        )


def words(table: pl.DataFrame) -> pl.DataFrame:
    """Return entries of two words: dog and run, eat and walk."""
    return table.with_columns(by=pl.col("item").replace_strict(WORDS))


WORDS = {"dog": "a", "run": "a", "eat": "b", "walk": "b"}
SENSES = {"seed": "s", "measures": ["fuzzy_bcubed_f", "bcubed_f"]}


def test_senses_are_compared_within_words() -> None:
    config = SENSES | {"replicates": 9}
    tables = stage("evaluate.senses", config, gold=words(gold()), systems=[words(entries())])
    assert tables["scores"].select("system", "measure", "n_words").rows() == [
        ("S", "fuzzy_bcubed_f", 2), ("S", "bcubed_f", 2),
    ]  # fmt: skip
    a, b = (
        stage(
            "evaluate.overlapping",
            SENSES,
            gold=gold({item: GOLD[item] for item in own}),
            systems=[entries({item: INDUCED[item] for item in own})],
        )["scores"].filter(measure="bcubed_f")["value"].item()
        for own in (["dog", "run"], ["eat", "walk"])
    )  # fmt: skip
    assert tables["words"].filter(measure="bcubed_f").select("by", "value", "instances").rows() == [
        ("a", a, 2), ("b", b, 2),
    ]  # fmt: skip
    assert tables["scores"]["value"][1] == pytest.approx((a + b) / 2)
    assert counts(tables["sizes"].drop("system", "run"))["instances"] == 4
    systems = run_stage("evaluate.systems", {"senses": "x"}, senses=tables["scores"])
    assert systems["table"]["rank"].to_list() == [1.0, 1.0]


def test_the_heaviest_sense_of_an_entry_counts() -> None:
    weighed = words(entries()).with_columns(weight=pl.Series([1.0, 0.3, 0.7, 1.0, 1.0]))
    config = {"seed": "s", "measures": [], "token_measures": ["v"], "senses": "heaviest"}
    tables = stage("evaluate.senses", config, gold=words(gold()), systems=[weighed])
    assert tables["scores"]["measure"].to_list() == ["v"]
    with pytest.raises(DataError, match="stages.a has weights of clusters, .* which bcubed_f does"):
        stage("evaluate.senses", SENSES, gold=words(gold()), systems=[weighed])


@pytest.mark.parametrize(("fate", "value"), [("zero", 0.5), ("drop", 1.0), ("cluster", 1.0)])
def test_instances_without_a_cluster_are_treated_as_configured(fate: str, value: float) -> None:
    known = words(gold({"dog": "N", "run": "V", "eat": "N", "walk": "N"}))
    config = {"seed": "s", "measures": [], "token_measures": ["M-1"], "without_cluster": fate}
    result = words(entries({"dog": "1", "eat": "1"}))
    tables = stage("evaluate.senses", config, gold=known, systems=[result])
    assert tables["scores"]["value"].to_list() == [value]


def test_senses_without_words_are_refused() -> None:
    for option, tables in (
        ("gold: stages.gold", (gold(), words(entries()))),
        ("systems: stages.a", (words(gold()), entries())),
    ):
        with pytest.raises(DataError, match=f"{option} has no column by"):
            stage("evaluate.senses", SENSES, gold=tables[0], systems=[tables[1]])
    with pytest.raises(ValidationError, match="name at least one of measures"):
        stage("evaluate.senses", {"measures": []}, gold=gold(), systems=[entries()])
    with pytest.raises(ValidationError, match="without the other levels"):
        run_stage("evaluate.systems", {"senses": "x", "token_level": "y"})


def test_senses_can_be_evaluated_without_rows() -> None:
    nothing = {"gold": gold().clear(), "systems": [entries().clear()]}
    assert stage("evaluate.senses", SENSES, **nothing)["scores"].is_empty()


def test_weights_do_not_change_the_token_level() -> None:
    known = pl.DataFrame([("x", "a", 4), ("y", "b", 2)], schema=GoldEntries.columns(), orient="row")
    plain = entries({"x": "1", "y": "2"})
    weighed = plain.with_columns(weight=pl.Series([0.3, 0.7]))
    results = [
        token_level({}, gold=classes, dictionaries=[each])
        for classes, each in ((known, plain), (known.with_columns(weight=pl.lit(0.5)), weighed))
    ]
    assert results[0]["scores"].equals(results[1]["scores"])


CORPUS = "form\tupos\tt\n" + "dog\tN\t1\nrun\tV\t2\n\nrun\tN\t1\ndog\tN\t1\n\n" * 20
STAGES_OF_A_RUN = """
[stages.gold]
use = "extract.gold"
corpus = "c.tsv"
sentences = true
[stages.words]
use = "extract.clusters"
system = "words"
path = { path = "w.tsv", columns = ["item", "cluster"] }
[stages.tags]
use = "extract.tagging"
system = "tags"
corpus = "c.tsv"
cluster = "t"
sentences = true
[stages.types]
use = "evaluate.type_level"
gold = "gold"
systems = ["words", "tags"]
[stages.tokens]
use = "evaluate.token_level"
gold = "gold"
taggings = ["tags"]
dictionaries = ["words"]
replicates = 50
tagging_sentences = ["tags"]
gold_sentences = "gold"
"""


@pytest.mark.long
def test_scores_of_files_have_limits(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": CORPUS, "w.tsv": "dog\ta\nrun\tb\n"})
    tables = small.run(STAGES_OF_A_RUN)
    scores = tables["tokens.scores"].filter(measure="many_to_one")
    assert scores.select("system", "value").rows() == [("tags", 1.0), ("words", 0.75)]
    words = scores.filter(system="words").row(0, named=True)
    assert words["lower"] <= 0.75 <= words["upper"]
    assert tables["types.scores"]["system"].unique().sort().to_list() == ["tags", "words"]


MISSING = {
    "a tagging not named": ('tagging_sentences = ["tags"]', 'tagging_sentences = ["more"]', "tags"),
    "a tagging without": ('t"\nsentences = true', 't"', "tags"),
    "gold without": ('corpus = "c.tsv"\nsentences = true', 'corpus = "c.tsv"', "words"),
}


@pytest.mark.long
@pytest.mark.parametrize("case", sorted(MISSING))
def test_limits_without_counts_by_sentence_are_refused(case: str, tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": CORPUS, "w.tsv": "dog\ta\nrun\tb\n"})
    old, new, system = MISSING[case]
    more = STAGES_OF_A_RUN[STAGES_OF_A_RUN.index("[stages.tags]") :].partition("[stages.types]")[0]
    more = more.replace("stages.tags", "stages.more").replace('"tags"', '"more"')
    with pytest.raises(DataError, match=f"system {system}, run .* has no counts by sentence"):
        small.run(STAGES_OF_A_RUN.replace(old, new, 1) + more)


@pytest.mark.long
def test_the_experiment_can_request_a_certificate(tmp_path: Path) -> None:
    rows = {name: [f"{item}\t{one}" for item, clusters in each.items() for one in clusters]
            for name, each in (("g", STUCK_GOLD), ("w", STUCK))}  # fmt: skip
    files = {f"{name}.tsv": "\n".join(lines) + "\n" for name, lines in rows.items()}
    small = SmallRun(tmp_path, files)
    stages = """
[stages.gold]
use = "extract.gold_table"
path = { path = "g.tsv", columns = ["item", "gold"] }
[stages.words]
use = "extract.clusters"
system = "words"
path = { path = "w.tsv", columns = ["item", "cluster"] }
[stages.types]
use = "evaluate.type_level"
gold = "gold"
systems = ["words"]
"""
    columns = ["mapping", "certificate", "bound", "gap"]
    plain = small.run(stages)["types.scores"].filter(measure="MacroI")
    assert plain.select(columns).rows() == [
        ("1-1", "exact", 0.5, 0.0), ("M-1", "not proven", None, None), ("floor", None, None, None),
    ]  # fmt: skip
    proven = small.run(stages + "certificate_seconds = 30\n")["types.scores"]
    assert proven.filter(measure="MacroI").select(columns).rows()[1] == (
        "M-1",
        "proven",
        0.875,
        0.0,
    )


def test_sentences_of_several_files_are_drawn_separately(tmp_path: Path) -> None:
    one, two = "form\tupos\tt\na\tN\t1\n", "form\tupos\tt\na\tN\t2\nb\tV\t2\n"
    small = SmallRun(tmp_path, {"c/1.tsv": one, "c/2.tsv": two})
    tags = STAGES_OF_A_RUN[STAGES_OF_A_RUN.index("[stages.tags]") :].replace("c.tsv", "c/*.tsv")
    stages = tags[: tags.index("[stages.types]")] + tags[tags.index("[stages.tokens]") :]
    for line in ('gold = "gold"\n', 'dictionaries = ["words"]\n', 'gold_sentences = "gold"\n'):
        stages = stages.replace(line, "")
    scores = small.run(stages)["tokens.scores"].filter(measure="many_to_one")
    assert scores["value"].item() == pytest.approx(2 / 3)
    assert scores["standard_error"].item() > 0  # a single sentence would have no standard error


@pytest.mark.long
def test_names_of_listed_stages_are_not_part_of_the_options(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": CORPUS, "w.tsv": "dog\ta\nrun\tb\n"})
    small.run(STAGES_OF_A_RUN)
    config = tmp_path / "small.toml"
    renamed = STAGES_OF_A_RUN.replace('"words", "tags"', '"other", "tags"').replace(
        'dictionaries = ["words"]', 'dictionaries = ["other"]'
    )
    config.write_text('name = "small"' + renamed.replace("[stages.words]", "[stages.other]"))
    project = lx.check(config, runs=tmp_path / "runs")
    node = project.nodes["types"]
    assert "systems" not in node.own_config()
    assert list(node.inputs) == ["gold", "systems.0", "systems.1"]


def test_a_wrong_stage_in_a_list_is_reported_with_its_place(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": CORPUS, "w.tsv": "dog\ta\nrun\tb\n"})
    wrong = STAGES_OF_A_RUN.replace('systems = ["words", "tags"]', 'systems = ["gold", "tag"]')
    with pytest.raises(ConfigError) as error:
        small.run(wrong)
    for text in ["types.systems.0: 'gold' gives", "InducedEntries is needed here",
                 "types.systems.1: unknown stage 'tag'; did you mean tags"]:  # fmt: skip
        assert text in str(error.value)


@pytest.mark.long
def test_the_order_of_systems_does_not_change_the_scores(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": CORPUS, "w.tsv": "dog\ta\nrun\tb\n"})
    one = small.run(STAGES_OF_A_RUN)["types.scores"]
    turned = STAGES_OF_A_RUN.replace('["words", "tags"]', '["tags", "words"]')
    assert small.run(turned)["types.scores"].equals(one)
