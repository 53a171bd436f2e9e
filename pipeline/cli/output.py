"""Output of commands: tables for terminals and files, plans, progress of runs."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl
import typer
from rich.cells import cell_len, set_cell_size
from rich.console import Console

from pipeline.errors import ConfigError, Problem, StoreError, did_you_mean, machine
from pipeline.runner.events import Event
from schemas.errors import count_text

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


# Tables that fit a terminal: texts are shortened, numbers never

_SHORTEST = 8
"""Characters to keep of texts and headings when columns are shortened."""
_MARK = "…"


@dataclass(frozen=True)
class FittedTable:
    """A table that fits, and the names of the columns that do not."""

    head: list[str]
    rows: list[list[str]]
    right: list[bool]
    omitted: list[str]


def fit_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[bool], width: int
) -> FittedTable:
    """Return as many columns as fit a line, from the left.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    rows : sequence of sequence of str
        The cells.
    right : sequence of bool
        Which columns are numbers; they keep all digits.
    width : int
        Characters per line.

    Examples
    --------
    >>> found = fit_table(["l1", "f"], [["Verfuegung", "1,200"]], right=[False, True], width=21)
    >>> found.rows, found.omitted
    ([['Verfuegu…', '1,200']], [])
    >>> fit_table(["l1", "f"], [["ab", "1,200"]], right=[False, True], width=12).omitted
    ['f']
    """
    if not head:
        return FittedTable([], [], [], [])
    table = [[_printable(cell) for cell in row] for row in [head, *rows]]
    natural = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    least = [
        max([min(_SHORTEST, whole), *(cell_len(row[place]) for row in table[1:] if flush)])
        for place, (whole, flush) in enumerate(zip(natural, right, strict=True))
    ]
    count = _count(least, width)
    widths = _fit_widths(natural[:count], least[:count], width)
    lines = [[_cut(cell, wide) for cell, wide in zip(row, widths, strict=False)] for row in table]
    return FittedTable(lines[0], lines[1:], list(right[:count]), list(head[count:]))


def _count(least: Sequence[int], width: int) -> int:
    """Return how many columns fit at their minimum widths; at least one."""
    return next((n for n in range(len(least), 1, -1) if _line_width(least[:n]) <= width), 1)


def _line_width(widths: Sequence[int]) -> int:
    """Return the length of a line, including borders."""
    return sum(widths) + 3 * len(widths) + 1


def _fit_widths(natural: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Return the column widths; the widest are shortened first, to equal widths."""
    for most in range(min(width, max(natural)), 0, -1):
        widths = [max(low, min(whole, most)) for whole, low in zip(natural, least, strict=True)]
        if _line_width(widths) <= width:
            return widths
    return list(least)


def _cut(cell: str, width: int) -> str:
    return cell if cell_len(cell) <= width else set_cell_size(cell, width - 1) + _MARK


def _printable(cell: str) -> str:
    """Return a cell with control characters escaped."""
    if cell.isprintable():
        return cell
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in cell)


# Tables for pipes and files: as Rich draws them, in a fraction of the time

_ASCII = str.maketrans("━─┃│┏┳┓┡╇┩└┴┘…", "--||+++++++++~")
"""Borders and marks without Unicode."""
WIDEST = 1000
"""Width of a line outside a terminal."""


def boxed_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[bool], title: str
) -> str | None:
    """Return the table with borders; None if a line would be too long.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    rows : iterable of sequence of str
        The cells.
    right : sequence of bool
        Which columns are right-aligned.
    title : str
        The line above; may be empty.

    Examples
    --------
    >>> print(boxed_table(["measure", "n"], [["mi", "1,200"]], right=[False, True], title=""))
    ┏━━━━━━━━━┳━━━━━━━┓
    ┃ measure ┃     n ┃
    ┡━━━━━━━━━╇━━━━━━━┩
    │ mi      │ 1,200 │
    └─────────┴───────┘
    """
    table = [head, *rows]
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    whole = sum(widths) + 3 * len(widths) + 1
    even = all(cell.isprintable() for row in [[title], *table] for cell in row)
    if not (widths and even and whole <= WIDEST):
        return None
    ruled = ["━" * (width + 2) for width in widths]
    lines = [_line(row, widths, right) for row in table]
    return "\n".join([
        *([_pad(title, whole, right=False)] if title else []),
        f"┏{'┳'.join(ruled)}┓",
        f"┃ {' ┃ '.join(lines[0])} ┃",
        f"┡{'╇'.join(ruled)}┩",
        *(f"│ {' │ '.join(line)} │" for line in lines[1:]),
        f"└{'┴'.join(ruled).replace('━', '─')}┘",
    ])  # fmt: skip


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    return [
        _pad(cell, width, right=flush)
        for cell, width, flush in zip(row, widths, right, strict=True)
    ]


