"""What is asked of the differences of measures: which population, which limits, which bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import polars as pl
from pydantic import model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.nbest.anytime_differences import anytime_differences
from pipeline.kernels.nbest.pair_differences import Asked, pair_differences
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.registry import Named
from pipeline.stages.base import Proportion, Tables
from pipeline.stages.collocations.looks import Looking
from pipeline.stages.collocations.looks_simple import simple_look
from pipeline.stages.collocations.testing import Tests
from schemas import MeasureDifferences

_METHODS = {"finite": "hypergeometric", "super": "clopper_pearson"}
"""The method of the limits where the options name none for a population."""


class DifferenceOptions(Tests, Looking):
    """Options of the table of differences."""

    population: Literal["finite", "super", "both"] | None = None
    """What the table `differences` is about: ``finite``, these candidates and no others, or
    ``super``, a population that they are independent draws from, as for the tests of `cuts`; both
    if left out, or ``super`` alone where candidates were drawn more than once."""
    difference_interval: Annotated[str, Named(INTERVALS)] | None = None
    """Method of its limits, for the population that it is for; hypergeometric and clopper_pearson
    if left out."""
    confidence: Proportion = 0.95
    """Confidence level of its limits."""
    equivalence: Proportion | None = None
    """The smallest difference in precision that would matter: tests whether a difference is
    smaller."""

    @model_validator(mode="after")
    def _an_interval_of_the_population(self) -> DifferenceOptions:
        if self.difference_interval is None or self.population in (None, "both"):
            return self
        its = _population_of(self.difference_interval)
        if its != self.population:
            raise ValueError(
                f"{self.difference_interval!r} is an interval for the population {its!r}, not for "
                f"{self.population!r}; take {_METHODS[str(self.population)]}"
            )
        return self

    @model_validator(mode="after")
    def _once_or_often(self) -> DifferenceOptions:
        if (self.looks or self.anytime) and self.equivalence:
            raise ValueError("equivalence is for one look: leave it out, or the looks")
        if not self.anytime:
            return self
        if self.population not in (None, "finite"):
            raise ValueError(
                "anytime = true has limits of the candidates themselves, of no population beyond "
                'them: take population = "finite", or declare looks'
            )
        if self.difference_interval is not None:
            raise ValueError("anytime = true has limits of its own: leave out difference_interval")
        return self

    @property
    def methods(self) -> dict[str, str]:
        """The method of the limits for each population."""
        chosen = self.difference_interval
        return _METHODS | ({} if chosen is None else {_population_of(chosen): chosen})


def _population_of(method: str) -> str:
    return "finite" if INTERVALS.get(method).finite else "super"


def populations(config: DifferenceOptions, draws: pl.DataFrame) -> list[str]:
    """Return what the differences are to be about, by the options and the sample.

    Raises
    ------
    ConfigError
        If the candidates themselves are asked about, and some were drawn more than once: how many,
        and three of them.
    """
    if config.anytime:
        return ["finite"]
    again = draws.filter(pl.col("multiplicity") > 1)["id"].unique().sort()
    if not len(again):
        return ["finite", "super"] if config.population in (None, "both") else [config.population]
    if config.population in (None, "super"):
        return ["super"]
    shown = ", ".join(again.head(3))
    what = (
        f"{config.population!r} needs a sample without replacement, and {len(again):,} candidates"
        f" were drawn more than once, such as {shown}"
    )
    raise ConfigError("population", [Problem("population", what, 'take population = "super"')])


def differences(
    config: DifferenceOptions, tests: pl.DataFrame, tables: Tables, *, about: list[str]
) -> pl.DataFrame:
    """Return the table `differences` of tests at the declared cuts.

    At one of several declared looks limits are at the level of that look. It is not the same for
    both populations where the last look has all candidates: of these nothing is left to doubt
    then, and the looks before spend all of alpha.
    """
    asked = Asked(
        confidence=config.confidence, alpha=config.alpha, margin=config.margin,
        equivalence=config.equivalence, correction=config.correction,
    )  # fmt: skip
    if config.anytime:
        return anytime_differences(tests, asked=asked)
    parts = []
    for each in about:
        alpha = 1.0 - config.confidence
        look = simple_look(config, tables, alpha=alpha, finite=each == "finite")
        now = asked
        if look.plan is not None:
            now = replace(asked, confidence=1.0 - look.level, looked=look.repeated)
        method = config.methods[each]
        parts.append(pair_differences(tests, population=each, method=method, asked=now))
    return pl.concat(parts).sort(*MeasureDifferences.key())
