"""Choose a measure and a list size by a preliminary sample, and say how sure the choice is."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.statistics.intervals import interval_columns

CRITERIA = ("size", "min_precision", "min_recall")


def considered(precision: pl.DataFrame, *, sizes: Sequence[int]) -> pl.DataFrame:
    """Return the lists that take part: those of the declared sizes with an estimate, sorted.

    Parameters
    ----------
    precision : pl.DataFrame
        Table `Precision`, of one category.
    sizes : sequence of int
        The list sizes.

    Returns
    -------
    pl.DataFrame
        Their rows, by measure and n.

    Examples
    --------
    >>> precision = pl.DataFrame(
    ...     {"measure": ["mi", "mi", "dice"], "n": [1, 2, 2], "precision": [None, 0.5, 0.25]}
    ... )
    >>> considered(precision, sizes=[1, 2]).rows()
    [('dice', 2, 0.25), ('mi', 2, 0.5)]
    """
    wanted = pl.col("n").is_in(list(sizes)) & pl.col("precision").is_not_null()
    return precision.filter(wanted).sort("measure", "n")


def simultaneous(
    lists: pl.DataFrame, *, tests: int, method: str, confidence: float
) -> pl.DataFrame:
    """Add limits that hold for all lists at once.

    The list that is chosen because its estimate is high has had luck more often than not, so its
    own interval is too optimistic. With ``1 - (1 - confidence) / tests`` for each (Bonferroni),
    all intervals hold together with the wanted confidence, and so does that of whichever list is
    chosen.

    Parameters
    ----------
    lists : pl.DataFrame
        Rows of the table `Precision`.
    tests : int
        How many lists were considered.
    method : str
        Interval method, a name in `intervals.INTERVALS`.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        The rows with lower_simultaneous and upper_simultaneous, in [0, 1].

    References
    ----------
    Miller, Simultaneous Statistical Inference (1981), section 1.

    Examples
    --------
    >>> row = pl.DataFrame({"n": [100], "n_sampled": [20], "k_sampled": [10]})
    >>> simultaneous(row, tests=10, method="clopper_pearson", confidence=0.95).select(
    ...     pl.col("lower_simultaneous", "upper_simultaneous").round(3)
    ... ).row(0)
    (0.199, 0.801)
    """
    counts = lists.select("n", "n_sampled", "k_sampled")
    limits = interval_columns(
        counts,
        k="k_sampled",
        n="n_sampled",
        population="n",
        method=method,
        confidence=1.0 - (1.0 - confidence) / max(tests, 1),
    )
    return lists.with_columns(
        limits["lower"].alias("lower_simultaneous"), limits["upper"].alias("upper_simultaneous")
    )


def choose(
    lists: pl.DataFrame,
    *,
    size: int | None = None,
    min_precision: float | None = None,
    min_recall: float | None = None,
) -> pl.DataFrame:
    """Return the list that meets the one criterion given.

    Parameters
    ----------
    lists : pl.DataFrame
        What `considered` gives.
    size : int, optional
        The size is fixed: the measure of the highest precision.
    min_precision : float, optional
        The longest list whose precision is estimated at this or more; of equally long ones the
        most precise.
    min_recall : float, optional
        The shortest list whose recall is estimated at this or more; of equally long ones that
        of the highest recall.

    Returns
    -------
    pl.DataFrame
        One row; none if no list meets the criterion. What is equal goes by the name of the
        measure.

    Raises
    ------
    ValueError
        Unless just one criterion is given.

    Examples
    --------
    >>> lists = pl.DataFrame({
    ...     "measure": ["dice", "dice", "mi", "mi"], "n": [100, 200] * 2,
    ...     "precision": [0.5, 0.3, 0.4, 0.35], "recall": [0.5, 0.6, 0.4, 0.7],
    ... })
    >>> choose(lists, size=100)["measure"].item()
    'dice'
    >>> choose(lists, min_precision=0.3).select("measure", "n").row(0)
    ('mi', 200)
    >>> choose(lists, min_recall=0.5).select("measure", "n").row(0)
    ('dice', 100)
    """
    if sum(each is not None for each in (size, min_precision, min_recall)) != 1:
        raise ValueError(f"give just one of {', '.join(CRITERIA)}")
    if size is not None:
        fit, order, down = lists.filter(n=size), ["precision"], [True]
    elif min_precision is not None:
        fit = lists.filter(pl.col("precision") >= min_precision)
        order, down = ["n", "precision"], [True, True]
    else:
        fit = lists.filter(pl.col("recall") >= min_recall)
        order, down = ["n", "recall"], [False, True]
    return fit.sort([*order, "measure"], descending=[*down, False]).head(1)
