"""Plain text: tokens against a slow tokenizer, sentences by line or by splitter."""

from __future__ import annotations

import gzip
import random
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.formats.corpora.languages import LANGUAGES, guess_language
from pipeline.formats.corpora.plain_text import TextOptions, read_beginning, text_layout
from tests.formats.corpora import slow_readers
from tests.formats.corpora.corpus_files import ONE_SIZE, read, refusal, scan, skips, write

PLAIN: dict[str, Any] = {"language": "none", "normalise": "none"}
"""Options under which text is unchanged and no rules of a language apply."""

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
def test_lines_are_divided_into_tokens(line: str, tmp_path: Path) -> None:
    tokens = read(write(tmp_path / "t.txt", line), **PLAIN)
    assert tokens["form"].to_list() == TOKENS[line]
    assert slow_readers.words(line) == TOKENS[line]


@pytest.mark.long
def test_novels_agree_with_the_slow_reader(
    public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    path = public_data("corpora/eltec_eng_level1.txt.gz")
    lines = list(slow_readers.numbered_lines(path, 50_000))
    some = [line for number, line in lines if number % 10 == 0 or line.startswith("### ")]
    copy = write(tmp_path / "t.txt.gz", "\n".join(some))
    expected = slow_readers.text(copy)
    for lenient in (False, True):
        tokens = read(copy, document="^### (.*)$", lenient=lenient, **PLAIN)
        assert tokens.rows(named=True) == expected


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["t.txt", "T.TXT.gz"])
@pytest.mark.parametrize("lenient", [False, True])
def test_unusual_lines_are_read(name: str, ending: str, lenient: bool, tmp_path: Path) -> None:
    content = "\ufeffa\n\n \t\n### d 1\n\u200b\n#\n### \nb"
    path = write(tmp_path / name, content.replace("\n", ending))
    tokens = read(path, document="^### (.*)$", lenient=lenient, **PLAIN)
    assert tokens.rows() == [
        (1, "", None, 1, 1, "a", ""),
        (6, "d 1", None, 2, 1, "#", ""),
        (8, "#2", None, 3, 1, "b", ""),
    ]


def cut(content: str, folder: Path, **options: Any) -> list[str]:
    """Return the sentences of a text, tokens joined by blanks."""
    tokens = read(write(folder / "t.txt", content), sentences="split", **options)
    assert tokens["position"].to_list() == [
        place for size in tokens.group_by("sentence", maintain_order=True).len()["len"]
        for place in range(1, size + 1)
    ]  # fmt: skip
    groups = tokens.group_by("sentence", maintain_order=True).agg("form")
    assert groups["sentence"].to_list() == list(range(1, groups.height + 1))
    return [" ".join(forms) for forms in groups["form"]]


def test_text_is_divided_into_sentences(tmp_path: Path) -> None:
    content = 'One. Two! (Three?) "Four." 5 is. six. A. B. C\nnew line'
    assert cut(content, tmp_path, language="none") == [
        "One .", "Two !", "( Three ? )", '" Four . "', "5 is . six .", "A .", "B .", "C", "new line",
    ]  # fmt: skip


