"""What a check is: a function from the tables of a stage to remarks, with a threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeAlias

import polars as pl

from pipeline.registry import Registry
from pipeline.remarks.remark import Remark


def _no_tokens(_option: str, _most: int) -> pl.DataFrame:
    return pl.DataFrame()


@dataclass(frozen=True)
class Look:
    """What a check may look at: a stage that is done, with what it was given and what it made.

    Parameters
    ----------
    use : str
        Its kind, "sample.random".
    config : Any
        Its options.
    inputs : mapping of str to LazyFrame
        The tables that its options name, and the rows of the files that it reads as tables.
    outputs : mapping of str to LazyFrame
        The tables that it made.
    tokens : callable
        (option, most) -> about so many of the first tokens of the corpus that an option names.
    left_out : int
        Places of the input that could not be read and were left out.
    left_out_examples : tuple of str
        The first of them.
    """

    use: str
    config: Any
    inputs: Mapping[str, pl.LazyFrame] = field(default_factory=dict)
    outputs: Mapping[str, pl.LazyFrame] = field(default_factory=dict)
    tokens: Callable[[str, int], pl.DataFrame] = _no_tokens
    left_out: int = 0
    left_out_examples: tuple[str, ...] = ()

    def rows(self, table: str) -> int:
        """Return how many rows a table has that the stage made."""
        return int(self.outputs[table].select(pl.len()).collect().item())


Found: TypeAlias = Iterable[Remark]
"""What a check gives."""


@dataclass(frozen=True)
class Check:
    """A registered check.

    Parameters
    ----------
    name : str
        By which its threshold is set.
    run : callable
        (look, threshold) -> remarks.
    stages : sequence of str
        The kinds of stages whose results it looks at; all if empty.
    threshold : float
        From where on it says something, if the experiment does not set another.
    means : str
        What the threshold is, and its unit.
    """

    name: str
    run: Callable[[Look, float], Found]
    _: KW_ONLY
    stages: Sequence[str]
    threshold: float
    means: str

    @property
    def doc(self) -> str:
        """The first line of its docstring: what it finds."""
        return (self.run.__doc__ or "").strip().splitlines()[0]

    def remarks(self, look: Look, threshold: float) -> Iterator[Remark]:
        """Yield what it finds, under its name."""
        for each in self.run(look, threshold):
            yield each.model_copy(update={"check": self.name})


CHECKS: Registry[Check] = Registry("check", "pipeline.remarks")

check = CHECKS.decorator(Check)
"""Registers a function (look, threshold) -> remarks as a check of its own name."""
