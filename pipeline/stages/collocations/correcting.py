"""Precision corrected for errors of the annotators: options, and the table."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.nbest.annotator_errors import corrected_lists, error_rates, known_rates
from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.stages.base import Of, StageConfig, Tables
from schemas import Corrected, Judgements


class Correcting(StageConfig):
    """Options of a stage that corrects precision for judgements that are wrong."""

    sensitivity: float | None = Field(default=None, gt=0, le=1)
    """Share of the true positives that annotators judge so, if it is known: makes the table
    `corrected`. 1 where only the specificity is given."""
    specificity: float | None = Field(default=None, gt=0, le=1)
    """Share of the others that annotators judge so, if it is known; 1 where only the sensitivity
    is given."""
    truth: Annotated[str | None, Of(Judgements)] = None
    """Or what is known to be right of a random part of what they judged, such as adjudicated
    judgements: both shares are estimated from it."""

    @model_validator(mode="after")
    def _one_source(self) -> Correcting:
        given = [each for each in (self.sensitivity, self.specificity) if each is not None]
        if given and self.truth:
            raise ValueError("give either truth, or sensitivity and specificity")
        if given and sum(given) + 2 - len(given) <= 1:
            raise ValueError(
                f"sensitivity and specificity add up to {sum(given):g}: judgements that are right "
                "so seldom say nothing; together they exceed 1"
            )
        return self

    @property
    def corrects(self) -> bool:
        """Whether there is something to correct by."""
        return any(each is not None for each in (self.sensitivity, self.specificity, self.truth))


def corrected(
    config: Correcting,
    tables: Tables,
    lists: pl.DataFrame,
    *,
    categories: pl.Series,
    method: str,
    confidence: float,
) -> pl.DataFrame | pl.LazyFrame:
    """Return the precision of these lists corrected; no rows unless it is asked for.

    Where precision has finite-population intervals, this has Clopper and Pearson's: who errs at
    random does so even if all candidates are judged.
    """
    if not config.corrects or categories.is_empty():
        return Corrected.zero_rows()
    taken = clopper_pearson.__name__ if INTERVALS.get(method).finite else method
    how = {"method": taken, "confidence": confidence}
    if "truth" in tables:
        judged, truth = tables["judgements"].collect(), tables["truth"].collect()
        rates = error_rates(judged, truth, **how)  # type: ignore[arg-type]  # options of several types
        _require_both(rates, categories)
    else:
        numbers = {"sensitivity": config.sensitivity, "specificity": config.specificity}
        known = {name: 1.0 if value is None else value for name, value in numbers.items()}
        rates = known_rates(categories, known)
    return corrected_lists(lists, rates, **how)  # type: ignore[arg-type]  # options of several types


def _require_both(rates: pl.DataFrame, categories: pl.Series) -> None:
    """Refuse truth that shares no candidate with the judgements in any category."""
    if rates.is_empty():
        names = ", ".join(categories.unique().sort().head(3))
        what = f"no candidate is both judged and in `truth`, in categories such as {names}"
        remedy = "give judgements of the same categories on some of the same candidates"
        raise ConfigError("truth", [Problem("truth", what, remedy)])
