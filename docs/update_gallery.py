"""Draw the pictures of docs/gallery and of the first page: figures of reports of experiments.

LEXASSAY_DATA=DIR python docs/update_gallery.py
"""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pipeline as lx
from pipeline.cli.main import main as lexassay

HERE = Path(__file__).parent
ROOT, GALLERY = HERE.parent, HERE / "gallery"
PICTURES = {
    "bands": ("configs/demo.toml", "sampled-precision"),
    "matrix": ("configs/pp-verb.toml", "sampled_comparison-matrix"),
    "difference": ("configs/krenn.toml", "sampled_comparison-difference"),
    "local": ("configs/krenn.toml", "full-local"),
    "recall": ("configs/krenn.toml", "sampled-recall"),
    "filter": ("configs/krenn.toml", "filter-subset"),
    "other-task": ("configs/streusle.toml", "full-precision"),
    "keywords": ("configs/keywords.toml", "full-precision"),
    "agreement": ("docs/gallery/agreement.toml", "agreement-agreement"),
    "mapping": ("configs/pos-induction.toml", "types-mapping-context"),
    "measures": ("configs/pos-induction.toml", "systems-spearman"),
    "systems": ("configs/ewt-pos-induction.toml", "systems-scatter"),
    "lexicons": ("configs/lexicon.toml", "comparison-lexicons"),
    "lemmas": ("configs/maltese-lexicon.toml", "unimorph_by_gf-scatter"),
}
"""Picture of the gallery to the experiment and the figure of its report."""
FIRST = ("configs/pp-verb.toml", "sampled-precision")
"""Likewise, of the first page."""
MADE = {"make_corpus": "pp-verb", "make_taggings": "pos-induction", "make_keywords": "keywords"}
"""Scripts of the folder data, and the folders in it that they write."""
PLANNING = "size --candidates 5102 --precision 0.3 --width 15%,20% --chart planning.svg"
"""The command that draws the picture that no experiment has."""


def experiments() -> list[str]:
    """Return the experiments of the gallery, each once."""
    return list(dict.fromkeys(config for config, _ in PICTURES.values()))


def copy_experiments(folder: Path) -> None:
    """Copy experiments and data to a folder, and make there what is not kept."""
    for name in ("configs", "data"):
        ignored = shutil.ignore_patterns("sheets", "__pycache__", *MADE.values())
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    (folder / "docs" / "gallery").mkdir(parents=True)
    for file in GALLERY.glob("*.toml"):
        shutil.copy(file, folder / "docs" / "gallery")
    for script, name in MADE.items():
        command = [sys.executable, f"data/{script}.py", f"data/{name}"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def draw(folder: Path) -> None:
    """Run the experiments in a folder and take the pictures from their reports."""
    for config in experiments():
        run = lx.run(folder / config, runs=folder / "runs")
        figures = folder / "runs" / run.project.experiment.name / "report" / "figures"
        for name, (of, figure) in {**PICTURES, "../precision": FIRST}.items():
            if of == config:
                shutil.copy(figures / f"{figure}.svg", GALLERY / f"{name}.svg")


def plan(folder: Path) -> None:
    """Draw the picture of planning, by the command that the page shows."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        if lexassay(PLANNING.split()):
            raise SystemExit(f"lexassay {PLANNING} failed")
    shutil.copy(folder / "planning.svg", GALLERY)


def main() -> None:
    """Draw all pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_experiments(folder)
        plan(folder)
        draw(folder)


if __name__ == "__main__":
    main()
