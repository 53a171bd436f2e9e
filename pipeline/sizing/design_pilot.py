"""What a pilot says of the candidates: precisions, how they fall, what predictions explain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.api.results import Run
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.estimates.assisted import Assist, assisting
from pipeline.kernels.estimates.study import rank_matrix, study
from pipeline.kernels.planning.pilot import explained, set_precisions
from pipeline.runner.config.graph import Node, Reference
from pipeline.sizing.design_questions import Asked
from pipeline.sizing.tables import category_of
from pipeline.stages.base import Tables
from pipeline.stages.collocations.designed_options import Assisting
from pipeline.stages.collocations.designed_predictions import judges_of
from schemas import Judgements

_FILL = "fill in its sheet, or leave the pilot out and give a rate"


@dataclass(frozen=True)
class Known:
    """What is expected of candidates and sets, and where it comes from.

    Parameters
    ----------
    p : array of float, shape (candidates,)
        Probability of a true positive.
    precision : array of float, shape (sets,)
        Of each set.
    rho2 : array of float, shape (sets,), or None
        What predictions explain in it; None where the pilot is too small to say.
    judged : int
        Judgements that it rests on.
    """

    p: FloatArray
    precision: FloatArray
    rho2: FloatArray | None
    judged: int


def of_judgements(run: Run, stage: str) -> Node:
    """Return a stage that has judgements, or makes them.

    Raises
    ------
    ConfigError
        If there is none of that name.
    """
    nodes = {name: node for name, node in run.project.nodes.items() if _judgements(node)}
    if stage not in nodes:
        what = f"{stage!r}: there is no such stage with judgements"
        raise ConfigError("size", [Problem("pilot", what, did_you_mean(stage, nodes))])
    return nodes[stage]


def _judgements(node: Node) -> Reference | None:
    made = (
        Reference(node.name, name)
        for name, model in node.stage.outputs.items()
        if issubclass(model, Judgements)
    )
    return node.inputs.get("judgements") or next(made, None)


def known_by(run: Run, stage: str, asked: Asked, *, category: str | None) -> Known:
    """Return what a pilot says of the sets that are asked about.

    Parameters
    ----------
    run : Run
        Results.
    stage : str
        A stage that evaluates judgements, best one of `evaluate.designed`; or the judgements
        themselves, if all candidates are judged.
    asked : Asked
        The questions.
    category : str, optional
        Category of true positives; the only one if not given.

    Raises
    ------
    ConfigError
        If nothing is judged, or part of the candidates without a sample; if they were drawn with
        replacement, or the sample does not answer the questions.
    """
    node = of_judgements(run, stage)
    tables = {name: run.plan(str(reference)) for name, reference in node.inputs.items()}
    judgements = run.plan(str(_judgements(node))).drop_nulls("tp")
    if judgements.head(1).collect().is_empty():
        problem = Problem("pilot", f"{stage}: nothing is judged yet", _FILL)
        raise ConfigError("size", [problem])
    chosen = category_of(judgements, category)
    draws = _draws(tables, judgements.filter(category=chosen), asked.sets.ids, stage)
    try:
        given = study(asked.ranks, draws, candidates=_chances(tables))
        precision = set_precisions(given, asked.sets, measures=given.measures, pairs=asked.pairs)  # type: ignore[arg-type]  # names
    except ValueError as error:
        raise ConfigError("size", [Problem("pilot", f"{stage}: {error}")]) from error
    judged = draws.drop_nulls("tp")
    guess = _predicted(node, tables, asked, draws, category=chosen)
    if guess is None:
        return Known(np.full(len(given.ids), precision[-1]), precision, None, judged.height)
    every = given.ids.rename("id").to_frame()
    own = every.join(judged, on="id", how="left", maintain_order="left")
    y = own["tp"].cast(pl.Float64).fill_null(0.0).to_numpy()
    weight = own.select((1.0 / pl.col("pi")).fill_null(0.0)).to_series().to_numpy()
    return Known(guess, precision, explained(asked.sets, y, guess, weight), judged.height)


def _draws(tables: Tables, judgements: pl.LazyFrame, ids: pl.Series, stage: str) -> pl.DataFrame:
    """Return id, tp and pi of the ranked candidates that were drawn."""
    ranked = ids.rename("id").to_frame()
    known = judgements.select("id", "tp").collect()
    if "sample" not in tables:
        found = ranked.join(known, on="id", how="inner").with_columns(pi=pl.lit(1.0))
    else:
        sample = tables["sample"].select("id", "pi", "stratum").collect()
        found = sample.join(ranked, on="id", how="semi").join(known, on="id", how="left")
    judged = found["tp"].count()
    problem = None
    if not judged:
        what = f"{stage}: none of its {found.height:,} candidates is judged"
        problem = Problem("pilot", what, _FILL)
    elif "sample" not in tables and judged < len(ids):
        what = f"{judged:,} of {len(ids):,} candidates are judged, and not as a random sample"
        problem = Problem("pilot", what, "name a stage that is given its sample")
    elif found["pi"].null_count():
        what = f"{stage}: the pilot was drawn with replacement, and has no chances"
        problem = Problem("pilot", what, "take a sample without replacement")
    if problem:
        raise ConfigError("size", [problem])
    return found


def _chances(tables: Tables) -> pl.DataFrame | None:
    if "inclusion" not in tables:
        return None
    has = tables["inclusion"].collect_schema().names()
    kept = [name for name in ("id", "pi", "stratum") if name in has]
    return tables["inclusion"].select(kept).collect()


def _predicted(
    node: Node, tables: Tables, asked: Asked, draws: pl.DataFrame, *, category: str
) -> FloatArray | None:
    """Return what helps the estimates of the stage, out of fold; by the ranks if nothing does."""
    ids, _, matrix = rank_matrix(asked.every)
    judges, assist, folds = np.zeros((0, len(ids))), "scores", 10
    config = node.config
    if isinstance(config, Assisting):
        folds = config.folds
        if config.helped_by != "none":
            assist = config.helped_by
            judges = judges_of(config, ids, tables, category=category)
    how: Assist = assist  # type: ignore[assignment]  # one of those
    return assisting(ids, matrix, draws, judges, assist=how, folds=folds, seed="size")[0]
