"""Stages: registry, typed options and inputs, deliveries, and counting by shards."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, TypeAlias

import polars as pl
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic_core import CoreSchema
from typing_extensions import TypeVar

from pipeline.config_model import OptionModel
from pipeline.errors import Problem
from pipeline.registry import NameIn, Registry
from schemas import SheetEntries, Table

Tables: TypeAlias = Mapping[str, pl.LazyFrame]
Outputs: TypeAlias = Mapping[str, pl.LazyFrame | pl.DataFrame]

FAULTS = "faults"
"""Reserved output name: unusable input rows, see `schemas.Faults`."""

# Counting: partial tables of shards are summed, then combined into the outputs


class DocumentBounds(NamedTuple):
    """Continuation of documents beyond the current batch.

    Parameters
    ----------
    starts_before : bool
        The first document may start in an earlier batch.
    continues_after : bool
        The last document may continue in a later batch.
    """

    starts_before: bool = False
    continues_after: bool = False


@dataclass(frozen=True)
class Sums:
    """Columns of sums over a whole partial table, joined to each row of a bucket.

    Parameters
    ----------
    table : str
        The partial table.
    model : schema
        The schema of the columns.
    groups : callable
        config -> number of groups of columns; each group is a separate task.
    of : callable
        (config, number of the group, parts of the table) -> its columns for each part, with rows in
        the order of the part.
    """

    table: str
    model: type[Table]
    groups: Callable[[Any], int]
    of: Callable[[Any, int, Sequence[pl.LazyFrame]], Iterator[pl.DataFrame]]

    def names(self, config: StageConfig) -> list[str]:
        """Return the names of the groups among the input tables of a task."""
        return [f"{self.table}, sums {group}" for group in range(self.groups(config))]


@dataclass(frozen=True)
class Counting:
    """Counting by shards.

    `Stage.run` makes partial tables from the tokens or rows of a batch, `merge` sums partial
    tables, and `combine` makes the outputs from the sums. The outputs must not depend on the
    division of the input into batches, shards or buckets. A stage whose shards are corpus files
    gets tokens in batches.

    Parameters
    ----------
    partials : mapping of str to schema
        Required. The partial tables made by `Stage.run` and `merge`. Texts may be Categorical until
        a file is written.
    merge : callable
        Required. (config, concatenated partial tables of batches or shards) -> partial tables with
        unique keys.
    combine : callable
        Required. (config, merged tables of a bucket and totals) -> outputs. Options that only
        `combine` reads are marked `pipeline.stages.base.Late`: the counts do not depend on them.
    columns : callable or None
        Batches. config -> token columns that `Stage.run` reads; all if None.
    whole : callable or None
        Batches. config -> "sentence", "paragraph" or "document", the unit that no batch divides; or
        "file": batches end with any sentence, but no shard divides a file.
    carry : mapping of str to Schema
        Batches. Tables that `Stage.run` passes to the next batch of the same shard as inputs; they
        are empty for the first batch.
    in_parts : bool
        Batches. A shard may be a part of a file, see `pipeline.runner.counting`.
    buckets : mapping of str to Expr
        Buckets. The partial tables and outputs that can be divided, with the id that divides them.
        Other tables are small and passed whole to every bucket.
    totals : callable or None
        Buckets. (config, merged tables of a bucket) -> tables of sums over their rows, which are
        summed over all buckets by key and passed to every bucket.
    total_tables : mapping of str to schema
        Buckets. The tables returned by `totals`.
    undivided : mapping of str to str
        Buckets. Maps a name to a partial table. If there are several buckets, `combine` gets the
        undivided table under this name and reads it in batches.
    sums : Sums or None
        Buckets. Columns that are joined to a partial table if there are several buckets.
    weight : callable or None
        Memory. config -> memory of a row of counts relative to a row of pairs; 1 if None.
    raw : collection of str
        Tallies. Tables of uncounted rows that `Stage.run` returns besides partial tables. The
        runner collects them over many batches, since counting them together is cheaper.
    tally : callable or None
        Tallies. (raw tables of some batches, `DocumentBounds`) -> partial tables.
    tallied : collection of str
        Tallies. The tables returned by `tally`, with unique keys, so that a single one need not be
        merged.
    close : callable or None
        Tallies. Merged partial tables of the whole input -> the same tables, completed at the end
        of the input.
    """

    partials: Mapping[str, type[Table]]
    merge: Callable[[Any, Tables], Outputs]
    combine: Callable[[Any, Tables], Outputs]
    columns: Callable[[Any], Collection[str]] | None = None
    whole: Callable[[Any], str] | None = None
    carry: Mapping[str, pl.Schema] = field(default_factory=dict)
    buckets: Mapping[str, pl.Expr] = field(default_factory=dict)
    totals: Callable[[Any, Tables], Outputs] | None = None
    total_tables: Mapping[str, type[Table]] = field(default_factory=dict)
    undivided: Mapping[str, str] = field(default_factory=dict)
    sums: Sums | None = None
    weight: Callable[[Any], int] | None = None
    in_parts: bool = False
    raw: Collection[str] = ()
    tally: Callable[[Mapping[str, pl.DataFrame], DocumentBounds], Outputs] | None = None
    tallied: Collection[str] = ()
    close: Callable[[Tables], Outputs] | None = None

    def tables_in_buckets(self, config: StageConfig) -> set[str]:
        """Return the tables that are divided into buckets."""
        return {*self.buckets, *(self.sums.names(config) if self.sums else ())}


def iterate_pieces(outputs: Outputs | Iterator[Outputs]) -> Iterator[Outputs]:
    """Iterate over the outputs of `Stage.make`: one, or several from a generator."""
    return outputs if isinstance(outputs, Iterator) else iter([outputs])


def join_pieces(pieces: Iterable[Outputs]) -> Outputs:
    """Return complete tables, concatenated from pieces.

    Examples
    --------
    >>> one, two = (pl.DataFrame({"n": [n]}) for n in (1, 2))
    >>> join_pieces([{"a": one}, {"a": two}])["a"].collect().to_series().to_list()
    [1, 2]
    """
    parts: dict[str, list[pl.LazyFrame]] = {}
    for piece in pieces:
        for name, table in piece.items():
            parts.setdefault(name, []).append(table.lazy())
    return {name: pl.concat(each) for name, each in parts.items()}


# Options and inputs


class StageConfig(OptionModel):
    """Base class of the typed options of a stage: frozen, without unknown keys."""


class SeedOptions(StageConfig):
    """Options of a stage with random draws."""

    seed: str = ""
    """Seed of the stage (default: the seed of the experiment)."""


@dataclass(frozen=True)
class Of:
    """Mark a config field as a reference to one or several tables of this schema.

    A field that lists stages has one input per table, see `tables_of_option`.

    Parameters
    ----------
    schema : type of Table
        The schema of the tables.
    same_as : str
        A sibling option. If this one is omitted, it takes the value that it has in the stage which
        the sibling refers to, if that stage has such an option.
    """

    schema: type[Table]
    same_as: str = ""


def input_name(option: str, number: int) -> str:
    """Return the name of an input listed in an option, by its 0-based position.

    Examples
    --------
    >>> input_name("systems", 1)
    'systems.1'
    """
    return f"{option}.{number}"


def tables_of_option(tables: Tables, option: str, stages: Collection[str]) -> list[pl.LazyFrame]:
    """Return the tables listed in an option, in order.

    Parameters
    ----------
    tables : mapping of str to LazyFrame
        The inputs of the stage.
    option : str
        The option.
    stages : collection of str
        Its value.
    """
    return [tables[input_name(option, number)] for number in range(len(stages))]


class StageReference(NamedTuple):
    """A referenced stage: its name and its options."""

    stage: str
    config: StageConfig


@dataclass(frozen=True)
class FilledSheets:
    """Mark a config field as the folder of sheets that people fill in.

    The runner passes their entries, or an empty table if there are no sheets.

    Parameters
    ----------
    entries : schema
        Schema of the entries.
    format : str
        The format of kind "sheet" that reads and writes the sheets.
    """

    entries: type[Table] = SheetEntries
    format: str = "annotation_sheet"


def _require_files(path: tuple[str, ...]) -> tuple[str, ...]:
    if not all(path) or not path:
        raise ValueError('names no file; write path = "FILE", or a list of files')
    return path


class Source(BaseModel):
    """One or several files, or a glob, that a reader opens for the stage.

    In an experiment, a path, a list of paths, or a table with ``path``, ``format`` and reader
    options. Paths with the prefix ``data:`` are relative to the data root.

    Examples
    --------
    >>> Source.model_validate("data:novels.tsv.gz").path
    ('data:novels.tsv.gz',)
    >>> Source.model_validate({"path": "a.txt", "format": "csv", "comment": "#"}).options
    {'comment': '#'}
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: ClassVar[Literal["table", "corpus"] | None] = None

    path: Annotated[tuple[str, ...], AfterValidator(_require_files)]
    format: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _core: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        text = {"type": "string"}
        paths = {"anyOf": [text, {"type": "array", "items": text}]}
        table = {"type": "object", "required": ["path"], "properties": {"path": paths}}
        return {"anyOf": [*paths["anyOf"], table]}

    @model_validator(mode="before")
    @classmethod
    def _normalise(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"path": (value,)}
        if isinstance(value, (list, tuple)):
            return {"path": tuple(value)}
        if not isinstance(value, dict) or "options" in value:
            return value
        if "path" not in value:
            near = difflib.get_close_matches("path", value, n=1)
            advice = (
                f"unknown key {near[0]!r}: did you mean path?" if near else 'write path = "FILE"'
            )
            raise ValueError(f"names no file; {advice}")
        path = value["path"]
        own = {"path": (path,) if isinstance(path, str) else path, "format": value.get("format")}
        return own | {"options": {k: v for k, v in value.items() if k not in own}}


