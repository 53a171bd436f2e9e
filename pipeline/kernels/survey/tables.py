"""Tables of estimates: precision of n-best lists, differences of pairs, local precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.survey.limits import (
    difference_limits,
    difference_p_values,
    effective_sample_size,
    limits,
)
from pipeline.kernels.survey.ratio_estimator import CertainCounts, Estimates, hajek
from pipeline.kernels.survey.study import (
    MergedClasses,
    Study,
    add_classes,
    blocks,
    build_study,
    combine_phases,
    difference_sums,
    list_sums,
    merge_classes,
)

Sums = tuple[FloatArray, FloatArray, FloatArray]
"""Over the judged uncertain draws, all candidates, and the certain and unjudged draws."""

# Precision of n-best lists.

LISTS = {
    "measure": pl.String, "n": pl.Int64, "estimate": pl.Float64, "variance": pl.Float64,
    "lower": pl.Float64, "upper": pl.Float64, "n_eff": pl.Float64, "n_sampled": pl.Int64,
    "k_sampled": pl.Int64, "draws": pl.Int64, "certain": pl.Int64, "unjudged": pl.Int64,
    "tau": pl.Float64, "labels_needed": pl.Int64,
}  # fmt: skip


def list_estimates(
    study: Study, *, at: Sequence[int], confidence: npt.ArrayLike = 0.95
) -> pl.DataFrame:
    """Estimate the precision of n-best lists from a sample of any design.

    Parameters
    ----------
    study : Study
        Ranks and sample, as `study.build_study` puts them together.
    at : sequence of int
        List sizes in 1..S; S gives the baseline.
    confidence : array_like of float
        Confidence level in (0, 1): one, or as many as fit the shape (measures, lists), measures
        in alphabetical order and sizes ascending.

    Returns
    -------
    pl.DataFrame
        measure, n, estimate, variance, lower, upper, n_eff (effective draws of the uncertain part),
        n_sampled (judged draws), k_sampled (true ones among them), draws (judged, uncertain),
        certain, unjudged (draws), tau (weight of the predictions), labels_needed; sorted. Where a
        stratum of the list has no draw, or a certain member no judgement, the estimate is null, and
        the limits are the worst case. So it is where the design expects too few draws in a large
        part of the list (`study.merge_classes`): then labels_needed is about the size of a
        sample of this design that would have enough; else it is null.

    Raises
    ------
    ValueError
        If a list size is outside 1..S, a list holds candidates that could not be drawn, or the
        confidence is not inside (0, 1).

    References
    ----------
    See `ratio_estimator.hajek` and `limits.korn_graubard`.

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> draws = pl.DataFrame(
    ...     {"id": list("abc"), "tp": [True, True, False], "pi": [1.0, 0.5, 0.25]}
    ... )
    >>> list_estimates(build_study(ranks, draws), at=[1, 4]).select(
    ...     "n", pl.col("estimate", "lower", "upper").round(3), "draws", "certain"
    ... ).rows()
    [(1, 1.0, 1.0, 1.0, 0, 1), (4, 0.5, 0.251, 0.975, 2, 1)]
    """
    n = checked_cuts(study, at)
    first = np.searchsorted(n, study.ranks, side="left")
    levels = np.broadcast_to(confidence, (len(study.measures), len(n)))
    numbers = len(n) * study.strata * study.folds * (len(study.moments) + len(study.rest))
    parts = [pl.DataFrame(schema=LISTS)]
    for rows in blocks(len(study.measures), numbers=numbers):
        part = slice(rows.start, rows.stop)
        sets = _estimate_sets(study, first[part], partial(list_sums, lists=len(n)))
        places = [(name, int(size)) for name in study.measures[part] for size in n]
        parts.append(_list_rows(study, sets, places, levels[part]))
    return pl.concat(parts).sort("measure", "n")


def _list_rows(
    study: Study,
    sets: tuple[Estimates, FloatArray, FloatArray, FloatArray],
    places: list[tuple[str, int]],
    confidence: FloatArray,
) -> pl.DataFrame:
    estimates, drawn, rest, known = sets
    require_drawable(rest[1].sum(axis=-1).ravel(), [f"{name} at {size}" for name, size in places])
    lower, upper = limits(estimates, confidence=confidence)
    names, sizes = zip(*places, strict=True) if places else ((), ())
    columns = {"measure": names, "n": sizes, "variance": estimates.variance.ravel()}
    columns |= {"lower": lower.ravel(), "upper": upper.ravel()}
    columns["labels_needed"] = labels_needed(study, estimates.factor)
    return typed_table(columns | set_columns(estimates, drawn, known), LISTS)


def labels_needed(study: Study, times: FloatArray) -> FloatArray:
    """Return about how many labels of this design sets without enough draws need; NaN for others.

    Parameters
    ----------
    study : Study
        Ranks and sample.
    times : array of float
        `Estimates.factor`.

    Returns
    -------
    array of float, shape (sets,)
        At most the number of candidates.

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> study = build_study(ranks, pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]}))
    >>> labels_needed(study, np.array([1.0, 2.5, 10.0])).tolist()
    [nan, 3.0, 4.0]
    """
    labels = np.ceil(times * (len(study.places) + len(study.other_places)))
    return np.where(times > 1, np.minimum(labels, len(study.ids)), np.nan).ravel()


def study_sums(study: Study, first: IntArray, add: Callable[..., FloatArray]) -> Sums:
    """Add up draws, candidates, and certain and unjudged draws of sets.

    Parameters
    ----------
    study : Study
        Ranks and sample.
    first : array of int, shape (measures, candidates)
        The place of the first list that holds a candidate.
    add : callable
        Adds up columns over the sets, for example `study.difference_sums`.

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ["a", "b"], "rank": [1, 2]})
    >>> study = build_study(ranks, pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]}))
    >>> sums = study_sums(study, study.ranks - 1, partial(list_sums, lists=2))
    >>> sums[1][0, 0, :, 0].tolist()  # uncertain candidates
    [1.0, 2.0]
    """
    cells, one_cell = study.strata * study.folds, np.zeros_like(study.other_places)
    return (
        add(first[..., study.places], study.moments, study.cell, cells=cells),
        add(first, study.rest, study.stratum, cells=study.strata),
        add(first[..., study.other_places], study.other_columns, one_cell, cells=1)[..., 0],
    )


def _estimate_sets(
    study: Study, first: IntArray, add: Callable[..., FloatArray]
) -> tuple[Estimates, FloatArray, FloatArray, FloatArray]:
    """Estimate the sets of `add`, and return their sums; with several phases, combine these."""
    drawn, rest, known = study_sums(study, first, add)
    estimates = estimates_of(study, drawn, rest, known)
    if not study.earlier:
        return estimates, drawn, rest, known
    phases, never, spreads = [estimates], [rest[1]], [_spreads(study, first, add)]
    for each in study.earlier[::-1]:
        sums = study_sums(each, first, add)
        phases.insert(0, estimates_of(each, *sums))
        never.insert(0, sums[1][1])
        spreads.insert(0, _spreads(each, first, add))
        known[4] += sums[2][4]
    undrawable = np.asarray(np.stack([each.sum(axis=-1) for each in never]) > 0)
    every = combine_phases(phases, np.where(undrawable, np.inf, np.stack(spreads)))
    earlier = every.draws - estimates.draws  # known to the last phase, but not certain
    known[3] -= earlier
    rest[0, ..., 0] += earlier
    everywhere = np.asarray(undrawable.all(axis=0))
    rest[1] = np.where(everywhere[..., None], rest[1], 0.0)
    return every, drawn, rest, known


def _spreads(study: Study, first: IntArray, add: Callable[..., FloatArray]) -> FloatArray:
    return add(first, study.spread[None], np.zeros_like(study.stratum), cells=1)[0, ..., 0]


def checked_cuts(study: Study, at: Sequence[int]) -> IntArray:
    """Return the list sizes in order, each once.

    Raises
    ------
    ValueError
        If one is outside 1..S: which.

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ["a", "b"], "rank": [1, 2]})
    >>> draws = pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]})
    >>> checked_cuts(build_study(ranks, draws), [2, 1, 2]).tolist()
    [1, 2]
    """
    wrong = sorted({size for size in at if not 1 <= size <= len(study.ids)})
    if wrong:
        cases = ", ".join(f"{size:,}" for size in wrong[:3])
        raise ValueError(
            f"{len(wrong):,} list sizes are outside 1..{len(study.ids):,}, for example {cases}"
        )
    return np.unique(np.asarray(at, dtype=np.int64))


def estimates_of(study: Study, drawn: FloatArray, rest: FloatArray, known: FloatArray) -> Estimates:
    """Estimate sets from their sums.

    Parameters
    ----------
    study : Study
        Ranks and sample.
    drawn : array of float, shape (fields, ..., cells)
        Sums of `Study.moments`; the cells are taken apart into strata and folds.
    rest : array of float, shape (columns, ..., strata)
        Sums of `Study.rest`.
    known : array of float, shape (5, ...)
        Sums of `Study.other_columns`.

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ["a", "b"], "rank": [1, 2]})
    >>> study = build_study(ranks, pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]}))
    >>> sums = [each.sum(axis=1) for each in (study.moments, study.rest, study.other_columns)]
    >>> float(estimates_of(study, sums[0][:, None], sums[1][:, None], sums[2]).estimate)
    1.0
    """
    sums = drawn.reshape(*drawn.shape[:-1], study.strata, study.folds)
    factors = np.ones(rest.shape[1:-1])
    if study.classes > 1:
        sums, rest, merged = merge_thin_classes(sums, rest, study.classes)
        factors = merged.factor.max(axis=-1)
    guessed = rest[3] if study.predicted else None
    estimates = hajek(sums, rest[0], certain=CertainCounts(*known[:3]), guessed=guessed)
    enough = factors == 1
    values = (estimates.estimate, estimates.variance, estimates.p)
    estimate, variance, p = (np.where(enough, each, np.nan) for each in values)
    return estimates._replace(estimate=estimate, variance=variance, p=p, factor=factors)


def merge_thin_classes(
    sums: FloatArray, rest: FloatArray, classes: int
) -> tuple[FloatArray, FloatArray, MergedClasses]:
    """Merge the classes of each set that have few expected draws, stratum by stratum.

    Parameters
    ----------
    sums : array of float, shape (fields, ..., strata, folds)
        Sums of `Study.moments`.
    rest : array of float, shape (columns, ..., strata)
        Sums of `Study.rest`.
    classes : int
        Classes in each stratum of the sample.

    Returns
    -------
    sums, rest : arrays of float
        Of the same shapes, 0 for classes that became part of others.
    merged : MergedClasses
        Where each class went, shape (..., strata of the sample, classes).

    Examples
    --------
    >>> rest = np.array([[100.0, 50.0], [0.0, 0.0], [20.0, 3.0]])
    >>> merge_thin_classes(np.ones((17, 2, 1)), rest, 2)[1].tolist()
    [[150.0, 0.0], [0.0, 0.0], [23.0, 0.0]]
    """
    by_class = rest.reshape(*rest.shape[:-1], -1, classes)
    merged = merge_classes(by_class[0], by_class[2])
    drawn = sums.reshape(*sums.shape[:-2], -1, classes, sums.shape[-1])
    sums = add_classes(drawn, merged.into).reshape(sums.shape)
    rest = add_classes(by_class[..., None], merged.into).reshape(rest.shape)
    return sums, rest, merged


def set_columns(estimates: Estimates, drawn: FloatArray, known: FloatArray) -> dict[str, object]:
    """Return the columns that lists and difference sets have in common.

    Parameters
    ----------
    estimates : Estimates
        Of the sets.
    drawn, known : array of float
        As for `estimates_of`.

    Examples
    --------
    >>> nothing, none = CertainCounts(*np.zeros((3, 1))), np.zeros((17, 1, 1))
    >>> estimates = hajek(none[..., None], np.ones((1, 1)), certain=nothing)
    >>> sorted(set_columns(estimates, none, np.zeros((5, 1))))[:4]
    ['certain', 'draws', 'estimate', 'k_sampled']
    """
    judged, true = drawn[0].sum(axis=-1), drawn[1].sum(axis=-1)  # a yes counts 1, a no 0
    columns = {
        "estimate": estimates.estimate, "n_eff": effective_sample_size(estimates),
        "n_sampled": judged + known[0] + known[1], "k_sampled": true + known[0],
        "draws": estimates.draws, "certain": known[3], "unjudged": known[4], "tau": estimates.tau,
    }  # fmt: skip
    return {name: column.ravel() for name, column in columns.items()}


def typed_table(columns: dict[str, object], schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    """Return columns as a table of these types, in this order, with null for NaN.

    Examples
    --------
    >>> typed_table({"n": [1.0], "p": [float("nan")]}, {"p": pl.Float64, "n": pl.Int64}).rows()
    [(None, 1)]
    """
    table = pl.DataFrame({name: columns[name] for name in schema})
    known = table.with_columns(pl.col(pl.Float64).fill_nan(None))
    return known.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def require_drawable(counts: FloatArray, names: Sequence[str]) -> None:
    """Refuse questions about candidates that could not be drawn.

    Raises
    ------
    ValueError
        If there are any: how many, three of them, and what to do.

    Examples
    --------
    >>> require_drawable(np.array([0.0]), ["mi at 100"])
    """
    wrong = np.flatnonzero(counts)
    if wrong.size:
        cases = ", ".join(f"{names[place]} ({counts[place]:,.0f} of them)" for place in wrong[:3])
        raise ValueError(
            f"{wrong.size:,} questions concern candidates with pi = 0, for example {cases}; omit "
            "these, or draw from all candidates"
        )


# Differences of two n-best lists.

_SIDES = ("estimate", "n_eff", "n_sampled", "k_sampled", "draws", "certain", "unjudged", "tau")
_PAIRS = {
    "measure_1": pl.String, "measure_2": pl.String, "n": pl.Int64, "size": pl.Int64,
    "difference": pl.Float64, "variance": pl.Float64, "lower": pl.Float64, "upper": pl.Float64,
    "p_value": pl.Float64, "labels_needed": pl.Int64,
    **{f"{name}_{side}": LISTS[name] for side in (1, 2) for name in _SIDES},
}  # fmt: skip


def pair_estimates(
    study: Study,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
    confidence: npt.ArrayLike = 0.95,
) -> pl.DataFrame:
    """Estimate the differences of precision of two lists from a sample of any design.

    ``difference = |D1|/n (theta(D1) - theta(D2))``, D1 the candidates only in the first list, D2
    those only in the second.

    Parameters
    ----------
    study : Study
        Ranks and sample, as `study.build_study` puts them together.
    pairs : sequence of (str, str)
        The measures to compare.
    at : sequence of int
        List sizes in 1..S.
    confidence : array_like of float
        Confidence level in (0, 1): one, or as many as fit the shape (lists, pairs), sizes
        ascending and pairs as given.

    Returns
    -------
    pl.DataFrame
        measure_1, measure_2, n, size (|D1| = |D2|), difference, variance, lower, upper, p_value
        (that these candidates differ: `limits.difference_p_values`), labels_needed (as for
        `list_estimates`, of the set that needs more), and for both sets estimate, n_eff, n_sampled,
        k_sampled, draws, certain, unjudged, tau with _1 and _2; sorted. The difference is null
        where one of the estimates is, and the limits are the widest then; for
        equal lists it is a known 0, without a p-value.

    Raises
    ------
    ValueError
        If a measure is not ranked, a list size is outside 1..S, a difference set holds candidates
        that could not be drawn, or the confidence is not inside (0, 1).

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3, on difference sets; Zou & Donner,
    Construction of Confidence Limits about Effect Measures (2008).

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({
    ...     "measure": ["dice"] * 3 + ["mi"] * 3, "id": list("abccba"), "rank": [1, 2, 3] * 2,
    ... })
    >>> draws = pl.DataFrame({"id": ["a", "c"], "tp": [True, False], "pi": 1.0})
    >>> table = pair_estimates(build_study(ranks, draws), pairs=[("dice", "mi")], at=[1, 2, 3])
    >>> table.select("n", "size", "difference", "lower", "upper", "p_value").rows()
    [(1, 1, 1.0, 1.0, 1.0, 0.0), (2, 1, 0.5, 0.5, 0.5, 0.0), (3, 0, 0.0, 0.0, 0.0, None)]
    """
    n = checked_cuts(study, at)
    measures, rows = chosen_measures(study, pairs)
    first = np.searchsorted(n, study.ranks[measures], side="left")
    cells = study.strata * study.folds
    numbers = 2 * len(pairs) * cells * (len(study.moments) + len(study.rest))
    levels = np.broadcast_to(confidence, (len(n), len(pairs)))
    parts = [
        _rows(
            study,
            _estimate_sets(study, first, partial(difference_sums, pairs=rows, cuts=cuts)),
            pairs,
            n[list(cuts)],
            levels[list(cuts)],
        )
        for cuts in blocks(len(n), numbers=numbers)
        if pairs
    ]
    return pl.concat([pl.DataFrame(schema=_PAIRS), *parts]).sort("measure_1", "measure_2", "n")


def chosen_measures(
    study: Study, pairs: Sequence[tuple[str, str]]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the rows of the measures that are compared, and each pair by places among them.

    Raises
    ------
    ValueError
        If a measure has no ranks: which, and which there are.

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({"measure": ["a", "b", "c"], "id": "x", "rank": 1})
    >>> draws = pl.DataFrame({"id": ["x"], "tp": [True], "pi": [0.5]})
    >>> chosen_measures(build_study(ranks, draws), [("c", "a")])
    ([0, 2], [(1, 0)])
    """
    names = study.measures.to_list()
    measures = sorted({name for pair in pairs for name in pair})
    unknown = [name for name in measures if name not in names]
    if unknown:
        raise ValueError(f"no ranks for {', '.join(unknown)}; available: {', '.join(names)}")
    place = {name: position for position, name in enumerate(measures)}
    rows = [(place[one], place[two]) for one, two in pairs]
    return [names.index(name) for name in measures], rows


