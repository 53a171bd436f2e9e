"""Damaged artefacts: they are named, set aside and computed again."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.runner.shards import ShardManifest, ShardPart
from pipeline.runner.store.artefacts import (
    FORMAT,
    Manifest,
    Part,
    TableRecord,
    add_checksum,
    read_checksummed,
)
from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.digest import canonical, text_digest
from tests.runner.commands import Outcome, environment
from tests.runner.laboratory import STAGES, Laboratory, assert_whole, build, manifests


def part(artefact: Path) -> Path:
    return sorted(artefact.glob("*/part-*.parquet"))[1]


def truncate(artefact: Path) -> None:
    path = part(artefact)
    path.write_bytes(path.read_bytes()[:-100])


def flip(artefact: Path) -> None:
    path = part(artefact)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x01
    path.write_bytes(content)


def drop_part(artefact: Path) -> None:
    part(artefact).unlink()


def drop_manifest(artefact: Path) -> None:
    (artefact / "manifest.json").unlink()


def scribble(artefact: Path) -> None:
    (artefact / "manifest.json").write_bytes(b'{"stage": "scores", \xff')


def strip(artefact: Path) -> None:
    (artefact / "manifest.json").write_text('{"stage": "scores"}')


def empty_manifest(artefact: Path) -> None:
    (artefact / "manifest.json").write_bytes(b"")


def swap_fingerprint(artefact: Path) -> None:
    path = artefact / "manifest.json"
    result = read_checksummed(path.read_bytes(), Manifest)
    other = {"fingerprint": result.fingerprint[:24] + 40 * "0"}
    path.write_bytes(add_checksum(result.model_copy(update=other)))


def change_a_digit(artefact: Path) -> None:
    path = artefact / "manifest.json"
    text = path.read_text()
    digest = json.loads(text)["tables"]["scores"]["digest"]
    path.write_text(text.replace(digest, digest[:-1] + ("0" if digest[-1] != "0" else "1")))


DAMAGES: list[tuple[Callable[[Path], None], str]] = [
    (truncate, "part-00001.parquet has"),
    (flip, "part-00001.parquet has changed"),
    (drop_part, "part-00001.parquet is missing"),
    (drop_manifest, "has no readable manifest.json"),
    (scribble, "has no readable manifest.json"),
    (strip, "has no readable manifest.json"),
    (empty_manifest, "has no readable manifest.json"),
    (change_a_digit, "has no readable manifest.json"),
    (swap_fingerprint, "manifest.json belongs to another result"),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("damage", "message"), DAMAGES, ids=lambda each: getattr(each, "__name__", "")
)
def test_a_damaged_artefact_is_set_aside_and_computed_again(
    finished_laboratory: Laboratory, damage: Callable[[Path], None], message: str
) -> None:
    before = finished_laboratory.digests()
    artefact = finished_laboratory.artefact("scores")
    damage(artefact)
    content = {path.name: path.read_bytes() for path in artefact.rglob("*") if path.is_file()}

    for command in (["plan"], ["status"], ["why", "scores"]):
        outcome = finished_laboratory.call(*command)
        assert outcome.code == 0
        assert "its result is damaged" in outcome.out, command
        assert message in outcome.out, command
    for table in ("scores", "ranks", "scores.scores", ""):  # a stage before it is also damaged
        outcome = finished_laboratory.call("show", *filter(None, [table]))
        assert outcome.code == (1 if table else 0)
        assert f"the results of stage scores in {artefact} are damaged: " in outcome.err, table
        assert message in outcome.err, table

    ended = finished_laboratory.run()
    assert message in ended.err
    assert finished_laboratory.reran() == {"scores"}
    assert finished_laboratory.digests() == before
    assert_whole(finished_laboratory.root)
    aside = artefact.with_name(f".aside-{artefact.name}-1")
    assert aside.name in ended.err
    assert {path.name: path.read_bytes() for path in aside.rglob("*") if path.is_file()} == content

    finished_laboratory.run()
    assert finished_laboratory.reran() == set()


def test_damage_is_detected_in_every_stage(finished_laboratory: Laboratory) -> None:
    before = finished_laboratory.digests()
    for stage in STAGES:
        path = sorted(finished_laboratory.artefact(stage).glob("*/part-*.parquet"))[0]
        path.write_bytes(path.read_bytes()[:-1])
    finished_laboratory.run()
    assert finished_laboratory.reran() == set(STAGES)
    assert finished_laboratory.digests() == before


def test_a_second_damage_keeps_the_first_folder_aside(finished_laboratory: Laboratory) -> None:
    artefact = finished_laboratory.artefact("sample")
    for _ in range(2):
        drop_manifest(artefact)
        finished_laboratory.run()
    asides = [path.name for path in artefact.parent.glob(".aside-*")]
    assert sorted(asides) == [f".aside-{artefact.name}-{number}" for number in (1, 2)]


def test_a_damaged_shard_of_a_killed_run_is_not_used(finished_laboratory: Laboratory) -> None:
    """A shard damaged after it was finished is computed again, not used."""
    before = finished_laboratory.digests()
    artefact = finished_laboratory.artefact("scores")
    partial = _as_if_killed(finished_laboratory, artefact)
    victim = sorted(partial.glob("shard-*/scores.parquet"))[0]
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 0x01
    victim.write_bytes(content)

    finished_laboratory.run()
    assert finished_laboratory.digests() == before
    started = finished_laboratory.events("stage_started")
    assert [each["resumed"] for each in started if each["stage"] == "scores"] == [0, 2]
    assert_whole(finished_laboratory.root)


def _as_if_killed(laboratory: Laboratory, artefact: Path) -> Path:
    """Turn an artefact back into its finished shards."""
    upstream = laboratory.artefact("candidates")
    partial = artefact.with_name(f".partial-{artefact.name}")
    result = json.loads((artefact / "manifest.json").read_text())
    inputs = json.loads((upstream / "manifest.json").read_text())["tables"]["candidates"]["parts"]
    for tables, table_files in zip(result["tables"]["scores"]["parts"], inputs, strict=True):
        shard = partial / f"shard-{table_files['sha256'][:16]}"
        shard.mkdir(parents=True)
        (artefact / tables["file"]).rename(shard / "scores.parquet")
        parts = (ShardPart(**{**tables, "file": "scores.parquet"}),)
        content = ShardManifest(tables={"scores": parts}, seconds=0.1)
        (shard / "manifest.json").write_bytes(add_checksum(content))
    for path in sorted(artefact.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    artefact.rmdir()
    return partial


def test_the_store_contains_only_artefacts_and_locks(finished_laboratory: Laboratory) -> None:
    result = manifests(finished_laboratory.root)
    assert {each.stage for each in result.values()} == set(STAGES)
    hidden = [path.name for path in finished_laboratory.root.glob("*/.*")]
    assert set(hidden) == {".lock"}


# A full disk and a read-only folder: the error is one sentence, and nothing is partial.


@pytest.fixture
def large(tmp_path: Path) -> Laboratory:
    return build(tmp_path / "laboratory", shards=3, rows=400)


def limit_files(size: int) -> Callable[[], None]:
    """Return the function that a child calls first: it limits the size of its files."""
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
def test_a_file_beyond_the_size_limit_leaves_no_partial_artefact(
    large: Laboratory, stage: str, missing: int
) -> None:
    """The largest file of a stage does not fit: by a byte, or by far."""
    undisturbed = Laboratory(large.folder, large.folder / "undisturbed")
    undisturbed.run()
    size = max(path.stat().st_size for path in undisturbed.artefact(stage).rglob("*.parquet"))
    result = large.execute("run", preexec_fn=limit_files(size - missing))
    assert result.code == 1, result.text
    assert f"stage {stage}: " in result.err
    assert_says_full(result)
    assert_nothing_half_done(large.root)
    assert large.outcomes()[stage] == "failed"
    finished = {name for name, outcome in large.outcomes().items() if outcome == "done"}

    large.run()
    assert large.digests() == undisturbed.digests()
    assert {n for n, outcome in large.outcomes().items() if outcome == "reused"} == finished


def assert_says_full(outcome: Outcome) -> None:
    assert "the disk is full" in outcome.err
    assert "MB free in" in outcome.err
    assert "free some space and run the same command again" in outcome.err
    assert "Traceback" not in outcome.text


@pytest.mark.long
@pytest.mark.uncounted("the counts of lines do not fit either")
def test_a_report_that_does_not_fit_on_the_disk_is_not_written(
    finished_laboratory: Laboratory,
) -> None:
    ended = finished_laboratory.execute("run", "--report", preexec_fn=limit_files(20_000))
    assert ended.code == 1, ended.text
    assert "the report" in ended.err
    assert_says_full(ended)
    assert_nothing_half_done(finished_laboratory.root)
    assert not (finished_laboratory.root / "report").exists()


def in_namespace(script: str, *arguments: str) -> Outcome:
    """Run a shell script that mounts things only it can see; skip where that is refused."""
    unshare = shutil.which("unshare")
    if not unshare:
        pytest.skip("needs unshare, which this machine does not have")
    kinds = ["-m"] if os.geteuid() == 0 else ["-rm"]
    command = [unshare, *kinds, "sh", "-c", script, "sh", sys.executable, *arguments]
    process = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=False
    )
    if process.returncode == 77 or "unshare" in process.stderr:
        pytest.skip(f"mounting is refused here: {process.stderr.strip()}")
    return Outcome(process.returncode, process.stdout, process.stderr)


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
@pytest.mark.parametrize("engine", ["local", "processes"])
def test_a_full_file_system_is_reported_and_the_run_resumes(large: Laboratory, engine: str) -> None:
    settings = f'\n[run]\nengine = "{engine}"\nworkers = 2\n'
    large.config.write_text(large.config.read_text() + settings)
    mount, copy = large.folder / "mount", large.folder / "kept"
    mount.mkdir()
    copy.mkdir()
    outcome = in_namespace(FULL, str(mount), str(large.config), str(copy))
    lines = [line for line in outcome.out.splitlines() if not line.startswith("remarks:")]
    assert lines == ["first 1", "second 0"], outcome.text
    assert_says_full(outcome)
    again = Laboratory(large.folder, copy)
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


@pytest.mark.long
def test_a_read_only_folder_is_reported(laboratory: Laboratory) -> None:
    laboratory.runs.mkdir()
    outcome = read_only(laboratory, laboratory.words("run"))
    assert outcome.out == "1\n", outcome.text
    assert f"{laboratory.root} is not writable" in outcome.err
    assert "--runs DIR" in outcome.err
    assert "Traceback" not in outcome.err
    laboratory.run()


@pytest.mark.long
def test_results_on_a_read_only_disk_can_be_shown(finished_laboratory: Laboratory) -> None:
    looks = [["status"], ["show", "sample"]]
    ended = read_only(finished_laboratory, *(finished_laboratory.words(*words) for words in looks))
    assert ended.code == 0
    assert ended.err == ""
    assert "7 of 7 stages done" in ended.out
    assert "60 rows" in ended.out


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "below"),
    [(errno.EROFS, "small"), (errno.EACCES, "small/scores"), (errno.EPERM, "small/scores")],
)
def test_refused_permissions_are_reported(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, code: int, below: str
) -> None:
    """Simulates refused permissions, which do not apply to root."""
    refused = laboratory.runs / below
    make = Path.mkdir

    def mkdir(self: Path, *arguments: Any, **options: Any) -> None:
        if self.is_relative_to(refused) and not self.exists():
            raise OSError(code, os.strerror(code), str(self))
        make(self, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", mkdir)
        outcome = laboratory.call("run")
    assert outcome.code == 1
    assert f"{refused} is not writable" in outcome.err
    assert "--runs DIR" in outcome.err
    laboratory.run()
    assert_whole(laboratory.root)


def test_a_full_disk_keeps_the_file_that_was_to_be_replaced(
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


PART = Part(file="a/part-00000.parquet", bytes=120, sha256="ab" * 32, rows=3)
MANIFEST = Manifest(
    stage="pairs",
    use="extract.pairs",
    fingerprint="0f" * 32,
    ingredients={"config": {"rate": 0.1, "name": "é\u2028"}},
    tables={"pairs": TableRecord(model="Candidates", digest="cd" * 32, rows=3, parts=(PART,))},
    created="2024-01-01T00:00:00.000+00:00",
    seconds=0.125,
    skipped_examples=("one", "two"),
)
WHOLE = add_checksum(MANIFEST)


def test_a_record_is_read_back_unchanged() -> None:
    assert read_checksummed(WHOLE, Manifest) == MANIFEST


@given(place=st.integers(0, len(WHOLE) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_is_detected_or_changes_nothing(place: int, bit: int) -> None:
    content = bytearray(WHOLE)
    content[place] ^= 1 << bit
    try:
        result = read_checksummed(bytes(content), Manifest)
    except ValueError:
        return
    # Only white space between the fields may differ.
    assert result == MANIFEST


@given(length=st.integers(0, len(WHOLE) - 1))
def test_a_truncated_record_is_detected(length: int) -> None:
    try:
        read_checksummed(WHOLE[:length], Manifest)
    except ValueError:
        return
    raise AssertionError(WHOLE[:length])


def test_other_json_is_not_read_as_a_record() -> None:
    for content in (b"[]", b"3", b"{}", b"null", b"\xff", MANIFEST.model_dump_json().encode()):
        try:
            read_checksummed(content, Manifest)
        except ValueError:
            continue
        raise AssertionError(content)


def rewrite_as_later(path: Path) -> None:
    """Give a stored record the format of a later version, with a field of its own."""
    body = json.loads(path.read_bytes()) | {"format": FORMAT + 1, "lexassay": "9.9", "more": 1}
    body.pop("sha256 of the rest", None)
    digest = text_digest(canonical(body))
    path.write_text(json.dumps(body | {"sha256 of the rest": digest}))


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        *(("scores/*/manifest.json", each) for each in ("run", "plan", "status", "show", "gc")),
        ("history/*.json", "status"),
    ],
)
def test_results_of_a_later_version_are_neither_damaged_nor_replaced(
    tmp_path: Path, pattern: str, command: str
) -> None:
    laboratory = build(tmp_path)
    laboratory.run()
    (path,) = laboratory.root.glob(pattern)
    rewrite_as_later(path)
    content = path.read_bytes()
    outcome = laboratory.call(command)
    assert outcome.code != 0, outcome.text
    assert "was written by lexassay 9.9 in a format that this version cannot read" in outcome.text
    assert str(path.name) in outcome.text
    assert path.read_bytes() == content


def test_records_without_a_version_are_read(tmp_path: Path) -> None:
    """Those that were written before 1.0."""
    laboratory = build(tmp_path)
    laboratory.run()
    for path in [
        *laboratory.root.glob("*/*/manifest.json"),
        *laboratory.root.glob("history/*.json"),
    ]:
        body = json.loads(path.read_bytes())
        for name in ("format", "lexassay", "sha256 of the rest"):
            body.pop(name, None)
        sealed = {**body, "sha256 of the rest": text_digest(canonical(body))}
        path.write_text(json.dumps(body if path.parent.name == "history" else sealed))
    laboratory.run()
    assert laboratory.reran() == set()
