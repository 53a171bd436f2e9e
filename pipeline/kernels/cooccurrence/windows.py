"""Pairs by distance: adjacent units, and units in the span of a node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.arrays import BoolArray, IntArray
from pipeline.kernels.cooccurrence.packing import Packing, coded
from pipeline.kernels.cooccurrence.pairs import COLUMNS, TOKEN_1, TOKEN_2
from pipeline.kernels.cooccurrence.token_index import in_order, token_index
from pipeline.kernels.cooccurrence.tokens import PLACE, TOKEN, longest

START = "start"
"""Column with the first position that the span of a node may have."""
_AT_A_TIME = 200_000  # positions that are looked at: what fits into a processor's caches


@dataclass(frozen=True)
class Span:
    """The tokens around a node that count as its neighbours, cut at the sentence.

    Parameters
    ----------
    left, right : int
        How many on each side; tokens.
    count : str
        "positions": a position in the spans of two nodes of the same type counts once.
        "windows": each node has its own span. "nodes": the same, and the units in it count once
        each.
    """

    left: int = 5
    right: int = 5
    count: Literal["positions", "windows", "nodes"] = "positions"

    def offsets(self) -> list[int]:
        """Return the distances from the node, the node itself left out."""
        return [d for d in range(-self.left, self.right + 1) if d]

    def within(self, length: int) -> Span:
        """Return the same for sentences of so many tokens at the most: no longer than these."""
        return replace(self, left=min(self.left, length), right=min(self.right, length))


class Text(NamedTuple):
    """The tokens of a part of a corpus, and what stands on them; made once for all its nodes.

    Parameters
    ----------
    place : array of int, shape (tokens,)
        The sentence of each.
    labels : list of arrays of int, each of shape (tokens,)
        The number of the label of the unit that stands on each, -1 for none; several if tokens
        bear several, see `TokenIndex.rows`.
    longest : int
        Tokens of the longest sentence.
    """

    place: IntArray
    labels: Sequence[IntArray]
    longest: int


def text_of(units: pl.DataFrame, tokens: pl.DataFrame) -> Text:
    """Return the tokens of a part of a corpus, and the neighbours that stand on them.

    Parameters
    ----------
    units : DataFrame
        The neighbours, as `units` gives them.
    tokens : DataFrame
        `TOKEN` and `PLACE` of all tokens, in order.
    """
    index = token_index(units, tokens.height)
    codes = index.units.get_column("unit").to_physical().to_numpy().astype(np.int64)
    labels = [np.append(codes, -1)[rows] for rows in index.rows]  # -1 is the place of the last
    return Text(tokens.get_column(PLACE).to_numpy(), labels, longest(tokens))


def in_span(
    first: pl.DataFrame, text: Text, span: Span, columns: Sequence[str] = COLUMNS
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pair every node with the units in its span, and count the positions of the spans.

    With `count` = "positions", node hits of one type are taken in order; a position at or
    before the right end of the previous hit's span is left out. So the positions of a type
    are its spans laid over each other, and f1 is their number.

    Parameters
    ----------
    first : DataFrame
        Nodes, as `units` gives them. Of nodes that come in parts, each has `START`.
    text : Text
        The tokens, and the neighbours on them.
    span : Span
        Which of them are neighbours.
    columns : sequence of str
        Which are wanted of the pairs.

    Returns
    -------
    pairs, positions : DataFrame
        place, l1, l2, token_1, token_2, or some of them; and unit, f: how many positions each
        node type has, with and without a unit there.

    References
    ----------
    Evert 2008, Corpora and collocations, section 4.1: surface co-occurrence. The rule for
    overlapping spans is that of the UCS toolkit.
    """
    span = span.within(text.longest)
    nodes = in_order(first if START in first.columns else started(first, span))
    node, start = (nodes.get_column(name).to_numpy() for name in (TOKEN, START))
    own, counted = text.place[node], np.zeros(len(node), dtype=np.int64)
    pairs = [_Pairs(*(np.zeros(0, np.int64) for _ in range(3)))]
    offsets = np.array(span.offsets(), dtype=np.int64)
    step = max(1, _AT_A_TIME // max(1, len(node)))
    for some in (offsets[begin : begin + step] for begin in range(0, len(offsets), step)):
        at = node[:, None] + some
        inside = _inside(at, text.place, own[:, None], start[:, None])
        number = inside.sum(axis=1)
        counted += number
        rows, at = np.repeat(np.arange(len(node)), number), at[inside]
        pairs += [_pairs(rows, at, labels) for labels in text.labels]
    positions = nodes.select("unit", pl.Series("f", counted)).group_by("unit").agg(pl.sum("f"))
    if span.count == "nodes":
        return once(_frame(pairs, nodes, text.place, COLUMNS)).select(columns), positions
    return _frame(pairs, nodes, text.place, columns), positions


def once(pairs: pl.DataFrame) -> pl.DataFrame:
    """Keep one pair of a node and a unit that stands in its span several times, the first."""
    ordered = pairs.sort(TOKEN_1, TOKEN_2)
    return ordered.unique(["l1", "l2", TOKEN_1], keep="first", maintain_order=True)


def started(nodes: pl.DataFrame, span: Span) -> pl.DataFrame:
    """Add `START`: where "positions" are counted, what no earlier hit of the type has counted.

    Parameters
    ----------
    nodes : DataFrame
        As `units` gives them.
    span : Span
        The neighbours; no longer than a sentence, see `Span.within`.
    """
    if span.count != "positions":
        return nodes.with_columns(pl.lit(0, pl.Int64).alias(START))
    ordered = in_order(nodes)
    before = _before(ordered)
    # A token may bear one unit twice only by several attachments; then both count it once.
    after = ordered.get_column(TOKEN).to_numpy().take(before, mode="clip") + span.right + 1
    return ordered.with_columns(pl.Series(START, np.where(before < 0, 0, after), pl.Int64))


def _before(nodes: pl.DataFrame) -> IntArray:
    """Return for each node, in order, the row of the last of its type in its sentence; -1: none.

    Those of a type and a sentence follow each other when place, type and row are sorted.
    """
    if nodes.is_empty():
        return np.zeros(0, np.int64)
    unit, place = coded("unit", nodes.schema["unit"]), pl.col(PLACE) - pl.col(PLACE).min()
    codes = nodes.select(pl.int_range(pl.len()).alias("row"), unit, place)
    packing = Packing.of([1 + int(most) for most in codes.max().row(0)])
    words = codes.select(packing.words([pl.col(name) for name in codes.columns]))
    # Of a word that holds all, the row is the lowest bits; of several, it is in the first.
    ordered = words.to_series().sort() if words.width == 1 else words.sort(words.columns[::-1])
    heads = pl.DataFrame(ordered).select(packing.part([1, 2]))
    same = heads.select(pl.all_horizontal(pl.all() == pl.all().shift())).to_series()
    rows = pl.DataFrame(ordered).select(packing.part([0])).to_series().cast(pl.Int64)
    before = np.full(nodes.height, -1, np.int64)
    again = same.fill_null(value=False).to_numpy()
    before[rows.to_numpy()[again]] = rows.shift(1, fill_value=-1).to_numpy()[again]
    return before


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
    return in_span(first, text_of(second, tokens), following(gap))[0]


def neighbours(units: pl.DataFrame, columns: Sequence[str] = COLUMNS) -> pl.DataFrame | None:
    """Pair units of one kind with those right after them, as `adjacent` does, where that is quick.

    Parameters
    ----------
    units : DataFrame
        As `units` gives them: left and right units are the same.
    columns : sequence of str
        Which are wanted.

    Returns
    -------
    DataFrame or None
        As `adjacent`; None if a token bears two units.

    Examples
    --------
    >>> units = pl.DataFrame({"place": [0, 0, 1], "token": [0, 1, 2], "unit": ["a", "b", "a"]})
    >>> neighbours(units).rows()
    [(0, 'a', 'b', 0, 1)]
    """
    ordered = in_order(units)
    token = ordered.get_column(TOKEN)
    if token.len() > 1 and not bool((token.diff().slice(1) > 0).all()):
        return None
    other = {name: pl.col(name).shift(-1) for name in (TOKEN, PLACE, "unit")}
    near = (other[TOKEN] - pl.col(TOKEN) == 1) & (other[PLACE] == pl.col(PLACE))
    pairs = ordered.lazy().select(
        PLACE, pl.col("unit").alias("l1"), other["unit"].alias("l2"),
        pl.col(TOKEN).alias(TOKEN_1), other[TOKEN].alias(TOKEN_2), near.alias("_near"),
    )  # fmt: skip
    return pairs.filter("_near").select(columns).collect()


def following(gap: int) -> Span:
    """Return the span of the units that follow, up to `gap` tokens between."""
    return Span(left=0, right=gap + 1, count="windows")


class _Pairs(NamedTuple):
    """Pairs as numbers: rows of the nodes, tokens and labels of what is in their spans."""

    rows: IntArray
    others: IntArray
    labels: IntArray


def _inside(at: IntArray, place: IntArray, own: IntArray, start: IntArray) -> BoolArray:
    """Return which positions count: not before the start, and in the node's sentence."""
    there = place.take(at, mode="clip") == own if len(place) else np.zeros(len(at), np.bool_)
    return there & (at >= start) & (at < len(place))


def _pairs(rows: IntArray, at: IntArray, labels: IntArray) -> _Pairs:
    """Return the pairs of the nodes in `rows` with the labels of the units on the tokens `at`."""
    found = labels[at]
    hit = found >= 0
    return _Pairs(rows, at, found) if hit.all() else _Pairs(rows[hit], at[hit], found[hit])


def _frame(
    pairs: Sequence[_Pairs], nodes: pl.DataFrame, place: IntArray, columns: Sequence[str]
) -> pl.DataFrame:
    """Return pairs as a table; labels have the same numbers on both sides, see `units`."""
    rows, others, labels = (np.concatenate(each) for each in zip(*pairs, strict=True))
    unit, node = nodes.get_column("unit"), nodes.get_column(TOKEN).to_numpy()
    made: dict[str, Callable[[], npt.NDArray[Any]]] = {
        PLACE: lambda: place[node[rows]],
        "l1": lambda: unit.to_physical().to_numpy()[rows],
        "l2": lambda: labels.astype(np.uint32),
        TOKEN_1: lambda: node[rows],
        TOKEN_2: lambda: others,
    }
    table = pl.DataFrame({name: made[name]() for name in columns})
    return table.with_columns(pl.col("l1", "l2").cat.to(unit.dtype))