class TableSource(Source):
    """Files with named columns."""

    kind = "table"


class LexiconSource(TableSource):
    """Files with lemmas and forms, which the stage normalises."""


class WordSource(TableSource):
    """Files with one word per line, or tables with a column word."""


class CorpusSource(Source):
    """Files with tokens."""

    kind = "corpus"


# Stages and deliveries to people

C = TypeVar("C", bound=StageConfig, default=StageConfig)


@dataclass(frozen=True)
class Sheets:
    """Sheets to be filled in by people: the table ``sheet`` of a stage.

    Parameters
    ----------
    folder : str
        Folder of the sheets.
    kind : str
        "xlsx" or "csv".
    format : str
        Format that writes and reads the sheets.
    instructions : str
        Instructions to annotators.
    labels : tuple of str
        The labels to choose from, if any.
    guidelines : mapping of str to str
        Optional guidelines by label.
    """

    folder: str
    kind: Literal["xlsx", "csv"]
    format: str
    instructions: str = ""
    labels: tuple[str, ...] = ()
    guidelines: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NBestList:
    """A delivered list: the tables ``list`` and ``about`` of a stage, and ``parts`` if it has one.

    Parameters
    ----------
    folder : str
        Folder of the list.
    kind : str
        "xlsx" or "csv".
    """

    folder: str
    kind: Literal["xlsx", "csv"]


