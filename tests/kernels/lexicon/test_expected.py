"""How sure other samples would be, held against samples that were drawn."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.lexicon.inference import (
    Spread,
    chances_by_size,
    error_by_size,
    error_simple,
    expected_errors,
    interval_by_chance,
    lemmas_by_size,
    spread_of,
)
from pipeline.kernels.lexicon.wordlists import sample_by_size
from pipeline.kernels.survey.design import inclusion


def scores(lemmas: int = 300) -> pl.DataFrame:
    """Return all lemmas, each certain; large paradigms are matched less well."""
    random = np.random.default_rng(3)
    size = np.rint(random.lognormal(2.0, 1.0, lemmas)).astype(int) + 1
    value = np.clip(random.beta(8, 2, lemmas) - 0.05 * np.log(size), 0, 1)
    made = pl.DataFrame({"lemma": [f"l{i:03}" for i in range(lemmas)], "size": size, "L": value})
    return made.with_columns(
        base="size", n_gold="size", pi=pl.lit(1.0), drawn=True,
        population=pl.lit(lemmas, pl.Int64), base_total=pl.col("size").sum(),
    )  # fmt: skip


EVERY = scores()


def by_size(size: int, seed: str) -> pl.DataFrame:
    lemmas = EVERY.select("lemma", n=pl.col("n_gold").cast(pl.Float64))
    drawn = sample_by_size(lemmas, size=size, seed=seed).select("lemma", "pi")
    return EVERY.drop("pi").join(drawn, on="lemma")


def test_chances_of_all_lemmas_are_those_of_the_design() -> None:
    spread = spread_of(EVERY)
    assert spread is not None
    wanted = inclusion(EVERY["n_gold"].to_numpy().astype(float), size=40)
    assert chances_by_size(spread, 40) == pytest.approx(wanted)


def test_by_a_slow_twin() -> None:
    """The factor k that makes the chances min(1, k x) add up to the size, by halving."""
    spread = Spread(np.array([20.0, 5.0, 1.0]), np.array([2.0, 9.0, 70.0]), np.zeros(3))
    for size in (0.5, 3.0, 6.5, 20.0):
        low, high = 0.0, 10.0
        for _ in range(100):
            k = (low + high) / 2
            fits = spread.weight @ np.minimum(1, k * spread.x) < size
            low, high = (k, high) if fits else (low, k)
        assert chances_by_size(spread, size) == pytest.approx(np.minimum(1, low * spread.x))


def test_more_lemmas_than_there_are_are_all_certain() -> None:
    spread = spread_of(EVERY)
    assert spread is not None
    assert chances_by_size(spread, 300).min() == pytest.approx(1)
    assert error_by_size(spread, 300) == pytest.approx(0, abs=1e-9)
    assert error_simple(spread, 400) == 0


def test_the_error_that_is_expected_is_the_one_of_samples() -> None:
    spread = spread_of(EVERY)
    assert spread is not None
    stars = [
        interval_by_chance(by_size(40, f"{number}"), method="t", confidence=0.95).estimate or 0.0
        for number in range(400)
    ]
    assert error_by_size(spread, 40) == pytest.approx(np.std(stars, ddof=1), rel=0.12)


def test_a_sample_expects_what_all_lemmas_would() -> None:
    whole = {each.size: each for each in expected_errors(EVERY, [0.1, 0.3, 1.0])}
    found = [expected_errors(by_size(60, f"{number}"), [0.1, 0.3, 1.0]) for number in range(60)]
    for place, size in enumerate(whole):
        for kind in ("simple", "by_size"):
            wanted = getattr(whole[size], kind)
            mean = np.sqrt(np.mean([getattr(each[place], kind) ** 2 for each in found]))
            assert mean == pytest.approx(wanted, rel=0.1, abs=1e-9)


def test_by_size_fewer_lemmas_are_enough() -> None:
    first, last = expected_errors(EVERY, [0.2, 1.0])
    assert first.by_size is not None
    assert first.simple is not None
    assert first.by_size < first.simple
    assert (last.by_size, last.simple) == (0.0, 0.0)
    assert lemmas_by_size(EVERY, error=first.by_size * 1.0001) == first.size == 60
    assert lemmas_by_size(EVERY, error=1e-12) == 300


@pytest.mark.parametrize("kept", [0, 1])
def test_too_few_lemmas_expect_nothing(kept: int) -> None:
    few = EVERY.head(kept)
    assert spread_of(few) is None
    assert all(each.by_size is None for each in expected_errors(few, [0.5]))


def test_chosen_lemmas_expect_nothing_by_size() -> None:
    chosen = EVERY.with_columns(drawn=pl.lit(value=False), pi=pl.lit(None, pl.Float64))
    assert expected_errors(chosen, [0.5])[0].by_size is None
