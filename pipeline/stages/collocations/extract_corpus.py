"""Extraction of pairs from a corpus: relations, counts in batches, marginals, examples."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from pipeline import memory
from pipeline.config_model import OptionModel
from pipeline.errors import DataError
from pipeline.kernels import cells
from pipeline.kernels.cells import NO_WORD
from pipeline.kernels.cooccurrence import concordance, counting
from pipeline.kernels.cooccurrence.concordance import FORM, SPACE_AFTER, SURFACE
from pipeline.kernels.cooccurrence.counting import DOCUMENT, KNOWN_BY, START, tally
from pipeline.kernels.cooccurrence.pairs import (
    COLUMNS,
    TEXT_UNIT,
    TOKEN_1,
    TOKEN_2,
    Dependency,
    Span,
    add_positions,
    add_span_start,
    by_key,
    following_span,
    in_sentence,
    in_span,
    neighbours,
    occurrences,
    pair_tokens,
    shared_types,
    text_of,
    together,
    types,
)
from pipeline.kernels.cooccurrence.tokens import (
    LABEL,
    LABELS,
    PLACE,
    TOKEN,
    Unit,
    in_order,
    longest,
    number_tokens,
    units,
)
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import (
    CorpusSource,
    Counting,
    DocumentBounds,
    Late,
    Outputs,
    SeedOptions,
    Tables,
    WordSource,
    stage,
)
from pipeline.stages.collocations.units import DependencyOptions, UnitOptions
from pipeline.stages.inputs import require, require_attributes
from schemas import Candidates, CorpusSize, Examples, OpenPairCounts, UnitCounts
from schemas.candidates import ACROSS

# Options of examples

PAIR = ("l1", "l2")


class ExampleOptions(SeedOptions):
    """Options for example sentences."""

    examples: int = Field(default=0, ge=0)
    """Number of example sentences per candidate, chosen at random."""
    form: str = FORM
    """Attribute shown in examples."""
    example_width: int = Field(default=200, ge=0)
    """Maximum length of an example in characters; 0 for whole sentences."""

    def example_attributes(self) -> dict[str, set[str]]:
        """Return the attribute of option form, if there are examples."""
        return {"form": {self.form}} if self.examples else {}

    def example_columns(self) -> set[str]:
        """Return the columns needed to write sentences, if there are examples."""
        return {self.form, SURFACE, SPACE_AFTER} if self.examples else set()

    def from_tokens(
        self,
        located: pl.LazyFrame,
        tokens: pl.LazyFrame,
        *,
        units: Sequence[str] = PAIR,
        number: int = 2,
    ) -> pl.LazyFrame:
        """Choose examples from one part of a corpus.

        Parameters
        ----------
        located : LazyFrame
            Pair or tuple tokens with their positions, see `concordance.draw`.
        tokens : LazyFrame
            The part, in order.
        units : sequence of str
            The columns with the units of a candidate.
        number : int
            Number of tokens to mark, by position_1, position_2 ...
        """
        places = [f"position_{i}" for i in range(1, number + 1)]
        drawn = concordance.draw(
            located, most=self.examples, seed=self.seed, units=units, positions=places
        )
        return concordance.sentences(
            drawn, tokens, form=self.form, width=self.example_width, positions=places
        )


# Counts of occurrences: a document that may continue in another batch has separate rows, identified
# in `ACROSS`, since it must be counted as one document

_NONE = pl.lit(None, pl.String()).alias(ACROSS)

RAW = ("occurrences", "documents")
"""The tables of a batch for `count_occurrences`."""


def used_columns(key: Sequence[str], sentences: pl.DataFrame) -> Sequence[str]:
    """Return the columns of occurrences used by `occurrence_tables`.

    Parameters
    ----------
    key : sequence of str
        Columns with labels.
    sentences : DataFrame
        From `counting.sentences`.
    """
    return key if _is_one(sentences.get_column(DOCUMENT)) else [*key, PLACE]


def _is_one(numbers: pl.Series) -> bool:
    """Return true if all sentences are in one document."""
    return numbers.len() == 0 or bool(numbers[0] == numbers[-1])


def occurrence_tables(batch: pl.DataFrame, key: Sequence[str], sentences: pl.DataFrame) -> Outputs:
    """Return the tables for `count_occurrences` from a batch or some of its occurrences.

    Parameters
    ----------
    batch : DataFrame
        One occurrence per row, with its key and sentence, see `used_columns`. Pieces are in text
        order.
    key : sequence of str
        Columns with labels.
    sentences : DataFrame
        From `counting.sentences`.
    """
    numbers = sentences.get_column(DOCUMENT)
    one = _is_one(numbers)
    document = numbers.head(1) if one else numbers.gather(batch.get_column(PLACE))
    alone = pl.lit(numbers[0] if numbers.len() else 0, pl.UInt32).alias(DOCUMENT)
    rows = batch.select(*key, alone if one else document)
    known = sentences.select(DOCUMENT, *KNOWN_BY).unique(DOCUMENT)
    return {"occurrences": rows, "documents": known}


def count_occurrences(
    tables: Mapping[str, pl.DataFrame], key: Sequence[str], bounds: DocumentBounds
) -> Outputs:
    """Return the counts of occurrences in some batches.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        `RAW`: the occurrences, and the documents of their sentences.
    key : sequence of str
        Columns with labels.
    bounds : Bounds
        Continuation of documents beyond the batches.
    """
    rows = tables["occurrences"]
    ends = rows.select(first=pl.col(DOCUMENT).min(), last=pl.col(DOCUMENT).max()).row(0)
    edges = zip(ends, (bounds.starts_before, bounds.continues_after), strict=True)
    open_ = {end for end, may in edges if may and end is not None}
    counts = tally(rows, key, across=open_)
    name = pl.format("{} {}", START, "file").alias(ACROSS)
    names = tables["documents"].filter(pl.col(DOCUMENT).is_in(open_)).unique(DOCUMENT)
    table = counts.join(names.select(DOCUMENT, name), on=DOCUMENT, how="left")
    return {"counts": table.drop(DOCUMENT)}


def add_counts(counts: pl.LazyFrame, key: Sequence[str]) -> pl.LazyFrame:
    """Sum the counts of parts of a corpus.

    Parameters
    ----------
    counts : LazyFrame
        Key, f, documents and `ACROSS`.
    key : sequence of str
        Columns with labels.

    Returns
    -------
    LazyFrame
        The same columns; documents that cross boundaries still have separate rows.
    """
    names = _open_documents(counts)
    f, one = pl.sum("f"), pl.lit(1, pl.Int64).alias("documents")
    sums = by_key(counts.filter(pl.col(ACROSS).is_null()), key, f, pl.sum("documents"))
    sums = sums.with_columns(_NONE)
    if names == [None]:
        return sums
    open_ = counts.filter(pl.col(ACROSS).is_not_null())
    known = [name for name in names if name is not None]
    if len(known) == 1:  # a text of one document: its name need not be compared
        apart = by_key(open_, key, f).with_columns(one, pl.lit(known[0]).alias(ACROSS))
    else:
        apart = by_key(open_, [*key, ACROSS], f).with_columns(one)
    apart = apart.select(*key, "f", "documents", ACROSS)
    return apart if None not in names else pl.concat([sums, apart])


def _open_documents(counts: pl.LazyFrame) -> list[str | None]:
    """Return the documents that cross boundaries; None if some do not, or there are none."""
    return counts.select(pl.col(ACROSS).unique()).collect().to_series().to_list() or [None]


def close_documents(counts: pl.LazyFrame, key: Sequence[str]) -> pl.LazyFrame:
    """Return final counts with one row per type.

    Parameters
    ----------
    counts : LazyFrame
        From `add_counts`.
    key : sequence of str
        Columns with labels.
    """
    names = _open_documents(counts)
    if names == [None]:
        return counts
    if len(names) == 1:
        return counts.with_columns(_NONE)
    return by_key(counts, key, pl.sum("f"), pl.sum("documents")).with_columns(_NONE)


# Options of relations


class AdjacentOptions(OptionModel):
    """Adjacent units."""

    gap: int = Field(default=0, ge=0)
    """Maximum number of tokens between the units; 0 for direct neighbours only."""


class SurfaceOptions(OptionModel):
    """Units in the span of a node, the left unit."""

    left: int = Field(default=5, ge=0)
    """Size of the span before the node; tokens."""
    right: int = Field(default=5, ge=0)
    """Size of the span after the node; tokens."""
    within: Literal["sentence", "paragraph", "document"] = "sentence"
    """Boundary of spans."""
    count: Literal["positions", "windows", "nodes"] = "positions"
    """Unit of f, f1, f2 and N: "positions" in spans; "windows", pairs of node and unit; or
    "nodes" (see docs/measures.md).
    """

    @model_validator(mode="after")
    def _wide(self) -> SurfaceOptions:
        if not self.left + self.right:
            raise ValueError("left and right are both 0, so the span is empty")
        return self

    def kernel(self) -> Span:
        """Return the span for the kernels."""
        return Span(self.left, self.right, self.count)


class TextualOptions(OptionModel):
    """Units that co-occur in a part of a text."""

    within: Literal["sentence", "paragraph", "document"] = "sentence"
    """The text unit that f, f1, f2 and N count."""


Relation = Literal["sentence", "dependency", "adjacent", "surface", "textual"]
Whole = Literal["sentence", "paragraph", "document", "file"]


class RelationOptions(OptionModel):
    """The relation between units."""

    relation: Relation = "sentence"
    """Co-occurrence: "sentence", "dependency" (syntactic), "adjacent", "surface" (in a span) or
    "textual".
    """
    dependency: DependencyOptions | None = None
    """Syntactic relation, for relation = "dependency"."""
    adjacent: AdjacentOptions | None = None
    """Distance, for relation = "adjacent"."""
    surface: SurfaceOptions | None = None
    """Span, for relation = "surface"."""
    textual: TextualOptions | None = None
    """Text unit, for relation = "textual"."""

    @model_validator(mode="after")
    def _check_options(self) -> RelationOptions:
        for name in ("dependency", "adjacent", "surface", "textual"):
            if getattr(self, name) is not None and self.relation != name:
                raise ValueError(f'{name} = {{...}} requires relation = "{name}"')
        if self.relation == "dependency" and self.dependency is None:
            raise ValueError('relation = "dependency" requires dependency = {...}')
        return self

    @property
    def syntactic(self) -> Dependency | None:
        """The syntactic relation, if any."""
        return self.dependency.kernel() if self.dependency else None

    @property
    def span(self) -> Span:
        """The span of surface co-occurrence."""
        return (self.surface or SurfaceOptions()).kernel()

    @property
    def span_within(self) -> Literal["sentence", "paragraph", "document"]:
        """Boundary of spans."""
        return self.surface.within if self.surface else "sentence"

    @property
    def gap(self) -> int:
        """Maximum number of tokens between adjacent units."""
        return (self.adjacent or AdjacentOptions()).gap

    @property
    def text_unit(self) -> Literal["sentence", "paragraph", "document"]:
        """The text unit that must be processed as a whole."""
        return (
            (self.textual or TextualOptions()).within if self.relation == "textual" else "sentence"
        )

    @property
    def whole(self) -> Whole:
        """The text unit that batches must not divide, see `Counting.whole`."""
        return self.text_unit if self.span_within == "sentence" else "file"

    @property
    def relational(self) -> bool:
        """True if marginals are sums over pair tokens."""
        own = self.relation == "surface" and self.span.count != "windows"
        return not own and self.relation != "textual"

    @property
    def by_node(self) -> bool:
        """True if f counts nodes, and so can exceed f2."""
        return self.relation == "surface" and self.span.count == "nodes"


# Pairs of a part of a corpus

LEFT, RIGHT = 1, 2
"""The sides of a pair, in `schemas.UnitCounts`."""
ENDLESS = 1_000
"""Number of tokens from which a sentence is implausible."""

ENDLESS_PAIRS = 10**11
"""Number of pairs that would take days to extract."""
_ROW = 40
"""Memory per pair during counting; bytes."""
AT_A_TIME = 1_000_000
"""Pair tokens in memory: long sentences are processed in parts."""
_PAIR_BYTES = 1024
"""Memory per pair token, including sorting and counting; bytes."""

_LABEL = pl.Categorical(pl.Categories(LABELS))
_NO_MARGINALS = UnitCounts.zero_rows().with_columns(pl.col("unit").cast(_LABEL))
_NO_PAIRS = pl.DataFrame(
    schema={name: _LABEL if name in {"l1", "l2"} else pl.Int64() for name in COLUMNS}
)


@dataclass(frozen=True)
class PartPairs:
    """Pairs and marginals of (a piece of) one part of a corpus.

    Parameters
    ----------
    pairs : DataFrame
        The pairs to count, see `pipeline.kernels.cooccurrence.pairs.COLUMNS`.
    marginals : LazyFrame
        As `schemas.UnitCounts`, to be summed; empty if they are sums over the pairs.
    total : int
        Sample size; 0 if it is the sum of the counts.
    """

    pairs: pl.DataFrame = field(default_factory=lambda: _NO_PAIRS)
    marginals: pl.LazyFrame = field(default_factory=lambda: _NO_MARGINALS)
    total: int = 0


def find_pairs(
    tokens: pl.DataFrame,
    *,
    left: Unit,
    right: Unit,
    options: RelationOptions,
    columns: Sequence[str] = COLUMNS,
    context: pl.DataFrame | None = None,
) -> Iterator[PartPairs]:
    """Yield the pairs of a part of a corpus in pieces that fit in memory.

    Parameters
    ----------
    tokens : DataFrame
        From `tokens.number_tokens`.
    left, right : Unit
        The units to pair.
    options : RelationOptions
        The relation.
    columns : sequence of str
        Required columns of the pairs, including l1 and l2; there may be more.
    context : DataFrame, optional
        Preceding tokens within reach of spans, see `span_context`.
    """
    if options.span_within != "sentence":
        context = tokens.clear() if context is None else context
        yield from _over_sentences(context, tokens, left=left, right=right, options=options)
        return
    if options.relation == "dependency":
        plan = pair_tokens(tokens.lazy(), left=left, right=right, relation=options.syntactic)
        yield PartPairs(plan.collect())
        return
    first = in_order(units(tokens.lazy(), left).collect(engine="in-memory"))
    second = first if left is right else units(tokens.lazy(), right).collect(engine="in-memory")
    if options.relation == "sentence":
        matches = _matches(first, second, PLACE)
        _require_few(matches, first, second, tokens)
        for some in in_parts(first, matches):
            yield PartPairs(in_sentence(some.lazy(), second.lazy()).collect())
    elif options.relation == "adjacent":
        simple = left is right and not options.gap and left.width == 1
        paired = neighbours(first, columns) if simple else None
        if paired is None:
            span = replace(following_span(options.gap), width=left.width)
            yield from _in_span(first, second, tokens, span, columns)
        else:
            yield PartPairs(paired)
    elif options.relation == "surface":
        span = replace(options.span, width=left.width)
        yield from _in_span(first, second, tokens, span, columns)
    else:
        yield from _textual(first, second, tokens, options)


def in_parts(units: pl.DataFrame, pairs: pl.Series | int) -> Iterator[pl.DataFrame]:
    """Yield units in order, in pieces of about `AT_A_TIME` pairs; at least one piece.

    Parameters
    ----------
    units : DataFrame
        One per row.
    pairs : Series of int, or int
        Maximum number of pairs of each.
    """
    most = (
        min(AT_A_TIME, max(1, memory.available_bytes() // _PAIR_BYTES))
        if memory.is_limited()
        else AT_A_TIME
    )
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
    """Reject more pairs than memory or time allow."""
    pairs, most = int(matches.sum()), longest(tokens)
    types = first.get_column("unit").n_unique() * second.get_column("unit").n_unique()
    file = ", ".join(tokens.get_column("file").head(1))
    what = f"{file}: the longest sentence has {most:,} tokens; pairs of such a text"
    otherwise = "split the text into sentences, or use a narrower relation"
    if pairs > ENDLESS_PAIRS:
        raise DataError(f"{what}, {pairs:,}, would take days\nTo go on, {otherwise}.")
    if not memory.is_limited():
        memory.require(min(pairs, types) * _ROW, f"{what} ({pairs:,})", otherwise=otherwise)


def _matches(first: pl.DataFrame, second: pl.DataFrame, key: str) -> pl.Series:
    """Return for each row the number of rows of the second table with its key."""
    numbers = second.group_by(key).agg(pl.len().cast(pl.Int64).alias("_number"))
    joined = first.select(key).join(numbers, on=key, how="left", maintain_order="left")
    return joined.get_column("_number").fill_null(0)


def _in_span(
    first: pl.DataFrame,
    second: pl.DataFrame,
    tokens: pl.DataFrame,
    span: Span,
    columns: Sequence[str],
) -> Iterator[PartPairs]:
    """Yield the pairs in spans of nodes, and marginals unless they are sums over pairs."""
    text = text_of(second, tokens)
    span = span.within(text.longest)
    own = span.count == "positions"
    for some in in_parts(add_span_start(first, span), span.left + span.right):
        pairs, positions = in_span(some, text, span, columns)
        yield PartPairs(pairs, _side(LEFT, positions) if own else _NO_MARGINALS)
    if span.count == "nodes":
        yield PartPairs(_NO_PAIRS, _side(LEFT, _frequencies(first)))
    if span.count != "windows":
        yield PartPairs(_NO_PAIRS, _side(RIGHT, _frequencies(second)), tokens.height)


def _over_sentences(
    context: pl.DataFrame,
    tokens: pl.DataFrame,
    *,
    left: Unit,
    right: Unit,
    options: RelationOptions,
) -> Iterator[PartPairs]:
    """Like `_in_span`, for spans that end at paragraphs or documents.

    The preceding tokens are included; pairs among them have been counted before.
    """
    both, before = _with_context(context, tokens, options), context.height
    span = replace(options.span, width=left.width)
    first = in_order(units(both.lazy(), left).collect(engine="in-memory"))
    second = first if left is right else units(both.lazy(), right).collect(engine="in-memory")
    text, place = text_of(second, both), tokens.get_column(PLACE)
    span = span.within(text.longest)
    for some in in_parts(add_span_start(first, span), span.left + span.right):
        pairs, positions = in_span(some, text, span, before=before)
        pairs = pairs.with_columns(pl.col(TOKEN_1, TOKEN_2) - before)
        sentence = place.gather(pairs.get_column(TOKEN_1).clip(0))
        own = span.count == "positions"
        yield PartPairs(
            pairs.with_columns(sentence.alias(PLACE)),
            _side(LEFT, positions) if own else _NO_MARGINALS,
        )
    first, second = (each.filter(pl.col(TOKEN) >= before) for each in (first, second))
    if span.count == "nodes":
        yield PartPairs(_NO_PAIRS, _side(LEFT, _frequencies(first)))
    if span.count != "windows":
        yield PartPairs(_NO_PAIRS, _side(RIGHT, _frequencies(second)), tokens.height)


def _with_context(
    context: pl.DataFrame, tokens: pl.DataFrame, options: RelationOptions
) -> pl.DataFrame:
    """Return tokens with the preceding ones, numbered; `PLACE` identifies the span boundary."""
    known = tokens.drop(TOKEN, PLACE)
    both = pl.concat([context.select(known.columns), known]) if context.height else known
    names = ["file", "doc", "paragraph"][: 2 + (options.span_within == "paragraph")]
    changes = [pl.col(name).ne_missing(pl.col(name).shift()) for name in names]
    if options.span_within == "paragraph":  # outside paragraphs, spans end with the sentence
        sentence = pl.col("sentence").ne_missing(pl.col("sentence").shift())
        changes.append(pl.col("paragraph").is_null() & sentence)
    place = pl.any_horizontal(changes).cum_sum().cast(pl.Int64).alias(PLACE)
    return both.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(TOKEN), place)


def span_context(
    context: pl.DataFrame, tokens: pl.DataFrame, options: RelationOptions, *, width: int = 1
) -> pl.DataFrame:
    """Return the last sentences of a batch within reach of spans in the next one.

    Parameters
    ----------
    context, tokens : DataFrame
        The preceding tokens and those of this batch.
    options : RelationOptions
        The relation.
    width : int
        Number of tokens of a left unit.
    """
    if options.span_within == "sentence" or tokens.is_empty():
        return context
    both = _with_context(context, tokens, options)
    reach = options.span.left + options.span.right + width - 1
    last = both.filter(pl.col(PLACE) == both.item(-1, PLACE))
    sentence = last.item(max(0, last.height - reach), "sentence")
    return last.filter(pl.col("sentence") >= sentence).drop(TOKEN, PLACE)


def _frequencies(units: pl.DataFrame) -> pl.DataFrame:
    return units.group_by("unit").agg(f=pl.len().cast(pl.Int64))


def _textual(
    first: pl.DataFrame, second: pl.DataFrame, tokens: pl.DataFrame, options: RelationOptions
) -> Iterator[PartPairs]:
    numbered = _text_units(tokens.lazy(), options.text_unit)
    places = tokens.lazy().select(pl.col(TOKEN).alias("token_1"), PLACE)
    units_1, units_2 = (each.lazy().join(numbered, on=TOKEN) for each in (first, second))
    one, two = types(units_1).collect().sort(TOKEN), types(units_2).collect()
    shared = None if first is second else shared_types(units_1, units_2).collect().lazy()
    matches = _matches(one, two, TEXT_UNIT)
    _require_few(matches, one, two, tokens)
    for some in in_parts(one, matches):
        pairs = together(some.lazy(), two.lazy(), shared).join(places, on="token_1")
        yield PartPairs(pairs.select(COLUMNS).collect())
    for side, each in ((LEFT, one), (RIGHT, two)):
        yield PartPairs(_NO_PAIRS, _side(side, occurrences(each.lazy()).collect()))
    total = numbered.select(pl.col(TEXT_UNIT).n_unique()).collect().item()
    yield PartPairs(_NO_PAIRS, total=int(total))


def _text_units(tokens: pl.LazyFrame, within: str) -> pl.LazyFrame:
    """Add numbers of text units; tokens outside paragraphs have none."""
    names = {"sentence": [PLACE], "paragraph": ["file", "paragraph"], "document": ["file", "doc"]}
    changes = [pl.col(name).ne_missing(pl.col(name).shift()) for name in names[within]]
    number = pl.any_horizontal(changes).cum_sum().cast(pl.Int64).alias(TEXT_UNIT)
    some = tokens.filter(pl.col("paragraph").is_not_null()) if within == "paragraph" else tokens
    return some.with_columns(number).select(TOKEN, TEXT_UNIT)


def _side(side: int, counts: pl.DataFrame | pl.LazyFrame) -> pl.LazyFrame:
    return counts.lazy().select(side=pl.lit(side, pl.Int64), unit="unit", f="f")


def unit_sizes(tokens: pl.DataFrame, sentences: pl.DataFrame, before: pl.DataFrame) -> pl.LazyFrame:
    """Return the totals of this part, as `schemas.CorpusSize`; documents count where they begin.

    Parameters
    ----------
    tokens : DataFrame
        The tokens of this part.
    sentences : DataFrame
        From `counting.sentences`.
    before : DataFrame
        The document continued from the previous part.
    """
    documents = sentences.get_column(DOCUMENT).n_unique()
    sizes = {
        "tokens": tokens.height,
        "sentences": sentences.height,
        "documents": documents - counting.goes_on(sentences, before),
    }
    if endless := tokens.filter(pl.col("position") == ENDLESS).height:
        sizes[f"sentences of {ENDLESS:,} tokens or more"] = endless
    return numbers(sizes)


def numbers(counts: Mapping[str, int]) -> pl.LazyFrame:
    """Return counts as `schemas.CorpusSize`."""
    schema = {"what": pl.String, "count": pl.Int64}
    return pl.LazyFrame(list(counts.items()), schema=schema, orient="row")


_TOTAL = "sample size"
"""Name of N in `schemas.CorpusSize` if it is not the number of pair tokens."""


class ExtractPairs(ExampleOptions, RelationOptions):
    """Extract candidate pairs from a corpus, with frequency signatures."""

    corpus: CorpusSource
    """Corpus files: CoNLL-U, vertical, token table, plain text, TEI."""
    left: UnitOptions
    """Left units, l1."""
    right: UnitOptions
    """Right units, l2."""
    stop_words: WordSource | None = None
    """Labels to exclude on both sides: one per line, or in a column word."""
    left_words: WordSource | None = None
    """File with one word per line, or a table with a column word: only pairs whose l1 is in it
    are candidates; marginals do not change.
    """
    right_words: WordSource | None = None
    """The same for l2."""
    min_frequency: Annotated[int, Late()] = Field(default=1, ge=1)
    """Drop candidates with lower f; marginals do not change."""

    @property
    def listed_sides(self) -> dict[int, UnitOptions]:
        """The sides whose units are in a file."""
        sides = ((LEFT, self.left, self.left_words), (RIGHT, self.right, self.right_words))
        return {side: unit for side, unit, words in sides if words is not None}


PARTIALS = {
    "counts": OpenPairCounts,
    "marginals": UnitCounts,
    "examples": Examples,
    "corpus": CorpusSize,
    "words": UnitCounts,
}


def columns(config: ExtractPairs) -> set[str]:
    """Return the token columns used."""
    place = {"file", "doc", "sentence", "position", "paragraph"}
    return place.union(config.example_columns(), *_attributes(config).values())


def merge(config: ExtractPairs, tables: Tables) -> Outputs:
    """Sum the counts of parts of a corpus."""
    return {
        "counts": add_counts(tables["counts"], PAIR),
        "marginals": tables["marginals"].group_by("side", "unit").agg(pl.sum("f")),
        "examples": concordance.merge(tables["examples"], most=config.examples),
        "corpus": tables["corpus"].group_by("what").agg(pl.sum("count")),
        "words": tables.get("words", UnitCounts.zero_rows()).unique(),
    }


def tally_pairs(raw: Mapping[str, pl.DataFrame], bounds: DocumentBounds) -> Outputs:
    """Count the pairs of some batches."""
    return count_occurrences(raw, PAIR, bounds)


def close(tables: Tables) -> Outputs:
    """Merge the rows of each pair at the end of the input."""
    return {**tables, "counts": close_documents(tables["counts"], PAIR)}


def totals(config: ExtractPairs, tables: Tables) -> Outputs:
    """Return marginals that are sums over pairs, and N."""
    if not config.relational:
        return {"totals": UnitCounts.zero_rows()}
    counts = tables["counts"]
    sums = {side: counts.group_by(unit=f"l{side}").agg(pl.sum("f")) for side in (LEFT, RIGHT)}
    return {"totals": pl.concat(_side(side, each) for side, each in sums.items())}


def combine(config: ExtractPairs, tables: Tables) -> Outputs:
    """Join the marginals, then apply the threshold."""
    frequent = tables["counts"].filter(pl.col("f") >= config.min_frequency).drop(ACROSS)
    signatures = _signatures(frequent, config, tables)
    for side in config.listed_sides:
        words = tables["words"].filter(side=side).select(pl.col("unit").cast(LABEL))
        signatures = signatures.join(words, left_on=f"l{side}", right_on="unit", how="semi")
    order = ["id", "l1", "l2", "f", "f1", "f2", "N", "documents"]
    text = signatures.with_columns(pl.col("l1", "l2").cast(pl.String))
    if config.by_node:
        # A token of l2 in the spans of two nodes counts twice, so f could exceed f2.
        text = text.with_columns(nodes="f", f=pl.min_horizontal("f", "f2"))
        text, order = text.filter(pl.col("f") >= config.min_frequency), [*order, "nodes"]
    candidates = text.with_columns(candidate_id("l1", "l2")).select(order)
    examples = tables["examples"].join(candidates, on="id", how="semi")
    return {
        "candidates": candidates,
        "examples": concordance.merge(examples, most=config.examples),
        "corpus": tables["corpus"].sort("what"),
    }


def _signatures(counts: pl.LazyFrame, config: ExtractPairs, tables: Tables) -> pl.LazyFrame:
    """Join f1, f2 and N."""
    frequencies = tables["totals"] if config.relational else tables["marginals"]
    counts = counts.with_columns(pl.col(PAIR).cast(LABEL))
    for side in (LEFT, RIGHT):
        one = frequencies.filter(side=side).select(
            pl.col("unit").cast(LABEL).alias(f"l{side}"), pl.col("f").alias(f"f{side}")
        )
        counts = counts.join(one, on=f"l{side}", how="left")
    what = pl.col("what") == ("pair tokens" if config.relational else _TOTAL)
    total = tables["corpus"].filter(what).select(N=pl.col("count").sum())
    return counts.join(total, how="cross")


def _piece(
    config: ExtractPairs, part: PartPairs, tokens: pl.DataFrame, sentences: pl.DataFrame
) -> Outputs:
    counted = {"pair tokens": part.pairs.height} | ({_TOTAL: part.total} if part.total else {})
    return {
        **occurrence_tables(part.pairs, PAIR, sentences),
        "marginals": part.marginals,
        "examples": _examples(config, part.pairs.lazy(), tokens.lazy()),
        "corpus": numbers(counted),
    }


@stage(
    "extract.pairs",
    config=ExtractPairs,
    outputs={"candidates": Candidates, "examples": Examples, "corpus": CorpusSize},
    shards="corpus",
    counting=Counting(
        partials=PARTIALS,
        merge=merge,
        combine=combine,
        columns=columns,
        carry={"open": counting.OPEN, "context": pl.Schema()},
        whole=lambda config: config.whole,
        buckets={
            "counts": candidate_id(*PAIR),
            "examples": pl.col("id"),
            "candidates": pl.col("id"),
        },
        totals=totals,
        in_parts=True,
        raw=RAW,
        tally=tally_pairs,
        tallied=["counts"],
        close=close,
        total_tables={"totals": UnitCounts},
    ),
)
def extract_pairs(config: ExtractPairs, tables: Tables) -> Iterator[Outputs]:
    """Find the pairs in one part of a corpus, and choose examples."""
    require_attributes(tables["corpus"].collect_schema(), _attributes(config))
    tokens = number_tokens(tables["corpus"], in_order=True).collect()
    excluded = stop_words(tables)
    left = config.left.kernel(excluded)
    right = left if config.left == config.right else config.right.kernel(excluded)
    before, context = tables["open"].collect(), tables["context"].collect()
    sentences = counting.sentences(tokens.lazy(), before)
    if not counting.goes_on(sentences, before):
        context = context.clear()
    names = COLUMNS if config.examples else used_columns(PAIR, sentences)
    for part in find_pairs(
        tokens, left=left, right=right, options=config, columns=names, context=context
    ):
        yield _piece(config, part, tokens, sentences)
    last = _piece(config, PartPairs(), tokens, sentences)
    carried = {
        "open": counting.left_open(sentences, before),
        "context": span_context(context, tokens, config, width=left.width),
    }
    words = _listed_words(config, tables)
    yield {**last, "corpus": unit_sizes(tokens, sentences, before), "words": words, **carried}


def _listed_words(config: ExtractPairs, tables: Tables) -> pl.LazyFrame:
    """Return the words of the files that units have to be in."""
    options = {LEFT: "left_words", RIGHT: "right_words"}
    words = [
        pl.LazyFrame({"unit": unit.fold_words(words_of(tables, options[side]))}).select(
            side=pl.lit(side, pl.Int64), unit=pl.col("unit").cast(pl.String), f=pl.lit(0, pl.Int64)
        )
        for side, unit in config.listed_sides.items()
    ]
    return pl.concat([UnitCounts.zero_rows(), *words]).unique()


def stop_words(tables: Tables) -> list[str]:
    """Return the stop words, as `words_of`; none if there is no file."""
    return words_of(tables, "stop_words") if "stop_words" in tables else []


def words_of(tables: Tables, option: str) -> list[str]:
    """Return the column word of the files in an option.

    Raises
    ------
    DataError
        If a row has no word.
    """
    raw = tables[option]
    require(raw.collect_schema(), [(option, "word")])
    word = cells.text_or_null("word")
    wrong = cells.faults(raw, parsed={"word": word}, problem=NO_WORD, required=True).collect()
    if wrong.height:
        file, line, value = wrong.sort("file", "line").select("file", "line", "value").row(0)
        text = f": {value!r}" if value else ""
        raise DataError(f"{file}: line {line}: column word: {NO_WORD}{text}; correct this line")
    words = raw.select(pl.col("word").cast(pl.String))
    return words.unique(maintain_order=True).collect().to_series().to_list()


def _examples(config: ExtractPairs, pairs: pl.LazyFrame, tokens: pl.LazyFrame) -> pl.LazyFrame:
    if not config.examples:
        return Examples.zero_rows()
    return config.from_tokens(add_positions(pairs, tokens), tokens)


def _attributes(config: ExtractPairs) -> dict[str, set[str]]:
    """Return the attributes used by each option."""
    used = {f"left.{option}": names for option, names in config.left.columns().items()}
    used |= {f"right.{option}": names for option, names in config.right.columns().items()}
    if config.dependency:
        ours = config.dependency.columns().items()
        used |= {f"dependency.{option}": names for option, names in ours}
    return used | config.example_attributes()
