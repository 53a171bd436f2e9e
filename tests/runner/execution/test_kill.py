"""Runs killed by SIGKILL at places that are chosen: the next goes on and gives the same tables."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.history import write_folder
from tests.runner.commands import Driver, call, environment
from tests.runner.driver import ACTS
from tests.runner.execution.killing import Kill, Way, kill, run_to_the_end
from tests.runner.extensions import HERE
from tests.runner.laboratory import STAGES, Laboratory, build

PLACES = [
    ("open .*/history/", 1, Kill("", "", partial=False)),
    (
        "os.rename .*/candidates/.partial-.*/shard-",
        3,
        Kill("candidates", "shard_done", partial=True),
    ),
    ("os.link .*/scores/part-", 2, Kill("scores", "shard_done", partial=True)),
    ("os.rename .*/sample/[0-9a-f]+$", 1, Kill("sample", "shard_done", partial=True)),
    ("open .*/ranks/.staging-.*/manifest.json", 1, Kill("ranks", "shard_done", partial=True)),
    ("os.rmdir .*/gold/.partial-", 1, Kill("gold", "shard_done", partial=True)),
    ("os.mkdir .*/precision/.partial-", 1, Kill("precision", "stage_started", partial=False)),
    ("os.remove comparison.parquet", 1, Kill("comparison", "shard_done", partial=True)),
    ("os.rename .*/.files.json", 1, Kill("comparison", "stage_reused", partial=True)),
]
"""Acts on the disk in the order of a run, which of them, and where the run is then.

One of every kind, one in every stage, one before the first and one after the last.
"""
RESUMED = {
    "candidates": 2,
    "scores": 4,
    "sample": 1,
    "ranks": 1,
    "gold": 0,
    "precision": 0,
    "comparison": 0,
}
"""Shards that were not done again, where the stage was not finished."""


def before(place: str, number: int) -> Way:
    """Kill a run before an act on the disk."""

    def killed(laboratory: Laboratory, driver: Driver) -> None:
        driver.send(laboratory.words("run"), kill_at=number, place=place)
        assert driver.outcome() is None, f"there is no {place}"

    return killed


@pytest.mark.long
def test_killed_at_one_place_after_the_other(tmp_path: Path) -> None:
    """Each run goes on where the one before was killed, and the last comes to the end."""
    assert {place.partition(" ")[0] for place, _, _ in PLACES} == {*ACTS, "open"} - {"os.truncate"}
    assert {where.stage for _, _, where in PLACES} == {*STAGES, ""}
    laboratory = build(tmp_path, shards=4, rows=50)
    laboratory.run()
    killed = replace(laboratory, runs=tmp_path / "killed")
    drivers = [Driver()]
    for place, number, where in PLACES:
        drivers.append(Driver())  # starts while the other runs
        assert kill(killed, drivers.pop(0), before(place, number)) == where, place
    drivers.pop().close()
    run_to_the_end(killed, call)
    assert killed.digests() == laboratory.digests()
    resumed = {each["stage"]: each["resumed"] for each in killed.events("stage_started")}
    assert resumed == RESUMED


WRITE = """
import sys
from pathlib import Path
from driver import Counter
from pipeline.runner.store.history import write_folder
from pipeline.runner.store.backends import storage_at
sys.addaudithook(counter := Counter())
counter.kill_at = int(sys.argv[2])
folder = Path(sys.argv[1])
write_folder(storage_at(folder.parent), folder.name, {"page": b"new", "files/table": b"new"})
print(counter.count)
"""
OLD = {"page": b"old", "files/table": b"old", "more": b"old"}


def replaced(folder: Path, kill_at: int) -> subprocess.CompletedProcess[str]:
    """Replace a report in a process that kills itself before one of its acts."""
    write_folder(storage_at(folder.parent), folder.name, OLD)
    (folder / "notes.txt").write_text("of a person")
    command = [sys.executable, "-c", WRITE, str(folder), str(kill_at)]
    return subprocess.run(
        command, env=environment([HERE]), capture_output=True, text=True, check=False
    )


def content(folder: Path) -> dict[str, str]:
    found = {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}
    return {name: text for name, text in found.items() if not name.startswith(".")}


@pytest.mark.long
def test_killed_while_the_report_is_replaced(tmp_path: Path) -> None:
    """The page is old or new or gone, never a mixture; the next is right, and notes are kept."""
    done = replaced(tmp_path / "report", 0)
    notes = {"notes.txt": "of a person"}
    new, old = {"page": "new", "table": "new"}, {"page": "old", "table": "old", "more": "old"}
    assert content(tmp_path / "report") == new | notes
    last = int(done.stdout)
    acts = [*range(1, last, 2), last]
    folders = [tmp_path / f"{act}" / "report" for act in acts]
    for folder in folders:
        folder.parent.mkdir()
    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(replaced, folders, acts))
    assert {end.returncode for end in ends} == {-signal.SIGKILL}
    found = [content(folder) for folder in folders]
    assert all(each in (old | notes, new, new | notes, {}) for each in found)
    assert found[0] == old | notes
    assert found[-1] == new | notes
    for folder in folders:
        write_folder(storage_at(folder.parent), folder.name, {"page": b"newest"})
        assert content(folder.parent) == {"page": "newest"} | notes
