"""Many samples at once, simple or designed, and sums over their members."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import polars as pl

from coverage_parts.populations import MEASURES, PAIRS, Population, cuts_of, population
from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.survey.allocation import build_estimands, question_sets
from pipeline.kernels.survey.design import declared_questions, design_sample, inclusion

FLOOR, BASELINE_WIDTH = 0.05, 1.25
"""As the stage `sample.design` has them."""
DESIGNS = ("simple", "designed")
LATER = (100,)
"""List sizes of the design "later", of which all others are asked afterwards."""


def numbers(candidates: int, first: int, samples: int) -> FloatArray:
    """Return the permanent random numbers of samples first, first + 1, ..., a row for each.

    The number of a sample is its seed, so that results do not hang on how samples are batched.
    """
    seeds = range(first, first + samples)
    return np.stack([np.random.default_rng([2005, seed]).random(candidates) for seed in seeds])


def draw_samples(pi: FloatArray, u: FloatArray, *, size: int) -> BoolArray:
    """Tell who is drawn by sequential Poisson sampling, shape (samples, candidates).

    `pipeline.kernels.survey.design.sequential_poisson` for many samples.
    """
    keys = np.where(pi < 1.0, u / np.where(pi > 0.0, pi, np.nan), -1.0)
    keys = np.where(np.isnan(keys), np.inf, keys)
    places = np.argpartition(keys, size - 1, axis=1)[:, :size] if size < len(pi) else None
    sample = np.zeros(u.shape, dtype=np.bool_)
    if places is None:
        return np.broadcast_to(pi > 0.0, u.shape).copy()
    np.put_along_axis(sample, places, values=True, axis=1)
    return sample & (pi > 0.0)


@lru_cache(maxsize=16)
def size_measures(name: str, design: str) -> FloatArray:
    """Return the size measures x of a design for lists, differences and the baseline."""
    everyone = population(name)
    if design == "simple":
        return np.ones(everyone.size)
    at = LATER if design == "later" else cuts_of(everyone)
    return questions_measure(everyone, measures=MEASURES, pairs=PAIRS, at=at)


def questions_measure(
    everyone: Population,
    *,
    measures: tuple[str, ...],
    pairs: tuple[tuple[str, str], ...],
    at: tuple[int, ...],
    weights: dict[str, float] | None = None,
    floor: float = FLOOR,
) -> FloatArray:
    """Return the size measures of a sample for these questions, by the kernel of the stage."""
    vectors = {name: everyone.of(name) for name in measures}
    questions = declared_questions(
        measures=measures, pairs=pairs, at=at, candidates=everyone.size, weights=weights or {}
    )
    sets = question_sets(everyone.ids, vectors, pairs=pairs, n=np.array(at))
    nobody = np.zeros(everyone.size, dtype=np.bool_)
    sample = design_sample(
        build_estimands(sets, p=np.full(everyone.size, 0.5), judged=nobody),
        questions, sizes=[1], floor=floor, baseline_width=BASELINE_WIDTH, confidence=0.95,
        seed="coverage",
    )  # fmt: skip
    by_id = everyone.ids.rename("id").to_frame()
    table = by_id.join(sample.inclusion, on="id", how="left", maintain_order="left")
    return table["size_measure"].cast(pl.Float64).to_numpy()


def chances(name: str, design: str, size: int) -> FloatArray:
    """Return the inclusion probabilities of a design at a size."""
    return inclusion(size_measures(name, design), size=size)
