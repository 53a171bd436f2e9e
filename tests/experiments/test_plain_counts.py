"""Commands on running text and treebanks against plain counts."""

from __future__ import annotations

import csv
import gzip
import random
import re
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli.main import main
from tests.experiments import plain_counter as plain

# Texts whose tokens and sentences are all known


@dataclass(frozen=True)
class Writing:
    """Sentences of a language, and words to look up.

    In a sentence, blanks and | stand between tokens, || between sentences, and {.} is a full stop
    that is no token.
    """

    rules: plain.Rules
    sentences: Sequence[str]
    nodes: Sequence[str]
    fold: plain.Fold = plain.lower


WRITINGS = {
    "English": Writing(
        plain.ENGLISH,
        (
            "Mr{.} Norland looked at the blue eyes of Mrs{.} Weld|.",
            "Dr{.} J{.} K{.} Weld lived at No{.} 5|, near St{.} Olave's|.",
            '"|Is that you|, Mr{.} Norland|?|" asked the girl with the blue eyes|.',
            "“|I can't tell|,|” said Mrs{.} Weld|; “|her eyes are blue|.|”",
            "“|No|!|” cried Dr{.} Norland|.",
            "She waited|.|.|. and her eyes closed|.",
            "She shut one eye|… then the other eye|.",
            "It was a well-known house|, with 3,000 books and 1.5 acres|.",
            "So said I|.",
            "Nobody saw her blue-eyed mother-in-law|—|not even Mr{.} Weld|.",
            "‘|Go|!|’",
            "The answer was No|.",
            "(|Her eye was on St{.} Olave’s|.|)",
            "Eyes are blue|: blue eyes|, grey eyes|, and the eye of the house|.",
            "Mrs{.} Norland slept|.|.|.",
            "His eyes|,|” she said|, “|were the eyes of Dr{.} A{.} Weld|.|”",
            "-|-|And you|? || 1848 was the year of Mr{.} Weld's house|.",
        ),
        ("eyes", "norland", "blue eyes", "eye*", "/eyes?/"),
    ),
    "French": Writing(
        plain.FRENCH,
        (
            "M{.} Dupin vit l'|homme qu'|il cherchait dans la rue|.",
            "L’|homme n'|était pas chez Mme{.} Roque|.",
            "«\u00a0Qu’|il entre\u202f!\u00a0» dit M{.} Dupin|.",
            "«\u00a0Ah\u202f!\u00a0»",
            "D'|homme à homme|, on parle d’|État et de la rue|.",
            "Aujourd'hui|, quelqu’un parlait de l’|homme|.",
            "— Jusqu'|où irez-vous|, M{.} Dupin ?",
            "MM{.} Dupin et Roque étaient au no{.} 5 de la rue|.|.|.",
            "Il était une fois un homme|.",
        ),
        ("homme", "l'", "dupin", "l’homme", "/h?ommes?|qu'/"),
    ),
    "Turkish": Writing(
        plain.TURKISH,
        (
            "İstanbul'da ışık vardı ve bu ışık çok güzeldi|.",
            "ISPARTA'da IŞIK yok|, ama İSTANBUL var|.",
            "Sn{.} Ayşe o gün İzmir ile istanbul için ağladı|.",
            "Dr{.} Işık istanbul gibi bir IRMAK gördü|!",
            "“|Ne kadar ılık|!|” dedi Dr{.} İnci|.",
            "No{.} 5 ve No{.} 7 de İSTANBUL gibi|.|.|.",
        ),
        ("istanbul", "ışık", "IŞIK", "i*", "bir ırmak"),
        plain.lower_turkish,
    ),
    "German": Writing(
        plain.GERMAN,
        (
            "Am 3{.} Mai kam Hr{.} Weber mit dem Zug nach Köln|.",
            "In Bd{.} 7 ist die Straße nicht so groß|.",
            "Die große STRAẞE und der Weg waren weiß|, und die Häuser schön|.",
            "„|Kommen Sie|, Hr{.} Weber|?|“ fragte Frau Müller|.",
            "„|Gehen Sie|!|“ || Dann ging Dr{.} E{.} Weber|.",
            "»|Wohin|?|« || »|Zur Straße|.|«",
            "Er blieb bis 1990|.",
            "Das Mädchen sah den 12{.} Mann auf der Straße|.|.|.",
        ),
        ("straße", "Mädchen", "weber", "hr weber", "m*"),
    ),
}
LAYOUTS = {
    "lines": (0, "\n"),
    "lines and blanks": (0, "\n\n"),
    "60": (60, "\n"),
    "60 and blanks": (60, "\n\n"),
    "72": (72, "\n"),
    "72 and blanks": (72, "\r\n\r\n"),
}
"""Width of the lines (0: a paragraph per line), and separator after a paragraph."""
WAYS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "usual": ([], {}),
    "sentence": (["--within", "sentence"], {"within": "sentence"}),
    "2,3": (["--span", "2,3"], {"span": (2, 3)}),
    "positions": (["--count", "positions"], {"count": "positions"}),
    "positions of sentences": (
        ["--count", "positions", "--within", "sentence", "--span", "2,0"],
        {"count": "positions", "within": "sentence", "span": (2, 0)},
    ),
}


