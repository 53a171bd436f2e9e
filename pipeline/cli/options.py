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
from pipeline.kernels.cells import Decimal
from pipeline.runner.config import parse_setting

Config: TypeAlias = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="Experiment (TOML file).")
]
Runs: TypeAlias = Annotated[Path, typer.Option("--runs", help="Folder of all results.")]
Data: TypeAlias = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of the public data that experiments name [LEXASSAY_DATA]."),
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override an option: stages.sample.rate=0.2.",
    ),
]
Rows: TypeAlias = Annotated[int, typer.Option("--rows", min=1, help="Number of rows to print.")]
Output: TypeAlias = Annotated[
    Path | None, typer.Option("--output", help="Output file: csv, tsv, json, parquet, xlsx.")
]
Columns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns", metavar="OURS=THEIRS,...", help="Column names in the files: OURS=THEIRS."
    ),
]
Header: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="First line of tables: column names or data (column_1, column_2 ...).",
        show_default=False,
    ),
]
DecimalMark: TypeAlias = Annotated[
    str | None,
    typer.Option("--decimal", help="Decimal mark in tables: . or , [detected]."),
]
Missing: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--missing", help="Missing values in columns of numbers: NA."),
]
Overwrite: TypeAlias = Annotated[bool, typer.Option("--overwrite", help="Overwrite the file.")]
Raw: TypeAlias = Annotated[
    bool,
    typer.Option("--raw", help="Do not escape text that looks like a formula."),
]
Quiet: TypeAlias = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print only errors, and stages waiting for people."),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DEFAULT_RUNS = Path("runs")


def settings_of(texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the overrides by path."""
    return dict(parse_setting(text) for text in texts or ())


def decimal_of(text: str | None) -> Decimal | None:
    """Return the decimal mark.

    Raises
    ------
    ConfigError
        If it is neither . nor a comma.
    """
    marks: tuple[Decimal, ...] = (".", ",")
    if text is None or text in marks:
        return next((mark for mark in marks if mark == text), None)
    problem = Problem("--decimal", f"{text!r} is not a decimal mark", "give . or ,")
    raise ConfigError("--decimal", [problem])


# Messages

_VALUE = r"true|false|\.\.\.|\[[^\]]*\]|\"[^\"]*\""
_OWN = {
    "attributes": "attributes", "columns": "attributes", "language": "language",
    "sentences": "sentences", "abbreviations": "abbreviations", "tokenizer": "tokenizer",
    "normalise": "normalise", "format": "read-as",
}  # fmt: skip
"""Reader options that have a command option of their own."""
_SPOKEN = {
    'fold both: fold = true, of lexicons case = "lower"': "fold both: --fold",
    "the line is data, add columns = [...]": "the line is data, add --no-header",
    "set forms_separator to": "add --forms-separator",
    "add format = ...": "name it: --read-as FORMAT",
    "format = ...": "--read-as FORMAT",
    "the option decimal": "--decimal",
    "lower min_frequency (": "lower --min-f (",
    "set language of the corpus": "set --language",
    "set sentences of the corpus": "set --sentences",
    "set language or sentences of the corpus": "set --language or --sentences",
}


def in_options(text: str) -> str:
    """Return a message with reader options rewritten as options of the command.

    Examples
    --------
    >>> in_options("Mend them, or set lenient = true.")
    'Mend them, or set --reader lenient=true.'
    >>> in_options("Name the column: sentence = ...")
    'Name the column: --reader sentence=...'
    >>> in_options('Name a tokenizer: tokenizer = "icu".')
    'Name a tokenizer: --tokenizer icu.'
    """
    readers = [each for each in map(FORMATS.get, FORMATS) if each.kind != "sheet"]
    names = {"format", *(name for each in readers for name in each.options.model_fields)}
    pattern = rf"\b({'|'.join(sorted(names))}) = ({_VALUE})"
    for theirs, ours in _SPOKEN.items():
        text = text.replace(theirs, ours)
    return re.sub(pattern, _as_option, text)


def _as_option(match: re.Match[str]) -> str:
    name, value = match[1], match[2]
    bare = value.strip('"')
    if name in _OWN and not value.startswith("["):
        return f"--{_OWN[name]} {bare}"
    plain = " " not in value and '"' not in value
    return f"--reader {name}={value}" if plain else f"--reader '{name}={value}'"


def split_names(text: str | None) -> list[str]:
    """Return the names in an option's value, separated by commas.

    Examples
    --------
    >>> split_names("f, f1,"), split_names(None)
    (['f', 'f1'], [])
    """
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object, in UTF-8."""
    print(json.dumps(content, indent=1, ensure_ascii=False))
