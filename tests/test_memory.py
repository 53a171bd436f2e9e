"""Work that exceeds the memory is refused, and the error states both sizes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from pipeline import memory
from pipeline.errors import DataError
from pipeline.memory import (
    Spill,
    available_bytes,
    format_bytes,
    is_limited,
    require,
    with_limit,
    with_share,
)

# Spilled rows: they are read back unchanged, from memory and from files, and no file is left.

SCHEMA = pl.Schema({"form": pl.String, "n": pl.Int64})


def rows(*numbers: int) -> pl.DataFrame:
    return pl.DataFrame({"n": numbers, "form": [f"w{n}" for n in numbers]})


def numbers(laid: Spill, bucket: int) -> list[int]:
    return sorted(laid.bucket(bucket).collect()["n"])


@pytest.mark.parametrize("most", [0, 2, 3, 100])
def test_spilled_rows_are_read_back_unchanged(tmp_path: Path, most: int) -> None:
    with memory.spill_to(tmp_path / "aside"), Spill(3, SCHEMA, most=most) as laid:
        for each in (rows(0, 1, 2), rows(3), rows(), rows(4, 5)):
            laid.add(each, pl.col("n") % 2)
        assert [numbers(laid, bucket) for bucket in range(3)] == [[0, 2, 4], [1, 3, 5], []]
        assert sorted(n for frame in laid.frames(1) for n in frame["n"]) == [1, 3, 5]
        assert laid.bucket(2).collect_schema() == SCHEMA
        assert any((tmp_path / "aside").rglob("*.parquet")) == (most < 6)
    assert not (tmp_path / "aside").exists()


def test_cleared_rows_are_removed(tmp_path: Path) -> None:
    with memory.spill_to(tmp_path / "aside"), Spill(1, SCHEMA, most=0) as laid:
        laid.add(rows(1, 2), pl.lit(0))
        laid.clear()
        assert numbers(laid, 0) == []
        assert not list((tmp_path / "aside").rglob("*.parquet"))
        laid.add(rows(3), pl.lit(0))
        assert numbers(laid, 0) == [3]


def test_the_default_folder_of_spilled_rows_is_temporary() -> None:
    with Spill(1, SCHEMA, most=0) as laid:
        laid.add(rows(1), pl.lit(0))
        (folder,) = {path.parent for path in laid.files(0)}
        assert folder.is_dir()
    assert not folder.exists()


def test_a_limit_applies_only_within_its_context() -> None:
    usual = available_bytes()
    with with_limit(1 << 20):
        require(1 << 20, "as much as there is")
        with pytest.raises(DataError, match=r"(?s)it would need about 1\.5 MB .* limit is 1\.0 MB"):
            require(3 << 19, "it")
    assert available_bytes() == usual
    require(3 << 19, "it")


@pytest.mark.parametrize("size", [1 << 21, 5 << 28, 9 << 30, 17 << 40])
def test_the_proposed_limit_is_sufficient(size: int) -> None:
    with with_limit(1 << 20), pytest.raises(DataError) as refused:
        require(size, "it")
    number, unit = str(refused.value).split('memory = "')[1].split('"')[0], 1
    for name, factor in (("MB", 1 << 20), ("GB", 1 << 30), ("TB", 1 << 40)):
        if number.endswith(name):
            number, unit = number.removesuffix(name), factor
    assert size <= float(number) * unit <= 2 * size, format_bytes(size)


@pytest.mark.parametrize(("workers", "among"), [(1, 1), (2, 1), (2, 2)])
def test_the_proposed_limit_is_for_all_processes(workers: int, among: int) -> None:
    """Libraries take 230 MB of it, and the workers share the rest."""
    with (
        with_limit(60 << 20, beside=(workers, 230 << 20)),
        with_share(among),
        pytest.raises(DataError) as refused,
    ):
        require(100 << 20, "it")
    assert f'[run] memory = "{230 + 150 * workers * among}MB"' in str(refused.value)


@pytest.mark.parametrize(("among", "left"), [(0, 600), (1, 600), (3, 200)])
def test_parallel_reading_shares_a_limit(among: int, left: int) -> None:
    with with_limit(600):
        with with_share(among):
            assert (available_bytes(), is_limited()) == (left, True)
        assert available_bytes() == 600


def test_without_a_limit_nothing_is_shared() -> None:
    usual = available_bytes()
    with with_share(2):
        assert (available_bytes(), is_limited()) == (usual, False)


# Queries spill within a limit.

BUDGET = "POLARS_OOC_MEMORY_BUDGET_MB"


def test_a_limit_is_the_budget_of_queries_within_its_context() -> None:
    before = os.environ.get(BUDGET)
    with with_limit(3 << 30):
        assert int(os.environ[BUDGET]) == (2 << 30) // 10**6
        with with_share(2):
            assert int(os.environ[BUDGET]) == (1 << 30) // 10**6
        with with_limit(None):
            assert BUDGET not in os.environ
        with with_limit(1):
            assert int(os.environ[BUDGET]) == memory.LEAST // 10**6
    assert os.environ.get(BUDGET) == before


def test_a_limit_requires_a_writable_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("POLARS_OOC_SPILL_DIR", str(tmp_path / "file"))
    refused = pytest.raises(DataError, match=r"(?s)file: temporary files cannot .*Set TMPDIR")
    with refused, with_limit(1):
        pass
    assert not is_limited()


def test_the_folder_of_spilled_rows_is_in_tmpdir(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("POLARS_OOC_SPILL_DIR", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert memory.spill_folder().parent == tmp_path


@pytest.mark.parametrize("limit", [None, 1])
def test_materialised_rows_keep_their_order(tmp_path: Path, limit: int | None) -> None:
    table = rows(3, 1, 2)
    with with_limit(limit), memory.spill_to(tmp_path / "aside"):
        with memory.materialise(table.lazy()) as result:
            assert result.collect().equals(table)
            assert any((tmp_path / "aside").rglob("*.parquet")) == (limit is not None)
        assert not list((tmp_path / "aside").rglob("*.parquet"))


SPILLS = """
import os, sys
from contextlib import suppress
import polars as pl
from pipeline import memory
from pipeline.kernels.nbest.ranking import rankings

def size(folder):
    found = 0
    for each in folder.glob("*/*"):
        with suppress(FileNotFoundError):  # Polars removes files that it has read
            found += each.stat().st_size
    return found

ids = pl.DataFrame({"id": pl.int_range(1_500_000, eager=True).cast(pl.String)})
scores = ids.lazy().with_columns(m=pl.col("id").hash(1) % 1000)
[ranking] = rankings(scores, measures=["m"], seed="s")
with memory.with_limit(1 if sys.argv[1] == "limit" else None):
    spilled = 0
    hashes = []
    for batch in ranking.collect_batches(chunk_size=100_000, maintain_order=True):
        spilled = max(spilled, size(memory.spill_folder()))
        hashes.append(batch.hash_rows(1).sum())
print(spilled, sum(hashes))
"""


@pytest.mark.long
def test_spilled_ranks_are_the_same(tmp_path: Path) -> None:
    environment = {**os.environ, "POLARS_OOC_SPILL_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SPILLS]
    (limited, same), (free, whole) = (
        subprocess.run(  # our own code
            [*command, how], env=environment, capture_output=True, text=True, check=True
        ).stdout.split()
        for how in ("limit", "none")
    )
    assert int(limited) > 1 << 20
    assert int(free) == 0
    assert same == whole
