"""Run one check on tables that a test provides."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import polars as pl

from pipeline.remarks.base import CHECKS, CheckInput, Remark

Frames = Mapping[str, pl.DataFrame]


def run_check(
    name: str,
    *,
    use: str = "",
    inputs: Frames | None = None,
    outputs: Frames | None = None,
    threshold: float | None = None,
    tokens: pl.DataFrame | None = None,
    filled: frozenset[str] | None = None,
    later_cuts: tuple[int, ...] = (),
    **options: Any,
) -> list[Remark]:
    """Return the remarks of a check on these tables; of a stage of its first kind by default."""
    check = CHECKS.get(name)
    look = CheckInput(
        use or check.stages[0],
        SimpleNamespace(**options),
        {key: frame.lazy() for key, frame in (inputs or {}).items()},
        {key: frame.lazy() for key, frame in (outputs or {}).items()},
        tokens=lambda _option, most, *_: (pl.DataFrame() if tokens is None else tokens).head(most),
        filled=filled,
        later_cuts=later_cuts,
    )
    return list(check.remarks(look, check.threshold if threshold is None else threshold))
