"""Works: how their pages compare keyed forms, and who their annotators are."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline.annotate.adjudication import ready
from pipeline.annotate.people import add, reassign
from pipeline.annotate.tasks import SheetWork, open_work
from pipeline.api.run import run
from pipeline.errors import ConfigError
from pipeline.formats.annotation_log import open_log
from pipeline.kernels.sampling import candidate_id
from tests.annotate.served import say

JOIN = """
[stages.{name}]
use = "join.keying"
sheet = "sheet"
folder = "paper"
case = "lower"
replace = {{ "ё" = "е" }}
lemma_is_form = true
"""
EXPERIMENT = """
name = "printed"
seed = "1"

[stages.computed]
use = "extract.lexicon"
path = "computed.tsv"

[stages.sample]
use = "sample.lemmas"
lexicons = ["computed"]
lemmas = ["еж", "ель", "дом", "кот", "лес"]

[stages.sheet]
use = "sheet.keying"
lexicon = "computed"
sample = "sample"
folder = "paper"
kind = "csv"
annotators = ["anna", "ben"]
overlap = 1.0
"""


def work_with(folder: Path, *joins: str) -> SheetWork:
    rows = "".join(f"{lemma}\t{lemma}\n" for lemma in CASES)
    (folder / "computed.tsv").write_text(f"lemma\tform\n{rows}", encoding="utf-8")
    text = EXPERIMENT + "".join(JOIN.format(name=name) for name in joins)
    (folder / "printed.toml").write_text(text, encoding="utf-8")
    return open_work(folder / "printed.toml", runs=folder / "runs")


def id_of(lemma: str) -> str:
    return str(pl.select(candidate_id(pl.lit(lemma))).item())


def differing(work: SheetWork) -> list[str]:
    with open_log(work.database) as log:
        return [each.id for each in ready(log, keying=work.keying)]


CASES = {
    "еж": ("ЕЖИ, ежа", "ежа; ёжи", True),
    "ель": ("ель, ели", "Ели", True),  # the lemma counts as a form
    "дом": ("дома", "дому", False),
    "кот": ("-", "коты", False),
    "лес": ("–", "-", True),
}
"""For each lemma, the forms of anna and ben, and whether these are equal."""


def test_forms_that_the_stage_considers_equal_need_no_decision(tmp_path: Path) -> None:
    work = work_with(tmp_path, "keyed")
    for lemma, (anna, ben, _) in CASES.items():
        say(work, "anna", id_of(lemma), anna)
        say(work, "ben", id_of(lemma), ben)
    expected = sorted(id_of(lemma) for lemma, (_, _, equal) in CASES.items() if not equal)
    assert differing(work) == expected
    finished = run(tmp_path / "printed.toml", runs=tmp_path / "runs", deliver=False, report=False)
    assert [each.missing for each in finished.waits] == [len(expected)]


@pytest.mark.parametrize("joins", [(), ("keyed", "again")])
def test_forms_are_compared_as_typed_without_a_single_join(
    tmp_path: Path, joins: tuple[str, ...]
) -> None:
    work = work_with(tmp_path, *joins)
    assert work.keying is None
    lemma = id_of("еж")
    say(work, "anna", lemma, "Ежи")
    say(work, "ben", lemma, "ежи")
    say(work, "anna", id_of("дом"), "дома; дом")
    say(work, "ben", id_of("дом"), "дом,дома")
    assert differing(work) == [lemma]


def test_keying_waits_for_the_people_who_have_the_lemmas(tmp_path: Path) -> None:
    work = work_with(tmp_path, "keyed")
    with open_log(work.database) as log:
        add(log, work, "Carla")
        reassign(log, work, "anna", ["Carla"])
    for lemma in ("еж", "ель", "лес"):
        say(work, "Carla", id_of(lemma), CASES[lemma][0])
        say(work, "ben", id_of(lemma), CASES[lemma][1])
    options = {"runs": tmp_path / "runs", "deliver": False, "report": False}
    (wait,) = run(tmp_path / "printed.toml", **options).waits  # type: ignore[arg-type]
    assert (wait.missing, wait.whose) == (2, {"Carla": 2, "ben": 2})
    for who in ("Carla", "ben"):
        for lemma in ("дом", "кот"):
            say(work, who, id_of(lemma), "-")
    finished = run(tmp_path / "printed.toml", **options)  # type: ignore[arg-type]
    assert not finished.waits
    assert set(finished.table("keyed.keyings")["annotator"]) == {"Carla", "ben"}


def test_links_can_be_limited_to_an_added_person(tmp_path: Path) -> None:
    work = work_with(tmp_path, "keyed")
    with open_log(work.database) as log:
        add(log, work, "carla")
    place = {"runs": tmp_path / "runs", "annotators": ["carla"]}
    assert open_work(tmp_path / "printed.toml", **place).annotators == ("carla",)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="'dora' is not an annotator.*--add dora"):
        open_work(tmp_path / "printed.toml", runs=tmp_path / "runs", annotators=["dora"])
