"""The figures of a table over the points of a sweep: small multiples over the settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from pipeline.findings import words
from pipeline.findings.names import called
from pipeline.report.across.estimates import GROUP, Shape, estimates, shape_of
from pipeline.report.across.settings import Point, Setting, kept, label, places
from pipeline.report.blocks import figure
from pipeline.report.charts.multiples import FEW, Axes, Panel, small_multiples
from pipeline.report.charts.parts.options import Look
from pipeline.report.charts.parts.prepare import thinned
from pipeline.report.view import Figure, Text
from schemas import Table

MOST_PANELS = 24
"""So many panels a table has at the most."""
OF_A_FIGURE = 12
"""So many of them are one figure: more do not fit on a sheet of paper."""
MOST_FIGURES = 6
"""So many groups of a table, such as categories, are drawn."""
MOST_LINES = 8
"""So many names are drawn in a panel."""
MOST_PLACES = 40
"""So many values of a setting stand at the x axis."""
SHORTEST = 20
"""Curves begin at this n, where they have many."""
THINNED = 120
"""About so many values of n a line is drawn through."""

_NOTHING = pl.DataFrame(
    schema={"line": pl.String, **dict.fromkeys(("n", "y", "lower", "upper"), pl.Float64)}
)


@dataclass(frozen=True)
class Collected:
    """A table that a sweep collects.

    Parameters
    ----------
    name : str
        As it is collected: "stage" or "stage.table".
    title : str
        What its section is called.
    tables : sequence of DataFrame
        Its rows at each point: first a column for every setting, then its own.
    model : type of Table or None
        What the table is.
    """

    name: str
    title: str
    tables: Sequence[pl.DataFrame]
    model: type[Table] | None = None


@dataclass(frozen=True)
class _Drawn:
    """A panel's rows, what it is called, and its place among the values of the settings."""

    title: str
    frame: pl.DataFrame


@dataclass(frozen=True)
class _Plan:
    """What is drawn of a table: its panels and axes."""

    shape: Shape
    panels: Sequence[_Drawn]
    x_title: str
    columns: int
    ticks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def figures(
    collected: Collected, points: Sequence[Point], settings: Sequence[Setting], look: Look
) -> Iterator[Figure | Text]:
    """Yield the figures of a table, and what is left out of them.

    Parameters
    ----------
    collected : Collected
        The table at all points.
    points : sequence of mapping
        The points.
    settings : sequence of Setting
        What they vary.
    look : Look
        Style, and the colours of names.
    """
    own = [table.select(table.columns[len(points[0]) :]) for table in collected.tables]
    first = next((table for table in own if table.height), None)
    if first is None:
        yield Text(f"The table has no row at any of {words.counted(len(points), 'point')}.")
        return
    shape = shape_of(collected.model, first)
    varied = [each for each in settings if each.varies]
    if shape is None or not (shape.over_n or varied):
        return
    plan = _over_n if shape.over_n else _over_a_setting
    yield from _drawn(plan(shape, own, points, varied), look)


def _rows(own: Sequence[pl.DataFrame], shape: Shape, at: Sequence[int]) -> list[pl.DataFrame]:
    """Return the estimates of some points; none of one whose table has other columns."""
    needed = {shape.value, *shape.groups, *([shape.name] if shape.name else [])}
    whole = [needed <= set(own[place].columns) for place in at]
    found = [
        estimates(own[place], shape) for place, is_whole in zip(at, whole, strict=True) if is_whole
    ]
    made, nothing = iter(found), _NOTHING.select(
        *[pl.lit("").alias(f"{GROUP}{name}") for name in shape.groups], pl.all()
    )  # fmt: skip
    return [next(made) if is_whole else nothing for is_whole in whole]


def _over_n(
    shape: Shape, own: Sequence[pl.DataFrame], points: Sequence[Point], varied: Sequence[Setting]
) -> _Plan:
    counts = kept([len(each.values) for each in varied], MOST_PANELS)
    limits = {each.path: count for each, count in zip(varied, counts, strict=True)}
    at = _within(points, limits)[:MOST_PANELS]
    frames = _rows(own, shape, at)
    long = _long(frames)
    frames = [each.filter(pl.col("n") >= long) for each in frames]
    ns = thinned((n for each in frames for n in each["n"].unique()), points=THINNED)
    panels = [
        _Drawn(label(points[place], varied), each.filter(pl.col("n").is_in(ns)))
        for place, each in zip(at, frames, strict=True)
    ]
    notes = [*_cut(varied, counts, len(points), len(at))]
    if long:
        notes.append(f"Lists shorter than {long:,.0f} are left out of the figures.")
    return _Plan(shape, panels, "n", _columns(counts), (), tuple(notes))


def _long(frames: Sequence[pl.DataFrame]) -> float:
    """Return the least n that is drawn: of whole curves, short lists are left out."""
    whole = pl.concat(frames)["n"]
    return SHORTEST if whole.n_unique() > FEW and (whole.max() or 0) > 2 * SHORTEST else 0  # type: ignore[operator]  # a column of numbers


