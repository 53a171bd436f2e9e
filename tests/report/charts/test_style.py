"""Labels never overlap, and move no further than necessary."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.measure import MEASURES
from pipeline.report.charts import Look
from pipeline.report.charts.style import (
    COLOURS,
    DARK,
    DASHES,
    FIXED,
    KINDS,
    NAMED,
    NIGHT,
    PAPER,
    by_place,
    label_rows,
    slots,
    spread_labels,
    strokes,
)

places = st.lists(st.floats(0, 340), min_size=1, max_size=12)


@given(places)
def test_labels_keep_their_distance_and_are_inside_the_range(heights: list[float]) -> None:
    placed = sorted(spread_labels(heights, gap=15.0, low=0.0, high=340.0))
    assert min(placed) >= -1e-9
    assert max(placed) <= 340 + 1e-9
    assert all(b - a >= 15 - 1e-9 for a, b in itertools.pairwise(placed))


@given(places)
def test_the_order_of_labels_is_kept(heights: list[float]) -> None:
    placed = spread_labels(heights, gap=15.0, low=0.0, high=340.0)
    by_wish = sorted(range(len(heights)), key=lambda i: heights[i])
    assert by_wish == sorted(range(len(heights)), key=lambda i: placed[i])


def test_labels_that_fit_do_not_move() -> None:
    assert spread_labels([40.0, 10.0, 25.0], gap=15.0, low=0.0, high=50.0) == [40.0, 10.0, 25.0]


def test_crowded_labels_are_centred_on_their_mean() -> None:
    assert spread_labels([100.0, 100.0, 103.0], gap=10.0, low=0.0, high=340.0) == [
        91.0,
        101.0,
        111.0,
    ]


@given(st.lists(st.floats(100, 140), min_size=2, max_size=5))
def test_no_single_move_brings_labels_nearer(heights: list[float]) -> None:
    """Without bounds, moving any group by a little costs more than it gains."""
    placed = spread_labels(heights, gap=10.0, low=-1000.0, high=1000.0)

    def cost(positions: list[float]) -> float:
        return sum((a - b) ** 2 for a, b in zip(positions, heights, strict=True))

    order = sorted(range(len(heights)), key=lambda i: placed[i])
    for start, end in itertools.combinations(range(len(order) + 1), 2):
        for step in (-0.01, 0.01):
            moved = list(placed)
            for i in order[start:end]:
                moved[i] += step
            apart = sorted(moved)
            if all(b - a >= 10 - 1e-9 for a, b in itertools.pairwise(apart)):
                assert cost(moved) >= cost(placed) - 1e-9


def test_the_gap_shrinks_when_there_is_no_room() -> None:
    placed = spread_labels([5.0] * 5, gap=15.0, low=0.0, high=40.0)
    assert placed == pytest.approx([0.0, 10.0, 20.0, 30.0, 40.0])


def test_no_labels_are_spread_to_none() -> None:
    assert spread_labels([], gap=15.0, low=0.0, high=40.0) == []


@given(st.lists(st.tuples(st.floats(0, 500), st.floats(1, 80)), max_size=12))
def test_labels_in_the_same_row_do_not_touch(labels: list[tuple[float, float]]) -> None:
    labels = sorted(labels)
    given_rows = label_rows([x for x, _ in labels], [width for _, width in labels])
    for one, two in itertools.combinations(range(len(labels)), 2):
        if given_rows[one] is not None and given_rows[one] == given_rows[two]:
            (x, width), (x2, width2) = labels[one], labels[two]
            assert x + width / 2 <= x2 - width2 / 2 + 1e-9


def test_labels_that_fit_in_no_row_are_omitted() -> None:
    assert label_rows([0, 1, 2, 3], [10, 10, 10, 10]) == [0, 1, 2, None]


# Colours and dashes of names: fixed, distinct, and readable by everybody.

NAMES = st.lists(st.text(max_size=12), max_size=len(NAMED) * KINDS, unique=True)


@given(NAMES, st.randoms())
def test_colours_do_not_depend_on_the_order_of_names(names: list[str], random: object) -> None:
    mixed = list(names)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert slots(names) == slots(mixed)


@given(NAMES)
def test_all_names_have_different_strokes(names: list[str]) -> None:
    assert len(set(slots(names).values())) == len(names)
    for style in ("screen", "print"):
        look = Look(style=style, slots=slots(names))
        assert len(set(strokes(names, look).values())) == len(names)


@given(st.lists(st.text(max_size=12), max_size=len(NAMED), unique=True))
def test_seven_names_have_seven_colours(names: list[str]) -> None:
    others = [name for name in names if name not in FIXED]
    assert len({slot.colour for slot in slots(others).values()}) == len(others)


@given(st.sets(st.sampled_from(sorted(FIXED))), st.sets(st.text(max_size=5), max_size=5))
def test_common_measures_always_keep_their_colours(measures: set[str], others: set[str]) -> None:
    assigned = slots([*measures, *others])
    assert all(assigned[name] == FIXED[name] for name in measures)


def test_variants_of_a_measure_share_a_colour() -> None:
    assigned = slots(["chi_squared", "chi_squared_corr", "log_likelihood", "t_score", "mi"])
    assert assigned["chi_squared"].colour == assigned["chi_squared_corr"].colour
    assert len({slot.colour for slot in assigned.values()}) == 4


def test_measures_of_keywords_have_six_colours() -> None:
    measures = ["keyness_ll", "chi_squared", "log_ratio", "lrc", "percent_diff", "odds_ratio_disc"]
    names = {NAMED[slot.colour] for slot in slots(measures).values()}
    assert len(names) == len(measures)
    assert not {"blue", "sky"} <= names  # too near


def test_fixed_names_are_measures_with_distinct_places() -> None:
    assert set(FIXED) - {"combination"} <= set(MEASURES)
    assert len(set(FIXED.values())) == len(FIXED)


def test_a_pinned_name_has_its_colour() -> None:
    assigned = slots(["mi", "mine", "yours"], {"mine": "green", "yours": "green"})
    assert {assigned[name].colour for name in ("mi", "mine", "yours")} == {NAMED.index("green")}
    assert len(set(assigned.values())) == 3


def test_a_name_unknown_to_the_report_has_a_free_stroke() -> None:
    look = Look(slots=slots(["a", "b"]))
    assigned = strokes(["a", "b", "c"], look)
    assert len(set(assigned.values())) == 3
    assert assigned["a"] == strokes(["a"], look)["a"]


def test_more_names_than_strokes_can_be_drawn() -> None:
    names = [f"m{i}" for i in range(len(NAMED) * KINDS + 5)]
    assert set(slots(names)) == set(names)


@pytest.mark.parametrize("style", ["screen", "print"])
def test_unnamed_lines_have_strokes_by_their_place(style: str) -> None:
    names = [f"n = {i}" for i in range(len(NAMED) * KINDS)]
    look = Look(style=style)  # type: ignore[arg-type]
    assert len(set(by_place(names, look).values())) == len(names)


def test_the_first_strokes_differ_in_dashes() -> None:
    first = by_place([str(i) for i in range(len(NAMED))], Look())
    assert len({stroke.dash for stroke in first.values()}) == len(NAMED) == len(DASHES)


def _linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _contrast(one: str, other: str) -> float:
    light, dark = sorted(
        (float(_linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (one, other)), reverse=True
    )
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", NAMED)
def test_colours_have_contrast_on_light_and_dark_pages(name: str) -> None:
    light, dark = COLOURS[name]
    assert _contrast(light, PAPER) >= 3
    assert _contrast(dark, NIGHT) >= 3
    assert DARK[light] == dark


VISION = {
    "all": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                 [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.3039]],
}  # fmt: skip
"""Linear red, green and blue as seen by colour-blind readers (Machado et al. 2009)."""


def _lab(colour: str, eyes: str) -> np.ndarray:
    perceived_colour = np.clip(np.array(VISION[eyes]) @ _linear(colour), 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ perceived_colour / np.array([0.9505, 1, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("eyes", VISION)
def test_any_two_colours_differ_for_colour_blind_readers(eyes: str) -> None:
    for theme in (0, 1):
        every = [pair[theme] for pair in COLOURS.values()]
        for one, other in itertools.combinations(every, 2):
            assert np.linalg.norm(_lab(one, eyes) - _lab(other, eyes)) > 12, (one, other)
