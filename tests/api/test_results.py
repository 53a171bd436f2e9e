"""Display of runs in notebooks and scripts, and the tables and charts that a run provides."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import altair as alt
import polars as pl
import pytest

import pipeline as lx
from pipeline.api import results
from pipeline.api.report import findings_text
from pipeline.api.report_options import check_colours
from pipeline.api.results import colours_of, names_of
from pipeline.api.run import show_progress
from pipeline.errors import (
    ConfigError,
    DataError,
    Interruption,
    LexassayError,
    SchemaViolation,
    WaitsForPerson,
)
from pipeline.findings.base import Finding, StageFinding, leading_sentences
from pipeline.release import FormerName
from pipeline.remarks.base import Remark
from pipeline.report.charts.style import NAMED
from pipeline.runner.events import Event
from pipeline.runner.store.history import StageRecord
from tests.small_experiment import SMALL

# The progress bar of a notebook, with a stand-in for IPython; scripts show none by default.

Shown = list[dict[str, str]]


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Simulate a notebook: return every state that its one display has had."""
    states: Shown = []

    class Handle:
        def update(self, content: dict[str, str], *, raw: bool) -> None:
            assert raw
            states.append(content)

    def display(content: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        assert not states, "a second place for one bar"
        states.append(content)
        return Handle()

    install(monkeypatch, SimpleNamespace(kernel=object()), display)
    return states


def install(monkeypatch: pytest.MonkeyPatch, shell: object, display: Any) -> None:
    package, module = ModuleType("IPython"), ModuleType("IPython.display")
    vars(package).update(get_ipython=lambda: shell, display=module)
    vars(module).update(display=display)
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    rows = ["l1\tl2\tf\tf1\tf2\tN\tTP", "a\tx\t3\t5\t4\t50\t1", "b\ty\t9\t9\t12\t50\t0"]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    return tmp_path / "small.toml"


def test_a_notebook_shows_a_bar_and_then_one_line(
    small: Path, cell: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    lx.run(small, runs=small.parent / "runs")
    first, *_, last = cell
    assert first["text/plain"] == "small: 0 of 4 stages"
    assert first["text/html"].startswith('<progress value="0.00" max="4"></progress> small: 0 of 4')
    running = [each["text/plain"] for each in cell if "<progress" in each["text/html"]]
    assert len(running) == len(cell) - 1
    assert "small: 2 of 4 stages, scores" in running
    assert re.fullmatch(r"small: 4 stages, 4 done, in \d+\.\d s", last["text/plain"])
    assert last["text/html"] == last["text/plain"]
    assert capsys.readouterr() == ("", "")


def test_reused_stages_are_counted_separately(small: Path, cell: Shown) -> None:
    lx.run(small, runs=small.parent / "runs", progress=False)
    assert not cell
    lx.run(small, runs=small.parent / "runs", force="ranks")
    assert "small: 4 stages, 1 done, 3 reused, in " in cell[-1]["text/plain"]


def test_a_script_shows_nothing_unless_asked(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lx.run(small, runs=small.parent / "runs")
    assert capsys.readouterr() == ("", "")
    lx.run(small, runs=small.parent / "runs", progress=True)
    output = capsys.readouterr()
    assert output.out == ""
    *lines, last = output.err.splitlines()
    names = ("candidates", "judgements", "scores", "ranks")
    assert lines == [f"small: {n} of 4 stages, {name}" for n, name in enumerate(names, start=1)]
    assert last.startswith("small: 4 stages, 0 done, 4 reused, in ")


def test_ipython_in_a_terminal_shows_no_bar(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for shell in (None, SimpleNamespace()):
        install(monkeypatch, shell, pytest.fail)
        lx.run(small, runs=small.parent / "runs")
    assert capsys.readouterr() == ("", "")


def test_the_bar_shows_parts_of_a_stage_and_escapes_names(cell: Shown) -> None:
    with show_progress("<b>", stages=2, progress=None) as (bar,):
        bar(Event("stage_started", "count & sort", {"shards": 4, "resumed": 1}))
        bar(Event("stage_done", "count & sort"))
    assert cell[1]["text/html"] == (
        '<progress value="0.25" max="2"></progress> '
        "&lt;b&gt;: 0 of 2 stages, count &amp; sort, part 1 of 4"
    )
    assert cell[-1]["text/html"].startswith("&lt;b&gt;: 2 stages, 1 done, in ")


def test_many_quick_events_cause_few_updates(cell: Shown) -> None:
    with show_progress("x", stages=10_000, progress=None) as (bar,):
        for number in range(10_000):
            bar(Event("stage_reused", f"s{number}"))
    assert len(cell) < 5_000
    assert "0 done, 10,000 reused" in cell[-1]["text/plain"]


def test_the_bar_names_stages_that_wait_for_input(cell: Shown) -> None:
    with show_progress("x", stages=3, progress=None) as (bar,):
        bar(Event("stage_done", "sample"))
        bar(Event("stage_waits", "sheets", {"note": "sheets/<x>: waiting for 3 labels"}))
        bar(Event("stage_skipped", "precision", {"note": "depends on sheets"}))
        bar(Event("run_done", facts={"outcome": "waits", "error": ""}))
    first, second = cell[-1]["text/plain"].splitlines()
    assert first.startswith("x: 3 stages, 1 done, 1 waiting, 1 not run, in ")
    assert second == "sheets/<x>: waiting for 3 labels"
    assert "<br>sheets/&lt;x&gt;: waiting" in cell[-1]["text/html"]
    assert cell[-2]["text/plain"] == "x: 3 of 3 stages, report"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (DataError("no"), "x: failed in scores: 2 stages"),
        (Interruption(""), "x: interrupted in sco"),
    ],
)
def test_the_bar_states_failures_and_interruptions(
    cell: Shown, error: Exception, message: str
) -> None:
    def run() -> None:
        with show_progress("x", stages=2, progress=None) as (bar,):
            bar(Event("stage_started", "scores"))
            bar(Event("failed", "scores", {"error": "no"}))
            bar(Event("run_done", facts={"outcome": "failed", "error": "no"}))
            raise error

    with pytest.raises(type(error)):
        run()
    assert cell[-1]["text/plain"].startswith(message)


# Colours of a report: of all names of its run, pinned by its options.

TABLES = {
    "full.precision": pl.LazyFrame({"measure": ["mi", "dice", "mi"], "n": [1, 1, 2]}),
    "systems.table": pl.LazyFrame({"system": ["tree", None], "measure": ["MacroI M-1", "v"]}),
    "compared.lexicons": pl.LazyFrame({"lexicon": ["made", "bought"], "l_star": [0.1, 0.2]}),
    "odd.rows": pl.LazyFrame({"system": [1, 2], "measure": [1, 2], "n": [1, 2]}),
    "empty.precision": pl.LazyFrame(schema={"measure": pl.String, "n": pl.Int64}),
}


def run_report_colours() -> Any:
    manifests = {
        name.partition(".")[0]: SimpleNamespace(tables=[name.partition(".")[2]]) for name in TABLES
    }
    nothing = SimpleNamespace(nodes={})
    return SimpleNamespace(manifests=manifests, query=TABLES.__getitem__, project=nothing)


def test_names_include_lists_systems_and_lexicons() -> None:
    assert names_of(run_report_colours()) == ["bought", "dice", "made", "mi", "tree"]


def test_each_name_has_a_colour_and_pinned_colours_are_used() -> None:
    result = colours_of(run_report_colours(), {"tree": "gold", "not there": "blue"})
    assert set(result) == {"bought", "dice", "made", "mi", "tree", "Dice", "MI"}
    assert result["MI"] == result["mi"]
    assert NAMED[result["tree"].colour] == "gold"
    assert colours_of(run_report_colours(), {"tree": "gold"}) == result


def test_an_unknown_colour_is_an_error_that_names_the_nearest() -> None:
    (wrong,) = check_colours({"mi": "blue", "dice": "grean"})
    assert wrong.where == "report.colours.dice"
    assert "unknown colour 'grean'" in wrong.what
    assert "green" in wrong.remedy


MORE = """
[stages.sample]
use = "sample.random"
candidates = "candidates"
rate = 1.0

[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
folder = "small"
labels = ["true", "false"]

[stages.asked]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "small"
categories = { TP = ["true"] }

[stages.full]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"

[stages.by_hand]
use = "evaluate.precision"
ranks = "ranks"
judgements = "asked"

[report]
stages = ["full", "by_hand"]
style = "print"
"""


@pytest.fixture(scope="module")
def home_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    lines = [f"a{i}\tb{i}\t{i + 3}\t{2 * i + 9}\t{3 * i + 9}\t5000\t{i % 2}" for i in range(40)]
    rows = "\n".join(["l1\tl2\tf\tf1\tf2\tN\tTP", *lines])
    (folder / "pairs.tsv").write_text(rows + "\n", encoding="utf-8")
    (folder / "small.toml").write_text(SMALL + MORE, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(home_results: Path) -> lx.Run:
    return lx.run(home_results / "small.toml", runs=home_results / "runs")


class Text(HTMLParser):
    """The text of well-formed HTML, and the addresses in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.links: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.long
def test_repr_of_a_run_is_one_line(run: lx.Run) -> None:
    line = repr(run)
    assert line.startswith("<Run small: 7 of 9 stages done; small: waiting for 40 labels")
    assert line.endswith(f"; report: {run.report}>")
    assert len(line) < 400
    assert str(run) == line


@pytest.mark.long
def test_html_of_a_run_lists_stages_and_missing_labels(run: lx.Run) -> None:
    page = Text(run._repr_html_())
    page_texts = page.texts
    assert page_texts[:2] == ["small", ": 7 of 9 stages done"]
    at = page_texts.index("by_hand")
    assert page_texts[at + 1 : at + 3] == ["evaluate.precision", "not run: depends on asked"]
    assert page_texts[page_texts.index("asked") + 2].startswith("waiting for 40 labels")
    at = page_texts.index("scores")
    assert page_texts[at + 1 : at + 4] == ["score.association", "40", "done"]
    assert any("small: waiting for 40 labels" in each for each in page_texts)
    assert run.report is not None
    assert page.links == [run.report.as_uri()]
    assert run.waits[0].missing == 40


def test_opened_results_state_which_stages_are_done(home_results: Path, run: lx.Run) -> None:
    opened = lx.show(home_results / "small.toml", runs=home_results / "runs")
    assert repr(opened) == "<Run small: 7 of 9 stages done>"
    page_texts = Text(opened._repr_html_()).texts
    assert page_texts[page_texts.index("by_hand") + 2] == "not done"
    assert page_texts[page_texts.index("ranks") + 3] == "done"
    assert opened.why_not("by_hand") == "it has not run"
    assert opened.why_not("ranks") == ""


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 1_000])
def test_html_of_a_run_stays_small_and_is_escaped(run: lx.Run, count: int) -> None:
    """A thousand stages have long names and notes of characters that HTML escapes."""
    names = [f'<&"{number}' * 40 for number in range(count)]
    node = run.project.nodes["scores"]
    project = replace(run.project, nodes=dict.fromkeys(names, node))
    note = "<script>&" * 200
    assert run.record is not None
    stages = {name: StageRecord(outcome="waits", note=note) for name in names}
    waits = tuple(WaitsForPerson(note, 3, such_as=[note]) for _ in names)
    record = run.record.model_copy(update={"stages": stages})
    large = replace(run, project=project, manifests={}, waits=waits, record=record)
    html = large._repr_html_()
    assert len(html.encode()) < (11_000 if count > 1 else 5_000)
    assert "<script" not in html
    page_texts = Text(html).texts
    assert f": 0 of {count:,} stage{'s' * (count > 1)} done" in page_texts
    assert any(each.startswith("and 9") and each.endswith(" more") for each in page_texts) == (
        count > 1
    )
    assert len(repr(large)) < 1_000


def test_remarks_are_counted(run: lx.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    remarks = [Remark(check="c", level=level, text="t") for level in ("warning", "warning", "info")]
    monkeypatch.setattr(lx.Run, "remarks", {"scores": tuple(remarks), "ranks": tuple(remarks[2:])})
    assert results.remark_count(run) == "remarks: 2 warnings, on scores"
    assert "remarks: 2 warnings, on scores" in Text(run._repr_html_()).texts


def test_tables_are_accessible_by_name(run: lx.Run) -> None:
    tables = run.tables
    assert tables["scores"].equals(run.table("scores"))
    assert tables["full.cuts"].equals(run.table("full.cuts"))
    assert tables["scores.scores"].equals(tables["scores"])
    assert {"candidates", "full", "full.cuts", "sheet"} <= set(tables)
    assert "scores.scores" not in set(tables)
    assert len(tables) == len(set(tables))
    assert all(name in tables for name in tables)
    assert "by_hand" not in tables
    assert "nothing" not in tables
    assert tables.get("nothing") is None


def test_unknown_table_names_are_refused_with_suggestions(run: lx.Run) -> None:
    with pytest.raises(KeyError, match="no table 'score'; did you mean scores"):
        run.tables["score"]
    with pytest.raises(KeyError, match="'full.cutz'; did you mean full.cut, full.cuts"):
        run.tables["full.cutz"]
    with pytest.raises(KeyError, match="its stage is not done: depends on asked"):
        run.tables["by_hand"]


def test_repr_of_tables_lists_tables_without_opening_any(
    run: lx.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lx.Run, "plan", pytest.fail)
    lines = repr(run.tables).splitlines()
    assert lines[0] == f"{len(run.tables)} tables"
    assert lines[1].split() == ["name", "rows", "content"]
    (line,) = (each for each in lines if each.split()[0] == "scores")
    assert line.split(maxsplit=2)[1:] == [
        "40", "Candidates with one Float64 column per association measure.",
    ]  # fmt: skip
    page_texts = Text(run.tables._repr_html_()).texts
    assert page_texts[page_texts.index("scores") + 1] == "40"


@pytest.mark.long
def test_charts_are_accessible_by_name(run: lx.Run) -> None:
    chart = run.chart("full")
    assert isinstance(chart, alt.TopLevelMixin)
    (first, *_) = run.charts
    assert first == "full"
    assert run.charts["full"] is chart
    assert run.chart("full.precision") is chart
    assert set(run.charts) >= {"full"}
    assert all(name in run.charts for name in run.charts)
    assert len(run.charts) == len(list(run.charts))
    assert repr(run.charts).splitlines()[0] == f"{len(run.charts)} charts"
    assert any(each.startswith("Precision of") for each in Text(run.charts._repr_html_()).texts)


@pytest.mark.long
def test_charts_are_those_of_the_report(home_results: Path, run: lx.Run) -> None:
    """The report is in black and white: its options apply."""
    from pipeline.report.page.images import svg

    assert run.report is not None
    files = [*(run.report.parent / "figures").glob("full-*.svg")]
    assert svg(run.chart("full")) in [each.read_text(encoding="utf-8") for each in files]
    settings = {"report.style": "screen"}
    coloured = lx.show(home_results / "small.toml", runs=home_results / "runs", settings=settings)
    assert svg(coloured.chart("full")) != svg(run.chart("full"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ful", "ful: unknown stage; did you mean full"),
        ("full.precison", "the stage has no figure of this name; did you mean precision"),
        ("full.x", "the stage has no figure of this name; those of full: "),
        ("by_hand", "by_hand: not drawn yet: depends on asked"),
        ("asked", "asked: not drawn yet: waiting for 40 labels"),
        ("scores", "scores: the stage has no figures; valid: full"),
    ],
)
def test_unknown_chart_names_are_refused_with_suggestions(
    run: lx.Run, name: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        run.chart(name)
    assert message in str(caught.value)
    with pytest.raises(KeyError):
        run.charts[name]
    assert name not in run.charts
    assert run.charts.get(name) is None


def test_a_chart_that_needs_a_waiting_stage_is_refused(home_results: Path, run: lx.Run) -> None:
    settings = {"report.views.full": {"truth": "by_hand"}}
    waiting = lx.show(home_results / "small.toml", runs=home_results / "runs", settings=settings)
    with pytest.raises(ConfigError, match="full: not drawn yet: it needs by_hand"):
        waiting.chart("full")


def test_errors_in_options_of_a_view_name_their_path(home_results: Path, run: lx.Run) -> None:
    settings = {"report.views.full": {"measures": ["no_such"]}}
    wrong = lx.show(home_results / "small.toml", runs=home_results / "runs", settings=settings)
    with pytest.raises(
        ConfigError, match=r"report\.views\.precision\.measures|report\.views\.full"
    ):
        wrong.chart("full")


def test_text_and_html_of_empty_tables() -> None:
    assert results.text_table("0 tables", ("name", "rows"), []) == "0 tables\n  name  rows"
    assert "<td>" not in results.html_table(("name",), [])


PAIRS = {
    "l1": ["a", "b"],
    "l2": ["x", "y"],
    "f": [3, 9],
    "f1": [5, 9],
    "f2": [4, 12],
    "N": [50, 50],
}
FRAME = pl.DataFrame(PAIRS)
EXPECTED = lx.score(FRAME, measures=["all"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"f": [3, 99]}, "marginals_bound_joint"), ({"N": [50, 5]}, "table_fits_sample_size"),
        ({"f": [1, 3.5]}, r"column f: is not a whole number \(give counts.* row 1: 3.5"),
        ({"f": [None, 1]}, r"column f: has no value \(drop these rows.* row 0: None"),
        ({"f": ["3", "1"]}, "is String, not a whole number .*cast it"),
        ({"f": [-1, 1]}, "greater_than"),
    ],
)  # fmt: skip
def test_invalid_tables_are_refused(change: dict[str, list[object]], message: str) -> None:
    with pytest.raises(SchemaViolation, match=f"(?s){message}"):
        lx.score(pl.DataFrame(PAIRS | change, strict=False))


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(SchemaViolation, match="column f: missing"):
        lx.score(FRAME.drop("f"))
    with pytest.raises(ConfigError, match="did you mean t_score"):
        lx.score(FRAME, measures=["t_scor"])
    with pytest.raises(ConfigError, match="already has a column mi"):
        lx.score(EXPECTED, measures=["mi"])
    with pytest.raises(ConfigError, match="of a single row"):
        lx.score(FRAME, measures=[], formulas={"x": "SUM(o11)"})
    with pytest.raises(AttributeError):
        lx.nothing  # noqa: B018  looked up, no more


def test_all_measures_are_those_that_the_table_lacks(caplog: pytest.LogCaptureFixture) -> None:
    own = FRAME.with_columns(mi=pl.lit(7.0))
    table = lx.score(own)
    assert table["mi"].to_list() == [7.0] * FRAME.height
    assert table.columns == [
        *own.columns,
        *(n for n in lx.score(FRAME).columns[FRAME.width :] if n != "mi"),
    ]
    assert "not computed, as the table has them: mi" in caplog.text


def test_a_table_without_rows_has_no_scores() -> None:
    assert lx.score(FRAME.clear()).height == 0


def test_run_writes_results_that_show_opens(tmp_path: Path) -> None:
    FRAME.with_columns(TP=pl.Series([1, 0])).write_parquet(tmp_path / "pairs.parquet")
    (tmp_path / "x.toml").write_text(
        """
        name = "x"
        [stages.pairs]
        use = "extract.table"
        path = "pairs.parquet"
        [stages.scores]
        use = "score.association"
        candidates = "pairs"
        """
    )
    run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs")
    assert run.table("scores").select("mi").sort("mi").equals(EXPECTED.select("mi").sort("mi"))
    assert run.report is None
    again = lx.show(tmp_path / "x.toml", runs=tmp_path / "runs")
    assert again.table("scores.scores").equals(run.table("scores"))
    with pytest.raises(ConfigError, match="did you mean scores"):
        again.table("score")


def test_a_delivered_list_precedes_other_findings() -> None:
    findings = [
        StageFinding(stage, Finding(about=about, text=f"{about} 1."))
        for stage, about in (("full", "highest"), ("choice", "chosen"), ("list", "delivered"))
    ]
    first = findings_text(findings[:2]).splitlines()[:2]
    assert first == ["highest 1. [full]", "chosen 1. [choice]"]
    first = findings_text(findings).splitlines()[:2]
    assert first == ["delivered 1. [list]", "highest 1. [full]"]


def test_a_chosen_list_of_another_category_leads() -> None:
    findings = [
        StageFinding(stage, Finding(about=about, text=f"{category} {about} 1.", category=category))
        for stage, about, category in (
            ("full", "baseline", "A"), ("choice", "chosen", "A"), ("choice", "chosen", "B"),
            ("list", "delivered", "A"), ("full", "highest", "A"),
        )
    ]  # fmt: skip
    leads, _, _ = findings_text(findings).partition("\n\n")
    assert leads.splitlines() == [
        "A delivered 1. [list]", "B chosen 1. [choice]", "A highest 1. [full]",
    ]  # fmt: skip
    assert leading_sentences(findings, ["full"])[:2] == ["A delivered 1.", "B chosen 1."]


# A run that fails


CHOICE = """
[stages.precision]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
cuts = [1, 2]

[stages.choice]
use = "evaluate.choice"
ranks = "ranks"
judgements = "judgements"
sizes = [2]
min_precision = 0.9
"""


def test_a_failed_run_reports_the_evaluations_that_are_done(small: Path) -> None:
    small.write_text(SMALL + CHOICE, encoding="utf-8")
    runs = small.parent / "runs"
    with pytest.raises(LexassayError, match="no list reaches min_precision"):
        lx.run(small, runs=runs)
    page = (runs / "small" / "report" / "index.html").read_text()
    assert "Precision of n-best lists" in page
    assert "Not available yet: stages.choice" in page
    assert "no list reaches min_precision = 0.9; the best are" in page


def test_an_interrupted_run_writes_no_report(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small.write_text(SMALL + CHOICE, encoding="utf-8")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.stages.collocations.evaluate_precision.nothing_chosen", interrupt)
    with pytest.raises(Interruption):
        lx.run(small, runs=small.parent / "runs")
    assert not (small.parent / "runs" / "small" / "report").exists()


def test_a_failed_run_without_evaluations_keeps_the_former_report(small: Path) -> None:
    runs = small.parent / "runs"
    small.write_text(SMALL + CHOICE.replace("0.9", "0.1"), encoding="utf-8")
    lx.run(small, runs=runs)
    page = (runs / "small" / "report" / "index.html").read_bytes()
    pairs = small.with_name("pairs.tsv")
    pairs.write_text(pairs.read_text().replace("\t50\t0", "\tmany\t0"), encoding="utf-8")
    with pytest.raises(LexassayError, match="many"):
        lx.run(small, runs=runs)
    assert (runs / "small" / "report" / "index.html").read_bytes() == page


# A damaged report, and a report edited by hand


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("index.html", "changed"),
        *(
            pytest.param(*each, marks=pytest.mark.long)
            for each in [
                ("index.html", "gone"), ("tables/*.csv", "changed"), ("*.txt", "changed"),
                ("*.txt", "gone"), (".written.json", "gone"),
            ]
        ),
    ],
)  # fmt: skip
def test_a_damaged_report_is_detected_and_rewritten(name: str, how: str, small: Path) -> None:
    events: list[Event] = []
    runs = small.parent / "runs"
    folder = runs / "small" / "report"
    lx.run(small, runs=runs)
    path = next(iter(sorted(folder.glob(name))))
    before = path.read_bytes()
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(before[:-1] + b"7")
    damaged = path.read_bytes() if how == "changed" else None
    lx.run(small, runs=runs, listeners=[events.append])
    texts = [str(event.facts.get("text", "")) for event in events]
    relative = path.relative_to(folder).as_posix()
    assert f"1 file of the report gone or changed: {relative}" in texts
    assert path.read_bytes() == before
    backup = path.with_name(f"{path.stem}.kept-1{path.suffix}")
    if damaged is not None:  # it may be edited by a person
        assert backup.read_bytes() == damaged
        backup.unlink()
    events.clear()
    lx.run(small, runs=runs, listeners=[events.append])
    assert "the report is up to date" in [event.facts.get("text") for event in events]


def test_former_names_of_attributes_warn(small: Path) -> None:
    run = lx.run(small, runs=small.parent / "runs")
    with pytest.warns(FormerName, match="Run.told was renamed Run.all_findings in"):
        assert run.told == run.all_findings
    with pytest.warns(FormerName, match="Run.plan was renamed Run.query in"):
        assert run.plan("scores").collect().equals(run.query("scores").collect())
