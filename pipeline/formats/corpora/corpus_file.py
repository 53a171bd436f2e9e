"""A file of a corpus, block by block: what is wrong in it, and its tokens in batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from pipeline import room
from pipeline.errors import DataError
from pipeline.formats.base import LINE, Batch, Skipped
from pipeline.formats.corpora import rules
from pipeline.formats.corpora.blocks import ahead, block_size
from pipeline.formats.corpora.carry import Carry, placed
from pipeline.formats.corpora.hashes import Hashes, hashes_of
from pipeline.formats.corpora.parsing import Block, Grammar, Parsed, parse
from pipeline.formats.corpora.rules import Rule
from pipeline.formats.reading import not_utf8, reading

_THREADS = 2
"""Blocks that are parsed at a time where memory has no limit; else one."""


@dataclass(frozen=True)
class CorpusFile:
    """A file, and how it is read.

    Parameters
    ----------
    path : Path
        Where it is.
    blocks : callable
        Bytes to read at a time -> its blocks, from the first.
    grammar : Grammar
        How a block is read.
    lenient : bool
        Whether to leave out what is wrong.
    remedy : str
        What else to try where something is.
    begin : Carry
        What goes before, of a part of a file.
    whole : CorpusFile, optional
        The file, of a part of one.
    """

    path: Path
    blocks: Callable[[int], Iterator[Block]]
    grammar: Grammar
    lenient: bool
    remedy: str = ""
    begin: Carry = field(default_factory=Carry)
    whole: CorpusFile | None = None

    def beginning(self, begin: Carry, whole: CorpusFile) -> CorpusFile:
        """Return it as a part of a file in which nothing comes twice that may not."""
        grammar = replace(self.grammar, unique=None)
        return replace(self, grammar=grammar, begin=begin, whole=whole)

    def scan(self) -> pl.LazyFrame:
        """Return the query of its tokens; nothing is read before they are asked for."""
        asked = partial(self._asked, copy_context())  # Polars asks in a thread without a limit
        return register_io_source(asked, schema=self.grammar.schema(), is_pure=True)

    def check(self) -> Sequence[Skipped]:
        """Read it to its end; raise DataError for what is wrong, or return what is left out."""
        violations: list[pl.DataFrame] = []
        some = False
        size = _at_a_time()
        for parsed in self._whole(size)._parsed((), size):
            violations += [] if parsed.violations is None else [parsed.violations]
            some = some or not parsed.tokens.is_empty()
        if not violations:
            return () if some else rules.nothing_in(self.path, lenient=self.lenient)
        if not self.lenient:
            raise self._refusal(pl.concat(violations))
        return [skip for block in violations for skip in rules.skipped(block)]

    def batches(self, columns: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield its tokens, whole units at a time.

        Parameters
        ----------
        columns : sequence of str
            Which columns are wanted.
        size : int
            Bytes to read at a time.

        Raises
        ------
        DataError
            If something is wrong and it is not read leniently: as `check` says it.
        """
        carry, some = self.begin, False
        file = self._whole(size) if self.lenient else self
        with Hashes() as hashes:
            for parsed in file._parsed(columns, size):
                if parsed.violations is not None and not self.lenient:
                    (self.whole or self).check()  # says all that is wrong in the file
                    raise self._refusal(parsed.violations)
                hashes.add(hashes_of(parsed))
                tokens, carry = placed(parsed, columns, carry)
                skipped = () if parsed.violations is None else rules.skipped(parsed.violations)
                some = some or not tokens.is_empty() or bool(skipped)
                yield Batch(tokens, skipped)
            if len(hashes.repeated()):
                self.check()
        if not some:
            schema = self.grammar.schema()
            nothing = pl.DataFrame(schema={name: schema[name] for name in columns})
            part = self.whole is not None  # of a file that is known to have something
            skipped = () if part else rules.nothing_in(self.path, lenient=self.lenient)
            yield Batch(nothing, skipped)

    def _parsed(self, columns: Collection[str], size: int) -> Iterator[Parsed]:
        with reading(self.path):
            threads = 1 if room.goes_to_disk() else _THREADS
            parsing = partial(parse, grammar=self.grammar, columns=columns)
            yield from ahead(self.blocks(size), parsing, threads)

    def _whole(self, size: int) -> CorpusFile:
        """Return the file with a rule of what comes twice in it, for which it is read."""
        unique = self.grammar.unique
        if unique is None:
            return self
        again = pl.col(LINE).is_in(self._repeated(size).implode())
        rule = Rule(again, unique.says, unique.value, unique.among)
        grammar = replace(self.grammar, rules=[*self.grammar.rules, rule], unique=None)
        return replace(self, grammar=grammar)

    def _repeated(self, size: int) -> pl.Series:
        """Return the lines whose key came before; only hashes are kept of those that do not."""
        with Hashes() as hashes:
            for parsed in self._parsed((), size):
                hashes.add(hashes_of(parsed))
            twice = hashes.repeated()
        if twice.is_empty():
            return pl.Series(dtype=pl.Int64())
        keys = [
            parsed.keys.filter(hashes_of(parsed).is_in(twice.implode()))
            for parsed in self._parsed((), size)
            if parsed.keys is not None
        ]
        return pl.concat(keys).filter(~pl.col("key").is_first_distinct()).get_column(LINE)

    def _asked(
        self,
        context: Context,
        columns: list[str] | None,
        predicate: pl.Expr | None,
        most: int | None,
        _size: int | None,
    ) -> Iterator[pl.DataFrame]:
        """Yield what a query asks for."""
        wanted = columns or list(self.grammar.schema())
        roots = [] if predicate is None else predicate.meta.root_names()
        own = context.copy()
        batches = self.batches(list(dict.fromkeys([*wanted, *roots])), own.run(_at_a_time))
        while (batch := own.run(next, batches, None)) is not None:
            tokens = batch.tokens if most is None else batch.tokens.head(most)
            most = None if most is None else most - tokens.height
            yield (tokens if predicate is None else tokens.filter(predicate)).select(wanted)
            if most == 0:
                return

    def _refusal(self, violations: pl.DataFrame) -> DataError:
        if (violations.get_column("problem") == rules.NOT_UTF8).any():
            return not_utf8(self.path)
        return rules.refusal(self.path, violations, self.remedy)


def _at_a_time() -> int:
    """Return how many bytes to read at a time."""
    return block_size(room.room() if room.goes_to_disk() else None)
