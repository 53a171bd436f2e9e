"""The command: output, exit codes, and no overwritten files."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import polars as pl
import pytest

import pipeline
import pipeline as lx
from pipeline.cli.app import COMMANDS, Command, groups
from pipeline.cli.main import main
from tests.small_experiment import SMALL

EXPERIMENT = (
    SMALL
    + """
[stages.sample]
use = "sample.random"
candidates = "candidates"
rate = 0.5

[stages.full]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
cuts = [1, 2]
"""
)


@pytest.fixture
def folder_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    lines = [f"a{i}\tb{i % 3}\t{i + 1}\t{i + 3}\t{40 - i}\t90\t{i % 2}" for i in range(12)]
    head = "l1\tl2\tf\tf1\tf2\tN\tTP"
    (tmp_path / "pairs.tsv").write_text("\n".join([head, *lines]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_second_run_reuses_everything(
    folder_command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "x.toml"]) == 0
    first = capsys.readouterr()
    assert "report: runs/small/report/index.html" in first.out
    assert "[6/6] full" in first.err
    assert (folder_command / "runs/small/report/index.html").is_file()
    assert main(["run", "x.toml"]) == 0
    second = capsys.readouterr()
    assert second.err.count("reused") == 6
    assert "up to date" in second.err


def test_plan_why_and_status_describe_the_run(
    folder_command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "x.toml"]) == 0
    assert "it has never run" in capsys.readouterr().out
    assert not (folder_command / "runs").exists()
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert main(["plan", "x.toml", "--set", "stages.sample.rate=0.2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("would run  sample") for line in lines)
    assert any("config rate: 0.5 -> 0.2" in line for line in lines)
    assert main(["why", "x.toml", "sample", "--set", "stages.sample.rate=0.2"]) == 0
    assert capsys.readouterr().out == "sample: config rate: 0.5 -> 0.2\n"
    assert main(["why", "x.toml", "sample"]) == 0
    assert "nothing has changed" in capsys.readouterr().out
    assert main(["status", "x.toml"]) == 0
    output = capsys.readouterr().out
    assert "6 of 6 stages done" in output
    assert len(re.findall(r" s, \d{4}-\d\d-\d\d \d\d:\d\d UTC\n", output)) == 6
    assert main(["run", "x.toml", "--dry"]) == 0
    assert "would run" not in capsys.readouterr().out


def test_status_reports_a_failed_stage_and_an_older_report(
    folder_command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "x.toml"]) == 0
    with (folder_command / "pairs.tsv").open("a") as pairs:
        pairs.write("q\tr\tmany\t3\t4\t90\tperhaps\n")
    capsys.readouterr()
    assert main(["run", "x.toml"]) == 1
    report = Path("runs/small/report/index.html")
    assert f"the report is not written again: {report} is of an earlier" in capsys.readouterr().err
    assert main(["status", "x.toml"]) == 0
    output = capsys.readouterr().out
    (line,) = (line for line in output.splitlines() if line.startswith("would run  candidates"))
    assert "it failed in the last run: " in line
    assert "pairs.tsv" in line
    assert "it has never run" not in output
    assert f"report: {report}; older than the last run, which failed" in output


@pytest.mark.parametrize(
    "words", [["status"], ["sheets"], ["show"], ["show", "full"], ["show", "findings"]]
)
def test_a_folder_without_results_is_reported(
    words: list[str], folder_command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([words[0], "x.toml", *words[1:]])
    output = "".join(capsys.readouterr())
    assert "there are no results in this folder; --runs names another one" in output
    assert not (folder_command / "runs").exists()
    main(["run", "x.toml", "--no-report"])
    capsys.readouterr()
    main([words[0], "x.toml", *words[1:]])
    assert "no results in this" not in "".join(capsys.readouterr())


def test_show_prints_or_saves_a_table(
    folder_command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    capsys.readouterr()
    assert main(["show", "x.toml", "full.cuts"]) == 0
    assert "full.cuts: 4 rows" in capsys.readouterr().out
    assert main(["show", "x.toml", "scores", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "id,l1,l2,f,f1,f2,N,mi,t_score"
    assert main(["show", "x.toml", "full.baseline", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["n_candidates"] == 12
    assert main(["show", "x.toml", "sample", "--output", "s.parquet"]) == 0
    assert pl.read_parquet(folder_command / "s.parquet").height == 6
    before = (folder_command / "s.parquet").read_bytes()
    assert main(["show", "x.toml", "scores", "--output", "s.parquet"]) == 2
    assert "already exists; add --overwrite" in capsys.readouterr().err
    assert (folder_command / "s.parquet").read_bytes() == before
    assert main(["show", "x.toml", "scores", "--output", "s.parquet", "--overwrite"]) == 0


def test_diff_reports_changed_options_and_rows(
    folder_command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    main(["run", "x.toml", "--no-report", "--set", "stages.sample.rate=0.25"])
    capsys.readouterr()
    assert main(["diff", "small:latest~1", "small:latest"]) == 0
    output = capsys.readouterr().out
    assert "stages.sample.rate: 0.5 -> 0.25" in output
    assert "table sample: 3 rows removed, 0 added, 3 changed (pi in 3)\n" in output
    assert re.search(r"    removed  id x\w+, words \S+ \S+\n", output)
    assert "    changed" not in output  # the same draws, at another rate
    assert "1 stage differs" in output
    assert main(["diff", "small:latest", "small:latest"]) == 0
    assert "the results are the same" in capsys.readouterr().out
    assert main(["diff", "smal:latest", "small:latest"]) == 2
    assert "did you mean small" in capsys.readouterr().err


def test_diff_reports_changed_values(
    folder_command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    pairs = (folder_command / "pairs.tsv").read_text()
    (folder_command / "pairs.tsv").write_text(pairs.replace("a0\tb0\t1\t3", "a0\tb0\t2\t3"))
    main(["run", "x.toml", "--no-report"])
    capsys.readouterr()
    assert main(["diff", "small:latest~1", "small:latest"]) == 0
    output = capsys.readouterr().out
    assert "table candidates: 0 rows removed, 0 added, 1 changed" in output
    assert "1 changed (f in 1)\n" in output
    assert re.search(r"    changed  id \w+, words a0 b0: f 1 -> 2\n", output)
    assert re.search(r"    changed  id \w+, words a0 b0: .*\bmi -?\d\.\d+ -> -?\d\.\d+", output)
    assert main(["diff", "small:latest~1", "small:latest", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    tables = {table["table"]: table for stage in report["stages"] for table in stage["tables"]}
    assert tables["candidates"]["changed"] == 1
    assert tables["candidates"]["examples"][0]["values"] == {"f": [1, 2]}
    assert main(["diff", "small:latest~1", "small:latest", "--format", "jsn"]) == 2
    assert "did you mean json" in capsys.readouterr().err


def test_why_compares_with_the_last_successful_run(
    folder_command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    pairs = (folder_command / "pairs.tsv").read_text()
    wrong = ["--set", "stages.sample.rate=0.6", "--set", 'stages.judgements.path="wrong.tsv"']
    (folder_command / "wrong.tsv").write_text(pairs.replace("\t0\n", "\tperhaps\n"))
    assert main(["run", "x.toml", "--no-report", *wrong]) == 1
    capsys.readouterr()
    assert main(["why", "x.toml", "sample", "--set", "stages.sample.rate=0.7"]) == 0
    assert "rate: 0.5 -> 0.7" in capsys.readouterr().out


@pytest.mark.long
def test_a_sweep_is_run_and_its_tables_are_stacked(
    folder_command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = """
