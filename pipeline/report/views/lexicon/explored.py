"""The table of all lemmas of a lexicon's evaluation: counts of forms, scores, the forms."""

from __future__ import annotations

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report.explorer.block import Attribute, Details, Explorer
from pipeline.report.fitting import rows_that_fit
from pipeline.report.views.lexicon.lexicon_tables import costliest

PAGE_BYTES, DETAIL_BYTES = 900_000, 500_000
"""A lexicon has millions of forms, and a report several lexicons."""
MOST_WITH_FORMS = 20_000
"""Of more lemmas the page lists no missing and spurious forms, but as many more lemmas."""
_FORMS = {"missing", "spurious"}
COLUMNS = (
    Attribute("lemma", "lemma", "text"),
    Attribute("match", "match", "text", shown=False),
    Attribute("n_gold", "gold forms", "count"),
    Attribute("n_match", "match's forms", "count", shown=False),
    Attribute("n_common", "common", "count"),
    Attribute("n_missing", "missing", "count"),
    Attribute("n_spurious", "spurious", "count"),
    Attribute("precision", "P (%)", "share"),
    Attribute("recall", "R (%)", "share"),
    Attribute("L", "L (%)", "share"),
    Attribute("cost", "cost", "number"),
    Attribute("another", "another lemma", "flag", shown=False),
    Attribute("same_l", "L of the same lemma (%)", "share", shown=False),
    Attribute("missing", "missing forms", "text", shown=False),
    Attribute("spurious", "spurious forms", "text", shown=False),
)


def lemma_explorer(stage: StageView, scores: pl.DataFrame, *, most_rows: int) -> Explorer:
    """Return a table of all lemmas that count, those that cost the lexicon most first.

    Parameters
    ----------
    stage : StageView
        The stage, "evaluate.lexicon".
    scores : DataFrame
        Its lemmas, `schemas.LemmaScores`.
    most_rows : int
        How many lemmas the page holds at most.
    """
    frame = costliest(scores).with_columns(
        cost=pl.col("size") * (1.0 - pl.col("L")), another=pl.col("match") != pl.col("lemma")
    )
    whole, fit = frame.height, rows_that_fit(len(COLUMNS))
    if fit is not None and whole > fit:
        frame = frame.head(min(most_rows, fit))
    many = frame.height > MOST_WITH_FORMS
    columns = tuple(each for each in COLUMNS if not (many and each.name in _FORMS))
    caption = (
        "All lemmas that count, to search, sort and filter. Cost: size times 1 − L, what the "
        "lexicon loses by the lemma. Match: the lemma of the lexicon whose forms agree best; "
        "another lemma: whether it is called otherwise. Open a row to see its forms."
    )
    return Explorer(
        "all-lemmas",
        caption,
        ("lemma", "lemmas"),
        frame.select(each.name for each in COLUMNS),
        columns,
        key="lemma",
        order="cost",
        falling=True,
        matters="that cost most",
        details=(_forms(stage, frame),),
        whole=whole,
        most_rows=most_rows,
        page_bytes=PAGE_BYTES,
        detail_bytes=DETAIL_BYTES,
    )


def _forms(stage: StageView, frame: pl.DataFrame) -> Details:
    """Return the forms of each lemma and of its match: common, missing, spurious ones."""
    gold, lexicon = pl.col("gold"), pl.col("lexicon")
    forms = (
        stage.table("forms")
        .join(frame.lazy().select("lemma"), on="lemma", how="semi")
        .sort("lemma", ~gold, ~lexicon, "form")
        .select(
            "lemma",
            gold=pl.when(gold).then(pl.col("form")),
            lexicon=pl.when(lexicon).then(pl.col("form")),
        )
        .collect()
    )
    columns = (Attribute("gold", "gold", "label"), Attribute("lexicon", "match", "label"))
    return Details("forms", "Forms", forms, columns)
