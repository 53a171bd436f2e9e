"""A small work with its server, tested without a network."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Literal, cast

import httpx
from starlette.testclient import TestClient

from pipeline.annotate.auth import Links, Person, Role
from pipeline.annotate.records import Writer
from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.web.app import app_of, open_socket
from pipeline.formats.annotation_log import (
    Decision,
    Outcome,
    Round,
    TaskRequest,
    append,
    open_log,
    read_only,
    update_tasks,
)
from pipeline.runner.graph import Project

# Servers that are killed at random and started again, and their log.

ROOT = Path(__file__).parents[2]
PATIENCE_KILLING = 100
"""Seconds that any step may take on a busy machine."""
_FORKS = """
import os, sys
from pathlib import Path
from pipeline.annotate.auth import Links
from pipeline.annotate.web.app import app_of
from pipeline.annotate.web.app import open_socket, serve
from tests.annotate.served import work_in

work = work_in(Path(sys.argv[1]), annotators=tuple(sys.argv[2].split(",")))
print("ready", flush=True)
for port in sys.stdin:
    if not (child := os.fork()):
        serve(app_of(work, Links(work.folder)), open_socket("127.0.0.1", int(port)))
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
"""
"""Imports everything once and serves in forks, since a fresh start takes a second."""


def free_port() -> int:
    with open_socket() as listener:
        port: int = listener.getsockname()[1]
        return port


def start_python(words: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    """Start a Python that can import the project and its tests."""
    return subprocess.Popen(
        [sys.executable, *words], cwd=folder, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the process ended"
    return line


class Forks:
    """Serves a folder on one port, in one process after another."""

    def __init__(self, folder: Path, people: Sequence[str], port: int) -> None:
        self.port = port
        self._process = start_python(["-c", _FORKS, str(folder), ",".join(people)], ROOT)
        self._child = 0
        assert line_of(self._process) == "ready\n"

    def start(self) -> None:
        """Start a server; the one before has ended."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{self.port}\n")
        self._process.stdin.flush()
        self._child = int(line_of(self._process))

    def kill(self) -> None:
        os.kill(self._child, signal.SIGKILL)
        self._child = 0

    def close(self) -> None:
        if self._child:
            self.kill()
        self._process.communicate(timeout=PATIENCE_KILLING)


