"""What a stage says of rows that people have not filled in yet."""

from __future__ import annotations

import polars as pl

from pipeline.errors import WaitsForPerson

_EXAMPLES = 3
_REMEDY = "partial = true goes on without"


def wait_for(rows: pl.LazyFrame, *, folder: str, missing: int, what: str) -> WaitsForPerson:
    """Return the error that says whose rows are empty, and which.

    Parameters
    ----------
    rows : LazyFrame
        The rows of the sheets that are to be filled in: annotator, order, shown (what people
        know the row by).
    folder : str
        The folder of the sheets.
    missing : int
        How many answers are missing; fewer than rows where one answer of several people is enough.
    what : str
        What an answer is, in the singular.

    Examples
    --------
    >>> rows = pl.LazyFrame({"annotator": ["anna"], "order": [1], "shown": ["take care"]})
    >>> print(wait_for(rows, folder="x", missing=1, what="label"))
    x waits for 1 label: 1 of anna; such as take care; partial = true goes on without
    """
    ordered = rows.select("annotator", "order", "shown").sort("order", "annotator").collect()
    whose = ordered.group_by("annotator").len().sort("annotator")
    first = ordered["shown"].unique(maintain_order=True).head(_EXAMPLES)
    return WaitsForPerson(
        folder, missing, what, dict(whose.iter_rows()), first.to_list(), remedy=_REMEDY
    )
