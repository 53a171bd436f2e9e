"""The findings of the project's experiments: what their descriptions say, and figures that exist."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from schemas import Findings
from tests.data.test_configs import CONFIGS, generated
from tests.valid import valid

pytestmark = pytest.mark.long


def checked(done: lx.Run) -> pl.DataFrame:
    """Return the findings of a run, of which each is a sentence, and each figure is there."""
    table = valid(done.findings, Findings)
    assert table["order"].to_list() == list(range(1, table.height + 1))
    cautions = (table["kind"] == "caution").to_list()
    assert cautions == sorted(cautions)
    for text in table["text"]:
        assert text.endswith(".")
        assert not re.search(r"nan|None|undefined|\binf\b|_", text), text
        assert not re.match(r"[a-z]+ ", text), text
        assert len(text) < 600, text
    figures = {stage: set(done.charts.of_stage(stage)) for stage in set(table["stage"])}
    for stage, figure in table.drop_nulls("figure").select("stage", "figure").iter_rows():
        assert figure in figures[stage], f"{stage}.{figure}"
    return table


def about(table: pl.DataFrame, stage: str, what: str) -> list[str]:
    return table.filter(stage=stage, about=what)["text"].to_list()


def test_invented_clusters(tmp_path: Path) -> None:
    few = {
        "stages.types.replicates": 20, "stages.types.restarts": 10, "stages.types.kicks": 5,
        "stages.types.certificate_seconds": 0.1, "stages.tokens.replicates": 20,
    }  # fmt: skip
    table = checked(generated("pos-induction", "make_taggings.py", tmp_path, **few))
    assert about(table, "systems", "types")[0].startswith(
        "Highest by types: endings, MacroI M-1 88.3 % ["
    )
    assert about(table, "systems", "tokens")[0].startswith(
        "Highest by tokens: context, M-1 accuracy 93.5 %"
    )
    (agreement,) = about(table, "systems", "agreement")
    assert "order the 6 systems differently: rank correlation −." in agreement
    assert table.filter(stage="types", about="types").is_empty()
    first = table.filter(question="which system comes first", kind="answer")
    assert first.height <= 8


def test_clusters_of_english_words(public_data: Callable[[str], Path], tmp_path: Path) -> None:
    public_data("corpora/UD_English-EWT.all.conllu.gz")
    table = checked(lx.run(CONFIGS / "ewt-pos-induction.toml", runs=tmp_path, report=False))
    assert "Clark 45, M-1 accuracy 69.3 %" in about(table, "systems", "tokens")[0]
    assert "Brown 45, MacroI M-1 51.0 %" in about(table, "systems", "types")[0]
    assert "10 of 16 classes" in about(table, "types", "missed")[0]
    assert "39 smaller clusters" in about(table, "types", "clusters")[0]
    assert "once in 24" in about(table, "systems", "few systems")[0]


def test_invented_lexicons(tmp_path: Path) -> None:
    done = lx.run(CONFIGS / "lexicon.toml", runs=tmp_path, report=False)
    table = checked(done)
    (held,) = about(table, "comparison", "held against it")
    assert held.startswith("Against generated, computed is worse (−10.2 points [−15.3, −3.6])")
    lost = table.filter(about="lost", stage="computed_whole")["value"].item()
    star = done.table("computed_whole.quality").filter(statistic="L*")["value"].item()
    assert lost == pytest.approx(1 - star)
    assert "which L* leaves out" in about(table, "keyed", "not in the dictionary")[0]


def test_lexicons_of_maltese_are_exact(public_data: Callable[[str], Path], tmp_path: Path) -> None:
    public_data("lexicon/unimorph_mlt.tsv")
    table = checked(lx.run(CONFIGS / "maltese-lexicon.toml", runs=tmp_path, report=False))
    (held,) = about(table, "comparison", "held against it")
    assert held.startswith("Against unimorph, gf is worse (−6.5 points exactly)")
    stars = table.filter(about="L*")
    assert stars.height == 3
    assert stars["lower"].null_count() == 3
    assert table.filter(about="needed").is_empty()
