"""Views of annotations: labels by annotator, their agreement, and machine judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from pipeline.findings.base import StageView
from pipeline.kernels.measure import measure_title
from pipeline.report import charts
from pipeline.report.view import (
    NULL_TEXT,
    Block,
    Column,
    Figure,
    Fold,
    Listing,
    StyleOptions,
    Text,
    ViewOptions,
    figure,
    format_decimals,
    format_estimate,
    format_percent,
    limits,
    listing,
    notes_listing,
    view,
)
from pipeline.report.views.collocations.graphs import Scope, of_sample, scopes_in

# Agreement between annotators

EVERY = "*"
COEFFICIENTS = {
    "observed": "observed agreement",
    "positive": "positive agreement",
    "negative": "negative agreement",
    "cohen_kappa": "Cohen's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "gwet_ac1": "Gwet's AC1",
}
"""How the text calls the coefficients, in the order in which they are shown."""


def with_labels(agreement: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with group, label and kind, in the order in which they are shown.

    The labels themselves come first, then the categories; all annotators before each two.

    Parameters
    ----------
    agreement : DataFrame
        `schemas.Agreement`.
    """
    place = {name: index for index, name in enumerate(COEFFICIENTS)}
    said = pl.col("coefficient").replace(COEFFICIENTS)
    both = pl.concat_str(
        said, pl.lit(" ("), "annotator_1", pl.lit(", "), "annotator_2", pl.lit(")")
    )
    every = pl.col("annotator_1") == EVERY
    whole = pl.col("category") == EVERY
    return agreement.with_columns(
        group=pl.when(whole).then(pl.lit("labels")).otherwise("category"),
        label=pl.when(every).then(said).otherwise(both),
        kind=pl.col("method"),
    ).sort(
        ~whole, "category", ~every, "annotator_1", "annotator_2",
        pl.col("coefficient").replace_strict(place, default=len(place)), "coefficient", "method",
    )  # fmt: skip


def agreement_listing(agreement: pl.DataFrame) -> Listing:
    """Return a row per coefficient, with its limits by each method.

    Parameters
    ----------
    agreement : DataFrame
        `schemas.Agreement`.
    """
    ordered = with_labels(agreement)
    three = partial(format_decimals, digits=3)
    limits_of = partial(limits, digits=3, absent=NULL_TEXT)
    methods = [
        Column(("lower", "upper"), method, limits_of, at=("kind", method), absent=NULL_TEXT)
        for method in sorted(set(ordered["kind"]))
    ]
    columns = (
        Column("group", "of"),
        Column("label", "coefficient"),
        Column("items"),
        Column("estimate", text=three),
        *methods,
    )
    caption = (
        "Coefficients of agreement with their confidence limits; items: candidates that two or "
        "more annotators judged. At perfect agreement kappa's limits have no width: read those "
        "of the observed agreement then."
    )
    if ordered["undefined"].sum():
        caption += " Bootstrap samples in which a coefficient has no value are left out."
    return listing("agreement", caption, agreement, columns, by=["group", "label"], shown=ordered)


def disagreement_listing(
    disagreements: pl.DataFrame, names: pl.DataFrame | None, *, most: int
) -> Listing:
    """Return a row per candidate with different labels and a column per annotator.

    Those with the most different labels come first.

    Parameters
    ----------
    disagreements : DataFrame
        `schemas.Disagreements`.
    names : DataFrame or None
        id, l1, l2: what the candidates are called.
    most : int
        How many are shown.
    """
    ordered = disagreements.sort("id", "annotator", "label")
    different = ordered.group_by("id").agg(pl.col("label").n_unique().alias("different"))
    candidates = (
        _candidate_names(ordered, names)
        .join(different, on="id")
        .sort("different", "name", "id", descending=[True, False, False])
    )
    labels = ordered.group_by("id", "annotator").agg(pl.col("label").sort().str.join(" / "))
    shown = candidates.head(most).join(labels, on="id", maintain_order="left")
    columns = [
        Column("name", "candidate"),
        *(Column("label", who, at=("annotator", who)) for who in sorted(set(ordered["annotator"]))),
    ]
    some = f"The first {most:,} of " if most < candidates.height else ""
    caption = f"{some}{candidates.height:,} candidates with different labels, for discussion."
    return listing("disagreements", caption, ordered, columns, by=["id"], shown=shown)


def _candidate_names(ordered: pl.DataFrame, names: pl.DataFrame | None) -> pl.DataFrame:
    ids = ordered.select(pl.col("id").unique().sort())
    if names is None:
        return ids.with_columns(name="id")
    both = pl.concat_str("l1", "l2", separator=" ")
    named = ids.join(names.unique("id"), on="id", how="left")
    return named.select("id", name=pl.coalesce(both, "id"))


