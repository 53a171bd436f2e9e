"""Samples of candidates, whatever they were drawn by."""

from __future__ import annotations

import polars as pl

from schemas.candidates import Identified
from schemas.declaration import column, rule


class Drawn(Identified):
    """The candidates of any sample, each once, with the chance that it was drawn with.

    What an estimate needs to know of the design: pi is constant in a simple sample, constant in
    each stratum of a stratified one, its own for each candidate of a designed one.
    """

    multiplicity: int = column("times drawn; 1 without replacement", ge=1)
    position: int = column("1-based order of the first draw", ge=1)
    pi: float = column(
        "inclusion probability; null where candidates could be drawn again",
        nullable=True,
        gt=0,
        le=1,
    )
    stratum: str = column("stratum in which the number of draws is fixed; 'all' if there is one")


class Sample(Drawn, further=()):
    """A simple random sample: every candidate had the same chance."""

    drawn_again_without_pi = rule(
        "no pi where multiplicity > 1", pl.col("pi").is_null() | (pl.col("multiplicity") == 1)
    )
