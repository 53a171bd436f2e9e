"""The commands by what a person wants, each with an example: what ``--help`` shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from typer.core import TyperGroup

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
