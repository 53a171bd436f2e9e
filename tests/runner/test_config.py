"""The file of an experiment: files that cannot be read, references, options, sweeps."""

from __future__ import annotations

import os
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

import pipeline as lx
from pipeline.allocator import QUICK, settings
from pipeline.cli.completion import fitting_words
from pipeline.errors import ConfigError
from pipeline.runner.config import Sweep, parse_setting, read_toml
from pipeline.runner.problems import problems_of


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "file: cannot be read: it is a folder, not a file"),
        (
            "x.toml/y.toml",
            "file: cannot be read: a parent folder in the path is a file",
        ),
        ("y.toml", "file: does not exist; this folder has x.toml"),
        ("no/y.toml", "file: does not exist; check the path"),
        ("x.toml", r"file: not TOML: .*line 1"),
    ],
)
def test_unreadable_files_are_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "x.toml").write_text("name = \n")
    with pytest.raises(ConfigError, match=message):
        read_toml(tmp_path / name)


@pytest.mark.parametrize("kind", ["device", "pipe", "large"])
def test_devices_pipes_and_huge_files_are_not_read(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "x.toml"
    if kind == "device":
        file.symlink_to("/dev/zero")
        message = "file: it is a device, not a file"
    elif kind == "pipe":
        os.mkfifo(file)
        message = (
            "file: it is a pipe, which can be read only once; write its content to a file first"
        )
    else:
        with file.open("wb") as opened:
            opened.truncate(1 << 40)
        message = "file: is larger than 8 MB, and no experiment is"
    with pytest.raises(ConfigError, match=message):
        read_toml(file)
    assert settings(["gc", str(file)]) == QUICK
    assert list(fitting_words("table", "", [str(file)])) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'name = "x"\ntitle = "\xe9"\n', "byte 0xe9 in line 2, column 10"),
        (b'\xef\xbb\xbftitle = "\xe9"', "byte 0xe9 in line 1, column 10"),
        ('name = "x"\r\ntitle = "éé'.encode() + b"\xff", "byte 0xff in line 2, column 12"),
    ],
)
def test_invalid_utf8_is_reported_with_its_place(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "x.toml").write_bytes(content)
    with pytest.raises(ConfigError) as error:
        read_toml(tmp_path / "x.toml")
    assert f"not UTF-8: {message}; save the file as UTF-8" in str(error.value)


BACKSLASH = "write text with a backslash in single quotes"


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ('title = "Coll', "close the quotation mark"),
        ("title = 'Coll", "close the quotation mark"),
        ('title = """Coll', "close the quotation mark"),
        ('path = "C:\\data"', BACKSLASH),
        ('path = "C:\\users"', BACKSLASH),
        ('path = "C:\\docs\\"', BACKSLASH),
        ("size = 0,2", "write decimal numbers with a point"),
        ("a = { size = 0,2 }", "write decimal numbers with a point"),
        ('title = "a\\\\b" c', ""),
        ("size = ", ""),
    ],
)
@pytest.mark.parametrize("end", ["", "\n", "\nseed = 'a'\n"])
def test_errors_in_toml_have_a_remedy(tmp_path: Path, line: str, remedy: str, end: str) -> None:
    (tmp_path / "x.toml").write_text(f"name = 'x'\n{line}{end}")
    with pytest.raises(ConfigError) as error:
        read_toml(tmp_path / "x.toml")
    (problem,) = error.value.problems
    assert problem.what.startswith("not TOML: ")
    assert problem.remedy.startswith(remedy)
    assert bool(problem.remedy) == bool(remedy)


DEEP = "lists or tables are nested more than 50 levels deep"


@pytest.mark.parametrize("depth", [60, 400, 5000])
def test_too_deeply_nested_values_are_refused(tmp_path: Path, depth: int) -> None:
    for content in ("a = " + "[" * depth + "]" * depth, "[a" + ".a" * depth + "]"):
        (tmp_path / "x.toml").write_text(content)
        with pytest.raises(ConfigError, match=DEEP):
            read_toml(tmp_path / "x.toml")
    with pytest.raises(ConfigError, match=DEEP):
        parse_setting("seed=" + "[" * depth + "]" * depth)


