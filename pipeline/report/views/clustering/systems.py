"""Views of systems: data read, class shares, and all measures with correlations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import polars as pl

from pipeline.findings.base import StageView
from pipeline.findings.clustering import CLEAR, compare_levels, few_systems_text
from pipeline.findings.clustering import order_measures as leading_first
from pipeline.findings.phrases import list_text, sentence
from pipeline.kernels.clustering.measure import is_proportion
from pipeline.report import charts
from pipeline.report.view import (
    NULL_TEXT,
    Block,
    Column,
    Figure,
    Fold,
    Listing,
    StyleOptions,
    Text,
    ViewOptions,
    figure,
    format_decimals,
    format_percent,
    listing,
    place_in,
    select_names,
    stage_title,
    unique_names,
    view,
)
from pipeline.report.views.clustering.levels import (
    UNSEEN,
    in_unit,
    is_type_level,
    order_measures,
    scale,
    title,
    with_unit,
)
from schemas.errors import count_text

# Data read


def _has_senses(stage: StageView) -> bool:
    """Return whether a stage reads senses of words: the items are instances."""
    return bool((stage.config.get("columns") or {}).get("by"))


@view("extract.gold", title="Gold classes", place=60)
@view(
    "extract.gold_table",
    title="Gold classes",
    other_title=lambda stage: "Gold senses" if _has_senses(stage) else "",
    place=60,
)
def show_gold(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show how much was read and excluded."""
    sizes = _in_order(_rename_units(stage.table("sizes").collect(), stage))
    columns = [Column("what", "data"), Column("count")]
    return [listing("sizes", "Data read and excluded.", sizes, columns)]


