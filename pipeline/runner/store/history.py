"""Records of runs, the folders beside them, garbage collection, and the run at work now."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

from pydantic import Field, ValidationError

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.remarks.base import Remark
from pipeline.runner.events import Listener
from pipeline.runner.store import artefacts
from pipeline.runner.store.artefacts import LOCK, Record, StoredRecord, require_known_format
from pipeline.runner.store.backends import below, digest_of, new_draft, storage_at
from pipeline.runner.store.digest import canonical
from pipeline.runner.store.interface import Entry, Storage, hidden_key

FOLDER = "history"
REPORT = "report"
"""Folder of the report beside the stages."""
LAST_GOOD = "report-last-good"
"""Folder of the last report before one that is less."""
SWEEP = "sweep"
"""Folder of stacked tables of a sweep."""
PAGE = "index.html"
"""What a report begins with."""
_WRITTEN = ".written.json"
"""Key to the digest of each generated file."""
_LATELY = timedelta(days=30)
_SKEW = timedelta(days=1)
_OURS = re.compile(r"(\.(partial|staging|aside)-)?[0-9a-f]{24}(-\d+)?")
"""Names of folders that a run makes. Sheets and whatever else people keep here are theirs."""
_TEMPORARY = re.compile(r"\.(\.files|\.code|\w+-\w{4})\.jsonl?\.\d+")
"""Names of files that were not finished: records of runs, digests of files and code."""
_STOPPED = "left over from a stopped run"
_FLAWS = ".flaws"
_ENDS = {"stage_done", "stage_reused", "stage_waits", "stage_skipped", "failed"}

Outcome: TypeAlias = Literal["done", "reused", "waits", "skipped", "failed"]


# Folders that are replaced whole, for example the report; files of people in them are kept


def write_folder(storage: Storage, name: str, files: Mapping[str, bytes]) -> list[str]:
    """Replace the files we wrote below a name, atomically, one process at a time.

    Parameters
    ----------
    storage : Storage
        Where.
    name : str
        What all keys begin with.
    files : mapping of str to bytes
        The rest of each key, to content.

    Returns
    -------
    list of str
        Files that people added or changed, now beside a new one.
    """
    with storage.lock(f".{name}.lock", lambda: None), new_draft(storage, name) as draft:
        for key, content in files.items():
            storage.write(f"{draft}/{key}", content)
        digests = {key: hashlib.sha256(content).hexdigest() for key, content in files.items()}
        storage.write(f"{draft}/{_WRITTEN}", json.dumps(digests).encode())
        storage.publish(draft, name)
        renamed: list[str] = []
        for entry in list(storage.list()):
            if entry.name.startswith(f"{hidden_key(name, 'aside')}-"):
                renamed += retire(storage, entry.key, name)
        return renamed


def changed_files(storage: Storage, name: str, *keys: str) -> list[str]:
    """Return the files we wrote below a name that are gone or changed.

    Parameters
    ----------
    storage, name
        As for `write_folder`.
    *keys : str
        The files to look at; all by default.
    """
    digests = _read_digests(storage, name)
    if digests is None:
        return [_WRITTEN]
    return [key for key in keys or digests if not _is_as_written(storage, name, key, digests)]


def _is_as_written(storage: Storage, name: str, key: str, digests: Mapping[str, str]) -> bool:
    try:
        return digest_of(storage, f"{name}/{key}") == digests.get(key)
    except OSError:
        return False


def retire(storage: Storage, former: str, name: str) -> list[str]:
    """Remove a folder after moving the files that people added to another.

    Parameters
    ----------
    storage : Storage
        Where both lie.
    former : str
        The folder that goes.
    name : str
        The one that stays.

    Returns
    -------
    list of str
        Files renamed because their names were taken.
    """
    renamed = move_out(storage, former, name)
    storage.remove(former)
    return renamed


def move_out(storage: Storage, former: str, name: str) -> list[str]:
    """Move files that people added or changed in a folder to another; see `retire`."""
    renamed = []
    keys = set(_read_digests(storage, name) or {})
    # Those that keep their names first, so that none of these is given away.
    for key in sorted(_files_of_people(storage, former, name), key=lambda key: (key in keys, key)):
        source, target = f"{former}/{key}", _free_key(storage, name, key)
        storage.move(source, f"{name}/{target}")
        if target != key:
            renamed.append(target)
    return renamed


def _files_of_people(storage: Storage, former: str, name: str) -> Iterator[str]:
    """Yield the keys of files that people added or changed."""
    digests, new = _read_digests(storage, former), _read_digests(storage, name) or {}
    tops = {key.partition("/")[0] for key in new}
    for entry in _files(storage, former):
        key = entry.key.removeprefix(f"{former}/")
        if digests is None:  # it was made when no list was kept
            ours = key.partition("/")[0] in tops
        else:
            known = key in digests and not entry.link
            ours = known and digests[key] == digest_of(storage, entry.key)
        if not ours and key != _WRITTEN:
            yield key


def _files(storage: Storage, prefix: str) -> Iterator[Entry]:
    """Yield files, and links without following them."""
    for entry in storage.list(prefix):
        if entry.size is None and not entry.link:
            yield from _files(storage, entry.key)
        else:
            yield entry


def _read_digests(storage: Storage, name: str) -> dict[str, str] | None:
    try:
        with storage.open(f"{name}/{_WRITTEN}") as opened:
            content = json.loads(opened.read())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _free_key(storage: Storage, name: str, key: str) -> str:
    """Return a free key: the key itself, or one marked as kept."""
    keys = {entry.key.removeprefix(f"{name}/") for entry in _files(storage, name)}
    path = PurePosixPath(key)
    others = (str(path.with_name(f"{path.stem}.kept-{n}{path.suffix}")) for n in count(1))
    return next(each for each in chain([key], others) if each not in keys)


# Records of runs


class StageRecord(Record):
    """Outcome of one stage in a run."""

    outcome: Outcome
    fingerprint: str = ""
    digests: dict[str, str] = Field(default_factory=dict)
    rows: dict[str, int] = Field(default_factory=dict)
    seconds: float = 0.0
    note: str = ""
    remarks: tuple[Remark, ...] = ()

    def reason(self, stage: str) -> str:
        r"""Return the note without the name of the stage, and without "1 error".

        Examples
        --------
        >>> record = StageRecord(outcome="failed", note="stage a: 1 error\n  - size: too large")
        >>> record.reason("a")
        'size: too large'
        """
        return self.note.removeprefix(f"stage {stage}: ").removeprefix("1 error\n  - ")


class RunRecord(StoredRecord):
    """One finished run of an experiment, successful or not."""

    id: str
    experiment: str
    content: dict[str, Any]
    settings: dict[str, Any]
    started: str
    finished: str
    outcome: Literal["done", "waits", "failed", "interrupted"]
    stages: dict[str, StageRecord]
    error: str = ""


def new_id() -> str:
    """Return an id for a run that sorts by time.

    Examples
    --------
    >>> len(new_id())
    20
    """
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"


def write(storage: Storage, record: RunRecord) -> None:
    """Keep the record of a run."""
    storage.write(f"{FOLDER}/{record.id}.json", record.model_dump_json(indent=1).encode())


def newest_first(storage: Storage) -> Iterator[RunRecord]:
    """Yield the records of all runs of an experiment, each read when it is asked for.

    Those of a clock that was wrong, dated in the future, come last.
    """
    earlier: set[str] = set()
    for after in (lately(), ""):  # all are asked for only if need be
        entries = {entry.name for entry in storage.list(FOLDER, after=after)} - earlier
        # What begins with a dot is not finished.
        names = {name for name in entries if name.endswith(".json") and not name.startswith(".")}
        yield from _read(storage, {name for name in names if not _is_future(name)})
        earlier |= names
    yield from _read(storage, {name for name in earlier if _is_future(name)})


def _read(storage: Storage, names: Collection[str]) -> Iterator[RunRecord]:
    for name in sorted(names, reverse=True):
        key, content = f"{FOLDER}/{name}", b""
        try:
            with storage.open(key) as opened:
                content = opened.read()
            record = RunRecord.model_validate_json(content)
        except (OSError, ValidationError):
            require_known_format(content, storage.location(key))
        else:
            yield record


def _is_future(name: str) -> bool:
    """Return whether a run is dated in the future, by more than clocks differ."""
    return f"{datetime.now(UTC) + _SKEW:%Y%m%dT%H%M%S}" < name < ":"  # ":" follows the digits


def lately() -> str:
    """Return a lower bound of the run ids of the last weeks: an id begins with the time."""
    return f"{datetime.now(UTC) - _LATELY:%Y%m%d}"


def records(storage: Storage) -> list[RunRecord]:
    """Return the records of all runs of an experiment, the newest first."""
    return sorted(
        newest_first(storage),
        key=lambda run: (not _is_future(run.id), run.started, run.id),
        reverse=True,
    )


def last_file(storage: Storage) -> Path | None:
    """Return the experiment's file of the last run that began; None if its log does not say."""
    with suppress(OSError):
        names = [entry.name for entry in storage.list(FOLDER, after=lately())]
        logs = [name for name in names if name.endswith(".jsonl") and not name.startswith(".")]
        newest = max((name for name in logs if not _is_future(name)), default="")
        second = newest.partition("-")[0]  # several may have begun in it
        firsts = [_first_event(storage, name) for name in logs if name.startswith(f"{second}-")]
        file = max(firsts, key=lambda event: str(event.get("time", "")), default={}).get("file")
        return Path(file) if file else None
    return None


