"""Write an invented tagged corpus, and what simulated systems make of it.

``python data/make_taggings.py FOLDER`` writes corpus.conllu, context.tsv, memory.tsv,
sampler-1.tsv to sampler-3.tsv, tree.paths and endings.blocks; ``--starter`` the small files of
``lexassay new clustering``. README.md in this folder says what they are.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import taggers
from tagged_text import Token, lexicon, sentences

SEED = "pos-induction"
N_SENTENCES, N_STARTER = 4_000, 60
STARTER = Path(__file__).parents[1] / "pipeline" / "cli" / "starters" / "clustering"


def corpus(seed: str, *, n_sentences: int = N_SENTENCES) -> list[list[Token]]:
    """Make the sentences, with the gold class of each token."""
    uniform = taggers.random_source(seed, "text")
    return list(sentences(n_sentences, lexicon(uniform), uniform))


def files(text: taggers.Text, seed: str) -> dict[str, str]:
    """Return the files by name."""
    contents = {"corpus.conllu": "".join(_conllu(i, each) for i, each in enumerate(text, start=1))}
    context = taggers.tagging("context", text, taggers.random_source(seed, "context"), parts=3)
    memory = taggers.consistent("memory", text, taggers.random_source(seed, "memory"))
    taggings = {"context": context, "memory": memory}
    for run in range(1, taggers.RUNS + 1):
        uniform = taggers.random_source(seed, f"sampler {run}")
        taggings[f"sampler-{run}"] = taggers.tagging("sampler", text, uniform, parts=1)
    contents |= {f"{name}.tsv": _tsv(text, tags) for name, tags in taggings.items()}
    counts = taggers.frequencies(text)
    tree = taggers.paths(text, taggers.random_source(seed, "tree"))
    rows = sorted((path, form) for form, path in tree.items())
    contents["tree.paths"] = "".join(f"{path}\t{form}\t{counts[form]}\n" for path, form in rows)
    blocks = taggers.by_ending(text).values()
    contents["endings.blocks"] = "\n".join(
        "".join(f"{form}\n" for form in block) for block in blocks
    )
    return contents


def starter_files(seed: str) -> dict[str, str]:
    """Return the files of the starter experiment by name: few sentences, three kinds of input."""
    text = corpus(seed, n_sentences=N_STARTER)
    contents = files(text, seed)
    runs = [[line.partition("\t")[2] for line in contents[f"sampler-{run}.tsv"].split("\n")]
            for run in (1, 2)]  # fmt: skip
    tags = ["upos", *(tag for each in text for tag in [*(token.tag for token in each), ""])]
    forms = [line.partition("\t")[0] for line in contents["sampler-1.tsv"].split("\n")]
    rows = zip(forms, tags, *runs, strict=True)
    both = "\n".join("\t".join(row) if row[0] else "" for row in rows)
    counts = Counter(token for sentence in text for token in sentence)
    listed = "".join(f"{form}\t{tag}\t{f}\n" for (form, tag), f in sorted(counts.items()))
    return {
        "corpus.conllu": contents["corpus.conllu"],
        "context.tsv": contents["context.tsv"],
        "sampler.tsv": both.replace("upos\ttag\ttag", "upos\trun1\trun2", 1),
        "tree.paths": contents["tree.paths"],
        "tags.tsv": "item\tgold\tf\n" + listed,
    }


def _conllu(number: int, sentence: Sequence[Token]) -> str:
    rows = (
        f"{place}\t{token.form}\t_\t{token.tag}\t_\t_\t_\t_\t_\t_\n"
        for place, token in enumerate(sentence, start=1)
    )
    return f"# sent_id = {number}\n{''.join(rows)}\n"


def _tsv(text: taggers.Text, tags: Sequence[Sequence[str]]) -> str:
    """Return a token a line with its induced tag, a blank line after each sentence."""
    blocks = (
        "".join(f"{token.form}\t{tag}\n" for token, tag in zip(sentence, own, strict=True))
        for sentence, own in zip(text, tags, strict=True)
    )
    return "form\ttag\n" + "\n".join(blocks)


def _write(folder: Path, contents: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content.encode())


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("folder", type=Path, nargs="?", help="where to write; made if not there")
    what.add_argument("--starter", action="store_true", help="write the starter's files")
    options = parser.parse_args()
    if options.starter:
        _write(STARTER, starter_files(SEED))
        return
    folder, text = options.folder, corpus(SEED)
    _write(folder, files(text, SEED))
    tokens = list(chain.from_iterable(text))
    types = len({token.form for token in tokens})
    print(f"{folder}: {len(text):,} sentences, {len(tokens):,} tokens, {types:,} types")


if __name__ == "__main__":
    main()
