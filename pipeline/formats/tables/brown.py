"""Brown clusters: a line per word, its bit string, the word, how often it was seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipeline.formats import delimited
from pipeline.formats.base import FormatOptions, Skipped, reader
from pipeline.formats.delimited import Dialect

_PATHS = Dialect(columns=("cluster", "item", "f"))


def _check(path: Path, _options: FormatOptions) -> Sequence[Skipped]:
    delimited.check(path, _PATHS)
    return ()


@reader("brown", suffixes=[".paths"], check=_check)
def scan_brown(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """Brown clusters as programs write them: bit string, word (item), count (f).

    Tab-separated, without a header and without quoting.

    References
    ----------
    Brown et al., Class-Based n-gram Models of Natural Language (1992), section 3.
    """
    return delimited.scan(path, _PATHS)
