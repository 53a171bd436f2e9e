"""The commands of ``lexassay``: their table, their help, and dispatch.

Only the module of the called command is imported: importing all takes longer than most work.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

import pipeline


class Command(NamedTuple):
    """A command: its row in `COMMANDS` gives help, documentation and completion.

    Parameters
    ----------
    module : str
        Module of `pipeline.cli` with the function of the same name.
    group : str
        Heading in ``lexassay --help``; the first example of its first command follows.
    sentence : str
        The first sentence of the docstring.
    examples : tuple of str
        They run beside the files that ``lexassay new`` writes for all families.
    arguments : tuple of str
        Kinds of words that complete the arguments, see `pipeline.cli.completion`; files for
        arguments not listed.
    """

    module: str
    group: str
    sentence: str
    examples: tuple[str, ...]
    arguments: tuple[str, ...] = ()


COMMANDS = {
    "new": Command(
        "run", "Start",
        "Write a commented experiment to start from.",
        (
            "lexassay new collocations",
            "lexassay new clustering mine --from corpus.conllu --from tree.paths",
        ), ("family", "file"),
    ),
    "schema": Command(
        "run", "Start", "Print the JSON Schema of experiments, for editors.",
        ("lexassay schema",),
    ),
    "doctor": Command(
        "doctor", "Start",
        "Check this installation, as text to paste into a bug report.",
        ("lexassay doctor",),
    ),
    "run": Command(
        "run", "Run an experiment",
        "Run the stages of an experiment that are not done, and write the report.",
        (
            "lexassay run experiment.toml",
            "lexassay run experiment.toml --set stages.sample.rate=0.2 --no-report",
        ), ("config",),
    ),
    "plan": Command(
        "run", "Run an experiment", "Show which stages would run, and why.",
        ("lexassay plan experiment.toml",), ("config",),
    ),
    "why": Command(
        "run", "Run an experiment",
        "Show what has changed since a stage last ran.",
        ("lexassay why experiment.toml sample --set stages.sample.rate=0.2",), ("config", "stage"),
    ),
    "status": Command(
        "run", "Run an experiment", "Show the state of an experiment.",
        ("lexassay status experiment.toml",), ("config",),
    ),
    "gc": Command(
        "run", "Run an experiment",
        "Remove results that the experiment no longer uses.",
        ("lexassay gc experiment.toml --dry",), ("config",),
    ),
    "tasks": Command(
        "run", "Run it on a computing cluster",
        "List the tasks of a stage, by phase, for a job queue.",
        ("lexassay tasks experiment.toml candidates",),
    ),
    "task": Command(
        "run", "Run it on a computing cluster", "Run one task of a stage unless it is done.",
        ("lexassay task experiment.toml candidates 0",),
    ),
    "slurm": Command(
        "run", "Run it on a computing cluster",
        "Write a script that submits the tasks of a stage to Slurm.",
        ("lexassay slurm experiment.toml candidates --time 1:00:00 --memory 4G",),
    ),
    "show": Command(
        "inspect", "Look at results", "Show a table of an experiment, or list its tables.",
        ("lexassay show experiment.toml sampled.cuts",), ("config", "table"),
    ),
    "diff": Command(
        "inspect", "Look at results", "Compare two runs.",
        ("lexassay diff collocations:latest~1 collocations:latest",), ("run", "run"),
    ),
    "annotate": Command(
        "annotate", "Annotation",
        "Label candidates in the browser, or export the labels.",
        (
            "lexassay annotate experiment.toml",
            "lexassay annotate experiment.toml --annotators anna,ben",
            "lexassay annotate experiment.toml --export labels.xlsx",
        ),
    ),
    "sheets": Command(
        "inspect", "Annotation",
        "Show the sheets of an experiment and the progress of each annotator.",
        ("lexassay sheets experiment.toml",), ("config",),
    ),
    "collocates": Command(
        "from_files", "Work on files directly",
        "List the collocates of a word, by relation in a parsed corpus.",
        ("lexassay collocates take novel.txt",),
    ),
    "keywords": Command(
        "from_files", "Work on files directly",
        "List the words that are more frequent in one corpus than in another, with dispersion.",
        ("lexassay keywords novel.txt corpus.conllu --attribute form",),
    ),
    "candidates": Command(
        "from_files", "Work on files directly",
        "List the word pairs of a corpus with f, f1, f2, N and scores.",
        ("lexassay candidates novel.txt --measure log_likelihood --top 20",),
    ),
    "score": Command(
        "from_files", "Work on files directly",
        "Score a table of candidates: .ds, .csv, .tsv, .xlsx, .parquet; text also as .gz.",
        (
            "lexassay score candidates.tsv --measures t_score,mi",
            "lexassay score candidates.tsv --output scored.tsv",
        ),
    ),
    "evaluate": Command(
        "evaluate", "Work on files directly",
        "Evaluate ranked pairs: n-best precision with confidence limits and a graph.",
        ("lexassay evaluate scored.tsv candidates.tsv --n 100,500",),
    ),
    "clusters": Command(
        "evaluate", "Work on files directly",
        "Evaluate word clusters against gold classes, by type and by token.",
        ("lexassay clusters corpus.conllu tree.paths --prefix 3",),
    ),
    "lexicon": Command(
        "evaluate", "Work on files directly",
        "Evaluate a lexicon against dictionaries: L*, F*, entropy, and the costliest lemmas.",
        ("lexassay lexicon dictionary.unimorph computed.wordforms",),
    ),
    "measures": Command(
        "measures", "Work on files directly", "List the association measures by family.",
        ("lexassay measures",),
    ),
    "size": Command(
        "sizing", "Plan a sample",
        "Plan a sample: interval widths, power, or the required sampling rate.",
        ("lexassay size --candidates 5102 --precision 0.3",), ("config",),
    ),
}  # fmt: skip
"""All commands, in the order of ``lexassay --help``."""
_NO_UTF8 = "it has a byte that is not UTF-8; type it again"
_MESSAGES = {
    "Input should be a valid string, unable to parse.*": _NO_UTF8,
    "Input should be a valid integer.*": "it should be a whole number",
    "Input should be a valid number.*": "it should be a number",
    "Input should be a valid boolean.*": "it should be true or false",
    "Input should be": "it should be",
    "Value error, 'utf-8' codec can't encode.*": _NO_UTF8,
}
"""Messages of pydantic and Typer about a wrong value, with their replacements."""
_TYPE = re.compile(r"<(?P<several>list\[)?(?P<type>\w+)(?: range)?\]?>")
_TYPE_NAMES = {"str": "text", "int": "number", "float": "number", "Path": "path"}


class GroupedCommands(TyperGroup):
    """The commands in groups, which Typer offers only with the markup of Rich."""

    def format_commands(self, _context: Any, formatter: Any) -> None:
        """Write a section for each group, with an example."""
        width = max(map(len, COMMANDS))
        for title, names in groups().items():
            with formatter.section(title):
                rows = [(f"{name:<{width}}", self.commands[name].help or "") for name in names]
                formatter.write_dl(rows)
                example = COMMANDS[names[0]].examples[0]
                formatter.write(f"{'':{formatter.current_indent}}e.g. {example}\n")


class GroupedOptions(TyperCommand):
    """A command whose help shows its options in groups, by their ``rich_help_panel``."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for the arguments and for each group, the options without one last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if param.param_type_name == "argument" else "Options"
                title = getattr(param, "rich_help_panel", None) or usual
                names, text = record
                sections.setdefault(title, []).append((_TYPE.sub(_format_type, names), text))
        for title in sorted(sections, key="Options".__eq__):
            with formatter.section(title):
                formatter.write_dl(sections[title])


