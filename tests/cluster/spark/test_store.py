"""Corpus and results on an object store, workers that see no file of the machine of the run."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.spark.standalone import Standalone
from tests.cluster.spark.test_runs import COUNTED, SPARK
from tests.experiments.test_scale import corpus
from tests.runner.laboratory import Laboratory

pytest.importorskip("obstore")
pytest.importorskip("moto")


def options_with(cluster: Standalone, folder: Path, environment: dict[str, str]) -> Path:
    """Write options of Spark that give the workers more environment."""
    made = folder / "conf"
    made.mkdir()
    own = (cluster.folder / "spark-defaults.conf").read_text()
    given = "".join(f"spark.executorEnv.{name} {value}\n" for name, value in environment.items())
    (made / "spark-defaults.conf").write_text(own + given)
    return made


def test_workers_fetch_the_corpus(
    cluster: Standalone, home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline.runner.store.cloud import Bucket

    corpus(tmp_path)
    (tmp_path / "scale.toml").write_text(COUNTED)
    here = Laboratory(tmp_path, tmp_path / "runs", "scale", "scale")
    here.run()
    for path in tmp_path.glob("*.conllu"):
        Bucket(home).put(f"corpus/{path.name}", path)
        path.unlink()
    (tmp_path / "scale.toml").write_text(COUNTED.replace("*.conllu", f"{home}/corpus/*.conllu"))
    there = replace(here, runs=Path(f"{home}/runs"))
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    access = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    options = options_with(cluster, tmp_path, {**access, "LEXASSAY_STORE_CACHE": str(theirs)})
    monkeypatch.setenv("SPARK_CONF_DIR", str(options))
    mine.mkdir()
    # What a number of an open folder means, the process alone knows that has it open.
    opened = os.open(mine, os.O_RDONLY)
    monkeypatch.setenv("LEXASSAY_STORE_CACHE", f"/dev/fd/{opened}")
    try:
        done = there.execute("run", *SPARK, cwd=there.folder, pass_fds=(opened,))
    finally:
        os.close(opened)
    assert done.code == 0, done.text
    assert len([*mine.rglob("*.conllu")]) == 3
    assert len([*theirs.rglob("*.conllu")]) == 3
    monkeypatch.setenv("LEXASSAY_STORE_CACHE", str(theirs))
    assert there.digests() == here.digests()
