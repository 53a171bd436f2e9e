"""Selected rows and columns of a table, and the list of tables of an experiment."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import polars as pl

from pipeline.api.results import EFFECTS, NAME, Run, names_findings
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.expressions import expression
from pipeline.runner.graph import Node, Reference
from pipeline.runner.store import artefacts
from pipeline.runner.store.history import SWEEP
from schemas import Findings
from schemas.base import Table
from schemas.candidates import arity

# Words beside ids

ID = "id"


def words_for(run: Run, start: Reference, there: list[str]) -> pl.LazyFrame | None:
    """Return ids with their words: l1, l2, and l3 ... of tuples.

    Parameters
    ----------
    run : Run
        The results.
    start : Reference
        The table with the ids; words come from the nearest table of its stage or of the stages that
        it depends on.
    there : list of str
        Its columns.

    Returns
    -------
    LazyFrame or None
        Each id once; None if the table has no ids or already has words, or no table with words
        exists.
    """
    if ID not in there or "l1" in there:
        return None
    for reference in _upstream(run, start.stage):
        model = run.project.nodes[reference.stage].stage.outputs[reference.table]
        if model.key() != (ID,) or reference.stage not in run.manifests:
            continue
        query = run.plan(str(reference))
        if units := arity(query.collect_schema().names()):
            names = [f"l{place}" for place in range(1, units + 1)]
            return query.select(ID, *(name for name in names if name not in there))
    return None


def _upstream(run: Run, stage: str) -> Iterator[Reference]:
    """Yield the tables of a stage, then of those that it depends on, nearest first."""
    waiting, seen = deque([stage]), {stage}
    while waiting:
        node = run.project.nodes[waiting.popleft()]
        yield from (Reference(node.name, table) for table in node.stage.outputs)
        for reference in node.inputs.values():
            if reference.stage not in seen:
                seen.add(reference.stage)
                waiting.append(reference.stage)


def beside(query: pl.LazyFrame, words: pl.LazyFrame) -> pl.LazyFrame:
    """Return a table with the words inserted after its ids.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"rank": [1], "id": ["x"], "score": [2.5]})
    >>> words = pl.LazyFrame({"id": ["x"], "l1": ["in"], "l2": ["Kraft"]})
    >>> beside(ranks, words).collect().columns
    ['rank', 'id', 'l1', 'l2', 'score']
    """
    names = query.collect_schema().names()
    place = names.index(ID) + 1
    added = [name for name in words.collect_schema().names() if name != ID]
    joined = query.join(words, on=ID, how="left", maintain_order="left")
    return joined.select(*names[:place], *added, *names[place:])


DESCENDING = {"asc": False, "desc": True}


@dataclass(frozen=True)
class View:
    """A selection from a table.

    Parameters
    ----------
    where : str
        SQL condition; all rows if empty.
    sort : sequence of str
        Columns to sort by, ``score`` or ``score:desc``; ties, and all rows by default, in the order
        of the table's key. Missing values come last.
    columns : sequence of str
        Column names or patterns such as ``f*``; all if empty.
    top : int or None
        Number of rows in that order.
    words : bool
        Add l1, l2 ... beside ids if another table of the experiment has them.
    """

    where: str = ""
    sort: Sequence[str] = ()
    columns: Sequence[str] = ()
    top: int | None = None
    words: bool = False


def view(run: Run, name: str, wanted: View) -> pl.DataFrame:
    """Return selected rows and columns of a table.

    Parameters
    ----------
    run : Run
        The results.
    name : str
        The table, as for `Run.table`.
    wanted : View
        Rows, columns and order; may name words even if they are not shown.

    Raises
    ------
    ConfigError
        For an unknown table, column or condition, with the nearest names.
    """
    with artefacts.report_damage(run.project.storage, run.manifests.values()):
        query, key = _open(run, name)
        own = query.collect_schema().names()
        stacked = name.removeprefix(f"{SWEEP}.")
        words = None
        if name != f"{SWEEP}.{EFFECTS}" and not names_findings(run.project, stacked):
            words = words_for(run, run.reference(stacked), own)
        whole = query if words is None else beside(query, words)
        shown = _columns_to_show(
            whole, wanted, whole.collect_schema().names() if wanted.words else own
        )
        kept = whole if {*shown, *_columns_used(wanted)} - set(own) else query
        if wanted.where:
            kept = kept.filter(expression(wanted.where))
        ordered = _sort(kept, wanted.sort, key)
        rows = ordered if wanted.top is None else ordered.head(wanted.top)
        return rows.select(shown).collect()


def tables(run: Run) -> pl.DataFrame:
    """Return the tables of an experiment: name, number of rows if made, and description.

    Empty tables are omitted.
    """
    rows = [
        {"table": name, "rows": count, "what": what}
        for node in run.project.nodes.values()
        for name, count, what in _stage_tables(run, node)
        if count != 0
    ]
    if names_findings(run.project, NAME):
        rows.append({"table": NAME, "rows": None, "what": _doc(Findings)})
    options = run.project.experiment.sweep
    rows += [
        {"table": f"{SWEEP}.{name}", "rows": None, "what": "stacked over all points of the sweep"}
        for name in (options.collect if options else ())
    ]
    if options:
        what = "main effects of the settings of the sweep"
        rows.append({"table": f"{SWEEP}.{EFFECTS}", "rows": None, "what": what})
    return pl.DataFrame(rows, schema={"table": pl.String, "rows": pl.Int64, "what": pl.String})


def _stage_tables(run: Run, node: Node) -> Iterator[tuple[str, int | None, str]]:
    """Yield the tables of a stage, as `Run.table` calls them."""
    made = run.manifests.get(node.name)
    for place, (table, model) in enumerate(node.stage.outputs.items()):
        what = _doc(model)
        name = f"{node.name}.{table}" if place else node.name
        yield name, made.tables[table].rows if made else None, what


def _doc(model: type[Table]) -> str:
    return (inspect.getdoc(model) or "").partition("\n")[0]


def _open(run: Run, name: str) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Return the query of a table and its key; stacked tables of a sweep keep their order."""
    if name.partition(".")[0] == SWEEP:
        return run.table(name).lazy(), ()
    if names_findings(run.project, name):
        return run.findings.lazy(), Findings.key()
    reference = run.reference(name)
    return run.plan(name), run.project.nodes[reference.stage].stage.outputs[reference.table].key()


