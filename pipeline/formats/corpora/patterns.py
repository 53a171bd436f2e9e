"""Regular expressions in the options of readers."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import polars as pl
from pydantic import AfterValidator


def groups(pattern: str) -> int:
    """Return how many groups a regular expression has.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> groups(r"^### (.*)$")
    1
    """
    try:
        dtype = pl.select(pl.lit("").str.extract_groups(pattern)).to_series().dtype
    except pl.exceptions.ComputeError as error:
        raise ValueError(f"no regular expression: {error}") from error
    return len(dtype.fields) if isinstance(dtype, pl.Struct) else 0


def _whole(pattern: str) -> str:
    groups(pattern)
    return pattern


def _one_group(pattern: str) -> str:
    if pattern and groups(pattern) != 1:
        raise ValueError(f"needs one group in round brackets, has {groups(pattern)}")
    return pattern


def _two_groups(pattern: str) -> str:
    if groups(pattern) != 2:
        raise ValueError(f"needs two groups in round brackets, has {groups(pattern)}")
    return pattern


Pattern: TypeAlias = Annotated[str, AfterValidator(_whole)]
"""A regular expression as Polars reads it (the syntax of Rust's regex: no look-around)."""
NamingPattern: TypeAlias = Annotated[str, AfterValidator(_one_group)]
"""A regular expression with one group, or nothing."""
CuttingPattern: TypeAlias = Annotated[str, AfterValidator(_two_groups)]
"""A regular expression with two groups."""
