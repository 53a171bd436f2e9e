"""The table of precision corrected for errors of the annotators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.kernels.measure_titles import measure_title
from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import share, share_limits
from pipeline.report.view import Block
from pipeline.report.views.collocations.scope import Scope


def corrected_blocks(scope: Scope) -> Iterator[Block]:
    """Yield the table; nothing where nothing is corrected."""
    lists = scope.query("corrected").collect().sort("n", "measure")
    if lists.is_empty():
        return
    caption = (
        f"Precision in per cent{scope.said}, corrected for judgements that are wrong: "
        f"{_rates(lists.row(0, named=True))}. Errors are taken to be as frequent in all lists, and "
        "made independently; the limits allow for all that was estimated."
    )
    columns = [
        Column("measure", text=measure_title),
        Column("n"),
        Column("precision", "as judged", lambda value: share(value, digits=1)),
        Column(("corrected", "lower_corrected", "upper_corrected"), "corrected", _estimate),
    ]
    yield listing(scope.file("corrected"), caption, lists, columns)


def _rates(row: Mapping[str, Any]) -> str:
    """Say how often annotators are right, and how that is known."""
    rates = [
        f"{name} {share(row[name], digits=1)} %"
        + ("" if row[n] is None else f" (of {row[n]:,} candidates)")
        for name, n in (("sensitivity", "n_true"), ("specificity", "n_false"))
    ]
    return ", ".join(rates)


def _estimate(value: float | None, lower: float, upper: float) -> str:
    return f"{share(value, digits=1)} {share_limits(lower, upper, digits=1)}"