SENTENCES = {
    ("en", "Mr. Fox met Dr. J. K. Weld. No. 5 was St. Olave's. No. He left."): [
        "Mr Fox met Dr J K Weld .", "No 5 was St Olave's .", "No .", "He left .",
    ],
    ("en", "So said I. The rest, e.g. Tom... Then \u2018Go!\u2019 Fig. 3 shows it, cf. Jones, p. 7."): [
        "So said I .", "The rest , e . g Tom . . .", "Then \u2018 Go ! \u2019",
        "Fig 3 shows it , cf Jones , p 7 .",
    ],
    ("de", "Am 3. Mai kam Hr. Dr. Weber, vgl. Abb. 2 bzw. Bd. 7. Er blieb bis 1990. Dann ging er."): [
        "Am 3 Mai kam Hr Dr Weber , vgl Abb 2 bzw Bd 7 Er blieb bis 1990 .", "Dann ging er .",
    ],
    ("de", "\u201eKomm!\u201c Er kam. \u00bbWohin?\u00ab \u00bbWeg.\u00ab \u201aJa.\u2018 Sie ging."): [
        "\u201e Komm ! \u201c", "Er kam .", "\u00bb Wohin ? \u00ab", "\u00bb Weg . \u00ab", "\u201a Ja . \u2018",
        "Sie ging .",
    ],
    ("sv", "Han kom. \u201dVart?\u201d Hon gick."): ["Han kom .", "\u201d Vart ? \u201d", "Hon gick ."],
    ("fr", "M. Dambreuse vit Mme. Arnoux et Mlle. Roque. \u00ab Ah ! \u00bb Il sortit."): [
        "M Dambreuse vit Mme Arnoux et Mlle Roque .", "\u00ab Ah ! \u00bb", "Il sortit .",
    ],
    ("es", "El Sr. D. Juan vio a la Sra. Rosa. \u00bfQui\u00e9n? \u00a1Ella! Fue en la p\u00e1g. 3."): [
        "El Sr D Juan vio a la Sra Rosa .", "\u00bf Qui\u00e9n ?", "\u00a1 Ella !", "Fue en la p\u00e1g 3 .",
    ],
    ("tr", "Sn. Ay\u015fe 3. Cadde'de oturur. O da geldi."): [
        "Sn Ay\u015fe 3 Cadde'de oturur .", "O da geldi .",
    ],
    ("el", "\u039f \u03ba. \u03a0\u03b1\u03c0\u03c0\u03ac\u03c2 \u03ae\u03c1\u03b8\u03b5; \u039d\u03b1\u03b9."): [
        "\u039f \u03ba \u03a0\u03b1\u03c0\u03c0\u03ac\u03c2 \u03ae\u03c1\u03b8\u03b5 ;", "\u039d\u03b1\u03b9 .",
    ],
    ("zh", "\u4ed6\u6765\u4e86\u3002\u6211\u8d70\u4e86\uff01\u300d\u597d\u3002"): [
        "\u4ed6\u6765\u4e86 \u3002", "\u6211\u8d70\u4e86 \uff01 \u300d", "\u597d \u3002",
    ],
    ("zh", '\u4ed6\u8bf4\uff1a"\u597d\u3002"\u6211\u8d70\u4e86\u3002'): [
        '\u4ed6\u8bf4 \uff1a " \u597d \u3002 "', "\u6211\u8d70\u4e86 \u3002",
    ],
    ("hi", "\u0935\u0939 \u0906\u092f\u093e\u0964 \u092e\u0948\u0902 \u0917\u092f\u093e\u0964"): [
        "\u0935\u0939 \u0906\u092f\u093e \u0964", "\u092e\u0948\u0902 \u0917\u092f\u093e \u0964",
    ],
    ("", "Mr. Fox and Prof. Weld. So said I. He left."): [
        "Mr Fox and Prof Weld .", "So said I .", "He left .",
    ],
    ("none", "Mr. Fox. He left."): ["Mr .", "Fox .", "He left ."],
}  # fmt: skip


@pytest.mark.parametrize(("language", "content"), sorted(SENTENCES))
def test_full_stops_of_abbreviations_end_no_sentence(
    language: str, content: str, tmp_path: Path
) -> None:
    tokens = {"tokens": r"\w+|[^\w\s]"} if language == "zh" else {}  # else refused without blanks
    assert cut(content, tmp_path, language=language, **tokens) == SENTENCES[language, content]


def test_own_abbreviations_are_added_to_those_of_the_language(tmp_path: Path) -> None:
    content = "Mr. Fox met Lic. Who, a.b. Tom. ArMr. Now."
    assert cut(content, tmp_path, abbreviations=["Lic", "a.b"], language="en") == [
        "Mr Fox met Lic Who , a . b Tom .", "ArMr .", "Now .",
    ]  # fmt: skip
    own: dict[str, Any] = {"language": "en", "tokens": r"\S+", "abbreviations": ["Lic"]}
    assert cut(content, tmp_path, **own)[0] == "Mr. Fox met Lic. Who, a.b."


