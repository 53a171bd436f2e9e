"""Findings on tests between measures: the best at each size, pairs, equivalence, labels needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from pipeline.findings import phrases
from pipeline.findings.base import Finding, StageOptions, StageView, finder, make_caution
from pipeline.findings.collocations.precision import (
    FEW_JUDGEMENTS,
    LookOptions,
    categories,
    category_suffix,
    current_look,
    n_candidates,
    row_of,
    stages_on_same_lists,
)
from pipeline.findings.phrases import approximate, equivalent, number, of_two
from pipeline.kernels.measure import measure_title
from pipeline.kernels.nbest.sample_size import Design, predictive_power, smallest_size
from pipeline.kernels.statistics.exact_tests import Alternative
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.remarks.collocations import FEWEST_DRAWS

# Verdicts on pairs.


def pair_tests(table: pl.DataFrame, *, n: int, of: str) -> dict[str, phrases.Difference]:
    """Return the tests of all other measures against one, at one size: other minus this one.

    Parameters
    ----------
    table : DataFrame
        Differences of one category, with the adjusted p-value and the limits of the family.
    n : int
        The cut.
    of : str
        The measure that the others are compared with.

    Examples
    --------
    >>> rows = pl.DataFrame({"measure_1": "dice", "measure_2": "mi", "n": 9, "difference": 0.1,
    ...     "p_adjusted": 0.01, "lower_family": 0.02, "upper_family": 0.3})
    >>> pair_tests(rows, n=9, of="dice")["mi"][1:]
    (-0.1, 0.01, -0.3, -0.02)
    >>> pair_tests(rows, n=9, of="mi")["dice"][1:]
    (0.1, 0.01, 0.02, 0.3)
    """
    ends = ("lower_family", "upper_family")
    limits = [
        name if name in table.columns else pl.lit(None, pl.Float64).alias(name) for name in ends
    ]
    rows = table.filter(n=n).select("measure_1", "measure_2", "difference", "p_adjusted", *limits)
    tests = {}
    for one, other, gap, p, lower, upper in rows.drop_nulls(["difference", "p_adjusted"]).rows():
        if of == other:
            tests[one] = phrases.Difference(one, gap, p, lower, upper)
        elif of == one:
            turned = (None, None) if lower is None else (-upper, -lower)
            tests[other] = phrases.Difference(other, -gap, p, *turned)
    return tests


# Judgements needed to separate two measures.

POWER = 0.8
"""The desired power of the test."""
_REPLICATES = 1_000


def further_judgements(
    pair: Mapping[str, Any],
    *,
    candidates: int,
    judged: int,
    test: str,
    alternative: Alternative,
    alpha: float,
    margin: float,
) -> int | None:
    """Return how many more judgements are needed to separate two measures with a power of 80 %.

    The present sample is part of the larger one; unknown judgements are averaged over, see
    `predictive_power`. The result is simulated with a fixed seed and accurate to a few per cent.

    Parameters
    ----------
    pair : mapping
        Row of `schemas.Comparison`.
    candidates, judged : int
        Candidates, and judged draws without replacement.
    test, alternative, alpha, margin
        How the pair is tested: alpha is the level of a single test of the family.

    Returns
    -------
    int or None
        None if judging all candidates is not expected to suffice.

    Examples
    --------
    >>> pair = dict(n=500, size=200, k_1=12, n_1=20, k_2=6, n_2=20)
    >>> how = dict(test="fisher", alternative="two_sided", alpha=0.05, margin=0.0)
    >>> 100 < further_judgements(pair, candidates=5000, judged=500, **how) < 4500
    True
    """
    design = Design(pair["n"], pair["size"], candidates, alpha, margin, test, alternative)
    pilot = (pair["k_1"], pair["n_1"], pair["k_2"], pair["n_2"])
    ahead = 0 if _share(pilot[0], pilot[1]) >= _share(pilot[2], pilot[3]) else 1

    def enough(size: int) -> bool:
        power = predictive_power(
            design, size=size, pilot=pilot, pilot_size=judged, replicates=_REPLICATES
        )
        return bool(power[ahead] >= POWER)

    least = smallest_size(enough, judged, candidates)
    return None if least is None else least - judged


def _share(positives: int, draws: int) -> float:
    return positives / draws if draws else 0.5


def further_text(further: int | None, *, pair: tuple[str, str], candidates: int) -> str:
    """Say how many more judgements are needed to separate two measures, without the full stop.

    Examples
    --------
    >>> further_text(1243, pair=("t-score", "MI"), candidates=5102)[:77]
    'about 1,200 more judgements would separate t-score and MI with a power of 80 '
    >>> further_text(None, pair=("t-score", "MI"), candidates=5102)[:65]
    'even with all 5,102 candidates judged, the test would probably no'
    """
    both = " and ".join(pair)
    if further is None:
        return (
            f"even with all {candidates:,} candidates judged, the test would probably not find a "
            f"difference between {both}"
        )
    return (
        f"about {number(approximate(further), 0)} more judgements would separate {both} with a "
        f"power of {100 * POWER:g} % at the adjusted level; testing again then is a second look at "
        "the data (option looks)"
    )


FIGURE = "best"
"""The figure of a comparison that shows the best measures."""


class TestOptions(StageOptions):
    """How the stage tests."""

    test: str
    alternative: Alternative
    alpha: float
    margin: float


@dataclass(frozen=True)
class _Tables:
    """The tables of a comparison for one category.

    The verdicts are based on `tests`: by clusters if these were requested. Those in `finite` are
    about these candidates alone.
    """

    best: pl.DataFrame
    cuts: pl.DataFrame
    tests: pl.DataFrame
    finite: pl.DataFrame
    lists: pl.DataFrame
    estimates: pl.DataFrame | None
    baseline: dict[str, Any] | None


@dataclass(frozen=True)
class _Place:
    """One size and category of a comparison."""

    stage: StageView
    tested: TestOptions
    tables: _Tables
    category: str
    of: str
    n: int

    @property
    def question(self) -> str:
        """The question."""
        return f"best for {self.n:,} candidates{self.of}"

    def facts(self, about: str) -> dict[str, Any]:
        """Return the fields that all findings here share."""
        return {
            "about": about, "question": self.question, "category": self.category, "n": self.n,
            "figure": FIGURE,
        }  # fmt: skip


@finder(stages=("evaluate.comparison",), place=10)
def best_measures(stage: StageView) -> Iterator[Finding]:
    """Say at each size which measures are best, not significantly worse, or worse."""
    best = stage.table("best").collect()
    among = categories(best)
    tested = stage.options_as(TestOptions)
    for category in among:
        tables = _tables(stage, best, category)
        of = category_suffix(category, among)
        sizes = tables.best["n"].unique().sort()
        places = [_Place(stage, tested, tables, category, of, n) for n in sizes]
        known = [place.n for place in places if _fewest_draws(place) is None]
        yield from _best_at_all_sizes(tables, known, category, of)
        for place in places:
            yield from _findings_at(place)


def _tables(stage: StageView, best: pl.DataFrame, category: str) -> _Tables:
    def mine(table: pl.LazyFrame) -> pl.DataFrame:
        return table.filter(category=category).collect()

    estimating = next(iter(stages_on_same_lists(stage, "evaluate.precision")), None)
    condition = pl.col("n").is_in(best["n"].unique().implode())  # a few of millions of lists
    baseline = None if estimating is None else mine(estimating.table("baseline"))
    return _Tables(
        best.filter(category=category),
        mine(stage.table("cuts")),
        verdict_tests(stage).filter(category=category),
        mine(stage.table("differences")).filter(pl.col("population") == "finite"),
        mine(stage.table("baseline_cuts")),
        None if estimating is None else mine(estimating.table("precision").filter(condition)),
        None if baseline is None or baseline.is_empty() else baseline.row(0, named=True),
    )


def verdict_tests(stage: StageView) -> pl.DataFrame:
    """Return the tests that all verdicts of a comparison are based on, with their limits.

    These are the tests by clusters if requested, else those about a population beyond the
    candidates, as in the table `cuts`; for limits that hold at any time, those about the
    candidates.
    """
    clustered = stage.table("clustered").collect()
    if not clustered.is_empty():
        return clustered
    rows = stage.table("differences").collect()
    wider = rows.filter(population="super")
    if not wider.is_empty():
        return wider
    if stage.options_as(LookOptions).anytime:
        return rows
    return stage.table("cuts").collect()


def _best_at_all_sizes(
    tables: _Tables, sizes: list[int], category: str, of: str
) -> Iterator[Finding]:
    """Say which measures are among the best at every size."""
    if len(sizes) < 2:
        return
    best = tables.best.filter(pl.col("n").is_in(sizes))
    compared = {*tables.tests["measure_1"], *tables.tests["measure_2"]}
    counted = best.group_by("measure").agg(held=pl.len(), won=pl.col("best").sum())
    always = counted.filter(pl.col("held") == len(sizes)).sort(
        "won", "measure", descending=[True, False]
    )
    names = [measure_title(name) for name in always["measure"]]
    phrase = phrases.best_at_all(names, sizes, of=len(compared))
    yield Finding(
        about="throughout", text=phrases.sentence(phrase + of), value=float(len(names)),
        question=f"at every size{of}", category=category,
        name=always["measure"][0] if names else None, figure=FIGURE,
        names=tuple(always["measure"]),
    )  # fmt: skip


def _findings_at(place: _Place) -> Iterator[Finding]:
    rows = place.tables.best.filter(n=place.n).sort(
        ["best", "precision", "measure"], descending=[True, True, False], nulls_last=True
    )
    tied, others = rows.filter("best"), rows.filter(~pl.col("best"))
    if tied.is_empty() or tied["precision"][0] is None:
        return
    if (fewest := _fewest_draws(place)) is not None:
        yield _too_few_judgements(place, fewest)
        return
    yield _best_finding(place, tied)
    if others.height:
        yield _not_separable(place, others)
    yield from _worse(place, tied["measure"].to_list(), set(rows["measure"]))
    yield from _worse_finite(place, tied["measure"].to_list())
    yield from _baseline(place, tied["measure"][0])
    rivals = [*tied["measure"], *others["measure"]]
    if len(rivals) > 1:
        yield from _labels_needed(place, rivals[0], rivals[1])


def _fewest_draws(place: _Place) -> int | None:
    """Return the fewest judged draws in a list with the highest estimate, if too few, else None."""
    best = place.tables.best.filter(pl.col("n") == place.n, "best")["measure"]
    draws = [_judged_draws(place, measure) for measure in best]
    fewest = min((number for number in draws if number is not None), default=place.n)
    return fewest if fewest < min(FEWEST_DRAWS, place.n) else None


def _judged_draws(place: _Place, measure: str) -> int | None:
    """Return the number of judged draws in a list; None if unknown."""
    if place.tables.estimates is not None:
        row = row_of(place.tables.estimates, measure=measure, n=place.n)
        if row:
            return int(row["n_sampled"])
    counts = row_of(place.tables.lists, measure=measure, n=place.n)
    return None if counts is None else int(counts["n_1"])


def _too_few_judgements(place: _Place, fewest: int) -> Finding:
    text = phrases.too_few_judgements(place.question, fewest, FEWEST_DRAWS)
    return Finding(**place.facts(FEW_JUDGEMENTS), text=text, value=float(fewest))


def _best_finding(place: _Place, tied: pl.DataFrame) -> Finding:
    first = tied.row(0, named=True)
    lower, upper = _limits(place, first["measure"])
    phrase = phrases.estimate(first["precision"], lower, upper, of=phrases.TRUE_POSITIVES)
    names = phrases.tied_names([measure_title(name) for name in tied["measure"]])
    return Finding(
        **place.facts("best"), text=phrases.sentence(f"{place.question}: {names}, {phrase}"),
        name=first["measure"], value=first["precision"], lower=lower, upper=upper,
        names=tuple(tied["measure"]),
    )  # fmt: skip


def _limits(place: _Place, measure: str) -> tuple[float | None, float | None]:
    """Return the limits of a list's precision: from the run, else Clopper-Pearson limits."""
    if place.tables.estimates is not None:
        row = row_of(place.tables.estimates, measure=measure, n=place.n)
        if row and row["n_sampled"]:
            return row["lower"], row["upper"]
    counts = row_of(place.tables.lists, measure=measure, n=place.n)
    if counts is None or not counts["n_1"] or place.stage.options_as(LookOptions).anytime:
        return None, None
    look = current_look(place.stage)
    level = look["level"] if look else None
    lower, upper = INTERVALS.get("clopper_pearson")(
        [counts["k_1"]], [counts["n_1"]], confidence=1.0 - level if level else 0.95
    )
    return float(lower[0]), float(upper[0])


