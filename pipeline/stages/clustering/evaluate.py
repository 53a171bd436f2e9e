"""Evaluation of clusterings by types, tokens, overlapping groups and word senses; of systems."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Literal, NamedTuple, Self, TypeAlias

import polars as pl
from pydantic import Field, field_validator, model_validator

from pipeline import memory
from pipeline.errors import DataError
from pipeline.kernels.clustering import encoding
from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    TYPE_LEVEL,
    TYPE_MEASURES,
    lower_is_better,
)
from pipeline.kernels.clustering.overlapping.measures import (
    overlapping_intervals,
    overlapping_scores,
    without_weights,
)
from pipeline.kernels.clustering.senses import (
    FUZZY,
    SenseTables,
    WhichSenses,
    WithoutCluster,
    sense_scores,
)
from pipeline.kernels.clustering.systems import (
    BANDS,
    class_shares,
    frequency_bands,
    frequent_types,
    measure_correlations,
    system_table,
)
from pipeline.kernels.clustering.token.bootstrap import token_intervals
from pipeline.kernels.clustering.token.measures import PAPER, token_mapping, token_scores
from pipeline.kernels.clustering.types.evaluation import TypeLevelTables, evaluate_type_level
from pipeline.kernels.overlaps import overlaps
from pipeline.kernels.partitions import count_rows
from pipeline.registry import NameIn
from pipeline.stages.base import (
    Of,
    Outputs,
    Proportion,
    SeedOptions,
    StageConfig,
    Tables,
    stage,
    tables_of_option,
)
from pipeline.stages.clustering.extract import BY, PLACE
from pipeline.stages.clustering.tagging import counted_alike, require_same_tokens
from schemas import (
    ClassScores,
    ClassShares,
    ClusterMapping,
    ClusterOverlaps,
    FrequencyBands,
    FrequentTypes,
    GoldEntries,
    GoldSentences,
    InducedEntries,
    MeasureCorrelations,
    OverlappingScores,
    SenseScores,
    SystemSize,
    SystemTable,
    Table,
    TaggedSentences,
    TaggedTypes,
    TokenLevel,
    TokenMapping,
    TypeLevel,
    WordSenseScores,
    WorstItems,
)

# Runs of systems

KEY = ("system", "run")


class SystemRun(NamedTuple):
    """One run of a system with its rows."""

    system: str
    run: str
    rows: pl.DataFrame

    def with_names(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with leading columns system and run."""
        names = [pl.lit(name).alias(key) for key, name in zip(KEY, self[:2], strict=True)]
        return table.select(*names, pl.all())


def runs(
    tables: Tables, option: str, stages: Collection[str], *, by: Sequence[str] = ()
) -> Iterator[SystemRun]:
    """Yield each run of the systems listed in an option, in order.

    Parameters
    ----------
    tables : mapping of str to LazyFrame
        The inputs of the stage.
    option : str
        The option.
    stages : collection of str
        Its value.
    by : sequence of str
        Grouping columns of sums of f; unchanged rows if empty.

    Raises
    ------
    DataError
        If two stages have the same run of the same system.
    """
    origins: dict[tuple[str, ...], str] = {}
    for name, plan in zip(stages, tables_of_option(tables, option, stages), strict=True):
        rows = plan.group_by(*KEY, *by).agg(pl.sum("f")) if by else plan
        frame = rows.collect(engine="streaming" if by else "auto")
        parts = frame.partition_by(KEY, as_dict=True, include_key=False)
        for key in sorted(parts):
            if key in origins:
                raise DataError(
                    f"system {key[0]}, run {key[1]} comes from two stages: {origins[key]} and "
                    f"{name}\nRename system or run in one of them."
                )
            origins[key] = name
            yield SystemRun(str(key[0]), str(key[1]), parts[key])


