"""Ranks under each measure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.nbest.ranking_parts import ranked_in_parts
from pipeline.stages.base import Of, Outputs, Seeded, Tables, as_one, stage
from pipeline.stages.columns import require
from schemas import Candidates, Identified, Ranks


class ScoreRank(Seeded):
    """Rank the candidates by each measure, ties broken at random but reproducibly."""

    scores: Annotated[str, Of(Identified)]
    """Any table of candidates with columns of numbers."""
    measures: tuple[str, ...] = ()
    """The columns to rank by; all floating-point columns if empty."""


def _pieces(config: ScoreRank, tables: Tables) -> Iterator[Outputs]:
    measures = _measures(config, tables["scores"].collect_schema())
    for part in ranked_in_parts(tables["scores"], measures=measures, seed=config.seed):
        yield {"ranks": part}


@stage("score.rank", config=ScoreRank, outputs={"ranks": Ranks}, pieces=_pieces)
def score_rank(config: ScoreRank, tables: Tables) -> Outputs:
    """Rank by each column of scores."""
    return as_one(_pieces(config, tables))


def _measures(config: ScoreRank, schema: pl.Schema) -> tuple[str, ...]:
    """Return the columns to rank by."""
    require(schema, [("measures", name) for name in config.measures])
    own = Candidates.columns()
    floats = [name for name, dtype in schema.items() if dtype.is_float() and name not in own]
    measures = config.measures or tuple(floats)
    words = [name for name in measures if not schema[name].is_numeric()]
    if words or not measures:
        what = f"{', '.join(words)} does not hold numbers" if words else "no column of scores"
        raise ConfigError("columns", [Problem("measures", what, "name columns of numbers")])
    return measures
