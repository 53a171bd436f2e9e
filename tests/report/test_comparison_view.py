"""The blocks of the view of comparisons."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
import report_frames as frames

from pipeline.errors import ConfigError
from pipeline.report.view import Block, Figure, Listing, Text
from pipeline.report.views.comparison import ComparisonView, show_comparison

GAPS = dict.fromkeys(range(1, 201), 0.25)
PAIRS = {("a", "b"): GAPS, ("a", "c"): GAPS, ("b", "c"): dict.fromkeys(range(1, 201), -0.0)}
TESTED = frames.comparison(PAIRS, significant=range(90, 110))
TABLES = {"comparison": TESTED, "cuts": frames.cuts(TESTED, [100, 200])}


def shown(tables: dict[str, pl.DataFrame] = TABLES, **options: Any) -> list[Block]:
    config = options.pop("config", {})
    stage = frames.stage("evaluate.comparison", tables, name="tests", **config)
    return list(show_comparison(stage, ComparisonView(**options)))


def listing(blocks: list[Block], name: str) -> Listing:
    return next(block for block in blocks if isinstance(block, Listing) and block.name == name)


def test_how_to_read_the_tests_comes_first() -> None:
    first, second, *_ = shown()
    assert isinstance(first, Text)
    assert isinstance(second, Text)
    assert "conservative" in first.text
    assert "superpopulation" in first.text
    assert "pointwise" in second.text
    assert "60 %" in second.text


def test_a_matrix_for_each_cut() -> None:
    table = listing(shown(), "matrix-100")
    assert table.shown is not None
    assert table.shown.rows() == [
        ("a", "", "* +25.00", "* +25.00"),
        ("b", "* −25.00", "", "* 0.00"),
        ("c", "* −25.00", "* 0.00", ""),
    ]
    assert "adjusted p < 0.05" in table.caption
    later = listing(shown(), "matrix-200")
    assert later.shown is not None
    assert later.shown.row(0) == ("a", "", "+25.00", "+25.00")


def test_stars_need_the_margin_and_the_level_of_the_stage() -> None:
    table = listing(shown(config={"alpha": 0.05, "margin": 0.1}), "matrix-100")
    assert table.shown is not None
    assert table.shown.row(1) == ("b", "* −25.00", "", "0.00")
    strict = listing(shown(config={"alpha": 0.01}), "matrix-100")
    assert strict.shown is not None
    assert strict.shown.row(0) == ("a", "", "+25.00", "+25.00")


def test_the_tests_with_adjusted_p_values() -> None:
    table = listing(shown(), "tests")
    assert table.frame.height == 6
    assert table.shown is not None
    row = table.shown.row(0, named=True)
    assert (row["first"], row["second"], row["n"]) == ("a", "b", "100")
    assert (row["p"], row["adjusted p"]) == ("0.0100", "0.0200")
    assert "holm" in table.caption


def test_an_undefined_test_is_a_dash() -> None:
    nothing = TABLES["cuts"].with_columns(
        difference=pl.lit(None, pl.Float64), p_value=pl.lit(None, pl.Float64),
        p_adjusted=pl.lit(None, pl.Float64), significant=False,
    )  # fmt: skip
    blocks = shown({**TABLES, "cuts": nothing})
    matrix, tests = listing(blocks, "matrix-100"), listing(blocks, "tests")
    assert matrix.shown is not None
    assert matrix.shown.row(0) == ("a", "", "–", "–")
    assert tests.shown is not None
    assert tests.shown.row(0)[-3:] == ("–", "–", "–")


def drawn(blocks: list[Block], name: str) -> list[Figure]:
    return [block for block in blocks if isinstance(block, Figure) and block.name == name]


def test_three_pairs_are_drawn_and_more_only_if_asked() -> None:
    assert drawn(shown(), "difference")
    more = frames.comparison({(a, "z"): GAPS for a in "abcd"})
    tables = {"comparison": more, "cuts": frames.cuts(more, [100])}
    assert not drawn(shown(tables), "difference")
    assert drawn(shown(tables, pairs=(("z", "a"),)), "difference")


def test_measures_are_chosen() -> None:
    table = listing(shown(measures=("a", "b")), "tests")
    assert set(table.frame["measure_2"]) == {"b"}


def test_nothing_to_compare_gives_a_sentence() -> None:
    (said,) = shown({name: frame.clear() for name, frame in TABLES.items()})
    assert isinstance(said, Text)


def test_no_declared_cut_gives_a_sentence() -> None:
    blocks = shown({**TABLES, "cuts": TABLES["cuts"].clear()})
    assert Text("No test was made at a declared cut.") in blocks
    assert any(isinstance(block, Figure) for block in blocks)


def test_categories_have_their_own_tables() -> None:
    two = {
        name: pl.concat([frame, frame.with_columns(category=pl.lit("fvg"))])
        for name, frame in TABLES.items()
    }
    names = {block.name for block in shown(two) if not isinstance(block, Text)}
    assert {"matrix-100-TP", "matrix-100-fvg", "difference-TP", "difference-fvg"} <= names


def test_an_unknown_pair_is_an_error() -> None:
    with pytest.raises(ConfigError, match="views.tests.pairs: a and z are not compared"):
        shown(pairs=(("a", "z"),))
