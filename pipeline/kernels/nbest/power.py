"""Power of the comparison of two measures: how probable a mark is, for a size of the sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.hashing import seeded_generator
from pipeline.kernels.nbest.width import smallest
from pipeline.kernels.statistics.exact_tests import TESTS, Alternative
from pipeline.kernels.statistics.saddle_point import log_hypergeometric_pmf

_NEGLIGIBLE = 1e-10  # outcomes of one set that are less probable are left out
_MOST_TABLES = 250_000  # that are tested one by one; beyond that simulation
_ROUNDING = 1e-12  # of a difference that equals the margin on paper


class Design(NamedTuple):
    """Two n-best lists of which `apart` candidates each are not in the other, and the test.

    Parameters
    ----------
    n : int
        Size of both lists.
    apart : int
        |D1| = |D2| = n less the candidates that both lists hold.
    candidates : int
        Candidates in the data set; 2 apart at least.
    alpha, margin : float
        Significance level, and the smallest difference in precision that gets a mark.
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
    """Probabilities of what the comparison will say, with their standard error.

    Parameters
    ----------
    first, second : float
        That the first, or the second, measure is marked as the better one.
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
    _require(design, size, precision_1, precision_2)
    true = tuple(round(design.apart * p) for p in (precision_1, precision_2))
    draws = _enumerated(design, size, *true)
    if draws is None:
        bits = seeded_generator(seed=seed, purpose="power")
        start = np.zeros((2, replicates), dtype=np.int64)
        hits = np.array(true)[:, None] + start
        draws = _simulated(bits, design, drawn=start, found=start, true=hits, before=0, size=size)
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
    """Return the power of the comparison once a pilot sample has grown.

    The pilot stays part of the larger sample. What it leaves open is drawn too: with k true
    positives among n pilot draws in D, the true positives among the other members of D are
    Binomial(|D| - n, p), p ~ Beta(k + 1/2, n - k + 1/2). So the result is an average over all
    precisions that go with the pilot, not the power at its estimates, which is too good.

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
        At `size = pilot_size` what the pilot itself says: 0 or 1.

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
    _require(design, size, 0.0, 0.0)
    _require_pilot(design, pilot, pilot_size, size)
    bits = seeded_generator(seed=seed, purpose="predictive power")
    drawn = np.array([[n_1], [n_2]]) + np.zeros((2, replicates), dtype=np.int64)
    hits = np.array([[k_1], [k_2]]) + np.zeros((2, replicates), dtype=np.int64)
    p = bits.beta(hits + 0.5, drawn - hits + 0.5)
    true = hits + bits.binomial(design.apart - drawn, p)
    draws = _simulated(
        bits, design, drawn=drawn, found=hits, true=true, before=pilot_size, size=size
    )
    return _power(design, draws, replicates=replicates)


def size_for_power(
    design: Design,
    *,
    wanted: float,
    precision_1: float,
    precision_2: float,
    replicates: int = 10_000,
    seed: str = "power",
) -> int | None:
    """Return the smallest sample that marks the better measure often enough.

    Parameters
    ----------
    design : Design
        The two lists and the test.
    wanted : float
        The wanted power, in (0, 1).
    precision_1, precision_2, replicates, seed
        As for `comparison_power`. Where the power is simulated, the size is as rough as that.

    Returns
    -------
    int or None
        Draws, 1..candidates; None where even full annotation would not do.

    Raises
    ------
    ValueError
        If a number is out of its range, or the test is unknown.

    Examples
    --------
    >>> design = Design(n=30, apart=20, candidates=100)
    >>> size_for_power(design, wanted=0.8, precision_1=0.7, precision_2=0.2)
    71
    """
    if not 0.0 < wanted < 1.0:
        raise ValueError(f"wanted power is a probability inside (0, 1), not {wanted}")

    def strong(size: int) -> bool:
        power = comparison_power(
            design, size=size, precision_1=precision_1, precision_2=precision_2,
            replicates=replicates, seed=seed,
        )  # fmt: skip
        return (power.first if precision_1 > precision_2 else power.second) >= wanted

    return smallest(strong, 1, design.candidates)


def _simulated(
    bits: np.random.Generator,
    design: Design,
    *,
    drawn: IntArray,
    found: IntArray,
    true: IntArray,
    before: int,
    size: int,
) -> Draws:
    """Draw the rest of the sample; rows of the arrays are D1 and D2."""
    apart, left = design.apart, size - before
    rest = design.candidates - before
    new_1 = bits.hypergeometric(apart - drawn[0], rest - (apart - drawn[0]), left)
    others = rest - (apart - drawn[0]) - (apart - drawn[1])
    new_2 = bits.hypergeometric(apart - drawn[1], others, left - new_1)
    n1, n2 = drawn[0] + new_1, drawn[1] + new_2
    missing, false = true - found, (apart - drawn) - (true - found)
    k1 = found[0] + bits.hypergeometric(missing[0], false[0], new_1)
    k2 = found[1] + bits.hypergeometric(missing[1], false[1], new_2)
    return Draws(k1, n1, k2, n2, np.full(len(n1), 1.0 / len(n1)))


def _enumerated(design: Design, size: int, true_1: int, true_2: int) -> Draws | None:
    """Return all outcomes with their probabilities, or None if they are too many."""
    apart, candidates = design.apart, design.candidates
    x = np.arange(min(apart, size) + 1)
    x = x[np.exp(log_hypergeometric_pmf(x, apart, candidates - apart, size)) > _NEGLIGIBLE]
    first, second, k = x[:, None], x[None, :], np.arange(int(x[-1]) + 1)[None, :]
    both = log_hypergeometric_pmf(first, apart, candidates - apart, size)
    both = both + log_hypergeometric_pmf(second, apart, candidates - 2 * apart, size - first)
    places = np.argwhere(np.exp(both) > _NEGLIGIBLE)
    hits = [np.exp(log_hypergeometric_pmf(k, t, apart - t, first)) for t in (true_1, true_2)]
    kept = [[np.flatnonzero(row > _NEGLIGIBLE) for row in table] for table in hits]
    counts = [np.array([len(row) for row in table]) for table in kept]
    if (counts[0][places[:, 0]] * counts[1][places[:, 1]]).sum() > _MOST_TABLES:
        return None
    parts = []
    for i, j in places:
        k1, k2 = (side.ravel() for side in np.meshgrid(kept[0][i], kept[1][j]))
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


def _require(design: Design, size: int, precision_1: float, precision_2: float) -> None:
    if not 1 <= design.apart <= design.n or 2 * design.apart > design.candidates:
        raise ValueError(
            f"{design.apart:,} of {design.n:,} apart, from {design.candidates:,} candidates: "
            "need 1 <= apart <= n and 2 apart <= candidates"
        )
    if not 0 <= size <= design.candidates:
        raise ValueError(f"sample of {size:,} from {design.candidates:,} candidates")
    for precision in (precision_1, precision_2):
        if not 0.0 <= precision <= 1.0:
            raise ValueError(f"precision is a proportion in [0, 1], not {precision}")


def _require_pilot(
    design: Design, pilot: tuple[int, int, int, int], pilot_size: int, size: int
) -> None:
    k_1, n_1, k_2, n_2 = pilot
    inside = 0 <= k_1 <= n_1 <= design.apart and 0 <= k_2 <= n_2 <= design.apart
    if not inside or n_1 + n_2 > pilot_size or pilot_size > size:
        raise ValueError(
            f"pilot {pilot} of {pilot_size:,} draws and a sample of {size:,}: need k <= n <= "
            "apart on both sides, n_1 + n_2 <= pilot_size <= size"
        )
