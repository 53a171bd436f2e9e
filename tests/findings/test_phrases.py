"""Phrases of findings: names, numbers, intervals, and no verdict without its test."""

from __future__ import annotations

import ast
import math
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import pipeline.findings
from pipeline.findings import phrases
from pipeline.findings.phrases import (
    LONGEST,
    Difference,
    Interval,
    compare_by_interval,
    differs,
    highest,
    name_text,
)

HOSTILE = "</script><img onerror=alert(1) src=x>"


@given(st.text(), st.integers(2, 60))
def test_a_name_is_short_and_on_one_line(name: str, most: int) -> None:
    text = name_text(name, most=most)
    inside = text.strip("\u2068\u2069")
    assert inside == "(empty)" or 1 <= len(inside) <= most
    assert "\n" not in text
    hidden = {"Cc", "Cs", "Cn", "Co"}
    assert not [letter for letter in text if unicodedata.category(letter) in hidden]
    assert text.count("\u2068") == text.count("\u2069") <= 1


@given(st.text())
def test_shortening_a_name_twice_changes_nothing(name: str) -> None:
    inside = name_text(name).strip("\u2068\u2069")
    assert name_text(inside).strip("\u2068\u2069") == inside


@pytest.mark.parametrize("name", ["NOUN", "tree, 3 bits", "ħudeż", "naïve", HOSTILE])
def test_an_ordinary_name_is_unchanged(name: str) -> None:
    assert name_text(name) == name


def test_right_to_left_names_are_isolated() -> None:
    assert name_text("שלום") == "\u2068שלום\u2069"
    assert name_text("كتاب 1") == "\u2068كتاب 1\u2069"


def test_directional_marks_are_removed() -> None:
    assert name_text("a\u202ecba\u2066") == "acba"


def test_joiners_of_spelling_are_preserved() -> None:
    assert "\u200c" in name_text("می\u200cخواهم")


def test_long_names_end_in_dots() -> None:
    assert name_text("x" * 10_000) == "x" * (LONGEST - 1) + "…"


# Words of verdicts are in one file, whose functions check the test first.

FOLDER = Path(pipeline.findings.__file__).parent
JUDGING = "phrases.py"
WORDS = re.compile(
    r"\b(better|worse|above|below|best|worst|highest|superior|inferior|equivalent|significantly)\b",
    re.I,
)
ALLOWED_TEXTS = {
    "base.py": {"best", "highest", "worse"},
    "collocations/comparison.py": {
        "best", "worse", "best for ", "equivalent", "equivalent measures for ",
    },
    "collocations/designed.py": {"best", "highest estimate", "highest"},
    "collocations/precision.py": {"highest estimate for ", "highest", "best"},
    "lexicon.py": {
        "highest", "best-match F1", " if it is compared with its best match",
    },
    "across_runs.py": {"best", "best, or not significantly worse than the best,"},
}  # fmt: skip
"""Texts that are not verdicts: names of columns and measures, an order that a test gave."""


