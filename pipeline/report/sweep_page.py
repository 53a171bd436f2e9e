"""The page of a sweep: its settings, the answers at each point, and figures over the points."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from pipeline.findings import phrases
from pipeline.findings.across_runs import (
    LeadingAnswer,
    at_point,
    leading_answers,
    not_over_points,
    over_points,
)
from pipeline.findings.base import StageFinding, as_table
from pipeline.findings.phrases import name_text, slug
from pipeline.kernels.measure import measure_title
from pipeline.report.charts.panels import FEW, Axes, Panel, small_multiples
from pipeline.report.charts.spec import thin_values
from pipeline.report.charts.style import Look, Slot, Style
from pipeline.report.page.build import MOST_SHOWN, Assembly, Files, Section, assemble, table_part
from pipeline.report.page.model import (
    Answers,
    Data,
    Failures,
    FoldedParts,
    Link,
    Paragraph,
    Part,
    Place,
    Record,
    Statement,
    SweepControls,
)
from pipeline.report.sweep_explorer import (
    CONFIDENCE,
    Axis,
    Quantity,
    axis_of,
    controls,
    distinct,
    read_quantity,
)
from pipeline.report.view import (
    NULL_TEXT,
    Block,
    Figure,
    Fold,
    Listing,
    Text,
    figure,
    unique_names,
)
from schemas import Findings, Table
from schemas.errors import count_text

VALUES = (
    "l_star", "value", "estimate", "difference", "average_precision", "precision", "recall", "mean"
)  # fmt: skip
"""Columns with an estimate; limits are those of the first one in a table."""
NAMES = ("system", "lexicon", "subset", "measure")
"""Columns with names that have strokes of their own."""
OF_SYSTEMS = ("value", "mean")
"""Estimates with names that are drawn even without limits."""
LIMITS = ("lower", "upper")
GROUP = "by "
"""Prefix of the columns of groups, because n may be one of them."""
RUN = "run"
"""A column that identifies runs of a system: all have the stroke of the system."""
STATISTIC = "statistic"
"""A column with the name of the estimate, in a table with a number as key."""
_LISTED = 8
"""The number of values of a setting that a sentence names."""
MOST_PANELS = 24
"""The maximum number of panels of a table."""
OF_A_FIGURE = 12
"""The maximum number of panels of a figure: more do not fit on a sheet of paper."""
MOST_FIGURES = 6
"""The maximum number of groups of a table, for example categories, in figures."""
MOST_LINES = 8
"""The maximum number of names in a panel."""
MOST_PLACES = 40
"""The maximum number of values of a setting at the x axis."""
SHORTEST = 20
"""Curves with many n begin at this one."""
THINNED = 120
"""About the number of values of n that a line is drawn through."""
MOST_SAID = 8
"""The maximum number of questions that the head of the page and the table answer."""
MOST_CAUTIONS = 8
"""The maximum number of cautions; those of the most points come first."""
LONGEST_POINT = 120
"""The number of characters of the name of a failed point."""
OTHERWISE = "●"
"""Marks an answer that differs from that at most points."""

Point = Mapping[str, Any]
"""Dotted path of each setting to its value there."""

_BELOW = (Place("stage-answers", ""),)
_NOTHING = pl.DataFrame(
    schema={"line": pl.String, **dict.fromkeys(("n", "y", "lower", "upper"), pl.Float64)}
)

# Figures of a table over the points: an estimate, its limits, its names


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How the estimates of a table are drawn.

    Parameters
    ----------
    value : str
        The column of the estimate.
    is_share : bool
        Whether it is a proportion, drawn in per cent.
    name : str
        The column with the names of lines; empty if there is none.
    over_n : bool
        Whether a point has estimates for many n.
    groups : tuple of str
        The other key columns of the estimates of a point: one figure per group.
    """

    value: str
    is_share: bool
    name: str
    over_n: bool
    groups: tuple[str, ...]

    @property
    def title(self) -> str:
        """The title of the y axis."""
        name = estimate_name(self.value)
        return f"{name} (%)" if self.is_share else name


def estimate_name(column: str) -> str:
    """Return the name of an estimate for people.

    Examples
    --------
    >>> estimate_name("l_star"), estimate_name("average_precision")
    ('L*', 'average precision')
    """
    return {"l_star": "L*"}.get(column, column.replace("_", " "))


