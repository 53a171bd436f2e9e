"""CoNLL-U: how words are written, from the ranges, MISC, and ``# text`` where it fits the words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

import polars as pl

from pipeline.formats.corpora.marks import BLANK, POSITION, ROW, SPACE_AFTER, SURFACE, UNIT

_RANGE = r"^([1-9][0-9]*)-([0-9]+)$"
_NO_SPACE = r"(?:^|\|)(?:SpaceAfter=No|SpacesAfter=(?:No)?)(?:\||$)"
_TEXT = r"^#\s*text\s*=\s*(.*?)\s*$"
_KIND = pl.Struct({SURFACE: pl.String(), SPACE_AFTER: pl.String()})

Written: TypeAlias = tuple[str, str]
"""What is written for a word or a range, and the white space after it."""


def written(lines: pl.LazyFrame, *, identity: str) -> pl.LazyFrame:
    """Add `SURFACE` and `SPACE_AFTER`; nothing is done where neither is asked for.

    Parameters
    ----------
    lines : LazyFrame
        Lines with their marks, form and misc.
    identity : str
        The column with ID, or a comment.
    """
    own = lines.with_columns(
        _range(pl.col(identity), 1, "~begin"), _range(pl.col(identity), 2, "~end")
    )
    is_range, comment = pl.col("~end").is_not_null(), ~pl.col(ROW) & ~pl.col(BLANK)
    text = pl.when(comment).then(identity).str.extract(_TEXT)
    form = pl.when(pl.col("form") != "_").then("form")
    known = {
        "~begin": pl.when(is_range).then("~begin").when(BLANK).then(0),
        "~end": pl.when(is_range).then("~end").when(BLANK).then(0),
        "~range": pl.when(is_range).then(form.fill_null("")).when(BLANK).then(pl.lit("")),
        "~misc": pl.when(is_range).then(pl.col("misc").fill_null("")).when(BLANK).then(pl.lit("")),
        "~said": pl.when(text.is_not_null()).then(text).when(BLANK).then(pl.lit("")),
    }
    own = own.with_columns(each.forward_fill().alias(name) for name, each in known.items())
    both = own.with_columns(_surface(), _space_after())
    columns = (UNIT, POSITION, "form", SURFACE, SPACE_AFTER, "~said")
    fitted = pl.struct(columns).map_batches(_fitted, return_dtype=_KIND)
    names = [
        name for name in both.collect_schema().names() if name not in {*known, SURFACE, SPACE_AFTER}
    ]
    return both.with_columns(fitted.alias("~written")).select(
        *names, pl.col("~written").struct.unnest()
    )


def _range(identity: pl.Expr, group: int, name: str) -> pl.Expr:
    return identity.str.extract(_RANGE, group).cast(pl.Int64, strict=False).alias(name)


def _surface() -> pl.Expr:
    begins, inside = pl.col(POSITION) == pl.col("~begin"), _inside()
    range_ = pl.when(pl.col("~range") != "").then("~range")
    within = pl.when(range_.is_not_null()).then(pl.lit(""))
    return pl.when(begins).then(range_).when(inside).then(within).alias(SURFACE)


def _space_after() -> pl.Expr:
    """Return "" for no space; of a range, that of its last word alone."""
    last = pl.when(pl.col(POSITION) == pl.col("~end")).then("~misc")
    misc = pl.when(_inside()).then(last).otherwise("misc")
    return pl.when(misc.str.contains(_NO_SPACE)).then(pl.lit("")).alias(SPACE_AFTER)


def _inside() -> pl.Expr:
    return pl.col(POSITION).is_between("~begin", "~end").fill_null(value=False)


def _fitted(lines: pl.Series) -> pl.Series:
    """Take surface and spaces from ``# text``, where it holds the same signs in another way."""
    rows = lines.struct.unnest()
    others = _otherwise(rows)
    if others.is_empty():
        return rows.select(SURFACE, SPACE_AFTER).to_struct()
    columns = {name: rows.get_column(name).to_list() for name in (SURFACE, SPACE_AFTER)}
    for numbers, words, text in others.iter_rows():
        heads = [place for place, word in enumerate(words) if word]
        found = aligned([words[place] for place in heads], text) or ()
        for place, after, (part, space) in zip(
            heads, [*heads[1:], len(words)], found, strict=False
        ):
            if part != words[place]:
                columns[SURFACE][numbers[place]] = part
            columns[SPACE_AFTER][numbers[after - 1]] = space
    return pl.DataFrame(columns, schema=dict(_KIND)).to_struct()


def _otherwise(rows: pl.DataFrame) -> pl.DataFrame:
    """Return row numbers, words and text of the sentences whose text is not what the words give."""
    shown = pl.coalesce(SURFACE, "form", pl.lit("_")).alias("shown")
    inner = pl.when(pl.col(SURFACE).shift(-1) == "").then(pl.lit(""))  # the last of a range has it
    space = pl.coalesce(inner, SPACE_AFTER, pl.lit(" "))
    words = rows.with_row_index("row").filter(pl.col(POSITION).is_not_null())
    words = words.with_columns(shown, space.alias("space"))
    sentences = words.group_by(UNIT).agg(
        text=pl.col("~said").first(),
        said=(pl.col("shown") + pl.col("space")).str.join("").str.strip_chars_end(),
    )
    differ = sentences.filter((pl.col("text") != "") & (pl.col("text") != pl.col("said")))
    others = words.join(differ, on=UNIT, maintain_order="left")
    listed = others.group_by(UNIT, maintain_order=True).agg("row", "shown", pl.col("text").first())
    return listed.drop(UNIT)


def aligned(words: Sequence[str], text: str) -> list[Written] | None:
    """Return what stands in the text for each word, and the white space after it.

    None if the text holds other signs than the words, white space aside.

    Examples
    --------
    >>> aligned(["10000", "€", "."], "10 000 €.")
    [('10 000', ' '), ('€', ''), ('.', '')]
    >>> aligned(["do", "not"], "don't") is None
    True
    """
    sizes = [len("".join(word.split())) for word in words]
    if "".join("".join(words).split()) != "".join(text.split()) or not all(sizes):
        return None
    solid = [place for place, sign in enumerate(text) if not sign.isspace()]
    starts = [0, *accumulate(sizes)]
    ends = [solid[start - 1] + 1 for start in starts[1:]]
    begins = [*(solid[start] for start in starts[:-1]), len(text)]
    return [
        (text[begin:end], text[end:after])
        for begin, end, after in zip(begins, ends, begins[1:], strict=False)
    ]
