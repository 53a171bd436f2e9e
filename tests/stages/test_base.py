"""Options applied after counting: they do not change the counts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import ConfigError
from pipeline.stages.base import STAGES, late_options
from tests.runner.commands import call
from tests.stages.run_stage import SmallRun

TEXT = "a b a c\nb a b a\n\nc b a d\n"
TAGGED = "form\tupos\ttag\nDog\tNOUN\t1\ndog\tNOUN\t\n.\tPUNCT\t2\ncat\tX\t1\n\ndog\tNOUN\t1\n"
PAIRS = "l1\tl2\na\tb\na\tb\na\tc\nb\tb\n"
FILES = {"a.txt": TEXT, "b.txt": "d c a b\n", "a.tsv": TAGGED, "pairs.tsv": PAIRS}
UNITS = 'left = { label = "{form}" }\nright = { label = "{form}" }\n'
TEXTS = 'corpus = "?.txt"\nexamples = 2\n'
TAGS = 'corpus = "a.tsv"\nsentences = true\n'
SYSTEM = f'{TAGS}cluster = "tag"\n'
JOINED = f'candidates = "p"\ncorpus = "a.tsv"\nexpressions = "tag"\n{UNITS}'

Case = tuple[str, str, tuple[str, str]]
"""Stage, its options, and a late option with two values."""

SPANS = [
    'relation = "sentence"',
    'relation = "surface"\nsurface = { count = "positions" }',
    'relation = "textual"',
]
CASES: list[Case] = [
    *(("extract.pairs", f"{TEXTS}{UNITS}{each}\n", ("min_frequency", "3")) for each in SPANS),
    (
        "extract.tuples",
        f'{TEXTS}length = 3\nrelation = "adjacent"\nunit = {{ label = "{{form}}" }}\n',
        ("min_frequency", "2"),
    ),
    ("extract.pair_tokens", 'path = "pairs.tsv"\n', ("min_frequency", "2")),
    ("extract.gold", TAGS, ("min_frequency", "2")),
    ("extract.gold", TAGS, ("exclude", '["PUNCT"]')),
    ("extract.tagging", f'{SYSTEM}system = "s"\nuntagged = true\n', ("min_frequency", "2")),
    ("extract.tagging", f'{SYSTEM}system = "s"\nuntagged = true\n', ("exclude", '["PUNCT"]')),
    ("extract.tagging", f'{SYSTEM}system = "s"\nexclude = ["NOUN"]\n', ("untagged", "true")),
    ("extract.tagging", f"{SYSTEM}untagged = true\n", ("system", '"t"')),
    ("join.corpus", JOINED, ("least", "2")),
    ("join.corpus", JOINED, ("share", "0.5")),
]
INPUT_STAGES = {"join.corpus": f'[stages.p]\nuse = "extract.pairs"\ncorpus = "a.tsv"\n{UNITS}'}
"""The input stage of another stage."""
REQUIRED_OPTIONS = {"system": 'system = "s"\n'}
"""Values of required options."""


def counts(folder: Path, use: str, options: str) -> Mapping[str, pl.DataFrame]:
    """Return the counts of a stage."""
    before = INPUT_STAGES.get(use, "")
    SmallRun(folder, FILES).run(f'{before}[stages.c]\nuse = "{use}"\n{options}')
    (result,) = (folder / "runs" / "small" / "c" / "counts").glob("*/manifest.json")
    tables = (each for each in result.parent.iterdir() if each.is_dir())
    frames = {each.name: pl.read_parquet(each / "*.parquet") for each in tables}
    return {name: table.sort(table.columns) for name, table in frames.items()}


def same(folder: Path, case: Case) -> bool:
    """Return whether the counts are the same without and with an option, and not all empty."""
    use, options, (name, value) = case
    one = counts(folder / "one", use, options + REQUIRED_OPTIONS.get(name, ""))
    two = counts(folder / "two", use, f"{options}{name} = {value}\n")
    assert one.keys() == two.keys()
    assert any(table.height for table in one.values())
    return all(table.equals(two[name]) for name, table in one.items())


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2][0]}")
def test_late_options_do_not_change_the_counts(case: Case, tmp_path: Path) -> None:
    assert same(tmp_path, case)


@pytest.mark.parametrize(
    "case",
    [
        ("extract.pairs", TEXTS + UNITS, ("relation", '"adjacent"')),
        ("extract.gold", TAGS, ("fold", "true")),
    ],
)
def test_other_options_change_the_counts(case: Case, tmp_path: Path) -> None:
    assert not same(tmp_path, case)


def test_every_late_option_is_tested() -> None:
    ours = (name for name in STAGES if STAGES.place(name).startswith("pipeline."))
    marked = {
        (name, option)
        for name in ours
        if STAGES.get(name).counting
        for option in late_options(STAGES.get(name).config)
    }
    assert marked == {(use, option) for use, _, (option, _) in CASES}


COUNTS = {
    "l1": ["a", "b"],
    "l2": ["x", "y"],
    "f": [1, 2],
    "f1": [5, 6],
    "f2": [9, 9],
    "N": [99, 99],
}
CONFIG = 'name = "x"\n[stages.c]\nuse = "extract.table"\npath = "x*.parquet"\n'


def mistakes(folder: Path) -> str:
    (folder / "x.toml").write_text(CONFIG)
    with pytest.raises(ConfigError) as error:
        lx.check(folder / "x.toml", runs=folder / "runs")
    return str(error.value)


@pytest.mark.parametrize(
    ("column", "values", "content"),
    [
        ("l1", [["a"], ["b"]], "lists"),
        ("l1", [b"a", b"\xff"], "bytes"),
        ("f", [{"a": 1}, {"a": 2}], "structures"),
    ],
)
def test_a_column_of_nested_values_is_refused(
    column: str, values: list[Any], content: str, tmp_path: Path
) -> None:
    pl.DataFrame({**COUNTS, column: values}).write_parquet(tmp_path / "x.parquet")
    what = f"column {column!r} contains {content}, not text or numbers (x*.parquet (x.parquet))"
    assert f"stages.c.columns.{column}: {what}; convert it to text" in mistakes(tmp_path)


def test_the_file_that_lacks_a_column_is_named(tmp_path: Path) -> None:
    whole = pl.DataFrame(COUNTS)
    whole.write_parquet(tmp_path / "x1.parquet")
    whole.rename({"l1": "left"}).write_parquet(tmp_path / "x2.parquet")
    message = (
        "stages.c.columns.l1: the file has no column 'l1' (x*.parquet (x2.parquet)); valid: N, f"
    )
    assert message in mistakes(tmp_path)


def test_categorical_columns_are_read_as_text(tmp_path: Path) -> None:
    as_text = pl.DataFrame(COUNTS)
    as_categories = as_text.cast({"l1": pl.Categorical(), "l2": pl.Enum(["x", "y"])})
    tables = []
    for name, frame in (("text", as_text), ("categories", as_categories)):
        (folder := tmp_path / name).mkdir()
        frame.write_parquet(folder / "x.parquet")
        (folder / "x.toml").write_text(CONFIG)
        run = lx.run(folder / "x.toml", runs=folder / "runs", report=False)
        tables.append(run.table("c"))
    assert tables[0].equals(tables[1])


def test_score_reports_the_type_of_invalid_columns(tmp_path: Path) -> None:
    pl.DataFrame({**COUNTS, "f": [[1], [2]]}).write_parquet(tmp_path / "x.parquet")
    outcome = call(["score", str(tmp_path / "x.parquet")])
    assert outcome.code == 1
    assert f"{tmp_path / 'x.parquet'} lacks columns, or has unusable values:" in outcome.err
    assert "column f: has lists instead of whole numbers" in outcome.err