def test_tokens_and_gaps_give_the_text_back(tmp_path: Path) -> None:
    content = "Mr. Fox met J. K. Weld, No. 5."
    tokens = read(write(tmp_path / "t.txt", content), language="en", sentences="split")
    gaps = tokens["space_after"].fill_null(" ").to_list()[:-1]
    pairs = zip(tokens["form"], [*gaps, ""], strict=True)
    assert "".join(form + gap for form, gap in pairs) == content


CLITICS = {
    ("fr", "auto", "L\u2019homme qu'il voit d'aujourd'hui, quelqu'un, l'\u00c9tat."):
        "L' homme qu' il voit d' aujourd'hui , quelqu'un , l' \u00c9tat .",
    ("it", "auto", "L'arte dell'uomo, un'ora, po' di."): "L' arte dell' uomo , un' ora , po ' di .",
    ("fr", "keep", "L'homme qu'il voit."): "L'homme qu'il voit .",
    ("en", "auto", "I don't see Anna's l'homme."): "I don't see Anna's l'homme .",
    ("en", "split", "I don't see Anna\u2019s, we're o'clock."):
        "I do n't see Anna 's , we 're o'clock .",
}  # fmt: skip


@pytest.mark.parametrize(("language", "clitics", "content"), sorted(CLITICS))
def test_clitics_are_separated_as_the_option_says(
    language: str, clitics: str, content: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "t.txt", content)
    tokens = read(path, language=language, clitics=clitics)
    assert " ".join(tokens["form"]) == CLITICS[language, clitics, content]
    gaps = tokens["space_after"].fill_null(" ").to_list()[:-1]
    pairs = zip(tokens["form"], [*gaps, ""], strict=True)
    assert "".join(form + gap for form, gap in pairs) == content.replace("\u2019", "'")


def sample(code: str) -> str:
    """Return the frequent words of a language among invented ones."""
    words = LANGUAGES[code].common.split()
    return " ".join(f"{word} xq{place}zz" for place, word in enumerate(words))


@pytest.mark.parametrize("code", sorted(LANGUAGES))
def test_a_language_is_recognised_by_its_frequent_words(code: str) -> None:
    assert guess_language(sample(code)) == code


@pytest.mark.parametrize(
    "text", ["", "12 34", "xyz zyx " * 50, "the cat", sample("en") + " " + sample("nl")]
)
def test_an_unclear_language_is_not_guessed(text: str) -> None:
    assert guess_language(text) == ""


def test_every_sentence_of_many_lines_is_read(tmp_path: Path) -> None:
    tokens = read(write(tmp_path / "t.txt", "One two. Three.\n" * 6000), sentences="split")
    assert tokens.height == 6000 * 5
    assert tokens["sentence"].max() == 2 * 6000
    assert tokens["paragraph"].max() == 6000


def test_expressions_may_define_sentences_and_tokens(tmp_path: Path) -> None:
    options = {"splitter": r"(;) *(\S)", "tokens": r"\S+"}
    assert cut("it's a;b ;c", tmp_path, **options) == ["it's a;", "b ;", "c"]


def test_paragraphs_are_lines_if_sentences_are_split(tmp_path: Path) -> None:
    path = write(tmp_path / "t.txt", "A. B.\n\n# x\nC.\n")
    tokens = read(path, sentences="split", document="^# (.*)", language="none")
    assert tokens.filter(tokens["form"] != ".").rows() == [
        (1, "", 1, 1, 1, "A", ""),
        (1, "", 1, 2, 1, "B", ""),
        (4, "x", 2, 3, 1, "C", ""),
    ]


def test_lines_of_a_wrapped_paragraph_are_joined(tmp_path: Path) -> None:
    content = "It was\nthe best. It\n  was\n\nthe worst\n \n\n# x\nof. Times\n# y\nEnd\n"
    tokens = read(write(tmp_path / "t.txt", content), sentences="wrapped", document="^# (.*)")
    groups = tokens.group_by("line", "doc", "paragraph", "sentence", maintain_order=True)
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
    tokens = read(path, sentences="wrapped", lenient=True)
    assert tokens.select("line", "form").rows() == [
        (1, "a"),
        (1, "b"),
        (3, "c"),
        (3, "d"),
        (6, "e"),
    ]
    assert [skip.line for skip in skips(path, sentences="wrapped")] == [2]


