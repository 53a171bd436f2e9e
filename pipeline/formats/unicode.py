"""Unicode: one way to write what looks the same, in corpora and tables."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, TypeAlias

import polars as pl

Form: TypeAlias = Literal["NFC", "none"]
"""How text is normalised: see `normalise`; or not at all."""

_GONE = "\u00ad\u2060\ufeff\u200e\u200f\u061c"
"""Soft hyphen, word joiner, byte-order mark, marks of direction."""
_BLANKS = "\u00a0\u202f\u2007"
"""No-break spaces."""
_APOSTROPHES = "\u2019\u02bc"
_HYPHENS = "\u2010\u2011"
"""Hyphen and no-break hyphen, which look like the hyphen of keyboards."""
_ZERO_WIDTH = "\u200b"
_UNSEEN = re.compile(f"[{_GONE}](?!\r?\n)")
_NO_BREAK = re.compile(f"[{_BLANKS}]")
# Where no blanks stand between words, a zero-width space divides them.
_BETWEEN_LETTERS = re.compile(f"(?<![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]){_ZERO_WIDTH}")


def normalise(text: str) -> str:
    r"""Return text in which what looks the same is the same.

    In Unicode's normal form C; a no-break space is a space; a typographic apostrophe before a
    letter is ``'``, every hyphen ``-``; soft hyphens, word joiners, marks of direction and, but for
    scripts without blanks, zero-width spaces go. A soft hyphen before a line end stays: the line
    goes on.

    Parameters
    ----------
    text : str
        Any.

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
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    # To look for a character takes a tenth of the time of a pattern.
    for signs, pattern, new in (
        (_GONE, _UNSEEN, ""), (_BLANKS, _NO_BREAK, " "), (_ZERO_WIDTH, _BETWEEN_LETTERS, ""),
    ):  # fmt: skip
        if any(sign in text for sign in signs):
            text = pattern.sub(new, text)
    for sign in _HYPHENS:
        text = text.replace(sign, "-")
    for sign in _APOSTROPHES:
        text = _straighten(text, sign) if sign in text else text
    return text


def _straighten(text: str, sign: str) -> str:
    first, *others = text.split(sign)
    return first + "".join(("'" if each[:1].isalpha() else sign) + each for each in others)


def normalise_bytes(content: bytes) -> bytes:
    """Return UTF-8 text as `normalise` does; as it is where it is not UTF-8."""
    if content.isascii():
        return content
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content  # the reader says where
    new = normalise(text)
    return content if new is text else new.encode()


def normalise_column(text: pl.Expr) -> pl.Expr:
    """Return a column of texts as `normalise` does; null stays null."""
    return text.map_batches(_normalise_series, return_dtype=pl.String(), is_elementwise=True)


def _normalise_series(texts: pl.Series) -> pl.Series:
    odd = texts.str.len_bytes() != texts.str.len_chars()
    if not odd.any():
        return texts
    new = pl.Series([normalise(each) for each in texts.filter(odd)], dtype=pl.String())
    place = odd.fill_null(value=False).cum_sum().cast(pl.Int64) - 1
    return texts.zip_with(~odd.fill_null(value=False), new.gather(place.clip(0)))
