"""What machines say of candidates: labels in a table, beside candidates that stay as they are."""

from __future__ import annotations

from pathlib import Path

import pipeline as lx
from tests.mutation import oracles
from tests.mutation.mutations import delimited
from tests.mutation.subject import Subject
from tests.mutation.table_subjects import text

EXPERIMENT = """
name = "x"
[stages.candidates]
use = "extract.table"
path = "pairs.tsv"
[stages.machine]
use = "join.machine"
path = "said.tsv"
candidates = "candidates"
categories = { TP = "TP" }
judge = "robot"
"""


def _expected(folder: Path) -> object:
    return oracles.rows_and_sum(oracles.records(folder / "said.tsv", "\t"), "TP")


def _observed(folder: Path) -> object:
    said = lx.show(folder / "x.toml", runs=folder / "runs").table("machine")
    return said.height, int(said["prediction"].sum())


SUBJECTS = (
    Subject(
        name="said.tsv",
        kind="tables",
        files={"x.toml": EXPERIMENT.encode(), "pairs.tsv": text(), "said.tsv": text()},
        targets={"said.tsv": delimited("\t")},
        expected=_expected,
        observed=_observed,
    ),
)
"""Predictions of a machine, one for each candidate."""
