"""Findings on clusterings: the leading systems, missed classes, example words, cautions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from pipeline.findings import phrases
from pipeline.findings.base import Finding, StageOptions, StageView, finder, make_caution
from pipeline.findings.phrases import name_text, slug
from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    TYPE_MEASURES,
    ClusterMeasure,
    is_proportion,
    lower_is_better,
)
from pipeline.kernels.clustering.systems import system_table
from pipeline.kernels.clustering.token.measures import PAPER
from pipeline.registry import Registry
from schemas.errors import count_text

# Runs, scores and clusters of a stage.

COMPARING = "evaluate.systems"


class Run(NamedTuple):
    """A run of a system, and whether it is the only one."""

    system: str
    run: str
    only: bool

    @property
    def phrase(self) -> str:
        """Its name in sentences."""
        return (
            name_text(self.system)
            if self.only
            else f"{name_text(self.system)}, run {name_text(self.run)}"
        )

    @property
    def rows(self) -> pl.Expr:
        """The rows of a table that belong to it."""
        return (pl.col("system") == self.system) & (pl.col("run") == self.run)


def first_run(scores: pl.DataFrame, system: str) -> Run:
    """Return the first run of a system by name, which the figures also show.

    Examples
    --------
    >>> first_run(pl.DataFrame({"system": ["a", "a"], "run": ["2", "1"]}), "a").phrase
    'a, run 1'
    """
    runs = sorted(set(scores.filter(system=system)["run"]))
    return Run(system, runs[0], len(runs) == 1)


def by_mapping(scores: pl.DataFrame) -> pl.DataFrame:
    """Return type-level scores without the floor, each measure named with its mapping.

    Parameters
    ----------
    scores : DataFrame
        `schemas.TypeLevel`.
    """
    name = pl.format("{} {}", "measure", "mapping").alias("measure")
    return scores.filter(pl.col("mapping") != "floor").with_columns(name)


def is_compared(stage: StageView) -> bool:
    """Return whether another stage compares the systems of this one and ranks them."""
    return next(iter(stage.consumers(COMPARING)), None) is not None


def mean_scores(
    scores: pl.DataFrame, lower_is_better: frozenset[str] = frozenset()
) -> pl.DataFrame:
    """Return `schemas.SystemTable` of the scores of a level.

    Parameters
    ----------
    scores : DataFrame
        system, run, measure, value.
    lower_is_better : frozenset of str
        Measures for which low values are good.
    """
    return system_table(
        scores.select("system", "run", "measure", "value"), lower_is_better=lower_is_better
    )


def limits_of(scores: pl.DataFrame, measure: str, system: str) -> tuple[float | None, float | None]:
    """Return the limits of a system's only run.

    Parameters
    ----------
    scores : DataFrame
        system, measure, lower, upper.
    """
    rows = scores.filter(system=system, measure=measure)
    return rows.select("lower", "upper").row(0) if rows.height == 1 else (None, None)


def memberships(stage: StageView, run: Run) -> pl.LazyFrame:
    """Return the items of a run with their clusters: item, cluster, f (null if not counted).

    Parameters
    ----------
    stage : StageView
        Its options ``systems``, ``taggings`` or ``dictionaries`` name tables of systems.
    """
    parts = [
        stage.table(table).filter(run.rows).select("item", "cluster", "f")
        for option, table in stage.inputs.items()
        if option.partition(".")[0] in ("systems", "taggings", "dictionaries")
    ]
    counted = pl.when(pl.col("f").is_not_null().all()).then(pl.col("f").sum())
    nothing = pl.LazyFrame(schema={"item": pl.String, "cluster": pl.String, "f": pl.Int64})
    rows = pl.concat([nothing, *parts]).drop_nulls("cluster")
    return rows.group_by("item", "cluster").agg(f=counted)


def gold_of(stage: StageView) -> pl.LazyFrame | None:
    """Return item, gold and f of the gold entries; None if the stage was given none."""
    table = stage.inputs.get("gold")
    return None if table is None else stage.table(table).select("item", "gold", "f")


def runs_of(scores: pl.DataFrame) -> Iterator[Run]:
    """Yield all runs of all systems, by name."""
    every = scores.select("system", "run").unique().sort("system", "run")
    for (system,), rows in every.group_by("system", maintain_order=True):
        yield from (Run(str(system), run, rows.height == 1) for run in rows["run"])


# Measures: their names, their order, the format of their values.

Level: TypeAlias = Literal["types", "tokens", "overlaps"]
"""What a measure counts: types; tokens; or types whose classes and clusters overlap."""

LEVEL_TITLES: dict[Level, str] = {
    "types": "at type level", "tokens": "at token level", "overlaps": "for overlapping classes",
}  # fmt: skip
"""The names of the levels in findings."""

_BY_TYPES = ("MicroI", "MicroC", "MacroI")
# Measures under M-1 grow with the number of clusters, and so come last.
_LEADING: dict[Level, tuple[str, ...]] = {
    "types": tuple(f"{name} {kind}" for kind in ("1-1", "M-1") for name in _BY_TYPES),
    "tokens": ("v", "one_to_one", "many_to_one", "nvi", "vi"),
    "overlaps": ("fuzzy_bcubed_f", "bcubed_f", "nmi_max", "omega"),
}
_REGISTRIES: tuple[Registry[ClusterMeasure[Any]], ...] = (TOKEN_MEASURES, OVERLAPPING_MEASURES)


def level_of(measure: str) -> Level:
    """Return the level of a measure; type-level measures are named with their mapping.

    Examples
    --------
    >>> level_of("MacroI M-1"), level_of("v"), level_of("omega")
    ('types', 'tokens', 'overlaps')
    """
    if " " in measure:
        return "types"
    return "overlaps" if measure in OVERLAPPING_MEASURES else "tokens"


def order_measures(level: Level, measures: Iterable[str]) -> list[str]:
    """Return the measures of a level in the order in which findings consider them.

    Examples
    --------
    >>> order_measures("tokens", ["vi", "rand", "v", "MacroI M-1"])
    ['v', 'vi', 'rand']
    >>> order_measures("types", ["MacroI 1-1", "MicroC M-1", "v"])
    ['MacroI 1-1', 'MicroC M-1']
    """
    order = _LEADING[level]
    mine = {name for name in measures if level_of(name) == level}
    return sorted(mine, key=lambda name: (order.index(name) if name in order else len(order), name))


def compare_levels(measures: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the token-level and the type-level measures of the table that compares the levels.

    At token level those of the paper, or all if it has none of them; at type level all.

    Examples
    --------
    >>> compare_levels(["v", "MacroI M-1", "nmi", "omega", "many_to_one"])
    (['many_to_one', 'v'], ['MacroI M-1'])
    """
    tokens = [name for name in PAPER if name in measures]
    return tokens or order_measures("tokens", measures), order_measures("types", measures)


