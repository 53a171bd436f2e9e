"""A session of Spark: whose cluster it is, Spark's own configuration says."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pipeline.errors import ConfigError, Problem

REMOTE = "SPARK_REMOTE"
"""Environment variable: a server of Spark Connect, such as ``sc://host:15002``."""
MASTER = "SPARK_MASTER"
"""Environment variable: the master; else that of spark-defaults.conf, or none but this machine."""
_PLACES = f"set {REMOTE}, {MASTER} or spark-defaults.conf to a cluster that this machine reaches"


def require_pyspark() -> None:
    """Refuse to go on without PySpark.

    Raises
    ------
    ConfigError
        If it is not installed.
    """
    if importlib.util.find_spec("pyspark") is None:
        raise refused("PySpark is not installed", 'pip install "lexassay[spark]"')


def opened(workers: int | None) -> tuple[Any, bool]:
    """Return a session, and whether it was made for the purpose, so that it is to be stopped.

    Parameters
    ----------
    workers : int, optional
        Cores to take of a cluster that is reached without Spark Connect (``spark.cores.max``).

    Raises
    ------
    ConfigError
        If there is no Java, or no session comes of the configuration.
    """
    from pyspark.sql import SparkSession  # noqa: PLC0415  takes long, and may not be there

    if active := SparkSession.getActiveSession():
        return active, False
    try:
        with _interrupts_kept():
            return _builder(SparkSession.builder, workers).getOrCreate(), True
    except ConfigError:
        raise
    except Exception as error:
        first = f"{type(error).__name__}: {error}".splitlines()[0]
        raise refused(f"no session of Spark: {first}", _PLACES) from error


def refused(what: str, remedy: str) -> ConfigError:
    """Return the error of a Spark that cannot be used."""
    return ConfigError("engine spark", [Problem("run.engine", what, remedy)])


def _builder(builder: Any, workers: int | None) -> Any:
    named = builder.appName("lexassay")
    if os.environ.get(REMOTE):
        return named
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        remedy = f"install Java 17 or later, or name a server of Spark Connect by {REMOTE}"
        raise refused("Spark needs Java, which is not here", f'{remedy} (extra "spark")')
    # Without it Spark takes the first python3 that a worker finds, which has nothing installed.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    named = named.config("spark.ui.showConsoleProgress", "false")  # the run shows its own
    if master := os.environ.get(MASTER):
        named = named.master(master)
    return named.config("spark.cores.max", workers) if workers else named


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Give Ctrl-C back: a session takes it over, and the run has set it up already."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
