"""Digests of tables: only the rows count, and each has a unique key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.runner.fingerprint import CODE, Digests, code_digests
from pipeline.runner.store import digest
from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.digest import FileCache, ranges, table_digest
from schemas import SchemaViolation
from tests.runner.laboratory import age

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
def test_digests_do_not_depend_on_order_or_batches(
    frame: pl.DataFrame, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "_VALUES", size * ROWS.width)
    assert table_digest(frame.lazy(), key=["a", "b"], name="t") == PLAIN


@pytest.mark.parametrize("size", [1, 2, 10])
def test_a_digest_equals_that_of_hashes_computed_by_hand(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
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
def test_in_order_agrees_with_sorting(
    rows: list[tuple[str | None, int | None]], in_order: bool
) -> None:
    keys = pl.DataFrame(rows, {"a": pl.String, "b": pl.Int64}, orient="row")
    keys = keys.sort("a", "b") if in_order else keys
    assert digest._in_order(keys) == keys.equals(keys.sort("a", "b"))


@pytest.mark.parametrize("words", [[], [""], [None, None], ["", "a longer word than twelve", "é"]])
@pytest.mark.parametrize("start", [0, 1, 2])
def test_a_slice_of_a_column_is_hashed_like_a_column(words: list[str | None], start: int) -> None:
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
def test_different_tables_have_different_digests(other: pl.DataFrame) -> None:
    assert table_digest(other.lazy(), key=["a", "b"], name="t") != PLAIN


@pytest.mark.parametrize("size", [1, 3, 10])
def test_a_repeated_key_is_refused_within_and_across_parts(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "_VALUES", size * ROWS.width)
    parts = [ROWS, ROWS.filter(a=1), ROWS, ROWS.filter(a=3)]
    with pytest.raises(SchemaViolation) as error:
        table_digest(pl.concat(parts).lazy(), key=["a", "b"], name="table own.pairs")
    message = str(error.value)
    assert "table own.pairs" in message
    assert "key_is_unique (a, b) in 8 rows" in message
    assert message.count("a=") == 3
    assert "a=1, b='x'" in message


def test_an_unsupported_type_is_refused() -> None:
    days = pl.LazyFrame({"id": ["a"], "day": [date(2005, 6, 1)]})
    with pytest.raises(TypeError, match="column day: no digest is defined for Date"):
        table_digest(days, key=["id"], name="t")


# Parts whose keys overlap, read in the order of all keys, one range at a time.

KEY = ["a", "b"]
LETTERS = st.sampled_from([None, "", "x", "y", "é"])
PARTS = st.lists(st.lists(st.tuples(LETTERS, st.integers(0, 5))), min_size=1, max_size=4)


def frames(parts: list[list[tuple[str | None, int]]]) -> list[pl.LazyFrame]:
    schema = {"a": pl.String, "b": pl.Int64}
    return [pl.DataFrame(rows, schema, orient="row").sort(KEY).lazy() for rows in parts]


@given(PARTS, st.integers(1, 30))
def test_concatenated_ranges_are_the_sorted_table(
    parts: list[list[tuple[str | None, int]]], rows: int
) -> None:
    table = pl.concat(ranges(frames(parts), KEY, rows=rows)).collect()
    assert table.equals(pl.concat(frames(parts)).sort(KEY).collect())


def test_the_length_of_a_range_depends_on_the_memory() -> None:
    whole = pl.LazyFrame({"a": range(300_000)})
    with memory.with_limit(1):
        few = ranges([whole], ["a"])
        most = max(each.collect().height for each in few)
    assert len(few) > len(ranges([whole], ["a"])) > 1
    assert most < 2 * digest.ROWS / 10
    assert pl.concat(few).collect().equals(whole.collect())


@given(PARTS, st.integers(1, 30))
def test_equal_keys_are_in_the_same_range(
    parts: list[list[tuple[str | None, int]]], rows: int
) -> None:
    results = [each.unique().collect() for each in ranges(frames(parts), KEY, rows=rows)]
    assert not pl.concat(results).is_duplicated().any()


def test_the_digest_of_parts_equals_that_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "ranges", lambda *tables: ranges(*tables, rows=7))
    whole = pl.LazyFrame({"a": [f"k{number}" for number in range(100)], "n": range(100)})
    parts = [whole.filter(pl.col("n") % 3 == each).sort("a") for each in range(3)]
    expected = table_digest(whole, key=["a"], name="t")
    assert table_digest(*parts, key=["a"], name="t") == expected
    unordered = [part.sort("n", descending=True) for part in parts]
    assert table_digest(*unordered, key=["a"], name="t") == expected
    with pytest.raises(SchemaViolation, match=r"key_is_unique \(a\) in 1 row\n"):
        table_digest(*parts, parts[1].head(1), key=["a"], name="t")


# Digests of files are only cached: never used for different content.

KEY_REMEMBERED = ".seen.json"


class Reader:
    """Reads a file with a cache of its own, and counts how often it opens the file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.looks = folder, 0

    def look(self, path: Path) -> str:
        self.looks += 1
        return path.read_text()

    def read(self, *, mark: str = "") -> str:
        """Read as a new process would."""
        memory = FileCache(storage_at(self.folder), KEY_REMEMBERED, self.look, mark)
        result = memory.of(self.folder / "file")
        memory.keep()
        return result


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """A reader of a file that is not recent."""
    monkeypatch.setattr(digest, "_FRESH", -1.0)
    (tmp_path / "file").write_text("one")
    age(tmp_path / "file")
    return Reader(tmp_path)


