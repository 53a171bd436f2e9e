"""Minimal clusterings: from files to the report, with defined results."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import DataError
from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types.mapping import Neighbours, climb, many_to_one
from pipeline.kernels.clustering.types.measures import entries
from pipeline.kernels.numeric import IntArray

STAGES = """
name = "small"
[stages.gold]
use = "extract.gold"
corpus = "c.tsv"
[stages.words]
use = "extract.clusters"
system = "words"
path = "words.blocks"
[stages.tags]
use = "extract.tagging"
system = "tags"
corpus = "c.tsv"
cluster = "t"
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
    means_by_measure = dict(table.filter(system=system).select("measure", "mean").iter_rows())
    return [means_by_measure[name] for name in measures]


CASES: dict[str, tuple[str, str, list[float | None], list[float | None]]] = {
    # corpus, blocks, type level (1-1, M-1) and M-1 accuracy, V of words; then of tags
    "one class and one cluster": (
        "dog\tN\t1\nrun\tN\t1\n", "dog\nrun\n", [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0],
    ),
    "one class, an item a cluster": (
        "dog\tN\t1\nrun\tN\t2\n", "dog\n\nrun\n", [0.5, 1.0, 1.0, 0.0], [0.5, 1.0, 1.0, 0.0],
    ),
    "one cluster": (TWO, "dog\nrun\n", [0.8, 0.8, 2 / 3, 0.0], [1.0, 1.0, 1.0, 1.0]),
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


QUICK = {"one class, an item a cluster"}
"""Cases of `make test`; each takes more than a second."""


def _mark_long(case: str) -> Any:
    return case if case in QUICK else pytest.param(case, marks=pytest.mark.long)


@pytest.mark.long
@pytest.mark.parametrize("case", [_mark_long(case) for case in sorted(CASES)])
def test_defined_cases_have_their_results_and_a_report(case: str, tmp_path: Path) -> None:
    corpus, words, of_words, of_tags = CASES[case]
    report = case == "one class and one cluster"
    table = systems(tmp_path, corpus=corpus, words=words, report=report)
    for system, expected in (("words", of_words), ("tags", of_tags)):
        values = means(table, system, *TYPES, "many_to_one", "v")
        assert values == [None if one is None else pytest.approx(one) for one in expected], system


def test_clusters_of_other_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="0 of 2 gold words are among the 2 of words"):
        systems(tmp_path, corpus=TWO, words="cat\n\nbird\n")


@pytest.mark.long
def test_one_system_has_the_first_rank(tmp_path: Path) -> None:
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
    ("gold", "words", "message"),
    [("dog\tN\n", "", "{}: 1 of 1 have no item with a cluster: stages.words"),
     ("", "dog\t1\n", "gold: no item has a class")],
)  # fmt: skip
def test_tables_without_rows_are_refused(
    use: str, gold: str, words: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "gold.tsv").write_text("item\tgold\n" + gold)
    (tmp_path / "words.tsv").write_text("item\tcluster\n" + words)
    option = EVALUATIONS[use]
    (tmp_path / "small.toml").write_text(f'{TABLES}use = "{use}"\n{option} = ["words"]\n')
    with pytest.raises(DataError, match=message.format(option)):
        lx.run(tmp_path / "small.toml", runs=tmp_path / "runs", report=False)


# Token-level accuracies of an independent program for clusters of UD English EWT.

ACCURACIES = {
    ("[]", "Brown"): (254_818, 0, 0.6833),
    ("[]", "Clark"): (254_818, 1, 0.7219),
    ('["PUNCT"]', "Brown"): (225_051, 0, 0.6607),
    ('["PUNCT"]', "Clark"): (225_051, 1, 0.6934),
}
EXPERIMENT = """
name = "ewt"
[stages.gold]
use = "extract.gold"
corpus = { path = "data:corpora/UD_English-EWT.all.conllu.gz", normalise = "none" }
exclude = %s
[stages.brown]
use = "extract.clusters"
system = "Brown"
path = { path = "data:clustering/brown_ewtgum_c45.paths.gz", normalise = "none" }
[stages.clark]
use = "extract.clusters"
system = "Clark"
path = { path = "data:clustering/clark_neyessenmorph_ewtgum_c45.tsv.gz", normalise = "none" }
columns = { item = "word" }
[stages.tokens]
use = "evaluate.token_level"
gold = "gold"
dictionaries = ["brown", "clark"]
measures = ["M-1"]
"""


@pytest.mark.parametrize("exclude", ["[]", '["PUNCT"]'])
def test_many_to_one_accuracy_agrees_with_an_independent_program(
    exclude: str, public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    public_data("corpora/UD_English-EWT.all.conllu.gz")
    public_data("clustering/brown_ewtgum_c45.paths.gz")
    (tmp_path / "ewt.toml").write_text(EXPERIMENT % exclude)
    run = lx.run(tmp_path / "ewt.toml", runs=tmp_path, report=False)
    sizes, scores = run.table("tokens.sizes"), run.table("tokens.scores")
    for system in ("Brown", "Clark"):
        tokens, alone, accuracy = ACCURACIES[exclude, system]
        own_sizes = sizes.filter(system=system)
        assert own_sizes.filter(what="tokens")["count"].item() == tokens
        assert own_sizes.filter(what="tokens without a cluster")["count"].item() == alone
        assert scores.filter(system=system)["value"].item() == pytest.approx(accuracy, abs=5e-5)


# M-1 mappings on UD English EWT: known values, and no better one by random restarts.

BEST_VALUES = [("upos", "", 0.5701302), ("upos", "PUNCT", 0.5725355), ("xpos", "PUNCT", 0.4513271)]
"""The best known MicroC of Clark's 45 clusters, without words of a universal tag."""


def memberships(lines: Iterable[str], tag: str, omitted: str) -> pl.DataFrame:
    """Return item and gold of all words but those with a universal tag."""
    cells = [line.split("\t")[:5] for line in lines if line[0].isdigit()]
    pairs = {
        (form, upos if tag == "upos" else xpos)
        for number, form, _, upos, xpos in cells
        if number.isdigit() and upos != omitted
    }
    return pl.DataFrame(sorted(pairs), schema=["item", "gold"], orient="row")


@pytest.mark.long
@pytest.mark.parametrize(("tag", "omitted", "best_value"), BEST_VALUES)
def test_random_restarts_are_not_better_than_the_best_known_value(
    tag: str, omitted: str, best_value: float, public_data: Callable[[str], Path]
) -> None:
    corpus = public_data("corpora/UD_English-EWT.all.conllu.gz")
    clusters = public_data("clustering/clark_neyessenmorph_ewtgum_c45.tsv.gz")
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        gold = memberships(lines, tag, omitted)
    with gzip.open(clusters, "rt", encoding="utf-8") as lines:
        rows = [line.split("\t")[:2] for line in lines][1:]
    induced = pl.DataFrame(rows, schema=["item", "cluster"], orient="row")
    neighbours = Neighbours(entries(gold, induced).patterns)
    score, (m, n) = TYPE_MEASURES.get("MicroC").score, neighbours.overlap.shape

    def value(mapping: IntArray) -> float:
        return float(score(neighbours.patterns, mapping).value)

    values = {value(many_to_one(neighbours, "MicroC", seed=seed).mapping) for seed in "ab"}
    assert max(values) - min(values) < 1e-12
    assert max(values) == pytest.approx(best_value, abs=5e-8)
    bits = np.random.default_rng(7)
    starts = (np.asarray(bits.integers(n, size=m)) for _ in range(50))
    assert max(value(climb(neighbours, "MicroC", start)) for start in starts) <= min(values) + 1e-12
