"""All subjects of mutation: inputs, damaged results, and mistyped commands."""

from __future__ import annotations

from pathlib import Path

import pipeline as lx
from tests.mutation import (
    cluster_subjects,
    corpus_subjects,
    lexicon_subjects,
    odd_subjects,
    sheet_subjects,
    table_subjects,
)
from tests.mutation.mutations import cut_out, experiment, flip, truncate, words
from tests.mutation.subject import RUN, Subject
from tests.mutation.table_subjects import EXPERIMENT, text

_FILES = {"x.toml": EXPERIMENT.replace("PATH", "pairs.tsv").encode(), "pairs.tsv": text()}
_RESULTS = "runs/x/*/*/**/*"


def _table(folder: Path) -> object:
    return lx.show(folder / "x.toml", runs=folder / "runs").table("scores").write_csv()


def _right(folder: Path) -> object:
    return (folder / "right.csv").read_text(encoding="utf-8")


def _keep(folder: Path) -> None:
    (folder / "right.csv").write_text(str(_table(folder)), encoding="utf-8")


def _result(name: str, command: tuple[str, ...]) -> Subject:
    return Subject(
        name=name,
        kind="results",
        files=_FILES,
        targets={_RESULTS: flip, "runs/**/*.parquet": truncate, "runs/**/*.json*": cut_out},
        before=(("run", "x.toml", "--no-report"),),
        prepare=_keep,
        expected=_right,
        observed=_table,
        command=command,
    )


_DAMAGED = (
    _result("damaged, then run", ("run", "x.toml", "--no-report")),
    _result("damaged, then shown", ("show", "x.toml", "scores")),
)
"""Artefacts, manifests and caches."""


_COMMANDS: tuple[tuple[str, ...], ...] = (
    RUN,
    ("run", "x.toml", "--set", "stages.scores.measures=['mi']", "--no-report"),
    ("plan", "x.toml"),
    ("why", "x.toml", "scores"),
    ("status", "x.toml"),
    ("gc", "x.toml"),
    ("diff", "x.toml"),
    ("show", "x.toml", "scores", "--format", "csv"),
    ("sheets", "x.toml"),
    ("score", "pairs.tsv", "--measures", "mi"),
    ("measures",),
    ("size", "--candidates", "5102", "--precision", "0.3", "--rate", "5%,10%"),
    ("new", "lexicon", "made"),
    ("schema",),
)


def _written_wrong(other: Subject) -> Subject:
    return Subject(
        name=f"experiment of {other.name}",
        kind="experiments",
        files=other.files,
        targets={"x.toml": experiment},
    )


_MISTYPED = (
    *(
        _written_wrong(family.SUBJECTS[0])
        for family in (
            table_subjects,
            corpus_subjects,
            cluster_subjects,
            lexicon_subjects,
            sheet_subjects,
        )
    ),
    *(
        Subject(
            name=f"lexassay {command[0]} {number}",
            kind="commands",
            files=table_subjects.SUBJECTS[0].files,
            before=(RUN,),
            command=command,
            word=words,
        )
        for number, command in enumerate(_COMMANDS)
    ),
)
"""Experiments with mistakes, and commands with other words."""


SUBJECTS: tuple[Subject, ...] = (
    *table_subjects.SUBJECTS,
    *corpus_subjects.SUBJECTS,
    *cluster_subjects.SUBJECTS,
    *lexicon_subjects.SUBJECTS,
    *sheet_subjects.SUBJECTS,
    *_DAMAGED,
    *_MISTYPED,
    *table_subjects.MACHINES,
    *odd_subjects.SUBJECTS,
)
