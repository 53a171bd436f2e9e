"""How good a lexicon is: L* with its limits, what is lost, which lemmas cost most."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.findings import words
from pipeline.findings.finding import Finding, finder
from pipeline.findings.lexicon.evidence import Judged, Names, Quality, drawn_by, names_of
from pipeline.findings.lexicon.loss import Loss, loss, losses
from pipeline.findings.lexicon.missing_lemmas import missing_lemmas
from pipeline.findings.lexicon.sample import halving
from pipeline.findings.names import called
from pipeline.findings.stage import StageView
from pipeline.kernels.lexicon.by_chance import unequal

_COSTLIEST = 3
_FIGURE = "L"
"""The figure that shows L of each lemma."""


@finder(stages=("evaluate.lexicon",), place=20)
def lexicon_quality(stage: StageView) -> Iterator[Finding]:
    """Say what L* is, what is lost and where, and how many lemmas more would make it surer."""
    quality = Quality(stage.table("quality").collect())
    if quality["L*"].value is None:
        return
    scores = stage.table("lemmas").collect()
    names = names_of(stage)
    question = f"how good {names.lexicon} is"
    yield _l_star(quality, names, scores, question)
    # With an n of its own, what the lemmas cost does not add up to what is lost.
    if stage.options_as(Judged).n is None:
        costs = losses(scores)
        found = loss(costs)
        yield from _lost(found, names, question)
        yield from missing_lemmas(stage, quality, names, question)
        yield from _costliest(costs, found, names, question, by_size=unequal(scores))
    yield from halving(stage, scores, names)
    yield from _means(quality, names)
    yield from _whole(quality, names)


def _l_star(quality: Quality, names: Names, scores: pl.DataFrame, question: str) -> Finding:
    star = quality["L*"]
    exact = star.lower is not None and star.lower == star.upper
    lower, upper = (None, None) if exact else (star.lower, star.upper)
    value = star.value or 0.0
    said = words.estimate(value, lower, upper)
    text = f"L* of {names.lexicon}: {said} against {names.gold}, from {_sampled(quality, scores)}"
    return Finding(
        about="L*", question=question, text=words.sentence(text), name=names.lexicon,
        other=names.gold, value=value, lower=lower, upper=upper,
        n=quality.count("sampled lemmas"), figure=_FIGURE,
    )  # fmt: skip


def _sampled(quality: Quality, scores: pl.DataFrame) -> str:
    size, whole = quality.count("sampled lemmas"), quality.count("lemmas sampled from")
    if size is None or whole is None:
        return words.counted(scores.height, "lemma")
    if size == whole:
        return f"all {words.counted(size, 'lemma')} that both have"
    chosen = "" if scores["drawn"].all() else "chosen "
    share = words.per_cent(size / whole)
    return f"{size:,} {chosen}of {words.counted(whole, 'lemma')} ({share}){drawn_by(scores)}"


def _lost(found: Loss, names: Names, question: str) -> Iterator[Finding]:
    """Say by how much missing forms, spurious forms, and lemmas without a right form lower L*."""
    if not found.whole > 0:
        return
    parts = [
        (found.missing, f"missing forms ({found.n_missing:,})"),
        (found.spurious, f"spurious forms ({found.n_spurious:,})"),
        (found.without_right, f"lemmas without a right form ({found.n_without_right:,})"),
    ]
    parts.sort(key=lambda part: -part[0])
    said = [f"{_points(cost)} by {what}" for cost, what in parts if cost > 0]
    text = f"lost by {names.lexicon}: {_points(found.whole)} points of L*, {words.listed(said)}"
    yield Finding(
        about="lost", question=question, text=words.sentence(text), name=names.lexicon,
        value=found.whole, figure="scatter",
    )  # fmt: skip


def _points(cost: float) -> str:
    return words.number(100 * cost, 1)


def _costliest(
    costs: pl.DataFrame, found: Loss, names: Names, question: str, *, by_size: bool
) -> Iterator[Finding]:
    """Say which lemmas cost most."""
    rows = costs.filter(pl.col("cost") > 0).head(_COSTLIEST).to_dicts()
    if not rows:
        return
    said = [f"{called(row['lemma'])} {_points(row['cost'])} ({_faults(row)})" for row in rows]
    together = sum(row["cost"] for row in rows)
    share = f", {words.per_cent(together / found.whole)} of what is lost" if len(rows) > 1 else ""
    others = ", with those that they stand for" if by_size else ""
    text = f"lemmas that cost {names.lexicon} most{others}, in points: {words.listed(said)}{share}"
    yield Finding(
        about="costliest", question=question, text=words.sentence(text), name=rows[0]["lemma"],
        other=names.lexicon, value=rows[0]["cost"], n=len(rows), figure=_FIGURE,
    )  # fmt: skip


def _faults(row: dict[str, int]) -> str:
    counts = [(row["n_missing"], "missing"), (row["n_spurious"], "spurious")]
    faults = [f"{count:,} {what}" for count, what in counts if count]
    return f"{' and '.join(faults)}, {words.counted(row['n_gold'], 'gold form')}"


def _means(quality: Quality, names: Names) -> Iterator[Finding]:
    """Say what precision and recall of the lemmas are on average."""
    precision, recall = quality["mean precision"].value, quality["mean recall"].value
    if precision is None or recall is None:
        return
    said = f"precision {words.per_cent(precision)}, recall {words.per_cent(recall)}"
    mean_l = quality["mean L"].value
    if mean_l is not None:
        said += f", L {words.per_cent(mean_l)}"
    text = f"means over the lemmas of {names.lexicon}, each counted alike: {said}"
    yield Finding(
        about="means", question=f"further measures of {names.lexicon}", name=names.lexicon,
        text=words.sentence(text), value=mean_l, figure="scatter",
    )  # fmt: skip


def _whole(quality: Quality, names: Names) -> Iterator[Finding]:
    """Say what measures of the whole lexicons are, where the whole gold is known."""
    f_star, match, bits = (quality[name].value for name in ("F*", "best-match F1", "E*"))
    said = [
        f"{what} {words.per_cent(value)}"
        for what, value in (("F*", f_star), ("F of the best one-to-one match", match))
        if value is not None
    ]
    if bits is not None:
        said.append(f"entropy E* {words.number(bits, 2)} bits (0: no lemma mixes forms of several)")
    if said:
        text = f"over all lemmas of both, {names.lexicon} has {words.listed(said)}"
        yield Finding(
            about="whole", question=f"further measures of {names.lexicon}", name=names.lexicon,
            text=words.sentence(text), value=f_star,
        )  # fmt: skip
