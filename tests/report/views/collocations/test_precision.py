"""The blocks of the precision view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from pipeline.report.charts.style import Window
from pipeline.report.page.images import still
from pipeline.report.view import Block, Figure, Fold, Listing, Text, ViewOptions, flatten_blocks
from pipeline.report.views.collocations import graphs
from pipeline.report.views.collocations.graphs import Graph, resolve_graphs
from pipeline.report.views.collocations.precision import (
    AveragePrecisionView,
    PrecisionView,
    show_average_precision,
    show_choice,
    show_precision,
)
from schemas import (
    AveragePrecision,
    BandThresholds,
    Choice,
    ClusteredPrecision,
    CorrectedPrecision,
    Guarantees,
    PrecisionAtRecall,
    WorstCase,
)
from tests.report import report_frames as frames

# The view of average precision.

RANKED = (1.0, "ranked", None)
ROWS = [
    ("TP", "mi", 0.12, 0.1, 0.15, 5102, 500, 55, False, 0.95, *RANKED),
    ("TP", "t_score", 0.253, 0.21, 0.3, 5102, 500, 55, False, 0.95, *RANKED),
    ("TP", "x", None, 0.0, 1.0, 5102, 500, 0, False, 0.95, *RANKED),
]


def shown_average_precision(
    *rows: tuple[Any, ...], at_recall: Sequence[tuple[Any, ...]] = (), **options: Any
) -> list[Block]:
    stage = frames.stage("evaluate.average_precision", {
        "average_precision": pl.DataFrame(rows, schema=AveragePrecision.columns(), orient="row"),
        "at_recall": pl.DataFrame(at_recall, schema=PrecisionAtRecall.columns(), orient="row"),
    })  # fmt: skip
    return list(show_average_precision(stage, AveragePrecisionView(**options)))


def test_each_measure_has_a_whisker_and_a_row_highest_first() -> None:
    graph, table = shown_average_precision(*ROWS)
    assert isinstance(graph, Figure)
    assert isinstance(table, Listing)
    assert (
        "from 500 judged of 5,102 candidates (infAP), with pointwise 95 % limits" in graph.caption
    )
    assert table.texts is not None
    assert table.texts.rows() == [
        ("t-score", "25.30 [21.00, 30.00]", "55", "500"),
        ("MI", "12.00 [10.00, 15.00]", "55", "500"),
        ("x", "– [0.00, 100.00]", "0", "500"),
    ]


def test_captions_state_full_annotation_and_unequal_chances() -> None:
    whole = ("TP", "mi", 0.12, 0.12, 0.12, 500, 500, 55, False, 0.95, *RANKED)
    graph, table = shown_average_precision(whole)
    assert isinstance(graph, Figure)
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert "All 500 candidates are judged, so there are no limits." in graph.caption
    assert table.texts.row(0)[1] == "12.00"
    designed, _ = shown_average_precision(
        ("TP", "mi", 0.12, 0.1, 0.2, 900, 500, 55, True, 0.95, *RANKED)
    )
    assert isinstance(designed, Figure)
    assert "(xinfAP, with unequal inclusion probabilities)" in designed.caption


def test_recall_over_a_list_is_shown() -> None:
    row = ("TP", "mi", 0.12, 0.12, 0.12, 500, 500, 55, False, 0.95, 0.5, "gold", 1200)
    result = [("TP", "mi", 0.1, 150, 120, 0.8, "gold", 1200),
             ("TP", "mi", 0.5, None, 600, None, "gold", 1200)]  # fmt: skip
    graph, _, table = shown_average_precision(row, at_recall=result)
    assert isinstance(graph, Figure)
    assert "true positive, up to a recall of 50 % over the 1,200 positives of the whole list." in (
        graph.caption
    )
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert table.texts.columns == ["measure", "recall 10 %", "recall 50 %"]
    assert table.texts.rows() == [("MI", "80.00 (150)", "not reached")]


def test_measures_of_average_precision_can_be_selected() -> None:
    _, table = shown_average_precision(*ROWS, measures=("mi",))
    assert isinstance(table, Listing)
    assert table.frame["measure"].to_list() == ["mi"]
    with pytest.raises(ConfigError, match="dice"):
        shown_average_precision(*ROWS, measures=("dice",))


def test_without_judgements_average_precision_is_undefined() -> None:
    assert shown_average_precision() == [
        Text("No candidate is judged, so average precision cannot be estimated.")
    ]


# The view of a choice.

ROW = ("TP", "t_score", 1000, "min_precision = 0.25", 35, 0.268, 0.18, 0.37, 0.14, 0.43, 0.95,
       "clopper_pearson", 0.578, 97, 26)  # fmt: skip
CHOICE = pl.DataFrame([ROW], schema=Choice.columns(), orient="row")


def test_the_choice_is_described_in_words() -> None:
    (block,) = show_choice(frames.stage("evaluate.choice", {"choice": CHOICE}), ViewOptions())
    assert isinstance(block, Text)
    for piece in ("the top 1,000 by t-score (min_precision = 0.25), out of 35 lists",
                  "precision 26.80 %", "26 true positives in 97 judged draws",
                  "those of this list alone are [18.00, 37.00]",
                  "account for the choice, [14.00, 43.00]"):  # fmt: skip
        assert piece in block.text


def test_without_judgements_no_list_is_chosen() -> None:
    stage = frames.stage("evaluate.choice", {"choice": CHOICE.clear()})
    assert show_choice(stage, ViewOptions()) == [
        Text("No candidate is judged, so no list was chosen.")
    ]


def test_tests_of_a_guarantee_are_listed() -> None:
    rows = [
        ("TP", "t_score", 100, 2, 40, 10, 0.25, 0.05, 0.1449, True, True, False),
        ("TP", "t_score", 500, 1, 90, 40, 0.444, 0.05, 0.3562, True, True, True),
    ]
    tests = pl.DataFrame(rows, schema=Guarantees.columns(), orient="row")
    stage = frames.stage(
        "evaluate.choice", {"choice": CHOICE, "guarantee": tests}, guarantee=True, min_precision=0.3
    )
    blocks, listing = show_choice(stage, ViewOptions())
    assert isinstance(blocks, Text)
    assert isinstance(listing, Listing)
    assert listing.texts is not None
    assert listing.texts.rows() == [
        ("t-score", "500", "40 of 90", "35.62", "passed"),
        ("t-score", "100", "10 of 40", "14.49", "failed"),
    ]
    assert (
        "With 95 % confidence, every list that passed has a precision of at least 30 %"
        in listing.caption
    )


USE = "evaluate.precision"
CURVES = {"dice": [i % 3 == 0 for i in range(300)], "t_score": [i % 2 == 0 for i in range(300)]}
ONE = {"precision": frames.precision(CURVES), "baseline": frames.baseline(150, 300)}
COMPARISON = frames.comparison(
    {("dice", "t_score"): dict.fromkeys(range(1, 301), -0.1)}, significant=range(1, 301)
)


def show_blocks(tables: dict[str, pl.DataFrame], **options: Any) -> list[Block]:
    config = options.pop("config", {})
    stage = frames.stage(USE, tables, name="made", **config)
    return list(show_precision(stage, PrecisionView(**options)))


def test_the_view_has_a_graph_the_baseline_and_a_table() -> None:
    figure, text, table = show_blocks(ONE)
    assert isinstance(figure, Figure)
    assert isinstance(text, Text)
    assert isinstance(table, Listing)
    assert figure.narrow is not None
    assert (figure.name, table.name) == ("precision", "precision")
    assert text.text.startswith("The baseline is 50.00 % [45.00, 55.00]: 150 true positives in 300")


def test_simultaneous_limits_are_drawn_with_pointwise_ones() -> None:
    wide = ONE["precision"].filter(pl.col("n").is_between(100, 200)).select(
        "category", "measure", "n", lower_band=pl.col("lower") - 0.02,
        upper_band=pl.col("upper") + 0.02, level=pl.lit(0.99),
    )  # fmt: skip
    figure = show_blocks({**ONE, "bands": wide}, bands=("dice",))[0]
    assert isinstance(figure, Figure)
    assert "Paler: simultaneous limits for all n from 100 to 200" in figure.caption
    areas = [layer for layer in still(figure.chart)["layer"] if layer["mark"]["type"] == "area"]
    assert [layer["encoding"]["y"]["field"] for layer in areas] == ["lower_band", "lower"]
    for without in (show_blocks({**ONE, "bands": wide})[0], show_blocks(ONE, bands=("dice",))[0]):
        assert isinstance(without, Figure)
        assert "simultaneous" not in without.caption


def test_each_measure_has_a_row_and_each_cut_a_column() -> None:
    table = show_blocks(ONE, measures=("t_score", "dice"), cuts=(200, 100, 9000))[2]
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert table.texts.columns == ["measure", "n = 100", "n = 200"]
    assert table.texts.row(0) == ("t-score", "50.00 [40.0, 60.0]", "50.00 [40.0, 60.0]")
    assert table.frame.select("measure", "n").rows() == [
        ("t_score", 100), ("t_score", 200), ("dice", 100), ("dice", 200),
    ]  # fmt: skip


def test_cuts_are_those_of_the_stage_by_default() -> None:
    table = show_blocks(ONE, config={"cuts": [50, 150]})[2]
    assert isinstance(table, Listing)
    assert sorted(set(table.frame["n"])) == [50, 150]


def test_ties_and_missing_estimates_are_shown() -> None:
    frame = ONE["precision"].with_columns(
        tp_max=pl.col("tp_max") + (pl.col("n") == 100).cast(pl.Int64),
        precision=pl.when(pl.col("n") != 200).then(pl.col("precision")),
    )
    table = show_blocks({**ONE, "precision": frame}, measures=("t_score",), cuts=(100, 200))[2]
    assert isinstance(table, Listing)
    assert table.texts is not None
    _, first, second = table.texts.row(0)
    assert first == "50.00 [40.0, 60.0]\nties: 50 to 51 TP"
    assert second.lstrip("\u2007") == "– [40.0, 60.0]"


def test_the_interval_of_a_sample_is_described() -> None:
    base = frames.baseline(
        10, 30, sampled=True, n_drawn=32, n_unjudged=1, n_undecided=1, n_candidates=300, interval="wilson",
        confidence=0.9,
    )  # fmt: skip
    block = show_blocks({**ONE, "baseline": base})[1]
    assert isinstance(block, Text)
    for piece in ("32 draws from 300 candidates (10.7 %)", "The estimates exclude 1 unjudged draw and 1 draw with conflicting judgements",
                  "90 % confidence limits (Wilson)", "for each n separately"):  # fmt: skip
        assert piece in block.text


def test_results_of_full_annotation_are_called_exact() -> None:
    block = show_blocks(ONE)[1]
    assert isinstance(block, Text)
    assert "exact for this data set" in block.text


def test_each_category_has_a_graph() -> None:
    two = {
        "precision": pl.concat(frames.precision(CURVES, category=c) for c in ("fig/ur", "fvg")),
        "baseline": pl.concat(frames.baseline(150, 300, category=c) for c in ("fvg", "fig/ur")),
    }
    names = [block.name for block in show_blocks(two) if isinstance(block, Figure)]
    assert names == ["precision-fig-ur", "precision-fvg"]
    only = [block.name for block in show_blocks(two, category="fvg") if isinstance(block, Figure)]
    assert only == ["precision"]


def test_the_absence_of_judgements_is_stated() -> None:
    (nobody,) = show_blocks({k: frame.clear() for k, frame in ONE.items()})
    (unjudged,) = show_blocks({**ONE, "baseline": frames.baseline(0, 0)})
    (no_list,) = show_blocks({**ONE, "precision": ONE["precision"].clear()})
    assert all(isinstance(block, Text) for block in (nobody, unjudged, no_list))


def test_the_absence_of_estimates_in_the_window_is_stated() -> None:
    late = ONE["precision"].with_columns(precision=pl.lit(None, pl.Float64))
    first = show_blocks({**ONE, "precision": late})[0]
    assert isinstance(first, Text)
    assert show_blocks(ONE, first_n=301)[0] == Text(
        "No n-best list from n = 301 has a judged candidate."
    )


def test_short_lists_are_drawn_from_the_start() -> None:
    short = frames.precision({"dice": [True, False] * 10})
    figure = show_blocks({"precision": short, "baseline": frames.baseline(10, 20)})[0]
    assert isinstance(figure, Figure)
    assert "The graph starts" not in figure.caption


def test_truth_and_marks_are_read_from_other_stages() -> None:
    tables = {**ONE, "full.precision": ONE["precision"], "tests.comparison": COMPARISON}
    figure = show_blocks(tables, truth="full", comparison="tests", marks=("t_score", "dice"))[0]
    assert isinstance(figure, Figure)
    assert "Thin lines: the true curves." in figure.caption
    assert "(not a verdict)" in figure.caption
    spec = still(figure.chart)
    thin = [layer for layer in spec["layer"] if layer["mark"].get("strokeWidth") == 0.8]
    truths = [layer["data"]["values"].splitlines() for layer in thin]
    assert [len(lines) for lines in truths] == [1 + 286, 1 + 286]
    kinds = [layer["mark"]["type"] for layer in spec["layer"]]
    assert kinds.count("line") == 4
    assert kinds.count("point") == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": ("t_scor",)}, "views.made.measures: unknown name 't_scor'; did you mean t_s"),
        ({"bands": ("mi",)}, "views.made.bands: unknown name 'mi'"),
        ({"category": "fvg"}, "views.made.category: unknown name 'fvg'"),
        ({"marks": ("dice", "t_score")}, "give both or neither"),
        ({"comparison": "tests", "marks": ("dice", "mi")}, "tests does not compare dice with mi"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("'", ".")):
        show_blocks({**ONE, "tests.comparison": COMPARISON}, **options)


def test_a_pair_without_significant_differences_is_named() -> None:
    pair = {"comparison": "tests", "marks": ("dice", "t_score")}
    none = COMPARISON.with_columns(significant=pl.col("n") < 50)
    shown_with = {**ONE, "tests.comparison": none}
    assert (
        "There is none here."
        in figures(show_blocks(shown_with, first_n=60, **pair))["precision"].caption
    )
    assert "none" not in figures(show_blocks(shown_with, first_n=10, **pair))["precision"].caption


def figures(blocks: list[Block]) -> dict[str, Figure]:
    return {block.name: block for block in blocks if isinstance(block, Figure)}


def test_a_stage_may_have_several_graphs() -> None:
    tables = {
        **ONE, "recall": frames.recall(CURVES), "local": frames.local(ONE["precision"], size=20),
    }  # fmt: skip
    graphs = [{"kind": "recall"}, {"kind": "precision_by_recall"}, {"kind": "local"},
              {"first_n": 200, "name": "zoom"}]  # fmt: skip
    result = figures(show_blocks(tables, graphs=graphs, cuts=(100,)))
    assert list(result) == ["precision", "recall", "precision-by-recall", "local", "zoom"]
    assert result["recall"].caption.startswith("Recall of the n-best lists against n. Grey line")
    assert "n grows along each line" in result["precision-by-recall"].caption
    assert "left to right: n = 100." in result["precision-by-recall"].caption
    assert "in a window of 20 ranks" in result["local"].caption
    assert "The graph starts" not in result["local"].caption
    assert "The graph starts at n = 200" in result["zoom"].caption


@pytest.mark.parametrize(("base", "among"), [
    ("gold", ""), ("candidates", " that are among the candidates"),
])  # fmt: skip
def test_captions_state_recall_over_a_gold_standard(base: str, among: str) -> None:
    """A random order reaches the share of the gold standard among the ranked candidates."""
    half = ONE["precision"].with_columns(pl.col("recall") / 2)
    graphs = [{"kind": "recall"}, {"kind": "precision_by_recall"}]
    config = {"positives": "gold.coverage", "base": base}
    result = figures(show_blocks({**ONE, "precision": half}, graphs=graphs, config=config))
    for kind in ("recall", "precision-by-recall"):
        assert f" Recall counts all entries of the gold standard{among}." in result[kind].caption
    assert "gold" not in result["precision"].caption


def test_bands_of_recall_require_the_table_of_recall() -> None:
    assert "recall" in figures(show_blocks(ONE, graphs=[{"kind": "recall"}]))
    with pytest.raises(ConfigError, match="has not made its table recall; set recall in stages.ma"):
        show_blocks(ONE, graphs=[{"kind": "recall", "bands": ["dice"]}])


@pytest.mark.parametrize(("kind", "option"), [("local", "window"), ("cut", "cut")])
def test_a_graph_of_a_missing_table_is_refused(kind: str, option: str) -> None:
    message = (
        rf"views.made.graphs.0.kind: the stage made has not made its table {kind}; set {option}"
    )
    with pytest.raises(ConfigError, match=message):
        show_blocks(ONE, graphs=[{"kind": kind}])


def test_within_a_cut_there_is_no_baseline() -> None:
    whole = pl.col("precision").last().over("measure")
    cut = frames.precision({name: hits[:120] for name, hits in CURVES.items()}).select(
        "category", "measure", "n", "n_sampled", "k_sampled", pl.lit(60).alias("positives"),
        "precision", "recall", whole.alias("baseline"),
    )  # fmt: skip
    figure = figures(show_blocks({**ONE, "cut": cut}, graphs=[{"kind": "cut"}]))["cut"]
    assert "within the top 120" in figure.caption
    assert "baseline" not in figure.caption


def test_of_many_measures_only_the_best_are_drawn() -> None:
    curves = {f"m{i:02}": [j % (i + 2) == 0 for j in range(300)] for i in range(15)}
    tables = {"precision": frames.precision(curves), "baseline": frames.baseline(60, 300)}
    figure, _, table = show_blocks(tables, cuts=(100, 200))
    assert isinstance(figure, Figure)
    assert figure.caption.endswith(
        "Shown: the 12 of 15 measures with the highest precision at n = 200."
    )
    lines = [layer for layer in still(figure.chart)["layer"] if layer["mark"]["type"] == "line"]
    assert len(lines) == 12
    assert isinstance(table, Listing)
    assert table.frame["measure"].n_unique() == 15


def test_sets_of_other_stages_are_drawn() -> None:
    sets = {
        f"{name}.subsets": pl.DataFrame(
            {
                "category": ["TP"],
                "subset": [name],
                "n": [n],
                "precision": [0.4],
                "lower": [0.3],
                "upper": [0.5],
            }
        )
        for name, n in (("filter", 120), ("other", 150))
    }
    figure = figures(show_blocks({**ONE, **sets}, subsets=("filter", "other")))["precision"]
    assert "Diamonds" in figure.caption
    kinds = [layer["mark"].get("shape") for layer in still(figure.chart)["layer"]]
    assert "diamond" in kinds


def test_thresholds_are_described_in_words() -> None:
    rows = [("TP", "dice", 0.2, 250), ("TP", "t_score", 0.2, None), ("TP", "dice", 0.4, 90),
            ("TP", "t_score", 0.4, 1200)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["category", "measure", "threshold", "n"], orient="row")
    low, high = show_blocks({**ONE, "thresholds": frame})[-2:]
    assert isinstance(low, Text)
    assert isinstance(high, Text)
    assert low.text.endswith("stays under 20 % from these n: Dice 250; t-score never.")
    assert low.text.startswith("The pointwise lower confidence limit of precision")
    assert high.text.endswith("stays under 40 % from these n: t-score 1,200; Dice 90.")


def test_the_possible_effect_of_unjudged_draws_is_listed() -> None:
    row = ("TP", "t_score", 100, 50, 10, 40, 12, 0.3, 0.17, 0.47, 0.24, 0.13, 0.39, 0.44, 0.3, 0.59)
    open_ = pl.DataFrame([row], schema=WorstCase.columns(), orient="row")
    fold = show_blocks({**ONE, "worst_case": open_})[-1]
    assert isinstance(fold, Fold)
    (table,) = fold.blocks
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert table.texts.rows() == [
        ("t-score", "100", "10", "30.0 [17.0, 47.0]", "24.0 [13.0, 39.0]", "44.0 [30.0, 59.0]")
    ]


def test_simultaneous_thresholds_are_listed() -> None:
    rows = [("TP", "dice", 0.2, 100, 2000, 700, 600, None, 0.95),
            ("TP", "t_score", 0.2, 100, 2000, 100, None, 1500, 0.95)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=BandThresholds.columns(), orient="row")
    table = show_blocks({**ONE, "band_thresholds": frame})[-1]
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert table.texts.rows() == [
        ("20 %", "Dice", "600", "not shown"), ("20 %", "t-score", "not shown", "1,500"),
    ]  # fmt: skip
    assert "for all n from 100 to 2,000 simultaneously, with 95 % confidence" in table.caption


def test_corrected_precision_is_listed() -> None:
    row = ("TP", "t_score", 100, 40, 12, 0.3, 0.294, 0.14, 0.48, 0.9, 0.95, 30, None, 0.95)
    frame = pl.DataFrame([row], schema=CorrectedPrecision.columns(), orient="row")
    table = show_blocks({**ONE, "corrected": frame})[-1]
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert table.texts.rows() == [("t-score", "100", "30.0", "29.4 [14.0, 48.0]")]
    assert "sensitivity 90.0 % (of 30 candidates), specificity 95.0 %." in table.caption


def test_estimates_within_a_pool_are_marked() -> None:
    block = show_blocks({**ONE, "baseline": frames.baseline(150, 300, pool=500)})[1]
    assert isinstance(block, Text)
    assert "the union of the top 500" in block.text
    everything = show_blocks(ONE)[1]
    assert isinstance(everything, Text)
    assert "pool" not in everything.text


def test_precision_by_clusters_is_in_a_fold() -> None:
    row = {
        "category": "TP", "measure": "dice", "n": 2, "n_sampled": 2, "k_sampled": 1, "precision": 0.5,
        "lower": 0.1, "upper": 0.9, "confidence": 0.95, "cluster": "l2", "clusters": 2,
        "effective_clusters": 2.0, "design_effect": 3.21,
    }  # fmt: skip
    clustered = pl.DataFrame([row], schema=ClusteredPrecision.columns())
    fold = next(
        each for each in show_blocks({**ONE, "clustered": clustered}) if isinstance(each, Fold)
    )
    (table,) = (each for each in flatten_blocks([fold]) if isinstance(each, Listing))
    assert "the same l2" in table.caption
    assert table.texts is not None
    assert table.texts.row(0) == ("Dice", "2", "50.00", "[10.00, 90.00]", "2", "2.0", "3.2")


VIEW = PrecisionView(
    measures=("a", "b"), bands=("a",), y_max=60.0, first_n=50, comparison="tests", marks=("a", "b"),
    subsets=("filter",), truth="full", name="own", category="TP",
)  # fmt: skip


def further(**options: object) -> Graph:
    graph = Graph.model_validate(options)
    return list(resolve_graphs(VIEW, (graph,)))[1][1]


def test_the_main_graph_of_a_view_is_first() -> None:
    (place, own), (second, _) = resolve_graphs(VIEW, (Graph(),))
    assert (place, second) == ("", "graphs.0.")
    assert own == Graph(
        measures=("a", "b"), bands=("a",), y_max=60.0, first_n=50, comparison="tests",
        marks=("a", "b"), subsets=("filter",), truth="full", name="own",
    )  # fmt: skip


def test_a_graph_of_the_same_kind_inherits_all_but_the_name() -> None:
    graph = further(style="print", first_n=400)
    assert (graph.style, graph.first_n, graph.y_max, graph.marks) == (
        "print",
        400,
        60.0,
        ("a", "b"),
    )
    assert graph.name is None


def test_a_graph_of_another_kind_has_its_own_axes_and_no_marks() -> None:
    graph = further(kind="recall")
    assert (graph.measures, graph.bands, graph.truth) == (("a", "b"), ("a",), "full")
    assert (graph.y_max, graph.first_n, graph.name) == (None, None, None)
    assert (graph.marks, graph.comparison, graph.subsets) == (None, None, ())


def test_a_graph_of_precision_may_follow_a_view_of_recall() -> None:
    view = PrecisionView(kind="recall", measures=("a",), y_max=90.0)
    (_, own), (_, graph) = resolve_graphs(view, (Graph(),))
    assert (own.kind, graph.kind) == ("recall", "precision")
    assert (graph.measures, graph.y_max) == (("a",), None)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValidationError, match="graphs.0.kind"):
        PrecisionView.model_validate({"graphs": [{"kind": "histogram"}]})
    with pytest.raises(ValidationError, match="graphs.0.category"):
        PrecisionView.model_validate({"graphs": [{"category": "TP"}]})


# The rows by n that a graph needs, for few lists and for many.


@pytest.mark.parametrize("size", [1, 2, 401, 1000, 3001])
@pytest.mark.parametrize("first", [1, 7])
def test_many_lists_are_thinned_like_few(
    size: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = pl.DataFrame({"n": [*range(1, first + size)] * 2, "measure": "mi"}).lazy()
    window, always = Window(first_n=first), [first + size // 3, 10_000]
    few = graphs.thin_rows(every, window, always=always).collect()
    monkeypatch.setattr(graphs, "MANY_LISTS", 800)
    many = graphs.thin_rows(every, window, always=always).collect()
    assert many.equals(few)
