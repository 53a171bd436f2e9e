"""The style of charts: colours for light and dark pages, strokes, label positions, sizes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

PAPER, NIGHT = "#ffffff", "#15181c"
"""The background, and its replacement on a dark page."""
INK = "#222222"
GREY = "#6b6b6b"
FAINT = "#a0a0a0"
LIGHT = "#e8e8e8"

COLOURS = {
    "blue": ("#0060a0", "#4aa8e8"),
    "red": ("#b03000", "#ff8a3d"),
    "green": ("#008a68", "#2fc79b"),
    "pink": ("#c060a0", "#e58bc0"),
    "black": ("#1a1a1a", "#f2f2f2"),
    "gold": ("#be8c00", "#e6c229"),
    "sky": ("#309bd8", "#9fd8ff"),
}
"""The colours of measures and systems: on white and on a dark page.

Each has a contrast of 3 to 1 with its background; colour-blind readers can distinguish any two.
"""
NAMED = tuple(COLOURS)
BRIGHT = tuple(light for light, _ in COLOURS.values())

SHADES = ("#ffffff", "#d6e6f4", "#abcfe6", "#6baed6", "#3787c0", "#105ba4", "#08306b")
"""White to dark blue: values differ in darkness, also in black and white."""
TWO_SIDES = ("#8c510a", "#d8b365", "#f6e8c3", "#ffffff", "#c7eae5", "#5ab4ac", "#01665e")
"""Brown over white to blue-green, distinguishable by colour-blind readers."""
DIVERGING = ("#e9934a", "#f7d9bd", "#ffffff", "#c5def0", "#5aa5d6")
"""Orange to blue, distinguishable by colour-blind readers; ink is legible on both ends."""
FRAME = "#d55e00"
"""The frame of a cell."""
BEST, AMONG = "#0072b2", "#b9d8ec"
"""A cell that is best, and one that is among the best."""
GROUND = "#fefefd"
"""Cells without a value; white, also in the dark."""
ON_DARK = "#fefefe"
"""Text on a dark cell; it is white, and stays so in the dark."""
ON_PALE = "#232323"
"""Text on a cell that stays pale in the dark."""

DARK = {
    PAPER: NIGHT,
    INK: "#e8e8e8",
    GREY: "#a3a8ae",
    FAINT: "#70767d",
    LIGHT: "#2d3238",
    "#000000": "#ffffff",
    FRAME: "#ff8a3d",
    **dict(COLOURS.values()),
}
"""The replacements of colours on a dark page; other colours stay."""


# Positions of labels without overlaps


def spread_labels(places: Sequence[float], *, gap: float, low: float, high: float) -> list[float]:
    """Spread positions to at least `gap`, each as near to its own place as possible.

    With the positions in ascending order x_1 <= ... <= x_m, the returned y minimise
    sum (y_i - x_i)^2 under y_{i+1} - y_i >= gap: the isotonic regression of x_i - i*gap,
    found by pooling adjacent violators. Then all are held within low..high.

    Parameters
    ----------
    places : sequence of float
        Places of the labels, in any order; among equals the earlier stays lower.
    gap : float
        Smallest distance between two labels.
    low, high : float
        Limits of the places. If the labels do not all fit, the gap shrinks.

    Returns
    -------
    list of float
        In the order of `places`.

    References
    ----------
    Barlow et al. 1972, Statistical Inference under Order Restrictions, section 1.2.

    Examples
    --------
    >>> spread_labels([10.0, 11.0, 40.0], gap=5.0, low=0.0, high=100.0)
    [8.0, 13.0, 40.0]
    >>> spread_labels([0.0, 0.0], gap=5.0, low=0.0, high=100.0)
    [0.0, 5.0]
    """
    if not places:
        return []
    order = sorted(range(len(places)), key=lambda i: places[i])
    gap = min(gap, (high - low) / max(len(places) - 1, 1))
    fitted = _isotonic([places[i] - rank * gap for rank, i in enumerate(order)])
    ceiling = high - (len(places) - 1) * gap
    positions = [0.0] * len(places)
    for rank, i in enumerate(order):
        positions[i] = min(max(fitted[rank], low), ceiling) + rank * gap
    return positions


def _isotonic(values: Sequence[float]) -> list[float]:
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            other, size = blocks.pop()
            total, count = total + other, count + size
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]


def label_rows(
    centres: Sequence[float], widths: Sequence[float], *, most: int = 3
) -> list[int | None]:
    """Give each centred label the lowest row in which it overlaps no earlier one.

    Parameters
    ----------
    centres : sequence of float
        Centres, ascending.
    widths : sequence of float
        Widths, the space to the next label included.
    most : int
        Number of rows.

    Returns
    -------
    list of int or None
        Row from 0 for each label; None if all rows are taken and the label is omitted.

    Examples
    --------
    >>> label_rows([10, 30, 100], [50, 50, 50])
    [0, 1, 0]
    """
    ends = [float("-inf")] * most
    rows: list[int | None] = []
    for centre, width in zip(centres, widths, strict=True):
        free = [row for row, end in enumerate(ends) if end <= centre - width / 2]
        rows.append(free[0] if free else None)
        if free:
            ends[free[0]] = centre + width / 2
    return rows


# Options of charts

Style: TypeAlias = Literal["screen", "print"]
"""``screen`` has colours, ``print`` is black and white with dash patterns."""


PHONE_WIDTH, PHONE_HEIGHT = 260, 250
"""Size of the plotting area of a chart on a phone, about 340 pixels with its axis."""


class Slot(NamedTuple):
    """A colour, by its place among the colours, and one of the strokes that have it."""

    colour: int
    kind: int


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a chart looks.

    Parameters
    ----------
    style : {"screen", "print"}
        Colours, or black and white.
    width, height : int
        Size of the plotting area, without axes and labels; pixels.
    points : int
        About how many values of n a line is drawn through.
    narrow : bool
        Whether it is drawn for a phone: names stand above rows and not beside them, lines are
        named by the key of the page.
    slots : mapping of str to Slot
        The colours and dashes that the report gave to names; another name has its own.
    """

    style: Style = "screen"
    width: int = 560
    height: int = 340
    points: int = 400
    narrow: bool = False
    slots: Mapping[str, Slot] = field(default_factory=dict)

    @property
    def on_phone(self) -> Look:
        """The same for a phone."""
        height = min(self.height, PHONE_HEIGHT)
        return replace(self, width=PHONE_WIDTH, height=height, narrow=True)


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The cells of a heat map.

    Parameters
    ----------
    rows, columns : sequence of str
        Their names, in the order in which they are drawn.
    row_title, column_title, legend : str
        The meaning of rows, columns and shades.
    domain : tuple of two float
        Values of the lightest and the darkest shade; of both ends, if it begins below 0.
    cell, row : float
        Width and height of a cell; pixels.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    row_title: str
    column_title: str
    legend: str
    domain: tuple[float, float] = (0.0, 1.0)
    cell: float = 22.0
    row: float = 22.0

    @property
    def width(self) -> float:
        """Width of the whole grid; pixels."""
        return self.cell * len(self.columns)


