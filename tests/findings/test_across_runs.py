"""Findings across runs: none is lost, and none is called better."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.findings.across_runs import (
    Pair,
    at_point,
    brief,
    leading_answers,
    over_points,
    pair_findings,
)
from pipeline.findings.base import Finding, StageFinding


def stage_finding(
    name: str, value: float, about: str = "L*", question: str = "how good"
) -> StageFinding:
    text = f"L* of {name}: {100 * value:.1f} %."
    return StageFinding(
        "quality", Finding(about=about, text=text, question=question, name=name, value=value)
    )


def kinds(pairs: list[Pair]) -> list[str]:
    return [pair.kind for pair in pairs]


def test_equal_sentences_belong_to_both_runs() -> None:
    (pair,) = pair_findings([stage_finding("a", 0.5)], [stage_finding("a", 0.5)])
    assert (pair.kind, pair.change) == ("both", "")


def test_different_numbers_have_a_change_in_points() -> None:
    (pair,) = pair_findings([stage_finding("a", 0.5)], [stage_finding("a", 0.375)])
    assert (pair.kind, pair.change) == ("other", "−12.5 points")


def test_findings_with_different_names_have_no_change() -> None:
    (pair,) = pair_findings([stage_finding("a", 0.5)], [stage_finding("b", 0.375)])
    assert (pair.kind, pair.change) == ("other", "")


def test_findings_with_different_sizes_have_no_change() -> None:
    one, two = (
        Finding(about="best", text=f"{v} %.", question="q", name="mi", n=n, value=v / 100)
        for v, n in ((50.0, 100), (40.0, 200))
    )
    assert Pair("tests", one, two).change == ""


def test_findings_are_paired_by_name() -> None:
    pairs = pair_findings(
        [stage_finding("a", 0.1), stage_finding("b", 0.2)],
        [stage_finding("b", 0.3), stage_finding("a", 0.4)],
    )
    assert [
        (pair.first.name, pair.second.name) for pair in pairs if pair.first and pair.second
    ] == [
        ("a", "a"),
        ("b", "b"),
    ]


def test_of_several_findings_different_names_are_not_paired() -> None:
    pairs = pair_findings(
        [stage_finding("a", 0.1), stage_finding("b", 0.2)],
        [stage_finding("c", 0.3), stage_finding("d", 0.4)],
    )
    assert sorted(kinds(pairs)) == ["first", "first", "second", "second"]


def test_findings_on_different_questions_are_not_paired() -> None:
    pairs = pair_findings([stage_finding("a", 0.1)], [stage_finding("a", 0.1, question="how sure")])
    assert kinds(pairs) == ["first", "second"]


def test_two_runs_without_findings_have_no_pairs() -> None:
    assert pair_findings([], []) == []


FOUND = st.lists(
    st.builds(
        stage_finding,
        st.sampled_from("abc"),
        st.sampled_from([0.1, 0.2]),
        st.sampled_from(["L*", "lost"]),
    ),
    max_size=6,
)


@given(FOUND, FOUND)
def test_each_finding_is_in_exactly_one_pair(
    first: list[StageFinding], second: list[StageFinding]
) -> None:
    pairs = pair_findings(first, second)
    mine = [pair.first for pair in pairs if pair.first is not None]
    its = [pair.second for pair in pairs if pair.second is not None]
    assert mine == [each.finding for each in first]
    assert sorted(map(repr, its)) == sorted(repr(each.finding) for each in second)


@given(FOUND)
def test_all_findings_of_a_run_and_itself_are_equal(findings: list[StageFinding]) -> None:
    assert set(kinds(pair_findings(findings, findings))) <= {"both"}


# Points are counted by the tests of each point, which are not repeated.

QUESTION = "best for 500 candidates"


def best(name: str, *together: str, value: float = 0.3) -> list[StageFinding]:
    """Return the findings of a comparison at a point."""
    text = f"Best for 500 candidates: {name}, {100 * value:.1f} % true positives."
    findings = [Finding(about="best", text=text, question=QUESTION, name=name, value=value)]
    if together:
        findings.append(
            Finding(
                about="together", text="2 are not significantly worse.", question=QUESTION,
                name=together[0], names=together,
            )
        )  # fmt: skip
    return [StageFinding("tests", each) for each in findings]


def texts_over_points(points: list[list[StageFinding]]) -> list[str]:
    labels = [f"point {place}" for place in range(len(points))]
    return [
        finding.text for lead in leading_answers(points) for finding in over_points(lead, labels)
    ]


def test_inseparable_measures_are_counted() -> None:
    points = [best("mi"), best("t_score", "mi", "dice"), best("t_score")]
    assert texts_over_points(points) == [
        (
            "Best for 500 candidates: MI and t-score are each best, or not significantly worse than"
            " the best, at 2 of 3 points; Dice at 1."
        )
    ]


def test_a_measure_best_at_all_points_has_a_range_of_estimates() -> None:
    texts = texts_over_points([best("mi", value=0.25), best("mi", value=0.4)])
    assert texts == [
        (
            "Best for 500 candidates: MI is best, or not significantly worse than the best, at all 2"
            " points."
        ),
        "Best for 500 candidates: MI, from 25.0 % (point 0) to 40.0 % (point 1) over 2 points.",
    ]


def test_equal_results_of_all_points_are_last() -> None:
    same = StageFinding("full", Finding(about="baseline", text="Baseline 11.1 %.", value=0.111))
    texts = texts_over_points([[same, *best("mi")], [same, *best("dice")]])
    assert texts[-1] == "Same result at all 2 points: Baseline 11.1 %."
    assert "Baseline" not in texts[0]


def test_points_without_an_answer_do_not_count() -> None:
    (text,) = texts_over_points([best("mi"), [], best("dice")])
    assert text.startswith("Best for 500 candidates: Dice and MI are each")
    assert "1 of 2 points" in text


def test_fewer_than_two_points_have_no_findings() -> None:
    assert texts_over_points([best("mi")]) == []
    assert texts_over_points([[]]) == []
    assert leading_answers([]) == []


def test_cautions_are_not_counted_as_answers() -> None:
    caution = Finding(about="ties", kind="caution", text="3 ties.", question=QUESTION)
    assert leading_answers([[StageFinding("tests", caution)]]) == []


def test_an_answer_at_a_point_is_abbreviated() -> None:
    (one,) = leading_answers([best("t_score", "mi", "dice", "phi"), []])
    assert at_point(one, 0) == "t_score, 30.0 % true positives; with MI, Dice and 1 more"
    assert at_point(one, 1) == ""


def test_values_of_no_known_unit_have_no_span() -> None:
    points = [
        [StageFinding("a", Finding(about="x", text=f"{n} rows.", question="q", name="x", value=n))]
        for n in (4.0, 5.0)
    ]
    assert texts_over_points(points) == []


def test_a_hostile_name_stays_on_its_line() -> None:
    points = [best("a\nb" + "x" * 90), best("mi")]
    assert all("\n" not in text and len(text) < 250 for text in texts_over_points(points))


@given(st.lists(st.sampled_from(["mi", "dice", "phi"]), min_size=2, max_size=9))
def test_the_count_equals_the_number_of_points(names: list[str]) -> None:
    (one,) = leading_answers([best(name) for name in names])
    first = next(iter(over_points(one, [""] * len(names))), None)
    assert first is not None
    if len(set(names)) > 1:
        most = max(names.count(name) for name in names)
        assert first.value == most
        assert f"{most} of {len(names)} points" in first.text


def test_brief_removes_the_question_in_any_case() -> None:
    finding = Finding(about="best", text="BEST for 9: a, 3 %; b.", question="best for 9")
    assert brief(finding) == "a, 3 %"