def _not_separable(place: _Place, others: pl.DataFrame) -> Finding:
    best = place.tables.best.filter(n=place.n).filter("best")["measure"]
    tests, alpha = place.tables.tests, place.tested.alpha
    second = others.row(0, named=True)
    return Finding(
        **place.facts("together"),
        text=phrases.sentence(
            text_of_others(
                others, surely_worse(tests, best, n=place.n, alpha=alpha),
                best=best, margin=place.tested.margin,
            )
        ),
        name=second["measure"], other=second["best_measure"], value=second["precision"],
        p_adjusted=second["p_adjusted"], names=tuple(others["measure"]),
    )  # fmt: skip


def _worse(place: _Place, best: Sequence[str], together: set[str]) -> Iterator[Finding]:
    def finding(about: str, text: str, **numbers: Any) -> Finding:
        return Finding(**place.facts(about), text=phrases.sentence(text), **numbers)

    yield from worse_findings(
        place.tables.tests, best, together, n=place.n, alpha=place.tested.alpha, finding=finding
    )


Worse: TypeAlias = Mapping[str, tuple[phrases.Difference, str]]
"""From measure to its difference from one of the best, and the name of the latter."""


def surely_worse(tests: pl.DataFrame, best: Iterable[str], *, n: int, alpha: float) -> Worse:
    """Return the measures significantly worse than one of the best, with the clearest test each.

    Parameters
    ----------
    tests : DataFrame
        As for `pair_tests`.
    best : iterable of str
        The measures with the highest estimate.
    n : int
        The cut.
    alpha : float
        Level of the tests.
    """
    surest: dict[str, tuple[phrases.Difference, str]] = {}
    for leader in best:
        for name, each in pair_tests(tests, n=n, of=leader).items():
            sure = each.difference < 0 and each.p_adjusted < alpha
            if sure and (name not in surest or each.p_adjusted < surest[name][0].p_adjusted):
                surest[name] = each, leader
    return surest


