"""Extraction of tuples from a corpus, and of pairs of groups of units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import polars as pl
from pydantic import Field, field_validator, model_validator

from pipeline import memory
from pipeline.errors import ConfigError, DataError, Problem
from pipeline.kernels.cooccurrence import concordance, counting
from pipeline.kernels.cooccurrence.counting import DOCUMENT
from pipeline.kernels.cooccurrence.pairs import add_positions, ambiguous, to_pairs
from pipeline.kernels.cooccurrence.tokens import (
    LABEL,
    PLACE,
    TOKEN,
    Unit,
    in_order,
    longest,
    number_tokens,
    units,
)
from pipeline.kernels.cooccurrence.tuples import (
    adjacent_tuples,
    elements,
    join_elements,
    pair_tuples,
    split_elements,
    subset_sums,
    with_subsets,
)
from pipeline.kernels.partitions import ranges_of
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import (
    CorpusSource,
    Counting,
    DocumentBounds,
    Late,
    Of,
    Outputs,
    StageConfig,
    Sums,
    Tables,
    WordSource,
    stage,
)
from pipeline.stages.collocations import extract_corpus
from pipeline.stages.collocations.extract_corpus import ExampleOptions, RelationOptions, stop_words
from pipeline.stages.collocations.extract_tables import FORMER, named_anew
from pipeline.stages.collocations.units import UnitOptions
from pipeline.stages.inputs import require_attributes
from schemas import Candidates, CorpusSize, Examples, OpenTupleCounts, Tuples, TupleSums
from schemas.candidates import MOST, arity, signature, subsets

# Pairs of two groups of the units of tuples

Group = tuple[int, ...]


class ExtractPairing(StageConfig):
    """Treat tuples as pairs of two groups of units, for pair measures."""

    tuples: Annotated[str, Of(Tuples)]
    """Tuples with the frequencies of their parts."""
    pairing: tuple[Group, Group]
    """The positions in l1 and in l2, each position once: [[1, 2], [3]]."""
    separator: str = Field(default=" ", min_length=1)
    """Separator between the units of a group."""
    examples: Annotated[str | None, Of(Examples)] = None
    """Examples of the tuples, passed on to the pairs."""

    @field_validator("pairing")
    @classmethod
    def _partition(cls, pairing: tuple[Group, Group]) -> tuple[Group, Group]:
        positions = sorted([*pairing[0], *pairing[1]])
        if not all(pairing) or positions != list(range(1, len(positions) + 1)):
            raise ValueError("must list every position once, in two groups, e.g. [[1, 2], [3]]")
        return pairing


@stage(
    "extract.pairing",
    config=ExtractPairing,
    outputs={"candidates": Candidates, "examples": Examples},
)
def extract_pairing(config: ExtractPairing, tables: Tables) -> Iterator[Outputs]:
    """Join the labels; the frequencies of the groups are available."""
    tuples = tables["tuples"]
    _require_arity(config, tuples)
    _require_distinct(config, tables)
    ranges = ranges_of("id", tuples)

    def make(number: int) -> pl.LazyFrame:
        first, second = config.pairing
        some = ranges.of(tuples, number, by="id").rename({"id": FORMER})
        pairs = to_pairs(some, first=first, second=second, separator=config.separator)
        return pairs.select(candidate_id("l1", "l2"), pl.all())

    yield from named_anew(ranges, make, tables.get("examples"))


def _require_arity(config: ExtractPairing, tuples: pl.LazyFrame) -> None:
    size, positions = arity(tuples.collect_schema()), sum(map(len, config.pairing))
    if size != positions:
        what = f"has {positions} positions, but the tuples have {size} units"
        raise ConfigError("pairing", [Problem("pairing", what)])


def _require_distinct(config: ExtractPairing, tables: Tables) -> None:
    """Reject labels shared by several groups, whose f and f1 would be wrong."""
    first, second = config.pairing
    wrong = ambiguous(tables["tuples"], first=first, second=second, separator=config.separator)
    labels = wrong.to_series()
    if len(labels):
        examples = ", ".join(map(repr, labels.head(3)))
        raise DataError(
            f"extract.pairing: {len(labels):,} label{'s are' if len(labels) > 1 else ' is'} "
            f"ambiguous, since some units contain the separator {config.separator!r}: {examples}. "
            "Use another separator."
        )


# Options of tuples


class ElementsOptions(UnitOptions):
    """Units of tuples."""

    labels: tuple[str, ...] = ()
    """Templates, one per element of the tuple (default: the label only)."""

    @model_validator(mode="after")
    def _one_of_two(self) -> ElementsOptions:
        if self.labels and "label" in self.model_fields_set:
            raise ValueError("give either label or labels")
        return self

    @property
    def templates(self) -> tuple[str, ...]:
        """Templates of all elements."""
        return self.labels or (self.label,)


class TupleOptions(RelationOptions):
    """The definition of tuples."""

    length: int | None = Field(default=None, ge=2, le=MOST)
    """Number of successive units in a sentence, for relation = "adjacent"."""
    unit: UnitOptions | None = None
    """Unit at each of these positions (default: the lemma of any token)."""
    positions: tuple[UnitOptions, ...] | None = Field(default=None, min_length=2, max_length=MOST)
    """Alternative to length and unit: the unit at each position."""
    left: ElementsOptions | None = None
    """Alternative to length: left units of pairs in any relation; their elements come first."""
    right: ElementsOptions | None = None
    """Right units of the pairs."""

    @model_validator(mode="after")
    def _one_way(self) -> TupleOptions:
        ways = [self.length, self.positions, self.left or self.right]
        if sum(way is not None for way in ways) != 1:
            raise ValueError("give either length, positions, or left and right")
        if self.unit and not self.length:
            raise ValueError("unit = {...} requires length")
        if (self.left is None) != (self.right is None):
            raise ValueError("left and right must be given together")
        if not self.left and self.relation != "adjacent":
            raise ValueError('length and positions require relation = "adjacent"')
        if not self.relational:
            raise ValueError(
                f'relation = "{self.relation}" has marginals that tuples lack; use surface ='
                ' { count = "windows" }'
            )
        if self.span_within != "sentence":
            raise ValueError(
                f'within = "{self.span_within}" is for pairs only: tuples must lie in a sentence'
            )
        if self.size > MOST:
            raise ValueError(f"{self.size} elements, but at most {MOST} are possible")
        return self

    @property
    def sides(self) -> dict[str, UnitOptions]:
        """Units by option."""
        if self.left and self.right:
            return {"left": self.left, "right": self.right}
        if self.positions:
            return {f"positions.{i}": each for i, each in enumerate(self.positions)}
        return {"unit": self.unit or UnitOptions()}

    @property
    def size(self) -> int:
        """Number of elements of a tuple."""
        if self.left and self.right:
            return len(self.left.templates) + len(self.right.templates)
        return len(self.positions) if self.positions else self.length or 0

    @property
    def elements(self) -> list[str]:
        """Columns of the elements."""
        return elements(self.size)

    def kernels(self, stop_words: list[str]) -> list[Unit]:
        """Return the units of all positions, or of both sides, for the kernels."""
        units = [each.kernel(stop_words) for each in self.sides.values()]
        return units * (self.length or 1)

    def attributes(self) -> dict[str, set[str]]:
        """Return the attributes used by each option."""
        used = {
            f"{side}.{option}": names
            for side, each in self.sides.items()
            for option, names in each.columns().items()
        }
        if self.dependency:
            ours = self.dependency.columns().items()
            used |= {f"dependency.{option}": names for option, names in ours}
        return used


class ExtractTuples(ExampleOptions, TupleOptions):
    """Extract tuples of two to six units from a corpus, with frequencies of all parts."""

    corpus: CorpusSource
    """Corpus files: CoNLL-U, vertical, token table, plain text, TEI."""
    stop_words: WordSource | None = None
    """Labels to exclude at all positions: one per line, or in a column word."""
    min_frequency: Annotated[int, Late()] = Field(default=1, ge=1)
    """Drop tuples with lower f after counting; other frequencies do not change."""


# Counts of tuples

_KEY = ("units",)

_NUMBERS = 48
"""Memory per token of a tuple during extraction; bytes."""
PARTIALS = {"counts": OpenTupleCounts, "examples": Examples, "corpus": CorpusSize}


def columns(config: ExtractTuples) -> set[str]:
    """Return the token columns used."""
    place = {"file", "doc", "sentence", "position", "paragraph"}
    return place.union(config.example_columns(), *_attributes(config).values())


def merge(config: ExtractTuples, tables: Tables) -> Outputs:
    """Sum the counts of parts of a corpus."""
    return {
        "counts": extract_corpus.add_counts(tables["counts"], _KEY),
        "examples": concordance.merge(tables["examples"], most=config.examples),
        "corpus": tables["corpus"].group_by("what").agg(pl.sum("count")),
    }


def tally(raw: Mapping[str, pl.DataFrame], bounds: DocumentBounds) -> Outputs:
    """Count the tuples of some batches."""
    names = [name for name in raw["occurrences"].columns if name != DOCUMENT]
    counts = extract_corpus.count_occurrences(raw, names, bounds)["counts"].lazy().collect()
    return {"counts": join_elements(counts, size=len(names))}


def close(tables: Tables) -> Outputs:
    """Merge the rows of each tuple at the end of the input."""
    return {**tables, "counts": extract_corpus.close_documents(tables["counts"], _KEY)}


def sums(
    config: ExtractTuples, group: int, counts: Sequence[pl.LazyFrame]
) -> Iterator[pl.DataFrame]:
    """Sum the frequencies of parts of `group` + 1 elements, and for the first group the total."""
    sizes = {group + 1} if group else {0, 1}
    sets = [each for each in subsets(config.size) if len(each) in sizes]
    return subset_sums(counts, sets, size=config.size, min_frequency=config.min_frequency)


def combine(config: ExtractTuples, tables: Tables) -> Outputs:
    """Add missing frequencies of parts, and apply the threshold."""
    counted = split_elements(tables["counts"], size=config.size)
    least = config.min_frequency
    if "N" in counted.collect_schema():  # summed over all buckets
        rows = counted.filter(pl.col("f") >= least)
    else:
        rows = with_subsets(counted, size=config.size, min_frequency=least)
    names = config.elements
    order = ["id", *names, *signature(config.size), "documents"]
    tuples = rows.with_columns(candidate_id(*names)).select(order)
    examples = tables["examples"].join(tuples, on="id", how="semi")
    return {
        "tuples": tuples,
        "examples": concordance.merge(examples, most=config.examples),
        "corpus": tables["corpus"].sort("what"),
    }


@stage(
    "extract.tuples",
    config=ExtractTuples,
    outputs={"tuples": Tuples, "examples": Examples, "corpus": CorpusSize},
    shards="corpus",
    counting=Counting(
        partials=PARTIALS,
        merge=merge,
        combine=combine,
        columns=columns,
        whole=lambda config: config.text_unit,
        carry={"open": counting.OPEN},
        # The units of the counts are joined as in the id.
        buckets={
            "counts": candidate_id("units"),
            "examples": pl.col("id"),
            "tuples": pl.col("id"),
        },
        sums=Sums("counts", TupleSums, groups=lambda config: config.size - 1, of=sums),
        in_parts=True,
        raw=extract_corpus.RAW,
        tally=tally,
        tallied=["counts"],
        close=close,
        weight=lambda config: 2**config.size,  # one frequency per subset of positions
    ),
)
def extract_tuples(config: ExtractTuples, tables: Tables) -> Iterator[Outputs]:
    """Find the tuples in one part of a corpus, and choose examples."""
    require_attributes(tables["corpus"].collect_schema(), _attributes(config))
    tokens = number_tokens(tables["corpus"], in_order=True).collect()
    before = tables["open"].collect()
    sentences = counting.sentences(tokens.lazy(), before)
    for tuples in _find(config, tokens, config.kernels(stop_words(tables))):
        yield {
            **extract_corpus.occurrence_tables(tuples, config.elements, sentences),
            "examples": _examples(config, tuples.lazy(), tokens.lazy()),
            "corpus": extract_corpus.numbers({"tuple tokens": tuples.height}),
        }
    nothing = pl.DataFrame(schema={PLACE: pl.Int64, **dict.fromkeys(config.elements, LABEL)})
    yield {
        **extract_corpus.occurrence_tables(nothing, config.elements, sentences),
        "examples": Examples.zero_rows(),
        "corpus": extract_corpus.unit_sizes(tokens, sentences, before),
        "open": counting.left_open(sentences, before),
    }


def _find(config: ExtractTuples, tokens: pl.DataFrame, sides: list[Unit]) -> Iterator[pl.DataFrame]:
    """Yield the tuples in pieces that fit in memory."""
    if config.left and config.right:
        one, two = sides
        left, right = (len(each.templates) for each in sides)
        for part in extract_corpus.find_pairs(tokens, left=one, right=two, options=config):
            yield pair_tuples(part.pairs, left=left, right=right)
        return
    by_position = [
        in_order(units(tokens.lazy(), unit).collect()) for unit in sides[: len(config.sides)]
    ]
    first, *others = by_position * (config.length or 1)
    most = min(config.gap + 1, longest(tokens)) ** len(others)
    what = (
        f"{tokens['file'].first()!s}: the possible sequences of {config.size} units after one token"
    )
    memory.require(most * config.size * _NUMBERS, what, otherwise="use a smaller gap")
    for some in extract_corpus.in_parts(first, most):
        yield adjacent_tuples([some, *others], tokens, gap=config.gap)


def _examples(config: ExtractTuples, tuples: pl.LazyFrame, tokens: pl.LazyFrame) -> pl.LazyFrame:
    """Choose sentences with all tokens, or both paired tokens, marked."""
    if not config.examples:
        return Examples.zero_rows()
    number = 2 if config.left else config.size
    table = add_positions(tuples, tokens) if config.left else _locate(tuples, tokens, number)
    return config.from_tokens(table, tokens, units=config.elements, number=number)


def _locate(tuples: pl.LazyFrame, tokens: pl.LazyFrame, number: int) -> pl.LazyFrame:
    """Add file, doc, sentence and the positions of tokens in the same sentence."""
    first = pl.col("position").alias("position_1")
    where = tokens.select("file", "doc", "sentence", first, token_1=TOKEN)
    others = {
        f"position_{i}": pl.col("position_1") + pl.col(f"token_{i}") - pl.col("token_1")
        for i in range(2, number + 1)
    }
    return tuples.drop(PLACE).join(where, on="token_1").with_columns(**others)


def _attributes(config: ExtractTuples) -> dict[str, set[str]]:
    return config.attributes() | config.example_attributes()
