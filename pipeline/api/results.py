"""The results of an experiment: tables, figures, findings, notebook displays."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import polars as pl

from pipeline.api.report_options import ReportOptions, report_errors
from pipeline.errors import (
    ConfigError,
    NotMadeYet,
    Problem,
    StoreError,
    UnknownName,
    WaitsForPerson,
    did_you_mean,
    explain,
)
from pipeline.expressions import expression
from pipeline.findings.base import StageFinding, StageView, as_table, collect_findings
from pipeline.findings.lexicon import names_of as lexicon_names
from pipeline.formats.tables import to_csv
from pipeline.kernels.measure import measure_title
from pipeline.release import current_name
from pipeline.remarks.base import LEVELS, Remark
from pipeline.report.charts.style import Slot, slots
from pipeline.report.page.build import blocks
from pipeline.report.page.model import ReportStage
from pipeline.report.view import VIEWS, Figure, ViewOptions, flatten_blocks, unique_names
from pipeline.runner.config import column_label, parse, sheet_places
from pipeline.runner.delivery import current_list
from pipeline.runner.events import Listener
from pipeline.runner.fingerprint import Digests
from pipeline.runner.graph import Node, Project, Reference, build
from pipeline.runner.plan import Step, plan
from pipeline.runner.problems import unknown_stage
from pipeline.runner.run import read_remarks
from pipeline.runner.run import run as run_project
from pipeline.runner.store import artefacts, history
from pipeline.runner.store.artefacts import Manifest
from pipeline.runner.store.history import SWEEP, RunRecord
from pipeline.runner.store.interface import Storage

if TYPE_CHECKING:
    import altair as alt


# Small tables as text and HTML for notebooks

MOST = 6_000
"""Bytes of rows to display in a notebook."""
_TEXT_WIDTH, _HTML_WIDTH = 70, 110
"""Characters of a cell: of text, of HTML."""


def short(text: str, most: int = _TEXT_WIDTH) -> str:
    """Return a text on one line, shortened if it is too long.

    Examples
    --------
    >>> short("a  b", 9), short("abcdef", 4)
    ('a b', 'abc…')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def text_table(head: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as lines of text.

    Examples
    --------
    >>> print(text_table("1 table", ("name", "rows"), [("scores", "12")]))
    1 table
      name    rows
      scores  12
    """
    cells = [tuple(map(short, row)) for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in cells)
    return "\n".join([head, *(f"  {line}" for line in lines)])


def html_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Collection[int] = ()
) -> str:
    """Return a table as escaped HTML; long tables are cut, with the number of omitted rows.

    Parameters
    ----------
    columns : sequence of str
        The headings.
    rows : iterable of sequence of str
        The cells.
    right : collection of int
        The right-aligned columns.

    Examples
    --------
    >>> html_table(("a",), [("<b>",)], right=[0])
    '<table><thead><tr><th style="text-align:right">a</th>...&lt;b&gt;</td></tr></tbody></table>'
    """
    lines, size, omitted = [], 0, 0
    for row in rows:
        line = _line("td", row, right)
        size += len(line.encode())
        if size > MOST:
            omitted += 1
        else:
            lines.append(line)
    more = f'<tr><td colspan="{len(columns)}">and {omitted:,} more</td></tr>' if omitted else ""
    head = _line("th", columns, right)
    return f"<table><thead>{head}</thead><tbody>{''.join(lines)}{more}</tbody></table>"


def _line(tag: str, row: Sequence[str], right: Collection[int]) -> str:
    cells = (
        f"<{tag}{_RIGHT if place in right else _LEFT}>{escape(short(text, _HTML_WIDTH))}</{tag}>"
        for place, text in enumerate(row)
    )
    return f"<tr>{''.join(cells)}</tr>"


_RIGHT, _LEFT = ' style="text-align:right"', ' style="text-align:left"'


# Colours: one for each measure, system and lexicon of a run

COLOURED_COLUMNS = ("system", "lexicon")
"""Columns whose values have their own colours, in any table."""
LIST_COLUMNS = ("measure", "n")
"""A table with these columns has n-best lists: its measures have colours."""


def colours_of(run: Run, pinned: Mapping[str, str]) -> dict[str, Slot]:
    """Return colour and dashes of every name in the tables of a run, and of its title.

    Parameters
    ----------
    run : Run
        The results.
    pinned : mapping of str to str
        Name -> colour, as in ``[report] colours``.
    """
    colours = colours_of_names(names_of(run), pinned)
    for stage in stages(run).values():
        if stage.use == "evaluate.lexicons":
            titles = lexicon_names(stage)
            colours |= {title: colours[name] for name, title in titles.items() if name in colours}
    return colours


def colours_of_names(names: Iterable[str], pinned: Mapping[str, str]) -> dict[str, Slot]:
    """Return the colour and dashes of every name, and of its title.

    Parameters
    ----------
    names : iterable of str
        Measures, systems and lexicons.
    pinned : mapping of str to str
        As for `colours_of`.
    """
    colours = slots(names, pinned)
    return colours | {measure_title(name): slot for name, slot in colours.items()}


def names_of(run: Run) -> list[str]:
    """Return the measures, systems and lexicons of a run, in alphabetical order."""
    names: set[str] = set()
    for stage, manifest in run.manifests.items():
        for table in manifest.tables:
            names |= names_in(run.query(f"{stage}.{table}"))
    return sorted(names)


def names_in(table: pl.LazyFrame) -> set[str]:
    """Return the measures, systems and lexicons of a table."""
    names: set[str] = set()
    for column in _name_columns(table.collect_schema()):
        unique = table.select(pl.col(column).unique()).collect()[column]
        names.update(unique.drop_nulls())
    return names


def _name_columns(columns: Mapping[str, object]) -> list[str]:
    names = [name for name in COLOURED_COLUMNS if columns.get(name) == pl.String]
    lists = all(name in columns for name in LIST_COLUMNS) and columns["measure"] == pl.String
    return [*names, "measure"] if lists else names


# Stages, as the report and the findings read them


def shown_stage(run: Run, name: str, options: ReportOptions) -> ReportStage:
    """Return a stage for the report, with the options of its view and its tables."""
    node = run.project.nodes[name]
    content = options.views.get(name, {})
    own: ViewOptions | None = None
    if content:
        own = VIEWS.get(node.stage.name).options.model_validate(content)
    manifest, view = run.manifests.get(name), stage_view(run, node, stages(run))
    if manifest:
        view = replace(view, delivered=current_list(run.project, node, manifest)[0])
    return ReportStage(
        view,
        tuple(node.stage.outputs),
        node.stage.doc,
        own,
        run.why_not(name),
    )


def stages(run: Run) -> dict[str, StageView]:
    """Return the finished stages of a run, by name, each with those before it."""
    views: dict[str, StageView] = {}
    for name, node in run.project.nodes.items():
        if name in run.manifests:
            views[name] = stage_view(run, node, views)
    return views


def stage_view(run: Run, node: Node, among: Mapping[str, StageView]) -> StageView:
    """Return a stage for readers of results.

    It has all options with their defaults.
    """
    config = node.config.model_dump(mode="json")
    inputs = {option: f"{table.stage}.{table.table}" for option, table in node.inputs.items()}

    def opener(name: str) -> pl.LazyFrame:
        return run.query(f"{node.name}.{name}" if name in node.stage.outputs else name)

    options = run.project.experiment.report.get("views", {}).get(node.name, {})
    return StageView(
        node.name, node.stage.name, config, opener, inputs=inputs, stages=among, title=node.title,
        labels=options.get("labels", {}),
    )  # fmt: skip


# Figures as Altair charts, drawn when they are asked for


def as_altair(chart: Any) -> alt.TopLevelMixin:
    """Return a Vega-Lite specification as an Altair chart; Altair charts stay as they are."""
    import altair as alt  # noqa: PLC0415  takes long

    return alt.Chart.from_dict(dict(chart)) if isinstance(chart, Mapping) else chart


def _options(run: Run) -> ReportOptions:
    return ReportOptions.model_validate(run.project.experiment.report)


class Charts(Mapping[str, "alt.TopLevelMixin"]):
    """The figures of a run: "stage" is the first one of a stage, "stage.name" another.

    They look as in the report. Listing them draws them all, once.

    Parameters
    ----------
    run : Run
        The results.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._drawn: dict[str, dict[str, Figure]] = {}
        self._why_not: dict[str, str] = {}
        self._charts: dict[int, alt.TopLevelMixin] = {}

    @cached_property
    def _slots(self) -> Mapping[str, Slot]:
        return colours_of(self._run, _options(self._run).colours)

    def figure(self, name: str) -> Figure:
        """Return a figure with its caption.

        Raises
        ------
        ConfigError
            If the stage or figure is unknown, or the stage is not done.
        """
        stage, _, figure = name.partition(".")
        figures = self.of_stage(self._run.reference(stage).stage)
        if not figure and figures:
            return next(iter(figures.values()))
        if figure not in figures:
            raise ConfigError("chart", [self._absent(name, stage, figures)])
        return figures[figure]

    def chart(self, name: str) -> alt.TopLevelMixin:
        """Return a figure as an Altair chart; always the same object.

        Raises
        ------
        ConfigError
            As `figure`.
        """
        figure = self.figure(name)
        if id(figure) not in self._charts:
            self._charts[id(figure)] = as_altair(figure.chart)
        return self._charts[id(figure)]

    def _absent(self, name: str, stage: str, figures: Mapping[str, Figure]) -> Problem:
        if figures:
            figure = name.partition(".")[2]
            remedy = did_you_mean(figure, figures).replace("valid:", f"those of {stage}:")
            return Problem(name, "the stage has no figure of this name", remedy)
        if why := self._why_not.get(stage):
            return Problem(name, f"not drawn yet: {why}")
        names = [each for each in self._stages() if self.of_stage(each)]
        return Problem(name, "the stage has no figures", did_you_mean(stage, names))

    def of_stage(self, stage: str) -> dict[str, Figure]:
        """Return the figures of a stage by name; none if it is not done."""
        if stage not in self._drawn:
            try:
                self._drawn[stage] = self._draw(stage)
            except NotMadeYet as error:
                self._drawn[stage] = {}
                looks = "" if error.stage == stage else f"it needs {error.table}: "
                self._why_not[stage] = looks + self._run.why_not(error.stage)
        return self._drawn[stage]

    def _draw(self, stage: str) -> dict[str, Figure]:
        run = self._run
        options = _options(run)
        section = shown_stage(run, stage, options)
        if section.missing:
            raise NotMadeYet(stage)
        if section.view.use not in VIEWS:
            return {}
        with report_errors(), artefacts.report_damage(run.project.storage, run.manifests.values()):
            every = flatten_blocks(blocks(section, style=options.style, slots=self._slots))
            figures = [each for each in every if isinstance(each, Figure)]
        return dict(zip(unique_names(each.name for each in figures), figures, strict=True))

    def _stages(self) -> list[str]:
        """Return the stages that may have figures, in the order of the report."""
        names = self._run.project.experiment.report.get("stages", ())
        return list(dict.fromkeys([*names, *self._run.project.nodes]))

    def __getitem__(self, name: str) -> alt.TopLevelMixin:
        """Return a chart.

        Raises
        ------
        UnknownName
            If there is no such chart; it is a KeyError.
        """
        try:
            return self.chart(name)
        except ConfigError as error:
            raise UnknownName("; ".join(map(str, error.problems))) from error

    def __iter__(self) -> Iterator[str]:
        for stage in self._stages():
            for place, name in enumerate(self.of_stage(stage)):
                yield f"{stage}.{name}" if place else stage

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _rows(self) -> Iterator[tuple[str, str]]:
        for name in self:
            yield name, self.figure(name).caption

    def __repr__(self) -> str:
        return text_table(f"{len(self)} charts", ("name", "caption"), self._rows())

    def _repr_html_(self) -> str:
        return html_table(("name", "caption"), self._rows())


# Findings

NAME = "findings"
"""Name of the table of findings, unless a stage has this name."""


def names_findings(project: Project, name: str) -> bool:
    """Return whether a name means the findings and not a stage of that name."""
    return name == NAME and name not in project.nodes


def findings_of_run(run: Run) -> tuple[StageFinding, ...]:
    """Return the findings of the stages that a run's report shows."""
    options = ReportOptions.model_validate(run.project.experiment.report)
    with artefacts.report_damage(run.project.storage, run.manifests.values()):
        return collect_findings(stages(run), order=options.stages)


# A run as one line, and as the small page that a notebook shows

_MOST_WAITS = 5
_LONGEST = 200
_STATES = {"skipped": "not run", "reused": "reused", "waits": "waiting", "failed": "failed"}


def line(run: Run) -> str:
    """Return a run as one line: stages done, what it waits for, and the report."""
    waits = [short(f"{Path(each.file).name}: {each.text}") for each in run.waits[:_MOST_WAITS]]
    parts = [f"{run.project.experiment.name}: {_progress_text(run)}", *waits]
    report = [f"report: {run.report}"] if run.report else []
    return f"<Run {'; '.join([*parts, *report])}>"


def page(run: Run) -> str:
    """Return a run as HTML of at most about 10 kB: stages, waits, remarks, the report."""
    name = escape(short(run.project.experiment.name))
    below = [escape(text) for text in [*_waits(run), remark_count(run)] if text]
    if run.report:
        below.append(f'<a href="{_address(run.report)}">report</a>')
    table = html_table(("stage", "kind", "rows", "state"), _rows(run), right=(2,))
    lines = "".join(f"<div>{each}</div>" for each in below)
    return f"<div><div><b>{name}</b>: {_progress_text(run)}</div>{table}{lines}</div>"


def remark_count(run: Run) -> str:
    """Return the numbers of remarks and their stages; empty if there are none."""
    levels = Counter(each.level for group in run.remarks.values() for each in group)
    counts = [f"{levels[each]:,} {each}{'s' * (levels[each] > 1)}" for each in LEVELS
              if levels[each] and each != "info"]  # fmt: skip
    names = [
        name for name, group in run.remarks.items() if any(each.level != "info" for each in group)
    ]
    return f"remarks: {', '.join(counts)}, on {', '.join(names)}" if counts else ""


def _progress_text(run: Run) -> str:
    count, every = len(run.manifests), len(run.project.nodes)
    return f"{count:,} of {every:,} stage{'s' * (every != 1)} done"


def _waits(run: Run) -> Iterator[str]:
    """Yield a line per wait."""
    for wait in run.waits[:_MOST_WAITS]:
        yield short(str(wait), _LONGEST)
    if (more := len(run.waits) - _MOST_WAITS) > 0:
        yield f"and {more:,} more"


def _rows(run: Run) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, kind, main table's rows, and state of each stage; unfinished stages first."""
    nodes = run.project.nodes
    for name in sorted(nodes, key=lambda each: each in run.manifests):
        manifest, kind = run.manifests.get(name), nodes[name].stage
        rows = f"{manifest.tables[next(iter(kind.outputs))].rows:,}" if manifest else ""
        yield name, kind.name, rows, _state(run, name)


def _state(run: Run, name: str) -> str:
    record = run.record.stages.get(name) if run.record else None
    why = run.why_not(name)
    word = _STATES.get(record.outcome if record else "", "done" if not why else "not done")
    if not why or not record or why.startswith(word):
        return why if record and why else word
    return f"{word}: {why}"


def _address(report: Path) -> str:
    return report.as_uri() if report.is_absolute() else quote(report.as_posix())


# Stacked tables of a sweep

EFFECTS = "effects"
"""The table of the main effects of a sweep's settings."""


def add_setting_columns(
    table: pl.DataFrame, where: str, columns: Mapping[str, Any]
) -> pl.DataFrame:
    """Return the selected rows of a table with a column per setting.

    Parameters
    ----------
    table : DataFrame
        A table of one point.
    where : str
        SQL condition; all rows if empty.
    columns : mapping of str to value
        Column to value, see `pipeline.runner.config.Point.columns`. Lists and tables are written
        as JSON.

    Examples
    --------
    >>> table = pl.DataFrame({"n": [500, 1000]})
    >>> add_setting_columns(table, "n > 500", {"seed": 1, "stages.a.measures": ["mi"]}).row(0)
    (1, '["mi"]', 1000)
    """
    rows = table.filter(expression(where)) if where else table
    labels = [pl.lit(column_label(value)).alias(name) for name, value in columns.items()]
    return rows.select(*labels, pl.all())


def stack_tables(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the tables stacked; columns that a table lacks are null.

    Examples
    --------
    >>> stack_tables([pl.DataFrame({"n": [1]}), pl.DataFrame({"n": [0.5], "mi": [2.0]})]).rows()
    [(1.0, None), (0.5, 2.0)]
    """
    return pl.concat(tables, how="diagonal_relaxed")


def files(tables: Mapping[str, pl.DataFrame]) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files of a sweep: Parquet and CSV of every table."""
    for name, whole in tables.items():
        buffer = io.BytesIO()
        whole.write_parquet(buffer)
        yield f"{name}.parquet", buffer.getvalue()
        yield f"{name}.csv", to_csv(whole)


def read_sweep_table(project: Project, name: str) -> pl.DataFrame:
    """Return a table that a sweep has stacked.

    Parameters
    ----------
    project : Project
        An experiment with a sweep.
    name : str
        "sweep." and the name of the table.

    Raises
    ------
    ConfigError
        If the sweep does not collect it or has not run.
    StoreError
        If the file is damaged.
    """
    table, options = name.removeprefix(f"{SWEEP}."), project.experiment.sweep
    tables = (*options.collect, EFFECTS) if options else ()
    if table not in tables:
        remedy = did_you_mean(table, tables) if tables else "the experiment has no section [sweep]"
        raise ConfigError("show", [Problem(name, "the sweep does not collect this table", remedy)])
    key = f"{table}.parquet"
    try:
        with project.pages.open(f"{SWEEP}/{key}") as opened:
            content = opened.read()
    except FileNotFoundError:
        raise NotMadeYet(name) from None
    except OSError as error:
        raise StoreError(f"{name}: {explain(error)}") from error
    if history.changed_files(project.pages, SWEEP, key):
        place = project.pages.location(f"{SWEEP}/{key}")
        raise StoreError(f"{name}: {place} is damaged; run the sweep again to restore it")
    return pl.read_parquet(content)


# Tables of a run by name, read on access


class Tables(Mapping[str, pl.DataFrame]):
    """The tables of a run: "stage" is the main one of a stage, "stage.table" another.

    Listing them reads none.

    Parameters
    ----------
    run : Run
        The results.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Return a table, sorted by its key.

        Raises
        ------
        UnknownName
            If there is no such table; it is a KeyError.
        """
        if name not in self:
            raise UnknownName(f"no table {name!r}; {self._remedy(name)}")
        return self._run.table(name)

    def _remedy(self, name: str) -> str:
        why = self._run.why_not(name.partition(".")[0])
        return f"its stage is not done: {why}" if why else did_you_mean(name, self)

    def __contains__(self, name: object) -> bool:
        try:
            reference = self._run.reference(str(name))
        except ConfigError:
            return False
        return reference.stage in self._run.manifests

    def __iter__(self) -> Iterator[str]:
        for stage, node in self._run.project.nodes.items():
            if stage in self._run.manifests:
                _, *others = node.stage.outputs
                yield from (stage, *(f"{stage}.{table}" for table in others))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, rows and content of each."""
        for name in self:
            at = self._run.reference(name)
            model = self._run.project.nodes[at.stage].stage.outputs[at.table]
            rows = self._run.manifests[at.stage].tables[at.table].rows
            yield name, f"{rows:,}", (model.__doc__ or "").partition("\n")[0]

    def __repr__(self) -> str:
        return text_table(f"{len(self)} tables", ("name", "rows", "content"), self._rows())

    def _repr_html_(self) -> str:
        return html_table(("name", "rows", "content"), self._rows(), right=(1,))


@dataclass(frozen=True, repr=False)
class Run:
    """The results of an experiment; notebooks display stages, waits and the report.

    Parameters
    ----------
    project : Project
        The experiment.
    manifests : mapping of str to Manifest
        The results of every finished stage.
    record : RunRecord or None
        The record of the run, if it has just run.
    waits : tuple of WaitsForPerson
        An error for each stage that waits for people.
    report : Path or None
        The report's page, if it was written.
    damage : mapping of str to str
        The stages whose results exist, but are damaged, and what is wrong.
    """

    project: Project
    manifests: Mapping[str, Manifest]
    record: RunRecord | None = None
    waits: tuple[WaitsForPerson, ...] = ()
    report: Path | None = field(default=None)
    damage: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.project.folder

    @cached_property
    def tables(self) -> Tables:
        """The tables by name, read on access."""
        return Tables(self)

    def table(self, name: str) -> pl.DataFrame:
        """Return a table, sorted by its key.

        Parameters
        ----------
        name : str
            "stage" for the main table of a stage, "stage.table" for another; "sweep.NAME" for
            a stacked table; "findings" for the findings.

        Raises
        ------
        ConfigError
            If there is no such table, or it has not been made.
        """
        if name.partition(".")[0] == SWEEP:
            return read_sweep_table(self.project, name)
        if names_findings(self.project, name):
            return self.findings
        reference = self.reference(name)
        model = self.project.nodes[reference.stage].stage.outputs[reference.table]
        with artefacts.report_damage(self.project.storage, self.manifests.values()):
            return self.query(name).sort(list(model.key())).collect()

    @cached_property
    def all_findings(self) -> tuple[StageFinding, ...]:
        """The findings as in the report: each with its stage, answers first."""
        return findings_of_run(self)

    @property
    def told(self) -> tuple[StageFinding, ...]:
        """The former name of `all_findings`, which warns."""
        current_name("attribute", "Run.told")
        return self.all_findings

    @property
    def findings(self) -> pl.DataFrame:
        """The findings as a table with one sentence per row: answers first, then cautions."""
        return as_table(self.all_findings)

    def query(self, name: str) -> pl.LazyFrame:
        """Return the query of a table, for tables that do not fit into memory.

        Raises
        ------
        NotMadeYet
            If its stage has not run.
        StoreError
            If its files, or those of a stage before it, are damaged.
        """
        reference = self.reference(name)
        manifest = self.manifests.get(reference.stage)
        if manifest is None:
            if damage := self._damage_of(reference.stage):
                raise StoreError(damage)
            raise NotMadeYet(name)
        return artefacts.scan(self.project.storage, manifest, reference.table)

    def plan(self, name: str) -> pl.LazyFrame:
        """Return the same as `query`, whose former name this is; it warns."""
        current_name("attribute", "Run.plan")
        return self.query(name)

    @cached_property
    def charts(self) -> Charts:
        """The figures of the report as Altair charts, by name; listing them draws them."""
        return Charts(self)

    def chart(self, name: str) -> alt.TopLevelMixin:
        """Return a figure of the report as an Altair chart.

        Parameters
        ----------
        name : str
            "stage" for the first figure of a stage, or "stage.name".

        Raises
        ------
        ConfigError
            If there is no such stage or figure, or the stage is not done.
        """
        return self.charts.chart(name)

    @property
    def missing(self) -> dict[str, str]:
        """The reason for each stage without results, if known."""
        # Without the folder of the sheets, a path of this machine.
        texts = {str(wait): wait.text for wait in self.waits}
        stages = self.record.stages if self.record else {}
        missing = [name for name in self.project.nodes if name not in self.manifests]
        reasons = {name: stages[name].reason(name) if name in stages else "" for name in missing}
        return {name: texts.get(reason, reason) for name, reason in reasons.items()}

    def why_not(self, stage: str) -> str:
        """Return why a stage has no results; empty if it has."""
        if stage in self.manifests or stage not in self.project.nodes:
            return ""
        return self.missing[stage] or self._damage_of(stage) or "it has not run"

    def _damage_of(self, stage: str) -> str:
        """Return what is damaged of a stage without results, or of those that it depends on."""
        if stage in self.manifests:
            return ""
        before = (ref.stage for ref in self.project.nodes[stage].inputs.values())
        return self.damage.get(stage) or next(filter(None, map(self._damage_of, before)), "")

    @property
    def remarks(self) -> dict[str, tuple[Remark, ...]]:
        """The remarks on the data of each stage, if any."""
        groups = {
            name: read_remarks(self.project.storage, each) for name, each in self.manifests.items()
        }
        return {name: remarks for name, remarks in groups.items() if remarks}

    def reference(self, name: str) -> Reference:
        """Return the stage and table of a name."""
        stage, _, table = name.partition(".")
        if stage not in self.project.nodes:
            raise ConfigError("show", [unknown_stage(stage, [*self.project.nodes, NAME])])
        outputs = self.project.nodes[stage].stage.outputs
        if table and table not in outputs:
            remedy = did_you_mean(table, outputs)
            raise ConfigError(
                "show", [Problem(name, "the stage has no table of this name", remedy)]
            )
        return Reference(stage, table or next(iter(outputs)))

    def __repr__(self) -> str:
        return line(self)

    def _repr_html_(self) -> str:
        return page(self)


def steps(project: Project, discarded: Collection[str] = ()) -> Iterator[Step]:
    """Yield what a run would do with each stage, see `pipeline.runner.plan.plan`."""
    yield from plan(project, Digests(project.storage), discarded)


def open_run(project: Project) -> Run:
    """Return the stored results without running anything."""
    every = list(steps(project))
    manifests = {step.node.name: step.manifest for step in every if step.manifest}
    damage = {
        step.node.name: str(
            artefacts.damage_error(project.storage, step.node.name, step.fingerprint, step.damage)
        )
        for step in every
        if step.damage
    }
    return Run(project, manifests, damage=damage)


def run_stages(
    project: Project,
    *,
    settings: Mapping[str, Any] | None = None,
    force: Collection[str] = (),
    deliver: bool | None = None,
    strict: bool = False,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Run the stages that are not done."""
    outcome = run_project(
        project,
        settings=settings,
        force=force,
        deliver=deliver,
        strict=strict,
        listeners=listeners,
    )
    return Run(project, *outcome)


# Past runs: read from their records and the store, without current files


def past_run(storage: Storage, record: RunRecord, *, runs: Path) -> Run:
    """Return a past run from its record, with those results that are still in the store.

    Parameters
    ----------
    storage : Storage
        The store of the experiment's results.
    record : RunRecord
        The record of the run.
    runs : Path
        Folder of all results.

    Raises
    ------
    ConfigError
        If this version cannot read its experiment.
    """
    experiment, _ = parse(record.content)
    if experiment is None:
        what = "this version cannot read its experiment"
        raise ConfigError("run", [Problem(f"{record.experiment}:{record.id}", what)])
    nodes, _ = build(experiment)
    places = sheet_places(runs / "past.toml", runs=runs, name=record.experiment)
    project = Project(experiment, record.content, nodes, {}, {}, runs / record.experiment, places)
    manifests = {
        name: manifest
        for name in nodes
        if (stage := record.stages.get(name)) and stage.fingerprint
        and (manifest := artefacts.find_stored(storage, name, stage.fingerprint))
    }  # fmt: skip
    return Run(project, manifests, record)


def missing_stages(run: Run) -> list[str]:
    """Return the finished stages of a past run whose results are no longer in the store."""
    stages = run.record.stages if run.record else {}
    return [name for name, each in stages.items() if each.fingerprint and name not in run.manifests]
