"""Classes of similar chances: by hand, an independent twin, questions asked after the design."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.survey.study import (
    CLASS_DRAWS,
    add_classes,
    build_study,
    chance_classes,
    merge_classes,
)
from pipeline.kernels.survey.tables import list_estimates, pair_estimates


@pytest.mark.parametrize(
    ("pi", "expected"),
    [
        ([], []),
        ([1.0, 0.0, np.nan], [0, 0, 0]),
        ([0.9, 0.3, 0.29, 0.1, 1e-9], [0, 1, 1, 2, 5]),
        ([0.9, 0.09, 0.09, np.nan], [0, 2, 2, 2]),
    ],
)
def test_classes_of_chances_agree_with_those_by_hand(pi: list[float], expected: list[int]) -> None:
    assert chance_classes(np.array(pi)).tolist() == expected


@pytest.mark.parametrize(
    ("sizes", "draws", "into", "factor"),
    [
        ([10, 20, 30], [5, 5, 5], [0, 1, 2], 1.0),  # all have enough
        ([10, 20, 30], [9, 1, 5], [0, 0, 2], 1.0),  # a neighbour with three times the chance
        ([10, 20, 30], [1, 1, 1], [0, 0, 0], 1.0),  # few draws of all kinds
        ([30, 0, 10], [1, 0, 9], [2, 1, 2], 1.0),  # no candidate with larger chances
        ([10, 20, 300], [9, 1, 2], [0, 0, 0], 2.0),  # most of the set has two draws
        ([10, 20, 300], [9, 3, 2], [0, 1, 1], 1.0),  # five with its neighbour
        ([100, 0, 2], [30, 0, 0.1], [0, 1, 0], 1.0),  # a small part
        ([100, 0, 9], [30, 0, 0.1], [0, 1, 0], 40.0),
    ],
)
def test_merged_classes_agree_with_those_by_hand(
    sizes: list[float], draws: list[float], into: list[int], factor: float
) -> None:
    merged = merge_classes(np.array(sizes, dtype=float), np.array(draws, dtype=float))
    assert merged.into.tolist() == into
    assert float(merged.factor) == pytest.approx(factor)


_CLASSES = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 9.0, 80.0, 700.0]), st.floats(0.0005, 0.5)),
    min_size=1, max_size=6,
)  # fmt: skip


@given(_CLASSES)
def test_merged_classes_have_enough_draws_and_lose_nothing(
    classes: list[tuple[float, float]],
) -> None:
    sizes = np.array([size for size, _ in classes])
    draws = sizes * np.array([chance for _, chance in classes])
    merged = merge_classes(sizes, draws)
    both = add_classes(np.stack([sizes, draws])[..., None], merged.into)[..., 0]
    assert both.sum(axis=1) == pytest.approx([sizes.sum(), draws.sum()])
    remaining = both[1][both[0] > 0]
    assert len(remaining) <= 1 or (remaining >= CLASS_DRAWS - 1e-9).all()
    twin = np.zeros((2, len(sizes)))
    for at, target in enumerate(merged.into):
        twin[:, target] += [sizes[at], draws[at]]
    assert both == pytest.approx(twin)


def _later_question(low: int, *, labels: float) -> tuple[pl.DataFrame, pl.DataFrame, FloatArray]:
    """A list of 500 with 100 candidates of large chances, and another without them."""
    ids = [f"{place:04d}" for place in range(1000)]
    pi = np.where(np.arange(1000) < 100, 0.8, labels / 900)
    ranks = pl.DataFrame({
        "measure": ["mi"] * 1000 + ["dice"] * 1000, "id": ids * 2,
        "rank": [*range(1, 1001), *range(1000, 0, -1)],
    })  # fmt: skip
    indices = [*range(80), *range(100, 100 + low)]
    draws = pl.DataFrame({
        "id": [ids[place] for place in indices], "tp": [place < 40 for place in indices],
        "pi": pi[indices],
    })  # fmt: skip
    return ranks, draws, pi


def test_lists_with_few_expected_draws_have_no_estimate() -> None:
    """80 of 100 were judged, and 0.9 draws were expected among the other 400."""
    ranks, draws, pi = _later_question(0, labels=2.0)
    candidates = ranks.filter(measure="mi").select("id").with_columns(pi=pl.Series(pi))
    study = build_study(ranks, draws, candidates=candidates)
    first, later = list_estimates(study, at=[100, 500]).filter(measure="mi").rows(named=True)
    assert (first["estimate"], first["labels_needed"]) == (0.5, None)
    assert later["estimate"] is None
    assert later["labels_needed"] == int(np.ceil(80 * CLASS_DRAWS / (400 * 2 / 900)))
    assert later["lower"] == pytest.approx(40 / 500)  # the judged candidates are known
    assert later["upper"] == pytest.approx(460 / 500)
    pair = pair_estimates(study, pairs=[("mi", "dice")], at=[500]).row(0, named=True)
    assert (pair["difference"], pair["p_value"]) == (None, None)
    assert pair["labels_needed"] == later["labels_needed"]


def test_known_sizes_are_used_with_enough_draws() -> None:
    """Half of 100 and none of 400 are true: 0.1, whatever numbers were drawn."""
    ranks, draws, pi = _later_question(20, labels=36.0)
    candidates = ranks.filter(measure="mi").select("id").with_columns(pi=pl.Series(pi))
    estimates = list_estimates(build_study(ranks, draws, candidates=candidates), at=[500])
    row = estimates.filter(measure="mi").row(0, named=True)
    assert row["estimate"] == pytest.approx(0.1)
    assert row["labels_needed"] is None
    unknown = list_estimates(build_study(ranks, draws), at=[500]).filter(measure="mi")
    assert unknown["estimate"].item() == pytest.approx(50 / (100 + 20 * 900 / 36))
