"""Classes that no cluster is mapped to, and how much they hold."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.findings import words
from pipeline.findings.clustering.evidence import Run
from pipeline.findings.clustering.measures import title
from pipeline.findings.finding import Finding
from pipeline.findings.names import called

QUESTION = "which classes are missed"


def missed_by(
    run: Run, measure: str, classes: pl.DataFrame, *, share: float | None, unit: str, figure: str
) -> Finding:
    """Say which classes a run has no cluster for under a measure's mapping.

    Parameters
    ----------
    run : Run
        The run.
    measure : str
        Its mapping counts.
    classes : DataFrame
        gold, n (items of the class, or tokens), uncovered: a row for each class.
    share : float or None
        Share of the items, or tokens, that are in a missed class; None if not known.
    unit : str
        "type" or "token".
    figure : str
        The figure that shows the classes.
    """
    missed = classes.filter("uncovered").sort("n", "gold", descending=[True, False])
    every = words.counted(classes.height, "class", "classes")
    if missed.is_empty():
        text = f"missed by {run.said}: none of {every}"
    else:
        rows = missed.select("gold", "n").rows()
        held = [f"{called(gold)} ({words.counted(n, unit)})" for gold, n in rows]
        with_all = "" if share is None else f" with {words.per_cent(share)} of all {unit}s"
        text = f"missed by {run.said}: {words.listed(held)}, {missed.height:,} of {every}{with_all}"
    return Finding(
        about="missed", question=QUESTION, name=run.system, value=float(missed.height),
        text=words.sentence(f"{text} (mapping of {title(measure)})"), n=classes.height,
        figure=figure,
    )  # fmt: skip


def missed_by_all(classes: Sequence[str], *, systems: int, of: int) -> Finding:
    """Say which classes no system has a cluster for.

    Parameters
    ----------
    classes : sequence of str
        The classes, at least one.
    systems, of : int
        How many systems there are, and classes.

    Examples
    --------
    >>> missed_by_all(["INTJ"], systems=4, of=17).text
    'Missed by all 4 systems: INTJ, 1 of 17 classes.'
    """
    said = words.listed([called(name) for name in classes])
    every = words.counted(of, "class", "classes")
    text = f"missed by all {systems:,} systems: {said}, {len(classes):,} of {every}"
    return Finding(
        about="missed by all", question=QUESTION, text=words.sentence(text),
        value=float(len(classes)), n=of,
    )  # fmt: skip
