"""Find the columns of a user's file, with an error that names those it has."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from pipeline import causes
from pipeline.errors import ConfigError, Problem, did_you_mean

_PLACES = ("file", "line", "doc", "paragraph", "sentence", "position")


class NoSuchColumn(ConfigError):
    """A file has not the columns, or attributes, that the options name, or none of use."""


def require(schema: pl.Schema, wanted: Iterable[tuple[str, str]]) -> None:
    """Check that a file has the columns that an option asks for.

    Parameters
    ----------
    schema : Schema
        What the file has.
    wanted : iterable of (str, str)
        Path of the option within the stage, and the column it names.

    Raises
    ------
    ConfigError
        With one problem for each column that is absent or holds no plain values.
    """
    has = [name for name in schema.names() if name not in {"file", "line"}]
    problems: list[Problem] = []
    for option, name in wanted:
        if name not in has:
            what = f"the file has no column {name!r}"
            problems.append(Problem(option, what, did_you_mean(name, has)))
        elif held := causes.no_plain_values(schema[name]):
            what = f"column {name!r} holds {held}, neither text nor numbers"
            problems.append(Problem(option, what, "write it as text"))
    if problems:
        raise NoSuchColumn("columns", problems)


def require_attributes(schema: pl.Schema, used: dict[str, set[str]]) -> None:
    """Check that the tokens have the attributes that the options use.

    Raises
    ------
    ConfigError
        With one problem per option and absent attribute.
    """
    attributes = [name for name in schema.names() if name not in _PLACES]
    problems = [
        Problem(option, f"the tokens have no attribute {name!r}", did_you_mean(name, attributes))
        for option, names in used.items()
        for name in sorted(names - set(schema.names()))
    ]
    if problems:
        raise NoSuchColumn("attributes", problems)
