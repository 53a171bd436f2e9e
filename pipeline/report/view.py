"""Views: registry, options and blocks of a section of the report, and the texts of cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, TypeAlias

import polars as pl
from pydantic import Field, PrivateAttr

from pipeline import memory
from pipeline.config_model import OptionModel
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.findings import phrases
from pipeline.findings.base import StageView
from pipeline.registry import Registry
from pipeline.report.charts.style import Look, Slot, Style
from pipeline.report.explorer import MOST_ROWS, Explorer

# Names of files, and names in options


def unique_names(names: Iterable[str]) -> list[str]:
    """Return the names, each repeated name with a number appended.

    Names that differ only in case count as equal, as in some file systems.

    Examples
    --------
    >>> unique_names(["graph", "Graph", "table"])
    ['graph', 'Graph-2', 'table']
    """
    keys: set[str] = set()
    numbered: list[str] = []
    for name in names:
        tries = (name if number == 1 else f"{name}-{number}" for number in range(1, 10**6))
        numbered.append(next(tried for tried in tries if tried.casefold() not in keys))
        keys.add(numbered[-1].casefold())
    return numbered


def select_names(names: Sequence[str], known: Iterable[str], *, where: str) -> tuple[str, ...]:
    """Return the names in an option, or all names if it is empty.

    Parameters
    ----------
    names : sequence of str
        The names in the option; may be empty.
    known : iterable of str
        All names.
    where : str
        Dotted path of the option, for the message.

    Raises
    ------
    ConfigError
        If a name is unknown, with the nearest known names.

    Examples
    --------
    >>> select_names([], ["t_score", "dice"], where="views.precision.measures")
    ('t_score', 'dice')
    """
    there = tuple(known)
    wrong = [name for name in names if name not in there]
    if wrong:
        problems = [
            Problem(where, f"unknown name {name!r}", did_you_mean(name, there)) for name in wrong
        ]
        raise ConfigError("report", problems)
    return tuple(names) or there


# Texts of table cells

NULL_TEXT = "–"
"""The text of a null."""


def format_cell(value: Any) -> str:
    """Return a value as text: four significant digits, thousands separated.

    Parameters
    ----------
    value : object
        A cell of a table.

    Examples
    --------
    >>> format_cell(5102), format_cell(None), format_cell(float("-inf"))
    ('5,102', '–', '−∞')
    >>> format_cell(0.0000321), format_cell(1520.44), format_cell(True)
    ('3.21e-05', '1,520', 'yes')
    """
    if value is None:
        return NULL_TEXT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return _float(value)
    return f"{value:,}".replace("-", "−") if isinstance(value, int) else str(value)


def _float(value: float) -> str:
    if not math.isfinite(value):
        return "undefined" if math.isnan(value) else f"{'−' if value < 0 else ''}∞"
    small = value != 0 and not 1e-3 <= abs(value) < 1e7
    spec = ".3g" if small else (",.0f" if abs(value) >= 1000 else ".4g")
    return f"{value:{spec}}".replace("-", "−", 1) if value < 0 else f"{value:{spec}}"


def format_percent(value: float | None, *, digits: int = 2) -> str:
    """Return a proportion in per cent, without the per cent sign.

    Examples
    --------
    >>> format_percent(0.2335), format_percent(None), format_percent(1.0, digits=1)
    ('23.35', '–', '100.0')
    """
    return NULL_TEXT if value is None else f"{100 * value:.{digits}f}".replace("-", "−")


def share_limits(lower: float | None, upper: float | None, *, digits: int = 2) -> str:
    """Return the limits of a proportion in per cent.

    Examples
    --------
    >>> share_limits(0.2, 0.25)
    '[20.00, 25.00]'
    """
    return f"[{format_percent(lower, digits=digits)}, {format_percent(upper, digits=digits)}]"


def format_decimals(value: float | None, *, digits: int = 4) -> str:
    """Return a value with a number of decimals.

    Examples
    --------
    >>> format_decimals(0.23354), format_decimals(-0.5, digits=1), format_decimals(None)
    ('0.2335', '−0.5', '–')
    """
    return NULL_TEXT if value is None else f"{value:.{digits}f}".replace("-", "−")


def limits(lower: float | None, upper: float | None, *, digits: int = 4, absent: str = "") -> str:
    """Return the limits of an interval, or `absent` if there is none.

    Examples
    --------
    >>> limits(0.5, 0.75), limits(-0.25, 0.5, digits=2), limits(None, None)
    ('[0.5000, 0.7500]', '[−0.25, 0.50]', '')
    """
    if lower is None or upper is None:
        return absent
    return f"[{format_decimals(lower, digits=digits)}, {format_decimals(upper, digits=digits)}]"


def count_of(count: int, whole: int) -> str:
    """Return a count and the total, as text.

    Examples
    --------
    >>> count_of(12, 1500)
    '12 of 1,500'
    """
    return f"{count:,} of {whole:,}"


def format_points(difference: float | None) -> str:
    """Return a difference of proportions in percentage points, with its sign.

    Examples
    --------
    >>> format_points(0.0312), format_points(-0.5), format_points(None), format_points(-0.0)
    ('+3.12', '−50.00', '–', '0.00')
    """
    if difference is None or difference == 0:
        return format_percent(None if difference is None else 0.0)
    return f"{'+' if difference > 0 else '−'}{format_percent(abs(difference))}"


def format_estimate(value: float | None, lower: float | None, upper: float | None) -> str:
    """Return a proportion in per cent with its limits, each with one decimal.

    Examples
    --------
    >>> format_estimate(0.25, 0.2, 0.3)
    '25.0 [20.0, 30.0]'
    """
    return f"{format_percent(value, digits=1)} {share_limits(lower, upper, digits=1)}"


def point_limits(lower: float | None, upper: float | None) -> str:
    """Return the limits of a difference in percentage points.

    Examples
    --------
    >>> point_limits(-0.01, 0.05)
    '[−1.00, +5.00]'
    """
    return f"[{format_points(lower)}, {format_points(upper)}]"


def p_value(p: float | None) -> str:
    """Return a p-value as in findings; the files have all digits.

    Examples
    --------
    >>> p_value(0.03456), p_value(4.2e-7), p_value(0.0496), p_value(1.0), p_value(None)
    ('.035', '< .001', '.0496', '1', '–')
    """
    return NULL_TEXT if p is None else phrases.p_value(p, of="").strip(" =")


def text_frame(heads: Sequence[str], columns: Sequence[Sequence[str]]) -> pl.DataFrame:
    """Return a table of text; repeated heads get a number.

    Examples
    --------
    >>> text_frame(["rank", "dice", "rank"], [["1"], ["in Frage"], ["in Kraft"]]).columns
    ['rank', 'dice', 'rank-2']
    """
    texts = dict(zip(unique_names(heads), columns, strict=True))
    return pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))


# Options and blocks of views


class ViewOptions(OptionModel):
    """Base class of the options of a view: typed, frozen, no unknown keys."""


class StyleOptions(ViewOptions):
    """Base class of the options of a view with figures."""

    style: Style = "screen"
    """Draw figures in colour (``screen``) or in black and white (``print``)."""
    _slots: Mapping[str, Slot] = PrivateAttr(default_factory=dict)

    @property
    def look(self) -> Look:
        """The style of its figures, with the colours that the report assigned to names."""
        return Look(style=self.style, slots=self._slots)

    def with_colours(self, slots: Mapping[str, Slot]) -> Self:
        """Return the same options with the colours that the report assigned to names."""
        own = self.model_copy()
        own._slots = slots
        return own


class ExplorerOptions(ViewOptions):
    """Base class of the options of a view with a table of all rows."""

    explorer: bool = True
    """Add a table of all rows to search, sort and filter."""
    explorer_rows: int = Field(default=MOST_ROWS, ge=1)
    """Limit that table to this many rows; the files have all."""


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
        A description of the chart in a sentence or two.
    chart : Vega-Lite specification
        A dictionary, or an Altair chart. The static image is also drawn from it.
    narrow : Vega-Lite specification or None
        The same for a phone.
    alt : str
        The alternative text; the caption if empty.
    """

    name: str
    caption: str
    chart: Any
    narrow: Any = None
    alt: str = ""


