"""CWB vertical text against a slow reader, and structures that do not nest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.formats.corpora import slow_readers
from tests.formats.corpora.corpus_files import (
    ONE_SIZE,
    parts_of,
    read,
    refusal,
    scan,
    skips,
    write,
)

COLUMNS = ["word", "pos", "head"]
TRAPS = (
    "\ufeff<?xml version='1.0'?>\n"
    "<!-- a comment -->\n"
    "<corpus>\n"
    '<text title="A &lt;b&gt;" id="one &amp; &quot;two&quot;">\n'
    "<head>\n"
    "<s>\n"
    "<\t$(\t2\n"
    "&lt;s&gt;\tNN\t0\n"
    "&amp;lt;\tN>\t\n"
    "</s>\n"
    "</head>\n"
    "<p n='1'>\n"
    "\n"
    '<s id="x y">\n'
    '"\t<>\t_\n'
    "<g/>\n"
    "#\t\t1\n"
    "<corr>\n"
    "a  b\tA&B\t1\n"
    "</corr>\n"
    "</s>\n"
    "<s/>\n"
    "<s>\n"
    "</s>\n"
    "</p>\n"
    "</text>\n"
    "<text>\n"
    "<s>\n"
    "x\tX\t0\n"
    "</s>\n"
    "</text >\n"
    "<text id='three'>\n"
    "<p>\n"
    "<s>\n"
    "<3\tX\t0\n"
    "</s>\n"
    "</p>\n"
    "</text>\n"
    "</corpus>"
)


@pytest.mark.long
def test_a_protocol_agrees_with_the_slow_reader(public_data: Callable[[str], Path]) -> None:
    path = public_data("corpora/RcppCWB_BT_18_001.vrt")
    columns = ["word", "pos", "lemma"]
    for structures in (
        {"sentence": "speaker", "paragraph": "", "document": "plenary_protocol"},
        {"sentence": "", "paragraph": "p", "document": "speaker"},
        {"sentence": "", "paragraph": "", "document": ""},
    ):
        expected = slow_readers.vertical(path, columns, document_id="date", **structures)
        for lenient in (False, True):
            options: dict[str, Any] = {
                "attributes": columns,
                "document_id": "date",
                "lenient": lenient,
            }
            tokens = read(path, **{**options, **structures})
            assert tokens.rows(named=True) == expected
            assert tokens.height == 8402


@pytest.mark.long
def test_tokens_outside_sentences_are_skipped(public_data: Callable[[str], Path]) -> None:
    path = public_data("corpora/RcppCWB_BT_18_001.vrt")
    options: dict[str, Any] = {
        "attributes": ["word", "pos", "lemma"],
        "sentence": "p",
        "paragraph": "",
    }
    assert "line 28: a token outside any <p>: '(\\t$(\\t('" in refusal(path, **options)
    skipped = skips(path, **options)
    tokens = read(path, **options, lenient=True)
    assert len(skipped) + tokens.height == 8402
    assert {skip.problem for skip in skipped} == {"a token outside any <p>"}
    inside: list[int] = []
    within = False
    for number, line in slow_readers.numbered_lines(path):
        within = line == "<p>" if line in {"<p>", "</p>"} else within
        inside += [number] if within and "\t" in line else []
    assert tokens["line"].to_list() == inside


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["t.vrt", "t.vert.gz"])
@pytest.mark.parametrize("lenient", [False, True])
def test_difficult_lines_agree_with_the_slow_reader(
    name: str, ending: str, lenient: bool, tmp_path: Path
) -> None:
    path = write(tmp_path / name, TRAPS.replace("\n", ending))
    tokens = read(path, attributes=COLUMNS, lenient=lenient)
    expected = slow_readers.vertical(path, COLUMNS)
    numbers = [None if row["head"] in {None, "_"} else int(row["head"]) for row in expected]
    assert tokens.rows(named=True) == [
        row | {"head": head} for row, head in zip(expected, numbers, strict=True)
    ]
    assert tokens.drop("pos", "head", "space_after").rows() == [
        (7, 'one & "two"', None, 1, 1, "<"),
        (8, 'one & "two"', None, 1, 2, "<s>"),
        (9, 'one & "two"', None, 1, 3, "&lt;"),
        (15, 'one & "two"', 1, 2, 1, '"'),
        (17, 'one & "two"', 1, 2, 2, "#"),
        (19, 'one & "two"', 1, 2, 3, "a  b"),
        (29, "#2", None, 3, 1, "x"),
        (35, "three", 2, 4, 1, "<3"),
    ]
    raw = read(path, attributes=COLUMNS, entities=False, lenient=lenient)
    assert raw["word"].to_list()[1:3] == ["&lt;s&gt;", "&amp;lt;"]


def test_files_of_one_column_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "t.vrt", "<s>\na\n<b>\n<3\n\n</s>\n")
    assert read(path, attributes=["word"]).select("line", "word").rows() == [(2, "a"), (4, "<3")]


def vertical(*sentences: str) -> str:
    return "<text>\n<p>\n" + "".join(sentences) + "</p>\n</text>\n"


GOOD = "<s>\na\tA\t0\nb\tB\t1\n</s>\n"  # lines 3 to 6, then 7 to 10
WRONG: dict[str, tuple[str, list[tuple[int, str]], list[int]]] = {
    # content, problem of each line, sentences that are kept
    "sentence unclosed": (
        vertical(GOOD, "<s>\na\tA\t0\n", GOOD),
        [(7, "<s> is not closed where the next begins or ends: 9: '<s>'")],
        [1, 3],
    ),
    "sentence closed twice": (
        vertical(GOOD, "</s>\n", GOOD),
        [(7, "</s> closes nothing: '</s>'")],
        [1, 2],
    ),
    "sentence over paragraphs": (
        vertical(GOOD, "<s>\na\tA\t0\n</p>\nb\tB\t0\n<p>\n</s>\n", GOOD),
        [
            (7, "<s> is not closed where the next begins or ends: 9"),
            (10, "a token outside any <s>"),
            (12, "</s> closes nothing"),
        ],
        [1, 3],
    ),
    "file cut short": (
        vertical(GOOD).removesuffix("</p>\n</text>\n") + "<s>\na\tA\t0\n",
        [
            (1, "<text> is not closed where the next begins or ends: end of file"),
            (2, "<p> is not closed where the next begins or ends: end of file"),
            (7, "<s> is not closed where the next begins or ends: end of file"),
        ],
        [1],
    ),
    "paragraph unclosed": (
        vertical(GOOD, "<p>\n", GOOD),
        [(2, "<p> is not closed where the next begins or ends: 7")],
        [1, 2],
    ),
    "token outside": (
        vertical(GOOD, "c\tC\t0\n", GOOD),
        [(7, "a token outside any <s>: 'c\\tC\\t0'")],
        [1, 2],
    ),
    "short line": (
        vertical(GOOD, "<s>\nc\tC\n</s>\n", GOOD),
        [(8, "expected 3 fields, found 2: 'c\\tC'")],
        [1, 3],
    ),
    "long line": (
        vertical(GOOD, "<s>\nc\tC\t0\t\n</s>\n", GOOD),
        [(8, "expected 3 fields, found 4: 'c\\tC\\t0\\t'")],
        [1, 3],
    ),
    "no word": (
        vertical(GOOD, "<s>\n\tC\t0\nc\tC\t0\n</s>\n", GOOD),
        [(8, "the first field is empty: '\\tC\\t0'")],
        [1, 3],
    ),
    "head outside": (
        vertical(GOOD, "<s>\nc\tC\t2\n</s>\n", GOOD),
        [(8, "head outside its sentence, whose last token is 1: '2'")],
        [1, 3],
    ),
    "head no number": (
        vertical(GOOD, "<s>\nc\tC\tx\n</s>\n", GOOD),
        [(8, "head is not a whole number: 'x'")],
        [1, 3],
    ),
    "not UTF-8": (
        vertical(GOOD, "<s>\nc\tC\t1\n\udcff\tC\t0\n</s>\n", GOOD),
        [(9, "not UTF-8")],
        [1, 3],
    ),
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "name"), [*((case, "t.vrt") for case in sorted(WRONG)), ("not UTF-8", "t.vrt.gz")]
)
def test_damaged_lines_are_named_and_skipped(case: str, name: str, tmp_path: Path) -> None:
    content, problems, sentences = WRONG[case]
    path = write(tmp_path / name, content.encode("utf-8", "surrogateescape"))
    message = refusal(path, attributes=COLUMNS)
    skipped = skips(path, attributes=COLUMNS)
    assert [skip.line for skip in skipped] == [line for line, _ in problems]
    for (line, words), skip in zip(problems, skipped, strict=True):
        assert f"line {line}: " in message
        assert words in str(skip)
        assert words in message or case == "not UTF-8"
    tokens = read(path, attributes=COLUMNS, lenient=True)
    assert tokens["sentence"].unique(maintain_order=True).to_list() == sentences


def test_open_structures_end_with_the_enclosing_one(tmp_path: Path) -> None:
    content = "<text id='a'>\n<p>\n" + GOOD + "</text>\n" + GOOD + "<text id='b'>\n" + GOOD
    tokens = read(write(tmp_path / "t.vrt", content), attributes=COLUMNS, lenient=True)
    places = tokens.filter(tokens["position"] == 1).select("doc", "paragraph").rows()
    assert places == [("a", 1), ("", None), ("b", None)]


def test_absent_structures_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.vrt", GOOD)
    assert "sentence, paragraph, document" in refusal(path, attributes=COLUMNS, sentence="sent")


@pytest.mark.parametrize("content", ["", "<text>\n<s>\n</s>\n</text>\n"])
def test_an_empty_file_is_refused(content: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.vrt", content)
    assert "the file is empty" in refusal(path, attributes=COLUMNS)
    assert len(skips(path, attributes=COLUMNS)) == 1
    assert read(path, attributes=COLUMNS, lenient=True).is_empty()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "attributes"),
        ({"attributes": []}, "at least 1"),
        ({"attributes": ["word", "line"]}, "'line' is a column that the reader adds"),
        ({"attributes": ["word", "word"]}, "duplicate names: word"),
        ({"attributes": ["word", "~text"]}, "'~text' is not a valid column name"),
        ({"attributes": ["word"], "sentence": "p"}, "duplicate names: p"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=message):
        scan(tmp_path / "t.vrt", **options)


LINES = st.sampled_from(["<s>", "<s>", "</s>", "</s>", "<p>", "</p>", "<text>", "</text>"])
TOKENS = st.sampled_from(["a\t1", "<\t_", "c\t", ""])


def nesting_by_stack(lines: list[str]) -> tuple[bool, set[int]]:
    """Return whether all structures nest, and the lines of tokens in complete sentences."""
    rank = {"s": 0, "p": 1, "text": 2}
    stack: list[str] = []
    good, whole, current = True, set[int](), list[int]()
    for number, line in enumerate(lines, start=1):
        if "\t" in line:
            current.append(number)
            good &= stack[-1:] == ["s"]
            continue
        name = line.strip("</>")
        if not line:
            continue
        if line.startswith("</"):
            good &= stack[-1:] == [name]
            if name == "s" and stack[-1:] == ["s"]:
                whole |= set(current)
            while stack and rank[stack[-1]] <= rank[name]:
                stack.pop()
        else:
            good &= all(rank[each] > rank[name] for each in stack)
            while stack and rank[stack[-1]] <= rank[name]:
                stack.pop()
            stack.append(name)
        current = []
    return good and not stack, whole


@pytest.mark.long
@given(lines=st.lists(st.one_of(LINES, TOKENS, TOKENS), max_size=30), sizes=ONE_SIZE)
def test_nesting_agrees_with_a_stack(
    lines: list[str], sizes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write(tmp_path_factory.mktemp("drawn") / "t.vrt", "\n".join(lines))
    good, whole = nesting_by_stack(lines)
    options: dict[str, Any] = {"attributes": ["word", "number"]}
    tokens = read(path, **options, sizes=sizes, lenient=True, normalise="none")
    assert set(tokens["line"]) == whole
    assert tokens.height == len(whole)
    if good and whole:
        assert read(path, **options, sizes=sizes, normalise="none").equals(tokens)
        assert not skips(path, **options)
    else:
        assert skips(path, **options)
        assert refusal(path, **options, sizes=sizes)


TAGGED = "a X|. SENT|b X|c X|</x>|? SENT||d SENTX|! SENT|e ."


@pytest.mark.long
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("columns", [["form", "pos"], ["form", "pos", "lemma"]])
def test_tags_may_end_sentences(ending: str, columns: list[str], tmp_path: Path) -> None:
    more = "\tSENT" if len(columns) > 2 else ""  # a lemma that looks like the tag ends no sentence
    rows = [line.replace(" ", "\t") + more * (" " in line) for line in TAGGED.split("|")]
    path = write(tmp_path / "t.tt", "".join(row + ending for row in rows))
    options: dict[str, Any] = {"attributes": columns, "sentence": "", "sentence_tags": ["SENT"]}
    tokens = read(path, **options)
    assert tokens.select("form", "sentence", "position").rows() == [
        ("a", 1, 1), (".", 1, 2), ("b", 2, 1), ("c", 2, 2), ("?", 2, 3),
        ("d", 3, 1), ("!", 3, 2), ("e", 4, 1),
    ]  # fmt: skip
    several = read(path, **{**options, "sentence_tags": ["SENT", "SENTX"]})
    assert several["sentence"].to_list() == [1, 1, 2, 2, 2, 3, 4, 5]
    long = write(tmp_path / "u.tt", "".join(row + ending for row in rows if row) * 9)
    assert len(parts_of(long, 100, **options)) > 1


@pytest.mark.parametrize(
    "options",
    [
        {"sentence": "s", "attributes": ["word", "pos"]},
        {"sentence": "", "attributes": ["word", "tag"]},
    ],
)
def test_ending_tags_need_an_attribute_and_no_structure(
    options: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ValidationError, match='requires sentence = "" and an attribute pos'):
        scan(tmp_path / "t.tt", **options, sentence_tags=["SENT"])
