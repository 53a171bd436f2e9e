"""The table of all clusters of a run, each with its class and its most frequent words."""

from __future__ import annotations

import textwrap

import polars as pl

from pipeline.findings.clustering.evidence import Run
from pipeline.findings.clustering.examples import clusters_with_words
from pipeline.findings.stage import StageView
from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import NOTHING, share
from pipeline.report.view import Listing
from pipeline.report.views.clustering.cluster_figures import Shown

WORDS = 10
"""Example words of each cluster."""
WIDTH = 36
"""Characters of a line of words."""


def clusters_listing(
    stage: StageView, shown: Shown, mapping: pl.DataFrame, *, said: str, unit: str
) -> Listing:
    """Return a row for each cluster of a run, the largest first.

    Parameters
    ----------
    stage : StageView
        Evaluates clusters.
    shown : Shown
        The run.
    mapping : DataFrame
        cluster, gold (null if unmapped), n_ij, n_j of the run under one mapping.
    said : str
        What the caption calls run and mapping.
    unit : str
        What n_j counts: "types" or "tokens".
    """
    found = clusters_with_words(stage, Run(*shown), mapping, most=WORDS)
    frame = found.with_columns(
        share=pl.when(pl.col("gold").is_not_null()).then(pl.col("n_ij") / pl.col("n_j")),
        words=pl.col("words").list.join(", "),
    ).select("cluster", "gold", "share", "n_ij", "n_j", "words")
    caption = (
        f"{said}: every cluster with the class that it is mapped to, the share of its {unit} that "
        f"have the class (%), and its most frequent words."
    )
    columns = (
        Column("cluster"),
        Column("words", "most frequent words", _lines),
        Column("gold", "mapped to", _mapped),
        Column("share", text=share),
        Column("n_j", unit),
    )
    return listing(f"clusters-{shown.system}", caption, frame, columns)


def _lines(words: str) -> str:
    """Return words on lines that a phone has room for."""
    return textwrap.fill(words, WIDTH, break_on_hyphens=False)


def _mapped(gold: str | None) -> str:
    return NOTHING if gold is None else gold
