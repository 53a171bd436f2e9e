"""The blocks of the view of agreement."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from pipeline.findings.base import StageView
from pipeline.report.view import Block, Figure, Fold, Listing, Text
from pipeline.report.views.collocations.annotation import (
    AgreementView,
    MachineView,
    show_agreement,
    show_machine,
)
from schemas import Agreement, Disagreements, Judgements, JudgesProvenance, Predictions
from tests.report import report_frames as frames
from tests.stages.run_stage import run_stage


def rows(category: str, one: str, two: str, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return [
        (category, one, two, name, method, 20, 0.5, 0.1, 0.3, 0.7, 2 if method == "bootstrap" else 0)
        for name in names for method in ("analytic", "bootstrap")
    ]  # fmt: skip


ALL = ("observed", "fleiss_kappa", "krippendorff_alpha")
TWO = ("observed", "cohen_kappa", "positive", "negative")
TABLE = pl.DataFrame(
    [*rows("SVC", "*", "*", ALL), *rows("SVC", "anna", "ben", TWO), *rows("*", "*", "*", ALL)],
    schema=Agreement.columns(), orient="row",
)  # fmt: skip
DIFFERENT = pl.DataFrame(
    [("c1", "anna", "yes"), ("c1", "ben", "no"), ("c2", "anna", "yes"), ("c2", "ben", "no"),
     ("c2", "cleo", "maybe")],
    schema=Disagreements.columns(), orient="row",
)  # fmt: skip
NAMES = pl.DataFrame(
    {"id": ["c1", "c2"], "l1": ["in:Frage", "zu:Ende"], "l2": ["stellen", "gehen"]}
)
TABLES = {"agreement": TABLE, "disagreements": DIFFERENT, "candidates": NAMES}


def show_blocks(tables: dict[str, pl.DataFrame] = TABLES, **options: Any) -> list[Block]:
    return list(
        show_agreement(frames.stage("evaluate.agreement", tables), AgreementView(**options))
    )


def test_the_view_has_a_figure_and_two_tables() -> None:
    figure, table, discuss = show_blocks()
    assert isinstance(figure, Figure)
    assert isinstance(table, Listing)
    assert isinstance(discuss, Listing)
    assert (figure.name, table.name, discuss.name) == ("agreement", "agreement", "disagreements")


def test_labels_precede_categories_and_all_annotators_pairs() -> None:
    table = show_blocks()[1]
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert table.texts.select("level", "coefficient").rows() == [
        ("labels", "observed agreement"), ("labels", "Fleiss' kappa"),
        ("labels", "Krippendorff's alpha"), ("SVC", "observed agreement"),
        ("SVC", "Fleiss' kappa"), ("SVC", "Krippendorff's alpha"),
        ("SVC", "observed agreement (anna, ben)"), ("SVC", "positive agreement (anna, ben)"),
        ("SVC", "negative agreement (anna, ben)"), ("SVC", "Cohen's kappa (anna, ben)"),
    ]  # fmt: skip
    assert table.texts.row(0)[2:] == ("20", "0.500", "[0.300, 0.700]", "[0.300, 0.700]")
    assert "excluded" in table.caption


def test_an_undefined_coefficient_is_a_dash() -> None:
    nothing = pl.when(pl.col("coefficient") != "fleiss_kappa")
    holes = [nothing.then(name).alias(name) for name in ("estimate", "lower", "upper")]
    table = show_blocks({**TABLES, "agreement": TABLE.with_columns(*holes)})[1]
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert table.texts.row(1)[3:] == ("–", "–", "–")


def test_many_pairs_are_only_in_the_table() -> None:
    pairs = [("SVC", "anna", f"b{i}") for i in range(4)]
    more = [row for key in pairs for row in rows(*key, TWO)]
    many = pl.concat([TABLE, pl.DataFrame(more, schema=Agreement.columns(), orient="row")])
    figure, table, _ = show_blocks({**TABLES, "agreement": many})
    assert isinstance(figure, Figure)
    assert "pairs of annotators" in figure.caption
    few = show_blocks()[0]
    assert isinstance(few, Figure)
    content = json.dumps(few.chart)
    assert "Cohen's kappa (anna, ben)" in content
    assert "positive agreement (anna, ben)" not in content
    assert "(anna" not in json.dumps(figure.chart)
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert table.texts.height == 10 + 4 * 4


def test_disagreements_are_listed_by_number_of_labels() -> None:
    discuss = show_blocks(candidates="candidates")[2]
    assert isinstance(discuss, Listing)
    assert discuss.texts is not None
    assert discuss.texts.columns == ["candidate", "anna", "ben", "cleo"]
    assert discuss.texts.rows() == [
        ("zu:Ende gehen", "yes", "no", "maybe"), ("in:Frage stellen", "yes", "no", ""),
    ]  # fmt: skip
    short = show_blocks(k=1)[2]
    assert isinstance(short, Listing)
    assert short.caption.startswith("The first 1 of 2 candidates")
    assert short.frame.height == 5


def test_full_agreement_is_stated() -> None:
    last = show_blocks({**TABLES, "disagreements": DIFFERENT.clear()})[-1]
    assert last == Text("No candidate has different labels.")


def test_a_single_annotator_is_stated() -> None:
    (block,) = show_blocks({**TABLES, "agreement": TABLE.clear()})
    assert isinstance(block, Text)


# The blocks of the view of machine judges.

SIZE = 90
IDS = [f"x{i:02}" for i in range(SIZE)]
TRUE = [i % 3 == 0 for i in range(SIZE)]
JUDGEMENTS = pl.DataFrame({"category": "TP", "id": IDS, "tp": TRUE}, schema=Judgements.columns())
PREDICTIONS = pl.DataFrame(
    {"category": "TP", "judge": ["m"] * SIZE + ["n"] * SIZE, "id": IDS * 2,
     "prediction": [0.9 if i % 3 == 0 else (i % 7) / 10 for i in range(SIZE)] + [0.2] * SIZE},
    schema=Predictions.columns(),
)  # fmt: skip
SCORES = pl.DataFrame({"id": IDS, "a": [float(-i) for i in range(SIZE)],
                       "b": [float(i % 11) for i in range(SIZE)]})  # fmt: skip
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]


def shown_machine(
    message: pl.DataFrame = PREDICTIONS, judged: pl.DataFrame = JUDGEMENTS, **config: Any
) -> list[Block]:
    options = {"seed": "s", "cuts": [30, 60], "pairs": [("a", "b")]} | config
    tables = run_stage(
        "evaluate.machine", options, predictions=message, judgements=judged, ranks=RANKS
    )  # fmt: skip
    return list(show_machine(frames.stage("evaluate.machine", tables), MachineView()))


def test_the_view_of_judges_has_a_figure_and_four_tables() -> None:
    text, figure, *tables = shown_machine()
    assert isinstance(text, Text)
    assert "annotators' labels, which alone define" in text.text
    assert isinstance(figure, Figure)
    assert figure.name == "reliability"
    listings = [each for each in tables if isinstance(each, Listing)]
    assert [each.name for each in listings] == ["confusion", "judges", "savings", "pair-savings"]


def cells(name: str, blocks: list[Block]) -> pl.DataFrame:
    (block,) = (each for each in blocks if isinstance(each, Listing) and each.name == name)
    assert block.texts is not None
    return block.texts


def test_judges_are_listed_in_one_table() -> None:
    table = cells("confusion", shown_machine())
    assert table["judge"].to_list() == ["m", "n"]
    assert table["TP, predicted"].to_list() == ["30", "0"]
    assert table["sensitivity (%)"].to_list() == ["100.0 [88.4, 100.0]", "0.0 [0.0, 11.6]"]
    assert table["positive predictive value (%)"][1] == "– [0.0, 100.0]"


def test_undefined_savings_are_dashes() -> None:
    table = cells("savings", shown_machine()).filter(pl.col("judge") == "n", pl.col("n") == "60")
    assert table["rho²"].to_list() == ["–", "–"]
    assert table["labels saved (%)"].to_list() == ["0.0", "0.0"]


def test_each_category_has_a_figure() -> None:
    other = pl.lit("idiom").alias("category")
    blocks = shown_machine(
        pl.concat([PREDICTIONS, PREDICTIONS.with_columns(other)]),
        pl.concat([JUDGEMENTS, JUDGEMENTS.with_columns(other)]),
    )
    names = [each.name for each in blocks if isinstance(each, Figure)]
    assert names == ["reliability-TP", "reliability-idiom"]


def test_provenance_of_machine_judges_is_in_a_fold() -> None:
    frame = pl.DataFrame(
        {"judge": "m", "column": "model", "value": "m-2", "rows": [90]},
        schema=JudgesProvenance.columns(),
    )
    machine = StageView("machine", "join.machine", {}, lambda _: frame.lazy())
    tables = run_stage(
        "evaluate.machine", {"seed": "s"}, predictions=PREDICTIONS, judgements=JUDGEMENTS
    )
    stage = StageView(
        "held", "evaluate.machine", {}, lambda table: tables[table].lazy(),
        inputs={"predictions": "machine.predictions"}, stages={"machine": machine},
    )  # fmt: skip
    fold = show_machine(stage, MachineView())[-1]
    assert isinstance(fold, Fold)
    (table,) = fold.blocks
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert table.texts.row(0) == ("m", "model", "m-2", "90")


def test_the_absence_of_judgements_is_stated() -> None:
    assert shown_machine(judged=JUDGEMENTS.clear()) == [
        Text("No candidate has both a prediction and a judgement.")
    ]
