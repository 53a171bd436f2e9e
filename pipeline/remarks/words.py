"""Checks that two sets of words are comparable: scripts, case, Unicode forms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

import polars as pl

from pipeline.errors import DataError
from pipeline.kernels.partitions import batches, bucket_of, buckets_for, count_rows, spill_of
from pipeline.memory import Spill
from pipeline.remarks.base import EXAMPLES, CheckInput, Found, check, remark

STAGES = ("evaluate.type_level", "score.lexicon")
SCRIPTS = (
    *("Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Devanagari", "Bengali"),
    *("Tamil", "Thai", "Georgian", "Ethiopic", "Hangul", "Hiragana", "Katakana", "Han"),
)
"""Scripts to distinguish."""

_WORD = pl.col("word")
_ASCII = r"^[\x00-\x7F]*$"


class Sides(NamedTuple):
    """The words of the gold and of the evaluated system, in a column word; and its name."""

    gold: pl.LazyFrame
    other: pl.LazyFrame
    name: str


def sides(stage: CheckInput) -> Iterator[Sides]:
    """Yield the words to compare: of each system, or of the forms of a lexicon."""
    if stage.use == "score.lexicon":
        gold, other = (_words(stage.inputs[name], "form") for name in ("gold", "lexicon"))
        yield Sides(gold, other, "lexicon")
        return
    gold = _words(stage.inputs["gold"], "item")
    for option, entries in stage.inputs.items():
        if option.startswith("systems."):
            names = entries.select(pl.col("system").first()).collect()
            yield Sides(gold, _words(entries, "item"), str(names.item()) if len(names) else option)


def _words(table: pl.LazyFrame, column: str) -> pl.LazyFrame:
    return table.select(word=column).drop_nulls()


def _split_words(*words: pl.LazyFrame, key: pl.Expr = _WORD) -> Iterator[tuple[pl.DataFrame, ...]]:
    """Yield the distinct words of each side in parts, with all words of a key in the same part."""
    buckets = buckets_for(count_rows(*words))
    with ExitStack() as stack:
        spills = [stack.enter_context(_spill_by_key(each, key, buckets)) for each in words]
        for parts in zip(*spills, strict=True):
            yield tuple(part.unique().collect() for part in parts)


def _spill_by_key(words: pl.LazyFrame, key: pl.Expr, buckets: int) -> Spill:
    spill = spill_of(buckets, pl.Schema({"word": pl.String}))
    for batch in batches(words):
        spill.add(batch.with_columns(key=key), bucket_of("key", buckets))
    return spill


@check(stages=STAGES, threshold=0.005, means="proportion of the gold words that both have")
def few_shared_words(stage: CheckInput, threshold: float) -> Found:
    """Find a system or lexicon with few gold words; one with none is an error."""
    for gold, other, name in sides(stage):
        words = theirs = shared = 0
        for ours, others in _split_words(gold, other):
            words, theirs = words + ours.height, theirs + others.height
            shared += ours.join(others, on="word", how="semi").height
        if words and theirs and shared / words < threshold:
            text = f"{shared:,} of {words:,} gold words are among the {theirs:,} of {name}"
            examples = [
                f"{', '.join(_examples(gold))} (gold)",
                f"{', '.join(_examples(other))} ({name})",
            ]
            advice = "check the columns, and whether both are in the same language"
            if not shared:
                lines = [text, *(f"  {each}" for each in examples), _cause(gold, other) or advice]
                raise DataError("\n".join(lines))
            numbers = {"shared": shared, "gold": words}
            yield remark("warning", text, such_as=examples, remedy=advice, **numbers)


_CAUSES = {
    "in case": (_WORD.str.to_lowercase(), 'fold both: fold = true, of lexicons case = "lower"'),
    "in surrounding spaces": (_WORD.str.strip_chars(), "strip them in the files"),
    "in Unicode form": (_WORD.str.normalize("NFKC"), "convert both to one normal form"),
}
"""Ways in which equal words may differ, what makes them equal, and the remedy."""


def _cause(gold: pl.LazyFrame, other: pl.LazyFrame) -> str:
    """Return the only difference between words of both sides, and the remedy."""
    for what, (key, remedy) in _CAUSES.items():
        split = _split_words(gold, other, key=key)
        twins = sum(_find_twins(ours, theirs, key).height for ours, theirs in split)
        if twins:
            return f"{twins:,} of them differ only {what}: {remedy}"
    return ""


@check(stages=STAGES, threshold=0.02, means="proportion of the gold words")
def other_case(stage: CheckInput, threshold: float) -> Found:
    """Count gold words that the other side has only in another case."""
    yield from _twins(
        stage,
        threshold,
        key=pl.col("word").str.to_lowercase(),
        what="only in another case",
        remedy='fold both: fold = true, of lexicons case = "lower"',
    )


@check(stages=STAGES, threshold=0.001, means="proportion of the gold words")
def other_unicode(stage: CheckInput, threshold: float) -> Found:
    """Count gold words that the other side has only in another Unicode form."""
    yield from _twins(
        stage,
        threshold,
        key=pl.col("word").str.normalize("NFC"),
        what="only in another Unicode form",
        remedy="convert both to one form, for example NFC (extract.lexicon: unicode)",
    )


@check(stages=STAGES, threshold=0.5, means="proportion of the words in the commonest script")
def other_script(stage: CheckInput, threshold: float) -> Found:
    """Find a gold and a system or lexicon in different scripts."""
    for gold, other, name in sides(stage):
        (ours, share), (theirs, their_share) = _script(gold), _script(other)
        if ours != theirs and min(share, their_share) >= threshold:
            yield remark(
                "warning",
                f"the gold is in {ours} ({share:.0%} of its words), {name} in {theirs}"
                f" ({their_share:.0%})",
                such_as=[*_examples(gold)[:1], *_examples(other)[:1]],
                remedy="transliterate one of them",
                gold=share,
                other=their_share,
            )


def _twins(stage: CheckInput, threshold: float, *, key: pl.Expr, what: str, remedy: str) -> Found:
    for gold, other, name in sides(stage):
        if not (_any(gold, key != _WORD) or _any(other, key != _WORD)):
            continue  # then words with the same key are equal
        words = twins = 0
        examples: list[tuple[str, str]] = []
        for ours, others in _split_words(gold, other, key=key):
            pairs = _find_twins(ours, others, key)
            words, twins = words + ours.height, twins + pairs.height
            examples = sorted([*examples, *pairs.head(EXAMPLES).rows()])[:EXAMPLES]
        if words and twins and twins / words >= threshold:
            yield remark(
                "warning" if twins / words >= 0.5 else "note",
                f"{twins:,} of {words:,} gold words are in {name} {what}",
                such_as=[f"{mine!r} and {theirs!r}" for mine, theirs in examples],
                remedy=remedy,
                twins=twins,
                gold=words,
            )


def _find_twins(gold: pl.DataFrame, other: pl.DataFrame, key: pl.Expr) -> pl.DataFrame:
    """Return the words of one side only, each with one of the other side with the same key."""
    alone = gold.join(other, on="word", how="anti").with_columns(key=key)
    theirs = other.with_columns(key=key).group_by("key").agg(theirs=_WORD.min())
    return alone.join(theirs, on="key").select("word", "theirs").sort("word")


def _any(words: pl.LazyFrame, condition: pl.Expr) -> bool:
    return any(batch.select(condition.any()).item() for batch in batches(words))


def _script(words: pl.LazyFrame) -> tuple[str, float]:
    """Return the commonest script and its proportion of the words in `SCRIPTS`."""
    counts, known = dict.fromkeys(SCRIPTS, 0), 0
    for (part,) in _split_words(words):
        plain = _WORD.str.contains(_ASCII)  # most words
        latin = part.filter(plain & _WORD.str.contains("[A-Za-z]")).height
        counts["Latin"] += latin
        further = part.filter(~plain)
        known += latin + further.filter(_WORD.str.contains(r"\p{L}")).height
        for name in SCRIPTS:
            counts[name] += further.filter(_WORD.str.contains(rf"\p{{{name}}}")).height
    most = max(SCRIPTS, key=lambda name: counts[name])
    return most, counts[most] / max(known, 1)


def _examples(words: pl.LazyFrame) -> list[str]:
    """Return some words, deterministically."""
    least: list[str] = []
    for batch in batches(words):
        least = sorted({*least, *batch.unique().bottom_k(EXAMPLES, by="word")["word"]})[:EXAMPLES]
    return least
