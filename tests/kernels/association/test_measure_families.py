"""Measures with a number in their names: mi_conf(n) and poisson_mu(n), for numbers of all sizes."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from fractions import Fraction

import mpmath
import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.errors import ConfigError, UnknownName
from pipeline.kernels.association.log_tails import poisson_limit
from pipeline.kernels.association.scoring import places, score, score_tuples
from pipeline.kernels.measure import MEASURES, measure_family
from pipeline.registry import Numbers
from schemas.candidates import signature
from tests.kernels.association.cells import Cells, frame, rare, signatures
from tests.kernels.association.exact_limits import gamma_quantile
from tests.kernels.association.exact_limits import mi_conf as exact_mi_conf
from tests.kernels.association.exact_tails import poisson

DECADES = (1, 2, 20, 50, 300, 301, 1000, 10_000, 1_000_000)
COUNTS = (1, 2, 16, 17, 1000, 3000, 3001, 10**5, 10**7)


def scores(names: list[str], *cells: Cells) -> list[dict[str, float]]:
    return score(frame(*cells), measures=names).select(MEASURES.resolve(names)).collect().to_dicts()


@pytest.mark.parametrize("decades", DECADES)
def test_limits_of_all_sizes(decades: int) -> None:
    """10^-n underflows from n = 324 on: ln m is solved for."""
    log_tail = -decades * math.log(10) - math.log(2)
    found = poisson_limit(
        np.array(COUNTS, dtype=float), 10.0**-decades / 2,
        log_tail=log_tail if decades > 300 else None,
    )  # fmt: skip
    for k, log_mean, shortfall in zip(COUNTS, found.log_mean, found.shortfall, strict=True):
        exact = gamma_quantile(k, mpmath.mpf(10) ** -decades / 2)
        assert abs(log_mean - exact) <= 1e-14 * max(abs(exact), 1)
        assert abs(shortfall / (k - mpmath.exp(exact)) - 1) <= 2e-14


@given(cells=st.one_of(signatures(10**7), rare()), decades=st.integers(1, 2000))
@example(cells=Cells(1, 1, 1, 10), decades=316)  # 10^-316 has eight digits
@example(cells=Cells(1, 1, 1, 10), decades=323)
def test_mi_conf_of_any_level(cells: Cells, decades: int) -> None:
    (found,) = scores([f"mi_conf({decades})"], cells)
    exact = exact_mi_conf(cells, decades)
    assert abs(found[f"mi_conf_{decades}"] - exact) <= 5e-12 * abs(exact) + 1e-14


def test_first_term() -> None:
    """Where m is far below k, P(X >= k) = m^k / k!; for k = 1 it is 1 - exp(-m)."""
    one, seven = scores(["mi_conf_1000"], Cells(1, 10, 10, 1000), Cells(7, 10, 100, 1000))
    assert one["mi_conf_1000"] == pytest.approx(-1000 - math.log10(2) + 1, rel=1e-15)
    expected = (-1000 - math.log10(2) + math.log10(math.factorial(7))) / 7
    assert seven["mi_conf_1000"] == pytest.approx(expected, rel=1e-15)


@given(
    cells=st.one_of(signatures(10**6, least=0), rare()),
    thousandths=st.integers(1, 10**9),
)
def test_poisson_mu_of_any_factor(cells: Cells, thousandths: int) -> None:
    times = Fraction(thousandths, 1000)
    (found,) = scores([f"poisson_mu({float(times)})"], cells)
    exact = poisson(cells, times).upper(cells.f)
    assert next(iter(found.values())) == pytest.approx(float(exact), rel=1e-12, abs=1e-290)


def test_poisson_mu_near_its_mean() -> None:
    """O11 a few deviations from 10,000 E11, where O11 - n E11 would cancel."""
    n = 10**12
    for f1, f2, more in ((10**9 + 7, 10**5, 3), (10**7 + 1, 10**7, -2), (3 * 10**5, 10**6 + 3, 1)):
        mean = 10_000 * f1 * f2 // n
        cells = Cells(min(f1, f2, mean + more * math.isqrt(mean)), f1, f2, n)
        (found,) = scores(["Poisson.mu.10000.pv"], cells)
        exact = poisson(cells, Fraction(10_000)).upper(cells.f)
        assert found["poisson_mu_10000"] == pytest.approx(float(exact), rel=1e-12)


def test_poisson_mu_is_nought_or_huge() -> None:
    never, always = Cells(3, 5000, 6000, 10**6), Cells(10**7, 10**7, 10**7, 10**12)
    few, many = scores(["poisson_mu_10000", "poisson_mu_0_001"], never, always)
    assert few["poisson_mu_10000"] == 0.0
    exact = poisson(always, Fraction(1, 1000)).upper(always.f)
    assert many["poisson_mu_0_001"] == pytest.approx(float(exact), rel=1e-13)
    assert exact > 10**7


@given(cells=st.one_of(signatures(10**9), rare()))
def test_laws(cells: Cells) -> None:
    """Stricter levels and larger factors score lower; more joint tokens score higher."""
    ladders = [[f"mi_conf_{n}" for n in DECADES], ["poisson_pv", *(
        f"poisson_mu({n})" for n in (1, "1.001", 2, 7, 50, 1000, 10_000, 1_000_000)
    )]]  # fmt: skip
    more = Cells(min(cells.f + 1, cells.f1, cells.f2), cells.f1, cells.f2, cells.n)
    for ladder in ladders:
        here, there = scores(ladder, cells, more)
        for high, low in itertools.pairwise(here.values()):
            assert low <= high + 1e-13 * abs(high)
        for before, after in zip(here.values(), there.values(), strict=True):
            assert before <= after + 1e-12 * abs(after)
    both = scores(["mi", "mi_conf_1", "poisson_pv", "poisson_mu(1)"], cells)[0]
    assert both["mi_conf_1"] < both["mi"]
    assert both["poisson_mu_1"] == both["poisson_pv"]


LISTED = """
random frequency z.score z.score.corr t.score chi.squared chi.squared.corr log.likelihood
Poisson.Stirling Poisson.pv Fisher.pv MI MI2 MI3 relative.risk odds.ratio odds.ratio.disc Dice
gmean MS Jaccard average.MI local.MI z.score.pv z.score.corr.pv t.score.pv chi.squared.tt
chi.squared.tt.pv chi.squared.corr.tt chi.squared.corr.tt.pv chi.squared.pv chi.squared.corr.pv
log.likelihood.tt log.likelihood.tt.pv log.likelihood.pv binomial.pv multinomial.likelihood.pv
hypergeometric.likelihood.pv binomial.likelihood.pv Poisson.likelihood.pv
Poisson.likelihood.Perl.pv MI.conf.2 MI.conf.3 MI.conf.5 MI.conf.10 MI.conf.50 MI.conf.100
MI.conf.1000 Poisson.mu.2.pv Poisson.mu.3.pv Poisson.mu.5.pv Poisson.mu.10.pv Poisson.mu.50.pv
Poisson.mu.100.pv Poisson.mu.1000.pv Poisson.mu.10000.pv
"""
UCS = LISTED.split()
"""What the manual pages of its three packages list."""
WITHOUT_A_NUMBER = ("MI.conf", "Poisson.mu.pv")
"""Of which UCS has the number as a setting."""


def test_every_measure_of_ucs_is_found_by_its_name_and_says_so() -> None:
    for name in UCS:
        (found,) = MEASURES.resolve([name])
        assert name in MEASURES.get(found).spellings
        if name != "Poisson.likelihood.Perl.pv":  # the same probability, computed in Perl
            assert MEASURES.get(found).ucs == name
    for name in WITHOUT_A_NUMBER:
        with pytest.raises(UnknownName, match=r"did you mean .*(mi_conf|poisson_mu)"):
            MEASURES.resolve([name])


def test_no_other_measure_is_said_to_be_of_ucs() -> None:
    assert {MEASURES.get(name).ucs for name in MEASURES} - {""} <= set(UCS)
    for name in ("Fisher.tt.pv", "Liddell", "simple.ll", "MI.conf.1", "MI.conf.7", "Poisson.mu.2"):
        (found,) = MEASURES.resolve([name])
        assert MEASURES.get(found).ucs != name
        assert name in MEASURES.get(found).spellings


def test_spellings() -> None:
    typed = ["mi_conf(7)", "MI.conf.7", "mi_conf_7", "mi_conf(07)", "mi_conf(7.0)"]
    assert MEASURES.resolve(typed) == ["mi_conf_7"]
    halves = [
        "poisson_mu(2.5)",
        "Poisson.mu.2.5.pv",
        "Poisson.mu.2.5",
        "poisson_mu_2_5",
        "poisson_mu(2.50)",
    ]
    assert MEASURES.resolve(halves) == ["poisson_mu_2_5"]
    assert MEASURES.resolve(["mi_conf(5)", "MI.conf.5"]) == ["mi_conf_5"]
    assert "mi_conf_7" in MEASURES
    assert "mi_conf_7" not in list(MEASURES)
    assert "mi_conf(7)" not in MEASURES  # a spelling, as G2
    assert MEASURES.resolve(["all"]) == list(MEASURES)
    assert [each.label for each in MEASURES.templates()] == ["mi_conf(n)", "poisson_mu(n)"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("mi_conf(0)", "in mi_conf(n), n is a whole number from 1 to 1,000,000"),
        ("MI.conf.2.5", "in mi_conf(n), n is a whole number from 1 to 1,000,000"),
        ("mi_conf(1000001)", "in mi_conf(n), n is a whole number from 1 to 1,000,000"),
        ("mi_conf(n)", "in mi_conf(n), n is a whole number from 1 to 1,000,000"),
        ("mi_conf", "type mi_conf(n), n is a whole number from 1 to 1,000,000"),
        ("poisson_mu(-2)", "in poisson_mu(n), n is a number from 0.001 to 1,000,000"),
        ("poisson_mu(1_000)", "in poisson_mu(n), n is a number from 0.001 to 1,000,000"),
        ("poisson_mu_1_000", "in poisson_mu(n), n is a number from 0.001 to 1,000,000"),
        ("poisson_mu(0.0001)", "in poisson_mu(n), n is a number from 0.001 to 1,000,000"),
        ("mi_cof(5)", "did you mean mi_conf(n), mi_conf_5, mi_conf_3?"),
    ],
)
def test_numbers_that_a_family_has_not(typed: str, said: str) -> None:
    with pytest.raises(UnknownName) as error:
        MEASURES.resolve(["t_score", typed])
    assert str(error.value) == f"unknown measure {typed!r}; {said}"
    with pytest.raises(UnknownName):
        MEASURES.get(typed)


def test_a_fresh_process_finds_them_and_their_code() -> None:
    code = (
        "from pipeline.kernels.measure import MEASURES as m;"
        "print(m.get('poisson_mu_50').formula, m.place('mi_conf_50'))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    place = "pipeline.kernels.association.measures.effect_sizes:mi_conf"
    assert done.stdout.strip() == f"-log10 P(X >= O11), X ~ Poisson(50 E11) {place}"
    assert places(["mi_conf_50"]) == {place}


def test_a_family_is_registered_once() -> None:
    def mi_conf(n: int) -> pl.Expr:
        return pl.col("o11") / n

    with pytest.raises(ConfigError, match=r"'mi_conf\(n\)' is registered by .* and by"):
        measure_family(
            numbers=Numbers(), family="heuristic", formula="O11 / {n}", range="[0, inf)",
            reference="none",
        )(mi_conf)  # fmt: skip


def test_poisson_of_a_tuple_far_below_the_smallest_number() -> None:
    """Ratios of probabilities overflow where O is small and E is 1e-54."""
    units = {f"l{i}": ["a"] for i in range(1, 7)}
    counts = {name: [10] for name in signature(6)} | {"N": [10**12]}
    found = score_tuples(pl.LazyFrame(units | counts), measures=["poisson_pv"]).collect()
    exact = 540 + math.log10(math.factorial(10))
    assert found["poisson_pv"].to_list() == [pytest.approx(exact, rel=1e-14)]
