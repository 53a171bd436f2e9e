"""Cells of tables: words, labels, judgements, numbers and their formats, spreadsheet errors."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import polars as pl

# Spreadsheet errors, e.g. #NAME? for -ness

_ERROR = (
    r"^(#[¡¿]?\p{Lu}[\p{Lu}_/0]*[!?]|#(N/A|NV|N/D|N/B|I/T|YOK|Н/Д|GETTING_DATA)"
    r"|(Err|Error|Fehler|Erreur):\d{3})$"
)
"""Errors of Excel, LibreOffice and Google Sheets, including translations."""
_LIST = r'^(\[\s*(".*"|\'.*\'|\{\s*".*\})\s*\]|\{\s*".*\})$'
"""A list of texts, or an object, in JSON or Python syntax."""
_DOUBTFUL = r"^\s*($|[#\[{]|Err|Fehler:)"
"""The beginning of errors and lists, but of some words, too."""
NO_WORD = "is empty or a spreadsheet error"
"""Message for a field rejected by `word`."""
_CHOICES = ("choices", "labels", "accept")
"""Object members with labels in Label Studio, doccano and Prodigy."""
ABSENT = ("-", "–", "—", "−")
"""Entries for a lemma missing from a dictionary."""
SEPARATORS = r"[,;\n\r،、]+"
"""Between two forms of a lemma in a cell."""


def is_error(text: pl.Expr) -> pl.Expr:
    """Return true for spreadsheet errors.

    Parameters
    ----------
    text : Expr
        The column, text.

    Examples
    --------
    >>> texts = pl.DataFrame({"word": ["#N/A", "#", "#NAME? ", "NA", "-ness"]})
    >>> texts.select(is_error(pl.col("word"))).to_series().to_list()
    [True, False, True, False, False]
    """
    return text.str.strip_chars().str.contains(_ERROR)


def word(text: pl.Expr) -> pl.Expr:
    """Return texts as words; null for blanks, spreadsheet errors and lists.

    Parameters
    ----------
    text : Expr
        The column, text.

    Examples
    --------
    >>> texts = pl.DataFrame({"l1": ["in Frage", "", "#NAME?", "NA", "[", '["a"]']})
    >>> texts.select(word(pl.col("l1"))).to_series().to_list()
    ['in Frage', None, None, 'NA', '[', None]
    """
    bare = text.str.strip_chars()
    return pl.when((bare != "") & ~is_error(text) & ~bare.str.contains(_LIST)).then(text)


def rows_without_word(texts: pl.Series) -> pl.Series:
    """Return the numbers of the rows that hold no word, see `word`; quick where nearly all do.

    Parameters
    ----------
    texts : Series of String
        The column.

    Examples
    --------
    >>> rows_without_word(pl.Series(["in Frage", "#NAME?", "#", None])).to_list()
    [1, 3]
    """
    rows = (texts.is_null() | texts.str.contains(_DOUBTFUL)).arg_true()
    return rows.filter(texts[rows].to_frame("text").select(word(pl.col("text")).is_null())["text"])


# Lists of labels in one cell


def label_lists(text: pl.Expr) -> pl.Expr:
    """Return the labels in each cell: one, or those of a list; empty if there is none.

    Read as lists are ``["SVC"]``, the same as Python writes it, ``['SVC']``, and an object with a
    list of texts called choices, labels or accept, as Label Studio has them; each in the quotation
    marks of a TSV file, too. Other texts are single labels, stripped of blanks.

    Parameters
    ----------
    text : Expr
        The column, text.

    Returns
    -------
    Expr
        List of String; null for empty cells and spreadsheet errors.

    Examples
    --------
    >>> texts = pl.DataFrame({"label": [" SVC", '["SVC", "x"]', '{"choices": ["x"]}', "[]"]})
    >>> texts.select(label_lists(pl.col("label"))).to_series().to_list()
    [['SVC'], ['SVC', 'x'], ['x'], None]
    """
    return text.map_batches(_read_lists, return_dtype=pl.List(pl.String), is_elementwise=True)


def single_label(text: pl.Expr) -> pl.Expr:
    """Return the label of single-element lists, and the text of other cells.

    Parameters
    ----------
    text : Expr
        The column, text.

    Examples
    --------
    >>> texts = pl.DataFrame({"label": ['["yes"]', "no", '["a", "b"]']})
    >>> texts.select(single_label(pl.col("label"))).to_series().to_list()
    ['yes', 'no', '["a", "b"]']
    """
    lists = label_lists(text)
    return pl.when(lists.list.len() == 1).then(lists.list.first()).otherwise(text)


def _read_lists(texts: pl.Series) -> pl.Series:
    frame = pl.DataFrame({"text": texts.cast(pl.String).str.strip_chars()})
    text = pl.col("text")
    one = pl.when((text != "") & ~is_error(text)).then(pl.concat_list(text))
    labels = frame.select(one.alias(texts.name)).to_series()
    nested = frame.filter(text.str.contains(r'^"?[\[{]')).to_series().unique()
    lists = {cell: items for cell in nested if (items := _labels(cell)) is not None}
    if not lists:
        return labels
    values = [
        lists[cell] or None if cell in lists else label
        for cell, label in zip(frame.to_series(), labels, strict=True)
    ]
    return pl.Series(texts.name, values, dtype=pl.List(pl.String))


def _labels(cell: str) -> list[str] | None:
    """Return the labels of a list; None for other cells."""
    if cell.startswith('"') and cell.endswith('"'):  # quoted by other programs
        cell = cell[1:-1].replace('""', '"')
    try:
        value = json.loads(cell)
    except ValueError:
        try:
            value = ast.literal_eval(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    except RecursionError:
        return None
    if isinstance(value, dict):
        value = next((value[name] for name in _CHOICES if name in value), None)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return None
    return [each.strip() for each in value if each.strip()]


# Number formats of text columns: decimal marks, thousands separators, per cent.


Kind: TypeAlias = Literal["count", "number"]
"""Kinds of columns: whole numbers, or any."""
Decimal: TypeAlias = Literal[".", ","]
"""The decimal mark."""

_MINUS = "\u2212"
_MARKS = {
    ".": r"\.",
    ",": ",",
    " ": "[ \u00a0\u2009\u202f]",
    "'": "['\u2019\u02bc]",
}
"""Mark to the signs used for it."""
_EXPONENT = r"([eE][+-]?\d+)?"
_INFINITE = r"(?i)^[+-]?inf(inity)?$"
_NAMES = {".": "points", ",": "commas", " ": "blanks", "'": "apostrophes"}
NO_NUMBER = (
    "is not a number (use the option missing to list the texts that stand for missing numbers)"
)
"""Message for a field that is not read."""
UNCLEAR = "is ambiguous: the mark may separate decimals or thousands; give the option decimal"
"""Message for a field of a column with an unclear format."""


@dataclass(frozen=True)
class NumberFormat:
    """The format of the numbers of a column.

    Parameters
    ----------
    decimal : str
        The decimal mark, a point or a comma.
    thousands : str
        The thousands separator: none, a point, a comma, a blank or an apostrophe.
    percent : bool
        Whether each number ends in a per cent sign.
    missing : tuple of str
        Texts for a missing number, besides the empty one.
    is_explicit : bool
        Whether the decimal mark was given: then 1.000 is clear.
    unclear : bool
        Whether the marks of the column are ambiguous; then only numbers without a mark are read.

    Examples
    --------
    >>> texts = pl.DataFrame({"f": ["1.234,5", "\u22122", "NA", "x"]})
    >>> german = NumberFormat(",", ".", missing=("NA",))
    >>> texts.select(german.plain(pl.col("f"))).to_series().to_list()
    ['1234.5', '-2', None, None]
    """

    decimal: Decimal = "."
    thousands: str = ""
    percent: bool = False
    missing: tuple[str, ...] = ()
    is_explicit: bool = False
    unclear: bool = False

    def is_empty(self, text: pl.Expr) -> pl.Expr:
        """Return whether the number is missing."""
        bare = text.str.strip_chars()
        return text.is_null() | (bare == "") | bare.is_in(list(self.missing))

    def plain(self, text: pl.Expr) -> pl.Expr:
        """Return the numbers in plain format, without a per cent sign; null for the rest.

        The text of a plain format stays as it is but for a minus sign (U+2212) and blanks round it.

        Parameters
        ----------
        text : Expr
            The column, text.
        """
        bare = _bare(text)
        there = pl.when(~self.is_empty(text))
        if self.unclear:
            return there.then(pl.when(~bare.str.contains(r"[.,]")).then(bare))
        if self.is_plain:
            return there.then(bare.str.replace(r"\.0+$", "") if self.is_explicit else bare)
        number = bare.str.replace(r"\s*%$", "") if self.percent else bare
        if self.thousands:
            number = number.str.replace_all(_MARKS[self.thousands], "")
        point = number.str.replace(",", ".", literal=True) if self.decimal == "," else number
        return there.then(pl.when(self.fits(text, "number")).then(point))

    def fits(self, text: pl.Expr, kind: Kind) -> pl.Expr:
        """Return whether texts are numbers, or counts, in this format; null where empty.

        Parameters
        ----------
        text : Expr
            The column, text.
        kind : str
            "count" or "number".
        """
        mark = _MARKS[self.decimal]
        whole = r"\d+"
        if self.thousands:
            whole = rf"([1-9]\d{{0,2}}({_MARKS[self.thousands]}\d{{3}})+|\d+)"
        end = r"\s*%$" if self.percent else "$"
        bare = _bare(text)
        if kind == "count":
            exponent = _EXPONENT if self.is_plain else ""
            return bare.str.contains(rf"^[+-]?{whole}({mark}0*)?{exponent}{end}")
        decimals = rf"^[+-]?({whole}({mark}\d*)?|{mark}\d+){_EXPONENT}{end}"
        return bare.str.contains(decimals) | bare.str.contains(_INFINITE)

    @property
    def is_plain(self) -> bool:
        """Whether the format is plain, as far as that is clear."""
        return not (self.thousands or self.percent or self.unclear) and self.decimal == "."

    def __str__(self) -> str:
        parts = []
        if self.decimal == ",":
            parts.append("commas are read as decimal marks")
        if self.thousands:
            parts.append(f"{_NAMES[self.thousands]} stand between thousands")
        if self.percent:
            parts.append("per cent are hundredths")
        if self.unclear:
            parts.append("what its marks are is unclear")
        return ", ".join(parts) or "plain numbers"


def _bare(text: pl.Expr) -> pl.Expr:
    return text.str.strip_chars().str.replace(_MINUS, "-", literal=True)


PLAIN = NumberFormat()
"""The plain format: a decimal point, no thousands separator."""
_POINT, _COMMA = NumberFormat(",", "."), NumberFormat(".", ",")
"""Formats with a point, and with a comma, as thousands separator."""


def _formats(kind: Kind, decimal: Decimal | None) -> Iterator[NumberFormat]:
    """Yield the possible formats of a column, those without separators first."""
    marks: Sequence[Decimal] = (".", ",") if decimal is None else (decimal,)
    for percent in (False, True) if kind == "number" else (False,):
        for thousands in ("", ",", ".", " ", "'"):
            for mark in marks:
                if mark != thousands:
                    yield NumberFormat(mark, thousands, percent)


def number_formats(
    rows: pl.LazyFrame,
    kinds: Mapping[str, Kind],
    *,
    decimal: Decimal | None = None,
    missing: Sequence[str] = (),
) -> dict[str, NumberFormat]:
    """Find the number format of each text column from all its rows.

    The format of a column is the one in which all its fields can be read; if there is none, the one
    in which most can, and the rest are errors. If two formats fit and differ, the format is
    unclear: 1,234 may be 1234 or 1.234. A count has no decimals but zeros, so that 1,234 is clear,
    and 1.234 is where other counts have no mark; 1.000 may be what a program makes of one.

    Parameters
    ----------
    rows : LazyFrame
        The rows; read at most twice.
    kinds : mapping of str to str
        Column to "count" or "number".
    decimal : str, optional
        The decimal mark, if known.
    missing : sequence of str
        Texts for a missing number.

    Returns
    -------
    dict of str to NumberFormat
        Column to its format; `PLAIN`, with `missing`, for a column not of text.

    Examples
    --------
    >>> rows = pl.LazyFrame({"f": ["1,200", "900"], "mi": ["0,5", "1,234"]})
    >>> for column, form in number_formats(rows, {"f": "count", "mi": "number"}).items():
    ...     print(f"{column}: {form}")
    f: commas stand between thousands
    mi: commas are read as decimal marks
    """
    schema = rows.collect_schema()
    usual = replace(PLAIN, missing=tuple(missing), is_explicit=decimal is not None)
    formats = dict.fromkeys(kinds, usual)
    texts = [name for name in kinds if schema[name] == pl.String]
    if texts and decimal is None:
        clear = {name: _is_clear(usual, pl.col(name), kind) for name, kind in kinds.items()}
        plain = rows.select(clear[name].alias(name) for name in texts).collect(engine="streaming")
        texts = [name for name in texts if not plain[name].item()]
    for name in texts:
        form = _tell(rows, name, kinds[name], decimal, usual)
        formats[name] = replace(form, missing=usual.missing, is_explicit=usual.is_explicit)
    return formats


def _is_clear(usual: NumberFormat, text: pl.Expr, kind: Kind) -> pl.Expr:
    """Return whether all of a column is plain, and cannot be read otherwise."""
    plain = PLAIN.fits(text, kind)
    if kind == "count":
        plain &= ~_bare(text).str.contains(r"\.000$")
    return (plain | usual.is_empty(text)).all()


def _tell(
    rows: pl.LazyFrame, name: str, kind: Kind, decimal: Decimal | None, usual: NumberFormat
) -> NumberFormat:
    """Return the format of a column that is not plain throughout."""
    text = pl.col(name)
    there = ~usual.is_empty(text)
    forms = list(_formats(kind, decimal))
    bare = _bare(text)
    counts = rows.select(
        *((form.fits(text, kind) & there).sum().alias(str(at)) for at, form in enumerate(forms)),
        filled=there.sum(),
        # In a count, a point is between thousands for sure if others have none, or several.
        shown=(there & (~bare.str.contains(r"\.") | bare.str.contains(r"\..*\."))).any(),
        marked=(there & bare.str.contains(r"\.")).any(),
    )
    (row,) = counts.collect(engine="streaming").rows(named=True)
    fitting = [form for at, form in enumerate(forms) if row[str(at)] == row["filled"]]
    if not fitting:
        return forms[max(range(len(forms)), key=lambda at: (row[str(at)], -at))]
    if decimal is not None:
        return fitting[0]
    if kind == "number":
        decimals = replace(PLAIN, decimal=",")
        both = {decimals, _COMMA} <= {*fitting}
        return replace(PLAIN, unclear=True) if both else fitting[0]
    if _POINT in fitting and row["marked"] and (PLAIN in fitting or not row["shown"]):
        return replace(PLAIN, unclear=True)
    return next(form for form in (PLAIN, _COMMA, *fitting) if form in fitting)


# Numbers, words and judgements of a column, and the values that are none

TRUE = ("1", "true", "yes", "y", "+", "tp")
FALSE = ("0", "false", "no", "n", "-", "fp")
"""Spellings of a judgement, in any case; an empty field means not judged."""
_LARGEST_SUM = 2.0**53
"""Upper bound on the sum of a column of counts: Float64 has every whole number below."""
_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}\.000$"
"""Text that is 1000 or 1, depending on the meaning of the point."""


def whole_number(column: str, dtype: pl.DataType, form: NumberFormat = PLAIN) -> pl.Expr:
    """Return a column as Int64; null where it does not hold a whole number.

    A whole number may be kept as a float or decimal, and written as one: 6.0, 10.00, 1e+05. Floats
    are accepted below 2^53 only, beyond which they skip whole numbers. Booleans, dates, times and
    durations are not numbers; nor is the text 1.000, which may be a thousand.

    Parameters
    ----------
    column : str
        Its name.
    dtype : DataType
        Its present type.
    form : NumberFormat
        Number format of a text column, from `number_formats`.

    Returns
    -------
    Expr
        Int64, of the same name.

    Examples
    --------
    >>> texts = pl.DataFrame({"f": [" 12", "1.5", "6.0"]})
    >>> texts.select(whole_number("f", pl.String())).to_series().to_list()
    [12, None, 6]
    """
    value = pl.col(column)
    if dtype.is_integer():
        return value.cast(pl.Int64, strict=False)
    if dtype.is_float():
        return _whole_float(value)
    if dtype.is_decimal():
        return _without_decimals(value.cast(pl.String))
    if dtype != pl.String:
        return pl.lit(None, pl.Int64).alias(column)
    text = form.plain(value)
    exponent = text.str.contains("[eE]")
    other = pl.when(exponent).then(_whole_float(text.cast(pl.Float64, strict=False)))
    return other.when(~text.str.contains(_THOUSANDS)).then(_without_decimals(text))


def _without_decimals(text: pl.Expr) -> pl.Expr:
    """Return what is written in digits, and after a point in zeros alone, as Int64; else null."""
    return text.str.replace(r"\.0*$", "").cast(pl.Int64, strict=False)


def _whole_float(value: pl.Expr) -> pl.Expr:
    """Return floats that are whole and below 2^53 as Int64; else null."""
    whole = value.cast(pl.Int64, strict=False)
    return pl.when((whole == value) & (value.abs() < _LARGEST_SUM)).then(whole)


def count_column(
    column: str,
    dtype: pl.DataType,
    form: NumberFormat = PLAIN,
    *,
    least: int = 0,
    before: int = 0,
) -> pl.Expr:
    """Return a column as counts that can be summed; null where the value is not a count.

    Also null from where the running sum of the counts reaches 2^53, about 9e15, as sums of 64 bits
    would overflow.

    Parameters
    ----------
    column, dtype, form
        As of `whole_number`.
    least : int
        The smallest count.
    before : int
        Sum of the counts before these rows, if a column is read in parts.

    Examples
    --------
    >>> texts = pl.DataFrame({"f": ["12", "-1", str(2**63 - 1)]})
    >>> texts.select(count_column("f", pl.String())).to_series().to_list()
    [12, None, None]
    """
    whole = whole_number(column, dtype, form)
    count = pl.when(whole >= least).then(whole)
    fits = count.cast(pl.Float64).fill_null(0).cum_sum() < _LARGEST_SUM - before
    return pl.when(fits).then(count)


def number(column: str, dtype: pl.DataType, form: NumberFormat = PLAIN) -> pl.Expr:
    """Return a column as Float64; null for NaN and what is not a number.

    Booleans, dates, times and durations are not numbers. Per cent are divided by 100.

    Parameters
    ----------
    column, dtype, form
        As of `whole_number`.

    Examples
    --------
    >>> texts = pl.DataFrame({"x": ["-inf", "2e-3", "nan"]})
    >>> texts.select(number("x", pl.String())).to_series().to_list()
    [-inf, 0.002, None]
    """
    value = pl.col(column)
    if not dtype.is_numeric() and dtype != pl.String:
        return pl.lit(None, pl.Float64).alias(column)
    if dtype != pl.String:
        return value.cast(pl.Float64, strict=False).fill_nan(None)
    value = form.plain(value).cast(pl.Float64, strict=False).fill_nan(None)
    return value / 100.0 if form.percent else value


def text_or_null(column: str) -> pl.Expr:
    """Return a column as words; null where blank, or a spreadsheet error.

    Examples
    --------
    >>> texts = pl.DataFrame({"l1": ["in Frage", " ", "#NAME?"]})
    >>> texts.select(text_or_null("l1")).to_series().to_list()
    ['in Frage', None, None]
    """
    return word(pl.col(column).cast(pl.String))


def judgement(column: str) -> pl.Expr:
    """Return a column as Boolean; null where not judged or the spelling is unknown.

    Accepts Booleans, and the floats 1.0 and 0.0, which programs make of columns with empty fields.

    Examples
    --------
    >>> texts = pl.DataFrame({"tp": ["1", "No", "", "maybe", "0.0"]})
    >>> texts.select(judgement("tp")).to_series().to_list()
    [True, False, None, None, False]
    """
    one = single_label(pl.col(column).cast(pl.String))
    text = one.str.strip_chars().str.to_lowercase()
    folded = text.str.replace(r"^([01])\.0*$", "${1}")
    true = pl.when(folded.is_in(TRUE)).then(statement=True)
    return true.when(folded.is_in(FALSE)).then(statement=False)


def faults(
    frame: pl.LazyFrame,
    *,
    parsed: Mapping[str, pl.Expr],
    problem: str,
    required: bool,
    forms: Mapping[str, NumberFormat] | None = None,
) -> pl.LazyFrame:
    """Return one row for each value that could not be parsed.

    Parameters
    ----------
    frame : LazyFrame
        The raw rows, with the columns file and line.
    parsed : mapping of str to Expr
        Column of the file to its parsed form, null on failure.
    problem : str
        The message.
    required : bool
        Whether an empty field is an error too.
    forms : mapping of str to NumberFormat, optional
        Formats of the columns of numbers.

    Returns
    -------
    LazyFrame
        file, line, column, value, problem, as in `schemas.Faults`.
    """
    wrong = []
    for column, value in parsed.items():
        text = pl.col(column).cast(pl.String)
        form = (forms or {}).get(column, PLAIN)
        failed = value.is_null() & (~form.is_empty(text) | pl.lit(required))
        what = pl.lit(problem)
        if form.unclear:
            what = pl.when(text.str.contains(r"\d[.,]\d")).then(pl.lit(UNCLEAR)).otherwise(what)
        row = {"column": pl.lit(column), "value": text, "problem": what}
        wrong.append(frame.filter(failed).select("file", "line", **row))
    return pl.concat(wrong)
