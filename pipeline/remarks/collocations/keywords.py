"""Remarks on keywords: lists that cannot be compared, or are one and the same."""

from __future__ import annotations

import polars as pl

from pipeline.remarks.base import Found, Look, check
from pipeline.remarks.remark import remark

KEYWORDS = ("extract.keywords",)
_SHOWN = 3


@check(
    stages=KEYWORDS,
    threshold=0.05,
    means="share of the smaller list's words that the other has too",
)
def other_words(look: Look, threshold: float) -> Found:
    """Find a target and a reference that share (nearly) no word."""
    target, reference = (look.inputs[name].select("word", "f") for name in ("target", "reference"))
    most = [int(each.select(pl.len()).collect().item()) for each in (target, reference)]
    shared = int(target.join(reference, on="word", how="semi").select(pl.len()).collect().item())
    if not min(most) or shared >= threshold * min(most):
        return
    frequent = (
        each.sort("f", "word", descending=[True, False]).head(_SHOWN).collect()["word"].to_list()
        for each in (target, reference)
    )
    mine, others = (", ".join(map(repr, words)) for words in frequent)
    yield remark(
        "warning",
        f"target and reference share {shared:,} of {most[0]:,} and {most[1]:,} words; the most"
        f" frequent are {mine} and {others}",
        remedy="count both by the same unit: label, fold, and the same language",
        shared=shared,
        target=most[0],
        reference=most[1],
    )


@check(stages=KEYWORDS, threshold=50, means="words of the target")
def within_reference(look: Look, threshold: float) -> Found:
    """Find a target that is the reference, or seems to be a part of it."""
    target, reference = (
        look.inputs[name].select("word", "f", "N") for name in ("target", "reference")
    )
    there = reference.select("word", there="f", size="N")
    equal = (pl.col("f") == pl.col("there")) & (pl.col("N") == pl.col("size"))
    both = target.join(there, on="word", how="left").select(
        words=pl.len(), held=(pl.col("f") <= pl.col("there")).sum(), same=equal.sum()
    )
    words, held, same = both.collect().row(0)
    if words < threshold or held < words:
        return
    alike = f"target and reference have the same {words:,} words, equally often"
    part = f"each of the {words:,} words of the target is as frequent in the reference, or more so"
    yield remark(
        "warning" if same == words else "note",
        alike if same == words else part,
        remedy="compare the target with a corpus that does not contain it",
        words=words,
    )
