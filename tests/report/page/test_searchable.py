"""A table of all rows as a part of the page: its files, what stands in it, and nothing hostile."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from pipeline.report.explorer import Attribute, Explorer
from pipeline.report.page import html
from pipeline.report.page.build import PLAIN_ROWS, explorer_part
from pipeline.report.page.html import render
from pipeline.report.page.model import Page, PageSection

VENDOR = Path(html.__file__).parents[1] / "assets" / "vendor"
HOSTILE = "</script><img src=x onerror=alert(1)>"
COLUMNS = (
    Attribute("word", "word", "text"),
    Attribute("f", HOSTILE, "count"),
    Attribute("p", "P (%)", "share"),
    Attribute("hidden", "hidden", "number", shown=False),
)


def explorer(rows: int = 120) -> Explorer:
    frame = pl.DataFrame(
        {"word": [f"{HOSTILE}{i}" for i in range(rows)], "f": range(rows), "p": [0.25] * rows,
         "hidden": [i / 3 for i in range(rows)]},
        schema={"word": pl.String, "f": pl.Int64, "p": pl.Float64, "hidden": pl.Float64},
    )  # fmt: skip
    return Explorer("all", "All of them.", ("word", "words"), frame, COLUMNS, key="word",
                    order="f", falling=True)  # fmt: skip


def page(block: Explorer, most_rows: int = 1000) -> str:
    part, _ = explorer_part(block, "tables/x-all", most_rows=most_rows)
    return render(Page("t", "", (PageSection("x", "x", "x", "use", "", (part,)),), {}))


def test_the_first_rows_stand_there_without_scripts() -> None:
    part, files = explorer_part(explorer(), "tables/x-all", most_rows=1000)
    assert set(files) == {"tables/x-all.csv", "tables/x-all.parquet"}
    assert part.first.head == ("word", HOSTILE, "P (%)")
    assert len(part.first.rows) == PLAIN_ROWS
    assert part.first.rows[0][1:] == ("119", "25.00")
    html = page(explorer())
    assert 'href="tables/x-all.csv"' in html
    assert "The first" in html
    assert "120 words" in html


def test_no_text_is_markup() -> None:
    html = page(explorer())
    assert "<img" not in html
    assert html.lower().count("</script") == html.lower().count("<script")


def test_what_is_left_out_is_said() -> None:
    small = Explorer("all", "", ("word", "words"), explorer().frame, COLUMNS, key="word",
                     matters="that matter", most_rows=9)  # fmt: skip
    assert "The page holds 9 of 120 words, those that matter; the files hold all." in page(small)
    assert "The page holds" not in page(explorer())


def test_a_table_with_too_many_rows_has_no_files() -> None:
    part, files = explorer_part(explorer(), "tables/x-all", most_rows=119)
    assert files == {}
    assert "more than 119 rows" in part.why


def test_what_cannot_be_held_has_no_files() -> None:
    part, files = explorer_part(replace(explorer(), whole=10_000), "tables/x-all", most_rows=20_000)
    assert files == {}
    assert "memory" in part.why
    assert json.loads(part.head)["whole"] == 10_000
    html = page(replace(explorer(), whole=10_000, matters="that matter"))
    assert "The page holds 120 of 10,000 words, those that matter." in html
    assert "the files hold all" not in html


def test_the_page_holds_what_is_packed() -> None:
    html = page(explorer())
    head = json.loads(re.search(r'id="explorer-1-head">(.*?)</script>', html)[1])  # type: ignore[index]
    assert head["rows"] == 120
    rows = re.search(r'id="explorer-1-rows">(.*?)</script>', html)[1]  # type: ignore[index]
    assert len(gzip.decompress(base64.b64decode(rows))) > 120


@pytest.mark.parametrize("rows", [0, 1])
def test_no_row_and_one_row(rows: int) -> None:
    assert "data-explorer" in page(explorer(rows))


def test_scripts_come_with_a_table_of_all_rows_alone() -> None:
    assert "Slick" in page(explorer())
    bare = render(Page("t", "", (), {}))
    assert "Slick" not in bare
    assert "explorer" not in bare


def test_the_library_says_its_version_and_its_licence() -> None:
    version = (VENDOR / "slickgrid.version").read_text().strip()
    for name in ("slickgrid.js", "slickgrid.css"):
        assert (VENDOR / name).read_text().startswith(f"/* SlickGrid {version}, MIT licence")
    assert (
        "Permission is hereby granted, free of charge" in (VENDOR / "slickgrid.LICENSE").read_text()
    )


def test_scripts_put_text_into_the_page_as_text() -> None:
    for path in (VENDOR.parent / "explorer").glob("*.js"):
        said = path.read_text()
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?:", said
        ), path.name
        assert '"use strict"' in said
    grid = (VENDOR.parent / "explorer" / "grid.js").read_text()
    assert "enableHtmlRendering: false" in grid


def test_the_digest_knows_files_in_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    named = [name for name, _ in html._below(VENDOR.parent, "assets")]
    assert "assets/vendor/slickgrid.js" in named
    assert "assets/explorer/grid.js" in named
    assert len(html.digest()) == len(hashlib.sha256().hexdigest())
