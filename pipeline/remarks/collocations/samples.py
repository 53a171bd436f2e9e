"""Remarks on samples that are smaller than was asked."""

from __future__ import annotations

import polars as pl

from pipeline.remarks.base import Found, Look, check
from pipeline.remarks.remark import remark


@check(stages=("sample.random", "sample.stratified"), threshold=1, means="draws that are missing")
def few_drawn(look: Look, threshold: float) -> Found:
    """Count draws that were asked for and cannot be made, as there are no more candidates."""
    asked, drawn = _asked(look), _drawn(look)
    if asked - drawn < threshold:
        return
    there = look.outputs["strata"] if "strata" in look.outputs else look.inputs["candidates"]
    candidates = there.select(pl.len()).collect().item()
    if not candidates:
        return  # said of the stage that has none
    yield remark(
        "note",
        f"{drawn:,} of the {asked:,} draws that were asked for: there are {candidates:,} candidates"
        + (", in strata that are smaller than their samples" if "strata" in look.outputs else ""),
        remedy="ask for fewer, or extract more candidates",
        asked=asked,
        drawn=drawn,
    )


def _asked(look: Look) -> int:
    """Return the draws that were asked for by number; a rate is always met."""
    config = look.config
    return int(config.size or 0) if look.use == "sample.random" else sum(config.sizes)


def _drawn(look: Look) -> int:
    return int(look.outputs["sample"].select(pl.col("multiplicity").sum()).collect().item())


@check(stages=("score.pool",), threshold=0.05, means="share of the candidates")
def pool_leaves_out(look: Look, threshold: float) -> Found:
    """Count candidates that a pool leaves out: what is estimated from it is conditional on it."""
    ranked = look.inputs["ranks"].select(pl.col("id").n_unique()).collect().item()
    pooled = look.rows("candidates")
    if not ranked or (ranked - pooled) / ranked < threshold:
        return
    share = (ranked - pooled) / ranked
    yield remark(
        "note",
        f"the pool holds {pooled:,} of {ranked:,} candidates and leaves out {share:.0%}: what is"
        f" estimated holds for the {look.config.depth:,} best of the pooled measures; baseline and"
        " recall are those within the pool, and other measures cannot be compared",
        remedy="a greater depth leaves out fewer; a random sample of all has none of this",
        pooled=pooled,
        candidates=ranked,
    )
