"""Mapping clusters to classes: accuracies, and the mapping behind them as a table."""

from __future__ import annotations

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.clustering.measure import token_measure
from pipeline.kernels.clustering.token.contingency import Contingency, contingency

_NONE = -1


@token_measure(
    title="M-1 accuracy", family="mapping", formula="1/N sum_k max_c n_ck", range="(0, 1]",
    reference="Zhao & Karypis 2001, purity; Schütze 1992 for tagging",
    aliases=(
        "M-1", "M-1 accuracy", "purity", "many_to_one_accuracy", "m-1", "m1", "many-to-one",
        "purity_score",
    ),
)  # fmt: skip
def many_to_one(table: Contingency) -> float:
    """Accuracy when every cluster stands for the class that most of its tokens have.

    It can't fall when a cluster is split, and is 1 when each token has a cluster of its own.
    """
    return _share(int(table.counts.max(axis=0, initial=0).sum()), table)


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
    """Accuracy when every cluster stands for a class of its own, by the best assignment."""
    rows, columns = scipy.optimize.linear_sum_assignment(table.counts, maximize=True)
    return _share(int(table.counts[rows, columns].sum()), table)


@token_measure(
    title="H", family="mapping", formula="1 - 1-1 accuracy", range="[0, 1)",
    reference="Meila & Heckerman 2001", better="lower", symmetric=True,
    aliases=("H", "classification_error"),
)  # fmt: skip
def meila_heckerman(table: Contingency) -> float:
    """Share of tokens outside the class that the best one-to-one mapping gives their cluster."""
    return 1.0 - one_to_one(table)


@token_measure(
    title="MI", family="mapping", formula="1 - M-1 accuracy", range="[0, 1)",
    reference="Zeng et al. 2002", better="lower", aliases=("misclassification",),
)  # fmt: skip
def misclassification_index(table: Contingency) -> float:
    """Share of tokens outside the class that most tokens of their cluster have."""
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
        Columns mapping (many_to_one, one_to_one), cluster, gold, n_ij (tokens that they share),
        n_i and n_j (tokens of the class and of the cluster); sorted by mapping and cluster.
        Where there are more clusters than classes, those that the one-to-one mapping leaves
        over have a null for their class, and 0 for n_ij and n_i. Of classes that a cluster has
        equally many tokens of, many-to-one takes the first in the order of labels.

    Examples
    --------
    >>> cells = pl.DataFrame({
    ...     "gold": ["a", "a", "b"], "cluster": ["1", "2", "2"], "f": [4, 1, 2]
    ... })
    >>> token_mapping(cells).filter(mapping="one_to_one").rows()
    [('one_to_one', '1', 'a', 4, 5, 4), ('one_to_one', '2', 'b', 2, 2, 3)]
    """
    table = contingency(cells)
    parts = [_rows(table, "many_to_one", _best(table)), _rows(table, "one_to_one", _paired(table))]
    return pl.concat(parts)


def _best(table: Contingency) -> IntArray:
    if not table.gold:
        return np.zeros(0, dtype=np.int64)
    return np.asarray(table.counts.argmax(axis=0), dtype=np.int64)


def _paired(table: Contingency) -> IntArray:
    rows, columns = scipy.optimize.linear_sum_assignment(table.counts, maximize=True)
    mapping = np.full(len(table.clusters), _NONE, dtype=np.int64)
    mapping[columns] = rows
    return mapping


def _rows(table: Contingency, mapping: str, places: IntArray) -> pl.DataFrame:
    mapped, columns = places != _NONE, np.arange(len(places))
    shared = np.where(mapped, table.counts[places, columns], 0)
    sizes = np.where(mapped, table.classes[places], 0)
    gold = [table.gold[place] if place != _NONE else None for place in places]
    return pl.DataFrame(
        {
            "mapping": pl.Series([mapping] * len(places), dtype=pl.String),
            "cluster": pl.Series(table.clusters, dtype=pl.String),
            "gold": pl.Series(gold, dtype=pl.String),
            "n_ij": pl.Series(shared, dtype=pl.Int64),
            "n_i": pl.Series(sizes, dtype=pl.Int64),
            "n_j": pl.Series(table.sizes, dtype=pl.Int64),
        }
    )


def _share(tokens: int, table: Contingency) -> float:
    return tokens / table.N if table.N else float("nan")
