"""Views of lexicons: quality, forms and trends of one, comparison of several, preparation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.findings.base import StageOptions, StageView
from pipeline.findings.lexicon import names_of, pairs_with, sampling_text
from pipeline.report import charts
from pipeline.report.charts.spec import thin_values
from pipeline.report.charts.style import Look
from pipeline.report.explorer import Attribute, Details, Explorer
from pipeline.report.view import (
    NULL_TEXT,
    Block,
    Column,
    ExplorerOptions,
    Figure,
    Fold,
    Listing,
    StyleOptions,
    Text,
    ViewOptions,
    figure,
    format_cell,
    format_decimals,
    format_percent,
    format_points,
    limits,
    listing,
    max_rows_in_memory,
    notes_listing,
    place_in,
    point_limits,
    select_names,
    share_limits,
    stage_title,
    unique_names,
    view,
)
from schemas.errors import count_text

# Tables of one lexicon

Row = Mapping[str, Any]
WIDTH = 44
"""Characters of a line of forms."""
MOST_LINES = 3
MOST_LEMMAS = 1000
"""The largest number of lemmas prepared for the page; the files have all."""
_COUNTS = ("lemmas", "forms")
_SHARES = ("proportion", "0 to 1")


def statistics_listing(frame: pl.DataFrame) -> Listing:
    """Return the statistics of a lexicon, a row for each.

    Parameters
    ----------
    frame : DataFrame
        `schemas.LexiconQuality`.
    """
    rows, limits = _drop_exact_limits(frame)
    caption = f"Statistics of the lexicon against the gold standard; {limits}."
    return listing("quality", caption, rows.sort("number"), STATISTICS)


def _drop_exact_limits(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return the statistics, without limits if L* is exact, and a phrase on its limits."""
    numbers = dict(frame.select("statistic", "value").iter_rows())
    sizes = numbers.get("sampled lemmas"), numbers.get("lemmas sampled from")
    if sizes[0] is None or sizes[0] != sizes[1]:
        return frame, "L* with confidence limits"
    none = pl.lit(None, pl.Float64)
    bare = frame.with_columns(lower=none, upper=none)
    return bare, "L* is exact, since all common lemmas were compared"


def _value(value: float | None, lower: float | None, upper: float | None, meaning: str) -> str:
    if value is None:
        return NULL_TEXT
    unit = meaning.rpartition("; ")[2]
    if unit in _COUNTS:
        return format_cell(round(value))
    if unit in _SHARES:
        interval = "" if lower is None else share_limits(lower, upper)
        return f"{format_percent(value)} %  {interval}".rstrip()
    bits = " bits" if unit.startswith("bits") else ""
    return f"{format_decimals(value)}{bits}  {limits(lower, upper)}".rstrip()


STATISTICS = (
    Column("statistic"),
    Column(("value", "lower", "upper", "meaning"), text=_value),
    Column("meaning"),
)


def intervals_listing(frame: pl.DataFrame) -> Listing:
    """Return the confidence limits of L* by each method.

    Parameters
    ----------
    frame : DataFrame
        `schemas.LexiconIntervals`.
    """
    caption = (
        "Confidence limits for L* (%) by each method, with the standard error (SE); the table of "
        "statistics shows those of the chosen one."
    )
    return listing("intervals", caption, frame.sort("method"), INTERVALS)


def widths_listing(frame: pl.DataFrame) -> Listing:
    """Return the expected precision of L* for other sampling rates.

    Parameters
    ----------
    frame : DataFrame
        `schemas.ExpectedWidths`.
    """
    caption = (
        "Expected precision of L* for other sampling rates, from the variance in this sample: "
        "standard error (SE) and width of the normal interval, in points, for simple samples and "
        "for lemmas drawn in proportion to paradigm size."
    )
    return listing("widths", caption, frame.sort("rate"), WIDTHS)


def _hyphenate(name: str) -> str:
    return name.replace("_", "-")


INTERVALS = (
    Column("method", text=_hyphenate),
    Column("estimate", "L* (%)", format_percent),
    Column("standard_error", "SE (points)", format_percent),
    Column(("lower", "upper"), "limits (%)", share_limits),
    Column("confidence", "level (%)", partial(format_percent, digits=0)),
    Column("used", "computed as", _hyphenate),
    Column("chosen"),
)
WIDTHS = (
    Column("rate", "sampling rate (%)", partial(format_percent, digits=1)),
    Column("n_lemmas", "lemmas"),
    Column("standard_error", "SE (points)", format_percent),
    Column("width", "width (points)", format_percent),
    Column("by_size_error", "SE by size (points)", format_percent),
    Column("by_size_width", "width by size (points)", format_percent),
)


