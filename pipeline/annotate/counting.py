"""Which answers count so far, in an order that has nothing to do with what they say."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

_TASKS = """
SELECT t.id, t.annotator, t.answered, coalesce(f.entry, 0) AS entry
FROM tasks t LEFT JOIN (
  SELECT task, min(entry) AS entry FROM log WHERE kind IN ('label', 'import') GROUP BY task
) f USING (task)
WHERE t.round = 'annotation' AND t.asked = 1 ORDER BY t.annotator, t.place
"""


@dataclass(frozen=True)
class Counted:
    """The items that count so far.

    Parameters
    ----------
    order : tuple of str
        Their ids, as they came to count.
    answered : int
        Items that all who are asked have answered, whether they count or not.
    asked : int
        Items that somebody is asked for.
    """

    order: tuple[str, ...]
    answered: int
    asked: int

    @property
    def held(self) -> int:
        """How many answered items do not count, since a card before them is open."""
        return self.answered - len(self.order)


@dataclass
class _Seen:
    """What is known of an item while tasks are gone through."""

    people: int = 0
    answers: int = 0
    reached: int = 0
    entries: list[int] = field(default_factory=list)


def counted(connection: sqlite3.Connection) -> Counted:
    """Return the items that count: limits of a growing sample are right for these.

    Everybody's cards are in random order, so those up to the first one without an answer are a
    random part of the sample. What comes after it does not count: who sets a card aside may do so
    for what it is. An item of several people counts once all of them have come by it.

    Parameters
    ----------
    connection : Connection
        Of the decisions.
    """
    seen: dict[str, _Seen] = {}
    open_card: set[str] = set()
    for row in connection.execute(_TASKS):
        item = seen.setdefault(row["id"], _Seen())
        item.people += 1
        if not row["answered"]:
            open_card.add(row["annotator"])
            continue
        item.answers += 1
        item.entries.append(row["entry"])
        item.reached += row["annotator"] not in open_card
    whole = {name: each for name, each in seen.items() if each.reached == each.people}
    order = sorted(whole, key=lambda name: (max(whole[name].entries), name))
    answered = sum(each.answers == each.people for each in seen.values())
    return Counted(tuple(order), answered, len(seen))
