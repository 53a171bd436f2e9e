"""Sweeps: an experiment at every combination of settings, with stacked tables and a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pipeline.api.convert import as_frame
from pipeline.api.report import provenance
from pipeline.api.report_options import ReportOptions, check_report
from pipeline.api.results import (
    EFFECTS,
    Run,
    add_setting_columns,
    colours_of_names,
    files,
    names_findings,
    names_in,
    names_of,
    run_stages,
    stack_tables,
    steps,
    text_table,
)
from pipeline.api.run import check
from pipeline.errors import (
    ConfigError,
    Interruption,
    LexassayError,
    PointsFailed,
    Problem,
    WaitsForPerson,
    did_you_mean,
)
from pipeline.expressions import expression
from pipeline.findings.base import StageFinding
from pipeline.kernels.effects import ConfoundedSettings, main_effects
from pipeline.kernels.numeric import FloatArray
from pipeline.registry import as_names
from pipeline.report.page.model import Record, Scalar
from pipeline.report.sweep_page import (
    LIMITS,
    CollectedTable,
    Shape,
    SweepInput,
    shape_of,
    sweep_page,
)
from pipeline.report.view import VIEWS
from pipeline.runner.config import POINT, Point, Sweep
from pipeline.runner.conflicts import OpenConflicts
from pipeline.runner.events import Event
from pipeline.runner.graph import RUNS, Project, load
from pipeline.runner.problems import unknown_stage
from pipeline.runner.store import artefacts
from pipeline.runner.store.digest import canonical, text_digest
from pipeline.runner.store.history import SWEEP, write_folder
from schemas import Findings
from schemas.errors import count_text

# Main effects of the settings of a study: how much a value moves with each of them.


RESIDUAL = "residual"
"""The row with the variance that main effects do not explain."""
OF_SWEEPS = ("average_precision", "precision", "recall")
"""Values of stacked tables whose main effects a sweep writes."""
MOST_GROUPS = 200
"""The most groups of a table, for example list sizes, whose main effects a sweep writes."""
_SCHEMA = {
    "setting": pl.String, "level": pl.String, "mean": pl.Float64, "lower": pl.Float64,
    "upper": pl.Float64, "rows": pl.Int64, "share": pl.Float64,
}  # fmt: skip


def effects(
    table: Any,
    *,
    value: str = "average_precision",
    by: str | Sequence[str],
    within: str | Sequence[str] = (),
) -> pl.DataFrame:
    """Return the main effects of settings on a value: how much it moves with each of them.

    The mean of a level weights all levels of the other settings equally. The share is eta^2 =
    SS_setting / SS_total. If all combinations of the settings occur equally often (a balanced
    design), means are plain means, and shares and the residual add up to 1. Otherwise means are
    least-squares means and sums of squares those of type II, by least squares on dummy columns;
    shares need not add up to 1.

    Limits are conservative: the mean half-width of the estimates' own limits (in unbalanced
    designs with the weights of least squares). Points that share a sample err together, so their
    errors do not average out as those of independent estimates would. They are limits of means;
    differences of means are more precise than they suggest.

    Parameters
    ----------
    table : table
        A row per combination of settings: a stacked table of a sweep.
    value : str
        The column of the value. Rows where it is null or NaN are ignored.
    by : str or sequence of str
        The columns of the settings, ``measure`` among them. A setting that follows from others,
        for example the span of a point whose name says it, cannot be told apart from them.
    within : str or sequence of str
        Columns whose values are analysed separately, for example ``category`` and ``n``.

    Returns
    -------
    DataFrame
        The columns of `within`; setting, level, mean, lower, upper (null without limits), rows,
        and share, which is the same in all rows of a setting. The row of the setting ``residual``
        has the share of interactions and chance.

    Raises
    ------
    ConfigError
        If a column is missing, or settings cannot be told apart.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "span": [1, 1, 1, 5, 5, 5], "measure": ["mi", "dice", "t_score"] * 2,
    ...     "average_precision": [0.2, 0.4, 0.6, 0.4, 0.6, 0.8],
    ... })
    >>> effects(table, by=["span", "measure"]).select(
    ...     "setting", "level", pl.col("mean", "share").round(3)).rows()[:3]
    [('span', '1', 0.4, 0.273), ('span', '5', 0.6, 0.273), ('measure', 'mi', 0.3, 0.727)]
    """
    frame, settings, groups = as_frame(table), as_names(by), as_names(within)
    _check_columns(frame, value, settings, groups)
    rows = frame.filter(pl.col(value).is_finite())
    if not rows.height:
        raise ConfigError("effects", [Problem(value, "has no values", "choose another column")])
    parts = rows.partition_by(groups, maintain_order=True) if groups else [rows]
    tables = [
        _of_group(part, value, settings, ", ".join(f"{n} = {part[n][0]}" for n in groups)).select(
            *(pl.lit(part[name][0], part.schema[name]).alias(name) for name in groups), pl.all()
        )
        for part in parts
    ]
    return pl.concat(tables)


def _check_columns(
    frame: pl.DataFrame, value: str, settings: Sequence[str], groups: Sequence[str]
) -> None:
    every = [value, *settings, *groups]
    problems = [
        Problem(name, "the table has no such column", did_you_mean(name, frame.columns))
        for name in every
        if name not in frame.columns
    ]
    if not settings:
        problems.append(Problem("by", "names no setting", "give one column or more"))
    problems += [
        Problem(name, "is named twice in value, by and within", "name it once")
        for name in dict.fromkeys(name for name in every if every.count(name) > 1)
    ]
    if not problems and not frame.schema[value].is_numeric():
        problems.append(Problem(value, f"is {frame.schema[value]}, not a number"))
    problems += [
        Problem(name, "is also a column of the result", "rename it")
        for name in groups
        if name in _SCHEMA
    ]
    if problems:
        raise ConfigError("effects", problems)


def _of_group(frame: pl.DataFrame, value: str, settings: Sequence[str], where: str) -> pl.DataFrame:
    """Return the main effects in the rows of a group."""
    texts = [frame[name].cast(pl.String) for name in settings]
    levels = [each.unique(maintain_order=True).to_list() for each in texts]
    places = [{text: place for place, text in enumerate(each)} for each in levels]
    codes = np.array(
        [[of[text] for text in each] for of, each in zip(places, texts, strict=True)], np.int64
    ).T
    lower, upper = (_limit(frame, name) for name in LIMITS)
    try:
        estimates = main_effects(
            frame[value].cast(pl.Float64).to_numpy(),
            codes,
            [len(each) for each in levels],
            lower,
            upper,
        )
    except ConfoundedSettings as error:
        names = [settings[place] for place in error.settings]
        what = "their effects cannot be told apart" + (f" ({where})" if where else "")
        remedy = "remove one of them, or add the combinations that are missing"
        raise ConfigError("effects", [Problem(", ".join(names), what, remedy)]) from error
    rows: list[tuple[Any, ...]] = []
    for place, (name, values) in enumerate(zip(settings, levels, strict=True)):
        counts = np.bincount(codes[:, place])
        numbers = (estimates.means[place], estimates.lower[place], estimates.upper[place])
        for level, text in enumerate(values):
            mean, low, high = (float(each[level]) for each in numbers)
            rows.append((name, text, mean, low, high, int(counts[level]), estimates.shares[place]))
    rows.append((RESIDUAL, None, None, None, None, frame.height, estimates.residual))
    table = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    return table.with_columns(pl.col("lower", "upper", "share").fill_nan(None))


def _limit(frame: pl.DataFrame, name: str) -> FloatArray | None:
    if name not in frame.columns or not frame.schema[name].is_numeric():
        return None
    return frame[name].cast(pl.Float64).to_numpy()


def effects_of_sweep(
    tables: Mapping[str, pl.DataFrame], shapes: Mapping[str, Shape | None], settings: Sequence[str]
) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    """Return the main effects of the settings of a sweep on its precision, recall and the like.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        The stacked tables.
    shapes : mapping of str to Shape or None
        The shape of each table, which names the columns of its estimates.
    settings : sequence of str
        The columns of the settings, none of which follows from others.

    Returns
    -------
    DataFrame or None
        The columns table and value, those of the groups of all tables, and those of `effects`;
        None if no table has such a value.
    notes : tuple of str
        Why a table has no effects.
    """
    parts: list[pl.DataFrame] = []
    notes: list[str] = []
    for name, table in tables.items():
        shape = shapes.get(name)
        varied = [each for each in settings if table[each].n_unique() > 1]
        if shape is None or shape.value not in OF_SWEEPS or not varied:
            continue
        by = [*varied, *([shape.name] if shape.name else [])]
        within = [*shape.groups, *(["n"] if shape.over_n else [])]
        groups = table.select(within).n_unique() if within else 1
        if groups > MOST_GROUPS:
            what = f"{name} has {groups:,} groups of {', '.join(within)}"
            notes.append(f"effects: {what}, more than {MOST_GROUPS}: choose some by sweep.where")
            continue
        try:
            part = effects(table, value=shape.value, by=by, within=within)
        except ConfigError as error:
            notes += [f"effects: {name}: {each}" for each in error.problems]
            continue
        whole = (pl.lit(name).alias("table"), pl.lit(shape.value).alias("value"))
        parts.append(part.select(*whole, pl.all()))
    if not parts:
        return None, tuple(notes)
    stacked = pl.concat(parts, how="diagonal_relaxed")
    return stacked.select(pl.exclude(_SCHEMA), *_SCHEMA), tuple(notes)


# Checks of all points, before any of them runs

_SHOWN = 3


def check_points(
    project: Project,
    experiment: Path,
    *,
    runs: Path,
    data: Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> list[dict[str, str]]:
    """Check every point of a sweep, if the experiment has one.

    Return for each point what identifies the stages that are to be discarded, see `_identity`.

    Parameters
    ----------
    project : Project
        The checked experiment.
    experiment, runs, data, settings
        As for `pipeline.api.run.check`.

    Raises
    ------
    ConfigError
        With every error, and the points that have it.
    """
    options = project.experiment.sweep
    if options is None or project.absent:
        return []
    first = [_of_settings(options, settings or {}), _of_collect(project, options)]
    _refuse(experiment, [*chain(*first, _of_discard(project, options))])
    wrong: dict[Problem, list[str]] = {}
    stacks: dict[str, list[pl.DataFrame]] = {name: [] for name in options.collect}
    grid = options.combinations()
    identities: list[dict[str, str]] = []
    for point in grid:
        overrides = {**(settings or {}), **point.settings}
        try:
            each = check(experiment, runs=runs, data=data, settings=overrides)
        except ConfigError as error:
            for problem in error.problems:
                wrong.setdefault(problem, []).append(str(point))
            continue
        identities.append({stage: _identity(each, stage) for stage in options.discard})
        for name, tables in stacks.items():
            tables.append(
                add_setting_columns(_plan_table(each, name), options.where, point.columns)
            )
    _refuse(
        experiment, [_at(problem, names, len(grid), options) for problem, names in wrong.items()]
    )
    _refuse(experiment, list(find_unstackable(stacks)))
    return identities


def _identity(project: Project, stage: str) -> str:
    """Return a digest of the options of a stage and of all stages before it.

    Two points with the same one share the stage's result.
    """
    before, configs = [stage], dict[str, Any]()
    while before:
        node = project.nodes[before.pop()]
        configs[node.name] = [node.stage.name, node.config.model_dump(mode="json")]
        before += [ref.stage for ref in node.inputs.values() if ref.stage not in configs]
    return text_digest(canonical(configs))


def _refuse(experiment: Path, problems: list[Problem]) -> None:
    if problems:
        raise ConfigError(str(experiment), problems)


def _of_settings(options: Sweep, settings: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the overrides that the points of the sweep would replace."""
    for override in settings:
        for path in options.paths:
            if override == path or override.startswith(f"{path}."):
                what = f"the sweep sets {path} at its points"
                remedy = "remove this override, or change [sweep]"
                yield Problem(override, what, remedy)


