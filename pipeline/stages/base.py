"""Stages: registry, typed options and inputs, what they deliver, and how they count shards."""

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

from pipeline.config_model import Described
from pipeline.errors import Problem
from pipeline.registry import Named, Registry
from schemas import SheetEntries, Table

Tables: TypeAlias = Mapping[str, pl.LazyFrame]
Outputs: TypeAlias = Mapping[str, pl.LazyFrame | pl.DataFrame]

FAULTS = "faults"
"""Reserved output name: rows of input that cannot be used, see `schemas.Faults`."""

# Counting: partial tables of shards are added up, then combined into the outputs


class DocumentBounds(NamedTuple):
    """Whether documents go on beyond what is counted at once.

    Parameters
    ----------
    starts_before : bool
        Whether the first one may have starts_before before.
    continues_after : bool
        Whether the last one may go on.
    """

    starts_before: bool = False
    continues_after: bool = False


@dataclass(frozen=True)
class Sums:
    """Columns of sums over all rows of a partial table, to stand beside each row of a bucket.

    Parameters
    ----------
    table : str
        The partial table.
    model : schema
        The schema of the columns.
    groups : callable
        config -> into how many groups the columns fall; each is a task of its own.
    of : callable
        (config, number of the group, parts of the table) -> its columns for each part, their rows
        in the order of the part's.
    """

    table: str
    model: type[Table]
    groups: Callable[[Any], int]
    of: Callable[[Any, int, Sequence[pl.LazyFrame]], Iterator[pl.DataFrame]]

    def names(self, config: StageConfig) -> list[str]:
        """Return the names of the groups among the tables that a task reads."""
        return [f"{self.table}, sums {group}" for group in range(self.groups(config))]


@dataclass(frozen=True)
class Counting:
    """How a stage counts shard by shard.

    `Stage.run` makes partial tables of the tokens or rows of a batch, `merge` adds partial tables
    up, and `combine` makes the outputs of the sums. The outputs must not depend on how the input
    is divided into batches, shards or buckets. A stage whose shards are files of a corpus gets
    the tokens batch by batch.

    Parameters
    ----------
    partials : mapping of str to schema
        Required. The partial tables: the tables that `Stage.run` makes of a batch, and that
        `merge` returns. Texts may be Categorical until a file is written.
    merge : callable
        Required. Takes the options and the concatenated partial tables of several batches or
        shards; returns partial tables in which every key stands once.
    combine : callable
        Required. Takes the options and the merged tables of a bucket, with the totals; returns
        the outputs. Options that only `combine` reads are marked `pipeline.stages.base.Late`:
        the counts are the same for all their values.
    columns : callable or None
        Batches. Takes the options; returns the columns of the tokens that `Stage.run` reads. It
        reads all if None.
    whole : callable or None
        Batches. Takes the options; returns "sentence", "paragraph" or "document", the unit that
        no batch divides; or "file": a batch ends with any sentence, but no shard divides a file.
    carry : mapping of str to Schema
        Batches. Tables that `Stage.run` makes of a batch for the next batch of the same shard.
        It finds them among its inputs; they have no rows for the first batch.
    in_parts : bool
        Batches. Whether a shard may be a part of a file; see `pipeline.runner.counting`.
    buckets : mapping of str to Expr
        Buckets. The partial tables and outputs that can be divided, each with the id by which
        they are divided. The other tables are small, and every bucket gets them whole.
    totals : callable or None
        Buckets. Takes the options and the merged tables of a bucket; returns tables of sums over
        their rows. The sums of all buckets are added up, by key, and every bucket gets them.
    total_tables : mapping of str to schema
        Buckets. The tables that `totals` returns.
    undivided : mapping of str to str
        Buckets. Maps a name to a partial table. If there are several buckets, `combine` finds
        the table of all buckets under that name, beside the part of its own bucket, and reads
        it batch by batch.
    sums : Sums or None
        Buckets. Columns that `combine` finds in a partial table if there are several buckets.
    weight : callable or None
        Memory. Takes the options; returns how many times as much memory a row of the counts
        takes as a row of pairs. It is 1 if None.
    raw : collection of str
        Tallies. Tables of uncounted rows that `Stage.run` makes of a batch, beside the partial
        tables. The runner collects them over many batches, because counting them at once is
        cheaper.
    tally : callable or None
        Tallies. Takes the raw tables of some batches and `DocumentBounds`; returns partial tables.
    tallied : collection of str
        Tallies. The tables that `tally` returns. In a single one every key stands once: it need
        not be merged.
    close : callable or None
        Tallies. Takes the merged partial tables of the whole input; returns the same tables,
        changed as is right when no tokens can follow.
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

    def divided(self, config: StageConfig) -> set[str]:
        """Return the tables of which each bucket has parts of its own."""
        return {*self.buckets, *(self.sums.names(config) if self.sums else ())}


def iterate_pieces(made: Outputs | Iterator[Outputs]) -> Iterator[Outputs]:
    """Iterate over the outputs of `Stage.make`: one piece, or several if it is a generator."""
    return made if isinstance(made, Iterator) else iter([made])


def join_pieces(pieces: Iterable[Outputs]) -> Outputs:
    """Return the tables of pieces, each as a whole.

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


