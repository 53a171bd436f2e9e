"""Labels never overlap, and move no further than they must."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.charts.style import rows, spread

places = st.lists(st.floats(0, 340), min_size=1, max_size=12)


@given(places)
def test_labels_keep_their_distance_and_stay_inside(wanted: list[float]) -> None:
    placed = sorted(spread(wanted, gap=15.0, low=0.0, high=340.0))
    assert min(placed) >= -1e-9
    assert max(placed) <= 340 + 1e-9
    assert all(b - a >= 15 - 1e-9 for a, b in itertools.pairwise(placed))


@given(places)
def test_order_is_kept(wanted: list[float]) -> None:
    placed = spread(wanted, gap=15.0, low=0.0, high=340.0)
    by_wish = sorted(range(len(wanted)), key=lambda i: wanted[i])
    assert by_wish == sorted(range(len(wanted)), key=lambda i: placed[i])


def test_labels_that_fit_stay() -> None:
    assert spread([40.0, 10.0, 25.0], gap=15.0, low=0.0, high=50.0) == [40.0, 10.0, 25.0]


def test_a_crowd_is_centred_on_its_mean() -> None:
    assert spread([100.0, 100.0, 103.0], gap=10.0, low=0.0, high=340.0) == [91.0, 101.0, 111.0]


@given(st.lists(st.floats(100, 140), min_size=2, max_size=5))
def test_no_single_move_brings_labels_nearer(wanted: list[float]) -> None:
    """Where no bound matters, moving any group by a little costs more than it gains."""
    placed = spread(wanted, gap=10.0, low=-1000.0, high=1000.0)

    def cost(positions: list[float]) -> float:
        return sum((a - b) ** 2 for a, b in zip(positions, wanted, strict=True))

    order = sorted(range(len(wanted)), key=lambda i: placed[i])
    for start, end in itertools.combinations(range(len(order) + 1), 2):
        for step in (-0.01, 0.01):
            moved = list(placed)
            for i in order[start:end]:
                moved[i] += step
            apart = sorted(moved)
            if all(b - a >= 10 - 1e-9 for a, b in itertools.pairwise(apart)):
                assert cost(moved) >= cost(placed) - 1e-9


def test_the_gap_shrinks_when_there_is_no_room() -> None:
    placed = spread([5.0] * 5, gap=15.0, low=0.0, high=40.0)
    assert placed == pytest.approx([0.0, 10.0, 20.0, 30.0, 40.0])


def test_no_label() -> None:
    assert spread([], gap=15.0, low=0.0, high=40.0) == []


@given(st.lists(st.tuples(st.floats(0, 500), st.floats(1, 80)), max_size=12))
def test_labels_of_a_row_do_not_touch(labels: list[tuple[float, float]]) -> None:
    labels = sorted(labels)
    given_rows = rows([x for x, _ in labels], [width for _, width in labels])
    for one, two in itertools.combinations(range(len(labels)), 2):
        if given_rows[one] is not None and given_rows[one] == given_rows[two]:
            (x, width), (x2, width2) = labels[one], labels[two]
            assert x + width / 2 <= x2 - width2 / 2 + 1e-9


def test_what_fits_nowhere_is_left_out() -> None:
    assert rows([0, 1, 2, 3], [10, 10, 10, 10]) == [0, 1, 2, None]
