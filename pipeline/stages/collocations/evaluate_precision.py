"""N-best precision with confidence intervals, for every n."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypedDict

import polars as pl
from pydantic import Field, model_validator

from pipeline.kernels.nbest.clustered_precision import clustered_precision
from pipeline.kernels.nbest.counts import baseline, positives, precision_columns
from pipeline.kernels.nbest.curves import telling
from pipeline.kernels.nbest.judging import ranked_candidates
from pipeline.kernels.nbest.steps import Steps, counts_at, in_parts, steps_of
from pipeline.kernels.statistics.confidence_sequence import confidence_sequence
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.stages.base import Outputs, Proportion, Tables, as_one, stage
from pipeline.stages.collocations import list_views
from pipeline.stages.collocations.anytime import questions_at_cuts, require_in_order
from pipeline.stages.collocations.cluster_options import ByCluster, clusters_of, redrawn
from pipeline.stages.collocations.correcting import Correcting, corrected
from pipeline.stages.collocations.evaluation import (
    Evaluation,
    ListSizes,
    chosen_ranks,
    judged_alone,
    ranks_of_all,
    sizes_along,
)
from pipeline.stages.collocations.looks import Looking
from pipeline.stages.collocations.looks_simple import SimpleLook, simple_look
from pipeline.stages.collocations.precision_options import Estimating
from schemas import (
    BandThresholds,
    Baseline,
    ClusteredPrecision,
    Corrected,
    CutLists,
    LocalPrecision,
    Looks,
    Precision,
    Recall,
    SimultaneousBands,
    Thresholds,
    WorstCase,
)


class EvaluatePrecision(ByCluster, Evaluation, Estimating, Correcting, Looking):
    """Estimate the precision of every n-best list from the judged candidates."""

    cuts: ListSizes = (100, 500, 1000, 2000)
    """The list sizes of the table `cuts`; those beyond the data set are left out."""
    window: int | None = Field(default=None, ge=1)
    """Ranks in the window of the table `local`, the precision among the ranks around n."""
    recall: bool = False
    """Whether to make the table `recall`, with intervals."""
    cut: int | None = Field(default=None, ge=1)
    """Make the table `cut`: the lists of this size as if each were the whole data set."""
    thresholds: tuple[Proportion, ...] = ()
    """Make the table `thresholds`: from which n on the lower limit stays under these. All n are
    looked at, each by itself; what holds at all n of a range at once has the table
    `band_thresholds`, made with a simultaneous band."""
    band: Literal["pointwise", "simultaneous"] = "pointwise"
    """``simultaneous`` makes the table `bands`: limits of each measure that hold at all n of a
    range at once, where those of the table `precision` hold at each n by itself."""
    band_range: tuple[int, int] | None = None
    """First and last n of that range; the smallest and the largest of the cuts if left out."""
    replicates: int = Field(default=10_000, ge=100)
    """Simulations of such a band."""

    @model_validator(mode="after")
    def _a_range(self) -> EvaluatePrecision:
        if self.band == "pointwise":
            if self.band_range is not None:
                raise ValueError('band_range goes with band = "simultaneous"')
        elif self.band_range is None and not self.cuts:
            raise ValueError("a simultaneous band needs band_range where there are no cuts")
        elif not 1 <= self.over_all_n[0] <= self.over_all_n[1]:
            raise ValueError("band_range is first and last n, from 1")
        return self

    @model_validator(mode="after")
    def _at_any_time(self) -> EvaluatePrecision:
        wanted = {
            "interval": "interval" in self.model_fields_set,
            "recall": self.recall,
            "band": self.band != "pointwise",
            "sensitivity, specificity and truth": self.corrects,
        }
        other = [name for name, given in wanted.items() if given and self.anytime]
        if other:
            raise ValueError(f"anytime = true has limits of its own: leave out {', '.join(other)}")
        return self

    @model_validator(mode="after")
    def _no_clusters_at_looks(self) -> EvaluatePrecision:
        if self.clusters and (self.looks or self.anytime):
            raise ValueError(
                "limits by clusters are for one look: leave out clusters, or the looks"
            )
        return self

    @property
    def over_all_n(self) -> tuple[int, int]:
        """First and last n at which a simultaneous band holds."""
        return self.band_range or (min(self.cuts), max(self.cuts))


class _Limits(TypedDict):
    method: str
    confidence: float


def _pieces(config: EvaluatePrecision, tables: Tables) -> Iterator[Outputs]:
    draws = judged_alone(tables)
    config.check(draws)
    ranks = chosen_ranks(config, tables)
    finite = INTERVALS.get(config.interval).finite
    look = simple_look(config, tables, alpha=1.0 - config.confidence, finite=finite)
    limits = _limits(config, tables, ranks, look)
    steps, totals = steps_of(ranks, draws.lazy()), positives(draws)
    telling_rows = []
    for counts in in_parts(steps):
        every = precision_columns(counts, positives=totals, **limits)
        telling_rows.append(telling(every, thresholds=config.thresholds))
        yield {"precision": every}
        if config.recall:
            yield {"recall": list_views.recall(counts, totals, **limits)}
    for windows in list_views.local(steps, window=config.window, **limits):
        yield {"local": windows}
    lists = precision_columns(counts_at(steps, config.cuts), positives=totals, **limits)
    drawn = draws if "sample" in tables else None
    yield _without_rows(config, steps)
    yield {
        "baseline": _baseline(tables, draws, limits),
        "cuts": lists,
        "cut": list_views.cut(steps, size=config.cut),
        "thresholds": list_views.thresholds(pl.concat(telling_rows), wanted=config.thresholds),
        "worst_case": list_views.worst_case(lists, ranks, drawn, **limits),
        "corrected": corrected(config, tables, lists, categories=draws["category"], **limits),
        "clustered": _clustered(config, tables, ranks, draws),
        "looks": look.table(draws["category"]),
    }
    yield _bands(config, look, steps, ranks, draws)


@stage(
    "evaluate.precision",
    config=EvaluatePrecision,
    outputs={
        "precision": Precision,
        "baseline": Baseline,
        "cuts": Precision,
        "local": LocalPrecision,
        "recall": Recall,
        "cut": CutLists,
        "thresholds": Thresholds,
        "bands": SimultaneousBands,
        "band_thresholds": BandThresholds,
        "worst_case": WorstCase,
        "corrected": Corrected,
        "clustered": ClusteredPrecision,
        "looks": Looks,
    },
    pieces=_pieces,
)
def evaluate_precision(config: EvaluatePrecision, tables: Tables) -> Outputs:
    """Count draws and true positives in every list, then estimate."""
    return as_one(_pieces(config, tables))


def _without_rows(config: EvaluatePrecision, steps: Sequence[Steps]) -> Outputs:
    """Return the tables of every n that are not asked for, or that no list has given rows."""
    none: dict[str, pl.LazyFrame] = {}
    if not config.recall:
        none["recall"] = Recall.zero_rows()
    if config.window is None or not steps:
        none["local"] = LocalPrecision.zero_rows()
    return none


def _bands(
    config: EvaluatePrecision,
    look: SimpleLook,
    steps: Sequence[Steps],
    ranks: pl.LazyFrame,
    draws: pl.DataFrame,
) -> Outputs:
    """Return the limits that hold at all n of a range at once, and where they cross thresholds."""
    at_once = config.confidence if look.plan is None else 1.0 - look.apart
    band = list_views.bands(
        steps,
        ranks,
        draws,
        sizes=config.over_all_n if config.band != "pointwise" else None,
        replicates=config.replicates,
        seed=config.seed,
        method=config.interval,
        confidence=at_once,
    )
    crossed = list_views.band_thresholds(band, wanted=config.thresholds, confidence=at_once)
    return {"bands": band, "band_thresholds": crossed}


def _limits(
    config: EvaluatePrecision, tables: Tables, ranks: pl.LazyFrame, look: SimpleLook
) -> _Limits:
    """Return what all limits are: at the level of this look, or for any time."""
    if config.anytime:
        require_in_order(tables)
        level = (1.0 - config.confidence) / questions_at_cuts(ranks, config.cuts)
        return _Limits(method=confidence_sequence.__name__, confidence=1.0 - level)
    taken = config.confidence if look.plan is None else 1.0 - look.level
    return _Limits(method=config.interval, confidence=taken)


def _clustered(
    config: EvaluatePrecision, tables: Tables, ranks: pl.LazyFrame, draws: pl.DataFrame
) -> pl.DataFrame | pl.LazyFrame:
    """Estimate the lists at the declared cuts by clusters that are drawn again, if it is asked."""
    held = ranks.collect() if config.clusters else pl.DataFrame()
    clusters = clusters_of(config, tables, held)
    if clusters is None:
        return ClusteredPrecision.zero_rows()
    ranked = held["measure"].unique().sort().to_list()
    return clustered_precision(
        ranks_of_all(held, tables), draws, clusters, measures=ranked,
        at=sizes_along(held, every=0, cuts=config.cuts),
        redrawn=redrawn(config, confidence=config.confidence),
    )  # fmt: skip


def _baseline(tables: Tables, draws: pl.DataFrame, limits: _Limits) -> pl.DataFrame:
    ranks = tables["ranks"]
    candidates = ranked_candidates(ranks).select(pl.len()).collect().item()
    pooled = "pool_depth" in ranks.collect_schema()
    depth = ranks.select(pl.col("pool_depth").max()).collect().item() if pooled else None
    sampled = "sample" in tables
    return baseline(draws, n_candidates=candidates, sampled=sampled, pool=depth, **limits)
