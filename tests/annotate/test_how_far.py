"""How far a person is, counted quickly, is what is counted slowly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.annotate.progress import how_far
from pipeline.formats.annotation_log import (
    NAME,
    Asked,
    Decision,
    Kind,
    Round,
    append,
    card,
    opened,
    take_over,
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


@given(acts=ACTS, gone=st.booleans())
def test_as_the_slow_count(
    tmp_path_factory: pytest.TempPathFactory, acts: list[Act], gone: bool
) -> None:
    shown = items(3)
    every = [Asked(who, each, 1) for who in PEOPLE for each in shown]
    with opened(tmp_path_factory.mktemp("far") / NAME) as log:
        for named in ROUNDS:
            take_over(log, shown, every, round=named)
        for number, (who, named, item, kind, answer, unsure) in enumerate(acts):
            said = answer if kind in {"label", "import"} else None
            append(
                log,
                [Decision(f"{number}", who, item, kind, said, unsure=unsure, round=named)],
            )
        if gone:
            take_over(log, shown, every[:4])
        for named in ROUNDS:
            for who in PEOPLE:
                cards = [card(log, who, each, named=named) for each in shown]
                stand = [each.standing for each in cards if each is not None]
                assert how_far(log, who, named=named) == {
                    "asked": len(stand),
                    "done": sum(each.answer is not None for each in stand),
                    "aside": sum(each.skipped > 0 for each in stand),
                    "unsure": sum(each.unsure for each in stand),
                }


def test_who_is_not_asked_is_nowhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    with opened(tmp_path_factory.mktemp("far") / NAME) as log:
        assert how_far(log, "eve") == {"asked": 0, "done": 0, "aside": 0, "unsure": 0}
