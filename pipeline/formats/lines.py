"""Files as lines and fields: one scan that is fast, one that keeps every line to be judged."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipeline.errors import DataError
from pipeline.formats.base import LINE
from pipeline.formats.delimited import bare_returns
from pipeline.formats.packed import found_packing, kind_of, open_bytes, packing
from pipeline.formats.reading import reading
from pipeline.formats.unpacked import require_room

TEXT = "~text"
"""Column with a whole line; null where it is not UTF-8."""

_REST = "~rest"
_CHUNK = 1 << 24
_BARE = re.compile(rb"\r(?=[^\n])")
_EXAMPLES = 3


def lines(path: Path) -> pl.LazyFrame:
    """Return the query of the lines of a file, without their ends and the byte-order mark.

    Parameters
    ----------
    path : Path
        A text file in UTF-8, gzipped or not.

    Returns
    -------
    LazyFrame
        `LINE` (Int64, 1-based) and `TEXT`.
    """
    query = pl.scan_lines(path, name=TEXT, row_index_name=LINE, row_index_offset=1, glob=False)
    bare = pl.when(pl.col(LINE) == 1).then(pl.col(TEXT).str.strip_prefix("\ufeff"))
    return query.select(pl.col(LINE).cast(pl.Int64), bare.otherwise(TEXT).alias(TEXT))


def lines_of(content: bytes, *, before: int) -> pl.DataFrame:
    """Return the lines of a part of a file, as `lines` gives them; null where not UTF-8.

    Parameters
    ----------
    content : bytes
        The part, without a byte-order mark.
    before : int
        Lines that stand before it.
    """
    return _numbered(content, before + 1)


def split(query: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    r"""Return `query` with the tab-separated fields of `TEXT`, null where empty or absent.

    Parameters
    ----------
    query : LazyFrame
        As `lines` gives it.
    names : sequence of str
        What to call the fields; what follows them is not looked at.

    Examples
    --------
    >>> whole = pl.LazyFrame({TEXT: ["a\tb", "c\t\td"]})
    >>> split(whole, ["form", "lemma"]).select("form", "lemma").collect().rows()
    [('a', 'b'), ('c', None)]
    """
    fields = pl.col(TEXT).str.splitn("\t", len(names) + 1)
    named = fields.struct.rename_fields([*names, _REST])
    filled = [pl.when(pl.col(name) != "").then(name) for name in names]
    return query.with_columns(named.struct.unnest()).drop(_REST).with_columns(filled)


def fields(source: Path | bytes, names: Sequence[str], *, before: int = 0) -> pl.LazyFrame:
    """Return the fields of a file whose lines have been checked: parses only what is used.

    Parameters
    ----------
    source : Path or bytes
        A text file in UTF-8, gzipped or not, or a part of one.
    names : sequence of str
        What to call the tab-separated fields.
    before : int
        Lines that stand before the part.

    Returns
    -------
    LazyFrame
        `LINE` (Int64, 1-based) and the fields; one that is empty or absent is null, and so is
        every field of a blank line.
    """
    query = pl.scan_csv(
        io.BytesIO(source) if isinstance(source, bytes) else source,
        separator="\t",
        quote_char=None,
        has_header=False,
        schema=dict.fromkeys(names, pl.String()),
        missing_columns="insert",
        extra_columns="ignore",
        row_index_name=LINE,
        row_index_offset=before + 1,
        glob=False,
    )
    return query.with_columns(pl.col(LINE).cast(pl.Int64))


def gate(path: Path) -> None:
    """Refuse a file whose name and content disagree on whether and how it is packed.

    Raises
    ------
    DataError
        Saying which it is.
    """
    found, said = found_packing(path), packing(path)
    if found == said or (said and not path.stat().st_size):
        return
    if not said:
        how = {".gz": "gzipped", ".zst": "packed with zstd"}[found]
        raise DataError(f"{path}: the file is {how}: give it a name that ends in {found}")
    what = f"not a {kind_of(path)} file, though its name ends in {said}"
    raise DataError(f"{path}: {what}: rename or pack it")


def check_ends(path: Path) -> None:
    """Refuse a file in which a carriage return alone ends lines, or of which lines get lost.

    Raises
    ------
    DataError
        Naming the lines; also if the scan finds another number of lines than there are line
        feeds.
    """
    gate(path)
    require_room(path)
    with reading(path):
        count, bare, first = _line_ends(path)
        if bare:
            raise bare_returns(path, bare, first)
        read = lines(path).select(pl.len()).collect().item()
    if read != count:
        raise DataError(f"{path}: {read:,} of its {count:,} lines were read")


def _line_ends(path: Path) -> tuple[int, int, list[int]]:
    """Count lines, and carriage returns that end none; return the lines of the first of these."""
    count, bare, first, held = 0, 0, list[int](), b""
    with open_bytes(path) as file:
        while chunk := file.read(_CHUNK):
            content = held + chunk
            # What follows the last character may be seen in the next chunk only.
            held = content[-1:]
            ends = [found.start() for found in _BARE.finditer(content)]
            bare += len(ends)
            for end in ends[: _EXAMPLES - len(first)]:
                first.append(count + content.count(b"\n", 0, end) + 1)
            count += content.count(b"\n", 0, len(content) - 1)
    return count + bool(held), bare, first


def _numbered(chunk: bytes, first: int) -> pl.DataFrame:
    try:
        texts = pl.read_lines(chunk, name=TEXT).get_column(TEXT)
    except pl.exceptions.ComputeError:
        ended = chunk.removesuffix(b"\n").split(b"\n")
        texts = pl.Series(TEXT, [_decoded(line) for line in ended], pl.String())
    return texts.to_frame().with_row_index(LINE, first).cast({LINE: pl.Int64})


def _decoded(line: bytes) -> str | None:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        return None
