"""Findings on lexicons: L* and its losses, comparisons, cautions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from pipeline.findings import phrases
from pipeline.findings.base import Finding, StageOptions, StageView, finder, make_caution
from pipeline.findings.phrases import name_text
from pipeline.kernels.lexicon.inference import (
    form_weights,
    lemmas_by_size,
    unequal,
)
from pipeline.kernels.lexicon.l_measure import best
from pipeline.kernels.lexicon.wordlists import sizes
from schemas.errors import count_text


class EvaluationOptions(StageOptions):
    """How the stage evaluates."""

    gold: str
    lexicon: str
    n: int | None


class Statistic(NamedTuple):
    """A statistic with its limits; None where unknown."""

    value: float | None
    lower: float | None
    upper: float | None


_UNKNOWN = Statistic(None, None, None)


class Quality:
    """The statistics of a lexicon by name.

    Parameters
    ----------
    table : DataFrame
        `schemas.LexiconQuality`.

    Examples
    --------
    >>> rows = {"statistic": ["L*"], "value": [0.8], "lower": [0.7], "upper": [0.9]}
    >>> Quality(pl.DataFrame(rows))["L*"].value, Quality(pl.DataFrame(rows)).count("n")
    (0.8, None)
    """

    def __init__(self, table: pl.DataFrame) -> None:
        columns = ("statistic", "value", "lower", "upper")
        self._rows = {row[0]: Statistic(*row[1:]) for row in table.select(columns).rows()}

    def __getitem__(self, name: str) -> Statistic:
        """Return a statistic; unknown if the table has none of this name."""
        return self._rows.get(name, _UNKNOWN)

    def count(self, name: str) -> int | None:
        """Return a statistic that is a number of lemmas or forms."""
        value = self[name].value
        return None if value is None else round(value)


def sampling_text(scores: pl.DataFrame) -> str:
    """Return how the lemmas were drawn, to follow their number; empty for a simple sample.

    Parameters
    ----------
    scores : DataFrame
        Column pi, null for lemmas that were chosen.

    Examples
    --------
    >>> sampling_text(pl.DataFrame({"pi": [0.5, 0.2]}))
    ', drawn in proportion to paradigm size'
    """
    return ", drawn in proportion to paradigm size" if unequal(scores) else ""


class Names(NamedTuple):
    """The names of the lexicon and the gold in sentences."""

    lexicon: str
    gold: str


def sources_of(stage: StageView) -> Names:
    """Return the names of the stages that made the lexicon and the gold."""
    judged = stage.options_as(EvaluationOptions)
    return Names(*(name_text(name.partition(".")[0]) for name in (judged.lexicon, judged.gold)))


# Comparison of several lexicons with one gold.

QUESTION = "comparison of the lexicons"
"""The question that a comparison of lexicons answers."""


class ComparisonOptions(StageOptions):
    """The lexicons that the stage compares."""

    lexicons: tuple[str, ...]


class LexiconPair(NamedTuple):
    """Another L* compared with the highest one: other minus highest."""

    other: str
    difference: float
    lower: float | None
    upper: float | None
    wins: int
    losses: int
    equal: int


@finder(stages=("evaluate.lexicons",), place=10)
def compared_lexicons(stage: StageView) -> Iterator[Finding]:
    """Name the lexicon with the highest L*, and compare each other one with it."""
    table = stage.table("lexicons").collect().drop_nulls("l_star")
    if table.is_empty():
        return
    rows = table.sort("l_star", "lexicon", descending=[True, False])
    names = names_of(stage)
    yield _highest(rows, names, sampling_text(stage.table("lemmas").collect()))
    first = rows["lexicon"][0]
    pairs = pairs_with(stage.table("differences").collect(), first)
    for pair in sorted(pairs, key=lambda pair: (-pair.difference, pair.other)):
        yield _difference_finding(pair, first, names)


def names_of(stage: StageView) -> dict[str, str]:
    """Return display names by the stages that scored the lexicons.

    A name is the label in the report's section, else the title of the stage, else the name of the
    stage that made the lexicon, unless it made two of them.
    """
    scored = stage.options_as(ComparisonOptions).lexicons
    stages = [name.partition(".")[0] for name in scored]
    lexicons = {
        name: str(stage.stages[name].config.get("lexicon", name)).partition(".")[0]
        if name in stage.stages else name
        for name in stages
    }  # fmt: skip
    distinct = len(set(lexicons.values())) == len(lexicons)

    def name_of(whole: str, name: str) -> str:
        title = stage.stages[name].title if name in stage.stages else ""
        return stage.labels.get(whole) or title or (lexicons[name] if distinct else name)

    return {
        whole: name_text(name_of(whole, name)) for whole, name in zip(scored, stages, strict=True)
    }


def _highest(rows: pl.DataFrame, names: Mapping[str, str], drawn: str) -> Finding:
    top = rows.filter(pl.col("l_star") == pl.col("l_star").max()).sort("lexicon")
    first = top.row(0, named=True)
    lower, upper = _limits(first["lower"], first["upper"])
    phrase = phrases.estimate(first["l_star"], lower, upper)
    tied = [_name(names, name) for name in top["lexicon"]]
    text = phrases.highest("L*", tied, phrase)
    others = rows.filter(pl.col("l_star") < first["l_star"])
    if others.height:
        texts = [
            f"{_name(names, name)} {phrases.estimate(l_star, *_limits(*limits))}"
            for name, l_star, *limits in others.select("lexicon", "l_star", "lower", "upper").rows()
        ]
        text += f"; {phrases.list_text(texts)}"
    text += f" ({count_text(first['n_lemmas'], 'lemma')}{drawn})"
    return Finding(
        about="highest", question=QUESTION, text=phrases.sentence(text), name=first["lexicon"],
        value=first["l_star"], lower=lower, upper=upper, n=first["n_lemmas"], figure="lexicons",
    )  # fmt: skip


def _limits(lower: float | None, upper: float | None) -> tuple[float | None, float | None]:
    """Return the limits of L*; none if all lemmas were evaluated, so that it is exact."""
    return (None, None) if lower is not None and lower == upper else (lower, upper)


def pairs_with(differences: pl.DataFrame, first: str) -> list[LexiconPair]:
    """Return the differences from the lexicon with the highest L*: other minus highest."""
    pairs = []
    for row in differences.drop_nulls("difference").to_dicts():
        wins, losses, equal = row["n_first"], row["n_second"], row["n_equal"]
        if row["second"] == first:
            limits = (row["difference"], *known_limits(row))
            pairs.append(LexiconPair(row["first"], *limits, wins=losses, losses=wins, equal=equal))
        elif row["first"] == first:
            low, high = known_limits(row)
            turned = (None, None) if low is None or high is None else (-high, -low)
            limits = (-row["difference"], *turned)
            pairs.append(LexiconPair(row["second"], *limits, wins=wins, losses=losses, equal=equal))
    return pairs


def known_limits(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return the limits that hold for all pairs together; none if unknown."""
    return (None, None) if row["lower"] is None else (row["lower_family"], row["upper_family"])


