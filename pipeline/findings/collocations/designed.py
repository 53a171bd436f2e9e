"""Findings on designed samples, agreement between annotators, and machine judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from pipeline.findings import phrases
from pipeline.findings.base import Finding, StageOptions, StageView, finder
from pipeline.findings.collocations.comparison import (
    surely_worse,
    text_of_others,
    worse_findings,
)
from pipeline.findings.collocations.precision import (
    baseline_finding,
    categories,
    category_suffix,
    n_candidates,
    row_of,
)
from pipeline.findings.phrases import Band, name_text, of_two, over_range, slug
from pipeline.kernels.measure import measure_title
from schemas.errors import count_text

# Agreement of annotators.

EVERY = "*"
"""All annotators together, and labels that are not grouped into categories."""
COEFFICIENTS = {
    "cohen_kappa": "Cohen's kappa", "krippendorff_alpha": "Krippendorff's alpha",
    "fleiss_kappa": "Fleiss' kappa",
}  # fmt: skip
"""The coefficients to report: the first of them in the table."""
TENTATIVE = 0.667
"""Krippendorff's lowest alpha for tentative conclusions (Content Analysis, 2004, p. 241)."""


@finder(stages=("evaluate.agreement",), place=40)
def agreement(stage: StageView) -> Iterator[Finding]:
    """Give the observed and the chance-corrected agreement of annotators."""
    table = stage.table("agreement").filter(category=EVERY).drop_nulls("estimate").collect()
    all_of_them = table.filter(annotator_1=EVERY)
    people = sorted({*table["annotator_1"], *table["annotator_2"]} - {EVERY})
    observed = row_of(all_of_them, coefficient="observed")
    chance = _beyond_chance(table if len(people) == 2 else all_of_them)
    if observed is None:
        return
    who = (
        f"annotators {phrases.list_text(list(map(name_text, people)))}" if people else "annotators"
    )
    yield _observed_agreement(who, observed, chance, stage)
    if chance is not None and chance["estimate"] < TENTATIVE:
        yield _low_agreement(chance)


def _beyond_chance(table: pl.DataFrame) -> dict[str, Any] | None:
    rows = (row_of(table, coefficient=name) for name in COEFFICIENTS)
    return next((row for row in rows if row is not None), None)


def _observed_agreement(
    who: str, observed: dict[str, Any], chance: dict[str, Any] | None, stage: StageView
) -> Finding:
    items = count_text(observed["items"], "candidate")
    phrase = phrases.estimate(observed["estimate"], observed["lower"], observed["upper"])
    text = f"{who} agree on {phrase} of {items} judged by more than one of them"
    if chance is not None:
        text += f" ({_coefficient(chance)})"
    return Finding(
        about="agreement", text=phrases.sentence(text), question="agreement",
        value=observed["estimate"], lower=observed["lower"], upper=observed["upper"],
        n=observed["items"], figure=stage.name,
    )  # fmt: skip


def _coefficient(row: dict[str, Any]) -> str:
    phrase = phrases.coefficient(row["estimate"], row["lower"], row["upper"])
    return f"{COEFFICIENTS[row['coefficient']]} {phrase}"


def _low_agreement(row: dict[str, Any]) -> Finding:
    text = (
        f"chance-corrected agreement is low ({_coefficient(row)}): under .667,"
        " even tentative conclusions are doubtful (Krippendorff 2004)"
    )
    return Finding(
        kind="caution", about="agreement", text=phrases.sentence(text), value=row["estimate"],
        lower=row["lower"], upper=row["upper"], n=row["items"],
    )  # fmt: skip


# Machine judges: their agreement with people, and the labels that they save.


@finder(stages=("evaluate.machine",), place=45)
def machines(stage: StageView) -> Iterator[Finding]:
    """Give the agreement of each judge with the annotators, and the labels that it saves."""
    judges = stage.table("judges").filter(pl.col("n_judged") > 0).collect()
    confusion, savings = (stage.table(name).collect() for name in ("confusion", "savings"))
    among = categories(judges)
    for row in judges.iter_rows(named=True):
        key = {"category": row["category"], "judge": row["judge"]}
        of = category_suffix(row["category"], among)
        yield _agreement_with_people(row, confusion.filter(**key).row(0, named=True), of)
        if (mine := savings.filter(**key)).height:
            yield _labels_saved(row, mine, of)


