"""The result has the type of the table passed in, whatever its other columns hold."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import pipeline as lx
from pipeline.api.convert import as_whole
from pipeline.errors import DataError, SchemaViolation

pd = pytest.importorskip("pandas", reason="a dependency of statsmodels, which tests install")

PAIRS = {
    "l1": ["a", "b"],
    "l2": ["x", "y"],
    "f": [3, 9],
    "f1": [5, 9],
    "f2": [4, 12],
    "N": [50, 50],
}
FRAME = pl.DataFrame(PAIRS)
EXPECTED = lx.score(FRAME, measures=["all"])
ARROW = pa.table(PAIRS)
SMALL = ARROW.cast(
    pa.schema([(n, pa.int32() if n not in {"l1", "l2"} else pa.string()) for n in PAIRS])
)


class ArrowStream:
    """A table that offers its Arrow interface and nothing else."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return ARROW.__arrow_c_stream__(requested_schema)


KINDS: list[tuple[str, Any, type]] = [
    ("frame", FRAME, pl.DataFrame),
    ("plan", FRAME.lazy(), pl.LazyFrame),
    ("pandas", ARROW.to_pandas(), pd.DataFrame),
    ("pandas on Arrow", ARROW.to_pandas(types_mapper=pd.ArrowDtype), pd.DataFrame),
    ("pandas of objects", ARROW.to_pandas().astype(object), pd.DataFrame),
    ("pandas with categories", ARROW.to_pandas().astype({"l1": "category"}), pd.DataFrame),
    ("pyarrow", ARROW, pa.Table),
    ("pyarrow, narrow integers", SMALL, pa.Table),
    ("batch", ARROW.to_batches()[0], pa.Table),
    ("reader", ARROW.to_reader(), pl.DataFrame),
    ("else", ArrowStream(), pl.DataFrame),
]


def polars(table: Any) -> pl.DataFrame:
    return table.collect() if isinstance(table, pl.LazyFrame) else pl.DataFrame(table)


@pytest.mark.parametrize(("data", "kind"), [each[1:] for each in KINDS], ids=[k[0] for k in KINDS])
def test_scores_have_the_type_of_the_input_table(data: Any, kind: type) -> None:
    result = lx.score(data, measures=["all"])
    assert type(result) is kind
    assert polars(result).columns == EXPECTED.columns
    values = polars(result).select(EXPECTED.columns[len(PAIRS) :])
    assert values.fill_nan(None).equals(EXPECTED.select(values.columns))


def test_a_single_measure_need_not_be_in_a_list() -> None:
    assert lx.score(FRAME, measures="all").equals(EXPECTED)
    assert lx.score(FRAME, measures="mi").equals(lx.score(FRAME, measures=["mi"]))


def test_the_index_and_columns_of_pandas_are_preserved() -> None:
    table = ARROW.to_pandas()
    table["kind"] = pd.Categorical(["u", None])
    table["things"] = [{"a": 1}, 3]
    table["count"] = pd.array([1, None], dtype="Int64")
    table.index = pd.MultiIndex.from_tuples([("x", 1), ("x", 1)], names=["one", "two"])
    before = table.copy()
    result = lx.score(table, measures=["mi", "t_score"])
    pd.testing.assert_frame_equal(result[list(before.columns)], before)
    pd.testing.assert_frame_equal(table, before)
    assert result["mi"].tolist() == EXPECTED["mi"].to_list()
    assert result["mi"].dtype == "float64"


def test_undefined_scores_are_missing_in_pandas_and_null_in_arrow() -> None:
    empty = {"f": [0, 9], "f1": [0, 9], "f2": [4, 12], "N": [50, 50]}
    expected = lx.score(pl.DataFrame(empty), measures=["dice", "mi"])
    assert expected["mi"].null_count() == 1
    assert lx.score(pd.DataFrame(empty), measures=["mi"])["mi"].isna().tolist() == [True, False]
    assert lx.score(pa.table(empty), measures=["mi"])["mi"].null_count == 1


def test_types_and_chunks_of_arrow_are_preserved() -> None:
    kinds = pa.array(["u", "v"]).dictionary_encode()
    two = pa.concat_tables([SMALL.append_column("kind", kinds)] * 2)
    result = lx.score(two, measures=["mi"])
    assert result.drop_columns(["mi"]).equals(two)
    assert result["mi"].to_pylist() == EXPECTED["mi"].to_list() * 2


def test_a_table_without_rows_yields_a_table_without_rows() -> None:
    for data in (FRAME.clear(), ARROW.slice(0, 0), ARROW.to_pandas().iloc[:0]):
        result = lx.score(data, measures=["mi"])
        assert type(result) is type(data)
        assert result.shape == (0, len(PAIRS) + 1)


def test_errors_for_pandas_tables_are_those_of_any_table() -> None:
    table = ARROW.to_pandas()
    with pytest.raises(SchemaViolation, match="column f: missing"):
        lx.score(table.drop(columns="f"))
    missing = r"column f: has no value \(drop these rows, or write their counts\) in 1 row"
    with pytest.raises(SchemaViolation, match=missing):
        lx.score(table.assign(f=[3, None]))
    with pytest.raises(SchemaViolation, match="not a whole number.* in 2 rows"):
        lx.score(table.assign(f=[3.5, None]))
    with pytest.raises(SchemaViolation, match=missing):
        lx.score(table.assign(f=pd.array([3, None], dtype="Int64")))
    with pytest.raises(DataError, match="Could not convert 'a' .*; rename or convert"):
        lx.score(table.assign(f=[3, "a"]))
    with pytest.raises(DataError, match="'l1' 2 times; rename"):
        lx.score(pd.concat([table, table[["l1"]]], axis=1))


