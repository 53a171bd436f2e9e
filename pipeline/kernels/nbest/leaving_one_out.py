"""Average precision of a ranking without each of the draws, for the jackknife."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.nbest.judged_list import JudgedList, mean_above, sums_above

_AT_A_TIME = 2_000_000  # numbers for each true positive and kind of draw: bounds the memory


def without_each(listed: JudgedList, smoothing: float) -> FloatArray:
    """Return the estimates of `inferred_average_precision` without each draw.

    Draws with the same chance and label change the true positives below them alike, and those
    above not at all. So these are reckoned once for each kind of draw and added up along the list,
    and each draw takes its sums from where it stands: m draws of g kinds among r true positives
    take time m log r + g r, and not m r.

    Parameters
    ----------
    listed : JudgedList
        One ranking.
    smoothing : float
        As there.

    Returns
    -------
    array of float, shape (draws,)
        For each candidate with pi < 1, in the order of ranks; NaN where no true positive is left.

    Examples
    --------
    >>> listed = JudgedList.of(np.array([1.0, 0.0, 1.0]), np.full(3, 0.5))
    >>> without_each(listed, 0.0).round(4).tolist()
    [0.3333, 1.0, 1.0]
    """
    draws = np.flatnonzero(listed.drawn)
    rows = np.flatnonzero(listed.labels == 1.0)
    found = np.full(len(draws), np.nan)
    if not len(draws) or not len(rows):
        return found
    drawn = np.stack([listed.inverse[draws], listed.labels[draws]])
    kinds, first, kind = np.unique(drawn, axis=1, return_index=True, return_inverse=True)
    kind, step = kind.ravel(), max(1, _AT_A_TIME // len(rows))
    for start in range(0, kinds.shape[1], step):
        some = slice(start, start + step)
        mine = (kind >= start) & (kind < start + step)
        below = _below(listed, rows, kinds[:, some], draws[first[some]], smoothing)
        sums = _Sums(listed, rows, below, kinds[0, some], smoothing)
        found[mine] = sums.without(draws[mine], kind[mine] - start)
    return found


def _below(
    listed: JudgedList, rows: IntArray, kinds: FloatArray, first: IntArray, smoothing: float
) -> FloatArray:
    """Return the precision at each true positive without a draw above it, for each kind of draw.

    It is 0 where no draw of the kind stands above: nobody asks for it.
    """
    one, hit = kinds[0][:, None], kinds[0][:, None] * kinds[1][:, None]
    there = (first[:, None] < rows).astype(np.float64)
    inverse, y = listed.inverse, np.nan_to_num(listed.labels)
    sums = (
        sums_above(inverse)[rows] - there * one,
        sums_above(listed.drawn * 1.0)[rows] - there,
        np.maximum(sums_above(inverse * y)[rows] - there * hit, 0.0),
    )
    return there * _precisions(listed, rows, sums, smoothing)


def _precisions(
    listed: JudgedList,
    rows: IntArray,
    sums: tuple[FloatArray, FloatArray, FloatArray],
    smoothing: float,
) -> FloatArray:
    """Return the precision at true positives, from sums over the draws above them."""
    k, sure = listed.k[rows], listed.sure
    known = sums_above(sure * np.nan_to_num(listed.labels))[rows]
    unknown = (k - 1.0) - sums_above(sure * 1.0)[rows]
    return np.asarray((1.0 + known + unknown * mean_above(sums, smoothing)) / k)


class _Sums:
    """Sums along the list over the true positives, as they are and below a draw that is gone."""

    def __init__(
        self,
        listed: JudgedList,
        rows: IntArray,
        below: FloatArray,
        one: FloatArray,
        smoothing: float,
    ) -> None:
        inverse, y = listed.inverse, np.nan_to_num(listed.labels)
        whole = (inverse, listed.drawn * 1.0, inverse * y)
        first, second, third = (sums_above(each)[rows] for each in whole)
        as_it_is = _precisions(listed, rows, (first, second, third), smoothing)
        weights = np.stack([inverse[rows], listed.sure[rows] * 1.0])
        left = inverse.sum() - one
        self._rows = rows
        self._scale = np.divide(listed.uncertain, left, out=np.zeros_like(left), where=left > 0)
        self._weights = _added_up(weights)
        self._above = _added_up(weights * as_it_is)
        self._below = _added_up(weights[:, None] * below)

    def without(self, draws: IntArray, kind: IntArray) -> FloatArray:
        """Return the estimates without each of some draws."""
        above, upto = (np.searchsorted(self._rows, draws, side) for side in ("left", "right"))
        scale = self._scale[kind]
        parts = self._above[:, above] + self._below[:, kind, -1] - self._below[:, kind, upto]
        own = self._weights[:, upto] - self._weights[:, above]
        weights = self._weights[:, [-1]] - own
        summed, total = (scale * each[0] + each[1] for each in (parts, weights))
        there = self._rows.size - (upto - above) > 0  # else rounding may leave some weight
        out = np.full(len(draws), np.nan)
        return np.asarray(np.divide(summed, total, out=out, where=there & (total > 0)))


def _added_up(values: FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, 2 ... values along the last axis."""
    zero = np.zeros((*values.shape[:-1], 1))
    return np.concatenate([zero, np.cumsum(values, axis=-1)], axis=-1)
