"""A wrong experiment: every mistake at once, with path and remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pipeline as lx
from pipeline.errors import ConfigError
from tests.small_experiment import SMALL

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
def folder(tmp_path: Path) -> Path:
    (tmp_path / "x.toml").write_text(GOOD)
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    return tmp_path


def complaints(folder: Path, **settings: Any) -> str:
    with pytest.raises(ConfigError) as error:
        lx.check(folder / "x.toml", runs=folder / "runs", settings=settings)
    return str(error.value)


def test_good(folder: Path) -> None:
    nodes = lx.check(folder / "x.toml", runs=folder / "runs").nodes
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
        "stages.more.pathx: unknown key; did you mean path?\n  - stages.more.path: is required but",
    ),
    "long path": (
        {"stages.candidates.path": "y" * 300},
        f"{'y' * 80}...: the path, or a name in it, is longer than the system allows",
    ),
    "separator": (
        {"stages.candidates.path": {"path": "pairs.tsv", "separator": "§"}},
        "path.separator: '§' cannot separate fields: one ASCII character, such as ; or |",
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
    "unknown section": ({"stage.x": 1}, "stage: unknown key; did you mean stages"),
    "unknown kind": ({"stages.scores.use": "score.asociation"}, "did you mean score.association"),
    "no kind": ({"stages.scores.use": 3}, "stages.scores: has no use"),
    "unknown measure": ({"stages.scores.measures": ["t_scor"]}, "did you mean t_score"),
    "unknown stage": (
        {"stages.ranks.scores": "score"},
        "there is no stage 'score'; did you mean scores",
    ),
    "wrong schema": ({"stages.full.ranks": "scores"}, "gives scores (Scores), but Ranks is needed"),
    "unknown table": ({"stages.full.judgements": "judgements.cover"}, "did you mean coverage"),
    "schema of another kind": (
        {"stages.candidates": {"use": "sample.random", "candidates": "scores", "size": 2}},
        "Candidates is needed",
    ),
    "no file": ({"stages.candidates.path": "nothing.tsv"}, "there is no file 'nothing.tsv'"),
    "no format": ({"stages.candidates.path": "x.toml"}, "no format has the ending '.toml'"),
    "reader option": (
        {"stages.candidates.path": {"path": "pairs.tsv", "sep": ";"}},
        "stages.candidates.path.sep: unknown key; valid: columns, comment, format, path, separator",
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
    "formula": ({"stages.scores.formulas": {"x": "AVG(o11)"}}, "row by row"),
    "name taken": ({"stages.scores.formulas": {"mi": "o11 / r1"}}, "mi is the name of a column"),
    "rank by words": ({"stages.ranks.measures": ["l1"]}, "l1 does not hold numbers"),
    "rank by nothing": (
        {"stages.ranks.measures": ["dice"]},
        "ranks.measures: the file has no column 'dice' (table scores.scores)",
    ),
    "name": ({"name": "../up"}, "name: should match ^"),
    "engine": ({"run.engine": "dask"}, "valid: local"),
    "report": ({"report.stages": ["ful"]}, "there is no stage 'ful'; did you mean full"),
    "view": (
        {"report.views.full": {"band": []}},
        "report.views.full.band: unknown key; did you mean bands",
    ),
    "no view": ({"report.views.candidates": {}}, "have no view"),
    "sweep": ({"sweep": {"over": {"seed": [1, 2]}}}, "sweep.collect: is required"),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_mistake(case: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEXASSAY_DATA", raising=False)
    settings, said = CASES[case]
    assert said in complaints(folder, **settings)


def test_all_mistakes_at_once(folder: Path) -> None:
    settings = {path: value for case in ("name", "unknown measure", "no file", "report")
                for path, value in CASES[case][0].items()}  # fmt: skip
    text = complaints(folder, **settings)
    assert text.startswith(str(folder / "x.toml") + ": 4 mistakes")


def test_ring(folder: Path) -> None:
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
    (folder / "x.toml").write_text(GOOD + ring)
    assert "in a ring: " in complaints(folder)


def test_absent_public_data_says_where_it_can_be_had(folder: Path) -> None:
    text = GOOD + '[data]\n"x.tsv" = "ask the museum"\n'
    (folder / "x.toml").write_text(text.replace('"pairs.tsv"', '"data:x.tsv"', 1))
    with pytest.raises(ConfigError, match="where it can be had: ask the museum"):
        lx.check(folder / "x.toml", data=folder)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"name = ", "not TOML"), (b"name = 'a'\nseed = =", "line 2"), (b"\xff", "not UTF-8: byte 0xff in line 1, column 1"),
     (b"name = 'x'", "stages: is required")],
)  # fmt: skip
def test_file_that_is_no_experiment(content: bytes, said: str, folder: Path) -> None:
    (folder / "x.toml").write_bytes(content)
    assert said in complaints(folder)


def test_absent_file_lists_the_others(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"does not exist; this folder has x\.toml"):
        lx.check(folder / "y.toml")


def test_setting_an_unknown_stage(folder: Path) -> None:
    said = complaints(folder, **{"stages.score.measures": ["mi"]})
    assert "stages.score: there is no such stage; did you mean scores" in said
