"""Which look at a growing sample results are of, and what holds at all looks together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageOptions, StageView

STAGES = ("evaluate.precision", "evaluate.comparison", "evaluate.designed")


class Looked(StageOptions):
    """Whether looks were declared, or limits hold at every size."""

    looks: tuple[float, ...]
    anytime: bool


def look_of(stage: StageView) -> dict[str, Any] | None:
    """Return the look that a stage's results are of, a row of `Looks`; None if none was declared.

    Of questions with several levels the first by name is given; look, labels and share are
    those of all.
    """
    if not stage.options_as(Looked).looks:
        return None
    now = stage.table("looks").filter("now").sort("category", "question").head(1).collect()
    return now.row(0, named=True) if now.height else None


def look_said(stage: StageView) -> str:
    """Say which of how many looks this is; nothing if none was declared.

    Returns
    -------
    str
        "look 2 of 4, at 40 of 80 planned labels", without a full stop.
    """
    now = look_of(stage)
    if now is None:
        return ""
    sizes = stage.table("looks").select("look", "labels").unique().sort("look").collect()
    last = sizes["labels"][-1]
    return f"look {now['look']} of {sizes.height}, at {now['labels']:,} of {last:,} planned labels"


@finder(stages=STAGES, place=50)
def this_look(stage: StageView) -> Iterator[Finding]:
    """Say which look this is, and that limits and tests hold at all looks together."""
    now = look_of(stage)
    if now is None:
        return
    text = f"{look_said(stage)}: limits and tests hold at all declared looks together"
    levels = stage.table("looks").filter("now").select(pl.col("level").drop_nulls()).collect()
    if levels.height:
        low, high = (100.0 * float(each) for each in (levels["level"].min(), levels["level"].max()))  # type: ignore[arg-type]  # a column of numbers
        said = f"{low:.2g} %" if f"{low:.2g}" == f"{high:.2g}" else f"{low:.2g} to {high:.2g} %"
        text += f", each taken at a level of {said}"
    yield Finding(
        kind="caution", about="look", text=words.sentence(text), value=float(now["look"]),
        n=now["labels"],
    )  # fmt: skip
