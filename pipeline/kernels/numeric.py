"""Numeric helpers of kernels: stable logarithms, arrays, overlaps, parsing, bootstrap limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import overload

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels import cells
from pipeline.kernels.cells import PLAIN, UNCLEAR, NumberFormat

_SERIES_BELOW = 0.05
_TERMS = 6
"""Terms of the deviance series; with |v| < 0.05 the next is below 1e-17 of the sum."""


def expr(column: str | pl.Expr) -> pl.Expr:
    """Return the column of this name, or the expression as it is.

    Examples
    --------
    >>> str(expr("f")) == str(pl.col("f"))
    True
    """
    return pl.col(column) if isinstance(column, str) else column


def xlogy(x: str | pl.Expr, y: str | pl.Expr) -> pl.Expr:
    """Return x ln y, with 0 ln 0 = 0.

    Examples
    --------
    >>> pl.DataFrame({"x": [0.0, 2.0]}).select(xlogy("x", "x").round(6)).to_series().to_list()
    [0.0, 1.386294]
    """
    x, y = expr(x), expr(y)
    return pl.when(x == 0).then(0.0).otherwise(x * y.log())


def column_ratio(part: str, whole: str) -> pl.Expr:
    """Divide two columns of counts; null where the whole is 0.

    Examples
    --------
    >>> counts = pl.DataFrame({"k": [1, 0], "n": [4, 0]})
    >>> counts.select(column_ratio("k", "n")).to_series().to_list()
    [0.25, None]
    """
    total = pl.col(whole).cast(pl.Float64)
    return pl.when(total > 0).then(pl.col(part).cast(pl.Float64) / total)


def deviance(x: str | pl.Expr, expected: str | pl.Expr, difference: str | pl.Expr) -> pl.Expr:
    """Return bd0(x, m) = x ln(x/m) + m - x, accurate also where x is near m.

    Parameters
    ----------
    x, expected, difference : str or Expr
        x >= 0, m >= 0 and d = x - m, given separately because it is known more exactly.

    Returns
    -------
    Expr
        Float64 in [0, inf]; 0 where x = m, m where x = 0, inf where m = 0 < x.

    Notes
    -----
    With v = d / (x + m) the series d v + 2 x v sum v^2j / (2j+1) is used for |v| < 0.05: the
    direct form would cancel. Beyond, that loses a factor of 20 at most, 5e-15.

    References
    ----------
    Loader (2000), Fast and Accurate Computation of Binomial Probabilities, section 3.

    Examples
    --------
    >>> frame = pl.DataFrame({"x": [3.0], "m": [3.0000003], "d": [-3e-7]})
    >>> round(frame.select(deviance("x", "m", "d")).item() / 1.5e-14, 6)
    1.0
    """
    x, m, d = expr(x), expr(expected), expr(difference)
    v = d / (x + m)
    square = v * v
    series = pl.lit(1.0 / (2 * _TERMS - 1))
    for j in range(_TERMS - 2, 0, -1):
        series = series * square + 1.0 / (2 * j + 1)
    near = v * (d + 2.0 * x * square * series)
    # Where x = m = 0, v is NaN, and the direct form gives 0 - d = 0.
    far = xlogy(x, x / m) - d
    return pl.when(v.abs() < _SERIES_BELOW).then(near).otherwise(far)


def log_of_ratio(
    x: str | pl.Expr, y: str | pl.Expr, difference: str | pl.Expr, *, base: float = math.e
) -> pl.Expr:
    """Return log(x / y) in the given base, accurate also where x is near y.

    Parameters
    ----------
    x, y, difference : str or Expr
        x >= 0, y >= 0 and d = x - y, given separately because it is known more exactly.
    base : float
        Base of the logarithm.

    Returns
    -------
    Expr
        Float64; -inf where x = 0 < y, inf where y = 0 < x, NaN where both are 0.

    Notes
    -----
    ln(x / y) = ln(1 + d / y) for x >= y, and -ln(1 - d / x) below: nothing cancels in either.

    Examples
    --------
    >>> frame = pl.DataFrame({"x": [100.0], "y": [10.0], "d": [90.0]})
    >>> round(frame.select(log_of_ratio("x", "y", "d", base=10)).item(), 12)
    1.0
    """
    x, y, d = expr(x), expr(y), expr(difference)
    smaller = pl.when(d < 0).then(x).otherwise(y)
    natural = (d.abs() / smaller).log1p() * d.sign()
    # Polars divides by a literal in two ways, depending on the number of rows; so multiply.
    return natural if base == math.e else natural * (1.0 / math.log(base))


def sign(difference: str | pl.Expr, magnitude: pl.Expr) -> pl.Expr:
    """Return the magnitude with the sign of the difference, 0 where that is 0."""
    return magnitude * expr(difference).sign()


def clip_score(score: pl.Expr) -> pl.Expr:
    """Clip a score to [-1, 1], which rounding may leave by the last bit.

    Examples
    --------
    >>> frame = pl.DataFrame({"x": [1.0000000000000002, -0.5, float("nan")]})
    >>> frame.select(clip_score(pl.col("x"))).to_series().to_list()
    [1.0, -0.5, nan]
    """
    return score.clip(-1.0, 1.0)


# Arrays

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Level = float | FloatArray
"""A confidence level: one for all rows, or one for each."""

_ZERO = 1e-12  # sums of proportions are off by less


def ratio(part: npt.ArrayLike, whole: npt.ArrayLike) -> FloatArray:
    """Divide; NaN where the whole is 0, but for rounding.

    Parameters
    ----------
    part, whole : array_like of float
        Numerators, and denominators from 0; a whole below 1e-12 counts as 0.

    Returns
    -------
    array of float
        The ratios; NaN where the whole is 0 or unknown.

    Examples
    --------
    >>> ratio([1, 0], [2, 0]).tolist()
    [0.5, nan]
    """
    part, whole = np.broadcast_arrays(np.asarray(part, float), np.asarray(whole, float))
    divided = np.full(part.shape, np.nan)
    np.divide(part, whole, out=divided, where=whole > _ZERO)
    return divided


def codes(labels: pl.Series) -> tuple[IntArray, pl.Series]:
    """Return the place of each label in the sorted labels, and these.

    Parameters
    ----------
    labels : pl.Series
        Strings, none of them null.

    Examples
    --------
    >>> places, names = codes(pl.Series(["b", "a", "b"]))
    >>> places.tolist(), names.to_list()
    ([1, 0, 1], ['a', 'b'])
    """
    names = labels.unique().sort()
    return labels.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64), names


def distinct_columns(table: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct columns in their order, and the place of each column among them.

    Parameters
    ----------
    table : array of int, shape (rows, columns)
        At least 0.

    Returns
    -------
    distinct : array of int, shape (rows, distinct)
        Sorted by the first row, then by the next ones.
    places : array of int, shape (columns,)
        ``distinct[:, places]`` is the table.

    Notes
    -----
    Each column becomes one number, which sorts ten times as fast as ``np.unique(axis=1)``.

    Examples
    --------
    >>> distinct, places = distinct_columns(np.array([[2, 1, 2], [0, 5, 0]]))
    >>> distinct.tolist(), places.tolist()
    ([[1, 2], [5, 0]], [1, 0, 1])
    """
    key, bound = np.zeros(table.shape[1], dtype=np.int64), 1
    for counts in table:
        digit, width = counts, int(counts.max(initial=0)) + 1
        if bound * width > np.iinfo(np.int64).max:
            keys, key = np.unique(key, return_inverse=True)
            values, digit = np.unique(counts, return_inverse=True)
            bound, width = len(keys), len(values)
        key, bound = key * width + digit, bound * width
    values, places = np.unique(key, return_inverse=True)
    distinct = np.empty((len(table), len(values)), dtype=np.int64)
    distinct[:, places] = table
    return distinct, places


