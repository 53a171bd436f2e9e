"""A table that goes into a pipe looks as rich draws it."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.cli.output import plain

NAMES = st.text("abc日é_", min_size=1, max_size=8)


def drawn(head: list[str], rows: list[list[str]], right: list[bool], title: str) -> str:
    table = Table(title=Text(title) if title else None, title_justify="left")
    for name, flush in zip(head, right, strict=True):
        table.add_column(name, justify="right" if flush else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    file = io.StringIO()
    Console(width=1000, file=file).print(table)
    return file.getvalue().removesuffix("\n")


@given(
    st.integers(1, 4).flatmap(
        lambda size: st.tuples(
            st.lists(NAMES, min_size=size, max_size=size),
            st.lists(st.lists(st.text(max_size=9), min_size=size, max_size=size), max_size=4),
            st.lists(st.booleans(), min_size=size, max_size=size),
            st.sampled_from(["", "t", "precision: 3 rows"]),
        )
    )
)
def test_as_rich_draws_it(case: tuple[list[str], list[list[str]], list[bool], str]) -> None:
    head, rows, right, title = case
    # rich drops the spaces at the end of what is flush right: numbers, which have none
    rows = [[c.rstrip() if f else c for c, f in zip(r, right, strict=True)] for r in rows]
    text = plain(head, rows, right=right, title=title)
    if text is None:
        whole = "".join([*head, *(cell for row in rows for cell in row)])
        assert not whole.isprintable() or title
    else:
        assert text == drawn(head, rows, right, title)


def test_what_would_have_to_be_broken_is_left_to_rich() -> None:
    assert plain(["n"], [["a\nb"]], right=[False], title="") is None
    assert plain(["n"], [["a" * 1000]], right=[False], title="") is None
    assert plain(["n"], [["a"]], right=[False], title="longer than all columns") is None
    assert plain([], [], right=[], title="") is None
