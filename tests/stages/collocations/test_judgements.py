"""Predictions and judgements from tables: labels, probabilities, several judges, bad rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from pipeline.errors import ConfigError
from pipeline.kernels.nbest.precision import (
    baseline,
    draw_totals,
    nbest_counts,
    positives,
    precision_columns,
    worst_cases,
)
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import STAGES, Of
from pipeline.stages.collocations.evaluation import draws_without_unjudged, judged_draws
from schemas import Judgements, Predictions
from tests.kernels.nbest.rank_frames import name, ranks_of
from tests.stages.run_stage import SmallRun, faults, run_stage

PREDICTIONS = pl.DataFrame(
    {"l1": ["a", "b", "c"], "l2": ["x"] * 3, "probability": ["0.9", "0.25", "1"],
     "judge": ["m"] * 3, "model": ["m-1", "m-1", "m-2"], "prompt": ["p", None, "p"]}
)  # fmt: skip
CANDIDATES = PREDICTIONS.select(candidate_id("l1", "l2"))
IDS = CANDIDATES["id"].to_list()


def join(message: pl.DataFrame, **config: Any) -> dict[str, pl.DataFrame]:
    return run_stage("join.machine", config, path=message, candidates=CANDIDATES)


def test_probabilities_become_predictions() -> None:
    tables = join(PREDICTIONS)
    assert sorted(tables["predictions"].rows()) == sorted(
        ("TP", "m", each, p) for each, p in zip(IDS, (0.9, 0.25, 1.0), strict=True)
    )
    assert faults(tables) == []


def test_other_columns_become_provenance() -> None:
    assert join(PREDICTIONS)["judges_provenance"].rows() == [
        ("m", "model", "m-1", 2), ("m", "model", "m-2", 1), ("m", "prompt", "p", 2),
    ]  # fmt: skip
    provenance = join(PREDICTIONS, provenance=["prompt"])["judges_provenance"]
    assert provenance["column"].unique().to_list() == ["prompt"]
    with pytest.raises(ConfigError, match="provenance: the file has no column 'modell'"):
        join(PREDICTIONS, provenance=["modell"])


@pytest.mark.parametrize("label", ["1", "True", "yes", " TP ", "+"])
def test_labels_of_true_positives_become_predictions(label: str) -> None:
    predictions = PREDICTIONS.drop("probability").with_columns(label=pl.Series([label, "FP", ""]))
    table = join(predictions)["predictions"]
    assert dict(table.select("id", "prediction").rows()) == {IDS[0]: 1.0, IDS[1]: 0.0}


def test_labels_can_be_configured() -> None:
    predictions = PREDICTIONS.with_columns(answer=pl.Series(["SVC", "free", "figurative"]))
    categories = {
        "SVC": {"column": "answer", "labels": ["SVC"]},
        "any": {"column": "answer", "labels": ["SVC", "figurative"]},
        "p": "probability",
    }
    result = join(predictions, categories=categories)["predictions"].sort("category", "id")
    by = {name: dict(result.filter(category=name).select("id", "prediction").rows())
          for name in categories}  # fmt: skip
    assert by["SVC"] == dict(zip(IDS, (1.0, 0.0, 0.0), strict=True))
    assert by["any"] == dict(zip(IDS, (1.0, 0.0, 1.0), strict=True))
    assert by["p"] == dict(zip(IDS, (0.9, 0.25, 1.0), strict=True))


def test_numbers_and_truth_values_become_predictions() -> None:
    for values in ([0.9, 0.25, 1.0], [True, False, True], [1, 0, 1]):
        table = join(PREDICTIONS.with_columns(probability=pl.Series(values)))["predictions"]
        expected = dict(zip(IDS, map(float, values), strict=True))
        assert dict(table.select("id", "prediction").rows()) == expected


def test_the_judge_may_be_an_option_or_a_column() -> None:
    one = join(PREDICTIONS.drop("judge"), judge="gpt")["predictions"]
    assert set(one["judge"]) == {"gpt"}
    renamed = join(PREDICTIONS.rename({"judge": "who"}), columns={"judge": "who"})["predictions"]
    assert set(renamed["judge"]) == {"m"}
    with pytest.raises(ConfigError, match="judge: the file has no column 'judge'"):
        join(PREDICTIONS.drop("judge"))


def test_a_table_may_have_several_judges() -> None:
    both = pl.concat([PREDICTIONS, PREDICTIONS.with_columns(judge=pl.lit("n"))])
    assert join(both)["predictions"].height == 6
    assert faults(join(both)) == []


def test_ids_may_replace_pairs() -> None:
    by_id = PREDICTIONS.drop("l1", "l2").with_columns(CANDIDATES["id"])
    expected = join(PREDICTIONS)["predictions"].sort("id")
    assert join(by_id)["predictions"].sort("id").equals(expected)
    by_key = PREDICTIONS.with_columns(key=CANDIDATES["id"], l1=pl.lit("elsewhere"))
    assert join(by_key, columns={"id": "key"})["predictions"].sort("id").equals(expected)
    numbered = PREDICTIONS.with_columns(id=pl.Series([1, 2, 3]))  # a row number is not an id
    assert join(numbered)["predictions"].sort("id").equals(expected)


def test_bad_rows_are_faults() -> None:
    predictions = PREDICTIONS.with_columns(probability=pl.Series(["1.5", "maybe", "NaN"]))
    assert faults(join(predictions)) == [
        (2, "probability", "1.5"), (3, "probability", "maybe"), (4, "probability", "NaN"),
    ]  # fmt: skip
    empty = PREDICTIONS.with_columns(
        l1=pl.Series(["a", " ", "c"]), judge=pl.Series(["m", "m", None])
    )
    assert faults(join(empty)) == [(3, "l1", " "), (4, "judge", None)]


def test_unknown_pairs_are_faults_unless_they_are_skipped() -> None:
    more = pl.concat([PREDICTIONS, PREDICTIONS.head(1).with_columns(l1=pl.lit("z"))])
    assert faults(join(more)) == [(5, "l1, l2", "z x")]
    assert faults(join(more, others="skip")) == []
    assert join(more, others="skip")["predictions"].height == 3


def test_repeated_pairs_are_faults_even_if_they_agree() -> None:
    twice = pl.concat([PREDICTIONS, PREDICTIONS.head(1)])
    assert faults(join(twice)) == [(2, "l1, l2", "a x"), (5, "l1, l2", "a x")]


def test_empty_predictions_give_no_rows() -> None:
    assert join(PREDICTIONS.with_columns(probability=pl.lit("")))["predictions"].is_empty()
    assert join(PREDICTIONS.clear())["judges_provenance"].is_empty()


def test_a_missing_column_of_answers_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"categories\.TP: the file has no column 'probability'"):
        join(PREDICTIONS.drop("probability"))


def accepts(table: type) -> set[tuple[str, str]]:
    """Return the options of all stages that accept a table."""
    marks = {
        (use, option): mark
        for use in STAGES
        for option, info in STAGES.get(use).config.model_fields.items()
        for mark in [*info.metadata, *(m for each in get_args(info.annotation)
                                       for m in getattr(each, "__metadata__", ()))]
        if isinstance(mark, Of)
    }  # fmt: skip
    return {place for place, mark in marks.items() if issubclass(table, mark.schema)}


def test_no_stage_accepts_predictions_as_judgements() -> None:
    assert not issubclass(Predictions, Judgements)
    assert not accepts(Predictions) & accepts(Judgements)
    assert ("evaluate.machine", "predictions") in accepts(Predictions)
    assert ("sample.design", "assist") in accepts(Predictions)


FILES = {
    "pairs.tsv": "l1\tl2\tf\tf1\tf2\tN\tTP\n"
    + "".join(f"a{i}\tb\t{i}\t9\t60\t99\t{i % 2}\n" for i in range(2, 9)),
    "said.csv": "l1,l2,label,judge,model\n"
    + "".join(f"a{i},b,TP,robot,r-7\n" for i in range(2, 9)),
}
SHEET = """
[stages.candidates]
use = "extract.table"
path = "pairs.tsv"
[stages.sample]
use = "sample.random"
candidates = "candidates"
size = 5
[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
folder = "people"
kind = "csv"
labels = ["TP", "FP"]
"""
MACHINE = """
[stages.machine]
use = "join.machine"
path = "said.csv"
candidates = "candidates"
"""


@pytest.mark.long
def test_a_sheet_does_not_show_predictions(tmp_path: Path) -> None:
    """Neither beside the sample, nor if the predicted candidates are the sample."""
    runs = {}
    asks = MACHINE + SHEET.replace('sample = "sample"', 'sample = "machine.predictions"')
    for case, text in (("without", SHEET), ("beside", SHEET + MACHINE), ("asks", asks)):
        (tmp_path / case).mkdir()
        tables = SmallRun(tmp_path / case, FILES).run(text)
        runs[case] = tables["sheet.sheet"]
        lines = [path.read_text("utf-8-sig") for path in (tmp_path / case).rglob("people/*/*.csv")]
        assert not any(word in text for text in lines for word in ("robot", "r-7", "TP,"))
    assert runs["without"].equals(runs["beside"])
    assert runs["asks"].columns == runs["without"].columns


def test_judgements_that_are_predictions_are_refused(tmp_path: Path) -> None:
    wrong = (
        SHEET
        + MACHINE
        + """
[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["frequency"]
[stages.ranks]
use = "score.rank"
scores = "scores"
[stages.precision]
use = "evaluate.precision"
ranks = "ranks"
judgements = "machine"
"""
    )
    with pytest.raises(lx.errors.ConfigError, match="but Judgements is needed here"):
        SmallRun(tmp_path, FILES).run(wrong)


@pytest.mark.parametrize("packed", [False, True])
def test_json_lines_are_read_like_a_table(packed: bool, tmp_path: Path) -> None:
    rows = [
        "l1,l2,f,f1,f2,N,TP,probability",
        "a,x,3,9,9,90,1,0.9",
        "b,x,2,9,9,90,0,0.25",
        "c,x,2,9,9,90,1,1",
    ]
    small = SmallRun(tmp_path, {"pairs.csv": "\n".join(rows) + "\n"})
    names, *values = (row.split(",") for row in rows)
    text = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in values)
    name = "pairs.jsonl.gz" if packed else "pairs.jsonl"
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    tables = {each: small.run(JOINS.replace("PATH", each)) for each in ("pairs.csv", name)}
    assert tables[name]["labels.judgements"].height == 3
    for table in ("labels.judgements", "machine.predictions"):
        assert tables[name][table].equals(tables["pairs.csv"][table])


JOINS = """
[stages.candidates]
use = "extract.table"
path = "pairs.csv"
[stages.labels]
use = "join.table"
path = "PATH"
candidates = "candidates"
categories = { TP = "TP" }
[stages.machine]
use = "join.machine"
path = "PATH"
candidates = "candidates"
judge = "m"
"""


# Judgements from tables

SHEET_JOIN_TABLE = pl.DataFrame(
    {"l1": ["a", "b", "c", "d"], "l2": ["x"] * 4, "TP": ["1", "no", None, "TRUE"],
     "idiom": ["0", "0", "", "1"]}
)  # fmt: skip
CANDIDATES_JOIN_TABLE = SHEET_JOIN_TABLE.head(3).select(candidate_id("l1", "l2"))


def judge(sheet: pl.DataFrame, **config: object) -> dict[str, pl.DataFrame]:
    return run_stage("join.table", config, path=sheet, candidates=CANDIDATES_JOIN_TABLE)


def test_null_is_unjudged_and_other_pairs_are_counted() -> None:
    tables = judge(SHEET_JOIN_TABLE)
    assert tables["judgements"].join(CANDIDATES_JOIN_TABLE, on="id").select("tp").sum().item() == 1
    assert tables["judgements"].height == 2
    assert tables["coverage"].rows() == [("TP", 3, 2, 1, 1)]
    assert faults(tables) == []


def test_truth_values_are_judgements() -> None:
    table = SHEET_JOIN_TABLE.with_columns(TP=pl.Series([True, False, None, True]))
    assert judge(table)["judgements"].equals(judge(SHEET_JOIN_TABLE)["judgements"])
    assert faults(judge(table)) == []


def test_a_table_may_have_several_categories() -> None:
    tables = judge(SHEET_JOIN_TABLE, categories={"all": "TP", "idiom": "idiom"})
    assert tables["coverage"].rows() == [("all", 3, 2, 1, 1), ("idiom", 3, 2, 0, 1)]


def test_repeated_judgements_must_agree() -> None:
    assert judge(pl.concat([SHEET_JOIN_TABLE, SHEET_JOIN_TABLE]))["coverage"].rows() == [
        ("TP", 3, 2, 1, 1)
    ]
    changed = SHEET_JOIN_TABLE.with_columns(TP=pl.lit("0"))
    result = judge(pl.concat([SHEET_JOIN_TABLE, changed]))
    assert faults(result) == [
        (2, "TP", "true"),
        (5, "TP", "true"),
        (6, "TP", "false"),
        (9, "TP", "false"),
    ]


def test_values_that_are_not_judgements_are_faults() -> None:
    result = judge(SHEET_JOIN_TABLE.with_columns(TP=pl.Series(["1", "maybe", None, "2"])))
    assert faults(result) == [(3, "TP", "maybe"), (5, "TP", "2")]


def test_columns_can_be_named() -> None:
    tables = judge(SHEET_JOIN_TABLE.rename({"l1": "PP"}), columns={"l1": "PP"})
    assert tables["judgements"].height == 2
    with pytest.raises(
        ConfigError, match="categories.TP: the file has no column 'b.TP'; did you mean TP"
    ):
        judge(SHEET_JOIN_TABLE, categories={"TP": "b.TP"})


def test_a_table_without_rows_keeps_its_category() -> None:
    assert judge(SHEET_JOIN_TABLE.clear())["coverage"].rows() == [("TP", 3, 0, 0, 0)]


def test_labels_of_true_positives_become_judgements() -> None:
    sheet = SHEET_JOIN_TABLE.with_columns(kind=pl.Series(["SVC", "free", "", "idiom"]))
    category = {"column": "kind", "labels": ["SVC", "idiom"]}
    tables = judge(sheet, categories={"TP": category})
    assert tables["coverage"].rows() == [("TP", 3, 2, 1, 1)]
    assert faults(tables) == []


def test_categories_can_be_united() -> None:
    sheet = pl.DataFrame(
        {"l1": ["a", "b", "c"], "l2": ["x"] * 3, "s": ["1", "0", "0"], "f": ["", "0", None]}
    )
    config = {"categories": {"s": "s", "f": "f"}, "unions": {"TP": ["s", "f"]}}
    result = judge(sheet, **config)["judgements"].filter(category="TP")
    names = {
        row[0]: row[1]
        for row in CANDIDATES_JOIN_TABLE.with_columns(l1=pl.Series(["a", "b", "c"])).rows()
    }
    by_name = {names[row[1]]: row[2] for row in result.rows()}
    assert by_name == {"a": True, "b": False}  # c: not in s, and f is undecided


def test_a_union_requires_parts_and_a_new_name() -> None:
    wrong: list[dict[str, list[str]]] = [{"TP": ["idiom"]}, {"other": ["idiom"]}, {"other": []}]
    for unions in wrong:
        with pytest.raises(ValueError, match="needs a new name, and parts among TP"):
            judge(SHEET_JOIN_TABLE, unions=unions)


# If all candidates count, unjudged ones need no row: the results are the same

labels = st.dictionaries(st.integers(0, 9), st.sampled_from([True, False, None]), max_size=10)
HOW = {"method": "hypergeometric", "confidence": 0.9}


@given(st.integers(1, 8), labels, labels)
def test_unjudged_candidates_need_no_rows(size: int, one: dict, other: dict) -> None:  # type: ignore[type-arg]
    scores = [float(-(place // 3)) for place in range(size)]
    ranks = ranks_of({"x": scores, "y": scores[::-1]}).lazy()
    rows = [("A", name(c), tp) for c, tp in one.items()]
    rows += [("B", name(c), tp) for c, tp in other.items()]
    schema = {"category": pl.String, "id": pl.String, "tp": pl.Boolean}
    judgements = pl.LazyFrame(rows, schema=schema, orient="row")
    tables = {"ranks": ranks, "judgements": judgements}
    every, few = judged_draws(tables).collect(), draws_without_unjudged(tables)
    assert few.height <= len(rows) + 2
    assert few.select(every.columns).schema == every.schema
    assert draw_totals(few).equals(draw_totals(every))
    counts = nbest_counts(ranks, few.lazy())
    assert counts.equals(nbest_counts(ranks, every.lazy()))
    whole = [baseline(each, n_candidates=size, sampled=False, **HOW) for each in (few, every)]  # type: ignore[arg-type]
    assert whole[0].equals(whole[1])
    lists = precision_columns(counts, positives=positives(few), **HOW)  # type: ignore[arg-type]
    worst = [worst_cases(lists, ranks, each, **HOW) for each in (None, every)]  # type: ignore[arg-type]
    assert worst[0].equals(worst[1])
