"""Options of the examples of candidates, shared by the stages that count in a corpus."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from pydantic import Field

from pipeline.kernels.cooccurrence import examples
from pipeline.kernels.cooccurrence.surface import FORM, SPACE_AFTER, SURFACE
from pipeline.stages.base import Seeded

PAIR = ("l1", "l2")


class ExampleOptions(Seeded):
    """Which sentences are kept for each candidate, and what they show."""

    examples: int = Field(default=0, ge=0)
    """Sentences to keep per candidate, chosen at random."""
    form: str = FORM
    """The attribute that the examples show."""
    example_width: int = Field(default=200, ge=0)
    """Characters of an example. Of a longer sentence the words go that are farthest from the
    candidate's; […] stands for them. 0: whole sentences."""

    def shown(self) -> dict[str, set[str]]:
        """Return the attribute that the option form names, if there are to be examples."""
        return {"form": {self.form}} if self.examples else {}

    def looked_at(self) -> set[str]:
        """Return the columns that say how a sentence is written, if there are to be examples."""
        return {self.form, SURFACE, SPACE_AFTER} if self.examples else set()

    def from_tokens(
        self,
        located: pl.LazyFrame,
        tokens: pl.LazyFrame,
        *,
        units: Sequence[str] = PAIR,
        number: int = 2,
    ) -> pl.LazyFrame:
        """Choose the examples of one part of a corpus.

        Parameters
        ----------
        located : LazyFrame
            Pair or tuple tokens and where they stand; see `examples.draw`.
        tokens : LazyFrame
            The part, in order.
        units : sequence of str
            The columns that name a candidate.
        number : int
            How many of its tokens are marked, by position_1, position_2 ...
        """
        places = [f"position_{i}" for i in range(1, number + 1)]
        drawn = examples.draw(
            located, most=self.examples, seed=self.seed, units=units, positions=places
        )
        return examples.sentences(
            drawn, tokens, form=self.form, width=self.example_width, positions=places
        )
