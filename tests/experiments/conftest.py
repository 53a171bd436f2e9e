from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import pipeline as lx
from tests.experiments.test_sheets import EXPERIMENT_SHEETS, NOUNS_SHEETS, sentence_sheets


def write(folder: Path) -> None:
    corpus = "".join(sentence_sheets(n, v) for n in NOUNS_SHEETS for v in ("take", "give"))
    (folder / "corpus.conllu").write_text(corpus, encoding="utf-8")
    (folder / "x.toml").write_text(EXPERIMENT_SHEETS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with an experiment that has never run."""
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def _waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder_ = tmp_path_factory.mktemp("waiting")
    write(folder_)
    assert lx.run(folder_ / "x.toml", runs=folder_ / "runs", report=False).waits
    return folder_


@pytest.fixture
def waiting(_waiting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with an experiment whose sheets are being annotated."""
    shutil.copytree(_waiting, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path
