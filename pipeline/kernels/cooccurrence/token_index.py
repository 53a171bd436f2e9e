"""Units found by the token that they stand on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.cooccurrence.tokens import TOKEN


class ByToken:
    """Units by their token: an index into the frame for each token, for all units on it.

    Parameters
    ----------
    units : DataFrame
        As `units` gives them; the indices are into ``self.units``, where they are in order.
    size : int
        How many tokens there are.
    """

    def __init__(self, units: pl.DataFrame, size: int) -> None:
        self.units = units.sort(TOKEN)
        where = self.units.get_column(TOKEN).to_numpy()
        # Several units on one token come in layers: the first, the second ...
        layer = np.arange(len(where)) - np.searchsorted(where, where)
        self.layers = list(self._layers(where, layer, size))

    @staticmethod
    def _layers(where: IntArray, layer: IntArray, size: int) -> Iterator[IntArray]:
        for number in range(int(layer.max(initial=-1)) + 1):
            index = np.full(size, -1, dtype=np.int64)
            rows = np.flatnonzero(layer == number)
            index[where[rows]] = rows
            yield index
