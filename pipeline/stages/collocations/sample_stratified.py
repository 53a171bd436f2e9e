"""Samples with their own rate in each stratum: the n-best lists, or ranges of a score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated

import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.arrays import labels_of
from pipeline.kernels.nbest.strata import UNDEFINED, rank_labels, score_labels
from pipeline.kernels.nbest.strata_parts import (
    Drawing,
    strata_by_rank_in_parts,
    strata_by_score_in_parts,
)
from pipeline.kernels.parts import in_order, spill_of
from pipeline.kernels.sampling import sample_size
from pipeline.stages.base import Of, Outputs, Seeded, Tables, as_one, stage
from pipeline.stages.collocations.evaluation import every_rank, require_ranked
from pipeline.stages.columns import require
from schemas import Identified, Ranks, Strata, StratifiedSample, StratumSizes


class SampleStratified(Seeded):
    """Draw a simple random sample from each stratum of the candidates."""

    ranks: Annotated[str | None, Of(Ranks)] = None
    """Strata by n-best lists: the rankings. Give ranks or scores."""
    measures: tuple[str, ...] = ()
    """With ranks: a candidate's stratum is that of its best rank under these; all if empty."""
    scores: Annotated[str | None, Of(Identified)] = None
    """Strata by score: a table of candidates. Give ranks or scores."""
    column: str | None = None
    """With scores: the column of numbers that divides the candidates."""
    boundaries: tuple[float, ...] = Field(min_length=1)
    """Last rank of each stratum but the last, or the scores at which a stratum begins;
    ascending."""
    sizes: tuple[int, ...] = ()
    """Draws from each stratum, from the best list or the lowest score on. Give sizes or rates."""
    rates: tuple[float, ...] = ()
    """Sampling rate in each stratum. By score, one number more draws from the candidates without
    a score."""

    @model_validator(mode="after")
    def _one_of_two(self) -> SampleStratified:
        if (self.ranks is None) == (self.scores is None):
            raise ValueError("give either ranks or scores")
        if (self.scores is None) != (self.column is None):
            raise ValueError("column = NAME goes with scores")
        if bool(self.sizes) == bool(self.rates):
            raise ValueError("give either sizes or rates")
        if self.ranks and any(bound < 1 or bound % 1 for bound in self.boundaries):
            raise ValueError("with ranks, boundaries are ranks: whole numbers from 1 on")
        return self

    @model_validator(mode="after")
    def _as_many_as_strata(self) -> SampleStratified:
        number = len(self.sizes or self.rates)
        strata = len(self.boundaries) + 1
        if number != strata and not (self.scores and number == strata + 1):
            raise ValueError(
                f"{len(self.boundaries)} boundaries make {strata} strata, but there are {number}"
                f" {'sizes' if self.sizes else 'rates'}"
            )
        if any(not 0 <= rate <= 1 for rate in self.rates) or any(n < 0 for n in self.sizes):
            raise ValueError("rates lie between 0 and 1, sizes are 0 or more")
        return self


_LAID = pl.Schema({"id": pl.String, "stratum": pl.String})


def _pieces(config: SampleStratified, tables: Tables) -> Iterator[Outputs]:
    """Divide all candidates, then draw while their strata are told in the order of ids."""
    with spill_of(1, _LAID) as laid:
        counts: Counter[str] = Counter()
        for part in _strata(config, tables):
            counts.update(dict(part.group_by("stratum").len().iter_rows()))
            laid.put(part, 0)
        drawing = Drawing(_wanted(config, counts), counts, seed=config.seed)
        for part in in_order(laid, by="id"):
            drawing.add(part)
            yield {"strata": part}
    sample = drawing.sample()
    yield {"sample": sample, "sizes": _sizes(counts, sample)}


@stage(
    "sample.stratified",
    config=SampleStratified,
    outputs={"sample": StratifiedSample, "strata": Strata, "sizes": StratumSizes},
    pieces=_pieces,
)
def sample_stratified(config: SampleStratified, tables: Tables) -> Outputs:
    """Divide the candidates, then draw without replacement in each stratum, fixed by the seed."""
    return as_one(_pieces(config, tables))


def _strata(config: SampleStratified, tables: Tables) -> Iterator[pl.DataFrame]:
    try:
        if config.column is not None:
            require(tables["scores"].collect_schema(), [("column", config.column)])
            yield from strata_by_score_in_parts(
                tables["scores"], column=config.column, boundaries=config.boundaries
            )
            return
        ranks = tables["ranks"]
        require_ranked("measures", config.measures, ranks)
        if config.measures:
            ranks = ranks.filter(pl.col("measure").is_in(config.measures))
        chosen = every_rank(ranks, tables)
        names = labels_of(chosen, "measure")
        bounds = [int(bound) for bound in config.boundaries]
        yield from strata_by_rank_in_parts(chosen, measures=names.to_list(), boundaries=bounds)
    except ValueError as error:
        raise ConfigError("strata", [Problem("boundaries", str(error))]) from error


def _wanted(config: SampleStratified, counts: Mapping[str, int]) -> dict[str, int]:
    """Return the draws from each stratum that there is; an empty one keeps its place."""
    if config.ranks:
        last = sum(counts.values())
        ordered = rank_labels([int(bound) for bound in config.boundaries], last=last)
    else:
        ordered = [*score_labels(config.boundaries), UNDEFINED]
    if config.sizes:
        sizes = dict(zip(ordered, config.sizes, strict=False))
        return {name: sizes.get(name, 0) for name in counts}
    rates = dict(zip(ordered, config.rates, strict=False))
    return {
        name: sample_size(counts[name], rate=rates[name]) if rates.get(name) else 0
        for name in counts
    }


def _sizes(counts: Mapping[str, int], sample: pl.DataFrame) -> pl.DataFrame:
    rows = list(counts.items())
    whole = pl.DataFrame(
        rows, schema={"stratum": pl.String, "n_candidates": pl.Int64}, orient="row"
    )
    drawn = sample.group_by("stratum").agg(n_drawn=pl.len().cast(pl.Int64))
    joined = whole.join(drawn, on="stratum", how="left")
    return joined.with_columns(pl.col("n_drawn").fill_null(0)).sort("stratum")
