"""A tagging in files of its own, laid token by token beside the gold tags of the same text."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.clustering import alignment, tagged_types
from pipeline.kernels.clustering.file_names import bare_name
from pipeline.stages.base import FAULTS, CorpusSource, Outputs, Tables, stage
from pipeline.stages.clustering.runs import require_distinct
from pipeline.stages.clustering.tagging import OUTPUTS, TaggingOptions, tagging_outputs
from pipeline.stages.clustering.tags import PARTIALS
from pipeline.stages.columns import require_attributes


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
def join_tagging(config: JoinTagging, tables: Tables) -> Outputs:
    """Lay each run beside the gold tags; a token that is not the same is a fault."""
    gold, induced = tables["gold"], tables["induced"]
    _require(config, gold, induced)
    runs = _runs(config, induced)
    pairs = [alignment.beside(gold, run) for run in runs]
    faults = pl.concat(alignment.faults(pair, compare=config.compare) for pair in pairs)
    run = pl.lit(config.run) if config.run else bare_name(alignment.THEIRS + "file")
    cluster = tagged_types.attribute(alignment.THEIRS + config.cluster)
    tags = pl.concat(config.read(pair, run=run, cluster=cluster) for pair in pairs)
    # One after the other: collected at once, the plans would share all tokens, in memory.
    bad = faults.collect()
    partials = {name: model.zero_rows().collect() for name, model in PARTIALS.items()}
    if not bad.height:
        partials = {name: counts.collect() for name, counts in config.counted(tags).items()}
    counts = partials["tags"].sort("item")
    outputs = tagging_outputs(config, counts.lazy(), partials["sentences"].lazy())
    return {**outputs, FAULTS: bad}


def _require(config: JoinTagging, gold: pl.LazyFrame, induced: pl.LazyFrame) -> None:
    same = {"compare": {config.compare}} if config.compare else {}
    require_attributes(gold.collect_schema(), {**config.attributes, **same})
    require_attributes(induced.collect_schema(), {"cluster": {config.cluster}, **same})
    require_distinct(config.run, induced)


def _runs(config: JoinTagging, induced: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Return the tokens of each run."""
    files = induced.select(pl.col("file").unique()).collect().to_series().sort()
    if config.run or not len(files):
        return [induced]
    return [induced.filter(pl.col("file") == file) for file in files]
