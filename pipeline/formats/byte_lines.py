"""Lines and tab-separated fields of text, found by their bytes alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.formats.text_views import PADDING, Places, texts

_TAB, _END, _ZERO = (np.uint8(ord(sign)) for sign in "\t\n0")
_DIGITS = 9
"""Digits of the longest number: nothing is counted that has more."""


class Spans(NamedTuple):
    """Where some texts lie: the first byte of each, and how many bytes it has."""

    starts: Places
    lengths: Places


@dataclass(frozen=True)
class ByteLines:
    r"""Lines of text.

    Parameters
    ----------
    content : bytes
        UTF-8 whose lines end in ``\n`` alone; behind the last it may be absent.

    Examples
    --------
    >>> lines = ByteLines(b"a\t12\n\nbcd\t_")
    >>> lines.tabs.tolist(), lines.is_blank.tolist()
    ([1, 0, 1], [False, True, False])
    >>> rows = lines.rows(np.array([0, 2]))
    >>> lines.texts(rows.field(0)).to_list(), lines.numbers(rows.field(1)).tolist()
    (['a', 'bcd'], [12, -1])
    """

    content: bytes

    @cached_property
    def bytes(self) -> npt.NDArray[np.uint8]:
        """The content between the ends of a line before it and of its last one, and padding."""
        end = b"" if self.content.endswith(b"\n") or not self.content else b"\n"
        return np.frombuffer(b"".join((b"\n", self.content, end, bytes(PADDING))), np.uint8)

    @cached_property
    def _marks(self) -> Places:
        """Where tabs and ends of lines are: both follow each other in ASCII."""
        return np.flatnonzero(self.bytes - _TAB <= _END - _TAB)

    @cached_property
    def _ends(self) -> Places:
        """Which of the marks end lines, that of the line before the first included."""
        return np.flatnonzero(self.bytes[self._marks] == _END)

    @cached_property
    def tabs(self) -> Places:
        """How many tabs each line has."""
        return np.diff(self._ends) - 1

    @cached_property
    def first(self) -> npt.NDArray[np.uint8]:
        """The first byte of each line, or its end."""
        return self.bytes[self._marks[self._ends[:-1]] + 1]

    @cached_property
    def is_blank(self) -> npt.NDArray[np.bool_]:
        """Whether each line has nothing."""
        return np.equal(self.first, _END)

    def whole(self, lines: Places) -> Spans:
        """Return where some lines lie."""
        return self.between(self._ends[lines], self._ends[lines + 1])

    def rows(self, lines: Places) -> Rows:
        """Return some lines as rows of fields."""
        return Rows(self, self._ends[lines])

    def between(self, before: Places, after: Places) -> Spans:
        """Return what lies between marks, given by their numbers."""
        starts = self._marks[before] + 1
        return Spans(starts, self._marks[after] - starts)

    def is_only(self, spans: Spans, sign: str) -> npt.NDArray[np.bool_]:
        """Return which texts are this one ASCII character."""
        alone: npt.NDArray[np.bool_] = spans.lengths == 1
        return alone & np.equal(self.bytes[spans.starts], ord(sign))

    def texts(self, spans: Spans, valid: npt.NDArray[np.bool_] | None = None) -> pl.Series:
        """Return texts as strings; those that are empty, or not valid, as null."""
        some = spans.lengths > 0
        return texts(self.bytes, *spans, valid=some if valid is None else some & valid)

    def numbers(self, spans: Spans) -> Places:
        """Return whole numbers; -1 for what is not written in one to nine digits alone."""
        starts, lengths = spans
        digits = self.bytes[starts] - _ZERO
        good = (lengths > 0) & (lengths <= _DIGITS) & (digits <= 9)
        numbers = np.where(good, digits, np.int64(-1))
        left = np.flatnonzero(good & (lengths > 1))
        place = 1
        while left.size:
            digits = self.bytes[starts[left] + place] - _ZERO
            numbers[left] = np.where(digits <= 9, numbers[left] * 10 + digits, -1)
            place += 1
            left = left[(lengths[left] > place) & (digits <= 9)]
        return numbers


@dataclass(frozen=True)
class Rows:
    """Lines of which each has as many fields as one asks for.

    Parameters
    ----------
    lines : ByteLines
        The text they stand in.
    before : ndarray of int64, shape (n,)
        The number of the mark that ends the line before each.
    """

    lines: ByteLines
    before: Places

    def field(self, index: int) -> Spans:
        """Return where a field of each lies, the first at 0."""
        return self.lines.between(self.before + index, self.before + (index + 1))

    def where(self, which: npt.NDArray[np.bool_]) -> Rows:
        """Return some of them."""
        return Rows(self.lines, self.before[which])