@pytest.mark.parametrize("name", ["t.txt", "t.txt.gz"])
def test_undecodable_lines_are_named_and_skipped(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, b"a\n\xe4 b\n\nc\0d\n\xff\ne\n")
    message = refusal(path)
    for words in (name, "2 lines cannot be decoded as UTF-8", "line 2", "0xe4", "line 5", "iconv"):
        assert words in message
    assert [(skip.line, skip.problem[:8]) for skip in skips(path)] == [
        (2, "not UTF-"), (4, "contains"), (5, "not UTF-"),
    ]  # fmt: skip
    assert read(path, lenient=True)["form"].to_list() == ["a", "e"]
    assert "line 1: contains a NUL" in refusal(write(tmp_path / name, "ab".encode("utf-16-le")))


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_file_is_refused(content: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.txt", content)
    assert "the file is empty" in refusal(path)
    assert len(skips(path)) == 1
    assert read(path, lenient=True).is_empty()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"splitter": r"\. "}, "two groups"),
        ({"tokens": "(?=a)"}, "not a valid regular expression"),
        ({"document": "###"}, "one group"),
        ({"language": "xx"}, "unknown language 'xx'"),
        ({"sentences": "lines"}, "'split', 'wrapped' or 'auto'"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=message):
        scan(tmp_path / "t.txt", **options)


# Letters, marks and figures of early Unicode, on which both tables agree.
LINE = st.text(st.sampled_from("aZß9٣é\u0301'’-‐,.;_ \t\u00ad\u200d\u200b漢😀#\x1f"), max_size=12)


@given(lines=st.lists(LINE, min_size=1, max_size=10), sizes=ONE_SIZE, lenient=st.booleans())
def test_random_lines_agree_with_the_slow_tokenizer(
    lines: list[str], sizes: list[int], lenient: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write(tmp_path_factory.mktemp("drawn") / "t.txt", "\n".join(lines) + "\n#")
    tokens = read(path, sizes=sizes, lenient=lenient, **PLAIN)
    assert tokens.rows(named=True) == slow_readers.text(path, mark="")


@pytest.mark.long
@given(lines=st.lists(LINE | st.just("Aa. B a\tz"), min_size=1, max_size=12), sizes=ONE_SIZE)
def test_wrapped_text_is_split_like_joined_lines(
    lines: list[str], sizes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, text = tmp_path_factory.mktemp("drawn"), "\n".join(lines) + "\n#"
    parts = re.split(r"\n(?:[ \t]*\n)+", text)
    joined = [" ".join(line.strip(" \t") for line in part.split("\n")) for part in parts]
    wrapped = read(write(folder / "w.txt", text), sizes=sizes, sentences="wrapped", **PLAIN)
    split = read(
        write(folder / "s.txt", "\n".join(joined)), sizes=sizes, sentences="split", **PLAIN
    )
    assert wrapped.drop("line").equals(split.drop("line"))


WORDS = [
    "the",
    "old",
    "house",
    "by",
    "a",
    "river",
    "where",
    "nobody",
    "of",
    "them",
    "had",
    "lived",
    "since",
    "another",
    "winter",
]


def paragraphs(count: int, *, seed: int, words: int = 60) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, words))) for _ in range(count)]


