"""Tuple tokens (n-grams, pairs with several elements) and the frequencies of their subsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline import memory
from pipeline.errors import DataError
from pipeline.kernels.cooccurrence.counting import Packing, pack
from pipeline.kernels.cooccurrence.tokens import (
    ELEMENTS,
    LABELS,
    PLACE,
    TOKEN,
    TokenIndex,
    longest,
    token_index,
)
from pipeline.kernels.numeric import IntArray
from pipeline.memory import Spill
from schemas.candidates import frequency_name, signature, subsets
from schemas.errors import count_text

# Sums by key for each row, in row order, on disk

ROW = 200
"""Bytes per row of numbers while rows are summed."""
ROW_PLACE = "_place"
"""Column with the number of a row, from 0."""
_SUM = "_sum"
_FOUND = pl.Schema({ROW_PLACE: pl.Int64(), _SUM: pl.Int64()})


@dataclass(frozen=True)
class Runs:
    """Parts of a table in runs, each sorted at once.

    Parameters
    ----------
    heights : sequence of sequence of int
        The rows of each part of each run.
    """

    heights: Sequence[Sequence[int]]

    @classmethod
    def of(cls, heights: Sequence[int], most: int) -> Runs:
        """Return runs of at most so many rows, but at least one part.

        Examples
        --------
        >>> Runs.of([3, 0, 2, 9, 1], 5).heights
        [[3, 0, 2], [9], [1]]
        """
        runs: list[list[int]] = [[]]
        for height in heights:
            if sum(runs[-1]) and sum(runs[-1]) + height > most:
                runs.append([])
            runs[-1].append(height)
        return cls(runs)

    @property
    def firsts(self) -> list[int]:
        """The place of the first row of each run, and one more than that of the last row."""
        return list(accumulate(map(sum, self.heights), initial=0))

    @property
    def number(self) -> pl.Expr:
        """The number of the run of a `ROW_PLACE`."""
        return pl.lit(pl.Series(self.firsts[1:-1], dtype=pl.Int64)).search_sorted(
            pl.col(ROW_PLACE), side="right"
        )

    def parts(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield the first row in its run, and the height, of each part of a run."""
        heights = self.heights[number]
        return zip(accumulate(heights, initial=0), heights, strict=False)


