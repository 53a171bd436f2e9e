"""Candidates from a corpus: pairs counted part by part, marginals over all of them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from pydantic import Field

from pipeline.kernels import dispersion, examples
from pipeline.kernels.hashing import candidate_id
from pipeline.kernels.pairs import located, marginals
from pipeline.kernels.places import numbered
from pipeline.stages import pair_counting
from pipeline.stages.base import CorpusSource, Outputs, Seeded, Tables, TableSource, stage
from pipeline.stages.columns import require
from pipeline.stages.relations import RelationOptions
from pipeline.stages.units import UnitOptions, require_attributes
from schemas import (
    Candidates,
    CorpusSize,
    EdgeDocuments,
    EdgePieces,
    Examples,
    PairCounts,
    UnitCounts,
)

_PAIR = ["l1", "l2"]
_TOTAL = "sample size"
"""What the counts of `schemas.CorpusSize` call N where it is not the number of pair tokens."""


class ExtractPairs(Seeded, RelationOptions):
    """Extract candidates from a corpus, with their frequency signatures."""

    corpus: CorpusSource
    """File or files: CoNLL-U, vertical, token table, plain text."""
    left: UnitOptions
    """The left units, l1."""
    right: UnitOptions
    """The right units, l2."""
    stop_words: TableSource | None = None
    """File with a column word: labels that are no units on either side."""
    min_frequency: int = Field(default=1, ge=1)
    """Drop candidates with a smaller f, after counting: the marginals stay as they are."""
    examples: int = Field(default=0, ge=0)
    """Sentences to keep per candidate, chosen at random."""
    form: str = "form"
    """The attribute that the examples show."""


PARTIALS = {
    "counts": PairCounts,
    "marginals": UnitCounts,
    "edges": EdgeDocuments,
    "pieces": EdgePieces,
    "examples": Examples,
    "corpus": CorpusSize,
}


def columns(config: ExtractPairs, _names: Sequence[str]) -> set[str]:
    """Return the columns of the tokens that are looked at."""
    used = {name for names in _attributes(config).values() for name in names}
    return {"file", "doc", "sentence", "position", "paragraph"} | used


def merge(config: ExtractPairs, tables: Tables) -> Outputs:
    """Add up the counts of parts of a corpus."""
    pieces = tables["pieces"].unique()
    return {
        "counts": tables["counts"].group_by(_PAIR).agg(pl.sum("f"), pl.sum("documents")),
        "marginals": tables["marginals"].group_by("side", "unit").agg(pl.sum("f")),
        "edges": dispersion.edge_documents(tables["edges"], pieces),
        "pieces": pieces,
        "examples": examples.merge(tables["examples"], most=config.examples),
        "corpus": tables["corpus"].group_by("what").agg(pl.sum("count")),
    }


def combine(config: ExtractPairs, tables: Tables) -> Outputs:
    """Take the marginals of the sums, then apply the threshold."""
    edges = tables["edges"].group_by(_PAIR).agg(_edges=pl.len().cast(pl.Int64))
    summed = tables["counts"].join(edges, on=_PAIR, how="left")
    documents = pl.col("documents") + pl.col("_edges").fill_null(0)
    counted = summed.select(*_PAIR, "f", documents)
    signatures = marginals(counted) if config.relational else _given(counted, tables)
    kept = signatures.filter(pl.col("f") >= config.min_frequency)
    order = ["id", "l1", "l2", "f", "f1", "f2", "N", "documents"]
    named = kept.with_columns(candidate_id("l1", "l2")).select(order)
    shown = tables["examples"].join(named, on="id", how="semi")
    return {
        "candidates": named,
        "examples": examples.merge(shown, most=config.examples),
        "corpus": whole_sizes(tables),
    }


def _given(counts: pl.LazyFrame, tables: Tables) -> pl.LazyFrame:
    """Join the marginals that were counted, and N."""
    for side in (pair_counting.LEFT, pair_counting.RIGHT):
        found = tables["marginals"].filter(pl.col("side") == side)
        one = found.select(pl.col("unit").alias(f"l{side}"), pl.col("f").alias(f"f{side}"))
        counts = counts.join(one, on=f"l{side}", how="left")
    total = tables["corpus"].filter(pl.col("what") == _TOTAL).select(N=pl.col("count").sum())
    return counts.join(total, how="cross")


def whole_sizes(tables: Tables) -> pl.LazyFrame:
    """Add up the sizes of parts, and count the documents at their edges once."""
    edges = dispersion.joined(tables["pieces"]).unique(["file", "whole"])
    more = edges.select(what=pl.lit("documents"), count=pl.len().cast(pl.Int64))
    return pl.concat([tables["corpus"], more]).group_by("what").agg(pl.sum("count")).sort("what")


@stage(
    "extract.pairs",
    config=ExtractPairs,
    outputs={"candidates": Candidates, "examples": Examples, "corpus": CorpusSize},
    shards="corpus",
    partials=PARTIALS,
    merge=merge,
    combine=combine,
    columns=columns,
    whole=lambda config: config.text_unit,
)
def extract_pairs(config: ExtractPairs, tables: Tables) -> Outputs:
    """Count the pairs of one part of a corpus, and choose examples from it."""
    require_attributes(tables["corpus"].collect_schema(), _attributes(config))
    tokens = numbered(tables["corpus"], in_order=True).collect()
    excluded = stop_words(tables)
    found = pair_counting.find(
        tokens,
        left=config.left.kernel(excluded),
        right=config.right.kernel(excluded),
        options=config,
    )
    sentences = dispersion.documents(tokens.lazy()).collect().lazy()
    counts, edges = pair_counting.counts(found.pairs, sentences)
    return {
        "counts": counts,
        "marginals": found.marginals,
        "edges": edges,
        "pieces": dispersion.pieces(sentences),
        "examples": _examples(config, found.pairs.lazy(), tokens.lazy()),
        "corpus": pair_counting.sizes(tokens, sentences, _counted(found)),
    }


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
    drawn = examples.draw(located(pairs, tokens), most=config.examples, seed=config.seed)
    return examples.sentences(drawn, tokens, form=config.form)


def _attributes(config: ExtractPairs) -> dict[str, set[str]]:
    """Return the attributes that each option uses."""
    used = {f"left.{option}": names for option, names in config.left.columns().items()}
    used |= {f"right.{option}": names for option, names in config.right.columns().items()}
    if config.dependency:
        ours = config.dependency.columns().items()
        used |= {f"dependency.{option}": names for option, names in ours}
    if config.examples:
        used["form"] = {config.form}
    return used


def _counted(found: pair_counting.Found) -> dict[str, int]:
    return {"pair tokens": found.pairs.height} | ({_TOTAL: found.total} if found.total else {})
