"""Views of precision: graphs and tables at chosen n, average precision, and chosen lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from pipeline.findings.base import StageOptions, StageView
from pipeline.findings.collocations.precision import GuaranteeOptions, stages_on_same_lists
from pipeline.kernels.measure import measure_title
from pipeline.kernels.statistics.exact_tests import CORRECTIONS
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.report import charts
from pipeline.report.charts.spec import thin_values
from pipeline.report.view import (
    Block,
    Column,
    Fold,
    Listing,
    StyleOptions,
    Text,
    ViewOptions,
    count_of,
    figure,
    format_decimals,
    format_estimate,
    format_percent,
    listing,
    place_in,
    select_names,
    share_limits,
    view,
)
from pipeline.report.views.collocations.graphs import (
    Drawing,
    Graph,
    Scope,
    cuts_of,
    extent,
    graph_block,
    lines_of,
    looks_blocks,
    of_sample,
    resolve_graphs,
    scopes,
)
from schemas import BestMeasures
from schemas.errors import count_text

# Average precision


class AveragePrecisionView(StyleOptions):
    """Options of the section on average precision."""

    measures: tuple[str, ...] = ()
    """Show these measures, in this order; by default all."""
    category: str | None = None
    """Show one category of true positives; by default all."""


@view(
    "evaluate.average_precision", options=AveragePrecisionView, title="Average precision",
    of=of_sample, place=22,
)  # fmt: skip
def show_average_precision(stage: StageView, options: AveragePrecisionView) -> Sequence[Block]:
    """Show the estimates of each category with their limits."""
    every = stage.table("average_precision").collect()
    selection = scopes(stage, every["category"], options.category)
    if not selection:
        return [Text("No candidate is judged, so average precision cannot be estimated.")]
    return [block for scope in selection for block in _average_precision_of(scope, options)]


def _average_precision_of(scope: Scope, options: AveragePrecisionView) -> Iterator[Block]:
    every = scope.query("average_precision").sort(
        "average_precision", "measure", descending=[True, False], nulls_last=True
    )  # fmt: skip
    mine = every.collect()
    names = select_names(
        options.measures, mine["measure"].to_list(), where=scope.option("measures")
    )
    ordered = mine.filter(pl.col("measure").is_in(names)).sort(place_in(names, "measure"))
    caption = f"Average precision{scope.text} of each ranking: {_average_precision_text(ordered)}"
    yield figure(scope.file("average-precision"), caption, partial(
        charts.whisker_chart, _whiskers(ordered), x_title="average precision (%)", percent=True
    ), options.look)  # fmt: skip
    columns = [
        Column("measure", text=measure_title),
        Column(("average_precision", "lower", "upper"), "average precision (%)", _average_estimate),
        Column("k_sampled", "judged TP"),
        Column("n_sampled", "judged"),
    ]
    yield listing(
        scope.file("average-precision"), f"Average precision (%){scope.text}.", ordered,
        columns,
    )  # fmt: skip
    at = scope.query("at_recall").filter(pl.col("measure").is_in(names)).collect()
    if at.height:
        yield _at_recall(scope, at.sort(place_in(names, "measure"), "recall"))


def _at_recall(scope: Scope, rows: pl.DataFrame) -> Listing:
    """Return the table of precision at fixed recalls, a column for each recall."""
    base = _base_text(rows.row(0, named=True))
    caption = (
        f"Precision (%){scope.text} of the shortest list that reaches each recall, with its size n."
        f" Recall is over {base}."
    )
    columns = [
        Column("measure", text=measure_title),
        *(
            Column(("precision", "n"), f"recall {100 * recall:g} %", _list_at_recall,
                   at=("recall", recall), right=True)
            for recall in rows["recall"].unique().sort()
        ),
    ]  # fmt: skip
    return listing(scope.file("at-recall"), caption, rows, columns, by=["measure"])


def _list_at_recall(precision: float | None, n: int | None) -> str:
    return "not reached" if n is None else f"{format_percent(precision)} ({n:,})"


def _base_text(row: Mapping[str, Any]) -> str:
    """Describe the true positives that recall counts."""
    if row["base"] == "ranked":
        return "all true positives"
    whole = "of the whole list" if row["base"] == "gold" else "of the list among all candidates"
    return f"the {row['positives']:,} positives {whole}"


def _average_precision_text(rows: pl.DataFrame) -> str:
    """Define it, and describe the data and the limits."""
    row = rows.row(0, named=True)
    upto = f" up to a recall of {100 * row['recall']:g} %" if row["recall"] < 1 else ""
    definition = (
        f"the mean precision of the lists that end with a true positive,{upto} over "
        f"{_base_text(row)}. "
    )
    if row["n_sampled"] == row["n_candidates"]:
        whole = f"All {row['n_candidates']:,} candidates are judged"
        return f"{definition}{whole}, so there are no limits."
    name = "xinfAP, with unequal inclusion probabilities" if row["unequal"] else "infAP"
    return (
        f"{definition}Estimated from {row['n_sampled']:,} judged of {row['n_candidates']:,} "
        f"candidates ({name}), with pointwise {100 * row['confidence']:g} % limits. Measures share "
        "judged candidates, so overlapping limits do not show that there is no difference."
    )


def _whiskers(rows: pl.DataFrame) -> pl.DataFrame:
    titles = {name: measure_title(name) for name in rows["measure"]}
    return rows.select(
        group=pl.lit(""), label=pl.col("measure").replace(titles), kind=pl.lit(""),
        estimate="average_precision", lower="lower", upper="upper",
    )  # fmt: skip


def _average_estimate(value: float | None, lower: float, upper: float) -> str:
    exact = value is not None and lower == upper
    return (
        format_percent(value) if exact else f"{format_percent(value)} {share_limits(lower, upper)}"
    )


# Thresholds: where precision reaches a threshold, simultaneously for all n


def band_threshold_blocks(scope: Scope) -> Iterator[Block]:
    """Yield the table, unless there is no band or no threshold."""
    rows = scope.query("band_thresholds").collect().sort("threshold", "measure")
    if rows.is_empty():
        return
    row = rows.row(0, named=True)
    caption = (
        f"List sizes that reach a required precision{scope.text}: the largest n up to which every "
        "list is at least that precise, and the smallest n from which every list is less precise. "
        f"Holds for all n from {row['first_n']:,} to {max(rows['last_n']):,} simultaneously, with "
        f"{100 * row['confidence']:g} % confidence for each measure."
    )
    columns = [
        Column("threshold", "required precision", lambda share: f"{100 * share:g} %", right=True),
        Column("measure", text=measure_title),
        Column("at_least_to", "reached up to n", _list_size),
        Column("below_from", "not reached from n", _list_size),
    ]
    yield listing(scope.file("thresholds"), caption, rows, columns)


def _list_size(n: int | None) -> str:
    return "not shown" if n is None else f"{n:,}"


# Chosen measure and list size


@view("evaluate.choice", title="Chosen list", of=of_sample, place=5)
def show_choice(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show the chosen list, the criterion, and the precision with its limits."""
    choice = stage.table("choice").collect().sort("category")
    if choice.is_empty():
        return [Text("No candidate is judged, so no list was chosen.")]
    return [*(Text(_choice_text(row)) for row in choice.to_dicts()), *_guarantee(stage)]