@dataclass(frozen=True)
class Listing:
    """A table on the page.

    Parameters
    ----------
    name : str
        Name of its files, without the ending.
    caption : str
        A description of the table.
    frame : DataFrame
        The values; the files hold all of them.
    texts : DataFrame or None
        The texts that the page shows instead of the values, see `listing`.
    right : tuple of str
        Further columns of `texts` to align right; columns of numbers always are.
    wraps : bool
        Whether cells contain sentences, which pages of several runs break into lines.
    groups : tuple of str
        The heading above each column, "" for none; equal neighbours share one. Empty if no column
        has any.
    marked : frozenset of (int, int)
        Row and column of the cells that are set in bold.
    """

    name: str
    caption: str
    frame: pl.DataFrame
    texts: pl.DataFrame | None = None
    right: tuple[str, ...] = ()
    wraps: bool = False
    groups: tuple[str, ...] = ()
    marked: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Fold:
    """Blocks that the page hides until the reader opens them.

    Parameters
    ----------
    summary : str
        The text that is always visible.
    blocks : sequence of Block
        Texts, figures and tables; the page omits a fold without blocks.
    """

    summary: str
    blocks: Sequence[Block]


Block: TypeAlias = Text | Figure | Listing | Explorer | Fold


def flatten_blocks(blocks: Iterable[Block]) -> Iterator[Text | Figure | Listing | Explorer]:
    """Yield all blocks in order, including those in folds."""
    for block in blocks:
        if isinstance(block, Fold):
            yield from flatten_blocks(block.blocks)
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
        The options in ``[report.views.STAGE]``.
    title : str
        The title of its section, unless the stage has a title.
    of : callable or None
        stage -> a text after the title that distinguishes sections of one kind.
    other_title : callable or None
        stage -> a title for this stage that replaces the title above, or an empty text.
    place : int
        The order of its section: those of a lower place come first.
    overview : callable or None
        stage -> a summary table, or None: the first one is at the top of the page.
    leading : str
        The name of the figure beside it.
    tests : callable or None
        stage -> the stages that test that table: their findings are beside it, too.
    """

    use: str
    show: Callable[[StageView, Any], Sequence[Block]]
    _: KW_ONLY
    options: type[ViewOptions] = ViewOptions
    title: str = ""
    of: Callable[[StageView], str] | None = None
    other_title: Callable[[StageView], str] | None = None
    place: int = 50
    overview: Callable[[StageView], Listing | None] | None = None
    leading: str = ""
    tests: Callable[[StageView], Iterable[StageView]] | None = None

    def title_of(self, stage: StageView) -> str:
        """Return the title of the section of a stage."""
        if stage.title:
            return stage.title
        title = (self.other_title(stage) if self.other_title else "") or self.title or stage.name
        further = self.of(stage) if self.of else ""
        return f"{title}{': ' if further else ''}{further}"


VIEWS: Registry[View] = Registry("view", "pipeline.report.views")

view = VIEWS.named_decorator(View)
"""Registers a function (stage, options) -> blocks as the view of the stages of a kind."""


# Tables and figures as blocks

Draw: TypeAlias = Callable[..., Any]
"""Draws a chart in a ``look``; all other arguments are filled in."""


@dataclass(frozen=True)
class Column:
    """A column of a table on the page.

    Parameters
    ----------
    of : str or tuple of str
        The columns of the frame from which cells are formatted.
    head : str
        Its heading; the first of those columns if empty.
    text : callable
        Function from their values in a row of the frame to the text of a cell.
    right : bool or None
        Whether it is aligned right; if None, only if the first of those columns has numbers.
    at : tuple or None
        A column of the frame and a value: only rows with that value fill this column. So
        several rows of the frame stand side by side, see `listing`.
    absent : str
        The text if there is no such row.
    group : str
        A heading that it shares with its neighbours.
    mark : str
        A column of truth values: cells are bold where it is true.
    """

    of: str | tuple[str, ...]
    head: str = ""
    text: Callable[..., str] = format_cell
    right: bool | None = None
    at: tuple[str, Any] | None = None
    absent: str = ""
    group: str = ""
    mark: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the frame, as a tuple."""
        return (self.of,) if isinstance(self.of, str) else self.of

    def is_right(self, schema: pl.Schema) -> bool:
        """Return whether it is aligned right."""
        return schema[self.names[0]].is_numeric() if self.right is None else self.right


