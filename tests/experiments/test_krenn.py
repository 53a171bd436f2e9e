"""The experiment on Krenn's data: every published cell."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import pipeline as lx

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CELLS = {
    "t_score": (38.0, 30.2, 28.1, 21.95),
    "log_likelihood": (42.0, 30.4, 27.1, 23.35),
    "chi_squared_corr": (24.0, 24.6, 23.9, 23.35),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("krenn")


@pytest.fixture
def done(folder: Path, public_data: Callable[[str], Path]) -> lx.Run:
    public_data("collocations/krenn_pp_verb.ds")
    return lx.run(ROOT / "configs" / "krenn.toml", runs=folder, report=False)


def test_cells_of_the_full_evaluation(done: lx.Run) -> None:
    cuts = done.table("full.cuts")
    for measure, cells in CELLS.items():
        found = cuts.filter(measure=measure).sort("n").get_column("precision").to_list()
        assert [100 * value for value in found] == pytest.approx(cells, abs=1e-12)


def test_baseline(done: lx.Run) -> None:
    base = done.table("full.baseline").row(0, named=True)
    assert (base["k_sampled"], base["n_candidates"]) == (566, 5102)
    assert round(100 * base["precision"], 2) == 11.09


def test_coverage_of_the_annotation(done: lx.Run) -> None:
    assert done.table("judgements.coverage").rows() == [("TP", 5102, 5102, 566, 0)]


def test_the_chapter_has_these_numbers(done: lx.Run) -> None:
    found = importlib.util.spec_from_file_location("update", DOCS / "update_reproduction.py")
    assert found is not None
    assert found.loader is not None
    update = importlib.util.module_from_spec(found)
    found.loader.exec_module(update)
    text = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    assert text == update.updated(text, done), "run: python docs/update_reproduction.py"


def test_samples(done: lx.Run) -> None:
    assert done.table("sample").height == 510
    assert done.table("sample_replaced").get_column("multiplicity").sum() == 510
    assert done.table("sample_replaced").height < 510
    last = done.table("sampled").filter(pl.col("n") == 5102)
    assert last.get_column("n_sampled").unique().to_list() == [510]


def test_every_n_is_there(done: lx.Run) -> None:
    for stage in ("full", "sampled", "sampled_replaced"):
        found = done.table(stage)
        assert found.group_by("measure").len().get_column("len").unique().to_list() == [5102]
        assert found.get_column("measure").n_unique() == 7
    assert done.table("full_comparison").height == 21 * 5102


def test_precisions_of_ucs_scores_are_the_same(
    done: lx.Run, public_data: Callable[[str], Path]
) -> None:
    """The scores that UCS computed rank the candidates as ours do."""
    ucs = pl.read_csv(public_data("collocations/krenn_pp_verb.ds"), separator="\t", quote_char=None)
    scores = done.table("scores").join(ucs, on=["l1", "l2"])
    for name, column in {"t_score": "am.t.score", "mi": "am.MI", "dice": "am.Dice"}.items():
        ours = scores.sort(name, descending=True).get_column("b.TP").head(1000).sum()
        theirs = scores.sort(column, descending=True).get_column("b.TP").head(1000).sum()
        assert ours == theirs
