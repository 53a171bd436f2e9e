"""The page of a sweep: what was varied, the answer at each point, small multiples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from pipeline.findings import words
from pipeline.findings.gathering import Told, as_table
from pipeline.findings.over_points import Leading, at_point, leading, not_over_points, over_points
from pipeline.report.across.panels import Collected, figures
from pipeline.report.across.settings import Point, Setting, label, settings_of, text
from pipeline.report.charts.parts.options import Look, Slot, Style
from pipeline.report.page.assembled import Assembly, Section, assemble
from pipeline.report.page.cells import NOTHING
from pipeline.report.page.document import Record
from pipeline.report.page.names import distinct
from pipeline.report.page.page import Answers, Data, Folded, Link, Part, Place, Said
from pipeline.report.page.parts import MOST_SHOWN, Files, table_part
from pipeline.report.view import Block, Fold, Listing, Text

MOST_SAID = 8
"""So many questions are answered at the head of the page, and have a column in the table."""
MOST_CAUTIONS = 8
"""So many cautions are given, those of the most points first."""
OTHERWISE = "●"
"""What marks an answer that names something else than at most points."""

_BELOW = (Place("stage-answers", ""),)


@dataclass(frozen=True, kw_only=True)
class SweepInput:
    """A sweep that has been run.

    Parameters
    ----------
    title, description : str
        Of the experiment.
    points : sequence of mapping
        The points, at least one: dotted path of each setting to its value.
    told : sequence of sequence of Told
        What was found at each point.
    collected : sequence of Collected
        The stacked tables.
    remarks : sequence of sequence of str
        What looks wrong in the data of each point, a sentence each.
    waits : mapping of str to str
        What waits for people at some point, and why.
    style, slots, pictures
        As those of a report.
    provenance : mapping of str to Record
        Where it comes from.
    """

    title: str
    points: Sequence[Point]
    description: str = ""
    told: Sequence[Sequence[Told]] = ()
    collected: Sequence[Collected] = ()
    remarks: Sequence[Sequence[str]] = ()
    waits: Mapping[str, str] = field(default_factory=dict)
    style: Style | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)
    pictures: tuple[str, ...] = ("svg",)
    provenance: Mapping[str, Record] = field(default_factory=dict)


def sweep_page(made: SweepInput) -> Files:
    """Return the files of a sweep's page: relative path -> content.

    Parameters
    ----------
    made : SweepInput
        The sweep.

    Returns
    -------
    dict of str to bytes
        ``index.html`` and, beside it, files of its figures and of its own tables. The stacked
        tables are not among them: they lie beside it under their names.
    """
    settings = settings_of(made.points)
    labels = [label(point, settings) for point in made.points]
    leads = leading(made.told)
    sections = [
        Section("answers", "The answer at each point", list(_answer_blocks(made, settings, leads))),
        *(_collected(each, made, settings) for each in made.collected),
    ]
    return assemble(
        Assembly(
            title=f"Sweep: {made.title}",
            description=made.description,
            facts=_facts(made.points, settings),
            sections=[each for each in sections if each.blocks],
            provenance=made.provenance,
            missing=made.waits,
            answers=_answers(leads, labels),
            cautions=tuple(_cautions(made)),
            drawer="Stacked tables beside this page",
            pictures=made.pictures,
        )
    )


def _facts(points: Sequence[Point], settings: Sequence[Setting]) -> tuple[str, ...]:
    """Say what is varied, in a sentence."""
    count = words.counted(len(points), "point")
    every = f"{count}, every combination of" if len(settings) > 1 else f"{count}:"
    return (f"{every} {'; '.join(each.said() for each in settings)}.",)


def _answers(leads: Sequence[Leading], labels: Sequence[str]) -> tuple[Answers, ...]:
    said = []
    for each in leads:
        found = [] if each.is_same else list(over_points(each, labels))
        if len(labels) == 1:
            found = [one for one in each.found if one is not None]
        if found:
            first, *rest = found
            said.append(Said(first.text, tuple(one.text for one in rest), _BELOW))
    said = said[:MOST_SAID]
    if same := [each.found[0].text for each in leads if each.is_same and each.found[0]]:
        said.append(Said(f"The same at all {len(labels):,} points:", tuple(same[:MOST_SAID])))
    return (Answers("Over the points", "answers", tuple(said)),) if said else ()


def _cautions(made: SweepInput) -> Iterator[Said]:
    if len(made.points) > 1:
        yield Said(not_over_points(len(made.points)).text, ())
    whole = len(made.points)
    found = [*_told_often(made.told), *_remarked_often(made.remarks)]
    ordered = sorted(found, key=lambda each: -each[1])
    for said, count in ordered[:MOST_CAUTIONS]:
        yield Said(said if whole == 1 else f"At {_of(count, whole)}: {said}", ())
    if len(ordered) > MOST_CAUTIONS:
        more = words.counted(len(ordered) - MOST_CAUTIONS, "more caution")
        yield Said(f"{more} at some points: in the findings.", ())


def _of(count: int, whole: int) -> str:
    return f"all {whole:,} points" if count == whole else f"{count:,} of {whole:,} points"


def _told_often(told: Sequence[Sequence[Told]]) -> list[tuple[str, int]]:
    """Return each kind of caution once, with the number of points that have it."""
    texts: dict[tuple[object, ...], list[str]] = {}
    for point in told:
        mine: dict[tuple[object, ...], str] = {}
        for each in point:
            one = each.finding
            if one.kind == "caution":
                key: tuple[object, ...] = (
                    each.stage,
                    one.about,
                    one.category,
                    one.name,
                    one.other,
                    one.n,
                )
                mine.setdefault(key, one.text)
        for same, said in mine.items():
            texts.setdefault(same, []).append(said)
    return [
        (each[0] if len(set(each)) == 1 else f"{each[0]} (The numbers differ from point to point.)",
         len(each))
        for each in texts.values()
    ]  # fmt: skip


def _remarked_often(remarks: Sequence[Sequence[str]]) -> list[tuple[str, int]]:
    return list(Counter(each for point in remarks for each in dict.fromkeys(point)).items())


def _answer_blocks(
    made: SweepInput, settings: Sequence[Setting], leads: Sequence[Leading]
) -> Iterator[Block]:
    if not leads:
        return
    varying = [each for each in leads if not each.is_same]
    shown = (varying or leads)[:MOST_SAID]
    heads = distinct([*(each.name for each in settings), *(_head(each, leads) for each in shown)])
    columns = [[text(point[each.path]) for point in made.points] for each in settings]
    columns += [_cells(each) for each in shown]
    frame = pl.DataFrame(
        dict(zip(heads, columns, strict=True)), schema=dict.fromkeys(heads, pl.String)
    )
    right = tuple(head for head, each in zip(heads, settings, strict=False) if each.numbers)
    caption = (
        "The leading answer to each question, point by point; “with” names what the tests of that"
        f" point cannot tell apart from it. {OTHERWISE} marks an answer that names something else"
        " than at most points. Answers that are the same at all points have no column."
    )
    yield Listing("points", caption, frame, shown=frame, right=right, wraps=True)
    if more := len(varying or leads) - len(shown):
        yield Text(f"{words.counted(more, 'more question')} are answered in the table of findings.")
    heads, findings = _findings(made, settings)
    yield Fold(
        f"All {findings.height:,} findings of all points",
        [
            Listing(
                "findings",
                "What was found at each point, in the order of reading.",
                findings,
                shown=findings.select(*heads, "stage", "text"),
                wraps=True,
            )
        ],
    )


def _head(each: Leading, leads: Sequence[Leading]) -> str:
    """Return what a question is called in a heading: with its stage where two ask the same."""
    alike = [other for other in leads if other.question == each.question]
    question = each.question or each.stage.replace("_", " ")
    return f"{question} ({each.stage})" if len(alike) > 1 else question


def _cells(each: Leading) -> list[str]:
    names = Counter(found.name for found in each.found if found is not None)
    usual = names.most_common(1)[0][0] if names else None
    cells = []
    for place, found in enumerate(each.found):
        if found is None:
            cells.append(NOTHING)
            continue
        mark = f"{OTHERWISE} " if found.name != usual else ""
        cells.append(f"{mark}{at_point(each, place)}")
    return cells


def _findings(made: SweepInput, settings: Sequence[Setting]) -> tuple[list[str], pl.DataFrame]:
    """Return the columns of settings, and the findings of all points, which begin with these."""
    own = as_table([]).columns
    heads = distinct([*own, *(each.name for each in settings)])[len(own) :]
    frames = [
        as_table(told).select(
            *(
                pl.lit(text(point[each.path])).alias(head)
                for head, each in zip(heads, settings, strict=True)
            ),
            pl.all(),
        )
        for point, told in zip(made.points, made.told, strict=True)
    ]
    return heads, pl.concat(frames)


def _collected(each: Collected, made: SweepInput, settings: Sequence[Setting]) -> Section:
    look = Look(style=made.style or "screen", slots=made.slots)
    rows = sum(table.height for table in each.tables)
    blocks: list[Block | Part] = list(figures(each, made.points, settings, look))
    links = (Link("csv", f"{each.name}.csv"), Link("parquet", f"{each.name}.parquet"))
    if rows:
        blocks.append(
            Folded(f"The table: {words.counted(rows, 'row')}", (_rows(each, rows, links),))
        )
    use = f"stacked over {words.counted(len(made.points), 'point')}"
    data = (Data(each.name, rows, links),)
    return Section(each.name, each.title, blocks, use=use, data=data)


def _rows(each: Collected, rows: int, links: tuple[Link, ...]) -> Part:
    """Return the first rows of a stacked table, with links to the whole."""
    some: list[pl.DataFrame] = []
    while len(some) < len(each.tables) and sum(table.height for table in some) < MOST_SHOWN:
        some.append(each.tables[len(some)].head(MOST_SHOWN))
    first = pl.concat(some, how="diagonal_relaxed").head(MOST_SHOWN)
    grid, _ = table_part(Listing("rows", f"{each.title}: its rows.", first), "rows")
    return replace(grid, left_out=rows - first.height, links=links)
