"""What designs are expected to take and to tell, side by side."""

from __future__ import annotations

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.design.costs import Work, expected_cost, groups_met
from pipeline.kernels.design.estimands import Estimands, question_sums
from pipeline.kernels.design.inclusion import inclusion
from schemas import DesignCosts


def design_costs(
    asked: Estimands, free: FloatArray, pi: FloatArray, *, size: int, work: Work | None
) -> pl.DataFrame:
    """Compare a design that minds costs with the one that does not, and with a simple sample.

    Parameters
    ----------
    asked : Estimands
        The questions.
    free : array of float, shape (candidates,)
        Size measures without regard to costs.
    pi : array of float, shape (candidates,)
        Inclusion probabilities of the design; 1 for what is judged, which costs nothing.
    size : int
        Draws of each.
    work : Work or None
        Groups and costs.

    Returns
    -------
    pl.DataFrame
        Table `DesignCosts`; without rows if there are no costs.

    Examples
    --------
    >>> from pipeline.kernels.design.estimands import estimands
    >>> from pipeline.kernels.design.sets import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([2])
    ... )
    >>> asked = estimands(sets, p=np.full(4, 0.5), judged=np.zeros(4, dtype=bool))
    >>> work = Work(np.array([0, 0, 1, 1]), 5.0, 1.0)
    >>> pi = np.full(4, 0.5)
    >>> design_costs(asked, np.ones(4), pi, size=2, work=work).row(0)
    ('priced', 2.0, 1.5, 8.0, 1.0)
    """
    if work is None:
        return pl.DataFrame(schema=DesignCosts.columns())
    simple = inclusion(asked.unjudged.astype(np.float64), size=size)
    designs = {"priced": pi, "unpriced": inclusion(free, size=size), "simple": simple}
    base = _variances(asked, simple)
    rows = []
    for name, chances in designs.items():
        own = np.where(asked.unjudged, chances, 0.0)
        mean = float(
            np.divide(_variances(asked, own), base, where=base > 0, out=np.ones_like(base)).mean()
        )
        row = (name, float(own.sum()), groups_met(own, work.group), expected_cost(own, work), mean)
        rows.append(row)
    return pl.DataFrame(rows, schema=DesignCosts.columns(), orient="row")


def _variances(asked: Estimands, pi: FloatArray) -> FloatArray:
    """Return the expected variance of each question; chances of 0 tell nothing of it."""
    drawn = pi > 0
    missed = np.divide(1.0 - pi, pi, out=np.zeros_like(pi), where=drawn)
    return question_sums(asked, missed)
