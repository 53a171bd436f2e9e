"""How many lemmas more would make L* twice as sure."""

from __future__ import annotations

import math
from collections.abc import Iterator

import polars as pl

from pipeline.findings import words
from pipeline.findings.finding import Finding
from pipeline.findings.lexicon.evidence import Names
from pipeline.findings.stage import StageView
from pipeline.kernels.lexicon.by_chance import unequal
from pipeline.kernels.lexicon.expected import lemmas_by_size


def halving(stage: StageView, scores: pl.DataFrame, names: Names) -> Iterator[Finding]:
    """Say about how many lemmas more would halve the interval of L*.

    Parameters
    ----------
    stage : StageView
        Evaluates a lexicon.
    scores : DataFrame
        `schemas.LemmaScores`.
    names : Names
        What is said of what.
    """
    chosen = stage.table("intervals").filter("chosen").collect()
    if scores.is_empty() or chosen.is_empty() or not chosen["standard_error"][0]:
        return
    size, population = scores.height, int(scores["population"][0])
    if unequal(scores):
        further = lemmas_by_size(scores, error=chosen["standard_error"][0] / 2) - size
    else:
        further = lemmas_more(size, population)
    if further <= 0:
        return
    width = (chosen["upper"][0] or 0.0) - (chosen["lower"][0] or 0.0)
    now = f" of {words.number(100 * width, 1)} points" if width else ""
    text = (
        f"about {words.rounded(further):,} lemmas more, {words.rounded(size + further):,} in all, "
        f"would halve the interval{now}"
    )
    yield Finding(
        about="needed", question=f"how sure L* of {names.lexicon} is", name=names.lexicon,
        text=words.sentence(text), value=float(further), n=size,
    )  # fmt: skip


def lemmas_more(size: int, population: int) -> int:
    """Return how many lemmas more halve the standard error of L*.

    The variance goes with ``1/S - 1/M`` for S of M lemmas drawn without replacement; a quarter of
    it is reached by ``S' = 4 S M / (M + 3 S)``.

    Parameters
    ----------
    size, population : int
        S and M.

    Examples
    --------
    >>> lemmas_more(74, 369), lemmas_more(10, 1_000_000), lemmas_more(5, 5)
    (111, 30, 0)
    """
    if size <= 0 or population <= size:
        return 0
    return math.ceil(4 * size * population / (population + 3 * size)) - size
