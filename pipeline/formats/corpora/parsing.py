"""One block of a corpus: its rows, judged, and what they say to those that follow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import polars as pl

from pipeline.formats.base import LINE
from pipeline.formats.corpora import fast_checks, rules
from pipeline.formats.corpora.attributes import PLACE, heads, numbers
from pipeline.formats.corpora.marks import (
    ALONE,
    BLANK,
    DOCUMENT,
    HEAD,
    KEY,
    LAST,
    NAME,
    PARAGRAPH,
    POSITION,
    RAW_HEAD,
    ROW,
    UNIT,
)
from pipeline.formats.corpora.rules import Rule, Unique
from pipeline.formats.lines import TEXT

# What is asked of lines alone, and of rows at any time.
_OF_LINES = {BLANK, ALONE, ROW, DOCUMENT, NAME, PARAGRAPH, KEY}
_OF_ROWS = {LINE, UNIT, POSITION, RAW_HEAD, LAST}


class Block(Protocol):
    """Whole units of a file."""

    @property
    def rules(self) -> Sequence[Rule]:
        """What its lines must keep to, whatever they say."""
        ...

    def scanned(self, scan: Scan, columns: Collection[str]) -> Parsed | None:
        """Return what a scan finds in it; None if it finds nothing, or there is nothing to scan."""
        ...

    def fast(self) -> pl.LazyFrame | None:
        """Return its lines as fields; None if it is certain that a rule is broken."""
        ...

    def outline(self) -> pl.LazyFrame:
        """Return its lines as fields, right or wrong; what is not UTF-8 may be an error."""
        ...

    def checked(self) -> pl.LazyFrame:
        """Return its lines with all that the rules ask for."""
        ...

    def is_whole(self, lines: pl.DataFrame, rows: pl.DataFrame) -> bool:
        """Return whether it is certain that the rows keep to its rules."""
        ...


@dataclass(frozen=True)
class Grammar:
    """How the blocks of one file are read.

    Parameters
    ----------
    rows : callable
        Lines to lines with their marks.
    attributes : sequence of str
        What is read of a token.
    fields : sequence of str
        The fields of a line, by which they are read.
    rules : sequence of Rule
        What the rows must keep to.
    unique : Unique or None
        What may not come twice in the file.
    scan : callable or None
        A faster way to read a block, see `Scan`.
    """

    rows: Callable[[pl.LazyFrame], pl.LazyFrame]
    attributes: Sequence[str]
    fields: Sequence[str] = ()
    rules: Sequence[Rule] = ()
    unique: Unique | None = None
    scan: Scan | None = None

    def needed(self, columns: Collection[str]) -> set[str]:
        """Return the columns to parse for these, those that rules rest on included."""
        asked = [expr for rule in self.rules for expr in (rule.broken, rule.among)]
        asked += [pl.struct(self.unique.key), self.unique.among] if self.unique else []
        roots = [expr.meta.root_names() for expr in asked if expr is not None]
        return {*_OF_ROWS, *columns, *(name for names in roots for name in names)}

    def schema(self) -> dict[str, pl.DataType]:
        """Return the columns of the tokens and their types; nothing is read."""
        names = [TEXT, *self.fields]
        columns = {LINE: pl.Int64(), BLANK: pl.Boolean(), ALONE: pl.Boolean()}
        lines = pl.LazyFrame(schema=columns | dict.fromkeys(names, pl.String()))
        types = self.rows(lines).collect_schema()
        return PLACE | {name: _type_of_token(types.get(name)) for name in self.attributes}


@dataclass(frozen=True)
class Parsed:
    """What stands in one block.

    Parameters
    ----------
    tokens : DataFrame
        Its tokens; sentences, documents and paragraphs are counted from its beginning.
    documents, paragraphs : DataFrame
        The marks of those that begin or end in it.
    sentences : int
        How many it has, those that are left out included.
    keys : DataFrame or None
        What may not come twice in the file, see `rules.keys`.
    violations : DataFrame or None
        What is wrong, see `rules.violations`; None: nothing.
    """

    tokens: pl.DataFrame
    documents: pl.DataFrame
    paragraphs: pl.DataFrame
    sentences: int
    keys: pl.DataFrame | None
    violations: pl.DataFrame | None = None


Scan: TypeAlias = Callable[[bytes, int, Collection[str]], Parsed | None]
"""Content of a block, the lines before it, the columns wanted -> what stands in it, as the other
ways to read it have it; None where it is not certain that nothing is wrong. The content is UTF-8
without a NUL byte or a carriage return."""


def parse(block: Block, grammar: Grammar, columns: Collection[str]) -> Parsed:
    """Parse a block: on the fast path if that makes certain that nothing is wrong.

    Parameters
    ----------
    block : Block
        The block.
    grammar : Grammar
        How it is read.
    columns : collection of str
        Which columns are wanted.
    """
    if grammar.scan and (found := block.scanned(grammar.scan, columns)):
        return found
    query = block.fast()
    if query is not None:
        lines, rows = _lines_and_rows(query, grammar, grammar.needed(columns))
        certain = block.is_whole(lines, rows) and not rules.are_broken(lines, rows, grammar.rules)
        if certain and fast_checks.heads_inside(tokens := _tokens(rows)):
            return _parsed(lines, rows, tokens, grammar)
    lines, rows = _lines_and_rows(block.checked(), grammar)
    own = [*grammar.rules, *(rules.head_rules() if HEAD in grammar.attributes else [])]
    violations = rules.violations(lines, rows, own, of_lines=block.rules)
    if not violations.height:
        return _parsed(lines, rows, _tokens(rows), grammar)
    tokens = _tokens(rules.valid(rows, violations))
    return replace(_parsed(lines, rows, tokens, grammar), violations=violations)


def nth(mark: str) -> str:
    """Return the column that says how many marks of a kind have come, up to a row."""
    return f"{mark}_number"


def _lines_and_rows(
    query: pl.LazyFrame, grammar: Grammar, needed: Collection[str] | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Collect the lines of a block, and those of them that are rows, as tokens with numbers."""
    marked = grammar.rows(query)
    types = marked.collect_schema()
    every = [] if ROW in types else [pl.lit(value=True).alias(ROW)]
    lists = [name for name in grammar.attributes if isinstance(types.get(name), pl.List)]
    needed = types.names() if needed is None else {*needed, *lists[:1]}
    kept = [name for name in types if name in needed or name in _OF_LINES]
    lines = marked.select(*kept, *every, *mark_numbers(types)).collect()
    own = [name for name in lines.columns if name in needed or name not in _OF_LINES]
    some = [pl.col(name).list.len().ne_missing(0) for name in lists[:1]]
    rows = lines.lazy().filter(ROW, *some).select(own)
    rows = rows.with_columns(
        number for number in numbers(lists) if number.meta.output_name() not in types
    )
    if lists and (grammar.rules or HEAD in grammar.attributes):  # else `placed` does it
        rows = rows.explode(POSITION, *(name for name in lists if name in kept))
    return lines, rows.with_columns(heads(types)).collect()


