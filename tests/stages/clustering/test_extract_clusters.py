"""Clusters from dictionaries: Brown paths, blocks, tables; systems and runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import ConfigError, DataError
from tests.stages.small_run import SmallRun, counts

STAGE = '[stages.c]\nuse = "extract.clusters"\nsystem = "S"\n'
BROWN = "0010\tdog\t3\n0011\tDog\t2\n11\trun\t1\n"


def test_brown_paths_cut_and_folded(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"b.paths": BROWN})
    whole = small.run(STAGE + 'path = "b.paths"')["c.entries"]
    assert whole.rows() == [
        ("S", "b", "Dog", "0011", 2), ("S", "b", "dog", "0010", 3), ("S", "b", "run", "11", 1),
    ]  # fmt: skip
    cut = small.run(STAGE + 'path = "b.paths"\nprefix = 3\nfold = true')
    assert cut["c.entries"].rows() == [("S", "b", "dog", "001", 5), ("S", "b", "run", "11", 1)]
    both = small.run(STAGE + 'path = "b.paths"\nfold = true')
    assert counts(both["c.sizes"]) == {"items": 2, "clusters": 3, "items in several clusters": 1}


def test_each_file_is_a_run_unless_it_is_named(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"r/1.blocks": "dog\n\nrun\n", "r/2.blocks": "dog\nrun\n"})
    runs = small.run(STAGE + 'path = "r/*"')["c.entries"]
    assert runs.select("run", "item", "cluster", "f").rows() == [
        ("1", "dog", "1", None), ("1", "run", "2", None),
        ("2", "dog", "1", None), ("2", "run", "1", None),
    ]  # fmt: skip
    one = small.run(STAGE + 'path = "r/*"\nrun = "x"')["c.entries"]
    assert one.select("run", "item", "cluster").rows() == [
        ("x", "dog", "1"), ("x", "run", "1"), ("x", "run", "2"),
    ]  # fmt: skip


def test_files_that_are_called_alike_are_not_one_run(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"a/x.paths": BROWN, "b/x.paths": BROWN})
    with pytest.raises(ConfigError, match=r"run: 2 files are called alike: a/x.paths, b/x.paths"):
        small.run(STAGE + 'path = ["a/x.paths", "b/x.paths"]')


def test_any_table(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"t.tsv": "dog\t1 2\nrun\t2\n", "c.csv": "word,c,p\ndog,7,.5\n"})
    source = 'path = { path = "t.tsv", columns = ["item", "cluster"] }\nseparator = " "'
    assert small.run(STAGE + source)["c.entries"].select("item", "cluster").rows() == [
        ("dog", "1"), ("dog", "2"), ("run", "2"),
    ]  # fmt: skip
    named = 'path = "c.csv"\ncolumns = { item = "word", cluster = "c" }'
    assert small.run(STAGE + named)["c.entries"].select("run", "item", "cluster").rows() == [
        ("c", "dog", "7")
    ]


def test_clark_with_a_header_and_as_it_comes(tmp_path: Path) -> None:
    small = SmallRun(
        tmp_path, {"c.tsv": "word\tcluster\tp\ndog\t7\t.5\n", "c.txt": "dog 7 .5\n# 8 1e-05\n"}
    )
    made = small.run(STAGE + 'path = "c.tsv"\ncolumns = { item = "word" }')["c.entries"]
    assert made.select("item", "cluster", "f").rows() == [("dog", "7", None)]
    names = 'format = "tsv", separator = " ", columns = ["item", "cluster", "p"]'
    plain = small.run(STAGE + 'path = { path = "c.txt", ' + names + " }")["c.entries"]
    assert plain.select("item", "cluster", "f").rows() == [("#", "8", None), ("dog", "7", None)]


def test_what_cannot_be_used_is_named_with_its_line(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"b.paths": "00\t\t1\n\tb\t1\n01\tc\tx\n"})
    with pytest.raises(DataError) as error:
        small.run(STAGE + 'path = "b.paths"')
    for said in ["column item: 1 x is empty", "line 1", "column cluster: 1 x is empty", "line 2",
                 "column f: 1 x is no count of 1 or more, or too large to be added up", "line 3: 'x'"]:  # fmt: skip
        assert said in str(error.value)


def test_an_absent_column_is_named(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"t.tsv": "word\tcluster\na\t1\n"})
    with pytest.raises(ConfigError, match=r"columns.item: the file has no column 'item'"):
        small.run(STAGE + 'path = "t.tsv"')


@pytest.mark.parametrize("use", ["extract.clusters", "extract.gold_table"])
def test_counts_that_are_too_many_are_refused(tmp_path: Path, use: str) -> None:
    label = "gold" if use == "extract.gold_table" else "cluster"
    rows = f"item\t{label}\tf\na\t1\t{2**63 - 1}\na\t1\t7\nb\t2\t1\n"
    small = SmallRun(tmp_path, {"t.tsv": rows})
    system = "" if use == "extract.gold_table" else 'system = "c"\n'
    with pytest.raises(DataError, match="too large to be added up"):
        small.run(f'[stages.c]\nuse = "{use}"\n{system}path = "t.tsv"')
