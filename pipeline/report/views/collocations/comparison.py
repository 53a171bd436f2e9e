"""Views of comparisons: tests, matrices, best measures, differences, and unranked sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.findings import phrases
from pipeline.findings.base import StageOptions, StageView
from pipeline.findings.collocations.comparison import verdict_tests
from pipeline.findings.collocations.precision import LookOptions
from pipeline.kernels.measure import measure_title
from pipeline.kernels.statistics.exact_tests import CORRECTIONS, TESTS
from pipeline.report import charts
from pipeline.report.charts.matrices import NUMBERS, Matrix
from pipeline.report.charts.spec import thin_values
from pipeline.report.charts.style import Extras, Style, Window
from pipeline.report.view import (
    NULL_TEXT,
    Block,
    Column,
    Fold,
    Listing,
    StyleOptions,
    Text,
    count_of,
    figure,
    format_percent,
    format_points,
    listing,
    p_value,
    place_in,
    point_limits,
    select_names,
    share_limits,
    view,
)
from pipeline.report.views.collocations.graphs import (
    Drawing,
    Graph,
    Scope,
    first_shown,
    graph_block,
    looks_blocks,
    of_sample,
    of_set,
    pair_titles,
    scopes,
    thin_rows,
    with_titles,
)
from pipeline.report.views.collocations.precision import CLUSTERS

# Sentences on significance tests

SIDES = {
    "greater": "one-sided: the first precision is higher",
    "less": "one-sided: the first precision is lower",
}


class Mark(StageOptions):
    """The conditions under which a stage marks a difference."""

    alpha: float
    """Significance level."""
    margin: float
    """Smaller differences are not marked."""

    @property
    def meaning(self) -> str:
        """The conditions in words."""
        least = f" and at least {100 * self.margin:g} points" if self.margin else ""
        return f"adjusted p < {self.alpha:g}{least}"


class PairTestSettings(Mark):
    """How a stage tests differences."""

    test: str
    """Name of the test."""
    alternative: str
    """The alternative hypothesis."""
    correction: str
    """How p-values are adjusted."""

    @property
    def test_name(self) -> str:
        """The name of the test in texts.

        Examples
        --------
        >>> how = {"test": "boschloo", "alternative": "two_sided", "correction": "holm"}
        >>> PairTestSettings(alpha=0.05, margin=0, **how).test_name
        "Boschloo's exact test"
        """
        return TESTS.title(self.test)


class ComparisonSettings(PairTestSettings):
    """How a stage compares measures."""

    confidence: float
    """Level of the limits of differences."""
    equivalence: float | None
    """The smallest relevant difference, if equivalence is tested."""


def test_text(settings: PairTestSettings) -> str:
    """Describe the test of a stage, its data and its scope."""
    side = SIDES.get(settings.alternative)
    name = f"{settings.test_name}{f' ({side})' if side else ''}"
    parts = [f"Each test is {name} on the candidates in only one of the two n-best lists."]
    if settings.test == "fisher":
        parts.append("For samples drawn without replacement it is conservative, which costs power.")
    parts.append(
        "After full annotation it is a test about a larger population: other data of the same kind."
    )
    return " ".join(parts)


def at_any_time() -> str:
    """Describe a test that is valid at every size of the sample."""
    return (
        "Each test compares the true positives among the candidates in only the first n-best list "
        "with those in only the second, and is valid at every size of the sample. After full "
        "annotation, every difference is certain."
    )


def multiple_tests_text(settings: PairTestSettings) -> str:
    """Explain marks along n, and name the p-values adjusted for multiple tests."""
    method = CORRECTIONS.title(settings.correction)
    return (
        "Marks along n show unadjusted tests and are not verdicts: for two equally good measures, "
        "there is a mark somewhere in 41 to 58 % of simulated 10 % samples and in 78 to 92 % of "
        "full annotations. Verdicts are based on p-values adjusted for all declared sizes and "
        f"pairs ({method})."
    )


def subset_test_text(settings: PairTestSettings) -> str:
    """Describe the test of an unranked set against lists of the same size."""
    return (
        "An unranked set, for example the output of a filter, is compared with the n-best list of "
        f"the same size for each measure: {settings.test_name} on the candidates in only one of "
        "the two."
    )


def correction_of(corrections: pl.Series) -> str:
    """Return how the p-values of a table are adjusted, in short.

    Examples
    --------
    >>> correction_of(pl.Series(["holm", "holm"]))
    "Holm's method"
    """
    return ", ".join(CORRECTIONS.title(name) for name in sorted(set(corrections)))


# Captions


def difference_caption(*, of: str = "") -> str:
    """Describe a graph of differences."""
    return (
        f"Difference in precision between two n-best lists{of} against n. Points: the unadjusted "
        "test at that n is significant (not a verdict)."
    )


def heat_caption(matrices: Sequence[Matrix], mark: Mark, *, style: Style, of: str = "") -> str:
    """Describe a matrix of all pairs of measures."""
    numbers = max(len(matrix.order) for matrix in matrices) <= NUMBERS
    subject = (
        f"Differences in precision between all pairs of measures{of}, row minus column, in "
        "percentage points; the measures are ordered by precision."
    )
    parts = [subject, f"{'Star' if numbers else 'Dot'}: {mark.meaning}."]
    if any(matrix.cells["difference"].null_count() for matrix in matrices):
        parts.append("Cross: no judged candidate in one of the difference sets.")
    if style == "print":
        parts.append("Only pairs with a better row are drawn.")
    return " ".join(parts)


def interval_caption(settings: ComparisonSettings, *, of: str = "") -> str:
    """Describe a figure of differences with their limits."""
    level = f"{100 * (1 - settings.alpha):g} %"
    return (
        f"Difference in precision between each list and the best measure{of} (or between all "
        "pairs, if no best measure was determined), in percentage points, with simultaneous "
        f"{level} limits. They agree with the adjusted tests: the interval of a significant "
        "difference may end at 0, but does not include it."
    )


def strip_caption(*, style: Style, of: str = "") -> str:
    """Describe a chart of the best measures."""
    strong, weak = ("Dark grey", "pale grey") if style == "print" else ("Dark blue", "pale blue")
    return (
        f"{strong}: the measure with the highest estimated precision at each declared n{of}; "
        f"{weak}: not significantly worse. Numbers: precision (%). Measures that are significantly "
        "worse at every n are omitted."
    )


# Matrices of all pairs of measures


def matrix_of(cuts: pl.DataFrame, baseline: pl.DataFrame, n: int) -> Matrix:
    """Return the pairs at one n in both directions, the measures in the order of precision.

    Parameters
    ----------
    cuts : DataFrame
        `schemas.CutComparison` or `schemas.ClusteredDifferences`, one category.
    baseline : DataFrame
        `schemas.CutBaselineComparison`, one category: k_1 of n_1 judged draws of each list are
        true positives, which orders the measures. Measures without an estimate come last; ties
        are ordered by name.
    n : int
        The cut.
    """
    pairs = cuts.filter(pl.col("n") == n)
    names = {*pairs["measure_1"], *pairs["measure_2"]}
    judged = baseline.filter(pl.col("n") == n, pl.col("n_1") > 0)
    estimates = dict(judged.select("measure", pl.col("k_1") / pl.col("n_1")).iter_rows())
    order = sorted(names, key=lambda name: (-estimates.get(name, -1.0), name))
    return Matrix(n, tuple(order), both_ways(pairs))


def both_ways(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return each pair twice: row, column, difference (row minus column), p_adjusted, significant.

    Parameters
    ----------
    pairs : DataFrame
        measure_1, measure_2, difference, p_adjusted, significant.
    """
    columns = ("p_adjusted", "significant")
    forward = pairs.select("difference", *columns, row="measure_1", column="measure_2")
    back = pairs.select(-pl.col("difference"), *columns, row="measure_2", column="measure_1")
    return pl.concat([forward, back]).select("row", "column", "difference", *columns)


