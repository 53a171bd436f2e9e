"""Tables of the best measures, of tests against the baseline, and of tests of subsets."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.report.page.cells import cell, share
from pipeline.report.view import Listing
from pipeline.report.views.collocations.cut_tables import p_value, points
from pipeline.report.views.collocations.matrices import starred


def best_listing(best: pl.DataFrame, *, name: str, of: str = "") -> Listing:
    """Return a row per n: the best measure, and those that are not significantly worse.

    Parameters
    ----------
    best : DataFrame
        `schemas.BestMeasures`, one category.
    name : str
        Name of the files.
    of : str
        What the caption says of the category.
    """
    order = ["n", "best", "precision", "measure"]
    ordered = best.sort(order, descending=[False, True, True, False], nulls_last=True)
    rows = [_at(part) for part in ordered.partition_by("n", maintain_order=True)]
    caption = (
        f"The measure with the highest estimated precision at each declared n{of}, and those that "
        "are not significantly worse (all pairs tested, p-values adjusted by Holm's method), "
        "with precision in per cent (?: no draw of the list is judged)."
    )
    return Listing(name, caption, ordered, shown=pl.DataFrame(rows), right=("n",))


def _at(part: pl.DataFrame) -> dict[str, str]:
    first, *others = part.select("measure", "precision").rows()
    return {
        "n": cell(int(part["n"][0])),
        "best": _named(*first),
        "not significantly worse": "\n".join(_named(*other) for other in others) or "none",
    }


def _named(measure: str, precision: float | None) -> str:
    return f"{measure} {'?' if precision is None else share(precision)}"


def baseline_listing(
    tests: pl.DataFrame, *, name: str, alpha: float, margin: float, of: str = ""
) -> Listing:
    """Return a row per measure and a column per n: the difference from the baseline, and p.

    Parameters
    ----------
    tests : DataFrame
        `schemas.CutBaselineComparison`, one category.
    name : str
        Name of the files.
    alpha, margin : float
        A star stands where p_adjusted < alpha and |difference| >= margin.
    of : str
        What the caption says of the category.
    """
    star = starred(alpha=alpha, margin=margin)
    ordered = tests.sort("measure", "n")
    marked = ordered.select("measure", "n", "difference", "p_adjusted", star.alias("star"))
    cells = {(m, n): _difference(d, p, s) for m, n, d, p, s in marked.iter_rows()}
    measures, cuts = sorted(set(ordered["measure"])), sorted(set(ordered["n"]))
    shown = pl.DataFrame(
        {"measure": measures}
        | {f"n = {n:,}": [cells.get((m, n), "") for m in measures] for n in cuts}
    )
    caption = (
        f"Precision less the baseline in percentage points{of}, with adjusted p of the exact test "
        f"of each list against the candidates outside it. A star: adjusted p < {alpha:g}"
        f"{f' and at least {100 * margin:g} points' if margin else ''}."
    )
    return Listing(name, caption, ordered, shown=shown, right=tuple(shown.columns[1:]))


def _difference(gap: float | None, p: float | None, star: bool) -> str:
    if gap is None:
        return cell(None)
    return f"{'* ' if star else ''}{points(gap)}\np {p_value(p)}"


def subset_listing(
    subsets: pl.DataFrame, tests: pl.DataFrame, measures: Sequence[str], *, name: str, of: str = ""
) -> Listing:
    """Return a row per subset: its precision, and its difference from each |A|-best list.

    Parameters
    ----------
    subsets : DataFrame
        category, subset, n, precision, lower, upper ..., one category.
    tests : DataFrame
        category, subset, measure, n, difference, p_value, p_adjusted, significant,
        correction ..., one category.
    measures : sequence of str
        The columns, in this order.
    name : str
        Name of the files.
    of : str
        What the caption says of the category.
    """
    kept = ("subset", "measure", "difference", "p_adjusted", "significant")
    cells = {(s, m): _difference(d, p, star) for s, m, d, p, star in tests.select(kept).iter_rows()}
    ordered = subsets.sort("n", "subset")
    names = ordered["subset"].to_list()
    estimates = ordered.select("precision", "lower", "upper").rows()
    shown = pl.DataFrame(
        {
            "set A": names,
            "|A|": [cell(n) for n in ordered["n"]],
            "precision": [
                f"{share(p)} [{share(low, digits=1)}, {share(high, digits=1)}]"
                for p, low, high in estimates
            ],
        }
        | {f"− {m}": [cells.get((s, m), "") for s in names] for m in measures}
    )
    how = ", ".join(sorted(set(tests["correction"]))).replace("_", "-")
    caption = (
        f"Precision of each set A in per cent{of}, with its confidence limits; then A less the "
        f"|A|-best list of each measure in percentage points, with adjusted p ({how}). A star: "
        "significant after correction."
    )
    return Listing(name, caption, tests.sort("subset", "measure"), shown=shown,
                   right=tuple(shown.columns[1:]))  # fmt: skip