Delivery: TypeAlias = Sheets | NBestList
"""A delivery to people."""


@dataclass(frozen=True)
class Stage(Generic[C]):
    """A registered stage.

    Parameters
    ----------
    name : str
        Its name in ``use =``: verb and operation, e.g. "sample.random".
    make : callable
        (config, tables) -> outputs, or a generator of outputs for large tables: each piece holds
        parts of some tables, in key order. Must not access files, and must run on empty frames.
    config : type of StageConfig
        The options. Fields marked `Of` are inputs, fields of type `Source` are files.
    outputs : mapping of str to schema
        The output tables, the main table first.
    shards : str or None
        The `Source` field whose files are processed separately, or the `Of` field whose parts are;
        the results are the parts of the output.
    uses : callable or None
        config -> modules whose code affects the result, besides imports of the stage and registered
        names in its options, see `pipeline.registry.NameIn`.
    counting : Counting or None
        Combination of the results of shards; by default they are the parts of the output.
    delivers : callable, str or None
        config -> delivery, `Sheets` or `NBestList`, which the runner writes outside the store. The
        format of sheets, or "list", if the options have the names of their fields.
    agree : callable or None
        (config, referenced stages by option) -> inconsistencies, as a `Problem` for each option.
    origin : callable or None
        (config, input rows) -> file, line and key of the rows of the main table, for messages about
        rows that violate a rule. None if it reads no table, or reports all errors as faults.
    """

    name: str
    make: Callable[[C, Tables], Outputs | Iterator[Outputs]]
    _: KW_ONLY
    config: type[C]
    outputs: Mapping[str, type[Table]]
    shards: str | None = None
    uses: Callable[[C], Iterable[str]] | None = None
    counting: Counting | None = None
    delivers: Callable[[C], Delivery] | str | None = None
    agree: Callable[[C, Mapping[str, StageReference]], Iterable[Problem]] | None = None
    origin: Callable[[C, Tables], pl.LazyFrame] | None = None

    def run(self, config: C, tables: Tables) -> Outputs:
        """Return the complete tables."""
        outputs = self.make(config, tables)
        return join_pieces(outputs) if isinstance(outputs, Iterator) else outputs

    def places(self, config: C) -> set[str]:
        """Return where registered code used with these options is defined, as ``module:name``."""
        places = [
            mark.places(getattr(config, option))
            for option, info in self.config.model_fields.items()
            for mark in info.metadata
            if isinstance(mark, NameIn)
        ]
        return set().union(*places, self.uses(config) if self.uses else ())

    def delivery(self, config: C) -> Delivery | None:
        """Return the delivery with these options, None if there is none."""
        if self.delivers is None or callable(self.delivers):
            return self.delivers(config) if self.delivers else None
        preset: dict[str, Any] = {} if self.delivers == "list" else {"format": self.delivers}
        kind: type[Sheets] | type[NBestList] = Sheets if preset else NBestList
        names = {each.name for each in fields(kind)} - set(preset)
        options = {each: getattr(config, each) for each in names if hasattr(config, each)}
        return kind(**preset, **options)

    @property
    def shard_outputs(self) -> Mapping[str, type[Table]]:
        """The tables that `run` makes from one shard."""
        return self.counting.partials if self.counting else self.outputs

    @property
    def corpora(self) -> set[str]:
        """The options for files of tokens."""
        kinds = {name: option.annotation for name, option in self.config.model_fields.items()}
        return {
            name
            for name, kind in kinds.items()
            if isinstance(kind, type) and issubclass(kind, CorpusSource)
        }

    @property
    def reads_corpus(self) -> bool:
        """True if its shards are files of tokens."""
        return self.shards in self.corpora

    @property
    def doc(self) -> str:
        """The first line of the config's docstring."""
        return (self.config.__doc__ or "").strip().splitlines()[0]


