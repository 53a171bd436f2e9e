"""Digests of tables: the rows alone count, each has a key of its own."""

from __future__ import annotations

import hashlib
from datetime import date

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.runner.store import digest
from pipeline.runner.store.digest import table_digest
from schemas import SchemaViolation

ROWS = pl.DataFrame({"a": [1, 1, 2, 2, 3], "b": ["x", "y", "x", None, ""], "n": [0.0, 1, 2, 3, 4]})
PLAIN = table_digest(ROWS.lazy(), key=["a", "b"], name="t")


@pytest.mark.parametrize("size", [1, 2, 10])
@pytest.mark.parametrize(
    "frame",
    [
        ROWS.reverse(),
        pl.concat([ROWS[3:], ROWS[:3]]),
        ROWS.select("n", "b", "a"),
        ROWS.with_columns(n=pl.Series([-0.0, 1, 2, 3, 4])),
    ],
)
def test_order_and_batches_make_no_difference(
    frame: pl.DataFrame, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "_VALUES", size * ROWS.width)
    assert table_digest(frame.lazy(), key=["a", "b"], name="t") == PLAIN


@pytest.mark.parametrize("size", [1, 2, 10])
def test_digest_of_hashes_made_by_hand(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "_VALUES", 2 * size)

    def sha(*parts: bytes) -> str:
        return hashlib.sha256(b"".join(parts)).hexdigest()

    words = ["", "über", None, "🙂", "z"]
    coded = [(word or "").encode() for word in words]
    lengths = [len(each).to_bytes(8, "little") for each in coded]
    column = sha((sha(b"\1\1\0\1\1") + sha(*coded) + sha(*lengths)).encode())
    key = sha(*(number.to_bytes(8, "little") for number in range(5)))
    number = sha((sha(b"\1" * 5) + key + sha()).encode())
    whole = f'[5,[["id","Int64","{number}"],["word","String","{column}"]]]'
    table = pl.LazyFrame({"word": words, "id": range(5)})
    assert table_digest(table, key=["id"], name="t") == (sha(whole.encode()), 5)


KEYS = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]))


@given(st.lists(KEYS, max_size=5), st.booleans())
def test_order_of_keys_is_that_of_sorting(
    rows: list[tuple[str | None, int | None]], in_order: bool
) -> None:
    keys = pl.DataFrame(rows, {"a": pl.String, "b": pl.Int64}, orient="row")
    keys = keys.sort("a", "b") if in_order else keys
    assert digest._in_order(keys) == keys.equals(keys.sort("a", "b"))


@pytest.mark.parametrize("words", [[], [""], [None, None], ["", "a longer word than twelve", "é"]])
@pytest.mark.parametrize("start", [0, 1, 2])
def test_a_part_of_a_column_is_as_a_column(words: list[str | None], start: int) -> None:
    whole = pl.DataFrame({"w": ["x" * 20, *words, "y"]}, schema={"w": pl.String}).with_row_index()
    part = whole[start:-1]
    own = pl.DataFrame(part.rows(), schema=part.schema, orient="row")
    one, two = (table_digest(each.lazy(), key=["index"], name="t") for each in (part, own))
    assert one == two


@pytest.mark.parametrize(
    "other",
    [
        ROWS.with_columns(n=pl.Series([0.0, 1, 2, 3, 5])),
        ROWS.with_columns(b=pl.Series(["x", "y", "x", "", None])),
        ROWS.with_columns(pl.col("n").cast(pl.Int64)),
        ROWS.rename({"n": "m"}),
        ROWS.head(4),
    ],
)
def test_another_table_has_another_digest(other: pl.DataFrame) -> None:
    assert table_digest(other.lazy(), key=["a", "b"], name="t") != PLAIN


@pytest.mark.parametrize("size", [1, 3, 10])
def test_a_repeated_key_in_one_part_or_several(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "_VALUES", size * ROWS.width)
    parts = [ROWS, ROWS.filter(a=1), ROWS, ROWS.filter(a=3)]
    with pytest.raises(SchemaViolation) as error:
        table_digest(pl.concat(parts).lazy(), key=["a", "b"], name="table own.pairs")
    said = str(error.value)
    assert "table own.pairs" in said
    assert "key_is_unique (a, b) in 8 rows" in said
    assert said.count("a=") == 3
    assert "a=1, b='x'" in said


def test_a_type_that_no_table_has() -> None:
    days = pl.LazyFrame({"id": ["a"], "day": [date(2005, 6, 1)]})
    with pytest.raises(TypeError, match="column day: no digest is defined for Date"):
        table_digest(days, key=["id"], name="t")
