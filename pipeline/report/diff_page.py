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

MOST_FIGURES = 12
"""So many figures are drawn of each run."""
SIDES = ("first", "second")
MOST_EQUAL = 20
"""So many stages are named that are equal."""


@dataclass(frozen=True)
class Side:
    """One of the two runs.

    Parameters
    ----------
    name : str
        What it is called: "experiment:id".
    fact : str
        When it was, and how it ended.
    told : sequence of StageFinding
        What it found.
    gone : tuple of str
        Stages that it had done and whose results are no longer there.
    """

    name: str
    fact: str
    told: Sequence[StageFinding] = ()
    gone: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableRows:
    """How a table differs: rows of one run alone, changed ones, and examples.

    Parameters
    ----------
    table : str
        Its name.
    gone, new, changed : int
        Rows of the first run alone, of the second alone, and of both with other values.
    examples : sequence of (str, str, str)
        What happened to a row, its key, and its values before and after.
    columns : str
        In how many of the changed rows which columns differ, in brackets.
    """

    table: str
    gone: int
    new: int
    changed: int
    examples: Sequence[tuple[str, str, str]] = ()
    columns: str = ""


@dataclass(frozen=True)
class StageCompared:
    """A stage that differs.

    Parameters
    ----------
    name, title : str
        Its name, and what its section is called.
    reasons : tuple of str
        Why it differs.
    tables : sequence of TableRows
        How its tables differ.
    shown : pair of ReportStage or None
        The stage of either run, if its results are there and it is of the report.
    """

    name: str
    title: str
    reasons: tuple[str, ...] = ()
    tables: Sequence[TableRows] = ()
    shown: tuple[ReportStage | None, ReportStage | None] = (None, None)


@dataclass(frozen=True, kw_only=True)
class DiffInput:
    """Two runs.

    Parameters
    ----------
    first, second : Side
        The runs.
    settings : sequence of (str, str, str)
        Dotted paths of the settings that differ, with both values.
    stages : sequence of StageCompared
        The stages that differ.
    equal : tuple of str
        The stages with equal results.
    style, slots
        As those of a report.
    provenance : mapping of str to Record
        Where they come from.
    """

    first: Side
    second: Side
    settings: Sequence[tuple[str, str, str]] = ()
    stages: Sequence[StageCompared] = ()
    equal: tuple[str, ...] = ()
    style: Style | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)
    provenance: Mapping[str, Record] = field(default_factory=dict)


def diff_page(made: DiffInput) -> bytes:
    """Return the page of two runs, which needs no other file.

    Parameters
    ----------
    made : DiffInput
        The runs.
    """
    pairs = pair_findings(made.first.told, made.second.told)
    names = phrases.list_text(made.equal, most=MOST_EQUAL)
    equal = (
        f"Equal in both runs, row by row: {names}."
        if made.equal
        else "No stage has equal results in both runs."
    )
    sections = [
        Section("asked", "What differs in what was asked for", list(_settings_and_reasons(made))),
        Section("findings-compared", "Findings side by side", list(_findings(pairs))),
        *_stages(made),
        Section("equal", "What is equal", [Text(equal)]),
    ]
    made_of = Assembly(
        title="Two runs compared",
        facts=tuple(
            f"{side.capitalize()}: {run.name}, {run.fact}."
            for side, run in zip(SIDES, (made.first, made.second), strict=True)
        ),
        sections=[each for each in sections if each.blocks],
        provenance=made.provenance,
        answers=_answers(made, pairs),
        cautions=tuple(_cautions(made)),
        beside=False,
    )
    return assemble(made_of)["index.html"]


def _answers(made: DiffInput, pairs: Sequence[Pair]) -> tuple[Answers, ...]:
    count = Counter(pair.kind for pair in pairs)
    stages = phrases.count_text(len(made.stages), "stage")
    settings = phrases.count_text(len(made.settings), "setting")
    differ = (
        f"{settings} and {stages} differ" if made.stages or made.settings else "nothing differs"
    )
    said = [
        Statement(
            phrases.sentence(f"{differ}; {len(made.equal):,} stages are equal"),
            (),
            (Place("stage-asked", ""),),
        )
    ]
    if pairs:
        parts = [
            f"{count['both']:,} are said by both runs",
            f"{count['other']:,} are said otherwise",
            f"{count['first']:,} by the first run alone",
            f"{count['second']:,} by the second alone",
        ]
        text = f"of {phrases.count_text(len(pairs), 'finding')} {phrases.list_text(parts)}"
        said.append(Statement(phrases.sentence(text), (), (Place("stage-findings-compared", ""),)))
    return (Answers("What differs", "asked", tuple(said)),)


def _cautions(made: DiffInput) -> Iterator[Statement]:
    yield Statement(
        "Between two runs there is no test: a number that is higher in one of them may be so by"
        " chance, above all where their samples differ.",
        (),
    )
    for side, run in zip(SIDES, (made.first, made.second), strict=True):
        if run.gone:
            names = phrases.list_text(run.gone)
            yield Statement(
                f"Results of the {side} run are no longer in the store: {names}. What rests on"
                " them is not compared; run its experiment again, and they are made anew.",
                (),
            )


