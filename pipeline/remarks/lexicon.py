"""Remarks on lexicons, samples of lemmas and keyed forms."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.lexicon.wordlists import undrawn_large
from pipeline.remarks.base import CheckInput, Found, check, remark
from schemas.errors import count_text

_SEVERAL = r"\S\s*[/|\\+&]\s*\S|\S\s+(?:or|oder|ou|und|and)\s+\S"
"""Characters between forms that are not separators of sheets."""


_LIST = r"\pL\s*([,;|])\s*\pL"
"""A separator between words of one field."""


@check(stages=("extract.lexicon",), threshold=0.05, means="proportion of the forms")
def lists_of_forms(stage: CheckInput, threshold: float) -> Found:
    """Find fields with several forms, which are read as one form."""
    words = stage.outputs["lexicon"].select("lemma", "form").drop_nulls()
    lists = words.with_columns(separator=pl.col("form").str.extract(_LIST)).drop_nulls()
    table, forms = lists.collect(), words.select(pl.len()).collect().item()
    if table.is_empty() or table.height / forms < threshold:
        return
    separator = table["separator"].mode().sort().first()
    yield remark(
        "warning",
        f"{table.height:,} of {count_text(forms, 'form')} contain a comma, semicolon or bar, and"
        " count as one form each",
        such_as=[
            f"{form!r} of {lemma!r}"
            for lemma, form in table.sort("lemma", "form")
            .select("lemma", "form")
            .head(3)
            .iter_rows()
        ],
        remedy=f"if they are lists of forms, set forms_separator to {separator!r}",
        lists=table.height,
        forms=forms,
    )


@check(stages=("sample.lemmas",), threshold=1, means="missing lemmas")
def few_lemmas_drawn(stage: CheckInput, threshold: float) -> Found:
    """Count requested lemmas that cannot be drawn."""
    sample = stage.outputs["sample"].select(pl.len(), pl.col("population").max()).collect()
    drawn, population = sample.row(0)
    request = stage.config.size or 0
    if request - drawn >= threshold:
        yield remark(
            "note" if drawn else "warning",
            f"{drawn:,} of the {request:,} requested lemmas: gold and lexicons share"
            f" {population or 0:,}",
            remedy="draw fewer, or check the spelling in both",
            asked=request,
            drawn=drawn,
        )


@check(stages=("sample.lemmas",), threshold=0.01, means="proportion of the forms")
def large_lemmas_not_drawn(stage: CheckInput, threshold: float) -> Found:
    """Find large lemmas that a simple sample lacks: the limits of L* do not account for them."""
    chances = stage.outputs["sample"].select("pi").collect()["pi"].unique()
    missed = undrawn_large(stage.outputs["sizes"].collect())
    simple = len(chances) == 1 and chances[0] is not None
    if simple and missed.share >= threshold:
        yield remark(
            "warning",
            f"a simple sample: {missed}, and the limits of L* do not account for them",
            remedy='draw lemmas by size (design = "size"), with rate or size',
            lemmas=missed.lemmas,
            undrawn=missed.undrawn,
            share=missed.share,
        )


@check(stages=("evaluate.lexicon",), threshold=5, means="lemmas")
def few_lemmas_judged(stage: CheckInput, threshold: float) -> Found:
    """Find an L* based on few lemmas."""
    lemmas = stage.rows("lemmas")
    if lemmas < threshold:
        yield remark(
            "warning",
            f"L* is based on {count_text(lemmas, 'lemma')}",
            remedy="draw more lemmas; the table widths shows the gain in precision",
            lemmas=lemmas,
        )


@check(stages=("join.keying",), threshold=1, means="forms")
def several_keyed(stage: CheckInput, threshold: float) -> Found:
    """Find keyed forms that look like several, for example a / b."""
    forms = stage.outputs["gold"].filter(pl.col("form").str.contains(_SEVERAL))
    table = forms.sort("lemma", "form").collect()
    if table.height >= threshold:
        yield remark(
            "warning",
            f"{count_text(table.height, 'keyed form')} with what looks like several forms",
            such_as=[f"{form!r} of {lemma!r}" for lemma, form in table.head(3).iter_rows()],
            remedy="put a comma or a semicolon between forms, and run again",
            forms=table.height,
        )
