"""Measures on two arrays of labels: values equal those of scikit-learn and of the stages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from pipeline.errors import ConfigError, DataError
from pipeline.kernels.clustering.measure import OVERLAPPING_MEASURES, TOKEN_MEASURES
from pipeline.kernels.clustering.types.evaluation import evaluate_type_level

pd = pytest.importorskip("pandas", reason="a dependency of statsmodels, which tests install")

SAME = {
    "v_measure_score": sk.v_measure_score,
    "homogeneity_score": sk.homogeneity_score,
    "completeness_score": sk.completeness_score,
    "adjusted_rand_score": sk.adjusted_rand_score,
    "rand_score": sk.rand_score,
    "adjusted_mutual_info_score": sk.adjusted_mutual_info_score,
    "normalized_mutual_info_score": sk.normalized_mutual_info_score,
    "mutual_info_score": sk.mutual_info_score,
    "fowlkes_mallows_score": sk.fowlkes_mallows_score,
}
TRUE = ["N", "N", "V", "V", "A"]
PRED = [0, 0, 1, 0, 2]
PAIRS = st.lists(st.tuples(st.sampled_from("NVA"), st.integers(0, 4)), min_size=2, max_size=30)


@given(PAIRS)
def test_values_are_those_of_scikit_learn(pairs: list[tuple[str, int]]) -> None:
    true, pred = map(list, zip(*pairs, strict=True))
    values = lx.token_measures(true, pred, measures=list(SAME))
    expected = [each(true, pred) for each in SAME.values()]
    for (name, value), other in zip(values.items(), expected, strict=True):
        # Without pairs in a group it is undefined, or 1 for equal groups, where they have 0.
        if name != "fowlkes_mallows" or len(pairs) not in {len({*true}), len({*pred})}:
            assert value == pytest.approx(other, abs=1e-9), name


def test_purity_and_one_to_one_equal_values_by_hand() -> None:
    """Of 5 tokens, cluster 0 holds 2 N and 1 V, 1 holds a V, 2 the A: 4 of 5 either way."""
    values = lx.token_measures(TRUE, PRED, measures=["purity", "1-1"])
    assert values == {"many_to_one": 0.8, "one_to_one": 0.8}
    assert list(lx.token_measures(TRUE, PRED)) == list(TOKEN_MEASURES)
    assert lx.token_measures(TRUE, PRED, measures="v") == lx.token_measures(
        TRUE, PRED, measures=["V-measure"]
    )


def test_a_single_name_need_not_be_in_a_list() -> None:
    alone = lx.type_measures(TRUE, PRED, measures="MacroI", mappings="M-1")
    assert alone.equals(lx.type_measures(TRUE, PRED, measures=["MacroI"], mappings=["M-1"]))
    assert lx.overlapping_measures(TRUE, PRED, measures="all").keys() == {
        *OVERLAPPING_MEASURES.resolve(["all"])
    }


WEIGHTED_LABELS: list[Any] = [{"x": 0.01, "y": 0.99}, "x"]
"""The first word is nearly a y: to count it as both, or as either, would be another clustering."""


@pytest.mark.parametrize("function", [lx.type_measures, lx.overlapping_measures])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("tokens", [False, True])
def test_weights_of_clusters_are_refused(function: Any, side: int, tokens: bool) -> None:
    name = ("labels_true", "labels_pred")[side]
    labels: list[Any] = [["N", "V"], WEIGHTED_LABELS] if side else [WEIGHTED_LABELS, ["N", "V"]]
    message = rf"{name}: 1 of 2 have weights, for example \{{'x': 0.01, 'y': 0.99\}} at position 0.*; .*without weights"
    with pytest.raises(DataError, match=message):
        function(*labels, items=["a", "b"] if tokens else None)
    labels[side] = pl.DataFrame({"x": [0.3, 1.0], "y": [None, 0.5]}).to_struct()
    with pytest.raises(DataError, match=f"{name}: 2 of 2 have weights"):
        function(*labels)


def test_weights_that_are_all_one_have_no_effect() -> None:
    alike: list[Any] = [{"x": 1, "y": 1.0}, {"x": 1}]
    sets = [("x", "y"), "x"]
    assert lx.overlapping_measures(["N", "V"], alike) == lx.overlapping_measures(["N", "V"], sets)
    assert lx.type_measures(["N", "V"], alike).equals(lx.type_measures(["N", "V"], sets))


def test_a_mapping_is_not_accepted_as_labels() -> None:
    with pytest.raises(DataError, match="labels_true: give a sequence of labels or collections"):
        lx.type_measures({"dog": "N"}, {"dog": 1})


def test_the_order_of_arguments_is_that_of_scikit_learn() -> None:
    assert lx.token_measures(["a", "a"], ["x", "y"], measures="homogeneity")["homogeneity"] == 1.0
    assert lx.token_measures(["a", "b"], ["x", "x"], measures="completeness")["completeness"] == 1.0


@pytest.mark.parametrize(
    "pred",
    [
        tuple(PRED), np.array(PRED), np.array(PRED, dtype=float), np.array(PRED, dtype=object),
        np.array(list("xxyxz")), pl.Series(PRED), pl.Series(list("xxyxz"), dtype=pl.Categorical),
        pd.Series(list("xxyxz")), pd.Series(list("xxyxz")).astype("category"),
        pd.Series(PRED, index=list("edcba"), dtype="Int64"), pd.Series(PRED, dtype=object),
        iter(PRED), [np.int64(each) for each in PRED],
    ],
    ids=lambda each: f"{type(each).__module__}-{getattr(each, 'dtype', '')}",
)  # fmt: skip
def test_labels_may_be_of_any_type(pred: Any) -> None:
    assert lx.token_measures(np.array(TRUE), pred) == lx.token_measures(TRUE, PRED)


def test_without_tokens_nothing_is_defined() -> None:
    values = lx.token_measures([], [])
    assert all(math.isnan(value) for value in values.values())
    assert values.keys() == {*TOKEN_MEASURES}


WRONG: list[tuple[Any, Any, str]] = [
    (TRUE, PRED[:-1], "labels_true has 5 labels, labels_pred 4; give equal numbers"),
    (
        TRUE,
        [0, None, 1, None, 2],
        "labels_pred: 2 of 5 missing or empty, for example None at position 1",
    ),
    (TRUE, [0.0, math.nan, 1, 0, 2], "labels_pred: 1 of 5 missing"),
    (
        ["N", "N", "V", "", "A"],
        PRED,
        "labels_true: 1 of 5 missing or empty, for example  at position 3",
    ),
    (pd.Series(["N", None, "V", pd.NA, "A"], dtype=object), PRED, "labels_true: 2 of 5 missing"),
    (TRUE, [pd.NA, math.nan, 1, 0, 2], "labels_pred: 2 of 5 missing"),
    (["N", math.nan, "V", pd.NaT, "A"], PRED, "labels_true: 2 of 5 missing"),
    (TRUE, [0, "0", 1, 0, 2], "labels_pred: labels of several types, or not labels"),
    (TRUE, [(0,), (0,), (1,), (0,), (2,)], "labels_pred: labels of several types, or not labels"),
    (TRUE, np.eye(5), "labels_pred: give a one-dimensional"),
    ("NNVVA", PRED, "labels_true: give a one-dimensional"),
]


@pytest.mark.parametrize(("true", "pred", "message"), WRONG, ids=[each[2] for each in WRONG])
def test_invalid_labels_are_refused(true: Any, pred: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        lx.token_measures(true, pred)
    assert message in str(caught.value)


def test_unknown_measures_and_invalid_options_are_refused() -> None:
    for function in (lx.token_measures, lx.type_measures, lx.overlapping_measures):
        with pytest.raises(ConfigError, match="unknown .*-level measure|unknown overlapping"):
            function(TRUE, PRED, measures=["no such"])
    with pytest.raises(ConfigError, match="unknown name '2-1'; did you mean M-1, 1-1"):
        lx.type_measures(TRUE, PRED, mappings=["2-1"])
    with pytest.raises(DataError, match="1.5 kicks: must be an integer, 0 or more"):
        lx.type_measures(TRUE, PRED, kicks=1.5)  # type: ignore[arg-type]


def test_measurements_in_place_of_labels_cause_a_warning() -> None:
    measured = [n / 7 for n in range(1, 22)]
    with pytest.warns(
        UserWarning, match=r"(19|18) distinct numbers with decimals, for example 0\.1"
    ):
        lx.token_measures(["N"] * 21, measured, measures="V")
    lx.token_measures(["N"] * 21, [1.0, 2.0, 3.0] * 7, measures="V")


def test_noise_that_does_not_occur_causes_a_warning() -> None:
    with pytest.warns(UserWarning, match="no label of noise, '-7'"):
        lx.overlapping_measures(["N", "V"], [0, 1], noise=[-7])


@pytest.mark.parametrize("noise", [-1, [-1], "-1", np.array([-1]), np.int64(-1), -1.0, {-1}])
def test_the_noise_label_may_be_of_any_type(noise: Any) -> None:
    assert lx.token_measures(["N", "V"], [0, -1], measures="M-1", noise=noise) == {
        "many_to_one": 1.0
    }


def test_without_noise_all_labels_are_clusters() -> None:
    assert lx.token_measures(["N", "V"], [0, -1], measures="M-1", noise=None) == {
        "many_to_one": 1.0
    }
    with pytest.raises(DataError, match=r"\['a'\] is no label; give text or numbers"):
        lx.token_measures(["N", "V"], [0, -1], measures="M-1", noise=[["a"]])


def test_noise_items_never_share_the_cluster_of_another_label() -> None:
    gold, induced = ["a", "b"], ["x 1", "x"]
    values = lx.token_measures(gold, induced, measures="M-1", noise=["x"], noise_as="clusters")
    assert values == {"many_to_one": 1.0}


GOLD = [["N"], ["N", "V"], ["V"], ["N", "V"], [], ["A"]]
INDUCED = [[0], [0, 1], [1], [2], [1], []]


def frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the memberships of both as the stages have them."""
    sides: list[tuple[str, list[Any]]] = [("gold", GOLD), ("cluster", INDUCED)]
    rows = [
        {"item": [str(i) for i, each in enumerate(labels) for _ in each],
         name: [str(label) for each in labels for label in each]}
        for name, labels in sides
    ]  # fmt: skip
    return pl.DataFrame(rows[0]), pl.DataFrame(rows[1])