def group_matrices(matrices: Sequence[Matrix], *, most: int) -> list[list[Matrix]]:
    """Return the matrices of each figure: all together if they are small, else one each."""
    small = all(len(matrix.order) <= most for matrix in matrices)
    return [list(matrices)] if small and matrices else [[matrix] for matrix in matrices]


# Tables

PAIR = (
    Column("measure_1", "first", measure_title),
    Column("measure_2", "second", measure_title),
    Column("n"),
    Column("size", "|D1|"),
    Column(("k_1", "n_1"), "k of n: D1", count_of),
    Column(("k_2", "n_2"), "k of n: D2", count_of),
)
"""Two measures at one n, and their difference sets."""
TEST_COLUMNS = (
    *PAIR,
    Column("difference", "difference (points)", format_points),
    Column("p_value", "p", p_value),
    Column("p_adjusted", "adjusted p", p_value),
)


def comparison_listing(frame: pl.DataFrame, settings: PairTestSettings, scope: Scope) -> Listing:
    """Return a row per pair and cut: the counts, the difference, the p-values.

    Parameters
    ----------
    frame : DataFrame
        `schemas.CutComparison`, one category.
    settings : PairTestSettings
        The options of the test.
    scope : Scope
        Stage and category.
    """
    ordered = frame.sort("n", "measure_1", "measure_2")
    caption = (
        f"{settings.test_name} at the declared cuts{scope.text}: k of n judged draws are true "
        "positives in D1 (only in the n-best list of the first measure) and in D2 (only in that of "
        "the second; equal size); difference in precision, first minus second; p, and p adjusted "
        f"for all declared cuts and pairs ({correction_of(ordered['correction'])})."
    )
    return listing(scope.file("tests"), caption, ordered, TEST_COLUMNS)


