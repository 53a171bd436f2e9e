"""Graphs of n-best lists for views: options, scopes, captions, interim looks, and figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

import polars as pl

from pipeline.errors import ConfigError, NotMadeYet, Problem
from pipeline.findings.base import StageOptions, StageView
from pipeline.findings.collocations.precision import LookOptions, look_text
from pipeline.findings.phrases import sentence, slug
from pipeline.kernels.measure import measure_title
from pipeline.report import charts
from pipeline.report.charts.spec import thin_values, within
from pipeline.report.charts.style import Extras, Window
from pipeline.report.view import (
    Block,
    Column,
    Draw,
    Fold,
    Listing,
    StyleOptions,
    Text,
    figure,
    listing,
    select_names,
)

# Options of graphs

Kind: TypeAlias = Literal["precision", "recall", "precision_by_recall", "local", "cut"]
"""The kind of graph."""


class Curves(StyleOptions):
    """Curves against n."""

    measures: tuple[str, ...] = ()
    """Draw these measures, in this order; by default all, or the twelve best."""
    bands: tuple[str, ...] = ()
    """Shade the confidence limits of these measures."""
    cuts: tuple[int, ...] | None = None
    """Use these n for the vertical lines and the table; by default the cuts of the stage."""
    first_n: int | None = None
    """Start the graph at this n; by default 100, or a twentieth of a list shorter than 2,000, or
    1 for local precision."""
    last_n: int | None = None
    """End the graph at this n; by default the last."""
    y_min: float | None = None
    """Start the y axis at this percentage; by default 0."""
    y_max: float | None = None
    """End the y axis at this percentage."""
    truth: str | None = None
    """Draw the curves of this other evaluate.precision stage as thin lines."""


class Graph(Curves):
    """One graph of n-best lists."""

    kind: Kind = "precision"
    """Draw ``precision`` or ``recall`` against n, ``precision_by_recall``, ``local`` precision in a
    window of ranks, or ``cut``: precision by recall within the lists of the stage's ``cut``."""
    name: str | None = None
    """Name the picture files like this; by default like the kind."""
    subsets: tuple[str, ...] = ()
    """Draw the sets of these evaluate.subset stages as dots with intervals."""
    comparison: str | None = None
    """Take the tests of ``marks`` from this evaluate.comparison stage."""
    marks: tuple[str, str] | None = None
    """Mark with triangles where the unadjusted test of these two measures is significant."""


OF_PRECISION = ("comparison", "marks", "subsets")
"""Options of graphs of precision only."""
OF_AXES = ("y_min", "y_max", "first_n", "name")
"""Options that depend on the kind of graph."""


def resolve_graphs(view: Graph, further: tuple[Graph, ...]) -> Iterator[tuple[str, Graph]]:
    """Yield each graph with its place among the options: the view's own, then the further ones.

    A further graph inherits the options of the view; a graph of another kind does not inherit the
    range of the axes, and only graphs of precision have subsets and marks.
    """
    own = Graph.model_validate({k: getattr(view, k) for k in view.model_fields_set & _NAMES})
    slots = view.look.slots
    yield "", own.with_colours(slots)
    for index, graph in enumerate(further):
        exclusions = {"name"}
        if graph.kind != own.kind:
            exclusions |= {*OF_AXES, *(() if graph.kind == "precision" else OF_PRECISION)}
        base = {name: getattr(own, name) for name in own.model_fields_set - exclusions}
        set_here = {name: getattr(graph, name) for name in graph.model_fields_set}
        # The kind is never inherited from the view: without one, it is a graph of precision.
        whole = Graph.model_validate({**base, "kind": graph.kind, **set_here})
        yield f"graphs.{index}.", whole.with_colours(slots)


_NAMES = set(Graph.model_fields)


# Captions


