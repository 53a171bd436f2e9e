"""Write the tables and the picture of docs/planning.md: Krenn's 5,102 candidates.

python docs/update_planning.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
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
    parts = []
    for interval in ("clopper_pearson", "hypergeometric"):
        found = plan_width(
            candidates=CANDIDATES, n=LISTS, precisions=[0.3], rates=RATES, interval=interval
        )
        rows = [
            [f"{rate:.0%}".replace("%", " %"), f"{sample_size(CANDIDATES, rate=rate):,}"]
            + [f"{100 * width:.1f}" for width in found.filter(rate=rate)["width"]]
            for rate in RATES
        ]
        parts.append(f"Expected width in percentage points, `{interval}`, precision 30 %:")
        parts.append(table(["rate", "draws", *(f"n = {n:,}" for n in LISTS)], rows))
    goal = plan_width(candidates=CANDIDATES, n=LISTS, precisions=[0.3], widths=WIDTHS)
    rows = [
        [f"{100 * width:g} points", *map(_rate, goal.filter(wanted=width)["rate"])]
        for width in WIDTHS
    ]
    parts.append("Sampling rate that is needed for a width, `clopper_pearson`, precision 30 %:")
    parts.append(table(["width", *(f"n = {n:,}" for n in LISTS)], rows))
    return "\n\n".join(parts)


def _rate(rate: float | None) -> str:
    return "none" if rate is None else f"{100 * rate:.1f} %"


def powers() -> str:
    """Return the power of two comparisons on Krenn's data, and what a sample can tell apart."""
    parts = []
    for name, rows in PAIRS.items():
        parts.append(f"Power in %, {name}, Fisher's test at 5 %:")
        body = [_row(*row) for row in rows]
        head = ["n", "in one list only", "precision of that", "difference"]
        parts.append(table([*head, *(f"{100 * rate:g} %" for rate in RATES), "50 %"], body))
    parts.append(
        "Smallest difference in precision (percentage points) that is found with a power of 80 %, "
        "if half of\neach list is in the other and the precision around 30 %:"
    )
    body = [[f"{100 * rate:g} %", *(_least(n, rate) for n in LISTS)] for rate in RATES]
    parts.append(table(["rate", *(f"n = {n:,}" for n in LISTS)], body))
    return "\n\n".join(parts)


def labels() -> str:
    """Return the judgements that comparisons need, drawn from everything or where it matters."""
    rows = [
        [name.replace(" against ", ", "), f"{n:,}", *map(_count, _needed(n, apart, k_1, k_2))]
        for name, pairs in PAIRS.items()
        for n, apart, k_1, k_2 in pairs
        if n > LISTS[0]
    ]
    said = "Judgements that give a power of 80 %, Fisher's test at 5 %; none: not even all do:"
    head = ["measures", "n", "drawn from all candidates", "drawn from D1 and D2"]
    return f"{said}\n\n{table(head, rows)}"


def _needed(n: int, apart: int, k_1: int, k_2: int) -> list[int | None]:
    """Return the smallest sample of all candidates, and of those that one list alone has."""

    def enough(size: int, candidates: int) -> bool:
        design = Design(n=n, apart=apart, candidates=candidates)
        power = comparison_power(
            design, size=size, precision_1=k_1 / apart, precision_2=k_2 / apart
        )
        return (power.first if k_1 > k_2 else power.second) >= 0.8

    return [
        smallest_size(partial(enough, candidates=drawn_from), 1, drawn_from)
        for drawn_from in (CANDIDATES, 2 * apart)
    ]


def _count(size: int | None) -> str:
    return "none" if size is None else f"{size:,}"


def _row(n: int, apart: int, k_1: int, k_2: int) -> list[str]:
    design = Design(n=n, apart=apart, candidates=CANDIDATES)
    found = []
    for rate in (*RATES, 0.5):
        size = sample_size(CANDIDATES, rate=rate)
        power = comparison_power(
            design, size=size, precision_1=k_1 / apart, precision_2=k_2 / apart
        )
        found.append(f"{100 * (power.first if k_1 > k_2 else power.second):.0f}")
    only = f"{100 * k_1 / apart:.1f} and {100 * k_2 / apart:.1f} %"
    return [f"{n:,}", f"{apart:,}", only, f"{100 * (k_1 - k_2) / n:+.1f}", *found]


def _least(n: int, rate: float) -> str:
    """Return the difference, in steps of a point."""
    design = Design(n=n, apart=n // 2, candidates=CANDIDATES)
    size = sample_size(CANDIDATES, rate=rate)

    def enough(points: int) -> bool:
        # the difference between D1 and D2 is twice that of the lists
        first, second = 0.3 + points / 100, 0.3 - points / 100
        power = comparison_power(design, size=size, precision_1=first, precision_2=second)
        return power.first >= 0.8

    found = smallest_size(enough, 1, 30)
    return "more than 30" if found is None else str(found)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def updated(text: str, name: str, content: str) -> str:
    """Return the chapter with a block as it is today."""
    begin, end = BEGIN.format(name), END.format(name)
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{content}\n\n{end}{after}"


def picture() -> bytes:
    """Return the widths as a picture."""
    how: dict[str, Any] = {"candidates": CANDIDATES, "n": LISTS, "precisions": [0.3]}
    curves = plan_width(**how, rates=rate_grid(0.3))
    asked = plan_width(**how, widths=[0.15, 0.2])
    return chart_bytes(plan_chart(curves, asked=asked), "svg")


if __name__ == "__main__":
    chapter = updated(CHAPTER.read_text(encoding="utf-8"), "widths", widths())
    chapter = updated(updated(chapter, "powers", powers()), "labels", labels())
    CHAPTER.write_text(chapter, encoding="utf-8")
    CHAPTER.with_suffix(".svg").write_bytes(picture())
