"""The blocks of the view of comparisons."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from pipeline.errors import ConfigError
from pipeline.report.page.images import still
from pipeline.report.view import Block, Figure, Listing, Text, flatten_blocks
from pipeline.report.views.collocations.comparison import (
    ComparisonView,
    Mark,
    group_matrices,
    matrix_of,
    show_comparison,
)
from schemas import ClusteredDifferences
from tests.report import report_frames as frames

GAPS = dict.fromkeys(range(1, 201), 0.25)
PAIRS = {("a", "b"): GAPS, ("a", "c"): GAPS, ("b", "c"): dict.fromkeys(range(1, 201), -0.0)}
COMPARISON = frames.comparison(PAIRS, significant=range(90, 110))
TABLES = {"comparison": COMPARISON, "cuts": frames.cuts(COMPARISON, [100, 200])}


def show_blocks(tables: dict[str, pl.DataFrame] = TABLES, **options: Any) -> list[Block]:
    config = options.pop("config", {})
    stage = frames.stage("evaluate.comparison", tables, name="tests", **config)
    return list(flatten_blocks(show_comparison(stage, ComparisonView(**options))))


def listing(blocks: list[Block], name: str) -> Listing:
    return next(block for block in blocks if isinstance(block, Listing) and block.name == name)


def test_notes_on_the_tests_are_first() -> None:
    first, second, *_ = show_blocks()
    assert isinstance(first, Text)
    assert isinstance(second, Text)
    assert "conservative" in first.text
    assert "larger population" in first.text
    assert "not verdicts" in second.text
    assert "41 to 58 % of simulated 10 % samples" in second.text


def test_each_cut_has_a_matrix() -> None:
    table = listing(show_blocks(), "matrix-100")
    assert table.texts is not None
    assert table.texts.rows() == [
        ("a", "", "* +25.00", "* +25.00"),
        ("b", "* −25.00", "", "* 0.00"),
        ("c", "* −25.00", "* 0.00", ""),
    ]
    assert "adjusted p < 0.05" in table.caption
    later = listing(show_blocks(), "matrix-200")
    assert later.texts is not None
    assert later.texts.row(0) == ("a", "", "+25.00", "+25.00")


def test_stars_follow_the_table_of_tests() -> None:
    """Significance is decided once, with the tests."""
    none = TABLES["cuts"].with_columns(significant=False)
    table = listing(show_blocks({**TABLES, "cuts": none}), "matrix-100")
    assert table.texts is not None
    assert "*" not in "".join(map(str, table.texts.rows()))


def test_tests_are_listed_with_adjusted_p_values() -> None:
    table = listing(show_blocks(), "tests")
    assert table.frame.height == 6
    assert table.texts is not None
    row = table.texts.row(0, named=True)
    assert (row["first"], row["second"], row["n"]) == ("a", "b", "100")
    assert (row["p"], row["adjusted p"]) == (".010", ".020")
    assert "Holm's method" in table.caption


def test_an_undefined_test_is_a_dash() -> None:
    nothing = TABLES["cuts"].with_columns(
        difference=pl.lit(None, pl.Float64), p_value=pl.lit(None, pl.Float64),
        p_adjusted=pl.lit(None, pl.Float64), significant=False,
    )  # fmt: skip
    blocks = show_blocks({**TABLES, "cuts": nothing})
    matrix, tests = listing(blocks, "matrix-100"), listing(blocks, "tests")
    assert matrix.texts is not None
    assert matrix.texts.row(0) == ("a", "", "–", "–")
    assert tests.texts is not None
    assert tests.texts.row(0)[-3:] == ("–", "–", "–")


def figures_of(blocks: list[Block], name: str) -> list[Figure]:
    return [block for block in blocks if isinstance(block, Figure) and block.name == name]


def test_three_pairs_are_drawn_and_more_on_request() -> None:
    assert figures_of(show_blocks(), "difference")
    more = frames.comparison({(a, "z"): GAPS for a in "abcd"})
    tables = {"comparison": more, "cuts": frames.cuts(more, [100])}
    assert not figures_of(show_blocks(tables), "difference")
    assert figures_of(show_blocks(tables, pairs=(("z", "a"),)), "difference")


def test_only_the_selected_measures_are_listed() -> None:
    table = listing(show_blocks(measures=("a", "b")), "tests")
    assert set(table.frame["measure_2"]) == {"b"}


def test_the_absence_of_comparisons_is_stated() -> None:
    (block,) = show_blocks({name: frame.clear() for name, frame in TABLES.items()})
    assert isinstance(block, Text)


def test_the_absence_of_declared_cuts_is_stated() -> None:
    blocks = show_blocks({**TABLES, "cuts": TABLES["cuts"].clear()})
    assert Text("No test was made at a declared cut.") in blocks
    assert any(isinstance(block, Figure) for block in blocks)


def test_categories_have_their_own_tables() -> None:
    two = {
        name: pl.concat([frame, frame.with_columns(category=pl.lit("fvg"))])
        for name, frame in TABLES.items()
    }
    names = {each.name for each in flatten_blocks(show_blocks(two)) if not isinstance(each, Text)}
    assert {"matrix-100-TP", "matrix-100-fvg", "difference-TP", "difference-fvg"} <= names


def test_an_unknown_pair_is_refused() -> None:
    with pytest.raises(ConfigError, match="views.tests.pairs: a and z are not compared"):
        show_blocks(pairs=(("a", "z"),))


AGAINST = frames.against_baseline(
    {"a": {100: (2, 10, 0.9), 200: (5, 10, 0.01)}, "b": {100: (9, 10, 0.001), 200: (1, 10, 0.8)},
     "c": {100: (5, 10, 0.2), 200: (0, 0, 0.8)}}
)  # fmt: skip


def rows_of(figure: Figure) -> list[list[str]]:
    """Return the row names of each panel, from the top."""
    spec = still(figure.chart)
    results = []
    for panel in spec["concat"]:
        texts = [layer for layer in panel["layer"] if layer["mark"].get("align") == "right"]
        data = texts[0]["data"]["values"].splitlines()[1:]
        results.append([line.split(",")[0] for line in data])
    return results


def test_the_heat_map_is_in_the_order_of_precision() -> None:
    (figure,) = figures_of(show_blocks({**TABLES, "baseline_cuts": AGAINST}), "matrix")
    assert rows_of(figure) == [["b", "c", "a"], ["a", "b", "c"]]
    assert "Star: adjusted p < 0.05." in figure.caption


def test_many_measures_have_one_figure_per_cut() -> None:
    names = [f"m{i}" for i in range(9)]
    pairs = {(a, b): GAPS for i, a in enumerate(names) for b in names[i + 1 :]}
    many = frames.comparison(pairs)
    blocks = show_blocks({"comparison": many, "cuts": frames.cuts(many, [100, 200])})
    assert [len(figures_of(blocks, f"matrix-{n}")) for n in (100, 200)] == [1, 1]
    assert not figures_of(blocks, "matrix")


def test_of_many_cuts_a_few_and_the_requested_ones_have_a_matrix() -> None:
    tables = {"comparison": COMPARISON, "cuts": frames.cuts(COMPARISON, list(range(10, 201, 10)))}
    (figure,) = figures_of(show_blocks(tables), "matrix")
    assert 5 <= len(rows_of(figure)) <= 7
    (requested_figure,) = figures_of(show_blocks(tables, matrices=(40,)), "matrix-40")
    assert len(rows_of(requested_figure)) == 1
    with pytest.raises(ConfigError, match="views.tests.matrices: 45 is not a declared cut"):
        show_blocks(tables, matrices=(45,))


def test_the_best_measures_have_a_figure_and_a_table() -> None:
    best = frames.best({100: ["b", "c"], 200: ["a"]})
    blocks = show_blocks({**TABLES, "best": best})
    assert figures_of(blocks, "best")
    table = listing(blocks, "best")
    assert table.texts is not None
    assert table.texts.rows() == [("100", "b 30.00", "c 30.00"), ("200", "a 30.00", "none")]
    assert table.frame.height == 3


def test_tests_against_the_baseline_are_listed() -> None:
    table = listing(show_blocks({**TABLES, "baseline_cuts": AGAINST}), "baseline")
    assert table.texts is not None
    assert table.texts.rows() == [
        ("a", "+10.00\np = .900", "* +40.00\np = .010"),
        ("b", "* +80.00\np = .001", "0.00\np = .800"),
        ("c", "+40.00\np = .200", "–"),
    ]


def test_the_test_and_the_correction_are_named() -> None:
    config = {"test": "boschloo", "alternative": "greater", "correction": "benjamini_hochberg"}
    how, many, *rest = show_blocks(config=config)
    assert isinstance(how, Text)
    assert isinstance(many, Text)
    assert "Boschloo's exact test (one-sided: the first precision is higher)" in how.text
    assert "conservative" not in how.text
    assert "Benjamini" in many.text
    assert listing(rest, "tests").caption.startswith("Boschloo's exact test")


def test_the_graph_of_differences_can_be_zoomed() -> None:
    (figure,) = figures_of(show_blocks(y_min=-30.0, y_max=30.0), "difference")
    lines = [layer for layer in still(figure.chart)["layer"] if layer["mark"]["type"] == "line"]
    assert lines[0]["encoding"]["y"]["scale"]["domain"] == [-30.0, 30.0]


DIFFERENCES = frames.differences(
    {("a", "b"): (-0.05, 0.25, 0.5), ("c", "b"): (-0.3, -0.2, -0.1)}, [100]
)


def test_differences_from_the_best_have_limits() -> None:
    best = frames.best({100: ["b"]})
    blocks = show_blocks({**TABLES, "best": best, "differences": DIFFERENCES})
    assert len(figures_of(blocks, "intervals")) == 1
    table = listing(blocks, "differences")
    assert table.texts is not None
    row = table.texts.row(0, named=True)
    assert (row["about"], row["simultaneous limits"]) == ("these candidates", "[−5.00, +50.00]")
    assert (row["adjusted p"], row["margin: adjusted p"]) == (".020", ".060")


def test_many_differences_are_only_in_the_table() -> None:
    many = frames.differences({("a", "b"): (-0.1, 0.0, 0.1)}, range(1, 62))
    blocks = show_blocks({**TABLES, "differences": many})
    assert not figures_of(blocks, "intervals")
    assert listing(blocks, "differences").frame.height == 122


def test_the_guarantee_for_the_best_is_stated_only_if_valid() -> None:
    tables = {**TABLES, "best": frames.best({100: ["b"]})}
    sure = listing(show_blocks(tables, config={"correction": "bonferroni"}), "best").caption
    assert "Bonferroni" in sure
    assert (
        "The truly best measure is among them at all n, with a probability of at least 95 %" in sure
    )
    mid_p = {"correction": "bonferroni", "test": "fisher_mid_p"}
    for config in ({"correction": "holm"}, mid_p):
        assert "truly best" not in listing(show_blocks(tables, config=config), "best").caption


def test_differences_by_clusters_are_listed() -> None:
    row = {
        "category": "TP", "measure_1": "a", "measure_2": "b", "n": 100, "size": 50, "n_1": 9, "k_1": 3,
        "n_2": 9, "k_2": 2, "confidence": 0.95, "cluster": "l2", "clusters": 7,
        "effective_clusters": 5.25, "design_effect": None, "difference": 0.1, "lower": -0.2,
        "upper": 0.4, "p_value": 0.3, "p_adjusted": 0.6, "correction": "holm", "significant": False,
    }  # fmt: skip
    frame = pl.DataFrame([row], schema=ClusteredDifferences.columns())
    table = listing(show_blocks({**TABLES, "clustered": frame}), "clustered")
    assert "the same l2" in table.caption
    assert table.texts is not None
    assert table.texts.row(0)[-5:] == (".300", ".600", "7", "5.2", "–")


# From tests at the cuts to matrices.

COMPARISON_MATRICES = frames.cuts(
    frames.comparison({("a", "b"): {100: 0.2, 200: -0.1}}, significant=[100]), [100, 200]
)
NOTHING = frames.against_baseline({})
MARK = Mark(alpha=0.05, margin=0.0)


def test_each_pair_is_in_the_matrix_in_both_directions() -> None:
    result = matrix_of(COMPARISON_MATRICES, NOTHING, 100).cells
    assert result.select("row", "column", "difference", "significant").rows() == [
        ("a", "b", 0.2, True), ("b", "a", -0.2, True),
    ]  # fmt: skip


def test_without_estimates_the_order_is_by_name() -> None:
    assert matrix_of(COMPARISON_MATRICES, NOTHING, 200).order == ("a", "b")


def test_small_matrices_share_a_figure() -> None:
    two = [matrix_of(COMPARISON_MATRICES, NOTHING, n) for n in (100, 200)]
    assert [len(group) for group in group_matrices(two, most=2)] == [2]
    assert [len(group) for group in group_matrices(two, most=1)] == [1, 1]
    assert group_matrices([], most=2) == []
