"""``lexassay size``: results, files, and clear errors."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.sizing.design import TOGETHER
from tests.sizing.design_experiment import write
from tests.small_experiment import SMALL

STAGES = """
[stages.full]
use = "evaluate.comparison"
ranks = "ranks"
judgements = "judgements"
"""
WIDTH = ["size", "--candidates", "500", "--precision", "0.3"]
POWER = ["size", "--candidates", "200", "--n", "40", "--compare", "0.6,0.3", "--overlap", "0.5"]


@pytest.fixture
def folder_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(text: str) -> list[dict[str, float]]:
    return json.loads(text)


@pytest.mark.usefixtures("folder_size")
def test_widths_are_printed_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WIDTH, "--n", "100", "--rate", "10%,0.2"]) == 0
    output = capsys.readouterr().out
    assert "95 % intervals (clopper_pearson), 500 candidates" in output
    expected = lx.plan_width(candidates=500, n=[100], precisions=[0.3], rates=[0.1, 0.2])
    for width in expected["width"]:
        assert f" {100 * width:.1f} " in output
    assert "docs/" not in output
    assert "wanted" not in output


@pytest.mark.usefixtures("folder_size")
def test_widths_equal_those_of_plan_width(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main([*WIDTH, "--interval", "hypergeometric", "--confidence", "0.9", "--format", "json"])
        == 0
    )
    widths = rows(capsys.readouterr().out)
    expected = lx.plan_width(
        candidates=500, n=[100, 500], precisions=[0.3], interval="hypergeometric", confidence=0.9
    )
    assert pl.DataFrame(widths, schema=expected.schema).equals(expected)


@pytest.mark.usefixtures("folder_size")
def test_the_rate_for_a_width_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WIDTH, "--n", "100,300", "--width", "0.1"]) == 0
    output = capsys.readouterr().out
    assert "no rate: not even a draw of all candidates is enough" in output
    assert main([*WIDTH, "--n", "300", "--width", "15%", "--format", "csv"]) == 0
    first = pl.read_csv(capsys.readouterr().out.encode()).row(0, named=True)
    assert first["width"] <= 0.15
    assert first["rate"] == first["size"] / 500


@pytest.mark.long
@pytest.mark.usefixtures("folder_size")
def test_power_and_the_rate_for_it_equal_plan_comparison(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*POWER, "--rate", "0.3", "--format", "json"]) == 0
    plan = rows(capsys.readouterr().out)[0]
    expected = lx.plan_comparison(
        candidates=200, n=[40], precisions=(0.6, 0.3), overlap=0.5, rates=[0.3]
    )
    assert plan == expected.row(0, named=True)
    assert main([*POWER, "--power", "0.8", "--test", "fisher_mid_p"]) == 0
    output = capsys.readouterr().out
    assert "fisher_mid_p test, precisions 0.6,0.3, 200 candidates" in output
    assert "power 1 %" in output


@pytest.mark.long
@pytest.mark.usefixtures("folder_size")
def test_widths_of_a_pilot_equal_those_of_plan_pilot(
    folder_size: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder_size / "x.toml").write_text(SMALL + STAGES)
    lines = [
        f"a{i}\tb{i % 3}\t{i + 1}\t{i + 3 + i * 7 % 40}\t{80 - i}\t900\t{i % 2}" for i in range(12)
    ]
    (folder_size / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN\tTP", *lines]) + "\n")
    ask = ["size", "x.toml", "--pilot", "full", "--measures", "mi,t_score", "--n", "5"]
    assert main(ask) == 2
    assert "does not exist yet" in capsys.readouterr().err
    assert main(["run", "x.toml", "--no-report"]) == 0
    capsys.readouterr()
    assert main([*ask, "--rate", "50%", "--format", "json"]) == 0
    widths = rows(capsys.readouterr().out)
    expected = lx.plan_pilot(
        lx.show("x.toml"), "full", measures=("mi", "t_score"), n=[5], rates=[0.5]
    )
    assert pl.DataFrame(widths, schema=expected.schema).equals(expected)


@pytest.mark.usefixtures("folder_size")
def test_plans_and_charts_are_saved(folder_size: Path, capsys: pytest.CaptureFixture[str]) -> None:
    how = [*WIDTH, "--n", "100", "--rate", "0.1"]
    assert main([*how, "--output", "plan.csv", "--chart", "plan.svg"]) == 0
    assert pl.read_csv(folder_size / "plan.csv")["size"].to_list() == [50]
    assert (folder_size / "plan.svg").read_bytes().startswith(b"<svg")
    assert main([*how, "--chart", "plan.svg"]) == 2
    assert "already exists; add --overwrite" in capsys.readouterr().err
    assert main([*how, "--chart", "plan.svg", "--overwrite"]) == 0
    assert main([*WIDTH, "--n", "100", "--width", "0.001", "--chart", "never.png"]) == 0
    assert (folder_size / "never.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("folder_size")
@pytest.mark.parametrize(("words", "message"), [
    ([], "give one of --precision, --compare, --pilot"),
    (["--precision", "0.3"], "--candidates: is required with --precision; e.g. --candidates 5102"),
    (["--candidates", "9", "--precision", "0.3", "--compare", "1,2"], "one of --precision, --comp"),
    (["--candidates", "9", "--precision", "0.3", "--power", "0.8"], "--power: cannot be combined with"),
    (["--compare", "0.3,0.2", "--overlap", "0.5"], "--candidates: is required with --compare"),
    (["--candidates", "9", "--compare", "0.3,0.2"], "--overlap: is required with --compare"),
    (["--candidates", "900", "--compare", "0.3", "--overlap", "0"], "--compare: 1 values; give two"),
    (["--pilot", "full", "--measures", "a,b", "--n", "5"], "CONFIG: is required with --pilot"),
    (["x.toml", "--pilot", "full", "--n", "5"], "--measures: is required with --pilot"),
    ([*WIDTH[1:], "--n", "1.5"], "--n: '1.5' is not a whole number"),
    ([*WIDTH[1:], "--rate", "ten"], "--rate: 'ten' is not a number; e.g. 0.1 or 10%"),
    ([*WIDTH[1:], "--rate", "0"], "rate: 0 is not a sampling rate"),
    ([*WIDTH[1:], "--rate", "15"], "15 % is 0.15"),
    ([*WIDTH[1:], "--n", "501"], "n: no list of 501 among 500 candidates"),
    ([*WIDTH[1:-1], "30"], "precision: 30 is not between 0 and 1; 30 % is 0.3"),
    ([*WIDTH[1:], "--interval", "jeffries"], "did you mean jeffreys?"),
    ([*WIDTH[1:], "--format", "xml"], "--format: unknown format 'xml'"),
    ([*WIDTH[1:], "--chart", "x.gif"], "x.gif does not have the extension of a picture"),
    ([*WIDTH[1:], "--chart", "no/x.svg"], "the folder no does not exist"),
    ([*WIDTH[1:], "--output", "x.doc"], "does not have the extension of a table"),
])  # fmt: skip
def test_wrong_usage_is_explained(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["size", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


@pytest.mark.usefixtures("folder_size")
def test_progress_is_printed_if_the_plan_takes_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.cli.output._PATIENCE", -1.0)
    assert main([*WIDTH, "--n", "100"]) == 0
    assert capsys.readouterr().err.splitlines() == [f"size: {i} of 4" for i in range(4)]


# ``lexassay size`` for declared questions: table, chart, sentence, and clear errors

ASK = ["size", "x.toml", "--half-width", "0.1"]


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("size")
    lx.run(write(folder), runs=folder / "runs", report=False)
    return folder


@pytest.fixture
def _there(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(experiment)


@pytest.mark.usefixtures("_there")
@pytest.mark.long
def test_a_design_is_printed_as_table_and_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASK, "--precision", "30%"]) == 0
    output = capsys.readouterr().out
    table = lx.plan_design(lx.show("x.toml"), half_width=0.1, rate=0.3)
    need = dict(table.filter(question=TOGETHER, looks=1).select("plan", "labels").rows())
    looked = table.filter(question=TOGETHER, looks=4)["labels"].to_list()
    sentence = (
        f"7 questions at ±10 points need {need['simple']:,} labels from a simple sample of all"
        f" candidates, {need['pooled']:,} from one of the candidates in question only,"
        f" {need['stratified']:,} from a stratified one, {need['designed']:,} designed,"
        f" {need['assisted']:,} to {need['designed']:,} with predictions; with four looks"
        f" {looked[0]:,}, {looked[1]:,}, {looked[2]:,}, {looked[3]:,} and {looked[4]:,} to"
        f" {looked[3]:,}."
    )
    assert sentence in output.replace("\n", " ")
    assert "labels for ±10 points at 95 %, 300 candidates" in output
    assert "assumed: a precision of 30 %; with predictions: a range, from 20 % of the" in output
    assert f"    size = {need['designed']}\n" in output
    assert "hardest: " in output
    lines = [[cell.strip() for cell in line.split("│")] for line in output.splitlines()]
    for row in table.filter(plan="designed", looks=1).iter_rows(named=True):
        cells = next(each for each in lines if row["question"] in each)
        assert cells[6] == f"{row['labels']:,}"


@pytest.mark.long
@pytest.mark.usefixtures("_there")
def test_designs_equal_those_of_plan_design(capsys: pytest.CaptureFixture[str]) -> None:
    how = ["--pilot", "answers", "--cuts", "40", "--pairs", "t_score:mi", "--looks", "0.5,1"]
    how += ["--spending", "pocock", "--rho2", "0.1", "--confidence", "0.9", "--format", "json"]
    assert main([*ASK, *how]) == 0
    expected = lx.plan_design(
        lx.show("x.toml"), half_width=0.1, pilot="answers", n=[40], pairs=[("t_score", "mi")],
        looks=[0.5, 1], spending="pocock", rho2=0.1, confidence=0.9,
    )  # fmt: skip
    plan = pl.DataFrame(json.loads(capsys.readouterr().out), schema=expected.schema)
    assert plan.equals(expected)


@pytest.mark.long
@pytest.mark.usefixtures("_there")
def test_a_design_for_power_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["size", "x.toml", "--difference", "0.2", "--precision", "0.4", "--looks", "1"]) == 0
    )
    output = capsys.readouterr().out
    assert "2 questions with a power of 80 % need" in output
    assert "labels for a power of 80 % at 5 %" in output
    assert "looks" not in output.split("labels: draws")[0]
    assert (
        main(["size", "x.toml", "--design", "designed", "--pilot", "answers", "--power", "0.5"])
        == 0
    )
    output = capsys.readouterr().out.replace("\n", " ")
    assert "assumed: precisions of answers" in output
    assert "estimated out of fold from 120 labels of answers" in output
    assert 'weights = { "precision" = 0.0 }' in output


@pytest.mark.usefixtures("_there")
def test_unreachable_goals_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    ranks = lx.show("x.toml").table("ranks")
    best = [set(ranks.filter(pl.col("rank") <= 100, measure=m)["id"]) for m in ("mi", "t_score")]
    more = str(len(best[0] - best[1]) / 100 + 0.01)
    assert (
        main(["size", "x.toml", "--difference", more, "--precision", "0.5", "--chart", "u.svg"])
        == 0
    )
    output = capsys.readouterr().out
    assert "Not all 2 questions can reach this goal" in output
    assert "no number: the lists have so much in common" in output


@pytest.mark.usefixtures("_there")
def test_designs_and_charts_are_saved(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASK, "--questions", "baseline", "--output", "p.csv", "--chart", "p.svg"]) == 0
    assert capsys.readouterr().out == ""
    assert set(pl.read_csv("p.csv")["question"]) == {"baseline", TOGETHER}
    chart = Path("p.svg").read_text()
    for text in ("labels", "with predictions", "stratified", "wanted: 10", "of the question"):
        assert text in chart
    assert main([*ASK, "--chart", "p.svg"]) == 2
    assert "already exists; add --overwrite" in capsys.readouterr().err


@pytest.mark.usefixtures("_there")
@pytest.mark.parametrize(("words", "message"), [
    (["--half-width", "0.1"], "CONFIG: is required with --half-width; give the experiment"),
    (["--difference", "0.1"], "CONFIG: is required with --difference"),
    (["x.toml", "--half-width", "0.1", "--candidates", "9"], "--candidates: cannot be combined with --half-"),
    (["x.toml", "--half-width", "0.1,0.2"], "--half-width: 2 values; give one"),
    (["x.toml", "--half-width", "0.1", "--pairs", "mi"], "--pairs: 'mi' is not a pair; e.g. t_score:mi"),
    (["x.toml", "--half-width", "0.1", "--measures", "m"], "'m' has not been ranked; did you mean mi"),
    (["x.toml", "--difference", "0.99"], "are not enough for any of 2 questions"),
    (["x.toml", "--half-width", "0.1", "--rate", "0.3"], "--rate: cannot be combined with --half-"),
    (["--candidates", "9", "--precision", "0.3", "--looks", "4"], "--looks: cannot be combined with --prec"),
])  # fmt: skip
def test_wrong_usage_of_designs_is_explained(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["size", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


@pytest.mark.usefixtures("_there")
def test_a_design_needs_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    assert main(ASK) == 2
    assert "does not exist yet" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.usefixtures("_there")
def test_a_pilot_needs_judgements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lx.run(write(tmp_path, judged=0), runs="runs", report=False)
    assert main([*ASK, "--pilot", "answers"]) == 2
    assert "answers: no judgements yet; fill in its sheet" in capsys.readouterr().err
