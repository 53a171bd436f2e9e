"""A report as files: which files there are, their values, and their reproducibility."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from pipeline.errors import ConfigError
from pipeline.findings.base import Finding, StageFinding, StageView
from pipeline.remarks.base import Remark
from pipeline.report.explorer import Attribute, Explorer
from pipeline.report.page import html, images
from pipeline.report.page.build import (
    PLAIN_ROWS,
    Places,
    answers,
    build,
    cautions,
    explorer_part,
    figure_part,
    headings,
    table_part,
)
from pipeline.report.page.html import render
from pipeline.report.page.model import (
    FoldedParts,
    Page,
    PageSection,
    Paragraph,
    Part,
    Picture,
    Place,
    ReportInput,
    ReportStage,
)
from pipeline.report.view import VIEWS, Figure, Listing
from pipeline.report.views.collocations.precision import PrecisionView, show_precision
from tests.report import report_frames as frames
from tests.report.report_frames import stage

CURVES = {"dice": [i % 3 == 0 for i in range(150)], "t_score": [i % 2 == 0 for i in range(150)]}
COMPARISON = frames.comparison({("dice", "t_score"): dict.fromkeys(range(1, 151), 0.1)})
TABLES = {
    "precision": frames.precision(CURVES),
    "baseline": frames.baseline(75, 150),
    "comparison": COMPARISON,
    "cuts": frames.cuts(COMPARISON, [100]),
}
LISTS = {**TABLES, "cuts": TABLES["precision"].filter(n=100)}
"""The tables of the stage, with its lists."""


def report(*, most_rows: int = 1000) -> ReportInput:
    graph = frames.stage("evaluate.precision", LISTS, name="full")
    tests = frames.stage("evaluate.comparison", TABLES, name="tests")
    unseen = frames.stage("extract.nothing", TABLES, name="unseen")
    stages = [
        ReportStage(graph, ("precision", "baseline"), "Count."),
        ReportStage(unseen, ("precision",)),
        ReportStage(tests, ("cuts",)),
    ]
    return ReportInput("Krenn", "A test.", stages, {"Versions": {"polars": "2"}}, most_rows)


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return build(report())


def test_the_report_has_all_its_files(files: dict[str, bytes]) -> None:
    stems = ["figures/full-precision", "figures/tests-difference", "figures/tests-matrix-100", "tables/full-precision", "tables/full-overview",
             "tables/full.baseline", "tables/full.precision", "tables/tests-matrix-100",
             "tables/tests-tests", "tables/tests.cuts"]  # fmt: skip
    ends = {"figures": ("svg",), "tables": ("csv", "parquet")}
    expected = {f"{stem}.{end}" for stem in stems for end in ends[stem.partition("/")[0]]}
    assert set(files) == expected | {"index.html"}


def test_tables_in_files_have_every_value(files: dict[str, bytes]) -> None:
    stored = pl.read_parquet(io.BytesIO(files["tables/full.precision.parquet"]))
    assert_frame_equal(stored, TABLES["precision"])
    table = pl.read_csv(io.BytesIO(files["tables/full.precision.csv"]), schema=stored.schema)
    assert_frame_equal(table, TABLES["precision"], check_exact=True)


def test_the_page_links_to_the_files_and_shows_the_sections(files: dict[str, bytes]) -> None:
    html = files["index.html"].decode()
    assert all(f'href="{path}"' in html for path in files if path != "index.html")
    assert '<section id="stage-full"' in html
    assert "evaluate.precision: Count." in html
    assert "unseen" not in html
    assert html.count("window.lexassayFigures=") == 1
    assert html.count("data-figure=") == 3


@pytest.mark.long
def test_two_processes_write_identical_bytes(files: dict[str, bytes]) -> None:
    code = (
        "import hashlib\nfrom tests.report.page import test_build\n"
        "made = test_build.build(test_build.report())\n"
        "print(*(k + hashlib.sha256(v).hexdigest() for k, v in sorted(made.items())), sep='\\n')"
    )
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{code}"]
    process = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=root,
        env={"PYTHONHASHSEED": "7", "PATH": ""},
    )  # fmt: skip
    own = [path + hashlib.sha256(content).hexdigest() for path, content in sorted(files.items())]
    assert process.stdout.split() == own


def test_one_process_writes_identical_bytes_twice(files: dict[str, bytes]) -> None:
    assert build(report()) == files


def test_large_tables_are_not_copied() -> None:
    files = build(report(most_rows=100))
    assert "tables/full.precision.csv" not in files
    assert "tables/full.baseline.csv" in files
    assert "(300 rows, not copied (more than 100 rows))" in files["index.html"].decode()


def test_without_judgements_the_page_has_no_script() -> None:
    empty = {name: frame.clear() for name, frame in TABLES.items()}
    none = empty | {"cuts": LISTS["cuts"].clear()}
    report_stages = [
        ReportStage(frames.stage("evaluate.precision", none, name="full"), ("precision",)),
        ReportStage(frames.stage("evaluate.comparison", empty, name="tests"), ()),
    ]
    files = build(ReportInput("Empty", stages=report_stages))
    assert set(files) == {
        "index.html",
        "tables/full.precision.csv",
        "tables/full.precision.parquet",
    }
    assert "precision cannot be estimated" in files["index.html"].decode()
    assert b"vega" not in files["index.html"]


def test_stages_with_similar_names_have_separate_files() -> None:
    one = ReportStage(frames.stage("evaluate.precision", LISTS, name="a.b"), ())
    two = ReportStage(frames.stage("evaluate.precision", LISTS, name="a b"), ())
    files = build(ReportInput("Two", stages=[one, two]))
    assert {"figures/a-b-precision.svg", "figures/a-b-2-precision.svg"} <= set(files)


def test_a_remark_is_at_the_head_of_the_page_and_in_its_section() -> None:
    remark = Remark(level="warning", text="9 < 10", such_as=("x",), remedy="draw more")
    remarks = {"full": [remark], "unseen": [remark]}
    text = build(replace(report(), remarks=remarks))["index.html"].decode()
    assert text.count("9 &lt; 10, for example x.") == 2
    assert text.count('<p class="remark warning">') == 1
    assert text.index('class="cautions"') < text.index('<p class="remark warning">')


def test_scripts_read_all_fields_of_a_column() -> None:
    part, _ = explorer_part(explorer(), "tables/x-all", most_rows=20_000)
    scripts = "".join(file.read_text() for file in (VENDOR.parent / "explorer").glob("*.js"))
    for name in json.loads(part.head)["columns"][0]:
        assert re.search(rf"\b(column|head)\.{name}\b", scripts), name


def test_an_invalid_option_stops_the_report() -> None:
    stage = frames.stage("evaluate.precision", LISTS, name="full")
    wrong = ReportStage(stage, options=PrecisionView(measures=("mi",)))
    with pytest.raises(ConfigError, match="views.full.measures"):
        build(ReportInput("Wrong", stages=[wrong]))


def test_pictures_are_twice_as_large_as_drawn() -> None:
    stage = frames.stage("evaluate.precision", LISTS, name="full")
    figure = show_precision(stage, PrecisionView())[0]
    assert isinstance(figure, Figure)
    _, files = figure_part(figure, "figures/x", images.svg(figure.chart), ("svg", "png", "pdf"))
    assert files["figures/x.pdf"].startswith(b"%PDF")
    width = int(files["figures/x.svg"].decode().partition('width="')[2].partition('"')[0])
    assert int.from_bytes(files["figures/x.png"][16:20], "big") == 2 * width


def test_a_listing_is_in_the_page_and_in_its_files() -> None:
    frame = pl.DataFrame(
        {"measure": ["dice", None], "precision": [0.12345, float("-inf")], "n": [1000, None]}
    )
    grid, files = table_part(Listing("x", "", frame), "tables/x")
    assert grid.head == ("measure", "precision", "n")
    assert grid.rows == (("dice", "0.1235", "1,000"), ("–", "−∞", "–"))
    assert grid.right == (False, True, True)
    assert files["tables/x.csv"] == b"measure,precision,n\ndice,0.12345,1000\n,-inf,\n"


def test_headings_may_span_columns_and_cells_may_be_bold() -> None:
    frame = pl.DataFrame(
        {"system": ["a", "b"], "V": ["1", "2"], "NVI": ["3", "4"], "f": ["5", "6"]}
    )
    block = Listing(
        "x", "", frame, groups=("", "Tokens", "Tokens", "<Types>"), marked=frozenset({(1, 2)})
    )  # fmt: skip
    grid, _ = table_part(block, "tables/x")
    assert grid.groups == (("", 1), ("Tokens", 2), ("<Types>", 1))
    section = PageSection("made", "", "", "evaluate.systems", "", (grid,))
    text = render(Page("", "", (section,), {}))
    assert (
        '<th scope="colgroup" colspan="2">Tokens</th><th scope="colgroup" colspan="1">&lt;Types&gt;'
    ) in text
    assert re.findall(r"<strong>(\d)</strong>", text) == ["4"]


def test_long_listings_are_cut_only_in_the_page() -> None:
    grid, files = table_part(Listing("x", "", pl.DataFrame({"n": range(1000)})), "tables/x")
    assert (len(grid.rows), grid.omitted) == (200, 800)
    assert files["tables/x.csv"].count(b"\n") == 1001


def test_views_may_have_a_style_of_their_own() -> None:
    own = PrecisionView(style="screen", measures=("dice",))
    graph = frames.stage("evaluate.precision", LISTS, name="full")
    tests = frames.stage("evaluate.comparison", TABLES, name="tests")
    report_stages = [ReportStage(graph), ReportStage(graph, options=own), ReportStage(tests)]
    result = build(ReportInput("Krenn", stages=report_stages, style="print"))
    pictures = {path: content.decode() for path, content in result.items() if path.endswith(".svg")}
    gold = "#be8c00"
    assert {path for path, picture in pictures.items() if gold in picture} == {
        "figures/full-2-precision.svg"
    }


def test_very_long_texts_are_cut_only_in_the_page() -> None:
    frame = pl.DataFrame({"text": ["x" * 400, "y" * 401]})
    grid, files = table_part(Listing("x", "", frame), "tables/x")
    assert grid.rows == (("x" * 400,), ("y" * 399 + "…",))
    assert b"y" * 401 in files["tables/x.csv"]


# Titles of sections.


def view(use: str, name: str, *, title: str = "", **config: Any) -> StageView:
    result = stage(use, {}, name=name, **config)
    return StageView(result.name, result.use, result.config, result.table, title=title)


def test_every_view_has_a_title() -> None:
    assert [use for use in VIEWS if not VIEWS.get(use).title] == []


def test_a_configured_title_replaces_the_default() -> None:
    stages = [view("evaluate.precision", "a", title="By hand"), view("score.rank", "b")]
    assert headings(stages) == ["By hand", "Candidates and their ranks"]


def test_equal_titles_are_followed_by_the_names_of_stages() -> None:
    stages = [view("evaluate.precision", name) for name in ("one", "two")]
    assert headings(stages) == [
        "Precision of n-best lists: all candidates judged (one)",
        "Precision of n-best lists: all candidates judged (two)",
    ]


# Findings link to their figure, or else to their section.


def picture(name: str) -> Picture:
    return Picture(name, "", "data:image/svg+xml,", 640, 400, ({}, None))


def section(name: str, *parts: Part) -> PageSection:
    return PageSection(name, name.title(), name, "x.x", "", parts)


PLACES = Places([
    section("a", picture("a-first"), FoldedParts("", (picture("a-deep"),))),
    section("b", Paragraph("no figure")),
    section("c", picture("c-best-TP"), picture("c-best")),
])  # fmt: skip


def place(stage: str, figure: str | None = None, category: str | None = None) -> Place:
    finding = Finding(about="x", text="1.", figure=figure, category=category)
    return PLACES.of(StageFinding(stage, finding))


def test_figures_are_numbered_across_sections_and_folds() -> None:
    assert place("a", "deep") == Place("figure-a-deep", "Figure 2")
    assert place("c", "best") == Place("figure-c-best", "Figure 4")
    assert place("c", "best", "TP") == Place("figure-c-best-TP", "Figure 3")


def test_a_place_may_be_a_figure_of_another_stage() -> None:
    assert place("b", "c.best") == Place("figure-c-best", "Figure 4")
    assert place("c", "c") == Place("figure-c-best-TP", "Figure 3")
    assert place("a", "not drawn") == Place("figure-a-first", "Figure 1")


def test_without_a_figure_the_place_is_the_section() -> None:
    assert place("a") == Place("stage-a", "")
    assert place("b", "x") == Place("stage-b", "")
    assert place("gone", "x") == Place("", "")


def test_findings_of_a_question_share_a_paragraph() -> None:
    def stage_finding(
        text: str, question: str, figure: str | None, kind: str = "answer"
    ) -> StageFinding:
        finding = Finding(about="x", text=text, question=question, figure=figure, kind=kind)  # type: ignore[arg-type]  # as a table has it
        return StageFinding("a", finding)

    findings = [stage_finding("1.", "q", "first"), stage_finding("2.", "r", None), stage_finding("3.", "q", "deep"),
             stage_finding("4.", "", None, "caution")]  # fmt: skip
    (mine,) = answers(findings, PLACES)
    assert mine.heading == "A"
    assert [(each.lead, each.rest) for each in mine.paragraphs] == [("1.", ("3.",)), ("2.", ())]
    assert [each.title for each in mine.paragraphs[0].places] == ["Figure 1", "Figure 2"]
    assert [each.lead for each in cautions(findings, PLACES)] == ["4."]


# A table of all rows as a part of the page: its files, its rows, and escaped texts.

VENDOR = Path(html.__file__).parents[1] / "assets" / "vendor"
HOSTILE = "</script><img src=x onerror=alert(1)>"
COLUMNS = (
    Attribute("word", "word", "text"),
    Attribute("f", HOSTILE, "count"),
    Attribute("p", "P (%)", "share"),
    Attribute("hidden", "hidden", "number", visible=False),
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


def test_the_first_rows_are_visible_without_scripts() -> None:
    part, files = explorer_part(explorer(), "tables/x-all", most_rows=1000)
    assert set(files) == {"tables/x-all.csv", "tables/x-all.parquet"}
    assert part.first.head == ("word", HOSTILE, "P (%)")
    assert len(part.first.rows) == PLAIN_ROWS
    assert part.first.rows[0][1:] == ("119", "25.00")
    html = page(explorer())
    assert 'href="tables/x-all.csv"' in html
    assert "The first" in html
    assert "120 words" in html


def test_texts_of_the_table_are_escaped() -> None:
    html = page(explorer())
    assert "<img" not in html
    assert html.lower().count("</script") == html.lower().count("<script")


def test_the_page_states_the_number_of_omitted_rows() -> None:
    small = Explorer("all", "", ("word", "words"), explorer().frame, COLUMNS, key="word",
                     matters="that matter", most_rows=9)  # fmt: skip
    assert "This page includes 9 of 120 words, those that matter; the files include all." in page(
        small
    )
    assert "This page includes" not in page(explorer())


def test_a_table_with_too_many_rows_has_no_files() -> None:
    part, files = explorer_part(explorer(), "tables/x-all", most_rows=119)
    assert files == {}
    assert "more than 119 rows" in part.why


def test_a_table_too_large_for_memory_has_no_files() -> None:
    part, files = explorer_part(replace(explorer(), whole=10_000), "tables/x-all", most_rows=20_000)
    assert files == {}
    assert "memory" in part.why
    assert json.loads(part.head)["whole"] == 10_000
    html = page(replace(explorer(), whole=10_000, matters="that matter"))
    assert "This page includes 120 of 10,000 words, those that matter." in html
    assert "the files include all" not in html


def test_the_page_contains_the_packed_rows() -> None:
    html = page(explorer())
    head = json.loads(re.search(r'id="explorer-1-head">(.*?)</script>', html)[1])  # type: ignore[index]
    assert head["rows"] == 120
    rows = re.search(r'id="explorer-1-rows">(.*?)</script>', html)[1]  # type: ignore[index]
    assert len(gzip.decompress(base64.b64decode(rows))) > 120


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_no_and_one_row_are_shown(rows: int) -> None:
    assert "data-explorer" in page(explorer(rows))


def test_only_a_table_of_all_rows_brings_scripts() -> None:
    assert "Slick" in page(explorer())
    bare = render(Page("t", "", (), {}))
    assert "Slick" not in bare
    assert "explorer" not in bare


def test_the_library_states_its_version_and_its_licence() -> None:
    version = (VENDOR / "slickgrid.version").read_text().strip()
    for name in ("slickgrid.js", "slickgrid.css"):
        assert (VENDOR / name).read_text().startswith(f"/* SlickGrid {version}, MIT licence")
    assert (
        "Permission is hereby granted, free of charge" in (VENDOR / "slickgrid.LICENSE").read_text()
    )


def test_scripts_insert_text_only_as_text() -> None:
    for path in (VENDOR.parent / "explorer").glob("*.js"):
        text = path.read_text()
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?:", text
        ), path.name
        assert '"use strict"' in text
    grid = (VENDOR.parent / "explorer" / "grid.js").read_text()
    assert "enableHtmlRendering: false" in grid


def test_the_digest_includes_files_in_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    before = html.digest.__wrapped__()  # not the cached one
    assets = [name for name, _ in html._below(VENDOR.parent, "assets")]
    assert "assets/vendor/slickgrid.js" in assets
    assert "assets/explorer/grid.js" in assets
    monkeypatch.setattr(html, "_below", lambda _, name: [(f"{name}/explorer/grid.js", b"")])
    assert html.digest.__wrapped__() != before


def test_a_page_opens_with_a_table_and_its_figure(files: dict[str, bytes]) -> None:
    """The figure occurs only there; figures and tables are numbered in this order."""
    page = files["index.html"].decode()
    head, rest = page.split('<section id="stage-', 1)
    assert head.index("Table 1.") < head.index("Figure 1.")
    assert 'id="figure-full-precision"' in head
    assert 'id="figure-full-precision"' not in rest
    assert "Precision (%) of the top n" in head
    assert "Figure 2." in rest
