"""Tables of all rows that the page can search, sort and filter: columns, details, encoding."""

from __future__ import annotations

import json
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.findings.base import StageView

Kind: TypeAlias = Literal["text", "label", "flag", "count", "rank", "share", "number"]
"""The content of a column: text to search; one of a few labels; yes or no; a whole number; a rank
(1 is best); a proportion, shown in per cent; any other number."""

MOST_ROWS = 100_000
"""With eight measures; the bytes below allow fewer rows of more columns."""
PAGE_BYTES = 7_500_000
DETAIL_BYTES = 1_500_000
TEXT_LENGTH = 600


@dataclass(frozen=True)
class Attribute:
    """A column of the table.

    Parameters
    ----------
    name : str
        The column of the frame.
    heading : str
        Its heading on the page.
    kind : str
        Its content, see `Kind`.
    of : str
        The subject of several columns, a measure or a system: row details have a line for each.
    part : str
        The role of this column: "score", "rank".
    visible : bool
        Whether it is shown initially; otherwise the reader can add it.
    """

    name: str
    heading: str
    kind: Kind
    _: KW_ONLY
    of: str = ""
    part: str = ""
    visible: bool = True


@dataclass(frozen=True)
class Cells:
    """The columns that the contingency table of a row is computed from.

    Parameters
    ----------
    f, f1, f2, N : str
        Cell o11, its row sum, its column sum, and the sum of all cells.
    first, second : str
        The columns that name the two words.
    """

    f: str = "f"
    f1: str = "f1"
    f2: str = "f2"
    N: str = "N"
    first: str = "l1"
    second: str = "l2"


@dataclass(frozen=True)
class Details:
    """Further rows that belong to a row, shown in its details.

    Parameters
    ----------
    name : str
        Its name in the scripts of the page.
    heading : str
        Its heading on the page.
    frame : DataFrame
        Its rows, in order of display, with the key of the row that each belongs to.
    columns : tuple of Attribute
        The columns to show.
    kind : {"records", "concordance"}
        A table, or lines of text with the marked words, ``[[ ]]``, one below the other: of a
        concordance the last column is the text.
    first : str
        A flag of the table: if space is limited, its rows get their details first.
    """

    name: str
    heading: str
    frame: pl.DataFrame
    columns: tuple[Attribute, ...]
    kind: Literal["records", "concordance"] = "records"
    first: str = ""


@dataclass(frozen=True)
class Explorer:
    """A table of all rows.

    Parameters
    ----------
    name : str
        Name of its files, without the ending.
    caption : str
        A description of the table.
    what : tuple of str
        The noun for rows, singular and plural: ``("candidate", "candidates")``.
    frame : DataFrame
        All rows, the most relevant first: rows are omitted from the end. The files have all
        rows. If these do not fit in memory, as many as the page may have.
    columns : tuple of Attribute
        The columns, in order of display.
    key : str
        The column of the frame that identifies rows.
    titles : tuple of str
        The columns that name a row in its details; the key if empty.
    order : str
        The column of the initial order; the order of the frame if empty.
    falling : bool
        Whether the order is descending.
    matters : str
        The rows that come first in the frame, to complete "those with ...".
    cells : Cells or None
        The columns for the contingency table of a row, if it has one.
    details : tuple of Details
        The details of a row, beside its own columns.
    whole : int or None
        The number of rows, if the frame does not have all.
    most_rows : int
        The largest number of rows on the page.
    page_bytes : int
        The largest number of bytes for the rows; it may reduce their number.
    detail_bytes : int
        The largest number of bytes for the details.
    """

    name: str
    caption: str
    what: tuple[str, str]
    frame: pl.DataFrame
    columns: tuple[Attribute, ...]
    _: KW_ONLY
    key: str
    titles: tuple[str, ...] = ()
    order: str = ""
    falling: bool = False
    matters: str = ""
    cells: Cells | None = None
    details: tuple[Details, ...] = ()
    whole: int | None = None
    most_rows: int = MOST_ROWS
    page_bytes: int = PAGE_BYTES
    detail_bytes: int = DETAIL_BYTES

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.frame.height if self.whole is None else self.whole


# Encoding of columns as bytes
# The bytes of a number are stored as planes, all lowest bytes first: they compress better.

Ints: TypeAlias = npt.NDArray[np.int64]
Coded: TypeAlias = tuple[dict[str, Any], bytes]
"""How to read a column, and its bytes."""

