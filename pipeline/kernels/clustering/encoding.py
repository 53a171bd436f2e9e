"""Tokens and items with classes and clusters: alignment, filters, counts, integer encoding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Real
from typing import Literal, TypeAlias

import numpy as np
import polars as pl
import scipy

from pipeline.errors import DataError
from pipeline.kernels.numeric import IntArray, codes
from pipeline.kernels.partitions import buckets_for, count_rows, spill_of
from pipeline.memory import Spill
from schemas.errors import count_text

UNMAPPED = -1
"""The class of a cluster that is mapped to none."""

# Alignment of two taggings of the same tokens

THEIRS = "~"
"""Prefix of the columns of the second reading."""
PLACE = ("file", "line", "sentence", "position")
"""The columns that locate a token."""


def align(ours: pl.LazyFrame, theirs: pl.LazyFrame) -> pl.LazyFrame:
    """Align the tokens of two readings, in order.

    Parameters
    ----------
    ours, theirs : LazyFrame
        Tokens in order, as in `schemas.Tokens`. A shorter one is filled with nulls.

    Returns
    -------
    LazyFrame
        The columns of ours, and those of theirs after `THEIRS`.

    Examples
    --------
    >>> rows = {"file": ["g"], "line": [1], "sentence": [1], "position": [1], "form": ["a"]}
    >>> pairs = align(pl.LazyFrame(rows), pl.LazyFrame(rows))
    >>> pairs.select("form", "~form").collect().rows()
    [('a', 'a')]
    """
    return pl.concat([ours, theirs.rename(lambda name: THEIRS + name)], how="horizontal_extend")


def faults(pair: pl.LazyFrame, *, compare: str) -> pl.LazyFrame:
    """Return a fault for every position with different tokens.

    Parameters
    ----------
    pair : LazyFrame
        From `align`.
    compare : str
        Column that must be equal in both (default: position).

    Returns
    -------
    LazyFrame
        As in `schemas.Faults`, with positions and values in both files.
    """
    column = compare or "position"
    mine, other = (pl.col(f"{side}{column}").cast(pl.String) for side in ("", THEIRS))
    ends, begins = pl.col(THEIRS + "file").is_null(), pl.col("file").is_null()
    bad = pair.filter(mine.ne_missing(other) | ends | begins)
    problem = (
        pl.when(ends)
        .then(pl.lit("comes in the gold standard after the last token of this run"))
        .when(begins)
        .then(pl.lit("comes after the last token of the gold standard"))
        .otherwise(pl.lit("is not the token of the gold standard"))
    )
    gold = pl.format("{} ({})", mine.fill_null("nothing"), _place(""))
    theirs = pl.format("{} ({})", other.fill_null("nothing"), _place(THEIRS))
    both = pl.format("{}, gold {}", theirs, gold)
    return bad.select(
        file=pl.coalesce(THEIRS + "file", "file"),
        line=pl.coalesce(THEIRS + "line", "line"),
        column=pl.lit(column),
        value=pl.when(ends).then(gold).when(begins).then(theirs).otherwise(both),
        problem=problem,
    )


def _place(side: str) -> pl.Expr:
    """Return the location of a token as text."""
    file, line, sentence, position = (pl.col(f"{side}{name}") for name in PLACE)
    return pl.format("sentence {}, token {}, {}, line {}", sentence, position, file, line)


# Clusters of tokens from a dictionary


def apply_dictionary(tokens: pl.LazyFrame, entries: pl.DataFrame, *, name: str) -> pl.LazyFrame:
    """Assign counted tokens the cluster of their item.

    Parameters
    ----------
    tokens : LazyFrame
        item and further columns, e.g. gold and f.
    entries : DataFrame
        item and cluster.
    name : str
        Name of the dictionary in errors.

    Returns
    -------
    LazyFrame
        The tokens with cluster; null for items missing from the dictionary.

    Raises
    ------
    DataError
        If it has several clusters for an item, so that the cluster of a token is ambiguous.

    Examples
    --------
    >>> tokens = pl.LazyFrame({"item": ["dog", "cat"], "gold": ["N", "N"], "f": [3, 1]})
    >>> entries = pl.DataFrame({"item": ["dog"], "cluster": ["7"]})
    >>> table = apply_dictionary(tokens, entries, name="d").collect()
    >>> table.sort("f").select("item", "cluster", "f").rows()
    [('cat', None, 1), ('dog', '7', 3)]
    """
    items = tokens.select("item").unique().collect(engine="streaming")
    pairs = entries.select("item", "cluster").join(items, on="item", how="semi").unique()
    several = pairs.filter(pl.len().over("item") > 1)
    if several.height:
        clusters = pl.col("cluster").sort().str.join(", ")
        examples = several.group_by("item").agg(clusters).sort("item")
        text = "; ".join(f"{item!r}: {labels}" for item, labels in examples.head(3).iter_rows())
        raise DataError(
            f"{name}: the token level is undefined for "
            f"{count_text(examples.height, 'gold item')} in several clusters, for example {text}\n"
            "Evaluate the dictionary at type level, or use a tagging of the tokens instead. Items"
            " that differ only in apostrophes, hyphens or invisible characters are merged, unless"
            ' both files have the reader option normalise = "none".'
        )
    return tokens.join(pairs.lazy(), on="item", how="left")


# Counts of tokens by item, class and cluster


def attribute(name: str, *, fold: bool = False) -> pl.Expr:
    """Return an attribute of tokens as text, optionally in lower case; null if empty.

    Examples
    --------
    >>> forms = pl.DataFrame({"form": ["The", "", None]})
    >>> forms.select(attribute("form", fold=True)).to_series().to_list()
    ['the', None, None]
    """
    text = pl.col(name).cast(pl.String)
    text = text.str.to_lowercase() if fold else text
    return pl.when(text != "").then(text)


Noise: TypeAlias = Literal["excluded", "clusters"]
"""Noise has no cluster, or each noise item is a cluster of its own."""


def is_noise(label: pl.Expr, noise: Sequence[str]) -> pl.Expr:
    """Return whether a label says that the item is in no cluster; numbers are compared as numbers.

    Examples
    --------
    >>> labels = pl.DataFrame({"cluster": ["-1", "-1.0", "0", "noise"]})
    >>> labels.select(is_noise(pl.col("cluster"), ["-1"])).to_series().to_list()
    [True, True, False, False]
    """
    numbers = pl.Series(noise, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls()
    same = label.cast(pl.Float64, strict=False).is_in(numbers.to_list())
    return label.is_in(list(noise)) | same.fill_null(value=False)


def noise_labels(noise: object) -> tuple[str, ...]:
    """Return labels of noise as text; one label may be given without a list.

    Raises
    ------
    ValueError
        If a label is neither text nor a number.

    Examples
    --------
    >>> noise_labels(-1), noise_labels(["-1", 0.5]), noise_labels(None)
    (('-1',), ('-1', '0.5'), ())
    """
    if noise is None:
        return ()
    several = isinstance(noise, Iterable) and not isinstance(noise, str)
    labels = list(noise) if several else [noise]  # type: ignore[call-overload]  # iterable
    if bad := [each for each in labels if not isinstance(each, str | Real)]:
        raise ValueError(f"noise: {bad[0]!r} is no label; give text or numbers, e.g. [-1]")
    return tuple(map(str, labels))


FEWEST_LABELS = 20
"""Items below which labels may all differ."""
MOST_DECIMALS = 0.5
"""Distinct labels with decimals, as a proportion of the items, of measurements."""
_DECIMAL = r"^-?\d*[.,]\d+(?:[eE][+-]?\d+)?$"


def decimal_labels(label: pl.Expr) -> pl.Expr:
    """Return the distinct labels that are numbers with decimals: of measurements, not of clusters.

    Examples
    --------
    >>> labels = pl.DataFrame({"cluster": ["0.25", "1.0", "a", "0,5", "0.25"]})
    >>> labels.select(decimal_labels(pl.col("cluster"))).to_series().to_list()
    ['0,5', '0.25']
    """
    number = label.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return label.filter(label.str.contains(_DECIMAL) & (number != number.round())).unique().sort()


def own_cluster(label: pl.Expr, *place: pl.Expr) -> pl.Expr:
    """Return a name of a noise item's own cluster that no label has.

    Readers remove invisible characters from labels, so a separator that contains one cannot occur.
    """
    return pl.concat_str(label, *place, separator=OWN)


OWN = "\u2063 "
"""Separator in names of clusters that consist of a noise item."""
EXCLUDED = "tokens of the excluded class "
"""Prefix in sizes for tokens of an excluded class."""
TAGS = ("run", "item", "gold", "cluster")
"""The columns of a token."""
_BATCH = 100_000
"""Rows of counts read at a time."""


def count_tokens(tags: pl.LazyFrame, *further: str) -> pl.LazyFrame:
    """Count equal tokens.

    Parameters
    ----------
    tags : LazyFrame
        `TAGS` and further columns; one row per token, or f tokens per row.
    *further : str
        Further grouping columns, e.g. file and sentence.

    Returns
    -------
    LazyFrame
        The same columns and f, as in `schemas.TokenTags`.
    """
    has = tags.collect_schema().names()
    f = pl.col("f").sum() if "f" in has else pl.len()
    return tags.group_by(*TAGS, *further).agg(f=f.cast(pl.Int64))


def filter_tokens(
    tags: pl.LazyFrame, *, exclude: Sequence[str] = (), min_frequency: int = 1
) -> pl.LazyFrame:
    """Return the included tokens: tagged, not of an excluded class, of sufficiently frequent items.

    Excluded tokens are removed before items are counted.

    Parameters
    ----------
    tags : LazyFrame
        From `count_tokens`.
    exclude : sequence of str
        Classes to exclude.
    min_frequency : int
        Minimum number of tokens of an item in a run.

    Examples
    --------
    >>> rows = {"run": [""] * 3, "item": ["a", "a", "."], "gold": ["N", "V", "."]}
    >>> tags = count_tokens(pl.LazyFrame(rows | {"cluster": ["1", "1", "2"]}))
    >>> filter_tokens(tags, exclude=["."]).collect().sort("gold").select("item", "gold", "f").rows()
    [('a', 'N', 1), ('a', 'V', 1)]
    """
    usable = _drop_untagged(tags).filter(~_is_gold(exclude))
    return usable.filter(_frequency() >= min_frequency) if min_frequency > 1 else usable


def sizes(
    tags: pl.LazyFrame, *, exclude: Sequence[str] = (), min_frequency: int = 1
) -> pl.LazyFrame:
    """Count the included tokens of each run, and the excluded ones by reason.

    These counts can be summed over tables that do not divide items, unlike the numbers of classes
    and clusters, see `kinds`.

    Parameters
    ----------
    tags, exclude, min_frequency
        As for `filter_tokens`.

    Returns
    -------
    LazyFrame
        run, what, count. Every token counts in one row: included, or one of the reasons.
    """
    usable, f = _drop_untagged(tags), pl.col("f")
    rest = usable.filter(~_is_gold(exclude))
    parts = {
        "tokens without a gold tag": tags.filter(pl.col("gold").is_null()),
        "tokens without an item": tags.filter(
            pl.col("gold").is_not_null(), pl.col("item").is_null()
        ),
        **{EXCLUDED + one: usable.filter(_is_gold([one])) for one in exclude},
    }
    if min_frequency > 1:
        rare = rest.filter(_frequency() < min_frequency)
        parts[f"tokens of items seen less than {min_frequency} times"] = rare
    every = tags.group_by("run").agg(count=f.sum())
    tables = [every.select("run", pl.lit("tokens").alias("what"), "count")]
    tables += [_count_by_run(every, part, what, f.sum()) for what, part in parts.items()]
    counting = filter_tokens(tags, exclude=exclude, min_frequency=min_frequency)
    alone = counting.filter(pl.col("cluster").is_null())
    tables += [
        _count_by_run(every, counting, "tokens that count", f.sum()),
        _count_by_run(every, counting, "items", pl.col("item").n_unique()),
        _count_by_run(every, alone, "tokens that count but have no cluster", f.sum()),
    ]
    return pl.concat(tables)


def kinds(cells: pl.LazyFrame, every: pl.LazyFrame) -> pl.LazyFrame:
    """Count the classes and clusters of each run.

    Parameters
    ----------
    cells : LazyFrame
        run, gold and cluster of the included tokens.
    every : LazyFrame
        All runs, with or without included tokens.

    Returns
    -------
    LazyFrame
        run, what, count.
    """
    classes, clusters = pl.col("gold").n_unique(), pl.col("cluster").drop_nulls().n_unique()
    counts = (("classes", classes), ("clusters", clusters))
    return pl.concat(_count_by_run(every, cells, what, count) for what, count in counts)


def whole_items(tags: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the rows in pieces that do not divide items.

    Parameters
    ----------
    tags : LazyFrame
        From `count_tokens`, with adjacent rows for each item.

    Examples
    --------
    >>> tags = pl.LazyFrame({"item": ["a", "b", "b"]})
    >>> [piece.height for piece in whole_items(tags)]
    [1, 2]
    """
    rest: list[pl.DataFrame] = []
    for batch in tags.collect_batches(chunk_size=_BATCH, maintain_order=True):
        if batch.is_empty():
            continue
        rows = pl.concat([*rest, batch])
        number = rows.get_column("item").rle_id()
        last = int(number.search_sorted(number[-1], side="left"))
        if last:
            yield rows[:last]
        rest = [rows[last:]]
    yield from rest


