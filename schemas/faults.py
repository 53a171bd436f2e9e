"""Rows of input that cannot be used, each with its place and the reason."""

from __future__ import annotations

from schemas import declaration
from schemas.base import Table


class Faults(Table):
    """One row per unusable value of an input file."""

    # One of the columns is called `column`, as the function is.
    file: str = declaration.column("input file, as the experiment names it", key=True)
    line: int = declaration.column(
        "line of the file (row, in a binary file), from 1", key=True, ge=0
    )
    column: str = declaration.column("column of the file", key=True)
    value: str = declaration.column("what stands there; null = nothing", nullable=True)
    problem: str = declaration.column("why it cannot be used")
