"""People who send what they decide again and again, until it is said to be saved."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import httpx

from pipeline.annotate.auth import Links, Person
from tests.annotate.killing import PATIENCE


@dataclass
class Sender:
    """A page of somebody: decides, and sends the same again until it is said to be saved.

    Parameters
    ----------
    who : str
        The person.
    folder : Path
        Of the decisions.
    ports : sequence of int
        Of servers; when one fails the next is asked.
    items : list of str
        What this page decides on.
    random : Random
        What it does.
    undoes : bool
        Whether it takes back; two pages of one person would take back each other's.
    """

    who: str
    folder: Path
    ports: Sequence[int]
    items: list[str]
    random: Random
    undoes: bool = True
    sent: list[dict[str, Any]] = field(default_factory=list)
    """All that was said to be saved, in order, with the item that an undo took back."""
    repeated: int = 0
    """How many were saved though the answer never came."""
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
        """Send what is open, and no more."""
        self.ended.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), f"{self.who} is still sending"

    def _run(self) -> None:
        with httpx.Client(timeout=10) as client:
            while not self.ended.is_set():
                batch = [self._next() for _ in range(self.random.choice((1, 1, 1, 3)))]
                seen: set[str] = set()
                for each in batch:
                    # a page has seen the version that stands there, and none of what is on its way
                    if each["kind"] == "label" and each["id"] not in seen:
                        each["replaces"] = self._versions.get(each["id"], 0)
                    seen = seen | {each["id"]} if each["kind"] != "undo" else set(self.items)
                if not self._settled(batch, self._answer(client, batch)):
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

    def _settled(self, batch: list[dict[str, Any]], outcomes: list[dict[str, Any]]) -> bool:
        for sent, outcome in zip(batch, outcomes, strict=True):
            status = outcome["status"]
            if status not in {"saved", "repeated"} and (sent["kind"], status) != (
                "undo",
                "nothing",
            ):
                self.wrong.append(f"{status}: {sent}")
                return False
            if status != "nothing":
                self.repeated += status == "repeated"
                self.sent.append({**sent, "id": outcome["id"]})
                self._versions[outcome["id"]] = outcome["standing"]["version"]
        return True


def undone(acts: Sequence[dict[str, Any]]) -> list[tuple[str, str, str | None]]:
    """Return kind, item and answer of acts in order, each undo with the item of the last act that stood."""
    standing: list[str] = []
    found: list[tuple[str, str, str | None]] = []
    for each in acts:
        if each["kind"] == "undo":
            found.append(("undo", standing.pop(), None))
        else:
            standing.append(each["id"])
            found.append((each["kind"], each["id"], each["answer"]))
    return found
