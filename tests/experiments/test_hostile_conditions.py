"""SQL in an experiment reads no file, wherever it stands: refused at `plan`, by its option."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.errors import ConfigError

SECRET = "the first line of a file"
PAIRS = """
[stages.pairs]
use = "extract.pairs"
corpus = "t.conllu"
relation = "dependency"
dependency = {{ where = "{dependency}", through = "{through}" }}
left = {{ where = "{left}", matches = "{matches}" }}
right = {{ attach = {{ p = "{attach}" }}, label = "{{p.lemma}}" }}
"""
SCORES = """
[stages.scores]
use = "score.association"
candidates = "pairs"
measures = ["t_score"]
formulas = {{ mine = "{formula}" }}
[stages.ranks]
use = "score.rank"
scores = "scores"
[stages.gold]
use = "join.table"
path = "gold.tsv"
candidates = "pairs"
[stages.subset]
use = "evaluate.subset"
ranks = "ranks"
judgements = "gold"
subset = "scores"
where = "{subset}"
"""
OTHERS = """
[stages.words]
use = "extract.lexicon"
path = "words.tsv"
where = "{lexicon}"
[stages.tuples]
use = "extract.tuples"
corpus = "t.conllu"
length = 3
relation = "adjacent"
unit = {{ where = "{unit}" }}
[stages.tuple_scores]
use = "score.tuples"
tuples = "tuples"
measures = ["mi"]
formulas = {{ mine = "{tuple_formula}" }}
[sweep]
collect = ["scores"]
over = {{ seed = [1, 2] }}
where = "{sweep}"
"""
GOOD = {
    "dependency": "deprel = 'obj'", "through": "upos = 'ADP'", "left": "upos = 'VERB'",
    "matches": "^\\\\p{L}", "attach": "deprel = 'case'", "formula": "o11 / e11",
    "subset": "f > 1", "lexicon": "pos = 'V'", "unit": "upos <> 'PUNCT'",
    "tuple_formula": "o / e", "sweep": "f > 1",
}  # fmt: skip
PLACES = {
    "dependency": "stages.pairs.dependency", "through": "stages.pairs.dependency",
    "left": "stages.pairs.left.where", "attach": "stages.pairs.right.attach.p",
    "formula": "stages.scores.formulas", "subset": "stages.subset.where",
    "lexicon": "stages.words.where", "unit": "stages.tuples.unit.where",
    "tuple_formula": "stages.tuple_scores.formulas.mine", "sweep": "sweep.where",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "secret.csv").write_text(f"{SECRET}\n1\n")
    token = "1\tx\tx\tVERB\t_\t_\t0\troot\t_\t_"
    (tmp_path / "t.conllu").write_text(f"{token}\n\n")
    (tmp_path / "words.tsv").write_text("lemma\tform\tpos\nx\ty\tV\n")
    (tmp_path / "gold.tsv").write_text("l1\tl2\tTP\nx\tx\t1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plan(folder: Path, capsys: pytest.CaptureFixture[str], **texts: str) -> tuple[int, str]:
    content = 'name = "x"\n' + (PAIRS + SCORES + OTHERS).format(**{**GOOD, **texts})
    (folder / "x.toml").write_text(content)
    code = main(["plan", "x.toml"])
    said = capsys.readouterr()
    return code, " ".join((said.out + said.err).split())


def test_without_it_all_is_well(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(folder, capsys)[0] == 0


@pytest.mark.parametrize("place", PLACES)
def test_no_file_is_read(place: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = f"f IN (SELECT x FROM read_csv('{folder}/secret.csv'))"
    code, said = plan(folder, capsys, **{place: hostile})
    assert code == 2
    assert f"{PLACES[place]}: " in said
    assert "READ_CSV is no function that may be used here: allowed are ABS" in said
    assert SECRET not in said


@pytest.mark.parametrize("place", PLACES)
def test_no_memory_is_taken(place: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "LENGTH(LPAD(form, 1000000000, 'x')) > 1"
    code, said = plan(folder, capsys, **{place: hostile})
    assert (code, "LPAD is no function" in said) == (2, True)


def test_a_label_matches_no_expression_of_any_size(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = plan(folder, capsys, matches="(\\\\pL{500}){500}")
    assert (code, "left.matches: " in said) == (2, True)
    assert "is no regular expression: it is too large" in said


def test_nor_does_a_formula_given_in_python() -> None:
    table = pl.DataFrame({"f": [146], "f1": [382], "f2": [4047], "N": [406159]})
    hostile = "o11 IN (SELECT x FROM read_csv('/etc/passwd'))"
    with pytest.raises(ConfigError, match="READ_CSV is no function"):
        lx.score(table, measures=[], formulas={"mine": hostile})
