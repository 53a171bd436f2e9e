"""Allocation of a sample over questions: sets, linear estimands, size measure, question weights.

A question is theta_q = sum_i a_qi y_i, with a_qi = 1/n in a list, 1/n and -1/n in the two
difference sets, 1/S for the baseline. A design uses sums of a_qi^2 v_qi, over the candidates for
a question and over the questions for a candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from schemas.errors import count_text

# Sets of candidates: sums over sets, and the transposed sums over candidates.

Side = tuple[int, int]
"""The candidates in the list of the first measure but not of the second; with the same measure
twice, the list itself.
"""


@dataclass(frozen=True)
class Sets:
    """N-best lists and one-sided differences of them at several sizes, and all candidates.

    A matrix of sets and candidates would have billions of cells. A candidate is in a list from
    its first list on, so that it is in the difference of two from its first list under the one
    until that under the other: two small numbers stand for its membership at all sizes.

    Parameters
    ----------
    ids : pl.Series
        The candidates, sorted.
    n : array of int, shape (lists,)
        List sizes, ascending.
    first : array of int, shape (measures, candidates)
        Place in `n` of the first list that holds a candidate; ``len(n)`` if none does.
    sides : tuple of Side
        Which lists and differences; at each size a set, the sets of one side together. All
        candidates are the last set.
    """

    ids: pl.Series
    n: IntArray
    first: IntArray
    sides: tuple[Side, ...]

    @property
    def count(self) -> int:
        """Return the number of sets."""
        return len(self.sides) * len(self.n) + 1


def question_sets(
    ids: pl.Series, ranks: Mapping[str, IntArray], *, pairs: Sequence[tuple[str, str]], n: IntArray
) -> Sets:
    """Return the lists of all measures and both sides of all pairs.

    Parameters
    ----------
    ids : pl.Series
        The candidates, sorted.
    ranks : mapping of str to array of int, shape (candidates,)
        The ranks under each measure.
    pairs : sequence of (str, str)
        The measures to compare.
    n : array of int, shape (lists,)
        List sizes, ascending.

    Examples
    --------
    >>> ranks = {"dice": np.array([1, 2, 3]), "mi": np.array([2, 3, 1])}
    >>> sets = question_sets(
    ...     pl.Series(["a", "b", "c"]), ranks, pairs=[("dice", "mi")], n=np.array([1, 2])
    ... )
    >>> sets.first.tolist(), sets.sides
    ([[0, 1, 2], [1, 2, 0]], ((0, 0), (1, 1), (0, 1), (1, 0)))
    """
    place = {name: at for at, name in enumerate(ranks)}
    lists = [(at, at) for at in place.values()]
    both = [(place[one], place[two]) for one, two in pairs]
    sides = [*lists, *(side for one, two in both for side in ((one, two), (two, one)))]
    shape = (len(place), len(ids))
    first = np.array([np.searchsorted(n, vector) for vector in ranks.values()], dtype=np.int64)
    return Sets(ids, n, first.reshape(shape), tuple(sides))


def set_sums(sets: Sets, values: Sequence[FloatArray]) -> FloatArray:
    """Add up the values of each set's members.

    Parameters
    ----------
    sets : Sets
        The sets.
    values : sequence of arrays of float, shape (candidates,)
        Several values of each candidate; not negative where sums of no members must be exactly 0.

    Returns
    -------
    array of float, shape (kinds, sets)
        Side by side, in each the sizes in their order; last the sum over all candidates. Added
        up in one order always, so that the same numbers come out to the last bit.

    Examples
    --------
    >>> ranks = {"dice": np.array([1, 2, 3]), "mi": np.array([2, 3, 1])}
    >>> sets = question_sets(
    ...     pl.Series(["a", "b", "c"]), ranks, pairs=[("dice", "mi")], n=np.array([1, 2])
    ... )
    >>> set_sums(sets, [np.array([1.0, 10.0, 100.0])]).tolist()
    [[1.0, 11.0, 100.0, 101.0, 1.0, 10.0, 100.0, 100.0, 111.0]]
    """
    sizes = len(sets.n)
    width = sizes + 1
    sums = np.zeros((len(values), len(sets.sides), sizes))
    for place, (members, cells) in enumerate(_members(sets)):
        for kind, value in enumerate(values):
            table = np.bincount(cells, weights=value[members], minlength=width * width)
            # In at a size: entered at it or before, and the other list has it only later.
            entered = np.cumsum(table.reshape(width, width)[:sizes], axis=0)
            sums[kind, place] = np.triu(entered, 1).sum(axis=1)
    every = np.array([value.sum() for value in values])
    return np.column_stack([sums.reshape(len(values), -1), every])


def set_loads(sets: Sets, loads: Sequence[FloatArray]) -> FloatArray:
    """Add up, for each candidate, the loads of its sets.

    Parameters
    ----------
    sets : Sets
        The sets.
    loads : sequence of arrays of float, shape (sets,)
        Several loads of each set, in the order of `set_sums`.

    Returns
    -------
    array of float, shape (kinds, candidates)
        The transpose of `set_sums`: ``sum_i x_i loads_i = sum_A load_A sum_{i in A} x_i``.

    Examples
    --------
    >>> ranks = {"dice": np.array([1, 2, 3]), "mi": np.array([2, 3, 1])}
    >>> sets = question_sets(
    ...     pl.Series(["a", "b", "c"]), ranks, pairs=[("dice", "mi")], n=np.array([1, 2])
    ... )
    >>> set_loads(sets, [np.array([1.0, 2.0, 0, 0, 10.0, 0, 0, 0, 100.0])]).tolist()
    [[113.0, 102.0, 100.0]]
    """
    sizes = len(sets.n)
    each = np.array(loads)
    sums = np.tile(each[:, -1:], (1, len(sets.ids)))
    carried = each[:, :-1].reshape(len(loads), len(sets.sides), sizes)
    since = np.tri(sizes + 1, sizes, -1) == 0  # row f1, column size: is it f1 or later?
    table = np.zeros((sizes + 1, sizes + 1))
    for place, (members, cells) in enumerate(_members(sets)):
        for kind in range(len(loads)):
            table[:, 1:] = np.cumsum(np.where(since, carried[kind, place], 0.0), axis=1)
            sums[kind][members] += table.ravel()[cells]
    return sums


def _members(sets: Sets) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield for each side who is in the largest list, and the cell: from when until when.

    Those who leave before they enter are never in; no sum looks at their cells.
    """
    sizes = len(sets.n)
    rows = sets.first * (sizes + 1)
    listed = [np.flatnonzero(first < sizes) for first in sets.first]
    starts = [row[members] for row, members in zip(rows, listed, strict=True)]
    for one, two in sets.sides:
        until = sizes if one == two else sets.first[two][listed[one]]
        yield listed[one], starts[one] + until