def _guarantee(stage: StageView) -> Iterator[Block]:
    """Show the tests behind a guarantee, in the order in which they were made."""
    options = stage.options_as(GuaranteeOptions)
    if not options.guarantee or options.min_precision is None:
        return
    tests = stage.table("guarantee").collect().sort("category", "measure", "place")
    least, sure = f"{100 * options.min_precision:g} %", f"{100 * options.confidence:g} %"
    caption = (
        f"Lists with a guaranteed precision of {least}, with one-sided lower limits. The lists of "
        "each measure are tested in the declared order of sizes until one fails, at alpha divided "
        f"by the number of measures. With {sure} confidence, every list that passed has a "
        f"precision of at least {least}. Skipped: the list has too few judged draws to pass."
    )
    yield listing(
        "guarantee", caption, tests,
        [
            Column("measure", text=measure_title), Column("n"),
            Column(("k_sampled", "n_sampled"), "TP of judged", count_of),
            Column("lower_one_sided", "lower limit (%)", format_percent),
            Column(("testable", "tested", "passed"), "test", _outcome, right=False),
        ],
    )  # fmt: skip


def _outcome(testable: bool, tested: bool, passed: bool) -> str:
    """Return the outcome of a test.

    Examples
    --------
    >>> _outcome(True, True, True), _outcome(True, True, False), _outcome(True, False, False)
    ('passed', 'failed', 'not reached')
    >>> _outcome(False, False, False)
    'skipped'
    """
    if not testable:
        return "skipped"
    return "passed" if passed else "failed" if tested else "not reached"


