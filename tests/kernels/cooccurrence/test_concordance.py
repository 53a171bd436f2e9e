"""Examples in context: chosen by seed, and independent of the shards."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cooccurrence.concordance import (
    RenderedSentence,
    draw,
    in_context,
    merge,
    render,
    sentences,
)
from pipeline.kernels.cooccurrence.pairs import add_positions, pair_tokens
from pipeline.kernels.cooccurrence.tokens import Unit, number_tokens
from tests.kernels.cooccurrence.trees import Token, corpora, frame

NOUN, VERB = (Unit(pl.col("upos") == tag, "{lemma}") for tag in ("NOUN", "VERB"))


def examples_of(corpus: list[list[Token]], most: int, seed: str = "s") -> pl.DataFrame:
    tokens = number_tokens(frame(corpus))
    pairs = pair_tokens(tokens, left=NOUN, right=VERB, relation=None)
    examples = draw(add_positions(pairs, tokens), most=most, seed=seed)
    return sentences(examples, tokens, form="form").collect()


@given(corpus=corpora(), most=st.integers(0, 3))
def test_at_most_so_many_sentences_are_marked(corpus: list[list[Token]], most: int) -> None:
    examples = examples_of(corpus, most)
    plain = {" ".join(token["form"] for token in sentence) for sentence in corpus}
    for row in examples.iter_rows(named=True):
        assert row["text"].count("[[") == row["text"].count("]]") == 2
        assert row["text"].replace("[[", "").replace("]]", "") in plain
    assert not examples.height or examples.group_by("id").len().get_column("len").max() <= most


@pytest.mark.long
@given(corpus=corpora(), most=st.integers(1, 3), split=st.integers(0, 5))
def test_examples_of_parts_equal_those_of_the_whole(
    corpus: list[list[Token]], most: int, split: int
) -> None:
    whole = merge(examples_of(corpus, most).lazy(), most=most).collect()
    parts = pl.concat([examples_of(corpus[:split], most), examples_of(corpus[split:], most)])
    assert merge(parts.lazy(), most=most).collect().equals(whole)


def test_equal_places_of_two_files_are_both_kept() -> None:
    """Their keys are equal: both are kept, in the order of their texts, whatever the files."""
    token = {"doc": "", "sentence": 1, "head": 0, "deprel": "x", "lemma": "a"}
    texts = {}
    for files in ("fg", "gf"):
        corpus = [
            [
                {**token, "file": file, "position": 1, "upos": "NOUN", "form": word},
                {**token, "file": file, "position": 2, "upos": "VERB", "form": "v"},
            ]
            for file, word in zip(files, ("late", "early"), strict=True)
        ]
        both = examples_of(sorted(corpus, key=lambda sentence: str(sentence[0]["file"])), 1)
        assert both.height == 2
        texts[files] = merge(both.lazy(), most=1).collect()["text"].to_list()
    assert texts["fg"] == texts["gf"] == ["[[early]] [[v]]"]


def test_another_seed_chooses_other_examples() -> None:
    token = {"file": "f", "doc": "d", "lemma": "a", "deprel": "x", "head": 0}
    corpus = [
        [
            {**token, "sentence": n, "position": 1, "upos": "NOUN", "form": f"w{n}"},
            {**token, "sentence": n, "position": 2, "upos": "VERB", "form": "v"},
        ]
        for n in range(1, 40)
    ]
    texts = {seed: examples_of(corpus, 2, seed).get_column("text").to_list() for seed in "ab"}
    assert texts["a"] != texts["b"]


# Displayed sentences: unmistakable marks, and long sentences cut around them.

WORDS = st.sampled_from(["a", "bb", "c]", "[[", "⟦x", "…", "e\u0301", "\u0301", "x" * 15])
SPACES = st.sampled_from([" ", " ", " ", "", "  ", ", "])


def plain(text: str) -> RenderedSentence:
    """Return a sentence whose words are separated by single spaces."""
    words = text.split(" ")
    return render(words, [None] * len(words), [None] * len(words))


def mark_positions(text: str, *positions: int, width: int = 0) -> str:
    return in_context(plain(text), [positions], width=width)[0]


def test_all_words_of_an_expression_are_marked() -> None:
    assert mark_positions("the law of the land", 1, 4) == "[[the]] law of [[the]] land"
    assert mark_positions("a b c", 3, 1, 2) == "[[a]] [[b]] [[c]]"
    assert mark_positions("one", 1) == "[[one]]"


def test_a_written_word_of_several_tokens_is_marked_once() -> None:
    french = render(
        ["vient", "de", "le", "nord", "."],
        [None, "du", "", None, None],
        [None, None, None, "", None],
    )
    examples = in_context(french, [[1, 2], [2, 4], [2, 3], [3]], width=0)
    assert examples == [
        "[[vient]] [[du]] nord.",
        "vient [[du]] [[nord]].",
        "vient [[du]] nord.",
        "vient [[du]] nord.",
    ]
    spanish = render(["da", "me", "lo", "ya"], ["dámelo", "", "", None], [None, None, "", None])
    assert in_context(spanish, [[1, 3, 4]], width=0) == ["[[dámelo]][[ya]]"]


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("see [1] there", "see [1] ⟦⟦there⟧⟧"),
        ("a ] there", "a ] ⟦⟦there⟧⟧"),
        ("[[see]] ⟦so⟧ there", "[[see]] [so] ⟦⟦there⟧⟧"),
        ("⟦so⟧ * there", "⟦so⟧ * [[there]]"),
    ],
)
def test_marks_are_not_in_the_text(text: str, marked: str) -> None:
    assert mark_positions(text, 3) == marked


def test_signs_of_cuts_differ_from_marks_and_text() -> None:
    assert mark_positions("w … w w w w", 2, width=4) == "w [[…]] […]"
    assert mark_positions("[ … w w w w", 2, width=4) == "[ ⟦⟦…⟧⟧ ⟦…⟧"


LONG = " ".join(f"w{n:03}" for n in range(1, 101))  # five characters each, with the space


@pytest.mark.parametrize(
    ("positions", "text"),
    [
        ([50], "[…] w048 w049 [[w050]] w051 w052 […]"),
        ([1], "[[w001]] w002 w003 w004 w005 […]"),
        ([100], "[…] w096 w097 w098 w099 [[w100]]"),
        ([1, 100], "[[w001]] w002 w003 […] w099 [[w100]]"),
        ([20, 22], "[…] w019 [[w020]] w021 [[w022]] w023 […]"),
        ([20, 40, 60], "[…] w019 [[w020]] w021 […] [[w040]] […] [[w060]] […]"),
        (range(10, 17), "[…] [[w010]] [[w011]] [[w012]] [[w013]] [[w014]] [[w015]] [[w016]] […]"),
    ],
)
def test_a_long_sentence_is_cut_around_the_marks(positions: list[int], text: str) -> None:
    assert mark_positions(LONG, *positions, width=25) == text


def test_a_sentence_of_exactly_the_width_is_not_cut() -> None:
    assert mark_positions("aa bb cc", 1, width=8) == "[[aa]] bb cc"
    assert mark_positions("aa bb cc", 1, width=7) == "[[aa]] bb […]"
    assert mark_positions(LONG, 1) == LONG.replace("w001", "[[w001]]")


def test_tokens_without_a_space_between_are_not_cut_apart() -> None:
    glued = render(["x"] * 5 + ["do", "n't", "!"], [None] * 8, [" "] * 5 + ["", "", None])
    assert in_context(glued, [[6], [1]], width=8) == ["[…] x [[do]]n't!", "[[x]] x x x […]"]


def test_scripts_without_spaces_are_cut_between_tokens() -> None:
    signs = ["字"] * 30 + ["ก", "\u0e34"] + ["字"] * 30
    line = render(signs, [None] * 62, [""] * 62)
    assert in_context(line, [[31]], width=6) == ["[…]字字[[ก]]\u0e34字字[…]"]


@st.composite
def sentences_surface(draw: st.DrawFn) -> tuple[RenderedSentence, list[int], int]:
    words = draw(st.lists(WORDS, min_size=1, max_size=12))
    surfaces = [draw(st.sampled_from([None, None, "", "du"])) for _ in words]
    sentence = render(words, surfaces, [draw(SPACES) for _ in words])
    marked = draw(st.lists(st.integers(1, len(words)), min_size=1, max_size=3))
    return sentence, marked, draw(st.integers(0, 30))


@given(case=sentences_surface())
def test_cut_sentences_agree_with_a_slow_twin(
    case: tuple[RenderedSentence, list[int], int],
) -> None:
    sentence, marked, width = case
    assert in_context(sentence, [marked], width=width) == [slow_context(sentence, marked, width)]


@given(case=sentences_surface())
def test_text_between_marks_and_cuts_occurs_in_the_sentence(
    case: tuple[RenderedSentence, list[int], int],
) -> None:
    sentence, marked, width = case
    (text,) = in_context(sentence, [marked], width=width)
    opening, closing = (re.escape(2 * sign) for sign in sentence.brackets)
    words = re.findall(f"{opening}(.*?){closing}", text)
    places = sorted({sentence.places[each - 1] for each in marked})
    assert words == [sentence.words[place] for place in places]
    whole = "".join(w + s for w, s in zip(sentence.words, sentence.spaces, strict=True))
    bare = re.sub(f"{opening}|{closing}", "", text)
    cut = f"{sentence.brackets[0]}…{sentence.brackets[1]}"
    at = 0
    for stretch in bare.split(cut):
        at = whole.index(stretch.strip(" "), at) + len(stretch.strip(" "))
    assert width or bare == whole.rstrip()


def slow_context(sentence: RenderedSentence, marked: list[int], width: int) -> str:
    """Add the nearest group of words one by one, looking at all groups each time."""
    words, spaces = sentence.words, sentence.spaces
    own = {sentence.places[each - 1] for each in marked}
    size = [len(word) + len(space) for word, space in zip(words, spaces, strict=True)]
    groups = [[0]]
    for place in range(1, len(words)):
        leans = words[place][0] == "\u0301"
        groups += [[]] if re.search(r"\s", spaces[place - 1]) and not leans else []
        groups[-1].append(place)
    groups = [part for group in groups for part in _parts(group, words)]
    if not 0 < width < sum(size):
        groups = [list(range(len(words)))]
    visible = {number for number, group in enumerate(groups) if own & set(group)}
    places = set(visible)
    length = [sum(size[place] for place in group) for group in groups]

    def away(number: int) -> int:
        return min(sum(length[min(number, k) + 1 : max(number, k)]) for k in places)

    for number in sorted(set(range(len(groups))) - visible, key=lambda n: (away(n), n)):
        if sum(length[each] for each in visible) + length[number] > width:
            break
        visible.add(number)
    opening, closing = sentence.brackets
    text = ""
    for number, group in enumerate(groups):
        if number in visible:
            for place in group:
                word = words[place]
                text += 2 * opening + word + 2 * closing if place in own else word
                text += spaces[place]
        else:
            text += "" if number and number - 1 not in visible else f"{opening}…{closing}"
            text += spaces[group[-1]] if number + 1 in visible else ""
    return text.rstrip()


def _parts(group: list[int], words: list[str]) -> list[list[int]]:
    """Divide a group of more than 40 characters, but not before a combining accent."""
    if sum(len(words[place]) for place in group) <= 40:
        return [group]
    parts: list[list[int]] = []
    for place in group:
        if parts and words[place][0] == "\u0301":
            parts[-1].append(place)
        else:
            parts.append([place])
    return parts
