"""Brown clusters: a line per word, its bit string, the word, how often it was seen."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl

from pipeline.formats import delimited
from pipeline.formats.base import FormatOptions, reader
from pipeline.formats.delimited import Dialect, check_as


def _paths(_options: FormatOptions) -> Dialect:
    return Dialect(columns=("cluster", "item", "f"))


@reader("brown", suffixes=[".paths"], check=partial(check_as, _paths))
def scan_brown(path: Path, options: FormatOptions) -> pl.LazyFrame:
    """Brown clusters as programs write them: bit string, word (item), count (f).

    Tab-separated, without a header and without quoting.

    References
    ----------
    Brown et al., Class-Based n-gram Models of Natural Language (1992), section 3.
    """
    return delimited.scan(path, _paths(options))