def _sort(query: pl.LazyFrame, sort: Sequence[str], key: Sequence[str]) -> pl.LazyFrame:
    by = [each.partition(":") for each in sort]
    falling = [DESCENDING.get(way, False) for _, _, way in by] + [False] * len(key)
    names = [name for name, _, _ in by] + list(key)
    if not names:
        return query
    return query.sort(names, descending=falling, nulls_last=True, maintain_order=True)


def _columns_used(wanted: View) -> set[str]:
    """Return the columns in the condition and the order."""
    tested = expression(wanted.where).meta.root_names() if wanted.where else []
    return {*tested, *(each.partition(":")[0] for each in wanted.sort)}


def _columns_to_show(table: pl.LazyFrame, wanted: View, visible: Sequence[str]) -> list[str]:
    """Return the names of the columns to show.

    Raises
    ------
    ConfigError
        With every error in the selection.
    """
    schema = table.collect_schema()
    problems = [
        *_where_problems(wanted.where, schema),
        *_sort_problems(wanted.sort, schema.names()),
    ]
    shown = dict.fromkeys(() if wanted.columns else visible)
    for pattern in wanted.columns:
        fitting = [pattern] if pattern in schema else fitting_names(pattern, visible)
        shown |= dict.fromkeys(fitting)
        if not fitting:
            problems.append(_absent("columns", pattern, schema.names()))
    if problems:
        raise ConfigError("show", problems)
    return list(shown)


def fitting_names(pattern: str, names: Sequence[str]) -> list[str]:
    """Return the names that match a pattern, in their order.

    Examples
    --------
    >>> fitting_names("f*", ["id", "f", "f1", "N"])
    ['f', 'f1']
    """
    return [name for name in names if fnmatchcase(name, pattern)]


def _where_problems(text: str, schema: pl.Schema) -> Iterator[Problem]:
    if not text:
        return
    try:
        condition = expression(text)
    except ValueError as error:
        yield Problem("where", str(error))
        return
    absent = [name for name in condition.meta.root_names() if name not in schema]
    yield from (_absent("where", name, schema.names()) for name in dict.fromkeys(absent))
    if absent:
        return
    try:
        pl.DataFrame(schema=schema).filter(condition)
    except pl.exceptions.PolarsError:
        what = f"{text!r} cannot be a condition on this table: its types do not fit"
        yield Problem("where", what, "compare numbers with numbers, texts with texts")


def _sort_problems(sort: Sequence[str], names: Sequence[str]) -> Iterator[Problem]:
    for each in sort:
        name, _, way = each.partition(":")
        if name not in names:
            yield _absent("sort", name, names)
        if way and way not in DESCENDING:
            yield Problem("sort", f"{each!r}: unknown order {way!r}", did_you_mean(way, DESCENDING))


def _absent(where: str, name: str, names: Sequence[str]) -> Problem:
    what = "no column matches" if any(mark in name for mark in "*?[") else "no column"
    return Problem(where, f"{what} {name!r}", did_you_mean(name, names))