def labels_of(table: pl.LazyFrame, column: str) -> pl.Series:
    """Return the sorted labels of a column.

    Examples
    --------
    >>> labels_of(pl.LazyFrame({"stratum": ["b", "a", "b"]}), "stratum").to_list()
    ['a', 'b']
    """
    return table.select(pl.col(column).unique()).collect(engine="streaming").to_series().sort()


# Overlaps of two groupings of the same members


def overlaps(
    gold: pl.LazyFrame,
    system: pl.LazyFrame,
    *,
    member: str,
    gold_group: str,
    group: str,
    distinct: bool = False,
) -> pl.LazyFrame:
    """Count the members that each group of the gold shares with each group of a system.

    ``n_ij = |gold_i & system_j|, n_i = |gold_i|, n_j = |system_j|``

    Groups may overlap: a member counts once in each of its groups, even if the row is repeated.

    Parameters
    ----------
    gold, system : pl.LazyFrame
        A row for each member of a group: columns `member` and `gold_group`, or `group`. Rows
        with a null are no members.
    member : str
        The column of the members, of one dtype on both sides, such as item or form.
    gold_group, group : str
        The columns of the groups, named differently, such as gold and cluster.
    distinct : bool
        Whether the rows are known to be distinct, which saves time.

    Returns
    -------
    pl.LazyFrame
        Columns `gold_group`, `group`, n_ij, n_i, n_j (Int64), a row for each pair of groups with
        n_ij >= 1, unordered. Groups without common members have no row.

    Raises
    ------
    ValueError
        If the two columns of groups have one name.

    References
    ----------
    Larsen & Aone, Fast and effective text mining using linear-time document clustering (1999).

    Examples
    --------
    >>> gold = pl.LazyFrame({"item": ["run", "run", "dog"], "gold": ["N", "V", "N"]})
    >>> system = pl.LazyFrame({"item": ["run", "dog"], "cluster": ["1", "1"]})
    >>> overlaps(
    ...     gold, system, member="item", gold_group="gold", group="cluster"
    ... ).collect().sort("gold").rows()
    [('N', '1', 2, 2, 2), ('V', '1', 1, 1, 2)]
    """
    if gold_group == group:
        raise ValueError(f"both group columns are named {group!r}")
    left = gold.select(member, gold_group).drop_nulls()
    right = system.select(member, group).drop_nulls()
    if not distinct:
        left, right = left.unique(), right.unique()
    shared = left.join(right, on=member).group_by(gold_group, group).agg(n_ij=_row_count())
    sizes = left.group_by(gold_group).agg(n_i=_row_count())
    sizes_j = right.group_by(group).agg(n_j=_row_count())
    return shared.join(sizes, on=gold_group).join(sizes_j, on=group)


