"""Ranks, draws, chances and predictions of a sample, put together for its estimates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.estimates.assisted import assisting
from pipeline.kernels.estimates.study import Study, rank_matrix, study
from pipeline.kernels.sampling import WHOLE
from pipeline.stages.base import Tables
from pipeline.stages.collocations.designed_options import EvaluateDesigned
from pipeline.stages.collocations.designed_predictions import judges_of
from pipeline.stages.collocations.evaluation import judged_draws, ranks_of_all

_NEAR = 1e-9


@dataclass(frozen=True)
class Known:
    """What is the same in all categories.

    Parameters
    ----------
    ranks : DataFrame
        Table `Ranks`: the measures to evaluate, all candidates under each.
    every : DataFrame
        The same of all measures, for models of the ranks.
    chances : DataFrame
        id, pi (null where nothing is said), stratum of all candidates.
    draws : DataFrame
        category, id, tp, pi, stratum of the draws.
    """

    ranks: pl.DataFrame
    every: pl.DataFrame
    chances: pl.DataFrame
    draws: pl.DataFrame

    @property
    def told_apart(self) -> FloatArray:
        """A number for each candidate, the same for those with the same chance."""
        strata = pl.col("stratum").rank("dense")  # where each stratum has its own, not given
        return (
            self.chances.select(pl.coalesce("pi", strata.cast(pl.Float64))).to_series().to_numpy()
        )

    @property
    def never(self) -> pl.Series:
        """The candidates that could not be drawn."""
        return self.chances.filter(pl.col("pi") == 0)["id"]


def known(chosen: pl.DataFrame, tables: Tables) -> Known:
    """Put together what the sample is of.

    Raises
    ------
    ConfigError
        If candidates were drawn more than once, or the chances are not those of this sample.
    """
    ranks = ranks_of_all(chosen, tables)
    every = ranks_of_all(tables["ranks"].collect(), tables)
    sample = tables["sample"].select("id", "pi", "stratum").collect()
    _require_chances(sample)
    ids = ranks.select(pl.col("id").unique().sort())
    chances = _chances(ids, sample, tables)
    draws = judged_draws(tables).collect().join(sample, on="id", how="left", maintain_order="left")
    return Known(ranks, every, chances, draws)


def studies(config: EvaluateDesigned, given: Known, tables: Tables) -> Iterator[tuple[str, Study]]:
    """Yield each category with its study."""
    ids, _, matrix = rank_matrix(given.every)
    for category in given.draws["category"].unique().sort():
        draws = given.draws.filter(category=category)
        judges = judges_of(config, ids, tables, category=category)
        predicted, fold = assisting(
            ids, matrix, draws, judges, assist=config.helped_by, folds=config.folds,
            seed=config.seed,
        )  # fmt: skip
        candidates = given.chances
        if predicted is not None:
            own = pl.DataFrame({"id": ids, "prediction": predicted})
            candidates = candidates.join(own, on="id", how="left")
            draws = draws.with_columns(fold=pl.Series(fold))
        try:
            made = study(given.ranks, draws, candidates=candidates, folds=config.folds)
        except ValueError as error:
            raise ConfigError("sample", [Problem("sample", str(error))]) from error
        yield category, made


def _require_chances(sample: pl.DataFrame) -> None:
    again = sample.filter(pl.col("pi").is_null())["id"]
    if len(again):
        shown = ", ".join(again.head(3))
        what = f"{len(again):,} candidates could be drawn more than once, such as {shown}"
        raise ConfigError("sample", [Problem("sample", what, "draw without replacement")])


def _chances(ids: pl.DataFrame, sample: pl.DataFrame, tables: Tables) -> pl.DataFrame:
    if "inclusion" not in tables:
        _require_simple(ids, sample)
        return ids.with_columns(pi=pl.lit(None, pl.Float64), stratum=pl.lit(WHOLE))
    given = tables["inclusion"]
    has = given.collect_schema().names()
    if "stratum" not in has:
        what = f"has no column stratum, but {', '.join(has)}"
        remedy = "give the table inclusion of sample.design, or strata of sample.stratified"
        raise ConfigError("inclusion", [Problem("inclusion", what, remedy)])
    pi = pl.col("pi").cast(pl.Float64) if "pi" in has else pl.lit(None, pl.Float64).alias("pi")
    chances = given.select("id", pi, "stratum").collect()
    _require_of(sample, chances)
    _require_all(ids, chances)
    return ids.join(chances, on="id", how="inner").sort("id")


def _require_simple(ids: pl.DataFrame, sample: pl.DataFrame) -> None:
    """Refuse a sample that is not simple, or of fewer candidates than are ranked."""
    remedy = "give inclusion: the chances of all candidates, from the stage that drew the sample"
    drawn_from = np.inf
    if sample.height:
        low, high = sample.select(low=pl.min("pi"), high=pl.max("pi")).row(0)
        drawn_from = sample.height / high
        if high - low > _NEAR or sample["stratum"].n_unique() > 1:
            what = f"chances differ, from {low:.3g} to {high:.3g}, in a sample of {sample.height:,}"
            raise ConfigError("inclusion", [Problem("inclusion", what, remedy)])
    if round(drawn_from if np.isfinite(drawn_from) else ids.height) < ids.height:
        what = (
            f"the sample was drawn from {drawn_from:,.0f} candidates, and {ids.height:,} are ranked"
        )
        raise ConfigError("sample", [Problem("sample", what, "draw from all that are ranked")])


def _require_of(sample: pl.DataFrame, chances: pl.DataFrame) -> None:
    """Refuse the chances of another sample."""
    both = sample.join(chances, on="id", how="left", suffix="_there")
    other = (pl.col("pi") - pl.col("pi_there")).abs() > _NEAR
    strange = pl.col("stratum_there").is_null() | (pl.col("stratum") != pl.col("stratum_there"))
    wrong = both.filter(other.fill_null(value=False) | strange)["id"]
    if len(wrong):
        shown = ", ".join(wrong.head(3))
        what = (
            f"{len(wrong):,} of {sample.height:,} draws have another chance there, such as {shown}"
        )
        raise ConfigError(
            "inclusion", [Problem("inclusion", what, "give the table of the stage that drew them")]
        )


def _require_all(ids: pl.DataFrame, chances: pl.DataFrame) -> None:
    """Refuse chances that are not those of all candidates, each once."""
    lacking = ids.join(chances, on="id", how="anti")["id"]
    if len(lacking):
        shown = ", ".join(lacking.sort().head(3))
        what = (
            f"{len(lacking):,} of {ids.height:,} ranked candidates are not there, such as {shown}"
        )
        remedy = "give the table of all candidates, such as designed.inclusion or strata.strata"
        raise ConfigError("inclusion", [Problem("inclusion", what, remedy)])
