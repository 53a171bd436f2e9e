"""How stages that read lemmas and forms bring them into one spelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import polars as pl
from pydantic import Field

from pipeline.kernels.lexicon.normalising import Case, Spelling, UnicodeForm
from pipeline.stages.base import StageConfig
from schemas import Preparation

Step: TypeAlias = tuple[str, int, str | None]


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


def changed(counts: pl.DataFrame) -> list[Step]:
    """Return what each step of the spelling changed, as steps of a preparation."""
    return [(f"texts changed: {step}", n, example) for step, n, example in counts.rows()]


def preparation(steps: Sequence[Step]) -> pl.DataFrame:
    """Return `schemas.Preparation`, the steps in order."""
    numbered = [(number, *step) for number, step in enumerate(steps, 1)]
    return pl.DataFrame(numbered, schema=Preparation.columns(), orient="row")
