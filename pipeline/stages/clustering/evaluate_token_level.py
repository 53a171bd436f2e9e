"""Token level: taggings, or dictionaries applied to every token, against the gold tags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple, Self

import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import DataError
from pipeline.kernels.clustering import applied_dictionary
from pipeline.kernels.clustering.measure import TOKEN_MEASURES
from pipeline.kernels.clustering.token.bootstrap import token_intervals
from pipeline.kernels.clustering.token.mapping import token_mapping
from pipeline.kernels.clustering.token.scores import PAPER, token_scores
from pipeline.registry import Named
from pipeline.stages.base import Of, Outputs, Proportion, Seeded, Tables, several, stage
from pipeline.stages.clustering.counted_alike import counted_alike, require_same_tokens
from pipeline.stages.clustering.systems import KEY, SystemRun, require_entries, runs, stacked
from pipeline.stages.clustering.tags import PLACE
from schemas import (
    ClusterOverlaps,
    GoldEntries,
    GoldSentences,
    InducedEntries,
    SystemSize,
    TaggedSentences,
    TaggedTypes,
    TokenLevel,
    TokenMapping,
)

ALONE = "(none)"
"""What the cluster of the tokens that have none is called."""


class EvaluateTokenLevel(Seeded):
    """Evaluate the clusters of tokens: mapping accuracies, V, VI, NVI, and many more."""

    taggings: Annotated[tuple[str, ...], Of(TaggedTypes)] = ()
    """Stages with taggings, whose tokens have gold tag and cluster."""
    dictionaries: Annotated[tuple[str, ...], Of(InducedEntries)] = ()
    """Stages with clusters of items: each token gets the one cluster of its item."""
    gold: Annotated[str | None, Of(GoldEntries)] = None
    """The gold classes of the items with their tokens; what dictionaries need."""
    measures: Annotated[tuple[str, ...], Named(TOKEN_MEASURES)] = Field(default=PAPER, min_length=1)
    """Names of measures; "all" stands for every one."""
    without_cluster: Literal["drop", "cluster"] = "drop"
    """What becomes of tokens without a cluster: left out, or one more cluster of them all."""
    replicates: int = Field(default=0, ge=0)
    """Bootstrap samples of sentences for the confidence limits; none if 0."""
    confidence: Proportion = 0.95
    """Confidence level of the limits."""
    tagging_sentences: Annotated[tuple[str, ...], Of(TaggedSentences)] = ()
    """The stages of taggings again, run with sentences = true: for the limits."""
    gold_sentences: Annotated[str | None, Of(GoldSentences)] = None
    """The stage of gold again, run with sentences = true: for the limits of dictionaries."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not self.taggings and not self.dictionaries:
            raise ValueError("name taggings, or dictionaries")
        if self.dictionaries and self.gold is None:
            raise ValueError("dictionaries need gold, the stage with the tokens of each item")
        if self.replicates and self.taggings and not self.tagging_sentences:
            raise ValueError("limits of taggings need tagging_sentences")
        if self.replicates and self.dictionaries and self.gold_sentences is None:
            raise ValueError("limits of dictionaries need gold_sentences")
        return self


@stage(
    "evaluate.token_level",
    config=EvaluateTokenLevel,
    outputs={
        "scores": TokenLevel,
        "mapping": TokenMapping,
        "overlaps": ClusterOverlaps,
        "sizes": SystemSize,
    },
    agree=counted_alike,
)
def evaluate_tokens(config: EvaluateTokenLevel, tables: Tables) -> Outputs:
    """Count the tokens of each class in each cluster, run by run, and score the counts."""
    if config.dictionaries:
        require_entries(tables, "dictionaries", config.dictionaries)
    tagged = list(runs(tables, "taggings", config.taggings, by=["gold", "cluster"]))
    _require_one_text(config, tables)
    every = [*tagged, *_applied(config, tables)]
    cells = [SystemRun(run.system, run.run, _cells(config, run.rows)) for run in every]
    sentences = dict(_sentences(config, tables))
    scores = [run.named(_scores(config, run, sentences)) for run in cells]
    return {
        "scores": stacked(scores, TokenLevel),
        "mapping": stacked([run.named(token_mapping(run.rows)) for run in cells], TokenMapping),
        "overlaps": stacked([run.named(_overlaps(run.rows)) for run in cells], ClusterOverlaps),
        "sizes": stacked([run.named(_sizes(run.rows)) for run in every], SystemSize),
    }


