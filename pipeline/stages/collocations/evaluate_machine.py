"""How near machines come to people, and how many labels their predictions save."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.machine.judges import judge_tables
from pipeline.kernels.machine.lists import saving_tables
from pipeline.kernels.nbest.judging import judged
from pipeline.stages.base import Of, Outputs, Proportion, Seeded, Tables, stage
from pipeline.stages.collocations.evaluation import (
    ListSizes,
    Pairs,
    pairs_of,
    ranks_of_all,
    require_ranked,
    sizes_along,
)
from schemas import (
    Calibration,
    Identified,
    Judgements,
    Judges,
    MachineConfusion,
    PairSavings,
    Predictions,
    Ranks,
    Savings,
)

_TABLES = {
    "confusion": MachineConfusion, "calibration": Calibration, "judges": Judges,
    "savings": Savings, "pair_savings": PairSavings,
}  # fmt: skip


class EvaluateMachine(Seeded):
    """Hold machines against people: confusion, calibration, agreement, labels saved."""

    predictions: Annotated[str, Of(Predictions)]
    """What the machines expect."""
    judgements: Annotated[str, Of(Judgements)]
    """What people judged; what is not judged does not count."""
    sample: Annotated[str | None, Of(Identified)] = None
    """The sample that people judged. With a column `pi`, such as a designed one has, draws stand
    for 1/pi candidates; without it all weigh the same. All judged candidates if absent."""
    ranks: Annotated[str | None, Of(Ranks)] = None
    """The rankings for whose lists the labels saved are told; nothing is told of them if absent."""
    measures: tuple[str, ...] = ()
    """The rankings to look at; all if empty."""
    cuts: ListSizes = (100, 500, 1000, 2000)
    """List sizes."""
    pairs: Pairs = ()
    """Pairs of measures whose differences are looked at, too."""
    threshold: float = Field(default=0.5, gt=0, le=1)
    """From which prediction on a machine's label is positive."""
    bins: int = Field(default=10, ge=1, le=1000)
    """Bins of equal width in which predictions are held against shares of true positives."""
    confidence: Proportion = 0.95
    """Confidence level."""


@stage("evaluate.machine", config=EvaluateMachine, outputs=_TABLES)
def evaluate_machine(config: EvaluateMachine, tables: Tables) -> Outputs:
    """Put judged draws beside predictions, for each category and judge."""
    predictions, draws = tables["predictions"].collect(), _draws(tables).collect()
    _require_category(predictions, draws)
    near = judge_tables(
        predictions, draws, threshold=config.threshold, bins=config.bins,
        confidence=config.confidence,
    )  # fmt: skip
    return {**near, **_savings(config, tables, predictions, draws)}


def _draws(tables: Tables) -> pl.LazyFrame:
    """Return the judged draws with their chances, each as often as it was drawn."""
    judgements = tables["judgements"]
    if "sample" not in tables:
        return judgements.select("category", "id", "tp")
    sample = tables["sample"]
    names = sample.collect_schema().names()
    if "pi" in names:
        chances = sample.select("id", "pi").filter(pl.col("pi") > 0)
        return judgements.join(chances, on="id", how="inner").select("category", "id", "tp", "pi")
    _refuse_strata(sample, names)
    times = pl.col("multiplicity") if "multiplicity" in names else pl.lit(1)
    draws = judged(sample.select("id", times.cast(pl.Int64).alias("multiplicity")), judgements)
    repeated = draws.select("category", "id", tp=pl.col("tp").repeat_by("multiplicity"))
    return repeated.explode("tp")


def _refuse_strata(sample: pl.LazyFrame, names: list[str]) -> None:
    """Refuse strata without chances: their draws do not weigh the same."""
    if "stratum" not in names:
        return
    strata = sample.select(pl.col("stratum").n_unique()).collect().item()
    if strata > 1:
        what = f"was drawn from {strata} strata, and does not tell with what chances"
        remedy = "take a sample with a column pi, such as sample.design draws"
        raise ConfigError("sample", [Problem("sample", what, remedy)])


def _require_category(predictions: pl.DataFrame, draws: pl.DataFrame) -> None:
    """Refuse predictions of categories none of which people judged."""
    predicted, given = (set(each["category"]) for each in (predictions, draws))
    if predicted and given and not predicted & given:
        name = min(predicted)
        what = f"nobody judged the category {name!r} that is predicted"
        remedy = f"name it as people's judgements do: {did_you_mean(name, sorted(given))}"
        raise ConfigError("predictions", [Problem("predictions", what, remedy)])


def _savings(
    config: EvaluateMachine, tables: Tables, predictions: pl.DataFrame, draws: pl.DataFrame
) -> Outputs:
    """Return what is saved for lists and pairs, if there are rankings."""
    nothing = {name: _TABLES[name].zero_rows() for name in ("savings", "pair_savings")}
    if "ranks" not in tables:
        return nothing
    ranks = tables["ranks"].collect()
    wanted = [*config.measures, *(name for pair in config.pairs for name in pair)]
    require_ranked("measures", wanted, ranks)
    if config.measures:
        ranks = ranks.filter(pl.col("measure").is_in(wanted))
    if ranks.is_empty():
        return nothing
    at = sizes_along(ranks, every=0, cuts=config.cuts)
    pairs = pairs_of(config.pairs, (), ranks) if config.pairs else []
    return saving_tables(
        predictions, draws, ranks_of_all(ranks, tables), at=at, pairs=pairs,
        confidence=config.confidence, seed=config.seed,
    )  # fmt: skip
