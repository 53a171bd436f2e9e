"""``doctor``: the lines on an installation, broken packages, and unwritable folders."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.cli import doctor
from pipeline.cli.main import main
from pipeline.errors import explain
from pipeline.release import REPORT_AT

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
POLARS = "raise ImportError('no polars here')"


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    def imports(modules: Sequence[str]) -> dict[str, str]:
        return dict.fromkeys(modules, "ok")

    monkeypatch.setattr(doctor, "_imports", imports)


def checks(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, str]]:
    main(["doctor", "--json", *words])
    report = json.loads(capsys.readouterr().out)
    assert report["report_at"] == REPORT_AT
    every = {each["subject"]: each for part in report["checks"].values() for each in part}
    assert report["fix"] == [name for name, each in every.items() if each["state"] == "fix"]
    return every


@pytest.mark.usefixtures("fast")
def test_each_subject_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines = checks(capsys)
    for name in (
        "lexassay", "Python", "polars", "pyarrow", "extensions", "results", "cache",
        "temporary files", "memory", "cores", "several processes", "encoding", "terminal", "fonts",
        "SQLite (annotation)", "browser", "Java", "Spark",
    ):  # fmt: skip
        assert lines[name]["state"] in {"ok", "none", "fix"}
        assert lines[name]["result"]
        assert lines[name]["remedy"] or lines[name]["state"] != "fix"
    assert "free" in lines["results"]["result"]


@pytest.mark.usefixtures("fast")
def test_the_text_has_the_report_address_and_hides_the_home(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    main(["doctor", "--runs", str(tmp_path / "runs")])
    output = capsys.readouterr().out
    assert f"Report problems {REPORT_AT}" in output
    assert "results: ~/runs: can be created" in output
    assert str(tmp_path) not in output


def test_messages_on_bugs_have_the_report_address() -> None:
    assert f"report it {REPORT_AT}, with" in explain(KeyError("x"))
    assert PROJECT.get("urls", {}).get("Issues", REPORT_AT) == REPORT_AT


@pytest.mark.usefixtures("fast")
def test_outdated_and_missing_packages_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = {"polars": "1.36.0", "obstore": "0.12.1", "pyarrow": None}
    original = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: versions.get(name, original(name)))
    lines = checks(capsys)
    assert lines["polars"]["result"] == "1.36.0, but lexassay needs <3,>=2.1"
    assert lines["pyarrow"] == {
        "subject": "pyarrow", "result": "not installed", "state": "fix",
        "remedy": "reinstall lexassay",
    }  # fmt: skip
    assert lines["obstore"]["state"] == "ok"


def test_modules_that_fail_or_crash_python_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "fails_a.py").write_text("raise OSError('libx.so.1:\\nno such file')")
    (tmp_path / "ends_b.py").write_text("import os; os.kill(os.getpid(), 4)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert doctor._imports(["json", "fails_a", "ends_b", "math"]) == {
        "json": "ok",
        "fails_a": "OSError: libx.so.1: no such file",
        "ends_b": "importing it ends Python (SIGILL)",
        "math": "ok",
    }


@pytest.mark.long
@pytest.mark.parametrize("words", [["doctor"], ["run", "x.toml"]])
def test_a_broken_polars_is_reported_without_polars(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "polars.py").write_text(POLARS)
    script = "import lexassay; lexassay.script()"
    result = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
    )  # fmt: skip
    assert result.returncode == 1
    if words == ["doctor"]:
        assert "ImportError: no polars here" in result.stdout
        (line,) = re.findall(r"^To fix: (.+)\.$", result.stdout, re.MULTILINE)
        assert "polars" in line.split(", ")  # and packages that import it
    else:
        assert result.stderr == "lexassay: no polars here; see `lexassay doctor`\n"


@pytest.mark.usefixtures("fast")
def test_folders_without_write_permission_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/proc")
    monkeypatch.delenv("POLARS_OOC_SPILL_DIR", raising=False)  # earlier tests may have set it
    monkeypatch.setenv("TMPDIR", "/proc/none")
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/cache")
    lines = checks(capsys)
    for name in ("results", "cache", "temporary files"):
        assert lines[name]["state"] == "fix"
        assert "cannot be written to" in lines[name]["result"]


@pytest.mark.usefixtures("fast")
def test_a_missing_working_folder_does_not_stop_the_checks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    lines = checks(capsys)
    assert lines["results"]["result"].startswith("no working folder")
    assert lines["cache"]["state"] == "ok"


V2 = {"memory.max": "max", "a/memory.max": "2000", "a/b/memory.max": "3000",
      "a/cpu.max": "150000 100000", "a/b/cpu.max": "max 100000"}  # fmt: skip
V1 = {"memory/memory.limit_in_bytes": "5000", "cpu/a/cpu.cfs_quota_us": "50000\n",
      "cpu/a/cpu.cfs_period_us": "100000\n", "cpu/cpu.cfs_quota_us": "-1",
      "cpu/cpu.cfs_period_us": "100000"}  # fmt: skip


@pytest.mark.parametrize(
    ("files", "own", "memory", "cores"),
    [
        (V2, "0::/a/b\n", 2000, 1.5),
        (V2, "0::/\n", None, None),
        (V1, "4:cpu,cpuacct:/a\n3:memory:/a\n", 5000, 0.5),
        ({}, "", None, None),
        ({}, "broken", None, None),
    ],
)
def test_limits_of_containers_are_read(
    tmp_path: Path, files: dict[str, str], own: str, memory: int | None, cores: float | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert doctor.cgroup_memory(tmp_path, own) == memory
    assert doctor.cgroup_cores(tmp_path, own) == cores


def test_limits_of_containers_come_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "cgroup_memory", lambda: 3 * 10**9)
    monkeypatch.setattr(doctor, "cgroup_cores", lambda: 1.5)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(
        doctor, "_read", lambda _: "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB"
    )
    (memory,) = doctor._memory()
    assert "limit of the container (cgroup) 3.0 GB" in memory.result
    assert memory.remedy == 'Write memory = "2250MB" under [run] of large experiments.'
    cores = doctor._cores()
    assert "quota of the container 1.5" in cores.result
    assert cores.remedy == "Write workers = 1 under [run]; set POLARS_MAX_THREADS=1."


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_another_encoding_is_reported_in_that_encoding(tmp_path: Path, encoding: str) -> None:
    script = (
        "from pipeline.cli import doctor; doctor._imports = lambda names: {};"
        "print(doctor.doctor(runs=doctor.Path('wörter')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding=encoding, check=True,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding},
    )  # fmt: skip
    assert f"fix   encoding: {'iso8859-1' if encoding == 'latin-1' else encoding}" in result.stdout
    assert result.stdout.endswith("1\n")


def test_missing_fonts_and_a_broken_library_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_has_letter", "aΩ".__contains__)
    assert doctor._fonts().result.startswith("Latin, Greek in figures; none for Cyrillic, Hebrew")
    monkeypatch.setattr(doctor, "_has_letter", "".__contains__)
    assert doctor._fonts().state == "fix"
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert doctor._fonts().result.startswith("no figure can be drawn: ModuleNotFoundError")


JAVA = {
    "17": ('openjdk version "17.0.15" 2025', 0, "ok"),
    "8": ('java version "1.8.0_401"', 0, "fix"),
    "none": ("No JVM is installed", 1, "fix"),
}


@pytest.mark.parametrize("name", JAVA)
def test_the_version_of_java_is_checked(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text, code, state = JAVA[name]
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{text}' >&2\nexit {code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert doctor._java(is_needed=True).state == state
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME")
    assert doctor._java(is_needed=True)[1:3] == ("not found", "fix")
    assert doctor._java(is_needed=False).state == "none"
