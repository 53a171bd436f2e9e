"""Tuples from a corpus: counted part by part, the frequencies of their parts over all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline import room
from pipeline.kernels.cooccurrence import documents, examples
from pipeline.kernels.cooccurrence.pairs import located
from pipeline.kernels.cooccurrence.subset_sums import subset_sums
from pipeline.kernels.cooccurrence.subsets import with_subsets
from pipeline.kernels.cooccurrence.tally import DOCUMENT
from pipeline.kernels.cooccurrence.token_index import in_order
from pipeline.kernels.cooccurrence.tokens import PLACE, TOKEN, longest, numbered
from pipeline.kernels.cooccurrence.tuples import (
    adjacent_tuples,
    apart,
    pair_tuples,
    together,
)
from pipeline.kernels.cooccurrence.units import LABEL, Unit, units
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import CorpusSource, Outputs, Tables, TableSource, as_one, stage
from pipeline.stages.collocations import occurrences, pair_counting
from pipeline.stages.collocations.example_options import ExampleOptions
from pipeline.stages.collocations.extract_pairs import stop_words
from pipeline.stages.collocations.tuple_options import TupleOptions
from pipeline.stages.columns import require_attributes
from pipeline.stages.counting import Bounds, Counting, Sums
from pipeline.stages.late import Late
from schemas import CorpusSize, Examples, OpenTupleCounts, Tuples, TupleSums
from schemas.tuples import signature, subsets


class ExtractTuples(ExampleOptions, TupleOptions):
    """Extract tuples of two to six units from a corpus, with the frequencies of their parts."""

    corpus: CorpusSource
    """File or files: CoNLL-U, vertical, token table, plain text."""
    stop_words: TableSource | None = None
    """File with a column word: labels that are no units at any position."""
    min_frequency: Annotated[int, Late()] = Field(default=1, ge=1)
    """Drop tuples with a smaller f, after counting: all other frequencies stay as they are."""


_KEY = ("units",)

_NUMBERS = 48
"""Bytes that a token of a tuple takes while tuples are looked for."""
PARTIALS = {"counts": OpenTupleCounts, "examples": Examples, "corpus": CorpusSize}


def columns(config: ExtractTuples) -> set[str]:
    """Return the columns of the tokens that are looked at."""
    used = {name for names in _attributes(config).values() for name in names}
    return {"file", "doc", "sentence", "position", "paragraph"} | used | config.looked_at()


def merge(config: ExtractTuples, tables: Tables) -> Outputs:
    """Add up the counts of parts of a corpus."""
    return {
        "counts": occurrences.added_up(tables["counts"], _KEY),
        "examples": examples.merge(tables["examples"], most=config.examples),
        "corpus": tables["corpus"].group_by("what").agg(pl.sum("count")),
    }


def tally(raw: Mapping[str, pl.DataFrame], bounds: Bounds) -> Outputs:
    """Count the tuples of some batches."""
    names = [name for name in raw["occurrences"].columns if name != DOCUMENT]
    counts = occurrences.tallied(raw, names, bounds)["counts"].lazy().collect()
    return {"counts": together(counts, size=len(names))}


def close(tables: Tables) -> Outputs:
    """Let each tuple have one row, now that no document goes on."""
    return {**tables, "counts": occurrences.closed(tables["counts"], _KEY)}


def sums(
    config: ExtractTuples, group: int, counts: Sequence[pl.LazyFrame]
) -> Iterator[pl.DataFrame]:
    """Sum the frequencies of parts of `group` + 1 elements, and with the first that of all."""
    sizes = {group + 1} if group else {0, 1}
    sets = [each for each in subsets(config.size) if len(each) in sizes]
    return subset_sums(counts, sets, size=config.size, min_frequency=config.min_frequency)


def combine(config: ExtractTuples, tables: Tables) -> Outputs:
    """Add the frequencies of the parts if they are not there, and apply the threshold."""
    counted = apart(tables["counts"], size=config.size)
    least = config.min_frequency
    if "N" in counted.collect_schema():  # summed over all buckets
        kept = counted.filter(pl.col("f") >= least)
    else:
        kept = with_subsets(counted, size=config.size, min_frequency=least)
    names = config.elements
    order = ["id", *names, *signature(config.size), "documents"]
    named = kept.with_columns(candidate_id(*names)).select(order)
    shown = tables["examples"].join(named, on="id", how="semi")
    return {
        "tuples": named,
        "examples": examples.merge(shown, most=config.examples),
        "corpus": tables["corpus"].sort("what"),
    }


def pieces(config: ExtractTuples, tables: Tables) -> Iterator[Outputs]:
    """Find the tuples of one part of a corpus, so many at a time as fit in memory, and examples."""
    require_attributes(tables["corpus"].collect_schema(), _attributes(config))
    tokens = numbered(tables["corpus"], in_order=True).collect()
    before = tables["open"].collect()
    sentences = documents.sentences(tokens.lazy(), before)
    for tuples in _find(config, tokens, config.kernels(stop_words(tables))):
        yield {
            **occurrences.of_batch(tuples, config.elements, sentences),
            "examples": _examples(config, tuples.lazy(), tokens.lazy()),
            "corpus": pair_counting.numbers({"tuple tokens": tuples.height}),
        }
    nothing = pl.DataFrame(schema={PLACE: pl.Int64, **dict.fromkeys(config.elements, LABEL)})
    yield {
        **occurrences.of_batch(nothing, config.elements, sentences),
        "examples": Examples.zero_rows(),
        "corpus": pair_counting.sizes(tokens, sentences, before),
        "open": documents.left_open(sentences, before),
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
        carry={"open": documents.OPEN},
        # The units of the counts are joined as the id joins them.
        buckets={
            "counts": candidate_id("units"),
            "examples": pl.col("id"),
            "tuples": pl.col("id"),
        },
        sums=Sums("counts", TupleSums, groups=lambda config: config.size - 1, of=sums),
        in_parts=True,
        raw=occurrences.RAW,
        tally=tally,
        tallied=["counts"],
        close=close,
        weight=lambda config: 2**config.size,  # a frequency for each subset of the positions
    ),
    pieces=pieces,
)
def extract_tuples(config: ExtractTuples, tables: Tables) -> Outputs:
    """Find the tuples of one part of a corpus, and choose examples from it."""
    return as_one(pieces(config, tables))


def _find(
    config: ExtractTuples, tokens: pl.DataFrame, wanted: list[Unit]
) -> Iterator[pl.DataFrame]:
    """Yield the tuples, so many that fit in memory."""
    if config.left and config.right:
        one, two = wanted
        left, right = (len(each.templates) for each in wanted)
        for found in pair_counting.find(tokens, left=one, right=two, options=config):
            yield pair_tuples(found.pairs, left=left, right=right)
        return
    by_position = [
        in_order(units(tokens.lazy(), unit).collect()) for unit in wanted[: len(config.sides)]
    ]
    first, *others = by_position * (config.length or 1)
    most = min(config.gap + 1, longest(tokens)) ** len(others)
    what = f"{tokens['file'].first()!s}: the {config.size} units that may follow one of its tokens"
    room.require(most * config.size * _NUMBERS, what, otherwise="give a smaller gap")
    for some in pair_counting.in_parts(first, most):
        yield adjacent_tuples([some, *others], tokens, gap=config.gap)


def _examples(config: ExtractTuples, tuples: pl.LazyFrame, tokens: pl.LazyFrame) -> pl.LazyFrame:
    """Choose sentences; all the tokens are marked, or the two that were paired."""
    if not config.examples:
        return Examples.zero_rows()
    number = 2 if config.left else config.size
    found = located(tuples, tokens) if config.left else _located(tuples, tokens, number)
    return config.from_tokens(found, tokens, units=config.elements, number=number)


def _located(tuples: pl.LazyFrame, tokens: pl.LazyFrame, number: int) -> pl.LazyFrame:
    """Add file, doc, sentence and the positions of tokens that stand in one sentence."""
    first = pl.col("position").alias("position_1")
    where = tokens.select("file", "doc", "sentence", first, token_1=TOKEN)
    others = {
        f"position_{i}": pl.col("position_1") + pl.col(f"token_{i}") - pl.col("token_1")
        for i in range(2, number + 1)
    }
    return tuples.drop(PLACE).join(where, on="token_1").with_columns(**others)


def _attributes(config: ExtractTuples) -> dict[str, set[str]]:
    return config.attributes() | config.shown()