def listing(
    name: str,
    caption: str,
    frame: pl.DataFrame,
    columns: Sequence[Column],
    *,
    by: Sequence[str] = (),
    source: pl.DataFrame | None = None,
) -> Listing:
    """Return a table with the texts of the page.

    Parameters
    ----------
    name, caption, frame
        As in `Listing`.
    columns : sequence of Column
        The columns of the page, in this order.
    by : sequence of str
        The columns that identify a row of the page: rows of the frame that are equal in them are
        one row. If empty, each row of the frame is a row of the page.
    source : DataFrame or None
        The table from which the texts are formatted; the frame if None.

    Examples
    --------
    >>> frame = pl.DataFrame({"measure": ["mi", "mi", "dice"], "n": [9, 99, 9], "tp": [1, 2, 3]})
    >>> columns = [Column("measure"), *(Column("tp", f"n = {n}", at=("n", n)) for n in (9, 99))]
    >>> listing("x", "", frame, columns, by=["measure"]).texts.rows()
    [('mi', '1', '2'), ('dice', '3', '')]
    """
    rows = (frame if source is None else source).with_row_index("~row")
    keys = by or ("~row",)
    order = list(dict.fromkeys(rows.select(keys).rows()))
    texts = [_cells(column, rows, keys, order) for column in columns]
    marked = frozenset(
        (order.index(key), place)
        for place, column in enumerate(columns) if column.mark
        for key in _rows_of(column, rows).filter(column.mark).select(keys).rows()
    )  # fmt: skip
    groups = tuple(column.group for column in columns)
    table = text_frame([column.head or column.names[0] for column in columns], texts)
    right = [
        head
        for head, column in zip(table.columns, columns, strict=True)
        if column.is_right(rows.schema)
    ]
    return Listing(
        name, caption, frame, texts=table, right=tuple(right),
        groups=groups if any(groups) else (), marked=marked,
    )  # fmt: skip