def _rows(
    study: Study,
    sets: tuple[Estimates, FloatArray, FloatArray, FloatArray],
    pairs: Sequence[tuple[str, str]],
    n: IntArray,
    confidence: FloatArray,
) -> pl.DataFrame:
    """Make the rows of the table for some cuts."""
    estimates, drawn, rest, known = sets
    names = [f"{one} against {two} at {cut}" for cut in n for one, two in pairs]
    require_drawable(rest[1].sum(axis=(-2, -1)).ravel(), names)
    sides = [estimates.at((..., side)) for side in (0, 1)]
    size = rest[0, ..., 0, :].sum(axis=-1) + known[3, ..., 0]
    sizes = np.broadcast_to(n[:, None], size.shape)
    columns = _difference_columns(*sides, size=size, n=sizes, confidence=confidence)
    columns["labels_needed"] = labels_needed(study, np.maximum(sides[0].factor, sides[1].factor))
    for side, each in enumerate(sides):
        values = set_columns(each, drawn[..., side, :], known[..., side])
        columns |= {f"{name}_{side + 1}": column for name, column in values.items()}
        columns[f"measure_{side + 1}"] = [pair[side] for pair in pairs] * len(n)
    return typed_table(columns, _PAIRS)


def _difference_columns(
    one: Estimates, other: Estimates, *, size: FloatArray, n: IntArray, confidence: FloatArray
) -> dict[str, object]:
    """Return the columns of the difference, a known 0 for equal lists."""
    same, scale = size == 0, size / n
    lower, upper = difference_limits(one, other, confidence=confidence)
    values = {
        "difference": scale * (one.estimate - other.estimate),
        "variance": scale**2 * (one.variance + other.variance), "lower": scale * lower,
        "upper": scale * upper,
    }  # fmt: skip
    columns: dict[str, object] = {
        name: np.where(same, 0.0, column).ravel() for name, column in values.items()
    }
    p = np.where(same, np.nan, difference_p_values(one, other))
    return columns | {"p_value": p.ravel(), "size": np.rint(size).ravel(), "n": n.ravel()}


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
        As for `study.build_study`; with a column category in `draws`, a candidate may stand there
        once for each category, and the tables have that column, too.
    at, pairs, confidence
        As for `list_estimates` and `pair_estimates`.

    Returns
    -------
    lists, pairs : pl.DataFrame
        What those two functions give, sorted. Where only differences could be drawn for, call
        `pair_estimates` alone: lists would be refused.

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
    has_category = "category" in every.columns
    if has_category and every.is_empty():
        raise ValueError("no draws: add a row for each drawn candidate, judged or not")
    parts = every.partition_by("category", as_dict=True) if has_category else {(): every}
    tables: list[tuple[pl.DataFrame, pl.DataFrame]] = []
    for key in sorted(parts):
        study = build_study(ranks, parts[key], candidates=candidates, folds=folds, seed=seed)
        category = [pl.lit(name).alias("category") for name in key]
        lists = list_estimates(study, at=at, confidence=confidence)
        compared = pair_estimates(study, pairs=pairs, at=at, confidence=confidence)
        tables.append((lists.select(*category, pl.all()), compared.select(*category, pl.all())))
    return pl.concat([one for one, _ in tables]), pl.concat([other for _, other in tables])


