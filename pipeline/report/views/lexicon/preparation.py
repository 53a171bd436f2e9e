"""The views of how a lexicon was read or generated, and of what was keyed in."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report.view import Block, Listing, Text, ViewOptions, view
from pipeline.report.views.naming import named
from pipeline.report.views.notes import noted


@view("extract.lexicon", title="Lexicon", of=named, place=62)
def show_preparation(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show what was read, what each step of the spelling changed, and what is there."""
    return [_preparation(stage, "How the file was read: rows")]


@view("extract.paradigms", title="Lexicon from paradigms", of=named, place=62)
def show_generated(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show what was generated, and what each step of the spelling changed."""
    return [_preparation(stage, "How the forms were generated")]


def _preparation(stage: StageView, said: str) -> Listing:
    frame = stage.table("preparation").collect().sort("number")
    caption = f"{said}, texts that each step changed with an example, result."
    return Listing(
        "preparation", caption, frame.select("step", "n", pl.col("such_as").alias("such as"))
    )


@view("join.keying", title="Forms from printed dictionaries", place=60)
def show_keyed(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show how many of the lemmas the dictionary has."""
    keyed = stage.table("keyed").collect()
    there, forms = int(keyed["found"].sum()), int(keyed["n_forms"].sum())
    share = f" ({100 * there / keyed.height:.1f} %)" if keyed.height else ""
    return [
        Text(
            f"{keyed.height:,} lemmas were looked up; the dictionary has {there:,}{share}, with "
            f"{forms:,} forms."
        ),
        _preparation(stage, "What was keyed in"),
        *noted(stage, "lemma", "forms"),
    ]
