"""Filled-in sheets: what is wrong in them, and the labels in one spelling."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.errors import did_you_mean
from pipeline.kernels.annotation.names import nobodys
from pipeline.kernels.hashing import candidate_id

_PAIR = ("l1", "l2")
_MOST_PLACES = 4
"""Places that a message names."""


def faults(
    rows: pl.LazyFrame, *, labels: Sequence[str], units: Sequence[str] = _PAIR
) -> pl.LazyFrame:
    """Return one row for every cell that cannot be used.

    An id is empty, or the annotator of a label; an id does not belong to its row's units, since
    somebody changed one of these cells or sorted a part of the sheet; a label is not one of
    `labels`; one annotator gives an id two labels, in one sheet or in two (all these rows).

    Parameters
    ----------
    rows : LazyFrame
        file, line, annotator, id, label and the units, String (line Int64); null is an empty
        cell, and an empty label means that nobody has judged.
    labels : sequence of str
        The valid labels. Blanks around a label and its case do not matter.
    units : sequence of str
        The columns that the id is a hash of, of tuples l1 ... lk; empty if it is none.

    Returns
    -------
    LazyFrame
        file, line, column, value, problem, as in `schemas.Faults`; at most one per cell.

    Raises
    ------
    ValueError
        If two labels differ in case or blanks alone.

    Examples
    --------
    >>> from pipeline.kernels.hashing import candidate_id
    >>> row = {"file": "a.csv", "line": 2, "annotator": "a", "l1": "x", "l2": "y", "label": "SVG"}
    >>> sheet = pl.LazyFrame([row]).with_columns(candidate_id("l1", "l2"))
    >>> faults(sheet, labels=["SVC", "free"]).collect()["problem"].item()
    'is no label; did you mean SVC?'
    """
    wrong = [
        _empty_ids(rows),
        _unknown_labels(rows, labels),
        nobodys(rows, answer="label"),
        _contradictions(rows, labels),
    ]
    if units:
        wrong.append(_changed(rows, units))
    return pl.concat(wrong)


def normalise(rows: pl.LazyFrame, *, labels: Sequence[str]) -> pl.LazyFrame:
    """Return the annotations of filled-in sheets, each label in its one spelling.

    Parameters
    ----------
    rows : LazyFrame
        file, line, annotator, id, label, note.
    labels : sequence of str
        The valid labels, as they are to be spelt.

    Returns
    -------
    LazyFrame
        file, line, id, annotator, label (null = empty or unknown), note (null = empty); one
        row per row that has an id. Rows with faults are there as well: take out those that
        `faults` names before the labels are used.

    Raises
    ------
    ValueError
        If two labels differ in case or blanks alone.

    Examples
    --------
    >>> row = {"file": "a.csv", "line": 2, "annotator": "a", "id": "x1", "label": "svc "}
    >>> normalise(pl.LazyFrame([row | {"note": " "}]), labels=["SVC"]).collect().rows()
    [('a.csv', 2, 'x1', 'a', 'SVC', None)]
    """
    label = canonical("label", labels=labels)
    return rows.select(
        "file", "line", _trimmed("id"), "annotator", label.alias("label"), _trimmed("note")
    ).drop_nulls("id")


def with_ids(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows with the ids as they were written, without blanks that somebody put to them.

    Examples
    --------
    >>> with_ids(pl.LazyFrame({"line": [2, 3], "id": [" x1", " "]})).collect().rows()
    [(2, 'x1'), (3, None)]
    """
    return rows.with_columns(_trimmed("id"))


