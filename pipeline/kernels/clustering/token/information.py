"""Entropies of classes and clusters, and what is made of them; natural logarithm."""

from __future__ import annotations

import math

import numpy as np

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.clustering.measure import token_measure
from pipeline.kernels.clustering.token.contingency import Contingency
from pipeline.kernels.clustering.token.expected import expected_information

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
    rows, columns = table.counts.nonzero()
    n = table.counts[rows, columns].astype(np.float64)
    return float(-(n * np.log(n / table.sizes[columns])).sum() / table.N) + 0.0


@token_measure(
    title="homogeneity", family="information theory", formula="1 - H(C|K)/H(C); 1 if H(C) = 0",
    range="[0, 1]", reference=_ROSENBERG,
    aliases=("hom", "homogeneity_score"),
)  # fmt: skip
def homogeneity(table: Contingency) -> float:
    """How far clusters hold tokens of one class only."""
    if not table.N:
        return _NAN
    whole = entropy(table.classes)
    return _unit(1.0 - conditional_entropy(table) / whole) if whole else 1.0


@token_measure(
    title="completeness", family="information theory", formula="1 - H(K|C)/H(K); 1 if H(K) = 0",
    range="[0, 1]", reference=_ROSENBERG,
    aliases=("comp", "completeness_score"),
)  # fmt: skip
def completeness(table: Contingency) -> float:
    """How far the tokens of a class lie in one cluster."""
    return homogeneity(table.swapped)


@token_measure(
    title="V", family="information theory", formula="2 hom comp / (hom + comp); 0 if both are 0",
    range="[0, 1]", reference=_ROSENBERG, symmetric=True,
    aliases=("V", "v_measure", "V-measure", "v-measure", "vmeasure", "v_score", "v_measure_score"),
)  # fmt: skip
def v(table: Contingency) -> float:
    """Harmonic mean of homogeneity and completeness; it is NMI by the arithmetic mean."""
    hom, comp = homogeneity(table), completeness(table)
    return 2.0 * hom * comp / (hom + comp) if hom + comp else 0.0


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
    """Mutual information over the mean entropy; equal to V but for one class or one cluster."""
    return _over_mean(table, 0.0)


@token_measure(
    title="NMI sqrt", family="information theory", formula="I / sqrt(H(C) H(K)); 1 if both are 0",
    range="[0, 1]", reference="Strehl & Ghosh 2002", symmetric=True,
    aliases=("nmi_sqrt", "NMI sqrt", "NMI_sqrt"),
)  # fmt: skip
def nmi_geometric(table: Contingency) -> float:
    """Mutual information over the geometric mean of the entropies; 0 if one of them is 0."""
    if not table.N:
        return _NAN
    first, second = entropy(table.classes), entropy(table.sizes)
    if not first * second:
        return float(first == second)
    return _unit(mutual_information(table) / math.sqrt(first * second))


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
    return _over_mean(table, expected_information(table.classes, table.sizes))


def _over_mean(table: Contingency, chance: float) -> float:
    if not table.N:
        return _NAN
    mean = (entropy(table.classes) + entropy(table.sizes)) / 2.0
    if not mean:
        return 1.0
    # Chance reaches the mean only if all tables of these sizes are of equal partitions.
    return (mutual_information(table) - chance) / (mean - chance)


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