def text_of_others(
    others: pl.DataFrame, worse: Worse, *, best: Iterable[str], margin: float
) -> str:
    """Describe the measures that are not worse than the best: the reason, and their estimates.

    Parameters
    ----------
    others : DataFrame
        measure and precision.
    worse : mapping
        As `surely_worse` returns it: the others that differ by less than the margin.
    best : iterable of str
        The measures with the highest estimate.
    margin : float
        The margin; 0 if there is none.
    """
    shares = dict(others.select("measure", "precision").rows())
    small = {name for name in shares if margin > 0 and name in worse}
    return phrases.not_separable(
        {measure_title(name): share for name, share in shares.items() if name not in small},
        {measure_title(name): share for name, share in shares.items() if name in small},
        best=[measure_title(name) for name in best],
        margin=margin,
    )


def worse_findings(
    tests: pl.DataFrame,
    best: Sequence[str],
    together: set[str],
    *,
    n: int,
    alpha: float,
    finding: Callable[..., Finding],
) -> Iterator[Finding]:
    """Say which measures are worse, each compared with the best measure of its clearest test.

    Parameters
    ----------
    tests, best, n, alpha
        As for `surely_worse`.
    together : set of str
        The best measures, and those that are not significantly worse.
    finding : callable
        (about, text, numbers) -> the finding.
    """
    worse = surely_worse(tests, best, n=n, alpha=alpha)
    apart = [pair for name, pair in worse.items() if name not in together]
    if apart:
        parts = []
        for leader in best:
            those = [
                each._replace(name=measure_title(each.name)) for each, of in apart if of == leader
            ]
            if those:
                parts.append(phrases.worse(those, alpha=alpha, than=measure_title(leader)))
        most, leader = min(apart, key=lambda pair: pair[0].difference)
        yield finding(
            "worse", "; ".join(parts), name=most.name, other=leader,
            value=most.difference, lower=most.lower, upper=most.upper, p_adjusted=most.p_adjusted,
        )  # fmt: skip


