"""The engine of Spark where there is no Spark: what it says, and what its workers would do."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import pickle
import sys
from typing import Any

import pyarrow as pa
import pytest

from pipeline.engine import ENGINES
from pipeline.engine.spark import MASTER, REMOTE, _builder, mapper
from pipeline.errors import ConfigError, DataError, TaskFailed

OWN = importlib.metadata.version("lexassay")


def fail(_item: object) -> None:
    raise DataError("this cannot be read")


def outcomes(own: str, *works: object) -> list[tuple[bool | None, Any]]:
    """Return what a worker answers."""
    packed = [pickle.dumps(each) for each in works]
    batch = pa.RecordBatch.from_pydict({"id": [*range(len(works))], "work": packed})
    (answered,) = mapper(own, "no such folder")(iter([batch]))
    return [pickle.loads(each) for each in answered.column("answer").to_pylist()]


def test_results_and_errors_are_answers() -> None:
    (done, three), (failed, error) = outcomes(OWN, (len, "abc"), (fail, 1))
    assert (done, three, failed) == (True, 3, False)
    assert isinstance(error, DataError)
    assert "raise DataError" in error.__notes__[0]


def test_a_task_that_the_worker_does_not_know_is_an_error_of_that_task() -> None:
    unknown = b"cno_such_module\nf\n."  # pickled by a machine that has it
    batch = pa.RecordBatch.from_pydict({"id": [0], "work": [unknown]})
    (answered,) = mapper(OWN, ".")(iter([batch]))
    done, error = pickle.loads(answered.column("answer")[0].as_py())
    assert (done, type(error)) == (False, TaskFailed)
    assert "ModuleNotFoundError: No module named 'no_such_module'; define its" in str(error)


def test_a_worker_without_lexassay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lexassay", None)
    ((done, said),) = outcomes(OWN, (len, "abc"))
    assert done is None
    assert f"the Python of a worker ({sys.executable} on " in said
    assert "cannot import lexassay" in said


def test_a_worker_with_another_lexassay() -> None:
    ((done, said),) = outcomes("0.0.1", (len, "abc"))
    assert done is None
    assert said.endswith(f"has lexassay {OWN} instead of 0.0.1")


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with (
        pytest.raises(ConfigError, match=r'PySpark is not installed; pip install "pyspark'),
        ENGINES.get("spark")(2),
    ):
        pass


class Builder:
    """Remembers what a session is asked for."""

    def __init__(self) -> None:
        self.asked: dict[str, object] = {}

    def appName(self, name: str) -> Builder:
        return self.config("name", name)

    def master(self, name: str) -> Builder:
        return self.config("master", name)

    def config(self, name: str, value: object) -> Builder:
        self.asked[name] = value
        return self


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without Java that names no cluster."""
    for name in (MASTER, REMOTE, "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYSPARK_PYTHON", "python")
    monkeypatch.setenv("PATH", "")
    return monkeypatch


def test_without_java(nowhere: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ConfigError, match="Spark needs Java, which is not installed; install Java 17"
    ):
        _builder(Builder(), 2)


def test_what_a_session_is_asked_for(nowhere: pytest.MonkeyPatch) -> None:
    nowhere.setenv(REMOTE, "sc://host")
    nowhere.setenv(MASTER, "spark://host:7077")
    assert _builder(Builder(), 2).asked == {"name": "lexassay"}
    nowhere.delenv(REMOTE)
    nowhere.setenv("JAVA_HOME", "java")
    asked = _builder(Builder(), None).asked
    assert (asked["name"], asked["master"]) == ("lexassay", "spark://host:7077")
    assert "spark.cores.max" not in asked
    assert _builder(Builder(), 2).asked["spark.cores.max"] == 2
