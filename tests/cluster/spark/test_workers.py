"""What workers are sent, and what is said of a Python that is not fit for it."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from pipeline.engine.spark import mapper
from tests.cluster.spark.standalone import Standalone
from tests.runner.laboratory import build

_BARE = """
import pickle, sys
sys.modules.update(lexassay=None, pipeline=None)
import pyarrow
from pyspark import cloudpickle
work = cloudpickle.load(sys.stdin.buffer)
batch = pyarrow.RecordBatch.from_pydict({"work": [b"unread"]})
print(pickle.loads(next(work(iter([batch])))["answer"][0].as_py()))
"""


def test_what_is_sent_needs_no_lexassay() -> None:
    from pyspark import cloudpickle

    sent = cloudpickle.dumps(mapper("1.0", "."))
    done = subprocess.run(
        [sys.executable, "-c", _BARE], input=sent, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"(None, 'the Python of a worker (")
    assert b"cannot import lexassay" in done.stdout


def test_a_python_of_the_workers_that_has_nothing(
    tmp_path: Path, cluster: Standalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    laboratory = build(tmp_path / "laboratory")
    monkeypatch.setenv("PYSPARK_PYTHON", str(tmp_path / "bare" / "bin" / "python"))
    done = laboratory.execute("run", "--set", "run.engine=spark")
    assert done.code == 2, done.text
    assert "run.engine: the workers' Python cannot run tasks: PythonException" in done.err
    assert "No module named" in done.err
    assert "PYSPARK_PYTHON" in done.err