def _pad(cell: str, width: int, *, right: bool) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space


FORMATS = ("table", "csv", "tsv", "json", "parquet", "xlsx")
"""Values of ``--format``."""
READABLE = 100
"""Longest line of prose."""
ROWS = 30
"""Default number of rows to print."""


def serialise(frame: pl.DataFrame, kind: str, *, raw: bool = False) -> bytes:
    """Return a table as the bytes of a file of this kind.

    Parameters
    ----------
    frame : DataFrame
        The table.
    kind : str
        csv, tsv, json, parquet or xlsx.
    raw : bool
        Do not escape texts in csv and tsv that a spreadsheet would run as formulas.
    """
    if kind == "json":
        return frame.write_json().encode() + b"\n"
    if kind == "parquet":
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        return buffer.getvalue()
    if kind == "xlsx":
        from pipeline.formats.spreadsheets.write import table_xlsx

        return table_xlsx(frame)
    from pipeline.formats.tables import to_csv

    return to_csv(frame, separator="\t" if kind == "tsv" else ",", raw=raw)


def kind_of(output: Path, *, format_: str | None = None) -> str:
    """Return the kind of file: the given one, or by its ending.

    Raises
    ------
    ConfigError
        If the ending is unknown.
    """
    endings = {f".{kind}": kind for kind in FORMATS if kind != "table"}
    ending = Path(output.name.removesuffix(".gz")).suffix.lower()
    kind = format_ if format_ and format_ != "table" else endings.get(ending)
    if kind is None:
        what = f"{output.name} does not have the extension of a table"
        raise ConfigError("--output", [Problem("--output", what, f"use {', '.join(endings)}")])
    if kind == "xlsx" and output.name.endswith(".gz"):
        what = "workbooks are already compressed"
        problem = Problem("--output", f"{output.name}: {what}", "remove .gz from the name")
        raise ConfigError("--output", [problem])
    return kind


def write(
    frame: pl.DataFrame, output: Path, *, kind: str | None, overwrite: bool, raw: bool = False
) -> None:
    """Write a table to a file, gzipped if its name ends with .gz.

    Raises
    ------
    ConfigError
        If the file exists and may not be overwritten, or its folder does not exist.
    StoreError
        If it cannot be written.
    """
    require_place(output, overwrite=overwrite)
    content = serialise(frame, kind_of(output, format_=kind), raw=raw)
    packed = gzip.compress(content, mtime=0) if output.name.endswith(".gz") else content
    with writing(output):
        output.write_bytes(packed)


def require_place(output: Path, *, overwrite: bool, option: str = "--output") -> None:
    """Refuse an existing file unless it may be overwritten, and a missing folder.

    Raises
    ------
    ConfigError
        With a remedy.
    StoreError
        If the folder cannot be accessed.
    """
    with writing(output):
        if output.exists() and not overwrite:
            what = "already exists"
            raise ConfigError(option, [Problem(str(output), what, "add --overwrite")])
        if not output.parent.is_dir():
            what = f"the folder {output.parent} does not exist"
            raise ConfigError(option, [Problem(str(output), what, "create it first")])


@contextmanager
def writing(output: Path) -> Iterator[None]:
    """Turn system errors while writing a file into `StoreError`.

    Raises
    ------
    StoreError
        For a folder, a full disk, a read-only disk ...
    """
    try:
        yield
    except OSError as error:
        why = f"{output} cannot be written: {machine(error)}"
        raise StoreError(f"{why}; choose another file or folder, or free some space") from error


def require(format_: str, *, command: str) -> None:
    """Refuse unknown values of ``--format``.

    Raises
    ------
    ConfigError
        With the nearest formats.
    """
    if format_ not in FORMATS:
        what, remedy = f"unknown format {format_!r}", did_you_mean(format_, FORMATS)
        raise ConfigError(command, [Problem("--format", what, remedy)])


def write_or_print(
    frame: pl.DataFrame,
    format_: str,
    to: Path | None,
    *,
    overwrite: bool,
    rows: int,
    title: str,
    raw: bool = False,
    choice: str = "",
) -> None:
    """Write a table to a file, print it for people, or write it to a pipe."""
    if to:
        write(frame, to, kind=format_, overwrite=overwrite, raw=raw)
    elif format_ == "table":
        print_table(frame, rows=rows, title=title, choice=choice)
    else:
        typer.get_binary_stream("stdout").write(serialise(frame, format_, raw=raw))


