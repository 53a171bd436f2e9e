"""What a format is, and how the format of a file is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from pipeline.described import Described
from pipeline.errors import did_you_mean
from pipeline.formats import packed
from pipeline.formats.reading import Guarded, GuardedBatches
from pipeline.registry import Registry

LINE = "line"
"""Column with the 1-based line (or row) of the file that a row was read from."""

Kind: TypeAlias = Literal["table", "corpus", "sheet"]


class FormatOptions(Described):
    """Base of the typed options of a reader: frozen, no unknown keys."""


class CorpusOptions(FormatOptions):
    """Options that every reader of a corpus has."""

    lenient: bool = False
    """Leave out what cannot be read, count it and show examples, instead of stopping."""


@dataclass(frozen=True)
class Skipped:
    """Something that a lenient reader leaves out.

    Parameters
    ----------
    line : int
        Where it is, 1-based.
    problem : str
        Why it cannot be used.
    value : str
        What stands there.
    """

    line: int
    problem: str
    value: str = ""

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}" + (f": {self.value!r}" if self.value else "")


@dataclass(frozen=True)
class Batch:
    """Some sentences of a corpus, none of them in part.

    Parameters
    ----------
    tokens : DataFrame
        Their tokens, with the columns that were asked for.
    skipped : sequence of Skipped
        What is left out among them.
    """

    tokens: pl.DataFrame
    skipped: Sequence[Skipped] = ()


Scan: TypeAlias = Callable[[Path, Any], pl.LazyFrame]
Check: TypeAlias = Callable[[Path, Any], Sequence[Skipped]]
Read: TypeAlias = Callable[[Path, Any, Sequence[str], int], Iterator[Batch]]
Divide: TypeAlias = Callable[[Path, Any, int], Any]
ReadPart: TypeAlias = Callable[[Path, Any, Sequence[str], int, Any], Iterator[Batch]]
Digest: TypeAlias = Callable[[Path, Any], str]


@dataclass(frozen=True)
class Format:
    """A registered format.

    Parameters
    ----------
    name : str
        What an experiment writes after ``format =``.
    scan : callable
        (path, options) -> LazyFrame with the column `LINE` first. Reads the header at most.
    suffixes : sequence of str
        Endings that stand for it, without ``.gz`` and ``.zst``.
    check : callable
        (path, options) -> sequence of Skipped; reads the file and raises DataError naming the
        lines that cannot be read, or returns what `scan` leaves out if the options say so.
    options : type of FormatOptions
        What else an experiment may say about the file.
    kind : str
        "table": rows with named columns. "corpus": one row per token, see `schemas.Tokens`.
    read : callable or None
        (path, options, columns, size) -> the same tokens in batches, checked as they are read,
        from about `size` bytes of the file at a time. None: the kind has no sentences.
    digest : callable or None
        (path, options) -> what stands for the content, where that is not the file's bytes: a
        database may change without another content, or have another one in a file beside it.
    divide : callable or None
        (path, options, size) -> the parts of about `size` bytes that can be read by themselves, as
        `pipeline.formats.corpora.file_parts.Division`; it has none if the file has to be whole.
    read_part : callable or None
        (path, options, columns, size, part) -> the tokens of such a part in batches, just as
        `read` gives them, numbers and all.
    """

    name: str
    scan: Scan
    _: KW_ONLY
    suffixes: Sequence[str]
    check: Check
    options: type[FormatOptions] = FormatOptions
    kind: Kind = "table"
    read: Read | None = None
    digest: Digest | None = None
    divide: Divide | None = None
    read_part: ReadPart | None = None

    def __post_init__(self) -> None:
        """Let no error of a library out, whoever wrote the reader."""
        object.__setattr__(self, "scan", Guarded(self.scan))
        object.__setattr__(self, "check", Guarded(self.check))
        if self.read is not None:
            object.__setattr__(self, "read", GuardedBatches(self.read))
        for name in ("digest", "divide"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, Guarded(getattr(self, name)))
        if self.read_part is not None:
            object.__setattr__(self, "read_part", GuardedBatches(self.read_part))


FORMATS: Registry[Format] = Registry("format", "pipeline.formats")


reader = FORMATS.naming(Format)
"""Registers a function (path, options) -> LazyFrame as the reader of the format of a name."""


def format_of(path: str, *, name: str | None = None, kind: Kind | None = None) -> Format:
    """Return the format named, or the one that the path's ending stands for.

    Parameters
    ----------
    path : str
        A file's name; a final ``.gz`` or ``.zst`` does not count.
    name : str, optional
        The format's name, if the ending does not tell.
    kind : str, optional
        What it has to read; any kind if None.

    Raises
    ------
    ValueError
        If no format of this kind has this ending, or none this name.

    Examples
    --------
    >>> format_of("candidates.tsv.gz").name
    'tsv'
    """
    formats = [FORMATS.get(each) for each in FORMATS]
    fitting = [each for each in formats if kind in {None, each.kind}]
    if name is not None:
        return _named(name, fitting)
    # Where the kind is open, an ending that several formats share stands for the table.
    ordered = sorted(fitting, key=lambda each: each.kind == "table")
    by_suffix = {suffix: each for each in ordered for suffix in each.suffixes}
    bare = packed.bare(path)
    for suffix in sorted(by_suffix, key=len, reverse=True):
        if bare.endswith(suffix):
            return by_suffix[suffix]
    ending = "".join(Path(bare).suffixes[-1:]) or bare
    remedy = did_you_mean(ending, by_suffix)
    raise ValueError(f"no format has the ending {ending!r}; {remedy} or name it: format = ...")


def _named(name: str, fitting: Sequence[Format]) -> Format:
    named = FORMATS.get(name)
    if named not in fitting:
        remedy = did_you_mean(name, [each.name for each in fitting])
        raise ValueError(
            f"format {name!r} reads a {named.kind}, which is not wanted here; {remedy}"
        )
    return named