def sum_by_row(
    frames: Iterable[pl.DataFrame], key: Sequence[str], runs: Runs, *, most: int, least: int = 1
) -> Iterator[pl.Series]:
    """Yield the sum of f over all rows that have the key of each row.

    Parameters
    ----------
    frames : iterable of DataFrame
        The key (UInt64), f and `ROW_PLACE` (Int64), in any order.
    key : sequence of str
        Its columns.
    runs : Runs
        The rows in the order of their places, in the runs in which they are wanted.
    most : int
        Rows held in memory.
    least : int
        Rows with a smaller f count, but are not returned.

    Yields
    ------
    Series
        For each run the sums of its rows, null where f is below `least`.

    Examples
    --------
    >>> rows = pl.DataFrame({"a": [7, 8, 7], "f": [1, 2, 3], ROW_PLACE: [2, 0, 1]})
    >>> keyed = rows.cast({"a": pl.UInt64})
    >>> [each.to_list() for each in sum_by_row([keyed], ["a"], Runs([[1], [2]]), most=2)]
    [[2], [4, 4]]
    """
    schema = pl.Schema({**dict.fromkeys(key, pl.UInt64()), "f": pl.Int64(), ROW_PLACE: pl.Int64()})
    number = max(1, -(-2 * runs.firsts[-1] * len(key) // most))
    with (
        Spill(number, schema, most=most // 4) as spill,
        Spill(len(runs.heights), _FOUND, most=most // 4) as totals,
    ):
        for frame in frames:
            spill.add(frame, pl.struct(key).hash(seed=0) % number)
        for bucket in range(number):
            sums = _sum_by_key(_batches(spill.frames(bucket), most), key)
            for frame in _batches(spill.frames(bucket), most):
                frequent = frame.filter(pl.col("f") >= least)
                totals.add(frequent.join(sums, on=key, how="left"), runs.number)
        spill.clear()
        for run, (first, heights) in enumerate(zip(runs.firsts, runs.heights, strict=False)):
            yield _order_sums(totals.frames(run), first, sum(heights))


def _batches(frames: Iterable[pl.DataFrame], most: int) -> Iterator[pl.DataFrame]:
    """Yield frames combined up to so many rows.

    Rows with the same key are in one bucket, however many they are.
    """
    parts: list[pl.DataFrame] = []
    for frame in frames:
        if parts and sum(each.height for each in parts) + frame.height > most:
            yield pl.concat(parts)
            parts = []
        parts.append(frame)
    if parts:
        yield pl.concat(parts)


def _sum_by_key(frames: Iterable[pl.DataFrame], key: Sequence[str]) -> pl.DataFrame:
    """Return the sum of f for each key; a frame is held, and what its keys sum up to."""
    f = pl.col("f").sum().alias(_SUM)
    sums = [frame.group_by(key).agg(f) for frame in frames]
    return pl.concat(sums).group_by(key).agg(pl.col(_SUM).sum()) if sums else pl.DataFrame()


def _order_sums(frames: Iterable[pl.DataFrame], first: int, height: int) -> pl.Series:
    """Return the sums of a run in the order of its rows, null where there is none."""
    sums: IntArray = np.zeros(height, dtype=np.int64)
    for frame in frames:
        sums[frame.get_column(ROW_PLACE).to_numpy() - first] = frame.get_column(_SUM).to_numpy()
    column = pl.Series(sums)
    return column.set(column == 0, None)


def elements(size: int) -> list[str]:
    """Return the columns of the elements: l1, l2 ...

    Examples
    --------
    >>> elements(3)
    ['l1', 'l2', 'l3']
    """
    return [f"l{position}" for position in range(1, size + 1)]


def adjacent_tuples(
    units: Sequence[pl.DataFrame], tokens: pl.DataFrame, *, gap: int = 0
) -> pl.DataFrame:
    """Return every sequence of successive units in a sentence.

    Parameters
    ----------
    units : sequence of DataFrame
        The units that may stand at each position, as `tokens.units` gives them.
    tokens : DataFrame
        `TOKEN` and `PLACE` of all tokens, in order.
    gap : int
        Tokens allowed between two neighbours.

    Returns
    -------
    DataFrame
        place, l1 ... lk (Categorical), token_1 ... token_k: each choice of tokens once, and each
        choice of units where a token has several.

    Examples
    --------
    >>> tokens = pl.DataFrame({"token": [0, 1, 2], "place": [0, 0, 0]})
    >>> words = tokens.with_columns(unit=pl.Series(["a", "b", "c"], dtype=pl.Categorical))
    >>> adjacent_tuples([words, words], tokens).select("l1", "l2").rows()
    [('a', 'b'), ('b', 'c')]
    """
    place, gap = tokens.get_column(PLACE).to_numpy(), min(gap, longest(tokens))
    dense = [token_index(each, len(place)) for each in units]
    at = dense[0].units.get_column(TOKEN).to_numpy()
    chains, ends = [np.arange(len(at))], [at]
    for each in dense[1:]:
        places, index, at = _followers(each, ends[-1], place, gap)
        chains = [*(chain[places] for chain in chains), index]
        ends = [*(end[places] for end in ends), at]
    labels = [
        each.units.get_column("unit").gather(chain).alias(f"l{number}")
        for number, (each, chain) in enumerate(zip(dense, chains, strict=True), start=1)
    ]
    where = [pl.Series(f"token_{number}", end) for number, end in enumerate(ends, start=1)]
    return pl.DataFrame([pl.Series(PLACE, place[ends[0]]), *labels, *where])


def _followers(
    units: TokenIndex, at: IntArray, place: IntArray, gap: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return which of the tokens `at` have a unit after them, which unit, and on which token."""
    nothing = np.zeros(0, dtype=np.int64)
    followers = [(nothing, nothing, nothing)]
    for distance in range(1, gap + 2):
        after = at + distance
        inside = after < len(place)
        inside[inside] = place[after[inside]] == place[at[inside]]
        rows = np.flatnonzero(inside)
        for row in units.rows:
            index = row[after[rows]]
            hit = index >= 0
            followers.append((rows[hit], index[hit], after[rows[hit]]))
    places, index, tokens = (np.concatenate(each) for each in zip(*followers, strict=True))
    return places, index, tokens


def pair_tuples(pairs: pl.DataFrame, *, left: int, right: int) -> pl.DataFrame:
    """Split the units of pairs into their elements.

    Parameters
    ----------
    pairs : DataFrame
        See `pipeline.kernels.cooccurrence.pairs.COLUMNS`; labels of several elements as `Unit`
        makes them.
    left, right : int
        Number of elements of the units.

    Returns
    -------
    DataFrame
        place, l1 ... lk (Categorical), token_1, token_2: the elements of the left unit, then
        those of the right one.

    Raises
    ------
    DataError
        If an element contains the separator, U+001F.
    """
    split = [
        *_split_labels(pairs.get_column("l1"), left),
        *_split_labels(pairs.get_column("l2"), right),
    ]
    columns = [column.alias(name) for column, name in zip(split, elements(len(split)), strict=True)]
    return pl.DataFrame([pairs.get_column(PLACE), *columns, *pairs.select("^token_.*$")])


def _split_labels(labels: pl.Series, number: int) -> list[pl.Series]:
    """Split each distinct label once."""
    if number == 1:
        return [labels]
    kinds = labels.unique().to_frame("label")
    text = kinds.select(pl.col("label").cast(pl.String)).to_series()
    _check_separators(text, number)
    parts = text.str.split_exact(ELEMENTS, number - 1).struct.unnest()
    coded = [each.cast(pl.Categorical(pl.Categories(LABELS))) for each in parts]
    joined = labels.to_frame("label").join(
        kinds.with_columns(coded), on="label", how="left", maintain_order="left"
    )
    return joined.drop("label").get_columns()


def _check_separators(text: pl.Series, number: int) -> None:
    wrong = text.filter(text.str.count_matches(ELEMENTS, literal=True) != number - 1)
    if len(wrong):
        examples = ", ".join(map(repr, wrong.sort().head(3)))
        what = f"{count_text(len(wrong), 'label')} with the control character U+001F: {examples}"
        raise DataError(f"units of tuples: {what}; remove it from the corpus")


def join_elements(counts: pl.DataFrame, *, size: int) -> pl.DataFrame:
    r"""Return counts with the column units in place of l1 ... lk, `ELEMENTS` between them.

    Parameters
    ----------
    counts : DataFrame
        l1 ... lk, and further columns.
    size : int
        k.

    Raises
    ------
    DataError
        If a unit contains the separator, U+001F.

    Examples
    --------
    >>> join_elements(pl.DataFrame({"l1": ["a"], "l2": ["b"], "f": [1]}), size=2).row(0)
    ('a\x1fb', 1)
    """
    texts = [pl.col(name).cast(pl.String) for name in elements(size)]
    units = pl.concat_str(texts, separator=ELEMENTS).alias("units")
    table = counts.select(units, pl.exclude(elements(size)))
    _check_separators(table.get_column("units"), size)
    return table


def split_elements(counts: pl.LazyFrame, *, size: int) -> pl.LazyFrame:
    r"""Return counts with the columns l1 ... lk in place of units.

    Examples
    --------
    >>> split_elements(pl.LazyFrame({"units": ["a\x1fb"], "f": [1]}), size=2).collect().row(0)
    ('a', 'b', 1)
    """
    parts = pl.col("units").cast(pl.String).str.split_exact(ELEMENTS, size - 1)
    fields = parts.struct.rename_fields(elements(size)).alias("units")
    return counts.with_columns(fields).unnest("units")


# Frequencies of subsets on disk


class _NumberedTuples(NamedTuple):
    """Tuples as numbers: those of their labels, f and `ROW_PLACE`; exists while they are summed."""

    rows: Spill
    heights: Sequence[int]
    labels: int
    total: int


def subset_sums(
    parts: Sequence[pl.LazyFrame],
    sets: Sequence[tuple[int, ...]],
    *,
    size: int,
    min_frequency: int = 1,
) -> Iterator[pl.DataFrame]:
    r"""Yield the number of tuple tokens with the elements of each tuple at sets of positions.

    Each set takes time in proportion to the tuples. What is held are the labels, and as many
    tuples as there is room for.

    Parameters
    ----------
    parts : sequence of LazyFrame
        units (the elements, `pipeline.kernels.cooccurrence.tokens.ELEMENTS` between them) and f:
        together every tuple type once, each part small enough to be held.
    sets : sequence of tuple of int
        Positions from 1, in ascending order; none stands for all tuple tokens.
    size : int
        k.
    min_frequency : int
        A tuple with a smaller f counts, but gets nulls.

    Yields
    ------
    DataFrame
        For each part a column for each set, see `schemas.candidates.frequency_name` (Int64), its
        rows in the order of the part's.

    Examples
    --------
    >>> one = pl.LazyFrame({"units": ["a\x1fb", "a\x1fc"], "f": [2, 3]})
    >>> two = pl.LazyFrame({"units": ["b\x1fc"], "f": [4]})
    >>> [each.rows() for each in subset_sums([one, two], [(), (1,), (2,)], size=2)]
    [[(9, 5, 2), (9, 5, 7)], [(9, 4, 7)]]
    """
    most = max(1, memory.available_bytes() // ROW)
    labels = dict.fromkeys(elements(size), pl.UInt32())
    schema = pl.Schema({**labels, "f": pl.Int64(), ROW_PLACE: pl.Int64()})
    with ExitStack() as stack:
        spill = stack.enter_context(Spill(1, schema, most=most // 4))
        tuples = _number_labels(parts, size, spill)
        runs = Runs.of(tuples.heights, most)
        columns = []
        for positions in sets:
            name = frequency_name(positions, size)
            column = Spill(len(runs.heights), pl.Schema({name: pl.Int64()}), most=0)
            columns.append(stack.enter_context(column))
            for number, sums in enumerate(
                _position_sums(tuples, runs, positions, most, min_frequency)
            ):
                column.put(sums.to_frame(name), number)
        for number in range(len(runs.heights)):
            beside = pl.concat([each.bucket(number) for each in columns], how="horizontal")
            for first, height in runs.parts(number):
                yield beside.slice(first, height).collect()


def _number_labels(parts: Sequence[pl.LazyFrame], size: int, rows: Spill) -> _NumberedTuples:
    """Write all tuples to the spill as numbers."""
    labels = pl.col(elements(size))
    # Labels keep their numbers from part to part while there is a column of this dtype.
    categories = pl.Series(dtype=pl.Categorical(pl.Categories.random()))
    heights: list[int] = []
    most = total = 0
    for part in parts:
        table = split_elements(part.select("units", "f"), size=size).with_row_index(ROW_PLACE)
        place = pl.col(ROW_PLACE).cast(pl.Int64) + sum(heights)
        frame = table.with_columns(labels.cast(categories.dtype).to_physical(), place).collect()
        most = max(most, *(int(number or 0) for number in frame.select(labels.max()).row(0)))
        total += int(frame.get_column("f").sum())
        heights.append(frame.height)
        rows.put(frame, 0)
    return _NumberedTuples(rows, heights, most + 1, total)


def _position_sums(
    tuples: _NumberedTuples, runs: Runs, positions: tuple[int, ...], most: int, least: int
) -> Iterator[pl.Series]:
    """Yield the sums of a set of positions, run by run."""
    if not positions:
        for heights in runs.heights:
            yield pl.repeat(tuples.total, sum(heights), dtype=pl.Int64, eager=True)
        return
    packing = Packing.of([tuples.labels] * len(positions))
    key = packing.words([pl.col(f"l{position}") for position in positions])
    frames = (frame.select(*key, "f", ROW_PLACE) for frame in tuples.rows.frames(0))
    yield from sum_by_row(frames, packing.names, runs, most=most, least=least)


# Frequencies of subsets in memory: the marginals of contingency tables


def with_subsets(counts: pl.LazyFrame, *, size: int, min_frequency: int = 1) -> pl.LazyFrame:
    """Add the number of tuple tokens with the elements of each tuple at each set of positions.

    ``f_S`` = sum of f over all tuples with these elements at the positions S; N = sum of all f.

    Parameters
    ----------
    counts : LazyFrame
        l1 ... lk (text), f: every tuple type, before any threshold.
    size : int
        k.
    min_frequency : int
        Omit tuples with a smaller f, after counting.

    Returns
    -------
    LazyFrame
        The remaining rows, with the columns of `schemas.candidates.signature`.

    References
    ----------
    Agresti 2013, Categorical Data Analysis, chapter 9: tables of more than two dimensions and
    their marginal tables.

    Examples
    --------
    >>> rows = {"l1": ["a", "a"], "l2": ["b", "b"], "l3": ["c", "d"], "f": [2, 3]}
    >>> table = with_subsets(pl.LazyFrame(rows), size=3).sort("l3").collect()
    >>> table.select("f", "f1", "f3", "f_12", "N").rows()
    [(2, 5, 2, 5, 5), (3, 5, 3, 5, 5)]
    """
    has = counts.collect_schema()
    schema = dict(has) | dict.fromkeys(signature(size), pl.Int64())
    return counts.map_batches(
        partial(_add_subsets, size=size, min_frequency=min_frequency),
        schema=schema,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )


def _add_subsets(counts: pl.DataFrame, *, size: int, min_frequency: int) -> pl.DataFrame:
    words, packing = pack(counts, elements(size))
    keyed = words.with_columns(counts.get_column("f"))
    enough = counts.get_column("f") >= min_frequency
    frequent, keys = counts.filter(enough), words.filter(enough)
    frequencies = []
    for positions in subsets(size)[1:-1]:
        part = packing.part([position - 1 for position in positions])
        names = [each.meta.output_name() for each in part]
        sums = keyed.group_by(part).agg(pl.col("f").sum())
        mine = keys.select(part).join(sums, on=names, how="left", maintain_order="left")
        frequencies.append(mine.get_column("f").alias(frequency_name(positions, size)))
    total = pl.lit(int(counts.get_column("f").sum()), pl.Int64).alias("N")
    return frequent.with_columns(*frequencies, total)