def log(database: Path) -> list[dict[str, Any]]:
    """Return the whole log, with keys as the senders wrote them."""
    query = "SELECT l.*, t.id, t.annotator FROM log l JOIN tasks t USING (task) ORDER BY entry"
    with read_only(database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        rows = [dict(row) for row in connection.execute(query)]
    return [{**row, "key": row["key"].rpartition("/")[2]} for row in rows]


# People who send each decision again until the server confirms it.


@dataclass
class Sender:
    """The page of a person, which sends each decision again until the server confirms it.

    Parameters
    ----------
    who : str
        The person.
    folder : Path
        The folder of the decisions.
    ports : sequence of int
        The ports of the servers; if one fails, the page tries the next.
    items : list of str
        The items that this page decides on.
    random : Random
        The source of the decisions.
    undoes : bool
        Whether it sends undo; two pages of one person would undo decisions of each other.
    """

    who: str
    folder: Path
    ports: Sequence[int]
    items: list[str]
    random: Random
    undoes: bool = True
    sent: list[dict[str, Any]] = field(default_factory=list)
    """All confirmed decisions in order; an undo with the item that it took back."""
    repeated: int = 0
    """Number of decisions that were saved although the response was lost."""
    failures: int = 0
    wrong: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._keys = (f"{self.who}-{self.random.getrandbits(40):010x}-{n:06}" for n in count())
        self._address = Links(self.folder).address(Person("annotator", self.who))
        self._versions: dict[str, int] = {}
        self._port = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Send the open decisions, then stop."""
        self.ended.set()
        self._thread.join(PATIENCE_KILLING)
        assert not self._thread.is_alive(), f"{self.who} is still sending"

    def _run(self) -> None:
        with httpx.Client(timeout=10) as client:
            while not self.ended.is_set():
                batch = [self._next() for _ in range(self.random.choice((1, 1, 1, 3)))]
                changed: set[str] = set()
                for each in batch:
                    # a page knows the standing version, but no outcome of what it is still sending
                    if each["kind"] == "label" and each["id"] not in changed:
                        each["replaces"] = self._versions.get(each["id"], 0)
                    changed = changed | {each["id"]} if each["kind"] != "undo" else set(self.items)
                if not self._record_outcomes(batch, self._answer(client, batch)):
                    return

    def _next(self) -> dict[str, Any]:
        kind = self.random.choices(("label", "skip", "undo"), (8, 1, 1 if self.undoes else 0))[0]
        return {
            "key": next(self._keys), "id": "" if kind == "undo" else self.random.choice(self.items),
            "kind": kind, "unsure": False, "note": "", "seconds": 0.1, "replaces": None,
            "answer": self.random.choice(("SVC", "free")) if kind == "label" else None,
        }  # fmt: skip

    def _answer(self, client: httpx.Client, batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
        while True:
            origin = f"http://127.0.0.1:{self.ports[self._port % len(self.ports)]}"
            try:
                answer = client.post(
                    f"{origin}{self._address}/decisions", json={"decisions": batch},
                    headers={"Origin": origin},
                )  # fmt: skip
                if answer.status_code == 200:
                    outcomes: list[dict[str, Any]] = answer.json()["outcomes"]
                    return outcomes
                assert answer.status_code >= 500, answer.text
            except httpx.TransportError:
                self.failures += 1
            self._port += 1
            time.sleep(0.01)

    def _record_outcomes(self, batch: list[dict[str, Any]], outcomes: list[dict[str, Any]]) -> bool:
        for decision, outcome in zip(batch, outcomes, strict=True):
            status = outcome["status"]
            if status not in {"saved", "repeated"} and (decision["kind"], status) != (
                "undo",
                "nothing",
            ):
                self.wrong.append(f"{status}: {decision}")
                return False
            if status != "nothing":
                self.repeated += status == "repeated"
                self.sent.append({**decision, "id": outcome["id"]})
                self._versions[outcome["id"]] = outcome["standing"]["version"]
        return True


def resolve_undos(acts: Sequence[dict[str, Any]]) -> list[tuple[str, str, str | None]]:
    """Return kind, item and answer of acts in order; an undo has the item of the last open act."""
    standing: list[str] = []
    rows: list[tuple[str, str, str | None]] = []
    for each in acts:
        if each["kind"] == "undo":
            rows.append(("undo", standing.pop(), None))
        else:
            standing.append(each["id"])
            rows.append((each["kind"], each["id"], each["answer"]))
    return rows


HERE = "http://127.0.0.1:8000"
LABELS = ("SVC", "figurative", "free")
_KEYS = count()


def items(many: int = 5) -> dict[str, dict[str, Any]]:
    return {
        f"x{n}": {"units": {"l1": f"left{n}", "l2": f"right{n}"}, "examples": [f"[[left{n}]] …"]}
        for n in range(many)
    }


def work_in(
    folder: Path,
    *,
    kind: Literal["annotation", "keying"] = "annotation",
    labels: tuple[str, ...] = LABELS,
    **fields: Any,
) -> SheetWork:
    return SheetWork(
        project=cast(Project, None), stage="sheet", kind=kind, folder=folder,
        **{
            "title": "Verbs", "instructions": "Look closely.",
            "labels": labels if kind == "annotation" else (), "annotators": ("ana", "ben"),
            "guidelines": {"SVC": "a support verb"}, **fields,
        },
    )  # fmt: skip


def ask(
    work: SheetWork, *people: str, ids: list[str] | None = None, round_name: Round = "annotation",
    contents: dict[str, dict[str, Any]] | None = None,
) -> None:  # fmt: skip
    """Ask people for items, all of them or some."""
    contents = items() if contents is None else contents
    chosen_ids = list(contents) if ids is None else ids
    tasks = [TaskRequest(who, each, n) for who in people for n, each in enumerate(chosen_ids, 1)]
    with open_log(work.database) as log:
        update_tasks(
            log, {each: contents[each] for each in chosen_ids}, tasks, round_name=round_name
        )


def say(work: SheetWork, who: str, item: str, answer: str, **more: Any) -> Outcome:
    """Write a decision to the log directly, as another server would."""
    with open_log(work.database) as log:
        return append(log, [Decision(f"say-{next(_KEYS)}", who, item, answer=answer, **more)])[0]


def entries(work: SheetWork, what: str = "answer") -> list[Any]:
    """Return a column of the log."""
    with open_log(work.database) as log:
        return [row[0] for row in log.execute(f"SELECT {what} FROM log ORDER BY entry")]


def label(item: str, answer: str | None = "SVC", **more: Any) -> dict[str, Any]:
    """Return a decision as a page sends it."""
    return {
        "key": f"key-{next(_KEYS):08}", "id": item, "kind": "label", "answer": answer,
        "unsure": False, "note": "", "seconds": 1.5, "replaces": 0, **more,
    }  # fmt: skip


def act(kind: str, item: str = "", **more: Any) -> dict[str, Any]:
    """Return a skip or an undo as a page sends it."""
    return label(item, None, kind=kind, replaces=None, **more)


@dataclass
class ServedWork:
    """A work and its server, in use inside `with`."""

    work: SheetWork
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.links = Links(self.work.folder)
        self.app = app_of(self.work, self.links, **self.options)
        self.client = TestClient(self.app, base_url=HERE, raise_server_exceptions=False)

    def __enter__(self) -> ServedWork:
        self.client.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.__exit__(None, None, None)

    @property
    def writer(self) -> Writer:
        writer: Writer = self.app.state.writer
        return writer

    def at(self, who: str, role: Role = "annotator") -> str:
        return self.links.address(Person(role, who))

    def get(self, who: str, path: str = "", **more: Any) -> httpx.Response:
        return self.client.get(self.at(who) + path, **more)

    def post(self, who: str, *decisions: dict[str, Any], query: str = "") -> httpx.Response:
        address = f"{self.at(who)}/decisions{query}"
        body = {"decisions": list(decisions)}
        return self.client.post(address, json=body, headers={"Origin": HERE})

    def post_to(self, who: str, path: str) -> httpx.Response:
        """Send an empty request of the page to an address."""
        return self.client.post(f"{self.at(who)}{path}", json={}, headers={"Origin": HERE})

    def statuses(self, who: str, *decisions: dict[str, Any]) -> list[str]:
        answer = self.post(who, *decisions)
        assert answer.status_code == 200, answer.text
        return [each["status"] for each in answer.json()["outcomes"]]