def _first_event(storage: Storage, name: str) -> dict[str, Any]:
    with storage.open(f"{FOLDER}/{name}") as log:
        return next(_events(log.read()), {})


def last_fingerprint(storage: Storage, stage: str) -> str:
    """Return the fingerprint of a stage in its last successful run; empty if none.

    If no run of the experiment has finished, the last run that finished the stage counts.
    """
    other = ""
    for run in newest_first(storage):
        mark = run.stages[stage].fingerprint if stage in run.stages else ""
        if mark and run.outcome == "done":
            return mark
        other = other or mark
    return other


def fingerprints_of(storage: Storage, stage: str, options: Mapping[str, object]) -> Iterator[str]:
    """Yield the fingerprints of a stage in runs with these values of options, newest first."""
    values = canonical(dict(options))
    marks: set[str] = set()
    for run in newest_first(storage):
        mark = run.stages[stage].fingerprint if stage in run.stages else ""
        section = run.content.get("stages", {}).get(stage, {})
        same = canonical({name: section.get(name) for name in options}) == values
        if mark and same and mark not in marks:
            marks.add(mark)
            yield mark


def find(runs: Path, name: str) -> tuple[Storage, RunRecord]:
    """Return storage and record of a run named ``experiment:id``.

    Parameters
    ----------
    runs : Path
        Folder of all results.
    name : str
        ``experiment:latest``, ``experiment:latest~1`` (the one before), or
        ``experiment:ID`` with the first characters of the id.

    Raises
    ------
    ConfigError
        If no run matches, or more than one.
    """
    experiment, _, id_ = name.partition(":")
    storage = storage_at(runs / experiment)
    past = records(storage)
    if not past:
        every = storage_at(runs)
        others = [each.name for each in every.list() if any(every.list(f"{each.key}/{FOLDER}"))]
        what = f"{runs} has no runs of {experiment!r}"
        raise ConfigError("run", [Problem(name, what, did_you_mean(experiment, others))])
    back = id_.removeprefix("latest").removeprefix("~")
    if id_ in {"", "latest"} or (id_.startswith("latest~") and back.isdecimal()):
        index = int(back or 0)
        fitting = past[index : index + 1]
    else:
        fitting = [record for record in past if record.id.startswith(id_)]
    if len(fitting) != 1:
        ids = ", ".join(record.id for record in past[:5])
        what = "matches several runs" if fitting else "matches no run"
        raise ConfigError("run", [Problem(name, what, f"runs: {ids}")])
    return storage, fitting[0]


