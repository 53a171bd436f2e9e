"""A Spark cluster for the tests of this folder; without PySpark or Java they are skipped."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.spark.standalone import Standalone
from tests.runner.extensions import slow

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that cannot run on this machine."""
    missing = [] if importlib.util.find_spec("pyspark") else ["PySpark is not installed"]
    missing += [] if shutil.which("java") else ["Java is not here"]
    for item in (each for each in items if missing and each.path.is_relative_to(HERE)):
        item.add_marker(pytest.mark.skip(reason="; ".join(missing)))


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import path of the slow stage, for the command and for the workers."""
    return slow(tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="session")
def standalone(tmp_path_factory: pytest.TempPathFactory, plugin: Path) -> Iterator[Standalone]:
    """A running cluster."""
    standalone = Standalone(tmp_path_factory.mktemp("spark"), plugin)
    try:
        standalone.start()
        yield standalone
    finally:
        standalone.close()


@pytest.fixture
def cluster(standalone: Standalone, monkeypatch: pytest.MonkeyPatch) -> Standalone:
    """The cluster, with two workers, and an environment that names its master."""
    standalone.mend()
    for name, value in {**standalone.own, "SPARK_MASTER": standalone.master}.items():
        monkeypatch.setenv(name, value)
    return standalone


@pytest.fixture(params=["classic", "connect"])
def either(
    request: pytest.FixtureRequest, cluster: Standalone, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Each of the two ways to connect to the cluster."""
    if request.param == "connect":
        monkeypatch.delenv("SPARK_MASTER")
        monkeypatch.setenv("SPARK_REMOTE", cluster.connect())
    return str(request.param)
