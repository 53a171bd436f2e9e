"""Inclusion probabilities of a sample, and the phases in which it was drawn."""

from __future__ import annotations

import numpy as np
import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.sampling import WHOLE
from pipeline.stages.base import Tables

_NEAR = 1e-9


def require_probabilities(sample: pl.DataFrame) -> None:
    """Reject a sample drawn with replacement."""
    again = sample.filter(pl.col("pi").is_null())["id"]
    if len(again):
        shown = ", ".join(again.head(3))
        what = f"{len(again):,} candidates could be drawn more than once, for example {shown}"
        raise ConfigError("sample", [Problem("sample", what, "draw without replacement")])


def chances_of(ids: pl.DataFrame, sample: pl.DataFrame, tables: Tables) -> pl.DataFrame:
    """Return the inclusion probabilities of all candidates.

    Parameters
    ----------
    ids : pl.DataFrame
        All candidates: column id.
    sample : pl.DataFrame
        The drawn candidates: id, pi, stratum.
    tables : mapping
        `inclusion`: id, stratum, and pi where it differs within strata; not needed for a simple
        sample of all candidates.

    Returns
    -------
    pl.DataFrame
        id, pi (null if it is constant within strata and not given), stratum; sorted by id.

    Raises
    ------
    ConfigError
        If the probabilities are not those of this sample, or do not cover all candidates.
    """
    if "inclusion" not in tables:
        _require_simple(ids, sample)
        return ids.with_columns(pi=pl.lit(None, pl.Float64), stratum=pl.lit(WHOLE))
    given = tables["inclusion"]
    has = given.collect_schema().names()
    if "stratum" not in has:
        what = f"has no column stratum, only {', '.join(has)}"
        remedy = "use the table inclusion of sample.design, or strata of sample.stratified"
        raise ConfigError("inclusion", [Problem("inclusion", what, remedy)])
    pi = pl.col("pi").cast(pl.Float64) if "pi" in has else pl.lit(None, pl.Float64).alias("pi")
    chances = given.select("id", pi, "stratum").collect()
    _require_of(sample, chances)
    _require_all(ids, chances)
    return ids.join(chances, on="id", how="inner").sort("id")


def chances_of_judged(draws: pl.DataFrame, chances: pl.DataFrame) -> pl.DataFrame:
    """Return draws with the probability that they were drawn and judged.

    Where it is constant in a stratum, the judged draws are a simple sample of the stratum, so pi is
    judged draws / candidates, also in a stratum that was drawn completely.

    Parameters
    ----------
    draws : pl.DataFrame
        id, tp (null = not judged), pi and stratum.
    chances : pl.DataFrame
        As from `chances_of`.

    Returns
    -------
    pl.DataFrame
        The draws, in their order; pi unchanged in strata without a judged draw, and where it was
        given for all candidates.
    """
    judged = pl.col("tp").is_not_null().mean().over("stratum")
    constant = pl.col("id").is_in(chances.filter(pl.col("pi").is_null())["id"].implode())
    return draws.with_columns(
        pi=pl.when(constant & (judged > 0)).then(pl.col("pi") * judged).otherwise("pi")
    )


def _require_simple(ids: pl.DataFrame, sample: pl.DataFrame) -> None:
    """Reject a sample that is not simple, or drawn from fewer candidates than are ranked."""
    remedy = (
        "add inclusion: the probabilities of all candidates, from the stage that drew the sample"
    )
    drawn_from = np.inf
    if sample.height:
        low, high = sample.select(low=pl.min("pi"), high=pl.max("pi")).row(0)
        drawn_from = sample.height / high
        if high - low > _NEAR or sample["stratum"].n_unique() > 1:
            what = (
                f"inclusion probabilities differ, from {low:.3g} to {high:.3g}, in a sample of "
                f"{sample.height:,}"
            )
            raise ConfigError("inclusion", [Problem("inclusion", what, remedy)])
    if round(drawn_from if np.isfinite(drawn_from) else ids.height) < ids.height:
        what = (
            f"the sample was drawn from {drawn_from:,.0f} candidates, but {ids.height:,} are ranked"
        )
        raise ConfigError("sample", [Problem("sample", what, "draw from all ranked candidates")])


