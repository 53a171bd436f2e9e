"""Lists that cannot be compared, and a target that is in its own reference."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from tests.remarks.listening import hear


def words(counts: dict[str, int]) -> pl.DataFrame:
    table = pl.DataFrame(list(counts.items()), schema=["word", "f"], orient="row")
    return table.with_columns(N=pl.col("f").sum())


def lists(target: dict[str, int], reference: dict[str, int]) -> dict[str, pl.DataFrame]:
    return {"target": words(target), "reference": words(reference)}


def test_no_shared_word() -> None:
    (told,) = hear("other_words", inputs=lists({"The": 9, "Cat": 2}, {"the": 90, "cat": 3, "a": 8}))
    assert str(told).startswith(
        "warning: target and reference share 0 of 2 and 3 words; the most frequent are 'The', 'Cat'"
        " and 'the', 'a', 'cat'; count both by the same unit"
    )


@pytest.mark.parametrize("shared", [1, 0])
def test_where_sharing_begins(shared: int) -> None:
    target = {f"t{i}": 1 for i in range(20 - shared)} | {"x": 1}
    reference = {f"r{i}": 1 for i in range(30)} | ({"x": 1} if shared else {})
    assert bool(hear("other_words", inputs=lists(target, reference))) == (not shared)


def test_an_empty_list_is_another_matter() -> None:
    empty = words({"a": 1}).head(0)
    assert not hear("other_words", inputs={"target": empty, "reference": words({"a": 1})})


MANY = {f"w{i}": 1 + i % 7 for i in range(60)}


def test_the_target_is_the_reference() -> None:
    (told,) = hear("within_reference", inputs=lists(MANY, MANY))
    assert told.level == "warning"
    assert "have the same 60 words, equally often" in told.text


def test_the_target_is_in_the_reference() -> None:
    (told,) = hear("within_reference", inputs=lists(MANY, MANY | {"more": 3, "w1": 40}))
    assert told.level == "note"
    assert told.text.startswith("each of the 60 words of the target is as frequent")


@pytest.mark.parametrize("change", [{"w3": 99}, {"of its own": 1}])
def test_one_word_of_its_own_is_enough(change: dict[str, int]) -> None:
    assert not hear("within_reference", inputs=lists(MANY | change, MANY | {"more": 3}))


def test_few_words_say_nothing() -> None:
    assert not hear("within_reference", inputs=lists({"a": 1}, {"a": 1}))


def test_one_document_has_no_dispersion(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b c\n")
    stage = '[stages.w]\nuse = "extract.words"\ncorpus = "a.txt"\nunit = { label = "{form}" }\n'
    (tmp_path / "x.toml").write_text(f'name = "x"\n{stage}')
    run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    (told,) = run.remarks["w"]
    assert "1 document(s): no word has a dispersion" in told.text


def test_no_words(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b c\n")
    stage = (
        '[stages.w]\nuse = "extract.words"\ncorpus = "a.txt"\n'
        'unit = { label = "{form}", where = "form = \'A\'" }\n'
    )
    (tmp_path / "x.toml").write_text(f'name = "x"\n{stage}')
    run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    told = [each for each in run.remarks["w"] if each.check == "no_candidates"]
    assert told[0].text.startswith("there are no words: no token has form 'A', but ")