def require_entries(tables: Tables, option: str, stages: Collection[str]) -> None:
    """Reject empty gold entries or systems, except in a dry run, where all are empty.

    Parameters
    ----------
    tables, option, stages
        As for `runs`; the gold entries are the table ``gold``.

    Raises
    ------
    DataError
        With the names of the stages.
    """
    plans = [tables["gold"], *tables_of_option(tables, option, stages)]
    gold, *counts = (int(plan.select(pl.len()).collect().item()) for plan in plans)
    empty = [stage for stage, rows in zip(stages, counts, strict=True) if not rows]
    if gold and empty:
        raise DataError(
            f"{option}: {len(empty)} of {len(stages)} have no item with a cluster: "
            f"{', '.join(f'stages.{each}' for each in empty[:3])}\nCheck their files and "
            f"their option noise, or remove them from {option}."
        )
    if not gold and len(empty) < len(stages):
        raise DataError(
            "gold: no item has a class\nCheck its file and its options exclude and min_frequency."
        )


def require_no_weights(
    tables: Tables, gold: str, systems: Collection[str], *, why: str = "which no measure supports"
) -> None:
    """Reject gold entries or systems with weights, for measures that do not use them.

    Parameters
    ----------
    tables : mapping of str to LazyFrame
        The inputs of the stage, from options gold and systems.
    gold : str
        The stage of the gold entries.
    systems : collection of str
        The stages of the systems.
    why : str
        Which measures do not use weights.

    Raises
    ------
    DataError
        With the first such stage, its number of weights, and an example.
    """
    for option, name, plan, label in _entry_tables(tables, gold, systems):
        if problem := encoding.weights_other_than_one(plan, label):
            raise DataError(
                f"{option}: stages.{name} {problem}, {why}\nRemove the column weight from its "
                "file: each item then belongs equally to all of its "
                f"{'classes' if label == 'gold' else 'clusters'}."
            )


def _entry_tables(
    tables: Tables, gold: str, systems: Collection[str]
) -> Iterator[tuple[str, str, pl.LazyFrame, str]]:
    """Yield option, stage, table and column of labels of the gold entries and of each system."""
    yield "gold", gold, tables["gold"], "gold"
    plans = tables_of_option(tables, "systems", systems)
    yield from (("systems", *each, "cluster") for each in zip(systems, plans, strict=True))


def stack(parts: Sequence[pl.DataFrame], model: type[Table]) -> pl.DataFrame:
    """Concatenate tables of one schema; without any, return an empty one."""
    columns = model.columns()
    return pl.concat([pl.DataFrame(schema=columns), *(each.select(*columns) for each in parts)])


# Overlapping clusters


class EvaluateOverlapping(SeedOptions):
    """Evaluate overlapping clusters of word types: BCubed, NMI, Omega, element-centric."""

    gold: Annotated[str, Of(GoldEntries)]
    """Gold classes of the items."""
    systems: Annotated[tuple[str, ...], Of(InducedEntries)] = Field(min_length=1)
    """Stages with clusters of the items; items without a gold class are excluded, except from pairs
    of fuzzy measures.
    """
    measures: Annotated[tuple[str, ...], NameIn(OVERLAPPING_MEASURES)] = Field(
        default=("all",), min_length=1, validate_default=True
    )
    """Names of measures, or ["all"] without the fuzzy ones."""
    replicates: int = Field(default=0, ge=0)
    """Number of bootstrap samples of items, for limits; 0 for none."""
    confidence: Proportion = 0.95
    """Confidence level."""


@stage(
    "evaluate.overlapping",
    config=EvaluateOverlapping,
    outputs={"scores": OverlappingScores},
    agree=counted_alike,
)
def evaluate_overlapping(config: EvaluateOverlapping, tables: Tables) -> Outputs:
    """Score every run of every system."""
    require_entries(tables, "systems", config.systems)
    if why := without_weights(config.measures):
        require_no_weights(tables, config.gold, config.systems, why=why)
    gold = _memberships(tables["gold"].collect(), "gold")
    scored = []
    for run in runs(tables, "systems", config.systems):
        entries = _memberships(run.rows, "cluster")
        scored.append(run.with_names(_overlapping(config, gold, entries)))
    return {"scores": stack(scored, OverlappingScores)}


