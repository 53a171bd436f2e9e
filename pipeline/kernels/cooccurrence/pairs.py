"""Pair tokens: by relation, in the same textual unit, and by distance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.cooccurrence.counting import Packing, integer_codes
from pipeline.kernels.cooccurrence.tokens import (
    LABELS,
    PLACE,
    TOKEN,
    Unit,
    head_token,
    in_order,
    longest,
    token_index,
    units,
)
from pipeline.kernels.cooccurrence.tuples import elements
from pipeline.kernels.numeric import BoolArray, IntArray
from pipeline.kernels.partitions import parts_needed, split
from schemas.candidates import frequency_name, signature

# Pairings: a tuple as a pair of two groups of its units


def to_pairs(
    tuples: pl.LazyFrame, *, first: Sequence[int], second: Sequence[int], separator: str
) -> pl.LazyFrame:
    """Return tuples as pairs: l1 and l2 are groups of elements, f1 and f2 their frequencies.

    Since f, f1, f2 and N count the same tuple tokens, they are the frequency signature of the
    pairs (elements of the first group, elements of the second).

    Parameters
    ----------
    tuples : LazyFrame
        l1 ... lk and the columns of `schemas.candidates.signature`; any others are kept.
    first, second : sequence of int
        1-based positions, each in one group, in the order of the labels.
    separator : str
        Separator between the elements of a group.

    Returns
    -------
    LazyFrame
        l1, l2, f, f1, f2, N and the columns kept; scores, which are those of the tuple, are
        called tuple_mi and so on.

    Examples
    --------
    >>> rows = {"l1": ["in"], "l2": ["Frage"], "l3": ["stellen"], "f": [2], "f1": [3], "f2": [4]}
    >>> rows |= {"f3": [5], "f_12": [3], "f_13": [2], "f_23": [2], "N": [9]}
    >>> to_pairs(pl.LazyFrame(rows), first=[1, 2], second=[3], separator=" ").collect().row(0)
    ('in Frage', 'stellen', 2, 3, 5, 9)
    """
    size = len(first) + len(second)
    groups = {"1": first, "2": second}
    labels = {
        f"l{name}": pl.concat_str([f"l{i}" for i in group], separator=separator)
        for name, group in groups.items()
    }
    counts = {
        f"f{name}": pl.col(frequency_name(sorted(group), size)) for name, group in groups.items()
    }
    own = {*elements(size), *signature(size)}
    further = {
        f"tuple_{name}" if dtype.is_float() else name: pl.col(name)
        for name, dtype in tuples.collect_schema().items()
        if name not in own
    }
    return tuples.select(**labels, f="f", **counts, N="N", **further)


def ambiguous(
    tuples: pl.LazyFrame, *, first: Sequence[int], second: Sequence[int], separator: str
) -> pl.DataFrame:
    """Return labels shared by several groups of elements.

    "in bezug auf" may be ("in bezug", "auf") and ("in", "bezug auf"), if elements hold the
    separator.

    Parameters
    ----------
    tuples, first, second, separator
        As for `to_pairs`.

    Returns
    -------
    DataFrame
        label: each once, in order.
    """
    repeated = [pl.DataFrame(schema={"label": pl.String})]
    for group in (first, second):
        names = [f"l{i}" for i in group]
        rows = tuples.select(*names, label=pl.concat_str(names, separator=separator))
        for (part,) in split(rows, number=parts_needed(rows), by="label"):
            kinds = part.unique().group_by("label").len()
            repeated.append(kinds.filter(pl.col("len") > 1).select("label"))
    return pl.concat(repeated).unique().sort("label")


# Textual cooccurrence: unit types in one sentence, paragraph or document

TEXT_UNIT = "text_unit"
"""Column with the number of the sentence, paragraph or document that a token is in."""


def together(
    first: pl.LazyFrame, second: pl.LazyFrame, shared: pl.LazyFrame | None = None
) -> pl.LazyFrame:
    """Return the pairs of types in the same text unit, once per unit.

    A type is with itself only where no token bears it on both sides: "military" as an adjective and
    as a noun, but not the same noun.

    Parameters
    ----------
    first, second : LazyFrame
        `TEXT_UNIT`, token, unit.
    shared : LazyFrame, optional
        `TEXT_UNIT` and unit (String) of what tokens bear on both sides, see `shared_types`; by
        default all.

    Returns
    -------
    LazyFrame
        `TEXT_UNIT`, l1, l2, and token_1, token_2: the first token of each.

    References
    ----------
    Evert 2008, Corpora and collocations, section 4.2: textual co-occurrence.

    Examples
    --------
    >>> rows = pl.LazyFrame({"text_unit": [0] * 3, "token": [0, 1, 2], "unit": ["a", "b", "a"]})
    >>> together(rows, rows).select("l1", "l2").sort("l1", "l2").collect().rows()
    [('a', 'b'), ('b', 'a')]
    """
    one, two = (types(each).rename({"unit": f"l{number}", TOKEN: f"token_{number}"})
                for number, each in enumerate([first, second], start=1))  # fmt: skip
    paired = one.join(two, on=TEXT_UNIT)
    label = pl.col("l1").cast(pl.String)
    same = label == pl.col("l2").cast(pl.String)
    if shared is None:
        return paired.filter(~same)
    own = shared.rename({"unit": "label"})
    itself = paired.filter(same).with_columns(label=label)
    return pl.concat(
        [
            paired.filter(~same),
            itself.join(own, on=[TEXT_UNIT, "label"], how="anti").drop("label"),
        ]
    )


def shared_types(first: pl.LazyFrame, second: pl.LazyFrame) -> pl.LazyFrame:
    """Return the types that a token bears on both sides: `TEXT_UNIT`, unit (String)."""
    one, two = (each.select(TEXT_UNIT, TOKEN, pl.col("unit").cast(pl.String))
                for each in (first, second))  # fmt: skip
    return one.join(two, on=[TEXT_UNIT, TOKEN, "unit"], how="semi").select(TEXT_UNIT, "unit")


def occurrences(units: pl.LazyFrame) -> pl.LazyFrame:
    """Count the text units that contain each type: unit, f."""
    return units.unique([TEXT_UNIT, "unit"]).group_by("unit").agg(f=pl.len().cast(pl.Int64))


def types(units: pl.LazyFrame) -> pl.LazyFrame:
    """Return each type once per text unit, with its first token there."""
    return units.group_by(TEXT_UNIT, "unit").agg(pl.col(TOKEN).min())


_HALF = 2**32
_RELATION = "_relation"
_PAIR = ("l1", "l2")
TOKEN_1, TOKEN_2 = "token_1", "token_2"
COLUMNS = (PLACE, "l1", "l2", TOKEN_1, TOKEN_2)
"""The columns of a pair token: its sentence, its units, and their tokens."""


@dataclass(frozen=True)
class Dependency:
    """A syntactic relation between the two units.

    Parameters
    ----------
    where : Expr
        Condition on the dependent token of the relation, usually on its deprel.
    governor : str
        The governing unit: "left", "right" or "either".
    through : Expr or None
        Condition on an intermediate token between governor and dependent.
    named : bool
        Include the relation (`deprel` of the dependent) in l1: ``obj(take, *)`` for a governor,
        ``obj(*, place)`` for a dependent.
    """

    where: pl.Expr
    governor: Literal["left", "right", "either"] = "left"
    through: pl.Expr | None = None
    named: bool = False


def pair_tokens(
    tokens: pl.LazyFrame, *, left: Unit, right: Unit, relation: Dependency | None
) -> pl.LazyFrame:
    """Return every co-occurrence of a left and a right unit.

    Parameters
    ----------
    tokens : LazyFrame
        As `tokens.number_tokens` gives them, with attributes; with a dependency also head.
    left, right : Unit
        The units to pair.
    relation : Dependency or None
        The syntactic relation; None pairs every left with every right unit of the sentence.

    Returns
    -------
    LazyFrame
        place, l1, l2 (Categorical), token_1, token_2. A token never pairs with itself.

    References
    ----------
    Evert & Krenn (2005), section 2: every PP with every main verb of the sentence.
    """
    if relation is None:
        return in_sentence(units(tokens, left), units(tokens, right))
    first, second = _rename_units(units(tokens, left), 1), _rename_units(units(tokens, right), 2)
    governors = {"left": (1,), "right": (2,), "either": (1, 2)}[relation.governor]
    pairs = [_join_dependency(first, second, tokens, relation, governor=n) for n in governors]
    return _distinct_tokens(pl.concat(pairs).unique() if len(pairs) > 1 else pairs[0])


def in_sentence(first: pl.LazyFrame, second: pl.LazyFrame) -> pl.LazyFrame:
    """Pair every left with every right unit of its sentence, as `pair_tokens` does.

    Parameters
    ----------
    first, second : LazyFrame
        As `units` gives them.
    """
    return _distinct_tokens(_rename_units(first, 1).join(_rename_units(second, 2), on=PLACE))


def _distinct_tokens(paired: pl.LazyFrame) -> pl.LazyFrame:
    return paired.filter(pl.col(TOKEN_1) != pl.col(TOKEN_2)).select(COLUMNS)


def add_positions(pairs: pl.LazyFrame, tokens: pl.LazyFrame) -> pl.LazyFrame:
    """Add the places of the pairs: file, doc, sentence, position_1, position_2.

    Parameters
    ----------
    pairs : LazyFrame
        With `COLUMNS`.
    tokens : LazyFrame
        The tokens they were found in.

    Returns
    -------
    LazyFrame
        The pairs; the sentence is that of the left unit, and position_2 is null if the right unit
        is in another.
    """
    one = tokens.select(
        pl.col(TOKEN).alias(TOKEN_1), "file", "doc", "sentence", position_1=pl.col("position")
    )
    two = tokens.select(pl.col(TOKEN).alias(TOKEN_2), pl.col(PLACE).alias("_place_2"))
    distance = pl.col(TOKEN_2) - pl.col(TOKEN_1)
    joined = pairs.join(one, on=TOKEN_1).join(two, on=TOKEN_2)
    same = pl.when(pl.col("_place_2") == pl.col(PLACE))
    return joined.with_columns(position_2=same.then(pl.col("position_1") + distance))


def count(pairs: pl.LazyFrame) -> pl.LazyFrame:
    """Count pair tokens: l1, l2, f (Int64).

    Parameters
    ----------
    pairs : LazyFrame
        l1 and l2.

    Returns
    -------
    LazyFrame
        One row per pair type.

    Examples
    --------
    >>> pairs = pl.LazyFrame({"l1": ["a", "a"], "l2": ["b", "b"]})
    >>> count(pairs).collect().rows()
    [('a', 'b', 2)]
    """
    return by_key(pairs, _PAIR, pl.len().cast(pl.Int64).alias("f"))


def by_key(rows: pl.LazyFrame, key: Sequence[str], *aggregates: pl.Expr) -> pl.LazyFrame:
    """Group rows; fastest if l1 and l2 are Categorical, as a pair is then one number.

    Parameters
    ----------
    rows : LazyFrame
        The key, as text or Categorical, and further columns.
    key : sequence of str
        The columns to group by.
    *made : Expr
        Aggregates of each group.

    Returns
    -------
    LazyFrame
        The key and the aggregates.
    """
    others = [name for name in key if name not in _PAIR]
    coded = rows.collect_schema()[key[0]] != pl.String
    if not coded or not {*_PAIR} <= {*key}:
        return rows.group_by(key).agg(*aggregates)
    grouped = rows.group_by(pair_key().alias("_pair"), *others).agg(*aggregates)
    return grouped.select(*of_key(pl.col("_pair")), *others, pl.exclude("_pair", *others))


def pair_key() -> pl.Expr:
    """Return one whole number for two Categorical columns, l1 and l2."""
    one, two = (pl.col(name).to_physical().cast(pl.UInt64) for name in ("l1", "l2"))
    return one * _HALF + two


def of_key(key: pl.Expr) -> list[pl.Expr]:
    """Return l1 and l2 of a number made by `pair_key`."""
    labels = pl.Categorical(pl.Categories(LABELS))
    halves = {"l1": key // _HALF, "l2": key % _HALF}
    return [half.cast(pl.UInt32).cat.to(labels).alias(name) for name, half in halves.items()]


def marginals(counts: pl.LazyFrame) -> pl.LazyFrame:
    """Add the marginal frequencies over all pair tokens, and their number.

    f1 = sum of f over all pairs with this l1, f2 likewise, N = sum of all f.

    Parameters
    ----------
    counts : LazyFrame
        l1, l2, f: every pair type, before any threshold.

    Returns
    -------
    LazyFrame
        The same rows with f1, f2, N (Int64).

    Examples
    --------
    >>> counts = pl.LazyFrame({"l1": ["a", "a", "b"], "l2": ["x", "y", "x"], "f": [3, 1, 2]})
    >>> marginals(counts).sort("l1", "l2").select("f", "f1", "f2", "N").collect().rows()
    [(3, 4, 5, 6), (1, 4, 1, 6), (2, 2, 5, 6)]
    """
    f = pl.col("f")
    return counts.with_columns(f1=f.sum().over("l1"), f2=f.sum().over("l2"), N=f.sum())


def _rename_units(table: pl.LazyFrame, number: int) -> pl.LazyFrame:
    return table.rename({"unit": f"l{number}", TOKEN: f"token_{number}"})


def _join_dependency(
    first: pl.LazyFrame,
    second: pl.LazyFrame,
    tokens: pl.LazyFrame,
    relation: Dependency,
    *,
    governor: int,
) -> pl.LazyFrame:
    """Pair a governor with its dependents, directly or through one token between them."""
    above, below = f"token_{governor}", f"token_{3 - governor}"
    name = [pl.col("deprel").alias(_RELATION)] if relation.named else []
    edges = tokens.filter(relation.where).select(
        pl.col(TOKEN).alias(below), head_token().alias("_by"), *name
    )
    if relation.through is not None:
        between = tokens.filter(relation.through).select(
            pl.col(TOKEN).alias("_by"), head_token().alias("_above")
        )
        edges = edges.join(between, on="_by").drop("_by").rename({"_above": "_by"})
    edges = edges.rename({"_by": above}).drop_nulls()
    joined = first.join(edges, on=TOKEN_1).join(second.drop(PLACE), on=TOKEN_2)
    if relation.named:
        joined = joined.with_columns(l1=_relation_label(governs=governor == 1))
    return joined.select(COLUMNS)


def _relation_label(*, governs: bool) -> pl.Expr:
    """Return l1 with its relation, written as a dependency with a place for l2."""
    places = "{}({}, *)" if governs else "{}(*, {})"
    label = pl.format(places, _RELATION, pl.col("l1").cast(pl.String))
    return label.cast(pl.Categorical(pl.Categories(LABELS)))


# Cooccurrence by distance: adjacent units, and units in the span of a node

START = "start"
"""Column with the first position that the span of a node may have."""
_POSITIONS_AT_A_TIME = 200_000  # fits into a processor's caches


@dataclass(frozen=True)
class Span:
    """The tokens around a node that count as its neighbours, cut where `Text` says.

    Parameters
    ----------
    left, right : int
        Tokens on each side.
    count : str
        "positions": a position in the spans of two nodes of the same type counts once.
        "windows": each node has its own span. "nodes": the same, and the units in it count once
        each.
    width : int
        Tokens of a node, counted from its first.
    """

    left: int = 5
    right: int = 5
    count: Literal["positions", "windows", "nodes"] = "positions"
    width: int = 1

    def offsets(self) -> list[int]:
        """Return the distances from the first token of the node, the node itself omitted."""
        return [*range(-self.left, 0), *range(self.width, self.width + self.right)]

    @property
    def last(self) -> int:
        """The distance of the last position from the first token of the node."""
        return self.width - 1 + self.right

    def within(self, length: int) -> Span:
        """Return the span cut to sentences of at most so many tokens."""
        return replace(self, left=min(self.left, length), right=min(self.right, length))


class Text(NamedTuple):
    """The tokens of a part of a corpus and their units; made once for all its nodes.

    Parameters
    ----------
    place : array of int, shape (tokens,)
        The sentence of each; or the paragraph or document, for spans that go on over sentences.
    labels : list of arrays of int, each of shape (tokens,)
        The label number of the unit at each token, -1 for none; several arrays if tokens have
        several units, see `TokenIndex.rows`.
    longest : int
        Tokens of the longest sentence.
    """

    place: IntArray
    labels: Sequence[IntArray]
    longest: int


def text_of(units: pl.DataFrame, tokens: pl.DataFrame) -> Text:
    """Return the tokens of a part of a corpus, and their neighbours.

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
    first: pl.DataFrame,
    text: Text,
    span: Span,
    columns: Sequence[str] = COLUMNS,
    *,
    before: int = 0,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pair every node with the units in its span, and count the positions of the spans.

    With `count` = "positions", node hits of one type are taken in order; a position at or before
    the right end of the previous hit's span is omitted, also that hit. f1 is the number of the
    others.

    Parameters
    ----------
    first : DataFrame
        Nodes, as `units` gives them. Of nodes that come in parts, each has `START`.
    text : Text
        The tokens, and the neighbours on them.
    span : Span
        The neighbourhood.
    columns : sequence of str
        Columns wanted of the pairs.
    before : int
        Tokens up to this one are done: pairs within them do not count.

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
    nodes = in_order(first if START in first.columns else add_span_start(first, span))
    node, start = (nodes.get_column(name).to_numpy() for name in (TOKEN, START))
    own, counted = text.place[node], np.zeros(len(node), dtype=np.int64)
    pairs = [_Pairs(*(np.zeros(0, np.int64) for _ in range(3)))]
    offsets = np.array(span.offsets(), dtype=np.int64)
    step = max(1, _POSITIONS_AT_A_TIME // max(1, len(node)))
    for some in (offsets[begin : begin + step] for begin in range(0, len(offsets), step)):
        at = node[:, None] + some
        inside = _in_sentence_span(at, text.place, own[:, None], start[:, None])
        if before and span.count != "nodes":
            inside &= np.maximum(at, node[:, None]) >= before
        number = inside.sum(axis=1)
        counted += number
        rows, at = np.repeat(np.arange(len(node)), number), at[inside]
        pairs += [_pair_codes(rows, at, labels) for labels in text.labels]
    positions = nodes.select("unit", pl.Series("f", counted)).group_by("unit").agg(pl.sum("f"))
    if span.count == "nodes":
        table = once(_to_frame(pairs, nodes, text.place, COLUMNS))
        new = pl.max_horizontal(TOKEN_1, TOKEN_2) >= before
        return (table.filter(new) if before else table).select(columns), positions
    return _to_frame(pairs, nodes, text.place, columns), positions


def once(pairs: pl.DataFrame) -> pl.DataFrame:
    """Keep only the first pair of a node and a unit that is in its span several times."""
    ordered = pairs.sort(TOKEN_1, TOKEN_2)
    return ordered.unique(["l1", "l2", TOKEN_1], keep="first", maintain_order=True)


def add_span_start(nodes: pl.DataFrame, span: Span) -> pl.DataFrame:
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
    before = _previous_rows(ordered)
    # A token may bear one unit twice only by several attachments; then both count it once.
    after = ordered.get_column(TOKEN).to_numpy().take(before, mode="clip") + span.last + 1
    return ordered.with_columns(pl.Series(START, np.where(before < 0, 0, after), pl.Int64))


def _previous_rows(nodes: pl.DataFrame) -> IntArray:
    """Return for each node, in order, the row of the last of its type in its sentence; -1: none.

    Those of a type and a sentence follow each other when place, type and row are sorted.
    """
    if nodes.is_empty():
        return np.zeros(0, np.int64)
    unit, place = integer_codes("unit", nodes.schema["unit"]), pl.col(PLACE) - pl.col(PLACE).min()
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
        Tokens allowed between the two; 0: neighbours.

    Returns
    -------
    DataFrame
        place, l1, l2, token_1, token_2.
    """
    return in_span(first, text_of(second, tokens), following_span(gap))[0]


def neighbours(units: pl.DataFrame, columns: Sequence[str] = COLUMNS) -> pl.DataFrame | None:
    """Pair units of one kind with the next ones, as `adjacent` does, if there is a fast way.

    Parameters
    ----------
    units : DataFrame
        As `units` gives them: left and right units are the same.
    columns : sequence of str
        Columns wanted.

    Returns
    -------
    DataFrame or None
        As `adjacent`; None if a token has two units.

    Examples
    --------
    >>> units = pl.DataFrame({"place": [0, 0, 1], "token": [0, 1, 2], "unit": ["a", "b", "a"]})
    >>> neighbours(units).rows()
    [(0, 'a', 'b', 0, 1)]
    """
    ordered = in_order(units)
    token = ordered.get_column(TOKEN)
    if not (token.slice(1) > token.head(-1)).all():
        return None
    other = {name: pl.col(name).shift(-1) for name in (TOKEN, PLACE, "unit")}
    near = (other[TOKEN] - pl.col(TOKEN) == 1) & (other[PLACE] == pl.col(PLACE))
    pairs = ordered.lazy().select(
        PLACE, pl.col("unit").alias("l1"), other["unit"].alias("l2"),
        pl.col(TOKEN).alias(TOKEN_1), other[TOKEN].alias(TOKEN_2), near.alias("_near"),
    )  # fmt: skip
    return pairs.filter("_near").select(columns).collect()


def following_span(gap: int) -> Span:
    """Return the span of the units that follow, up to `gap` tokens between."""
    return Span(left=0, right=gap + 1, count="windows")


class _Pairs(NamedTuple):
    """Pairs as numbers: rows of the nodes, tokens and labels in their spans."""

    rows: IntArray
    others: IntArray
    labels: IntArray


def _in_sentence_span(at: IntArray, place: IntArray, own: IntArray, start: IntArray) -> BoolArray:
    """Return which positions count: not before the start, and in the node's sentence."""
    there = place.take(at, mode="clip") == own if len(place) else np.zeros(len(at), np.bool_)
    return there & (at >= start) & (at < len(place))


def _pair_codes(rows: IntArray, at: IntArray, labels: IntArray) -> _Pairs:
    """Return the pairs of the nodes in `rows` with the labels of the units on the tokens `at`."""
    codes = labels[at]
    hit = codes >= 0
    return _Pairs(rows, at, codes) if hit.all() else _Pairs(rows[hit], at[hit], codes[hit])


def _to_frame(
    pairs: Sequence[_Pairs], nodes: pl.DataFrame, place: IntArray, columns: Sequence[str]
) -> pl.DataFrame:
    """Return pairs as a table; labels have the same numbers on both sides, see `units`."""
    rows, others, labels = (np.concatenate(each) for each in zip(*pairs, strict=True))
    unit, node = nodes.get_column("unit"), nodes.get_column(TOKEN).to_numpy()
    arrays: dict[str, Callable[[], npt.NDArray[Any]]] = {
        PLACE: lambda: place[node[rows]],
        "l1": lambda: unit.to_physical().to_numpy()[rows],
        "l2": lambda: labels.astype(np.uint32),
        TOKEN_1: lambda: node[rows],
        TOKEN_2: lambda: others,
    }
    table = pl.DataFrame({name: arrays[name]() for name in columns})
    return table.with_columns(pl.col("l1", "l2").cat.to(unit.dtype))


# Annotated multiword expressions: tokens, types and the pairs within them.


NONE = ("*", "_")
"""Codes of tokens outside expressions."""
_CODE = r"^([0-9]+)(?::(.*))?$"
_PLACE_IN_IT = r"^[0-9]+$"


def is_code(code: pl.Expr) -> pl.Expr:
    """Return true for valid expression codes, including those of tokens outside expressions.

    Examples
    --------
    >>> codes = pl.DataFrame({"code": ["1:VID", "1;2:LVC.full", "3:2", "*", None, "VID", "1;"]})
    >>> codes.select(is_code(pl.col("code"))).to_series().to_list()
    [True, True, True, True, True, False, False]
    """
    one = r"[0-9]+(?::[^;:\s]+)?"
    numbered = code.str.contains(rf"^{one}(?:;{one})*$")
    return code.is_null() | code.is_in(list(NONE)) | numbered


def expression_tokens(
    tokens: pl.DataFrame, *, numbers: str, types: str | None = None
) -> pl.DataFrame:
    """Return the tokens of expressions with two or more tokens.

    Parameters
    ----------
    tokens : DataFrame
        As `number_tokens` gives them, with the attributes.
    numbers : str
        The attribute that numbers the expressions of each sentence: "1" or "1:VID" as PARSEME
        has it, the type on one of its tokens; "1:2" as STREUSLE has it, the place within the
        expression; several with ";" between.
    types : str, optional
        The attribute with the type, on the first token of an expression; that of the code if not
        given.

    Returns
    -------
    DataFrame
        `TOKEN`, ``expression`` (which tokens of one expression share) and ``type``, null where
        there is none; a row for each token and expression.

    References
    ----------
    Savary et al. 2017, The PARSEME Shared Task; Schneider & Smith 2015, A Corpus and Model
    Integrating Multiword Expressions and Supersenses.

    Examples
    --------
    >>> from pipeline.kernels.cooccurrence.tokens import number_tokens
    >>> rows = {"file": ["f"] * 4, "sentence": [1] * 4, "position": [1, 2, 3, 4]}
    >>> codes = pl.LazyFrame({**rows, "mwe": ["1:LVC.full", "*", "1;2:VPC", "2"]})
    >>> expression_tokens(number_tokens(codes).collect(), numbers="mwe").rows()
    [(0, 0, 'LVC.full'), (2, 0, 'LVC.full'), (2, 1, 'VPC'), (3, 1, 'VPC')]
    """
    code = pl.col("code").str.extract_groups(_CODE)
    kind = pl.col(types) if types else pl.lit(None, pl.String())
    coded = tokens.lazy().select(TOKEN, PLACE, code=pl.col(numbers).str.split(";"), given=kind)
    coded = coded.explode("code").filter(pl.col("code").str.contains(_CODE))
    rest = code.struct[1]
    own = pl.col("given") if types else pl.when(~rest.str.contains(_PLACE_IN_IT)).then(rest)
    key = (PLACE, "number")
    numbered = coded.select(TOKEN, PLACE, number=code.struct[0].cast(pl.Int64), type=own)
    first = pl.col("type").first() if types else pl.col("type").drop_nulls().first()
    known = numbered.sort(TOKEN, "number").with_columns(
        first.over(key).alias("type"),
        pl.col(TOKEN).n_unique().over(key).alias("size"),
        pl.struct(key).rank("dense").cast(pl.Int64).alias("expression"),
    )
    several = known.filter(pl.col("size") > 1).select(TOKEN, "expression", "type")
    return several.with_columns(pl.col("expression").rank("dense").cast(pl.Int64) - 1).collect()


def pairs_in_expressions(pairs: pl.DataFrame, members: pl.DataFrame) -> pl.DataFrame:
    """Return the pair tokens within one expression, with its type.

    Parameters
    ----------
    pairs : DataFrame
        Pair tokens with `TOKEN_1` and `TOKEN_2`, and any other columns.
    members : DataFrame
        As `expression_tokens` gives them.

    Returns
    -------
    DataFrame
        The columns of the pairs, ``pair`` (the number of the pair token among them), ``type``; a
        row for each expression that holds both.

    Examples
    --------
    >>> pairs = pl.DataFrame({"token_1": [0, 0], "token_2": [1, 2]})
    >>> members = pl.DataFrame({"token": [0, 2], "expression": [7, 7], "type": ["VID"] * 2})
    >>> pairs_in_expressions(pairs, members).rows()
    [(0, 2, 1, 'VID')]
    """
    numbered = pairs.lazy().with_row_index("pair")
    one = members.lazy().rename({TOKEN: TOKEN_1})
    two = members.lazy().select(pl.col(TOKEN).alias(TOKEN_2), "expression")
    both = numbered.join(one, on=TOKEN_1).join(two, on=[TOKEN_2, "expression"])
    return both.select(*pairs.columns, pl.col("pair").cast(pl.Int64), "type").collect()