def graph_caption(
    extras: Extras,
    window: Window,
    graph: Graph,
    *,
    of: str,
    size: int,
    baseline: bool,
    together: tuple[int, int] | None = None,
) -> str:
    """Describe a graph of n-best lists.

    Parameters
    ----------
    extras, window : Extras, Window
        The contents of the graph.
    graph : Graph
        Its options.
    of : str
        The category as captions name it.
    size : int
        Ranks in the window of local precision, or candidates of the lists of the cut.
    baseline : bool
        Whether the line of the baseline, or of a random order, is drawn.
    together : tuple of int or None
        First and last n of simultaneous limits.
    """
    kind = graph.kind
    parts = [_subject(kind, of, size)]
    if baseline and kind != "cut":
        line = (
            "Grey line: a random order." if kind == "recall" else "Horizontal line: the baseline."
        )
        parts.append(line)
    if extras.cuts and kind in {"precision_by_recall", "cut"}:
        parts.append(f"Points, left to right: n = {_and(tuple(f'{n:,}' for n in extras.cuts))}.")
    elif extras.cuts:
        parts.append("Vertical lines: the n of the table.")
    if window.first_n > 1:
        parts.append(f"The graph starts at n = {window.first_n:,}.")
    if extras.bands:
        parts.append(f"Shaded: pointwise confidence limits of {_and(extras.bands)}.")
    if together and extras.bands:
        first, last = together
        parts.append(
            f"Paler: simultaneous limits for all n from {first:,} to {last:,}, for each measure"
            " separately."
        )
    if extras.truth is not None:
        how = "Thin" if graph.style == "screen" else "Thin grey"
        none = extras.truth.is_empty()
        parts.append("No true curve is known here." if none else f"{how} lines: the true curves.")
    if extras.subsets is not None and extras.subsets.height:
        parts.append("Diamonds: unranked sets, with confidence limits.")
    if extras.marks:
        parts.append(
            f"Triangles: the unadjusted test of {_and(extras.marks)} at that n is significant "
            f"(not a verdict).{_no_marks(extras, window)}"
        )
    return " ".join(parts)


def _no_marks(extras: Extras, window: Window) -> str:
    """State that a pair has no mark in the window: this is a result, too."""
    if extras.comparison is None:
        return ""
    rows = extras.comparison.filter(
        "significant", pl.col("n").is_between(window.first_n, window.last_n or 2**62)
    )
    return " There is none here." if rows.is_empty() else ""


def _subject(kind: str, of: str, size: int) -> str:
    return {
        "precision": f"Precision of the n-best lists{of} against n.",
        "recall": f"Recall of the n-best lists{of} against n.",
        "precision_by_recall": f"Precision against recall of the n-best lists{of}; n grows along "
        "each line.",
        "local": f"Local precision{of}: precision in a window of {size:,} ranks, against its "
        "middle rank.",
        "cut": f"Precision against recall{of} within the top {size:,} of each measure, as if this "
        "list were the whole data set.",
    }[kind]


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


# Interim looks at a sequential sample

_ANYTIME = (
    "Limits and tests hold at every size of the sample simultaneously, for any number of looks "
    "while it grows."
)


def looks_blocks(stage: StageView) -> Iterator[Block]:
    """Yield the current look, and the levels in a fold, unless no look was declared.

    Parameters
    ----------
    stage : StageView
        A stage with the options `looks` and `anytime`, and the table `looks`.
    """
    if stage.options_as(LookOptions).anytime:
        yield Text(_ANYTIME)
    text = look_text(stage)
    if text:
        yield Text(
            f"{sentence(text)} Limits and tests hold simultaneously over all of these looks."
        )
        yield Fold("Looks and their levels", [_listing(stage.table("looks").collect())])


