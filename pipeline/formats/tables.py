"""Formats of tables: CSV, TSV, UCS, Parquet, JSON lines, Brown clusters, blocks of words."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import polars as pl
from polars import selectors
from polars.io.plugins import register_io_source
from pydantic import AfterValidator, Field

from pipeline.errors import DataError
from pipeline.formats import lines
from pipeline.formats.base import LINE, FormatOptions, Skipped, reader, reading
from pipeline.formats.compression import open_bytes, require_room
from pipeline.formats.lines import LONGEST, TEXT, Dialect, bare_return_error, check_as, open_text
from pipeline.formats.parquet import open_parquet, require_whole


def _brown_dialect(_options: FormatOptions) -> Dialect:
    return Dialect(columns=("cluster", "item", "f"))


@reader("brown", suffixes=[".paths"], check=partial(check_as, _brown_dialect))
def scan_brown(path: Path, options: FormatOptions) -> pl.LazyFrame:
    """Brown clusters as programs write them: bit string, word (item), count (f).

    Tab-separated, without a header and without quoting.

    References
    ----------
    Brown et al., Class-Based n-gram Models of Natural Language (1992), section 3.
    """
    return lines.scan(path, _brown_dialect(options))


# Guarded CSV and TSV: texts that a spreadsheet would run as formulas get an apostrophe, and the
# file a byte-order mark, by which readers recognise it. Other files and numbers stay unchanged.

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
    safe = frame if raw else guard_formulas(frame)
    mark = b"" if safe.equals(frame) else codecs.BOM_UTF8
    return mark + safe.write_csv(separator=separator).encode()


def guard_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with an apostrophe before all that begins like a formula.

    Examples
    --------
    >>> guard_formulas(pl.DataFrame({"a": ["=1+1", "'=1", "'tis", "-5"]})).to_series().to_list()
    ["'=1+1", "''=1", "'tis", '-5']
    """
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    bare = {name: pl.col(name).str.strip_chars_start(MARK) for name in texts}
    return frame.with_columns(
        pl.when(_is_formula(text)).then(pl.lit(MARK) + pl.col(name)).otherwise(name).alias(name)
        for name, text in bare.items()
    )


def unguard_formulas(query: pl.LazyFrame, path: Path) -> pl.LazyFrame:
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
    return query.with_columns(_unguard_column(name) for name in names)


def _unguard_column(name: str) -> pl.Expr:
    text = pl.col(name)
    marked = text.str.starts_with(MARK) & _is_formula(text.str.strip_chars_start(MARK))
    ours = ~_is_formula(text).any()
    return pl.when(marked & ours).then(text.str.slice(1)).otherwise(text).alias(name)


def _is_formula(text: pl.Expr) -> pl.Expr:
    return text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)


# JSON lines.

_EXAMPLES = 3
_ROWS = 50_000
"""Rows that are put into columns together."""

_Row = Mapping[str, str | None]


class _InvalidObject(ValueError):
    """Says why a line is none of ours."""


def _check_json_lines(path: Path, _options: FormatOptions) -> Sequence[Skipped]:
    require_room(path)
    names, bad, count = _names(path), list[str](), 0
    with reading(path):
        for line, text in _lines(path):
            try:
                _values(text, names)
            except _InvalidObject as error:
                count += 1
                if len(bad) < _EXAMPLES:
                    bad.append(f"line {line}: {error}: {text[:80]!r}")
    if count:
        shown = "".join(f"\n  {example}" for example in bad)
        raise DataError(
            f"{path}: {count:,} line(s) are no object with the names of the first line"
            f" ({', '.join(names)}):{shown}\nWrite one object a line, all with the same names, null"
            " where there is no value; a list of objects in a file: jq -c '.[]'"
        )
    return ()