def _difference_finding(pair: LexiconPair, first: str, names: Mapping[str, str]) -> Finding:
    leader, other = _name(names, first), _name(names, pair.other)
    lemmas = pair.wins + pair.losses + pair.equal
    test = phrases.Interval(other, pair.difference, pair.lower, pair.upper)
    phrase = phrases.compare_by_interval(test, than=leader)
    many = count_text(lemmas, "lemma")
    text = (
        f"by L*, {phrase}; of {many}, {pair.wins:,} have a higher L in {leader}, {pair.losses:,} "
        f"in {other}, and {pair.equal:,} the same in both"
    )
    return Finding(
        about="comparison", question=QUESTION, text=phrases.sentence(text), name=pair.other,
        other=first, value=pair.difference, lower=pair.lower, upper=pair.upper, n=lemmas,
        figure="differences",
    )  # fmt: skip


def _name(names: Mapping[str, str], lexicon: str) -> str:
    return names.get(lexicon, name_text(lexicon))


# Cautions.

FEW, FEW_BY_SIZE = 50, 30
"""With fewer lemmas, simulated coverage is well below the nominal level; the second number is for
lemmas drawn by size, for which smaller samples were not simulated."""
_ODD = 0.05
"""A difference of L* between best match and same lemma that causes a caution."""
_LATE = 80


