"""Blocks of a corpus file: read, parse and check whole units, one block at a time."""

from __future__ import annotations

import functools
import itertools
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from pipeline import memory
from pipeline.formats import lines, unicode
from pipeline.formats.base import FILE, LINE
from pipeline.formats.compression import open_bytes
from pipeline.formats.corpora import rules
from pipeline.formats.corpora.rules import (
    ABOUT,
    ABOUT_PARAGRAPH,
    ALONE,
    BLANK,
    DOCUMENT,
    ENTRY,
    HEAD,
    KEY,
    LAST,
    NAME,
    PARAGRAPH,
    PLACE,
    POSITION,
    RAW_HEAD,
    ROW,
    SOME,
    UNIT,
    Lemmas,
    Rule,
    Unique,
    first_in_unit,
    heads,
    numbers,
)
from pipeline.formats.lines import TEXT, Places
from pipeline.memory import Spill

# Quick checks of a whole block: rules examine single lines only if one fails.

SIGN = "sign "
"""Prefix for counts of normalised characters."""

_TAB, _END = ord("\t"), ord("\n")


def is_text(content: bytes) -> bool:
    r"""Return true for UTF-8 without NUL bytes and bare carriage returns.

    Examples
    --------
    >>> is_text("née".encode()), is_text("née".encode("latin-1"))
    (True, False)
    >>> is_text(b"one\r\ntwo\r\n"), is_text(b"one\rtwo\n")
    (True, False)
    """
    ends = pa.py_buffer(np.array([0, len(content)], np.int64))
    text = pa.LargeStringArray.from_buffers(1, ends, pa.py_buffer(content))
    try:
        text.validate(full=True)  # reads every byte without copying
    except pa.ArrowInvalid:
        return False
    if b"\0" in content:
        return False
    return b"\r" not in content or content.count(b"\r") == content.count(b"\r\n")


def has_fields(
    content: bytes, lines: pl.DataFrame, rows: pl.DataFrame, *, width: int, before: int
) -> bool:
    """Return true if every row comes from a line of `width` tab-separated fields.

    Also check that lines classified as having no tabs have none.

    Parameters
    ----------
    content : bytes
        The block.
    lines : DataFrame
        Its lines with `LINE`, `ALONE`, `BLANK`, `ROW`.
    rows : DataFrame
        Its rows with `LINE` and `LAST`.
    width : int
        The expected number of fields.
    before : int
        Number of lines before the block.
    """
    tab = np.frombuffer(content, np.uint8) == _TAB
    fitting = int(np.count_nonzero(tab)) == rows.height * (width - 1)
    if fitting and not rows.get_column(LAST).has_nulls():  # so all tabs are in the rows
        return True
    counts = _tabs_by_line(content, tab)
    bare = pl.col(ALONE) | pl.col(BLANK)
    others = lines.filter(~pl.col(ROW) & bare)
    of_rows, of_others = (
        counts[frame.get_column(LINE).to_numpy() - before - 1] for frame in (rows, others)
    )
    return bool((of_rows == width - 1).all() and not of_others.any())


