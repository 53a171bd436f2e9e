"""A few sentences per candidate, chosen at random by the seed, the pair's tokens marked."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.cooccurrence.surface import (
    FORM,
    SPACE_AFTER,
    SURFACE,
    in_context,
    written,
)
from pipeline.kernels.hashing import candidate_id, seeded_key

_SENTENCE = ["file", "sentence"]
_PAIR, _POSITIONS = ("l1", "l2"), ("position_1", "position_2")


def draw(
    pairs: pl.LazyFrame,
    *,
    most: int,
    seed: str,
    units: Sequence[str] = _PAIR,
    positions: Sequence[str] = _POSITIONS,
) -> pl.LazyFrame:
    """Choose up to `most` pair tokens of each candidate.

    Parameters
    ----------
    pairs : LazyFrame
        file, doc, sentence, l1, l2, position_1, position_2; see `pairs.located`.
    most : int
        How many per candidate.
    seed : str
        Fixes the choice, whatever the shards: the smallest keys are taken, so that the choice
        from parts, made again among their choices, is the choice from the whole. Tokens at the
        same place of two files have the same key: all of them are kept where one is, and `merge`
        chooses among them by what is written.
    units, positions : sequence of str
        The columns that say which candidate it is, and where its tokens are.

    Returns
    -------
    LazyFrame
        The same columns with id and draw_key.
    """
    pairs = pairs.with_columns(pl.col(units).cast(pl.String))
    columns = (*units, "doc", "sentence", *positions)
    place = pl.concat_str(columns, separator="|", ignore_nulls=True)
    keyed = pairs.with_columns(candidate_id(*units), _place=place).with_columns(
        draw_key=seeded_key("_place", seed=seed, purpose="examples")
    )
    ordered = keyed.drop("_place").sort("id", "draw_key", "doc", "sentence", "file", *positions)
    last = ordered.group_by("id").agg(_last=pl.col("draw_key").bottom_k(most).max())
    chosen = ordered.join(last, on="id", maintain_order="left")
    return chosen.filter(pl.col("draw_key") <= pl.col("_last")).drop("_last")


def sentences(
    drawn: pl.LazyFrame,
    tokens: pl.LazyFrame,
    *,
    form: str,
    width: int = 0,
    positions: Sequence[str] = _POSITIONS,
) -> pl.LazyFrame:
    """Return each drawn sentence as it is written, the tokens of the candidate in [[ ]].

    Words that are left out of a long one are […]. Where the sentence has square brackets of its
    own, it is ⟦⟦ ⟧⟧ and ⟦…⟧; then ⟦ ⟧ of its own are [ ].

    Parameters
    ----------
    drawn : LazyFrame
        What `draw` gives.
    tokens : LazyFrame
        In order: file, sentence, position, the attribute to show, and what there is of
        `SURFACE` and `SPACE_AFTER`.
    form : str
        That attribute.
    width : int
        Characters to show, see `surface.in_context`; 0: all.
    positions : sequence of str
        The columns that say where the candidate's tokens are.

    Returns
    -------
    LazyFrame
        id, number (of the draw within this corpus), doc, text, draw_key.
    """
    some = tokens.join(drawn.select(_SENTENCE), on=_SENTENCE, how="semi", maintain_order="left")
    within = _written(some, form)
    numbered = drawn.with_columns(number=_number()).with_row_index("example")
    examples = numbered.group_by(_SENTENCE).agg("example", places=pl.concat_list(positions))
    columns = ("forms", "surfaces", "spaces", "places")
    texts = pl.struct(columns).map_batches(
        lambda rows: _texts(rows, width), return_dtype=pl.List(pl.String())
    )
    shown = (
        within.join(examples, on=_SENTENCE).select("example", text=texts).explode("example", "text")
    )
    joined = numbered.join(shown, on="example", maintain_order="left")
    return joined.select("id", "number", "doc", "text", "draw_key")


def merge(parts: pl.LazyFrame, *, most: int) -> pl.LazyFrame:
    """Choose again among the examples of all parts, and number them."""
    ordered = parts.sort("id", "draw_key", "doc", "text")
    chosen = ordered.group_by("id", maintain_order=True).head(most)
    return chosen.with_columns(number=_number()).select("id", "number", "doc", "text", "draw_key")


def _written(tokens: pl.LazyFrame, form: str) -> pl.LazyFrame:
    """Return each sentence with lists of what `surface.written` asks for."""
    names = tokens.collect_schema().names()
    nothing = pl.lit(None, pl.String())
    lists = {
        "forms": pl.col(form).cast(pl.String),
        "surfaces": pl.col(SURFACE) if SURFACE in names and form == FORM else nothing,
        "spaces": pl.col(SPACE_AFTER) if SPACE_AFTER in names else nothing,
    }
    one = tokens.select(*_SENTENCE, **lists)
    return one.group_by(_SENTENCE, maintain_order=True).agg(pl.col(*lists))


def _texts(rows: pl.Series, width: int) -> pl.Series:
    """Return the texts of each sentence's examples."""
    texts = []
    for forms, surfaces, spaces, examples in rows.struct.unnest().iter_rows():
        marked = ([place for place in each if place is not None] for each in examples)
        texts.append(in_context(written(forms, surfaces, spaces), marked, width=width))
    return pl.Series(texts, dtype=pl.List(pl.String))


def _number() -> pl.Expr:
    return pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("id")
