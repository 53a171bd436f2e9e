"""Experiments and commands as people mistype them."""

from __future__ import annotations

from tests.mutation import (
    cluster_subjects,
    corpus_subjects,
    lexicon_subjects,
    sheet_subjects,
    table_subjects,
)
from tests.mutation.mutations import experiment, words
from tests.mutation.subject import RUN, Subject

_FILES = table_subjects.SUBJECTS[0].files
_MADE = (RUN,)
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


SUBJECTS = (
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
            files=_FILES,
            before=_MADE,
            command=command,
            word=words,
        )
        for number, command in enumerate(_COMMANDS)
    ),
)
"""Experiments with mistakes, and commands with other words."""
