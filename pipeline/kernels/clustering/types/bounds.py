"""Upper bounds of M-1 mappings by Lagrangian relaxation, and proofs of optimality."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
import scipy

from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types.mapping import Neighbours
from pipeline.kernels.clustering.types.measures import Patterns
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray

# Lagrangian relaxation and subgradient descent

PROVEN_WITHIN = 1e-11
"""A mapping is proven best if no mapping is better by more than this."""

_KEPT = 0.7
"""Share of the direction of the step before that is kept."""
_PATIENCE, _SHORTER, _SHORTEST = 20, 0.7, 0.01
"""Steps without a lower bound, after which steps become shorter, until they are too short."""


class RelaxedBound(NamedTuple):
    """A relaxation at some prices.

    Parameters
    ----------
    excess : float
        No mapping exceeds the value by more, in the unit of the sum.
    slope : array of float, shape (prices,)
        A subgradient of the excess.
    conditional : array of float, shape (clusters, classes)
        No mapping that gives the cluster the class exceeds the value by more.
    """

    excess: float
    slope: FloatArray
    conditional: FloatArray


class Relaxation(Protocol):
    """A bound that holds at any prices.

    Parameters
    ----------
    prices : array of float
        The prices to begin with.
    least : float
        What the excess is divided by at the least, to make a value.
    fixed : bool
        True if the prices are too many to be changed.
    cost : float
        Seconds that a bound takes, about, on a usual machine.
    """

    prices: FloatArray
    least: float
    fixed: bool
    cost: float

    def at(self, prices: FloatArray, allowed: BoolArray) -> RelaxedBound:
        """Bound the mappings that give each cluster an allowed class."""


@dataclass
class SearchBudget:
    """The remaining work of one search, in seconds of a usual machine.

    Steps are counted, not time, so that the same search ends at the same place everywhere.
    """

    seconds: float

    def spend(self, cost: float, *, until: float = 0.0) -> bool:
        """Take away what a step costs, if more is left than `until`; return whether it was."""
        enough = self.seconds > until
        self.seconds -= cost if enough else 0.0
        return enough


class Descent(NamedTuple):
    """Where a descent ended: the excess as a value, prices, and classes that may be better."""

    excess: float
    prices: FloatArray
    allowed: BoolArray


def descend(
    relaxation: Relaxation,
    prices: FloatArray,
    allowed: BoolArray,
    *,
    steps: int,
    work: SearchBudget,
    until: float = 0.0,
) -> Descent:
    """Lower the bound by subgradient steps, and strike out classes that lead to nothing better.

    Parameters
    ----------
    relaxation : Relaxation
        What to bound.
    prices : array of float
        Where to begin.
    allowed : array of bool, shape (clusters, classes)
        The classes that each cluster may have.
    steps : int
        Steps, at most.
    work : SearchBudget
        What is left to do; there is one step at least.
    until : float
        What to leave of it.

    Returns
    -------
    Descent
        With excess 0 if no allowed mapping is better.

    References
    ----------
    Polyak, Minimization of Unsmooth Functionals (1969), the length of steps; Camerini, Fratta &
    Maffioli, On Improving Relaxation Methods by Modified Gradient Techniques (1975).
    """
    best, best_prices, length, waited = np.inf, prices, 1.0, 0
    direction, margin = np.zeros(len(prices)), PROVEN_WITHIN * relaxation.least
    for step in range(1 if relaxation.fixed else steps):
        if not work.spend(relaxation.cost, until=until) and step:
            break
        now = _add_rounding_slack(relaxation.at(prices, allowed), prices, relaxation.least)
        waited = 0 if now.excess < best - 1e-6 * abs(best) or step == 0 else waited + 1
        if now.excess < best:
            best, best_prices = now.excess, prices
        allowed = allowed & (now.conditional > margin)
        if best <= margin or not allowed.any(axis=1).all():
            return Descent(0.0, prices, allowed)
        if waited >= _PATIENCE:
            length, waited = length * _SHORTER, 0
        direction = now.slope + _KEPT * direction
        if (
            length < _SHORTEST
            or allowed.sum() == len(allowed)
            or not (squared := float(direction @ direction))
        ):
            break
        prices = prices - length * now.excess / squared * direction
    return Descent(float(best / relaxation.least), best_prices, allowed)


def _add_rounding_slack(bound: RelaxedBound, prices: FloatArray, least: float) -> RelaxedBound:
    """Add what rounding may have taken away."""
    slack = 4 * np.finfo(np.float64).eps * (float(np.abs(prices).sum()) + least)
    return RelaxedBound(bound.excess + slack, bound.slope, bound.conditional + slack)


# Bound of MacroI and MicroI: every set of clusters chooses its classes, at prices

MOST_PRICES = 20_000_000
"""Beyond so many prices all stay 0."""


class _Group(NamedTuple):
    """Distinct sets of clusters of one width b > 1.

    Parameters
    ----------
    members : array of int, shape (sets, b)
        The clusters.
    gains : array of float, shape (sets, b, classes)
        What each class of an image of 1 to b classes adds to the sum.
    """

    members: IntArray
    gains: FloatArray


class SetRelaxation:
    """The items with one set of clusters choose their image for themselves, and pay for it.

    What a set B gains, g(I) from its image I, is known. For any prices of a class to a cluster of
    the set, no image can be had for less than p(I), the sum over its classes of what the clusters
    that have one pay at the least; so the sum of g over all sets is at most the sum over sets of
    max g(I) - p(I), and over clusters of the best class by what single items gain and the sets
    pay. This holds for any prices, and is tight where the images agree with a mapping.

    Parameters
    ----------
    patterns : Patterns
        The items.
    measure : str
        "MacroI" or "MicroI".
    mapping : array of int, shape (clusters,)
        The mapping that is to be proven best.
    value : float
        The measure of it.
    """

    def __init__(self, patterns: Patterns, measure: str, mapping: IntArray, value: float) -> None:
        ratio = value if measure == "MacroI" else None
        widths = np.diff(patterns.induced.indptr)
        shape = (patterns.induced.shape[1], patterns.gold.shape[1])
        self.own, self.groups = np.zeros(shape), list[_Group]()
        for width in np.unique(widths[widths > 0]).tolist():
            members, gains = _gains(patterns, np.flatnonzero(widths == width), width, ratio)
            if width == 1:
                self.own[members[:, 0]] = gains[:, 0]
            else:
                self.groups.append(_Group(members, gains))
        items, gold = int(patterns.counts.sum()), int(patterns.counts @ patterns.gold.sum(axis=1))
        self.target = value * (gold if measure == "MacroI" else items)
        with_cluster = int(patterns.counts[widths > 0].sum())
        self.least = float(items if ratio is None else gold + with_cluster)
        number = sum(len(each.members) * each.gains[0].size for each in self.groups)
        self.fixed = number > MOST_PRICES
        self.prices = np.zeros(number)
        if ratio is not None and self.groups and not self.fixed:
            parts = [_first_prices(each, mapping).ravel() for each in self.groups]
            self.prices = np.concatenate(parts)
        self.cost = 2e-3 + 7e-8 * len(self.prices)

    def at(self, prices: FloatArray, allowed: BoolArray) -> RelaxedBound:
        """Return the bound at some prices; see `Relaxation`."""
        values, parts, end = self.own.copy(), list[FloatArray](), 0
        for members, gains in self.groups:
            start, end = end, end + members.size * gains.shape[2]
            parts.append(prices[start:end].reshape(*members.shape, -1))
            values += _sum_payments(members, parts[-1], len(values))
        values[~allowed] = -np.inf
        best, classes = values.max(axis=1), values.argmax(axis=1)
        excess, slopes = float(best.sum()) - self.target, list[FloatArray]()
        for group, price in zip(self.groups, parts, strict=True):
            gained, slope = _best_images(group, price, allowed)
            places = np.indices(group.members.shape)
            slope[places[0], places[1], classes[group.members]] += 1.0
            excess += gained
            slopes.append(slope.ravel())
        slope = np.concatenate(slopes) if slopes else np.zeros(0)
        return RelaxedBound(excess, slope, excess - best[:, None] + values)


def _first_prices(group: _Group, mapping: IntArray) -> FloatArray:
    """Return prices at which no set gains, for gains that images of all sizes share.

    Every cluster is paid all that its set gains from a class. A loss is charged to the first
    cluster with the class, or to all in equal parts, if none has it.
    """
    classes, gains = mapping[group.members], group.gains
    has = classes[:, :, None] == np.arange(gains.shape[2])
    first = has & (np.cumsum(has, axis=1) == 1)
    share = np.where(has.any(axis=1, keepdims=True), first, 1.0 / classes.shape[1])
    return np.where(gains > 0, gains, gains * share)


def _gains(
    patterns: Patterns, rows: IntArray, width: int, ratio: float | None
) -> tuple[IntArray, FloatArray]:
    """Add up what the items of each set gain from each class, by the size of the image."""
    sets = np.sort(patterns.induced[rows].indices.reshape(-1, width), axis=1).astype(np.int64)
    members, place = np.unique(sets, axis=0, return_inverse=True)
    counts = patterns.counts[rows].astype(np.float64)
    where = (place.ravel(), np.arange(len(rows)))
    gather = scipy.sparse.csr_array((counts, where), shape=(len(members), len(rows)))
    gold = patterns.gold[rows]
    if ratio is not None:
        gain = 2.0 * (gather @ gold).toarray() - ratio * gather.sum(axis=1)[:, None]
        return members, np.repeat(gain[:, None], width, axis=1)
    sizes = gold.sum(axis=1)[:, None]
    images = range(1, width + 1)
    gain = [np.asarray((gather @ (gold * (2.0 / (sizes + j)))).toarray()) for j in images]
    return members, np.stack(gain, axis=1)


def _sum_payments(members: IntArray, price: FloatArray, clusters: int) -> FloatArray:
    """Add up what the sets pay to each cluster for each class."""
    at = (members.ravel(), np.arange(members.size))
    matrix = scipy.sparse.csr_array((np.ones(members.size), at), shape=(clusters, members.size))
    return np.asarray(matrix @ price.reshape(members.size, -1))


def _best_images(group: _Group, price: FloatArray, allowed: BoolArray) -> tuple[float, FloatArray]:
    """Return what all sets gain by their best images, less what these cost, and the slope.

    A class costs the least that any clusters with it pay: all negative prices, or the lowest.
    """
    (sets, width), negative = group.members.shape, np.less(price, 0)
    some = np.asarray(negative.any(axis=1))
    cost = np.where(some, (price * negative).sum(axis=1), price.min(axis=1))
    reached = np.asarray(allowed[group.members].any(axis=1))
    net = np.where(reached[:, None], group.gains - cost[:, None], -np.inf)
    highest = np.sort(net, axis=2)[:, :, : -width - 1 : -1]
    gain = np.cumsum(highest, axis=2).diagonal(axis1=1, axis2=2)
    row, most = np.arange(sets), gain.argmax(axis=1)
    order = np.argsort(-net[row, most], axis=1, kind="stable")[:, : gain.shape[1]]
    image = np.zeros(cost.shape, dtype=np.bool_)
    image[row[:, None], order] = np.arange(gain.shape[1]) <= most[:, None]
    lowest = np.arange(width)[:, None] == price.argmin(axis=1)[:, None]
    paid = np.where(some[:, None], negative, lowest) & image[:, None]
    return float(gain[row, most].sum()), -paid.astype(np.float64)


# Bound of MicroC: every class chooses its clusters, at prices

INTERVALS = 24
"""Intervals of the size of the union of a class at first."""
MOST_INTERVALS = 20_000
_FINE = 1e-6
"""Intervals are not halved where that would change less, as a value."""
_IMPOSSIBLE = 1e15
_CELLS = 4_000_000
"""Weights of sets that are computed at a time."""


class _Rows(NamedTuple):
    """Unions of a class whose size is in an interval.

    Parameters
    ----------
    classes : array of int, shape (rows,)
        The class.
    low, high : arrays of int, shape (rows,)
        The sizes of the union.
    weights : array of float, shape (rows, clusters)
        What each cluster adds to ``2 |z| CM_z / (|z| + |c|) - r |z|`` at most.
    fixed : array of float, shape (rows,)
        What is added whatever the clusters.
    """

    classes: IntArray
    low: IntArray
    high: IntArray
    weights: FloatArray
    fixed: FloatArray


class UnionRelaxation:
    """Every class takes the clusters that are worth most to it, and pays for each its price.

    With u = |z| in [a, b], what a class adds to the sum is at most s CM_z - r u with s at b: a sum
    over clusters, where every item has one. So the best choice of a class is a knapsack problem
    for each interval, bounded by linear programming; the intervals that win are halved. An item
    in several clusters is counted in a sum that is exact for the mapping and never too low.

    Parameters
    ----------
    patterns : Patterns
        The items.
    mapping : array of int, shape (clusters,)
        The mapping that is to be proven best.
    value : float
        MicroC of it.
    """

    fixed = False

    def __init__(self, patterns: Patterns, mapping: IntArray, value: float) -> None:
        neighbours = Neighbours(patterns)
        clusters, n = neighbours.overlap.shape
        self.ratio, self.classes = value, np.asarray(patterns.gold.T @ patterns.counts)
        with_cluster = int(patterns.counts[np.diff(patterns.induced.indptr) > 0].sum())
        self.least = float(max(with_cluster, 1))
        self.cost = 1e-3 + 9e-6 * patterns.induced.shape[1] * patterns.gold.shape[1]
        self.prices = np.zeros(clusters)
        self._empty = neighbours.sizes == 0
        self._of = mapping[:, None] == np.arange(n)
        self._sizes, self._shared = neighbours.single_sizes, neighbours.single_overlap
        self._sets, self._held = neighbours, neighbours.sets @ self._of.astype(np.float64)
        every, sizes = np.arange(n), np.tile(neighbours.items[:, None], n)
        upper, self._sure = self._modular_bounds(every, sizes)
        lower, _ = self._modular_bounds(every, -sizes)
        self._upper, self._lower = self._sizes + upper, self._sizes - lower
        top = np.unique(np.geomspace(1, self.least, INTERVALS).astype(np.int64))
        low = np.concatenate([[1], top[:-1] + 1])
        self.rows = self._weigh(np.repeat(np.arange(n), len(top)), np.tile(low, n), np.tile(top, n))

    def _modular_bounds(
        self, classes: IntArray, gains: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Bound sums over the sets that the union of a class reaches by sums over its clusters.

        Where the mapping reaches a set twice, a gain counts as reached, and a loss is shared by
        the clusters that reach it; where it does not, a gain counts for each cluster, and a loss
        in equal parts.
        """
        members, sums = self._sets.sets, self._held[:, classes]
        wins, losses = np.maximum(gains, 0), np.minimum(gains, 0)
        others = losses * (sums == 0) / self._sets.widths[:, None]
        weights = members.T @ (wins * (sums < 2) + others)
        weights += self._of[:, classes] * (members.T @ (losses * (sums > 0) / np.maximum(sums, 1)))
        return weights.T, (wins * (sums >= 2)).sum(axis=0)

    def _weigh(self, classes: IntArray, low: IntArray, high: IntArray) -> _Rows:
        """Weigh the clusters in some intervals."""
        share = 2.0 * high / (high + self.classes[classes])
        weights = share[:, None] * self._shared[:, classes].T - self.ratio * self._sizes
        fixed = np.zeros(len(classes))
        size = max(1, _CELLS // max(len(self._sets.items), 1))
        for at in (slice(start, start + size) for start in range(0, len(classes), size)):
            gains = self._sets.classes[:, classes[at]] * share[at]
            gains -= self.ratio * self._sets.items[:, None]
            more, fixed[at] = self._modular_bounds(classes[at], gains)
            weights[at] += more
        return _Rows(classes, low, high, weights, fixed)

    def at(self, prices: FloatArray, allowed: BoolArray) -> RelaxedBound:
        """Return the bound at some prices; see `Relaxation`."""
        rows, c, empty = self.rows, self.rows.classes, self._empty
        prices = np.where(empty, 0, prices)
        open_ = allowed[:, c].T
        gain = np.where(open_, rows.weights - prices, -_IMPOSSIBLE)
        low = rows.low - self._sure[c]
        bounds = self._lower[c] * open_, self._upper[c] * open_, low, rows.high
        values, shares, rate = _knapsack(gain, *bounds)
        values += rows.fixed
        starts = np.searchsorted(c, np.arange(len(self.classes)))
        best = np.maximum.reduceat(values, starts)
        # By duality: what a cluster that is forced in, or out, takes away at the least.
        forced = np.maximum.reduceat(values[:, None] + np.minimum(rate, 0), starts).T
        without = np.maximum.reduceat(values[:, None] - np.maximum(rate, 0), starts).T
        without, paid = np.maximum(without, 0), float(prices.sum())
        conditional = paid + without.sum(axis=1)[:, None] - without + forced
        excess = paid + float(np.maximum(best, 0).sum())
        best_rows = np.flatnonzero(values == best[c])
        best_rows = best_rows[np.unique(c[best_rows], return_index=True)[1]]
        best_rows = best_rows[values[best_rows] > 0]
        slope = np.where(empty, 0, 1.0 - shares[best_rows].sum(axis=0))
        conditional[empty] = excess
        self._halve(best_rows)
        return RelaxedBound(excess, slope, np.where(allowed, conditional, -np.inf))

    def _halve(self, intervals: IntArray) -> None:
        """Halve the intervals that won, unless they are fine enough or there are too many."""
        low, high = self.rows.low[intervals], self.rows.high[intervals]
        sizes = self.classes[self.rows.classes[intervals]]
        change = 2.0 * (high / (high + sizes) - low / (low + sizes)) * np.minimum(high, sizes)
        intervals = intervals[(high > low) & (change > _FINE * self.least)]
        if not len(intervals) or len(self.rows.low) > MOST_INTERVALS:
            return
        classes, low, high = (each[intervals] for each in self.rows[:3])
        middle = (low + high) // 2
        parts = self._weigh(classes, low, middle), self._weigh(classes, middle + 1, high)
        rest = np.ones(len(self.rows.low), dtype=np.bool_)
        rest[intervals] = False
        joined = [
            np.concatenate([old[rest], *new]) for old, *new in zip(self.rows, *parts, strict=True)
        ]
        order = np.argsort(joined[0], kind="stable")
        self.rows = _Rows(*(each[order] for each in joined))


def _knapsack(
    gain: FloatArray, lower: FloatArray, upper: FloatArray, low: FloatArray, high: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bound the choices of each row, their sizes at least `low` and at most `high`.

    The value is that of the dual at the rate that a unit of size is worth at the margin, so it
    is a bound whatever the rate. Also the choices, and what each cluster adds beyond its rate.
    """
    positive = gain > 0
    full = (lower * positive).sum(axis=1) > high
    bare = ~full & ((upper * positive).sum(axis=1) < low)
    size = np.where(full[:, None], lower, upper)
    limit = np.where(full, high, low)
    order = np.argsort(-gain / np.maximum(size, 1e-9), axis=1)
    ordered = np.take_along_axis(size, order, axis=1)
    before = np.cumsum(ordered, axis=1) - ordered
    part = np.clip((limit[:, None] - before) / np.maximum(ordered, 1e-9), 0, 1)
    at = np.minimum((before + ordered < limit[:, None]).sum(axis=1), size.shape[1] - 1)
    row = np.arange(len(gain))
    last = order[row, at]
    rate = gain[row, last] / np.maximum(size[row, last], 1e-9)
    rate = np.where(full, np.maximum(rate, 0), np.where(bare, np.minimum(rate, 0), 0))
    filled = np.empty(gain.shape)
    np.put_along_axis(filled, order, part, axis=1)
    shares = np.where((full | bare)[:, None], filled, positive)
    reduced_gain = gain - rate[:, None] * size
    values = np.maximum(reduced_gain, 0).sum(axis=1) + rate * limit
    values[upper.sum(axis=1) < low] = -_IMPOSSIBLE
    return values, shares, reduced_gain


ROOT_SHARE, ROOT_STEPS = 0.7, 10_000
"""How much of the work goes to the bound of all mappings, and its steps, before branching."""
BRANCH_STEPS = 60
"""Steps of each branch."""


class Certificate(NamedTuple):
    """A mapping, and what no M-1 mapping exceeds.

    Parameters
    ----------
    mapping : array of int, shape (clusters,)
        The class of each cluster: the given mapping, or a better one if the search met one.
    value : Fraction
        The measure of it.
    bound : float
        The measure of no M-1 mapping is above it.
    proven : bool
        True if no mapping is better.
    open_clusters : int
        Clusters that may have another class in a better mapping; 0 if proven.
    """

    mapping: IntArray
    value: Fraction
    bound: float
    proven: bool
    open_clusters: int


def certify(patterns: Patterns, measure: str, mapping: IntArray, *, seconds: float) -> Certificate:
    """Prove that an M-1 mapping is the best for a measure, find a better one, or bound its gap.

    A Lagrangian relaxation bounds all mappings; a subgradient method makes the bound as low as it
    gets. For MacroI and MicroI every set of clusters that an item has chooses its image at prices
    of classes; for MicroC every class chooses its clusters. MacroI and MicroC are ratios: at the
    value r of the mapping, what is bounded is numerator - r denominator, after Dinkelbach. What a
    cluster cannot have in a better mapping is struck out; where something is left, branch and
    bound goes on.

    Parameters
    ----------
    patterns : Patterns
        The items.
    measure : str
        "MacroI", "MicroI" or "MicroC".
    mapping : array of int, shape (clusters,)
        The class of each cluster, from hill climbing; none may be -1.
    seconds : float
        How long to search, in seconds of a usual machine: work is counted by steps, so the same
        bound comes of it everywhere, sooner or later.

    Returns
    -------
    Certificate
        Its mapping is not below the given one.

    Raises
    ------
    ValueError
        If there are no seconds.

    References
    ----------
    Geoffrion, Lagrangean Relaxation for Integer Programming (1974); Dinkelbach, On Nonlinear
    Fractional Programming (1967); Land & Doig, An Automatic Method of Solving Discrete
    Programming Problems (1960).

    Examples
    --------
    >>> from scipy import sparse
    >>> eye = sparse.csr_array(np.eye(2, dtype=np.int64))
    >>> items = Patterns(np.array([1, 2]), eye, eye)
    >>> certificate = certify(items, "MacroI", np.array([0, 0]), seconds=5)
    >>> certificate.mapping.tolist(), certificate.value, certificate.proven
    ([0, 1], Fraction(1, 1), True)
    """
    if not seconds > 0:
        raise ValueError(f"{seconds} seconds for the certificate: must be more than 0")
    score, work = TYPE_MEASURES.get(measure).score, SearchBudget(seconds)
    value = score(patterns, mapping).value
    search = _branch_and_bound(patterns, measure, mapping, value, work)
    while search.better is not None:
        mapping, value = search.better, score(patterns, search.better).value
        search = _branch_and_bound(patterns, measure, mapping, value, work)
    proven = value == 1 or search.excess <= PROVEN_WITHIN
    bound = float(value) if proven else min(1.0, float(value) + search.excess)
    return Certificate(mapping, value, bound, proven, 0 if proven else search.open_clusters)


class _SearchResult(NamedTuple):
    """A better mapping; or by how much none is better, and how many clusters are open."""

    better: IntArray | None
    excess: float = 0.0
    open_clusters: int = 0


def _branch_and_bound(
    patterns: Patterns, measure: str, mapping: IntArray, value: Fraction, work: SearchBudget
) -> _SearchResult:
    """Bound all mappings, then branch: the branch with the highest bound is split first."""
    score = TYPE_MEASURES.get(measure).score
    relaxation: Relaxation = (
        UnionRelaxation(patterns, mapping, float(value))
        if measure == "MicroC"
        else SetRelaxation(patterns, measure, mapping, float(value))
    )
    every = np.ones((patterns.induced.shape[1], patterns.gold.shape[1]), dtype=np.bool_)
    rest = (1 - ROOT_SHARE) * work.seconds
    root = descend(relaxation, relaxation.prices, every, steps=ROOT_STEPS, work=work, until=rest)
    numbers = itertools.count()
    heap = [(-root.excess, next(numbers), root.allowed)] if root.excess else []
    while heap and work.seconds > 0:
        highest, _, allowed = heapq.heappop(heap)
        candidate = np.asarray(allowed.argmax(axis=1), dtype=np.int64)
        if score(patterns, candidate).value > value:
            return _SearchResult(candidate)
        for part in _branches(allowed):
            branch = descend(relaxation, root.prices, part, steps=BRANCH_STEPS, work=work)
            if branch.excess:
                heapq.heappush(heap, (max(highest, -branch.excess), next(numbers), branch.allowed))
    undecided = int((root.allowed.sum(axis=1) > 1).sum())
    return _SearchResult(None, -heap[0][0], undecided) if heap else _SearchResult(None)


def _branches(allowed: BoolArray) -> Iterator[BoolArray]:
    """Give a cluster each of its classes: one with the fewest, from two."""
    classes = allowed.sum(axis=1)
    if not (classes > 1).any():
        return
    cluster = int(np.where(classes > 1, classes, classes.max() + 1).argmin())
    for c in np.flatnonzero(allowed[cluster]).tolist():
        part = allowed.copy()
        part[cluster] = np.arange(allowed.shape[1]) == c
        yield part
