"""N-best precision with intervals, at every n, and the choice of measure and list size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Literal

import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.nbest.clustered import clustered_precision
from pipeline.kernels.nbest.precision import (
    CRITERIA,
    GUARANTEED,
    Steps,
    baseline,
    choose,
    corrected_lists,
    counts_at,
    counts_in_parts,
    crossings,
    cut_lists,
    eligible_lists,
    error_rates,
    guaranteed_lists,
    iterate_counts,
    known_rates,
    local_precision,
    positives,
    precision_columns,
    ranked_candidates,
    recall_columns,
    simultaneous_bands,
    simultaneous_limits,
    stays_below,
    steps_of,
    threshold_rows,
    worst_cases,
)
from pipeline.kernels.numeric import column_ratio
from pipeline.kernels.statistics.intervals import INTERVALS, clopper_pearson
from pipeline.kernels.statistics.sequential import confidence_sequence
from pipeline.stages.base import Of, Outputs, Proportion, StageConfig, Tables, stage
from pipeline.stages.collocations.evaluation import (
    ByCluster,
    EstimateOptions,
    Evaluation,
    FirstToLast,
    IntervalOptions,
    ListSizes,
    RecallOptions,
    bootstrap_options,
    chosen_category,
    chosen_ranks,
    clusters_of,
    draws_without_unjudged,
    ranks_of_all,
    recall_base,
    require_all_judged,
    sizes_along,
)
from pipeline.stages.collocations.interim import (
    InterimOptions,
    SimpleLook,
    questions_at_cuts,
    require_in_order,
    simple_look,
)
from schemas import (
    BandThresholds,
    Baseline,
    Choice,
    ClusteredPrecision,
    CorrectedPrecision,
    CutLists,
    Guarantees,
    Judgements,
    LocalPrecision,
    Looks,
    Precision,
    Recall,
    SimultaneousBands,
    Thresholds,
    WorstCase,
)

# Correction for annotation errors


class CorrectionOptions(StageConfig):
    """Options for correcting precision for annotation errors."""

    sensitivity: float | None = Field(default=None, gt=0, le=1)
    """Known share of true positives judged as true, for the table `corrected`.
    """
    specificity: float | None = Field(default=None, gt=0, le=1)
    """Known share of false positives judged as false."""
    truth: Annotated[str | None, Of(Judgements)] = None
    """Alternative: correct judgements of a random part."""

    @model_validator(mode="after")
    def _one_source(self) -> CorrectionOptions:
        values = [each for each in (self.sensitivity, self.specificity) if each is not None]
        if values and self.truth:
            raise ValueError("give either truth, or sensitivity and specificity")
        if values and sum(values) + 2 - len(values) <= 1:
            raise ValueError(
                f"sensitivity and specificity add up to {sum(values):g}, but must exceed 1 for "
                "judgements to be informative"
            )
        return self

    @property
    def corrects(self) -> bool:
        """True if a correction is requested."""
        return any(each is not None for each in (self.sensitivity, self.specificity, self.truth))


def correct_lists(
    config: CorrectionOptions,
    tables: Tables,
    lists: pl.DataFrame,
    *,
    categories: pl.Series,
    method: str,
    confidence: float,
) -> pl.DataFrame | pl.LazyFrame:
    """Return the corrected precision of these lists; empty unless requested.

    Finite-population intervals are replaced by Clopper-Pearson: annotation errors are random even
    if all candidates are judged.
    """
    if not config.corrects or categories.is_empty():
        return CorrectedPrecision.zero_rows()
    how = IntervalOptions(method=_for_populations(method), confidence=confidence)
    if "truth" in tables:
        judged, truth = tables["judgements"].collect(), tables["truth"].collect()
        rates = error_rates(judged, truth, **how)
        _require_both(rates, categories)
    else:
        numbers = {"sensitivity": config.sensitivity, "specificity": config.specificity}
        known = {name: 1.0 if value is None else value for name, value in numbers.items()}
        rates = known_rates(categories, known)
    return corrected_lists(lists, rates, **how)


def _for_populations(method: str) -> str:
    """Return the method, with Clopper-Pearson in place of finite-population methods."""
    return clopper_pearson.__name__ if INTERVALS.get(method).finite else method


def _require_both(rates: pl.DataFrame, categories: pl.Series) -> None:
    """Reject truth that shares no candidate with the judgements in any category."""
    if rates.is_empty():
        names = ", ".join(categories.unique().sort().head(3))
        what = f"no candidate is both judged and in `truth`, for example in the categories {names}"
        remedy = "truth must judge some of these candidates in the same categories"
        raise ConfigError("truth", [Problem("truth", what, remedy)])


# Further tables, empty unless requested by options


def local(
    steps: Sequence[Steps], *, window: int | None, method: str, confidence: float
) -> Iterator[pl.DataFrame]:
    """Yield the precision in every window of ranks, in parts."""
    if window is not None:
        for after, counts in iterate_counts(steps, before=window):
            table = local_precision(counts, window=window, method=method, confidence=confidence)
            yield table.filter(pl.col("last_rank") > after).select(*LocalPrecision.columns())


def recall(
    counts: pl.DataFrame, positives: pl.DataFrame, *, method: str, confidence: float
) -> pl.DataFrame:
    """Return the recall of every list with its interval.

    Finite-population intervals are replaced by Clopper-Pearson: the population, all true positives,
    has unknown size.
    """
    method = _for_populations(method)
    table = recall_columns(counts, positives=positives, method=method, confidence=confidence)
    return table.select(*Recall.columns())


def cut(steps: Sequence[Steps], *, size: int | None) -> pl.DataFrame | pl.LazyFrame:
    """Return precision and recall within the cut-best list of each measure."""
    if size is None:
        return CutLists.zero_rows()
    shares = cut_lists(counts_at(steps, range(1, size + 1)), cut=size).with_columns(
        precision=column_ratio("k_sampled", "n_sampled"),
        recall=column_ratio("k_sampled", "positives"),
    )
    return shares.select(*CutLists.columns())


def thresholds(precision: pl.DataFrame, *, levels: Sequence[float]) -> pl.LazyFrame:
    """Return the list size from which each measure stays below each threshold."""
    sizes = [
        stays_below(precision, threshold=each).with_columns(threshold=pl.lit(each, pl.Float64))
        for each in sorted(set(levels))
    ]
    columns = list(Thresholds.columns())
    parts = [each.lazy().select(columns) for each in sizes]
    return pl.concat([Thresholds.zero_rows(), *parts]).sort(*Thresholds.key())


def bands(
    steps: Sequence[Steps],
    ranks: pl.LazyFrame,
    draws: pl.DataFrame,
    *,
    sizes: tuple[int, int] | None,
    replicates: int,
    seed: str,
    method: str,
    confidence: float,
) -> pl.DataFrame | pl.LazyFrame:
    """Return the simultaneous limits of each measure over a range of list sizes."""
    if sizes is None:
        return SimultaneousBands.zero_rows()
    first, last = sizes
    counts = counts_at(steps, range(first, last + 1))
    return simultaneous_bands(
        counts, ranks.collect(), draws, method=method, confidence=confidence,
        replicates=replicates, seed=seed,
    )  # fmt: skip


def worst_case(
    lists: pl.DataFrame,
    ranks: pl.LazyFrame,
    draws: pl.DataFrame | None,
    *,
    method: str,
    confidence: float,
) -> pl.DataFrame | pl.LazyFrame:
    """Return lists with unjudged draws, assuming these were all false or all true.

    Without draws, all candidates count.
    """
    if draws is not None and not draws["tp"].null_count():
        return WorstCase.zero_rows()
    return worst_cases(lists, ranks, draws, method=method, confidence=confidence)


def band_thresholds(
    limits: pl.DataFrame | pl.LazyFrame, *, levels: Sequence[float], confidence: float
) -> pl.DataFrame | pl.LazyFrame:
    """Return the ranges above and below each threshold, by the bands."""
    band = limits.lazy().collect()
    if band.is_empty() or not levels:
        return BandThresholds.zero_rows()
    return crossings(band, thresholds=sorted(set(levels)), confidence=confidence)


# Precision of every n-best list


class EvaluatePrecision(
    ByCluster, RecallOptions, EstimateOptions, CorrectionOptions, InterimOptions
):
    """Estimate the precision of every n-best list from the judged candidates."""

    cuts: ListSizes = (100, 500, 1000, 2000)
    """List sizes."""
    window: int | None = Field(default=None, ge=1)
    """Window size of the table `local` (precision among the ranks around n)."""
    recall: bool = False
    """Make the table `recall`, with intervals."""
    cut: int | None = Field(default=None, ge=1)
    """Make the table `cut`: lists of this size, treated as whole data sets."""
    thresholds: tuple[Proportion, ...] = ()
    """Make the table `thresholds`: the n from which the pointwise lower limit stays below each
    value (with bands, also `band_thresholds`).
    """
    band: Literal["pointwise", "simultaneous"] = "pointwise"
    """``simultaneous`` makes `bands`, with limits that hold at all n of a range."""
    band_range: FirstToLast | None = None
    """First and last n of the range (default: smallest and largest cut)."""
    replicates: int = Field(default=10_000, ge=100)
    """Number of simulations of a band."""

    @model_validator(mode="after")
    def _a_range(self) -> EvaluatePrecision:
        if self.band == "pointwise":
            if self.band_range is not None:
                raise ValueError('band_range requires band = "simultaneous"')
        elif self.band_range is None and not self.cuts:
            raise ValueError("a simultaneous band without cuts needs band_range")
        return self

    @model_validator(mode="after")
    def _at_any_time(self) -> EvaluatePrecision:
        options = {
            "interval": "interval" in self.model_fields_set,
            "recall": self.recall,
            "band": self.band != "pointwise",
            "sensitivity, specificity and truth": self.corrects,
        }
        other = [name for name, is_set in options.items() if is_set and self.anytime]
        if other:
            raise ValueError(f"anytime = true has its own limits: omit {', '.join(other)}")
        return self

    @model_validator(mode="after")
    def _no_clusters_at_looks(self) -> EvaluatePrecision:
        if self.clusters and (self.looks or self.anytime):
            raise ValueError(
                "clusters cannot be combined with interim analyses: omit clusters or looks"
            )
        return self

    @property
    def over_all_n(self) -> tuple[int, int]:
        """First and last n at which a simultaneous band holds."""
        return self.band_range or (min(self.cuts), max(self.cuts))


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
        "corrected": CorrectedPrecision,
        "clustered": ClusteredPrecision,
        "looks": Looks,
    },
)
def evaluate_precision(config: EvaluatePrecision, tables: Tables) -> Iterator[Outputs]:
    """Count draws and true positives in every list, then estimate."""
    draws = draws_without_unjudged(tables)
    config.check(draws)
    ranks = chosen_ranks(config, tables)
    finite = INTERVALS.get(config.interval).finite
    look = simple_look(config, tables, alpha=1.0 - config.confidence, finite=finite)
    limits = _limits(config, tables, ranks, look)
    steps, totals = steps_of(ranks, draws.lazy()), _total_positives(config, tables, draws)
    for_thresholds = []
    for counts in counts_in_parts(steps):
        every = precision_columns(counts, positives=totals, **limits)
        for_thresholds.append(threshold_rows(every, thresholds=config.thresholds))
        yield {"precision": every}
        if config.recall:
            yield {"recall": recall(counts, totals, **limits)}
    for windows in local(steps, window=config.window, **limits):
        yield {"local": windows}
    lists = precision_columns(counts_at(steps, config.cuts), positives=totals, **limits)
    drawn = draws if "sample" in tables else None
    yield _without_rows(config, steps)
    yield {
        "baseline": _baseline(tables, draws, limits),
        "cuts": lists,
        "cut": cut(steps, size=config.cut),
        "thresholds": thresholds(pl.concat(for_thresholds), levels=config.thresholds),
        "worst_case": worst_case(lists, ranks, drawn, **limits),
        "corrected": correct_lists(config, tables, lists, categories=draws["category"], **limits),
        "clustered": _estimate_by_clusters(config, tables, ranks, draws),
        "looks": look.table(draws["category"]),
    }
    yield _bands(config, look, steps, ranks, draws)


def _total_positives(
    config: EvaluatePrecision, tables: Tables, draws: pl.DataFrame
) -> pl.DataFrame:
    """Count the true positives of recall: the judged ones, or those of a gold standard."""
    table = positives(draws)
    if config.positives is None:
        return table
    candidates = ranked_candidates(tables["ranks"]).select(pl.len()).collect().item()
    require_all_judged(draws, candidates=candidates, option="positives")
    base = recall_base(config, tables, draws)
    number = pl.col("category").replace_strict(base.positives or {}, return_dtype=pl.Int64)
    return table.with_columns(positives=number)


def _without_rows(config: EvaluatePrecision, steps: Sequence[Steps]) -> Outputs:
    """Return the tables of every n that are not requested or empty."""
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
    """Return simultaneous limits, and where they cross thresholds."""
    at_once = config.confidence if look.plan is None else 1.0 - look.simultaneous_level
    band = bands(
        steps,
        ranks,
        draws,
        sizes=config.over_all_n if config.band != "pointwise" else None,
        replicates=config.replicates,
        seed=config.seed,
        method=config.interval,
        confidence=at_once,
    )
    crossed = band_thresholds(band, levels=config.thresholds, confidence=at_once)
    return {"bands": band, "band_thresholds": crossed}


def _limits(
    config: EvaluatePrecision, tables: Tables, ranks: pl.LazyFrame, look: SimpleLook
) -> IntervalOptions:
    """Return the options of all intervals: at the level of this analysis, or anytime-valid."""
    if config.anytime:
        require_in_order(tables)
        level = (1.0 - config.confidence) / questions_at_cuts(ranks, config.cuts)
        return IntervalOptions(method=confidence_sequence.__name__, confidence=1.0 - level)
    confidence = config.confidence if look.plan is None else 1.0 - look.level
    return IntervalOptions(method=config.interval, confidence=confidence)


def _estimate_by_clusters(
    config: EvaluatePrecision, tables: Tables, ranks: pl.LazyFrame, draws: pl.DataFrame
) -> pl.DataFrame | pl.LazyFrame:
    """Estimate the lists at the declared cuts by a cluster bootstrap, if requested."""
    frame = ranks.collect() if config.clusters else pl.DataFrame()
    clusters = clusters_of(config, tables, frame)
    if clusters is None:
        return ClusteredPrecision.zero_rows()
    ranked = frame["measure"].unique().sort().to_list()
    return clustered_precision(
        ranks_of_all(frame, tables), draws, clusters, measures=ranked,
        at=sizes_along(frame, every=0, cuts=config.cuts),
        bootstrap=bootstrap_options(config, confidence=config.confidence),
    )  # fmt: skip


def _baseline(tables: Tables, draws: pl.DataFrame, limits: IntervalOptions) -> pl.DataFrame:
    ranks = tables["ranks"]
    candidates = ranked_candidates(ranks).select(pl.len()).collect().item()
    pooled = "pool_depth" in ranks.collect_schema()
    depth = ranks.select(pl.col("pool_depth").max()).collect().item() if pooled else None
    sampled = "sample" in tables
    return baseline(draws, n_candidates=candidates, sampled=sampled, pool=depth, **limits)


# Error messages if no list can be chosen


def no_list(option: str, last: int | None, sizes: Sequence[int]) -> Problem:
    """Explain why no list of these sizes can be estimated: too long, or not judged."""
    if last is not None and min(sizes) > last:
        what = f"the longest lists have {last:,} candidates, fewer than {min(sizes):,}"
        return Problem(option, what, "choose smaller sizes")
    listed = sorted({size for size in sizes if last is None or size <= last})
    text = ", ".join(f"{size:,}" for size in listed[:5])
    text += f" ... {listed[-1]:,}" if len(listed) > 5 else ""
    what = f"no candidate in the lists of size {text} has been judged"
    return Problem(option, what, "judge more candidates, or choose larger sizes")


def nothing_chosen(lists: pl.DataFrame, name: str, value: float) -> Problem:
    """List the nearest lists."""
    column = "recall" if name == "min_recall" else "precision"
    best = lists.drop_nulls(column).sort(column, "measure", descending=[True, False]).head(3)
    examples = [
        f"{row['measure']} at n = {row['n']:,} with {row[column]:.3f}"
        for row in best.iter_rows(named=True)
    ]
    if not examples:
        what = "recall is unknown: there are no true positives among the judged candidates"
        return Problem(name, what, "judge more candidates")
    what = f"no list reaches {name} = {value:g}; the best are {', '.join(examples)}"
    return Problem(name, what, "lower the requirement")


def not_guaranteed(tests: pl.DataFrame, value: float) -> Problem:
    """List the nearest lists, or report that there are too few draws to pass."""
    tested = tests.filter("tested").sort("lower_one_sided", "measure", descending=[True, False])
    if tested.is_empty():
        most = max(tests["n_sampled"])
        what = (
            f"no list of these sizes has enough judged draws ({most:,} at most) to guarantee "
            f"{value:g}, even if all were true positives"
        )
        return Problem("guarantee", what, "judge more candidates, or choose larger sizes")
    examples = ", ".join(
        f"{row['measure']} at n = {row['n']:,} with a lower limit of {row['lower_one_sided']:.3f}"
        f" ({row['k_sampled']:,} of {row['n_sampled']:,})"
        for row in tested.head(3).iter_rows(named=True)
    )
    what = (
        f"no list is guaranteed to reach min_precision = {value:g}: {tested.height:,} were tested, "
        f"for each measure until one failed; the nearest are {examples}"
    )
    remedy = (
        "judge more candidates, lower the requirement, name fewer measures, or put the most "
        "promising size first"
    )
    return Problem("guarantee", what, remedy)


# Choice of measure and list size from a preliminary sample


class EvaluateChoice(Evaluation, EstimateOptions):
    """Choose the measure and the list size from estimates of a sample."""

    category: str | None = None
    """Category of true positives; optional if there is only one."""
    sizes: ListSizes = Field(default=(100, 200, 500, 1000, 2000), min_length=1)
    """Candidate list sizes. More sizes mean wider corrected limits."""
    size: int | None = Field(default=None, ge=1)
    """Fix the list size, and choose the measure with the highest precision."""
    min_precision: Proportion | None = None
    """Choose the longest list with at least this estimated precision."""
    min_recall: Proportion | None = None
    """Choose the shortest list with at least this estimated recall."""
    guarantee: bool = False
    """Guarantee min_precision with the stated confidence; put the most promising of `sizes`
    first.
    """

    @model_validator(mode="after")
    def _one_criterion(self) -> EvaluateChoice:
        if sum(getattr(self, name) is not None for name in CRITERIA) != 1:
            raise ValueError(f"give exactly one of {', '.join(CRITERIA)}")
        return self

    @model_validator(mode="after")
    def _can_be_guaranteed(self) -> EvaluateChoice:
        if not self.guarantee:
            return self
        if self.min_precision is None:
            raise ValueError("guarantee requires min_precision")
        if self.interval not in GUARANTEED:
            names = " or ".join(GUARANTEED)
            raise ValueError(f"guarantee requires interval = {names}, not {self.interval}")
        if self.confidence <= 0.5:
            raise ValueError(f"guarantee requires a confidence above 0.5, not {self.confidence:g}")
        return self

    def criterion(self) -> tuple[str, float]:
        """Return the criterion and its value."""
        return next((name, value) for name in CRITERIA if (value := getattr(self, name)))


@stage(
    "evaluate.choice",
    config=EvaluateChoice,
    outputs={"choice": Choice, "guarantee": Guarantees},
)
def evaluate_choice(config: EvaluateChoice, tables: Tables) -> Outputs:
    """Estimate the precision of all lists considered, then choose."""
    draws = draws_without_unjudged(tables)
    config.check(draws)
    if draws.is_empty():
        return {"choice": Choice.zero_rows(), "guarantee": Guarantees.zero_rows()}
    category = chosen_category(config.category, draws)
    mine = draws.filter(category=category)
    limits = IntervalOptions(method=config.interval, confidence=config.confidence)
    steps = steps_of(chosen_ranks(config, tables), mine.lazy())
    sizes = [config.size] if config.size else list(config.sizes)
    every = precision_columns(counts_at(steps, sizes), positives=positives(mine), **limits)
    lists = eligible_lists(every, sizes=sizes)
    if lists.is_empty():
        last = max((each.size for each in steps), default=None)
        raise ConfigError("choice", [no_list("size" if config.size else "sizes", last, sizes)])
    tests = _tests(config, lists, limits)
    choice = _choose(config, lists, tests)
    return {"choice": _describe(config, choice, lists.height, limits), "guarantee": tests}


def _tests(config: EvaluateChoice, lists: pl.DataFrame, limits: IntervalOptions) -> pl.DataFrame:
    """Return the tests of a guarantee; empty without one."""
    if not config.guarantee or config.min_precision is None:
        return Guarantees.zero_rows().collect()
    rows = guaranteed_lists(lists, sizes=config.sizes, min_precision=config.min_precision, **limits)
    return rows.select(*Guarantees.columns()).sort(*Guarantees.key())


def _choose(config: EvaluateChoice, lists: pl.DataFrame, tests: pl.DataFrame) -> pl.DataFrame:
    """Return the list that meets the criterion, as one row."""
    name, value = config.criterion()
    if config.guarantee:
        passed = lists.join(tests.filter("passed"), on=["measure", "n"], how="semi")
        choice, problem = choose(passed, min_precision=0.0), partial(not_guaranteed, tests)
    else:
        choice = choose(lists, **{name: value})  # type: ignore[arg-type]  # options of several types
        problem = partial(nothing_chosen, lists, name)
    if choice.is_empty():
        raise ConfigError("choice", [problem(value)])
    return choice


def _describe(
    config: EvaluateChoice, choice: pl.DataFrame, lists: int, limits: IntervalOptions
) -> pl.DataFrame:
    name, value = config.criterion()
    described = simultaneous_limits(choice, tests=lists, **limits).with_columns(
        criterion=pl.lit(f"{name} = {value:g}{', guaranteed' if config.guarantee else ''}"),
        considered=pl.lit(lists, pl.Int64),
        confidence=pl.lit(config.confidence, pl.Float64),
        interval=pl.lit(config.interval),
    )
    return described.select(*Choice.columns())