def matrix_listing(frame: pl.DataFrame, n: int, mark: Mark, scope: Scope) -> Listing:
    """Return the differences of all pairs at one n as a square: row minus column.

    Parameters
    ----------
    frame : DataFrame
        `schemas.CutComparison`, one category.
    n : int
        The cut.
    mark : Mark
        The conditions for a star.
    scope : Scope
        Stage and category.
    """
    pairs = frame.filter(pl.col("n") == n).sort("measure_1", "measure_2")
    names = list(dict.fromkeys([*pairs["measure_1"], *pairs["measure_2"]]))
    square = both_ways(pairs).sort(place_in(names, "row"))
    caption = (
        f"Difference in precision at n = {n:,}{scope.text} in percentage points, row minus "
        f"column. Star: {mark.meaning}."
    )
    columns = [
        Column(
            ("difference", "significant"),
            measure_title(name),
            starred_points,
            at=("column", name),
        )
        for name in names
    ]
    return listing(
        scope.file(f"matrix-{n}"), caption, pairs,
        [Column("row", "row − column", measure_title), *columns], by=["row"], source=square,
    )  # fmt: skip


def starred_points(difference: float | None, star: bool) -> str:
    """Return a difference in percentage points, with its star.

    Examples
    --------
    >>> starred_points(0.05, True), starred_points(-0.01, False)
    ('* +5.00', '−1.00')
    """
    return f"{'* ' if star else ''}{format_points(difference)}"


def best_listing(best: pl.DataFrame, settings: ComparisonSettings, scope: Scope) -> Listing:
    """Return a row per n: the best measure, and those not significantly worse.

    Parameters
    ----------
    best : DataFrame
        `schemas.BestMeasures`, one category.
    settings : ComparisonSettings
        The options of the test.
    scope : Scope
        Stage and category.
    """
    order = ["n", "best", "precision", "measure"]
    ordered = best.sort(order, descending=[False, True, True, False], nulls_last=True)
    together = ordered.group_by("n", maintain_order=True).agg("measure", "precision", "best")
    caption = (
        f"The measure with the highest estimated precision at each declared n{scope.text}, and "
        "those that are not significantly worse (all pairs tested, p-values adjusted by "
        f"{CORRECTIONS.title(settings.correction)}), with precision (%). ?: no draw of the list is "
        f"judged.{_guarantee_text(settings)}"
    )
    both = ("measure", "precision", "best")
    columns = (
        Column("n"),
        Column(both, "best", partial(_shares_text, of_best=True)),
        Column(both, "not significantly worse", partial(_shares_text, of_best=False)),
    )
    return listing(scope.file("best"), caption, ordered, columns, source=together)


