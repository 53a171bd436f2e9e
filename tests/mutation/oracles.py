"""Counts of files that do not use the program, but the standard library and openpyxl.

Each function returns None if the correct reading of a file is unclear; then nothing is compared.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
import zlib
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

import openpyxl
import pyarrow.parquet as pq

Records: TypeAlias = list[dict[str, object]]
_SPACE = " \t\n\r\x0b\x0c\x85\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_WORD = re.compile(f"[^{_SPACE}]+")
_SHARED = "xl/sharedStrings.xml"


def text_of(path: Path) -> str | None:
    """Return the text of a file, gzipped or not; None if it is no text."""
    try:
        content = path.read_bytes()
        if path.name.endswith(".gz"):
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return None


def lines_of(path: Path) -> list[str] | None:
    """Return the lines of a file with any line ends."""
    text = text_of(path)
    return None if text is None else re.split(r"\r\n|\r|\n", text.removesuffix("\n"))


def records(path: Path, separator: str, *, comment: str = "") -> Records | None:
    """Return the rows of a table in text by the names of its columns."""
    text = text_of(path)
    if text is None:
        return None
    lines = text.split("\n")
    while comment and lines and lines[0].startswith(comment):
        del lines[0]
    source = io.StringIO("\n".join(lines), newline="")
    if separator == ",":
        reader = csv.reader(source)
    else:
        reader = csv.reader(source, delimiter=separator, quoting=csv.QUOTE_NONE)
    try:
        rows = [row for row in reader if row]
    except csv.Error:
        return None
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        return None
    return [dict[str, object](zip(rows[0], row, strict=True)) for row in rows[1:]]


def json_lines(path: Path) -> Records | None:
    """Return the objects of JSON lines if all have the same unique names."""
    text = text_of(path)
    if text is None:
        return None
    try:
        pairs = [
            json.loads(line, object_pairs_hook=list, parse_int=str, parse_float=str)
            for line in re.split(r"\r\n|\r|\n", text)
            if line.strip()
        ]
    except ValueError:
        return None
    names = {tuple(sorted(name for name, _ in each)) for each in pairs if isinstance(each, list)}
    if len(names) != 1 or any(len(set(each)) < len(each) for each in names):
        return None
    return [dict(each) for each in pairs]


def parquet(path: Path) -> Records | None:
    """Return the rows of a Parquet file."""
    try:
        return list(pq.read_table(path).to_pylist())
    except (OSError, ValueError):
        return None


def whole_number(value: object) -> int | None:
    """Return a value as a whole number in any spelling."""
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return int(number) if number.is_finite() and number == number.to_integral_value() else None


def rows_and_sum(rows: Records | None, column: str) -> tuple[int, int] | None:
    """Return the number of rows and the sum of a column."""
    if rows is None:
        return None
    numbers = [whole_number(row.get(column)) for row in rows]
    if any(number is None for number in numbers):
        return None
    return len(numbers), sum(number for number in numbers if number is not None)


def conllu_tokens(path: Path) -> int | None:
    """Count the words of a treebank: lines whose first field is a whole number."""
    lines = lines_of(path)
    return None if lines is None else sum(bool(re.match(r"[0-9]+\t", line)) for line in lines)


def vertical_tokens(path: Path) -> int | None:
    """Count the lines that are neither blank nor tags, without byte-order marks within the file."""
    lines = [line.lstrip("\ufeff") for line in lines_of(path) or []]
    if not lines or any(line.startswith("<") and not re.fullmatch(r"</?(s|p|text)( [^<>]*)?>", line)
                            for line in lines):  # fmt: skip
        return None
    return sum(bool(line.strip()) and not line.startswith("<") for line in lines)


def tei_tokens(path: Path) -> int | None:
    """Count the words between white space in the body of a TEI file; None if it is no XML."""
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, LookupError, ValueError):
        return None
    bodies = [body for text in root.iter("text") for body in text.iter("body")]
    return sum(len(_WORD.findall(" ".join(body.itertext()))) for body in bodies)


def table_tokens(path: Path) -> int | None:
    """Count the lines that are neither blank nor comments, without the header."""
    lines = lines_of(path)
    if lines is None:
        return None
    filled = sum(bool(line.strip()) and not line.startswith("# ") for line in lines)
    return max(filled - 1, 0)


def words(path: Path) -> int | None:
    """Count the words between white space, without zero-width spaces, which a remark counts."""
    text = text_of(path)
    return None if text is None else len(_WORD.findall(text.replace("\u200b", "")))


def sheet_entries(path: Path, column: str) -> dict[str, list[str]] | None:
    """Return the entries in a column of a sheet by id; None if it is no sheet."""
    rows = _sheet_rows(path)
    header = next((number for number, row in enumerate(rows or []) if "id" in row), None)
    if not rows or header is None or column not in rows[header]:
        return None
    at, of = rows[header].index(column), rows[header].index("id")
    entries: dict[str, list[str]] = {}
    for row in rows[header + 1 :]:
        if len(row) > max(at, of) and row[of].strip() and row[at].strip():
            entries.setdefault(row[of].strip(), []).append(" ".join(row[at].split()).casefold())
    return entries


def _sheet_rows(path: Path) -> list[list[str]] | None:
    if path.suffix == ".csv":
        text = text_of(path)
        return None if text is None else list(csv.reader(io.StringIO(text, newline="")))
    try:
        book = openpyxl.load_workbook(path, data_only=True)
    except Exception:
        return None
    if not book.worksheets:
        return _raw_rows(path)
    page = book.worksheets[0]
    if page.max_row > 10_000:
        return None
    return [[_text(cell) for cell in row] for row in page.iter_rows()]


def _raw_rows(path: Path) -> list[list[str]] | None:
    """Return the rows of the first sheet of a workbook whose list of sheets is broken."""
    with zipfile.ZipFile(path) as book:
        names = sorted(name for name in book.namelist() if name.startswith("xl/worksheets/sheet"))
        if not names:
            return None
        shared = book.read(_SHARED) if _SHARED in book.namelist() else b"<sst/>"
        texts = ["".join(each.itertext()) for each in ElementTree.fromstring(shared)]
        sheet = ElementTree.fromstring(book.read(names[0]))
    rows = sheet.iterfind(".//{*}row")
    return [_raw_row([*row.iterfind("{*}c")], texts) for row in rows]


def _raw_row(cells: list[ElementTree.Element], texts: list[str]) -> list[str]:
    texts_by_column: dict[int, str] = {}
    for place, cell in enumerate(cells):
        letters = re.sub(r"\d", "", cell.get("r", ""))
        column = openpyxl.utils.column_index_from_string(letters) - 1 if letters else place
        value, kind = cell.findtext("{*}v") or "", cell.get("t")
        if kind == "inlineStr":
            value = "".join(text for each in cell.iterfind("{*}is") for text in each.itertext())
        texts_by_column[column] = texts[int(value)] if kind == "s" else "" if kind == "e" else value
    return [
        texts_by_column.get(column, "") for column in range(max(texts_by_column, default=-1) + 1)
    ]


def _text(cell: Any) -> str:
    """Return the text of a cell; an error value counts as empty, as documented for sheets."""
    return "" if cell.value is None or cell.data_type == "e" else str(cell.value)
