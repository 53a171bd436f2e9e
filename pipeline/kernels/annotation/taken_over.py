"""Sheets beside a log of decisions: which of the two counts where both speak of one item."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.annotation.names import fold

_KEY = ["_person", "id"]


def counting(
    rows: pl.LazyFrame, seen: pl.LazyFrame, *, log: str, answer: str = "label"
) -> pl.LazyFrame:
    """Return the rows with the answers alone that count, as three-way merges do it.

    The log says what each sheet held when it was looked at last. A sheet that still holds that has
    nothing new to say: the log counts, which may have another answer since. A sheet that holds
    something else was worked in since: it counts, if the log still holds what it held then. Where
    both have changed, both count, and a check will find that one person gives two labels. A sheet
    that the log has never seen counts beside it. An answer of the log that was shown to others is
    not overtaken: both count. A note that came to an old answer counts, too.

    Parameters
    ----------
    rows : LazyFrame
        All entries: file, annotator, id, note and the column `answer`.
    seen : LazyFrame
        file, annotator, id, answer and note (what the sheet held), standing (what the log holds
        now), shown (whether others have been shown that).
    log : str
        The ``file`` of the rows that come from the log.
    answer : str
        The column of answers.

    Returns
    -------
    LazyFrame
        The same rows; in those of a sheet that has nothing new to say the answer is null, and the
        note if it is an old one; rows of the log that a sheet has overtaken are left out.

    Examples
    --------
    >>> rows = pl.LazyFrame({"file": ["log", "a.csv"], "annotator": ["ana", "Ana"],
    ...     "id": ["x", "x"], "label": ["B", "A"], "note": ["?", "!"]})
    >>> seen = pl.LazyFrame({"file": ["a.csv"], "annotator": ["ana"], "id": ["x"],
    ...     "answer": ["A"], "note": ["!"], "standing": ["B"],
    ...     "shown": [False]})
    >>> counting(rows, seen, log="log").collect().select("file", "label").rows()
    [('log', 'B'), ('a.csv', None)]
    """
    base = _folded(seen).select(
        "file", *_KEY, "shown", _seen=True, _held="answer", _noted="note", _stands="standing"
    )
    own = _folded(rows).join(base, on=["file", *_KEY], how="left", maintain_order="left")
    known = pl.col("_seen").fill_null(value=False)
    same = _spelt(answer).eq_missing(_spelt("_held"))
    stale = known & same
    stood = _spelt("_stands").eq_missing(_spelt("_held"))
    overtaken = own.filter(known & ~same & stood & ~pl.col("shown"))
    kept = own.join(
        overtaken.select(*_KEY, file=pl.lit(log)).unique(), on=["file", *_KEY], how="anti",
        maintain_order="left",
    )  # fmt: skip
    old = stale & _bare("note").eq_missing(_bare("_noted"))
    return kept.with_columns(
        pl.when(gone).then(None).otherwise(pl.col(name)).alias(name)
        for name, gone in ((answer, stale), ("note", old))
    ).select(rows.collect_schema().names())


def _folded(rows: pl.LazyFrame) -> pl.LazyFrame:
    person = pl.col("annotator").map_elements(fold, return_dtype=pl.String)
    return rows.with_columns(_person=person, id=pl.col("id").str.strip_chars())


def _spelt(name: str) -> pl.Expr:
    """Return an answer as it is compared: no blanks around it, lower case; blank is null."""
    return _bare(name).str.to_lowercase()


def _bare(name: str) -> pl.Expr:
    """Return a text without blanks around it; blank is null."""
    bare = pl.col(name).str.strip_chars()
    return pl.when(bare != "").then(bare)