def _agreement_with_people(row: dict[str, Any], cells: dict[str, Any], of: str) -> Finding:
    shares = [
        phrases.estimate(*(cells[f"{name}{end}"] for end in ("", "_lower", "_upper")))
        + f" of {what}"
        for name, what in (
            ("sensitivity", "the true positives"),
            ("specificity", "the other candidates"),
        )
        if cells[name] is not None
    ]
    judged = count_text(row["n_judged"], "judged draw")
    agrees = f"agrees with the annotators on {' and '.join(shares)}"
    text = f"{_judge(row, of)} {agrees} ({judged}"
    if row["kappa"] is not None:
        agreed = phrases.coefficient(row["kappa"], row["kappa_lower"], row["kappa_upper"])
        text += f"; Cohen's kappa {agreed}"
    return Finding(
        about="machine", text=phrases.sentence(f"{text})"), question="machine",
        category=row["category"], name=row["judge"], value=row["kappa"],
        lower=row["kappa_lower"], upper=row["kappa_upper"], n=row["n_judged"],
        figure=_figure(row["category"], of),
    )  # fmt: skip


def _labels_saved(row: dict[str, Any], savings: pl.DataFrame, of: str) -> Finding:
    """Give the labels saved for lists with a correlation above 0, or say that there are none."""
    sure = savings.filter((pl.col("rho2_lower") > 0) & (pl.col("labels_saved") > 0))
    lists = count_text(savings.height, "list")
    name = _judge(row, of)
    if sure.is_empty():
        text = f"{name} is not shown to save labels for any of {lists}"
    else:
        each = [
            f"{phrases.per_cent(saved, digits=0)} for {measure_title(measure)} at n = {n:,}"
            for measure, n, saved in sure.select("measure", "n", "labels_saved").iter_rows()
        ]
        each[0] = each[0].replace(" for ", " of the labels for ", 1)
        text = f"{name} saves {phrases.list_text(each)}"
    return Finding(
        about="labels saved", text=phrases.sentence(text), question="machine",
        category=row["category"], name=row["judge"], n=row["n_judged"],
        value=None if sure.is_empty() else sure["labels_saved"][0],
        figure=_figure(row["category"], of),
    )  # fmt: skip


def _judge(row: dict[str, Any], of: str) -> str:
    return f'the judge "{name_text(row["judge"])}"{of}'


def _figure(category: str, of: str) -> str:
    """Return the name of the figure, with the category if there are several."""
    return f"reliability-{slug(category)}" if of else "reliability"


# Estimates from designed samples.


def equivalent_labels(lists: pl.DataFrame, *, candidates: int) -> float | None:
    """Return the size of the simple sample that is expected to be equally precise.

    In a simple sample of m = f S labels, a list of n has about f n draws and a variance of
    ``(1 - f) p (1 - p) / (f n)``; this equals V for ``f = p (1 - p) / (n V + p (1 - p))``. The
    result is the median over the lists, since V is estimated and varies.

    Parameters
    ----------
    lists : pl.DataFrame
        n, precision and variance of each list.
    candidates : int
        The number of candidates, S.

    Returns
    -------
    float or None
        In [0, S]; None where no list has a variance above 0.

    References
    ----------
    Kish, Survey Sampling (1965), section 8.2, on the design effect.

    Examples
    --------
    >>> lists = pl.DataFrame({"n": [100], "precision": [0.5], "variance": [0.0025]})
    >>> equivalent_labels(lists, candidates=1000)
    500.0
    """
    spread = pl.col("precision") * (1.0 - pl.col("precision"))
    share = spread / (pl.col("n") * pl.col("variance") + spread)
    known = lists.filter(pl.col("variance") > 0, spread > 0)
    size = known.select(share.median() * candidates).item()
    return None if size is None else float(size)