def title(measure: str) -> str:
    """Return the name of a measure in sentences.

    Examples
    --------
    >>> title("MacroI M-1"), title("many_to_one"), title("bcubed_f"), title("of_a_plugin")
    ('MacroI M-1', 'M-1 accuracy', 'BCubed F', 'of a plugin')
    """
    if level_of(measure) == "types":
        name, _, mapping = measure.rpartition(" ")
        return f"{TYPE_MEASURES.title(name)} {mapping}"
    registry = TOKEN_MEASURES if measure in TOKEN_MEASURES else OVERLAPPING_MEASURES
    return registry.title(measure)


def value(measure: str, number: float) -> str:
    """Return a value of a measure: a proportion in per cent, a coefficient, or a number.

    Examples
    --------
    >>> value("v", 0.7777), value("omega", -0.0459), value("vi", 2.6436)
    ('77.8 %', '−.05', '2.64')
    """
    if is_proportion(measure):
        return phrases.per_cent(number)
    known = _find_measure(measure)
    up_to_one = known is not None and known.range.replace(" ", "").endswith(",1]")
    return phrases.coefficient(number) if up_to_one else phrases.number(number, 2)


def value_with_limits(measure: str, number: float, lower: float | None, upper: float | None) -> str:
    """Return a value of a measure with its limits, if there are any.

    Examples
    --------
    >>> value_with_limits("v", 0.7777, 0.7733, 0.7839)
    '77.8 % [77.3, 78.4]'
    >>> value_with_limits("vi", 0.8917, 0.8695, 0.9097)
    '0.89 [0.87, 0.91]'
    """
    if is_proportion(measure):
        return phrases.estimate(number, lower, upper)
    if lower is None or upper is None:
        return value(measure, number)
    return f"{value(measure, number)} [{value(measure, lower)}, {value(measure, upper)}]"


def lower_values_are_good(measure: str) -> bool:
    """Return whether low values of a measure are good."""
    return level_of(measure) != "types" and measure in LOWER


LOWER = lower_is_better(TOKEN_MEASURES) | lower_is_better(OVERLAPPING_MEASURES)
"""The measures for which low values are good."""


def _find_measure(measure: str) -> ClusterMeasure[Any] | None:
    return next((each.get(measure) for each in _REGISTRIES if measure in each), None)


# Leading systems.

LEADING = "leading system"
"""The question that a comparison of systems answers."""
_SHOWN = 3
_MEASURES: dict[Level, tuple[str, str]] = {
    "types": ("type-level measure", "type-level measures"),
    "tokens": ("token-level measure", "token-level measures"),
    "overlaps": ("measure for overlapping classes", "measures for overlapping classes"),
}  # fmt: skip
"""What the measures of a level are called: one, and several."""

Limits: TypeAlias = Callable[[str, str], tuple[float | None, float | None]]
"""From measure and system to the limits of its value."""


class First(NamedTuple):
    """The systems that rank first by the leading measure of a level."""

    measure: str
    systems: tuple[str, ...]
    of: int

    @property
    def system(self) -> str:
        """The system whose classes and clusters are shown: the first of those tied by name."""
        return self.systems[0]

    @property
    def all_tied(self) -> bool:
        """Whether no system ranks after another."""
        return len(self.systems) == self.of


def first(table: pl.DataFrame, level: Level) -> First | None:
    """Return the systems that rank first at a level; None if no system has a value.

    Parameters
    ----------
    table : DataFrame
        `schemas.SystemTable`.
    level : str
        "types", "tokens" or "overlaps".

    Examples
    --------
    >>> rows = {"measure": ["v", "v"], "system": ["a", "b"], "mean": [0.1, 0.7], "rank": [2.0, 1.0]}
    >>> first(pl.DataFrame(rows), "tokens")
    First(measure='v', systems=('b',), of=2)
    """
    for measure in order_measures(level, table["measure"].unique()):
        rows = table.filter(pl.col("mean").is_not_null(), measure=measure)
        if rows.height:
            best = rows.filter(pl.col("rank") == pl.col("rank").min()).sort("system")
            return First(measure, tuple(best["system"]), rows.height)
    return None


