"""Table formats: CSV, TSV, UCS, Parquet, JSON lines, Brown clusters, keys, blocks of words."""

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
from pipeline.formats.base import LINE, FormatOptions, SkippedPart, not_text, reader, reading
from pipeline.formats.compression import open_bytes, require_room
from pipeline.formats.lines import LONGEST, TEXT, Dialect, bare_return_error, check_as, open_text
from pipeline.formats.parquet import open_parquet, require_whole
from schemas.errors import count_text


def _brown_dialect(_options: FormatOptions) -> Dialect:
    return Dialect(columns=("cluster", "item", "f"))


@reader("brown", suffixes=[".paths"], check=partial(check_as, _brown_dialect))
def scan_brown(path: Path, options: FormatOptions) -> pl.LazyFrame:
    """Brown clusters: bit string, word (item), count (f).

    Tab-separated, without a header and without quoting.

    References
    ----------
    Brown et al., Class-Based n-gram Models of Natural Language (1992), section 3.
    """
    return lines.scan(path, _brown_dialect(options))


# Guarded CSV and TSV: texts that a spreadsheet would run as formulas get an apostrophe, and the
# file a byte-order mark as a signal to readers. Other files and numbers do not change.

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
        Field separator.
    raw : bool
        Do not guard texts that begin like a formula.

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
    """Return the table with an apostrophe before texts that begin like a formula.

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
    """Return the rows of a file without the guards of `to_csv`.

    Parameters
    ----------
    query : LazyFrame
        The rows, as text.
    path : Path
        The file. Without a byte-order mark, there are no guards. A column with an unguarded formula
        was not written by `to_csv`, and does not change.
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
"""Number of rows converted together."""

_Row = Mapping[str, str | None]


class _InvalidObject(ValueError):
    """The reason for rejecting a line."""


def _check_json_lines(path: Path, _options: FormatOptions) -> Sequence[SkippedPart]:
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
        examples = "".join(f"\n  {example}" for example in bad)
        raise DataError(
            f"{path}: {count_text(count, 'line')} without an object with the names of the first "
            f"line ({', '.join(names)}):{examples}\nWrite one object per line, with the same "
            "names, and null for missing values; to convert a list of objects: jq -c '.[]'"
        )
    return ()


