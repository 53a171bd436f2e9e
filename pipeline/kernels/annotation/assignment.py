"""Which annotator judges which items, in which order."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.hashing import seeded_key

_HALF_RANGE = 2**62


def assign(
    ids: pl.LazyFrame,
    *,
    annotators: Sequence[str],
    overlap: float,
    seed: str,
    times: int | None = None,
) -> pl.LazyFrame:
    """Give every id to one annotator, and a share of the ids to several.

    An id goes to the annotator for whom hash(seed, id, annotator) is smallest; an id in the
    overlap goes to the `times` annotators with the smallest ones. So an id keeps its annotators
    when others are added to the sample, and a new annotator takes some ids over and moves no
    id between the others.

    Parameters
    ----------
    ids : LazyFrame
        String column ``id``; an id that is there twice is assigned once.
    annotators : sequence of str
        Their names, all different, in any order.
    overlap : float
        Share in [0, 1] of the ids that several annotators judge; an id is in it or not whatever
        else is in the sample.
    seed : str
        Fixes the draw.
    times : int, optional
        How many annotators judge an id in the overlap; all of them by default.

    Returns
    -------
    LazyFrame
        id, annotator, order (Int64), the id's place among this annotator's from 1, at random
        for each annotator; sorted by annotator and order. Shares are equal in expectation.

    Raises
    ------
    ValueError
        If there is no annotator, or one twice, or overlap or times is out of range.

    References
    ----------
    Thaler & Ravishankar 1998, Using Name-Based Mappings to Increase Hit Rates, IEEE/ACM
    Transactions on Networking 6 (1): highest random weight.

    Examples
    --------
    >>> ids = pl.LazyFrame({"id": ["x1", "x2", "x3"]})
    >>> sheets = assign(ids, annotators=["ana", "bo"], overlap=1.0, seed="s").collect()
    >>> sheets.group_by("annotator").len().sort("annotator").rows()
    [('ana', 3), ('bo', 3)]
    """
    several = len(annotators) if times is None else times
    _check(annotators, overlap, several)
    people = pl.LazyFrame({"annotator": sorted(annotators)})
    pairs = ids.select(pl.col("id").unique()).join(people, how="cross")
    pairs = pairs.with_columns(_pair=pl.concat_str("id", "annotator", separator="\x1f"))
    keyed = pairs.with_columns(
        _weight=seeded_key("_pair", seed=seed, purpose="annotator"),
        _order=seeded_key("_pair", seed=seed, purpose="annotation order"),
        # Halved, so that an overlap of 1 (2**62 of 2**62) stays in Int64.
        _share=seeded_key("id", seed=seed, purpose="overlap") // 2,
    )
    wanted = pl.when(pl.col("_share") < int(overlap * _HALF_RANGE)).then(several).otherwise(1)
    chosen = keyed.filter(_place("id", by=["_weight", "annotator"]) <= wanted)
    placed = chosen.with_columns(order=_place("annotator", by=["_order", "id"]))
    return placed.select("id", "annotator", "order").sort("annotator", "order")


def _place(group: str, *, by: list[str]) -> pl.Expr:
    return pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(group, order_by=by)


def _check(annotators: Sequence[str], overlap: float, times: int) -> None:
    if not annotators or len(set(annotators)) < len(annotators):
        raise ValueError(f"annotators must be named, each once: {', '.join(annotators)}")
    if not 0 <= overlap <= 1:
        raise ValueError(f"overlap is a share in [0, 1], not {overlap}")
    if not 1 <= times <= len(annotators):
        raise ValueError(f"times is in [1, {len(annotators)}], the annotators, not {times}")