def _guarantee_text(settings: ComparisonSettings) -> str:
    """State the guarantee, if there is one."""
    if settings.correction != "bonferroni" or settings.test == "fisher_mid_p":
        return ""
    sure = 100 * (1 - settings.alpha)
    return (
        " The truly best measure is among them at all n, with a probability of at least "
        f"{sure:g} %."
    )


def _shares_text(
    measures: list[str], shares: list[float | None], best: list[bool], *, of_best: bool
) -> str:
    lines = [
        f"{measure_title(measure)} {'?' if precision is None else format_percent(precision)}"
        for measure, precision, is_best in zip(measures, shares, best, strict=True)
        if is_best == of_best
    ]
    return "\n".join(lines) or "none"


def baseline_listing(tests: pl.DataFrame, mark: Mark, scope: Scope) -> Listing:
    """Return a row per measure and a column per n: the difference from the baseline, and p.

    Parameters
    ----------
    tests : DataFrame
        `schemas.CutBaselineComparison`, one category.
    mark : Mark
        The conditions for a star.
    scope : Scope
        Stage and category.
    """
    ordered = tests.sort("measure", "n")
    caption = (
        f"Precision minus baseline in percentage points{scope.text}, with adjusted p of the exact "
        "test that compares each list with the candidates outside it. Star: "
        f"{mark.meaning}."
    )
    columns = [
        Column(DIFFERENCE, f"n = {n:,}", difference_and_p, at=("n", n))
        for n in sorted(set(ordered["n"]))
    ]
    return listing(
        scope.file("baseline"), caption, ordered,
        [Column("measure", text=measure_title), *columns], by=["measure"],
        source=ordered,
    )  # fmt: skip


DIFFERENCE = ("difference", "p_adjusted", "significant")


def difference_and_p(gap: float | None, p: float | None, star: bool) -> str:
    r"""Return a difference in percentage points with its star, and p under it.

    Examples
    --------
    >>> difference_and_p(0.05, 0.01, True), difference_and_p(None, None, False)
    ('* +5.00\np = .010', '–')
    """
    if gap is None:
        return NULL_TEXT
    phrase = f"p {NULL_TEXT}" if p is None else phrases.p_value(p)
    return f"{starred_points(gap, star)}\n{phrase}"


# Differences with their limits

POPULATIONS = {"finite": "these candidates", "super": "larger population"}
"""The names of the populations in tables."""
PAIRS = ("measure_1", "measure_2")
MOST_DRAWN = 60
"""The largest number of differences in a figure; the table has more."""


def difference_rows(rows: pl.DataFrame, best: pl.DataFrame) -> pl.DataFrame:
    """Return the differences that a figure of intervals shows, as its rows.

    Parameters
    ----------
    rows : DataFrame
        The tests behind the verdicts, see `verdict_tests`, with the limits of the family.
    best : DataFrame
        `schemas.BestMeasures`, one category: each other measure is compared with the best one of
        its size. Without rows, all pairs are shown.

    Returns
    -------
    DataFrame
        group (the size), label, estimate, lower, upper: by size, the lowest difference last.

    Examples
    --------
    >>> rows = pl.DataFrame({"measure_1": "mi", "measure_2": "t_score", "n": 9,
    ...     "difference": 0.1, "lower_family": -0.1, "upper_family": 0.3})
    >>> best = pl.DataFrame({"n": [9], "measure": ["t_score"], "best": True})
    >>> difference_rows(rows, best).select("label", "estimate", "lower").rows()
    [('MI', 0.1, -0.1)]
    """
    names = ("measure_1", "measure_2", "n", "difference", "lower_family", "upper_family")
    rows = rows.select(names)
    if best.is_empty():
        titles = [pl.col(name).map_elements(measure_title, pl.String) for name in PAIRS]
        table = rows.with_columns(label=pl.format("{} − {}", *titles))
    else:
        leading = best.filter("best").sort("measure")
        first = leading.group_by("n").agg(pl.col("measure").first(), tied=pl.len())
        turned = rows.with_columns(
            measure_1="measure_2", measure_2="measure_1", lower_family=-pl.col("upper_family"),
            upper_family=-pl.col("lower_family"), difference=-pl.col("difference"),
        )  # fmt: skip
        both = pl.concat([rows, turned.select(rows.columns)])
        table = both.join(first, left_on=["n", "measure_2"], right_on=["n", "measure"])
        table = table.with_columns(label=pl.col("measure_1").map_elements(measure_title, pl.String))
    return table.sort(
        ["n", "difference", "label"], descending=[False, True, False], nulls_last=True
    ).select(
        "label", lower="lower_family", upper="upper_family", estimate="difference",
        group=pl.col("n").map_elements(lambda n: f"n = {n:,}", pl.String), kind=pl.lit(""),
    )  # fmt: skip