def _require_of(sample: pl.DataFrame, chances: pl.DataFrame) -> None:
    """Reject the probabilities of another sample."""
    both = sample.join(chances, on="id", how="left", suffix="_there")
    other = (pl.col("pi") - pl.col("pi_there")).abs() > _NEAR
    strange = pl.col("stratum_there").is_null() | (pl.col("stratum") != pl.col("stratum_there"))
    wrong = both.filter(other.fill_null(value=False) | strange)["id"]
    if len(wrong):
        shown = ", ".join(wrong.head(3))
        what = (
            f"{len(wrong):,} of {sample.height:,} draws have a different inclusion probability "
            f"there, for example {shown}"
        )
        raise ConfigError(
            "inclusion", [Problem("inclusion", what, "use the table of the stage that drew them")]
        )


def _require_all(ids: pl.DataFrame, chances: pl.DataFrame) -> None:
    """Reject probabilities that do not cover all candidates exactly once."""
    lacking = ids.join(chances, on="id", how="anti")["id"]
    if len(lacking):
        shown = ", ".join(lacking.sort().head(3))
        what = (
            f"{len(lacking):,} of {ids.height:,} ranked candidates are missing, for example {shown}"
        )
        remedy = "use the table of all candidates, e.g. designed.inclusion or strata.strata"
        raise ConfigError("inclusion", [Problem("inclusion", what, remedy)])


# Phases


def phases_of(
    ids: pl.DataFrame, sample: pl.DataFrame, inclusion: pl.LazyFrame | None
) -> pl.DataFrame:
    """Return the phases of a sample, with all candidates in each.

    Parameters
    ----------
    ids, sample
        As for `chances_of`.
    inclusion : pl.LazyFrame, optional
        Table `Phases` of a sample with several phases; else as for `chances_of`.

    Returns
    -------
    pl.DataFrame
        phase, id, pi, stratum, drawn, and expected (null if not given); sorted by phase and id.

    Raises
    ------
    ConfigError
        If the phases are not those of this sample, or do not cover all candidates.
    """
    if inclusion is not None and "phase" in inclusion.collect_schema():
        phases = inclusion.select(_PHASES).collect().join(ids, on="id", how="semi")
        for _, each in phases.group_by("phase"):
            _require_all(ids, each)
        _require_drawn(sample, phases.filter("drawn"))
        return phases.sort("phase", "id")
    given = {} if inclusion is None else {"inclusion": inclusion}
    drawn = pl.col("id").is_in(sample["id"].implode())
    chances = chances_of(ids, sample, given).with_columns(drawn=drawn)
    return chances.with_columns(
        phase=pl.lit(1, pl.Int64),
        pi=pl.coalesce("pi", pl.col("drawn").mean().over("stratum")),
        expected=pl.lit(None, pl.Float64),
    ).select(_PHASES)


_PHASES = ("phase", "id", "pi", "stratum", "drawn", "expected")


def _require_drawn(sample: pl.DataFrame, drawn: pl.DataFrame) -> None:
    """Reject the phases of another sample."""
    strange = sample.join(drawn, on="id", how="anti")["id"]
    missing = drawn.join(sample, on="id", how="anti")["id"]
    if len(strange) or len(missing):
        shown = ", ".join((*strange.sort().head(3), *missing.sort().head(3))[:3])
        what = (
            f"{len(strange):,} of {sample.height:,} draws are in no phase, and {len(missing):,} "
            f"draws of the phases are not in the sample, for example {shown}"
        )
        remedy = "use the table phases of the stage that drew the sample"
        raise ConfigError("phases", [Problem("phases", what, remedy)])
