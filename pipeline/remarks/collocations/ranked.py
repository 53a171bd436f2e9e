"""Remarks on n-best lists: cuts beyond the list, ties at a cut, few judged draws in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from pipeline.remarks.base import Found, Look, check
from pipeline.remarks.remark import remark

EVALUATING = ("evaluate.precision", "evaluate.stratified", "evaluate.designed", "evaluate.choice")
ESTIMATES = ("evaluate.precision", "evaluate.stratified", "evaluate.designed")


@check(stages=EVALUATING, threshold=1, means="cuts")
def cuts_beyond(look: Look, threshold: float) -> Found:
    """Find cuts beyond the end of the lists, which are left out."""
    last = look.inputs["ranks"].select(pl.col("rank").max()).collect().item() or 0
    beyond = [cut for cut in _cuts(look) if cut > last]
    if not last or len(beyond) < threshold:
        return
    yield remark(
        "note",
        f"{len(beyond):,} of {len(_cuts(look)):,} list sizes are beyond the {last:,} candidates"
        " ranked, and are left out",
        such_as=[f"n = {cut:,}" for cut in beyond],
        remedy=f"ask for sizes up to {last:,}",
        beyond=len(beyond),
        ranked=last,
    )


@check(stages=EVALUATING, threshold=0.1, means="share of the list that is drawn by lot")
def ties_at_cut(look: Look, threshold: float) -> Found:
    """Find ties at a cut: which candidates of equal score are in the list is drawn by lot."""
    tied = [each for each in _ties(look) if each.by_lot / each.n >= threshold]
    if not tied:
        return
    worst = max(tied, key=lambda each: each.by_lot / each.n)
    yield remark(
        "note",
        f"ties at the end of {len(tied):,} list(s): of the {worst.n:,} best by {worst.measure},"
        f" {worst.by_lot:,} are drawn by lot from {worst.tied:,} of the same score",
        such_as=[f"{each.measure} at n = {each.n:,}" for each in tied],
        remedy="look at tp_min and tp_max, which are over all ways to break ties, or cut elsewhere",
        lists=len(tied),
        by_lot=worst.by_lot,
        tied=worst.tied,
    )


@check(stages=ESTIMATES, threshold=5, means="judged draws")
def few_judged(look: Look, threshold: float) -> Found:
    """Find estimates behind which there are few judged draws."""
    few = pl.col("n_sampled").is_between(1, threshold, closed="left")
    cuts = look.outputs["cuts"].filter(few, pl.col("n_sampled") < pl.col("n"))
    found = cuts.sort("n_sampled", "measure", "n").collect()
    if found.is_empty():
        return
    row = found.row(0, named=True)
    yield remark(
        "warning",
        f"{found.height:,} of {look.rows('cuts'):,} estimates rest on fewer than {threshold:g}"
        f" judged draws: that of {row['measure']} at n = {row['n']:,} on {row['n_sampled']:,}",
        such_as=[f"{each['measure']} at n = {each['n']:,}" for each in found.iter_rows(named=True)],
        remedy="judge more candidates, or look at longer lists; lexassay size says how many",
        estimates=found.height,
        fewest=row["n_sampled"],
    )


class _Tie(NamedTuple):
    measure: str
    n: int
    tied: int
    by_lot: int


def _ties(look: Look) -> Iterator[_Tie]:
    """Yield, for every list whose end cuts through a tie, how many of it are drawn by lot."""
    config, ranks = look.config, look.inputs["ranks"]
    chosen = ranks.filter(pl.col("measure").is_in(config.measures)) if config.measures else ranks
    sizes = pl.LazyFrame({"n": sorted(set(_cuts(look)))}, schema={"n": pl.Int64})
    ends = chosen.join(sizes, left_on="rank", right_on="n").select("measure", "tie", n="rank")
    at_ends = ends.collect(engine="streaming").lazy()
    tied_there = chosen.join(at_ends.select("measure", "tie").unique(), on=["measure", "tie"])
    groups = tied_there.group_by("measure", "tie").agg(last=pl.col("rank").max())
    cut = at_ends.join(groups, on=["measure", "tie"]).filter(pl.col("last") > pl.col("n"))
    tied = (pl.col("last") - pl.col("tie") + 1).alias("tied")
    by_lot = (pl.col("n") - pl.col("tie") + 1).alias("by_lot")
    told = cut.select("measure", "n", tied, by_lot).sort("measure", "n")
    found = told.collect(engine="streaming")
    return (_Tie(*row) for row in found.iter_rows())


def _cuts(look: Look) -> list[int]:
    config = look.config
    return (
        [config.size]
        if getattr(config, "size", None)
        else list(config.sizes if look.use == "evaluate.choice" else config.cuts)
    )
