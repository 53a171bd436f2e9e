"""Samples that grow and are looked at several times: which looks, and at which levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl
import scipy
from pydantic import model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.sampling import sample_size
from pipeline.kernels.statistics.repeated import apart_levels
from pipeline.stages.base import StageConfig
from schemas import Looks

_LEAST = 1e-12
"""No level below this is taken: 1 less it would be 1. It adds this to alpha at most."""

_USUAL: Final = "obrien_fleming"


class Looking(StageConfig):
    """Options of every stage that may look at a sample several times while it grows."""

    looks: tuple[float, ...] = ()
    """The sizes at which the sample is looked at, declared before the first look: sampling rates
    up to 1, or numbers of labels. Limits and tests then hold at all looks together; a sample of
    another size is refused."""
    spending: Literal["obrien_fleming", "pocock"] = _USUAL
    """How alpha is spent over the looks: obrien_fleming hardly any at first, most at the last one;
    pocock evenly, for a sample that is to stop once its limits are narrow."""
    anytime: bool = False
    """Whether limits and tests hold at every size of a simple sample, none of them declared; they
    are wider."""

    @model_validator(mode="after")
    def _ascending_looks(self) -> Looking:
        if self.anytime and self.looks:
            raise ValueError("anytime = true holds at every size: leave out looks")
        if self.spending != _USUAL and not self.looks:
            raise ValueError("spending goes with looks")
        rates = [each for each in self.looks if each < 1]
        labels = [each for each in self.looks if each > 1]
        if rates and labels:
            raise ValueError(
                f"looks are rates up to 1 or numbers of labels, and {rates[0]:g} is a rate,"
                f" {labels[0]:g} is not"
            )
        if any(each <= 0 or (each > 1 and each != int(each)) for each in self.looks):
            raise ValueError(f"rates lie above 0, labels are whole numbers, unlike {self._shown}")
        if list(self.looks) != sorted(set(self.looks)):
            raise ValueError(f"looks ascend, unlike {self._shown}")
        return self

    @property
    def _shown(self) -> str:
        return ", ".join(f"{each:g}" for each in self.looks)

    def planned(self, candidates: int) -> tuple[int, ...]:
        """Return the labels of each look at a sample of so many candidates."""
        if any(each < 1 for each in self.looks):
            return tuple(sample_size(candidates, rate=each) for each in self.looks)
        return tuple(int(each) for each in self.looks)


@dataclass(frozen=True)
class Plan:
    """The declared looks at one sample.

    Parameters
    ----------
    labels : tuple of int
        Labels at each look.
    now : int
        Which look this is, from 0.
    alpha : float
        What all looks spend together.
    spending : str
        How.
    """

    labels: tuple[int, ...]
    now: int
    alpha: float
    spending: str

    @property
    def shares(self) -> FloatArray:
        """Share of the planned labels at each look."""
        return np.array(self.labels, dtype=np.float64) / self.labels[-1]

    @property
    def apart(self) -> float:
        """The level of this look for limits whose looks depend on each other in unknown ways."""
        spent = apart_levels(self.shares, alpha=self.alpha, spending=self.spending)
        return max(_LEAST, float(spent[self.now]))

    def taken(self, levels: FloatArray) -> FloatArray:
        """Return the levels of this look, shape (...,), from those of all looks, (..., looks).

        Where it is exact, or tells nothing, any level gives the same limits.
        """
        own = levels[..., self.now]
        return np.where(np.isnan(own), self.apart, np.maximum(own, _LEAST))

    def rows(self, category: str, questions: list[str], levels: FloatArray) -> pl.DataFrame:
        """Return the table `Looks` of some questions, levels of shape (questions, looks)."""
        looks, count = len(self.labels), len(questions)
        level = np.where(np.isnan(levels), np.nan, np.maximum(levels, _LEAST)).ravel()
        table = {
            "category": [category] * (count * looks),
            "question": np.repeat(np.array(questions, dtype=object), looks),
            "look": np.tile(np.arange(1, looks + 1), count),
            "labels": np.tile(np.array(self.labels), count),
            "share": np.tile(self.shares, count),
            "level": level,
            "z": -scipy.special.ndtri(level / 2.0),
            "now": np.tile(np.arange(looks) == self.now, count),
        }
        found = pl.DataFrame(table, schema=Looks.columns())
        return found.with_columns(pl.col("level", "z").fill_nan(None)).sort(*Looks.key())


def plan_of(config: Looking, *, drawn: int, candidates: int, alpha: float) -> Plan | None:
    """Return the plan that a sample belongs to, None where no look was declared.

    Parameters
    ----------
    config : Looking
        The options.
    drawn : int
        Draws of the sample, judged or not.
    candidates : int
        How many it was drawn from.
    alpha : float
        What all looks spend together.

    Raises
    ------
    ConfigError
        If this size was not declared, or two rates give the same number of labels.
    """
    if not config.looks:
        return None
    labels = config.planned(candidates)
    shown = ", ".join(f"{each:,}" for each in labels)
    if list(labels) != sorted(set(labels)) or labels[-1] > candidates:
        what = f"of {candidates:,} candidates these looks are {shown} labels"
        raise ConfigError("looks", [Problem("looks", what, "declare other looks, ascending")])
    if drawn not in labels:
        what = f"a sample of {drawn:,} is none of the declared looks, which are {shown} labels"
        remedy = "draw one of these sizes; limits that hold at every size: anytime = true"
        raise ConfigError("looks", [Problem("looks", what, remedy)])
    return Plan(labels, labels.index(drawn), alpha, config.spending)
