"""A tagging that is joined under a limit of memory, in parts, is that of a corpus with both tags."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline import memory
from pipeline.errors import DataError
from pipeline.formats.corpora import splitting
from pipeline.formats.corpora.blocks import block_size
from pipeline.kernels import partitions
from pipeline.kernels.clustering.encoding import added_up

HEAD = '\nsystem = "S"\ntag = "tag"\ncluster = "cluster"\nexclude = ["t3"]\nmin_frequency = 2\n'
ONE = f'use = "extract.tagging"\ncorpus = "both.tsv"{HEAD}'
TWO = f'use = "join.tagging"\ngold = "gold.tsv"\ninduced = "induced.tsv"\nrun = "cluster"{HEAD}'


def build(folder: Path) -> None:
    draw = random.Random(7)
    rows = [
        (f"w{int(draw.paretovariate(0.8)) % 90}", f"t{draw.randrange(5)}", f"c{draw.randrange(7)}")
        for _ in range(3_000)
    ]
    for name, kept in {"both": (0, 1, 2), "gold": (0, 1), "induced": (0, 2)}.items():
        head = "\t".join(("form", "tag", "cluster")[k] for k in kept)
        lines = ["\t".join(row[k] for k in kept) for row in rows]
        cut = ("\n".join(lines[at : at + 9]) for at in range(0, len(lines), 9))
        (folder / f"{name}.tsv").write_text(head + "\n" + "\n\n".join(cut) + "\n")


def made(folder: Path, stage: str, *, memory: str = "", sentences: bool = False) -> lx.Run:
    (folder / "x.toml").write_text(
        f'name = "x"\n[run]\n{memory}\n[stages.t]\n{stage}sentences = {str(sentences).lower()}\n'
    )
    runs = folder / ("limited" if memory else "whole")
    return lx.run(folder / "x.toml", runs=runs, report=False, force=["t"])


@pytest.fixture
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "LEAST", 200 * partitions.ROW)
    monkeypatch.setattr(partitions, "ROW", 6_000)


@pytest.mark.usefixtures("_small_parts")
@pytest.mark.parametrize("sentences", [pytest.param(False, marks=pytest.mark.long), True])
def test_the_same_comes_of_it(*, sentences: bool, tmp_path: Path) -> None:
    build(tmp_path)
    both = made(tmp_path, ONE, sentences=sentences)
    run = made(tmp_path, TWO, memory='memory = "1MB"', sentences=sentences)
    assert len(run.manifests["t"].tables["tagged"].parts) > 2
    assert len(run.manifests["t"].tables["sizes"].parts) == 1
    for name in ("tagged", "entries", "gold", "sizes"):
        assert run.manifests["t"].digests()[name] == both.manifests["t"].digests()[name]
    mine, theirs = (each.table("t.sentences").drop("file") for each in (run, both))
    assert mine.sort(mine.columns).equals(theirs.sort(theirs.columns))
    assert bool(mine.height) is sentences


def test_both_sides_are_read_in_the_memory_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tmp_path)
    asked = list[int | None]()

    def seen(memory: int | None) -> int:
        asked.append(memory)
        return block_size(memory)

    monkeypatch.setattr(splitting, "block_size", seen)
    made(tmp_path, TWO, memory='memory = "1GB"')
    whole = max(each for each in asked if each is not None)  # each is checked by itself
    assert {*asked} == {whole, whole // 2}


@pytest.mark.usefixtures("_small_parts")
def test_faults_of_all_batches_are_told(tmp_path: Path) -> None:
    build(tmp_path)
    path = tmp_path / "induced.tsv"
    lines = path.read_text().split("\n")
    filled = [place for place, line in enumerate(lines) if line]
    for place in (filled[1], filled[1500], filled[-1]):
        lines[place] = "other\tc1"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match="3 value|3 x") as error:
        made(tmp_path, TWO, memory='memory = "1MB"')
    for place in (filled[1], filled[1500], filled[-1]):
        assert f"line {place + 1}" in str(error.value)


@pytest.mark.usefixtures("_small_parts")
def test_one_side_ends_before_the_other(tmp_path: Path) -> None:
    build(tmp_path)
    path = tmp_path / "induced.tsv"
    path.write_text("\n".join(path.read_text().split("\n")[:-5]) + "\n")
    with pytest.raises(DataError, match="after the last token of this run"):
        made(tmp_path, TWO, memory='memory = "1MB"')


def test_a_part_has_all_rows_of_an_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "LEAST", 10 * partitions.ROW)
    rows = {
        "run": [""] * 60,
        "item": [*(f"i{n % 20}" for n in range(57)), None, None, None],
        "gold": [f"g{n % 3}" for n in range(60)],
        "cluster": [None if n % 4 else "c" for n in range(60)],
        "f": [1] * 60,
    }
    counts = pl.DataFrame(rows)
    with memory.limited(1), partitions.spill_of(1, counts.schema) as laid:
        laid.add(counts, pl.lit(0))
        added = [each.collect() for each in added_up(laid, by=["item"])]
    assert len(added) > 3
    assert sum(each["item"].n_unique() for each in added) == counts["item"].n_unique()
    key = ["run", "item", "gold", "cluster"]
    expected = counts.group_by(key).agg(pl.col("f").sum()).sort(key)
    assert pl.concat(added).sort(key).equals(expected.select(pl.concat(added).columns))
