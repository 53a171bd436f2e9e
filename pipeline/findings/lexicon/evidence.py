"""What finders of lexicons look at: the statistics by name, what lexicon and gold are called."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from pipeline.findings.names import called
from pipeline.findings.stage import StageOptions, StageView
from pipeline.kernels.lexicon.by_chance import unequal


class Judged(StageOptions):
    """How the stage evaluates."""

    gold: str
    lexicon: str
    n: int | None


class Statistic(NamedTuple):
    """A statistic with its limits; None where it is not known."""

    value: float | None
    lower: float | None
    upper: float | None


_UNKNOWN = Statistic(None, None, None)


class Quality:
    """The statistics of a lexicon by name.

    Parameters
    ----------
    table : DataFrame
        `schemas.LexiconQuality`.

    Examples
    --------
    >>> rows = {"statistic": ["L*"], "value": [0.8], "lower": [0.7], "upper": [0.9]}
    >>> Quality(pl.DataFrame(rows))["L*"].value, Quality(pl.DataFrame(rows)).count("n")
    (0.8, None)
    """

    def __init__(self, table: pl.DataFrame) -> None:
        columns = ("statistic", "value", "lower", "upper")
        self._rows = {row[0]: Statistic(*row[1:]) for row in table.select(columns).rows()}

    def __getitem__(self, name: str) -> Statistic:
        """Return a statistic; unknown if the table has none of this name."""
        return self._rows.get(name, _UNKNOWN)

    def count(self, name: str) -> int | None:
        """Return a statistic that is a number of lemmas or forms."""
        value = self[name].value
        return None if value is None else round(value)


def drawn_by(scores: pl.DataFrame) -> str:
    """Return how the lemmas were drawn, to be put after their number; nothing of a simple sample.

    Parameters
    ----------
    scores : DataFrame
        Column pi, null for lemmas that somebody chose.

    Examples
    --------
    >>> drawn_by(pl.DataFrame({"pi": [0.5, 0.2]})), drawn_by(pl.DataFrame({"pi": [0.5, 0.5]}))
    (', drawn in proportion to their paradigms', '')
    """
    return ", drawn in proportion to their paradigms" if unequal(scores) else ""


class Names(NamedTuple):
    """What sentences call the lexicon and the gold."""

    lexicon: str
    gold: str


def names_of(stage: StageView) -> Names:
    """Return the names of the stages that made the lexicon and the gold."""
    judged = stage.options_as(Judged)
    return Names(*(called(name.partition(".")[0]) for name in (judged.lexicon, judged.gold)))
