"""Servers are killed at random: every confirmed decision is in the log once and in order."""

from __future__ import annotations

import re
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from tests.annotate.office import Office
from tests.annotate.served import (
    Forks,
    Sender,
    ask,
    free_port,
    items,
    line_of,
    log,
    resolve_undos,
    start_python,
    work_in,
)

pytestmark = pytest.mark.long

BY_COMMAND, BY_FORK = 6, 74
"""Number of kills of the command, which starts slowly, and of its server alone."""
LIFE = 0.3
"""Seconds that a server lives at most."""


@contextmanager
def senders(every: Sequence[Sender]) -> Iterator[None]:
    """Let people send until the block ends; then save their open decisions."""
    for each in every:
        each.start()
    yield
    for each in every:
        each.end()
    assert [wrong for each in every for wrong in each.wrong] == []


def kill_command(office: Office, port: int, random: Random) -> None:
    """Start the command; kill it while it starts, or when it has served for a while."""
    process = start_python(
        ["-m", "pipeline.cli", "annotate", "desk.toml", "--port", str(port)], office.folder
    )
    if random.random() < 0.2:
        time.sleep(random.uniform(0, 1.5))
    else:
        while not re.search(r"/c/\S+$", line_of(process)):
            pass
        time.sleep(random.uniform(0, LIFE))
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_every_confirmed_decision_is_in_the_log_after_eighty_kills(office: Office) -> None:
    people, random, port = ("anna", "ben"), Random(60), free_port()
    work = office.work()
    ids = office.ids(work)
    every = [Sender(who, work.folder, [port], ids, Random(who)) for who in people]
    forks = Forks(work.folder, people, port)
    with senders(every):
        for by_fork in random.sample(
            [True, False], BY_FORK + BY_COMMAND, counts=[BY_FORK, BY_COMMAND]
        ):
            if by_fork:
                forks.start()
                time.sleep(random.uniform(0, LIFE))
                forks.kill()
            else:
                kill_command(office, port, random)
        forks.start()
    forks.close()
    rows = log(work.database)
    for each in every:
        own = [row for row in rows if row["annotator"] == each.who]
        assert [row["key"] for row in own] == [decision["key"] for decision in each.sent]
        assert [(row["kind"], row["id"], row["answer"]) for row in own] == resolve_undos(each.sent)
        assert len(each.sent) > BY_FORK  # enough decisions were at risk
        assert each.failures > BY_FORK / 2
    assert len(rows) == sum(len(each.sent) for each in every)


@pytest.mark.parametrize("kills", [0, 12])
def test_two_killed_servers_share_one_database(tmp_path: Path, kills: int) -> None:
    people, random, ports = ("ana", "ben"), Random(kills), (free_port(), free_port())
    work, contents = work_in(tmp_path), items(40)
    ask(work, *people, contents=contents)
    both = [Forks(tmp_path, people, port) for port in ports]
    every = [
        Sender(who, tmp_path, mine, list(contents)[half::2], Random(f"{who}{half}"), undoes=False)
        for who in people
        for half, mine in enumerate((ports, ports[::-1]))
    ]
    for server in both:
        server.start()
    with senders(every):
        for _ in range(kills):
            time.sleep(random.uniform(0, LIFE))
            one = random.choice(both)
            one.kill()
            one.start()
        time.sleep(3 * LIFE)
    for server in both:
        server.close()
    rows = log(work.database)
    confirmed = {one["key"]: one for each in every for one in each.sent}
    assert Counter(row["key"] for row in rows) == Counter(confirmed.keys())
    assert {row["key"]: (row["id"], row["answer"]) for row in rows} == {
        key: (one["id"], one["answer"]) for key, one in confirmed.items()
    }
    for each in every:
        mine = {one["key"] for one in each.sent}
        assert [row["key"] for row in rows if row["key"] in mine] == [
            one["key"] for one in each.sent
        ]
        assert each.sent