def texts(tree: ast.Module) -> Iterator[str]:
    """Yield the strings of a module that are not docstrings."""
    docstrings = {
        id(node.value) for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield str(node.value)


def test_words_of_verdicts_occur_only_in_their_files() -> None:
    result = {}
    for path in FOLDER.glob("**/*.py"):
        name = path.relative_to(FOLDER).as_posix()
        mine = {text for text in texts(ast.parse(path.read_text())) if WORDS.search(text)}
        if name != JUDGING and mine - ALLOWED_TEXTS.get(name, set()):
            result[name] = mine - ALLOWED_TEXTS.get(name, set())
    assert result == {}, "let phrases.py say it, or list it here if it is no verdict"


def test_every_allowed_text_occurs() -> None:
    for name, allowed in ALLOWED_TEXTS.items():
        there = set(texts(ast.parse((FOLDER / name).read_text())))
        assert {text for text in allowed if WORDS.search(text)} <= there, name


def test_the_scan_detects_a_verdict() -> None:
    tree = ast.parse('"""Best."""\ntext = f"{name} is better"\n')
    assert [text for text in texts(tree) if WORDS.search(text)] == [" is better"]


# Verdicts by intervals: a side is named only if 0 is outside the interval.

LIMITS = st.one_of(st.none(), st.floats(-1, 1), st.just(math.nan))
INTERVALS = st.builds(Interval, st.just("it"), st.floats(-1, 1), LIMITS, LIMITS)


@given(INTERVALS)
@example(Interval("it", -0.1, -0.2, 0.0))
@example(Interval("it", 0.0, 0.0, 0.0))
@example(Interval("it", -0.1, -0.05, -0.2))
@example(Interval("it", math.nan, -0.2, -0.1))
def test_a_side_is_named_only_if_0_is_outside_the_interval(each: Interval) -> None:
    text = compare_by_interval(each, than="that")
    word = next((word for word in ("worse", "better") if word in text), None)
    assert (word is not None) == each.settled
    if word is None:
        with pytest.raises(ValueError, match="does not show the sign"):
            differs(each, than="that")
        return
    assert each.lower is not None
    assert each.upper is not None
    assert word == ("worse" if each.difference < 0 else "better")
    assert each.lower <= each.upper
    assert each.upper < 0 if word == "worse" else each.lower > 0


@given(INTERVALS.filter(lambda each: None not in (each.lower, each.upper)))
def test_the_two_sides_are_mirror_images(each: Interval) -> None:
    assert each.lower is not None
    assert each.upper is not None
    turned = Interval("it", -each.difference, -each.upper, -each.lower)
    assert turned.settled == each.settled


@pytest.mark.parametrize(
    ("interval", "message"),
    [
        (Interval("b", -0.065, -0.065, -0.065), "b is worse than a (exactly −6.5 points)"),
        (Interval("b", 0.0, 0.0, 0.0), "b does not differ significantly from a (exactly 0.0 points)"),
        (Interval("b", 0.02, 0.01, 0.03), "b is better than a (+2.0 points [+1.0, +3.0])"),
        (Interval("b", 0.02, None, 0.03), "b differs from a by +2.0 points, but no interval can be estimated"),
    ],
)  # fmt: skip
def test_compare_by_interval_states_the_difference_and_its_interval(
    interval: Interval, message: str
) -> None:
    assert compare_by_interval(interval, than="a") == message


def test_the_highest_of_many_is_counted() -> None:
    assert highest("by types", list("abcdef"), "50.0 %") == (
        "highest by types: a, b, c, d and 2 more (tied), 50.0 %"
    )


# The phrases of findings: numbers read back, nothing crashes, no verdict without its test.

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
def test_a_printed_number_is_the_nearest_with_its_digits(value: float, digits: int) -> None:
    text = phrases.number(value, digits)
    assert read(text) == pytest.approx(value, abs=0.5000001 * 10**-digits, rel=1e-12)
    assert "-" not in text
    assert not re.fullmatch(r"−[0.,]+", text)


@given(SHARES)
def test_a_printed_proportion_reads_back(share: float) -> None:
    assert read(phrases.per_cent(share)) / 100 == pytest.approx(share, abs=0.0005001)


@given(SMALL)
def test_a_printed_difference_reads_back_with_its_sign(difference: float) -> None:
    text = phrases.points(difference)
    assert read(text) / 100 == pytest.approx(difference, abs=0.0005001)
    assert text.startswith(("+", "−")) != (read(text) == 0)


@given(SMALL)
def test_a_printed_coefficient_reads_back(value: float) -> None:
    text = phrases.coefficient(value)
    assert read(text) == pytest.approx(value, abs=0.005001)
    assert not text.replace("−", "").startswith("0.")


@given(ANY, st.one_of(st.none(), ANY), st.one_of(st.none(), ANY))
@example(math.nan, math.inf, -math.inf)
@example(1e300, -1e300, 0.0)
def test_no_number_is_printed_as_nan_or_inf(
    value: float, lower: float | None, upper: float | None
) -> None:
    messages = [
        phrases.per_cent(value), phrases.estimate(value, lower, upper), phrases.points(value),
        phrases.coefficient(value, lower, upper), phrases.interval(lower, upper),
        phrases.points_within(value, lower, upper), phrases.p_value(value), phrases.adjusted_p_value(value),
        phrases.number(value, 2), phrases.spread(value, lower, 3),
    ]  # fmt: skip
    assert not [text for text in messages if re.search(r"nan|inf\b|-", text)]


@given(SHARES)
def test_a_p_value_is_never_rounded_over_a_level(p: float) -> None:
    text = phrases.p_value(p)
    if text == "p < .001":
        assert p < 0.001
        return
    printed = float(text.removeprefix("p = "))
    assert printed == pytest.approx(p, abs=0.0005001)
    # Close to the customary level it has enough digits to show its side of the level.
    if not math.isclose(p, 0.05, abs_tol=0.00005):
        assert (printed < 0.05) == (p < 0.05)


@given(st.lists(NAMES, max_size=9), st.integers(1, 6))
def test_a_list_names_or_counts_all(items: list[str], most: int) -> None:
    text = phrases.list_text(items, most=most)
    assert all(item in text for item in items[:most])
    if len(items) > most:
        assert text.endswith(f" and {len(items) - most} more")
    if not items:
        assert text == "none"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("baseline 1", "Baseline 1."), ("MI is", "MI is."), ("t-score 2", "t-score 2."),
     ("logDice 1", "logDice 1."), ("really?", "Really?"), ("", "."), ("שלום 1", "שלום 1.")],
)  # fmt: skip
def test_a_sentence_has_a_capital_and_a_full_stop(text: str, sentence: str) -> None:
    assert phrases.sentence(text) == sentence


