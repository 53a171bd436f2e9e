"""Remarks on tables of pair tokens."""

from __future__ import annotations

import polars as pl

from pipeline.remarks.base import Found, Look, check
from pipeline.remarks.remark import remark

_FEWEST = 10


@check(
    stages=("extract.pair_tokens", "extract.table"),
    threshold=0.95,
    means="share of the units that occur more than once and have one partner",
)
def one_partner(look: Look, threshold: float) -> Found:
    """Find a table in which (nearly) every unit of a side occurs with one partner only."""
    candidates = look.outputs["candidates"]
    # A pair that was dropped as too rare shows in the marginals.
    whole = {
        side: candidates.filter(pl.col(marginal) > 1)
        .group_by(side)
        .agg(alone=(pl.col("f") == pl.col(marginal)).all())
        .select(units=pl.len(), alone=pl.col("alone").sum())
        .collect()
        .row(0)
        for side, marginal in (("l1", "f1"), ("l2", "f2"))
    }
    for side, (units, alone) in whole.items():
        if units < _FEWEST or alone / units < threshold:
            continue
        other = "l2" if side == "l1" else "l1"
        shown = candidates.select(pair=pl.concat_str("l1", "l2", separator=" ")).head(3).collect()
        yield remark(
            "warning",
            f"{alone:,} of {units:,} units of {side} that occur twice or more have one {other}"
            f" only: f = f{side[1]} there, and measures of association have nothing to compare",
            such_as=shown["pair"],
            remedy="look at which columns are l1 and l2; a table of words and their senses is none"
            " of pairs",
            units=units,
            alone=alone,
        )