def _memberships(rows: pl.DataFrame, label: str) -> pl.DataFrame:
    """Return item, label, and by and weight if there are any."""
    further = [name for name in (BY, encoding.WEIGHT) if name in rows.columns]
    return rows.select(*further, "item", label)


def _overlapping(
    config: EvaluateOverlapping, gold: pl.DataFrame, entries: pl.DataFrame
) -> pl.DataFrame:
    if config.replicates:
        return overlapping_intervals(
            gold,
            entries,
            measures=config.measures,
            confidence=config.confidence,
            replicates=config.replicates,
            seed=config.seed,
        )
    scores = overlapping_scores(gold, entries, measures=config.measures, seed=config.seed)
    limits = dict.fromkeys(("lower", "upper"), pl.lit(None, pl.Float64))
    return scores.with_columns(**limits, undefined=pl.lit(0, pl.Int64))


# Word senses: the instances of each word


class EvaluateSenses(SeedOptions):
    """Evaluate induced word senses: compare the instances of each word, and average over words."""

    gold: Annotated[str, Of(GoldEntries)]
    """Gold senses of the instances, with the column by: their word."""
    systems: Annotated[tuple[str, ...], Of(InducedEntries)] = Field(min_length=1)
    """Stages with induced senses of the instances, with the column by."""
    measures: Annotated[tuple[str, ...], NameIn(OVERLAPPING_MEASURES)] = FUZZY
    """Names of measures of graded or several senses; fuzzy ones use weights."""
    token_measures: Annotated[tuple[str, ...], NameIn(TOKEN_MEASURES)] = ()
    """Names of measures of single senses, e.g. v and pair_precision."""
    senses: WhichSenses = "all"
    """"all", or "heaviest": the sense with the largest weight of each instance."""
    without_cluster: WithoutCluster = "zero"
    """Instances without a cluster score 0, are excluded ("drop"), or form a "cluster" of the word;
    fuzzy measures count them in any case."""
    replicates: int = Field(default=0, ge=0)
    """Number of bootstrap samples of words, for limits; 0 for none."""
    confidence: Proportion = 0.95
    """Confidence level."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not (self.measures or self.token_measures):
            raise ValueError("name at least one of measures and token_measures")
        return self


@stage(
    "evaluate.senses",
    config=EvaluateSenses,
    outputs={"scores": SenseScores, "words": WordSenseScores, "sizes": SystemSize},
    agree=counted_alike,
)
def evaluate_senses(config: EvaluateSenses, tables: Tables) -> Outputs:
    """Score every run of every system, word by word."""
    require_entries(tables, "systems", config.systems)
    _require_by(tables, config)
    why = without_weights(config.measures) if config.senses == "all" else ""
    if why:
        require_no_weights(tables, config.gold, config.systems, why=why)
    gold = tables["gold"].collect()
    every = [] if gold.is_empty() else list(runs(tables, "systems", config.systems))
    scored = [(run, _senses(config, gold, run)) for run in every]
    return {
        "scores": stack([run.with_names(senses.scores) for run, senses in scored], SenseScores),
        "words": stack([run.with_names(senses.words) for run, senses in scored], WordSenseScores),
        "sizes": stack([run.with_names(senses.sizes) for run, senses in scored], SystemSize),
    }


def _senses(config: EvaluateSenses, gold: pl.DataFrame, run: SystemRun) -> SenseTables:
    return sense_scores(
        _memberships(gold, "gold"),
        _memberships(run.rows, "cluster"),
        measures=config.measures,
        token_measures=config.token_measures,
        senses=config.senses,
        without_cluster=config.without_cluster,
        replicates=config.replicates,
        confidence=config.confidence,
        seed=config.seed,
    )


def _require_by(tables: Tables, config: EvaluateSenses) -> None:
    """Reject entries without the words of the instances, except in a dry run."""
    for option, name, plan, _ in _entry_tables(tables, config.gold, config.systems):
        rows = plan.select(pl.len()).collect().item()
        if rows and BY not in plan.collect_schema():
            raise DataError(
                f"{option}: stages.{name} has no column by, the word of each instance\nName the "
                'column of its file: columns = { by = "word" }; of a Senseval key, with '
                f'{"gold" if option == "gold" else "cluster"} = "sense", too.'
            )


# Distribution of types and tokens over classes


class EvaluateShares(StageConfig):
    """Count types and tokens of each class, of its k most frequent types, and by frequency band."""

    gold: Annotated[str, Of(GoldEntries)]
    """Gold classes of the items, with tokens."""
    most: Annotated[tuple[int, ...], Field(min_length=1)] | None = None
    """Values of k (default: 1, 2, 5, 10, 20, 50 ...)."""
    bands: tuple[Annotated[int, Field(ge=1)], ...] = BANDS
    """Last ranks of the frequency bands; a further band has the rest."""

    @field_validator("bands")
    @classmethod
    def _increasing(cls, bands: tuple[int, ...]) -> tuple[int, ...]:
        for one, after in itertools.pairwise(bands):
            if one >= after:
                raise ValueError(f"ranks increase from band to band; {after:,} follows {one:,}")
        return bands


@stage(
    "evaluate.shares",
    config=EvaluateShares,
    outputs={"shares": ClassShares, "frequent": FrequentTypes, "bands": FrequencyBands},
)
def evaluate_shares(config: EvaluateShares, tables: Tables) -> Outputs:
    """Sum the tokens of each class and each band."""
    items = tables["gold"].select("item", "gold", "f").collect()
    return {
        "shares": class_shares(items),
        "frequent": frequent_types(items, most=config.most),
        "bands": frequency_bands(items, last=config.bands),
    }


# Comparison of systems under all measures

_FLOOR = "floor"


class EvaluateSystems(StageConfig):
    """Compare systems: mean and standard deviation over runs, ranks, correlations of measures."""

    type_level: Annotated[str | None, Of(TypeLevel)] = None
    """Stage with the type-level scores."""
    token_level: Annotated[str | None, Of(TokenLevel)] = None
    """Stage with the token-level scores."""
    overlapping: Annotated[str | None, Of(OverlappingScores)] = None
    """Stage with the scores of overlapping clusterings."""
    senses: Annotated[str | None, Of(SenseScores)] = None
    """Stage with the scores of word senses, which share measures with the other levels."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        levels = [self.type_level, self.token_level, self.overlapping]
        if not (self.senses or any(levels)):
            raise ValueError("name at least one of type_level, token_level, overlapping and senses")
        if self.senses and any(levels):
            raise ValueError("compare senses in a stage of their own, without the other levels")
        return self


