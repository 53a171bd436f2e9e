"""How types and tokens are spread over the classes: Zipf's law and what follows from it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline.kernels.clustering.shares import class_shares, frequent_types
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import ClassShares, FrequentTypes, GoldEntries


class EvaluateShares(StageConfig):
    """Count the types and tokens of each class, and the tokens of its k most frequent types."""

    gold: Annotated[str, Of(GoldEntries)]
    """The gold classes of the items with their tokens."""
    most: Annotated[tuple[int, ...], Field(min_length=1)] | None = None
    """The values of k; 1, 2, 5, 10, 20, 50 ... if absent."""


@stage(
    "evaluate.shares",
    config=EvaluateShares,
    outputs={"shares": ClassShares, "frequent": FrequentTypes},
)
def evaluate_shares(config: EvaluateShares, tables: Tables) -> Outputs:
    """Add up the tokens of each class."""
    items = tables["gold"].select("item", "gold", "f").collect()
    return {"shares": class_shares(items), "frequent": frequent_types(items, most=config.most)}
