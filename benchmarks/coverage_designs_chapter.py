"""Write the tables of docs/coverage-designs.md from the results that `coverage_run.py` has kept.

    python benchmarks/coverage_designs_chapter.py [--samples 2000] [--folder runs/coverage]

Every cell goes to docs/coverage-cells.csv.gz.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl
from coverage_parts.keeping import Kept
from coverage_parts.labels_needed import WAYS
from coverage_parts.parts import DEFAULTS, LABELS, PARTS, TITLES
from coverage_parts.reading import verdict
from coverage_parts.results import marked

CHAPTER = Path(__file__).parents[1] / "docs" / "coverage-designs.md"
CELLS = CHAPTER.with_name("coverage-cells.csv.gz")
BEGIN, END = "<!-- tables: made by make coverage -->\n", "<!-- end of tables -->\n"
WORST = 12
WIDTHS = "Widths with predictions, as a share of those without"
SAID = {
    "fisher, simple": "Fisher, simple sample", "fisher, question": "Fisher, drawn in D1 and D2",
    "exact, simple": "exact, simple sample", "exact, question": "exact, drawn in D1 and D2",
    "mover, simple": "MOVER, simple sample", "mover, question": "MOVER, drawn in D1 and D2",
    "mover, question, scores": "the same with predictions",
    "mover, all": "MOVER, design for all questions",
    "mover, all, scores": "the same with predictions",
}  # fmt: skip
COLUMNS = (
    "part", "method", "population", "size", "what", "n", "truth", "samples", "hits", "width",
    "draws",
)  # fmt: skip

Methods = dict[str, pl.DataFrame]


def updated(text: str, made: str) -> str:
    """Return the chapter with other tables.

    Examples
    --------
    >>> updated(f"a{BEGIN}b{END}c", "d").split()
    ['a<!--', 'tables:', 'made', 'by', 'make', 'coverage', '-->', 'd', '<!--', 'end', 'of',
     'tables', '-->', 'c']
    """
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def kept(text: str, made: str) -> str:
    r"""Return new tables with those sections of the chapter that they do not have, in its order.

    Examples
    --------
    >>> kept(f"{BEGIN}### a\n\n1\n\n### b\n\n2\n{END}", "### b\n\n3\n")
    '### a\n\n1\n\n### b\n\n3\n'
    """
    before = text.partition(BEGIN)[2].partition(END)[0]
    old, new = _sections(before), _sections(made)
    heads = [WIDTHS, *(TITLES[part] for part in PARTS)]
    order = sorted({**old, **new}, key=lambda head: _place(head, heads))
    return "\n\n".join(new.get(head, old.get(head, "")) for head in order) + "\n"


def _sections(text: str) -> dict[str, str]:
    parts = [part.strip() for part in f"\n{text}".split("\n### ")[1:]]
    return {part.partition("\n")[0]: f"### {part}" for part in parts}


def _place(head: str, heads: Sequence[str]) -> int:
    """Return where a section stands: labels first, then widths, then parts in their order."""
    return heads.index(head) if head in heads else -1


def tables(folder: Path, *, samples: int) -> tuple[str, pl.DataFrame]:
    """Return the tables of all parts as Markdown, and all cells."""
    found = {
        part: marked(folder, part, samples=samples) for part in PARTS if part != LABELS
    }  # fmt: skip
    sections = [_labels([row for rows in Kept(folder, LABELS).read().values() for row in rows])]
    sections += [_predictions(found["designs"])]
    sections += [_part(part, methods) for part, methods in found.items() if methods]
    cells = [table.select(COLUMNS) for methods in found.values() for table in methods.values()]
    return "\n\n".join(part for part in sections if part) + "\n", pl.concat(cells)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _labels(rows: Sequence[dict[str, object]]) -> str:
    """Return the labels that each comparison needs, a row for each test and design."""
    if not rows:
        return ""
    by = {(row["way"], row["pair"], row["size"]): row for row in rows}
    asked = list(dict.fromkeys((row["pair"], row["size"]) for row in rows))
    parts = ["### Labels that a comparison needs"]
    for goal, said in (("power", "For 80 % power"), ("half_width", "For a half-width of 5 points")):
        lines = [
            [SAID[way], *(_number(by.get((way, *key)), goal) for key in asked)] for way in WAYS
        ]
        head = ["", *(f"{pair}, n = {n:,}" for pair, n in asked)]
        parts += [f"{said}:", table(head, lines)]
    return "\n\n".join(parts)


def _number(row: dict[str, object] | None, goal: str) -> str:
    if row is None:
        return "not simulated"
    return "never" if row[goal] is None else f"{row[goal]:,}"


def _predictions(methods: Methods) -> str:
    """Return the mean width with predictions, as a share of that without."""
    lines = []
    for method, cells in methods.items():
        design, by = method.split(", ")
        plain = methods.get(f"{design}, none")
        if by == "none" or plain is None:
            continue
        keys = ["population", "size", "what", "n"]
        both = cells.join(plain.select(*keys, plain="width"), on=keys).filter(pl.col("plain") > 0)
        share = both.with_columns(share=pl.col("width") / pl.col("plain"))
        many = share.filter(pl.col("draws") >= 30)["share"]
        every = float(share["width"].sum()) / float(share["plain"].sum())
        lines.append(
            [design, by, f"{every:.3f}", *(f"{_of(many, q):.3f}" for q in (0.1, 0.5, 1.0))]
        )
    if not lines:
        return ""
    head = (
        "sample", "predictions by", "all widths together", "best tenth of cells with 30 draws",
        "median", "worst",
    )  # fmt: skip
    return f"### {WIDTHS}\n\n{table(head, lines)}"


def _of(values: pl.Series, quantile: float) -> float:
    return float(values.quantile(quantile) or float("nan"))


def _part(part: str, methods: Methods) -> str:
    """Return the verdicts of a part, and the worst cells of each method, folded."""
    test = "test" in part
    lines = [_verdict(part, method, verdict(cells)) for method, cells in methods.items()]
    head = (
        "method", "cells", "mean %", "mean % from 30 draws on", "worst %", "at",
        "too high" if test else "too low", "too cautious", "mean width", "verdict",
    )  # fmt: skip
    worst = [
        [
            f"`{method}`", f"{100 * row['share']:.2f}", row["population"], f"{row['size']:,}",
            row["what"], f"{row['n']:,}", f"{row['draws']:.1f}", f"{row['width']:.3f}",
            f"{row['samples']:,}",
        ]
        for method, cells in methods.items()
        for row in cells.filter("judged").head(WORST).iter_rows(named=True)
    ]  # fmt: skip
    own = "method", "%", "candidates", "labels", "of", "n", "draws", "mean width", "samples"
    return (
        f"### {TITLES[part]}\n\n{table(head, lines)}\n\n<details><summary>The {WORST} worst cells "
        f"of each method</summary>\n\n{table(own, worst)}\n\n</details>"
    )


def _verdict(part: str, method: str, said: dict[str, object]) -> list[str]:
    name = f"`{method}`{' (default)' if (part, method) in DEFAULTS else ''}"
    shares = (said[key] for key in ("mean", "mean of many", "worst"))
    mean, many, worst = (f"{100 * float(str(each)):.1f}" if each else "" for each in shares)
    return [
        name, f"{said['cells']:,}", mean, many, worst, str(said["at"]),
        str(said["low"]), f"{said['cautious']} of {said['many']}", f"{said['width']:.3f}",
        str(said["verdict"]),
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the chapter and the cells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=Path("runs") / "coverage")
    parser.add_argument(
        "--keep", action="store_true", help="parts without results here stay as they are"
    )
    given = parser.parse_args(arguments)
    made, cells = tables(given.folder, samples=given.samples)
    text = CHAPTER.read_text(encoding="utf-8")
    if given.keep:
        before = pl.read_csv(gzip.decompress(CELLS.read_bytes()), schema=cells.schema)
        cells = pl.concat([cells, before.join(cells, on="part", how="anti")])
        made = kept(text, made)
    CHAPTER.write_text(updated(text, made), encoding="utf-8")
    CELLS.write_bytes(gzip.compress(cells.write_csv().encode(), mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
