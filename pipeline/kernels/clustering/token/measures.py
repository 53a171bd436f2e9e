"""Token-level measures: entropies, accuracies of mappings, pair counts, and set matching."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.clustering.encoding import UNMAPPED
from pipeline.kernels.clustering.measure import TOKEN_MEASURES, ClusterMeasure, token_measure
from pipeline.kernels.clustering.token.contingency import (
    Contingency,
    contingency,
    expected_information,
)
from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.registry import Number, NumberRange, Template

_REICHART = "Reichart, Abend & Rappoport 2010, section 2"
_ROSENBERG = "Rosenberg & Hirschberg 2007"
_VINH = "Vinh, Epps & Bailey 2010"
_NAN = float("nan")


def entropy(counts: IntArray) -> float:
    """Return ``-sum p ln p`` of positive counts.

    Examples
    --------
    >>> round(entropy(np.array([2, 2])), 6)
    0.693147
    """
    # Summed like a conditional entropy: for one cluster the two have the same bits.
    n = counts.astype(np.float64)
    return float(-(n * np.log(n / counts.sum())).sum() / counts.sum()) + 0.0


def conditional_entropy(table: Contingency) -> float:
    """Return ``H(C|K) = -sum n_ck/N ln(n_ck/n_k)``, a sum of terms that are 0 or more.

    Not H(C, K) - H(K), which loses its digits where the clusters give the classes away.
    """
    n = table.tokens.astype(np.float64)
    return float(-(n * np.log(n / table.sizes[table.columns])).sum() / table.N) + 0.0


@token_measure(
    title="H(C|K)", family="information theory", formula="-sum n_ck/N ln(n_ck/n_k)",
    range="[0, ln N]", reference=_REICHART, better="lower", aliases=("H(C|K)",),
)  # fmt: skip
def h_class_given_cluster(table: Contingency) -> float:
    """Entropy of the classes where the cluster is known, in nats: 0 for pure clusters."""
    return conditional_entropy(table) if table.N else _NAN


@token_measure(
    title="H(K|C)", family="information theory", formula="-sum n_ck/N ln(n_ck/n_c)",
    range="[0, ln N]", reference=_REICHART, better="lower", aliases=("H(K|C)",),
)  # fmt: skip
def h_cluster_given_class(table: Contingency) -> float:
    """Entropy of the clusters where the class is known, in nats: 0 for undivided classes."""
    return conditional_entropy(table.swapped) if table.N else _NAN


@token_measure(
    title="homogeneity", family="information theory", formula="1 - H(C|K)/H(C); 1 if H(C) = 0",
    range="[0, 1]", reference=_ROSENBERG,
    aliases=("hom", "homogeneity_score"),
)  # fmt: skip
def homogeneity(table: Contingency) -> float:
    """Homogeneity: clusters contain tokens of one class only."""
    if not table.N:
        return _NAN
    whole = entropy(table.classes)
    return _clip(1.0 - conditional_entropy(table) / whole) if whole else 1.0


@token_measure(
    title="completeness", family="information theory", formula="1 - H(K|C)/H(K); 1 if H(K) = 0",
    range="[0, 1]", reference=_ROSENBERG,
    aliases=("comp", "completeness_score"),
)  # fmt: skip
def completeness(table: Contingency) -> float:
    """Completeness: tokens of a class are in one cluster."""
    return homogeneity(table.swapped)


@token_measure(
    title="V", family="information theory", formula="2 hom comp / (hom + comp); 0 if both are 0",
    range="[0, 1]", reference=_ROSENBERG, symmetric=True,
    aliases=("V", "v_measure", "V-measure", "v-measure", "vmeasure", "v_score", "v_measure_score"),
)  # fmt: skip
def v(table: Contingency) -> float:
    """Harmonic mean of homogeneity and completeness; equals NMI with the arithmetic mean."""
    hom, comp = homogeneity(table), completeness(table)
    return 2.0 * hom * comp / (hom + comp) if hom + comp else 0.0


def v_beta(table: Contingency, beta: float) -> float:
    """Weighted harmonic mean of homogeneity and completeness; above 1, completeness counts more.

    ``(1 + beta) hom comp / (beta hom + comp)``, where V has beta = 1.
    """
    hom, comp = homogeneity(table), completeness(table)
    return (1.0 + beta) * hom * comp / (beta * hom + comp) if hom + comp else 0.0


def _v_beta(name: str, number: Number) -> ClusterMeasure[Callable[[Contingency], float]]:
    """Return V with a beta as a measure of its own."""
    text = _BETAS.write(number)
    return ClusterMeasure(
        name, partial(v_beta, beta=float(number)), title=f"V (beta {text})",
        family="information theory", range="[0, 1]", reference=_ROSENBERG,
        formula=f"(1 + {text}) hom comp / ({text} hom + comp); 0 if both are 0",
    )  # fmt: skip


_BETAS = NumberRange(decimals=3)
TOKEN_MEASURES.add_template(
    Template("v_beta", _BETAS, _v_beta, example=_v_beta("v_beta(n)", 1)), f"{__name__}:v_beta"
)


@token_measure(
    title="VI", family="information theory", formula="H(C|K) + H(K|C)", range="[0, 2 ln N]",
    reference="Meila 2007", better="lower", symmetric=True,
    aliases=("VI", "variation_of_information"),
)  # fmt: skip
def vi(table: Contingency) -> float:
    """Variation of information, a metric on partitions; in nats."""
    return conditional_entropy(table) + conditional_entropy(table.swapped) if table.N else _NAN


@token_measure(
    title="NVI", family="information theory", formula="VI / H(C); H(K) if H(C) = 0",
    range="[0, inf)", reference="Reichart & Rappoport 2009", better="lower",
    aliases=("NVI", "normalised_vi", "normalized_vi"),
)  # fmt: skip
def nvi(table: Contingency) -> float:
    """VI on the scale of the gold entropy; not 1 - I/H(C, K), which has the same name."""
    if not table.N:
        return _NAN
    whole = entropy(table.classes)
    return vi(table) / whole if whole else entropy(table.sizes)


@token_measure(
    title="I", family="information theory", formula="H(C) - H(C|K)", range="[0, ln N]",
    reference="Cover & Thomas 2006, 2.4", symmetric=True,
    aliases=("I", "mutual_info", "mutual_info_score"),
)  # fmt: skip
def mutual_information(table: Contingency) -> float:
    """Information that clusters give about classes; in nats."""
    if not table.N:
        return _NAN
    return max(0.0, entropy(table.classes) - conditional_entropy(table))


@token_measure(
    title="NMI", family="information theory", formula="2 I / (H(C) + H(K)); 1 if both are 0",
    range="[0, 1]", reference="Vinh, Epps & Bailey 2010, NMI_sum", symmetric=True,
    aliases=(
        "NMI", "normalised_mutual_information", "normalized_mutual_information",
        "normalized_mutual_info", "normalized_mutual_info_score",
    ),
)  # fmt: skip
def nmi(table: Contingency) -> float:
    """Mutual information divided by mean entropy; equals V except for one class or cluster."""
    return _divide_by_mean_entropy(table, 0.0)


@token_measure(
    title="NMI sqrt", family="information theory", formula="I / sqrt(H(C) H(K)); 1 if both are 0",
    range="[0, 1]", reference="Strehl & Ghosh 2002", symmetric=True,
    aliases=("nmi_sqrt", "NMI sqrt", "NMI_sqrt"),
)  # fmt: skip
def nmi_geometric(table: Contingency) -> float:
    """Mutual information over the geometric mean of the entropies; 0 if one of them is 0."""
    return _divide_by(table, lambda first, second: math.sqrt(first * second))


@token_measure(
    title="NMI min", family="information theory", formula="I / min(H(C), H(K)); 1 if both are 0",
    range="[0, 1]", reference="Vinh, Epps & Bailey 2010, NMI_min", symmetric=True,
    aliases=("nmi_min", "NMI min", "NMI_min"),
)  # fmt: skip
def nmi_minimum(table: Contingency) -> float:
    """Mutual information over the smaller entropy: 1 if one partition refines the other."""
    return _divide_by(table, min)


@token_measure(
    title="NMI max", family="information theory", formula="I / max(H(C), H(K)); 1 if both are 0",
    range="[0, 1]", reference="Vinh, Epps & Bailey 2010, NMI_max", symmetric=True,
    aliases=("nmi_max", "NMI max", "NMI_max"),
)  # fmt: skip
def nmi_maximum(table: Contingency) -> float:
    """Mutual information over the larger entropy; 1 minus it is a metric."""
    return _divide_by(table, max)


def _divide_by(table: Contingency, whole: Callable[[float, float], float]) -> float:
    """Divide mutual information by a mean of the entropies; without information it is 0."""
    if not table.N:
        return _NAN
    first, second = entropy(table.classes), entropy(table.sizes)
    if not first * second:
        return float(first == second)
    return _clip(mutual_information(table) / whole(first, second))


@token_measure(
    title="AMI", family="information theory",
    formula="(I - E[I]) / ((H(C) + H(K))/2 - E[I]); 1 if classes and clusters are equal",
    range="(-inf, 1]", reference=_VINH, symmetric=True,
    aliases=(
        "AMI", "adjusted_mutual_information", "adjusted_mutual_info", "adjusted_mutual_info_score",
    ),
)  # fmt: skip
def ami(table: Contingency) -> float:
    """Mutual information corrected for chance: 0 for clusters drawn at random."""
    if table.N and table.equal:
        return 1.0
    return _divide_by_mean_entropy(table, expected_information(table.classes, table.sizes))


def _divide_by_mean_entropy(table: Contingency, chance: float) -> float:
    if not table.N:
        return _NAN
    mean = (entropy(table.classes) + entropy(table.sizes)) / 2.0
    if not mean:
        return 1.0
    # Chance reaches the mean only if all tables of these sizes are of equal partitions.
    return (mutual_information(table) - chance) / (mean - chance)


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))


# Accuracies of mappings of clusters to classes


@token_measure(
    title="M-1 accuracy", family="mapping", formula="1/N sum_k max_c n_ck", range="(0, 1]",
    reference="Zhao & Karypis 2001, purity; Schütze 1992 for tagging",
    aliases=(
        "M-1", "M-1 accuracy", "purity", "many_to_one_accuracy", "m-1", "m1", "many-to-one",
        "purity_score",
    ),
)  # fmt: skip
def many_to_one(table: Contingency) -> float:
    """Accuracy if every cluster is mapped to its most frequent class.

    It never decreases when a cluster is split, and is 1 for singleton clusters.
    """
    return _token_share(int(_best_by_cluster(table, table.tokens).sum()), table)


@token_measure(
    title="1-1 accuracy", family="mapping",
    formula="1/N max_h sum_k n_h(k)k, h one to one", range="(0, 1]",
    reference="Haghighi & Klein 2006; Meila & Heckerman 2001",
    symmetric=True,
    aliases=(
        "1-1", "1-1 accuracy", "one_to_one_accuracy", "1to1", "one-to-one", "clustering_accuracy",
    ),
)  # fmt: skip
def one_to_one(table: Contingency) -> float:
    """Accuracy under the optimal one-to-one mapping."""
    return _token_share(int(_count_shared(table, table.assignment).sum()), table)


@token_measure(
    title="H", family="mapping", formula="1 - 1-1 accuracy", range="[0, 1)",
    reference="Meila & Heckerman 2001", better="lower", symmetric=True,
    aliases=("H", "classification_error"),
)  # fmt: skip
def meila_heckerman(table: Contingency) -> float:
    """Share of tokens with a wrong class under the optimal one-to-one mapping."""
    return 1.0 - one_to_one(table)


@token_measure(
    title="MI", family="mapping", formula="1 - M-1 accuracy", range="[0, 1)",
    reference="Zeng et al. 2002", better="lower", aliases=("misclassification",),
)  # fmt: skip
def misclassification_index(table: Contingency) -> float:
    """Share of tokens outside the most frequent class of their cluster."""
    return 1.0 - many_to_one(table)


@token_measure(
    title="micro-P", family="mapping", formula="sum_c TP_c / sum_c (TP_c + FP_c)", range="(0, 1]",
    reference="Dhillon, Mallela & Modha 2003",
    aliases=("micro-P",),
)  # fmt: skip
def micro_precision(table: Contingency) -> float:
    """Precision under the many-to-one mapping, counted over all classes together.

    Every token has one class and one cluster, so a false positive of a class is a false
    negative of another: precision, recall and M-1 accuracy are the same number.
    """
    return many_to_one(table)


@token_measure(
    title="micro-R", family="mapping", formula="sum_c TP_c / sum_c (TP_c + FN_c)", range="(0, 1]",
    reference="Dhillon, Mallela & Modha 2003",
    aliases=("micro-R",),
)  # fmt: skip
def micro_recall(table: Contingency) -> float:
    """Recall under the many-to-one mapping, counted over all classes; see micro_precision."""
    return many_to_one(table)


def token_mapping(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the class that each cluster is mapped to, under either mapping.

    Parameters
    ----------
    cells : pl.DataFrame
        gold, cluster, f, as for `contingency`.

    Returns
    -------
    pl.DataFrame
        Columns mapping (many_to_one, one_to_one), cluster, gold, n_ij (common tokens), n_i and n_j
        (tokens of class and cluster); sorted by mapping and cluster. Clusters without a one-to-one
        class have null for gold, and 0 for n_ij and n_i. Many-to-one resolves ties by the order of
        labels.

    Examples
    --------
    >>> cells = pl.DataFrame({
    ...     "gold": ["a", "a", "b"], "cluster": ["1", "2", "2"], "f": [4, 1, 2]
    ... })
    >>> token_mapping(cells).filter(mapping="one_to_one").rows()
    [('one_to_one', '1', 'a', 4, 5, 4), ('one_to_one', '2', 'b', 2, 2, 3)]
    """
    table = contingency(cells)
    return pl.concat([
        _rows(table, "many_to_one", _largest_classes(table)),
        _rows(table, "one_to_one", table.assignment),
    ])  # fmt: skip


