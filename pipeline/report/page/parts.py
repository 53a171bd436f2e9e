"""Blocks of a view as parts of the page, with the files that belong to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.formats.tables.formulas import to_csv
from pipeline.report.fitting import TOO_LARGE, fits
from pipeline.report.page import export, stills
from pipeline.report.page.cells import cell
from pipeline.report.page.names import slug
from pipeline.report.page.page import Data, Grid, Link, Paragraph, Picture
from pipeline.report.view import Figure, Listing, Text

Files = dict[str, bytes]

MOST_SHOWN = 200
"""How many rows of a table the page shows; its files hold all."""

LONGEST = 400
"""Characters of a cell that the page shows; the files hold all."""


def text_part(block: Text) -> Paragraph:
    """Return a paragraph."""
    return Paragraph(block.text)


def figure_part(
    block: Figure, stem: str, still: str, kinds: tuple[str, ...] = ("svg",)
) -> tuple[Picture, Files]:
    """Return a figure drawn as this SVG, and its pictures of these kinds under ``stem``."""
    made = export.pictures(still, kinds)
    files = {f"{stem}.{kind}": content for kind, content in made.items()}
    narrow = None if block.narrow is None else export.spec(block.narrow)
    width, height = stills.size(still)
    picture = Picture(
        stem.rpartition("/")[2], block.caption, stills.address(still), width, height,
        (export.spec(block.chart), narrow), block.alt, file_links(files),
    )  # fmt: skip
    return picture, files


def table_part(block: Listing, stem: str) -> tuple[Grid, Files]:
    """Return a table as the page shows it, and all its values under ``stem``."""
    files = table_files(block.frame, stem)
    frame = block.frame if block.shown is None else block.shown
    first = frame.head(MOST_SHOWN)
    columns = [map(_shown, first[name]) for name in first.columns]
    right = (dtype.is_numeric() or name in block.right for name, dtype in frame.schema.items())
    grid = Grid(
        tuple(frame.columns), tuple(right), tuple(zip(*columns, strict=True)), block.caption,
        left_out=frame.height - first.height, links=file_links(files), wraps=block.wraps,
    )  # fmt: skip
    return grid, files


def _shown(value: Any) -> str:
    """Return a value as the page shows it: of a very long text its beginning."""
    text = cell(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


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
    if not fits(rows, len(query.collect_schema())):
        return Data(table, rows, (), TOO_LARGE), {}
    files = table_files(export.in_order(query), f"tables/{slug(stage.name)}.{slug(table)}")
    return Data(table, rows, file_links(files)), files


def table_files(frame: pl.DataFrame, stem: str) -> Files:
    """Return a table as CSV and as Parquet."""
    return {f"{stem}.csv": to_csv(frame), f"{stem}.parquet": export.parquet(frame)}


def file_links(paths: Iterable[str]) -> tuple[Link, ...]:
    """Return links to files beside the page, each called by its ending."""
    return tuple(Link(path.rpartition(".")[2], path) for path in paths)
