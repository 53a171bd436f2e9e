"""Candidates, pairs and tuples, with frequency signatures, counts, examples and scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, count, takewhile

import polars as pl
from polars import selectors

from schemas.base import OpenTable, Table, column, rule

# Counts of pairs: the partial tables of shards, before the marginals

ACROSS = "across"
"""Column for a document that may continue in the next shard."""


class PairCounts(Table):
    """Pair types of one shard of a corpus with their joint frequencies."""

    l1: str = column("left unit", key=True)
    l2: str = column("right unit", key=True)
    f: int = column("pair tokens in this shard; pair tokens", ge=1)
    documents: int = column(
        "documents with the pair that were not counted in earlier shards; documents", ge=0
    )


class OpenPairCounts(PairCounts):
    """The same, with separate rows for a document that may continue in the next shard."""

    across: str = column("that document, by first sentence and file", key=True, nullable=True)


class UnitCounts(Table):
    """Marginal frequencies of one side in one shard, where pair counts do not give them."""

    side: int = column("1: left, 2: right", key=True, isin=[1, 2])
    unit: str = column("left or right unit", key=True)
    f: int = column("positions, text units or tokens counted for it", ge=0)


class Examples(Table):
    """Randomly chosen sentences that contain a candidate."""

    id: str = column("candidate", key=True)
    number: int = column("1-based number of the example", key=True, ge=1)
    doc: str = column("document of the sentence; empty if unnamed")
    text: str = column("the sentence or part of it, with the candidate's tokens in [[ ]]")
    draw_key: int = column("seeded random key of the choice", ge=0)


class CorpusSize(Table):
    """Totals of a corpus."""

    what: str = column("tokens, sentences, documents, pair tokens ...", key=True)
    count: int = column("count", ge=0)


NO_NAN = ~selectors.by_dtype(pl.Float64).is_nan()
"""No score is NaN, which Polars would rank above every number."""


class AboutCandidates(OpenTable):
    """A table about candidates, with any number of rows for each."""

    id: str = column("candidate")


class CandidateIds(AboutCandidates):
    """A table with one row per candidate, identified by a stable id."""

    id: str = column("stable id, a hash of (l1, l2)", key=True)


class Pool(CandidateIds):
    """The union of the n-best lists of several measures."""

    best_rank: int = column("best rank under any measure", ge=1)


class Signatures(OpenTable):
    """Frequency signatures (f, f1, f2, N): each row a 2 x 2 contingency table.

    References
    ----------
    Evert & Krenn, Using Small Random Samples for the Manual Evaluation of Statistical
    Association Measures, section 2: O11 = f, R1 = f1, C1 = f2.
    """

    f: int = column("pair tokens of (l1, l2); pair tokens", ge=0)
    f1: int = column("pair tokens with this l1 (row sum); pair tokens", ge=0)
    f2: int = column("pair tokens with this l2 (column sum); pair tokens", ge=0)
    N: int = column("all pair tokens; pair tokens", ge=1)

    marginals_bound_joint = rule(
        "f <= f1 and f <= f2", pl.col("f") <= pl.min_horizontal("f1", "f2")
    )

    table_fits_sample_size = rule(
        "f1 + f2 - f <= N, so that O22 >= 0",
        # Differences, since a sum can overflow Int64.
        pl.col("f1") - pl.col("f") <= pl.col("N") - pl.col("f2"),
    )


def text_tests(units: Iterable[str]) -> Iterator[pl.Expr]:
    """Yield a test for each column: more than blanks."""
    return (pl.col(each).str.strip_chars() != "" for each in units)


class Combinations(CandidateIds):
    """Pairs or tuples of units; tuples also have l3 ... lk."""

    l1: str = column("first unit")
    l2: str = column("second unit")


class Candidates(Signatures, Combinations):
    """Pair types (l1, l2) with their frequency signatures."""

    l1: str = column("left unit")
    l2: str = column("right unit")

    units_are_not_blank = rule("l1 and l2 are not blank", *text_tests(["l1", "l2"]))


class Scores(Candidates):
    """Candidates with one Float64 column per association measure.

    Scores may be infinite; undefined scores are null, never NaN.
    """

    scores_are_numbers_or_null = rule("no score is NaN; undefined is null", NO_NAN)


# Scores of another program


class ScoredPairs(CandidateIds):
    """Pair types (l1, l2) with one Float64 column per score, without frequencies.

    Scores may be infinite; undefined scores are null, never NaN.
    """

    l1: str = column("left unit")
    l2: str = column("right unit")

    units_are_not_blank = rule("l1 and l2 are not blank", *text_tests(["l1", "l2"]))
    scores_are_numbers_or_null = rule("no score is NaN; undefined is null", NO_NAN)


# Counts of tuples: the partial tables of shards, before the marginals


class TupleCounts(Table):
    """Tuple types of one shard of a corpus with their joint frequencies."""

    units: str = column("the units, separated by the control character U+001F", key=True)
    f: int = column("tuple tokens in this shard; tuple tokens", ge=1)
    documents: int = column(
        "documents with the tuple that were not counted in earlier shards", ge=0
    )


class OpenTupleCounts(TupleCounts):
    """The same, with separate rows for a document that may continue in the next shard."""

    across: str = column("that document, by first sentence and file", key=True, nullable=True)


class TupleSums(Table, further=(pl.Int64,)):
    """Frequencies of parts of tuples, f1 ... f_12 ... N, aligned with the rows of counts."""

    frequencies_are_counts = rule(
        "every frequency is at least 1, or null where the tuple is excluded",
        lambda schema: pl.all_horizontal(
            pl.lit(True), *(pl.col(each).fill_null(1) >= 1 for each in schema)
        ),
    )


# Tuples of two to six units, with the frequencies of all subsets of their units

MOST = 6
"""Maximum number of units of a tuple: with six, its contingency table has 64 cells."""


def arity(columns: Collection[str]) -> int:
    """Return the size of a table's tuples, from its columns l1, l2, l3 ...

    Examples
    --------
    >>> arity(["id", "l1", "l2", "l3", "f"])
    3
    """
    return sum(1 for _ in takewhile(lambda each: f"l{each}" in columns, count(1)))


def unit_names(columns: Collection[str]) -> tuple[str, ...]:
    """Return the columns with the units of a table's candidates.

    A table has tuples only if all parts are counted: a table of pairs may have an unrelated column
    l3.

    Parameters
    ----------
    columns : collection of str
        The table's columns.

    Examples
    --------
    >>> unit_names(["id", "l1", "l2", "l3", *signature(3)])
    ('l1', 'l2', 'l3')
    >>> unit_names(["id", "l1", "l2", "l3", "f", "f1", "f2", "N"])
    ('l1', 'l2')
    """
    size = arity(columns)
    counted = size <= MOST and set(signature(size)) <= set(columns)
    return names_of_units(size if counted else 2)


def names_of_units(size: int) -> tuple[str, ...]:
    """Return the names of the units of a tuple of this size.

    Examples
    --------
    >>> names_of_units(3)
    ('l1', 'l2', 'l3')
    """
    return tuple(f"l{number}" for number in range(1, size + 1))


def frequency_name(positions: Sequence[int], size: int) -> str:
    """Return the column with the frequency of the elements at the given positions.

    Parameters
    ----------
    positions : sequence of int
        1-based positions in ascending order; empty for the number of all tuple tokens.
    size : int
        Number of units of the tuple.

    Examples
    --------
    >>> [frequency_name(each, 3) for each in ([], [2], [1, 3], [1, 2, 3])]
    ['N', 'f2', 'f_13', 'f']
    """
    if len(positions) == size:
        return "f"
    if not positions:
        return "N"
    return f"f{positions[0]}" if len(positions) == 1 else "f_" + "".join(map(str, positions))


def subsets(size: int) -> list[tuple[int, ...]]:
    """Return all sets of positions by size, from the empty to the full set.

    Examples
    --------
    >>> subsets(2)
    [(), (1,), (2,), (1, 2)]
    """
    positions = range(1, size + 1)
    return [subset for number in range(size + 1) for subset in combinations(positions, number)]


def signature(size: int) -> list[str]:
    """Return the frequency columns of a tuple: f, f1, f2 ... f_12 ... N.

    Examples
    --------
    >>> signature(3)
    ['f', 'f1', 'f2', 'f3', 'f_12', 'f_13', 'f_23', 'N']
    """
    proper = [frequency_name(each, size) for each in subsets(size)[1:-1]]
    return ["f", *proper, "N"]


def cell(members: Collection[int], size: int, *, dtype: pl.DataType | None = None) -> pl.Expr:
    """Return the number of tuple tokens that agree in exactly these elements.

    By inclusion and exclusion over supersets T of S: sum of (-1)^(|T| - |S|) f_T.

    Parameters
    ----------
    members : collection of int
        Positions where the elements agree.
    size : int
        Number of units of the tuple.
    dtype : DataType, optional
        Dtype of the sums; Int64 by default, exact for the cells of any valid tuple.

    Examples
    --------
    >>> pl.DataFrame({"f": [2], "f1": [3], "f2": [5], "N": [9]}).select(cell([], 2)).item()
    3
    """
    larger = [each for each in subsets(size) if set(members) <= set(each)]
    total = pl.lit(0, dtype or pl.Int64())
    for each in larger:
        f = pl.col(frequency_name(each, size))
        f = f.cast(dtype) if dtype else f
        total = total - f if (len(each) - len(members)) % 2 else total + f
    return total


def _is_complete(schema: pl.Schema) -> bool:
    size = arity(schema)
    numbers = {name for name, dtype in schema.items() if dtype == pl.Int64}
    return size <= MOST and set(signature(size)) <= numbers


def _each_of(tests: Callable[[int], Iterable[pl.Expr]]) -> Callable[[pl.Schema], pl.Expr]:
    """Return true where all tests hold, for a table that has the required columns."""

    def hold(schema: pl.Schema) -> pl.Expr:
        return pl.all_horizontal(tests(arity(schema)) if _is_complete(schema) else pl.col("f") >= 0)

    return hold


def _bounds(size: int) -> Iterator[pl.Expr]:
    for each in subsets(size)[1:]:
        for part in combinations(each, len(each) - 1):
            yield pl.col(frequency_name(each, size)) <= pl.col(frequency_name(part, size))


def _cells(size: int) -> Iterator[pl.Expr]:
    # Sums of several frequencies can exceed Int64.
    return (cell(each, size, dtype=pl.Int128()) >= 0 for each in subsets(size))


class Tuples(Combinations):
    """Tuple types (l1, l2 ... lk), k from 2 to 6, with the frequencies of all parts.

    Further columns are l3 ... lk, f3 ... fk, and the frequency of every set of two to k - 1
    positions: ``f_13`` counts the tuple tokens with this l1 and this l3. Together they determine
    the 2^k contingency table.
    """

    l1: str = column("first unit")
    l2: str = column("second unit")
    f: int = column("tuple tokens of (l1 ... lk); tuple tokens", ge=0)
    f1: int = column("tuple tokens with this l1; tuple tokens", ge=0)
    f2: int = column("tuple tokens with this l2; tuple tokens", ge=0)
    N: int = column("all tuple tokens; tuple tokens", ge=1)

    every_subset_is_counted = rule(
        "one of f1 ... for each of l1 ..., and f_12 ... for every subset",
        lambda schema: pl.lit(_is_complete(schema)),
    )

    units_are_not_blank = rule(
        "l1 ... are not blank",
        lambda schema: pl.all_horizontal(text_tests(f"l{n}" for n in range(1, arity(schema) + 1))),
    )

    parts_bound_wholes = rule("f_S <= f_T where T is a subset of S", _each_of(_bounds))

    table_fits_sample_size = rule(
        "the 2^k cells add up to N and are not negative", _each_of(_cells)
    )


class TupleScores(Tuples):
    """Tuples with one Float64 column per association measure.

    Scores may be infinite; undefined scores are null, never NaN.
    """

    scores_are_numbers_or_null = rule("no score is NaN; undefined is null", NO_NAN)
