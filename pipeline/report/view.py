"""A view shows what a stage made: text, tables and figures of one section of the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict

from pipeline.registry import Registry
from pipeline.report.charts.parts.options import Look, Style

if TYPE_CHECKING:
    import altair as alt


class ViewOptions(BaseModel):
    """Base of the typed options of a view: frozen, no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Styled(ViewOptions):
    """Base of the options of a view with figures."""

    style: Style = "screen"
    """``screen`` in colours, ``print`` in black and white."""

    @property
    def look(self) -> Look:
        """The look of its figures."""
        return Look(style=self.style)


class StageOptions(BaseModel):
    """Base of the options of its stage that a view looks at: their types, never their defaults.

    Those are the stage's own: what it was told comes to the view in full.
    """

    model_config = ConfigDict(frozen=True)


S = TypeVar("S", bound=StageOptions)


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text."""

    text: str


@dataclass(frozen=True)
class Figure:
    """A chart with its caption.

    Parameters
    ----------
    name : str
        Name of its files, without the ending.
    caption : str
        What is seen, in a sentence or two.
    chart : Altair chart
        The still picture.
    live : Altair chart or None
        What the page shows in its place where scripts run: it answers to the mouse.
    """

    name: str
    caption: str
    chart: alt.TopLevelMixin
    live: alt.TopLevelMixin | None = None


@dataclass(frozen=True)
class Listing:
    """A table that is shown.

    Parameters
    ----------
    name : str
        Name of its files, without the ending.
    caption : str
        What it holds.
    frame : DataFrame
        The values, which the files hold in full.
    shown : DataFrame or None
        What the page shows in its place: text, put together for reading, see `report.blocks`.
    right : tuple of str
        Columns of `shown` that are flush right; columns of numbers are without being named.
    """

    name: str
    caption: str
    frame: pl.DataFrame
    shown: pl.DataFrame | None = None
    right: tuple[str, ...] = ()


Block: TypeAlias = Text | Figure | Listing


@dataclass(frozen=True)
class StageView:
    """What a view may look at.

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
    """

    name: str
    use: str
    config: Mapping[str, Any]
    table: Callable[[str], pl.LazyFrame]

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


@dataclass(frozen=True)
class View:
    """A registered view.

    Parameters
    ----------
    use : str
        The kind of the stages that it shows.
    show : callable
        (stage, options) -> blocks.
    options : type of ViewOptions
        What ``[report.views.STAGE]`` may hold.
    """

    use: str
    show: Callable[[StageView, Any], Sequence[Block]]
    _: KW_ONLY
    options: type[ViewOptions] = ViewOptions


VIEWS: Registry[View] = Registry("view", "pipeline.report.views")

view = VIEWS.naming(View)
"""Registers a function (stage, options) -> blocks as the view of the stages of a kind."""