def print_table(
    frame: pl.DataFrame, *, rows: int = ROWS, title: str = "", choice: str = ""
) -> None:
    """Print the first rows of a table, cut to the width of a terminal.

    Parameters
    ----------
    frame : DataFrame
        The table.
    rows : int
        Number of rows.
    title : str
        The line above.
    choice : str
        Remedy to name where columns do not fit.
    """
    texts = [cells(row) for row in frame.head(rows).iter_rows()]
    right = [dtype.is_numeric() for dtype in frame.dtypes]
    more = f"{count_text(frame.height - rows, 'more row')}; --rows N prints more, --format csv all"
    notes = [more] if frame.height > rows else []
    if _in_terminal():
        _print_fitted(frame.columns, texts, right=right, title=title, notes=notes, choice=choice)
        return
    text = boxed_table(frame.columns, texts, right=right, title=title)
    if text is None:
        _draw(frame.columns, texts, right=right, title=title)
    else:
        print(_in_encoding(text))
    print(*notes, sep="", end="\n" if notes else "")


def print_findings(findings: pl.DataFrame, *, missing: int, rows: int = ROWS) -> None:
    """Print findings as numbered paragraphs, each with its stage, wrapped to the line.

    Parameters
    ----------
    findings : DataFrame
        As `schemas.Findings`.
    missing : int
        Number of stages without current results.
    rows : int
        Number of findings to print.
    """
    if findings.is_empty():
        open_ = f"{count_text(missing, 'stage')} without current results; run the experiment"
        print(f"no findings: {open_}" if missing else "no findings")
        return
    digits = len(str(findings["order"].max()))
    width = get_terminal_size((READABLE, 24)).columns
    for order, text, stage in findings.select("order", "text", "stage").head(rows).iter_rows():
        first = f"{order:>{digits}}. "
        print(
            textwrap.fill(
                _printable(f"{text} [{stage}]"), width, initial_indent=first,
                subsequent_indent=" " * len(first), break_on_hyphens=False,
            )
        )  # fmt: skip
    if findings.height > rows:
        print(f"{findings.height - rows:,} more findings: --rows N prints more")


def _print_fitted(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[bool],
    title: str,
    notes: list[str],
    choice: str,
) -> None:
    """Print the columns that fit the terminal, and name the others."""
    width = get_terminal_size().columns
    table = fit_table(head, rows, right=right, width=width)
    if table.omitted:
        what = f"columns not shown: {', '.join(table.omitted)}"
        notes = [*notes, f"{what}; {choice + ', ' * bool(choice)}--format csv has all"]
    text = boxed_table(table.head, table.rows, right=table.right, title="") or ""
    lines = [
        *([_style(title, "3")] if title else []),
        _in_encoding(text),
        *(_style(each, "2") for each in notes),
    ]
    print("\n".join(lines))


def _style(text: str, style: str) -> str:
    """Return a line in a terminal style, unless NO_COLOR is set."""
    return text if os.environ.get("NO_COLOR") else f"\x1b[{style}m{text}\x1b[0m"


def _in_terminal() -> bool:
    """Return whether output goes to a terminal, or is forced to look so, as in rich."""
    return sys.stdout.isatty() or not {"FORCE_COLOR", "TTY_COMPATIBLE"}.isdisjoint(os.environ)


def _in_encoding(table: str) -> str:
    """Return a table with borders that the output can have: ASCII unless it is UTF-8."""
    utf8 = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    return table if utf8 else table.translate(_ASCII)


def _draw(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[bool], title: str
) -> None:
    """Print a table with multi-line cells, or a very wide one."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name, flush in zip(head, right, strict=True):
        table.add_column(escape(name), justify="right" if flush else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    with contextlib.suppress(SystemExit):  # the reader has closed it, as `head` does
        Console(width=WIDEST).print(*([Text(title)] if title else []), table, sep="\n")


def cells(row: Sequence[Any]) -> list[str]:
    """Return the values of a row, formatted for people.

    Examples
    --------
    >>> cells([None, 0.1234567, 1200, True, "a[b]"])
    ['', '0.123457', '1,200', 'yes', 'a[b]']
    """
    return [_cell(value) for value in row]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


# Plans in per cent

_WIDTH = {
    "wanted": "wanted", "rate": "rate %", "size": "draws", "n": "n", "precision": "precision %",
    "n_sampled": "draws in list", "lower": "lower %", "upper": "upper %", "width": "width",
    "coverage": "coverage %", "empty": "chance of no draw in list %",
}  # fmt: skip
_POWER = {
    "wanted": "wanted %", "rate": "rate %", "size": "draws", "n": "n", "apart": "in one list only",
    "only_1": "precision 1 %", "only_2": "precision 2 %", "difference": "difference",
    "power_1": "power 1 %", "power_2": "power 2 %", "untested": "no test %",
    "standard_error": "s.e.",
}  # fmt: skip
_READ_WIDTH = """\
width: expected upper minus lower limit, in percentage points; coverage: probability that the
interval contains the assumed precision."""
_READ_POWER = """\
precision 1, 2: of the candidates in that list only; difference: between the lists, in percentage
points; power 1, 2: probability that the test finds the first, or the second, list better; s.e.:
standard error of the simulation."""
_ONE_TEST = """\
Power of a single test at level alpha. For a stage that corrects for several comparisons, give a
lower alpha: alpha / tests is safe for Holm's correction."""
_UNREACHED = "no rate: not even a draw of all candidates is enough."


