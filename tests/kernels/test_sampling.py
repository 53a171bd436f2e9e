"""Random samples: size, reproducibility, nesting, and the chances of being drawn."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.kernels.sampling import (
    candidate_id,
    sample_size,
    seeded_generator,
    seeded_key,
    with_replacement,
    without_replacement,
)
from schemas import Sample
from schemas.validate import validate

# Ids and seeded keys are the published hashes, in any version of the library.

words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@given(l1=words, l2=words)
def test_ids_are_sha_256_hashes(l1: str, l2: str) -> None:
    digest = pl.DataFrame({"l1": [l1], "l2": [l2]}).select(candidate_id("l1", "l2")).item()
    assert digest == "x" + hashlib.sha256(f"{l1}\x1f{l2}".encode()).hexdigest()[:16]


def test_ids_distinguish_the_borders_of_units() -> None:
    pairs = pl.DataFrame({"l1": ["a b", "a"], "l2": ["c", "b c"]})
    assert pairs.select(candidate_id("l1", "l2").n_unique()).item() == 2


def test_keys_have_pinned_values() -> None:
    """XXH64 of the salted text, halved: samples can be reproduced by any later version."""
    keys = pl.DataFrame({"id": ["x1", "x2"]}).select(seeded_key("id", seed="s", purpose="ties"))
    assert keys.to_series().to_list() == KEYS


def test_keys_depend_on_seed_and_purpose() -> None:
    frame = pl.DataFrame({"id": ["a"]})
    keys = {
        frame.select(seeded_key("id", seed=seed, purpose=purpose)).item()
        for seed in ("1", "2")
        for purpose in ("ties", "sample")
    }
    assert len(keys) == 4


def test_keys_are_spread_evenly() -> None:
    ids = pl.DataFrame({"id": [f"x{i}" for i in range(20_000)]})
    share = ids.select(seeded_key("id", seed="s", purpose="t") / 2**63).to_series()
    counts = (share * 20).floor().value_counts()["count"]
    assert share.is_between(0, 1).all()
    assert ((counts - 1000) ** 2 / 1000).sum() < 43.8  # chi-squared, 19 df, p = .001


KEYS = [4317032463626926536, 323208699240356008]


def test_generators_are_fixed_by_seed_and_purpose() -> None:
    # PCG64's stream is part of its definition
    first = seeded_generator(seed="s", purpose="p").integers(0, 2**63, 3).tolist()
    assert first == seeded_generator(seed="s", purpose="p").integers(0, 2**63, 3).tolist()
    others = [("t", "p"), ("s", "q"), ("sp", "")]
    streams = [
        seeded_generator(seed=s, purpose=p).integers(0, 2**63, 3).tolist() for s, p in others
    ]
    assert first not in streams


def ids(count: int) -> pl.DataFrame:
    return pl.DataFrame({"id": [f"x{i}" for i in range(count)]}, schema={"id": pl.String})


@given(population=st.integers(0, 60), size=st.integers(0, 80), seed=st.text(max_size=5))
def test_samples_without_replacement_are_valid_and_nested(
    population: int, size: int, seed: str
) -> None:
    sample = without_replacement(ids(population), size=size, seed=seed)
    validate([sample], Sample, name="sample")
    assert sample.height == sample["id"].n_unique() == min(size, population)
    assert sample["position"].to_list() == list(range(1, sample.height + 1))
    assert sample["pi"].sum() * population == pytest.approx(sample.height**2)
    more = without_replacement(ids(population).reverse(), size=size + 5, seed=seed)
    assert more["id"].head(sample.height).equals(sample["id"])


@given(population=st.integers(0, 30), size=st.integers(1, 80), seed=st.text(max_size=5))
def test_samples_with_replacement_are_valid_and_nested(
    population: int, size: int, seed: str
) -> None:
    sample = with_replacement(ids(population), size=size, seed=seed)
    validate([sample], Sample, name="sample")
    assert sample["multiplicity"].sum() == (size if population else 0)
    assert sample["id"].n_unique() == sample.height
    more = with_replacement(ids(population).reverse(), size=size + 5, seed=seed)
    assert more["id"].head(sample.height).equals(sample["id"])


@pytest.mark.long
@pytest.mark.parametrize("draw", [without_replacement, with_replacement])
def test_every_candidate_has_the_same_chance(draw: object) -> None:
    """2,000 samples of 4 out of 20: each candidate about 400 times."""
    sample = pl.concat(draw(ids(20), size=4, seed=str(i)) for i in range(2000))
    counts = sample.group_by("id").agg(pl.sum("multiplicity"))["multiplicity"]
    assert counts.len() == 20
    assert ((counts - 400) ** 2 / 400).sum() < 43.8  # chi-squared, 19 df, p = .001


@pytest.mark.long
def test_pairs_are_drawn_together_with_their_chance() -> None:
    """Without replacement two given candidates of 10 are both among 4 in 2/15 of samples."""
    both = sum(
        {"x0", "x1"} <= set(without_replacement(ids(10), size=4, seed=str(i))["id"])
        for i in range(3000)
    )
    assert abs(both - 400) < 3.3 * (3000 * 2 / 15 * 13 / 15) ** 0.5


def test_sample_sizes_follow_the_rate() -> None:
    assert [sample_size(n, rate=0.1) for n in (0, 1, 4, 5102, 14654)] == [0, 1, 1, 510, 1465]


# Samples agree with slow twins, and are the same from a table on disk.


def by_key(every: pl.DataFrame, seed: str) -> list[str]:
    keys = every.select(seeded_key("id", seed=seed, purpose="sample")).to_series()
    return [name for _, name in sorted(zip(keys, every["id"], strict=True))]


@given(population=st.integers(0, 60), size=st.integers(1, 80), seed=st.text(max_size=3))
def test_the_smallest_keys_are_drawn(population: int, size: int, seed: str) -> None:
    sample = without_replacement(ids(population).lazy(), size=size, seed=seed)
    assert sample["id"].to_list() == by_key(ids(population), seed)[:size]


@given(population=st.integers(1, 60), size=st.integers(1, 80), seed=st.text(max_size=3))
def test_draws_with_replacement_follow_the_order_of_keys(
    population: int, size: int, seed: str
) -> None:
    ordered = by_key(ids(population), seed)
    draws = pl.DataFrame({"draw": [str(n) for n in range(size)]})
    numbers = draws.select(seeded_key("draw", seed=seed, purpose="draws")).to_series()
    times = Counter(ordered[number % population] for number in numbers)
    sample = with_replacement(ids(population).lazy(), size=size, seed=seed)
    assert sample.select("id", "multiplicity").rows() == list(times.items())


@pytest.mark.parametrize("draw", [without_replacement, with_replacement])
def test_samples_of_a_table_on_disk_are_the_same(
    draw: Callable[..., pl.DataFrame], tmp_path: Path
) -> None:
    every = ids(500)
    every.write_parquet(tmp_path / "ids.parquet", row_group_size=50)
    with memory.with_limit(1):
        sample = draw(pl.scan_parquet(tmp_path / "ids.parquet"), size=40, seed="s")
    assert sample.equals(draw(every, size=40, seed="s"))
