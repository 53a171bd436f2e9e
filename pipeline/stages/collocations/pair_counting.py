"""Pairs of a part of a corpus, and the counts that are made of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from pipeline import room
from pipeline.errors import DataError
from pipeline.kernels.cooccurrence import documents, textual, windows
from pipeline.kernels.cooccurrence.pairs import COLUMNS, in_sentence, pair_tokens
from pipeline.kernels.cooccurrence.tally import DOCUMENT
from pipeline.kernels.cooccurrence.token_index import in_order
from pipeline.kernels.cooccurrence.tokens import PLACE, TOKEN, longest
from pipeline.kernels.cooccurrence.units import LABELS, Unit, units
from pipeline.stages.collocations.relations import RelationOptions
from schemas import UnitCounts

LEFT, RIGHT = 1, 2
"""The sides of a pair, in `schemas.UnitCounts`."""
ENDLESS = 1_000
"""Tokens from which on a sentence is none."""

ENDLESS_PAIRS = 10**11
"""Pairs from which on it would take days to find those of a text."""
_ROW = 40
"""Bytes that a pair takes while it is counted."""
AT_A_TIME = 1_000_000
"""Pair tokens that are held: a long sentence, whose words all go together, comes in parts."""
_PAIR = 1024
"""Bytes of a limited memory for each of them: they are sorted, and counted, besides."""

_LABEL = pl.Categorical(pl.Categories(LABELS))
_NO_MARGINALS = UnitCounts.zero_rows().with_columns(pl.col("unit").cast(_LABEL))
_NO_PAIRS = pl.DataFrame(
    schema={name: _LABEL if name in {"l1", "l2"} else pl.Int64() for name in COLUMNS}
)


@dataclass(frozen=True)
class Found:
    """What one part of a corpus gives, or some of it.

    Parameters
    ----------
    pairs : DataFrame
        The pairs to count, see `pipeline.kernels.cooccurrence.pairs.COLUMNS`.
    marginals : LazyFrame
        As `schemas.UnitCounts`, to be added up; empty where they are sums over the pairs.
    total : int
        What the counts are out of; 0 where it is their sum.
    """

    pairs: pl.DataFrame = field(default_factory=lambda: _NO_PAIRS)
    marginals: pl.LazyFrame = field(default_factory=lambda: _NO_MARGINALS)
    total: int = 0


def find(
    tokens: pl.DataFrame,
    *,
    left: Unit,
    right: Unit,
    options: RelationOptions,
    columns: Sequence[str] = COLUMNS,
) -> Iterator[Found]:
    """Yield the pairs of a part of a corpus by the relation asked for, so many that fit in memory.

    Parameters
    ----------
    tokens : DataFrame
        As `places.numbered` gives them.
    left, right : Unit
        What to pair.
    options : RelationOptions
        Which of them belong together.
    columns : sequence of str
        Which are wanted of the pairs, l1 and l2 among them; there may be more.
    """
    if options.relation == "dependency":
        plan = pair_tokens(tokens.lazy(), left=left, right=right, relation=options.syntactic)
        yield Found(plan.collect())
        return
    first = in_order(units(tokens.lazy(), left).collect(engine="in-memory"))
    second = first if left is right else units(tokens.lazy(), right).collect(engine="in-memory")
    if options.relation == "sentence":
        matches = _matches(first, second, PLACE)
        _require_few(matches, first, second, tokens)
        for some in in_parts(first, matches):
            yield Found(in_sentence(some.lazy(), second.lazy()).collect())
    elif options.relation == "adjacent":
        simple = left is right and not options.gap
        paired = windows.neighbours(first, columns) if simple else None
        if paired is None:
            span = windows.following(options.gap)
            yield from _in_span(first, second, tokens, span, columns)
        else:
            yield Found(paired)
    elif options.relation == "surface":
        yield from _in_span(first, second, tokens, options.span, columns)
    else:
        yield from _textual(first, second, tokens, options)


def in_parts(units: pl.DataFrame, pairs: pl.Series | int) -> Iterator[pl.DataFrame]:
    """Yield units, in order, in parts that have about `AT_A_TIME` pairs; at least one part.

    Parameters
    ----------
    units : DataFrame
        One a row.
    pairs : Series of int, or int
        How many pairs each may have at the most.
    """
    most = min(AT_A_TIME, max(1, room.room() // _PAIR)) if room.goes_to_disk() else AT_A_TIME
    if isinstance(pairs, int):
        step = max(1, most // max(1, pairs))
        yield from (units[at : at + step] for at in range(0, max(1, units.height), step))
        return
    each = pairs.to_numpy().astype(np.float64)
    part = (np.cumsum(each) - each) // most
    starts = np.flatnonzero(np.diff(part, prepend=-1.0))
    for start, end in itertools.pairwise([*(starts.tolist() or [0]), units.height]):
        yield units[start:end]


def _require_few(
    matches: pl.Series, first: pl.DataFrame, second: pl.DataFrame, tokens: pl.DataFrame
) -> None:
    """Refuse more pairs than there is room or time for."""
    pairs, most = int(matches.sum()), longest(tokens)
    types = first.get_column("unit").n_unique() * second.get_column("unit").n_unique()
    file = ", ".join(tokens.get_column("file").head(1))
    what = f"{file}: its longest sentence has {most:,} tokens; pairs of such a text"
    otherwise = "cut the text into sentences, or pair by a narrower relation"
    if pairs > ENDLESS_PAIRS:
        raise DataError(f"{what}, {pairs:,}, would take days\nTo go on, {otherwise}.")
    if not room.goes_to_disk():
        room.require(min(pairs, types) * _ROW, f"{what} ({pairs:,})", otherwise=otherwise)


def _matches(first: pl.DataFrame, second: pl.DataFrame, key: str) -> pl.Series:
    """Return for each row how many of the second table have its key."""
    numbers = second.group_by(key).agg(pl.len().cast(pl.Int64).alias("_number"))
    joined = first.select(key).join(numbers, on=key, how="left", maintain_order="left")
    return joined.get_column("_number").fill_null(0)


def _in_span(
    first: pl.DataFrame,
    second: pl.DataFrame,
    tokens: pl.DataFrame,
    span: windows.Span,
    columns: Sequence[str],
) -> Iterator[Found]:
    """Yield the pairs in the spans of nodes, and the marginals where they are not over pairs."""
    text = windows.text_of(second, tokens)
    span = span.within(text.longest)
    own = span.count == "positions"
    for some in in_parts(windows.started(first, span), span.left + span.right):
        pairs, positions = windows.in_span(some, text, span, columns)
        yield Found(pairs, _side(LEFT, positions) if own else _NO_MARGINALS)
    if span.count == "nodes":
        yield Found(_NO_PAIRS, _side(LEFT, _frequencies(first)))
    if span.count != "windows":
        yield Found(_NO_PAIRS, _side(RIGHT, _frequencies(second)), tokens.height)


def _frequencies(units: pl.DataFrame) -> pl.DataFrame:
    return units.group_by("unit").agg(f=pl.len().cast(pl.Int64))


def _textual(
    first: pl.DataFrame, second: pl.DataFrame, tokens: pl.DataFrame, options: RelationOptions
) -> Iterator[Found]:
    numbered = _text_units(tokens.lazy(), options.text_unit)
    places = tokens.lazy().select(pl.col(TOKEN).alias("token_1"), PLACE)
    one, two = (
        textual.types(each.lazy().join(numbered, on=TOKEN)).collect() for each in (first, second)
    )
    one = one.sort(TOKEN)
    matches = _matches(one, two, textual.TEXT_UNIT)
    _require_few(matches, one, two, tokens)
    for some in in_parts(one, matches):
        pairs = textual.together(some.lazy(), two.lazy()).join(places, on="token_1")
        yield Found(pairs.select(COLUMNS).collect())
    for side, each in ((LEFT, one), (RIGHT, two)):
        yield Found(_NO_PAIRS, _side(side, textual.occurrences(each.lazy()).collect()))
    total = numbered.select(pl.col(textual.TEXT_UNIT).n_unique()).collect().item()
    yield Found(_NO_PAIRS, total=int(total))


def _text_units(tokens: pl.LazyFrame, within: str) -> pl.LazyFrame:
    """Give numbers to the parts of the text; a token outside of all paragraphs is in none."""
    names = {"sentence": [PLACE], "paragraph": ["file", "paragraph"], "document": ["file", "doc"]}
    changes = [pl.col(name).ne_missing(pl.col(name).shift()) for name in names[within]]
    number = pl.any_horizontal(changes).cum_sum().cast(pl.Int64).alias(textual.TEXT_UNIT)
    some = tokens.filter(pl.col("paragraph").is_not_null()) if within == "paragraph" else tokens
    return some.with_columns(number).select(TOKEN, textual.TEXT_UNIT)


def _side(side: int, found: pl.DataFrame) -> pl.LazyFrame:
    return found.lazy().select(side=pl.lit(side, pl.Int64), unit="unit", f="f")


def sizes(tokens: pl.DataFrame, sentences: pl.DataFrame, before: pl.DataFrame) -> pl.LazyFrame:
    """Return what this part has, as `schemas.CorpusSize`; a document counts where it begins.

    Parameters
    ----------
    tokens : DataFrame
        Those of this part.
    sentences : DataFrame
        As `documents.sentences` gives them.
    before : DataFrame
        What the part before left open.
    """
    held = sentences.get_column(DOCUMENT).n_unique()
    found = {
        "tokens": tokens.height,
        "sentences": sentences.height,
        "documents": held - documents.goes_on(sentences, before),
    }
    if endless := tokens.filter(pl.col("position") == ENDLESS).height:
        found[f"sentences of {ENDLESS:,} tokens or more"] = endless
    return numbers(found)


def numbers(found: Mapping[str, int]) -> pl.LazyFrame:
    """Return numbers as `schemas.CorpusSize`."""
    schema = {"what": pl.String, "count": pl.Int64}
    return pl.LazyFrame(list(found.items()), schema=schema, orient="row")