def recall() -> pl.Expr:
    """Return the share of the gold group in the other one: ``r = n_ij / n_i``."""
    return _overlap_share("n_i")


def precision() -> pl.Expr:
    """Return the share of the other group in the gold group: ``p = n_ij / n_j``."""
    return _overlap_share("n_j")


def f_score() -> pl.Expr:
    """Return the harmonic mean of precision and recall, ``2 n_ij / (n_i + n_j)``.

    In (0, 1] for groups that share a member, 1 if they are equal. The quotient of two exact
    integers: one rounding, and equal counts give bitwise equal scores.

    Examples
    --------
    >>> table = pl.DataFrame({"n_ij": [7], "n_i": [10], "n_j": [7]})
    >>> table.select(recall().alias("r"), precision().alias("p"), f_score().alias("f")).row(0)
    (0.7, 1.0, 0.8235294117647058)
    """
    both = (pl.col("n_i") + pl.col("n_j")).cast(pl.Float64)
    return 2.0 * pl.col("n_ij").cast(pl.Float64) / both


def _overlap_share(size: str) -> pl.Expr:
    return pl.col("n_ij").cast(pl.Float64) / pl.col(size).cast(pl.Float64)


def _row_count() -> pl.Expr:
    return pl.len().cast(pl.Int64)


# Parsing of text columns, and faults

TRUE = ("1", "true", "yes", "y", "+", "tp")
FALSE = ("0", "false", "no", "n", "-", "fp")
"""Spellings of a judgement, in any case; an empty field means not judged."""
_LARGEST_SUM = 2.0**53
"""Upper bound on the sum of a column of counts: Float64 has every whole number below."""
_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}\.000$"
"""Text that is 1000 or 1, depending on the meaning of the point."""


