"""Combinations of association measures: scores, coefficients, fit, and the final ranking."""

from __future__ import annotations

import polars as pl

from schemas.base import Table, column, rule
from schemas.candidates import CandidateIds
from schemas.precision import Ranks


class CombinedScores(CandidateIds):
    """Cross-fitted scores: percentiles under a model that did not see the candidate's label.

    The column of the scores has the name of the combination.
    """

    fold: int = column("fold of the candidate, whose labels its model did not see", ge=0)


class AppliedScores(CandidateIds):
    """Scores of a model of other judgements: log-odds of a true positive."""

    known_words: int = column("words of the candidate that the model knows", ge=0)
    learned: bool = column("the model was fitted to a label of this candidate")


class CombinedRanks(Ranks):
    """The rankings of all measures, and that of their combination."""


class Coefficients(Table):
    """Coefficients of the model of all labels, and their range over the folds.

    The model names the candidates that it was fitted to (kind `label`), so that it is not evaluated
    by the same labels.
    """

    kind: str = column(
        "intercept, measure, frequency, word; label: a judged candidate", key=True,
        isin=["intercept", "measure", "frequency", "word", "label"],
    )  # fmt: skip
    feature: str = column("name of the measure or frequency, template of the word", key=True)
    value: str = column("the word; of a label the candidate; else empty", key=True)
    n_judged: int = column("judged candidates with this feature", ge=0)
    coefficient: float = column("change of the log-odds per unit; a normal score or a word")
    lowest: float = column("lowest coefficient of the models without a fold")
    highest: float = column("highest coefficient of the models without a fold")

    range_is_ordered = rule("lowest <= highest", pl.col("lowest") <= pl.col("highest"))


class CombinationFit(Table):
    """Average precision of the combination and of what it is compared with.

    All are cross-fitted: no candidate is ranked by its own label.
    """

    category: str = column("category of true positives", key=True)
    ranking: str = column(
        "combination; combination without labels of the same word; single measure chosen from the "
        "labels of the other folds",
        key=True,
    )
    word: str = column("template of the word that is new to the model; else empty", key=True)
    measure: str = column("measure chosen in most folds; else empty")
    n_judged: int = column("judged candidates", ge=0)
    positives: int = column("true positives among these", ge=0)
    ridge: float = column("median penalty of the folds; null if none", nullable=True, gt=0)
    average_precision: float = column("average precision; proportion", nullable=True, ge=0, le=1)
    gain: float = column(
        "mean log-likelihood of a label under the model, minus that under the mean label; nats; "
        "null without a model",
        nullable=True,
    )


class Refit(CandidateIds):
    """The model of all labels applied to all candidates, for delivery, never for estimates."""

    measure: str = column("name of the combination among the measures")
    probability: float = column("probability of a true positive in a simple sample", ge=0, le=1)
    refit_rank: int = column("rank by this probability, from 1", ge=1)
    tp: bool = column("judgement; null = not judged", nullable=True)
    sampled: bool = column("its judgement is one of the sample, which may estimate")

    sampled_are_judged = rule(
        "sampled implies a judgement", ~pl.col("sampled") | pl.col("tp").is_not_null()
    )
