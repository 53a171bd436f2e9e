"""Comparison of systems over runs: tables, ranks, correlations of measures, and class sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl

from pipeline.errors import DataError
from pipeline.kernels.clustering.encoding import check_labels
from pipeline.kernels.numeric import FloatArray, ratio
from schemas import FrequencyBands, MeasureCorrelations, SystemTable

# Names of runs from names of input files

_NAME = r"([^/\\]*?)(?:\.[^./\\]*?)?(?:\.gz|\.zst)?\)?$"
"""The last part of a path without extensions; files from globs are in brackets."""


def bare_name(column: str) -> pl.Expr:
    """Return the name of a file without folder and extensions.

    Parameters
    ----------
    column : str
        Column with the file in the experiment: a path, or ``glob (name)``.

    Examples
    --------
    >>> files = pl.DataFrame({"file": ["data:c/brown.paths.gz", "x/*.tsv (run.1.tsv)", "a"]})
    >>> files.select(bare_name("file")).to_series().to_list()
    ['brown', 'run.1', 'a']
    """
    bracketed = pl.col(column).str.extract(r"\(([^()]*)\)$")
    return pl.coalesce(bracketed, column).str.extract(_NAME)


# Sizes of classes, and the share of their most frequent types

EVERY = "*"
"""Class name for all items together."""


def class_shares(items: pl.DataFrame) -> pl.DataFrame:
    """Return the share of types and of tokens of each class.

    Parameters
    ----------
    items : pl.DataFrame
        String columns item and gold, Int64 column f: tokens of the item with this class. Duplicate
        rows are summed.

    Returns
    -------
    pl.DataFrame
        Table `ClassShares`, sorted by gold, with all items as class ``*``. An item of several
        classes is a type of each, but one type in all: with polysemous items, shares of types add
        up to more than 1, those of tokens to 1. Shares are null without tokens.

    Raises
    ------
    DataError
        If a label is null or empty, or a class is called ``*``.

    References
    ----------
    Reichart, Abend & Rappoport, Type Level Clustering Evaluation (2010), section 5.

    Examples
    --------
    >>> items = pl.DataFrame({
    ...     "item": ["dog", "run", "run"], "gold": ["N", "N", "V"], "f": [5, 1, 4]
    ... })
    >>> class_shares(items).select("gold", "types", "share_tokens").rows()
    [('*', 2, 1.0), ('N', 2, 0.6), ('V', 1, 0.4)]
    """
    counted = (
        _with_all(items)
        .group_by("gold")
        .agg(types=pl.len().cast(pl.Int64), tokens=pl.col("f").sum())
        .sort("gold")
    )
    whole = counted.filter(gold=EVERY)
    shares = {f"share_{name}": _share(counted[name], whole[name]) for name in ("types", "tokens")}
    return counted.with_columns(**shares)


def frequent_types(items: pl.DataFrame, *, most: Collection[int] | None = None) -> pl.DataFrame:
    """Return the share of tokens of the k most frequent types in each class, and their classes.

    Parameters
    ----------
    items : pl.DataFrame
        As for `class_shares`.
    most : collection of int, optional
        Values of k (default: 1, 2, 5, 10, 20, 50 ... up to and including the number of types).

    Returns
    -------
    pl.DataFrame
        Table `FrequentTypes`, sorted by gold and k: tokens of the class in its k most frequent
        types. Increasing in k, up to 1. Classes with fewer than k types have no row for k.
        ``classes`` counts, for all items only, the classes that one of these types has. Types of
        equal f are ordered by name.

    Raises
    ------
    DataError
        As for `class_shares`.

    References
    ----------
    Reichart, Abend & Rappoport, Type Level Clustering Evaluation (2010).

    Examples
    --------
    >>> items = pl.DataFrame({
    ...     "item": ["dog", "run", "run"], "gold": ["N", "N", "V"], "f": [5, 1, 4]
    ... })
    >>> frequent_types(items, most=[1]).rows()
    [('*', 1, 5, 0.5, 1), ('N', 1, 5, 0.8333333333333334, None), ('V', 1, 4, 1.0, None)]
    """
    ordered = _with_all(items).sort("gold", "f", "item", descending=[False, True, False])
    sums = ordered.select(
        "gold",
        k=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("gold"),
        tokens=pl.col("f").cum_sum().over("gold"),
        _types=pl.len().over("gold").cast(pl.Int64),
        _all=pl.col("f").sum().over("gold"),
    )
    sizes = _round_numbers(items["item"].n_unique()) if most is None else sorted(set(most))
    condition = pl.col("k").is_in(sizes)
    if most is None:
        condition |= pl.col("k") == pl.col("_types")
    share = pl.when(pl.col("_all") > 0).then(pl.col("tokens") / pl.col("_all"))
    # The rank of the first type of each class, in order: k types have the classes up to rank k.
    firsts = _by_rank(items).explode("gold").group_by("gold").agg(pl.min("rank"))["rank"].sort()
    table = sums.filter(condition).sort("gold", "k")
    classes = firsts.search_sorted(table["k"], side="right").cast(pl.Int64)
    return table.select(
        "gold", "k", "tokens", share_tokens=share,
        classes=pl.when(gold=EVERY).then(classes),
    )  # fmt: skip


BANDS = (100, 1_000, 10_000)
"""Default last ranks of frequency bands; a further band has the rest."""


def frequency_bands(items: pl.DataFrame, *, last: Sequence[int] = BANDS) -> pl.DataFrame:
    """Return types, tokens and classes by frequency band, with one class and with several apart.

    Parameters
    ----------
    items : pl.DataFrame
        As for `class_shares`.
    last : sequence of int
        Last rank of each band, increasing. Ranks order types by all their tokens, most first, then
        by name.

    Returns
    -------
    pl.DataFrame
        Table `FrequencyBands`: three rows for each band that has types, then for all types together
        unless there is only one band. ``classes_per_type`` is the mean number of classes, null
        without types.

    Raises
    ------
    DataError
        As for `class_shares`.

    References
    ----------
    Reichart, Abend & Rappoport, Type Level Clustering Evaluation (2010).

    Examples
    --------
    >>> items = pl.DataFrame({
    ...     "item": ["dog", "run", "run", "so"], "gold": ["N", "N", "V", "R"], "f": [4, 1, 4, 1]
    ... })
    >>> frequency_bands(items, last=[1]).filter(words="all").select(
    ...     "first_rank", "last_rank", "tokens", "classes", "classes_per_type"
    ... ).rows()
    [(1, 1, 5, 2, 2.0), (2, 3, 5, 2, 1.0), (1, 3, 10, 3, 1.3333333333333333)]
    """
    ranked = _by_rank(items)
    types = ranked.height
    ends = [0, *(rank for rank in last if rank < types), types]
    bands = list(itertools.pairwise(ends)) if types else []
    if len(bands) > 1:
        bands.append((0, types))
    rows = [row for band in bands for row in _band_rows(ranked, *band)]
    table = pl.DataFrame(rows, schema=FrequencyBands.columns())
    return table.with_columns(share_tokens=_share(table["tokens"], ranked.select(pl.sum("f"))["f"]))


def _band_rows(ranked: pl.DataFrame, before: int, last: int) -> list[dict[str, Any]]:
    """Return the rows of the ranks after one and up to another."""
    band = ranked.slice(before, last - before)
    several = pl.col("gold").list.len() > 1
    parts = {
        "all": band,
        "one class": band.filter(~several),
        "several classes": band.filter(several),
    }
    return [
        {
            "first_rank": before + 1, "last_rank": last, "words": words,
            "types": part.height, "tokens": part["f"].sum(),
            "classes": part["gold"].explode().drop_nulls().n_unique(),
            "classes_per_type": part["gold"].list.len().mean(),
            "f_max": part["f"].max(), "f_min": part["f"].min(),
        }
        for words, part in parts.items()
    ]  # fmt: skip


def _by_rank(items: pl.DataFrame) -> pl.DataFrame:
    """Return item, f, the list of its classes, and rank: most frequent first, then by name."""
    check_labels(items, ["item", "gold"])
    types = items.group_by("item").agg(pl.col("f").sum(), pl.col("gold").unique())
    ordered = types.sort("f", "item", descending=[True, False])
    return ordered.with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64))


def _round_numbers(types: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50 ... below the number of types."""
    powers = range(len(str(types)))
    return [k for power in powers for k in (10**power, 2 * 10**power, 5 * 10**power) if k < types]


