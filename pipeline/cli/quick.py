"""What commands without a configuration share: options, standard input, progress, tables."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.formats.base import FORMATS
from pipeline.recipes import cache
from pipeline.runner.events import Event, Listener
from pipeline.runner.store.storage import in_a_folder, storage_at

Save: TypeAlias = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Write the experiment to this file.")
]
Cache: TypeAlias = Annotated[
    Path | None,
    typer.Option("--runs", help="Folder of the results; else a cache folder of yours."),
]
ReadAs: TypeAlias = Annotated[
    str | None,
    typer.Option("--read-as", metavar="FORMAT", help="text, conllu, vertical, tokens ..."),
]
Attributes: TypeAlias = Annotated[
    str | None,
    typer.Option("--attributes", help="Names of the columns of a vertical file: word,pos,lemma"),
]
Measures: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--measure", help="Association measure, the first orders; can be given again."),
]
_ENDINGS = {"text": ".txt", "conllu": ".conllu", "vertical": ".vrt", "tokens": ".tsv"}


def words(given: Sequence[str] | None) -> list[str]:
    """Return what was given several times, or with commas.

    Examples
    --------
    >>> words(["a,b", "c"])
    ['a', 'b', 'c']
    """
    return [word.strip() for text in given or () for word in text.split(",") if word.strip()]


def reader(attributes: str | None) -> dict[str, Any]:
    """Return the options of a reader of corpora."""
    return {"attributes": words([attributes])} if attributes else {}


def require_format(read_as: str | None) -> None:
    """Refuse a format that no reader of corpora has.

    Raises
    ------
    ConfigError
        With the nearest names.
    """
    known = [name for name in FORMATS if FORMATS.get(name).kind == "corpus"]
    if read_as is not None and read_as not in known:
        what = f"no reader of corpora is called {read_as!r}"
        raise ConfigError("--read-as", [Problem("--read-as", what, did_you_mean(read_as, known))])


def paths(
    given: Sequence[Path], *, read_as: str | None, runs: Path | None, save: Path | None
) -> list[Path]:
    """Return the files of a corpus; what comes by standard input (``-``) becomes one.

    Raises
    ------
    ConfigError
        If an experiment is to be saved whose corpus has no file.
    """
    if Path("-") not in given:
        return list(given)
    if save:
        what = "the corpus comes by standard input, which an experiment cannot read again"
        raise ConfigError("--save", [Problem("-", what, "put it into a file first")])
    content = sys.stdin.buffer.read()
    name = hashlib.sha256(content).hexdigest()[:16] + _ENDINGS.get(read_as or "text", ".txt")
    root = (runs or cache.folder()) / "experiments" / "standard-input"
    in_a_folder(root, "standard input")
    storage = storage_at(root, remedy="name another folder by --runs")
    with storage.guarded("standard input", ""):
        storage.write(name, content)
    return [root / name if path == Path("-") else path for path in given]


def span(text: str) -> tuple[int, int]:
    """Return the tokens on the left and on the right.

    Raises
    ------
    ConfigError
        If these are no whole numbers.
    """
    numbers = [word.strip() for word in text.split(",")]
    if len(numbers) > 2 or not all(word.isdecimal() for word in numbers):
        problem = Problem("--span", f"{text!r} is no number of tokens", "e.g. 5, or 2,8")
        raise ConfigError("--span", [problem])
    return int(numbers[0]), int(numbers[-1])


def numbers(text: str, *, option: str) -> list[int]:
    """Return the whole numbers in a text with commas.

    Raises
    ------
    ConfigError
        With each that is no whole number from 1 on.

    Examples
    --------
    >>> numbers("100,500", option="--n")
    [100, 500]
    """
    given = words([text])
    wrong = [Problem(option, f"{word!r} is no whole number from 1 on", "e.g. 100,500")
             for word in given if not word.isdecimal() or not int(word)]  # fmt: skip
    if wrong:
        raise ConfigError(option, wrong)
    return [int(word) for word in given]


@contextmanager
def listening() -> Iterator[list[Listener]]:
    """Give what shows how far a run is where somebody looks, and warnings everywhere."""
    from rich.console import Console

    from pipeline.cli.progress import RunProgress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield [_warn]
        return
    with RunProgress(console, stages=2) as progress:
        yield [progress]


def _warn(event: Event) -> None:
    if event.kind == "remark" and event.facts["level"] == "warning":
        print(f"{event.stage}: {event.facts['text']}", file=sys.stderr)
