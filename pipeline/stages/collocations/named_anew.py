"""Candidates that are made of others and get ids of their own, with the sentences of those."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from pipeline.kernels.parts import Ranges, in_order, spill_of
from pipeline.stages.base import Outputs
from schemas import Examples

FORMER = "_former"
"""The id of what a candidate is made of, as its examples have it."""


def named_anew(
    ranges: Ranges, make: Callable[[int], pl.LazyFrame], examples: pl.LazyFrame | None
) -> Iterator[Outputs]:
    """Yield candidates, then their examples, both in the order of the new ids.

    Parameters
    ----------
    ranges : Ranges
        Ranges of the former ids.
    make : callable
        Number of a range -> the candidates made of what is in it, with `FORMER`.
    examples : LazyFrame or None
        Table `Examples` by the former ids.
    """
    schema = make(0).drop(FORMER).collect_schema()
    with spill_of(1, schema) as laid, spill_of(1, pl.Schema(Examples.columns())) as shown:
        for number in range(len(ranges)):
            made = make(number).collect()
            laid.put(made, 0)
            if examples is not None:
                ids = made.lazy().select("id", FORMER)
                former = ranges.of(examples, number, by="id").rename({"id": FORMER})
                shown.put(former.join(ids, on=FORMER).select(*Examples.columns()).collect(), 0)
        yield from ({"candidates": part} for part in in_order(laid, by="id"))
        yield from ({"examples": part} for part in in_order(shown, by="id"))
