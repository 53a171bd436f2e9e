"""Sheets and n-best lists for people, written outside the store, and annotators' progress."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.errors import DataError, StoreError
from pipeline.formats.spreadsheets import list_sheets, write_csv, write_xlsx
from pipeline.formats.spreadsheets.kinds import SHEETS, SheetKind
from pipeline.formats.spreadsheets.write import about_text, delivery_csv, delivery_xlsx
from pipeline.runner.graph import Node, Project
from pipeline.runner.inputs import SourceFile, entries, transfers
from pipeline.runner.store import artefacts
from pipeline.runner.store.artefacts import Manifest
from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.interface import Storage
from pipeline.stages.base import NBestList, Sheets
from pipeline.stages.inputs import first_round, reassign, with_asked_names

REMEDY = 'set another folder at the top of the experiment: sheets = "DIR"'
_MOST = 10_000
_DIGITS = 8
_CAUTION = (
    "These limits are simultaneous for all lists and so allow for the choice. The limits of the"
    " list alone do not: a list that was lucky in the sample is more likely to be chosen."
)


# Sheets for annotators; existing files are never overwritten


def deliver_sheets(
    project: Project, manifest: Manifest, sheets: Sheets, *, write: bool = True
) -> list[str]:
    """Write a sheet for each annotator who has rows that are in no sheet yet.

    Rows of existing sheets, completed or not, are not written again, nor candidates that enough
    annotators have labelled. A growing sample thus adds a sheet with the new rows only.

    Parameters
    ----------
    project : Project
        The experiment.
    manifest : Manifest
        The artefact of the stage that made the sheet.
    sheets : Sheets
        Folder and layout.
    write : bool
        Write them, or only return what would be written.

    Returns
    -------
    list of str
        Paths of the new sheets.
    """
    kind, places = SHEETS[sheets.format], project.sheets
    rows = artefacts.scan(project.storage, manifest, "sheet").collect()
    if not write:
        todo = _unwritten(rows, places.files(sheets.folder, kind.format), kind)
        folder = places.own / sheets.folder
        return [
            f"a sheet with {part.height:,} rows for {annotator} to {folder}"
            for annotator, part in _by_annotator(todo)
        ]
    storage = storage_at(places.own / sheets.folder, remedy=REMEDY)
    with storage.explain_errors("the sheets", ""), storage.lock(artefacts.LOCK, lambda: None):
        todo = _unwritten(rows, places.files(sheets.folder, kind.format), kind)
        return [
            write_sheet(part.sort("order"), annotator, sheets, storage, kind)
            for annotator, part in _by_annotator(todo)
        ]


def _by_annotator(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (annotator,), part in rows.sort("annotator").group_by("annotator", maintain_order=True):
        yield str(annotator), part


def still_asked(rows: pl.DataFrame, files: Sequence[SourceFile], kind: SheetKind) -> pl.DataFrame:
    """Return the rows without answers, and those that this annotator has answered.

    Candidates that enough annotators have labelled need no further answers. Cards that the
    coordinator gave to others are theirs.

    Parameters
    ----------
    rows : DataFrame
        The table ``sheet`` of a stage.
    files : sequence of SourceFile
        The existing sheets and decisions.
    kind : SheetKind
        Their kind.
    """
    if not files:
        return rows
    rows = reassign(rows, transfers(files))
    there = _read_answers(rows, files, kind)
    own = there.drop_nulls(kind.answer).select("id", "annotator").unique()
    mine = rows.join(own, on=["id", "annotator"], how="semi", maintain_order="left")
    short = _still_needed(rows, there, kind).join(own, on=["id", "annotator"], how="anti")
    return pl.concat([mine, short]).sort("annotator", "order")


def _unwritten(rows: pl.DataFrame, files: Sequence[SourceFile], kind: SheetKind) -> pl.DataFrame:
    """Drop the rows that are in a sheet, and those with enough answers.

    Cards that the coordinator gave to others go to their sheets.
    """
    if not files:
        return rows
    rows = reassign(rows, transfers(files))
    there = _read_answers(rows, files, kind)
    short = _still_needed(rows, there, kind)
    return short.join(there, on=["id", "annotator"], how="anti", maintain_order="left")


def _read_answers(rows: pl.DataFrame, files: Sequence[SourceFile], kind: SheetKind) -> pl.DataFrame:
    """Return id, annotator and answer of all rows of sheets and decisions."""
    people = rows["annotator"].unique().sort().to_list()
    answers = first_round(entries(files)).select("id", "annotator", kind.answer)
    return with_asked_names(answers, people).collect()


def _still_needed(rows: pl.DataFrame, there: pl.DataFrame, kind: SheetKind) -> pl.DataFrame:
    """Return the rows of candidates with fewer answers than required."""
    votes = there.drop_nulls(kind.answer).group_by("id").agg(given=pl.col("annotator").n_unique())
    requests = rows.with_columns(needed=pl.col("annotator").n_unique().over("id"))
    counted = requests.join(votes, on="id", how="left", maintain_order="left")
    short = counted.filter(pl.col("given").fill_null(0) < pl.col("needed"))
    return short.select(rows.columns)


def write_sheet(
    rows: pl.DataFrame, annotator: str, sheets: Sheets, storage: Storage, kind: SheetKind
) -> str:
    """Write an annotator's sheet under the next free number, and return its path.

    Parameters
    ----------
    rows : DataFrame
        Its rows in order, with existing answers and notes.
    annotator : str
        The annotator.
    sheets : Sheets
        Folder and layout.
    storage : Storage
        Of the folder of sheets.
    kind : SheetKind
        Its kind.
    """
    content = content_of(rows, annotator, sheets, kind)
    safe = "".join(each if each.isalnum() or each in "-_" else "_" for each in annotator)
    folder = Path(storage.location(""))
    used = {path.name[:3] for path in list_sheets(folder)}
    for number in range(1, _MOST):
        if f"{number:03d}" not in used:
            name = f"{number:03d}-{safe}.{sheets.kind}"
            with suppress(FileExistsError):
                storage.write(name, content, new=True)
                return storage.location(name)
    raise StoreError(f"{folder} has too many sheets: move those that are no longer used")


def content_of(rows: pl.DataFrame, whose: str, sheets: Sheets, kind: SheetKind) -> bytes:
    """Return the bytes of a sheet; see `write_sheet`."""
    layout = kind.layout(sheets.labels, rows.columns)
    empty = [name for name in (kind.answer, "note") if name not in rows.columns]
    table = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in empty)
    if sheets.kind == "csv":
        return write_csv(table, layout)
    return write_xlsx(
        table,
        layout,
        title=f"{sheets.folder}: {whose}",
        instructions=sheets.instructions,
        guidelines=sheets.guidelines,
    )


# The n-best list for the lexicographer; existing files are never overwritten


def deliver_list(
    project: Project, manifest: Manifest, n_best: NBestList, *, write: bool = True
) -> list[str]:
    """Write the chosen list unless an identical list exists.

    The file name has the measure, the size and part of a digest of the content: another list gets
    another file, and edited files are never changed.

    Parameters
    ----------
    project : Project
        The experiment.
    manifest : Manifest
        The artefact of the stage that made the list.
    n_best : NBestList
        Where it goes.
    write : bool
        Write it, or only return what would be written.

    Returns
    -------
    list of str
        Paths of the new files.
    """
    files = _list_files(project, manifest, n_best)
    storage, paths = storage_at(project.sheets.own / n_best.folder, remedy=REMEDY), []
    if not write:
        there = {entry.name for entry in storage.list()}
        return [f"the list {storage.location(each)}" for each in files if each not in there]
    with storage.explain_errors("the list", ""), storage.lock(artefacts.LOCK, lambda: None):
        for each, content in files.items():
            with suppress(FileExistsError):
                storage.write(each, content, new=True)
                paths.append(storage.location(each))
    return paths


def _list_files(project: Project, manifest: Manifest, n_best: NBestList) -> dict[str, bytes]:
    """Return the contents of the files of a list by name; none if nothing was chosen."""
    rows = artefacts.scan(project.storage, manifest, "list").sort("rank").collect()
    about = artefacts.scan(project.storage, manifest, "about").collect()
    if about.is_empty():
        return {}
    parts = pl.DataFrame()
    if "parts" in manifest.tables:
        parts = artefacts.scan(project.storage, manifest, "parts").collect()
    title = project.experiment.title or project.experiment.name
    choice = about.row(0, named=True)
    sources = _source_nodes(project, manifest.stage)
    facts = _about(choice, rows, {row["part"]: row for row in parts.to_dicts()}, sources)
    facts.append(("experiment", project.experiment.name))
    return _files(rows, choice, facts, title=title, kind=n_best.kind)


def _source_nodes(project: Project, stage: str) -> dict[str, Node]:
    """Return the stages whose tables the choice of a list was made from, by option."""
    choice = project.nodes[stage].inputs.get("choice")
    inputs = project.nodes[choice.stage].inputs if choice else {}
    return {option: project.nodes[reference.stage] for option, reference in inputs.items()}


def current_list(project: Project, node: Node, manifest: Manifest) -> tuple[str, list[str]]:
    """Return the delivered list that has the present results, and the other ones beside it.

    Parameters
    ----------
    project : Project
        The experiment.
    node : Node
        A stage.
    manifest : Manifest
        Its artefact.

    Returns
    -------
    str, list of str
        Names of files; empty if the stage delivers no list, or the list was not written. If other
        stages deliver lists to the same folder, the others are not mentioned.
    """
    delivery = node.stage.delivery(node.config)
    if not isinstance(delivery, NBestList):
        return "", []
    current = next(iter(_list_files(project, manifest, delivery)), "")
    storage = storage_at(project.sheets.own / delivery.folder, remedy=REMEDY)
    there = {entry.name for entry in storage.list()}
    is_list = re.compile(rf".+-\d+-best-[0-9a-f]{{{_DIGITS}}}\.(csv|xlsx)")
    deliveries = [each.stage.delivery(each.config) for each in project.nodes.values()]
    alone = sum(isinstance(d, NBestList) and d.folder == delivery.folder for d in deliveries) == 1
    others = sorted(name for name in there - {current} if alone and is_list.fullmatch(name))
    return current if current in there else "", others


def _files(
    rows: pl.DataFrame,
    choice: dict[str, Any],
    about: list[tuple[str, str]],
    *,
    title: str,
    kind: str,
) -> dict[str, bytes]:
    """Return the contents of the files by name."""
    digest = hashlib.sha256(delivery_csv(rows) + about_text(title, about)).hexdigest()[:_DIGITS]
    stem = f"{choice['measure']}-{choice['n']}-best-{digest}"
    if kind == "xlsx":
        return {f"{stem}.xlsx": delivery_xlsx(rows, title=title, about=about)}
    return {f"{stem}.csv": delivery_csv(rows), f"{stem}.txt": about_text(title, about)}


def _about(
    choice: dict[str, Any],
    rows: pl.DataFrame,
    parts: dict[str, dict[str, Any]],
    sources: Mapping[str, Node],
) -> list[tuple[str, str]]:
    """Return the facts about the list: how it was chosen, its estimates and their limits."""
    verdicts = dict(rows["verdict"].drop_nulls().value_counts().iter_rows())
    facts = [
        ("measure", str(choice["measure"])),
        ("list size", f"{choice['n']:,}"),
        ("chosen by", f"{choice['criterion']}, among {choice['considered']:,} lists"),
        ("category", _category(str(choice["category"]), sources)),
    ]
    judged = f"{verdicts.get('+', 0) + verdicts.get('-', 0):,} candidates"
    differ = f"; ? for {verdicts['?']:,} with conflicting judgements" if "?" in verdicts else ""
    signs = ("already judged", f"{judged}: + true positive, - false positive{differ}")
    if parts:
        return [*facts, *_about_parts(choice, parts), signs]
    recall = "unknown"
    if choice["recall"] is not None:
        recall = f"{_percent(choice['recall'])} of the true positives {_recall_base(sources)}"
    precision = (
        f"{_percent(choice['precision'])}, from {choice['n_sampled']:,} judged candidates of the"
        f" list, {choice['k_sampled']:,} of them true positives"
    )
    return [
        *facts,
        ("estimated precision", precision),
        *_about_limits(choice),
        ("estimated recall", recall),
        *_about_ties(rows),
        signs,
    ]


def _category(name: str, sources: Mapping[str, Node]) -> str:
    """Return a category with the labels of its true positives, if people gave labels."""
    judged = sources.get("judgements")
    if judged is None or judged.stage.name != "join.sheets":
        return name
    labels = getattr(judged.config, "categories", {}).get(name, ())
    return f"{name}: {', '.join(labels)}" if labels else name


def _recall_base(sources: Mapping[str, Node]) -> str:
    """Return the candidates that recall refers to: a pool excludes some."""
    ranks = sources.get("ranks")
    if ranks is None or ranks.stage.name != "score.pool":
        return "among the ranked candidates"
    depth = getattr(ranks.config, "depth", 0)
    return f"in the pool of the {depth:,} best of each measure; those outside are not counted"


def _about_ties(rows: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Say how many rows at the end have equal scores; candidates outside may have them, too."""
    tied = rows.filter(pl.col("score") == rows["score"][-1]).height
    if tied > 1:
        text = f"the last {tied:,} rows have the same score: they, and perhaps candidates that are"
        yield "equal scores", f"{text} not listed, are in random order"


