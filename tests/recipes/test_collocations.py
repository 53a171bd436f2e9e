"""Collocates from files alone: counts, formats, saved experiments, and untouched data folders."""

from __future__ import annotations

import gzip
import io
import math
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import lexassay as lx
from pipeline.cli.main import main
from pipeline.errors import ConfigError, DataError
from pipeline.recipes.collocations import candidates, collocates, keywords
from pipeline.recipes.inputs import corpus_files
from pipeline.recipes.templates import experiment_template
from tests.recipes.corpora import SENTENCES, TEXT, conllu, files, together, vertical


@pytest.fixture
def text(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder / "a.txt"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def test_sentences_with_both_words_are_counted(text: Path, runs: Path) -> None:
    table = collocates("house", text, relation="sentence", min_frequency=1, top=None, runs=runs)
    assert dict(table.select("collocate", "f").rows()) == together("house")
    assert set(table["N"]) == {len(SENTENCES)}
    assert table["log_likelihood"].is_sorted(descending=True)


def test_adjacent_words_of_the_node_are_counted(text: Path, runs: Path) -> None:
    table = collocates("HOUSE", text, relation="adjacent", min_frequency=1, top=None, runs=runs)
    beside = {"old": 2, "stood": 1, "now": 1, "new": 1, "the": 2, "is": 1}
    assert dict(table.select("collocate", "f").rows()) == beside
    marks = collocates(
        "house", text, relation="adjacent", min_frequency=1, punctuation=True, runs=runs
    )
    assert {",", ";"} <= set(marks["collocate"])


def test_a_span_has_a_left_and_a_right_size(text: Path, runs: Path) -> None:
    table = collocates("house", text, span=(2, 0), min_frequency=1, top=None, runs=runs)
    before = {"the": 4, "old": 2, "a": 1, "new": 1, "saw": 1}
    assert dict(table.select("collocate", "f").rows()) == before


def test_case_is_distinguished_on_request(text: Path, runs: Path) -> None:
    table = collocates("House", text, case=True, min_frequency=1, span=2, runs=runs)
    assert dict(table.select("collocate", "f").rows()) == {"the": 1, "old": 1, "now": 1}


def test_an_example_marks_node_and_collocate(text: Path, runs: Path) -> None:
    table = collocates("house", text, min_frequency=1, runs=runs)
    (stood,) = table.filter(collocate="stood")["example"]
    assert stood == "The old [[house]] [[stood]] by the river."


def test_a_parsed_corpus_gives_a_word_sketch(tmp_path: Path, runs: Path) -> None:
    (tmp_path / "a.conllu").write_text(conllu())
    table = collocates("House", tmp_path / "a.conllu", runs=runs)
    rows = table.select("relation", "collocate", "f", "f1", "f2", "N").rows()
    # Of three sentences, three dependencies each, seen from either end.
    assert sorted(rows) == [
        ("amod(house, *)", "new", 3, 3, 3, 18),
        ("obj(*, house)", "build", 3, 3, 6, 18),
    ]
    by_hand = 14 + math.log2(2 * 3 / (3 + 6))
    assert table.filter(collocate="build")["log_dice"].item() == pytest.approx(by_hand, rel=1e-12)


def test_counts_of_a_parsed_corpus_are_reused_for_every_word(tmp_path: Path, runs: Path) -> None:
    (tmp_path / "a.conllu").write_text(conllu())
    results: list[tuple[str, str]] = []
    for node in ("house", "build"):
        listeners = [lambda event: results.append((event.kind, event.stage))]
        assert not collocates(
            node, tmp_path / "a.conllu", runs=runs, listeners=listeners
        ).is_empty()
    assert results.count(("stage_done", "pairs")) == 1
    assert results.count(("stage_reused", "pairs")) == 1


@pytest.mark.parametrize("reader", [None, {"attributes": ["word", "tag", "base"]}])
def test_vertical_text_needs_no_column_names(
    tmp_path: Path, runs: Path, reader: dict[str, list[str]] | None
) -> None:
    (tmp_path / "a.vrt").write_text(vertical())
    node = "houses" if reader else "house"  # without names the third column is taken for a lemma
    table = collocates(node, tmp_path / "a.vrt", reader=reader, runs=runs)
    they = {"they": 3, "built" if reader else "build": 3, "new": 3}
    assert dict(table.select("collocate", "f").rows()) == they


ENGLISH = "The DT the|zarp NN <unknown>|runs VVZ run|. SENT .|The DT the|tea NN tea|cools VVZ cool|. SENT ."
GERMAN = "Er PPER er|hat VAFIN haben|3 CARD @card@|Katzen NN Katze|. $. .|Sie PPER sie|schläft VVFIN schlafen|. $. ."
DUTCH = "De det__art de|hond nounsg hond|loopt verbpressg lopen|. $. .|De det__art de|kat nounsg kat|. $. ."
MARKED = (
    ENGLISH.replace("The", "<s>|The", 1).replace("|The DT the|tea", "|</s>|<s>|The DT the|tea")
    + "|</s>"
)
BLANK = ENGLISH.replace("|The", "||The")
ENGLISH_WITH_HEADER = "form tag lemma|" + ENGLISH
TWO = "The DT|tea NN|cools VVZ|. SENT|The DT|tea NN"


def write_table(folder: Path, name: str, lines: str) -> Path:
    (folder / name).write_text("\n".join(lines.replace(" ", "\t").split("|")) + "\n")
    return folder / name


@pytest.mark.parametrize(
    ("name", "lines", "options", "message"),
    [
        *(
            (name, lines, {"format": format_, "attributes": ["word", "pos", "lemma"], "sentence_tags": [end]},
             f"word, pos, lemma, sentences end with tag {end}")
            for name, format_ in (("t.txt", "vertical"), ("t.tsv", "vertical"), ("t.tt", None), ("t.vert", None))
            for lines, end in ((ENGLISH, "SENT"), (GERMAN, "$."), (DUTCH, "$."))
        ),
        ("t.txt", MARKED, {"sentence": "s", "sentence_tags": None}, "word, pos, lemma; change columns with --attributes"),
        ("t.tsv", BLANK, {"sentence": "", "sentence_tags": None}, "word, pos, lemma; change columns with --attributes"),
        ("t.tsv", ENGLISH_WITH_HEADER, {"format": None, "columns": None}, "first line is a header (form, tag, lemma);"),
        ("t.tsv", TWO, {"format": None, "columns": ["word", "attribute_2"]}, "the first line is a token"),
        ("t.tt", TWO, {"attributes": ["word", "attribute_2"], "sentence_tags": None}, "one token per line: columns"),
    ],
)  # fmt: skip
def test_formats_of_token_files_are_recognised(
    name: str, lines: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    corpus = corpus_files([write_table(tmp_path, name, lines)])
    assert {option: corpus.source.get(option) for option in options} == options
    (note,) = corpus.notes
    assert note.startswith(f"{tmp_path / name}: ")
    assert message in note
    first = "form" if lines == ENGLISH_WITH_HEADER else "word"
    assert corpus.head[first].to_list() == [
        line.partition(" ")[0]
        for line in lines.split("|")
        if " " in line and line != "form tag lemma"
    ]


@pytest.mark.parametrize(
    ("name", "lines", "remedies"),
    [
        ("t.tsv", "The DT|house NN", ["--reader header=true", "--attributes word,attribute_2"]),
        ("t.tsv", "form NN|a NN", ["--reader header=true", "--attributes word,attribute_2"]),
        ("t.txt", TWO, ["--attributes word,attribute_2", "--read-as text"]),
    ],
)
def test_ambiguous_files_are_refused(
    name: str, lines: str, remedies: list[str], tmp_path: Path
) -> None:
    path = write_table(tmp_path, name, lines)
    with pytest.raises(ConfigError, match=str(path)) as refused:
        corpus_files([path])
    assert all(remedy in str(refused.value) for remedy in remedies)
    corpus_with_names = corpus_files([path], options={"attributes": ["a", "b"]})
    assert corpus_with_names.head["a"].to_list() == [
        line.partition(" ")[0] for line in lines.split("|")
    ]
    assert corpus_with_names.notes == ()
    if name == "t.txt":
        assert corpus_files([path], read_as="text").head.columns[-2:] == ["form", "space_after"]
    else:
        header = corpus_files([path], options={"header": True})
        assert header.head.columns[-2:] == lines.partition("|")[0].split()


TEI = """<TEI><teiHeader><profileDesc><langUsage><language ident="fr"/></langUsage></profileDesc></teiHeader>
<text><body><p>L'homme <hi>bon</hi> voit l'homme. <note>homme homme</note>Il part.</p></body></text></TEI>
"""


def test_tei_without_marked_words_is_plain_text(tmp_path: Path, runs: Path) -> None:
    (tmp_path / "t.xml").write_text(TEI)
    corpus = corpus_files([tmp_path / "t.xml"])
    assert (corpus.plain, corpus.language) == (True, "fr")
    assert corpus.tokens("l'homme bon") == ["l'", "homme", "bon"]
    table = collocates("homme", tmp_path / "t.xml", span=(0, 2), min_frequency=1, runs=runs)
    after = {"bon": 1, "voit": 1, "il": 1}  # the last across the end of the sentence
    assert dict(table.select("collocate", "f").rows()) == after
    (tmp_path / "w.xml").write_text(TEI.replace("<hi>bon</hi>", '<s><w lemma="x">bon</w></s>'))
    marked = corpus_files([tmp_path / "w.xml"])
    assert not marked.plain
    assert experiment_template("corpus", [tmp_path / "t.xml"], tmp_path)


def test_a_token_table_among_texts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A text.\nIt is plain.\n")
    write_table(tmp_path, "b.txt", ENGLISH)
    with pytest.raises(ConfigError, match="b.txt: its lines have fields"):
        corpus_files([tmp_path])
    assert corpus_files([tmp_path / "b.txt"]).source["format"] == "vertical"


def test_a_folder_means_all_its_files(text: Path, runs: Path) -> None:
    deeper = text.parent / "more" / "b.txt"
    deeper.parent.mkdir()
    deeper.write_text(TEXT)
    (text.parent / "notes.md").write_text("house house house")
    table = collocates("house", text.parent, relation="sentence", min_frequency=1, top=None, runs=runs)  # fmt: skip
    doubled = {word: 2 * count for word, count in together("house").items()}
    assert dict(table.select("collocate", "f").rows()) == doubled
    assert set(table["documents"]) <= {1, 2, 4}


def test_the_saved_experiment_has_the_same_result(text: Path, tmp_path: Path, runs: Path) -> None:
    saved = tmp_path / "elsewhere" / "house.toml"
    saved.parent.mkdir()
    table = collocates("house", text, min_frequency=1, top=None, runs=runs, save=saved)
    assert str(tmp_path) not in saved.read_text()
    scores = lx.run(saved, runs=tmp_path / "own", report=False).table("scores")
    ours = table.select("collocate", "f", "log_dice").sort("collocate")
    assert scores.select("l2", "f", "log_dice").sort("l2").rows() == ours.rows()
    with pytest.raises(ConfigError, match="already exists"):
        collocates("house", text, runs=runs, save=saved)


@pytest.mark.long
def test_no_file_is_written_beside_the_data(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = files(text.parent)
    monkeypatch.chdir(text.parent)
    assert main(["collocates", "house", "a.txt", "--min-f", "1"]) == 0
    assert files(text.parent) == before
    assert list((tmp_path / "cache" / "lexassay").iterdir())


def test_standard_input_can_be_the_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    piped = type("Piped", (), {"buffer": io.BytesIO(TEXT.encode())})()
    monkeypatch.setattr("sys.stdin", piped)
    words = ["collocates", "house", "-", "--relation", "sentence", "--min-f", "1"]
    assert main([*words, "--format", "csv", "--runs", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(together("house"))
    assert main([*words, "--save", str(tmp_path / "x.toml"), "--runs", str(tmp_path)]) == 2
    piped.buffer = io.BytesIO(gzip.compress(TEXT.encode()))
    assert main([*words, "--runs", str(tmp_path)]) == 2
    assert "standard input is compressed; pipe it through gzip -dc" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([" ", "a.txt"], "the word is empty"),
        (["barn*", "a.txt", "--relation", "dependency"], "no heads and relations"),
        (["house", "a.txt", "--within", "page"], "unknown unit 'page'"),
        (["house", "a.txt", "--within", "document", "--relation", "sentence"], "limits spans"),
        (["house", "a.txt", "--stop-words", "none.txt"], "none.txt: file not found"),
        (["house", "a.txt", "--language", "xx"], "unknown language 'xx'"),
        (["tag=NOUN", "a.txt"], "no token at the beginning of the corpus has 'tag'"),
        (["house", "b.txt"], "file not found"),
        (["house", "a.txt", "--relation", "dependency"], "no heads and relations"),
        (["house", "a.txt", "--relation", "spam"], "did you mean span?"),
        (
            ["house", "a.txt", "--attribute", "lemma"],
            "no token at the beginning of the corpus has 'lemma'",
        ),
        (["house", "a.txt", "--span", "0"], "the span is empty"),
        (["house", "a.txt", "--span", "many"], "'many' is not a number of tokens"),
        (["house", "a.txt", "--measure", "log_dise"], "did you mean log_dice?"),
        (["house", "a.txt", "--read-as", "txt"], "did you mean text?"),
        (["house", "."], "the folder has no files with extension"),
        (["house", "a.txt", "b.vrt"], "the files have several formats: text, vertical"),
    ],
)
def test_errors_in_words_and_options_are_reported(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if words[-1] != ".":
        (tmp_path / "a.txt").write_text(TEXT)
    if "b.vrt" in words:
        (tmp_path / "b.vrt").write_text(vertical())
    monkeypatch.chdir(tmp_path)
    assert main(["collocates", *words, "--runs", "runs"]) == 2
    assert message in capsys.readouterr().err


def test_a_word_that_does_not_occur_is_reported(text: Path, runs: Path) -> None:
    with pytest.raises(
        DataError, match="nothing co-occurs at least 3 times with 'castle' in 49 tokens"
    ):
        collocates("castle", text, runs=runs)


def test_nodes_are_counted_as_in_corpus_tools(tmp_path: Path, runs: Path) -> None:
    """Two `new` beside one `house` are one house with `new` beside it."""
    path = tmp_path / "a.txt"
    path.write_text("new house new. new house. old barn new.\n")
    table = collocates("house", path, span=1, count="nodes", min_frequency=1, runs=runs)
    assert table.select("collocate", "f", "f1", "f2", "N").rows() == [("new", 2, 2, 4, 11)]
    usual = collocates("house", path, span=1, min_frequency=1, runs=runs)
    assert usual.equals(table)
    plain = collocates("house", path, span=1, count="positions", min_frequency=1, runs=runs)
    assert plain.select("collocate", "f", "f1", "f2").rows() == [("new", 3, 4, 4)]


@pytest.mark.long
def test_a_span_of_a_parsed_corpus_has_no_relations(tmp_path: Path, runs: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(conllu())
    for options in ({"span": 1}, {"count": "nodes"}):
        table = collocates("house", path, min_frequency=1, runs=runs, **options)
        assert "relation" not in table.columns
    assert "relation" in collocates("house", path, min_frequency=1, runs=runs).columns


def test_invalid_ways_to_count_are_refused(text: Path, runs: Path) -> None:
    with pytest.raises(ConfigError, match="'nodes' applies to spans, not to relation sentence"):
        collocates("house", text, relation="sentence", count="nodes", runs=runs)
    with pytest.raises(ConfigError, match="'windows' is no way to count the pairs of one node"):
        collocates("house", text, count="windows", runs=runs)  # type: ignore[arg-type]
    assert main(["collocates", "house", str(text), "--count", "node"]) == 2
    assert main(["collocates", "house", str(text), "--count", "windows"]) == 2


NODES = "Blue eyes saw blue. Eyes of blue eye. One bluebird's eyes, blue  eyes again."


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("eyes", {"f1": 4, "blue": 4, "saw": 2, "of": 1, "again": 1, "one": 1, "bluebird's": 1}),
        ("blue eyes", {"f1": 2, "saw": 1, "blue": 1, "eyes": 1, "bluebird's": 1, "again": 1}),
        ("e*", {"f1": 5, "blue": 5, "saw": 2, "of": 2, "eye": 1, "one": 2, "bluebird's": 2}),
        ("ey?", {"f1": 1, "of": 1, "blue": 1, "one": 1, "bluebird's": 1}),
        ("/Eyes?/", {"f1": 5, "blue": 5}),
        ("form=EYE", {"f1": 1, "of": 1, "blue": 1}),
    ],
)
def test_nodes_may_be_words_phrases_or_patterns(
    node: str, expected: dict[str, int], tmp_path: Path, runs: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text(NODES)
    rows = collocates(node, path, span=3, min_frequency=1, top=None, runs=runs)
    counted = dict(rows.select("collocate", "nodes").rows())
    assert set(rows["f1"]) == {expected.pop("f1")}
    assert {name: counted.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    "case",
    [
        ("Mr. Fox saw Mr. Fox. Mr. Foxe ran.", "en", "Mr. Fox", 2),
        ("Mr. Fox saw Mr. Fox. Mr. Foxe ran.", "en", "Mr. Fox*", 3),
        ("No. 5 said no. No. 5 it is, on No. 55.", "en", "No. 5", 2),
        ("J. K. Weld and Dr. J. K. Weld, don\u2019t", "en", "J. K. weld", 2),
        ("Don't say don\u2019t.", "en", "don\u2019t", 2),
        ("To-day or to\u2010day, to\u2011day", "en", "to\u2010day", 3),
        ("L'homme vit l\u2019homme, les hommes.", "fr", "l\u2019homme", 2),
        ("L'homme vit l\u2019homme, les hommes.", "fr", "l\u2019", 2),
        ("L'homme vit l\u2019homme, les hommes.", "fr", "l\u2019hom*", 2),
        ("L'homme vit l\u2019homme, les hommes.", "fr", "hom*", 3),
        ("L'homme vit l\u2019homme, les hommes.", "fr", "* hommes", 1),
        ("He's a well-known don't-care.", "en", "well-k?own", 1),
        ("Das Ma\u0308dchen sah M\u00e4dchen.", "de", "ma\u0308dchen", 2),
        ("Das Ma\u0308dchen sah M\u00e4dchen.", "de", "form=M\u00e4dchen", 2),
        ("\u4ed6\u4eec\u4f7f\u7528\u65b0\u65b9\u6cd5\u3002", "zh", "\u4f7f\u7528\u65b0", 1),
        ("\u4ed6\u4eec\u4f7f\u7528\u65b0\u65b9\u6cd5\u3002", "zh", "\u4f7f*", 1),
    ],
)
def test_a_node_is_tokenised_like_the_corpus(
    case: tuple[str, str, str, int], tmp_path: Path, runs: Path
) -> None:
    content, language, node, f1 = case
    path = tmp_path / "a.txt"
    path.write_text(content)
    reader = {"tokenizer": "icu" if language == "zh" else "pattern"}
    table = collocates(node, path, language=language, reader=reader, min_frequency=1, runs=runs)
    assert set(table["f1"]) == {f1}


@pytest.mark.parametrize(("language", "node"), [("", "cafe\u0301"), ("tr", "\u0130nci")])
def test_the_node_of_a_sketch_is_normalised_like_the_words(
    language: str, node: str, tmp_path: Path, runs: Path
) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(conllu().replace("\thouse\t", f"\t{node}\t"))
    assert collocates(node, path, language=language, runs=runs).height == 2


@pytest.mark.long
def test_spans_end_at_the_chosen_boundaries(tmp_path: Path, runs: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("One eye saw. Two went.\nThree came.\n")
    ask = partial(collocates, "eye", path, span=9, min_frequency=1, runs=runs)
    near = {name: set(ask(within=name)["collocate"]) for name in ("sentence", "paragraph", None)}
    assert near["sentence"] == {"one", "saw"}
    assert near["paragraph"] == near["sentence"] | {"two", "went"}
    assert near[None] == near["paragraph"] | {"three", "came"}


@pytest.mark.long
def test_stop_words_are_not_counted(tmp_path: Path, runs: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("The eye of the house saw it.\n")
    (tmp_path / "stop.txt").write_text("The\nof\n")
    (tmp_path / "stop.csv").write_text("word,note\nthe,x\nof,y\n")
    (tmp_path / "semicolons.csv").write_text("word;note\nthe;x\nof;y\n")
    for name in ("stop.txt", "stop.csv", "semicolons.csv"):
        stop = tmp_path / name
        table = collocates("eye", path, min_frequency=1, stop_words=stop, runs=runs)
        assert set(table["collocate"]) == {"house", "saw", "it"}
        pairs = candidates(path, min_frequency=1, stop_words=stop, runs=runs)
        assert pairs.select("l1", "l2").rows() == [("house", "saw"), ("saw", "it")]


def test_case_is_folded_by_the_rules_of_the_language(tmp_path: Path, runs: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("İSTANBUL IŞIK DOLU. İstanbul'da ışık var. istanbul büyük.\n")
    table = collocates("istanbul", path, min_frequency=1, language="tr", runs=runs)
    assert table["f1"][0] == 2
    assert dict(table.select("collocate", "f2").rows())["ışık"] == 2


def test_the_case_of_annotated_corpora_is_that_of_their_language(
    tmp_path: Path, runs: Path
) -> None:
    path, words = tmp_path / "a.conllu", "İyi bir gün ve bu da çok iyi ama Irak ile ırak için"
    lines = [f"{i}\t{w}\t_\tX\t_\t_\t0\troot\t_\t_" for i, w in enumerate(words.split(), 1)]
    path.write_text("\n".join(lines) + "\n\n")
    f1 = {}
    for node in ("iyi", "ırak", "IRAK"):
        f1[node] = collocates(node, path, span=1, min_frequency=1, runs=runs)["f1"][0]
    assert f1 == {"iyi": 2, "ırak": 2, "IRAK": 2}


def test_writing_without_blanks_needs_a_tokenizer(tmp_path: Path, runs: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\u4ed6\u7231\u5317\u4eac\u3002\u5317\u4eac\u5927\u3002" * 9)  # short clauses
    with pytest.raises(DataError, match="Chinese is written without blanks"):
        collocates("\u5317\u4eac", path, runs=runs)
    path.write_text("\u4ed6\u4eec\u4f7f\u7528\u65b0\u7684\u65b9\u6cd5\u3002" * 3)
    with pytest.raises(
        DataError, match='Chinese is written without blanks.*\\n.*tokenizer = "icu"'
    ):
        collocates("\u4f7f\u7528", path, runs=runs)
    table = collocates(
        "\u4f7f\u7528", path, min_frequency=1, reader={"tokenizer": "icu"}, runs=runs
    )
    assert table["f1"][0] == 3
    assert "\u65b9\u6cd5" in set(table["collocate"])
    spaced = tmp_path / "b.txt"
    spaced.write_text("\u4ed6\u4eec \u4f7f\u7528 \u65b0\u7684 \u65b9\u6cd5 \u3002 " * 3)
    assert collocates("\u4f7f\u7528", spaced, min_frequency=1, runs=runs)["f1"][0] == 3


# Keywords from two files.

OTHER = "The river was wide. The old man crossed the river and saw a barn.\n" * 3


@pytest.fixture
def texts_keywords(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "b.txt").write_text(OTHER)
    return tmp_path


def test_keywords_are_counted_in_both_corpora(texts_keywords: Path) -> None:
    table = keywords(
        texts_keywords / "a.txt",
        texts_keywords / "b.txt",
        min_frequency=1,
        top=None,
        runs=texts_keywords / "r",
    )
    counts = {
        word: (f, other) for word, f, other in table.select("keyword", "f", "f_reference").rows()
    }
    assert counts["house"] == (5, 0)
    assert counts["river"] == (1, 6)
    assert counts["the"] == (7, 9)
    assert "." not in counts
    assert table["keyness_ll"].is_sorted(descending=True)
    (million,) = table.filter(keyword="house")["per_million"]
    assert million == pytest.approx(5e6 / sum(len(each.split()) for each in SENTENCES))


def test_a_frequency_list_can_be_the_reference(texts_keywords: Path) -> None:
    (texts_keywords / "list.csv").write_text("Word,Freq\nthe,9\nriver,6\nHouse,1\n")
    whole = keywords(
        texts_keywords / "a.txt",
        texts_keywords / "list.csv",
        min_frequency=1,
        top=None,
        runs=texts_keywords / "r",
    )
    counts = dict(whole.select("keyword", "f_reference").rows())
    assert counts["house"] == 1
    assert counts["the"] == 9


@pytest.mark.long
def test_lemmas_are_counted_if_both_corpora_have_them(texts_keywords: Path) -> None:
    (texts_keywords / "c.conllu").write_text(conllu())
    table = keywords(
        texts_keywords / "c.conllu",
        texts_keywords / "a.txt",
        min_frequency=1,
        top=None,
        runs=texts_keywords / "r",
    )
    assert "houses" in table["keyword"].to_list()
    (texts_keywords / "d.conllu").write_text(conllu(2))
    table = keywords(
        texts_keywords / "c.conllu",
        texts_keywords / "d.conllu",
        min_frequency=1,
        runs=texts_keywords / "r",
    )
    assert "house" in table["keyword"].to_list()
    with pytest.raises(ConfigError, match="no token at the beginning of .*a.txt has 'lemma'"):
        keywords(
            texts_keywords / "c.conllu",
            texts_keywords / "a.txt",
            attribute="lemma",
            runs=texts_keywords / "r",
        )


def test_the_keywords_command_prints_a_table(
    texts_keywords: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "keywords",
        str(texts_keywords / "a.txt"),
        str(texts_keywords / "b.txt"),
        "--runs",
        str(texts_keywords / "r"),
    ]
    assert main([*words, "--top", "2", "--format", "tsv"]) == 0
    head, *lines = capsys.readouterr().out.lstrip("\ufeff").splitlines()
    assert head.split("\t")[:3] == ["keyword", "f", "f_reference"]
    assert len(lines) == 2
    with pytest.raises(DataError, match="no word of .* occurs 99 times"):
        keywords(
            texts_keywords / "a.txt",
            texts_keywords / "b.txt",
            min_frequency=99,
            runs=texts_keywords / "r",
        )


# Candidates from files alone.


def test_adjacent_pairs_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    table = candidates(tmp_path / "a.txt", min_frequency=1, runs=tmp_path / "r")
    # A comma or semicolon separates words in texts that are one sentence here.
    apart = {("house", "and"), ("old", "the"), ("house", "the")}
    slow = Counter(pair for sentence in SENTENCES for pair in pairwise(sentence.split()))
    slow = Counter({pair: count for pair, count in slow.items() if pair not in apart})
    assert {(l1, l2): f for l1, l2, f in table.select("l1", "l2", "f").rows()} == slow


def test_candidates_of_a_dependency_have_head_and_dependent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.conllu").write_text(conllu())
    words = ["candidates", str(tmp_path / "a.conllu"), "--dependency", "obj", "--measure", "mi"]
    assert main([*words, "--format", "tsv", "--runs", str(tmp_path / "r")]) == 0
    head, *rows = capsys.readouterr().out.lstrip("\ufeff").splitlines()
    assert head.split("\t")[:6] == ["l1", "l2", "f", "f1", "f2", "N"]
    assert [row.split("\t")[:6] for row in rows] == [["build", "house", "3", "3", "3", "3"]]


@pytest.mark.long
def test_a_single_measure_need_not_be_in_a_list(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(conllu())
    options: dict[str, Any] = {"min_frequency": 1, "runs": tmp_path / "r"}
    corpus = tmp_path / "a.conllu"
    both = (["mi"], ["obj"]), ("mi", "obj")
    some = [candidates(corpus, relation="dependency", measures=mi, dependency=obj, **options)
            for mi, obj in both]  # fmt: skip
    assert some[0].equals(some[1])
    near = [collocates("house", corpus, measures=mi, **options) for mi in (["mi"], "mi")]
    assert near[0].equals(near[1])
    (tmp_path / "b.txt").write_text(OTHER)
    typical = [keywords(corpus, tmp_path / "b.txt", measures=each, **options)
               for each in (["log_ratio"], "log_ratio")]  # fmt: skip
    assert typical[0].equals(typical[1])


def test_conditions_select_the_words(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(conllu())
    table = candidates(
        tmp_path / "a.conllu", relation="sentence", left="upos = 'ADJ'", right="upos = 'NOUN'",
        runs=tmp_path / "r",
    )  # fmt: skip
    assert table.select("l1", "l2", "f").rows() == [("new", "house", 3)]
    with pytest.raises(DataError, match="no pair occurs 9 times or more"):
        candidates(tmp_path / "a.conllu", min_frequency=9, runs=tmp_path / "r")


def test_a_corpus_of_blank_lines_has_no_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["candidates", str(tmp_path), "--min-f", "1", "--runs", str(tmp_path / "r")]
    (tmp_path / "a.txt").write_text("\n\n \n")
    assert main(words) == 1
    assert f"{tmp_path / 'a.txt'} has no words" in capsys.readouterr().err
    (tmp_path / "b.txt").write_text("Kick the bucket.\n")
    assert main([*words, "--reader", "lenient=true"]) == 0
