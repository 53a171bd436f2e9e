"""Token tables whose columns say where a token stands: sentence, document, paragraph."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from pipeline.formats.base import LINE
from pipeline.formats.corpora import attributes
from pipeline.formats.corpora.carry import NOTHING_BEFORE, PARAGRAPHS, Carry
from pipeline.formats.corpora.rules import UNIT, Law

ROLES = ("file", "doc", "paragraph", "sentence")
"""Columns that say where a token stands. The reader numbers sentences and paragraphs itself:
a new one begins where the value changes."""
OWN = (LINE, "position")
"""Columns that the reader makes itself: one that is in the table is passed over."""


def role(name: str) -> str:
    """Return the name under which a column that is one of `ROLES` or `OWN` is read."""
    return f"~{name}" if name in {*ROLES, *OWN} else name


def attributes_of(names: Collection[str]) -> list[str]:
    """Return the columns that are attributes of the token, in order."""
    return [name for name in names if role(name) == name]


def placed(
    plan: pl.LazyFrame,
    names: Collection[str],
    block: pl.Expr | None,
    carry: Carry = NOTHING_BEFORE,
) -> pl.LazyFrame:
    """Return the tokens with `UNIT` and the columns of `attributes.PLACE`.

    Parameters
    ----------
    plan : LazyFrame
        The tokens in order; columns that are `ROLES` under the name that `role` gives.
    names : collection of str
        The columns of the table.
    block : Expr, optional
        What changes from one sentence to the next besides the columns.
    carry : Carry
        What went before the first token.
    """
    document = [role(name) for name in ("file", "doc") if name in names]
    sentence = [*document, *([role("sentence")] if "sentence" in names else [])]
    runs = [_changes(name, carry) for name in sentence]
    runs += [] if block is None else [block.ne_missing(block.shift())]
    doc = pl.col(role("doc")).fill_null("").alias("doc")
    plan = plan.with_columns(pl.any_horizontal(runs).cum_sum().cast(pl.Int64).alias(UNIT))
    return plan.with_columns(
        *([doc] if "doc" in names else []),
        *_paragraph(names, document, carry),
        attributes.sentence_number(carry),
        attributes.running_position(),
    )


def _paragraph(names: Collection[str], document: list[str], carry: Carry) -> list[pl.Expr]:
    """Return the number of the paragraph, and `PARAGRAPHS`."""
    if "paragraph" not in names:
        return [pl.lit(None, pl.Int64).alias("paragraph"), pl.lit(0, pl.Int64).alias(PARAGRAPHS)]
    own = pl.col(role("paragraph"))
    changes = [_changes(name, carry) for name in [*document, role("paragraph")]]
    begun = (pl.any_horizontal(changes) & own.is_not_null()).cum_sum().cast(pl.Int64)
    count = begun + carry.paragraphs
    return [pl.when(own.is_not_null()).then(count).alias("paragraph"), count.alias(PARAGRAPHS)]


def _changes(name: str, carry: Carry) -> pl.Expr:
    """Return whether a value differs from that of the row before; nothing precedes the first."""
    value, before = pl.col(name), carry.last.get(name)
    return value.ne_missing(value.shift(fill_value=before) if before else value.shift())


def last_of(tokens: pl.DataFrame, names: Collection[str]) -> dict[str, str | None]:
    """Return what the last token has in the columns whose changes count; for `Carry.last`."""
    kept = [role(name) for name in ROLES if name in names]
    some = bool(kept) and tokens.height > 0
    return dict(zip(kept, tokens.select(kept).row(-1), strict=True)) if some else {}


def sentence_law(names: Collection[str]) -> list[Law]:
    """Return the law that every token has a sentence, if there is a column for it."""
    if "sentence" not in names:
        return []
    value = pl.col(role("sentence"))
    return [Law(value.is_null(), pl.lit("no sentence"), pl.lit(None, pl.String()))]


def sentence_key(names: Collection[str]) -> list[str]:
    """Return the columns that tell sentences apart, if there is one for the sentence."""
    return [role(name) for name in ("file", "doc", "sentence") if name in names]


def sentences(tokens: pl.DataFrame, names: Collection[str]) -> pl.Series | None:
    """Return a hash of each sentence's key, if there is a column for the sentence.

    Two that are equal are not both right: see `scattered`.
    """
    if "sentence" not in names:
        return None
    starts = tokens.filter(attributes.first_in_unit())
    return starts.select(pl.struct(sentence_key(names)).hash(seed=0)).to_series()


def cut(content: bytes, names: Sequence[str]) -> int:
    """Return the end of the last sentence that is certain to end in a part of a table.

    It ends at a blank line; without any, where a column that tells sentences apart changes.
    """
    ends = [(content.rfind(mark), len(mark)) for mark in (b"\n\n", b"\n\r\n")]
    at, length = max(ends)
    if at >= 0:
        return at + length
    places = [index for index, name in enumerate(names) if name in ROLES and name != "paragraph"]
    end = content.rfind(b"\n") + 1
    after: list[bytes] | None = None
    while places and end > 0:
        start = content.rfind(b"\n", 0, end - 1) + 1
        fields = content[start:end].rstrip(b"\r\n").split(b"\t")
        key = [fields[index] for index in places if index < len(fields)]
        if after is not None and key != after:
            return end
        after, end = key, start
    return 0


def scattered(plan: pl.LazyFrame, names: Collection[str]) -> pl.LazyFrame | None:
    """Return sentences whose rows do not stand together: `LINE`, `UNIT`, problem, value.

    Parameters
    ----------
    plan : LazyFrame
        As `placed` gives it.
    names : collection of str
        The columns of the table.
    """
    if "sentence" not in names:
        return None
    key = sentence_key(names)
    starts = plan.filter(attributes.first_in_unit()).select(LINE, UNIT, *key)
    again = starts.filter(~pl.struct(key).is_first_distinct())
    problem = "sentence comes twice: its rows do not stand together, or its document has no name"
    value = pl.col(role("sentence")).cast(pl.String).alias("value")
    return again.select(LINE, UNIT, pl.lit(problem).alias("problem"), value)
