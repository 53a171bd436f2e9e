"""Lexicons from tables: rows selected, texts in one spelling, homographs, listed forms, unions."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from pipeline.stages.base import STAGES
from tests.stages.run_stage import faults, run_stage

TABLE = pl.DataFrame(
    {
        "lemma": ["ra", "ra ", "bank", "bank", "bank", "dar", "ra"],
        "form": ["ra", "RAT", "bank", "banks", "banke", None, "ra"],
        "pos": ["V", "V", "N1", "N1", "N2", "N", "V"],
    }
)


def read(table: pl.DataFrame = TABLE, **config: Any) -> dict[str, pl.DataFrame]:
    return run_stage("extract.lexicon", config, path=table)


def forms(made: dict[str, pl.DataFrame], lemma: str) -> list[str | None]:
    return made["lexicon"].filter(lemma=lemma)["form"].sort().to_list()


def test_forms_of_each_lemma_once() -> None:
    made = read()
    assert forms(made, "ra") == ["RAT", "ra"]
    assert forms(made, "bank") == ["bank", "banke", "banks"]
    assert forms(made, "dar") == [None]
    assert made["lemmas"].sort("position").rows() == [
        (1, "ra", 3, 2),
        (2, "bank", 3, 3),
        (3, "dar", 1, 0),
    ]
    assert faults(made) == []


def test_everything_done_is_counted() -> None:
    steps = dict(read(case="lower")["preparation"].select("step", "n").rows())
    assert steps == {
        "rows read": 7,
        "texts changed: blanks around": 1,
        "texts changed: Unicode NFC": 0,
        "texts changed: lower case": 1,
        "rows without a form": 1,
        "rows that repeat another": 1,
        "lemmas": 3,
        "lemmas without any form": 1,
        "forms, each counted once per lemma": 5,
    }


def test_homographs_apart() -> None:
    made = read(apart_by=["pos"])
    assert forms(made, "bank|N1") == ["bank", "banks"]
    assert forms(made, "bank|N2") == ["banke"]


def test_a_lemma_that_looks_like_one_with_its_homograph() -> None:
    odd = TABLE.with_columns(lemma=pl.lit("a|b"))
    assert len(faults(read(odd, apart_by=["pos"]))) == 7
    assert faults(read(odd)) == []


def test_rows_are_selected() -> None:
    assert read(where="pos = 'V'")["lemmas"]["lemma"].to_list() == ["ra"]
    with pytest.raises(ValidationError, match="is not a Polars SQL condition"):
        read(where="pos = = 'V'")
    with pytest.raises(ConfigError, match="where: the file has no column 'part'"):
        read(where="part = 'V'")


def test_a_printed_dictionary() -> None:
    keyed = pl.DataFrame(
        {"headword": ["missier", "ra", "ra"], "homograph": [None, "1", "2"],
         "forms": ["missierek, missierna,missier", "rajt", None]}
    )  # fmt: skip
    names = {"lemma": "headword", "form": "forms"}
    made = read(keyed, columns=names, forms_separator=", ", lemma_is_form=True)
    assert forms(made, "missier") == ["missier", "missierek", "missierna"]
    assert forms(made, "ra") == ["ra", "rajt"]
    apart = read(
        keyed, columns=names, forms_separator=",", lemma_is_form=True, apart_by=["homograph"]
    )
    assert forms(apart, "ra|2") == ["ra"]
    assert forms(apart, "missier|")[0] == "missier"


def test_separators_alone_list_no_form() -> None:
    keyed = pl.DataFrame({"lemma": ["bank", "dar"], "form": ["bank, ,banks,, ", " , "]})
    made = read(keyed, forms_separator=",")
    assert forms(made, "bank") == ["bank", "banks"]
    assert forms(made, "dar") == [None]
    steps = dict(made["preparation"].select("step", "n").rows())
    assert (steps["rows without a form"], steps["texts changed: blanks around"]) == (1, 0)


def test_one_spelling() -> None:
    table = pl.DataFrame({"lemma": ["Ёж", "еж"], "form": ["ежи", "ёжи"]})
    made = read(table, case="lower", replace={"ё": "е"})
    assert made["lexicon"].rows() == [("еж", "ежи")]


def test_a_row_without_a_lemma_is_a_fault() -> None:
    odd = pl.DataFrame({"word": ["a", None], "form": ["b", "c"]})
    assert faults(read(odd, columns={"lemma": "word"})) == [(3, "word", None)]


def test_columns_that_are_not_there() -> None:
    with pytest.raises(ConfigError, match="columns.form.*\n.*apart_by.*no column 'part'"):
        read(TABLE.drop("form"), apart_by=["part"])


def test_union_of_several() -> None:
    one = pl.DataFrame({"lemma": ["a", "b"], "form": ["x", None]})
    two = pl.DataFrame({"lemma": ["a", "b"], "form": ["y", "z"]})
    stage = STAGES.get("extract.union")
    config = stage.config.model_validate({"lexicons": ["p", "q"]})
    made = stage.run(config, {"lexicons.0": one.lazy(), "lexicons.1": two.lazy()})["lexicon"]
    assert sorted(made.lazy().collect().rows()) == [("a", "x"), ("a", "y"), ("b", "z")]


def test_paradigms() -> None:
    entries = pl.DataFrame({"lemma": ["kiteb"], "stem": ["ktib"], "paradigm": ["I"]})
    paradigms = pl.DataFrame({"paradigm": ["I", "I"], "ending": ["na", "ni~"]})
    stage = STAGES.get("extract.paradigms")
    config = stage.config.model_validate({"entries": "e.tsv", "paradigms": "p.tsv"})

    def made(entries: pl.DataFrame) -> dict[str, pl.DataFrame]:
        tables = {"entries": _placed(entries), "paradigms": _placed(paradigms)}
        return {k: v.lazy().collect() for k, v in stage.run(config, tables).items()}

    assert sorted(made(entries)["lexicon"]["form"]) == ["ktibna", "niktib"]
    assert faults(made(entries)) == []
    wrong = entries.with_columns(paradigm=pl.lit("VII"))
    assert faults(made(wrong)) == [(2, "paradigm", "VII")]
    assert faults(made(entries.with_columns(stem=pl.lit(None, pl.String)))) == [(2, "stem", None)]


def test_what_is_generated_is_counted() -> None:
    entries = pl.DataFrame({"lemma": ["Ir"], "stem": ["i"], "paradigm": ["I"]})
    paradigms = pl.DataFrame({"paradigm": ["I", "I"], "ending": ["r", "R"]})
    tables = {"entries": _placed(entries).collect(), "paradigms": _placed(paradigms).collect()}
    made = run_stage("extract.paradigms", {"case": "lower"}, **tables)
    assert dict(made["preparation"].select("step", "n").rows()) == {
        "forms generated": 2,
        "texts changed: blanks around": 0,
        "texts changed: Unicode NFC": 0,
        "texts changed: lower case": 3,
        "lemmas": 1,
        "forms, each counted once per lemma": 1,
    }


def _placed(frame: pl.DataFrame) -> pl.LazyFrame:
    line = pl.int_range(2, pl.len() + 2, dtype=pl.Int64).alias("line")
    return frame.lazy().select(pl.lit("t.tsv").alias("file"), line, pl.all())
