"""What is checked of each table, in full: nothing that was ever checked is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import schemas
from schemas import OpenTable, Table
from schemas.checks import pandera_schema

CHECKS = Path(__file__).with_name("checks.txt")
"""Listed from the pandera models that the tables were before they were declared by `column`.

Since then the names of the type-level measures have become open, as anybody may register one.
"""


def tables() -> list[type[Table]]:
    found = [each for each in vars(schemas).values() if isinstance(each, type)]
    kept = [each for each in found if issubclass(each, Table) and each not in (Table, OpenTable)]
    return sorted(kept, key=lambda table: table.__name__)


def checks(table: type[Table]) -> Iterator[str]:
    schema, name = pandera_schema(table), table.__name__
    further = ",".join(sorted(map(str, table.open_dtypes())))
    shape = f"strict={schema.strict} coerce={schema.coerce} ordered={schema.ordered}"
    yield f"{name} key={','.join(table.key())} further={further} {shape}"
    for column in schema.columns.values():
        assert column.required
        kind = "null or " * column.nullable + str(column.dtype)
        limits = "; ".join(str(check.error) for check in column.checks)
        yield f"{name}.{column.name} {kind} [{limits}]"
    for check in schema.checks:
        yield f"{name} {check.name}: {check.description}"


def test_as_much_is_checked_as_ever() -> None:
    """A new table or a new check adds its lines to the list; none is taken out of it."""
    assert [line for table in tables() for line in checks(table)] == CHECKS.read_text().splitlines()