DIGITS = 4
"""Significant digits of a number."""
SHARE_SCALE = 10_000
"""A share is a whole number of these parts: per cent with two decimals."""
_SPECIAL = -(2**15)
"""The power of what is no number: the mantissa says which."""
_NULL, _UP, _DOWN = 0, 1, 2
_LEAST = 1e-300
"""What is nearer to zero is zero."""
_LARGEST = 2**48 - 2
_REPEATED = 2
"""Texts that occur so often on average are listed once."""


def encode(values: pl.Series, kind: Kind) -> Coded:
    r"""Return how to read a column, and its bytes.

    Parameters
    ----------
    values : Series
        Texts, whole numbers, numbers or yes and no; null where nothing is known.
    kind : str
        Kind of the values. Numbers keep four significant digits and shares four decimals.

    Raises
    ------
    ValueError
        If a count or a rank is negative or above 2^48 - 2.

    Examples
    --------
    >>> encode(pl.Series([3, None, 300]), "count")
    ({'as': 'whole', 'width': 2}, b'\x04\x00-\x00\x00\x01')
    >>> encode(pl.Series(["b", "a", None]), "label")
    ({'as': 'text', 'bytes': 9, 'width': 1}, b'["a","b"]\x02\x01\x00')
    """
    if kind in {"text", "label"}:
        return _texts(values.cast(pl.String))
    if kind == "number":
        return _numbers(values.cast(pl.Float64))
    if kind == "share":
        return _shares(values.cast(pl.Float64))
    if kind == "flag":
        values = values.cast(pl.Int64)
    return _whole_numbers(values, kind)


def in_order(texts: Sequence[str]) -> list[str]:
    """Return texts in the order of the page: letters with and without marks side by side.

    Examples
    --------
    >>> in_order(["zu", "Öl", "offen", "Ohr"])
    ['offen', 'Ohr', 'Öl', 'zu']
    """
    return sorted(texts, key=lambda text: (_without_marks(text), text.casefold(), text))


def _without_marks(text: str) -> str:
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _texts(values: pl.Series) -> Coded:
    """Return texts as numbers of an ordered list, so that to sort them is to sort numbers."""
    known = values.drop_nulls().unique().to_list()
    if _REPEATED * len(known) > len(values) > 255:
        listed = _json(values.to_list())
        return {"as": "list", "bytes": len(listed)}, listed
    ordered = in_order(known)
    places: Mapping[str, int] = {text: place for place, text in enumerate(ordered, 1)}
    codes = np.fromiter((places.get(text, 0) for text in values), np.int64, len(values))
    width = _width(len(ordered))
    listed = _json(ordered)
    return {"as": "text", "bytes": len(listed), "width": width}, listed + _planes(codes, width)


def _json(texts: Sequence[str | None]) -> bytes:
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode()


def _whole_numbers(values: pl.Series, kind: Kind) -> Coded:
    low, high = values.min(), values.max()
    if low is not None and (low < 0 or high > _LARGEST):  # type: ignore[operator]  # of numbers
        raise ValueError(
            f"column {values.name!r}: a {kind} must be from 0 to {_LARGEST:,}, not {low!r} to "
            f"{high!r}; use the kind number"
        )
    codes = (values + 1).fill_null(0).cast(pl.Int64).to_numpy()
    width = _width(int(codes.max(initial=0)))
    return {"as": "whole", "width": width}, _planes(codes, width)


def _shares(values: pl.Series) -> Coded:
    parts = (values.fill_nan(None) * SHARE_SCALE).round(mode="half_away_from_zero")
    least = parts.min()
    if least is not None and not 0 <= least <= parts.max() <= _LARGEST:  # type: ignore[operator]
        return _decimals(values)
    how, content = _whole_numbers(parts.cast(pl.Int64), "share")
    return {**how, "scale": SHARE_SCALE}, content


def _numbers(values: pl.Series) -> Coded:
    """Return numbers, whole ones as such: a frequency that is called a score."""
    known = values.fill_nan(None).drop_nulls()
    whole = known.is_finite() & (known >= 0) & (known <= _LARGEST) & (known == known.round())
    if len(known) and whole.all():
        return _whole_numbers(values.fill_nan(None).cast(pl.Int64), "number")
    return _decimals(values)