@pytest.mark.long
def test_type_measures_equal_those_of_the_stage() -> None:
    expected = evaluate_type_level(*frames()).summary
    table = lx.type_measures(GOLD, INDUCED)
    assert table.equals(expected)
    assert table["n_items"].unique().to_list() == [5]
    assert table["n_dropped"].unique().to_list() == [1]
    assert set(table["mapping"]) == {"1-1", "M-1", "floor"}


def test_type_measures_take_options_of_search_and_certificate() -> None:
    options: dict[str, Any] = {"measures": "MacroI", "mappings": "M-1"}
    few = lx.type_measures(GOLD, INDUCED, restarts=3, kicks=0, **options).row(0, named=True)
    assert (few["starts"], few["certificate"], few["gap"]) == (5, "not proven", None)
    sure = lx.type_measures(GOLD, INDUCED, certificate_seconds=5, **options).row(0, named=True)
    assert (sure["value"], sure["certificate"], sure["gap"]) == (few["value"], "proven", 0.0)
    with pytest.raises(DataError, match="type_measures: -1 kicks: must be an integer, 0 or more"):
        lx.type_measures(GOLD, INDUCED, kicks=-1)
    with pytest.raises(DataError, match="0 seconds for the certificate: must be > 0"):
        lx.type_measures(GOLD, INDUCED, certificate_seconds=0)