def shape_of(model: type[Table] | None, frame: pl.DataFrame) -> Shape | None:
    """Return how the estimates of a table are drawn; None if it has none, or has sentences.

    Parameters
    ----------
    model : type of Table or None
        The model of the table.
    frame : DataFrame
        Its rows at a point, without the settings.

    Examples
    --------
    >>> from schemas import Precision
    >>> shape = shape_of(Precision, Precision.zero_rows().collect())
    >>> shape.value, shape.is_share, shape.name, shape.groups
    ('precision', True, 'measure', ('category', 'n'))
    """
    numeric = set(frame.select(cs.numeric()).columns)
    value = next((name for name in VALUES if name in numeric), "")
    if model is None or model is Findings or not value:
        return None
    key = _key(model, frame)
    name = next((each for each in NAMES if each in key), "")
    if not set(LIMITS) <= set(frame.columns) and not (name and value in OF_SYSTEMS):
        return None
    over_n = "n" in key and frame["n"].n_unique() > 1
    apart = {name, RUN, *(["n"] if over_n else [])}
    groups = tuple(each for each in key if each not in apart)
    return Shape(
        value=value, is_share=_is_share(model, value), name=name, over_n=over_n, groups=groups
    )


def _key(model: type[Table], frame: pl.DataFrame) -> list[str]:
    """Return the columns that identify an estimate of a point."""
    if STATISTIC in frame.columns:
        return [STATISTIC]
    return [name for name in model.key() if name in frame.columns]


def _is_share(model: type[Table], column: str) -> bool:
    return "proportion" in model.descriptions().get(column, "")


