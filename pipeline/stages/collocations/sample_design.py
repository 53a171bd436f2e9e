"""Samples that are designed for questions: the labels go where they answer them."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.arrays import FloatArray, codes, labels_of
from pipeline.kernels.design.costs import Work
from pipeline.kernels.design.design import Design, designed
from pipeline.kernels.design.estimands import Estimands, estimands
from pipeline.kernels.design.questions import declared_questions
from pipeline.kernels.design.sets import question_sets
from pipeline.kernels.nbest.rank_blocks import rank_vectors
from pipeline.stages.base import Of, Outputs, Proportion, Seeded, StageConfig, Tables, stage
from pipeline.stages.collocations.assisting import predictions_of
from pipeline.stages.collocations.evaluation import (
    ListSizes,
    Pairs,
    Rankings,
    chosen_ranks,
    every_rank,
    pairs_of,
    sizes_along,
)
from pipeline.stages.columns import require
from schemas import (
    AboutCandidates,
    DesignCosts,
    DesignedSample,
    Identified,
    Inclusion,
    Judgements,
    Questions,
    Table,
)

_NOTHING_KNOWN = 0.5
OUTPUTS: dict[str, type[Table]] = {
    "sample": DesignedSample,
    "questions": Questions,
    "inclusion": Inclusion,
    "costs": DesignCosts,
}


class GroupCost(StageConfig):
    """What the judgements of a group of candidates take, in any unit."""

    group: str
    """The column that tells groups apart."""
    first: float = Field(gt=0)
    """The first judgement of a group."""
    further: float = Field(gt=0)
    """Each further one."""

    @model_validator(mode="after")
    def _shared(self) -> GroupCost:
        if self.further > self.first:
            raise ValueError("a further judgement takes no longer than the first of its group")
        return self


class SampleDesign(Seeded, Rankings):
    """Draw a sample that answers declared questions with few labels: precisions, differences."""

    cuts: ListSizes = Field(default=(100, 500, 1000, 2000), min_length=1)
    """List sizes at which precisions and differences are asked for."""
    pairs: Pairs = ()
    """The pairs of measures whose differences are asked for; all pairs if empty."""
    baseline: bool = True
    """Whether the precision of all candidates is asked for, too."""
    weights: dict[str, float] = Field(default_factory=dict)
    """What a question counts, by its name ("t_score at 100", "t_score - mi at 100", "baseline") or
    its kind (precision, difference); 1 if nothing is said. With 0 it is not asked."""
    size: int = Field(ge=1)
    """Labels to spend, beyond those of the pilot."""
    steps: tuple[int, ...] = ()
    """Earlier sizes of a sample that has grown, ascending: what they drew stays in it."""
    pilot: Annotated[str | None, Of(Judgements)] = None
    """Judgements that exist already. Their candidates are in the sample, for certain; the rest is
    drawn with fresh random numbers."""
    assist: Annotated[str | None, Of(AboutCandidates)] = None
    """Predictions: a table of candidates with a column `prediction`, the probability of a true
    positive, such as join.machine gives. If they rest on judgements, these are the pilot."""
    judge: str | None = None
    """Whose predictions, where there are those of several judges."""
    category: str | None = None
    """Of which category of true positives, where there are those of several."""
    assisted: bool = True
    """Whether the predictions will be in the estimates, too; else they are in the design alone."""
    rate: Proportion | None = None
    """Expected share of true positives, where there are no predictions; that of the pilot if not
    given, one half without a pilot. It says how wide intervals will be, not who is drawn."""
    floor: float = Field(default=0.05, ge=0, lt=1)
    """Share of its chance in a simple sample that every candidate has at least, so that later
    questions can be answered; it costs at most this share of the labels."""
    baseline_width: float = Field(default=1.25, ge=1)
    """How much wider the interval of the baseline may be than from a simple sample. 1 makes the
    sample a simple one, as nothing else serves the baseline so well."""
    confidence: Proportion = 0.95
    """Confidence level of the expected intervals."""
    cost: GroupCost | None = None
    """What judgements take where those of a group share work, such as one look-up for all pairs of
    a verb: ``{ group = "l2", first = 5, further = 1 }``. The sample then goes to fewer groups."""
    groups: Annotated[str | None, Of(Identified)] = None
    """With cost: the table of candidates that has the column of the groups."""

    @model_validator(mode="after")
    def _ascending_steps(self) -> SampleDesign:
        sizes = [0, *self.steps, self.size]
        if sizes != sorted(set(sizes)):
            raise ValueError(
                f"steps are earlier sizes: they ascend from 1 and stay below size = {self.size},"
                f" unlike {list(self.steps)}"
            )
        if self.assist and self.rate:
            raise ValueError("give either assist or rate")
        if (self.cost is None) != (self.groups is None):
            raise ValueError("cost and groups, the table that has the column, go together")
        if self.cost and self.steps:
            raise ValueError("a sample with cost is for one size, and has no steps")
        if (self.judge or self.category) and not self.assist:
            raise ValueError("judge and category say which predictions: they go with assist")
        return self


@stage(
    "sample.design",
    config=SampleDesign,
    outputs=OUTPUTS,
)
def sample_design(config: SampleDesign, tables: Tables) -> Outputs:
    """Put the questions together, find everybody's chance, draw."""
    if "assist" in tables:
        predicted = predictions_of(tables["assist"], judge=config.judge, category=config.category)
        tables = {**tables, "assist": predicted}
    ranks = every_rank(chosen_ranks(config, tables), tables)
    if ranks.limit(1).collect().is_empty():
        return {name: table.zero_rows() for name, table in OUTPUTS.items()}
    made = _designed(config, tables, ranks)
    return {name: getattr(made, name) for name in OUTPUTS}