def test_an_unchanged_file_is_read_once(reader: Reader) -> None:
    assert [reader.read(), reader.read()] == ["one", "one"]
    assert reader.looks == 1


def test_a_file_changed_with_equal_size_and_time_is_read_again(reader: Reader) -> None:
    reader.read()
    (reader.folder / "file").write_text("two")
    age(reader.folder / "file")
    assert reader.read() == "two"


def test_a_replaced_file_is_read_again(reader: Reader) -> None:
    reader.read()
    (reader.folder / "other").write_text("two")
    age(reader.folder / "other")
    (reader.folder / "other").replace(reader.folder / "file")
    assert reader.read() == "two"


def test_a_file_that_has_just_changed_is_not_remembered(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "_FRESH", 60.0)
    reader.read()
    reader.read()
    assert reader.looks == 2
    assert not (reader.folder / KEY_REMEMBERED).exists()


def test_a_file_is_read_again_with_another_mark(reader: Reader) -> None:
    reader.read(mark="version 1")
    reader.read(mark="version 2")
    assert reader.looks == 2


def forge(content: bytes) -> bytes:
    return content.replace(b'"one"', b'"two"')


DAMAGES: list[Callable[[bytes], bytes]] = [
    forge,
    lambda content: content[:-1],
    lambda _: b"",
    lambda _: b"\xff\n{}",
    lambda _: b"[]",
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_ignored(reader: Reader, damage: Callable[[bytes], bytes]) -> None:
    reader.read()
    cache = reader.folder / KEY_REMEMBERED
    damaged = damage(cache.read_bytes())
    assert damaged != cache.read_bytes()
    cache.write_bytes(damaged)
    assert [reader.read(), reader.read()] == ["one", "one"]
    assert reader.looks == 2


def test_digests_of_code_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = ["pipeline.kernels.nbest.ranking", "pipeline.stages.base"]
    expected = code_digests(modules)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    for store in ("one", "two"):
        digests = Digests(storage_at(tmp_path / store))
        assert digests.code(modules) == expected
        digests.keep()
        [cache] = (tmp_path / "home" / "lexassay" / CODE).iterdir()
        assert list(tmp_path.iterdir()) == [tmp_path / "home"]
        monkeypatch.setattr("pipeline.runner.fingerprint.read_source", None)  # not again
    cache.write_bytes(b"{}")
    monkeypatch.undo()
    assert Digests(storage_at(tmp_path / "one")).code(modules) == expected


@pytest.mark.parametrize("home", ["a file", "nowhere"])
def test_digests_of_code_need_no_cache(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    place = {"a file": str(tmp_path / "file"), "nowhere": "~nobody-of-this-name"}[home]
    monkeypatch.setenv("XDG_CACHE_HOME", place)
    monkeypatch.chdir(tmp_path)
    digests = Digests(storage_at(tmp_path / "store"))
    assert digests.code(["pipeline.stages.base"]) == code_digests(["pipeline.stages.base"])
    digests.keep()
    assert {path.name for path in tmp_path.iterdir()} <= {"file", "store"}
