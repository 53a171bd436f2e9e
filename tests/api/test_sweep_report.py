"""The page of a sweep that has been run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from pipeline.api.sweep import sweep
from pipeline.cli.main import main
from tests.small_experiment import SMALL

EXPERIMENT = (
    SMALL
    + """
[stages.sample]
use = "sample.random"
candidates = "candidates"
rate = 0.5

[stages.sampled]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
cuts = [5, 10]

[stages.tests]
use = "evaluate.comparison"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
cuts = [5, 10]
"""
)
COLLECT = '\n[sweep]\ncollect = ["sampled.cuts", "sample", "findings"]\n'
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)
    rows = [f"a{n}\tb\t{n % 7 + 1}\t{n + 9}\t60\t999\t{int(n % 3 == 0)}" for n in range(40)]
    (tmp_path / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN\tTP", *rows]) + "\n")

    def written(text: str) -> Path:
        (tmp_path / "x.toml").write_text(EXPERIMENT + text)
        return tmp_path / "x.toml"

    return written


def made(experiment: Path) -> tuple[Path, str]:
    """Return the folder of a sweep, and its page."""
    folder = sweep(experiment, runs=experiment.parent / "runs")
    return folder, (folder / "index.html").read_text()


def test_the_page_stands_beside_the_tables(write: Write) -> None:
    over = '[sweep.over]\n"stages.sample.rate" = [0.5, 1.0]\n"stages.sample.seed" = { count = 2 }\n'
    folder, page = made(write(COLLECT + over))
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"index.html", "sampled.cuts.csv", "findings.parquet", "sample.csv",
            "tables/answers-points.csv", "figures/sampled-cuts-panels.svg"} <= names  # fmt: skip
    assert (
        "4 points, every combination of rate of sample: 0.5 and 1.0; seed of sample: 1 and 2"
        in page
    )
    assert "best for 5 candidates" in page
    assert str(folder) not in page
    points = pl.read_parquet(folder / "tables/answers-points.parquet")
    assert points["rate"].to_list() == ["0.5", "0.5", "1.0", "1.0"]
    findings = pl.read_parquet(folder / "tables/answers-findings.parquet")
    stacked = pl.read_parquet(folder / "findings.parquet")
    assert findings["text"].to_list() == stacked["text"].to_list()


@pytest.mark.long
def test_the_command_names_the_page(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(COLLECT + '[sweep.over]\n"stages.sample.seed" = [1, 2]\n')
    assert main(["run", "x.toml"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "sweep: runs/small/sweep", "report: runs/small/sweep/index.html",
    ]  # fmt: skip
    first = (Path("runs/small/sweep/index.html")).read_bytes()
    assert main(["run", "x.toml"]) == 0
    assert Path("runs/small/sweep/index.html").read_bytes() == first


@pytest.mark.parametrize(
    ("section", "words"),
    [("report = false\n", []), pytest.param("", ["--no-report"], marks=pytest.mark.long)],
)
def test_there_need_not_be_a_page(
    write: Write, capsys: pytest.CaptureFixture[str], section: str, words: list[str]
) -> None:
    write(f'{COLLECT}{section}[sweep.over]\n"stages.sample.seed" = [1, 2]\n')
    assert main(["run", "x.toml", *words]) == 0
    assert "report:" not in capsys.readouterr().out
    files = [path.name for path in Path("runs/small/sweep").iterdir()]
    assert "sampled.cuts.csv" in files
    assert "index.html" not in files


@pytest.mark.parametrize(
    "over",
    [
        pytest.param('"stages.sample.seed" = [1]\n', marks=pytest.mark.long),
        pytest.param(
            '"stages.scores.measures" = [["mi"], ["mi", "t_score", "dice"]]\n',
            marks=pytest.mark.long,
        ),
        pytest.param(
            '"stages.judgements.categories" = [{ TP = "TP" }, { A = "TP" }]\n',
            marks=pytest.mark.long,
        ),
        '"title" = ["</script><img onerror=alert(1)>", "שלום"]\n',
    ],
)
def test_settings_of_all_kinds(write: Write, over: str) -> None:
    _, page = made(write(f"{COLLECT}[sweep.over]\n{over}"))
    assert "<img onerror" not in page
    assert "Data and provenance" in page


@pytest.mark.long
def test_tables_without_rows(write: Write) -> None:
    section = '\n[sweep]\ncollect = ["sampled.cuts"]\nwhere = "n > 99"\n[sweep.over]\n'
    _, page = made(write(section + '"stages.sample.seed" = [1, 2]\n'))
    assert "The table has no row at any of 2 points." in page