@pytest.mark.parametrize("data", [[1, 2], {"f": [1]}, ARROW.to_pandas()["f"]])
def test_an_object_that_is_not_a_table_is_refused(data: Any) -> None:
    with pytest.raises(TypeError, match="is not a table"):
        lx.score(data)


# Counts: values that are whole numbers, and values that are not

DAY = datetime.date(2024, 1, 31)
NO_COUNTS: dict[str, tuple[list[Any], str]] = {
    "decimals": ([Decimal("3.50"), Decimal("10.00")], "not a whole number.* row 0: 3.50"),
    "truth values": ([True, True], "is Boolean, not a whole number.* in 2 rows.* row 0: True"),
    "dates": ([DAY, DAY], "is Date, not a whole number.* row 0: 2024-01-31"),
    "timestamps": ([datetime.datetime(2024, 1, 31)] * 2, "not a whole number.* row 1: 2024-01-31"),
    "times": ([datetime.time(1)] * 2, "is Time, not a whole number.* row 0: 01:00:00"),
    "spans of time": ([datetime.timedelta(1)] * 2, "not a whole number.* row 0: 1 day"),
    "unsigned": ([3, 2**63], "is not a whole number below 2.63 in 1 row.* row 1: 9223372036854775808"),
    "infinity": ([3.0, math.inf], "not a whole number.* row 1: inf"),
    "large floats": ([3.0, 2.0**60], "not a whole number.* row 1: 1.15"),
    "negative": ([-3, 9], r"greater_than_or_equal_to \(0 or more\) in 1 row.* row 0: f=-3"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["polars", "arrow", "pandas on Arrow"])
@pytest.mark.parametrize("case", NO_COUNTS)
def test_a_value_that_is_not_a_count_is_reported_with_its_row(case: str, kind: str) -> None:
    values, message = NO_COUNTS[case]
    frame = FRAME.with_columns(f=pl.Series(values))
    data: Any = frame if kind == "polars" else frame.to_arrow()
    if kind == "pandas on Arrow":
        data = data.to_pandas(types_mapper=pd.ArrowDtype)
    with pytest.raises(SchemaViolation, match=rf"(?s)the table.*column f: .*{message}"):
        lx.score(data, measures=["mi"])


def test_whole_decimals_and_floats_are_counts() -> None:
    for dtype in (pl.Decimal(9, 2), pl.Float64, pl.Float32, pl.UInt64):
        cast = FRAME.with_columns(pl.col("f", "f1", "f2", "N").cast(dtype))
        assert lx.score(cast, measures=["mi"])["mi"].equals(EXPECTED["mi"])
    objects = ARROW.to_pandas().assign(f=[Decimal("3.00"), Decimal(9)])
    assert lx.score(objects, measures=["mi"])["mi"].tolist() == EXPECTED["mi"].to_list()


@pytest.mark.parametrize(
    "values",
    [
        [True, False], True, np.True_, pl.Series([True]), pd.Series([True]),
        np.array(["2024-01-31"], "datetime64[D]"), np.array([3], "timedelta64[D]"),
        [np.timedelta64(3, "D")], [DAY], [datetime.timedelta(1)], pl.Series([DAY]),
        pl.Series([datetime.timedelta(1)]), pd.Series([pd.Timedelta(1)]),
        [Decimal("3.50")], [Decimal("3.0000000000000000000001")],
        pl.Series(["3.50"]).cast(pl.Decimal(9, 2)), [Fraction(7, 2)],
        np.array([2**63], np.uint64), [2**63], [2**70], [2.0**53], [math.inf], [math.nan],
        ["3"], [b"3"], [None], [3 + 0j],
        pl.Series([2**70], dtype=pl.Int128), pl.Series([{"n": 3}]), pl.Series([[3]]),
    ],
)  # fmt: skip
def test_as_whole_refuses_values_that_are_not_whole_numbers(values: Any) -> None:
    with pytest.raises(DataError, match=r"k: 1 of 1|k: 2 of 2"):
        as_whole(values, "k")


def test_a_truth_value_among_numbers_is_not_a_count() -> None:
    with pytest.raises(DataError, match="k: 1 of 2 .* True at position 1"):
        as_whole([3, True], "k")


def test_as_whole_accepts_whole_numbers_of_any_type() -> None:
    assert as_whole(pl.Series([3], dtype=pl.UInt128), "k").tolist() == [3]
    values = [3, 3.0, Decimal("3.00"), Fraction(3), np.int8(3), np.float32(3), np.uint64(3)]
    assert as_whole(values, "k").tolist() == [3] * 7
    assert as_whole(np.array([2**63 - 1], np.uint64), "k").tolist() == [2**63 - 1]
    assert as_whole(pl.Series(["3.00"]).cast(pl.Decimal(9, 2)), "k").tolist() == [3]
