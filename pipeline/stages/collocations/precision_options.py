"""What all stages that estimate precision have in common: the method of the intervals."""

from __future__ import annotations

from typing import Annotated

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.registry import Named
from pipeline.stages.base import Proportion, StageConfig


class Estimating(StageConfig):
    """Options of every stage that estimates precision."""

    interval: Annotated[str, Named(INTERVALS)] = "clopper_pearson"
    """Method of the confidence intervals; hypergeometric is for samples without replacement."""
    confidence: Proportion = 0.95
    """Confidence level."""

    def check(self, draws: pl.DataFrame) -> None:
        """Refuse an interval for single draws where candidates were drawn again.

        Raises
        ------
        ConfigError
            With the number of such candidates, and three of them.
        """
        again = draws.filter(pl.col("multiplicity") > 1)["id"].unique().sort()
        if INTERVALS.get(self.interval).finite and len(again):
            shown = ", ".join(again.head(3))
            what = (
                f"{self.interval!r} is for samples without replacement, and {len(again):,}"
                f" candidates were drawn more than once, such as {shown}"
            )
            problem = Problem("interval", what, "take clopper_pearson")
            raise ConfigError("interval", [problem])
