"""Options that come after counting: the counts are the same whatever they say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from pipeline.stages.base import STAGES, late_options
from tests.stages.run_stage import SmallRun

TEXT = "a b a c\nb a b a\n\nc b a d\n"
TAGGED = "form\tupos\ttag\nDog\tNOUN\t1\ndog\tNOUN\t\n.\tPUNCT\t2\ncat\tX\t1\n\ndog\tNOUN\t1\n"
PAIRS = "l1\tl2\na\tb\na\tb\na\tc\nb\tb\n"
FILES = {"a.txt": TEXT, "b.txt": "d c a b\n", "a.tsv": TAGGED, "pairs.tsv": PAIRS}
UNITS = 'left = { label = "{form}" }\nright = { label = "{form}" }\n'
TEXTS = 'corpus = "?.txt"\nexamples = 2\n'
TAGS = 'corpus = "a.tsv"\nsentences = true\n'
SYSTEM = f'{TAGS}cluster = "tag"\n'

Case = tuple[str, str, tuple[str, str]]
"""Stage, its options, and two values of a further one."""

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
]
OTHERWISE = {"system": 'system = "s"\n'}
"""What is given in place of an option that is required."""


def counts(folder: Path, use: str, options: str) -> Mapping[str, pl.DataFrame]:
    """Return the counts of a stage."""
    SmallRun(folder, FILES).run(f'[stages.c]\nuse = "{use}"\n{options}')
    (made,) = (folder / "runs" / "small" / "c" / "counts").glob("*/manifest.json")
    tables = (each for each in made.parent.iterdir() if each.is_dir())
    read = {each.name: pl.read_parquet(each / "*.parquet") for each in tables}
    return {name: table.sort(table.columns) for name, table in read.items()}


def same(folder: Path, case: Case) -> bool:
    """Tell whether the counts are the same without and with an option, and not all empty."""
    use, options, (name, value) = case
    one = counts(folder / "one", use, options + OTHERWISE.get(name, ""))
    two = counts(folder / "two", use, f"{options}{name} = {value}\n")
    assert one.keys() == two.keys()
    assert any(table.height for table in one.values())
    return all(table.equals(two[name]) for name, table in one.items())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2][0]}")
def test_the_counts_do_not_depend_on_it(case: Case, tmp_path: Path) -> None:
    assert same(tmp_path, case)


@pytest.mark.parametrize(
    "case",
    [
        ("extract.pairs", TEXTS + UNITS, ("relation", '"adjacent"')),
        ("extract.gold", TAGS, ("fold", "true")),
    ],
)
def test_the_counts_depend_on_others(case: Case, tmp_path: Path) -> None:
    assert not same(tmp_path, case)


def test_every_late_option_has_a_case() -> None:
    ours = (name for name in STAGES if STAGES.place(name).startswith("pipeline."))
    marked = {
        (name, option)
        for name in ours
        if STAGES.get(name).counting
        for option in late_options(STAGES.get(name).config)
    }
    assert marked == {(use, option) for use, _, (option, _) in CASES}