MOST_PAIRS = 3
"""With more pairs of annotators than these, the figure shows all annotators together only."""


class AgreementView(StyleOptions):
    """What is shown of the agreement between annotators."""

    k: int = 50
    """How many of the candidates with different labels the page shows."""
    candidates: str | None = None
    """A stage or table with id, l1 and l2, for the names of those candidates."""


@view("evaluate.agreement", options=AgreementView, title="Agreement of the annotators", place=40)
def show_agreement(stage: StageView, options: AgreementView) -> Sequence[Block]:
    """Show coefficients as a figure and a table, and the candidates with different labels."""
    agreement = stage.table("agreement").collect()
    if agreement["estimate"].drop_nulls().is_empty():
        return [Text("No candidate has labels of two annotators, so there is no agreement.")]
    return [
        _agreement_figure(agreement, options),
        agreement_listing(agreement),
        *_discuss(stage, options),
    ]


def _agreement_figure(agreement: pl.DataFrame, options: AgreementView) -> Figure:
    every = pl.col("annotator_1") == EVERY
    pairs = agreement.filter(~every).select("annotator_1", "annotator_2").n_unique()
    # Of two annotators the figure has what it does not have of all: Cohen's kappa.
    kappa = (pl.col("coefficient") == "cohen_kappa") & (pairs <= MOST_PAIRS)
    drawn = agreement.filter(every | kappa)
    frame = with_labels(drawn).select("group", "label", "kind", "estimate", "lower", "upper")
    caption = (
        "Agreement between annotators, over the labels as they are and for each category, with "
        "confidence limits. 1 is perfect agreement; for kappa and alpha 0 is what chance gives. "
        "A cross: not defined, e.g. where all labels are the same."
    )
    if pairs:
        caption += " The table has more of each two annotators."
    draw = partial(charts.whisker_chart, frame, x_title="agreement")
    return figure("agreement", caption, draw, options.look)


def _discuss(stage: StageView, options: AgreementView) -> Iterator[Block]:
    disagreements = stage.table("disagreements").collect()
    if disagreements.is_empty():
        yield Text("No candidate has different labels.")
        return
    names = None
    if options.candidates is not None:
        names = stage.table(options.candidates).select("id", "l1", "l2").collect()
    yield disagreement_listing(disagreements, names, most=options.k)


# Labels on sheets