def _settings_and_reasons(made: DiffInput) -> Iterator[Block | Part]:
    if made.settings:
        yield _grid(("setting", *SIDES), made.settings, "Settings that differ.")
    else:
        yield Text("All settings are equal.")
    stages: dict[str, list[str]] = {}
    for each in made.stages:
        for reason in each.reasons:
            stages.setdefault(reason, []).append(each.name)
    rows = [(reason, phrases.list_text(names)) for reason, names in stages.items()]
    if rows:
        caption = "Why results differ: options, inputs, code and versions that stages rest on."
        yield _grid(("reason", "stages"), rows, caption)


def _findings(pairs: Sequence[Pair]) -> Iterator[Block | Part]:
    if not pairs:
        yield Text("Neither run has findings that could be read.")
        return
    differing = [pair for pair in pairs if pair.kind == "other"]
    if differing:
        yield _grid(
            ("stage", *SIDES, "change"),
            [
                (pair.stage, _text(pair.first), _text(pair.second), pair.change or NULL_TEXT)
                for pair in differing
            ],
            "The same question, answered otherwise; the change is in percentage points, where"
            " both give a proportion of the same thing.",
            right=3,
        )  # fmt: skip
    for side in SIDES:
        alone = [pair for pair in pairs if pair.kind == side]
        if alone:
            rows = [(pair.stage, _text(pair.first or pair.second)) for pair in alone]
            yield _grid(("stage", "finding"), rows, f"Said by the {side} run alone.")
    same = [(pair.stage, _text(pair.first)) for pair in pairs if pair.kind == "both"]
    if same:
        grid = _grid(("stage", "finding"), same, "Said by both runs.")
        yield FoldedParts(f"{phrases.count_text(len(same), 'finding')} of both runs", (grid,))


def _text(finding: Finding | None) -> str:
    return NULL_TEXT if finding is None else finding.text


def _stages(made: DiffInput) -> Iterator[Section]:
    left = MOST_FIGURES
    for each in made.stages:
        figures = _figures(each, made)
        found: list[Block | Part] = [*_tables(each), *figures[: 2 * left]]
        if len(figures) > 2 * left:
            more = phrases.count_text(len(figures) // 2 - left, "more figure")
            found.append(Text(f"{more} of each run are in the reports of the runs."))
        left = max(0, left - len(figures) // 2)
        if not found:
            found.append(Text("There is nothing to compare: one of the runs has no results of it."))
        yield Section(each.name, each.title, found)


def _tables(each: StageCompared) -> Iterator[Block | Part]:
    if each.reasons:
        yield Text(f"Why: {'; '.join(each.reasons)}.")
    rows = [
        (t.table, f"{t.gone:,}", f"{t.new:,}", f"{t.changed:,}{t.columns}") for t in each.tables
    ]
    if rows:
        heads = ("table", "rows gone", "new", "changed")
        caption = "Rows of the first run alone, of the second alone, and of both with other values."
        yield replace(_grid(heads, rows, caption), right=(False, True, True, True), wraps=False)
    examples = [(t.table, *example) for t in each.tables for example in t.examples]
    if examples:
        grid = _grid(("table", "what", "row", "values"), examples, "The first rows of each kind.")
        yield FoldedParts(f"Examples: {phrases.count_text(len(examples), 'row')}", (grid,))


def _figures(each: StageCompared, made: DiffInput) -> list[Block | Part]:
    """Return the figures of both runs, one below the other, with the same strokes."""
    first, second = each.shown
    if first is None or second is None or first.view.use not in VIEWS:
        return []
    first, second = _without_explorer(first), _without_explorer(second)
    try:
        drawn = [
            {block.name: block for block in blocks(shown, style=made.style, slots=made.slots)
             if isinstance(block, Figure)}
            for shown in (first, second)
        ]  # fmt: skip
    except (ConfigError, pl.exceptions.PolarsError):
        return []
    found: list[Block | Part] = []
    for name, before in drawn[0].items():
        after = drawn[1].get(name)
        if after is not None and after.chart != before.chart:
            for side, one in zip(SIDES, (before, after), strict=True):
                caption = f"{side.capitalize()} run. {one.caption}"
                found.append(replace(one, name=f"{name}-{side}", caption=caption))
    return found


def _without_explorer(shown: ReportStage) -> ReportStage:
    """Return a stage without the table of all rows, which takes long and is not compared."""
    options = shown.options or VIEWS.get(shown.view.use).options()
    if not isinstance(options, ExplorerOptions):
        return shown
    return replace(shown, options=options.model_copy(update={"explorer": False}))


def _grid(
    head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, *, right: int | None = None
) -> Grid:
    flush = tuple(place == right for place in range(len(head)))
    return Grid(tuple(head), flush, tuple(map(tuple, rows)), caption, wraps=True)
