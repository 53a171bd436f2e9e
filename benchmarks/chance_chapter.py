"""The blocks of docs/evaluation.md that simulations make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

CHAPTER = Path(__file__).parents[1] / "docs" / "evaluation.md"
BEGIN, END = "<!-- {}: made by benchmarks/{} -->\n", "<!-- end of {} -->\n"


def updated(text: str, found: Mapping[str, str], script: str = "chance_findings.py") -> str:
    """Return the chapter with each block as it was found.

    Raises
    ------
    ValueError
        If the chapter has no place for a block.
    """
    for name, content in found.items():
        begin, end = BEGIN.format(name, script), END.format(name)
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"the chapter has no place for {name}: write {begin}{end}")
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{content}\n\n{end}{rest.partition(end)[2]}"
    return text


def table(
    head: Sequence[str], rows: Iterable[tuple[str, Sequence[float]]], *, digits: int = 0
) -> str:
    """Return a Markdown table of proportions in per cent, each row with its name."""
    lines = [head, ["---"] * len(head)]
    lines += [[name, *(f"{100 * value:.{digits}f}" for value in values)] for name, values in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def error(samples: int) -> str:
    """Return the largest standard error of a share of simulated samples, in points."""
    return f"{50 / samples**0.5:.1f}"