LEAST_VARIANCE = 0.01
"""Lower bound on p(1-p) of a prediction; 0.01 at p = 0.01."""


@dataclass(frozen=True)
class Estimands:
    """Questions over sets of candidates, with the expected squared residuals v.

    Parameters
    ----------
    sets : Sets
        The sets: lists of the measures, then the two sides of each pair, then all candidates.
    question : array of int, shape (sets,)
        The question that each set belongs to.
    square : array of float, shape (sets,)
        a^2 in it.
    unjudged : array of bool, shape (candidates,)
        Whether the candidate is not judged yet. What is judged has no residual.
    noise : array of float, shape (candidates,)
        p_i (1 - p_i); 0 where judged.
    centred : array of float, shape (candidates,), or None
        p_i less its mean over the unjudged candidates; None where v is the noise alone.
    means : array of float, shape (sets,)
        Mean of `centred` over the unjudged members of each set.
    """

    sets: Sets
    question: IntArray
    square: FloatArray
    unjudged: BoolArray
    noise: FloatArray
    centred: FloatArray | None
    means: FloatArray

    @property
    def count(self) -> int:
        """Return the number of questions."""
        return int(self.question[-1]) + 1


def build_estimands(
    sets: Sets, *, p: FloatArray, judged: BoolArray, assisted: bool = False
) -> Estimands:
    """Put questions and predictions together.

    ``v_qi = p_i (1-p_i)`` where the predictions are in the estimate too, else ``p_i (1-p_i) + (p_i
    - p_q)^2``, p_q the mean of p_i over the set that i is in: of a difference each side is a set of
    its own, since the estimator takes the mean of each. The first term is never below 0.01, as
    predictions are overconfident.

    Parameters
    ----------
    sets : Sets
        As `question_sets` gives them, with the lists of all measures first.
    p : array of float, shape (candidates,)
        Expected probability of a true positive, in [0, 1]; a constant where nothing is known.
    judged : array of bool, shape (candidates,)
        Which candidates are judged, and will not be drawn again.
    assisted : bool
        Whether the estimate will use the predictions.

    Raises
    ------
    ValueError
        If some p is not in [0, 1].

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), section 12.2.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> sets = question_sets(
    ...     pl.Series(["a", "b"]), {"mi": np.array([1, 2])}, pairs=[], n=np.array([1])
    ... )
    >>> estimands = build_estimands(sets, p=np.array([0.5, 0.1]), judged=np.array([False, False]))
    >>> question_sums(estimands, np.ones(2)).round(6).tolist()
    [0.25, 0.105]
    """
    _check_predictions(sets.ids, p)
    unjudged = ~judged
    noise = np.where(unjudged, np.maximum(p * (1.0 - p), LEAST_VARIANCE), 0.0)
    number, squares = _coefficients(sets)
    middle = float(p[unjudged].mean()) if unjudged.any() else 0.0
    centred = np.where(unjudged, p - middle, 0.0)
    if assisted or not centred.any():
        return Estimands(sets, number, squares, unjudged, noise, None, np.zeros(sets.count))
    members, total = set_sums(sets, [unjudged.astype(float), centred])
    means = np.divide(total, members, out=np.zeros_like(total), where=members > 0)
    return Estimands(sets, number, squares, unjudged, noise, centred, means)


