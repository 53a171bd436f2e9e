"""What a block says to those that follow it, at little cost: no token of it is read."""

from __future__ import annotations

import polars as pl

from pipeline.formats.base import LINE
from pipeline.formats.corpora import rules
from pipeline.formats.corpora.attributes import first_in_unit
from pipeline.formats.corpora.marks import (
    DOCUMENT,
    KEY,
    NAME,
    PARAGRAPH,
    POSITION,
    ROW,
    SOME,
    UNIT,
)
from pipeline.formats.corpora.parsing import Block, Grammar, Parsed, events, mark_numbers

_PLACES = (LINE, UNIT, POSITION, ROW, SOME, DOCUMENT, NAME, PARAGRAPH, KEY)


def outline(block: Block, grammar: Grammar) -> Parsed | None:
    """Return what `parse` does of a block in which nothing is wrong, with a token a sentence.

    The format is asked for the columns alone that say where tokens stand; what rules say of them
    is not asked.

    Parameters
    ----------
    block : Block
        The block.
    grammar : Grammar
        How it is read.

    Returns
    -------
    Parsed or None
        Its tokens are the first one of each sentence, without their attributes. None if the block
        is no text.
    """
    marked = grammar.rows(block.outline())
    types = marked.collect_schema()
    kept = [name for name in types if name in {*_PLACES, *_asked(grammar)}]
    lists = [name for name in grammar.attributes if isinstance(types.get(name), pl.List)]
    some = [pl.col(name).list.len().ne_missing(0).alias(SOME) for name in lists[:1]]
    more = {ROW: [pl.lit(value=True).alias(ROW)], SOME: some}
    made = [each for name, exprs in more.items() if name not in types for each in exprs]
    try:
        lines = marked.select(*kept, *made, *mark_numbers(types)).collect()
    except pl.exceptions.ComputeError:
        return None
    return _outlined(lines, grammar)


def _asked(grammar: Grammar) -> set[str]:
    """Return the columns that say what may not come twice in a file."""
    if grammar.unique is None:
        return set()
    asked = [pl.struct(grammar.unique.key), grammar.unique.among]
    return {name for expr in asked if expr is not None for name in expr.meta.root_names()}


def _outlined(lines: pl.DataFrame, grammar: Grammar) -> Parsed:
    kept = [name for name in (ROW, SOME) if name in lines.columns]
    number = first_in_unit().cum_sum().cast(pl.Int64).alias("sentence")
    first, own = first_in_unit(), POSITION in lines.columns
    numbered = lines.lazy().filter(*kept).with_columns(number)
    rows = numbered.filter(first | (pl.col(POSITION) == 1) if own else first).collect()
    return Parsed(
        rows.filter(pl.col(POSITION) == 1) if own else rows,
        events(lines, DOCUMENT, NAME),
        events(lines, PARAGRAPH, KEY),
        rows.get_column("sentence")[-1] if rows.height else 0,
        None if grammar.unique is None else rules.keys(lines, rows, grammar.unique),
    )