def _choice_text(row: Mapping[str, Any]) -> str:
    pointwise = share_limits(row["lower"], row["upper"])
    simultaneous = share_limits(row["lower_simultaneous"], row["upper_simultaneous"])
    return (
        f"Chosen for {row['category']}: the top {row['n']:,} by {measure_title(row['measure'])} "
        f"({row['criterion']}), out of {row['considered']:,} lists. Estimated precision "
        f"{format_percent(row['precision'])} %, recall {format_percent(row['recall'])} %, with "
        f"{row['k_sampled']:,} true positives in {row['n_sampled']:,} judged draws. Report the "
        f"{100 * row['confidence']:g} % limits that account for the choice, {simultaneous}; those "
        f"of this list alone are {pointwise}."
    )


# Precision corrected for annotator errors


def corrected_blocks(scope: Scope) -> Iterator[Block]:
    """Yield the table, unless nothing is corrected."""
    lists = scope.query("corrected").collect().sort("n", "measure")
    if lists.is_empty():
        return
    caption = (
        f"Precision (%){scope.text}, corrected for annotator errors: "
        f"{_rates(lists.row(0, named=True))}. Errors are assumed to be independent and equally "
        "frequent in all lists; the limits account for the uncertainty of all estimates."
    )
    columns = [
        Column("measure", text=measure_title),
        Column("n"),
        Column("precision", "as judged (%)", lambda value: format_percent(value, digits=1)),
        Column(
            ("corrected", "lower_corrected", "upper_corrected"), "corrected (%)", format_estimate
        ),
    ]
    yield listing(scope.file("corrected"), caption, lists, columns)


def _rates(row: Mapping[str, Any]) -> str:
    """Give the error rates of the annotators, and the data behind them."""
    rates = [
        f"{name} {format_percent(row[name], digits=1)} %"
        + ("" if row[n] is None else f" (of {row[n]:,} candidates)")
        for name, n in (("sensitivity", "n_true"), ("specificity", "n_false"))
    ]
    return ", ".join(rates)


# Sentences: baseline, sample, limits, thresholds


def baseline_text(baseline: Mapping[str, Any]) -> str:
    """Describe the baseline, the sample and the intervals.

    Parameters
    ----------
    baseline : mapping
        A row of `schemas.Baseline`.
    """
    sentences = (
        _baseline_sentence(baseline),
        _sample_text(baseline),
        _pool_text(baseline),
        _interval_text(baseline),
    )
    return " ".join(sentence for sentence in sentences if sentence)


def _pool_text(row: Mapping[str, Any]) -> str:
    if row.get("pool") is None:
        return ""
    return (
        "All results are conditional on a pool: the union of the top "
        f"{row['pool']:,} of the pooled measures replaces the data set. Baseline and recall refer "
        "to the pool."
    )


def _baseline_sentence(row: Mapping[str, Any]) -> str:
    limits = share_limits(row["lower"], row["upper"])
    counts = f"{row['k_sampled']:,} true positives in {row['n_sampled']:,} judged draws"
    return f"The baseline is {format_percent(row['precision'])} % {limits}: {counts}."


def _sample_text(row: Mapping[str, Any]) -> str:
    drawn, whole = row["n_drawn"], row["n_candidates"]
    unjudged, undecided = row["n_unjudged"], row["n_undecided"]
    size = f"All {whole:,} candidates were used; no sample was drawn."
    if row["sampled"]:
        rate = format_percent(drawn / whole if whole else None, digits=1)
        size = f"The sample has {drawn:,} draws from {whole:,} candidates ({rate} %)."
    texts = [count_text(unjudged, "unjudged draw")] if unjudged else []
    if undecided:
        texts.append(f"{count_text(undecided, 'draw')} with conflicting judgements")
    if not texts:
        return f"{size} All are judged."
    return f"{size} The estimates exclude {' and '.join(texts)}."