def _of_collect(project: Project, options: Sweep) -> Iterator[Problem]:
    """Yield what is wrong with the collected tables and their condition."""
    for name in options.collect:
        if name == EFFECTS:
            what = f"the sweep writes its main effects to {EFFECTS}.parquet"
            yield Problem("sweep.collect", what, f"rename the stage {EFFECTS}")
        try:
            if not names_findings(project, name):
                Run(project, {}).reference(name)
        except ConfigError as error:
            yield from (each.within("sweep.collect") for each in error.problems)
            continue
        table = _plan_table(project, name)
        columns = [POINT] * bool(options.points) + options.paths
        for path in (each for each in columns if each in table.columns):
            what = f"{name} also has a column {path}"
            remedy = "collect another table"
            if path != POINT:
                remedy = f"sweep the option of a stage, stages.STAGE.{path}, or {remedy}"
            yield Problem("sweep.over" if path != POINT else "sweep.points", what, remedy)
        names = expression(options.where).meta.root_names() if options.where else []
        absent = sorted(set(names) - set(table.columns))
        if absent:
            what = f"{name} has no column {', '.join(absent)}"
            yield Problem("sweep.where", what, f"it has {', '.join(table.columns)}")
        elif options.where and not _is_condition(table, options.where):
            what = f"{options.where!r} cannot be a condition on {name}: its types do not fit"
            yield Problem("sweep.where", what, "compare numbers with numbers, texts with texts")


