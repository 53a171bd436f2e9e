"""``lexassay size`` for declared questions: one table, one chart, one sentence, clear errors."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.sizing.design import TOGETHER
from tests.sizing.design_experiment import write

ASK = ["size", "x.toml", "--half-width", "0.1"]


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("size")
    lx.run(write(folder), runs=folder / "runs", report=False)
    return folder


@pytest.fixture(autouse=True)
def _there(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(experiment)


@pytest.mark.long
def test_table_and_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASK, "--precision", "30%"]) == 0
    said = capsys.readouterr().out
    table = lx.plan_design(lx.show("x.toml"), half_width=0.1, rate=0.3)
    need = dict(table.filter(question=TOGETHER, looks=1).select("plan", "labels").rows())
    looked = table.filter(question=TOGETHER, looks=4)["labels"].to_list()
    sentence = (
        f"7 questions at ±10 points need {need['simple']:,} labels from a simple sample,"
        f" {need['stratified']:,} from a stratified one, {need['designed']:,} designed,"
        f" {need['assisted']:,} with predictions; with four looks {looked[0]:,}, {looked[1]:,},"
        f" {looked[2]:,} and {looked[3]:,}."
    )
    assert sentence in said.replace("\n", " ")
    assert "labels for ±10 points at 95 %, 300 candidates" in said
    assert "expected: a precision of 30 %; predictions explain 20 % of the variance" in said
    assert "hardest: " in said
    lines = [[cell.strip() for cell in line.split("│")] for line in said.splitlines()]
    for row in table.filter(plan="designed", looks=1).iter_rows(named=True):
        (cells,) = (each for each in lines if row["question"] in each)
        assert cells[5] == f"{row['labels']:,}"


def test_numbers_are_those_of_the_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    how = ["--pilot", "answers", "--cuts", "40", "--pairs", "t_score:mi", "--looks", "0.5,1"]
    how += ["--spending", "pocock", "--rho2", "0.1", "--confidence", "0.9", "--format", "json"]
    assert main([*ASK, *how]) == 0
    expected = lx.plan_design(
        lx.show("x.toml"), half_width=0.1, pilot="answers", n=[40], pairs=[("t_score", "mi")],
        looks=[0.5, 1], spending="pocock", rho2=0.1, confidence=0.9,
    )  # fmt: skip
    found = pl.DataFrame(json.loads(capsys.readouterr().out), schema=expected.schema)
    assert found.equals(expected)


def test_power(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["size", "x.toml", "--difference", "0.2", "--precision", "0.4", "--looks", "1"]) == 0
    )
    said = capsys.readouterr().out
    assert "2 questions with a power of 80 % need" in said
    assert "labels for a power of 80 % at 5 %" in said
    assert "looks" not in said.split("labels: draws")[0]
    assert (
        main(["size", "x.toml", "--design", "designed", "--pilot", "answers", "--power", "0.5"])
        == 0
    )
    assert "expected: precisions of answers" in capsys.readouterr().out


def test_what_no_sample_can_do_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    ranks = lx.show("x.toml").table("ranks")
    best = [set(ranks.filter(pl.col("rank") <= 100, measure=m)["id"]) for m in ("mi", "t_score")]
    more = str(len(best[0] - best[1]) / 100 + 0.01)
    assert (
        main(["size", "x.toml", "--difference", more, "--precision", "0.5", "--chart", "u.svg"])
        == 0
    )
    said = capsys.readouterr().out
    assert "Not all 2 questions can be answered so surely" in said
    assert "no number: even all candidates would not do" in said


def test_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASK, "--questions", "baseline", "--output", "p.csv", "--chart", "p.svg"]) == 0
    assert capsys.readouterr().out == ""
    assert set(pl.read_csv("p.csv")["question"]) == {"baseline", TOGETHER}
    drawn = Path("p.svg").read_text()
    for text in ("labels", "with predictions", "stratified", "wanted: 10", "of the question"):
        assert text in drawn
    assert main([*ASK, "--chart", "p.svg"]) == 2
    assert "is there already; add --overwrite" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "said"), [
    (["--half-width", "0.1"], "CONFIG: is needed with --half-width; name the experiment first"),
    (["--difference", "0.1"], "CONFIG: is needed with --difference"),
    (["x.toml", "--half-width", "0.1", "--candidates", "9"], "--candidates: does not go with --half-"),
    (["x.toml", "--half-width", "0.1,0.2"], "--half-width: 2 values; give one"),
    (["x.toml", "--half-width", "0.1", "--pairs", "mi"], "--pairs: 'mi' is no pair; e.g. t_score:mi"),
    (["x.toml", "--half-width", "0.1", "--measures", "m"], "'m' has not been ranked; did you mean mi"),
    (["x.toml", "--difference", "0.99"], "do not suffice for any of 2 questions"),
    (["x.toml", "--half-width", "0.1", "--rate", "0.3"], "--rate: does not go with --half-"),
    (["--candidates", "9", "--precision", "0.3", "--looks", "4"], "--looks: does not go with --prec"),
])  # fmt: skip
def test_wrong_usage(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_nothing_ranked_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    assert main(ASK) == 2
    assert "has not been made yet" in capsys.readouterr().err


def test_a_pilot_without_judgements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lx.run(write(tmp_path, judged=0), runs="runs", report=False)
    assert main([*ASK, "--pilot", "answers"]) == 2
    assert "answers: nothing is judged yet; fill in its sheet" in capsys.readouterr().err
