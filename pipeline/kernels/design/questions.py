"""Questions that a sample is to answer: precisions, differences of two, the baseline."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Mapping, Sequence

import polars as pl

KINDS = ("precision", "difference", "baseline")
"""What is asked for: precision of a list, difference of two, precision of all candidates."""

_SCHEMA = {
    "question": pl.String(),
    "kind": pl.String(),
    "measure": pl.String(),
    "measure_2": pl.String(),
    "n": pl.Int64(),
    "weight": pl.Float64(),
}


def declared_questions(
    *,
    measures: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
    candidates: int,
    weights: Mapping[str, float],
) -> pl.DataFrame:
    """List the questions: each measure at each size, each pair at each size, the baseline.

    Parameters
    ----------
    measures : sequence of str
        The measures whose precision is asked for.
    pairs : sequence of (str, str)
        The measures whose difference in precision is asked for.
    at : sequence of int
        List sizes.
    candidates : int
        How many candidates there are: the n of the baseline.
    weights : mapping of str to float
        What a question or all of a kind count, 1 if nothing is said; the name of a question goes
        before its kind. With 0 it is not asked.

    Returns
    -------
    pl.DataFrame
        question (its name), kind, measure, measure_2, n, weight; precisions measure by measure,
        differences pair by pair, then the baseline.

    Raises
    ------
    ValueError
        If a weight is of no question and no kind, negative or infinite, or if nothing is asked.

    Examples
    --------
    >>> asked = declared_questions(
    ...     measures=["mi", "dice"], pairs=[("mi", "dice")], at=[10], candidates=99,
    ...     weights={"difference": 2.0, "baseline": 0.0},
    ... )
    >>> asked.select("question", "weight").rows()
    [('mi at 10', 1.0), ('dice at 10', 1.0), ('mi - dice at 10', 2.0), ('baseline', 0.0)]
    """
    rows = [
        *((f"{m} at {n}", "precision", m, None, n) for m, n in itertools.product(measures, at)),
        *(
            (f"{one} - {two} at {n}", "difference", one, two, n)
            for (one, two), n in itertools.product(pairs, at)
        ),
        ("baseline", "baseline", None, None, candidates),
    ]
    _check(weights, [row[0] for row in rows])
    weighted = [(*row, float(weights.get(row[0], weights.get(row[1], 1.0)))) for row in rows]
    if not any(row[-1] for row in weighted):
        raise ValueError("every question has weight 0: nothing is asked")
    return pl.DataFrame(weighted, schema=_SCHEMA, orient="row")


def _check(weights: Mapping[str, float], names: Sequence[str]) -> None:
    known = [*KINDS, *names]
    unknown = [name for name in weights if name not in known]
    if unknown:
        near = difflib.get_close_matches(unknown[0], known, n=1) or ["precision"]
        raise ValueError(
            f"{len(unknown):,} weights are of no question and no kind, such as"
            f" {', '.join(map(repr, unknown[:3]))}; did you mean {near[0]!r}?"
        )
    wrong = [f"{name} = {weight}" for name, weight in weights.items() if not 0 <= weight < 1e12]
    if wrong:
        raise ValueError(f"weights are numbers from 0 on, not {', '.join(wrong[:3])}")
