"""Tuples end to end: extracted, scored, paired, ranked, evaluated."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import DataError
from pipeline.kernels.sampling import candidate_id
from tests.stages.run_stage import faults, run_stage

ROOT = Path(__file__).parents[3]
CORPUS = "".join(
    f"1\tin\tin\tADP\t_\t_\t2\tcase\t_\t_\n2\t{n}\t{n}\tNOUN\t_\t_\t3\tobl\t_\t_\n"
    f"3\t{v}\t{v}\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    for n, v in [("Frage", "stellen")] * 4 + [("Frage", "kommen"), ("Haus", "kommen")] * 2
)
TRIPLES = """
name = "x"
seed = "s"
[stages.triples]
use = "extract.tuples"
corpus = "c.conllu"
left = { where = "upos = 'NOUN'", attach = { p = "deprel = 'case'" }, labels = ["{p.lemma}", "{lemma}"] }
right = { where = "upos = 'VERB'" }
"""
PAIRS = """
[stages.pairs]
use = "extract.pairs"
corpus = "c.conllu"
left = { where = "upos = 'NOUN'", attach = { p = "deprel = 'case'" }, label = "{p.lemma} {lemma}" }
right = { where = "upos = 'VERB'" }
"""


def run(folder: Path, text: str) -> lx.Run:
    (folder / "c.conllu").write_text(CORPUS)
    (folder / "x.toml").write_text(text)
    return lx.run(folder / "x.toml", runs=folder / "runs", report=False)


def test_a_pairing_of_triples_equals_the_pairs(tmp_path: Path) -> None:
    """P N and V, paired from triples or extracted as pairs: the same digest."""
    pairing = """
    [stages.paired]
    use = "extract.pairing"
    tuples = "triples"
    pairing = [[1, 2], [3]]
    """
    results = run(tmp_path, TRIPLES + PAIRS + pairing)
    digests = [results.manifests[name].digests()["candidates"] for name in ("pairs", "paired")]
    assert digests[0] == digests[1]
    assert results.table("paired").height == 3


def test_tuples_and_their_pairing_are_evaluated_together(tmp_path: Path) -> None:
    rest = """
    [stages.scores]
    use = "score.tuples"
    tuples = "triples"
    measures = ["G2", "mi"]
    formulas = { share = "o / f_12" }
    [stages.paired]
    use = "extract.pairing"
    tuples = "scores"
    pairing = [[1], [2, 3]]
    separator = "_"
    examples = "triples.examples"
    [stages.pair_scores]
    use = "score.association"
    candidates = "paired"
    measures = ["G2"]
    [stages.ranks]
    use = "score.rank"
    scores = "pair_scores"
    """
    results = run(tmp_path, TRIPLES + "examples = 1" + rest)
    scores = results.table("scores")
    stellen = scores.row(by_predicate=pl.col("l3") == "stellen", named=True)
    assert stellen["share"] == 4 / 6
    scored = {"log_likelihood", "tuple_log_likelihood", "tuple_mi", "tuple_share"}
    assert set(results.table("ranks").get_column("measure")) == scored
    pairs = results.table("pair_scores")
    assert set(pairs.get_column("l2")) == {"Frage_stellen", "Frage_kommen", "Haus_kommen"}
    assert pairs.select((candidate_id("l1", "l2") == pl.col("id")).all()).item()
    examples = results.table("paired.examples").join(pairs, on="id", how="full")
    assert examples.height == 3
    for text, l2 in examples.select("text", "l2").rows():
        noun, verb = l2.split("_")
        assert text == f"in [[{noun}]] [[{verb}]]"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("pairing = [[1, 2], [2]]", "every position once"),
        ("pairing = [[1], []]", "every position once"),
        ("pairing = [[1], [2]]", "has 2 positions, but the tuples have 3 units"),
    ],
)
def test_invalid_pairings_are_refused(options: str, message: str, tmp_path: Path) -> None:
    text = f'{TRIPLES}[stages.p]\nuse = "extract.pairing"\ntuples = "triples"\n{options}\n'
    with pytest.raises(lx.errors.ConfigError, match=message):
        run(tmp_path, text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('measures = ["dice"]', "unknown tuple measure 'dice'"),
        ('formulas = { mine = "o / f_45" }', "formulas.mine: 'o / f_45' uses f_45"),
        ('formulas = { mi = "o / e" }', "is the name of a column"),
        ('formulas = { f_12 = "o / e" }', "is the name of a column"),
    ],
)
def test_invalid_measures_of_tuples_are_refused(options: str, message: str, tmp_path: Path) -> None:
    text = f'{TRIPLES}[stages.p]\nuse = "score.tuples"\ntuples = "triples"\n{options}\n'
    with pytest.raises(lx.errors.ConfigError, match=message):
        run(tmp_path, text)


def test_pairs_are_not_accepted_as_tuples(tmp_path: Path) -> None:
    text = f'{PAIRS}[stages.p]\nuse = "score.tuples"\ntuples = "pairs"\n'
    with pytest.raises(lx.errors.ConfigError, match="but Tuples is needed here"):
        run(tmp_path, 'name = "x"\n' + text)


def test_units_with_the_separator_are_refused(tmp_path: Path) -> None:
    """The verb of one is the noun and verb of another: 'in a b' has two readings."""
    rows = "1\t{0}\t{0}\tX\t_\t_\t0\troot\t_\t_\n2\t{1}\t{1}\tX\t_\t_\t1\tx\t_\t_\n3\tz\tz\tX\t_\t_\t1\tx\t_\t_\n\n"
    (tmp_path / "d.conllu").write_text(rows.format("a b", "c") + rows.format("a", "b c"))
    text = """
    name = "x"
    [stages.triples]
    use = "extract.tuples"
    corpus = "d.conllu"
    relation = "adjacent"
    length = 3
    [stages.p]
    use = "extract.pairing"
    tuples = "triples"
    pairing = [[1, 2], [3]]
    """
    with pytest.raises(DataError, match="1 label.* 'a b c'. Use another separator"):
        run(tmp_path, text)
    results = run(tmp_path, text + 'separator = "+"')
    assert results.table("p").get_column("l1").sort().to_list() == ["a b+c", "a+b c"]


@pytest.mark.long
def test_triples_of_the_generated_corpus_equal_its_pairs(tmp_path: Path) -> None:
    """P-N-V triples, and their pairing equals the PP-verb pairs of the project's experiment."""
    make = [sys.executable, str(ROOT / "data" / "make_corpus.py"), str(tmp_path / "pp")]
    subprocess.run(make, check=True, capture_output=True)
    texts = [each.replace("c.conllu", "pp/pp-verb-1.conllu") for each in (TRIPLES, PAIRS)]
    pairing = '[stages.p]\nuse = "extract.pairing"\ntuples = "triples"\npairing = [[1, 2], [3]]\n'
    results = run(tmp_path, "".join(texts) + pairing)
    assert results.table("p").height > 100
    assert results.table("p").sort("id").equals(results.table("pairs").sort("id"))