@stage(
    "evaluate.systems",
    config=EvaluateSystems,
    outputs={"table": SystemTable, "correlations": MeasureCorrelations},
)
def evaluate_systems(_config: EvaluateSystems, tables: Tables) -> Outputs:
    """Combine the scores of all levels; type-level measures are named with their mapping."""
    scores = pl.concat([part.collect() for part in _parts(tables)])
    lower = lower_is_better(TOKEN_MEASURES) | lower_is_better(OVERLAPPING_MEASURES)
    return {
        "table": system_table(scores, lower_is_better=lower),
        "correlations": measure_correlations(scores, lower_is_better=lower),
    }


def _parts(tables: Tables) -> list[pl.LazyFrame]:
    columns = ["system", "run", "measure", "value"]
    parts = []
    if "type_level" in tables:
        mapped = tables["type_level"].filter(pl.col("mapping") != _FLOOR)
        measure = pl.format("{} {}", "measure", "mapping").alias("measure")
        parts.append(mapped.with_columns(measure).select(columns))
    levels = [name for name in ("token_level", "overlapping", "senses") if name in tables]
    return [*parts, *(tables[name].select(columns) for name in levels)]


# Token level: taggings, or dictionaries applied to every token

ALONE = "(none)"
"""Name of the cluster of untagged tokens."""


