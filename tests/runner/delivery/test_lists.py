"""The list for the lexicographer: written once, not by what-ifs, and not where none is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runner.laboratory import Laboratory, write

LIST = """
[stages.choice]
use = "evaluate.choice"
ranks = "ranks"
judgements = "gold"
size = 10

[stages.list]
use = "sheet.list"
choice = "choice"
ranks = "ranks"
candidates = "candidates"
folder = "best"
kind = "csv"
"""
OTHER = ("--set", "stages.choice.size=20")


@pytest.fixture
def delivering(laboratory: Laboratory) -> Laboratory:
    laboratory.config.write_text(laboratory.config.read_text() + LIST)
    return laboratory


def lists(laboratory: Laboratory) -> dict[str, bytes]:
    folder = laboratory.folder / "sheets" / "small" / "best"
    return {path.name: path.read_bytes() for path in folder.glob("*-best-*")}


def test_a_list_is_written_once(delivering: Laboratory) -> None:
    assert delivering.run().err.count("wrote ") == 2
    written = lists(delivering)
    assert sorted(Path(name).suffix for name in written) == [".csv", ".txt"]
    assert "wrote" not in delivering.run().err
    assert lists(delivering) == written


def test_a_what_if_says_what_it_would_write(delivering: Laboratory) -> None:
    delivering.run()
    before = lists(delivering)
    told = delivering.run(*OTHER).err
    assert told.count("would write the list ") == 2
    assert told.count("--deliver writes it") == 2
    assert lists(delivering) == before
    delivering.run(*OTHER, "--deliver")
    new = set(lists(delivering)) - set(before)
    assert len(new) == 2
    assert all(name in told for name in new)
    assert "would write" not in delivering.run(*OTHER).err


def test_without_judgements_there_is_no_list_to_write(delivering: Laboratory) -> None:
    gold = delivering.folder / "gold.tsv"
    header, *rows = gold.read_text().splitlines()
    write(gold, [header, *(row.rpartition("\t")[0] + "\t" for row in rows)])
    assert "wrote" not in delivering.run().err
    assert delivering.outcomes()["list"] == "done"
    assert lists(delivering) == {}
