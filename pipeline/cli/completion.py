"""What the shell offers when somebody presses the tabulator: told without importing any command.

The scripts that ask are Typer's, which ``--install-completion`` and ``--show-completion`` give out;
the variables below are those that they set. To import a command takes a second, so its options
stand in `pipeline.cli.completion_words`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.cli import candidates
from pipeline.cli.candidates import Offer
from pipeline.cli.completion_words import OPTIONS

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
        found = candidates.general() if line.begun.startswith("-") else commands.items()
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
        named = {**{name: text for name, (_, text) in options.items()}, **candidates.HELP}
        yield from (Offer(name, text) for name, text in named.items() if name.startswith(option))
    else:
        given = _given(command, typed)
        kinds = ARGUMENTS.get(command, ())
        kind = kinds[len(given)] if len(given) < len(kinds) else "file"
        yield from candidates.fitting(kind, line.begun, given)


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
    yield from candidates.fitting(VALUES.get(option, "file"), begun, given)


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
