"""The column of a table that is drawn: the one that its limits belong to."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import schemas
from pipeline.findings.base import Finding, StageFinding
from pipeline.report import sweep_page as page
from pipeline.report.charts.style import Look
from pipeline.report.sweep_page import (
    MOST_PANELS,
    CollectedTable,
    Setting,
    Shape,
    SweepInput,
    estimates,
    figures,
    label,
    limit_values,
    places,
    setting_text,
    settings_of,
    shape_of,
    sweep_page,
)
from pipeline.report.view import Figure, Text
from schemas import Choice, Findings, LemmaScores, Precision, Table, TypeLevel

DRAWN_COLUMNS = {
    "Agreement": "estimate",
    "AveragePrecision": "average_precision",
    "Baseline": "precision",
    "Choice": "precision",
    "ClusteredDesignedDifferences": "difference",
    "ClusteredDifferences": "difference",
    "ClusteredPrecision": "precision",
    "DesignedBaseline": "precision",
    "DesignedDifferences": "difference",
    "DesignedPrecision": "precision",
    "DesignedWindows": "precision",
    "DesignedEstimates": "precision",
    "KeyingAgreement": "estimate",
    "LexiconComparison": "l_star",
    "LexiconDifferences": "difference",
    "LexiconIntervals": "estimate",
    "LexiconQuality": "value",
    "LocalPrecision": "precision",
    "MeasureDifferences": "difference",
    "OverlappingScores": "value",
    "Precision": "precision",
    "ListParts": "precision",
    "Recall": "recall",
    "SenseScores": "value",
    "SubsetPrecision": "precision",
    "SystemTable": "mean",
    "TokenLevel": "value",
    "TypeLevel": "value",
    "WorstCase": "precision",
    "WordSenseScores": "value",
}
"""The tables of estimates, and the column to which their limits belong, or that systems have."""
MODELS: dict[str, type[Table]] = {
    name: each
    for name in dir(schemas)
    if isinstance(each := getattr(schemas, name), type) and issubclass(each, Table)
}


@pytest.mark.parametrize("name", MODELS)
def test_the_drawn_column_is_the_one_with_limits(name: str) -> None:
    """A new table with limits is listed here after a check of what they belong to."""
    shape = shape_of(MODELS[name], MODELS[name].zero_rows().collect())
    assert (shape and shape.value) == DRAWN_COLUMNS.get(name)


def test_runs_of_a_system_are_drawn_together() -> None:
    frame = TypeLevel.zero_rows().collect()
    shape = shape_of(TypeLevel, frame)
    assert shape is not None
    assert (shape.name, shape.groups) == ("system", ("measure", "mapping"))


def test_infinite_and_missing_numbers_are_not_drawn() -> None:
    shape = Shape(value="value", is_share=False, name="", over_n=False, groups=())
    frame = pl.DataFrame({"value": [1.0, float("inf"), float("nan"), None]})
    assert estimates(frame, shape)["y"].to_list() == [1.0, None, None, None]


def test_a_group_without_a_name_has_a_dash() -> None:
    shape = Shape(value="value", is_share=False, name="", over_n=False, groups=("a",))
    frame = pl.DataFrame({"value": [1.0], "a": pl.Series([None], dtype=pl.String)})
    assert estimates(frame, shape)["by a"].to_list() == ["–"]


# Settings of a sweep: their names, and the points that are shown.


def test_settings_of_the_same_name_have_their_stage() -> None:
    points = [{"stages.a.seed": 1, "stages.b.seed": 2}]
    assert [each.name for each in settings_of(points)] == ["a.seed", "b.seed"]


def test_equal_texts_of_different_types_keep_their_places() -> None:
    points: list[dict[str, Any]] = [{"x": 1}, {"x": "1"}, {"x": [1]}, {"x": {"a": 1}}, {"x": True}]
    (result,) = settings_of(points)
    assert result.values == ("1", "1", "1", '{"a": 1}', "yes")
    assert result.numbers == ()
    assert [each["x"] for each in places(points)] == [0, 1, 2, 3, 4]


def test_constant_settings_are_not_in_the_label() -> None:
    points = [{"rate": 0.1, "seed": 1}, {"rate": 0.2, "seed": 1}]
    settings = settings_of(points)
    assert [label(point, settings) for point in points] == ["rate = 0.1", "rate = 0.2"]
    assert label(points[0], settings_of(points[:1])) == ""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("a\n<b>", "a <b>"),
        ("x" * 99, "x" * 39 + "…"),
        ([], "[]"),
        (["mi", 3], "mi, 3"),
        ([["mi"]], '[["mi"]]'),
        (None, "null"),
        ("שלום", "\u2068שלום\u2069"),
    ],
)
def test_values_of_settings_are_on_one_line(value: Any, message: str) -> None:
    assert setting_text(value) == message


def test_many_values_are_listed_and_counted() -> None:
    values = tuple(f"v{n}" for n in range(20))
    assert Setting("stages.a.b", "b", values, ()).describe().endswith("v7 and 12 more")


def test_evenly_spaced_numbers_are_recognised() -> None:
    assert Setting("n", "n", ("1", "2", "3"), (1, 2, 3)).is_even
    assert not Setting("n", "n", ("1", "2", "4"), (1, 2, 4)).is_even
    assert not Setting("n", "n", ("1",), (1.0,)).is_even


@given(st.lists(st.integers(1, 10_000), max_size=4), st.integers(1, 50))
def test_no_more_points_are_kept_than_fit(counts: list[int], most: int) -> None:
    result = limit_values(counts, most)
    assert prod(result) <= most or not counts
    assert all(1 <= one <= count for one, count in zip(result, counts, strict=True))
    if prod(counts) <= most:
        assert result == counts


# The page of a sweep: of one point, of a thousand points, of hostile and empty tables.

HOSTILE = "</script><img onerror=alert(1)>"
Points = list[dict[str, Any]]


def grid(**over: list[Any]) -> Points:
    return [dict(zip(over, values, strict=True)) for values in product(*over.values())]


def precision(point: dict[str, Any], ns: list[int], measures: list[str]) -> pl.DataFrame:
    """Return a table of precisions with the settings in front."""
    rows = [(name, n) for name in measures for n in ns]
    return pl.DataFrame(
        {
            "category": ["TP"] * len(rows),
            "measure": [name for name, _ in rows],
            "n": [n for _, n in rows],
            "precision": [0.3] * len(rows),
            "lower": [0.2] * len(rows),
            "upper": [0.4] * len(rows),
        },
        schema={
            "category": pl.String, "measure": pl.String, "n": pl.Int64,
            **dict.fromkeys(("precision", "lower", "upper"), pl.Float64),
        },
    ).select(*[pl.lit(str(value)).alias(path) for path, value in point.items()], pl.all())  # fmt: skip


def collected_table(points: Points, ns: list[int], measures: list[str]) -> CollectedTable:
    tables = [precision(point, ns, measures) for point in points]
    return CollectedTable("sampled.cuts", "Precision", tables, Precision)


def best(name: str) -> list[StageFinding]:
    text = f"Best for 9: {name}, 30.0 %."
    findings = Finding(about="best", text=text, question="best for 9", name=name, value=0.3)
    return [StageFinding("tests", findings)]


def draw_figures(
    points: Points, ns: list[int], measures: list[str]
) -> tuple[list[Figure], list[str]]:
    """Return the figures of a table of precisions, and the texts beside them."""
    result = list(
        figures(collected_table(points, ns, measures), points, settings_of(points), Look())
    )
    texts = [block.text for block in result if isinstance(block, Text)]
    return [block for block in result if isinstance(block, Figure)], texts


def panel_titles(figure: Figure) -> list[str]:
    return [each["title"]["text"] for each in figure.chart["concat"] if "title" in each]


def html(**options: Any) -> str:
    points = options.pop("points")
    findings = options.pop("findings", [[] for _ in points])
    return (
        sweep_page(SweepInput(title="T", points=points, findings=findings, **options))["index.html"]
        .decode()
        .replace("\xa0", " ")
    )


def test_with_several_n_each_point_has_a_panel() -> None:
    points = grid(rate=[0.1, 0.2], seed=[1, 2, 3])
    (figure,), texts = draw_figures(points, [10, 20], ["mi", "dice"])
    assert panel_titles(figure)[:4] == [
        "rate = 0.1, seed = 1", "rate = 0.1, seed = 2", "rate = 0.1, seed = 3",
        "rate = 0.2, seed = 1",
    ]  # fmt: skip
    assert figure.chart["columns"] == 3
    assert texts == []


def test_a_single_estimate_per_point_is_drawn_by_setting() -> None:
    points = grid(rate=[0.1, 0.2], seed=[1, 2, 3])
    (figure,), _ = draw_figures(points, [10], ["mi"])
    assert panel_titles(figure) == ["rate = 0.1", "rate = 0.2"]
    axis = figure.chart["concat"][0]["layer"][0]["encoding"]["x"]
    assert axis["title"] == "seed"
    assert axis["axis"]["labelExpr"].startswith('["1", "2", "3"]')
    assert "n = 10" in figure.caption


def test_unevenly_spaced_numbers_are_on_a_scale() -> None:
    (figure,), _ = draw_figures(
        grid(rate=[0.05, 0.1, 0.5], seed=["a", "b", "c", "d"]), [10], ["mi"]
    )
    axis = figure.chart["concat"][0]["layer"][0]["encoding"]["x"]
    assert axis["title"] == "rate"
    assert "labelExpr" not in axis["axis"]


def test_a_thousand_points_are_cut_and_counted() -> None:
    points = grid(rate=[n / 20 for n in range(1, 11)], seed=list(range(100)))
    result, texts = draw_figures(points, [10, 20], ["mi"])
    titles = [title for figure in result for title in panel_titles(figure)]
    assert 12 < len(titles) <= MOST_PANELS
    assert len(set(titles)) == len(titles)
    assert texts == [(f"The figures show the first 4 of 10 values of rate and the first 5 of 100"
                     f" values of seed and omit {1000 - len(titles)} of 1,000 points.")]  # fmt: skip


def test_a_single_point_has_a_panel_only_with_several_n() -> None:
    assert len(draw_figures(grid(rate=[0.1]), [10, 20], ["mi"])[0]) == 1
    assert draw_figures(grid(rate=[0.1]), [10], ["mi"]) == ([], [])


def test_the_page_states_that_a_table_has_no_rows() -> None:
    assert draw_figures(grid(rate=[0.1, 0.2]), [], ["mi"]) == (
        [], ["The table has no rows at any of 2 points."],
    )  # fmt: skip


def test_points_without_rows_have_an_empty_panel() -> None:
    points = grid(rate=[0.1, 0.2, 0.3])
    whole = collected_table(points, [10, 20], ["mi"])
    tables = [whole.tables[0], whole.tables[1].clear(), whole.tables[2].drop("precision")]
    mixed = CollectedTable("a", "A", tables, Precision)
    (figure,) = figures(mixed, points, settings_of(points), Look())
    assert isinstance(figure, Figure)
    assert len(panel_titles(figure)) == 3
    assert len(html(points=points, collected=[mixed])) > 1000


def test_columns_of_nulls_are_not_drawn() -> None:
    points = grid(rate=[0.1, 0.2])
    whole = collected_table(points, [10, 20], ["mi"])
    empty = [table.with_columns(precision=pl.lit(None, pl.Float64)) for table in whole.tables]
    result = list(
        figures(CollectedTable("a", "A", empty, Precision), points, settings_of(points), Look())
    )
    assert result == []


def test_many_names_are_cut_and_counted() -> None:
    (figure,), _ = draw_figures(grid(rate=[0.1, 0.2]), [10, 20], [f"m{n}" for n in range(30)])
    assert len(figure.chart["usermeta"]["lexassay"]["names"]) == 8
    assert "The table has 22 more names with lower values" in figure.caption


@pytest.mark.parametrize(
    ("model", "is_drawn"), [(Choice, True), (Findings, False), (LemmaScores, False)]
)
def test_tables_with_limits_can_be_drawn(model: Any, is_drawn: bool) -> None:
    assert (shape_of(model, model.zero_rows().collect()) is not None) == is_drawn


def test_tables_without_a_model_are_not_drawn() -> None:
    assert shape_of(None, Precision.zero_rows().collect()) is None


def test_the_page_marks_points_where_the_answer_changes() -> None:
    over: dict[str, list[Any]] = {
        "stages.sample.rate": [0.1, 0.2],
        "stages.sample.seed": [1, 2],
    }
    points = grid(**over)
    text = html(points=points, findings=[best("mi"), best("mi"), best("dice"), best("mi")])
    assert (
        "4 points, all combinations of rate of sample: 0.1 and 0.2; seed of sample: 1 and 2."
        in text
    )
    assert (
        "MI is best, or not significantly worse than the best, at 3 of 4 points; Dice at 1." in text
    )
    cells = re.findall(r"<td[^>]*>([^<]*30\.0 %)</td>", text)
    assert cells == ["mi, 30.0 %", "mi, 30.0 %", "● dice, 30.0 %", "mi, 30.0 %"]
    assert "Each of the 4 points is estimated and tested separately" in text


def test_a_single_point_has_its_findings() -> None:
    text = html(points=grid(rate=[0.1]), findings=[best("mi")])
    assert '<p class="finding">Best for 9: mi, 30.0 %.' in text
    assert "estimated and tested separately" not in text


def test_stacked_tables_are_linked_and_not_copied() -> None:
    points = grid(rate=[0.1, 0.2])
    files = sweep_page(
        SweepInput(
            title="T",
            points=points,
            findings=[[], []],
            collected=[collected_table(points, [10, 20], ["mi"])],
        )
    )
    assert set(files) == {"index.html", "figures/sampled-cuts-panels.svg"}
    assert 'href="sampled.cuts.parquet"' in files["index.html"].decode()
    assert "4 rows" in files["index.html"].decode()


def test_cautions_and_remarks_are_counted_over_the_points() -> None:
    def caution(number: int) -> StageFinding:
        return StageFinding(
            "full", Finding(about="ties", kind="caution", text=f"{number} ties.", value=number)
        )

    text = html(
        points=grid(rate=[0.1, 0.2, 0.3]), findings=[[caution(3)], [caution(4)], []],
        remarks=[["sample: 9 draws."], [], []],
    )  # fmt: skip
    assert "At 2 of 3 points: 3 ties. (The numbers differ between points.)" in text
    assert "At 1 of 3 points: sample: 9 draws." in text


def test_hostile_texts_are_escaped() -> None:
    values: list[Any] = [HOSTILE, [HOSTILE], {"a": HOSTILE}, "שלום"]
    points = grid(**{f"stages.{HOSTILE}.x": values})
    table = [
        precision({"x": HOSTILE}, [10, 20], [HOSTILE, "a" * 900]).rename(
            {"x": next(iter(points[0]))}
        )
        for _ in points
    ]
    text = html(
        points=points, description=HOSTILE, findings=[best(HOSTILE) for _ in points],
        collected=[CollectedTable(HOSTILE, HOSTILE, table, Precision)], remarks=[[HOSTILE]] * 4,
        waits={HOSTILE: HOSTILE},
    )  # fmt: skip
    assert "<img onerror" not in text


def test_equal_input_gives_equal_bytes() -> None:
    points = grid(rate=[0.1, 0.2])
    result: Callable[[], dict[str, bytes]] = lambda: sweep_page(  # noqa: E731
        SweepInput(title="T", points=points, findings=[best("mi")] * 2,
                   collected=[collected_table(points, [10, 20], ["mi", "dice"])])
    )  # fmt: skip
    assert result() == result()


def test_more_questions_than_columns_are_counted() -> None:
    def stage_finding(number: int, point: int) -> StageFinding:
        text = f"Answer {number} of {point} %."
        return StageFinding(
            "a", Finding(about="x", text=text, question=f"q{number}", value=float(point))
        )

    findings = [
        [stage_finding(number, point) for number in range(page.MOST_SAID + 3)] for point in (1, 2)
    ]
    assert "The table of findings answers 3 more questions" in html(
        points=grid(rate=[0.1, 0.2]), findings=findings
    )


def test_the_page_shows_main_effects() -> None:
    """Each setting has a row: its share, and the values with the lowest and the highest mean."""
    effects = pl.DataFrame({
        "table": "cuts", "value": "precision", "setting": ["span", "span", "measure", "measure", "residual"],
        "level": ["1", "5", "mi", "t_score", None], "mean": [0.25, 0.5, 0.5, 0.25, None],
        "lower": None, "upper": None, "rows": [2, 2, 2, 2, 4], "share": [0.75, 0.75, 0.125, 0.125, 0.125],
    })  # fmt: skip
    page = html(points=grid(span=[1, 5]), effects=effects)
    for text in ("75.0", "1: 25.0", "5: 50.0", "t-score: 25.0", "MI: 50.0", "residual"):
        assert text in page
    sampled = effects.with_columns(lower=pl.col("mean") - 0.125, upper=pl.col("mean") + 0.125)
    assert "MI: 50.0 [37.5, 62.5]" in html(points=grid(span=[1, 5]), effects=sampled)


def test_exact_values_have_no_limits() -> None:
    """Limits of width 0 would make every other value significantly worse."""
    points = grid(rate=[0.1, 0.2])
    tables = [precision(point, [10], ["mi", "dice"]) for point in points]
    exact = [table.with_columns(lower=pl.col("precision"), upper="precision") for table in tables]
    for given_tables, has_limits in ((tables, True), (exact, False)):
        result = CollectedTable("cuts", "Precision", given_tables, Precision)
        controls = re.search(r'"limits":\s*(true|false)', html(points=points, collected=[result]))
        assert controls is not None
        assert (controls[1] == "true") is has_limits
