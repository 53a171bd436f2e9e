"""Views of a designed sample and of estimates from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from pipeline.findings.base import StageOptions, StageView
from pipeline.findings.collocations.designed import text_of_too_few_draws
from pipeline.findings.phrases import sentence
from pipeline.kernels.measure import measure_title
from pipeline.report import charts
from pipeline.report.charts.style import Extras, Window
from pipeline.report.view import (
    Block,
    Column,
    Fold,
    Listing,
    StyleOptions,
    Text,
    figure,
    format_percent,
    format_points,
    listing,
    p_value,
    point_limits,
    select_names,
    view,
)
from pipeline.report.views.collocations.comparison import PAIR, correction_of, starred_points
from pipeline.report.views.collocations.graphs import (
    Curves,
    Drawing,
    Graph,
    Scope,
    cuts_of,
    extent,
    graph_block,
    looks_blocks,
    of_sample,
    pair_titles,
    scopes_in,
    with_titles,
)
from pipeline.report.views.collocations.precision import (
    CLUSTERS,
    overview_listing,
    precision_listing,
    tests_text,
)
from schemas.errors import count_text

# The sample and its questions


class QuestionsView(StyleOptions):
    """Options of the section on a designed sample."""

    most: int = 30
    """Show this many questions, and the others in a fold."""


@view("sample.design", options=QuestionsView, title="Designed sample", place=30)
def show_questions(stage: StageView, options: QuestionsView) -> Sequence[Block]:
    """Show the number of draws, and each question with its expected half-widths."""
    questions = stage.table("questions").collect().sort("kind", "n", "measure", "measure_2")
    sample = stage.table("sample").select(drawn=pl.len(), certain=pl.col("certain").sum())
    drawn, certain = sample.collect().row(0)
    if questions.is_empty():
        return [Text("There are no ranked candidates, so there are no questions.")]
    blocks: list[Block] = [
        Text(_sample_text(questions, drawn, certain)),
        _listing(questions.head(options.most)),
    ]
    rest = questions.slice(options.most)
    if rest.height:
        blocks.append(
            Fold(count_text(rest.height, "further question"), [_listing(rest, "further-")])
        )
    return blocks


def _sample_text(questions: pl.DataFrame, drawn: int, certain: int) -> str:
    better = questions.filter(pl.col("half_width") > 0)
    gain = better.select(
        (pl.col("simple_half_width") / pl.col("half_width")).pow(2).median()
    ).item()  # fmt: skip
    gains = "" if gain is None else (
        " For half of the questions, the expected variance is lower than with a simple sample of "
        f"the same size from all candidates by a factor of at least {gain:.1f}."
    )  # fmt: skip
    sure = f", {certain:,} of them with certainty" if certain else ""
    return (
        f"{drawn:,} candidates were drawn{sure}. Inclusion probabilities are higher for candidates "
        f"that contribute more to the {count_text(questions.height, 'declared question')}.{gains} "
        "Half-widths are expected values, from the information available before annotation."
    )


def _listing(questions: pl.DataFrame, prefix: str = "") -> Listing:
    caption = (
        "The declared questions, with the expected half-width of the interval from this design and "
        "from a simple sample of the same size from all candidates (±, percentage points), and the "
        "expected number of draws among the candidates of the question."
    )
    return listing(f"{prefix}questions", caption, questions, QUESTIONS)


def _question(kind: str, measure: str | None, measure_2: str | None) -> str:
    if measure is None:
        return "baseline"
    first = measure_title(measure)
    return f"{first} − {measure_title(measure_2)}" if kind == "difference" and measure_2 else first


def _draws(expected: float) -> str:
    return f"{expected:,.0f}"


def _half(width: float) -> str:
    return f"{100 * width:.1f}"


QUESTIONS = (
    Column(("kind", "measure", "measure_2"), "question", _question, right=False),
    Column("n"),
    Column("expected_draws", "draws", _draws),
    Column("half_width", "designed ±", _half),
    Column("simple_half_width", "simple ±", _half),
)
"""A question and its expected precision."""


# Estimates

OF_DESIGN = (
    "Candidates were drawn with unequal probabilities: those that contribute more to the declared "
    "questions are more likely to be drawn. Each judgement is weighted by its inverse inclusion "
    "probability, which corrects for this. "
)
OF_STRATA = (
    "Each stratum of the sample is weighted by its share of the n-best list. There is no estimate "
    "if a stratum of the list has no judged draw. "
)
OF_ANY = "Each judgement is weighted by its inverse inclusion probability. "
_HOW_DRAWN = {"sample.design": OF_DESIGN, "sample.stratified": OF_STRATA}
LIMITS = (
    "Limits are for these candidates: Korn and Graubard's, for classes of candidates with similar "
    "probabilities; for differences MOVER with Wilson's limits and t quantiles. Fisher's test "
    "answers a different question, and is given where it applies."
)
HELPED = (
    " Predictions narrow the limits if they agree with the judgements; they never count as "
    "judgements."
)
MOST_PAIRS = 3
"""With more pairs, a graph of all of them is illegible."""


class DesignedView(Curves):
    """Options of the section on estimates from a sample of any design."""

    category: str | None = None
    """Show one category of true positives; by default all."""
    pairs: tuple[tuple[str, str], ...] | None = None
    """Draw these pairs in the graph of differences; by default all if there are at most three."""


class PairTestOptions(StageOptions):
    """How the stage tests all pairs."""

    correction: str
    confidence: float


def designed_overview(stage: StageView) -> Listing | None:
    """Return the lists at the declared sizes, with marks by the tests of the same stage."""
    lists, best = (stage.table(name).collect() for name in ("cuts", "best"))
    how = stage.options_as(PairTestOptions)
    return overview_listing(lists, best, sure=tests_text(how.correction, 1.0 - how.confidence))


@view(
    "evaluate.designed",
    options=DesignedView,
    title="Precision of n-best lists",
    of=of_sample,
    place=15,
    overview=designed_overview,
    leading="precision",
)
def show_designed(stage: StageView, options: DesignedView) -> Sequence[Block]:
    """Show the estimation method, a graph, a table at the cuts, differences."""
    selection = scopes_in(stage, stage.table("precision"), options.category)
    if not selection:
        return [Text("No candidate is judged, so precision cannot be estimated.")]
    helped = stage.table("precision").filter(pl.col("tau") > 0).head(1).collect().height
    sample = stage.source_stage("sample")
    drawn = _HOW_DRAWN.get("" if sample is None else sample.use, OF_ANY)
    how = Text(drawn + LIMITS + (HELPED if helped else ""))
    blocks = [block for scope in selection for block in _category(scope, options)]
    return [how, *blocks, *looks_blocks(stage)]


def _category(scope: Scope, options: DesignedView) -> Iterator[Block]:
    own = {
        name: getattr(options, name) for name in options.model_fields_set - {"category", "pairs"}
    }
    baseline = scope.query("baseline").collect()
    graph = Graph.model_validate(own).with_colours(options.look.slots)
    drawing = Drawing(scope, graph, baseline=baseline if baseline.height else None)
    yield graph_block(drawing)
    measures, rows = _at_cuts(drawing, options)
    if rows is not None:
        yield precision_listing(rows, measures, scope)
        lacking = text_of_too_few_draws(rows, scope.query("differences").collect())
        if lacking is not None:
            yield Text(sentence(lacking))
        yield Fold("Judged draws behind the estimates", [_draws_listing(rows, scope)])
    both = [pl.col(side).is_in(measures) for side in ("measure_1", "measure_2")]
    differences = scope.query("differences").filter(*both).collect()
    if differences.height:
        yield _differences(differences, scope)
    clustered = scope.query("clustered").filter(*both).collect()
    if clustered.height:
        yield Fold("Differences for candidates to come", [_cluster_listing(clustered, scope)])
    yield from _bands(scope, options, both)


def _at_cuts(drawing: Drawing, options: Curves) -> tuple[Sequence[str], pl.DataFrame | None]:
    """Return the measures to show, and their precision at the cuts; None without cuts."""
    scope = drawing.scope
    query = scope.query("precision")
    names, last = extent(query)
    measures = select_names(options.measures, names, where=scope.option("measures"))
    cuts = cuts_of(drawing, last)
    if not cuts:
        return measures, None
    mine = pl.col("measure").is_in(measures)
    return measures, query.filter(pl.col("n").is_in(cuts), mine).collect()


def _draws_listing(frame: pl.DataFrame, scope: Scope) -> Listing:
    caption = (
        f"Judged draws in each list{scope.text}, true positives among them, the effective number "
        "of draws (of a simple sample with equal precision), the weight of predictions, and "
        "unjudged draws."
    )
    ordered = frame.sort("n", "measure")
    return listing(scope.file("designed-draws"), caption, ordered, RESTING)


def _differences(frame: pl.DataFrame, scope: Scope) -> Listing:
    caption = (
        f"Differences in precision at the declared cuts{scope.text} in percentage points, first "
        "minus second, with limits for these candidates; k of n judged draws are true positives "
        "in D1 and D2. Adjusted p: test of equal precision for these candidates, adjusted for the "
        "number of differences. Fisher's p: test of equal precision in a larger population, where "
        "inclusion probabilities are equal. Star: adjusted p < alpha."
    )
    ordered = frame.sort("n", "measure_1", "measure_2")
    return listing(scope.file("differences"), caption, ordered, DIFFERENCES)


def _cluster_listing(frame: pl.DataFrame, scope: Scope) -> Listing:
    columns = frame["cluster"][0].replace(", ", " or ")
    caption = (
        f"Differences in precision for candidates to come{scope.text} in percentage points; those "
        f"with the same {columns} vary together. The verdicts above are about the present "
        f"candidates. P-values are adjusted for all cuts and pairs "
        f"({correction_of(frame['correction'])}). Clusters are those of the first column; "
        "effective clusters: the number of clusters of equal weight with the same variance; design "
        "effect: the variance relative to that of independent candidates."
    )
    ordered = frame.sort("n", "measure_1", "measure_2")
    return listing(scope.file("clustered"), caption, ordered, CLUSTERED)


def _bands(scope: Scope, options: DesignedView, both: list[pl.Expr]) -> Iterator[Block]:
    bands = scope.query("difference_bands").filter(*both).collect()
    known = sorted(bands.select("measure_1", "measure_2").unique().rows())
    pairs = list(options.pairs) if options.pairs is not None else known
    if not known or not pairs or (options.pairs is None and len(pairs) > MOST_PAIRS):
        return
    apart = (pl.col("lower_band") > 0) | (pl.col("upper_band") < 0)
    frame = with_titles(bands.with_columns(significant=apart))
    first, last = frame.select(first=pl.min("n"), last=pl.max("n")).row(0)
    draw = partial(
        charts.difference_chart, frame, [pair_titles(pair) for pair in pairs],
        extras=Extras(cuts=()), window=Window(first_n=first, last_n=last),
    )  # fmt: skip
    caption = (
        f"Differences in precision{scope.text} with simultaneous limits for all n from {first:,} "
        f"to {last:,}. Points: the limits exclude 0."
    )
    yield figure(scope.file("difference-bands"), caption, draw, options.look)


RESTING = (
    Column("measure", text=measure_title),
    Column("n"),
    Column("n_sampled", "judged"),
    Column("k_sampled", "TP"),
    Column("n_eff", "effective draws", lambda value: "–" if value is None else f"{value:,.0f}"),
    Column("tau", "weight of predictions (%)", format_percent),
    Column("unjudged"),
)
"""A list and its draws."""
DIFFERENCES = (
    *PAIR,
    Column(("difference", "significant"), "difference (points)", starred_points),
    Column(("lower", "upper"), "pointwise limits", point_limits),
    Column(("lower_family", "upper_family"), "simultaneous limits", point_limits),
    Column("p_adjusted", "adjusted p", p_value),
    Column("p_fisher", "Fisher's p", p_value),
)
"""A pair at one n: the difference, its limits, two tests of different questions."""
CLUSTERED = (
    *PAIR[:3],
    Column("difference", "difference (points)", format_points),
    Column(("lower", "upper"), "pointwise limits", point_limits),
    Column(("lower_family", "upper_family"), "simultaneous limits", point_limits),
    Column("p_value", "p", p_value),
    Column("p_adjusted", "adjusted p", p_value),
    *CLUSTERS,
)
"""A pair at one n: the difference with limits and test for candidates to come."""
