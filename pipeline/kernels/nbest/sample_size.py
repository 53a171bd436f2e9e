"""Sample size: expected width of an interval, and power of the comparison of two measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.sampling import seeded_generator
from pipeline.kernels.statistics.exact_tests import TESTS, Alternative
from pipeline.kernels.statistics.fisher import log_binomial_pmf, log_hypergeometric_pmf
from pipeline.kernels.statistics.intervals import INTERVALS

# Expected width of an interval, and the sample size for a width.

_NEGLIGIBLE_WIDTH = 1e-12  # outcomes that are less probable are omitted


class Outcomes(NamedTuple):
    """Possible samples from a list, with probabilities that add up to 1."""

    n_sampled: IntArray
    k_sampled: IntArray
    probability: FloatArray


def outcomes(
    *, n: int, candidates: int, size: int, precision: float, replacement: bool = False
) -> Outcomes:
    """Return every outcome of a sample in an n-best list: draws and true positives.

    Of `size` draws n^ fall into the list, and k^ of these on its K = round(n precision) true
    positives. Without replacement ``n^ ~ Hypergeometric(candidates, n, size)`` and
    ``k^ ~ Hypergeometric(n, K, n^)``, with replacement ``n^ ~ Binomial(size, n/candidates)``
    and ``k^ ~ Binomial(n^, K/n)``.

    Parameters
    ----------
    n : int
        Size of the list, 1..candidates.
    candidates : int
        Candidates in the data set.
    size : int
        Draws, from 0; at most `candidates` without replacement.
    precision : float
        Assumed precision of the list, in [0, 1].
    replacement : bool
        Whether candidates are drawn with replacement.

    Returns
    -------
    Outcomes
        Arrays of one shape; outcomes of probability below 1e-12 are omitted.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> table = outcomes(n=2, candidates=4, size=2, precision=0.5)
    >>> [(int(n), int(k), round(float(p), 4)) for n, k, p in zip(*table)]
    [(0, 0, 0.1667), (1, 0, 0.3333), (1, 1, 0.3333), (2, 1, 0.1667)]
    """
    _require_sample(n, candidates, size, precision, replacement=replacement)
    true = round(n * precision)
    drawn = np.arange(min(n, size) + 1) if not replacement else np.arange(size + 1)
    chances = _draw_probabilities(drawn, n, candidates, size, replacement=replacement)
    drawn, chances = drawn[chances > _NEGLIGIBLE_WIDTH], chances[chances > _NEGLIGIBLE_WIDTH]
    hits = np.arange(int(drawn.max()) + 1)
    joint = chances[:, None] * _draw_probabilities(
        hits, true, n, drawn[:, None], replacement=replacement
    )
    rows, columns = np.nonzero(joint > _NEGLIGIBLE_WIDTH)
    weights = joint[rows, columns]
    return Outcomes(drawn[rows], hits[columns], weights / weights.sum())


def _draw_probabilities(
    x: IntArray, part: int, whole: int, draws: int | IntArray, *, replacement: bool
) -> FloatArray:
    """Return the probability that x draws from the whole fall into the part."""
    if replacement:
        share = part / whole
        return np.asarray(np.exp(log_binomial_pmf(x, draws, share, (whole - part) / whole)))
    return np.asarray(np.exp(log_hypergeometric_pmf(x, part, whole - part, draws)))


def expected_width(
    *,
    n: int,
    candidates: int,
    size: int,
    precision: float,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    replacement: bool = False,
) -> dict[str, float]:
    """Return the expected confidence interval for the precision of an n-best list.

    Parameters
    ----------
    n, candidates, size, precision, replacement
        As for `outcomes`.
    method : str
        A name in `intervals.INTERVALS`.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    dict of str to float
        n_sampled, the expected draws in the list; lower, upper and width, the expected limits and
        their distance, in [0, 1]; coverage, the probability that the interval contains the assumed
        precision; empty, that no draw falls into the list (then the interval is [0, 1]).

    Raises
    ------
    ValueError
        If a number is out of its range or the method is unknown.

    Examples
    --------
    >>> widths = expected_width(n=1000, candidates=5102, size=510, precision=0.27)
    >>> [round(widths[name], 3) for name in ("n_sampled", "lower", "upper", "width")]
    [99.961, 0.186, 0.368, 0.182]
    """
    interval = INTERVALS.get(method)
    n_sampled, k_sampled, chance = outcomes(
        n=n, candidates=candidates, size=size, precision=precision, replacement=replacement
    )
    population = np.full(len(n_sampled), n)
    lower, upper = interval(k_sampled, n_sampled, confidence=confidence, population=population)
    true = round(n * precision) / n
    values = {
        "n_sampled": n_sampled, "lower": lower, "upper": upper, "width": upper - lower,
        "coverage": (lower <= true) & (true <= upper), "empty": n_sampled == 0,
    }  # fmt: skip
    return {name: float((chance * value).sum()) for name, value in values.items()}


def size_for_width(
    *,
    width: float,
    n: int,
    candidates: int,
    precision: float,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    replacement: bool = False,
) -> int | None:
    """Return the smallest sample whose expected interval is narrow enough.

    Parameters
    ----------
    width : float
        The wanted width of the interval, in (0, 1).
    n, candidates, precision, method, confidence, replacement
        As for `expected_width`.

    Returns
    -------
    int or None
        Draws, 1..candidates; divided by `candidates` it is the sampling rate. None if even as many
        draws as candidates give a wider interval: after full annotation only the hypergeometric
        interval has width 0.

    Raises
    ------
    ValueError
        If a number is out of its range or the method is unknown.

    Examples
    --------
    >>> size_for_width(width=0.2, n=200, candidates=1000, precision=0.3)
    440
    """
    if not 0.0 < width < 1.0:
        raise ValueError(f"width must be in (0, 1), not {width}")

    def narrow(size: int) -> bool:
        expected = expected_width(
            n=n, candidates=candidates, size=size, precision=precision, method=method,
            confidence=confidence, replacement=replacement,
        )  # fmt: skip
        return expected["width"] <= width

    return smallest_size(narrow, 1, candidates)


def smallest_size(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """Return the smallest sufficient size, if all larger sizes are sufficient too.

    Parameters
    ----------
    enough : callable
        Whether a size is sufficient.
    least, most : int
        The sizes to search, both included.

    Returns
    -------
    int or None
        None if no size is sufficient.

    Examples
    --------
    >>> smallest_size(lambda size: size**2 >= 50, 1, 100), smallest_size(lambda size: False, 1, 9)
    (8, None)
    """
    if least > most or not enough(most):
        return None
    below, above = least - 1, most
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if enough(middle) else (middle, above)
    return above


def _require_sample(
    n: int, candidates: int, size: int, precision: float, *, replacement: bool
) -> None:
    if not 1 <= n <= candidates:
        raise ValueError(f"list of {n:,} from {candidates:,} candidates")
    if size < 0 or (size > candidates and not replacement):
        raise ValueError(f"sample of {size:,} from {candidates:,} candidates")
    if not 0.0 <= precision <= 1.0:
        raise ValueError(f"precision must be in [0, 1], not {precision}")


_NEGLIGIBLE_POWER = 1e-10  # outcomes of one set that are less probable are omitted
_MOST_TABLES = 250_000  # that are tested one by one; beyond that simulation
_ROUNDING = 1e-12  # of a difference that equals the margin on paper


class Design(NamedTuple):
    """Two n-best lists, each with `apart` candidates that the other lacks, and the test.

    Parameters
    ----------
    n : int
        Size of both lists.
    apart : int
        |D1| = |D2| = n less the candidates in both lists.
    candidates : int
        Candidates in the data set; at least 2 apart.
    alpha, margin : float
        Significance level, and the smallest difference in precision to be marked.
    test, alternative : str
        Name and side of the test, see `exact_tests`.
    """

    n: int
    apart: int
    candidates: int
    alpha: float = 0.05
    margin: float = 0.0
    test: str = "fisher"
    alternative: Alternative = "two_sided"


class Power(NamedTuple):
    """Probabilities of the outcomes of the comparison, with their standard error.

    Parameters
    ----------
    first, second : float
        That the first, or the second, measure is marked as better.
    untested : float
        That D1 or D2 has no judged draw, so that there is no test.
    standard_error : float
        Of `first` and `second` at most, from the simulation; 0 if computed exactly.
    """

    first: float
    second: float
    untested: float
    standard_error: float


class Draws(NamedTuple):
    """Draws and true positives in D1 and D2, with probabilities."""

    k1: IntArray
    n1: IntArray
    k2: IntArray
    n2: IntArray
    probability: FloatArray


def comparison_power(
    design: Design,
    *,
    size: int,
    precision_1: float,
    precision_2: float,
    replicates: int = 10_000,
    seed: str = "power",
) -> Power:
    """Return the power of the comparison for assumed precisions of D1 and D2.

    The draws without replacement in D1, D2 and elsewhere are multivariate hypergeometric, and
    so are the true positives among them. Where there are few outcomes their probabilities are
    added up; otherwise samples are simulated.

    Parameters
    ----------
    design : Design
        The two lists and the test.
    size : int
        Draws, 0..candidates.
    precision_1, precision_2 : float
        Assumed share of true positives in D1 and in D2 (not in the lists), in [0, 1]. The
        difference in precision of the lists is (apart/n) times their difference.
    replicates : int
        Number of simulated samples.
    seed : str
        Fixes them.

    Returns
    -------
    Power
        With equal precisions, `first` and `second` are the two sides of the true level.

    Raises
    ------
    ValueError
        If a number is out of its range, or the test is unknown.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3, on the test.

    Examples
    --------
    >>> design = Design(n=60, apart=40, candidates=200)
    >>> power = comparison_power(design, size=60, precision_1=0.7, precision_2=0.2)
    >>> round(power.first, 3), round(power.second, 5), power.standard_error
    (0.633, 0.0, 0.0)
    """
    _require_design(design, size, precision_1, precision_2)
    true = tuple(round(design.apart * p) for p in (precision_1, precision_2))
    draws = _enumerate(design, size, *true)
    if draws is None:
        bits = seeded_generator(seed=seed, purpose="power")
        start = np.zeros((2, replicates), dtype=np.int64)
        hits = np.array(true)[:, None] + start
        draws = _simulate(bits, design, drawn=start, hits=start, true=hits, before=0, size=size)
        return _power(design, draws, replicates=replicates)
    return _power(design, draws, replicates=None)


def predictive_power(
    design: Design,
    *,
    size: int,
    pilot: tuple[int, int, int, int],
    pilot_size: int,
    replicates: int = 10_000,
    seed: str = "power",
) -> Power:
    """Return the power of the comparison after a pilot sample has grown.

    The pilot stays part of the larger sample. What it leaves open is drawn too: with k true
    positives among n pilot draws in D, the true positives among the other members of D are
    Binomial(|D| - n, p), p ~ Beta(k + 1/2, n - k + 1/2). So the result is an average over all
    precisions consistent with the pilot, not the power at its estimates, which is too optimistic.

    Parameters
    ----------
    design : Design
        The two lists and the test.
    size : int
        Draws of the grown sample, without replacement; pilot_size..candidates.
    pilot : tuple of int
        k_1, n_1, k_2, n_2 of the pilot: true positives and draws in D1 and D2.
    pilot_size : int
        Draws of the pilot.
    replicates : int
        Number of simulated samples.
    seed : str
        Fixes them.

    Returns
    -------
    Power
        At `size = pilot_size` the result of the pilot itself: 0 or 1.

    Raises
    ------
    ValueError
        If a number is out of its range, or the test is unknown.

    References
    ----------
    Spiegelhalter, Abrams & Myles, Bayesian Approaches to Clinical Trials (2004), chapter 6,
    on predictive power.

    Examples
    --------
    >>> design = Design(n=500, apart=200, candidates=5000)
    >>> power = predictive_power(design, size=1000, pilot=(9, 20, 5, 20), pilot_size=500)
    >>> round(power.first, 2), round(power.second, 2)
    (0.4, 0.0)
    """
    k_1, n_1, k_2, n_2 = pilot
    _require_design(design, size, 0.0, 0.0)
    _require_pilot(design, pilot, pilot_size, size)
    bits = seeded_generator(seed=seed, purpose="predictive power")
    drawn = np.array([[n_1], [n_2]]) + np.zeros((2, replicates), dtype=np.int64)
    hits = np.array([[k_1], [k_2]]) + np.zeros((2, replicates), dtype=np.int64)
    p = bits.beta(hits + 0.5, drawn - hits + 0.5)
    true = hits + bits.binomial(design.apart - drawn, p)
    draws = _simulate(bits, design, drawn=drawn, hits=hits, true=true, before=pilot_size, size=size)
    return _power(design, draws, replicates=replicates)


def size_for_power(
    design: Design,
    *,
    goal: float,
    precision_1: float,
    precision_2: float,
    replicates: int = 10_000,
    seed: str = "power",
) -> int | None:
    """Return the smallest sample that marks the better measure with the wanted power.

    Parameters
    ----------
    design : Design
        The two lists and the test.
    goal : float
        The wanted power, in (0, 1).
    precision_1, precision_2, replicates, seed
        As for `comparison_power`. If the power is simulated, so is the precision of the size.

    Returns
    -------
    int or None
        Draws, 1..candidates; None if even full annotation does not suffice.

    Raises
    ------
    ValueError
        If a number is out of its range, or the test is unknown.

    Examples
    --------
    >>> design = Design(n=30, apart=20, candidates=100)
    >>> size_for_power(design, goal=0.8, precision_1=0.7, precision_2=0.2)
    71
    """
    if not 0.0 < goal < 1.0:
        raise ValueError(f"power must be in (0, 1), not {goal}")

    def strong(size: int) -> bool:
        power = comparison_power(
            design, size=size, precision_1=precision_1, precision_2=precision_2,
            replicates=replicates, seed=seed,
        )  # fmt: skip
        return (power.first if precision_1 > precision_2 else power.second) >= goal

    return smallest_size(strong, 1, design.candidates)


def _simulate(
    bits: np.random.Generator,
    design: Design,
    *,
    drawn: IntArray,
    hits: IntArray,
    true: IntArray,
    before: int,
    size: int,
) -> Draws:
    """Draw the rest of the sample; rows of the arrays are D1 and D2."""
    apart, draws = design.apart, size - before
    rest = design.candidates - before
    new_1 = bits.hypergeometric(apart - drawn[0], rest - (apart - drawn[0]), draws)
    others = rest - (apart - drawn[0]) - (apart - drawn[1])
    new_2 = bits.hypergeometric(apart - drawn[1], others, draws - new_1)
    n1, n2 = drawn[0] + new_1, drawn[1] + new_2
    missing, false = true - hits, (apart - drawn) - (true - hits)
    k1 = hits[0] + bits.hypergeometric(missing[0], false[0], new_1)
    k2 = hits[1] + bits.hypergeometric(missing[1], false[1], new_2)
    return Draws(k1, n1, k2, n2, np.full(len(n1), 1.0 / len(n1)))


def _enumerate(design: Design, size: int, true_1: int, true_2: int) -> Draws | None:
    """Return all outcomes with their probabilities, or None if they are too many."""
    apart, candidates = design.apart, design.candidates
    x = np.arange(min(apart, size) + 1)
    x = x[np.exp(log_hypergeometric_pmf(x, apart, candidates - apart, size)) > _NEGLIGIBLE_POWER]
    first, second, k = x[:, None], x[None, :], np.arange(int(x[-1]) + 1)[None, :]
    both = log_hypergeometric_pmf(first, apart, candidates - apart, size)
    both = both + log_hypergeometric_pmf(second, apart, candidates - 2 * apart, size - first)
    places = np.argwhere(np.exp(both) > _NEGLIGIBLE_POWER)
    hits = [np.exp(log_hypergeometric_pmf(k, t, apart - t, first)) for t in (true_1, true_2)]
    likely = [[np.flatnonzero(row > _NEGLIGIBLE_POWER) for row in table] for table in hits]
    counts = [np.array([len(row) for row in table]) for table in likely]
    if (counts[0][places[:, 0]] * counts[1][places[:, 1]]).sum() > _MOST_TABLES:
        return None
    parts = []
    for i, j in places:
        k1, k2 = (side.ravel() for side in np.meshgrid(likely[0][i], likely[1][j]))
        chance = np.exp(both[i, j]) * hits[0][i, k1] * hits[1][j, k2]
        parts.append((k1, np.full(len(k1), x[i]), k2, np.full(len(k1), x[j]), chance))
    return Draws(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _power(design: Design, draws: Draws, *, replicates: int | None) -> Power:
    """Test every outcome and add up the probabilities of the marks."""
    k1, n1, k2, n2, chance = draws
    p = TESTS.get(design.test).p_values(k1, n1, k2, n2, alternative=design.alternative)
    tested = (n1 > 0) & (n2 > 0)
    apart = k1 / np.maximum(n1, 1) - k2 / np.maximum(n2, 1)
    difference = design.apart / design.n * apart
    mark = tested & (p < design.alpha) & (np.abs(difference) >= design.margin - _ROUNDING)
    first = float(chance[mark & (difference > 0)].sum())
    second = float(chance[mark & (difference < 0)].sum())
    spread = max(first * (1.0 - first), second * (1.0 - second))
    error = float(np.sqrt(spread / replicates)) if replicates else 0.0
    return Power(first, second, float(chance[~tested].sum()), error)


def _require_design(design: Design, size: int, precision_1: float, precision_2: float) -> None:
    if not 1 <= design.apart <= design.n or 2 * design.apart > design.candidates:
        raise ValueError(
            f"apart = {design.apart:,}, n = {design.n:,}, candidates = {design.candidates:,}: must "
            "satisfy 1 <= apart <= n and 2 apart <= candidates"
        )
    if not 0 <= size <= design.candidates:
        raise ValueError(f"sample of {size:,} from {design.candidates:,} candidates")
    for precision in (precision_1, precision_2):
        if not 0.0 <= precision <= 1.0:
            raise ValueError(f"precision must be in [0, 1], not {precision}")


def _require_pilot(
    design: Design, pilot: tuple[int, int, int, int], pilot_size: int, size: int
) -> None:
    k_1, n_1, k_2, n_2 = pilot
    inside = 0 <= k_1 <= n_1 <= design.apart and 0 <= k_2 <= n_2 <= design.apart
    if not inside or n_1 + n_2 > pilot_size or pilot_size > size:
        raise ValueError(
            f"pilot {pilot} of {pilot_size:,} draws and a sample of {size:,}: must satisfy k <= n "
            "<= apart on both sides, n_1 + n_2 <= pilot_size <= size"
        )
