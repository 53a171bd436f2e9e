"""The page of two runs: differences, equal tables, and results missing from the store."""

from __future__ import annotations

from typing import Any

from pipeline.findings.base import Finding, StageFinding
from pipeline.report.diff_page import ComparedStage, DiffInput, Side, TableRows, diff_page
from pipeline.report.page.model import ReportStage
from tests.report import report_frames as frames

HOSTILE = "</script><img onerror=alert(1)>"


def stage_finding(value: float, name: str = "mi") -> StageFinding:
    text = f"Best for 9: {name}, {100 * value:.1f} %."
    return StageFinding(
        "tests", Finding(about="best", text=text, question="best", name=name, value=value)
    )


def html(**options: Any) -> str:
    first = options.pop("first", Side("a:1", "begun 2026, done"))
    second = options.pop("second", Side("a:2", "begun 2027, waits"))
    return diff_page(DiffInput(first=first, second=second, **options)).decode()


def report_stage(hits: list[bool], name: str = "full") -> ReportStage:
    tables = {
        "precision": frames.precision({"dice": hits, "t_score": hits}),
        "baseline": frames.baseline(sum(hits), len(hits)),
    }
    return ReportStage(
        frames.stage("evaluate.precision", tables, name=name), ("precision",), "Count."
    )


def test_differences_are_counted_and_listed() -> None:
    text = html(
        settings=[("stages.sample.rate", "0.1", "0.2")],
        stages=[ComparedStage("sample", "Sample", ("config rate: 0.1 -> 0.2",),
                              [TableRows("sample", 3, 4, 5, [("removed", "id a", "")])])],
        equal=("ranks", "scores"),
    )  # fmt: skip
    assert "1 setting and 1 stage differ; 2 stages are equal." in text
    assert "stages.sample.rate" in text
    assert "Equal in both runs, row by row: ranks and scores." in text
    assert ">3</td>" in text
    assert "begun 2027, waits" in text


def test_findings_are_side_by_side_without_verdicts() -> None:
    text = html(
        first=Side("a:1", "", [stage_finding(0.3)]), second=Side("a:2", "", [stage_finding(0.35)]),
    )  # fmt: skip
    assert "Best for 9: mi, 30.0 %." in text
    assert "+5.0 points" in text
    assert "There is no test" in text
    assert "better" not in text.partition("<script>")[0]


def test_the_page_states_that_runs_are_equal() -> None:
    text = html(
        first=Side("a:1", "", [stage_finding(0.3)]), second=Side("a:1", "", [stage_finding(0.3)])
    )
    assert "Nothing differs; 0 stages are equal." in text
    assert "All settings are equal." in text
    assert "1 finding in both runs" in text


def test_the_page_names_results_missing_from_the_store() -> None:
    text = html(
        first=Side("a:1", "", removed=("sample", "full")),
        stages=[ComparedStage("sample", "Sample", ("done -> done",))],
    )
    assert "Results of the first run are no longer in the store: sample and full." in text


def test_different_figures_are_drawn_for_both_runs() -> None:
    pair = report_stage([True, False] * 60), report_stage([False, True, True] * 40)
    text = html(stages=[ComparedStage("full", "Precision", (), (), pair)])
    assert text.count("<strong>Figure ") == 2
    assert "First run. " in text
    assert "Second run. " in text


def test_equal_figures_are_not_drawn() -> None:
    pair = report_stage([True, False] * 60), report_stage([True, False] * 60)
    assert "<strong>Figure " not in html(stages=[ComparedStage("full", "P", (), (), pair)])


def test_the_page_names_a_stage_without_results_in_one_run() -> None:
    text = html(
        stages=[ComparedStage("full", "Precision", (), (), (report_stage([True] * 120), None))]
    )
    assert "one of the runs has no results for this stage" in text


def test_the_page_does_not_refer_to_files() -> None:
    pair = report_stage([True, False] * 60), report_stage([False, True, True] * 40)
    text = html(stages=[ComparedStage("full", "P", ("x",), [TableRows("a", 1, 0, 0)], pair)])
    assert 'class="files"' not in text
    assert "in the files" not in text


def test_hostile_texts_are_escaped() -> None:
    text = html(
        first=Side(HOSTILE, HOSTILE, [stage_finding(0.1, HOSTILE)], (HOSTILE,)),
        settings=[(HOSTILE, HOSTILE, HOSTILE)],
        stages=[ComparedStage(HOSTILE, HOSTILE, (HOSTILE,),
                              [TableRows(HOSTILE, 1, 1, 1, [("removed", HOSTILE, HOSTILE)])])],
        equal=(HOSTILE,), provenance={HOSTILE: HOSTILE},
    )  # fmt: skip
    assert "<img onerror" not in text


def test_equal_input_gives_equal_bytes() -> None:
    pair = report_stage([True, False] * 60), report_stage([False, True, True] * 40)
    result = DiffInput(
        first=Side("a:1", ""), second=Side("a:2", ""),
        stages=[ComparedStage("full", "P", (), (), pair)],
    )  # fmt: skip
    assert diff_page(result) == diff_page(result)