def no_limits(_measure: str, _system: str) -> tuple[None, None]:
    """Return no limits: the error is unknown."""
    return None, None


def leaders(
    table: pl.DataFrame, level: Level, *, limits: Limits = no_limits, figure: str | None = None
) -> Iterator[Finding]:
    """Say which system ranks first by the leading measure of a level, and which by the others.

    Parameters
    ----------
    table : DataFrame
        `schemas.SystemTable`.
    level : str
        "types", "tokens" or "overlaps".
    limits : callable
        Limits of a system with a single run.
    figure : str or None
        The figure that shows the systems.
    """
    top = first(table, level)
    if top is None:
        return
    yield _leader(table, level, top, limits, where=LEVEL_TITLES[level], figure=figure)
    others = [
        name for name in order_measures(level, table["measure"].unique()) if name != top.measure
    ]
    yield from _others(table, top, others, *_MEASURES[level])


def _leader(
    table: pl.DataFrame, level: Level, top: First, limits: Limits, *, where: str,
    figure: str | None = None, question: str = LEADING,
) -> Finding:  # fmt: skip
    rows = table.filter(measure=top.measure).drop_nulls("mean").sort("rank", "system")
    row = rows.row(0, named=True)
    one_run = row["n_runs"] == 1 and len(top.systems) == 1
    lower, upper = limits(top.measure, top.system) if one_run else (None, None)
    by, estimate = title(top.measure), _estimate(top.measure, row, lower, upper)
    names = [name_text(name) for name in top.systems]
    if top.of == 1:
        text = f"{where}: {names[0]}, {by} {estimate} (the only system)"
    elif top.all_tied:
        text = f"all {top.of:,} systems are tied {where}: {by} {estimate}"
    else:
        after = rows.row(len(names), named=True)
        low = lower_values_are_good(top.measure)
        text = phrases.highest(f"{by} {where}", names, estimate, lowest=low)
        text += f", followed by {name_text(after['system'])}"
        text += f" ({value(top.measure, after['mean'])}); {top.of:,} systems"
    return Finding(
        about=level, question=question, text=phrases.sentence(text), name=top.system,
        value=row["mean"], lower=lower, upper=upper, n=top.of, figure=figure,
    )  # fmt: skip


def _estimate(measure: str, row: dict[str, Any], lower: float | None, upper: float | None) -> str:
    if row["n_runs"] > 1 and is_proportion(measure):
        return phrases.spread(row["mean"], row["sd"], row["n_runs"])
    runs = "" if row["n_runs"] < 2 else f" (mean of {row['n_runs']:,} runs)"
    return value_with_limits(measure, row["mean"], lower, upper) + runs


def _others(
    table: pl.DataFrame, top: First, measures: Sequence[str], one: str, several: str
) -> Iterator[Finding]:
    """Say which systems rank first by other measures, called by `one` or `several`."""
    by_system: dict[str, list[str]] = {}
    for measure in measures:
        best = first(table.filter(measure=measure), level_of(measure))
        if best is not None:
            names = phrases.list_text([name_text(name) for name in best.systems])
            by_system.setdefault(names, []).append(title(measure))
    if not by_system or top.of == 1:
        return
    many = sum(len(measures) for measures in by_system.values())
    if len(by_system) == 1:
        (name, titles), *_ = by_system.items()
        ranks = "ranks" if many == 1 else "all rank"
        called = count_text(many, f"other {one}", f"other {several}")
        text = f"{called} ({phrases.list_text(titles)}) {ranks} {name} first"
    else:
        parts = [
            f"{len(titles):,} {'ranks' if len(titles) == 1 else 'rank'} {name} first "
            f"({phrases.list_text(titles)})"
            for name, titles in by_system.items()
        ]
        if len(parts) > _SHOWN:
            rest = sum(map(len, [*by_system.values()][_SHOWN:]))
            parts[_SHOWN:] = [f"{rest:,} {'ranks' if rest == 1 else 'rank'} other systems first"]
        text = f"of {many:,} other {several}, {phrases.list_text(parts)}"
    mine = by_system.get(phrases.list_text([name_text(name) for name in top.systems]), [])
    yield Finding(
        about="other measures", question="other measures",
        text=phrases.sentence(text), name=top.system, value=float(len(mine)), n=many,
    )  # fmt: skip


# Cautions.

_LATE = 80
CLEAR = 5
"""With this many systems, an order or its reverse has a chance probability below 1 in 20."""
_UNLIKE = 1.1
"""The largest ratio of numbers of clusters that counts as similar."""


class WithoutClusterOptions(StageOptions):
    """The treatment of tokens without a cluster."""

    without_cluster: str


@finder(stages=("evaluate.systems",), place=_LATE)
def untested_order(stage: StageView) -> Iterator[Finding]:
    """Say that no test compares the systems, and that few systems make a correlation weak."""
    table = stage.table("table").collect()
    many = int(table["system"].n_unique())
    if many < 2:
        return
    yield make_caution(
        "untested",
        f"the {many:,} systems were not tested against each other: they are ordered by estimates",
        float(many),
    )
    both = all(first(table, level) is not None for level in ("types", "tokens"))
    if both and many < CLEAR:
        yield make_caution("few systems", few_systems_text(many), float(many))