def difference_listing(frame: pl.DataFrame, settings: ComparisonSettings, scope: Scope) -> Listing:
    """Return a row per pair, cut and population: the difference, its limits, its tests.

    Parameters
    ----------
    frame : DataFrame
        `schemas.MeasureDifferences`, one category.
    settings : ComparisonSettings
        The options of the test.
    scope : Scope
        Stage and category.
    """
    anytime = "confidence_sequence" in frame["interval"]
    beyond = f" Larger population: {settings.test_name}, with the candidates as independent "
    beyond += "draws from it."
    caption = (
        f"Differences in precision at the declared cuts{scope.text} in percentage points, first "
        "minus second, with limits. "
        "These candidates: a test of equal numbers of true positives in D1 and D2."
        f"{'' if anytime else beyond} P-values are adjusted for "
        f"all cuts and pairs ({CORRECTIONS.title(settings.correction)}). Margin: the difference "
        f"exceeds {100 * settings.margin:g} points.{_equivalence_text(settings)}"
    )
    equivalent = [] if settings.equivalence is None else [
        Column("p_equivalent_adjusted", "equivalence: adjusted p", p_value)
    ]  # fmt: skip
    columns = [
        *PAIR[:3], Column("population", "about", lambda name: POPULATIONS[name]),
        Column("difference", "difference (points)", format_points),
        Column(("lower", "upper"), "pointwise limits", point_limits),
        Column(("lower_family", "upper_family"), "simultaneous limits", point_limits),
        Column("p_adjusted", "adjusted p", p_value),
        Column("p_margin_adjusted", "margin: adjusted p", p_value), *equivalent,
    ]  # fmt: skip
    order = ["n", "measure_1", "measure_2", "population"]
    return listing(scope.file("differences"), caption, frame.sort(order), columns)


def _equivalence_text(settings: ComparisonSettings) -> str:
    if settings.equivalence is None:
        return ""
    return f" Equivalence: it is less than {100 * settings.equivalence:g} points."


def clustered_listing(frame: pl.DataFrame, scope: Scope) -> Listing:
    """Return a row per pair and cut: the difference if whole clusters are drawn.

    Parameters
    ----------
    frame : DataFrame
        `schemas.ClusteredDifferences`, one category, with rows.
    scope : Scope
        Stage and category.
    """
    caption = (
        f"Differences in precision{scope.text} in percentage points, with limits and p-values from "
        f"a bootstrap over clusters: all candidates with the same {frame['cluster'][0]} are drawn "
        f"together. P-values are adjusted for all cuts and pairs "
        f"({correction_of(frame['correction'])}). Effective clusters: the number of clusters of "
        "equal size with the same variance; design effect: the variance relative to that of "
        "independent candidates."
    )
    columns = [
        *PAIR[:3], Column("difference", "difference (points)", format_points),
        Column(("lower", "upper"), "pointwise limits", point_limits),
        Column(("lower_family", "upper_family"), "simultaneous limits", point_limits),
        Column("p_value", "p", p_value),
        Column("p_adjusted", "adjusted p", p_value), *CLUSTERS,
    ]  # fmt: skip
    ordered = frame.sort("n", "measure_1", "measure_2")
    return listing(scope.file("clustered"), caption, ordered, columns)


# The view

Pair = tuple[str, str]

MOST_PAIRS = 3
"""With more pairs, a graph of all of them is illegible."""
MOST_MARKS = 5_000
"""List sizes with a significant difference in the graph; some of them if there are more."""
MOST_MATRICES = 6
"""The number of cuts with a matrix, unless the options name others."""
SMALL = 8
"""The largest number of measures of matrices that share a figure."""


