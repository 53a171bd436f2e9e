"""Checks of a run's report: one verdict on each pair, one colour and one title of each name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from pipeline.api.report_options import ReportOptions
from pipeline.api.results import Run, colours_of, stages
from pipeline.findings.across_runs import leading_answers, pair_findings
from pipeline.findings.base import Finding, StageView, collect_findings
from pipeline.findings.collocations.comparison import verdict_tests
from pipeline.findings.lexicon import names_of
from pipeline.kernels.measure import measure_title
from pipeline.report.page import images
from pipeline.report.page.build import set_style
from pipeline.report.view import VIEWS, Block, Figure, Listing, Text, flatten_blocks

# Verdicts: (category, n, better, worse) for all pairs with one, in every place that shows it.

Pair = tuple[str, int, str, str]


def verdicts(tests: pl.DataFrame) -> dict[Pair, str]:
    """Return the worse or close measures of the rows with a verdict."""
    result: dict[Pair, str] = {}
    columns = ("category", "n", "measure_1", "measure_2", "verdict")
    for category, n, one, two, verdict in tests.select(columns).rows():
        if verdict != "open":
            first, second = (two, one) if verdict == "worse" else (one, two)
            result[category, n, first, second] = "small" if verdict == "small" else "better"
    return result


def check_verdicts(run: Run) -> int:
    """Check all stages that compare measures or lexicons; return how many pairs have a verdict."""
    views = stages(run)
    findings = collect_findings(views)
    count = 0
    for stage in views.values():
        mine = [each.finding for each in findings if each.stage == stage.name]
        if stage.use in ("evaluate.comparison", "evaluate.designed"):
            count += _check_measures(stage, mine)
        elif stage.use == "evaluate.lexicons":
            count += _check_lexicons(stage, mine)
    return count


def check_runs_together(runs: Sequence[Run]) -> int:
    """Check the best measures on pages of several runs; return the number of answers checked.

    A page on a sweep names the leading answer at each point with those that do not differ from it;
    a page on two runs shows their findings side by side. Both must be the table `best` of each run.
    """
    views = [stages(run) for run in runs]
    findings = [collect_findings(each) for each in views]
    count = 0
    for lead in leading_answers(findings):
        for place, best in enumerate(lead.findings):
            if best is None or best.about not in ("best", "together"):
                continue
            table = views[place][lead.stage].table("best").collect()
            mine = table.filter(pl.col("n") == best.n, pl.col("category") == best.category)
            assert set(lead.names(place)) == set(mine["measure"]), best.text
            count += 1
    for pair in pair_findings(*findings[:2]):
        for each, both in zip((pair.first, pair.second), findings[:2], strict=True):
            assert each is None or each in [own.finding for own in both if own.stage == pair.stage]
    return count


def _check_measures(stage: StageView, findings: list[Finding]) -> int:
    designed = stage.use == "evaluate.designed"
    tests = stage.table("differences").collect() if designed else verdict_tests(stage)
    truth = verdicts(tests)
    if not designed and stage.table("clustered").collect().is_empty():
        assert verdicts(stage.table("cuts").collect()) == truth
    _check_limits(tests)
    best = stage.table("best").collect()
    _check_best(best, truth)
    rows = stage.table("differences").collect()
    finite = {} if designed else verdicts(rows.filter(pl.col("population") == "finite"))
    for finding in findings:
        _check_finding(finding, finite if finding.about == "worse_finite" else truth)
        assert finding.about != "worse_finite" or not _is_worse(finding, truth), finding.text
    _check_stars(stage, truth)
    return len(truth)


def _check_limits(tests: pl.DataFrame) -> None:
    """The limits exclude 0 for exactly the pairs with a verdict, but for limits that are 0."""
    inside = (pl.col("lower_family") < 0) & (pl.col("upper_family") > 0)
    outside = (pl.col("lower_family") > 0) | (pl.col("upper_family") < 0)
    assert tests.filter(pl.col("verdict") != "open", inside).is_empty()
    assert tests.filter(pl.col("verdict") == "open", outside).is_empty()


def _check_best(best: pl.DataFrame, truth: Mapping[Pair, str]) -> None:
    for (category, n), rows in best.group_by("category", "n"):
        leading = rows.filter("best")
        leaders = set(leading["measure"])
        assert leading["precision"].n_unique() == 1
        for measure in rows["measure"]:
            for leader in leaders:
                assert truth.get((category, n, leader, measure)) != "better", (n, leader, measure)
        worse = {pair[3] for pair, how in truth.items()
                 if pair[:2] == (category, n) and pair[2] in leaders and how == "better"}  # fmt: skip
        assert not worse & set(rows["measure"])


def _is_worse(finding: Finding, truth: Mapping[Pair, str]) -> bool:
    place = (finding.category or "", finding.n or 0, str(finding.other), str(finding.name))
    return truth.get(place) == "better"


def _check_finding(finding: Finding, truth: Mapping[Pair, str]) -> None:
    """A sentence has the word worse or better if and only if there is a verdict."""
    key = (finding.category or "", finding.n or 0)
    if finding.about in ("worse", "worse_finite"):
        assert _is_worse(finding, truth), finding.text
        assert finding.lower is None or finding.upper is None or finding.upper <= 0, finding.text
    elif finding.about == "together":
        assert not _is_worse(finding, truth), finding.text
    elif finding.about == "pair":
        one, two = str(finding.name), str(finding.other)
        word = {"better": 1, "worse": -1}
        match = re.search(r"\b(better|worse)\b", finding.text)
        there = (truth.get((*key, one, two)) == "better") - (
            truth.get((*key, two, one)) == "better"
        )
        assert (word[match[1]] if match else 0) == there, finding.text


STAR = re.compile(r"^\* ?([+−])")


def _check_stars(stage: StageView, truth: Mapping[Pair, str]) -> None:
    """The stars of matrices, row minus column, are the verdicts."""
    titles = {measure_title(name): name for pair in truth for name in pair[2:]}
    for block in blocks_of(stage):
        if not isinstance(block, Listing) or not block.name.startswith("matrix"):
            continue
        assert block.texts is not None
        category, n = block.frame.select("category", "n").row(0)
        first, *others = block.texts.columns
        for row in block.texts.iter_rows(named=True):
            for column in others:
                star = STAR.match(str(row[column]))
                one, two = (titles.get(name, name) for name in (row[first], column))
                above, below = ((category, n, *pair) for pair in ((one, two), (two, one)))
                there = {"+": above, "−": below}[star[1]] if star else None
                assert (truth.get(there) == "better") if there else (
                    "better" not in (truth.get(above), truth.get(below))
                ), (n, row[first], column)  # fmt: skip


def _check_lexicons(stage: StageView, findings: list[Finding]) -> int:
    tests = stage.table("differences").collect()
    _check_limits(tests)
    names = names_of(stage)
    sure = tests.filter(pl.col("verdict") != "open")
    words = {frozenset((row["first"], row["second"])): row["verdict"] for row in sure.to_dicts()}
    for finding in findings:
        if finding.about == "comparison":
            pair = frozenset((str(finding.name), str(finding.other)))
            assert bool(re.search(r" is (worse|better)\b", finding.text)) == (pair in words)
            assert names[str(finding.name)] in finding.text
    return len(words)


# Names: one colour and one title each, no identifiers in texts for readers.


def check_names(run: Run) -> int:
    """Check all figures and texts of a run; return how many names have a colour."""
    slots = colours_of(run, ReportOptions.model_validate(run.project.experiment.report).colours)
    colours: dict[str, str] = {}
    ids = {name for name in slots if measure_title(name) != name and "_" in name}
    unread = re.compile(rf"(?<![\w./`{{])({'|'.join(map(re.escape, sorted(ids)))})(?![\w./=])")
    findings = collect_findings(stages(run))
    texts = [each.finding.text for each in findings]
    for stage in stages(run).values():
        for block in blocks_of(stage, slots=slots, run=run):
            texts += _texts(block)
            if isinstance(block, Figure) and not block.name.endswith("-print"):
                for name, colour in _coloured_names(images.spec(block.chart)):
                    known = colours.setdefault(name, colour)
                    assert known == colour, f"{stage.name}.{block.name}: {name} {known} {colour}"
    if ids:
        assert [text for text in texts if unread.search(text)] == []
    return len(colours)


def _texts(block: Block) -> Iterator[str]:
    if isinstance(block, Text):
        yield block.text
    elif isinstance(block, Figure):
        yield from (block.caption, block.alt, *_strings(images.spec(block.chart)))
    elif isinstance(block, Listing):
        rows = block.frame if block.texts is None else block.texts
        yield from (block.caption, *rows.columns)
        yield from (str(cell) for row in rows.head(200).rows() for cell in row)


TEXT_KEYS = {"title", "text", "names", "domain", "labels"}


def _strings(spec: Any, under: str = "") -> Iterator[str]:
    """Yield the texts that a specification draws: titles, labels, names of its key."""
    if isinstance(spec, Mapping):
        for name, value in spec.items():
            yield from _strings(value, name)
    elif isinstance(spec, list | tuple):
        for value in spec:
            yield from _strings(value, under)
    elif isinstance(spec, str) and under in TEXT_KEYS:
        yield spec


def _coloured_names(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names of a figure's key and of its scales with their colours."""
    meta = spec.get("usermeta", {}).get("lexassay", {})
    yield from ((each["name"], each["colour"]) for each in meta.get("key", ()))
    yield from _scales(spec)


def _scales(spec: Any) -> Iterator[tuple[str, str]]:
    parts = spec.values() if isinstance(spec, Mapping) else spec
    if isinstance(spec, Mapping) and "domain" in spec and isinstance(spec.get("range"), list):
        pairs = zip(spec["domain"], spec["range"], strict=False)
        yield from ((name, str(shade)) for name, shade in pairs
                    if isinstance(name, str) and str(shade).startswith("#"))  # fmt: skip
    if isinstance(spec, Mapping | list | tuple):
        for part in parts:
            yield from _scales(part)


def blocks_of(stage: StageView, *, slots: Any = None, run: Run | None = None) -> Iterator[Block]:
    """Yield the blocks of a stage's view, as its report shows them."""
    if stage.use not in VIEWS:
        return
    view = VIEWS.get(stage.use)
    options = {} if run is None else run.project.experiment.report.get("views", {})
    own = view.options.model_validate(options.get(stage.name, {}))
    yield from flatten_blocks(view.show(stage, set_style(own, None, slots or {})))
