"""CoNLL-U by its bytes: a block in which nothing is wrong or rare, read for a part of the cost."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.formats.base import LINE
from pipeline.formats.byte_lines import ByteLines, Rows, Spans
from pipeline.formats.corpora.conllu_marks import FIELDS, ID, NOT_A_WORD, begins
from pipeline.formats.corpora.marks import (
    DOCUMENT,
    HEAD,
    NAME,
    PARAGRAPH,
    POSITION,
    RAW_HEAD,
    SPACE_AFTER,
    SURFACE,
)
from pipeline.formats.corpora.parsing import Parsed
from pipeline.formats.corpora.scanning import changes, so_far
from pipeline.formats.text_views import Places

_NONE = "_"
_TABS = len(FIELDS) - 1


def scanned(content: bytes, before: int, columns: Collection[str]) -> Parsed | None:
    """Return what stands in a block if it is certain that it breaks no rule; else None.

    Parameters
    ----------
    content : bytes
        Whole sentences: UTF-8 without a carriage return.
    before : int
        Lines that stand before it.
    columns : collection of str
        Which columns are wanted. How words are written is not known here.
    """
    if {SURFACE, SPACE_AFTER} & set(columns):
        return None
    block = _Block(ByteLines(content), before)
    return block.parsed(columns) if block.is_certain() else None


@dataclass(frozen=True)
class _Block:
    """The lines of a block and what follows from them; exists while it is read."""

    lines: ByteLines
    before: int

    @cached_property
    def _comment(self) -> npt.NDArray[np.bool_]:
        return np.equal(self.lines.first, ord("#"))

    @cached_property
    def _row_lines(self) -> Places:
        """The lines that are words, ranges or empty nodes."""
        return np.flatnonzero(self.lines.tabs == _TABS)

    @cached_property
    def _rows(self) -> Rows:
        return self.lines.rows(self._row_lines)

    @cached_property
    def _identity(self) -> Places:
        """The ID of each row; -1 if it is no whole number."""
        return self.lines.numbers(self._rows.field(0))

    @cached_property
    def _unit(self) -> Places:
        """How many blank lines stand before each row."""
        return np.cumsum(self.lines.is_blank, dtype=np.int64)[self._row_lines]

    @cached_property
    def _is_word(self) -> npt.NDArray[np.bool_]:
        return np.greater_equal(self._identity, 0)

    @cached_property
    def _words(self) -> Rows:
        return self._rows.where(self._is_word)

    @cached_property
    def _position(self) -> Places:
        return self._identity[self._is_word]

    @cached_property
    def _first(self) -> npt.NDArray[np.bool_]:
        """Which words are the first of their sentence."""
        return changes(self._unit[self._is_word])

    @cached_property
    def _head(self) -> Places:
        """The head of each word; -1 if it is no whole number."""
        return self.lines.numbers(_field(self._words, RAW_HEAD))

    def is_certain(self) -> bool:
        """Return whether it breaks no rule."""
        return self._are_lines() and self._are_in_order() and self._are_heads()

    def _are_lines(self) -> bool:
        tabs = self.lines.tabs
        bare = (tabs == 0) & (self._comment | self.lines.is_blank)
        return bool((bare | ((tabs == _TABS) & ~self._comment)).all())

    def _are_in_order(self) -> bool:
        """Whether words count from 1 in their sentence, and others are ranges or empty nodes."""
        before = np.append([0], self._position)[:-1]
        expected = np.where(self._first, 1, before + 1)
        others = self.lines.texts(self._rows.where(~self._is_word).field(0))
        shaped = others.str.contains(NOT_A_WORD).fill_null(value=False)
        return bool((self._position == expected).all() and shaped.all())

    def _are_heads(self) -> bool:
        """Whether each head is a position of its sentence, 0, or none."""
        starts = np.flatnonzero(self._first)
        sizes = np.diff(starts, append=self._position.size)
        written = _field(self._words.where(self._head < 0), RAW_HEAD)
        none = (written.lengths == 0) | self.lines.is_only(written, _NONE)
        return bool((self._head <= np.repeat(sizes, sizes)).all() and none.all())

    def parsed(self, columns: Collection[str]) -> Parsed:
        """Return its words, and where documents and paragraphs begin."""
        sentence = np.cumsum(changes(self._unit))
        marks = self._marks()
        tokens = {
            LINE: self._row_lines[self._is_word] + (self.before + 1),
            "sentence": sentence[self._is_word],
            POSITION: self._position,
        }
        made = [pl.Series(name, values) for name, values in tokens.items()]
        made += [self._nth(marks, mark) for mark in (DOCUMENT, PARAGRAPH)]
        made += [self._attribute(name) for name in columns if name in FIELDS]
        if HEAD in columns:
            own = pl.Series(HEAD, self._head)
            made.append(own.set(own < 0, None))
        return Parsed(
            pl.DataFrame(made),
            marks.filter(pl.col(DOCUMENT).is_not_null()).select(DOCUMENT, NAME),
            marks.filter(pl.col(PARAGRAPH).is_not_null()).select(PARAGRAPH),
            int(sentence[-1]) if sentence.size else 0,
            None,
        )

    def _marks(self) -> pl.DataFrame:
        """Return the comments that begin documents or paragraphs, in order, by their line."""
        lines = np.flatnonzero(self._comment)
        comments = pl.DataFrame({LINE: lines, ID: self.lines.texts(self.lines.whole(lines))})
        likely = comments.lazy().filter(pl.col(ID).str.contains("new", literal=True))
        begun = likely.select(LINE, *begins(pl.col(ID)))
        return begun.filter(pl.col(PARAGRAPH).is_not_null()).collect()

    def _nth(self, marks: pl.DataFrame, mark: str) -> pl.Series:
        """Return how many marks stand before each word."""
        lines = marks.filter(pl.col(mark).is_not_null()).get_column(LINE).to_numpy()
        return so_far(mark, lines, self._row_lines[self._is_word])

    def _attribute(self, name: str) -> pl.Series:
        """Return a field of the words: null if empty or ``_``, unless form and lemma are both."""
        spans = _field(self._words, name)
        none = self.lines.is_only(spans, _NONE)
        other = {"form": "lemma", "lemma": "form"}.get(name)
        if other and none.any():
            none &= ~self.lines.is_only(_field(self._words, other), _NONE)
        return self.lines.texts(spans, ~none).alias(name)


def _field(rows: Rows, name: str) -> Spans:
    return rows.field(FIELDS.index(name))