@reader("jsonl", suffixes=[".jsonl", ".ndjson"], check=_check_json_lines)
def scan_jsonl(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """JSON lines: one object per line, all with the same names.

    Numbers are kept as written; lists and objects become JSON texts.
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
    """Yield the rows for a query, see `register_io_source`."""
    selection = with_columns or list(schema)
    roots = [] if predicate is None else predicate.meta.root_names()
    fields = list(dict.fromkeys([*selection, *roots]))
    names = _names(path)
    with reading(path):
        rows = ({LINE: line} | _row(path, line, text, names) for line, text in _lines(path))
        rest = islice(rows, n_rows)
        while some := list(islice(rest, _ROWS)):
            columns = {name: [row[name] for row in some] for name in fields}
            table = pl.DataFrame(columns, schema={name: schema[name] for name in fields})
            yield (table if predicate is None else table.filter(predicate)).select(selection)


def _row(path: Path, line: int, text: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of a line, except for the name of the line number."""
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
    if "\0" in first[1]:
        raise not_text(path)
    try:
        return list(_object(first[1]))
    except _InvalidObject as error:
        raise DataError(
            f"{path}: line 1: {error}: {first[1][:80]!r}\nWrite one object a line; a list of"
            " objects in a file: jq -c '.[]'"
        ) from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines without line ends."""
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
    """Return the values of a line as text, null if missing."""
    record = _object(text)
    if record.keys() != set(names):
        lacks = [name for name in names if name not in record]
        more = [name for name in record if name not in set(names)]
        differences = [
            f"{verb} {', '.join(which)}"
            for verb, which in (("lacks", lacks), ("has", more))
            if which
        ]
        raise _InvalidObject(" and ".join(differences))
    return {name: _text(value) for name, value in record.items()}


def _text(value: object) -> str | None:
    """Return a value as text (lists and objects as JSON); null for null and empty texts."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    return _require_characters(value)


def _object(text: str) -> dict[str, object]:
    try:
        record = json.loads(
            text,
            object_pairs_hook=_unique_names,
            parse_int=str,
            parse_float=str,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise _InvalidObject(
            f"invalid JSON at character {error.pos + 1}" if text.strip() else "an empty line"
        ) from error
    except RecursionError as error:
        raise _InvalidObject("nested too deeply") from error
    if not isinstance(record, dict):
        raise _InvalidObject("not an object")
    return {_require_characters(name): value for name, value in record.items()}


def _unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise _InvalidObject(f"duplicate names: {', '.join(twice)}")
    return record


def _refuse_constant(constant: str) -> NoReturn:
    raise _InvalidObject(f"{constant} is not valid JSON")


def _require_characters(text: str) -> str:
    """Return a text, unless it has a lone surrogate, which no file can contain."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _InvalidObject("a lone surrogate") from error
    return text


# Delimited text and Parquet.


def _check_separator(separator: str | None) -> str | None:
    if separator is None or (len(separator.encode()) == 1 and separator not in '"\r\n\0'):
        return separator
    raise ValueError(
        f"{separator!r} is not a valid separator; use one ASCII character, e.g. ; or |"
    )


class DelimitedOptions(FormatOptions):
    """Options for CSV and TSV files."""

    separator: Annotated[str | None, AfterValidator(_check_separator)] = None
    """Field separator (default: comma for CSV, tab for TSV)."""
    comment: str | None = None
    """Skip lines with this prefix at the top of the file."""
    columns: Annotated[tuple[str, ...], AfterValidator(lines.distinct)] = ()
    """Column names, for a file without header."""
    skip: int = Field(default=0, ge=0)
    """Number of lines to skip at the top of the file."""


def _csv_dialect(options: DelimitedOptions) -> Dialect:
    own = (options.comment, options.columns, options.skip)
    return Dialect(options.separator or ",", '"', *own)


def _tsv_dialect(options: DelimitedOptions) -> Dialect:
    own = (options.comment, options.columns, options.skip)
    return Dialect(options.separator or "\t", None, *own)


_DIALECTS = {"csv": _csv_dialect, "tsv": _tsv_dialect}


def count_columns(path: Path, format_name: str, options: DelimitedOptions) -> int:
    """Return the number of columns of a CSV or TSV file, whose first line need not have names.

    Raises
    ------
    DataError
        If the first line cannot be read.
    """
    return lines.count_columns(path, _DIALECTS[format_name](options))


def _ucs_dialect(_options: FormatOptions) -> Dialect:
    return Dialect(separator="\t", quote=None, comment="#")


def _check_parquet(path: Path, _options: FormatOptions) -> Sequence[SkippedPart]:
    require_whole(path)
    return ()


@reader("csv", suffixes=[".csv"], check=partial(check_as, _csv_dialect), options=DelimitedOptions)
def scan_csv(path: Path, options: DelimitedOptions) -> pl.LazyFrame:
    """Comma-separated values, quoted with ``"`` if needed."""
    return unguard_formulas(lines.scan(path, _csv_dialect(options)), path)


@reader(
    "tsv",
    suffixes=[".tsv", ".tab"],
    check=partial(check_as, _tsv_dialect),
    options=DelimitedOptions,
)
def scan_tsv(path: Path, options: DelimitedOptions) -> pl.LazyFrame:
    """Tab-separated values without quoting."""
    return unguard_formulas(lines.scan(path, _tsv_dialect(options)), path)


@reader("ucs", suffixes=[".ds"], check=partial(check_as, _ucs_dialect))
def scan_ucs(path: Path, options: FormatOptions) -> pl.LazyFrame:
    """UCS data set: tab-separated, with a header and ``#`` comment lines at the top."""
    return lines.scan(path, _ucs_dialect(options))


@reader("parquet", suffixes=[".parquet", ".pq"], check=_check_parquet)
def scan_parquet(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """Apache Parquet; ``line`` is the row. Categories are read as text."""
    row = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    text = (selectors.categorical() | selectors.enum()).cast(pl.String)
    return open_parquet(path).with_columns(text).select(row.alias(LINE), pl.exclude(LINE))


# Words and counts separated by white space: output of uniq -c, and frequency lists

_PARTS = {"word": r"^(.*\S)\s+(\S+)$", "f": r"^(\S+)\s+(.*\S)$"}


class WordCountOptions(FormatOptions):
    """Options for lists of words and counts."""

    first: Literal["word", "f"] = "word"
    """First field of a line: the word, or its count f."""
    header: bool = False
    """Skip the first line, a header."""


def _check_word_counts(path: Path, options: WordCountOptions) -> Sequence[SkippedPart]:
    lines.check_ends(path)
    with reading(path):
        alone = scan_word_counts(path, options).filter(pl.col("f").is_null()).select(LINE)
        bad = alone.collect().to_series()
    if bad.len():
        examples = ", ".join(map(str, bad.head(_EXAMPLES)))
        what = f"{count_text(bad.len(), 'line')} without a word and its count: line {examples}"
        raise DataError(
            f"{path}: {what}\nWrite one word and its count per line, separated by a blank."
        )
    return ()


@reader("word_counts", suffixes=[], check=_check_word_counts, options=WordCountOptions)
def scan_word_counts(path: Path, options: WordCountOptions) -> pl.LazyFrame:
    """Lines with a word and its count, separated by white space; words may contain blanks."""
    text = pl.col(TEXT).str.strip_chars()
    pattern, of_word = _PARTS[options.first], 1 if options.first == "word" else 2
    first = 1 if options.header else 0
    return lines.lines(path).filter(text != "", pl.col(LINE) > first).select(
        LINE, word=text.str.extract(pattern, of_word), f=text.str.extract(pattern, 3 - of_word)
    )  # fmt: skip


# Lists of words, one a line


def _check_word_list(path: Path, options: FormatOptions) -> Sequence[SkippedPart]:
    lines.check_ends(path)
    with reading(path):
        words = scan_word_list(path, options).select(pl.len()).collect().item()
    if not words:
        raise DataError(f"{path}: the file has no words\nWrite one word per line.")
    return ()


@reader("word_list", suffixes=[], check=_check_word_list)
def scan_word_list(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """One word per line, without a header; empty lines and lines that begin with # are skipped."""
    text = pl.col(TEXT).str.strip_chars()
    words = lines.lines(path).filter(text != "", ~text.str.starts_with("#"))
    return words.select(LINE, word=text)


# Clusters as lists of words: blocks separated by blank lines, or one line per cluster


class WordBlockOptions(FormatOptions):
    """Options for lists of words."""

    line: Literal["word", "cluster"] = "word"
    """A line has one word, with blank lines between clusters; or all words of a cluster."""


def _check_word_blocks(path: Path, options: WordBlockOptions) -> Sequence[SkippedPart]:
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
    """Clusters as blocks of words separated by blank lines, or as single lines.

    Clusters are numbered from 1 in file order. White space around words is removed.
    """
    text = pl.col(TEXT).str.strip_chars()
    filled = (text != "").fill_null(value=False)
    first = filled & ~filled.shift(fill_value=False) if options.line == "word" else filled
    query = lines.lines(path).with_columns(cluster=first.cum_sum().cast(pl.String))
    words = text if options.line == "word" else text.str.extract_all(r"\S+")
    items = query.filter(filled).select(LINE, words.alias("item"), "cluster")
    return items if options.line == "word" else items.explode("item")


# Senseval keys: a line has a word, one of its instances, and the senses of the instance


def _senseval_rows(path: Path) -> pl.LazyFrame:
    """Return the fields of each line, and its senses with their weights: rows of senses."""
    text = pl.col(TEXT).str.replace(r"(^|\s)!!.*$", "")
    fields = text.str.extract_all(r"\S+")
    query = lines.lines(path).select(LINE, fields=fields).filter(pl.col("fields").list.len() > 0)
    rows = query.with_columns(
        word=pl.col("fields").list.get(0),
        item=pl.col("fields").list.get(1, null_on_oob=True),
        field=pl.col("fields").list.slice(2),
    )
    weight = pl.col("field").str.extract("^.+/([^/]*)$")
    return rows.explode("field", empty_as_null=True).with_columns(
        sense=pl.when(weight.is_null())
        .then("field")
        .otherwise(pl.col("field").str.extract("^(.+)/")),
        weight=weight.cast(pl.Float64, strict=False),
        weighed=weight.is_not_null(),
    )


def _check_senseval(path: Path, _options: FormatOptions) -> Sequence[SkippedPart]:
    lines.check_ends(path)
    with reading(path):
        rows = _senseval_rows(path).collect()
    if rows.is_empty():
        raise DataError(f"{path}: the file is empty: it has no instances")
    usable = pl.col("weight").is_finite() & (pl.col("weight") > 0)
    word_by_word = rows.unique(LINE, maintain_order=True)
    for what, bad, remedy in (
        (
            "without a sense",
            rows.filter(pl.col("field").is_null()),
            "Write word, instance and at least one sense per line, separated by blanks.",
        ),
        (
            "with a weight that is not a number above 0",
            rows.filter("weighed", ~usable.fill_null(value=False)),
            "Write sense/weight, for example t.3/0.25, and omit senses without weight.",
        ),
        (
            "with a sense without a name",
            rows.filter(pl.col("field").str.contains("^/[^/]*$")),
            "Write the name of the sense before the slash, for example t.3/0.25.",
        ),
        (
            # The weight of an instance's only sense is of no account: SemEval-2013 repeats some.
            "with a sense that occurs twice beside others",
            rows.filter(
                pl.struct(LINE, "sense").is_duplicated(), pl.n_unique("sense").over(LINE) > 1
            ),
            "Write each sense of an instance once, with its whole weight.",
        ),
        (
            "with weights of some senses only",
            rows.filter(pl.col("weighed").any().over(LINE) & ~pl.col("weighed").all().over(LINE)),
            "Give weights to all senses of an instance, or to none.",
        ),
        (
            "with an instance that another line has",
            word_by_word.filter(pl.col("item").is_unique().not_()),
            "Write all senses of an instance in one line, and use a name for one instance only.",
        ),
    ):
        if bad.height:
            each = bad.unique(LINE, maintain_order=True)
            cases = "".join(
                f"\n  line {line}: {' '.join(fields)[:80]!r}"
                for line, fields in each.select(LINE, "fields").head(_EXAMPLES).iter_rows()
            )
            raise DataError(f"{path}: {count_text(each.height, 'line')} {what}:{cases}\n{remedy}")
    return ()


@reader("senseval", suffixes=[".key"], check=_check_senseval)
def scan_senseval(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """Senseval key: word, instance (item) and its senses, with optional weights: ``t.3/0.25``.

    The fields are separated by blanks; a row is a sense of an instance. Text after ``!!`` is
    skipped. Weights follow the last slash of a sense.
    """
    return _senseval_rows(path).select(LINE, "word", "item", "sense", "weight")
