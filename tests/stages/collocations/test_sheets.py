"""Sheets: rules for annotators who differ, guidelines, joining, adjudication, simulations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import LexassayError, WaitsForPerson
from pipeline.kernels.sampling import candidate_id
from pipeline.kernels.statistics.intervals import clopper_pearson
from pipeline.stages.base import FAULTS, STAGES, Sheets, StageConfig
from pipeline.stages.collocations.sheets import JoinSheets, SheetAnnotation
from pipeline.stages.lexicon.sample import SheetKeying
from schemas import Annotations, Judgements, SheetEntries
from tests.stages.run_stage import SmallRun, run_stage

LABELS_ADJUDICATION_RULES = pl.DataFrame({"label": ["SVC", "figurative", "no"]})
LABELS_BY_PAIR: dict[str, list[str | None]] = {
    "x1": ["SVC", "SVC", "SVC"],
    "x2": ["SVC", "figurative", "SVC"],
    "x3": ["SVC", "no", "SVC"],
    "x4": ["no", "no", "no"],
    "x5": ["figurative", None, None],
}
ROWS = [
    (each, who, label)
    for each, given in LABELS_BY_PAIR.items()
    for who, label in zip("abc", given, strict=True)
]
CATEGORIES = {"SVC": ["SVC"], "figurative": ["figurative"], "TP": ["SVC", "figurative"]}


def join(rule: str) -> dict[tuple[str, str], bool | None]:
    entries = pl.DataFrame(
        {
            "file": "001.csv", "line": range(2, len(ROWS) + 2),
            "annotator": [row[1] for row in ROWS], "id": [row[0] for row in ROWS], "l1": "l",
            "l2": "r", "label": [row[2] for row in ROWS], "note": pl.Series([None] * len(ROWS), dtype=pl.String),
        }
    )  # fmt: skip
    sheet = entries.select(
        "annotator", order=pl.int_range(1, pl.len() + 1, dtype=pl.Int64), id="id", l1="l1", l2="l2"
    )
    config = {"rule": rule, "categories": CATEGORIES, "partial": True}
    tables = run_stage(
        "join.sheets", config, sheet=sheet, labels=LABELS_ADJUDICATION_RULES, entries=entries
    )
    return {(row[0], row[1]): row[2] for row in tables["judgements"].rows()}


@pytest.mark.parametrize(
    ("rule", "svc", "figurative", "union"),
    [
        ("majority", [True, True, True, False, False], [False] * 4 + [True],
         [True, True, True, False, True]),
        ("unanimous", [True, None, None, False, False], [False, None, None, False, True],
         [True, None, None, False, True]),
        ("intersection", [True, False, False, False, False], [False] * 4 + [True],
         [True, True, False, False, True]),
    ],
)  # fmt: skip
def test_rules_decide_conflicts_by_category(
    rule: str, svc: list[bool | None], figurative: list[bool | None], union: list[bool | None]
) -> None:
    judged = join(rule)
    assert [judged["SVC", each] for each in LABELS_BY_PAIR] == svc
    assert [judged["figurative", each] for each in LABELS_BY_PAIR] == figurative
    assert [judged["TP", each] for each in LABELS_BY_PAIR] == union


# Guidelines of labels: of existing labels, and passed on to the delivery of the sheets

OPTIONS: dict[str, Any] = {
    "candidates": "c", "sample": "s", "folder": "f", "labels": ("SVC", "free"),
}  # fmt: skip


def delivered_sheets(**options: Any) -> Sheets:
    stage = STAGES.get("sheet.annotation")
    sheets = stage.delivery(stage.config.model_validate(OPTIONS | options))
    assert isinstance(sheets, Sheets)
    return sheets


def test_guidelines_are_delivered_with_the_sheets() -> None:
    assert delivered_sheets().guidelines == {}
    guidelines = {"free": "All else.", "SVC": "A light verb."}
    assert delivered_sheets(guidelines=guidelines).guidelines == guidelines


@pytest.mark.parametrize(
    ("guidelines", "message"),
    [
        ({"SVG": "A light verb."}, "unknown label 'SVG'; did you mean SVC?"),
        ({"svc": "A light verb."}, "unknown label 'svc'; did you mean SVC?"),
        ({"free": "All else.", "idiom": "x"}, "unknown label 'idiom'; valid: SVC, free"),
        ({"SVC": " \n"}, "the guideline of 'SVC' is blank"),
        ({"SVC": "x" * 10_001}, "has 10,001 characters, more than 10,000"),
    ],
)
def test_invalid_guidelines_are_refused(guidelines: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        SheetAnnotation.model_validate(OPTIONS | {"guidelines": guidelines})
    (wrong,) = error.value.errors()
    assert wrong["loc"] == ("guidelines",)
    assert message in wrong["msg"]


def test_invalid_labels_are_the_only_error() -> None:
    with pytest.raises(ValidationError) as error:
        SheetAnnotation.model_validate(OPTIONS | {"labels": (), "guidelines": {"SVC": "x"}})
    assert [wrong["loc"] for wrong in error.value.errors()] == [("labels",)]


# People whose labels and notes are joined: every spelling of a name, unknown names refused

LABELS_JOIN_SHEETS = pl.DataFrame({"label": ["SVC", "free"]})
CONFIG = {"categories": {"TP": ["SVC"]}, "partial": True}
RowJoinSheets = tuple[str | None, str, str | None, str | None]


def entries_join_sheets(*rows: RowJoinSheets) -> pl.DataFrame:
    """Return the rows of a sheet: annotator, l1, label, note."""
    names = ("annotator", "l1", "label", "note")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    line = pl.int_range(2, pl.len() + 2, dtype=pl.Int64)
    full = frame.with_columns(l2=pl.lit("v"), file=pl.lit("s.csv"), line=line)
    return full.with_columns(candidate_id("l1", "l2")).select(list(SheetEntries.columns()))


def joined_sheets(
    *rows: RowJoinSheets,
    annotators: tuple[str, ...] = ("a1", "b"),
    earlier: pl.DataFrame | None = None,
    **options: Any,
) -> dict[str, pl.DataFrame]:
    """Join rows; all annotators have x and y."""
    pairs = entries_join_sheets(*(("", unit, None, None) for unit in "xy")).select("id", "l1", "l2")
    people = pl.DataFrame({"annotator": annotators}).join(pairs, how="cross")
    sheet = people.select(
        "annotator", order=pl.int_range(1, pl.len() + 1), id="id", l1="l1", l2="l2"
    )
    more = {} if earlier is None else {"earlier": earlier}
    return run_stage(
        "join.sheets",
        CONFIG | options,
        sheet=sheet,
        labels=LABELS_JOIN_SHEETS,
        entries=entries_join_sheets(*rows),
        **more,
    )


def problems(tables: dict[str, pl.DataFrame]) -> list[tuple[Any, ...]]:
    return tables[FAULTS].sort("line").select("file", "line", "column", "problem").rows()


def test_blanks_around_an_id_are_ignored() -> None:
    rows = entries_join_sheets(("a1", "x", "SVC", "seen"), ("b", "y", "free", None))
    spaced = rows.with_columns(id=pl.format("\u00a0{} ", "id"))
    pairs = entries_join_sheets(*(("", unit, None, None) for unit in "xy")).select("id", "l1", "l2")
    sheet = pl.DataFrame({"annotator": ["a1", "b"]}).join(pairs, how="cross")
    sheet = sheet.select(
        "annotator", order=pl.int_range(1, pl.len() + 1), id="id", l1="l1", l2="l2"
    )
    tables = run_stage(
        "join.sheets", CONFIG, sheet=sheet, labels=LABELS_JOIN_SHEETS, entries=spaced
    )
    assert tables["others"].height == 0
    assert tables["annotations"].height == 2
    assert tables["notes"]["id"].to_list() == rows["id"].to_list()[:1]


@pytest.mark.parametrize("spelling", ["A1", " a1", "a1\u00a0"])
def test_conflicts_of_one_person_in_two_spellings_are_faults(spelling: str) -> None:
    errors = problems(joined_sheets(("a1", "x", "SVC", None), (spelling, "x", "free", None)))
    assert [each[:3] for each in errors] == [("s.csv", 2, "label")]
    assert "a1 gave several labels to one candidate" in errors[0][3]


def test_one_person_in_two_spellings_is_counted_once() -> None:
    tables = joined_sheets(
        ("A1 ", "x", "SVC", None), ("a1", "x", "SVC", None), ("b", "x", "SVC", None)
    )
    assert not problems(tables)
    assert sorted(tables["annotations"]["annotator"]) == ["a1", "b"]
    assert tables["adjudicated"]["annotators"].to_list() == [2]


def test_unknown_annotators_are_reported_with_suggestions() -> None:
    errors = problems(joined_sheets(("b", "y", "free", None), ("a2", "x", "SVC", None)))
    assert [each[:3] for each in errors] == [("s.csv", 3, "annotator")]
    assert "did you mean a1, b?" in errors[0][3]


def test_former_annotators_count() -> None:
    tables = joined_sheets(("A2", "x", "SVC", None), former=("a2",))
    assert not problems(tables)
    assert tables["annotations"]["annotator"].to_list() == ["a2"]


def test_unknown_annotators_without_labels_or_on_other_samples_are_ignored() -> None:
    assert not problems(
        joined_sheets(("c", "x", None, None), ("c", "of another sample", "SVC", None))
    )


def test_a_label_without_an_annotator_is_a_fault() -> None:
    assert problems(joined_sheets((" ", "x", "SVC", None)))[0][:3] == ("s.csv", 2, "annotator")


def test_an_earlier_round_has_the_same_annotators() -> None:
    table = pl.DataFrame({"id": joined_sheets(("a1", "x", "SVC", None))["annotations"]["id"]}).select(
        "id", annotator=pl.lit(" A1"), label=pl.lit("free"), note=pl.lit(None, pl.String)
    )  # fmt: skip
    tables = joined_sheets(("a1", "x", "SVC", None), earlier=table)
    assert tables["annotations"].select("annotator", "label").rows() == [("a1", "SVC")]
    both = pl.concat([table, table.with_columns(annotator=pl.lit("a1"))])
    assert not problems(joined_sheets(earlier=both))
    assert joined_sheets(earlier=both)["annotations"].height == 1
    differ = pl.concat([table, table.with_columns(annotator=pl.lit("a1"), label=pl.lit("SVC"))])
    assert (
        "a1 gave"
        in problems(joined_sheets(earlier=differ.select(list(Annotations.columns()))))[0][3]
    )


def test_the_expert_is_recognised_in_any_spelling() -> None:
    rows: list[RowJoinSheets] = [("a1", "x", "SVC", None), ("b", "x", "free", None)]
    tables = joined_sheets(*rows, rule="expert", expert="B ")
    assert tables["adjudicated"]["label"].to_list() == ["free"]


def test_every_note_is_kept() -> None:
    tables = joined_sheets(
        ("a1", "x", "SVC", "first"), ("a1", "x", None, "in a copy"), ("a1", "x", "SVC", "first"),
        ("b", "y", None, "cannot say"), ("b", "x", None, " "),
    )  # fmt: skip
    assert tables["annotations"]["note"].to_list() == ["first; in a copy"]
    assert tables["notes"].select("line", "annotator", "note").rows() == [
        (2, "a1", "first"), (3, "a1", "in a copy"), (4, "a1", "first"), (5, "b", "cannot say"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "names", [("a1", "A1"), ("a b", "a  b"), ("é", "e\u0301"), ("a", " "), ("a\x07",)]
)
def test_equivalent_names_are_refused_by_the_options(names: tuple[str, ...]) -> None:
    sheet = {"candidates": "c", "sample": "s", "folder": "f", "labels": ("l",)}
    keying = {"lexicon": "l", "sample": "s", "folder": "f"}
    join = {"sheet": "s", "labels": "l", "folder": "f", "categories": {"TP": ("l",)}}
    wrong: list[tuple[type[StageConfig], dict[str, Any], str]] = [
        (SheetAnnotation, sheet, "annotators"),
        (SheetAnnotation, sheet, "labels"),
        (SheetKeying, keying, "annotators"),
        (JoinSheets, join, "former"),
    ]
    for model, options, option in wrong:
        model.model_validate(options)
        with pytest.raises(ValidationError, match="two names differ|is not a valid name"):
            model.model_validate(options | {option: names})


# The further tables of evaluate.precision: local precision, recall, cut lists, thresholds

IDS = [f"x{i}" for i in range(8)]
SCORES = pl.DataFrame({"id": IDS, "a": [8.0, 7, 6, 5, 4, 3, 2, 1], "b": [1.0, 2, 3, 4, 5, 6, 7, 8]})
VERDICTS = pl.DataFrame({"category": "TP", "id": IDS, "tp": [True] * 3 + [False] * 5})
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]


def evaluate(**config: object) -> dict[str, pl.DataFrame]:
    return run_stage("evaluate.precision", dict(config), ranks=RANKS, judgements=VERDICTS)


def test_further_tables_are_empty_unless_requested() -> None:
    tables = evaluate()
    further = ("local", "recall", "cut", "thresholds", "bands")
    assert [tables[name].height for name in further] == [0] * len(further)


def test_local_precision_is_computed_in_windows() -> None:
    local = evaluate(window=2)["local"].filter(measure="a")
    assert local["precision"].to_list() == [1, 1, 0.5, 0, 0, 0, 0]
    assert local.select("n", "first_rank", "last_rank", "size").row(0) == (2, 1, 2, 2)


def test_recall_has_intervals() -> None:
    recall = evaluate(recall=True)["recall"].filter(measure="b")
    assert recall["recall"].to_list() == [0] * 5 + [1 / 3, 2 / 3, 1]
    limits = clopper_pearson(1, 3)
    row = recall.filter(n=6).select("positives", "lower", "upper").row(0)
    assert row == (3, pytest.approx(float(limits[0])), pytest.approx(float(limits[1])))


def test_recall_always_has_clopper_pearson_intervals() -> None:
    plain, finite = (
        evaluate(recall=True, interval=name)["recall"]
        for name in ("clopper_pearson", "hypergeometric")
    )
    assert plain.equals(finite)


def test_a_cut_list_is_treated_as_the_whole() -> None:
    cut = evaluate(cut=4)["cut"]
    last = cut.filter(n=4).select("measure", "precision", "recall", "baseline", "positives").rows()
    assert last == [("a", 0.75, 1.0, 0.75, 3), ("b", 0.0, None, 0.0, 0)]
    assert cut.height == 8


def test_thresholds_are_the_last_n_with_such_a_limit() -> None:
    tables = evaluate(thresholds=[0.2, 0.001])
    lower = tables["precision"].filter(measure="a")["lower"].to_list()
    falls = max(n for n, limit in enumerate(lower, start=1) if limit >= 0.2) + 1
    rows = tables["thresholds"].select("measure", "threshold", "n").rows()
    assert rows == [("a", 0.001, None), ("a", 0.2, falls), ("b", 0.001, None), ("b", 0.2, 1)]


def test_bands_cover_the_declared_range() -> None:
    tables = evaluate(band="simultaneous", cuts=[3, 6, 100], replicates=200)
    band = tables["bands"].filter(measure="a")
    assert band["n"].to_list() == [3, 4, 5, 6, 7, 8]
    inside = tables["precision"].filter(measure="a").join(band, on=["measure", "n"])
    assert (inside["lower_band"] <= inside["lower"]).all()
    bands = evaluate(band="simultaneous", band_range=[2, 4], replicates=200)["bands"]
    assert sorted(set(bands["n"])) == [2, 3, 4]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"band_range": [1, 5]}, "band_range requires"),
        (
            {"band": "simultaneous", "band_range": [5, 4]},
            r"a first and a last n from 1; write \[4, 5\]",
        ),
        ({"band": "simultaneous", "band_range": [0, 4]}, r"write \[1, 4\]"),
        ({"band": "simultaneous", "cuts": []}, "needs band_range"),
    ],
)
def test_invalid_options_of_a_band_are_refused(config: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(**config)


# The adjudication round in the join: decisions made with the first labels are no annotations

FIRST: list[RowJoinSheets] = [
    ("anna", "x", "SVC", None), ("ben", "x", "free", None),
    ("anna", "y", "SVC", None), ("ben", "y", "SVC", None),
]  # fmt: skip
X = entries_join_sheets(("", "x", None, None))["id"].item()
Y = entries_join_sheets(("", "y", None, None))["id"].item()


def rounds(
    *decisions: RowJoinSheets,
    first: list[RowJoinSheets] = FIRST,
    later_round: str = "adjudication",
    **options: Any,
) -> dict[str, pl.DataFrame]:
    """Join the first labels of anna and ben for x and y, and the later decisions."""
    units = entries_join_sheets(*(("", unit, None, None) for unit in "xy")).select("id", "l1", "l2")
    people = pl.DataFrame({"annotator": ["anna", "ben"]}).join(units, how="cross")
    order = pl.int_range(1, pl.len() + 1)
    sheet = people.select("annotator", order=order, id="id", l1="l1", l2="l2")
    round_names = [None] * len(first) + [later_round] * len(decisions)
    every = entries_join_sheets(*first, *decisions).with_columns(
        pl.Series("round", round_names, dtype=pl.String)
    )
    config = {"categories": {"TP": ["SVC"], "any": ["SVC", "free"]}} | options
    return run_stage("join.sheets", config, sheet=sheet, labels=LABELS_JOIN_SHEETS, entries=every)


def verdicts_of(tables: dict[str, pl.DataFrame], category: str = "TP") -> dict[str, bool | None]:
    rows = tables["judgements"].filter(pl.col("category") == category)
    return dict(rows.select("id", "tp").iter_rows())


def test_decisions_of_a_third_person_keep_the_first_labels() -> None:
    before, tables = rounds(), rounds(("carla", "x", " svc", "as in x"))
    assert verdicts_of(before) == {X: None, Y: True}
    assert verdicts_of(tables) == {X: True, Y: True}
    assert tables["annotations"].equals(before["annotations"])
    assert tables["resolutions"].rows() == [(X, "SVC", "carla", "as in x", "anna: SVC; ben: free")]
    assert tables["adjudicated"].filter(pl.col("id") == X).row(0) == (X, "SVC", 2, False)
    assert before["resolutions"].is_empty()
    assert tables["notes"].select("annotator", "round").rows() == [("carla", "adjudication")]


@pytest.mark.parametrize("rule", ["majority", "unanimous", "expert", "intersection"])
def test_a_resolution_overrides_every_rule(rule: str) -> None:
    options: dict[str, Any] = {"rule": rule} | ({"expert": "anna"} if rule == "expert" else {})
    tables = rounds(("carla", "x", "free", None), ("carla", "y", "free", None), **options)
    assert verdicts_of(tables) == {X: False, Y: False}
    assert verdicts_of(tables, "any") == {X: True, Y: True}
    agreed = tables["adjudicated"].select("id", "label", "agreed").rows()
    assert sorted(agreed) == sorted([(X, "free", False), (Y, "free", True)])


def test_annotators_may_decide_together() -> None:
    assert verdicts_of(rounds(("anna", "x", "free", None)))[X] is None
    tables = rounds((" Anna", "x", "free", None), ("BEN", "x", "free", None))
    assert verdicts_of(tables)[X] is False
    assert tables["resolutions"]["annotator"].to_list() == ["anna, ben"]


def test_a_decision_is_not_a_label_of_the_first_round() -> None:
    with pytest.raises(WaitsForPerson, match='1 label from "ben", for example y v;'):
        rounds(("carla", "y", "SVC", None), ("ben", "y", "SVC", None), first=FIRST[:3])


def test_empty_rows_of_a_sheet_are_reported_with_their_lines() -> None:
    rows = [("a1", "x", None, None), ("a1", "y", "SVC", None), ("b", "x", "free", None)]
    where = r'2 labels \(1 from "a1", 1 from "b"\), for example x v, y v \(s.csv, lines 2 and 5\)'
    with pytest.raises(WaitsForPerson, match=where):
        joined_sheets(*rows, ("b", "y", None, None), partial=False)


def test_empty_rows_with_a_note_are_counted() -> None:
    rows = [("a1", "x", None, "unclear"), ("a1", "y", None, "  "), ("b", "x", "free", None)]
    with pytest.raises(WaitsForPerson, match="; 1 of them with a note; set partial = true"):
        joined_sheets(*rows, ("b", "y", "SVC", "sure"), partial=False)


def test_unannotated_candidates_are_not_decided() -> None:
    tables = rounds(("carla", "y", "SVC", None), first=FIRST[:2], partial=True)
    assert verdicts_of(tables) == {X: None}
    assert tables["resolutions"].is_empty()


def problems_rounds(tables: dict[str, pl.DataFrame]) -> list[tuple[Any, ...]]:
    return tables[FAULTS].sort("line").select("line", "column", "value").rows()


def test_decisions_are_checked_like_labels() -> None:
    tables = rounds(
        ("carla", "x", "SVG", None), (" ", "x", "free", None),
        ("dora", "y", "SVC", None), ("Dora", "y", "free", None),
    )  # fmt: skip
    assert problems_rounds(tables) == [
        (6, "label", "SVG"), (7, "annotator", None),
        (8, "label", "y v: SVC (s.csv, line 8); free (s.csv, line 9)"),
    ]  # fmt: skip


def test_a_changed_label_in_adjudication_is_not_a_fault() -> None:
    assert problems_rounds(rounds(("anna", "x", "free", None))) == []


def test_other_people_may_decide_only_in_adjudication() -> None:
    assert problems_rounds(rounds(("carla", "x", "free", None))) == []
    assert problems_rounds(rounds(("carla", "x", "free", None), later_round="annotation")) == [
        (6, "annotator", "carla")
    ]


def test_an_unknown_round_is_a_fault() -> None:
    assert problems_rounds(rounds(("carla", "x", "free", None), later_round="2nd"))[0] == (
        6,
        "round",
        "2nd",
    )


def test_tables_without_rounds_have_no_additional_columns() -> None:
    plain = entries_join_sheets(*FIRST, ("anna", "z", "SVC", "seen"))
    sheet = plain.limit(4).select("annotator", order="line", id="id", l1="l1", l2="l2")
    # An additional column l3 in a sheet of pairs is not part of the pair.
    own = plain.with_columns(l3=pl.lit("mine"))
    config = {"categories": {"TP": ["SVC"]}}
    tables = run_stage("join.sheets", config, sheet=sheet, labels=LABELS_JOIN_SHEETS, entries=own)
    assert tables["others"].columns == tables["notes"].columns == plain.columns
    assert problems_rounds(tables) == []


# Simulated machines as a stage

JUDGEMENTS = pl.DataFrame(
    {"category": "TP", "id": [f"x{i}" for i in range(400)],
     "tp": [None if i % 10 == 0 else i % 2 == 0 for i in range(400)]},
    schema=Judgements.columns(),
)  # fmt: skip
JUDGES = {
    "good": {"sensitivity": 0.9, "specificity": 0.8},
    "sure": {"sensitivity": 1.0, "specificity": 1.0, "says": "probability"},
}


def test_simulated_judges_have_their_quality() -> None:
    tables = run_stage(
        "sheet.simulated_machine", {"judges": JUDGES, "seed": "s"}, judgements=JUDGEMENTS
    )
    predictions = tables["predictions"].join(JUDGEMENTS, on=["category", "id"])
    assert predictions.filter(judge="good").height == 360
    assert (predictions.filter(judge="sure")["prediction"] == 1).equals(
        predictions.filter(judge="sure")["tp"]
    )
    right = predictions.filter(judge="good").group_by("tp").agg(pl.col("prediction").mean())
    assert dict(right.rows()) == pytest.approx({True: 0.9, False: 0.2}, abs=0.08)


def test_options_of_a_simulation_are_its_provenance() -> None:
    tables = run_stage(
        "sheet.simulated_machine", {"judges": JUDGES, "seed": "s"}, judgements=JUDGEMENTS
    )
    assert tables["judges_provenance"].filter(judge="sure").rows() == [
        ("sure", "says", "probability", 360), ("sure", "sensitivity", "1.0", 360),
        ("sure", "specificity", "1.0", 360),
    ]  # fmt: skip


def test_without_judgements_nothing_is_simulated() -> None:
    tables = run_stage(
        "sheet.simulated_machine", {"judges": JUDGES, "seed": "s"}, judgements=JUDGEMENTS.clear()
    )
    assert all(table.is_empty() for table in tables.values())


# Sheets completed from a table: one column of labels, or one for each annotator

PAIRS = pl.DataFrame({"l1": ["a", "a"], "l2": ["b", "c"]}).with_columns(candidate_id("l1", "l2"))
SHEET = pl.concat(
    PAIRS.select("id", "l1", "l2", annotator=pl.lit(who), order=pl.Series([1, 2])) for who in "xy"
)
TABLE = PAIRS.select("l1", "l2", one=pl.Series(["1", "0"]), two=pl.Series(["0", None]))


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("one", {("x", "b"): "1", ("x", "c"): "0", ("y", "b"): "1", ("y", "c"): "0"}),
        (
            {"x": "one", "y": "two"},
            {("x", "b"): "1", ("x", "c"): "0", ("y", "b"): "0", ("y", "c"): None},
        ),
    ],
)
def test_sheets_are_filled_from_a_table(
    label: str | dict[str, str], expected: dict[tuple[str, str], str | None]
) -> None:
    tables = run_stage("sheet.simulated", {"path": "p", "label": label}, sheet=SHEET, path=TABLE)
    rows = tables["entries"].select("annotator", "l2", "label").rows()
    assert {(who, pair): labels for who, pair, labels in rows} == expected


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ('{ x = "one", z = "two" }', "label: stage 's' has no annotator 'z'"),
        ('{ x = "one" }', "label: names no column for annotator 'y'; add it"),
        ('{ x = "one", y = "three" }', "three"),
    ],
)
def test_label_columns_must_belong_to_annotators(label: str, message: str, tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"t.csv": "l1,l2,one,two\na,b,1,0\na,c,0,1\n"})
    with pytest.raises(LexassayError, match=message):
        small.run(
            '[stages.c]\nuse = "extract.pair_tokens"\npath = "t.csv"\n'
            '[stages.s]\nuse = "sheet.annotation"\ncandidates = "c"\nsample = "c"\nfolder = "s"\n'
            'labels = ["1", "0"]\nannotators = ["x", "y"]\noverlap = 1.0\n'
            '[stages.f]\nuse = "sheet.simulated"\nsheet = "s"\npath = "t.csv"\n'
            f"label = {label}\n",
            deliver=False,
        )
