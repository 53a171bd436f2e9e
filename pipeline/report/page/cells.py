"""Values as the text of a table cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from pipeline.report.page.names import distinct

NOTHING = "–"
"""What a null is shown as."""


def cell(value: Any) -> str:
    """Return a value as text for reading: four significant digits, thousands separated.

    Parameters
    ----------
    value : object
        A cell of a table.

    Examples
    --------
    >>> cell(5102), cell(None), cell(float("-inf"))
    ('5,102', '–', '−∞')
    >>> cell(0.0000321), cell(1520.44), cell(True)
    ('3.21e-05', '1,520', 'yes')
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return _float(value)
    return f"{value:,}".replace("-", "−") if isinstance(value, int) else str(value)


def _float(value: float) -> str:
    if not math.isfinite(value):
        return "undefined" if math.isnan(value) else f"{'−' if value < 0 else ''}∞"
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
    return NOTHING if value is None else f"{100 * value:.{digits}f}".replace("-", "−")


def share_limits(lower: float | None, upper: float | None, *, digits: int = 2) -> str:
    """Return the limits of a proportion in per cent.

    Examples
    --------
    >>> share_limits(0.2, 0.25)
    '[20.00, 25.00]'
    """
    return f"[{share(lower, digits=digits)}, {share(upper, digits=digits)}]"


def decimals(value: float | None, *, digits: int = 4) -> str:
    """Return a value with so many decimals.

    Examples
    --------
    >>> decimals(0.23354), decimals(-0.5, digits=1), decimals(None)
    ('0.2335', '−0.5', '–')
    """
    return NOTHING if value is None else f"{value:.{digits}f}".replace("-", "−")


def limits(lower: float | None, upper: float | None, *, digits: int = 4, absent: str = "") -> str:
    """Return the limits of an interval, or `absent` where there is none.

    Examples
    --------
    >>> limits(0.5, 0.75), limits(-0.25, 0.5, digits=2), limits(None, None)
    ('[0.5000, 0.7500]', '[−0.25, 0.50]', '')
    """
    if lower is None or upper is None:
        return absent
    return f"[{decimals(lower, digits=digits)}, {decimals(upper, digits=digits)}]"


def part(count: int, whole: int) -> str:
    """Return how many of how many.

    Examples
    --------
    >>> part(12, 1500)
    '12 of 1,500'
    """
    return f"{count:,} of {whole:,}"


def points(difference: float | None) -> str:
    """Return a difference of proportions in percentage points, with its sign.

    Examples
    --------
    >>> points(0.0312), points(-0.5), points(None), points(-0.0)
    ('+3.12', '−50.00', '–', '0.00')
    """
    if difference is None or difference == 0:
        return share(None if difference is None else 0.0)
    return f"{'+' if difference > 0 else '−'}{share(abs(difference))}"


def p_value(p: float | None) -> str:
    """Return a p-value with four decimals, a small one in powers of ten.

    Examples
    --------
    >>> p_value(0.03456), p_value(4.2e-7), p_value(1.0), p_value(None)
    ('0.0346', '4.2e-07', '1.0000', '–')
    """
    if p is None:
        return NOTHING
    return f"{p:.1e}" if 0 < p < 1e-4 else f"{p:.4f}"


def text_frame(heads: Sequence[str], columns: Sequence[Sequence[str]]) -> pl.DataFrame:
    """Return a table of text; a head that repeats an earlier one gets a number.

    Examples
    --------
    >>> text_frame(["rank", "dice", "rank"], [["1"], ["in Frage"], ["in Kraft"]]).columns
    ['rank', 'dice', 'rank-2']
    """
    texts = dict(zip(distinct(heads), columns, strict=True))
    return pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))
