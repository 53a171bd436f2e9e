"""Pairs by distance: adjacent units, and units in the span of a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.pairs import COLUMNS, TOKEN_1, TOKEN_2
from pipeline.kernels.places import PLACE, TOKEN

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Span:
    """The tokens around a node that count as its neighbours, cut at the sentence.

    Parameters
    ----------
    left, right : int
        How many on each side; tokens.
    count : str
        "positions": a position in the spans of two nodes of the same type counts once.
        "windows": each node has its own span.
    """

    left: int = 5
    right: int = 5
    count: Literal["positions", "windows"] = "positions"

    def offsets(self) -> list[int]:
        """Return the distances from the node, the node itself left out."""
        return [d for d in range(-self.left, self.right + 1) if d]


def in_span(
    first: pl.DataFrame, second: pl.DataFrame, tokens: pl.DataFrame, span: Span
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pair every node with the units in its span, and count the positions of the spans.

    With `count` = "positions", node hits of one type are taken in order; a position at or
    before the right end of the previous hit's span is left out. So the positions of a type
    are its spans laid over each other, and f1 is their number.

    Parameters
    ----------
    first, second : DataFrame
        Nodes and neighbours, as `units` gives them.
    tokens : DataFrame
        `TOKEN` and `PLACE` of all tokens, in order.
    span : Span
        The neighbours.

    Returns
    -------
    pairs, positions : DataFrame
        place, l1, l2, token_1, token_2; and unit, f: how many positions each node type has,
        with and without a unit there.

    References
    ----------
    Evert 2008, Corpora and collocations, section 4.1: surface co-occurrence. The rule for
    overlapping spans is that of the UCS toolkit.
    """
    nodes = first.sort(TOKEN)
    node, place = nodes.get_column(TOKEN).to_numpy(), tokens.get_column(PLACE).to_numpy()
    start = _start(nodes, span) if span.count == "positions" else np.full(len(node), -1)
    other = ByToken(second, len(place))
    counted = np.zeros(len(node), dtype=np.int64)
    found = []
    for offset in span.offsets():
        at = node + offset
        inside = (at >= np.maximum(start, 0)) & (at < len(place))
        inside[inside] = place[at[inside]] == place[node[inside]]
        counted += inside
        found += [_pairs(nodes, rows, other, at[rows]) for rows in [np.flatnonzero(inside)]]
    positions = nodes.select("unit", pl.Series("f", counted)).group_by("unit").agg(pl.sum("f"))
    return pl.concat(found), positions


def adjacent(
    first: pl.DataFrame, second: pl.DataFrame, tokens: pl.DataFrame, *, gap: int = 0
) -> pl.DataFrame:
    """Pair every unit with those that follow it in the sentence, up to `gap` tokens between.

    Parameters
    ----------
    first, second : DataFrame
        As `units` gives them.
    tokens : DataFrame
        `TOKEN` and `PLACE` of all tokens, in order.
    gap : int
        Tokens that may stand between the two; 0: neighbours.

    Returns
    -------
    DataFrame
        place, l1, l2, token_1, token_2.
    """
    span = Span(left=0, right=gap + 1, count="windows")
    return in_span(first, second, tokens, span)[0]


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
    def _layers(where: Indices, layer: Indices, size: int) -> Iterator[Indices]:
        for number in range(int(layer.max(initial=-1)) + 1):
            index = np.full(size, -1, dtype=np.int64)
            rows = np.flatnonzero(layer == number)
            index[where[rows]] = rows
            yield index


def _pairs(nodes: pl.DataFrame, rows: Indices, other: ByToken, at: Indices) -> pl.DataFrame:
    """Return the pairs of the nodes in `rows` with the units on the tokens `at`."""
    made = [_named(nodes, rows[:0], other.units, rows[:0])]
    for layer in other.layers:
        index = layer[at]
        hit = index >= 0
        made.append(_named(nodes, rows[hit], other.units, index[hit]))
    return pl.concat(made)


def _named(one: pl.DataFrame, rows: Indices, two: pl.DataFrame, others: Indices) -> pl.DataFrame:
    left = one[rows].rename({"unit": "l1", TOKEN: TOKEN_1})
    right = two.select(pl.col("unit").alias("l2"), pl.col(TOKEN).alias(TOKEN_2))[others]
    return pl.concat([left, right], how="horizontal").select(COLUMNS)


def _start(nodes: pl.DataFrame, span: Span) -> Indices:
    """Return the first position that no earlier hit of the same type has counted."""
    before = pl.col(TOKEN).shift().over("unit", order_by=TOKEN)
    # A token may bear one unit twice only by several attachments; then both count it once.
    return nodes.select((before + span.right + 1).fill_null(-1)).to_series().to_numpy()
