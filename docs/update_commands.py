"""Write docs/commands.md, the reference of the command line, from the commands themselves.

python docs/update_commands.py
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import typer

from pipeline.cli.app import COMMANDS, app_for, command, groups

CHAPTER = Path(__file__).with_name("commands.md")
HEAD = """# Commands

Every command of `lexassay` with its arguments, options and examples, in the groups that
`lexassay --help` has. The page is made from the program by docs/update_commands.py;
`lexassay COMMAND --help` says the same of the version that is installed.
[The command in a shell](shell.md) has more on tables, completion and JSON,
[choosing a method](choosing.md) on what to use when.

## For every command

* Options stand anywhere after the name of the command, as `--name value` or `--name=value`.
* An option that can be given again takes one value each time and is called *repeatable*
  below: `--from a.conllu --from b.tsv`. Text with commas is one value: `--n 100,500`.
* `--help` is an option of every command, and `--version`, `--install-completion` and
  `--show-completion` of `lexassay` itself.
* `--debug`, anywhere, shows the traceback of an error.
* Tables and what came out are printed on standard output; progress and errors on standard error.

| exit code | when |
|---|---|
| 0 | done |
| 1 | failed: in the data, in a stage, or in writing the results |
| 2 | wrong usage or configuration |
| 3 | a stage waits for what a person has yet to type; of `run`, sometimes of `annotate` |
| 130 | interrupted by Ctrl-C or SIGTERM |

The examples work one after the other in a folder that has a text, `novel.txt`, and the files that
`lexassay new` writes for clusters and lexicons. The test suite runs them so.
"""
_KINDS = {str: "text", int: "whole number", float: "number", Path: "path"}
_COMMAND = "lexassay "
_QUOTE = '"'
_CHOICES = re.compile(r"[\w.]+(?: \| [\w.]+)+")


def chapter() -> str:
    """Return the reference of all commands."""
    parts = [HEAD]
    for title, names in groups().items():
        parts.append(f"\n## {title}\n")
        parts += ["\n" + "\n\n".join(_section(name)) + "\n" for name in names]
    return "".join(parts)


def _section(name: str) -> Iterator[str]:
    """Yield heading, sentences, usage, tables and examples of a command."""
    group: Any = typer.main.get_command(app_for([name]))
    context = typer.Context(group)
    found = group.get_command(context, name)
    parameters = inspect.signature(command(name), eval_str=True).parameters
    yield f"### lexassay {name}"
    sentences, *more = inspect.cleandoc(found.help).split("\n\n")
    yield _paragraph(sentences)
    yield f"    {_usage(name, found)}"
    yield from (_paragraph(text) for text in more if not text.startswith(_COMMAND))
    if lines := [" ".join(text.split()) for text in more if text.startswith(_COMMAND)]:
        yield "```bash\n" + "\n".join(lines) + "\n```"
    for kind, column in (("argument", "argument"), ("option", "option")):
        rows = [_row(each, parameters[each.name].annotation) for each in found.params
                if each.param_type_name == kind and each.name in parameters]  # fmt: skip
        if rows:
            head = f"| {column} | takes | default | what it is |\n|---|---|---|---|"
            yield "\n".join([head, *(f"| {' | '.join(row)} |" for row in rows)])
    if (examples := COMMANDS[name].examples) != (_usage(name, found),):
        yield "```bash\n" + "\n".join(examples) + "\n```"


def _paragraph(text: str) -> str:
    return textwrap.fill(_plain(" ".join(text.split())), 100, break_on_hyphens=False)


def _usage(name: str, found: Any) -> str:
    """Return the arguments in their order, those in brackets that can be left out."""
    words = []
    for each in found.params:
        if each.param_type_name == "argument":
            word = _called(each) + ("..." if each.nargs == -1 else "")
            words.append(word if each.required else f"[{word}]")
    options = ["[OPTIONS]"] if any(p.param_type_name == "option" for p in found.params) else []
    return " ".join(["lexassay", name, *words, *options])


def _called(argument: Any) -> str:
    """Return what an argument is called, without the brackets of one that can be left out."""
    word = str(argument.metavar or argument.name.upper())
    return word if argument.required or word[:1] != "[" else word[1:-1]


def _row(parameter: Any, annotation: Any) -> tuple[str, str, str, str]:
    """Return name, kind, default and sentence of an argument or option."""
    kind, information = get_args(annotation)[0], get_args(annotation)[1]
    text = (parameter.help or "").strip()
    again = "s" if parameter.param_type_name == "argument" else ", repeatable"
    takes = _takes(kind, information, again=again)
    if _CHOICES.fullmatch(text):
        takes, text = "one of", ", ".join(f"`{word}`" for word in text.split(" | "))
    else:
        text = _plain(text)
    return _name(parameter), takes, _default(parameter), text


def _takes(kind: Any, information: Any, *, again: str) -> str:
    """Return what an argument or option takes, in words; nothing for a switch."""
    if get_origin(kind) is UnionType:
        (kind,) = (each for each in get_args(kind) if each is not type(None))
    several = get_origin(kind) is list
    words = _KINDS.get(get_args(kind)[0] if several else kind, "")
    least = "" if information.min is None else f" from {information.min}"
    return f"{words}{least}{again if several else ''}"


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_called(parameter)}`"
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
        f"`{part.strip(_QUOTE)}`" if number % 2 else re.sub(r"([*|<])", r"\\\1", part)
        for number, part in enumerate(parts)
    )


if __name__ == "__main__":
    CHAPTER.write_text(chapter(), encoding="utf-8")