# Garbage collection: artefacts that the experiment does not need any more


@dataclass(frozen=True)
class Garbage:
    """A removable result: its place for people, the reason, and its size in bytes."""

    key: str
    path: str
    reason: str
    size: int


def garbage(
    storage: Storage, keep: Collection[str], exempt: Collection[str] = ()
) -> Iterator[Garbage]:
    """Yield the removable results.

    Parameters
    ----------
    storage : Storage
        What holds the experiment's results.
    keep : collection of str
        Fingerprints of the artefacts that are needed, counts among them.
    exempt : collection of str
        Unfinished stages: since their needs are still unknown, all their results are kept.
    """
    top = list(storage.list())
    for stage in top:
        if stage.size is not None or stage.name in {FOLDER, REPORT, LAST_GOOD, SWEEP}:
            continue
        for entry in [*storage.list(stage.key), *storage.list(artefacts.counts_of(stage.key))]:
            ours = entry.size is None and _OURS.fullmatch(entry.name)
            if ours and (reason := _reason(storage, entry, keep, stage.name in exempt)):
                size = sum(each.size or 0 for each in below(storage, entry.key))
                yield Garbage(entry.key, storage.location(entry.key), reason, size)
    for entry in [*top, *storage.list(FOLDER)]:
        if _TEMPORARY.fullmatch(entry.name):
            path = storage.location(entry.key)
            yield Garbage(entry.key, path, _STOPPED, entry.size or 0)