def notes(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows on which somebody noted something, labelled or not.

    Parameters
    ----------
    rows : LazyFrame
        With the column note.

    Examples
    --------
    >>> notes(pl.LazyFrame({"line": [2, 3, 4], "note": ["odd", " ", None]})).collect().rows()
    [(2, 'odd')]
    """
    return rows.filter(_trimmed("note").is_not_null())


def canonical(column: str, *, labels: Sequence[str]) -> pl.Expr:
    """Return the label that each cell means: null where it is empty or means none.

    Parameters
    ----------
    column : str
        String column.
    labels : sequence of str
        The valid labels.

    Raises
    ------
    ValueError
        If two labels differ in case or blanks alone.

    Examples
    --------
    >>> cells = pl.DataFrame({"label": [" svc", "Free", "SVG", None]})
    >>> cells.select(canonical("label", labels=["SVC", "free"])).to_series().to_list()
    ['SVC', 'free', None, None]
    """
    spelt = pl.DataFrame({"label": list(labels)}, schema={"label": pl.String})
    folded = spelt.select(_folded("label")).to_series().to_list()
    if len(set(folded)) < len(folded):
        raise ValueError(f"two labels differ in case or blanks alone: {', '.join(labels)}")
    return _folded(column).replace_strict(
        dict(zip(folded, labels, strict=True)), default=None, return_dtype=pl.String
    )


def _folded(column: str) -> pl.Expr:
    # NFC, since some systems save a letter and its accent as two characters.
    return pl.col(column).str.normalize("NFC").str.strip_chars().str.to_lowercase()


def _trimmed(column: str) -> pl.Expr:
    text = pl.col(column).str.strip_chars()
    return pl.when(text != "").then(text).alias(column)


def _empty_ids(rows: pl.LazyFrame) -> pl.LazyFrame:
    problem = "is empty; restore the id of this row from the original sheet"
    bad = rows.filter(_trimmed("id").is_null())
    return bad.select(
        "file", "line", column=pl.lit("id"), value=pl.col("id"), problem=pl.lit(problem)
    )


def _changed(rows: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    own = _trimmed("id")
    wrong = own.is_not_null() & own.ne_missing(candidate_id(*units))
    shown = pl.concat_str([pl.col(unit).fill_null("") for unit in units], separator="', '")
    what = "pair" if len(units) == len(_PAIR) else "tuple"
    said = (f"id and {what} do not belong together: ('", f"') is not the {what} of this id; ")
    problem = pl.concat_str(
        pl.lit(said[0]), shown, pl.lit(said[1] + "restore the row from the original sheet")
    )
    return rows.filter(wrong).select(
        "file", "line", column=pl.lit("id"), value=own, problem=problem
    )


def _unknown_labels(rows: pl.LazyFrame, labels: Sequence[str]) -> pl.LazyFrame:
    unknown = _trimmed("label").is_not_null() & canonical("label", labels=labels).is_null()
    bad = rows.filter(unknown).select("file", "line", "label")

    def problem(label: str) -> str:
        return f"is no label; {did_you_mean(label.strip(), labels)}"

    named = bad.select(pl.col("label").unique()).with_columns(
        problem=pl.col("label").map_elements(problem, return_dtype=pl.String)
    )
    return bad.join(named, on="label").select(
        "file", "line", column=pl.lit("label"), value=pl.col("label"), problem=pl.col("problem")
    )


def _contradictions(rows: pl.LazyFrame, labels: Sequence[str]) -> pl.LazyFrame:
    own, label = _trimmed("id"), canonical("label", labels=labels)
    judged = rows.select("file", "line", "annotator", own, meant=label, value="label")
    judged = judged.drop_nulls(["id", "meant"])
    place = pl.concat_str("meant", pl.lit(" ("), "file", pl.lit(", line "), "line", pl.lit(")"))
    two = (
        judged.sort("file", "line")
        .group_by("id", "annotator", maintain_order=True)
        .agg(labels=pl.col("meant").n_unique(), places=place.head(_MOST_PLACES).str.join("; "))
        .filter(pl.col("labels") > 1)
    )
    problem = pl.concat_str(
        pl.col("annotator").fill_null("somebody"),
        pl.lit(" gives this id several labels: "),
        "places",
        pl.lit("; keep one"),
    )
    bad = judged.join(two, on=["id", "annotator"], nulls_equal=True)
    return bad.select("file", "line", column=pl.lit("label"), value="value", problem=problem)