def text_of_too_few_draws(lists: pl.DataFrame, differences: pl.DataFrame) -> str | None:
    """Say which lists and differences have no estimate for lack of expected draws, and the remedy.

    Parameters
    ----------
    lists, differences : pl.DataFrame
        measure and n, or measure_1, measure_2 and n; labels_needed.

    Returns
    -------
    str or None
        None if all have enough.

    Examples
    --------
    >>> lists = pl.DataFrame({"measure": ["mi"], "n": [500], "labels_needed": [900]})
    >>> none = pl.DataFrame(schema={"labels_needed": pl.Int64})
    >>> print(text_of_too_few_draws(lists, none).split(": ")[0])
    no estimate for 1 list, e.g. MI at 500
    """
    wrong = lists.drop_nulls("labels_needed").sort("n", "measure")
    untested = differences.drop_nulls("labels_needed")
    parts = []
    if wrong.height:
        name, n = wrong.select("measure", "n").row(0)
        example = f"{measure_title(name)} at {n:,}"
        parts.append(f"no estimate for {count_text(wrong.height, 'list')}, e.g. {example}")
    if untested.height:
        one, other, n = untested.select("measure_1", "measure_2", "n").row(0)
        example = f"{measure_title(one)} and {measure_title(other)} at {n:,}"
        number = count_text(untested.height, "difference")
        parts.append(f"no test of {number}, e.g. between {example}")
    if not parts:
        return None
    counts = pl.concat([wrong["labels_needed"], untested["labels_needed"]])
    low, high = int(counts.min()), int(counts.max())  # type: ignore[arg-type]  # integers
    labels = f"{high:,}" if low == high else f"{low:,} to {high:,}"
    return (
        f"{' and '.join(parts)}: the design expects fewer than four draws in a large part of the "
        f"candidates concerned; about {labels} labels of this design would suffice, or fewer with "
        "these list sizes among its questions"
    )


class DesignOptions(StageOptions):
    """How the stage estimates and tests."""

    confidence: float
    margin: float

    @property
    def alpha(self) -> float:
        """Level of the tests."""
        return 1.0 - self.confidence


@dataclass(frozen=True)
class _Place:
    """The lists of one size and category, and their tests."""

    lists: pl.DataFrame
    tests: pl.DataFrame
    best: pl.DataFrame
    options: DesignOptions
    facts: dict[str, Any]

    def finding(self, about: str, text: str, **numbers: Any) -> Finding:
        """Return a finding about these lists."""
        return Finding(about=about, text=phrases.sentence(text), **numbers, **self.facts)


@finder(stages=("evaluate.designed",), place=10)
def designed_lists(stage: StageView) -> Iterator[Finding]:
    """Say at each cut which measures are best, not significantly worse, or worse."""
    cuts = stage.table("cuts").collect()
    tests, best = (stage.table(name).collect() for name in ("differences", "best"))
    known, options = cuts.drop_nulls("precision"), stage.options_as(DesignOptions)
    among = categories(cuts)
    for (category, n), lists in known.sort("category", "n").group_by(
        "category", "n", maintain_order=True
    ):
        mine, leading = (table.filter(category=category, n=n) for table in (tests, best))
        tested = "best" if leading.height else "highest estimate"
        question = f"{tested} for {n:,} candidates{category_suffix(str(category), among)}"
        facts = {"question": question, "category": category, "n": n, "figure": "precision"}
        yield from _findings_at(_Place(lists, mine, leading, options, facts))


def _findings_at(place: _Place) -> Iterator[Finding]:
    ordered = place.lists.sort(["precision", "measure"], descending=[True, False])
    first = ordered.row(0, named=True)
    tied = ordered.filter(precision=first["precision"])["measure"].to_list()
    limits = first["lower"], first["upper"]
    phrase = phrases.estimate(first["precision"], *limits, of=phrases.TRUE_POSITIVES)
    led = f"{phrases.tied_names([measure_title(name) for name in tied])}, {phrase}"
    about = "highest" if place.best.is_empty() else "best"
    yield place.finding(
        about, f"{place.facts['question']}: {led}", name=first["measure"], names=tuple(tied),
        value=first["precision"], lower=first["lower"], upper=first["upper"],
    )  # fmt: skip
    if place.best.is_empty():
        yield from _pairs(place)
        return
    yield from _not_separable(place, tied)
    yield from _worse(place, tied)


def _not_separable(place: _Place, leaders: Sequence[str]) -> Iterator[Finding]:
    rivals = place.best.filter(~pl.col("best")).sort("precision", "measure", descending=True)
    if rivals.is_empty():
        return
    worse = surely_worse(place.tests, leaders, n=place.facts["n"], alpha=place.options.alpha)
    text = text_of_others(rivals, worse, best=leaders, margin=place.options.margin)
    second = rivals.row(0, named=True)
    yield place.finding(
        "together", text, name=second["measure"], other=second["best_measure"],
        value=second["precision"], p_adjusted=second["p_adjusted"], names=tuple(rivals["measure"]),
    )  # fmt: skip


