"""Blocks of a view as parts of the page, with the files that belong to them."""

from __future__ import annotations

import base64
from collections.abc import Iterable

import polars as pl

from pipeline.formats.tables.formulas import to_csv
from pipeline.report.page import export
from pipeline.report.page.cells import cell
from pipeline.report.page.names import slug
from pipeline.report.page.page import Data, Grid, Link, Paragraph, Picture, inline_json
from pipeline.report.view import Figure, Listing, StageView, Text

Files = dict[str, bytes]

MOST_SHOWN = 200
"""How many rows of a table the page shows; its files hold all."""


def text_part(block: Text) -> Paragraph:
    """Return a paragraph."""
    return Paragraph(block.text)


def figure_part(block: Figure, stem: str) -> tuple[Picture, Files]:
    """Return a figure, and its pictures under ``stem``."""
    still = export.svg(block.chart)
    files = {f"{stem}.svg": still.encode(), f"{stem}.png": export.png(still)}
    spec = inline_json(export.spec(block.chart if block.live is None else block.live))
    address = f"data:image/svg+xml;base64,{base64.b64encode(still.encode()).decode()}"
    return Picture(block.caption, address, spec, _links(files)), files


def table_part(block: Listing, stem: str) -> tuple[Grid, Files]:
    """Return a table as the page shows it, and all its values under ``stem``."""
    files = _table_files(block.frame, stem)
    frame = block.frame if block.shown is None else block.shown
    first = frame.head(MOST_SHOWN)
    columns = [map(cell, first[name]) for name in first.columns]
    right = (dtype.is_numeric() or name in block.right for name, dtype in frame.schema.items())
    grid = Grid(
        tuple(frame.columns), tuple(right), tuple(zip(*columns, strict=True)), block.caption,
        left_out=frame.height - first.height, links=_links(files),
    )  # fmt: skip
    return grid, files


def whole_table(stage: StageView, table: str, *, most_rows: int) -> tuple[Data, Files]:
    """Return how large an output table of a stage is, and its files unless it is too large.

    Parameters
    ----------
    stage : StageView
        The stage.
    table : str
        One of its own tables.
    most_rows : int
        A larger table has no files; the page says so.
    """
    query = stage.table(table)
    rows: int = query.select(pl.len()).collect().item()
    if rows > most_rows:
        why = f"not copied: more than {most_rows:,} rows"
        return Data(table, rows, (), why), {}
    files = _table_files(export.in_order(query), f"tables/{slug(stage.name)}.{slug(table)}")
    return Data(table, rows, _links(files)), files


def _table_files(frame: pl.DataFrame, stem: str) -> Files:
    return {f"{stem}.csv": to_csv(frame), f"{stem}.parquet": export.parquet(frame)}


def _links(paths: Iterable[str]) -> tuple[Link, ...]:
    return tuple(Link(path.rpartition(".")[2], path) for path in paths)
