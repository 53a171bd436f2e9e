"""Figures of benchmarks are kept, and compared with the last of their name."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "results.py"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script, with files of its own."""
    found = importlib.util.spec_from_file_location("results", SCRIPT)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    for name in ("LOCAL", "REFERENCE"):
        monkeypatch.setattr(module, name, tmp_path / name)
    return module


def test_a_figure_is_compared_with_the_last_of_its_name(results: ModuleType) -> None:
    said = [results.record(*figure) for figure in [("a", 2.0), ("b", 9.0), ("a", 3.0), ("a", 1.5)]]
    assert said == ["", "", "1.50 x the last", "0.50 x the last"]


def test_the_reference_counts_where_nothing_was_measured_here(results: ModuleType) -> None:
    results.record("a", 2.0)
    results.LOCAL.rename(results.REFERENCE)
    assert results.record("a", 1.0) == "0.50 x the last"
    assert results.record("a", 2.0) == "2.00 x the last"


def test_other_machines_do_not_compare(
    results: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    results.record("a", 2.0)
    monkeypatch.setattr("os.cpu_count", lambda: 4096)
    assert results.record("a", 1.0) == ""


def test_a_line_says_under_what_circumstances(results: ModuleType) -> None:
    results.record("a", 2.0)
    (figure,) = results.figures(results.LOCAL)
    assert set(figure) == {"name", "median", "cores", "commit", "date", "python"}
    assert (figure["name"], figure["median"]) == ("a", 2.0)


def test_the_newest_figures_become_the_reference(
    results: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    for median in (2.0, 3.0):
        results.record("a", median)
    assert results.main(["keep"]) == 0
    assert [figure["median"] for figure in results.figures(results.REFERENCE)] == [3.0]
    assert "3.000 s" in capsys.readouterr().out


def test_the_reference_can_be_read(results: ModuleType) -> None:
    for figure in results.figures(SCRIPT.with_name("results.jsonl")):
        assert {"name", "median", "cores"} <= set(figure)
