"""Plain text: tokens against a slow tokenizer, sentences by line or by splitter."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.formats.corpora import slow_readers
from tests.formats.corpora.corpus_files import ONE_SIZE, read, refusal, scan, skips, write

TOKENS = {
    "Don't well-known mother-in-law": ["Don't", "well-known", "mother-in-law"],
    "rock ’n’ roll's o’clock": ["rock", "’", "n", "’", "roll's", "o’clock"],
    "3,000.5 3.14, 1.2.3 v1.2 12:30 1st 5-10": [
        "3,000.5", "3.14", ",", "1.2.3", "v1", ".", "2", "12", ":", "30", "1st", "5-10",
    ],
    'He said: "No!" -- and left...': [
        "He", "said", ":", '"', "No", "!", '"', "-", "-", "and", "left", ".", ".", ".",
    ],
    "-a- 'b' a--b a-'b": ["-", "a", "-", "'", "b", "'", "a", "-", "-", "b", "a", "-", "'", "b"],
    "Ärger façade cafe\u0301 Ελληνικά ١٢٣ 東京": [
        "Ärger", "façade", "cafe\u0301", "Ελληνικά", "١٢٣", "東京",
    ],
    "co\u00adoperate می\u200cخواهم": ["co\u00adoperate", "می\u200cخواهم"],
    "# € _a_ x@y.z a/b & <s>": [
        "#", "€", "_", "a", "_", "x", "@", "y", ".", "z", "a", "/", "b", "&", "<", "s", ">",
    ],
    "tab\tand\u00a0space\u2003\u200bzero": ["tab", "and", "space", "zero"],
}  # fmt: skip


@pytest.mark.parametrize("line", sorted(TOKENS))
def test_tokens(line: str, tmp_path: Path) -> None:
    found = read(write(tmp_path / "t.txt", line))
    assert found["form"].to_list() == TOKENS[line]
    assert slow_readers.words(line) == TOKENS[line]


@pytest.mark.long
def test_novels(public_data: Callable[[str], Path], tmp_path: Path) -> None:
    path = public_data("corpora/eltec_eng_level1.txt.gz")
    lines = list(slow_readers.numbered(path, 50_000))
    some = [line for number, line in lines if number % 10 == 0 or line.startswith("### ")]
    copy = write(tmp_path / "t.txt.gz", "\n".join(some))
    expected = slow_readers.text(copy)
    for lenient in (False, True):
        found = read(copy, document="^### (.*)$", lenient=lenient)
        assert found.rows(named=True) == expected


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["t.txt", "T.TXT.gz"])
@pytest.mark.parametrize("lenient", [False, True])
def test_traps(name: str, ending: str, lenient: bool, tmp_path: Path) -> None:
    content = "\ufeffa\n\n \t\n### d 1\n\u200b\n#\n### \nb"
    path = write(tmp_path / name, content.replace("\n", ending))
    found = read(path, document="^### (.*)$", lenient=lenient)
    assert found.rows() == [
        (1, "", None, 1, 1, "a", ""),
        (6, "d 1", None, 2, 1, "#", ""),
        (8, "#2", None, 3, 1, "b", ""),
    ]


def cut(content: str, folder: Path, **options: Any) -> list[str]:
    """Return the sentences of a text, tokens joined by blanks."""
    found = read(write(folder / "t.txt", content), sentences="split", **options)
    assert found["position"].to_list() == [
        place for size in found.group_by("sentence", maintain_order=True).len()["len"]
        for place in range(1, size + 1)
    ]  # fmt: skip
    groups = found.group_by("sentence", maintain_order=True).agg("form")
    assert groups["sentence"].to_list() == list(range(1, groups.height + 1))
    return [" ".join(forms) for forms in groups["form"]]


def test_sentences_are_cut(tmp_path: Path) -> None:
    assert cut("One. Two! (Three?) \"Four.\" 5 is. six. A. B. C\nnew line", tmp_path) == [
        "One .", "Two !", "( Three ? )", '" Four . "', "5 is . six .", "A .", "B .", "C", "new line",
    ]  # fmt: skip


def test_abbreviations_do_not_end_a_sentence(tmp_path: Path) -> None:
    content = "Mr. Fox met Dr. Who, e.g. Tom. ArMr. Now."
    assert cut(content, tmp_path, abbreviations=["Mr", "Dr", "e.g"]) == [
        "Mr . Fox met Dr . Who , e . g . Tom .", "ArMr .", "Now .",
    ]  # fmt: skip
    assert cut(content, tmp_path)[0] == "Mr ."


def test_every_sentence_of_many_lines_is_read(tmp_path: Path) -> None:
    found = read(write(tmp_path / "t.txt", "One two. Three.\n" * 6000), sentences="split")
    assert found.height == 6000 * 5
    assert found["sentence"].max() == 2 * 6000
    assert found["paragraph"].max() == 6000


def test_own_splitter_and_tokens(tmp_path: Path) -> None:
    options = {"splitter": r"(;) *(\S)", "tokens": r"\S+"}
    assert cut("it's a;b ;c", tmp_path, **options) == ["it's a;", "b ;", "c"]


def test_paragraphs_are_lines_where_sentences_are_cut(tmp_path: Path) -> None:
    path = write(tmp_path / "t.txt", "A. B.\n\n# x\nC.\n")
    found = read(path, sentences="split", document="^# (.*)")
    assert found.filter(found["form"] != ".").rows() == [
        (1, "", 1, 1, 1, "A", ""),
        (1, "", 1, 2, 1, "B", ""),
        (4, "x", 2, 3, 1, "C", ""),
    ]


def test_lines_of_a_wrapped_paragraph_are_joined(tmp_path: Path) -> None:
    content = "It was\nthe best. It\n  was\n\nthe worst\n \n\n# x\nof. Times\n# y\nEnd\n"
    found = read(write(tmp_path / "t.txt", content), sentences="wrapped", document="^# (.*)")
    groups = found.group_by("line", "doc", "paragraph", "sentence", maintain_order=True)
    assert groups.agg(pl.col("form").str.join(" ")).rows() == [
        (1, "", 1, 1, "It was the best ."),
        (1, "", 1, 2, "It was"),
        (5, "", 2, 3, "the worst"),
        (9, "x", 3, 4, "of ."),
        (9, "x", 3, 5, "Times"),
        (11, "y", 4, 6, "End"),
    ]


def test_a_broken_line_ends_a_wrapped_paragraph(tmp_path: Path) -> None:
    path = write(tmp_path / "t.txt", b"a b\n\xff\nc\nd\n\ne\n")
    found = read(path, sentences="wrapped", lenient=True)
    assert found.select("line", "form").rows() == [(1, "a"), (1, "b"), (3, "c"), (3, "d"), (6, "e")]
    assert [skip.line for skip in skips(path, sentences="wrapped")] == [2]


@pytest.mark.parametrize("name", ["t.txt", "t.txt.gz"])
def test_damage(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, b"a\n\xe4 b\n\nc\0d\n\xff\ne\n")
    message = refusal(path)
    for words in (name, "2 line(s) are not UTF-8", "line 2", "0xe4", "line 5"):
        assert words in message
    assert [(skip.line, skip.problem[:8]) for skip in skips(path)] == [
        (2, "not UTF-"), (4, "holds a "), (5, "not UTF-"),
    ]  # fmt: skip
    assert read(path, lenient=True)["form"].to_list() == ["a", "e"]
    assert "line 1: holds a NUL" in refusal(write(tmp_path / name, "ab".encode("utf-16-le")))


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_empty_file(content: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.txt", content)
    assert "the file is empty" in refusal(path)
    assert len(skips(path)) == 1
    assert read(path, lenient=True).is_empty()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"splitter": r"\. "}, "two groups"),
        ({"tokens": "(?=a)"}, "no regular expression"),
        ({"document": "###"}, "one group"),
        ({"sentences": "lines"}, "'line', 'split' or 'wrapped'"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=said):
        scan(tmp_path / "t.txt", **options)


# Letters, marks and figures that Unicode has had for long: the two tables of it agree on them.
LINE = st.text(st.sampled_from("aZß9٣é\u0301'’-‐,.;_ \t\u00ad\u200d\u200b漢😀#\x1f"), max_size=12)


@given(lines=st.lists(LINE, min_size=1, max_size=10), sizes=ONE_SIZE, lenient=st.booleans())
def test_against_the_slow_tokenizer(
    lines: list[str], sizes: list[int], lenient: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write(tmp_path_factory.mktemp("drawn") / "t.txt", "\n".join(lines) + "\n#")
    found = read(path, sizes=sizes, lenient=lenient)
    assert found.rows(named=True) == slow_readers.text(path, mark="")


@given(lines=st.lists(LINE | st.just("Aa. B a\tz"), min_size=1, max_size=12), sizes=ONE_SIZE)
def test_wrapped_is_split_of_joined_lines(
    lines: list[str], sizes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, text = tmp_path_factory.mktemp("drawn"), "\n".join(lines) + "\n#"
    parts = re.split(r"\n(?:[ \t]*\n)+", text)
    joined = [" ".join(line.strip(" \t") for line in part.split("\n")) for part in parts]
    wrapped = read(write(folder / "w.txt", text), sizes=sizes, sentences="wrapped")
    split = read(write(folder / "s.txt", "\n".join(joined)), sizes=sizes, sentences="split")
    assert wrapped.drop("line").equals(split.drop("line"))
