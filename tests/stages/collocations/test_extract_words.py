"""Keywords from two lists by hand, and measures of published tables."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from pipeline.errors import ConfigError
from pipeline.kernels.association.scoring import score
from pipeline.kernels.sampling import candidate_id
from tests.stages.run_stage import faults, run_stage


def words(counts: dict[str, int], *, size: int, **further: Any) -> pl.DataFrame:
    rows = {"word": list(counts), "f": list(counts.values()), "N": [size] * len(counts)}
    table = pl.DataFrame(rows | further, schema_overrides={"word": pl.String, "f": pl.Int64})
    return table.select(candidate_id("word"), pl.all()).cast({"N": pl.Int64})


def keywords(target: pl.DataFrame, reference: pl.DataFrame, **config: Any) -> pl.DataFrame:
    tables = run_stage("extract.keywords", config, target=target, reference=reference)
    return tables["candidates"].sort("l2")


def scores(a: int, c: int, b: int, d: int, *measures: str) -> list[float]:
    """Return the scores of a word with a of c and b of d tokens."""
    two = keywords(words({"w": a}, size=c), words({"w": b} if b else {"v": 1}, size=d))
    return list(score(two.lazy(), measures=measures).select(measures).collect().row(0))


def test_words_of_only_one_list_are_keywords() -> None:
    target, reference = words({"a": 3, "b": 2}, size=5), words({"a": 1, "c": 4}, size=20)
    tables = keywords(target, reference, min_frequency=0, name="mine")
    signature = ("l1", "l2", "f", "f1", "f2", "N", "f_reference", "size_reference")
    assert tables.select(signature).rows() == [
        ("mine", "a", 3, 5, 4, 25, 1, 20),
        ("mine", "b", 2, 5, 2, 25, 0, 20),
        ("mine", "c", 0, 5, 4, 25, 4, 20),
    ]
    assert tables["per_million"].to_list() == [600_000.0, 400_000.0, 0.0]
    assert tables["dp"].null_count() == 3
    assert keywords(target, reference, min_frequency=3)["l2"].to_list() == ["a"]


def test_the_dispersion_is_that_of_the_target() -> None:
    spread = {"documents": 2, "parts": 4, "dp": 0.25, "dp_norm": 0.5, "juilland_d": 0.75}
    columns = {name: [value] for name, value in spread.items()}
    result = keywords(words({"a": 3}, size=5, **columns), words({"a": 1}, size=2, **columns))
    assert result.select(list(spread)).row(0, named=True) == spread


def test_empty_lists_can_be_compared() -> None:
    none = words({}, size=1).head(0)
    assert keywords(none, words({"a": 1}, size=2)).is_empty()
    alone = keywords(words({"a": 1}, size=2), none)
    assert alone.select("f2", "N", "per_million_reference").row(0) == (1, 2, None)


@pytest.mark.parametrize(
    ("a", "c", "b", "d", "printed"),
    [
        (52, 50_000, 57, 75_000, 2.65),
        (348, 10**6, 99, 10**6, 147),
        (15, 10**6, 14, 10**6, 0),
        (9, 10**6, 32, 10**6, -14),
        (21, 10**6, 25, 10**6, 0),
    ],
)
def test_log_likelihood_equals_that_of_the_ucrel_wizard(
    a: int, c: int, b: int, d: int, printed: float
) -> None:
    """Figures that the calculator of Rayson & Garside has printed; - is underuse.

    The first is of a course on corpus methods, the others of Rayson's own message of 18 January
    2002 to the Corpora list, rounded to whole numbers.
    """
    (result,) = scores(a, c, b, d, "keyness_ll")
    assert round(result, 2 if printed == 2.65 else 0) == printed


def test_effect_sizes_equal_those_by_hand() -> None:
    """30 of 10,000 against 20 of 40,000: 0.3 % and 0.05 %, six times as many."""
    measures = ("percent_diff", "log_ratio", "relative_risk", "odds_ratio")
    diff, ratio, risk, odds = scores(30, 10_000, 20, 40_000, *measures)
    assert diff == pytest.approx(500)
    assert ratio == pytest.approx(math.log2(6))
    assert odds == pytest.approx(math.log10(30 * 39_980 / (20 * 9_970)))
    assert risk == pytest.approx(math.log10((30 / 50) / (9_970 / 49_950)))


def test_test_statistics_equal_those_by_hand() -> None:
    """E11 = 10, E21 = 40; X2 is (O - E)^2 / E over four cells."""
    measures = ("chi_squared", "keyness_ll", "log_likelihood")
    x2, two_cells, four_cells = scores(30, 10_000, 20, 40_000, *measures)
    assert x2 == pytest.approx(400 * (1 / 10 + 1 / 40 + 1 / 9_990 + 1 / 39_960))
    assert two_cells == pytest.approx(2 * (30 * math.log(3) + 20 * math.log(0.5)))
    rest = 9_970 * math.log(9_970 / 9_990) + 39_980 * math.log(39_980 / 39_960)
    assert four_cells == pytest.approx(two_cells + 2 * rest)


def test_a_word_absent_from_the_reference_has_known_values() -> None:
    """Hardie's Log Ratio takes 1/2 for 0; %DIFF has no limit; lrc stays finite."""
    diff, ratio, limit = scores(8, 1_000, 0, 4_000, "percent_diff", "log_ratio", "lrc")
    assert diff == math.inf
    assert ratio == pytest.approx(math.log2((8 / 1_000) / (0.5 / 4_000)))
    assert 0 < limit < ratio


