"""Whether all members of a set could be drawn with one chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.estimates.lists import checked_cuts
from pipeline.kernels.estimates.pairs import chosen_measures
from pipeline.kernels.estimates.study import Study
from pipeline.kernels.estimates.sums import difference_sums

_ALIKE = 1e-10  # relative variance of chances that differ by rounding alone


def equal_chances(
    given: Study,
    chances: FloatArray,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
) -> pl.DataFrame:
    """Tell where the members of D1 have one chance, and those of D2 one, maybe another.

    There a permutation of the labels, Fisher's test, needs no weights: within each set the draws
    are a simple random sample.

    Parameters
    ----------
    given : Study
        Ranks and sample.
    chances : array of float, shape (candidates,)
        Of all candidates, in the order of `Study.ids`; any numbers that tell chances apart.
    pairs : sequence of (str, str)
        The measures that are compared.
    at : sequence of int
        List sizes in 1..S.

    Returns
    -------
    pl.DataFrame
        measure_1, measure_2, n, equal; sorted. Of equal lists, which differ in nobody, true.

    Raises
    ------
    ValueError
        If a measure is not ranked, or a list size is outside 1..S.

    Examples
    --------
    >>> from pipeline.kernels.estimates.study import study
    >>> ranks = pl.DataFrame({
    ...     "measure": ["dice"] * 4 + ["mi"] * 4, "id": list("abcddcba"), "rank": [1, 2, 3, 4] * 2,
    ... })
    >>> draws = pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]})
    >>> pi = np.array([0.5, 0.5, 0.25, 0.1])
    >>> equal_chances(study(ranks, draws), pi, pairs=[("dice", "mi")], at=[1, 2])["equal"].to_list()
    [True, False]
    """
    n = checked_cuts(given, at)
    measures, rows = chosen_measures(given, pairs)
    first = np.searchsorted(n, given.ranks[measures], side="left")
    columns = np.stack([np.ones_like(chances), chances, chances**2])
    everybody = np.zeros(len(chances), dtype=np.int64)
    sums = difference_sums(first, columns, everybody, pairs=rows, cuts=range(len(n)), cells=1)
    count, total, squares = sums[..., 0]
    spread = count * squares - total**2
    equal = (spread <= _ALIKE * np.maximum(total**2, 1e-300)).all(axis=-1)
    table = {
        "measure_1": [one for _ in n for one, _ in pairs],
        "measure_2": [two for _ in n for _, two in pairs],
        "n": np.repeat(n, len(pairs)),
        "equal": equal.ravel(),
    }
    schema = {"measure_1": pl.String, "measure_2": pl.String, "n": pl.Int64, "equal": pl.Boolean}
    return pl.DataFrame(table, schema=schema).sort("measure_1", "measure_2", "n")