def _of_discard(project: Project, options: Sweep) -> Iterator[Problem]:
    """Yield the stages that cannot be discarded."""
    collected = {name.partition(".")[0]: name for name in reversed(options.collect)}
    for name in options.discard:
        stage, _, table = name.partition(".")
        node = project.nodes.get(stage)
        if node is None:
            yield unknown_stage(stage, project.nodes, where="sweep.discard")
        elif table:
            what = f"{name} is a table"
            yield Problem("sweep.discard", what, f"write {stage}: its tables are deleted together")
        elif stage in collected:
            what = f"{stage} is needed by the sweep, which collects {collected[stage]}"
            yield Problem("sweep.discard", what, "remove it from discard")
        elif node.sheets or node.stage.delivers is not None:
            what = f"{stage} has sheets, lists or answers of people"
            yield Problem("sweep.discard", what, "remove it from discard")


def _is_condition(table: pl.DataFrame, where: str) -> bool:
    try:
        table.filter(expression(where))
    except pl.exceptions.PolarsError:
        return False
    return True


def _plan_table(project: Project, name: str) -> pl.DataFrame:
    if names_findings(project, name):
        return Findings.zero_rows().collect()
    reference = Run(project, {}).reference(name)
    return project.planned[reference.stage][reference.table].collect()