class EvaluateTokenLevel(SeedOptions):
    """Evaluate clusters of tokens: mapping accuracies, V, VI, NVI and many others."""

    taggings: Annotated[tuple[str, ...], Of(TaggedTypes)] = ()
    """Stages with taggings, whose tokens have gold tags and clusters."""
    dictionaries: Annotated[tuple[str, ...], Of(InducedEntries)] = ()
    """Stages with clusters of items, applied to all tokens of an item."""
    gold: Annotated[str | None, Of(GoldEntries)] = None
    """Gold classes of the items with tokens, required for dictionaries."""
    measures: Annotated[tuple[str, ...], NameIn(TOKEN_MEASURES)] = Field(
        default=PAPER, min_length=1
    )
    """Names of measures, or ["all"]."""
    without_cluster: Literal["drop", "cluster"] = "drop"
    """Exclude tokens without a cluster, or treat them as one cluster."""
    replicates: int = Field(default=0, ge=0)
    """Number of bootstrap samples of sentences, for limits; 0 for none."""
    confidence: Proportion = 0.95
    """Confidence level."""
    tagging_sentences: Annotated[tuple[str, ...], Of(TaggedSentences)] = ()
    """The same stages as taggings, with sentences = true, for limits."""
    gold_sentences: Annotated[str | None, Of(GoldSentences)] = None
    """The same stage as gold, with sentences = true, for limits of dictionaries."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not self.taggings and not self.dictionaries:
            raise ValueError("name taggings or dictionaries")
        if self.dictionaries and self.gold is None:
            raise ValueError("dictionaries require gold, the stage with the tokens of each item")
        if self.replicates and self.taggings and not self.tagging_sentences:
            raise ValueError("limits of taggings require tagging_sentences")
        if self.replicates and self.dictionaries and self.gold_sentences is None:
            raise ValueError("limits of dictionaries require gold_sentences")
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
    """Count the tokens of each class in each cluster by run, and score the counts."""
    if config.dictionaries:
        require_entries(tables, "dictionaries", config.dictionaries)
    tagged = list(runs(tables, "taggings", config.taggings, by=["gold", "cluster"]))
    _require_one_text(config, tables)
    every = [*tagged, *_apply_dictionaries(config, tables)]
    cluster = _cluster(config)
    cells = [
        run._replace(rows=run.rows.with_columns(cluster).drop_nulls("cluster")) for run in every
    ]
    sentences = dict(_sentences(config, tables))
    scores = [run.with_names(_scores(config, run, sentences)) for run in cells]
    return {
        "scores": stack(scores, TokenLevel),
        "mapping": stack([run.with_names(token_mapping(run.rows)) for run in cells], TokenMapping),
        "overlaps": stack(
            [run.with_names(_token_overlaps(run.rows)) for run in cells], ClusterOverlaps
        ),
        "sizes": stack([run.with_names(_sizes(run.rows)) for run in every], SystemSize),
    }


def _require_one_text(config: EvaluateTokenLevel, tables: Tables) -> None:
    """Check every tagging against gold, or else against the first tagging."""
    standard = (tables["gold"], "gold") if "gold" in tables else None
    for plan in tables_of_option(tables, "taggings", config.taggings):
        for system, run in plan.select(KEY).unique().sort(KEY).collect(engine="streaming").rows():
            rows, name = plan.filter(system=system, run=run), f"system {system}, run {run}"
            if standard:
                require_same_tokens(rows, standard[0], name=name, other=standard[1])
            standard = standard or (rows, name)


def _apply_dictionaries(config: EvaluateTokenLevel, tables: Tables) -> Iterator[SystemRun]:
    """Return the joint counts of each dictionary, from tokens of the gold standard."""
    for run in runs(tables, "dictionaries", config.dictionaries):
        name = f"system {run.system}, run {run.run}"
        tagged = encoding.apply_dictionary(tables["gold"], run.rows, name=name)
        yield run._replace(rows=tagged.group_by("gold", "cluster").agg(pl.sum("f")).collect())


def _cluster(config: EvaluateTokenLevel) -> pl.Expr:
    """Return the cluster of each token; null if untagged tokens are excluded."""
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
            f"system {run.system}, run {run.run} has no counts by sentence, which limits require\n"
            "Set sentences = true in its stage, for a dictionary in that of gold, and name "
            "the stage in tagging_sentences or gold_sentences; or omit replicates."
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
    """Selection of the rows of a run."""

    def tokens(self) -> int:
        """Return the number of tokens."""
        some = self.rows.filter(self.among).select(pl.sum("f"))
        return int(some.collect(engine="streaming").item())


def _sentences(
    config: EvaluateTokenLevel, tables: Tables
) -> Iterator[tuple[tuple[str, str], _Sentences]]:
    """Yield the counts of each sentence by system and run."""
    if not config.replicates:
        return
    for plan in tables_of_option(tables, "tagging_sentences", config.tagging_sentences):
        for system, run in plan.select(KEY).unique().collect(engine="streaming").rows():
            own = (pl.col("system") == system) & (pl.col("run") == run)
            yield (system, run), _Sentences(plan, own)
    for one in runs(tables, "dictionaries", config.dictionaries):
        name = f"system {one.system}, run {one.run}"
        tagged = encoding.apply_dictionary(tables["gold_sentences"], one.rows, name=name)
        yield (one.system, one.run), _Sentences(tagged, pl.lit(value=True))


def _token_overlaps(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens of each class, of each cluster, and of both."""
    sums = [
        pl.col("f").sum().over(group).alias(name)
        for group, name in (("gold", "n_i"), ("cluster", "n_j"))
    ]
    return rows.select("gold", "cluster", pl.col("f").alias("n_ij"), *sums)


