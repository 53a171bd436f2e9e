"""Sweeps: all points are checked before the first of them runs, and their tables are stacked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pipeline as lx
from pipeline.api import sweep as module
from pipeline.api.results import Run, run_stages
from pipeline.api.sweep import sweep
from pipeline.cli.main import main
from pipeline.errors import ConfigError, Interruption, PointsFailed, StoreError
from pipeline.runner.graph import Project
from tests.small_experiment import SMALL

EXPERIMENT = (
    SMALL
    + """
[stages.sample]
use = "sample.random"
candidates = "candidates"
rate = 0.5
"""
)
SWEEP = """
[sweep]
collect = ["sample"]
[sweep.over]
"""

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)
    rows = [f"a{n}\tb\t{n + 1}\t{n + 5}\t60\t999\t{n % 2}" for n in range(20)]
    (tmp_path / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN\tTP", *rows]) + "\n")

    def write_experiment(text: str) -> Path:
        (tmp_path / "x.toml").write_text(EXPERIMENT + text)
        return tmp_path / "x.toml"

    return write_experiment


def refusal(experiment: Path) -> str:
    """Return the message of every call that runs or plans a sweep; none may have run a stage."""
    runs = experiment.parent / "runs"
    with pytest.raises(ConfigError) as refused:
        sweep(experiment, runs=runs)
    assert not runs.exists() or not [*runs.rglob("*.parquet")]
    return str(refused.value)


def test_an_experiment_without_a_sweep_is_refused(write: Write) -> None:
    assert "sweep: the section is missing; add [sweep] with collect" in refusal(write(""))


@pytest.mark.long
def test_an_invalid_value_in_the_third_point_is_refused(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = write(SWEEP + '"stages.sample.rate" = [0.1, 0.2, 2.0]\n')
    message = refusal(experiment)
    assert "sweep.over (1 of 3 points: rate=2.0): stages.sample.rate: " in message
    assert "1 error\n" in message
    for command in (["plan"], ["run", "--dry"], ["run"]):
        assert main([*command, "x.toml"]) == 2
        assert capsys.readouterr().err.strip().endswith(message.partition("\n")[2].strip())


def test_an_error_of_many_points_is_reported_once(write: Write) -> None:
    over = '"stages.sample.rate" = [2.0]\n"stages.sample.seed" = { count = 5 }\n'
    message = refusal(write(SWEEP + over))
    assert "(5 of 5 points: rate=2.0, seed=1; rate=2.0, seed=2; rate=2.0, seed=3; ...)" in message
    assert message.count("stages.sample.rate") == 1


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ('collect = ["sample"]\nwhere = "n = 5"', "sweep.where: sample has no column n; it has "),
        ('collect = ["sample"]\nwhere = "position > \'a\'"', "sweep.where: .* types do not fit"),
        ('collect = ["sample"]\nwhere = "position + 1"', "sweep.where: .* types do not fit"),
        (
            'collect = ["smaple"]',
            "sweep.collect.smaple: unknown stage; did you mean sampl",
        ),
        (
            'collect = ["scores.x"]',
            "sweep.collect.scores.x: the stage has no table of this name; valid: ",
        ),
    ],
)
def test_missing_tables_and_columns_are_refused(write: Write, section: str, message: str) -> None:
    experiment = write(f'\n[sweep]\n{section}\n[sweep.over]\n"stages.sample.seed" = [1, 2]\n')
    with pytest.raises(ConfigError, match=message):
        sweep(experiment, runs=experiment.parent / "runs")
    assert main(["plan", "x.toml"]) == 2


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ('"stages.sample.seed" = []\n', "sweep.over.stages.sample.seed: "),
        ('"stages.sample.seed" = { count = 1000000000000 }\n', "1,000,000,000,000 combinations"),
        ('"stages.smaple.seed" = [1]\n', "stages.smaple: unknown stage; did you mean"),
        ('"seed" = ["a", { b = 1 }]\n', "seed"),
    ],
)
def test_invalid_settings_of_a_sweep_are_refused(write: Write, over: str, message: str) -> None:
    experiment = write(SWEEP + over)
    with pytest.raises(ConfigError, match=message):
        sweep(experiment, runs=experiment.parent / "runs")


def test_tables_with_different_columns_are_stacked(write: Write) -> None:
    text = SWEEP.replace("sample", "scores")
    experiment = write(text + '"stages.scores.measures" = [["mi"], ["mi", "dice"]]\n')
    folder = sweep(experiment, runs=experiment.parent / "runs").folder
    whole = pl.read_parquet(folder / "scores.parquet")
    assert whole["stages.scores.measures"].unique(maintain_order=True).to_list() == [
        '["mi"]',
        '["mi", "dice"]',
    ]
    assert whole.group_by("stages.scores.measures", maintain_order=True).agg(
        pl.col("dice").null_count()
    )["dice"].to_list() == [20, 0]


@pytest.mark.long
def test_a_plan_lists_missing_points(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(SWEEP + '"stages.sample.seed" = { count = 12 }\n')
    assert main(["plan", "x.toml"]) == 0
    message = "0 done, missing: seed=1; seed=2; seed=3; ..."
    assert capsys.readouterr().out.startswith(f"sweep: 12 points, all checked; {message}\n")


@pytest.mark.long
@pytest.mark.parametrize("discard", ["", 'discard = ["ranks"]\n'])
def test_status_and_plan_count_completed_points(
    write_sweep_report: Write, capsys: pytest.CaptureFixture[str], discard: str
) -> None:
    text = f'{COLLECT}{discard}[sweep.over]\n"stages.sample.seed" = [1, 2]\n'
    write_sweep_report(text)
    assert main(["run", "x.toml", "--quiet"]) == 0
    write_sweep_report(text.replace("[1, 2]", "[1, 2, 3]"))
    capsys.readouterr()
    assert main(["plan", "x.toml"]) == 0
    message = "sweep: 3 points, all checked; 2 done, missing: seed=3\n"
    assert capsys.readouterr().out.startswith(message)
    assert main(["status", "x.toml"]) == 0
    assert "\nsweep: 3 points, 2 done, missing: seed=3\n" in capsys.readouterr().out
    assert main(["status", "x.toml", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["sweep_points"], result["sweep_missing"]) == (3, ["seed=3"])
    assert main(["gc", "x.toml"]) == 0
    assert capsys.readouterr().out.endswith("removed, 0 folders\n")


def test_a_setting_named_like_a_column_of_a_table_is_refused(write: Write) -> None:
    """The findings have the columns stage, name, text ..., and a sweep may set `name`."""
    text = SWEEP.replace('"sample"', '"findings"') + '"name" = ["one", "two"]\n'
    message = refusal(write(text))
    assert "sweep.over: findings also has a column name; " in message


# Points with names, and values with names

POINTS = """
[sweep]
collect = ["sample"]
[[sweep.points]]
name = "a few, by mi"
"stages.sample.rate" = 0.1
"stages.scores.measures" = { name = "mi alone", value = ["mi"] }
[[sweep.points]]
name = "many"
"stages.sample.rate" = 0.5
[sweep.over]
"stages.sample.seed" = [1, 2]
"""


def test_named_points_are_combined_with_the_cross_product(write: Write) -> None:
    experiment = write(POINTS)
    whole = pl.read_parquet(
        sweep(experiment, runs=experiment.parent / "runs", report=False).folder / "sample.parquet"
    )
    settings = whole.select(pl.col("point", "^stages.*$")).unique(maintain_order=True)
    assert settings.columns == [
        "point", "stages.sample.rate", "stages.scores.measures", "stages.sample.seed",
    ]  # fmt: skip
    assert settings.rows() == [
        ("a few, by mi", 0.1, "mi alone", 1), ("a few, by mi", 0.1, "mi alone", 2),
        ("many", 0.5, None, 1), ("many", 0.5, None, 2),
    ]  # fmt: skip
    assert whole.group_by("point", maintain_order=True).len().rows() == [
        ("a few, by mi", 2 * 2), ("many", 2 * 10),
    ]  # fmt: skip


def test_values_may_have_names(write: Write) -> None:
    over = (
        '"stages.scores.measures" = [{ name = "one", value = ["mi"] },'
        ' { name = "two", value = ["mi", "dice"] }]\n'
    )
    experiment = write(SWEEP.replace("sample", "scores") + over)
    whole = pl.read_parquet(
        sweep(experiment, runs=experiment.parent / "runs", report=False).folder / "scores.parquet"
    )
    assert whole["stages.scores.measures"].unique(maintain_order=True).to_list() == ["one", "two"]


def test_overriding_a_setting_of_the_sweep_is_refused(write: Write) -> None:
    experiment = write(SWEEP + '"stages.sample.seed" = [1, 2]\n')
    runs, settings = experiment.parent / "runs", {"stages.sample.seed": 3}
    with pytest.raises(
        ConfigError, match="the sweep sets stages.sample.seed at its points; remove"
    ):
        sweep(experiment, runs=runs, settings=settings)
    sweep(experiment, runs=runs, settings={"stages.sample.rate": 0.2}, report=False)


# Points that fail, tables without rows, interruption

FILES = SWEEP + '"stages.candidates.path" = ["pairs.tsv", "bad.tsv", "worse.tsv"]\n'
SEEDS = '"stages.sample.seed" = [1, 2]\n'


def spoil(folder: Path) -> None:
    """Write two tables with a frequency that is not a number."""
    good = (folder / "pairs.tsv").read_text()
    for name in ("bad.tsv", "worse.tsv"):
        (folder / name).write_text(good.replace("a1\tb\t2", "a1\tb\tx"))


def test_failed_points_do_not_end_the_sweep(write: Write) -> None:
    experiment = write(FILES + SEEDS)
    spoil(experiment.parent)
    result = lx.sweep(experiment, runs=experiment.parent / "runs", report=False)
    assert len(result.points) == 6
    assert [point for point, _ in result.failed] == [
        "point 3 (path=bad.tsv, seed=1)", "point 4 (path=bad.tsv, seed=2)",
        "point 5 (path=worse.tsv, seed=1)", "point 6 (path=worse.tsv, seed=2)",
    ]  # fmt: skip
    table = result.tables["sample"]
    assert table.equals(pl.read_parquet(result.folder / "sample.parquet"))
    assert table["stages.candidates.path"].unique().to_list() == ["pairs.tsv"]
    assert "4 of 6 points failed\n  - point 3" in repr(result)


@pytest.mark.long
@pytest.mark.parametrize("damage", ["a bit", "the list of digests"])
def test_a_damaged_table_of_a_sweep_is_refused(damage: str, write: Write) -> None:
    experiment = write(SWEEP + SEEDS)
    runs = experiment.parent / "runs"
    folder = lx.sweep(experiment, runs=runs, report=False).folder
    path = folder / "sample.parquet"
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content) if damage == "a bit" else (folder / ".written.json").unlink()
    with pytest.raises(StoreError, match=r"sweep.sample: .*sample.parquet is damaged; run the sw"):
        lx.show(experiment, runs=runs).table("sweep.sample")


@pytest.mark.long
def test_the_command_lists_failed_points(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(write(FILES + SEEDS).parent)
    assert main(["run", "x.toml"]) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith("sweep: runs/small/sweep\n")
    end = printed.err[printed.err.index("lexassay: 4 of 6 points failed") :]
    assert len([line for line in end.splitlines() if line.startswith("  - ")]) == 2
    assert "  - point 3 (path=bad.tsv, seed=1), point 4 (path=bad.tsv, seed=2): " in end


def test_a_sweep_whose_points_all_fail_is_an_error(write: Write) -> None:
    experiment = write(FILES.replace('"pairs.tsv", ', ""))
    spoil(experiment.parent)
    with pytest.raises(PointsFailed, match="all 2 points failed\n  - point 1 .path=bad.tsv.: "):
        sweep(experiment, runs=experiment.parent / "runs")
    assert not (experiment.parent / "runs/small/sweep").exists()


def test_tables_without_rows_are_named(write: Write) -> None:
    where = SWEEP.replace('["sample"]', '["sample"]\nwhere = "position > 8"')
    experiment = write(where + '"stages.sample.rate" = [0.1, 0.2, 0.5]\n')
    messages: list[str] = []
    result = sweep(experiment, runs=experiment.parent / "runs", report=False, say=messages.append)
    assert result.notes == (
        "sample: sweep.where keeps none of its rows (position > 8) at 2 of 3 points: rate=0.1; rate=0.2",
    )
    assert result.notes[0] in messages
    assert result.notes[0] in repr(result)


def test_an_interrupted_sweep_continues(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = write(SWEEP + '"stages.sample.seed" = [1, 2, 3]\n')
    runs = experiment.parent / "runs"
    ran: list[object] = []

    def stop(project: Project, **options: Any) -> Run:
        if len(ran) == 2:
            raise Interruption("stopped")
        ran.append(project)
        return run_stages(project, **options)

    monkeypatch.setattr(module, "run_stages", stop)
    with pytest.raises(Interruption):
        sweep(experiment, runs=runs, report=False)
    result = {path: path.stat().st_mtime_ns for path in runs.rglob("sample/*/manifest.json")}
    assert len(result) == 2
    monkeypatch.setattr(module, "run_stages", run_stages)
    whole = sweep(experiment, runs=runs, report=False).tables["sample"]
    assert whole["stages.sample.seed"].unique().sort().to_list() == [1, 2, 3]
    after = {path: path.stat().st_mtime_ns for path in runs.rglob("sample/*/manifest.json")}
    assert len(after) == 3
    assert result.items() <= after.items()


def test_run_refuses_a_sweep_and_names_the_function_for_it(write: Write) -> None:
    experiment = write(SWEEP + SEEDS)
    with pytest.raises(ConfigError, match="is a sweep, which lx.run does not run; .* lx.sweep"):
        lx.run(experiment, runs=experiment.parent / "runs")


# Stages whose tables are deleted

DISCARD = """
[sweep]
collect = ["sampled.cuts"]
discard = ["ranks", "scores"]
report = false
[sweep.over]
"stages.scores.measures" = [["mi"], ["dice"]]
"stages.sample.seed" = [1, 2]
"""


def tables_of(runs: Path, stage: str) -> int:
    return len([*runs.glob(f"small/{stage}/*/*/*.parquet")])


@pytest.mark.long
def test_tables_are_discarded_once_no_point_needs_them(write_sweep_report: Write) -> None:
    experiment = write_sweep_report(DISCARD.replace('discard = ["ranks", "scores"]\n', ""))
    runs = experiment.parent / "runs"
    expected = sweep(experiment, runs=runs).tables["sampled.cuts"]
    assert tables_of(runs, "ranks") == 2
    experiment = write_sweep_report(DISCARD)
    counts: dict[str, int] = {}
    result = sweep(
        experiment, runs=runs, say=lambda text: counts.update({text[:5]: tables_of(runs, "ranks")})
    )
    assert result.tables["sampled.cuts"].equals(expected)
    # Points 1 and 2 share the ranks, as do 3 and 4: the second of each pair discards them.
    assert [counts[f"[{number}/4]"] for number in range(1, 5)] == [2, 2, 1, 1]
    assert tables_of(runs, "ranks") == 0
    assert tables_of(runs, "scores") == 0
    assert tables_of(runs, "candidates") > 0


@pytest.mark.long
def test_a_sweep_with_discarded_tables_runs_again(
    write_sweep_report: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = write_sweep_report(DISCARD)
    runs = experiment.parent / "runs"
    first = sweep(experiment, runs=runs).tables["sampled.cuts"]
    ran: list[Project] = []

    def watch(project: Project, **options: Any) -> Run:
        ran.append(project)
        return run_stages(project, **options)

    monkeypatch.setattr(module, "run_stages", watch)
    # Nothing has changed: no point runs.
    assert sweep(experiment, runs=runs).tables["sampled.cuts"].equals(first)
    assert not ran
    # Another stage needs them: they are computed again, used and deleted.
    text = experiment.read_text().replace("cuts = [5, 10]", "cuts = [5, 10, 20]")
    experiment.write_text(text)
    second = sweep(experiment, runs=runs).tables["sampled.cuts"]
    assert len(ran) == 4
    assert second.filter(pl.col("n") < 20).equals(first)
    assert set(second["n"]) == {5, 10, 20}
    assert tables_of(runs, "ranks") == 0
    # So does the page, whose findings may need them.
    experiment.write_text(text.replace("report = false\n", ""))
    assert (sweep(experiment, runs=runs).folder / "index.html").is_file()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rnaks", "sweep.discard: no stage|unknown stage 'rnaks'; did you mean ranks"),
        ("ranks.ranks", "ranks.ranks is a table; write ranks: its tables are deleted together"),
        ("sampled", "sampled is needed by the sweep, which collects sampled.cuts; remove it"),
    ],
)
def test_unknown_or_needed_stages_cannot_be_discarded(
    write_sweep_report: Write, name: str, message: str
) -> None:
    assert re.search(message, refusal(write_sweep_report(DISCARD.replace('"scores"', f'"{name}"'))))


# The page of a completed sweep.

EXPERIMENT_SWEEP_REPORT = (
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


@pytest.fixture
def write_sweep_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)
    rows = [f"a{n}\tb\t{n % 7 + 1}\t{n + 9}\t60\t999\t{int(n % 3 == 0)}" for n in range(40)]
    (tmp_path / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN\tTP", *rows]) + "\n")

    def write_experiment(text: str) -> Path:
        (tmp_path / "x.toml").write_text(EXPERIMENT_SWEEP_REPORT + text)
        return tmp_path / "x.toml"

    return write_experiment


def run_sweep(experiment: Path) -> tuple[Path, str]:
    """Return the folder of a sweep, and its page."""
    folder = sweep(experiment, runs=experiment.parent / "runs").folder
    return folder, (folder / "index.html").read_text()


@pytest.mark.long
def test_the_page_is_written_beside_the_tables(write_sweep_report: Write) -> None:
    over = '[sweep.over]\n"stages.sample.rate" = [0.5, 1.0]\n"stages.sample.seed" = { count = 2 }\n'
    folder, page = run_sweep(write_sweep_report(COLLECT + over))
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"index.html", "sampled.cuts.csv", "findings.parquet", "sample.csv",
            "tables/answers-points.csv", "figures/sampled-cuts-panels.svg"} <= names  # fmt: skip
    assert (
        "4 points, all combinations of rate of sample: 0.5 and 1.0; seed of sample: 1 and 2" in page
    )
    assert "best for 5 candidates" in page
    assert str(folder) not in page
    points = pl.read_parquet(folder / "tables/answers-points.parquet")
    assert points["rate"].to_list() == ["0.5", "0.5", "1.0", "1.0"]
    findings = pl.read_parquet(folder / "tables/answers-findings.parquet")
    stacked = pl.read_parquet(folder / "findings.parquet")
    assert findings["text"].to_list() == stacked["text"].to_list()


@pytest.mark.long
def test_the_command_names_the_page(
    write_sweep_report: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sweep_report(COLLECT + '[sweep.over]\n"stages.sample.seed" = [1, 2]\n')
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
def test_the_page_can_be_omitted(
    write_sweep_report: Write, capsys: pytest.CaptureFixture[str], section: str, words: list[str]
) -> None:
    write_sweep_report(f'{COLLECT}{section}[sweep.over]\n"stages.sample.seed" = [1, 2]\n')
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
def test_the_page_accepts_settings_of_any_type(write_sweep_report: Write, over: str) -> None:
    _, page = run_sweep(write_sweep_report(f"{COLLECT}[sweep.over]\n{over}"))
    assert "<img onerror" not in page
    assert "Data and provenance" in page


@pytest.mark.long
def test_the_page_states_that_a_table_has_no_rows(write_sweep_report: Write) -> None:
    section = '\n[sweep]\ncollect = ["sampled.cuts"]\nwhere = "n > 99"\n[sweep.over]\n'
    _, page = run_sweep(write_sweep_report(section + '"stages.sample.seed" = [1, 2]\n'))
    assert "The table has no rows at any of 2 points." in page
