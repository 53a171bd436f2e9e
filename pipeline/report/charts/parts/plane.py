"""The plotting area: its axes, and pixels to data and back."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.report.charts.parts.options import Look
from pipeline.report.charts.parts.spec import Channel, amount

DECIMAL = ",.6~f"
"""Numbers with the decimals that they need, as D3 has it."""


@dataclass(frozen=True)
class Plane:
    """Domains of both axes and the size of the area between them.

    Parameters
    ----------
    x, y : tuple of two float
        Domains of the axes.
    look : Look
        Gives width and height.
    y_title, x_title : str
        Titles of the axes.
    x_format : str
        How numbers at the x axis are written, as D3 has it.
    x_grid : bool
        Whether lines go up from its ticks.
    zooms : bool
        Whether the page may show a part of x.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    look: Look
    y_title: str
    x_title: str = "n (size of the n-best list)"
    x_format: str = ",d"
    x_grid: bool = False
    zooms: bool = False

    def x_axis(self, field: str = "n") -> Channel:
        """Return the x channel on a linear scale, of which a part is seen if it is zoomed."""
        zoom = {"domainRaw": {"expr": "n_zoom"}} if self.zooms else {}
        scale = {"domain": list(self.x), "nice": False, "zero": False, **zoom}
        ticks = 4 if self.look.narrow else 8
        axis = {
            "format": self.x_format, "tickCount": ticks, "grid": self.x_grid, "labelOverlap": True,
        }  # fmt: skip
        return amount(field, title=self.x_title, scale=scale, axis=axis)

    def y_axis(self, field: str) -> Channel:
        """Return the y channel on a linear scale."""
        scale = {"domain": list(self.y), "nice": False, "zero": False}
        axis = {"tickCount": 5 if self.look.narrow else 7, "labelOverlap": True}
        return amount(field, title=self.y_title, scale=scale, axis=axis)

    @property
    def n_per_pixel(self) -> float:
        """How much of n one pixel covers."""
        return (self.x[1] - self.x[0]) / self.look.width

    def x_pixel(self, n: float) -> float:
        """Return where n lies; pixels from the left edge."""
        return (n - self.x[0]) / self.n_per_pixel

    def y_pixel(self, value: float) -> float:
        """Return where a value of y lies; pixels from the upper edge."""
        return self.look.height * (self.y[1] - value) / (self.y[1] - self.y[0])


def n_domain(first: int, last: int) -> tuple[float, float]:
    """Return the domain of n: from 0 unless the window begins far from it.

    Examples
    --------
    >>> n_domain(100, 5102)
    (0.0, 5102.0)
    >>> n_domain(1000, 2000)
    (1000.0, 2000.0)
    """
    low = 0 if first <= 0.15 * last else first
    return float(low), float(max(last, low + 1))


def round_domain(
    values: Iterable[float | None], *, low: float | None = None, high: float | None = None
) -> tuple[float, float]:
    """Return a domain with round ends that holds all values; given ends are kept.

    Parameters
    ----------
    values : iterable of float or None
        What must lie inside; None is passed over.
    low, high : float or None
        Ends that are kept as they are.

    Examples
    --------
    >>> round_domain([12.2, 44.8], low=0)
    (0, 50.0)
    """
    finite = [value for value in values if value is not None and math.isfinite(value)]
    least = low if low is not None else min(finite, default=0.0)
    most = high if high is not None else max(finite, default=1.0)
    step = _step(max(most - least, 1e-9) / 6)
    least = least if low is not None else math.floor(least / step) * step
    most = most if high is not None else math.ceil(most / step) * step
    return (least, most) if most > least else (least, least + step)


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