@dataclass(frozen=True, kw_only=True)
class Window:
    """Which part of the frame a chart shows.

    Parameters
    ----------
    measures : tuple of str
        The lines, in this order; all measures of the frame if empty.
    first_n, last_n : int, int or None
        Smallest and largest n shown; None is the largest there is.
    y_min, y_max : float or None
        Limits of the y axis in per cent; None leaves them to the data.
    """

    measures: tuple[str, ...] = ()
    first_n: int = 100
    last_n: int | None = None
    y_min: float | None = None
    y_max: float | None = None


@dataclass(frozen=True, kw_only=True)
class Extras:
    """The parts of a precision graph beside its lines.

    Parameters
    ----------
    bands : tuple of str
        Measures with shaded confidence limits.
    cuts : tuple of int
        Values of n with a vertical line.
    truth : DataFrame or None
        A second `schemas.Precision` frame, drawn thin.
    subsets : DataFrame or None
        Sets of one size only, for example the outputs of filters: subset, n, precision, lower,
        upper; a dot with its interval for each.
    comparison : DataFrame or None
        A `schemas.Comparison` frame that holds the pair of `marks`.
    marks : tuple of two str, or None
        The pair with significant differences marked by triangles.
    """

    bands: tuple[str, ...] = ()
    cuts: tuple[int, ...] = ()
    truth: pl.DataFrame | None = None
    subsets: pl.DataFrame | None = None
    comparison: pl.DataFrame | None = None
    marks: tuple[str, str] | None = None


PLAIN = Extras()
WHOLE = Window()
SCREEN = Look()


# Strokes: the colour and dashes of each name, in all charts of a report

DASHES = (
    (1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 2), (14, 3), (6, 2, 1.5, 2, 1.5, 2),
)  # fmt: skip
"""As many as there are colours: each colour has its own, so that lines differ without colours."""
KINDS = 4
"""How many strokes there are of one colour."""
TONES = (("#000000", 1.3), ("#9a9a9a", 2.4), ("#000000", 2.6), ("#767676", 1.3))
"""Grey and width in black and white: one for each stroke of a colour."""
COVERING_DASHES = ((9, 6), (3, 6), (14, 6), (1, 6))
"""For lines that lie on others; one that nothing else of that colour has."""

