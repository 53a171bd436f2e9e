"""Measures for overlapping classes and clusters as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import polars as pl

from pipeline.kernels.clustering.measure import OVERLAPPING_MEASURES
from pipeline.kernels.clustering.overlapping.element_centric import element_centric_estimate
from pipeline.kernels.clustering.overlapping.memberships import Memberships, memberships

ESTIMATES: Mapping[str, Callable[[Memberships], tuple[float, float]]] = MappingProxyType(
    {"element_centric": element_centric_estimate}
)
"""Measures that may come from a sample of items, with their standard error."""


def overlapping_scores(
    gold: pl.DataFrame, induced: pl.DataFrame, *, measures: Sequence[str], seed: str
) -> pl.DataFrame:
    """Return measures of clusters against classes, where items may have several of each.

    Parameters
    ----------
    gold, induced : pl.DataFrame
        item and gold; item and cluster: as for `memberships`.
    measures : sequence of str
        Names or aliases in `OVERLAPPING_MEASURES`; ``all`` stands for every one.
    seed : str
        Fixes the sample of items that element-centric similarity looks at in large data.

    Returns
    -------
    pl.DataFrame
        Columns measure, value and standard_error (Float64), in the order asked for. A value is
        null where the measure is undefined, as all are without items; the error is null where
        the value is exact. Equal data give bitwise equal values, whatever the order of rows.

    Raises
    ------
    KeyError
        For an unknown measure, with the nearest names.
    DataError
        If a label is null or empty, or there is too much to count; see `sharing`.

    Examples
    --------
    >>> gold = pl.DataFrame({"item": ["dog", "run", "run"], "gold": ["N", "N", "V"]})
    >>> induced = pl.DataFrame({"item": ["dog", "run", "run"], "cluster": ["1", "1", "2"]})
    >>> overlapping_scores(gold, induced, measures=["omega", "bcubed"], seed="s").rows()
    [('omega', 1.0, None), ('bcubed_f', 1.0, None)]
    """
    names = OVERLAPPING_MEASURES.resolve(measures)
    data = memberships(gold, induced, seed=seed)
    rows = [(name, *_estimate(name, data)) for name in names]
    table = pl.DataFrame(rows, schema=_SCHEMA, orient="row").fill_nan(None)
    exact = pl.col("standard_error") == 0.0
    return table.with_columns(
        standard_error=pl.when(exact).then(None).otherwise(pl.col("standard_error"))
    )


_SCHEMA = {"measure": pl.String, "value": pl.Float64, "standard_error": pl.Float64}


def _estimate(name: str, data: Memberships) -> tuple[float, float]:
    if name in ESTIMATES:
        return ESTIMATES[name](data)
    return OVERLAPPING_MEASURES.get(name).score(data), 0.0
