"""Clusters of which there is little to say: from files to the report, defined results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import DataError

STAGES = """
name = "small"
[stages.gold]
use = "extract.gold"
corpus = "c.tsv"
exclude = ["PUNCT"]
[stages.words]
use = "extract.clusters"
system = "words"
path = "words.blocks"
[stages.tags]
use = "extract.tagging"
system = "tags"
corpus = "c.tsv"
cluster = "t"
exclude = ["PUNCT"]
untagged = true
[stages.types]
use = "evaluate.type_level"
gold = "gold"
systems = ["words", "tags"]
certificate_seconds = 30
replicates = 5
[stages.tokens]
use = "evaluate.token_level"
gold = "gold"
taggings = ["tags"]
dictionaries = ["words"]
measures = ["all"]
[stages.both]
use = "evaluate.overlapping"
gold = "gold"
systems = ["words", "tags"]
[stages.systems]
use = "evaluate.systems"
type_level = "types"
token_level = "tokens"
overlapping = "both"
[stages.zipf]
use = "evaluate.shares"
gold = "gold"
"""
TWO = "dog\tN\t1\nrun\tV\t2\n\nrun\tN\t1\n"
"""Tokens: form, upos, cluster."""
TYPES = ["MacroI 1-1", "MacroI M-1"]


def systems(
    folder: Path, *, corpus: str, words: str, stages: str = STAGES, report: bool = False
) -> pl.DataFrame:
    """Run all stages; return the mean of each measure and system."""
    (folder / "c.tsv").write_text("form\tupos\tt\n" + corpus)
    (folder / "words.blocks").write_text(words)
    (folder / "small.toml").write_text(stages)
    run = lx.run(folder / "small.toml", runs=folder / "runs", report=report)
    assert (folder / "runs" / "small" / "report" / "index.html").is_file() == report
    return run.table("systems.table")


def means(table: pl.DataFrame, system: str, *measures: str) -> list[float | None]:
    mine = dict(table.filter(system=system).select("measure", "mean").iter_rows())
    return [mine[name] for name in measures]


CASES: dict[str, tuple[str, str, list[float | None], list[float | None]]] = {
    # corpus, blocks, type level (1-1, M-1) and M-1 accuracy, V of words; then of tags
    "one class and one cluster": (
        "dog\tN\t1\nrun\tN\t1\n", "dog\nrun\n", [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0],
    ),
    "one class, an item a cluster": (
        "dog\tN\t1\nrun\tN\t2\n", "dog\n\nrun\n", [0.5, 1.0, 1.0, 0.0], [0.5, 1.0, 1.0, 0.0],
    ),
    "one cluster": (TWO, "dog\nrun\n", [0.8, 0.8, 2 / 3, 0.0], [1.0, 1.0, 1.0, 1.0]),
    "no word has a cluster": (TWO, "cat\n\nbird\n", [0.0, 0.0, None, None], [1.0, 1.0, 1.0, 1.0]),
    "a cluster without items, an item without a cluster": (
        TWO, "run\n\ncat\n", [0.5, 0.5, 0.5, 0.0], [1.0, 1.0, 1.0, 1.0],
    ),
    "a token without a tag": (
        "dog\tN\t1\nrun\tV\t\n", "dog\n\nrun\n", [1.0, 1.0, 1.0, 1.0], [2 / 3, 2 / 3, 1.0, 1.0],
    ),
    "tokens without a gold tag": (
        "dog\tN\t1\nrun\t\t1\n", "dog\n\nrun\n", [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0],
    ),
}  # fmt: skip


QUICK = {"no word has a cluster", "one class, an item a cluster"}
"""What `make test` runs; each takes more than a second."""


def _marked(case: str) -> Any:
    return case if case in QUICK else pytest.param(case, marks=pytest.mark.long)


@pytest.mark.parametrize("case", [_marked(case) for case in sorted(CASES)])
def test_defined_results_and_a_report(case: str, tmp_path: Path) -> None:
    corpus, words, of_words, of_tags = CASES[case]
    report = case in {"no word has a cluster", "one class and one cluster"}
    table = systems(tmp_path, corpus=corpus, words=words, report=report)
    for system, wanted in (("words", of_words), ("tags", of_tags)):
        found = means(table, system, *TYPES, "many_to_one", "v")
        assert found == [None if one is None else pytest.approx(one) for one in wanted], system


@pytest.mark.long
def test_one_system_alone(tmp_path: Path) -> None:
    alone = STAGES.replace('"words", "tags"', '"words"').replace('taggings = ["tags"]\n', "")
    table = systems(tmp_path, corpus=TWO, words="dog\n\nrun\n", stages=alone, report=True)
    assert table["rank"].drop_nulls().unique().to_list() == [1.0]


TABLES = """
name = "small"
[stages.gold]
use = "extract.gold_table"
path = "gold.tsv"
[stages.words]
use = "extract.clusters"
system = "words"
path = "words.tsv"
[stages.scores]
gold = "gold"
"""
EVALUATIONS = {
    "evaluate.type_level": "systems", "evaluate.overlapping": "systems",
    "evaluate.token_level": "dictionaries",
}  # fmt: skip


@pytest.mark.parametrize("use", sorted(EVALUATIONS))
@pytest.mark.parametrize(
    ("gold", "words", "said"),
    [("dog\tN\n", "", "{}: 1 of 1 have no item with a cluster: stages.words"),
     ("", "dog\t1\n", "gold: there is no item with a class")],
)  # fmt: skip
def test_a_table_without_rows_is_an_error(
    use: str, gold: str, words: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "gold.tsv").write_text("item\tgold\n" + gold)
    (tmp_path / "words.tsv").write_text("item\tcluster\n" + words)
    option = EVALUATIONS[use]
    (tmp_path / "small.toml").write_text(f'{TABLES}use = "{use}"\n{option} = ["words"]\n')
    with pytest.raises(DataError, match=said.format(option)):
        lx.run(tmp_path / "small.toml", runs=tmp_path / "runs", report=False)
