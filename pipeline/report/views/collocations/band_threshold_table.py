"""The table of where precision is at least a threshold, and where below, at all n at once."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.kernels.measure_titles import measure_title
from pipeline.report.blocks import Column, listing
from pipeline.report.view import Block
from pipeline.report.views.collocations.scope import Scope


def band_threshold_blocks(scope: Scope) -> Iterator[Block]:
    """Yield the table; nothing where there is no band or no threshold."""
    found = scope.query("band_thresholds").collect().sort("threshold", "measure")
    if found.is_empty():
        return
    row = found.row(0, named=True)
    caption = (
        f"What holds at all n from {row['first_n']:,} to {max(found['last_n']):,} at once, with "
        f"{100 * row['confidence']:g} % confidence for each measure{scope.said}: up to which n its "
        "lists are at least as precise as wanted, and from which n on none is."
    )
    columns = [
        Column("threshold", "precision wanted", lambda share: f"{100 * share:g} %", right=True),
        Column("measure", text=measure_title),
        Column("at_least_to", "at least that up to n", _size),
        Column("below_from", "below it from n", _size),
    ]
    yield listing(scope.file("thresholds"), caption, found, columns)


def _size(n: int | None) -> str:
    return "not shown" if n is None else f"{n:,}"
