"""Remarks on samples of lemmas, and on what was keyed in for them."""

from __future__ import annotations

import polars as pl

from pipeline.remarks.base import CheckInput, Found, check, remark

_SEVERAL = r"\S\s*[/|\\+&]\s*\S|\S\s+(?:or|oder|ou|und|and)\s+\S"
"""What stands between forms, and is no separator that sheets know."""


@check(stages=("sample.lemmas",), threshold=1, means="lemmas that are missing")
def few_lemmas_drawn(stage: CheckInput, threshold: float) -> Found:
    """Count lemmas that were asked for and cannot be drawn, as there are no more."""
    sample = stage.outputs["sample"].select(pl.len(), pl.col("population").max()).collect()
    drawn, population = sample.row(0)
    asked = stage.config.size or 0
    if asked - drawn >= threshold:
        yield remark(
            "note" if drawn else "warning",
            f"{drawn:,} of the {asked:,} lemmas that were asked for: gold and lexicons share"
            f" {population or 0:,}",
            remedy="ask for fewer, or look at how both are spelt",
            asked=asked,
            drawn=drawn,
        )


@check(stages=("evaluate.lexicon",), threshold=5, means="lemmas")
def few_lemmas_judged(stage: CheckInput, threshold: float) -> Found:
    """Find an L* that rests on few lemmas."""
    lemmas = stage.rows("lemmas")
    if lemmas < threshold:
        yield remark(
            "warning",
            f"L* rests on {lemmas:,} lemma(s)",
            remedy="draw more lemmas; the table widths says how sure more would make it",
            lemmas=lemmas,
        )


@check(stages=("join.keying",), threshold=1, means="forms")
def several_keyed(stage: CheckInput, threshold: float) -> Found:
    """Find keyed forms that look like several, such as a / b."""
    forms = stage.outputs["gold"].filter(pl.col("form").str.contains(_SEVERAL))
    found = forms.sort("lemma", "form").collect()
    if found.height >= threshold:
        yield remark(
            "warning",
            f"{found.height:,} keyed form(s) look like several in one",
            such_as=[f"{form!r} of {lemma!r}" for lemma, form in found.head(3).iter_rows()],
            remedy="put a comma or a semicolon between forms, and run again",
            forms=found.height,
        )
