"""What parts the fields of a file that somebody hands over without a word about it."""

from __future__ import annotations

from pathlib import Path

from pipeline.formats.delimited import open_text
from pipeline.formats.reading import reading
from pipeline.formats.unpacked import first_line

_SEPARATORS = (",", ";", "\t")


def separator_of(file: Path) -> str:
    """Return what parts the fields of the first line: a comma unless there are more of another.

    Parameters
    ----------
    file : Path
        A text file, gzipped or not.

    Raises
    ------
    DataError
        If its first line cannot be read.
    """
    with reading(file), open_text(file) as text:
        first = first_line(text, file, 1)
    return max(_SEPARATORS, key=first.count)
