"""Remarks on two sets of words that should be comparable: scripts, cases, Unicode forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from pipeline.remarks.base import Found, Look, check
from pipeline.remarks.remark import EXAMPLES, remark

STAGES = ("evaluate.type_level", "score.lexicon")
SCRIPTS = (
    *("Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Devanagari", "Bengali"),
    *("Tamil", "Thai", "Georgian", "Ethiopic", "Hangul", "Hiragana", "Katakana", "Han"),
)
"""Scripts that are told apart."""


class Sides(NamedTuple):
    """The words of the gold and those of what is evaluated, in a column word; and its name."""

    gold: pl.LazyFrame
    other: pl.LazyFrame
    name: str


def sides(look: Look) -> Iterator[Sides]:
    """Yield the words to compare: of each system, or of the forms of a lexicon."""
    if look.use == "score.lexicon":
        gold, other = (_words(look.inputs[name], "form") for name in ("gold", "lexicon"))
        yield Sides(gold, other, "lexicon")
        return
    gold = _words(look.inputs["gold"], "item")
    for option, entries in look.inputs.items():
        if option.startswith("systems."):
            named = entries.select(pl.col("system").first()).collect()
            yield Sides(gold, _words(entries, "item"), str(named.item()) if len(named) else option)


def _words(table: pl.LazyFrame, column: str) -> pl.LazyFrame:
    return table.select(pl.col(column).drop_nulls().unique().alias("word"))


@check(stages=STAGES, threshold=0.005, means="share of the gold's words that both have")
def few_shared_words(look: Look, threshold: float) -> Found:
    """Find a system or a lexicon that has (nearly) no word of the gold."""
    for gold, other, name in sides(look):
        words, theirs = _count(gold), _count(other)
        shared = _count(gold.join(other, on="word", how="semi"))
        if words and theirs and shared / words < threshold:
            yield remark(
                "warning",
                f"{shared:,} of {words:,} words of the gold are among the {theirs:,} of {name}",
                such_as=[f"{', '.join(_some(gold))} (gold)", f"{', '.join(_some(other))} ({name})"],
                remedy="look at which columns are read, and whether both are of one language",
                shared=shared,
                gold=words,
            )


@check(stages=STAGES, threshold=0.02, means="share of the gold's words")
def other_case(look: Look, threshold: float) -> Found:
    """Count words of the gold that the other side has in another case alone."""
    yield from _twins(
        look,
        threshold,
        key=pl.col("word").str.to_lowercase(),
        what="in another case alone",
        remedy='fold both: fold = true, of lexicons case = "lower"',
    )


@check(stages=STAGES, threshold=0.001, means="share of the gold's words")
def other_unicode(look: Look, threshold: float) -> Found:
    """Count words of the gold that the other side has in another Unicode form alone."""
    yield from _twins(
        look,
        threshold,
        key=pl.col("word").str.normalize("NFC"),
        what="in another Unicode form alone",
        remedy="bring both to one form, such as NFC (extract.lexicon: unicode), before they are"
        " compared",
    )


@check(stages=STAGES, threshold=0.5, means="share of the words in the commonest script")
def other_script(look: Look, threshold: float) -> Found:
    """Find a gold and a system or a lexicon that are in different scripts."""
    for gold, other, name in sides(look):
        (ours, share), (theirs, their_share) = _script(gold), _script(other)
        if ours != theirs and min(share, their_share) >= threshold:
            yield remark(
                "warning",
                f"the gold is in {ours} ({share:.0%} of its words), {name} in {theirs}"
                f" ({their_share:.0%})",
                such_as=[*_some(gold)[:1], *_some(other)[:1]],
                remedy="transliterate one of them",
                gold=share,
                other=their_share,
            )


def _twins(look: Look, threshold: float, *, key: pl.Expr, what: str, remedy: str) -> Found:
    for gold, other, name in sides(look):
        words = _count(gold)
        alone = gold.join(other, on="word", how="anti").with_columns(key=key)
        theirs = other.select(theirs="word", key=key).unique("key", keep="any")
        found = alone.join(theirs, on="key").sort("word").collect()
        if words and found.height and found.height / words >= threshold:
            pairs = found.select("word", "theirs").head(EXAMPLES).iter_rows()
            yield remark(
                "warning" if found.height / words >= 0.5 else "note",
                f"{found.height:,} of {words:,} words of the gold are in {name} {what}",
                such_as=[f"{ours!r} and {other_!r}" for ours, other_ in pairs],
                remedy=remedy,
                twins=found.height,
                gold=words,
            )


def _script(words: pl.LazyFrame) -> tuple[str, float]:
    """Return the commonest script and its share of the words that are in one of `SCRIPTS`."""
    column = pl.col("word")
    counts = words.select(
        column.str.contains(rf"\p{{{name}}}").sum().alias(name) for name in SCRIPTS
    ).collect()
    most = max(SCRIPTS, key=lambda name: counts[name].item())
    known = words.filter(column.str.contains(r"\p{L}"))
    return most, counts[most].item() / max(_count(known), 1)


def _count(words: pl.LazyFrame) -> int:
    return int(words.select(pl.len()).collect().item())


def _some(words: pl.LazyFrame) -> list[str]:
    """Return some words, always the same ones."""
    return words.bottom_k(EXAMPLES, by="word").sort("word").collect()["word"].to_list()