def _listing(looks: pl.DataFrame) -> Listing:
    """Return a row for each look and question."""
    several = [name for name in ("category", "question") if looks[name].n_unique() > 1]
    caption = (
        "The declared looks: labels, level (the two-sided alpha of each limit and test at this "
        "look) and its normal quantile z. No level: the look is exact or uninformative."
    )
    columns = [
        *(Column(name) for name in several),
        Column(("look", "now"), "look", _look_text),
        Column("labels"),
        Column("level", "level (%)", _per_cent),
        Column("z", "z", _quantile),
    ]
    return listing("looks", caption, looks, columns)


def _look_text(look: int, now: bool) -> str:
    return f"{look} (now)" if now else str(look)


def _per_cent(level: float | None) -> str:
    return "" if level is None else f"{100.0 * level:.3g}"


def _quantile(z: float | None) -> str:
    return "" if z is None else f"{z:.3f}"


# Names of samples and sets

_SAMPLES = {
    "sample.random": "a random sample",
    "sample.stratified": "a stratified sample",
    "sample.design": "a designed sample",
    "sample.judged": "the judged candidates",
}


def of_sample(stage: StageView) -> str:
    """Describe the sample of a stage.

    Examples
    --------
    >>> of_sample(StageView("full", "evaluate.precision", {}, print))
    'all candidates judged'
    >>> sample = StageView("tenth", "sample.random", {"rate": 0.1, "replacement": True}, print)
    >>> of_sample(StageView("sampled", "evaluate.precision", {}, print,
    ...           inputs={"sample": "tenth.sample"}, stages={"tenth": sample}))
    'a random sample of 10 %, with replacement'
    >>> sample = StageView("drawn", "sample.design", {"rate": 0.3, "size": 528}, print)
    >>> drawn = pl.LazyFrame({"multiplicity": [1] * 5})  # there were no more candidates
    >>> of_sample(StageView("answers", "evaluate.designed", {}, lambda _: drawn,
    ...           inputs={"sample": "drawn.sample"}, stages={"drawn": sample}))
    'a designed sample of 5'
    """
    if "sample" not in stage.inputs:
        return _judged_candidates(stage)
    sample = stage.source_stage("sample")
    if sample is None:
        return stage.inputs["sample"].partition(".")[0].replace("_", " ")
    size = _sample_size(stage, sample)
    replaced = ", with replacement" if sample.config.get("replacement") else ""
    return f"{_SAMPLES.get(sample.use, sample.name)}{size}{replaced}"


def _judged_candidates(stage: StageView) -> str:
    """Say how many of the ranked candidates are judged."""
    if not {"judgements", "ranks"} <= {*stage.inputs}:
        return "all candidates judged"
    try:
        ranks, labels = (stage.table(stage.inputs[each]) for each in ("ranks", "judgements"))
    except NotMadeYet:
        return "all candidates judged"
    candidates = ranks.select("id").unique()
    judgements = labels.drop_nulls("tp").select("id").unique()
    judged = candidates.join(judgements, on="id", how="semi")
    number, whole = (each.select(pl.len()).collect().item() for each in (judged, candidates))
    return (
        "all candidates judged" if number == whole else f"{number:,} of {whole:,} candidates judged"
    )


def _sample_size(stage: StageView, sample: StageView) -> str:
    """Return the rate of a sample, or the number of its draws, which may be less than planned."""
    designed = sample.use == "sample.design"  # its rate is that of true positives
    rate = None if designed else sample.config.get("rate")
    if rate:
        return f" of {100 * rate:g} %"
    if not (sample.config.get("size") or sample.config.get("sizes")):
        return ""
    draws = stage.table(stage.inputs["sample"]).select(pl.col("multiplicity").sum())
    return f" of {draws.collect().item():,}"


def of_set(stage: StageView) -> str:
    """Return the name of the set of a stage.

    Examples
    --------
    >>> of_set(StageView("filter", "evaluate.subset", {"name": "frequent"}, print))
    'frequent'
    """
    return str(stage.config.get("name") or stage.name.replace("_", " "))


# Scopes: one category of one stage

POINTS = 400
"""The approximate number of points of a line."""


