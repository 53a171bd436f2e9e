"""Differences of precision at the declared cuts, from a sample of any design."""

from __future__ import annotations

import numpy as np
import polars as pl

from pipeline.kernels.estimates.chances import equal_chances
from pipeline.kernels.estimates.pairs import pair_estimates
from pipeline.kernels.estimates.study import Study
from pipeline.kernels.nbest.difference_tests import adjust
from pipeline.kernels.statistics.exact_tests import fisher
from pipeline.stages.collocations.designed_anytime import differences_at_any_time
from pipeline.stages.collocations.designed_looks import DesignedLook
from pipeline.stages.collocations.designed_options import EvaluateDesigned
from pipeline.stages.collocations.designed_study import Known
from schemas import DesignedDifferences


def differences(
    config: EvaluateDesigned,
    given: Known,
    made: Study,
    look: DesignedLook,
    *,
    pairs: list[tuple[str, str]],
    at: list[int],
    category: str,
) -> pl.DataFrame:
    """Estimate the differences of one category, test them, adjust for their number."""
    levels = look.of_pairs(made, pairs, at)
    found = pair_estimates(made, pairs=pairs, at=at, confidence=levels)
    equal = equal_chances(made, given.told_apart, pairs=pairs, at=at)
    named = found.rename(
        {f"{old}_{side}": f"{new}_{side}" for old, new in _SIDES for side in (1, 2)}
    ).with_columns(category=pl.lit(category))
    if config.anytime:
        named = differences_at_any_time(named, confidence=config.confidence)
    return adjust(
        look.allowed_for(_fisher(named, equal), made, pairs),
        correction=config.correction,
        alpha=1.0 - config.confidence,
        margin=config.margin,
        table=DesignedDifferences,
        p="p_looks",
    )


_SIDES = (("n_sampled", "n"), ("k_sampled", "k"))


def _fisher(found: pl.DataFrame, equal: pl.DataFrame) -> pl.DataFrame:
    """Add Fisher's test where all members of each set had the same chance."""
    table = found.join(equal, on=["measure_1", "measure_2", "n"], how="left", maintain_order="left")
    counts = [table[name].to_numpy() for name in ("k_1", "n_1", "k_2", "n_2")]
    p = np.where(table["equal"].to_numpy(), fisher(*counts), np.nan)
    return table.with_columns(pl.Series("p_fisher", p).fill_nan(None))