def find_unstackable(stacks: Mapping[str, list[pl.DataFrame]]) -> Iterator[Problem]:
    """Yield the tables, given without rows, that cannot be stacked.

    Examples
    --------
    >>> one, two = (pl.DataFrame(schema={"n": each}) for each in (pl.Date, pl.Boolean))
    >>> [problem.where for problem in find_unstackable({"sample": [one, two]})]
    ['sweep.over']
    """
    for name, tables in stacks.items():
        try:
            stack_tables(tables)
        except pl.exceptions.PolarsError:
            what = f"the tables {name} of its points have columns of different types"
            yield Problem("sweep.over", what, "give each option values of one type")


def _at(problem: Problem, points: list[str], size: int, options: Sweep) -> Problem:
    """Return the problem with the points that have it."""
    section = "sweep.points" if options.points else "sweep.over"
    where = f"{section} ({len(points):,} of {size:,} points: {_some(points)}): {problem.where}"
    return Problem(where, problem.what, problem.remedy)


def _some(points: Sequence[str]) -> str:
    return "; ".join(points[:_SHOWN]) + ("; ..." if len(points) > _SHOWN else "")


# The page of a sweep

_OWN = ("Tables", "Overrides")
"""Provenance of single points."""


class SweepReport:
    """Content of a sweep's page, collected point by point."""

    def __init__(self) -> None:
        self._findings: list[tuple[StageFinding, ...]] = []
        self._remarks: list[list[str]] = []
        self._waits: dict[str, str] = {}
        self._records: dict[str, Record] = {}
        self._files: dict[tuple[Scalar, ...], Mapping[str, Scalar]] = {}
        self._names: set[str] = set()
        self._last: Run | None = None

    def add(self, run: Run) -> None:
        """Add the findings, remarks and files of a finished point."""
        # All that reads results first: tables may be damaged or discarded.
        findings, records = run.all_findings, provenance(run)
        names = names_of(run) if self._last is None else ()
        remarks = [
            f"{stage}: {each.finding}. {each.advice if each.remedy else ''}".strip()
            for stage, group in run.remarks.items()
            for each in group
            if each.level != "info"
        ]
        self._names.update(names)
        self._last = run
        self._findings.append(findings)
        self._remarks.append(remarks)
        self._waits |= run.missing
        for row in records.get("Input files", ()):
            if isinstance(row, Mapping):
                self._files.setdefault(tuple(row.values()), row)
        self._records = {name: each for name, each in records.items() if name not in _OWN}

    def files(
        self,
        points: Sequence[Point],
        stacks: Mapping[str, Sequence[pl.DataFrame]],
        failed: Sequence[tuple[str, str]] = (),
        effects: pl.DataFrame | None = None,
    ) -> dict[str, bytes]:
        """Return the files of the page.

        Parameters
        ----------
        points : sequence of Point
            The points that are done, in order.
        stacks : mapping of str to sequence of DataFrame
            The stacked tables, per point, with the settings in the first columns.
        failed : sequence of tuple
            Number and name of each point that failed, and its message.
        effects : DataFrame, optional
            The main effects of the settings.
        """
        if self._last is None:
            return {}
        run = self._last
        options = ReportOptions.model_validate(run.project.experiment.report)
        for frames in stacks.values():
            for frame in frames:
                self._names |= names_in(frame.drop(points[0].columns).lazy())
        # A named point stands for the settings that it has: the page varies it as a whole.
        rows = [
            {name: value for name, value in each.columns.items() if name not in each.together}
            for each in points
        ]
        tables = {
            name: [frame.drop(points[0].together) for frame in frames]
            for name, frames in stacks.items()
        }
        content = SweepInput(
            title=run.project.experiment.title or run.project.experiment.name,
            description=run.project.experiment.description.strip(),
            points=rows,
            findings=self._findings,
            collected=[_collect(run, name, frames) for name, frames in tables.items()],
            remarks=self._remarks,
            waits=self._waits,
            style=options.style,
            slots=colours_of_names(self._names, options.colours),
            pictures=options.pictures,
            failed=tuple(failed),
            effects=effects,
            provenance={**self._records, "Input files": list(self._files.values())},
        )
        with artefacts.report_damage(run.project.storage, run.manifests.values()):
            return sweep_page(content)


