"""Write docs/commands.md, the reference of the command line, from the commands themselves.

python docs/update_commands.py
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import typer

from pipeline.cli.app import COMMANDS, app_for, command, groups

CHAPTER = Path(__file__).with_name("commands.md")
HEAD = """# Commands

The commands of `lexassay`, grouped as in `lexassay --help`. [The command in a shell](shell.md)
explains tables, completion and JSON.

## For every command

* Options may follow the name of the command anywhere, as `--name value` or `--name=value`.
* Repeatable options take one value, a text by default, each time: `--from a.conllu --from b.tsv`.
  Lists of names may also have commas: `--measure t_score,mi`.
* Every command has `--help`, and `--debug` for the traceback of an error; `lexassay` itself has
  `--version`, `--install-completion` and `--show-completion`.
* Results go to standard output, progress and errors to standard error.
* Defaults are in brackets.

Exit codes: 0 done; 1 failed (in the data, in a stage, or in writing the results); 2 wrong usage or
configuration; 3 waiting for people (`run`, sometimes `annotate`); 130 interrupted by Ctrl-C,
143 by SIGTERM.

The examples run in this order in a folder with a text, `novel.txt`, and the files that
`lexassay new` writes for clusters and lexicons.

## Shared arguments and options

"""
_SHARED = 3
"""Commands that have an argument or option before the head lists it."""
_MANY = 6
"""Commands that have another option of such a name before the head lists it, too."""
_KINDS = {str: "text", int: "whole number", float: "number", Path: "path"}
_COMMAND = "lexassay "
_QUOTE = '"'
_CHOICES = re.compile(r"[\w.-]+(?: \| [\w.-]+)+")
Row = tuple[str, str, str]


def chapter() -> str:
    """Return the reference of all commands."""
    definitions = {name: _command(name) for name in COMMANDS}
    rows = {name: _rows(name, each) for name, each in definitions.items()}
    counts = Counter(row for each in rows.values() for row in dict.fromkeys(each))
    shared: dict[str, Row] = {}
    for row, count in counts.most_common():
        if count >= _SHARED:
            shared.setdefault(row[0], row)
    common = {*shared.values()}
    lines = list(map(_line, shared.values()))
    for row, count in counts.items():
        if count >= _MANY and row not in common:
            common.add(row)
            users = ", ".join(f"`{name}`" for name, each in rows.items() if row in each)
            lines.append(f"{_line(row).removesuffix('.')}: {users}.")
    parts = [HEAD, "\n".join(lines), "\n"]
    for title, names in groups().items():
        parts.append(f"\n## {title}\n")
        for name in names:
            section = _section(name, definitions[name], rows[name], common)
            parts.append("\n" + "\n\n".join(section) + "\n")
    return "".join(parts)


def _command(name: str) -> Any:
    group: Any = typer.main.get_command(app_for([name]))
    return group.get_command(typer.Context(group), name)


def _rows(name: str, definition: Any) -> list[Row]:
    """Return the arguments and options of a command."""
    parameters = inspect.signature(command(name), eval_str=True).parameters
    every = [each for each in definition.params if each.name in parameters]
    every.sort(key=lambda each: each.param_type_name)
    return [_row(each, parameters[each.name].annotation) for each in every]


def _line(row: Row) -> str:
    """Return an argument or option as an item of a list."""
    name, takes, text = row
    return f"* {name} ({takes}): {text}" if takes else f"* {name}: {text}"


def _section(name: str, definition: Any, rows: list[Row], shared: set[Row]) -> Iterator[str]:
    """Yield heading, sentences, usage, options and examples of a command."""
    yield f"### lexassay {name}"
    sentences, *more = inspect.cleandoc(definition.help).split("\n\n")
    yield _paragraph(sentences)
    yield f"    {_usage(name, definition)}"
    yield from (_paragraph(text) for text in more if not text.startswith(_COMMAND))
    if lines := [" ".join(text.split()) for text in more if text.startswith(_COMMAND)]:
        yield "```bash\n" + "\n".join(lines) + "\n```"
    if own := [_line(row) for row in rows if row not in shared]:
        yield "\n".join(own)
    if common := [row[0].partition(" ")[0].strip("`,") for row in rows if row in shared]:
        options = ", ".join(f"`{each}`" for each in common if each.startswith("-"))
        yield from [f"Shared: {options}."] if options else []
    usages = [_usage(name, definition), *lines]
    if examples := [each for each in COMMANDS[name].examples if not _in_usage(each, usages)]:
        yield "```bash\n" + "\n".join(examples) + "\n```"


def _in_usage(example: str, lines: list[str]) -> bool:
    """Return whether an example has no options besides its experiment, or the usage has it, too."""
    plain = "experiment.toml" in example and "--" not in example
    return plain or any(each.startswith(example) for each in lines)


def _paragraph(text: str) -> str:
    return textwrap.fill(_plain(" ".join(text.split())), 100, break_on_hyphens=False)


def _usage(name: str, definition: Any) -> str:
    """Return the arguments in their order, those in brackets that can be omitted."""
    words = []
    for each in definition.params:
        if each.param_type_name == "argument":
            word = _argument_name(each) + ("..." if each.nargs == -1 else "")
            words.append(word if each.required else f"[{word}]")
    options = ["[OPTIONS]"] if any(p.param_type_name == "option" for p in definition.params) else []
    return " ".join(["lexassay", name, *words, *options])


def _argument_name(argument: Any) -> str:
    """Return what an argument is called, without the brackets of one that can be omitted."""
    word = str(argument.metavar or argument.name.upper())
    return word if argument.required or word[:1] != "[" else word[1:-1]


def _row(parameter: Any, annotation: Any) -> Row:
    """Return name, kind and sentence of an argument or option, with its default."""
    kind, information = get_args(annotation)[0], get_args(annotation)[1]
    text = (parameter.help or "").strip()
    again = "s" if parameter.param_type_name == "argument" else ", repeatable"
    takes = _takes(kind, information, again=again)
    if _CHOICES.fullmatch(text):
        takes, text = "", "one of " + ", ".join(f"`{word}`" for word in text.split(" | "))
    else:
        text = _plain(text)
    default = _default(parameter)
    if default and default != "required" and "[" not in text:
        text = f"{text.removesuffix('.')} [{default}]{'.' * text.endswith('.')}"
    return _name(parameter), takes, text


def _takes(kind: Any, information: Any, *, again: str) -> str:
    """Return what an argument or option takes, in words; nothing for a switch."""
    if get_origin(kind) is UnionType:
        (kind,) = (each for each in get_args(kind) if each is not type(None))
    several = get_origin(kind) is list
    words = _KINDS.get(get_args(kind)[0] if several else kind, "")
    least = "" if information.min is None else f" from {information.min}"
    return f"{words}{least}{again if several else ''}".removeprefix("text, ")


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_argument_name(parameter)}`"
    metavar = f" {parameter.metavar}" if parameter.metavar else ""
    names: list[str] = [*parameter.opts, *parameter.secondary_opts]
    return ", ".join([f"`{names[0]}{metavar}`", *(f"`{name}`" for name in names[1:])])


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    if parameter.param_type_name == "option" and parameter.is_flag:
        on = value is True and bool(parameter.secondary_opts)
        return f"`{parameter.opts[0]}`" if on else ""
    return "" if value is None or value == "" else f"`{value}`"


def _plain(text: str) -> str:
    """Return a sentence of the help as Markdown: options and quotations are code."""
    parts = re.split(r'("[^"]+"|(?<![\w-])--[a-z-]+)', text)
    return "".join(
        f"`{part.strip(_QUOTE)}`" if number % 2 else re.sub(r"([*<])", r"\\\1", part)
        for number, part in enumerate(parts)
    )


if __name__ == "__main__":
    CHAPTER.write_text(chapter(), encoding="utf-8")
