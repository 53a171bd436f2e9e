"""The reports that are opened: an experiment of each kind, made once for all tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from tests.browser import hostile

ROOT = Path(__file__).parents[2]
KRENN = "collocations/krenn_pp_verb.ds"
WAITS = 3
"""The exit code of a run that waits for people."""


@dataclass(frozen=True)
class Report:
    """How a report is made, and what is expected of it."""

    write: Callable[[Path], Path]
    """Writes experiment and data into a folder, and returns the experiment's file."""
    most_pages: int
    """On how many pages of A4 it may print."""
    drawn: bool = True
    """Whether it has figures."""
    settings: tuple[str, ...] = ()
    page: str = "runs/*/report/index.html"
    """Where the page lies."""
    then: Callable[[Path, Path], None] | None = None
    """Makes the page of the experiment that has been run, given the folder and the experiment."""


def _starter(family: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        command(folder, "new", family, "experiment")
        return folder / "experiment" / "experiment.toml"

    return write


def _annotated(folder: Path) -> Path:
    """Write the experiment on PP-verb pairs, with its corpus, two annotators and examples."""
    generator = [sys.executable, str(ROOT / "data/make_corpus.py"), str(folder / "data/pp-verb")]
    subprocess.run(generator, check=True, capture_output=True)
    (folder / "configs").mkdir()
    return Path(shutil.copy(ROOT / "configs/pp-verb.toml", folder / "configs"))


def _designed(folder: Path) -> Path:
    """Write the experiment with a sample designed for its questions, and its corpus."""
    _annotated(folder)
    return Path(shutil.copy(ROOT / "configs/pp-verb-design.toml", folder / "configs"))


def _swept(folder: Path) -> Path:
    """Write the experiment on collocations with a sweep over two settings."""
    path = _starter("collocations")(folder)
    over = '"stages.sample.rate" = [0.2, 0.6]\n"stages.sample.seed" = ["a", "b", "c"]\n'
    collect = 'collect = ["sampled.cuts", "sampled", "findings"]'
    path.write_text(f"{path.read_text()}\n[sweep]\n{collect}\n[sweep.over]\n{over}")
    return path


def _compared(folder: Path, experiment: Path) -> None:
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
    "annotated": Report(_annotated, most_pages=14),
    "designed": Report(_designed, most_pages=6),
    "clustering": Report(_starter("clustering"), most_pages=14),
    "lexicon": Report(_starter("lexicon"), most_pages=16),
    "waiting": Report(_starter("corpus"), most_pages=6, drawn=False),
    "unjudged": Report(
        _starter("corpus"), most_pages=8, drawn=False, settings=("stages.judgements.partial=true",)
    ),
    "hostile": Report(hostile.write, most_pages=20),
    "sweep": Report(_swept, most_pages=6, page="runs/*/sweep/index.html"),
    "compared": Report(
        _starter("collocations"), most_pages=12, page="runs/compared.html", then=_compared
    ),
}
"""By their names. Krenn's data are public, and may not be there."""
if Path(os.environ.get("LEXASSAY_DATA") or "/", KRENN).is_file():
    REPORTS["krenn"] = Report(_krenn, most_pages=22)


def made(name: str, folder: Path) -> Path:
    """Return the page of a report. Who comes first makes it, and others wait."""
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
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", *words],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode in {0, WAITS}, done.stdout + done.stderr
