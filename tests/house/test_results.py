"""Figures of benchmarks are stored and compared with the last one of their name."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "results.py"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script with temporary files."""
    spec = importlib.util.spec_from_file_location("results", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("LOCAL", "REFERENCE"):
        monkeypatch.setattr(module, name, tmp_path / name)
    return module


def test_a_figure_is_compared_with_the_last_one_of_its_name(results: ModuleType) -> None:
    notes = [results.record(*figure) for figure in [("a", 2.0), ("b", 9.0), ("a", 3.0), ("a", 1.5)]]
    assert notes == ["", "", "1.50 x the last", "0.50 x the last"]


def test_figures_are_compared_with_the_reference_if_none_is_local(results: ModuleType) -> None:
    results.record("a", 2.0)
    results.LOCAL.rename(results.REFERENCE)
    assert results.record("a", 1.0) == "0.50 x the last"
    assert results.record("a", 2.0) == "2.00 x the last"


def test_figures_of_other_machines_are_not_compared(
    results: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    results.record("a", 2.0)
    monkeypatch.setattr("os.cpu_count", lambda: 4096)
    assert results.record("a", 1.0) == ""


def test_a_figure_is_stored_with_its_circumstances(results: ModuleType) -> None:
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


def test_the_reference_is_complete(results: ModuleType) -> None:
    figures = results.figures(SCRIPT.with_name("results.jsonl"))  # none before the first release
    assert all({"name", "median", "cores"} <= set(figure) for figure in figures)


FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def text(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the generator."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import growing_text

    return growing_text


def test_a_block_depends_only_on_seed_and_number(text: ModuleType) -> None:
    one = text.block(1, 3, 1000)
    assert (one == text.block(1, 3, 2000)[:1000]).all()
    assert (one != text.block(1, 4, 1000)).any()
    assert (one != text.block(2, 3, 1000)).any()
    assert one.min() >= 1
    assert text.block(1, 3).max() <= text.known_words(np.float64(4 * text.BLOCK))


def test_a_file_has_the_words_in_order(text: ModuleType, tmp_path: Path) -> None:
    words = text.block(1, 0, 50)
    text.write_block(tmp_path / "t.txt", words)
    lines = (tmp_path / "t.txt").read_text().splitlines()
    assert [len(line.split()) for line in lines] == [20, 20, 10]
    assert [int(word) for line in lines for word in line.split()] == words.tolist()


def test_growth_equals_counts_of_sets(text: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "ONE_IN", 1)
    words = text.block(1, 0, 5000).tolist()
    for tokens, known, pairs in text.growth(1, [3000, 5000]):
        inside = {pair for at in range(0, tokens, 20) for pair in _pairs(words[at : at + 20])}
        assert (known, pairs) == (len(set(words[:tokens])), len(inside))


@pytest.mark.long
def test_a_repeated_run_counts_the_same_bigrams(tmp_path: Path) -> None:
    """The second run has nothing to do and gives the same figures."""
    command = [sys.executable, str(FOLDER / "scale.py"), "20000", "--folder", str(tmp_path)]
    rows = []
    for _ in range(2):
        subprocess.run(command, check=True, capture_output=True)
        rows.append(json.loads((tmp_path / "result.json").read_text())["distinct bigrams"])
    words = [line.split() for path in tmp_path.glob("*.txt") for line in path.open()]
    assert rows == [len({pair for line in words for pair in _pairs(line)})] * 2


def _pairs(words: Iterable[object]) -> list[tuple[object, object]]:
    return list(pairwise(words))
