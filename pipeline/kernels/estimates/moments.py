"""What each draw adds to the sums that an estimate and its variance are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import FloatArray


class Moments(NamedTuple):
    """Sums over the judged uncertain draws of a set, or what one draw adds to them.

    With pi the chance to be drawn, a the size (1 in a list, where each candidate counts alike),
    ``w = a / pi``, ``c = 1 - pi``, y the judgement in [0, 1], g its prediction in [0, 1].
    """

    draws: FloatArray
    """1: their number."""
    hits: FloatArray
    """a y."""
    misses: FloatArray
    """a (1 - y): 0 exactly where all are hits."""
    guessed: FloatArray
    """a g."""
    w: FloatArray
    wy: FloatArray
    wg: FloatArray
    c: FloatArray
    cw: FloatArray
    cwy: FloatArray
    cwg: FloatArray
    cww: FloatArray
    cwww: FloatArray
    cwwy: FloatArray
    cwwyy: FloatArray
    cwwg: FloatArray
    cwwyg: FloatArray
    cwwgg: FloatArray


def draw_moments(
    y: npt.ArrayLike,
    pi: npt.ArrayLike,
    *,
    size: npt.ArrayLike = 1.0,
    prediction: npt.ArrayLike = 0.0,
) -> FloatArray:
    """Return what each draw adds, one row for each field of `Moments`.

    All of it is 0 or more, and sets are added up without a subtraction (`sums`), so that no
    digits are lost, however different the chances are.

    Parameters
    ----------
    y : array_like of float, shape (draws,)
        Judgements in [0, 1]; 0 and 1 for true positives.
    pi : array_like of float
        The chances that they were drawn with, inside (0, 1): draws that were certain are no part
        of the sums, since nothing is estimated by them.
    size : array_like of float
        What each counts in its set, such as the forms of a lemma; above 0.
    prediction : array_like of float
        Guesses in [0, 1] that were made without the draw's own judgement.

    Returns
    -------
    array of float, shape (fields, draws)

    Raises
    ------
    ValueError
        If a value is outside its range: how many, and the first three.

    References
    ----------
    Rosén, On Sampling with Probability Proportional to Size (1997), on the variance.

    Examples
    --------
    >>> columns = draw_moments([1, 0], [0.5, 0.25])
    >>> Moments(*columns).w.tolist(), Moments(*columns).cww.tolist()
    ([2.0, 4.0], [2.0, 12.0])
    """
    y, chance, a, g = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (y, pi, size, prediction))
    )
    check_within("judgements", y, (y >= 0) & (y <= 1), "in [0, 1]")
    check_within("chances", chance, (chance > 0) & (chance < 1), "inside (0, 1)")
    check_within("sizes", a, (a > 0) & np.isfinite(a), "above 0")
    check_within("predictions", g, (g >= 0) & (g <= 1), "in [0, 1]")
    w, c = a / chance, 1.0 - chance
    cw, cww = c * w, c * w**2
    # fmt: off
    return np.stack([
        np.ones_like(y), a * y, a * (1.0 - y), a * g,
        w, w * y, w * g,
        c, cw, cw * y, cw * g,
        cww, cww * w, cww * y, cww * y * y, cww * g, cww * y * g, cww * g * g,
    ])
    # fmt: on


def check_within(what: str, values: FloatArray, fine: npt.NDArray[np.bool_], where: str) -> None:
    """Refuse values outside their range.

    Raises
    ------
    ValueError
        If there are any: how many, and the first three with their places.

    Examples
    --------
    >>> check_within("chances", np.array([0.5]), np.array([True]), "inside (0, 1)")
    """
    wrong = np.flatnonzero(~fine)  # NaN is never fine
    if wrong.size:
        shown = ", ".join(f"{values[place]:g} (row {place})" for place in wrong[:3])
        raise ValueError(f"{wrong.size:,} {what} are not {where}: {shown}")