def wrap_forms(forms: str, *, width: int = WIDTH, most: int = MOST_LINES) -> str:
    r"""Return forms on lines of this width; forms after the last line are counted.

    Examples
    --------
    >>> wrap_forms("ra, rajt, rat, rajna", width=10, most=1)
    'ra, rajt, … 2 more'
    """
    lines = textwrap.wrap(forms, width, break_long_words=False, break_on_hyphens=False)
    if len(lines) <= most:
        return "\n".join(lines)
    text = "\n".join(lines[:most])
    rest = forms.count(", ") - text.replace("\n", " ").rstrip(",").count(", ")
    return f"{text} … {rest:,} more"


def costliest(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the lemmas, the costliest first.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    """
    cost = pl.col("size") * (1.0 - pl.col("L"))
    return scores.sort(cost, "lemma", descending=[True, False])


def lemma_listing(scores: pl.DataFrame) -> Listing:
    """Return the sampled lemmas, the costliest first.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    """
    ordered = costliest(scores)
    rows = ordered.head(MOST_LEMMAS)
    many = (
        f"first {MOST_LEMMAS:,} of the {ordered.height:,} " if rows.height < ordered.height else ""
    )
    caption = (
        f"The {many}sampled lemmas, the costliest first (size times 1 − L). Match: the lemma of "
        "the lexicon whose forms agree best, if it is a different one. Gold forms, match forms, "
        "common forms: their numbers. P, R and L of the match. Missing forms are only in the gold, "
        "spurious forms only in the match."
    )
    return listing("lemmas", caption, ordered, LEMMAS, source=rows)


def _another(match: str, lemma: str) -> str:
    return "" if match == lemma else match


one = partial(format_percent, digits=1)
LEMMAS = (
    Column("lemma"),
    Column(("match", "lemma"), "match", _another),
    Column("n_gold", "gold forms"),
    Column("n_match", "match forms"),
    Column("n_common", "common forms"),
    Column("precision", "P (%)", one),
    Column("recall", "R (%)", one),
    Column("L", "L (%)", one),
    Column("missing", "missing forms", wrap_forms),
    Column("spurious", "spurious forms", wrap_forms),
)


def alignment_listing(forms: pl.DataFrame, row: Row, *, number: int) -> Listing:
    """Return the forms of one lemma beside those of its match.

    Parameters
    ----------
    forms : DataFrame
        `schemas.LemmaForms` of the lemma.
    row : mapping
        Its row of `schemas.LemmaScores`.
    number : int
        Number of the listing, for the name of its files.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, section 4.
    """
    both = pl.col("gold") & pl.col("lexicon")
    kind = pl.when(both).then(0).when(pl.col("gold")).then(1).otherwise(2)
    ordered = forms.sort(kind, "form")
    heads = {
        "gold": f"gold ({row['n_gold']:,})",
        "lexicon": f"lexicon: {row['match']} ({row['n_match']:,})",
    }
    columns = [Column(("form", side), head, _form) for side, head in heads.items()]
    caption = (
        f"{row['lemma']}: {row['n_common']:,} forms in common, P = {one(row['precision'])} %, "
        f"R = {one(row['recall'])} %, L = {one(row['L'])} %."
    )
    return listing(f"forms-{number}", caption, ordered, columns)


def _form(form: str, has_form: bool) -> str:
    return form if has_form else ""


PAGE_BYTES, DETAIL_BYTES = 900_000, 500_000
"""Limits for lexicons with millions of forms, and reports with several lexicons."""
MOST_WITH_FORMS = 20_000
"""With more lemmas, the page omits missing and spurious forms to show more lemmas."""
_FORMS = {"missing", "spurious"}
COLUMNS = (
    Attribute("lemma", "lemma", "text"),
    Attribute("match", "match", "text", visible=False),
    Attribute("n_gold", "gold forms", "count"),
    Attribute("n_match", "match forms", "count", visible=False),
    Attribute("n_common", "common", "count"),
    Attribute("n_missing", "missing", "count"),
    Attribute("n_spurious", "spurious", "count"),
    Attribute("precision", "P (%)", "share"),
    Attribute("recall", "R (%)", "share"),
    Attribute("L", "L (%)", "share"),
    Attribute("cost", "cost", "number"),
    Attribute("another", "different lemma", "flag", visible=False),
    Attribute("same_l", "L of the same lemma (%)", "share", visible=False),
    Attribute("missing", "missing forms", "text", visible=False),
    Attribute("spurious", "spurious forms", "text", visible=False),
)


def lemma_explorer(stage: StageView, scores: pl.DataFrame, *, most_rows: int) -> Explorer:
    """Return a table of all evaluated lemmas, the costliest first.

    Parameters
    ----------
    stage : StageView
        The stage, "evaluate.lexicon".
    scores : DataFrame
        Its lemmas, `schemas.LemmaScores`.
    most_rows : int
        The largest number of lemmas on the page.
    """
    frame = costliest(scores).with_columns(
        cost=pl.col("size") * (1.0 - pl.col("L")), another=pl.col("match") != pl.col("lemma")
    )
    whole, fit = frame.height, max_rows_in_memory(len(COLUMNS))
    if fit is not None and whole > fit:
        frame = frame.head(min(most_rows, fit))
    many = frame.height > MOST_WITH_FORMS
    columns = tuple(each for each in COLUMNS if not (many and each.name in _FORMS))
    caption = (
        "All evaluated lemmas. Cost: size times 1 − L, the loss that the lemma causes. Match: the "
        "lemma of the lexicon whose forms agree best; different lemma: the match is not the same "
        "lemma. Search, sort and filter the table; open a row to see the forms."
    )
    return Explorer(
        "all-lemmas",
        caption,
        ("lemma", "lemmas"),
        frame.select(each.name for each in COLUMNS),
        columns,
        key="lemma",
        order="cost",
        falling=True,
        matters="with the highest cost",
        details=(_forms(stage, frame),),
        whole=whole,
        most_rows=most_rows,
        page_bytes=PAGE_BYTES,
        detail_bytes=DETAIL_BYTES,
    )


def _forms(stage: StageView, frame: pl.DataFrame) -> Details:
    """Return the forms of each lemma and of its match: common, missing, spurious ones."""
    gold, lexicon = pl.col("gold"), pl.col("lexicon")
    forms = (
        stage.table("forms")
        .join(frame.lazy().select("lemma"), on="lemma", how="semi")
        .sort("lemma", ~gold, ~lexicon, "form")
        .select(
            "lemma",
            gold=pl.when(gold).then(pl.col("form")),
            lexicon=pl.when(lexicon).then(pl.col("form")),
        )
        .collect()
    )
    columns = (Attribute("gold", "gold", "label"), Attribute("lexicon", "match", "label"))
    return Details("forms", "Forms", forms, columns)


# The view of one lexicon

FEW, FEW_BY_SIZE = 50, 30
"""With fewer lemmas, simulated coverage is well below the nominal level; the second number is for
lemmas drawn by size, for which smaller samples were not simulated."""
METHODS = {
    "bootstrap_t": "bootstrap-t", "percentile": "percentile bootstrap", "t": "Student's t",
    "beta": "Korn and Graubard's beta",
}  # fmt: skip


class LexiconView(StyleOptions, ExplorerOptions):
    """Options of the section on the quality of a lexicon."""

    aligned: tuple[str, ...] = ()
    """Show the forms of these lemmas side by side; by default of the three costliest."""
    figures: bool = True
    """Draw the figures."""
    most_points: int = 1500
    """Draw this many evenly spaced lemmas in the figures."""


class Trend(StageOptions):
    """The order of the lemmas in the stage, and their sample."""

    order: str
    sample: str | None


_AT_A_GLANCE = ("L*", "F*", "E*", "coverage", "sampled lemmas", "common lemmas", "gold lemmas")
"""The statistics at the top of a page."""


def lexicon_overview(stage: StageView) -> Listing | None:
    """Return L*, F* and the counts; for several evaluations, L* of each."""
    others = [each for each in stage.stages.values() if each.use == stage.use]
    if len(others) > 1:
        return _evaluations(others)
    every, limits = _drop_exact_limits(stage.table("quality").collect())
    rows = every.filter(pl.col("statistic").is_in(_AT_A_GLANCE), pl.col("value").is_not_null())
    if rows.filter(statistic="L*").is_empty():
        return None
    ordered = rows.sort(place_in(_AT_A_GLANCE, "statistic"))
    caption = f"The lexicon against the gold standard: {limits}."
    return listing("overview", caption, ordered, STATISTICS[:2])


def _evaluations(stages: Sequence[StageView]) -> Listing | None:
    """Return a row for each evaluation of a lexicon."""
    heads = {"L*": "L*", "F*": "F*", "sampled lemmas": "lemmas", "gold lemmas": "gold lemmas"}
    tables = [
        _drop_exact_limits(stage.table("quality").collect())[0].with_columns(
            evaluation=pl.lit(title)
        )
        for stage, title in zip(stages, unique_names(map(stage_title, stages)), strict=True)
    ]
    every = pl.concat(tables).drop_nulls("value")
    rows = every.filter(pl.col("statistic").is_in(heads))
    if rows.filter(statistic="L*").is_empty():
        return None
    columns = [
        Column(("value", "lower", "upper", "meaning"), head, _value, right=True,
               at=("statistic", name))
        for name, head in heads.items()
    ]  # fmt: skip
    caption = "Evaluations of a lexicon against a gold standard: L* with confidence limits."
    return listing("overview", caption, rows, [Column("evaluation"), *columns], by=["evaluation"])


@view(
    "evaluate.lexicon",
    options=LexiconView,
    title="Quality of the lexicon",
    of=stage_title,
    place=20,
    overview=lexicon_overview,
    leading="L",
)
def show_lexicon(stage: StageView, options: LexiconView) -> Sequence[Block]:
    """Show L* and the statistics, then the figures, then the lemmas and their forms."""
    scores = stage.table("lemmas").collect()
    blocks: list[Block] = [statistics_listing(stage.table("quality").collect())]
    if scores.is_empty():
        return [Text("The gold and the lexicon have no sampled lemma in common."), *blocks]
    intervals = stage.table("intervals").collect()
    widths = stage.table("widths").collect()
    return [
        Text(_summary(scores, intervals.filter("chosen").row(0, named=True))),
        *blocks,
        *_further_limits(intervals, widths),
        *(_figures(stage, options, scores) if options.figures else ()),
        *(
            [lemma_explorer(stage, scores, most_rows=options.explorer_rows)]
            if options.explorer
            else ()
        ),
        *_lemma_tables(stage, options, scores),
    ]


def _lemma_tables(stage: StageView, options: LexiconView, scores: pl.DataFrame) -> Iterator[Block]:
    """Yield the lemmas as a table, in a fold beside the explorer, and some aligned."""
    table = lemma_listing(scores)
    yield (
        Fold("The costliest lemmas with all their forms", [table]) if options.explorer else table
    )
    yield Fold("Forms of some lemmas side by side", [*_alignments(stage, options, scores)])


def _summary(scores: pl.DataFrame, row: dict[str, Any]) -> str:
    size, whole = scores.height, int(scores["population"][0])
    star = "not defined" if row["estimate"] is None else f"{format_percent(row['estimate'])} %"
    text = f"L* = {star}, from {count_text(size, 'lemma')}"
    text += (
        f" of {whole:,} ({100 * size / whole:.1f} %){sampling_text(scores)}."
        if whole > size
        else ": all lemmas in common."
    )
    if not scores["drawn"].all():
        return f"{text} They were not drawn at random, so L* does not generalise to other lemmas."
    if row["lower"] is None:
        return f"{text} The sample allows no confidence limits."
    if whole == size:
        return text
    method = METHODS.get(row["used"], row["used"])
    interval = share_limits(row["lower"], row["upper"])
    text += f" {100 * row['confidence']:g} % confidence limits ({method}): {interval}."
    enough = FEW_BY_SIZE if sampling_text(scores) else FEW
    few = f" With fewer than {enough} lemmas, coverage may be well below the nominal level."
    return text + few if size < enough else text


def _further_limits(intervals: pl.DataFrame, widths: pl.DataFrame) -> Iterator[Block]:
    if intervals["lower"].drop_nulls().is_empty() or not intervals["standard_error"].max():
        return
    both = [intervals_listing(intervals), widths_listing(widths)]
    yield Fold("Limits by other methods and for other sampling rates", both)


def _figures(stage: StageView, options: LexiconView, scores: pl.DataFrame) -> Iterator[Block]:
    trends = stage.table("trends").sort("n").collect()
    ns = thin_values(range(1, trends.height + 1), points=options.most_points)
    drawn = trends.filter(pl.col("n").is_in(ns))
    order, look = _order(stage), replace(options.look, height=300)
    low = replace(look, height=260)
    means = dict(stage.table("quality").select("statistic", "value").collect().rows())
    yield _lemmas(drawn, means, "L", order, look)
    places = scores.group_by("precision", "recall").agg(lemmas=pl.len().cast(pl.Int64))
    caption = "Precision and recall of the sampled lemmas; larger circles represent more lemmas."
    square = replace(look, width=460, height=420)
    yield figure("scatter", caption, partial(charts.scatter_chart, places), square)
    both = ("precision", "recall")
    further = [_lemmas(drawn, means, name, order, look) for name in both]
    trends_of = [_trends(drawn, names, order, low) for names in (both, ("L",))]
    yield Fold("Precision and recall of each lemma, and trends", [*further, *trends_of])


def _order(stage: StageView) -> str:
    trend = stage.options_as(Trend)
    if trend.order == "size":
        return "lemmas, by number of gold forms"
    drawn = trend.sample is not None
    return "lemmas, in the order of the sample" if drawn else "lemmas, in alphabetical order"


def _lemmas(
    drawn: pl.DataFrame, means: Mapping[str, float], name: str, order: str, look: Look
) -> Figure:
    mean = float(means[f"mean {name}"])
    some = "" if drawn.height == means["sampled lemmas"] else f" Shown: {drawn.height:,} lemmas."
    caption = (
        f"{name.capitalize()} of each sampled lemma; line: moving average over "
        f"{drawn['span'][0]} lemmas.{some}"
    )
    draw = partial(charts.lemma_chart, drawn, name, mean=mean, order=order)
    return figure(name, caption, draw, look)


def _trends(drawn: pl.DataFrame, names: Sequence[str], order: str, look: Look) -> Figure:
    caption = f"Trend of {' and '.join(names)}: moving average over {drawn['span'][0]} lemmas."
    draw = partial(charts.trend_chart, drawn, names, order=order)
    return figure(f"{'-'.join(names)}-trend", caption, draw, look)


def _alignments(stage: StageView, options: LexiconView, scores: pl.DataFrame) -> Iterator[Block]:
    sampled = set(scores["lemma"])
    problems = [
        Problem(
            f"views.{stage.name}.aligned", f"{lemma!r} was not sampled",
            did_you_mean(lemma, sampled),
        )
        for lemma in options.aligned
        if lemma not in sampled
    ]  # fmt: skip
    if problems:
        raise ConfigError("report", problems)
    lemmas = options.aligned or tuple(costliest(scores)["lemma"].head(3))
    rows = {row["lemma"]: row for row in scores.filter(pl.col("lemma").is_in(lemmas)).to_dicts()}
    forms = stage.table("forms").filter(pl.col("lemma").is_in(lemmas)).collect()
    for number, lemma in enumerate(lemmas, 1):
        yield alignment_listing(forms.filter(lemma=lemma), rows[lemma], number=number)


# Tables of several lexicons


def differences_listing(frame: pl.DataFrame) -> Listing:
    """Return the differences in L* of each two lexicons.

    Parameters
    ----------
    frame : DataFrame
        `schemas.LexiconDifferences`.
    """
    caption = (
        "Difference in L* in points, first minus second, with confidence limits, from the same "
        "lemmas, and the numbers of lemmas with a higher L in the first, in the second, and with "
        "equal L. Simultaneous limits hold for all pairs together; verdicts are based on them."
    )
    return listing("differences", caption, frame, DIFFERENCES)


def lexicons_caption(lemmas: pl.DataFrame) -> str:
    """Return the caption of the lexicons, with the sampling unless it is simple.

    Parameters
    ----------
    lemmas : DataFrame
        `schemas.LexiconLemmas`.
    """
    drawn = sampling_text(lemmas)
    text = f"Means over the sampled lemmas{drawn}, and L* with its standard error (SE) and limits."
    return f"{text} The means are unweighted." if drawn else text


LEXICONS = (
    Column("lexicon"),
    Column("n_lemmas", "lemmas"),
    Column("precision", "P (%)", format_percent),
    Column("recall", "R (%)", format_percent),
    Column("L", "L (%)", format_percent),
    Column("l_star", "L* (%)", format_percent),
    Column("standard_error", "SE (points)", format_percent),
    Column(("lower", "upper"), "limits (%)", share_limits),
)


def _own_limits(lower: float | None, upper: float | None) -> str:
    return NULL_TEXT if lower is None else point_limits(lower, upper)


DIFFERENCES = (
    Column("first"),
    Column("second"),
    Column("difference", text=format_points),
    Column(("lower", "upper"), "limits", _own_limits),
    Column(("lower_family", "upper_family"), "simultaneous limits", point_limits),
    Column("verdict", "first is", lambda verdict: "" if verdict == "open" else verdict),
    Column("n_first", "L higher in first"),
    Column("n_second", "in second"),
    Column("n_equal", "equal"),
)


def differing_listing(frame: pl.DataFrame, lexicons: Sequence[str], *, most: int) -> Listing:
    """Return the lemmas for which the lexicons differ most.

    Parameters
    ----------
    frame : DataFrame
        `schemas.LexiconLemmas`.
    lexicons : sequence of str
        The columns, in this order.
    most : int
        The number of lemmas.
    """
    differing = frame.filter(pl.col("rank") <= most).sort("rank", "lexicon")
    columns = [Column("lemma"), Column("n_gold", "gold forms")]
    for name in lexicons:
        mine = ("lexicon", name)
        columns += [
            Column("L", f"L (%): {name}", partial(format_percent, digits=1), at=mine),
            Column("missing", f"missing: {name}", partial(wrap_forms, width=30, most=2), at=mine),
        ]
    caption = (
        f"The {count_text(differing['rank'].n_unique(), 'lemma')} that contribute most to the "
        "differences (gold forms times the range of L)."
    )
    return listing("lemmas", caption, differing, columns, by=["rank"])


# The view of several lexicons


class LexiconsView(StyleOptions):
    """Options of the section on the comparison of lexicons."""

    k: int = 20
    """Show this many of the lemmas for which they differ most."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Rename the lexicons, by the names of their stages: { gf_quality = "GF" }."""


class ComparedLexicons(StageOptions):
    """The lexicons that the stage compares."""

    lexicons: tuple[str, ...]


def lexicons_overview(stage: StageView) -> Listing | None:
    """Return L* of each lexicon, the highest first."""
    lexicons = stage.table("lexicons").collect()
    if not lexicons["n_lemmas"].sum():
        return None
    ordered = lexicons.sort("l_star", "lexicon", descending=[True, False], nulls_last=True)
    caption = (
        "L* of each lexicon (%) with confidence limits, and the difference in L* from the first "
        "lexicon in points with simultaneous limits for all pairs."
    )
    pairs = pairs_with(stage.table("differences").collect(), ordered["lexicon"][0])
    texts = {pair.other: _difference(pair.difference, pair.lower, pair.upper) for pair in pairs}
    difference = Column(
        "lexicon", "difference (points)", lambda name: texts.get(name, ""), right=True
    )
    names = names_of(stage)
    name = Column("lexicon", text=lambda lexicon: names[lexicon])
    columns = [name, LEXICONS[5], LEXICONS[7], difference, LEXICONS[1]]
    return listing("overview", caption, ordered, columns)


def _difference(gap: float, lower: float | None, upper: float | None) -> str:
    known = lower is not None and upper is not None
    return f"{format_points(gap)} {point_limits(lower, upper)}" if known else format_points(gap)


@view(
    "evaluate.lexicons",
    options=LexiconsView,
    title="Comparison of lexicons",
    place=10,
    overview=lexicons_overview,
    leading="lexicons",
)
def show_lexicons(stage: StageView, options: LexiconsView) -> Sequence[Block]:
    """Show L* of each, the differences, and the lemmas for which they differ most."""
    order = stage.options_as(ComparedLexicons).lexicons
    select_names(tuple(options.labels), order, where=f"views.{stage.name}.labels")
    place = place_in(order, "lexicon")
    lexicons = _with_names(stage.table("lexicons").collect().sort(place), stage, "lexicon")
    if not lexicons["n_lemmas"].sum():
        return [Text("The lexicons have no sampled lemma in common.")]
    rows = lexicons.select("lower", "upper", name="lexicon", value="l_star")
    compared = stage.table("differences").collect().sort("first", "second")
    differences = _with_names(compared, stage, "first", "second")
    names = pl.concat_str("first", "second", separator=" − ").alias("name")
    known = pl.when(pl.col("lower").is_not_null())
    pairs = differences.select(
        names, value="difference", lower=known.then("lower_family"),
        upper=known.then("upper_family"),
    )  # fmt: skip
    lemmas = _with_names(stage.table("lemmas").collect(), stage, "lexicon")
    return [
        _figure("lexicons", rows, "L* (%)", options, zero=False),
        listing("lexicons", lexicons_caption(lemmas), lexicons, LEXICONS),
        _figure("differences", pairs, "difference in L* (points)", options, zero=True),
        differences_listing(differences),
        differing_listing(lemmas, lexicons["lexicon"].to_list(), most=options.k),
    ]


def _with_names(frame: pl.DataFrame, stage: StageView, *columns: str) -> pl.DataFrame:
    """Return the table with display names."""
    return frame.with_columns(pl.col(columns).replace(names_of(stage)))


def _figure(
    name: str, frame: pl.DataFrame, title: str, options: LexiconsView, *, zero: bool
) -> Block:
    if frame["value"].drop_nulls().is_empty():
        return Text(f"No {title.partition(' (')[0]} can be computed.")
    draw = partial(charts.lexicon_chart, frame, title=title, zero=zero)
    subject = "Differences in L* between lexicons" if zero else "L* of each lexicon"
    caption = f"{subject}, with confidence limits unless all lemmas were evaluated."
    return figure(name, caption, draw, options.look)


# Preparation: reading, generating and keying lexicons


@view("extract.lexicon", title="Lexicon", of=stage_title, place=62)
def show_preparation(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show the data read, the changes by each spelling step, and the result."""
    return [_preparation(stage, "Rows of the file")]


@view("extract.paradigms", title="Lexicon from paradigms", of=stage_title, place=62)
def show_generated(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show the forms generated, and the changes by each spelling step."""
    return [_preparation(stage, "Generated forms")]


def _preparation(stage: StageView, subject: str) -> Listing:
    frame = stage.table("preparation").collect().sort("number")
    caption = f"{subject}, texts changed by each step with an example, and the result."
    return Listing(
        "preparation", caption, frame.select("step", "n", pl.col("such_as").alias("example"))
    )


def _double_keying(stage: StageView) -> Iterator[Block]:
    """Show how far people agree on forms, and where they differ."""
    agreement = stage.table("agreement").collect()
    if agreement.is_empty():
        return
    caption = (
        "Agreement of people who keyed in the same lemmas: the share of lemmas with equal forms,"
        " and twice the forms in common divided by all forms of both, with confidence limits."
    )
    table = agreement.select(
        pl.col("annotator_1").replace("*", "all pairs").alias("first"),
        pl.col("annotator_2").replace("*", "all pairs").alias("second"),
        pl.col("statistic").replace({"lemmas": "equal lemmas", "forms": "agreement of forms"}),
        "lemmas", "estimate", "lower", "upper",
    )  # fmt: skip
    yield Listing("keying agreement", caption, table)
    compared = stage.table("compared").filter(pl.col("agreement") < 1).collect()
    if compared.height:
        yield Listing("different forms", "Lemmas for which two people keyed in different forms.",
            compared.sort("agreement", "lemma").select(
                "lemma", pl.col("annotator_1").alias("first"), pl.col("only_1").alias("only first"),
                pl.col("annotator_2").alias("second"), pl.col("only_2").alias("only second"),
                "agreement",
            ),
        )  # fmt: skip


@view("join.keying", title="Forms from printed dictionaries", place=60)
def show_keyed(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Count the lemmas in the dictionary."""
    keyed = stage.table("keyed").collect()
    there, forms = int(keyed["found"].sum()), int(keyed["n_forms"].sum())
    share = f" ({100 * there / keyed.height:.1f} %)" if keyed.height else ""
    return [
        Text(
            f"{count_text(keyed.height, 'lemma')} looked up; the dictionary has {there:,}{share}, "
            f"with {count_text(forms, 'form')}."
        ),
        _preparation(stage, "Forms keyed in"),
        *_double_keying(stage),
        *notes_listing(stage, "lemma", "forms"),
    ]
