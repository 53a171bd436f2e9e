"""Extraction of taggings: the gold class and the induced cluster of each token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, NamedTuple

import polars as pl
from pydantic import Field, field_validator

from pipeline.errors import DataError, Problem
from pipeline.kernels.clustering import encoding
from pipeline.kernels.clustering.encoding import OWN, Noise, is_noise, own_cluster, sum_counts
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
    NoiseLabels,
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

# Consistency: stages evaluated together must count the same tokens as the same items

_KEY = ["item", "gold"]
ROWS = 2_000_000
"""Rows of counts compared at a time."""


def counted_alike(
    _config: StageConfig, referred: Mapping[str, StageReference]
) -> Iterator[Problem]:
    """Yield a problem for each stage that counts differently from the gold stage.

    Only stages that read tags are compared. Options for items must agree. Excluded classes must
    agree if they belong to the same attribute. Thresholds may be lower than that of the gold stage:
    items without gold classes are excluded anyway.

    Parameters
    ----------
    _config : StageConfig
        Options of the evaluation.
    referred : mapping of str to Referred
        Referenced stages by option: ``gold``, ``systems.0`` ...

    Yields
    ------
    Problem
        For each such stage, with its option.
    """
    gold = referred.get("gold")
    if gold is None or not isinstance(gold.config, TagOptions):
        return
    stages = {gold.stage}
    for place, (name, config) in referred.items():
        if name in stages or not isinstance(config, TagOptions):
            continue
        stages.add(name)
        if different := _different(config, gold.config):
            options = "; ".join(
                f"{option} = {_as_toml(config, option)}, not {_as_toml(gold.config, option)}"
                for option in different
            )
            what = f"stage {name!r} and stage {gold.stage!r} count differently: {options}"
            yield Problem(place, what, "use the same options for both")


def _different(config: TagOptions, gold: TagOptions) -> list[str]:
    """Return options that should agree but do not."""
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
    """Reject comparisons of systems on different tokens.

    Parameters
    ----------
    tagged, gold : LazyFrame
        item, gold and f; rows with equal item and class are summed.
    name, other : str
        Names of both in errors.
    rows : int
        Approximate number of rows of both compared at a time.

    Raises
    ------
    DataError
        If the counts of any item and class differ.
    """
    parts = [_differences(*pair) for pair in _partition(tagged, gold, rows)]
    bad = sum(each.number for each in parts)
    if not bad:
        return
    most = pl.concat(each.most for each in parts)
    cases = "; ".join(
        f"{item!r} {label}: {here:,} and {there:,}"
        for item, label, here, there, _ in _largest(most).iter_rows()
    )
    sums = [sum(each.tokens[at] for each in parts) for at in range(2)]
    raise DataError(
        f"{name} and {other} have different tokens, so their scores are not comparable: "
        f"{sums[0]:,} and {sums[1]:,} tokens; {bad:,} pairs of item and class have different "
        f"counts, for example {cases}\nRead the same text, with the same item, tag, exclude, fold "
        "and min_frequency; or evaluate them in separate stages."
    )


class _Differences(NamedTuple):
    """Differences between two counts of the same items: number, largest ones, tokens of both."""

    number: int
    most: pl.DataFrame
    tokens: tuple[int, int]


def _partition(
    one: pl.LazyFrame, two: pl.LazyFrame, rows: int
) -> Iterator[tuple[pl.LazyFrame, pl.LazyFrame]]:
    """Yield both tables in pieces of about `rows` rows, with each item in a single piece."""
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


NOISE_TOKENS: dict[Noise, str] = {
    "excluded": "noise tokens, excluded",
    "clusters": "noise tokens, each a cluster of its own",
}
"""What is counted in sizes."""


class TaggingOptions(TagOptions):
    """Options of stages that read a tagging."""

    system: Annotated[str, Late()] = Field(min_length=1)
    """Name of the system."""
    untagged: Annotated[bool, Late()] = False
    """Keep tokens without an induced tag; otherwise they are an error."""
    noise: NoiseLabels = ()
    """Tags of tokens without a cluster, e.g. [-1] of DBSCAN and HDBSCAN."""
    noise_as: Noise = "excluded"
    """Noise tokens are ``excluded`` (they have no cluster) or ``clusters`` (each is one)."""

    def columns(self) -> set[str]:
        """Return the token columns used."""
        return super().columns() | {"position"}

    def clusters(self, tag: pl.Expr, *place: str) -> pl.Expr:
        """Return the cluster of each token, given its tag and the columns of its place."""
        if not self.noise:
            return tag
        noisy = is_noise(tag, self.noise)
        if self.noise_as == "excluded":
            return pl.when(~noisy).then(tag)
        return pl.when(noisy).then(own_cluster(tag, *map(pl.col, place))).otherwise(tag)


def survey_tagging(
    config: TaggingOptions, tags: pl.LazyFrame, sentences: pl.LazyFrame | None = None
) -> Survey:
    """Summarise the counts of all tokens in one pass, see `survey`.

    Raises
    ------
    DataError
        If no token is included, or if some or all of those included have no induced tag.
    """
    summary = survey(config, tags, sentences)
    require_tags(config, summary.sizes)
    require_excluded(config, summary, tags)
    _require_some_clusters(config, summary)
    if not config.untagged and not (config.noise and config.noise_as == "excluded"):
        _require_clusters(config, summary)
    return summary._replace(sizes=pl.concat([summary.sizes, _noise_sizes(config, summary)]))


def _noise_sizes(config: TaggingOptions, summary: Survey) -> pl.DataFrame:
    """Count the noise tokens of each run, if they are not mixed with tokens without a tag."""
    if not config.noise or (config.untagged and config.noise_as == "excluded"):
        return summary.sizes.clear()
    cluster = pl.col("cluster")
    noisy = (
        cluster.is_null()
        if config.noise_as == "excluded"
        else cluster.str.contains(OWN, literal=True)
    )
    counts = summary.cells.group_by("run").agg(count=pl.col("f").filter(noisy).sum())
    return counts.select("run", pl.lit(NOISE_TOKENS[config.noise_as]).alias("what"), "count")


def tagging_outputs(
    config: TaggingOptions, summary: Survey, tags: pl.LazyFrame, sentences: pl.LazyFrame
) -> Outputs:
    """Return the tables of a tagging from token counts, without excluded tokens.

    Parameters
    ----------
    config : TaggingOptions
        Options for tokens.
    summary : Survey
        Summary of all tokens, with the items of the sentences requested.
    tags, sentences : LazyFrame
        Counts with adjacent rows for each item, or a bucket of each.
    """
    tagged = config.select(tags).with_columns(system=pl.lit(config.system))
    entry = ["system", "run", "item", "cluster"]
    by_run = tagged.group_by("run", "item", "gold").agg(pl.sum("f"))
    by_sentence = summary.of_sentences(sentences).drop("item")
    key = [name for name in TaggedSentences.key() if name != "system"]
    return {
        "tagged": tagged.select("system", "run", "item", "gold", "cluster", "f"),
        "entries": tagged.drop_nulls("cluster").group_by(entry).agg(pl.sum("f")),
        "gold": by_run.group_by("item", "gold").agg(pl.max("f")),
        "sentences": by_sentence.group_by(key)
        .agg(pl.sum("f"))
        .select(pl.lit(config.system).alias("system"), *key, "f"),
        "sizes": summary.sizes.select(pl.lit(config.system).alias("system"), pl.all()),
    }


def _require_some_clusters(config: TaggingOptions, summary: Survey) -> None:
    """Reject a run without any induced tag, which would be missing at type level."""
    some = pl.col("cluster").is_not_null().any()
    runs = summary.cells.group_by("run").agg(pl.sum("f"), some=some)
    bare = runs.filter(~pl.col("some")).sort("run")
    if bare.is_empty():
        return
    counts = "; ".join(f"run {run}: none of {f:,}" for run, f, _ in bare.head(3).iter_rows())
    raise DataError(
        f"system {config.system}: runs without induced tags ({bare.height:,}): {counts}\nCheck "
        "option cluster: it may name the wrong attribute."
    )


def _require_clusters(config: TaggingOptions, summary: Survey) -> None:
    alone = summary.cells.filter(pl.col("cluster").is_null())
    if alone.is_empty():
        return
    runs = alone.group_by("run").agg(pl.sum("f")).sort("run")
    counts = "; ".join(f"run {run}: {f:,}" for run, f in runs.iter_rows())
    cases = ", ".join(repr(item) for item in summary.alone["item"])
    raise DataError(
        f"system {config.system}: there are tokens without an induced tag: {counts}, for example "
        f"{cases}\nTag them, exclude their gold class, or keep them as tokens without cluster: "
        "untagged = true"
    )


# Taggings in a corpus that has both tags of each token


class ExtractTagging(TaggingOptions):
    """Read gold and induced tags of the same tokens from one corpus."""

    corpus: CorpusSource
    """Corpus files whose tokens have both tags."""
    cluster: str | tuple[str, ...]
    """Attribute with the induced tag, or several, one per run."""

    @field_validator("cluster")
    @classmethod
    def _some(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        names = (value,) if isinstance(value, str) else value
        if not names or "" in names or len({*names}) < len(names):
            raise ValueError("name one or several distinct attributes")
        return value

    @property
    def runs(self) -> tuple[str, ...]:
        """The attributes of the runs."""
        return (self.cluster,) if isinstance(self.cluster, str) else self.cluster

    @property
    def weight(self) -> int:
        """Relative memory of a token's counts, which are kept for each run."""
        return super().weight * len(self.runs)

    @property
    def attributes(self) -> dict[str, set[str]]:
        """The attributes named by each option."""
        return {**super().attributes, "cluster": set(self.runs)}


