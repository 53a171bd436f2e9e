"""The gate and releases: suites, digests of tables, and consistent versions."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from tests.house.lowest import lowest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SUITES = {"browser", "cluster", "long", "office", "scale", "torture"}


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / ".ci")
    return import_module("suites")


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return import_module("table_digests")


def test_suites_are_targets_of_make(gate: ModuleType) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(gate.suites(None)) == SUITES <= targets
    folders = {name for each in gate.areas().values() for name in each} - SUITES
    for folder in (ROOT / "tests" / name.removeprefix("long-") for name in folders):
        assert any("mark.long" in path.read_text() for path in folder.rglob("test_*.py")), folder


def test_each_part_of_the_code_has_an_area(gate: ModuleType) -> None:
    files = [
        path for name in ("lexassay", "pipeline", "schemas") for path in (ROOT / name).rglob("*.py")
    ]
    paths = [path.relative_to(ROOT).as_posix() for path in files]
    assert [path for path in paths if not path.startswith(tuple(gate.areas()))] == []


def test_areas_exist(gate: ModuleType) -> None:
    assert [prefix for prefix in gate.areas() if not (ROOT / prefix).exists()] == []


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("CHANGELOG.md", set()),
        ("pipeline/report/view.py", {"long-report", "browser"}),
        ("pipeline/kernels/cooccurrence/pairs.py", {"long-kernels", "scale"}),
        ("schemas/precision.py", {"long", "torture"}),
        ("tests/office/test_office.py", {"office", "long-office"}),
        ("constraints.txt", SUITES),
    ],
)
def test_a_change_needs_the_suites_of_its_areas(
    gate: ModuleType, path: str, needed: set[str]
) -> None:
    assert set(gate.suites([path, "LICENSE"])) == needed


def test_changed_files_are_found_in_the_history(
    gate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "ROOT", tmp_path)
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_NAME", "a")
        monkeypatch.setenv(f"{name}_EMAIL", "a@example.org")
    assert gate.changes("") is None
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    assert gate.changes("") is None
    for name, day in (("old", "2001-01-01T00:00:00"), ("new", "2090-01-01T00:00:00")):
        (tmp_path / name).write_text("a")
        monkeypatch.setenv("GIT_COMMITTER_DATE", day)
        subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
        subprocess.run(["git", "commit", "--quiet", "-m", name], cwd=tmp_path, check=True)
    assert gate.changes("") == ["new"]
    (tmp_path / "added").write_text("a")
    assert gate.changes("HEAD") == ["added"]
    assert gate.changes("0" * 40) is None


def test_the_gate_names_a_changed_table(
    tables: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = json.loads((ROOT / "benchmarks" / "digests.json").read_text())
    name = next(iter(stored))
    (tmp_path / "after.json").write_text(json.dumps({**stored, name: "0"}))
    words = ["compare", str(ROOT / "benchmarks" / "digests.json"), str(tmp_path / "after.json")]
    assert tables.main(words) == 1
    assert f"{name} differs" in capsys.readouterr().out
    assert tables.main([*words[:2], words[1]]) == 0


def test_a_rounded_digest_ignores_the_last_bits(tables: ModuleType, tmp_path: Path) -> None:
    values = {
        "a": [("x", 0.1 + 0.2), ("y", -0.0)],
        "b": [("y", 0.0), ("x", 0.3)],
        "c": [("x", 0.30001), ("y", 0.0)],
    }
    digests = {}
    for name, rows in values.items():
        (tmp_path / name).mkdir()
        pl.DataFrame(rows, schema=["l1", "f"], orient="row").write_parquet(
            tmp_path / name / "p.parquet"
        )
        digests[name] = tables.rounded_digest(tmp_path / name)
    assert digests["a"] == digests["b"] != digests["c"]


VERSION = PROJECT["version"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIRED = [*PROJECT["dependencies"], *EXTRAS["test"], *EXTRAS["browser"]]


def plain(name: str) -> str:
    return re.split(r"[<>=]", name)[0].lower().replace("_", "-")


def test_the_changelog_begins_with_this_version() -> None:
    sections = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert next(name for name in sections if name != "Unreleased") == VERSION


def test_the_citation_has_this_version() -> None:
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_development_status_matches_the_version() -> None:
    status = "3 - Alpha" if VERSION.startswith("0.") else "5 - Production/Stable"
    assert f"Development Status :: {status}" in PROJECT["classifiers"]


def test_hosted_checks_run_on_all_supported_pythons() -> None:
    workflow = (ROOT / ".github" / "workflows" / "nightly.yml").read_text()
    promised = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if " :: 3." in text]
    assert f"python: {promised}".replace("'", '"') in workflow
    assert PROJECT["requires-python"] == f">={promised[0]}"


@pytest.mark.parametrize("requirement", REQUIRED)
def test_each_dependency_has_a_lowest_and_a_tested_version(requirement: str) -> None:
    tested = (ROOT / "constraints.txt").read_text().splitlines()
    assert plain(requirement) in map(plain, tested)
    assert [each for each in lowest([requirement]) if "==" not in each] == []


def test_tests_have_the_packages_of_the_pages() -> None:
    extras = PROJECT["optional-dependencies"]
    assert set(extras["web"]) <= set(extras["test"])


# Releases


def test_dependencies_are_tested_on_all_supported_pythons() -> None:
    promised = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if " :: 3." in text]
    assert f"PYTHONS := {' '.join(promised)}\n" in (ROOT / "Makefile").read_text()
    lines = subprocess.run(
        ["make", "--no-print-directory", "-n", "versions"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in [f"lowest-{promised[0]}", *(f"newest-{each}" for each in promised)]:
        assert f"folder=.venv-versions/{name};" in lines
    assert "$(MAKE) versions\n" in (ROOT / "Makefile").read_text()


LICENCES = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "PSF-2.0",
    "Zlib",
}  # fmt: skip


def test_all_packages_have_a_compatible_licence() -> None:
    rows = re.findall(r"^\| (\S.*) \| (.*) \|$", (ROOT / "LICENCES.md").read_text(), re.M)
    licences = {plain(name): what for what, names in rows for name in names.split(", ")}
    run = ("web", "cloud", "icu", "spark")
    names = {plain(each.partition("[")[0]) for name in run for each in EXTRAS[name]}
    assert {*map(plain, PROJECT["dependencies"]), *names} <= licences.keys()
    stated = {each for what in licences.values() for each in re.split(" AND | OR ", what)}
    assert stated - LICENCES == {"licence"}


def test_the_container_runs_unprivileged_and_has_a_health_check() -> None:
    text = (ROOT / "Containerfile").read_text()
    final = text.rpartition("\nFROM ")[2]
    assert text.count("\nFROM debian:") == 2
    assert final.index("\nUSER lexassay\n") < final.index("\nENTRYPOINT ")
    assert "\nVOLUME /work\n" in final
    assert "\nHEALTHCHECK " in final
    port = re.search(r"^    port: .*?= (\d+),$", (ROOT / "pipeline/cli/annotate.py").read_text(),
                     re.M | re.S)  # fmt: skip
    assert port is not None
    assert f"\nEXPOSE {port[1]}\n" in final
    assert f"'localhost', {port[1]}" in final
    copied = set(re.findall(r"^COPY (?!--)(.*) \S+$", text, re.M))
    needed = {name for line in copied for name in line.split()}
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {f"!{name}" for name in needed} == {line for line in ignored if line.startswith("!")}


def test_the_page_of_licences_lists_the_bill_of_materials(tmp_path: Path) -> None:
    script = ROOT / "docs" / "update_licences.py"
    space: dict[str, Any] = {"__file__": str(script), "__name__": "licences"}
    exec(compile(script.read_text(), str(script), "exec"), space)
    components = [
        {"name": "polars", "licenses": [{"license": {"id": "MIT"}}]},
        {"name": "numpy", "licenses": [{"expression": "BSD-3-Clause AND 0BSD"}]},
        {"name": "babel", "licenses": [
            {"license": {"name": "License :: OSI Approved :: BSD License"}},
            {"license": {"id": "BSD-3-Clause"}}]},
        {"name": "unknown"},
        {"name": "pip", "licenses": [{"license": {"id": "MIT"}}]},
    ]  # fmt: skip
    page = space["page"](components)
    assert "| MIT | polars, polars-hash |" in page
    assert "| BSD-3-Clause AND 0BSD | numpy |" in page
    assert "babel, " in page
    assert "| not stated | unknown |" in page
    assert "pip," not in page


def test_the_paper_has_current_numbers_and_all_references() -> None:
    folder = ROOT / "docs" / "paper"
    text = (folder / "paper.md").read_text()
    rows = re.findall(r"^\|(?:WordNet|STREUSLE)\|.*$", text, re.MULTILINE)
    assert len(rows) == 2
    assert set(rows) <= set((ROOT / "docs/evaluations.md").read_text().splitlines())
    entries = set(re.findall(r"^@\w+\{(\w+),", (folder / "paper.bib").read_text(), re.MULTILINE))
    assert entries == set(re.findall(r"@(\w+)", text.partition("# Summary")[2]))
    for path in re.findall(r"\]\((\S+)\)", text):
        assert (folder / path).is_file()


def test_the_changelog_is_short() -> None:
    """It lists what users see, by version; the history has the rest."""
    assert len((ROOT / "CHANGELOG.md").read_text()) < 15_000
