"""The annotation tasks of a stage, and the questions that their answers decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from pipeline.annotate.backups import newest_backup
from pipeline.api.results import open_run
from pipeline.api.run import check, run
from pipeline.errors import (
    ConfigError,
    LexassayError,
    Problem,
    StoreError,
    WaitsForPerson,
    did_you_mean,
    is_present,
)
from pipeline.formats import annotation_log
from pipeline.formats.annotation_log import TaskRequest, check_log, open_log, update_tasks
from pipeline.formats.spreadsheets.kinds import SHEETS
from pipeline.runner.delivery import still_asked
from pipeline.runner.graph import RUNS, Node, Project
from pipeline.runner.store import artefacts
from pipeline.runner.store.artefacts import Manifest
from pipeline.runner.store.backends import require_local
from pipeline.stages.base import Sheets
from pipeline.stages.lexicon.sample import JoinKeying


@dataclass(frozen=True)
class SheetWork:
    """The work of a stage that lays out sheets, while its pages are served.

    Parameters
    ----------
    project : Project
        The experiment.
    stage : str
        The stage with the sheets.
    kind : str
        annotation: a label for each candidate; keying: the forms of each lemma.
    title, instructions : str
        Title above the cards, and instructions for annotators.
    labels : tuple of str
        The labels, in the order of their keys; none for keying.
    annotators : tuple of str
        The annotators.
    folder : Path
        Folder of the sheets and the decisions.
    guidelines : mapping of str to str
        Label to when it is given.
    categories : mapping of str to sequence of str
        Category to its labels; none if no stage joins the answers.
    keys : mapping of str to str
        Label to the key that gives it, where it is not the first letter.
    keying : JoinKeying or None
        Options of the stage that joins the keyed forms; None if there is none, or several.
    language : str
        Code of the language of units and examples, for screen readers and hyphenation; or empty.
    """

    project: Project
    stage: str
    kind: Literal["annotation", "keying"]
    title: str
    instructions: str
    labels: tuple[str, ...]
    annotators: tuple[str, ...]
    folder: Path
    guidelines: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    keying: JoinKeying | None = None
    language: str = ""

    @property
    def wanted(self) -> Sheets:
        """Layout of the stage's sheets."""
        node = self.project.nodes[self.stage]
        layout = node.stage.delivery(node.config)
        if not isinstance(layout, Sheets):
            raise TypeError(f"stage {self.stage} makes no sheets")
        return layout

    @property
    def database(self) -> Path:
        """The file of the decisions."""
        return self.folder / annotation_log.NAME


# Opening the task of a stage, and its items in the log

_KINDS = {"annotation_sheet": "annotation", "keying_sheet": "keying"}


def open_work(
    experiment: str | Path,
    sheet: str = "",
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    annotators: Sequence[str] = (),
    language: str = "",
) -> SheetWork:
    """Return the work of a stage with sheets; run the stages that it depends on if needed.

    Parameters
    ----------
    experiment : path
        The TOML file.
    sheet : str
        The stage, or the folder of its sheets; the only one if not given.
    runs, data
        As for `pipeline.api.run.check`.
    annotators : sequence of str
        Some of the annotators of the experiment; all if not given.
    language : str
        Code of the language of the units; that of the corpus if not given.

    Raises
    ------
    ConfigError
        If the stage or an annotator is unknown, or none is named and there are several.
    StoreError
        If the results are to lie on an object store.
    """
    require_local(Path(runs), "annotate")
    project = check(experiment, runs=runs, data=data)
    stage, layout = _find_sheet(project, sheet)
    manifest = _ensure_made(project, stage, experiment, runs=runs, data=data)
    rows = artefacts.scan(project.storage, manifest, "sheet").collect()
    folder = project.sheets.own / layout.folder
    work = SheetWork(
        project,
        stage,
        "keying" if _KINDS[layout.format] == "keying" else "annotation",
        project.nodes[stage].title or project.experiment.title or project.experiment.name,
        layout.instructions,
        layout.labels,
        _check_annotators(annotators, tuple(rows["annotator"].unique().sort()), folder),
        folder,
        guidelines=layout.guidelines,
        categories=_categories(project, stage),
        keying=_only_keying(project, layout.folder),
        language=language or _language(project, stage),
    )
    _check_log(work.database)
    refresh(work, rows)
    if annotators:
        return work
    with open_log(work.database) as connection:
        added = annotation_log.added_annotators(connection)
    return replace(work, annotators=tuple(dict.fromkeys([*work.annotators, *added])))


