"""The overlaps of a lexicon with the gold: how many forms each two lemmas share."""

from __future__ import annotations

from typing import Annotated

from pipeline.kernels.lexicon.matching import lexicon_overlaps
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import LexiconOverlaps, WordList


class ScoreLexicon(StageConfig):
    """Count the wordforms that each lemma of the gold shares with each lemma of a lexicon."""

    gold: Annotated[str, Of(WordList)]
    """The dictionary that counts as right."""
    lexicon: Annotated[str, Of(WordList)]
    """The lexicon to evaluate."""


@stage("score.lexicon", config=ScoreLexicon, outputs={"overlaps": LexiconOverlaps})
def score_lexicon(_config: ScoreLexicon, tables: Tables) -> Outputs:
    """Join both on the wordform and count by pairs of lemmas."""
    return {"overlaps": lexicon_overlaps(tables["gold"], tables["lexicon"])}
