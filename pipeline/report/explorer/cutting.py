"""Long texts, cut to what the page holds of them."""

from __future__ import annotations

import polars as pl

OPEN, CLOSE, GONE = "[[", "]]", "…"


def cut(texts: pl.Series, *, most: int) -> pl.Series:
    """Return texts of at most so many characters, or a few more.

    Parameters
    ----------
    texts : Series of str
        Texts; the words that they are about may be marked with ``[[ ]]``.
    most : int
        Longer ones are cut, so that the marked words stay.

    Examples
    --------
    >>> cut(pl.Series(["one two three", "four"]), most=8).to_list()
    ['one two …', 'four']
    """
    long = (texts.str.len_chars() > most).fill_null(value=False)
    if not long.any():
        return texts
    some = texts.filter(long)
    shorter = dict(zip(some, (_cut(text, most) for text in some), strict=True))
    return texts.replace(shorter)


def _cut(text: str, most: int) -> str:
    """Cut one text: a third of the room before the first mark, the rest from there."""
    start = max(0, text.find(OPEN) - most // 3)
    end = start + most
    last = text.rfind(CLOSE, 0, end)
    opened = text.rfind(OPEN, 0, end)
    if opened > last:  # a mark would be cut through
        end = min(text.find(CLOSE, opened) + len(CLOSE), opened + most)
    before, after = GONE if start else "", GONE if end < len(text) else ""
    return f"{before}{text[start:end]}{after}"
