"""Several dictionaries as one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline.kernels.lexicon.wordlists import union
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, several, stage
from schemas import WordList


class ExtractUnion(StageConfig):
    """Unite several wordlists: all lemmas, and for each all forms that any of them has."""

    lexicons: Annotated[tuple[str, ...], Of(WordList)] = Field(min_length=1)
    """The wordlists; their order does not matter."""


@stage("extract.union", config=ExtractUnion, outputs={"lexicon": WordList})
def extract_union(config: ExtractUnion, tables: Tables) -> Outputs:
    """Join them on the lemma, and unite the forms."""
    return {"lexicon": union(*several(tables, "lexicons", config.lexicons))}
