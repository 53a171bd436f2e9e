"""Association scores of tuples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.association import tuple_association
from pipeline.kernels.measure import TUPLE_MEASURES
from pipeline.registry import Named
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import Tuples, TupleScores
from schemas.tuples import arity


class ScoreTuples(StageConfig):
    """Score tuples by the association measures that are defined for any number of units."""

    tuples: Annotated[str, Of(Tuples)]
    """The tuples."""
    measures: Annotated[tuple[str, ...], Named(TUPLE_MEASURES)] = Field(
        default=("all",), validate_default=True
    )
    """Names or aliases of measures for 2-6 units, see ``lexassay measures``; ``all``."""
    formulas: dict[str, str] = Field(default_factory=dict)
    """Measures of your own: name to Polars SQL over o e delta f1 f2 ... f_12 ... N and, for
    three units, the cells o111 o112 ... e222."""


@stage("score.tuples", config=ScoreTuples, outputs={"scores": TupleScores}, shards="tuples")
def score_tuples(config: ScoreTuples, tables: Tables) -> Outputs:
    """Add a column per measure."""
    tuples = tables["tuples"]
    has = tuples.collect_schema()
    problems = list(_problems(config, arity(has), {*has.names(), *TUPLE_MEASURES}))
    if problems:
        raise ConfigError("formulas", problems)
    scored = tuple_association.score_tuples(
        tuples, measures=config.measures, formulas=config.formulas
    )
    return {"scores": scored}


def _problems(config: ScoreTuples, size: int, taken: set[str]) -> Iterable[Problem]:
    """Yield what is wrong with the formulas: which columns there are, the tuples tell."""
    for name, formula in config.formulas.items():
        if name in taken:
            yield Problem(f"formulas.{name}", "is the name of a column", "choose another")
        try:
            tuple_association.parse_tuple_formula(formula, size=size)
        except ValueError as error:
            yield Problem(f"formulas.{name}", str(error))
