"""Many people annotate at once: how long a decision takes until it is on the disk.

python benchmarks/annotators.py [--people 20] [--seconds 300] [--rate 3] [--items 10000]

The command serves an invented experiment on loopback. Everybody opens the page, asks for cards, and
sends a decision so many times a second, at times of their own whether or not the last one was
answered quickly: what is late is counted from the time at which it was due. In the end the log is
held against what was sent: nothing is missing, nothing is there twice. Beside it stands what a sync
of this disk costs, which no answer can be faster than.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx
import numpy as np
from annotate_desk import LABELS, furnish, logged_answers, origin, serve, spread, sync_costs
from results import record

AHEAD = 20
"""Cards that a page asks for at once."""


@dataclass
class Person:
    """Somebody who annotates; exists while the pages are served."""

    address: str
    random: Random
    waits: list[float] = field(default_factory=list)
    sent: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


async def annotate(person: Person, *, opened: asyncio.Barrier, seconds: float, rate: float) -> None:
    """Open the page; when everybody has, decide card after card at a steady rate."""
    async with httpx.AsyncClient(timeout=30) as client:
        assert (await client.get(person.address)).status_code == 200
        cards: list[dict[str, object]] = []
        await opened.wait()  # what a client costs is no wait of anybody's
        due = time.perf_counter() + person.random.random() / rate
        until = time.perf_counter() + seconds
        while due < until:
            try:
                if not cards:
                    response = await client.get(f"{person.address}/cards", params={"most": AHEAD})
                    cards = response.json()["cards"]
                    if not cards:
                        return
                card = cards.pop(0)
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                await _decide(client, person, card, due)
            except httpx.HTTPError as error:
                person.errors.append(repr(error))
            due += person.random.uniform(0.8, 1.2) / rate


async def _decide(
    client: httpx.AsyncClient, person: Person, card: dict[str, object], due: float
) -> None:
    label = person.random.choice(LABELS)
    key = secrets.token_hex(12)
    decision = {
        "key": key, "id": card["id"], "kind": "label", "answer": label, "unsure": False,
        "note": "", "seconds": 0.3, "replaces": card["version"],
    }  # fmt: skip
    answer = await client.post(
        f"{person.address}/decisions",
        json={"decisions": [decision]},
        headers={"Origin": origin(person.address)},
    )
    person.waits.append(time.perf_counter() - due)
    reply = answer.json()
    if answer.status_code != 200 or reply["outcomes"][0]["status"] != "saved":
        person.errors.append(str(reply))
    else:
        person.sent[key] = label


async def everybody(people: list[Person], *, seconds: float, rate: float) -> None:
    """Let all of them annotate."""
    opened = asyncio.Barrier(len(people))
    await asyncio.gather(
        *(annotate(each, opened=opened, seconds=seconds, rate=rate) for each in people)
    )


def main() -> int:
    """Serve, annotate, count, print; 1 if anything was lost, doubled or refused."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--rate", type=float, default=3)
    parser.add_argument("--items", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = [f"p{number:02d}" for number in range(options.people)]
        furnish(folder, people=names, items=options.items)
        with serve(folder) as links:
            people = [Person(links[each], Random(number)) for number, each in enumerate(names)]
            asyncio.run(everybody(people, seconds=options.seconds, rate=options.rate))
        decisions = {key: label for each in people for key, label in each.sent.items()}
        errors = [error for each in people for error in each.errors]
        there, sync = logged_answers(folder), sync_costs(folder)
    lost, more = len(decisions.items() - there.items()), len(there.keys() - decisions.keys())
    waits = [wait for each in people for wait in each.waits]
    print(
        f"{options.people} people, {len(decisions):,} decisions in {options.seconds:.0f} s:"
        f" {spread(waits)}; {len(errors)} errors, {lost} lost, {more} more in the log than sent"
    )
    print(f"a sync of this disk: median {sync[0] * 1e3:.1f} ms, 99 % within {sync[1] * 1e3:.1f} ms")
    ratio = record("annotators: 99th percentile of a decision", float(np.quantile(waits, 0.99)))
    print(f"99th percentile: {ratio or 'the first of its name'}")
    for error in errors[:3]:
        print(f"  {error}")
    return int(bool(errors or lost or more))


if __name__ == "__main__":
    sys.exit(main())
