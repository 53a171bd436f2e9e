"""An experiment with errors: all are reported at once, with path and remedy."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pytest

import pipeline as lx
from pipeline import errors
from pipeline.errors import ConfigError, LexassayError, is_present
from pipeline.formats.spreadsheets import list_sheets
from pipeline.runner.inputs import sheet_files
from pipeline.runner.store.local import LocalStorage
from tests.small_experiment import SMALL

# Errors of libraries and of the system, reworded: without query plans and advice for programmers.

LIBRARY = re.compile(
    r"You might want|Resolved plan|Did you mean|\bHint|consider |This error occurred|infer_schema"
    r"|ComputeError|[Pp]olars|dyn int|\bi64\b|os error|Errno|lhs:|thrift|zstd|CRC check|Error -3|codec"
    r"|panicked|calamine|Traceback|defect"
)
"""Words that no message about damaged input may contain."""

ROWS = pl.LazyFrame({"l1": ["a", "b"], "f": ["1", "x"]})


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (ROWS.cast({"f": pl.Int64}), "column 'f' has values that are not whole numbers, for example 'x'"),
        (ROWS.cast({"l1": pl.Float64}), "column 'l1' has values that are not numbers, for example 'a'"),
        (ROWS.select("l2"), "no column 'l2'; columns: l1, f"),
        (ROWS.filter(pl.col("l1") > 3), "text cannot be compared with numbers (column l1)"),
        (ROWS.filter(pl.col("l1").str.contains("[")), "not a regular expression: unclosed character class"),
        (ROWS.select(pl.col("f").str.to_integer()), "strict integer parsing failed for 1 value(s)"),
        (ROWS.select(pl.col("l1") + 1), "arithmetic on dtypes str and"),
    ],
)  # fmt: skip
def test_errors_of_queries_are_reworded(query: pl.LazyFrame, message: str) -> None:
    with pytest.raises(pl.exceptions.PolarsError) as error:
        query.collect()
    result = errors.query(error.value)
    assert result.startswith(message)
    assert "\n" not in result
    assert not re.search(r"You might|Resolved|Did you|try an|consider|This error", result)


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.EACCES, "permission denied"),
        (errno.ENAMETOOLONG, "the path or a name in it is too long"),
        (errno.EISDIR, "it is a folder, not a file"),
        (errno.EIO, "input or output error of the disk"),
        (errno.EXDEV, "Invalid cross-device link"),
    ],
)
def test_errors_of_the_system_are_reworded(number: int, message: str) -> None:
    assert errors.machine(OSError(number, "Invalid cross-device link", "x")) == message
    if number != errno.EXDEV:  # as Polars raises it
        assert errors.machine(OSError(f"Something failed (os error {number}): x")) == message


@pytest.mark.parametrize(
    ("scan", "message"),
    [
        (pl.scan_csv, "the file or its folder does not exist"),
        (pl.scan_parquet, "the file or its folder"),
    ],
)
def test_errors_of_the_system_in_polars_are_reworded(
    scan: Callable[..., pl.LazyFrame], message: str, tmp_path: Path
) -> None:
    with pytest.raises(OSError, match="os error") as error:
        scan(tmp_path / "nothing").collect()
    assert errors.machine(error.value).startswith(message)


IN_POLARS = pl.exceptions.ComputeError("parquet: File out of specification (os error 28)")


@pytest.mark.parametrize(
    "error", [MemoryError(), RecursionError(), OSError(errno.EIO, "x", "y"), IN_POLARS]
)
def test_errors_of_the_system_are_not_called_bugs(error: Exception) -> None:
    assert not LIBRARY.search(errors.explain(error))


def test_a_bug_is_called_one_with_the_address_for_reports() -> None:
    text = errors.explain(KeyError("line"))
    assert text.startswith("KeyError: 'line'\nThis is a bug: please report it")
    assert "--debug" in text


GOOD = (
    SMALL
    + """