def test_integers_beyond_64_bits_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(f"a = [{{ b = {10**25} }}]")
    with pytest.raises(ConfigError, match="10000000000000000000000000 exceeds 64"):
        read_toml(tmp_path / "x.toml")
    (tmp_path / "x.toml").write_text(f"a = {2**63 - 1}\nb = {-(2**63)}")
    assert read_toml(tmp_path / "x.toml") == {"a": 2**63 - 1, "b": -(2**63)}


def test_a_path_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="or a name in it is too long"):
        read_toml(tmp_path / ("x" * 300))


# Stages that refer to a list of tables.

HEAD = """
name = "lists"
[stages.a]
use = "extract.lexicon"
path = "a.tsv"
[stages.b]
use = "extract.lexicon"
path = "b.tsv"
[stages.both]
use = "extract.union"
"""


def run(folder: Path, lexicons: str) -> lx.Run:
    for name in "ab":
        (folder / f"{name}.tsv").write_text(f"lemma\tform\nx\t{name}\n")
    (folder / "x.toml").write_text(f"{HEAD}lexicons = {lexicons}\n")
    return lx.run(folder / "x.toml", runs=folder / "runs", report=False)


def test_a_stage_reads_every_table_of_a_list(tmp_path: Path) -> None:
    assert run(tmp_path, '["a", "b"]').table("both")["form"].to_list() == ["a", "b"]
    assert run(tmp_path, '["b.lexicon"]').table("both")["form"].to_list() == ["b"]


def test_another_list_gives_another_fingerprint(tmp_path: Path) -> None:
    results = [
        run(tmp_path, lexicons).manifests["both"].fingerprint
        for lexicons in ('["a", "b"]', '["a"]', '["a", "b"]')
    ]
    assert results[0] == results[2] != results[1]