def _with_all(items: pl.DataFrame) -> pl.DataFrame:
    """Return the items of each class, and all items as class ``*``."""
    check_labels(items, ["item", "gold"])
    if (items["gold"] == EVERY).any():
        raise DataError(f"the class name {EVERY!r} is reserved for all items: rename it")
    by_class = items.group_by("gold", "item").agg(pl.col("f").sum())
    whole = items.group_by("item").agg(pl.col("f").sum())
    return pl.concat([by_class, whole.select(pl.lit(EVERY).alias("gold"), "item", "f")])


def _share(part: pl.Series, whole: pl.Series) -> pl.Series:
    # NumPy divides; Polars would multiply by the reciprocal of a single number.
    return pl.Series(ratio(part.to_numpy(), whole.to_numpy())).fill_nan(None)


def system_table(scores: pl.DataFrame, *, lower_is_better: Collection[str] = ()) -> pl.DataFrame:
    """Return the mean and the standard deviation over runs, and the rank of each system.

    Parameters
    ----------
    scores : pl.DataFrame
        Columns system, run, measure (String) and value (Float64, null = undefined), unique by
        system, run and measure.
    lower_is_better : collection of str
        Measures for which the lowest mean ranks first.

    Returns
    -------
    pl.DataFrame
        Table `SystemTable`, sorted by measure and system. Mean and sample standard deviation over
        runs with a value, null without values (the deviation also for one). Rank 1 is best; tied
        means share their average rank; systems without a mean have no rank.

    Raises
    ------
    DataError
        If a run of a system has two values of a measure.

    Examples
    --------
    >>> scores = pl.DataFrame({
    ...     "system": ["a", "a", "b"], "run": ["1", "2", "1"], "measure": ["vi"] * 3,
    ...     "value": [1.0, 2.0, 1.0],
    ... })
    >>> system_table(scores, lower_is_better=["vi"]).select("system", "mean", "rank").rows()
    [('a', 1.5, 2.0), ('b', 1.0, 1.0)]
    """
    means = _means(scores)
    lower = pl.col("measure").is_in(list(lower_is_better))
    signed = pl.when(lower).then(pl.col("mean")).otherwise(-pl.col("mean"))
    ranked = means.with_columns(rank=signed.rank("average").over("measure"))
    return ranked.select(list(SystemTable.columns())).sort(*SystemTable.key())