def _worse(place: _Place, leaders: Sequence[str]) -> Iterator[Finding]:
    yield from worse_findings(
        place.tests, leaders, set(place.best["measure"]), n=place.facts["n"],
        alpha=place.options.alpha, finding=place.finding,
    )  # fmt: skip


def _pairs(place: _Place) -> Iterator[Finding]:
    """Say for each declared pair which of the two is better."""
    known = place.tests.drop_nulls(["difference", "p_adjusted"])
    for row in known.sort(pl.col("difference").abs(), descending=True).iter_rows(named=True):
        one, other = (measure_title(row[side]) for side in ("measure_1", "measure_2"))
        ends = row["lower_family"], row["upper_family"]
        test = phrases.Difference(other, row["difference"], row["p_adjusted"], *ends)
        phrase = of_two(one, test, alpha=place.options.alpha, margin=place.options.margin)
        yield place.finding(
            "pair", phrase, name=row["measure_1"], other=row["measure_2"],
            value=row["difference"], lower=ends[0], upper=ends[1], p_adjusted=row["p_adjusted"],
        )  # fmt: skip


@finder(stages=("evaluate.designed",), place=11)
def designed_ranges(stage: StageView) -> Iterator[Finding]:
    """Say at which list sizes the simultaneous band of a difference excludes 0."""
    bands, options = stage.table("difference_bands").collect(), stage.options_as(DesignOptions)
    among = categories(bands)
    key = ("category", "measure_1", "measure_2")
    for names, rows in bands.sort(*key, "n").group_by(*key, maintain_order=True):
        category, one, other = (str(each) for each in names)
        band = Band(*(rows[name].to_list() for name in ("n", "lower_band", "upper_band")))
        titles = measure_title(one), measure_title(other)
        phrase = over_range(*titles, band, confidence=options.confidence)
        yield Finding(
            about="range", text=phrases.sentence(f"{phrase}{category_suffix(category, among)}"),
            question="differences over a range of list sizes", category=category, name=one,
            other=other, figure="difference-bands",
        )  # fmt: skip


@finder(stages=("evaluate.designed",), place=12)
def designed_worth(stage: StageView) -> Iterator[Finding]:
    """Give the baseline, and the size of a simple sample of equal precision if all are known."""
    lists, baselines, tests = (
        stage.table(name).collect() for name in ("cuts", "baseline", "differences")
    )
    drawn = stage.table(stage.inputs["sample"]).select(pl.len()).collect().item()
    every = n_candidates(stage)
    among = categories(lists)
    for category in among:
        of, known = category_suffix(category, among), row_of(baselines, category=category)
        if known and known["precision"] is not None:
            yield baseline_finding(known, of, n=every)
        mine = lists.filter(category=category)
        lacking = text_of_too_few_draws(mine, tests.filter(category=category))
        if lacking is not None:
            yield Finding(
                about="too few draws", text=phrases.sentence(f"{lacking}{of}"),
                question=f"labels{of}", category=category, n=drawn,
            )  # fmt: skip
            continue
        equivalent = equivalent_labels(mine, candidates=every)
        if equivalent is not None:
            text = (
                f"with {count_text(drawn, 'label')} for {every:,} candidates{of}, half of "
                "the lists at the declared sizes are estimated at least as precisely as with a "
                f"simple random sample of {equivalent:,.0f} from all candidates"
            )
            yield Finding(
                about="labels", text=phrases.sentence(text), question=f"labels{of}",
                category=category, value=equivalent, n=drawn,
            )  # fmt: skip


@finder(stages=("evaluate.designed",), place=13)
def designed_clusters(stage: StageView) -> Iterator[Finding]:
    """Say how many differences are significant for candidates to come, if clusters were given."""
    clustered, tests = (stage.table(name).collect() for name in ("clustered", "differences"))
    among = categories(clustered)
    for category in among:
        rows, here = (table.filter(category=category) for table in (clustered, tests))
        sure, these = (table.filter(pl.col("verdict") != "open").height for table in (rows, here))
        columns = rows["cluster"][0].replace(", ", " and ")
        text = (
            f"for candidates to come, with other {columns}, {sure:,} of "
            f"{count_text(rows.height, 'difference')} at the declared sizes "
            f"{'is' if sure == 1 else 'are'} significant, for the present candidates {these:,}"
            f"{category_suffix(category, among)}"
        )
        yield Finding(
            about="clusters", text=phrases.sentence(text), question="candidates to come",
            category=category, value=float(sure), n=rows.height,
        )  # fmt: skip