def combine(config: ExtractTagging, tables: Tables) -> Outputs:
    """Make the tables from all parts."""
    tags, sentences = tables["tags"], tables["sentences"]
    summary = survey_tagging(config, tables.get(ALL, tags), sentences)
    return tagging_outputs(config, summary, tags, sentences)


@stage(
    "extract.tagging",
    config=ExtractTagging,
    outputs=OUTPUTS,
    shards="corpus",
    counting=counting(combine, ExtractTagging.columns, "tagged", "entries", "gold"),
)
def extract_tagging(config: ExtractTagging, tables: Tables) -> Outputs:
    """Count tokens of one part of the corpus by item, class and cluster, for each run."""
    tokens = tables["corpus"]
    runs = [
        config.read(
            tokens,
            run=pl.lit(run),
            cluster=config.clusters(encoding.attribute(run), "file", "sentence", "position"),
        )
        for run in config.runs
    ]
    return config.count(pl.concat(runs))


# Taggings in files of their own, joined token by token to the gold tags


class JoinTagging(TaggingOptions):
    """Join a tagging to the gold tags of the same tokens in other files."""

    gold: CorpusSource
    """Corpus files with the gold tags: CoNLL-U, vertical, token table, Parquet."""
    induced: CorpusSource
    """Corpus files with the induced tags, in any of these formats."""
    cluster: str
    """Attribute with the induced tag."""
    run: str = ""
    """Name of the run, whose files parallel the gold files (default: each file is a run).
    """
    compare: str = "form"
    """Attribute that must be equal in both; if empty, only positions are compared."""


