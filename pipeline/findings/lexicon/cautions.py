"""What to know before believing L*: few lemmas, chosen lemmas, odd matches, keying."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.findings import words
from pipeline.findings.finding import Finding, finder
from pipeline.findings.lexicon.evidence import Names, Quality, names_of
from pipeline.findings.lexicon.lexicons import Compared, apart
from pipeline.findings.stage import StageView
from pipeline.kernels.lexicon.by_chance import unequal

FEW, FEW_BY_SIZE = 50, 30
"""From fewer lemmas the limits hold much less often than they say in simulations; from fewer than
the second these were not made, where lemmas are drawn by size."""
_ODD = 0.05
"""An L* by the best match that is so much higher than by the same lemma is worth a word."""
_LATE = 80


def _caution(about: str, text: str, value: float | None, **further: str | int) -> Finding:
    return Finding(kind="caution", about=about, text=words.sentence(text), value=value, **further)  # type: ignore[arg-type]  # fields of several types


@finder(stages=("evaluate.lexicon",), place=_LATE)
def lexicon_cautions(stage: StageView) -> Iterator[Finding]:
    """Say whether the lemmas are few or chosen, and whether their matches are odd."""
    scores, names = stage.table("lemmas").collect(), names_of(stage)
    if scores.is_empty():
        text = f"L* of {names.lexicon} rests on 0 lemmas: it shares none with {names.gold}"
        yield _caution("no lemma", text, 0.0, name=names.lexicon)
        return
    yield from _few(scores, names)
    yield from _unlike(Quality(stage.table("quality").collect()), names)
    empty = scores.filter(n_gold=0).height
    if empty:
        text = f"{words.counted(empty, 'lemma')} without forms in {names.gold}: no weight in L*"
        yield _caution("no forms", text, float(empty), name=names.lexicon)


def _few(scores: pl.DataFrame, names: Names) -> Iterator[Finding]:
    many, population = scores.height, int(scores["population"][0])
    lemmas = words.counted(many, "lemma")
    if not scores["drawn"].all():
        text = (
            f"the {lemmas} that {names.lexicon} is judged by were chosen, not drawn at random: "
            "nothing is known of the others"
        )
        yield _caution("chosen", text, float(many), name=names.lexicon)
    elif many < (few := FEW_BY_SIZE if unequal(scores) else FEW) and many < population:
        text = (
            f"L* of {names.lexicon} rests on {lemmas}: from fewer than {few} the limits hold "
            "less often than they say"
        )
        yield _caution("few lemmas", text, float(many), name=names.lexicon)


def _unlike(quality: Quality, names: Names) -> Iterator[Finding]:
    """Say where the best matches are often other lemmas."""
    star, same = quality["L*"].value, quality["L*, same lemma"].value
    if star is None or same is None or star - same < _ODD:
        return
    text = (
        f"the forms of lemmas often stand under others in {names.lexicon}: by its own lemmas L* is "
        f"{words.per_cent(same)}, by the best matches {words.per_cent(star)}"
    )
    yield _caution("matches", text, same, name=names.lexicon)


@finder(stages=("evaluate.lexicons",), place=_LATE)
def comparison_cautions(stage: StageView) -> Iterator[Finding]:
    """Say what several intervals are worth together."""
    pairs = stage.table("differences").collect()
    lexicons = stage.table("lexicons").collect().height
    sure = pairs.filter(pl.col("standard_error") > 0).drop_nulls("lower")
    if sure.is_empty() or lexicons < 3:
        return
    confidence = stage.options_as(Compared).confidence
    wider = apart(lexicons - 1, confidence)
    text = (
        f"so that {lexicons - 1:,} differences hold together with "
        f"{words.per_cent(confidence, digits=0)}, their limits are {words.number(wider, 2)} times "
        "as far apart here as in the table of each by itself"
    )
    yield _caution("several intervals", text, wider, n=lexicons - 1)


@finder(stages=("join.keying",), place=_LATE)
def keying_cautions(stage: StageView) -> Iterator[Finding]:
    """Say which lemmas the dictionary lacks, and which are not looked up yet."""
    keyed = stage.table("keyed").collect()
    lacking = keyed.filter(~pl.col("found")).height
    if lacking:
        text = (
            f"not in the dictionary of {stage.name}: {lacking:,} of "
            f"{words.counted(keyed.height, 'lemma')} that were looked up "
            f"({words.per_cent(lacking / keyed.height)}), which L* leaves out"
        )
        yield _caution("not in the dictionary", text, float(lacking), n=keyed.height)
    steps = stage.table("preparation").filter(step="lemmas not looked up yet").collect()
    left = int(steps["n"].sum())
    if left:
        text = f"{words.counted(left, 'lemma')} of {stage.name} not looked up yet: left out so far"
        yield _caution("keying", text, float(left), n=keyed.height + left)
