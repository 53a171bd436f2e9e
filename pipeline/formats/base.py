"""Formats: their registry, the errors of files that cannot be read, the format of a path."""

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
from pipeline.config_model import Described
from pipeline.errors import DataError, LexassayError, did_you_mean
from pipeline.formats import compression, unicode
from pipeline.formats.compression import is_compressed, kind_of, open_bytes, without_suffix
from pipeline.registry import Registry

# Error messages: whatever a library raises becomes an error that names file and remedy.

_EXAMPLES = 3
_PIECE = 1 << 24
"""Bytes of a line that are looked at together."""
_UTF_8 = (
    "Convert the file to UTF-8 first. Spreadsheets save it so: Excel as 'CSV UTF-8', LibreOffice"
    " as 'Text CSV' with the character set 'Unicode (UTF-8)'."
)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what a reader of `path` raises into an error that names the file and its lines.

    Raises
    ------
    DataError
        For a file that is damaged, cut short, gone, or may not be read, and for bytes that are
        not UTF-8. A defect of the reader passes.
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
        raise DataError(f"{path}: is damaged\nFetch it, or write it, again.") from error


def _open_error(path: Path, error: Exception) -> DataError:
    """Return what to say where the machine refuses a file, or it cannot be unpacked."""
    if isinstance(error, OSError) and (errors.number(error) or not is_compressed(path)):
        return DataError(f"{path}: cannot be read: {errors.machine(error)}")
    what = f"the {kind_of(path)} file is damaged or cut short"
    return DataError(f"{path}: {what}\nFetch it, or pack it, again.")


def _query_error(path: Path, error: pl.exceptions.PolarsError) -> DataError:
    """Return what to say where Polars refuses a file."""
    text = str(error)
    if without_suffix(path.name).endswith((".parquet", ".pq")) or "parquet" in text:
        return not_parquet(path)
    if "utf" in text.lower():
        return not_utf8(path)
    return DataError(f"{path}: cannot be read: {errors.query(error)}")


def not_parquet(path: Path) -> DataError:
    """Return the error of a file that should be Parquet."""
    return DataError(
        f"{path}: not a whole Parquet file: damaged, cut short, or of another format\n"
        "Fetch it, or write it, again."
    )


def not_utf8(path: Path) -> DataError:
    """Return the error that names the first lines which are not UTF-8."""
    with reading(path), open_bytes(path) as first:
        if first.read(2) in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
            return DataError(f"{path}: the file is UTF-16, as Excel's Unicode text is\n{_UTF_8}")
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
    shown = "".join(f"\n  {example}" for example in bad)
    return DataError(f"{path}: {count:,} line(s) are not UTF-8:{shown}\n{_UTF_8}")


@dataclass(frozen=True)
class _PathErrors:
    """A function of a reader whose errors name the file; exists as long as the format."""

    function: Callable[..., Any]

    def __call__(self, path: Path, *options: Any) -> Any:
        """Call it."""
        with reading(path):
            return self.function(path, *options)


@dataclass(frozen=True)
class _PathErrorsOfBatches(_PathErrors):
    """The same where it yields."""

    def __call__(self, path: Path, *options: Any) -> Iterator[Any]:
        """Yield what it yields."""
        with reading(path):
            yield from self.function(path, *options)


LINE = "line"
"""Column with the 1-based line (or row) of the file that a row was read from."""

Kind: TypeAlias = Literal["table", "corpus", "sheet"]


class FormatOptions(Described):
    """Base of the typed options of a reader: frozen, no unknown keys."""

    normalise: unicode.Form = "NFC"
    """"NFC": what looks the same is the same: normal form C, straight apostrophes inside words, one
    hyphen, no invisible characters. "none": text as it is written."""


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
    sentences, tokens : int
        How many are left out with it.
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
    """Some sentences of a corpus, none of them in part.

    Parameters
    ----------
    tokens : DataFrame
        Their tokens, with the columns that were asked for.
    skipped : sequence of Skipped
        What is left out among them.
    replaced : mapping of str to int
        What the reader took for something else, and how many tokens have it: "lemma <unknown>".
    """

    tokens: pl.DataFrame
    skipped: Sequence[Skipped] = ()
    replaced: Mapping[str, int] = field(default_factory=dict)


Scan: TypeAlias = Callable[[Path, Any], pl.LazyFrame]
Check: TypeAlias = Callable[[Path, Any], Sequence[Skipped]]
Read: TypeAlias = Callable[[Path, Any, Sequence[str], int], Iterator[Batch]]
Divide: TypeAlias = Callable[[Path, Any, int], Any]
ReadPart: TypeAlias = Callable[[Path, Any, Sequence[str], int, Any], Iterator[Batch]]
Digest: TypeAlias = Callable[[Path, Any], str]
Optional: TypeAlias = Callable[[Path, Any], Collection[str]]


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
        `pipeline.formats.corpora.splitting.Division`; it has none if the file has to be whole.
    read_part : callable or None
        (path, options, columns, size, part) -> the tokens of such a part in batches, just as
        `read` gives them, numbers and all.
    optional : callable or None
        (path, options) -> those of a file's attributes that other files of the corpus may lack:
        their tokens have no value of it.
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

    def __post_init__(self) -> None:
        """Let no error of a library out, whoever wrote the reader."""
        object.__setattr__(self, "scan", _PathErrors(self.scan))
        object.__setattr__(self, "check", _PathErrors(self.check))
        if self.read is not None:
            object.__setattr__(self, "read", _PathErrorsOfBatches(self.read))
        for name in ("digest", "divide", "optional"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _PathErrors(getattr(self, name)))
        if self.read_part is not None:
            object.__setattr__(self, "read_part", _PathErrorsOfBatches(self.read_part))


FORMATS: Registry[Format] = Registry("format", "pipeline.formats")


reader = FORMATS.named_decorator(Format)
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
    bare = compression.without_suffix(path)
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