def estimates(frame: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    """Return line, n, y, lower, upper and the groups of a table; n is 0 where it is no axis.

    Examples
    --------
    >>> frame = pl.DataFrame({"category": ["TP"], "measure": ["mi"], "n": [9],
    ...     "precision": [0.25], "lower": [0.2], "upper": [None]})
    >>> shape = Shape(value="precision", is_share=True, name="measure", over_n=True,
    ...     groups=("category",))
    >>> estimates(frame, shape).row(0)
    ('TP', 'mi', 9.0, 25.0, 20.0, None)
    """
    factor = 100.0 if shape.is_share else 1.0
    limits = [name if name in frame.columns else None for name in LIMITS]
    drawn = {"y": shape.value, **dict(zip(LIMITS, limits, strict=True))}
    return frame.select(
        *[
            pl.col(name).cast(pl.String).fill_null("–").alias(f"{GROUP}{name}")
            for name in shape.groups
        ],
        pl.col(shape.name).cast(pl.String).alias("line")
        if shape.name
        else pl.lit("").alias("line"),
        (pl.col("n") if shape.over_n else pl.lit(0)).cast(pl.Float64).alias("n"),
        *[
            (pl.lit(None) if of is None else factor * pl.col(of)).cast(pl.Float64).alias(name)
            for name, of in drawn.items()
        ],
    ).with_columns(pl.when(pl.col("y").is_finite()).then("y"))


# Settings: names, values, and the points that are shown


@dataclass(frozen=True)
class Setting:
    """A setting that is varied.

    Parameters
    ----------
    path : str
        Its dotted path in the experiment.
    name : str
        Its name: the last word of its path, or more of the path to avoid duplicates.
    values : tuple of str
        Its values as text, in the order of the sweep.
    numbers : tuple of float
        The same as numbers; empty if one of them is none.
    """

    path: str
    name: str
    values: tuple[str, ...]
    numbers: tuple[float, ...]

    @property
    def varies(self) -> bool:
        """Whether it has more than one value."""
        return len(self.values) > 1

    def describe(self) -> str:
        """Return its name and values.

        Examples
        --------
        >>> Setting("stages.sample.rate", "rate", ("0.1", "0.2"), (0.1, 0.2)).describe()
        'rate of sample: 0.1 and 0.2'
        >>> many = tuple(str(each) for each in range(1, 101))
        >>> Setting("seed", "seed", many, tuple(map(float, many))).describe()
        'seed: 1 to 100 (100 values)'
        """
        words_of = self.path.split(".")
        stage = words_of[1] if words_of[0] == "stages" and len(words_of) > 2 else ""
        option = ".".join(words_of[2:] if stage else words_of)
        head = f"{option} of {name_text(stage)}" if stage else option
        if len(self.values) > _LISTED and self.is_even:
            span = f"{self.values[0]} to {self.values[-1]} ({len(self.values):,} values)"
            return f"{head}: {span}"
        return f"{head}: {phrases.list_text(self.values, most=_LISTED)}"

    @property
    def is_even(self) -> bool:
        """Whether its values are numbers with the same step from each to the next."""
        steps = {round(high - low, 9) for low, high in pairwise(self.numbers)}
        return len(steps) == 1


def identity(value: Any) -> str:
    """Return a text that identifies a value: 1 is not "1".

    Examples
    --------
    >>> identity(1), identity("1"), identity(["mi"])
    ('1', '"1"', '["mi"]')
    """
    return json.dumps(value, default=str, ensure_ascii=False)


def setting_text(value: Any) -> str:
    """Return a value as text on one line.

    Examples
    --------
    >>> [setting_text(x) for x in (0.2, True, ["mi", "dice"], {"TP": ["yes"]}, "")]
    ['0.2', 'yes', 'mi, dice', '{"TP": ["yes"]}', '(empty)']
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if (
        isinstance(value, list)
        and value
        and not any(isinstance(each, list | dict) for each in value)
    ):
        return name_text(", ".join(map(str, value)))
    return name_text(value if isinstance(value, str) else identity(value))


def settings_of(points: Sequence[Point]) -> list[Setting]:
    """Return the settings of a sweep.

    Parameters
    ----------
    points : sequence of mapping
        All combinations.

    Examples
    --------
    >>> points = [{"stages.a.seed": 1, "seed": 3}, {"stages.a.seed": 2, "seed": 3}]
    >>> [(each.name, each.values) for each in settings_of(points)]
    [('a.seed', ('1', '2')), ('seed', ('3',))]
    """
    paths = list(points[0]) if points else []
    short = {path: path.rpartition(".")[2] for path in paths}
    often = Counter(short.values())
    settings = []
    for path in paths:
        values = {identity(point[path]): point[path] for point in points}
        numbers = [
            each
            for each in values.values()
            if isinstance(each, int | float) and not isinstance(each, bool)
        ]
        name = short[path] if often[short[path]] < 2 else path.removeprefix("stages.")
        settings.append(
            Setting(
                path,
                name_text(name),
                tuple(setting_text(each) for each in values.values()),
                tuple(map(float, numbers)) if len(numbers) == len(values) else (),
            )
        )
    return settings


def places(points: Sequence[Point]) -> list[dict[str, int]]:
    """Return the place of every point's value among the values of each setting, by path."""
    order = {
        path: {each: place for place, each in enumerate(dict.fromkeys(
            identity(point[path]) for point in points))}
        for path in (points[0] if points else ())
    }  # fmt: skip
    return [{path: order[path][identity(value)] for path, value in p.items()} for p in points]


def label(point: Point, settings: Sequence[Setting]) -> str:
    """Return the label of a point: the settings that vary, with their values.

    Examples
    --------
    >>> points = [{"stages.a.rate": 0.1, "seed": 3}, {"stages.a.rate": 0.2, "seed": 3}]
    >>> label(points[1], settings_of(points))
    'rate = 0.2'
    """
    axes = [each for each in settings if each.varies]
    return ", ".join(f"{each.name} = {setting_text(point[each.path])}" for each in axes)


def limit_values(counts: Sequence[int], most: int) -> list[int]:
    """Return the number of values to show for each setting, for at most `most` points.

    Examples
    --------
    >>> limit_values([3, 100], 24), limit_values([5, 5, 5], 24), limit_values([], 24)
    ([3, 8], [2, 3, 3], [])
    """
    limits = list(counts)
    while prod(limits) > most:
        largest = limits.index(max(limits))
        limits[largest] -= 1
    return limits


# Figures of a table: small multiples over the settings


@dataclass(frozen=True)
class CollectedTable:
    """A table that a sweep collects.

    Parameters
    ----------
    name : str
        The stage, or the stage and table: "stage" or "stage.table".
    title : str
        The title of its section.
    tables : sequence of DataFrame
        Its rows at each point: first a column for every setting, then its own.
    model : type of Table or None
        The model of the table.
    """

    name: str
    title: str
    tables: Sequence[pl.DataFrame]
    model: type[Table] | None = None


@dataclass(frozen=True)
class _Plan:
    """The panels and axes of a table."""

    shape: Shape
    panels: Sequence[Panel]
    x_title: str
    columns: int
    ticks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def figures(
    collected: CollectedTable, points: Sequence[Point], settings: Sequence[Setting], look: Look
) -> Iterator[Figure | Text]:
    """Yield the figures of a table, with notes on omissions.

    Parameters
    ----------
    collected : CollectedTable
        The table at all points.
    points : sequence of mapping
        The points.
    settings : sequence of Setting
        The settings that vary.
    look : Look
        Style, and the colours of names.
    """
    own = [table.select(table.columns[len(points[0]) :]) for table in collected.tables]
    first = next((table for table in own if table.height), None)
    if first is None:
        yield Text(f"The table has no rows at any of {count_text(len(points), 'point')}.")
        return
    shape = shape_of(collected.model, first)
    varied = [each for each in settings if each.varies]
    if shape is None or not (shape.over_n or varied):
        return
    plan = _over_n if shape.over_n else _over_a_setting
    yield from _group_figures(plan(shape, own, points, varied), look)


def _estimate_rows(
    own: Sequence[pl.DataFrame], shape: Shape, at: Sequence[int]
) -> list[pl.DataFrame]:
    """Return the estimates of some points; none for points with different columns."""
    columns = {shape.value, *shape.groups, *([shape.name] if shape.name else [])}
    groups = [pl.lit("").alias(f"{GROUP}{name}") for name in shape.groups]
    nothing = _NOTHING.select(*groups, pl.all())
    return [
        estimates(own[place], shape) if columns <= set(own[place].columns) else nothing
        for place in at
    ]


def _over_n(
    shape: Shape, own: Sequence[pl.DataFrame], points: Sequence[Point], varied: Sequence[Setting]
) -> _Plan:
    counts = limit_values([len(each.values) for each in varied], MOST_PANELS)
    limits = {each.path: count for each, count in zip(varied, counts, strict=True)}
    at = _within(points, limits)[:MOST_PANELS]
    frames = _estimate_rows(own, shape, at)
    first = _first_n(frames)
    frames = [each.filter(pl.col("n") >= first) for each in frames]
    ns = thin_values((n for each in frames for n in each["n"].unique()), points=THINNED)
    panels = [
        Panel(label(points[place], varied), each.filter(pl.col("n").is_in(ns)))
        for place, each in zip(at, frames, strict=True)
    ]
    notes = [*_note_of_omitted_points(varied, counts, len(points), len(at))]
    if first:
        notes.append(f"The figures start at n = {first:,.0f}.")
    return _Plan(shape, panels, "n", _panel_columns(counts), (), tuple(notes))


def _first_n(frames: Sequence[pl.DataFrame]) -> float:
    """Return the first n to draw: whole curves omit short lists."""
    whole = pl.concat(frames)["n"]
    return SHORTEST if whole.n_unique() > FEW and (whole.max() or 0) > 2 * SHORTEST else 0  # type: ignore[operator]  # a column of numbers


def _over_a_setting(
    shape: Shape, own: Sequence[pl.DataFrame], points: Sequence[Point], varied: Sequence[Setting]
) -> _Plan:
    across = max(varied, key=_x_preference)
    on_scale = bool(across.numbers) and not (across.is_even and len(across.values) <= MOST_PLACES)
    others = [each for each in varied if each is not across]
    counts = limit_values([len(each.values) for each in others], MOST_PANELS)
    n_values = len(across.values) if on_scale else min(len(across.values), MOST_PLACES)
    limits = {each.path: count for each, count in zip(others, counts, strict=True)}
    at = _within(points, limits | {across.path: n_values})
    order = places(points)
    panels: dict[str, list[pl.DataFrame]] = {}
    for place, each in zip(at, _estimate_rows(own, shape, at), strict=True):
        index = order[place][across.path]
        x = across.numbers[index] if on_scale else float(index)
        title = label(points[place], others)
        panels.setdefault(title, []).append(each.with_columns(n=pl.lit(x)))
    drawn = [Panel(title, pl.concat(frames)) for title, frames in panels.items()]
    ticks = () if on_scale else across.values[:n_values]
    return _Plan(
        shape, drawn, across.name, _panel_columns(counts), ticks,
        _note_of_omitted_points([*others, across], [*counts, n_values], len(points), len(at)),
    )  # fmt: skip


def _x_preference(setting: Setting) -> tuple[bool, int]:
    """Return the sort key for the x axis: at least three numbers other than seeds; many values."""
    few, seed = len(setting.values) < 3, setting.path.endswith("seed")
    return bool(setting.numbers) and not few and not seed, len(setting.values)


def _within(points: Sequence[Point], limits: dict[str, int]) -> list[int]:
    """Return the points with values among the first of each setting."""
    return [
        place
        for place, each in enumerate(places(points))
        if all(each[path] < most for path, most in limits.items())
    ]


def _panel_columns(counts: Sequence[int]) -> int:
    """Return the number of panels in a row: the values of the last setting, if few."""
    last = counts[-1] if counts else 1
    return last if 2 <= last <= 4 else 3


def _note_of_omitted_points(
    settings: Sequence[Setting], counts: Sequence[int], whole: int, part: int
) -> tuple[str, ...]:
    """Describe the omitted points."""
    if part == whole:
        return ()
    firsts = [
        f"the first {count:,} of {len(each.values):,} values of {each.name}"
        for each, count in zip(settings, counts, strict=True)
        if count < len(each.values)
    ]
    omitted = f"{whole - part:,} of {count_text(whole, 'point')}"
    return (f"The figures show {phrases.list_text(firsts)} and omit {omitted}.",)


def _group_figures(plan: _Plan, look: Look) -> Iterator[Figure | Text]:
    whole = pl.concat([each.frame for each in plan.panels])
    groups = [f"{GROUP}{name}" for name in plan.shape.groups]
    keys = whole.select(groups).unique(maintain_order=True).rows() if groups else [()]
    bounded = whole["lower"].drop_nulls().len() > 0
    varying = [name for name in groups if whole[name].n_unique() > 1]
    drawn = 0
    for place, key in enumerate(keys):
        if drawn == MOST_FIGURES:
            rest = count_text(len(keys) - place, "more group")
            names = phrases.list_text([_own_name(name) for name in varying])
            yield Text(f"The table has {rest} of {names}.")
            break
        group = dict(zip(groups, key, strict=True))
        mine = [Panel(each.title, each.frame.filter(**group)) for each in plan.panels]
        column = "lower" if bounded else "y"
        if any(each.frame[column].drop_nulls().len() for each in mine):
            drawn += 1
            heads = [name for name in groups if name in varying or _own_name(name) == "n"]
            of = {_own_name(name): group[name] for name in heads}
            yield from _figures_of_group(plan, mine, of, look)
    for note in plan.notes:
        yield Text(note)


def _own_name(name: str) -> str:
    return name.removeprefix(GROUP)


def _figures_of_group(
    plan: _Plan, panels: Sequence[Panel], of: dict[str, str], look: Look
) -> Iterator[Figure]:
    whole = pl.concat([each.frame for each in panels])
    names, rest = _names_to_draw(whole)
    whole = whole.filter(pl.col("line").is_in(names))
    axes = Axes(
        x_title=plan.x_title, y_title=plan.shape.title, ticks=plan.ticks, joined=plan.shape.over_n,
        from_zero=plan.shape.is_share,
    )  # fmt: skip
    step = OF_A_FIGURE // plan.columns * plan.columns
    for start in range(0, len(panels), step):
        part = [
            Panel(each.title, each.frame.filter(pl.col("line").is_in(names)))
            for each in panels[start : start + step]
        ]
        if any(each.frame["y"].drop_nulls().len() for each in part):
            draw = partial(small_multiples, part, axes, columns=plan.columns, span=whole)
            yield figure("panels", _caption(plan, of, rest, start, panels), draw, look)


def _names_to_draw(whole: pl.DataFrame) -> tuple[list[str], int]:
    """Return the names to draw, those with the highest means, and the number of others."""
    means = whole.group_by("line").agg(pl.col("y").mean()).sort(
        "y", "line", descending=[True, False], nulls_last=True
    )  # fmt: skip
    names = means["line"].to_list()
    return sorted(names[:MOST_LINES]), max(0, len(names) - MOST_LINES)


def _caption(
    plan: _Plan, of: dict[str, str], rest: int, start: int, panels: Sequence[Panel]
) -> str:
    estimate = plan.shape.title.removesuffix(" (%)")
    limits = " with limits" if panels[0].frame["lower"].drop_nulls().len() else ""
    group = "".join(f", {name} = {name_text(value)}" for name, value in of.items())
    subject = f"{estimate[:1].upper()}{estimate[1:]}{limits} against {plan.x_title}{group}"
    several = f": {count_text(len(panels), 'panel')} with the same axes" if len(panels) > 1 else ""
    more = f", from panel {start + 1}" if start else ""
    omission = f" The table has {count_text(rest, 'more name')} with lower values." if rest else ""
    return f"{subject}{several}{more}.{omission}"


# The page


@dataclass(frozen=True, kw_only=True)
class SweepInput:
    """A sweep that has been run.

    Parameters
    ----------
    title, description : str
        Title and description of the experiment.
    points : sequence of mapping
        The points, at least one: dotted path of each setting to its value.
    findings : sequence of sequence of StageFinding
        The findings at each point.
    collected : sequence of CollectedTable
        The stacked tables.
    remarks : sequence of sequence of str
        Warnings about the data of each point, a sentence each.
    waits : mapping of str to str
        Stages waiting for people at some point, with the reasons.
    failed : sequence of tuple
        Number and name of each point that failed, and its message; they are not among `points`.
    effects : DataFrame, optional
        The main effects of the settings, as `pipeline.api.sweep.effects_of_sweep` gives them.
    style, slots, pictures
        The same as those of a report.
    provenance : mapping of str to Record
        Provenance of the sweep.
    """

    title: str
    points: Sequence[Point]
    description: str = ""
    findings: Sequence[Sequence[StageFinding]] = ()
    collected: Sequence[CollectedTable] = ()
    remarks: Sequence[Sequence[str]] = ()
    waits: Mapping[str, str] = field(default_factory=dict)
    failed: Sequence[tuple[str, str]] = ()
    effects: pl.DataFrame | None = None
    style: Style | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)
    pictures: tuple[str, ...] = ("svg",)
    provenance: Mapping[str, Record] = field(default_factory=dict)


