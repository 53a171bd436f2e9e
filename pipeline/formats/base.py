"""Formats: registry, errors for unreadable files, format of a path."""

from __future__ import annotations

import codecs
import csv
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from pipeline import errors
from pipeline.config_model import OptionModel
from pipeline.errors import DataError, LexassayError, did_you_mean
from pipeline.formats import compression, unicode
from pipeline.formats.compression import (
    compression_suffix,
    detect_compression,
    is_compressed,
    kind_of,
    open_bytes,
    without_suffix,
)
from pipeline.registry import Registry
from schemas.errors import count_text

# Error messages: exceptions of libraries become errors with file and advice.

_EXAMPLES = 3
_PIECE = 1 << 24
"""Bytes of a line examined together."""
_START = 64
"""Bytes of a file that show its encoding."""
_UTF_8 = (
    "Convert the file to UTF-8 first. In Excel, save it as 'CSV UTF-8'; in LibreOffice, as 'Text "
    "CSV' with the character set 'Unicode (UTF-8)'."
)
_TEXT_UTF_8 = (
    "Convert the file to UTF-8 first: save it in this encoding with a text editor, or use iconv -f "
    "{} -t UTF-8 with its present encoding."
)
"""The remedy for files that no spreadsheet program writes."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Convert exceptions of a reader of `path` to errors with file and lines.

    Raises
    ------
    DataError
        For a file that is damaged, truncated, missing or not readable, and for bytes that are not
        UTF-8. Defects of the reader are raised unchanged.
    """
    try:
        yield
    except LexassayError:
        raise
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    except (OSError, EOFError, zlib.error) as error:
        raise _open_error(path, error) from error
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read as a table: {error}") from error
    except MemoryError as error:
        raise DataError(f"{path}: cannot be read: {errors.MEMORY}") from error
    except pl.exceptions.PolarsError as error:
        raise _query_error(path, error) from error
    except BaseException as error:
        if not errors.is_panic(error):
            raise
        raise DataError(f"{path}: is damaged\nDownload or write it again.") from error


def _open_error(path: Path, error: Exception) -> DataError:
    """Return the message for a file that cannot be opened or unpacked."""
    if isinstance(error, OSError) and (errors.number(error) or not is_compressed(path)):
        return DataError(f"{path}: cannot be read: {errors.machine(error)}")
    if is_compressed(path) and not detect_compression(path):
        what = f"not a {kind_of(path)} file despite its extension {compression_suffix(path)}"
        return DataError(f"{path}: {what}: rename or compress it")
    what = f"the {kind_of(path)} file is damaged or truncated"
    return DataError(f"{path}: {what}\nDownload or compress it again.")


def _query_error(path: Path, error: pl.exceptions.PolarsError) -> DataError:
    """Return the message for a file that Polars rejects."""
    text = str(error)
    if cause := errors.find_system_error(error):
        return _open_error(path, cause)
    if without_suffix(path.name).endswith((".parquet", ".pq")) or "parquet" in text:
        return not_parquet(path)
    if "utf" in text.lower():
        return not_utf8(path)
    return DataError(f"{path}: cannot be read: {errors.query(error)}")


def not_parquet(path: Path) -> DataError:
    """Return the error for an invalid Parquet file."""
    return DataError(
        f"{path}: not a complete Parquet file: damaged, truncated, or in another format\nDownload "
        "or write it again."
    )


def not_utf8(path: Path) -> DataError:
    """Return the error for lines that are not UTF-8."""
    with reading(path), open_bytes(path) as first:
        start = first.read(_START)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return DataError(f"{path}: the file is UTF-16\n{_to_utf8(path, 'UTF-16')}")
    if b"\0" in start.partition(b"\n")[0]:
        return not_text(path)
    bad: list[str] = []
    count = 0
    with reading(path), open_bytes(path) as lines:
        for number, raw in enumerate(iter(partial(lines.readline, _PIECE), b""), start=1):
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError as error:
                count += 1
                if len(bad) < _EXAMPLES:
                    bad.append(f"line {number}: byte {raw[error.start]:#04x} in {raw[:60]!r}")
    examples = "".join(f"\n  {example}" for example in bad)
    what = f"{count_text(count, 'line')} cannot be decoded as UTF-8"
    return DataError(f"{path}: {what}:{examples}\n{_to_utf8(path, 'LATIN1')}")


