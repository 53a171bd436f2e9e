"""Corpus formats: two functions and rules, from which scan, check and read are derived."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import polars as pl

from pipeline.formats.base import FORMATS, Batch, CorpusOptions, Format, SkippedPart
from pipeline.formats.compression import MembersReader, is_compressed
from pipeline.formats.corpora.blocks import (
    BOM,
    Grammar,
    Scan,
    Source,
    TextBlock,
    normalise_texts,
    parse,
    place_together,
    text_blocks,
)
from pipeline.formats.corpora.rules import Lemmas, Rule, Unique
from pipeline.formats.corpora.splitting import CorpusFile, Division, FilePart, divide_file

T = TypeVar("T")
OrCallable: TypeAlias = T | Callable[[Any], T]
"""A value, or a function of the options."""
Rows: TypeAlias = Callable[[pl.LazyFrame, Any], pl.LazyFrame]
R = TypeVar("R", bound=Rows)


@dataclass(frozen=True, eq=False)
class CorpusFormat:
    """Definition of a corpus format; fields are the arguments of `corpus_format`."""

    rows: Rows
    cut: Callable[[bytes, Any], int]
    attributes: OrCallable[Sequence[str]]
    fields: OrCallable[Sequence[str]]
    rules: OrCallable[Sequence[Rule]]
    unique: OrCallable[Unique | None]
    scan: Callable[[Any], Scan | None] | None
    layout: Callable[[Path, Any], Any] | None
    facts: Callable[[Any], Mapping[str, int]] | None
    lemmas: OrCallable[Lemmas | None]
    metadata: OrCallable[Mapping[str, str] | None]
    remedy: str
    between: bytes | None

    def query(self, path: Path, options: Any) -> pl.LazyFrame:
        """Return the query of a file's tokens, see `Format`."""
        return self._open(path, options).scan()

    def columns(self, path: Path, options: Any) -> Mapping[str, pl.DataType]:
        """Return the columns of a file's tokens, see `Format`."""
        return _grammar_of(self, self._layout(path, options)).schema()

    def check(self, path: Path, options: Any) -> Sequence[SkippedPart]:
        """Check a file, see `Format`."""
        return self._open(path, options).check()

    def read(self, path: Path, options: Any, columns: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield the tokens of a file in batches, see `Format`."""
        own = self.facts(self._layout(path, options)) if self.facts else {}
        for batch in self._open(path, options).batches(columns, size):
            yield replace(batch, replaced={**batch.replaced, **own}) if own else batch
            own = {}

    def read_together(
        self, paths: Sequence[Path], options: Any, columns: Sequence[str]
    ) -> Batch | None:
        """Return the tokens of small files, parsed as one block, see `Format`."""
        layouts = [self._layout(path, options) for path in paths]
        grammar = _grammar_of(self, layouts[0])
        alike = all(each is layouts[0] for each in layouts)
        if self.between is None or not alike or grammar.unique or grammar.asked_metadata(columns):
            return None
        texts = [path.read_bytes().removeprefix(BOM) for path in paths]
        if not all(text and not text.endswith(b"\r") for text in texts):
            return None
        normal, replaced = normalise_texts(texts, options.normalise)
        ended = [text.removesuffix(b"\n") + b"\n" + self.between for text in normal]
        starts = np.cumsum([0, *(text.count(b"\n") for text in ended)])
        block = TextBlock(b"".join(ended), 0, grammar.fields, replaced)
        parsed = parse(block, grammar, columns)
        if parsed.violations is not None or parsed.tokens.is_empty():
            return None
        tokens = place_together(parsed, columns, starts[:-1])
        own = self.facts(layouts[0]) if self.facts else {}
        facts = {name: count * len(paths) for name, count in own.items()}
        return None if tokens is None else Batch(tokens, replaced={**parsed.replaced, **facts})

    def divide(self, path: Path, options: Any, size: int) -> Division:
        """Return the parts of a file, see `Format`; empty for indivisible files."""
        if options.lenient:
            return Division()
        if not is_compressed(path):
            return divide_file(self._open(path, options), size)
        members = MembersReader(path)
        division = divide_file(self._open(path, options, Source(lambda: members)), size, members)
        return replace(division, unpack=not division.parts)

    def optional(self, path: Path, options: Any) -> frozenset[str]:
        """Return the metadata of the file, see `Format`."""
        return frozenset(_resolve(self.metadata, self._layout(path, options)) or ())

    def read_part(
        self, path: Path, options: Any, columns: Sequence[str], size: int, part: FilePart
    ) -> Iterator[Batch]:
        """Yield the tokens of a part of a file in batches, see `Format`."""
        own = self._open(path, options, Source(lambda: part.open(path), part.range))
        return own.beginning(part.begin, self._open(path, options)).batches(columns, size)

    def _layout(self, path: Path, options: Any) -> Any:
        if self.layout is None:
            return options
        stat = path.stat()
        return _layout_of(self, path, options, stat.st_mtime_ns, stat.st_size)

    def _open(self, path: Path, options: Any, source: Source | None = None) -> CorpusFile:
        layout = self._layout(path, options)
        grammar = _grammar_of(self, layout)
        return CorpusFile(
            path,
            lambda size: text_blocks(
                path,
                size,
                grammar.fields,
                lambda text: self.cut(text, layout),
                source,
                form=options.normalise,
            ),
            grammar,
            lenient=options.lenient,
            remedy=self.remedy,
        )


# A corpus may have very many small files with few layouts. A file is opened several times in a run.


@lru_cache(1 << 17)
def _layout_of(own: CorpusFormat, path: Path, options: Any, _time: int, _size: int) -> Any:
    return _first_equal(own.layout(path, options) if own.layout else options)


@lru_cache(1 << 8)
def _first_equal(layout: Any) -> Any:
    return layout


@lru_cache(1 << 8)
def _grammar_of(own: CorpusFormat, layout: Any) -> Grammar:
    metadata: Mapping[str, str] | None = _resolve(own.metadata, layout)
    return Grammar(
        rows=lambda lines: own.rows(lines, layout),
        attributes=_resolve(own.attributes, layout),
        fields=_resolve(own.fields, layout),
        rules=_resolve(own.rules, layout),
        unique=_resolve(own.unique, layout),
        scan=own.scan(layout) if own.scan else None,
        lemmas=_resolve(own.lemmas, layout),
        metadata=metadata or {},
    )


def corpus_format(
    name: str,
    *,
    suffixes: Sequence[str],
    cut: Callable[[bytes, Any], int],
    attributes: OrCallable[Sequence[str]],
    fields: OrCallable[Sequence[str]] = (),
    rules: OrCallable[Sequence[Rule]] = (),
    unique: OrCallable[Unique | None] = None,
    scan: Callable[[Any], Scan | None] | None = None,
    options: type[CorpusOptions] = CorpusOptions,
    layout: Callable[[Path, Any], Any] | None = None,
    facts: Callable[[Any], Mapping[str, int]] | None = None,
    lemmas: OrCallable[Lemmas | None] = None,
    metadata: OrCallable[Mapping[str, str] | None] = None,
    remedy: str = "",
    between: bytes | None = None,
) -> Callable[[R], R]:
    """Register a function that makes the rows of a corpus format.

    It is called with (lines, options) for the lines of a block: `LINE` and `TEXT` (null if not
    UTF-8), or with `fields` these instead, and `BLANK` and `ALONE`. It returns all lines with
    `UNIT`, the attributes, and other columns of `pipeline.formats.corpora.rules` that the format
    has. For lines with several tokens or none, attributes are lists of equal length. State between
    blocks is handled by the caller.

    Parameters
    ----------
    name, suffixes, options
        As in `pipeline.formats.base.Format`.
    cut : callable
        (content, options) -> number of bytes up to the end of the last whole unit, or 0.
    attributes : sequence of str, or callable
        Attributes of tokens; ``head`` is a position in the sentence. This and the following
        arguments may be functions of the options.
    fields : sequence of str, or callable
        Names of the tab-separated fields of a line, if any; parsed on request.
    rules : sequence of Rule, or callable
        Rules for rows, besides general ones: lines are text and have all fields, heads lie in their
        sentence.
    unique : Unique, or callable
        Values that must be unique in a file.
    scan : callable, optional
        options -> a faster reader of blocks, if available, see `Scan`.
    layout : callable, optional
        (path, options) -> options completed from the file.
    facts : callable, optional
        layout -> facts about a file, each with count 1, as in `Batch.replaced`.
    lemmas : Lemmas, or callable
        Placeholders, if tokens have an attribute `pipeline.formats.corpora.rules.LEMMA`.
    metadata : mapping of str to str, or callable
        Optional attributes of documents and paragraphs, see
        `pipeline.formats.corpora.blocks.Grammar`.
    remedy : str
        Further advice for violated rules.
    between : bytes, optional
        Lines that have no tokens and end all units: between small files that are read together.
        None if a file can have an effect on the rows of the next.

    Returns
    -------
    decorator
        Returns the function unchanged.
    """

    def register(rows: R) -> R:
        own = CorpusFormat(
            rows,
            cut,
            attributes,
            fields,
            rules,
            unique,
            scan,
            layout,
            facts,
            lemmas,
            metadata,
            remedy,
            between,
        )
        format_ = Format(
            name, own.query,
            suffixes=suffixes, check=own.check, options=options, kind="corpus", read=own.read,
            divide=own.divide, read_part=own.read_part, optional=own.optional if metadata else None,
            columns=own.columns, read_together=own.read_together if between else None,
        )  # fmt: skip
        FORMATS.add(name, format_, rows.__module__)
        return rows

    return register


def _resolve(value: OrCallable[T], options: Any) -> T:
    return value(options) if callable(value) else value