def _over_a_setting(
    shape: Shape, own: Sequence[pl.DataFrame], points: Sequence[Point], varied: Sequence[Setting]
) -> _Plan:
    across = max(varied, key=_fits_x)
    on_scale = bool(across.numbers) and not (across.is_even and len(across.values) <= MOST_PLACES)
    others = [each for each in varied if each is not across]
    counts = kept([len(each.values) for each in others], MOST_PANELS)
    seen = len(across.values) if on_scale else min(len(across.values), MOST_PLACES)
    limits = {each.path: count for each, count in zip(others, counts, strict=True)}
    at = _within(points, limits | {across.path: seen})
    order = places(points)
    panels: dict[str, list[pl.DataFrame]] = {}
    for place, each in zip(at, _rows(own, shape, at), strict=True):
        index = order[place][across.path]
        x = across.numbers[index] if on_scale else float(index)
        title = label(points[place], others)
        panels.setdefault(title, []).append(each.with_columns(n=pl.lit(x)))
    drawn = [_Drawn(title, pl.concat(frames)) for title, frames in panels.items()]
    ticks = () if on_scale else across.values[:seen]
    return _Plan(
        shape, drawn, across.name, _columns(counts), ticks,
        _cut([*others, across], [*counts, seen], len(points), len(at)),
    )  # fmt: skip


def _fits_x(setting: Setting) -> tuple[bool, int]:
    """Return what makes a setting the x axis: three numbers or more that are no seeds; many."""
    few, seed = len(setting.values) < 3, setting.path.endswith("seed")
    return bool(setting.numbers) and not few and not seed, len(setting.values)


def _within(points: Sequence[Point], limits: dict[str, int]) -> list[int]:
    """Return the points whose values are among the first of each setting."""
    return [
        place
        for place, each in enumerate(places(points))
        if all(each[path] < most for path, most in limits.items())
    ]


def _columns(counts: Sequence[int]) -> int:
    """Return how many panels stand beside each other: the values of the last setting, if few."""
    last = counts[-1] if counts else 1
    return last if 2 <= last <= 4 else 3


def _cut(
    settings: Sequence[Setting], counts: Sequence[int], whole: int, shown: int
) -> tuple[str, ...]:
    """Say which points are left out."""
    if shown == whole:
        return ()
    firsts = [
        f"the first {count:,} of {len(each.values):,} values of {each.name}"
        for each, count in zip(settings, counts, strict=True)
        if count < len(each.values)
    ]
    return (
        f"Drawn are {words.listed(firsts)}: {whole - shown:,} of {whole:,} points are left out.",
    )


def _drawn(plan: _Plan, look: Look) -> Iterator[Figure | Text]:
    whole = pl.concat([each.frame for each in plan.panels])
    groups = [f"{GROUP}{name}" for name in plan.shape.groups]
    keys = whole.select(groups).unique(maintain_order=True).rows() if groups else [()]
    bounded = whole["lower"].drop_nulls().len() > 0
    varying = [name for name in groups if whole[name].n_unique() > 1]
    drawn = 0
    for place, key in enumerate(keys):
        if drawn == MOST_FIGURES:
            left = words.counted(len(keys) - place, "more group")
            yield Text(
                f"{left} of {words.listed([_own(name) for name in varying])} are in the table."
            )
            break
        chosen = dict(zip(groups, key, strict=True))
        mine = [_Drawn(each.title, each.frame.filter(**chosen)) for each in plan.panels]
        needed = "lower" if bounded else "y"
        if any(each.frame[needed].drop_nulls().len() for each in mine):
            drawn += 1
            shown = [name for name in groups if name in varying or _own(name) == "n"]
            of = {_own(name): chosen[name] for name in shown}
            yield from _of_group(plan, mine, of, look)
    for note in plan.notes:
        yield Text(note)


def _own(name: str) -> str:
    return name.removeprefix(GROUP)


def _of_group(
    plan: _Plan, panels: Sequence[_Drawn], of: dict[str, str], look: Look
) -> Iterator[Figure]:
    whole = pl.concat([each.frame for each in panels])
    names, left = _names(whole)
    whole = whole.filter(pl.col("line").is_in(names))
    axes = Axes(
        x_title=plan.x_title, y_title=plan.shape.title, ticks=plan.ticks, joined=plan.shape.over_n,
        from_zero=plan.shape.is_share,
    )  # fmt: skip
    step = OF_A_FIGURE // plan.columns * plan.columns
    for start in range(0, len(panels), step):
        held = [
            Panel(each.title, each.frame.filter(pl.col("line").is_in(names)))
            for each in panels[start : start + step]
        ]
        if any(each.frame["y"].drop_nulls().len() for each in held):
            draw = partial(small_multiples, held, axes, columns=plan.columns, span=whole)
            yield figure("panels", _caption(plan, of, left, start, panels), draw, look)


def _names(whole: pl.DataFrame) -> tuple[list[str], int]:
    """Return the names that are drawn, those of the greatest means, and how many are not."""
    means = whole.group_by("line").agg(pl.col("y").mean()).sort(
        "y", "line", descending=[True, False], nulls_last=True
    )  # fmt: skip
    names = means["line"].to_list()
    return sorted(names[:MOST_LINES]), max(0, len(names) - MOST_LINES)


def _caption(
    plan: _Plan, of: dict[str, str], left: int, start: int, panels: Sequence[_Drawn]
) -> str:
    what = plan.shape.title.removesuffix(" (%)")
    limits = " with its limits" if panels[0].frame["lower"].drop_nulls().len() else ""
    group = "".join(f", {name} = {called(value)}" for name, value in of.items())
    said = f"{what[:1].upper()}{what[1:]}{limits} against {plan.x_title}{group}"
    several = (
        f": {words.counted(len(panels), 'panel')} with the same axes" if len(panels) > 1 else ""
    )
    more = f", from the {start + 1}th on" if start else ""
    gone = (
        f" {words.counted(left, 'more name')} with lower values are in the table." if left else ""
    )
    return f"{said}{several}{more}.{gone}"
