"""A standalone Spark on the loopback device: a master, two workers, a Spark Connect server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pipeline
from tests.cluster.ports import free_port, wait_for

HOST = "127.0.0.1"
_ROOT = Path(pipeline.__file__).parents[1]
_DEFAULTS = f"""
spark.driver.host {HOST}
spark.driver.bindAddress {HOST}
spark.driver.memory 512m
spark.executor.memory 512m
spark.executor.cores 1
spark.cores.max 2
spark.ui.enabled false
"""


class Standalone:
    """Processes of a cluster; its workers have a core for each of two sessions.

    Parameters
    ----------
    folder : Path
        For logs, scratch files and the configuration.
    plugins : Path
        Import path of additional stages that its workers need.
    """

    def __init__(self, folder: Path, plugins: Path) -> None:
        import pyspark

        self.folder = folder
        self._home = Path(pyspark.__file__).parent
        self._log = (folder / "log").open("ab")
        (folder / "spark-defaults.conf").write_text(_DEFAULTS)
        self.own = {
            "SPARK_HOME": str(self._home),
            "SPARK_CONF_DIR": str(folder),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        }
        self._environment = {
            **{name: value for name, value in os.environ.items() if name != "POLARS_MAX_THREADS"},
            **self.own,
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join([str(plugins), str(_ROOT)]),
        }
        self._port, self.remote = free_port(), ""
        self.master = f"spark://{HOST}:{self._port}"
        self._started: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start the master and two workers."""
        names = ["--host", HOST, "--port", str(self._port), "--webui-port", "0"]
        self._run("spark-class", "org.apache.spark.deploy.master.Master", *names)
        wait_for(self._port)
        self.mend()

    def mend(self) -> None:
        """Start workers until there are two."""
        alive = [each for each in self.workers if each.poll() is None]
        own = ["--cores", "2", "--memory", "2g", "--work-dir", str(self.folder / "work")]
        words = ["--host", HOST, "--webui-port", "0", *own, self.master]
        while len(alive) < 2:
            alive.append(self._run("spark-class", "org.apache.spark.deploy.worker.Worker", *words))
        self.workers = alive

    def connect(self) -> str:
        """Return the address of the Spark Connect server, which is started on the first call."""
        if not self.remote:
            port = free_port()
            setting = f"spark.connect.grpc.binding.port={port}"
            words = ["--master", self.master, "--conf", setting]
            name = "org.apache.spark.sql.connect.service.SparkConnectServer"
            self._run("spark-submit", "--class", name, *words)
            wait_for(port)
            self.remote = f"sc://{HOST}:{port}"
        return self.remote

    def close(self) -> None:
        """End all processes and their children."""
        for each in self._started:
            if each.poll() is None:
                os.killpg(each.pid, signal.SIGTERM)
        for each in self._started:
            try:
                each.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(each.pid, signal.SIGKILL)
                each.wait()
        self._log.close()

    def _run(self, script: str, *words: str) -> subprocess.Popen[bytes]:
        log: IO[bytes] = self._log
        process = subprocess.Popen(
            [str(self._home / "bin" / script), *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=self._environment,
            cwd=self.folder,
            start_new_session=True,
        )
        self._started.append(process)
        return process
