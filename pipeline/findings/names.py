"""Names of users in sentences: on one line, not too long, and in their own direction of writing."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 40
"""Characters of a name that a sentence gives."""
_FIRST_STRONG, _END = "\u2068", "\u2069"
_LEFTWARDS = {"R", "AL", "AN"}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"
"""Characters without a look of their own that words of some languages are spelt with."""


def called(name: str, *, most: int = LONGEST) -> str:
    r"""Return a name as a sentence gives it.

    Blanks and line ends become one blank, what cannot be seen goes, a long name ends in "…". A name
    with letters that are written from right to left is kept apart from what stands around it.

    Parameters
    ----------
    name : str
        A word, a cluster, a class, a system.
    most : int
        Characters at most, from 2.

    Examples
    --------
    >>> called("tree, 3 bits"), called("a\n b"), called("x" * 50, most=5), called("")
    ('tree, 3 bits', 'a b', 'xxxx…', '(empty)')
    """
    seen = "".join(_visible(letter) for letter in name)
    text = " ".join(seen.split())
    if not text:
        return "(empty)"
    if len(text) > most:
        text = f"{text[: most - 1]}…"
    if any(unicodedata.bidirectional(letter) in _LEFTWARDS for letter in text):
        return f"{_FIRST_STRONG}{text}{_END}"
    return text


def _visible(letter: str) -> str:
    if letter.isspace():
        return " "
    hidden = unicodedata.category(letter) in _UNSEEN and letter not in _JOINERS
    return "" if hidden else letter


def slug(text: str) -> str:
    """Return `text` with all but ASCII letters, digits, ``_`` and ``-`` made a dash.

    Names of files and figures are made of it.

    Examples
    --------
    >>> slug("figur/PP verb")
    'figur-PP-verb'
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-") or "x"
