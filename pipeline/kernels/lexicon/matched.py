"""The best match of each lemma of a gold of any size, range by range, and what all add up to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.lexicon.cluster_measures import best_values
from pipeline.kernels.lexicon.l_measure import Weights, l_star, sizes
from pipeline.kernels.lexicon.matching import matches
from pipeline.kernels.lexicon.sampled import Both
from pipeline.kernels.parts import Ranges


@dataclass
class Matched:
    """What all ranges of lemmas add up to; of each lemma of the gold two numbers are held."""

    gold_lemmas: int = 0
    gold_forms: int = 0
    lexicon_lemmas: int = 0
    lexicon_forms: int = 0
    common: int = 0
    bases: int = 0
    kept: list[pl.DataFrame] = field(default_factory=list)
    sizes: list[IntArray] = field(default_factory=list)
    values: list[FloatArray] = field(default_factory=list)

    @property
    def both(self) -> Both:
        """The lemmas that both have, with the matches of those that are evaluated."""
        return Both(pl.concat(self.kept), self.common, self.bases)

    @property
    def f_star(self) -> float | None:
        """F*, see `cluster_measures.f_star`."""
        n, values = (np.concatenate(each) for each in (self.sizes, self.values))
        return l_star(n, values, float(self.gold_forms))


def matched(
    table: pl.LazyFrame,
    gold: pl.LazyFrame,
    lexicon: pl.LazyFrame,
    *,
    ranges: Ranges,
    sample: pl.DataFrame | None,
    weights: Weights,
) -> Matched:
    """Return the matches of the lemmas that both have, or of those of a sample.

    Parameters
    ----------
    table, gold, lexicon : LazyFrame
        As for `matching.matches`.
    ranges : Ranges
        Of the gold's lemmas.
    sample : DataFrame, optional
        Column lemma.
    weights : str
        As for `l_measure.lemma_scores`.
    """
    found = Matched()
    for number in range(len(ranges)):
        pairs = ranges.of(table, number, by="gold")
        mine, other = (ranges.of(each, number, by="lemma") for each in (gold, lexicon))
        every = matches(pairs, mine, other).sort("lemma").collect()
        counts = other.select(pl.col("lemma").n_unique(), pl.col("form").count()).collect()
        _add(found, every, weights)
        found.lexicon_lemmas += counts.item(0, "lemma")
        found.lexicon_forms += counts.item(0, "form")
        asked = every.drop_nulls("n_same")
        if sample is not None:
            asked = asked.join(sample, on="lemma", how="semi", maintain_order="left")
        found.kept.append(asked)
    return found


def _add(found: Matched, every: pl.DataFrame, weights: Weights) -> None:
    """Take in the matches of a range of lemmas, in their order."""
    common = every.drop_nulls("n_same")
    found.gold_lemmas += every.height
    found.gold_forms += int(every["n_gold"].sum())
    found.common += common.height
    found.bases += int(common.select(sizes(weights)[1].sum()).item())
    found.sizes.append(every["n_gold"].to_numpy())
    found.values.append(every.select(best_values()).to_series().to_numpy())
