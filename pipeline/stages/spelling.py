"""How stages that read lemmas and forms bring them into one spelling."""

from __future__ import annotations

from pydantic import Field

from pipeline.kernels.lexicon.normalising import Case, Spelling, UnicodeForm
from pipeline.stages.base import StageConfig


class Spelt(StageConfig):
    """Options of a stage that normalises lemmas and forms; blanks around them always go."""

    unicode: UnicodeForm = "NFC"
    """Unicode form of all texts: NFC, NFD, NFKC, NFKD or as_it_is."""
    case: Case = "as_it_is"
    """``lower`` puts all texts into lower case."""
    replace: dict[str, str] = Field(default_factory=dict)
    """What is written for what, after the steps above: { "ё" = "е" }."""

    @property
    def spelling(self) -> Spelling:
        """The steps that these options ask for."""
        return Spelling(self.unicode, self.case, self.replace)
