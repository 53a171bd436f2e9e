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
from schemas.errors import count_text

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
    "gwet_ac2": "Gwet's AC2",
}
"""The names of the coefficients, in the order of display."""


def with_labels(agreement: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with group, label and kind, in the order of display.

    The labels come first, then the categories; all annotators come before pairs.

    Parameters
    ----------
    agreement : DataFrame
        `schemas.Agreement`.
    """
    place = {name: index for index, name in enumerate(COEFFICIENTS)}
    title = pl.col("coefficient").replace(COEFFICIENTS)
    both = pl.concat_str(
        title, pl.lit(" ("), "annotator_1", pl.lit(", "), "annotator_2", pl.lit(")")
    )
    every = pl.col("annotator_1") == EVERY
    whole = pl.col("category") == EVERY
    return agreement.with_columns(
        group=pl.when(whole).then(pl.lit("labels")).otherwise("category"),
        label=pl.when(every).then(title).otherwise(both),
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
        Column("group", "level"),
        Column("label", "coefficient"),
        Column("items"),
        Column("estimate", text=three),
        *methods,
    )
    caption = (
        "Coefficients of agreement with confidence limits; items: candidates judged by two or more "
        "annotators. With perfect agreement, the interval of kappa has no width: use that of the "
        "observed agreement instead. AC1 counts all labels offered, used or not."
    )
    if ordered["undefined"].sum():
        caption += " Bootstrap samples in which a coefficient is undefined are excluded."
    return listing("agreement", caption, agreement, columns, by=["group", "label"], source=ordered)


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
        id, l1, l2: the names of the candidates.
    most : int
        The number of candidates to show.
    """
    ordered = disagreements.sort("id", "annotator", "label")
    different = ordered.group_by("id").agg(pl.col("label").n_unique().alias("different"))
    candidates = (
        _candidate_names(ordered, names)
        .join(different, on="id")
        .sort("different", "name", "id", descending=[True, False, False])
    )
    labels = ordered.group_by("id", "annotator").agg(pl.col("label").sort().str.join(" / "))
    rows = candidates.head(most).join(labels, on="id", maintain_order="left")
    columns = [
        Column("name", "candidate"),
        *(Column("label", who, at=("annotator", who)) for who in sorted(set(ordered["annotator"]))),
    ]
    some = f"The first {most:,} of " if most < candidates.height else ""
    many = count_text(candidates.height, "candidate")
    caption = f"{some}{many} with different labels, for discussion."
    return listing("disagreements", caption, ordered, columns, by=["id"], source=rows)


def _candidate_names(ordered: pl.DataFrame, names: pl.DataFrame | None) -> pl.DataFrame:
    ids = ordered.select(pl.col("id").unique().sort())
    if names is None:
        return ids.with_columns(name="id")
    both = pl.concat_str("l1", "l2", separator=" ")
    table = ids.join(names.unique("id"), on="id", how="left")
    return table.select("id", name=pl.coalesce(both, "id"))


MOST_PAIRS = 3
"""With more pairs of annotators, the figure only shows all annotators together."""


class AgreementView(StyleOptions):
    """Options of the section on agreement between annotators."""

    k: int = 50
    """Show this many candidates with different labels."""
    candidates: str | None = None
    """Take the names of candidates from this stage or table with id, l1 and l2."""


@view("evaluate.agreement", options=AgreementView, title="Agreement between annotators", place=40)
def show_agreement(stage: StageView, options: AgreementView) -> Sequence[Block]:
    """Show coefficients as a figure and a table, and the candidates with different labels."""
    agreement = stage.table("agreement").collect()
    if agreement["estimate"].drop_nulls().is_empty():
        return [
            Text("No candidate has labels from two annotators, so agreement cannot be computed.")
        ]
    return [
        _agreement_figure(agreement, options),
        agreement_listing(agreement),
        *_discuss(stage, options),
    ]


def _agreement_figure(agreement: pl.DataFrame, options: AgreementView) -> Figure:
    every = pl.col("annotator_1") == EVERY
    pairs = agreement.filter(~every).select("annotator_1", "annotator_2").n_unique()
    # For two annotators, the figure has Cohen's kappa, which does not exist for more.
    kappa = (pl.col("coefficient") == "cohen_kappa") & (pairs <= MOST_PAIRS)
    drawn = agreement.filter(every | kappa)
    frame = with_labels(drawn).select("group", "label", "kind", "estimate", "lower", "upper")
    caption = (
        "Agreement between annotators, over all labels and for each category, with confidence "
        "limits. 1 is perfect agreement; for kappa and alpha, 0 is chance agreement. Cross: "
        "undefined, for example because all labels are equal."
    )
    if pairs:
        caption += " The table has more coefficients for pairs of annotators."
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
    """Show the number of labels by annotator, and the notes."""
    counts = stage.table("annotations").group_by("annotator").len().sort("annotator").collect()
    people = ", ".join(f"{name} {count:,}" for name, count in counts.iter_rows())
    labels = f"Labels by annotator: {people}." if people else "There are no labels yet."
    return [Text(labels), *notes_listing(stage, "l1", "l2", "label")]


# Machine judges: tables


def _coefficient(value: float | None, lower: float | None, upper: float | None) -> str:
    """Return a coefficient with its limits."""
    return f"{format_decimals(value, digits=2)} {limits(lower, upper, digits=2)}".rstrip()


def _format_saving(value: float | None) -> str:
    """Return a share in per cent; a share that rounds to 0 has no sign."""
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
    Column("false_positives", "not TP, predicted"),
    Column("true_negatives", "not TP, not predicted"),
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
    Column("labels_saved", "labels saved (%)", _format_saving),
)