@view("join.sheets", title="Annotations", place=60)
def show_joined(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show how many labels everybody gave, and the notes."""
    counts = stage.table("annotations").group_by("annotator").len().sort("annotator").collect()
    people = ", ".join(f"{name} {given:,}" for name, given in counts.iter_rows())
    labels = f"Labels by annotator: {people}." if people else "There are no labels yet."
    return [Text(labels), *notes_listing(stage, "l1", "l2", "label")]


# Machine judges: tables


def _coefficient(value: float | None, lower: float | None, upper: float | None) -> str:
    """Return a coefficient with its limits."""
    return f"{format_decimals(value, digits=2)} {limits(lower, upper, digits=2)}".rstrip()


def _saved(value: float | None) -> str:
    """Return a share in per cent; one that rounds to 0 has no sign."""
    return format_percent(None if value is None else round(value, 3) + 0.0, digits=1)


def _with_limits(name: str, head: str, *, proportion: bool) -> Column:
    columns = (name, f"{name}_lower", f"{name}_upper")
    return Column(columns, head, format_estimate if proportion else _coefficient, right=False)


_WHO = Column("judge")
_CONFUSION = (
    _WHO,
    Column("n_judged", "judged"),
    Column("true_positives", "TP, predicted"),
    Column("false_negatives", "TP, not predicted"),
    Column("false_positives", "no TP, predicted"),
    Column("true_negatives", "no TP, not predicted"),
    _with_limits("sensitivity", "sensitivity (%)", proportion=True),
    _with_limits("specificity", "specificity (%)", proportion=True),
    _with_limits("ppv", "positive predictive value (%)", proportion=True),
    _with_limits("npv", "negative predictive value (%)", proportion=True),
)
_NEARNESS = (
    _WHO,
    Column("n_predicted", "predicted"),
    Column("n_judged", "judged"),
    _with_limits("kappa", "Cohen's kappa", proportion=False),
    _with_limits("ac1", "Gwet's AC1", proportion=False),
    _with_limits("rho2", "rho²", proportion=False),
    Column("brier", "Brier score", partial(format_decimals, digits=3)),
    Column("calibration_error", "calibration error (%)", partial(format_percent, digits=1)),
)
_SAVED = (
    Column("n"),
    Column("n_judged", "judged"),
    _with_limits("rho2", "rho²", proportion=False),
    Column("labels_saved", "labels saved (%)", _saved),
)


def confusion_listing(scope: Scope, confusion: pl.DataFrame) -> Listing:
    """Return a row for each judge: the cells, and the shares made of them."""
    threshold = confusion["threshold"][0]
    caption = (
        f"People's labels against the machines'{scope.said}: predicted is what has a prediction of "
        f"{threshold:g} or more. The four cells count judged draws; shares weigh them by their "
        "chances to be drawn, where these are known."
    )
    return listing(scope.file("confusion"), caption, confusion, _CONFUSION)


def nearness_listing(scope: Scope, judges: pl.DataFrame) -> Listing:
    """Return a row for each judge: agreement, calibration, correlation."""
    caption = (
        f"How near each machine comes to people{scope.said}. rho²: the part of the judgements' "
        "variance that the predictions explain. The Brier score and the calibration error are 0 "
        "for a machine that is always right and sure of it."
    )
    return listing(scope.file("judges"), caption, judges, _NEARNESS)


def savings_listing(scope: Scope, savings: pl.DataFrame) -> Listing:
    """Return a row for each judge, measure and list size: what it saves."""
    caption = (
        f"Labels that each machine saves in the estimate of a list's precision{scope.said}: a "
        "sample smaller by so many per cent is as exact, if the predictions are used. "
        f"{NULL_TEXT}: fewer than 30 judged draws, or all judged alike."
    )
    columns = (_WHO, Column("measure", text=measure_title), *_SAVED)
    return listing(scope.file("savings"), caption, savings, columns)


def pair_savings_listing(scope: Scope, savings: pl.DataFrame) -> Listing:
    """Return a row for each judge, pair and list size: what it saves."""
    caption = (
        f"The same for the differences of two lists{scope.said}; judged draws are those that only "
        "one of the two lists holds, 30 of each or more."
    )
    columns = (
        _WHO,
        Column("measure_1", "first", measure_title),
        Column("measure_2", "second", measure_title),
        *_SAVED,
    )
    return listing(scope.file("pair-savings"), caption, savings, columns)


def provenance_listing(provenance: pl.DataFrame) -> Listing:
    """Return a row for each property of a judge.

    Parameters
    ----------
    provenance : DataFrame
        `schemas.JudgesProvenance`.
    """
    caption = "What the files tell of the machines, and in how many rows."
    columns = (
        _WHO,
        Column("column", "what"),
        Column("value", "as the file has it"),
        Column("rows"),
    )
    return listing("provenance", caption, provenance, columns)


# Machine judges: the view

PEOPLE_DECIDE = (
    "Machines are held against people's labels, which alone decide what is estimated. Predictions "
    "can make intervals shorter; those of a bad machine get no weight."
)

_TELL = ("join.machine", "sheet.simulated_machine")
"""Stages with a table of provenance."""


class MachineView(StyleOptions):
    """What is shown of machine judges."""

    category: str | None = None
    """One category of true positives; each by default."""


@view("evaluate.machine", options=MachineView, title="Machine judgements", of=of_sample, place=45)
def show_machine(stage: StageView, options: MachineView) -> Sequence[Block]:
    """Show how reliable predictions are, the table of confusion, and what is saved."""
    judged = stage.table("judges").filter(pl.col("n_judged") > 0)
    shown = scopes_in(stage, judged, options.category)
    if not shown:
        return [Text("No candidate has both a prediction and a judgement.")]
    blocks = [block for scope in shown for block in _category(scope, options)]
    return [Text(PEOPLE_DECIDE), *blocks, *_provenance(stage)]


def _category(scope: Scope, options: MachineView) -> Iterator[Block]:
    yield _reliability_figure(scope, options)
    yield confusion_listing(scope, scope.query("confusion").collect())
    yield nearness_listing(scope, scope.query("judges").collect())
    for table, made in (("savings", savings_listing), ("pair_savings", pair_savings_listing)):
        rows = scope.query(table).collect()
        if rows.height:
            yield made(scope, rows)


def _provenance(stage: StageView) -> Iterator[Block]:
    """Yield the provenance of the machines, folded away."""
    machines = stage.source_stage("predictions")
    if machines is None or machines.use not in _TELL:
        return
    rows = machines.table("judges_provenance").collect()
    if rows.height:
        yield Fold("How the machines were asked", [provenance_listing(rows)])


def _reliability_figure(scope: Scope, options: MachineView) -> Figure:
    caption = (
        f"How often predictions come true{scope.said}: the share of true positives, with its "
        "limits, against the mean prediction of judged draws with about the same one. On the "
        "diagonal probabilities are what they say; labels have two points, at 0 and at 100 %."
    )
    draw = partial(charts.reliability_chart, scope.query("calibration").collect())
    return figure(scope.file("reliability"), caption, draw, options.look)
