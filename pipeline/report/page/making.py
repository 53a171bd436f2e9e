"""The blocks of a section as parts of the page, with their files beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.report.explorer.block import Explorer
from pipeline.report.page.drawing import Drawing
from pipeline.report.page.names import distinct, slug
from pipeline.report.page.page import Folded, Grid, Part, Picture, Searchable
from pipeline.report.page.parts import Files, figure_part, table_part, text_part
from pipeline.report.page.searchable import explorer_part
from pipeline.report.view import Block, Figure, Fold, Listing, Text

MOST_ROWS = 5_000_000
"""Larger tables to look into have no files beside the page."""


@dataclass(frozen=True)
class Maker:
    """Makes the parts of one section.

    Parameters
    ----------
    anchor : str
        The section's, with which the names of its files begin.
    files : dict of str to bytes
        The files of the page so far: those of the parts come to them.
    drawing : Drawing
        Draws the figures, some of them ahead.
    pictures : tuple of str
        The kinds of files that figures have beside the page.
    most_rows : int
        Tables to look into with more rows have no files.
    beside : bool
        Whether there are files beside the page, or it stands alone.
    """

    anchor: str
    files: Files
    drawing: Drawing
    pictures: tuple[str, ...] = ("svg",)
    most_rows: int = MOST_ROWS
    beside: bool = True

    def parts(self, blocks: Sequence[Block | Part]) -> tuple[Part, ...]:
        """Return the parts, without tables that have no row and folds that hold nothing.

        What is a part already stays as it is.
        """
        found = (self._part(block) for block in blocks)
        return tuple(part for part in found if part is not None)

    def _part(self, block: Block | Part) -> Part | None:
        if isinstance(block, Text):
            return text_part(block)
        if isinstance(block, Fold):
            inner = self.parts(block.blocks)
            return Folded(block.summary, inner) if inner else None
        if not isinstance(block, Figure | Listing | Explorer):
            return block
        if isinstance(block, Listing) and block.frame.is_empty():
            return None
        part, own = self._with_files(block)
        self.files.update(own)
        return part if self.beside else replace(part, links=())

    def _with_files(
        self, block: Figure | Listing | Explorer
    ) -> tuple[Picture | Grid | Searchable, Files]:
        folder = "figures" if isinstance(block, Figure) else "tables"
        stem = self._free(f"{folder}/{self.anchor}-{slug(block.name)}")
        if isinstance(block, Figure):
            kinds = self.pictures if self.beside else ("svg",)
            return figure_part(block, stem, self.drawing.of(block), kinds)
        if isinstance(block, Explorer):
            return explorer_part(block, stem, most_rows=self.most_rows)
        return table_part(block, stem)

    def _free(self, wanted: str) -> str:
        """Return a path without ending that no file has yet."""
        taken = {path.rpartition(".")[0] for path in self.files}
        return distinct([*sorted(taken), wanted])[-1]
