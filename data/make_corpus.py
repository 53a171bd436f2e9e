"""Write an invented corpus with dependency trees, and the annotation of its pairs.

``python data/make_corpus.py FOLDER`` writes pp-verb-1.conllu to pp-verb-4.conllu and
pp-verb.labels.tsv. README.md in this folder says what is planted.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from clauses import Clause, clauses
from dependency_trees import Word, conllu, words
from grammar import sentence
from pseudo_words import Uniform
from simulation import Kind, Pair, simulate
from speaker import speaker

SEED = "lexassay"
"""That of the candidate tables: one language, and the same planted pairs."""
N_FILES = 4
MIN_FREQUENCY = 3
HEADINGS, COMPOUND = 0.03, 0.45
"""Sentences without a clause, and with two."""
SHORTEST, LONGEST = 15, 60
"""Sentences of a document."""
LABELS = {"support_verb": "SVC", "figurative": "figurative"}
FREE = "free"


class Corpus(NamedTuple):
    """Documents of sentences, and the kind of each planted pair."""

    documents: list[list[list[Word]]]
    planted: dict[Pair, Kind]


def corpus(seed: str, *, n_sentences: int | None = None) -> Corpus:
    """Make a corpus.

    Parameters
    ----------
    seed : str
        Fixes everything.
    n_sentences : int, optional
        Stop after so many; None for all that the simulation gives.

    Returns
    -------
    Corpus
        With fewer sentences the beginning of the whole, but for where documents end.
    """
    simulation = simulate(seed)
    uniform = random.Random(f"{seed} sentences").random
    voice = speaker(simulation, uniform)
    groups = _sentences(clauses(simulation, uniform), uniform)
    sentences = [words(sentence(each, voice)) for each in islice(groups, n_sentences)]
    return Corpus(list(_documents(sentences, uniform)), simulation.planted)


def _sentences(every: Iterable[Clause], uniform: Uniform) -> Iterator[list[Clause]]:
    """Put one or two clauses into a sentence, between headings that have none."""
    rest = iter(every)
    while group := list(islice(rest, 2 if uniform() < COMPOUND else 1)):
        if uniform() < HEADINGS:
            yield []
        yield group


def _documents(sentences: Sequence[list[Word]], uniform: Uniform) -> Iterator[list[list[Word]]]:
    rest = iter(sentences)
    while document := list(islice(rest, SHORTEST + int(uniform() * (LONGEST - SHORTEST + 1)))):
        yield document


def pairs(sentence: Sequence[Word]) -> Iterator[Pair]:
    """Return each phrase of a sentence, noun with a preposition, with each of its verbs."""
    prepositions: dict[int, str] = {}
    for word in sentence:
        if word.deprel == "case":
            prepositions.setdefault(word.head, word.lemma)
    for number, word in enumerate(sentence, start=1):
        if word.upos == "NOUN" and number in prepositions:
            unit = f"{prepositions[number]}:{word.lemma}"
            yield from ((unit, verb.lemma) for verb in sentence if verb.upos == "VERB")


def labels(result: Corpus) -> str:
    """Return l1, l2 and label of the pairs that occur three times or more, tab-separated.

    The label follows from what was planted: SVC, figurative, or free for all other pairs.
    """
    joint = Counter(
        pair for document in result.documents for sentence in document for pair in pairs(sentence)
    )
    frequent = sorted(pair for pair, f in joint.items() if f >= MIN_FREQUENCY)
    rows = (f"{l1}\t{l2}\t{_label((l1, l2), result.planted)}\n" for l1, l2 in frequent)
    return "l1\tl2\tlabel\n" + "".join(rows)


def _label(pair: Pair, planted: Mapping[Pair, Kind]) -> str:
    return LABELS.get(planted[pair].name, FREE) if pair in planted else FREE


def files(every: Corpus) -> dict[str, str]:
    """Return the files by name: whole documents, as many in each, and the annotation."""
    texts = [document(f"invented-{i:03}", each) for i, each in enumerate(every.documents, start=1)]
    ends = [len(texts) * i // N_FILES for i in range(N_FILES + 1)]
    shards = {
        f"pp-verb-{i + 1}.conllu": "".join(texts[ends[i] : ends[i + 1]]) for i in range(N_FILES)
    }
    return shards | {"pp-verb.labels.tsv": labels(every)}


def document(name: str, sentences: Iterable[Sequence[Word]]) -> str:
    blocks = (conllu(each, sent_id=f"{name}-{i}") for i, each in enumerate(sentences, start=1))
    return f"# newdoc id = {name}\n" + "".join(blocks)


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; made if it is not there")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    texts = corpus(SEED)
    for name, text in files(texts).items():
        (folder / name).write_bytes(text.encode())
    sentences = [sentence for document in texts.documents for sentence in document]
    print(
        f"{folder}: {len(texts.documents):,} documents, {len(sentences):,} sentences, "
        f"{sum(map(len, sentences)):,} words"
    )


if __name__ == "__main__":
    main()
