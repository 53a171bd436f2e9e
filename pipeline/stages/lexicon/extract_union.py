"""Several dictionaries as one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from pipeline.kernels.lexicon.wordlists import union
from pipeline.kernels.parts import ranges_of
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, as_one, several, stage
from schemas import WordList


class ExtractUnion(StageConfig):
    """Unite several wordlists: all lemmas, and for each all forms that any of them has."""

    lexicons: Annotated[tuple[str, ...], Of(WordList)] = Field(min_length=1)
    """The wordlists; their order does not matter."""


def _pieces(config: ExtractUnion, tables: Tables) -> Iterator[Outputs]:
    """Yield ranges of lemmas, in order."""
    wordlists = several(tables, "lexicons", config.lexicons)
    ranges = ranges_of("lemma", *wordlists)
    for number in range(len(ranges)):
        parts = (ranges.of(each, number, by="lemma") for each in wordlists)
        yield {"lexicon": union(*parts).sort("lemma", "form")}


@stage("extract.union", config=ExtractUnion, outputs={"lexicon": WordList}, pieces=_pieces)
def extract_union(config: ExtractUnion, tables: Tables) -> Outputs:
    """Join them on the lemma, and unite the forms."""
    return as_one(_pieces(config, tables))
