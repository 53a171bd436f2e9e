"""Results that were damaged after they were made: told, or made again, and never shown as right."""

from __future__ import annotations

from pathlib import Path

import pipeline as lx
from tests.mutation.mutations import cut_out, flipped, truncated
from tests.mutation.subject import Subject
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
        targets={_RESULTS: flipped, "runs/**/*.parquet": truncated, "runs/**/*.json*": cut_out},
        before=(("run", "x.toml", "--no-report"),),
        prepare=_keep,
        expected=_right,
        observed=_table,
        command=command,
    )


SUBJECTS = (
    _result("damaged, then run", ("run", "x.toml", "--no-report")),
    _result("damaged, then shown", ("show", "x.toml", "scores")),
)
"""Artefacts, manifests and caches."""