def test_labels_of_tuples_are_matched_by_all_units() -> None:
    units = {"l1": ["in", "in"], "l2": ["Frage", "Frage"], "l3": ["stellen", "kommen"]}
    rows = pl.DataFrame({"annotator": "a", "order": [1, 2]} | units)
    sheet = rows.with_columns(candidate_id("l1", "l2", "l3"))
    known = pl.DataFrame(units | {"label": ["free", "SVC"]})
    tables = run_stage("sheet.simulated", {"path": "labels.tsv"}, sheet=sheet, path=known.reverse())
    entries = tables["entries"].sort("line")
    assert entries.select("l3", "label").rows() == [("stellen", "free"), ("kommen", "SVC")]
    assert faults(tables) == []


# Tuples counted in buckets equal those counted as a whole

N_GRAMS = 'relation = "adjacent"\nlength = 4\nunit = { label = "{form}" }'
PAIRED = """
relation = "sentence"
left = { labels = ["{form}", "{form}+"] }
right = { label = "{form}" }
"""
FEW, MANY = 'memory = "2MB"', 'memory = "1MB"\nshard = 1'


def build(folder: Path) -> None:
    draw = random.Random(4)
    for number in range(2):
        words = [f"w{int(draw.paretovariate(0.9)) % 60}" for _ in range(3_000)]
        lines = (" ".join(words[at : at + 7]) for at in range(0, len(words), 7))
        (folder / f"{number}.txt").write_text("\n".join(lines) + "\n")


def run_tuples(folder: Path, stage: str, run: str, *, least: int = 2, runs: str) -> lx.Run:
    (folder / "x.toml").write_text(
        f'name = "x"\n[run]\n{run}\n[stages.t]\nuse = "extract.tuples"\ncorpus = "*.txt"\n'
        f"examples = 1\nmin_frequency = {least}\n{stage}\n"
    )
    return lx.run(folder / "x.toml", runs=folder / runs, report=False)


def parts(run: lx.Run) -> int:
    return len(run.manifests["t"].tables["tuples"].parts)


@pytest.mark.long
@pytest.mark.parametrize("stage", [N_GRAMS, PAIRED])
def test_a_memory_limit_does_not_change_the_tables(stage: str, tmp_path: Path) -> None:
    build(tmp_path)
    whole = run_tuples(tmp_path, stage, "", runs="whole")
    few = run_tuples(tmp_path, stage, FEW, runs="few")
    many = run_tuples(tmp_path, stage, MANY, runs="many")
    assert parts(whole) == 1 < parts(few) < parts(many)
    digests = [run.manifests["t"].digests() for run in (whole, few, many)]
    assert digests[0] == digests[1] == digests[2]
    assert whole.table("t.tuples").height > 100


@pytest.mark.long
@pytest.mark.parametrize(("first", "then"), [("", MANY), (MANY, "")])
def test_counts_are_reused_with_other_thresholds_and_buckets(
    first: str, then: str, tmp_path: Path
) -> None:
    """Existing counts are divided further, or read in their own buckets."""
    build(tmp_path)
    run_tuples(tmp_path, N_GRAMS, first, runs="runs")
    result = run_tuples(tmp_path, N_GRAMS, then, least=3, runs="runs")
    fresh = run_tuples(tmp_path, N_GRAMS, "", least=3, runs="fresh")
    assert result.manifests["t"].digests() == fresh.manifests["t"].digests()
    assert parts(result) > 1
