"""Engines: entry points of installed packages, and the path on which workers import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.engine import LocalEngine
from pipeline.errors import ConfigError
from pipeline.registry import Registry, identity
from tests.runner.extensions import install
from tests.runner.laboratory import build
from tests.small_experiment import SMALL

GROUP = "lexassay.engines"
MODULE = """
from pipeline.engine import LocalEngine

class {name}(LocalEngine):
    def map(self, task, items):
        return (task(item) for item in reversed(list(items)))

NUMBER = 3
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An import path where packages are installed."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def offer(path: Path, module: str, **points: str) -> None:
    install(
        path,
        name=module.replace("_", "-"),
        modules={module: MODULE.format(name="Reversed")},
        group=GROUP,
        points={name: f"{module}:{thing}" if thing else module for name, thing in points.items()},
    )


def engines() -> Registry[object]:
    """A fresh registry like that of the engines."""
    return Registry("engine", "pipeline.engine", group=GROUP)


def test_an_engine_is_found_by_the_name_of_its_entry_point(path: Path) -> None:
    offer(path, "one_engine", reverse="Reversed")
    registry = engines()
    assert "reverse" in registry
    assert registry.resolve(["reverse"]) == ["reverse"]
    assert registry.place("reverse") == "one_engine"
    instance = registry.get("reverse")(2)
    with instance as engine:
        assert list(engine.map(len, ["a", "bc"])) == [2, 1]


def test_a_name_that_is_taken_is_refused(path: Path) -> None:
    offer(path, "two_engine", local="Reversed")
    registry = engines()
    registry.named_decorator(identity)("local")(LocalEngine)
    for _ in range(2):
        with pytest.raises(
            ConfigError, match="by pipeline.engine.base:LocalEngine and by two_engine"
        ):
            registry.get("local")


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (
            "",
            "three-engine: 1 error\n.*is of type module, not a function or class; write reverse =",
        ),
        ("NUMBER", "is of type int, not a function or class"),
        ("Gone", "three-engine: 1 error\n.*cannot be imported: AttributeError"),
    ],
)
def test_entry_points_that_are_no_engine_are_refused(path: Path, thing: str, message: str) -> None:
    offer(path, "three_engine", reverse=thing)
    with pytest.raises(ConfigError, match=message):
        engines().get("local")


@pytest.mark.long
def test_an_experiment_can_name_an_engine(tmp_path: Path) -> None:
    """On the command line: the tables equal those of the engine `local`."""
    offer(tmp_path / "path", "four_engine", reverse="Reversed")
    laboratory = build(tmp_path / "laboratory")
    laboratory.run()
    words = ("run", "--set", "run.engine=reverse", "--force", "candidates")
    process = laboratory.execute(*words, path=[tmp_path / "path"])
    assert process.code == 0, process.text
    assert "candidates" in laboratory.reran()
    first, second = laboratory.records()
    assert first.stages["candidates"].digests == second.stages["candidates"].digests
    wrong = laboratory.execute("run", "--set", "run.engine=revers", path=[tmp_path / "path"])
    assert "unknown engine 'revers'; did you mean reverse?" in wrong.err


_EXITS = """
from pipeline.engine import LocalEngine

class AtStart(LocalEngine):
    def __init__(self, workers):
        raise SystemExit(0)

class AtWork(LocalEngine):
    def map(self, task, items):
        raise SystemExit(0)
"""


@pytest.mark.parametrize(("thing", "line"), [("AtStart", 6), ("AtWork", 10)])
def test_an_engine_that_ends_the_program_is_named(tmp_path: Path, thing: str, line: int) -> None:
    points = {"quits": f"exits_{thing}:{thing}"}
    install(tmp_path, name="quits", modules={f"exits_{thing}": _EXITS}, group=GROUP, points=points)
    laboratory = build(tmp_path / "laboratory")
    process = laboratory.execute("run", "--set", "run.engine=quits", path=[tmp_path])
    assert process.code == 1
    place = f"exit(0) in {tmp_path}/exits_{thing}.py, line {line}, would end the command"
    assert f"engine quits: {place}; raise an error there instead" in process.err
    assert "Traceback" not in process.err


# Modules in the working folder are not run, whatever their names.

NAMES = ("polars", "random", "pickle", "queue", "threading", "scipy", "pandera", "typer")
COMMAND = Path(sys.executable).with_name("lexassay")


@pytest.fixture
def trap_folder(tmp_path: Path) -> Path:
    """A folder with an experiment over two files, and modules that report if they are run."""
    for name in NAMES:
        trap = f"open(r'{tmp_path}/RUN', 'a').write('{name} ')\nraise ImportError('{name}')\n"
        (tmp_path / f"{name}.py").write_text(trap)
    head = "l1\tl2\tf\tf1\tf2\tN\tTP\n"
    for number in (1, 2):
        (tmp_path / f"pairs{number}.tsv").write_text(f"{head}a{number}\tb\t5\t20\t30\t900\t1\n")
    experiment = SMALL.replace('"pairs.tsv"', '"pairs*.tsv"')
    (tmp_path / "small.toml").write_text(experiment + '[run]\nengine = "processes"\nworkers = 2\n')
    return tmp_path


@pytest.mark.parametrize(
    "command", [[str(COMMAND)], [sys.executable, "-m", "lexassay"]], ids=["lexassay", "-m"]
)
@pytest.mark.long
def test_modules_in_the_working_folder_are_not_imported(
    trap_folder: Path, command: list[str]
) -> None:
    words = [*command, "run", "small.toml"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.run(
        words, cwd=trap_folder, env=environment, check=False, capture_output=True, text=True
    )
    run = trap_folder / "RUN"
    assert not run.exists(), run.read_text()
    assert process.returncode == 0, process.stderr
    assert "candidates 2 rows" in process.stderr