@pytest.mark.parametrize("width", [40, 65, 72, 100])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_wrapped_paragraphs_are_recognised(
    width: int, ending: str, packed: bool, tmp_path: Path
) -> None:
    parts = [textwrap.fill(each, width) for each in paragraphs(60, seed=width)]
    content = "\n\n".join(["A heading", *parts]).replace("\n", ending).encode()
    path = tmp_path / ("b.txt.gz" if packed else "b.txt")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert read_beginning(path).wrapped
    is_cut = {
        how: text_layout(path, TextOptions(sentences=how)).is_cut
        for how in ("line", "split", "auto")
    }
    assert is_cut == {"line": True, "split": True, "auto": False}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("words", [3, 8, 14, 20, 60])
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_sentences_verses_and_paragraphs_are_not_taken_for_wrapped_lines(
    seed: int, words: int, gap: str, tmp_path: Path
) -> None:
    path = tmp_path / "b.txt"
    path.write_text(gap.join(paragraphs(200, seed=seed, words=words)))
    assert not read_beginning(path).wrapped


@pytest.mark.parametrize(("gap", "most"), [("\n", 3), ("\n\n", 1), ("\n\n", 3)])
def test_wrapped_lines_with_initial_capitals_are_recognised(
    gap: str, most: int, tmp_path: Path
) -> None:
    """As in German, with capitals of nouns, and in dialogues, with paragraphs of a line or two."""
    chance, path = random.Random(most), tmp_path / "b.txt"
    parts = []
    for _ in range(200):
        size = chance.randint(6, 16) * chance.randint(1, most)
        words = [word.title() if chance.random() < 0.4 else word
                 for word in chance.choices(WORDS, k=size)]  # fmt: skip
        parts.append(" ".join(words) + ".")
    path.write_text(gap.join(textwrap.fill(each, 60) for each in parts))
    assert read_beginning(path).wrapped
    path.write_text(gap.join(parts))
    assert not read_beginning(path).wrapped


FEW_LINES = (
    "the old house stood near it\nan old house and an old boat\nthe boat stood near the old one\n"
)


@pytest.mark.parametrize(
    "content", ["", "\n\n", "one line", "word\n" * 200, "a b\n" * 10, FEW_LINES, FEW_LINES * 2]
)
def test_short_or_uniform_texts_are_not_taken_for_wrapped_lines(
    content: str, tmp_path: Path
) -> None:
    path = tmp_path / "b.txt"
    path.write_text(content)
    assert not read_beginning(path).wrapped


def novel(width: int, gap: str, *, seed: int = 1) -> str:
    """Return dialogues and paragraphs in wrapped lines, with `gap` between them."""
    chance = random.Random(seed)
    parts = []
    for number in range(80):
        count = chance.choice([1, 1, 2, 6])
        sentences = [chance.choices(WORDS, k=chance.randint(4, 25)) for _ in range(count)]
        text = " ".join(" ".join(words).capitalize() + "." for words in sentences)
        parts.append(textwrap.fill(f"\u201c{text}\u201d" if number % 2 else text, width))
    return gap.join(parts)


@pytest.mark.long
@pytest.mark.parametrize("width", [45, 60, 72])
def test_short_lines_end_wrapped_paragraphs_without_blank_lines(width: int, tmp_path: Path) -> None:
    blank, none = (write(tmp_path / f"{len(gap)}.txt", novel(width, gap)) for gap in ("\n\n", "\n"))
    assert read_beginning(blank).margin == 0 < read_beginning(none).margin
    for sizes in ([1 << 16], [200, 50], [37]):
        with_blank, without = (read(path, sizes=sizes, sentences="auto") for path in (blank, none))
        assert with_blank["form"].equals(without["form"])
        assert with_blank["sentence"].equals(without["sentence"])
    # A last line that is nearly full may continue.
    ends = without.group_by("paragraph").len().height
    assert 60 <= ends <= with_blank["paragraph"].max()


def test_an_option_joins_words_hyphenated_at_line_ends(tmp_path: Path) -> None:
    content = "She saw the differ-\nence, a well-\nknown so\u00ad\nlo.\n"
    path = write(tmp_path / "t.txt", content)
    hyphenated = read(path, sentences="wrapped")["form"].to_list()
    assert hyphenated == [
        *["She", "saw", "the", "differ", "-", "ence", ",", "a", "well", "-", "known", "solo", "."]
    ]
    joined = read(path, sentences="wrapped", join_hyphens=True)["form"].to_list()
    assert joined == ["She", "saw", "the", "difference", ",", "a", "wellknown", "solo", "."]
