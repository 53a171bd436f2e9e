"""Limits of L* and of differences in L*, whatever the lemmas were drawn by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
import polars as pl

from pipeline.kernels.lexicon import ratio
from pipeline.kernels.lexicon.by_chance import (
    CHANCE_METHODS,
    ChanceMethod,
    difference_by_chance,
    interval_by_chance,
    unequal,
)
from pipeline.kernels.lexicon.ratio import METHODS, Interval, Method

AnyMethod: TypeAlias = Method | ChanceMethod


@dataclass(frozen=True)
class Limiting:
    """How limits are made.

    Parameters
    ----------
    method : str or None
        One of the `methods`; None for the first of them.
    confidence : float
        Level in (0, 1).
    replicates : int
        Samples drawn again for the bootstrap.
    seed : str
        Fixes them.
    """

    method: AnyMethod | None = None
    confidence: float = 0.95
    replicates: int = 2000
    seed: str = ""

    def chosen(self, scores: pl.DataFrame) -> AnyMethod:
        """Return the method that is asked for, or the default for such lemmas.

        Raises
        ------
        ValueError
            If it draws lemmas again as if all had had the same chance, and they had not.
        """
        if self.method is None:
            return (CHANCE_METHODS if unequal(scores) else METHODS)[0]
        if unequal(scores) and self.method not in CHANCE_METHODS:
            chances = scores["pi"].to_numpy()
            raise ValueError(
                f"{self.method} draws lemmas again with equal chances, which these had not:"
                f" {scores.height:,} were drawn with chances from {chances.min():.3g} to"
                f" {chances.max():.3g}"
            )
        return self.method

    def methods(self, scores: pl.DataFrame) -> tuple[AnyMethod, ...]:
        """Return the methods that a table of intervals lists, the chosen one among them."""
        listed: tuple[AnyMethod, ...] = CHANCE_METHODS if unequal(scores) else METHODS
        chosen = self.chosen(scores)
        return listed if chosen in listed else (*listed, chosen)


def sample_of(*scores: pl.DataFrame) -> ratio.Sample:
    """Return what the sampling error of L* is reckoned from; of two tables, of their difference.

    Parameters
    ----------
    *scores : DataFrame
        lemma, size, base, L, population; the same lemmas in each.
    """
    ordered = [each.sort("lemma") for each in scores]
    population = int(ordered[0]["population"].max() or 0)  # type: ignore[arg-type]  # a column of numbers
    y = tuple(each["size"].to_numpy() * each["L"].to_numpy() for each in ordered)
    x = tuple(each["base"].to_numpy().astype(np.float64) for each in ordered)
    return ratio.Sample(y, x, population)


def unsure(found: Interval) -> Interval:
    """Return an estimate without error and limits: of lemmas that were not drawn at random."""
    return Interval(found.estimate, None, None, None, found.method)


def star_interval(scores: pl.DataFrame, how: Limiting, *, method: AnyMethod) -> Interval:
    """Return L* with its limits.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    how : Limiting
        Confidence, replicates, seed.
    method : str
        One of its methods.

    Returns
    -------
    Interval
        Nothing but the estimate, if the lemmas were not drawn at random.
    """
    if not scores["drawn"].all():
        shown: Method = method if method in METHODS else "linearised"
        return unsure(_resampled(scores, how=how, method=shown))
    if unequal(scores) or method not in METHODS:
        return interval_by_chance(
            scores, method=cast(ChanceMethod, method), confidence=how.confidence
        )
    return _resampled(scores, how=how, method=method)


def difference_interval(first: pl.DataFrame, second: pl.DataFrame, how: Limiting) -> Interval:
    """Return the difference in L* of two lexicons with its limits, from the same lemmas.

    Parameters
    ----------
    first, second : DataFrame
        `schemas.LemmaScores`, the same lemmas in each.
    how : Limiting
        Its method "beta", for values from 0 to 1, is "t" here.
    """
    method = how.chosen(first)
    if not (first["drawn"].all() and second["drawn"].all()):
        return unsure(_resampled(first, second, how=how, method="linearised"))
    if unequal(first) or method not in METHODS:
        return difference_by_chance(
            first, second, method=cast(ChanceMethod, method), confidence=how.confidence
        )
    return _resampled(first, second, how=how, method=method)


def _resampled(*scores: pl.DataFrame, how: Limiting, method: Method) -> Interval:
    """Return the interval for lemmas that all had the same chance."""
    return ratio.interval(
        sample_of(*scores), method=method, confidence=how.confidence,
        replicates=how.replicates, seed=how.seed,
        bounds=(0.0, 1.0) if len(scores) == 1 else (-1.0, 1.0),
    )  # fmt: skip
