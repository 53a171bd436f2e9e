"""How a sentence is written, and what is shown of it around the tokens of a candidate."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise
from typing import NamedTuple

SURFACE, SPACE_AFTER = "surface", "space_after"
"""Attributes that a reader may give: what is written for a token in place of its form, "" if it
is written within the token before; and what stands between it and the next, null if unknown."""
FORM = "form"
"""The attribute whose place `SURFACE` takes."""
SQUARE, WHITE = ("[", "]"), ("⟦", "⟧")
"""Brackets that mark, doubled; the others where a sentence holds some of the first."""
CUT = "…"
"""Stands, in single brackets, for words that are left out."""

_UNKNOWN = "_"
_LONG = 40
"""Characters without a space that may not be parted; more are no word, but a script without."""
_WHITE = re.compile(r"\s")
_JOINERS = "\u200c\u200d"


class Written(NamedTuple):
    """A sentence in pieces: tokens, or several that are written as one.

    Parameters
    ----------
    words, spaces : list of str
        What is written for each piece, and what follows it.
    places : list of int
        The index of each token's piece.
    brackets : tuple of str
        Opening and closing, for marks; `words` and `spaces` hold none of them.
    """

    words: list[str]
    spaces: list[str]
    places: list[int]
    brackets: tuple[str, str]


def written(
    forms: Iterable[str | None], surfaces: Iterable[str | None], spaces: Iterable[str | None]
) -> Written:
    """Return how the tokens of a sentence are written.

    Parameters
    ----------
    forms : iterable of str or None
        The attribute to show.
    surfaces, spaces : iterable of str or None
        `SURFACE` and `SPACE_AFTER`.

    Examples
    --------
    >>> written(["de", "le", "[1]"], ["du", "", None], [None, "", " "])
    Written(words=['du', '[1]'], spaces=['', ''], places=[0, 0, 1], brackets=('⟦', '⟧'))
    """
    words: list[str] = []
    after: list[str] = []
    places: list[int] = []
    for form, surface, space in zip(forms, surfaces, spaces, strict=True):
        if surface == "" and words:
            after.pop()
        else:
            words.append(surface or form or _UNKNOWN)
        after.append(" " if space is None else space)
        places.append(len(words) - 1)
    after[-1:] = [space.rstrip() for space in after[-1:]]
    whole = "".join([*words, *after])
    if not any(sign in whole for sign in SQUARE):
        return Written(words, after, places, SQUARE)
    plain = str.maketrans(dict(zip(WHITE, SQUARE, strict=True)))
    words, after = [[each.translate(plain) for each in parts] for parts in (words, after)]
    return Written(words, after, places, WHITE)


def in_context(sentence: Written, examples: Iterable[Collection[int]], *, width: int) -> list[str]:
    """Return a sentence, or what there is room for, once for each choice of tokens to mark.

    Where it is longer than `width`, what is parted by white space goes as one: first what has most
    characters between itself and the next marked token, of two that are as far the right one.
    What holds a marked token stays, whatever its length; if none is marked, the beginning does.

    Parameters
    ----------
    sentence : Written
        The sentence.
    examples : iterable of collection of int
        The tokens to mark, from 1.
    width : int
        Characters, marks aside; 0: all.

    Examples
    --------
    >>> forms, surfaces = "vue de le port de loin".split(), [None, "du", "", None, None, None]
    >>> sentence = written(forms, surfaces, [None] * 6)
    >>> in_context(sentence, [[1, 3], [4]], width=0)
    ['[[vue]] [[du]] port de loin', 'vue du [[port]] de loin']
    >>> in_context(sentence, [[1, 3], [4]], width=8)
    ['[[vue]] [[du]] […]', '[…] du [[port]] […]']
    """
    parts = [word + space for word, space in zip(sentence.words, sentence.spaces, strict=True)]
    starts = [0, *accumulate(map(len, parts))]
    begins = _chunks(sentence) if 0 < width < starts[-1] else [0, len(parts)]
    edges = [starts[place] for place in begins]
    texts = []
    for positions in examples:
        marked = {sentence.places[position - 1] for position in positions}
        own = {bisect_right(begins, place) - 1 for place in marked} or {0}
        kept = _nearest(edges, own, width)
        texts.append(_joined(sentence, parts, marked, [begins[n : n + 2] for n in kept]))
    return texts


def _joined(
    sentence: Written, parts: list[str], marked: set[int], kept: Iterable[Sequence[int]]
) -> str:
    """Return the pieces in these ranges, with marks, and with cuts between them."""
    (opening, closing), shown = sentence.brackets, parts.copy()
    for place in marked:
        word, space = sentence.words[place], sentence.spaces[place]
        shown[place] = f"{2 * opening}{word}{2 * closing}{space}"
    text, end, cut = "", 0, f"{opening}{CUT}{closing}"
    for first, after in kept:
        text += cut + sentence.spaces[first - 1] if end < first else ""
        text += "".join(shown[first:after])
        end = after
    return (text + cut if end < len(parts) else text).rstrip()


def _chunks(sentence: Written) -> list[int]:
    """Return the pieces with which something begins that goes as one, and their number."""
    words, spaces = sentence.words, sentence.spaces
    apart = [place for place in range(1, len(words)) if not _leans(words[place])]
    begins = [0, *(place for place in apart if _WHITE.search(spaces[place - 1])), len(words)]
    long = [
        (first, after)
        for first, after in pairwise(begins)
        if sum(map(len, words[first:after])) > _LONG
    ]
    more = {place for place in apart if any(first < place < after for first, after in long)}
    return sorted(more.union(begins))


def _leans(word: str) -> bool:
    """Return whether the first character belongs to the one before."""
    return not word[0].isascii() and (
        word[0] in _JOINERS or unicodedata.category(word[0])[0] == "M"
    )


def _nearest(edges: Sequence[int], own: Collection[int], width: int) -> list[int]:
    """Return which chunks there is room for, given those that stay and where each begins."""
    kept, room = set(own), width - sum(edges[n + 1] - edges[n] for n in own)
    ends = len(edges) - 1
    front = [(0, n + step, step) for n in own for step in (-1, 1)]
    heapify(front)
    while front:
        away, n, step = heappop(front)
        if n in kept or not 0 <= n < ends:
            continue
        size = edges[n + 1] - edges[n]
        room -= size
        if room < 0:
            break
        kept.add(n)
        heappush(front, (away + size, n + step, step))
    return sorted(kept)