def _type_of_token(kind: pl.DataType | None) -> pl.DataType:
    """Return the type of an attribute; `HEAD` has none before it is converted."""
    if isinstance(kind, pl.List):
        return pl.Series(dtype=kind).explode().dtype
    return pl.Int64() if kind is None else kind


def mark_numbers(names: Collection[str]) -> list[pl.Expr]:
    """Return how many marks of each kind have come, as `nth` calls them."""
    marks = [mark for mark in (DOCUMENT, PARAGRAPH) if mark in names]
    return [_marks(mark).cum_sum().alias(nth(mark)) for mark in marks]


def _marks(mark: str) -> pl.Expr:
    """Return whether a row is the first of a line with a mark."""
    return pl.col(mark).is_not_null() & pl.col(LINE).ne_missing(pl.col(LINE).shift())


def _parsed(
    lines: pl.DataFrame, rows: pl.DataFrame, tokens: pl.DataFrame, grammar: Grammar
) -> Parsed:
    return Parsed(
        tokens,
        events(lines, DOCUMENT, NAME),
        events(lines, PARAGRAPH, KEY),
        rows.get_column("sentence")[-1] if rows.height else 0,
        None if grammar.unique is None else rules.keys(lines, rows, grammar.unique),
    )


def _tokens(rows: pl.DataFrame) -> pl.DataFrame:
    some = rows.get_column(POSITION).has_nulls()
    return rows.filter(pl.col(POSITION).is_not_null()) if some else rows


def events(lines: pl.DataFrame, mark: str, detail: str) -> pl.DataFrame:
    """Return the lines on which documents or paragraphs begin or end."""
    kept = [name for name in (mark, detail) if name in lines.columns]
    return lines.filter(_marks(mark)).select(kept) if mark in kept else lines.select(kept).head(0)
