"""A tagging in files of its own, laid token by token beside the gold tags of the same text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from pipeline.kernels.clustering import alignment, tagged_types
from pipeline.kernels.clustering.counts_in_parts import added_up
from pipeline.kernels.clustering.file_names import bare_name
from pipeline.kernels.parts import batches, spill_of
from pipeline.spill import Spill
from pipeline.stages.base import FAULTS, CorpusSource, Outputs, Tables, as_one, stage
from pipeline.stages.clustering.runs import files_of, require_distinct
from pipeline.stages.clustering.tagging import OUTPUTS, TaggingOptions, surveyed, tagging_outputs
from pipeline.stages.clustering.tags import PLACE
from pipeline.stages.columns import require_attributes
from schemas import TokenSentences, TokenTags


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


def _pieces(config: JoinTagging, tables: Tables) -> Iterator[Outputs]:
    """Read both sides once, batch by batch, and make the tables in parts."""
    gold, induced = tables["gold"], tables["induced"]
    _require(config, gold, induced)
    with (
        spill_of(1, TokenTags.zero_rows().collect_schema()) as tags,
        spill_of(1, TokenSentences.zero_rows().collect_schema()) as sentences,
    ):
        runs = _runs(config, induced)
        laid = {"tags": tags, "sentences": sentences}
        faults = pl.concat(_count(config, alignment.beside(gold, run), laid) for run in runs)
        yield {FAULTS: faults}
        if not faults.height:
            yield from _outputs(config, tags, sentences)


@stage("join.tagging", config=JoinTagging, outputs=OUTPUTS, pieces=_pieces)
def join_tagging(config: JoinTagging, tables: Tables) -> Outputs:
    """Lay each run beside the gold tags; a token that is not the same is a fault."""
    return as_one(_pieces(config, tables))


def _count(config: JoinTagging, pair: pl.LazyFrame, laid: Mapping[str, Spill]) -> pl.DataFrame:
    """Count the tokens of a run, and return its faults."""
    run = pl.lit(config.run) if config.run else bare_name(alignment.THEIRS + "file")
    cluster = tagged_types.attribute(alignment.THEIRS + config.cluster)
    faults = []
    for batch in batches(pair.select(_looked_at(config))):
        rows = batch.rechunk().lazy()  # Polars 2.1 panics where one side has ended within a chunk
        faults.append(alignment.faults(rows, compare=config.compare).collect())
        tags = config.read(rows, run=run, cluster=cluster)
        for name, counts in config.counted(tags).items():
            laid[name].put(counts.collect(), 0)
    return pl.concat(faults)


def _looked_at(config: JoinTagging) -> list[str]:
    """Return the columns of a pair that are looked at."""
    same = {*alignment.PLACE, *({config.compare} if config.compare else ())}
    ours = same | {name for names in config.attributes.values() for name in names}
    return sorted(ours | {alignment.THEIRS + name for name in same | {config.cluster}})


def _outputs(config: JoinTagging, tags: Spill, sentences: Spill) -> Iterator[Outputs]:
    with added_up(tags, by=["item"]) as items, added_up(sentences, *PLACE, by=PLACE) as places:
        whole = surveyed(config, pl.concat(items))
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
