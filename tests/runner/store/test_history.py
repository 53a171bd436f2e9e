"""Folders that are rewritten, garbage collection, runs found by name, current runs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import ConfigError
from pipeline.runner.store import history
from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.history import (
    LAST_GOOD,
    REPORT,
    CurrentRun,
    RunRecord,
    current_run,
    write_folder,
)
from pipeline.runner.store.interface import Storage
from tests.runner.commands import finish
from tests.runner.extensions import slow
from tests.runner.laboratory import STAGES, Laboratory, change, manifests, wait_until

# Folders that are rewritten: files that users added or edited are kept.

OLD = {"index.html": b"old", "tables/a.csv": b"old", "tables/b.csv": b"old"}
NEW = {"index.html": b"new", "tables/a.csv": b"new", "figures/c.svg": b"new"}


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return storage_at(tmp_path)


def content(folder: Path) -> dict[str, str]:
    """Return the text of each file of a folder, without those for internal use."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_text() for name, path in files.items() if not name.startswith(".")}


def test_a_folder_is_replaced_as_a_whole(storage: Storage, tmp_path: Path) -> None:
    assert write_folder(storage, "report", OLD) == []
    assert write_folder(storage, "report", NEW) == []
    assert content(tmp_path / "report") == dict.fromkeys(NEW, "new")
    assert [path.name for path in sorted(tmp_path.iterdir())] == [".report.lock", "report"]


def test_files_of_users_are_kept(storage: Storage, tmp_path: Path) -> None:
    write_folder(storage, "report", OLD)
    folder = tmp_path / "report"
    (folder / "notes.txt").write_text("mine")
    (folder / "tables" / "own").mkdir()
    (folder / "tables" / "own" / "x.csv").write_text("mine")
    for _ in range(3):
        assert write_folder(storage, "report", NEW) == []
        expected = dict.fromkeys(NEW, "new") | {"notes.txt": "mine", "tables/own/x.csv": "mine"}
        assert content(folder) == expected


def test_edited_files_are_kept_beside_the_new_ones(storage: Storage, tmp_path: Path) -> None:
    write_folder(storage, "report", OLD)
    folder = tmp_path / "report"
    for number, name in enumerate(["index.kept-1.html", "index.kept-2.html"], start=1):
        (folder / "index.html").write_text(f"edited {number}")
        (folder / "tables" / "b.csv").write_text("edited")
        assert write_folder(storage, "report", NEW | OLD)[0] == name
        assert content(folder)[name] == f"edited {number}"
    assert content(folder)["index.html"] == "old"
    assert content(folder)["tables/b.kept-2.csv"] == "edited"


def test_a_user_file_with_the_name_of_a_new_file_is_kept(storage: Storage, tmp_path: Path) -> None:
    write_folder(storage, "report", OLD)
    (tmp_path / "report" / "figures").mkdir()
    (tmp_path / "report" / "figures" / "c.svg").write_text("mine")
    assert write_folder(storage, "report", NEW) == ["figures/c.kept-1.svg"]
    assert content(tmp_path / "report")["figures/c.kept-1.svg"] == "mine"


