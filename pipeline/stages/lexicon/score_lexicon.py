"""The overlaps of a lexicon with the gold: how many forms each two lemmas share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pipeline.kernels.lexicon.shared_forms import overlaps_in_parts
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, as_one, stage
from schemas import LexiconOverlaps, WordList


class ScoreLexicon(StageConfig):
    """Count the wordforms that each lemma of the gold shares with each lemma of a lexicon."""

    gold: Annotated[str, Of(WordList)]
    """The dictionary that counts as right."""
    lexicon: Annotated[str, Of(WordList)]
    """The lexicon to evaluate."""


def _pieces(_config: ScoreLexicon, tables: Tables) -> Iterator[Outputs]:
    for part in overlaps_in_parts(tables["gold"], tables["lexicon"]):
        yield {"overlaps": part}


@stage("score.lexicon", config=ScoreLexicon, outputs={"overlaps": LexiconOverlaps}, pieces=_pieces)
def score_lexicon(config: ScoreLexicon, tables: Tables) -> Outputs:
    """Join both on the wordform and count by pairs of lemmas."""
    return as_one(_pieces(config, tables))
