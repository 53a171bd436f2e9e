"""Extraction of gold classes and induced clusters, from tables of entries and tagged corpora."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar

import polars as pl
from pydantic import BeforeValidator, Field

from pipeline.errors import ConfigError, DataError, Problem
from pipeline.kernels import cells
from pipeline.kernels.cells import NO_NUMBER, NO_WORD, Kind, label_lists
from pipeline.kernels.clustering import encoding
from pipeline.kernels.clustering.encoding import WEIGHT, Noise, is_noise, noise_labels, own_cluster
from pipeline.kernels.clustering.systems import bare_name
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import (
    FAULTS,
    CorpusSource,
    Counting,
    Late,
    Outputs,
    StageConfig,
    Tables,
    TableSource,
    stage,
)
from pipeline.stages.inputs import (
    NumberOptions,
    list_absent_values,
    require,
    require_attributes,
    with_label_texts,
)
from schemas import (
    CorpusSize,
    GoldEntries,
    GoldSentences,
    InducedEntries,
    SystemSize,
    TokenSentences,
    TokenTags,
)

# Tables of entries: items with their classes or clusters

BY = "by"
"""The optional column that divides items, e.g. the target word of instances."""
_NO_COUNT = "is not a count of 1 or more, or is too large to sum"
_EMPTY_PART = "has an empty label between two separators"
_WEIGHTS = (WEIGHT, f"{WEIGHT}s")
"""Names of weight columns, case-insensitive."""

Name = TypeVar("Name", bound=str)


class EntryTable(NumberOptions):
    """A table with one row per item, or per item and group."""

    separator: str = ""
    """Separator of several labels in one field, e.g. "|" (default: one label per field)."""
    fold: bool = False
    """Convert items to lower case."""
    path: TableSource = Field()
    """Files: TSV, CSV, Parquet, Brown paths, blocks of words; also gzipped."""

    @property
    def named(self) -> dict[str, str]:
        """Names of columns in the file, if different."""
        return {str(ours): theirs for ours, theirs in getattr(self, "columns", {}).items()}

    def number_columns(self, schema: pl.Schema) -> dict[str, Kind]:
        """Return the count and weight columns of the file."""
        f = self.named.get("f", "f")
        weights: dict[str, Kind] = dict.fromkeys(self.weight_columns(schema), "number")
        return weights | ({f: "count"} if f in schema else {})

    def weight_columns(self, schema: pl.Schema) -> list[str]:
        """Return the weight column, if any."""
        others = {self.named.get(each, each) for each in ("item", "gold", "cluster", "f", BY)}
        own = (name for name in schema.names() if name not in others)
        return [name for name in own if name.lower() in _WEIGHTS][:1]


class Columns:
    """The columns of an entry in a file.

    Parameters
    ----------
    raw : LazyFrame
        Rows of the file, with file and line.
    config : EntryTable
        The options.
    label : str
        "gold" or "cluster".

    Raises
    ------
    ConfigError
        If a required or named column is missing. f, by and weights are optional.
    """

    def __init__(self, raw: pl.LazyFrame, config: EntryTable, label: str) -> None:
        schema = raw.collect_schema()
        columns = config.named
        names = {each: columns.get(each, each) for each in ("item", label)}
        optional = [each for each in ("f", BY) if each in columns or each in schema]
        names |= {each: columns.get(each, each) for each in optional}
        require(schema, [(f"columns.{each}", name) for each, name in names.items()])
        self.raw, self.label, self.names = raw, label, names
        self.forms = config.formats(raw)
        weights = config.weight_columns(schema)
        require(schema, [(f"columns.{WEIGHT}", name) for name in weights])
        self.counts = {
            name: cells.count_column(name, schema[name], form, least=1)
            for name, form in self.forms.items()
            if name not in weights
        }
        self.weights = {
            name: cells.number(name, schema[name], self.forms[name]) for name in weights
        }

    def entries(self, config: EntryTable) -> pl.LazyFrame:
        """Return file, item, label, f (null without counts), by and weight, one row per label.

        There is no by and no weight if the file has none.
        """
        item = pl.col(self.names["item"]).cast(pl.String)
        label = pl.col(self.names[self.label]).cast(pl.String)
        rows = self.raw.select(
            "file",
            (item.str.to_lowercase() if config.fold else item).alias("item"),
            self._labels(label, config.separator).alias(self.label),
            next(iter(self.counts.values()), pl.lit(None, pl.Int64)).alias("f"),
            *(pl.col(self.names[each]).cast(pl.String).alias(each) for each in self.by),
            *(each.alias(WEIGHT) for each in self.weights.values()),
        ).explode(self.label)
        return rows.filter(pl.col("item") != "", pl.col(self.label) != "")

    @property
    def by(self) -> list[str]:
        """`BY`, if the file has the column."""
        return [BY] if BY in self.names else []

    @staticmethod
    def _labels(label: pl.Expr, separator: str) -> pl.Expr:
        """Return the labels of each row: from a list, split by separator, or a single one."""
        parts = label.str.split(separator) if separator else pl.concat_list(label)
        lists = label_lists(label)
        alone = (lists.list.len() == 1) & (lists.list.first() == label.str.strip_chars())
        return pl.when(alone | lists.is_null()).then(parts).otherwise(lists)

    def faults(self, config: EntryTable) -> pl.LazyFrame:
        """Return unusable values: empty labels, invalid counts or weights."""
        label = pl.col(self.names[self.label]).cast(pl.String)
        texts = {
            self.names["item"]: cells.text_or_null(self.names["item"]),
            self.names[self.label]: label_lists(label),
            **{self.names[each]: cells.text_or_null(self.names[each]) for each in self.by},
        }
        wrong = [cells.faults(self.raw, parsed=texts, problem=NO_WORD, required=True)]
        if self.counts:
            wrong.append(
                cells.faults(
                    self.raw,
                    parsed=self.counts,
                    problem=_NO_COUNT,
                    required=True,
                    forms=self.forms,
                )
            )
        if self.weights:
            wrong.append(
                cells.faults(
                    self.raw,
                    parsed=self.weights,
                    problem=NO_NUMBER,
                    required=False,
                    forms=self.forms,
                )
            )
        if config.separator:
            label = pl.col(self.names[self.label]).cast(pl.String)
            parts = label.str.split(config.separator)
            whole = pl.when(~parts.list.contains("")).then(label)
            bad = {self.names[self.label]: whole}
            wrong.append(cells.faults(self.raw, parsed=bad, problem=_EMPTY_PART, required=False))
        return pl.concat(wrong)


def _add_up(column: str) -> pl.Expr:
    """Return the sum of a column, null if all values are."""
    return pl.when(pl.col(column).is_not_null().any()).then(pl.col(column).sum()).alias(column)


# Clusters from a table: systems and their runs


class RunOptions(StageConfig):
    """Names of a system and its run."""

    system: str = Field(min_length=1)
    """Name of the system."""
    run: str = ""
    """Name of the run (default: each file is a run with its name)."""


def files_of(rows: pl.LazyFrame) -> pl.Series:
    """Return the files of rows in order, which reads all rows."""
    return rows.select(pl.col("file").unique()).collect(engine="streaming").to_series().sort()


def require_distinct(files: pl.Series) -> None:
    """Reject files with equal names in several folders, which would be one run.

    Parameters
    ----------
    files : Series of String
        Their distinct paths in the experiment, in order.

    Raises
    ------
    ConfigError
        With three of them.
    """
    names = pl.LazyFrame({"file": files}).select("file", run=bare_name("file"))
    alike = names.filter(pl.len().over("run") > 1).collect().sort("run", "file")
    if alike.height:
        examples = ", ".join(alike["file"].head(3))
        problem = Problem(
            "run",
            f"{alike.height} files have the same names: {examples}",
            "use a stage for each, with option run",
        )
        raise ConfigError("run", [problem])


Column: TypeAlias = Literal["item", "cluster", "f", "by"]


NoiseLabels: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(noise_labels)]
"""Labels of noise, as text; in the file also numbers, and one without a list."""


class ExtractClusters(EntryTable, RunOptions):
    """Read induced clusters of word types from a cluster dictionary."""

    columns: dict[Column, str] = Field(default_factory=dict)
    """Names of item, cluster and (optional) f and by in the file, if different; by is the target
    word of an instance. Only fuzzy measures use a column weight; others reject it.
    """
    prefix: int | None = Field(default=None, ge=1)
    """Truncate cluster names to this number of characters, e.g. Brown paths."""
    noise: NoiseLabels = ()
    """Labels of items without a cluster, e.g. [-1] of DBSCAN and HDBSCAN."""
    noise_as: Noise = "excluded"
    """Noise items are ``excluded`` (they have no cluster) or ``clusters`` (each is one)."""


@stage(
    "extract.clusters",
    config=ExtractClusters,
    outputs={"entries": InducedEntries, "sizes": SystemSize},
)
def extract_clusters(config: ExtractClusters, tables: Tables) -> Outputs:
    """Read rows, name their runs, and merge equal entries."""
    raw = with_label_texts(tables["path"], [config.named.get("cluster", "cluster")])
    if not config.run:
        require_distinct(files_of(raw))
    columns = Columns(raw, config, "cluster")
    cluster = pl.col("cluster")
    rows = columns.entries(config).with_columns(
        system=pl.lit(config.system), run=pl.lit(config.run) if config.run else bare_name("file")
    )
    noisy = is_noise(cluster, config.noise)
    label = cluster.str.slice(0, config.prefix) if config.prefix else cluster
    if config.noise and config.noise_as == "clusters":
        label = pl.when(noisy).then(own_cluster(cluster, pl.col("item"))).otherwise(label)
    members = rows.filter(~noisy) if config.noise_as == "excluded" else rows
    members = members.with_columns(cluster=label)
    key = ["system", "run", "item", "cluster", *columns.by]
    entries = members.group_by(key).agg(map(_add_up, ["f", *([WEIGHT] if columns.weights else [])]))
    counts = sizes(entries)
    if config.noise:
        items = rows.group_by("system", "run").agg(
            count=pl.col("item").filter(noisy).n_unique().cast(pl.Int64)
        )
        what = pl.lit(NOISE[config.noise_as])
        counts = pl.concat([counts, items.select("system", "run", what.alias("what"), "count")])
    return {"entries": entries, "sizes": counts, FAULTS: columns.faults(config)}


NOISE: dict[Noise, str] = {
    "excluded": "noise items, excluded",
    "clusters": "noise items, each a cluster of its own",
}
"""What is counted in sizes."""


def sizes(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Count items, clusters, and items in several clusters of each run."""
    run = ["system", "run"]
    several = (pl.len() > 1).alias("several")
    by_item = entries.group_by(*run, "item").agg(several).group_by(run)
    counts = by_item.agg(
        pl.len().alias("items"), pl.col("several").sum().alias("items in several clusters")
    )
    clusters = entries.group_by(run).agg(pl.col("cluster").n_unique().alias("clusters"))
    rows = counts.join(clusters, on=run).unpivot(
        index=run, variable_name="what", value_name="count"
    )
    return rows.with_columns(pl.col("count").cast(pl.Int64))


