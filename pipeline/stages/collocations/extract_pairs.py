"""Candidates from a corpus: pairs counted part by part, marginals over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline.kernels.cooccurrence import documents, examples
from pipeline.kernels.cooccurrence.pairs import COLUMNS, located
from pipeline.kernels.cooccurrence.tokens import numbered
from pipeline.kernels.cooccurrence.units import LABEL
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import CorpusSource, Outputs, Tables, TableSource, as_one, stage
from pipeline.stages.collocations import occurrences, pair_counting
from pipeline.stages.collocations.example_options import ExampleOptions
from pipeline.stages.collocations.relations import RelationOptions
from pipeline.stages.collocations.units import UnitOptions
from pipeline.stages.columns import require, require_attributes
from pipeline.stages.counting import Bounds, Counting
from pipeline.stages.late import Late
from schemas import (
    Candidates,
    CorpusSize,
    Examples,
    OpenPairCounts,
    UnitCounts,
)
from schemas.counts import ACROSS

_PAIR = ("l1", "l2")
_TOTAL = "sample size"
"""What the counts of `schemas.CorpusSize` call N where it is not the number of pair tokens."""


class ExtractPairs(ExampleOptions, RelationOptions):
    """Extract candidates from a corpus, with their frequency signatures."""

    corpus: CorpusSource
    """File or files: CoNLL-U, vertical, token table, plain text."""
    left: UnitOptions
    """The left units, l1."""
    right: UnitOptions
    """The right units, l2."""
    stop_words: TableSource | None = None
    """File with a column word: labels that are no units on either side."""
    min_frequency: Annotated[int, Late()] = Field(default=1, ge=1)
    """Drop candidates with a smaller f, after counting: the marginals stay as they are."""


PARTIALS = {
    "counts": OpenPairCounts,
    "marginals": UnitCounts,
    "examples": Examples,
    "corpus": CorpusSize,
}


def columns(config: ExtractPairs) -> set[str]:
    """Return the columns of the tokens that are looked at."""
    used = {name for names in _attributes(config).values() for name in names}
    return {"file", "doc", "sentence", "position", "paragraph"} | used | config.looked_at()


def merge(config: ExtractPairs, tables: Tables) -> Outputs:
    """Add up the counts of parts of a corpus."""
    return {
        "counts": occurrences.added_up(tables["counts"], _PAIR),
        "marginals": tables["marginals"].group_by("side", "unit").agg(pl.sum("f")),
        "examples": examples.merge(tables["examples"], most=config.examples),
        "corpus": tables["corpus"].group_by("what").agg(pl.sum("count")),
    }


def tally(raw: Mapping[str, pl.DataFrame], bounds: Bounds) -> Outputs:
    """Count the pairs of some batches."""
    return occurrences.tallied(raw, _PAIR, bounds)


def close(tables: Tables) -> Outputs:
    """Let each pair have one row, now that no document goes on."""
    return {**tables, "counts": occurrences.closed(tables["counts"], _PAIR)}


def totals(config: ExtractPairs, tables: Tables) -> Outputs:
    """Return the sums over all pairs of a unit, if the marginals are these, and N."""
    if not config.relational:
        return {"totals": UnitCounts.zero_rows()}
    counts = tables["counts"]
    sides = [
        counts.group_by(unit=pl.col(f"l{side}"))
        .agg(pl.sum("f"))
        .select(side=pl.lit(side, pl.Int64), unit="unit", f="f")
        for side in (pair_counting.LEFT, pair_counting.RIGHT)
    ]
    return {"totals": pl.concat(sides)}


def combine(config: ExtractPairs, tables: Tables) -> Outputs:
    """Join the marginals to the sums, then apply the threshold."""
    kept = tables["counts"].filter(pl.col("f") >= config.min_frequency).drop(ACROSS)
    signatures = _signatures(kept, config, tables)
    order = ["id", "l1", "l2", "f", "f1", "f2", "N", "documents"]
    text = signatures.with_columns(pl.col("l1", "l2").cast(pl.String))
    if config.by_node:
        # One token of l2 in the spans of two nodes counts twice, and f could exceed f2.
        text = text.with_columns(nodes="f", f=pl.min_horizontal("f", "f2"))
        text, order = text.filter(pl.col("f") >= config.min_frequency), [*order, "nodes"]
    named = text.with_columns(candidate_id("l1", "l2")).select(order)
    shown = tables["examples"].join(named, on="id", how="semi")
    return {
        "candidates": named,
        "examples": examples.merge(shown, most=config.examples),
        "corpus": tables["corpus"].sort("what"),
    }


def _signatures(counts: pl.LazyFrame, config: ExtractPairs, tables: Tables) -> pl.LazyFrame:
    """Join f1, f2 and N."""
    frequencies = tables["totals"] if config.relational else tables["marginals"]
    counts = counts.with_columns(pl.col(_PAIR).cast(LABEL))
    for side in (pair_counting.LEFT, pair_counting.RIGHT):
        one = frequencies.filter(side=side).select(
            pl.col("unit").cast(LABEL).alias(f"l{side}"), pl.col("f").alias(f"f{side}")
        )
        counts = counts.join(one, on=f"l{side}", how="left")
    what = pl.col("what") == ("pair tokens" if config.relational else _TOTAL)
    total = tables["corpus"].filter(what).select(N=pl.col("count").sum())
    return counts.join(total, how="cross")


def pieces(config: ExtractPairs, tables: Tables) -> Iterator[Outputs]:
    """Find the pairs of one part of a corpus, so many at a time as fit in memory, and examples."""
    require_attributes(tables["corpus"].collect_schema(), _attributes(config))
    tokens = numbered(tables["corpus"], in_order=True).collect()
    excluded = stop_words(tables)
    left = config.left.kernel(excluded)
    right = left if config.left == config.right else config.right.kernel(excluded)
    before = tables["open"].collect()
    sentences = documents.sentences(tokens.lazy(), before)
    wanted = COLUMNS if config.examples else occurrences.looked_at(_PAIR, sentences)
    for found in pair_counting.find(tokens, left=left, right=right, options=config, columns=wanted):
        yield _piece(config, found, tokens, sentences)
    last = _piece(config, pair_counting.Found(), tokens, sentences)
    sizes = pair_counting.sizes(tokens, sentences, before)
    yield {**last, "corpus": sizes, "open": documents.left_open(sentences, before)}


def _piece(
    config: ExtractPairs, found: pair_counting.Found, tokens: pl.DataFrame, sentences: pl.DataFrame
) -> Outputs:
    counted = {"pair tokens": found.pairs.height} | ({_TOTAL: found.total} if found.total else {})
    return {
        **occurrences.of_batch(found.pairs, _PAIR, sentences),
        "marginals": found.marginals,
        "examples": _examples(config, found.pairs.lazy(), tokens.lazy()),
        "corpus": pair_counting.numbers(counted),
    }


@stage(
    "extract.pairs",
    config=ExtractPairs,
    outputs={"candidates": Candidates, "examples": Examples, "corpus": CorpusSize},
    shards="corpus",
    counting=Counting(
        partials=PARTIALS,
        merge=merge,
        combine=combine,
        columns=columns,
        carry={"open": documents.OPEN},
        whole=lambda config: config.text_unit,
        buckets={
            "counts": candidate_id(*_PAIR),
            "examples": pl.col("id"),
            "candidates": pl.col("id"),
        },
        totals=totals,
        in_parts=True,
        raw=occurrences.RAW,
        tally=tally,
        tallied=["counts"],
        close=close,
        total_tables={"totals": UnitCounts},
    ),
    pieces=pieces,
)
def extract_pairs(config: ExtractPairs, tables: Tables) -> Outputs:
    """Find the pairs of one part of a corpus, and choose examples from it."""
    return as_one(pieces(config, tables))


def stop_words(tables: Tables) -> list[str]:
    """Return the labels that are no units, from the option of that name."""
    if "stop_words" not in tables:
        return []
    require(tables["stop_words"].collect_schema(), [("stop_words", "word")])
    words = tables["stop_words"].select(pl.col("word").cast(pl.String)).drop_nulls()
    return words.unique(maintain_order=True).collect().to_series().to_list()


def _examples(config: ExtractPairs, pairs: pl.LazyFrame, tokens: pl.LazyFrame) -> pl.LazyFrame:
    if not config.examples:
        return Examples.zero_rows()
    return config.from_tokens(located(pairs, tokens), tokens)


def _attributes(config: ExtractPairs) -> dict[str, set[str]]:
    """Return the attributes that each option uses."""
    used = {f"left.{option}": names for option, names in config.left.columns().items()}
    used |= {f"right.{option}": names for option, names in config.right.columns().items()}
    if config.dependency:
        ours = config.dependency.columns().items()
        used |= {f"dependency.{option}": names for option, names in ours}
    return used | config.shown()
