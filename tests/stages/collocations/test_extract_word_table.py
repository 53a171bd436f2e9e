"""Frequency lists from tables."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.errors import ConfigError
from tests.stages.run_stage import faults, run_stage

LIST = pl.DataFrame({"word": ["the", "The", "cat"], "f": ["6", "2", "1"], "pos": ["D", "D", "N"]})


def words(table: pl.DataFrame = LIST, **config: object) -> list[tuple[object, ...]]:
    made = run_stage("extract.word_table", config, path=table)
    assert not faults(made)
    return made["words"].sort("word").select("word", "f", "N").rows()


def test_the_size_is_the_sum() -> None:
    assert words() == [("The", 2, 9), ("cat", 1, 9), ("the", 6, 9)]


def test_the_same_word_twice_is_added_up() -> None:
    assert words(fold=True) == [("cat", 1, 9), ("the", 8, 9)]


def test_a_list_that_is_not_the_whole_corpus() -> None:
    assert words(size=1000)[0] == ("The", 2, 1000)
    with pytest.raises(ConfigError, match="8 words are fewer than the 9 of the list"):
        words(size=8)


def test_other_names_and_types() -> None:
    table = LIST.select(form="word", count=pl.col("f").cast(pl.Float64))
    assert words(table, columns={"word": "form", "f": "count"}) == words()


def test_words_that_do_not_occur_are_none() -> None:
    assert words(LIST.with_columns(f=pl.Series(["0", "2", "1"]))) == [("The", 2, 3), ("cat", 1, 3)]


def test_faults_name_line_column_and_value() -> None:
    wrong = pl.DataFrame({"word": ["a", " ", "c"], "f": ["-1", "2", "1.5"]})
    made = run_stage("extract.word_table", {}, path=wrong)
    assert faults(made) == [(2, "f", "-1"), (3, "word", " "), (4, "f", "1.5")]


def test_sums_do_not_wrap() -> None:
    large = pl.DataFrame({"word": ["a", "b"], "f": [2**52, 2**52]})
    assert faults(run_stage("extract.word_table", {}, path=large)) == [(3, "f", str(2**52))]
    assert words(large.with_columns(f=pl.Series([2**52, 2**52 - 1])))[0][2] == 2**53 - 1


def test_no_rows() -> None:
    assert words(LIST.head(0)) == []
