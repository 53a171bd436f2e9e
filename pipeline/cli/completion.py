"""What the shell offers when somebody presses the tabulator: told without importing any command.

The scripts that ask are Typer's, which ``--install-completion`` and ``--show-completion`` give out;
the variables below are those that they set. To import a command takes a second, so its options
stand in `pipeline.cli.completion`.
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

# --- Words that the shell completes; docs/update_completion.py makes the file that they stand in.

FILE = files("pipeline.cli") / "completion_words.json"
_WORDS: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))

OPTIONS: Mapping[str, Mapping[str, tuple[bool, str]]] = _WORDS["options"]
"""Of each command its options: whether a value follows, and what it is."""
TABLES: Mapping[str, Sequence[str]] = _WORDS["tables"]
"""The tables of each kind of stage, the main one first."""
MEASURES: Sequence[str] = _WORDS["measures"]
FAMILIES: Sequence[str] = _WORDS["families"]


# --- What can stand in a place of a command line: experiments, their stages and tables, measures.

HELP = {"--help": "Show this message and exit."}
_GENERAL = {
    "--version": "Say the version and stop.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": "Show completion for the current shell.",
}


class Offer(NamedTuple):
    """A word that fits, and what it is."""

    word: str
    text: str


def general() -> Sequence[tuple[str, str]]:
    """Return the options before a command."""
    return list((_GENERAL | HELP).items())


def fitting_words(kind: str, begun: str, given: Sequence[str]) -> Iterator[Offer]:
    """Yield what begins so; nothing where any file may stand.

    Parameters
    ----------
    kind : str
        config, stage, table, run, family, measure or file.
    begun : str
        What has been typed of the word; of several with commas, the last is completed.
    given : sequence of str
        The arguments before it, the experiment first.
    """
    if kind not in _KINDS:
        return
    several = begun.rpartition(",")
    before, last = ("".join(several[:2]), several[2]) if kind == "measure" else ("", begun)
    for offer in _KINDS[kind](last, given):
        if offer.word.startswith(last) and offer.word.split() == [offer.word]:
            yield Offer(before + offer.word, offer.text)


def _configs(begun: str, _given: Sequence[str]) -> Iterator[Offer]:
    above = begun.rpartition("/")[0] + "/" if "/" in begun else ""
    folder = Path(above).expanduser() if above else Path()
    if folder.is_dir():
        yield from (Offer(above + each.name, "") for each in sorted(folder.glob("*.toml")))


def _stages(_begun: str, given: Sequence[str]) -> Iterator[Offer]:
    yield from (Offer(name, use) for name, use in _uses(given).items())


def _tables(_begun: str, given: Sequence[str]) -> Iterator[Offer]:
    for stage, use in _uses(given).items():
        yield Offer(stage, use)
        yield from (Offer(f"{stage}.{table}", use) for table in TABLES.get(use, ())[1:])


def _uses(given: Sequence[str]) -> dict[str, str]:
    """Return the stages of the experiment that is named, each with its kind."""
    try:
        content: dict[str, Any] = tomllib.loads(Path(given[0]).read_text(encoding="utf-8"))
    except (IndexError, OSError, ValueError, RecursionError):
        return {}
    stages = content.get("stages")
    found = stages.items() if isinstance(stages, dict) else ()
    return {name: str(each.get("use", "")) for name, each in found if isinstance(each, dict)}


def _runs(_begun: str, _given: Sequence[str]) -> Iterator[Offer]:
    for folder in sorted(Path("runs").glob("*/history")):
        yield Offer(f"{folder.parent.name}:latest", "")
        yield Offer(f"{folder.parent.name}:latest~1", "")


def _listed(names: Sequence[str]) -> Callable[[str, Sequence[str]], Iterator[Offer]]:
    return lambda _begun, _given: (Offer(name, "") for name in names)


_KINDS: Mapping[str, Callable[[str, Sequence[str]], Iterator[Offer]]] = {
    "config": _configs,
    "stage": _stages,
    "table": _tables,
    "run": _runs,
    "family": _listed(FAMILIES),
    "measure": _listed(MEASURES),
}


VARIABLE = "_LEXASSAY_COMPLETE"
ANSWERS = "complete_"
"""How its value begins; the name of the shell follows."""
ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("run", "plan", "status", "sheets", "gc", "size"), ("config",)),
    "why": ("config", "stage"),
    "show": ("config", "table"),
    "diff": ("run", "run"),
    "new": ("family", "file"),
}
"""What each argument of a command is; a file where nothing is said."""
VALUES = {
    **dict.fromkeys(("--force", "--pilot"), "stage"),
    **dict.fromkeys(("--measures", "--measure"), "measure"),
}
"""What an option takes; one of its choices, or a file, where nothing is said."""


@dataclass(frozen=True)
class Asked:
    """A line as far as it is typed: the words before the one at the cursor, and that one."""

    words: list[str]
    begun: str


def answer(variables: Mapping[str, str], commands: Mapping[str, str]) -> int:
    """Print what fits, for the shell that asks, and return the exit code.

    Parameters
    ----------
    variables : mapping of str to str
        The environment.
    commands : mapping of str to str
        Each command with what it does.
    """
    shell = variables[VARIABLE].removeprefix(ANSWERS)
    found = list(offers(asked(variables, shell), commands))
    if shell == "fish" and variables.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return 0 if found else 1
    print(_told(found, shell))
    return 0


def asked(variables: Mapping[str, str], shell: str) -> Asked:
    r"""Return what has been typed.

    Examples
    --------
    >>> asked({"COMP_WORDS": "lexassay\nru", "COMP_CWORD": "1"}, "bash")
    Asked(words=[], begun='ru')
    >>> asked({"_TYPER_COMPLETE_ARGS": "lexassay run "}, "zsh")
    Asked(words=['run'], begun='')
    """
    if shell == "bash":
        words, place = _split(variables["COMP_WORDS"]), int(variables["COMP_CWORD"])
        return _joined(words[1:place], words[place] if place < len(words) else "")
    line = variables.get("_TYPER_COMPLETE_ARGS", "")
    words = _split(line)[1:]
    if words and not line.endswith(" "):
        return Asked(words[:-1], words[-1])
    return Asked(words, "")


def _split(line: str) -> list[str]:
    """Return the words of a line whose last quotation mark may still be open."""
    for closing in ("", "'", '"'):
        try:
            return shlex.split(line + closing)
        except ValueError:
            continue
    return line.split()


def _joined(words: list[str], begun: str) -> Asked:
    """Return an option's value as a word of its own: bash takes = for one, too."""
    if begun == "=":
        begun = ""
    elif words and words[-1] == "=":
        words = words[:-1]
    return Asked(words, begun)


