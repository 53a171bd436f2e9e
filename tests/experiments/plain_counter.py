"""Collocates and neighbours counted in the plainest way: regular expressions and counters.

The independent twin of the commands on plain text and treebanks. It imports nothing of the package,
so that no mistake can be common to both.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

Sentence = list[str]
Document = list[Sentence]
Counts = dict[str, tuple[int, int, int, int]]
"""By collocate: f, f1, f2, N."""
WORD = r"[^\W_]+(?:['-][^\W_]+)*"
TOKEN = rf"\d+(?:[.,]\d+)+|{WORD}|\S"
ENDS, QUOTES = ".!?…", "\"'“”„‘’«»"


@dataclass(frozen=True)
class Rules:
    """Rules of a language for readers."""

    titles: str = ""
    """Words before a full stop that ends no sentence."""
    numbered: str = ""
    """The same before a number."""
    elided: str = ""
    """Words before an apostrophe that are words of their own, as a regular expression."""
    closing: str = ""
    """A quotation mark that closes after a blank."""
    ordinals: bool = False
    """Whether "3." is the third, before a capital."""
    no_initial: str = ""
    """The capital letter that is a word."""


ENGLISH = Rules("Mr Mrs Messrs Dr St i.e", "No Nos", no_initial="I")
FRENCH = Rules("M MM Mme Mlle", "no", "[cdjlmnst]|qu|jusqu|lorsqu", closing="»")
GERMAN = Rules("Hr Fr Dr", "Nr Bd", ordinals=True)
TURKISH = Rules("Sn Dr", "No")


def clean(text: str) -> str:
    """Return text with one code for characters that look the same."""
    text = re.sub("[‐‑]", "-", unicodedata.normalize("NFC", text).replace("\u00ad", ""))
    return re.sub(r"’(?=[^\W\d_])", "'", text)


def sentences(paragraph: str, rules: Rules) -> Iterator[Sentence]:
    """Yield the tokens of each sentence; the full stop of an abbreviation ends no sentence."""
    text = clean(paragraph)
    token = rf"(?i:\b(?:{rules.elided})')|{TOKEN}" if rules.elided else TOKEN
    tokens: Sentence = []
    for match in re.finditer(token, text):
        word, before, after = match[0], text[: match.start()], text[match.end() :]
        if word == "." and _is_abbreviation(before, after, rules):
            continue
        if tokens and _begins(before, text[match.start() :], tokens, rules):
            yield tokens
            tokens = []
        tokens.append(word)
    if tokens:
        yield tokens


def _is_abbreviation(before: str, after: str, rules: Rules) -> bool:
    last = re.search(r"[^\W_]+(?:\.[^\W_]+)*$", before)
    word = last[0] if last else ""
    if word in rules.titles.split() or (
        word in rules.numbered.split() and re.match(r"\s*\d", after)
    ):
        return True
    letter = word.rpartition(".")[2]
    if len(letter) == 1 and letter.isupper() and letter != rules.no_initial:
        return True
    ordinal = rules.ordinals and word.isdigit() and len(word) < 3
    return bool(ordinal and re.match(r"\s+[^\W\d_]", after) and after.lstrip()[0].isupper())


def _begins(before: str, rest: str, tokens: Sentence, rules: Rules) -> bool:
    """Return whether a sentence begins: after end mark and space, with a capital or a figure."""
    if not before[-1:].isspace() or rest[0] in rules.closing:
        return False
    last = "".join(tokens[-4:]).rstrip(QUOTES + ")]")[-1:]
    first = re.sub(rf"^(?:[{QUOTES}([—–-]\s?)*", "", rest)[:1]
    return last != "" and last in ENDS and (first.isupper() or first.isdigit())


def lower(word: str) -> str:
    """Return a word in small letters."""
    return word.lower()


def lower_turkish(word: str) -> str:
    """Return a word in small letters, with two kinds of i."""
    return word.replace("İ", "i").replace("I", "ı").lower()


Fold = Callable[[str], str]


def is_word(token: str) -> bool:
    """Return whether a token is no punctuation mark."""
    return any(sign.isalnum() for sign in token)


def places(text: Iterable[Sentence], node: str, fold: Fold) -> Iterator[tuple[int, int]]:
    """Yield the first and last place in a text of each occurrence of a node in a sentence."""
    if node[0] == node[-1] == "/":
        patterns = [node[1:-1]]
    else:
        words = map(re.escape, node.split())
        patterns = [each.replace(r"\*", ".*").replace(r"\?", ".") for each in words]
    begin = 0
    for sentence in text:
        for first in range(len(sentence) - len(patterns) + 1):
            words = map(fold, sentence[first : first + len(patterns)])
            if all(map(re.fullmatch, patterns, words)):
                yield begin + first, begin + first + len(patterns) - 1
        begin += len(sentence)


def collocates(
    documents: Iterable[Document],
    node: str,
    *,
    span: tuple[int, int] = (5, 5),
    within: str = "document",
    count: str = "nodes",
    fold: Fold = lower,
) -> Counts:
    """Count the words in the spans of a node.

    count = "nodes": f hits with the word in their span, at most f2; f1 hits, f2 the word, N tokens.
    "positions": f1 places in spans, each counted for the first hit that reaches it.
    """
    f, f1, f2, N = Counter[str](), 0, Counter[str](), 0
    for document in documents:
        for text in [document] if within == "document" else [[each] for each in document]:
            words = [fold(token) for sentence in text for token in sentence]
            f2.update(filter(is_word, words))
            N += len(words)
            counted = -1
            for first, last in places(text, node, fold):
                around = [*range(first - span[0], first), *range(last + 1, last + span[1] + 1)]
                around = [each for each in around if 0 <= each < len(words)]
                if count == "positions":
                    around = [each for each in around if each > counted]
                    counted = last + span[1]
                    f1 += len(around)
                    f.update(words[each] for each in around)
                else:
                    f1 += 1
                    f.update({words[each] for each in around})
    return {word: (min(n, f2[word]) if count == "nodes" else n, f1, f2[word], N)
            for word, n in f.items() if is_word(word)}  # fmt: skip


def neighbours(
    documents: Iterable[Document], *, fold: Fold = lower, punctuation: bool = False
) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    """Count neighbouring tokens of a sentence: f, f1, f2, N over all such pairs."""
    f, f1, f2 = Counter[tuple[str, str]](), Counter[str](), Counter[str]()
    for sentence in (each for document in documents for each in document):
        pairs = pairwise(map(fold, sentence))
        f.update(pair for pair in pairs if punctuation or all(map(is_word, pair)))
    for (l1, l2), n in f.items():
        f1[l1] += n
        f2[l2] += n
    return {(l1, l2): (n, f1[l1], f2[l2], f.total()) for (l1, l2), n in f.items()}


Word = tuple[str, int, str]
"""Of a parsed sentence: lemma, position of its head (0: none), name of the relation."""


def word_sketch(
    sentences: Iterable[list[Word]], node: str
) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    """Count the relations of a node, each from both ends: f, f1, f2, N by relation and word.

    f1 counts the node in that relation, f2 the word in all of them, N all relations.
    """
    f = Counter[tuple[str, str, str]]()
    for words in sentences:
        for lemma, head, relation in words:
            pair = (words[head - 1][0].lower(), lemma.lower())
            if head and relation != "punct" and all(map(is_word, pair)):
                governor, dependent = pair
                f[governor, f"{relation}({governor}, *)", dependent] += 1
                f[dependent, f"{relation}(*, {dependent})", governor] += 1
    f1, f2 = Counter[str](), Counter[str]()
    for (_, relation, word), n in f.items():
        f1[relation] += n
        f2[word] += n
    return {(relation, word): (n, f1[relation], f2[word], f.total())
            for (own, relation, word), n in f.items() if own == node}  # fmt: skip
