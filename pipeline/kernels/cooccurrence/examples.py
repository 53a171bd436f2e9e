"""A few sentences per candidate, chosen at random by the seed, the pair's tokens marked."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.hashing import candidate_id, seeded_key

_SENTENCE = ["file", "sentence"]
_PAIR, _POSITIONS = ("l1", "l2"), ("position_1", "position_2")
OPEN, CLOSE = "[[", "]]"
"""Marks around the tokens of the pair."""


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
        from parts, made again among their choices, is the choice from the whole.
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
    ordered = keyed.drop("_place").sort("id", "draw_key", "doc", "sentence")
    return ordered.group_by("id", maintain_order=True).head(most)


def sentences(
    drawn: pl.LazyFrame,
    tokens: pl.LazyFrame,
    *,
    form: str,
    positions: Sequence[str] = _POSITIONS,
) -> pl.LazyFrame:
    """Return the text of each drawn sentence, the tokens of the candidate in [[ ]].

    Parameters
    ----------
    drawn : LazyFrame
        What `draw` gives.
    tokens : LazyFrame
        file, sentence, position and the attribute to show.
    form : str
        That attribute.
    positions : sequence of str
        The columns that say where the candidate's tokens are.

    Returns
    -------
    LazyFrame
        id, number (of the draw within this corpus), doc, text, draw_key.
    """
    numbered = drawn.with_columns(number=_number())
    joined = numbered.join(tokens.select(*_SENTENCE, "position", form), on=_SENTENCE)
    here = pl.col("position")
    marked = pl.any_horizontal((here == pl.col(each)).fill_null(value=False) for each in positions)
    shown = pl.concat_str(pl.lit(OPEN), form, pl.lit(CLOSE))
    word = pl.when(marked).then(shown).otherwise(pl.col(form))
    return (
        joined.with_columns(word=word)
        .sort("id", "number", "position")
        .group_by("id", "number", "doc", "draw_key", maintain_order=True)
        .agg(text=pl.col("word").str.join(" "))
        .select("id", "number", "doc", "text", "draw_key")
    )


def merge(parts: pl.LazyFrame, *, most: int) -> pl.LazyFrame:
    """Choose again among the examples of all parts, and number them."""
    ordered = parts.sort("id", "draw_key", "doc", "text")
    chosen = ordered.group_by("id", maintain_order=True).head(most)
    return chosen.with_columns(number=_number()).select("id", "number", "doc", "text", "draw_key")


def _number() -> pl.Expr:
    return pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("id")