def whole_number(column: str, dtype: pl.DataType, form: NumberFormat = PLAIN) -> pl.Expr:
    """Return a column as Int64; null where it does not hold a whole number.

    A whole number may be kept as a float or decimal, and written as one: 6.0, 10.00, 1e+05. Floats
    are accepted below 2^53 only, beyond which they skip whole numbers. Booleans, dates, times and
    durations are not numbers; nor is the text 1.000, which may be a thousand.

    Parameters
    ----------
    column : str
        Its name.
    dtype : DataType
        Its present type.
    form : NumberFormat
        Number format of a text column, from `number_formats`.

    Returns
    -------
    Expr
        Int64, of the same name.

    Examples
    --------
    >>> texts = pl.DataFrame({"f": [" 12", "1.5", "6.0"]})
    >>> texts.select(whole_number("f", pl.String())).to_series().to_list()
    [12, None, 6]
    """
    value = pl.col(column)
    if dtype.is_integer():
        return value.cast(pl.Int64, strict=False)
    if dtype.is_float():
        return _whole_float(value)
    if dtype.is_decimal():
        return _without_decimals(value.cast(pl.String))
    if dtype != pl.String:
        return pl.lit(None, pl.Int64).alias(column)
    text = form.plain(value)
    exponent = text.str.contains("[eE]")
    other = pl.when(exponent).then(_whole_float(text.cast(pl.Float64, strict=False)))
    return other.when(~text.str.contains(_THOUSANDS)).then(_without_decimals(text))


def _without_decimals(text: pl.Expr) -> pl.Expr:
    """Return what is written in digits, and after a point in zeros alone, as Int64; else null."""
    return text.str.replace(r"\.0*$", "").cast(pl.Int64, strict=False)


def _whole_float(value: pl.Expr) -> pl.Expr:
    """Return floats that are whole and below 2^53 as Int64; else null."""
    whole = value.cast(pl.Int64, strict=False)
    return pl.when((whole == value) & (value.abs() < _LARGEST_SUM)).then(whole)


def count_column(
    column: str,
    dtype: pl.DataType,
    form: NumberFormat = PLAIN,
    *,
    least: int = 0,
    before: int = 0,
) -> pl.Expr:
    """Return a column as counts that can be summed; null where the value is not a count.

    Also null from where the running sum of the counts reaches 2^53, about 9e15, as sums of 64 bits
    would overflow.

    Parameters
    ----------
    column, dtype, form
        As of `whole_number`.
    least : int
        The smallest count.
    before : int
        Sum of the counts before these rows, if a column is read in parts.

    Examples
    --------
    >>> texts = pl.DataFrame({"f": ["12", "-1", str(2**63 - 1)]})
    >>> texts.select(count_column("f", pl.String())).to_series().to_list()
    [12, None, None]
    """
    whole = whole_number(column, dtype, form)
    count = pl.when(whole >= least).then(whole)
    fits = count.cast(pl.Float64).fill_null(0).cum_sum() < _LARGEST_SUM - before
    return pl.when(fits).then(count)


def number(column: str, dtype: pl.DataType, form: NumberFormat = PLAIN) -> pl.Expr:
    """Return a column as Float64; null for NaN and what is not a number.

    Booleans, dates, times and durations are not numbers. Per cent are divided by 100.

    Parameters
    ----------
    column, dtype, form
        As of `whole_number`.

    Examples
    --------
    >>> texts = pl.DataFrame({"x": ["-inf", "2e-3", "nan"]})
    >>> texts.select(number("x", pl.String())).to_series().to_list()
    [-inf, 0.002, None]
    """
    value = pl.col(column)
    if not dtype.is_numeric() and dtype != pl.String:
        return pl.lit(None, pl.Float64).alias(column)
    if dtype != pl.String:
        return value.cast(pl.Float64, strict=False).fill_nan(None)
    value = form.plain(value).cast(pl.Float64, strict=False).fill_nan(None)
    return value / 100.0 if form.percent else value


def text_or_null(column: str) -> pl.Expr:
    """Return a column as words; null where blank, or a spreadsheet error.

    Examples
    --------
    >>> texts = pl.DataFrame({"l1": ["in Frage", " ", "#NAME?"]})
    >>> texts.select(text_or_null("l1")).to_series().to_list()
    ['in Frage', None, None]
    """
    return cells.word(pl.col(column).cast(pl.String))


