"""What can stand in a place of a command line: experiments, their stages and tables, measures."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.cli.completion_words import FAMILIES, MEASURES, TABLES

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


def fitting(kind: str, begun: str, given: Sequence[str]) -> Iterator[Offer]:
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