def _interval_text(row: Mapping[str, Any]) -> str:
    method = INTERVALS.title(row["interval"])
    kind = f"{100 * row['confidence']:g} % confidence limits ({method})"
    if not row["sampled"] and row["n_sampled"] == row["n_drawn"]:
        return (
            f"The estimates are exact for this data set; the {kind} apply only if the data set is "
            "regarded as a sample from a larger population."
        )
    return (
        f"Brackets, bands and dotted lines are {kind} for the value that judging all candidates "
        "would give. They are pointwise, for each n separately, and do not hold for a whole curve "
        "simultaneously."
    )


def threshold_text(thresholds: pl.DataFrame, *, of: str = "") -> list[str]:
    """Say from which n the lower limit of each measure stays under each threshold.

    Parameters
    ----------
    thresholds : DataFrame
        `schemas.Thresholds`, one category.
    of : str
        The category as captions name it.

    Examples
    --------
    >>> found = pl.DataFrame({"measure": ["mi", "dice"], "threshold": [0.2, 0.2], "n": [90, None]})
    >>> threshold_text(found)[0].partition(": ")[2]
    'MI 90; Dice never.'
    """
    ordered = thresholds.sort(
        "threshold", "n", "measure", descending=[False, True, False], nulls_last=True
    )
    return [_threshold(rows, of) for rows in ordered.partition_by("threshold", maintain_order=True)]


def _threshold(rows: pl.DataFrame, of: str) -> str:
    share_wanted = f"{100 * rows['threshold'][0]:g} %"
    from_n = [
        f"{measure_title(measure)} {'never' if n is None else format(n, ',')}"
        for measure, n in rows.select("measure", "n").iter_rows()
    ]
    return (
        f"The pointwise lower confidence limit of precision{of} stays under {share_wanted} from "
        f"these n: {'; '.join(from_n)}."
    )


# Precision at chosen n

CLUSTERS = (
    Column("clusters"),
    Column(
        "effective_clusters", "effective clusters", lambda value: format_decimals(value, digits=1)
    ),
    Column("design_effect", "design effect", lambda value: format_decimals(value, digits=1)),
)
"""The data behind a bootstrap over clusters."""
FIGURE_SPACE = "\u2007"
NO_BREAK = "\u00a0"
ESTIMATE, TIES = ("precision", "lower", "upper"), ("tp_min", "tp_max")


def precision_listing(frame: pl.DataFrame, measures: Sequence[str], scope: Scope) -> Listing:
    """Return a row per measure and columns for each n: precision, limits, tie range.

    Parameters
    ----------
    frame : DataFrame
        `schemas.Precision` or `schemas.DesignedPrecision` at the cuts, one category.
    measures : sequence of str
        The rows, in this order.
    scope : Scope
        Stage and category.
    """
    ordered = frame.sort(place_in(measures, "measure"), "n")
    ties = set(TIES) <= set(ordered.columns)
    caption = f"Precision (%) at chosen n{scope.text}, with confidence limits in brackets."
    if ties and (ordered[TIES[0]] != ordered[TIES[1]]).any():
        caption += (
            " Ties: the range of true positives (TP) over all ways to break a tie at the cut."
        )
    cuts = sorted(set(ordered["n"]))
    of = (*ESTIMATE, *(TIES if ties else ()))
    columns = [Column(of, f"n = {n:,}", _with_ties, right=False, at=("n", n)) for n in cuts]
    every = pl.DataFrame({"measure": measures}, schema={"measure": pl.String})
    return listing(
        scope.file("precision"), caption, ordered,
        [Column("measure", text=measure_title), *columns], by=["measure"],
        source=every.join(ordered, on="measure", how="left", maintain_order="left_right"),
    )  # fmt: skip


