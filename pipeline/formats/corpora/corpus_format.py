"""Corpus formats: two functions and rules, from which scan, check and read are derived."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import polars as pl

from pipeline.formats.base import FORMATS, Batch, CorpusOptions, Format, Skipped
from pipeline.formats.compression import MembersReader, is_compressed
from pipeline.formats.corpora.blocks import Grammar, Scan, Source, text_blocks
from pipeline.formats.corpora.rules import Lemmas, Rule, Unique
from pipeline.formats.corpora.splitting import CorpusFile, Division, FilePart, divide_file

T = TypeVar("T")
OrCallable: TypeAlias = T | Callable[[Any], T]
"""A value, or a function of the options."""
Rows: TypeAlias = Callable[[pl.LazyFrame, Any], pl.LazyFrame]
R = TypeVar("R", bound=Rows)


@dataclass(frozen=True)
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

    def query(self, path: Path, options: Any) -> pl.LazyFrame:
        """Return the query of a file's tokens, see `Format`."""
        return self._open(path, options).scan()

    def check(self, path: Path, options: Any) -> Sequence[Skipped]:
        """Check a file, see `Format`."""
        return self._open(path, options).check()

    def read(self, path: Path, options: Any, columns: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield the tokens of a file in batches, see `Format`."""
        layout = self.layout(path, options) if self.facts and self.layout else options
        own = self.facts(layout) if self.facts else {}
        for batch in self._open(path, options).batches(columns, size):
            yield replace(batch, replaced={**batch.replaced, **own}) if own else batch
            own = {}

    def divide(self, path: Path, options: Any, size: int) -> Division:
        """Return the parts of a file, see `Format`; empty for indivisible files."""
        if options.lenient:
            return Division()
        if not is_compressed(path):
            return divide_file(self._open(path, options), size)
        members = MembersReader(path)
        found = divide_file(self._open(path, options, Source(lambda: members)), size, members)
        return replace(found, unpack=not found.parts)

    def optional(self, path: Path, options: Any) -> frozenset[str]:
        """Return the metadata of the file, see `Format`."""
        layout = self.layout(path, options) if self.layout else options
        return frozenset(_resolve(self.metadata, layout) or ())

    def read_part(
        self, path: Path, options: Any, columns: Sequence[str], size: int, part: FilePart
    ) -> Iterator[Batch]:
        """Yield the tokens of a part of a file in batches, see `Format`."""
        own = self._open(path, options, Source(lambda: part.open(path), part.range))
        return own.beginning(part.begin, self._open(path, options)).batches(columns, size)

    def _open(self, path: Path, options: Any, source: Source | None = None) -> CorpusFile:
        layout = self.layout(path, options) if self.layout else options
        fields = _resolve(self.fields, layout)
        metadata: Mapping[str, str] | None = _resolve(self.metadata, layout)
        grammar = Grammar(
            rows=lambda lines: self.rows(lines, layout),
            attributes=_resolve(self.attributes, layout),
            fields=fields,
            rules=_resolve(self.rules, layout),
            unique=_resolve(self.unique, layout),
            scan=self.scan(layout) if self.scan else None,
            lemmas=_resolve(self.lemmas, layout),
            metadata=metadata or {},
        )
        return CorpusFile(
            path,
            lambda size: text_blocks(
                path,
                size,
                fields,
                lambda text: self.cut(text, layout),
                source,
                form=options.normalise,
            ),
            grammar,
            lenient=options.lenient,
            remedy=self.remedy,
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
        )
        format_ = Format(
            name, own.query,
            suffixes=suffixes, check=own.check, options=options, kind="corpus", read=own.read,
            divide=own.divide, read_part=own.read_part, optional=own.optional if metadata else None,
        )  # fmt: skip
        FORMATS.add(name, format_, rows.__module__)
        return rows

    return register


def _resolve(given: OrCallable[T], options: Any) -> T:
    return given(options) if callable(given) else given