@dataclass(frozen=True)
class Scope:
    """One category of true positives of one stage.

    Parameters
    ----------
    stage : StageView
        The stage.
    category : str
        The category.
    only : bool
        Whether it is the only one shown: names and captions then omit it.
    """

    stage: StageView
    category: str
    only: bool

    def query(self, table: str) -> pl.LazyFrame:
        """Return the rows of a table that belong to the category."""
        return self.stage.table(table).filter(pl.col("category") == self.category)

    def file(self, what: str) -> str:
        """Return the name of a figure's or table's file."""
        return what if self.only else f"{what}-{slug(self.category)}"

    def option(self, name: str) -> str:
        """Return the dotted path of an option, for messages."""
        return f"views.{self.stage.name}.{name}"

    @property
    def text(self) -> str:
        """The category as captions name it; nothing if it is the only one."""
        return "" if self.only else f" ({self.category})"


def scopes(stage: StageView, known: Iterable[str], category: str | None) -> list[Scope]:
    """Return the scopes of the category, or of all, in alphabetical order."""
    names = sorted(set(known))
    option = () if category is None else (category,)
    selection = select_names(option, names, where=f"views.{stage.name}.category")
    return [Scope(stage, name, len(selection) == 1) for name in selection]


def scopes_in(stage: StageView, table: pl.LazyFrame, category: str | None) -> list[Scope]:
    """Return the `scopes` of the categories that a table has."""
    known = table.select("category").unique().collect(engine="streaming")["category"]
    return scopes(stage, known, category)


def cuts_within(cuts: Iterable[int], last: int) -> tuple[int, ...]:
    """Return the cuts within a list of length `last`, ascending.

    Examples
    --------
    >>> cuts_within((500, 100, 2000), 1000)
    (100, 500)
    """
    return tuple(n for n in sorted(set(cuts)) if 1 <= n <= last)


