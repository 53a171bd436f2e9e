"""Unicode normalisation of corpora and tables."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Literal, TypeAlias

import polars as pl

Form: TypeAlias = Literal["NFC", "none"]
"""Normalisation forms, see `normalise`."""

LINES = "lines in another normal form"
INVISIBLE, SPACES = "invisible signs", "no-break spaces"
APOSTROPHES, HYPHENS = "typographic apostrophes", "typographic hyphens"

_GONE = "\u00ad\u2060\ufeff\u200e\u200f\u061c"
"""Soft hyphen, word joiner, byte-order mark, direction marks."""
_BLANKS = "\u00a0\u202f\u2007"
"""No-break spaces."""
_APOSTROPHES = "\u2019\u02bc"
_HYPHENS = "\u2010\u2011"
"""Hyphen and no-break hyphen, which look like the keyboard hyphen."""
_ZERO_WIDTH = "\u200b"
_UNSEEN = re.compile(f"[{_GONE}](?!\r?\n)")
_NO_BREAK = re.compile(f"[{_BLANKS}]")
_PIECE = 1 << 15
"""Bytes that are normalised at once: most pieces of a long text need few of the steps."""
_SPECIAL = f"[{_GONE}{_BLANKS}{_ZERO_WIDTH}{_APOSTROPHES}{_HYPHENS}]"
# In scripts without blanks, a zero-width space separates words.
_BETWEEN_LETTERS = re.compile(f"(?<![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]){_ZERO_WIDTH}")


def normalise(text: str, counts: Counter[str] | None = None) -> str:
    r"""Return text in a normal form.

    Unicode normal form C; no-break spaces become spaces; typographic apostrophes before letters
    become ``'``, all hyphens ``-``; soft hyphens, word joiners, direction marks and (except in
    scripts without blanks) zero-width spaces are removed. A soft hyphen before a line end is kept,
    since the word continues.

    Parameters
    ----------
    text : str
        Any text.
    counts : Counter, optional
        Receives the number of changed characters by kind, and of lines not in normal form.

    References
    ----------
    Unicode Standard Annex 15, Unicode Normalization Forms.

    Examples
    --------
    >>> normalise("cafe\u0301 l\u2019homme \u2018yes\u2019 so\u00adlo 5\u00a0kg to\u2010day")
    "café l'homme ‘yes’ solo 5 kg to-day"
    """
    if text.isascii():
        return text
    tally: Counter[str] = Counter() if counts is None else counts
    if not unicodedata.is_normalized("NFC", text):
        tally[LINES] += sum(not unicodedata.is_normalized("NFC", line) for line in text.split("\n"))
        text = unicodedata.normalize("NFC", text)
    # Searching for a character takes a tenth of the time of a pattern.
    for kind, signs, pattern, new in (
        (INVISIBLE, _GONE, _UNSEEN, ""),
        (SPACES, _BLANKS, _NO_BREAK, " "),
        (INVISIBLE, _ZERO_WIDTH, _BETWEEN_LETTERS, ""),
    ):
        if any(sign in text for sign in signs):
            text, number = pattern.subn(new, text)
            tally[kind] += number
            # A letter and its accent may have been apart.
            text = unicodedata.normalize("NFC", text)
    for sign in _HYPHENS:
        if sign in text:
            tally[HYPHENS] += text.count(sign)
            text = text.replace(sign, "-")
    for sign in _APOSTROPHES:
        if sign in text:
            text, number = _straighten(text, sign)
            tally[APOSTROPHES] += number
    return text


def _straighten(text: str, sign: str) -> tuple[str, int]:
    first, *others = text.split(sign)
    signs = ["'" if each[:1].isalpha() and each[0] not in _APOSTROPHES else sign for each in others]
    straight = "".join(part for pair in zip(signs, others, strict=True) for part in pair)
    return first + straight, signs.count("'")


def normalise_bytes(content: bytes, counts: Counter[str] | None = None) -> bytes:
    """Normalise UTF-8 text; invalid UTF-8 is returned unchanged."""
    if content.isascii():
        return content
    tally: Counter[str] = Counter()
    try:
        old = list(_pieces(content))
        new = [_normalise_piece(piece, tally) for piece in old]
    except UnicodeDecodeError:
        return content  # the reader reports the position
    if counts is not None:
        counts.update(tally)
    return content if all(map(operator.is_, new, old)) else b"".join(new)


def _pieces(content: bytes) -> Iterator[bytes]:
    """Yield content line by line, several lines at a time: no change depends on another line."""
    begin = 0
    while begin < len(content):
        end = content.find(b"\n", begin + _PIECE) + 1 or len(content)
        yield content[begin:end]
        begin = end


def _normalise_piece(content: bytes, counts: Counter[str]) -> bytes:
    if content.isascii():
        return content
    text = content.decode()
    new = normalise(text, counts)
    return content if new is text else new.encode()


def normalise_column(text: pl.Expr) -> pl.Expr:
    """Normalise a column of texts; null remains null."""
    return text.map_batches(normalise_series, return_dtype=pl.String(), is_elementwise=True)


def normalise_series(texts: pl.Series) -> pl.Series:
    """Normalise texts; null remains null."""
    composed = texts.str.normalize("NFC")
    odd = composed.str.contains(_SPECIAL).fill_null(value=False)
    if not odd.any():
        return composed
    new = pl.Series([normalise(each) for each in composed.filter(odd)], dtype=pl.String())
    place = odd.cum_sum().cast(pl.Int64) - 1
    return composed.zip_with(~odd, new.gather(place.clip(0)))
