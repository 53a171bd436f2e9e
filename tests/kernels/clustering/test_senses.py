"""Scores of word senses: single words and means over words, against independent counts."""

from __future__ import annotations

import gzip
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import v_measure_score

from pipeline.errors import DataError
from pipeline.kernels.clustering.measure import TOKEN_MEASURES
from pipeline.kernels.clustering.overlapping.measures import overlapping_scores
from pipeline.kernels.clustering.senses import (
    FUZZY,
    SINGLE,
    SINGLE_TOKENS,
    TIES,
    heaviest_senses,
    sense_scores,
)
from pipeline.kernels.clustering.token.measures import token_scores
from schemas import SenseScores, WordSenseScores
from schemas.validate import validate

Key = dict[str, dict[str, dict[str, float]]]
"""Word to instance to sense to weight."""


def table(key: Key, label: str) -> pl.DataFrame:
    rows = [(word, item, sense, weight) for word, items in key.items()
            for item, senses in items.items() for sense, weight in senses.items()]  # fmt: skip
    schema = {"by": pl.String, "item": pl.String, label: pl.String, "weight": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def read(path: Path) -> Key:
    """Read a key in the plainest way."""
    key: Key = defaultdict(dict)
    with gzip.open(path, "rt") as lines:
        for line in lines:
            word, item, *senses = line.split()
            parts = [sense.rpartition("/") for sense in senses]
            key[word][item] = {sense: float(weight) for sense, _, weight in parts}
    return key


def heaviest(senses: dict[str, float]) -> str:
    return min(senses, key=lambda sense: (-senses[sense], sense))


def word_measures(gold: list[str], induced: list[str]) -> dict[str, float]:
    """Return V, measures of pairs, and BCubed, by their definitions."""
    pairs = [
        (gold[i] == gold[j], induced[i] == induced[j])
        for i, j in itertools.combinations(range(len(gold)), 2)
    ]
    n = Counter(pairs)
    both, cluster, classes = n[True, True], n[False, True], n[True, False]
    precision = both / (both + cluster) if both + cluster else math.nan
    recall = both / (both + classes) if both + classes else math.nan
    cells = Counter(zip(gold, induced, strict=True))
    of_class, of_cluster = Counter(gold), Counter(induced)
    shared = [cells[each] for each in zip(gold, induced, strict=True)]
    p = np.mean([k / of_cluster[c] for k, c in zip(shared, induced, strict=True)])
    r = np.mean([k / of_class[c] for k, c in zip(shared, gold, strict=True)])
    return {
        "v": v_measure_score(gold, induced), "pair_precision": precision, "pair_recall": recall,
        "pair_f": 2 * both / (2 * both + cluster + classes) if pairs else math.nan,
        "bcubed_precision": float(p), "bcubed_recall": float(r), "bcubed_f": float(2 * p * r / (p + r)),
    }  # fmt: skip


def independent(gold: Key, induced: Key) -> dict[str, tuple[float, float]]:
    """Return the mean over words, and that by instances, of each measure of heaviest senses."""
    values, sizes = defaultdict(list), []
    for word, items in gold.items():
        clustered = [item for item in items if item in induced.get(word, {})]
        result = word_measures(
            [heaviest(items[item]) for item in clustered],
            [heaviest(induced[word][item]) for item in clustered],
        )
        sizes.append(len(items))
        for name, value in result.items():
            values[name].append(value)
    means = {}
    for name, own in values.items():
        defined = ~np.isnan(own)
        each, weights = np.array(own)[defined], np.array(sizes)[defined]
        means[name] = (float(each.mean()), float(np.average(each, weights=weights)))
    return means


def invented_key(seed: int) -> Key:
    bits = np.random.default_rng(seed)
    return {
        word: {
            f"{word}.{i}": {f"s{k}": float(bits.integers(1, 5)) for k in bits.integers(4, size=2)}
            for i in range(n)
        }
        for word, n in (("add", 20), ("ask", 7), ("late", 12))
    }


def check_heaviest(gold: Key, induced: Key) -> None:
    tokens = list(SINGLE_TOKENS)
    result = sense_scores(
        table(gold, "gold"), table(induced, "cluster"), measures=SINGLE, token_measures=tokens,
        senses="heaviest",
    )  # fmt: skip
    expected = independent(gold, induced)
    assert set(result.scores["measure"]) == {*SINGLE, *tokens}
    for name, value, weighted in result.scores.select("measure", "value", "weighted").iter_rows():
        assert (value, weighted) == pytest.approx(expected[name], rel=1e-9), name


def test_heaviest_senses_agree_with_independent_counts() -> None:
    check_heaviest(invented_key(1), invented_key(2))


@pytest.mark.parametrize("name", ["aiku_base", "unimelb_5p"])
@pytest.mark.long
def test_heaviest_senses_of_semeval_agree_with_independent_counts(
    name: str, public_data: Callable[[str], Path]
) -> None:
    gold, induced = (read(public_data(f"wsi/semeval2013_{each}.key.gz")) for each in ("gold", name))
    check_heaviest(gold, induced)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aiku_base", [0.2543435587, 0.8383856269, 0.3902851443, 0.0650404798]),
        ("unimelb_5p", [0.4485617427, 0.4695930110, 0.4588365055, 0.0557420598]),
    ],
)
@pytest.mark.long
def test_scores_agree_with_the_program_of_semeval_2013(
    name: str, expected: list[float], public_data: Callable[[str], Path]
) -> None:
    """Values of the program of the task, which swaps the names of precision and recall."""
    gold, induced = (read(public_data(f"wsi/semeval2013_{each}.key.gz")) for each in ("gold", name))
    result = sense_scores(table(gold, "gold"), table(induced, "cluster"), measures=FUZZY)
    assert result.scores["value"].to_list() == pytest.approx(expected, abs=1e-9)
    assert result.scores["n_words"].to_list() == [50] * 4


