"""Damaged artefacts: named, set aside, made again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.runner.execution.shards import ShardManifest, ShardPart
from pipeline.runner.store.manifest import Manifest
from pipeline.runner.store.sealed import sealed, unsealed
from tests.runner.laboratory import STAGES, Laboratory, artefacts, assert_whole


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
def test_damaged_artefact(
    laboratory: Laboratory, damage: Callable[[Path], None], said: str
) -> None:
    laboratory.run()
    before = laboratory.digests()
    artefact = laboratory.artefact("scores")
    damage(artefact)
    left = {path.name: path.read_bytes() for path in artefact.rglob("*") if path.is_file()}

    for command in (["plan"], ["status"], ["why", "scores"]):
        told = laboratory.call(*command)
        assert told.code == 0
        assert "its artefact is damaged" in told.out, command
        assert said in told.out, command

    done = laboratory.run()
    assert said in done.err
    assert laboratory.reran() == {"scores"}
    assert laboratory.digests() == before
    assert_whole(laboratory.root)
    aside = artefact.with_name(f".aside-{artefact.name}-1")
    assert aside.name in done.err
    assert {path.name: path.read_bytes() for path in aside.rglob("*") if path.is_file()} == left

    laboratory.run()
    assert laboratory.reran() == set()


def test_every_stage_is_looked_at(laboratory: Laboratory) -> None:
    laboratory.run()
    before = laboratory.digests()
    for stage in STAGES:
        path = sorted(laboratory.artefact(stage).glob("*/part-*.parquet"))[0]
        path.write_bytes(path.read_bytes()[:-1])
    laboratory.run()
    assert laboratory.reran() == set(STAGES)
    assert laboratory.digests() == before


def test_a_second_damage_keeps_the_first_folder_aside(laboratory: Laboratory) -> None:
    laboratory.run()
    artefact = laboratory.artefact("sample")
    for _ in range(2):
        drop_manifest(artefact)
        laboratory.run()
    asides = [path.name for path in artefact.parent.glob(".aside-*")]
    assert sorted(asides) == [f".aside-{artefact.name}-{number}" for number in (1, 2)]


def test_finished_shard_of_a_killed_run(laboratory: Laboratory) -> None:
    """A shard that was damaged after it had been finished is made again, not built upon."""
    laboratory.run()
    before = laboratory.digests()
    artefact = laboratory.artefact("scores")
    partial = _as_if_killed(laboratory, artefact)
    victim = sorted(partial.glob("shard-*/scores.parquet"))[0]
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 0x01
    victim.write_bytes(content)

    laboratory.run()
    assert laboratory.digests() == before
    started = laboratory.events("stage_started")
    assert [each["resumed"] for each in started if each["stage"] == "scores"] == [0, 2]
    assert_whole(laboratory.root)


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


def test_the_store_holds_nothing_else(laboratory: Laboratory) -> None:
    laboratory.run()
    found = artefacts(laboratory.root)
    assert {each.stage for each in found.values()} == set(STAGES)
    hidden = [path.name for path in laboratory.root.glob("*/.*")]
    assert set(hidden) == {".lock"}
