"""Extraction of taggings: the gold class and the induced cluster of each token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, NamedTuple

import polars as pl
from pydantic import Field, field_validator

from pipeline.errors import DataError, Problem
from pipeline.kernels.clustering import encoding
from pipeline.kernels.clustering.encoding import sum_counts
from pipeline.kernels.clustering.systems import bare_name
from pipeline.kernels.partitions import batches, spill_of
from pipeline.kernels.sampling import seeded_key
from pipeline.memory import Spill
from pipeline.stages.base import (
    FAULTS,
    CorpusSource,
    Late,
    Outputs,
    StageConfig,
    StageReference,
    Tables,
    stage,
)
from pipeline.stages.clustering.extract import (
    ALL,
    PLACE,
    Survey,
    TagOptions,
    counting,
    files_of,
    require_distinct,
    require_excluded,
    require_tags,
    survey,
)
from pipeline.stages.inputs import require_attributes
from schemas import (
    GoldEntries,
    InducedEntries,
    SystemSize,
    TaggedSentences,
    TaggedTypes,
    TokenSentences,
    TokenTags,
)

# Consistency: stages that are evaluated together count the same tokens as the same items

_KEY = ["item", "gold"]
ROWS = 2_000_000
"""Rows of counts to look at in one go."""


def counted_alike(
    _config: StageConfig, referred: Mapping[str, StageReference]
) -> Iterator[Problem]:
    """Yield a problem for each stage that counts otherwise than the stage of the gold classes.

    Only stages that read tags are compared. The items have to be made alike. The excluded classes
    have to be the same if they are classes of one attribute. A threshold may be lower than that
    of the gold classes: items that these do not have are left out.

    Parameters
    ----------
    _config : StageConfig
        The options of the evaluation.
    referred : mapping of str to Referred
        The stages that an evaluation refers to, by its own option: ``gold``, ``systems.0`` ...

    Yields
    ------
    Problem
        Named by that option; one for each stage.
    """
    gold = referred.get("gold")
    if gold is None or not isinstance(gold.config, TagOptions):
        return
    seen = {gold.stage}
    for place, (name, config) in referred.items():
        if name in seen or not isinstance(config, TagOptions):
            continue
        seen.add(name)
        if different := _different(config, gold.config):
            shown = "; ".join(
                f"{option} = {_as_toml(config, option)}, not {_as_toml(gold.config, option)}"
                for option in different
            )
            what = f"stage {name!r} does not count what {gold.stage!r} counts: {shown}"
            yield Problem(
                place, what, "give both the same options: their items have to be the same"
            )


def _different(config: TagOptions, gold: TagOptions) -> list[str]:
    """Return the options that have to agree and do not."""
    wrong = {
        "item": config.item != gold.item,
        "fold": config.fold != gold.fold,
        "exclude": config.tag == gold.tag and {*config.exclude} != {*gold.exclude},
        "min_frequency": config.min_frequency > gold.min_frequency,
    }
    return [option for option, differs in wrong.items() if differs]


def _as_toml(config: TagOptions, option: str) -> str:
    value = getattr(config, option)
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{one}"' for one in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def require_same_tokens(
    tagged: pl.LazyFrame, gold: pl.LazyFrame, *, name: str, other: str, rows: int = ROWS
) -> None:
    """Refuse to compare systems on different tokens.

    Parameters
    ----------
    tagged, gold : LazyFrame
        item, gold and f; rows with the same item and class are added up.
    name, other : str
        What to call the two in an error.
    rows : int
        About how many rows of both to look at in one go.

    Raises
    ------
    DataError
        If an item does not have as many tokens of each class in both.
    """
    found = [_differences(*pair) for pair in _partition(tagged, gold, rows)]
    bad = sum(each.number for each in found)
    if not bad:
        return
    most = pl.concat(each.most for each in found)
    shown = "; ".join(
        f"{item!r} {label}: {here:,} and {there:,}"
        for item, label, here, there, _ in _largest(most).iter_rows()
    )
    sums = [sum(each.tokens[at] for each in found) for at in range(2)]
    raise DataError(
        f"{name} and {other} do not have the same tokens, so their scores cannot be compared:"
        f" {sums[0]:,} tokens and {sums[1]:,}; {bad:,} pairs of an item and a class have"
        f" other counts, such as {shown}\nRead the same text, with the same item, tag, exclude,"
        " fold and min_frequency; or evaluate them in a stage each."
    )


class _Differences(NamedTuple):
    """Where two counts of the same items differ: how often, the largest, tokens of both."""

    number: int
    most: pl.DataFrame
    tokens: tuple[int, int]


def _partition(
    one: pl.LazyFrame, two: pl.LazyFrame, rows: int
) -> Iterator[tuple[pl.LazyFrame, pl.LazyFrame]]:
    """Yield both tables in so many pieces that one has about `rows`; an item is in one alone."""
    height = sum(int(each.select(pl.len()).collect().item()) for each in (one, two))
    number = -(-height // rows)
    piece = seeded_key("item", seed="", purpose="pieces") % number
    for at in range(number):
        yield (one, two) if number == 1 else (one.filter(piece == at), two.filter(piece == at))


def _differences(tagged: pl.LazyFrame, gold: pl.LazyFrame) -> _Differences:
    counts = [each.group_by(_KEY).agg(pl.sum("f")).collect() for each in (tagged, gold)]
    both = counts[0].join(counts[1], on=_KEY, how="full", coalesce=True).fill_null(0)
    bad = both.filter(pl.col("f") != pl.col("f_right"))
    most = bad.select(*_KEY, "f", "f_right", gap=(pl.col("f") - pl.col("f_right")).abs())
    one, two = (int(each["f"].sum()) for each in counts)
    return _Differences(bad.height, _largest(most), (one, two))


def _largest(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("gap", *_KEY, descending=[True, False, False]).head(3)


# Options and outputs of taggings

OUTPUTS = {
    "tagged": TaggedTypes,
    "entries": InducedEntries,
    "gold": GoldEntries,
    "sentences": TaggedSentences,
    "sizes": SystemSize,
}


class TaggingOptions(TagOptions):
    """Options of every stage that reads a tagging."""

    system: Annotated[str, Late()] = Field(min_length=1)
    """What the system is called."""
    untagged: Annotated[bool, Late()] = False
    """Whether tokens without an induced tag are kept, as tokens of no cluster, and counted;
    otherwise they are an error."""


def survey_tagging(
    config: TaggingOptions, tags: pl.LazyFrame, sentences: pl.LazyFrame | None = None
) -> Survey:
    """Look at the counts of all tokens once, see `survey`.

    Raises
    ------
    DataError
        If no token counts, or if of those that do some have no induced tag, or none has one.
    """
    found = survey(config, tags, sentences)
    require_tags(config, found.sizes)
    require_excluded(config, found, tags)
    _require_some_clusters(config, found)
    if not config.untagged:
        _require_clusters(config, found)
    return found


def tagging_outputs(
    config: TaggingOptions, found: Survey, tags: pl.LazyFrame, sentences: pl.LazyFrame
) -> Outputs:
    """Return the tables of a tagging from the counts of its tokens, what does not count left out.

    Parameters
    ----------
    config : TaggingOptions
        What counts.
    found : Survey
        What is known of all tokens, the items of the sentences asked for.
    tags, sentences : LazyFrame
        The counts, the rows of an item together; or a bucket of each.
    """
    tagged = config.kept(tags).with_columns(system=pl.lit(config.system))
    entry = ["system", "run", "item", "cluster"]
    by_run = tagged.group_by("run", "item", "gold").agg(pl.sum("f"))
    by_sentence = found.of_sentences(sentences).drop("item")
    key = [name for name in TaggedSentences.key() if name != "system"]
    return {
        "tagged": tagged.select("system", "run", "item", "gold", "cluster", "f"),
        "entries": tagged.drop_nulls("cluster").group_by(entry).agg(pl.sum("f")),
        "gold": by_run.group_by("item", "gold").agg(pl.max("f")),
        "sentences": by_sentence.group_by(key)
        .agg(pl.sum("f"))
        .select(pl.lit(config.system).alias("system"), *key, "f"),
        "sizes": found.sizes.select(pl.lit(config.system).alias("system"), pl.all()),
    }


def _require_some_clusters(config: TaggingOptions, found: Survey) -> None:
    """Refuse a run none of whose tokens has an induced tag: it would be missing at type level."""
    some = pl.col("cluster").is_not_null().any()
    runs = found.cells.group_by("run").agg(pl.sum("f"), some=some)
    bare = runs.filter(~pl.col("some")).sort("run")
    if bare.is_empty():
        return
    counts = "; ".join(f"run {run}: none of {f:,}" for run, f, _ in bare.head(3).iter_rows())
    raise DataError(
        f"system {config.system}: {bare.height:,} of its runs have no induced tag on any token that"
        f" counts: {counts}\nLook at the option cluster: it may name the wrong attribute."
    )


def _require_clusters(config: TaggingOptions, found: Survey) -> None:
    alone = found.cells.filter(pl.col("cluster").is_null())
    if alone.is_empty():
        return
    runs = alone.group_by("run").agg(pl.sum("f")).sort("run")
    counts = "; ".join(f"run {run}: {f:,}" for run, f in runs.iter_rows())
    shown = ", ".join(repr(item) for item in found.alone["item"])
    raise DataError(
        f"system {config.system}: there are tokens without an induced tag: {counts}, such as"
        f" {shown}\nTag them, exclude their gold class, or keep them as tokens of no cluster:"
        " untagged = true"
    )


# Taggings in a corpus that has both tags of each token


class ExtractTagging(TaggingOptions):
    """Read the gold and the induced tags of the same tokens from one corpus."""

    corpus: CorpusSource
    """File or files whose tokens have both tags."""
    cluster: str | tuple[str, ...]
    """The attribute with the induced tag; several are runs of the system, named as they are."""

    @field_validator("cluster")
    @classmethod
    def _some(cls, given: str | tuple[str, ...]) -> str | tuple[str, ...]:
        names = (given,) if isinstance(given, str) else given
        if not names or "" in names or len({*names}) < len(names):
            raise ValueError("name one attribute, or several different ones")
        return given

    @property
    def runs(self) -> tuple[str, ...]:
        """The attributes of the runs."""
        return (self.cluster,) if isinstance(self.cluster, str) else self.cluster

    @property
    def weight(self) -> int:
        """How many times as much memory the counts of a token take: it is counted in each run."""
        return super().weight * len(self.runs)

    @property
    def attributes(self) -> dict[str, set[str]]:
        """The attributes that each option names."""
        return {**super().attributes, "cluster": set(self.runs)}


def combine(config: ExtractTagging, tables: Tables) -> Outputs:
    """Make the tables of all parts."""
    tags, sentences = tables["tags"], tables["sentences"]
    found = survey_tagging(config, tables.get(ALL, tags), sentences)
    return tagging_outputs(config, found, tags, sentences)


@stage(
    "extract.tagging",
    config=ExtractTagging,
    outputs=OUTPUTS,
    shards="corpus",
    counting=counting(combine, ExtractTagging.columns, "tagged", "entries", "gold"),
)
def extract_tagging(config: ExtractTagging, tables: Tables) -> Outputs:
    """Count the tokens of one part of the corpus by item, class and cluster, for each run."""
    tokens = tables["corpus"]
    runs = [
        config.read(tokens, run=pl.lit(run), cluster=encoding.attribute(run)) for run in config.runs
    ]
    return config.count(pl.concat(runs))


# Taggings in files of their own, joined token by token to the gold tags


class JoinTagging(TaggingOptions):
    """Join a tagging to the gold tags of the same tokens, which are in other files."""

    gold: CorpusSource
    """File or files with the gold tags: CoNLL-U, vertical, token table; Parquet."""
    induced: CorpusSource
    """File or files with the induced tags, in any of these formats."""
    cluster: str
    """The attribute with the induced tag."""
    run: str = ""
    """What the run is called, whose files are those of the gold tags one after the other; if
    empty, each file of `induced` is a run with the whole text, named as it is."""
    compare: str = "form"
    """The attribute that has to be the same on both sides; only the places are compared if
    empty."""


@stage("join.tagging", config=JoinTagging, outputs=OUTPUTS)
def join_tagging(config: JoinTagging, tables: Tables) -> Iterator[Outputs]:
    """Lay each run beside the gold tags; a token that is not the same is a fault."""
    gold, induced = tables["gold"], tables["induced"]
    _require(config, gold, induced)
    with (
        spill_of(1, TokenTags.zero_rows().collect_schema()) as tags,
        spill_of(1, TokenSentences.zero_rows().collect_schema()) as sentences,
    ):
        runs = _runs(config, induced)
        spills = {"tags": tags, "sentences": sentences}
        faults = pl.concat(_count(config, encoding.align(gold, run), spills) for run in runs)
        yield {FAULTS: faults}
        if not faults.height:
            yield from _outputs(config, tags, sentences)


def _count(config: JoinTagging, pair: pl.LazyFrame, spills: Mapping[str, Spill]) -> pl.DataFrame:
    """Count the tokens of a run, and return its faults."""
    run = pl.lit(config.run) if config.run else bare_name(encoding.THEIRS + "file")
    cluster = encoding.attribute(encoding.THEIRS + config.cluster)
    faults = []
    for batch in batches(pair.select(_used_columns(config))):
        rows = batch.rechunk().lazy()  # Polars 2.1 panics where one side has ended within a chunk
        faults.append(encoding.faults(rows, compare=config.compare).collect())
        tags = config.read(rows, run=run, cluster=cluster)
        for name, counts in config.count(tags).items():
            spills[name].put(counts.collect(), 0)
    return pl.concat(faults)


def _used_columns(config: JoinTagging) -> list[str]:
    """Return the columns of a pair that are looked at."""
    same = {*encoding.PLACE, *({config.compare} if config.compare else ())}
    ours = same | {name for names in config.attributes.values() for name in names}
    return sorted(ours | {encoding.THEIRS + name for name in same | {config.cluster}})


def _outputs(config: JoinTagging, tags: Spill, sentences: Spill) -> Iterator[Outputs]:
    with sum_counts(tags, by=["item"]) as items, sum_counts(sentences, *PLACE, by=PLACE) as places:
        whole = survey_tagging(config, pl.concat(items))
        for part in range(max(len(items), len(places))):
            mine = items.bucket(part) if part < len(items) else TokenTags.zero_rows()
            theirs = places.bucket(part) if part < len(places) else TokenSentences.zero_rows()
            found = whole.asked_for(config, pl.concat(items), theirs)
            made = tagging_outputs(config, found, mine, theirs)
            yield {name: each for name, each in made.items() if not part or name != "sizes"}


def _require(config: JoinTagging, gold: pl.LazyFrame, induced: pl.LazyFrame) -> None:
    same = {"compare": {config.compare}} if config.compare else {}
    require_attributes(gold.collect_schema(), {**config.attributes, **same})
    require_attributes(induced.collect_schema(), {"cluster": {config.cluster}, **same})


def _runs(config: JoinTagging, induced: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Return the tokens of each run."""
    if config.run:
        return [induced]
    files = files_of(induced)
    require_distinct(files)
    return [induced.filter(pl.col("file") == file) for file in files] or [induced]
