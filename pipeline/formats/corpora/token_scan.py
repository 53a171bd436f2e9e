"""Token tables by their bytes: a block in which nothing is wrong, read for a part of the cost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.formats.base import LINE
from pipeline.formats.byte_lines import ByteLines, Rows
from pipeline.formats.corpora import places
from pipeline.formats.corpora.marks import DOCUMENT, HEAD, NAME, POSITION, SPACE_AFTER
from pipeline.formats.corpora.parsing import Parsed
from pipeline.formats.corpora.scanning import changes, counted, so_far
from pipeline.formats.corpora.token_marks import TokenMarks
from pipeline.formats.text_views import Places

_TEXT = pl.col("text")
_SPECIAL = {*places.ROLES, *places.OWN, HEAD, SPACE_AFTER}


@dataclass(frozen=True)
class TokenScan:
    """Reads blocks of token tables that have nothing but sentences, documents and attributes.

    Parameters
    ----------
    names : sequence of str
        The columns.
    marks : TokenMarks
        What lines without tabs say.
    header : int
        The line that names the columns, up to which none is a token; 0: there is none.
    """

    names: Sequence[str]
    marks: TokenMarks
    header: int

    def is_for(self) -> bool:
        """Return whether it can read such a table at all."""
        plain = "\t" not in self.marks.comment and not _SPECIAL & {*self.names}
        return plain and len(self.names) > 1

    def __call__(self, content: bytes, before: int, columns: Collection[str]) -> Parsed | None:
        """Return what stands in a block if it is certain that it breaks no rule; else None.

        Parameters
        ----------
        content : bytes
            Whole sentences: UTF-8 without a carriage return.
        before : int
            Lines that stand before it.
        columns : collection of str
            Which columns are wanted.
        """
        block = _Block(self, ByteLines(content), before)
        return block.parsed(columns) if block.is_certain() else None


@dataclass(frozen=True)
class _Block:
    """The lines of a block and what follows from them; exists while it is read."""

    scan: TokenScan
    lines: ByteLines
    before: int

    @cached_property
    def _heading(self) -> npt.NDArray[np.bool_]:
        """Which lines are the header, or stand before it."""
        return np.arange(self.lines.tabs.size) < self.scan.header - self.before

    @cached_property
    def _comment(self) -> npt.NDArray[np.bool_]:
        """Which lines are comments, whatever tabs they have."""
        comment = np.zeros(self.lines.tabs.size, np.bool_)
        if sign := self.scan.marks.comment.encode()[:1]:
            likely = np.flatnonzero(self.lines.first == ord(sign))
            said = self._said(likely).select(self.scan.marks.is_comment(_TEXT))
            comment[likely] = said.to_series().to_numpy()
        return comment

    @cached_property
    def _is_row(self) -> npt.NDArray[np.bool_]:
        """Which lines are tokens: those with all tabs."""
        full = self.lines.tabs == len(self.scan.names) - 1
        row: npt.NDArray[np.bool_] = full & ~self._comment & ~self._heading
        return row

    @cached_property
    def _row_lines(self) -> Places:
        return np.flatnonzero(self._is_row)

    @cached_property
    def _rows(self) -> Rows:
        return self.lines.rows(self._row_lines)

    @cached_property
    def _begun(self) -> pl.DataFrame:
        """The lines that begin a document, which have no tab: `LINE` and `NAME`."""
        alone = np.flatnonzero((self.lines.tabs == 0) & ~self.lines.is_blank)
        said = self._said(alone).select(LINE, self.scan.marks.name(_TEXT).alias(NAME))
        return said.filter(pl.col(NAME).is_not_null())

    def _said(self, lines: Places) -> pl.DataFrame:
        """Return some lines that are not blank as text, with `LINE`."""
        return pl.DataFrame({LINE: lines, "text": self.lines.texts(self.lines.whole(lines))})

    @cached_property
    def _unit(self) -> Places:
        """How many lines stand before each row that part sentences."""
        apart = self.lines.is_blank.copy()
        apart[self._begun.get_column(LINE).to_numpy()] = True
        return np.cumsum(apart, dtype=np.int64)[self._row_lines]

    def is_certain(self) -> bool:
        """Return whether it breaks no rule: each line is known, each token has a first field."""
        known = self._is_row | self._comment | self._heading | self.lines.is_blank
        known[self._begun.get_column(LINE).to_numpy()] = True
        return bool(known.all() and self._rows.field(0).lengths.all())

    def parsed(self, columns: Collection[str]) -> Parsed:
        """Return its tokens, and where documents begin."""
        first = changes(self._unit)
        sentence = np.cumsum(first, dtype=np.int64)
        own = {
            LINE: self._row_lines + (self.before + 1),
            "sentence": sentence,
            POSITION: counted(first),
        }
        made = [pl.Series(name, values) for name, values in own.items()]
        made.append(so_far(DOCUMENT, self._begun.get_column(LINE).to_numpy(), self._row_lines))
        for index, name in enumerate(self.scan.names):
            if name in columns:
                made.append(self.lines.texts(self._rows.field(index)).alias(name))
        return Parsed(
            pl.DataFrame(made),
            self._begun.select(pl.lit(value=True).alias(DOCUMENT), NAME),
            pl.DataFrame(),
            int(sentence[-1]) if sentence.size else 0,
            None,
        )
