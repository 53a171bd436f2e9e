"""How far one person is: quick enough to be told after each decision."""

from __future__ import annotations

import sqlite3

from pipeline.formats.decisions.log import Round

_TASKS = """SELECT count(*) AS asked, coalesce(sum(answered), 0) AS done,
coalesce(sum(skipped > 0), 0) AS aside
FROM tasks WHERE round = ? AND annotator = ? AND asked = 1"""
# Few are marked: only the entries of their tasks are looked at.
_UNSURE = """SELECT count(*) FROM (
  SELECT max(l.entry) AS entry FROM tasks t JOIN log l USING (task)
  WHERE t.task IN (SELECT task FROM log WHERE unsure = 1)
  AND t.round = ? AND t.annotator = ? AND t.asked = 1 AND l.kind IN ('label', 'import')
  AND NOT EXISTS (SELECT 1 FROM log u WHERE u.undoes = l.entry)
  GROUP BY t.task
) JOIN log USING (entry) WHERE unsure = 1 AND answer IS NOT NULL"""


def how_far(
    connection: sqlite3.Connection, annotator: str, *, named: Round = "annotation"
) -> dict[str, int]:
    """Return asked, done, unsure and aside of one person; see `pipeline.annotate.pace.Far`.

    Parameters
    ----------
    connection : Connection
        Of the decisions.
    annotator : str
        Who.
    named : str
        The round.
    """
    row = connection.execute(_TASKS, (named, annotator)).fetchone()
    (unsure,) = connection.execute(_UNSURE, (named, annotator)).fetchone()
    return {**dict(row), "unsure": unsure}
