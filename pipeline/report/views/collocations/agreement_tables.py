"""Tables of agreement between annotators, and of the candidates that they label differently."""

from __future__ import annotations

import polars as pl

from pipeline.report.page.cells import cell, columns_shown
from pipeline.report.view import Listing

EVERY = "*"
COEFFICIENTS = {
    "observed": "observed agreement",
    "positive": "positive agreement",
    "negative": "negative agreement",
    "cohen_kappa": "Cohen's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
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
    methods = sorted(set(ordered["kind"]))
    rows = [
        _row(part, methods) for part in ordered.partition_by("group", "label", maintain_order=True)
    ]
    caption = (
        "Coefficients of agreement with their confidence limits; items: candidates that two or "
        "more annotators judged. At perfect agreement kappa's limits have no width: read those "
        "of the observed agreement then."
    )
    lost = int(ordered["undefined"].sum())
    if lost:
        caption += " Bootstrap samples in which a coefficient has no value are left out."
    return Listing("agreement", caption, agreement, shown=pl.DataFrame(rows),
                   right=("items", "estimate", *methods))  # fmt: skip


def _row(part: pl.DataFrame, methods: list[str]) -> dict[str, str]:
    first = part.row(0, named=True)
    limits = {row["kind"]: (row["lower"], row["upper"]) for row in part.to_dicts()}
    return {
        "of": first["group"],
        "coefficient": first["label"],
        "items": cell(first["items"]),
        "estimate": _three(first["estimate"]),
        **{method: _limits(*limits.get(method, (None, None))) for method in methods},
    }


def _three(value: float | None) -> str:
    return cell(None) if value is None else f"{value:.3f}".replace("-", "−")


def _limits(lower: float | None, upper: float | None) -> str:
    return cell(None) if lower is None else f"[{_three(lower)}, {_three(upper)}]"


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
    called = _called(ordered, names)
    differing = ordered.group_by("id").agg(pl.col("label").n_unique().alias("different"))
    order = called.join(differing, on="id").sort(
        "different", "name", "id", descending=[True, False, False]
    )
    shown = order.head(most)
    annotators = sorted(set(ordered["annotator"]))
    given = ordered.group_by("id", "annotator").agg(pl.col("label").sort().str.join(" / "))
    cells = {(item, who): label for item, who, label in given.iter_rows()}
    columns = [[cells.get((item, who), "") for item in shown["id"]] for who in annotators]
    told = columns_shown(["candidate", *annotators], [shown["name"].to_list(), *columns])
    part = f"The first {shown.height:,} of " if shown.height < order.height else ""
    caption = f"{part}{order.height:,} candidates with different labels, for discussion."
    return Listing("disagreements", caption, ordered, shown=told)


def _called(ordered: pl.DataFrame, names: pl.DataFrame | None) -> pl.DataFrame:
    ids = ordered.select(pl.col("id").unique().sort())
    if names is None:
        return ids.with_columns(name="id")
    both = pl.concat_str("l1", "l2", separator=" ")
    known = ids.join(names.unique("id"), on="id", how="left")
    return known.select("id", name=pl.coalesce(both, "id"))
