"""A table of all rows as a part of the page: packed, and its first rows for who has no scripts."""

from __future__ import annotations

from typing import Any

import polars as pl

from pipeline.report.explorer.block import Attribute, Explorer
from pipeline.report.explorer.cutting import cut
from pipeline.report.explorer.payload import payload
from pipeline.report.fitting import TOO_LARGE
from pipeline.report.page.assets import packed
from pipeline.report.page.cells import cell, share
from pipeline.report.page.page import Grid, Searchable
from pipeline.report.page.parts import Files, file_links, table_files
from pipeline.report.page.render import inline_json

PLAIN_ROWS = 50
"""How many rows stand in the page without scripts."""
PLAIN_TEXT = 80
LEVEL = 6
"""The highest level takes ten times the time to save a hundredth."""


def explorer_part(block: Explorer, stem: str, *, most_rows: int) -> tuple[Searchable, Files]:
    """Return a table of all rows as the page holds it, and all of them under ``stem``.

    Parameters
    ----------
    block : Explorer
        The rows.
    stem : str
        Path of its files, without the ending.
    most_rows : int
        A larger table has no files; the page says so.
    """
    why = f"not copied: more than {most_rows:,} rows" if block.rows > most_rows else ""
    if block.rows > block.frame.height:
        why = TOO_LARGE
    files = {} if why else table_files(block.frame, stem)
    found = payload(block)
    part = Searchable(
        block.caption,
        block.what,
        _plain(block),
        inline_json(found.head),
        packed(found.rows, level=LEVEL),
        packed(found.details, level=LEVEL),
        found.kept,
        block.rows,
        matters=block.matters,
        links=file_links(files),
        why=why,
    )
    return part, files


def _plain(block: Explorer) -> Grid:
    """Return the first rows as they stand at first."""
    shown = [each for each in block.columns if each.shown]
    frame = block.frame
    if block.order:
        frame = frame.sort(
            block.order, descending=block.falling, nulls_last=True, maintain_order=True
        )
    first = frame.head(PLAIN_ROWS)
    texts = [_texts(first[each.name], each) for each in shown]
    right = tuple(each.kind in {"count", "rank", "share", "number"} for each in shown)
    return Grid(tuple(each.heading for each in shown), right, tuple(zip(*texts, strict=True)))


def _texts(values: pl.Series, attribute: Attribute) -> list[str]:
    if values.dtype == pl.String:
        values = cut(values, most=PLAIN_TEXT)
    return [_text(value, attribute) for value in values]


def _text(value: Any, attribute: Attribute) -> str:
    if attribute.kind == "share":
        return share(value)
    return "" if value is None and attribute.kind in {"text", "label"} else cell(value)