def question_sums(estimands: Estimands, each: FloatArray) -> FloatArray:
    """Return ``sum_i a_qi^2 v_qi g_i`` for each question.

    Parameters
    ----------
    estimands : Estimands
        The questions.
    each : array of float, shape (candidates,)
        g, at least 0: 1 gives V_q, (1 - pi)/pi the expected variance of the estimate.

    Returns
    -------
    array of float, shape (questions,)
        At least 0; exactly 0 where all unjudged members of a question have 0.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> sets = question_sets(
    ...     pl.Series(["a", "b"]), {"mi": np.array([1, 2])}, pairs=[], n=np.array([1])
    ... )
    >>> estimands = build_estimands(sets, p=np.full(2, 0.5), judged=np.zeros(2, dtype=bool))
    >>> question_sums(estimands, np.array([1.0, 3.0])).tolist()
    [0.25, 0.25]
    """
    weighed = np.bincount(
        estimands.question,
        weights=residual_sums(estimands, each) * estimands.square,
        minlength=estimands.count,
    )
    return weighed.astype(np.float64)


def residual_sums(estimands: Estimands, each: FloatArray) -> FloatArray:
    """Return ``sum_i v_i g_i`` over the members of each set, without its question's a^2.

    Parameters
    ----------
    estimands : Estimands
        The questions.
    each : array of float, shape (candidates,)
        g, at least 0.

    Returns
    -------
    array of float, shape (sets,)
        From 0.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> sets = question_sets(
    ...     pl.Series(["a", "b"]), {"mi": np.array([1, 2])}, pairs=[], n=np.array([1])
    ... )
    >>> estimands = build_estimands(sets, p=np.full(2, 0.5), judged=np.zeros(2, dtype=bool))
    >>> residual_sums(estimands, np.array([1.0, 3.0])).tolist()
    [0.25, 1.0]
    """
    g = np.where(estimands.unjudged, each, 0.0)
    if estimands.centred is None:
        return np.asarray(set_sums(estimands.sets, [g * estimands.noise])[0])
    p, m = estimands.centred, estimands.means
    squares, products, sizes = set_sums(estimands.sets, [g * (estimands.noise + p * p), g * p, g])
    return np.asarray(np.maximum(squares - 2.0 * m * products + m * m * sizes, 0.0))


def candidate_sums(estimands: Estimands, each: FloatArray) -> FloatArray:
    """Return ``sum_q w_q a_qi^2 v_qi`` for each candidate, the transpose of `question_sums`.

    Parameters
    ----------
    estimands : Estimands
        The questions.
    each : array of float, shape (questions,)
        w, at least 0.

    Returns
    -------
    array of float, shape (candidates,)
        0 where the candidate is in no question, or is judged.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> sets = question_sets(
    ...     pl.Series(["a", "b"]), {"mi": np.array([1, 2])}, pairs=[], n=np.array([1])
    ... )
    >>> estimands = build_estimands(sets, p=np.full(2, 0.5), judged=np.zeros(2, dtype=bool))
    >>> candidate_sums(estimands, np.array([1.0, 2.0])).tolist()
    [0.375, 0.125]
    """
    load = each[estimands.question] * estimands.square
    if estimands.centred is None:
        return np.asarray(set_loads(estimands.sets, [load])[0] * estimands.noise)
    p, m = estimands.centred, estimands.means
    once, first, second = set_loads(estimands.sets, [load, load * m, load * m * m])
    sums = (estimands.noise + p * p) * once - 2.0 * p * first + second
    return np.where(estimands.unjudged, np.maximum(sums, 0.0), 0.0)


