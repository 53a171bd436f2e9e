"""Where sheets lie: one place whatever the working folder, and the places of earlier versions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.formats.spreadsheets import listing
from tests.experiments.test_sheets import EXPERIMENT, NOUNS, fill, sentence, sheets


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    corpus = "".join(sentence(n, v) for n in NOUNS for v in ("take", "give"))
    (tmp_path / "corpus.conllu").write_text(corpus, encoding="utf-8")
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sheets_lie_beside_the_experiment_from_wherever_it_is_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two people and a coordinator, each with a working folder and results of their own."""
    assert main(["run", "x.toml", "--runs", "elsewhere", "--no-report"]) == 3
    written = sheets(folder)
    assert [path.name for path in written] == ["001-anna.xlsx", "002-ben.xlsx"]
    fill(written[0])
    deeper = folder / "deeper"
    deeper.mkdir()
    monkeypatch.chdir(deeper)
    assert main(["run", "../x.toml", "--no-report"]) == 3
    assert (
        main(["run", str(folder / "x.toml"), "--runs", str(folder / "third"), "--no-report"]) == 3
    )
    assert sheets(folder) == written
    fill(written[1])
    assert main(["run", "../x.toml", "--no-report"]) == 0
    assert [path for path in folder.rglob("*.xlsx") if "lock" not in path.name] == written


def test_another_folder_for_the_sheets(folder: Path, tmp_path: Path) -> None:
    (folder / "x.toml").write_text('sheets = "to people"\n' + EXPERIMENT)
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert len(listing(folder / "to people" / "pairs")) == 2
    assert not (folder / "sheets").exists()


def test_a_folder_that_cannot_be_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sheets").write_text("in the way")
    assert main(["run", "x.toml", "--no-report"]) == 1
    said = capsys.readouterr().err
    assert "sheets/small/pairs" in said
    assert 'sheets = "DIR"' in said


def move_to(place: Path, folder: Path) -> list[Path]:
    """Put the sheets where a version before had written them."""
    place.mkdir(parents=True)
    return [path.rename(place / path.name) for path in sheets(folder)]


@pytest.mark.long
@pytest.mark.parametrize("place", ["sheets/pairs", "runs/sheets/pairs"])
def test_sheets_in_a_former_place_count_and_are_moved_when_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in move_to(folder / place, folder):
        fill(path)
    capsys.readouterr()
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert f"the sheets in {place} count" in capsys.readouterr().err
    assert sheets(folder) == []
    assert main(["sheets", "x.toml"]) == 0
    assert sheets(folder) == []
    saved = {path.stat().st_mtime for path in listing(folder / place)}
    assert main(["sheets", "x.toml", "--move"]) == 0
    assert listing(folder / place) == []
    assert {path.stat().st_mtime for path in sheets(folder)} == saved
    capsys.readouterr()
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert "count" not in capsys.readouterr().err


def test_the_same_label_in_both_places_counts_once(folder: Path) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in sheets(folder):
        fill(path)
    former = folder / "sheets" / "pairs"
    former.mkdir()
    for path in sheets(folder):
        shutil.copy(path, former)
    assert main(["run", "x.toml", "--no-report"]) == 0
    both = lx.show("x.toml").table("judgements.annotations")
    assert both.height == both.select("id", "annotator").n_unique()
    assert main(["sheets", "x.toml", "--move"]) == 0
    assert len(sheets(folder)) == 4  # none was written over
    assert main(["run", "x.toml", "--no-report"]) == 0


@pytest.mark.long
def test_two_different_labels_in_two_places_are_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    former = folder / "sheets" / "pairs"
    former.mkdir()
    for path in sheets(folder):
        shutil.copy(path, former)
        fill(path, "SVC")
        fill(former / path.name, "free")
    assert main(["run", "x.toml", "--no-report"]) == 1
    said = capsys.readouterr().err
    assert "anna gives this id several labels: SVC (001-anna.xlsx, line 2)" in said
    assert "former place 1: 001-anna.xlsx" in said