def _designed(config: SampleDesign, tables: Tables, ranks: pl.LazyFrame) -> Design:
    pairs = pairs_of(config.pairs, config.measures, ranks)
    sizes = sizes_along(chosen_ranks(config, tables), every=0, cuts=config.cuts)
    names = labels_of(ranks, "measure").to_list()
    try:
        ids, vectors = rank_vectors(ranks, names)
        questions = declared_questions(
            measures=names, pairs=pairs, at=sizes, candidates=len(ids),
            weights=config.weights | ({} if config.baseline else {"baseline": 0.0}),
        )  # fmt: skip
    except ValueError as error:
        raise ConfigError("questions", [Problem("weights", str(error))]) from error
    sets = question_sets(ids, vectors, pairs=pairs, n=np.array(sizes, dtype=np.int64))
    judged = _judged(tables, ids)
    p = _expected(config, tables, ids, judged)
    asked: Estimands = estimands(
        sets, p=p, judged=judged.to_numpy(), assisted=config.assisted and "assist" in tables
    )
    return designed(
        asked, questions, sizes=[*config.steps, config.size], floor=config.floor,
        baseline_width=config.baseline_width, confidence=config.confidence, seed=config.seed,
        work=_work(config, tables, ids),
    )  # fmt: skip


def _work(config: SampleDesign, tables: Tables, ids: pl.Series) -> Work | None:
    """Return the groups of the candidates, and what they cost."""
    if config.cost is None:
        return None
    column = config.cost.group
    require(tables["groups"].collect_schema(), [("cost.group", column)])
    every = ids.rename("id").to_frame().lazy()
    found = every.join(tables["groups"].select("id", column), on="id", how="left").collect()
    lost = found.filter(pl.col(column).is_null())["id"]
    if len(lost):
        shown = ", ".join(lost.head(3))
        what = f"{len(lost):,} of {len(ids):,} candidates have no group, such as {shown}"
        raise ConfigError("groups", [Problem("cost.group", what, "give all that are ranked one")])
    ordered = ids.rename("id").to_frame().join(found, on="id", how="left", maintain_order="left")
    return Work(codes(ordered[column])[0], config.cost.first, config.cost.further)


def _judged(tables: Tables, ids: pl.Series) -> pl.Series:
    """Tell who is in the pilot, were it undecided."""
    if "pilot" not in tables:
        return pl.Series(np.zeros(len(ids), dtype=bool))
    known = tables["pilot"].select(pl.col("id").unique()).collect().to_series()
    return ids.is_in(known.implode())


def _expected(
    config: SampleDesign, tables: Tables, ids: pl.Series, judged: pl.Series
) -> FloatArray:
    """Return the expected probability of a true positive of each candidate."""
    if "assist" not in tables:
        rate = config.rate or _pilot_rate(tables)
        return np.full(len(ids), rate)
    predicted = pl.LazyFrame({"id": ids, "judged": judged}).join(
        tables["assist"].select("id", pl.col("prediction").cast(pl.Float64)),
        on="id", how="left", maintain_order="left",
    ).collect()  # fmt: skip
    usable = pl.col("prediction").is_between(0, 1).fill_null(value=False)
    wrong = predicted.filter(~usable & ~pl.col("judged"))
    if not wrong.is_empty():
        shown = ", ".join(wrong["id"].head(3))
        what = f"{wrong.height:,} of {len(ids):,} candidates have no probability, such as {shown}"
        remedy = "give each candidate that is ranked a prediction in [0, 1]"
        raise ConfigError("assist", [Problem("assist", what, remedy)])
    chance = pl.when(usable).then("prediction").otherwise(0.0)  # what is judged needs none
    return predicted.select(chance.alias("p")).to_series().to_numpy()


def _pilot_rate(tables: Tables) -> float:
    """Return the share of true positives in the pilot: in the category nearest to one half."""
    if "pilot" not in tables:
        return _NOTHING_KNOWN
    by_category = tables["pilot"].group_by("category").agg(rate=pl.col("tp").mean())
    off = (pl.col("rate") - 0.5).abs()
    rates = by_category.drop_nulls().sort(off, "category").collect()["rate"]
    return float(rates[0]) if len(rates) else _NOTHING_KNOWN
