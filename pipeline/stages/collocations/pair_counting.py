"""Pairs of a part of a corpus, and the counts that are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from pipeline.kernels.cooccurrence import dispersion, textual, windows
from pipeline.kernels.cooccurrence.pairs import COLUMNS, of_key, pair_key, pair_tokens
from pipeline.kernels.cooccurrence.tokens import PLACE, TOKEN
from pipeline.kernels.cooccurrence.units import LABELS, Unit, units
from pipeline.stages.collocations.relations import RelationOptions
from schemas import UnitCounts

LEFT, RIGHT = 1, 2
"""The sides of a pair, in `schemas.UnitCounts`."""
ENDLESS = 1_000
"""Tokens from which on a sentence is none."""

_NO_MARGINALS = UnitCounts.zero_rows().with_columns(
    pl.col("unit").cast(pl.Categorical(pl.Categories(LABELS)))
)


@dataclass(frozen=True)
class Found:
    """What one part of a corpus gives.

    Parameters
    ----------
    pairs : DataFrame
        The pairs to count, see `pipeline.kernels.cooccurrence.pairs.COLUMNS`.
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
        return Found(plan.collect(), _NO_MARGINALS)
    first = units(tokens.lazy(), left).collect()
    second = first if left is right else units(tokens.lazy(), right).collect()
    if options.relation == "adjacent":
        pairs = windows.adjacent(first, second, tokens, gap=options.gap)
        return Found(pairs, _NO_MARGINALS)
    if options.relation == "surface":
        return _surface(first, second, tokens, options)
    return _textual(first, second, tokens, options)


def _surface(
    first: pl.DataFrame, second: pl.DataFrame, tokens: pl.DataFrame, options: RelationOptions
) -> Found:
    pairs, positions = windows.in_span(first, second, tokens, options.span)
    if options.relational:
        return Found(pairs, _NO_MARGINALS)
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
        found.lazy().select(side=pl.lit(side, pl.Int64), unit="unit", f="f")
        for side, found in ((LEFT, first), (RIGHT, second))
    ]
    return pl.concat(sides)


def counts(
    pairs: pl.DataFrame, sentences: pl.DataFrame, before: pl.DataFrame
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Count the pairs, and the documents that hold them.

    Parameters
    ----------
    pairs : DataFrame
        As `find` gives them.
    sentences : DataFrame
        As `dispersion.documents` gives them.
    before : DataFrame
        What the part before left open.

    Returns
    -------
    counts, after : LazyFrame
        As `schemas.PairCounts`, and what this part leaves open.
    """
    keyed = pairs.lazy().select(PLACE, pair_key().alias(dispersion.PAIR))
    grouped, after = dispersion.spread(keyed, sentences, before)
    return grouped.select(*of_key(pl.col(dispersion.PAIR)), "f", "documents"), after


def sizes(
    tokens: pl.DataFrame, sentences: pl.DataFrame, before: pl.DataFrame, counted: Mapping[str, int]
) -> pl.LazyFrame:
    """Return what this part has, as `schemas.CorpusSize`; a document counts where it begins.

    Parameters
    ----------
    tokens : DataFrame
        Those of this part.
    sentences : DataFrame
        As `dispersion.documents` gives them.
    before : DataFrame
        What the part before left open.
    counted : mapping of str to int
        What else there is.
    """
    documents = sentences.get_column(dispersion.RUN).n_unique()
    numbers = {
        "tokens": tokens.height,
        "sentences": sentences.height,
        "documents": documents - dispersion.goes_on(sentences, before),
        **counted,
    }
    if endless := tokens.filter(pl.col("position") == ENDLESS).height:
        numbers[f"sentences of {ENDLESS:,} tokens or more"] = endless
    schema = {"what": pl.String, "count": pl.Int64}
    return pl.LazyFrame(list(numbers.items()), schema=schema, orient="row")
