"""The sampled lemmas that gold and lexicon both have, and what they stand for."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Both:
    """What is known of the lemmas that both have; exists while a lexicon is evaluated.

    Parameters
    ----------
    matches : DataFrame
        The rows of `matching.matches` of those that are evaluated, in their order.
    lemmas : int
        How many both have.
    bases : int
        The sum over all of these of what they add to n, see `l_measure.sizes`.
    """

    matches: pl.DataFrame
    lemmas: int
    bases: int


def all_lemmas(both: Both) -> pl.LazyFrame:
    """Return the matches of all lemmas that both have, as a sample of which each was certain.

    Parameters
    ----------
    both : Both
        With the matches of all.

    Returns
    -------
    LazyFrame
        The columns of the matches, and those of `schemas.LemmaSample`, and base_total.
    """
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return both.matches.lazy().with_columns(
        position=place, population=pl.len().cast(pl.Int64), drawn=pl.lit(value=True),
        pi=pl.lit(1.0), base_total=pl.lit(both.bases, pl.Int64),
    )  # fmt: skip


def held(
    both: Both, sample: pl.DataFrame, *, looked_up: pl.DataFrame | None, complete: bool
) -> pl.LazyFrame:
    """Return the matches of the sampled lemmas that both have.

    Where the gold was keyed in, some of the lemmas drawn from the lexicon are not in it. The
    others are a random sample of those in both, of which there are as many as their share says:
    of the lemmas, or, where chances differ, of 1/pi.

    Parameters
    ----------
    both : Both
        With the matches of the sample's lemmas at the least.
    sample : DataFrame
        `schemas.LemmaSample`.
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
    found = asked.join(both.matches.select("lemma"), on="lemma", how="semi", maintain_order="left")
    whole = complete and looked_up is None and found.height == asked.height
    known = whole and bool((found["population"] == both.lemmas).all())
    part, every = _stand_for(found, asked)
    joined = both.matches.lazy().join(found.lazy(), on="lemma")
    return joined.with_columns(
        population=(pl.col("population") * part / every).round().cast(pl.Int64),
        base_total=pl.lit(both.bases if known else None, pl.Int64),
    )


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
