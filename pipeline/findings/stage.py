"""A stage that is done, as readers of results are given it: options, tables, stages around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict


class StageOptions(BaseModel):
    """Base of the options of a stage that are looked at: their types, never their defaults.

    Those are the stage's own: what it was told comes in full.
    """

    model_config = ConfigDict(frozen=True)


S = TypeVar("S", bound=StageOptions)


@dataclass(frozen=True)
class StageView:
    """A stage with what it was told, what it made, and the stages of its run.

    Parameters
    ----------
    name : str
        Name of the stage in the experiment.
    use : str
        The stage's kind, "evaluate.precision".
    config : mapping
        The stage's options as the experiment gives them, defaults filled in.
    table : callable
        Opens a table of the run: "precision" is the stage's own table, "stage.table" or
        "stage" any other stage's.
    inputs : mapping of str to str
        Option to the table that it names, "stage.table"; ``option.0``, ``option.1`` ... if it
        lists several.
    among : mapping of str to StageView
        The stages of the run that are done, by name, in the order of their making.
    title : str
        What the experiment calls it, for people; empty if it does not say.
    """

    name: str
    use: str
    config: Mapping[str, Any]
    table: Callable[[str], pl.LazyFrame]
    _: KW_ONLY
    inputs: Mapping[str, str] = field(default_factory=dict)
    among: Mapping[str, StageView] = field(default_factory=dict, repr=False, compare=False)
    title: str = ""

    def options_as(self, options: type[S]) -> S:
        """Return what the stage was told of these options.

        Parameters
        ----------
        options : type of StageOptions
            Fields named as the stage's.

        Examples
        --------
        >>> class Margin(StageOptions):
        ...     margin: float
        >>> stage = StageView("tests", "evaluate.comparison", {"margin": 0.1, "n": 9}, print)
        >>> stage.options_as(Margin)
        Margin(margin=0.1)
        """
        return options.model_validate(self.config)

    def given(self, option: str) -> StageView | None:
        """Return the stage whose table an option names; None if it names none that is done.

        Examples
        --------
        >>> stages = {"ranks": StageView("ranks", "score.rank", {}, print)}
        >>> stage = StageView("full", "evaluate.precision", {}, print,
        ...                   inputs={"ranks": "ranks.ranks"}, among=stages)
        >>> stage.given("ranks").use, stage.given("sample")
        ('score.rank', None)
        """
        return self.among.get(self.inputs.get(option, "").partition(".")[0])

    def readers(self, use: str) -> Iterator[StageView]:
        """Yield the stages of a kind that read a table of this one."""
        for other in self.among.values():
            read = {table.partition(".")[0] for table in other.inputs.values()}
            if other.use == use and self.name in read:
                yield other