def _sizes(rows: pl.DataFrame) -> pl.DataFrame:
    alone = rows.filter(pl.col("cluster").is_null())["f"].sum()
    counts = {"tokens": rows["f"].sum(), "tokens without a cluster": alone}
    return pl.DataFrame({"what": list(counts), "count": list(counts.values())})


# Type level

Mapping: TypeAlias = Literal["1-1", "M-1"]
_MEMBERSHIP, _ENCODED = 60, 130
"""Bytes of an item's class or cluster, as a row and while it is encoded."""


class EvaluateTypeLevel(SeedOptions):
    """Evaluate clusters of word types: MacroI, MicroI and MicroC, each with its optimal mapping."""

    gold: Annotated[str, Of(GoldEntries)]
    """Gold classes of the items."""
    systems: Annotated[tuple[str, ...], Of(InducedEntries)] = Field(min_length=1)
    """Stages with clusters of the items, of one or several systems."""
    measures: Annotated[tuple[str, ...], NameIn(TYPE_MEASURES)] = Field(
        default=TYPE_LEVEL, min_length=1
    )
    """Names of measures, or ["all"]."""
    mappings: tuple[Mapping, ...] = Field(default=("1-1", "M-1"), min_length=1)
    """Mappings of clusters to classes: one-to-one or many-to-one."""
    restarts: int | None = Field(default=None, ge=0)
    """Random starts of hill climbing for M-1 mappings (default: 20, or 5 above 10,000 items)."""
    kicks: int | None = Field(default=None, ge=0)
    """Perturbations of the best mapping (default: 40 per cluster, 5 if most starts agree; at most
    2,000)."""
    certificate_seconds: float | None = Field(default=None, gt=0)
    """Time limit per measure for proving or bounding M-1 mappings (default: no proof).
    """
    replicates: int = Field(default=0, ge=0)
    """Number of bootstrap samples of items, for limits; 0 for none."""
    confidence: Proportion = 0.95
    """Confidence level."""
    interval: Literal["fixed", "refitted"] = "fixed"
    """Keep the mapping in bootstrap samples, or optimise it in each (slow)."""
    worst: int = Field(default=100, ge=0)
    """Number of items with the lowest scores to list."""