@stage("join.tagging", config=JoinTagging, outputs=OUTPUTS)
def join_tagging(config: JoinTagging, tables: Tables) -> Iterator[Outputs]:
    """Align each run with the gold tags; tokens that differ are faults."""
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
    tag = encoding.attribute(encoding.THEIRS + config.cluster)
    cluster = config.clusters(tag, "file", "sentence", "position")
    faults = []
    for batch in batches(pair.select(_used_columns(config))):
        rows = batch.rechunk().lazy()  # Polars 2.1 panics if one side ends within a chunk
        faults.append(encoding.faults(rows, compare=config.compare).collect())
        tags = config.read(rows, run=run, cluster=cluster)
        for name, counts in config.count(tags).items():
            spills[name].put(counts.collect(), 0)
    return pl.concat(faults)


def _used_columns(config: JoinTagging) -> list[str]:
    """Return the columns of a pair that are compared."""
    same = {*encoding.PLACE, *({config.compare} if config.compare else ())}
    ours = same | {name for names in config.attributes.values() for name in names}
    return sorted(ours | {encoding.THEIRS + name for name in same | {config.cluster}})


def _outputs(config: JoinTagging, tags: Spill, sentences: Spill) -> Iterator[Outputs]:
    with sum_counts(tags, by=["item"]) as items, sum_counts(sentences, *PLACE, by=PLACE) as places:
        whole = survey_tagging(config, pl.concat(items))
        for part in range(max(len(items), len(places))):
            mine = items.bucket(part) if part < len(items) else TokenTags.zero_rows()
            theirs = places.bucket(part) if part < len(places) else TokenSentences.zero_rows()
            summary = whole.asked_for(config, pl.concat(items), theirs)
            outputs = tagging_outputs(config, summary, mine, theirs)
            yield {name: each for name, each in outputs.items() if not part or name != "sizes"}


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
