"""The view of a choice: the measure and the list size that a sample chose, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.findings.collocations.chosen import Guaranteed
from pipeline.findings.stage import StageView
from pipeline.kernels.measure_titles import measure_title
from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import share, share_limits
from pipeline.report.view import Block, Text, ViewOptions, view
from pipeline.report.views.collocations.samples import of_sample


@view("evaluate.choice", title="The list that was chosen", of=of_sample, place=5)
def show_choice(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Say what was chosen, by which criterion, and how sure its precision is."""
    chosen = stage.table("choice").collect().sort("category")
    if chosen.is_empty():
        return [Text("No candidate is judged, so nothing was chosen.")]
    said = [Text(_said(row)) for row in chosen.to_dicts()]
    return [*said, *_guarantee(stage)]


def _guarantee(stage: StageView) -> Iterator[Block]:
    """Show the tests behind a guarantee, in the order in which they were made."""
    asked = stage.options_as(Guaranteed)
    if not asked.guarantee or asked.min_precision is None:
        return
    tests = stage.table("guarantee").collect().sort("category", "measure", "place")
    wanted, sure = f"{100 * asked.min_precision:g} %", f"{100 * asked.confidence:g} %"
    caption = (
        f"Lists that are sure to hold {wanted} true positives: one-sided lower limits in per cent. "
        "The lists of each measure are tested in the declared order of sizes until one fails, at "
        f"alpha divided by the number of measures: with {sure} confidence all that passed have a "
        f"precision of {wanted} or more. Passed over: too few judged draws to pass at all."
    )
    yield listing(
        "guarantee", caption, tests,
        [
            Column("measure", text=measure_title), Column("n"),
            Column(("k_sampled", "n_sampled"), "TP of judged", _counts),
            Column("lower_one_sided", "lower limit", share),
            Column(("testable", "tested", "passed"), "test", _outcome, right=False),
        ],
    )  # fmt: skip


def _counts(k: int, n: int) -> str:
    return f"{k:,} of {n:,}"


def _outcome(testable: bool, tested: bool, passed: bool) -> str:
    """Say what became of a test.

    Examples
    --------
    >>> _outcome(True, True, True), _outcome(True, True, False), _outcome(True, False, False)
    ('passed', 'failed', 'not reached')
    >>> _outcome(False, False, False)
    'passed over'
    """
    if not testable:
        return "passed over"
    return "passed" if passed else "failed" if tested else "not reached"


def _said(row: Mapping[str, Any]) -> str:
    pointwise = share_limits(row["lower"], row["upper"])
    simultaneous = share_limits(row["lower_simultaneous"], row["upper_simultaneous"])
    return (
        f"Chosen for {row['category']}: the {row['n']:,} best of {measure_title(row['measure'])} "
        f"({row['criterion']}), out of {row['considered']:,} lists. Estimated precision "
        f"{share(row['precision'])} %, recall {share(row['recall'])} %: {row['k_sampled']:,} true "
        f"positives in {row['n_sampled']:,} judged draws. {100 * row['confidence']:g} % limits of "
        f"this list alone {pointwise}; limits that allow for the choice {simultaneous}: use these."
    )