def sweep_page(sweep: SweepInput) -> Files:
    """Return the files of a sweep's page: relative path -> content.

    Parameters
    ----------
    sweep : SweepInput
        The sweep.

    Returns
    -------
    dict of str to bytes
        ``index.html`` and, beside it, files of its figures and of its own tables. The stacked
        tables are not among them: they lie beside it under their names.
    """
    settings = settings_of(sweep.points)
    labels = [label(point, settings) for point in sweep.points]
    leads = leading_answers(sweep.findings)
    sections = [
        *([] if sweep.effects is None else [_effects_section(sweep.effects)]),
        Section("answers", "Answers at each point", list(_answer_blocks(sweep, settings, leads))),
        *(_table_section(each, sweep, settings) for each in sweep.collected),
    ]
    return assemble(
        Assembly(
            title=f"Sweep: {sweep.title}",
            description=sweep.description,
            facts=_facts(sweep.points, settings),
            opening=(*_failures(sweep.failed), *_controls(sweep, settings)),
            sections=[each for each in sections if each.blocks],
            provenance=sweep.provenance,
            missing=sweep.waits,
            answers=_answers(leads, labels),
            cautions=tuple(_cautions(sweep)),
            drawer="Stacked tables",
            pictures=sweep.pictures,
        )
    )


