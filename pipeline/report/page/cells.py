"""Values as the text of a table cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from pipeline.report.page.names import distinct

NOTHING = "–"
"""What a null is shown as."""


def cell(value: Any, *, percent: bool = False) -> str:
    """Return a value as text for reading: four significant digits, thousands separated.

    Parameters
    ----------
    value : object
        A cell of a table.
    percent : bool
        Whether a proportion is shown as a per cent, with two decimals.

    Examples
    --------
    >>> cell(5102), cell(0.1109, percent=True), cell(None), cell(float("-inf"))
    ('5,102', '11.09', '–', '−∞')
    >>> cell(0.0000321), cell(1520.44), cell(True)
    ('3.21e-05', '1,520', 'yes')
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return _float(100 * value, ".2f") if percent else _float(value, "")
    return f"{value:,}".replace("-", "−") if isinstance(value, int) else str(value)


def _float(value: float, spec: str) -> str:
    if not math.isfinite(value):
        return "undefined" if math.isnan(value) else f"{'−' if value < 0 else ''}∞"
    if not spec:
        small = value != 0 and not 1e-3 <= abs(value) < 1e7
        spec = ".3g" if small else (",.0f" if abs(value) >= 1000 else ".4g")
    return f"{value:{spec}}".replace("-", "−", 1) if value < 0 else f"{value:{spec}}"


def share(value: float | None, *, digits: int = 2) -> str:
    """Return a proportion as a per cent, without the sign.

    Examples
    --------
    >>> share(0.2335), share(None), share(1.0, digits=1)
    ('23.35', '–', '100.0')
    """
    return NOTHING if value is None else f"{100 * value:.{digits}f}"


def columns_shown(heads: Sequence[str], columns: Sequence[Sequence[str]]) -> pl.DataFrame:
    """Return a table of text; a head that repeats an earlier one gets a number.

    Examples
    --------
    >>> columns_shown(["rank", "dice", "rank"], [["1"], ["in Frage"], ["in Kraft"]]).columns
    ['rank', 'dice', 'rank-2']
    """
    found = dict(zip(distinct(heads), columns, strict=True))
    return pl.DataFrame(found, schema=dict.fromkeys(found, pl.String))
