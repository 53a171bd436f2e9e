"""Sample sizes for interval widths and for comparisons of two measures, with or without a pilot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import polars as pl

from pipeline.api.results import Run
from pipeline.errors import ConfigError, Problem, UnknownName, did_you_mean
from pipeline.kernels.nbest.sample_size import (
    Design,
    Power,
    comparison_power,
    expected_width,
    predictive_power,
    size_for_power,
    size_for_width,
    smallest_size,
)
from pipeline.kernels.sampling import sample_size
from pipeline.kernels.statistics.exact_tests import ALTERNATIVES, TESTS, read_alternative
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.registry import Registry
from pipeline.runner.graph import Node
from pipeline.runner.problems import require_stage
from schemas import Comparison, CutComparison

# Checks of the arguments, all errors at once

T = TypeVar("T")


class Track(Protocol):
    """Iterates over long work; may show progress."""

    def __call__(self, items: Sequence[T], /) -> Iterable[T]:
        """Return the items one by one."""


def track_nothing(items: Sequence[T], /) -> Iterable[T]:
    """Return the items unchanged.

    Examples
    --------
    >>> list(track_nothing([1, 2]))
    [1, 2]
    """
    return items


def require(problems: Iterable[Problem]) -> None:
    """Raise all problems together, if there are any.

    Raises
    ------
    ConfigError
        With every problem.
    """
    if wrong := list(problems):
        raise ConfigError("size", wrong)


def lists(n: Sequence[int], candidates: int) -> list[Problem]:
    """Return what is wrong with sizes of n-best lists.

    Examples
    --------
    >>> print(lists([500], 100)[0])
    n: no list of 500 among 100 candidates; give 1 to 100
    """
    if candidates < 1:
        return [Problem("candidates", f"{candidates:,} candidates", "give 1 or more")]
    if not n:
        return [Problem("n", "no list size is given", "e.g. 500")]
    wrong = [each for each in n if not 1 <= each <= candidates]
    what, remedy = "no list of {:,} among {:,} candidates", f"give 1 to {candidates:,}"
    return [Problem("n", what.format(each, candidates), remedy) for each in wrong]


def check_rates(rates: Sequence[float]) -> list[Problem]:
    """Return what is wrong with sampling rates.

    Examples
    --------
    >>> print(check_rates([0.1, 15])[0])
    rate: 15 is not a sampling rate above 0 and up to 1; 15 % is 0.15
    """
    if not rates:
        return [Problem("rate", "no sampling rate is given", "e.g. 0.1")]
    wrong = [each for each in rates if not 0.0 < each <= 1.0]
    what = "{:g} is not a sampling rate above 0 and up to 1"
    return [Problem("rate", what.format(each), _per_cent(each)) for each in wrong]


def proportions(name: str, values: Sequence[float]) -> list[Problem]:
    """Return what is wrong with proportions from 0 to 1, inclusive."""
    wrong = [each for each in values if not 0.0 <= each <= 1.0]
    return [Problem(name, f"{each:g} is not between 0 and 1", _per_cent(each)) for each in wrong]


def check_open_interval(name: str, values: Sequence[float]) -> list[Problem]:
    """Return what is wrong with proportions between 0 and 1, exclusive.

    Examples
    --------
    >>> print(check_open_interval("power", [80])[0])
    power: 80 is not between 0 and 1; 80 % is 0.8
    """
    wrong = [each for each in values if not 0.0 < each < 1.0]
    return [Problem(name, f"{each:g} is not between 0 and 1", _per_cent(each)) for each in wrong]


def _per_cent(value: float) -> str:
    return f"{value:g} % is {value / 100:g}" if 1.0 < value <= 100.0 else "give a proportion"


def check_interval(name: str, *, replacement: bool) -> list[Problem]:
    """Return what is wrong with the name of an interval method.

    Examples
    --------
    >>> print(check_interval("wilso", replacement=False)[0])
    interval: unknown interval 'wilso'; did you mean wilson?
    """
    unknown = _check_name("interval", INTERVALS, name)
    if unknown or not (replacement and INTERVALS.get(name).finite):
        return unknown
    what = f"{name!r} is for samples without replacement"
    return [Problem("interval", what, "use clopper_pearson")]


def _check_name(option: str, registry: Registry[Any], name: str) -> list[Problem]:
    try:
        registry.get(name)
    except UnknownName as error:
        return [Problem(option, str(error))]
    return []


def check_choice(option: str, names: Iterable[str], name: str) -> list[Problem]:
    """Return what is wrong with the name of a choice.

    Examples
    --------
    >>> print(check_choice("spending", ["pocock", "obrien_fleming"], "pocok")[0])
    spending: unknown 'pocok'; did you mean pocock?
    """
    known = list(names)
    if name in known:
        return []
    return [Problem(option, f"unknown {name!r}", did_you_mean(name, known))]


def significance(
    *, alpha: float, margin: float, test: str, alternative: str, replicates: int
) -> list[Problem]:
    """Return what is wrong with the test and its simulation."""
    problems = check_open_interval("alpha", [alpha])
    if not 0.0 <= margin < 1.0:
        problems.append(Problem("margin", f"{margin:g} is not in 0 to 1", _per_cent(margin)))
    problems += _check_name("test", TESTS, test)
    try:
        read_alternative(alternative)
    except UnknownName:
        remedy = did_you_mean(alternative, ALTERNATIVES)
        problems.append(Problem("alternative", f"unknown alternative {alternative!r}", remedy))
    if replicates < 1:
        problems.append(Problem("replicates", f"{replicates:,} replicates", "give 1 or more"))
    return problems


RATES = (0.05, 0.1, 0.15, 0.2)
"""The default sampling rates."""
_WIDTHS = ("n_sampled", "lower", "upper", "width", "coverage", "empty")
_NUMBERS: dict[str, Any] = {
    "wanted": pl.Float64, "rate": pl.Float64, "size": pl.Int64, "n": pl.Int64,
    "precision": pl.Float64, **dict.fromkeys(_WIDTHS, pl.Float64),
}  # fmt: skip


def plan_width(
    *,
    candidates: int,
    n: Sequence[int],
    precisions: Sequence[float],
    rates: Sequence[float] = RATES,
    widths: Sequence[float] = (),
    interval: str = "clopper_pearson",
    confidence: float = 0.95,
    replacement: bool = False,
    track: Track = track_nothing,
) -> pl.DataFrame:
    """Return the expected widths of confidence intervals, or the sampling rates for target widths.

    Parameters
    ----------
    candidates : int
        Number of candidates.
    n : sequence of int
        Sizes of n-best lists.
    precisions : sequence of float
        Expected precisions of the lists, in [0, 1]; 0.5 is the widest case.
    rates : sequence of float
        Sampling rates in (0, 1].
    widths : sequence of float
        Target widths in (0, 1); each row then has the smallest sufficient rate instead of `rates`.
    interval : str
        Interval method, as in `evaluate.precision`; "hypergeometric" accounts for the finite list.
    confidence : float
        Confidence level in (0, 1).
    replacement : bool
        Sample with replacement.
    track : callable
        Iterates over the work; may show progress.

    Returns
    -------
    DataFrame
        wanted, rate, size (draws), n, precision; n_sampled (draws in the list), lower, upper
        and width (all expected), coverage, empty (probability of no draw in the list). Null
        where no sample is large enough.

    Raises
    ------
    ConfigError
        With all errors in the question.

    Examples
    --------
    >>> plan_width(candidates=5102, n=[500], precisions=[0.3], rates=[0.1, 0.2]).select(
    ...     "rate", "size", pl.col("width").round(3)
    ... ).rows()
    [(0.1, 510, 0.266), (0.2, 1020, 0.187)]
    >>> plan_width(candidates=5102, n=[500], precisions=[0.3], widths=[0.15])["size"].item()
    1571
    """
    require([
        *lists(n, candidates),
        *([] if widths else check_rates(rates)),
        *check_open_interval("width", widths),
        *([] if precisions else [Problem("precision", "none is given", "e.g. 0.3")]),
        *proportions("precision", precisions),
        *check_interval(interval, replacement=replacement),
        *check_open_interval("confidence", [confidence]),
    ])  # fmt: skip
    how: dict[str, Any] = {
        "candidates": candidates, "method": interval, "confidence": confidence,
        "replacement": replacement,
    }  # fmt: skip
    cases = list(product(widths or rates, n, precisions))
    if widths:
        rows = [_rate_for_width(width, each, p, how) for width, each, p in track(cases)]
    else:
        rows = [_width_at_rate(rate, each, p, how) for rate, each, p in track(cases)]
    return pl.DataFrame(rows, schema=_NUMBERS)


def _width_at_rate(rate: float, n: int, precision: float, how: dict[str, Any]) -> dict[str, Any]:
    size = sample_size(how["candidates"], rate=rate)
    row = {"wanted": None, "rate": rate, "size": size, "n": n, "precision": precision}
    return {**row, **expected_width(n=n, size=size, precision=precision, **how)}


def _rate_for_width(width: float, n: int, precision: float, how: dict[str, Any]) -> dict[str, Any]:
    size = size_for_width(width=width, n=n, precision=precision, **how)
    if size is None:
        return {**dict.fromkeys(_NUMBERS), "wanted": width, "n": n, "precision": precision}
    rate = size / how["candidates"]
    return {**_width_at_rate(rate, n, precision, how), "wanted": width}


# Comparison of two measures

_POWERS = ("power_1", "power_2", "untested", "standard_error")
NUMBERS: dict[str, Any] = {
    "wanted": pl.Float64, "rate": pl.Float64, "size": pl.Int64, "n": pl.Int64, "apart": pl.Int64,
    "only_1": pl.Float64, "only_2": pl.Float64, "difference": pl.Float64,
    **dict.fromkeys(_POWERS, pl.Float64),
}  # fmt: skip
"""The columns of a table of power."""


class Lists(NamedTuple):
    """Two n-best lists, how they are tested, and the precision of the candidates in one only."""

    design: Design
    only_1: float
    only_2: float

    def row(self, size: int, power: Power | None, *, goal: float | None = None) -> dict[str, Any]:
        """Return the row of a table of power; null where no sample is large enough."""
        n, apart, candidates, *_ = self.design
        fixed = {
            "wanted": goal, "n": n, "apart": apart, "only_1": self.only_1,
            "only_2": self.only_2, "difference": apart / n * (self.only_1 - self.only_2),
        }  # fmt: skip
        if power is None:
            return {**dict.fromkeys(NUMBERS), **fixed}
        powers = dict(zip(_POWERS, power, strict=True))
        return {**fixed, "rate": size / candidates, "size": size, **powers}


PowerOf: TypeAlias = Callable[[Lists, int], Power]
LeastFor: TypeAlias = Callable[[Lists, float], int | None]


def plan_comparison(
    *,
    candidates: int,
    n: Sequence[int],
    precisions: tuple[float, float],
    overlap: float,
    shared: float | None = None,
    rates: Sequence[float] = RATES,
    powers: Sequence[float] = (),
    alpha: float = 0.05,
    margin: float = 0.0,
    test: str = "fisher",
    alternative: str = "two_sided",
    replicates: int = 10_000,
    seed: str = "power",
    track: Track = track_nothing,
) -> pl.DataFrame:
    """Return the power to distinguish two measures, or the sampling rates for a target power.

    The test compares D1 and D2, the candidates in one of the lists only. With the overlap o, the
    precision p of a list and s of the shared part, the precision of D is ``(p - o s) / (1 - o)``.

    Parameters
    ----------
    candidates : int
        Number of candidates.
    n : sequence of int
        Sizes of n-best lists.
    precisions : tuple of two float
        Expected precisions of the lists, in [0, 1].
    overlap : float
        Proportion that the lists share, in [0, 1).
    shared : float, optional
        Precision of the shared part; defaults to the mean of `precisions`.
    rates : sequence of float
        Sampling rates in (0, 1].
    powers : sequence of float
        Target powers in (0, 1); each row then has the smallest sufficient rate instead of `rates`.
    alpha, margin : float
        Significance level, and the smallest relevant difference in precision.
    test, alternative : str
        Exact test (fisher, fisher_mid_p, boschloo), and two_sided, greater or less.
    replicates, seed : int, str
        Number and seed of simulated samples.
    track : callable
        Iterates over the work; may show progress.

    Returns
    -------
    DataFrame
        wanted, rate, size (draws), n, apart (|D1| = |D2|), only_1 and only_2 (precisions of D1
        and D2), difference; power_1 and power_2 (probability that the first, or the second,
        measure is found better), untested (probability that D1 or D2 has no draw),
        standard_error (0 if exact). Null where no sample is large enough.

    Raises
    ------
    ConfigError
        With all errors in the question.

    Examples
    --------
    >>> plan_comparison(
    ...     candidates=200, n=[60], precisions=(0.6, 0.4), overlap=0.5, rates=[0.3]
    ... ).select("apart", pl.col("only_1", "power_1").round(3)).rows()
    [(30, 0.7, 0.246)]
    """
    require([
        *lists(n, candidates),
        *([] if powers else check_rates(rates)),
        *check_open_interval("power", powers),
        *proportions("compare", precisions),
        *_overlap(overlap, shared),
        *significance(
            alpha=alpha, margin=margin, test=test, alternative=alternative, replicates=replicates
        ),
    ])  # fmt: skip
    centre = sum(precisions) / 2 if shared is None else shared
    only_1, only_2 = (_round_ends((p - overlap * centre) / (1 - overlap)) for p in precisions)
    test_of = (candidates, alpha, margin, test, read_alternative(alternative))
    designs = [Design(each, round(each * (1 - overlap)), *test_of) for each in n]
    pairs = [Lists(design, only_1, only_2) for design in designs]
    require([problem for pair in pairs for problem in list_problems(pair)])
    power, least = powers_of(replicates=replicates, seed=seed)
    return tabulate(pairs, rates=rates, powers=powers, power=power, least=least, track=track)


def tabulate(
    pairs: Sequence[Lists],
    *,
    rates: Sequence[float],
    powers: Sequence[float],
    power: PowerOf,
    least: LeastFor,
    track: Track,
) -> pl.DataFrame:
    """Return a row per rate, or target power, and pair of lists."""
    rows = []
    for goal, pair in track(list(product(powers or rates, pairs))):
        size = least(pair, goal) if powers else sample_size(pair.design.candidates, rate=goal)
        reached = None if size is None else power(pair, size)
        row = pair.row(size or 0, reached, goal=goal if powers else None)
        rows.append(row if powers else {**row, "rate": goal})
    return pl.DataFrame(rows, schema=NUMBERS)


def list_problems(pair: Lists) -> list[Problem]:
    """Return why two such lists cannot exist."""
    n, apart, candidates, *_ = pair.design
    if apart == 0:
        what = f"the lists of {n:,} are equal: there is nothing to compare"
        return [Problem("n", what)]
    if n + apart > candidates:
        what = f"two lists of {n:,} that differ in {apart:,} need {n + apart:,} candidates"
        return [Problem("overlap", what, f"there are {candidates:,}")]
    wrong = [p for p in (pair.only_1, pair.only_2) if not 0.0 <= p <= 1.0]
    if wrong:
        what = f"the part of one list of {n:,} only would have a precision of {wrong[0]:.3g}"
        return [Problem("compare", what, "change overlap, shared or the precisions")]
    return []


def _round_ends(precision: float) -> float:
    """Return a precision, rounded to 0 or 1 if it is as close as rounding errors allow."""
    return round(precision, 12)


def _overlap(overlap: float, shared: float | None) -> list[Problem]:
    problems = proportions("shared", [] if shared is None else [shared])
    if not 0.0 <= overlap < 1.0:
        what = f"{overlap:g} is not a proportion of a list, 0 or more and below 1"
        problems.append(Problem("overlap", what, "350 of 500 is 0.7"))
    return problems


def powers_of(*, replicates: int, seed: str) -> tuple[PowerOf, LeastFor]:
    """Return the power of a sample for known precisions, and the least size for a power."""

    def power(pair: Lists, size: int) -> Power:
        return comparison_power(
            pair.design, size=size, precision_1=pair.only_1, precision_2=pair.only_2,
            replicates=replicates, seed=seed,
        )  # fmt: skip

    def least(pair: Lists, goal: float) -> int | None:
        return size_for_power(
            pair.design, goal=goal, precision_1=pair.only_1, precision_2=pair.only_2,
            replicates=replicates, seed=seed,
        )  # fmt: skip

    return power, least


# Pilot samples


@dataclass(frozen=True)
class Pilot:
    """Results of an earlier run on two measures.

    Parameters
    ----------
    candidates : int
        Number of candidates.
    judged : int
        Judged draws in the pilot sample.
    rows : DataFrame
        Rows of `schemas.Comparison` at the given n, in the given direction.
    """

    candidates: int
    judged: int
    rows: pl.DataFrame

    @property
    def full(self) -> bool:
        """Whether every candidate was judged, so that the precisions are known."""
        return self.judged == self.candidates


def open_pilot(
    run: Run, stage: str, *, measures: tuple[str, str], n: Sequence[int], category: str | None
) -> Pilot:
    """Return the results of a run on two measures at these list sizes.

    Raises
    ------
    ConfigError
        If the stage does not compare them there, or its sample is with replacement.
    """
    if isinstance(measures, str) or len(measures) != 2:
        what = f"{measures!r} are not two measures"
        raise ConfigError("size", [Problem("measures", what, 'e.g. ("t_score", "mi")')])
    node = comparison_stage(run, stage)
    table = run.query(f"{stage}.{_table(node)}")
    category = category_of(table, category)
    pair = table.filter(category=category).filter(
        pl.col("measure_1").is_in(measures) & pl.col("measure_2").is_in(measures)
    ).collect()  # fmt: skip
    _require_pair(table, pair, measures)
    candidates = (
        run.query(str(node.inputs["ranks"])).select(pl.col("id").n_unique()).collect().item()
    )
    require(lists(n, candidates))
    rows = _in_direction(pair.filter(pl.col("n").is_in(list(n))).sort("n"), measures)
    require(_absent_lists(n, rows))
    judged = _count_judged(run, node, category)
    require(_sample_problems(node, judged, candidates))
    return Pilot(candidates, judged, rows)


def comparison_stage(run: Run, stage: str) -> Node:
    """Return a stage that compares measures.

    Raises
    ------
    ConfigError
        If there is none of that name.
    """
    nodes = {name: node for name, node in run.project.nodes.items() if _table(node)}
    require_stage(stage, nodes, "size", where="pilot", kind="that compares measures")
    return nodes[stage]


def _table(node: Node) -> str | None:
    """Return the name of the table of comparisons at every n, if the stage makes one."""
    names = (
        name for name, model in node.stage.outputs.items()
        if issubclass(model, Comparison) and not issubclass(model, CutComparison)
    )  # fmt: skip
    return next(names, None)


def category_of(table: pl.LazyFrame, category: str | None) -> str:
    """Return the given category, or the only one.

    Parameters
    ----------
    table : LazyFrame
        With a column category.
    category : str, optional
        Its name.

    Raises
    ------
    ConfigError
        If the category is unknown, or none is given and there are several.

    Examples
    --------
    >>> category_of(pl.LazyFrame({"category": ["TP", "TP"]}), None)
    'TP'
    """
    categories = table.select(pl.col("category").unique().sort()).collect()["category"].to_list()
    if category is None and len(categories) == 1:
        return str(categories[0])
    if category is None or category not in categories:
        what = f"unknown category {category!r}" if category else "there are several categories"
        raise ConfigError(
            "size", [Problem("category", what, did_you_mean(category or "", categories))]
        )
    return category


def _require_pair(table: pl.LazyFrame, pair: pl.DataFrame, measures: tuple[str, str]) -> None:
    if not pair.is_empty() and measures[0] != measures[1]:
        return
    pairs = table.select("measure_1", "measure_2").unique().sort("measure_1", "measure_2").collect()
    compared = sorted({name for row in pairs.iter_rows() for name in row})
    problems = [
        Problem("measures", f"{name!r} is not compared", did_you_mean(name, compared))
        for name in measures
        if name not in compared
    ]
    what = f"the stage does not compare {measures[0]} with {measures[1]}"
    raise ConfigError("size", problems or [Problem("measures", what, "see its option pairs")])


def _in_direction(rows: pl.DataFrame, measures: tuple[str, str]) -> pl.DataFrame:
    if rows.is_empty() or rows["measure_1"][0] == measures[0]:
        return rows
    return rows.rename({"k_1": "k_2", "k_2": "k_1", "n_1": "n_2", "n_2": "n_1"})


def _absent_lists(n: Sequence[int], rows: pl.DataFrame) -> Iterator[Problem]:
    for each in sorted(set(n) - set(rows["n"])):
        yield Problem("n", f"the stage does not compare lists of {each:,}", "see its table")


def _sample_problems(node: Node, judged: int, candidates: int) -> Iterator[Problem]:
    """Yield a problem if the judged candidates are neither all nor a random sample."""
    if "sample" not in node.inputs and judged < candidates:
        what = f"{judged:,} of {candidates:,} candidates are judged, but not as a random sample"
        yield Problem("pilot", what, "give the stage its sample")


def _count_judged(run: Run, node: Node, category: str) -> int:
    """Return the number of judged draws of the stage."""
    judgements = run.query(str(node.inputs["judgements"])).filter(
        pl.col("tp").is_not_null(), category=category
    )
    if "sample" not in node.inputs:
        ranked = run.query(str(node.inputs["ranks"])).select(pl.col("id").unique())
        return int(ranked.join(judgements, on="id", how="semi").select(pl.len()).collect().item())
    sample = run.query(str(node.inputs["sample"])).join(judgements, on="id", how="semi")
    draws, most = sample.select(pl.len(), pl.col("multiplicity").max()).collect().row(0)
    if (most or 0) > 1:
        what = "the pilot was drawn with replacement and cannot be extended"
        raise ConfigError("size", [Problem("pilot", what, "use a sample without replacement")])
    return int(draws)


# Comparison after a pilot

PILOT_RATES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 1.0)
"""The default sampling rates; those below the pilot's are omitted."""
Counts: TypeAlias = tuple[int, int, int, int]


