"""Documents are one whether or not they go on from one batch to the next."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.cooccurrence import counting
from pipeline.kernels.cooccurrence.tokens import numbered

NOTHING = pl.DataFrame(schema=counting.OPEN)


def batch(*rows: tuple[str, str, int]) -> pl.LazyFrame:
    schema = {"file": pl.String, "doc": pl.String, "sentence": pl.Int64}
    some = pl.LazyFrame(list(rows), schema, orient="row")
    return numbered(some.with_columns(position=pl.lit(1, pl.Int64)), in_order=True)


def known(rows: pl.DataFrame) -> list[tuple[int, int]]:
    return rows.select("start", "document").rows()


def test_the_first_batch() -> None:
    found = counting.sentences(batch(("f", "x", 1), ("f", "x", 2), ("f", "y", 3)), NOTHING)
    assert known(found) == [(1, 0), (1, 0), (3, 1)]


def test_a_name_that_comes_again_is_another_document() -> None:
    found = counting.sentences(batch(("f", "", 1), ("f", "x", 2), ("f", "", 3)), NOTHING)
    assert known(found) == [(1, 0), (2, 1), (3, 2)]


def test_the_open_document_goes_on_or_does_not() -> None:
    first = counting.sentences(batch(("f", "x", 1), ("f", "y", 4)), NOTHING)
    before = counting.left_open(first, NOTHING)
    assert known(counting.sentences(batch(("f", "y", 5), ("f", "z", 6)), before)) == [
        (4, 1),
        (6, 2),
    ]
    assert known(counting.sentences(batch(("f", "z", 5)), before)) == [(5, 2)]
    assert known(counting.sentences(batch(("g", "y", 1)), before)) == [(1, 2)]


def test_a_batch_without_sentences_leaves_the_document_open() -> None:
    before = counting.left_open(counting.sentences(batch(("f", "x", 1)), NOTHING), NOTHING)
    nothing = counting.sentences(batch(), before)
    assert nothing.is_empty()
    assert counting.left_open(nothing, before).equals(before)


def test_what_another_part_has_begun() -> None:
    """A part is told file, name and start, and no number."""
    before = pl.DataFrame([("f", "x", 7, None)], counting.OPEN, orient="row")
    assert known(counting.sentences(batch(("f", "x", 9), ("f", "y", 12)), before)) == [
        (7, 0),
        (12, 1),
    ]
