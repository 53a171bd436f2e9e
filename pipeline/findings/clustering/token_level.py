"""What the token level says: which system comes first, the floor, missed classes, words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import polars as pl

from pipeline.findings import words
from pipeline.findings.clustering.evidence import Run, first_run, is_compared, limits_of, means
from pipeline.findings.clustering.examples import example_words
from pipeline.findings.clustering.leading import QUESTION, first, leaders
from pipeline.findings.clustering.measures import LOWER, title
from pipeline.findings.clustering.missed import missed_by
from pipeline.findings.finding import Finding, finder
from pipeline.findings.names import called, slug
from pipeline.findings.stage import StageView

_MAPPED = {"many_to_one": "many_to_one", "one_to_one": "one_to_one"}
"""Measures that have a mapping of their own; of others the M-1 mapping is looked at."""


@finder(stages=("evaluate.token_level",), place=20)
def token_level(stage: StageView) -> Iterator[Finding]:
    """Say what the scores of tokens tell; which system comes first, unless another stage does."""
    scores = stage.table("scores").collect()
    table = means(scores, LOWER)
    found = first(table, "tokens")
    if found is None:
        return
    if not is_compared(stage):
        yield from leaders(table, "tokens", limits=partial(limits_of, scores))
    run = first_run(scores, found.system)
    overlaps = stage.table("overlaps").filter(run.rows).collect()
    yield from _floor(found.measure, run, overlaps)
    kind = _MAPPED.get(found.measure, "many_to_one")
    mapping = stage.table("mapping").filter(run.rows, pl.col("mapping") == kind).collect()
    figure = f"mapping-{slug(run.system)}"
    yield from _missed(run, kind, overlaps, mapping, figure)
    yield from example_words(stage, run, mapping, unit="token", figure=figure)


def _floor(measure: str, run: Run, overlaps: pl.DataFrame) -> Iterator[Finding]:
    """Say how many tokens the largest class has: the M-1 accuracy of a single cluster."""
    if measure != "many_to_one" or overlaps.is_empty():
        return
    sizes = _sizes(overlaps)
    share = int(sizes["n"][0]) / int(sizes["n"].sum())
    text = (
        f"floor {words.per_cent(share)} {title(measure)}: all tokens in one cluster "
        f"({called(sizes['gold'][0])})"
    )
    yield Finding(
        about="floor", question=QUESTION, text=words.sentence(text), name=run.system, value=share
    )


def _sizes(overlaps: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens of each class, the largest class first."""
    sizes = overlaps.group_by("gold").agg(n=pl.col("n_i").max())
    return sizes.sort("n", "gold", descending=[True, False])


def _missed(
    run: Run, measure: str, overlaps: pl.DataFrame, mapping: pl.DataFrame, figure: str
) -> Iterator[Finding]:
    if overlaps.is_empty():
        return
    covered = list(mapping["gold"].drop_nulls())
    classes = _sizes(overlaps).with_columns(uncovered=~pl.col("gold").is_in(covered))
    share = int(classes.filter("uncovered")["n"].sum()) / int(classes["n"].sum())
    yield missed_by(run, measure, classes, share=share, unit="token", figure=figure)
