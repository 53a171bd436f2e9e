"""The view of several lexicons: L* of each, their differences, where they differ most."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl
from pydantic import Field

from pipeline.findings.stage import StageOptions, StageView
from pipeline.report import charts
from pipeline.report.blocks import figure, listing, place_in
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Styled, Text, view
from pipeline.report.views.lexicon.lexicons_tables import (
    LEXICONS,
    differences_listing,
    differing_listing,
    lexicons_caption,
)


class LexiconsView(Styled):
    """What the comparison of lexicons shows."""

    k: int = 20
    """How many of the lemmas where they differ most."""
    labels: dict[str, str] = Field(default_factory=dict)
    """What to call the lexicons, by the names of their stages: { gf_quality = "GF" }."""


class Compared(StageOptions):
    """What the stage compares."""

    lexicons: tuple[str, ...]


@view("evaluate.lexicons", options=LexiconsView, title="Which lexicon is best", place=10)
def show_lexicons(stage: StageView, options: LexiconsView) -> Sequence[Block]:
    """Show L* of each, the differences, and the lemmas where they differ most."""
    asked = stage.options_as(Compared).lexicons
    chosen(tuple(options.labels), asked, where=f"views.{stage.name}.labels")
    place = place_in(asked, "lexicon")
    lexicons = _called(stage.table("lexicons").collect().sort(place), options, "lexicon")
    if not lexicons["n_lemmas"].sum():
        return [Text("The lexicons have no sampled lemma in common.")]
    pairs = stage.table("differences").collect().sort("first", "second")
    differences = _called(pairs, options, "first", "second")
    lemmas = _called(stage.table("lemmas").collect(), options, "lexicon")
    return [
        _figure("lexicons", _rows(lexicons), "L* (%)", options, zero=False),
        listing("lexicons", lexicons_caption(lemmas), lexicons, LEXICONS),
        _figure(
            "differences", _pairs(differences), "difference in L* (points)", options, zero=True
        ),
        differences_listing(differences),
        differing_listing(lemmas, lexicons["lexicon"].to_list(), most=options.k),
    ]


def _called(frame: pl.DataFrame, options: LexiconsView, *columns: str) -> pl.DataFrame:
    return frame.with_columns(pl.col(columns).replace(options.labels))


def _rows(lexicons: pl.DataFrame) -> pl.DataFrame:
    return lexicons.select("lower", "upper", name="lexicon", value="l_star")


def _pairs(differences: pl.DataFrame) -> pl.DataFrame:
    named = pl.concat_str("first", "second", separator=" − ").alias("name")
    return differences.select("lower", "upper", named, value="difference")


def _figure(
    name: str, frame: pl.DataFrame, title: str, options: LexiconsView, *, zero: bool
) -> Block:
    if frame["value"].drop_nulls().is_empty():
        return Text(f"There is no {title} to draw.")
    draw = partial(charts.lexicon_chart, frame, title=title, zero=zero)
    said = "Differences in L* of the lexicons" if zero else "L* of each lexicon"
    caption = f"{said}, with confidence limits unless all lemmas were evaluated."
    return figure(name, caption, draw, options.look)