class ComparisonView(StyleOptions):
    """Options of the section on comparisons."""

    measures: tuple[str, ...] = ()
    """Show pairs of these measures; by default all."""
    matrices: tuple[int, ...] | None = None
    """Show a matrix of all pairs at these declared cuts; by default at up to six."""
    pairs: tuple[Pair, ...] | None = None
    """Draw these pairs in the graph of differences; by default all if there are at most three."""
    first_n: int | None = None
    """Start the graph at this n; by default 100, or a twentieth of a list shorter than 2,000."""
    last_n: int | None = None
    """End the graph at this n; by default the last."""
    y_min: float | None = None
    """Start the y axis at this percentage."""
    y_max: float | None = None
    """End the y axis at this percentage."""
    category: str | None = None
    """Show one category of true positives; by default all."""


@view(
    "evaluate.comparison",
    options=ComparisonView,
    title="Comparison of measures",
    of=of_sample,
    place=10,
)
def show_comparison(stage: StageView, options: ComparisonView) -> Sequence[Block]:
    """Show how to read the tests, the best measures, matrices, tests, a graph of differences."""
    cuts = stage.table("cuts").collect()
    compared = stage.table("comparison").select("category").unique()
    categories = [*cuts["category"], *compared.collect(engine="streaming")["category"]]
    selection = scopes(stage, categories, options.category)
    if not selection:
        return [Text("No candidate is judged, so measures cannot be compared.")]
    tested = stage.options_as(ComparisonSettings)
    blocks = [block for scope in selection for block in _category(scope, options, tested, cuts)]
    how = at_any_time() if stage.options_as(LookOptions).anytime else test_text(tested)
    return [Text(how), Text(multiple_tests_text(tested)), *blocks, *looks_blocks(stage)]


def _category(
    scope: Scope, options: ComparisonView, settings: ComparisonSettings, cuts: pl.DataFrame
) -> Iterator[Block]:
    query = scope.query("comparison")
    mine = cuts.filter(category=scope.category)
    every = query.select("measure_1", "measure_2").unique()
    along = sorted(every.collect(engine="streaming").rows())
    pairs = {*along, *mine.select("measure_1", "measure_2").rows()}
    names = sorted({name for pair in pairs for name in pair})
    measures = select_names(options.measures, names, where=scope.option("measures"))
    yield from _best(scope, options, settings, measures)
    yield from _intervals(scope, options, settings, measures)
    yield from _at_cuts(scope, options, settings, mine.filter(_between(measures)))
    drawn = _pairs(scope, options, [pair for pair in along if set(pair) <= set(measures)])
    if drawn:
        between = _between(name for pair in drawn for name in pair)
        yield _differences(scope, options, query.filter(between), drawn)


def _between(measures: Iterable[str]) -> pl.Expr:
    names = sorted(set(measures))
    return pl.col("measure_1").is_in(names) & pl.col("measure_2").is_in(names)


def _intervals(
    scope: Scope, options: ComparisonView, settings: ComparisonSettings, measures: Sequence[str]
) -> Iterator[Block]:
    """Show the differences with their limits: a figure with the best measure, and tables."""
    rows, clustered = (
        scope.query(name).filter(_between(measures)).collect()
        for name in ("differences", "clustered")
    )
    tests = verdict_tests(scope.stage).filter(_between(measures), category=scope.category)
    limited = "lower_family" in tests.columns
    drawn = difference_rows(tests, scope.query("best").collect()) if limited else tests.clear()
    if 0 < drawn.height <= MOST_DRAWN:
        title = "difference in precision (points)"
        draw = partial(charts.whisker_chart, drawn, x_title=title, percent=True)
        caption = interval_caption(settings, of=scope.text)
        yield figure(scope.file("intervals"), caption, draw, options.look)
    if rows.height:
        yield Fold("All differences with their limits", [difference_listing(rows, settings, scope)])
    if clustered.height:
        yield Fold("Differences by clusters", [clustered_listing(clustered, scope)])


