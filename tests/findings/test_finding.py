"""A finding has a number; a finder is registered under its name and kinds of stages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.findings.base import FINDERS, Finding
from pipeline.stages.base import STAGES


@given(st.text(alphabet=st.characters(exclude_categories=["Nd"])))
def test_a_sentence_without_a_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="without a number"):
        Finding(about="x", text=text)


@given(st.text(), st.integers(0, 9))
def test_a_digit_is_enough(text: str, digit: int) -> None:
    assert Finding(about="x", text=f"{text}{digit}").kind == "answer"


def test_every_finder_reads_stages_that_there_are() -> None:
    uses = {use for name in FINDERS for use in FINDERS.get(name).stages}
    assert uses
    assert uses <= set(STAGES)


@pytest.mark.parametrize(
    "use",
    ["evaluate.systems", "evaluate.type_level", "evaluate.token_level", "evaluate.overlapping",
     "evaluate.shares", "evaluate.lexicon", "evaluate.lexicons", "join.keying", "evaluate.comparison"],
)  # fmt: skip
def test_these_stages_have_findings(use: str) -> None:
    assert [name for name in FINDERS if use in FINDERS.get(name).stages]