@reader("jsonl", suffixes=[".jsonl", ".ndjson"], check=_check_json_lines)
def scan_jsonl(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """JSON lines: one object a line, all with the same names.

    Numbers are kept as written; a list or an object is its JSON.
    """
    names = [name for name in _names(path) if name != LINE]
    schema = {LINE: pl.Int64(), **dict.fromkeys(names, pl.String())}
    return register_io_source(partial(_read_rows, path, schema), schema=schema, is_pure=True)


def _read_rows(
    path: Path,
    schema: Mapping[str, pl.DataType],
    with_columns: list[str] | None,
    predicate: pl.Expr | None,
    n_rows: int | None,
    _batch_size: int | None,
) -> Iterator[pl.DataFrame]:
    """Yield what a query asks for; `register_io_source` says what it is given."""
    wanted = with_columns or list(schema)
    roots = [] if predicate is None else predicate.meta.root_names()
    held = list(dict.fromkeys([*wanted, *roots]))
    names = _names(path)
    with reading(path):
        rows = ({LINE: line} | _row(path, line, text, names) for line, text in _lines(path))
        left = islice(rows, n_rows)
        while some := list(islice(left, _ROWS)):
            columns = {name: [row[name] for row in some] for name in held}
            made = pl.DataFrame(columns, schema={name: schema[name] for name in held})
            yield (made if predicate is None else made.filter(predicate)).select(wanted)


def _row(path: Path, line: int, text: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of a line, but for what is called as its number."""
    try:
        return {name: value for name, value in _values(text, names).items() if name != LINE}
    except _InvalidObject as error:
        raise DataError(f"{path}: line {line}: {error}: {text[:80]!r}") from error


def _names(path: Path) -> list[str]:
    """Return the names of the first object."""
    with reading(path):
        first = next(_lines(path), None)
    if first is None:
        raise DataError(f"{path}: the file is empty: line 1 should hold an object")
    try:
        return list(_object(first[1]))
    except _InvalidObject as error:
        raise DataError(
            f"{path}: line 1: {error}: {first[1][:80]!r}\nWrite one object a line; a list of"
            " objects in a file: jq -c '.[]'"
        ) from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, without their ends."""
    before = ""
    with open_text(path) as text:
        for number, line in enumerate(iter(partial(text.readline, LONGEST), ""), start=1):
            if before.endswith("\r"):
                raise bare_return_error(path, 1, [number - 1])
            if len(line) == LONGEST:
                raise DataError(
                    f"{path}: line {number} has {LONGEST:,} characters or more\nWrite one object a"
                    " line."
                )
            before = line
            yield number, line.rstrip("\r\n")


def _values(text: str, names: Sequence[str]) -> _Row:
    """Return the values of a line as text, null where there is none."""
    found = _object(text)
    if found.keys() != set(names):
        lacks = [name for name in names if name not in found]
        more = [name for name in found if name not in set(names)]
        differences = [
            f"{verb} {', '.join(which)}"
            for verb, which in (("lacks", lacks), ("has", more))
            if which
        ]
        raise _InvalidObject(" and ".join(differences))
    return {name: _text(value) for name, value in found.items()}


def _text(value: object) -> str | None:
    """Return a value as text, a list or an object as JSON; null for null and the empty text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    return _require_characters(value)


def _object(text: str) -> dict[str, object]:
    try:
        found = json.loads(
            text,
            object_pairs_hook=_unique_names,
            parse_int=str,
            parse_float=str,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise _InvalidObject(
            f"no JSON at character {error.pos + 1}" if text.strip() else "an empty line"
        ) from error
    except RecursionError as error:
        raise _InvalidObject("nested too deep") from error
    if not isinstance(found, dict):
        raise _InvalidObject("no object")
    return {_require_characters(name): value for name, value in found.items()}


def _unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise _InvalidObject(f"names twice: {', '.join(twice)}")
    return found


def _refuse_constant(constant: str) -> NoReturn:
    raise _InvalidObject(f"{constant} is no JSON")


def _require_characters(text: str) -> str:
    """Return a text, unless it has half of a character, which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _InvalidObject("half of a character (a lone surrogate)") from error
    return text


# Delimited text and Parquet.


def _check_separator(separator: str | None) -> str | None:
    if separator is None or (len(separator.encode()) == 1 and separator not in '"\r\n\0'):
        return separator
    raise ValueError(f"{separator!r} cannot separate fields: one ASCII character, such as ; or |")


class DelimitedOptions(FormatOptions):
    """How a CSV or TSV file departs from the usual."""

    separator: Annotated[str | None, AfterValidator(_check_separator)] = None
    """Character between fields; comma for CSV, tab for TSV."""
    comment: str | None = None
    """Lines at the top of the file that begin so are skipped."""
    columns: Annotated[tuple[str, ...], AfterValidator(lines.distinct)] = ()
    """Names of the columns, for a file without a header line that names them."""
    skip: int = Field(default=0, ge=0)
    """Lines at the top of the file that are skipped, whatever they hold."""


def _csv_dialect(options: DelimitedOptions) -> Dialect:
    own = (options.comment, options.columns, options.skip)
    return Dialect(options.separator or ",", '"', *own)


def _tsv_dialect(options: DelimitedOptions) -> Dialect:
    own = (options.comment, options.columns, options.skip)
    return Dialect(options.separator or "\t", None, *own)


def _ucs_dialect(_options: FormatOptions) -> Dialect:
    return Dialect(separator="\t", quote=None, comment="#")


def _check_parquet(path: Path, _options: FormatOptions) -> Sequence[Skipped]:
    require_whole(path)
    return ()


@reader("csv", suffixes=[".csv"], check=partial(check_as, _csv_dialect), options=DelimitedOptions)
def scan_csv(path: Path, options: DelimitedOptions) -> pl.LazyFrame:
    """Comma-separated values, quoted with ``"`` where needed."""
    return unguard_formulas(lines.scan(path, _csv_dialect(options)), path)


@reader(
    "tsv",
    suffixes=[".tsv", ".tab"],
    check=partial(check_as, _tsv_dialect),
    options=DelimitedOptions,
)
def scan_tsv(path: Path, options: DelimitedOptions) -> pl.LazyFrame:
    """Tab-separated values without quoting: a quotation mark is data."""
    return unguard_formulas(lines.scan(path, _tsv_dialect(options)), path)


@reader("ucs", suffixes=[".ds"], check=partial(check_as, _ucs_dialect))
def scan_ucs(path: Path, options: FormatOptions) -> pl.LazyFrame:
    """UCS data set: tab-separated with a header, comment lines ``#`` at the top."""
    return lines.scan(path, _ucs_dialect(options))


@reader("parquet", suffixes=[".parquet", ".pq"], check=_check_parquet)
def scan_parquet(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """Apache Parquet; ``line`` counts rows. Categories are read as text."""
    row = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    text = (selectors.categorical() | selectors.enum()).cast(pl.String)
    return open_parquet(path).with_columns(text).select(row.alias(LINE), pl.exclude(LINE))


# Words and their counts, with white space between: as uniq -c writes them, and frequency lists

_PARTS = {"word": r"^(.*\S)\s+(\S+)$", "f": r"^(\S+)\s+(.*\S)$"}


class WordCountOptions(FormatOptions):
    """How lists of words and counts are read."""

    first: Literal["word", "f"] = "word"
    """What stands first in a line: the word, or its count, f."""
    header: bool = False
    """Whether the first line names the two, and is passed over."""


def _check_word_counts(path: Path, options: WordCountOptions) -> Sequence[Skipped]:
    lines.check_ends(path)
    with reading(path):
        alone = scan_word_counts(path, options).filter(pl.col("f").is_null()).select(LINE)
        bad = alone.collect().to_series()
    if bad.len():
        shown = ", ".join(map(str, bad.head(_EXAMPLES)))
        what = f"{bad.len():,} line(s) are not a word and its count: line {shown}"
        raise DataError(f"{path}: {what}\nWrite both in a line, with a blank between them.")
    return ()


@reader("word_counts", suffixes=[], check=_check_word_counts, options=WordCountOptions)
def scan_word_counts(path: Path, options: WordCountOptions) -> pl.LazyFrame:
    """Lines of a word and its count, white space between them; the word may hold blanks."""
    text = pl.col(TEXT).str.strip_chars()
    pattern, of_word = _PARTS[options.first], 1 if options.first == "word" else 2
    first = 1 if options.header else 0
    return lines.lines(path).filter(text != "", pl.col(LINE) > first).select(
        LINE, word=text.str.extract(pattern, of_word), f=text.str.extract(pattern, 3 - of_word)
    )  # fmt: skip


# Clusters as lists of words: blocks with blank lines between, or a line per cluster.


class WordBlockOptions(FormatOptions):
    """How lists of words are read."""

    line: Literal["word", "cluster"] = "word"
    """What a line holds: a word, blank lines between the clusters; or all words of a cluster,
    with white space between."""


def _check_word_blocks(path: Path, options: WordBlockOptions) -> Sequence[Skipped]:
    lines.check_ends(path)
    with reading(path):
        words = scan_word_blocks(path, options).select(pl.len()).collect().item()
    if not words:
        raise DataError(f"{path}: the file is empty: it has no words")
    return ()


@reader(
    "blocks", suffixes=[".blocks", ".clusters"], check=_check_word_blocks, options=WordBlockOptions
)
def scan_word_blocks(path: Path, options: WordBlockOptions) -> pl.LazyFrame:
    """Blocks of words, blank lines between them: a block is a cluster. Or a cluster a line.

    Clusters are numbered from 1 in the order of the file. White space round a word is no part
    of it.
    """
    text = pl.col(TEXT).str.strip_chars()
    filled = (text != "").fill_null(value=False)
    first = filled & ~filled.shift(fill_value=False) if options.line == "word" else filled
    query = lines.lines(path).with_columns(cluster=first.cum_sum().cast(pl.String))
    words = text if options.line == "word" else text.str.extract_all(r"\S+")
    items = query.filter(filled).select(LINE, words.alias("item"), "cluster")
    return items if options.line == "word" else items.explode("item")