def test_fuzzy_bcubed_f_is_computed_from_the_means() -> None:
    gold, induced = invented_key(3), invented_key(4)
    tables = table(gold, "gold"), table(induced, "cluster")
    whole = sense_scores(*tables, measures=FUZZY)
    precision, recall, f, _ = whole.scores["value"]
    assert f == pytest.approx(2 * precision * recall / (precision + recall))
    alone = sense_scores(*tables, measures=["fuzzy_bcubed"])
    assert alone.scores.equals(whole.scores[2:3])
    assert alone.words["measure"].unique().to_list() == ["fuzzy_bcubed_f"]


def test_tables_satisfy_their_schemas_and_have_limits_over_words() -> None:
    tables = table(invented_key(3), "gold"), table(invented_key(4), "cluster")
    result = sense_scores(*tables, measures=FUZZY, replicates=50, seed="s")
    run = [pl.lit("s").alias("system"), pl.lit("1").alias("run")]
    assert validate([result.scores.select(*run, pl.all())], SenseScores, name="s") == 4
    assert validate([result.words.select(*run, pl.all())], WordSenseScores, name="w") == 12
    shuffled = [each.reverse() for each in tables]
    again = sense_scores(*shuffled, measures=FUZZY, replicates=50, seed="s")
    assert again.scores.equals(result.scores)
    words = result.words.filter(measure="fuzzy_nmi")["value"]
    limits = result.scores.filter(measure="fuzzy_nmi").row(0, named=True)
    assert words.min() <= limits["lower"] <= limits["value"] <= limits["upper"] <= words.max()
    assert limits["standard_error"] == pytest.approx(words.std(ddof=0) / math.sqrt(3), rel=0.3)


def test_words_and_instances_of_one_side_alone_are_counted() -> None:
    gold: Key = {
        "a": {"a.1": {"s": 1.0}, "a.2": {"s": 1.0}},
        "b": {"b.1": {"s": 1.0}, "b.2": {"s": 1}},
    }
    induced: Key = {
        "a": {"a.1": {"k": 1.0}, "a.2": {"k": 1.0}, "a.3": {"k": 1.0}},
        "c": {"c.1": {"k": 1.0}},
    }
    result = sense_scores(
        table(gold, "gold"), table(induced, "cluster"), measures=FUZZY[:2], token_measures=["v"]
    )
    # Word b has no cluster: all its scores are 0.
    assert result.scores.select("measure", "value", "n_words").rows() == [
        ("fuzzy_bcubed_precision", 0.25, 2), ("fuzzy_bcubed_recall", 0.5, 2), ("v", 0.5, 2),
    ]  # fmt: skip
    assert dict(result.sizes.iter_rows()) == {
        "words": 2, "words without an instance in a cluster": 1, "instances": 4,
        "instances without a cluster": 2, "instances without a gold sense": 2,
    }  # fmt: skip


