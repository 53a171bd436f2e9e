"""The page of two runs: differences in settings, findings and tables, and both figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from pipeline.errors import ConfigError
from pipeline.findings import phrases
from pipeline.findings.across_runs import Pair, pair_findings
from pipeline.findings.base import Finding, StageFinding
from pipeline.report.charts.style import Slot, Style
from pipeline.report.page.build import Assembly, Section, assemble, blocks
from pipeline.report.page.model import (
    Answers,
    FoldedParts,
    Grid,
    Part,
    Place,
    Record,
    ReportStage,
    Statement,
)
from pipeline.report.view import NULL_TEXT, VIEWS, Block, ExplorerOptions, Figure, Text
from schemas.errors import count_text

MOST_FIGURES = 12
"""The largest number of figures of each run."""
SIDES = ("first", "second")
MOST_EQUAL = 20
"""The largest number of equal stages to name."""


@dataclass(frozen=True)
class Side:
    """One of the two runs.

    Parameters
    ----------
    name : str
        Its name: "experiment:id".
    fact : str
        Its time and outcome.
    findings : sequence of StageFinding
        Its findings.
    removed : tuple of str
        Completed stages with results that no longer exist.
    """

    name: str
    fact: str
    findings: Sequence[StageFinding] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableRows:
    """Differences of a table: rows in one run only, changed rows, and examples.

    Parameters
    ----------
    table : str
        Its name.
    removed, new, changed : int
        Rows in the first run only, in the second only, and in both with different values.
    examples : sequence of (str, str, str)
        The kind of change of a row, its key, and its values before and after.
    columns : str
        The columns that differ, with numbers of changed rows, in parentheses.
    """

    table: str
    removed: int
    new: int
    changed: int
    examples: Sequence[tuple[str, str, str]] = ()
    columns: str = ""


@dataclass(frozen=True)
class ComparedStage:
    """A stage that differs.

    Parameters
    ----------
    name, title : str
        Its name, and the title of its section.
    reasons : tuple of str
        The reasons for differences.
    tables : sequence of TableRows
        The differences of its tables.
    reports : pair of ReportStage or None
        The stage of each run, if its results exist and it is in the report.
    """

    name: str
    title: str
    reasons: tuple[str, ...] = ()
    tables: Sequence[TableRows] = ()
    reports: tuple[ReportStage | None, ReportStage | None] = (None, None)


@dataclass(frozen=True, kw_only=True)
class DiffInput:
    """Two runs.

    Parameters
    ----------
    first, second : Side
        The runs.
    settings : sequence of (str, str, str)
        Dotted paths of the settings that differ, with both values.
    stages : sequence of ComparedStage
        The stages that differ.
    equal : tuple of str
        The stages with equal results.
    style, slots
        The same as those of a report.
    provenance : mapping of str to Record
        Their provenance.
    """

    first: Side
    second: Side
    settings: Sequence[tuple[str, str, str]] = ()
    stages: Sequence[ComparedStage] = ()
    equal: tuple[str, ...] = ()
    style: Style | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)
    provenance: Mapping[str, Record] = field(default_factory=dict)


def diff_page(diff: DiffInput) -> bytes:
    """Return the page of two runs as a single file.

    Parameters
    ----------
    diff : DiffInput
        The runs.
    """
    pairs = pair_findings(diff.first.findings, diff.second.findings)
    names = phrases.list_text(diff.equal, most=MOST_EQUAL)
    equal = (
        f"Equal in both runs, row by row: {names}."
        if diff.equal
        else "No stage has equal results in both runs."
    )
    sections = [
        Section("asked", "Differences in settings", list(_settings_and_reasons(diff))),
        Section("findings-compared", "Findings side by side", list(_findings(pairs))),
        *_stages(diff),
        Section("equal", "Stages without differences", [Text(equal)]),
    ]
    made_of = Assembly(
        title="Comparison of two runs",
        facts=tuple(
            f"{side.capitalize()}: {run.name}, {run.fact}."
            for side, run in zip(SIDES, (diff.first, diff.second), strict=True)
        ),
        sections=[each for each in sections if each.blocks],
        provenance=diff.provenance,
        answers=_answers(diff, pairs),
        cautions=tuple(_cautions(diff)),
        beside=False,
    )
    return assemble(made_of)["index.html"]


def _answers(diff: DiffInput, pairs: Sequence[Pair]) -> tuple[Answers, ...]:
    count = Counter(pair.kind for pair in pairs)
    stages = count_text(len(diff.stages), "stage")
    settings = count_text(len(diff.settings), "setting")
    equal = count_text(len(diff.equal), "stage")
    differ = (
        f"{settings} and {stages} differ" if diff.stages or diff.settings else "nothing differs"
    )
    statements = [
        Statement(
            phrases.sentence(f"{differ}; {equal} {'is' if len(diff.equal) == 1 else 'are'} equal"),
            (),
            (Place("stage-asked", ""),),
        )
    ]
    if pairs:
        parts = [
            f"{count['both']:,} the same in both runs",
            f"{count['other']:,} different",
            f"{count['first']:,} only in the first run",
            f"{count['second']:,} only in the second",
        ]
        text = f"{count_text(len(pairs), 'finding')}: {phrases.list_text(parts)}"
        statements.append(
            Statement(phrases.sentence(text), (), (Place("stage-findings-compared", ""),))
        )
    return (Answers("Differences", "asked", tuple(statements)),)


def _cautions(diff: DiffInput) -> Iterator[Statement]:
    yield Statement(
        "There is no test between two runs: a higher number in one of them may be due to chance,"
        " especially if their samples differ.",
        (),
    )
    for side, run in zip(SIDES, (diff.first, diff.second), strict=True):
        if run.removed:
            names = phrases.list_text(run.removed)
            yield Statement(
                f"Results of the {side} run are no longer in the store: {names}. Stages that"
                " depend on them are not compared; run the experiment again to restore them.",
                (),
            )


def _settings_and_reasons(diff: DiffInput) -> Iterator[Block | Part]:
    if diff.settings:
        yield _grid(("setting", *SIDES), diff.settings, "Settings that differ.")
    else:
        yield Text("All settings are equal.")
    stages: dict[str, list[str]] = {}
    for each in diff.stages:
        for reason in each.reasons:
            stages.setdefault(reason, []).append(each.name)
    rows = [(reason, phrases.list_text(names)) for reason, names in stages.items()]
    if rows:
        caption = "Reasons for differences: options, inputs, code and versions of stages."
        yield _grid(("reason", "stages"), rows, caption)


def _findings(pairs: Sequence[Pair]) -> Iterator[Block | Part]:
    if not pairs:
        yield Text("Neither run has readable findings.")
        return
    differing = [pair for pair in pairs if pair.kind == "other"]
    if differing:
        yield _grid(
            ("stage", *SIDES, "change"),
            [
                (pair.stage, _text(pair.first), _text(pair.second), pair.change or NULL_TEXT)
                for pair in differing
            ],
            "Questions with different answers; the change is in percentage points, if both answers"
            " give a proportion of the same item.",
            right=3,
        )  # fmt: skip
    for side in SIDES:
        alone = [pair for pair in pairs if pair.kind == side]
        if alone:
            rows = [(pair.stage, _text(pair.first or pair.second)) for pair in alone]
            yield _grid(("stage", "finding"), rows, f"Only in the {side} run.")
    same = [(pair.stage, _text(pair.first)) for pair in pairs if pair.kind == "both"]
    if same:
        grid = _grid(("stage", "finding"), same, "The same in both runs.")
        yield FoldedParts(f"{count_text(len(same), 'finding')} in both runs", (grid,))


def _text(finding: Finding | None) -> str:
    return NULL_TEXT if finding is None else finding.text


def _stages(diff: DiffInput) -> Iterator[Section]:
    room = MOST_FIGURES
    for each in diff.stages:
        figures = _figures(each, diff)
        parts: list[Block | Part] = [*_tables(each), *figures[: 2 * room]]
        if len(figures) > 2 * room:
            more = count_text(len(figures) // 2 - room, "more figure")
            parts.append(Text(f"The reports of the runs have {more} each."))
        room = max(0, room - len(figures) // 2)
        if not parts:
            parts.append(Text("Not compared: one of the runs has no results for this stage."))
        yield Section(each.name, each.title, parts)


def _tables(each: ComparedStage) -> Iterator[Block | Part]:
    if each.reasons:
        yield Text(f"Reasons: {'; '.join(each.reasons)}.")
    rows = [
        (t.table, f"{t.removed:,}", f"{t.new:,}", f"{t.changed:,}{t.columns}") for t in each.tables
    ]
    if rows:
        heads = ("table", "rows removed", "rows added", "rows changed")
        caption = (
            "Rows only in the first run (removed), only in the second run (added), and in both "
            "with different values (changed)."
        )
        yield replace(_grid(heads, rows, caption), right=(False, True, True, True), wraps=False)
    examples = [(t.table, *example) for t in each.tables for example in t.examples]
    if examples:
        grid = _grid(
            ("table", "change", "row", "values"), examples, "Examples of each kind of change."
        )
        yield FoldedParts(f"Examples: {count_text(len(examples), 'row')}", (grid,))


def _figures(each: ComparedStage, diff: DiffInput) -> list[Block | Part]:
    """Return the figures of both runs, one below the other, with the same strokes."""
    first, second = each.reports
    if first is None or second is None or first.view.use not in VIEWS:
        return []
    first, second = _without_explorer(first), _without_explorer(second)
    try:
        drawn = [
            {block.name: block for block in blocks(stage, style=diff.style, slots=diff.slots)
             if isinstance(block, Figure)}
            for stage in (first, second)
        ]  # fmt: skip
    except (ConfigError, pl.exceptions.PolarsError):
        return []
    figures: list[Block | Part] = []
    for name, before in drawn[0].items():
        after = drawn[1].get(name)
        if after is not None and after.chart != before.chart:
            for side, one in zip(SIDES, (before, after), strict=True):
                caption = f"{side.capitalize()} run. {one.caption}"
                figures.append(replace(one, name=f"{name}-{side}", caption=caption))
    return figures


def _without_explorer(stage: ReportStage) -> ReportStage:
    """Return a stage without the table of all rows, which takes long and is not compared."""
    options = stage.options or VIEWS.get(stage.view.use).options()
    if not isinstance(options, ExplorerOptions):
        return stage
    return replace(stage, options=options.model_copy(update={"explorer": False}))


def _grid(
    head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, *, right: int | None = None
) -> Grid:
    flush = tuple(place == right for place in range(len(head)))
    return Grid(tuple(head), flush, tuple(map(tuple, rows)), caption, wraps=True)
