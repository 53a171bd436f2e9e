"""What libraries and the machine say, in our words: without plans and advice for programmers."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from pipeline import errors

LIBRARY = re.compile(
    r"You might want|Resolved plan|Did you mean|\bHint|consider |This error occurred|infer_schema"
    r"|ComputeError|[Pp]olars|dyn int|\bi64\b|os error|Errno|lhs:|thrift|zstd|CRC check|Error -3|codec"
    r"|panicked|calamine|Traceback|defect"
)
"""What no message on damaged input may say."""

ROWS = pl.LazyFrame({"l1": ["a", "b"], "f": ["1", "x"]})


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (ROWS.cast({"f": pl.Int64}), "column 'f' has values that are no whole numbers, such as 'x'"),
        (ROWS.cast({"l1": pl.Float64}), "column 'l1' has values that are no numbers, such as 'a'"),
        (ROWS.select("l2"), "there is no column 'l2'; there are: l1, f"),
        (ROWS.filter(pl.col("l1") > 3), "text cannot be compared with numbers (column l1)"),
        (ROWS.filter(pl.col("l1").str.contains("[")), "no regular expression: unclosed character class"),
        (ROWS.select(pl.col("f").str.to_integer()), "strict integer parsing failed for 1 value(s)"),
        (ROWS.select(pl.col("l1") + 1), "arithmetic on dtypes str and"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed(query: pl.LazyFrame, said: str) -> None:
    with pytest.raises(pl.exceptions.PolarsError) as error:
        query.collect()
    found = errors.query(error.value)
    assert found.startswith(said)
    assert "\n" not in found
    assert not re.search(r"You might|Resolved|Did you|try an|consider|This error", found)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, "this user may not do that there"),
        (errno.ENAMETOOLONG, "the path, or a name in it, is longer than the system allows"),
        (errno.EISDIR, "it is a folder, and no file"),
        (errno.EIO, "the disk fails"),
        (errno.EXDEV, "Invalid cross-device link"),
    ],
)
def test_what_the_machine_refuses(number: int, said: str) -> None:
    assert errors.machine(OSError(number, "Invalid cross-device link", "x")) == said
    if number != errno.EXDEV:  # as Polars raises it
        assert errors.machine(OSError(f"Something failed (os error {number}): x")) == said


@pytest.mark.parametrize(
    ("scan", "said"),
    [(pl.scan_csv, "it, or its folder, is not there"), (pl.scan_parquet, "it, or its folder")],
)
def test_what_polars_says_of_the_machine(
    scan: Callable[..., pl.LazyFrame], said: str, tmp_path: Path
) -> None:
    with pytest.raises(OSError, match="os error") as error:
        scan(tmp_path / "nothing").collect()
    assert errors.machine(error.value).startswith(said)


@pytest.mark.parametrize("error", [MemoryError(), RecursionError(), OSError(errno.EIO, "x", "y")])
def test_what_is_no_defect(error: Exception) -> None:
    assert not LIBRARY.search(errors.in_words(error))


def test_a_defect_says_that_it_is_one_and_where_to_take_it() -> None:
    said = errors.in_words(KeyError("line"))
    assert said.startswith("KeyError: 'line'\nThis is a defect: report it")
    assert "--debug" in said
