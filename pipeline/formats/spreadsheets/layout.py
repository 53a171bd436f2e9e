"""The layout of a sheet: columns, escaped characters, guarded texts, instructions."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl
from polars import selectors

from pipeline.errors import DataError

ID = "id"
"""Every sheet has a column of this name: it ties a row to what the row is about."""


@dataclass(frozen=True)
class Column:
    """One column of a sheet.

    Parameters
    ----------
    name : str
        Name in the table.
    title : str
        What stands in the header of the sheet.
    writable : bool
        Whether people fill it in; other columns are locked.
    width : int
        Width in characters; what is read may be narrower, if all that stands in it is.
    choices : tuple of str
        The values that a drop-down list offers; empty if anything may be typed.
    help : str
        A sentence for the instructions.
    required : bool
        Whether a sheet that comes back without this column is refused.
    printed : bool
        Whether it is for paper, too; columns behind the last such one are not printed.
    """

    name: str
    title: str
    writable: bool
    width: int
    choices: tuple[str, ...] = ()
    help: str = ""
    required: bool = True
    printed: bool = True


@dataclass(frozen=True)
class Layout:
    """The columns of a sheet, from left to right.

    Parameters
    ----------
    columns : tuple of Column
        One of them is called ``id``.

    Raises
    ------
    ValueError
        If no column is called ``id``, or two could be taken for each other in a header.

    Examples
    --------
    >>> label = Column("label", "Label", writable=True, width=10, choices=("SVC", "free"))
    >>> Layout((Column("id", "id", writable=False, width=18), label)).names
    ('id', 'label')
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        if ID not in self.names:
            raise ValueError(f"a sheet needs a column {ID!r}; there are {', '.join(self.names)}")
        headers = [word for each in self.columns for word in {fold(each.name), fold(each.title)}]
        twice = sorted({word for word in headers if headers.count(word) > 1})
        if twice:
            raise ValueError(f"two columns of the sheet could be meant by {', '.join(twice)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in the table."""
        return tuple(each.name for each in self.columns)

    @property
    def pinned(self) -> int:
        """How many columns stay in sight: up to the first to fill in, with it if one chooses."""
        first = next((i for i, each in enumerate(self.columns) if each.writable), 0)
        return first + 1 if self.columns[first].choices else first

    @property
    def printed(self) -> int:
        """How many columns are printed."""
        return max(i for i, each in enumerate(self.columns, start=1) if each.printed)

    def name_of(self, header: str) -> str | None:
        """Return the name of the column with this header; None if the layout has none.

        Names and titles both count, in any case and with any blanks around them.
        """
        word = fold(header)
        names = (each.name for each in self.columns if word in (fold(each.name), fold(each.title)))
        return next(names, None)

    def missing_from(self, names: Iterable[str]) -> list[str]:
        """Return the titles of the required columns that are not among these names."""
        there = set(names)
        return [each.title for each in self.columns if each.required and each.name not in there]


def fold(header: str) -> str:
    """Return a header as it is compared: in lower case, without blanks around it.

    A byte-order mark that a program took for text keeps it from taking off the quotation marks.
    """
    return header.strip('\ufeff" \t\r\n\u00a0').casefold()


# Control characters: spreadsheets keep, drop or translate them, each in its own way, and read
# ``_x000D_`` as one. A sheet has ``\x0D`` for a carriage return and ``\x5Fx000D_`` for ``_x000D_``;
# a backslash that would be read so is doubled.

_CODE = "[01][0-9A-F]|5F"
_TO_ESCAPE = re.compile(
    rf"(\\*)([\x00-\x09\x0b-\x1f]|_(?=x[0-9A-Fa-f]{{4}}_))|(\\+)(?=x(?:{_CODE}))"
)
_ESCAPED = re.compile(rf"(\\+)x({_CODE})")


def escape_controls(text: str) -> str:
    r"""Return the text as a sheet has it.

    Examples
    --------
    >>> print(*(escape_controls(text) for text in ("a\rb", "_x000D_", "C:\\x07", "C:\\new")))
    a\x0Db \x5Fx000D_ C:\\x07 C:\new
    """
    return _TO_ESCAPE.sub(_escape_match, text)


def unescape_controls(text: str) -> str:
    r"""Return the text that `escape_controls` was given.

    Examples
    --------
    >>> unescape_controls(r"a\x0Db"), unescape_controls(r"\x5Fx000D_")
    ('a\rb', '_x000D_')
    >>> unescape_controls(r"C:\\x07") == r"C:\x07"
    True
    """
    return _ESCAPED.sub(_unescape_match, text)


def _escape_match(match: re.Match[str]) -> str:
    before, sign, backslashes = match.groups()
    return 2 * backslashes if backslashes else rf"{2 * before}\x{ord(sign):02X}"


def _unescape_match(match: re.Match[str]) -> str:
    backslashes, code = match.groups()
    kept = "\\" * (len(backslashes) // 2)
    return kept + (chr(int(code, 16)) if len(backslashes) % 2 else f"x{code}")


# Cell texts, and the texts that no spreadsheet can hold.

MOST_CHARACTERS = 32_767
"""Longest text of a cell, in UTF-16 units, in Excel."""
MOST_ROWS = 1_048_576
"""Rows of a worksheet, the header included."""
_NO_TEXT = re.compile("[\x00\ufffe\uffff]")
_NO_CHARACTERS = "hold U+0000, U+FFFE or U+FFFF, which are no text"
_TOO_LONG = f"are longer than the {MOST_CHARACTERS:,} of a cell"
_EXAMPLES = 3


def texts(rows: pl.DataFrame, layout: Layout) -> list[tuple[str, ...]]:
    """Return the cells of each row in the layout's order, empty for null, all signs visible.

    Parameters
    ----------
    rows : DataFrame
        The columns of the layout; a column to fill in may be absent. Other columns stay out of
        the sheet, so that scores and ranks cannot get into it by oversight.
    layout : Layout
        The columns.

    Raises
    ------
    ValueError
        If a column to read is absent.
    DataError
        If there are too many rows, a text is too long, or one holds U+0000, U+FFFE or U+FFFF,
        which are no characters of text in XML.
    """
    absent = [each.name for each in layout.columns if each.name not in rows.columns]
    lost = [each.name for each in layout.columns if each.name in absent and not each.writable]
    if lost:
        raise ValueError(f"the sheet needs the columns {', '.join(lost)}")
    _require_few_rows(rows)
    full = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    cells = full.select(pl.col(layout.names).cast(pl.String).fill_null("")).rows()
    refuse(cells, layout, _has_invalid_characters, _NO_CHARACTERS)
    cells = [tuple(map(escape_controls, row)) for row in cells]
    refuse(cells, layout, _too_long, _TOO_LONG)
    return cells


def require_cells(rows: pl.DataFrame) -> None:
    """Refuse a table that no worksheet can hold.

    Raises
    ------
    DataError
        If there are too many rows, a text is too long or holds what is no character of text in XML;
        with three of the texts, by row of the worksheet and column.
    """
    _require_few_rows(rows)
    words = rows.select(selectors.string())
    for wrong, problem in ((_has_invalid_characters, _NO_CHARACTERS), (_too_long, _TOO_LONG)):
        bad = [
            f"row {number}, column {name}: {text[:40]!r}"
            for number, row in enumerate(words.rows(), start=2)
            for name, text in zip(words.columns, row, strict=True)
            if text and wrong(text)
        ]
        _refuse(bad, problem)


def _require_few_rows(rows: pl.DataFrame) -> None:
    if rows.height >= MOST_ROWS:
        raise DataError(f"a sheet holds {MOST_ROWS - 1:,} rows and not {rows.height:,}: split it")


def refuse(
    rows: Sequence[tuple[str, ...]], layout: Layout, wrong: Callable[[str], bool], problem: str
) -> None:
    """Raise if some cell is wrong.

    Raises
    ------
    DataError
        With the number of such cells, and three of them by id and column.
    """
    place = layout.names.index(ID)
    bad = [
        f"id {row[place]}, column {name}: {text[:40]!r}"
        for row in rows
        for name, text in zip(layout.names, row, strict=True)
        if wrong(text)
    ]
    _refuse(bad, problem)


def _refuse(bad: Sequence[str], problem: str) -> None:
    if bad:
        shown = "".join(f"\n  {example}" for example in bad[:_EXAMPLES])
        raise DataError(f"{len(bad):,} cell(s) {problem}:{shown}\nClean these texts first.")


def _has_invalid_characters(text: str) -> bool:
    return _NO_TEXT.search(text) is not None


def _too_long(text: str) -> bool:
    return len(text) > MOST_CHARACTERS // 2 and len(text.encode("utf-16-le")) > 2 * MOST_CHARACTERS


# Guards: spreadsheets turn ``007`` into 7, ``1-2`` into a date, ``=SUM(A1)`` into a formula and, in
# German, ``wahr`` into a truth value. Such texts get an apostrophe in front; texts that end in a
# blank get one behind. A text that looks guarded gets one more, so that `unguard` restores all.

MARK = "'"
_FIRST = frozenset("=+-@＝＋－＠−\ufeff\u200b")
"""Signs of a formula, in both widths, and characters that programs strip."""
_ERROR = re.compile(r"#(N/A|[A-Z_/0]+[!?])", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_ID = re.compile("x[0-9a-f]{16}")
"""Ids of candidates: made so that no spreadsheet takes them for numbers."""
_MOST_WORDS = 3
"""Dates and amounts hold at most three words: ``Fri 5 Jan 2024, 10 pm``."""
_TRUTH_WORDS = """
    true false wahr falsch vrai faux verdadero falso vero verdadeiro cert fals waar onwaar sand
    falsk sann usann sant falskt tosi epätosi prawda fałsz pravda nepravda igaz hamis doğru
    yanliş yanlış adevărat истина ложь істина хибність αληθης αληθής ψευδης ψευδής resnično
    neresnično istina neistina benar salah đúng sai
"""
_TRUTH = frozenset(_TRUTH_WORDS.split())
"""The truth values of spreadsheets in the languages that translate them."""


def guard(text: str) -> str:
    """Return the text with an apostrophe wherever a spreadsheet might change it.

    Examples
    --------
    >>> [guard(text) for text in ("Frage", "007", "=SUM(A1)", "'007", "'tis", "end ")]
    ['Frage', "'007", "'=SUM(A1)", "''007", "'tis", "end '"]
    """
    before = MARK if needs_guard(text.lstrip(MARK)) else ""
    return before + text + (MARK if _ends_in_blank(text) else "")


def unguard(text: str) -> str:
    """Return the text that `guard` was given.

    Examples
    --------
    >>> [unguard(text) for text in ("'007", "007", "''007", "'tis", "end '")]
    ['007', '007', "'007", "'tis", 'end ']
    """
    if text.endswith(MARK) and _ends_in_blank(text):
        text = text[:-1]
    return text[1:] if text.startswith(MARK) and needs_guard(text.lstrip(MARK)) else text


def escape(text: str) -> str:
    """Return a text that `unguard` gives back, guarded only if it would not survive as it is.

    Files that keep text as text need no guard, but are read by the same `unguard`, so that
    people may save one kind of file as the other.

    Examples
    --------
    >>> [escape(text) for text in ("007", "'007", "'tis")]
    ['007', "''007", "'tis"]
    """
    return text if unguard(text) == text else guard(text)


def needs_guard(text: str) -> bool:
    """Return whether a spreadsheet might read this text as something else.

    Examples
    --------
    >>> [needs_guard(text) for text in ("1e5", "5 Jan 2024", "5 of the 10 green bottles", "nan")]
    [True, True, False, False]
    """
    if not text:
        return False
    first = text[0]
    if first in _FIRST or first.isspace() or unicodedata.category(first) == "Cc":
        return True
    return _like_number(text) or text.strip().lower() in _TRUTH or bool(_ERROR.fullmatch(text))


def _like_number(text: str) -> bool:
    if not _DIGIT.search(text) or _ID.fullmatch(text):
        return False
    bare = "".join(sign for sign in text if unicodedata.category(sign)[0] != "M")
    words = itertools.islice(_LETTERS.finditer(bare), _MOST_WORDS + 1)
    return sum(1 for _ in words) <= _MOST_WORDS


def _ends_in_blank(text: str) -> bool:
    return text.rstrip(MARK)[-1:].isspace()


# Instructions: the second worksheet.

_GENERAL = """\
Fill in the white cells. The grey cells are locked, so that ids and examples stay what they are; \
there is no password. To sort the rows, switch the protection of the sheet off.
The order of rows and columns does not matter. Columns of your own may be added on the right. \
Keep the column id as it is."""


class InstructionLine(NamedTuple):
    """A line of the instructions, and whether it is a heading."""

    text: str
    heading: bool = False


def instruction_lines(
    layout: Layout, instructions: str, guidelines: Mapping[str, str]
) -> list[InstructionLine]:
    r"""Return the lines of the instructions, from the first to the last.

    Parameters
    ----------
    layout : Layout
        The columns, and what can be chosen in them.
    instructions : str
        Paragraphs, one per line.
    guidelines : mapping of str to str
        What can be chosen, each with when it is given; shown in the order of the choices.

    Examples
    --------
    >>> layout = Layout((Column("id", "id", writable=False, width=18),))
    >>> lines = instruction_lines(layout, "Judge.", {"SVC": "A light verb.\nAs in: take care."})
    >>> [line.text for line in lines[:5]]
    ['Judge.', '', 'Labels', 'SVC: A light verb.', 'As in: take care.']
    """
    lines = [InstructionLine(text) for text in f"{instructions}\n".split("\n")]
    if guidelines:
        lines += [
            InstructionLine("Labels", heading=True),
            *_guideline_lines(layout, guidelines),
            InstructionLine(""),
        ]
    lines += [InstructionLine(text) for text in f"{_GENERAL}\n".split("\n")]
    lines += [InstructionLine("Columns", heading=True)]
    described = [each for each in layout.columns if each.writable or each.help]
    return lines + [InstructionLine(_describe_column(each)) for each in described]


def _guideline_lines(layout: Layout, guidelines: Mapping[str, str]) -> list[InstructionLine]:
    choices = [choice for each in layout.columns for choice in each.choices]
    ordered = dict.fromkeys(each for each in [*choices, *guidelines] if each in guidelines)
    texts = (f"{label}: {guidelines[label].strip()}" for label in ordered)
    return [InstructionLine(escape_controls(line)) for text in texts for line in text.splitlines()]


def _describe_column(column: Column) -> str:
    choices = f"One of: {', '.join(column.choices)}." if column.choices else ""
    return " ".join(filter(None, (f"{column.title}:", column.help or "to fill in.", choices)))
