"""Make the files that configs/e-view.toml reads from the Brown corpus, WordNet and STREUSLE.

    python benchmarks/e_view_data.py --brown brown.zip --data FOLDER [--wordnet /usr/share/wordnet]

brown.zip is the tagged corpus of NLTK's data (packages/corpora/brown.zip), /usr/share/wordnet that
of Debian's package wordnet-base. Writes to the folder of public data: corpora/brown.tsv.gz (form,
lemma by WordNet's rules of detachment, part of speech), lexicon/wordnet_two_words.tsv (lemmas of
two words) and lexicon/streusle_expressions.tsv (the bigrams of collocations/streusle_bigram.tsv.gz
that are multiword expressions).
"""

from __future__ import annotations

import argparse
import gzip
import sys
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import polars as pl

PARTS = {"N": "noun", "V": "verb", "J": "adj", "R": "adv"}
"""First letter of Brown's tags, in upper case, to WordNet's files."""
UPOS = {"noun": "NOUN", "verb": "VERB", "adj": "ADJ", "adv": "ADV"}
DETACHMENT = {
    "noun": (("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"),
             ("shes", "sh"), ("men", "man"), ("ies", "y")),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""),
             ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip
"""Suffixes and their replacements (WordNet, morphy(7WN))."""
VERBS = {"be", "do", "hv", "md"}
"""Tags of Brown that begin with other letters: be, do, have, modals."""


class WordNet(NamedTuple):
    """Lemmas and irregular forms of each part of speech."""

    lemmas: Mapping[str, set[str]]
    exceptions: Mapping[str, Mapping[str, str]]

    @classmethod
    def read(cls, folder: Path) -> WordNet:
        """Read the index and exception files of a folder."""
        lemmas, exceptions = {}, {}
        for part in UPOS:
            lines = (folder / f"index.{part}").read_text(encoding="utf-8").splitlines()
            lemmas[part] = {line.split(" ", 1)[0] for line in lines if line and line[0] != " "}
            rows = (folder / f"{part}.exc").read_text(encoding="utf-8").split("\n")
            exceptions[part] = {row.split()[0]: row.split()[1] for row in rows if row.strip()}
        return cls(lemmas, exceptions)

    def lemma(self, form: str, part: str) -> str:
        """Return the base form of a word; the word in lower case if there is none."""
        word = form.lower()
        if word in self.exceptions[part]:
            return self.exceptions[part][word]
        if word in self.lemmas[part]:
            return word
        for suffix, replacement in DETACHMENT[part]:
            base = word.removesuffix(suffix) + replacement
            if word.endswith(suffix) and base in self.lemmas[part]:
                return base
        return word


def part_of(tag: str) -> str:
    """Return the part of speech of a tag of Brown; "" for other words."""
    base = tag.removeprefix("fw-").split("-")[0].split("+")[0].rstrip("*$")
    if base[:2] in VERBS:
        return "verb"
    if base in {"rb", "rbr", "rbt", "rn", "wrb"}:
        return "adv"
    return PARTS.get(base[:1].upper(), "") if base[:2] in {"nn", "np", "nr", "vb", "jj"} else ""


def rows(archive: Path, wordnet: WordNet) -> Iterator[str]:
    """Yield the lines of a token table."""

    @cache
    def lemma(form: str, part: str) -> str:
        return wordnet.lemma(form, part) if part else form.lower()

    with zipfile.ZipFile(archive) as brown:
        texts = [
            name
            for name in brown.namelist()
            if Path(name).name[:1] == "c" and len(Path(name).name) == 4
        ]
        for name in sorted(texts):
            yield f"# doc {Path(name).name}"
            for line in brown.read(name).decode("utf-8").splitlines():
                tokens = [each.rpartition("/") for each in line.split()]
                for form, _, tag in tokens:
                    part = part_of(tag)
                    yield f"{form}\t{lemma(form, part)}\t{UPOS.get(part, 'X')}"
                if tokens:
                    yield ""


def main() -> int:
    """Write the three files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--brown", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    options = parser.parse_args()
    wordnet = WordNet.read(options.wordnet)
    corpora, lexicon = options.data / "corpora", options.data / "lexicon"
    for folder in (corpora, lexicon):
        folder.mkdir(parents=True, exist_ok=True)
    content = "\n".join(rows(options.brown, wordnet)) + "\n"
    with gzip.GzipFile(corpora / "brown.tsv.gz", "wb", mtime=0) as packed:
        packed.write(content.encode())
    entries = sorted({each for lemmas in wordnet.lemmas.values() for each in lemmas})
    two = [each.split("_") for each in entries if each.count("_") == 1]
    lines = ["l1\tl2", *("\t".join(each) for each in two if all(each))]
    (lexicon / "wordnet_two_words.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    bigrams = pl.read_csv(
        options.data / "collocations" / "streusle_bigram.tsv.gz", separator="\t", quote_char=None
    )
    true = bigrams.filter(pl.col("TP") == 1).select("l1", "l2").sort("l1", "l2")
    true.write_csv(lexicon / "streusle_expressions.tsv", separator="\t")
    print(f"{content.count(chr(10)):,} lines of Brown, {len(two):,} and {true.height:,} entries")
    return 0


if __name__ == "__main__":
    sys.exit(main())
