"""Candidates from tables: pair tokens, frequency signatures, scores, and merged counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Literal, NamedTuple, TypeAlias

import polars as pl
from pydantic import Field, model_validator

from pipeline.kernels import cells
from pipeline.kernels.cells import NO_NUMBER, NO_WORD, Kind, NumberFormat
from pipeline.kernels.cooccurrence.counting import merge_pairs
from pipeline.kernels.cooccurrence.pairs import count, marginals
from pipeline.kernels.partitions import Ranges, batches, spill_of
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import (
    FAULTS,
    Counting,
    Late,
    Of,
    Outputs,
    StageConfig,
    Tables,
    TableSource,
    stage,
)
from pipeline.stages.inputs import NumberOptions, named_columns, require
from schemas import Candidates, Examples, PairCounts, ScoredPairs

# Merged candidates of two corpora

_INPUTS = ("first", "second")
_LARGEST = 2**63 - 1


class ExtractMerge(StageConfig):
    """Merge candidates from two corpora by summing their counts."""

    first: Annotated[str, Of(Candidates)]
    """Candidates of one corpus, extracted with min_frequency = 1."""
    second: Annotated[str, Of(Candidates)]
    """Candidates of the other corpus; repeat the stage for a third."""
    min_frequency: int = Field(default=1, ge=1)
    """Drop candidates with lower f; marginals do not change."""


@stage(
    "extract.merge",
    config=ExtractMerge,
    outputs={"candidates": Candidates},
)
def extract_merge(config: ExtractMerge, tables: Tables) -> Iterator[Outputs]:
    """Sum f, compute marginals, then apply the threshold."""
    parts = [tables[option] for option in _INPUTS]
    faults = [_incomplete(table, option) for option, table in zip(_INPUTS, parts, strict=True)]
    errors = pl.concat([*faults, _too_many(parts)]).collect(engine="streaming")
    if errors.height:
        yield {"candidates": Candidates.zero_rows(), FAULTS: errors}
        return
    yield {FAULTS: errors}
    shared = all("documents" in each.collect_schema() for each in parts)
    added = ["documents"] if shared else []
    for part in merge_pairs(parts, added=added, min_frequency=config.min_frequency):
        yield {"candidates": part}


def _too_many(parts: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
    """Return a fault if the sample sizes are too large to sum."""
    sizes = pl.concat(each.select(N=pl.col("N").max().cast(pl.Int128)) for each in parts)
    total = sizes.select(total=pl.col("N").sum()).filter(pl.col("total") > _LARGEST)
    return total.select(
        file=pl.lit("table of the option 'second'"),
        line=pl.lit(0, pl.Int64),
        column=pl.lit("N"),
        value=pl.format("{} pair tokens in both", "total"),
        problem=pl.lit(f"more than {_LARGEST:,} cannot be counted"),
    )


def _incomplete(table: pl.LazyFrame, option: str) -> pl.LazyFrame:
    """Return a fault if pair tokens are missing, so that marginals are unknown."""
    counted = pl.col("f").cast(pl.Int128).sum()  # negative after overflow of Int64
    sums = table.select(counted=counted, total=pl.col("N").max())
    problem = (
        "pair tokens are missing: extract with min_frequency = 1, by a relation whose marginals"
        " count pair tokens"
    )
    return sums.filter(pl.col("counted") != pl.col("total")).select(
        file=pl.lit(f"table of the option {option!r}"),
        line=pl.lit(0, pl.Int64),
        column=pl.lit("f"),
        value=pl.format("{} of N = {} pair tokens", "counted", "total"),
        problem=pl.lit(problem),
    )


# Pair tokens, one a row

Unit: TypeAlias = Literal["l1", "l2"]
_UNITS: tuple[Unit, ...] = ("l1", "l2")


class ExtractPairTokens(StageConfig):
    """Count pair tokens listed one per row."""

    path: TableSource
    """Files with columns l1 and l2."""
    columns: dict[Unit, str] = Field(default_factory=dict)
    """Names of l1 and l2 in the file, if different."""
    min_frequency: Annotated[int, Late()] = Field(default=1, ge=1)
    """Drop candidates with lower f; marginals do not change."""


def merge(_config: ExtractPairTokens, tables: Tables) -> Outputs:
    """Sum the counts of the files."""
    return {"counts": tables["counts"].group_by("l1", "l2").agg(pl.sum("f"), pl.sum("documents"))}


def combine(config: ExtractPairTokens, tables: Tables) -> Outputs:
    """Compute marginals, then apply the threshold."""
    rows = marginals(tables["counts"].drop("documents")).filter(pl.col("f") >= config.min_frequency)
    return {"candidates": rows.select(candidate_id("l1", "l2"), pl.all())}


@stage(
    "extract.pair_tokens",
    config=ExtractPairTokens,
    outputs={"candidates": Candidates},
    shards="path",
    counting=Counting(partials={"counts": PairCounts}, merge=merge, combine=combine),
)
def extract_pair_tokens(config: ExtractPairTokens, tables: Tables) -> Outputs:
    """Count one file."""
    raw = tables["path"]
    names = named_columns(raw.collect_schema(), config.columns, _UNITS)
    units = {each: cells.text_or_null(name) for each, name in names.items()}
    pairs = raw.select(**units).drop_nulls()
    own = {names[each]: value for each, value in units.items()}
    return {
        "counts": count(pairs).with_columns(documents=pl.lit(1, pl.Int64)),
        FAULTS: cells.faults(raw, parsed=own, problem=NO_WORD, required=True),
    }


# Reading in batches, with rows in the order of their ids


def _origin(config: ExtractScores | ExtractTable, tables: Tables) -> pl.LazyFrame:
    """Return file, line and id of each pair."""
    names = {config.columns.get(each, each): each for each in _UNITS}
    units = tables["path"].select("file", "line", pl.col(list(names)).cast(pl.String))
    return units.rename(names).select("file", "line", candidate_id("l1", "l2"))


Read = Callable[[pl.LazyFrame], Sequence[pl.LazyFrame]]
"""From rows with file and line to result rows, and one table of faults per kind."""


def read_batches(raw: pl.LazyFrame, read: Read, *, table: str) -> Iterator[Outputs]:
    """Yield all faults, then the results of the other rows.

    Parameters
    ----------
    raw : LazyFrame
        Rows of files.
    read : callable
        Its results have an id.
    table : str
        Name of the output table.
    """
    schema = read(raw)[0].collect_schema()
    with spill_of(1, schema) as spill:
        yield {FAULTS: faults_of(raw, read, lambda rows: spill.put(rows, 0))}
        yield from ({table: batch} for batch in batches(spill.bucket(0).sort("id")))


def faults_of(raw: pl.LazyFrame, read: Read, put: Callable[[pl.DataFrame], None]) -> pl.DataFrame:
    """Read all rows, pass on the results, and return the faults by kind."""
    faults: list[list[pl.DataFrame]] = []
    for batch in batches(raw):
        rows, *bad = pl.collect_all(read(batch.lazy()))
        put(rows)
        faults.append(bad)
    kinds: list[pl.DataFrame] = [each for kind in zip(*faults, strict=True) for each in kind]
    return pl.concat(kinds)


# Pairs with scores or in rank order from other programs

_TAKEN = ("id", "l1", "l2", "learned")


class ExtractScores(NumberOptions):
    """Read scored or ranked pairs of any program from a table."""

    path: TableSource
    """Files: CSV, TSV, UCS data set, Parquet."""
    columns: dict[Unit, str] = Field(default_factory=dict)
    """Names of l1 and l2 in the file, if different."""
    scores: dict[str, str] = Field(default_factory=dict)
    """From measures to their score columns; high values rank first."""
    ascending: tuple[str, ...] = ()
    """Measures for which low values rank first, e.g. p-values; their scores are negated."""
    order: str = ""
    """Name of a measure that orders the rows of the file, best first."""
    learned_from: TableSource | None = None
    """Files with the pairs (l1, l2) whose labels the scores were learned from, if any: these labels
    cannot evaluate the scores.
    """

    def number_columns(self, _schema: pl.Schema) -> dict[str, Kind]:
        """Return the score columns."""
        return dict.fromkeys(self.scores.values(), "number")

    @model_validator(mode="after")
    def _some(self) -> ExtractScores:
        if not self.scores and not self.order:
            raise ValueError(
                "name score columns (scores), or the measure that orders the rows (order)"
            )
        names = [*self.scores, *([self.order] if self.order else [])]
        if clashes := sorted({name for name in names if name in _TAKEN or names.count(name) > 1}):
            raise ValueError(
                f"{', '.join(clashes)} is not allowed as the name of a measure; choose another"
            )
        if unknown := sorted(set(self.ascending) - set(self.scores)):
            raise ValueError(f"ascending: {', '.join(unknown)} is not among the scores")
        return self


@stage(
    "extract.scores",
    config=ExtractScores,
    outputs={"scores": ScoredPairs},
    origin=_origin,
)
def extract_scores(config: ExtractScores, tables: Tables) -> Iterator[Outputs]:
    """Parse units and scores, with faults by line."""
    raw = tables["path"]
    schema = raw.collect_schema()
    scored = [(f"scores.{new}", name) for new, name in config.scores.items()]
    names = named_columns(schema, config.columns, _UNITS, further=scored)
    units: dict[str, pl.Expr] = {each: cells.text_or_null(name) for each, name in names.items()}
    forms = config.formats(raw)
    scores = {
        new: cells.number(name, schema[name], forms[name]) for new, name in config.scores.items()
    }
    known = pl.Series("id", [], dtype=pl.String)
    if "learned_from" in tables:
        require(
            tables["learned_from"].collect_schema(), [("learned_from", each) for each in _UNITS]
        )
        known = tables["learned_from"].select(candidate_id(*_UNITS)).collect()["id"]
    oriented = {new: -one if new in config.ascending else one for new, one in scores.items()}
    listed = {config.order: -pl.col("line").cast(pl.Float64)} if config.order else {}
    by_file = {names[each]: units[each] for each in _UNITS}
    parsed = {config.scores[new]: one for new, one in scores.items()}

    def read(raw: pl.LazyFrame) -> list[pl.LazyFrame]:
        rows = raw.select(**units, **oriented, **listed).drop_nulls(_UNITS)
        bad = [cells.faults(raw, parsed=by_file, problem=NO_WORD, required=True)]
        if parsed:
            bad.append(
                cells.faults(raw, parsed=parsed, problem=NO_NUMBER, required=False, forms=forms)
            )
        rows = rows.select(candidate_id("l1", "l2"), pl.all())
        if "learned_from" in tables:
            rows = rows.with_columns(learned=pl.col("id").is_in(known.implode()))
        return [rows, *bad]

    columns = dict.fromkeys(["file", "line", *by_file, *parsed])
    yield from read_batches(raw.select(columns.keys()), read, table="scores")


# Frequency signatures

Column: TypeAlias = Literal["l1", "l2", "f", "f1", "f2", "N"]
_COUNTS: tuple[Column, ...] = ("f", "f1", "f2", "N")


class ExtractTable(NumberOptions):
    """Read candidates with frequency signatures from a table."""

    path: TableSource
    """Files: UCS data set, CSV, TSV, XLSX or Parquet."""
    columns: dict[Column, str] = Field(default_factory=dict)
    """Names of l1, l2, f, f1, f2, N in the file, if different."""
    keep: dict[str, str] = Field(default_factory=dict)
    """Further numeric columns to keep: from new names to those in the file."""
    min_frequency: int = Field(default=1, ge=0)
    """Drop candidates with lower f; marginals do not change."""

    def number_columns(self, _schema: pl.Schema) -> dict[str, Kind]:
        """Return the count columns, and columns to keep."""
        counts = [self.columns.get(each, each) for each in _COUNTS]
        kinds: dict[str, Kind] = dict.fromkeys(self.keep.values(), "number")
        return kinds | dict.fromkeys(counts, "count")


_NO_COUNT = "is not a whole number >= 0 and < 2^63"


class _Reading(NamedTuple):
    """Reading instructions by new name, and by name in the file."""

    units: dict[str, pl.Expr]
    counts: dict[str, pl.Expr]
    further: dict[str, pl.Expr]
    units_in_file: dict[str, pl.Expr]
    counts_in_file: dict[str, pl.Expr]
    further_in_file: dict[str, pl.Expr]
    forms: dict[str, NumberFormat]

    def candidates(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return valid rows as candidates."""
        table = rows.select(**self.units, **self.counts, **self.further)
        return table.drop_nulls([*_UNITS, *_COUNTS]).select(candidate_id(*_UNITS), pl.all())

    def faults(self, rows: pl.LazyFrame) -> list[pl.LazyFrame]:
        """Return unreadable units, counts and kept values."""
        checks = [
            (self.units_in_file, NO_WORD, True),
            (self.counts_in_file, _NO_COUNT, True),
            (self.further_in_file, NO_NUMBER, False),
        ]
        return [
            cells.faults(rows, parsed=parsed, problem=problem, required=required, forms=self.forms)
            for parsed, problem, required in checks
            if parsed
        ]