def collect(
    storage: Storage,
    keep: Collection[str],
    exempt: Collection[str] = (),
    listeners: Sequence[Listener] = (),
) -> list[Garbage]:
    """Remove garbage and return it; wait for active runs, with a message."""
    with artefacts.in_use(storage, listeners, alone=True), storage.explain_errors("gc", ""):
        removals = list(garbage(storage, keep, exempt))
        for each in removals:
            # Without its manifest it counts no more, should this be stopped halfway.
            storage.remove(f"{each.key}/{artefacts.NAME}")
            storage.remove(each.key)
    return removals


def _reason(storage: Storage, folder: Entry, keep: Collection[str], is_exempt: bool) -> str:
    if folder.name.startswith(".aside-"):
        return "set aside as damaged or replaced"
    if folder.name.startswith("."):
        return _STOPPED
    artefact = artefacts.read(storage, folder.key)
    if artefact is None:
        return f"no readable {artefacts.NAME}"
    is_used = is_exempt or artefact.fingerprint in keep
    return "" if is_used else "no longer used by the experiment"


# The last good report: kept beside one with warnings, with stages missing, or of a what-if


def flaws(
    remarks: Mapping[str, Sequence[Remark]],
    missing: Iterable[str] = (),
    settings: Mapping[str, object] | None = None,
) -> frozenset[str]:
    """Return the flaws that make a report less complete than another.

    Parameters
    ----------
    remarks : mapping of str to sequence of Remark
        Those on each stage: warnings count.
    missing : iterable of str
        Stages without results.
    settings : mapping of str to value, optional
        The overrides of a what-if.

    Examples
    --------
    >>> one = Remark(check="no_candidates", level="warning", text="there are none")
    >>> sorted(flaws({"pairs": [one]}, ["third"], {"seed": 3}))
    ['pairs: no_candidates', 'seed = 3', 'third: not there yet']
    """
    warned = {
        f"{stage}: {each.check}"
        for stage, own in remarks.items()
        for each in own
        if each.level == "warning"
    }
    changed = {f"{path} = {value}" for path, value in (settings or {}).items()}
    return frozenset(warned | {f"{stage}: not there yet" for stage in missing} | changed)


def mark(defects: frozenset[str]) -> dict[str, bytes]:
    """Return the file with the flaws of a report."""
    return {_FLAWS: json.dumps(sorted(defects)).encode()}


