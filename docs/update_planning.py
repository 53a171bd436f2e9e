"""Write the tables and the picture of docs/planning.md: Krenn's 5,102 candidates.

python docs/update_planning.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pipeline.kernels.nbest.sample_size import Design, comparison_power, smallest_size
from pipeline.kernels.sampling import sample_size
from pipeline.report.page.images import chart_bytes
from pipeline.sizing.output import plan_chart, rate_grid
from pipeline.sizing.plan import plan_width

CHAPTER = Path(__file__).with_name("planning.md")
CANDIDATES, LISTS, RATES = 5102, (100, 500, 1000, 2000), (0.05, 0.1, 0.15, 0.2)
WIDTHS = (0.1, 0.15, 0.2, 0.3)
POWER_RATES = (0.1, 0.2, 0.5)
BEGIN, END = "<!-- {}: made by docs/update_planning.py -->\n", "<!-- end of {} -->\n"

# What only one of the two lists has, after full annotation: n, |D1| = |D2|, TPs in D1, in D2.
PAIRS = {
    "t_score against log_likelihood": [
        (100, 32, 6, 10), (500, 145, 32, 33), (1000, 266, 50, 40), (2000, 288, 24, 52),
    ],
    "t_score against chi_squared": [
        (100, 79, 30, 17), (500, 316, 86, 58), (1000, 460, 111, 69), (2000, 353, 31, 58),
    ],
}  # fmt: skip


def widths() -> str:
    """Return expected widths for rates, and rates for widths, at a precision of 30 %."""
    planned = plan_width(candidates=CANDIDATES, n=LISTS, precisions=[0.3], rates=RATES)
    expected = [
        [_percent(rate), f"{sample_size(CANDIDATES, rate=rate):,}"]
        + [f"{100 * width:.1f}" for width in planned.filter(rate=rate)["width"]]
        for rate in RATES
    ]
    goal = plan_width(candidates=CANDIDATES, n=LISTS, precisions=[0.3], widths=WIDTHS)
    needed = [
        [f"{100 * width:g} points", *map(_rate, goal.filter(wanted=width)["rate"])]
        for width in WIDTHS
    ]
    lists = [f"n = {n:,}" for n in LISTS]
    return "\n\n".join([
        "Expected width in percentage points:", table(["rate", "draws", *lists], expected),
        "Sampling rate for a width:", table(["width", *lists], needed),
    ])  # fmt: skip


def _rate(rate: float | None) -> str:
    return "none" if rate is None else f"{100 * rate:.1f} %"


def powers() -> str:
    """Return the power of two comparisons on Krenn's data, and the differences that are found."""
    head = ["measures", "n", "difference", *(_percent(rate) for rate in POWER_RATES)]
    power = [_row(name, *row) for name, rows in PAIRS.items() for row in rows if row[0] > LISTS[0]]
    least = [[_percent(rate), *(_least(n, rate) for n in LISTS)] for rate in RATES]
    parts = [
        "Power in %, Fisher's test at 5 %, by sampling rate:",
        table(head, power),
        (
            "Smallest difference in points that is found with a power of 80 %, if half of each\n"
            "list is in the other and the precision is around 30 %:"
        ),
        table(["rate", *(f"n = {n:,}" for n in LISTS)], least),
    ]
    return "\n\n".join(parts)


def _percent(rate: float) -> str:
    return f"{100 * rate:g} %"


def _row(name: str, n: int, apart: int, k_1: int, k_2: int) -> list[str]:
    design = Design(n=n, apart=apart, candidates=CANDIDATES)
    cells = []
    for rate in POWER_RATES:
        size = sample_size(CANDIDATES, rate=rate)
        power = comparison_power(
            design, size=size, precision_1=k_1 / apart, precision_2=k_2 / apart
        )
        cells.append(f"{100 * (power.first if k_1 > k_2 else power.second):.0f}")
    return [name.replace(" against ", ", "), f"{n:,}", f"{100 * (k_1 - k_2) / n:+.1f}", *cells]


def _least(n: int, rate: float) -> str:
    """Return the difference, in steps of a point."""
    design = Design(n=n, apart=n // 2, candidates=CANDIDATES)
    size = sample_size(CANDIDATES, rate=rate)

    def enough(points: int) -> bool:
        # the difference between D1 and D2 is twice that of the lists
        first, second = 0.3 + points / 100, 0.3 - points / 100
        power = comparison_power(design, size=size, precision_1=first, precision_2=second)
        return power.first >= 0.8

    least = smallest_size(enough, 1, 30)
    return "more than 30" if least is None else str(least)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def update_chapter(text: str, name: str, content: str) -> str:
    """Return the chapter with a block as it is today."""
    begin, end = BEGIN.format(name), END.format(name)
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{content}\n\n{end}{after}"


def picture() -> bytes:
    """Return the widths as a picture."""
    how: dict[str, Any] = {"candidates": CANDIDATES, "n": LISTS, "precisions": [0.3]}
    curves = plan_width(**how, rates=rate_grid(0.3))
    points = plan_width(**how, widths=[0.15, 0.2])
    return chart_bytes(plan_chart(curves, points=points), "svg")


if __name__ == "__main__":
    chapter = update_chapter(CHAPTER.read_text(encoding="utf-8"), "widths", widths())
    CHAPTER.write_text(update_chapter(chapter, "powers", powers()), encoding="utf-8")
    CHAPTER.with_suffix(".svg").write_bytes(picture())
