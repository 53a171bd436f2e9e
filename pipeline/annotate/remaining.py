"""How many more judgements it takes until limits are as narrow as is wished."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pipeline.annotate.rows import WHOLE, Row

USUAL = 0.05
"""The half-width that is wished, if nothing is said: five points."""


def further_draws(draws: int, half: float, *, wished: float, members: float) -> int | None:
    """Return how many more draws make a half-width as small as is wished, about.

    Half-widths fall as ``sqrt(1/d - 1/M)``, d the draws among M members, so that
    ``1/d' = 1/M + (wished / half)^2 (1/d - 1/M)``; without an M this is ``d ((half/wished)^2 - 1)``
    more.

    Parameters
    ----------
    draws : int
        Judged draws among the members.
    half : float
        Half-width now.
    wished : float
        The one that is wished, above 0.
    members : float
        How many there are to draw.

    Returns
    -------
    int or None
        None where nothing is drawn yet, so that nothing can be said.

    Examples
    --------
    >>> further_draws(100, 0.10, wished=0.05, members=1e12)
    300
    >>> further_draws(100, 0.10, wished=0.05, members=500)
    150
    >>> further_draws(100, 0.04, wished=0.05, members=500)
    0
    """
    if half <= wished:
        return 0
    if draws < 1:
        return None
    if draws >= members:
        return 0
    then = 1.0 / members + (wished / half) ** 2 * (1.0 / draws - 1.0 / members)
    return max(1, math.ceil(1.0 / then - draws - 1e-9))


def further_judgements(
    row: Row, *, judged: int, wished: float, candidates: float = math.inf
) -> int | None:
    """Return how many more judgements a question takes, about.

    As many of the next judgements fall to it as of those before, until all candidates are judged.

    Parameters
    ----------
    row : Row
        The question.
    judged : int
        Judgements that all questions rest on now.
    wished : float
        Half-width.
    candidates : float
        How many there are in all.
    """
    if row.half is None:
        return None
    more = further_draws(row.draws, row.half, wished=wished, members=row.members)
    if not more:
        return more
    return math.ceil(min(more * judged / row.draws, max(candidates - judged, more)))


def all_candidates(rows: Sequence[Row]) -> float:
    """Return how many candidates there are, infinity where no question says it."""
    return max((row.n for row in rows if row.question == WHOLE), default=math.inf)


def what_is_left(rows: Sequence[Row], *, judged: int, left: int, wished: float) -> str:
    """Return in one sentence what is left to do.

    Parameters
    ----------
    rows : sequence of Row
        The questions.
    judged, left : int
        Items that count, and those of this sample that nobody has judged in full.
    wished : float
        Half-width.
    """
    points = f"{100 * wished:.3g} point{'s' * (wished != 0.01)}"
    every = all_candidates(rows)
    needs = {
        row: further_judgements(row, judged=judged, wished=wished, candidates=every) for row in rows
    }
    if not rows:
        return ""
    if all(need == 0 for need in needs.values()):
        return f"Done: all limits lie no further than {points} to either side."
    known = {row: need for row, need in needs.items() if need}
    if not known:
        return "Too little is judged to say how much is left to do."
    worst = max(known, key=lambda row: known[row])
    many = sum(need != 0 for need in needs.values())
    said = (
        f"About {known[worst]:,} more judgements until all limits lie within {points} to either"
        f" side. {many:,} of {len(rows):,} questions {'is' if many == 1 else 'are'} not there yet;"
        f" {worst.question} at {worst.n:,} takes longest."
    )
    if known[worst] > left:
        rest = f"This sample has {left:,} left" if left else "All of this sample is judged"
        said += f" {rest}: a larger one is needed for that."
    return said