def _require_one_text(config: EvaluateTokenLevel, tables: Tables) -> None:
    """Hold every tagging against gold; without it, against the first."""
    standard = (tables["gold"], "gold") if "gold" in tables else None
    for plan in several(tables, "taggings", config.taggings):
        for system, run in plan.select(KEY).unique().sort(KEY).collect(engine="streaming").rows():
            rows, name = plan.filter(system=system, run=run), f"system {system}, run {run}"
            if standard:
                require_same_tokens(rows, standard[0], name=name, other=standard[1])
            standard = standard or (rows, name)


def _applied(config: EvaluateTokenLevel, tables: Tables) -> Iterator[SystemRun]:
    """Return the same of each dictionary, from the tokens of the gold standard."""
    for run in runs(tables, "dictionaries", config.dictionaries):
        name = f"system {run.system}, run {run.run}"
        tagged = applied_dictionary.applied(tables["gold"], run.rows, name=name)
        yield run._replace(rows=tagged.group_by("gold", "cluster").agg(pl.sum("f")).collect())


def _cells(config: EvaluateTokenLevel, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(_cluster(config)).drop_nulls("cluster")


def _cluster(config: EvaluateTokenLevel) -> pl.Expr:
    """Return the cluster of each token; null where one that has none is left out."""
    cluster = pl.col("cluster")
    return cluster.fill_null(ALONE) if config.without_cluster == "cluster" else cluster


def _scores(
    config: EvaluateTokenLevel, run: SystemRun, sentences: dict[tuple[str, str], _Sentences]
) -> pl.DataFrame:
    if not config.replicates:
        scored = token_scores(run.rows, measures=config.measures)
        limits = dict.fromkeys(("lower", "upper", "standard_error"), pl.lit(None, pl.Float64))
        return scored.with_columns(**limits, undefined=pl.lit(0, pl.Int64))
    drawn = sentences.get((run.system, run.run))
    if drawn is None or drawn.tokens() < int(run.rows["f"].sum()):
        raise DataError(
            f"system {run.system}, run {run.run} has no counts by sentence, which its limits need\n"
            "Set sentences = true in its stage, for a dictionary in that of gold, and name the"
            " stage in tagging_sentences or gold_sentences; or leave out replicates."
        )
    return token_intervals(
        drawn.rows.with_columns(_cluster(config)),
        measures=config.measures,
        confidence=config.confidence,
        replicates=config.replicates,
        seed=config.seed,
        place=PLACE,
        among=drawn.among & _cluster(config).is_not_null(),
    )


class _Sentences(NamedTuple):
    """Counts of each sentence: file, sentence, gold, cluster, f."""

    rows: pl.LazyFrame
    among: pl.Expr
    """Which of them are those of a run."""

    def tokens(self) -> int:
        """Return how many tokens they count."""
        some = self.rows.filter(self.among).select(pl.sum("f"))
        return int(some.collect(engine="streaming").item())


def _sentences(
    config: EvaluateTokenLevel, tables: Tables
) -> Iterator[tuple[tuple[str, str], _Sentences]]:
    """Yield the counts of each sentence by system and run."""
    if not config.replicates:
        return
    for plan in several(tables, "tagging_sentences", config.tagging_sentences):
        for system, run in plan.select(KEY).unique().collect(engine="streaming").rows():
            own = (pl.col("system") == system) & (pl.col("run") == run)
            yield (system, run), _Sentences(plan, own)
    for one in runs(tables, "dictionaries", config.dictionaries):
        name = f"system {one.system}, run {one.run}"
        tagged = applied_dictionary.applied(tables["gold_sentences"], one.rows, name=name)
        yield (one.system, one.run), _Sentences(tagged, pl.lit(value=True))


def _overlaps(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens that class and cluster share, and those of each."""
    sums = [
        pl.col("f").sum().over(group).alias(name)
        for group, name in (("gold", "n_i"), ("cluster", "n_j"))
    ]
    return rows.select("gold", "cluster", pl.col("f").alias("n_ij"), *sums)


def _sizes(rows: pl.DataFrame) -> pl.DataFrame:
    alone = rows.filter(pl.col("cluster").is_null())["f"].sum()
    counts = {"tokens": rows["f"].sum(), "tokens without a cluster": alone}
    return pl.DataFrame({"what": list(counts), "count": list(counts.values())})