def _failures(failed: Sequence[tuple[str, str]]) -> tuple[Failures, ...]:
    """Return the points that failed, by their messages."""
    names: dict[str, list[str]] = {}
    for name, message in failed:
        names.setdefault(message, []).append(name_text(name, most=LONGEST_POINT) or "(no name)")
    grouped = tuple((message, tuple(each)) for message, each in names.items())
    return (Failures(grouped),) if grouped else ()


def _controls(
    sweep: SweepInput, settings: Sequence[Setting]
) -> tuple[SweepControls | Paragraph, ...]:
    """Return the controls of all estimates, and what is omitted."""
    varied = [each for each in settings if each.varies]
    axes = [
        Axis(f"setting:{each.path}", each.name, distinct(each.values), each.numbers)
        for each in varied
    ]
    order = [[place[each.path] for each in varied] for place in places(sweep.points)]
    at = np.array(order, np.int64).reshape(len(sweep.points), len(varied))
    quantities: list[Quantity] = []
    omitted: dict[str, int] = {}
    for each in sweep.collected:
        for quantity in _quantities(each, sweep):
            if isinstance(quantity, Quantity):
                quantities.append(quantity)
            else:
                omitted |= quantity
    return controls(axes, at, quantities, omitted=omitted, name=slug(sweep.title))


