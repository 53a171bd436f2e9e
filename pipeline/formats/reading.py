"""Files that cannot be read: whatever a library raises, as an error that names file and remedy."""

from __future__ import annotations

import codecs
import csv
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from pipeline import causes
from pipeline.errors import DataError, LexassayError
from pipeline.formats.packed import bare, is_packed, kind_of, open_bytes

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
        raise _not_opened(path, error) from error
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read as a table: {error}") from error
    except MemoryError as error:
        raise DataError(f"{path}: cannot be read: {causes.MEMORY}") from error
    except pl.exceptions.PolarsError as error:
        raise _not_read(path, error) from error
    except BaseException as error:
        if not causes.is_panic(error):
            raise
        raise DataError(f"{path}: is damaged\nFetch it, or write it, again.") from error


def _not_opened(path: Path, error: Exception) -> DataError:
    """Return what to say where the machine refuses a file, or it cannot be unpacked."""
    if isinstance(error, OSError) and (causes.number(error) or not is_packed(path)):
        return DataError(f"{path}: cannot be read: {causes.machine(error)}")
    what = f"the {kind_of(path)} file is damaged or cut short"
    return DataError(f"{path}: {what}\nFetch it, or pack it, again.")


def _not_read(path: Path, error: pl.exceptions.PolarsError) -> DataError:
    """Return what to say where Polars refuses a file."""
    text = str(error)
    if bare(path.name).endswith((".parquet", ".pq")) or "parquet" in text:
        return not_parquet(path)
    if "utf" in text.lower():
        return not_utf8(path)
    return DataError(f"{path}: cannot be read: {causes.query(error)}")


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
class Guarded:
    """A function of a reader whose errors name the file; exists as long as the format."""

    function: Callable[..., Any]

    def __call__(self, path: Path, *options: Any) -> Any:
        """Call it."""
        with reading(path):
            return self.function(path, *options)


@dataclass(frozen=True)
class GuardedBatches(Guarded):
    """The same where it yields."""

    def __call__(self, path: Path, *options: Any) -> Iterator[Any]:
        """Yield what it yields."""
        with reading(path):
            yield from self.function(path, *options)
