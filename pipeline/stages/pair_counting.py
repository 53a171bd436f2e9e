"""Pairs of a part of a corpus, and the counts that are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from pipeline.kernels import dispersion, textual, windows
from pipeline.kernels.pairs import COLUMNS, count, pair_tokens
from pipeline.kernels.places import PLACE, TOKEN
from pipeline.kernels.units import Unit, units
from pipeline.stages.relations import RelationOptions
from schemas import UnitCounts

LEFT, RIGHT = 1, 2
"""The sides of a pair, in `schemas.UnitCounts`."""


@dataclass(frozen=True)
class Found:
    """What one part of a corpus gives.

    Parameters
    ----------
    pairs : DataFrame
        The pairs to count, see `pipeline.kernels.pairs.COLUMNS`.
    marginals : LazyFrame
        As `schemas.UnitCounts`; empty where they are sums over the pairs.
    total : int
        What the counts are out of; 0 where it is their sum.
    """

    pairs: pl.DataFrame
    marginals: pl.LazyFrame
    total: int = 0


def find(tokens: pl.DataFrame, *, left: Unit, right: Unit, options: RelationOptions) -> Found:
    """Return the pairs of a part of a corpus by the relation asked for.

    Parameters
    ----------
    tokens : DataFrame
        As `places.numbered` gives them.
    left, right : Unit
        What to pair.
    options : RelationOptions
        Which of them belong together.
    """
    if options.relation in {"sentence", "dependency"}:
        plan = pair_tokens(tokens.lazy(), left=left, right=right, relation=options.syntactic)
        return Found(plan.collect(), UnitCounts.zero_rows())
    first, second = (units(tokens.lazy(), unit).collect() for unit in (left, right))
    if options.relation == "adjacent":
        pairs = windows.adjacent(first, second, tokens, gap=options.gap)
        return Found(pairs, UnitCounts.zero_rows())
    if options.relation == "surface":
        return _surface(first, second, tokens, options)
    return _textual(first, second, tokens, options)


def _surface(
    first: pl.DataFrame, second: pl.DataFrame, tokens: pl.DataFrame, options: RelationOptions
) -> Found:
    pairs, positions = windows.in_span(first, second, tokens, options.span)
    if options.relational:
        return Found(pairs, UnitCounts.zero_rows())
    corpus = second.group_by("unit").agg(f=pl.len().cast(pl.Int64))
    return Found(pairs, _marginals(positions, corpus), tokens.height)


def _textual(
    first: pl.DataFrame, second: pl.DataFrame, tokens: pl.DataFrame, options: RelationOptions
) -> Found:
    numbered = _text_units(tokens.lazy(), options.text_unit)
    one, two = (each.lazy().join(numbered, on=TOKEN) for each in (first, second))
    places = tokens.lazy().select(pl.col(TOKEN).alias("token_1"), PLACE)
    pairs = textual.together(one, two).join(places, on="token_1").select(COLUMNS)
    held = (textual.occurrences(one).collect(), textual.occurrences(two).collect())
    total = numbered.select(pl.col(textual.TEXT_UNIT).n_unique()).collect().item()
    return Found(pairs.collect(), _marginals(*held), int(total))


def _text_units(tokens: pl.LazyFrame, within: str) -> pl.LazyFrame:
    """Give numbers to the parts of the text; a token outside of all paragraphs is in none."""
    names = {"sentence": [PLACE], "paragraph": ["file", "paragraph"], "document": ["file", "doc"]}
    changes = [pl.col(name).ne_missing(pl.col(name).shift()) for name in names[within]]
    number = pl.any_horizontal(changes).cum_sum().cast(pl.Int64).alias(textual.TEXT_UNIT)
    some = tokens.filter(pl.col("paragraph").is_not_null()) if within == "paragraph" else tokens
    return some.with_columns(number).select(TOKEN, textual.TEXT_UNIT)


def _marginals(first: pl.DataFrame, second: pl.DataFrame) -> pl.LazyFrame:
    sides = [
        found.lazy().select(side=pl.lit(side, pl.Int64), unit=pl.col("unit").cast(pl.String), f="f")
        for side, found in ((LEFT, first), (RIGHT, second))
    ]
    return pl.concat(sides)


def counts(pairs: pl.DataFrame, sentences: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Count the pairs, and the documents that hold them.

    Returns
    -------
    counts, edges : LazyFrame
        As `schemas.PairCounts` and `schemas.EdgeDocuments`.
    """
    within, edges = dispersion.spread(pairs.lazy(), sentences)
    joined = count(pairs.lazy()).join(within, on=["l1", "l2"], how="left")
    return joined.with_columns(pl.col("documents").fill_null(0)), edges


def sizes(
    tokens: pl.DataFrame, sentences: pl.LazyFrame, counted: Mapping[str, int]
) -> pl.LazyFrame:
    """Return what this part has, as `schemas.CorpusSize`.

    The documents at its edges are left out: they are counted by their pieces.
    """
    inner = sentences.select(pl.col(dispersion.RUN).max()).collect().item()
    found = {
        "tokens": tokens.height,
        "sentences": sentences.select(pl.len()).collect().item(),
        "documents": max(0, (inner or 0) - 1),
        **counted,
    }
    schema = {"what": pl.String, "count": pl.Int64}
    return pl.LazyFrame(list(found.items()), schema=schema, orient="row")