def _quantities(each: CollectedTable, sweep: SweepInput) -> Iterator[Quantity | dict[str, int]]:
    """Yield the estimates of a table; of one that is too large their number."""
    first = next((table for table in each.tables if table.height), None)
    if first is None or each.model is None:
        return
    first = first.select(first.columns[len(sweep.points[0]) :])
    shape = shape_of(each.model, first)
    if shape is None:
        return
    keys = _key(each.model, first)
    numeric = set(first.select(cs.numeric()).columns)
    limits = LIMITS if set(LIMITS) <= numeric else ()
    others = [name for name in VALUES if name in numeric and name != shape.value]
    if shape.value == "average_precision":
        others = []  # its recall is an option
    confidence = first["confidence"][0] if "confidence" in first.columns else None
    for value in (shape.value, *others):
        own_limits = limits if value == shape.value else ()
        result = read_quantity(each.tables, value=value, limits=own_limits, keys=keys)
        if isinstance(result, int):
            yield {f"{estimate_name(value)} of {each.title}": result}
            continue
        values, numbers = result
        if np.array_equal(numbers, numbers[[0, 0, 0]][: len(numbers)], equal_nan=True):
            numbers = numbers[:1]  # all is judged: limits of width 0 would separate everything
        yield Quantity(
            name=estimate_name(value),
            table=each.title,
            is_share=_is_share(each.model, value),
            axes=tuple(
                axis_of(name, values[name], sweep.slots, has_colours=name == shape.name)
                for name in values
            ),
            numbers=numbers,
            confidence=CONFIDENCE if confidence is None else float(confidence),
        )


def _facts(points: Sequence[Point], settings: Sequence[Setting]) -> tuple[str, ...]:
    """Describe the settings in a sentence."""
    count = count_text(len(points), "point")
    every = f"{count}:"
    if len(settings) > 1:
        is_whole = prod(len(each.values) for each in settings) == len(points)
        every = f"{count}, all combinations of" if is_whole else f"{count} with different values of"
    return (f"{every} {'; '.join(each.describe() for each in settings)}.",)