def _decimals(values: pl.Series) -> Coded:
    """Return numbers as a mantissa times a power of ten, two planes each."""
    numbers = values.fill_nan(None).to_numpy()
    size = np.abs(numbers)
    usual = np.isfinite(numbers) & (size >= _LEAST)
    power = np.zeros(len(numbers), np.int64)
    power[usual] = np.floor(np.log10(size[usual])).astype(np.int64) - DIGITS + 1
    mantissa = np.zeros(len(numbers), np.int64)
    mantissa[usual] = np.rint(numbers[usual] * 10.0 ** -power[usual].astype(np.float64))
    for test, stands_for in ((np.isnan, _NULL), (np.isposinf, _UP), (np.isneginf, _DOWN)):
        mantissa[test(numbers)], power[test(numbers)] = stands_for, _SPECIAL
    return {"as": "decimal"}, _planes(mantissa & 0xFFFF, 2) + _planes(power & 0xFFFF, 2)


def _width(largest: int) -> int:
    return max(1, (largest.bit_length() + 7) // 8)


def _planes(codes: Ints, width: int) -> bytes:
    """Return the lowest bytes of all numbers, then the next."""
    return b"".join(((codes >> (8 * place)) & 0xFF).astype(np.uint8).tobytes()
                    for place in range(width))  # fmt: skip


# Long texts

OPEN, CLOSE, GONE = "[[", "]]", "…"


def shorten(texts: pl.Series, *, most: int) -> pl.Series:
    """Return texts of at most so many characters, or a few more.

    Parameters
    ----------
    texts : Series of str
        Texts; the words that they are about may be marked with ``[[ ]]``.
    most : int
        Longer ones are cut, so that the marked words stay.

    Examples
    --------
    >>> shorten(pl.Series(["one two three", "four"]), most=8).to_list()
    ['one two …', 'four']
    """
    long = (texts.str.len_chars() > most).fill_null(value=False)
    if not long.any():
        return texts
    some = texts.filter(long)
    shorter = dict(zip(some, (_shorten(text, most) for text in some), strict=True))
    return texts.replace(shorter)


def _shorten(text: str, most: int) -> str:
    """Cut one text: a third of the room before the first mark, the rest from there."""
    start = max(0, text.find(OPEN) - most // 3)
    end = start + most
    last = text.rfind(CLOSE, 0, end)
    opened = text.rfind(OPEN, 0, end)
    if opened > last:  # a mark would be cut through
        end = min(text.find(CLOSE, opened) + len(CLOSE), opened + most)
    before, after = GONE if start else "", GONE if end < len(text) else ""
    return f"{before}{text[start:end]}{after}"


# Payload: a head that says how to read it, rows, and details

_BASE64 = 4 / 3
_ROW = "~row"
_LEAST_BYTES = 2
"""No row of details takes less of the page."""


@dataclass(frozen=True)
class Payload:
    """What the page holds.

    Parameters
    ----------
    head : dict
        Columns, their headings, how to read each, and how many rows are omitted.
    rows : bytes
        The columns of the table, one after the other.
    details : bytes
        The columns of the details, which are read when the first row is opened.
    height : int
        Number of rows that the page holds.
    """

    head: dict[str, Any]
    rows: bytes
    details: bytes
    height: int


def payload(explorer: Explorer) -> Payload:
    """Return what the page holds of an explorer, within its limits.

    Rows are omitted at the end of the frame, details from the rows that matter least; the head
    says how many. Equal input gives equal bytes.

    Raises
    ------
    ValueError
        If two rows have one key, or a column has no such kind of values.
    """
    frame = explorer.frame
    if frame[explorer.key].n_unique() < frame.height:
        raise ValueError(f"{explorer.name}: several rows have the same {explorer.key}")
    count, columns, rows = _rows(explorer)
    places = frame.head(count).with_row_index(_ROW)
    heads, contents = [], []
    for each in explorer.details:
        head, content = _details(each, explorer, places)
        heads.append(head)
        contents.append(content)
    head = {
        "name": explorer.name,
        "titles": explorer.titles or (explorer.key,),
        "what": explorer.what,
        "rows": count,
        "whole": explorer.rows,
        "matters": explorer.matters,
        "order": explorer.order,
        "falling": explorer.falling,
        "cells": None if explorer.cells is None else vars(explorer.cells),
        "columns": columns,
        "details": heads,
    }
    return Payload(head, rows, b"".join(contents), count)


def _rows(explorer: Explorer) -> tuple[int, list[dict[str, Any]], bytes]:
    """Return as many rows as there is room for, their columns, and the bytes."""
    count = min(explorer.most_rows, explorer.frame.height)
    while True:
        columns, content = _columns(explorer.frame.head(count), explorer.columns)
        size = _page_size(content)
        if size <= explorer.page_bytes or count <= 1:
            return count, columns, content
        count = max(1, int(count * 0.95 * explorer.page_bytes / size))


def _columns(
    frame: pl.DataFrame, attributes: Sequence[Attribute], *, most: int = TEXT_LENGTH
) -> tuple[list[dict[str, Any]], bytes]:
    heads, contents = [], []
    for each in attributes:
        values = frame[each.name]
        if values.dtype == pl.String:
            values = shorten(values, most=most)
        how, content = encode(values, each.kind)
        fields = {name: value for name, value in vars(each).items() if value != ""}
        heads.append({**fields, "code": how})
        contents.append(content)
    return heads, b"".join(contents)


def _details(
    details: Details, explorer: Explorer, places: pl.DataFrame
) -> tuple[dict[str, Any], bytes]:
    """Return the details of the rows that matter most, as many as there is room for."""
    room = explorer.detail_bytes // len(explorer.details)
    order = _detail_order(details, places)
    mine = details.frame.join(order, on=explorer.key, how="inner", maintain_order="left")
    has = int(mine[_ROW].n_unique())
    most = places.height
    if mine.height > room // _LEAST_BYTES:
        most = int(mine["~place"].sort()[room // _LEAST_BYTES])
    while True:
        rows = mine.filter(pl.col("~place") < most).sort(_ROW, maintain_order=True)
        counts = np.bincount(rows[_ROW].to_numpy(), minlength=places.height)
        how, numbers = encode(pl.Series(counts), "count")
        columns, content = _columns(rows, details.columns)
        size = _page_size(content)
        if size <= room or most == 0:
            break
        most = int(most * 0.9 * room / size)
    head = {
        "name": details.name, "heading": details.heading, "kind": details.kind,
        "first": details.first, "counts": how, "rows": rows.height, "columns": columns,
        "has": has, "held": int(rows[_ROW].n_unique()), "cut": TEXT_LENGTH,
    }  # fmt: skip
    return head, numbers + content


def _detail_order(details: Details, places: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with their places, and the place of each among those with details."""
    key = [name for name in places.columns if name != _ROW]
    first = pl.col(details.first).fill_null(value=False) if details.first else pl.lit(value=False)
    ordered = places.select(*key, _ROW, late=~first).sort("late", _ROW)
    return ordered.with_row_index("~place")


def _page_size(content: bytes) -> int:
    """Return about how many bytes of the page they take."""
    return int(len(zlib.compress(content, 6)) * _BASE64)


# Columns and sources of a stage

_FEW = 2
"""Of fewer rows every column has a single value."""


def kind_of(values: pl.Series) -> Kind | None:
    """Return what a column holds, judged by its type and values; None if it cannot be shown.

    Examples
    --------
    >>> kind_of(pl.Series([1, 2])), kind_of(pl.Series([-1, 2])), kind_of(pl.Series([True]))
    ('count', 'number', 'flag')
    >>> kind_of(pl.Series(["in Kraft"])), kind_of(pl.Series([[1]]))
    ('text', None)
    """
    if values.dtype == pl.Boolean:
        return "flag"
    if values.dtype == pl.String:
        return "text"
    if values.dtype.is_integer():
        least = values.min()
        return "number" if isinstance(least, int) and least < 0 else "count"
    return "number" if values.dtype.is_float() else None


def attributes_of(
    frame: pl.DataFrame, names: Iterable[str], *, visible: Sequence[str]
) -> Iterator[Attribute]:
    """Yield the columns of these names that can be shown; one with a single value is hidden."""
    for name in names:
        kind = kind_of(frame[name])
        if kind is not None:
            varied = frame.height < _FEW or frame[name].n_unique() > 1
            yield Attribute(name, name, kind, visible=varied and name in visible)


def sources(stage: StageView) -> list[StageView]:
    """Return the stage and all that it was made from, the nearest first.

    Examples
    --------
    >>> among = {"c": StageView("c", "extract.pairs", {}, print)}
    >>> ranks = StageView("r", "score.rank", {}, print, inputs={"scores": "c.candidates"},
    ...                   stages=among)
    >>> [each.name for each in sources(ranks)]
    ['r', 'c']
    """
    stages = {stage.name: stage}
    waiting = [stage]
    while waiting:
        for table in waiting.pop(0).inputs.values():
            name = table.partition(".")[0]
            if name in stage.stages and name not in stages:
                stages[name] = stage.stages[name]
                waiting.append(stages[name])
    return list(stages.values())
