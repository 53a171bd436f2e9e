"""Candidates from a corpus: pair tokens counted, marginals over all of them."""

from __future__ import annotations

from typing import Literal

import polars as pl
from pydantic import Field, model_validator

from pipeline.kernels import examples
from pipeline.kernels.hashing import candidate_id
from pipeline.kernels.pairs import count, marginals, pair_tokens
from pipeline.stages.base import CorpusSource, Outputs, Seeded, Tables, stage
from pipeline.stages.units import DependencyOptions, UnitOptions, require_attributes
from schemas import Candidates, CorpusSize, Examples, PairCounts


class ExtractPairs(Seeded):
    """Extract candidates from a corpus, with their frequency signatures."""

    corpus: CorpusSource
    """File or files: CoNLL-U, vertical, token table, plain text."""
    relation: Literal["sentence", "dependency"] = "sentence"
    """Which units belong together: all of a sentence, or those in a syntactic relation."""
    dependency: DependencyOptions | None = None
    """The syntactic relation, if relation = "dependency"."""
    left: UnitOptions
    """The left units, l1."""
    right: UnitOptions
    """The right units, l2."""
    min_frequency: int = Field(default=1, ge=1)
    """Drop candidates with a smaller f, after counting: the marginals stay as they are."""
    examples: int = Field(default=0, ge=0)
    """Sentences to keep per candidate, chosen at random."""
    form: str = "form"
    """The attribute that the examples show."""

    @model_validator(mode="after")
    def _relation_is_given(self) -> ExtractPairs:
        if (self.relation == "dependency") != (self.dependency is not None):
            raise ValueError('dependency = {...} goes with relation = "dependency"')
        return self


PARTIALS = {"counts": PairCounts, "examples": Examples, "corpus": CorpusSize}


def combine(config: ExtractPairs, tables: Tables) -> Outputs:
    """Add up the shards, then take the marginals, then apply the threshold."""
    sums = tables["counts"].group_by("l1", "l2").agg(pl.sum("f"), pl.sum("documents"))
    candidates = marginals(sums).filter(pl.col("f") >= config.min_frequency)
    columns = ["id", "l1", "l2", "f", "f1", "f2", "N", "documents"]
    named = candidates.with_columns(candidate_id("l1", "l2")).select(columns)
    kept = tables["examples"].join(named, on="id", how="semi")
    sizes = tables["corpus"].group_by("what").agg(pl.sum("count")).sort("what")
    return {
        "candidates": named,
        "examples": examples.merge(kept, most=config.examples),
        "corpus": sizes,
    }


@stage(
    "extract.pairs",
    config=ExtractPairs,
    outputs={"candidates": Candidates, "examples": Examples, "corpus": CorpusSize},
    shards="corpus",
    partials=PARTIALS,
    combine=combine,
)
def extract_pairs(config: ExtractPairs, tables: Tables) -> Outputs:
    """Count the pairs of one shard, and choose examples from it."""
    tokens = _held(config, tables["corpus"])
    relation = config.dependency.kernel() if config.dependency else None
    found = pair_tokens(
        tokens, left=config.left.kernel(), right=config.right.kernel(), relation=relation
    )
    names = tokens.filter(pl.col("position") == 1).select("file", "sentence", "doc")
    pairs = found.join(names, on=["file", "sentence"])
    places = pl.struct("file", "doc").n_unique().cast(pl.Int64)
    documents = pairs.group_by("l1", "l2").agg(documents=places)
    return {
        "counts": count(pairs).join(documents, on=["l1", "l2"]),
        "examples": _examples(config, pairs, tokens),
        "corpus": _sizes(tokens, names, pairs),
    }


def _examples(config: ExtractPairs, pairs: pl.LazyFrame, tokens: pl.LazyFrame) -> pl.LazyFrame:
    if not config.examples:
        return Examples.zero_rows()
    drawn = examples.draw(pairs, most=config.examples, seed=config.seed)
    return examples.sentences(drawn, tokens, form=config.form)


def _held(config: ExtractPairs, tokens: pl.LazyFrame) -> pl.LazyFrame:
    """Read the columns of a shard that are needed, once: each use of a plan reads the file."""
    schema = tokens.collect_schema()
    used = _attributes(config)
    require_attributes(schema, used)
    needed = {
        "file",
        "doc",
        "sentence",
        "position",
        *(name for each in used.values() for name in each),
    }
    return tokens.select(name for name in schema.names() if name in needed).collect().lazy()


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


def _sizes(tokens: pl.LazyFrame, sentences: pl.LazyFrame, pairs: pl.LazyFrame) -> pl.LazyFrame:
    documents = sentences.select("file", "doc").unique()
    counted = {"tokens": tokens, "sentences": sentences, "documents": documents}
    return pl.concat(
        found.select(what=pl.lit(what), count=pl.len().cast(pl.Int64))
        for what, found in (counted | {"pair tokens": pairs}).items()
    )
