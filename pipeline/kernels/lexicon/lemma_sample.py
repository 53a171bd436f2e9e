"""Lemmas drawn at random: with equal chances, or in proportion to their paradigms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import polars as pl

from pipeline.kernels import sampling
from pipeline.kernels.design.drawing import permanent_numbers, sequential_poisson
from pipeline.kernels.design.inclusion import inclusion
from pipeline.kernels.lexicon.wordlists import sizes
from pipeline.kernels.parts import ranges_of

Design: TypeAlias = Literal["simple", "size"]


def paradigm_sizes(
    lemmas: pl.LazyFrame, gold: pl.LazyFrame | None, lexicons: Sequence[pl.LazyFrame]
) -> pl.DataFrame:
    """Return how large the paradigm of each lemma is, as far as that is known before it is drawn.

    Parameters
    ----------
    lemmas : LazyFrame
        Column lemma.
    gold : LazyFrame or None
        lemma, form. Its forms count; None if it is on paper.
    lexicons : sequence of LazyFrame
        lemma, form. The mean of their forms counts where there is no gold.

    Returns
    -------
    DataFrame
        lemma, n (Float64, 1 for a lemma without forms, so that it has a chance); sorted by lemma.

    Examples
    --------
    >>> words = pl.LazyFrame({"lemma": ["a", "a", "b"], "form": ["x", "y", None]})
    >>> paradigm_sizes(words.select("lemma").unique(), None, [words]).rows()
    [('a', 2.0), ('b', 1.0)]
    """
    counted = [gold] if gold is not None else lexicons
    ranges = ranges_of("lemma", *counted)
    return pl.concat(
        _mean_sizes(*(ranges.of(each, number, by="lemma") for each in (lemmas, *counted))).collect()
        for number in range(len(ranges))
    )


def _mean_sizes(lemmas: pl.LazyFrame, *wordlists: pl.LazyFrame) -> pl.LazyFrame:
    counted = pl.concat(sizes(each) for each in wordlists)
    mean = counted.group_by("lemma").agg(pl.col("n").sum() / len(wordlists))
    joined = lemmas.join(mean, on="lemma", how="left")
    return joined.select("lemma", pl.col("n").clip(lower_bound=1.0)).sort("lemma")


def simple_sample(lemmas: pl.DataFrame, *, size: int, seed: str) -> pl.DataFrame:
    """Draw lemmas without replacement, all with the same chance.

    Parameters
    ----------
    lemmas : DataFrame
        lemma, distinct.
    size : int
        How many; at most all.
    seed : str
        Fixes the draw. A smaller sample is part of a larger one.

    Returns
    -------
    DataFrame
        lemma, position (from 1), pi (size / lemmas); sorted by position.

    Examples
    --------
    >>> simple_sample(pl.DataFrame({"lemma": ["a", "b"]}), size=1, seed="s")["pi"].to_list()
    [0.5]
    """
    ids = lemmas.select(id="lemma")
    drawn = sampling.without_replacement(ids, size=size, seed=seed)
    return drawn.select(lemma="id", position="position", pi=pl.len() / float(max(1, ids.height)))


def sample_by_size(lemmas: pl.DataFrame, *, size: int, seed: str) -> pl.DataFrame:
    """Draw lemmas in proportion to their paradigms, the largest for certain.

    A larger sample holds a smaller one of the same seed, as far as no lemma has become certain
    between the two. Of lemmas that are all as large it is the simple sample.

    Parameters
    ----------
    lemmas : DataFrame
        lemma, n (from 0; those with 0 are never drawn), as `paradigm_sizes` gives them.
    size : int
        How many; at most all.
    seed : str
        Fixes the draw.

    Returns
    -------
    DataFrame
        lemma, position (the certain ones, then in the order of the draw), pi; sorted by position.

    References
    ----------
    Ohlsson, Sequential Poisson Sampling (1998); Rosén, On Sampling with Probability Proportional
    to Size (1997).

    Examples
    --------
    >>> lemmas = pl.DataFrame({"lemma": ["a", "b", "c", "d"], "n": [30.0, 1.0, 1.0, 2.0]})
    >>> sample_by_size(lemmas, size=2, seed="s").rows()
    [('a', 1, 1.0), ('d', 2, 0.5)]
    """
    numbers = permanent_numbers(lemmas["lemma"], seed=seed)
    chances = inclusion(lemmas["n"].to_numpy(), size=min(size, lemmas.height))
    places = sequential_poisson(chances, numbers, size=size)
    position = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    drawn = lemmas.select("lemma", pi=pl.Series(chances, dtype=pl.Float64))[places]
    return drawn.select("lemma", position=position, pi="pi")
