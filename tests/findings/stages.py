"""Stages with tables that a test writes down, and what a finder says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from pipeline.findings.base import FINDERS, Finding, StageView
from schemas import Table
from tests.report.report_frames import defaults

Frames = Mapping[str, pl.DataFrame]


def stage(
    use: str,
    tables: Frames,
    *,
    name: str = "shown",
    inputs: Mapping[str, str] | None = None,
    among: Sequence[StageView] = (),
    **config: Any,
) -> StageView:
    """Return a stage that opens these tables, among others; options are the defaults otherwise."""
    others = {other.name: other for other in among}
    return StageView(
        name, use, defaults(use) | config, lambda table: tables[table].lazy(),
        inputs=inputs or {}, stages=others,
    )  # fmt: skip


def table(model: type[Table], rows: Sequence[Mapping[str, Any]], **same: Any) -> pl.DataFrame:
    """Return a table with these rows; columns that are not named are null."""
    return pl.DataFrame([{**same, **row} for row in rows], schema=model.columns())


def found(finder: str, of: StageView) -> list[Finding]:
    """Return what a finder finds in a stage."""
    return list(FINDERS.get(finder).findings(of))


def texts(finder: str, of: StageView, about: str = "") -> list[str]:
    """Return the sentences that a finder makes; those about one thing, if it is named."""
    return [each.text for each in found(finder, of) if about in ("", each.about)]