def confusion_listing(scope: Scope, confusion: pl.DataFrame) -> Listing:
    """Return a row for each judge: the cells, and the shares computed from them."""
    threshold = confusion["threshold"][0]
    caption = (
        f"Predictions compared with the annotators' labels{scope.text}; a candidate is predicted "
        f"positive if its prediction is at least {threshold:g}. The four cells count judged draws; "
        "shares are weighted by inclusion probabilities where these are known."
    )
    return listing(scope.file("confusion"), caption, confusion, _CONFUSION)


def nearness_listing(scope: Scope, judges: pl.DataFrame) -> Listing:
    """Return a row for each judge: agreement, calibration, correlation."""
    caption = (
        f"Agreement of each judge with the annotators{scope.text}. rho²: the share of the variance "
        "of judgements that the predictions explain. The Brier score and the calibration error are "
        "0 for a judge that is always right and certain."
    )
    return listing(scope.file("judges"), caption, judges, _NEARNESS)


def savings_listing(scope: Scope, savings: pl.DataFrame) -> Listing:
    """Return a row for each judge, measure and list size: the labels saved."""
    caption = (
        f"Labels that each judge saves when the precision of a list is estimated{scope.text}: with "
        "predictions, a sample smaller by this percentage gives equally precise estimates. "
        f"{NULL_TEXT}: fewer than 30 judged draws, or equal judgements only."
    )
    columns = (_WHO, Column("measure", text=measure_title), *_SAVED)
    return listing(scope.file("savings"), caption, savings, columns)


def pair_savings_listing(scope: Scope, savings: pl.DataFrame) -> Listing:
    """Return a row for each judge, pair and list size: the labels saved."""
    caption = (
        f"Labels that each judge saves when the difference of two lists is estimated{scope.text}. "
        "Only judged draws in one of the two lists count, at least 30 of each."
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
    caption = "Information on the judges in their files, with the number of rows."
    columns = (
        _WHO,
        Column("column", "property"),
        Column("value"),
        Column("rows"),
    )
    return listing("provenance", caption, provenance, columns)


# Machine judges: the view

PEOPLE_DECIDE = (
    "Predictions are compared with the annotators' labels, which alone define true positives. "
    "Predictions can narrow intervals; those of a bad judge get hardly any weight."
)

_TELL = ("join.machine", "sheet.simulated_machine")
"""Stages with a table of provenance."""


class MachineView(StyleOptions):
    """Options of the section on machine judges."""

    category: str | None = None
    """Show one category of true positives; by default all."""


@view("evaluate.machine", options=MachineView, title="Machine judges", of=of_sample, place=45)
def show_machine(stage: StageView, options: MachineView) -> Sequence[Block]:
    """Show the reliability of predictions, the confusion table, and the labels saved."""
    judged = stage.table("judges").filter(pl.col("n_judged") > 0)
    selection = scopes_in(stage, judged, options.category)
    if not selection:
        return [Text("No candidate has both a prediction and a judgement.")]
    blocks = [block for scope in selection for block in _category(scope, options)]
    return [Text(PEOPLE_DECIDE), *blocks, *_provenance(stage)]


def _category(scope: Scope, options: MachineView) -> Iterator[Block]:
    yield _reliability_figure(scope, options)
    yield confusion_listing(scope, scope.query("confusion").collect())
    yield nearness_listing(scope, scope.query("judges").collect())
    for table, make in (("savings", savings_listing), ("pair_savings", pair_savings_listing)):
        rows = scope.query(table).collect()
        if rows.height:
            yield make(scope, rows)


def _provenance(stage: StageView) -> Iterator[Block]:
    """Yield the provenance of the judges in a fold."""
    machines = stage.source_stage("predictions")
    if machines is None or machines.use not in _TELL:
        return
    rows = machines.table("judges_provenance").collect()
    if rows.height:
        yield Fold("How the judges were run", [provenance_listing(rows)])


def _reliability_figure(scope: Scope, options: MachineView) -> Figure:
    caption = (
        f"Calibration of predictions{scope.text}: the share of true positives, with limits, "
        "against the mean prediction, for judged draws with similar predictions. On the diagonal, "
        "predictions are well calibrated; judges that give labels have two points, at 0 and 100 %."
    )
    draw = partial(charts.reliability_chart, scope.query("calibration").collect())
    return figure(scope.file("reliability"), caption, draw, options.look)
