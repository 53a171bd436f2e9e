"""What measures say of empty margins, O11 = 0 and O11 = E11 is so, and nothing is left unsaid."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from pipeline.kernels.association.scoring import score
from pipeline.kernels.measure import MEASURES
from tests.kernels.association.cells import Cells, frame

TABLES = [
    Cells(f, f1, f2, n)
    for n in (1, 2, 4, 6, 9)
    for f1 in range(n + 1)
    for f2 in range(n + 1)
    for f in range(max(0, f1 + f2 - n), min(f1, f2) + 1)
]
"""All tables of so many tokens."""


def cell(i: int) -> Callable[[Cells], bool]:
    return lambda c: not c.observed[i]


def margin(i: int) -> Callable[[Cells], bool]:
    return lambda c: not c.margins[i]


def number(text: str) -> Callable[[float | None], bool]:
    return lambda score: score == pytest.approx(float(text), rel=1e-15, abs=0)


WHERE: dict[str, Callable[[Cells], bool]] = {
    **{f"{name} = 0": cell(i) for i, name in enumerate(("O11", "O12", "O21", "O22"))},
    **{f"{name} = 0": margin(i) for i, name in enumerate(("R1", "R2", "C1", "C2"))},
    "a margin is empty": lambda c: not all(c.margins),
    "two margins are empty": lambda c: c.margins.count(0) == 2,
    "R1 = C1 = 0": lambda c: c.f1 == c.f2 == 0,
    "O12 = O21 = 0": lambda c: c.f == c.f1 == c.f2,
    "O11 = N": lambda c: c.f == c.n,
    "E11 = 0": lambda c: not c.expected[0],
    "E11 = N": lambda c: c.expected[0] == c.n,
    "O11 = E11": lambda c: not c.determinant,
    "|O11 - E11| <= 1/2": lambda c: abs(c.delta) <= 0.5,
}  # fmt: skip
IS: dict[str, Callable[[float | None], bool]] = {
    "null": lambda score: score is None,
    "above 0": lambda score: score is not None and score > 0,
    "below 0": lambda score: score is not None and score < 0,
    "below log10 2": lambda score: score is not None and score < math.log10(2),
    "log10 2": lambda score: score == pytest.approx(math.log10(2), rel=1e-15),
    **{text: number(text) for text in ("0", "1", "-1", "-100", "inf", "-inf")},
}  # fmt: skip
SAID = {name: MEASURES.get(name).note for name in MEASURES if name != "random"}


def clauses(note: str) -> list[tuple[str, list[str]]]:
    """Return what a note says: values, and the conditions of each."""
    found = (clause.partition(" where ") for clause in note.split("; "))
    return [
        (value, where.split(",")[0].split(":")[0].split(" or "))
        for value, _, where in found
        if where
    ]


@pytest.mark.parametrize("name", SAID)
def test_what_a_note_says(name: str) -> None:
    """The first clause that fits decides; null and infinity need one."""
    scores = score(frame(*TABLES), measures=[name]).collect()[name].to_list()
    unused = {place for place, _ in enumerate(clauses(SAID[name]))}
    for cells, value in zip(TABLES, scores, strict=True):
        for place, (said, conditions) in enumerate(clauses(SAID[name])):
            if any(WHERE[each](cells) for each in conditions):
                assert IS[said](value), (cells, value, said)
                unused.discard(place)
                break
        else:
            assert value is not None, cells
            assert math.isfinite(value), cells
    assert not unused


def test_who_says_nothing() -> None:
    assert {name for name, note in SAID.items() if not note} == {"frequency"}
