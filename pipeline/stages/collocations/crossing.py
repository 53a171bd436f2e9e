"""Pairs of documents that go on over the bounds of parts of a file, each counted by every part."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.cooccurrence import dispersion
from pipeline.kernels.cooccurrence.pairs import of_key
from pipeline.stages.base import Outputs, Tables
from schemas import Table, column


class CrossingPairs(Table):
    """Pairs of documents that a bound within a file divides, as the parts of the file have them."""

    l1: str = column("left unit", key=True)
    l2: str = column("right unit", key=True)
    file: str = column("file of the document", key=True)
    start: int = column("its first sentence in the file", key=True, ge=1)


def of_batch(inside: pl.DataFrame, sentences: pl.DataFrame, before: pl.DataFrame) -> pl.LazyFrame:
    """Return `CrossingPairs` of the document that was open before; see `dispersion.crossing`."""
    return _named(dispersion.crossing(inside.lazy(), sentences, before))


def left_open(carried: Tables, start: int) -> Outputs:
    """Return `CrossingPairs` of the document that goes on in the next part of the file.

    Parameters
    ----------
    carried : mapping of str to LazyFrame
        What the last batch has left.
    start : int
        The first sentence of the document.
    """
    return {"crossing": _named(dispersion.still_open(carried["open"], start))}


def _named(found: pl.LazyFrame) -> pl.LazyFrame:
    return found.select(*of_key(pl.col(dispersion.PAIR)), "file", dispersion.START)
