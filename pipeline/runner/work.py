"""What is known of a stage that has to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.runner.fingerprint import Ingredients
from pipeline.runner.graph import Node
from pipeline.runner.sources import SourceFile


@dataclass(frozen=True)
class Work:
    """A stage that has to run.

    Parameters
    ----------
    node : Node
        The stage.
    ingredients : Ingredients
        What its result rests on.
    fingerprint : str
        Their digest.
    tables : mapping of str to paths
        Option to the Parquet parts of the table it refers to.
    files : mapping of str to files
        Option to the input files.
    """

    node: Node
    ingredients: Ingredients
    fingerprint: str
    tables: Mapping[str, tuple[Path, ...]]
    files: Mapping[str, tuple[SourceFile, ...]]
