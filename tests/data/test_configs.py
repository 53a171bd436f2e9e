"""Every experiment of the project runs on its own data, and on public data if available."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.api.results import Run
from tests.report.agreement import check_names, check_runs_together, check_verdicts

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "configs"
PUBLIC = {
    "krenn-machine": ("collocations/krenn_pp_verb.ds", 0),
    "krenn-combination": ("collocations/krenn_pp_verb.ds", 0),
    "krenn-design": ("collocations/krenn_pp_verb.ds", 0),
    "krenn": ("collocations/krenn_pp_verb.ds", 0),
    "streusle": ("collocations/streusle_bigram.tsv.gz", 0),
    "german-novels": ("collocations/eltec_deu_pnv.tsv.gz", 0),
    "bundestag": ("corpora/RcppCWB_BT_18_001.vrt", 0),
    "ewt-verb-object": ("corpora/UD_English-EWT.all.conllu.gz", 1),
    "ewt-adj-noun": ("corpora/UD_English-EWT.all.conllu.gz", 0),
    "ewt-trigrams": ("corpora/UD_English-EWT.all.conllu.gz", 1),
    "ewt-pos-induction": ("corpora/UD_English-EWT.all.conllu.gz", 0),
    "german-pp-verb": ("corpora/de_gsd-ud-dev.conllu.gz", 1),
    "maltese-lexicon": ("lexicon/unimorph_mlt.tsv", 0),
    "spanish-lexicon": ("lexicon/hunspell_es_ES.tsv.gz", 0),
    "parseme": ("corpora/parseme_sv_train.cupt.gz", 0),
    "noun-compounds": ("noun-compounds/nonComp-judgments.csv", 0),
    "word-senses": ("wsi/semeval2013_gold.key.gz", 0),
}
"""Experiment to a file that it needs, and the number of stages that wait for people."""
CONVERTED = {"noun-compounds"}
"""Experiments on tables that data/convert_public.py makes from such files."""


def test_every_experiment_is_tested() -> None:
    generated = {
        "demo",
        "keywords",
        "pp-verb",
        "pp-verb-design",
        "lexicon",
        "pos-induction",
        "tuning",
    }
    assert {path.stem for path in CONFIGS.glob("*.toml")} == {*PUBLIC, *generated, "e-view"}


@pytest.mark.parametrize("name", sorted(PUBLIC))
@pytest.mark.long
def test_experiments_on_public_data_run(
    name: str, public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    file, waiting = PUBLIC[name]
    data = public_data(file).parents[1]
    if name in CONVERTED:
        import convert_public  # in the folder `data`, known to tests of this folder

        convert_public.convert(data, tmp_path / "data")
        data = tmp_path / "data"
    run = lx.run(CONFIGS / f"{name}.toml", runs=tmp_path / "runs", data=data, report=False)
    assert len(run.waits) == waiting
    assert len(run.manifests) + 2 * waiting == len(run.project.nodes)
    check_report(run)


@pytest.mark.long
def test_the_study_on_public_data_runs(public_data: Callable[[str], Path], tmp_path: Path) -> None:
    """Every point of the study gives the average precision of each measure."""
    data = public_data("corpora/brown.tsv.gz").parents[1]
    run = lx.sweep(CONFIGS / "e-view.toml", runs=tmp_path / "runs", data=data)
    assert not run.failed
    table = run.tables["average"]
    assert table.group_by("point", "path", "min_frequency").len()["len"].n_unique() == 1


@pytest.mark.long
def test_parseme_corpora_of_any_language_are_evaluated(
    public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    """Each corpus in the folder judges its own candidates, and lost expressions are counted."""
    folder = public_data("corpora/parseme_sv_train.cupt.gz").parent
    for path in sorted(folder.glob("parseme_*.cupt*")):
        stages = ("candidates", "judgements")
        settings = {f"stages.{stage}.corpus": f"data:corpora/{path.name}" for stage in stages}
        run = lx.run(CONFIGS / "parseme.toml", runs=tmp_path, settings=settings, report=False)
        (coverage,) = run.table("judgements.coverage").rows(named=True)
        assert coverage["n_judged"] == coverage["n_candidates"]
        assert 0 < coverage["n_true"] < coverage["n_judged"]


def check_report(run: Run) -> None:
    """Check that everything in a report has one verdict, one colour and one title."""
    compared = {node.stage.name for node in run.project.nodes.values()}
    assert bool(check_verdicts(run)) <= bool(compared & COMPARISONS)
    check_names(run)


COMPARISONS = {"evaluate.comparison", "evaluate.designed", "evaluate.lexicons"}


@pytest.mark.long
def test_the_demo_and_its_variant_run(tmp_path: Path) -> None:
    run = lx.run(CONFIGS / "demo.toml", runs=tmp_path, report=False)
    assert set(run.manifests) == set(run.project.nodes)
    assert check_verdicts(run) > 100
    check_names(run)
    half = {"stages.sample.rate": 0.05}
    other = lx.run(CONFIGS / "demo.toml", runs=tmp_path, settings=half, report=False)
    assert check_verdicts(other)
    assert check_runs_together([run, other]) >= 8


def run_on_generated(name: str, script: str, folder: Path, **settings: object) -> Run:
    """Run an experiment of the project on the data that a script makes."""
    for each in ("configs", "data"):
        (folder / each).mkdir()
    (folder / "configs" / f"{name}.toml").write_text((CONFIGS / f"{name}.toml").read_text())
    make = [
        sys.executable,
        str(ROOT / "data" / script),
        str(folder / "data" / name.removesuffix("-design")),
    ]
    subprocess.run(make, check=True, capture_output=True)
    run = lx.run(
        folder / "configs" / f"{name}.toml", runs=folder / "runs", settings=settings, report=False
    )
    check_report(run)
    return run


@pytest.mark.long
def test_pos_induction_ranks_systems_by_types_and_tokens(tmp_path: Path) -> None:
    """Types and tokens rank the systems differently, as described."""
    few = {"stages.types.replicates": 50, "stages.types.restarts": 10, "stages.types.kicks": 5}
    run = run_on_generated("pos-induction", "make_taggings.py", tmp_path, **few)
    assert set(run.manifests) == set(run.project.nodes)
    table = run.table("systems.table")
    best = dict(table.filter(rank=1.0).select("measure", "system").iter_rows())
    assert best["MacroI M-1"] == "endings"
    assert best["MacroI 1-1"] == "memory"
    assert best["many_to_one"] == best["v"] == "context"
    assert table.filter(system="sampler")["n_runs"].unique().to_list() == [3]
    pair = run.table("systems.correlations").filter(method="spearman", measure_1="MacroI M-1")
    assert pair.filter(measure_2="many_to_one")["correlation"].item() < -0.4
    types = run.table("types.scores").filter(pl.col("mapping") != "floor")
    assert types.select((pl.col("value") >= pl.col("lower") - 0.05).all()).item()


@pytest.mark.long
def test_the_lexicon_experiment_covers_the_truth(tmp_path: Path) -> None:
    """From the dictionaries to L*; the paper's example; the sample's interval holds the truth."""
    run = lx.run(CONFIGS / "lexicon.toml", runs=tmp_path, report=False)
    assert check_verdicts(run) == 1
    check_names(run)
    assert set(run.manifests) == set(run.project.nodes)
    whole = run.table("computed_whole.lemmas").row(by_predicate=pl.col("lemma") == "missier")
    assert 14 / 17 in whole
    star = [
        run.table(f"{name}.quality").row(by_predicate=pl.col("statistic") == "L*", named=True)
        for name in ("computed_quality", "computed_whole")
    ]
    assert star[0]["lower"] < star[1]["value"] < star[0]["upper"]


@pytest.mark.long
def test_the_pp_verb_experiment_covers_the_truth(tmp_path: Path) -> None:
    """From the generated corpus to the estimate; the truth lies in most of the intervals."""
    run = run_on_generated("pp-verb", "make_corpus.py", tmp_path)
    assert not run.waits
    truth = run.table("full.cuts").select("measure", "n", truth="precision")
    cuts = run.table("sampled.cuts").join(truth, on=["measure", "n"])
    inside = cuts.filter(cuts["truth"].is_between(cuts["lower"], cuts["upper"]))
    assert cuts.height == 24
    assert inside.height >= 20


@pytest.mark.long
def test_the_designed_pp_verb_experiment_covers_the_truth(tmp_path: Path) -> None:
    """A quarter of the labels; the truth lies in the intervals of lists and of differences."""
    run = run_on_generated("pp-verb-design", "make_corpus.py", tmp_path)
    assert not run.waits
    assert run.table("designed.sample").height == 150
    truth = run.table("full.cuts").select("measure", "n", truth="precision")
    cuts = run.table("answers.cuts").join(truth, on=["measure", "n"])
    assert cuts.height == 8
    assert cuts.filter(cuts["truth"].is_between(cuts["lower"], cuts["upper"])).height >= 7
    shares = {(measure, n): share for measure, n, share in truth.rows()}
    gaps = run.table("answers.differences").iter_rows(named=True)
    for row in gaps:
        gap = shares[row["measure_1"], row["n"]] - shares[row["measure_2"], row["n"]]
        assert row["lower"] <= gap <= row["upper"]


@pytest.mark.long
def test_the_keyword_experiment_has_the_values_of_its_chapter(tmp_path: Path) -> None:
    """Names of one document lead by effect size; dispersion finds the themes, as in the chapter."""
    run = run_on_generated("keywords", "make_keywords.py", tmp_path)
    assert set(run.manifests) == set(run.project.nodes)
    cuts = run.table("full.cuts").select("measure", "n", pl.col("precision") * 100)
    chapter = (ROOT / "docs" / "keywords.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", chapter, re.MULTILINE)
    printed = {name: [float(each) for each in precision] for name, *precision in rows}
    computed = {
        name: cuts.filter(measure=name).sort("n")["precision"].round(6).to_list()
        for name in printed
    }
    assert len(printed) == 3
    assert computed == printed
    subset = run.table("dispersed.subsets").row(0, named=True)
    assert f"{subset['n']} words, {subset['k_sampled']} of them themes" in " ".join(chapter.split())
    first = run.table("scores").sort("log_ratio", descending=True).head(20)
    assert first["documents"].unique().to_list() == [1]
