"""Tables at chosen n: precision of each measure, and the tests between measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from pipeline.report.page.cells import cell, columns_shown, share
from pipeline.report.view import Listing

Row = Mapping[str, Any]

FIGURE_SPACE = "\u2007"


def precision_listing(
    frame: pl.DataFrame, measures: Sequence[str], *, name: str, of: str = ""
) -> Listing:
    """Return a row per measure and a column per n: precision, limits, tie range.

    Parameters
    ----------
    frame : DataFrame
        `schemas.Precision` or `schemas.StratifiedPrecision` at the cuts, one category.
    measures : sequence of str
        The rows, in this order.
    name : str
        Name of the files.
    of : str
        What the caption says of the category.
    """
    place = pl.col("measure").replace_strict({m: i for i, m in enumerate(measures)})
    ordered = frame.sort(place, "n")
    cells = {(row["measure"], row["n"]): _estimate(row) for row in ordered.to_dicts()}
    cuts = sorted(set(ordered["n"]))
    columns = {f"n = {n:,}": [cells.get((m, n), "") for m in measures] for n in cuts}
    caption = f"Precision in per cent at chosen n{of}, with its confidence limits in brackets."
    if "tp_min" in ordered.columns:
        caption += (
            " Ties: where equal scores straddle the cut, the true positives (TP) that the ways to "
            "break the tie could give."
        )
    shown = pl.DataFrame({"measure": list(measures), **columns})
    return Listing(name, caption, ordered, shown=shown)


def _estimate(row: Row) -> str:
    limits = f"[{share(row['lower'], digits=1)}, {share(row['upper'], digits=1)}]"
    # Filled up with a blank as wide as a digit, so that the decimal points stand in line.
    said = f"{share(row['precision']).rjust(5, FIGURE_SPACE)} {limits}"
    if row.get("tp_min") == row.get("tp_max"):
        return said
    return f"{said}\nties: {row['tp_min']:,} to {row['tp_max']:,} TP"


def comparison_listing(frame: pl.DataFrame, *, name: str, test: str, of: str = "") -> Listing:
    """Return a row per pair and cut: the counts, the difference, the p-values.

    Parameters
    ----------
    frame : DataFrame
        `schemas.CutComparison`, one category.
    name : str
        Name of the files.
    test : str
        What the test is called.
    of : str
        What the caption says of the category.
    """
    ordered = frame.sort("n", "measure_1", "measure_2")
    rows = [_test(row) for row in ordered.to_dicts()]
    how = ", ".join(sorted(set(ordered["correction"]))).replace("_", "-")
    caption = (
        f"{test} at the declared cuts{of}: k of n judged draws are true "
        "positives in D1 (n-best under the first measure alone) and in D2, which is as large "
        "(n-best under the second alone); difference of precision in percentage points, first "
        f"minus second; p, and p adjusted over the declared cuts and pairs ({how})."
    )
    shown = pl.DataFrame(rows)
    return Listing(name, caption, ordered, shown=shown, right=tuple(shown.columns[2:]))


def _test(row: Row) -> dict[str, str]:
    return {
        "first": row["measure_1"],
        "second": row["measure_2"],
        "n": cell(row["n"]),
        "|D1|": cell(row["size"]),
        "k of n: D1": f"{row['k_1']:,} of {row['n_1']:,}",
        "k of n: D2": f"{row['k_2']:,} of {row['n_2']:,}",
        "difference": points(row["difference"]),
        "p": p_value(row["p_value"]),
        "adjusted p": p_value(row["p_adjusted"]),
    }


def matrix_listing(
    frame: pl.DataFrame, n: int, *, name: str, alpha: float, margin: float, of: str = ""
) -> Listing:
    """Return the differences of all pairs at one n as a square: row minus column.

    Parameters
    ----------
    frame : DataFrame
        `schemas.CutComparison`, one category.
    n : int
        The cut.
    name : str
        Name of the files.
    alpha, margin : float
        A star stands where p_adjusted < alpha and |difference| >= margin.
    of : str
        What the caption says of the category.
    """
    held = frame.filter(pl.col("n") == n).sort("measure_1", "measure_2")
    names = list(dict.fromkeys([*held["measure_1"], *held["measure_2"]]))
    cells = {key: said for row in held.to_dicts() for key, said in _both(row, alpha, margin)}
    columns = [[cells.get((a, b), "") for a in names] for b in names]
    least = f" and at least {100 * margin:g} points" if margin else ""
    caption = (
        f"Difference of precision at n = {n:,}{of} in percentage points, row minus column. "
        f"A star: adjusted p < {alpha:g}{least}."
    )
    shown = columns_shown(["row − column", *names], [names, *columns])
    return Listing(name, caption, held, shown=shown, right=tuple(shown.columns[1:]))


def _both(row: Row, alpha: float, margin: float) -> list[tuple[tuple[str, str], str]]:
    one, two, gap, p = (row[key] for key in ("measure_1", "measure_2", "difference", "p_adjusted"))
    star = p is not None and gap is not None and p < alpha and abs(gap) >= margin
    mark = "* " if star else ""
    back = None if gap is None else -gap
    return [((one, two), mark + points(gap)), ((two, one), mark + points(back))]


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
        return cell(None)
    return f"{p:.1e}" if 0 < p < 1e-4 else f"{p:.4f}"


def stratified_listing(frame: pl.DataFrame, *, name: str, of: str = "") -> Listing:
    """Return a row per pair and cut of a stratified sample: the difference and its limits.

    Parameters
    ----------
    frame : DataFrame
        `schemas.StratifiedComparison`, one category.
    name : str
        Name of the files.
    of : str
        What the caption says of the category.
    """
    ordered = frame.sort("n", "measure_1", "measure_2")
    rows = [_stratified(row) for row in ordered.to_dicts()]
    caption = (
        f"Differences of precision at the declared cuts{of} in percentage points, first minus "
        "second, with limits; k of n judged draws are true positives in D1 and D2. "
        "A star: the limits, taken by themselves, exclude 0."
    )
    shown = pl.DataFrame(rows)
    return Listing(name, caption, ordered, shown=shown, right=tuple(shown.columns[2:]))


def _stratified(row: Row) -> dict[str, str]:
    star = "* " if row["excludes_zero"] else ""
    return {
        "first": row["measure_1"],
        "second": row["measure_2"],
        "n": cell(row["n"]),
        "|D1|": cell(row["size"]),
        "k of n: D1": f"{row['k_1']:,} of {row['n_1']:,}",
        "k of n: D2": f"{row['k_2']:,} of {row['n_2']:,}",
        "difference": star + points(row["difference"]),
        "limits": f"[{points(row['lower'])}, {points(row['upper'])}]",
    }
