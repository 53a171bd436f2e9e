"""An unranked set of candidates, such as the output of a filter, against n-best lists."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.arrays import labels_of
from pipeline.kernels.nbest.difference_sets import difference_counts
from pipeline.kernels.nbest.judging import ranked_candidates


def subset_difference_counts(
    subset: pl.DataFrame,
    ranks: pl.DataFrame | pl.LazyFrame,
    judged: pl.DataFrame,
    *,
    name: str,
) -> pl.DataFrame:
    """Count draws and true positives that only the subset or only an n-best list holds.

    A subset A is compared with the list of the same size of each measure: D1 = A - C_{g,|A|},
    D2 = C_{g,|A|} - A.

    Parameters
    ----------
    subset : pl.DataFrame
        id of the members; those that are not ranked are no candidates and don't count.
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.DataFrame
        Columns category, id, tp (null = not judged) and multiplicity.
    name : str
        What the subset is called, in place of a measure.

    Returns
    -------
    pl.DataFrame
        Columns category, measure_1 (the name), measure_2, n = |A|, size = |D1| = |D2|, n_1,
        k_1, n_2, k_2, sorted: what `difference_tests.compare` takes. No rows for an empty set.

    Raises
    ------
    ValueError
        If the name is that of a measure.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> judged = pl.DataFrame(
    ...     {"category": "TP", "id": list("abd"), "tp": [True, False, True], "multiplicity": 1}
    ... )
    >>> subset_difference_counts(
    ...     pl.DataFrame({"id": ["a", "d"]}), ranks, judged, name="filter"
    ... ).drop("category", "measure_1", "measure_2").rows()
    [(2, 1, 1, 1, 1, 0)]
    """
    own = ranks.lazy().select("measure", "id", rank=pl.col("rank").cast(pl.Int64))
    measures = labels_of(own, "measure")
    if name in measures:
        raise ValueError(f"{name!r} is a measure already: give the subset another name")
    inside = pl.col("id").is_in(subset["id"].implode())
    placed = ranked_candidates(own).select("id", inside=inside)
    size = placed.select(pl.col("inside").sum()).collect(engine="streaming").item()
    # As a list it has the members on top, in any order, and ends with them.
    rank = pl.when("inside").then(1).otherwise(size + 1).cast(pl.Int64)
    listed = placed.select(pl.lit(name).alias("measure"), "id", rank=rank)
    pairs = [(name, measure) for measure in measures] if size else []
    return difference_counts(pl.concat([own, listed]), judged, pairs=pairs, at=[size])
