"""Where labels go so that no two overlap."""

from __future__ import annotations

from collections.abc import Sequence


def spread(wanted: Sequence[float], *, gap: float, low: float, high: float) -> list[float]:
    """Move positions apart to at least `gap`, each as near to where it belongs as possible.

    With the positions in ascending order x_1 <= ... <= x_m, the returned y minimise
    sum (y_i - x_i)^2 under y_{i+1} - y_i >= gap: the isotonic regression of x_i - i*gap,
    found by pooling adjacent violators. Then all are held within low..high.

    Parameters
    ----------
    wanted : sequence of float
        Where the labels belong, in any order; among equals the earlier stays lower.
    gap : float
        Smallest distance between two labels.
    low, high : float
        Where the labels may lie. If they do not all fit, the gap shrinks.

    Returns
    -------
    list of float
        In the order of `wanted`.

    References
    ----------
    Barlow et al. 1972, Statistical Inference under Order Restrictions, section 1.2.

    Examples
    --------
    >>> spread([10.0, 11.0, 40.0], gap=5.0, low=0.0, high=100.0)
    [8.0, 13.0, 40.0]
    >>> spread([0.0, 0.0], gap=5.0, low=0.0, high=100.0)
    [0.0, 5.0]
    """
    if not wanted:
        return []
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    fitted = _isotonic([wanted[i] - rank * gap for rank, i in enumerate(order)])
    ceiling = high - (len(wanted) - 1) * gap
    placed = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        placed[i] = min(max(fitted[rank], low), ceiling) + rank * gap
    return placed


def _isotonic(values: Sequence[float]) -> list[float]:
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            other, size = blocks.pop()
            total, count = total + other, count + size
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]


def rows(wanted: Sequence[float], widths: Sequence[float], *, most: int = 3) -> list[int | None]:
    """Give each centred label the lowest row in which it overlaps no earlier one.

    Parameters
    ----------
    wanted : sequence of float
        Centres, ascending.
    widths : sequence of float
        Widths, the space to the next label included.
    most : int
        How many rows there are.

    Returns
    -------
    list of int or None
        Row from 0 for each label; None where all rows are taken, that label is left out.

    Examples
    --------
    >>> rows([10, 30, 100], [50, 50, 50])
    [0, 1, 0]
    """
    ends = [float("-inf")] * most
    chosen: list[int | None] = []
    for centre, width in zip(wanted, widths, strict=True):
        free = [row for row, end in enumerate(ends) if end <= centre - width / 2]
        chosen.append(free[0] if free else None)
        if free:
            ends[free[0]] = centre + width / 2
    return chosen
