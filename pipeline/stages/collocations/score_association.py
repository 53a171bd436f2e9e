"""Association scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from pipeline.kernels.association.dependencies import modules
from pipeline.kernels.association.scoring import parse, score
from pipeline.kernels.measure import MEASURES
from pipeline.registry import Named
from pipeline.stages.base import Of, Outputs, Seeded, Tables, stage
from schemas import Candidates, Scores


class ScoreAssociation(Seeded):
    """Score the candidates by association measures."""

    candidates: Annotated[str, Of(Candidates)]
    """The candidates."""
    measures: Annotated[tuple[str, ...], Named(MEASURES)] = Field(
        default=("all",), validate_default=True
    )
    """Names or aliases of measures, see ``lexassay measures``; ``all`` for every one that it lists.
    Those with a number are written ``mi_conf(50)``, their columns ``mi_conf_50``."""
    formulas: dict[str, str] = Field(default_factory=dict)
    """Measures of your own: name to Polars SQL over o11 .. e22 r1 r2 c1 c2 N."""

    @field_validator("formulas")
    @classmethod
    def _parsed(cls, formulas: dict[str, str]) -> dict[str, str]:
        taken = [name for name in formulas if name in MEASURES or name in Candidates.columns()]
        if taken:
            raise ValueError(f"{', '.join(taken)} is the name of a column; choose another")
        for formula in formulas.values():
            parse(formula)
        return formulas

    @model_validator(mode="before")
    @classmethod
    def _seed_only_for_random(cls, options: Any) -> Any:
        """Forget the seed where no measure is random: another one then changes nothing."""
        if not isinstance(options, Mapping):
            return options
        asked = options.get("measures", ["all"])
        draws = isinstance(asked, list | tuple) and ("all" in asked or "random" in asked)
        return options if draws else {k: v for k, v in options.items() if k != "seed"}


def _modules(config: ScoreAssociation) -> Iterable[str]:
    return modules(config.measures)


@stage(
    "score.association",
    config=ScoreAssociation,
    outputs={"scores": Scores},
    shards="candidates",
    uses=_modules,
)
def score_association(config: ScoreAssociation, tables: Tables) -> Outputs:
    """Add a column per measure."""
    scored = score(
        tables["candidates"],
        measures=config.measures,
        formulas=config.formulas,
        seed=config.seed,
    )
    return {"scores": scored}
