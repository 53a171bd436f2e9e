"""The blocks of the view of estimates from a stratified sample."""

from __future__ import annotations

from typing import Any

import polars as pl

from pipeline.report.page.images import still
from pipeline.report.view import Block, Figure, Listing, Text
from pipeline.report.views.collocations.stratified import StratifiedView, show_stratified
from schemas import StratifiedComparison, StratifiedPrecision
from tests.report import report_frames as frames

CURVES = {"dice": [i % 3 == 0 for i in range(400)], "mi": [i % 2 == 0 for i in range(400)]}
STEPS = (
    frames.precision(CURVES)
    .filter(pl.col("n") % 10 == 0)
    .with_columns(variance=pl.lit(0.01), strata=pl.lit(2), strata_unsampled=pl.lit(0))
    .with_columns(lower=pl.when(pl.col("n") != 200).then("lower"))
    .select(pl.col(name).cast(dtype) for name, dtype in StratifiedPrecision.columns().items())
)
TESTS = pl.DataFrame(
    [("TP", "dice", "mi", 100, 60, 6, 1, 6, 4, -0.25, -0.4, -0.1, True),
     ("TP", "dice", "mi", 200, 60, 0, 0, 6, 4, None, None, None, False)],
    schema=StratifiedComparison.columns(), orient="row",
)  # fmt: skip
TABLES = {"precision": STEPS, "comparison": TESTS}


def shown(tables: dict[str, pl.DataFrame] = TABLES, **options: Any) -> list[Block]:
    stage = frames.stage("evaluate.stratified", tables, cuts=[100, 200])
    return list(show_stratified(stage, StratifiedView(**options)))


def test_how_it_was_estimated_a_graph_and_tables() -> None:
    text, figure, table, differences = shown(bands=("dice",))
    assert isinstance(text, Text)
    assert "bootstrap" in text.text
    assert isinstance(figure, Figure)
    assert "baseline" not in figure.caption
    assert isinstance(table, Listing)
    assert isinstance(differences, Listing)


def test_steps_of_n_are_all_drawn() -> None:
    figure = shown(first_n=10)[1]
    assert isinstance(figure, Figure)
    spec = still(figure.chart)
    lines = [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    sizes = [len(layer["data"]["values"].splitlines()) for layer in lines]
    assert sizes == [1 + 40, 1 + 40]


def test_missing_limits_and_no_ties() -> None:
    table = shown()[2]
    assert isinstance(table, Listing)
    assert table.shown is not None
    assert table.shown.columns == ["measure", "n = 100", "n = 200"]
    assert table.shown.row(1) == ("MI", "50.00 [40.0, 60.0]", "50.00 [–, 60.0]")
    assert "Ties" not in table.caption


def test_differences_with_limits() -> None:
    table = shown()[3]
    assert isinstance(table, Listing)
    assert table.shown is not None
    first, second = table.shown.rows()
    assert first[-2:] == ("* −25.00", "[−40.00, −10.00]")
    assert second[-2:] == ("–", "[–, –]")
    assert len(shown(measures=("dice",))) == 3


def test_nothing_judged_gives_a_sentence() -> None:
    (said,) = shown({name: frame.clear() for name, frame in TABLES.items()})
    assert isinstance(said, Text)