# Options and counts of tagged tokens

GOLD_RUN = ""
"""Run name of a gold standard."""
PLACE = ("file", "sentence")
"""Columns that identify a sentence."""
_SENTENCES = 4
"""Relative memory of counts by sentence, most of which are distinct."""
PARTIALS = {"tags": TokenTags, "sentences": TokenSentences}
ALL = "all tags"
"""Counts of the items of all buckets."""
BY_ITEM = candidate_id(pl.col("item").fill_null(""))
"""Key that divides counts of items."""
BY_SENTENCE = candidate_id("file", pl.col("sentence").cast(pl.String))
"""Key that divides counts of sentences."""


class TagOptions(StageConfig):
    """Options for tokens, items and gold classes."""

    item: str = "form"
    """Attribute that identifies items: form or lemma."""
    tag: str = "upos"
    """Attribute with the gold class: upos, xpos, or a column of the table."""
    exclude: Annotated[tuple[str, ...], Late()] = ()
    """Gold classes whose tokens are removed first, e.g. ["PUNCT"]."""
    fold: bool = False
    """Convert items to lower case."""
    min_frequency: Annotated[int, Late()] = Field(default=1, ge=1)
    """Skip items with fewer tokens, not counting excluded ones."""
    sentences: bool = False
    """Also keep the counts of each sentence, for bootstrap intervals."""

    def read(self, tokens: pl.LazyFrame, **further: pl.Expr) -> pl.LazyFrame:
        """Return run, item, gold and cluster of tokens, null if missing.

        Raises
        ------
        ConfigError
            If the tokens lack an attribute.
        """
        require_attributes(tokens.collect_schema(), self.attributes)
        columns = {
            "run": pl.lit(GOLD_RUN),
            "item": encoding.attribute(self.item, fold=self.fold),
            "gold": encoding.attribute(self.tag),
            "cluster": pl.lit(None, pl.String),
            **further,
        }
        place = PLACE if self.sentences else ()
        return tokens.select(*(value.alias(name) for name, value in columns.items()), *place)

    def count(self, tags: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
        """Return the counts of tokens, and those of each sentence if requested."""
        by_sentence = _by_sentence(tags) if self.sentences else TokenSentences.zero_rows()
        return {"tags": encoding.count_tokens(tags), "sentences": by_sentence}

    def columns(self) -> set[str]:
        """Return the token columns used."""
        return set(PLACE).union(*self.attributes.values())

    @property
    def weight(self) -> int:
        """Memory of a token's counts, relative to those of a pair."""
        return _SENTENCES if self.sentences else 1

    @property
    def attributes(self) -> dict[str, set[str]]:
        """The attributes named by each option."""
        return {"item": {self.item}, "tag": {self.tag}}

    def select(self, tags: pl.LazyFrame) -> pl.LazyFrame:
        """Return the tokens included."""
        return encoding.filter_tokens(tags, exclude=self.exclude, min_frequency=self.min_frequency)

    def sizes(self, tags: pl.LazyFrame) -> pl.LazyFrame:
        """Return the numbers of included and excluded tokens by run."""
        return encoding.sizes(tags, exclude=self.exclude, min_frequency=self.min_frequency)


def require_tags(config: TagOptions, sizes: pl.DataFrame) -> None:
    """Reject a corpus without included tokens, probably because of a wrong attribute.

    Parameters
    ----------
    config : TagOptions
        The options.
    sizes : DataFrame
        run, what, count, from `TagOptions.sizes`.

    Raises
    ------
    DataError
        With the number of tokens, and the reasons for their exclusion.
    """
    first = sizes.filter(pl.col("run") == pl.col("run").min())
    counts = dict(first.select("what", "count").iter_rows())
    if not counts or counts["tokens that count"]:
        return
    every = counts.pop("tokens")
    reasons = sorted(what for what, count in counts.items() if count and "tokens" in what)
    listing = ", ".join(f"{counts[what]:,} {what}" for what in reasons)
    raise DataError(
        f"all {every:,} tokens are excluded: {listing}\n"
        f"Check the options tag ({config.tag!r}), item ({config.item!r}), exclude and"
        " min_frequency."
    )


def require_excluded(config: TagOptions, summary: Survey, tags: pl.LazyFrame) -> None:
    """Reject excluded classes that do not occur.

    Parameters
    ----------
    config : TagOptions
        The options.
    summary : Survey
        Summary of all tokens.
    tags : LazyFrame
        Counts of all tokens.

    Raises
    ------
    ConfigError
        With the existing classes.
    """
    counted = summary.sizes.group_by("what").agg(pl.sum("count"))
    counts = dict(counted.iter_rows())
    absent = [name for name in config.exclude if not counts.get(encoding.EXCLUDED + name)]
    if absent:
        of_tokens = tags.drop_nulls("gold").group_by("gold").agg(pl.sum("f"))
        classes = of_tokens.sort("f", "gold", descending=[True, False]).collect(engine="streaming")
        where = f"attribute {config.tag!r} of the corpus"
        problems = list_absent_values("exclude", absent, classes["gold"], what="class", where=where)
        if problems:
            raise ConfigError("exclude", problems)


def merge_tags(_config: TagOptions, tables: Tables) -> dict[str, pl.LazyFrame]:
    """Sum the counts of parts of a corpus, with adjacent rows for each item."""
    return {
        "tags": encoding.count_tokens(tables["tags"]).sort("item"),
        "sentences": _by_sentence(tables["sentences"]),
    }


def counting(
    combine: Callable[[Any, Tables], Outputs], columns: Callable[[Any], set[str]], *outputs: str
) -> Counting:
    """Return the counting of tags by item and by sentence.

    Parameters
    ----------
    combine : callable
        Makes the outputs.
    columns : callable
        Token columns used.
    *outputs : str
        Outputs divided by item; ``sentences`` is divided by sentence.
    """
    return Counting(
        partials=PARTIALS,
        merge=merge_tags,
        combine=combine,
        columns=columns,
        buckets={
            "tags": BY_ITEM,
            "sentences": BY_SENTENCE,
            **dict.fromkeys(outputs, BY_ITEM),
        },
        undivided={ALL: "tags"},
        weight=lambda config: config.weight,
    )


def _by_sentence(tags: pl.LazyFrame) -> pl.LazyFrame:
    return encoding.count_tokens(tags, *PLACE).select(*TokenSentences.columns())


# Survey of all tokens in pieces, since the counts may not fit in memory

EXAMPLES = 3
_ITEM = ["run", "item", "gold"]


class Survey(NamedTuple):
    """Summary of all tokens; small, except for `counting`, which has the requested items."""

    sizes: pl.DataFrame
    """run, what, count: numbers of included tokens, and of excluded tokens by reason."""
    cells: pl.DataFrame
    """run, gold, cluster, f of the included tokens."""
    alone: pl.DataFrame
    """item, f: most frequent items with included tokens without a cluster."""
    counting: pl.DataFrame
    """run, item, gold of included tokens of the requested items."""

    def asked_for(self, config: TagOptions, tags: pl.LazyFrame, sentences: pl.LazyFrame) -> Survey:
        """Return a copy with the items of some sentences as requested items.

        Parameters
        ----------
        config : TagOptions
            Options for tokens.
        tags : LazyFrame
            Counts of all tokens, with adjacent rows for each item.
        sentences : LazyFrame
            Counts by sentence, with item.
        """
        items = sentences.select("item").unique().collect()
        if items.is_empty():
            return self._replace(counting=self.counting.clear())
        pieces = (piece.lazy() for piece in encoding.whole_items(tags))
        tables = [_kept_items(config.select(piece), items).collect() for piece in pieces]
        return self._replace(counting=pl.concat([self.counting.clear(), *tables]))

    def of_sentences(self, sentences: pl.LazyFrame) -> pl.LazyFrame:
        """Return counts by sentence of included tokens of the requested items."""
        return sentences.join(self.counting.lazy(), on=_ITEM, how="semi")


def survey(config: TagOptions, tags: pl.LazyFrame, sentences: pl.LazyFrame | None = None) -> Survey:
    """Summarise the counts of all tokens in one pass.

    Parameters
    ----------
    config : TagOptions
        Options for tokens.
    tags : LazyFrame
        Counts of all tokens, with adjacent rows for each item.
    sentences : LazyFrame, optional
        Counts by sentence, which determine the requested items.
    """
    items = (tags.clear() if sentences is None else sentences).select("item").unique().collect()
    summary = _survey_items(config, tags.clear(), items)
    for piece in encoding.whole_items(tags):
        summary = _merge_surveys(summary, _survey_items(config, piece.lazy(), items))
    every = summary.sizes.lazy().select("run").unique()
    kinds = encoding.kinds(summary.cells.lazy(), every).collect()
    return summary._replace(sizes=pl.concat([summary.sizes, kinds.select(summary.sizes.columns)]))


def _survey_items(config: TagOptions, tags: pl.LazyFrame, items: pl.DataFrame) -> Survey:
    """Summarise some items with all their rows; sizes do not include classes."""
    rows = config.select(tags)
    alone = rows.filter(pl.col("cluster").is_null()).select("item", "f")
    parts = [config.sizes(tags), _cells(rows), _most_frequent(alone), _kept_items(rows, items)]
    return Survey(*pl.collect_all(parts))


def _kept_items(rows: pl.LazyFrame, items: pl.DataFrame) -> pl.LazyFrame:
    """Return run, item and class of included tokens of some items."""
    own = rows.join(items.lazy(), on="item", how="semi", nulls_equal=True)
    return own.select(_ITEM).unique()


def _merge_surveys(one: Survey, two: Survey) -> Survey:
    """Merge two summaries."""
    sizes, cells, alone, counting = (pl.concat(pair) for pair in zip(one, two, strict=True))
    added = sizes.group_by("run", "what").agg(pl.sum("count"))
    most = _most_frequent(alone.lazy()).collect()
    return Survey(added, _cells(cells.lazy()).collect(), most, counting)


def _cells(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.group_by("run", "gold", "cluster").agg(pl.sum("f"))


def _most_frequent(rows: pl.LazyFrame) -> pl.LazyFrame:
    by_item = rows.group_by("item").agg(pl.sum("f"))
    return by_item.sort("f", "item", descending=[True, False]).head(EXAMPLES)


# Gold entries from a tagged corpus


class ExtractGold(TagOptions):
    """Read gold classes of word types, with token counts, from a tagged corpus."""

    corpus: CorpusSource
    """Corpus files: CoNLL-U, vertical, token table (also gzipped), Parquet."""


def combine(config: ExtractGold, tables: Tables) -> Outputs:
    """Drop excluded tokens."""
    tags, sentences = tables["tags"], tables["sentences"]
    summary = survey(config, tables.get(ALL, tags), sentences)
    require_tags(config, summary.sizes)
    require_excluded(config, summary, tables.get(ALL, tags))
    of_tokens = ~pl.col("what").is_in(["clusters", "tokens that count but have no cluster"])
    return {
        "entries": config.select(tags).select("item", "gold", "f"),
        "sentences": summary.of_sentences(sentences).select(*GoldSentences.columns()),
        "sizes": summary.sizes.filter(of_tokens).select("what", "count"),
    }


@stage(
    "extract.gold",
    config=ExtractGold,
    outputs={"entries": GoldEntries, "sentences": GoldSentences, "sizes": CorpusSize},
    shards="corpus",
    counting=counting(combine, ExtractGold.columns, "entries"),
)
def extract_gold(config: ExtractGold, tables: Tables) -> Outputs:
    """Count the tokens of one part of the corpus by item and class."""
    return config.count(config.read(tables["corpus"]))


# Gold entries from a tag dictionary

GoldColumn: TypeAlias = Literal["item", "gold", "f", "by"]
_NO_NUMBER = "is not a count, or is too large to sum"


class ExtractGoldTable(EntryTable):
    """Read gold classes of word types from a tag dictionary."""

    columns: dict[GoldColumn, str] = Field(default_factory=dict)
    """Names of item, gold, f and by in the file, if different; see extract.clusters."""
    classes: tuple[str, ...] = ()
    """Columns for single classes, with counts or 1 and 0, instead of gold and f."""
    exclude: tuple[str, ...] = ()
    """Gold classes to exclude."""
    min_frequency: int = Field(default=1, ge=1)
    """Skip items with a lower sum of f, not counting excluded classes."""

    def number_columns(self, schema: pl.Schema) -> dict[str, Kind]:
        """Return the count column, or the class columns."""
        return dict.fromkeys(self.classes, "count") or super().number_columns(schema)


@stage(
    "extract.gold_table",
    config=ExtractGoldTable,
    outputs={"entries": GoldEntries, "sizes": CorpusSize},
)
def extract_gold_table(config: ExtractGoldTable, tables: Tables) -> Outputs:
    """Read rows or classes, sum duplicates, drop exclusions.

    Raises
    ------
    ConfigError
        If an excluded class does not occur.
    """
    raw = with_label_texts(tables["path"], [config.named.get("gold", "gold")])
    entries, faults = (_wide if config.classes else _long)(config, raw)
    usable = entries.filter(pl.col("f") >= 1).drop_nulls(["item", "gold", "f"])
    names = entries.collect_schema().names()
    weights, by = ([each] if each in names else [] for each in (WEIGHT, BY))
    summed = usable.group_by("item", "gold", *by).agg(pl.sum("f"), *map(_add_up, weights))
    if config.exclude:
        classes = summed.group_by("gold").agg(pl.sum("f")).collect()
        ordered = classes.sort("f", "gold", descending=[True, False])["gold"]
        problems = list_absent_values(
            "exclude", config.exclude, ordered, what="class", where="the table"
        )
        if problems:
            raise ConfigError("exclude", problems)
    rest = summed.filter(~pl.col("gold").is_in(list(config.exclude)))
    often = rest.filter(pl.col("f").sum().over("item") >= config.min_frequency)
    return {"entries": often, "sizes": _sizes(usable, rest, often), FAULTS: faults}


def _long(config: ExtractGoldTable, raw: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    columns = Columns(raw, config, "gold")
    rows, weights = columns.entries(config).drop("file"), [WEIGHT] if columns.weights else []
    if not columns.counts:
        once = rows.group_by("item", "gold", *columns.by).agg(map(_add_up, weights))
        rows = once.with_columns(f=pl.lit(1, pl.Int64))
    return rows, columns.faults(config)


def _wide(config: ExtractGoldTable, raw: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    schema = raw.collect_schema()
    item = config.columns.get("item", "item")
    require(schema, [("columns.item", item), *(("classes", name) for name in config.classes)])
    text = pl.col(item).cast(pl.String)
    forms = config.formats(raw)
    counts = {name: cells.count_column(name, schema[name], forms[name]) for name in config.classes}
    folded = text.str.to_lowercase() if config.fold else text
    # One class at a time: a class may be named item, gold or f.
    rows = pl.concat(
        raw.select(folded.alias("item"), pl.lit(name).alias("gold"), count.alias("f"))
        for name, count in counts.items()
    )
    bad = [
        cells.faults(raw, parsed={item: cells.text_or_null(item)}, problem=NO_WORD, required=True),
        cells.faults(raw, parsed=counts, problem=_NO_NUMBER, required=False, forms=forms),
    ]
    return rows, pl.concat(bad)


def _sizes(known: pl.LazyFrame, rest: pl.LazyFrame, often: pl.LazyFrame) -> pl.LazyFrame:
    items = pl.col("item").n_unique()
    return pl.concat([
        _count_row(known, "items in the table", items),
        _count_row(rest, "items of classes that are not excluded", items),
        _count_row(often, "items", items),
        _count_row(often, "classes", pl.col("gold").n_unique()),
    ])  # fmt: skip


def _count_row(rows: pl.LazyFrame, what: str, count: pl.Expr) -> pl.LazyFrame:
    return rows.select(pl.lit(what).alias("what"), count.cast(pl.Int64).alias("count"))