_REPLACED = {
    "evaluate.stratified": "use evaluate.designed with inclusion = the table strata of the sample"
}

STAGES: Registry[Stage[Any]] = Registry("stage", "pipeline.stages", replaced=_REPLACED)

stage = STAGES.named_decorator(Stage)
"""Register a function (config, tables) -> outputs, or a generator of outputs, as a stage."""


def _proportion(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError(f"must lie between 0 and 1, not {value}")
    return value


Proportion: TypeAlias = Annotated[float, AfterValidator(_proportion)]
"""A number strictly between 0 and 1."""


# Late options: changing them does not repeat the counting


@dataclass(frozen=True)
class Late:
    """Mark an option of a counting stage that only `Counting.combine` reads.

    The counts do not depend on it, so a change does not repeat the counting.
    """


def late_options(config: type[StageConfig]) -> frozenset[str]:
    """Return the options marked `Late`.

    Parameters
    ----------
    config : type of StageConfig
        The options of a stage.

    Examples
    --------
    >>> from pipeline.stages.collocations.extract_corpus import ExtractPairs
    >>> sorted(late_options(ExtractPairs))
    ['min_frequency']
    """
    fields = config.model_fields.items()
    return frozenset(
        name for name, field in fields if any(isinstance(mark, Late) for mark in field.metadata)
    )
