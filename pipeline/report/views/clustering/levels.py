"""Views of clusters at token and type level: scores, mappings, classes, and word types."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import polars as pl

from pipeline.findings.base import StageView
from pipeline.findings.clustering import Run, WithoutClusterOptions, clusters_with_words, senses_of
from pipeline.findings.phrases import slug
from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    TYPE_LEVEL,
    TYPE_MEASURES,
    ClusterMeasure,
    is_proportion,
)
from pipeline.registry import Registry
from pipeline.report import charts
from pipeline.report.charts.style import Look
from pipeline.report.explorer import Attribute, Explorer
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
    format_decimals,
    format_percent,
    listing,
    max_rows_in_memory,
    place_in,
    select_names,
    share_limits,
    view,
)

# Figures: classes by clusters, and classes one by one

WIDEST, NARROWEST, LOWEST, PAGE = 24.0, 3.0, 14.0, 640.0
"""Limits of the width of a cell, its least height, approximate width of a heat map; pixels."""


class ShownRun(Run):
    """A run with figures: the first of its system, or the only one."""

    @property
    def phrase(self) -> str:
        """Its name in captions."""
        return self.system if self.only else f"{self.system}, run {self.run}"


def first_runs(frame: pl.DataFrame) -> list[ShownRun]:
    """Return the first run of each system, by name.

    Examples
    --------
    >>> first_runs(pl.DataFrame({"system": ["b", "a", "a"], "run": ["1", "2", "1"]}))[0].phrase
    'a, run 1'
    """
    run = pl.col("run")
    first = frame.group_by("system").agg(run.min(), only=run.n_unique() == 1).sort("system")
    return [ShownRun(*row) for row in first.iter_rows()]


_SEVERAL = pl.col("run").n_unique().over("system") > 1
_RUN_NAME = pl.when(_SEVERAL).then(pl.format("{} ({})", "system", "run")).otherwise("system")
"""The name of a run in a table of all runs: that of its system, if it is the only one."""


def _run_columns(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the columns that name a run: only the system, if each has one run."""
    return ("system", "run") if frame.select(_SEVERAL.any()).item() else ("system",)


def mapping_figure(
    overlaps: pl.DataFrame, mapped: Mapping[str, str], *, name: str, head: str, unit: str,
    look: Look,
) -> Figure:  # fmt: skip
    """Return the heat map of classes by clusters, ordered so that the mapping is a diagonal.

    Parameters
    ----------
    overlaps : DataFrame
        gold, cluster, n_ij, n_i, n_j of one run.
    mapped : mapping of str to str
        Cluster to class, without unmapped clusters.
    name : str
        The system, for the names of the files.
    head : str
        The run and mapping, for the caption.
    unit : str
        "types" or "tokens".
    look : Look
        Look of the figure.
    """
    rows, columns = diagonal_order(overlaps, mapped)
    cell = min(WIDEST, max(NARROWEST, PAGE / max(1, len(columns))))
    grid = charts.Grid(
        rows=rows, columns=columns, row_title="gold class", column_title="cluster", cell=cell,
        row=max(cell, LOWEST),
        legend=f"share of the cluster's {unit} in the class",
    )  # fmt: skip
    of = pl.col("cluster").replace_strict(dict(mapped), default=None, return_dtype=pl.String)
    cells = overlaps.select(
        row="gold", column="cluster", value=pl.col("n_ij") / pl.col("n_j"),
        marked=(pl.col("gold") == of).fill_null(value=False),
    )  # fmt: skip
    caption = (
        f"{head}: classes by clusters. A frame marks the class that a cluster is mapped to. "
        f"Classes with most {unit} come first; clusters are in the order of their classes"
        f"{', with unmapped clusters last' if len(mapped) < len(columns) else ''}."
    )
    draw = partial(charts.grid_map, cells, grid)
    return figure(f"mapping-{slug(name)}", caption, draw, look)


