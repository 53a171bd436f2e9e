"""The commands, put together: what each does in a sentence, and the module it is in.

Only the command that is called is imported: to import all of them takes longer than most work.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

import pipeline
from pipeline.cli.groups import Grouped, example_of

COMMANDS = {
    "run": ("running", "Run an experiment: every stage that is not done yet, then the report."),
    "plan": ("states", "Say what would run, and why."),
    "why": (
        "states",
        "Say which part of what a stage rests on has changed, from what to what.",
    ),
    "status": ("states", "Say how far an experiment is."),
    "sheets": (
        "sheets",
        "Say where the sheets of an experiment lie, and how far everybody is with them.",
    ),
    "annotate": (
        "annotate",
        "Serve pages on which people judge, key by key; or write what they decided.",
    ),
    "tasks": ("batch", "List the tasks of a stage, phase by phase, for a queue of jobs."),
    "task": ("batch", "Do one task of a stage, unless it is done."),
    "slurm": (
        "batch",
        "Write a script that submits the tasks of a stage to Slurm; never over a file.",
    ),
    "gc": ("running", "Remove results that the experiment, as it is now, does not use."),
    "show": ("inspecting", "Show a table of an experiment, or list its tables."),
    "diff": ("inspecting", "Say how two runs differ."),
    "collocates": (
        "collocates",
        "List the collocates of a word; relation by relation where the corpus is parsed.",
    ),
    "keywords": (
        "keywords",
        "List the words that are more frequent in a corpus than in another one, with dispersion.",
    ),
    "candidates": (
        "pair_lists",
        "List the pairs of words of a corpus with their frequencies f, f1, f2, N, and scores.",
    ),
    "evaluate": (
        "evaluating",
        "Evaluate ranked pairs by judgements of them: n-best precision, with limits and a graph.",
    ),
    "clusters": (
        "evaluating",
        "Evaluate induced clusters of words against gold classes, by types and by tokens.",
    ),
    "lexicon": (
        "evaluating",
        "Evaluate a lexicon by dictionaries: L*, F*, entropy, and the lemmas that cost most.",
    ),
    "score": (
        "tables",
        "Score any table of candidates: .ds, .csv, .tsv, .xlsx, .parquet; text also as .gz.",
    ),
    "measures": ("measure_list", "List the association measures, family by family."),
    "size": (
        "sizing",
        "Plan a sample: interval widths, power of a comparison, or the sampling rate they need.",
    ),
    "new": (
        "templates",
        "Write a commented experiment to start from; never over a file that is there.",
    ),
    "schema": ("templates", "Print the JSON Schema of an experiment, for editors."),
}
"""Each command with its module and the first sentence of its docstring."""
_NO_UTF8 = "it has a byte that is not UTF-8; write it anew"
_OURS = {
    "Input should be a valid string, unable to parse.*": _NO_UTF8,
    "Input should be a valid integer.*": "it should be a whole number",
    "Input should be a valid number.*": "it should be a number",
    "Input should be a valid boolean.*": "it should be true or false",
    "Input should be": "it should be",
    "Value error, 'utf-8' codec can't encode.*": _NO_UTF8,
}
"""What a library says of a wrong value, and what is said instead."""


def app_for(words: Sequence[str]) -> typer.Typer:
    """Return the application with the command that the words call, the others by name only."""
    app = typer.Typer(
        name="lexassay",
        cls=Grouped,
        help="Evaluate lexical resources from a small annotated sample.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 waits for a person,"
        " 130 interrupted. --debug shows tracebacks.",
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_whole)
    for name, (_, sentence) in COMMANDS.items():
        called = name in words[:1]
        app.command(name, help=None if called else sentence, epilog=example_of(name))(
            _ending(command(name)) if called else _not_called
        )
    return app


def call(words: Sequence[str]) -> int:
    """Run the command that the words call and return its exit code."""
    if os.environ.get("_LEXASSAY_COMPLETE", "").startswith("complete_"):
        return _answer()
    try:
        code = app_for(words)(words, prog_name="lexassay", standalone_mode=False)
    except Exception as error:
        told: Any = error  # the class of errors of usage has no name in all versions of Typer
        if not hasattr(error, "show") or not hasattr(error, "exit_code"):
            raise
        if isinstance(error, typer.BadParameter):
            told.message = _plainly(error)
        told.show()
        return int(told.exit_code)
    return code if isinstance(code, int) else 0


def _answer() -> int:
    """Tell a shell what can stand where somebody pressed the tabulator."""
    from pipeline.cli.completion import answer

    return answer(os.environ, {name: sentence for name, (_, sentence) in COMMANDS.items()})


def _plainly(error: typer.BadParameter) -> str:
    """Say what a word of the command should be, without the words of a library."""
    message = error.message
    for theirs, ours in _OURS.items():
        message = re.sub(theirs, ours, message)
    details = getattr(error.__cause__, "errors", None)
    found = f" (found {details()[0]['input']!r})" if details is not None else ""
    return message + found


def command(name: str) -> Callable[..., int]:
    """Return the function of a command, which has its name."""
    function: Callable[..., int] = getattr(import_module(f"pipeline.cli.{COMMANDS[name][0]}"), name)
    return function


def _say_version(asked: bool) -> None:
    if asked:
        print("lexassay", pipeline.__version__)
        raise typer.Exit


def _whole(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Say the version and stop."
        ),
    ] = False,
) -> None:
    """Take what stands before the name of a command."""


def _ending(function: Callable[..., int]) -> Callable[..., None]:
    """Turn the returned code of a command into the exit code of the process."""
    from pipeline.errors import Interrupted

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> None:
        try:
            code = function(*args, **options)
        except KeyboardInterrupt as stop:
            raise Interrupted("interrupted") from stop
        raise typer.Exit(code)

    return call


def _not_called() -> None:
    """Stand in the list of commands."""
