"""The grammar of findings: numbers come back, nothing crashes, no verdict without its test."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pipeline.findings import phrases
from pipeline.findings.phrases import Difference

SHARES = st.floats(0, 1)
ANY = st.floats(allow_nan=True, allow_infinity=True)
SMALL = st.floats(-1, 1)
NAMES = st.text(min_size=1, max_size=8)
VERDICTS = re.compile(r"\b(worse|better|above|below)\b")


def read(text: str) -> float:
    """Return the number that a text prints."""
    return float(text.replace("−", "-").replace(",", "").replace("%", "").replace("points", ""))


@given(st.floats(-1e9, 1e9), st.integers(0, 4))
@example(-0.0001, 1)
def test_a_number_is_the_nearest_with_its_digits(value: float, digits: int) -> None:
    said = phrases.number(value, digits)
    assert read(said) == pytest.approx(value, abs=0.5000001 * 10**-digits, rel=1e-12)
    assert "-" not in said
    assert not re.fullmatch(r"−[0.,]+", said)


@given(SHARES)
def test_a_proportion_comes_back(share: float) -> None:
    assert read(phrases.per_cent(share)) / 100 == pytest.approx(share, abs=0.0005001)


@given(SMALL)
def test_a_difference_comes_back_with_its_sign(difference: float) -> None:
    said = phrases.points(difference)
    assert read(said) / 100 == pytest.approx(difference, abs=0.0005001)
    assert said.startswith(("+", "−")) != (read(said) == 0)


@given(SMALL)
def test_a_coefficient_comes_back(value: float) -> None:
    said = phrases.coefficient(value)
    assert read(said) == pytest.approx(value, abs=0.005001)
    assert not said.replace("−", "").startswith("0.")


@given(ANY, st.one_of(st.none(), ANY), st.one_of(st.none(), ANY))
@example(math.nan, math.inf, -math.inf)
@example(1e300, -1e300, 0.0)
def test_no_number_is_too_odd_for_words(
    value: float, lower: float | None, upper: float | None
) -> None:
    said = [
        phrases.per_cent(value), phrases.estimate(value, lower, upper), phrases.points(value),
        phrases.coefficient(value, lower, upper), phrases.interval(lower, upper),
        phrases.points_within(value, lower, upper), phrases.p_value(value), phrases.adjusted(value),
        phrases.number(value, 2), phrases.spread(value, lower, 3),
    ]  # fmt: skip
    assert not [text for text in said if re.search(r"nan|inf\b|-", text)]


@given(SHARES)
def test_a_p_value_is_never_rounded_over_a_level(p: float) -> None:
    said = phrases.p_value(p)
    if said == "p < .001":
        assert p < 0.001
        return
    shown = float(said.removeprefix("p = "))
    assert shown == pytest.approx(p, abs=0.0005001)
    # Close to the customary level it has as many digits as tell on which side it is.
    if not math.isclose(p, 0.05, abs_tol=0.00005):
        assert (shown < 0.05) == (p < 0.05)


@given(st.lists(NAMES, max_size=9), st.integers(1, 6))
def test_a_list_names_or_counts_all(items: list[str], most: int) -> None:
    said = phrases.listed(items, most=most)
    assert all(item in said for item in items[:most])
    if len(items) > most:
        assert said.endswith(f" and {len(items) - most} more")
    if not items:
        assert said == "none"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("baseline 1", "Baseline 1."), ("MI is", "MI is."), ("t-score 2", "t-score 2."),
     ("logDice 1", "logDice 1."), ("really?", "Really?"), ("", "."), ("שלום 1", "שלום 1.")],
)  # fmt: skip
def test_sentences(text: str, sentence: str) -> None:
    assert phrases.sentence(text) == sentence


@given(st.integers(0, 10**9))
def test_a_rough_number_has_two_digits(count: int) -> None:
    said = phrases.rounded(count)
    assert said == pytest.approx(count, rel=0.0501)
    assert len(str(said).rstrip("0")) <= 2


DIFFERENCES = st.builds(Difference, NAMES, ANY, ANY)


@given(st.lists(DIFFERENCES, min_size=1, max_size=4), st.floats(0.001, 0.2))
@example([Difference("a", -0.1, math.nan)], 0.05)
@example([Difference("a", math.nan, 0.01)], 0.05)
@example([Difference("a", 0.0, 0.01)], 0.05)
def test_no_verdict_without_its_test(those: list[Difference], alpha: float) -> None:
    for say, side in ((phrases.worse, -1), (phrases.better, 1)):
        if all(each.p_adjusted < alpha and side * each.difference > 0 for each in those):
            assert VERDICTS.search(say(those, alpha=alpha))
        else:
            with pytest.raises(ValueError, match="the test does not say"):
                say(those, alpha=alpha)


@given(SMALL, ANY, st.floats(0.001, 0.2))
@example(-0.1, math.nan, 0.05)
def test_held_against_gives_a_side_where_the_test_does(
    difference: float, p: float, alpha: float
) -> None:
    said = phrases.held_against(Difference("it", difference, p), alpha=alpha)
    side = VERDICTS.search(said)
    assert bool(side) == (p < alpha and difference != 0)
    if side:
        assert side[0] == ("above" if difference > 0 else "below")


@given(st.lists(st.tuples(NAMES, st.one_of(st.none(), SHARES)), min_size=1, max_size=6))
def test_not_told_apart_is_no_verdict(those: list[tuple[str, float | None]]) -> None:
    assume(not any(VERDICTS.search(name) for name, _ in those))
    assert not VERDICTS.search(phrases.not_told_apart(those))
