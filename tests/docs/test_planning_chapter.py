"""The chapter on planning says what the functions say, about Krenn's data as they are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from pipeline.cli.main import main
from pipeline.kernels.association.scoring import score
from pipeline.kernels.nbest.comparison import difference_counts
from pipeline.kernels.nbest.ranking import rank
from pipeline.kernels.sampling import candidate_id
from tests.docs.scripts import script

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def update() -> ModuleType:
    return script("update_planning")


@pytest.mark.long
def test_the_widths_are_those_of_the_functions(update: ModuleType) -> None:
    text = (DOCS / "planning.md").read_text(encoding="utf-8")
    again = update.updated(text, "widths", update.widths())
    assert text == again, "run: python docs/update_planning.py"


def test_the_pairs_are_those_of_the_data(
    update: ModuleType, public_data: Callable[[str], Path]
) -> None:
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    candidates = table.with_columns(candidate_id("l1", "l2"))
    pairs = [tuple(name.split(" against ")) for name in update.PAIRS]
    measures = sorted({name for pair in pairs for name in pair})
    scores = score(candidates.lazy(), measures=measures)
    ranks = rank(scores, measures=measures, seed="krenn-2005").collect()
    judged = candidates.select(
        "id", category=pl.lit("TP"), tp=pl.col("b.TP") == 1, multiplicity=pl.lit(1, pl.Int64)
    )
    counts = difference_counts(ranks, judged, pairs=pairs, at=update.LISTS)
    for pair in pairs:
        found = counts.filter(measure_1=pair[0], measure_2=pair[1]).sort("n")
        rows = found.select("n", "size", "k_1", "k_2").rows()
        assert rows == update.PAIRS[" against ".join(pair)]


@pytest.mark.long
@pytest.mark.parametrize("name", ["powers", "labels"])
def test_the_power_is_that_of_the_functions(update: ModuleType, name: str) -> None:
    text = (DOCS / "planning.md").read_text(encoding="utf-8")
    again = update.updated(text, name, getattr(update, name)())
    assert text == again, "run: python docs/update_planning.py"


@pytest.mark.long
def test_the_pilot_on_public_data(
    public_data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public_data("collocations/krenn_pp_verb.ds")
    monkeypatch.chdir(DOCS.parent)
    chapter = (DOCS / "planning.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^\$ lexassay (size .*--pilot.*)$", chapter, re.MULTILINE)
    runs = ["--runs", str(tmp_path)]
    assert main(["run", "configs/krenn.toml", "--no-report", "--quiet", *runs]) == 0
    assert main([*shlex.split(shown), *runs]) == 0
