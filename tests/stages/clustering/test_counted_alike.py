"""Stages that are evaluated together count the same tokens as the same items."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import ConfigError, DataError
from pipeline.stages.clustering.tagging import require_same_tokens
from tests.stages.small_run import SmallRun

CORPUS = "form\tlemma\tupos\txpos\tt\nDog\tdog\tN\tn\t1\n.\t.\tP\t.\t3\n\nruns\trun\tV\tv\t2\nruns\trun\tN\tn\t1\n"
GOLD = '[stages.gold]\nuse = "extract.gold"\ncorpus = "c.tsv"\n'
TAGS = '[stages.tags]\nuse = "extract.tagging"\nsystem = "S"\ncorpus = "c.tsv"\ncluster = "t"\n'
TYPES = '[stages.types]\nuse = "evaluate.type_level"\ngold = "gold"\nsystems = ["tags"]\n'
TOKENS = '[stages.tokens]\nuse = "evaluate.token_level"\ntaggings = ["tags"]\n'
OVERLAPPING = TYPES.replace("types", "both").replace("type_level", "overlapping")


@pytest.fixture
def small(tmp_path: Path) -> SmallRun:
    return SmallRun(tmp_path, {"c.tsv": CORPUS, "other.tsv": CORPUS.replace("V\tv", "N\tn")})


DIFFERENT = {
    "item": ("", 'item = "lemma"\n', "item = lemma, not form"),
    "fold": ("fold = true\n", "", "fold = false, not true"),
    "exclude": ('exclude = ["P"]\n', "", r'exclude = \[\], not \["P"\]'),
    "min_frequency": ("", "min_frequency = 2\n", "min_frequency = 2, not 1"),
}


@pytest.mark.parametrize("option", sorted(DIFFERENT))
def test_other_options_than_those_of_gold_are_found_before_any_data_is_read(
    option: str, small: SmallRun
) -> None:
    gold, tags, said = DIFFERENT[option]
    with pytest.raises(ConfigError, match=f"'tags' does not count what 'gold' counts: {said};"):
        small.run(GOLD + gold + TAGS + tags + TYPES)


@pytest.mark.parametrize("evaluation", [TYPES, OVERLAPPING, TOKENS + 'gold = "gold"\n'])
def test_every_evaluation_looks(evaluation: str, small: SmallRun) -> None:
    with pytest.raises(ConfigError) as error:
        small.run(GOLD + TAGS + "fold = true\n" + evaluation)
    assert str(error.value).count("does not count what 'gold' counts") == 1
    small.run(GOLD + TAGS + evaluation)


@pytest.mark.long
def test_what_may_differ(small: SmallRun) -> None:
    small.run(GOLD + 'exclude = ["P", "X"]\n' + TAGS + 'exclude = ["X", "P"]\n' + TYPES)
    other_tags = 'tag = "xpos"\nexclude = ["."]\n'
    small.run(GOLD + 'exclude = ["P"]\n' + TAGS + other_tags + TYPES)
    small.run(GOLD + "min_frequency = 2\n" + TAGS + TYPES)


def test_a_dictionary_of_classes_is_not_compared(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": CORPUS, "d.tsv": "item\tgold\nDog\tN\n"})
    table = '[stages.gold]\nuse = "extract.gold_table"\npath = "d.tsv"\nfold = true\n'
    scores = small.run(table + TAGS + "fold = true\n" + TYPES)["types.scores"]
    assert scores["n_dropped"].unique().to_list() == [2]


def test_another_text_than_that_of_gold_has_no_token_scores(small: SmallRun) -> None:
    other = GOLD.replace("c.tsv", "other.tsv")
    with pytest.raises(DataError) as error:
        small.run(other + TAGS + TOKENS + 'gold = "gold"\n')
    for said in [
        "system S, run t and gold do not have the same tokens", "4 tokens and 4",
        "2 pairs of an item and a class", "'runs' N: 1 and 2; 'runs' V: 1 and 0", "Read the same text",
    ]:  # fmt: skip
        assert said in str(error.value)


def test_two_taggings_of_two_texts_are_not_compared(small: SmallRun) -> None:
    second = TAGS.replace("stages.tags", "stages.more").replace('"S"', '"T"')
    both = TOKENS.replace('["tags"]', '["tags", "more"]')
    small.run(TAGS + second + both)
    with pytest.raises(DataError, match="system T, run t and system S, run t do not have the same"):
        small.run(TAGS + second.replace("c.tsv", "other.tsv") + both)


def test_two_tag_sets_are_not_compared(small: SmallRun) -> None:
    with pytest.raises(DataError, match="8 pairs of an item and a class"):
        small.run(GOLD + TAGS + 'tag = "xpos"\n' + TOKENS + 'gold = "gold"\n')


@pytest.mark.parametrize("rows", [1, 2, 5, 100])
def test_tokens_are_compared_in_pieces_as_in_one(rows: int) -> None:
    items = [f"w{number}" for number in range(12)]
    gold = pl.DataFrame({"item": items, "gold": "N", "f": range(1, 13)})
    require_same_tokens(gold.lazy(), gold.lazy(), name="a", other="b", rows=rows)
    nothing = gold.clear().lazy()
    require_same_tokens(nothing, nothing, name="a", other="b", rows=rows)
    more = gold.with_columns(pl.col("f") + (pl.col("f") > 8) * pl.col("f"))
    said = (
        r"a and b .*: 120 tokens and 78; 4 pairs of .*"
        r"'w11' N: 24 and 12; 'w10' N: 22 and 11; 'w9' N: 20 and 10\n"
    )
    with pytest.raises(DataError, match=said):
        require_same_tokens(more.lazy(), gold.lazy(), name="a", other="b", rows=rows)