def _count_by_run(
    every: pl.LazyFrame, part: pl.LazyFrame, what: str, count: pl.Expr
) -> pl.LazyFrame:
    """Return a count for each run, 0 for runs without rows."""
    by_run = part.group_by("run").agg(count=count.cast(pl.Int64))
    rows = every.select("run").join(by_run, on="run", how="left")
    return rows.select("run", pl.lit(what).alias("what"), pl.col("count").fill_null(0))


def _drop_untagged(tags: pl.LazyFrame) -> pl.LazyFrame:
    return tags.filter(pl.col("gold").is_not_null(), pl.col("item").is_not_null())


def _is_gold(classes: Sequence[str]) -> pl.Expr:
    return pl.col("gold").is_in(list(classes))


def _frequency() -> pl.Expr:
    return pl.col("f").sum().over("run", "item")


def sum_counts(spill: Spill, *further: str, by: Sequence[str]) -> Spill:
    """Return counts in parts that fit in memory, with one row per type.

    Parameters
    ----------
    spill : Spill
        Counts of batches from `count_tokens`, in one bucket; empty afterwards.
    *further : str
        Further grouping columns.
    by : sequence of str
        Columns that determine the part of a row.

    Returns
    -------
    Spill
        The parts, with adjacent rows for each item.

    Examples
    --------
    >>> rows = {"run": ["", ""], "item": ["a", "a"], "gold": ["N", "N"], "cluster": ["1", "1"]}
    >>> counts = pl.DataFrame(rows | {"f": [2, 3]})
    >>> spill = spill_of(1, counts.schema)
    >>> spill.add(counts, pl.lit(0))
    >>> [part.collect().rows() for part in sum_counts(spill, by=["item"])]
    [[('', 'a', 'N', '1', 5)]]
    """
    number = buckets_for(count_rows(spill.bucket(0)))
    sums = Spill(number, spill.schema, most=0)
    with spill_of(number, spill.schema) as parts:
        for frame in spill.frames(0):
            parts.add(frame, pl.struct(by).hash(seed=0) % number)
        spill.clear()
        for each in range(number):
            sums.put(count_tokens(parts.bucket(each), *further).sort("item").collect(), each)
    return sums


