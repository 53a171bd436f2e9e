"""One shard: whose fault an error is, and that what was written can be read back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import pytest

from pipeline.runner.store.local import LocalStorage
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import Candidates
from tests.runner.commands import call
from tests.runner.laboratory import Laboratory, assert_whole

OWN = """
[stages.own]
use = "own.stage"
candidates = "candidates"
"""


class Own(StageConfig):
    """Pass candidates on."""

    candidates: Annotated[str, Of(Candidates)]
    """The candidates."""


@pytest.mark.usefixtures("own_stages")
def test_an_error_that_nobody_foresaw_is_the_stages(laboratory: Laboratory) -> None:
    def divide(_config: Own, tables: Tables) -> Outputs:
        rows = tables["candidates"].select(pl.len()).collect().item()
        return {"candidates": tables["candidates"].head(1 // (rows < 100))}

    stage("own.stage", config=Own, outputs={"candidates": Candidates})(divide)
    laboratory.config.write_text(laboratory.config.read_text() + OWN)
    done = laboratory.call("run")
    assert done.code == 1
    assert "stage own failed: ZeroDivisionError: " in done.err
    assert "This is a defect: report it, with the experiment and what --debug shows" in done.err
    assert "Traceback" not in done.err
    assert laboratory.outcomes()["own"] == "failed"
    assert_whole(laboratory.root)
    assert "Traceback" in laboratory.call("run", "--debug").err


@pytest.mark.usefixtures("own_stages")
def test_what_a_library_says_of_a_stage_is_told_in_our_words(laboratory: Laboratory) -> None:
    def numbers(_config: Own, tables: Tables) -> Outputs:
        late = pl.col("l1").map_batches(lambda text: text, return_dtype=pl.String())
        return {"candidates": tables["candidates"].with_columns(f=late.cast(pl.Int64))}

    stage("own.stage", config=Own, outputs={"candidates": Candidates})(numbers)
    laboratory.config.write_text(laboratory.config.read_text() + OWN)
    said = laboratory.call("run").err
    assert (
        "stage own failed: a column has values that are no whole numbers, such as 'in:N1_" in said
    )
    assert "If no condition or formula of its options explains it, this is a defect" in said
    for advice in ("Error:", "You might", "This error occurred", "i64", "strict"):
        assert advice not in said, advice


@pytest.mark.parametrize(("cast", "code"), [("CAST", 1), ("TRY_CAST", 0)])
def test_a_cast_of_a_condition_that_cannot_be_done(cast: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("a b\n1 2\n")
    (tmp_path / "x.toml").write_text(
        'name = "x"\n[stages.pairs]\nuse = "extract.pairs"\nrelation = "adjacent"\n'
        f'corpus = "c.txt"\nleft = {{ where = "{cast}(form AS BIGINT) > 0", label = "{{form}}" }}\n'
        'right = { label = "{form}" }\n'
    )
    done = call(["run", str(tmp_path / "x.toml"), "--runs", str(tmp_path / "r"), "--no-report"])
    assert done.code == code
    if code:
        assert "stages.pairs: a CAST of its options cannot be done: column 'form' has" in done.err
        assert "Use TRY_CAST" in done.err
        assert "defect" not in done.err


def test_rows_that_cannot_be_read_back(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = LocalStorage.write

    def lose_two(
        self: LocalStorage, key: str, content: bytes | pl.DataFrame, *, new: bool = False
    ) -> None:
        kept = content.head(-2) if isinstance(content, pl.DataFrame) else content
        write(self, key, kept, new=new)

    with monkeypatch.context() as patch:
        patch.setattr(LocalStorage, "write", lose_two)
        done = laboratory.call("run")
    assert done.code == 1
    assert "table candidates breaks its schema" in done.err
    assert "written and read back, rows are missing in 2 rows" in done.err
    assert not list(Path(laboratory.root, "candidates").glob("[!.]*"))
    laboratory.run()
    assert_whole(laboratory.root)