def _best_by_cluster(table: Contingency, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the largest value of each cluster among those of its pairs, which are positive."""
    best = np.zeros(len(table.clusters), dtype=values.dtype)
    np.maximum.at(best, table.columns, values)
    return best


def _largest_classes(table: Contingency) -> IntArray:
    best = table.tokens == _best_by_cluster(table, table.tokens)[table.columns]
    mapping = np.full(len(table.clusters), len(table.gold), dtype=np.int64)
    np.minimum.at(mapping, table.columns[best], table.rows[best])
    return mapping


def _count_shared(table: Contingency, mapping: IntArray) -> IntArray:
    """Return the tokens that each cluster shares with its class; 0 without one."""
    shared = np.zeros(len(mapping), dtype=np.int64)
    matches = table.rows == mapping[table.columns]
    shared[table.columns[matches]] = table.tokens[matches]
    return shared


def _rows(table: Contingency, mapping: str, places: IntArray) -> pl.DataFrame:
    gold = pl.Series(table.gold, dtype=pl.String).gather(pl.Series(places).replace(UNMAPPED, None))
    sizes = np.append(table.classes, 0)[places]
    data = {
        "mapping": [mapping] * len(places), "cluster": table.clusters, "gold": gold,
        "n_ij": _count_shared(table, places), "n_i": sizes, "n_j": table.sizes,
    }  # fmt: skip
    schema = dict.fromkeys(("mapping", "cluster", "gold"), pl.String) | dict.fromkeys(
        ("n_ij", "n_i", "n_j"), pl.Int64
    )
    return pl.DataFrame(data, schema=schema)


def _token_share(tokens: int, table: Contingency) -> float:
    return tokens / table.N if table.N else _NAN


# Pair counts: exact integers of any size, each quotient rounded once

_SAFE = 3_037_000_499
"""The largest number with a square in Int64: a sum of squares is at most the square of the sum."""


class Pairs(NamedTuple):
    """Pairs of tokens by common class and cluster.

    The fields are both = a class and a cluster, cluster = only a cluster, gold = only a class,
    neither.
    """

    both: int
    cluster: int
    gold: int
    neither: int


def count_pairs(table: Contingency) -> Pairs:
    """Count the pairs of different tokens.

    ``both = sum n_ck (n_ck - 1) / 2``, and likewise for clusters and for classes.

    Examples
    --------
    >>> table = Contingency(("a", "b"), ("1",), *np.array([[0, 1], [0, 0], [2, 1]]))
    >>> count_pairs(table)
    Pairs(both=1, cluster=2, gold=0, neither=0)
    """
    N = table.N
    both = (_sum_of_squares(table.tokens, N) - N) // 2
    clusters = (_sum_of_squares(table.sizes, N) - N) // 2
    classes = (_sum_of_squares(table.classes, N) - N) // 2
    rest = N * (N - 1) // 2 - clusters - classes + both
    return Pairs(both, clusters - both, classes - both, rest)


def _sum_of_squares(counts: IntArray, total: int) -> int:
    if total <= _SAFE:
        return int(np.dot(counts, counts))
    return sum(int(count) ** 2 for count in counts)


@token_measure(
    title="Rand", family="pair counting", formula="(both + neither) / pairs", range="[0, 1]",
    reference="Rand 1971", symmetric=True,
    aliases=("RI", "rand_index", "Rand", "ri", "rand_score"),
)  # fmt: skip
def rand(table: Contingency) -> float:
    """Share of pairs treated alike by classes and clusters; near 1 if either are many."""
    pairs = count_pairs(table)
    return _pair_quotient(pairs.both + pairs.neither, sum(pairs), table)


@token_measure(
    title="ARI", family="pair counting",
    formula="2 (both neither - cluster gold) / "
    "((both+cluster)(cluster+neither) + (both+gold)(gold+neither))",
    range="[-1/2, 1]", reference="Hubert & Arabie 1985", symmetric=True,
    aliases=("ARI", "adjusted_rand_index", "ari", "adjusted_rand_score"),
)  # fmt: skip
def adjusted_rand(table: Contingency) -> float:
    """Rand index corrected for chance: 0 on average for clusters drawn at random."""
    a, b, c, d = count_pairs(table)
    return _pair_quotient(2 * (a * d - b * c), (a + b) * (b + d) + (a + c) * (c + d), table)


@token_measure(
    title="Jaccard", family="pair counting", formula="both / (both + cluster + gold)",
    range="[0, 1]", reference="Jaccard 1912; Ben-Hur, Elisseeff & Guyon 2002", symmetric=True,
    aliases=("Jaccard", "pair_jaccard", "jaccard_index"),
)  # fmt: skip
def jaccard(table: Contingency) -> float:
    """Share of pairs with both a common class and cluster, among those with either."""
    pairs = count_pairs(table)
    return _pair_quotient(pairs.both, pairs.both + pairs.cluster + pairs.gold, table)


@token_measure(
    title="pair-P", family="pair counting", formula="both / (both + cluster)", range="[0, 1]",
    reference="Wallace 1983, W_II",
    aliases=("pair-P", "pairwise_precision"),
)  # fmt: skip
def pair_precision(table: Contingency) -> float:
    """Share of pairs with a common class, among those with a common cluster."""
    pairs = count_pairs(table)
    return _pair_quotient(pairs.both, pairs.both + pairs.cluster, table)


@token_measure(
    title="pair-R", family="pair counting", formula="both / (both + gold)", range="[0, 1]",
    reference="Wallace 1983, W_I",
    aliases=("pair-R", "pairwise_recall"),
)  # fmt: skip
def pair_recall(table: Contingency) -> float:
    """Share of pairs with a common cluster, among those with a common class."""
    pairs = count_pairs(table)
    return _pair_quotient(pairs.both, pairs.both + pairs.gold, table)


@token_measure(
    title="pair-F", family="pair counting", formula="2 both / (2 both + cluster + gold)",
    range="[0, 1]", reference="Manandhar et al. 2010, SemEval-2010 task 14", symmetric=True,
    aliases=("pair-F", "paired F", "paired F-score", "paired_f", "pairwise_f"),
)  # fmt: skip
def pair_f(table: Contingency) -> float:
    """Harmonic mean of pair precision and recall."""
    pairs = count_pairs(table)
    return _pair_quotient(2 * pairs.both, 2 * pairs.both + pairs.cluster + pairs.gold, table)


@token_measure(
    title="FM", family="pair counting", formula="both / sqrt((both + cluster)(both + gold))",
    range="[0, 1]", reference="Fowlkes & Mallows 1983", symmetric=True,
    aliases=("FM", "FMI", "fm", "fmi", "fowlkes_mallows_index", "fowlkes_mallows_score"),
)  # fmt: skip
def fowlkes_mallows(table: Contingency) -> float:
    """Geometric mean of pair precision and recall; 0 if no pair shares both."""
    a, b, c, _ = count_pairs(table)
    if not table.N or a == b == c == 0:
        return _pair_quotient(0, 0, table)
    return a / math.sqrt((a + b) * (a + c)) if a else 0.0


@token_measure(
    title="Mirkin", family="pair counting", formula="sum n_c^2 + sum n_k^2 - 2 sum n_ck^2",
    range="[0, N (N - 1)]", reference="Mirkin 1996", better="lower", symmetric=True,
    aliases=("Mirkin", "mirkin_metric"),
)  # fmt: skip
def mirkin(table: Contingency) -> float:
    """Twice the number of pairs treated differently; a metric on partitions."""
    pairs = count_pairs(table)
    return float(2 * (pairs.cluster + pairs.gold)) if table.N else _NAN


@token_measure(
    title="Gamma", family="pair counting",
    formula="(both neither - cluster gold) / "
    "sqrt((both+cluster)(both+gold)(cluster+neither)(gold+neither))",
    range="[-1, 1]", reference="Hubert & Schultz 1976; Hubert & Arabie 1985",
    symmetric=True,
    aliases=("gamma", "hubert", "Gamma"),
)  # fmt: skip
def hubert_gamma(table: Contingency) -> float:
    """Correlation, over pairs, of sharing a class with sharing a cluster.

    1 where classes and clusters are equal; else undefined where all pairs or none share a
    class, or a cluster.
    """
    a, b, c, d = count_pairs(table)
    if table.equal or not table.N:
        return _pair_quotient(0, 0, table)
    below = math.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    return min(1.0, max(-1.0, (a * d - b * c) / below)) if below else _NAN


def _pair_quotient(part: int, whole: int, table: Contingency) -> float:
    """Divide; where nothing is there to compare, classes and clusters are equal or it is NaN."""
    if not table.N:
        return _NAN
    if whole:
        return part / whole
    return 1.0 if table.equal else _NAN


# Table of measures

PAPER = (
    "many_to_one", "one_to_one", "nvi", "v", "h_class_given_cluster", "h_cluster_given_class",
)  # fmt: skip
"""The token-level measures of Reichart, Abend & Rappoport (2010)."""


def token_scores(cells: pl.DataFrame, *, measures: Sequence[str]) -> pl.DataFrame:
    """Return measures of a clustering of tokens with gold classes.

    Parameters
    ----------
    cells : pl.DataFrame
        gold, cluster, f, as for `contingency`.
    measures : sequence of str
        Names or aliases in `TOKEN_MEASURES`, or ``all``.

    Returns
    -------
    pl.DataFrame
        Columns measure and value (Float64), in the given order; undefined values are null, as are
        all without tokens. Values do not depend on the order of rows.

    Raises
    ------
    KeyError
        For an unknown measure, with the nearest names.
    DataError
        For invalid labels or counts, as in `contingency`.

    References
    ----------
    Reichart, Abend & Rappoport, Type Level Clustering Evaluation (2010), section 2, for the
    families.

    Examples
    --------
    >>> cells = pl.DataFrame({
    ...     "gold": ["a", "b", "c"], "cluster": ["1", "2", "2"], "f": [4, 2, 2]
    ... })
    >>> token_scores(cells, measures=["1-1", "V", "NVI"]).select(
    ...     "measure", pl.col("value").round(4)
    ... ).rows()
    [('one_to_one', 0.75), ('v', 0.8), ('nvi', 0.3333)]
    """
    names = TOKEN_MEASURES.resolve(measures)
    values = score_table(contingency(cells), names)
    schema = {"measure": pl.String, "value": pl.Float64}
    return pl.DataFrame({"measure": names, "value": values}, schema=schema).fill_nan(None)


def score_table(table: Contingency, names: Sequence[str]) -> list[float]:
    """Return the value of each measure; NaN where it is undefined."""
    return [TOKEN_MEASURES.get(name).score(table) for name in names]


# Set matching: each class or cluster with its best counterpart


def _f_scores(table: Contingency) -> FloatArray:
    """Return ``2 n_ck / (n_c + n_k)`` of every pair of a class and a cluster with tokens."""
    both = table.classes[table.rows] + table.sizes[table.columns]
    return np.asarray(2.0 * table.tokens / both)


@token_measure(
    title="F", family="set matching", formula="sum_c n_c/N max_k 2 n_ck / (n_c + n_k)",
    range="(0, 1]", reference="Larsen & Aone 1999; Fung, Wang & Ester 2003",
    aliases=("F", "f_measure", "larsen_aone", "F-measure", "f-measure", "f_score"),
)  # fmt: skip
def clustering_f(table: Contingency) -> float:
    """F-score of each class with its best cluster, weighted by tokens."""
    if not table.N:
        return _NAN
    best = _best_by_cluster(table.swapped, _f_scores(table.swapped))
    return float((table.classes * best).sum() / table.N)


@token_measure(
    title="L", family="set matching", formula="1/m sum_k max_c 2 n_ck / (n_c + n_k)",
    range="(0, 1]", reference="Larsen 1999, as in Meila 2007", aliases=("L",),
)  # fmt: skip
def larsen(table: Contingency) -> float:
    """Unweighted F-score of each cluster with its best class."""
    return float(_best_by_cluster(table, _f_scores(table)).mean()) if table.N else _NAN


@token_measure(
    title="D", family="set matching",
    formula="1 - (sum_k max_c n_ck + sum_c max_k n_ck) / (2 N)",
    range="[0, 1)", reference="van Dongen 2000", better="lower", symmetric=True,
    aliases=("D", "van_dongen_metric"),
)  # fmt: skip
def van_dongen(table: Contingency) -> float:
    """Share of tokens to move for one partition to refine the other; mean of both directions."""
    if not table.N:
        return _NAN
    sides = (table, table.swapped)
    fitting = sum(int(_best_by_cluster(side, side.tokens).sum()) for side in sides)
    return (2 * table.N - fitting) / (2 * table.N)