def _about_parts(
    choice: dict[str, Any], parts: dict[str, dict[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield the facts about the two parts of a combination's list."""
    whole = parts["list"]
    if whole["n"] < choice["n"]:
        yield "listed", f"{whole['n']:,}; no other candidate is unjudged or a true positive"
    if "judged" in parts:
        yield "first", f"{parts['judged']['n']:,} candidates judged as true positives"
    rest = parts.get("unjudged")
    if rest is None:
        return
    yield "then", f"{rest['n']:,} unjudged candidates, the most probable first"
    known = "unknown" if rest["precision"] is None else _percent(rest["precision"])
    evidence = (
        f"{known}, from {rest['n_sampled']:,} judged candidates in the list of {rest['depth']:,} by"
        f" models that did not see their labels, {rest['k_sampled']:,} of them true positives"
    )
    yield "estimated precision of these", evidence
    yield from _about_limits(rest)
    if whole["precision"] is not None:
        limits = _limits(whole, "_simultaneous")
        yield "precision of the whole list", f"{_percent(whole['precision'])}, limits {limits}"


def _about_limits(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the limits of a row of `schemas.Choice` or `schemas.ListParts`."""
    level = f"{100 * row['confidence']:g} % {row.get('interval', 'clopper_pearson')}"
    yield "limits of the precision", f"{_limits(row, '_simultaneous')} ({level}). {_CAUTION}"
    yield "limits of this list alone", _limits(row, "")


def _limits(choice: dict[str, Any], which: str) -> str:
    return f"{_percent(choice[f'lower{which}'])} to {_percent(choice[f'upper{which}'])}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def deliver_results(project: Project, node: Node, manifest: Manifest, *, write: bool) -> list[str]:
    """Write the sheets or the list of a stage, and return a message for each.

    Parameters
    ----------
    project : Project
        The experiment.
    node : Node
        The stage.
    manifest : Manifest
        Its artefact.
    write : bool
        Write files; runs with overrides do not, as they would ask people for labels.

    Returns
    -------
    list of str
        A line for each new file, and one if other lists are beside the current one.
    """
    delivery = node.stage.delivery(node.config)
    if delivery is None:
        return []
    if isinstance(delivery, Sheets):
        new = deliver_sheets(project, manifest, delivery, write=write)
    else:
        new = deliver_list(project, manifest, delivery, write=write)
    if write:
        current, others = current_list(project, node, manifest)
        text = f"the current list is {current}; of other results: {', '.join(others)}"
        messages = [text] if others and current else []
        return [*(f"wrote {each}" for each in new), *messages]
    return [f"would write {each} (with --deliver)" for each in new]


# Sheets that earlier versions wrote elsewhere, moved to the folder of the experiment


def former_sheets(project: Project) -> Iterator[tuple[str, Path]]:
    """Yield every sheet in a former place, with the ``folder`` of its stage."""
    names = {folder.name for node in project.nodes.values() for folder in node.sheets.values()}
    for name in sorted(names):
        for folder in project.sheets.former_folders(name):
            yield from ((name, path) for path in list_sheets(folder))


def remarks(project: Project) -> list[str]:
    """Return a sentence for every former place that has sheets of the experiment."""
    places = sorted({str(path.parent) for _, path in former_sheets(project)})
    return [
        f"the sheets in {place} count, but the folder is now {project.sheets.own};"
        " move them with lexassay sheets CONFIG --move"
        for place in places
    ]


def move_sheets(project: Project) -> list[tuple[Path, Path]]:
    """Move all sheets from former places to the experiment's present folder.

    No file is overwritten: if a name is taken, the sheet gets another.

    Parameters
    ----------
    project : Project
        The experiment.

    Returns
    -------
    list of (Path, Path)
        Old and new path of each sheet.
    """
    moved = []
    for name, path in former_sheets(project):
        storage = storage_at(project.sheets.own / name, remedy=REMEDY)
        with storage.explain_errors("the sheets", ""), storage.lock(artefacts.LOCK, lambda: None):
            moved.append((path, _move(path, project.sheets.own / name)))
    return moved


def _move(path: Path, folder: Path) -> Path:
    """Link a file under the first free name in a folder, then remove its old name."""
    storage = storage_at(folder, remedy=REMEDY)
    for number in itertools.count(1):
        name = path.name if number == 1 else f"{path.stem} ({number}){path.suffix}"
        with suppress(FileExistsError):
            storage.link(str(path.absolute()), name)
            storage_at(path.parent).remove(path.name)
            break
    return folder / name


# The progress of annotators


@dataclass(frozen=True)
class SheetProgress:
    """The progress of one annotator.

    Parameters
    ----------
    folder : Path
        Folder of the sheets.
    annotator : str
        Who.
    asked : int
        Rows for this annotator.
    done : int
        Those with an answer, in any sheet of this annotator.
    changed : datetime or None
        Time when a sheet with answers of this annotator was last saved (UTC); None if none was.
    """

    folder: Path
    annotator: str
    asked: int
    done: int
    changed: datetime | None


def progress(project: Project, manifests: Mapping[str, Manifest]) -> Iterator[SheetProgress]:
    """Yield the progress of each annotator, by stage with sheets.

    Parameters
    ----------
    project : Project
        The experiment.
    manifests : mapping of str to Manifest
        The artefacts of the stages that are done.
    """
    for name, manifest in manifests.items():
        node = project.nodes[name]
        delivery = node.stage.delivery(node.config)
        if isinstance(delivery, Sheets):
            kind = SHEETS[delivery.format]
            rows = artefacts.scan(project.storage, manifest, "sheet").collect()
            files = [
                file
                for file in project.sheets.files(delivery.folder, kind.format)
                if not problem_of(file)
            ]
            yield from _progress(rows, files, kind.answer, project.sheets.own / delivery.folder)


_DOCUMENTS = {
    ".numbers", ".gsheet", ".doc", ".docx", ".odt", ".rtf", ".pdf", ".html", ".zip", ".7z", ".rar",
}  # fmt: skip
"""Extensions of what people return in place of a sheet."""


def other_documents(project: Project) -> Iterator[str]:
    """Yield the documents in the folders of sheets that are of no kind that can be read."""
    names = {folder.name for node in project.nodes.values() for folder in node.sheets.values()}
    for folder in sorted(project.sheets.own / name for name in names):
        with suppress(OSError):  # before there are sheets
            for path in sorted(folder.iterdir()):
                if path.suffix.lower() in _DOCUMENTS:
                    yield f"{path}: is not read: save the sheet as .xlsx, .ods or .csv"


def unreadable_sheets(project: Project) -> Iterator[str]:
    """Yield the unreadable files in the folders of sheets, with the reason."""
    yield from other_documents(project)
    folders = [folder for node in project.nodes.values() for folder in node.sheets.values()]
    for name, kind in sorted({(folder.name, folder.kind.format) for folder in folders}):
        for file in project.sheets.files(name, kind):
            if problem := problem_of(file):
                yield f"{file.path}: {problem.removeprefix(f'{file.path}: ')}"


def problem_of(file: SourceFile) -> str:
    """Return on one line why a file cannot be read; empty if it can."""
    try:
        problems = [each.problem for each in file.check()]
    except DataError as error:
        problems = str(error).splitlines()
    head, *examples = problems or [""]
    return f"{head} {examples[0].strip()}" if head.endswith(":") and examples else head


def _progress(
    rows: pl.DataFrame, files: Sequence[SourceFile], answer: str, folder: Path
) -> Iterator[SheetProgress]:
    rows = reassign(rows, transfers(files))
    people = rows["annotator"].unique().sort().to_list()
    columns = ("annotator", "id", answer)
    pairs = [
        (file, with_asked_names(first_round(file.scan()).select(columns), people).collect())
        for file in files
    ]
    saved: dict[str, list[float]] = {}
    for file, rows_read in pairs:
        # A sheet without answers has not been saved by anyone.
        for annotator in rows_read.drop_nulls(["annotator", answer])["annotator"].unique():
            saved.setdefault(annotator, []).append(_last_change(file.path))
    nothing = {"annotator": pl.String, "id": pl.String, answer: pl.String}
    every = pl.concat([pl.DataFrame(schema=nothing), *(rows_read for _, rows_read in pairs)])
    answered = every.drop_nulls(answer).select("annotator", "id").unique()
    complete = rows.join(answered, on=["annotator", "id"], how="semi")
    for annotator in people:
        times = saved.get(annotator)
        yield SheetProgress(
            folder,
            annotator,
            rows.filter(pl.col("annotator") == annotator).height,
            complete.filter(pl.col("annotator") == annotator).height,
            datetime.fromtimestamp(max(times), UTC) if times else None,
        )


def _last_change(path: Path) -> float:
    """Return when a file last changed, including SQLite's journal beside it."""
    beside = path.with_name(f"{path.name}-wal")
    return max(each.stat().st_mtime for each in (path, beside) if each.exists())
