"""Tables that are read, merged and joined in parts, to bound the memory, are what the whole is."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import FAULTS, STAGES
from tests.kernels.room_for import room_for
from tests.stages.run_stage import faults, run_stage

MOST = 60


def numbers(first: int) -> pl.DataFrame:
    return pl.DataFrame({"n": pl.int_range(first, first + 1000, eager=True)})


def pairs(first: int) -> pl.DataFrame:
    n = pl.col("n")
    f = pl.col("f")
    read = numbers(first).select(
        l1=pl.format("a{}", n % 31), l2=pl.format("b{}", n // 2), f=n % 7 + 1
    )
    counted = read.with_columns(f1=f.sum().over("l1"), f2=f.sum().over("l2"), N=f.sum())
    return counted.select(candidate_id("l1", "l2"), pl.all(), documents=pl.lit(1, pl.Int64))


def words(first: int) -> pl.DataFrame:
    listed = numbers(first).select(word=pl.format("w{}", "n"), f=pl.col("n") % 50 + 1)
    return listed.select(candidate_id("word"), pl.all(), N=pl.col("f").sum())


def sentences() -> pl.DataFrame:
    one, text = pl.lit(1, pl.Int64), pl.format("[[{}]]", "word")
    some = words(0).filter(pl.col("f") > 9)
    return some.select("id", number=one, doc=pl.lit(""), text=text, draw_key="f")


def tuples() -> pl.DataFrame:
    third = pl.format("c{}", pl.int_range(pl.len()) % 7)
    triples = pairs(0).select("l1", "l2", l3=third, f="f")
    parts = [["l1"], ["l2"], ["l3"], ["l1", "l2"], ["l1", "l3"], ["l2", "l3"]]
    names = ["f1", "f2", "f3", "f_12", "f_13", "f_23"]
    f = pl.col("f").sum()
    summed = {name: f.over(part) for name, part in zip(names, parts, strict=True)}
    counted = triples.with_columns(**summed, N=f)
    return counted.select(candidate_id("l1", "l2", "l3"), pl.all())


def of_tuples() -> pl.DataFrame:
    return tuples().select(
        "id", number=pl.lit(1, pl.Int64), doc=pl.lit(""), text="l3", draw_key="f"
    )


def placed(rows: pl.DataFrame) -> pl.LazyFrame:
    line = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return rows.lazy().with_columns(file=pl.lit("a.tsv"), line=line)


CASES: dict[str, tuple[dict[str, Any], dict[str, pl.DataFrame]]] = {
    "extract.table": (
        {"keep": {"x": "documents"}, "min_frequency": 2},
        {"path": pairs(0).drop("id").cast(pl.String)},
    ),
    "extract.word_table": ({"fold": True}, {"path": pl.concat([words(0), words(500)]).drop("id")}),
    "extract.merge": ({"min_frequency": 2}, {"first": pairs(0), "second": pairs(400)}),
    "extract.scores": (
        {"scores": {"mi": "f1"}, "ascending": ["mi"], "order": "rank"},
        {"path": pairs(0).drop("id")},
    ),
    "extract.pairing": (
        {"pairing": [[3, 1], [2]]},
        {"tuples": tuples(), "examples": of_tuples()},
    ),
    "extract.keywords": (
        {"min_frequency": 0},
        {"target": words(0), "reference": words(300), "examples": sentences()},
    ),
}


SLOW = {"extract.merge", "extract.keywords"}


@pytest.mark.parametrize(
    "use",
    [pytest.param(use, marks=[pytest.mark.long] if use in SLOW else []) for use in CASES],
)
def test_the_same_tables(use: str) -> None:
    config, tables = CASES[use]
    whole = run_stage(use, config, **tables)
    with room_for(MOST):
        found = run_stage(use, config, **tables)
    for name, table in whole.items():
        assert name == FAULTS or table.height > 500
        assert found[name].sort(table.columns).equals(table.sort(table.columns)), name


@pytest.mark.parametrize("use", CASES)
@pytest.mark.long
def test_no_part_has_many_more_than_there_is_room_for(use: str) -> None:
    """The bounds are guessed from some rows, so it is not exact."""
    options, tables = CASES[use]
    stage = STAGES.get(use)
    config = stage.config.model_validate({name: name for name in tables} | options)
    main = next(iter(stage.outputs))
    lazy = {name: placed(frame) for name, frame in tables.items()}
    assert stage.pieces is not None
    with room_for(MOST):
        made = [
            piece[main].lazy().collect() for piece in stage.pieces(config, lazy) if main in piece
        ]
    assert len(made) > 500 // MOST
    assert max(part.height for part in made) < 3 * MOST
    assert pl.concat(made)["id"].is_sorted()


def test_the_first_faults_of_units_come_before_those_of_counts() -> None:
    """Whatever part of the file they stand in."""
    rows = pairs(0).drop("id").cast(pl.String).with_row_index()
    wrong = rows.with_columns(
        l2=pl.when(pl.col("index") == 900).then(pl.lit(" ")).otherwise("l2"),
        f=pl.when(pl.col("index") == 100).then(pl.lit("-1")).otherwise("f"),
    ).drop("index")  # fmt: skip
    with room_for(MOST):
        made = run_stage("extract.table", {}, path=wrong)
    assert faults(made) == [(102, "f", "-1"), (902, "l2", " ")]
    assert made[FAULTS]["line"].to_list() == [902, 102]


def test_counts_that_are_too_large_together() -> None:
    """They are added up over the parts of a file."""
    listed = pl.DataFrame({"word": [f"w{n}" for n in range(100)], "f": [2**53 // 50] * 100})
    with room_for(10):
        made = run_stage("extract.word_table", {}, path=listed)
    assert [line for line, *_ in faults(made)] == list(range(52, 102))
