"""The dry run: the whole graph on zero-row frames, wrong columns and types before any data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeAlias

import polars as pl
from polars import selectors

from pipeline import causes
from pipeline.errors import ConfigError, Problem, SchemaViolation
from pipeline.runner.config.graph import Node
from pipeline.runner.config.sources import SourceFile
from pipeline.stages.base import FAULTS, Outputs, Tables
from pipeline.stages.columns import NoSuchColumn
from pipeline.stages.counting import Bounds
from schemas import Faults, Table
from schemas.validate import check_columns

Sources: TypeAlias = Mapping[str, Mapping[str, list[SourceFile]]]
Planned: TypeAlias = dict[str, dict[str, pl.LazyFrame]]
"""Stage to table to zero rows of it."""


def dry_run(nodes: Mapping[str, Node], files: Sources) -> tuple[Planned, list[Problem]]:
    """Run every stage on zero rows and check what it makes against its schemas.

    Parameters
    ----------
    nodes : mapping of str to Node
        The stages in topological order.
    files : mapping of str to mapping
        Stage to option to the files found.

    Returns
    -------
    planned : dict of str to dict
        The tables of every stage, without rows.
    problems : list of Problem
        Empty if every stage fits together. A stage that rests on a wrong one is left out.
    """
    problems: list[Problem] = []
    outputs: Planned = {}
    for name, node in nodes.items():
        if any(reference.stage not in outputs for reference in node.inputs.values()):
            continue
        if any(option not in files.get(name, {}) for option in node.sources):
            continue
        where = f"stages.{name}"
        try:
            for label, tables in _inputs(node, outputs, files.get(name, {})):
                with _of_file(label):
                    outputs[name] = _run_on_nothing(node, tables)
        except ConfigError as error:
            problems += [problem.within(where) for problem in error.problems]
        except SchemaViolation as error:
            problems.append(Problem(where, str(error)))
        except pl.exceptions.PolarsError as error:
            what = f"cannot be computed: {causes.query(error)}"
            problems.append(Problem(where, what, "see its conditions and formulas"))
    return outputs, problems


@contextmanager
def _of_file(label: str) -> Iterator[None]:
    """Name the file that lacks a column."""
    try:
        yield
    except NoSuchColumn as error:
        wrong = [replace(each, what=f"{each.what} ({label})") for each in error.problems]
        raise NoSuchColumn(error.source, wrong) from error


def _inputs(
    node: Node,
    outputs: Mapping[str, Mapping[str, pl.LazyFrame]],
    files: Mapping[str, list[SourceFile]],
) -> Iterator[tuple[str, Tables]]:
    """Yield the zero-row inputs, once for each different header among the files, and which."""
    tables = {option: outputs[ref.stage][ref.table] for option, ref in node.inputs.items()}
    tables |= {option: folder.kind.entries.zero_rows() for option, folder in node.sheets.items()}
    if not node.sources:
        yield f"table {', '.join(map(str, node.inputs.values()))}", tables
        return
    headers = {option: _headers(found) for option, found in files.items()}
    for index in range(max(len(each) for each in headers.values())):
        chosen = {option: each[min(index, len(each) - 1)] for option, each in headers.items()}
        label = ", ".join(label for label, _ in chosen.values())
        yield label, tables | {option: header for option, (_, header) in chosen.items()}


def _headers(files: list[SourceFile]) -> list[tuple[str, pl.LazyFrame]]:
    """Return the different headers, each with the first file that has it."""
    schemas: dict[str, pl.Schema] = {}
    for file in files:
        schema = file.schema()
        if schema not in schemas.values():
            schemas[file.label] = schema
    return [(label, pl.LazyFrame(schema=schema)) for label, schema in schemas.items()]


def _run_on_nothing(node: Node, tables: Tables) -> dict[str, pl.LazyFrame]:
    stage, counting = node.stage, node.stage.counting
    if counting is None:
        return _checked(stage.run(node.config, tables), stage.outputs)
    carried = {name: pl.LazyFrame(schema=each) for name, each in counting.carry.items()}
    ran = stage.run(node.config, {**tables, **carried})
    raw = {name: ran[name].lazy().collect() for name in counting.raw}
    tallied = counting.tally(raw, Bounds()) if counting.tally else {}
    own = {name: table for name, table in ran.items() if name not in {*counting.carry, *raw}}
    merged = _checked({**own, **tallied}, counting.partials)
    merged = _checked(counting.merge(node.config, merged), counting.partials)
    if counting.close:
        merged = _checked(counting.close(merged), counting.partials)
    if counting.totals:
        merged |= _checked(counting.totals(node.config, merged), counting.total_tables)
    return _checked(counting.combine(node.config, merged), stage.outputs)


def _checked(outputs: Outputs, models: Mapping[str, type[Table]]) -> dict[str, pl.LazyFrame]:
    """Check what a stage plans to make; return zero rows of it."""
    as_text = selectors.categorical().cast(pl.String)
    planned = {name: output.lazy().with_columns(as_text) for name, output in outputs.items()}
    expected = dict(models) | ({FAULTS: Faults} if FAULTS in planned else {})
    if set(planned) != set(expected):
        what = f"makes {sorted(planned)}, but declares {sorted(models)}"
        raise ConfigError("use", [Problem("use", what, "this is a defect of the stage")])
    for name, model in expected.items():
        check_columns(planned[name], model, name=f"table {name}")
    return {name: pl.LazyFrame(schema=plan.collect_schema()) for name, plan in planned.items()}
