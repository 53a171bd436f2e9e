"""Lemmas of the gold that a lexicon does not have, which L* leaves out, and what they cost F*."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.findings import words
from pipeline.findings.finding import Finding
from pipeline.findings.lexicon.evidence import Names, Quality
from pipeline.findings.stage import StageView
from pipeline.kernels.lexicon.matching import best
from pipeline.kernels.lexicon.wordlists import sizes


def missing_lemmas(
    stage: StageView, quality: Quality, names: Names, question: str
) -> Iterator[Finding]:
    """Say how many lemmas of the gold are missing, and how much of the loss of F* is theirs.

    L* rests on lemmas that both have. F* is the same over all lemmas of the gold, each against
    its best match: it is L* if the lexicon lacks none and all are sampled.

    Parameters
    ----------
    stage : StageView
        A stage that evaluates a lexicon against a whole gold; else nothing is said.
    quality : Quality
        Its statistics.
    names, question
        What is said of what.
    """
    gold, common, f_star = (quality[name].value for name in ("gold lemmas", "common lemmas", "F*"))
    if gold is None or common is None or f_star is None or not gold:
        return
    every, lacking = round(gold), round(gold - common)
    counted = words.counted(every, "lemma")
    if not lacking:
        text = f"missing from {names.lexicon}: none of the {counted} of {names.gold}"
        yield _said(text, names, question, 0.0, every)
        return
    cost = cost_of_missing(stage)
    text = (
        f"missing from {names.lexicon}: {lacking:,} of the {counted} of {names.gold} "
        f"({words.per_cent(lacking / every)}), which L* leaves out; over all lemmas F* is "
        f"{words.per_cent(f_star)}, and {words.number(100 * cost, 1)} of the "
        f"{words.number(100 * (1 - f_star), 1)} points that it loses are theirs"
    )
    yield _said(text, names, question, cost, every)


def _said(text: str, names: Names, question: str, cost: float, every: int) -> Finding:
    return Finding(
        about="missing lemmas", question=question, text=words.sentence(text), name=names.lexicon,
        other=names.gold, value=cost, n=every,
    )  # fmt: skip


def cost_of_missing(stage: StageView) -> float:
    """Return what lemmas that the lexicon lacks cost F*: ``sum (n_i / n) (1 - max_j F(i,j))``.

    The sum is over the lemmas of the gold that are not in the lexicon, n the forms of the whole
    gold. A missing lemma whose forms stand under another lemma costs less than all of its forms.

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