@finder(stages=("evaluate.lexicon",), place=_LATE)
def lexicon_cautions(stage: StageView) -> Iterator[Finding]:
    """Warn about few or chosen lemmas, and about unusual matches."""
    scores, names = stage.table("lemmas").collect(), sources_of(stage)
    if scores.is_empty():
        text = f"no L* for {names.lexicon}: it has 0 lemmas in common with {names.gold}"
        yield make_caution("no lemma", text, 0.0, name=names.lexicon)
        return
    yield from _few_or_chosen(scores, names)
    yield from _odd_matches(Quality(stage.table("quality").collect()), names)
    empty = scores.filter(n_gold=0).height
    if empty:
        have = "has" if empty == 1 else "have"
        lemmas = count_text(empty, "lemma")
        text = f"{lemmas} without forms in {names.gold} {have} no weight in L*"
        yield make_caution("no forms", text, float(empty), name=names.lexicon)


def _few_or_chosen(scores: pl.DataFrame, names: Names) -> Iterator[Finding]:
    many, population = scores.height, int(scores["population"][0])
    lemmas = count_text(many, "lemma")
    if not scores["drawn"].all():
        text = (
            f"the {lemmas} used to evaluate {names.lexicon} "
            f"{'was' if many == 1 else 'were'} chosen, not drawn at random: the result does not "
            "generalise to other lemmas"
        )
        yield make_caution("chosen", text, float(many), name=names.lexicon)
    elif many < (few := FEW_BY_SIZE if unequal(scores) else FEW) and many < population:
        text = (
            f"L* of {names.lexicon} is based on {lemmas}: with fewer than {few}, the limits cover "
            "L* less often than the nominal level"
        )
        yield make_caution("few lemmas", text, float(many), name=names.lexicon)


def _odd_matches(quality: Quality, names: Names) -> Iterator[Finding]:
    """Warn if the best matches are often other lemmas."""
    star, same = quality["L*"].value, quality["L*, same lemma"].value
    if star is None or same is None or star - same < _ODD:
        return
    text = (
        f"forms are often listed under other lemmas in {names.lexicon}: L* is "
        f"{phrases.per_cent(same)} if each lemma is compared with the same lemma, and "
        f"{phrases.per_cent(star)} if it is compared with its best match"
    )
    yield make_caution("matches", text, same, name=names.lexicon)


@finder(stages=("join.keying",), place=_LATE)
def keying_cautions(stage: StageView) -> Iterator[Finding]:
    """Count the lemmas missing from the dictionary, and those not yet looked up."""
    keyed = stage.table("keyed").collect()
    lacking = keyed.filter(~pl.col("found")).height
    if lacking:
        text = (
            f"not found in the dictionary of {stage.name}: {lacking:,} of "
            f"{count_text(keyed.height, 'lemma')} looked up "
            f"({phrases.per_cent(lacking / keyed.height)}), which L* ignores"
        )
        yield make_caution("not in the dictionary", text, float(lacking), n=keyed.height)
    steps = stage.table("preparation").filter(step="lemmas not looked up yet").collect()
    rest = int(steps["n"].sum())
    if rest:
        lemmas = count_text(rest, "lemma")
        have = (
            "has not been looked up yet and is"
            if rest == 1
            else ("have not been looked up yet and are")
        )
        text = f"{lemmas} of {stage.name} {have} excluded"
        yield make_caution("keying", text, float(rest), n=keyed.height + rest)
    yield from _different_keyings(stage, keyed)


def _different_keyings(stage: StageView, keyed: pl.DataFrame) -> Iterator[Finding]:
    """Count lemmas with different forms from several people, and say what became of them."""
    differ = stage.table("disagreements").select(pl.col("lemma").unique()).collect()
    if differ.is_empty():
        return
    resolved = stage.table("resolutions").select("lemma").collect()
    open_ = differ.join(resolved, on="lemma", how="anti")
    undecided = open_.join(keyed, on="lemma", how="anti").height
    by_rule = open_.height - undecided
    rule = "all their forms count" if stage.config.get("rule") == "union" else "a rule decided"
    parts = [
        f"{count:,} {what}"
        for count, what in (
            (differ.height - open_.height, "decided by adjudicators"),
            (by_rule, f"where {rule}"),
            (undecided, "undecided and excluded"),
        )
        if count
    ]
    text = (
        f"people keyed in different forms for {count_text(differ.height, 'lemma')} of {stage.name}:"
        f" {', '.join(parts)}"
    )
    yield make_caution("different keyings", text, float(differ.height), n=keyed.height + undecided)