def plan_pilot(
    run: Run,
    stage: str,
    *,
    measures: tuple[str, str],
    n: Sequence[int],
    category: str | None = None,
    rates: Sequence[float] = (),
    powers: Sequence[float] = (),
    alpha: float | None = None,
    margin: float | None = None,
    test: str = "fisher",
    alternative: str = "two_sided",
    replicates: int = 10_000,
    seed: str = "power",
    track: Track = track_nothing,
) -> pl.DataFrame:
    """Return the power of a larger sample to distinguish two measures, given a pilot.

    The pilot remains part of the larger sample; the power averages over its uncertainty. After
    full annotation it is the power of a new sample.

    Parameters
    ----------
    run : Run
        Results of an experiment.
    stage : str
        A stage that compares measures.
    measures : tuple of two str
        The pair, in either order.
    n : sequence of int
        Sizes of n-best lists.
    category : str, optional
        Category of true positives, if there are several.
    rates : sequence of float
        Sampling rates in (0, 1], at least the pilot's; round ones by default.
    alpha, margin : float, optional
        As for `plan_comparison`; the stage's own by default.
    powers, test, alternative, replicates, seed, track
        As for `plan_comparison`.

    Returns
    -------
    DataFrame
        As from `plan_comparison`; only_1, only_2 and difference are the pilot's estimates.

    Raises
    ------
    ConfigError
        With all errors in the question, or if the run has no such tables.

    Examples
    --------
    Needs a run::

        done = lx.show("configs/krenn.toml")
        lx.plan_pilot(done, "sampled_comparison", measures=("t_score", "chi_squared"), n=[500])
    """
    node = comparison_stage(run, stage)
    alpha = getattr(node.config, "alpha", 0.05) if alpha is None else alpha
    margin = getattr(node.config, "margin", 0.0) if margin is None else margin
    require([
        *check_open_interval("power", powers),
        *significance(
            alpha=alpha, margin=margin, test=test, alternative=alternative, replicates=replicates
        ),
    ])  # fmt: skip
    pilot = open_pilot(run, stage, measures=measures, n=n, category=category)
    rates = rates or [r for r in PILOT_RATES if _reaches(r, pilot)]
    require([] if powers else _too_small(rates, pilot))
    rows = pilot.rows.iter_rows(named=True)
    test_of = (pilot.candidates, alpha, margin, test, read_alternative(alternative))
    counts = {Lists(Design(r["n"], r["size"], *test_of), *_precisions(r)): _counts(r) for r in rows}
    require([problem for pair in counts for problem in list_problems(pair)])
    if pilot.full:
        power, least = powers_of(replicates=replicates, seed=seed)
    else:
        power, least = _predictive_powers(pilot, counts, replicates, seed)
    return tabulate(list(counts), rates=rates, powers=powers, power=power, least=least, track=track)


