"""Tables of agreement between annotators, and of the candidates that they label differently."""

from __future__ import annotations

from functools import partial

import polars as pl

from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import NOTHING, decimals, limits
from pipeline.report.view import Listing

EVERY = "*"
COEFFICIENTS = {
    "observed": "observed agreement",
    "positive": "positive agreement",
    "negative": "negative agreement",
    "cohen_kappa": "Cohen's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "gwet_ac1": "Gwet's AC1",
}
"""How the text calls the coefficients, in the order in which they are shown."""


def labelled(agreement: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with group, label and kind, in the order in which they are shown.

    The labels themselves come first, then the categories; all annotators before each two.

    Parameters
    ----------
    agreement : DataFrame
        `schemas.Agreement`.
    """
    place = {name: index for index, name in enumerate(COEFFICIENTS)}
    said = pl.col("coefficient").replace(COEFFICIENTS)
    both = pl.concat_str(
        said, pl.lit(" ("), "annotator_1", pl.lit(", "), "annotator_2", pl.lit(")")
    )
    every = pl.col("annotator_1") == EVERY
    whole = pl.col("category") == EVERY
    return agreement.with_columns(
        group=pl.when(whole).then(pl.lit("labels")).otherwise("category"),
        label=pl.when(every).then(said).otherwise(both),
        kind=pl.col("method"),
    ).sort(
        ~whole, "category", ~every, "annotator_1", "annotator_2",
        pl.col("coefficient").replace_strict(place, default=len(place)), "coefficient", "method",
    )  # fmt: skip


def agreement_listing(agreement: pl.DataFrame) -> Listing:
    """Return a row per coefficient, with its limits by each method.

    Parameters
    ----------
    agreement : DataFrame
        `schemas.Agreement`.
    """
    ordered = labelled(agreement)
    three = partial(decimals, digits=3)
    limits_of = partial(limits, digits=3, absent=NOTHING)
    methods = [
        Column(("lower", "upper"), method, limits_of, at=("kind", method), absent=NOTHING)
        for method in sorted(set(ordered["kind"]))
    ]
    columns = (
        Column("group", "of"),
        Column("label", "coefficient"),
        Column("items"),
        Column("estimate", text=three),
        *methods,
    )
    caption = (
        "Coefficients of agreement with their confidence limits; items: candidates that two or "
        "more annotators judged. At perfect agreement kappa's limits have no width: read those "
        "of the observed agreement then."
    )
    if ordered["undefined"].sum():
        caption += " Bootstrap samples in which a coefficient has no value are left out."
    return listing("agreement", caption, agreement, columns, by=["group", "label"], shown=ordered)


def disagreement_listing(
    disagreements: pl.DataFrame, names: pl.DataFrame | None, *, most: int
) -> Listing:
    """Return a row per candidate with different labels and a column per annotator.

    Those with the most different labels come first.

    Parameters
    ----------
    disagreements : DataFrame
        `schemas.Disagreements`.
    names : DataFrame or None
        id, l1, l2: what the candidates are called.
    most : int
        How many are shown.
    """
    ordered = disagreements.sort("id", "annotator", "label")
    different = ordered.group_by("id").agg(pl.col("label").n_unique().alias("different"))
    candidates = (
        _called(ordered, names)
        .join(different, on="id")
        .sort("different", "name", "id", descending=[True, False, False])
    )
    labels = ordered.group_by("id", "annotator").agg(pl.col("label").sort().str.join(" / "))
    shown = candidates.head(most).join(labels, on="id", maintain_order="left")
    columns = [
        Column("name", "candidate"),
        *(Column("label", who, at=("annotator", who)) for who in sorted(set(ordered["annotator"]))),
    ]
    some = f"The first {most:,} of " if most < candidates.height else ""
    caption = f"{some}{candidates.height:,} candidates with different labels, for discussion."
    return listing("disagreements", caption, ordered, columns, by=["id"], shown=shown)


def _called(ordered: pl.DataFrame, names: pl.DataFrame | None) -> pl.DataFrame:
    ids = ordered.select(pl.col("id").unique().sort())
    if names is None:
        return ids.with_columns(name="id")
    both = pl.concat_str("l1", "l2", separator=" ")
    named = ids.join(names.unique("id"), on="id", how="left")
    return named.select("id", name=pl.coalesce(both, "id"))
