"""The view of a choice: the measure and the list size that a sample chose, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.report.page.cells import share, share_limits
from pipeline.report.view import Block, StageView, Text, ViewOptions, view


@view("evaluate.choice")
def show_choice(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Say what was chosen, by which criterion, and how sure its precision is."""
    chosen = stage.table("choice").collect().sort("category")
    if chosen.is_empty():
        return [Text("No candidate is judged, so nothing was chosen.")]
    return [Text(_said(row)) for row in chosen.to_dicts()]


def _said(row: Mapping[str, Any]) -> str:
    pointwise = share_limits(row["lower"], row["upper"])
    simultaneous = share_limits(row["lower_simultaneous"], row["upper_simultaneous"])
    return (
        f"Chosen for {row['category']}: the {row['n']:,} best of {row['measure']} "
        f"({row['criterion']}), out of {row['considered']:,} lists. Estimated precision "
        f"{share(row['precision'])} %, recall {share(row['recall'])} %: {row['k_sampled']:,} true "
        f"positives in {row['n_sampled']:,} judged draws. {100 * row['confidence']:g} % limits of "
        f"this list alone {pointwise}; limits that allow for the choice {simultaneous}: use these."
    )
