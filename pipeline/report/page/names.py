"""File names for stages and figures, and names that options ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.findings import names as findings_names

slug = findings_names.slug
"""Names of files: findings name the figures that they point to by it, too."""


def distinct(names: Iterable[str]) -> list[str]:
    """Return the names, a later one that repeats an earlier with a number after it.

    Names that differ in case alone count as equal: some file systems hold them so.

    Examples
    --------
    >>> distinct(["graph", "Graph", "table"])
    ['graph', 'Graph-2', 'table']
    """
    taken: set[str] = set()
    numbered: list[str] = []
    for name in names:
        tries = (name if number == 1 else f"{name}-{number}" for number in range(1, 10**6))
        numbered.append(next(tried for tried in tries if tried.casefold() not in taken))
        taken.add(numbered[-1].casefold())
    return numbered


def chosen(wanted: Sequence[str], known: Iterable[str], *, where: str) -> tuple[str, ...]:
    """Return what was asked for, or all that there is if nothing was.

    Parameters
    ----------
    wanted : sequence of str
        What an option names; may be empty.
    known : iterable of str
        What there is.
    where : str
        Dotted path of the option, for the message.

    Raises
    ------
    ConfigError
        If a wanted name is not known, with the nearest that are.

    Examples
    --------
    >>> chosen([], ["t_score", "dice"], where="views.precision.measures")
    ('t_score', 'dice')
    """
    there = tuple(known)
    wrong = [name for name in wanted if name not in there]
    if wrong:
        problems = [
            Problem(where, f"there is no {name!r}", did_you_mean(name, there)) for name in wrong
        ]
        raise ConfigError("report", problems)
    return tuple(wanted) or there
