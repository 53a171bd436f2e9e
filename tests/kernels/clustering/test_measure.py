"""What people type for cluster measures: as tables call them, as papers do, as scikit-learn does."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn import metrics

from pipeline.errors import UnknownName
from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    TYPE_MEASURES,
)
from pipeline.kernels.clustering.token.measures import token_scores
from pipeline.registry import Registry
from tests.kernels.clustering.token.tables import from_tokens

REGISTRIES = (TYPE_MEASURES, TOKEN_MEASURES, OVERLAPPING_MEASURES)
TYPED = {
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
"""In tables the misclassification index, to others mutual information: refused, not guessed."""


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda each: each.kind)
def test_spellings(registry: Registry[Any]) -> None:
    for typed, name in TYPED[registry].items():
        assert registry.resolve([typed]) == [name], typed


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda each: each.kind)
def test_what_tables_call_a_measure_finds_it(registry: Registry[Any]) -> None:
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
def test_the_functions_of_scikit_learn(function: str) -> None:
    tokens = [(0, 0), (0, 1), (1, 1), (1, 1), (2, 0), (2, 2), (0, 0)]
    found = token_scores(from_tokens(tokens), measures=[function])["value"].item()
    exact = getattr(metrics, function)(*zip(*tokens, strict=True))
    assert found == pytest.approx(exact, rel=1e-12)


def test_a_spelling_that_is_nearly_right() -> None:
    for typed in AMBIGUOUS:
        with pytest.raises(UnknownName):
            TOKEN_MEASURES.resolve([typed])
    with pytest.raises(UnknownName, match=r"'adjustedrand'; did you mean adjusted_rand"):
        TOKEN_MEASURES.resolve(["adjustedrand"])
    with pytest.raises(UnknownName, match=r"'Purity'; did you mean many_to_one"):
        TOKEN_MEASURES.resolve(["Purity"])
