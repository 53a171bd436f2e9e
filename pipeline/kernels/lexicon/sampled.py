"""The sampled lemmas that gold and lexicon both have, and what they stand for."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.lexicon.l_measure import Weights, sizes


def all_lemmas(both: pl.DataFrame, *, weights: Weights) -> pl.LazyFrame:
    """Return the matches of all lemmas that both have, as a sample of which each was certain.

    Parameters
    ----------
    both : DataFrame
        The rows of `matching.matches` for lemmas that both have.
    weights : str
        As for `l_measure.lemma_scores`.

    Returns
    -------
    LazyFrame
        The columns of `both`, and those of `schemas.LemmaSample`, and base_total.
    """
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return both.lazy().sort("lemma").with_columns(
        position=place, population=pl.len().cast(pl.Int64), drawn=pl.lit(value=True),
        pi=pl.lit(1.0), base_total=_total(both, weights),
    )  # fmt: skip


def held(
    both: pl.DataFrame,
    sample: pl.DataFrame,
    *,
    weights: Weights,
    looked_up: pl.DataFrame | None,
    complete: bool,
) -> pl.LazyFrame:
    """Return the matches of the sampled lemmas that both have.

    Where the gold was keyed in, some of the lemmas drawn from the lexicon are not in it. The
    others are a random sample of those in both, of which there are as many as their share says:
    of the lemmas, or, where chances differ, of 1/pi.

    Parameters
    ----------
    both : DataFrame
        The rows of `matching.matches` for lemmas that both have.
    sample : DataFrame
        `schemas.LemmaSample`.
    weights : str
        As for `l_measure.lemma_scores`.
    looked_up : DataFrame, optional
        Column lemma: the part of the sample that was looked up so far, a random one.
    complete : bool
        Whether the gold is a whole dictionary, so that the sum of the bases is known.

    Returns
    -------
    LazyFrame
        As of `all_lemmas`; base_total is null where the sample was not drawn from `both`.
    """
    asked = sample.sort("lemma")
    if looked_up is not None:
        asked = _part(asked, looked_up)
    found = asked.join(both.select("lemma"), on="lemma", how="semi", maintain_order="left")
    whole = complete and looked_up is None and found.height == asked.height
    known = whole and bool((found["population"] == both.height).all())
    part, every = _stand_for(found, asked)
    joined = both.lazy().join(found.lazy(), on="lemma")
    return joined.with_columns(
        population=(pl.col("population") * part / every).round().cast(pl.Int64),
        base_total=_total(both, weights) if known else pl.lit(None, pl.Int64),
    )


def _total(both: pl.DataFrame, weights: Weights) -> pl.Expr:
    return pl.lit(both.select(sizes(weights)[1].sum()).item(), pl.Int64)


def _part(sample: pl.DataFrame, looked_up: pl.DataFrame) -> pl.DataFrame:
    """Return the lemmas that were looked up, with the chance to be drawn and looked up by now.

    The certain ones and the others apart: what is looked up first may be either.
    """
    done = pl.col("lemma").is_in(looked_up["lemma"].implode())
    certain = pl.col("pi") == 1.0
    chances = sample.with_columns(pl.col("pi") * done.mean().over(certain))
    return chances.filter(done)


def _stand_for(found: pl.DataFrame, asked: pl.DataFrame) -> tuple[float, float]:
    """Return what the lemmas that both have stand for, and what all that were drawn do."""
    if asked["pi"].null_count() or asked["pi"].n_unique() < 2:
        return float(found.height), float(max(1, asked.height))
    part, every = (float((1.0 / each["pi"].to_numpy()).sum()) for each in (found, asked))
    return part, every
