"""Progress of a person, from a fast query, equals a slow count; estimates of remaining work."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.annotate.estimates import QuestionEstimate
from pipeline.annotate.people import (
    all_candidates,
    further_draws,
    further_judgements,
    progress_of,
)
from pipeline.annotate.web.estimates import remaining_work_text
from pipeline.formats.annotation_log import (
    NAME,
    Decision,
    Kind,
    Round,
    TaskRequest,
    append,
    card,
    open_log,
    update_tasks,
)
from tests.annotate.served import items

PEOPLE = ("ana", "ben")
ROUNDS: tuple[Round, ...] = ("annotation", "adjudication")
ACTS = st.lists(
    st.tuples(
        st.sampled_from(PEOPLE),
        st.sampled_from(ROUNDS),
        st.sampled_from(["x0", "x1", "x2"]),
        st.sampled_from(["label", "label", "skip", "undo", "import"]),
        st.sampled_from(["SVC", None]),
        st.booleans(),
    ),
    max_size=14,
)
Act = tuple[str, Round, str, Kind, str | None, bool]


@given(acts=ACTS, fewer_tasks=st.booleans())
def test_progress_equals_a_count_over_the_cards(
    tmp_path_factory: pytest.TempPathFactory, acts: list[Act], fewer_tasks: bool
) -> None:
    contents = items(3)
    every = [TaskRequest(who, each, 1) for who in PEOPLE for each in contents]
    with open_log(tmp_path_factory.mktemp("far") / NAME) as log:
        for round_name in ROUNDS:
            update_tasks(log, contents, every, round_name=round_name)
        for number, (who, round_name, item, kind, answer, unsure) in enumerate(acts):
            label = answer if kind in {"label", "import"} else None
            append(
                log,
                [
                    Decision(
                        f"{number}", who, item, kind, label, unsure=unsure, round_name=round_name
                    )
                ],
            )
        if fewer_tasks:
            update_tasks(log, contents, every[:4])
        for round_name in ROUNDS:
            for who in PEOPLE:
                cards = [card(log, who, each, round_name=round_name) for each in contents]
                stand = [each.standing for each in cards if each is not None]
                assert progress_of(log, who, round_name=round_name) == {
                    "asked": len(stand),
                    "done": sum(each.answer is not None for each in stand),
                    "aside": sum(each.skipped > 0 for each in stand),
                    "unsure": sum(each.unsure for each in stand if each.answer is not None),
                }


def test_progress_of_a_person_without_tasks_is_zero(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with open_log(tmp_path_factory.mktemp("far") / NAME) as log:
        assert progress_of(log, "eve") == {"asked": 0, "done": 0, "aside": 0, "unsure": 0}


# Estimates of the remaining work


def row(
    half: float | None, *, draws: int = 100, members: float = 1e12, question: str = "mi"
) -> QuestionEstimate:
    lower, upper = (None, None) if half is None else (0.5 - half, 0.5 + half)
    return QuestionEstimate("s", "TP", question, 200, 0.5, lower, upper, draws, members)


@given(
    draws=st.integers(1, 500),
    half=st.floats(0.001, 1.0),
    target=st.floats(0.001, 0.5),
    members=st.integers(1, 2000),
)
def test_further_draws_are_the_smallest_sufficient_number(
    draws: int, half: float, target: float, members: int
) -> None:
    more = further_draws(draws, half, target=target, members=members)
    assert more is not None
    if half <= target or draws >= members:
        assert more == 0
        return

    def then(d: int) -> float:
        return half * math.sqrt(max(0.0, 1 / d - 1 / members) / (1 / draws - 1 / members))

    assert then(draws + more) <= target * (1 + 1e-6)
    assert draws + more <= members
    assert more == 1 or then(draws + more - 1) > target * (1 - 1e-6)


def test_judgements_are_projected_from_the_share_of_the_question() -> None:
    assert further_judgements(row(0.1, draws=50), judged=200, target=0.05) == 600
    assert further_judgements(row(0.1, draws=0), judged=200, target=0.05) is None
    assert further_judgements(row(None), judged=200, target=0.05) is None
    assert further_judgements(row(0.0625), judged=200, target=0.0625) == 0


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([], ""),
        ([row(0.04)], "Done: all limits are within ±5 points."),
        ([row(0.5, draws=0)], "Too few judgements"),
        (
            [row(0.04), row(0.1, question="t_score")],
            (
                "About 300 more judgements until all limits are within ±5 points."
                " Not there yet: 1 of 2 questions; t_score at 200 takes longest."
            ),
        ),
    ],
)
def test_remaining_work_is_summarised(rows: list[QuestionEstimate], text: str) -> None:
    assert remaining_work_text(rows, judged=100, rest=1000, target=0.05).startswith(text)


def test_a_sample_that_is_too_small_is_named() -> None:
    text = remaining_work_text([row(0.1)], judged=100, rest=20, target=0.05)
    assert text.endswith("This sample has 20 left: a larger sample is needed.")


def test_remaining_work_is_at_most_the_number_of_candidates() -> None:
    rows = [row(0.4, draws=7, members=50), replace(row(0.1), question="all candidates", n=600)]
    assert all_candidates(rows) == 600
    assert further_judgements(rows[0], judged=116, target=0.05, candidates=600) == 484
    assert (
        further_judgements(rows[0], judged=116, target=0.05) == 647
    )  # 39 more of the list, times 116 / 7
    assert "About 484 more" in remaining_work_text(rows, judged=116, rest=0, target=0.05)
    assert remaining_work_text(rows, judged=116, rest=0, target=0.05).endswith(
        "This sample is fully judged: a larger sample is needed."
    )