# Parts of the loss: missing forms, spurious forms, lemmas without a correct form.


class Loss(NamedTuple):
    """The parts of ``1 - L*``; they add up to it.

    Parameters
    ----------
    whole : float
        ``1 - L*``.
    without_right : float
        Lost to lemmas whose match has no correct form.
    missing, spurious : float
        Lost to missing forms, and to spurious forms, of the other lemmas.
    n_without_right, n_missing, n_spurious : int
        The number of these lemmas, and of these forms of the other lemmas.
    """

    whole: float
    without_right: float
    missing: float
    spurious: float
    n_without_right: int
    n_missing: int
    n_spurious: int


def losses(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the cost of each sampled lemma, and its parts.

    With g forms of the gold, m of the match and c in common, ``L = 2 c / (g + m)``, so that
    ``1 - L = (g - c) / (g + m) + (m - c) / (g + m)``: a part for the missing forms and one for the
    spurious ones, a form of either kind costing the same. A lemma costs ``cost = base / n - (size /
    n) L`` of L*, where n is the sum of the bases; its spurious forms cost ``(size / n) (m - c) / (g
    + m)``, its missing ones the rest. Where L is weighted by the gold (size = base = g) that is the
    weight times the parts of 1 - L. Where it is weighted as published (size = m, base = g + m - c)
    the missing forms also cost what they have in the union of both sets. Where lemmas were drawn
    with different probabilities, costs are weighted (`form_weights` in place of 1 / n).

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`, weighted over the sum of its bases.

    Returns
    -------
    DataFrame
        lemma, cost, missing_cost, spurious_cost (proportions of L*; the costs add up to 1 - L*),
        n_gold, n_common, n_missing, n_spurious, L; the lemma that costs most first. No rows where
        the bases add up to 0.

    Examples
    --------
    >>> rows = {"lemma": ["a"], "pi": [1.0], "size": [10], "base": [10], "n_gold": [10],
    ...         "n_match": [7], "n_common": [7], "n_missing": [3], "n_spurious": [0],
    ...         "L": [14 / 17]}
    >>> losses(pl.DataFrame(rows)).select(pl.col("^.*cost$").round(4)).rows()
    [(0.1765, 0.1765, 0.0)]
    """
    n = int(scores["base"].sum())
    rows = scores.filter(pl.lit(n > 0)).sort("lemma")
    both = pl.col("n_gold") + pl.col("n_match")
    spurious = pl.when(both > 0).then(pl.col("size") * pl.col("n_spurious") / both).otherwise(0.0)
    costed = rows.with_columns(
        cost=pl.col("base") - pl.col("size") * pl.col("L"), spurious_cost=spurious
    )
    parts = pl.col("cost", "spurious_cost")
    stands_for = pl.Series(form_weights(rows)) if n and unequal(rows) else None
    costed = costed.with_columns(parts / n if stands_for is None else parts * stands_for)
    costed = costed.with_columns(missing_cost=pl.col("cost") - pl.col("spurious_cost"))
    columns = (
        "lemma", "cost", "missing_cost", "spurious_cost", "n_gold", "n_common", "n_missing",
        "n_spurious", "L",
    )  # fmt: skip
    return costed.select(columns).sort("cost", "lemma", descending=[True, False])


def loss(costs: pl.DataFrame) -> Loss:
    """Return the parts of ``1 - L*``: they add up.

    Parameters
    ----------
    costs : DataFrame
        As `losses` gives them.

    Examples
    --------
    >>> rows = {"cost": [0.2, 0.1], "missing_cost": [0.15, 0.1], "spurious_cost": [0.05, 0.0],
    ...         "n_common": [4, 0], "n_gold": [9, 2], "n_missing": [5, 2], "n_spurious": [2, 0]}
    >>> found = loss(pl.DataFrame(rows))
    >>> round(found.whole, 3), found.without_right, found.missing, found.spurious
    (0.3, 0.1, 0.15, 0.05)
    """
    nothing = (pl.col("n_common") == 0) & (pl.col("n_gold") > 0)
    bare, others = costs.filter(nothing), costs.filter(~nothing)
    return Loss(
        _sum(costs, "cost"), _sum(bare, "cost"), _sum(others, "missing_cost"),
        _sum(others, "spurious_cost"), bare.height, int(others["n_missing"].sum()),
        int(others["n_spurious"].sum()),
    )  # fmt: skip


def _sum(costs: pl.DataFrame, column: str) -> float:
    return float(costs[column].to_numpy().sum())


# Missing lemmas: L* ignores them, F* does not.


def missing_lemmas(
    stage: StageView, quality: Quality, names: Names, question: str
) -> Iterator[Finding]:
    """Count the missing lemmas of the gold, and give their part of the loss of F*.

    L* covers lemmas in both. F* is the same measure over all lemmas of the gold, each compared with
    its best match: it equals L* if no lemma is missing and all are sampled.

    Parameters
    ----------
    stage : StageView
        A stage that evaluates a lexicon against a whole gold; otherwise there is no finding.
    quality : Quality
        Its statistics.
    names, question
        The names, and the question.
    """
    gold, common, f_star = (quality[name].value for name in ("gold lemmas", "common lemmas", "F*"))
    if gold is None or common is None or f_star is None or not gold:
        return
    every, lacking = round(gold), round(gold - common)
    counted = count_text(every, "lemma")
    if not lacking:
        text = f"missing from {names.lexicon}: none of the {counted} of {names.gold}"
        yield _missing_finding(text, names, question, 0.0, every)
        return
    cost = cost_of_missing(stage)
    text = (
        f"missing from {names.lexicon}: {lacking:,} of the {counted} of {names.gold} "
        f"({phrases.per_cent(lacking / every)}), which L* ignores; over all lemmas, F* is "
        f"{phrases.per_cent(f_star)}, and the missing lemmas account for "
        f"{_points(cost)} of the {_points(1 - f_star)} points lost"
    )
    yield _missing_finding(text, names, question, cost, every)


def _missing_finding(text: str, names: Names, question: str, cost: float, every: int) -> Finding:
    return Finding(
        about="missing lemmas", question=question, text=phrases.sentence(text), name=names.lexicon,
        other=names.gold, value=cost, n=every,
    )  # fmt: skip


def cost_of_missing(stage: StageView) -> float:
    """Return the cost of missing lemmas in F*: ``sum (n_i / n) (1 - max_j F(i,j))``.

    The sum is over the lemmas of the gold that are not in the lexicon, n the forms of the whole
    gold. A missing lemma whose forms are listed under another lemma costs less than all its forms.

    Parameters
    ----------
    stage : StageView
        Its options gold, lexicon and overlaps name tables.
    """
    tables = [stage.table(stage.inputs[option]) for option in ("gold", "lexicon", "overlaps")]
    gold, lexicon, overlaps = tables
    counted = sizes(gold, name="n_gold")
    lacking = counted.join(lexicon.select("lemma").unique(), on="lemma", how="anti")
    theirs = overlaps.join(lacking.select(gold="lemma"), on="gold", how="semi")
    matched = lacking.join(best(theirs), on="lemma", how="left")
    both = pl.col("n_gold") + pl.col("n_match")
    f = (2.0 * pl.col("n_common") / both).fill_null(0.0)
    costs = matched.select("lemma", cost=pl.col("n_gold") * (1.0 - f))
    lost, forms = pl.collect_all([costs.sort("lemma"), counted.select(pl.col("n_gold").sum())])
    whole = int(forms.item())
    return float(lost["cost"].to_numpy().sum()) / whole if whole else 0.0


# Lemmas needed to halve the interval.


def halving(stage: StageView, scores: pl.DataFrame, names: Names) -> Iterator[Finding]:
    """Say how many more lemmas would halve the interval of L*.

    Parameters
    ----------
    stage : StageView
        A stage that evaluates a lexicon.
    scores : DataFrame
        `schemas.LemmaScores`.
    names : Names
        The names, and the question.
    """
    interval = stage.table("intervals").filter("chosen").collect()
    if scores.is_empty() or interval.is_empty() or not interval["standard_error"][0]:
        return
    size, population = scores.height, int(scores["population"][0])
    if unequal(scores):
        further = lemmas_by_size(scores, error=interval["standard_error"][0] / 2) - size
    else:
        further = lemmas_more(size, population)
    if further <= 0:
        return
    width = (interval["upper"][0] or 0.0) - (interval["lower"][0] or 0.0)
    now = f", now {phrases.number(100 * width, 1)} points" if width else ""
    text = (
        f"about {phrases.approximate(further):,} more lemmas "
        f"({phrases.approximate(size + further):,} in total) would halve the width of the "
        f"interval{now}"
    )
    yield Finding(
        about="needed", question=f"uncertainty of L* of {names.lexicon}", name=names.lexicon,
        text=phrases.sentence(text), value=float(further), n=size,
    )  # fmt: skip


def lemmas_more(size: int, population: int) -> int:
    """Return how many more lemmas halve the standard error of L*.

    The variance is proportional to ``1/S - 1/M`` for S of M lemmas drawn without replacement; a
    quarter of it needs ``S' = 4 S M / (M + 3 S)``.

    Parameters
    ----------
    size, population : int
        S and M.

    Examples
    --------
    >>> lemmas_more(74, 369), lemmas_more(10, 1_000_000), lemmas_more(5, 5)
    (111, 30, 0)
    """
    if size <= 0 or population <= size:
        return 0
    return math.ceil(4 * size * population / (population + 3 * size)) - size


# Quality of one lexicon.

_COSTLIEST = 3
_FIGURE = "L"
"""The figure that shows L of each lemma."""


@finder(stages=("evaluate.lexicon",), place=20)
def lexicon_quality(stage: StageView) -> Iterator[Finding]:
    """Give L*, its losses and their causes, and the lemmas needed for a narrower interval."""
    quality = Quality(stage.table("quality").collect())
    if quality["L*"].value is None:
        return
    scores = stage.table("lemmas").collect()
    names = sources_of(stage)
    question = f"quality of {names.lexicon}"
    yield _l_star(quality, names, scores, question)
    # With an n of its own, the costs of the lemmas do not add up to the loss.
    if stage.options_as(EvaluationOptions).n is None:
        costs = losses(scores)
        sums = loss(costs)
        yield from _loss_parts(sums, names, question)
        yield from missing_lemmas(stage, quality, names, question)
        yield from _costliest(costs, sums, names, question, by_size=unequal(scores))
    yield from halving(stage, scores, names)
    yield from _means(quality, names)
    yield from _whole_lexicon(quality, names)


def _l_star(quality: Quality, names: Names, scores: pl.DataFrame, question: str) -> Finding:
    star = quality["L*"]
    lower, upper = _limits(star.lower, star.upper)
    value = star.value or 0.0
    phrase = phrases.estimate(value, lower, upper)
    sample = _sample_text(quality, scores)
    text = f"L* of {names.lexicon} against {names.gold}: {phrase}, from {sample}"
    return Finding(
        about="L*", question=question, text=phrases.sentence(text), name=names.lexicon,
        other=names.gold, value=value, lower=lower, upper=upper,
        n=quality.count("sampled lemmas"), figure=_FIGURE,
    )  # fmt: skip


def _sample_text(quality: Quality, scores: pl.DataFrame) -> str:
    size, whole = quality.count("sampled lemmas"), quality.count("lemmas sampled from")
    if size is None or whole is None:
        return count_text(scores.height, "lemma")
    if size == whole:
        return f"all {count_text(size, 'lemma')} in common"
    qualifier = "" if scores["drawn"].all() else "chosen "
    share = phrases.per_cent(size / whole)
    return f"{size:,} {qualifier}of {count_text(whole, 'lemma')} ({share}){sampling_text(scores)}"


def _loss_parts(sums: Loss, names: Names, question: str) -> Iterator[Finding]:
    """Say how much missing forms, spurious forms and lemmas without a correct form lower L*."""
    if not sums.whole > 0:
        return
    parts = [
        (sums.missing, f"missing forms ({sums.n_missing:,})"),
        (sums.spurious, f"spurious forms ({sums.n_spurious:,})"),
        (sums.without_right, f"lemmas without a correct form ({sums.n_without_right:,})"),
    ]
    parts.sort(key=lambda part: -part[0])
    items = [f"{_points(cost)} to {cause}" for cost, cause in parts if cost > 0]
    items[0] = items[0].replace(" to ", " are due to ", 1)
    text = (
        f"of the {_points(sums.whole)} points of L* that {names.lexicon} loses, "
        f"{phrases.list_text(items)}"
    )
    yield Finding(
        about="lost", question=question, text=phrases.sentence(text), name=names.lexicon,
        value=sums.whole, figure="scatter",
    )  # fmt: skip


def _points(cost: float) -> str:
    return phrases.number(100 * cost, 1)


def _costliest(
    costs: pl.DataFrame, sums: Loss, names: Names, question: str, *, by_size: bool
) -> Iterator[Finding]:
    """Name the lemmas that cost most."""
    rows = costs.filter(pl.col("cost") > 0).head(_COSTLIEST).to_dicts()
    if not rows:
        return
    parts = [f"{name_text(row['lemma'])} {_points(row['cost'])} ({_faults(row)})" for row in rows]
    together = sum(row["cost"] for row in rows)
    total = f", in total {phrases.per_cent(together / sums.whole)} of the loss"
    weighted = ", weighted by the lemmas that they represent" if by_size else ""
    most = f"{phrases.list_text(parts)}{total if len(rows) > 1 else ''}"
    lemmas = "lemma" if len(rows) == 1 else "lemmas"
    text = f"costliest {lemmas} of {names.lexicon}, in points of L*{weighted}: {most}"
    yield Finding(
        about="costliest", question=question, text=phrases.sentence(text), name=rows[0]["lemma"],
        other=names.lexicon, value=rows[0]["cost"], n=len(rows), figure=_FIGURE,
    )  # fmt: skip


def _faults(row: dict[str, int]) -> str:
    counts = [(row["n_missing"], "missing"), (row["n_spurious"], "spurious")]
    faults = [f"{count:,} {fault}" for count, fault in counts if count]
    return f"{' and '.join(faults)}, {count_text(row['n_gold'], 'gold form')}"


def _means(quality: Quality, names: Names) -> Iterator[Finding]:
    """Give the mean precision and recall of the lemmas."""
    precision, recall = quality["mean precision"].value, quality["mean recall"].value
    if precision is None or recall is None:
        return
    phrase = f"precision {phrases.per_cent(precision)}, recall {phrases.per_cent(recall)}"
    mean_l = quality["mean L"].value
    if mean_l is not None:
        phrase += f", L {phrases.per_cent(mean_l)}"
    text = f"unweighted means over the lemmas of {names.lexicon}: {phrase}"
    yield Finding(
        about="means", question=f"further measures of {names.lexicon}", name=names.lexicon,
        text=phrases.sentence(text), value=mean_l, figure="scatter",
    )  # fmt: skip


def _whole_lexicon(quality: Quality, names: Names) -> Iterator[Finding]:
    """Give measures of the whole lexicons, where the whole gold is known."""
    f_star, match, bits = (quality[name].value for name in ("F*", "best-match F1", "E*"))
    parts = [
        f"{measure} {phrases.per_cent(value)}"
        for measure, value in (
            ("F* over all gold lemmas", f_star),
            ("F of the optimal one-to-one matching of all lemmas", match),
        )
        if value is not None
    ]
    if bits is not None:
        parts.append(
            f"entropy E* {phrases.number(bits, 2)} bits (0 if no lemma mixes forms of several)"
        )
    if parts:
        text = f"measures of the whole lexicon {names.lexicon}: {phrases.list_text(parts)}"
        yield Finding(
            about="whole", question=f"further measures of {names.lexicon}", name=names.lexicon,
            text=phrases.sentence(text), value=f_star,
        )  # fmt: skip
