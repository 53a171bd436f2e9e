"""A report as files: which there are, that they hold the values, that they are repeatable."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from pipeline.errors import ConfigError
from pipeline.report.page import images
from pipeline.report.page.build import build, figure_part, table_part
from pipeline.report.page.model import ReportInput, Shown
from pipeline.report.view import Figure, Listing
from pipeline.report.views.collocations.precision import PrecisionView, show_precision
from tests.report import report_frames as frames

CURVES = {"dice": [i % 3 == 0 for i in range(150)], "t_score": [i % 2 == 0 for i in range(150)]}
TESTED = frames.comparison({("dice", "t_score"): dict.fromkeys(range(1, 151), 0.1)})
TABLES = {
    "precision": frames.precision(CURVES),
    "baseline": frames.baseline(75, 150),
    "comparison": TESTED,
    "cuts": frames.cuts(TESTED, [100]),
}


def report(*, most_rows: int = 1000) -> ReportInput:
    graph = frames.stage("evaluate.precision", TABLES, name="full")
    tests = frames.stage("evaluate.comparison", TABLES, name="tests")
    unseen = frames.stage("extract.nothing", TABLES, name="unseen")
    stages = [
        Shown(graph, ("precision", "baseline"), "Count."),
        Shown(unseen, ("precision",)),
        Shown(tests, ("cuts",)),
    ]
    return ReportInput("Krenn", "A test.", stages, {"Versions": {"polars": "2"}}, most_rows)


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return build(report())


def test_which_files_there_are(files: dict[str, bytes]) -> None:
    stems = ["figures/full-precision", "figures/tests-difference", "figures/tests-matrix-100", "tables/full-precision",
             "tables/full.baseline", "tables/full.precision", "tables/tests-matrix-100",
             "tables/tests-tests", "tables/tests.cuts"]  # fmt: skip
    ends = {"figures": ("svg",), "tables": ("csv", "parquet")}
    expected = {f"{stem}.{end}" for stem in stems for end in ends[stem.partition("/")[0]]}
    assert set(files) == expected | {"index.html"}


def test_whole_tables_hold_every_value(files: dict[str, bytes]) -> None:
    stored = pl.read_parquet(io.BytesIO(files["tables/full.precision.parquet"]))
    assert_frame_equal(stored, TABLES["precision"])
    typed = pl.read_csv(io.BytesIO(files["tables/full.precision.csv"]), schema=stored.schema)
    assert_frame_equal(typed, TABLES["precision"], check_exact=True)


def test_the_page_links_to_the_files_and_shows_the_sections(files: dict[str, bytes]) -> None:
    html = files["index.html"].decode()
    assert all(f'href="{path}"' in html for path in files if path != "index.html")
    assert '<section id="stage-full"' in html
    assert "evaluate.precision: Count." in html
    assert "unseen" not in html
    assert html.count("window.lexassayFigures=") == 1
    assert html.count("data-figure=") == 3


@pytest.mark.long
def test_two_processes_make_the_same_bytes(files: dict[str, bytes]) -> None:
    code = (
        "import hashlib\nfrom tests.report.page import test_build\n"
        "made = test_build.build(test_build.report())\n"
        "print(*(k + hashlib.sha256(v).hexdigest() for k, v in sorted(made.items())), sep='\\n')"
    )
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{code}"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=root,
        env={"PYTHONHASHSEED": "7", "PATH": ""},
    )  # fmt: skip
    own = [path + hashlib.sha256(content).hexdigest() for path, content in sorted(files.items())]
    assert done.stdout.split() == own


def test_one_process_makes_the_same_bytes_twice(files: dict[str, bytes]) -> None:
    assert build(report()) == files


def test_large_tables_are_not_copied() -> None:
    files = build(report(most_rows=100))
    assert "tables/full.precision.csv" not in files
    assert "tables/full.baseline.csv" in files
    assert "(300 rows, not copied: more than 100 rows)" in files["index.html"].decode()


def test_without_judgements_there_is_a_sentence_and_no_script() -> None:
    empty = {name: frame.clear() for name, frame in TABLES.items()}
    shown = [
        Shown(frames.stage("evaluate.precision", empty, name="full"), ("precision",)),
        Shown(frames.stage("evaluate.comparison", empty, name="tests"), ()),
    ]
    files = build(ReportInput("Empty", stages=shown))
    assert set(files) == {
        "index.html",
        "tables/full.precision.csv",
        "tables/full.precision.parquet",
    }
    assert "no precision to show" in files["index.html"].decode()
    assert b"vega" not in files["index.html"]


def test_stages_whose_names_differ_in_signs_alone_keep_their_files_apart() -> None:
    one = Shown(frames.stage("evaluate.precision", TABLES, name="a.b"), ())
    two = Shown(frames.stage("evaluate.precision", TABLES, name="a b"), ())
    files = build(ReportInput("Two", stages=[one, two]))
    assert {"figures/a-b-precision.svg", "figures/a-b-2-precision.svg"} <= set(files)


def test_a_wrong_option_stops_the_report() -> None:
    stage = frames.stage("evaluate.precision", TABLES, name="full")
    wrong = Shown(stage, options=PrecisionView(measures=("mi",)))
    with pytest.raises(ConfigError, match="views.full.measures"):
        build(ReportInput("Wrong", stages=[wrong]))


def test_pictures_are_twice_as_large_as_drawn() -> None:
    stage = frames.stage("evaluate.precision", TABLES, name="full")
    figure = show_precision(stage, PrecisionView())[0]
    assert isinstance(figure, Figure)
    _, files = figure_part(figure, "figures/x", images.svg(figure.chart), ("svg", "png", "pdf"))
    assert files["figures/x.pdf"].startswith(b"%PDF")
    width = int(files["figures/x.svg"].decode().partition('width="')[2].partition('"')[0])
    assert int.from_bytes(files["figures/x.png"][16:20], "big") == 2 * width


def test_a_listing_in_the_page_and_in_its_files() -> None:
    frame = pl.DataFrame(
        {"measure": ["dice", None], "precision": [0.12345, float("-inf")], "n": [1000, None]}
    )
    grid, files = table_part(Listing("x", "", frame), "tables/x")
    assert grid.head == ("measure", "precision", "n")
    assert grid.rows == (("dice", "0.1235", "1,000"), ("–", "−∞", "–"))
    assert grid.right == (False, True, True)
    assert files["tables/x.csv"] == b"measure,precision,n\ndice,0.12345,1000\n,-inf,\n"


def test_long_listings_are_cut_in_the_page_alone() -> None:
    grid, files = table_part(Listing("x", "", pl.DataFrame({"n": range(1000)})), "tables/x")
    assert (len(grid.rows), grid.left_out) == (200, 800)
    assert files["tables/x.csv"].count(b"\n") == 1001


def test_one_style_for_the_whole_report_but_for_views_with_their_own() -> None:
    own = PrecisionView(style="screen", measures=("dice",))
    graph = frames.stage("evaluate.precision", TABLES, name="full")
    tests = frames.stage("evaluate.comparison", TABLES, name="tests")
    shown = [Shown(graph), Shown(graph, options=own), Shown(tests)]
    made = build(ReportInput("Krenn", stages=shown, style="print"))
    pictures = {path: content.decode() for path, content in made.items() if path.endswith(".svg")}
    gold = "#be8c00"
    assert {path for path, picture in pictures.items() if gold in picture} == {
        "figures/full-2-precision.svg"
    }


def test_of_very_long_texts_the_page_shows_the_beginning_and_the_files_all() -> None:
    frame = pl.DataFrame({"text": ["x" * 400, "y" * 401]})
    grid, files = table_part(Listing("x", "", frame), "tables/x")
    assert grid.rows == (("x" * 400,), ("y" * 399 + "…",))
    assert b"y" * 401 in files["tables/x.csv"]