def _collect(run: Run, name: str, frames: Sequence[pl.DataFrame]) -> CollectedTable:
    if names_findings(run.project, name):
        return CollectedTable(name, "Findings of each point", frames)
    reference = run.reference(name)
    node = run.project.nodes[reference.stage]
    model = node.stage.outputs[reference.table]
    known = node.stage.name in VIEWS
    title = node.title or (VIEWS.get(node.stage.name).title if known else "") or node.name
    table = reference.table.replace("_", " ")
    main = next(iter(node.stage.outputs)) == reference.table
    return CollectedTable(name, title if main else f"{title}: {table}", frames, model)


def points(project: Project, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings of every point; one point without a sweep."""
    options = project.experiment.sweep
    grid = options.combinations() if options else ()
    return [{**settings, **each.settings} for each in grid] if options else [dict(settings)]


# The sweep


@dataclass(frozen=True, repr=False)
class SweepRun:
    """The results of a sweep.

    Parameters
    ----------
    folder : Path
        The folder of the stacked tables and the page, ``index.html``.
    points : tuple of mapping
        The points in order: column of a stacked table to its value at the point.
    tables : mapping of str to DataFrame
        The stacked tables by name; ``effects`` has the main effects of the settings, see `effects`.
    failed : tuple of tuple
        Number and name of each point that failed, and its message.
    notes : tuple of str
        Tables without rows, and where.
    conflicts : tuple of str
        Sheets and annotation pages that differ: these answers count as missing at all points.
    """

    folder: Path
    points: tuple[Mapping[str, Any], ...]
    tables: Mapping[str, pl.DataFrame]
    failed: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        head = f"{count_text(len(self.points), 'point')}, in {self.folder}"
        rows = [(name, f"{table.height:,}") for name, table in self.tables.items()]
        failed = [str(PointsFailed(self.failed, len(self.points)))] if self.failed else []
        table = text_table(head, ("table", "rows"), rows)
        return "\n".join([table, *failed, *self.notes, *self.conflicts])


def sweep(
    experiment: str | Path,
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    deliver: bool = False,
    strict: bool = False,
    report: bool = True,
    say: Callable[[str], object] = lambda _text: None,
) -> SweepRun:
    """Run an experiment at every point of its sweep and stack the collected tables.

    All points are checked before the first one runs. Stages with the same options run once, and an
    interrupted sweep continues when it runs again. A point that fails does not end the sweep: the
    tables have the others.

    Parameters
    ----------
    experiment : path
        The TOML file, with a section ``[sweep]``.
    runs, data, settings
        As for `check`.
    deliver : bool
        Write the sheets and lists of every point for people.
    strict : bool
        Treat data warnings as errors.
    report : bool
        Write a page on all points, unless ``[sweep]`` disables it.
    say : callable
        Receives a line per point, for example ``print``.

    Returns
    -------
    SweepRun
        The stacked tables have a column per setting.

    Raises
    ------
    ConfigError
        If the file has no sweep, or a point is wrong.
    PointsFailed
        If all points failed.
    WaitsForPerson
        If a collected table waits for people.
    """
    experiment, runs, base = Path(experiment), Path(runs), dict(settings or {})
    data = Path(data) if data else None
    project = check(experiment, runs=runs, data=data, settings=base)
    options = _section(project, experiment)
    identities = check_points(project, experiment, runs=runs, data=data, settings=base)
    last = {each: place for place, point in enumerate(identities) for each in point.items()}
    points = options.combinations()
    collection = _Collection(options, SweepReport() if report and options.report else None)
    repeated: set[str] = set()  # most remarks are the same at each point
    conflicts: dict[str, None] = {}
    for place, point in enumerate(points):
        say(f"[{place + 1}/{len(points)}] {point}")
        overrides = {**base, **point.settings}
        try:
            here = check(experiment, runs=runs, data=data, settings=overrides)
            ran = collection.reuse(point, here) if options.discard else None
            if ran is None:
                ran = _run_point(here, overrides, options, deliver=deliver, strict=strict, say=say)
                collection.add(point, ran)
        except (Interruption, WaitsForPerson):
            raise
        except LexassayError as error:
            say(f"  failed: {error}")
            collection.failed.append((f"point {place + 1} ({point})", str(error)))
            continue
        lines = [f"  {name}: {each}" for name, some in ran.remarks.items() for each in some]
        lines += [f"  {wait}" for wait in ran.waits]
        conflicts |= {str(wait): None for wait in ran.waits if isinstance(wait, OpenConflicts)}
        for line in dict.fromkeys(lines):
            if line not in repeated:
                say(line)
        repeated.update(lines)
        _discard(ran, [name for name, of in identities[place].items() if last[name, of] == place])
    if not collection.done:
        raise PointsFailed(collection.failed, len(points))
    whole, notes = collection.stack(project)
    for note in notes:
        say(note)
    contents = dict(files(whole))
    if collection.pages:
        contents |= collection.pages.files(
            collection.done, collection.stacks, collection.failed, whole.get(EFFECTS)
        )
    with project.pages.explain_errors("the sweep", ""):
        write_folder(project.pages, SWEEP, contents)
    columns = tuple(each.columns for each in points)
    return SweepRun(
        project.folder / SWEEP, columns, whole, tuple(collection.failed), notes, tuple(conflicts)
    )


def _shapes(
    project: Project, tables: Mapping[str, pl.DataFrame], point: Point
) -> dict[str, Shape | None]:
    """Return where the estimates of the stacked tables are."""
    shapes: dict[str, Shape | None] = {}
    for name, table in tables.items():
        if not names_findings(project, name):
            at = Run(project, {}).reference(name)
            model = project.nodes[at.stage].stage.outputs[at.table]
            shapes[name] = shape_of(model, table.drop(point.columns))
    return shapes


def _section(project: Project, experiment: Path) -> Sweep:
    if project.experiment.sweep is None:
        remedy = "add [sweep] with collect, and [sweep.over] with the values of an option"
        raise ConfigError(str(experiment), [Problem("sweep", "the section is missing", remedy)])
    return project.experiment.sweep


class _Collection:
    """What a sweep has collected so far."""

    def __init__(self, options: Sweep, pages: SweepReport | None) -> None:
        self._options, self.pages = options, pages
        self.stacks: dict[str, list[pl.DataFrame]] = {name: [] for name in options.collect}
        self.done: list[Point] = []
        self.failed: list[tuple[str, str]] = []
        self._empty: dict[str, list[str]] = {}

    def add(self, point: Point, ran: Run) -> None:
        """Add the tables of a point, all or none, and its part of the page."""
        tables = {name: ran.table(name) for name in self.stacks}
        if self.pages:
            self.pages.add(ran)
        self.done.append(point)
        where = self._options.where
        for name, table in tables.items():
            frame = add_setting_columns(table, where, point.columns)
            self.stacks[name].append(frame)
            if not frame.height:
                why = f"sweep.where keeps none of its rows ({where})" if table.height else "empty"
                self._empty.setdefault(f"{name}: {why}", []).append(str(point))

    def reuse(self, point: Point, project: Project) -> Run | None:
        """Add a point that is done, although tables have been discarded; None if it is not.

        Where the page needs a table that is gone, the point has to run again.
        """
        ran = _find_results(project, self._options)
        if len(ran.manifests) < len(project.nodes):
            return None
        try:
            self.add(point, ran)
        except (LexassayError, OSError):
            return None
        return ran

    def stack(self, project: Project) -> tuple[dict[str, pl.DataFrame], tuple[str, ...]]:
        """Return the stacked tables with the main effects, and notes on what is missing."""
        whole = {name: stack_tables(frames) for name, frames in self.stacks.items()}
        first = self.done[0]
        # The settings of a named point follow from its name.
        crossed = [name for name in first.columns if name not in first.together]
        moved, without = effects_of_sweep(whole, _shapes(project, whole, first), crossed)
        total = count_text(len(self.done), "point")
        empty = (
            f"{what} at {len(at):,} of {total}: {_some(at)}" for what, at in self._empty.items()
        )
        effects = {} if moved is None else {EFFECTS: moved}
        return {**whole, **effects}, (*empty, *without)


def _find_results(project: Project, options: Sweep) -> Run:
    """Return the stored results of a point; discarded stages count as done."""
    manifests = {step.node.name: step.manifest for step in steps(project, options.discard)}
    return Run(project, {name: manifest for name, manifest in manifests.items() if manifest})


def missing_points(
    project: Project,
    experiment: Path,
    *,
    runs: Path,
    data: Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return the names of the points of a sweep whose collected tables are not done.

    Parameters
    ----------
    project : Project
        The checked experiment.
    experiment, runs, data, settings
        As for `pipeline.api.run.check`.
    """
    options = project.experiment.sweep
    if options is None:
        return []
    names = []
    for point in options.combinations():
        overrides = {**(settings or {}), **point.settings}
        try:
            here = load(  # `check` would warn of absent files again for each point
                Path(experiment),
                runs=Path(runs),
                data=Path(data) if data else None,
                settings=overrides,
                also=check_report,
                stored=True,
            )
        except ConfigError:
            names.append(str(point))
            continue
        ran = _find_results(here, options)
        if not _collected_stages(ran, options) <= set(ran.manifests):
            names.append(str(point))
    return names


def _collected_stages(ran: Run, options: Sweep) -> set[str]:
    """Return the stages whose tables are collected; all if only the findings are."""
    names = [each for each in options.collect if not names_findings(ran.project, each)]
    return {ran.reference(name).stage for name in names} or set(ran.project.nodes)


def _discard(ran: Run, stages: Sequence[str]) -> None:
    """Delete the tables of stages that no later point needs; no other run may be reading them."""
    manifests = [ran.manifests[name] for name in stages if name in ran.manifests]
    storage = ran.project.storage
    if manifests:
        with artefacts.in_use(storage, (), alone=True), storage.explain_errors("the sweep", ""):
            for each in manifests:
                artefacts.discard(storage, each)


def _run_point(
    project: Project,
    settings: Mapping[str, Any],
    options: Sweep,
    *,
    deliver: bool,
    strict: bool,
    say: Callable[[str], object],
) -> Run:
    """Run one point; waiting for people matters only if a collected table depends on it."""

    def say_written(event: Event) -> None:
        text = str(event.facts.get("text", ""))
        if event.kind == "message" and text.startswith(("wrote ", "would write ")):
            say(f"  {event.stage}: {text}")

    result = run_stages(
        project, settings=settings, deliver=deliver, strict=strict, listeners=[say_written]
    )
    if result.waits and not _collected_stages(result, options) <= set(result.manifests):
        raise result.waits[0]
    return result
