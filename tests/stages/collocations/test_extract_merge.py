"""Two corpora as one: as if they had been counted together."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import DataError
from tests.stages.run_stage import faults, run_stage

TEXTS = {"a": "the cat sat on the mat\nthe cat ran\n", "b": "a cat sat\nthe cat sat on a dog\n"}


def experiment(folder: Path, least: int = 1) -> lx.Run:
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text)
    (folder / "b.tsv").write_text("word\n" + TEXTS["b"].replace("\n", "\n\n").replace(" ", "\n"))
    stages = "".join(
        f"""
[stages.{name}]
use = "extract.pairs"
corpus = {corpus}
relation = "adjacent"
left = {{ label = "{{{word}}}" }}
right = {{ label = "{{{word}}}" }}
min_frequency = {least}
"""
        for name, corpus, word in (
            ("a", '"a.txt"', "form"),
            ("b", '"b.tsv"', "word"),
            ("whole", '"*.txt"', "form"),
        )
    )
    (folder / "x.toml").write_text(
        f'name = "x"\n{stages}\n[stages.both]\nuse = "extract.merge"\nfirst = "a"\nsecond = "b"\n'
    )
    return lx.run(folder / "x.toml", runs=folder / "runs")


def test_as_if_counted_together(tmp_path: Path) -> None:
    run = experiment(tmp_path)
    assert run.table("both").height > 8
    assert run.manifests["both"].digests() == {
        "candidates": run.manifests["whole"].digests()["candidates"]
    }


def test_thresholds_before_adding_up_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"of N = 7 pair tokens") as error:
        experiment(tmp_path, least=2)
    assert "min_frequency = 1" in str(error.value)


def test_tables_without_documents() -> None:
    signature = {"f": [2], "f1": [2], "f2": [2], "N": [2]}
    table = pl.DataFrame({"id": ["x"], "l1": ["a"], "l2": ["b"], **signature})
    made = run_stage("extract.merge", {"min_frequency": 2}, first=table, second=table)
    assert not faults(made)
    assert made["candidates"].select("l1", "f", "f1", "f2", "N").rows() == [("a", 4, 4, 4, 4)]


def test_sample_sizes_that_cannot_be_added_up_are_refused() -> None:
    row = {"id": ["a"], "l1": ["a"], "l2": ["b"]} | {
        each: [2**62] for each in ("f", "f1", "f2", "N")
    }
    table = pl.DataFrame(row)
    made = run_stage("extract.merge", {}, first=table, second=table)
    assert [fault[1:] for fault in faults(made)] == [("N", f"{2**63} pair tokens in both")]