def _at_cuts(
    scope: Scope, options: ComparisonView, settings: ComparisonSettings, cuts: pl.DataFrame
) -> Iterator[Block]:
    if cuts.is_empty():
        yield Text(f"No test was made at a declared cut{scope.text}.")
        return
    drawn = _matrix_cuts(scope, options, cuts)
    clustered = scope.query("clustered").join(cuts.lazy(), on=[*PAIRS, "n"], how="semi").collect()
    tests = cuts if clustered.is_empty() else clustered
    yield from _heat_maps(scope, options, settings, tests, drawn)
    tables = [matrix_listing(tests, n, settings, scope) for n in drawn]
    yield Fold(
        "All differences and tests as tables", [*tables, comparison_listing(cuts, settings, scope)]
    )


def _matrix_cuts(scope: Scope, options: ComparisonView, cuts: pl.DataFrame) -> list[int]:
    declared = sorted(set(cuts["n"]))
    wrong = [n for n in options.matrices or () if n not in declared]
    if wrong:
        examples = f"for example {', '.join(str(n) for n in declared[:10])}"
        problems = [
            Problem(scope.option("matrices"), f"{n} is not a declared cut", examples) for n in wrong
        ]
        raise ConfigError("report", problems)
    if options.matrices is not None:
        return sorted(set(options.matrices))
    return thin_values(declared, points=MOST_MATRICES - 1)


def _heat_maps(
    scope: Scope, options: ComparisonView, mark: Mark, cuts: pl.DataFrame, drawn: Sequence[int]
) -> Iterator[Block]:
    baseline = with_titles(scope.query("baseline_cuts").collect())
    matrices = [matrix_of(with_titles(cuts), baseline, n) for n in drawn]
    for group in group_matrices([m for m in matrices if m.cells.height], most=SMALL):
        name = scope.file("matrix" if len(group) > 1 else f"matrix-{group[0].n}")
        caption = heat_caption(group, mark, style=options.style, of=scope.text)
        yield figure(name, caption, partial(charts.heat_map, group), options.look)


def _best(
    scope: Scope, options: ComparisonView, settings: ComparisonSettings, measures: Sequence[str]
) -> Iterator[Block]:
    best = scope.query("best").collect()
    if best.height:
        caption = strip_caption(style=options.style, of=scope.text)
        draw = partial(charts.strip_chart, with_titles(best))
        yield figure(scope.file("best"), caption, draw, options.look)
        yield best_listing(best, settings, scope)
    baseline = scope.query("baseline_cuts").filter(pl.col("measure").is_in(measures)).collect()
    if baseline.height:
        yield baseline_listing(baseline, settings, scope)


def _pairs(scope: Scope, options: ComparisonView, compared: Sequence[Pair]) -> list[Pair]:
    if options.pairs is None:
        return list(compared) if len(compared) <= MOST_PAIRS else []
    either_way = {frozenset(pair) for pair in compared}
    problems = [
        Problem(scope.option("pairs"), f"{' and '.join(pair)} are not compared")
        for pair in options.pairs
        if frozenset(pair) not in either_way
    ]
    if problems:
        raise ConfigError("report", problems)
    return list(options.pairs)


def _differences(
    scope: Scope, options: ComparisonView, query: pl.LazyFrame, pairs: Sequence[Pair]
) -> Block:
    last = query.select(pl.col("n").max()).collect(engine="streaming").item()
    window = Window(
        first_n=first_shown(options.first_n, last), last_n=options.last_n,
        y_min=options.y_min, y_max=options.y_max,
    )  # fmt: skip
    significant = query.filter("significant").select("n").unique().collect(engine="streaming")
    marks = thin_values(significant["n"], points=MOST_MARKS)
    frame = thin_rows(query, window, always=marks).collect(engine="streaming")
    if frame["difference"].drop_nulls().is_empty():
        return Text(f"No pair has judged candidates in both difference sets{scope.text}.")
    cuts = scope.stage.table("cuts").select("n").unique().collect()["n"].sort()
    extras = Extras(cuts=tuple(cuts))
    called = [pair_titles(pair) for pair in pairs]
    draw = partial(
        charts.difference_chart, with_titles(frame), called, extras=extras, window=window
    )
    caption = difference_caption(of=scope.text)
    return figure(scope.file("difference"), caption, draw, options.look)


# View of an unranked set.