def _tabs_by_line(content: bytes, tab: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    ends = np.flatnonzero(np.frombuffer(content, np.uint8) == _END)
    ends = np.append(ends, len(content))
    return np.diff(np.searchsorted(np.flatnonzero(tab), ends), prepend=0)


def heads_inside(tokens: pl.DataFrame) -> bool:
    """Return true if every head is a position in its unit, 0 or null.

    Parameters
    ----------
    tokens : DataFrame
        In order, with `UNIT` and `POSITION`, and `HEAD` and `RAW_HEAD` if there are heads.
    """
    if HEAD not in tokens.columns or tokens.is_empty():
        return True
    raw = tokens.filter(pl.col(HEAD).is_null()).get_column(RAW_HEAD)
    head = tokens.get_column(HEAD).fill_null(0).to_numpy()
    position = tokens.get_column(POSITION).to_numpy()
    starts = np.flatnonzero(changes(tokens.get_column(UNIT).to_numpy()))
    inside = np.maximum.reduceat(head, starts) <= np.maximum.reduceat(position, starts)
    return bool(inside.all() and (head >= 0).all() and (raw == "_").all())


# Parse a block.

# Columns required of lines, and of rows.
_OF_LINES = {BLANK, ALONE, ROW, DOCUMENT, NAME, PARAGRAPH, KEY, ENTRY}
_OF_ROWS = {LINE, UNIT, POSITION, RAW_HEAD, LAST}


class Block(Protocol):
    """Whole units of a file."""

    @property
    def rules(self) -> Sequence[Rule]:
        """Rules for its lines, regardless of content."""
        ...

    @property
    def replaced(self) -> Mapping[str, int]:
        """Numbers of normalised characters."""
        ...

    def try_scan(self, scan: Scan, columns: Collection[str]) -> ParsedBlock | None:
        """Return the result of a byte scan, if any."""
        ...

    def fast(self) -> pl.LazyFrame | None:
        """Return its lines as fields; None if a rule is certainly violated."""
        ...

    def outline(self) -> pl.LazyFrame:
        """Return its lines as fields, valid or not; invalid UTF-8 may raise an error."""
        ...

    def rule_lines(self) -> pl.LazyFrame:
        """Return its lines with all columns for the rules."""
        ...

    def is_whole(self, lines: pl.DataFrame, rows: pl.DataFrame) -> bool:
        """Return true if the rows certainly satisfy the rules of lines."""
        ...


@dataclass(frozen=True)
class Grammar:
    """Instructions for reading the blocks of a file.

    Parameters
    ----------
    rows : callable
        From lines to lines with marks.
    attributes : sequence of str
        Attributes of tokens.
    fields : sequence of str
        Fields of a line.
    rules : sequence of Rule
        Rules for rows.
    unique : Unique or None
        Values that must be unique in the file.
    scan : callable or None
        A faster reader of blocks, see `Scan`.
    lemmas : Lemmas or None
        Placeholders of lemmas.
    metadata : mapping of str to str
        Metadata attributes of documents, paragraphs and sentences: from names to regular
        expressions for `ABOUT` and `ABOUT_PARAGRAPH`, with one group.
    """

    rows: Callable[[pl.LazyFrame], pl.LazyFrame]
    attributes: Sequence[str]
    fields: Sequence[str] = ()
    rules: Sequence[Rule] = ()
    unique: Unique | None = None
    scan: Scan | None = None
    lemmas: Lemmas | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    def asked_metadata(self, columns: Collection[str]) -> dict[str, str]:
        """Return the metadata among the requested columns."""
        return {name: each for name, each in self.metadata.items() if name in columns}

    def columns_to_parse(self, columns: Collection[str]) -> set[str]:
        """Return the columns to parse, including those used by rules."""
        of_rules = _roots(expr for rule in self.rules for expr in (rule.broken, rule.among))
        forms = self.lemmas.columns(columns) if self.lemmas else set()
        about = {ABOUT, ABOUT_PARAGRAPH} if self.asked_metadata(columns) else set()
        return {*_OF_ROWS, *columns, *of_rules, *self.key_columns(), *forms, *about}

    def key_columns(self) -> set[str]:
        """Return the columns of unique values."""
        return _roots([pl.struct(self.unique.key), self.unique.among]) if self.unique else set()

    def schema(self) -> dict[str, pl.DataType]:
        """Return the columns of the tokens with types, without reading."""
        return self._schema

    @cached_property
    def _schema(self) -> dict[str, pl.DataType]:
        names = [TEXT, *self.fields]
        columns = {LINE: pl.Int64(), BLANK: pl.Boolean(), ALONE: pl.Boolean()}
        lines = pl.LazyFrame(schema=columns | dict.fromkeys(names, pl.String()))
        types = self.rows(lines).collect_schema()
        return PLACE | {name: _type_of_token(types.get(name)) for name in self.attributes}


def _roots(expressions: Iterable[pl.Expr | None]) -> set[str]:
    """Return the columns used by expressions."""
    return {name for each in expressions if each is not None for name in each.meta.root_names()}


@dataclass(frozen=True)
class ParsedBlock:
    """The contents of a block.

    Parameters
    ----------
    tokens : DataFrame
        Its tokens, with sentences, documents and paragraphs numbered within the block.
    documents, paragraphs : DataFrame
        Marks of their beginnings and ends.
    sentences : int
        Number of sentences, including skipped ones.
    keys : DataFrame or None
        Values that must be unique in the file, see `rules.keys`.
    violations : DataFrame or None
        Violations, see `rules.violations`; None if there are none.
    replaced : mapping of str to int
        Counts of replaced values, see `pipeline.formats.base.Batch`.
    metadata : mapping of str to str
        Requested metadata, see `Grammar`.
    """

    tokens: pl.DataFrame
    documents: pl.DataFrame
    paragraphs: pl.DataFrame
    sentences: int
    keys: pl.DataFrame | None
    violations: pl.DataFrame | None = None
    replaced: Mapping[str, int] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)


Scan: TypeAlias = Callable[[bytes, int, Collection[str]], ParsedBlock | None]
"""(content of a block, number of lines before it, requested columns) -> its contents, as from other
readers; None unless it is certainly valid. The content is UTF-8 without NUL bytes and carriage
returns.
"""


def parse(block: Block, grammar: Grammar, columns: Collection[str]) -> ParsedBlock:
    """Parse a block, by the fast path if that proves it valid.

    Parameters
    ----------
    block : Block
        The block.
    grammar : Grammar
        Reading instructions.
    columns : collection of str
        Requested columns.
    """
    result = _parse(block, grammar, columns)
    if metadata := grammar.asked_metadata(columns):
        result = replace(result, metadata=metadata)
    both = {**result.replaced, **block.replaced}
    return replace(result, replaced=both) if block.replaced else result


