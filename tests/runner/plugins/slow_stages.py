"""A slow stage: it waits before a gate, or within one plan of Polars."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import polars as pl

from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import Candidates


class Slow(StageConfig):
    """Pass candidates on, slowly."""

    candidates: Annotated[str, Of(Candidates)]
    """The candidates."""
    gate: str = ""
    """A folder: each shard removes a file "permit..." from it, or waits, unless "open" exists."""
    seconds: float = 0.0
    """How long each shard is busy."""
    where: Literal["plan", "join"] = "plan"
    """Sleep in a step of the plan, or work on a large join."""


@stage("slow.copy", config=Slow, outputs={"candidates": Candidates}, shards="candidates")
def slow_copy(config: Slow, tables: Tables) -> Outputs:
    plan = tables["candidates"]
    if not plan.select(pl.len()).collect().item():
        return {"candidates": plan}
    if config.gate:
        _pass(Path(config.gate))
    if config.where == "join":
        return {"candidates": plan.with_columns(f=pl.col("f") + _nothing(config.seconds))}
    busy = pl.col("f").map_batches(_sleeper(config.seconds), return_dtype=pl.Int64)
    return {"candidates": plan.with_columns(busy)}


def _pass(gate: Path) -> None:
    deadline = time.monotonic() + 300
    while not (gate / "open").exists():
        for permit in gate.glob("permit*"):
            permit.unlink()
            return
        if time.monotonic() > deadline:
            raise TimeoutError("nobody opened the gate")
        time.sleep(0.01)


def _sleeper(seconds: float) -> Callable[[pl.Series], pl.Series]:
    def sleep(values: pl.Series) -> pl.Series:
        for _ in range(100 if len(values) else 0):
            time.sleep(seconds / 100)
        return values

    return sleep


def _nothing(seconds: float) -> pl.Expr:
    """Return zero, after a join that no optimiser can remove."""
    size = int(15_000 * seconds**0.5)
    left = pl.LazyFrame({"a": range(size)})
    product = left.join(left.rename({"a": "b"}), how="cross")
    total = product.select((pl.col("a") * pl.col("b") % 7).sum()).collect().item()
    return pl.lit(min(total, 0))
