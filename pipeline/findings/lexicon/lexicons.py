"""Several lexicons against one gold: which has the highest L*, and what its difference says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from pipeline.findings import verdicts, words
from pipeline.findings.finding import Finding, finder
from pipeline.findings.lexicon.evidence import drawn_by
from pipeline.findings.names import called
from pipeline.findings.stage import StageOptions, StageView
from pipeline.kernels.lexicon.ratio import normal_quantile

QUESTION = "how the lexicons compare"
"""The question that a comparison of lexicons answers."""


class Compared(StageOptions):
    """What the stage compares, and how sure its intervals are."""

    lexicons: tuple[str, ...]
    confidence: float


class _Pair(NamedTuple):
    """The highest L* held against another one: the other less the highest."""

    other: str
    difference: float
    lower: float | None
    upper: float | None
    wins: int
    losses: int
    equal: int

    def widened(self, factor: float) -> _Pair:
        """Return it with limits so many times as far from the difference, from −1 to 1."""
        if self.lower is None or self.upper is None:
            return self
        low = self.difference - factor * (self.difference - self.lower)
        high = self.difference + factor * (self.upper - self.difference)
        return self._replace(lower=max(-1.0, low), upper=min(1.0, high))


@finder(stages=("evaluate.lexicons",), place=10)
def compared_lexicons(stage: StageView) -> Iterator[Finding]:
    """Say which lexicon has the highest L*, and of each other one whether it is told apart."""
    table = stage.table("lexicons").collect().drop_nulls("l_star")
    if table.is_empty():
        return
    rows = table.sort("l_star", "lexicon", descending=[True, False])
    names = names_of(stage)
    yield _highest(rows, names, drawn_by(stage.table("lemmas").collect()))
    first = rows["lexicon"][0]
    pairs = _pairs(stage.table("differences").collect(), first)
    factor = apart(len(pairs), stage.options_as(Compared).confidence)
    for pair in sorted(pairs, key=lambda pair: (-pair.difference, pair.other)):
        yield _held(pair.widened(factor), first, names)


def names_of(stage: StageView) -> dict[str, str]:
    """Return what sentences call the lexicons of a comparison, by the stages that scored them.

    That is the stage that made the lexicon, unless two that are compared were made by one.
    """
    scored = stage.options_as(Compared).lexicons
    stages = [name.partition(".")[0] for name in scored]
    made = {
        name: str(stage.among[name].config.get("lexicon", name)).partition(".")[0]
        if name in stage.among else name
        for name in stages
    }  # fmt: skip
    distinct = len(set(made.values())) == len(made)
    shown = {name: called(made[name] if distinct else name) for name in stages}
    return {whole: shown[name] for whole, name in zip(scored, stages, strict=True)}


def apart(pairs: int, confidence: float) -> float:
    """Return by how much intervals are drawn apart so that all hold together (Bonferroni).

    The factor is ``z(1 - a / 2m) / z(1 - a / 2)`` for m intervals with a = 1 - confidence: that of
    normal intervals, which comes close for others.

    Examples
    --------
    >>> apart(1, 0.95), round(apart(3, 0.95), 3)
    (1.0, 1.221)
    """
    if pairs < 2:
        return 1.0
    return normal_quantile(1.0 - (1.0 - confidence) / pairs) / normal_quantile(confidence)


def _highest(rows: pl.DataFrame, names: Mapping[str, str], drawn: str) -> Finding:
    top = rows.filter(pl.col("l_star") == pl.col("l_star").max()).sort("lexicon")
    first = top.row(0, named=True)
    lower, upper = _limits(first)
    said = words.estimate(first["l_star"], lower, upper)
    tied = [_name(names, name) for name in top["lexicon"]]
    text = verdicts.highest("L*", tied, said)
    others = rows.filter(pl.col("l_star") < first["l_star"])
    if others.height:
        shown = [
            f"{_name(names, row['lexicon'])} {words.estimate(row['l_star'], *_limits(row))}"
            for row in others.to_dicts()
        ]
        text += f"; {words.listed(shown)}"
    text += f" ({words.counted(first['n_lemmas'], 'lemma')}{drawn})"
    return Finding(
        about="highest", question=QUESTION, text=words.sentence(text), name=first["lexicon"],
        value=first["l_star"], lower=lower, upper=upper, n=first["n_lemmas"], figure="lexicons",
    )  # fmt: skip


def _limits(row: dict[str, Any]) -> tuple[float | None, float | None]:
    """Return the limits of an L*; none where all lemmas were evaluated, and it is exact."""
    exact = row["lower"] is not None and row["lower"] == row["upper"]
    return (None, None) if exact else (row["lower"], row["upper"])


def _pairs(differences: pl.DataFrame, first: str) -> list[_Pair]:
    """Return the differences that the lexicon with the highest L* is in, turned towards it."""
    found = []
    for row in differences.drop_nulls("difference").to_dicts():
        wins, losses, equal = row["n_first"], row["n_second"], row["n_equal"]
        if row["second"] == first:
            limits = (row["difference"], row["lower"], row["upper"])
            found.append(_Pair(row["first"], *limits, wins=losses, losses=wins, equal=equal))
        elif row["first"] == first:
            low, high = (None if row[side] is None else -row[side] for side in ("upper", "lower"))
            limits = (-row["difference"], low, high)
            found.append(_Pair(row["second"], *limits, wins=wins, losses=losses, equal=equal))
    return found


def _held(pair: _Pair, first: str, names: Mapping[str, str]) -> Finding:
    other, lemmas = _name(names, pair.other), pair.wins + pair.losses + pair.equal
    test = verdicts.Interval(other, pair.difference, pair.lower, pair.upper)
    said = verdicts.held_within(test)
    many = words.counted(lemmas, "lemma")
    text = (
        f"against {_name(names, first)}, {said}; of {many}, L is higher in {_name(names, first)} "
        f"for {pair.wins:,}, in {other} for {pair.losses:,}, and equal for {pair.equal:,}"
    )
    return Finding(
        about="held against it", question=QUESTION, text=words.sentence(text), name=pair.other,
        other=first, value=pair.difference, lower=pair.lower, upper=pair.upper, n=lemmas,
        figure="differences",
    )  # fmt: skip


def _name(names: Mapping[str, str], lexicon: str) -> str:
    return names.get(lexicon, called(lexicon))