def few_systems_text(many: int) -> str:
    """Say that rank correlations over less than `CLEAR` systems mean nothing.

    Examples
    --------
    >>> few_systems_text(4).partition(": ")[2]
    'by chance alone, two measures order 4 systems identically with probability 1 in 24'
    """
    return (
        f"rank correlations over {many:,} systems mean nothing: by chance alone, two measures "
        f"order {many:,} systems identically with probability 1 in {math.factorial(many):,}"
    )


@finder(stages=("evaluate.type_level",), place=_LATE)
def type_level_cautions(stage: StageView) -> Iterator[Finding]:
    """Say which mappings are not proven, and which items are excluded or count as wrong."""
    scores = stage.table("scores").collect()
    if scores.is_empty():
        return
    yield from _not_proven(by_mapping(scores))
    yield from _numbers_of_clusters(scores.select("system", "n_clusters").unique())
    sizes = scores.select("system", "run", "n_items", "n_dropped", "n_without_cluster").unique()
    if lost := _most_lost(sizes, "n_without_cluster"):
        verbs = "has no cluster and counts", "have no cluster and count"
        text = f"{lost.phrase('type', *verbs)} as not found{lost.elsewhere}"
        yield make_caution("without cluster", text, lost.count, n=lost.of, name=lost.system)
    if lost := _most_lost(sizes, "n_dropped"):
        verb = "type has" if lost.count == 1 else "types have"
        text = (
            f"in {lost.run}, {lost.count:,} {verb} a cluster but no gold class and "
            f"{'is' if lost.count == 1 else 'are'} excluded{lost.elsewhere}; "
            f"{count_text(lost.of, 'type')} {'counts' if lost.of == 1 else 'count'}"
        )
        yield make_caution("dropped", text, lost.count, n=lost.of, name=lost.system)


def _not_proven(scores: pl.DataFrame) -> Iterator[Finding]:
    """Say how many values may be too low because their mapping is not proven optimal."""
    open_ones = scores.filter(certificate="not proven")
    if open_ones.is_empty():
        return
    measures = [title(name) for name in sorted(set(open_ones["measure"]))]
    text = (
        f"for {open_ones.height:,} of {scores.height:,} values, the mapping is not proven optimal "
        f"({phrases.list_text(measures)}): these may be too low"
    )
    gaps = open_ones.drop_nulls("gap")
    widest = None
    if gaps.height:
        row = gaps.sort("gap", "system", "run", descending=[True, False, False]).row(0, named=True)
        widest = float(row["gap"])
        at_most = phrases.number(100 * widest, 1)
        text += f", by at most {at_most} points where a bound is known"
    yield make_caution("not proven", text, widest, n=open_ones.height)


def _numbers_of_clusters(counts: pl.DataFrame) -> Iterator[Finding]:
    """Say that M-1 values increase with the number of clusters, where the numbers differ."""
    ordered = counts.sort("n_clusters", "system")
    rows = [(name, many) for name, many in ordered.select("system", "n_clusters").rows() if many]
    if not rows:
        return
    (least, few), (most, many) = rows[0], rows[-1]
    if least == most or many <= _UNLIKE * few:
        return
    yield make_caution(
        "numbers of clusters",
        f"M-1 values increase with the number of clusters, which ranges from {few:,} "
        f"({name_text(least)}) to {many:,} ({name_text(most)})",
        float(many),
    )


@dataclass(frozen=True)
class _Loss:
    """The run that loses most items, and the number of other runs that lose some."""

    run: str
    system: str
    count: int
    of: int
    others: int

    @property
    def elsewhere(self) -> str:
        """What the other runs lose; empty if none loses anything."""
        if not self.others:
            return ""
        return f" ({count_text(self.others, 'other run')}: as many or fewer)"

    def phrase(self, unit: str, one: str, several: str) -> str:
        """Name the run, the count and the total, with the verb for one or several."""
        of = count_text(self.of, unit)
        return f"in {self.run}, {self.count:,} of {of} {one if self.count == 1 else several}"


def _most_lost(sizes: pl.DataFrame, column: str) -> _Loss | None:
    """Return the run that loses most items; None if no run loses any."""
    order = {column: True, "system": False, "run": False}
    rows = sizes.filter(pl.col(column) > 0).sort(list(order), descending=list(order.values()))
    if rows.is_empty():
        return None
    row = rows.row(0, named=True)
    names = {(run.system, run.run): run.phrase for run in runs_of(sizes)}
    phrase = names[row["system"], row["run"]]
    return _Loss(phrase, row["system"], row[column], row["n_items"], rows.height - 1)


@finder(stages=("evaluate.token_level",), place=_LATE)
def token_level_cautions(stage: StageView) -> Iterator[Finding]:
    """Say how many tokens have no cluster, and that numbers of clusters differ."""
    mapping = stage.table("mapping").filter(mapping="many_to_one").collect()
    counts = mapping.group_by("system", "run").agg(n_clusters=pl.len())
    yield from _numbers_of_clusters(counts.select("system", "n_clusters").unique())
    sizes = stage.table("sizes").collect()
    counted = sizes.pivot(on="what", index=["system", "run"], values="count")
    alone = "tokens without a cluster"
    if alone not in counted.columns:
        return
    has_extra = stage.options_as(WithoutClusterOptions).without_cluster == "cluster"
    if lost := _most_lost(counted.rename({"tokens": "n_items"}), alone):
        fate = "in one additional cluster" if has_extra else "excluded"
        verbs = "has no cluster and is", "have no cluster and are"
        text = f"{lost.phrase('token', *verbs)} {fate}{lost.elsewhere}"
        yield make_caution("without cluster", text, lost.count, n=lost.of, name=lost.system)


