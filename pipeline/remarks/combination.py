"""Checks of combinations of measures: enough labels, better than a single measure, known words."""

from __future__ import annotations

import math

import polars as pl

from pipeline.kernels.measure import measure_title
from pipeline.remarks.base import CheckInput, Found, check, remark
from schemas.errors import count_text


@check(stages=("score.combination",), threshold=20, means="true positives among the labels")
def few_positives(stage: CheckInput, threshold: float) -> Found:
    """Find a combination that learns from few true positives."""
    fit = stage.outputs["fit"].filter(word="", measure="").collect()
    if fit.is_empty() or fit["positives"][0] >= threshold:
        return
    positives, labels = fit["positives"][0], fit["n_judged"][0]
    yield remark(
        "warning",
        f"the combination learns from {count_text(positives, 'true positive')} among"
        f" {count_text(labels, 'label')}, fewer than {threshold:g}; in simulations with 10 to 20 it"
        " ranked better than the chosen single measure in 97 % of the samples of German PP-verb"
        " pairs, but in only 60 to 72 % of those of English bigrams",
        remedy="judge more candidates, and compare it with the single measure in the table fit",
        positives=positives,
        labels=labels,
    )


@check(
    stages=("score.combination",), threshold=1,
    means="average precision of the single measure relative to that of the combination",
)  # fmt: skip
def single_is_better(stage: CheckInput, threshold: float) -> Found:
    """Find a combination that ranks worse than the single measure chosen from the same labels."""
    fit = stage.outputs["fit"].filter(word="").drop_nulls("average_precision").collect()
    own, single = fit.filter(measure=""), fit.filter(pl.col("measure") != "")
    if own.is_empty() or single.is_empty():
        return
    ours, theirs = own["average_precision"][0], single["average_precision"][0]
    if theirs <= threshold * ours:
        return
    title = measure_title(single["measure"][0])
    yield remark(
        "note",
        f"the single measure chosen from the labels ({title} in most folds) has a higher"
        f" cross-fitted average precision than the combination, {theirs:.1%} and {ours:.1%}",
        remedy=f"use the single measure: {title}",
        combination=ours,
        single=theirs,
    )


@check(
    stages=("score.combination",), threshold=1,
    means="likelihood of a label under the models relative to that under their mean",
)  # fmt: skip
def nothing_learned(stage: CheckInput, threshold: float) -> Found:
    """Find a combination that predicts labels no better than their mean does."""
    fit = stage.outputs["fit"].filter(word="", measure="").drop_nulls("gain").collect()
    if fit.is_empty() or math.exp(fit["gain"][0]) > threshold:
        return
    gain, labels = fit["gain"][0], fit["n_judged"][0]
    yield remark(
        "warning",
        f"the combination has learned nothing from {count_text(labels, 'label')}: the models"
        f" predict labels of other folds no better than their mean ({gain:+.4f} nats per label)."
        " Its ranking is random, and tests of such rankings reject in up to 8 % of samples",
        remedy="use a single measure, or judge more candidates",
        gain=gain,
        labels=labels,
    )


@check(
    stages=("score.apply",), threshold=0.5,
    means="proportion of the candidates without a word of the model",
)  # fmt: skip
def few_known_words(stage: CheckInput, threshold: float) -> Found:
    """Count candidates of which a model knows no word, so that only their ranks count."""
    model = stage.inputs["coefficients" if "coefficients" in stage.inputs else "path"]
    if model.filter(pl.col("kind") == "word").limit(1).collect().is_empty():
        return  # a model of ranks alone
    known = pl.col("known_words") == 0
    unknown, every = stage.outputs["scores"].select(known.sum(), every=pl.len()).collect().row(0)
    if not every or unknown / every < threshold:
        return
    names = [name for name in ("l1", "l2") if name in stage.inputs["candidates"].collect_schema()]
    shown = stage.outputs["scores"].filter(known).select("id").head(3)
    such = shown.join(stage.inputs["candidates"], on="id", maintain_order="left").collect()
    yield remark(
        "note",
        f"the model knows no word of {unknown:,} of {every:,} candidates ({unknown / every:.0%}):"
        " only their ranks count",
        such_as=[" ".join(row) for row in such.select(names).cast(pl.String).iter_rows()],
        remedy="judge a sample of these candidates, and evaluate the ranking with it",
        unknown=unknown,
        candidates=every,
    )
