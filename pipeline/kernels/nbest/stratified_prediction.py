"""What a stratified sample says of the candidates that were not drawn, as intervals need it.

A bootstrap draws from the draws: where all of a stratum's draws are alike it sees no doubt at all,
however few they are. Here the candidates that were not drawn are predicted instead.
"""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.hashing import seeded_generator


def predicted_estimates(row: IntArray, *, replicates: int, seed: str, purpose: str) -> FloatArray:
    """Return values that the precision of one list can have, by what was drawn.

    In each stratum ``(k_h + X_h) / |A_h|``, X_h the true positives among the |A_h| - n_h members
    that were not drawn: binomial, with a proportion from Beta(k_h + 1/2, n_h - k_h + 1/2), the
    distribution that Jeffreys' interval is made from; weighted by |A_h|/|A|.

    Parameters
    ----------
    row : array of int, shape (3, strata)
        Members of the list in each stratum, judged draws among them, true positives.
    replicates : int
        Number of values.
    seed, purpose : str
        Fix them, together with the counts.

    Returns
    -------
    array of float, shape (replicates,)
        In [0, 1]; all equal where all members are known. Strata without members don't count.

    References
    ----------
    Ericson, Subjective Bayesian Models in Sampling Finite Populations (1969), section 3; Brown,
    Cai & DasGupta, Interval Estimation for a Binomial Proportion (2001), on the prior.

    Examples
    --------
    >>> row = np.array([[10, 30], [10, 3], [4, 0]])
    >>> values = predicted_estimates(row, replicates=1000, seed="s", purpose="p")
    >>> bool(values.min() == 0.1 and 0.2 < np.quantile(values, 0.975) < 0.6)
    True
    """
    members, draws, hits = (part[row[0] > 0] for part in row)
    bits = seeded_generator(seed=seed, purpose=f"{purpose} predicted {row.tolist()}")
    rates = bits.beta(hits + 0.5, draws - hits + 0.5, size=(replicates, len(members)))
    others = bits.binomial(members - draws, rates)
    return np.asarray((hits + others).sum(axis=1) / members.sum())