[stages.full]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
"""
)
PAIRS = "l1\tl2\tf\tf1\tf2\tN\tTP\na\tb\t3\t5\t6\t90\t1\nc\td\t2\t9\t8\t90\t0\n"


@pytest.fixture
def folder_errors(tmp_path: Path) -> Path:
    (tmp_path / "x.toml").write_text(GOOD)
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    return tmp_path


def complaints(folder: Path, **settings: Any) -> str:
    with pytest.raises(ConfigError) as error:
        lx.check(folder / "x.toml", runs=folder / "runs", settings=settings)
    return str(error.value)


def test_a_correct_experiment_has_no_errors(folder_errors: Path) -> None:
    nodes = lx.check(folder_errors / "x.toml", runs=folder_errors / "runs").nodes
    assert list(nodes) == ["candidates", "judgements", "scores", "ranks", "full"]


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "use": (
        {"stages.more": {"uses": "score.rank", "scores": "scores"}},
        "stages.more.uses: unknown key; did you mean use?",
    ),
    "path of a source": (
        {"stages.candidates.path": {"pathx": "pairs.tsv"}},
        "stages.candidates.path: names no file; unknown key 'pathx': did you mean path?",
    ),
    "format of a source": (
        {"stages.candidates.path": {"path": "pairs.tsv", "formt": "csv"}},
        "stages.candidates.path.formt: unknown key; did you mean format?",
    ),
    "no path": (
        {"stages.candidates.path": []},
        'stages.candidates.path: names no file; write path = "FILE", or a list of files',
    ),
    "path for path": (
        {"stages.more": {"use": "extract.table", "pathx": "pairs.tsv"}},
        "stages.more.pathx: unknown key; did you mean path?\n  - --set stages.more.path: is required but",
    ),
    "long path": (
        {"stages.candidates.path": "y" * 300},
        f"{'y' * 80}...: the path or a name in it is too long",
    ),
    "separator": (
        {"stages.candidates.path": {"path": "pairs.tsv", "separator": "§"}},
        "path.separator: '§' is not a valid separator; use one ASCII character, e.g. ; or |",
    ),
    "a section that is none": ({"stages.more": 3}, "stages.more: should be a table (found 3)"),
    "a value without end": (
        {"stages.ranks.measures": {"x": ["mi"] * 99}},
        "ranks.measures: should be a list (found {'x': ['mi', 'mi', 'mi', 'mi', 'mi', 'mi',",
    ),
    "unknown key": (
        {"stages.scores.measure": ["mi"]},
        "stages.scores.measure: unknown key; did you mean measures",
    ),
    "unknown section": ({"stage.x": 1}, "--set stage.x: unknown key; did you mean stages"),
    "unknown kind": ({"stages.scores.use": "score.asociation"}, "did you mean score.association"),
    "no kind": ({"stages.scores.use": 3}, "stages.scores: use = "),
    "unknown measure": ({"stages.scores.measures": ["t_scor"]}, "did you mean t_score"),
    "unknown stage": (
        {"stages.ranks.scores": "score"},
        "unknown stage 'score'; did you mean scores",
    ),
    "wrong schema": ({"stages.full.ranks": "scores"}, "gives scores (Scores), but Ranks is needed"),
    "unknown table": ({"stages.full.judgements": "judgements.cover"}, "did you mean coverage"),
    "schema of another kind": (
        {"stages.candidates": {"use": "sample.random", "candidates": "scores", "size": 2}},
        "Candidates is needed",
    ),
    "no file": ({"stages.candidates.path": "nothing.tsv"}, "nothing.tsv: file not found"),
    "no format": ({"stages.candidates.path": "x.toml"}, "no format has the extension '.toml'"),
    "reader option": (
        {"stages.candidates.path": {"path": "pairs.tsv", "sep": ";"}},
        "stages.candidates.path.sep: unknown key; valid: columns, comment, format, normalise, path",
    ),
    "no data root": ({"stages.candidates.path": "data:x.tsv"}, "needs the data root"),
    "column": (
        {"stages.candidates.columns": {"f": "freq"}},
        "candidates.columns.f: the file has no column 'freq' (pairs.tsv)",
    ),
    "category": ({"stages.judgements.categories": {"TP": "tp"}}, "did you mean TP"),
    "interval": ({"stages.full.interval": "clopper"}, "did you mean clopper_pearson"),
    "confidence": ({"stages.full.confidence": 95}, "between 0 and 1"),
    "type": (
        {"stages.candidates.min_frequency": "three"},
        "min_frequency: should be a whole number (found 'three')",
    ),
    "no list": (
        {"stages.ranks.measures": "dice"},
        "ranks.measures: should be a list (found 'dice')",
    ),
    "formula": ({"stages.scores.formulas": {"x": "AVG(o11)"}}, "of a single row"),
    "name taken": ({"stages.scores.formulas": {"mi": "o11 / r1"}}, "mi is the name of a column"),
    "rank by words": ({"stages.ranks.measures": ["l1"]}, "l1 does not contain numbers"),
    "rank by nothing": (
        {"stages.ranks.measures": ["dice"]},
        "ranks.measures: the file has no column 'dice' (table scores.scores)",
    ),
    "name": ({"name": "../up"}, "name: should have only letters a-z, digits and . _ -, no"),
    "engine": ({"run.engine": "dask"}, "valid: local"),
    "report": ({"report.stages": ["ful"]}, "unknown stage 'ful'; did you mean full"),
    "view": (
        {"report.views.full": {"band": []}},
        "report.views.full.band: unknown key; did you mean bands",
    ),
    "no view": ({"report.views.candidates": {}}, "have no view"),
    "sweep": ({"sweep": {"over": {"seed": [1, 2]}}}, "sweep.collect: is required"),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_each_error_is_reported(
    case: str, folder_errors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEXASSAY_DATA", raising=False)
    settings, message = CASES[case]
    assert message in complaints(folder_errors, **settings)


def test_all_errors_are_reported_at_once(folder_errors: Path) -> None:
    settings = {path: value for case in ("name", "unknown measure", "no file", "report")
                for path, value in CASES[case][0].items()}  # fmt: skip
    text = complaints(folder_errors, **settings)
    assert text.startswith(str(folder_errors / "x.toml") + ": 4 errors")


def test_stages_in_a_circle_are_refused(folder_errors: Path) -> None:
    ring = """
    [stages.a]
    use = "sample.random"
    candidates = "b"
    size = 1
    [stages.b]
    use = "sample.random"
    candidates = "a"
    size = 1
    """
    (folder_errors / "x.toml").write_text(GOOD + ring)
    assert "in a circle: " in complaints(folder_errors)


def test_missing_public_data_is_reported_with_its_source(folder_errors: Path) -> None:
    text = GOOD + '[data]\n"x.tsv" = "ask the museum"\n'
    (folder_errors / "x.toml").write_text(text.replace('"pairs.tsv"', '"data:x.tsv"', 1))
    with pytest.raises(ConfigError, match="source: ask the museum"):
        lx.check(folder_errors / "x.toml", data=folder_errors)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"name = ", "not TOML"), (b"name = 'a'\nseed = =", "line 2"), (b"\xff", "not UTF-8: byte 0xff in line 1, column 1"),
     (b"name = 'x'", "stages: is required")],
)  # fmt: skip
def test_files_that_are_not_experiments_are_refused(
    content: bytes, message: str, folder_errors: Path
) -> None:
    (folder_errors / "x.toml").write_bytes(content)
    assert message in complaints(folder_errors)


def test_a_missing_file_is_reported_with_others(folder_errors: Path) -> None:
    with pytest.raises(ConfigError, match=r"does not exist; this folder has x\.toml"):
        lx.check(folder_errors / "y.toml")


def test_setting_an_option_of_an_unknown_stage_is_refused(folder_errors: Path) -> None:
    message = complaints(folder_errors, **{"stages.score.measures": ["mi"]})
    assert "stages.score: unknown stage; did you mean scores" in message


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("scores.measures", "- --set scores.measures: unknown key; did you mean stages.scores.measures?"),
        ("scores", "- --set scores: unknown key; did you mean stages.scores?"),
        ("titel", "- --set titel: unknown key; did you mean title?"),
        ("stages.scores.measure", "- --set stages.scores.measure: unknown key; did you mean measures?"),
        ("stages.scores.measures", "- --set stages.scores.measures: "),
        ("stages.candidates.path", "- --set stages.candidates.path: "),
    ],
)  # fmt: skip
def test_errors_of_settings_name_the_option(path: str, message: str, folder_errors: Path) -> None:
    text = complaints(folder_errors, **{path: ["none"]})
    assert message in text
    assert text.count("--set") == text.count("\n  - ")


def test_errors_of_the_file_do_not_name_the_option(folder_errors: Path) -> None:
    (folder_errors / "x.toml").write_text(GOOD + "[scores]\nmeasures = 1\n")
    message = complaints(folder_errors, **{"scores.measures": 2})
    assert "- scores: unknown key" in message


def test_unreadable_paths_are_not_reported_as_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Since Python 3.14 `Path.exists` treats a path as absent after any error of the system."""
    (tmp_path / "loop").symlink_to("loop")
    assert [is_present(tmp_path / name) for name in ("", "none", "loop")] == [True, False, False]
    with pytest.raises(OSError, match="too long"):
        is_present(tmp_path / ("x" * 300))
    gone = OSError(errno.ESTALE, "Stale file handle")

    def stat(_path: Path, *, follow_symlinks: bool = True) -> NoReturn:
        raise gone

    monkeypatch.setattr(Path, "stat", stat)
    for read in (list_sheets, lambda folder: sheet_files(folder, "annotation_sheet")):
        with pytest.raises((OSError, LexassayError), match=r"Stale|network drive"):
            read(tmp_path)
    with pytest.raises(OSError, match="Stale"):
        list(LocalStorage(tmp_path).list())