@pytest.mark.parametrize(
    "kind",
    [
        tuple,
        pytest.param(set, marks=pytest.mark.long),
        frozenset,
        np.array,
        pytest.param(pl.Series, marks=pytest.mark.long),
    ],
    ids=lambda each: each.__name__,
)
def test_labels_of_types_may_be_in_any_collection(kind: Any) -> None:
    gold, induced = ([kind(each) if each else None for each in side] for side in (GOLD, INDUCED))
    assert lx.type_measures(gold, induced).equals(lx.type_measures(GOLD, INDUCED))
    lists = pl.Series(GOLD, dtype=pl.List(pl.String))
    assert lx.type_measures(lists, INDUCED).equals(lx.type_measures(GOLD, INDUCED))


def test_a_single_label_per_type_needs_no_collection() -> None:
    bare = lx.type_measures(TRUE, pl.Series(PRED))
    assert bare.equals(lx.type_measures([[each] for each in TRUE], [[each] for each in PRED]))


def test_a_type_has_all_labels_and_clusters_of_its_tokens() -> None:
    """run is N and V, in clusters 0 and 1; dog is N in 0, its second token without cluster."""
    items = ["run", "run", "run", "dog", "dog"]
    true, pred = ["N", "V", "N", "N", "N"], [0, 1, 1, 0, None]
    table = lx.type_measures(true, pred, items=items, measures="MacroI")
    assert table.equals(lx.type_measures([["N"], ["N", "V"]], [[0], [0, 1]], measures="MacroI"))
    assert table.filter(mapping="1-1")["value"].item() == 1.0
    over = lx.overlapping_measures(true, pred, items=items, measures=["omega", "bcubed_f"])
    assert over == {"omega": 1.0, "bcubed_f": 1.0}