# Example words of clusters.

MOST_CLUSTERS, MOST_WORDS = 6, 4
"""Clusters, and words of each, that a sentence shows; the others are counted."""


def clusters_with_words(
    stage: StageView, run: Run, mapping: pl.DataFrame, *, most: int
) -> pl.DataFrame:
    """Return the clusters of a run with examples, the largest first.

    Parameters
    ----------
    stage : StageView
        A stage that evaluates clusters.
    run : Run
        The run.
    mapping : DataFrame
        cluster, gold (null if unmapped), n_ij, n_j of this run.
    most : int
        Words of each cluster.

    Returns
    -------
    DataFrame
        cluster, gold, n_ij, n_j, words (list of str): the words with most tokens first, counted
        where the system counted them in its text, else by the gold entries; words without a gold
        entry are omitted.
    """
    items = memberships(stage, run)
    gold = gold_of(stage)
    if gold is not None:
        tokens = gold.group_by("item").agg(tokens=pl.col("f").sum())
        items = items.join(tokens, on="item").with_columns(f=pl.coalesce("f", "tokens"))
    order = items.sort("cluster", "f", "item", descending=[False, True, False], nulls_last=True)
    words = order.group_by("cluster", maintain_order=True).agg(words=pl.col("item").head(most))
    clusters = mapping.select("cluster", "gold", "n_ij", "n_j")
    joined = clusters.lazy().join(words, on="cluster", how="left").collect()
    filled = joined.with_columns(pl.col("words").fill_null([]))
    return filled.sort("n_j", "cluster", descending=[True, False])


def example_words(
    stage: StageView, run: Run, mapping: pl.DataFrame, *, unit: str, figure: str
) -> Iterator[Finding]:
    """Describe the largest clusters of a run in one sentence.

    Parameters
    ----------
    stage, run, mapping
        As for `clusters_with_words`.
    unit : str
        The unit of n_j: "type" or "token".
    figure : str
        The figure that shows the mapping.
    """
    if mapping.is_empty():
        return
    clusters = clusters_with_words(stage, run, mapping, most=MOST_WORDS + 1)
    parts = [_cluster(*row, unit=unit) for row in clusters.head(MOST_CLUSTERS).rows()]
    others = clusters.height - len(parts)
    rest = f"; and {count_text(others, 'smaller cluster')}" if others else ""
    text = f"The {count_text(clusters.height, 'cluster')} of {run.phrase}: {'; '.join(parts)}{rest}"
    if clusters.height == 1:
        text = text.replace("The 1 cluster", "The only cluster (1)", 1)
    yield Finding(
        about="clusters", question=f"clusters of {run.phrase}", name=run.system,
        text=phrases.sentence(text), value=float(clusters.height), figure=figure,
    )  # fmt: skip


def _cluster(
    cluster: str, gold: str | None, n_ij: int, n_j: int, members: list[str], *, unit: str
) -> str:
    share = f"{phrases.per_cent(n_ij / n_j, digits=0)} " if n_j else ""
    mapped = "unmapped" if gold is None else f"{share}{name_text(gold)}"
    text = ", ".join(name_text(word) for word in members[:MOST_WORDS])
    more = " …" if len(members) > MOST_WORDS else ""
    words = f": {text}{more}" if text else ""
    return f"{name_text(cluster)} ({count_text(n_j, unit)}, {mapped}){words}"


# Missed classes.

MISSED = "classes without a cluster"


def missed_by(
    run: Run, measure: str, classes: pl.DataFrame, *, share: float | None, unit: str, figure: str
) -> Finding:
    """Say which classes have no cluster in a run under a measure's mapping.

    Parameters
    ----------
    run : Run
        The run.
    measure : str
        The measure of the mapping.
    classes : DataFrame
        gold, n (items of the class, or tokens), uncovered: a row for each class.
    share : float or None
        Share of the items, or tokens, in missed classes; None if unknown.
    unit : str
        "type" or "token".
    figure : str
        The figure that shows the classes.
    """
    missed = classes.filter("uncovered").sort("n", "gold", descending=[True, False])
    every = count_text(classes.height, "class", "classes")
    by = f"{title(measure)} mapping"
    if missed.is_empty():
        text = f"in {run.phrase}, every one of the {every} has a cluster ({by})"
    else:
        rows = missed.select("gold", "n").rows()
        parts = [f"{name_text(gold)} ({count_text(n, unit)})" for gold, n in rows]
        with_all = "" if share is None else f" and {phrases.per_cent(share)} of all {unit}s"
        held_text = f"{phrases.list_text(parts)}, in total {missed.height:,} of {every}{with_all}"
        text = f"classes without a cluster in {run.phrase} ({by}): {held_text}"
    return Finding(
        about="missed", question=MISSED, name=run.system, value=float(missed.height),
        text=phrases.sentence(text), n=classes.height, figure=figure,
    )  # fmt: skip