class StageConfig(Described):
    """Base of the typed options of a stage: frozen, no unknown keys."""


class Seeded(StageConfig):
    """Options of a stage that draws at random."""

    seed: str = ""
    """Seed of the stage; the experiment's seed if empty."""


@dataclass(frozen=True)
class Of:
    """Marks a config field as a reference to a table of this schema, or to several.

    Of a field that lists stages each table is an input of its own, see `tables_of_option`.
    """

    schema: type[Table]


def input_name(option: str, number: int) -> str:
    """Return the name of the input that an option lists at a place, from 0.

    Examples
    --------
    >>> input_name("systems", 1)
    'systems.1'
    """
    return f"{option}.{number}"


def tables_of_option(tables: Tables, option: str, stages: Collection[str]) -> list[pl.LazyFrame]:
    """Return the tables that an option lists, in the order of the option.

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
    """A stage that another one refers to: its name and its options."""

    stage: str
    config: StageConfig


@dataclass(frozen=True)
class FilledSheets:
    """Marks a config field as the folder of the sheets that people fill in.

    The runner hands over what stands in them; nothing, as long as there are none.

    Parameters
    ----------
    entries : schema
        What a sheet is read as.
    format : str
        The format of kind "sheet" that reads and lays out such sheets.
    """

    entries: type[Table] = SheetEntries
    format: str = "annotation_sheet"


def _require_files(path: tuple[str, ...]) -> tuple[str, ...]:
    if not all(path) or not path:
        raise ValueError('names no file; write path = "FILE", or a list of files')
    return path


class Source(BaseModel):
    """A file, several, or a glob, that a reader opens for the stage.

    Written in an experiment as a path, a list of paths, or a table with ``path``,
    ``format`` and the reader's own options. A path that starts with ``data:`` lies under
    the data root.

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
            meant = (
                f"unknown key {near[0]!r}: did you mean path?" if near else 'write path = "FILE"'
            )
            raise ValueError(f"names no file; {meant}")
        path = value["path"]
        own = {"path": (path,) if isinstance(path, str) else path, "format": value.get("format")}
        return own | {"options": {k: v for k, v in value.items() if k not in own}}


class TableSource(Source):
    """Files with named columns."""

    kind = "table"


class LexiconSource(TableSource):
    """Files with lemmas and forms, which the stage normalises as its option spelling says."""


class CorpusSource(Source):
    """Files with tokens."""

    kind = "corpus"


# Stages, and what they deliver to people

C = TypeVar("C", bound=StageConfig, default=StageConfig)


@dataclass(frozen=True)
class Sheets:
    """Sheets that go out to people and come back filled in: the table ``sheet`` of a stage.

    Parameters
    ----------
    folder : str
        Their folder.
    kind : str
        "xlsx" or "csv".
    format : str
        The format that lays them out and reads them back.
    instructions : str
        Instructions for those who fill them in.
    labels : tuple of str
        What they can choose, where it is a choice.
    guidelines : mapping of str to str
        Label to when it is given; of some labels or none.
    """

    folder: str
    kind: Literal["xlsx", "csv"]
    format: str
    instructions: str = ""
    labels: tuple[str, ...] = ()
    guidelines: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NBestList:
    """A list that goes out and does not come back: the tables ``list`` and ``about`` of a stage.

    Parameters
    ----------
    folder : str
        Its folder.
    kind : str
        "xlsx" or "csv".
    """

    folder: str
    kind: Literal["xlsx", "csv"]


