"""How unevenly tokens are spread, which is why types and tokens may tell different things."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.findings import words
from pipeline.findings.finding import Finding, finder
from pipeline.findings.names import called
from pipeline.findings.stage import StageView

_ALL = "*"
"""All items together, as the tables call them."""
_FEW = 10
"""So many of the most frequent types are looked at, or the nearest number that was counted."""


@finder(stages=("evaluate.shares",), place=60)
def shares(stage: StageView) -> Iterator[Finding]:
    """Say how many tokens the most frequent types hold, and what the largest class has."""
    frequent = stage.table("frequent").filter(gold=_ALL).collect().drop_nulls("share_tokens")
    question = "how types and tokens are spread"
    if frequent.height:
        row = frequent.sort((pl.col("k") - _FEW).abs(), "k").row(0, named=True)
        types = words.counted(row["k"], "most frequent type")
        said = f"{words.per_cent(row['share_tokens'])} of the tokens"
        yield Finding(
            about="frequent", question=question, value=row["share_tokens"], n=row["k"],
            text=words.sentence(f"the {types} {'has' if row['k'] == 1 else 'have'} {said}"),
            figure="frequent",
        )  # fmt: skip
    classes = stage.table("shares").filter(pl.col("gold") != _ALL).collect()
    known = classes.drop_nulls(["share_types", "share_tokens"])
    if known.height:
        row = known.sort("types", "gold", descending=[True, False]).row(0, named=True)
        types, tokens = (words.per_cent(row[f"share_{what}"]) for what in ("types", "tokens"))
        said = f"{called(row['gold'])}, {types} of them and {tokens} of the tokens"
        yield Finding(
            about="largest class", question=question, name=row["gold"],
            text=words.sentence(f"class with most types: {said}"), value=row["share_types"],
            n=row["types"], figure="classes",
        )  # fmt: skip
