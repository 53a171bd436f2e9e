"""A format of corpora: two functions and its rules, from which scan, check and read follow."""

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
"""Something, or a function of the options that gives it."""
Rows: TypeAlias = Callable[[pl.LazyFrame, Any], pl.LazyFrame]
R = TypeVar("R", bound=Rows)


@dataclass(frozen=True)
class CorpusFormat:
    """How text files of a format are read; see `corpus_format`, whose keywords these are."""

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
        """Judge a file, see `Format`."""
        return self._open(path, options).check()

    def read(self, path: Path, options: Any, columns: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield the tokens of a file in batches, see `Format`."""
        layout = self.layout(path, options) if self.facts and self.layout else options
        own = self.facts(layout) if self.facts else {}
        for batch in self._open(path, options).batches(columns, size):
            yield replace(batch, replaced={**batch.replaced, **own}) if own else batch
            own = {}

    def divide(self, path: Path, options: Any, size: int) -> Division:
        """Return the parts of a file, see `Format`; none where it has to be read as a whole."""
        if options.lenient:
            return Division()
        if not is_compressed(path):
            return divide_file(self._open(path, options), size)
        members = MembersReader(path)
        found = divide_file(self._open(path, options, Source(lambda: members)), size, members)
        return replace(found, unpack=not found.parts)

    def optional(self, path: Path, options: Any) -> frozenset[str]:
        """Return the metadata that the file has, see `Format`."""
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
    """Register a function as the one that gives the rows of a format of corpora.

    It is called as (lines, options) with the lines of a block: `LINE` and `TEXT`, null where it
    is not UTF-8; with `fields` these instead, and `BLANK` and `ALONE`. It returns all of them,
    with `UNIT`, the attributes, and those of the other columns of `pipeline.formats.corpora.rules`
    that the format knows of. Where a line holds several tokens, or none, the attributes are lists
    of equal length. It knows nothing of other blocks: what goes on in the next is looked after.

    Parameters
    ----------
    name, suffixes, options
        As in `pipeline.formats.base.Format`.
    cut : callable
        (content, options) -> bytes up to the end of the last whole unit; 0 if there is none.
    attributes : sequence of str, or callable
        What a token has besides its place; ``head`` is a position in its sentence. A callable
        gives it, like all that follows, from the options.
    fields : sequence of str, or callable
        Names of the tab-separated fields of a line, if it has some: parsed where asked for alone.
    rules : sequence of Rule, or callable
        What rows must keep to, besides what goes for all: a line is text and has all fields, a
        head lies in its sentence.
    unique : Unique, or callable
        What may not come twice in a file.
    scan : callable, optional
        options -> a faster way to read a block, if there is one under these, see `Scan`.
    layout : callable, optional
        (path, options) -> options, with what the file says itself of how it is read.
    facts : callable, optional
        layout -> what was found out about a file, with 1 each, as `Batch.replaced` counts it.
    lemmas : Lemmas, or callable
        Which lemmas are none, if tokens have an attribute `pipeline.formats.corpora.rules.LEMMA`.
    metadata : mapping of str to str, or callable
        Attributes of documents and paragraphs, see `pipeline.formats.corpora.blocks.Grammar`. A
        file may lack some that others have.
    remedy : str
        What else to try where a rule is broken, for the message.

    Returns
    -------
    decorator
        Gives the function back unchanged.
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
