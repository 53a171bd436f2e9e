"""Workers on machines that do not see the copies of this one: they fetch a corpus themselves."""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pipeline as lx
from pipeline.engine import LocalEngine
from pipeline.engine.base import ENGINES
from pipeline.errors import DataError
from pipeline.runner.store import cloud
from pipeline.runner.store.cloud import Bucket
from tests.experiments.test_scale import corpus
from tests.runner.commands import environment

EXPERIMENT = """
name = "elsewhere"
[run]
memory = "{memory}"
shard = "20KB"
engine = "{engine}"
[stages.candidates]
use = "extract.pairs"
corpus = "{corpus}*.conllu*"
relation = "sentence"
left = {{ where = "upos = 'NOUN'" }}
right = {{ where = "upos = 'VERB'" }}
"""
_WORK = (
    "import sys; from pipeline.engine.processes import answer;"
    " sys.stdout.buffer.write(answer(sys.stdin.buffer.read(), '.'))"
)


class Elsewhere(LocalEngine):
    """Runs each task in a process with copies of its own, while those of this one are away."""

    def __init__(self, _workers: int | None = None) -> None:
        self.tasks = 0

    def map(self, task: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        mine = cloud.folder()
        for item in items:
            self.tasks += 1
            away = mine.with_name("away")
            mine.rename(away)
            try:
                yield self._done(pickle.dumps((task, item)), mine.with_name("theirs"))
            finally:
                shutil.rmtree(mine, ignore_errors=True)
                away.rename(mine)

    def _done(self, packed: bytes, copies: Path) -> Any:
        done = subprocess.run(
            [sys.executable, "-c", _WORK], input=packed, capture_output=True, check=False,
            env=environment((), {**os.environ, cloud.FOLDER: str(copies)}),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        well, found = pickle.loads(done.stdout)
        if not well:
            raise found
        return found


def digests(folder: Path, memory: str, there: str, runs: str, engine: str) -> dict[str, str]:
    text = EXPERIMENT.format(memory=memory, corpus=there, engine=engine)
    (folder / "x.toml").write_text(text)
    run = lx.run(folder / "x.toml", runs=folder / runs, report=False)
    return run.manifests["candidates"].digests()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("files", [3, 1])
def test_they_fetch_what_they_read(
    files: int, packed: bool, home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three files, or one that is cut: its parts go to several workers."""
    corpus(tmp_path, files=files)
    for path in [*tmp_path.glob("*.conllu")] if packed else ():
        path.with_suffix(".conllu.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    for path in tmp_path.glob("*.conllu*"):
        Bucket(home).put(f"corpus/{path.name}", path)
    there = Elsewhere()
    monkeypatch.setitem(ENGINES._things, "elsewhere", lambda _: there)
    here = digests(tmp_path, "1MB", "", "here", "local")
    found = digests(tmp_path, "1MB", f"{home}/corpus/", "there", "elsewhere")
    assert found == here
    assert there.tasks >= 3
    assert [*(tmp_path / "theirs").rglob("*.conllu*")]


def test_what_is_gone_meanwhile_is_told(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus(tmp_path)
    bucket = Bucket(home)
    for path in tmp_path.glob("*.conllu"):
        bucket.put(f"corpus/{path.name}", path)

    class Gone(Elsewhere):
        def map(self, task: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            bucket.delete(["corpus/1.conllu"])
            return super().map(task, items)

    monkeypatch.setitem(ENGINES._things, "elsewhere", Gone)
    with pytest.raises(DataError, match=r"1\.conllu\): it, or its folder, is not there"):
        digests(tmp_path, "1MB", f"{home}/corpus/", "there", "elsewhere")
