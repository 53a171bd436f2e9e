"""The base class of all errors, and the error of a table that breaks its schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

EXAMPLES = 3
"""Rows that are shown of those that break a rule."""
_SHOWN = 8
"""Columns that are shown of such a row."""


class LexassayError(Exception):
    """Base of every error that the project raises on purpose.

    ``exit_code`` is what the command line returns for it: 1 failed, 2 wrong usage or
    configuration, 3 waits for a person.
    """

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Go from process to process whole, whatever the arguments of the class are."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[LexassayError], args: tuple[Any, ...], state: dict[str, Any]) -> Any:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


@dataclass(frozen=True)
class Violation:
    """One rule of a schema that does not hold.

    Parameters
    ----------
    rule : str
        Name of the check, as written in the schema.
    column : str or None
        The column it speaks of; None for a rule over several columns.
    count : int
        How many rows break it; 0 for a rule about the table's shape.
    examples : sequence of str
        Up to three offending rows, by their keys; by their numbers in a table without a key.
    keys : sequence of mapping
        The values of the key of each example, where the table has one.
    """

    rule: str
    column: str | None
    count: int
    examples: tuple[str, ...] = ()
    keys: tuple[Mapping[str, Any], ...] = ()

    def at(self, place: Callable[[Mapping[str, Any]], str]) -> Violation:
        """Return the same with the places of its examples in front of them.

        Parameters
        ----------
        place : callable
            The values of a key -> where the rows are that have it; may be empty.
        """
        places = [place(key) for key in self.keys]
        if not all(places):
            return self
        examples = (f"{at}: {row}" for at, row in zip(places, self.examples, strict=True))
        return replace(self, examples=tuple(examples))

    def __str__(self) -> str:
        where = f"column {self.column}: " if self.column else ""
        many = f" in {self.count:,} row{'s' if self.count != 1 else ''}" if self.count else ""
        shown = "".join(f"\n      {example}" for example in self.examples)
        return f"{where}{self.rule}{many}{shown}"


def described(row: Mapping[str, Any], first: Sequence[str] = ()) -> str:
    """Return a row as text: some columns first, eight at the most.

    Examples
    --------
    >>> described({"f": 3, "id": "x"}, ["id"])
    "id='x', f=3"
    """
    shown = {name: row[name] for name in first} | dict(row)
    return ", ".join(f"{name}={value!r}" for name, value in list(shown.items())[:_SHOWN])


class SchemaViolation(LexassayError):
    """A table breaks its schema.

    Parameters
    ----------
    table : str
        Where the table is or what it is called.
    violations : sequence of Violation
        Every rule that does not hold, not only the first.
    remedy : str
        What to do about it; may be empty.
    """

    def __init__(self, table: str, violations: Sequence[Violation], remedy: str = "") -> None:
        self.table = table
        self.violations = tuple(violations)
        lines = "".join(f"\n  - {violation}" for violation in self.violations)
        advice = f"\n{remedy}" if remedy else ""
        super().__init__(f"{table} breaks its schema:{lines}{advice}")