def missed_by_all(classes: Sequence[str], *, systems: int, of: int) -> Finding:
    """Say which classes have no cluster in any system.

    Parameters
    ----------
    classes : sequence of str
        The classes, at least one.
    systems, of : int
        The number of systems, and of classes.

    Examples
    --------
    >>> missed_by_all(["INTJ"], systems=4, of=17).text
    'Classes without a cluster in any of 4 systems: INTJ, in total 1 of 17 classes.'
    """
    phrase = phrases.list_text([name_text(name) for name in classes])
    every = count_text(of, "class", "classes")
    text = (
        f"classes without a cluster in any of {count_text(systems, 'system')}: {phrase}, "
        f"in total {len(classes):,} of {every}"
    )
    return Finding(
        about="missed by all", question=MISSED, text=phrases.sentence(text),
        value=float(len(classes)), n=of,
    )  # fmt: skip


@finder(stages=("evaluate.overlapping",), place=20)
def overlapping(stage: StageView) -> Iterator[Finding]:
    """Say which system ranks first by BCubed F."""
    if is_compared(stage):
        return
    scores = stage.table("scores").collect()
    yield from leaders(mean_scores(scores, LOWER), "overlaps", limits=partial(limits_of, scores))


class Senses(StageOptions):
    """The senses that are compared, and the measures."""

    measures: tuple[str, ...]
    token_measures: tuple[str, ...]
    senses: Literal["all", "heaviest"]


def senses_of(stage: StageView) -> str:
    """Say which senses a stage compares.

    Parameters
    ----------
    stage : StageView
        A stage of the kind evaluate.senses.

    Returns
    -------
    str
        "heaviest", "graded", or empty for all senses without degrees.
    """
    options = stage.options_as(Senses)
    if options.senses == "heaviest":
        return "heaviest"
    names = (*options.measures, *options.token_measures)
    return "graded" if all(name.startswith("fuzzy_") for name in names) else ""


_SENSES = {"heaviest": "the heaviest senses", "graded": "graded senses", "": "word senses"}


@finder(stages=("evaluate.senses",), place=20)
def senses(stage: StageView) -> Iterator[Finding]:
    """Say which system ranks first by the measures of word senses."""
    if is_compared(stage):
        return
    scores = stage.table("scores").collect()
    table, limits = mean_scores(scores, LOWER), partial(limits_of, scores)
    phrase = _SENSES[senses_of(stage)]
    levels: tuple[Level, ...] = ("overlaps", "tokens")
    firsts = {level: one for level in levels if (one := first(table, level)) is not None}
    leading = [one.measure for one in firsts.values()]
    for level, one in firsts.items():
        question = LEADING if one.measure == leading[0] else f"{LEADING} by {title(one.measure)}"
        yield _leader(table, level, one, limits, where=f"for {phrase}", question=question)
    others = [
        name for level in firsts for name in order_measures(level, table["measure"].unique())
        if name not in leading
    ]  # fmt: skip
    for one in [*firsts.values()][:1]:
        yield from _others(table, one, others, f"measure for {phrase}", f"measures for {phrase}")


# Shares of types and tokens: uneven shares can make the two levels differ.

_ALL = "*"
"""All items together, in the tables."""
_FEW = 100
"""The number of most frequent types to report, or the nearest that was counted."""


@finder(stages=("evaluate.shares",), place=60)
def shares(stage: StageView) -> Iterator[Finding]:
    """Say what the most frequent types, those with several classes, and the largest class have."""
    frequent = stage.table("frequent").filter(gold=_ALL).collect().drop_nulls("share_tokens")
    classes = stage.table("shares").filter(pl.col("gold") != _ALL).collect()
    question = "shares of types and tokens"
    if frequent.height:
        row = frequent.sort((pl.col("k") - _FEW).abs(), "k").row(0, named=True)
        types = count_text(row["k"], "most frequent type")
        has = "has" if row["k"] == 1 else "have"
        phrase = (
            f"{phrases.per_cent(row['share_tokens'])} of the tokens and {row['classes']:,} of "
            f"{count_text(classes.height, 'class', 'classes')}"
        )
        yield Finding(
            about="frequent", question=question, value=row["share_tokens"], n=row["k"],
            text=phrases.sentence(f"the {types} {has} {phrase}"), figure="covered",
        )  # fmt: skip
    yield from _several_classes(stage, question)
    known = classes.drop_nulls(["share_types", "share_tokens"])
    if known.height:
        row = known.sort("types", "gold", descending=[True, False]).row(0, named=True)
        types, tokens = (phrases.per_cent(row[f"share_{what}"]) for what in ("types", "tokens"))
        phrase = f"{name_text(row['gold'])}, with {types} of the types and {tokens} of the tokens"
        yield Finding(
            about="largest class", question=question, name=row["gold"],
            text=phrases.sentence(f"largest class by types: {phrase}"), value=row["share_types"],
            n=row["types"], figure="classes",
        )  # fmt: skip


def _several_classes(stage: StageView, question: str) -> Iterator[Finding]:
    """Give the shares of the types with several classes, of all types and of the most frequent."""
    bands = stage.table("bands").collect()
    if bands.is_empty():
        return
    ranks = bands.select(types=pl.max("last_rank"), top=pl.min("last_rank")).row(0, named=True)
    every, top = (
        bands.filter(first_rank=1, last_rank=last, words="several classes")
        for last in ranks.values()
    )
    share = every["types"][0] / ranks["types"]
    text = (
        f"types with several classes are {phrases.per_cent(share)} of the types and "
        f"{phrases.per_cent(every['share_tokens'][0] or 0.0)} of the tokens"
    )
    if ranks["top"] < ranks["types"]:
        text += f", and {top['types'][0]:,} of the {ranks['top']:,} most frequent types"
    yield Finding(
        about="several classes", question=question, value=share, n=ranks["types"],
        text=phrases.sentence(text), figure="covered",
    )  # fmt: skip