def _worse_finite(place: _Place, best: Sequence[str]) -> Iterator[Finding]:
    """Say which further measures are worse for these candidates alone, if it is a question.

    After full annotation it is none: every difference is known.
    """
    rows, alpha = place.tables.finite.filter(n=place.n), place.tested.alpha
    if rows.filter(pl.col("lower") < pl.col("upper")).is_empty():
        return
    wider = surely_worse(place.tables.tests, best, n=place.n, alpha=alpha)
    tests = rows.filter(~pl.any_horizontal(pl.col("measure_1", "measure_2").is_in(list(wider))))

    def finding(about: str, text: str, **numbers: Any) -> Finding:
        whole = phrases.sentence(f"for these candidates alone, {text}")
        return Finding(**place.facts(f"{about}_finite"), text=whole, **numbers)

    yield from worse_findings(tests, best, set(), n=place.n, alpha=alpha, finding=finding)


def _baseline(place: _Place, best: str) -> Iterator[Finding]:
    row = row_of(place.tables.lists, measure=best, n=place.n)
    known = place.tables.baseline
    if row is None:
        return
    judged, positives = row["n_1"] + row["n_2"], row["k_1"] + row["k_2"]
    if not judged:
        return
    value = (
        positives / judged if known is None or known["precision"] is None else known["precision"]
    )
    lower, upper = (None, None) if known is None else (known["lower"], known["upper"])
    text = f"the baseline is {phrases.estimate(value, lower, upper)}"
    p = row["p_adjusted"]
    if p is not None and row["difference"] is not None:
        the_list = f"{measure_title(best)} at n = {place.n:,}"
        test = phrases.Difference(the_list, row["difference"], p)
        beside_it = _precision(place, best)
        apart = beside_it is None or abs(beside_it - value - row["difference"]) > UNEQUAL
        how = "compared with the candidates outside the list" if apart else ""
        text += f"; {phrases.against_baseline(test, alpha=place.tested.alpha, how=how)}"
    yield Finding(
        **place.facts("baseline"), text=phrases.sentence(text), name=best, value=value, lower=lower,
        upper=upper, p_adjusted=p,
    )  # fmt: skip


