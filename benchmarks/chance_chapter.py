"""The blocks of docs/evaluation.md that simulations make."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

CHAPTER = Path(__file__).parents[1] / "docs" / "evaluation.md"
BEGIN, END = "<!-- {}: made by benchmarks/{} -->\n", "<!-- end of {} -->\n"


def update_chapter(text: str, blocks: Mapping[str, str], script: str) -> str:
    """Return the chapter with each block as it was found.

    Raises
    ------
    ValueError
        If the chapter has no place for a block.
    """
    for name, content in blocks.items():
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


def show(
    make: Callable[[Path, int], Mapping[str, str]],
    *,
    script: str,
    about: str | None,
    samples: int,
    arguments: Sequence[str] | None = None,
) -> None:
    """Print the blocks of a script, or write them into the chapter too.

    Parameters
    ----------
    make : callable
        (folder of the public data, simulated samples) -> the blocks by their names.
    script : str
        Its name, which stands in the chapter.
    about : str or None
        Its documentation.
    samples : int
        Simulated samples where ``--samples`` does not say it.
    arguments : sequence of str, optional
        The command line; the process's own if not given.
    """
    parser = argparse.ArgumentParser(description=about.split("\n")[0] if about else "")
    parser.add_argument("--samples", type=int, default=samples)
    parser.add_argument("--write", action="store_true", help="into docs/evaluation.md")
    options = parser.parse_args(arguments)
    root = os.environ.get("LEXASSAY_DATA")
    if not root:
        sys.exit("LEXASSAY_DATA names the folder of the public data")
    blocks = make(Path(root), options.samples)
    for name, content in blocks.items():
        print(f"{name}\n\n{content}\n")
    if options.write:
        text = CHAPTER.read_text(encoding="utf-8")
        CHAPTER.write_text(update_chapter(text, blocks, script), encoding="utf-8")
