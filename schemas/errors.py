"""The base class of all errors, and the error for a table that violates its schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

EXAMPLES = 3
"""Number of offending rows shown for a rule."""
_SHOWN = 8
"""Number of columns shown of an offending row."""


def count_text(count: int, one: str, several: str = "") -> str:
    """Return a number with its noun, in the singular or plural.

    Examples
    --------
    >>> count_text(1, "candidate"), count_text(5102, "candidate"), count_text(0, "entry", "entries")
    ('1 candidate', '5,102 candidates', '0 entries')
    """
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


class LexassayError(Exception):
    """Base class of all deliberate errors of the project.

    ``exit_code`` is the exit code of the command: 1 failed, 2 wrong usage or configuration, 3
    waiting for a person.
    """

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep all attributes when pickled, whatever the arguments of the class."""
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[LexassayError], args: tuple[Any, ...], state: dict[str, Any]) -> Any:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


@dataclass(frozen=True)
class Violation:
    """A violated rule of a schema.

    Parameters
    ----------
    rule : str
        Name of the check, as written in the schema.
    column : str or None
        The column concerned; None for a rule over several columns.
    count : int
        Number of offending rows; 0 for a rule about the table's shape.
    examples : sequence of str
        Up to three offending rows, identified by key, or by number if the table has no key.
    keys : sequence of mapping
        The key values of each example, if the table has a key.
    """

    rule: str
    column: str | None
    count: int
    examples: tuple[str, ...] = ()
    keys: tuple[Mapping[str, Any], ...] = ()

    def at(self, place: Callable[[Mapping[str, Any]], str]) -> Violation:
        """Return a copy whose examples are prefixed with their places.

        Parameters
        ----------
        place : callable
            From key values to the places of their rows; may be empty.
        """
        places = [place(key) for key in self.keys]
        if not all(places):
            return self
        examples = (f"{at}: {row}" for at, row in zip(places, self.examples, strict=True))
        return replace(self, examples=tuple(examples))

    def __str__(self) -> str:
        where = f"column {self.column}: " if self.column else ""
        many = f" in {self.count:,} row{'s' if self.count != 1 else ''}" if self.count else ""
        examples = "".join(f"\n      {example}" for example in self.examples)
        return f"{where}{self.rule}{many}{examples}"


def describe_row(row: Mapping[str, Any], first: Sequence[str] = ()) -> str:
    """Return a row as text: at most eight columns, the given ones first.

    Examples
    --------
    >>> describe_row({"f": 3, "id": "x"}, ["id"])
    "id='x', f=3"
    """
    values = {name: row[name] for name in first} | dict(row)
    return ", ".join(f"{name}={value!r}" for name, value in list(values.items())[:_SHOWN])


class SchemaViolation(LexassayError):
    """A table violates its schema.

    Parameters
    ----------
    table : str
        Path or name of the table.
    violations : sequence of Violation
        All violated rules.
    remedy : str
        Advice to the user; may be empty.
    """

    def __init__(self, table: str, violations: Sequence[Violation], remedy: str = "") -> None:
        self.table = table
        self.violations = tuple(violations)
        lines = "".join(f"\n  - {violation}" for violation in self.violations)
        advice = f"\n{remedy}" if remedy else ""
        super().__init__(f"{table} lacks columns, or has unusable values:{lines}{advice}")
