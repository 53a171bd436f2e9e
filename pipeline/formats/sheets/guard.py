"""An apostrophe that keeps a spreadsheet from reading text as a number, date or formula.

A program that opens a CSV file turns ``007`` into 7, ``1-2`` into a date, ``=SUM(A1)`` into
a formula and, in German, ``wahr`` into a truth value. Such texts get an apostrophe in front;
texts that end in a blank get one behind. A text that looks guarded already gets one more, so
that taking one off, in `unguard`, gives back every text as it was. Taking off is harmless
where a spreadsheet has swallowed the apostrophe itself: ``007`` stays ``007``.
"""

from __future__ import annotations

import itertools
import re
import unicodedata

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
    before = MARK if endangered(text.lstrip(MARK)) else ""
    return before + text + (MARK if _blank_end(text) else "")


def unguard(text: str) -> str:
    """Return the text that `guard` was given.

    Examples
    --------
    >>> [unguard(text) for text in ("'007", "007", "''007", "'tis", "end '")]
    ['007', '007', "'007", "'tis", 'end ']
    """
    if text.endswith(MARK) and _blank_end(text):
        text = text[:-1]
    return text[1:] if text.startswith(MARK) and endangered(text.lstrip(MARK)) else text


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


def endangered(text: str) -> bool:
    """Return whether a spreadsheet might read this text as something else.

    Examples
    --------
    >>> [endangered(text) for text in ("1e5", "5 Jan 2024", "5 of the 10 green bottles", "nan")]
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


def _blank_end(text: str) -> bool:
    return text.rstrip(MARK)[-1:].isspace()
