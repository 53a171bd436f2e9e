"""Write the cells, the chart and the table of docs/coverage.md, from what `coverage_run.py` found.

    python benchmarks/coverage_chapter.py [--samples 2000] [--folder runs/coverage]

Cells of tasks that the folder does not have stay as they are in docs/coverage-cells.csv.gz; those
of methods that are not simulated any more go.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from coverage_parts.cells import Task
from coverage_parts.keeping import PartFile
from coverage_parts.parts import DEFAULTS, LABELS, PARTS, few
from coverage_parts.reading import LEAST, SIZE, read, verdict
from coverage_parts.results import read_results

from pipeline.report.page.images import chart_bytes

DOCS = Path(__file__).parents[1] / "docs"
CHAPTER, LABELS_CHAPTER = DOCS / "coverage.md", DOCS / "fewest-labels.md"
CELLS, CHART = DOCS / "coverage-cells.csv.gz", DOCS / "coverage.svg"
BEGIN, END = "<!-- {}: made by make coverage -->\n", "<!-- end of {} -->\n"
COLUMNS = pl.Schema({
    "part": pl.String, "method": pl.String, "population": pl.String, "size": pl.Int64,
    "what": pl.String, "n": pl.Int64, "truth": pl.Float64, "samples": pl.Int64, "hits": pl.Int64,
    "width": pl.Float64, "draws": pl.Float64,
})  # fmt: skip
HEAD = ("what has to hold", "cells", "mean %", "of 30 draws or more", "worst cell %", "verdict")
TESTS = ("tests", "design_tests")
"""Parts whose cells are tests: their share is that of wrong rejections."""
WAYS = {
    "mover, simple": "simple sample",
    "mover, strata": "strata",
    "mover, question": "D1 and D2",
    "mover, question, scores": "with scores",
    "mover, several": "37 questions",
    "mover, all": "106 questions",
    "mover, all, scores": "with scores",
    "fisher, simple": "Fisher, simple",
    "fisher, question": "Fisher, D1 and D2",
}
BIN = 0.002
"""Width of a mark in the chart, as a share."""
ROW = 13
"""Height of a row in the chart; pixels."""

Methods = dict[tuple[str, str], pl.DataFrame]
"""Part and method to its cells, as `read` marked them."""


class Line(NamedTuple):
    """A row of the table.

    Parameters
    ----------
    part : str
        The part.
    pattern : str
        Regular expression for the names of its methods.
    title : str
        What has to hold.
    """

    part: str
    pattern: str
    title: str


LINES = (
    *(
        Line("simple", name, f"precision, `{name}`")
        for name in (
            "clopper_pearson", "hypergeometric", "hypergeometric_shortest", "wilson",
            "wilson_corrected", "jeffreys", "confidence_sequence",
        )
    ),
    Line("simple", ".* with replacement", "precision, drawn with replacement, four intervals"),
    Line("simple", "mover .*", "difference by MOVER, seven intervals"),
    Line("strata", ".*", "precision and difference, `evaluate.designed`, strata"),
    Line("designs", "simple, .*", "precision and difference, `evaluate.designed`, simple sample"),
    Line("designs", "designed, .*", "precision and difference, `evaluate.designed`, design"),
    Line("designs", "later, .*", "questions asked later, design for lists of 100"),
    Line("phases", ".*", "precision and difference, two phases, 300 + 100 labels"),
    Line("bands", ".*", "limits at all n at once, seven bands"),
    Line("looks", "obrien_fleming, .*", "limits at four looks, `obrien_fleming`"),
    Line("looks", "pocock, .*", "limits at four looks, `pocock`"),
    Line("looks", "confidence_sequence", "limits after each label, `confidence_sequence`"),
    Line("average", ".*", "average precision, simple sample and design"),
    Line("lexicons", ".*", "L\\* and difference of L\\*, lemmas drawn by size"),
    Line("tests", ".*, candidates to come", "*test* of a population, four tests"),
    Line("tests", ".*, these candidates", "*test* of these candidates, six tests"),
    Line("design_tests", ".*", "*test* of these candidates, `evaluate.designed`"),
)  # fmt: skip


def by_method(cells: pl.DataFrame) -> Methods:
    """Return the cells of each method, read, in the order of the parts."""
    kind = pl.when(pl.col("part").is_in(TESTS)).then(pl.lit("test")).otherwise(pl.lit("coverage"))
    groups = cells.with_columns(kind=kind).group_by("part", "method", maintain_order=True)
    methods = {
        (str(part), str(method)): read(own, few=few(str(method))) for (part, method), own in groups
    }
    order = list(PARTS)
    return dict(sorted(methods.items(), key=lambda item: order.index(item[0][0])))


def summary(methods: Methods) -> str:
    """Return the table: a row for each kind of methods."""
    verdicts = {key: verdict(cells) for key, cells in methods.items()}
    rows = []
    for line in LINES:
        own = {
            method: each
            for (part, method), each in verdicts.items()
            if part == line.part and re.fullmatch(line.pattern, method)
        }
        if own:
            rows.append(_row(line, own))
    return table(HEAD, rows)


def _row(line: Line, own: Mapping[str, Mapping[str, Any]]) -> list[str]:
    limits = [] if line.part in TESTS else list(own.values())
    worst = [100 * each["worst"] for each in own.values() if each["worst"] is not None]
    default = " (default)" if (line.part, line.pattern) in DEFAULTS else ""
    return [
        f"{line.title}{default}", f"{sum(each['cells'] for each in own.values()):,}",
        _range_text([each["mean"] for each in own.values()]),
        _range_text([each["mean of many"] for each in limits if each["many"]]),
        f"{(max if line.part in TESTS else min)(worst):.1f}", _verdict_text(own),
    ]  # fmt: skip


def _range_text(shares: Sequence[float]) -> str:
    """Return the smallest and the largest share in per cent; nothing if there is none."""
    texts = [f"{100 * share:.1f}" for share in sorted(shares)]
    return " to ".join(dict.fromkeys([*texts[:1], *texts[-1:]]))


def _verdict_text(own: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the verdict, with the names of methods that fail and how many are cautious."""
    verdicts = [each["verdict"] for each in own.values()]
    if len(own) == 1:
        return str(verdicts[0])
    failing = [method for method, each in own.items() if each["verdict"] == "fails"]
    parts = [f"fails: {'; '.join(failing)}"] if failing else []
    if cautious := verdicts.count("cautious"):
        parts.append("all cautious" if cautious == len(own) else f"{cautious} cautious")
    return ". ".join(parts) if parts else "all hold"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def chart(methods: Methods) -> dict[str, Any]:
    """Return the chart of all cells, a row for each method, that with the worst cell first."""
    coverage = {key: cells for key, cells in methods.items() if key[0] not in TESTS}
    tests = {key: cells for key, cells in methods.items() if key[0] in TESTS}
    panels = [
        _panel(coverage, "% of samples in which the limits contain the true value", (LEAST, 0.95)),
        _panel(tests, "% of samples in which a true null hypothesis is rejected", (0.05, SIZE)),
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white", "padding": {"left": 70, "top": 8, "right": 8, "bottom": 8},
        "vconcat": panels, "spacing": 24,
        "config": {
            "font": "Arial, 'Liberation Sans', Helvetica, sans-serif", "view": {"stroke": None},
            "axis": {"labelFontSize": 10, "titleFontSize": 11, "labelLimit": 400, "grid": False},
        },
    }  # fmt: skip


