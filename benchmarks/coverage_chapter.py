"""The tables of docs/coverage.md, from the cells of the simulation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from pipeline.kernels.nbest.sample_size import expected_width
from pipeline.kernels.sampling import sample_size

CHAPTER = Path(__file__).parents[1] / "docs" / "coverage.md"
BEGIN, END = "<!-- tables: made by make coverage -->\n", "<!-- end of tables -->\n"
SHOWN = ("t_score", "log_likelihood", "dice")
CUTS = (100, 500, 1000, 2000)
LEVEL = 0.95


def updated(text: str, found: pl.DataFrame, *, candidates: int) -> str:
    """Return the chapter with the tables of this simulation.

    Parameters
    ----------
    text : str
        The chapter.
    found : DataFrame
        The cells, see `coverage.coverage`.
    candidates : int
        Candidates in the data set.
    """
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(found, candidates)}\n{END}{after}"


def tables(found: pl.DataFrame, candidates: int) -> str:
    """Return the summary, the check against exact values, and the cells at a few n."""
    said = (
        f"{found['samples'][0]:,} samples for each rate; the standard error of a simulated "
        f"coverage of 95 % is\n{100 * _error(found):.2f} points."
    )
    parts = [said, "### All lists", _summary(found), "### Against exact values"]
    parts.append(_exact(found, candidates))
    for replacement, head in ((False, "without"), (True, "with")):
        cells = found.filter(pl.col("measure").is_in(SHOWN), pl.col("n").is_in(CUTS))
        parts += [f"### Samples {head} replacement", _cells(cells.filter(replacement=replacement))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _error(found: pl.DataFrame) -> float:
    samples: int = found["samples"][0]
    return float((LEVEL * (1 - LEVEL) / samples) ** 0.5)


def _table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _summary(found: pl.DataFrame) -> str:
    low = pl.col("coverage") < LEVEL - 3 * _error(found)
    groups = found.group_by("replacement", "rate", "method", maintain_order=True).agg(
        pl.mean("coverage").alias("mean"), pl.min("coverage").alias("least"),
        low.mean().alias("low"), pl.mean("width"),
        pl.col("measure", "n").sort_by("coverage", "measure", "n").first(),
    )  # fmt: skip
    rows = (
        (
            "with" if row["replacement"] else "without", f"{100 * row['rate']:g} %",
            f"`{row['method']}`", f"{100 * row['mean']:.1f}", f"{100 * row['least']:.1f}",
            f"{row['measure']}, {row['n']:,}", f"{100 * row['low']:.0f} %",
            f"{100 * row['width']:.1f}",
        )
        for row in groups.iter_rows(named=True)
    )  # fmt: skip
    head = (
        "replacement", "rate", "interval", "mean coverage %", "lowest", "at", "lists below 95 %",
        "mean width",
    )  # fmt: skip
    return _table(head, rows)


def _exact(found: pl.DataFrame, candidates: int) -> str:
    """Say how the simulated coverage agrees with the exact one, computed for each cell shown."""
    cells = found.filter(pl.col("measure").is_in(SHOWN), pl.col("n").is_in(CUTS))
    exact, width = zip(
        *(_expected(row, candidates) for row in cells.iter_rows(named=True)), strict=True
    )
    compared = cells.with_columns(
        exact=pl.Series(exact), exact_width=pl.Series(width)
    ).with_columns(
        z=(pl.col("coverage") - pl.col("exact"))
        / (pl.col("exact") * (1 - pl.col("exact")) / pl.col("samples")).sqrt()
    )
    within = compared.select((pl.col("z").abs() <= 2).mean()).item()
    farthest = compared.select(pl.col("z").abs().max()).item()
    apart = compared.select((pl.col("width") - pl.col("exact_width")).abs().max()).item()
    said = (
        f"For the {cells.height} cells below the coverage was also computed exactly, by adding up "
        "the\nprobabilities of all outcomes of a sample. "
        f"{100 * within:.0f} % of the simulated values lie within two standard\nerrors of the "
        f"exact ones (some 95 % should), the farthest is {farthest:.1f} away, and no mean width "
        f"differs by\nmore than {100 * apart:.2f} points. The exact values, over these cells:"
    )
    return f"{said}\n\n{_lowest(compared)}"


def _lowest(compared: pl.DataFrame) -> str:
    groups = compared.group_by("replacement", "method", maintain_order=True).agg(
        pl.min("exact").alias("least"), pl.mean("exact").alias("mean"),
        (pl.col("exact") < LEVEL).sum().alias("low"), pl.len().alias("cells"),
        pl.col("rate", "measure", "n").sort_by("exact", "rate", "measure", "n").first(),
    )  # fmt: skip
    rows = (
        (
            "with" if row["replacement"] else "without", f"`{row['method']}`",
            f"{100 * row['mean']:.2f}", f"{100 * row['least']:.2f}",
            f"{100 * row['rate']:g} %, {row['measure']}, {row['n']:,}",
            f"{row['low']} of {row['cells']}",
        )
        for row in groups.iter_rows(named=True)
    )  # fmt: skip
    head = ("replacement", "interval", "mean %", "lowest %", "at", "below 95 %")
    return _table(head, rows)


def _expected(row: dict[str, object], candidates: int) -> tuple[float, float]:
    size = sample_size(candidates, rate=float(str(row["rate"])))
    found = expected_width(
        n=int(str(row["n"])), candidates=candidates, size=size, precision=float(str(row["truth"])),
        method=str(row["method"]), replacement=bool(row["replacement"]),
    )  # fmt: skip
    return found["coverage"], found["width"]


def _cells(cells: pl.DataFrame) -> str:
    methods = cells["method"].unique(maintain_order=True).to_list()
    said = cells.with_columns(
        said=pl.format(
            "{} ({})", *((100 * pl.col(name)).round(1) for name in ("coverage", "width"))
        )
    )
    wide = said.pivot("method", index=["rate", "measure", "n", "truth"], values="said")
    ordered = wide.sort(
        "rate", pl.col("measure").replace_strict({m: i for i, m in enumerate(SHOWN)}), "n"
    )
    rows = (
        (
            f"{100 * row['rate']:g} %", row["measure"], f"{row['n']:,}",
            f"{100 * row['truth']:.1f} %", *(row[name] for name in methods),
        )
        for row in ordered.iter_rows(named=True)
    )  # fmt: skip
    return _table(("rate", "measure", "n", "true precision", *(f"`{m}`" for m in methods)), rows)
