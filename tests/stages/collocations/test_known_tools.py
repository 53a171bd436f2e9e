"""The numbers that other programs print, from counts as they take them."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline.kernels.association.scoring import score
from tests.stages.small_run import SmallRun

TEXT = "rain fell heavy rain and rain fell on heavy heavy rain\nrain fell\nheavy fell\n"
SPAN = """
[stages.pairs]
use = "extract.pairs"
corpus = "a.txt"
relation = "surface"
surface = {{ left = {left}, right = {right}, count = "nodes" }}
left = {{ label = "{{form}}" }}
right = {{ label = "{{form}}" }}
{more}
[stages.scores]
use = "score.association"
candidates = "pairs"
measures = ["log_dice", "mi_log2", "t_score", "minimum_sensitivity"]
"""


def scored(folder: Path, left: int, right: int, more: str = "", text: str = TEXT) -> dict[Any, Any]:
    run = SmallRun(folder, {"a.txt": text})
    table = run.run(SPAN.format(left=left, right=right, more=more))["scores.scores"]
    return {(row["l1"], row["l2"]): row for row in table.to_dicts()}


def concordance(left: int, right: int) -> tuple[Counter[tuple[str, str]], Counter[str], int]:
    """f_AB is the lines of the concordance of A with B in the span, once a line."""
    together, words = Counter[tuple[str, str]](), Counter[str]()
    for line in TEXT.splitlines():
        tokens = line.split()
        words.update(tokens)
        for at, node in enumerate(tokens):
            span = tokens[max(0, at - left) : at] + tokens[at + 1 : at + 1 + right]
            together.update((node, other) for other in set(span))
    return together, words, words.total()


@pytest.mark.parametrize("span", [(5, 5), (1, 0), (0, 2), (3, 1)])
def test_collocations_of_a_concordance(span: tuple[int, int], tmp_path: Path) -> None:
    """As Sketch Engine counts in a span: f_A and f_B are corpus frequencies, N all tokens."""
    together, words, n = concordance(*span)
    found = scored(tmp_path, *span)
    assert found.keys() == together.keys()
    for (a, b), row in found.items():
        f_ab, f_a, f_b = together[a, b], words[a], words[b]
        assert (row["nodes"], row["f1"], row["f2"], row["N"]) == (f_ab, f_a, f_b, n)
        assert row["f"] == min(f_ab, f_b)
        if f_ab <= f_b:
            assert row["log_dice"] == pytest.approx(14 + math.log2(2 * f_ab / (f_a + f_b)))
            assert row["mi_log2"] == pytest.approx(math.log2(f_ab * n / (f_a * f_b)))
            assert row["t_score"] == pytest.approx((f_ab - f_a * f_b / n) / math.sqrt(f_ab))


def test_a_collocate_in_the_spans_of_two_nodes(tmp_path: Path) -> None:
    """f_AB = 2 of f_B = 1: logDice would be 14.415, above its maximum; f is cut to f2."""
    found = scored(tmp_path, 1, 1, text="a b a\n")
    row = found["a", "b"]
    assert (row["nodes"], row["f"], row["f1"], row["f2"], row["N"]) == (2, 1, 2, 1, 3)
    assert row["log_dice"] == pytest.approx(14 + math.log2(2 / 3))
    assert found["b", "a"]["nodes"] == 1


def test_the_threshold_is_of_what_is_left(tmp_path: Path) -> None:
    assert not scored(tmp_path, 1, 1, "min_frequency = 2", text="a b a\n")


def test_bigrams_of_nltk(tmp_path: Path) -> None:
    """PMI of neighbours: log2 of f N / (f1 f2), all of them word frequencies of the text."""
    words = TEXT.splitlines()[0].split()
    bigrams, each = Counter(pairwise(words)), Counter(words)
    found = scored(tmp_path, 0, 1, text=" ".join(words) + "\n")
    for (a, b), f in bigrams.items():
        expected = math.log2(f * len(words) / (each[a] * each[b]))
        assert found[a, b]["mi_log2"] == pytest.approx(expected)


def test_mutual_information_of_english_corpora_org() -> None:
    """Purple and color in the BNC, span 3 + 3, as that site explains its MI: 11.30."""
    signature = {"l1": "purple", "l2": "color", "f": 22, "f1": 1246 * 6, "f2": 112, "N": 96_263_399}
    table = pl.LazyFrame({name: [value] for name, value in signature.items()})
    scores = score(table, measures=["mi_log2", "mi"]).collect()
    assert scores.select(pl.col("mi_log2").round(2)).item() == 11.30
    assert scores["mi"].item() == pytest.approx(scores["mi_log2"].item() * math.log10(2))


SKETCHES = """
[stages.triples]
use = "extract.tuples"
corpus = "a.conllu"
relation = "dependency"
dependency = { where = "deprel <> 'root'" }
left = { label = "{lemma}" }
right = { labels = ["{deprel}", "{lemma}"] }
[stages.sketches]
use = "extract.pairing"
tuples = "triples"
pairing = [[1, 2], [3]]
[stages.scores]
use = "score.association"
candidates = "sketches"
measures = ["log_dice"]
[stages.named]
use = "extract.pairs"
corpus = "a.conllu"
relation = "dependency"
dependency = { where = "deprel <> 'root'", named = true }
left = { label = "{lemma}" }
right = { label = "{lemma}" }
[stages.pairs]
use = "extract.pairs"
corpus = "a.conllu"
relation = "dependency"
dependency = { label = "obj" }
left = { label = "{lemma}" }
right = { label = "{lemma}" }
"""
TRIPLES = [
    ("drink", "obj", "tea"), ("drink", "obj", "tea"), ("drink", "obj", "beer"),
    ("drink", "nsubj", "tea"), ("sell", "obj", "tea"), ("like", "nsubj", "dog"),
]  # fmt: skip


def test_a_word_sketch(tmp_path: Path) -> None:
    """||w1, R, *|| is 3, ||*, *, w2|| is 4 over all relations; the pairs of obj alone have 3."""
    rows = "1\t{0}\t{0}\tVERB\t_\t_\t0\troot\t_\t_\n2\t{2}\t{2}\tNOUN\t_\t_\t1\t{1}\t_\t_\n\n"
    run = SmallRun(tmp_path, {"a.conllu": "".join(rows.format(*each) for each in TRIPLES)})
    tables = run.run(SKETCHES)
    signature = ("f", "f1", "f2", "N")
    sketch = tables["scores.scores"].filter(l1="drink obj", l2="tea")
    assert sketch.select(signature).row(0) == (2, 3, 4, 6)
    assert sketch["log_dice"].item() == pytest.approx(14 + math.log2(2 * 2 / (3 + 4)))
    named = tables["named.candidates"].filter(l1="obj(drink, *)", l2="tea")
    assert named.select(signature).row(0) == (2, 3, 4, 6)
    pairs = tables["pairs.candidates"].filter(l1="drink", l2="tea")
    assert pairs.select(signature).row(0) == (2, 3, 3, 4)
