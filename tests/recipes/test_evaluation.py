"""Two files to n-best precision: the same as the experiment that is written by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import lexassay as lx
from pipeline.cli.main import main
from pipeline.errors import ConfigError, DataError
from pipeline.recipes.evaluation import evaluate

ROOT = Path(__file__).parents[2]
MEASURES = ["t_score", "mi"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scores and judgements of the invented candidates, with other names."""
    folder = tmp_path_factory.mktemp("files")
    table = pl.read_csv(ROOT / "data" / "candidates.tsv", separator="\t")
    scored = lx.score(table, measures=MEASURES)
    names = {"l1": "node", "l2": "collocate"}
    scored.select("l1", "l2", "f", *MEASURES).rename(names).write_csv(folder / "ranked.csv")
    table.select("l1", "l2", "TP").write_csv(folder / "judged.tsv", separator="\t")
    return folder


def test_it_is_what_an_experiment_gives(files: Path, tmp_path: Path) -> None:
    run = evaluate(files / "ranked.csv", files / "judged.tsv", cuts=(100, 500), runs=tmp_path, report=False)  # fmt: skip
    found = run.table("precision.cuts").sort("measure", "n")
    table = pl.read_csv(ROOT / "data" / "candidates.tsv", separator="\t")
    scored = lx.score(table, measures=MEASURES)
    for measure, n, share in found.select("measure", "n", "precision").rows():
        cut = scored.sort(measure, descending=True)[measure][n - 1]
        sure, tied = scored.filter(pl.col(measure) > cut), scored.filter(pl.col(measure) == cut)
        least = sure["TP"].sum() + max(0, n - sure.height - tied["TP"].len() + tied["TP"].sum())
        most = sure["TP"].sum() + min(n - sure.height, tied["TP"].sum())
        assert least <= round(share * n) <= most
    assert found["n"].unique().sort().to_list() == [100, 500]
    assert sorted(run.table("comparison.cuts")["n"].unique()) == [100, 500]


def test_judgements_that_were_drawn_at_random_estimate(files: Path, tmp_path: Path) -> None:
    drawn = pl.read_csv(files / "judged.tsv", separator="\t").sample(400, seed=1)
    drawn.write_csv(tmp_path / "drawn.csv")
    with pytest.raises(DataError, match=r"400 of 3,685 ranked pairs are judged\. If these were"):
        evaluate(files / "ranked.csv", tmp_path / "drawn.csv", runs=tmp_path / "r", report=False)
    run = evaluate(
        files / "ranked.csv",
        tmp_path / "drawn.csv",
        sampled=True,
        runs=tmp_path / "r",
        report=False,
    )
    (base,) = run.table("precision.baseline").rows(named=True)
    assert (base["n_sampled"], base["n_candidates"]) == (400, 3685)
    assert base["precision"] == drawn["TP"].sum() / 400


