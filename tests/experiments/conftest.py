from __future__ import annotations

from pathlib import Path

import pytest

from tests.experiments.test_sheets import EXPERIMENT, NOUNS, sentence


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    corpus = "".join(sentence(n, v) for n in NOUNS for v in ("take", "give"))
    (tmp_path / "corpus.conllu").write_text(corpus, encoding="utf-8")
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path
