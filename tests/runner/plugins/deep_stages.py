"""Stages that record their callers: one on a table, one that counts a corpus."""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path
from typing import Annotated

import pipeline
from pipeline.stages.base import STAGES, Of, Outputs, StageConfig, Tables, stage
from pipeline.stages.collocations import extract_corpus
from schemas import Candidates

PROJECT = str(Path(pipeline.__file__).parent)
PAIRS = STAGES.get("extract.pairs")


def write_down(name: str) -> None:
    """Write the frames of project code, the outermost first; the last run of a stage is kept."""
    frames = [each for each in reversed(inspect.stack()) if each.filename.startswith(PROJECT)]
    lines = [f"{each.filename.removeprefix(PROJECT)} {each.function}" for each in frames]
    Path(os.environ["LEXASSAY_FRAMES"], name).write_text(json.dumps(lines))


class Deep(StageConfig):
    """Pass candidates on."""

    candidates: Annotated[str, Of(Candidates)]
    """The candidates."""


@stage("deep.copy", config=Deep, outputs={"candidates": Candidates})
def copy(_config: Deep, tables: Tables) -> Outputs:
    write_down("copy")
    return {"candidates": tables["candidates"]}


@stage(
    "deep.pairs",
    config=extract_corpus.ExtractPairs,
    outputs=PAIRS.outputs,
    shards=PAIRS.shards,
    counting=PAIRS.counting,
)
def pairs(config: extract_corpus.ExtractPairs, tables: Tables) -> Outputs:
    write_down("pairs")
    return PAIRS.run(config, tables)
