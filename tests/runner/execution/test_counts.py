"""Counts are artefacts of their own: with another threshold nothing is counted again."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from pipeline.runner import task
from tests.runner.commands import Driver, finish
from tests.runner.execution.batching import BUCKETS, COUNTS, SHARDS, counts, elsewhere, given
from tests.runner.execution.killing import Kill, kill
from tests.runner.execution.test_kill import before
from tests.runner.laboratory import Laboratory, change

OTHER = ("--set", "stages.candidates.min_frequency=4")
THERE = "the counts are there"


def flip(folder: Path) -> None:
    part = next(folder.glob("counts/part-*.parquet"))
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 0x01
    part.write_bytes(content)


def refuse(_task: Any, *_: Any) -> Any:
    raise AssertionError("it counts again")


@pytest.mark.parametrize("options", ["", SHARDS, BUCKETS, f"{BUCKETS}\n{SHARDS}"])
def test_another_threshold(
    texts: Laboratory, options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(texts, options)
    texts.run()
    before, made = texts.digests(), counts(texts)
    monkeypatch.setattr(task, "streamed", refuse)
    ended = texts.run(*OTHER)
    assert f"candidates: {THERE}" in ended.err
    assert texts.reran() == {"candidates", "scores"}
    assert counts(texts) == made
    found = texts.digests()
    monkeypatch.undo()
    assert found == elsewhere(texts, *OTHER) != before
    started = [each for each in texts.events("stage_started") if each["stage"] == "candidates"]
    assert (started[-1]["shards"] > 1) == (BUCKETS in options)


@pytest.mark.parametrize(("first", "then"), [("", BUCKETS), (BUCKETS, "")])
def test_in_other_buckets_than_were_counted(texts: Laboratory, first: str, then: str) -> None:
    """They are made of what is there; the limit of memory holds for what is combined, too."""
    texts.config.write_text(COUNTS.replace("# options of the run", first))
    texts.run()
    texts.config.write_text(COUNTS.replace("# options of the run", then))
    assert f"candidates: {THERE}" in texts.run(*OTHER).err
    assert len(counts(texts)) == 1
    started = [each for each in texts.events("stage_started") if each["stage"] == "candidates"]
    assert started[-1]["shards"] > 1
    assert texts.digests() == elsewhere(texts, *OTHER)


def test_what_is_said(texts: Laboratory) -> None:
    texts.run()
    reason = "config min_frequency: 2 -> 4"
    assert texts.call("why", "candidates", *OTHER).out.splitlines() == [
        f"candidates: {reason}",
        f"candidates: {THERE}",
    ]
    assert f"{reason}; {THERE}" in texts.call("status", *OTHER).out
    assert f"{reason}\n             {THERE}\n" in texts.call("plan", *OTHER).out
    other = texts.call("why", "candidates", "--set", "stages.candidates.examples=2").out
    assert THERE not in other


def test_what_is_counted_otherwise(texts: Laboratory) -> None:
    texts.run()
    texts.run("--set", "stages.candidates.relation=adjacent")
    assert len(counts(texts)) == 2


def test_counts_that_are_damaged(texts: Laboratory) -> None:
    texts.run()
    (folder,) = counts(texts)
    flip(folder)
    texts.run()
    assert texts.reran() == set()
    for command in (["plan"], ["status"], ["why", "candidates"]):
        told = texts.call(*command, *OTHER).out
        assert "its counts are damaged: counts/part-00000.parquet has other content" in told
    ended = texts.run(*OTHER)
    assert f".aside-{folder.name}-1" in ended.err
    assert texts.digests() == elsewhere(texts, *OTHER)
    assert THERE in texts.run("--set", "stages.candidates.min_frequency=3").err


def test_forced(texts: Laboratory) -> None:
    texts.run()
    before, (folder,) = texts.digests(), counts(texts)
    texts.run("--force", "candidates")
    assert texts.digests() == before
    assert counts(texts) == [folder]
    assert folder.with_name(f".aside-{folder.name}-1").is_dir()


def test_garbage(texts: Laboratory) -> None:
    """Those of the experiment as it is are kept, also where another threshold made them."""
    texts.run("--set", "stages.candidates.relation=adjacent")
    (old,) = counts(texts)
    texts.run(*OTHER)
    texts.run()
    (used,) = {*counts(texts)} - {old}
    dry = texts.call("gc", "--dry").out
    assert str(old) in dry
    assert str(used) not in dry
    assert texts.call("gc").code == 0
    assert counts(texts) == [used]
    assert THERE in texts.run(*OTHER).err


def test_garbage_of_what_was_stopped(texts: Laboratory) -> None:
    texts.run()
    left = texts.root / "candidates" / "counts" / f".staging-{'0' * 24}"
    left.mkdir()
    assert str(left) in texts.call("gc").out
    assert not left.exists()


@pytest.mark.parametrize(
    ("place", "number", "partial", "shards"),
    [
        ("os.rename .*/counts/.partial-.*/shard-", 3, False, (3, 2)),
        ("os.link .*/counts/.staging-", 1, False, (3, 3)),
        ("os.rename .*/candidates/counts/[0-9a-f]+$", 1, False, (3, 3)),
        ("os.mkdir .*/candidates/.partial-", 1, False, (1, 0)),
        ("os.rename .*/candidates/.partial-.*/combine-", 1, True, (1, 0)),
        ("os.rename .*/candidates/[0-9a-f]+$", 1, True, (1, 1)),
    ],
)
@pytest.mark.long
def test_killed(
    texts: Laboratory, place: str, number: int, partial: bool, shards: tuple[int, int]
) -> None:
    """It goes on with the shards, then with the counts, then with the buckets that are there."""
    given(texts, SHARDS)
    assert kill(texts, Driver(), before(place, number)) == Kill("candidates", "shard_done", partial)
    assert len(counts(texts)) == (shards[0] == 1)
    texts.run()
    started = [each for each in texts.events("stage_started") if each["stage"] == "candidates"]
    assert (started[-1]["shards"], started[-1]["resumed"]) == shards
    assert texts.said("candidates", THERE) == (shards[0] == 1)
    assert texts.digests() == elsewhere(texts)
    hidden = {path.name for path in texts.root.glob("candidates/**/.*")}
    assert hidden == {".lock"}


@pytest.mark.long
def test_two_at_once_with_different_thresholds(texts: Laboratory) -> None:
    """One counts, the other waits for it; both have their own candidates."""
    given(texts, SHARDS)
    both = [texts.start("run", *more) for more in ((), OTHER)]
    assert [finish(process).code for process in both] == [0, 0]
    assert len(counts(texts)) == 1
    started = [each for each in texts.events("stage_started") if each["stage"] == "candidates"]
    assert sorted(each["shards"] for each in started) == [1, 3]
    digests = [{name: s.digests for name, s in each.stages.items()} for each in texts.records()]
    expected = [elsewhere(texts), elsewhere(texts, *OTHER)]
    assert sorted(map(str, digests)) == sorted(map(str, expected))


def test_a_sweep_counts_once(texts: Laboratory) -> None:
    given(texts, SHARDS)
    change(
        texts.config,
        "[stages.candidates]",
        '[sweep]\ncollect = ["candidates"]\n[sweep.over]\n'
        '"stages.candidates.min_frequency" = [2, 3, 4]\n[stages.candidates]',
    )
    texts.run()
    assert len(counts(texts)) == 1
    started = [each for each in texts.events("stage_started") if each["stage"] == "candidates"]
    assert [each["shards"] for each in started] == [3, 1, 1]


def test_what_was_left_out_is_still_said(texts: Laboratory) -> None:
    """Readers that are lenient leave out lines; combining reads none, but knows of them."""
    line = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n"
    (texts.folder / "c.conllu").write_text(f"{line}broken\n\n{line}2{line[1:]}\n")
    change(texts.config, '"*.txt"', '{ path = "c.conllu", lenient = true }')
    texts.run()
    first = texts.record().stages["candidates"].remarks
    texts.run("--set", "stages.candidates.min_frequency=1")
    assert texts.said("candidates", THERE)
    second = texts.record().stages["candidates"].remarks
    left = [[each.text for each in some if "left out" in each.text] for some in (first, second)]
    assert left[0] == left[1] != []


@pytest.mark.torture
def test_killed_before_every_tenth_act_of_counting(texts: Laboratory) -> None:
    """Wherever it is killed, and by counts or candidates half-made: the same tables."""
    given(texts, SHARDS)
    digests, place = elsewhere(texts), ".*/candidates/"
    folder, driver = texts.folder, Driver()
    for number in itertools.count(1, 10):
        killed = Laboratory(folder, folder / f"killed-{number}", "texts", "texts")
        driver.ready()
        driver.send(killed.words("run"), kill_at=number, place=place)
        ended = driver.outcome()
        driver.close()
        if ended:
            break
        driver = Driver()  # starts while the other goes on
        killed.run()
        assert killed.digests() == digests, number
        assert len(counts(killed)) == 1
    assert number > 50