@view(
    "extract.clusters",
    title="Induced clusters",
    of=stage_title,
    other_title=lambda stage: "Induced senses" if _has_senses(stage) else "",
    place=62,
)
@view("extract.tagging", title="Induced clusters", of=stage_title, place=62)
@view("join.tagging", title="Gold tagging", place=60)
def show_clusters(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show the data of each run."""
    sizes = stage.table("sizes").collect()
    if sizes.is_empty():
        return [Text("No data was read.")]
    caption = "Data read and excluded, for each run."
    ordered = _in_order(_rename_units(sizes, stage))
    runs = [
        Column("count", run, at=("run", run), absent=NULL_TEXT)
        for run in dict.fromkeys(ordered["run"])
    ]
    columns = [Column("what", "data"), *runs]
    return [listing("sizes", caption, sizes, columns, by=["what"], source=ordered)]


def _rename_units(sizes: pl.DataFrame, stage: StageView) -> pl.DataFrame:
    """Call classes and clusters senses, and items instances, where a stage reads senses."""
    if not _has_senses(stage):
        return sizes
    names = {"classes": "senses", "clusters": "senses", "cluster": "sense", "item": "instance"}
    return sizes.with_columns(pl.col("what").str.replace_many(names))


def _in_order(sizes: pl.DataFrame) -> pl.DataFrame:
    """Sort the sizes: all tokens, then excluded ones, then the rest."""
    what = pl.col("what")
    place = (
        pl.when(what.is_in(["tokens", "items in the table", "instances in the table"])).then(0)
        .when(what == "tokens that count").then(2)
        .when(what.str.starts_with("tokens") | what.str.contains("^(items|instances) of")).then(1)
        .otherwise(3)
    )  # fmt: skip
    return sizes.sort(place, "what", *(["run"] if "run" in sizes.columns else []))


# Shares of classes

_ALL, _SAID = "*", "all"
"""All items together: the name in tables, and in figures."""
_MOST_ROWS = 20


def _range(one: int | None, other: int | None) -> str:
    """Return two numbers as a range, equal ones once."""
    if one is None or other is None:
        return NULL_TEXT
    return f"{one:,}" if one == other else f"{one:,}–{other:,}"


SHARES = (
    *map(Column, ("gold", "types", "tokens")),
    Column("share_types", "types (%)", format_percent),
    Column("share_tokens", "tokens (%)", format_percent),
)
BANDS = (
    Column(("first_rank", "last_rank"), "ranks", _range, right=False),
    Column("words"),
    Column("types"),
    Column("tokens"),
    Column("share_tokens", "tokens (%)", format_percent),
    Column("classes"),
    Column("classes_per_type", "classes per type", partial(format_decimals, digits=2)),
    Column(("f_max", "f_min"), "frequencies", _range),
)


class SharesView(StyleOptions):
    """Options of the section on shares."""

    classes: int = 6
    """Draw this many of the largest classes in the graph of frequent types."""


@view("evaluate.shares", options=SharesView, title="Classes and their shares", place=40)
def show_shares(stage: StageView, options: SharesView) -> Sequence[Block]:
    """Show the shares of classes, the frequency bands, and the graphs of frequent types."""
    shares = stage.table("shares").collect()
    classes = shares.filter(pl.col("gold") != _ALL).sort("tokens", "gold", descending=[True, False])
    if classes.is_empty():
        return [Text("There are no tokens.")]
    caption = "Types and tokens of each class; a type with several classes counts in each."
    every = pl.concat([classes, shares.filter(gold=_ALL)])
    table = listing("shares", caption, every, SHARES)
    return [
        table,
        _classes(classes, options),
        *_bands(stage),
        _coverage_figure(stage, classes.height, options),
        _growth(stage, classes, options),
    ]


def _bands(stage: StageView) -> Iterator[Listing]:
    bands = stage.table("bands").collect()
    if bands.is_empty():
        return
    caption = (
        "Types by rank of frequency, those with one class and with several apart: their tokens, "
        "the classes that one of them has, and the mean number of classes of a type. Types of "
        "equal frequency are ordered by name."
    )
    # The row of all types has the last rank of the last band, and follows it.
    ordered = bands.sort("last_rank", "first_rank", "words", descending=[False, True, False])
    yield listing("bands", caption, bands, BANDS, source=ordered)


def _coverage_figure(stage: StageView, classes: int, options: SharesView) -> Figure:
    every = stage.table("frequent").filter(gold=_ALL).sort("k").collect()
    names = ("tokens", "classes")
    shares = (pl.col("share_tokens"), pl.col("classes") / classes)
    frame = pl.concat([
        every.select("k", share=share, name=pl.lit(name))
        for name, share in zip(names, shares, strict=True)
    ])  # fmt: skip
    draw = partial(
        charts.growth, frame, names, x_title="k most frequent types", y_title="share",
    )  # fmt: skip
    caption = (
        f"Share of all tokens, and of the {count_text(classes, 'class', 'classes')}, that the k "
        "most frequent types have."
    )
    return figure("covered", caption, draw, replace(options.look, width=480))


def _classes(classes: pl.DataFrame, options: SharesView) -> Figure:
    kinds = ("share of types", "share of tokens")
    frame = classes.head(_MOST_ROWS).select(
        pl.col("gold").alias("name"), pl.col("share_types").alias(kinds[0]),
        pl.col("share_tokens").alias(kinds[1]),
    )  # fmt: skip
    draw = partial(charts.dot_plot, frame, frame["name"].to_list(), title="share", kinds=kinds)
    caption = "Share of each class in all types and in all tokens, by number of tokens."
    return figure("classes", caption, draw, options.look)


def _growth(stage: StageView, classes: pl.DataFrame, options: SharesView) -> Figure:
    names = [_ALL, *classes["gold"].head(options.classes)]
    frame = stage.table("frequent").filter(pl.col("gold").is_in(names)).sort("gold", "k").collect()
    called = pl.col("gold").replace(_ALL, _SAID)
    draw = partial(
        charts.growth,
        frame.select("k", pl.col("share_tokens").alias("share"), name=called),
        [_SAID if name == _ALL else name for name in names],
        x_title="k most frequent types", y_title="share of tokens",
    )  # fmt: skip
    caption = (
        "Share of tokens of the k most frequent types, among all tokens and within the largest "
        "classes. If few types have most of the tokens, these types dominate token-level scores."
    )
    return figure("frequent", caption, draw, replace(options.look, width=480))


# Comparison of systems

Method = Literal["spearman", "kendall"]
_FEWEST = 3
_METHODS = {"spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}
HOW_SYSTEMS = (
    "Each number is the mean over the runs of a system, ± the standard deviation if it has "
    "several. A rank in parentheses is that among the systems (1 is best). ↓: low values are good; "
    "the sign of these measures is reversed for correlations, so that a positive correlation "
    "always means that two measures prefer the same systems."
)


class SystemsView(StyleOptions):
    """Options of the section on the comparison of systems."""

    measures: tuple[str, ...] = ()
    """Correlate these measures; by default all."""
    methods: tuple[Method, ...] = ("spearman", "kendall")
    """Draw these correlations."""
    x: str = ""
    """Use this measure for the horizontal axis; by default V."""
    y: str = ""
    """Use this measure for the vertical axis; by default MicroI under 1-1."""


_AT_A_GLANCE = ("MicroI 1-1", "MicroC 1-1", "v", "one_to_one")
"""Measures for systems with different numbers of clusters: those under M-1 increase with the
number of clusters."""


def systems_overview(stage: StageView) -> Listing | None:
    """Return the measures that are independent of the number of clusters, a row per system."""
    table = stage.table("table").collect()
    known = set(table["measure"])
    names = [name for name in _AT_A_GLANCE if name in known]
    if not names:
        return None
    mine = table.filter(pl.col("measure").is_in(names))
    of = ("mean", "sd", "rank")
    columns = [
        Column(of, with_unit(each), partial(_value, measure=each), at=("measure", each))
        for each in names
    ]
    caption = (
        "Mean over runs, ± standard deviation, rank in parentheses. Measures under M-1 are omitted:"
        " they increase with the number of clusters."
    )
    of_first = mine.filter(measure=names[0]).select("system", place="rank")
    rows = mine.join(of_first, on="system", how="left").sort("place", "system", nulls_last=True)
    return listing(
        "overview", caption, mine, [Column("system"), *columns], by=["system"], source=rows
    )


@view(
    "evaluate.systems",
    options=SystemsView,
    title="Comparison of systems",
    place=10,
    overview=systems_overview,
    leading="scatter",
)
def show_systems(stage: StageView, options: SystemsView) -> Sequence[Block]:
    """Show the table, level by level, the scatter plot and the correlations."""
    table = stage.table("table").collect()
    if table.is_empty():
        return [Text("There are no systems to compare.")]
    where = f"views.{stage.name}"
    names = order_measures(table["measure"])
    measures = select_names(options.measures, names, where=f"{where}.measures")
    for axis, measure in (("x", options.x), ("y", options.y)):
        select_names([measure] if measure else [], names, where=f"{where}.{axis}")
    correlations = stage.table("correlations").collect()
    unseen = [Text(UNSEEN)] if any(name.startswith("MicroC") for name in names) else []
    both = list(_both_levels(stage, table))
    ranks = list(_tables(table, names))
    return [
        *both,
        *([] if both else ranks),
        Fold("How to read this table", [Text(HOW_SYSTEMS), *unseen]),
        *_scatter(table, options, names),
        *_correlations(correlations, measures, options),
        Fold("All measures, with ranks", ranks if both else []),
    ]


# The table of Reichart, Abend & Rappoport (2010): systems by measures of both levels

_HEADS = {"many_to_one": "M-1", "one_to_one": "1-1"}
_GROUPS = ("Token level", "Type level")


def _both_levels(stage: StageView, table: pl.DataFrame) -> Iterator[Listing]:
    """Yield the table with both levels, the first system of each column in bold."""
    tokens, types = compare_levels(set(table["measure"]))
    if not tokens or not types:
        return
    levels = (tokens, order_measures(types))
    mine = table.filter(pl.col("measure").is_in([*tokens, *types]))
    rank = pl.col("rank")
    lowest, highest = rank.min().over("measure"), rank.max().over("measure")
    first = ((rank == lowest) & (lowest < highest)).fill_null(value=False)
    rows = mine.join(_clusters(stage), on="system", how="left").with_columns(first=first)
    columns = [
        Column("system"),
        *([Column("clusters", right=True)] if rows["clusters"].null_count() == 0 else []),
        *(
            Column(
                ("mean", "sd"), _head(measure), partial(_short_value, measure=measure),
                at=("measure", measure), absent=NULL_TEXT, group=group, mark="first",
            )
            for group, measures in zip(_GROUPS, levels, strict=True)
            for measure in measures
        ),
    ]  # fmt: skip
    units = [_head(name).removesuffix(" ↓") for name in tokens if not is_proportion(name)]
    caption = (
        "Systems at token level and at type level: mean over runs, ± standard deviation, in per "
        f"cent{f' except {list_text(units)}' if units else ''}. ↓: low values are good. Bold: the "
        "first system of the column, not tested. M-1 values increase with the number of clusters."
    )
    yield listing("levels", caption, mine, columns, by=["system"], source=rows.sort("system"))


def _clusters(stage: StageView) -> pl.DataFrame:
    """Return the number of clusters of each system, a range if its runs differ.

    Those at type level count, of which each has a word with a gold entry, if they are known.
    """
    counts = [pl.LazyFrame(schema={"system": pl.String, "n": pl.Int64})]
    if "type_level" in stage.inputs:
        counts.append(stage.table(stage.inputs["type_level"]).select("system", n="n_clusters"))
    if "token_level" in stage.inputs:
        scores, _, _ = stage.inputs["token_level"].partition(".")
        mapping = stage.table(f"{scores}.mapping").filter(mapping="many_to_one")
        counted = mapping.group_by("system", "run").agg(n=pl.len().cast(pl.Int64))
        counts.append(counted.select("system", "n"))
    ranges = [
        each.group_by("system").agg(least=pl.min("n"), most=pl.max("n")).collect()
        for each in counts
    ]
    by_system = pl.concat(ranges).unique("system", keep="first", maintain_order=True)
    texts = [_range(*row) for row in by_system.select("least", "most").rows()]
    return by_system.select("system", clusters=pl.Series(texts, dtype=pl.String))


def _head(measure: str) -> str:
    return _HEADS.get(measure) or title(measure)


def _short_value(mean: float | None, sd: float | None, *, measure: str) -> str:
    """Return a value with as few digits as a table of twelve columns has room for."""
    text = (
        partial(format_percent, digits=1)
        if is_proportion(measure)
        else partial(format_decimals, digits=2)
    )
    # A line may end before the sign, not after it.
    return text(mean) + ("" if sd is None else f" ±\xa0{text(sd)}")


def _tables(table: pl.DataFrame, names: Sequence[str]) -> Iterator[Block]:
    types = [name for name in names if is_type_level(name)]
    tokens = [name for name in names if not is_type_level(name)]
    if types:
        yield _listing(table, types, name="types", head="Type level")
    if tokens:
        yield _listing(table, tokens, name="tokens", head="Other measures")


def _listing(table: pl.DataFrame, measures: Sequence[str], *, name: str, head: str) -> Listing:
    mine = table.filter(pl.col("measure").is_in(measures))
    columns = (
        Column("system"),
        Column("n_runs", "runs", str),
        *(
            Column(
                ("mean", "sd", "rank"),
                with_unit(measure),
                partial(_value, measure=measure),
                at=("measure", measure),
            )
            for measure in measures
        ),
    )
    caption = f"{head}: mean over runs, ± standard deviation, rank in parentheses."
    rows = mine.with_columns(pl.col("n_runs").max().over("system")).sort("system")
    return listing(name, caption, mine, columns, by=["system"], source=rows)


def _value(mean: float | None, sd: float | None, rank: float, *, measure: str) -> str:
    if mean is None:
        return NULL_TEXT
    spread = "" if sd is None else f" ± {in_unit(measure, sd)}"
    return f"{in_unit(measure, mean)}{spread} ({rank:g})"


def _scatter(table: pl.DataFrame, options: SystemsView, names: Sequence[str]) -> Iterator[Block]:
    types, others = (leading_first(level, names) for level in ("types", "tokens"))
    others = others or [name for name in names if not is_type_level(name)]
    x = options.x or next(iter(others), "")
    y = options.y or next(iter(types), "")
    if not x or not y:
        return
    sides = [
        table.filter(measure=measure).select(
            pl.col("system").alias("name"),
            (pl.col("mean") * scale(measure)).alias(axis),
            (pl.col("sd") * scale(measure)).alias(f"{axis}_sd"),
        )
        for axis, measure in (("x", x), ("y", y))
    ]
    frame = sides[0].join(sides[1], on="name").drop_nulls(["x", "y"]).sort("name")
    if frame.height < 2:
        return
    caption = f"{title(y)} against {title(x)}, one point per system"
    if frame["x_sd"].null_count() < frame.height:
        caption += "; bars: ± one standard deviation over its runs"
    draw = partial(charts.scatter, frame, x_title=_axis(x), y_title=_axis(y))
    yield figure("scatter", f"{caption}.", draw, replace(options.look, width=440))


def _axis(measure: str) -> str:
    unit = " (%)" if is_proportion(measure) else ""
    return f"{title(measure)}{', types' if is_type_level(measure) else ''}{unit}"


def _correlations(
    correlations: pl.DataFrame, measures: Sequence[str], options: SystemsView
) -> Iterator[Block]:
    systems = int(correlations["n_systems"].max() or 0)  # type: ignore[arg-type]  # a column of numbers
    if systems < _FEWEST:
        many = count_text(systems, "system")
        yield Text(
            f"Correlations between measures need at least {_FEWEST} systems; this table has {many}."
        )
        return
    yield from _between_levels(correlations)
    inside = pl.col("measure_1").is_in(measures) & pl.col("measure_2").is_in(measures)
    for method in options.methods:
        yield _heat_map(correlations.filter(inside, method=method), measures, method, options)


def _between_levels(correlations: pl.DataFrame) -> Iterator[Block]:
    """Yield the correlations of token-level with type-level measures."""
    tokens, types = compare_levels(set(correlations["measure_1"]))
    frame = correlations.filter(
        pl.col("measure_1").is_in(tokens),
        pl.col("measure_2").is_in(types),
        pl.col("n_systems") >= _FEWEST,
    )
    if frame.is_empty():
        return
    ends = frame.select(least=pl.min("n_systems"), most=pl.max("n_systems")).row(0)
    if ends[0] < CLEAR:
        yield Text(sentence(few_systems_text(ends[0])))
    rows = frame.pivot(
        on="method", index=["measure_1", "measure_2"], values="correlation"
    ).sort(place_in(tokens, "measure_1"))  # fmt: skip
    columns = [
        Column("measure_1", "token level", _head),
        *(
            Column(("spearman", "kendall"), _head(name), _two, right=True,
                   at=("measure_2", name), group="Type level")
            for name in order_measures(types)
        ),
    ]  # fmt: skip
    caption = (
        f"Rank correlation of token-level with type-level measures over {_range(*ends)} "
        "systems: Spearman's rho / Kendall's tau-b. Positive: both prefer the same systems."
    )
    yield listing("correlations", caption, frame, columns, by=["measure_1"], source=rows)


def _two(rho: float | None, tau: float | None) -> str:
    return (
        NULL_TEXT if rho is None and tau is None else f"{_two_digits(rho)} /\xa0{_two_digits(tau)}"
    )


def _heat_map(
    frame: pl.DataFrame, measures: Sequence[str], method: Method, options: SystemsView
) -> Figure:
    names = dict(zip(measures, unique_names(map(title, measures)), strict=True))
    texts = [_two_digits(value) for value in frame["correlation"]]
    grid = charts.Grid(
        rows=list(names.values()), columns=list(names.values()), row_title="", column_title="",
        legend=f"{_METHODS[method]} over systems", domain=(-1.0, 1.0), cell=32.0,
        row=26.0,
    )  # fmt: skip
    cells = frame.select(
        row=pl.col("measure_1").replace_strict(names),
        column=pl.col("measure_2").replace_strict(names),
        value="correlation",
        marked=pl.lit(value=False),
        text=pl.Series(texts, dtype=pl.String),
    )
    counts = sorted(set(frame["n_systems"].to_list()))
    many = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
    caption = (
        f"Rank correlation between measures over {many} systems ({_METHODS[method]}): it "
        "describes these systems and does not generalise."
    )
    draw = partial(charts.grid_map, cells, grid)
    return figure(method, caption, draw, options.look)


def _two_digits(value: float | None) -> str:
    if value is None:
        return NULL_TEXT
    # Adding zero turns -0.0 into 0.0.
    return f"{round(value, 2) + 0.0:.2f}".replace("0.", ".").replace("-", "−")
