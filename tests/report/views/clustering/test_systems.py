"""The views of clusters: their texts, tables and figures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from pipeline.errors import ConfigError
from pipeline.kernels.clustering.systems import measure_correlations, system_table
from pipeline.report.page import images
from pipeline.report.view import (
    VIEWS,
    Block,
    Figure,
    Fold,
    Listing,
    Text,
    ViewOptions,
    flatten_blocks,
)
from pipeline.report.views.clustering.levels import (
    SensesView,
    TokenLevelView,
    TypeLevelView,
    diagonal_order,
    show_overlapping,
    show_senses,
    show_token_level,
    show_type_level,
)
from pipeline.report.views.clustering.systems import (
    SharesView,
    SystemsView,
    show_clusters,
    show_gold,
    show_shares,
    show_systems,
)
from schemas import (
    ClassScores,
    ClassShares,
    ClusterMapping,
    ClusterOverlaps,
    FrequencyBands,
    FrequentTypes,
    MeasureCorrelations,
    OverlappingScores,
    SenseScores,
    SystemSize,
    SystemTable,
    TokenLevel,
    TokenMapping,
    TypeLevel,
    WordSenseScores,
    WorstItems,
)
from tests.report import report_frames as frames

KEYS = [("A", "1"), ("A", "2"), ("B", "1")]
UNDER = {"measure": "MacroI", "mapping": "M-1"}


def table(model: type[Any], rows: list[dict[str, Any]], **same: Any) -> pl.DataFrame:
    """Return a table with these rows for each run; columns that are not named are null."""
    every = [{"system": system, "run": run, **same, **row} for system, run in KEYS for row in rows]
    return pl.DataFrame(every, schema=model.columns())


COUNTS = {"n_items": 4, "n_dropped": 3, "n_without_cluster": 0, "n_in_several": 1,
          "n_classes": 2, "n_clusters": 3,
          "n_clusters_dropped": 0, "n_uncovered": 1}  # fmt: skip
OVERLAPS = table(ClusterOverlaps, [
    {"gold": "N", "cluster": "2", "n_ij": 1, "n_i": 3, "n_j": 1},
    {"gold": "N", "cluster": "1", "n_ij": 2, "n_i": 3, "n_j": 4},
    {"gold": "V", "cluster": "1", "n_ij": 3, "n_i": 3, "n_j": 4},
])  # fmt: skip
TYPES = {
    "scores": table(TypeLevel, [
        {"measure": "MacroI", "mapping": "M-1", "value": 0.5, "recall": 0.4, "precision": 0.6,
         "certificate": "not proven", "bound": 0.75, "gap": 0.25, "n_open_clusters": 2,
         "starts": 22,
         "starts_reaching_best": 7, "lower": 0.4, "upper": 0.6, "interval": "fixed"},
        {"measure": "MacroI", "mapping": "floor", "value": 0.3, "recall": 0.3, "precision": 0.3},
    ], **COUNTS),
    "mapping": table(ClusterMapping, [
        {"cluster": "1", "gold": "V", "n_ij": 3, "n_i": 3, "n_j": 4},
        {"cluster": "2", "gold": None, "n_ij": 0, "n_i": None, "n_j": 1},
    ], **UNDER),
    "classes": table(ClassScores, [
        {"gold": "N", "clusters": 0, "n_ij": 0, "n_i": 3, "n_j": 0, "recall": 0.0,
         "precision": None, "f": 0.0, "uncovered": True},
        {"gold": "V", "clusters": 1, "n_ij": 3, "n_i": 3, "n_j": 4, "recall": 1.0,
         "precision": 0.75, "f": 0.86, "uncovered": False},
    ], **UNDER),
    "items": table(WorstItems, [
        {"rank": rank, "item": item, "gold": "N", "mapped": "V", "common": 0, "f": 0.0, "tokens": n}
        for rank, item, n in [(1, "dog", 1234), (2, "cat", 2)]
    ], **UNDER),
    "overlaps": OVERLAPS,
}  # fmt: skip


def types(tables: dict[str, pl.DataFrame] = TYPES, **options: Any) -> list[Block]:
    stage = frames.stage("evaluate.type_level", tables, name="types")
    return list(flatten_blocks(show_type_level(stage, TypeLevelView(**options))))


def texts(blocks: list[Block]) -> str:
    return " ".join(block.text for block in blocks if isinstance(block, Text))


def listing(blocks: list[Block], name: str) -> Listing:
    return next(block for block in blocks if isinstance(block, Listing) and block.name == name)


def test_the_type_level_states_uncovered_and_dropped_types() -> None:
    sentences = texts(types())
    assert "MicroC ignores uncovered classes" in sentences
    assert "MacroI includes them" in sentences
    assert "lower bound" in sentences
    assert "4 types have a gold entry, in 2 classes" in sentences
    assert "A (1): 3 and 0; A (2): 3 and 0; B: 3 and 0" in sentences
    full = TYPES | {"scores": TYPES["scores"].with_columns(n_dropped=pl.lit(0, pl.Int64))}
    assert "Every system has clusters for exactly these types" in texts(types(full))


def test_a_wide_gap_is_explained() -> None:
    sentences = texts(types())
    assert "A (1), MacroI: 25.00, 2 of 3 clusters, 1 of 4 types" in sentences
    narrow = TYPES | {"scores": TYPES["scores"].with_columns(gap=pl.lit(0.01))}
    assert "Gaps above" not in texts(types(narrow))


def test_type_level_scores_have_limits_starts_gap_and_floor() -> None:
    block = listing(types(), "scores")
    assert block.texts is not None
    row = block.texts.row(0, named=True)
    assert row["value (%)"] == "50.00 [40.00, 60.00]"
    columns = ["floor (%)", "certificate", "starts", "bound (%)", "gap (%)", "uncovered"]
    assert [row[name] for name in columns] == [
        "30.00", "not proven", "7 of 22", "75.00", "25.00", "1",
    ]  # fmt: skip
    assert block.texts.height == 3
    assert "over types; mapping fixed" in block.caption


def test_each_system_has_a_heat_map_and_a_plot_of_classes() -> None:
    figures = [block for block in types() if isinstance(block, Figure)]
    assert [each.name for each in figures] == ["mapping-A", "classes-A", "mapping-B", "classes-B"]
    assert figures[0].caption.startswith("A, run 1, MacroI under M-1")
    assert figures[2].caption.startswith("B, MacroI under M-1")
    assert "with unmapped clusters last" in figures[0].caption
    draws = [images.svg(each.chart) for each in figures]
    assert "N (uncovered)" in draws[1]
    clusters = listing(types(), "clusters-A").texts
    assert clusters is not None
    assert clusters.rows() == [("1", "", "V", "75.00", "4"), ("2", "", "–", "–", "1")]
    worst = listing(types(worst=1), "worst-A")
    assert worst.texts is not None
    assert worst.texts.rows() == [("dog", "1,234", "N", "V", "0")]


def test_only_selected_systems_are_drawn() -> None:
    figures = [each.name for each in types(systems=("B",)) if isinstance(each, Figure)]
    assert figures == ["mapping-B", "classes-B"]
    with pytest.raises(ConfigError, match="views.types.systems: unknown name 'C'"):
        types(systems=("C",))


def test_a_missing_mapping_is_stated() -> None:
    assert "A, run 1, MacroI under 1-1: no data." in texts(types(mapping="1-1"))


def test_the_absence_of_runs_is_stated() -> None:
    (block,) = types({name: frame.clear() for name, frame in TYPES.items()})
    assert isinstance(block, Text)


def test_the_order_of_classes_and_clusters_forms_a_diagonal() -> None:
    rows = OVERLAPS.filter(system="A", run="1").drop("system", "run")
    assert diagonal_order(rows, {"1": "V", "2": "N"}) == (["N", "V"], ["2", "1"])
    assert diagonal_order(rows, {"1": "V"}) == (["N", "V"], ["1", "2"])
    larger = rows.with_columns(n_j=pl.when(pl.col("cluster") == "2").then(9).otherwise("n_j"))
    assert diagonal_order(larger, {"1": "N", "2": "N"}) == (["N", "V"], ["2", "1"])


LIMITS = {"lower": 0.4, "upper": 0.6, "standard_error": 0.05, "undefined": 0}
TOKENS = {
    "scores": table(TokenLevel, [
        {"measure": "vi", "value": 1.0, "undefined": 0},
        {"measure": "many_to_one", "value": 0.5, **LIMITS},
        {"measure": "nmi", "value": None, "undefined": 0},
    ]),
    "mapping": table(TokenMapping, [
        {"mapping": "many_to_one", "cluster": "1", "gold": "V", "n_ij": 3, "n_i": 3, "n_j": 4},
    ]),
    "overlaps": OVERLAPS,
    "sizes": table(SystemSize, [
        {"what": "tokens", "count": 1000}, {"what": "tokens without a cluster", "count": 7},
    ]),
}  # fmt: skip


def tokens(config: dict[str, Any] | None = None, **options: Any) -> list[Block]:
    stage = frames.stage("evaluate.token_level", TOKENS, name="tokens", **(config or {}))
    return list(flatten_blocks(show_token_level(stage, TokenLevelView(**options))))


def test_token_level_scores_are_listed() -> None:
    rows = listing(tokens(), "scores").texts
    assert rows is not None
    assert rows.columns == ["system", "run", "M-1 accuracy (%)", "VI ↓", "NMI (%)"]
    assert rows.row(0) == ("A", "1", "50.00 [40.00, 60.00]", "1.0000", "–")


def test_tokens_without_a_cluster_are_counted() -> None:
    assert "are excluded: A (1): 7 of 1,000" in texts(tokens())
    blocks = tokens({"without_cluster": "cluster"})
    assert "form one additional cluster: A (1): 7 of 1,000" in texts(blocks)


def test_the_token_level_has_a_heat_map_for_each_system() -> None:
    figures = [each for each in tokens() if isinstance(each, Figure)]
    assert [each.name for each in figures] == ["mapping-A", "mapping-B"]
    assert "tokens" in images.svg(figures[0].chart)


def test_overlapping_scores_have_standard_errors() -> None:
    scores = table(OverlappingScores, [
        {"measure": "omega", "value": 0.25}, {"measure": "element_centric", "value": 0.5,
                                              "standard_error": 0.01},
    ])  # fmt: skip
    stage = frames.stage("evaluate.overlapping", {"scores": scores})
    (result,) = show_overlapping(stage, ViewOptions())
    assert isinstance(result, Listing)
    assert result.texts is not None
    assert result.texts.row(0) == ("A", "1", "0.2500", "50.00 ± 1.00")


def test_overlapping_scores_have_limits() -> None:
    row = {"measure": "omega", "value": 0.25, "lower": 0.125, "upper": 0.5, "standard_error": 0.1}
    stage = frames.stage("evaluate.overlapping", {"scores": table(OverlappingScores, [row])})
    (result,) = show_overlapping(stage, ViewOptions())
    assert isinstance(result, Listing)
    assert result.texts is not None
    assert result.texts.row(0) == ("A", "1", "0.2500 [0.1250, 0.5000]")
    assert "bootstrap limits (over items)" in result.caption


def senses(**options: Any) -> Sequence[Block]:
    rows = [
        {"measure": "fuzzy_bcubed_f", "value": 0.5, "weighted": 0.25, "lower": 0.4, "upper": 0.6},
        {"measure": "v", "value": 0.125, "weighted": 0.5},
    ]
    words = [
        {"by": by, "measure": measure, "value": value, "instances": n}
        for by, n, value in (("ask.v", 9, None), ("add.v", 4, 0.75)) for measure in ("fuzzy_bcubed_f", "v")
    ]  # fmt: skip
    sizes = [{"what": "instances without a cluster", "count": 3}]
    tables = {
        "scores": table(SenseScores, rows),
        "words": table(WordSenseScores, words),
        "sizes": table(SystemSize, sizes),
    }
    return show_senses(frames.stage("evaluate.senses", tables), SensesView(**options))


def test_scores_of_word_senses_are_listed() -> None:
    scores, text, fold = senses(measure="fuzzy_bcubed_f")
    assert isinstance(scores, Listing)
    assert scores.texts is not None
    assert scores.texts.row(0) == ("A", "1", "12.50", "50.00 [40.00, 60.00]")
    assert text == Text("Gold instances without an induced sense: 3 for every system.")
    assert isinstance(fold, Fold)
    weighted, words = fold.blocks
    assert isinstance(weighted, Listing)
    assert isinstance(words, Listing)
    assert weighted.texts is not None
    assert weighted.texts.row(0) == ("A", "1", "50.00", "25.00")
    assert words.caption == "Scores of each word: fuzzy B-Cubed F (%)."
    assert words.texts is not None
    assert words.texts.columns == ["word", "instances", "A (1)", "A (2)", "B"]
    assert words.texts.rows() == [("add.v", "4", *["75.00"] * 3), ("ask.v", "9", *["–"] * 3)]
    fold = senses()[-1]
    assert isinstance(fold, Fold)
    assert isinstance(fold.blocks[1], Listing)
    assert fold.blocks[1].caption == "Scores of each word: V (%)."
    with pytest.raises(ConfigError, match="views.shown.measure"):
        senses(measure="omega")


OMITTED_SENSES = """\
Words without any induced sense: B: 1.
Induced instances without a gold sense (not scored): A (2): 1,042; B: 7.
Instances with several heaviest gold senses (the first by name counts): 9 for every system.
Instances with several heaviest induced senses (the first by name counts): A (1): 2.\
"""


def test_omitted_words_and_instances_are_counted() -> None:
    counts = {
        "words without an instance in a cluster": (0, 0, 1),
        "instances without a cluster": (0, 0, 0),
        "instances without a gold sense": (0, 1042, 7),
        "instances with several heaviest gold senses": (9, 9, 9),
        "instances with several heaviest clusters": (2, 0, 0),
    }
    sizes = [
        {"system": system, "run": run, "what": what, "count": count}
        for what, each in counts.items() for (system, run), count in zip(KEYS, each, strict=True)
    ]  # fmt: skip
    tables = {
        "scores": table(SenseScores, [{"measure": "v", "value": 0.5}]),
        "words": table(WordSenseScores, []),
        "sizes": pl.DataFrame(sizes, schema=SystemSize.columns()),
    }
    blocks = show_senses(frames.stage("evaluate.senses", tables), SensesView())
    assert "\n".join(each.text for each in blocks if isinstance(each, Text)) == OMITTED_SENSES


def test_tables_name_runs_only_if_a_system_has_several() -> None:
    scores = table(SenseScores, [{"measure": "v", "value": 0.5}]).filter(run="1")
    tables = {
        "scores": scores,
        "words": table(WordSenseScores, []),
        "sizes": table(SystemSize, []),
    }
    result = show_senses(frames.stage("evaluate.senses", tables), SensesView())[0]
    assert isinstance(result, Listing)
    assert result.texts is not None
    assert result.texts.rows() == [("A", "50.00"), ("B", "50.00")]


@pytest.mark.parametrize(
    ("use", "config", "title"),
    [
        ("evaluate.senses", {}, "Graded senses"),
        ("evaluate.senses", {"senses": "heaviest"}, "Heaviest sense of each instance"),
        ("evaluate.senses", {"measures": ("omega",)}, "Word senses"),
        ("extract.gold_table", {"columns": {"by": "word"}}, "Gold senses"),
        ("extract.gold_table", {}, "Gold classes"),
        ("extract.clusters", {"columns": {"by": "word"}}, "Induced senses: shown"),
        ("extract.clusters", {}, "Induced clusters: shown"),
    ],
)
def test_headings_name_the_kind_of_senses(use: str, config: dict[str, Any], title: str) -> None:
    assert VIEWS.get(use).title_of(frames.stage(use, {}, **config)) == title


MEASURES = ("MacroI M-1", "many_to_one", "vi")


def systems(n: int = 3, **options: Any) -> list[Block]:
    rows = [
        {"measure": measure, "system": f"s{i}", "mean": 0.1 * i, "sd": 0.01 if i else None,
         "n_runs": 2 if i else 1, "rank": float(n - i)}
        for i in range(n) for measure in MEASURES
    ]  # fmt: skip
    pairs = [
        {"measure_1": a, "measure_2": b, "method": method, "correlation": 1.0 if a == b else -0.004,
         "n_systems": n}
        for a, b in itertools.product(MEASURES, repeat=2) for method in ("kendall", "spearman")
    ]  # fmt: skip
    tables = {
        "table": pl.DataFrame(rows, schema=SystemTable.columns()),
        "correlations": pl.DataFrame(pairs, schema=MeasureCorrelations.columns()),
    }
    stage = frames.stage("evaluate.systems", tables)
    return list(flatten_blocks(show_systems(stage, SystemsView(**options))))


def test_systems_are_listed_by_measures_with_ranks() -> None:
    blocks = systems()
    kinds, others = listing(blocks, "types").texts, listing(blocks, "tokens").texts
    assert kinds is not None
    assert others is not None
    assert kinds.rows() == [
        ("s0", "1", "0.00 (3)"), ("s1", "2", "10.00 ± 1.00 (2)"), ("s2", "2", "20.00 ± 1.00 (1)"),
    ]  # fmt: skip
    assert others.columns == ["system", "runs", "M-1 accuracy (%)", "VI ↓"]
    assert "MicroC ignores uncovered classes" not in texts(blocks)


CELLS = {
    "MicroI M-1": {"a": (0.25, 0.5), "b": (0.75,), "c": (0.75,)},
    "MacroI 1-1": {"a": (0.5, 0.5), "b": (0.5,), "c": (0.5,)},
    "v": {"a": (0.9, 0.7), "b": (0.3,), "c": (None,)},
    "nvi": {"a": (2.5, 2.5), "b": (1.5,), "c": (2.0,)},
    "one_to_one": {"a": (0.1, 0.1), "b": (0.2,), "c": (0.3,)},
    "nmi": {"a": (0.1, 0.1), "b": (0.2,), "c": (0.3,)},
}


def comparison(cells: dict[str, Any], clusters: dict[str, tuple[int, ...]]) -> list[Block]:
    """Return the blocks of a comparison of invented scores."""
    rows = [
        (system, str(run), measure, value)
        for measure, systems in cells.items() for system, values in systems.items()
        for run, value in enumerate(values)
    ]  # fmt: skip
    scores = pl.DataFrame(
        rows, orient="row",
        schema={"system": pl.String, "run": pl.String, "measure": pl.String, "value": pl.Float64},
    )  # fmt: skip
    lower = ["nvi"]
    counts = [
        {"system": system, "run": str(run), "measure": "MacroI", "mapping": "1-1",
         **COUNTS, "n_clusters": n}
        for system, numbers in clusters.items() for run, n in enumerate(numbers)
    ]  # fmt: skip
    tables = {
        "table": system_table(scores, lower_is_better=lower),
        "correlations": measure_correlations(scores, lower_is_better=lower),
        "types.scores": pl.DataFrame(counts, schema=TypeLevel.columns()),
    }
    inputs = {"type_level": "types.scores"} if clusters else {}
    stage = replace(frames.stage("evaluate.systems", tables), inputs=inputs)
    return list(flatten_blocks(show_systems(stage, SystemsView())))


def test_both_levels_are_in_one_table_as_in_the_paper() -> None:
    block = listing(comparison(CELLS, {"a": (45, 44), "b": (17,), "c": (1_000,)}), "levels")
    assert block.texts is not None
    heads = ["system", "clusters", "1-1", "NVI ↓", "V", "MicroI M-1", "MacroI 1-1"]
    assert block.texts.columns == heads
    assert block.texts.drop("NVI ↓").rows() == [
        ("a", "44–45", "10.0 ±\xa00.0", "80.0 ±\xa014.1", "37.5 ±\xa017.7", "50.0 ±\xa00.0"),
        ("b", "17", "20.0", "30.0", "75.0", "50.0"),
        ("c", "1,000", "30.0", "–", "75.0", "50.0"),
    ]
    assert block.groups == ("", "", *["Token level"] * 3, *["Type level"] * 2)
    marked = [
        (block.texts["system"][row], block.texts.columns[place]) for row, place in block.marked
    ]
    # A tie of all is not marked; a tie of some is, and the lowest value where low values are good.
    assert set(marked) == {
        ("a", "V"), ("b", "NVI ↓"), ("c", "1-1"), ("b", "MicroI M-1"), ("c", "MicroI M-1"),
    }  # fmt: skip


def test_correlations_between_the_levels_are_listed() -> None:
    blocks = comparison(CELLS, {})
    assert "clusters" not in listing(blocks, "levels").frame.columns
    block = listing(blocks, "correlations")
    assert block.texts is not None
    assert block.texts.select("token level", "MicroI M-1", "MacroI 1-1").rows()[0] == (
        "1-1", ".87 /\xa0.82", "–",
    )  # fmt: skip
    assert block.texts["token level"].to_list() == ["1-1", "NVI ↓"]
    assert "over 3 systems" in block.caption
    assert "Rank correlations over 3 systems mean nothing: by chance alone, two" in texts(blocks)
    five = {
        name: {letter: (0.1 * place,) for place, letter in enumerate("abcde")} for name in CELLS
    }  # fmt: skip
    blocks = comparison(five, {})
    assert "mean nothing" not in texts(blocks)
    assert listing(blocks, "correlations").frame["n_systems"].unique().to_list() == [5]


def test_without_a_level_there_is_no_table_of_both() -> None:
    only = {name: cells for name, cells in CELLS.items() if " " not in name}
    names = [block.name for block in comparison(only, {}) if isinstance(block, Listing)]
    assert names == ["tokens"]
    other = {"nmi": CELLS["nmi"], "MicroI M-1": CELLS["MicroI M-1"]}
    assert listing(comparison(other, {}), "levels").groups == ("", "Token level", "Type level")


def test_a_table_with_microc_states_what_it_ignores() -> None:
    row = {"measure": "MicroC M-1", "system": "s", "mean": 0.5, "n_runs": 1, "rank": 1.0}
    tables = {
        "table": pl.DataFrame([row], schema=SystemTable.columns()),
        "correlations": pl.DataFrame(schema=MeasureCorrelations.columns()),
    }
    blocks = list(
        flatten_blocks(show_systems(frames.stage("evaluate.systems", tables), SystemsView()))
    )
    assert "MicroC ignores uncovered classes" in texts(list(blocks))


def test_systems_are_drawn() -> None:
    figures = {each.name: each for each in systems() if isinstance(each, Figure)}
    assert list(figures) == ["scatter", "spearman", "kendall"]
    assert "one standard deviation" in figures["scatter"].caption
    picture = images.svg(figures["spearman"].chart)
    assert ">.00<" in picture
    assert ">VI ↓<" in picture


def test_two_systems_are_too_few_for_correlations() -> None:
    blocks = systems(2)
    assert "this table has 2 systems" in texts(blocks)
    assert [each.name for each in blocks if isinstance(each, Figure)] == ["scatter"]


def test_a_single_point_is_not_drawn() -> None:
    assert not [each for each in systems(1) if isinstance(each, Figure)]


def test_measures_and_axes_can_be_selected() -> None:
    blocks = systems(measures=("vi", "many_to_one"), methods=("kendall",), x="vi")
    figures = {each.name: each for each in blocks if isinstance(each, Figure)}
    assert list(figures) == ["scatter", "kendall"]
    assert "MacroI" not in images.svg(figures["kendall"].chart)
    assert figures["scatter"].caption.startswith("MacroI M-1 against VI ↓")
    with pytest.raises(ConfigError, match=r"views.shown.y: unknown name 'V'"):
        systems(y="V")


def test_shares_of_classes_are_drawn_and_listed() -> None:
    shares = pl.DataFrame(
        [("*", 4, 10, 1.0, 1.0), ("N", 3, 2, 0.75, 0.2), ("V", 2, 8, 0.5, 0.8)],
        schema=ClassShares.columns(), orient="row",
    )  # fmt: skip
    frequent = pl.DataFrame(
        [("*", 1, 5, 0.5, 1), ("*", 4, 10, 1.0, 2), ("N", 1, 1, 0.5, None), ("V", 1, 8, 1.0, None)],
        schema=FrequentTypes.columns(), orient="row",
    )  # fmt: skip
    bands = pl.DataFrame(
        [(1, 4, "all", 4, 10, 1.0, 2, 1.25, 5, 1), (3, 4, "all", 2, 2, 0.2, 2, 1.0, 1, 1),
         (1, 2, "all", 2, 8, 0.8, 2, 1.5, 5, 3), (3, 4, "several classes", 0, 0, 0.0, 0, *[None] * 3)],
        schema=FrequencyBands.columns(), orient="row",
    )  # fmt: skip
    stage = frames.stage(
        "evaluate.shares", {"shares": shares, "frequent": frequent, "bands": bands}
    )  # fmt: skip
    result, classes, by_band, covered, growth = show_shares(stage, SharesView(classes=1))
    assert isinstance(by_band, Listing)
    assert by_band.texts is not None
    assert by_band.texts.rows() == [
        ("1–2", "all", "2", "8", "80.00", "2", "1.50", "5–3"),
        ("3–4", "all", "2", "2", "20.00", "2", "1.00", "1"),
        ("3–4", "several classes", "0", "0", "0.00", "0", "–", "–"),
        ("1–4", "all", "4", "10", "100.00", "2", "1.25", "5–1"),
    ]
    assert isinstance(covered, Figure)
    assert "of the 2 classes" in covered.caption
    assert ">classes<" in images.svg(covered.chart)
    assert isinstance(result, Listing)
    assert result.frame["gold"].to_list() == ["V", "N", "*"]
    assert isinstance(classes, Figure)
    assert isinstance(growth, Figure)
    picture = images.svg(growth.chart)
    assert ">all<" in picture
    assert ">V<" in picture
    assert ">N<" not in picture
    empty = frames.stage(
        "evaluate.shares", {"shares": shares.clear(), "frequent": frequent, "bands": bands}
    )  # fmt: skip
    assert isinstance(show_shares(empty, SharesView())[0], Text)


def test_counts_of_senses_are_listed() -> None:
    whats = ["items", "classes", "items of classes that are not excluded", "items in the table"]
    gold = pl.DataFrame({"what": whats, "count": [1, 2, 3, 4]})
    stage = frames.stage("extract.gold_table", {"sizes": gold}, columns={"by": "word"})
    (result,) = show_gold(stage, ViewOptions())
    assert isinstance(result, Listing)
    assert result.frame["what"].to_list() == [
        "instances in the table", "instances of senses that are not excluded", "instances", "senses",
    ]  # fmt: skip


def test_counts_are_listed_in_order() -> None:
    whats = ["items", "tokens", "tokens that count", "tokens without a gold tag"]
    gold = pl.DataFrame({"what": whats, "count": [1, 9, 7, 2]})
    (result,) = show_gold(frames.stage("extract.gold", {"sizes": gold}), ViewOptions())
    assert isinstance(result, Listing)
    assert result.frame["count"].to_list() == [9, 2, 7, 1]
    sizes = table(SystemSize, [{"what": what, "count": 5} for what in whats]).filter(system="A")
    (runs,) = show_clusters(frames.stage("join.tagging", {"sizes": sizes}), ViewOptions())
    assert isinstance(runs, Listing)
    assert runs.texts is not None
    assert runs.texts.columns == ["data", "1", "2"]
    assert runs.texts["data"][0] == "tokens"
    empty = frames.stage("join.tagging", {"sizes": sizes.clear()})
    assert isinstance(show_clusters(empty, ViewOptions())[0], Text)
