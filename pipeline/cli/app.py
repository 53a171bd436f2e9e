"""The commands, put together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any

import typer

import pipeline
from pipeline.cli import inspecting, running, sizing, tables, templates
from pipeline.errors import Interrupted

app = typer.Typer(
    name="lexassay",
    help="Evaluate lexical resources from a small annotated sample.",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 waits for a person,"
    " 130 interrupted. --debug shows tracebacks.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _say_version(asked: bool) -> None:
    if asked:
        print("lexassay", pipeline.__version__)
        raise typer.Exit


@app.callback()
def _whole(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Say the version and stop."
        ),
    ] = False,
) -> None:
    """Take what stands before the name of a command."""


def _command(function: Callable[..., int]) -> Callable[..., None]:
    """Turn the returned code of a command into the exit code of the process."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> None:
        try:
            code = function(*args, **options)
        except KeyboardInterrupt as stop:
            raise Interrupted("interrupted") from stop
        raise typer.Exit(code)

    return call


for module in (running, inspecting, tables, sizing, templates):
    for name, command in module.COMMANDS.items():
        app.command(name)(_command(command))
