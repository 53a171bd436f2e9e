"""A full disk and a folder that cannot be written to: a sentence, and nothing half-done."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.runner.store.backends import storage_at
from tests.runner.commands import Outcome, environment
from tests.runner.laboratory import Laboratory, assert_whole, build


@pytest.fixture
def large(tmp_path: Path) -> Laboratory:
    return build(tmp_path / "laboratory", shards=3, rows=400)


def limited(size: int) -> Callable[[], None]:
    """Return what a child does first: no file of its own may grow beyond this size."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def assert_nothing_half_done(root: Path) -> None:
    assert_whole(root)
    for pattern in (".staging-*", ".writing-*", ".*.json.*"):
        assert list(root.rglob(pattern)) == []


@pytest.mark.uncounted("the counts of lines do not fit either")
@pytest.mark.parametrize(
    ("stage", "missing"), [("candidates", 5000), ("scores", 1), ("precision", 3_000)]
)
@pytest.mark.long
def test_file_size_limit(large: Laboratory, stage: str, missing: int) -> None:
    """The largest file of a stage does not fit: by a byte, or by far."""
    undisturbed = Laboratory(large.folder, large.folder / "undisturbed")
    undisturbed.run()
    size = max(path.stat().st_size for path in undisturbed.artefact(stage).rglob("*.parquet"))
    done = large.execute("run", preexec_fn=limited(size - missing))
    assert done.code == 1, done.text
    assert f"stage {stage}: " in done.err
    assert_says_full(done)
    assert_nothing_half_done(large.root)
    assert large.outcomes()[stage] == "failed"
    finished = {name for name, outcome in large.outcomes().items() if outcome == "done"}

    large.run()
    assert large.digests() == undisturbed.digests()
    assert {n for n, outcome in large.outcomes().items() if outcome == "reused"} == finished


def assert_says_full(done: Outcome) -> None:
    assert "the disk is full" in done.err
    assert "MB free in" in done.err
    assert "make room and run the same command again" in done.err
    assert "Traceback" not in done.text


@pytest.mark.long
@pytest.mark.uncounted("the counts of lines do not fit either")
def test_report_that_does_not_fit(done: Laboratory) -> None:
    ended = done.execute("run", "--report", preexec_fn=limited(20_000))
    assert ended.code == 1, ended.text
    assert "the report" in ended.err
    assert_says_full(ended)
    assert_nothing_half_done(done.root)
    assert not (done.root / "report").exists()


def in_namespace(script: str, *arguments: str) -> Outcome:
    """Run a shell script that mounts things only it can see; skip where that is refused."""
    unshare = shutil.which("unshare")
    if not unshare:
        pytest.skip("needs unshare, which this machine does not have")
    kinds = ["-m"] if os.geteuid() == 0 else ["-rm"]
    command = [unshare, *kinds, "sh", "-c", script, "sh", sys.executable, *arguments]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"mounting is refused here: {done.stderr.strip()}")
    return Outcome(done.returncode, done.stdout, done.stderr)


FULL = """
mount -t tmpfs -o size=200k tmpfs "$2" || exit 77
"$1" -m pipeline.cli run "$3" --no-report --runs "$2"
echo "first $?"
find "$2" -name '.staging-*'
mount -o remount,size=20m "$2" || exit 77
"$1" -m pipeline.cli run "$3" --no-report --runs "$2"
echo "second $?"
cp -a "$2/." "$4"
"""


@pytest.mark.long
def test_full_file_system(large: Laboratory) -> None:
    mount, kept = large.folder / "mount", large.folder / "kept"
    mount.mkdir()
    kept.mkdir()
    done = in_namespace(FULL, str(mount), str(large.config), str(kept))
    told = [line for line in done.out.splitlines() if not line.startswith("remarks:")]
    assert told == ["first 1", "second 0"], done.text
    assert_says_full(done)
    again = Laboratory(large.folder, kept)
    assert_whole(again.root)
    large.run()
    assert again.digests() == large.digests()
    assert [each.outcome for each in again.records()] == ["done", "failed"]
    assert "reused" in again.outcomes().values()


READ_ONLY = """
mount --bind "$2" "$2" && mount -o remount,ro,bind "$2" || exit 77
python=$1
shift 2
for words in "$@"; do "$python" -m pipeline.cli $words; echo "$?"; done
"""


def read_only(laboratory: Laboratory, *commands: list[str]) -> Outcome:
    words = (" ".join(each) for each in commands)
    return in_namespace(READ_ONLY, str(laboratory.runs), *words)


def test_read_only_folder(laboratory: Laboratory) -> None:
    laboratory.runs.mkdir()
    done = read_only(laboratory, laboratory.words("run"))
    assert done.out == "1\n", done.text
    assert f"{laboratory.root} cannot be written to" in done.err
    assert "--runs DIR" in done.err
    assert "Traceback" not in done.err
    laboratory.run()


@pytest.mark.long
def test_results_on_a_read_only_disk_can_be_looked_at(done: Laboratory) -> None:
    looks = [["status"], ["show", "sample"]]
    ended = read_only(done, *(done.words(*words) for words in looks))
    assert ended.code == 0
    assert ended.err == ""
    assert "7 of 7 stages done" in ended.out
    assert "60 rows" in ended.out


@pytest.mark.parametrize(
    ("code", "below"),
    [(errno.EROFS, "small"), (errno.EACCES, "small/scores"), (errno.EPERM, "small/scores")],
)
def test_refused(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, code: int, below: str
) -> None:
    """The same where the permissions refuse, which they never do for root."""
    refused = laboratory.runs / below
    make = Path.mkdir

    def mkdir(self: Path, *arguments: Any, **options: Any) -> None:
        if self.is_relative_to(refused) and not self.exists():
            raise OSError(code, os.strerror(code), str(self))
        make(self, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", mkdir)
        done = laboratory.call("run")
    assert done.code == 1
    assert f"{refused} cannot be written to" in done.err
    assert "--runs DIR" in done.err
    laboratory.run()
    assert_whole(laboratory.root)


def test_full_disk_while_a_file_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = storage_at(tmp_path)
    storage.write("file", b"old")

    def no_room(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(OSError, match="No space left"):
        storage.write("file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [entry.key for entry in storage.list()] == ["file"]