def _answers(leads: Sequence[LeadingAnswer], labels: Sequence[str]) -> tuple[Answers, ...]:
    statements = []
    for each in leads:
        findings = [] if each.is_same else list(over_points(each, labels))
        if len(labels) == 1:
            findings = [one for one in each.findings if one is not None]
        if findings:
            first, *rest = findings
            statements.append(Statement(first.text, tuple(one.text for one in rest), _BELOW))
    statements = statements[:MOST_SAID]
    if same := [each.findings[0].text for each in leads if each.is_same and each.findings[0]]:
        statements.append(
            Statement(f"Same result at all {len(labels):,} points:", tuple(same[:MOST_SAID]))
        )
    return (Answers("Across points", "answers", tuple(statements)),) if statements else ()


def _cautions(sweep: SweepInput) -> Iterator[Statement]:
    if len(sweep.points) > 1:
        yield Statement(not_over_points(len(sweep.points)).text, ())
    whole = len(sweep.points)
    remarks = Counter(each for point in sweep.remarks for each in dict.fromkeys(point))
    cautions = [*_count_cautions(sweep.findings), *remarks.items()]
    ordered = sorted(cautions, key=lambda each: -each[1])
    for text, count in ordered[:MOST_CAUTIONS]:
        yield Statement(text if whole == 1 else f"At {_share_of_points(count, whole)}: {text}", ())
    if len(ordered) > MOST_CAUTIONS:
        more = count_text(len(ordered) - MOST_CAUTIONS, "more caution")
        yield Statement(f"The table of findings has {more}.", ())


def _share_of_points(count: int, whole: int) -> str:
    return f"all {whole:,} points" if count == whole else f"{count:,} of {whole:,} points"


def _count_cautions(findings: Sequence[Sequence[StageFinding]]) -> list[tuple[str, int]]:
    """Return each kind of caution once, with the number of points that have it."""
    texts: dict[tuple[object, ...], list[str]] = {}
    for point in findings:
        mine: dict[tuple[object, ...], str] = {}
        for each in point:
            one = each.finding
            if one.kind == "caution":
                key = (each.stage, one.about, one.category, one.name, one.other, one.n)
                mine.setdefault(key, one.text)
        for same, text in mine.items():
            texts.setdefault(same, []).append(text)
    return [
        (each[0] if len(set(each)) == 1 else f"{each[0]} (The numbers differ between points.)",
         len(each))
        for each in texts.values()
    ]  # fmt: skip


def _answer_blocks(
    sweep: SweepInput, settings: Sequence[Setting], leads: Sequence[LeadingAnswer]
) -> Iterator[Block]:
    if not leads:
        return
    varying = [each for each in leads if not each.is_same]
    questions = (varying or leads)[:MOST_SAID]
    heads = unique_names(
        [*(each.name for each in settings), *(_head(each, leads) for each in questions)]
    )
    columns = [[setting_text(point[each.path]) for point in sweep.points] for each in settings]
    columns += [_answer_texts(each) for each in questions]
    frame = pl.DataFrame(
        dict(zip(heads, columns, strict=True)), schema=dict.fromkeys(heads, pl.String)
    )
    right = tuple(head for head, each in zip(heads, settings, strict=False) if each.numbers)
    caption = (
        "The leading answer to each question at each point; “with” names those that do not differ"
        f" significantly there. {OTHERWISE} marks an answer with a different name than at most"
        " points. Answers that are the same at all points have no column."
    )
    yield Listing("points", caption, frame, texts=frame, right=right, wraps=True)
    if more := len(varying or leads) - len(questions):
        yield Text(f"The table of findings answers {count_text(more, 'more question')}.")
    heads, findings = _findings(sweep, settings)
    yield Fold(
        f"All findings at all points ({findings.height:,})",
        [
            Listing(
                "findings",
                "Findings at each point.",
                findings,
                texts=findings.select(*heads, "stage", "text"),
                wraps=True,
            )
        ],
    )


def _head(each: LeadingAnswer, leads: Sequence[LeadingAnswer]) -> str:
    """Return the heading of a question, with its stage if two stages have the same question."""
    alike = [other for other in leads if other.question == each.question]
    question = each.question or each.stage.replace("_", " ")
    return f"{question} ({each.stage})" if len(alike) > 1 else question


def _answer_texts(each: LeadingAnswer) -> list[str]:
    names = Counter(finding.name for finding in each.findings if finding is not None)
    usual = names.most_common(1)[0][0] if names else None
    cells = []
    for place, finding in enumerate(each.findings):
        if finding is None:
            cells.append(NULL_TEXT)
            continue
        mark = f"{OTHERWISE} " if finding.name != usual else ""
        cells.append(f"{mark}{at_point(each, place)}")
    return cells