def log_of(
    experiment: str | Path,
    sheet: str = "",
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
) -> Path:
    """Return the path of the annotation log of a stage, without reading it; see `open_work`."""
    require_local(Path(runs), "annotate")
    project = check(experiment, runs=runs, data=data, stored=True)
    return project.sheets.own / _find_sheet(project, sheet)[1].folder / annotation_log.NAME


def _check_log(database: Path) -> None:
    """Refuse a damaged log, and to begin a new one beside the backups of another."""
    if is_present(database):
        check_log(database)
    elif newest := newest_backup(database):
        what = f"the file is missing, but {newest[1].parent} has backups of it"
        remedy = "Restore the newest: lexassay annotate CONFIG --restore newest"
        other = "To begin anew, move the folder of the backups elsewhere."
        raise StoreError(f"{database}: {what}\n{remedy}\n{other}")


def refresh(work: SheetWork, rows: pl.DataFrame) -> None:
    """Update the tasks in the log to the current table of sheets."""
    kind = SHEETS[f"{work.kind}_sheet"]
    table = still_asked(rows, work.project.sheets.files(work.folder.name, kind.format), kind)
    tasks = table.select("annotator", "id", "order").rows()
    with open_log(work.database) as connection:
        update_tasks(
            connection, _item_contents(rows, work.kind), [TaskRequest(*each) for each in tasks]
        )


def _item_contents(rows: pl.DataFrame, kind: str) -> dict[str, dict[str, Any]]:
    """Return the displayed content of each item, by id."""
    around = {"annotator", "order", "id", "lexicon_forms", "keyed_forms"}
    units = [
        name for name in rows.columns if name not in around and not name.startswith("example_")
    ]
    examples = [name for name in rows.columns if name.startswith("example_")]
    contents: dict[str, dict[str, Any]] = {}
    for row in rows.unique("id").iter_rows(named=True):
        one: dict[str, Any] = {
            "units": {name: row[name] for name in units if row[name] is not None}
        }
        if kind == "keying":
            one["lexicon_forms"] = row.get("lexicon_forms")
            if row.get("keyed_forms"):
                one["keyed_forms"] = row["keyed_forms"]
        else:
            one["examples"] = [row[name] for name in examples if row[name] is not None]
        contents[row["id"]] = one
    return contents


def _find_sheet(project: Project, sheet: str) -> tuple[str, Sheets]:
    """Return the stage with its sheets."""
    there: dict[str, Sheets] = {}
    for name, node in project.nodes.items():
        layout = node.stage.delivery(node.config)
        if isinstance(layout, Sheets):
            there[name] = layout
    matches = [name for name, each in there.items() if sheet in {name, each.folder}]
    if not sheet and len(there) == 1:
        matches = list(there)
    if len(matches) == 1:
        return matches[0], there[matches[0]]
    if not there:
        what, remedy = "no stage makes sheets", "add a stage sheet.annotation"
    elif sheet:
        what, remedy = "no stage makes such sheets", did_you_mean(sheet, there)
    else:
        what, remedy = "several stages make sheets", f"name one: {', '.join(there)}"
    raise ConfigError(project.experiment.name, [Problem(sheet or "stages", what, remedy)])


def _ensure_made(
    project: Project,
    stage: str,
    experiment: str | Path,
    *,
    runs: str | Path,
    data: str | Path | None,
) -> Manifest:
    """Return the result of the stage; run the experiment if there is none."""
    manifest = open_run(project).manifests.get(stage)
    if manifest is None:
        # People are given pages here; `lexassay run` writes sheets.
        waits: Sequence[WaitsForPerson] = ()
        try:
            waits = run(experiment, runs=runs, data=data, deliver=False, report=False).waits
        except LexassayError:  # possibly in a stage that depends on the labels
            if stage not in open_run(project).manifests:
                raise
        manifest = open_run(project).manifests.get(stage)
        if manifest is None:
            raise waits[0] if waits else WaitsForPerson(stage, 0, "label", {}, [])
    return manifest


