"""The views of several lexicons, of how a lexicon was read, and of what was keyed in."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from pydantic import Field

from pipeline.report import charts
from pipeline.report.charts import Look, Style
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Figure, Listing, StageView, Text, ViewOptions, view
from pipeline.report.views.lexicon.lexicon_tables import differences_listing, differing_listing


class LexiconsView(ViewOptions):
    """What the comparison of lexicons shows."""

    k: int = 20
    """How many of the lemmas where they differ most."""
    labels: dict[str, str] = Field(default_factory=dict)
    """What to call the lexicons, by the names of their stages: { gf_quality = "GF" }."""
    style: Style = "screen"
    """``screen`` in colours, ``print`` in black and white."""


@view("evaluate.lexicons", options=LexiconsView)
def show_lexicons(stage: StageView, options: LexiconsView) -> Sequence[Block]:
    """Show L* of each, the differences, and the lemmas where they differ most."""
    asked = [str(name) for name in stage.config.get("lexicons", ())]
    chosen(tuple(options.labels), asked, where=f"views.{stage.name}.labels")
    place = pl.col("lexicon").replace_strict({name: i for i, name in enumerate(asked)})
    lexicons = _called(stage.table("lexicons").collect().sort(place), options, "lexicon")
    if not lexicons["n_lemmas"].sum():
        return [Text("The lexicons have no sampled lemma in common.")]
    found = stage.table("differences").collect().sort("first", "second")
    differences = _called(found, options, "first", "second")
    lemmas = _called(stage.table("lemmas").collect(), options, "lexicon")
    return [
        _figure("lexicons", _rows(lexicons), "L* (%)", options, zero=False),
        Listing("lexicons", "Means over the sampled lemmas, and L* with its limits.", lexicons),
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
    chart = charts.lexicon_chart(frame, title=title, zero=zero, look=Look(style=options.style))
    said = "Differences in L* of the lexicons" if zero else "L* of each lexicon"
    return Figure(name, f"{said}, with confidence limits unless all lemmas were evaluated.", chart)


@view("extract.lexicon")
def show_preparation(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show what was read, what each step of the spelling changed, and what is there."""
    return [_preparation(stage, "How the file was read: rows")]


@view("extract.paradigms")
def show_generated(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show what was generated, and what each step of the spelling changed."""
    return [_preparation(stage, "How the forms were generated")]


def _preparation(stage: StageView, said: str) -> Listing:
    frame = stage.table("preparation").collect().sort("number")
    caption = f"{said}, texts that each step changed with an example, result."
    return Listing("preparation", caption, frame.select("step", "n", "such_as"))


@view("join.keying")
def show_keyed(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show how many of the lemmas the dictionary has."""
    keyed = stage.table("keyed").collect()
    found, forms = int(keyed["found"].sum()), int(keyed["n_forms"].sum())
    share = f" ({100 * found / keyed.height:.1f} %)" if keyed.height else ""
    return [
        Text(
            f"{keyed.height:,} lemmas were looked up; the dictionary has {found:,}{share}, with "
            f"{forms:,} forms."
        ),
        _preparation(stage, "What was keyed in"),
    ]