def clustered_listing(frame: pl.DataFrame, scope: Scope) -> Listing:
    """Return a row per list: its precision if whole clusters of candidates are drawn.

    Parameters
    ----------
    frame : DataFrame
        `schemas.ClusteredPrecision`, one category, with rows.
    scope : Scope
        Stage and category.
    """
    caption = (
        f"Precision (%) at the declared n{scope.text}, with limits from a bootstrap over clusters: "
        f"all candidates with the same {frame['cluster'][0]} are drawn together. Effective "
        "clusters: the number of clusters of equal size with the same variance; design effect: the "
        "variance relative to that of independent candidates."
    )
    columns = [
        Column("measure", text=measure_title), Column("n"),
        Column("precision", "precision (%)", format_percent),
        Column(("lower", "upper"), "limits (%)", share_limits), *CLUSTERS,
    ]  # fmt: skip
    return listing(scope.file("clustered"), caption, frame.sort("n", "measure"), columns)


def _with_ties(
    precision: float | None,
    lower: float | None,
    upper: float | None,
    tp_min: int | None = None,
    tp_max: int | None = None,
) -> str:
    # Padded with a blank as wide as a digit, so that the decimal points are aligned.
    aligned = format_percent(precision).rjust(5, FIGURE_SPACE)
    text = f"{aligned} {share_limits(lower, upper, digits=1)}"
    return text if tp_min == tp_max else f"{text}\nties: {tp_min:,} to {tp_max:,} TP"


# Worst case: unjudged draws all false, or all true


def worst_case_blocks(scope: Scope) -> Iterator[Block]:
    """Yield the table in a fold, unless every draw is judged."""
    lists = scope.query("worst_case").collect().sort("n", "measure")
    if lists.is_empty():
        return
    caption = (
        f"Precision (%) with its limits{scope.text}, from the judged draws only, and with all "
        "unjudged or conflicting draws counted first as false, then as true positives. The first "
        "lower limit and the second upper limit hold whatever their labels are."
    )
    cases = [("", "judged only"), ("_if_false", "all false"), ("_if_true", "all true")]
    columns = [
        Column(
            (f"precision{each}", f"lower{each}", f"upper{each}"), head, format_estimate, right=False
        )
        for each, head in cases
    ]
    first = (Column("measure", text=measure_title), Column("n"), Column("n_unjudged", "unjudged"))
    table = listing(scope.file("worst-case"), caption, lists, [*first, *columns])
    yield Fold("Precision if all unjudged draws were false, or true", [table])


# The view


class PrecisionView(Graph):
    """Options of the section on n-best precision: a graph, and further graphs."""

    category: str | None = None
    """Show one category of true positives; by default all."""
    graphs: tuple[Graph, ...] = ()
    """Draw further graphs; they inherit the options of the first."""


# At a glance: all lists at the declared sizes

BEST, OPEN = "●", "○"
"""Marks of the best lists of a size, and of those not significantly worse."""
_MOST_SIZES = 6


def overview_listing(lists: pl.DataFrame, best: pl.DataFrame, *, sure: str) -> Listing | None:
    """Return a row per measure and a column per size: precision, limits, and a mark.

    Parameters
    ----------
    lists : DataFrame
        category, measure, n, precision, lower, upper of the lists at the declared sizes.
    best : DataFrame
        `schemas.BestMeasures` of the tests between them; may be empty.
    sure : str
        The tests, for the caption.

    Returns
    -------
    Listing or None
        The best measure first; None without an estimate.
    """
    known = lists.drop_nulls("precision")
    if known.is_empty():
        return None
    sizes = thin_values(sorted(set(known["n"])), points=_MOST_SIZES - 1)
    keys = ["category", "measure", "n"]
    marked = lists.filter(pl.col("n").is_in(sizes)).join(
        best.select(*keys, "best"), on=keys, how="left"
    )
    several = marked["category"].n_unique() > 1
    order = (
        marked.group_by("category", "measure")
        .agg(won=pl.col("best").sum(), held=pl.col("best").len(), mean=pl.col("precision").mean())
        .sort("category", "won", "mean", "measure", descending=[False, True, True, False])
    )
    ordered = order.select("category", "measure").join(
        marked, on=["category", "measure"], how="left", maintain_order="left"
    )
    note = (
        f" {BEST} highest at this size; {OPEN} not significantly lower ({sure})."
        if marked["best"].drop_nulls().len()
        else ""
    )
    of = (*ESTIMATE, "best")
    columns = [
        *([Column("category")] if several else []), Column("measure", text=measure_title),
        *(Column(of, f"n = {n:,}", _format_cell, right=False, at=("n", n)) for n in sizes),
    ]  # fmt: skip
    caption = f"Precision (%) of the top n, with confidence limits.{note}"
    return listing("overview", caption, marked, columns, by=["category", "measure"], source=ordered)


