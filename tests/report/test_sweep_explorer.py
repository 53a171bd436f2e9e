"""All estimates of a sweep in its page: two bytes each, of every table with estimates."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from pipeline.report import sweep_explorer
from pipeline.report.charts.style import Slot
from pipeline.report.page.model import Paragraph, SweepControls
from pipeline.report.sweep_explorer import (
    NOTHING,
    Axis,
    Quantity,
    axis_of,
    controls,
    distinct,
    quantise,
    read_quantity,
    round_values,
)
from pipeline.report.sweep_page import CollectedTable, SweepInput, sweep_page
from schemas import AveragePrecision, Precision, Table, TypeLevel

HOSTILE = "</script><img/src=x/onerror=alert(1)>"
FINITE = st.floats(-1e12, 1e12, allow_subnormal=False)


def dequantise(codes: npt.NDArray[np.uint16], low: float, step: float) -> npt.NDArray[np.float64]:
    """Convert codes to numbers, as the page does."""
    return np.where(codes == NOTHING, np.nan, low + codes * step)


@given(st.lists(FINITE | st.sampled_from([math.nan, math.inf, -math.inf]), max_size=40))
def test_a_number_is_rounded_by_half_a_step_at_most(values: list[float]) -> None:
    numbers = np.array(values, float)
    codes, low, step = quantise(numbers)
    result = dequantise(codes, low, step)
    known = np.isfinite(numbers)
    assert np.isnan(result[~known]).all()
    near = np.abs(result[known] - numbers[known])
    assert (near <= step / 2 * (1 + 1e-9) + 1e-12 * np.abs(numbers[known])).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_a_share_is_rounded_by_under_a_thousandth_of_a_point(values: list[float]) -> None:
    numbers = np.array(values)
    assert (100 * np.abs(dequantise(*quantise(numbers)) - numbers) < 0.001).all()


def test_equal_numbers_have_the_code_0() -> None:
    codes, low, step = quantise(np.array([0.3, 0.3]))
    assert (codes.tolist(), low, step) == ([0, 0], 0.3, 0.0)


@given(st.lists(st.sampled_from(["1", "1 (2)", "a", ""]), max_size=12))
def test_equal_texts_become_distinct(texts: list[str]) -> None:
    result = distinct(texts)
    assert len(set(result)) == len(texts)
    assert [result[texts.index(text)] for text in texts] == texts


@given(st.lists(st.integers(1, 10_000), min_size=1, unique=True).map(sorted), st.integers(1, 50))
def test_the_number_of_values_of_n_is_limited(values: list[int], most: int) -> None:
    result = round_values(values, most=most)
    assert 1 <= len(result) <= most
    assert set(result) <= set(values)
    assert len(values) > most or result == values


@pytest.mark.parametrize("most", [1, 3, 8, 40])
def test_values_of_n_are_round(most: int) -> None:
    result = round_values(range(1, 3686), most=most)
    steps = {high - low for low, high in pairwise(result)}
    assert len(steps) <= 1
    assert all(step in {f * 10**p for f in (1, 2, 5) for p in range(5)} for step in steps)


# Pages, read in the way of their scripts

Content = tuple[dict[str, Any], list[list[int]], list[npt.NDArray[np.float64]]]


def page(
    points: list[dict[str, Any]],
    tables: list[pl.DataFrame],
    model: type[Table] = Precision,
    **further: Any,
) -> str:
    """Return the page of a sweep with one table, from its rows at each point."""
    stacked = [
        table.select(*[pl.lit(str(value)).alias(path) for path, value in point.items()], pl.all())
        for point, table in zip(points, tables, strict=True)
    ]
    collected = CollectedTable("sampled.cuts", "Precision", stacked, model)
    findings: list[list[Any]] = [[] for _ in points]
    result = SweepInput(
        title="T", points=points, findings=findings, collected=[collected], **further
    )
    return sweep_page(result)["index.html"].decode()


def content(html: str) -> Content:
    """Return the head of the controls, the places of all points, and the numbers."""
    head_text, packed = (
        re.search(rf'id="sweep-{name}">(.*?)</script>', html, re.DOTALL).group(1)  # type: ignore[union-attr]
        for name in ("head", "numbers")
    )
    head = json.loads(head_text)
    left = gzip.decompress(base64.b64decode(packed))

    def planes(count: int) -> npt.NDArray[np.uint16]:
        nonlocal left
        plane = np.frombuffer(left[: 2 * count], np.uint8).astype(np.uint16)
        left = left[2 * count :]
        return plane[:count] + 256 * plane[count:]

    points = head["points"]
    places = planes(points * len(head["settings"])).reshape(-1, points).T.tolist()
    numbers = []
    for each in head["quantities"]:
        shape = (3 if each["limits"] else 1, points, *(len(a["texts"]) for a in each["axes"]))
        codes = planes(math.prod(shape)).reshape(shape)
        numbers.append(dequantise(codes, each["low"], each["step"]))
    assert left == b""
    return head, places, numbers


def grid(**over: list[Any]) -> list[dict[str, Any]]:
    return [dict(zip(over, values, strict=True)) for values in product(*over.values())]


def table(
    number: float, ns: tuple[int, ...] = (10, 20), measures: tuple[str, ...] = ("mi", "dice")
) -> pl.DataFrame:
    """Return precisions that differ between measures, n and points."""
    rows = [
        ("TP", name, n, number + place / 10 + n / 1000)
        for place, name in enumerate(measures)
        for n in ns
    ]
    frame = pl.DataFrame(rows, ["category", "measure", "n", "precision"], orient="row")
    e = pl.col("precision")
    return frame.with_columns(lower=e - 0.05, upper=e + 0.05)


def test_the_page_has_every_estimate_of_every_point() -> None:
    points = grid(rate=[0.1, 0.2, 0.5], seed=["a", "b"])
    tables = [table(place / 20) for place in range(6)]
    head, places, (numbers,) = content(page(points, tables))
    assert [each["name"] for each in head["settings"]] == ["rate", "seed"]
    assert head["settings"][0]["numbers"] == [0.1, 0.2, 0.5]
    assert places == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    (quantity,) = head["quantities"]
    assert (quantity["name"], quantity["share"], quantity["limits"]) == ("precision", True, True)
    axes = [(each["name"], each["texts"]) for each in quantity["axes"]]
    assert axes == [("category", ["TP"]), ("measure", ["MI", "Dice"]), ("n", ["10", "20"])]
    assert quantity["z"] == pytest.approx(1.959964, abs=1e-6)
    for point, place, n in product(range(6), range(2), range(2)):
        truth = point / 20 + place / 10 + (10, 20)[n] / 1000
        result = numbers[:, point, 0, place, n]
        assert result == pytest.approx([truth, truth - 0.05, truth + 0.05], abs=1e-5)


def test_measures_have_the_colours_of_the_page() -> None:
    slots = {"mi": Slot(2, 0), "dice": Slot(5, 0)}
    head, _, _ = content(page(grid(rate=[1, 2]), [table(0), table(0)], slots=slots))
    assert head["quantities"][0]["axes"][1]["slots"] == [[2, 0], [5, 0]]


def test_a_point_without_rows_or_with_other_columns_has_no_estimates() -> None:
    tables = [table(0), table(0).clear(), table(0).drop("precision")]
    _, _, (numbers,) = content(page(grid(rate=[1, 2, 3]), tables))
    assert np.isfinite(numbers[:, 0]).all()
    assert np.isnan(numbers[:, 1:]).all()


def test_a_curve_is_thinned_to_round_values_of_n() -> None:
    head, _, (numbers,) = content(page(grid(rate=[1, 2]), [table(0, tuple(range(1, 401)))] * 2))
    assert head["quantities"][0]["axes"][2]["texts"] == [str(n) for n in range(10, 401, 10)]
    assert numbers[0, 0, 0, 0, 3] == pytest.approx(0.04, abs=1e-5)


def test_average_precision_has_its_confidence() -> None:
    frame = table(0, (1,)).drop("n").rename({"precision": "average_precision"})
    frame = frame.with_columns(confidence=pl.lit(0.9))
    html = page(grid(rate=[1, 2]), [frame, frame], AveragePrecision)
    (quantity,) = content(html)[0]["quantities"]
    assert (quantity["name"], quantity["confidence"]) == ("average precision", 0.9)
    assert "Average precision with limits against rate" in html.replace("\xa0", " ")


def test_further_estimates_of_a_table_have_no_limits() -> None:
    frame = table(0).with_columns(recall=pl.lit(0.5))
    head, _, numbers = content(page(grid(rate=[1, 2]), [frame, frame]))
    limits_by_name = [(each["name"], each["limits"]) for each in head["quantities"]]
    assert limits_by_name == [("precision", True), ("recall", False)]
    assert numbers[1].shape == (1, 2, 1, 2, 2)
    assert (numbers[1] == 0.5).all()


def test_runs_are_an_axis() -> None:
    rows = [("a", run, "MicroI", "1-1", 0.5) for run in ("1", "2")]
    names = ["system", "run", "measure", "mapping", "value"]
    frame = pl.DataFrame(rows, names, orient="row")
    (quantity,) = content(page(grid(k=[1, 2]), [frame] * 2, TypeLevel))[0]["quantities"]
    assert [len(each["texts"]) for each in quantity["axes"]] == [1, 2, 1, 1]
    assert not quantity["limits"]


# Degenerate sweeps

NONE = 'id="sweep-head"'


def test_a_single_point_may_have_several_lists() -> None:
    head, places, (numbers,) = content(page(grid(rate=[1]), [table(0)]))
    assert (head["settings"], places) == ([], [[]])
    assert numbers.shape == (3, 1, 1, 2, 2)


@pytest.mark.parametrize(
    ("points", "tables"),
    [
        pytest.param(1, [table(0, (10,), ("mi",))], id="one estimate"),
        pytest.param(2, [table(0).with_columns(
            precision=pl.lit(None, pl.Float64))] * 2, id="all null"),
        pytest.param(2, [table(0).clear()] * 2, id="no rows"),
        pytest.param(2, [table(0).drop("precision")] * 2, id="no estimate"),
    ],
)  # fmt: skip
def test_with_fewer_than_two_estimates_there_are_no_controls(
    points: int, tables: list[pl.DataFrame]
) -> None:
    html = page(grid(rate=list(range(points))), tables)
    assert NONE not in html
    assert "at most" not in html


def test_a_single_measure_and_list_without_limits_is_packed() -> None:
    frames = [table(number / 10, (10,), ("mi",)).drop("lower", "upper") for number in range(3)]
    rows = {"system": "a", "run": "1", "measure": "MicroI", "mapping": "1-1"}
    frames = [
        pl.DataFrame({**{k: [v] for k, v in rows.items()}, "value": frame["precision"]})
        for frame in frames
    ]
    _, _, (numbers,) = content(page(grid(k=[1, 2, 3]), frames, TypeLevel))
    assert numbers.ravel() == pytest.approx([0.01, 0.11, 0.21], abs=1e-5)


def test_settings_may_be_lists_tables_and_long_texts() -> None:
    values: list[Any] = [["mi", "dice"], ["mi"], {"TP": ["yes"]}, "1", 1, None, True, "x" * 90]
    values += [*range(100, 160), "x" * 95]
    head, places, _ = content(page(grid(setting=values), [table(0)] * len(values)))
    (setting,) = head["settings"]
    texts = setting["texts"]
    assert texts[:7] == ["mi, dice", "mi", '{"TP": ["yes"]}', "1", "1 (2)", "null", "yes"]
    assert len(set(texts)) == len(values)
    assert places == [[place] for place in range(len(values))]
    assert "numbers" not in setting


def test_points_with_names_are_shown_by_name() -> None:
    points = [{"point": f"EWT, span {n}", "stages.pairs.span": n} for n in (1, 5)]
    html = page(points, [table(0), table(0.1)])
    head, _, _ = content(html)
    assert head["settings"][0]["texts"] == ["EWT, span 1", "EWT, span 5"]
    assert not head["complete"]
    sentence = "2 points with different values of point: EWT, span 1 and EWT, span 5; span of pairs"
    assert sentence in html.replace("\xa0", " ")


def test_hostile_names_are_escaped() -> None:
    points = grid(**{HOSTILE: [HOSTILE, "b"]})
    html = page(points, [table(0, measures=(HOSTILE, "mi"))] * 2, failed=[(HOSTILE, HOSTILE)])
    assert "<img" not in re.sub(r'<img class="still"', "", html)
    head, _, _ = content(html)
    assert head["quantities"][0]["axes"][1]["texts"][0] == HOSTILE


def test_too_many_estimates_are_counted_and_omitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweep_explorer, "MOST_NUMBERS", 10)
    html = page(grid(rate=[1, 2]), [table(0)] * 2).replace("\xa0", " ")
    assert NONE not in html
    assert (
        "The page holds at most 10 estimates and limits. The controls omit precision of Precision"
        " (24 numbers); the files have all rows."
    ) in html
    assert 'data-figure="sampled-cuts-panels"' in html


def test_a_curve_has_as_many_values_of_n_as_fit() -> None:
    frames = [table(0, tuple(range(1, 101)))] * 2
    result = read_quantity(
        frames, value="precision", limits=["lower", "upper"], keys=["measure", "n"], most=100
    )
    assert not isinstance(result, int)
    values, numbers = result
    assert values["n"] == [20, 40, 60, 80, 100]
    assert numbers.size == 60


def test_ten_thousand_points_of_eighty_measures_fit() -> None:
    """The estimates are random, so that compression does not make them smaller."""
    random = np.random.default_rng(3)
    measures = axis_of("measure", [f"m{n}" for n in range(80)], {}, has_colours=True)
    seeds = Axis("setting:seed", "seed", tuple(map(str, range(10_000))))
    quantity = Quantity(
        name="precision", table="Precision", is_share=True, axes=(measures,),
        numbers=random.random((3, 10_000, 80)),
    )  # fmt: skip
    (part,) = controls([seeds], np.arange(10_000)[:, None], [quantity], omitted={}, name="t")
    assert isinstance(part, SweepControls)
    assert (part.points, part.count) == (10_000, 2_400_000)
    assert len(part.numbers) < 2.7 * part.count
    assert len(part.numbers) + len(part.head) < 7_000_000


def test_quantities_that_do_not_fit_are_named() -> None:
    axis = axis_of("n", list(range(1000)), {}, has_colours=False)
    one = Quantity(
        name="precision", table="A", is_share=True, axes=(axis,), numbers=np.zeros((1, 3000, 1000))
    )
    at = np.arange(3000)[:, None]
    result = controls([Axis("setting:s", "s", ("a",))], at * 0, [one, one], omitted={}, name="t")
    part, message = result
    assert isinstance(part, SweepControls)
    assert isinstance(message, Paragraph)
    assert "omit precision of A (3,000,000 numbers)" in message.text
    assert isinstance(part.head, Markup)


# Points that failed


def test_failed_points_are_grouped_by_message() -> None:
    failed = [(f"seed={n}", "no file 'a.txt'") for n in range(7)] + [("seed=9", "<b> is missing")]
    html = page(grid(seed=[10, 11]), [table(0)] * 2, failed=failed)
    assert html.count("no file &#39;a.txt&#39;") == 1
    assert "7 points" in html
    assert "seed=0; seed=1" in html
    assert re.search(r"&lt;b&gt; is missing\s*\(seed=9\)", html)
    assert 'href="#failures"' in html
    assert html.index('id="failures"') < html.index('id="sweep"') < html.index('id="findings"')


def test_without_failed_points_there_is_no_section_of_failures() -> None:
    assert 'id="failures"' not in page(grid(seed=[10, 11]), [table(0)] * 2)
