"""Damaged artefacts: named, set aside, made again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.runner.shards import ShardManifest, ShardPart
from pipeline.runner.store.artefacts import Manifest, sealed, unsealed
from tests.runner.laboratory import STAGES, Laboratory, assert_whole, manifests


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
    found = unsealed(path.read_bytes(), Manifest)
    other = {"fingerprint": found.fingerprint[:24] + 40 * "0"}
    path.write_bytes(sealed(found.model_copy(update=other)))


def change_a_digit(artefact: Path) -> None:
    path = artefact / "manifest.json"
    text = path.read_text()
    digest = json.loads(text)["tables"]["scores"]["digest"]
    path.write_text(text.replace(digest, digest[:-1] + ("0" if digest[-1] != "0" else "1")))


DAMAGES: list[tuple[Callable[[Path], None], str]] = [
    (truncate, "part-00001.parquet has"),
    (flip, "part-00001.parquet has other content than was written"),
    (drop_part, "part-00001.parquet is gone"),
    (drop_manifest, "has no readable manifest.json"),
    (scribble, "has no readable manifest.json"),
    (strip, "has no readable manifest.json"),
    (empty_manifest, "has no readable manifest.json"),
    (change_a_digit, "has no readable manifest.json"),
    (swap_fingerprint, "manifest.json is of another result"),
]


@pytest.mark.parametrize(
    ("damage", "said"), DAMAGES, ids=lambda each: getattr(each, "__name__", "")
)
def test_damaged_artefact(done: Laboratory, damage: Callable[[Path], None], said: str) -> None:
    before = done.digests()
    artefact = done.artefact("scores")
    damage(artefact)
    left = {path.name: path.read_bytes() for path in artefact.rglob("*") if path.is_file()}

    for command in (["plan"], ["status"], ["why", "scores"]):
        told = done.call(*command)
        assert told.code == 0
        assert "its artefact is damaged" in told.out, command
        assert said in told.out, command

    ended = done.run()
    assert said in ended.err
    assert done.reran() == {"scores"}
    assert done.digests() == before
    assert_whole(done.root)
    aside = artefact.with_name(f".aside-{artefact.name}-1")
    assert aside.name in ended.err
    assert {path.name: path.read_bytes() for path in aside.rglob("*") if path.is_file()} == left

    done.run()
    assert done.reran() == set()


def test_every_stage_is_looked_at(done: Laboratory) -> None:
    before = done.digests()
    for stage in STAGES:
        path = sorted(done.artefact(stage).glob("*/part-*.parquet"))[0]
        path.write_bytes(path.read_bytes()[:-1])
    done.run()
    assert done.reran() == set(STAGES)
    assert done.digests() == before


def test_a_second_damage_keeps_the_first_folder_aside(done: Laboratory) -> None:
    artefact = done.artefact("sample")
    for _ in range(2):
        drop_manifest(artefact)
        done.run()
    asides = [path.name for path in artefact.parent.glob(".aside-*")]
    assert sorted(asides) == [f".aside-{artefact.name}-{number}" for number in (1, 2)]


def test_finished_shard_of_a_killed_run(done: Laboratory) -> None:
    """A shard that was damaged after it had been finished is made again, not built upon."""
    before = done.digests()
    artefact = done.artefact("scores")
    partial = _as_if_killed(done, artefact)
    victim = sorted(partial.glob("shard-*/scores.parquet"))[0]
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 0x01
    victim.write_bytes(content)

    done.run()
    assert done.digests() == before
    started = done.events("stage_started")
    assert [each["resumed"] for each in started if each["stage"] == "scores"] == [0, 2]
    assert_whole(done.root)


def _as_if_killed(laboratory: Laboratory, artefact: Path) -> Path:
    """Turn an artefact back into the finished shards that it was made from."""
    upstream = laboratory.artefact("candidates")
    partial = artefact.with_name(f".partial-{artefact.name}")
    found = json.loads((artefact / "manifest.json").read_text())
    inputs = json.loads((upstream / "manifest.json").read_text())["tables"]["candidates"]["parts"]
    for made, read in zip(found["tables"]["scores"]["parts"], inputs, strict=True):
        shard = partial / f"shard-{read['sha256'][:16]}"
        shard.mkdir(parents=True)
        (artefact / made["file"]).rename(shard / "scores.parquet")
        parts = (ShardPart(**{**made, "file": "scores.parquet"}),)
        content = ShardManifest(tables={"scores": parts}, seconds=0.1)
        (shard / "manifest.json").write_bytes(sealed(content))
    for path in sorted(artefact.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    artefact.rmdir()
    return partial


def test_the_store_holds_nothing_else(done: Laboratory) -> None:
    found = manifests(done.root)
    assert {each.stage for each in found.values()} == set(STAGES)
    hidden = [path.name for path in done.root.glob("*/.*")]
    assert set(hidden) == {".lock"}
