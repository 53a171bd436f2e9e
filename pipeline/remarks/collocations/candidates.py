"""Remarks on what extraction gives: no candidates, or a corpus that is not cut up."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.errors import did_you_mean
from pipeline.remarks.base import Found, Look, check
from pipeline.remarks.collocations.asked import Asked, asked
from pipeline.remarks.remark import remark

WORDS = ("extract.words", "extract.word_table")
EXTRACTING = (
    "extract.pairs",
    "extract.tuples",
    "extract.table",
    "extract.pair_tokens",
    "extract.pairing",
    "extract.merge",
    "extract.keywords",
    *WORDS,
)
_LOOKED_AT = 50_000
"""Tokens from which is told what a corpus has."""
_SHOWN = 8


@check(stages=EXTRACTING, threshold=1, means="candidates")
def no_candidates(look: Look, threshold: float) -> Found:
    """Say that there are no candidates, and what the corpus has instead."""
    found = look.rows(next(iter(look.outputs)))
    if found >= threshold:
        return
    what = "words" if look.use in WORDS else "candidates"
    text = f"there are no {what}" if not found else f"there are {found:,} {what} only"
    has, remedies = [], []
    for has_not in _not_there(look):
        has.append(has_not.text)
        remedies.append(has_not.remedy)
    least = getattr(look.config, "min_frequency", 1)
    if least > 1:
        remedies.append(f"lower min_frequency, which is {least:,}")
    yield remark(
        "warning",
        ": ".join(filter(None, [text, "; ".join(has)])),
        remedy=", ".join(dict.fromkeys(remedies)) or "look at the conditions on the units",
        candidates=found,
    )


def _not_there(look: Look) -> Iterator[_Missing]:
    """Yield the values that options ask for and the first tokens of the corpus have not."""
    wanted = list(asked(look.config))
    tokens = look.tokens("corpus", _LOOKED_AT) if wanted else pl.DataFrame()
    for each in wanted:
        if each.attribute not in tokens.columns:
            continue
        counted = tokens[each.attribute].cast(pl.String).drop_nulls().value_counts(sort=True)
        values = counted[each.attribute].to_list()
        if each.value not in values:
            yield _Missing(each, values)


class _Missing:
    """A value that is asked for and not there, beside those that are."""

    def __init__(self, each: Asked, values: list[str]) -> None:
        shown = ", ".join(values[:_SHOWN]) + (", ..." if len(values) > _SHOWN else "")
        self.text = f"no token has {each.attribute} {each.value!r}, but {shown or 'none has any'}"
        self.remedy = f"{each.option}: {did_you_mean(each.value, values)}"
