"""The table of all candidates in the page: its size, and how fast it opens, sorts and searches.

python benchmarks/explorer_page.py [--rows 100000] [--measures 8] [--browser /usr/bin/chromium]
                                   [--keep FOLDER]

The candidates are invented: two words of skewed frequency, f, f1, f2, N, scores of some measures
with their ranks, labels of two annotators on a twentieth of them, three sentences for each of a
tenth. The page holds the charting scripts too, as a report does. It is opened in a headless
Chromium by Playwright; each figure is the median of three pages, from the event to the second frame
after it.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright

from pipeline.findings.base import StageView
from pipeline.report.explorer import Explorer
from pipeline.report.page.build import explorer_part
from pipeline.report.page.html import render
from pipeline.report.page.model import Page, PageSection
from pipeline.report.views.collocations.candidates import candidate_explorer

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
PAINTED = "await new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)));"
FIGURE = "document.querySelector('[data-explorer]')"
ACTS = {
    "sort by a number": f"{FIGURE}.querySelector('[data-id=\"score m2\"]').click();",
    "sort by a word": f"{FIGURE}.querySelector('[data-id=l2]').click();",
    "sort back": f"{FIGURE}.querySelector('[data-id=l2]').click();",
    "open a row": f"{FIGURE}.querySelector('.slick-cell').click(); "
    f"while (!{FIGURE}.querySelector('dialog[open] h3')) await new Promise(f => setTimeout(f, 1));",
    "scroll to the middle": f"const v = {FIGURE}.querySelector('.slick-viewport'); "
    "v.scrollTop = v.scrollHeight / 2; await new Promise(f => setTimeout(f, 20));",
}  # fmt: skip
SEARCH = """
const field = FIGURE.querySelector('input[type=search]');
const count = FIGURE.querySelector('[role=status]');
const before = count.textContent; field.value = 'ab1'; field.dispatchEvent(new Event('input'));
while (count.textContent === before) await new Promise(f => setTimeout(f, 1));
""".replace("FIGURE", FIGURE)


def words(random: np.random.Generator, rows: int, prefix: str) -> list[str]:
    """Return words, some of them often."""
    numbers = (random.pareto(0.8, rows) * 50).astype(np.int64) % 40_000
    return [f"{prefix}{number:x}" for number in numbers]


def invented_stage(rows: int, measures: int) -> tuple[StageView, list[str]]:
    """Return the stage that ranks invented candidates, and its measures."""
    random = np.random.default_rng(1)
    ids = [f"x{number:016x}" for number in random.permutation(rows).astype(np.int64) * 2654435761]
    f = (random.pareto(1.1, rows) * 3 + 3).astype(np.int64)
    f1, f2 = f + (random.pareto(0.9, rows) * 90).astype(np.int64), f * 7
    names = [f"m{number}" for number in range(measures)]
    strength = random.normal(size=rows)
    scores = {
        name: np.exp(strength + random.normal(size=rows)) * 10.0**number
        for number, name in enumerate(names)
    }
    table = pl.DataFrame(
        {"id": ids, "l1": words(random, rows, "in:ab"), "l2": words(random, rows, "v"), "f": f,
         "f1": f1, "f2": f2, "N": np.full(rows, 10_000_000), **scores}
    )  # fmt: skip
    ranks = pl.concat(
        table.select(
            pl.lit(name).alias("measure"), "id", score=pl.col(name),
            rank=pl.col(name).rank("ordinal", descending=True).cast(pl.Int64),
        )
        for name in names
    )  # fmt: skip
    return _stages(table, ranks, random), names


def _stages(table: pl.DataFrame, ranks: pl.DataFrame, random: np.random.Generator) -> StageView:
    rows = table.height
    judged = table["id"].head(rows // 20)
    labels = pl.DataFrame({"id": judged, "label": random.choice(["SVC", "free"], len(judged))})
    people = pl.concat(
        labels.with_columns(annotator=pl.lit(person), note=pl.lit(None, pl.String))
        for person in ("anna", "ben")
    )
    head = table.head(rows // 10)
    texts = [
        f"{' '.join(words(random, 16, 'w'))} [[{l1}]] der [[{l2}]] ."
        for l1, l2 in head.select("l1", "l2").iter_rows()
        for _ in range(3)
    ]
    examples = pl.DataFrame(
        {"id": np.repeat(head["id"].to_numpy(), 3), "number": [1, 2, 3] * head.height,
         "doc": [f"document {number % 500}" for number in range(len(texts))], "text": texts}
    )  # fmt: skip
    tables = {
        "scores": table, "ranks": ranks, "examples": examples, "annotations": people,
        "judgements": labels.select("id", category=pl.lit("TP"), tp=pl.col("label") == "SVC"),
        "adjudicated": labels.with_columns(annotators=pl.lit(2), agreed=pl.lit(value=True)),
    }  # fmt: skip

    def open_table(name: str) -> pl.LazyFrame:
        return tables[name].lazy()

    among: dict[str, StageView] = {}
    among["found"] = StageView("found", "extract.pairs", {}, open_table, stages=among)
    near = {"scores": "found.candidates"}
    among["joined"] = StageView("joined", "join.sheets", {}, open_table, inputs=near, stages=among)
    return StageView("ranks", "score.rank", {}, open_table, inputs=near, stages=among)


def write_page(explorer: Explorer, path: Path) -> dict[str, float]:
    """Write a page that holds a table of all rows, and return its sizes in megabytes."""
    part, files = explorer_part(explorer, "tables/candidates", most_rows=5_000_000)
    section = PageSection("ranks", "ranks", "ranks", "score.rank", "", (part,))
    page = Page("benchmark", "", (section,), {})
    path.write_text(render(page), encoding="utf-8")
    sizes = {
        "page": path.stat().st_size, "rows": len(part.rows), "details": len(part.details),
        "files beside it": sum(map(len, files.values())),
    }  # fmt: skip
    return {name: size / 1e6 for name, size in sizes.items()}


def measure_page(tab: Tab, path: Path) -> dict[str, float]:
    """Return how long the page takes to open and to answer, in milliseconds."""
    start = time.perf_counter()
    tab.goto(path.as_uri())
    tab.wait_for_selector("[data-explorer][data-ready]")
    tab.evaluate(f"(async () => {{ {PAINTED} }})()")
    times = {"open": 1000 * (time.perf_counter() - start)}
    for name, act in {**ACTS, "search (it waits .12 s for the next letter)": SEARCH}.items():
        timed = f"const t = performance.now(); {act} {PAINTED} return performance.now() - t;"
        times[name] = tab.evaluate(f"(async () => {{ {timed} }})()")
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--measures", type=int, default=8)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = (options.keep or Path(folder)) / "explorer.html"
        stage, names = invented_stage(options.rows, options.measures)
        start = time.perf_counter()
        scores = stage.table("scores")
        explorer = candidate_explorer(stage, scores, measures=names, most_rows=options.rows)
        sizes = write_page(explorer, path)
        print(f"{options.rows:,} rows, {len(explorer.columns)} columns")
        print(f"{time.perf_counter() - start:8.2f} s to make")
        for name, size in sizes.items():
            print(f"{size:8.2f} MB {name}")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=options.browser, args=FLAGS)
            runs = []
            for _ in range(3):
                tab = browser.new_page()
                runs.append(measure_page(tab, path))
                tab.close()
            browser.close()
        for name in runs[0]:
            print(f"{statistics.median(run[name] for run in runs):8.0f} ms {name}")


if __name__ == "__main__":
    main()
