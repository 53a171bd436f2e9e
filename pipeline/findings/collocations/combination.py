"""Findings on combinations of measures: what they find beside the best measure, delivered lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import phrases
from pipeline.findings.base import Finding, StageView, finder, make_caution
from pipeline.findings.collocations.comparison import TestOptions, pair_tests, verdict_tests
from pipeline.findings.collocations.precision import (
    categories,
    category_suffix,
    stages_on_same_lists,
)
from pipeline.kernels.measure import measure_title
from schemas.errors import count_text

COMBINING = ("score.combination", "score.apply")


def combination_of(stage: StageView) -> str | None:
    """Return the name of the combination among the rankings of a stage; None if there is none.

    Examples
    --------
    >>> made = StageView("combined", "score.combination", {"name": "combination"}, print)
    >>> combination_of(StageView("sampled", "evaluate.precision", {}, print,
    ...                inputs={"ranks": "combined.ranks"}, stages={"combined": made}))
    'combination'
    """
    source = stage.source_stage("ranks")
    return str(source.config["name"]) if source and source.use in COMBINING else None


@finder(stages=("evaluate.comparison", "evaluate.precision"), place=8)
def combination_beside_measures(stage: StageView) -> Iterator[Finding]:
    """Say at each size how many true positives the combination and the best measure find."""
    name = combination_of(stage)
    tested = stage.use == "evaluate.comparison"
    if name is None or (not tested and any(stages_on_same_lists(stage, "evaluate.comparison"))):
        return
    fit = _fit_of(stage)
    if fit is not None and fit["gain"] is not None and fit["gain"] <= 0:
        text = phrases.combination_learned_nothing(fit["gain"], fit["n_judged"])
        yield make_caution("combination", text, fit["gain"], category=fit["category"])
        return
    table, k, draws = (
        ("baseline_cuts", "k_1", "n_1") if tested else ("cuts", "k_sampled", "n_sampled")
    )
    counts = stage.table(table).select("category", "measure", "n", k=k, draws=draws)
    lists = counts.sort("category", "n", "measure").collect()
    tests = verdict_tests(stage) if tested else None
    among = categories(lists)
    judged = lists.filter(pl.col("draws") > 0).with_columns(share=pl.col("k") / pl.col("draws"))
    for (category, _), rows in judged.group_by("category", "n", maintain_order=True):
        mine = rows.filter(measure=name)
        others = rows.filter(pl.col("measure") != name).sort(
            "share", "measure", descending=[True, False]
        )
        if mine.height and others.height:
            both = mine.row(0, named=True), others.row(0, named=True)
            of = category_suffix(str(category), among)
            yield _beside(
                stage, both, None if tests is None else tests.filter(category=category), of
            )


def _fit_of(stage: StageView) -> dict[str, Any] | None:
    """Return how well the combination predicts labels; None where a model was applied."""
    source = stage.source_stage("ranks")
    if source is None or source.use != "score.combination":
        return None
    rows = source.table("fit").filter(word="", measure="").collect()
    return rows.row(0, named=True) if rows.height else None


def _beside(
    stage: StageView,
    both: tuple[dict[str, Any], dict[str, Any]],
    tests: pl.DataFrame | None,
    of: str,
) -> Finding:
    """Compare the combination with the best single measure of one size."""
    own, single = both
    n = own["n"]
    pair = None if tests is None else pair_tests(tests, n=n, of=single["measure"])
    test = pair.get(own["measure"]) if pair else None
    how = stage.options_as(TestOptions) if test else None
    exact = all(each["draws"] >= n for each in both)
    title = measure_title(single["measure"]).replace(" (", ", ").removesuffix(")")
    best = title, single["share"]
    text = phrases.combination_finds(
        own["share"], best, n, test, exact=exact,
        alpha=how.alpha if how else 0.0, margin=how.margin if how else 0.0,
    )  # fmt: skip
    return Finding(
        about="combination", text=phrases.sentence(text), question=f"combination{of}",
        category=own["category"], name=own["measure"], other=single["measure"], n=n,
        value=test.difference if test else own["share"] - single["share"],
        lower=test.lower if test else None, upper=test.upper if test else None,
        p_adjusted=test.p_adjusted if test else None,
    )  # fmt: skip


@finder(stages=("sheet.list",), place=4)
def delivered_list(stage: StageView) -> Iterator[Finding]:
    """Give the parts of a delivered list with a refit, and the precision of all of it."""
    parts = {row["part"]: row for row in stage.table("parts").collect().to_dicts()}
    if not parts:
        return
    whole, judged, rest = parts["list"], parts.get("judged"), parts.get("unjudged")
    limits = whole["lower_simultaneous"], whole["upper_simultaneous"]
    first = count_text(judged["n"], "judged true positive") if judged else ""
    text = f"delivered list: {count_text(whole['n'], 'candidate')}"
    if rest is None:
        text += f", {first}" if first else ""
    elif rest["precision"] is None:
        then = f"{count_text(rest['n'], 'unjudged candidate')} of unknown precision"
        text += f", {' and '.join(each for each in (first, then) if each)}"
    else:
        ends = rest["lower_simultaneous"], rest["upper_simultaneous"]
        then = (
            f"{count_text(rest['n'], 'unjudged candidate')} with "
            f"{phrases.estimate(rest['precision'], *ends)}"
        )
        text += (
            f", {phrases.estimate(whole['precision'], *limits, of=phrases.TRUE_POSITIVES)}: "
            f"{', then '.join(each for each in (first, then) if each)}; the limits account for the "
            f"choice among {count_text(rest['considered'], 'list')}"
        )
    yield Finding(
        about="delivered", text=phrases.sentence(text), question="delivered list",
        category=whole["category"], n=whole["n"], value=whole["precision"], lower=limits[0],
        upper=limits[1],
    )  # fmt: skip