def _predictive_powers(
    pilot: Pilot, known: Mapping[Lists, Counts], replicates: int, seed: str
) -> tuple[PowerOf, LeastFor]:
    """Return the power of a sample that includes the pilot, and the least size for a power."""

    def power(pair: Lists, size: int) -> Power:
        return predictive_power(
            pair.design, size=size, pilot=known[pair], pilot_size=pilot.judged,
            replicates=replicates, seed=seed,
        )  # fmt: skip

    def least(pair: Lists, goal: float) -> int | None:
        side = 0 if pair.only_1 > pair.only_2 else 1
        return smallest_size(
            lambda size: power(pair, size)[side] >= goal, pilot.judged, pilot.candidates
        )

    return power, least


def _too_small(rates: Sequence[float], pilot: Pilot) -> Iterator[Problem]:
    yield from check_rates(rates)
    for rate in rates:
        if rate > 0 and not _reaches(rate, pilot):
            has = f"{pilot.judged:,} of {pilot.candidates:,} are judged"
            yield Problem("rate", f"{rate:g} is below the pilot's rate: {has}", "give a larger one")


def _reaches(rate: float, pilot: Pilot) -> bool:
    """Return whether a sample of this rate can include the pilot."""
    return pilot.full or sample_size(pilot.candidates, rate=rate) >= pilot.judged


def _counts(row: dict[str, int]) -> Counts:
    return row["k_1"], row["n_1"], row["k_2"], row["n_2"]


def _precisions(row: dict[str, int]) -> tuple[float, float]:
    first, second = (row[f"k_{i}"] / row[f"n_{i}"] if row[f"n_{i}"] else 0.5 for i in (1, 2))
    return first, second
