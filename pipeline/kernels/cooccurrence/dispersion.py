"""In how many documents a pair occurs, counted along a corpus that comes in batches.

A document is a run of sentences under one name in one file. The last one of a batch may go on in
the next: its pairs are remembered, and not counted for it again.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.cooccurrence.tokens import PLACE
from pipeline.kernels.cooccurrence.units import LABELS

RUN = "run"
"""Column with the number of the document within a batch."""
PAIR = "pair"
"""Column with the pair as a number, see `pipeline.kernels.cooccurrence.pairs.pair_key`."""
START = "start"
"""Column with the first sentence of a document in its file."""
_HELD = "labels"
OPEN = pl.Schema(
    {
        "file": pl.String(),
        "doc": pl.String(),
        START: pl.Int64(),
        PAIR: pl.UInt64(),
        _HELD: pl.Categorical(pl.Categories(LABELS)),
    }
)
"""The document that may go on, and its pairs so far; a row without a pair says which it is. The
column of labels is empty: as long as it is there, labels keep the numbers that pairs are of.
Where it began is said only of a document that has begun in another part of the file."""


def documents(tokens: pl.LazyFrame) -> pl.LazyFrame:
    """Return the sentences of a batch with their documents.

    Parameters
    ----------
    tokens : LazyFrame
        As `places.numbered` gives them, with file and doc.

    Returns
    -------
    LazyFrame
        `PLACE`, `RUN`, file and doc, in order.
    """
    rows = tokens.filter(pl.col("position") == 1).select(PLACE, "file", "doc").sort(PLACE)
    changes = [pl.col(name) != pl.col(name).shift() for name in ("file", "doc")]
    number = pl.any_horizontal(changes).fill_null(value=False).cum_sum().cast(pl.Int64)
    return rows.with_columns(number.alias(RUN))


def goes_on(sentences: pl.DataFrame, before: pl.DataFrame) -> bool:
    """Return whether the first document of a batch is the one that was `OPEN` before."""
    names = ["file", "doc"]
    first, last = sentences.select(names).head(1), before.select(names).head(1)
    return first.height == 1 and first.equals(last)


def by_document(pairs: pl.LazyFrame, sentences: pl.DataFrame) -> pl.LazyFrame:
    """Count pair tokens, document by document.

    Parameters
    ----------
    pairs : LazyFrame
        `PAIR` and `PLACE`.
    sentences : DataFrame
        As `documents` gives them.

    Returns
    -------
    LazyFrame
        `PAIR`, `RUN`, f; what is made of parts of a batch can be added up.
    """
    f = pl.len().cast(pl.Int64).alias("f")
    if not _last(sentences):
        return pairs.group_by(PAIR).agg(f).select(PAIR, pl.lit(0, pl.Int64).alias(RUN), "f")
    run = pl.col(PLACE).replace_strict(sentences[PLACE], sentences[RUN], return_dtype=pl.Int64)
    return pairs.group_by(PAIR, run.alias(RUN)).agg(f)


def spread(
    inside: pl.LazyFrame, sentences: pl.DataFrame, before: pl.DataFrame
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return the counts of pairs, and the documents of each that no batch before has counted.

    Parameters
    ----------
    inside : LazyFrame
        As `by_document` gives them.
    sentences : DataFrame
        As `documents` gives them.
    before : DataFrame
        What the batch before left `OPEN`; nothing for the first.

    Returns
    -------
    counts, after : LazyFrame
        `PAIR`, f, documents; and what this batch leaves `OPEN`.
    """
    open_before = before.get_column(PAIR) if goes_on(sentences, before) else before.clear()[PAIR]
    last = _last(sentences)
    seen = inside.with_columns(_fresh(open_before).alias("documents"))
    counts = seen if not last else seen.group_by(PAIR).agg(pl.sum("f"), pl.sum("documents"))
    mine = seen.filter((pl.col(RUN) == last) & (pl.col("documents") == 1)).select(PAIR)
    nameless = pl.LazyFrame({PAIR: [None]}, schema={PAIR: pl.UInt64})
    earlier = open_before.drop_nulls().to_frame().lazy() if not last else nameless.head(0)
    if sentences.is_empty():
        return counts.select(PAIR, "f", "documents"), before.lazy()
    start = _began(sentences, before) if not last else None
    began = pl.lit(start, pl.Int64).alias(START)
    name = sentences.lazy().tail(1).select("file", "doc", began)
    open_now = name.join(pl.concat([nameless, earlier, mine]), how="cross")
    after = open_now.with_columns(pl.lit(None, OPEN[_HELD]).alias(_HELD)).select(OPEN.names())
    return counts.select(PAIR, "f", "documents"), after


