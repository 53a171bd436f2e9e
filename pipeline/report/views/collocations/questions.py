"""The view of a designed sample: its questions, and how well they will be answered."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.kernels.measure_titles import measure_title
from pipeline.report.blocks import Column, listing
from pipeline.report.view import Block, Fold, Listing, Styled, Text, view


class QuestionsView(Styled):
    """What is shown of a designed sample."""

    most: int = 30
    """So many questions are shown before the others are folded away."""


@view("sample.design", options=QuestionsView, title="The sample and its questions", place=30)
def show_questions(stage: StageView, options: QuestionsView) -> Sequence[Block]:
    """Show how many were drawn, and each question with its expected half-widths."""
    questions = stage.table("questions").collect().sort("kind", "n", "measure", "measure_2")
    sample = stage.table("sample").select(drawn=pl.len(), certain=pl.col("certain").sum())
    drawn, certain = sample.collect().row(0)
    if questions.is_empty():
        return [Text("Nothing is ranked, so there is nothing to ask.")]
    blocks: list[Block] = [
        Text(_said(questions, drawn, certain)),
        _listing(questions.head(options.most)),
    ]
    rest = questions.slice(options.most)
    if rest.height:
        blocks.append(Fold(f"{rest.height:,} further questions", [_listing(rest, "further-")]))
    return blocks


def _said(questions: pl.DataFrame, drawn: int, certain: int) -> str:
    better = questions.filter(pl.col("half_width") > 0)
    gain = better.select(
        (pl.col("simple_half_width") / pl.col("half_width")).pow(2).median()
    ).item()  # fmt: skip
    told = "" if gain is None else (
        f" For half of the questions the variance is expected to be smaller than from a simple "
        f"sample of that size by a factor of {gain:.1f} or more."
    )  # fmt: skip
    sure = f", {certain:,} of them for certain" if certain else ""
    return (
        f"{drawn:,} candidates were drawn{sure}, with chances that are higher where a label "
        f"answers more of {questions.height:,} declared questions.{told} Half-widths are expected "
        "ones, from what was known before anybody judged."
    )


def _listing(questions: pl.DataFrame, prefix: str = "") -> Listing:
    caption = (
        "The declared questions: half-width of the interval that is expected from this design and "
        "from a simple sample of as many labels, in percentage points; draws expected among the "
        "candidates that the question is about."
    )
    return listing(f"{prefix}questions", caption, questions, QUESTIONS)


def _asked(kind: str, measure: str | None, measure_2: str | None) -> str:
    if measure is None:
        return "baseline"
    first = measure_title(measure)
    return f"{first} − {measure_title(measure_2)}" if kind == "difference" and measure_2 else first


def _draws(expected: float) -> str:
    return f"{expected:,.0f}"


def _half(width: float) -> str:
    return f"{100 * width:.1f}"


QUESTIONS = (
    Column(("kind", "measure", "measure_2"), "question", _asked, right=False),
    Column("n"),
    Column("expected_draws", "draws", _draws),
    Column("half_width", "designed ±", _half),
    Column("simple_half_width", "simple ±", _half),
)
"""A question and how well it is expected to be answered."""