def measure_correlations(
    scores: pl.DataFrame, *, lower_is_better: Collection[str] = ()
) -> pl.DataFrame:
    """Return the rank correlations of all pairs of measures over systems.

    Spearman's rho is the correlation of ranks, ties averaged; Kendall's tau-b is
    ``(agreeing - disagreeing pairs) / sqrt(pairs not tied in 1 * pairs not tied in 2)``. Both
    over the means of the systems that have a value of both measures.

    Parameters
    ----------
    scores : pl.DataFrame
        As for `system_table`.
    lower_is_better : collection of str
        Measures to negate, so that positive correlations mean agreement about systems.

    Returns
    -------
    pl.DataFrame
        Table `MeasureCorrelations`: both methods for all ordered pairs of measures, sorted. In [-1,
        1]; null for fewer than two systems, and for constant measures.

    Raises
    ------
    DataError
        If a run of a system has two values of a measure.

    References
    ----------
    Kendall, The Treatment of Ties in Ranking Problems (1945); Reichart, Abend & Rappoport,
    Type Level Clustering Evaluation (2010), section 6.

    Examples
    --------
    >>> scores = pl.DataFrame({
    ...     "system": ["a", "b", "c"] * 2, "run": ["1"] * 6, "measure": ["v"] * 3 + ["vi"] * 3,
    ...     "value": [0.5, 0.6, 0.7, 3.0, 1.0, 2.0],
    ... })
    >>> measure_correlations(scores, lower_is_better=["vi"]).filter(
    ...     measure_1="v", measure_2="vi"
    ... ).select("method", pl.col("correlation").round(4)).rows()
    [('kendall', 0.3333), ('spearman', 0.5)]
    """
    means = _means(scores)
    systems, measures = (means[name].unique().sort() for name in ("system", "measure"))
    values = np.full((len(measures), len(systems)), np.nan)
    rows = measures.search_sorted(means["measure"]).to_numpy()
    values[rows, systems.search_sorted(means["system"]).to_numpy()] = (
        means["mean"].fill_null(np.nan).to_numpy()
    )
    signs = [-1.0 if name in lower_is_better else 1.0 for name in measures]
    values *= np.array(signs)[:, None]
    pairs = itertools.product(enumerate(measures), repeat=2)
    correlations = [
        row for (i, a), (j, b) in pairs for row in _rank_correlations(a, b, values[i], values[j])
    ]
    table = pl.DataFrame(correlations, schema=MeasureCorrelations.columns(), orient="row")
    return table.fill_nan(None).sort(*MeasureCorrelations.key())