def _to_utf8(path: Path, encoding: str) -> str:
    return _UTF_8 if {".csv", ".tsv"} & set(path.suffixes) else _TEXT_UTF_8.format(encoding)


def not_text(path: Path) -> DataError:
    """Return the error for a file with NUL bytes in its first line."""
    what = "line 1 has NUL bytes: the file is UTF-16 without a byte-order mark, or binary"
    return DataError(f"{path}: {what}\n{_UTF_8}")


@dataclass(frozen=True)
class _PathErrors:
    """A function of a reader whose errors name the file."""

    function: Callable[..., Any]

    def __call__(self, path: Path, *options: Any) -> Any:
        """Call the function."""
        with reading(path):
            return self.function(path, *options)


@dataclass(frozen=True)
class _PathErrorsOfBatches(_PathErrors):
    """The same for generators."""

    def __call__(self, path: Path, *options: Any) -> Iterator[Any]:
        """Yield the results of the function."""
        with reading(path):
            yield from self.function(path, *options)


LINE = "line"
"""Column with the 1-based line (or row) of the file."""

Kind: TypeAlias = Literal["table", "corpus", "sheet"]


class FormatOptions(OptionModel):
    """Base class of the typed options of a reader: frozen, without unknown keys."""

    normalise: unicode.Form = "NFC"
    """"NFC": Unicode normal form C, straight apostrophes, one kind of hyphen, no invisible
    characters. "none": unchanged text.
    """


class CorpusOptions(FormatOptions):
    """Options of all corpus readers."""

    lenient: bool = False
    """Skip unreadable parts, with their number and examples, instead of stopping."""


@dataclass(frozen=True)
class SkippedPart:
    """A part skipped by a lenient reader.

    Parameters
    ----------
    line : int
        Where it is, 1-based.
    problem : str
        The reason.
    value : str
        The unreadable text.
    sentences, tokens : int
        Numbers of sentences and tokens skipped.
    """

    line: int
    problem: str
    value: str = ""
    sentences: int = 0
    tokens: int = 0

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}" + (f": {self.value!r}" if self.value else "")


@dataclass(frozen=True)
class Batch:
    """Some complete sentences of a corpus.

    Parameters
    ----------
    tokens : DataFrame
        Their tokens, with the requested columns.
    skipped : sequence of SkippedPart
        Parts skipped among them.
    replaced : mapping of str to int
        Number of tokens with each replaced value, e.g. "lemma <unknown>".
    """

    tokens: pl.DataFrame
    skipped: Sequence[SkippedPart] = ()
    replaced: Mapping[str, int] = field(default_factory=dict)


Scan: TypeAlias = Callable[[Path, Any], pl.LazyFrame]
Check: TypeAlias = Callable[[Path, Any], Sequence[SkippedPart]]
Read: TypeAlias = Callable[[Path, Any, Sequence[str], int], Iterator[Batch]]
Divide: TypeAlias = Callable[[Path, Any, int], Any]
ReadPart: TypeAlias = Callable[[Path, Any, Sequence[str], int, Any], Iterator[Batch]]
Digest: TypeAlias = Callable[[Path, Any], str]
Optional: TypeAlias = Callable[[Path, Any], Collection[str]]
ReadTogether: TypeAlias = Callable[[Sequence[Path], Any, Sequence[str]], Batch | None]
FILE = "~file"
"""Column with the place of a token's file among files that are read together, from 0."""