def _format_type(match: re.Match[str]) -> str:
    """Return a type of Typer, as <list[str]>, in plain words; dots where it is repeatable."""
    dots = "..." if match["several"] and "..." not in match.string else ""
    return f"<{_TYPE_NAMES.get(match['type'], match['type'])}>{dots}"


def groups() -> dict[str, list[str]]:
    """Return the names of the commands of each group.

    Examples
    --------
    >>> groups()["Annotation"]
    ['annotate', 'sheets']
    """
    commands: dict[str, list[str]] = {}
    for name, row in COMMANDS.items():
        commands.setdefault(row.group, []).append(name)
    return commands


def example_of(name: str) -> str:
    r"""Return the examples at the end of a command's help, as lines that are not refilled.

    Examples
    --------
    >>> example_of("plan")
    '\x08\nExample:\n  lexassay plan experiment.toml'
    """
    lines = COMMANDS[name].examples
    head = "Examples:" if len(lines) > 1 else "Example:"
    return "\n".join(["\b", head, *(f"  {line}" for line in lines)])


def app_for(words: Sequence[str]) -> typer.Typer:
    """Return the application with the called command; the others have only name and help."""
    app = typer.Typer(
        name="lexassay",
        cls=GroupedCommands,
        help="Evaluate lexical resources from a small annotated sample.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 waiting for people,"
        " 130 interrupted by Ctrl-C, 143 by SIGTERM. --debug shows tracebacks.",
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_main_options)
    for name, row in COMMANDS.items():
        called = name in words[:1]
        sentence = None if called else row.sentence
        app.command(name, cls=GroupedOptions, help=sentence, epilog=example_of(name))(
            _exit_with_code(command(name)) if called else _placeholder
        )
    return app


def call(words: Sequence[str]) -> int:
    """Run the called command and return its exit code."""
    try:
        code = app_for(words)(words, prog_name="lexassay", standalone_mode=False)
    except Exception as error:
        usage: Any = error  # the class of errors of usage has no name in all versions of Typer
        if not hasattr(error, "show") or not hasattr(error, "exit_code"):
            raise
        if isinstance(error, typer.BadParameter):
            usage.message = _message(error)
        usage.show()
        return int(usage.exit_code)
    return code if isinstance(code, int) else 0


def _message(error: typer.BadParameter) -> str:
    """Return what is wrong with an argument, without the wording of the library."""
    message = error.message
    for theirs, ours in _MESSAGES.items():
        message = re.sub(theirs, ours, message)
    details = getattr(error.__cause__, "errors", None)
    suffix = f" (found {details()[0]['input']!r})" if details is not None else ""
    return message + suffix


def command(name: str) -> Callable[..., int]:
    """Return the function of a command."""
    function: Callable[..., int] = getattr(
        import_module(f"pipeline.cli.{COMMANDS[name].module}"), name
    )
    return function


def _print_version(value: bool) -> None:
    if value:
        print("lexassay", pipeline.__version__)
        raise typer.Exit


def _main_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Accept the options before the name of a command."""


def _exit_with_code(function: Callable[..., int]) -> Callable[..., None]:
    """Turn the returned code of a command into the exit code of the process."""

    @functools.wraps(function)
    def exit_with_code(*args: Any, **options: Any) -> None:
        try:
            code = function(*args, **options)
        except KeyboardInterrupt as stop:
            from pipeline.errors import Interruption  # not for `doctor`: Polars may be broken

            raise Interruption("interrupted") from stop
        raise typer.Exit(code)

    return exit_with_code


def _placeholder() -> None:
    """Stand for a command that is not called."""