def _precision(place: _Place, measure: str) -> float | None:
    """Return the precision of a list in the report."""
    row = row_of(place.tables.best, measure=measure, n=place.n)
    return None if row is None else row["precision"]


UNEQUAL = 0.0005
"""Proportions that differ by less look equal in print."""


@finder(stages=("evaluate.comparison", "evaluate.designed"), place=65)
def estimates_of_differences(stage: StageView) -> Iterator[Finding]:
    """Explain differences that are not the differences between the precisions shown."""
    designed = stage.use == "evaluate.designed"
    lists = [stage] if designed else list(stages_on_same_lists(stage, "evaluate.precision"))
    pairs = stage.table("differences").collect() if designed else verdict_tests(stage)
    if not lists or pairs.is_empty():
        return
    key = ("category", "n")
    known = lists[0].table("cuts").select(*key, "measure", "precision").collect()
    for side in ("1", "2"):
        names = {"measure": f"measure_{side}", "precision": f"precision_{side}"}
        pairs = pairs.join(known.rename(names), on=(*key, f"measure_{side}"), how="left")
    gap = (pl.col("precision_1") - pl.col("precision_2") - pl.col("difference")).abs()
    most = pairs.select(gap.max()).item()
    if most is not None and most > UNEQUAL:
        text = (
            "differences are estimated from the candidates in only one of the two lists, so they "
            f"deviate by up to {number(100 * most, 1)} points from the differences between the "
            "precisions"
        )
        yield make_caution("differences", text, most)


def _is_sequential(stage: StageView) -> bool:
    """Return whether tests allow for several looks, which changes the number of labels needed."""
    return stage.options_as(LookOptions).anytime or current_look(stage) is not None


def _labels_needed(place: _Place, best: str, second: str) -> Iterator[Finding]:
    pair = _pair(place.tables.cuts, place.n, best, second)
    counts = row_of(place.tables.lists, measure=best, n=place.n)
    if (
        pair is None
        or counts is None
        or _is_with_replacement(place.stage)
        or _is_sequential(place.stage)
    ):
        return
    judged, candidates = counts["n_1"] + counts["n_2"], n_candidates(place.stage)
    if not 0 < judged < candidates or not 0 < pair["size"] <= candidates // 2:
        return
    tested = place.tested
    family = place.tables.cuts["p_value"].drop_nulls().len()
    further = further_judgements(
        pair, candidates=candidates, judged=judged, test=tested.test,
        alternative=tested.alternative, alpha=tested.alpha / family, margin=tested.margin,
    )  # fmt: skip
    yield Finding(
        **place.facts("needed"), name=best, other=second,
        value=None if further is None else float(further),
        text=phrases.sentence(
            further_text(
                further, pair=(measure_title(best), measure_title(second)), candidates=candidates
            )
        ),
    )  # fmt: skip


def _pair(cuts: pl.DataFrame, n: int, one: str, other: str) -> dict[str, Any] | None:
    return row_of(cuts, n=n, measure_1=one, measure_2=other) or row_of(
        cuts, n=n, measure_1=other, measure_2=one
    )


def _is_with_replacement(stage: StageView) -> bool:
    """Return whether the sample was drawn with replacement, which changes the power."""
    sample = stage.source_stage("sample")
    return sample is not None and bool(sample.config.get("replacement"))


