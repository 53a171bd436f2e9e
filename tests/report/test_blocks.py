"""Tables from their columns, figures from what draws them."""

from __future__ import annotations

import polars as pl

from pipeline.report.charts import Look, lexicon_chart
from pipeline.report.view import Column, figure, listing, part, share

FRAME = pl.DataFrame(
    {"measure": ["mi", "mi", "dice"], "n": [100, 1000, 100], "k": [5, 12, None], "p": [0.1, 0.2, 0]}
)


def test_a_row_of_the_frame_is_a_row_of_the_page() -> None:
    table = listing("x", "Said.", FRAME, [Column("measure"), Column("n", "size"), Column("k")])
    assert table.shown is not None
    assert table.shown.columns == ["measure", "size", "k"]
    assert table.shown.rows() == [("mi", "100", "5"), ("mi", "1,000", "12"), ("dice", "100", "–")]
    assert table.frame.equals(FRAME)
    assert (table.name, table.caption) == ("x", "Said.")


def test_a_cell_may_be_made_from_several_columns() -> None:
    columns = [Column(("n", "measure"), "both", lambda n, name: f"{name} {n}")]
    table = listing("x", "", FRAME.head(1), columns)
    assert table.shown is not None
    assert table.shown.rows() == [("mi 100",)]


def test_numbers_are_flush_right_unless_the_column_says_otherwise() -> None:
    columns = [
        Column("measure"), Column("measure", "right", right=True), Column(("k", "n"), "of", part),
        Column("p", "left", share, right=False),
    ]  # fmt: skip
    assert listing("x", "", FRAME.head(2), columns).right == ("right", "of")


def test_rows_side_by_side_keep_their_first_order_and_say_what_is_absent() -> None:
    columns = [Column("measure"), Column("k"), Column("p", "n = 1000", share, at=("n", 1000)),
               Column("p", "n = 7", share, at=("n", 7), absent="none")]  # fmt: skip
    table = listing("x", "", FRAME, columns, by=["measure"])
    assert table.shown is not None
    assert table.shown.rows() == [("mi", "5", "20.00", "none"), ("dice", "–", "", "none")]
    assert table.right == ("k", "n = 1000", "n = 7")


def test_the_page_may_show_other_rows_than_the_files() -> None:
    table = listing("x", "", FRAME, [Column("measure")], shown=FRAME.tail(1))
    assert table.shown is not None
    assert table.shown.rows() == [("dice",)]
    assert table.frame.height == 3


def test_no_rows_give_a_table_with_its_heads() -> None:
    table = listing("x", "", FRAME.clear(), [Column("measure"), Column("n")], by=["measure"])
    assert table.shown is not None
    assert table.shown.columns == ["measure", "n"]
    assert table.shown.is_empty()


def test_a_repeated_head_gets_a_number_and_keeps_its_side() -> None:
    table = listing("x", "", FRAME, [Column("measure", "n"), Column("n")])
    assert table.shown is not None
    assert table.shown.columns == ["n", "n-2"]
    assert table.right == ("n-2",)


def test_a_figure_is_drawn_for_a_wide_page_and_for_a_phone() -> None:
    looks: list[Look] = []
    frame = pl.DataFrame({"name": ["a"], "value": [0.5], "lower": [0.4], "upper": [0.6]})

    def drawn(*, look: Look) -> dict[str, object]:
        looks.append(look)
        return lexicon_chart(frame, title="L*", zero=False, look=look)

    made = figure("x", "Said.", drawn, Look(style="print", width=300), alt="What it says.")
    assert (made.name, made.caption, made.alt) == ("x", "Said.", "What it says.")
    assert [(look.style, look.width, look.narrow) for look in looks] == [
        ("print", 300, False), ("print", 260, True),
    ]  # fmt: skip
    assert made.narrow is not None
    assert made.narrow != made.chart


def test_a_figure_that_is_the_same_on_a_phone_is_held_once() -> None:
    assert figure("x", "", lambda look: {"mark": look.style}, Look()).narrow is None
