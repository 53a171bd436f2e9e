"""What is timed: evaluations by lexassay, scikit-learn, bcubed, clusim and cdlib, from one data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
from make_memberships import Size, memberships, partition, taggings

import lexassay as lx
from pipeline.kernels.clustering.overlapping.measures import overlapping_scores
from pipeline.kernels.clustering.token.measures import PAPER, token_scores
from pipeline.kernels.clustering.types.evaluation import evaluate_type_level

Evaluation = Callable[[], Iterable[float]]
"""Does the work that is timed, and returns its values."""


def paper(size: Size) -> Evaluation:
    """Take three type-level measures under both mappings, and six token-level measures."""
    gold, induced, senses = memberships(size)

    def run() -> list[float]:
        scores = evaluate_type_level(gold, induced)
        cells = senses.group_by("gold", "cluster").agg(pl.col("f").sum())
        tokens = token_scores(cells, measures=PAPER)
        types = scores.summary.filter(pl.col("mapping") != "floor")
        return [*types["value"].to_list(), *tokens["value"].to_list()]

    return run


def overlapping(*measures: str) -> Callable[[Size], Evaluation]:
    """Evaluate items with several labels."""

    def prepare(size: Size) -> Evaluation:
        gold, induced, _ = memberships(size)
        return lambda: _overlapping(gold, induced, measures)

    return prepare


def partitions(*measures: str) -> Callable[[Size], Evaluation]:
    """Measure items with one label in the same way."""

    def prepare(size: Size) -> Evaluation:
        gold, cluster = (pl.Series(each).cast(pl.String) for each in partition(size))
        item = pl.Series(range(size.items)).cast(pl.String)
        tables = (
            pl.DataFrame({"item": item, "gold": gold}),
            pl.DataFrame({"item": item, "cluster": cluster}),
        )
        return lambda: _overlapping(*tables, measures)

    return prepare


OF_TOKENS = ("v", "ami", "adjusted_rand", "fowlkes_mallows")


def tokens(size: Size) -> Evaluation:
    """Take V, AMI, ARI and Fowlkes-Mallows of tokens, a row each."""
    rows = _tokens(size)

    def run() -> list[float]:
        cells = rows.group_by("gold", "cluster").agg(f=pl.len().cast(pl.Int64))
        return token_scores(cells, measures=OF_TOKENS)["value"].to_list()

    return run


def scikit_learn(size: Size) -> Evaluation:
    from sklearn import metrics

    rows = _tokens(size).select(pl.col("gold", "cluster").str.slice(1).cast(pl.Int64))
    gold, cluster = (column.to_numpy() for column in rows)
    scores = (
        metrics.v_measure_score, metrics.adjusted_mutual_info_score,
        metrics.adjusted_rand_score, metrics.fowlkes_mallows_score,
    )  # fmt: skip
    return lambda: [float(score(gold, cluster)) for score in scores]


MANY = ("v", "mutual_information", "adjusted_rand", "fowlkes_mallows", "rand")


def many_labels(*measures: str) -> Callable[[Size], Evaluation]:
    """Measure labels drawn at random, of which there are nearly as many as tokens."""

    def prepare(size: Size) -> Evaluation:
        labels = _random_labels(size)
        return lambda: lx.token_measures(*labels, measures=measures).values()

    return prepare


def scikit_learn_many_labels(size: Size) -> Evaluation:
    from sklearn import metrics

    labels = _random_labels(size)
    scores = (
        metrics.v_measure_score, metrics.mutual_info_score, metrics.adjusted_rand_score,
        metrics.fowlkes_mallows_score, metrics.rand_score,
    )  # fmt: skip
    return lambda: [float(score(*labels)) for score in scores]


def _random_labels(size: Size) -> list[npt.NDArray[np.int64]]:
    bits = np.random.default_rng(0)
    return [bits.integers(labels, size=size.items) for labels in (size.classes, size.clusters)]


def types(size: Size) -> Evaluation:
    """Take three type-level measures under both mappings of the types of tokens."""
    gold, cluster, item = taggings(size)

    def run() -> list[float]:
        return lx.type_measures(gold, cluster, items=item)["value"].to_list()

    return run


def bcubed(size: Size) -> Evaluation:
    import bcubed

    gold, induced = _sets(size)

    def run() -> list[float]:
        precision, recall = bcubed.precision(induced, gold), bcubed.recall(induced, gold)
        return [float(bcubed.fscore(precision, recall))]

    return run


def clusim(measure: str, *, overlap: bool) -> Callable[[Size], Evaluation]:
    def prepare(size: Size) -> Evaluation:
        from clusim import clustering, sim

        names = _sets(size) if overlap else _single(size)
        # Its Omega index takes items for places in arrays: they have to be numbers from 0.
        sides = [clustering.Clustering(elm2clu_dict=_numbers(side)) for side in names]
        return lambda: [float(getattr(sim, measure)(*sides))]

    return prepare


def cdlib(measure: str) -> Callable[[Size], Evaluation]:
    def prepare(size: Size) -> Evaluation:
        import networkx
        from cdlib import NodeClustering, evaluation

        gold, induced, _ = memberships(size)
        items = networkx.Graph()
        items.add_nodes_from(gold["item"])
        sides = [
            NodeClustering(_groups(table, label), items, overlap=True)
            for table, label in ((gold, "gold"), (induced, "cluster"))
        ]
        return lambda: [float(getattr(evaluation, measure)(*sides).score)]

    return prepare


def _overlapping(gold: pl.DataFrame, induced: pl.DataFrame, measures: Sequence[str]) -> list[float]:
    return overlapping_scores(gold, induced, measures=measures, seed="s")["value"].to_list()


def _tokens(size: Size) -> pl.DataFrame:
    _, _, senses = memberships(size)
    return senses.select(pl.col("gold", "cluster").repeat_by("f").explode()).sample(
        fraction=1.0, shuffle=True, seed=1
    )


Sets = dict[str, set[str]]


def _sets(size: Size) -> tuple[Sets, Sets]:
    gold, induced, _ = memberships(size)
    one, two = _label_sets(gold.rows()), _label_sets(induced.rows())
    return one, two


def _label_sets(rows: Iterable[tuple[str, str]]) -> Sets:
    sets: Sets = {}
    for item, label in rows:
        sets.setdefault(item, set()).add(label)
    return sets


def _single(size: Size) -> tuple[Sets, Sets]:
    gold, cluster = partition(size)
    one, two = (
        {str(item): {str(label)} for item, label in enumerate(side.tolist())}
        for side in (gold, cluster)
    )
    return one, two


def _numbers(side: Sets) -> dict[int, list[str]]:
    """Return the labels of items by their places; both sides have the same items."""
    return {place: list(side[item]) for place, item in enumerate(sorted(side))}


def _groups(table: pl.DataFrame, label: str) -> list[list[str]]:
    return table.group_by(label).agg("item")["item"].to_list()


WORKERS: dict[str, Callable[[Size], Evaluation]] = {
    "lexassay, twelve": paper,
    "lexassay, overlapping": overlapping("all"),
    "lexassay, BCubed": overlapping("bcubed_f"),
    "lexassay, NMI LFK": overlapping("nmi_lfk"),
    "lexassay, NMI max": overlapping("nmi_max"),
    "lexassay, Omega": overlapping("omega"),
    "lexassay, ECS": overlapping("element_centric"),
    "lexassay, ECS of partitions": partitions("element_centric"),
    "lexassay, Omega of partitions": partitions("omega"),
    "lexassay, tokens": tokens,
    "lexassay, many labels": many_labels(*MANY),
    "lexassay, all measures": many_labels("all"),
    "lexassay, types": types,
    "scikit-learn": scikit_learn,
    "scikit-learn, many labels": scikit_learn_many_labels,
    "bcubed": bcubed,
    "clusim, ECS": clusim("element_sim", overlap=True),
    "clusim, ECS of partitions": clusim("element_sim", overlap=False),
    "clusim, Omega": clusim("omega_index", overlap=True),
    "clusim, Omega of partitions": clusim("omega_index", overlap=False),
    "clusim, onmi": clusim("onmi", overlap=True),
    "cdlib, NMI LFK": cdlib("overlapping_normalized_mutual_information_LFK"),
    "cdlib, NMI max": cdlib("overlapping_normalized_mutual_information_MGH"),
    "cdlib, Omega": cdlib("omega"),
}
MODULES = {"scikit-learn": "sklearn"}
"""Names of modules that are not those of the tools."""
