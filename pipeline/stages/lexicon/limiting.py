"""Which limits a stage can give for the lemmas that were drawn."""

from __future__ import annotations

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.lexicon.limits import AnyMethod, Limiting


def chosen_method(scores: pl.DataFrame, how: Limiting) -> AnyMethod:
    """Return the method that is asked for, or the default for such lemmas.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    how : Limiting
        What is asked for.

    Raises
    ------
    ConfigError
        If the method does not go with lemmas that were drawn with different chances.
    """
    try:
        return how.chosen(scores)
    except ValueError as error:
        remedy = "leave interval out, or take beta, t or linearised"
        raise ConfigError("lexicon", [Problem("interval", str(error), remedy)]) from error
