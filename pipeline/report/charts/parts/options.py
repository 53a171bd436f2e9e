"""What the charts can be asked for: window, look, grid, and what is drawn beside the lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

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
        What rows, columns and shades stand for.
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
    """What a precision graph draws beside its lines.

    Parameters
    ----------
    bands : tuple of str
        Measures whose confidence limits are shaded.
    cuts : tuple of int
        Values of n with a vertical line.
    truth : DataFrame or None
        A second `schemas.Precision` frame, drawn thin.
    subsets : DataFrame or None
        Sets of one size only, such as the outputs of filters: subset, n, precision, lower,
        upper; a dot with its interval for each.
    comparison : DataFrame or None
        A `schemas.Comparison` frame that holds the pair of `marks`.
    marks : tuple of two str, or None
        The pair whose significant differences are marked by triangles.
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