def _panel(methods: Methods, title: str, rules: Sequence[float]) -> dict[str, Any]:
    judged = {key: cells.filter("judged") for key, cells in methods.items()}
    ordered = sorted(judged.items(), key=lambda item: _worst(item[1]))
    names = {key: f"{key[0]}: {key[1]}" for key, _ in ordered}
    marks = [
        {"method": names[key], "at": 100 * (at - 0.5) * BIN, "end": 100 * (at + 0.5) * BIN,
         "cells": count}
        for key, cells in ordered
        for at, count in (cells["share"] / BIN).round().value_counts(sort=True).iter_rows()
    ]  # fmt: skip
    means = [
        {"method": names[key], "at": round(100 * float(cells["share"].mean() or 0), 3)}  # type: ignore[arg-type]
        for key, cells in ordered
    ]
    y = {
        "field": "method", "type": "nominal", "sort": list(names.values()), "title": None,
        "axis": {"ticks": False, "domain": False},
    }  # fmt: skip
    x = {
        "field": "at", "type": "quantitative", "title": title,
        "scale": {"zero": False, "nice": False, "padding": 6},
    }  # fmt: skip
    opacity = {
        "field": "cells", "type": "quantitative", "legend": None,
        "scale": {"type": "log", "range": [0.2, 1]},
    }  # fmt: skip
    return {
        "width": 430, "height": {"step": ROW},
        "layer": [
            {
                "data": {"values": marks},
                "mark": {"type": "rect", "color": "#0072b2", "aria": False},
                "encoding": {"x": x, "x2": {"field": "end"}, "y": y, "opacity": opacity},
            },
            {
                "data": {"values": [{"at": 100 * rule} for rule in rules]},
                "mark": {"type": "rule", "color": "#d55e00", "strokeWidth": 1, "aria": False},
                "encoding": {"x": {"field": "at", "type": "quantitative"}},
            },
            {
                "data": {"values": means},
                "mark": {"type": "point", "filled": True, "size": 18, "color": "black",
                         "opacity": 1, "aria": False},
                "encoding": {"x": x, "y": y},
            },
        ],
    }  # fmt: skip