def keep(storage: Storage, defects: frozenset[str]) -> str:
    """Set aside the existing report if the new one has additional flaws.

    Parameters
    ----------
    storage : Storage
        Storage of the reports.
    defects : set of str
        The flaws of the new report.

    Returns
    -------
    str
        New place of the existing report; empty if it can be overwritten. A kept report is removed
        once a report has no more flaws than it. Files that people added to it are moved to the new
        report.
    """
    former = _flaws_of(storage, REPORT)
    good = _flaws_of(storage, LAST_GOOD)
    if former is not None and defects - former and (good is None or former < good):
        retire(storage, LAST_GOOD, REPORT)
        storage.publish(REPORT, LAST_GOOD)
        move_out(storage, LAST_GOOD, REPORT)
        return storage.location(LAST_GOOD)
    if good is not None and not defects - good:
        retire(storage, LAST_GOOD, REPORT)
    return ""


def _flaws_of(storage: Storage, folder: str) -> frozenset[str] | None:
    """Return the flaws of a report, none if not recorded; None if there is no report."""
    if not any(entry.name == PAGE for entry in storage.list(folder)):
        return None
    try:
        with storage.open(f"{folder}/{_FLAWS}") as opened:
            return frozenset(json.loads(opened.read()))
    except (OSError, ValueError):
        return frozenset()


# The run at work now: the progress in its log, if it still holds its lock


@dataclass(frozen=True)
class CurrentRun:
    """A run that has begun and not ended.

    Parameters
    ----------
    run : str
        Its id.
    started : str
        When it began (UTC).
    stage : str
        Current stage; empty between stages.
    since : str
        When that stage began.
    last_event : str
        Time of its last event.
    unit : str
        Unit of progress: bytes read, or shards.
    done, total : int
        Progress in these units; 0 if unknown.
    """

    run: str
    started: str
    stage: str = ""
    since: str = ""
    last_event: str = ""
    unit: str = "shards"
    done: int = 0
    total: int = 0


def current_run(storage: Storage) -> CurrentRun | None:
    """Return the active run; one that died holds no lock."""
    unfinished = sorted(_unfinished_runs(storage), key=lambda each: each.last_event, reverse=True)
    return next((each for each in unfinished if _is_locked(storage, each.stage)), None)


def _unfinished_runs(storage: Storage) -> Iterator[CurrentRun]:
    """Yield the logs of runs of the last weeks without a record."""
    names = {entry.name for entry in storage.list(FOLDER, after=lately())}
    for name in sorted(names):
        identity = name.removesuffix(".jsonl")
        if name.endswith(".jsonl") and not name.startswith(".") and f"{identity}.json" not in names:
            with suppress(OSError), storage.open(f"{FOLDER}/{name}") as log:
                yield _replay(identity, _events(log.read()))


def _events(log: bytes) -> Iterator[dict[str, Any]]:
    for line in log.splitlines():
        with suppress(ValueError):  # the last one may be written just now
            yield json.loads(line)


def _replay(identity: str, events: Iterator[dict[str, Any]]) -> CurrentRun:
    """Return the state of a run after the events of its log."""
    facts: dict[str, Any] = {"run": identity, "started": ""}
    for event in events:
        time, kind = str(event.get("time", "")), event.get("event")
        facts["started"] = facts["started"] or time
        facts["last_event"] = time
        if kind == "stage_started":
            count = {"done": event.get("resumed", 0), "total": event.get("shards", 0)}
            facts |= {"stage": event.get("stage", ""), "since": time, "unit": "shards", **count}
        elif kind == "shard_done" and facts.get("unit") == "shards":
            facts["done"] += 1
        elif kind == "progress":
            facts |= {"unit": "bytes", "done": event["done"], "total": event["total"]}
        elif kind in _ENDS:
            facts = {name: facts[name] for name in ("run", "started", "last_event")}
    return CurrentRun(**facts)


class _AtWork(Exception):
    """Another process holds the lock."""


def _is_locked(storage: Storage, stage: str) -> bool:
    """Return whether a run holds the lock of a stage, or between stages that of all results."""

    def refuse() -> None:
        raise _AtWork

    try:
        with storage.lock(f"{stage}/{LOCK}" if stage else LOCK, refuse):
            return False
    except _AtWork:
        return True
    except OSError:
        return False