def first_shown(first_n: int | None, last: int) -> int:
    """Return the first n of a graph: 100, or less if the whole list is short.

    Examples
    --------
    >>> first_shown(None, 5102), first_shown(None, 300), first_shown(1, 5102)
    (100, 15, 1)
    """
    return first_n if first_n is not None else min(100, max(1, last // 20))


MANY_LISTS = 100_000
"""The range of sizes from which a graph is drawn in steps."""


def thin_rows(query: pl.LazyFrame, window: Window, *, always: Sequence[int]) -> pl.LazyFrame:
    """Return those rows of a table by n that a graph needs."""
    inside = within(query, window)
    ends = inside.select(first=pl.col("n").min(), last=pl.col("n").max())
    first, last = ends.collect(engine="streaming").row(0)
    if first is None or last - first < MANY_LISTS:
        sizes = inside.select("n").unique().collect(engine="streaming")["n"]
        return inside.filter(pl.col("n").is_in(thin_values(sizes, points=POINTS, always=always)))
    # Millions of sizes are never collected: only the first of each step, as in `thin_values`.
    step = round((last - first) / POINTS)
    steps = inside.group_by(step=(pl.col("n") - first) // step).agg(pl.min("n"))
    firsts = steps.collect(engine="streaming")["n"].to_list()
    return inside.filter(pl.col("n").is_in([*firsts, last, *always]))


# Titles of measures

MEASURES = ("measure", "measure_1", "measure_2", "best_measure")
"""Columns that hold names of measures."""


def with_titles(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with the titles of measures in place of their names.

    Examples
    --------
    >>> with_titles(pl.DataFrame({"measure": ["t_score", "mine"], "n": [9, 9]})).rows()
    [('t-score', 9), ('mine', 9)]
    """
    there = [name for name in MEASURES if name in frame.columns]
    names = {name for column in there for name in frame[column].unique().drop_nulls()}
    return frame.with_columns(pl.col(there).replace({name: measure_title(name) for name in names}))


def titles(names: Iterable[str]) -> tuple[str, ...]:
    """Return the titles of measures, in order.

    Examples
    --------
    >>> titles(["mi", "dice"])
    ('MI', 'Dice')
    """
    return tuple(map(measure_title, names))


def pair_titles(pair: tuple[str, str]) -> tuple[str, str]:
    """Return the titles of two measures."""
    return measure_title(pair[0]), measure_title(pair[1])


def titled_extras(extras: Extras) -> Extras:
    """Return the extras of a graph with the titles of measures."""
    return replace(
        extras,
        bands=titles(extras.bands),
        truth=None if extras.truth is None else with_titles(extras.truth),
        comparison=None if extras.comparison is None else with_titles(extras.comparison),
        marks=None if extras.marks is None else pair_titles(extras.marks),
    )


def titled_window(window: Window) -> Window:
    """Return the window of a chart with the titles of measures."""
    return replace(window, measures=titles(window.measures))


# Figures

MOST_LINES = 12
"""The largest number of lines in a legible graph: of more, the best are drawn."""
TABLES = {
    "precision": "precision", "recall": "recall", "precision_by_recall": "precision",
    "local": "local", "cut": "cut",
}  # fmt: skip
WITH_BANDS = ("evaluate.precision", "evaluate.designed")
"""Stages with limits that hold simultaneously for all n."""
OPTION = {"local": "window", "cut": "cut", "recall": "recall"}
"""The option of the stage that makes the table."""


@dataclass(frozen=True)
class Drawing:
    """A graph of one category.

    Parameters
    ----------
    scope : Scope
        Stage and category.
    graph : Graph
        Its options.
    place : str
        Their place among the options of the view: "" or "graphs.0.".
    baseline : DataFrame or None
        `schemas.Baseline`, the row of the category, where the stage has one.
    """

    scope: Scope
    graph: Graph
    place: str = ""
    baseline: pl.DataFrame | None = None

    def option(self, name: str) -> str:
        """Return the dotted path of an option, for messages."""
        return self.scope.option(f"{self.place}{name}")

    def wrong(self, name: str, what: str, remedy: str = "") -> ConfigError:
        """Return an error about an option."""
        return ConfigError("report", [Problem(self.option(name), what, remedy)])


def graph_block(drawing: Drawing) -> Block:
    """Return a graph as a figure, or a sentence if there is nothing to draw.

    Raises
    ------
    ConfigError
        If an option has an unknown name, or needs a table that was not made.
    """
    graph = drawing.graph
    if (graph.marks is None) != (graph.comparison is None):
        what = "marks (a pair) and comparison (the stage that compared it) need each other"
        raise drawing.wrong("marks", what, "give both or neither")
    query = _query(drawing)
    names, last = extent(query)
    cuts = cuts_of(drawing, last)
    measures, note = lines_of(drawing, query, names, cuts)
    window = _window(drawing, measures, last)
    drawn = thin_rows(query.filter(pl.col("measure").is_in(measures)), window, always=cuts)
    frame = _with_bands(drawing, drawn.collect(engine="streaming").sort("measure", "n"))
    value = "recall" if graph.kind == "recall" else "precision"
    if frame[value].drop_nulls().is_empty():
        return Text(f"No n-best list from n = {window.first_n:,} has a judged candidate.")
    extras = titled_extras(_extras(drawing, window, cuts, frame))
    frame, window = with_titles(frame), titled_window(window)
    caption = graph_caption(
        extras, window, graph, of=drawing.scope.text, size=_size(frame),
        baseline=drawing.baseline is not None, together=_together(frame),
    )  # fmt: skip
    if graph.kind in {"recall", "precision_by_recall"}:
        caption += _recall_base(drawing)
    name = drawing.scope.file(graph.name or graph.kind.replace("_", "-"))
    draw = _draw(drawing, frame, extras, window)
    return figure(name, f"{caption}{note}", draw, graph.look)


def extent(query: pl.LazyFrame) -> tuple[list[str], int]:
    """Return the measures of a table, and its largest n."""
    longest = query.group_by("measure").agg(pl.col("n").max()).sort("measure")
    ends = longest.collect(engine="streaming")
    return ends["measure"].to_list(), max(ends["n"], default=0)


def _last(query: pl.LazyFrame) -> int:
    return int(query.select(pl.col("n").max()).collect(engine="streaming").item())


class GoldBase(StageOptions):
    """The gold standard whose true positives recall counts."""

    positives: str | None
    base: str


def _gold_base(drawing: Drawing) -> str | None:
    """Return which entries of a gold standard recall counts; None if it counts what is ranked."""
    stage = drawing.scope.stage
    if stage.use != "evaluate.precision":
        return None
    options = stage.options_as(GoldBase)
    return options.base if options.positives else None


def _recall_base(drawing: Drawing) -> str:
    """Return the sentence on what recall counts, if it is not what is ranked."""
    base = _gold_base(drawing)
    if base is None:
        return ""
    among = "" if base == "gold" else " that are among the candidates"
    return f" Recall counts all entries of the gold standard{among}."


class DeclaredCuts(StageOptions):
    """The list sizes that a stage declares."""

    cuts: tuple[int, ...]


def cuts_of(drawing: Drawing, last: int) -> tuple[int, ...]:
    """Return the cuts that the options or the stage name, as far as the lists go."""
    cuts = drawing.graph.cuts
    if cuts is None:
        cuts = drawing.scope.stage.options_as(DeclaredCuts).cuts
    return cuts_within(cuts, last)


def lines_of(
    drawing: Drawing, query: pl.LazyFrame, names: Sequence[str], cuts: Sequence[int]
) -> tuple[tuple[str, ...], str]:
    """Return the measures to draw, and a sentence on the others for the caption."""
    measures = drawing.graph.measures
    if measures or len(names) <= MOST_LINES:
        return select_names(measures, names, where=drawing.option("measures")), ""
    n = cuts[len(cuts) // 2] if cuts else _last(query) // 2
    value = "recall" if drawing.graph.kind == "recall" else "precision"
    values = query.filter(pl.col("n") == n).select("measure", value).collect(engine="streaming")
    best = values.sort(value, "measure", descending=[True, False], nulls_last=True)
    note = (
        f" Shown: the {MOST_LINES} of {len(names)} measures with the highest {value} at n = {n:,}."
    )
    return tuple(best["measure"].head(MOST_LINES)), note


def _query(drawing: Drawing) -> pl.LazyFrame:
    kind = drawing.graph.kind
    query = drawing.scope.query(TABLES[kind])
    if kind in {"precision", "precision_by_recall"} or not query.head(1).collect().is_empty():
        return query
    if kind == "recall" and not drawing.graph.bands:
        # The table of precision has recall, but not its interval.
        limits = [pl.lit(None, pl.Float64).alias(limit) for limit in ("lower", "upper")]
        return drawing.scope.query("precision").with_columns(*limits)
    stage = drawing.scope.stage.name
    what = f"the stage {stage} has not made its table {kind}"
    raise drawing.wrong("kind", what, f"set {OPTION[kind]} in stages.{stage}")


def _together(frame: pl.DataFrame) -> tuple[int, int] | None:
    """Return the first and the last n of the simultaneous limits."""
    if "lower_band" not in frame.columns:
        return None
    sizes = frame.drop_nulls("lower_band")["n"]
    return None if sizes.is_empty() else (int(sizes[0]), int(sizes.to_numpy().max()))


def _with_bands(drawing: Drawing, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with simultaneous limits, if the stage has them."""
    if drawing.graph.kind != "precision" or drawing.scope.stage.use not in WITH_BANDS:
        return frame
    bands = drawing.scope.query("bands").select("measure", "n", "lower_band", "upper_band")
    table = bands.collect()
    if table.is_empty():
        return frame
    return frame.join(table, on=["measure", "n"], how="left", maintain_order="left")


def _window(drawing: Drawing, measures: tuple[str, ...], last: int) -> Window:
    graph = drawing.graph
    first_n = 1 if graph.kind == "local" and graph.first_n is None else graph.first_n
    return Window(
        measures=measures, first_n=first_shown(first_n, last), last_n=graph.last_n,
        y_min=graph.y_min, y_max=graph.y_max,
    )  # fmt: skip


def _extras(drawing: Drawing, window: Window, cuts: tuple[int, ...], drawn: pl.DataFrame) -> Extras:
    graph = drawing.graph
    bands = select_names(graph.bands, window.measures, where=drawing.option("bands"))
    marks = graph.marks if graph.kind == "precision" else None
    return Extras(
        bands=bands if graph.bands else (), cuts=cuts, marks=marks, truth=_truth(drawing, drawn),
        comparison=None if marks is None else _comparison(drawing),
        subsets=_subsets(drawing) if graph.kind == "precision" else None,
    )  # fmt: skip


def _truth(drawing: Drawing, drawn: pl.DataFrame) -> pl.DataFrame | None:
    if drawing.graph.truth is None or drawing.graph.kind == "cut":
        return None
    table = "local" if drawing.graph.kind == "local" else "precision"
    query = drawing.scope.query(f"{drawing.graph.truth}.{table}")
    keys = drawn.lazy().select("measure", "n")
    rows = query.join(keys, on=["measure", "n"], how="semi", maintain_order="left")
    return rows.collect(engine="streaming")


def _subsets(drawing: Drawing) -> pl.DataFrame | None:
    if not drawing.graph.subsets:
        return None
    subsets = [drawing.scope.query(f"{name}.subsets").collect() for name in drawing.graph.subsets]
    return pl.concat(subsets).sort("n", "subset")


def _comparison(drawing: Drawing) -> pl.DataFrame | None:
    graph = drawing.graph
    if graph.comparison is None or graph.marks is None:
        return None
    query = drawing.scope.query(f"{graph.comparison}.comparison")
    pair = [pl.col(side).is_in(graph.marks) for side in ("measure_1", "measure_2")]
    compared = query.filter(*pair)
    if compared.head(1).collect().is_empty():
        what = f"{graph.comparison} does not compare {' with '.join(graph.marks)}"
        raise drawing.wrong("marks", what)
    return compared.filter("significant").collect()


def _size(frame: pl.DataFrame) -> int:
    """Return the size of the windows, or of the lists of the cut."""
    return int(frame["size"][0]) if "size" in frame.columns else int(frame["n"].max() or 0)  # type: ignore[arg-type]  # a column of numbers


def _size_of_chance(drawing: Drawing) -> float | None:
    """Return the n at which a random order reaches a recall of 1.

    It is the number of candidates, or more if the gold standard has entries that are not ranked.
    """
    if drawing.baseline is None:
        return None
    whole = float(drawing.baseline["n_candidates"].item())
    if _gold_base(drawing) is None:
        return whole
    highest = drawing.scope.query("precision").select(pl.col("recall").max()).collect().item()
    return whole / highest if highest else None


def _draw(drawing: Drawing, frame: pl.DataFrame, extras: Extras, window: Window) -> Draw:
    baseline, kind = drawing.baseline, drawing.graph.kind
    if kind == "recall":
        draw: Draw = partial(charts.recall_chart, frame, n_candidates=_size_of_chance(drawing))
    elif kind in {"precision_by_recall", "cut"}:
        level = baseline if kind == "precision_by_recall" else None
        draw = partial(charts.precision_recall_chart, frame, level)
    elif kind == "local":
        title = f"rank (middle of a window of {_size(frame):,})"
        draw = partial(charts.precision_chart, frame, baseline, x_title=title)
    else:
        draw = partial(charts.precision_chart, frame, baseline)
    return partial(draw, extras=extras, window=window)
