"""A tagging from a corpus that holds both: the gold tag and the induced tag of each token."""

from __future__ import annotations

import polars as pl
from pydantic import field_validator

from pipeline.kernels.clustering import tagged_types
from pipeline.stages.base import CorpusSource, Outputs, Tables, stage
from pipeline.stages.clustering.tagging import OUTPUTS, TaggingOptions, surveyed, tagging_outputs
from pipeline.stages.clustering.tags import ALL, counting


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
    found = surveyed(config, tables.get(ALL, tags), sentences)
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
        config.read(tokens, run=pl.lit(run), cluster=tagged_types.attribute(run))
        for run in config.runs
    ]
    return config.counted(pl.concat(runs))