Sparse: TypeAlias = "scipy.sparse.csr_array"

# Integer encoding of labels and sets of labels

_LARGEST_TABLE = 2**22
"""Maximum number for lookup tables."""


def incidence(items: pl.Series, labels: pl.Series, size: int) -> tuple[Sparse, pl.Series]:
    """Return the distinct memberships of items.

    Parameters
    ----------
    items : pl.Series
        The item of each membership, from 0.
    labels : pl.Series
        Its label (String, without nulls).
    size : int
        Number of items.

    Returns
    -------
    held : csr_array of 0 and 1, shape (items, labels)
        The labels of each item, in order.
    names : pl.Series
        The labels, sorted as text.

    Examples
    --------
    >>> matrix, names = incidence(pl.Series([1, 0, 1, 1]), pl.Series(["b", "b", "a", "b"]), 3)
    >>> matrix.toarray().tolist(), names.to_list()
    ([[0, 1], [1, 1], [0, 0]], ['a', 'b'])
    """
    code, names = codes(labels)
    # One number for item and label, which NumPy sorts much faster than two columns.
    width = max(1, len(names))
    both = sorted_distinct(items.to_numpy().astype(np.int64) * width + code)
    item, code = np.divmod(both, width)
    starts = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=size))])
    ones = np.ones(len(code), dtype=np.int64)
    return scipy.sparse.csr_array((ones, code, starts), shape=(size, len(names))), names


