from __future__ import annotations

import polars as pl

from tests.remarks.listening import hear


def labelled(**labels: str) -> dict[str, pl.DataFrame]:
    """Return annotations: of each annotator a letter for each candidate, "." where none."""
    rows = [
        (f"x{number:03}", annotator, label)
        for annotator, given in labels.items()
        for number, label in enumerate(given)
        if label != "."
    ]
    return {"annotations": pl.DataFrame(rows, schema=["id", "annotator", "label"], orient="row")}


def adjudicated(labels: str, annotators: int = 2) -> dict[str, pl.DataFrame]:
    rows = [(None if each == "?" else each, annotators) for each in labels]
    return {"adjudicated": pl.DataFrame(rows, schema=["label", "annotators"], orient="row")}


def test_annotators_who_agree_on_everything() -> None:
    (told,) = hear("all_agree", outputs=labelled(anna="ab" * 10, ben="ab" * 10))
    assert "all 20 candidates" in told.text


def test_one_difference_is_enough_to_trust_them() -> None:
    assert not hear("all_agree", outputs=labelled(anna="ab" * 10, ben="ab" * 9 + "aa"))


def test_agreement_on_few_is_chance_and_on_their_own_is_none() -> None:
    assert not hear("all_agree", outputs=labelled(anna="ab" * 9, ben="ab" * 9))
    assert not hear("all_agree", outputs=labelled(anna="ab" * 20))
    apart = labelled(anna="ab" * 20 + "." * 40, ben="." * 40 + "ab" * 20)
    assert not hear("all_agree", outputs=apart)


def test_an_annotator_who_uses_one_label_only() -> None:
    (told,) = hear("one_label", outputs=labelled(anna="ab" * 20, ben="b" * 40))
    assert told.level == "warning"
    assert "ben 'b', 40 times" in told.text
    assert not hear("one_label", outputs=labelled(anna="b" * 19))


def test_many_candidates_without_a_label_that_stands() -> None:
    (told,) = hear("undecided", outputs=adjudicated("aab?"))
    assert told.numbers == {"undecided": 1, "labelled": 4}
    assert not hear("undecided", outputs=adjudicated("a" * 19 + "?"))


def test_what_one_person_left_open_is_no_disagreement() -> None:
    assert not hear("undecided", outputs=adjudicated("?" * 9, annotators=1))


def test_one_person_with_several_names() -> None:
    (told,) = hear("several_names", inputs=labelled(**{"a1": "ab", " A1": "ab", "b": "ab"}))
    assert told.such_as == ("' A1' = 'a1'",)
    assert told.numbers == {"people": 1}
    assert not hear("several_names", inputs=labelled(a1="ab", a11="ab"))


def test_names_that_no_sheet_asks() -> None:
    sheet = {"sheet": pl.DataFrame({"annotator": ["anna", "ben"]})}
    given = labelled(anna="ab", benn="ab", carla="a")
    (told,) = hear("unasked_annotator", inputs=sheet, outputs=given, former=("carla",))
    assert told.numbers == {"labels": 2}
    assert "did you mean ben?" in told.remedy
    assert not hear("unasked_annotator", inputs=sheet, outputs=labelled(anna="a"), former=())
