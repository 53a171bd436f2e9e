"""The report of a run: provenance, pages."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version

from pipeline import allocator, memory
from pipeline.api.results import ReportOptions, Run, colours_of, report_errors, shown_stage
from pipeline.findings.base import FINDERS, StageFinding
from pipeline.kernels.partitions import LEAST
from pipeline.report.charts import CHARTS
from pipeline.report.page import html
from pipeline.report.page.model import Record, ReportInput, Scalar
from pipeline.report.view import VIEWS
from pipeline.runner.events import Listener, tell
from pipeline.runner.fingerprint import Digests, versions
from pipeline.runner.inputs import libraries
from pipeline.runner.store import artefacts, history
from pipeline.runner.store.digest import canonical, text_digest
from pipeline.runner.store.history import REPORT, write_folder

FOLDER = REPORT
PAGE = history.PAGE
_MARK = ".fingerprint"


def add_report(run: Run, listeners: Sequence[Listener] = ()) -> Run:
    """Write the report of a run unless it is up to date, and return the run with it.

    Parameters
    ----------
    run : Run
        The results; stages without results are marked.
    listeners : sequence of callable
        Called with every event.
    """
    page = run.folder / FOLDER / PAGE
    options = ReportOptions.model_validate(run.project.experiment.report)
    content = document(run, options)
    if not content.stages:
        return run
    mark = _fingerprint(run, content)
    if _read_mark(run) == mark and page.is_file():
        tell(listeners, "message", text="the report is up to date")
        return replace(run, report=page)
    from pipeline.report.page.build import build  # noqa: PLC0415  charts are slow to import

    if run.project.experiment.run.memory is not None:
        allocator.release_memory()  # what the stages have freed
    unharmed = artefacts.report_damage(run.project.storage, run.manifests.values())
    with report_errors(), unharmed, memory.with_limit(_room(run)):
        files = build(replace(content, findings=run.told))
    files[_ANSWERS] = findings_text(run.told).encode()
    storage, found = run.project.pages, _flaws(run)
    marks = {_MARK: mark.encode(), **history.mark(found)}
    with storage.guarded("the report", ""):
        aside = history.keep(storage, found)
        kept = write_folder(storage, FOLDER, {**files, **marks})
    tell(listeners, "message", text="the report is written")
    if kept:
        tell(listeners, "message", text=f"kept beside it, as it was edited: {', '.join(kept)}")
    if aside:
        tell(listeners, "message", text=f"the previous report is kept in {aside}")
    return replace(run, report=page)


_ANSWERS = "findings.txt"
"""The findings as text beside the page."""
_LEADING = {
    "delivered", "chosen", "combination", "throughout", "best", "highest", "held against it",
    "types", "tokens", "L*",
}  # fmt: skip
_FEWEST = 3
"""Findings before the first empty line, if there are as many."""


def findings_text(told: Sequence[StageFinding]) -> str:
    r"""Return findings as text: the leading ones, then all by stage, a paragraph per question.

    A delivered list comes first, in place of the chosen list that it was made from.

    Parameters
    ----------
    told : sequence of StageFinding
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
    answers = [each for each in told if each.finding.kind == "answer"]
    by_stage: dict[str, dict[str, list[str]]] = {}
    for each in answers:
        paragraphs = by_stage.setdefault(each.stage, {})
        paragraphs.setdefault(each.finding.question, []).append(each.finding.text)
    delivered = any(each.finding.about == "delivered" for each in answers)
    leads = _LEADING - {"chosen"} if delivered else _LEADING
    first = sorted(
        answers,
        key=lambda each: (each.finding.about != "delivered", each.finding.about not in leads),
    )
    leading = sum(each.finding.about in leads for each in answers)
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
    shown = [stage for stage in every if stage.view.use in VIEWS]
    if not options.stages:
        shown.sort(key=lambda stage: VIEWS.get(stage.view.use).place)
    return ReportInput(
        title=experiment.title or experiment.name,
        description=experiment.description.strip(),
        stages=shown,
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
            "skipped": made.skipped,
            "sentences": made.skipped_sentences,
            "tokens": made.skipped_tokens,
            "for example": "; ".join(made.skipped_examples),
        }
        for name, made in run.manifests.items()
        if made.skipped
    ]
    if skipped:
        records["Skipped input"] = skipped
    settings = run.record.settings if run.record else {}
    if settings:
        records["Overrides"] = {path: str(value) for path, value in settings.items()}
    return records | {"Tables": stages, "Input files": files, "Versions": _versions()}


def _versions() -> dict[str, str]:
    own = {"lexassay": version("lexassay"), "Python": platform.python_version()}
    return own | versions() | {"pandera": version("pandera")} | html.versions()


def _fingerprint(run: Run, made: ReportInput) -> str:
    # Views and charts of extensions come from registries: this module does not import them.
    modules = {VIEWS.place(each.view.use) for each in made.stages}
    modules |= {FINDERS.place(name) for name in FINDERS}
    modules |= {each for each in CHARTS.registered().values() if not each.startswith("pipeline.")}
    digests = Digests(run.project.storage)
    content = {
        "report": run.project.experiment.report,
        "stages": [each.view.name for each in made.stages],
        "provenance": canonical(made.provenance),
        "missing": dict(made.missing),
        "remarks": {
            name: [each.model_dump(mode="json") for each in found]
            for name, found in made.remarks.items()
        },
        "title": [made.title, made.description, *(each.view.title for each in made.stages)],
        "assets": html.digest(),
        "colours": made.slots,
        "code": digests.code([*modules, "pipeline.report.page.build"]),
    }
    digests.keep()
    return text_digest(canonical(content))


def _read_mark(run: Run) -> str:
    try:
        return (run.folder / FOLDER / _MARK).read_text()
    except OSError:
        return ""
