"""The table of what lists would be if the draws that nobody judged were all false, or all true."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.kernels.measure_titles import measure_title
from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import share, share_limits
from pipeline.report.view import Block, Fold
from pipeline.report.views.collocations.scope import Scope


def worst_case_blocks(scope: Scope) -> Iterator[Block]:
    """Yield the table, folded away; nothing where every draw is judged."""
    lists = scope.query("worst_case").collect().sort("n", "measure")
    if lists.is_empty():
        return
    caption = (
        f"Precision in per cent{scope.said} with its limits: of the judged draws, and as if all "
        "draws that nobody judged, or on which judgements differ, were false, or true positives. "
        "The lower limit of the one and the upper limit of the other hold whatever they are."
    )
    cases = [("", "judged alone"), ("_if_false", "all false"), ("_if_true", "all true")]
    columns = [
        Column((f"precision{each}", f"lower{each}", f"upper{each}"), head, _estimate, right=False)
        for each, head in cases
    ]
    first = (Column("measure", text=measure_title), Column("n"), Column("n_unjudged", "unjudged"))
    table = listing(scope.file("worst-case"), caption, lists, [*first, *columns])
    yield Fold("If the draws that are not judged were all false, or all true", [table])


def _estimate(precision: float | None, lower: float, upper: float) -> str:
    return f"{share(precision, digits=1)} {share_limits(lower, upper, digits=1)}"
