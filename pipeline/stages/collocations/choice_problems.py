"""What is wrong where no list can be chosen: how near the lists came, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.errors import Problem


def no_list(option: str, last: int | None, sizes: Sequence[int]) -> Problem:
    """Say why no list of these sizes can be estimated: all too long, or nothing judged."""
    shown = ", ".join(f"{size:,}" for size in sorted(set(sizes))[:3])
    if last is not None and min(sizes) > last:
        what = f"the longest lists have {last:,} candidates, fewer than {shown}"
        return Problem(option, what, "ask for shorter lists")
    what = f"no member of the lists of {shown} candidates has been judged"
    return Problem(option, what, "judge more candidates, or ask for longer lists")


def nothing_chosen(lists: pl.DataFrame, name: str, value: float) -> Problem:
    """Say how near the lists came."""
    column = "recall" if name == "min_recall" else "precision"
    best = lists.drop_nulls(column).sort(column, "measure", descending=[True, False]).head(3)
    shown = [
        f"{row['measure']} at n = {row['n']:,} with {row[column]:.3f}"
        for row in best.iter_rows(named=True)
    ]
    if not shown:
        what = "recall is unknown: there is no true positive among the candidates judged"
        return Problem(name, what, "judge more candidates")
    what = f"no list meets {name} = {value:g}; the best are {', '.join(shown)}"
    return Problem(name, what, "ask for less")


def not_guaranteed(tests: pl.DataFrame, value: float) -> Problem:
    """Say how near the lists came to passing, or that their draws are too few for any to pass."""
    tested = tests.filter("tested").sort("lower_one_sided", "measure", descending=[True, False])
    if tested.is_empty():
        most = max(tests["n_sampled"])
        what = (
            f"no list of these sizes has enough judged draws, {most:,} at most, to be sure of "
            f"{value:g} even if all were true positives"
        )
        return Problem("guarantee", what, "judge more candidates, or declare longer lists")
    shown = ", ".join(
        f"{row['measure']} at n = {row['n']:,} with a lower limit of {row['lower_one_sided']:.3f}"
        f" ({row['k_sampled']:,} of {row['n_sampled']:,})"
        for row in tested.head(3).iter_rows(named=True)
    )
    what = (
        f"no list is sure to meet min_precision = {value:g}: {tested.height:,} were tested, each "
        f"measure's until one failed; the nearest are {shown}"
    )
    remedy = "judge more, ask for less, name fewer measures, or put the surest size first"
    return Problem("guarantee", what, remedy)
