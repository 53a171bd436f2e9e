"""In how many documents a pair occurs, counted along a corpus that comes in batches.

A document is a run of sentences under one name in one file. The last one of a batch may go on in
the next: its pairs are remembered, and not counted for it again.
"""

from __future__ import annotations

import polars as pl

from pipeline.kernels.cooccurrence.tokens import PLACE
from pipeline.kernels.cooccurrence.units import LABELS

RUN = "run"
"""Column with the number of the document within a batch."""
PAIR = "pair"
"""Column with the pair as a number, see `pipeline.kernels.cooccurrence.pairs.pair_key`."""
_HELD = "labels"
OPEN = pl.Schema(
    {
        "file": pl.String(),
        "doc": pl.String(),
        PAIR: pl.UInt64(),
        _HELD: pl.Categorical(pl.Categories(LABELS)),
    }
)
"""The document that may go on, and its pairs so far; a row without a pair says which it is. The
column of labels is empty: as long as it is there, labels keep the numbers that pairs are of."""


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
    name = sentences.lazy().tail(1).select("file", "doc")
    open_now = name.join(pl.concat([nameless, earlier, mine]), how="cross")
    after = open_now.with_columns(pl.lit(None, OPEN[_HELD]).alias(_HELD)).select(OPEN.names())
    return counts.select(PAIR, "f", "documents"), after


def _last(sentences: pl.DataFrame) -> int:
    """Return the number of the last document of a batch."""
    return int(sentences.get_column(RUN)[-1]) if sentences.height else 0


def _fresh(known: pl.Series) -> pl.Expr:
    """Return 1 for a pair that the document has not been counted for, else 0."""
    if known.is_empty():
        return pl.lit(1, pl.Int64)
    again = (pl.col(RUN) == 0) & pl.col(PAIR).is_in(known.implode())
    return (~again).cast(pl.Int64)
