"""The engine of Spark without Spark: its messages, and the code of its workers."""

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
    """Return the answers of a worker."""
    packed = [pickle.dumps(each) for each in works]
    batch = pa.RecordBatch.from_pydict({"id": [*range(len(works))], "work": packed})
    (answered,) = mapper(own, "no such folder")(iter([batch]))
    return [pickle.loads(each) for each in answered.column("answer").to_pylist()]


def test_workers_answer_with_results_and_errors() -> None:
    (succeeded, three), (failed, error) = outcomes(OWN, (len, "abc"), (fail, 1))
    assert (succeeded, three, failed) == (True, 3, False)
    assert isinstance(error, DataError)
    assert "raise DataError" in error.__notes__[0]


def test_a_task_unknown_to_the_worker_is_an_error_of_that_task() -> None:
    unknown = b"cno_such_module\nf\n."  # pickled by a machine that has it
    batch = pa.RecordBatch.from_pydict({"id": [0], "work": [unknown]})
    (answered,) = mapper(OWN, ".")(iter([batch]))
    succeeded, error = pickle.loads(answered.column("answer")[0].as_py())
    assert (succeeded, type(error)) == (False, TaskFailed)
    assert "ModuleNotFoundError: No module named 'no_such_module'; define its" in str(error)


def test_a_worker_without_lexassay_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lexassay", None)
    ((succeeded, message),) = outcomes(OWN, (len, "abc"))
    assert succeeded is None
    assert f"the Python of a worker ({sys.executable} on " in message
    assert "cannot import lexassay" in message


def test_a_worker_with_another_version_is_reported() -> None:
    ((succeeded, message),) = outcomes("0.0.1", (len, "abc"))
    assert succeeded is None
    assert message.endswith(f"has lexassay {OWN} instead of 0.0.1")


def test_the_engine_without_pyspark_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with (
        pytest.raises(ConfigError, match=r'PySpark is not installed; pip install "pyspark'),
        ENGINES.get("spark")(2),
    ):
        pass


class Builder:
    """Remembers the options of a session."""

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


def test_the_engine_without_java_is_refused(nowhere: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ConfigError, match="Spark needs Java, which is not installed; install Java 17"
    ):
        _builder(Builder(), 2)


def test_sessions_have_name_master_and_cores(nowhere: pytest.MonkeyPatch) -> None:
    nowhere.setenv(REMOTE, "sc://host")
    nowhere.setenv(MASTER, "spark://host:7077")
    assert _builder(Builder(), 2).asked == {"name": "lexassay"}
    nowhere.delenv(REMOTE)
    nowhere.setenv("JAVA_HOME", "java")
    options = _builder(Builder(), None).asked
    assert (options["name"], options["master"]) == ("lexassay", "spark://host:7077")
    assert "spark.cores.max" not in options
    assert _builder(Builder(), 2).asked["spark.cores.max"] == 2
