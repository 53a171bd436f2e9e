from __future__ import annotations

import polars as pl
import pytest

from pipeline.remarks.base import Remark
from tests.remarks.listening import hear


def told(
    name: str, gold: list[str], other: list[str], threshold: float | None = None
) -> list[Remark]:
    """Return what is said of a lexicon, and make sure that the same is said of a system."""
    frames = [pl.DataFrame({"form": words}, schema={"form": pl.String}) for words in (gold, other)]
    forms = dict(zip(("gold", "lexicon"), frames, strict=True))
    found = hear(name, use="score.lexicon", inputs=forms, threshold=threshold)
    items = {
        "gold": frames[0].rename({"form": "item"}),
        "systems.0": frames[1].rename({"form": "item"}).with_columns(system=pl.lit("lexicon")),
    }
    assert hear(name, use="evaluate.type_level", inputs=items, threshold=threshold) == found
    return found


def test_a_lexicon_that_shares_no_word() -> None:
    (one,) = told("few_shared_words", ["Haus", "Hund", "Katze"], ["casa", "perro"])
    assert one.level == "warning"
    assert one.text == "0 of 3 words of the gold are among the 2 of lexicon"
    assert one.such_as == ("Haus, Hund, Katze (gold)", "casa, perro (lexicon)")
    assert not told("few_shared_words", ["Haus", "Hund"], ["Haus"])


def test_without_words_on_a_side_nothing_is_compared() -> None:
    for name in ("few_shared_words", "other_case", "other_unicode", "other_script"):
        assert not told(name, [], ["casa"])
        assert not told(name, ["casa"], [])


def test_words_in_another_case_alone() -> None:
    (one,) = told("other_case", ["Haus", "Hund", "geht"], ["haus", "hund", "geht"])
    assert one.numbers == {"twins": 2, "gold": 3}
    assert one.such_as == ("'Haus' and 'haus'", "'Hund' and 'hund'")
    assert one.level == "warning"


def test_a_word_that_is_there_as_it_is_has_no_twin() -> None:
    assert not told("other_case", ["Haus", "haus"], ["haus", "Haus", "HAUS"])


def test_words_in_another_unicode_form() -> None:
    composed, apart = "caf\u00e9", "cafe\u0301"
    (one,) = told("other_unicode", [composed, "thé"], [apart, "thé"])
    assert one.numbers == {"twins": 1, "gold": 2}
    assert not told("other_unicode", [composed], [composed])
    assert not told("other_unicode", ["cafe"], [apart])


@pytest.mark.parametrize(
    ("words", "script"),
    [(["дом", "кот"], "Cyrillic"), (["οίκος"], "Greek"), (["בית"], "Hebrew"), (["家"], "Han")],
)
def test_words_in_another_script(words: list[str], script: str) -> None:
    (one,) = told("other_script", ["house", "cat"], words)
    assert f"the gold is in Latin (100% of its words), lexicon in {script} (100%)" in one.text
    assert not told("other_script", words, words)


def test_mixed_scripts_are_told_only_where_one_prevails() -> None:
    gold, mixed = ["house", "cat"], ["дом", "кот", "сад", "house", "cat"]
    assert told("other_script", gold, mixed)
    assert not told("other_script", gold, mixed, threshold=0.9)


def test_numbers_are_in_no_script() -> None:
    assert not told("other_script", ["house", "1999"], ["1999", "12"])
