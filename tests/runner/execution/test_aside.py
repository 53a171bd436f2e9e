"""What is laid aside while a file is cut lies beside the results, and is gone afterwards."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

import pipeline as lx
from pipeline.formats.corpora.blocks import Hashes

EXPERIMENT = """
name = "aside"
[run]
shard = "10KB"
[stages.candidates]
use = "extract.pairs"
corpus = { path = "0.conllu", unique_sent_id = true }
relation = "adjacent"
left = { label = "{lemma}" }
right = { label = "{lemma}" }
"""


def test_beside_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"# sent_id = {n}\n1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n\n" for n in range(3000)]
    (tmp_path / "0.conllu").write_text("".join(lines))
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    monkeypatch.setattr(Hashes.__init__, "__defaults__", (100,))
    made: list[Path] = []
    mkdtemp = tempfile.mkdtemp

    def noted(**options: str) -> str:
        made.append(Path(mkdtemp(**options)))
        return str(made[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", noted)
    run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    aside = tmp_path / "runs" / "aside" / "candidates"
    assert made
    assert all(each.is_relative_to(aside) for each in made)
    assert [*tmp_path.rglob(".spill*")] == []
    assert run.table("candidates").height == 0