PARTLY: tuple[Key, Key] = (
    {
        "add": {f"a.{i}": {"s" if i < 2 else "t": 1.0} for i in range(4)},
        "ask": {f"k.{i}": {"s" if i < 1 else "t": 1.0} for i in range(2)},
    },
    {"add": {"a.0": {"x": 1.0}, "a.1": {"x": 1.0}, "a.2": {"y": 1.0}}, "ask": {}},
)
"""Three of four instances of add have a cluster, which is right, and none of ask."""


@pytest.mark.parametrize(
    ("fate", "expected"),
    [
        # Of add 3/4 of the values of three instances, of ask 0.
        ("zero", {"v": 3 / 8, "pair_precision": 3 / 8, "pair_recall": 3 / 8, "pair_f": 3 / 8,
                  "bcubed_precision": 3 / 8, "bcubed_recall": 3 / 8, "bcubed_f": 3 / 8}),
        ("drop", dict.fromkeys([*SINGLE, *SINGLE_TOKENS], 1.0)),
        # The cluster of a.3 is pure; t is in two clusters. The two senses of ask are in one.
        ("cluster", {"bcubed_precision": (1 + 1 / 2) / 2, "bcubed_recall": (3 / 4 + 1) / 2,
                     "pair_recall": 1 / 2, "pair_precision": 1 / 2}),
    ],
)  # fmt: skip
def test_the_option_decides_about_instances_without_a_cluster(
    fate: Any, expected: dict[str, float]
) -> None:
    gold, induced = table(PARTLY[0], "gold"), table(PARTLY[1], "cluster")
    result = sense_scores(
        gold, induced, measures=SINGLE, token_measures=SINGLE_TOKENS, senses="heaviest",
        without_cluster=fate,
    ).scores  # fmt: skip
    values = dict(result.select("measure", "value").iter_rows())
    assert {name: values[name] for name in expected} == pytest.approx(expected)
    if fate == "zero":
        assert result["n_words"].unique().to_list() == [2]


def test_no_score_exceeds_the_share_of_clustered_instances() -> None:
    gold: Key = {"add": {f"a.{i}": {"st"[i % 2]: 1.0} for i in range(10)}}
    induced: Key = {"add": {"a.0": {"x": 1.0}}}
    tables = table(gold, "gold"), table(induced, "cluster")
    higher = [name for name in TOKEN_MEASURES if TOKEN_MEASURES.get(name).better == "higher"]
    result = sense_scores(*tables, measures=SINGLE, token_measures=higher).scores
    assert result["value"].max() == pytest.approx(0.1)
    # If lower is better, the nine others are one cluster: a value of 0 would be a reward.
    vi, one = (
        sense_scores(*tables, measures=[], token_measures=["vi"], without_cluster=fate).scores
        for fate in ("zero", "cluster")
    )
    assert vi["value"].item() == one["value"].item() > 0.5


def word_by_word(gold: pl.DataFrame, induced: pl.DataFrame) -> dict[str, list[float | None]]:
    """Return the values of each word by the functions for one data set, table by table."""
    values: dict[str, list[float | None]] = defaultdict(list)
    for word in gold["by"].unique().sort():
        own, other = (each.filter(by=word).drop("by") for each in (gold, induced))
        plain = own.drop("weight"), other.drop("weight")
        scored = [
            overlapping_scores(own, other, measures=FUZZY, seed=""),
            overlapping_scores(*plain, measures=["bcubed_f", "omega", "nmi_max"], seed=""),
        ]
        cells = heaviest_senses(own, "gold").join(heaviest_senses(other, "cluster"), on="item")
        counts = cells.group_by("gold", "cluster").agg(f=pl.len().cast(pl.Int64))
        scored.append(token_scores(counts, measures=["v", "pair_f", "ami"]))
        for name, value in pl.concat(each.select("measure", "value") for each in scored).rows():
            values[name].append(value)
    return values


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_scores_of_all_words_equal_those_of_single_words(seed: int) -> None:
    gold, induced = table(invented_key(seed), "gold"), table(invented_key(seed + 1), "cluster")
    # Instances without a gold sense count in fuzzy measures.
    gold = gold.filter(pl.col("item").is_in(gold["item"].unique().sort()[::3].to_list()).not_())
    expected = word_by_word(gold, induced)
    plain = gold.drop("weight"), induced.drop("weight")
    result = [
        sense_scores(gold, induced, measures=FUZZY),
        sense_scores(*plain, measures=["bcubed_f", "omega", "nmi_max"]),
        sense_scores(
            gold, induced, measures=[], token_measures=["v", "pair_f", "ami"], senses="heaviest"
        ),
    ]
    for (name,), rows in pl.concat(each.words for each in result).group_by("measure"):
        values = rows.sort("by")["value"].to_list()
        assert values == pytest.approx(expected[str(name)], abs=1e-12), name


