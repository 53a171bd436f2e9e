"""What an adjudication round decides: by whom, and on which label."""

from __future__ import annotations

import polars as pl

_PERSON = ["id", "annotator"]


def resolutions(annotations: pl.LazyFrame, decisions: pl.LazyFrame) -> pl.LazyFrame:
    """Return the ids that an adjudication round has resolved, each with its label.

    An id is resolved if people decided it who did not annotate it, and all of them give one
    label. Where no such person decided, it is resolved if all who annotated it decided, and give
    one label.

    Parameters
    ----------
    annotations : LazyFrame
        id, annotator, label: what was said in the first round.
    decisions : LazyFrame
        id, annotator, label, note: what was said by people who saw the first labels.

    Returns
    -------
    LazyFrame
        As `schemas.Resolutions`: id; label; annotator, who decided; note, all their notes; first,
        the labels of the first round. One row per resolved id, sorted by id.

    Notes
    -----
    Rows without id, annotator or label do not count. What nobody annotated is not resolved: no
    first labels were there to be seen.

    Examples
    --------
    >>> first = pl.LazyFrame({"id": ["x", "x"], "annotator": ["anna", "ben"], "label": ["s", "f"]})
    >>> said = {"id": ["x"], "annotator": ["carla"], "label": ["f"], "note": ["free to vary"]}
    >>> resolutions(first, pl.LazyFrame(said)).collect().rows()
    [('x', 'f', 'carla', 'free to vary', 'anna: s; ben: f')]
    >>> resolutions(first, pl.LazyFrame(said | {"annotator": ["ben"]})).collect().rows()
    []
    """
    first = annotations.select(*_PERSON, "label").drop_nulls().unique()
    about = first.group_by("id").agg(asked=pl.col("annotator").n_unique(), first=_said())
    both = first.select(*_PERSON, own=pl.lit(value=True)).unique()
    made = decisions.drop_nulls([*_PERSON, "label"]).join(both, on=_PERSON, how="left")
    outside = pl.col("own").is_null()
    heard = made.filter(outside | ~outside.any().over("id"))
    decided = heard.group_by("id").agg(
        label=pl.col("label").first(),
        labels=pl.col("label").n_unique(),
        people=pl.col("annotator").n_unique(),
        outside=outside.any(),
        annotator=_listed("annotator", ", "),
        note=_listed("note", "; "),
    )
    full = decided.join(about, on="id", how="inner")
    enough = pl.col("outside") | (pl.col("people") == pl.col("asked"))
    resolved = full.filter((pl.col("labels") == 1) & enough)
    return resolved.select("id", "label", "annotator", "note", "first").sort("id")


def settled(
    adjudicated: pl.LazyFrame, resolved: pl.LazyFrame, *, column: str = "label"
) -> pl.LazyFrame:
    """Return what stands for each id: what the adjudication round says where it resolved the id.

    Parameters
    ----------
    adjudicated : LazyFrame
        id, the column and more, by a rule over the first labels alone.
    resolved : LazyFrame
        id and the column, of the ids that are resolved.
    column : str
        A label, or what follows from it.

    Returns
    -------
    LazyFrame
        The rows of `adjudicated` in their order; all but the column as before.

    Examples
    --------
    >>> by_rule = pl.LazyFrame({"id": ["x", "y"], "label": [None, "s"], "agreed": [False, True]})
    >>> settled(by_rule, pl.LazyFrame({"id": ["x"], "label": ["f"]})).collect().rows()
    [('x', 'f', False), ('y', 's', True)]
    """
    final = resolved.select("id", _final=column)
    joined = adjudicated.join(final, on="id", how="left", maintain_order="left")
    return joined.with_columns(pl.coalesce("_final", column).alias(column)).drop("_final")


def _said() -> pl.Expr:
    """Return who said what in the first round, in order of names."""
    each = pl.format("{}: {}", "annotator", "label")
    return each.sort_by("annotator", "label").str.join("; ")


def _listed(column: str, separator: str) -> pl.Expr:
    """Return each text once, in order of the names of those who said it; null if there is none."""
    said = pl.col(column).sort_by("annotator", "label", column).drop_nulls()
    return pl.when(said.len() > 0).then(said.unique(maintain_order=True).str.join(separator))
