"""How many judgements more would tell two measures apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.findings.words import number, rounded
from pipeline.kernels.nbest.power import Design, predictive_power
from pipeline.kernels.nbest.width import smallest
from pipeline.kernels.statistics.exact_tests import Alternative

POWER = 0.8
"""The probability with which they are to be told apart."""
_REPLICATES = 1_000


def further_judgements(
    pair: Mapping[str, Any],
    *,
    candidates: int,
    judged: int,
    test: str,
    alternative: Alternative,
    alpha: float,
    margin: float,
) -> int | None:
    """Return how many judgements more tell two measures apart with a probability of 80 %.

    The sample at hand stays part of the larger one, and what it leaves open is averaged over, see
    `predictive_power`; found by simulation with a fixed seed, so it is good to some per cent.

    Parameters
    ----------
    pair : mapping
        Row of `schemas.Comparison`.
    candidates, judged : int
        Candidates, and judged draws without replacement.
    test, alternative, alpha, margin
        How the pair is tested, by itself.

    Returns
    -------
    int or None
        None if not even the judgement of all candidates is expected to.

    Examples
    --------
    >>> pair = dict(n=500, size=200, k_1=12, n_1=20, k_2=6, n_2=20)
    >>> how = dict(test="fisher", alternative="two_sided", alpha=0.05, margin=0.0)
    >>> 100 < further_judgements(pair, candidates=5000, judged=500, **how) < 4500
    True
    """
    design = Design(pair["n"], pair["size"], candidates, alpha, margin, test, alternative)
    pilot = (pair["k_1"], pair["n_1"], pair["k_2"], pair["n_2"])
    ahead = 0 if _share(pilot[0], pilot[1]) >= _share(pilot[2], pilot[3]) else 1

    def enough(size: int) -> bool:
        found = predictive_power(
            design, size=size, pilot=pilot, pilot_size=judged, replicates=_REPLICATES
        )
        return bool(found[ahead] >= POWER)

    least = smallest(enough, judged, candidates)
    return None if least is None else least - judged


def _share(positives: int, draws: int) -> float:
    return positives / draws if draws else 0.5


def said(further: int | None, *, candidates: int) -> str:
    """Say how many judgements more it takes, without the full stop.

    Examples
    --------
    >>> said(1243, candidates=5102)
    'to tell the first two apart at this size would take about 1,200 judgements more (power 80 %)'
    >>> said(None, candidates=5102)
    'not even the judgement of all 5,102 candidates is expected to tell the first two apart'
    """
    if further is None:
        return (
            f"not even the judgement of all {candidates:,} candidates is expected to tell the "
            "first two apart"
        )
    return (
        "to tell the first two apart at this size would take about "
        f"{number(rounded(further), 0)} judgements more (power {POWER:.0%}".replace("%", " %")
        + ")"
    )
