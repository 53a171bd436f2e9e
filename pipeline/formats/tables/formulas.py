r"""Texts that a spreadsheet would run as formulas, in the tables that are written as CSV or TSV.

They get an apostrophe in front, as in sheets, and the file a byte-order mark, by which it is known
when it is read again. Numbers stay as they are, as do texts that a spreadsheet might change but not
run, and a file without such texts is what it would be without a guard.
"""

from __future__ import annotations

import codecs
from pathlib import Path

import polars as pl

from pipeline.formats.base import LINE
from pipeline.formats.packed import open_bytes

MARK = "'"
_FORMULA = "(?s)^([\t\r\n]|[\\s\ufeff\u200b]*[=+@＝＋－＠−-].)"
_NUMBER = r"^[+-]?(\d+([.,]\d*)*|[.,]\d+|inf)([eE][+-]?\d+)?$"


def to_csv(frame: pl.DataFrame, *, separator: str = ",", raw: bool = False) -> bytes:
    r"""Return a table as UTF-8 text: floats in full, infinity as inf, null empty.

    Parameters
    ----------
    frame : DataFrame
        The table.
    separator : str
        Between two fields.
    raw : bool
        Whether texts that begin like a formula are left as they are.

    Examples
    --------
    >>> to_csv(pl.DataFrame({"a": [0.1, float("inf"), None]}))
    b'a\n0.1\ninf\n\n'
    >>> to_csv(pl.DataFrame({"a": ["=1+1", "-1", "-"]}))
    b"\xef\xbb\xbfa\n'=1+1\n-1\n-\n"
    """
    safe = frame if raw else guarded(frame)
    mark = b"" if safe.equals(frame) else codecs.BOM_UTF8
    return mark + safe.write_csv(separator=separator).encode()


def guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with an apostrophe before all that begins like a formula.

    Examples
    --------
    >>> guarded(pl.DataFrame({"a": ["=1+1", "'=1", "'tis", "-5"]})).to_series().to_list()
    ["'=1+1", "''=1", "'tis", '-5']
    """
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    bare = {name: pl.col(name).str.strip_chars_start(MARK) for name in texts}
    return frame.with_columns(
        pl.when(_runs(text)).then(pl.lit(MARK) + pl.col(name)).otherwise(name).alias(name)
        for name, text in bare.items()
    )


def unguarded(query: pl.LazyFrame, path: Path) -> pl.LazyFrame:
    """Return the rows of a file without the guard that `to_csv` put before their texts.

    Parameters
    ----------
    query : LazyFrame
        The rows, as text.
    path : Path
        The file. One without a byte-order mark has no guards; in one that has the mark, a column
        with a formula that has no guard was not written by `to_csv`, and stays as it is.
    """
    with open_bytes(path) as raw:
        if raw.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            return query
    names = [name for name in query.collect_schema().names() if name != LINE]
    return query.with_columns(_unguarded(name) for name in names)


def _unguarded(name: str) -> pl.Expr:
    text = pl.col(name)
    marked = text.str.starts_with(MARK) & _runs(text.str.strip_chars_start(MARK))
    ours = ~_runs(text).any()
    return pl.when(marked & ours).then(text.str.slice(1)).otherwise(text).alias(name)


def _runs(text: pl.Expr) -> pl.Expr:
    return text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