def test_items_and_labels_must_match_in_number() -> None:
    with pytest.raises(DataError, match="labels_true has 5 labels, labels_pred 5, items 4"):
        lx.type_measures(TRUE, PRED, items=list("abcd"))
    with pytest.raises(DataError, match="items: 1 of 5 missing .*; give the word type"):
        lx.type_measures(TRUE, PRED, items=["a", None, "b", "c", "d"])
    with pytest.raises(DataError, match="no item has a gold class"):
        lx.type_measures([None, []], [1, 2])
    with pytest.raises(DataError, match="labels_true: give a sequence of labels"):
        lx.type_measures(np.eye(3), [1, 2, 3])


def test_equal_overlapping_groups_agree_in_full() -> None:
    """Equal groups agree in full; without items nothing is defined."""
    values = lx.overlapping_measures(GOLD[:4], GOLD[:4])
    assert list(values) == OVERLAPPING_MEASURES.resolve(["all"])
    assert all(value == pytest.approx(1.0) for value in values.values())
    assert all(math.isnan(value) for value in lx.overlapping_measures([], []).values())


@given(PAIRS)
def test_bcubed_of_single_labels_equals_its_definition(pairs: list[tuple[str, int]]) -> None:
    """The mean over tokens of the share of their cluster that has their class (slow)."""
    true, pred = map(list, zip(*pairs, strict=True))
    shares = [
        sum(c == c2 for c2, k2 in pairs if k == k2) / sum(k == k2 for _, k2 in pairs)
        for c, k in pairs
    ]
    values = lx.overlapping_measures(true, pred, measures="bcubed_precision")
    assert values["bcubed_precision"] == pytest.approx(sum(shares) / len(shares))


def test_fuzzy_measures_use_weights() -> None:
    whole = lx.overlapping_measures(
        ["s", "s", "t"], ["x", "x", "y"], measures="fuzzy_bcubed_recall"
    )
    assert whole == {"fuzzy_bcubed_recall": pytest.approx(2 / 3)}
    # The first two share the sense, and of the cluster x one quarter.
    graded: list[Any] = [{"x": 1, "y": 4}, "x", "y"]
    values = lx.overlapping_measures(["s", "s", "t"], graded, measures="fuzzy_bcubed_recall")
    assert values == {"fuzzy_bcubed_recall": pytest.approx(2 / 3 / 4)}
    for wrong in ({"x": "much", "y": 1}, {"x": -1, "y": 1}, {"x": None, "y": 1}):
        with pytest.raises(DataError, match="labels_pred: 1 of 1 have a weight that is not"):
            lx.overlapping_measures(["s"], [wrong], measures="fuzzy_nmi")
    with pytest.raises(
        DataError, match="labels_pred: 1 of 3 have weights, for .* which omega does"
    ):
        lx.overlapping_measures(["s", "s", "t"], graded, measures=["fuzzy_nmi", "omega"])
    with pytest.raises(DataError, match="give labels without weights"):
        lx.overlapping_measures(["s"] * 3, graded, items=["a", "a", "b"], measures="fuzzy_nmi")


def test_sense_measures_are_computed_for_each_word() -> None:
    words, gold = ["add", "add", "ask", "ask", "ask"], ["s", "s", {"t": 2, "u": 1}, "t", None]
    table = lx.sense_measures(words, gold, ["a", "a", "b", "b", {"b": 3}])
    values = dict(table.select("measure", "value").iter_rows())
    # ask: the two with a sense share a cluster with the third, which has none: P 1/2, R 1.
    assert values["fuzzy_bcubed_precision"] == pytest.approx((1 + 1 / 2) / 2)
    assert values["fuzzy_bcubed_recall"] == pytest.approx(1.0)
    assert table["n_words"].to_list() == [2] * 4
    single = lx.sense_measures(words, gold, list("aabbb"), measures="bcubed_f",
                               token_measures="V-measure", senses="heaviest")  # fmt: skip
    assert dict(single.select("measure", "value").iter_rows()) == {"bcubed_f": 1.0, "v": 1.0}
    with pytest.raises(DataError, match="gold: 1 instance with several senses"):
        lx.sense_measures(words, gold, list("aabbb"), token_measures="v")
    with pytest.raises(DataError, match="labels_true has 5 labels, labels_pred 5, words 2"):
        lx.sense_measures(["a", "b"], gold, gold)
    with pytest.raises(DataError, match="words: 1 of 5 missing or empty"):
        lx.sense_measures([None, *words[1:]], gold, gold)
    with pytest.raises(ConfigError, match="unknown overlapping measure"):
        lx.sense_measures(words, gold, gold, measures="fuzy")