Delivery: TypeAlias = Sheets | NBestList
"""What goes out to people."""


@dataclass(frozen=True)
class Stage(Generic[C]):
    """A registered stage.

    Parameters
    ----------
    name : str
        What an experiment writes after ``use =``: verb and operation, "sample.random".
    make : callable
        (config, tables) -> outputs; or a generator of outputs, for tables that are larger than
        what should be held: each piece holds parts of some tables, those of a table in the order
        of its key. Never touches a file; must run on zero-row frames.
    config : type of StageConfig
        The options. Fields marked `Of` are inputs, fields of type `Source` are files.
    outputs : mapping of str to schema
        The tables that it makes, the main one first.
    shards : str or None
        The `Source` field whose files are worked on one by one, or the `Of` field whose
        parts are; the results are the parts of the output.
    uses : callable or None
        config -> modules whose code the result rests on, besides those that the stage imports
        and those of what its options name, see `pipeline.registry.Named`.
    counting : Counting or None
        How its results are put together from those of shards; the results are the parts of the
        output if None.
    delivers : callable, str or None
        config -> what goes out to people, `Sheets` or `NBestList`, which the runner writes outside
        the store. The format of sheets, or "list", where the options are called as their fields.
    agree : callable or None
        (config, the stages that it refers to, by its own option) -> what does not go together in
        them, as a `Problem` whose place is that option.
    origin : callable or None
        (config, the files' rows) -> file, line and the key of the rows of its main table, for the
        message about a row that breaks a rule. None if it reads no table, or names the lines of
        all that can be wrong as faults.
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
        """Return the tables, each as a whole."""
        made = self.make(config, tables)
        return join_pieces(made) if isinstance(made, Iterator) else made

    def places(self, config: C) -> set[str]:
        """Return where the code is that it finds through registries, with these options."""
        named = [
            mark.places(getattr(config, option))
            for option, info in self.config.model_fields.items()
            for mark in info.metadata
            if isinstance(mark, Named)
        ]
        return set().union(*named, self.uses(config) if self.uses else ())

    def delivery(self, config: C) -> Delivery | None:
        """Return what goes out to people, with these options; None if nothing does."""
        if self.delivers is None or callable(self.delivers):
            return self.delivers(config) if self.delivers else None
        preset: dict[str, Any] = {} if self.delivers == "list" else {"format": self.delivers}
        kind: type[Sheets] | type[NBestList] = Sheets if preset else NBestList
        names = {each.name for each in fields(kind)} - set(preset)
        options = {each: getattr(config, each) for each in names if hasattr(config, each)}
        return kind(**preset, **options)

    @property
    def shard_outputs(self) -> Mapping[str, type[Table]]:
        """The tables that `run` makes of one shard."""
        return self.counting.partials if self.counting else self.outputs

    @property
    def corpora(self) -> set[str]:
        """The options that name files with tokens."""
        kinds = {name: option.annotation for name, option in self.config.model_fields.items()}
        return {
            name
            for name, kind in kinds.items()
            if isinstance(kind, type) and issubclass(kind, CorpusSource)
        }

    @property
    def reads_corpus(self) -> bool:
        """Whether its shards are files with tokens."""
        return self.shards in self.corpora

    @property
    def doc(self) -> str:
        """The first line of the config's docstring."""
        return (self.config.__doc__ or "").strip().splitlines()[0]


STAGES: Registry[Stage[Any]] = Registry("stage", "pipeline.stages")

stage = STAGES.named_decorator(Stage)
"""Registers a function (config, tables) -> outputs, or a generator of them, as a named stage."""


def _proportion(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError(f"must lie between 0 and 1, not {value}")
    return value


Proportion: TypeAlias = Annotated[float, AfterValidator(_proportion)]
"""A number strictly between 0 and 1."""


# Late options: a change of them counts nothing again


@dataclass(frozen=True)
class Late:
    """Marks an option that of a counting stage `Counting.combine` alone looks at.

    The counts are the same whatever its value, so that with another one nothing is counted again.
    """


def late_options(config: type[StageConfig]) -> frozenset[str]:
    """Return the options that are marked so.

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