def offers(line: Asked, commands: Mapping[str, str]) -> Iterator[Offer]:
    """Yield what fits at the cursor; nothing where a file is to be named."""
    if not line.words:
        found = general() if line.begun.startswith("-") else commands.items()
        yield from (Offer(name, text) for name, text in found if name.startswith(line.begun))
        return
    command, *typed = line.words
    options = OPTIONS.get(command, {})
    option, equals, value = line.begun.partition("=")
    if option in options and equals:  # --format=cs
        fitting = _values(command, option, value, _given(command, typed))
        yield from (Offer(f"{option}={each.word}", each.text) for each in fitting)
    elif typed and options.get(typed[-1], (False, ""))[0]:
        yield from _values(command, typed[-1], line.begun, _given(command, typed))
    elif line.begun.startswith("-"):
        named = {**{name: text for name, (_, text) in options.items()}, **HELP}
        yield from (Offer(name, text) for name, text in named.items() if name.startswith(option))
    else:
        given = _given(command, typed)
        kinds = ARGUMENTS.get(command, ())
        kind = kinds[len(given)] if len(given) < len(kinds) else "file"
        yield from fitting_words(kind, line.begun, given)


def _given(command: str, typed: Sequence[str]) -> list[str]:
    """Return the arguments among the words after a command."""
    options, given, value = OPTIONS.get(command, {}), [], False
    for word in typed:
        if not value and not word.startswith("-"):
            given.append(word)
        value = not value and options.get(word, (False, ""))[0]
    return given


def _values(command: str, option: str, begun: str, given: Sequence[str]) -> Iterator[Offer]:
    """Yield values of an option; the last where it takes several."""
    choices = OPTIONS[command][option][1].split(" | ")
    if len(choices) > 1:
        yield from (Offer(each, "") for each in choices if each.startswith(begun))
        return
    yield from fitting_words(VALUES.get(option, "file"), begun, given)


def _told(found: Sequence[Offer], shell: str) -> str:
    """Return what the script of a shell reads."""
    if shell == "zsh":
        lines = "\n".join(_of_zsh(each) for each in found)
        return f"_arguments '*: :(({lines}))'" if found else "_files"
    if shell == "fish":
        return "\n".join(f"{each.word}\t{each.text}".rstrip() for each in found)
    return "\n".join(each.word for each in found)


def _of_zsh(offer: Offer) -> str:
    word, text = (_quoted(each) for each in (offer.word, offer.text))
    return f'"{word}":"{text}"' if text else f'"{word}"'


def _quoted(text: str) -> str:
    for sign, written in (('"', '""'), ("'", "''"), ("$", "\\$"), ("`", "\\`"), (":", r"\\:")):
        text = text.replace(sign, written)
    return text
