"""Two processes on one experiment at once: each stage is computed once, both end well."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.runner.commands import environment, finish
from tests.runner.extensions import slow
from tests.runner.laboratory import Laboratory, assert_whole, wait_until

pytestmark = pytest.mark.long

WAITS = "another run is at work on it; waiting"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    return slow(tmp_path / "plugin")


def test_at_once(laboratory: Laboratory, plugin: Path) -> None:
    gate = laboratory.insert_gate()
    both = [laboratory.start("run", path=[plugin]) for _ in range(2)]
    wait_until(lambda: laboratory.said("slow", WAITS), laboratory)
    gate.open()
    done = [finish(process) for process in both]
    assert [each.code for each in done] == [0, 0], done[0].text + done[1].text
    assert sum(f"slow: {WAITS}" in each.err for each in done) == 1
    computed = Counter(each["stage"] for each in laboratory.events("stage_started"))
    assert set(computed.values()) == {1}
    records = laboratory.records()
    digests = [{name: s.digests for name, s in each.stages.items()} for each in records]
    assert len(digests) == 2
    assert digests[0] == digests[1]
    outcomes = Counter(stage.outcome for each in records for stage in each.stages.values())
    assert outcomes == {"done": 8, "reused": 8}
    assert_whole(laboratory.root)
    assert {path.name for path in laboratory.root.glob("*/.*")} == {".lock"}


def test_the_second_goes_on_where_the_first_was_killed(
    laboratory: Laboratory, plugin: Path
) -> None:
    gate = laboratory.insert_gate()
    gate.permit()
    first = laboratory.start("run", path=[plugin])
    wait_until(lambda: laboratory.shards_done("slow") == 1, laboratory)
    second = laboratory.start("run", path=[plugin])
    wait_until(lambda: laboratory.said("slow", WAITS), laboratory)
    first.send_signal(signal.SIGKILL)
    assert finish(first).code == -signal.SIGKILL
    gate.open()
    done = finish(second)
    assert done.code == 0, done.text
    assert "slow: 1 of 3 shards were done before" in done.err
    assert laboratory.shards_done("slow") == 3
    assert_whole(laboratory.root)


def test_different_settings_at_once(laboratory: Laboratory) -> None:
    """Two processes that want different results of the same stages do not mix them up."""
    rates = ("0.25", "0.75")
    both = [laboratory.start("run", "--set", f"stages.sample.rate={rate}") for rate in rates]
    assert [finish(process).code for process in both] == [0, 0]
    together = {each.settings["stages.sample.rate"]: each for each in laboratory.records()}
    alone = Laboratory(laboratory.folder, laboratory.folder / "alone")
    for rate in rates:
        alone.run("--set", f"stages.sample.rate={rate}")
        found = together[float(rate)].stages
        assert {name: stage.digests for name, stage in found.items()} == alone.digests()
    assert_whole(laboratory.root)


WRITE = """
import sys
from pathlib import Path
from pipeline.runner.store.history import write_folder
from pipeline.runner.store.backends import storage_at
folder = Path(sys.argv[1])
for number in range(100):
    write_folder(storage_at(folder.parent), folder.name, {"a": sys.argv[2].encode(), "b/c": sys.argv[2].encode()})
"""


def test_two_write_one_report(tmp_path: Path) -> None:
    """Both replace the same folder over and over; it is always one of theirs, whole."""
    folder = tmp_path / "report"
    command = [sys.executable, "-c", WRITE, str(folder)]
    both = [
        subprocess.Popen([*command, word], env=environment(), stderr=subprocess.PIPE, text=True)
        for word in ("one", "two")
    ]
    said = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert (folder / "a").read_text() == (folder / "b" / "c").read_text()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["report"]
