"""One label per item from those of several annotators."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias, get_args

import polars as pl

Rule: TypeAlias = Literal["majority", "unanimous", "expert"]


def adjudicate(annotations: pl.LazyFrame, *, rule: Rule, expert: str | None = None) -> pl.LazyFrame:
    """Return the label that counts for each id.

    Parameters
    ----------
    annotations : LazyFrame
        id, annotator, label; a null label means that this annotator has not judged. An
        annotator who gives an id two different labels has no vote on it.
    rule : str
        "majority": the label with strictly more votes than any other; "unanimous": the label
        that all give; "expert": the label of `expert`, and the majority's where the expert has
        none.
    expert : str, optional
        The annotator who decides.

    Returns
    -------
    LazyFrame
        id; label (null = undecided); annotators (Int64), how many have a vote; agreed
        (Boolean), whether they all give the same label, null where nobody has a vote. One row
        per id, those without a vote too, sorted by id.

    Raises
    ------
    ValueError
        If the rule is unknown, or "expert" without an expert.

    Examples
    --------
    >>> votes = pl.LazyFrame({"id": ["x"] * 3, "annotator": ["a", "b", "c"], "label": list("ssf")})
    >>> adjudicate(votes, rule="majority").collect().rows()
    [('x', 's', 3, False)]
    >>> adjudicate(votes, rule="expert", expert="c").collect()["label"].item()
    'f'
    """
    if rule not in get_args(Rule):
        raise ValueError(f"unknown rule {rule!r}; valid: {', '.join(get_args(Rule))}")
    if rule == "expert" and expert is None:
        raise ValueError("the rule 'expert' needs the name of the expert")
    voices = votes(annotations)
    counted = voices.group_by("id").agg(
        only=pl.col("label").first(),
        annotators=pl.len().cast(pl.Int64),
        agreed=pl.col("label").n_unique() == 1,
        expert=pl.col("label").filter(pl.col("annotator") == (expert or "")).first(),
    )
    every = annotations.select("id").unique().join(counted, on="id", how="left")
    full = every.join(_majority(voices), on="id", how="left")
    label = {
        "majority": pl.col("majority"),
        "unanimous": pl.when("agreed").then("only"),
        "expert": pl.coalesce("expert", "majority"),
    }[rule]
    annotators = pl.col("annotators").fill_null(0)
    return (
        full.select("id", annotators, "agreed", label=label)
        .select("id", "label", "annotators", "agreed")
        .sort("id")
    )


def intersection(annotations: pl.LazyFrame, *, positive: Collection[str]) -> pl.LazyFrame:
    """Return the judgement by which a true positive needs the voice of every annotator.

    Parameters
    ----------
    annotations : LazyFrame
        id, annotator, label; who counts is as for `adjudicate`.
    positive : collection of str
        The labels of true positives.

    Returns
    -------
    LazyFrame
        id and tp: true if all who have a vote give a label of the category, be it the same or
        not; false if somebody does not; null where nobody has a vote. Sorted by id.

    References
    ----------
    Krenn, Evert & Zinsmeister, Determining intercoder agreement for a collocation
    identification task (2004), on true positives that both annotators accept.

    Examples
    --------
    >>> given = {"id": ["x", "x", "y", "y"], "annotator": list("abab"), "label": list("sfsn")}
    >>> intersection(pl.LazyFrame(given), positive=["s", "f"]).collect().rows()
    [('x', True), ('y', False)]
    """
    judged = votes(annotations).group_by("id").agg(tp=pl.col("label").is_in(list(positive)).all())
    every = annotations.select("id").unique()
    return every.join(judged, on="id", how="left").sort("id")


def disagreements(annotations: pl.LazyFrame) -> pl.LazyFrame:
    """Return what the annotators say of the ids that they label differently.

    Parameters
    ----------
    annotations : LazyFrame
        id, annotator, label.

    Returns
    -------
    LazyFrame
        id, annotator, label of the ids with two labels or more, also where both are of one
        annotator; sorted, each row once, without null labels.

    Examples
    --------
    >>> given = {"id": ["x", "x", "y", "y"], "annotator": list("abab"), "label": list("sfss")}
    >>> disagreements(pl.LazyFrame(given)).collect().rows()
    [('x', 'a', 's'), ('x', 'b', 'f')]
    """
    labelled = annotations.select("id", "annotator", "label").drop_nulls("label").unique()
    several = labelled.group_by("id").agg(labels=pl.col("label").n_unique())
    two = several.filter(pl.col("labels") > 1)
    return labelled.join(two, on="id", how="semi").sort("id", "annotator", "label")


def votes(annotations: pl.LazyFrame) -> pl.LazyFrame:
    """Return the labels that count: at most one per annotator and id.

    Parameters
    ----------
    annotations : LazyFrame
        id, annotator, label; null labels and those of an annotator who gives an id two
        different ones don't count.

    Returns
    -------
    LazyFrame
        id, annotator, label, in no particular order.

    Examples
    --------
    >>> given = {"id": ["x", "x", "x"], "annotator": list("aab"), "label": ["s", "f", "f"]}
    >>> votes(pl.LazyFrame(given)).collect().rows()
    [('x', 'b', 'f')]
    """
    by_annotator = annotations.drop_nulls("label").group_by("id", "annotator")
    one = by_annotator.agg(pl.col("label").first(), labels=pl.col("label").n_unique())
    return one.filter(pl.col("labels") == 1).select("id", "annotator", "label")


def _majority(votes: pl.LazyFrame) -> pl.LazyFrame:
    """Return id and the label with strictly most votes; null on a tie."""
    counts = votes.group_by("id", "label").agg(votes=pl.len().cast(pl.Int64))
    most = counts.join(counts.group_by("id").agg(most=pl.col("votes").max()), on="id")
    first = most.filter(pl.col("votes") == pl.col("most")).group_by("id")
    alone = first.agg(label=pl.col("label").first(), labels=pl.len())
    return alone.select("id", majority=pl.when(pl.col("labels") == 1).then("label"))
