"""How far people are with their sheets, and when each sheet changed last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from pipeline.errors import DataError
from pipeline.formats.sheets.kinds import SHEETS
from pipeline.runner.config.project import Project
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.store import store
from pipeline.runner.store.manifest import Manifest
from pipeline.stages.base import Sheets
from pipeline.stages.people import as_asked, first_round


@dataclass(frozen=True)
class SheetProgress:
    """How far one person is.

    Parameters
    ----------
    folder : Path
        Where the sheets lie.
    annotator : str
        Who.
    asked : int
        Rows that this person is asked for.
    done : int
        Those with an answer, in any sheet of this person.
    changed : datetime or None
        When a sheet with answers of this person was saved last (UTC); None if there is none.
    """

    folder: Path
    annotator: str
    asked: int
    done: int
    changed: datetime | None


def progress(project: Project, manifests: Mapping[str, Manifest]) -> Iterator[SheetProgress]:
    """Yield how far everybody is, for each stage whose sheets have been laid out.

    Parameters
    ----------
    project : Project
        The experiment.
    manifests : mapping of str to Manifest
        The artefacts of the stages that are done.
    """
    for name, manifest in manifests.items():
        node = project.nodes[name]
        wanted = node.stage.delivery(node.config)
        if isinstance(wanted, Sheets):
            kind = SHEETS[wanted.format]
            rows = store.scan(project.storage, manifest, "sheet").collect()
            files = [
                file
                for file in project.sheets.files(wanted.folder, kind.format)
                if not problem_of(file)
            ]
            yield from _progress(rows, files, kind.answer, project.sheets.own / wanted.folder)


def left_aside(project: Project) -> Iterator[str]:
    """Yield what is wrong with each file in the folders of sheets that is not looked at."""
    folders = [folder for node in project.nodes.values() for folder in node.sheets.values()]
    for name, kind in sorted({(folder.name, folder.kind.format) for folder in folders}):
        for file in project.sheets.files(name, kind):
            if problem := problem_of(file):
                yield f"{file.path}: {problem.removeprefix(f'{file.path}: ')}"


def problem_of(file: SourceFile) -> str:
    """Return why a file is not looked at, on a line; empty for a sheet that can be read."""
    try:
        found = [each.problem for each in file.check()]
    except DataError as error:
        found = str(error).splitlines()
    return next(iter(found), "")


def _progress(
    rows: pl.DataFrame, files: Sequence[SourceFile], answer: str, folder: Path
) -> Iterator[SheetProgress]:
    people = rows["annotator"].unique().sort().to_list()
    columns = ("annotator", "id", answer)
    read = [
        (file, as_asked(first_round(file.scan()).select(columns), people).collect())
        for file in files
    ]
    saved: dict[str, list[float]] = {}
    for file, entries in read:
        # A sheet without any answer is as it was written, not as somebody saved it.
        for annotator in entries.drop_nulls(["annotator", answer])["annotator"].unique():
            saved.setdefault(annotator, []).append(_last_change(file.path))
    nothing = {"annotator": pl.String, "id": pl.String, answer: pl.String}
    every = pl.concat([pl.DataFrame(schema=nothing), *(entries for _, entries in read)])
    answered = every.drop_nulls(answer).select("annotator", "id").unique()
    done = rows.join(answered, on=["annotator", "id"], how="semi")
    for annotator in people:
        times = saved.get(annotator)
        yield SheetProgress(
            folder,
            annotator,
            rows.filter(pl.col("annotator") == annotator).height,
            done.filter(pl.col("annotator") == annotator).height,
            datetime.fromtimestamp(max(times), UTC) if times else None,
        )


def _last_change(path: Path) -> float:
    """Return when a file changed last; what SQLite has not put into its file stands beside it."""
    beside = path.with_name(f"{path.name}-wal")
    return max(each.stat().st_mtime for each in (path, beside) if each.exists())
