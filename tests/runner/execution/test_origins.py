"""Rows of a file that break a rule of their table are named by file and line, both of two."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cli.main import main

EXPERIMENT = """
name = "small"
[stages.candidates]
use = "extract.table"
path = ["a.tsv", "b.tsv"]
columns = { l1 = "noun" }
"""
HEAD = "noun\tl2\tf\tf1\tf2\tN\n"
LARGE = 2**62


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(folder: Path, capsys: pytest.CaptureFixture[str], first: str, second: str = "") -> str:
    """Return what is said of two files with these rows."""
    for name, rows in (("a.tsv", first), ("b.tsv", second or "z\tz\t1\t1\t1\t9\n")):
        (folder / name).write_text(HEAD + rows)
    assert main(["run", "x.toml", "--no-report"]) == 1
    return capsys.readouterr().err


def test_each_example_of_a_broken_rule_has_its_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = "g\tg\t1\t1\t1\t99\n"
    text = said(folder, capsys, good + "".join(f"l{i}\tr\t9\t3\t9\t99\n" for i in range(5)))
    assert "marginals_bound_joint (f <= f1 and f <= f2) in 5 rows" in text
    shown = [line for line in text.splitlines() if "a.tsv, line" in line]
    assert len(shown) == 3
    for line in shown:
        number = int(line.partition("line ")[2].partition(":")[0])
        assert f"l1='l{number - 3}'" in line
    assert "row" not in "".join(shown)


def test_both_places_of_a_repeated_pair(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(folder, capsys, "a\tb\t1\t2\t3\t99\nc\td\t1\t1\t1\t99\na\tb\t2\t2\t3\t99\n")
    assert "key_is_unique (id) in 1 row" in text
    assert "a.tsv, line 2; a.tsv, line 4: id=" in text
    assert "l1='a', l2='b', f=1" in text
    assert text.endswith("keep one of those that come again, and run again.\n")
    assert "l1='a', l2='b', f=2" in text


def test_both_places_of_a_pair_in_two_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(folder, capsys, "a\tb\t1\t2\t3\t99\n", "c\td\t1\t1\t1\t9\na\tb\t1\t2\t3\t99\n")
    assert "a.tsv, line 2; b.tsv, line 3: id=" in text


@pytest.mark.parametrize("f2", [LARGE * 2 - 1, LARGE + 5])
def test_marginals_whose_sum_is_beyond_all_counts(
    folder: Path, capsys: pytest.CaptureFixture[str], f2: int
) -> None:
    text = said(folder, capsys, f"a\tb\t3\t{LARGE + 5}\t{f2}\t{2**63 - 1}\n")
    assert "table_fits_sample_size" in text
    assert "a.tsv, line 2" in text


def test_a_file_that_is_scored_has_lines_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.tsv").write_text(
        HEAD + f"g\tg\t1\t1\t1\t9\na\tb\t3\t{LARGE + 5}\t{LARGE}\t{LARGE}\n"
    )
    assert main(["score", "a.tsv", "--measures", "mi"]) == 1
    text = capsys.readouterr().err
    assert "a.tsv breaks its schema" in text
    assert "line=3" in text
