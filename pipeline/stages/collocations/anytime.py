"""Limits that hold at every size of a growing sample: what they ask of it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.nbest.judging import ranked_candidates
from pipeline.stages.base import Tables

_NEAR = 1e-9


def questions_at_cuts(ranks: pl.LazyFrame, cuts: Sequence[int]) -> int:
    """Return how many questions share alpha: the declared cuts of all measures, at least one.

    At other list sizes limits have the level of these, each by itself.
    """
    sizes = ranks.select(pl.col("measure").n_unique(), last=pl.col("rank").max()).collect()
    measures, last = int(sizes["measure"].item()), int(sizes["last"].item() or 0)
    return max(1, measures * len({cut for cut in cuts if 1 <= cut <= last}))


def require_in_order(tables: Tables) -> None:
    """Refuse judgements that are not those of the first draws, or draws with several chances.

    Parameters
    ----------
    tables : mapping
        `ranks`, `judgements`, `sample`.

    Raises
    ------
    ConfigError
        If there is no sample, chances differ, or draws are judged after others that are not: how
        many, three of them, and what to do.
    """
    if "sample" not in tables:
        what = "there is no sample: all candidates count, in no order"
        _refuse(what, "give the sample, in whose order the draws were judged")
    ranked = ranked_candidates(tables["ranks"])
    sample = tables["sample"].join(ranked, on="id", how="semi").sort("position").collect()
    _require_one_chance(sample)
    labels = tables["judgements"].filter(pl.col("tp").is_not_null()).select("category", "id")
    for mine in labels.collect().sort("category").partition_by("category"):
        _require_first(sample, mine["id"], mine["category"][0])


def _require_one_chance(sample: pl.DataFrame) -> None:
    if sample["pi"].null_count():
        _refuse("candidates could be drawn again", "draw without replacement")
    low, high = sample.select(low=pl.min("pi"), high=pl.max("pi")).row(0)
    if sample.height and high - low > _NEAR:
        what = f"chances differ, from {low:.3g} to {high:.3g}"
        _refuse(what, "take a simple sample, or declare looks")


def _require_first(sample: pl.DataFrame, judged: pl.Series, category: str) -> None:
    """Refuse labels that come after a draw without one."""
    draws = sample.with_columns(judged=pl.col("id").is_in(judged.implode()))
    gaps = draws.filter(~pl.col("judged"))
    if gaps.is_empty():
        return
    first = gaps["position"][0]
    late = draws.filter(pl.col("judged") & (pl.col("position") > first))["id"]
    if len(late):
        what = (
            f"{len(late):,} of {len(draws.filter('judged')):,} judged draws ({category}) come after"
            f" one that is not judged ({gaps['id'][0]}), such as"
            f" {', '.join(late.head(3))}"
        )
        _refuse(what, "judge in the order of `position`, without a gap")


def _refuse(what: str, remedy: str) -> None:
    raise ConfigError("anytime", [Problem("anytime", what, remedy)])
