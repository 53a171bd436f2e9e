"""The mapping of the accuracies as a table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    lower_is_better,
)
from pipeline.kernels.clustering.token import contingency
from pipeline.kernels.clustering.token.measures import PAPER, token_mapping, token_scores
from schemas import TokenMapping
from schemas.validate import validate
from tests.kernels.clustering.token.tables import (
    SCHEMA,
    from_counts,
    from_tokens,
    labellings,
    swap_sides,
)


def test_rows_of_the_mapping_agree_with_those_by_hand() -> None:
    result = token_mapping(from_counts([[4, 0, 1], [0, 3, 0]]))
    assert result.rows() == [
        ("many_to_one", "k000", "c000", 4, 5, 4),
        ("many_to_one", "k001", "c001", 3, 3, 3),
        ("many_to_one", "k002", "c000", 1, 5, 1),
        ("one_to_one", "k000", "c000", 4, 5, 4),
        ("one_to_one", "k001", "c001", 3, 3, 3),
        ("one_to_one", "k002", None, 0, 0, 1),
    ]


def test_ties_are_mapped_to_the_first_class() -> None:
    result = token_mapping(from_counts([[2, 1], [2, 1]])).filter(mapping="many_to_one")
    assert result["gold"].to_list() == ["c000", "c000"]


@given(labellings)
def test_the_mapping_gives_the_accuracies(tokens: list[tuple[int, int]]) -> None:
    cells = from_tokens(tokens)
    table = token_mapping(cells)
    for name in ("many_to_one", "one_to_one"):
        shared = table.filter(mapping=name)["n_ij"].sum()
        assert token_scores(cells, measures=[name])["value"].item() == shared / len(tokens)
    one = table.filter(pl.col("mapping") == "one_to_one", pl.col("gold").is_not_null())
    assert one["gold"].is_unique().all()
    with_names = table.select(pl.lit("s").alias("system"), pl.lit("1").alias("run"), pl.all())
    assert validate([with_names], TokenMapping, name="mapping") == table.height
    assert table.equals(token_mapping(cells.reverse()))


def test_the_mapping_without_tokens_is_empty() -> None:
    result = token_mapping(pl.DataFrame(schema=SCHEMA))
    assert result.height == 0
    assert result.schema == token_mapping(from_counts([[1]])).schema


# Token-level measures: worked examples, scikit-learn, slow twins over pairs, laws.

Tokens = list[tuple[int, int]]
ALL = list(TOKEN_MEASURES)


def score(cells: pl.DataFrame, name: str) -> float | None:
    value: float | None = token_scores(cells, measures=[name])["value"].item()
    return value


WORKED = {
    "one": (
        [[4, 0], [0, 2], [0, 2]],
        {"v": 0.8, "nvi": 1 / 3, "one_to_one": 0.75, "many_to_one": 0.75, "completeness": 1.0,
         "homogeneity": 2 / 3, "vi": 0.5 * math.log(2), "mutual_information": math.log(2),
         "meila_heckerman": 0.25, "misclassification_index": 0.25, "van_dongen": 1 / 8,
         "clustering_f": 0.5 * 1 + 0.5 * 2 / 3, "larsen": 0.5 * (1 + 2 / 3), "nmi": 0.8,
         "micro_precision": 0.75, "micro_recall": 0.75, "nmi_geometric": math.sqrt(2 / 3),
         "rand": 24 / 28, "jaccard": 8 / 12, "pair_precision": 8 / 12, "pair_recall": 1.0,
         "pair_f": 0.8, "h_class_given_cluster": 0.5 * math.log(2), "h_cluster_given_class": 0.0,
         "nmi_minimum": 1.0, "nmi_maximum": 2 / 3, "v_beta_2": 6 / 7,
         "mirkin": 8.0, "fowlkes_mallows": math.sqrt(2 / 3), "adjusted_rand": 256 / 368,
         "hubert_gamma": 128 / math.sqrt(12 * 8 * 16 * 20)},
    ),
    "independent": (
        [[1, 1], [1, 1]],
        {"v": 0.0, "nvi": 2.0, "one_to_one": 0.5, "many_to_one": 0.5, "rand": 1 / 3, "ami": -0.5,
         "adjusted_rand": -0.5, "jaccard": 0.0, "fowlkes_mallows": 0.0, "hubert_gamma": -0.5},
    ),
    "mixed": ([[3, 1], [1, 3]], {"v": 0.188721876, "nvi": 1.622556249}),
}  # fmt: skip


@pytest.mark.parametrize("case", WORKED)
def test_worked_examples_have_their_values(case: str) -> None:
    counts, expected = WORKED[case]
    result = token_scores(from_counts(counts), measures=list(expected))
    assert dict(result.iter_rows()) == pytest.approx(expected, abs=1e-9)


ORACLES: dict[str, Callable[[list[int], list[int]], float]] = {
    "homogeneity": metrics.homogeneity_score,
    "completeness": metrics.completeness_score,
    "v": metrics.v_measure_score,
    "nmi": metrics.normalized_mutual_info_score,
    "ami": metrics.adjusted_mutual_info_score,
    "adjusted_rand": metrics.adjusted_rand_score,
    "rand": metrics.rand_score,
    "mutual_information": metrics.mutual_info_score,
    "nmi_geometric": partial(metrics.normalized_mutual_info_score, average_method="geometric"),
    "nmi_minimum": partial(metrics.normalized_mutual_info_score, average_method="min"),
    "nmi_maximum": partial(metrics.normalized_mutual_info_score, average_method="max"),
    "v_beta_0_5": partial(metrics.v_measure_score, beta=0.5),
    "v_beta_2": partial(metrics.v_measure_score, beta=2.0),
}


@given(labellings)
def test_token_measures_agree_with_scikit_learn(tokens: Tokens) -> None:
    gold, clusters = map(list, zip(*tokens, strict=True))
    values = dict(token_scores(from_tokens(tokens), measures=list(ORACLES)).iter_rows())
    expected = {name: oracle(gold, clusters) for name, oracle in ORACLES.items()}
    if len(tokens) == 1:
        expected["rand"] = 1.0
    assert values == pytest.approx(expected, abs=1e-9)


@given(labellings)
def test_pair_measures_agree_with_a_loop_over_pairs(tokens: Tokens) -> None:
    together = [(a[0] == b[0], a[1] == b[1]) for a, b in itertools.combinations(tokens, 2)]
    both, gold = together.count((True, True)), together.count((True, False))
    clusters = together.count((False, True))
    names = ["jaccard", "pair_precision", "pair_recall", "mirkin", "fowlkes_mallows", "pair_f"]
    values = token_scores(from_tokens(tokens), measures=names)["value"].to_list()
    expected = [
        both / (both + gold + clusters) if both + gold + clusters else 1.0,
        both / (both + clusters) if both + clusters else None,
        both / (both + gold) if both + gold else None,
        2.0 * (gold + clusters),
        both / math.sqrt((both + gold) * (both + clusters)) if both else 0.0,
        2 * both / (2 * both + gold + clusters) if both + gold + clusters else 1.0,
    ]
    if gold == clusters == both == 0:
        expected = [1.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    assert values == pytest.approx(expected)
    x, y = np.array(together, dtype=float).reshape(-1, 2).T
    if len(x) and x.std() and y.std():
        assert score(from_tokens(tokens), "hubert_gamma") == pytest.approx(np.corrcoef(x, y)[0, 1])


@given(labellings)
def test_one_to_one_accuracy_agrees_with_brute_force(tokens: Tokens) -> None:
    counts = np.zeros((5, 6))
    np.add.at(counts, tuple(np.array(tokens).T), 1)
    one = max(
        sum(counts[c, k] for c, k in zip(range(5), order, strict=True))
        for order in itertools.permutations(range(6), 5)
    )
    cells = from_tokens(tokens)
    assert score(cells, "one_to_one") == one / len(tokens)
    assert score(cells, "many_to_one") == counts.max(axis=0).sum() / len(tokens)
    both = counts.max(axis=0).sum() + counts.max(axis=1).sum()
    assert score(cells, "van_dongen") == pytest.approx(1 - both / (2 * len(tokens)))


@given(labellings)
def test_large_tables_are_assigned_as_graphs(tokens: Tokens) -> None:
    cells = from_tokens(tokens)
    small = token_mapping(cells).filter(mapping="one_to_one")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency, "_DENSE", 0)
        large = token_mapping(cells).filter(mapping="one_to_one")
    assert large["n_ij"].sum() == small["n_ij"].sum()
    assert large["gold"].null_count() == small["gold"].null_count()
    assert large["gold"].drop_nulls().is_unique().all()


def test_tables_of_many_labels_are_mapped() -> None:
    """A table of 20,000 x 20,000 labels: each class is one cluster, but two share one."""
    labels = [f"{i:05}" for i in range(20_000)]
    cells = pl.DataFrame({"gold": labels, "cluster": ["00001", *labels[1:]], "f": 2}, schema=SCHEMA)
    values = dict(token_scores(cells, measures=["all"]).iter_rows())
    assert values["one_to_one"] == values["many_to_one"] == 1 - 1 / 20_000
    assert values["h_class_given_cluster"] == pytest.approx(math.log(2) / 10_000)
    assert values["h_cluster_given_class"] == 0.0
    assert values["pair_precision"] == 20_000 / 20_004


def test_betas_outside_the_range_are_refused() -> None:
    for name, message in (("v_beta", "type v_beta"), ("v_beta(0)", "n is a number from 0.001")):
        with pytest.raises(KeyError, match=message):
            TOKEN_MEASURES.resolve([name])


@given(labellings)
def test_entropy_measures_agree_with_plain_sums(tokens: Tokens) -> None:
    N = len(tokens)
    classes, clusters = ([pair[side] for pair in tokens] for side in (0, 1))

    def h(values: list[object]) -> float:
        return -sum(math.log(values.count(x) / N) for x in values) / N

    joint = h(list(tokens))
    vi = 2 * joint - h(list(classes)) - h(list(clusters))
    cells = from_tokens(tokens)
    assert score(cells, "vi") == pytest.approx(vi, abs=1e-12)
    whole = h(list(classes)) or None
    expected = vi / whole if whole else h(list(clusters))
    assert score(cells, "nvi") == pytest.approx(expected, abs=1e-9)
    conditional = (joint - h(list(clusters)), joint - h(list(classes)))
    for name, entropy in zip(("H(C|K)", "H(K|C)"), conditional, strict=True):
        assert score(cells, name) == pytest.approx(entropy, abs=1e-12)


def f(a: set[int], b: set[int]) -> float:
    return 2 * len(a & b) / (len(a) + len(b))


@given(labellings)
def test_set_measures_agree_with_plain_sums(tokens: Tokens) -> None:
    classes, clusters = (
        [
            {i for i, x in enumerate(tokens) if x[side] == label}
            for label in {x[side] for x in tokens}
        ]
        for side in (0, 1)
    )
    cells = from_tokens(tokens)
    larsen = sum(max(f(c, k) for c in classes) for k in clusters) / len(clusters)
    weighted = sum(len(c) * max(f(c, k) for k in clusters) for c in classes) / len(tokens)
    assert score(cells, "larsen") == pytest.approx(larsen)
    assert score(cells, "clustering_f") == pytest.approx(weighted)


BEST = {name: 0.0 if name in lower_is_better(TOKEN_MEASURES) else 1.0 for name in ALL}


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_equal_partitions_have_the_best_value(labels: list[int]) -> None:
    values = dict(token_scores(from_tokens([(x, x) for x in labels]), measures=["all"]).iter_rows())
    values.pop("mutual_information")
    assert values == pytest.approx({name: BEST[name] for name in values}, abs=1e-12)


@given(labellings, st.permutations(range(6)))
def test_names_of_clusters_and_order_of_rows_do_not_matter(
    tokens: Tokens, names: list[int]
) -> None:
    cells = from_tokens(tokens)
    renamed = from_tokens([(c, names[k]) for c, k in tokens])
    values, others = (token_scores(x, measures=["all"])["value"] for x in (cells, renamed))
    expected = values.fill_null(math.nan).to_list()
    assert others.fill_null(math.nan).to_list() == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert token_scores(cells.reverse(), measures=["all"])["value"].equals(values)


@given(labellings)
def test_symmetric_measures_do_not_depend_on_the_order_of_sides(tokens: Tokens) -> None:
    cells = from_tokens(tokens)
    names = [name for name in ALL if TOKEN_MEASURES.get(name).symmetric]
    one, two = (token_scores(x, measures=names)["value"] for x in (cells, swap_sides(cells)))
    expected = two.fill_null(math.nan).to_list()
    assert one.fill_null(math.nan).to_list() == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_the_other_measures_are_asymmetric() -> None:
    cells = from_counts([[4, 0, 1], [0, 2, 0], [1, 2, 0], [0, 0, 0, 5]])
    one, two = (
        dict(token_scores(x, measures=["all"]).iter_rows()) for x in (cells, swap_sides(cells))
    )
    different = {name for name in ALL if one[name] != pytest.approx(two[name], abs=1e-9)}
    asymmetric = {name for name in ALL if not TOKEN_MEASURES.get(name).symmetric}
    assert asymmetric <= different, "symmetric: register it with symmetric=True"
    assert different <= asymmetric, "not symmetric: register it without symmetric=True"


@given(labellings)
def test_one_to_one_accuracy_never_exceeds_many_to_one(tokens: Tokens) -> None:
    cells = from_tokens(tokens)
    one, many = score(cells, "one_to_one"), score(cells, "many_to_one")
    assert one is not None
    assert many is not None
    assert one <= many


def test_measures_without_tokens_have_no_value() -> None:
    values = token_scores(pl.DataFrame(schema=SCHEMA), measures=["all"])
    assert values["measure"].to_list() == ALL
    assert values["value"].null_count() == len(ALL)


def test_one_class_and_one_cluster_have_these_values() -> None:
    one_class = dict(token_scores(from_counts([[3, 2]]), measures=["all"]).iter_rows())
    assert (one_class["homogeneity"], one_class["completeness"], one_class["v"]) == (1.0, 0.0, 0.0)
    assert one_class["nvi"] == pytest.approx(
        metrics.mutual_info_score([0, 0, 0, 1, 1], [0, 0, 0, 1, 1])
    )
    assert (one_class["adjusted_rand"], one_class["ami"], one_class["hubert_gamma"]) == (
        0.0,
        0.0,
        None,
    )
    one_cluster = dict(token_scores(from_counts([[3], [2]]), measures=["all"]).iter_rows())
    assert (one_cluster["homogeneity"], one_cluster["nvi"], one_cluster["ami"]) == (0.0, 1.0, 0.0)


def test_ami_is_zero_if_chance_explains_the_agreement() -> None:
    """A class for each token; the clusters differ in two tokens only, as expected by chance."""
    size = 3000
    classes = [f"c{i:04}" for i in range(size)]
    clusters = [f"k{max(i, 1):04}" for i in range(size)]
    cells = pl.DataFrame({"gold": classes, "cluster": clusters, "f": [1] * size}, schema=SCHEMA)
    assert score(cells, "ami") == pytest.approx(0.0, abs=1e-7)
    assert score(cells.with_columns(cluster="gold"), "ami") == 1.0


def test_products_of_counts_exceed_64_bits() -> None:
    large = 5 * 10**9
    one, two = (
        from_counts([[4, 0], [0, 2], [0, 2]]),
        from_counts([[2 * large, 0], [0, large], [0, large]]),
    )
    names = [
        "rand",
        "adjusted_rand",
        "jaccard",
        "fowlkes_mallows",
        "hubert_gamma",
        "v",
        "one_to_one",
    ]
    pairs = 4 * large
    expected = {"v": 0.8, "one_to_one": 0.75, "rand": 1 - large**2 / (pairs * (pairs - 1) // 2)}
    values = dict(token_scores(two, measures=names).iter_rows())
    assert {name: values[name] for name in expected} == pytest.approx(expected)
    assert score(two, "mirkin") == 2.0 * large**2
    for name in names:
        assert values[name] == pytest.approx(score(one, name), abs=0.15)


def test_names_and_aliases_are_resolved() -> None:
    assert TOKEN_MEASURES.resolve(["M-1", "ARI", "VI", "V"]) == [
        "many_to_one", "adjusted_rand", "vi", "v",
    ]  # fmt: skip
    assert set(PAPER) <= set(ALL)
    with pytest.raises(KeyError, match="did you mean adjusted_rand"):
        TOKEN_MEASURES.resolve(["adjusted_rant"])


def test_names_and_aliases_are_unambiguous() -> None:
    for registry in (TOKEN_MEASURES, OVERLAPPING_MEASURES):
        spelled = [x for name in registry for x in (name, *registry.get(name).aliases)]
        assert len(set(spelled)) == len(spelled)
        assert all(registry.get(name).score.__doc__ for name in registry)
