"""Checks of collocation stages: what each reports, and when it reports nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from tests.remarks.run_check import run_check


def annotation_tables(**labels: str) -> dict[str, pl.DataFrame]:
    """Return annotations: a letter of each annotator for each candidate, "." for none."""
    rows = [
        (f"x{number:03}", annotator, label)
        for annotator, letters in labels.items()
        for number, label in enumerate(letters)
        if label != "."
    ]
    return {"annotations": pl.DataFrame(rows, schema=["id", "annotator", "label"], orient="row")}


def adjudication_tables(labels: str, annotators: int = 2) -> dict[str, pl.DataFrame]:
    rows = [(None if each == "?" else each, annotators) for each in labels]
    return {"adjudicated": pl.DataFrame(rows, schema=["label", "annotators"], orient="row")}


def test_annotators_who_agree_on_everything_are_reported() -> None:
    (remark,) = run_check("all_agree", outputs=annotation_tables(anna="ab" * 10, ben="ab" * 10))
    assert "all 20 candidates" in remark.text


def test_a_single_difference_rules_out_the_remark() -> None:
    assert not run_check(
        "all_agree", outputs=annotation_tables(anna="ab" * 10, ben="ab" * 9 + "aa")
    )


def test_agreement_on_few_or_separate_candidates_is_ignored() -> None:
    assert not run_check("all_agree", outputs=annotation_tables(anna="ab" * 9, ben="ab" * 9))
    assert not run_check("all_agree", outputs=annotation_tables(anna="ab" * 20))
    apart = annotation_tables(anna="ab" * 20 + "." * 40, ben="." * 40 + "ab" * 20)
    assert not run_check("all_agree", outputs=apart)


def test_an_annotator_who_uses_only_one_label_has_a_warning() -> None:
    (remark,) = run_check("one_label", outputs=annotation_tables(anna="ab" * 20, ben="b" * 40))
    assert remark.level == "warning"
    assert "ben 'b', 40 times" in remark.text
    assert not run_check("one_label", outputs=annotation_tables(anna="b" * 19))


def test_many_undecided_candidates_are_reported() -> None:
    (remark,) = run_check("undecided", outputs=adjudication_tables("aab?"))
    assert remark.level == "note"
    assert 'use = "evaluate.agreement"' in (remark.remedy or "")
    assert remark.numbers == {"undecided": 1, "labelled": 4}
    assert not run_check("undecided", outputs=adjudication_tables("a" * 19 + "?"))


def test_candidates_left_open_by_one_person_are_not_undecided() -> None:
    assert not run_check("undecided", outputs=adjudication_tables("?" * 9, annotators=1))


def test_one_person_with_several_names_is_reported() -> None:
    (remark,) = run_check(
        "several_names", inputs=annotation_tables(**{"a1": "ab", " A1": "ab", "b": "ab"})
    )
    assert remark.such_as == ("' A1' = 'a1'",)
    assert remark.numbers == {"people": 1}
    assert not run_check("several_names", inputs=annotation_tables(a1="ab", a11="ab"))


def test_annotators_without_a_sheet_are_reported() -> None:
    sheet = {"sheet": pl.DataFrame({"annotator": ["anna", "ben"]})}
    annotations = annotation_tables(anna="ab", benn="ab", carla="a")
    (remark,) = run_check("unasked_annotator", inputs=sheet, outputs=annotations, former=("carla",))
    assert remark.numbers == {"labels": 2}
    assert "did you mean ben?" in remark.remedy
    assert not run_check(
        "unasked_annotator", inputs=sheet, outputs=annotation_tables(anna="a"), former=()
    )


# Judgements from tables and lists.


def coverage(*rows: tuple[str, int, int, int]) -> dict[str, pl.DataFrame]:
    names = ["category", "n_candidates", "n_judged", "n_true"]
    return {"coverage": pl.DataFrame(rows, schema=names, orient="row")}


def test_a_list_of_true_positives_only_has_a_warning() -> None:
    (remark,) = run_check("positives_only", outputs=coverage(("SVC", 9, 6, 6), ("TP", 9, 6, 5)))
    assert remark.level == "warning"
    assert "in SVC (6), so that every precision is 100 %" in remark.text
    assert "join.gold" in remark.remedy
    assert not run_check("positives_only", outputs=coverage(("TP", 9, 4, 4)))
    assert not run_check("positives_only", outputs=coverage(("TP", 6, 6, 6)))


JOIN_FILES = {
    "pairs.tsv": "l1\tl2\tf\tf1\tf2\tN\ntake\tplace\t3\t5\t4\t99\nad\thoc\t2\t9\t4\t99\n",
    "a.tsv": "l1\tl2\tTP\ntake\tplace\t1\nAd\thoc\t1\ntake \tplace\t\n",
    "b.tsv": "l1\tl2\tTP\npay\theed\t0\n",
}
JOIN = """
[stages.pairs]
use = "extract.table"
path = "pairs.tsv"
[stages.labels]
use = "{use}"
path = ["a.tsv", "b.tsv"]
candidates = "pairs"
"""


def remarks_of_join(folder: Path, use: str, options: str = "") -> dict[str, Any]:
    for name, content in JOIN_FILES.items():
        (folder / name).write_text(content)
    config = folder / "own.toml"
    config.write_text('name = "own"\n' + JOIN.format(use=use) + options)
    run = lx.run(config, runs=folder / "runs", report=False)
    return {each.check: each for each in run.remarks.get("labels", ())}


def test_judged_pairs_with_another_spelling_are_reported(tmp_path: Path) -> None:
    remarks = remarks_of_join(tmp_path, "join.table")
    assert remarks["spelt_otherwise"].numbers == {
        "pairs": 1
    }  # the pair without a label is unjudged
    assert remarks["spelt_otherwise"].such_as == ("'Ad' 'hoc' (candidate 'ad' 'hoc')",)
    assert remarks["files_without_candidates"].such_as == ("b.tsv (1 row)",)


LABELS = {"collocation": 30, "free": 170}


@pytest.mark.parametrize(
    ("further", "expected"),
    [
        ({}, []),
        (
            {"Collocation": 1, "c": 1},
            [("warning", ("'Collocation' (1)",)), ("note", ("'c' (1)",))],
        ),
        ({"yes": 1, "unsure": 90}, [("note", ("'yes' (1)",))]),
        ({"colocation": 6}, [("warning", ("'colocation' (6)",))]),  # 3 %
        ({"colocation": 25}, []),  # too frequent for a slip
    ],
)
def test_labels_that_look_like_typing_errors_are_reported(
    tmp_path: Path, further: dict[str, int], expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    values = [label for label, count in (LABELS | further).items() for _ in range(count)]
    units = pl.DataFrame({"l1": "a", "l2": [f"b{n}" for n in range(len(values))]})
    counts = units.with_columns(f=1, f1=len(values), f2=1, N=len(values))
    counts.write_csv(tmp_path / "pairs.tsv", separator="\t")
    units.with_columns(label=pl.Series(values)).write_csv(tmp_path / "a.tsv", separator="\t")
    (tmp_path / "own.toml").write_text(
        'name = "own"\n' + JOIN.format(use="join.table").replace(', "b.tsv"', "")
        + 'categories = { TP = { column = "label", labels = ["collocation"] } }\n'
    )  # fmt: skip
    run = lx.run(tmp_path / "own.toml", runs=tmp_path / "runs", report=False)
    remarks = [each for each in run.remarks.get("labels", ()) if each.check == "odd_labels"]
    assert [(each.level, each.such_as) for each in remarks] == expected


def test_files_without_rows_are_reported() -> None:
    (remark,) = run_check("files_without_candidates", inputs={"path": pl.DataFrame({"file": []})})
    assert "the files have no rows" in remark.text


def test_entries_with_another_spelling_are_reported(tmp_path: Path) -> None:
    own = 'covered = "all"\n'
    remarks = remarks_of_join(tmp_path, "join.gold", own)
    assert remarks["spelt_otherwise"].such_as == ("'Ad' 'hoc' (candidate 'ad' 'hoc')",)
    assert remarks["files_without_candidates"].numbers == {"files": 1}
    lower = remarks_of_join(tmp_path, "join.gold", own + 'case = "lower"\n')
    assert "spelt_otherwise" not in lower


def test_reversed_entries_judge_candidates(tmp_path: Path) -> None:
    own = 'covered = "all"\ncolumns = { l1 = "l2", l2 = "l1" }\neither_order = true\n'
    assert "a.tsv" not in str(
        remarks_of_join(tmp_path, "join.gold", own)["files_without_candidates"]
    )


def ranks(scores: dict[str, list[int]]) -> pl.DataFrame:
    """Return the ranks of candidates with these scores, each list in descending order."""
    rows = [
        {"measure": measure, "rank": place, "id": f"x{place}", "tie": values.index(score) + 1}
        for measure, values in scores.items()
        for place, score in enumerate(values, 1)
    ]
    schema = {"measure": pl.String, "rank": pl.Int64, "id": pl.String, "tie": pl.Int64}
    return pl.DataFrame(rows, schema=schema)


def precision(*rows: tuple[str, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["measure", "n", "n_sampled"], orient="row")


def cuts_beyond(cuts: tuple[int, ...], *, candidates: int) -> list[str]:
    given_ranks = ranks({"mi": list(range(candidates, 0, -1))})
    remarks = run_check("cuts_beyond", inputs={"ranks": given_ranks}, cuts=cuts, measures=())
    return [str(each) for each in remarks]


def test_a_cut_beyond_the_list_is_reported_with_its_size() -> None:
    (remark,) = cuts_beyond((5, 10, 50), candidates=10)
    assert "1 of 3 list sizes exceeds the 10 ranked candidates and is skipped" in remark
    assert "n = 50" in remark


def test_a_cut_at_the_last_candidate_is_not_beyond_the_list() -> None:
    assert not cuts_beyond((10,), candidates=10)


def test_without_candidates_cuts_have_no_remark() -> None:
    assert not cuts_beyond((1,), candidates=0)


def test_a_pool_warns_of_list_sizes_beyond_it_before_people_judge() -> None:
    def remarks_on_pool(*cuts: int) -> Any:
        outputs = {"ranks": ranks({"mi": [3, 2, 1]})}
        return run_check("cuts_beyond_pool", outputs=outputs, later_cuts=cuts, depth=3)

    (remark,) = remarks_on_pool(2, 3, 100, 500)
    assert remark.level == "warning"
    assert remark.text == (
        "2 of 4 list sizes of later stages exceed the 3 ranks of the pool: these lists will not"
        " be evaluated"
    )
    assert remark.such_as == ("n = 100", "n = 500")
    assert not remarks_on_pool(2, 3)
    assert not remarks_on_pool()


@pytest.mark.parametrize(("sampled", "noun"), [(True, "draws"), (False, "candidates")])
def test_draws_and_candidates_without_a_judgement_are_counted(sampled: bool, noun: str) -> None:
    def remarks_on(drawn: int, absent: int) -> Any:
        baseline = {"category": ["SVC", "TP"], "n_drawn": drawn, "n_unjudged": [0, absent]}
        inputs = {"sample": ids(drawn)} if sampled else {}
        return run_check("unjudged", inputs=inputs, outputs={"baseline": pl.DataFrame(baseline)})

    (remark,) = remarks_on(200, 80)
    assert remark.level == "warning"
    assert remark.text.startswith(f"80 of 200 {noun} have no judgement and are excluded")
    assert ("sample.judged" in str(remark)) == (not sampled)
    assert remark.numbers == {"unjudged": 80, "drawn": 200}
    assert not remarks_on(200, 9)
    assert not remarks_on(0, 0)


def test_the_sizes_of_a_choice_are_its_cuts() -> None:
    options: dict[str, Any] = {"size": None, "sizes": (2, 9), "measures": ()}
    inputs = {"ranks": ranks({"mi": [3, 2, 1]})}
    (remark,) = run_check("cuts_beyond", use="evaluate.choice", inputs=inputs, **options)
    assert remark.such_as == ("n = 9",)
    assert not run_check(
        "cuts_beyond", use="evaluate.choice", inputs=inputs, **(options | {"size": 2})
    )


def test_ties_at_a_cut_are_reported_with_the_worst_list() -> None:
    inputs = {"ranks": ranks({"f": [9, 5, 5, 5, 5, 1], "mi": [6, 5, 4, 3, 2, 1]})}
    (remark,) = run_check("ties_at_cut", inputs=inputs, cuts=(1, 3), measures=())
    assert remark.numbers == {"lists": 1, "by_lot": 2, "tied": 4}
    assert "of the 3 best by f, 2 are drawn at random from 4 of equal score" in remark.text
    inputs = {"ranks": ranks({"f": [9, 5, 5, 4, 4]})}
    (remark,) = run_check("ties_at_cut", inputs=inputs, cuts=(2, 4), measures=())
    assert remark.text.startswith("ties at the end of 2 lists (f at n = 2, f at n = 4): of the 2")
    assert "1 is drawn at random from 2 of equal score" in remark.text
    assert remark.such_as == ()


def test_a_tie_that_ends_at_the_cut_is_ignored() -> None:
    inputs = {"ranks": ranks({"f": [9, 5, 5, 1]})}
    assert not run_check("ties_at_cut", inputs=inputs, cuts=(3,), measures=())
    assert run_check("ties_at_cut", inputs=inputs, cuts=(2,), measures=())


def test_ties_of_rankings_that_are_not_evaluated_are_ignored() -> None:
    inputs = {"ranks": ranks({"f": [5, 5, 5], "mi": [3, 2, 1]})}
    assert not run_check("ties_at_cut", inputs=inputs, cuts=(1,), measures=("mi",))


@given(
    scores=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    cut=st.integers(1, 12),
    threshold=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
)
def test_ties_equal_those_counted_by_hand(scores: list[int], cut: int, threshold: float) -> None:
    ordered = sorted(scores, reverse=True)
    remarks = run_check(
        "ties_at_cut", inputs={"ranks": ranks({"f": ordered})}, cuts=(cut,), measures=(),
        threshold=threshold,
    )  # fmt: skip
    split = cut < len(ordered) and ordered[cut - 1] == ordered[cut]
    by_lot = sum(score == ordered[cut - 1] for score in ordered[:cut]) if split else 0
    assert bool(remarks) == (split and by_lot / cut >= threshold)
    if remarks:
        assert remarks[0].numbers["by_lot"] == by_lot


@pytest.mark.parametrize(("judged", "remarked"), [(0, True), (1, True), (4, True), (5, False)])
def test_few_judged_draws_are_reported(judged: int, remarked: bool) -> None:
    cuts = precision(("mi", 100, judged), ("f", 100, 40))
    remarks = run_check("few_judged", outputs={"cuts": cuts})
    assert bool(remarks) == remarked
    if remarks:
        plural = "s" * (judged != 1)
        assert f"MI at n = 100 ({judged} draw{plural})" in remarks[0].such_as[0]


def test_a_fully_judged_short_list_has_no_remark() -> None:
    assert not run_check("few_judged", outputs={"cuts": precision(("mi", 3, 3))})


@pytest.mark.parametrize(("true", "remarked"), [(4, True), (5, False), (35, False), (36, True)])
@pytest.mark.parametrize("interval", ["wilson", "jeffreys", "clopper_pearson"])
def test_approximate_limits_of_few_cases_are_reported(
    interval: str, true: int, remarked: bool
) -> None:
    cuts = precision(("mi", 100, 40), ("f", 40, 40)).with_columns(k_sampled=true)
    remarks = run_check("approximate_limits", outputs={"cuts": cuts}, interval=interval)
    assert bool(remarks) == (remarked and interval != "clopper_pearson")
    if remarks:
        assert f"the limits ({interval}) of 1 of 2 lists rest on fewer than 5" in remarks[0].text
        assert f"MI at n = 100 ({true} of 40 draws are true)" in remarks[0].such_as[0]


def ids(number: int) -> pl.DataFrame:
    return pl.DataFrame({"id": [f"x{i}" for i in range(number)]}, schema={"id": pl.String})


def sample(number: int) -> pl.DataFrame:
    return ids(number).with_columns(multiplicity=pl.lit(1, pl.Int64))


def test_fewer_draws_than_requested_are_reported() -> None:
    inputs, outputs = {"candidates": ids(79)}, {"sample": sample(79)}
    (remark,) = run_check(
        "few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=100
    )
    assert remark.level == "note"
    assert remark.text == "only 79 of the 100 requested candidates were drawn: there are no more"


def test_complete_samples_and_rates_have_no_remark() -> None:
    inputs, outputs = {"candidates": ids(79)}, {"sample": sample(79)}
    for size in (79, None):
        assert not run_check(
            "few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=size
        )


def test_draws_are_counted_with_their_multiplicity() -> None:
    outputs = {"sample": sample(50).with_columns(multiplicity=pl.lit(2, pl.Int64))}
    inputs = {"candidates": ids(50)}
    assert not run_check("few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=100)


def test_without_candidates_samples_have_no_remark() -> None:
    inputs, outputs = {"candidates": ids(0)}, {"sample": sample(0)}
    assert not run_check("few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=9)


def test_strata_smaller_than_their_samples_are_reported() -> None:
    outputs = {"sample": sample(30), "strata": ids(60)}
    (remark,) = run_check("few_drawn", use="sample.stratified", outputs=outputs, sizes=(20, 20))
    assert (
        "only 30 of the 40 requested candidates were drawn: of 60, some are in strata"
        in remark.text
    )


def test_a_designed_sample_larger_than_its_candidates_is_reported() -> None:
    outputs = {"sample": sample(60), "inclusion": ids(60)}
    (remark,) = run_check("few_drawn", use="sample.design", inputs={}, outputs=outputs, size=100)
    assert remark.text == "only 60 of the 100 requested candidates were drawn: there are no more"
    inputs = {"pilot": ids(10)}  # candidates judged before are also in the sample
    outputs = {"sample": sample(50), "inclusion": ids(60)}
    assert not run_check("few_drawn", use="sample.design", inputs=inputs, outputs=outputs, size=40)


def test_a_pool_states_how_much_it_omits() -> None:
    ranks = ids(200).with_columns(measure=pl.lit("mi"))
    inputs, outputs = {"ranks": ranks}, {"candidates": ids(150)}
    (remark,) = run_check("pool_omits", inputs=inputs, outputs=outputs, depth=100)
    assert "150 of 200 candidates and excludes 25%" in remark.text
    assert not run_check("pool_omits", inputs=inputs, outputs={"candidates": ids(195)}, depth=190)


def questions(*widths: float) -> pl.DataFrame:
    """Return questions q0, q1, ... of these widths; from a simple sample all have .1."""
    return pl.DataFrame(
        {"question": [f"q{i}" for i in range(len(widths))], "half_width": widths}
    ).with_columns(simple_half_width=0.1, worse=pl.col("half_width") > 0.1001)


def test_questions_with_wider_intervals_are_named_worst_first() -> None:
    outputs = {"questions": questions(0.11, 0.05, 0.13)}
    (remark,) = run_check("does_worse", use="sample.design", outputs=outputs)
    assert remark.text == (
        "2 of 3 questions will have wider intervals than with a simple sample of equal size:"
        " q2 (1.30 times as wide), q0 (1.10 times as wide)"
    )
    assert remark.level == "note"


def test_questions_without_wider_intervals_have_no_remark() -> None:
    for widths in ((0.1, 0.0), ()):
        assert not run_check(
            "does_worse", use="sample.design", outputs={"questions": questions(*widths)}
        )


def test_pairs_compared_only_at_cuts_are_reported() -> None:
    pairs = [("TP", "a", "b", 10), ("TP", "a", "c", 10), ("TP", "b", "c", 10)]
    columns = ["category", "measure_1", "measure_2", "n"]
    inputs = {"ranks": pl.DataFrame({"rank": [1, 400_000]})}
    outputs = {"comparison": pl.DataFrame(pairs, schema=columns, orient="row")}
    (remark,) = run_check("cuts_only", every=None, inputs=inputs, outputs=outputs)
    assert "3 pairs" in remark.text
    assert "1,200,000 rows" in remark.text
    assert not run_check("cuts_only", every=0, inputs=inputs, outputs=outputs)
    inputs["ranks"] = pl.DataFrame({"rank": [1, 300_000]})
    assert not run_check("cuts_only", every=None, inputs=inputs, outputs=outputs)


def test_few_draws_for_short_lists_are_reported() -> None:
    def remarks_on_sample(n: int, drawn: int, *cuts: int) -> Any:
        outputs, inputs = {"sample": sample(drawn)}, {"candidates": ids(n)}
        return run_check(
            "few_expected", use="sample.random", outputs=outputs, inputs=inputs, size=20,
            later_cuts=cuts,
        )  # fmt: skip

    (remark,) = remarks_on_sample(400, 20, 50, 80, 100, 500)  # 0.05 draws for each candidate
    assert remark.level == "warning"
    assert remark.text.startswith(
        "the lists of 2 of 4 sizes will have fewer than 5 draws on average"
    )
    assert remark.such_as == ("2.5 of the 50 best", "4 of the 80 best")
    assert not remarks_on_sample(400, 20, 100, 200)
    assert not remarks_on_sample(400, 20)
    assert not remarks_on_sample(400, 400, 2)
    assert not remarks_on_sample(0, 0, 5)