def paragraphs(writing: Writing) -> list[tuple[str, list[list[str]]]]:
    """Return the text of each paragraph, and its sentences."""
    chance, parts = random.Random(1), []
    for _ in range(80):
        some = chance.choices(writing.sentences, k=chance.randint(1, 6))
        text = " ".join(some).replace(" || ", " ").replace("|", "").replace("{.}", ".")
        tokens = [
            re.split(r"[\s|]+", plain.clean(each.replace("{.}", "").replace("’|", "'|")))
            for each in " || ".join(some).split(" || ")
        ]
        parts.append((text, tokens))
    return parts


def document(writing: Writing) -> plain.Document:
    return [sentence for _, sentences in paragraphs(writing) for sentence in sentences]


def write(path: Path, writing: Writing, layout: str) -> Path:
    width, gap = LAYOUTS[layout]
    texts = [text for text, _ in paragraphs(writing)]
    if width:  # no-break spaces and hyphens do not break
        texts = [textwrap.fill(each, width, break_on_hyphens=False) for each in texts]
    texts[::2] = [unicodedata.normalize("NFD", each) for each in texts[::2]]
    ending = "\r\n" if "\r" in gap else "\n"
    path.write_bytes(gap.join(each.replace("\n", ending) for each in texts).encode())
    return path


def list_rows(folder: Path, *words: str) -> list[dict[str, str]]:
    """Return the rows that a command writes."""
    every = ["--min-f", "1", "--top", "1000000", "--raw", "--runs", str(folder / "runs")]
    assert main([*words, *every, "--output", str(folder / "list.csv"), "--overwrite"]) == 0
    with (folder / "list.csv").open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines))


def signature(row: dict[str, str]) -> tuple[int, ...]:
    return tuple(int(row[name]) for name in ("f", "f1", "f2", "N"))


def collocates(folder: Path, *words: str) -> dict[str, tuple[int, ...]]:
    rows = list_rows(folder, "collocates", *words)
    counts = {row["collocate"]: signature(row) for row in rows}
    assert len(counts) == len(rows)
    return counts


@pytest.mark.parametrize("name", WRITINGS)
def test_the_plain_counter_finds_every_sentence(name: str) -> None:
    writing = WRITINGS[name]
    for text, sentences in paragraphs(writing):
        assert list(plain.sentences(text, writing.rules)) == sentences


def node_tokens(writing: Writing, node: str) -> str:
    """Return a node as tokens of the text, with blanks between."""
    if {*node} & {*"/*"}:
        return node
    (words,) = plain.sentences(node, writing.rules)
    return " ".join(map(writing.fold, words))


def check_collocates(folder: Path, name: str, layout: str, way: str, node: str) -> None:
    writing, (options, counted) = WRITINGS[name], WAYS[way]
    path = write(folder / f"{name}.txt", writing, layout)
    words = node_tokens(writing, node)
    expected = plain.collocates([document(writing)], words, fold=writing.fold, **counted)
    assert expected
    assert collocates(folder, node, str(path), *options) == expected


SOME = [
    *((name, "60 and blanks", "usual", node) for name in WRITINGS for node in WRITINGS[name].nodes),
    *(
        (name, "72", way, node)
        for name in ("English", "German")
        for way, node in zip([*WAYS][1:], WRITINGS[name].nodes[1:], strict=True)
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "layout", "way", "node"), SOME)
def test_collocates_agree_with_plain_counts(
    name: str, layout: str, way: str, node: str, tmp_path: Path
) -> None:
    check_collocates(tmp_path, name, layout, way, node)


