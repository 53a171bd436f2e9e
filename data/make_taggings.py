"""Write an invented tagged corpus, and what simulated systems make of it.

``python data/make_taggings.py FOLDER`` writes corpus.conllu, context.tsv, memory.tsv,
sampler-1.tsv to sampler-3.tsv, tree.paths and endings.blocks. README.md in this folder says what
they are.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import taggers
from tagged_text import Token, lexicon, sentences

SEED = "pos-induction"
N_SENTENCES = 4_000


def corpus(seed: str, *, n_sentences: int = N_SENTENCES) -> list[list[Token]]:
    """Make the sentences, with the gold class of each token."""
    uniform = taggers.seeded(seed, "text")
    return list(sentences(n_sentences, lexicon(uniform), uniform))


def files(text: taggers.Text, seed: str) -> dict[str, str]:
    """Return the files by name."""
    made = {"corpus.conllu": "".join(_conllu(i, each) for i, each in enumerate(text, start=1))}
    context = taggers.tagging("context", text, taggers.seeded(seed, "context"), parts=3)
    memory = taggers.consistent("memory", text, taggers.seeded(seed, "memory"))
    taggings = {"context": context, "memory": memory}
    for run in range(1, taggers.RUNS + 1):
        uniform = taggers.seeded(seed, f"sampler {run}")
        taggings[f"sampler-{run}"] = taggers.tagging("sampler", text, uniform, parts=1)
    made |= {f"{name}.tsv": _tsv(text, tags) for name, tags in taggings.items()}
    counts = taggers.frequencies(text)
    tree = taggers.paths(text, taggers.seeded(seed, "tree"))
    rows = sorted((path, form) for form, path in tree.items())
    made["tree.paths"] = "".join(f"{path}\t{form}\t{counts[form]}\n" for path, form in rows)
    blocks = taggers.by_ending(text).values()
    made["endings.blocks"] = "\n".join("".join(f"{form}\n" for form in block) for block in blocks)
    return made


def _conllu(number: int, sentence: Sequence[Token]) -> str:
    rows = (
        f"{place}\t{token.form}\t_\t{token.tag}\t_\t_\t_\t_\t_\t_\n"
        for place, token in enumerate(sentence, start=1)
    )
    return f"# sent_id = {number}\n{''.join(rows)}\n"


def _tsv(text: taggers.Text, tags: Sequence[Sequence[str]]) -> str:
    """Return a token a line with its induced tag, a blank line after each sentence."""
    blocks = (
        "".join(f"{token.form}\t{tag}\n" for token, tag in zip(sentence, held, strict=True))
        for sentence, held in zip(text, tags, strict=True)
    )
    return "form\ttag\n" + "\n".join(blocks)


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; made if it is not there")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    text = corpus(SEED)
    for name, content in files(text, SEED).items():
        (folder / name).write_bytes(content.encode())
    tokens = list(chain.from_iterable(text))
    types = len({token.form for token in tokens})
    print(f"{folder}: {len(text):,} sentences, {len(tokens):,} tokens, {types:,} types")


if __name__ == "__main__":
    main()
