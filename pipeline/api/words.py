"""Words beside ids: for tables that have ids alone, what the candidates are."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import polars as pl

from pipeline.api.results import Run
from pipeline.runner.config.graph import Reference
from schemas.tuples import arity

ID = "id"


def words_for(run: Run, start: Reference, there: list[str]) -> pl.LazyFrame | None:
    """Return ids with the words that they stand for: l1, l2, and l3 ... of tuples.

    Parameters
    ----------
    run : Run
        The results.
    start : Reference
        The table that has the ids; the nearest table with words that its stage makes or rests
        on is taken.
    there : list of str
        Its columns.

    Returns
    -------
    LazyFrame or None
        Each id once; None if the table has no ids, has words already, or no table with words
        has been made.
    """
    if ID not in there or "l1" in there:
        return None
    for reference in _upstream(run, start.stage):
        model = run.project.nodes[reference.stage].stage.outputs[reference.table]
        if model.key() != (ID,) or reference.stage not in run.manifests:
            continue
        query = run.plan(str(reference))
        if units := arity(query.collect_schema().names()):
            names = [f"l{place}" for place in range(1, units + 1)]
            return query.select(ID, *(name for name in names if name not in there))
    return None


def _upstream(run: Run, stage: str) -> Iterator[Reference]:
    """Yield the tables of a stage, then of those that it rests on, the nearest first."""
    waiting, seen = deque([stage]), {stage}
    while waiting:
        node = run.project.nodes[waiting.popleft()]
        yield from (Reference(node.name, table) for table in node.stage.outputs)
        for reference in node.inputs.values():
            if reference.stage not in seen:
                seen.add(reference.stage)
                waiting.append(reference.stage)


def beside(query: pl.LazyFrame, words: pl.LazyFrame) -> pl.LazyFrame:
    """Return a table with the words right after its ids, row by row.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"rank": [1], "id": ["x"], "score": [2.5]})
    >>> words = pl.LazyFrame({"id": ["x"], "l1": ["in"], "l2": ["Kraft"]})
    >>> beside(ranks, words).collect().columns
    ['rank', 'id', 'l1', 'l2', 'score']
    """
    names = query.collect_schema().names()
    place = names.index(ID) + 1
    added = [name for name in words.collect_schema().names() if name != ID]
    joined = query.join(words, on=ID, how="left", maintain_order="left")
    return joined.select(*names[:place], *added, *names[place:])
