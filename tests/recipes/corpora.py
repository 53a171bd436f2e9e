"""Small corpora in files, and their counts in plain Python."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

TEXT = """\
The old house stood by the river. Nobody lived in the old House now.
They built a new house, and a new barn. The house is old, the barn is new.
An old man saw the house; the old man smiled.
"""
SENTENCES = [
    "the old house stood by the river",
    "nobody lived in the old house now",
    "they built a new house and a new barn",
    "the house is old the barn is new",
    "an old man saw the house the old man smiled",
]
"""The same sentences in lower case, without punctuation marks."""

WORDS = [
    ("1", "They", "they", "PRON", "2", "nsubj"),
    ("2", "built", "build", "VERB", "0", "root"),
    ("3", "new", "new", "ADJ", "4", "amod"),
    ("4", "houses", "house", "NOUN", "2", "obj"),
    ("5", ".", ".", "PUNCT", "2", "punct"),
]


def conllu(sentences: int = 3) -> str:
    """Return a parsed corpus of one sentence, repeated."""
    lines = [
        f"{i}\t{form}\t{lemma}\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_"
        for i, form, lemma, upos, head, deprel in WORDS
    ]
    return "\n\n".join(["\n".join(lines)] * sentences) + "\n\n"


def vertical() -> str:
    """Return the same corpus as vertical text, without its syntax."""
    lines = "\n".join(f"{form}\t{upos}\t{lemma}" for _, form, lemma, upos, *_ in WORDS)
    return f'<text id="a">\n<s>\n{lines}\n</s>\n<s>\n{lines}\n</s>\n<s>\n{lines}\n</s>\n</text>\n'


def together(node: str) -> Counter[str]:
    """Count the sentences of `SENTENCES` that hold a word and the node."""
    sentence_words = [set(sentence.split()) for sentence in SENTENCES]
    return Counter(word for words in sentence_words if node in words for word in words - {node})


def files(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