# Comparison of systems by types and by tokens.

_TABLES: dict[Level, str] = {
    "types": "type_level", "tokens": "token_level", "overlaps": "overlapping",
}  # fmt: skip
"""The levels, and the options that name their scores."""
_FEWEST = 2


@finder(stages=("evaluate.systems",), place=10)
def systems(stage: StageView) -> Iterator[Finding]:
    """Say which system ranks first at each level, and how the levels correlate."""
    table = stage.table("table").collect()
    both = all(first(table, level) is not None for level in ("types", "tokens"))
    by_level = {
        level: list(
            leaders(table, level, limits=_limits(stage, level), figure="scatter" if both else None)
        )
        for level in _TABLES
    }
    yield from (each for level in _TABLES for each in by_level[level][:1])
    yield from _first_of_levels(table)
    yield from _agreement(stage, table)
    yield from (each for level in _TABLES for each in by_level[level][1:])


def _limits(stage: StageView, level: Level) -> Limits:
    """Return a function that looks up the limits of a level's scores."""
    source = stage.inputs.get(_TABLES[level])
    if source is None and level != "types":
        source = stage.inputs.get("senses")
    if source is None:
        return no_limits
    scores = stage.table(source).collect()
    return partial(limits_of, by_mapping(scores) if level == "types" else scores)


def _first_of_levels(table: pl.DataFrame) -> Iterator[Finding]:
    """Say whether the same system ranks first by types and by tokens, and in how many pairs."""
    types, tokens = first(table, "types"), first(table, "tokens")
    if types is None or tokens is None or types.all_tied or tokens.all_tied:
        return
    token_measures, type_measures = compare_levels(set(table["measure"]))
    pairs = list(
        itertools.product(
            _firsts(table, "types", type_measures), _firsts(table, "tokens", token_measures)
        )
    )
    if not pairs:  # no measure of a level tells the systems apart
        return
    differ = sum(set(one.systems).isdisjoint(other.systems) for one, other in pairs)
    by = f"{title(types.measure)} and {title(tokens.measure)}"
    shared = [name_text(name) for name in types.systems if name in tokens.systems]
    if shared:
        text = (
            f"types and tokens agree on the system that ranks first, {phrases.list_text(shared)}, "
            f"by {by}"
        )
    else:
        text = (
            "types and tokens disagree on the system that ranks first: "
            f"{_rank_text(table, types, tokens)}; {_rank_text(table, tokens, types)}"
        )
    if len(pairs) > 1:
        many = f"{differ:,} of" if 0 < differ < len(pairs) else "all"
        verb = "disagree" if differ else "agree"
        text += f". They {verb} in {many} {len(pairs):,} pairs of a type-level and a token-level "
        text += "measure"
    yield Finding(
        about="first by level", question="agreement of types and tokens", value=differ / len(pairs),
        text=phrases.sentence(text), name=types.system, other=tokens.system, n=types.of,
        figure="scatter",
    )  # fmt: skip


def _firsts(table: pl.DataFrame, level: Level, measures: Iterable[str]) -> list[First]:
    """Return the first systems by each measure, except where all are tied."""
    firsts = (first(table.filter(measure=name), level) for name in measures)
    return [each for each in firsts if each is not None and not each.all_tied]


def _rank_text(table: pl.DataFrame, here: First, there: First) -> str:
    """Name the first systems of a level, with their rank at the other level."""
    rows = table.filter(pl.col("system").is_in(here.systems), measure=there.measure)
    ranks = rows["rank"].drop_nulls().to_list()
    names = phrases.list_text([name_text(name) for name in here.systems])
    place = f"rank {min(ranks):g} of {there.of:,}" if ranks else "no value"
    return f"by {title(here.measure)} it is {names} ({place} by {title(there.measure)})"


def _agreement(stage: StageView, table: pl.DataFrame) -> Iterator[Finding]:
    """Say how the orders of systems by types and by tokens correlate."""
    types, tokens = first(table, "types"), first(table, "tokens")
    if types is None or tokens is None:
        return
    pair = {"measure_1": types.measure, "measure_2": tokens.measure, "method": "spearman"}
    rows = stage.table("correlations").filter(**pair).collect()
    if rows.is_empty() or rows["n_systems"][0] < _FEWEST:
        return
    rho, many = rows["correlation"][0], int(rows["n_systems"][0])
    of = f"{title(types.measure)} and {title(tokens.measure)}"
    yield Finding(
        about="agreement", question="agreement of types and tokens", value=rho, n=many,
        text=phrases.sentence(_agreement_text(rho, many, of)), name=types.system,
        other=tokens.system, figure="scatter",
    )  # fmt: skip


def _agreement_text(rho: float | None, many: int, of: str) -> str:
    if rho is None:
        return (
            "no rank correlation of types and tokens can be computed: at one of the two levels, "
            f"all {many:,} systems are tied"
        )
    order = "identically" if rho == 1 else ("in reverse order" if rho == -1 else "differently")
    return (
        f"type-level and token-level scores rank the {many:,} systems {order}: Spearman's rho "
        f"{phrases.coefficient(rho)} between {of}"
    )


