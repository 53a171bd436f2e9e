"""Options of the stage that estimates from a sample of any design."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pipeline.kernels.estimates.assisted import Assist
from pipeline.kernels.statistics.multiplicity import CORRECTIONS
from pipeline.registry import Named
from pipeline.stages.base import Of, Proportion, Seeded
from pipeline.stages.collocations.evaluation import ListSizes, Pairs, Rankings
from pipeline.stages.collocations.looks import Looking
from schemas import AboutCandidates, Drawn, Identified, Judgements


class Assisting(Seeded):
    """Options of what helps an estimate: predictions of what was not judged."""

    assist: Assist | None = None
    """What helps the estimates: ``scores``, a model of the ranks, fitted to the judgements and
    always asked about candidates that it has not seen; ``predictions``, one judge as he is;
    ``stacked``, a model of ranks and judges together; ``none``. With predictions stacked, else
    none, if left out."""
    predictions: Annotated[str | None, Of(AboutCandidates)] = None
    """Predictions of all candidates, from join.machine or a table with the columns id and
    prediction; they make limits narrower, never count as judgements."""
    judge: str | None = None
    """Which judge of those predictions; all of them in a model if left out."""
    folds: int = Field(default=10, ge=2)
    """Parts that the judged candidates are divided into, for models."""

    @model_validator(mode="after")
    def _what_helps(self) -> Assisting:
        if self.helped_by in {"predictions", "stacked"} and self.predictions is None:
            raise ValueError(f"assist = {self.assist!r} needs predictions")
        if self.judge is not None and self.predictions is None:
            raise ValueError("judge goes with predictions")
        return self

    @property
    def helped_by(self) -> Assist:
        """What helps, said or not."""
        return self.assist or ("stacked" if self.predictions else "none")


class EvaluateDesigned(Rankings, Assisting, Looking):
    """Estimate precision and differences from a sample of any design, by everybody's chance."""

    judgements: Annotated[str, Of(Judgements)]
    """The judgements; what is not judged does not count."""
    sample: Annotated[str, Of(Drawn)]
    """The sampled candidates, with the chance that each was drawn with."""
    inclusion: Annotated[str | None, Of(Identified)] = None
    """The chances of all candidates, drawn or not, from the stage that drew the sample: the table
    inclusion of sample.design, strata of sample.stratified. A simple sample needs none."""
    pairs: Pairs = ()
    """The pairs of measures to compare; all pairs if empty."""
    cuts: ListSizes = Field(default=(100, 500, 1000, 2000), min_length=1)
    """The declared list sizes."""
    every: int = Field(default=10, ge=0)
    """Step between the list sizes of the table `precision`; 0 for the declared cuts alone."""
    window: int | None = Field(default=None, ge=1)
    """Ranks in the window of the table `local`, the precision among the ranks around n."""
    confidence: Proportion = 0.95
    """Confidence level of the limits; differences are significant at 1 - confidence."""
    margin: float = Field(default=0.0, ge=0, lt=1)
    """Relevance margin: smaller differences in precision are not marked."""
    correction: Annotated[str, Named(CORRECTIONS)] = "bonferroni"
    """How p-values are adjusted for the number of differences."""
    band: Literal["pointwise", "simultaneous"] = "pointwise"
    """``simultaneous`` makes the tables `bands` and `difference_bands`: limits that hold at all n
    of a range at once."""
    band_range: tuple[int, int] | None = None
    """First and last n of that range; the smallest and the largest of the cuts if left out."""
    replicates: int = Field(default=10_000, ge=100)
    """Simulations of such a band."""

    @model_validator(mode="after")
    def _a_range(self) -> EvaluateDesigned:
        if self.band == "pointwise" and self.band_range is not None:
            raise ValueError('band_range goes with band = "simultaneous"')
        if not 1 <= self.over_all_n[0] <= self.over_all_n[1]:
            raise ValueError("band_range is first and last n, from 1")
        return self

    @model_validator(mode="after")
    def _at_any_time(self) -> EvaluateDesigned:
        if self.anytime and (self.helped_by != "none" or self.band != "pointwise"):
            raise ValueError("anytime = true has no predictions, and no simultaneous bands")
        return self

    @property
    def over_all_n(self) -> tuple[int, int]:
        """First and last n at which a simultaneous band holds."""
        return self.band_range or (min(self.cuts), max(self.cuts))