def plan_in_per_cent(plan: pl.DataFrame) -> pl.DataFrame:
    """Return a plan in rounded percentages, with readable headings.

    Examples
    --------
    >>> plan = pl.DataFrame({"rate": [0.1], "size": [510], "n": [500], "width": [0.26553]})
    >>> plan_in_per_cent(plan).to_dicts()
    [{'rate %': 10.0, 'draws': 510, 'n': 500, 'width': 26.6}]
    """
    heads = _POWER if "power_1" in plan.columns else _WIDTH
    shares = [name for name, dtype in plan.schema.items() if dtype == pl.Float64]
    rounded = plan.with_columns(
        (pl.col(name) * (1 if name == "n_sampled" else 100)).round(2 if name == "rate" else 1)
        for name in shares
    )
    empty = "wanted" in plan.columns and plan["wanted"].null_count() == plan.height
    columns = [name for name in plan.columns if name != "wanted" or not empty]
    return rounded.select(pl.col(name).alias(heads.get(name, name)) for name in columns)


def print_plan(plan: pl.DataFrame, *, title: str) -> None:
    """Print a plan with an explanation."""
    print_table(plan_in_per_cent(plan), rows=plan.height, title=title)
    power = "power_1" in plan.columns
    print(_READ_POWER if power else _READ_WIDTH)
    if power:
        print(_ONE_TEST)
    if plan["rate"].null_count():
        print(_UNREACHED)


# Progress on standard error: bars in a terminal, lines elsewhere

T = TypeVar("T")
_STYLES: dict[str, str | None] = {"warning": "bold yellow", "note": None, "info": "dim"}
"""Style of remarks by level."""
_PATIENCE = 10.0
"""Seconds between two progress lines."""
_SILENCE = 60.0
"""Seconds without a line after which a progress line shows that the stage still runs."""
_EARLY = 2.0
"""Seconds of work before the remaining time is estimated."""


def track_items(items: Sequence[T], console: Console, *, text: str) -> Iterable[T]:
    """Yield the items, with a progress bar in a terminal and progress lines elsewhere."""
    if console.is_terminal:
        from rich.progress import track

        return track(items, description=text, console=console, transient=True)
    return _track_in_lines(items, console, text)


def _track_in_lines(items: Sequence[T], console: Console, text: str) -> Iterator[T]:
    last = time.monotonic()
    for count, item in enumerate(items):
        if time.monotonic() - last > _PATIENCE:
            last = time.monotonic()
            console.print(f"{text}: {count} of {len(items)}", highlight=False, soft_wrap=True)
        yield item