def _worst(cells: pl.DataFrame) -> float:
    """Return the share of the worst cell: the smaller, the earlier in the chart."""
    share: float = cells["share"][0]
    return -share if cells["kind"][0] == "test" else share


def labels(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the labels that give each comparison a power of 80 %, a row for each."""
    by = {(row["way"], row["pair"], row["size"]): row for row in rows}
    questions = dict.fromkeys((row["pair"], row["size"]) for row in rows)
    lines = [[f"{pair}, n = {n:,}", *(_number(by.get((way, pair, n))) for way in WAYS)]
             for pair, n in questions]  # fmt: skip
    return table(["difference", *WAYS.values()], lines)


def _number(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "not simulated"
    return "none" if row["power"] is None else f"{row['power']:,}"


def update_chapter(text: str, name: str, block: str) -> str:
    """Return a chapter with one block made anew.

    Examples
    --------
    >>> update_chapter(f"a{BEGIN.format('x')}b{END.format('x')}c", "x", "d").split()
    ['a<!--', 'x:', 'made', 'by', 'make', 'coverage', '-->', 'd', '<!--', 'end', 'of', 'x',
     '-->', 'c']
    """
    begin, end = BEGIN.format(name), END.format(name)
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{block}\n\n{end}{after}"


def all_cells(folder: Path, *, samples: int) -> pl.DataFrame:
    """Return the cells of the folder, and those of the documentation of all other tasks."""
    frames = [
        cells.select(*COLUMNS)
        for part in PARTS
        if part != LABELS
        for cells in read_results(folder, part, samples=samples).values()
    ]
    before = pl.read_csv(gzip.decompress(CELLS.read_bytes()), schema=COLUMNS)
    if not frames:
        return before
    cells = pl.concat(frames).cast(COLUMNS)
    others = before.join(cells, on=Task._fields, how="anti", maintain_order="left")
    methods = {task[:2] for part in PARTS.values() for task in part.tasks(("invented",))}
    present = pl.DataFrame(sorted(methods), schema=["part", "method"], orient="row")
    present = others.join(present, on=["part", "method"], how="semi", maintain_order="left")
    return pl.concat([cells, present])


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the cells, the chart, and the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=Path("runs") / "coverage")
    options = parser.parse_args(arguments)
    cells = all_cells(options.folder, samples=options.samples)
    methods = by_method(cells)
    text = update_chapter(CHAPTER.read_text(encoding="utf-8"), "results", summary(methods))
    CHAPTER.write_text(text, encoding="utf-8")
    CHART.write_bytes(chart_bytes(chart(methods), "svg"))
    CELLS.write_bytes(gzip.compress(cells.write_csv().encode(), mtime=0))
    needed = [row for rows in PartFile(options.folder, LABELS).read().values() for row in rows]
    if needed:
        text = update_chapter(LABELS_CHAPTER.read_text(encoding="utf-8"), "labels", labels(needed))
        LABELS_CHAPTER.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