def test_links_of_users_are_not_followed(storage: Storage, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("mine")
    folder = tmp_path / "report"
    write_folder(storage, "report", OLD)
    (folder / "there").symlink_to(elsewhere)
    (folder / "gone").symlink_to(tmp_path / "nowhere")
    write_folder(storage, "report", NEW)
    assert (folder / "there").readlink() == elsewhere
    assert (folder / "gone").is_symlink()
    assert (elsewhere / "precious").read_text() == "mine"


def test_a_folder_without_a_list_of_files_is_replaced(storage: Storage, tmp_path: Path) -> None:
    write_folder(storage, "report", OLD)
    (tmp_path / "report" / ".written.json").unlink()
    (tmp_path / "report" / "notes.txt").write_text("mine")
    write_folder(storage, "report", NEW)
    assert content(tmp_path / "report") == dict.fromkeys(NEW, "new") | {"notes.txt": "mine"}


@pytest.mark.parametrize("damaged", ["", "[]", "{", '{"index.html": 3}'])
def test_a_damaged_list_loses_nothing(damaged: str, storage: Storage, tmp_path: Path) -> None:
    write_folder(storage, "report", OLD)
    (tmp_path / "report" / ".written.json").write_text(damaged)
    (tmp_path / "report" / "notes.txt").write_text("mine")
    write_folder(storage, "report", NEW)
    assert content(tmp_path / "report")["notes.txt"] == "mine"
    assert content(tmp_path / "report")["index.html"] == "new"


def report(storage: Storage, *flaws: str) -> str:
    """Write a report with flaws as a run does; return the place of the former report."""
    result = frozenset(flaws)
    aside = history.keep(storage, result)
    write_folder(storage, REPORT, {"index.html": ", ".join(flaws).encode(), **history.mark(result)})
    return aside


def test_files_of_users_are_kept_when_a_report_is_set_aside(
    storage: Storage, tmp_path: Path
) -> None:
    now, before = tmp_path / REPORT, tmp_path / LAST_GOOD
    report(storage)
    (now / "notes.txt").write_text("mine")
    assert report(storage, "a warning") == str(before)
    assert content(now) == {"index.html": "a warning", "notes.txt": "mine"}
    assert content(before) == {"index.html": ""}
    (before / "more.txt").write_text("mine, too")
    (before / "index.html").write_text("edited")
    assert report(storage) == ""
    assert not before.exists()
    assert content(now) == {
        **{"index.html": "", "index.kept-1.html": "edited"},
        **{"notes.txt": "mine", "more.txt": "mine, too"},
    }


def test_a_folder_of_user_files_is_not_a_report(storage: Storage, tmp_path: Path) -> None:
    (tmp_path / REPORT).mkdir()
    (tmp_path / REPORT / "notes.txt").write_text("mine")
    assert report(storage, "a warning") == ""
    assert content(tmp_path / REPORT) == {"index.html": "a warning", "notes.txt": "mine"}


# ``gc`` removes artefacts that the experiment does not use, and no other files.


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def artefacts_of(laboratory: Laboratory) -> set[Path]:
    return {laboratory.artefact(stage) for stage in STAGES}


def older_and_newer(laboratory: Laboratory) -> tuple[set[Path], set[Path]]:
    """Run with another rate, then without it; return the folders of both runs."""
    laboratory.run("--set", "stages.sample.rate=0.9")
    older = artefacts_of(laboratory)
    laboratory.run()
    return older, artefacts_of(laboratory)


@pytest.mark.long
def test_gc_keeps_artefacts_in_use(laboratory: Laboratory) -> None:
    older, newer = older_and_newer(laboratory)
    digests = laboratory.digests()
    assert {folder.parent.name for folder in older - newer} == {"sample", "precision", "comparison"}
    outcome = laboratory.call("gc")
    assert outcome.code == 0, outcome.text
    assert set(manifests(laboratory.root)) == newer
    assert "removed, 3 folders" in outcome.out
    for folder in older - newer:
        assert str(folder) in outcome.out
    laboratory.run()
    assert laboratory.reran() == set()
    assert laboratory.digests() == digests


@pytest.mark.long
def test_a_dry_gc_removes_nothing(laboratory: Laboratory) -> None:
    older_and_newer(laboratory)
    before = tree(laboratory.root)
    outcome = laboratory.call("gc", "--dry")
    assert outcome.code == 0
    assert "would be removed, 3 folders" in outcome.out
    assert tree(laboratory.root) == before


def test_gc_removes_remains_of_killed_and_damaged_runs(finished_laboratory: Laboratory) -> None:
    sample = finished_laboratory.artefact("sample")
    leftovers = [
        sample.with_name(f".partial-{sample.name}"),
        sample.with_name(f".staging-{sample.name}-123"),
        sample.with_name(f".aside-{sample.name}-1"),
        sample.with_name("0" * 24),
    ]
    for folder in leftovers:
        shutil.copytree(sample, folder)
    (leftovers[3] / "manifest.json").unlink()
    unfinished = [
        finished_laboratory.root / "..files.json.123",
        finished_laboratory.root / "history" / f".{finished_laboratory.record().id}.json.123",
        finished_laboratory.root / "history" / f".{finished_laboratory.record().id}.jsonl.123",
    ]
    for path in unfinished:
        path.touch()
    ended = finished_laboratory.call("gc")
    assert "removed, 7 folders" in ended.out, ended.text
    assert not any(path.exists() for path in [*leftovers, *unfinished])
    assert len(finished_laboratory.records()) == 1
    assert set(manifests(finished_laboratory.root)) == artefacts_of(finished_laboratory)


def test_gc_keeps_files_of_users(finished_laboratory: Laboratory) -> None:
    mine = [
        "notes.txt",
        "annotation/sheet-1.xlsx",
        "annotation/old/sheet-0.xlsx",
        "sample/sheet.csv",
        "sample/my sheets/sheet.csv",
        "sample/.hidden/sheet.csv",
        "history/.notes.json.1",
        ".mine.1",
        "report/notes/why.txt",
        "sweep/first/table.csv",
        ".mine/first/table.csv",
    ]
    for name in mine:
        path = finished_laboratory.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("typed by a person")
    (finished_laboratory.root / "empty" / "inner").mkdir(parents=True)
    ended = finished_laboratory.call("gc")
    assert ended.code == 0, ended.text
    assert "removed, 0 folders" in ended.out
    for name in mine:
        assert (finished_laboratory.root / name).read_text() == "typed by a person", name
    assert (finished_laboratory.root / "empty" / "inner").is_dir()


def test_gc_removes_artefacts_of_removed_stages(finished_laboratory: Laboratory) -> None:
    comparison = finished_laboratory.artefact("comparison")
    text = finished_laboratory.config.read_text()
    finished_laboratory.config.write_text(text[: text.index("[stages.comparison]")])
    ended = finished_laboratory.call("gc")
    assert str(comparison) in ended.out
    assert not comparison.exists()


@pytest.mark.long
def test_gc_keeps_all_artefacts_of_unfinished_stages(laboratory: Laboratory) -> None:
    """What they will reuse is unknown; artefacts unused by other stages are still removed."""
    laboratory.run("--set", 'stages.scores.measures=["t_score"]')
    laboratory.run()
    change(laboratory.config, "rate = 0.5", "rate = 0.6")
    before = {stage: set(laboratory.root.glob(f"{stage}/*")) for stage in ("sample", "scores")}
    outcome = laboratory.call("gc")
    assert outcome.code == 0, outcome.text
    assert re.search(r"kept: all results of .*sample.*, which are not done", outcome.out)
    assert set(laboratory.root.glob("sample/*")) == before["sample"]
    assert len(set(laboratory.root.glob("scores/*"))) == len(before["scores"]) - 1


def test_gc_before_the_first_run_removes_nothing(laboratory: Laboratory) -> None:
    outcome = laboratory.call("gc")
    assert outcome.code == 0
    assert "not done" in outcome.out
    assert "0.00 MB  removed, 0 folders" in outcome.out


@pytest.mark.long
def test_gc_keeps_artefacts_of_another_running_process(
    laboratory: Laboratory, tmp_path: Path
) -> None:
    """Results of a running process with other settings are not removed."""
    plugin = slow(tmp_path / "plugin")
    gate = laboratory.insert_gate()
    for _ in range(4):
        gate.permit()
    assert laboratory.execute("run", path=[plugin]).code == 0
    name = set(manifests(laboratory.root))
    other = laboratory.start("run", "--set", "stages.candidates.min_frequency=5", path=[plugin])
    wait_until(lambda: laboratory.shards_done("slow") == 4, laboratory)
    collecting = laboratory.start("gc", path=[plugin])
    assert collecting.stderr is not None
    assert "another run is working" in collecting.stderr.readline()
    assert collecting.poll() is None
    gate.open()
    outcome, collected = finish(other), finish(collecting)
    assert outcome.code == 0, outcome.text
    assert collected.code == 0, collected.text
    assert "removed, 8 folders" in collected.out
    assert set(manifests(laboratory.root)) == name


@pytest.mark.parametrize("name", ["history", "report", "sweep", "../outside", ".hidden", "a/b", ""])
def test_stage_names_that_would_collide_are_refused(laboratory: Laboratory, name: str) -> None:
    """A stage needs its own folder: not that of the report, nor one outside."""
    text = laboratory.config.read_text()
    laboratory.config.write_text(text.replace("[stages.comparison]", f'[stages."{name}"]'))
    outcome = laboratory.call("run")
    assert outcome.code == 2
    assert "stages" in outcome.err
    assert "name" in outcome.err
    assert not laboratory.root.exists()


IDS = ("20260101T101010-aaaa", "20260101T101010-abbb", "20260102T090000-cccc")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Three runs of an experiment, the last one on another day."""
    for number, name in enumerate(IDS):
        time = f"2026-01-0{number + 1}T00:00:00.000+00:00"
        record = RunRecord(
            id=name, experiment="small", content={}, settings={}, started=time, finished=time,
            outcome="done", stages={},
        )  # fmt: skip
        history.write(storage_at(tmp_path / "small"), record)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("small", 2),
        ("small:latest", 2),
        ("small:latest~1", 1),
        ("small:latest~2", 0),
        ("small:20260102", 2),
        ("small:20260101T101010-aa", 0),
        (f"small:{IDS[1]}", 1),
    ],
)
def test_runs_are_found_by_name(runs: Path, name: str, place: int) -> None:
    assert history.find(runs, name)[1].id == IDS[place]


def test_a_run_dated_in_the_future_is_not_the_latest(runs: Path) -> None:
    """The clock was wrong: the run counts as the oldest."""
    storage = storage_at(runs / "small")
    last = history.records(storage)[0]
    for year in (9998, 9999):
        future = {"id": f"{year}0101T000000-dddd", "started": f"{year}-01-01T00:00:00.000+00:00"}
        history.write(storage, last.model_copy(update=future))
    assert history.find(runs, "small:latest")[1].id == last.id
    for expected in (history.records(storage), list(history.newest_first(storage))):
        assert expected[0].id == last.id
        assert [each.id[:4] for each in expected[-2:]] == ["9999", "9998"]
    assert history.find(runs, "small:9998")[1].id.startswith("9998")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("small:20260101", "matches several runs"),
        ("small:2025", "matches no run"),
        ("small:latest~3", "matches no run"),
        ("small:latest~", "matches no run"),
        ("smal:latest", "has no runs of 'smal'; did you mean small"),
    ],
)
def test_names_of_no_run_or_several_runs_are_refused(runs: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as error:
        history.find(runs, name)
    assert name in str(error.value)
    assert "fits" not in message or all(each in str(error.value) for each in IDS)


# The current run: its log grows and its lock is held.

STAGE_STARTED = {"event": "stage_started", "stage": "candidates", "shards": 4, "resumed": 1}
TIME = "2026-01-02T03:04:0{}+00:00"


def log(root: Path, run: str, *events: dict[str, Any], record: bool = False) -> None:
    history = root / "history"
    history.mkdir(exist_ok=True)
    every = [{"event": "run_started"}, *events]
    lines = [json.dumps({"time": TIME.format(at), **each}) for at, each in enumerate(every)]
    (history / f"{run}.jsonl").write_text("\n".join(lines) + '\n{"time": "half a li')
    if record:
        (history / f"{run}.json").write_text("{}")


def fail() -> None:
    raise AssertionError("somebody holds the lock")


def test_without_runs_there_is_no_current_run(tmp_path: Path) -> None:
    assert current_run(storage_at(tmp_path / "small")) is None
    assert list(tmp_path.iterdir()) == []


def test_a_current_run_has_its_number_of_finished_shards(storage: Storage, tmp_path: Path) -> None:
    log(tmp_path, "r1", STAGE_STARTED, {"event": "shard_done"}, {"event": "remark"})
    assert current_run(storage) is None
    with storage.lock("candidates/.lock", fail):
        assert current_run(storage) == CurrentRun(
            "r1", TIME.format(0), "candidates", TIME.format(1), TIME.format(3), "shards", 2, 4
        )
    assert current_run(storage) is None


def test_a_current_run_has_its_number_of_bytes_read(storage: Storage, tmp_path: Path) -> None:
    log(tmp_path, "r1", STAGE_STARTED, {"event": "progress", "done": 5, "total": 20})
    with storage.lock("candidates/.lock", fail):
        current = current_run(storage)
    assert current is not None
    assert (current.unit, current.done, current.total) == ("bytes", 5, 20)


def test_a_current_run_may_be_between_two_stages(storage: Storage, tmp_path: Path) -> None:
    log(tmp_path, "r1", STAGE_STARTED, {"event": "stage_done", "stage": "candidates"})
    assert current_run(storage) is None
    with storage.lock(".lock", fail, shared=True):
        current = current_run(storage)
    assert current == CurrentRun("r1", TIME.format(0), last_event=TIME.format(2))


def test_a_finished_run_is_not_current(storage: Storage, tmp_path: Path) -> None:
    log(tmp_path, "r1", STAGE_STARTED, record=True)
    with storage.lock("candidates/.lock", fail):
        assert current_run(storage) is None


def test_of_a_dead_and_a_live_run_the_live_one_is_current(storage: Storage, tmp_path: Path) -> None:
    log(tmp_path, "r1", STAGE_STARTED)
    log(tmp_path, "r2", STAGE_STARTED, {"event": "shard_done"})
    log(tmp_path, "r3", {**STAGE_STARTED, "stage": "other"}, *[{"event": "remark"}] * 5)
    with storage.lock("candidates/.lock", fail):
        current = current_run(storage)
    assert current is not None
    assert current.run == "r2"
