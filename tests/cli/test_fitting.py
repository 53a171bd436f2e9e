"""A table in a terminal: no line is longer, no number is shortened, what is left out is said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pipeline.cli.output import fitted, plain

TEXTS = st.text("ab日é \n\t", max_size=30)
NUMBERS = st.integers(0, 10**9).map("{:,}".format)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]], list[bool]]:
    right = draw(st.lists(st.booleans(), min_size=1, max_size=7))
    head = [draw(st.text("abc_", min_size=1, max_size=20)) for _ in right]
    row = st.tuples(*(NUMBERS if flush else TEXTS for flush in right)).map(list)
    return head, draw(st.lists(row, min_size=1, max_size=4)), right


@given(tables(), st.integers(20, 120))
def test_fits_and_keeps_numbers_whole(
    case: tuple[list[str], list[list[str]], list[bool]], width: int
) -> None:
    head, rows, right = case
    found = fitted(head, rows, right=right, width=width)
    count = len(found.head)
    assert count >= 1
    assert found.left_out == head[count:]
    assert found.right == right[:count]
    text = plain(found.head, found.rows, right=found.right, title="")
    assert text is not None
    assert max(map(cell_len, text.splitlines())) <= width
    for before, after in zip([head, *rows], [found.head, *found.rows], strict=True):
        for place, cell in enumerate(after):
            whole = before[place]
            if right[place] and before is not head:
                assert cell == whole
            elif cell != whole and whole.isprintable():
                assert cell.endswith("…")
                assert whole.startswith(cell[:-1].rstrip())
                assert cell_len(cell) >= 8


def test_nothing_is_changed_where_there_is_room() -> None:
    head, rows = ["l1", "f"], [["Verfügung", "1,200"], ["in", "7"]]
    found = fitted(head, rows, right=[False, True], width=21 + 2)
    assert (found.head, found.rows, found.left_out) == (head, rows, [])


def test_the_widest_text_is_shortened_first() -> None:
    rows = [["a" * 30, "b" * 12, "5"]]
    found = fitted(["l1", "l2", "f"], rows, right=[False, False, True], width=37)
    assert found.rows == [["a" * 13 + "…", "b" * 12, "5"]]


def test_signs_that_move_the_cursor_are_shown() -> None:
    assert fitted(["n"], [["a\nb\x1b[1m"]], right=[False], width=80).rows == [["a\\nb\\x1b[1m"]]


def test_a_table_without_columns() -> None:
    assert fitted([], [], right=[], width=80).head == []
