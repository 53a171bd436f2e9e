"""Values as text."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline import memory
from pipeline.findings.base import StageOptions, StageView
from pipeline.findings.phrases import slug
from pipeline.report.charts import Look, lexicon_chart
from pipeline.report.page.build import whole_table
from pipeline.report.view import (
    VIEWS,
    Column,
    count_of,
    figure,
    fits_in_memory,
    format_cell,
    format_percent,
    format_points,
    listing,
    max_rows_in_memory,
    p_value,
    unique_names,
)
from pipeline.report.views.collocations import designed, precision
from pipeline.report.views.collocations.candidates import Ranking
from pipeline.report.views.collocations.combination import Folds
from pipeline.report.views.collocations.comparison import ComparisonSettings, Mark, PairTestSettings
from pipeline.report.views.collocations.graphs import DeclaredCuts, GoldBase
from pipeline.report.views.lexicon import ComparedLexicons, Trend
from pipeline.stages.base import STAGES
from tests.report import report_frames as frames


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.5, "−0.5"), (0.05, "0.05"), (123.456, "123.5"), (5082148.0, "5,082,148"),
        (1e-12, "1e-12"), (float("inf"), "∞"), (float("nan"), "undefined"), (-3, "−3"),
        (False, "no"), ("", ""), (None, "–"),
    ],
)  # fmt: skip
def test_values_are_formatted_as_text(value: object, text: str) -> None:
    assert format_cell(value) == text


def test_percentages_and_small_p_values_are_formatted() -> None:
    assert format_percent(1.0) == "100.00"
    assert (p_value(0.0), p_value(9.99e-4), p_value(1e-3)) == ("< .001", "< .001", ".001")
    assert (format_points(1.0), format_points(-0.00001)) == ("+100.00", "−0.00")


@given(st.text())
def test_slugs_are_safe_file_names(text: str) -> None:
    result = slug(text)
    assert result
    assert set(result) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


@given(st.lists(st.text(alphabet="aAb-2", max_size=4)))
def test_distinct_names_differ_in_any_case(names: list[str]) -> None:
    result = unique_names(names)
    assert len({name.casefold() for name in result}) == len(names)
    assert all(new.startswith(old) for new, old in zip(result, names, strict=True))


# Tables from their columns, figures from the functions that draw them.

FRAME = pl.DataFrame(
    {"measure": ["mi", "mi", "dice"], "n": [100, 1000, 100], "k": [5, 12, None], "p": [0.1, 0.2, 0]}
)


def test_a_row_of_the_frame_is_a_row_of_the_page() -> None:
    table = listing("x", "Said.", FRAME, [Column("measure"), Column("n", "size"), Column("k")])
    assert table.texts is not None
    assert table.texts.columns == ["measure", "size", "k"]
    assert table.texts.rows() == [("mi", "100", "5"), ("mi", "1,000", "12"), ("dice", "100", "–")]
    assert table.frame.equals(FRAME)
    assert (table.name, table.caption) == ("x", "Said.")


def test_a_cell_may_combine_several_columns() -> None:
    columns = [Column(("n", "measure"), "both", lambda n, name: f"{name} {n}")]
    table = listing("x", "", FRAME.head(1), columns)
    assert table.texts is not None
    assert table.texts.rows() == [("mi 100",)]


def test_numbers_are_flush_right_by_default() -> None:
    columns = [
        Column("measure"), Column("measure", "right", right=True), Column(("k", "n"), "of", count_of),
        Column("p", "left", format_percent, right=False),
    ]  # fmt: skip
    assert listing("x", "", FRAME.head(2), columns).right == ("right", "of")


def test_pivoted_rows_keep_their_order_and_mark_absent_cells() -> None:
    columns = [Column("measure"), Column("k"), Column("p", "n = 1000", format_percent, at=("n", 1000)),
               Column("p", "n = 7", format_percent, at=("n", 7), absent="none")]  # fmt: skip
    table = listing("x", "", FRAME, columns, by=["measure"])
    assert table.texts is not None
    assert table.texts.rows() == [("mi", "5", "20.00", "none"), ("dice", "–", "", "none")]
    assert table.right == ("k", "n = 1000", "n = 7")


def test_the_page_may_show_other_rows_than_the_files() -> None:
    table = listing("x", "", FRAME, [Column("measure")], source=FRAME.tail(1))
    assert table.texts is not None
    assert table.texts.rows() == [("dice",)]
    assert table.frame.height == 3


def test_a_table_without_rows_has_its_headings() -> None:
    table = listing("x", "", FRAME.clear(), [Column("measure"), Column("n")], by=["measure"])
    assert table.texts is not None
    assert table.texts.columns == ["measure", "n"]
    assert table.texts.is_empty()


def test_repeated_headings_are_numbered_and_keep_alignment() -> None:
    table = listing("x", "", FRAME, [Column("measure", "n"), Column("n")])
    assert table.texts is not None
    assert table.texts.columns == ["n", "n-2"]
    assert table.right == ("n-2",)


def test_columns_may_be_grouped_and_cells_may_be_bold() -> None:
    frame = pl.DataFrame(
        {"name": ["a", "b", "b"], "of": ["x", "x", "y"], "n": [1, 2, 3], "top": [False, True, True]}
    )
    columns = [
        Column("name"),
        *(Column("n", of, at=("of", of), group="both", mark="top") for of in ("y", "x")),
    ]
    block = listing("t", "", frame, columns, by=["name"])
    assert block.groups == ("", "both", "both")
    assert block.marked == {(1, 1), (1, 2)}
    plain = listing("t", "", frame, [Column("name"), Column("n")])
    assert (plain.groups, plain.marked) == ((), frozenset())


def test_a_figure_is_drawn_for_a_wide_page_and_for_a_phone() -> None:
    looks: list[Look] = []
    frame = pl.DataFrame({"name": ["a"], "value": [0.5], "lower": [0.4], "upper": [0.6]})

    def draw_chart(*, look: Look) -> dict[str, object]:
        looks.append(look)
        return lexicon_chart(frame, title="L*", zero=False, look=look)

    result = figure("x", "Said.", draw_chart, Look(style="print", width=300), alt="What it says.")
    assert (result.name, result.caption, result.alt) == ("x", "Said.", "What it says.")
    assert [(look.style, look.width, look.narrow) for look in looks] == [
        ("print", 300, False), ("print", 260, True),
    ]  # fmt: skip
    assert result.narrow is not None
    assert result.narrow != result.chart


def test_a_figure_equal_on_a_phone_is_stored_once() -> None:
    assert figure("x", "", lambda look: {"mark": look.style}, Look()).narrow is None


# Tables that do not fit in memory are not copied beside the page, which states it.


@pytest.mark.parametrize(
    ("size", "copied"), [(None, True), (64 * 3 * 20, True), (64 * 3 * 19, False)]
)
def test_a_table_is_copied_if_it_fits_in_memory(size: int | None, copied: bool) -> None:
    table = pl.LazyFrame({"a": range(20), "b": range(20), "c": range(20)})
    stage = StageView("s", "u", {}, lambda _: table)
    with memory.with_limit(size):
        data, files = whole_table(stage, "t", most_rows=100)
    assert data.rows == 20
    assert bool(files) is copied
    assert bool(data.links) is copied
    assert ("memory" in data.why) is not copied


def test_without_a_limit_every_table_fits_in_memory() -> None:
    assert max_rows_in_memory(3) is None
    assert fits_in_memory(10**12, 3)


# Options of stages that views read: the stages have them, and every default.

OPTION_MODELS: list[tuple[str, type[StageOptions]]] = [
    ("evaluate.comparison", ComparisonSettings), ("evaluate.subset", PairTestSettings), ("evaluate.precision", DeclaredCuts), ("evaluate.precision", GoldBase),
    ("score.rank", Ranking), ("evaluate.lexicon", Trend),
    ("evaluate.lexicons", ComparedLexicons),
    ("evaluate.comparison", precision.PairTestOptions), ("evaluate.designed", designed.PairTestOptions),
    ("score.combination", Folds),
]  # fmt: skip


def every(model: type[StageOptions]) -> Iterator[type[StageOptions]]:
    for below in model.__subclasses__():
        if below.__module__.startswith("pipeline.report.views"):
            yield below
            yield from every(below)


def test_every_model_of_stage_options_is_tested() -> None:
    assert list(VIEWS)
    assert set(every(StageOptions)) == {model for _, model in OPTION_MODELS} | {Mark}


@pytest.mark.parametrize(("use", "model"), OPTION_MODELS)
def test_only_the_stage_has_defaults_of_options(use: str, model: type[StageOptions]) -> None:
    assert set(model.model_fields) <= set(STAGES.get(use).config.model_fields)
    assert all(field.is_required() for field in model.model_fields.values())


def test_options_of_a_stage_override_its_defaults() -> None:
    stage = frames.stage("evaluate.comparison", {}, margin=0.25)
    assert stage.options_as(Mark) == Mark(alpha=0.05, margin=0.25)


def test_an_option_absent_from_the_stage_is_refused() -> None:
    with pytest.raises(ValidationError, match="alpha"):
        StageView("x", "x.x", {"margin": 0.1}, frames.stage("x.x", {}).table).options_as(Mark)
