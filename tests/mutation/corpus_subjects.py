"""Corpora in every format: their numbers of tokens."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl

import pipeline as lx
from tests.mutation import oracles
from tests.mutation.mutations import MutationByteMutations, damage_gzip, table_mutation
from tests.mutation.subject import Subject

_SENTENCES = [["the", "dog", "barks"], ["a", "cat", "sleeps", "there"], ["dogs", "and", "cats"]] * 3
_EXPERIMENT = """
name = "x"
[stages.pairs]
use = "extract.pairs"
relation = "adjacent"
corpus = CORPUS
left = { label = "{form}" }
right = { where = "form <> 'there'", label = "{form}" }
examples = 1
"""


def _conllu() -> bytes:
    lines = []
    for number, sentence in enumerate(_SENTENCES):
        lines.append(f"# sent_id = {number}\n# text = {' '.join(sentence)}\n")
        for place, form in enumerate(sentence, start=1):
            lines.append(f"{place}\t{form}\t{form}\tNOUN\tN\t_\t{place - 1}\tdep\t_\t_\n")
        lines.append("\n")
    return "".join(lines).encode()


def _vertical() -> bytes:
    lines = ['<text id="a">']
    for sentence in _SENTENCES:
        lines += ["<s>", *(f"{form}\tX" for form in sentence), "</s>"]
    return ("\n".join([*lines, "</text>"]) + "\n").encode()


def _tei() -> bytes:
    lines = [f"<s>{' '.join(sentence)}</s>" for sentence in _SENTENCES]
    return "\n".join(["<TEI><text><body><p>", *lines, "</p></body></text></TEI>"]).encode()


def _token_table() -> bytes:
    body = "\n".join("".join(f"{form}\tX\n" for form in sentence) for sentence in _SENTENCES)
    return f"form\ttag\n{body}".encode()


def _token_count(folder: Path) -> object:
    counts = lx.show(folder / "x.toml", runs=folder / "runs").table("pairs.corpus")
    return counts.filter(pl.col("what") == "tokens")["count"].item()


def _subject(
    name: str,
    content: bytes,
    mutation: MutationByteMutations,
    count: Callable[[Path], int | None],
    *,
    corpus: str = "",
    weight: int = 2,
) -> Subject:
    return Subject(
        name=name,
        kind="corpora",
        files={
            "x.toml": _EXPERIMENT.replace("CORPUS", corpus or f'"{name}"').encode(),
            name: content,
        },
        targets={name: mutation},
        expected=lambda folder: count(folder / name),
        observed=_token_count,
        weight=weight,
    )


_TEXT = "\n".join(" ".join(sentence) for sentence in _SENTENCES).encode() + b"\n"
_VERTICAL = '{ path = "c.vrt", attributes = ["form", "tag"], entities = false }'
_TEI = '{ path = "c.xml", tokens = \'\\S+\', normalise = "none" }'
_PLAIN = "{ path = \"c.txt\", tokens = '\\S+' }"

SUBJECTS = (
    _subject("c.conllu", _conllu(), table_mutation("\t"), oracles.conllu_tokens, weight=3),
    _subject("c.conllu.gz", gzip.compress(_conllu(), mtime=0), damage_gzip, oracles.conllu_tokens),
    _subject("c.vrt", _vertical(), table_mutation("\t"), oracles.vertical_tokens, corpus=_VERTICAL),
    _subject("c.tsv", _token_table(), table_mutation("\t"), oracles.table_tokens),
    _subject("c.xml", _tei(), table_mutation(" "), oracles.tei_tokens, corpus=_TEI),
    _subject("c.txt", _TEXT, table_mutation(" "), oracles.words, corpus=_PLAIN),
)
"""Corpora for counts of adjacent pairs."""
