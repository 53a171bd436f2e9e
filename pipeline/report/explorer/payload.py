"""What the page holds of an explorer: a head that says how to read it, rows, and details."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from pipeline.report.explorer.block import TEXT_LENGTH, Attribute, Details, Explorer
from pipeline.report.explorer.coding import coded
from pipeline.report.explorer.cutting import cut

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
        Columns, their headings, how to read each, and how many rows are left out.
    rows : bytes
        The columns of the table, one after the other.
    details : bytes
        The columns of the details, which are read when the first row is opened.
    kept : int
        How many rows the page holds.
    """

    head: dict[str, Any]
    rows: bytes
    details: bytes
    kept: int


def payload(explorer: Explorer) -> Payload:
    """Return what the page holds of an explorer, within its limits.

    Rows are left out at the end of the frame, details from the rows that matter least; the head
    says how many. Equal input gives equal bytes.

    Raises
    ------
    ValueError
        If two rows have one key, or a column has no such kind of values.
    """
    frame = explorer.frame
    if frame[explorer.key].n_unique() < frame.height:
        raise ValueError(f"{explorer.name}: several rows have one {explorer.key}")
    kept, columns, rows = _rows(explorer)
    places = frame.head(kept).with_row_index(_ROW)
    heads, contents = [], []
    for each in explorer.details:
        head, content = _details(each, explorer, places)
        heads.append(head)
        contents.append(content)
    head = {
        "name": explorer.name,
        "titles": explorer.titles or (explorer.key,),
        "what": explorer.what,
        "rows": kept,
        "whole": explorer.rows,
        "matters": explorer.matters,
        "order": explorer.order,
        "falling": explorer.falling,
        "cells": None if explorer.cells is None else vars(explorer.cells),
        "columns": columns,
        "details": heads,
    }
    return Payload(head, rows, b"".join(contents), kept)


def _rows(explorer: Explorer) -> tuple[int, list[dict[str, Any]], bytes]:
    """Return as many rows as there is room for, their columns, and the bytes."""
    kept = min(explorer.most_rows, explorer.frame.height)
    while True:
        columns, content = _columns(explorer.frame.head(kept), explorer.columns)
        size = _size(content)
        if size <= explorer.page_bytes or kept <= 1:
            return kept, columns, content
        kept = max(1, int(kept * 0.95 * explorer.page_bytes / size))


def _columns(
    frame: pl.DataFrame, attributes: Sequence[Attribute], *, most: int = TEXT_LENGTH
) -> tuple[list[dict[str, Any]], bytes]:
    heads, contents = [], []
    for each in attributes:
        values = frame[each.name]
        if values.dtype == pl.String:
            values = cut(values, most=most)
        how, content = coded(values, each.kind)
        said = {name: value for name, value in vars(each).items() if value != ""}
        heads.append({**said, "code": how})
        contents.append(content)
    return heads, b"".join(contents)


def _details(
    details: Details, explorer: Explorer, places: pl.DataFrame
) -> tuple[dict[str, Any], bytes]:
    """Return the details of the rows that matter most, as many as there is room for."""
    room = explorer.detail_bytes // len(explorer.details)
    order = _first(details, places)
    mine = details.frame.join(order, on=explorer.key, how="inner", maintain_order="left")
    has = int(mine[_ROW].n_unique())
    most = _most(mine, places.height, room)
    while True:
        held = mine.filter(pl.col("~place") < most).sort(_ROW, maintain_order=True)
        counts = np.bincount(held[_ROW].to_numpy(), minlength=places.height)
        how, numbers = coded(pl.Series(counts), "count")
        columns, content = _columns(held, details.columns)
        size = _size(content)
        if size <= room or most == 0:
            break
        most = int(most * 0.9 * room / size)
    head = {
        "name": details.name, "heading": details.heading, "kind": details.kind,
        "first": details.first, "counts": how, "rows": held.height, "columns": columns,
        "has": has, "held": int(held[_ROW].n_unique()), "cut": TEXT_LENGTH,
    }  # fmt: skip
    return head, numbers + content


def _most(mine: pl.DataFrame, rows: int, room: int) -> int:
    """Return how many rows may have their details at most, before they are packed."""
    if mine.height <= room // _LEAST_BYTES:
        return rows
    return int(mine["~place"].sort()[room // _LEAST_BYTES])


def _first(details: Details, places: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with their places, and the place of each among those with details."""
    key = [name for name in places.columns if name != _ROW]
    first = pl.col(details.first).fill_null(value=False) if details.first else pl.lit(value=False)
    ordered = places.select(*key, _ROW, late=~first).sort("late", _ROW)
    return ordered.with_row_index("~place")


def _size(content: bytes) -> int:
    """Return about how many bytes of the page they take."""
    return int(len(zlib.compress(content, 6)) * _BASE64)