def diagonal_order(
    overlaps: pl.DataFrame, mapped: Mapping[str, str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Return classes, the largest first, and clusters in the order of their classes.

    Examples
    --------
    >>> rows = {"gold": ["N", "N", "V"], "cluster": ["2", "1", "1"], "n_i": [3, 3, 5],
    ...         "n_j": [1, 7, 7]}
    >>> diagonal_order(pl.DataFrame(rows), {"1": "N", "2": "V"})
    (['V', 'N'], ['2', '1'])
    """
    sizes = (
        overlaps.group_by("gold").agg(pl.max("n_i")).sort("n_i", "gold", descending=[True, False])
    )
    rows = sizes["gold"].to_list()
    place = {gold: number for number, gold in enumerate(rows)}
    columns = overlaps.group_by("cluster").agg(pl.max("n_j")).rows()
    last = len(rows)
    columns.sort(key=lambda row: (place.get(mapped.get(row[0], ""), last), -row[1], row[0]))
    return rows, [cluster for cluster, _ in columns]


def class_figure(classes: pl.DataFrame, *, name: str, head: str, look: Look) -> Figure:
    """Return precision and recall of each class, the largest class first.

    Parameters
    ----------
    classes : DataFrame
        gold, n_i, precision, recall, uncovered of one run under one mapping.
    name, head, look
        As for `mapping_figure`.
    """
    ordered = classes.sort("n_i", "gold", descending=[True, False])
    label = pl.when("uncovered").then(pl.format("{} (uncovered)", "gold")).otherwise("gold")
    frame = ordered.select("precision", "recall", name=label)
    draw = partial(
        charts.dot_plot, frame, frame["name"].to_list(), title="share of the types",
        kinds=("precision", "recall"),
    )  # fmt: skip
    caption = (
        f"{head}: precision and recall of the clusters mapped to each class. Uncovered: no cluster "
        "is mapped to it."
    )
    return figure(f"classes-{slug(name)}", caption, draw, look)


# The table of all clusters of a run

WORDS = 10
"""Example words of each cluster."""
WIDTH = 36
"""Characters of a line of words."""


def clusters_listing(
    stage: StageView, run: ShownRun, mapping: pl.DataFrame, *, head: str, unit: str
) -> Listing:
    """Return a row for each cluster of a run, the largest first.

    Parameters
    ----------
    stage : StageView
        A stage that evaluates clusters.
    run : ShownRun
        The run.
    mapping : DataFrame
        cluster, gold (null if unmapped), n_ij, n_j of the run under one mapping.
    head : str
        The run and mapping, for the caption.
    unit : str
        The unit of n_j: "types" or "tokens".
    """
    clusters = clusters_with_words(stage, Run(*run), mapping, most=WORDS)
    frame = clusters.with_columns(
        share=pl.when(pl.col("gold").is_not_null()).then(pl.col("n_ij") / pl.col("n_j")),
        words=pl.col("words").list.join(", "),
    ).select("cluster", "gold", "share", "n_ij", "n_j", "words")
    caption = (
        f"{head}: all clusters with their most frequent words, the class that they are mapped to, "
        f"and the share of their {unit} in this class."
    )
    columns = (
        Column("cluster"),
        Column("words", "most frequent words", _wrap),
        Column("gold", "mapped to"),
        Column("share", "share (%)", format_percent),
        Column("n_j", unit),
    )
    return listing(f"clusters-{run.system}", caption, frame, columns)


def _wrap(words: str) -> str:
    """Return words on lines that fit a phone."""
    return textwrap.fill(words, WIDTH, break_on_hyphens=False)


# The table of all word types


def type_explorer(
    stage: StageView, runs: Sequence[ShownRun], *, measure: str, mapping: str, most_rows: int
) -> Explorer | None:
    """Return a table of all word types with a gold entry, the most frequent first.

    Parameters
    ----------
    stage : StageView
        The stage, "evaluate.type_level".
    runs : sequence of ShownRun
        The runs that are shown.
    measure, mapping : str
        The mapping of clusters to classes.
    most_rows : int
        The largest number of types on the page.

    Returns
    -------
    Explorer or None
        None if the stage has no gold table as input.
    """
    if "gold" not in stage.inputs:
        return None
    gold = stage.table(stage.inputs["gold"])
    systems = [stage.table(table) for option, table in stage.inputs.items()
               if option.partition(".")[0] == "systems"]  # fmt: skip
    mapped = stage.table("mapping").filter(measure=measure, mapping=mapping)
    frame = gold.group_by("item").agg(
        tokens=pl.col("f").sum(), gold=pl.col("gold").unique().sort().str.join(" ")
    )
    entries = pl.concat([each.select("system", "run", "item", "cluster") for each in systems])
    for run in runs:
        own = item_scores(gold, entries.filter(run.rows), mapped.filter(run.rows))
        columns = {f"{run.system} {name}": name for name in ("clusters", "mapped", "F")}
        frame = frame.join(own.select("item", **columns), on="item", how="left")
    whole = frame.select(pl.len()).collect(engine="streaming").item()
    fit = max_rows_in_memory(len(frame.collect_schema()))
    count = whole if fit is None or whole <= fit else min(most_rows, fit)
    ordered = frame.sort(["tokens", "item"], descending=[True, False])
    rows = ordered.head(count).collect(engine="streaming")
    return Explorer(
        "all-types",
        "All word types with a gold entry: their gold classes and, for each system, their "
        "clusters, the classes that these are mapped to, and F (%), under the "
        f"{mapping} mapping of {measure}. Search, sort and filter the table; open a row for "
        "details.",
        ("word type", "word types"),
        rows,
        _columns(rows, runs),
        key="item",
        order="tokens",
        falling=True,
        matters="with most tokens",
        whole=whole,
        most_rows=most_rows,
    )


def item_scores(gold: pl.LazyFrame, entries: pl.LazyFrame, mapped: pl.LazyFrame) -> pl.LazyFrame:
    """Return clusters, their classes, and F for each item with a gold entry.

    F is 2 common / (|A| + |h(B)|), for the gold classes A and the classes h(B) of its clusters;
    an unmapped cluster counts in |h(B)|.

    Parameters
    ----------
    gold : LazyFrame
        `schemas.GoldEntries`.
    entries : LazyFrame
        The clusters of one run, `schemas.InducedEntries`.
    mapped : LazyFrame
        The class of each cluster, `schemas.ClusterMapping` of one run, measure and mapping.
    """
    classes = mapped.select("cluster", to="gold")
    known = entries.select("item", "cluster").unique().join(classes, on="cluster", how="left")
    per_item = known.group_by("item").agg(
        clusters=pl.col("cluster").sort().str.join(" "),
        mapped=pl.col("to").drop_nulls().unique().sort().str.join(" "),
        to=pl.col("to").drop_nulls().unique(),
        size=pl.col("to").drop_nulls().n_unique() + pl.col("to").null_count(),
    )
    classes_of = gold.group_by("item").agg(pl.col("gold").unique())
    both = classes_of.join(per_item, on="item", how="left")
    common = pl.col("gold").list.set_intersection("to").list.len()
    whole = pl.col("gold").list.len() + pl.col("size")
    return both.select(
        "item", "clusters", "mapped", F=(2 * common / whole).fill_null(0.0).cast(pl.Float64)
    )


def _columns(rows: pl.DataFrame, runs: Sequence[ShownRun]) -> tuple[Attribute, ...]:
    attributes = [
        Attribute("item", "word type", "text"),
        Attribute("tokens", "tokens", "count"),
        Attribute("gold", "gold classes", "label"),
    ]
    for run in runs:
        name = run.system
        attributes += [
            Attribute(f"{name} clusters", f"{name} clusters", "text", of=run.phrase,
                      part="clusters", visible=False),
            Attribute(f"{name} mapped", f"{name} mapped to", "label", of=run.phrase,
                      part="mapped to", visible=len(runs) == 1),
            Attribute(f"{name} F", f"{name} F (%)", "share", of=run.phrase, part="F (%)"),
        ]  # fmt: skip
    return tuple(each for each in attributes if each.name in rows.columns)


# Names, units and order of measures

FIRST = (
    *("many_to_one", "one_to_one", "nvi", "v", "h_class_given_cluster", "h_cluster_given_class"),
    *("vi", "meila_heckerman", "misclassification_index", "van_dongen", "mirkin", "nmi", "ami"),
    *("rand", "adjusted_rand"),
    *("fuzzy_bcubed_f", "fuzzy_bcubed_precision", "fuzzy_bcubed_recall", "fuzzy_nmi"),
    *("bcubed_f", "bcubed_precision", "bcubed_recall", "nmi_lfk", "nmi_max", "omega"),
    "element_centric",
)
"""The measures of tokens and of overlapping clusters that come first."""

UNSEEN = (
    "MicroC ignores uncovered classes (no cluster is mapped to them), so it can be high although "
    "whole classes are missing; MacroI includes them. Read MicroC together with the number of "
    "uncovered classes, and all three measures together with the floor: the value with every "
    "cluster mapped to the largest class."
)


def title(measure: str) -> str:
    """Return the title of a measure in figures; an arrow means that low values are good.

    Examples
    --------
    >>> title("vi"), title("MacroI M-1"), title("not_known")
    ('VI ↓', 'MacroI M-1', 'not known')
    """
    if is_type_level(measure):
        name, _, mapping = measure.rpartition(" ")
        return f"{TYPE_MEASURES.title(name)} {mapping}"
    registry = _registry(measure)
    low = measure in registry and registry.get(measure).better == "lower"
    return registry.title(measure) + (" ↓" if low else "")


def _registry(measure: str) -> Registry[ClusterMeasure[Any]]:
    return TOKEN_MEASURES if measure in TOKEN_MEASURES else OVERLAPPING_MEASURES


def scale(measure: str) -> float:
    """Return the factor from values of a measure to the values shown.

    Examples
    --------
    >>> scale("v"), scale("vi")
    (100.0, 1.0)
    """
    return 100.0 if is_proportion(measure) else 1.0


def in_unit(measure: str, value: float | None) -> str:
    """Return a value of a measure as text: proportions in per cent.

    Examples
    --------
    >>> in_unit("v", 0.65432), in_unit("vi", 1.5), in_unit("v", None)
    ('65.43', '1.5000', '–')
    """
    return format_percent(value) if is_proportion(measure) else format_decimals(value)


def with_unit(measure: str) -> str:
    """Return the column head of a measure.

    Examples
    --------
    >>> with_unit("v"), with_unit("vi")
    ('V (%)', 'VI ↓')
    """
    return title(measure) + (" (%)" if is_proportion(measure) else "")


def order_measures(measures: Iterable[str]) -> list[str]:
    """Return measures in the order of the report: types by mapping, then tokens, then others.

    Examples
    --------
    >>> order_measures(["v", "MicroI 1-1", "mine", "MacroI M-1", "MacroI 1-1", "many_to_one"])
    ['MacroI M-1', 'MacroI 1-1', 'MicroI 1-1', 'many_to_one', 'v', 'mine']
    """
    return sorted(set(measures), key=_place)


def is_type_level(measure: str) -> bool:
    """Return whether a measure counts types: its name has a mapping, "MacroI M-1"."""
    return " " in measure


def mapped_by_text(measures: Iterable[str]) -> str:
    """Name the measures of types that are scored under the mappings of another one.

    Examples
    --------
    >>> mapped_by_text(["MacroI", "MicroC"])
    ''
    """
    known = [TYPE_MEASURES.get(name) for name in sorted(set(measures)) if name in TYPE_MEASURES]
    return "".join(
        f" {TYPE_MEASURES.title(each.name)} uses the mappings of {each.mapped_by} instead."
        for each in known
        if each.mapped_by != each.name
    )


def _place(measure: str) -> tuple[int, int, int, str]:
    if is_type_level(measure):
        name, _, mapping = measure.rpartition(" ")
        return (0, 0 if mapping == "M-1" else 1, _at(name, TYPE_LEVEL), name)
    return (1, 0, _at(measure, FIRST), measure)


def _at(name: str, order: tuple[str, ...]) -> int:
    return order.index(name) if name in order else len(order)


# Token-level scores, and measures for overlapping clusters

HOW_TOKENS = (
    "These measures count tokens, so frequent words have more weight. M-1 accuracy maps each "
    "cluster to the class of most of its tokens; 1-1 accuracy maps at most one cluster to each "
    "class. ↓: low values are good. M-1 accuracy and homogeneity increase with the number of "
    "clusters: only compare systems with similar numbers."
)


class TokenLevelView(StyleOptions):
    """Options of the section on token-level scores."""

    systems: tuple[str, ...] = ()
    """Draw figures for these systems; by default all."""
    mapping: Literal["many_to_one", "one_to_one"] = "many_to_one"
    """Show this mapping in the figures."""


@view("evaluate.token_level", options=TokenLevelView, title="Token-level scores", place=25)
def show_token_level(stage: StageView, options: TokenLevelView) -> Sequence[Block]:
    """Show how to read the measures, the scores with their limits, and the mappings."""
    scores = stage.table("scores").collect()
    if scores.is_empty():
        return [Text("There are no runs to evaluate.")]
    names = sorted(set(scores["system"]))
    systems = select_names(options.systems, names, where=f"views.{stage.name}.systems")
    caption = "Token-level scores of each run."
    if scores["lower"].null_count() < scores.height:
        caption += " Brackets: bootstrap limits (over sentences)."
    runs = [run for run in first_runs(scores) if run.system in systems]
    figures = [block for run in runs for block in _tokens_of_run(stage, options, run)]
    table = _listing(scores, caption, Column(("value", "lower", "upper"), text=_limits))
    how = Fold("How to read these scores", [Text(HOW_TOKENS)])
    return [
        *_missing_clusters(stage),
        table,
        how,
        Fold("How clusters are mapped to classes", figures),
    ]


@view("evaluate.overlapping", title="Scores for overlapping clusters", place=30)
def show_overlapping(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show the scores."""
    scores = stage.table("scores").collect()
    caption = "Measures for overlapping classes and clusters"
    if scores["lower"].null_count() < scores.height:
        caption += ". Brackets: bootstrap limits (over items)."
        return [_listing(scores, caption, Column(("value", "lower", "upper"), text=_limits))]
    caption += ", ± the standard error of estimates."
    return [_listing(scores, caption, Column(("value", "standard_error"), text=_with_error))]


class SensesView(ViewOptions):
    """Options of the section on word senses."""

    measure: str = ""
    """Show this measure of each word; by default the first column of the table."""


_HEADINGS = {"heaviest": "Heaviest sense of each instance", "graded": "Graded senses", "": ""}


@view(
    "evaluate.senses",
    options=SensesView,
    title="Word senses",
    other_title=lambda stage: _HEADINGS[senses_of(stage)],
    place=30,
)
def show_senses(stage: StageView, options: SensesView) -> Sequence[Block]:
    """Show the means over words, the means by instances, and a measure of each word."""
    scores = stage.table("scores").collect()
    if scores.is_empty():
        return [Text("There are no runs to evaluate.")]
    caption = "Measures of the instances of each word, means over words."
    if scores["lower"].null_count() < scores.height:
        caption += " Brackets: bootstrap limits (over words)."
    weighted = scores.drop("value").rename({"weighted": "value"})
    by_instances = "The same, where words are weighted by their instances."
    names = order_measures(scores["measure"])
    measure = options.measure or names[0]
    select_names((measure,), names, where=f"views.{stage.name}.measure")
    return [
        _listing(scores, caption, Column(("value", "lower", "upper"), text=_limits)),
        *_instance_counts(stage),
        Fold(
            "Means by instances and scores of each word",
            [
                _listing(
                    weighted, by_instances, Column("value", text=_value_text), name="weighted"
                ),
                _words(stage, measure),
            ],
        ),
    ]


def _value_text(value: float | None, *, measure: str) -> str:
    """Return a value of a measure as text."""
    return in_unit(measure, value)


_INSTANCES = {
    "words without an instance in a cluster": "Words without any induced sense",
    "instances without a cluster": "Gold instances without an induced sense",
    "instances without a gold sense": ("Induced instances without a gold sense (not scored)"),
    "instances with several heaviest gold senses": (
        "Instances with several heaviest gold senses (the first by name counts)"
    ),
    "instances with several heaviest clusters": (
        "Instances with several heaviest induced senses (the first by name counts)"
    ),
}
"""Counts of a stage, as the page describes them."""


def _instance_counts(stage: StageView) -> Iterator[Block]:
    """Say how many instances lack a sense, and how many have several heaviest ones."""
    sizes = stage.table("sizes").collect().with_columns(name=_RUN_NAME).sort("system", "run")
    for what, described in _INSTANCES.items():
        rows = sizes.filter(pl.col("count") > 0, what=what)
        counts = rows["count"].to_list()
        if not counts:
            continue
        # Counts of the gold standard are the same for all systems.
        if len(set(counts)) == 1 and len(counts) == sizes.select("system", "run").n_unique() > 1:
            text = f"{counts[0]:,} for every system"
        else:
            text = _count_texts(rows.select("name", "count"))
        yield Text(f"{described}: {text}.")


def _count_texts(counts: pl.DataFrame) -> str:
    """List the counts of the first runs: name and count."""
    return "; ".join(f"{name}: {count:,}" for name, count in counts.head(12).iter_rows())


def _words(stage: StageView, measure: str) -> Listing:
    """Return a row for each word and a column for each run."""
    words = stage.table("words").filter(measure=measure).collect()
    words = words.with_columns(name=_RUN_NAME).sort("by", "system", "run")
    columns = (
        Column("by", "word"),
        Column("instances"),
        *(
            Column("value", name, partial(_value_text, measure=measure), at=("name", name))
            for name in words["name"].unique(maintain_order=True)
        ),
    )
    caption = f"Scores of each word: {with_unit(measure)}."
    return listing("words", caption, words, columns, by=("by", "instances"), source=words)


def _listing(scores: pl.DataFrame, caption: str, cell: Column, *, name: str = "scores") -> Listing:
    """Return a row for each run and a column for each measure."""
    runs = _run_columns(scores)
    columns = (
        *map(Column, runs),
        *(
            replace(
                cell,
                head=with_unit(measure),
                at=("measure", measure),
                text=partial(cell.text, measure=measure),
            )
            for measure in order_measures(scores["measure"])
        ),
    )
    return listing(name, caption, scores, columns, by=runs, source=scores.sort(runs))


def _limits(value: float | None, lower: float | None, upper: float | None, *, measure: str) -> str:
    text = in_unit(measure, value)
    if value is None or lower is None:
        return text
    return f"{text} [{in_unit(measure, lower)}, {in_unit(measure, upper)}]"


def _with_error(value: float | None, error: float | None, *, measure: str) -> str:
    text = in_unit(measure, value)
    return text if value is None or error is None else f"{text} ± {in_unit(measure, error)}"


def _missing_clusters(stage: StageView) -> list[Block]:
    index = ["name", "system", "run"]
    counts = stage.table("sizes").collect().with_columns(name=_RUN_NAME)
    sizes = counts.pivot(on="what", index=index, values="count")
    without = sizes.filter(pl.col("tokens without a cluster") > 0).sort("system", "run")
    if without.is_empty():
        return [Text("Every token has a cluster in every run.")]
    has_extra = stage.options_as(WithoutClusterOptions).without_cluster == "cluster"
    fate = "form one additional cluster" if has_extra else "are excluded"
    text = "; ".join(
        f"{row['name']}: {row['tokens without a cluster']:,} of {row['tokens']:,}"
        for row in without.head(12).iter_rows(named=True)
    )
    return [Text(f"Tokens without a cluster {fate}: {text}.")]


def _tokens_of_run(stage: StageView, options: TokenLevelView, run: ShownRun) -> Iterator[Block]:
    mine, system = run.rows, run.system
    overlaps = stage.table("overlaps").filter(mine).collect()
    mapping = stage.table("mapping").filter(mine, pl.col("mapping") == options.mapping).collect()
    mapped = dict(mapping.drop_nulls("gold").select("cluster", "gold").iter_rows())
    head = f"{run.phrase}, {title(options.mapping)}"
    if overlaps.is_empty():
        yield Text(f"{head}: no token has a cluster.")
        return
    yield mapping_figure(overlaps, mapped, name=system, head=head, unit="tokens", look=options.look)
    yield clusters_listing(stage, run, mapping, head=head, unit="tokens")


# Type-level scores

_FLOOR = "floor"
HOW_TYPES = (
    "These measures count each word type once, however often it occurs. A type may have several "
    "classes and several clusters. A mapping assigns a class to each cluster: under 1-1, clusters "
    "have different classes; under M-1, any classes. Each measure uses the mapping that maximises "
    "it. MacroI (identical to MacroC) is the F score over all memberships, MicroI the mean F score "
    "of the types, MicroC the mean F score of the covered classes, weighted by the number of types "
    "mapped to them."
)
CLIMBS = (
    "1-1 mappings are exact. M-1 mappings are exact for MacroI and MicroI if every type has one "
    "cluster. Otherwise, the mapping is the best of several hill-climbing searches, and its value "
    "is a lower bound of the optimum. The table shows how many starts reached it, and its gap to "
    "an upper bound for all mappings, where one is known. Certificate: exact by the method; proven "
    "by a search that found no better mapping (with certificate_seconds); or not proven."
)
WIDE_GAP = 0.01
"""Larger gaps are explained."""


class TypeLevelView(StyleOptions, ExplorerOptions):
    """Options of the section on type-level scores."""

    systems: tuple[str, ...] = ()
    """Draw figures for these systems; by default all."""
    measure: str = "MacroI"
    """Show the mapping of this measure in the figures."""
    mapping: Literal["1-1", "M-1"] = "M-1"
    """Show this kind of mapping."""
    worst: int = 15
    """Show this many of the worst items of each system."""


@view(
    "evaluate.type_level", options=TypeLevelView, title="Type-level scores and mappings", place=20
)
def show_type_level(stage: StageView, options: TypeLevelView) -> Sequence[Block]:
    """Show the scores, how to read them, and details for each system."""
    scores = stage.table("scores").collect()
    if scores.is_empty():
        return [Text("There are no runs to evaluate.")]
    names = sorted(set(scores["system"]))
    systems = select_names(options.systems, names, where=f"views.{stage.name}.systems")
    runs = [run for run in first_runs(scores) if run.system in systems]
    if options.measure not in TYPE_LEVEL:
        measured = sorted(set(scores["measure"]))
        select_names((options.measure,), measured, where=f"views.{stage.name}.measure")
    size = Text(_size_text(scores))
    how = [Text(HOW_TYPES + mapped_by_text(scores["measure"])), Text(UNSEEN), Text(CLIMBS)]
    first, *others = (
        list(_types_of_run(stage, options, run)) for run in _best_first(runs, scores, options)
    )
    return [
        size,
        _scores(scores),
        Fold("How to read these scores", [*how, *_gap_texts(scores)]),
        *first,
        *_explorer(stage, options, runs),
        Fold("Other systems", [block for blocks in others for block in blocks]),
    ]


def _best_first(
    runs: Sequence[ShownRun], scores: pl.DataFrame, options: TypeLevelView
) -> Sequence[ShownRun]:
    """Return the runs, starting with the system with the highest score."""
    mine = scores.filter(measure=options.measure, mapping=options.mapping)
    highest = mine.sort("value", descending=True, nulls_last=True)["system"].head(1).to_list()
    return sorted(runs, key=lambda run: run.system not in highest)


def _explorer(
    stage: StageView, options: TypeLevelView, runs: Sequence[ShownRun]
) -> Iterator[Block]:
    if not options.explorer:
        return
    explorer = type_explorer(
        stage, runs, measure=options.measure, mapping=options.mapping,
        most_rows=options.explorer_rows,
    )  # fmt: skip
    if explorer is not None:
        yield explorer


def _gap_texts(scores: pl.DataFrame) -> Iterator[Text]:
    """Explain gaps above 1 %."""
    table = scores.with_columns(name=_RUN_NAME)
    rows = table.filter(pl.col("gap") > WIDE_GAP).sort("gap", descending=True)
    if rows.is_empty():
        return
    gaps = "; ".join(
        f"{row['name']}, {TYPE_MEASURES.title(row['measure'])}: "
        f"{format_percent(row['gap'])}, {row['n_open_clusters']} of {row['n_clusters']} clusters, "
        f"{row['n_in_several']:,} of {row['n_items']:,} types"
        for row in rows.head(12).iter_rows(named=True)
    )
    yield Text(
        "Gaps above one per cent. The bound optimises each set of clusters of a type (MacroI, "
        "MicroI), or each class (MicroC), separately and penalises disagreement; the gap that "
        "remains does not show that a better mapping exists. Gaps are large if many types have "
        "several clusters, because the contribution of a cluster then depends on the classes of "
        "others, or if time was short. The gap (%), the clusters that could have another class in "
        f"a better mapping, and the types in several clusters: {gaps}."
    )


def _size_text(scores: pl.DataFrame) -> str:
    """Describe the items that were evaluated and excluded."""
    first = scores.row(0, named=True)
    text = f"{first['n_items']:,} types have a gold entry, in {first['n_classes']:,} classes. "
    columns = ("name", "system", "run", "n_dropped", "n_without_cluster")
    rows = scores.with_columns(name=_RUN_NAME).select(columns).unique()
    lost = rows.sort("system", "run").filter(
        (pl.col("n_dropped") > 0) | (pl.col("n_without_cluster") > 0)
    )
    if lost.is_empty():
        return text + "Every system has clusters for exactly these types."
    counts = "; ".join(
        f"{name}: {dropped:,} and {without:,}"
        for name, _, _, dropped, without in lost.head(12).iter_rows()
    )
    return (
        f"{text}Types with clusters but no gold entry (excluded) and types with a gold entry but "
        f"no cluster (F = 0): {counts}."
    )


def _score(value: float | None, lower: float | None, upper: float | None) -> str:
    return format_percent(value) + ("" if lower is None else f" {share_limits(lower, upper)}")


def _starts(reached: int | None, starts: int | None) -> str:
    return NULL_TEXT if starts is None else f"{reached} of {starts}"


SCORES = (
    Column("measure", text=TYPE_MEASURES.title),
    Column("mapping"),
    Column(("value", "lower", "upper"), "value (%)", _score),
    Column("recall", "recall (%)", format_percent),
    Column("precision", "precision (%)", format_percent),
    Column("floor", "floor (%)", format_percent),
    Column("certificate"),
    Column(("starts_reaching_best", "starts"), "starts", _starts),
    Column("bound", "bound (%)", format_percent),
    Column("gap", "gap (%)", format_percent),
    Column("n_uncovered", "uncovered"),
)
WORST = (
    Column("item", "type"),
    Column("tokens"),
    Column("gold"),
    Column("mapped", "mapped to"),
    Column("f", "F"),
)


def _scores(scores: pl.DataFrame) -> Listing:
    key = ["system", "run", "measure"]
    floors = scores.filter(mapping=_FLOOR).select(*key, floor="value")
    order = place_in(TYPE_LEVEL, "measure")
    rows = scores.filter(pl.col("mapping") != _FLOOR).join(floors, on=key, how="left")
    by = ["system", "run", order, "measure", "mapping"]
    table = rows.sort(by, descending=[False, False, False, False, True])
    caption = (
        "Type-level scores. Floor: value with every cluster mapped to the largest class. Starts: "
        "how many hill-climbing searches reached the value by themselves; 0 of 7 means that only a "
        "later change of the best mapping found it. Bound: upper bound for all mappings of this "
        "kind; gap: distance of the value from the bound. Uncovered: classes that no cluster is "
        "mapped to."
    )
    several = scores.filter(pl.col("lower").is_not_null())
    if several.height:
        interval = several["interval"][0]
        caption += f" Brackets: bootstrap limits (over types; mapping {interval})."
    columns = (*map(Column, _run_columns(scores)), *SCORES)
    return listing("scores", caption, scores, columns, source=table)


def _types_of_run(stage: StageView, options: TypeLevelView, run: ShownRun) -> Iterator[Block]:
    mine, system = run.rows, run.system
    under = (pl.col("measure") == options.measure) & (pl.col("mapping") == options.mapping)
    head = f"{run.phrase}, {TYPE_MEASURES.title(options.measure)} under {options.mapping}"
    overlaps = stage.table("overlaps").filter(mine).collect()
    every = stage.table("mapping").filter(mine & under).collect()
    classes = stage.table("classes").filter(mine & under).collect()
    if overlaps.is_empty() or classes.is_empty():
        yield Text(f"{head}: no data.")
        return
    mapped = dict(every.drop_nulls("gold").select("cluster", "gold").iter_rows())
    yield mapping_figure(overlaps, mapped, name=system, head=head, unit="types", look=options.look)
    yield class_figure(classes, name=system, head=head, look=options.look)
    yield clusters_listing(stage, run, every, head=head, unit="types")
    items = stage.table("items").filter(mine & under).sort("rank").collect()
    caption = f"{head}: types with the lowest F score, the most frequent first."
    yield listing(f"worst-{system}", caption, items, WORST, source=items.head(options.worst))
