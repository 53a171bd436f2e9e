"""Completion of the command line in bash, zsh and fish, without importing any command.

The scripts of ``--install-completion`` and ``--show-completion`` call it; they set the
variables below. Importing a command takes a second, so its options are read from a file.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.allocator import LARGEST_EXPERIMENT
from pipeline.cli.app import COMMANDS

FILE = files("pipeline.cli") / "completion_words.json"
"""Options, tables and measures, written by docs/update_completion.py."""
_WORDS: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))

OPTIONS: Mapping[str, Mapping[str, tuple[bool, str]]] = _WORDS["options"]
"""Options of each command: whether a value follows, and of which kind."""
TABLES: Mapping[str, Sequence[str]] = _WORDS["tables"]
"""The tables of each kind of stage, the main one first."""
MEASURES: Sequence[str] = _WORDS["measures"]
FAMILIES: Sequence[str] = _WORDS["families"]
HELP = {"--help": "Show this message and exit."}
_GENERAL = {
    "--version": "Print the version.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": "Show completion for the current shell.",
    **HELP,
}
"""The options before a command."""

VARIABLE = "_LEXASSAY_COMPLETE"
ANSWERS = "complete_"
"""Prefix of its value; the name of the shell follows."""
VALUES = {
    **dict.fromkeys(("--force", "--pilot"), "stage"),
    **dict.fromkeys(("--measures", "--measure"), "measure"),
}
"""Kinds of the values of options; all others take one of their choices, or a file."""


# Candidates for each kind of word


class Offer(NamedTuple):
    """A candidate, and its description."""

    word: str
    text: str


def fitting_words(kind: str, prefix: str, arguments: Sequence[str]) -> Iterator[Offer]:
    """Yield the words of a kind with this prefix; none where a file is expected.

    Parameters
    ----------
    kind : str
        config, stage, table, run, family, measure or file.
    prefix : str
        The prefix; the last of several with commas is completed.
    arguments : sequence of str
        The arguments before it, the experiment first.
    """
    if kind not in _KINDS:
        return
    several = prefix.rpartition(",")
    before, last = ("".join(several[:2]), several[2]) if kind == "measure" else ("", prefix)
    for offer in _KINDS[kind](last, arguments):
        if offer.word.startswith(last) and offer.word.split() == [offer.word]:
            yield Offer(before + offer.word, offer.text)


def _experiments(prefix: str, _words: Sequence[str]) -> Iterator[Offer]:
    above = prefix.rpartition("/")[0] + "/" if "/" in prefix else ""
    folder = Path(above).expanduser() if above else Path()
    if folder.is_dir():
        yield from (Offer(above + each.name, "") for each in sorted(folder.glob("*.toml")))


def _stages(_prefix: str, arguments: Sequence[str]) -> Iterator[Offer]:
    yield from (Offer(name, use) for name, use in _uses(arguments).items())


def _tables(_prefix: str, arguments: Sequence[str]) -> Iterator[Offer]:
    for stage, use in _uses(arguments).items():
        yield Offer(stage, use)
        yield from (Offer(f"{stage}.{table}", use) for table in TABLES.get(use, ())[1:])


def _uses(arguments: Sequence[str]) -> dict[str, str]:
    """Return the stages of the named experiment with their kinds."""
    try:
        file = Path(arguments[0])
        usual = file.is_file() and file.stat().st_size <= LARGEST_EXPERIMENT
        content: dict[str, Any] = tomllib.loads(file.read_text("utf-8") if usual else "")
    except (IndexError, OSError, ValueError, RecursionError):
        return {}
    stages = content.get("stages")
    items = stages.items() if isinstance(stages, dict) else ()
    return {name: str(each.get("use", "")) for name, each in items if isinstance(each, dict)}


def _runs(_prefix: str, _words: Sequence[str]) -> Iterator[Offer]:
    for folder in sorted(Path("runs").glob("*/history")):
        yield Offer(f"{folder.parent.name}:latest", "")
        yield Offer(f"{folder.parent.name}:latest~1", "")


def _offer_names(names: Sequence[str]) -> Callable[[str, Sequence[str]], Iterator[Offer]]:
    return lambda _prefix, _words: (Offer(name, "") for name in names)


_KINDS: Mapping[str, Callable[[str, Sequence[str]], Iterator[Offer]]] = {
    "config": _experiments,
    "stage": _stages,
    "table": _tables,
    "run": _runs,
    "family": _offer_names(FAMILIES),
    "measure": _offer_names(MEASURES),
}


# Command lines


@dataclass(frozen=True)
class CommandLine:
    """A command line up to the cursor: the words before, and the word at the cursor."""

    words: list[str]
    prefix: str


def answer(variables: Mapping[str, str]) -> int:
    """Print the candidates for the calling shell, and return the exit code.

    Parameters
    ----------
    variables : mapping of str to str
        The environment.
    """
    shell = variables[VARIABLE].removeprefix(ANSWERS)
    candidates = list(offers(parse_line(variables, shell)))
    if shell == "fish" and variables.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return 0 if candidates else 1
    print(_text(candidates, shell))
    return 0


def parse_line(variables: Mapping[str, str], shell: str) -> CommandLine:
    r"""Return the command line up to the cursor.

    Examples
    --------
    >>> parse_line({"COMP_WORDS": "lexassay\nru", "COMP_CWORD": "1"}, "bash")
    CommandLine(words=[], prefix='ru')
    >>> parse_line({"_TYPER_COMPLETE_ARGS": "lexassay run "}, "zsh")
    CommandLine(words=['run'], prefix='')
    """
    if shell == "bash":
        words, place = _split(variables["COMP_WORDS"]), int(variables["COMP_CWORD"])
        return _split_value(words[1:place], words[place] if place < len(words) else "")
    line = variables.get("_TYPER_COMPLETE_ARGS", "")
    words = _split(line)[1:]
    if words and not line.endswith(" "):
        return CommandLine(words[:-1], words[-1])
    return CommandLine(words, "")


def _split(line: str) -> list[str]:
    """Return the words of a line; its last quotation mark may be unclosed."""
    for closing in ("", "'", '"'):
        try:
            return shlex.split(line + closing)
        except ValueError:
            continue
    return line.split()


def _split_value(words: list[str], prefix: str) -> CommandLine:
    """Return an option's value as a separate word: bash treats = as a word."""
    if prefix == "=":
        prefix = ""
    elif words and words[-1] == "=":
        words = words[:-1]
    return CommandLine(words, prefix)