def crossing(inside: pl.LazyFrame, sentences: pl.DataFrame, before: pl.DataFrame) -> pl.LazyFrame:
    """Return the pairs counted for a document that has begun in another part of the file.

    What other parts have counted for it, too, is once too often: `repeated` says how much.

    Parameters
    ----------
    inside, sentences, before
        As `spread` has them.

    Returns
    -------
    LazyFrame
        `PAIR`, file and `START`.
    """
    start = _began(sentences, before)
    if start is None:
        return pl.LazyFrame(schema={name: OPEN[name] for name in (PAIR, "file", START)})
    new = _fresh(before.get_column(PAIR)) == 1
    file, began = pl.lit(sentences["file"][0]), pl.lit(start, pl.Int64)
    mine = inside.filter((pl.col(RUN) == 0) & new)
    return mine.select(PAIR, file.alias("file"), began.alias(START))


def still_open(last: pl.LazyFrame, start: int) -> pl.LazyFrame:
    """Return the same of a document that goes on in another part, if it has begun in this one.

    Parameters
    ----------
    last : LazyFrame
        What the last batch left `OPEN`.
    start : int
        The document's first sentence.
    """
    begun = last.filter(pl.col(START).is_null() & pl.col(PAIR).is_not_null())
    return begun.select(PAIR, "file", pl.lit(start, pl.Int64).alias(START))


def repeated(crossing: pl.LazyFrame, key: Sequence[str]) -> pl.LazyFrame:
    """Return how many documents of a pair were counted in several parts, less than none.

    Parameters
    ----------
    crossing : LazyFrame
        The pair, file and `START`, of parts of a corpus.
    key : sequence of str
        The columns of the pair.

    Returns
    -------
    LazyFrame
        The pair, f (0) and documents, to be added to the counts of these parts.

    Examples
    --------
    >>> parts = pl.LazyFrame({"l1": ["a"] * 3, "file": ["f"] * 3, "start": [1, 1, 9]})
    >>> repeated(parts, ["l1"]).collect().rows()
    [('a', 0, -1)]
    """
    again = (pl.len().cast(pl.Int64) - 1).alias("again")
    found = crossing.group_by(*key, "file", START).agg(again).filter(pl.col("again") > 0)
    return found.select(*key, f=pl.lit(0, pl.Int64), documents=-pl.col("again"))


def _began(sentences: pl.DataFrame, before: pl.DataFrame) -> int | None:
    """Return where the first document of a batch began, if that was in another part of the file."""
    return before.get_column(START)[0] if goes_on(sentences, before) else None


def _last(sentences: pl.DataFrame) -> int:
    """Return the number of the last document of a batch."""
    return int(sentences.get_column(RUN)[-1]) if sentences.height else 0


def _fresh(known: pl.Series) -> pl.Expr:
    """Return 1 for a pair that the document has not been counted for, else 0."""
    if known.is_empty():
        return pl.lit(1, pl.Int64)
    again = (pl.col(RUN) == 0) & pl.col(PAIR).is_in(known.implode())
    return (~again).cast(pl.Int64)
