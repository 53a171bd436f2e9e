"""The report of a run, and the page that compares two runs."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from pipeline import allocator, memory
from pipeline.api.report_options import ReportOptions, report_errors
from pipeline.api.results import (
    Run,
    colours_of,
    colours_of_names,
    missing_stages,
    names_of,
    past_run,
    shown_stage,
)
from pipeline.errors import ConfigError, DataError
from pipeline.findings.base import FINDERS, Finding, StageFinding, delivered_or_chosen
from pipeline.memory import LEAST
from pipeline.release import own_version
from pipeline.report.charts import CHARTS
from pipeline.report.diff_page import ComparedStage, DiffInput, Side, TableRows, diff_page
from pipeline.report.page import html
from pipeline.report.page.model import Record, ReportInput, ReportStage, Scalar
from pipeline.report.view import VIEWS, format_cell
from pipeline.runner.diff import (
    StageDifference,
    TableDifference,
    columns_text,
    settings_pairs,
    stages_differ,
)
from pipeline.runner.events import Listener, emit
from pipeline.runner.fingerprint import Digests, versions
from pipeline.runner.inputs import libraries
from pipeline.runner.store import artefacts, history
from pipeline.runner.store.digest import canonical, text_digest
from pipeline.runner.store.history import REPORT, RunRecord, write_folder
from pipeline.runner.store.interface import Storage
from schemas.errors import count_text

_MARK = ".fingerprint"
_CHARTS = 1.9
"""Memory of the libraries with those that draw, relative to that without."""


def add_report(run: Run, listeners: Sequence[Listener] = ()) -> Run:
    """Write the report of a run unless it is up to date, and return the run with it.

    Parameters
    ----------
    run : Run
        The results; stages without results are marked.
    listeners : sequence of callable
        Called with every event.
    """
    page = run.folder / REPORT / history.PAGE
    options = ReportOptions.model_validate(run.project.experiment.report)
    content = document(run, options)
    if not content.stages:
        return run
    mark = _fingerprint(run, content)
    if _read_mark(run) == mark:
        changed = history.changed_files(run.project.pages, REPORT)
        if not changed:
            emit(listeners, "message", text="the report is up to date")
            return replace(run, report=page)
        some = ", ".join(changed[:_LISTED]) + (", ..." if len(changed) > _LISTED else "")
        text = f"{count_text(len(changed), 'file')} of the report gone or changed: {some}"
        emit(listeners, "message", text=text)
    _require_memory(run)
    from pipeline.report.page.build import build  # noqa: PLC0415  charts are slow to import

    if run.project.experiment.run.memory is not None:
        allocator.release_memory()  # what the stages have freed
    unharmed = artefacts.report_damage(run.project.storage, run.manifests.values())
    with report_errors(), unharmed, memory.with_limit(_room(run)):
        files = build(replace(content, findings=run.all_findings))
    files[_ANSWERS] = findings_text(run.all_findings).encode()
    storage, flaws = run.project.pages, _flaws(run)
    marks = {_MARK: mark.encode(), **history.mark(flaws)}
    with storage.explain_errors("the report", ""):
        aside = history.keep(storage, flaws)
        backups = write_folder(storage, REPORT, {**files, **marks})
    emit(listeners, "message", text="the report is written")
    if backups:
        emit(listeners, "message", text=f"changed files are kept as {', '.join(backups)}")
    if aside:
        emit(listeners, "message", text=f"the previous report is kept in {aside}")
    return replace(run, report=page)


_LISTED = 3
"""Files of a report that a message names."""
_ANSWERS = "findings.txt"
"""The findings as text beside the page."""
_LEADING = {
    "delivered", "chosen", "combination", "throughout", "best", "highest", "comparison",
    "types", "tokens", "L*", "few judgements",
}  # fmt: skip
_FEWEST = 3
"""Findings before the first empty line, if there are as many."""


def findings_text(findings: Sequence[StageFinding]) -> str:
    r"""Return findings as text: the leading ones, then all by stage, a paragraph per question.

    A delivered list comes first, in place of the chosen list of its category.

    Parameters
    ----------
    findings : sequence of StageFinding
        In the order of the report; cautions are omitted.

    Examples
    --------
    >>> from pipeline.findings.base import Finding
    >>> found = [StageFinding(stage, Finding(about=about, text=f"{about} {stage}.", question="q"))
    ...          for stage in ("t1", "t2") for about in ("best", "worse", "baseline")]
    >>> print(findings_text(found), end="")
    best t1. [t1]
    best t2. [t2]
    worse t1. [t1]
    <BLANKLINE>
    t1
    best t1. worse t1. baseline t1.
    <BLANKLINE>
    t2
    best t2. worse t2. baseline t2.
    """
    answers = [each for each in findings if each.finding.kind == "answer"]
    by_stage: dict[str, dict[str, list[str]]] = {}
    for each in answers:
        paragraphs = by_stage.setdefault(each.stage, {})
        paragraphs.setdefault(each.finding.question, []).append(each.finding.text)
    lists = delivered_or_chosen(answers)

    def leads(finding: Finding) -> bool:
        return finding in lists if finding.about == "chosen" else finding.about in _LEADING

    first = sorted(
        answers,
        key=lambda each: (each.finding.about != "delivered", not leads(each.finding)),
    )
    leading = sum(leads(each.finding) for each in answers)
    lines = [
        f"{each.finding.text} [{each.stage}]" if len(by_stage) > 1 else each.finding.text
        for each in first[: max(leading, _FEWEST)]
    ]
    for stage, paragraphs in by_stage.items():
        lines += ["", stage, *(" ".join(texts) for texts in paragraphs.values())]
    return "".join(f"{line}\n" for line in lines)


def leading_findings(run: Run) -> list[str]:
    """Return the leading findings of a written report, those on the best measures first."""
    path = None if run.report is None else run.report.with_name(_ANSWERS)
    if path is None or not path.is_file():
        return []
    return path.read_text(encoding="utf-8").partition("\n\n")[0].splitlines()


def _require_memory(run: Run) -> None:
    """Refuse a report whose charts alone would exceed the limit; results are kept."""
    limit = run.project.experiment.run.memory
    room = libraries(1) * _CHARTS
    if limit is not None and limit < room:
        least = f"{math.ceil(room / (1 << 20))}MB"
        raise DataError(
            f"the report is not written: with its charts it needs about {least} of memory; the "
            f"limit is {memory.format_bytes(limit)}\nAll results are kept. Set [run] memory = "
            f'"{least}" and run again, which only writes the report; or add --no-report.'
        )


def _room(run: Run) -> int | None:
    """Return how much memory a report may use besides the libraries."""
    memory = run.project.experiment.run.memory
    return None if memory is None else max(LEAST, memory - libraries(1))


def _flaws(run: Run) -> frozenset[str]:
    """Return what makes the report less complete than that of a full run."""
    settings = run.record.settings if run.record else {}
    return history.flaws(run.remarks, run.missing, settings)


def document(run: Run, options: ReportOptions) -> ReportInput:
    """Return the content of the report of a run."""
    experiment = run.project.experiment
    names = list(options.stages or run.project.nodes)
    every = [shown_stage(run, name, options) for name in names]
    stages = [stage for stage in every if stage.view.use in VIEWS]
    if not options.stages:
        stages.sort(key=lambda stage: VIEWS.get(stage.view.use).place)
    return ReportInput(
        title=experiment.title or experiment.name,
        description=experiment.description.strip(),
        stages=stages,
        provenance=provenance(run),
        missing=run.missing,
        remarks=run.remarks,
        most_rows=options.most_rows,
        style=options.style,
        slots=colours_of(run, options.colours),
        pictures=options.pictures,
    )


def provenance(run: Run) -> dict[str, Record]:
    """Return where the results come from, without paths, names or times of this machine."""
    files: list[Mapping[str, Scalar]] = [
        {"stage": stage, "file": file.label, "format": file.format.name, "SHA-256": digest}
        for stage, options in run.project.files.items()
        if stage in run.manifests
        for option, paths in options.items()
        for file, digest in zip(
            paths, run.manifests[stage].ingredients["inputs"][option]["files"], strict=True
        )
    ]
    stages: list[Mapping[str, Scalar]] = [
        {
            "table": f"{name}.{table}",
            "kind": manifest.use,
            "rows": record.rows,
            "fingerprint": manifest.fingerprint[:24],
            "digest": record.digest[:24],
        }
        for name, manifest in run.manifests.items()
        for table, record in manifest.tables.items()
    ]
    records: dict[str, Record] = {"Experiment": run.project.text}
    skipped: list[Mapping[str, Scalar]] = [
        {
            "stage": name,
            "skipped": manifest.skipped,
            "sentences": manifest.skipped_sentences,
            "tokens": manifest.skipped_tokens,
            "for example": "; ".join(manifest.skipped_examples),
        }
        for name, manifest in run.manifests.items()
        if manifest.skipped
    ]
    if skipped:
        records["Skipped input"] = skipped
    settings = run.record.settings if run.record else {}
    if settings:
        records["Overrides"] = {path: str(value) for path, value in settings.items()}
    return records | {"Tables": stages, "Input files": files, "Versions": _versions(run)}


def _versions(run: Run) -> dict[str, str]:
    """Return the versions of lexassay, those that computed the tables, Python and libraries."""
    own = own_version()
    writers = sorted({manifest.lexassay or "0.1" for manifest in run.manifests.values()} - {own})
    tables = f", tables by {', '.join(writers)}" if writers else ""
    own_and_python = {"lexassay": own + tables, "Python": platform.python_version()}
    return own_and_python | versions() | {"pandera": version("pandera")} | html.versions()


def _fingerprint(run: Run, report: ReportInput) -> str:
    # Views and charts of extensions come from registries: this module does not import them.
    modules = {VIEWS.place(each.view.use) for each in report.stages}
    modules |= {FINDERS.place(name) for name in FINDERS}
    modules |= {
        each for each in CHARTS.modules_by_name().values() if not each.startswith("pipeline.")
    }
    digests = Digests(run.project.storage)
    content = {
        "report": run.project.experiment.report,
        "stages": [each.view.name for each in report.stages],
        "provenance": canonical(report.provenance),
        "missing": dict(report.missing),
        "remarks": {
            name: [each.model_dump(mode="json") for each in group]
            for name, group in report.remarks.items()
        },
        "title": [report.title, report.description, *(each.view.title for each in report.stages)],
        "assets": html.digest(),
        "colours": report.slots,
        "delivered": [each.view.delivered for each in report.stages],
        "code": digests.code([*modules, "pipeline.report.page.build"]),
    }
    digests.keep()
    return text_digest(canonical(content))


def _read_mark(run: Run) -> str:
    try:
        return (run.folder / REPORT / _MARK).read_text()
    except OSError:
        return ""


# The page that compares two runs.


LONGEST = 300
"""Characters to show of a value."""


class _Both(NamedTuple):
    """The two runs, and the sections of their reports."""

    runs: tuple[Run, Run]
    options: tuple[ReportOptions, ReportOptions]


def compare(
    first: tuple[Storage, RunRecord], second: tuple[Storage, RunRecord], *, runs: Path
) -> bytes:
    """Return an HTML page that compares two runs.

    Results that are no longer in the store are named, not compared.

    Parameters
    ----------
    first, second : (Storage, RunRecord)
        Store and record of each run, from `history.find`.
    runs : Path
        Folder of all results.

    Raises
    ------
    ConfigError
        If this version cannot read the experiment of a run.
    """
    both = _Both(*zip(*(_open_run(each, runs) for each in (first, second)), strict=True))
    stages = list(stages_differ(first, second))
    differing = {each.stage for each in stages}
    names = sorted({name for run in both.runs for name in names_of(run)})
    colours = both.options[0].colours | both.options[1].colours
    every = dict.fromkeys([*first[1].stages, *second[1].stages])
    return diff_page(
        DiffInput(
            first=_side(both.runs[0]),
            second=_side(both.runs[1]),
            settings=[
                (path, _value(one), _value(other))
                for path, one, other in settings_pairs(first[1].content, second[1].content)
            ],
            stages=[_stage(each, both) for each in stages],
            equal=tuple(name for name in every if name not in differing),
            style=both.options[1].style,
            slots=colours_of_names(names, colours),
            provenance={
                f"Experiment of the {side} run": _text(record.content)
                for side, (_, record) in (("first", first), ("second", second))
            },
        )
    )


def _open_run(each: tuple[Storage, RunRecord], runs: Path) -> tuple[Run, ReportOptions]:
    run = past_run(*each, runs=runs)
    try:
        return run, ReportOptions.model_validate(run.project.experiment.report)
    except ValueError:  # from an older version
        return run, ReportOptions()


def _side(run: Run) -> Side:
    record = run.record
    if record is None:
        return Side(run.project.experiment.name, "")
    when = record.started.replace("T", " ")[:16]
    name = f"{record.experiment}:{record.id}"
    return Side(
        name, f"started {when}, {record.outcome}", _findings(run), tuple(missing_stages(run))
    )


def _findings(run: Run) -> tuple[StageFinding, ...]:
    """Return the findings of a run; none if this version cannot read its tables."""
    try:
        return run.all_findings
    except (ConfigError, pl.exceptions.PolarsError):
        return ()


def _stage(each: StageDifference, both: _Both) -> ComparedStage:
    sides = (_report_stage(each.stage, both.runs[0], both.options[0]),
             _report_stage(each.stage, both.runs[1], both.options[1]))  # fmt: skip
    tables = tuple(_table_rows(table) for table in each.tables)
    return ComparedStage(each.stage, _title(each.stage, both), each.reasons, tables, sides)


def _title(stage: str, both: _Both) -> str:
    """Return the title of a stage, with its name if that differs."""
    for run in reversed(both.runs):
        if node := run.project.nodes.get(stage):
            known = node.stage.name in VIEWS
            title = node.title or (VIEWS.get(node.stage.name).title if known else "")
            return f"{title} ({stage})" if title else stage
    return stage


def _report_stage(stage: str, run: Run, options: ReportOptions) -> ReportStage | None:
    """Return a stage for the report; None if it has no view or no results."""
    if stage not in run.manifests or (options.stages and stage not in options.stages):
        return None
    try:
        return shown_stage(run, stage, options)
    except ValueError:  # options of a view from an older version
        return shown_stage(run, stage, ReportOptions())


def _table_rows(difference: TableDifference) -> TableRows:
    return TableRows(
        difference.table,
        difference.only_first,
        difference.only_second,
        difference.changed,
        tuple(_examples(difference)),
        columns_text(difference.columns),
    )


def _examples(difference: TableDifference) -> Iterator[tuple[str, str, str]]:
    for what, keys in (("removed", difference.removed), ("new", difference.new)):
        yield from ((what, _row(key), "") for key in keys)
    for each in difference.examples:
        values = (
            f"{name}: {format_cell(a)} → {format_cell(b)}" for name, (a, b) in each.values.items()
        )
        yield "changed", _row(each.key), "; ".join(values)


def _row(key: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {format_cell(value)}" for name, value in key.items())


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _text(content: Mapping[str, Any] | Sequence[Any]) -> str:
    return json.dumps(content, indent=1, default=str, ensure_ascii=False)
