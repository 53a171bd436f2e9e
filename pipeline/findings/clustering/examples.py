"""Clusters with the class that they are mapped to and their most frequent words."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.findings import words
from pipeline.findings.clustering.evidence import Run, gold_of, memberships
from pipeline.findings.finding import Finding
from pipeline.findings.names import called
from pipeline.findings.stage import StageView

MOST_CLUSTERS, MOST_WORDS = 6, 4
"""So many clusters and words of each a sentence gives; the rest is counted."""


def clusters_with_words(
    stage: StageView, run: Run, mapping: pl.DataFrame, *, most: int
) -> pl.DataFrame:
    """Return the clusters of a run with examples, the largest first.

    Parameters
    ----------
    stage : StageView
        A stage that evaluates clusters.
    run : Run
        The run.
    mapping : DataFrame
        cluster, gold (null if unmapped), n_ij, n_j of this run.
    most : int
        Words of each cluster.

    Returns
    -------
    DataFrame
        cluster, gold, n_ij, n_j, words (list of str): the words with most tokens first, counted
        where the system counted them in its text, else by the gold entries; no word that has no
        gold entry.
    """
    items = memberships(stage, run)
    gold = gold_of(stage)
    if gold is not None:
        tokens = gold.group_by("item").agg(tokens=pl.col("f").sum())
        items = items.join(tokens, on="item").with_columns(f=pl.coalesce("f", "tokens"))
    order = items.sort("cluster", "f", "item", descending=[False, True, False], nulls_last=True)
    shown = order.group_by("cluster", maintain_order=True).agg(words=pl.col("item").head(most))
    clusters = mapping.select("cluster", "gold", "n_ij", "n_j")
    joined = clusters.lazy().join(shown, on="cluster", how="left").collect()
    filled = joined.with_columns(pl.col("words").fill_null([]))
    return filled.sort("n_j", "cluster", descending=[True, False])


def example_words(
    stage: StageView, run: Run, mapping: pl.DataFrame, *, unit: str, figure: str
) -> Iterator[Finding]:
    """Say in one sentence what is in the largest clusters of a run.

    Parameters
    ----------
    stage, run, mapping
        As for `clusters_with_words`.
    unit : str
        What n_j counts: "type" or "token".
    figure : str
        The figure that shows the mapping.
    """
    if mapping.is_empty():
        return
    found = clusters_with_words(stage, run, mapping, most=MOST_WORDS + 1)
    said = [_cluster(*row, unit=unit) for row in found.head(MOST_CLUSTERS).rows()]
    left = found.height - len(said)
    rest = f"; and {words.counted(left, 'smaller cluster')}" if left else ""
    text = f"The {words.counted(found.height, 'cluster')} of {run.said}: {'; '.join(said)}{rest}"
    if found.height == 1:
        text = text.replace("The 1 cluster", "The only cluster (1)", 1)
    yield Finding(
        about="clusters", question=f"what is in the clusters of {run.said}", name=run.system,
        text=words.sentence(text), value=float(found.height), figure=figure,
    )  # fmt: skip


def _cluster(
    cluster: str, gold: str | None, n_ij: int, n_j: int, members: list[str], *, unit: str
) -> str:
    share = f"{words.per_cent(n_ij / n_j, digits=0)} of " if n_j else ""
    mapped = "unmapped" if gold is None else f"{called(gold)} in {share}"
    size = words.counted(n_j, unit)
    held = f"{mapped}{size}" if gold is not None else f"{mapped}, {size}"
    shown = [called(word) for word in members[:MOST_WORDS]]
    more = " …" if len(members) > MOST_WORDS else ""
    return f"{called(cluster)} ({held}) {', '.join(shown)}{more}".rstrip()
