"""Whether the lines of a plain text end where they were full, not where a paragraph ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from pipeline.formats.delimited import open_text
from pipeline.formats.reading import reading

_CHARACTERS = 1 << 18
"""What is looked at, from the beginning of the file."""
_WIDTHS = range(30, 121)
"""How long the longest lines of a wrapped text are."""
_FEWEST = 20
"""Lines without which nothing can be told."""
_MOST = 0.9
"""Share of the lines that have to be full; those with a heading or a list above them are not."""


def is_wrapped(path: Path) -> bool:
    """Return whether a file is text in lines of a set width, as in Project Gutenberg's books.

    A line is full if the first word of the next one would have gone beyond the longest lines. Lines
    that end for another reason, as sentences or verses do, are so by chance alone.

    Parameters
    ----------
    path : Path
        The file, gzipped or not.
    """
    with reading(path), open_text(path) as text:
        lines = text.read(_CHARACTERS).splitlines()
    inner = list(_followed([line.strip() for line in lines]))
    if len(inner) < _FEWEST:
        return False
    longest = sorted(len(line) for line, _ in inner)[int(len(inner) * 0.98)]
    full = sum(len(line) + 1 + len(word) > longest for line, word in inner)
    return longest in _WIDTHS and full >= _MOST * len(inner)


def _followed(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each line that goes on in the next, with the first word of that."""
    for line, following in pairwise(lines):
        if line and following:
            yield line, following.split(maxsplit=1)[0]
