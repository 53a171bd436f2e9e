"""All estimates that a sample gives: a table of lists and a table of pairs, for each category."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.estimates.lists import list_estimates
from pipeline.kernels.estimates.pairs import pair_estimates
from pipeline.kernels.estimates.study import study


def estimate_tables(
    ranks: pl.DataFrame | pl.LazyFrame,
    draws: pl.DataFrame | pl.LazyFrame,
    *,
    at: Sequence[int],
    pairs: Sequence[tuple[str, str]] = (),
    candidates: pl.DataFrame | pl.LazyFrame | None = None,
    confidence: float = 0.95,
    folds: int = 10,
    seed: str = "",
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Estimate the precision of all lists, and all differences, from a sample of any design.

    Parameters
    ----------
    ranks, draws, candidates, folds, seed
        As for `study.study`; with a column category in `draws`, a candidate may stand there once
        for each category, and the tables have that column, too.
    at, pairs, confidence
        As for `lists.list_estimates` and `pairs.pair_estimates`.

    Returns
    -------
    lists, pairs : pl.DataFrame
        What those two functions give, sorted. Where only differences could be drawn for, call
        `pairs.pair_estimates` alone: lists would be refused.

    Raises
    ------
    ValueError
        As those functions do, and if there is a column category but no draw.

    Examples
    --------
    >>> ranks = pl.DataFrame({
    ...     "measure": ["dice"] * 3 + ["mi"] * 3, "id": list("abccba"), "rank": [1, 2, 3] * 2,
    ... })
    >>> draws = pl.DataFrame({"category": "TP", "id": ["a", "c"], "tp": [True, False], "pi": 1.0})
    >>> lists, differences = estimate_tables(ranks, draws, at=[1], pairs=[("dice", "mi")])
    >>> lists.select("category", "measure", "estimate").rows()
    [('TP', 'dice', 1.0), ('TP', 'mi', 0.0)]
    >>> differences["difference"].to_list()
    [1.0]
    """
    every = draws.lazy().collect()
    named = "category" in every.columns
    if named and every.is_empty():
        raise ValueError("no draws: give a row for each candidate that was drawn, judged or not")
    parts = every.partition_by("category", as_dict=True) if named else {(): every}
    found: list[tuple[pl.DataFrame, pl.DataFrame]] = []
    for key in sorted(parts):
        given = study(ranks, parts[key], candidates=candidates, folds=folds, seed=seed)
        category = [pl.lit(name).alias("category") for name in key]
        lists = list_estimates(given, at=at, confidence=confidence)
        compared = pair_estimates(given, pairs=pairs, at=at, confidence=confidence)
        found.append((lists.select(*category, pl.all()), compared.select(*category, pl.all())))
    return pl.concat([one for one, _ in found]), pl.concat([other for _, other in found])
