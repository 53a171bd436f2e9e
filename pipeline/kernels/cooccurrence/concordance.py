"""Concordances: random example sentences of candidates, with marked tokens."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise
from typing import NamedTuple

import polars as pl

from pipeline.kernels.sampling import candidate_id, seeded_key

# Text of sentences and contexts

SURFACE, SPACE_AFTER = "surface", "space_after"
"""Optional attributes: the surface of a token if different from its form, "" if included in the
previous token; and the text between it and the next token, null if unknown.
"""
FORM = "form"
"""The attribute replaced by `SURFACE`."""
SQUARE, WHITE = ("[", "]"), ("⟦", "⟧")
"""Brackets for marks, doubled; the second kind if the sentence contains the first."""
CUT = "…"
"""Replaces omitted words, in single brackets."""

_UNKNOWN = "_"
_LONG = 40
"""Characters without a space that may not be parted; more are no word, but a script without."""
_WHITE = re.compile(r"\s")
_JOINERS = "\u200c\u200d"


class RenderedSentence(NamedTuple):
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


def render(
    forms: Iterable[str | None], surfaces: Iterable[str | None], spaces: Iterable[str | None]
) -> RenderedSentence:
    """Return the surface of the tokens of a sentence.

    Parameters
    ----------
    forms : iterable of str or None
        The attribute to show.
    surfaces, spaces : iterable of str or None
        `SURFACE` and `SPACE_AFTER`.

    Examples
    --------
    >>> render(["de", "le", "[1]"], ["du", "", None], [None, "", " "])
    RenderedSentence(words=['du', '[1]'], spaces=['', ''], places=[0, 0, 1], brackets=('⟦', '⟧'))
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
        return RenderedSentence(words, after, places, SQUARE)
    plain = str.maketrans(dict(zip(WHITE, SQUARE, strict=True)))
    words, after = [[each.translate(plain) for each in parts] for parts in (words, after)]
    return RenderedSentence(words, after, places, WHITE)


def in_context(
    sentence: RenderedSentence, examples: Iterable[Collection[int]], *, width: int
) -> list[str]:
    """Return a sentence, shortened if necessary, for each choice of tokens to mark.

    Where it is longer than `width`, what is parted by white space goes as one: first what has most
    characters between itself and the next marked token, of two that are as far the right one.
    What holds a marked token stays, whatever its length; if none is marked, the beginning does.

    Parameters
    ----------
    sentence : RenderedSentence
        The sentence.
    examples : iterable of collection of int
        The tokens to mark, from 1.
    width : int
        Maximum number of characters without marks; 0 for all.

    Examples
    --------
    >>> forms, surfaces = "vue de le port de loin".split(), [None, "du", "", None, None, None]
    >>> sentence = render(forms, surfaces, [None] * 6)
    >>> in_context(sentence, [[1, 3], [4]], width=0)
    ['[[vue]] [[du]] port de loin', 'vue du [[port]] de loin']
    >>> in_context(sentence, [[1, 3], [4]], width=8)
    ['[[vue]] [[du]] […]', '[…] du [[port]] […]']
    """
    parts = [word + space for word, space in zip(sentence.words, sentence.spaces, strict=True)]
    starts = [0, *accumulate(map(len, parts))]
    begins = _chunk_starts(sentence) if 0 < width < starts[-1] else [0, len(parts)]
    edges = [starts[place] for place in begins]
    texts = []
    for positions in examples:
        marked = {sentence.places[position - 1] for position in positions}
        own = {bisect_right(begins, place) - 1 for place in marked} or {0}
        chunks = _nearest_chunks(edges, own, width)
        texts.append(_mark(sentence, parts, marked, [begins[n : n + 2] for n in chunks]))
    return texts


def _mark(
    sentence: RenderedSentence, parts: list[str], marked: set[int], ranges: Iterable[Sequence[int]]
) -> str:
    """Return the pieces in these ranges, with marks, and with cuts between them."""
    (opening, closing), texts = sentence.brackets, parts.copy()
    for place in marked:
        word, space = sentence.words[place], sentence.spaces[place]
        texts[place] = f"{2 * opening}{word}{2 * closing}{space}"
    text, end, cut = "", 0, f"{opening}{CUT}{closing}"
    for first, after in ranges:
        text += cut + sentence.spaces[first - 1] if end < first else ""
        text += "".join(texts[first:after])
        end = after
    return (text + cut if end < len(parts) else text).rstrip()


def _chunk_starts(sentence: RenderedSentence) -> list[int]:
    """Return the pieces with which something begins that goes as one, and their number."""
    words, spaces = sentence.words, sentence.spaces
    apart = [place for place in range(1, len(words)) if not _is_combining(words[place])]
    begins = [0, *(place for place in apart if _WHITE.search(spaces[place - 1])), len(words)]
    long = [
        (first, after)
        for first, after in pairwise(begins)
        if sum(map(len, words[first:after])) > _LONG
    ]
    more = {place for place in apart if any(first < place < after for first, after in long)}
    return sorted(more.union(begins))


def _is_combining(word: str) -> bool:
    """Return whether the first character belongs to the one before."""
    return not word[0].isascii() and (
        word[0] in _JOINERS or unicodedata.category(word[0])[0] == "M"
    )