def squares_of_all(estimands: Estimands) -> FloatArray:
    """Return ``a_qi^2 v_qi`` of the last question, the one about all candidates.

    Parameters
    ----------
    estimands : Estimands
        The questions.

    Returns
    -------
    array of float, shape (candidates,)
        As `candidate_sums` with weight 1 on that question only, but cheaper.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> sets = question_sets(
    ...     pl.Series(["a", "b"]), {"mi": np.array([1, 2])}, pairs=[], n=np.array([1])
    ... )
    >>> estimands = build_estimands(sets, p=np.full(2, 0.5), judged=np.zeros(2, dtype=bool))
    >>> squares_of_all(estimands).tolist()
    [0.0625, 0.0625]
    """
    residuals = estimands.noise
    if estimands.centred is not None:
        residuals = residuals + np.where(
            estimands.unjudged, (estimands.centred - estimands.means[-1]) ** 2, 0.0
        )
    return np.asarray(residuals * estimands.square[-1])


def _coefficients(sets: Sets) -> tuple[IntArray, FloatArray]:
    """Return the question of each set, and a^2: both sides of a pair are of one question."""
    sizes = len(sets.n)
    lists = sum(one == two for one, two in sets.sides)
    sides = len(sets.sides)
    row = np.concatenate([np.arange(lists), lists + np.arange(sides - lists) // 2])
    number = (row[:, None] * sizes + np.arange(sizes)).ravel()
    last = number.max(initial=-1) + 1
    every = max(len(sets.ids), 1)
    squares = np.tile(1.0 / sets.n.astype(np.float64) ** 2, sides)
    return np.append(number, last).astype(np.int64), np.append(squares, 1.0 / every**2)


def _check_predictions(ids: pl.Series, p: FloatArray) -> None:
    wrong = ~((p >= 0.0) & (p <= 1.0))
    if wrong.any():
        examples = ", ".join(f"{ids[int(at)]} ({p[at]:g})" for at in np.flatnonzero(wrong)[:3])
        raise ValueError(
            f"{count_text(int(wrong.sum()), 'prediction')} outside [0, 1], for example "
            f"{examples}; omit these, or give a probability"
        )


# Size measure.


def size_measure(
    estimands: Estimands, *, weights: FloatArray, whole: FloatArray, floor: float
) -> FloatArray:
    """Return ``x_i = sqrt(sum_q w_q a_qi^2 v_qi / V_q)``, none far below their mean.

    A sample with pi_i proportional to x_i has the smallest weighted sum of variances, each as a
    share of what it is in a simple sample of the same size. It does not depend on the size.

    Parameters
    ----------
    estimands : Estimands
        The questions.
    weights : array of float, shape (questions,)
        w; 0 for what is not asked.
    whole : array of float, shape (questions,)
        V_q, the sum over all candidates. Where it is 0, the answer is known.
    floor : float
        As for `raise_to_floor`.

    Returns
    -------
    array of float, shape (candidates,)
        At least 0; 0 for what is judged, and without a floor for candidates of no question.

    References
    ----------
    Bethel, Sample Allocation in Multivariate Surveys (1989), for strata.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import build_estimands, question_sums
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> import polars as pl
    >>> sets = question_sets(
    ...     pl.Series(["a", "b", "c"]), {"mi": np.array([1, 2, 3])}, pairs=[], n=np.array([2])
    ... )
    >>> estimands = build_estimands(sets, p=np.full(3, 0.5), judged=np.zeros(3, dtype=bool))
    >>> whole = question_sums(estimands, np.ones(3))
    >>> size_measure(estimands, weights=np.ones(2), whole=whole, floor=0.0).round(6).tolist()
    [0.912871, 0.912871, 0.57735]
    """
    share = np.divide(weights, whole, out=np.zeros_like(whole), where=whole > 0)
    return size_from_squares(estimands, candidate_sums(estimands, share), floor=floor)


def size_from_squares(estimands: Estimands, squares: FloatArray, *, floor: float) -> FloatArray:
    """Return the size measure of its squares: the root, with the floor, 0 for what is judged.

    Parameters
    ----------
    estimands : Estimands
        The questions.
    squares : array of float, shape (candidates,)
        x^2, at least 0.
    floor : float
        As for `raise_to_floor`.

    Returns
    -------
    array of float, shape (candidates,)
    """
    x = np.sqrt(squares)
    return np.where(
        estimands.unjudged, raise_to_floor(x, among=int(estimands.unjudged.sum()), floor=floor), 0.0
    )


def raise_to_floor(x: FloatArray, *, among: int, floor: float) -> FloatArray:
    """Raise values below a share of the mean (of the result).

    So no candidate has less than this share of its chance in a simple sample of the same size,
    and all of these chances together cost at most this share of the labels.

    Parameters
    ----------
    x : array of float, shape (candidates,)
        Size measures, at least 0.
    among : int
        Number of candidates that can be drawn; the others have x = 0, and their result has no
        meaning.
    floor : float
        The share, in [0, 1). 0 leaves x as it is.

    Returns
    -------
    array of float, shape (candidates,)
        ``max(x_i, t)`` with ``t = floor * mean``.

    Raises
    ------
    ValueError
        If the floor is not in [0, 1).

    Examples
    --------
    >>> raise_to_floor(np.array([9.0, 1.0, 0.0, 0.0]), among=4, floor=0.5).tolist()
    [9.0, 1.8, 1.8, 1.8]
    """
    if not 0.0 <= floor < 1.0:
        raise ValueError(f"floor must be in [0, 1), not {floor}")
    if not floor or not x.any():
        return x
    descending = np.sort(x)[::-1][:among]
    above = np.concatenate([[0.0], np.cumsum(descending)])
    # With j left as they are, t = (sum of these + (among - j) t) floor / among.
    count = np.arange(among + 1)
    t = above / (among / floor - (among - count))
    following = np.append(descending, 0.0)
    return np.asarray(np.maximum(x, t[int(np.argmax(following <= t))]))


# Question weights, raised until no variance exceeds its limit.

TOLERANCE = 1e-3
"""Share by which a variance may exceed its limit."""
_ROUNDS = 15
_ROOT = 2.0  # a variance falls as the root of a weight that matters alone
_STEP = 3.0  # of a logarithm of a weight, at most
_DIGITS = 4


@dataclass(frozen=True)
class Goals:
    """The questions, and the limits for which weights are raised.

    Parameters
    ----------
    estimands : Estimands
        The questions; the last one is about all candidates.
    weights : array of float, shape (questions,)
        As declared; 0 for what is not asked.
    limits : array of float, shape (questions,)
        The largest acceptable variance, in units of that in a simple sample of the same size.
    whole : array of float, shape (questions,)
        V_q, the sum of a^2 v over all candidates.
    floor : float
        As for `size_measure`.
    """

    estimands: Estimands
    weights: FloatArray
    limits: FloatArray
    whole: FloatArray
    floor: float


def raise_weights(goals: Goals) -> FloatArray:
    """Raise the weights of questions whose expected variance is above its limit.

    The variance of question q, in units of what a simple sample of the same size has, is
    ``r_q = (sum_i a_qi^2 v_qi / x_i) (sum x / S) / V_q`` while no one is certain: it does not
    depend on the size, and neither do the weights, so that a sample that grows keeps what it has.
    The weights are the multipliers of ``r_q <= limit_q`` in the problem whose solution x is: the
    weighted sum of variances is as small as it can be under these conditions. They are found by
    secant steps on their logarithms, and never fall below what was declared.

    Parameters
    ----------
    goals : Goals
        Questions, weights and limits. Limits of 1 can always be met; for a question about all
        candidates, only by a simple sample.

    Returns
    -------
    array of float, shape (questions,)
        Rounded to four digits, so that the last bits of logarithms do not decide who is drawn.
        After 15 rounds a variance may still exceed its limit: check.

    References
    ----------
    Bethel, Sample Allocation in Multivariate Surveys (1989), on the multipliers.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.survey.allocation import build_estimands
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([1])
    ... )
    >>> estimands = build_estimands(sets, p=np.full(4, 0.5), judged=np.zeros(4, dtype=bool))
    >>> whole = question_sums(estimands, np.ones(4))
    >>> raise_weights(Goals(estimands, np.ones(2), np.array([1.0, 1.1]), whole, 0.0)).tolist()
    [1.0, 1.257]
    """
    posed = (goals.weights > 0) & (goals.whole > 0)
    raised, steps = np.zeros(len(posed)), np.full(len(posed), _ROOT)
    used = _round(goals.weights)
    before: tuple[FloatArray, FloatArray] | None = None
    for _ in range(_ROUNDS):
        used = _round(goals.weights * np.exp(raised))
        x, used[-1] = _fit_baseline_weight(goals, used)
        excess = np.where(posed, _log_excess(goals, x), -1.0)
        if excess.max(initial=0.0) <= np.log1p(TOLERANCE):
            break
        if before is not None:
            steps = _secant(raised - before[0], excess - before[1], steps)
        before = raised, excess
        # Half the tolerance further than the limit, so as to arrive on its right side.
        move = np.clip(steps * (excess + TOLERANCE / 2), -_STEP, _STEP)
        raised = np.where(posed, np.maximum(raised + move, 0.0), 0.0)
    return used


def _fit_baseline_weight(goals: Goals, weights: FloatArray) -> tuple[FloatArray, float]:
    """Return x and the weight of the last question, which meets its limit beside the others.

    A design harms it most, and its weight needs no sums over sets.
    """
    estimands, last = goals.estimands, float(goals.weights[-1])
    share = np.divide(weights, goals.whole, out=np.zeros_like(weights), where=goals.whole > 0)
    rest = candidate_sums(estimands, np.append(share[:-1], 0.0))
    alone = squares_of_all(estimands)
    if not (last and goals.whole[-1]):
        return size_from_squares(estimands, rest, floor=goals.floor), last
    target, raised, step = goals.whole[-1] * goals.limits[-1], 0.0, _ROOT
    before: tuple[float, float] | None = None
    for _ in range(_ROUNDS):
        weight = float(_round(np.array([last * np.exp(raised)]))[0])
        x = size_from_squares(estimands, rest + weight / goals.whole[-1] * alone, floor=goals.floor)
        excess = float(np.log(_variance(alone, x) * x.sum() / estimands.unjudged.sum() / target))
        if abs(excess) < TOLERANCE / 2 or (excess < 0 and not raised):
            break
        if before is not None and raised != before[0]:
            slope = (excess - before[1]) / (raised - before[0])
            step = float(np.clip(-1.0 / slope, 1.0, 100.0)) if slope < 0 else 2.0 * step
        before = raised, excess
        raised = max(raised + float(np.clip(step * excess, -_STEP, _STEP)), 0.0)
    return x, weight


def _variance(squares: FloatArray, x: FloatArray) -> float:
    return float(np.divide(squares, x, out=np.zeros_like(x), where=x > 0).sum())


def _log_excess(goals: Goals, x: FloatArray) -> FloatArray:
    """Return ln(r_q / limit_q); 0 for what is known already."""
    inverse = np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)
    scale = x.sum() / max(int(goals.estimands.unjudged.sum()), 1)
    r = question_sums(goals.estimands, inverse) * scale
    known = goals.whole == 0
    limits = np.where(known, 1.0, goals.whole * goals.limits)
    # A variance of 0, of a weight that is 0, is far below any limit.
    return np.asarray(np.log(np.where(known, 1.0, np.maximum(r, 1e-300)) / limits))


def _secant(moved: FloatArray, changed: FloatArray, steps: FloatArray) -> FloatArray:
    """Return the steps per unit of excess that the last move suggests, from 1 to 100."""
    slopes = np.divide(changed, moved, out=np.full_like(moved, -0.5), where=np.abs(moved) > 1e-9)
    falls = slopes < -1e-3
    suggested = np.clip(-1.0 / np.where(falls, slopes, -1.0), 1.0, 100.0)
    return np.where(falls, suggested, np.minimum(2.0 * steps, 100.0))


def _round(weights: FloatArray) -> FloatArray:
    """Round to four significant digits."""
    digits = _DIGITS - 1 - np.floor(np.log10(np.where(weights > 0, weights, 1.0)))
    scale = 10.0**digits
    return np.asarray(np.round(weights * scale) / scale)
