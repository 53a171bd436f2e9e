"""Remarks on samples that are smaller than was asked."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.nbest.judging import ranked_candidates
from pipeline.remarks.base import Found, Look, check
from pipeline.remarks.remark import remark


@check(
    stages=("sample.random", "sample.stratified", "sample.design"),
    threshold=1,
    means="draws that are missing",
)
def few_drawn(look: Look, threshold: float) -> Found:
    """Count draws that were asked for and cannot be made, as there are no more candidates."""
    asked, drawn = _asked(look), _drawn(look)
    if asked - drawn < threshold:
        return
    candidates = _candidates(look)
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


def _candidates(look: Look) -> int:
    names = ("strata", "inclusion")
    there = [look.outputs[name] for name in names if name in look.outputs]
    table = there[0] if there else look.inputs["candidates"]
    return int(table.select(pl.len()).collect().item())


def _asked(look: Look) -> int:
    """Return the draws that were asked for by number; a rate is always met."""
    config = look.config
    if look.use == "sample.stratified":
        return sum(config.sizes)
    return int(config.size or 0) + _pilot(look)


def _pilot(look: Look) -> int:
    """Return how many candidates were judged before: the sample holds them, too."""
    if "pilot" not in look.inputs:
        return 0
    ranked = look.outputs["inclusion"].select("id")
    judged = look.inputs["pilot"].select(pl.col("id").unique())
    return int(judged.join(ranked, on="id", how="semi").select(pl.len()).collect().item())


def _drawn(look: Look) -> int:
    return int(look.outputs["sample"].select(pl.col("multiplicity").sum()).collect().item())


@check(stages=("score.pool",), threshold=0.05, means="share of the candidates")
def pool_leaves_out(look: Look, threshold: float) -> Found:
    """Count candidates that a pool leaves out: what is estimated from it is conditional on it."""
    ranked = ranked_candidates(look.inputs["ranks"]).select(pl.len()).collect().item()
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


@check(
    stages=("sample.design",),
    threshold=1.001,
    means="expected width, as a multiple of that from a simple sample",
)
def does_worse(look: Look, threshold: float) -> Found:
    """Name the questions that a designed sample is expected to answer worse than a simple one."""
    asked = look.outputs["questions"].with_columns(
        times=pl.col("half_width") / pl.col("simple_half_width")
    )
    worse = asked.filter("worse", pl.col("times") > threshold)
    named = worse.sort("times", "question", descending=[True, False]).collect()
    if named.is_empty():
        return
    shown = ", ".join(
        f"{question} ({times:.2f} times as wide)"
        for question, times in named.head(3).select("question", "times").iter_rows()
    )
    yield remark(
        "note",
        f"{named.height:,} of {look.rows('questions'):,} questions will have wider intervals than"
        f" from a simple sample of as many labels: {shown}",
        remedy="give them weight, or for the baseline a smaller baseline_width, if they matter",
        worse=named.height,
        questions=look.rows("questions"),
    )
