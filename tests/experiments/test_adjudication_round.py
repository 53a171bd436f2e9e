"""A second round: what two people disagree on goes to a third, who decides."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.formats.spreadsheets import listing
from tests.experiments.test_sheets import EXPERIMENT, NOUNS, fill, sentence

ROUND = """
[stages.agreement]
use = "evaluate.agreement"
annotations = "judgements.annotations"

[stages.third]
use = "sheet.annotation"
candidates = "candidates"
sample = "agreement.disagreements"
folder = "third"
labels = ["SVC", "free"]
annotators = ["carla"]

[stages.decided]
use = "join.sheets"
sheet = "third"
labels = "third.labels"
folder = "third"
earlier = "judgements.annotations"
rule = "expert"
expert = "carla"
categories = { TP = ["SVC"] }
"""
WHOLE = EXPERIMENT.replace("overlap = 0.5", "overlap = 1").replace(
    'judgements = "judgements"', 'judgements = "decided"'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    corpus = "".join(sentence(noun, verb) for noun in NOUNS for verb in ("take", "give"))
    (tmp_path / "corpus.conllu").write_text(corpus, encoding="utf-8")
    (tmp_path / "x.toml").write_text(WHOLE + ROUND)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_third_person_decides(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheets = folder / "sheets" / "small"
    assert main(["run", "x.toml", "--no-report"]) == 3
    anna, ben = listing(sheets / "pairs")
    fill(anna, "SVC")
    fill(ben, "free")
    fill(ben, "SVC", only=2)
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert "small/third waits for 4 labels: 4 of carla" in capsys.readouterr().out
    (carla,) = listing(sheets / "third")
    fill(carla, "free")
    fill(carla, "SVC", only=1)
    assert main(["run", "x.toml", "--no-report"]) == 0
    done = lx.show("x.toml")
    first, decided = done.table("judgements"), done.table("decided")
    assert first["tp"].null_count() == 4
    assert decided.height == first.height == 6
    assert decided["tp"].null_count() == 0
    assert decided["tp"].sum() == 3  # two that both gave, one that the third gave
    agreed = first.drop_nulls("tp")
    assert agreed.join(decided, on=list(agreed.columns)).height == agreed.height
    assert done.table("decided.annotations").height == 6 * 2 + 4
    assert done.table("sampled.baseline").row(0, named=True)["k_sampled"] == 3


@pytest.mark.long
def test_what_people_agree_on_in_the_end_is_not_decided_by_a_third(folder: Path) -> None:
    """Carla was asked while they differed; when both have changed their minds, theirs counts."""
    sheets = folder / "sheets" / "small"
    main(["run", "x.toml", "--no-report"])
    anna, ben = listing(sheets / "pairs")
    fill(anna, "SVC")
    fill(ben, "free")
    main(["run", "x.toml", "--no-report"])
    fill(listing(sheets / "third")[0], "SVC")
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert lx.show("x.toml").table("decided")["tp"].all()
    fill(anna, "free")
    assert main(["run", "x.toml", "--no-report"]) == 0
    done = lx.show("x.toml")
    assert not done.table("decided")["tp"].any()
    assert done.table("decided.others").height == 6


def test_who_labels_anew_in_the_second_round_has_the_later_label(folder: Path) -> None:
    """A joint round: one of the two types what both agreed on."""
    text = (folder / "x.toml").read_text().replace("carla", "anna")
    (folder / "x.toml").write_text(text)
    sheets = folder / "sheets" / "small"
    main(["run", "x.toml", "--no-report"])
    anna, ben = listing(sheets / "pairs")
    fill(anna, "SVC")
    fill(ben, "free")
    main(["run", "x.toml", "--no-report"])
    fill(listing(sheets / "third")[0], "free")
    assert main(["run", "x.toml", "--no-report"]) == 0
    labels = lx.show("x.toml").table("decided.annotations")
    assert labels.height == 6 * 2
    assert labels.filter(pl.col("label") == "SVC").is_empty()


def test_nothing_to_decide(folder: Path) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in listing(folder / "sheets" / "small" / "pairs"):
        fill(path, "SVC")
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert listing(folder / "sheets" / "small" / "third") == []
    assert lx.show("x.toml").table("decided")["tp"].to_list() == [True] * 6
