"""What all stages that test differences have in common: which test, which level, which family."""

from __future__ import annotations

from typing import Annotated, TypedDict

from pydantic import Field

from pipeline.kernels.statistics.exact_tests import TESTS, Alternative
from pipeline.kernels.statistics.multiplicity import CORRECTIONS
from pipeline.registry import Named
from pipeline.stages.base import Proportion
from pipeline.stages.collocations.evaluation import Evaluation


class Tests(Evaluation):
    """Options of every stage that tests for differences."""

    test: Annotated[str, Named(TESTS)] = "fisher"
    """The exact test; fisher_mid_p is less conservative and no longer exact; boschloo is mostly
    more powerful than fisher (one-sided never less), boschloo_minlike never less, both slow."""
    alternative: Alternative = "two_sided"
    """What is tested for: two_sided, greater (the first precision is the higher one) or less."""
    alpha: Proportion = 0.05
    """Significance level."""
    margin: float = Field(default=0.0, ge=0, lt=1)
    """Relevance margin: smaller differences in precision are not marked."""
    correction: Annotated[str, Named(CORRECTIONS)] = "holm"
    """How p-values are adjusted for the size of the family."""


class Mark(TypedDict):
    """When a difference is marked."""

    alpha: float
    margin: float


class Tested(Mark):
    """How a difference is tested."""

    test: str
    alternative: Alternative


def mark(config: Tests) -> Mark:
    """Return when a difference is marked."""
    return Mark(alpha=config.alpha, margin=config.margin)


def tested(config: Tests) -> Tested:
    """Return how a difference is tested."""
    return Tested(**mark(config), test=config.test, alternative=config.alternative)