_FAMILIES = {
    "blue": ("log_likelihood", "simple_ll", "log_likelihood_tt", "keyness_ll"),
    "red": ("t_score", "t_score_pv", "poisson_pv", "log_ratio"),
    "green": ("mi", "npmi", "mi3", "local_mi"),
    "pink": ("chi_squared", "chi_squared_corr", "chi_squared_tt", "phi"),
    "black": ("frequency", "random", "fisher_pv", "binomial_pv"),
    "gold": ("dice", "log_dice", "jaccard", "minimum_sensitivity"),
    "sky": ("z_score", "z_score_corr", "odds_ratio", "combination"),
}
FIXED = {
    name: Slot(NAMED.index(colour), kind)
    for colour, names in _FAMILIES.items()
    for kind, name in enumerate(names)
}
"""The common association measures: their variants share a colour and differ in the dashes."""
SERIES = {"precision": Slot(0, 0), "recall": Slot(1, 0), "L": Slot(2, 0)}
"""The series in the graphs of lemmas."""


@dataclass(frozen=True)
class Stroke:
    """How one line is drawn."""

    colour: str
    dash: tuple[float, ...] = (1, 0)
    width: float = 1.6


BASELINE = Stroke(GREY, (1, 0), 1.1)
BASELINE_LIMIT = Stroke(GREY, (1.5, 3), 1.1)


def slots(
    names: Iterable[str],
    pinned: Mapping[str, str] | None = None,
    *,
    others: Collection[Slot] = (),
) -> dict[str, Slot]:
    """Give each name a colour and dashes of its own, whatever their order.

    A pinned name has its colour; a common measure has its own (`FIXED`); any other begins at a
    colour that its letters give, and takes the first of those that the fewest names have. With more
    names than `NAMED` times `KINDS`, some are alike.

    Parameters
    ----------
    names : iterable of str
        All names of a report.
    pinned : mapping of str to str
        Name -> one of `NAMED`.
    others : collection of Slot
        Slots that are not free.

    Examples
    --------
    >>> slots(["mi", "context"]) == slots(["context", "mi", "mi"])
    True
    >>> slots(["mi", "mine"], {"mine": "green"})
    {'mine': Slot(colour=2, kind=0), 'mi': Slot(colour=2, kind=1)}
    """
    pins = pinned or {}
    order = sorted(set(names))
    slot_of: dict[str, Slot] = {}
    for name in [each for each in order if each in pins]:
        slot_of[name] = _free(Slot(NAMED.index(pins[name]), 0), [*others, *slot_of.values()])
    for name in [each for each in order if each in FIXED and each not in slot_of]:
        slot_of[name] = _free(FIXED[name], [*others, *slot_of.values()])
    for name in [each for each in order if each not in slot_of]:
        digest = hashlib.sha256(name.encode("utf-8", "replace")).digest()
        used = [*others, *slot_of.values()]
        count = Counter(slot.colour for slot in used)
        colour = min(_cycle(digest[0], len(NAMED)), key=count.__getitem__)
        slot_of[name] = _free(Slot(colour, 0), used)
    return slot_of


def _free(start: Slot, others: Iterable[Slot]) -> Slot:
    """Return the slot, or the next that is free: other dashes first, then other colours."""
    used = set(others)
    order = (
        Slot(colour, kind)
        for colour in _cycle(start.colour, len(NAMED))
        for kind in _cycle(start.kind, KINDS)
    )
    return next((slot for slot in order if slot not in used), start)


def _cycle(first: int, length: int) -> list[int]:
    return [(first + step) % length for step in range(length)]


def strokes(names: Sequence[str], look: Look) -> dict[str, Stroke]:
    """Return the stroke of each name: that of the report, or one of its own.

    Examples
    --------
    >>> strokes(["t_score", "dice"], Look())["dice"].colour
    '#be8c00'
    """
    known = {name: slot for name, slot in look.slots.items() if name in set(names)}
    others = slots([name for name in names if name not in known], others=known.values())
    return {name: slot_stroke((known | others)[name], look) for name in names}


def by_place(names: Sequence[str], look: Look) -> dict[str, Stroke]:
    """Return strokes by the place among the names: for lines that are no measure or system.

    Examples
    --------
    >>> by_place(["n = 500", "n = 1,000"], Look())["n = 500"].colour
    '#0060a0'
    """
    every = [Slot(colour, kind) for kind in range(KINDS) for colour in range(len(NAMED))]
    return {name: slot_stroke(every[place % len(every)], look) for place, name in enumerate(names)}


def slot_stroke(slot: Slot, look: Look) -> Stroke:
    """Return the stroke of a slot in this style."""
    if look.style == "print":
        grey, width = TONES[slot.kind]
        return Stroke(grey, DASHES[slot.colour], width)
    return Stroke(BRIGHT[slot.colour], DASHES[(slot.colour + 2 * slot.kind) % len(DASHES)])


def thin(stroke_of: Mapping[str, Stroke], look: Look) -> dict[str, Stroke]:
    """Return the strokes of the true curves: thin and whole, grey in black and white."""
    if look.style == "print":
        return {name: replace(stroke, colour=GREY, width=0.6) for name, stroke in stroke_of.items()}
    return {name: replace(stroke, dash=(1, 0), width=0.8) for name, stroke in stroke_of.items()}
