"""Former names: they work with a warning until the version that was announced."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pytest

import pipeline as lx
from pipeline.errors import ConfigError
from pipeline.formats.base import FORMATS
from pipeline.kernels.measure import MEASURES
from pipeline.kernels.statistics.exact_tests import CORRECTIONS, TESTS
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.release import RENAMED, FormerName, Renaming, current_name, with_current_names
from pipeline.runner.config import parse
from tests.small_experiment import SMALL

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
STABLE_KINDS = {
    *("function", "attribute", "module", "stage", "option", "measure", "interval", "test"),
    *("correction", "format", "remark"),
}
"""Kinds of names that 1.x keeps."""
FORMER = {
    "function": {"evaluate_pairs": Renaming("evaluate", "1.1", "2.0")},
    "stage": {"score.ranking": Renaming("score.rank", "1.1", "2.0")},
    "option": {"extract.table.file": Renaming("extract.table.path", "1.1", "2.0")},
    "measure": {"ll_ratio": Renaming("log_likelihood", "1.1", "2.0")},
}


@pytest.fixture
def former(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, names in FORMER.items():
        monkeypatch.setitem(RENAMED, kind, names)


def minor(version: str) -> tuple[int, int]:
    major, second = version.split(".")[:2]
    return int(major), int(second)


def test_a_registry_finds_an_entry_by_its_former_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {TESTS.kind, INTERVALS.kind, CORRECTIONS.kind, FORMATS.kind} <= STABLE_KINDS
    monkeypatch.setitem(RENAMED, TESTS.kind, {"exact": Renaming("fisher", "1.1", "2.0")})
    with pytest.warns(FormerName, match="the test exact was renamed fisher in lexassay 1.1"):
        assert lx.difference_test(3, 4, 1, 4, test="exact") == lx.fisher(3, 4, 1, 4)
    with pytest.raises(lx.ConfigError, match="unknown test 'exactly'"):
        lx.difference_test(3, 4, 1, 4, test="exactly")


def test_former_names_are_removed_in_the_announced_version() -> None:
    for kind, names in RENAMED.items():
        for old, (_, since, until) in names.items():
            assert minor(until) > minor(since), old
            assert minor(VERSION) < minor(until), f"{old} is overdue: remove it"
            assert kind not in STABLE_KINDS or until.endswith(".0"), old


@pytest.mark.usefixtures("former")
def test_a_former_name_warns_with_the_new_one() -> None:
    text = (
        "the measure ll_ratio was renamed log_likelihood in lexassay 1.1;"
        " the former name works until 2.0"
    )
    with pytest.warns(FormerName) as caught:
        assert current_name("measure", "ll_ratio") == "log_likelihood"
    assert [str(each.message) for each in caught] == [text]
    with pytest.warns(FormerName):
        assert MEASURES.resolve(["ll_ratio", "mi"]) == ["log_likelihood", "mi"]
    with pytest.warns(FormerName):
        assert lx.evaluate_pairs is lx.evaluate


def test_current_names_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stages = {"a": {"use": "score.rank", "scores": "b"}, "b": 1, "c": {"use": 2}, "d": {}}
        content = {"stages": stages, "remarks": {"skipped_input": False}}
        assert with_current_names(content) == content
        assert with_current_names({"stages": 1, "remarks": 2}) == {"stages": 1, "remarks": 2}


@pytest.mark.usefixtures("former")
def test_former_names_of_stages_and_options_are_replaced() -> None:
    former = {
        "t": {"use": "extract.table", "file": "x.tsv", "title": "T"},
        "r": {"use": "score.ranking", "scores": "s"},
    }
    with pytest.warns(FormerName) as caught:
        stages = with_current_names({"stages": former})["stages"]
    assert len(caught) == 2
    assert list(stages["t"].items()) == [
        ("use", "extract.table"),
        ("path", "x.tsv"),
        ("title", "T"),
    ]
    assert stages["r"] == {"use": "score.rank", "scores": "s"}


@pytest.mark.usefixtures("former")
def test_a_former_option_beside_the_new_one_is_refused(tmp_path: Path) -> None:
    text = SMALL.replace('path = "pairs.tsv"', 'path = "pairs.tsv"\nfile = "other.tsv"', 1)
    assert text != SMALL
    (tmp_path / "x.toml").write_text(text)
    with (
        pytest.warns(FormerName),
        pytest.raises(ConfigError, match="stages.candidates.file: "),
    ):
        lx.check(tmp_path / "x.toml")


def test_a_former_name_of_a_remark_sets_its_threshold() -> None:
    content = tomllib.loads(f"{SMALL}\n[remarks]\nleft_out = false\n")
    with pytest.warns(FormerName, match="the remark left_out was renamed skipped_input"):
        experiment, problems = parse(content)
    assert experiment is not None
    assert experiment.remarks == {"skipped_input": False}
    assert not problems


def test_a_former_name_of_a_remark_beside_the_new_one_is_refused() -> None:
    content = tomllib.loads(f"{SMALL}\n[remarks]\nleft_out = false\nskipped_input = 5\n")
    with pytest.warns(FormerName):
        _, problems = parse(content)
    assert [problem.where for problem in problems] == ["remarks.left_out"]


def test_the_command_prints_the_warning_in_one_line(tmp_path: Path) -> None:
    script = f"""
import sys
from pipeline.release import RENAMED, Renaming
RENAMED["measure"] = {FORMER["measure"]}
import warnings
sys.argv = ["lexassay", "score", "pairs.tsv", "--measures", "ll_ratio"]
import lexassay
lexassay.script()
"""
    rows = ["l1\tl2\tf\tf1\tf2\tN", "a\tb\t3\t4\t5\t90"]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows) + "\n")
    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert process.stderr.splitlines()[0].startswith("lexassay: the measure ll_ratio was renamed")
    assert "Warning" not in process.stderr
    assert "log_likelihood" in process.stdout
