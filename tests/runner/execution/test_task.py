"""One shard: whose fault an error is, and that what was written can be read back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import pytest

from pipeline.runner.store.local import LocalStorage
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import Candidates
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
    assert "Traceback" not in done.err
    assert laboratory.outcomes()["own"] == "failed"
    assert_whole(laboratory.root)
    assert "Traceback" in laboratory.call("run", "--debug").err


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
