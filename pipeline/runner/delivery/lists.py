"""Give an n-best list to the lexicographer: outside the store, never over a file that is there."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Any

import polars as pl

from pipeline.formats.sheets.delivery import about_text, delivery_csv, delivery_xlsx
from pipeline.runner.config.project import Project
from pipeline.runner.delivery.sheets import REMEDY
from pipeline.runner.store import store
from pipeline.runner.store.manifest import Manifest
from pipeline.runner.store.storage import storage_at
from pipeline.stages.base import NBestList

_DIGITS = 8
_CAUTION = (
    "These limits allow for the choice: whichever of the lists had been chosen, all limits hold"
    " together. Those of the list alone do not, since a list that had luck in the sample is the"
    " likelier one to be chosen."
)


def deliver_list(
    project: Project, manifest: Manifest, wanted: NBestList, *, write: bool = True
) -> list[str]:
    """Write the chosen list, if that very list has not been written yet.

    The file's name holds the measure, the size and some digits of a digest of what is in it. So
    another list gets another file, and a file that somebody has worked in stays as it is.

    Parameters
    ----------
    project : Project
        The experiment.
    manifest : Manifest
        The artefact of the stage that made the list.
    wanted : NBestList
        Where it goes.
    write : bool
        Whether to write it, or to say alone what would be written.

    Returns
    -------
    list of str
        Where the files written are.
    """
    rows = store.scan(project.storage, manifest, "list").sort("rank").collect()
    chosen = store.scan(project.storage, manifest, "about").collect()
    if chosen.is_empty():
        return []
    title = project.experiment.title or project.experiment.name
    files = _files(rows, chosen.row(0, named=True), title=title, kind=wanted.kind)
    storage, written = storage_at(project.sheets.own / wanted.folder, remedy=REMEDY), []
    if not write:
        there = {entry.name for entry in storage.list()}
        return [f"the list {storage.location(each)}" for each in files if each not in there]
    with storage.guarded("the list", ""), storage.lock(store.LOCK, lambda: None):
        for each, content in files.items():
            with suppress(FileExistsError):
                storage.write(each, content, new=True)
                written.append(storage.location(each))
    return written


def _files(
    rows: pl.DataFrame, choice: dict[str, Any], *, title: str, kind: str
) -> dict[str, bytes]:
    """Return what to write under which names."""
    about = _about(choice, dict(rows["verdict"].drop_nulls().value_counts().iter_rows()))
    digest = hashlib.sha256(delivery_csv(rows) + about_text(title, about)).hexdigest()[:_DIGITS]
    stem = f"{choice['measure']}-{choice['n']}-best-{digest}"
    if kind == "xlsx":
        return {f"{stem}.xlsx": delivery_xlsx(rows, title=title, about=about)}
    return {f"{stem}.csv": delivery_csv(rows), f"{stem}.txt": about_text(title, about)}


def _about(choice: dict[str, Any], verdicts: dict[str, int]) -> list[tuple[str, str]]:
    level = f"{100 * choice['confidence']:g} % {choice['interval']}"
    recall = choice["recall"]
    precision = (
        f"{_percent(choice['precision'])}, from {choice['n_sampled']:,} judged candidates of the"
        f" list, {choice['k_sampled']:,} of them true positives"
    )
    return [
        ("measure", str(choice["measure"])),
        ("list size", f"{choice['n']:,}"),
        ("chosen by", f"{choice['criterion']}, among {choice['considered']:,} lists"),
        ("category", str(choice["category"])),
        ("estimated precision", precision),
        ("its limits", f"{_limits(choice, '_simultaneous')} ({level}). {_CAUTION}"),
        ("limits of this list alone", _limits(choice, "")),
        ("estimated recall", "unknown" if recall is None else _percent(recall)),
        ("already judged", _judged(verdicts)),
    ]


def _judged(verdicts: dict[str, int]) -> str:
    sure = f"{verdicts.get('+', 0) + verdicts.get('-', 0):,} candidates"
    differ = f"; ? for {verdicts['?']:,} on which judgements differ" if "?" in verdicts else ""
    return f"{sure}: + true positive, - false positive{differ}"


def _limits(choice: dict[str, Any], which: str) -> str:
    return f"{_percent(choice[f'lower{which}'])} to {_percent(choice[f'upper{which}'])}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