@stage(
    "evaluate.type_level",
    config=EvaluateTypeLevel,
    outputs={
        "scores": TypeLevel,
        "mapping": ClusterMapping,
        "classes": ClassScores,
        "items": WorstItems,
        "overlaps": ClusterOverlaps,
    },
    agree=counted_alike,
)
def evaluate_types(config: EvaluateTypeLevel, tables: Tables) -> Outputs:
    """Evaluate every run of every system in turn."""
    require_entries(tables, "systems", config.systems)
    require_no_weights(tables, config.gold, config.systems)
    _require_memory(tables, config)
    counted = tables["gold"].collect()
    gold, tokens = counted.select("item", "gold"), counted.group_by("item").agg(tokens=pl.sum("f"))
    every = list(runs(tables, "systems", config.systems))
    results = [(each, _evaluate_run(config, gold, tokens, each)) for each in every]
    return {
        "scores": stack([run.with_names(result.summary) for run, result in results], TypeLevel),
        "mapping": stack(
            [run.with_names(result.mapping) for run, result in results], ClusterMapping
        ),
        "classes": stack([run.with_names(result.classes) for run, result in results], ClassScores),
        "items": stack([run.with_names(result.items) for run, result in results], WorstItems),
        "overlaps": stack([_type_overlaps(gold, run) for run in every], ClusterOverlaps),
    }


def _require_memory(tables: Tables, config: EvaluateTypeLevel) -> None:
    """Refuse memberships that exceed the limit: all are held, and those of each run encoded."""
    gold = count_rows(tables["gold"])
    systems = tables_of_option(tables, "systems", config.systems)
    every = pl.concat(each.select(KEY) for each in systems)
    sizes = every.group_by(KEY).len().collect(engine="streaming")["len"].to_list()
    rows, largest = gold + sum(sizes), gold + max(sizes, default=0)
    memory.require(
        rows * _MEMBERSHIP + largest * _ENCODED, f"the evaluation of {rows:,} memberships",
        otherwise="evaluate fewer systems in a stage, or leave out rare items (min_frequency)",
    )  # fmt: skip


def _evaluate_run(
    config: EvaluateTypeLevel, gold: pl.DataFrame, tokens: pl.DataFrame, run: SystemRun
) -> TypeLevelTables:
    evaluated = evaluate_type_level(
        gold,
        run.rows.select("item", "cluster"),
        measures=config.measures,
        mappings=config.mappings,
        restarts=config.restarts,
        kicks=config.kicks,
        seed=config.seed,
        certificate_seconds=config.certificate_seconds,
        replicates=config.replicates,
        confidence=config.confidence,
        interval=config.interval,
        worst=config.worst,
        tokens=tokens,
    )
    counted = evaluated.items.join(tokens, on="item", how="left", maintain_order="left")
    return evaluated._replace(items=counted)


def _type_overlaps(gold: pl.DataFrame, run: SystemRun) -> pl.DataFrame:
    """Count shared items, excluding those without a gold entry."""
    entries = run.rows.lazy().join(gold.lazy(), on="item", how="semi")
    shared = overlaps(gold.lazy(), entries, member="item", gold_group="gold", group="cluster")
    return run.with_names(shared.collect())
