"""Fixtures of the tests of annotation: a database of decisions, an experiment with a sheet."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.formats.annotation_log import NAME, open_log
from tests.annotate.office import Office, build_office


@pytest.fixture
def log(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with open_log(tmp_path / NAME) as connection:
        yield connection


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """An experiment that asks two people for labels."""
    return build_office(tmp_path)
