"""Measures of overlapping groupings, and their bootstrap intervals over items."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.clustering.encoding import refuse_weights
from pipeline.kernels.clustering.measure import OVERLAPPING_MEASURES, overlapping_measure
from pipeline.kernels.clustering.overlapping.memberships import Memberships, Patterns, memberships
from pipeline.kernels.numeric import FloatArray, IntArray, check_bootstrap, summary
from pipeline.kernels.sampling import seeded_generator

_AMIGO = "Amigó et al. 2009, section 5"


@overlapping_measure(
    title="BCubed P", family="overlapping",
    formula="mean_e mean_e' min(|A A'|, |B B'|) / |B B'|, over e' that share a cluster with e",
    range="[0, 1]", reference=_AMIGO,
    aliases=("BCubed P", "b3_precision", "b_cubed_precision"),
)  # fmt: skip
def bcubed_precision(data: Memberships) -> float:
    """BCubed precision: how well items that share clusters also share classes.

    Mean over items with a cluster: as in information retrieval, missing items lower recall, not
    precision.
    """
    return _mean(data.sharing.precision, data)


@overlapping_measure(
    title="BCubed R", family="overlapping",
    formula="mean_e mean_e' min(|A A'|, |B B'|) / |A A'|, over e' that share a class with e",
    range="[0, 1]", reference=_AMIGO,
    aliases=("BCubed R", "b3_recall", "b_cubed_recall"),
)  # fmt: skip
def bcubed_recall(data: Memberships) -> float:
    """BCubed recall: how well items that share classes also share clusters.

    Mean over all gold items; items without a cluster have recall 0.
    """
    return _mean(data.sharing.recall, data)


@overlapping_measure(
    title="BCubed F", family="overlapping", formula="2 P R / (P + R); 0 if both are 0",
    range="[0, 1]", reference=_AMIGO,
    aliases=(
        "bcubed", "BCubed", "BCubed F", "B-cubed", "b-cubed", "b_cubed", "B3", "b3", "bcubed_f1",
        "bcubed_fscore",
    ),
)  # fmt: skip
def bcubed_f(data: Memberships) -> float:
    """Harmonic mean of extended BCubed precision and recall; 0 if no item has a cluster."""
    recall = bcubed_recall(data)
    return harmonic_mean(bcubed_precision(data), recall) if recall else 0.0


def _mean(values: FloatArray, data: Memberships) -> float:
    defined = ~np.isnan(values)
    items = int(data.counts[defined].sum())
    return float((values[defined] * data.counts[defined]).sum() / items) if items else float("nan")


# Element-centric similarity

ALPHA = 0.9
"""Probability of continuing the random walk; the authors' default."""
MOST_PAIRS = 2**30
"""Maximum number of compared pairs of joint patterns; about ten seconds."""
_ROWS, _COLUMNS = 128, 2048


@overlapping_measure(
    title="element-centric", family="overlapping",
    formula="mean_i 1 - 1/(2 alpha) sum_j |p_ij - q_ij|, p and q personalised PageRank",
    range="[0, 1]", reference="Gates, Wood, Hetrick & Ahn 2019", symmetric=True,
    aliases=("ECS", "element_sim", "ecs", "element-centric", "element_centric_similarity"),
)  # fmt: skip
def element_centric(data: Memberships) -> float:
    """Overlap of the destinations of random walks from an item through groups.

    An item without a cluster has similarity 0. See `element_centric_estimate`.
    """
    return element_centric_estimate(data)[0]


