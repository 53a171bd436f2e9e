"""What a view says of a sample that is looked at several times: which look, at which levels."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.findings.collocations.looks import Looked, look_said
from pipeline.findings.stage import StageView
from pipeline.findings.words import sentence
from pipeline.report.blocks import Column, listing
from pipeline.report.view import Block, Fold, Listing, Text

_ANYTIME = (
    "Limits and tests hold at every size of the sample at once, however often one looks while it "
    "grows."
)


def show_looks(stage: StageView) -> Iterator[Block]:
    """Say which look this is, and fold away the levels; nothing where no look was declared.

    Parameters
    ----------
    stage : StageView
        A stage with the options `looks` and `anytime`, and the table `looks`.
    """
    if stage.options_as(Looked).anytime:
        yield Text(_ANYTIME)
    said = look_said(stage)
    if said:
        yield Text(f"{sentence(said)} Limits and tests hold at all of these looks together.")
        yield Fold("The looks and their levels", [_listing(stage.table("looks").collect())])


def _listing(looks: pl.DataFrame) -> Listing:
    """Return a row for each look and question."""
    several = [name for name in ("category", "question") if looks[name].n_unique() > 1]
    caption = (
        "The declared looks: labels, level (the two-sided alpha of each limit and test at this "
        "look) and its normal quantile z. No level: the look is exact, or tells nothing."
    )
    columns = [
        *(Column(name) for name in several),
        Column(("look", "now"), "look", _which),
        Column("labels"),
        Column("level", "level %", _per_cent),
        Column("z", "z", _quantile),
    ]
    return listing("looks", caption, looks, columns)


def _which(look: int, now: bool) -> str:
    return f"{look} (now)" if now else str(look)


def _per_cent(level: float | None) -> str:
    return "" if level is None else f"{100.0 * level:.3g}"


def _quantile(z: float | None) -> str:
    return "" if z is None else f"{z:.3f}"