# Local precision in windows of ranks.

_WINDOWS = {
    "measure": pl.String, "n": pl.Int64, "first_rank": pl.Int64, "last_rank": pl.Int64, **LISTS,
}  # fmt: skip


def window_estimates(
    study: Study, *, window: int, every: int = 1, confidence: npt.ArrayLike = 0.95
) -> pl.DataFrame:
    """Estimate the precision in a window of ranks that moves down each list.

    Parameters
    ----------
    study : Study
        Ranks and sample, as `study.build_study` puts them together.
    window : int
        Ranks in the window, in 1..S; no rows if larger than S.
    every : int
        Ranks from one window to the next, from 1.
    confidence : array_like of float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        measure, n (the middle, first_rank + window // 2), first_rank, last_rank, and the columns of
        `list_estimates`; sorted.

    Raises
    ------
    ValueError
        If the window or the step is empty, a window holds candidates that could not be drawn, or
        the confidence is not inside (0, 1).

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 4, on local precision.

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> draws = pl.DataFrame({"id": list("abd"), "tp": [True, False, True], "pi": 1.0})
    >>> window_estimates(build_study(ranks, draws.head(2)), window=2).select(
    ...     "n", "first_rank", "last_rank", "estimate"
    ... ).rows()
    [(2, 1, 2, 0.5), (3, 2, 3, None), (4, 3, 4, None)]
    """
    if window < 1 or every < 1:
        raise ValueError(f"window and step must be at least 1 rank, not {window}, {every}")
    first = np.arange(1, len(study.ids) - window + 2, every)

    def add(ranks: IntArray, columns: FloatArray, cell: IntArray, *, cells: int) -> FloatArray:
        spans = [span_sums(row, first, window, columns, cell, cells=cells) for row in ranks]
        return np.stack(spans, axis=1)

    if not len(study.ranks) or not first.size:
        return pl.DataFrame(schema=_WINDOWS)
    estimates, drawn, rest, known = _estimate_sets(study, study.ranks, add)
    places = [(name, int(rank)) for name in study.measures for rank in first]
    require_drawable(
        rest[1].sum(axis=-1).ravel(), [f"{name} from rank {rank}" for name, rank in places]
    )
    lower, upper = limits(estimates, confidence=confidence)
    ranks = np.array([rank for _, rank in places])
    columns: dict[str, object] = {
        "measure": [name for name, _ in places],
        "n": ranks + window // 2,
        "first_rank": ranks,
        "last_rank": ranks + window - 1,
        "variance": estimates.variance.ravel(),
        "lower": lower.ravel(),
        "upper": upper.ravel(),
        "labels_needed": labels_needed(study, estimates.factor),
    }
    return typed_table(columns | set_columns(estimates, drawn, known), _WINDOWS).sort(
        "measure", "n"
    )


