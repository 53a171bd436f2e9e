"""What the figures of a comparison show, in words."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.report.charts.matrix import NUMBERS, Matrix
from pipeline.report.charts.parts.options import Style
from pipeline.report.views.collocations.on_tests import HowCompared, Mark


def difference_caption(*, of: str = "") -> str:
    """Say what a graph of differences shows."""
    return (
        f"Difference of precision of two n-best lists{of} against n. Points: significant at "
        "that n, taken by itself (pointwise)."
    )


def heat_caption(matrices: Sequence[Matrix], mark: Mark, *, style: Style, of: str = "") -> str:
    """Say what a matrix of all pairs of measures shows."""
    numbers = max(len(matrix.order) for matrix in matrices) <= NUMBERS
    subject = (
        f"Differences of precision between all pairs of measures{of}, row less column, in "
        "percentage points; the measures are ordered by their precision."
    )
    said = [subject, f"A {'star' if numbers else 'dot'}: {mark.said}."]
    if any(matrix.cells["difference"].null_count() for matrix in matrices):
        said.append("A cross: no judged candidate in one of the difference sets.")
    if style == "print":
        said.append("Only the pairs whose row is better are drawn.")
    return " ".join(said)


def interval_caption(tested: HowCompared, *, anytime: bool, of: str = "") -> str:
    """Say what a figure of differences with their limits shows."""
    return (
        f"How much the precision of each list differs from that of the best measure{of} (of all "
        "pairs, where none was looked for), in percentage points, with "
        f"{100 * tested.confidence:g} % limits, "
        f"{'of all together' if anytime else 'each by itself'}. "
        f"About these candidates: what judging all of them would show.{'' if anytime else _BEYOND}"
    )


_BEYOND = " Beyond them: the same in a population that they are independent draws from."


def strip_caption(*, style: Style, of: str = "") -> str:
    """Say what a chart of the best measures shows."""
    strong, weak = ("Dark grey", "pale grey") if style == "print" else ("Dark blue", "pale blue")
    return (
        f"{strong}: the measure with the highest estimated precision at each declared n{of}; "
        f"{weak}: not significantly worse. Numbers: precision in per cent. Measures that are "
        "significantly worse at every n are left out."
    )