def _means(scores: pl.DataFrame) -> pl.DataFrame:
    key = ["system", "run", "measure"]
    twice = scores.filter(pl.struct(key).is_duplicated()).select(key).unique().sort(key)
    if twice.height:
        cases = "; ".join(", ".join(row) for row in twice.head(3).iter_rows())
        raise DataError(
            f"{twice.height:,} runs have two values of a measure, e.g. {cases}; give the runs of a "
            "system distinct names"
        )
    # Sorted first: a sum of floats depends on their order.
    ordered = scores.with_columns(pl.col("value").fill_nan(None)).sort(key)
    value = pl.col("value").drop_nulls()
    return ordered.group_by("system", "measure", maintain_order=True).agg(
        mean=value.mean(), sd=value.std(ddof=1), n_runs=value.len().cast(pl.Int64)
    )


_CorrelationRow = tuple[str, str, str, float, int]


def _rank_correlations(a: str, b: str, x: FloatArray, y: FloatArray) -> list[_CorrelationRow]:
    defined = ~(np.isnan(x) | np.isnan(y))
    x, y = x[defined], y[defined]
    return [
        (a, b, "spearman", _correlation(_ranks(x), _ranks(y)), len(x)),
        (a, b, "kendall", _correlation(_signs(x), _signs(y)), len(x)),
    ]


def _ranks(values: FloatArray) -> FloatArray:
    """Return twice the deviation of each rank from the mean: whole numbers."""
    return np.asarray(np.sign(values[:, None] - values[None, :]).sum(axis=1))


def _signs(values: FloatArray) -> FloatArray:
    """Return 1, -1 or 0 for every ordered pair: higher, lower or equal."""
    return np.asarray(np.sign(values[:, None] - values[None, :]).ravel())


def _correlation(x: FloatArray, y: FloatArray) -> float:
    """Return the correlation of two vectors of whole numbers with mean 0."""
    below = math.sqrt(float(x @ x) * float(y @ y))
    return min(1.0, max(-1.0, float(x @ y) / below)) if below else math.nan