@pytest.mark.parametrize(
    ("lexicons", "message"),
    [
        ('["a", "c"]', "stages.both.lexicons.1: unknown stage 'c'"),
        ('["a", "b.lemmas"]', "'b.lemmas' gives lemmas .LemmaList., but WordList is needed"),
        ('["a", "both"]', "the stages refer to each other in a circle: both -> both; remove one"),
        ("[]", "stages.both.lexicons"),
    ],
)
def test_lists_with_unknown_tables_are_refused(tmp_path: Path, lexicons: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run(tmp_path, lexicons)


class Strict(BaseModel):
    """Options without unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Labels(Strict):
    """A column and some of its labels."""

    column: str
    labels: tuple[str, ...]


class Options(Strict):
    """One field of each kind that stages have."""

    measures: tuple[str, ...] = ()
    window: Labels | None = None
    positions: tuple[Labels, ...] = ()
    categories: dict[str, str | Labels] = {}
    over: dict[str, list[Any] | Labels] = {}
    rate: int | Labels | None = None


def problem_texts(content: dict[str, Any]) -> list[str]:
    with pytest.raises(ValidationError) as error:
        Options.model_validate(content)
    return list(map(str, problems_of(error.value, Options, content, prefix="stages.x")))


WHOLE = {"column": "TP", "labels": ["a"]}
WRONG = {**WHOLE, "lable": 1}


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ({"window": WRONG}, "window.lable"),
        ({"positions": [WHOLE, WRONG]}, "positions.1.lable"),
        ({"categories": {"TP": WRONG}}, "categories.TP.lable"),
        ({"categories": {"column": WRONG}}, "categories.column.lable"),
        ({"over": {"a.b": WRONG}}, "over.a.b.lable"),
        ({"rate": WRONG}, "rate.lable"),
    ],
)
def test_an_unknown_key_is_reported_at_any_depth(content: dict[str, Any], where: str) -> None:
    assert problem_texts(content) == [f"stages.x.{where}: unknown key; did you mean labels?"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"measures": ["mi", 3]}, "measures.1: should be text (found 3)"),
        ({"measures": 3}, "measures: should be a list (found 3)"),
        ({"categories": {"TP": 3}}, "categories.TP: should be text (found 3)"),
        ({"categories": {"TP": {"column": "TP"}}}, "categories.TP.labels: is required but missing"),
        ({"over": {"n": 3}}, "over.n: should be a list (found 3)"),
        ({"over": {"n": {"column": "n"}}}, "over.n.labels: is required but missing"),
        (
            {"positions": [WHOLE, {**WHOLE, "labels": ["a", 2]}]},
            "positions.1.labels.1: should be text (found 2)",
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_reported(content: dict[str, Any], problem: str) -> None:
    assert problem_texts(content) == [f"stages.x.{problem}"]


def test_all_errors_are_reported_at_once() -> None:
    errors = problem_texts({"categories": {"A": WRONG, "B": 3}, "measure": ["mi"]})
    assert errors == [
        "stages.x.categories.A.lable: unknown key; did you mean labels?",
        "stages.x.measure: unknown key; did you mean measures?",
        "stages.x.categories.B: should be text (found 3)",
    ]


# Sweeps: points with names, values with names, combinations that are omitted


def sweep_of(text: str) -> Sweep:
    return Sweep.model_validate(tomllib.loads('collect = ["a"]\n' + text))


TWO = """
[[points]]
name = "EWT, reader of its own"
"stages.a.corpus" = { path = "ewt", format = "conllu" }
"stages.gold.path" = "ewt.tsv"
[[points]]
name = "GUM"
"stages.a.corpus" = "gum"
"stages.a.relation" = { name = "trees", value = ["obj", "nsubj"] }
"""


def test_points_are_combined_with_the_cross_product() -> None:
    """Expected values are written by hand: two points with two spans each."""
    result = sweep_of(TWO + '[over]\n"stages.a.span" = { count = 2, start = 5 }\n').combinations()
    assert [str(each) for each in result] == [
        "EWT, reader of its own, span=5", "EWT, reader of its own, span=6",
        "GUM, span=5", "GUM, span=6",
    ]  # fmt: skip
    assert result[0].settings == {
        "stages.a.corpus": {"path": "ewt", "format": "conllu"}, "stages.gold.path": "ewt.tsv",
        "stages.a.span": 5,
    }  # fmt: skip
    assert result[3].settings == {
        "stages.a.corpus": "gum", "stages.a.relation": ["obj", "nsubj"], "stages.a.span": 6,
    }  # fmt: skip
    assert result[3].columns == {
        "point": "GUM", "stages.a.corpus": "gum", "stages.gold.path": None,
        "stages.a.relation": "trees", "stages.a.span": 6,
    }  # fmt: skip


def test_a_sweep_may_have_only_points() -> None:
    assert [each.name for each in sweep_of(TWO).combinations()] == ["EWT, reader of its own", "GUM"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no settings; add"),
        ("[over]\n", "has no settings; add"),
        ('[[points]]\n"seed" = 1\n', "point 1 has no name; give it one"),
        ('[[points]]\nname = " "\n"seed" = 1\n', "point 1 has no name"),
        ('[[points]]\nname = "x"\n', "point 'x' sets nothing; add"),
        (f'{TWO}[[points]]\nname = "GUM"\nseed = 3\n', "two points have the name 'GUM'; rename"),
        (
            '[[points]]\nname = "x"\nseed = 1\n[[points]]\nname = "y"\nseed = 1.0\n',
            "the points 'x' and 'y' have the same values; remove one",
        ),
        (
            '[[points]]\nname = "x"\nstages.a.corpus = { path = "p" }\n',
            'stages.a.corpus needs quotation marks: write "stages.a.corpus" = ...',
        ),
        ("[over]\nstages.a.span = [1, 2]\n", 'write "stages.a.span" = ...'),
        ("[over]\nstages.a.seed = { count = 2 }\n", 'write "stages.a.seed" = ...'),
        ("[over]\nreport.most_rows = [1, 2]\n", 'write "report.most_rows" = ...'),
        ('[over]\n"sweep.report" = [true]\n', "a sweep cannot change its own section"),
        ('[over]\nseed = ["a", "b", "a"]\n', "seed: the value 'a' is listed twice; remove one"),
        ("[over]\nseed = [[1, 2], [1.0, 2]]\n", "is listed twice"),
        (
            '[over]\nx = [{ name = "u", value = 1 }, { name = "v", value = 1 }]\n',
            "x: the value 'u' is listed twice",
        ),
        (
            '[over]\nx = [{ name = "u", value = 1 }, { name = "u", value = 2 }]\n',
            "x: two values have the name 'u'; rename one",
        ),
        ('[over]\nx = [{ name = "u", value = 1 }, 2]\n', "x: 1 of 2 values have names; give all"),
        ("[over]\nx = [{ name = 3, value = 1 }]\n", "x: 3 cannot name a value"),
        (f"{TWO}[over]\n'stages.a.corpus' = ['x']\n", "set both in points and in over"),
        (f"{TWO}[over]\n'stages.a.corpus.path' = ['x']\n", "set both in points and in over"),
        ("skip = 'spam = 1'\n[over]\n'a.span' = [1]\n", "skip: no setting spam; did you mean"),
        ("skip = 'span ='\n[over]\n'a.span' = [1]\n", "skip"),
        ("[over]\nx = { count = 101 }\ny = { count = 100 }\n", "10,100 combinations are more than"),
    ],
)
def test_invalid_sweeps_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        sweep_of(text)
    assert message in str(refused.value)


def test_the_values_true_and_1_differ() -> None:
    assert len(sweep_of("[over]\nx = [1, true]\n").combinations()) == 2


def test_a_condition_omits_combinations() -> None:
    """Compared with a filter in Python."""
    text = "skip = \"span = 1 AND reader = 'tree' OR point = 'GUM' AND span > 2\"\n"
    over = "[over]\n'stages.a.span' = [1, 2, 3]\n'stages.a.reader' = ['tree', 'line']\n"
    points = '[[points]]\nname = "EWT"\nseed = 1\n[[points]]\nname = "GUM"\nseed = 2\n'
    results = [tuple(p.columns.values()) for p in sweep_of(text + points + over).combinations()]
    assert results == [
        (point, seed, span, reader)
        for (point, seed), span, reader in product(
            [("EWT", 1), ("GUM", 2)], [1, 2, 3], ["tree", "line"]
        )
        if not (span == 1 and reader == "tree") and not (point == "GUM" and span > 2)
    ]


@pytest.mark.parametrize(
    ("skip", "message"),
    [
        ("span < 9", "omits all 2 combinations; narrow the condition"),
        ("span = 'a'", "cannot be a condition on the settings: .*; compare numbers with numbers"),
        ("span + 1", "cannot be a condition on the settings"),
    ],
)
def test_invalid_conditions_on_settings_are_refused(skip: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        sweep_of(f'skip = "{skip}"\n[over]\n"stages.a.span" = [1, 2]\n').combinations()


def test_settings_with_the_same_last_word_have_longer_names() -> None:
    over = '[over]\n"stages.a.seed" = [1, 2]\n"stages.b.seed" = [1, 2]\n'
    result = sweep_of("skip = '\"stages.a.seed\" = 1'\n" + over).combinations()
    assert [each.settings["stages.a.seed"] for each in result] == [2, 2]
    with pytest.raises(ValidationError, match="no setting seed"):
        sweep_of('skip = "seed = 1"\n' + over)