@pytest.mark.long
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", WRITINGS)
def test_collocates_agree_with_plain_counts_in_every_way(
    name: str, layout: str, tmp_path: Path
) -> None:
    nodes, shift = WRITINGS[name].nodes, [*LAYOUTS].index(layout)
    for place, way in enumerate(WAYS):
        check_collocates(tmp_path, name, layout, way, nodes[(place + shift) % len(nodes)])


def candidates(folder: Path, *words: str) -> dict[tuple[str, str], tuple[int, ...]]:
    rows = list_rows(folder, "candidates", *words)
    return {(row["l1"], row["l2"]): signature(row) for row in rows}


@pytest.mark.parametrize("layout", ["lines and blanks", "60", "72 and blanks"])
@pytest.mark.parametrize("name", WRITINGS)
def test_candidates_agree_with_plain_counts(name: str, layout: str, tmp_path: Path) -> None:
    writing = WRITINGS[name]
    path = write(tmp_path / f"{name}.txt", writing, layout)
    marks = layout == "60"
    expected = plain.neighbours([document(writing)], fold=writing.fold, punctuation=marks)
    options = ["--punctuation"] if marks else []
    assert candidates(tmp_path, str(path), *options) == expected


# Writing without blanks: the word breaks of ICU are assumed to be right


CHINESE = (
    "他们使用新的方法。", "我们使用方法！", "“新的方法很好。”", "他们的老师说：“使用新方法！”",
    "老师使用3.5米的地图？", "方法很好，他们很高兴。",
)  # fmt: skip


def chinese() -> tuple[str, plain.Document]:
    """Return a text, one paragraph per line, and its sentences."""
    from icu4py.breakers import WordBreaker

    chance = random.Random(2)
    lines = [chance.choices(CHINESE, k=chance.randint(1, 5)) for _ in range(60)]
    segments = {each: [*map(str, WordBreaker(each, "zh"))] for each in CHINESE}
    return (
        "\n".join(map("".join, lines)),
        [segments[each] for line in lines for each in line],
    )


@pytest.mark.parametrize(
    ("node", "within"),
    [("使用", "document"), ("使用", "sentence"), ("新 方法", "document"), ("老师", "document"),
     ("他们", "document"), ("很*", "sentence")],
)  # fmt: skip
def test_collocates_of_chinese_agree_with_plain_counts(
    node: str, within: str, tmp_path: Path
) -> None:
    text, sentences = chinese()
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    expected = plain.collocates([sentences], node, within=within)
    assert len(expected) > 4
    options = ["--tokenizer", "icu", "--within", within]
    assert collocates(tmp_path, node, str(path), *options) == expected


# A parsed corpus

NOUNS, VERBS = ["house", "river", "man", "Anna", "_"], ["see", "build", "Cross"]


def treebank() -> tuple[str, list[list[plain.Word]]]:
    """Return CoNLL-U of random trees, and their words; a lemma _ is the form."""
    chance, lines, sentences = random.Random(3), [], []
    for _ in range(200):
        size = chance.randint(2, 9)
        words = [(chance.choice(NOUNS + VERBS), 0, "root")]
        for _ in range(size - 1):
            relation = chance.choice(["nsubj", "obj", "obl", "amod", "nmod:poss", "punct"])
            lemma = chance.choice([",", "."] if relation == "punct" else NOUNS + VERBS + ["--"])
            words.append((lemma, chance.randint(1, size), relation))
        words = [
            (lemma, head, relation) if head != place else (lemma, 1 + place % size, relation)
            for place, (lemma, head, relation) in enumerate(words, start=1)
        ]
        for place, (lemma, head, relation) in enumerate(words, start=1):
            form = "Thing" if lemma == "_" else lemma.title()
            lines.append(f"{place}\t{form}\t{lemma}\tX\t_\t_\t{head}\t{relation}\t_\t_")
        lines.append("")
        sentences.append([("Thing" if word[0] == "_" else word[0], *word[1:]) for word in words])
    return "\n".join(lines) + "\n", sentences


