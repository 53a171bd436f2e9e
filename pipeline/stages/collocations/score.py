"""Association scores of pairs and tuples, rankings, and pools of n-best lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

import polars as pl
from pydantic import Field, field_validator, model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.association import scoring
from pipeline.kernels.association.scoring import parse, places, score
from pipeline.kernels.measure import MEASURES, TUPLE_MEASURES
from pipeline.kernels.nbest.ranking import pool, rankings
from pipeline.kernels.partitions import batches
from pipeline.registry import NameIn
from pipeline.stages.base import Of, Outputs, SeedOptions, StageConfig, Tables, stage
from pipeline.stages.collocations.evaluation import LEARNED, Rankings, chosen_ranks
from pipeline.stages.inputs import require
from schemas import CandidateIds, Candidates, Pool, PooledRanks, Ranks, Scores, Tuples, TupleScores
from schemas.candidates import arity

# Scores of pairs


class ScoreAssociation(SeedOptions):
    """Score candidates by association measures."""

    candidates: Annotated[str, Of(Candidates)]
    """The candidates."""
    measures: Annotated[tuple[str, ...], NameIn(MEASURES)] = Field(
        default=("all",), validate_default=True
    )
    """Names or aliases of measures (see ``lexassay measures``), or ``all``, without `random` and
    `fisher_left_pv`. Measures with a parameter are written ``mi_conf(50)``, with column
    ``mi_conf_50``.
    """
    formulas: dict[str, str] = Field(default_factory=dict)
    """Your own measures: from names to SQL formulas over o11 .. e22 r1 r2 c1 c2 N."""

    @field_validator("formulas")
    @classmethod
    def _check_formulas(cls, formulas: dict[str, str]) -> dict[str, str]:
        clashes = [name for name in formulas if name in MEASURES or name in Candidates.columns()]
        if clashes:
            raise ValueError(f"{', '.join(clashes)} is the name of a column; choose another")
        for formula in formulas.values():
            parse(formula)
        return formulas

    @model_validator(mode="before")
    @classmethod
    def _seed_only_for_random(cls, options: Any) -> Any:
        """Drop the seed if no measure is random, so that it does not affect results."""
        if not isinstance(options, Mapping):
            return options
        measures = options.get("measures", ())
        draws = isinstance(measures, list | tuple) and "random" in measures
        return options if draws else {k: v for k, v in options.items() if k != "seed"}


@stage(
    "score.association",
    config=ScoreAssociation,
    outputs={"scores": Scores},
    shards="candidates",
    uses=lambda config: places(config.measures),
)
def score_association(config: ScoreAssociation, tables: Tables) -> Outputs:
    """Add one column per measure."""
    scored = score(
        tables["candidates"],
        measures=config.measures,
        formulas=config.formulas,
        seed=config.seed,
    )
    return {"scores": scored}


# Pools: unions of n-best lists


class ScorePool(Rankings):
    """Pool the n-best lists of several measures, to reduce annotation."""

    depth: int = Field(ge=1)
    """Size of the lists."""


@stage(
    "score.pool",
    config=ScorePool,
    outputs={"candidates": Pool, "ranks": PooledRanks},
)
def score_pool(config: ScorePool, tables: Tables) -> Outputs:
    """Keep candidates in the n-best list of any measure, and ranks up to this depth."""
    ranks = chosen_ranks(config, tables)
    ranked = ranks.select("measure").unique().sort("measure").collect(engine="streaming")
    names = ranked.to_series().to_list()
    down_to = ranks.filter(pl.col("rank") <= config.depth).collect(engine="streaming")
    return {
        "candidates": pool(ranks, measures=names, depth=config.depth),
        "ranks": down_to.with_columns(pool_depth=pl.lit(config.depth, pl.Int64)),
    }


# Ranks


class ScoreRank(SeedOptions):
    """Rank candidates by each measure; ties are broken at random, by the seed."""

    scores: Annotated[str, Of(CandidateIds)]
    """Table of candidates with numeric columns."""
    measures: tuple[str, ...] = ()
    """Columns to rank by; all floating-point columns if empty."""
    candidates: Annotated[str | None, Of(CandidateIds)] = None
    """Rank only these, e.g. "gold.covered" of join.gold (default: all candidates)."""


@stage("score.rank", config=ScoreRank, outputs={"ranks": Ranks})
def score_rank(config: ScoreRank, tables: Tables) -> Iterator[Outputs]:
    """Rank by each score column."""
    scores = tables["scores"]
    schema = scores.collect_schema()
    measures = _measures(config, schema)
    if "candidates" in tables:
        scores = _only(scores, tables["candidates"].select("id"))
    for ranking in rankings(scores, measures=measures, seed=config.seed):
        ranks = ranking
        if LEARNED in schema:
            marked = scores.select("id", LEARNED)
            ranks = ranking.join(marked, on="id", how="left", maintain_order="left")
        yield from ({"ranks": batch} for batch in batches(ranks))


def _only(scores: pl.LazyFrame, candidates: pl.LazyFrame) -> pl.LazyFrame:
    """Return the scores of some candidates; if there are any, some must have scores."""
    some = scores.join(candidates, on="id", how="semi")
    if some.limit(1).collect().is_empty() and not (
        candidates.limit(1).collect().is_empty() or scores.limit(1).collect().is_empty()
    ):
        examples = ", ".join(candidates.head(3).collect()["id"])
        what = f"none of these candidates has scores, for example {examples}"
        remedy = "name a table about the candidates that were scored"
        raise ConfigError("candidates", [Problem("candidates", what, remedy)])
    return some


def _measures(config: ScoreRank, schema: pl.Schema) -> tuple[str, ...]:
    """Return the columns to rank by."""
    require(schema, [("measures", name) for name in config.measures])
    own = Candidates.columns()
    floats = [name for name, dtype in schema.items() if dtype.is_float() and name not in own]
    measures = config.measures or tuple(floats)
    words = [name for name in measures if not schema[name].is_numeric()]
    if words or not measures:
        what = (
            f"{', '.join(words)} does not contain numbers"
            if words
            else ("there are no score columns")
        )
        raise ConfigError("columns", [Problem("measures", what, "name numeric columns")])
    return measures


# Scores of tuples


class ScoreTuples(StageConfig):
    """Score tuples by association measures for any number of units."""

    tuples: Annotated[str, Of(Tuples)]
    """The tuples."""
    measures: Annotated[tuple[str, ...], NameIn(TUPLE_MEASURES)] = Field(
        default=("all",), validate_default=True
    )
    """Names or aliases of measures for 2-6 units (see ``lexassay measures``), or ``all``."""
    formulas: dict[str, str] = Field(default_factory=dict)
    """Your own measures: from names to SQL formulas over o e delta f1 f2 ... f_12 ... N and, for
    three units, o111 ... e222.
    """


@stage("score.tuples", config=ScoreTuples, outputs={"scores": TupleScores}, shards="tuples")
def score_tuples(config: ScoreTuples, tables: Tables) -> Outputs:
    """Add one column per measure."""
    tuples = tables["tuples"]
    has = tuples.collect_schema()
    problems = list(_problems(config, arity(has), {*has.names(), *TUPLE_MEASURES}))
    if problems:
        raise ConfigError("formulas", problems)
    scored = scoring.score_tuples(tuples, measures=config.measures, formulas=config.formulas)
    return {"scores": scored}


def _problems(config: ScoreTuples, size: int, columns: set[str]) -> Iterable[Problem]:
    """Yield problems in formulas; the columns depend on the tuples."""
    for name, formula in config.formulas.items():
        if name in columns:
            yield Problem(f"formulas.{name}", "is the name of a column", "choose another")
        try:
            scoring.parse_tuple_formula(formula, size=size)
        except ValueError as error:
            yield Problem(f"formulas.{name}", str(error))