# Frequency lists from tables

LIST = pl.DataFrame({"word": ["the", "The", "cat"], "f": ["6", "2", "1"], "pos": ["D", "D", "N"]})


def words_extract_word_table(
    table: pl.DataFrame = LIST, **config: object
) -> list[tuple[object, ...]]:
    tables = run_stage("extract.word_table", config, path=table)
    assert not faults(tables)
    return tables["words"].sort("word").select("word", "f", "N").rows()


def test_the_corpus_size_is_the_sum_by_default() -> None:
    assert words_extract_word_table() == [("The", 2, 9), ("cat", 1, 9), ("the", 6, 9)]


def test_repeated_words_are_added_up() -> None:
    assert words_extract_word_table(fold=True) == [("cat", 1, 9), ("the", 8, 9)]


def test_a_partial_list_may_have_the_corpus_size() -> None:
    assert words_extract_word_table(size=1000)[0] == ("The", 2, 1000)
    with pytest.raises(ConfigError, match="8 words are fewer than the 9 in the list"):
        words_extract_word_table(size=8)


def test_columns_may_have_other_names_and_types() -> None:
    table = LIST.select(form="word", count=pl.col("f").cast(pl.Float64))
    assert (
        words_extract_word_table(table, columns={"word": "form", "f": "count"})
        == words_extract_word_table()
    )


def test_words_with_a_count_of_0_are_omitted() -> None:
    assert words_extract_word_table(LIST.with_columns(f=pl.Series(["0", "2", "1"]))) == [
        ("The", 2, 3),
        ("cat", 1, 3),
    ]


def test_faults_have_line_column_and_value() -> None:
    wrong = pl.DataFrame({"word": ["a", " ", "c"], "f": ["-1", "2", "1.5"]})
    tables = run_stage("extract.word_table", {}, path=wrong)
    assert faults(tables) == [(2, "f", "-1"), (3, "word", " "), (4, "f", "1.5")]


def test_sums_that_overflow_are_faults() -> None:
    large = pl.DataFrame({"word": ["a", "b"], "f": [2**52, 2**52]})
    assert faults(run_stage("extract.word_table", {}, path=large)) == [(3, "f", str(2**52))]
    assert (
        words_extract_word_table(large.with_columns(f=pl.Series([2**52, 2**52 - 1])))[0][2]
        == 2**53 - 1
    )


def test_a_list_without_rows_gives_no_words() -> None:
    assert words_extract_word_table(LIST.head(0)) == []