def _parse(block: Block, grammar: Grammar, columns: Collection[str]) -> ParsedBlock:
    scan = None if grammar.asked_metadata(columns) else grammar.scan
    if scan and (result := block.try_scan(scan, columns)):
        return result
    query = block.fast()
    if query is not None:
        lines, rows = _lines_and_rows(query, grammar, grammar.columns_to_parse(columns))
        certain = block.is_whole(lines, rows) and not rules.are_broken(lines, rows, grammar.rules)
        if certain and heads_inside(tokens := _drop_non_tokens(rows)):
            return _build_parsed(lines, rows, tokens, grammar)
    lines, rows = _lines_and_rows(block.rule_lines(), grammar)
    own = [*grammar.rules, *(rules.head_rules() if HEAD in grammar.attributes else [])]
    violations = rules.violations(lines, rows, own, of_lines=block.rules)
    if not violations.height:
        return _build_parsed(lines, rows, _drop_non_tokens(rows), grammar)
    tokens = _drop_non_tokens(rules.valid(rows, violations))
    return replace(_build_parsed(lines, rows, tokens, grammar), violations=violations)


def nth(mark: str) -> str:
    """Return the column with the cumulative number of marks of a kind."""
    return f"{mark}_number"


def _lines_and_rows(
    query: pl.LazyFrame, grammar: Grammar, columns: Collection[str] | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Collect the lines of a block, and its rows as numbered tokens."""
    marked = grammar.rows(query)
    types = marked.collect_schema()
    every = [] if ROW in types else [pl.lit(value=True).alias(ROW)]
    lists = [name for name in grammar.attributes if isinstance(types.get(name), pl.List)]
    columns = types.names() if columns is None else {*columns, *lists[:1]}
    names = [name for name in types if name in columns or name in _OF_LINES]
    lines = marked.select(*names, *every, *mark_numbers(types)).collect()
    own = [name for name in lines.columns if name in columns or name not in _OF_LINES]
    some = [pl.col(name).list.len().ne_missing(0) for name in lists[:1]]
    rows = lines.lazy().filter(ROW, *some).select(own)
    rows = rows.with_columns(
        number for number in numbers(lists) if number.meta.output_name() not in types
    )
    if lists and (grammar.rules or HEAD in grammar.attributes):  # otherwise `place_tokens` does it
        rows = rows.explode(POSITION, *(name for name in lists if name in names))
    return lines, rows.with_columns(heads(types)).collect()


def _type_of_token(kind: pl.DataType | None) -> pl.DataType:
    """Return the type of an attribute; `HEAD` has none before conversion."""
    if isinstance(kind, pl.List):
        return pl.Series(dtype=kind).explode().dtype
    return pl.Int64() if kind is None else kind


def mark_numbers(names: Collection[str]) -> list[pl.Expr]:
    """Return the cumulative numbers of marks of each kind, named by `nth`."""
    marks = [mark for mark in (DOCUMENT, PARAGRAPH) if mark in names]
    return [_has_mark(mark, names).cum_sum().alias(nth(mark)) for mark in marks]


def _has_mark(mark: str, names: Collection[str]) -> pl.Expr:
    """Return true if a row is the first of a line, or entry, with a mark."""
    place = pl.col(ENTRY if ENTRY in names else LINE)
    return pl.col(mark).is_not_null() & place.ne_missing(place.shift())


def _build_parsed(
    lines: pl.DataFrame, rows: pl.DataFrame, tokens: pl.DataFrame, grammar: Grammar
) -> ParsedBlock:
    filled, replaced = grammar.lemmas.fill(tokens) if grammar.lemmas else (tokens, {})
    return ParsedBlock(
        filled,
        _with_about(lines, events(lines, DOCUMENT, NAME), DOCUMENT, ABOUT),
        _with_about(lines, events(lines, PARAGRAPH, KEY), PARAGRAPH, ABOUT_PARAGRAPH),
        rows.get_column("sentence")[-1] if rows.height else 0,
        None if grammar.unique is None else rules.keys(lines, rows, grammar.unique),
        replaced=replaced,
    )


def _drop_non_tokens(rows: pl.DataFrame) -> pl.DataFrame:
    some = rows.get_column(POSITION).has_nulls()
    return rows.filter(pl.col(POSITION).is_not_null()) if some else rows


def events(lines: pl.DataFrame, mark: str, detail: str) -> pl.DataFrame:
    """Return the lines where documents or paragraphs begin or end."""
    names = [name for name in (LINE, mark, detail) if name in lines.columns]
    return (
        lines.filter(_has_mark(mark, lines.columns)).select(names)
        if mark in names
        else lines.select(names).head(0)
    )


def _with_about(lines: pl.DataFrame, marks: pl.DataFrame, mark: str, about: str) -> pl.DataFrame:
    """Add the metadata lines of each document or paragraph, as lists."""
    if about not in lines.columns or marks.is_empty():
        return marks
    metadata = lines.filter(pl.col(about).is_not_null(), pl.col(nth(mark)) > 0)
    by_number = metadata.group_by(nth(mark), maintain_order=True).agg(about)
    numbered = marks.with_row_index(nth(mark), 1)
    return numbered.join(by_number, on=nth(mark), how="left", maintain_order="left").drop(nth(mark))


# State between blocks: numbers, open document, open paragraph


@dataclass(frozen=True)
class Carry:
    """The position in a file.

    Parameters
    ----------
    sentences, documents, paragraphs : int
        Numbers so far.
    doc : str
        Name of the open document; empty if there is none.
    paragraph : int or None
        Number of the open paragraph.
    key : value
        The `KEY` of the last mark of a paragraph.
    about, about_paragraph : tuple of str
        Metadata of the open document and paragraph.
    """

    sentences: int = 0
    documents: int = 0
    paragraphs: int = 0
    doc: str = ""
    paragraph: int | None = None
    key: Any = None
    about: tuple[str, ...] = ()
    about_paragraph: tuple[str, ...] = ()


def place_tokens(
    block: ParsedBlock, columns: Sequence[str], carry: Carry
) -> tuple[pl.DataFrame, Carry]:
    """Return the tokens of a block with numbers in the file, and the state for the next block.

    Parameters
    ----------
    block : ParsedBlock
        The block.
    columns : sequence of str
        Requested columns.
    carry : Carry
        The state before the block.
    """
    tokens, after = number_rows(block, carry)
    lists = [name for name, kind in tokens.schema.items() if kind == pl.List]
    tokens = tokens.select({*columns, *lists}).explode(lists) if lists else tokens
    return tokens.select(columns), after


def number_rows(block: ParsedBlock, carry: Carry) -> tuple[pl.DataFrame, Carry]:
    """Return the rows of a block with numbers in the file, and the following state.

    Parameters
    ----------
    block : ParsedBlock
        The block.
    carry : Carry
        The state before the block.

    Returns
    -------
    rows : DataFrame
        One row per line; lines with several tokens have lists.
    after : Carry
        The state for the next block.
    """
    if block.documents.is_empty() and block.paragraphs.is_empty() and not block.metadata:
        rows = block.tokens.with_columns(
            pl.col("sentence") + carry.sentences,
            pl.lit(carry.doc, pl.String()).alias("doc"),
            pl.lit(carry.paragraph, pl.Int64()).alias("paragraph"),
        )
        return rows, replace(carry, sentences=carry.sentences + block.sentences)
    documents, paragraphs = _documents(block, carry), _paragraphs(block, carry)
    rows = block.tokens.with_columns(
        pl.col("sentence") + carry.sentences,
        _gather(documents.get_column("doc"), block.tokens, nth(DOCUMENT)),
        _gather(paragraphs.get_column("paragraph"), block.tokens, nth(PARAGRAPH)),
    )
    for name, pattern in block.metadata.items():
        known = [
            _gather(_look_up(marks, pattern, name), block.tokens, nth(mark))
            for marks, mark in ((paragraphs, PARAGRAPH), (documents, DOCUMENT))
        ]
        rows = rows.with_columns(pl.coalesce(name, *known).alias(name))
    return rows, Carry(
        sentences=carry.sentences + block.sentences,
        documents=documents["number"][-1],
        paragraphs=paragraphs["number"][-1],
        doc=documents["doc"][-1],
        paragraph=paragraphs["paragraph"][-1],
        key=_key(block, -1) or carry.key,
        about=_last_about(documents),
        about_paragraph=_last_about(paragraphs),
    )


def place_together(
    block: ParsedBlock, columns: Sequence[str], starts: Places
) -> pl.DataFrame | None:
    """Return the tokens of several files, parsed as one block, with numbers in their files.

    Parameters
    ----------
    block : ParsedBlock
        The block, without violations, keys and metadata.
    columns : sequence of str
        Requested columns.
    starts : array of int
        Number of lines before each file.

    Returns
    -------
    DataFrame or None
        The tokens with `FILE`. None unless each file has tokens in its first and last sentences,
        and no sentence lies in two files.
    """
    tokens = block.tokens
    line, sentence = (tokens.get_column(name).to_numpy() for name in (LINE, "sentence"))
    file = np.searchsorted(starts, line) - 1
    first = np.flatnonzero(changes(file))
    before = np.append([0], sentence)[first]
    if len(first) != len(starts) or (sentence[first] != before + 1).any():
        return None
    documents, paragraphs = (
        _number_by_file(marks, mark, starts)
        for marks, mark in ((block.documents, DOCUMENT), (block.paragraphs, PARAGRAPH))
    )
    name = (
        pl.when(pl.col(NAME) != "")
        .then(NAME)
        .otherwise(pl.lit("#") + pl.col("number").cast(pl.String))
    )
    doc = pl.when(DOCUMENT).then(name).otherwise(pl.lit("")).alias("doc")
    paragraph = pl.when(PARAGRAPH).then("number").alias("paragraph")
    rows = tokens.with_columns(
        pl.Series(LINE, line - starts[file]),
        pl.Series("sentence", sentence - before[file]),
        pl.Series(FILE, file),
        _gather_by_file(documents, doc, tokens, nth(DOCUMENT), file),
        _gather_by_file(paragraphs, paragraph, tokens, nth(PARAGRAPH), file),
    )
    lists = [name for name, kind in rows.schema.items() if kind == pl.List]
    table = rows.select({FILE, *columns, *lists})
    return (table.explode(lists) if lists else table).select(FILE, *columns)


def _number_by_file(marks: pl.DataFrame, mark: str, starts: Places) -> pl.DataFrame:
    """Return the marks of each file after a row for its beginning, numbered in the file."""
    nothing = {mark: pl.lit(None, pl.Boolean()), NAME: pl.lit(None, pl.String())}
    both = pl.DataFrame({FILE: np.arange(len(starts))}).with_columns(**nothing)
    if marks.height:
        file = np.searchsorted(starts, marks.get_column(LINE).to_numpy()) - 1
        own = marks.with_columns(pl.Series(FILE, file))
        both = pl.concat([both, own], how="diagonal").sort(FILE, maintain_order=True)
    number = pl.col(mark).fill_null(value=False).cum_sum().over(FILE)
    return both.with_columns(number=number.cast(pl.Int64))


def _gather_by_file(
    marks: pl.DataFrame, value: pl.Expr, tokens: pl.DataFrame, index: str, file: Places
) -> pl.Series:
    """Return the value of the last mark, or beginning of a file, before each token."""
    some = tokens.get_column(index).to_numpy() if index in tokens.columns else 0
    return marks.select(value).to_series().gather(file + some)


_SAID = "about"
"""Metadata columns of documents and paragraphs."""


def _look_up(marks: pl.DataFrame, pattern: str, name: str) -> pl.Series:
    """Return the value of a key for each document or paragraph; null if missing."""
    values = pl.col(_SAID).list.eval(pl.element().str.extract(pattern)).list.drop_nulls()
    return marks.select(values.list.first().alias(name)).to_series()


def _last_about(marks: pl.DataFrame) -> tuple[str, ...]:
    last = marks.get_column(_SAID)[-1]
    return () if last is None else tuple(last)


def _gather(values: pl.Series, tokens: pl.DataFrame, index: str) -> pl.Series | pl.Expr:
    """Return the value at each token's index; a single value if all are equal."""
    if len(values) == 1:
        return pl.lit(values[0], values.dtype).alias(values.name)
    return values.gather(tokens.get_column(index))


def _documents(block: ParsedBlock, carry: Carry) -> pl.DataFrame:
    """Return doc and number of the documents of a block, starting with the open one."""
    metadata = _about_schema(carry.about)
    before = pl.DataFrame({"doc": [carry.doc], "number": [carry.documents]}).with_columns(metadata)
    if block.documents.is_empty():
        return before
    begins = pl.col(DOCUMENT)
    number = begins.cum_sum().cast(pl.Int64) + carry.documents
    unnamed = pl.lit("#") + number.cast(pl.String)
    name = pl.when(pl.col(NAME) != "").then(NAME).otherwise(unnamed)
    doc = pl.when(begins).then(name).otherwise(pl.lit(""))
    own = _about_of(block.documents, ABOUT)
    return pl.concat([before, block.documents.select(own, doc=doc, number=number)], how="diagonal")


def _about_schema(metadata: Sequence[str]) -> pl.Series:
    return pl.Series(_SAID, [list(metadata)], pl.List(pl.String()))


def _about_of(marks: pl.DataFrame, about: str) -> pl.Expr:
    kind = pl.List(pl.String())
    return (pl.col(about) if about in marks.columns else pl.lit(None, kind)).cast(kind).alias(_SAID)


def _paragraphs(block: ParsedBlock, carry: Carry) -> pl.DataFrame:
    """Return paragraph (null outside) and number of the paragraphs, starting with the open one."""
    schema = {"paragraph": pl.Int64(), "number": pl.Int64()}
    before = pl.DataFrame([(carry.paragraph, carry.paragraphs)], schema, orient="row")
    before = before.with_columns(_about_schema(carry.about_paragraph))
    marks = block.paragraphs
    if marks.is_empty():
        return before
    # A change of key at the top of a block may continue the previous block.
    goes_on = carry.key is not None and _key(block, 0) == carry.key
    same = (pl.int_range(pl.len()) == 0) & goes_on
    begins = pl.col(PARAGRAPH) & ~same
    number = begins.cum_sum().cast(pl.Int64) + carry.paragraphs
    paragraph = pl.when(same).then(carry.paragraph).when(begins).then(number).cast(pl.Int64)
    own = marks.select(_about_of(marks, ABOUT_PARAGRAPH), paragraph=paragraph, number=number)
    return pl.concat([before, own], how="diagonal")


def _key(block: ParsedBlock, index: int) -> Any:
    marks = block.paragraphs
    return marks.get_column(KEY)[index] if KEY in marks.columns and marks.height else None


# Duplicate keys of a file: eight bytes each, on disk if there are many

_MOST = 1 << 22
"""Maximum number of hashes in memory (32 MB); more go to disk."""
_BITS = 6
"""Number of leading bits that partition hashes on disk."""
_SCHEMA = pl.Schema({"hash": pl.UInt64})
_NONE = pl.Series("hash", dtype=pl.UInt64())


def hash_keys(block: ParsedBlock) -> pl.Series:
    """Return the hashes of unique values in a part of a file."""
    return _NONE if block.keys is None else block.keys.get_column("key").hash(seed=0)


class Hashes:
    """Collects hashes and finds duplicates; a context manager.

    Parameters
    ----------
    most : int
        Maximum number in memory.

    Examples
    --------
    >>> with Hashes(most=2) as hashes:
    ...     hashes.add(pl.Series([3, 2, 2**63], dtype=pl.UInt64))
    ...     hashes.add(pl.Series([2**63], dtype=pl.UInt64))
    ...     hashes.duplicates().to_list()
    [9223372036854775808]
    """

    def __init__(self, most: int = _MOST) -> None:
        self._held: list[pl.Series] = []
        self._rows, self._most = 0, most
        self._spilled: Spill | None = None

    def __enter__(self) -> Hashes:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.clear()
        if self._spilled is not None:
            self._spilled.clear()

    def add(self, hashes: pl.Series) -> None:
        """Add hashes."""
        if hashes.is_empty():
            return
        self._held.append(hashes)
        self._rows += len(hashes)
        if self._rows > self._most:
            self._spill()

    def duplicates(self) -> pl.Series:
        """Return the duplicate hashes, each once."""
        if self._spilled is None:
            return _duplicates(pl.concat([_NONE, *self._held]))
        self._spill()
        return pl.concat(_duplicates(each.collect().to_series()) for each in self._spilled)

    def _spill(self) -> None:
        if self._spilled is None:
            self._spilled = Spill(1 << _BITS, _SCHEMA, most=0)
        rows = pl.concat([_NONE, *self._held]).to_frame("hash")
        self._spilled.add(rows, pl.col("hash") // (1 << (64 - _BITS)))
        self._held.clear()
        self._rows = 0


def _duplicates(hashes: pl.Series) -> pl.Series:
    """Return repeated values of a sorted array, each once."""
    ordered = hashes.sort()
    return ordered.filter((ordered == ordered.shift()).fill_null(value=False)).unique()


# Outline of a block: marks and counts without parsing tokens

_PLACES = (
    *(LINE, UNIT, POSITION, ROW, SOME, DOCUMENT, NAME, PARAGRAPH, KEY, ABOUT, ABOUT_PARAGRAPH),
)


def outline(block: Block, grammar: Grammar) -> ParsedBlock | None:
    """Like `parse` for a valid block, with one token per sentence.

    The format provides only position columns, and rules are not checked.

    Parameters
    ----------
    block : Block
        The block.
    grammar : Grammar
        Reading instructions.

    Returns
    -------
    Parsed or None
        The first token of each sentence, without attributes. None if the block is not text.
    """
    marked = grammar.rows(block.outline())
    types = marked.collect_schema()
    names = [name for name in types if name in {*_PLACES, *grammar.key_columns()}]
    lists = [name for name in grammar.attributes if isinstance(types.get(name), pl.List)]
    some = [pl.col(name).list.len().ne_missing(0).alias(SOME) for name in lists[:1]]
    marks = [] if ROW in types else [pl.lit(value=True).alias(ROW)]
    marks += [] if SOME in types else some
    try:
        lines = marked.select(*names, *marks, *mark_numbers(types)).collect()
    except pl.exceptions.ComputeError:
        return None
    return _build_outline(lines, grammar)


def _build_outline(lines: pl.DataFrame, grammar: Grammar) -> ParsedBlock:
    names = [name for name in (ROW, SOME) if name in lines.columns]
    number = first_in_unit().cum_sum().cast(pl.Int64).alias("sentence")
    first, own = first_in_unit(), POSITION in lines.columns
    numbered = lines.lazy().filter(*names).with_columns(number)
    rows = numbered.filter(first | (pl.col(POSITION) == 1) if own else first).collect()
    tokens = rows.filter(pl.col(POSITION) == 1) if own else rows
    return _build_parsed(lines, rows, tokens, grammar)


# Helpers of byte scans.


def changes(values: Places) -> npt.NDArray[np.bool_]:
    """Return true for values that differ from the previous one.

    Examples
    --------
    >>> changes(np.array([4, 4, 7])).tolist()
    [True, False, True]
    """
    return np.append([True], values[1:] != values[:-1])[: values.size]


def count_positions(first: npt.NDArray[np.bool_]) -> Places:
    """Return the position of each row in its sentence, from 1, given the first rows.

    Examples
    --------
    >>> count_positions(np.array([True, False, True])).tolist()
    [1, 2, 1]
    """
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=first.size)
    return np.arange(1, first.size + 1) - np.repeat(starts, sizes)


def count_before(mark: str, marks: Places, rows: Places) -> pl.Series:
    """Return the number of marks before each row, by line, named by `nth`."""
    return pl.Series(nth(mark), np.searchsorted(marks, rows).astype(np.uint32))


# Read text files in blocks.

SIZE = 8 << 20
"""Bytes read at a time; parsing is fastest within processor caches."""
_LEAST, _SHARE = 1 << 16, 128
"""With limited memory: share of it, or bytes, read at a time."""

BOM = b"\xef\xbb\xbf"
"""Byte-order mark."""

_SHORT = 1 << 20
"""Minimum number of bytes read at once."""
_TAIL = 1 << 10
"""Bytes of a piece that show with the next one where a unit ends."""
_BYTE, _TOKEN = 16, 300
"""Memory per byte of text and per token during parsing."""

T = TypeVar("T")
U = TypeVar("U")


def block_size(memory: int | None) -> int:
    """Return the number of bytes of a corpus to read at a time.

    Parameters
    ----------
    memory : int or None
        Memory limit in bytes; None: no limit.

    Examples
    --------
    >>> block_size(None) >> 20, block_size(256 << 20) >> 20
    (8, 2)
    """
    return SIZE if memory is None else max(_LEAST, min(SIZE, memory // _SHARE))


class Readable(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return the given number of bytes, or the rest."""
        ...


@dataclass(frozen=True)
class Range:
    """A range of bytes of whole units.

    Parameters
    ----------
    start, end : int
        Start and end; bytes.
    lines : int
        Number of lines before the range.
    """

    start: int
    end: int
    lines: int


@dataclass(frozen=True)
class Source:
    """The source of the text of a file or part of it.

    Parameters
    ----------
    opened : callable
        Opens the text at the first byte.
    within : Range, optional
        The range of bytes, if not all.
    """

    opened: Callable[[], AbstractContextManager[Readable]]
    within: Range | None = None


@dataclass(frozen=True)
class TextBlock:
    """Lines of text.

    Parameters
    ----------
    content : bytes
        The lines, without byte-order mark.
    before : int
        Number of lines before them in the file.
    fields : sequence of str
        Names of tab-separated fields; without any, lines are given as `TEXT`.
    replaced : mapping of str to int
        Counts of normalised characters, see `pipeline.formats.base.Batch`.
    original : bytes, optional
        The original lines, if different from `content`.
    """

    content: bytes
    before: int
    fields: Sequence[str]
    replaced: Mapping[str, int] = field(default_factory=dict)
    original: bytes | None = None

    @property
    def raw(self) -> bytes:
        """The original lines."""
        return self.content if self.original is None else self.original

    @property
    def rules(self) -> Sequence[Rule]:
        """Rules for lines of text or fields."""
        return rules.field_rules(len(self.fields)) if self.fields else rules.text_rules()

    def try_scan(self, scan: Callable[[bytes, int, U], T | None], columns: U) -> T | None:
        """Return the result of a byte scan, if possible."""
        plain = b"\r" not in self.content and is_text(self.content)
        return scan(self.content, self.before, columns) if plain else None

    def fast(self) -> pl.LazyFrame | None:
        """Return the lines as fields, parsing only requested ones."""
        return self.outline() if is_text(self.content) else None

    def outline(self) -> pl.LazyFrame:
        """Return the fields, valid or not; invalid UTF-8 may raise an error."""
        if not self.fields:
            return self.rule_lines()
        first, *others = map(pl.col, self.fields)
        alone = others[0].is_null() if others else pl.lit(value=True)
        # Few fields begin this way, and only these are examined. A following field is recognised by
        # its tab.
        white = pl.when(first < "!").then(first).str.strip_chars(" ") == ""
        return lines.fields(self.content, self.fields, before=self.before).with_columns(
            (first.is_null() | white.fill_null(value=False)).alias(BLANK),
            alone.alias(ALONE),
            pl.col(self.fields[-1]).alias(LAST),
        )

    def rule_lines(self) -> pl.LazyFrame:
        """Return the lines with `TEXT` (null if not UTF-8) and the fields."""
        text, query = pl.col(TEXT), lines.lines_of(self.content, before=self.before).lazy()
        if not self.fields:
            return query
        return lines.split(query, self.fields).with_columns(
            (text.str.strip_chars(" \t") == "").fill_null(value=False).alias(BLANK),
            ~text.str.contains("\t", literal=True).alias(ALONE),
        )

    def is_whole(self, lines: pl.DataFrame, rows: pl.DataFrame) -> bool:
        """Return true if each row certainly has the right number of fields."""
        width = len(self.fields)
        return not width or has_fields(self.content, lines, rows, width=width, before=self.before)


@dataclass(frozen=True)
class FrameBlock:
    """Rows that need no parsing."""

    rows: pl.DataFrame
    rules: Sequence[Rule] = ()
    replaced: Mapping[str, int] = field(default_factory=dict)

    def try_scan(self, _scan: object, _columns: object) -> None:
        """Return None: there are no bytes to scan."""

    def fast(self) -> pl.LazyFrame:
        """Return the rows."""
        return self.rows.lazy()

    rule_lines = outline = fast

    def is_whole(self, _lines: pl.DataFrame, _rows: pl.DataFrame) -> bool:
        """Return true: rows have all fields."""
        return True


def text_blocks(
    path: Path,
    size: int,
    fields: Sequence[str],
    cut: Callable[[bytes], int],
    source: Source | None = None,
    *,
    form: unicode.Form = "NFC",
) -> Iterator[TextBlock]:
    """Yield a text file in blocks.

    Parameters
    ----------
    path : Path
        A (compressed) text file in UTF-8.
    size : int
        Bytes to read at a time.
    fields : sequence of str
        See `TextBlock`.
    cut : callable
        From content to the number of bytes up to the end of the last whole unit, or 0.
    source : Source, optional
        The source, by default the file.
    form : str
        Normalisation form.

    Raises
    ------
    DataError
        If name and content disagree about compression.
    """
    lines.require_matching_suffix(path)
    within = source.within if source else None
    with source.opened() if source else open_bytes(path) as file:
        read: Callable[[int], bytes] = file.read
        before = 0
        if within is None:
            first = read(max(size, len(BOM))).removeprefix(BOM)
        else:
            read, before = _limit_bytes(file.read, within.end - within.start), within.lines
            first = read(size)
        for line, content in _split_units(path, read, size, cut, (before, first)):
            (text,), replaced = normalise_texts([content], form)
            yield TextBlock(text, line, fields, replaced, None if text is content else content)


def normalise_texts(
    texts: Sequence[bytes], form: unicode.Form
) -> tuple[Sequence[bytes], dict[str, int]]:
    """Return normalised texts, and the counts of normalised characters."""
    if form == "none":
        return texts, {}
    counts: Counter[str] = Counter()
    normal = [unicode.normalise_bytes(text, counts) for text in texts]
    return normal, {SIGN + kind: n for kind, n in counts.items() if n}


def map_ahead(things: Iterator[T], job: Callable[[T], U], threads: int) -> Iterator[U]:
    """Yield the results of `job` in order; threads work ahead."""
    begin = list(itertools.islice(things, 2))
    if len(begin) < 2:  # to start threads takes longer than to read a small file
        yield from map(job, begin)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting = deque[Future[U]]()
        for thing in itertools.chain(begin, things):
            waiting.append(pool.submit(job, thing))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _limit_bytes(read: Callable[[int], bytes], most: int) -> Callable[[int], bytes]:
    """Return a reader limited to a number of bytes."""
    rest = most

    def some(size: int) -> bytes:
        nonlocal rest
        content = read(min(size, rest))
        rest -= len(content)
        return content

    return some


def _split_units(
    path: Path,
    read: Callable[[int], bytes],
    size: int,
    cut: Callable[[bytes], int],
    start: tuple[int, bytes],
) -> Iterator[tuple[int, bytes]]:
    """Yield pieces of the input that end at units, with the number of lines before each.

    It starts with the lines before, and with content read already.
    """
    before, buffer = start
    while more := read(size):
        if end := cut(buffer):
            yield before, buffer[:end]
            before += int(np.count_nonzero(np.frombuffer(buffer, np.uint8, end) == _END))
        else:
            _require_memory(f"{path}: line {before + 1}", buffer, itertools.chain(
                [more], iter(functools.partial(read, size), b"")
            ), cut)  # fmt: skip
        buffer = buffer[end:] + more
    if last := buffer.removesuffix(b"\r"):
        yield before, last


def _require_memory(
    place: str, buffer: bytes, further: Iterator[bytes], cut: Callable[[bytes], int]
) -> None:
    """Reject a line or unit that exceeds available memory, with what the whole of it needs."""
    size, lines, blanks = len(buffer), buffer.count(b"\n"), buffer.count(b" ")

    def estimate() -> int:
        return size * _BYTE + (lines + blanks) * _TOKEN

    if size < _SHORT or estimate() <= memory.available_bytes():
        return
    for more in further:  # to its end, a piece at a time
        size, blanks = size + len(more), blanks + more.count(b" ")
        if cut(buffer[-_TAIL:] + more):
            break
        lines += more.count(b"\n")
        buffer = more
    what = f"the unit that begins there, with {lines:,} lines or more," if lines else "the line"
    memory.require(
        estimate(),
        f"{place}: {what} has about {memory.format_bytes(size)}, and",
        otherwise="end sentences by line ends, blank lines or tags, depending on the format",
    )
