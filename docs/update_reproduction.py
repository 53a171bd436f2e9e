"""Write the tables and pictures of docs/reproduction.md: configs/krenn.toml on Krenn's candidates.

LEXASSAY_DATA=DIR python docs/update_reproduction.py
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

import pipeline as lx

HERE = Path(__file__).parent
CHAPTER, CONFIG = HERE / "reproduction.md", HERE.parent / "configs" / "krenn.toml"
BEGIN, END = "<!-- {}: made by docs/update_reproduction.py -->\n", "<!-- end of {} -->\n"
CUTS = (100, 500, 1000, 2000)
PICTURES = {
    "figure-1": "full-figure-1",
    "figure-2": "sampled-figure-2",
    "figure-3": "sampled-figure-3-t_score",
    "figure-4": "full-figure-4-full",
    "figure-4-sampled": "sampled-figure-4-sampled",
    "matrix": "full_comparison-matrix",
}
"""Picture of the chapter to the figure of the report."""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def precisions(run: lx.Run) -> str:
    """Return the true n-best precision of every measure."""
    cuts = run.table("full.cuts").sort("n", "precision", descending=[False, True])
    rows = [
        [f"`{measure}`", *(f"{100 * _at(cuts, measure, n)['precision']:.2f}" for n in CUTS)]
        for measure in cuts["measure"].unique(maintain_order=True)
    ]
    return table(["measure", *(f"n = {n:,}" for n in CUTS)], rows)


def estimates(run: lx.Run) -> str:
    """Return what the sample makes of t-score, beside the truth."""
    full, sampled = run.table("full.cuts"), run.table("sampled.cuts")
    rows = []
    for n in CUTS:
        true, estimate = _at(full, "t_score", n), _at(sampled, "t_score", n)
        limits = f"{100 * estimate['lower']:.1f} to {100 * estimate['upper']:.1f}"
        rows.append([
            f"{n:,}", f"{estimate['k_sampled']} of {estimate['n_sampled']}",
            f"{100 * estimate['precision']:.1f}", limits, f"{100 * true['precision']:.1f}",
        ])  # fmt: skip
    return table(["n", "true, judged", "estimate", "95 % limits", "truth"], rows)


def differences(run: lx.Run) -> str:
    """Return the tests of t-score against log-likelihood, on all candidates."""
    tests = run.table("full_comparison.cuts").filter(
        measure_1="log_likelihood", measure_2="t_score"
    )
    rows = [
        [
            f"{row['n']:,}", f"{row['size']}", f"{-100 * row['difference']:+.1f}",
            f"{row['p_value']:.4f}", f"{row['p_adjusted']:.3f}",
        ]
        for row in tests.sort("n").iter_rows(named=True)
    ]  # fmt: skip
    return table(["n", "only in one list", "difference, points", "p", "p, Holm"], rows)


def _at(cuts: pl.DataFrame, measure: str, n: int) -> dict[str, float]:
    return cuts.row(by_predicate=(pl.col("measure") == measure) & (pl.col("n") == n), named=True)


TABLES = {
    "precisions": precisions,
    "estimates": estimates,
    "differences": differences,
}


def update_chapter(text: str, run: lx.Run) -> str:
    """Return the chapter with its tables made anew."""
    for name, make in TABLES.items():
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{make(run)}\n\n{end}{after}"
    return text


def main() -> None:
    """Run the experiment, then write."""
    with tempfile.TemporaryDirectory() as folder:
        run = lx.run(CONFIG, runs=folder)
        CHAPTER.write_text(update_chapter(CHAPTER.read_text(), run))
        figures = Path(folder) / "krenn" / "report" / "figures"
        for name, figure in PICTURES.items():
            shutil.copy(figures / f"{figure}.svg", HERE / "reproduction" / f"{name}.svg")


if __name__ == "__main__":
    main()
