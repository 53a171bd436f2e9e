"""The reports of the tests: an experiment of each kind, run once for all tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
import tomli_w
from filelock import FileLock

# An experiment with hostile texts everywhere: words, examples, labels, names, title.

MARKUP = "</script><img/src=x/onerror=alert(1)>"
"""It has no blank, so that it can be a word of any corpus."""
TEXTS = {
    "markup": MARKUP,
    "markup with blanks": "</script></style><img src=x onerror=alert(1)>",
    "quotes": """a"b'c`d&amp;\\u003c${1}{{7*7}}""",
    "right to left": "كتاب עברית",
    "controls of direction": "\u202eabc\u2066def\u2069\u200f",
    "without a place to break": "w" * 300,
    "very long": "long " * 2_000,
}
"""Hostile texts by kind."""
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
    """Return sentences of a noun and a verb, some pairs of them repeated."""
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
    inputs: dict[str, object] = {"ranks": "ranks", "judgements": "judgements", "sample": "sample"}
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
        "precision": ("evaluate.precision", inputs),
        "comparison": ("evaluate.comparison", {**inputs, "cuts": [5]}),
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


ROOT = Path(__file__).parents[2]
KRENN = "collocations/krenn_pp_verb.ds"
WAITS = 3
"""The exit code of a run that waits for people."""


@dataclass(frozen=True)
class Report:
    """How a report is created, and its expected properties."""

    write: Callable[[Path], Path]
    """Writes experiment and data into a folder, and returns the experiment's file."""
    most_pages: int
    """The largest allowed number of printed A4 pages."""
    drawn: bool = True
    """Whether it has figures."""
    settings: tuple[str, ...] = ()
    page: str = "runs/*/report/index.html"
    """The path of the page."""
    then: Callable[[Path, Path], None] | None = None
    """Creates the page after the run, from the folder and the experiment."""


def _starter(family: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        command(folder, "new", family, "experiment")
        return folder / "experiment" / "experiment.toml"

    return write


def _write_annotated(folder: Path) -> Path:
    """Write the experiment on PP-verb pairs, with its corpus, two annotators and examples."""
    generator = [sys.executable, str(ROOT / "data/make_corpus.py"), str(folder / "data/pp-verb")]
    subprocess.run(generator, check=True, capture_output=True)
    (folder / "configs").mkdir()
    return Path(shutil.copy(ROOT / "configs/pp-verb.toml", folder / "configs"))


def _write_designed(folder: Path) -> Path:
    """Write the experiment with a designed sample, and its corpus."""
    _write_annotated(folder)
    return Path(shutil.copy(ROOT / "configs/pp-verb-design.toml", folder / "configs"))


def _swept(folder: Path) -> Path:
    """Write the experiment on collocations with a sweep over two settings."""
    path = _starter("collocations")(folder)
    over = '"stages.sample.rate" = [0.2, 0.6]\n"stages.sample.seed" = ["a", "b", "c"]\n'
    collect = 'collect = ["sampled.cuts", "sampled", "findings"]'
    path.write_text(f"{path.read_text()}\n[sweep]\n{collect}\n[sweep.over]\n{over}")
    return path


def _compare_runs(folder: Path, experiment: Path) -> None:
    """Run an experiment once more, with another sample, and compare both runs."""
    runs = str(folder / "runs")
    other = ("--set", "stages.sample.rate=0.7")
    command(folder, "run", str(experiment), "--runs", runs, "--no-report", *other)
    pair = ("collocations:latest~1", "collocations:latest")
    command(folder, "diff", *pair, "--runs", runs, "--html", str(folder / "runs/compared.html"))


def _krenn(_folder: Path) -> Path:
    return ROOT / "configs" / "krenn.toml"


REPORTS = {
    "collocations": Report(_starter("collocations"), most_pages=12),
    "annotated": Report(_write_annotated, most_pages=14),
    "designed": Report(_write_designed, most_pages=6),
    "clustering": Report(_starter("clustering"), most_pages=14),
    "lexicon": Report(_starter("lexicon"), most_pages=16),
    "waiting": Report(_starter("corpus"), most_pages=6, drawn=False),
    "unjudged": Report(
        _starter("corpus"), most_pages=8, drawn=False, settings=("stages.judgements.partial=true",)
    ),
    "hostile": Report(write, most_pages=20),
    "sweep": Report(_swept, most_pages=6, page="runs/*/sweep/index.html"),
    "compared": Report(
        _starter("collocations"), most_pages=12, page="runs/compared.html", then=_compare_runs
    ),
}

every_report = pytest.mark.parametrize("name", REPORTS)
every_drawn = pytest.mark.parametrize("name", [name for name in REPORTS if REPORTS[name].drawn])
"""By name. Krenn's data are public and may be missing."""
if Path(os.environ.get("LEXASSAY_DATA") or "/", KRENN).is_file():
    REPORTS["krenn"] = Report(_krenn, most_pages=12)


def build_report(name: str, folder: Path) -> Path:
    """Return the page of a report. The first process creates it, and others wait."""
    with FileLock(folder / f"{name}.lock"):
        own = folder / name
        pages = list(own.glob(REPORTS[name].page))
        if not pages:
            shutil.rmtree(own, ignore_errors=True)
            own.mkdir()
            _run(REPORTS[name], own)
            pages = list(own.glob(REPORTS[name].page))
    (page,) = pages
    return page


def _run(report: Report, folder: Path) -> None:
    settings = [word for setting in report.settings for word in ("--set", setting)]
    experiment = report.write(folder)
    command(folder, "run", str(experiment), "--runs", str(folder / "runs"), *settings)
    if report.then:
        report.then(folder, experiment)


def command(folder: Path, *words: str) -> None:
    """Run the command in a folder."""
    result = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", *words],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert result.returncode in {0, WAITS}, result.stdout + result.stderr
