"""A corpus in a folder of many files, through the whole runner, with files that are damaged."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from pipeline import memory
from pipeline.errors import DataError
from pipeline.formats.base import format_of
from pipeline.formats.corpora.blocks import Hashes
from pipeline.formats.corpora.rules import after_blank_line
from pipeline.formats.unicode import normalise
from pipeline.kernels.cooccurrence.concordance import in_context, render
from pipeline.runner.store import artefacts
from pipeline.runner.store.backends import storage_at
from tests.formats.corpora import slow_readers
from tests.formats.corpora.corpus_files import parts_of, read, skips, write

SENTENCE = (
    "# newdoc id = {}\n1\ta\ta\tNOUN\t_\t_\t2\tx\t_\t_\n2\tb\tb\tVERB\t_\t_\t0\troot\t_\t_\n\n"
)
EXPERIMENT = """
name = "many"
[stages.pairs]
use = "extract.pairs"
corpus = { path = "corpus/*", lenient = %s }
left = { where = "upos = 'NOUN'", label = "{lemma}" }
right = { where = "upos = 'VERB'", label = "{lemma}" }
"""


def build(folder: Path, *, files: int, lenient: bool) -> Path:
    (folder / "corpus").mkdir()
    for number in range(files):
        name = f"{number:03}.conllu" + (".gz" if number % 2 else "")
        write(folder / "corpus" / name, SENTENCE.format(number) * 2)
    write(folder / "corpus" / "damaged.conllu", SENTENCE.format("d") + SENTENCE.replace("2", "9"))
    write(folder / "corpus" / "empty.conllu.gz", "")
    config = folder / "many.toml"
    config.write_text(EXPERIMENT % str(lenient).lower())
    return config


@pytest.mark.long
def test_skipped_sentences_are_counted_and_reported(tmp_path: Path) -> None:
    config = build(tmp_path, files=30, lenient=True)
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    (counts,) = run.table("pairs.candidates").select("f", "documents").rows()
    assert counts == (30 * 2 + 1, 30 + 1)
    (folder,) = [
        each.parent for each in (tmp_path / "runs" / "many" / "pairs").glob("*/manifest.json")
    ]
    artefact = artefacts.read(storage_at(folder.parent), folder.name)
    assert artefact is not None
    assert artefact.skipped == 2
    assert artefact.skipped_examples == (
        "corpus/* (damaged.conllu), line 7: not the ID 2 that should follow: '9'",
        "corpus/* (empty.conllu.gz), line 1: the file is empty: it has no tokens",
    )
    logs = (tmp_path / "runs" / "many").rglob("*.jsonl")
    events = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    message = "skipped 1 sentence and 1 line or file outside sentences, 2 tokens in all"
    assert [event["text"] for event in events if message in event.get("text", "")]


def test_damage_stops_a_strict_run(tmp_path: Path) -> None:
    config = build(tmp_path, files=2, lenient=False)
    with pytest.raises(DataError, match=r"damaged.conllu: \d line"):
        lx.run(config, runs=tmp_path / "runs", report=False)


# The written form of sentences: readers against the text, on small cases and whole treebanks.


def conllu(*words: str, text: str | None = None) -> str:
    """Return a sentence; a word is "1 form" or "1-2 form", with MISC behind it."""
    lines = [] if text is None else [f"# text = {text}"]
    for word in words:
        number, form, misc = [*word.split("~"), "_"][:3]
        attributes = ["_"] * 7 if "-" in number or "." in number else ["x", *"_" * 4, "dep", "_"]
        lines.append("\t".join([number, form, *attributes, misc]))
    return "\n".join(lines) + "\n\n"


def texts(path: Path, *, form: str = "form", **options: Any) -> list[str]:
    """Return the text of each sentence of a file, as examples show it."""
    tokens = read(path, **options)
    lists = [
        pl.col(name) if name in tokens.columns else pl.lit(None, pl.String()).alias(name)
        for name in (form, "surface", "space_after")
    ]
    sentences = (
        tokens.select("sentence", *lists).group_by("sentence", maintain_order=True).agg(pl.all())
    )
    return [in_context(render(*row), [[]], width=0)[0] for row in sentences.drop("sentence").rows()]


CASES = {
    "L'incidence des symptômes.": [
        "1~L'~SpaceAfter=No", "2~incidence", "3-4~des", "3~de", "4~les",
        "5~symptômes~Gloss=a|SpaceAfter=No", "6~.",
    ],
    "Dámelo, hombre": ["1-3~Dámelo~SpaceAfter=No", "1~Da", "2~me", "3~lo", "4~,", "5~hombre~SpacesAfter="],
    "zum Haus": ["1-2~zum", "1~zu~SpaceAfter=No", "2~dem~SpaceAfter=No", "3~Haus"],
    "I like tea": ["1~I", "2~like", "2.1~like~SpaceAfter=No", "3~tea~SpaceAfter=No"],
    "a b": ["1~a~SpacesAfter=\\n", "2~b~SpacesAfter=No"],
    "x _ y": ["1~x~SpaceAfter=Yes", "2~_", "3~y"],
    "de le": ["1-2~_", "1~de", "2~le"],
}  # fmt: skip


@pytest.mark.parametrize("text", sorted(CASES))
def test_ranges_and_misc_give_the_written_text(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.conllu", conllu(*CASES[text]))
    assert texts(path) == [text]


TEXT_COMMENTS = {
    "don't!": ["1~do", "2~n't", "3~!"],
    "10 000 €, du  Port": ["1~10000", "2~€", "3~,", "4-5~du", "4~de", "5~le", "6~Port"],
    "10\u00a0000": ["1~10 000"],
    "e\u0301té, مرحبا.": ["1~e\u0301té", "2~,", "3~مرحبا", "4~."],
    "vámonos al mar": ["1-2~vámonos", "1~vamos", "2~nos", "3-4~al", "3~a", "4~el", "5~mar"],
}


@pytest.mark.parametrize("text", sorted(TEXT_COMMENTS))
def test_spaces_are_those_of_the_text_comment(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.conllu", conllu(*TEXT_COMMENTS[text], text=text) * 2)
    assert texts(path, normalise="none") == [text] * 2
    assert texts(path) == [normalise(text)] * 2


@pytest.mark.parametrize("text", ["don't stop", "dont!", "", "# x", "do n't! !", "n't do!"])
def test_a_text_comment_with_other_words_is_ignored(text: str, tmp_path: Path) -> None:
    words = ["1~do~SpaceAfter=No", "2~n't", "3~!"]
    content = conllu(*words, text=text) + conllu("1~next", "2~.")
    path = write(tmp_path / "t.conllu", content)
    assert texts(path) == ["don't !", "next ."]


def test_surfaces_and_spaces_are_kept_for_each_word(tmp_path: Path) -> None:
    path = write(tmp_path / "t.conllu", conllu("1-2~du", "1~de", "2~le", "3~x~SpaceAfter=No"))
    tokens = read(path).select("form", "surface", "space_after")
    assert tokens.rows() == [("de", "du", None), ("le", "", None), ("x", None, "")]


FORMS = st.text("ab'é\u0301 ", min_size=1, max_size=3).filter(lambda text: text.strip() == text)
MISC = st.sampled_from(["_", "SpaceAfter=No", "Gloss=SpaceAfter|SpaceAfter=No", "SpacesAfter="])


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """Draw a sentence with ranges, empty nodes, and a text that may be right."""
    words: list[str] = []
    at = 0
    for _ in range(draw(st.integers(1, 5))):
        size = draw(st.sampled_from([1, 1, 2, 3]))
        if size > 1:
            words.append(f"{at + 1}-{at + size}~{draw(FORMS)}~{draw(MISC)}")
        words += [f"{at + n}~{draw(FORMS)}~{draw(MISC)}" for n in range(1, size + 1)]
        at += size
        words += [f"{at}.1~e~SpaceAfter=No"] if draw(st.booleans()) else []
    plain = conllu(*words)
    outer = [cells[1] for cells in _written_lines(plain)]
    spaced = "".join(form + draw(st.sampled_from(["", " ", "  "])) for form in outer)
    text = draw(st.sampled_from([None, spaced, spaced.replace("a", "b"), spaced + "x"]))
    return conllu(*words, text=text)


def _written_lines(plain: str) -> list[list[str]]:
    """Return the lines of written words: ranges, and words outside of them."""
    rows, last = [], 0
    for cells in (line.split("\t") for line in plain.splitlines() if line and line[0] != "#"):
        if "-" in cells[0]:
            last = int(cells[0].split("-")[1])
            rows.append(cells)
        elif cells[0].isdigit() and int(cells[0]) > last:
            rows.append(cells)
    return rows


@pytest.mark.long
@given(contents=st.lists(sentences(), min_size=1, max_size=4))
def test_random_sentences_have_their_written_text(
    contents: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write(tmp_path_factory.mktemp("drawn") / "t.conllu", "".join(contents))
    own: dict[str, Any] = {"normalise": "none"}
    assert read(path, **own).rows(named=True) == slow_readers.conllu(path)
    assert texts(path, **own) == [_written_text(sentence) for sentence in contents]


def _written_text(sentence: str) -> str:
    """Return the text that a person would write for the lines of a sentence."""
    text = next((line[9:] for line in sentence.splitlines() if line.startswith("# text = ")), "")
    outer = _written_lines(sentence)
    if "".join(text.split()) == "".join("".join(cells[1].split()) for cells in outer):
        return text.strip()
    no = {"SpaceAfter=No", "SpacesAfter="}
    return "".join(f[1] + " " * (not no & set(f[9].split("|"))) for f in outer).rstrip()


@pytest.mark.long
@pytest.mark.parametrize("name", ["UD_English-EWT.all", "de_gsd-ud-dev", "de_gsd-ud-test"])
def test_sentences_of_treebanks_have_their_text_comments(
    name: str, public_data: Callable[[str], Path]
) -> None:
    path = public_data(f"corpora/{name}.conllu.gz")
    assert texts(path, normalise="none") == _sentence_texts(path)


@pytest.mark.long
def test_only_one_sentence_of_a_treebank_needs_its_text_comment(
    public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    path = public_data("corpora/UD_English-EWT.all.conllu.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        without = "".join(line for line in lines if not line.startswith("# text ="))
    sentences_of_file = texts(write(tmp_path / "t.conllu", without), normalise="none")
    differing = [
        comment
        for one, comment in zip(sentences_of_file, _sentence_texts(path), strict=True)
        if one != comment
    ]
    assert len(differing) == 1
    assert "\u00a0" in differing[0]  # SpacesAfter=\u00A0: no space that MISC alone would give


def _sentence_texts(path: Path) -> list[str]:
    mark = "# text = "
    return [
        line[len(mark) :] for _, line in slow_readers.numbered_lines(path) if line.startswith(mark)
    ]


def test_glue_joins_tokens_of_vertical_text(tmp_path: Path) -> None:
    lines = [
        "<s>",
        "He",
        "<g/>",
        ",",
        "<b>",
        "too",
        "</b>",
        "",
        "<g />",
        "</s>",
        "<s>",
        "x",
        "<g/>",
    ]
    lines += ['<g id="1"/>', "!", "<gap/>", "?", "</s>", ""]
    path = write(tmp_path / "t.vrt", "\n".join(lines))
    options: dict[str, Any] = {"attributes": ["word"], "form": "word"}
    assert texts(path, **options) == ["He, too", "x! ?"]
    assert texts(path, **options, glue="") == ["He , too", "x ! ?"]
    assert texts(path, **options, glue="gap") == ["He , too", "x !?"]
    assert read(path, attributes=["word"])["space_after"].to_list()[:3] == ["", None, ""]


def test_plain_text_is_shown_as_written(tmp_path: Path) -> None:
    path = write(tmp_path / "t.txt", "»He  said«: don't, (so) Mr. A!\tNo\u00a0way.\n\nEnd")
    none: dict[str, Any] = {"normalise": "none"}
    assert texts(path) == ["»He  said«: don't, (so) Mr. A!\tNo way.", "End"]
    assert texts(path, **none) == ["»He  said«: don't, (so) Mr. A!\tNo\u00a0way.", "End"]
    split_options: dict[str, Any] = {"sentences": "split", "abbreviations": ["Mr"], **none}
    assert texts(path, **split_options) == ["»He  said«: don't, (so) Mr. A!", "No\u00a0way.", "End"]
    words = texts(path, tokens=r"\w+", **none)
    assert words == ["He  said«: don't, (so) Mr. A!\tNo\u00a0way.", "End"]


@pytest.mark.parametrize(("name", "kind"), [("t.tsv", "tokens"), ("t.pq", "token_parquet")])
def test_a_column_of_tables_says_where_no_space_is(name: str, kind: str, tmp_path: Path) -> None:
    rows = pl.DataFrame(
        {"sentence": [1] * 3, "form": ["a", ",", "b"], "space_after": ["No", "Yes", None]}
    )
    path = tmp_path / name
    if kind == "tokens":
        rows.write_csv(path, separator="\t")
    else:
        rows.write_parquet(path)
    assert texts(path, name=kind) == ["a, b"]


@given(st.text("a\n\r \t", max_size=9))
def test_blocks_end_after_the_last_blank_line(text: str) -> None:
    """The slow way looks for all empty lines, or for those of white space if there are none."""
    content = text.encode()
    lines = content.splitlines(keepends=True)
    ends = [sum(map(len, lines[: number + 1])) for number in range(len(lines))]
    blank = [line in {b"\n", b"\r\n"} for line in lines]
    white = [not line.strip(b" \t\r\n") and line.endswith(b"\n") for line in lines]
    if b"\r" in content.replace(b"\r\n", b""):
        return  # no reader accepts such text
    kind = blank if any(blank[1:]) else white
    expected = [end for end, of_kind in zip(ends[1:], kind[1:], strict=True) if of_kind]
    assert after_blank_line(content) == max(expected, default=0)


WORDS = {
    "conllu": "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n2\tb\tb\tX\t_\t_\t1\tdep\t_\t_\n",
    "vertical": "a\tX\ta\nb\tX\tb\n",
    "tokens": "a\tX\ta\nb\tX\tb\n",
}
NAMED: dict[str, dict[str, Any]] = {
    "conllu": {},
    "vertical": {"attributes": ["form", "pos", "lemma"], "sentence": "", "document": "doc"},
    "tokens": {"columns": ["form", "pos", "lemma"]},
}


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize(
    ("name", "separator"), [("t.txt", " "), ("t.txt", "\t" * 9), ("t.txt.gz", " \t ")]
)
def test_white_space_alone_ends_a_sentence(
    kind: str, name: str, separator: str, tmp_path: Path
) -> None:
    for ending, lenient in (("\n", False), ("\r\n", True)):
        mended, white = (
            write(
                tmp_path / f"{which}{name}", (WORDS[kind] + line + "\n").replace("\n", ending) * 5
            )
            for which, line in (("m", ""), ("w", separator))
        )
        tokens = read(white, name=kind, lenient=lenient, **NAMED[kind])
        assert tokens.equals(read(mended, name=kind, **NAMED[kind]))
        assert tokens["sentence"].to_list() == [n for n in range(1, 6) for _ in "ab"]
        assert skips(white, name=kind, **NAMED[kind]) == []
    if name == "t.txt":
        assert len(parts_of(white, 40, name=kind, **NAMED[kind])) > 1


@pytest.mark.parametrize(
    ("kind", "broken", "tokens"),
    [
        ("conllu", "3\tx\n", 3),
        ("conllu", "9x\tx\n", 3),
        ("tokens", "c\n", 3),
        ("tokens", "\ty\tz\n", 3),
    ],
)
def test_a_fault_loses_its_sentence_alone(
    kind: str, broken: str, tokens: int, tmp_path: Path
) -> None:
    content = WORDS[kind] + " \n" + WORDS[kind] + broken + "\t\n" + WORDS[kind]
    path = write(tmp_path / "t.txt", content)
    (skip,) = skips(path, name=kind, **NAMED[kind])
    assert (skip.line, skip.sentences, skip.tokens) == (6, 1, tokens)
    table = read(path, name=kind, lenient=True, **NAMED[kind])
    assert table["sentence"].to_list() == [1, 1, 3, 3]


def test_faults_outside_of_sentences_are_skipped_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "t.vrt", "<s>\na\n</s>\nb\n\nc\n<s>\nd\ne\n<s>\nf\n</s>\n")
    skipped = skips(path, attributes=["word"])
    assert [(each.line, each.sentences, each.tokens) for each in skipped] == [
        (4, 0, 1), (6, 0, 1), (7, 1, 2),
    ]  # fmt: skip
    assert read(path, attributes=["word"], lenient=True)["word"].to_list() == ["a", "f"]


HASHES = st.lists(st.lists(st.integers(0, 9) | st.sampled_from([2**58, 2**63, 2**64 - 1])))


def duplicates_of(parts: list[list[int]], most: int) -> list[int]:
    with Hashes(most=most) as hashes:
        for part in parts:
            hashes.add(pl.Series("any name", part, dtype=pl.UInt64))
        return sorted(hashes.duplicates().to_list())


@given(HASHES, st.integers(0, 20))
def test_duplicate_hashes_are_those_of_a_counter(parts: list[list[int]], most: int) -> None:
    counts = Counter(each for part in parts for each in part)
    assert duplicates_of(parts, most) == sorted(each for each, n in counts.items() if n > 1)


@pytest.mark.parametrize("most", [10, 1000])
def test_only_many_hashes_are_written_to_disk(tmp_path: Path, most: int) -> None:
    folder = tmp_path / "aside"
    with memory.spill_to(folder), Hashes(most=most) as hashes:
        for start in range(0, 100, 5):
            hashes.add(pl.Series(range(start, start + 6), dtype=pl.UInt64))
        assert folder.exists() == (most < 100)
        assert hashes.duplicates().sort().to_list() == list(range(5, 100, 5))
    assert not folder.exists()


DIFFERENT = "cafe\u0301\u00ad l\u2019an 5\u00a0kg"
SAME = "caf\u00e9 l'an 5 kg"


@pytest.mark.parametrize(
    ("name", "kind", "content"),
    [
        ("t.txt", "text", "{}\n"),
        ("t.conllu", "conllu", "1\t{}" + "\t_" * 8 + "\n\n"),
        ("t.vert", "vertical", "{}\n"),
        ("t.tsv", "tokens", "sentence\tform\n1\t{}\n"),
        ("t.pq", "token_parquet", ""),
    ],
)
def test_forms_that_look_the_same_are_normalised(
    name: str, kind: str, content: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if content:
        path.write_text(content.format(DIFFERENT))
    else:
        pl.DataFrame({"sentence": [1], "form": [DIFFERENT]}).write_parquet(path)
    own: dict[str, Any] = {}
    if kind == "vertical":
        own = {"attributes": ["form"], "sentence": "", "paragraph": ""}
    joined = (" " if kind == "text" else "").join
    normalised = joined(read(path, name=kind, **own)["form"])
    unchanged = joined(read(path, name=kind, **own, normalise="none")["form"])
    assert normalised == SAME
    assert unchanged == (" ".join(DIFFERENT.split()) if kind == "text" else DIFFERENT)


LEMMAS = {
    "a": "a", "frob": "<unknown>", "7": "@card@", "_": "_", "8th": "@ord@", "b": "_",
    "<unknown>": "<unknown>", "tea": "__UNDEF__", "c": "<unknown>s",
}  # fmt: skip
FILLED = ["a", "frob", "7", "_", "8th", "b", "<unknown>", "tea", "<unknown>s"]
REPLACED = {
    "lemma <unknown>": 1, "lemma @card@": 1, "lemma @ord@": 1, "lemma _": 1, "lemma __UNDEF__": 1,
}  # fmt: skip


def with_placeholders(folder: Path, kind: str) -> tuple[Path, dict[str, Any]]:
    """Write the words with their lemmas in a format; return the file and options to read it."""
    rows = list(LEMMAS.items())
    if kind == "token_parquet":
        words = pl.DataFrame(rows, schema=["word", "lemma"], orient="row").with_columns(sentence=1)
        words.write_parquet(folder / "t.parquet")
        return folder / "t.parquet", {}
    if kind == "conllu":
        lines = [f"{i}\t{a}\t{b}" + "\t_" * 7 for i, (a, b) in enumerate(rows, 1)]
        return write(folder / "t.conllu", "\n".join(lines) + "\n"), {}
    escaped = [f"{a}\tX\t{b}" for a, b in rows]
    if kind == "tokens":
        return write(folder / "t.tsv", "\n".join(escaped)), {"columns": ["word", "pos", "lemma"]}
    text = "\n".join(escaped).replace("<", "&lt;")
    return write(folder / "t.vrt", text), {"attributes": ["word", "pos", "lemma"], "sentence": ""}


@pytest.mark.parametrize("kind", ["conllu", "vertical", "tokens", "token_parquet"])
def test_forms_replace_placeholder_lemmas(kind: str, tmp_path: Path) -> None:
    path, options = with_placeholders(tmp_path, kind)
    assert read(path, name=kind, **options)["lemma"].to_list() == FILLED
    format_ = format_of(path.name, name=kind)
    others = {"": ["lemma"], "form": ["word", "form", "lemma"], "all": None}
    for selection in others.values():  # the byte scan, and the other ways to read it
        settings = format_.options.model_validate(options)
        names = format_.scan(path, settings).collect_schema().names()
        columns = [name for name in selection or names if name in names]
        assert format_.read
        (batch,) = format_.read(path, settings, columns, 1 << 20)
        assert batch.tokens["lemma"].to_list() == FILLED
        assert batch.replaced == REPLACED
        (batch,) = format_.read(path, settings, [n for n in names if n != "lemma"], 1 << 20)
        assert batch.replaced == {}
    unchanged = read(path, name=kind, placeholders=[], **options)["lemma"].to_list()
    none = None if kind == "conllu" else "_"  # of CoNLL-U an underscore is no value
    assert unchanged == [none if (a, b) == ("b", "_") else b for a, b in LEMMAS.items()]


def test_a_placeholder_lemma_without_a_form_is_null(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "a\tX\n<unknown>\tX\n")
    for columns in (["lemma", "pos"], ["lemma", "head"]):
        content = path.read_text().replace("X", "_" if columns[1] == "head" else "X")
        tokens = read(write(path, content), name="tokens", columns=columns)
        assert tokens["lemma"].to_list() == ["a", None]