def _format_cell(
    precision: float | None, lower: float | None, upper: float | None, best: bool | None
) -> str:
    if precision is None:
        return "–"
    mark = {True: BEST, False: OPEN, None: FIGURE_SPACE}[best]
    aligned = format_percent(precision, digits=1).rjust(4, FIGURE_SPACE)
    ends = share_limits(lower, upper, digits=1).replace(" ", NO_BREAK)
    return f"{mark}{NO_BREAK}{aligned} {ends}"


def precision_overview(stage: StageView) -> Listing | None:
    """Return the lists at the declared sizes, marked by the comparison of the same sample."""
    tests = next(iter(stages_on_same_lists(stage, "evaluate.comparison")), None)
    best = BestMeasures.zero_rows().collect() if tests is None else tests.table("best").collect()
    sure = ""
    if tests is not None:
        how = tests.options_as(PairTestOptions)
        sure = tests_text(how.correction, how.alpha)
    return overview_listing(stage.table("cuts").collect(), best, sure=sure)


class PairTestOptions(StageOptions):
    """How a stage tests all pairs."""

    correction: str
    alpha: float


def tests_text(correction: str, alpha: float) -> str:
    """Return a short description of the tests of all pairs.

    Examples
    --------
    >>> tests_text("holm", 0.05)
    "all pairs and sizes, Holm's method, 5 %"
    """
    return f"all pairs and sizes, {CORRECTIONS.title(correction)}, {100 * alpha:g} %"


@view(
    "evaluate.precision",
    options=PrecisionView,
    title="Precision of n-best lists",
    of=of_sample,
    place=20,
    overview=precision_overview,
    leading="precision",
    tests=partial(stages_on_same_lists, use="evaluate.comparison"),
)
def show_precision(stage: StageView, options: PrecisionView) -> Sequence[Block]:
    """Show graphs, the baseline, a table at the cuts and thresholds for each category."""
    baseline = stage.table("baseline").collect()
    selection = scopes(stage, baseline["category"], options.category)
    if not selection:
        return [Text("No candidate is judged, so precision cannot be estimated.")]
    blocks = [block for scope in selection for block in _category(scope, options, baseline)]
    return [*blocks, *looks_blocks(stage)]


def _category(scope: Scope, options: PrecisionView, baselines: pl.DataFrame) -> Iterator[Block]:
    baseline = baselines.filter(category=scope.category)
    query = scope.query("precision")
    names, last = extent(query)
    if not baseline["n_sampled"].item() or not last:
        yield Text(f"No candidate is judged in category {scope.category}.")
        return
    drawings = [
        Drawing(scope, graph, place, baseline)
        for place, graph in resolve_graphs(options, options.graphs)
    ]
    yield from map(graph_block, drawings)
    yield Text(baseline_text(baseline.row(0, named=True)))
    cuts = cuts_of(drawings[0], last)
    if cuts:
        selection, _ = lines_of(drawings[0], query, names, cuts)
        measures = selection if options.measures else names
        at_cuts = query.filter(pl.col("n").is_in(cuts), pl.col("measure").is_in(measures))
        yield precision_listing(at_cuts.collect(), measures, scope)
    yield from corrected_blocks(scope)
    yield from worst_case_blocks(scope)
    clustered = scope.query("clustered").filter(pl.col("measure").is_in(options.measures or names))
    by_clusters = clustered.collect()
    if by_clusters.height:
        yield Fold("Precision by clusters", [clustered_listing(by_clusters, scope)])
    yield from map(Text, threshold_text(scope.query("thresholds").collect(), of=scope.text))
    yield from band_threshold_blocks(scope)
