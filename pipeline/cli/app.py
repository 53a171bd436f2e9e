"""The commands, put together: what each does in a sentence, and the module it is in.

Only the command that is called is imported: to import all of them takes longer than most work.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import pipeline

# --- The commands by what a person wants, each with an example: what ``--help`` shows.

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Start": ("new", "schema"),
    "Run an experiment": ("run", "plan", "why", "status", "gc"),
    "Run it on a cluster": ("tasks", "task", "slurm"),
    "Look at results": ("show", "diff"),
    "People": ("annotate", "sheets"),
    "Ask files at once": (
        "collocates",
        "keywords",
        "candidates",
        "score",
        "evaluate",
        "clusters",
        "lexicon",
    ),
    "Plan a sample": ("size", "measures"),
}
"""Every command below what it is for; the example of the first is shown for all of a group."""
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "new": (
        "lexassay new collocations",
        "lexassay new clustering mine --from corpus.conllu --from tree.paths",
    ),
    "schema": ("lexassay schema",),
    "run": (
        "lexassay run experiment.toml",
        "lexassay run experiment.toml --set stages.sample.rate=0.2 --no-report",
    ),
    "plan": ("lexassay plan experiment.toml",),
    "why": ("lexassay why experiment.toml sample --set stages.sample.rate=0.2",),
    "status": ("lexassay status experiment.toml",),
    "gc": ("lexassay gc experiment.toml --dry",),
    "tasks": ("lexassay tasks experiment.toml candidates",),
    "task": ("lexassay task experiment.toml candidates 0",),
    "slurm": ("lexassay slurm experiment.toml candidates --time 1:00:00 --memory 4G",),
    "show": ("lexassay show experiment.toml sampled.cuts",),
    "diff": ("lexassay diff collocations:latest~1 collocations:latest",),
    "annotate": (
        "lexassay annotate experiment.toml",
        "lexassay annotate experiment.toml --annotators anna,ben",
        "lexassay annotate experiment.toml --export labels.xlsx",
    ),
    "sheets": ("lexassay sheets experiment.toml",),
    "collocates": ("lexassay collocates take novel.txt",),
    "keywords": ("lexassay keywords novel.txt corpus.conllu --attribute form",),
    "candidates": ("lexassay candidates novel.txt --measure log_likelihood --top 20",),
    "evaluate": ("lexassay evaluate scored.tsv candidates.tsv --n 100,500",),
    "clusters": ("lexassay clusters corpus.conllu tree.paths --prefix 3",),
    "lexicon": ("lexassay lexicon dictionary.unimorph computed.wordforms",),
    "score": (
        "lexassay score candidates.tsv --measures t_score,mi",
        "lexassay score candidates.tsv --output scored.tsv",
    ),
    "measures": ("lexassay measures",),
    "size": ("lexassay size --candidates 5102 --precision 0.3",),
}
"""What commands can be called with where the files are that `new` writes for all families."""
OTHERS = "More"


class Grouped(TyperGroup):
    """The commands in groups; Typer has groups only with the markup of another library."""

    def format_commands(self, _context: Any, formatter: Any) -> None:
        """Write a section for each group, with an example."""
        width = max(map(len, self.commands))
        for title, names in grouped(self.commands):
            sentences = [self.commands[name].help or "" for name in names]
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (f"{name:<{width}}", text)
                        for name, text in zip(names, sentences, strict=True)
                    ]
                )
                for line in EXAMPLES.get(names[0], ())[:1]:
                    formatter.write(f"{'':{formatter.current_indent}}e.g. {line}\n")


def grouped(commands: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the title of each group and those of the commands that are in it, and the rest.

    Examples
    --------
    >>> list(grouped(["plan", "run", "own"]))
    [('Run an experiment', ['run', 'plan']), ('More', ['own'])]
    """
    there = list(commands)
    known = {name for names in GROUPS.values() for name in names}
    every = {**GROUPS, OTHERS: tuple(name for name in there if name not in known)}
    for title, names in every.items():
        if found := [name for name in names if name in there]:
            yield title, found


def example_of(name: str) -> str | None:
    r"""Return what the help of a command ends with; its lines are not to be filled.

    Examples
    --------
    >>> example_of("plan")
    '\x08\nExample:\n  lexassay plan experiment.toml'
    """
    lines = EXAMPLES.get(name, ())
    head = "Examples:" if len(lines) > 1 else "Example:"
    return "\n".join(["\b", head, *(f"  {line}" for line in lines)]) if lines else None


COMMANDS = {
    "run": ("run", "Run an experiment: every stage that is not done yet, then the report."),
    "plan": ("run", "Say what would run, and why."),
    "why": (
        "run",
        "Say which part of what a stage rests on has changed, from what to what.",
    ),
    "status": ("run", "Say how far an experiment is."),
    "sheets": (
        "inspect",
        "Say where the sheets of an experiment lie, and how far everybody is with them.",
    ),
    "annotate": (
        "annotate",
        "Serve pages on which people judge, key by key; or write what they decided.",
    ),
    "tasks": ("run", "List the tasks of a stage, phase by phase, for a queue of jobs."),
    "task": ("run", "Do one task of a stage, unless it is done."),
    "slurm": (
        "run",
        "Write a script that submits the tasks of a stage to Slurm; never over a file.",
    ),
    "gc": ("run", "Remove results that the experiment, as it is now, does not use."),
    "show": ("inspect", "Show a table of an experiment, or list its tables."),
    "diff": ("inspect", "Say how two runs differ."),
    "collocates": (
        "from_files",
        "List the collocates of a word; relation by relation where the corpus is parsed.",
    ),
    "keywords": (
        "from_files",
        "List the words that are more frequent in a corpus than in another one, with dispersion.",
    ),
    "candidates": (
        "from_files",
        "List the pairs of words of a corpus with their frequencies f, f1, f2, N, and scores.",
    ),
    "evaluate": (
        "evaluate",
        "Evaluate ranked pairs by judgements of them: n-best precision, with limits and a graph.",
    ),
    "clusters": (
        "evaluate",
        "Evaluate induced clusters of words against gold classes, by types and by tokens.",
    ),
    "lexicon": (
        "evaluate",
        "Evaluate a lexicon by dictionaries: L*, F*, entropy, and the lemmas that cost most.",
    ),
    "score": (
        "from_files",
        "Score any table of candidates: .ds, .csv, .tsv, .xlsx, .parquet; text also as .gz.",
    ),
    "measures": ("measures", "List the association measures, family by family."),
    "size": (
        "sizing",
        "Plan a sample: interval widths, power of a comparison, or the sampling rate they need.",
    ),
    "new": (
        "run",
        "Write a commented experiment to start from; never over a file that is there.",
    ),
    "schema": ("run", "Print the JSON Schema of an experiment, for editors."),
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
