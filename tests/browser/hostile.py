"""An experiment whose every text is hostile: words, examples, labels, names, title."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import tomli_w

MARKUP = "</script><img/src=x/onerror=alert(1)>"
"""It needs no blank, so that it can be a word of any corpus."""
TEXTS = {
    "markup": MARKUP,
    "markup with blanks": "</script></style><img src=x onerror=alert(1)>",
    "quotes": """a"b'c`d&amp;\\u003c${1}{{7*7}}""",
    "right to left": "كتاب עברית",
    "controls of direction": "\u202eabc\u2066def\u2069\u200f",
    "without a place to break": "w" * 300,
    "very long": "long " * 2_000,
}
"""Texts by what is hostile about them."""
WORDS = [text.strip().replace(" ", "\u00a0") for text in TEXTS.values()]
CLASSES = ["NOUN", MARKUP]


def write(folder: Path) -> Path:
    """Write the experiment and its data; return its file."""
    (folder / "corpus.conllu").write_text(_corpus(), encoding="utf-8")
    pairs = [*product(WORDS, WORDS[:3])]
    labels = [f"{noun}\t{verb}\t{CLASSES[len(noun) % 2]}\n" for noun, verb in pairs]
    (folder / "labels.tsv").write_text("l1\tl2\tlabel\n" + "".join(labels), encoding="utf-8")
    gold = "".join(f"{word}\t{word}{form}\tN\n" for word in WORDS for form in ("", "s", "t"))
    (folder / "gold.unimorph").write_text(gold, encoding="utf-8")
    (folder / "other.unimorph").write_text(gold.replace("s\tN", "z\tN"), encoding="utf-8")
    clusters = "".join(f"{word}\t{number % 3}{MARKUP}\n" for number, word in enumerate(WORDS))
    (folder / "clusters.tsv").write_text("item\tcluster\n" + clusters, encoding="utf-8")
    path = folder / "experiment.toml"
    path.write_text(tomli_w.dumps(_experiment()), encoding="utf-8")
    return path


def _corpus() -> str:
    """Return sentences of a noun and a verb, of each two words, some often."""
    return "".join(
        f"1\t{noun}\t{noun}\tNOUN\t{CLASSES[place % 2]}\t_\t2\tnsubj\t_\t_\n"
        f"2\t{verb}\t{verb}\tVERB\tVERB\t_\t0\troot\t_\t_\n\n"
        for place, noun in enumerate(WORDS)
        for verb in WORDS[:3] * (place + 1)
    )


def _experiment() -> dict[str, object]:
    stages = _collocations() | _lexicon() | _clusters()
    return {
        "name": "hostile",
        "title": TEXTS["markup with blanks"],
        "description": "\n".join(TEXTS.values()),
        "stages": {name: {"use": use, **options} for name, (use, options) in stages.items()},
    }


Stages = dict[str, tuple[str, dict[str, object]]]


def _collocations() -> Stages:
    given: dict[str, object] = {"ranks": "ranks", "judgements": "judgements", "sample": "sample"}
    return {
        "candidates": ("extract.pairs", {
            "corpus": "corpus.conllu", "examples": 2,
            "left": {"where": "upos = 'NOUN'", "label": "{lemma}"},
            "right": {"where": "upos = 'VERB'", "label": "{lemma}"},
        }),
        "scores": ("score.association", {"candidates": "candidates", "measures": ["mi", "t_score"]}),
        "ranks": ("score.rank", {"scores": "scores"}),
        "sample": ("sample.random", {"candidates": "candidates", "rate": 0.8}),
        "sheet": ("sheet.annotation", {
            "candidates": "candidates", "sample": "sample", "examples": "candidates.examples",
            "folder": "hostile", "labels": CLASSES, "annotators": ["anna", MARKUP.replace("/", "")],
            "overlap": 0.5, "instructions": MARKUP,
        }),
        "annotator": ("sheet.simulated", {"sheet": "sheet", "path": "labels.tsv"}),
        "judgements": ("join.sheets", {
            "sheet": "sheet", "labels": "sheet.labels", "entries": "annotator",
            "categories": {"TP": [MARKUP]},
        }),
        "precision": ("evaluate.precision", given),
        "comparison": ("evaluate.comparison", {**given, "cuts": [5]}),
    }  # fmt: skip


def _lexicon() -> Stages:
    return {
        "gold": ("extract.lexicon", {"path": "gold.unimorph"}),
        "other": ("extract.lexicon", {"path": "other.unimorph"}),
        "overlaps": ("score.lexicon", {"gold": "gold", "lexicon": "other"}),
        "quality": (
            "evaluate.lexicon",
            {"gold": "gold", "lexicon": "other", "overlaps": "overlaps"},
        ),
    }


def _clusters() -> Stages:
    return {
        "classes": ("extract.gold", {"corpus": "corpus.conllu", "tag": "xpos"}),
        "clusters": ("extract.clusters", {"path": "clusters.tsv", "system": MARKUP}),
        "types": ("evaluate.type_level", {"gold": "classes", "systems": ["clusters"]}),
        "tokens": ("evaluate.token_level", {"gold": "classes", "dictionaries": ["clusters"]}),
        "systems": ("evaluate.systems", {"type_level": "types", "token_level": "tokens"}),
    }