@dataclass(frozen=True)
class Format:
    """A registered format.

    Parameters
    ----------
    name : str
        Its name in ``format =``.
    scan : callable
        (path, options) -> LazyFrame with the column `LINE` first. Reads at most the header.
    suffixes : sequence of str
        File extensions, without ``.gz`` and ``.zst``.
    check : callable
        (path, options) -> sequence of SkippedPart; reads the file and raises DataError with the
        unreadable lines, or returns the parts skipped by `scan` if lenient.
    options : type of FormatOptions
        Reader options.
    kind : str
        "table": rows with named columns. "corpus": one row per token, see `schemas.Tokens`.
    read : callable or None
        (path, options, columns, size) -> the same tokens in batches, checked while reading about
        `size` bytes at a time. None: the kind has no sentences.
    digest : callable or None
        (path, options) -> digest of the content, if it is not that of the file's bytes: a database
        may change without a change of content, or vice versa.
    divide : callable or None
        (path, options, size) -> parts of about `size` bytes that can be read separately, as
        `pipeline.formats.corpora.splitting.Division`, which is empty for indivisible files.
    read_part : callable or None
        (path, options, columns, size, part) -> the tokens of such a part in batches, identical to
        those of `read`.
    optional : callable or None
        (path, options) -> attributes of a file that other files of the corpus may lack.
    columns : callable or None
        (path, options) -> the columns of `scan` with their types, where that takes less time.
    read_together : callable or None
        (paths, options, columns) -> the tokens of small files, identical to those of `read`, and
        `FILE`; None if one of them must be read alone, for example since it has an error.
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
    optional: Optional | None = None
    columns: Callable[[Path, Any], Mapping[str, pl.DataType]] | None = None
    read_together: ReadTogether | None = None

    def __post_init__(self) -> None:
        """Convert all exceptions of libraries."""
        object.__setattr__(self, "scan", _PathErrors(self.scan))
        object.__setattr__(self, "check", _PathErrors(self.check))
        if self.read is not None:
            object.__setattr__(self, "read", _PathErrorsOfBatches(self.read))
        for name in ("digest", "divide", "optional", "columns"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _PathErrors(getattr(self, name)))
        if self.read_part is not None:
            object.__setattr__(self, "read_part", _PathErrorsOfBatches(self.read_part))


FORMATS: Registry[Format] = Registry("format", "pipeline.formats")


reader = FORMATS.named_decorator(Format)
"""Register a function (path, options) -> LazyFrame as the reader of a named format."""


def format_of(path: str, *, name: str | None = None, kind: Kind | None = None) -> Format:
    """Return the named format, or the one of the path's extension.

    Parameters
    ----------
    path : str
        A file name; a final ``.gz`` or ``.zst`` is ignored.
    name : str, optional
        The format's name, if it does not follow from the extension.
    kind : str, optional
        The required kind; any kind if None.

    Raises
    ------
    ValueError
        If no format of this kind has this extension or name.

    Examples
    --------
    >>> format_of("candidates.tsv.gz").name
    'tsv'
    """
    formats = [FORMATS.get(each) for each in FORMATS]
    fitting = [each for each in formats if kind in {None, each.kind}]
    if name is not None:
        return _choose_named(name, fitting)
    # Without a kind, an extension shared by several formats means the table.
    ordered = sorted(fitting, key=lambda each: each.kind == "table")
    by_suffix = {suffix: each for each in ordered for suffix in each.suffixes}
    bare = compression.without_suffix(path)
    for suffix in sorted(by_suffix, key=len, reverse=True):
        if bare.endswith(suffix):
            return by_suffix[suffix]
    if compression.is_archive(path):
        raise ValueError(f"is an archive; {compression.UNPACK}")
    ending = "".join(Path(bare).suffixes[-1:])
    if not ending:
        name = Path(bare).name
        raise ValueError(f"{name!r} has no extension that tells its format; add format = ...")
    remedy = did_you_mean(ending, by_suffix)
    raise ValueError(
        f"no format has the extension {ending!r}; {remedy} or name the format: format = ..."
    )


def _choose_named(name: str, fitting: Sequence[Format]) -> Format:
    format_ = FORMATS.get(name)
    if format_ not in fitting:
        remedy = did_you_mean(name, [each.name for each in fitting])
        raise ValueError(
            f"format {name!r} reads a {format_.kind}, which cannot be used here; {remedy}"
        )
    return format_