@pytest.mark.parametrize("node", ["house", "Anna", "cross", "thing", "see"])
def test_word_sketches_agree_with_plain_counts(node: str, tmp_path: Path) -> None:
    content, sentences = treebank()
    path = tmp_path / "a.conllu"
    path.write_text(content)
    rows = list_rows(tmp_path, "collocates", node, str(path))
    counts = {(row["relation"], row["collocate"]): signature(row) for row in rows}
    assert counts == plain.word_sketch(sentences, node.lower())
    assert len(counts) == len(rows) > 20


# Files, and novels


def test_spans_end_with_the_file(tmp_path: Path) -> None:
    """Each file has its own kind of lines."""
    folder, english = tmp_path / "texts", WRITINGS["English"]
    folder.mkdir()
    for name, layout in {"a.txt": "60", "b.txt": "lines", "c.txt": "72 and blanks"}.items():
        write(folder / name, english, layout)
    expected = plain.collocates([document(english)] * 3, "eyes")
    assert collocates(tmp_path, "eyes", str(folder)) == expected


NOVELS = "corpora/eltec_eng_level1.txt.gz"
TITLES = ("Mr", "Mrs", "Dr", "St", "Rev", "Prof", "Capt", "Col")
IN_NOVELS = replace(
    plain.ENGLISH,
    titles=f"{plain.ENGLISH.titles} {' '.join(TITLES)} Hon Mme Mlle Lieut Gen e.g viz",
    numbered=f"{plain.ENGLISH.numbered} no nos Vol vol Fig p pp Chap chap",
)


@pytest.mark.long
def test_titles_and_names_are_neighbours(
    public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    path = public_data(NOVELS)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        text = plain.clean(lines.read())
    titles = "|".join(TITLES)
    places = re.findall(rf"\b({titles})(\.\s*|\s+)(?=({plain.WORD}))", text)
    assert sum(stop[0] == "." and name[0].isupper() for _, stop, name in places) > 41_000
    condition = ", ".join(f"'{each}'" for each in TITLES)
    counts = candidates(tmp_path, str(path), "--left", f"form IN ({condition})")
    expected = Counter((title.lower(), name.lower()) for title, _, name in places)
    assert {pair: f for pair, (f, *_) in counts.items()} == expected


def write_novels(path: Path, folder: Path, *, width: int, hyphens: bool = False) -> list[Path]:
    """Write five novels to five files, one paragraph per line or in lines of a width."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        novels = re.split(r"^### .*\n", lines.read(), flags=re.MULTILINE)[1::20]
    folder.mkdir()
    for place, novel in enumerate(novels):
        parts = [each for each in novel.splitlines() if each.strip()]
        if width:
            wrapper = textwrap.TextWrapper(width + 5 * place, break_on_hyphens=hyphens)
            parts = [f"{wrapper.fill(each)}\n" for each in parts]
        (folder / f"{place}.txt").write_text("\n".join(parts) + "\n", encoding="utf-8")
    return sorted(folder.iterdir())


@pytest.mark.long
def test_wrapped_novels_have_the_counts_of_unwrapped_ones(
    public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    counts, path = {}, public_data(NOVELS)
    for name, width, hyphens in (
        ("lines", 0, False),
        ("wrapped", 60, False),
        ("hyphens", 60, True),
    ):
        write_novels(path, tmp_path / name, width=width, hyphens=hyphens)
        counts[name] = list_rows(tmp_path, "collocates", "eyes", str(tmp_path / name))
    assert counts["wrapped"] == counts["lines"]
    total = {name: sum(int(row["nodes"]) for row in rows) for name, rows in counts.items()}
    assert total["lines"] > 3000
    assert total["hyphens"] == pytest.approx(total["lines"], rel=0.01)


@pytest.mark.long
def test_collocates_in_novels_agree_with_plain_counts(
    public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    paths = write_novels(public_data(NOVELS), tmp_path / "lines", width=0)[1:4]
    texts = [
        [sentence for line in path.read_text(encoding="utf-8").splitlines()
         for sentence in plain.sentences(line, IN_NOVELS)]
        for path in paths
    ]  # fmt: skip
    names = [*map(str, paths)]
    assert candidates(tmp_path, *names) == plain.neighbours(texts)
    nodes = ("eyes", "hand", "blue eyes", "eye*", "/eyes?/")
    for (options, counted), node in zip(WAYS.values(), nodes, strict=True):
        expected = plain.collocates(texts, node, **counted)
        assert collocates(tmp_path, node, *names, *options) == expected
