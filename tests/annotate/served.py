"""A small work with its server, asked without a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal, cast

import httpx
from starlette.testclient import TestClient

from pipeline.annotate.auth import Links, Person, Role
from pipeline.annotate.records import Writer
from pipeline.annotate.tasks import Work
from pipeline.annotate.web.app import app_of
from pipeline.formats.annotation_log import (
    Asked,
    Decision,
    Outcome,
    Round,
    append,
    opened,
    take_over,
)
from pipeline.runner.graph import Project

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
    **said: Any,
) -> Work:
    return Work(
        project=cast(Project, None), stage="sheet", kind=kind, folder=folder,
        **{
            "title": "Verbs", "instructions": "Look closely.",
            "labels": labels if kind == "annotation" else (), "annotators": ("ana", "ben"),
            "guidelines": {"SVC": "a support verb"}, **said,
        },
    )  # fmt: skip


def ask(
    work: Work, *people: str, ids: list[str] | None = None, named: Round = "annotation",
    shown: dict[str, dict[str, Any]] | None = None,
) -> None:  # fmt: skip
    """Ask people for items, all of them or some."""
    shown = items() if shown is None else shown
    wanted = list(shown) if ids is None else ids
    asked = [Asked(who, each, n) for who in people for n, each in enumerate(wanted, 1)]
    with opened(work.database) as log:
        take_over(log, {each: shown[each] for each in wanted}, asked, round=named)


def say(work: Work, who: str, item: str, answer: str, **more: Any) -> Outcome:
    """Decide past the server, as another one does."""
    with opened(work.database) as log:
        return append(log, [Decision(f"say-{next(_KEYS)}", who, item, answer=answer, **more)])[0]


def entries(work: Work, what: str = "answer") -> list[Any]:
    """Return a column of the log."""
    with opened(work.database) as log:
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
class Served:
    """A work and its server, in use inside `with`."""

    work: Work
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.links = Links(self.work.folder)
        self.app = app_of(self.work, self.links, **self.options)
        self.client = TestClient(self.app, base_url=HERE, raise_server_exceptions=False)

    def __enter__(self) -> Served:
        self.client.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.__exit__(None, None, None)

    @property
    def writer(self) -> Writer:
        found: Writer = self.app.state.writer
        return found

    def at(self, who: str, role: Role = "annotator") -> str:
        return self.links.address(Person(role, who))

    def get(self, who: str, path: str = "", **more: Any) -> httpx.Response:
        return self.client.get(self.at(who) + path, **more)

    def post(self, who: str, *decisions: dict[str, Any], query: str = "") -> httpx.Response:
        address = f"{self.at(who)}/decisions{query}"
        body = {"decisions": list(decisions)}
        return self.client.post(address, json=body, headers={"Origin": HERE})

    def statuses(self, who: str, *decisions: dict[str, Any]) -> list[str]:
        answer = self.post(who, *decisions)
        assert answer.status_code == 200, answer.text
        return [each["status"] for each in answer.json()["outcomes"]]
