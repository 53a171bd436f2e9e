"""A view shows what a stage made: text, tables and figures of one section of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, TypeAlias

import polars as pl
from pydantic import Field, PrivateAttr

from pipeline.described import Described
from pipeline.findings.stage import StageView
from pipeline.registry import Registry
from pipeline.report.charts.parts.options import Look, Slot, Style
from pipeline.report.explorer.block import MOST_ROWS, Explorer


class ViewOptions(Described):
    """Base of the typed options of a view: frozen, no unknown keys."""


class Styled(ViewOptions):
    """Base of the options of a view with figures."""

    style: Style = "screen"
    """``screen`` in colours, ``print`` in black and white."""
    _slots: Mapping[str, Slot] = PrivateAttr(default_factory=dict)

    @property
    def look(self) -> Look:
        """The look of its figures, with the colours that the report gave to names."""
        return Look(style=self.style, slots=self._slots)

    def coloured(self, slots: Mapping[str, Slot]) -> Self:
        """Return the same options with the colours that the report gave to names."""
        own = self.model_copy()
        own._slots = slots
        return own


class Explored(ViewOptions):
    """Base of the options of a view with a table of all rows, to search, sort and filter."""

    explorer: bool = True
    """Whether the page has a table of all rows, to search, sort and filter."""
    explorer_rows: int = Field(default=MOST_ROWS, ge=1)
    """How many rows it holds at most: those that matter most; the files beside it hold all."""


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
    chart : Vega-Lite specification
        A dictionary, or an Altair chart. The still picture is drawn from it, too.
    narrow : Vega-Lite specification or None
        The same for a phone.
    alt : str
        What it says to who cannot see it; the caption if empty.
    """

    name: str
    caption: str
    chart: Any
    narrow: Any = None
    alt: str = ""


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
    wraps : bool
        Whether cells hold sentences, which pages of several runs break into lines.
    """

    name: str
    caption: str
    frame: pl.DataFrame
    shown: pl.DataFrame | None = None
    right: tuple[str, ...] = ()
    wraps: bool = False


@dataclass(frozen=True)
class Fold:
    """Blocks that are folded away until somebody opens them: details, and what is said above.

    Parameters
    ----------
    summary : str
        What is in it.
    blocks : sequence of Block
        Texts, figures and tables; without any it is left out.
    """

    summary: str
    blocks: Sequence[Block]


Block: TypeAlias = Text | Figure | Listing | Explorer | Fold


def unfolded(blocks: Iterable[Block]) -> Iterator[Text | Figure | Listing | Explorer]:
    """Yield blocks, those that are folded away too, in their order."""
    for block in blocks:
        if isinstance(block, Fold):
            yield from unfolded(block.blocks)
        else:
            yield block


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
    title : str
        What its section is called, unless the stage has a title of its own.
    of : callable or None
        stage -> what tells its section from others of the kind, said after the title.
    place : int
        Where its section stands: those of a lower place come first.
    """

    use: str
    show: Callable[[StageView, Any], Sequence[Block]]
    _: KW_ONLY
    options: type[ViewOptions] = ViewOptions
    title: str = ""
    of: Callable[[StageView], str] | None = None
    place: int = 50

    def title_of(self, stage: StageView) -> str:
        """Return what the section of a stage is called: for people, not by its name."""
        if stage.title:
            return stage.title
        further = self.of(stage) if self.of else ""
        return f"{self.title or stage.name}{': ' if further else ''}{further}"


VIEWS: Registry[View] = Registry("view", "pipeline.report.views")

view = VIEWS.naming(View)
"""Registers a function (stage, options) -> blocks as the view of the stages of a kind."""
