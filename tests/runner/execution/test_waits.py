"""A stage that waits for a person: all else is done, and it goes on when the sheet is filled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runner.commands import Driver
from tests.runner.extensions import waiting
from tests.runner.laboratory import Laboratory, change, write

DOWNSTREAM = {"precision", "comparison"}
INDEPENDENT = {"candidates", "scores", "sample", "ranks"}


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    driver = Driver(path=[waiting(tmp_path / "plugin")])
    driver.ready()
    yield driver
    driver.close()


def fill(laboratory: Laboratory, *, missing: int) -> None:
    """Write the sheet: the judgements of ``gold.tsv``, the last ones not typed yet."""
    header, *rows = (laboratory.folder / "gold.tsv").read_text().splitlines()
    typed = len(rows) - missing
    empty = [row.rpartition("\t")[0] + "\t" for row in rows[typed:]]
    lines = [header.replace("TP", "label"), *rows[:typed], *empty]
    write(laboratory.folder / "sheet.tsv", lines)


@pytest.mark.long
def test_waits_and_goes_on(laboratory: Laboratory, driver: Driver) -> None:
    laboratory.run()
    full = laboratory.digests()
    change(laboratory.config, "join.table", "waiting.labels")
    change(laboratory.config, "gold.tsv", "sheet.tsv")
    waits = Laboratory(laboratory.folder, laboratory.folder / "waits")

    fill(waits, missing=120)
    done = driver.do(waits.words("run"))
    assert done.code == 3, done.text
    assert "waiting: sheet.tsv waits for 120 labels" in done.out
    outcomes = waits.outcomes()
    assert {name for name, outcome in outcomes.items() if outcome == "done"} == INDEPENDENT
    assert outcomes["gold"] == "waits"
    assert {outcomes[name] for name in DOWNSTREAM} == {"skipped"}
    assert "rests on gold" in done.err
    assert waits.record().outcome == "waits"
    assert not any((waits.root / name).exists() for name in DOWNSTREAM)

    fill(waits, missing=1)
    done = driver.do(waits.words("run"))
    assert done.code == 3
    assert "sheet.tsv waits for 1 label\n" in done.out
    assert set(waits.outcomes().values()) == {"reused", "waits", "skipped"}

    fill(waits, missing=0)
    done = driver.do(waits.words("run"))
    assert done.code == 0, done.text
    assert "waiting" not in done.out
    assert waits.reran() == {"gold", *DOWNSTREAM}
    assert waits.digests()["precision"] == full["precision"]
    assert waits.digests()["comparison"] == full["comparison"]


@pytest.mark.long
def test_report_of_what_is_there(laboratory: Laboratory, driver: Driver) -> None:
    """A branch that can be shown is shown, while another one waits."""
    labels = '[stages.labels]\nuse = "waiting.labels"\npath = "sheet.tsv"\ncandidates = "scores"\n'
    laboratory.config.write_text(laboratory.config.read_text() + labels)
    fill(laboratory, missing=7)
    done = driver.do(laboratory.words("run", "--report"))
    assert done.code == 3, done.text
    assert "sheet.tsv waits for 7 labels" in done.out
    page = laboratory.root / "report" / "index.html"
    assert f"report: {page}" in done.out
    assert page.is_file()
    assert laboratory.outcomes()["comparison"] == "done"