def _nearest_chunks(edges: Sequence[int], own: Collection[int], width: int) -> list[int]:
    """Return which chunks there is room for, given those that stay and where each begins."""
    chunks, room = set(own), width - sum(edges[n + 1] - edges[n] for n in own)
    ends = len(edges) - 1
    front = [(0, n + step, step) for n in own for step in (-1, 1)]
    heapify(front)
    while front:
        away, n, step = heappop(front)
        if n in chunks or not 0 <= n < ends:
            continue
        size = edges[n + 1] - edges[n]
        room -= size
        if room < 0:
            break
        chunks.add(n)
        heappush(front, (away + size, n + step, step))
    return sorted(chunks)


_SENTENCE = ["file", "sentence"]
_PAIR, _POSITIONS = ("l1", "l2"), ("position_1", "position_2")


def draw(
    pairs: pl.LazyFrame,
    *,
    most: int,
    seed: str,
    units: Sequence[str] = _PAIR,
    positions: Sequence[str] = _POSITIONS,
) -> pl.LazyFrame:
    """Choose up to `most` pair tokens of each candidate.

    Parameters
    ----------
    pairs : LazyFrame
        file, doc, sentence, l1, l2, position_1, position_2; see `pairs.add_positions`.
    most : int
        Number per candidate.
    seed : str
        Fixes the choice, whatever the shards: the smallest keys are taken, so that the choice
        from parts, made again among their choices, is the choice from the whole. Tokens at the
        same place of two files have the same key: all of them are kept where one is, and `merge`
        chooses among them by what is written.
    units, positions : sequence of str
        The columns that say which candidate it is, and where its tokens are.

    Returns
    -------
    LazyFrame
        The same columns with id and draw_key.
    """
    pairs = pairs.with_columns(pl.col(units).cast(pl.String))
    columns = (*units, "doc", "sentence", *positions)
    place = pl.concat_str(columns, separator="|", ignore_nulls=True)
    keyed = pairs.with_columns(candidate_id(*units), _place=place).with_columns(
        draw_key=seeded_key("_place", seed=seed, purpose="examples")
    )
    ordered = keyed.drop("_place").sort("id", "draw_key", "doc", "sentence", "file", *positions)
    last = ordered.group_by("id").agg(_last=pl.col("draw_key").bottom_k(most).max())
    table = ordered.join(last, on="id", maintain_order="left")
    return table.filter(pl.col("draw_key") <= pl.col("_last")).drop("_last")


def sentences(
    drawn: pl.LazyFrame,
    tokens: pl.LazyFrame,
    *,
    form: str,
    width: int = 0,
    positions: Sequence[str] = _POSITIONS,
) -> pl.LazyFrame:
    """Return each drawn sentence with the tokens of the candidate in [[ ]].

    Omitted words are replaced by […]. If the sentence contains square brackets, ⟦⟦ ⟧⟧ and ⟦…⟧ are
    used, and its own ⟦ ⟧ become [ ].

    Parameters
    ----------
    drawn : LazyFrame
        From `draw`.
    tokens : LazyFrame
        In order: file, sentence, position, the attribute to show, and what there is of
        `SURFACE` and `SPACE_AFTER`.
    form : str
        The attribute to show.
    width : int
        Maximum number of characters, see `in_context`; 0 for all.
    positions : sequence of str
        The columns that say where the candidate's tokens are.

    Returns
    -------
    LazyFrame
        id, number (of the draw within this corpus), doc, text, draw_key.
    """
    some = tokens.join(drawn.select(_SENTENCE), on=_SENTENCE, how="semi", maintain_order="left")
    within = _sentence_lists(some, form)
    numbered = drawn.with_columns(number=_number()).with_row_index("example")
    examples = numbered.group_by(_SENTENCE).agg("example", places=pl.concat_list(positions))
    columns = ("forms", "surfaces", "spaces", "places")
    texts = pl.struct(columns).map_batches(
        lambda rows: _example_texts(rows, width), return_dtype=pl.List(pl.String())
    )
    contexts = (
        within.join(examples, on=_SENTENCE).select("example", text=texts).explode("example", "text")
    )
    joined = numbered.join(contexts, on="example", maintain_order="left")
    return joined.select("id", "number", "doc", "text", "draw_key")


def merge(parts: pl.LazyFrame, *, most: int) -> pl.LazyFrame:
    """Choose among the examples of all parts, and number them."""
    ordered = parts.sort("id", "draw_key", "doc", "text")
    examples = ordered.group_by("id", maintain_order=True).head(most)
    return examples.with_columns(number=_number()).select("id", "number", "doc", "text", "draw_key")


def _sentence_lists(tokens: pl.LazyFrame, form: str) -> pl.LazyFrame:
    """Return each sentence with the lists that `render` takes."""
    names = tokens.collect_schema().names()
    nothing = pl.lit(None, pl.String())
    lists = {
        "forms": pl.col(form).cast(pl.String),
        "surfaces": pl.col(SURFACE) if SURFACE in names and form == FORM else nothing,
        "spaces": pl.col(SPACE_AFTER) if SPACE_AFTER in names else nothing,
    }
    one = tokens.select(*_SENTENCE, **lists)
    return one.group_by(_SENTENCE, maintain_order=True).agg(pl.col(*lists))


def _example_texts(rows: pl.Series, width: int) -> pl.Series:
    """Return the texts of each sentence's examples."""
    texts = []
    for forms, surfaces, spaces, examples in rows.struct.unnest().iter_rows():
        marked = ([place for place in each if place is not None] for each in examples)
        texts.append(in_context(render(forms, surfaces, spaces), marked, width=width))
    return pl.Series(texts, dtype=pl.List(pl.String))


def _number() -> pl.Expr:
    return pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("id")
