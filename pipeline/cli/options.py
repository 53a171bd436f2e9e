"""Options that several commands share."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from pipeline.errors import ConfigError, Problem
from pipeline.formats.base import FORMATS
from pipeline.kernels.number_format import Decimal
from pipeline.runner.config import parse_setting

Config: TypeAlias = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="The experiment, a TOML file.")
]
Runs: TypeAlias = Annotated[Path, typer.Option("--runs", help="Folder of all results.")]
Data: TypeAlias = Annotated[
    Path | None,
    typer.Option("--data", help="Data root of public data; else the variable LEXASSAY_DATA."),
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override an option, e.g. stages.sample.rate=0.2. Can be given again.",
    ),
]
Rows: TypeAlias = Annotated[int, typer.Option("--rows", min=1, help="Rows shown in a table.")]
Output: TypeAlias = Annotated[
    Path | None, typer.Option("--output", help="Write to this file: csv, tsv, json, parquet, xlsx.")
]
Columns: TypeAlias = Annotated[
    str | None,
    typer.Option("--columns", metavar="OURS=THEIRS,...", help="What the files call our columns."),
]
Header: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a table names its columns; without: column_1, column_2 ...",
        show_default=False,
    ),
]
DecimalMark: TypeAlias = Annotated[
    str | None,
    typer.Option("--decimal", help="What stands before decimals in tables, . or , [columns tell]."),
]
Missing: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--missing", help="What stands for no number in tables, such as NA."),
]
Overwrite: TypeAlias = Annotated[bool, typer.Option("--overwrite", help="Replace the file.")]
Raw: TypeAlias = Annotated[
    bool,
    typer.Option("--raw", help="Write texts that look like formulas without a guard."),
]
Quiet: TypeAlias = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Say nothing but errors, and what waits for a person."),
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print it as JSON for programs, and nothing else.")
]
DEFAULT_RUNS = Path("runs")


def settings_of(given: Sequence[str] | None) -> dict[str, Any]:
    """Return the overrides by their paths."""
    return dict(parse_setting(text) for text in given or ())


def decimal_of(given: str | None) -> Decimal | None:
    """Return what stands before decimals.

    Raises
    ------
    ConfigError
        If it is neither a point nor a comma.
    """
    marks: tuple[Decimal, ...] = (".", ",")
    if given is None or given in marks:
        return next((mark for mark in marks if mark == given), None)
    problem = Problem("--decimal", f"{given!r} stands before no decimals", "say . or ,")
    raise ConfigError("--decimal", [problem])


# Messages

_VALUE = r"true|false|\[[^\]]*\]|\"[^\"]*\""
_OWN = {
    "attributes": "attributes", "columns": "attributes", "language": "language",
    "sentences": "sentences", "abbreviations": "abbreviations", "tokenizer": "tokenizer",
    "normalise": "normalise", "format": "read-as",
}  # fmt: skip
"""Options of readers that have an option of the commands to themselves."""
_SPOKEN = {
    'fold both: fold = true, of lexicons case = "lower"': "fold both: --fold",
    "format = ...": "--read-as FORMAT",
    "the option decimal": "--decimal",
    "the option language of the corpus says": "--language says",
    "the option sentences of the corpus says": "--sentences says",
    "the option language and sentences of the corpus says": "--language and --sentences say",
}


def in_options(text: str) -> str:
    """Return a message in which options of readers are written as options of the command.

    Examples
    --------
    >>> in_options("Mend them, or set lenient = true.")
    'Mend them, or set --reader lenient=true.'
    >>> in_options('Name a tokenizer: tokenizer = "icu".')
    'Name a tokenizer: --tokenizer icu.'
    """
    readers = [each for each in map(FORMATS.get, FORMATS) if each.kind != "sheet"]
    names = {"format", *(name for each in readers for name in each.options.model_fields)}
    pattern = rf"\b({'|'.join(sorted(names))}) = ({_VALUE})"
    for theirs, ours in _SPOKEN.items():
        text = text.replace(theirs, ours)
    return re.sub(pattern, _as_option, text)


def _as_option(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    bare = value.strip('"')
    if name in _OWN and not value.startswith("["):
        return f"--{_OWN[name]} {bare}"
    plain = " " not in value and '"' not in value
    return f"--reader {name}={value}" if plain else f"--reader '{name}={value}'"


def listed(given: str | None) -> list[str]:
    """Return the names of an option that takes several, with commas.

    Examples
    --------
    >>> listed("f, f1,"), listed(None)
    (['f', 'f1'], [])
    """
    return [name.strip() for name in (given or "").split(",") if name.strip()]


def print_json(content: Mapping[str, Any]) -> None:
    """Print what programs read: one object, in UTF-8."""
    print(json.dumps(content, indent=1, ensure_ascii=False))
