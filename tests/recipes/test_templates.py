"""Experiments on a user's own files: what is filled in, and the truth of all comments."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import lexassay as lx
import pipeline
from pipeline.cli.main import main
from pipeline.formats.base import FORMATS
from pipeline.recipes.templates import experiment_template, with_comments
from pipeline.stages.base import STAGES
from tests.experiments.test_sheets import fill_sheets
from tests.recipes.corpora import TEXT, conllu, vertical

ROOT = Path(__file__).parents[2]
STARTERS = Path(pipeline.__file__).parent / "cli" / "starters"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.conllu").write_text(conllu(30))
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "a.vrt").write_text(vertical())
    (tmp_path / "pairs.csv").write_text("w1,w2,freq,f1,f2,N,good\na,x,3,5,6,99,1\nb,y,4,5,6,99,0\n")
    text = (tmp_path / "pairs.csv").read_text().replace("freq", "f")
    (tmp_path / "pairs.csv").write_text(text)
    for name in ("tags.tsv", "tree.paths"):
        shutil.copy(STARTERS / "clustering" / name, tmp_path)
    for name in ("dictionary.unimorph", "computed.wordforms"):
        shutil.copy(STARTERS / "lexicon" / name, tmp_path)
    return tmp_path


OWN = {
    "corpus": ["a.conllu"],
    "collocations": ["pairs.csv"],
    "clustering": ["tags.tsv", "tree.paths"],
    "lexicon": ["dictionary.unimorph", "computed.wordforms"],
}


@pytest.mark.long
@pytest.mark.parametrize("family", OWN)
def test_the_experiment_runs(family: str, folder: Path) -> None:
    words = [word for name in OWN[family] for word in ("--from", str(folder / name))]
    assert main(["new", family, str(folder / "mine"), *words]) == 0
    experiment = folder / "mine" / "experiment.toml"
    run = lx.run(experiment, runs=folder / "runs", report=False)
    waits = {wait.file for wait in run.waits}
    assert bool(waits) == (family == "corpus")
    assert main(["new", family, str(folder / "mine"), *words]) == 2


@pytest.mark.parametrize("family", OWN)
def test_every_option_is_listed_once(family: str, folder: Path) -> None:
    text = experiment_template(family, [folder / name for name in OWN[family]], folder)
    for name, options in tomllib.loads(text)["stages"].items():
        section = text.partition(f"[stages.{name}]\n")[2].partition("\n[")[0]
        result = re.findall(r"^#?(\w+) =", section, flags=re.MULTILINE)
        fields = STAGES.get(options["use"]).config.model_fields
        assert sorted(result) == sorted(["use", *fields, *({"title"} & set(options))])


@pytest.mark.parametrize("family", OWN)
def test_commented_values_are_the_defaults(family: str, folder: Path) -> None:
    text = experiment_template(family, [folder / name for name in OWN[family]], folder)
    used = re.sub(r"^#(\w+ = \S.*)$", r"\1", text, flags=re.MULTILINE)
    (folder / "one.toml").write_text(text)
    (folder / "all.toml").write_text(used)
    one = lx.check(folder / "one.toml", runs=folder / "runs")
    every = lx.check(folder / "all.toml", runs=folder / "runs")
    assert {n: each.config for n, each in one.nodes.items()} == {
        n: each.config for n, each in every.nodes.items()
    }


def test_relations_and_labels_of_a_corpus_are_filled_in(folder: Path) -> None:
    text = experiment_template("corpus", [folder / "a.conllu"], folder)
    pairs = tomllib.loads(text)["stages"]["candidates"]
    assert pairs["dependency"] == {"label": "obj", "governor": "left"}
    assert pairs["left"]["where"] == "upos = 'VERB'"
    plain = text.replace("\n# ", " ")
    assert "Its tokens have deprel, form, head, lemma" in plain
    assert "deprel is amod, nsubj, obj, punct, root" in plain
    vertical_pairs = tomllib.loads(experiment_template("corpus", [folder / "a.vrt"], folder))[
        "stages"
    ]
    assert vertical_pairs["candidates"]["corpus"]["attributes"] == ["word", "pos", "lemma"]
    words = tomllib.loads(experiment_template("corpus", [folder / "a.txt"], folder))["stages"][
        "candidates"
    ]
    assert words["relation"] == "adjacent"
    assert words["left"]["label"] == "{form}"


def test_the_name_of_a_corpus_called_corpus_is_not_repeated(folder: Path) -> None:
    (folder / "a.txt").rename(folder / "corpus.txt")
    text = experiment_template("corpus", [folder / "corpus.txt"], folder)
    assert tomllib.loads(text)["name"] == "corpus"


def test_the_template_states_language_and_line_breaks_of_text(folder: Path) -> None:
    text = experiment_template("corpus", [folder / "a.txt"], folder)
    prose = " ".join(line.lstrip("# ") for line in text.splitlines())
    assert 'sentences = "auto"' in text
    assert "It is plain text in English." in prose
    assert 'language = "en", sentences = "wrapped"' in prose


def test_the_sample_is_drawn_from_the_evaluated_lists(folder: Path) -> None:
    """Of 400,000 pairs, 200 random ones would give half a draw for a list of 1,000."""
    text = experiment_template("corpus", [folder / "a.txt"], folder)
    stages = tomllib.loads(text)["stages"]
    cuts = stages["precision"]["cuts"]
    assert stages["pool"]["depth"] == max(cuts)
    assert stages["sample"]["candidates"] == "pool"
    assert stages["precision"]["ranks"] == stages["comparison"]["ranks"] == "pool.ranks"
    assert stages["choice"]["sizes"] == cuts
    # 5 lists without a common candidate: still 8 draws for the shortest.
    assert stages["sample"]["size"] * min(cuts) / (5 * max(cuts)) >= 5


def test_columns_of_a_table_are_filled_in(folder: Path) -> None:
    stages = tomllib.loads(experiment_template("collocations", [folder / "pairs.csv"], folder))[
        "stages"
    ]
    assert stages["candidates"]["columns"] == {"l1": "w1", "l2": "w2"}
    assert stages["judgements"]["categories"] == {"good": "good"}


def test_usual_names_of_frequencies_are_recognised(folder: Path) -> None:
    names = {
        "l1": "node",
        "l2": "collocate",
        "f": "freq",
        "f1": "f_node",
        "f2": "f_coll",
        "N": "size",
    }
    (folder / "list.tsv").write_text("\t".join(names.values()) + "\na\tb\t3\t4\t5\t99\n")
    text = experiment_template("collocations", [folder / "list.tsv"], folder)
    assert tomllib.loads(text)["stages"]["candidates"]["columns"] == names


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["collocations", "x", "--from", "."], "lexassay new corpus NAME --from ."),
        (["collocations", "x", "--from", "a.txt"], "lexassay new corpus NAME --from a.txt"),
        (["collocations", "x", "--from", "words.csv"], "no column for l1, l2, f, f1, f2, N"),
        (["collocations", "x", "--from", "words.csv"], 'set columns = { l1 = "NAME" } there'),
        (["clustering", "x", "--from", "words.csv", "--from", "words.csv"], "rename columns to"),
        (["clustering", "x", "--from", "tags.tsv"], "give the gold standard, then systems"),
        (["corpus", "x", "--from", "none.conllu"], "file not found"),
        (["corpora", "x"], "did you mean corpus?"),
        ([], "give one of clustering, collocations, corpus, lexicon"),
    ],
)
def test_errors_in_options_and_files_are_reported(
    words: list[str], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    Path("words.csv").write_text("wort1,wort2\nsehr,gut\n")
    assert main(["new", *words]) == 2
    output = capsys.readouterr().err
    assert message in output
    assert "--columns" not in output
    assert not (folder / "x").exists()


SUFFIXES = {
    kind: {suffix for each in map(FORMATS.get, FORMATS) if each.kind == kind for suffix in each.suffixes}
    for kind in ("corpus", "table")
}  # fmt: skip


@pytest.mark.parametrize("suffix", sorted(SUFFIXES["corpus"] - SUFFIXES["table"] - {".txt"}))
def test_a_corpus_is_no_table_of_candidates(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / f"a{suffix}.gz"
    corpus.touch()
    assert main(["new", "collocations", str(tmp_path / "x"), "--from", str(corpus)]) == 2
    assert f"lexassay new corpus NAME --from {corpus}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "line"),
    [("\u6211\u7231\u5317\u4eac\u3002", True), ("\u6211 \u7231 \u5317\u4eac \u3002", False)],
)
def test_text_without_blanks_is_divided_by_a_tokenizer(
    text: str, line: bool, tmp_path: Path
) -> None:
    corpus, folder = tmp_path / "a.txt", tmp_path / "x"
    corpus.write_text(3 * text + "\n" + 4 * text + "\n")
    assert main(["new", "corpus", str(folder), "--from", str(corpus)]) == 0
    content = tomllib.loads((folder / "experiment.toml").read_text(encoding="utf-8"))
    source = content["stages"]["candidates"]["corpus"]
    assert (source.get("tokenizer") == "icu") == line


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tgz", "a.rar", "A.7Z", "folder"])
def test_an_archive_has_to_be_unpacked(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "novels.tar").touch()
    (tmp_path / name).touch()
    command = ["new", "corpus", str(tmp_path / "x"), "--from", str(tmp_path / name)]
    assert main(command) == 2
    err = capsys.readouterr().err
    assert "archive" in err
    assert "; unpack the archive" in err
    assert ("folder has only archives: novels.tar" if name == "folder" else "--from: ") in err
    assert "PATH" not in err


@pytest.mark.long
def test_the_starter_equals_the_output_of_its_generator(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, ROOT / "data" / "make_starter.py", tmp_path], check=True, cwd=tmp_path
    )
    ours = STARTERS / "corpus"
    for name in ("corpus.conllu.gz", "experiment.toml"):
        theirs = (tmp_path / name).read_bytes()
        own = (ours / name).read_bytes()
        if name.endswith(".gz"):
            theirs, own = gzip.decompress(theirs), gzip.decompress(own)
        assert theirs == own, "run: python data/make_starter.py pipeline/cli/starters/corpus"


@pytest.mark.long
def test_the_starter_waits_for_labels_and_delivers_a_list(tmp_path: Path) -> None:
    assert main(["new", "corpus", str(tmp_path)]) == 0
    words = ["run", str(tmp_path / "experiment.toml"), "--runs", str(tmp_path / "runs")]
    assert main([*words, "--no-report"]) == 3
    (sheet,) = tmp_path.glob("sheets/*/*/*.xlsx")
    fill_sheets(sheet, "collocation")
    assert main([*words, "--no-report"]) == 0
    assert list(tmp_path.glob("sheets/corpus/corpus-list/*.xlsx"))


def test_comments_do_not_change_the_content(folder: Path) -> None:
    content = {
        "name": "x", "title": "A \"title\"", "seed": "s",
        "stages": {"scores": {"use": "score.rank", "scores": "x", "measures": ["mi", "t\\s"]}},
    }  # fmt: skip
    assert tomllib.loads(with_comments(content)) == content