# Token level.


@finder(stages=("evaluate.token_level",), place=20)
def token_level(stage: StageView) -> Iterator[Finding]:
    """Report token-level scores; name the first system unless another stage ranks them."""
    scores = stage.table("scores").collect()
    table = mean_scores(scores, LOWER)
    top = first(table, "tokens")
    if top is None:
        return
    if not is_compared(stage):
        yield from leaders(table, "tokens", limits=partial(limits_of, scores))
    run = first_run(scores, top.system)
    overlaps = stage.table("overlaps").filter(run.rows).collect()
    kind = "many_to_one" if "many_to_one" in set(scores["measure"]) else "one_to_one"
    yield from _floor(kind, run, overlaps)
    mapping = stage.table("mapping").filter(run.rows, pl.col("mapping") == kind).collect()
    figure = f"mapping-{slug(run.system)}"
    yield from _missed_tokens(run, kind, overlaps, mapping, figure)
    yield from example_words(stage, run, mapping, unit="token", figure=figure)


def _floor(measure: str, run: Run, overlaps: pl.DataFrame) -> Iterator[Finding]:
    """Give the share of the largest class: the M-1 accuracy of a single cluster."""
    if measure != "many_to_one" or overlaps.is_empty():
        return
    sizes = _sizes(overlaps)
    share = int(sizes["n"][0]) / int(sizes["n"].sum())
    text = (
        f"floor: {title(measure)} is {phrases.per_cent(share)} with all tokens in one cluster, "
        f"mapped to {name_text(sizes['gold'][0])}"
    )
    yield Finding(
        about="floor", question=LEADING, text=phrases.sentence(text), name=run.system, value=share
    )


def _sizes(overlaps: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens of each class, the largest class first."""
    sizes = overlaps.group_by("gold").agg(n=pl.col("n_i").max())
    return sizes.sort("n", "gold", descending=[True, False])


def _missed_tokens(
    run: Run, measure: str, overlaps: pl.DataFrame, mapping: pl.DataFrame, figure: str
) -> Iterator[Finding]:
    if overlaps.is_empty():
        return
    covered = list(mapping["gold"].drop_nulls())
    classes = _sizes(overlaps).with_columns(uncovered=~pl.col("gold").is_in(covered))
    share = int(classes.filter("uncovered")["n"].sum()) / int(classes["n"].sum())
    yield missed_by(run, measure, classes, share=share, unit="token", figure=figure)


# Type level.


@finder(stages=("evaluate.type_level",), place=20)
def type_level(stage: StageView) -> Iterator[Finding]:
    """Report type-level scores; name the first system unless another stage ranks them."""
    every = stage.table("scores").collect()
    scores = by_mapping(every)
    table = mean_scores(scores)
    top = first(table, "types")
    if top is None:
        return
    if not is_compared(stage):
        yield from leaders(table, "types", limits=partial(limits_of, scores))
    many_to_one = table.filter(pl.col("measure").str.ends_with(" M-1"))
    top = first(many_to_one, "types") or top
    yield from floor(every, top)
    run = first_run(scores, top.system)
    measure, _, mapping = top.measure.rpartition(" ")
    under = {"measure": measure, "mapping": mapping}
    yield from _missed_types(stage, top, run, stage.table("classes").filter(**under).collect())
    mapped = stage.table("mapping").filter(run.rows).filter(**under).collect()
    yield from example_words(stage, run, mapped, unit="type", figure=f"mapping-{slug(run.system)}")


def floor(scores: pl.DataFrame, top: First) -> Iterator[Finding]:
    """Give the leading measure with every cluster mapped to the largest class.

    Parameters
    ----------
    scores : DataFrame
        `schemas.TypeLevel`.
    top : First
        The first systems.
    """
    measure, _, mapping = top.measure.rpartition(" ")
    rows = scores.filter(mapping="floor", measure=measure, system=top.system)
    if rows.is_empty() or mapping != "M-1":
        return
    value = float(rows.sort("run")["value"][0])
    phrase = f"{title(top.measure)} is {phrases.per_cent(value)}"
    text = f"floor: {phrase} with every cluster mapped to the largest class"
    yield Finding(
        about="floor", question=LEADING, text=phrases.sentence(text), name=top.system, value=value
    )


def _missed_types(
    stage: StageView, top: First, run: Run, classes: pl.DataFrame
) -> Iterator[Finding]:
    mine = classes.filter(run.rows)
    if mine.is_empty():
        return
    rows = mine.select("gold", pl.col("n_i").alias("n"), "uncovered")
    yield missed_by(
        run, top.measure, rows, share=_share(stage, list(mine.filter("uncovered")["gold"])),
        unit="type", figure=f"classes-{slug(run.system)}",
    )  # fmt: skip
    by_all = classes.group_by("gold").agg(pl.col("uncovered").all()).filter("uncovered")
    if by_all.height and top.of > 1:
        yield missed_by_all(sorted(by_all["gold"]), systems=top.of, of=mine.height)


def _share(stage: StageView, missed: list[str]) -> float | None:
    """Return the share of types with a missed class; a type with several counts once."""
    gold = gold_of(stage)
    if gold is None:
        return None
    hit = pl.col("item").filter(pl.col("gold").is_in(missed)).n_unique()
    every, some = gold.select(pl.col("item").n_unique(), some=hit).collect().row(0)
    return float(some / every) if every else None