def _cells(
    column: Column, rows: pl.DataFrame, keys: Sequence[str], order: Sequence[tuple[Any, ...]]
) -> list[str]:
    mine = _rows_of(column, rows)
    values = zip(mine.select(keys).rows(), mine.select(column.names).rows(), strict=True)
    texts: dict[tuple[Any, ...], str] = {}
    for key, made_of in values:
        if key not in texts:
            texts[key] = column.text(*made_of)
    return [texts.get(key, column.absent) for key in order]


def _rows_of(column: Column, rows: pl.DataFrame) -> pl.DataFrame:
    return rows if column.at is None else rows.filter(pl.col(column.at[0]) == column.at[1])


def place_in(order: Sequence[str], column: str) -> pl.Expr:
    """Return the position of a column's value in an order, to sort by; other values come last.

    Examples
    --------
    >>> pl.DataFrame({"measure": ["mi", "dice"]}).sort(place_in(["dice", "mi"], "measure")).rows()
    [('dice',), ('mi',)]
    """
    places = {value: place for place, value in enumerate(order)}
    return pl.col(column).replace_strict(places, default=len(order))


def figure(name: str, caption: str, draw: Draw, look: Look, *, alt: str = "") -> Figure:
    """Return a chart with its caption, drawn for a wide page and for a phone.

    Parameters
    ----------
    name, caption, alt
        As in `Figure`.
    draw : callable
        Draws it in a ``look``.
    look : Look
        The style on a wide page.
    """
    wide, narrow = draw(look=look), draw(look=look.on_phone)
    return Figure(name, caption, wide, None if narrow == wide else narrow, alt)


# Rows that fit in memory

_CELL = 64
"""Bytes that a cell may need while a table is sorted and written."""
TOO_LARGE = "not copied (all rows together may exceed the memory limit)"


def max_rows_in_memory(columns: int) -> int | None:
    """Return the number of rows of a table that fit in memory; None if there is no limit.

    Examples
    --------
    >>> with memory.with_limit(64 << 20):
    ...     max_rows_in_memory(16)
    65536
    """
    return memory.available_bytes() // (_CELL * max(1, columns)) if memory.is_limited() else None


def fits_in_memory(rows: int, columns: int) -> bool:
    """Return whether the whole table fits in memory.

    Examples
    --------
    >>> fits_in_memory(1 << 60, 16)
    True
    """
    most = max_rows_in_memory(columns)
    return most is None or rows <= most


# Functions that several views use


def stage_title(stage: StageView) -> str:
    """Return the title of a stage, or its name as text.

    Examples
    --------
    >>> stage_title(StageView("gf_quality", "evaluate.lexicon", {}, print))
    'gf quality'
    """
    return stage.title or stage.name.replace("_", " ")


def notes_listing(stage: StageView, *names: str) -> Iterator[Listing]:
    """Yield a listing of all notes on a stage's sheets, if there are any.

    Parameters
    ----------
    stage : StageView
        A stage with the table ``notes``.
    *names : str
        The columns beside annotator and note: the item, and the answer.
    """
    notes = stage.table("notes").collect().sort("file", "line")
    if notes.height:
        columns = [Column(name) for name in (*names, "annotator", "note")]
        caption = (
            "Notes of the annotators, on answered and unanswered rows, from all copies of a sheet."
        )
        yield listing("notes", caption, notes, columns)
