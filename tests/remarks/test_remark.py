from __future__ import annotations

import pytest

from pipeline.remarks.base import Remark


@pytest.mark.parametrize(
    ("remedy", "advice"),
    [
        ("ask for fewer", "Ask for fewer."),
        ("fold = true makes them one", "fold = true makes them one."),
        ("dependency.label: did you mean obj?", "dependency.label: did you mean obj?"),
        ("[remarks] x = false leaves it out", "[remarks] x = false leaves it out."),
    ],
)
def test_a_remedy_as_a_sentence(remedy: str, advice: str) -> None:
    assert Remark(level="note", text="x", remedy=remedy).advice == advice
