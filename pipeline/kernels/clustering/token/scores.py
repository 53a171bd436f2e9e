"""Token-level measures of one clustering as a table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.clustering.measure import TOKEN_MEASURES
from pipeline.kernels.clustering.token.contingency import Contingency, contingency

PAPER = ("many_to_one", "one_to_one", "v", "vi", "nvi", "meila_heckerman")
"""Measures for a table like the paper's; its sixth could not be verified, H stands in its place."""


def token_scores(cells: pl.DataFrame, *, measures: Sequence[str]) -> pl.DataFrame:
    """Return measures of a clustering of tokens against their classes.

    Parameters
    ----------
    cells : pl.DataFrame
        gold, cluster, f, as for `contingency`: any number of tokens, counted.
    measures : sequence of str
        Names or aliases in `TOKEN_MEASURES`; ``all`` stands for every one.

    Returns
    -------
    pl.DataFrame
        Columns measure and value (Float64), in the order asked for; null where a measure is
        undefined, as all of them are without tokens. Equal tables give bitwise equal values,
        whatever the order of their rows.

    Raises
    ------
    KeyError
        For an unknown measure, with the nearest names.
    DataError
        For labels or counts that are impossible, as in `contingency`.

    References
    ----------
    Reichart, Abend & Rappoport, Type Level Clustering Evaluation (2010), section 2, for the
    families.

    Examples
    --------
    >>> cells = pl.DataFrame({
    ...     "gold": ["a", "b", "c"], "cluster": ["1", "2", "2"], "f": [4, 2, 2]
    ... })
    >>> token_scores(cells, measures=["1-1", "V", "NVI"]).select(
    ...     "measure", pl.col("value").round(4)
    ... ).rows()
    [('one_to_one', 0.75), ('v', 0.8), ('nvi', 0.3333)]
    """
    names = TOKEN_MEASURES.resolve(measures)
    values = score_table(contingency(cells), names)
    return pl.DataFrame({"measure": names, "value": values}, schema=_SCHEMA).fill_nan(None)


_SCHEMA = {"measure": pl.String, "value": pl.Float64}


def score_table(table: Contingency, names: Sequence[str]) -> list[float]:
    """Return the value of each measure; NaN where it is undefined."""
    return [TOKEN_MEASURES.get(name).score(table) for name in names]