def element_centric_estimate(
    data: Memberships, *, alpha: float = ALPHA, most_pairs: int = MOST_PAIRS
) -> tuple[float, float]:
    """Return the element-centric similarity and its standard error.

    A walk goes on with probability alpha: to one of the classes of the item, each alike, and
    to one of the items of the class, each alike; else it starts again at its item. With U = the
    share of an item's classes and V = that of a class's items, the part of the stationary
    probabilities that differs between groupings is ``(1-alpha) alpha U (I - alpha V'U)^-1 V'``,
    a matrix of classes by classes in its middle, so that items with equal patterns are alike.

    If every item has one class and at most one cluster, the sum over j has a closed form. Otherwise
    pairs of joint patterns are compared. If there are more than `most_pairs`, items are sampled
    with replacement (and compared with all others), and the standard error is that of their mean.

    Parameters
    ----------
    data : Memberships
        Classes and clusters.
    alpha : float
        In (0, 1).
    most_pairs : int
        Bound on the work, and so on the sample.

    Returns
    -------
    value, standard_error : float
        In [0, 1], 1 for equal groupings; NaN without items. The error is 0 for an exact value.

    Notes
    -----
    Memory and time grow with the square of the number of classes and of clusters, except in the
    closed form: hundreds are quick, thousands take gigabytes.

    References
    ----------
    Gates, Wood, Hetrick & Ahn, Element-centric clustering comparison unifies overlaps and
    hierarchy, Scientific Reports 9 (2019), equations 1 to 5.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.clustering.overlapping.memberships import memberships
    >>> gold = pl.DataFrame({"item": ["a", "b", "c"], "gold": ["N", "N", "V"]})
    >>> induced = pl.DataFrame({"item": ["a", "b", "c"], "cluster": ["1", "2", "2"]})
    >>> value, error = element_centric_estimate(memberships(gold, induced))
    >>> round(value, 6), error
    (0.5, 0.0)
    """
    if not data.items:
        return math.nan, math.nan
    if data.gold.members.shape[1] == 1 and data.clusters.members.shape[1] <= 1:
        return _partition_similarity(data), 0.0
    patterns = len(data.counts)
    if patterns**2 <= most_pairs:
        places = np.arange(patterns)
        return _weighted_mean(_similarities(data, places, alpha), data.counts), 0.0
    return _estimate_by_sampling(data, alpha, max(2, most_pairs // patterns))


def _partition_similarity(data: Memberships) -> float:
    """Return the mean of ``1 - (n |1/n_c - 1/n_k| + (n_c-n)/n_c + (n_k-n)/n_k) / 2``."""
    has_cluster = data.clusters.sizes[data.pairs[:, 1]] > 0
    c = data.gold.members[data.pairs[:, 0], 0]
    similarity = np.zeros(len(data.counts))
    if has_cluster.any():
        k = data.clusters.members[data.pairs[has_cluster, 1], 0]
        n, n_c, n_k = (
            part.astype(np.float64)
            for part in (data.counts[has_cluster], data.sizes(0)[c[has_cluster]], data.sizes(1)[k])
        )
        # The sum in brackets is 2 - 2 n / max(n_c, n_k).
        similarity[has_cluster] = n / np.maximum(n_c, n_k)
    return _weighted_mean(similarity, data.counts)


def _estimate_by_sampling(data: Memberships, alpha: float, draws: int) -> tuple[float, float]:
    bits = seeded_generator(seed=data.seed, purpose="element-centric")
    places, times = np.unique(_draw_patterns(data.counts, draws, bits), return_counts=True)
    values = _similarities(data, places, alpha)
    mean = _weighted_mean(values, times)
    spread = float((times * (values - mean) ** 2).sum() / (draws - 1))
    return mean, math.sqrt(spread / draws)


def _draw_patterns(counts: IntArray, draws: int, bits: np.random.Generator) -> IntArray:
    """Return the joint patterns of items that are drawn with replacement."""
    ends = np.cumsum(counts)
    items = bits.integers(ends[-1], size=draws)
    return np.asarray(np.searchsorted(ends, items, side="right"), dtype=np.int64)


def _similarities(data: Memberships, places: IntArray, alpha: float) -> FloatArray:
    """Return the similarity of the items of some joint patterns."""
    first = _walks(data.gold, data.sizes(0), data.pairs[:, 0], data.counts, alpha)
    second = _walks(data.clusters, data.sizes(1), data.pairs[:, 1], data.counts, alpha)
    has_cluster = data.clusters.sizes[data.pairs[:, 1]] > 0
    distances = np.zeros(len(places))
    for start in range(0, len(places), _ROWS):
        one, two = data.pairs[places[start : start + _ROWS]].T
        p, q = data.gold.sums(first[one]), data.clusters.sums(second[two])
        distances[start : start + _ROWS] = _distances(p, q, data)
    return np.where(has_cluster[places], np.maximum(0.0, 1.0 - distances / (2.0 * alpha)), 0.0)


def _distances(p: FloatArray, q: FloatArray, data: Memberships) -> FloatArray:
    """Return ``sum_j |p_ij - q_ij|`` over all items j, for the items i of each column."""
    total = np.zeros(p.shape[1])
    for start in range(0, len(data.counts), _COLUMNS):
        part = slice(start, start + _COLUMNS)
        apart = p[data.pairs[part, 0]]
        apart -= q[data.pairs[part, 1]]
        np.abs(apart, out=apart)
        apart *= data.counts[part, None]
        total += apart.sum(axis=0)
    return total


def _walks(
    side: Patterns, items: IntArray, places: IntArray, counts: IntArray, alpha: float
) -> FloatArray:
    """Return, for each set of labels, what a walk gives to each item of each label."""
    many = np.bincount(places, weights=counts, minlength=len(side.members))
    incidence = side.incidence()
    steps = incidence / np.maximum(side.sizes, 1)[:, None]
    # Not by a product of BLAS, whose last bit may depend on its threads.
    between = np.einsum("pi,pj->ij", incidence * many[:, None], steps) / items[:, None]
    middle = np.linalg.inv(np.eye(len(items)) - alpha * between)
    return np.asarray((1.0 - alpha) * alpha * np.einsum("pi,ij->pj", steps, middle) / items)


def _weighted_mean(values: FloatArray, counts: IntArray) -> float:
    return float((values * counts).sum() / counts.sum())


# Normalised mutual information of overlapping groupings (LFK, max)


@overlapping_measure(
    title="NMI LFK", family="overlapping",
    formula="1 - (mean_i H(X_i|Y)/H(X_i) + mean_j H(Y_j|X)/H(Y_j)) / 2",
    range="[0, 1]", reference="Lancichinetti, Fortunato & Kertész 2009, appendix B",
    symmetric=True,
    aliases=("onmi_lfk", "onmi", "NMI LFK", "NMI_LFK", "ONMI"),
)  # fmt: skip
def nmi_lfk(data: Memberships) -> float:
    """Information that each group has about the most informative group of the other side.

    A group of all items has no entropy: its term is 0 if the other side has one too, else 1.
    """
    if not data.items:
        return float("nan")
    if not data.clusters.labels:
        return 0.0
    first, second = _entropies_of_sides(data)
    return (
        1.0
        - (
            _mean_conditional_entropy(*first, second[1])
            + _mean_conditional_entropy(*second, first[1])
        )
        / 2.0
    )


@overlapping_measure(
    title="NMI max", family="overlapping",
    formula="(H(X) - H(X|Y) + H(Y) - H(Y|X)) / (2 max(H(X), H(Y)))",
    range="[0, 1]", reference="McDaid, Greene & Hurley 2011", symmetric=True,
    aliases=("onmi_max", "NMI max", "NMI_max", "ONMI_max"),
)  # fmt: skip
def nmi_max(data: Memberships) -> float:
    """Like nmi_lfk, with sums over groups, which does not overrate groups with little overlap.

    1 if all groups of both sides contain all items, without entropy.
    """
    if not data.items:
        return float("nan")
    if not data.clusters.labels:
        return 0.0
    (left_x, whole_x), (left_y, whole_y) = _entropies_of_sides(data)
    x, y = float(whole_x.sum()), float(whole_y.sum())
    if not max(x, y):
        return 1.0
    shared = x - float(left_x.sum()) + y - float(left_y.sum())
    return min(1.0, max(0.0, shared / (2.0 * max(x, y))))


_Entropies = tuple[FloatArray, FloatArray]


def _entropies_of_sides(data: Memberships) -> tuple[_Entropies, _Entropies]:
    """Return H(X_i|Y) and H(X_i) of every class and every cluster."""
    n, sizes, l = data.overlap, (data.sizes(0), data.sizes(1)), data.items  # noqa: E741  the letters of the field
    return _entropies(n, *sizes, l), _entropies(n.T, *sizes[::-1], l)


def _entropies(n: IntArray, first: IntArray, second: IntArray, items: int) -> _Entropies:
    """Return, for each group of the first side, the least entropy that one of the other leaves.

    A group counts only if ``h(a) + h(d) >= h(b) + h(c)``, h(w) = -w/l ln(w/l), with a items in
    both, b and c in one of them, d in neither: else it may as well be the complement.
    """
    a = n.astype(np.float64)
    b, c = first[:, None] - a, second[None, :] - a
    d = items - a - b - c
    inside, outside = a + c, b + d
    lost = (
        _entropy_term(a, inside)
        + _entropy_term(c, inside)
        + _entropy_term(b, outside)
        + _entropy_term(d, outside)
    )
    size = first.astype(np.float64)
    own = _entropy(size, items) + _entropy(items - size, items)
    close = _entropy(a, items) + _entropy(d, items) >= _entropy(b, items) + _entropy(c, items)
    conditional: FloatArray = np.where(close, lost / items, own[:, None])
    return np.minimum(conditional.min(axis=1), own), own


def _entropy_term(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return ``-part ln(part/whole)``, 0 for no part."""
    return np.asarray(-scipy.special.xlogy(part, part / np.maximum(whole, 1.0)), dtype=np.float64)


def _entropy(count: FloatArray, items: int) -> FloatArray:
    return _entropy_term(count, np.full_like(count, items)) / items


def _mean_conditional_entropy(conditional: FloatArray, own: FloatArray, other: FloatArray) -> float:
    """Return the mean of ``H(X_i|Y) / H(X_i)``."""
    without = 0.0 if (other == 0.0).any() else 1.0
    shares = np.divide(conditional, own, out=np.full_like(own, without), where=own > 0.0)
    return float(shares.mean())


# Omega index


@overlapping_measure(
    title="Omega", family="overlapping",
    formula="(obs - exp) / (1 - exp), obs = sum_j n_jj / pairs, exp = sum_j n_j. n_.j / pairs^2",
    range="(-inf, 1]", reference="Collins & Dent 1988", symmetric=True,
    aliases=("omega_index", "Omega"),
)  # fmt: skip
def omega(data: Memberships) -> float:
    """Chance-corrected share of item pairs with equal numbers of common classes and clusters.

    Equals the adjusted Rand index for items with one class and one cluster. 1 if the numbers agree
    for all pairs; NaN for fewer than two items.
    """
    table = shared_by_pairs(data)
    size = max(table.shape)
    square = np.zeros((size, size), dtype=object)
    square[: table.shape[0], : table.shape[1]] = table
    pairs = int(table.sum())
    observed = int(np.trace(square)) * pairs
    expected = int((square.sum(axis=1) * square.sum(axis=0)).sum())
    if pairs == 0:
        return float("nan")
    return 1.0 if expected == pairs**2 else (observed - expected) / (pairs**2 - expected)


def shared_by_pairs(data: Memberships) -> IntArray:
    """Count pairs of distinct items by numbers of common classes and clusters.

    Returns
    -------
    array of int, shape (classes + 1, clusters + 1)
        Unordered pairs that share j classes and k clusters.
    """
    ordered = data.sharing.ordered.copy()
    own = data.gold.sizes[data.pairs[:, 0]], data.clusters.sizes[data.pairs[:, 1]]
    np.subtract.at(ordered, own, data.counts)
    return ordered // 2


# Measures of degrees of membership, for graded word senses

_JURGENS = "Jurgens & Klapaftis 2013"


@overlapping_measure(
    title="fuzzy B-Cubed P", family="overlapping",
    formula="mean_i mean_j min(C_B, C_A) / C_B, C = sum_k 1 - |w_k(i) - w_k(j)| over common groups",
    range="[0, 1]", reference=_JURGENS, weights=True, is_in_all=False,
    aliases=("fuzzy B-Cubed P", "fuzzy_b3_precision", "fuzzy_b_cubed_precision"),
)  # fmt: skip
def fuzzy_bcubed_precision(data: Memberships) -> float:
    """Fuzzy B-Cubed precision: pairs that agree in clusters, and how far in classes.

    Mean over all items with a class, 0 for items that share no cluster; j is another item, with or
    without a class. Weights are divided by the largest of the item. The scorer of SemEval-2013 task
    13 calls this value recall.
    """
    return data.degrees.agreement[0]


@overlapping_measure(
    title="fuzzy B-Cubed R", family="overlapping",
    formula="mean_i mean_j min(C_A, C_B) / C_A, C = sum_k 1 - |w_k(i) - w_k(j)| over common groups",
    range="[0, 1]", reference=_JURGENS, weights=True, is_in_all=False,
    aliases=("fuzzy B-Cubed R", "fuzzy_b3_recall", "fuzzy_b_cubed_recall"),
)  # fmt: skip
def fuzzy_bcubed_recall(data: Memberships) -> float:
    """Fuzzy B-Cubed recall: pairs that agree in classes, and how far in clusters.

    Mean over all items with a class, 0 for items that share no class with another. The scorer of
    SemEval-2013 task 13 calls this value precision.
    """
    return data.degrees.agreement[1]


@overlapping_measure(
    title="fuzzy B-Cubed F", family="overlapping", formula="2 P R / (P + R); 0 if both are 0",
    range="[0, 1]", reference=_JURGENS, weights=True, is_in_all=False,
    aliases=("fuzzy B-Cubed F", "fuzzy_bcubed", "fuzzy_b3", "fuzzy_b_cubed", "FBC"),
)  # fmt: skip
def fuzzy_bcubed_f(data: Memberships) -> float:
    """Harmonic mean of fuzzy B-Cubed precision and recall."""
    return harmonic_mean(*data.degrees.agreement)


def harmonic_mean(precision: float, recall: float) -> float:
    """Return ``2 P R / (P + R)``; 0 if both are 0, NaN if one is.

    Examples
    --------
    >>> harmonic_mean(0.5, 0.25), harmonic_mean(0.0, 0.0)
    (0.3333333333333333, 0.0)
    """
    both = precision + recall
    return 2.0 * precision * recall / both if both else 0.0


@overlapping_measure(
    title="fuzzy NMI", family="overlapping",
    formula="(H(X) - H(X|Y) + H(Y) - H(Y|X)) / (2 max(H(X), H(Y))) of degrees in ten bins",
    range="[0, 1]", reference=_JURGENS, symmetric=True, weights=True, is_in_all=False,
    aliases=("fuzzy NMI", "FNMI", "fuzzy_normalised_mutual_information"),
)  # fmt: skip
def fuzzy_nmi(data: Memberships) -> float:
    """Information that each group has about the most informative group of the other side.

    Like `nmi_max`, with degrees of membership in ten equal bins: H(X) is the sum over groups of the
    entropy of an item's bin. Without weights it equals `nmi_max` if all items have a class; those
    without one count, too.
    """
    return data.degrees.information


# Table of measures

ESTIMATES: Mapping[str, Callable[[Memberships], tuple[float, float]]] = MappingProxyType(
    {"element_centric": element_centric_estimate}
)
"""Measures that may be estimated from a sample of items, with standard error."""


def overlapping_scores(
    gold: pl.DataFrame, induced: pl.DataFrame, *, measures: Sequence[str], seed: str
) -> pl.DataFrame:
    """Return measures of overlapping clusters and classes.

    Parameters
    ----------
    gold, induced : pl.DataFrame
        item and gold; item and cluster: as for `memberships`.
    measures : sequence of str
        Names or aliases in `OVERLAPPING_MEASURES`, or ``all``.
    seed : str
        Seed of the sample of items for element-centric similarity in large data.

    Returns
    -------
    pl.DataFrame
        Columns measure, value and standard_error (Float64), in the given order. Undefined values
        are null, as are all without items; the error is null for exact values. Values do not depend
        on the order of rows.

    Raises
    ------
    KeyError
        For an unknown measure, with the nearest names.
    DataError
        If a label is null or empty, memberships have weights that a measure does not use, or the
        data are too large, see `sharing`.

    Examples
    --------
    >>> gold = pl.DataFrame({"item": ["dog", "run", "run"], "gold": ["N", "N", "V"]})
    >>> induced = pl.DataFrame({"item": ["dog", "run", "run"], "cluster": ["1", "1", "2"]})
    >>> overlapping_scores(gold, induced, measures=["omega", "bcubed"], seed="s").rows()
    [('omega', 1.0, None), ('bcubed_f', 1.0, None)]
    """
    names = OVERLAPPING_MEASURES.resolve(measures)
    if without := without_weights(names):
        refuse_weights(gold, "gold", without)
        refuse_weights(induced, "cluster", without)
    data = memberships(gold, induced, seed=seed)
    rows = [(name, *_estimate(name, data)) for name in names]
    table = pl.DataFrame(rows, schema=_SCHEMA, orient="row").fill_nan(None)
    exact = pl.col("standard_error") == 0.0
    return table.with_columns(
        standard_error=pl.when(exact).then(None).otherwise(pl.col("standard_error"))
    )


def without_weights(names: Sequence[str]) -> str:
    """Say which measures do not use weights, and which do; empty if all do.

    Examples
    --------
    >>> without_weights(["fuzzy_nmi"])
    ''
    >>> without_weights(["omega", "fuzzy_nmi"])[:36]
    'which omega does not use (only fuzzy'
    """
    those = [name for name in names if not OVERLAPPING_MEASURES.get(name).weights]
    if not those:
        return ""
    use = [name for name in OVERLAPPING_MEASURES if OVERLAPPING_MEASURES.get(name).weights]
    does = "does" if len(those) == 1 else "do"
    return f"which {', '.join(those)} {does} not use (only {', '.join(use)} do)"


_SCHEMA = {"measure": pl.String, "value": pl.Float64, "standard_error": pl.Float64}


def _estimate(name: str, data: Memberships) -> tuple[float, float]:
    if name in ESTIMATES:
        return ESTIMATES[name](data)
    return OVERLAPPING_MEASURES.get(name).score(data), 0.0


# Bootstrap intervals of measures for overlapping clusterings, over items.


def overlapping_intervals(
    gold: pl.DataFrame,
    induced: pl.DataFrame,
    *,
    measures: Sequence[str],
    confidence: float,
    replicates: int,
    seed: str,
) -> pl.DataFrame:
    """Return measures of overlapping clusters with percentile intervals over items.

    Items with a class are drawn with replacement; all measures use the same samples. Copies of an
    item share all classes and clusters, so measures of pairs are slightly too high in samples of
    few items, and the interval may exclude the value.

    Parameters
    ----------
    gold, induced, measures, seed
        As for `overlapping_scores`.
    confidence : float
        Confidence level in (0, 1).
    replicates : int
        Number of bootstrap samples, from 1.

    Returns
    -------
    pl.DataFrame
        Columns measure, value, lower, upper, standard_error, undefined (samples without a value,
        omitted), in the given order. Limits are null if no sample has a value.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1), or there are no replicates.
    DataError
        As for `overlapping_scores`.

    References
    ----------
    Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

    Examples
    --------
    >>> gold = pl.DataFrame({"item": list("abcd"), "gold": ["N", "N", "V", "V"]})
    >>> induced = pl.DataFrame({"item": list("abcd"), "cluster": ["1", "1", "1", "2"]})
    >>> options = {"measures": ["bcubed"], "confidence": 0.95, "replicates": 50, "seed": "s"}
    >>> table = overlapping_intervals(gold, induced, **options)
    >>> bool((table["lower"] < table["value"]).item())
    True
    """
    check_bootstrap(confidence=confidence, replicates=replicates)
    names = OVERLAPPING_MEASURES.resolve(measures)
    whole = overlapping_scores(gold, induced, measures=names, seed=seed)
    drawn = np.array([
        overlapping_scores(*tables, measures=names, seed=seed)["value"].to_numpy()
        for tables in _samples(gold, induced, replicates, seed)
    ])  # fmt: skip
    rows = [summary(values.astype(np.float64), confidence=confidence) for values in drawn.T]
    limits = pl.DataFrame(rows, schema=_LIMITS, orient="row").fill_nan(None)
    return whole.select("measure", "value").hstack(limits)


_LIMITS = {
    **dict.fromkeys(("lower", "upper", "standard_error"), pl.Float64),
    "undefined": pl.Int64,
}


def _samples(
    gold: pl.DataFrame, induced: pl.DataFrame, replicates: int, seed: str
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield the memberships of each sample with numbered items; items without a class stay."""
    bits = seeded_generator(seed=seed, purpose="items")
    items = gold["item"].unique().sort()
    others = induced.join(items.to_frame(), on="item", how="anti")
    for _ in range(replicates):
        draw = bits.integers(max(1, len(items)), size=len(items))
        copies = items.gather(draw).to_frame().with_row_index("copy")
        name = pl.format("{} {}", "item", "copy")
        one, two = (
            copies.join(table, on="item").with_columns(item=name).drop("copy")
            for table in (gold, induced)
        )
        yield one, pl.concat([two.select(others.columns), others])
