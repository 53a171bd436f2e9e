"""Names of cluster measures as they are typed: from tables, papers and scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics

from pipeline.errors import UnknownName
from pipeline.kernels.clustering import encoding
from pipeline.kernels.clustering.encoding import distinct_sets, distinct_values
from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    TYPE_MEASURES,
    is_proportion,
)
from pipeline.kernels.clustering.token.measures import token_scores
from pipeline.registry import Registry
from tests.kernels.clustering.token.tables import from_tokens

REGISTRIES = (TYPE_MEASURES, TOKEN_MEASURES, OVERLAPPING_MEASURES)
SPELLINGS = {
    TYPE_MEASURES: {"MacroC": "MacroI", "macro_i": "MacroI", "micro_c": "MicroC"},
    TOKEN_MEASURES: {
        "ARI": "adjusted_rand", "ari": "adjusted_rand", "AMI": "ami", "NMI": "nmi", "VI": "vi",
        "V-measure": "v", "v_measure": "v", "V": "v", "Rand": "rand", "RI": "rand", "NVI": "nvi",
        "rand_index": "rand", "F": "clustering_f", "F-measure": "clustering_f", "M-1": "many_to_one",
        "purity": "many_to_one", "1-1": "one_to_one", "mutual_info": "mutual_information", "H": "meila_heckerman",
        "FMI": "fowlkes_mallows", "Jaccard": "jaccard", "D": "van_dongen", "L": "larsen",
        "variation_of_information": "vi", "normalized_mutual_information": "nmi",
    },
    OVERLAPPING_MEASURES: {
        "B-cubed": "bcubed_f", "b3": "bcubed_f", "BCubed": "bcubed_f", "b3_recall": "bcubed_recall",
        "ONMI": "nmi_lfk", "onmi_max": "nmi_max", "Omega": "omega", "ECS": "element_centric",
    },
}  # fmt: skip


AMBIGUOUS = {"MI"}
"""The misclassification index in tables, elsewhere mutual information: refused, not guessed."""


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda each: each.kind)
def test_spellings_find_their_measure(registry: Registry[Any]) -> None:
    for spelling, name in SPELLINGS[registry].items():
        assert registry.resolve([spelling]) == [name], spelling


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda each: each.kind)
def test_titles_find_their_measure(registry: Registry[Any]) -> None:
    for name in registry:
        if registry.place(name).startswith("pipeline."):
            title = registry.get(name).title
            if title not in AMBIGUOUS:
                assert registry.resolve([title]) == [name]


@pytest.mark.parametrize("function", [
    "adjusted_rand_score", "rand_score", "adjusted_mutual_info_score", "mutual_info_score",
    "normalized_mutual_info_score", "homogeneity_score", "completeness_score", "v_measure_score",
    "fowlkes_mallows_score",
])  # fmt: skip
def test_names_of_scikit_learn_find_equal_measures(function: str) -> None:
    tokens = [(0, 0), (0, 1), (1, 1), (1, 1), (2, 0), (2, 2), (0, 0)]
    value = token_scores(from_tokens(tokens), measures=[function])["value"].item()
    exact = getattr(metrics, function)(*zip(*tokens, strict=True))
    assert value == pytest.approx(exact, rel=1e-12)


def test_ambiguous_and_misspelt_names_are_refused() -> None:
    for spelling in AMBIGUOUS:
        with pytest.raises(UnknownName):
            TOKEN_MEASURES.resolve([spelling])
    with pytest.raises(UnknownName, match=r"'adjustedrand'; did you mean adjusted_rand"):
        TOKEN_MEASURES.resolve(["adjustedrand"])
    with pytest.raises(UnknownName, match=r"'Purity'; did you mean many_to_one"):
        TOKEN_MEASURES.resolve(["Purity"])


@pytest.mark.parametrize(
    ("range_", "expected"),
    [("[0,1]", True), ("(0, 1)", True), ("[0, 1]", True), ("[0, 1.5]", False), ("[-1, 1]", False)],
)
def test_the_range_says_whether_a_measure_is_a_proportion(
    range_: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_a_plugin = replace(TOKEN_MEASURES.get("v"), name="mine", range=range_)
    entries = {**TOKEN_MEASURES._entries, "mine": of_a_plugin}
    monkeypatch.setattr(TOKEN_MEASURES, "_entries", entries)
    assert is_proportion("mine") == expected


def test_an_unknown_measure_is_no_proportion() -> None:
    assert not is_proportion("not_known")


SETS = st.lists(st.frozensets(st.integers(0, 3)), max_size=12)


def membership_matrix(sets: Sequence[Set[int]], labels: int = 4) -> sparse.csr_array:
    rows = [[int(label in each) for label in range(labels)] for each in sets]
    return sparse.csr_array(np.array(rows, dtype=np.int64).reshape(len(sets), labels))


@given(SETS)
def test_rows_share_a_place_if_and_only_if_their_sets_are_equal(sets: list[frozenset[int]]) -> None:
    one, places = distinct_sets(membership_matrix(sets))
    assert len(one) == len({*sets})
    assert [sets[one[place]] for place in places] == sets


def test_sets_with_a_common_beginning_are_distinct() -> None:
    one, places = distinct_sets(membership_matrix([{0}, {0, 1}, {0, 1, 2}, set(), {0}]))
    assert len(one) == 4
    assert places[0] == places[4]


def test_rows_without_labels_share_a_place() -> None:
    one, places = distinct_sets(membership_matrix([set(), set()], labels=0))
    assert one.tolist() in ([0], [1])
    assert places.tolist() == [0, 0]


@pytest.mark.parametrize("table", [0, 2**22])
def test_numbers_are_the_same_with_and_without_a_table(
    table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "_LARGEST_TABLE", table)
    distinct, places = distinct_values(np.array([5, 0, 9, 5]))
    assert distinct.tolist() == [0, 5, 9]
    assert places.tolist() == [1, 0, 2, 1]


def test_empty_arrays_have_no_distinct_values() -> None:
    distinct, places = distinct_values(np.zeros(0, dtype=np.int64))
    assert len(distinct) == len(places) == 0
