"""Score frequency signatures in batches that fit the cache, each distinct signature once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce

import polars as pl

from pipeline.kernels.association.contingency import SIGNATURE
from pipeline.kernels.association.dependencies import needed, steps

BATCH = 131_072
"""Rows of a batch: a column of it takes 1 MB, its query a small share of the time."""


def score_signatures(
    signatures: pl.DataFrame, wanted: Mapping[str, pl.Expr], *, threads: int = 1
) -> pl.DataFrame:
    """Return the scores of all signatures, in their order.

    Parameters
    ----------
    signatures : DataFrame
        Int64 columns f, f1, f2, N.
    wanted : mapping of str to Expr
        Name to expression over cells, shared intermediates and measures.
    threads : int
        Batches to score at a time. One within a query of Polars: its threads would wait for
        themselves.

    Returns
    -------
    DataFrame
        One Float64 column per name; null for NaN. Equal signatures have equal bits, wherever
        they stand.
    """
    if all_distinct(signatures):
        return _score_rows(signatures, wanted, threads)
    place = pl.int_range(pl.len(), dtype=pl.Int64)
    distinct = signatures.unique(maintain_order=True)
    numbered = distinct.with_columns(place.alias("_place"))
    places = signatures.join(numbered, on=SIGNATURE, how="left", maintain_order="left")
    return _score_rows(distinct, wanted, threads)[places.get_column("_place")]


def all_distinct(signatures: pl.DataFrame) -> bool:
    """Tell quickly whether no signature occurs twice.

    Notes
    -----
    Signatures are mixed into one 64-bit number each. If those are all distinct, so are the
    signatures; if two agree by chance, the answer is no, which costs time only.

    Examples
    --------
    >>> table = pl.DataFrame({"f": [1, 1], "f1": [2, 3], "f2": [4, 4], "N": [9, 9]})
    >>> all_distinct(table), all_distinct(pl.concat([table, table]))
    (True, False)
    """
    mixed = reduce(lambda sofar, name: sofar * _FACTOR + pl.col(name), SIGNATURE, pl.lit(0))
    return bool(signatures.select(mixed.n_unique()).item() == signatures.height)


_FACTOR = 6364136223846793005
"""Multiplier of Knuth's MMIX generator; the products wrap around."""


def _score_rows(
    signatures: pl.DataFrame, wanted: Mapping[str, pl.Expr], threads: int
) -> pl.DataFrame:
    """Score every row, batch by batch."""
    columns = needed(wanted.values())
    numbers = {
        # A formula may have the name of a measure that others are written over.
        name: (pl.col(name) if columns.get(name) is each else each).cast(pl.Float64)
        for name, each in wanted.items()
    }
    score = partial(_score_batch, steps=steps(columns), numbers=numbers)
    return _by_batches(_plain(signatures), score, threads)


def select_by_rows(rows: pl.DataFrame, *steps: Sequence[pl.Expr], threads: int) -> pl.DataFrame:
    """Return what expressions that look at one row each select, step by step, in batches.

    Parameters
    ----------
    rows : DataFrame
        Any columns.
    *steps : sequence of Expr
        What each step selects of the one before.
    threads : int
        Batches at a time, as of `score_signatures`.
    """
    return _by_batches(rows, lambda part: reduce(pl.DataFrame.select, steps, part), threads)


def _by_batches(
    rows: pl.DataFrame, work: Callable[[pl.DataFrame], pl.DataFrame], threads: int
) -> pl.DataFrame:
    """Put together what is made of every batch, some of them at a time."""
    slices = list(rows.iter_slices(BATCH)) or [rows]
    if threads == 1 or len(slices) == 1:
        return pl.concat(map(work, slices))
    with ThreadPoolExecutor(threads) as pool:
        return pl.concat(pool.map(work, slices))


def _score_batch(
    part: pl.DataFrame, steps: list[dict[str, pl.Expr]], numbers: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Score the rows of a batch together, never fewer than two."""
    small = part.height < 2
    query = (_plain(pl.concat([part, _PADDING])) if small else part).lazy()
    for step in steps:
        query = query.with_columns(**step)
    names = pl.all()
    defined = pl.when(names.is_nan()).then(None).otherwise(names).name.keep()
    scored = query.select(**numbers).select(defined)
    values = scored.collect(engine="in-memory", optimizations=_AS_WRITTEN)
    return values.head(part.height) if small else values


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the same columns, each as one chunk that holds every value.

    Polars keeps a column of equal values, or of one row, as a single value with a length, and
    then divides by it in another way: by a product with its reciprocal. Equal signatures would
    get unequal bits, depending on where they come from and what stands beside them.
    """
    return pl.DataFrame([frame.get_column(name).rechunk() for name in frame.columns])


_AS_WRITTEN = pl.QueryOptFlags.none().update(comm_subexpr_elim=True)
"""Nothing is put in another form, which could round otherwise; what stands twice is done once."""
_PADDING = pl.DataFrame({"f": [1, 1], "f1": [2, 3], "f2": [2, 3], "N": [9, 9]})