def test_rows_in_order_are_a_ranking(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("w1,w2\nkick,bucket\npull,strings\nbuy,bread\n")
    (tmp_path / "gold.csv").write_text("w1,w2,label\nkick,bucket,idiom\npull,strings,idiom\nbuy,bread,free\n")  # fmt: skip
    with pytest.raises(ConfigError, match="the column 'label' holds labels: idiom, free"):
        evaluate(tmp_path / "list.csv", tmp_path / "gold.csv", runs=tmp_path / "r")
    run = evaluate(
        tmp_path / "list.csv", tmp_path / "gold.csv", positive=["idiom"], cuts=[2, 3],
        runs=tmp_path / "r", report=False,
    )  # fmt: skip
    assert run.table("precision.cuts")["precision"].to_list() == [1.0, 2 / 3]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_semicolons_and_tabs_of_csv_are_seen(separator: str, tmp_path: Path) -> None:
    ranked, gold = tmp_path / "list.csv", tmp_path / "gold.csv"
    ranked.write_text("w1,w2\na,b\nc,d\n".replace(",", separator))
    gold.write_text("w1,w2,TP\na,b,1\nc,d,0\n".replace(",", separator))
    run = evaluate(ranked, gold, cuts=[1, 2], runs=tmp_path / "r", report=False)
    assert run.table("precision.cuts")["precision"].to_list() == [1.0, 0.5]
    assert main(["evaluate", str(ranked), str(gold), "--runs", str(tmp_path / "r"), "--no-report",
                 "--save", str(tmp_path / "saved.toml")]) == 0  # fmt: skip
    assert (
        lx.run(tmp_path / "saved.toml", runs=tmp_path / "s", report=False)
        .table("precision.cuts")
        .height
    )


@pytest.mark.parametrize(("rows", "sizes"), [
    (1, [1]), (30, [30]), (50, [50]), (320, [50, 100, 200]), (1000, [50, 100, 200, 500, 1000]),
    (2500, [50, 100, 200, 500, 1000, 2000]),
])  # fmt: skip
def test_list_sizes_fit_the_list(rows: int, sizes: list[int], tmp_path: Path) -> None:
    table = pl.DataFrame({"l1": [f"a{i}" for i in range(rows)], "l2": "b", "TP": 1})
    table.write_csv(tmp_path / "list.csv")
    run = evaluate(tmp_path / "list.csv", tmp_path / "list.csv", runs=tmp_path / "r", report=False)
    assert run.table("precision.cuts")["n"].to_list() == sizes


@pytest.mark.parametrize("name", ["id", '""'])
def test_numbers_of_rows_are_no_scores(name: str, tmp_path: Path) -> None:
    """UCS has a column id, write.csv in R one without a name."""
    (tmp_path / "list.csv").write_text(f"{name},l1,l2,mi\n1,a,x,3\n2,b,y,2\n3,c,z,5\n")
    (tmp_path / "gold.csv").write_text("l1,l2,TP\na,x,0\nb,y,1\nc,z,1\n")
    run = evaluate(tmp_path / "list.csv", tmp_path / "gold.csv", cuts=[1],
                   runs=tmp_path / "r", report=False)  # fmt: skip
    assert run.table("precision.cuts").select("measure", "precision").rows() == [("mi", 1.0)]


def test_ranks_and_judgements_of_ucs_are_no_scores(tmp_path: Path) -> None:
    (tmp_path / "list.ds").write_text(
        "l1\tl2\tam.MI\tr.MI\tb.TP\tn.x\na\tx\t3\t2\t0\t7\nb\ty\t5\t1\t1\t8\n"
    )
    (tmp_path / "gold.csv").write_text("l1,l2,TP\na,x,0\nb,y,1\n")
    run = evaluate(tmp_path / "list.ds", tmp_path / "gold.csv", cuts=[1],
                   runs=tmp_path / "r", report=False)  # fmt: skip
    assert run.table("precision.cuts").select("measure", "precision").rows() == [("am.MI", 1.0)]


def test_the_lowest_can_come_first(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("l1,l2,p\na,x,0.5\nb,y,0.001\nc,z,0.01\n")
    (tmp_path / "gold.csv").write_text("l1,l2,TP\na,x,0\nb,y,1\nc,z,1\n")
    for ascending, share in (([], 0.5), (["p"], 1.0)):
        run = evaluate(
            tmp_path / "list.csv", tmp_path / "gold.csv", ascending=ascending, cuts=[2],
            runs=tmp_path / "r", report=False,
        )  # fmt: skip
        assert run.table("precision.cuts")["precision"].to_list() == [share]


@pytest.mark.long
def test_the_command_prints_the_table_and_names_the_page(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", str(files / "ranked.csv"), str(files / "judged.tsv"), "--n", "100"]
    saved = tmp_path / "saved.toml"
    assert main([*words, "--runs", str(tmp_path / "r"), "--save", str(saved)]) == 0
    said = capsys.readouterr().out
    assert "t_score" in said
    page = Path(said.splitlines()[-1].removeprefix("report: "))
    assert "<svg" in page.read_text() or "vega" in page.read_text()
    assert list((page.parent / "figures").glob("*.svg"))
    again = lx.run(saved, runs=tmp_path / "own", report=False)
    assert again.table("precision.cuts")["n"].unique().to_list() == [100]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--score", "tscore"], "there is no column 'tscore'"),
        (["--columns", "l1=noun"], "has no column 'noun'"),
        (["--columns", "l1"], "'l1' names no column"),
        (["--n", "0"], "'0' is no whole number from 1 on"),
    ],
)
def test_mistakes_are_told(
    files: Path, tmp_path: Path, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", str(files / "ranked.csv"), str(files / "judged.tsv"), *options]
    assert main([*words, "--runs", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_a_column_that_cannot_be_told_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    (tmp_path / "list.csv").write_text("first,second,mi\nkick,bucket,1\n")
    assert main(["evaluate", str(tmp_path / "list.csv"), str(tmp_path / "list.csv")]) == 2
    said = capsys.readouterr().err
    assert "no column that stands for l1" in said
    assert "it has first, second, mi" in said
    assert "--columns l1=NAME" in said