class RunProgress:
    """Listener that shows the progress of a run."""

    def __init__(
        self, console: Console, *, stages: int, advise: Callable[[str], str] = str
    ) -> None:
        self._console = console
        self._stages = stages
        self._advise = advise
        self._seen = 0
        self._shards, self._total, self._resumed = 0, 1, 0
        self._began = self._said = time.monotonic()
        self._stage, self._ended = "", threading.Event()
        self._remarked: dict[str, str] = {}
        self._bars: Progress | None = None
        self._bar: TaskID | None = None
        if console.is_terminal:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[far]}"),
                TimeElapsedColumn(),
            )
            self._bars = Progress(*columns, console=console, transient=True)

    def __enter__(self) -> RunProgress:
        if self._bars:
            self._bars.start()
        else:
            threading.Thread(target=self._show_time, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._bars:
            self._bars.stop()

    def _show_time(self) -> None:
        """Show from time to time how long a stage without progress lines has run."""
        while not self._ended.wait(_SILENCE / 4):
            now = time.monotonic()
            if (stage := self._stage) and now - self._said >= _SILENCE:
                self._said = now
                self._say(f"  {stage}: still running after {duration_text(now - self._began)}")

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if event.kind == "stage_started":
            self._start(event)
        elif event.kind == "shard_done":
            self._shards += 1
            count, total = self._shards, self._total
            self._show_far(event.stage, count, total, f"{count}/{total}", before=self._resumed)
        elif event.kind == "progress":
            count, total = event.facts["done"], event.facts["total"]
            self._show_far(event.stage, count, total, f"{count / max(total, 1):.0%} read")
        elif event.kind in {"stage_done", "stage_reused", "stage_waits", "stage_skipped", "failed"}:
            self._finish(event)
        elif event.kind == "remark":
            self._remark(event)
        elif event.kind in {"note", "message"}:
            name = f"{event.stage}: " if event.stage else ""
            self._say(f"  {name}{event.facts.get('text', '')}", style="dim")

    def _start(self, event: Event) -> None:
        shards, resumed = event.facts.get("shards", 1), event.facts.get("resumed", 0)
        self._shards, self._total, self._resumed = resumed, shards, resumed
        self._began = self._said = time.monotonic()
        self._stage = event.stage
        if resumed:
            self._say(f"  {event.stage}: {resumed} of {shards} shards already done")
        if self._bars:
            far = f"{resumed}/{shards}"
            self._bar = self._bars.add_task(event.stage, total=shards, completed=resumed, far=far)

    def _show_far(self, stage: str, count: int, total: int, far: str, *, before: int = 0) -> None:
        """Show the progress of a stage on its bar, or in a line now and then."""
        now = time.monotonic()
        text = time_left(now - self._began, count - before, total - before)
        if self._bars and self._bar is not None:
            self._bars.update(self._bar, completed=count, total=total, far=f"{far}{text}")
        elif not self._bars and now - self._said >= _PATIENCE:
            self._said = now
            self._say(f"  {stage}: {far}{text}")

    def _finish(self, event: Event) -> None:
        self._seen += 1
        self._stage = ""
        if self._bars and self._bar is not None:
            self._bars.remove_task(self._bar)
            self._bar = None
        far = f"[{self._seen:>{len(str(self._stages))}}/{self._stages}]"
        self._say(f"{far} {event.stage:<20} {_outcome(event)}")

    def _remark(self, event: Event) -> None:
        """Show a remark; abbreviate one that another stage has had."""
        facts = event.facts
        first = self._remarked.setdefault(facts["text"], event.stage)
        same = f"{facts['level']}: same as {first} [{facts['check']}]"
        text = self._advise(facts["text"]) if first == event.stage else same
        self._say(f"  {event.stage}: {text}", style=_STYLES[facts["level"]])

    def _say(self, text: str, style: str | None = None) -> None:
        self._console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def time_left(elapsed: float, count: int, total: int) -> str:
    """Return the estimated remaining time; empty if it is too early.

    Examples
    --------
    >>> time_left(60.0, 250, 1000), time_left(30.0, 9, 10), time_left(1.0, 1, 1000)
    (', about 3 min left', ', about 3 s left', '')
    """
    if elapsed < _EARLY or not 0 < count < total:
        return ""
    seconds = elapsed * (total - count) / count
    return f", about {duration_text(seconds)} left"


def duration_text(seconds: float) -> str:
    """Return a duration in a readable unit.

    Examples
    --------
    >>> [duration_text(seconds) for seconds in (0.2, 59, 90, 7200)]
    ['1 s', '59 s', '2 min', '2.0 h']
    """
    if seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _outcome(event: Event) -> str:
    if event.kind == "failed":
        return "failed"
    if event.kind == "stage_waits":
        return str(event.facts.get("count") or event.facts.get("note", ""))
    if event.kind == "stage_skipped":
        return f"not run: {event.facts.get('note', '')}"
    word = "done" if event.kind == "stage_done" else "reused"
    rows = row_counts(event.facts["rows"])
    duration = f" in {event.facts['seconds']:.1f} s" if event.kind == "stage_done" else ""
    return (f"{word}: {rows}" if rows else word) + duration


def row_counts(rows: Mapping[str, int]) -> str:
    """Return the tables with rows and their numbers of rows.

    Examples
    --------
    >>> row_counts({"precision": 1200, "comparison": 1, "bands": 0})
    'precision 1,200 rows, comparison 1 row'
    """
    return ", ".join(
        f"{name} {count:,} row{'s' * (count != 1)}" for name, count in rows.items() if count
    )
