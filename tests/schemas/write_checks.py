"""Everything that is checked of each table, line by line; run as a module, this writes the list anew.

python -m tests.schemas.write_checks
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import schemas
from pipeline.registry import import_all
from schemas import OpenTable, Table
from schemas.checks import pandera_schema

CHECKS = Path(__file__).with_name("checks.txt")


def tables() -> list[type[Table]]:
    """Return all tables that `schemas/__init__.py` should export: those without subclasses."""
    import_all("schemas")
    every = {each for each in below(Table) if each.__module__.startswith("schemas.")}
    bases = {base for each in every for base in each.__mro__[1:]}
    names = {each for each in every if each not in bases or vars(schemas).get(each.__name__)}
    return sorted(names - {OpenTable}, key=lambda table: table.__name__)


def below(table: type[Table]) -> Iterator[type[Table]]:
    for each in table.__subclasses__():
        yield each
        yield from below(each)


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


def lines() -> list[str]:
    return [line for table in tables() for line in checks(table)]


if __name__ == "__main__":
    CHECKS.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
    sys.stdout.write(f"{CHECKS}: look at what has gone, it is checked no more\n")