def span_sums(
    ranks: IntArray,
    first: IntArray,
    length: int,
    columns: FloatArray,
    cell: IntArray,
    *,
    cells: int = 1,
) -> FloatArray:
    """Add up columns over spans of ranks, each by itself, without subtraction.

    Parameters
    ----------
    ranks : array of int, shape (units,)
        The rank of each unit.
    first : array of int, shape (spans,)
        First rank of each span.
    length : int
        Ranks in each.
    columns : array of float, shape (columns, units)
        What each unit adds.
    cell : array of int, shape (units,)
        The cell of each, from 0.
    cells : int
        How many cells there are.

    Returns
    -------
    array of float, shape (columns, spans, cells)

    Examples
    --------
    >>> units = np.array([[1.0, 2.0, 4.0]]), np.array([0, 0, 0])
    >>> span_sums(np.array([3, 1, 2]), np.array([1, 2]), 2, *units)[0, :, 0].tolist()
    [6.0, 5.0]
    """
    order = np.argsort(ranks, kind="stable")
    ends = np.searchsorted(ranks[order], np.stack([first, first + length], axis=1))
    sums = np.zeros((len(columns), len(first), cells))
    own = cell[order]
    for place in range(cells):
        # a unit of another cell adds 0; one more at the end, for spans that begin there
        masked = np.where(own == place, columns[:, order], 0.0)
        padded = np.concatenate([masked, np.zeros((len(columns), 1))], axis=1)
        added = np.add.reduceat(padded, ends.ravel(), axis=1)[:, ::2]
        sums[:, :, place] = np.where(ends[:, 0] < ends[:, 1], added, 0.0)
    return sums