def test_ties_of_heaviest_senses_are_counted() -> None:
    gold: Key = {"a": {"i": {"t": 2.0, "s": 2.0}, "j": {"s": 1.0, "t": 3.0}}}
    assert heaviest_senses(table(gold, "gold"), "gold").select("item", "gold").rows() == [
        ("i", "s"), ("j", "t"),
    ]  # fmt: skip
    induced = table(gold, "cluster").filter(item="j")
    result = sense_scores(table(gold, "gold"), induced, measures=["omega"], senses="heaviest")
    sizes = dict(result.sizes.iter_rows())
    assert [sizes[each] for each in TIES] == [1, 0]


def test_wrong_keys_and_options_are_refused() -> None:
    gold, induced = table(invented_key(1), "gold"), table(invented_key(2), "cluster")
    with pytest.raises(DataError, match="weights of classes, .* which omega does not use"):
        sense_scores(gold, induced, measures=["omega"])
    with pytest.raises(DataError, match=r"gold: \d+ instances with several senses, for example"):
        sense_scores(gold, induced, token_measures=["v"])
    other = induced.with_columns(by=pl.lit("other"))
    with pytest.raises(
        DataError, match=r"39 instances of several words, for example 'add.0' of add, other"
    ):
        sense_scores(gold, other)
    with pytest.raises(DataError, match="column by: 1 null or empty"):
        sense_scores(pl.concat([gold, gold.head(1).with_columns(by=pl.lit(""))]), induced)
    with pytest.raises(ValueError, match="confidence"):
        sense_scores(gold, induced, replicates=1, confidence=0.0)


def test_repeated_rows_count_once() -> None:
    gold, induced = table(invented_key(5), "gold"), table(invented_key(6), "cluster")
    plain = gold.drop("weight"), induced.drop("weight")
    for tables, options in (
        ((gold, induced), {"measures": FUZZY}),
        (plain, {"measures": [*FUZZY, "omega"]}),
        (plain, {"measures": SINGLE, "token_measures": SINGLE_TOKENS, "senses": "heaviest"}),
        (
            [each.unique("item", keep="first", maintain_order=True) for each in plain],
            {"measures": SINGLE, "token_measures": SINGLE_TOKENS},
        ),
    ):
        base: dict[str, Any] = options
        once = sense_scores(*tables, **base)
        twice = sense_scores(*(pl.concat([each, each]) for each in tables), **base)
        assert twice.scores.equals(once.scores)


def test_partial_weights_are_refused_for_heaviest_senses() -> None:
    gold = table({"a": {"i": {"s": 3.0, "t": 1.0}}}, "gold")
    mixed = gold.with_columns(weight=pl.Series([None, 1.0]))
    for senses in ("all", "heaviest"):
        with pytest.raises(DataError, match="weight in only some of the groups .* give weights to"):
            sense_scores(mixed, gold.rename({"gold": "cluster"}), senses=senses)


def test_tables_without_words_have_no_values() -> None:
    gold, induced = table({}, "gold"), table({}, "cluster")
    result = sense_scores(gold, induced, measures=["fuzzy_bcubed", "omega"], replicates=2)
    assert result.scores["n_words"].to_list() == [0, 0]
    assert result.scores["value"].to_list() == [None, None]
    assert result.words.is_empty()