def _findings(sweep: SweepInput, settings: Sequence[Setting]) -> tuple[list[str], pl.DataFrame]:
    """Return the columns of settings, and the findings of all points, which begin with these."""
    own = as_table([]).columns
    heads = unique_names([*own, *(each.name for each in settings)])[len(own) :]
    frames = [
        as_table(findings).select(
            *(
                pl.lit(setting_text(point[each.path])).alias(head)
                for head, each in zip(heads, settings, strict=True)
            ),
            pl.all(),
        )
        for point, findings in zip(sweep.points, sweep.findings, strict=True)
    ]
    return heads, pl.concat(frames)


_GROUPS_SHOWN = 12
"""The most list sizes and categories whose effects the page shows."""


def _effects_section(effects: pl.DataFrame) -> Section:
    """Show what share of the variance each setting explains, with its best and worst value."""
    own = ("setting", "level", "mean", "lower", "upper", "rows", "share")
    groups = [name for name in effects.columns if name not in own]
    first = effects.select(groups).unique(maintain_order=True).head(_GROUPS_SHOWN)
    rows = effects.join(first, on=groups, nulls_equal=True, maintain_order="left")
    worst, best = pl.col("mean").arg_min(), pl.col("mean").arg_max()
    table = rows.group_by(*groups, "setting", maintain_order=True).agg(
        pl.col("share").first(),
        *(
            pl.col(name).get(place).alias(f"{kind} {name}")
            for kind, place in (("worst", worst), ("best", best))
            for name in ("level", "mean", *LIMITS)
        ),
    )
    texts = table.select(
        *(
            pl.col(name).cast(pl.String).str.replace_all("_", " ").alias(name)
            for name in groups
            if table[name].n_unique() > 1
        ),
        setting=pl.col("setting").str.split(".").list.last().str.replace_all("_", " "),
        **{"% of variance": _percent("share")},
        **{f"{kind} value": _level_mean(kind) for kind in ("worst", "best")},
    )
    omitted = effects.select(groups).n_unique() - rows.select(groups).n_unique()
    more = f" The file has {omitted:,} more groups." if omitted else ""
    caption = (
        "Main effects: the share of the variance of the estimates that each setting explains, and "
        "its values with the lowest and the highest mean (%) over all values of the others. The "
        f"residual is interactions and chance.{more}"
    )
    listing = Listing("effects-shown", caption, effects, texts, right=("% of variance",))
    data = (Data("effects", effects.height, _FILES),)
    return Section("effects", "Main effects", [listing], use="over all points", data=data)


_FILES = (Link("csv", "effects.csv"), Link("parquet", "effects.parquet"))


def _percent(column: str) -> pl.Expr:
    return pl.col(column).map_elements(lambda x: f"{100 * x:.1f}", return_dtype=pl.String)


def _level_mean(kind: str) -> pl.Expr:
    """Return a level with its mean, and the limits of the mean where it is not known exactly."""
    level = pl.col(f"{kind} level").map_elements(measure_title, return_dtype=pl.String)
    mean, *ends = (_percent(f"{kind} {name}") for name in ("mean", *LIMITS))
    estimated = pl.col(f"{kind} lower") < pl.col(f"{kind} upper")
    return (
        pl.when(estimated)
        .then(pl.format("{}: {} [{}, {}]", level, mean, *ends))
        .otherwise(pl.format("{}: {}", level, mean))
    )


def _table_section(each: CollectedTable, sweep: SweepInput, settings: Sequence[Setting]) -> Section:
    look = Look(style=sweep.style or "screen", slots=sweep.slots)
    rows = sum(table.height for table in each.tables)
    blocks: list[Block | Part] = list(figures(each, sweep.points, settings, look))
    links = (Link("csv", f"{each.name}.csv"), Link("parquet", f"{each.name}.parquet"))
    if rows:
        blocks.append(
            FoldedParts(f"Table: {count_text(rows, 'row')}", (_first_rows(each, rows, links),))
        )
    use = f"stacked over {count_text(len(sweep.points), 'point')}"
    data = (Data(each.name, rows, links),)
    return Section(each.name, each.title, blocks, use=use, data=data)


def _first_rows(each: CollectedTable, rows: int, links: tuple[Link, ...]) -> Part:
    """Return the first rows of a stacked table, with links to the whole."""
    some: list[pl.DataFrame] = []
    while len(some) < len(each.tables) and sum(table.height for table in some) < MOST_SHOWN:
        some.append(each.tables[len(some)].head(MOST_SHOWN))
    first = pl.concat(some, how="diagonal_relaxed").head(MOST_SHOWN)
    grid, _ = table_part(Listing("rows", f"{each.title}: rows.", first), "rows")
    return replace(grid, omitted=rows - first.height, links=links)