@stage(
    "extract.table",
    config=ExtractTable,
    outputs={"candidates": Candidates},
    shards="path",
    origin=_origin,
)
def extract_table(config: ExtractTable, tables: Tables) -> Iterator[Outputs]:
    """Parse units and counts, with faults by line."""
    raw = tables["path"]
    reading = _reading(config, raw)

    def read(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
        frequent = pl.col("f") >= config.min_frequency
        return [reading.candidates(rows).filter(frequent), *reading.faults(rows)]

    columns = dict.fromkeys(["file", "line", *reading.units_in_file, *reading.counts_in_file])
    columns |= dict.fromkeys(reading.further_in_file)
    yield from read_batches(raw.select(columns.keys()), read, table="candidates")


def _reading(config: ExtractTable, raw: pl.LazyFrame) -> _Reading:
    schema = raw.collect_schema()
    columns = [(f"keep.{new}", name) for new, name in config.keep.items()]
    names = named_columns(schema, config.columns, (*_UNITS, *_COUNTS), further=columns)
    forms = config.formats(raw)
    units: dict[str, pl.Expr] = {each: cells.text_or_null(names[each]) for each in _UNITS}
    counts: dict[str, pl.Expr] = {
        each: _count(names[each], schema[names[each]], forms[names[each]]) for each in _COUNTS
    }
    further = {
        new: cells.number(name, schema[name], forms[name]) for new, name in config.keep.items()
    }
    return _Reading(
        units,
        counts,
        further,
        {names[each]: units[each] for each in _UNITS},
        {names[each]: counts[each] for each in _COUNTS},
        {name: further[new] for new, name in config.keep.items()},
        forms,
    )


def _count(column: str, dtype: pl.DataType, form: NumberFormat) -> pl.Expr:
    """Return a column as frequencies; negative values would otherwise be dropped as too low."""
    number = cells.whole_number(column, dtype, form)
    return pl.when(number >= 0).then(number)


# Candidates derived from others, with new ids

FORMER = "_former"
"""The former id of a candidate, used by its examples."""


def named_anew(
    ranges: Ranges, make: Callable[[int], pl.LazyFrame], examples: pl.LazyFrame | None
) -> Iterator[Outputs]:
    """Yield candidates, then their examples, both ordered by new id.

    Parameters
    ----------
    ranges : Ranges
        Ranges of the former ids.
    make : callable
        Number of a range -> candidates from its rows, with `FORMER`.
    examples : LazyFrame or None
        Table `Examples` by the former ids.
    """
    schema = make(0).drop(FORMER).collect_schema()
    with spill_of(1, schema) as spill, spill_of(1, pl.Schema(Examples.columns())) as texts:
        for number in range(len(ranges)):
            table = make(number).collect()
            spill.put(table, 0)
            if examples is not None:
                ids = table.lazy().select("id", FORMER)
                former = ranges.of(examples, number, by="id").rename({"id": FORMER})
                texts.put(former.join(ids, on=FORMER).select(*Examples.columns()).collect(), 0)
        yield from ({"candidates": batch} for batch in batches(spill.bucket(0).sort("id")))
        yield from ({"examples": batch} for batch in batches(texts.bucket(0).sort("id")))