@given(st.integers(0, 10**9))
def test_a_rough_number_has_two_digits(count: int) -> None:
    text = phrases.approximate(count)
    assert text == pytest.approx(count, rel=0.0501)
    assert len(str(text).rstrip("0")) <= 2


DIFFERENCES = st.builds(Difference, NAMES, ANY, ANY)


@given(st.lists(DIFFERENCES, min_size=1, max_size=4), st.floats(0.001, 0.2))
@example([Difference("a", -0.1, math.nan)], 0.05)
@example([Difference("a", math.nan, 0.01)], 0.05)
@example([Difference("a", 0.0, 0.01)], 0.05)
def test_a_verdict_without_a_significant_test_is_refused(
    those: list[Difference], alpha: float
) -> None:
    for say, side in ((phrases.worse, -1), (phrases.better, 1)):
        if all(each.p_adjusted < alpha and side * each.difference > 0 for each in those):
            assert VERDICTS.search(say(those, alpha=alpha))
        else:
            with pytest.raises(ValueError, match="the test does not show"):
                say(those, alpha=alpha)


@given(st.lists(st.tuples(SMALL, st.floats(0, 1)), min_size=1, max_size=4), st.floats(0.001, 0.2))
def test_not_different_is_refused_if_a_test_is_significant(
    tests: list[tuple[float, float]], alpha: float
) -> None:
    those = [Difference(f"m{number}", *test) for number, test in enumerate(tests)]
    if any(p < alpha for _, p in tests):
        with pytest.raises(ValueError, match="the test shows a difference of m"):
            phrases.not_different(those, alpha=alpha, of="list", than="it")
    else:
        text = phrases.not_different(those, alpha=alpha, of="list of the same size", than="it")
        assert text.startswith(f"{len(those)} list")
        assert "not differ significantly from it: m0" in text


@given(SMALL, ANY, st.floats(0.001, 0.2))
@example(-0.1, math.nan, 0.05)
def test_against_baseline_names_a_side_if_the_test_is_significant(
    difference: float, p: float, alpha: float
) -> None:
    text = phrases.against_baseline(Difference("it", difference, p), alpha=alpha)
    side = VERDICTS.search(text)
    assert bool(side) == (p < alpha and difference != 0)
    if side:
        assert side[0] == ("above" if difference > 0 else "below")
