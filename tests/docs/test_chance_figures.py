"""The figures on what chance finds are those that the script prints."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from pipeline.report.views.collocations.comparison import HowTested, how_many
from tests.report.report_frames import defaults

ROOT = Path(__file__).parents[2]
CHAPTER = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def chance() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield importlib.import_module("chance_findings")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture
def chapter(chance: ModuleType) -> ModuleType:
    return sys.modules[chance.show.__module__]


def test_the_best_of_many_lists(chance: ModuleType, chapter: ModuleType) -> None:
    made = chapter.updated(CHAPTER, {"best": chance.best_block()}, "chance_findings.py")
    assert made == CHAPTER


@pytest.mark.parametrize("case", [(2, 3, 0.1), (5, 3, 0.3)])
def test_the_strata(chance: ModuleType, case: tuple[int, int, float]) -> None:
    row = chance.table(["", ""], [chance.strata_row(*case, chance.SAMPLES)]).splitlines()[-1]
    assert row in CHAPTER


@pytest.mark.long
def test_the_marks(chance: ModuleType, public_data: Callable[[str], Path]) -> None:
    places = chance.krenn(public_data("collocations/krenn_pp_verb.ds").parents[1])
    one, other = chance.PAIRS[0]
    share = chance.marked(places[one], places[other], chance.RATES[0], chance.SAMPLES)
    assert f"| `{one}`, `{other}` | {100 * share:.0f} |" in CHAPTER


def test_the_report_gives_the_figures_of_the_chapter() -> None:
    table = CHAPTER.partition("<!-- marks:")[2].partition("<!-- end of marks")[0]
    rows = [re.findall(r"\| (\d+)", line) for line in table.splitlines()]
    tenth, _, whole = zip(*[[int(each) for each in row] for row in rows if row], strict=True)
    said = how_many(HowTested.model_validate(defaults("evaluate.comparison")))
    assert f"in {min(tenth)} to {max(tenth)} % of simulated samples of 10 %" in said
    assert f"in {min(whole)} to {max(whole)} % once all was judged" in said


def test_there_is_a_place_for_each_block(chapter: ModuleType) -> None:
    with pytest.raises(ValueError, match="no place for mine"):
        chapter.updated(CHAPTER, {"mine": ""}, "chance_findings.py")


@pytest.mark.long
def test_the_limits_of_average_precision(public_data: Callable[[str], Path]) -> None:
    """A cell of few samples, within its error of what the chapter says."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        script = importlib.import_module("average_precision_coverage")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    ranked = script.krenn(public_data("collocations/krenn_pp_verb.ds").parents[1])
    (row,) = re.findall(r"^\| by rank, 250 \|(.*)\|$", CHAPTER, re.MULTILINE)
    told = [float(cell) / 100 for cell in row.split("|")]
    found = script.coverage(ranked, 250, 200, designed=True)
    assert found == pytest.approx(told, abs=4 * (0.0475 / 200) ** 0.5)
