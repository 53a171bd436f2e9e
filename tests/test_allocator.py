"""Settings of the memory allocator of Polars."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import allocator
from pipeline.allocator import QUICK, THRIFTY, settings

PRINT_SETTINGS = "import os, pipeline.cli; print(os.environ['_RJEM_MALLOC_CONF'])"


@pytest.mark.parametrize("text", ['[run]\nmemory = "2GB"', 'run.memory = "2GB"', "\xff memory"])
def test_a_limit_in_the_experiment_saves_memory(tmp_path: Path, text: str) -> None:
    experiment = tmp_path / "x.toml"
    experiment.write_text(text, encoding="latin-1")
    assert settings(["run", str(experiment)]) == THRIFTY


def test_without_a_limit_the_allocator_is_fast(tmp_path: Path) -> None:
    experiment = tmp_path / "x.toml"
    experiment.write_text('name = "x"')
    assert settings(["run", str(experiment), "--no-report"]) == QUICK


@pytest.mark.parametrize("word", ["there/is/none.toml", "\0.toml", "x" * 5000 + ".toml", ".toml"])
def test_missing_files_have_the_default_settings(word: str) -> None:
    assert settings(["run", word]) == QUICK


@pytest.mark.parametrize(
    ("words", "settings"), [(["run"], QUICK), (["--set", "memory=1"], THRIFTY)]
)
def test_settings_apply_before_polars_is_loaded(words: list[str], settings: dict[str, str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "_RJEM_MALLOC_CONF"}
    command = [sys.executable, "-c", PRINT_SETTINGS, *words]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert process.stdout.strip() == settings["_RJEM_MALLOC_CONF"]


def test_settings_of_the_user_are_kept() -> None:
    environment = {**os.environ, "_RJEM_MALLOC_CONF": "dirty_decay_ms:7"}
    process = subprocess.run(
        [sys.executable, "-c", PRINT_SETTINGS],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.strip() == "dirty_decay_ms:7"


def test_settings_of_polars_are_replaced() -> None:
    """A notebook that has imported Polars starts the command, which inherits its settings."""
    inside = f"import polars, subprocess, sys; subprocess.run([sys.executable, '-c', {PRINT_SETTINGS!r}])"
    environment = {name: value for name, value in os.environ.items() if name != "_RJEM_MALLOC_CONF"}
    process = subprocess.run(
        [sys.executable, "-c", inside], env=environment, capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == QUICK["_RJEM_MALLOC_CONF"]


def test_memory_is_released_if_the_library_supports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    class Library:
        malloc_trim = calls.append

    for library, expected in ((Library, [0]), (object, [0])):
        monkeypatch.setattr("ctypes.CDLL", lambda _, library=library: library)
        allocator.release_memory()
        assert calls == expected
