"""A table as somebody names it: what its columns stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.formats.separators import separator_of
from pipeline.runner.config.sources import Places, SourceFile, find
from pipeline.stages.base import TableSource

_MOST = 40
"""Columns that a message lists."""
_LOOKED_AT = 1_000
"""Rows whose values tell what a column holds."""


@dataclass(frozen=True)
class TableFile:
    """A file with named columns.

    Parameters
    ----------
    source : mapping
        What an experiment says of it.
    file : SourceFile
        The file.
    head : DataFrame
        Its first rows, as text.
    named : mapping of str to str
        What somebody says that columns stand for: our name to the file's.
    """

    source: Mapping[str, Any]
    file: SourceFile
    head: pl.DataFrame
    named: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return self.head.columns

    def column(self, ours: str, *others: str) -> str:
        """Return the column that stands for something.

        Parameters
        ----------
        ours : str
            What it is called here.
        *others : str
            What others call it; capital letters, points and blanks do not matter.

        Raises
        ------
        ConfigError
            If there is none, with the columns that there are.
        """
        found = self.look_for(ours, *others)
        if found is None:
            what = f"{self.file.path} has no column that stands for {ours}"
            listed = ", ".join(self.columns[:_MOST])
            near = did_you_mean(ours, self.columns)
            remedy = f"it has {listed}; {near}; say --columns {ours}=NAME"
            raise ConfigError("columns", [Problem(ours, what, remedy)])
        return found

    def look_for(self, ours: str, *others: str) -> str | None:
        """Return the column that stands for something, None if there is none."""
        if ours in self.named:
            return self.named[ours]
        plain = {_plain(name): name for name in reversed(self.columns)}
        return next(
            (plain[_plain(name)] for name in (ours, *others) if _plain(name) in plain), None
        )

    def numbers(self, *but: str) -> list[str]:
        """Return the columns that hold numbers and nothing else, without some of them."""
        return [name for name in self.columns if name not in but and _of_numbers(self.head[name])]

    def flags(self) -> list[str]:
        """Return the columns that hold 1 and 0 and nothing else."""
        zero_one = {"0", "1", "0.0", "1.0"}
        return [name for name in self.numbers() if {*self.head[name].drop_nulls()} <= zero_one]

    def other_names(self, **found: str) -> dict[str, str]:
        """Return what has another name in the file, as options called columns say it."""
        return {ours: theirs for ours, theirs in found.items() if ours != theirs}


def table_file(
    path: str | Path,
    *,
    named: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> TableFile:
    """Look at the head of a table.

    Parameters
    ----------
    path : path
        The file.
    named : mapping of str to str, optional
        What columns stand for: our name to the file's.
    options : mapping, optional
        Options of the reader.

    Raises
    ------
    ConfigError
        If there is no such file, no reader for it, or no column that is named.
    DataError
        If it cannot be read.
    """
    source = {"path": Path(path), **(options or {})}
    file = _file(source)
    if file.format.name == "csv" and "separator" not in source:
        separator = separator_of(file.path)
        if separator != ",":
            source = {**source, "separator": separator}
            file = _file(source)
    plan = file.format.scan(file.path, file.options)
    held = [name for name in plan.collect_schema() if name != "line"]
    head = plan.select(pl.col(held).cast(pl.String, strict=False)).head(_LOOKED_AT).collect()
    absent = [
        Problem(f"--columns {ours}", f"{path} has no column {theirs!r}", did_you_mean(theirs, held))
        for ours, theirs in (named or {}).items()
        if theirs not in held
    ]
    if absent:
        raise ConfigError("columns", absent)
    return TableFile(source, file, head, named or {})


def _file(source: Mapping[str, Any]) -> SourceFile:
    written = {**source, "path": source["path"].absolute().as_posix()}
    try:
        return find(TableSource.model_validate(written), Places(Path()), where="FILE")[0]
    except ValidationError as error:
        raise ConfigError(
            "table", [Problem("FILE", each["msg"]) for each in error.errors()]
        ) from error


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _of_numbers(values: pl.Series) -> bool:
    filled = values.drop_nulls().str.strip_chars()
    filled = filled.filter(filled != "")
    return filled.len() > 0 and filled.cast(pl.Float64, strict=False).null_count() == 0


def pairs(words: Sequence[str], *, option: str) -> dict[str, str]:
    """Return what ``a=b`` says, word by word.

    Raises
    ------
    ConfigError
        With each word that is none.

    Examples
    --------
    >>> pairs(["f=freq"], option="--columns")
    {'f': 'freq'}
    """
    split = [word.partition("=") for word in words]
    wrong = [Problem(option, f"{''.join(each)!r} names no column", "e.g. f=freq")
             for each in split if not all(each)]  # fmt: skip
    if wrong:
        raise ConfigError("columns", wrong)
    return {ours.strip(): theirs.strip() for ours, _, theirs in split}