class SubsetView(StyleOptions):
    """Options of the section on a set of candidates."""

    precision: str | None = None
    """Draw the set beside the curves of this evaluate.precision stage on the same sample."""
    measures: tuple[str, ...] = ()
    """Show these measures, in this order; by default all."""
    first_n: int | None = None
    """Start the graph at this n; by default 100, or a twentieth of a list shorter than 2,000."""
    last_n: int | None = None
    """End the graph at this n; by default the last."""
    y_max: float | None = None
    """End the y axis at this percentage."""
    category: str | None = None
    """Show one category of true positives; by default all."""


@view("evaluate.subset", options=SubsetView, title="Unranked set", of=of_set, place=30)
def show_subset(stage: StageView, options: SubsetView) -> Sequence[Block]:
    """Show the set beside the curves of the measures, and compare it with their lists."""
    subsets = stage.table("subsets").collect()
    selection = scopes(stage, subsets["category"], options.category)
    if not selection:
        return [Text("No candidate is judged, so precision cannot be estimated.")]
    blocks = [block for scope in selection for block in _subset_category(scope, options, subsets)]
    return [Text(subset_test_text(stage.options_as(PairTestSettings))), *blocks]


def _subset_category(scope: Scope, options: SubsetView, subsets: pl.DataFrame) -> Iterator[Block]:
    mine = subsets.filter(category=scope.category)
    tests = scope.query("comparison").collect()
    names = sorted(set(tests["measure"]))
    measures = select_names(options.measures, names, where=scope.option("measures"))
    yield _with_curves(scope, options) if options.precision else _alone(scope, options, mine)
    yield _listing(mine, tests, measures, scope)


def _with_curves(scope: Scope, options: SubsetView) -> Block:
    """Draw the curves of the other stage, with the set of this one."""
    stage = scope.stage

    def table(name: str) -> pl.LazyFrame:
        return stage.table(name if "." in name else f"{options.precision}.{name}")

    other = replace(scope, stage=replace(stage, table=table))
    graph = Graph(
        name="subset", measures=options.measures, cuts=(), first_n=options.first_n,
        last_n=options.last_n, y_max=options.y_max, subsets=(stage.name,), style=options.style,
    ).with_colours(options.look.slots)  # fmt: skip
    return graph_block(Drawing(other, graph, baseline=other.query("baseline").collect()))


def _alone(scope: Scope, options: SubsetView, subsets: pl.DataFrame) -> Block:
    shares = {"estimate": "precision", "lower": "lower", "upper": "upper"}
    label = pl.format("{} ({})", "subset", "n")
    nothing = pl.lit("")
    frame = subsets.sort("n", "subset").select(group=nothing, label=label, kind=nothing, **shares)
    draw = partial(charts.whisker_chart, frame, x_title="precision (%)", percent=True)
    caption = f"Precision of the set{scope.text} with confidence limits; its size in parentheses."
    return figure(scope.file("subset"), caption, draw, options.look)


def _listing(
    subsets: pl.DataFrame, tests: pl.DataFrame, measures: Sequence[str], scope: Scope
) -> Listing:
    """Return a row per subset: its precision, and its difference from each |A|-best list."""
    differences = tests.select("subset", "measure", *DIFFERENCE)
    both = subsets.sort("n", "subset").join(
        differences, on="subset", how="left", maintain_order="left_right"
    )
    caption = (
        f"Precision (%) of each set A{scope.text}, with confidence limits, and its difference from "
        "the top |A| of each measure in percentage points, with adjusted p "
        f"({correction_of(tests['correction'])}). Star: significant after correction."
    )
    against = [
        Column(DIFFERENCE, f"− {measure_title(measure)}", difference_and_p, at=("measure", measure))
        for measure in measures
    ]
    columns = (
        Column("subset", "set A"),
        Column("n", "|A|"),
        Column(("precision", "lower", "upper"), "precision (%)", _set_estimate),
        *against,
    )
    ordered = tests.sort("subset", "measure")
    return listing(scope.file("subset"), caption, ordered, columns, by=["subset"], source=both)


def _set_estimate(precision: float | None, lower: float | None, upper: float | None) -> str:
    return f"{format_percent(precision)} {share_limits(lower, upper, digits=1)}"