def judgement(column: str) -> pl.Expr:
    """Return a column as Boolean; null where not judged or the spelling is unknown.

    Accepts Booleans, and the floats 1.0 and 0.0, which programs make of columns with empty fields.

    Examples
    --------
    >>> texts = pl.DataFrame({"tp": ["1", "No", "", "maybe", "0.0"]})
    >>> texts.select(judgement("tp")).to_series().to_list()
    [True, False, None, None, False]
    """
    one = cells.single_label(pl.col(column).cast(pl.String))
    text = one.str.strip_chars().str.to_lowercase()
    folded = text.str.replace(r"^([01])\.0*$", "${1}")
    true = pl.when(folded.is_in(TRUE)).then(statement=True)
    return true.when(folded.is_in(FALSE)).then(statement=False)


def faults(
    frame: pl.LazyFrame,
    *,
    parsed: Mapping[str, pl.Expr],
    problem: str,
    required: bool,
    forms: Mapping[str, NumberFormat] | None = None,
) -> pl.LazyFrame:
    """Return one row for each value that could not be parsed.

    Parameters
    ----------
    frame : LazyFrame
        The raw rows, with the columns file and line.
    parsed : mapping of str to Expr
        Column of the file to its parsed form, null on failure.
    problem : str
        The message.
    required : bool
        Whether an empty field is an error too.
    forms : mapping of str to NumberFormat, optional
        Formats of the columns of numbers.

    Returns
    -------
    LazyFrame
        file, line, column, value, problem, as in `schemas.Faults`.
    """
    wrong = []
    for column, value in parsed.items():
        text = pl.col(column).cast(pl.String)
        form = (forms or {}).get(column, PLAIN)
        failed = value.is_null() & (~form.is_empty(text) | pl.lit(required))
        what = pl.lit(problem)
        if form.unclear:
            what = pl.when(text.str.contains(r"\d[.,]\d")).then(pl.lit(UNCLEAR)).otherwise(what)
        row = {"column": pl.lit(column), "value": text, "problem": what}
        wrong.append(frame.filter(failed).select("file", "line", **row))
    return pl.concat(wrong)


# Percentile bootstrap


@overload
def tail_of(confidence: float) -> float: ...
@overload
def tail_of(confidence: Level) -> Level: ...
def tail_of(confidence: Level) -> Level:
    """Return the error probability on each side of an interval.

    Examples
    --------
    >>> round(tail_of(0.95), 6)
    0.025
    """
    return (1.0 - confidence) / 2.0


def check_bootstrap(*, confidence: float, replicates: int) -> None:
    """Refuse impossible options of a bootstrap.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1), or there are no replicates.
    """
    if not 0.0 < confidence < 1.0 or replicates < 1:
        raise ValueError(f"confidence {confidence} or replicates {replicates} is out of range")


def percentiles(values: FloatArray, *, confidence: float) -> FloatArray:
    """Return the percentiles with equal shares of the values outside on both sides.

    Parameters
    ----------
    values : array of float, shape (..., replicates)
        The value of each sample, at least one, none NaN.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    array of float, shape (2, ...)
        Lower and upper.

    Examples
    --------
    >>> percentiles(np.array([3.0, 1.0, 2.0]), confidence=0.5).tolist()
    [1.5, 2.5]
    """
    tail = tail_of(confidence)
    return np.asarray(np.quantile(values, [tail, 1.0 - tail], axis=-1))


def summary(values: FloatArray, *, confidence: float) -> tuple[float, float, float, int]:
    """Return the percentiles, the standard error, and the number of samples without a value.

    Parameters
    ----------
    values : array of float, shape (replicates,)
        The value of each sample, NaN if undefined.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    lower, upper, standard_error : float
        NaN without samples that have a value (for the error, with fewer than two).
    undefined : int
        Number of values that are NaN.

    Examples
    --------
    >>> summary(np.array([3.0, 1.0, float("nan"), 2.0]), confidence=0.5)
    (1.5, 2.5, 1.0, 1)
    """
    defined = values[~np.isnan(values)]
    limits = percentiles(defined, confidence=confidence) if len(defined) else (np.nan, np.nan)
    error = float(defined.std(ddof=1)) if len(defined) > 1 else np.nan
    return float(limits[0]), float(limits[1]), error, len(values) - len(defined)