def distinct_sets(matrix: Sparse) -> tuple[IntArray, IntArray]:
    """Return the distinct rows, and the index of each row among these.

    Parameters
    ----------
    matrix : csr_array, shape (rows, labels)
        The labels of each row, in order.

    Examples
    --------
    >>> one, places = distinct_sets(scipy.sparse.csr_array([[0, 1], [1, 1], [0, 1], [0, 0]]))
    >>> one.tolist(), places.tolist()
    ([3, 2, 1], [1, 2, 1, 0])
    """
    lengths, used = np.diff(matrix.indptr), 1
    places = np.zeros(matrix.shape[0], dtype=np.int64)
    for entry in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > entry)
        label = matrix.indices[matrix.indptr[longer] + entry].astype(np.int64)
        distinct, numbers = distinct_values(places[longer] * matrix.shape[1] + label)
        places[longer] = used + numbers
        used += len(distinct)
    distinct, places = distinct_values(places)
    one = np.zeros(len(distinct), dtype=np.int64)
    one[places] = np.arange(len(places))
    return one, places


def distinct_values(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct values in order, and the index of each value among these.

    Parameters
    ----------
    values : array of int, shape (n,)
        From 0.

    Examples
    --------
    >>> distinct, places = distinct_values(np.array([7, 3, 7]))
    >>> distinct.tolist(), places.tolist()
    ([3, 7], [1, 0, 1])
    """
    limit = int(values.max(initial=-1)) + 1
    if limit > _LARGEST_TABLE:
        distinct, places = np.unique(values, return_inverse=True)
        return distinct, places
    # A lookup table is much faster than sorting.
    present = np.zeros(limit, dtype=np.bool_)
    present[values] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[values]


def sorted_distinct(values: IntArray) -> IntArray:
    """Return the distinct values in order, by sorting, which is much faster than `np.unique`.

    Examples
    --------
    >>> sorted_distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def check_labels(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """Reject labels that are null or empty.

    Raises
    ------
    DataError
        With the column, the number of rows, and three examples.

    Examples
    --------
    >>> check_labels(pl.DataFrame({"gold": ["N", ""]}), ["gold"])
    Traceback (most recent call last):
    ...
    pipeline.errors.DataError: column gold: 1 null or empty, e.g. row 1; drop these rows
    """
    for column in columns:
        bad = frame.select(pl.arg_where(is_missing(column, frame.schema))).to_series()
        if len(bad):
            refuse_missing(column, bad)


WEIGHT = "weight"
"""The optional column with degrees of membership."""
_GROUPS = {"gold": "classes", "cluster": "clusters"}


def weights_other_than_one(table: pl.LazyFrame, label: str) -> str:
    """Return a message about weighted memberships; empty if all weights are 1.

    Parameters
    ----------
    table : LazyFrame
        item, the label, and optionally `WEIGHT`; null is no weight.
    label : str
        "gold" or "cluster".

    Examples
    --------
    >>> table = pl.LazyFrame({"item": ["run"] * 2, "cluster": ["1", "2"], "weight": [0.3, 0.7]})
    >>> weights_other_than_one(table, "cluster")
    "has weights of clusters, 2 other than 1, for example 0.3 of 'run' in '1'"
    >>> weights_other_than_one(table.drop("weight"), "cluster")
    ''
    """
    if WEIGHT not in table.collect_schema():
        return ""
    other = table.filter(pl.col(WEIGHT) != 1).select("item", label, WEIGHT)
    rows = other.collect(engine="streaming").sort("item", label)
    if rows.is_empty():
        return ""
    item, group, weight = rows.row(0)
    few = f"{rows.height:,} other than 1, for example {weight:g} of {item!r} in {group!r}"
    return f"has weights of {_GROUPS[label]}, {few}"


def refuse_weights(table: pl.DataFrame, label: str, why: str = "which no measure supports") -> None:
    """Reject weighted memberships, for measures that do not use weights.

    Parameters
    ----------
    table, label
        As for `weights_other_than_one`.
    why : str
        Which measures do not use them.

    Raises
    ------
    DataError
        With the number of weights other than 1, and an example.

    Examples
    --------
    >>> table = pl.DataFrame({"item": ["run"], "gold": ["N"], "weight": [1]})
    >>> refuse_weights(table, "gold")
    """
    if problem := weights_other_than_one(table.lazy(), label):
        raise DataError(f"memberships: {problem}, {why}: omit the column")


def is_missing(column: str, schema: pl.Schema) -> pl.Expr:
    """Return true for labels that are null or empty."""
    label = pl.col(column)
    empty = label.is_null()
    return empty | (label == "") if schema[column] == pl.String else empty


def refuse_missing(column: str, rows: pl.Series) -> None:
    """Raise DataError for rows with a null or empty label."""
    refuse(column, "null or empty", rows, remedy="drop these rows")


def refuse(where: str, what: str, rows: pl.Series, *, remedy: str) -> None:
    """Raise DataError for rows, with column, problem, number and three examples."""
    examples = ", ".join(str(row) for row in rows.head(3))
    raise DataError(f"column {where}: {len(rows):,} {what}, e.g. row {examples}; {remedy}")
