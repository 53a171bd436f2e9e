"""``gc`` removes what the experiment does not use, and nothing that is not its own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.runner.commands import finish
from tests.runner.extensions import slow
from tests.runner.laboratory import STAGES, Laboratory, change, manifests, wait_until


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def used(laboratory: Laboratory) -> set[Path]:
    return {laboratory.artefact(stage) for stage in STAGES}


def older_and_newer(laboratory: Laboratory) -> tuple[set[Path], set[Path]]:
    """Run with another rate, then as the file says; return the folders of both."""
    laboratory.run("--set", "stages.sample.rate=0.9")
    older = used(laboratory)
    laboratory.run()
    return older, used(laboratory)


def test_keeps_what_is_used(laboratory: Laboratory) -> None:
    older, newer = older_and_newer(laboratory)
    digests = laboratory.digests()
    assert {folder.parent.name for folder in older - newer} == {"sample", "precision", "comparison"}
    done = laboratory.call("gc")
    assert done.code == 0, done.text
    assert set(manifests(laboratory.root)) == newer
    assert "removed, 3 folder(s)" in done.out
    for folder in older - newer:
        assert str(folder) in done.out
    laboratory.run()
    assert laboratory.reran() == set()
    assert laboratory.digests() == digests


def test_dry_removes_nothing(laboratory: Laboratory) -> None:
    older_and_newer(laboratory)
    before = tree(laboratory.root)
    done = laboratory.call("gc", "--dry")
    assert done.code == 0
    assert "would go, 3 folder(s)" in done.out
    assert tree(laboratory.root) == before


def test_removes_what_killed_and_damaged_runs_left(done: Laboratory) -> None:
    sample = done.artefact("sample")
    left = [
        sample.with_name(f".partial-{sample.name}"),
        sample.with_name(f".staging-{sample.name}-123"),
        sample.with_name(f".aside-{sample.name}-1"),
        sample.with_name("0" * 24),
    ]
    for folder in left:
        shutil.copytree(sample, folder)
    (left[3] / "manifest.json").unlink()
    unfinished = [
        done.root / "..files.json.123",
        done.root / "history" / f".{done.record().id}.json.123",
        done.root / "history" / f".{done.record().id}.jsonl.123",
    ]
    for path in unfinished:
        path.touch()
    ended = done.call("gc")
    assert "removed, 7 folder(s)" in ended.out, ended.text
    assert not any(path.exists() for path in [*left, *unfinished])
    assert len(done.records()) == 1
    assert set(manifests(done.root)) == used(done)


def test_keeps_what_is_not_its_own(done: Laboratory) -> None:
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
        path = done.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("typed by a person")
    (done.root / "empty" / "inner").mkdir(parents=True)
    ended = done.call("gc")
    assert ended.code == 0, ended.text
    assert "removed, 0 folder(s)" in ended.out
    for name in mine:
        assert (done.root / name).read_text() == "typed by a person", name
    assert (done.root / "empty" / "inner").is_dir()


def test_a_stage_that_is_gone_from_the_experiment(done: Laboratory) -> None:
    comparison = done.artefact("comparison")
    text = done.config.read_text()
    done.config.write_text(text[: text.index("[stages.comparison]")])
    ended = done.call("gc")
    assert str(comparison) in ended.out
    assert not comparison.exists()


def test_keeps_all_of_stages_that_are_not_done(laboratory: Laboratory) -> None:
    """What they will reuse is not known; what the others do not use goes all the same."""
    laboratory.run("--set", 'stages.scores.measures=["t_score"]')
    laboratory.run()
    change(laboratory.config, "rate = 0.5", "rate = 0.6")
    before = {stage: set(laboratory.root.glob(f"{stage}/*")) for stage in ("sample", "scores")}
    done = laboratory.call("gc")
    assert done.code == 0, done.text
    assert re.search(r"kept: all results of .*sample.*: not done", done.out)
    assert set(laboratory.root.glob("sample/*")) == before["sample"]
    assert len(set(laboratory.root.glob("scores/*"))) == len(before["scores"]) - 1


def test_before_the_first_run(laboratory: Laboratory) -> None:
    done = laboratory.call("gc")
    assert done.code == 0
    assert "not done" in done.out
    assert "0.00 MB  removed, 0 folder(s)" in done.out


@pytest.mark.long
def test_while_another_process_runs(laboratory: Laboratory, tmp_path: Path) -> None:
    """What a run with other settings has made so far is not taken away under its hands."""
    plugin = slow(tmp_path / "plugin")
    gate = laboratory.insert_gate()
    for _ in range(4):
        gate.permit()
    assert laboratory.execute("run", path=[plugin]).code == 0
    kept = set(manifests(laboratory.root))
    other = laboratory.start("run", "--set", "stages.candidates.min_frequency=5", path=[plugin])
    wait_until(lambda: laboratory.shards_done("slow") == 4, laboratory)
    collecting = laboratory.start("gc", path=[plugin])
    assert collecting.stderr is not None
    assert "another run is at work" in collecting.stderr.readline()
    assert collecting.poll() is None
    gate.open()
    done, collected = finish(other), finish(collecting)
    assert done.code == 0, done.text
    assert collected.code == 0, collected.text
    assert "removed, 8 folder(s)" in collected.out
    assert set(manifests(laboratory.root)) == kept


@pytest.mark.parametrize("name", ["history", "report", "sweep", "../outside", ".hidden", "a/b", ""])
def test_names_of_stages_that_would_collide(laboratory: Laboratory, name: str) -> None:
    """A stage has a folder of its own: not that of the report, nor one outside."""
    text = laboratory.config.read_text()
    laboratory.config.write_text(text.replace("[stages.comparison]", f'[stages."{name}"]'))
    done = laboratory.call("run")
    assert done.code == 2
    assert "stages" in done.err
    assert "name" in done.err
    assert not laboratory.root.exists()
