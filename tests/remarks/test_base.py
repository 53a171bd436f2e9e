"""All checks: each reads stages that exist, and none fails on tables without rows."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from pipeline.errors import DataError
from pipeline.remarks.base import CHECKS, CheckInput, Found, Remark, check, remark, run_checks
from pipeline.stages.base import STAGES
from tests.remarks.run_check import run_check


@pytest.mark.parametrize("name", list(CHECKS))
def test_a_check_reads_stages_that_exist(name: str) -> None:
    check = CHECKS.get(name)
    assert set(check.stages) <= set(STAGES)
    assert check.means
    assert check.doc.endswith(".")
    assert check.threshold > 0


USE = "remarked.by_tests_alone"
LOOK = CheckInput(USE, None)


def says_a_note(_stage: CheckInput, threshold: float) -> Found:
    """Say the threshold."""
    yield remark("note", f"threshold {threshold:g}")


def says_a_warning(_stage: CheckInput, _threshold: float) -> Found:
    """Warn."""
    yield remark("warning", "a warning")


def fails(_stage: CheckInput, _threshold: float) -> Found:
    """Fail at some table."""
    raise ZeroDivisionError("nothing there")


def is_a_known_mistake(_stage: CheckInput, _threshold: float) -> Found:
    """Fail as a stage would."""
    raise DataError("this file is empty")


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKS, "_entries", dict(CHECKS._entries))
    monkeypatch.setattr(CHECKS, "_origin", dict(CHECKS._origin))
    for function in (says_a_note, says_a_warning):
        check(stages=(USE,), threshold=3, means="any number")(function)


def test_warnings_precede_notes_and_name_their_check(checks: None) -> None:
    remarks = run_checks(LOOK, {})
    assert [str(each) for each in remarks] == [
        "warning: a warning [says_a_warning]",
        "note: threshold 3 [says_a_note]",
    ]


def test_a_configured_threshold_applies_and_false_disables(checks: None) -> None:
    (one,) = run_checks(LOOK, {"says_a_note": 7.0, "says_a_warning": False})
    assert one.text == "threshold 7"


def test_a_threshold_of_0_is_not_false(checks: None) -> None:
    assert "threshold 0" in {each.text for each in run_checks(LOOK, {"says_a_note": 0.0})}


@pytest.mark.parametrize(
    ("look", "message"),
    [
        ({"skipped": 2, "skipped_sentences": 2, "skipped_tokens": 1_200},
         "skipped 2 sentences, 1,200 tokens in all"),
        ({"skipped": 3, "skipped_sentences": 2, "skipped_tokens": 7},
         "skipped 2 sentences and 1 line or file outside sentences, 7 tokens in all"),
        ({"replaced": {"lemma _": 1, "lemma <unknown>": 1_200, "form x": 3}},
         "1,201 tokens without a lemma (<unknown> 1,200, _ 1): the form replaces it"),
        ({"replaced": {"form x": 3}}, None),
        ({"replaced": {"language English": 9, "wrapped lines as line": 8}},
         "plain text in English; 8 of 9 files: lines look wrapped, but each ends a sentence"),
    ],
)  # fmt: skip
def test_input_skipped_by_readers_is_noted(look: dict[str, Any], message: str | None) -> None:
    remarks = run_checks(CheckInput(USE, None, **look), {})
    assert [each.text for each in remarks] == ([] if message is None else [message])
    assert {each.level for each in remarks} <= {"note"}


def test_a_failing_check_does_not_discard_the_results(checks: None) -> None:
    check(stages=(USE,), threshold=1, means="any")(fails)
    broken = next(each for each in run_checks(LOOK, {}) if each.check == "fails")
    assert broken.level == "note"
    assert "failed: ZeroDivisionError: nothing there" in broken.text
    assert "[remarks] fails = false" in broken.remedy


def test_a_data_error_of_a_check_is_raised(checks: None) -> None:
    check(stages=(USE,), threshold=1, means="any")(is_a_known_mistake)
    with pytest.raises(DataError, match="this file is empty"):
        run_checks(LOOK, {})


def test_checks_of_other_stages_are_not_run(checks: None) -> None:
    check(stages=("remarked.by_nobody",), threshold=1, means="any")(fails)
    assert len(run_checks(LOOK, {})) == 2


@pytest.mark.parametrize(
    ("remedy", "advice"),
    [
        ("ask for fewer", "Ask for fewer."),
        ("fold = true makes them one", "fold = true makes them one."),
        ("dependency.label: did you mean obj?", "dependency.label: did you mean obj?"),
        ("[remarks] x = false leaves it out", "[remarks] x = false leaves it out."),
    ],
)
def test_a_remedy_becomes_a_sentence(remedy: str, advice: str) -> None:
    assert Remark(level="note", text="x", remedy=remedy).advice == advice


def remarks_on(
    name: str, gold: list[str], other: list[str], threshold: float | None = None
) -> list[Remark]:
    """Return the remarks on a lexicon, and check that those on a system are the same."""
    frames = [pl.DataFrame({"form": words}, schema={"form": pl.String}) for words in (gold, other)]
    forms = dict(zip(("gold", "lexicon"), frames, strict=True))
    remarks = run_check(name, use="score.lexicon", inputs=forms, threshold=threshold)
    items = {
        "gold": frames[0].rename({"form": "item"}),
        "systems.0": frames[1].rename({"form": "item"}).with_columns(system=pl.lit("lexicon")),
    }
    assert run_check(name, use="evaluate.type_level", inputs=items, threshold=threshold) == remarks
    return remarks


def test_a_lexicon_with_few_shared_words_has_a_warning() -> None:
    gold = ["Haus", "Hund", "Katze", "casa"]
    (one,) = remarks_on("few_shared_words", gold, ["casa", "perro"], threshold=0.3)
    assert one.level == "warning"
    assert one.text == "1 of 4 gold words are among the 2 of lexicon"
    assert one.such_as == ("Haus, Hund, Katze (gold)", "casa, perro (lexicon)")
    assert not remarks_on("few_shared_words", ["Haus", "Hund"], ["Haus"])


@pytest.mark.parametrize(
    ("theirs", "cause"),
    [
        (
            ["HAUS", "hund"],
            'differ only in case: fold both: fold = true, of lexicons case = "lower"',
        ),
        (["Haus ", " Hund"], "2 of them differ only in surrounding spaces"),
        (["casa", "perro"], "check the columns"),
    ],
)
def test_a_lexicon_without_shared_words_is_refused(theirs: list[str], cause: str) -> None:
    with pytest.raises(DataError) as error:
        remarks_on("few_shared_words", ["Haus", "Hund", "Katze"], theirs)
    text = str(error.value)
    assert text.startswith("0 of 3 gold words are among the 2 of lexicon")
    assert "  Haus, Hund, Katze (gold)" in text
    assert cause in text
    assert not remarks_on("few_shared_words", ["Haus", "Hund", "Katze"], theirs, threshold=0)


def test_without_words_on_a_side_nothing_is_compared() -> None:
    for name in ("few_shared_words", "other_case", "other_unicode", "other_script"):
        assert not remarks_on(name, [], ["casa"])
        assert not remarks_on(name, ["casa"], [])


def test_words_that_differ_only_in_case_are_reported() -> None:
    (one,) = remarks_on("other_case", ["Haus", "Hund", "geht"], ["haus", "hund", "geht"])
    assert one.numbers == {"twins": 2, "gold": 3}
    assert one.such_as == ("'Haus' and 'haus'", "'Hund' and 'hund'")
    assert one.level == "warning"


def test_a_word_found_unchanged_has_no_twin() -> None:
    assert not remarks_on("other_case", ["Haus", "haus"], ["haus", "Haus", "HAUS"])


def test_words_in_another_unicode_form_are_reported() -> None:
    composed, apart = "caf\u00e9", "cafe\u0301"
    (one,) = remarks_on("other_unicode", [composed, "thé"], [apart, "thé"])
    assert one.numbers == {"twins": 1, "gold": 2}
    assert not remarks_on("other_unicode", [composed], [composed])
    assert not remarks_on("other_unicode", ["cafe"], [apart])


@pytest.mark.parametrize(
    ("words", "script"),
    [(["дом", "кот"], "Cyrillic"), (["οίκος"], "Greek"), (["בית"], "Hebrew"), (["家"], "Han")],
)
def test_words_in_another_script_are_reported(words: list[str], script: str) -> None:
    (one,) = remarks_on("other_script", ["house", "cat"], words)
    assert f"the gold is in Latin (100% of its words), lexicon in {script} (100%)" in one.text
    assert not remarks_on("other_script", words, words)


def test_mixed_scripts_are_reported_only_if_one_prevails() -> None:
    gold, mixed = ["house", "cat"], ["дом", "кот", "сад", "house", "cat"]
    assert remarks_on("other_script", gold, mixed)
    assert not remarks_on("other_script", gold, mixed, threshold=0.9)


def test_numbers_have_no_script() -> None:
    assert not remarks_on("other_script", ["house", "1999"], ["1999", "12"])
