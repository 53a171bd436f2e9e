"""``size`` for declared questions: labels under each way to draw them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import typer

from pipeline.api.run import show as open_results
from pipeline.cli import output
from pipeline.cli.options import settings_of
from pipeline.cli.questions import colons, names, numbers, one, whole_numbers
from pipeline.sizing.checks import Track
from pipeline.sizing.design_goals import Goal, looks_at
from pipeline.sizing.design_plan import Assumed, planned, prepared
from pipeline.sizing.design_questions import Wanted
from pipeline.sizing.design_words import hardest, sentence, wide
from pipeline.sizing.designs import Planner

_READ = """\
labels: draws that have to be judged, of a whole sample, for limits or a test of each question by
itself. stratified: strata by the cuts; designed: sample.design; with predictions: the same, with
assist = "scores" or a judge in evaluate.designed. docs/planning.md says how to choose."""
_UNREACHED = "no number: even all candidates would not do, as the lists have too much in common."


def prepare(options: Mapping[str, Any], runs: Path, data: Path | None) -> Planner:
    """Return the plans that the options ask for."""
    run = open_results(
        options["config"], runs=runs, data=data, settings=settings_of(options["set"])
    )
    wanted = Wanted(
        options["design"],
        tuple(names(options["measures"])),
        tuple(whole_numbers("--cuts", options["n"] or "")),
        tuple(colons("--pairs", options["pairs"] or "")),
    )
    half_width, power, difference = (
        one(f"--{name.replace('_', '-')}", options[name])
        for name in ("half_width", "power", "difference")
    )
    goal = Goal(
        half_width, power, difference, options["confidence"] or 0.95, options["alpha"] or 0.05
    )
    assumed = Assumed(one("--precision", options["precision"]), one("--rho2", options["rho2"]))
    return prepared(
        run, wanted, goal, assumed, questions=names(options["questions"]),
        pilot=options["pilot"], category=options["category"],
    )  # fmt: skip


def tabulate(given: Planner, options: Mapping[str, Any], track: Track) -> pl.DataFrame:
    """Return the table of the plans."""
    looks = numbers("--looks", options["looks"] or "4")
    return planned(given, looks_at(looks, options["spending"] or "obrien_fleming"), track=track)


def print_design(table: pl.DataFrame, given: Planner, *, pilot: str | None) -> None:
    """Print the labels by question and plan, the sentence, and how to read them."""
    shown = wide(table)
    output.print_table(shown, rows=shown.height, title=_title(given))
    said = sentence(table, power=given.target.power is not None)
    for text in (said, hardest(table), _assumed(given, pilot)):
        print(textwrap.fill(text, output.READABLE))
    print(_READ)
    if table["labels"].null_count():
        print(_UNREACHED)


def _title(given: Planner) -> str:
    level = 100 * (1 - given.target.alpha)
    goal = f"±{100 * given.wanted:g} points at {level:g} %"
    if given.target.power is not None:
        goal = f"a power of {100 * given.wanted:g} % at {100 * given.target.alpha:g} %"
    return f"labels for {goal}, {given.candidates:,} candidates"


def _assumed(given: Planner, pilot: str | None) -> str:
    precision = f"precisions of {pilot}" if pilot else f"a precision of {100 * given.shown[-1]:g} %"
    explained = 100 * float(np.median(given.known.rho2))
    return f"expected: {precision}; predictions explain {explained:.0f} % of the variance in a list"


def draw(to: Path, given: Planner, table: pl.DataFrame) -> None:
    """Draw the hardest question's half-width, or power, against labels."""
    from pipeline.report.charts.parts.options import Look
    from pipeline.report.page.chart_file import chart_bytes
    from pipeline.sizing.design_chart import design_spec

    look = Look()
    drawn, narrow = (design_spec(given, table, look=each) for each in (look, look.on_phone))
    kind = to.suffix.lower().removeprefix(".")
    content = chart_bytes(drawn, kind, title="lexassay size", narrow=narrow)
    with output.writing(to):
        to.write_bytes(content)


def serve(table: pl.DataFrame, format_: str, to: Path | None, *, overwrite: bool) -> bool:
    """Write the table where it was asked for; tell whether it was not for people."""
    if to:
        output.write(table, to, kind=format_, overwrite=overwrite)
    elif format_ != "table":
        typer.get_binary_stream("stdout").write(output.serialise(table, format_))
    return bool(to) or format_ != "table"