# Equivalence.


class DifferenceOptions(StageOptions):
    """How the stage tests differences."""

    alpha: float
    margin: float
    equivalence: float | None


@finder(stages=("evaluate.comparison",), place=13)
def equivalent_measures(stage: StageView) -> Iterator[Finding]:
    """Say at each size which measures are equivalent, if a bound was given."""
    options = stage.options_as(DifferenceOptions)
    if options.equivalence is None:
        return
    rows = stage.table("differences").collect()
    among = categories(rows)
    for (category, n), mine in rows.group_by("category", "n", maintain_order=True):
        question = (
            f"equivalent measures for {n:,} candidates{category_suffix(str(category), among)}"
        )
        facts = {"about": "equivalent", "question": question, "category": category, "n": n}
        yield from _equivalent(mine, facts, options.alpha, options.equivalence)


def _equivalent(
    rows: pl.DataFrame, facts: dict[str, Any], alpha: float, bound: float
) -> Iterator[Finding]:
    """Say it for the pairs of one size: for the wider population, if it was tested."""
    wider = rows.filter(population="super")
    looked_at = wider if wider.height else rows
    here = "" if wider.height else ", for these candidates only"
    sure = looked_at.filter("equivalent").sort(pl.col("difference").abs(), "measure_1", "measure_2")
    if sure.is_empty():
        text = (
            f"for {facts['n']:,} candidates, no two measures are shown to differ by less than "
            f"{100 * bound:g} points{here}"
        )
        yield Finding(**facts, text=phrases.sentence(text), value=0.0)
    for row in sure.head(phrases.SHOWN).iter_rows(named=True):
        pair = (measure_title(row["measure_1"]), measure_title(row["measure_2"]))
        test = phrases.Difference(
            "", row["difference"], row["p_equivalent_adjusted"], row["lower"], row["upper"]
        )
        phrase = equivalent(pair, test, alpha=alpha, bound=bound)
        yield Finding(
            **facts, text=phrases.sentence(f"for {facts['n']:,} candidates, {phrase}{here}"),
            name=row["measure_1"], other=row["measure_2"], value=row["difference"],
            lower=row["lower"], upper=row["upper"], p_adjusted=row["p_equivalent_adjusted"],
        )  # fmt: skip


# Declared pairs: not all pairs were tested, and there is no best measure.


@finder(stages=("evaluate.comparison",), place=11)
def declared_pairs(stage: StageView) -> Iterator[Finding]:
    """Say for each declared pair, at each size, which of the two is better."""
    led = stage.table("best").select("category", "n").unique()
    tests = stage.table("cuts").join(led, on=["category", "n"], how="anti").collect()
    among = categories(tests)
    tested = stage.options_as(TestOptions)
    limits = verdict_tests(stage)
    known = tests.drop_nulls(["difference", "p_adjusted"])
    for (category, n), rows in known.group_by("category", "n", maintain_order=True):
        of = category_suffix(str(category), among)
        question = f"the declared pairs for {n:,} candidates{of}"
        mine = limits.filter(category=category)
        for place, row in enumerate(_sort_pairs(rows)):
            pair = pair_tests(mine, n=row["n"], of=row["measure_2"]).get(row["measure_1"])
            lower, upper = (pair.lower, pair.upper) if pair else (None, None)
            phrase = _pair_phrase(row, tested, (lower, upper))
            text = phrase if place else f"for {n:,} candidates{of}, {phrase}"
            yield Finding(
                about="pair", text=phrases.sentence(text), question=question,
                category=str(category),
                name=row["measure_1"], other=row["measure_2"], value=row["difference"],
                p_adjusted=row["p_adjusted"], n=row["n"], lower=lower, upper=upper,
            )  # fmt: skip


def _sort_pairs(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the pairs, the largest difference first."""
    order = rows.sort(pl.col("difference").abs(), "measure_1", "measure_2",
                      descending=[True, False, False])  # fmt: skip
    return order.iter_rows(named=True)


def _pair_phrase(
    row: dict[str, Any], options: TestOptions, ends: tuple[float | None, float | None]
) -> str:
    titles = [measure_title(row[name]) for name in ("measure_1", "measure_2")]
    test = phrases.Difference(titles[1], row["difference"], row["p_adjusted"], *ends)
    return of_two(titles[0], test, alpha=options.alpha, margin=options.margin)