def offers(line: CommandLine) -> Iterator[Offer]:
    """Yield the candidates at the cursor; none where a file is expected."""
    if not line.words:
        sentences = {name: row.sentence for name, row in COMMANDS.items()}
        texts = _GENERAL if line.prefix.startswith("-") else sentences
        yield from _matching(texts, line.prefix)
        return
    command, *words = line.words
    options = OPTIONS.get(command, {})
    option, equals, value = line.prefix.partition("=")
    if option in options and equals:  # --format=cs
        fitting = _values(command, option, value, _arguments(command, words))
        yield from (Offer(f"{option}={each.word}", each.text) for each in fitting)
    elif words and options.get(words[-1], (False, ""))[0]:
        yield from _values(command, words[-1], line.prefix, _arguments(command, words))
    elif line.prefix.startswith("-"):
        yield from _matching({name: text for name, (_, text) in options.items()} | HELP, option)
    else:
        arguments = _arguments(command, words)
        kinds = COMMANDS[command].arguments if command in COMMANDS else ()
        kind = kinds[len(arguments)] if len(arguments) < len(kinds) else "file"
        yield from fitting_words(kind, line.prefix, arguments)


def _matching(texts: Mapping[str, str], prefix: str) -> Iterator[Offer]:
    yield from (Offer(name, text) for name, text in texts.items() if name.startswith(prefix))


def _arguments(command: str, words: Sequence[str]) -> list[str]:
    """Return the arguments among the words after a command."""
    options, arguments, value = OPTIONS.get(command, {}), [], False
    for word in words:
        if not value and not word.startswith("-"):
            arguments.append(word)
        value = not value and options.get(word, (False, ""))[0]
    return arguments


def _values(command: str, option: str, prefix: str, arguments: Sequence[str]) -> Iterator[Offer]:
    """Yield the values of an option with this prefix."""
    choices = OPTIONS[command][option][1].split(" | ")
    if len(choices) > 1:
        yield from _matching(dict.fromkeys(choices, ""), prefix)
        return
    yield from fitting_words(VALUES.get(option, "file"), prefix, arguments)


def _text(candidates: Sequence[Offer], shell: str) -> str:
    """Return the candidates in the format of a shell's script."""
    if shell == "zsh":
        lines = "\n".join(_zsh_line(each) for each in candidates)
        return f"_arguments '*: :(({lines}))'" if candidates else "_files"
    if shell == "fish":
        return "\n".join(f"{each.word}\t{each.text}".rstrip() for each in candidates)
    return "\n".join(each.word for each in candidates)


def _zsh_line(offer: Offer) -> str:
    word, text = (_quote(each) for each in (offer.word, offer.text))
    return f'"{word}":"{text}"' if text else f'"{word}"'


def _quote(text: str) -> str:
    for sign, escape in (('"', '""'), ("'", "''"), ("$", "\\$"), ("`", "\\`"), (":", r"\\:")):
        text = text.replace(sign, escape)
    return text