def _check_annotators(
    annotators: Sequence[str], people: Sequence[str], folder: Path
) -> tuple[str, ...]:
    """Return who has a page; those added in the log have one in any case."""
    known = [*people]
    if annotators:
        with open_log(folder / annotation_log.NAME) as connection:
            known += annotation_log.added_annotators(connection)
    problems = [
        Problem(
            "--annotators",
            f"{name!r} is not an annotator of the experiment",
            f"{did_you_mean(name, known)}; or add the name with --add {name}",
        )
        for name in annotators
        if name not in known
    ]
    if problems:
        raise ConfigError("--annotators", problems)
    return tuple(annotators or people)


def _categories(project: Project, stage: str) -> Mapping[str, Sequence[str]]:
    """Return the categories of the labels, if a stage joins the answers."""
    for node in project.nodes.values():
        if any(each.stage == stage for each in node.inputs.values()):
            categories = getattr(node.config, "categories", None)
            if categories:
                return dict(categories)
    return {}


def _language(project: Project, stage: str) -> str:
    """Return the language of the files that the sheet depends on, if they name one."""
    languages = {
        str(source.options["language"])
        for name in _dependencies(project.nodes, [stage])
        for source in project.nodes[name].sources.values()
        if source.options.get("language")
    }
    return languages.pop() if len(languages) == 1 else ""


def _only_keying(project: Project, folder: str) -> JoinKeying | None:
    """Return the options of the stage that joins the keyed forms in a folder, if it is one."""
    configs = [
        node.config
        for node in project.nodes.values()
        if isinstance(node.config, JoinKeying)
        and any(each.name == folder for each in node.sheets.values())
    ]
    return configs[0] if len(configs) == 1 else None


# Stages that the answers of a sheet decide

EVALUATING = ("evaluate.precision", "evaluate.designed", "evaluate.comparison")
"""The kinds of stages with limits of declared questions."""


@dataclass(frozen=True)
class SheetQuestions:
    """The questions that the answers of a sheet decide.

    Parameters
    ----------
    project : Project
        The experiment without all that the questions do not depend on, and without the stages that
        answer them; missing labels are not waited for.
    joins : tuple of str
        The stages that read the sheet's folder.
    stages : tuple of Node
        The stages that answer the questions, in the order of the experiment.
    settings : mapping
        The overrides.
    """

    project: Project
    joins: tuple[str, ...]
    stages: tuple[Node, ...]
    settings: Mapping[str, Any]


def questions_of_sheet(work: SheetWork, root: Path) -> SheetQuestions:
    """Return the questions of a sheet, for estimates from the judgements so far.

    Parameters
    ----------
    work : SheetWork
        The sheet.
    root : Path
        The folder of what is made meanwhile; the project's own results stay as they are.
    """
    nodes = work.project.nodes
    folder = getattr(nodes[work.stage].config, "folder", None)
    joins = tuple(
        name
        for name, node in nodes.items()
        if node.stage.name == "join.sheets"
        and any(each.name == folder for each in node.sheets.values())
    )
    stages = tuple(
        node
        for node in nodes.values()
        if node.stage.name in EVALUATING
        and "judgements" in node.inputs
        and node.inputs["judgements"].stage in joins
    )
    names = _dependencies(nodes, (ref.stage for node in stages for ref in node.inputs.values()))
    partial = {
        name: replace(node, config=node.config.model_copy(update={"partial": True}))
        if name in joins
        else node
        for name, node in nodes.items()
        if name in names
    }
    settings = {f"stages.{name}.partial": True for name in joins}
    return SheetQuestions(replace(work.project, nodes=partial, root=root), joins, stages, settings)


def _dependencies(nodes: Mapping[str, Node], first: Iterable[str]) -> set[str]:
    names: set[str] = set()
    todo = list(first)
    while todo:
        name = todo.pop()
        if name not in names:
            names.add(name)
            todo += [ref.stage for ref in nodes[name].inputs.values()]
    return names