[sweep]
collect = ["full.cuts", "sample"]
where = ""
[sweep.over]
"stages.sample.rate" = [0.25, 0.5]
"stages.sample.seed" = { count = 3 }
"""
    (folder_command / "x.toml").write_text(EXPERIMENT + sweep)
    assert main(["run", "x.toml"]) == 0
    assert "[6/6] rate=0.5, seed=3" in capsys.readouterr().err
    stacked = pl.read_parquet(folder_command / "runs/small/sweep/sample.parquet")
    sizes = stacked.group_by("stages.sample.rate", "stages.sample.seed").len().sort(pl.all())
    assert sizes["len"].to_list() == [3, 3, 3, 6, 6, 6]
    assert pl.read_csv(folder_command / "runs/small/sweep/full.cuts.csv").height == 6 * 4
    assert main(["show", "x.toml", "sweep.sample", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == stacked.height
    assert main(["show", "x.toml", "sweep.sampel"]) == 2
    assert "did you mean sample" in capsys.readouterr().err
    assert main(["gc", "x.toml"]) == 0
    assert "removed, 0 folders" in capsys.readouterr().out
    (folder_command / "runs/small/sweep/sample.parquet").unlink()
    assert main(["show", "x.toml", "sweep.sample"]) == 2
    assert "does not exist yet" in capsys.readouterr().err


def test_score_accepts_any_table(folder_command: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "pairs.tsv", "--measures", "MI,Dice", "--output", "s.csv.gz"]) == 0
    scored = pl.read_csv(folder_command / "s.csv.gz")
    assert scored.columns[-2:] == ["mi", "dice"]
    assert scored["l1"].to_list() == [f"a{i}" for i in range(12)]
    assert main(["score", "pairs.tsv"]) == 0
    assert "12 rows" in capsys.readouterr().out
    assert main(["score", "pairs.tsv", "--rows", "2"]) == 0
    assert "10 more rows; --rows N prints more, --format csv all" in capsys.readouterr().out
    assert main(["score", "pairs.tsv", "--measures", "MI,mi_conf(50)", "--format", "csv"]) == 0
    every = pl.read_csv(capsys.readouterr().out.encode())
    assert every.height == 12
    assert every.columns[-2:] == ["mi", "mi_conf_50"]
    assert main(["score", "pairs.tsv", "--format", "cvs"]) == 2
    assert "unknown format 'cvs'; did you mean csv" in capsys.readouterr().err
    assert main(["score", "pairs.tsv", "--format", "json", "--output", "scores.txt"]) == 0
    assert json.loads((folder_command / "scores.txt").read_text())[0]["l1"] == "a0"
    assert main(["score", "pairs.tsv", "--measures", "MJ"]) == 2
    assert "unknown measure 'MJ'" in capsys.readouterr().err
    (folder_command / "bad.csv").write_text("l1,l2,f,f1,f2,N\na,b,9,3,4,50\nc,d,x,3,4,50\n")
    assert main(["score", "bad.csv"]) == 1
    assert "line 3: 'x'" in capsys.readouterr().err
    (folder_command / "bad.csv").write_text("l1,l2,f,f1,f2,N\na,b,9,3,4,50\n")
    assert main(["score", "bad.csv"]) == 1
    message = capsys.readouterr().err
    assert "marginals_bound_joint" in message
    assert "l1='a'" in message


def test_measures_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measures", "--format", "json"]) == 0
    measures = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert measures["log_likelihood"]["ucs"] == "log.likelihood"
    assert all(row["formula"] and row["reference"] and row["range"] for row in measures.values())


def test_measures_are_listed_by_family(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measures"]) == 0
    table = capsys.readouterr().out
    families = ("asymptotic test:", "point estimate:", "information theory:", "heuristic:")
    assert sorted(families, key=table.index) == list(families)
    assert table.index("point estimate:") < table.index("odds.ratio") < table.index("heuristic:")
    assert main(["measures", "--format", "markdown"]) == 0
    assert "| `t_score` | t.score, t, tscore |" in capsys.readouterr().out


def test_schema_accepts_the_experiments_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    import tomllib

    import jsonschema

    assert main(["schema"]) == 0
    validator = jsonschema.Draft202012Validator(json.loads(capsys.readouterr().out))
    configs = sorted((Path(__file__).parents[2] / "configs").glob("*.toml"))
    assert configs
    for path in configs:
        validator.validate(tomllib.loads(path.read_text()))
    wrong = tomllib.loads(EXPERIMENT.replace("rate = 0.5", "rat = 0.5"))
    assert not validator.is_valid(wrong)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["rum"], 2, "No such command 'rum'"),
        (["run"], 2, "Missing argument"),
        (["run", "nothing.toml"], 2, "does not exist; this folder has x.toml"),
        (["run", "x.toml", "--set", "rate"], 2, "e.g. stages.sample.rate=0.2"),
        (["run", "x.toml", "--force", "sampel"], 2, "did you mean sample"),
        (["show", "x.toml", "ful"], 2, "did you mean full"),
        (["show", "x.toml", "full.cutz"], 2, "did you mean cut"),
        (["show", "x.toml", "full"], 2, "does not exist yet"),
        (["show", "x.toml", "full", "--format", "xml"], 2, "unknown format"),
        (["why", "x.toml", "ful"], 2, "did you mean full"),
        (["score", "nothing.tsv"], 2, "file not found"),
        (["score", "x.toml"], 2, "no format has the extension"),
        (["score", "pairs.tsv", "--output", "no/s.csv"], 2, "does not exist"),
        (["score", "pairs.tsv", "--output", "s.doc"], 2, "does not have the extension of a table"),
        (["annotate", "x.toml", "--language", "klingon"], 2, "is not a language code"),
        (["new", "colocations"], 2, "did you mean collocations"),
        (
            ["new", "collocations", "--from", "a.conllu"],
            2,
            "lexassay new corpus NAME --from a.conllu",
        ),
        (["diff", "small:x", "small:y"], 2, "has no runs of 'small'"),
    ],
)
def test_wrong_usage_is_explained(
    words: list[str],
    code: int,
    message: str,
    folder_command: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(words) == code
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_a_data_error_names_file_and_lines(
    folder_command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder_command / "pairs.tsv").open("a") as pairs:
        pairs.write("q\tr\tmany\t3\t4\t90\tperhaps\n")
    assert main(["run", "x.toml"]) == 1
    message = capsys.readouterr().err
    for words in ("pairs.tsv", "column f", "line 14", "'many'", "is not a whole number"):
        assert words in message
    assert "Traceback" not in message


def test_debug_shows_the_traceback(
    folder_command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "nothing.toml", "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_texts_like_formulas_are_guarded_unless_raw(
    folder_command: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (folder_command / "pairs.tsv").write_text("l1\tl2\tf\tf1\tf2\tN\tTP\n=1+1\tb\t1\t2\t2\t9\t1\n")
    assert main(["run", "x.toml"]) == 0
    tables = (folder_command / "runs" / "small" / "report" / "tables").glob("*.csv")
    beside = b"".join(path.read_bytes() for path in tables)
    assert b"'=1+1" in beside
    assert b",=1+1" not in beside
    capsysbinary.readouterr()
    words = ["show", "x.toml", "candidates", "--format", "csv"]
    assert main(words) == 0
    assert b",'=1+1,b," in capsysbinary.readouterr().out
    assert main([*words, "--raw"]) == 0
    assert b",=1+1,b," in capsysbinary.readouterr().out
    assert main(["show", "x.toml", "candidates", "--output", "out.csv"]) == 0
    capsysbinary.readouterr()
    assert main(["score", "out.csv", "--measures", "mi", "--format", "csv", "--raw"]) == 0
    assert b",=1+1,b," in capsysbinary.readouterr().out


# Help: every command belongs to a group and has an example that works.


def test_every_command_is_in_one_group_and_has_an_example() -> None:
    grouped = [name for names in groups().values() for name in names]
    assert grouped == list(COMMANDS)
    assert all(row.examples for row in COMMANDS.values())


def test_the_list_of_commands_is_grouped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    output = capsys.readouterr().out
    places = [output.index(f"\n{title}:\n") for title in groups()]
    assert places == sorted(places)
    assert (
        output.index("Run an experiment:")
        < output.index("\n  gc ")
        < output.index("Look at results:")
    )
    for names in groups().values():
        assert COMMANDS[names[0]].examples[0] in output


def test_a_command_of_a_new_group_is_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    extra = Command("inspect", "More", "Do more.", ("lexassay extra",))
    monkeypatch.setitem(COMMANDS, "extra", extra)
    assert main(["--help"]) == 0
    output = capsys.readouterr().out
    assert output.index("\nMore:") < output.index("  extra ")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_ends_with_its_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    ending = capsys.readouterr().out.partition("Example")[2].splitlines()[1:]
    assert [line.strip() for line in ending] == list(COMMANDS[name].examples)


@pytest.mark.parametrize(
    ("option", "words"),
    [("--measure", "<text>..."), ("--min-f", "<number>"), ("--stop-words", "<path>")],
)
def test_help_names_types_in_words(
    option: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["collocates", "--help"]) == 0
    (line,) = [each for each in capsys.readouterr().out.splitlines() if f" {option} " in each]
    assert line.split()[1] == words


def test_options_are_listed_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "--help"]) == 0
    printed = capsys.readouterr().out
    heads = ["Arguments:", "Network:", "Pages:", "Quality:", "Files:", "People:", "Options:"]
    places = [printed.index(f"\n{head}\n") for head in heads]
    assert places == sorted(places)
    quality = printed[printed.index("\nQuality:") : printed.index("\nFiles:")]
    assert [name in quality for name in ("--gold", "--training", "--stop")] == [True, True, False]


SERVE = {"annotate"}
"""Commands that run until they are stopped and need sheets; a test follows their chapter."""


@pytest.mark.long
def test_examples_of_commands_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for family in ("clustering", "lexicon"):
        for file in (Path(pipeline.__file__).parent / "cli" / "starters" / family).iterdir():
            if file.suffix != ".toml":
                shutil.copy(file, tmp_path)
    (tmp_path / "novel.txt").write_text("They take the road. We take the bridge.\n" * 9)
    assert next(iter(COMMANDS)) == "new"  # it writes the files that the others read
    for name, row in COMMANDS.items():
        for line in () if name in SERVE else row.examples:
            program, *words = shlex.split(line)
            assert (program, words[0]) == ("lexassay", name)
            assert main(words) == 0, line


# The version in `pyproject.toml` is that of the package and of the command.

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_the_package_has_its_version() -> None:
    assert lx.__version__ == PROJECT["version"]


def test_the_command_prints_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"lexassay {PROJECT['version']}\n"


@pytest.mark.parametrize("name", ["__author__", "nothing"])
def test_unknown_names_of_the_package_are_errors(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(lx, name)