# Noise of DBSCAN and HDBSCAN: excluded, or each item a cluster of its own


def test_instances_without_an_answer_score_nothing() -> None:
    words, gold = ["a"] * 10, ["s", "t"] * 5
    options: dict[str, Any] = {"measures": [], "token_measures": "v"}
    table = lx.sense_measures(words, gold, ["x"] + [None] * 9, **options)
    assert table["value"].to_list() == pytest.approx([0.1])
    dropped = lx.sense_measures(words, gold, ["x"] + [None] * 9, without_cluster="drop", **options)
    assert dropped["value"].to_list() == [1.0]


def test_noise_of_senses() -> None:
    words, gold = ["a"] * 4, ["s", "s", "t", "t"]
    options: dict[str, Any] = {"measures": "bcubed_f"}
    table = lx.sense_measures(words, gold, [0, 0, 1, -1], noise=[-1], **options)
    assert table.equals(lx.sense_measures(words, gold, [0, 0, 1, None], **options))
    own = lx.sense_measures(words, gold, [0, -1, 1, -1], noise=-1, noise_as="clusters", **options)
    assert own.equals(lx.sense_measures(words, gold, [0, 2, 1, 3], **options))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("senses", "senses: 'best' is unknown; give all or heaviest"),
        ("without_cluster", "without_cluster: 'best' is unknown; give zero or drop or cluster"),
    ],
)
def test_unknown_options_of_senses_are_refused(option: str, message: str) -> None:
    options: dict[str, Any] = {option: "best"}
    with pytest.raises(ConfigError, match=message):
        lx.sense_measures(["a", "a"], ["s", "t"], ["x", "y"], **options)


SCANNED, SCAN_LABELS = ["N", "N", "V", "V", "V"], [0, 0, 1, -1, -1]


@pytest.mark.parametrize(
    ("noise_as", "gold", "clusters"),
    [("excluded", ["N", "N", "V"], [0, 0, 1]), ("clusters", SCANNED, [0, 0, 1, 2, 3])],
)
@pytest.mark.parametrize(
    "labels", [SCAN_LABELS, [str(each) for each in SCAN_LABELS], [0.0, 0.0, 1.0, -1, -1]]
)
def test_noise_tokens_are_excluded_or_clusters_of_their_own(
    labels: Any, noise_as: Any, gold: list[str], clusters: list[int]
) -> None:
    values = lx.token_measures(SCANNED, labels, noise=[-1], noise_as=noise_as)
    assert values == pytest.approx(lx.token_measures(gold, clusters), nan_ok=True)


@pytest.mark.parametrize(
    ("noise_as", "clusters"),
    [("excluded", [0, 0, 1, None, None]), ("clusters", [0, 0, 1, 2, 3])],
)
def test_noise_types_are_excluded_or_clusters_of_their_own(
    noise_as: Any, clusters: list[int | None]
) -> None:
    table = lx.type_measures(SCANNED, SCAN_LABELS, noise=-1, noise_as=noise_as)
    assert table["value"].to_list() == lx.type_measures(SCANNED, clusters)["value"].to_list()
    over = lx.overlapping_measures(SCANNED, SCAN_LABELS, noise=["-1"], noise_as=noise_as)
    assert over == pytest.approx(lx.overlapping_measures(SCANNED, clusters), nan_ok=True)


def test_an_unknown_treatment_of_noise_is_refused() -> None:
    with pytest.raises(ConfigError, match="'dropped' is unknown; give excluded or clusters"):
        lx.token_measures(SCANNED, SCAN_LABELS, noise=[-1], noise_as="dropped")  # type: ignore[arg-type]
