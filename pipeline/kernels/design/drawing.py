"""The draw: sequential Poisson sampling with permanent random numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.design.inclusion import inclusion
from pipeline.kernels.hashing import seeded_key

_KEYS = 2.0**63


def permanent_numbers(ids: pl.Series, *, seed: str, judged: Iterable[str] = ()) -> FloatArray:
    """Return the permanent random number of each candidate, uniform in (0, 1).

    They are the numbers of `sampling.without_replacement`, so that with equal size measures the
    sample is the simple one. Once judgements have shaped a design they are not uniform any more
    among those who were not drawn: then the rest has fresh ones, which hang on who was judged.

    Parameters
    ----------
    ids : pl.Series
        The candidates.
    seed : str
        Seed of the stage.
    judged : iterable of str
        Ids of what was judged before the design was made, in any order; none of a first sample.

    Returns
    -------
    array of float, shape (candidates,)

    References
    ----------
    Ohlsson, Coordination of Samples Using Permanent Random Numbers (1995).

    Examples
    --------
    >>> ids = pl.Series(["a", "b"])
    >>> first = permanent_numbers(ids, seed="s")
    >>> second = permanent_numbers(ids, seed="s", judged=["c"])
    >>> bool(((first > 0) & (first < 1) & (first != second)).all())
    True
    """
    known = "\x1f".join(sorted(judged))
    salt = f" {hashlib.sha256(known.encode()).hexdigest()}" if known else ""
    key = seeded_key("id", seed=seed, purpose=f"sample{salt}")
    keys = pl.DataFrame({"id": ids}, schema={"id": pl.String}).select(key).to_series()
    return (keys.to_numpy() + 0.5) / _KEYS


def sequential_poisson(chances: FloatArray, numbers: FloatArray, *, size: int) -> IntArray:
    """Take who is certain, and of the rest those with the smallest ``u_i / lambda_i``.

    Parameters
    ----------
    chances : array of float, shape (candidates,)
        lambda, as `inclusion` gives it; 0 is never drawn.
    numbers : array of float, shape (candidates,)
        u, uniform in (0, 1).
    size : int
        How many are drawn, certain ones among them.

    Returns
    -------
    array of int, shape (draws,)
        Places of the candidates: the certain ones, then the others, each by ``u_i / lambda_i``.
        As many as the size, or as there are with a chance.

    References
    ----------
    Ohlsson, Sequential Poisson Sampling (1998); Rosen, On Sampling with Probability Proportional
    to Size (1997), on order sampling.

    Examples
    --------
    >>> u = np.array([0.9, 0.2, 0.5, 0.1])
    >>> sequential_poisson(np.array([1.0, 0.2, 0.8, 0.0]), u, size=2).tolist()
    [0, 2]
    """
    possible = np.flatnonzero(chances > 0.0)
    order = np.lexsort((possible, numbers[possible] / chances[possible], chances[possible] < 1.0))
    return np.asarray(possible[order[: max(size, 0)]])


def growing(
    x: FloatArray, numbers: FloatArray, *, sizes: Sequence[int]
) -> tuple[IntArray, FloatArray]:
    """Draw at each size in turn, and keep what was drawn.

    Who has the next chance does not hang on the size, so a larger sample holds the smaller one,
    unless candidates become certain and push others out: those are kept all the same, and the
    sample has more than its last size by these few.

    Parameters
    ----------
    x : array of float, shape (candidates,)
        Size measures.
    numbers : array of float, shape (candidates,)
        Permanent random numbers.
    sizes : sequence of int
        Ascending.

    Returns
    -------
    places : array of int, shape (draws,)
        Step by step, in each as `sequential_poisson` has them.
    pi : array of float, shape (candidates,)
        The inclusion probabilities at the last size, the largest of all steps.

    Raises
    ------
    ValueError
        If the sizes do not ascend.

    Examples
    --------
    >>> places, pi = growing(np.ones(4), np.array([0.9, 0.2, 0.5, 0.1]), sizes=[1, 3])
    >>> places.tolist(), pi.tolist()
    ([3, 1, 2], [0.75, 0.75, 0.75, 0.75])
    """
    if list(sizes) != sorted(set(sizes)) or not sizes:
        raise ValueError(f"sizes of a sample that grows ascend, unlike {list(sizes)}")
    chances = [inclusion(x, size=size) for size in sizes]
    steps = [
        sequential_poisson(each, numbers, size=size)
        for each, size in zip(chances, sizes, strict=True)
    ]
    every = np.concatenate(steps)
    first = np.unique(every, return_index=True)[1]
    return every[np.sort(first)], chances[-1]


def union_of_designs(
    pi: Sequence[FloatArray], drawn: Sequence[IntArray], numbers: Sequence[FloatArray]
) -> tuple[IntArray, FloatArray]:
    """Put samples together that were drawn with the same permanent numbers.

    A candidate is drawn by some design if its number is small enough for the most generous of
    them: ``pi_i = max_k lambda_ki``. (Of independent samples it would be
    ``1 - prod_k (1 - lambda_ki)``.) The size is random. No design may have been shaped by what
    the draws of another showed.

    Parameters
    ----------
    pi : sequence of arrays of float, shape (candidates,)
        Inclusion probabilities of each design.
    drawn : sequence of arrays of int
        Places of what each drew.
    numbers : sequence of arrays of float, shape (candidates,)
        The permanent numbers that each was drawn with.

    Returns
    -------
    places : array of int, shape (draws,)
        What the first drew, then what the next adds.
    pi : array of float, shape (candidates,)

    Raises
    ------
    ValueError
        If the numbers differ.

    Examples
    --------
    >>> u = np.array([0.1, 0.6, 0.3])
    >>> places, pi = union_of_designs(
    ...     [np.array([0.5, 0.5, 0.0]), np.array([0.2, 0.0, 0.8])],
    ...     [np.array([0]), np.array([2])], [u, u],
    ... )
    >>> places.tolist(), pi.tolist()
    ([0, 2], [0.5, 0.5, 0.8])
    """
    differ = _differ(numbers)
    if differ.any():
        raise ValueError(
            f"{int(differ.sum()):,} of {len(differ):,} candidates have other permanent random"
            " numbers in one design than in another, so that the larger probability is not that"
            " of being drawn by one of them; draw with one seed, and from the same judgements"
        )
    every = np.concatenate(list(drawn))
    first = np.unique(every, return_index=True)[1]
    return every[np.sort(first)], np.max(list(pi), axis=0)


def _differ(numbers: Sequence[FloatArray]) -> BoolArray:
    return np.asarray(np.any([each != numbers[0] for each in numbers], axis=0))
