"""Findings and finders: registration, order of a run, table, options of stages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from pipeline.errors import NotMadeYet
from pipeline.findings import base
from pipeline.findings.base import (
    FINDERS,
    Finder,
    Finding,
    StageFinding,
    StageOptions,
    StageView,
    as_table,
    collect_findings,
    leading_sentences,
)
from pipeline.findings.clustering import Senses, WithoutClusterOptions
from pipeline.findings.collocations import comparison
from pipeline.findings.lexicon import ComparisonOptions, EvaluationOptions
from pipeline.registry import Registry
from pipeline.stages.base import STAGES
from schemas import Findings
from tests.data.test_configs import CONFIGS, run_on_generated
from tests.findings.stages import stage
from tests.valid import valid


@given(st.text(alphabet=st.characters(exclude_categories=["Nd"])))
def test_a_sentence_without_a_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="without a number"):
        Finding(about="x", text=text)


@given(st.text(), st.integers(0, 9))
def test_a_sentence_with_a_digit_is_accepted(text: str, digit: int) -> None:
    assert Finding(about="x", text=f"{text}{digit}").kind == "answer"


def pair_finding(about: str, text: str, n: int | None, **further: Any) -> StageFinding:
    options = {"category": "TP", **further}
    return StageFinding("tests", Finding(about=about, text=text, n=n, **options))


@pytest.mark.parametrize(
    ("findings", "sentences"),
    [
        # A finding on all sizes is first, and so is one that the table does not contain.
        (
            [pair_finding("best", "MI 1.", 9), pair_finding("baseline", "Base 1.", None),
             pair_finding("worse", "Dice 2.", 9), pair_finding("throughout", "MI 4.", None)],
            ["MI 4.", "n = 9: Dice 2.", "Base 1."],
        ),
        # Of several pairs that with the smallest p-value; a text that names its size has no prefix.
        (
            [pair_finding("pair", "For 1,000 candidates, a 1.", 1000, p_adjusted=0.9),
             pair_finding("pair", "For 1,000 candidates, b 1.", 1000, p_adjusted=0.01)],
            ["For 1,000 candidates, b 1."],
        ),
        # Without worse measures, those that do not differ; of the first category only.
        (
            [pair_finding("together", "a 1.", 9), pair_finding("together", "b 1.", 99),
             pair_finding("worse", "c 1.", 99), pair_finding("worse", "d 1.", 9, category="X")],
            ["n = 9: a 1.", "n = 99: c 1."],
        ),
        ([pair_finding("worse", f"{n}.", n) for n in range(1, 9)],
         [f"n = {n}: {n}." for n in range(1, 6)]),
        ([pair_finding("worse", "1.", 9, kind="caution")], []),
    ],
)  # fmt: skip
def test_leading_sentences_are_in_order(findings: list[StageFinding], sentences: list[str]) -> None:
    other = StageFinding("elsewhere", Finding(about="worse", text="1.", n=9, category="TP"))
    assert leading_sentences([other, *findings], ["tests"]) == sentences


def test_the_chosen_list_is_first() -> None:
    choice = StageFinding("choice", Finding(about="chosen", text="Chosen: 9 by MI."))
    findings = [pair_finding("baseline", "Base 1.", None), choice]
    assert leading_sentences(findings, ["tests"]) == ["Chosen: 9 by MI.", "Base 1."]
    assert leading_sentences(findings, ["tests", "choice"]) == ["Chosen: 9 by MI.", "Base 1."]


def test_the_delivered_list_replaces_the_chosen_one() -> None:
    choices = [
        StageFinding("choice", Finding(about="chosen", text=f"{name} 9.", category=name))
        for name in ("TP", "other")
    ]
    delivered = StageFinding("list", Finding(about="delivered", text="Listed 9.", category="TP"))
    combined = pair_finding("combination", "Combined 66.", 9, category="TP")
    findings = [combined, *choices, delivered]
    assert leading_sentences(findings, ["tests"]) == ["Listed 9.", "other 9.", "Combined 66."]


def test_every_finder_reads_stages_that_exist() -> None:
    uses = {use for name in FINDERS for use in FINDERS.get(name).stages}
    assert uses
    assert uses <= set(STAGES)


@pytest.mark.parametrize(
    "use",
    ["evaluate.systems", "evaluate.type_level", "evaluate.token_level", "evaluate.overlapping",
     "evaluate.shares", "evaluate.lexicon", "evaluate.lexicons", "join.keying", "evaluate.comparison"],
)  # fmt: skip
def test_these_stages_have_findings(use: str) -> None:
    assert [name for name in FINDERS if use in FINDERS.get(name).stages]


# All findings of a run: their order, cautions once, stages that wait, the table.


def answers(of: StageView) -> Iterator[Finding]:
    yield Finding(about="late", text=f"{of.name} 2.", value=2.0)


def first(of: StageView) -> Iterator[Finding]:
    yield Finding(about="first", text=f"{of.name} 1.", value=1.0)
    yield Finding(kind="caution", about="few", text="Only 3 lemmas.")


def waits(_of: StageView) -> Iterator[Finding]:
    yield Finding(about="before", text="Before it waits: 1.")
    raise NotMadeYet("judgements")


@pytest.fixture
def finders(monkeypatch: pytest.MonkeyPatch) -> None:
    registry: Registry[Finder] = Registry("finder", "tests.findings.collocations")
    add = registry.decorator(Finder)
    add(stages=("a.a", "b.b"), place=50)(answers)
    add(stages=("a.a", "b.b"), place=10)(first)
    add(stages=("waits.waits",))(waits)
    monkeypatch.setattr(base, "FINDERS", registry)


def stages(*uses: str) -> Mapping[str, StageView]:
    return {use[0]: stage(use, {}, name=use[0]) for use in uses}


def texts_of(findings: tuple[StageFinding, ...]) -> list[str]:
    return [each.finding.text for each in findings]


@pytest.mark.usefixtures("finders")
def test_answers_by_stage_precede_cautions_which_occur_once() -> None:
    findings = collect_findings(stages("a.a", "b.b"))
    assert texts_of(findings) == ["a 1.", "a 2.", "b 1.", "b 2.", "Only 3 lemmas."]
    assert [each.stage for each in findings] == ["a", "a", "b", "b", "a"]


@pytest.mark.usefixtures("finders")
def test_a_requested_order_excludes_other_stages() -> None:
    every = stages("a.a", "b.b")
    assert texts_of(collect_findings(every, order=["b", "a"]))[:2] == ["b 1.", "b 2."]
    assert texts_of(collect_findings(every, order=["b"])) == ["b 1.", "b 2.", "Only 3 lemmas."]
    assert texts_of(collect_findings(every, order=["b", "not_there"])) == [
        "b 1.",
        "b 2.",
        "Only 3 lemmas.",
    ]


@pytest.mark.usefixtures("finders")
def test_a_waiting_stage_is_skipped() -> None:
    assert "b 1." in texts_of(collect_findings(stages("waits.waits", "b.b")))


@pytest.mark.usefixtures("finders")
def test_without_a_stage_of_its_kind_a_finder_returns_nothing() -> None:
    assert collect_findings({}) == collect_findings(stages("c.c")) == ()


@pytest.mark.usefixtures("finders")
def test_the_table_is_valid_and_in_order() -> None:
    table = valid(as_table(collect_findings(stages("a.a", "b.b"))), Findings)
    assert table["order"].to_list() == [1, 2, 3, 4, 5]
    assert table["kind"].to_list() == ["answer"] * 4 + ["caution"]
    assert valid(as_table(()), Findings).is_empty()


@pytest.mark.usefixtures("finders")
def test_hostile_text_is_unchanged_in_the_table() -> None:
    text = "</script><img onerror=alert(1)> שלום 1."
    table = as_table([StageFinding("s", Finding(about="x", text=text))])
    assert table.select(pl.col("text")).item() == text


# Findings of the project's experiments agree with their descriptions, and figures exist.


def check_findings(run: lx.Run) -> pl.DataFrame:
    """Return the findings of a run; each must be a sentence, and each figure must exist."""
    table = valid(run.findings, Findings)
    assert table["order"].to_list() == list(range(1, table.height + 1))
    cautions = (table["kind"] == "caution").to_list()
    assert cautions == sorted(cautions)
    for text in table["text"]:
        assert text.endswith(".")
        assert not re.search(r"nan|None|undefined|\binf\b|_", text), text
        assert not re.match(r"[a-z]+ ", text), text
        assert len(text) < 600, text
    figures = {name: set(run.charts.of_stage(name)) for name in set(table["stage"])}
    for name, figure in table.drop_nulls("figure").select("stage", "figure").iter_rows():
        assert figure in figures[name], f"{name}.{figure}"
    return table


def about(table: pl.DataFrame, stage: str, what: str) -> list[str]:
    return table.filter(stage=stage, about=what)["text"].to_list()


@pytest.mark.long
def test_findings_on_invented_clusters_are_as_described(tmp_path: Path) -> None:
    few = {
        "stages.types.replicates": 20, "stages.types.restarts": 10, "stages.types.kicks": 5,
        "stages.types.certificate_seconds": 0.1, "stages.tokens.replicates": 20,
    }  # fmt: skip
    table = check_findings(run_on_generated("pos-induction", "make_taggings.py", tmp_path, **few))
    assert about(table, "systems", "types")[0].startswith(
        "Highest MicroI 1-1 at type level: memory, 82.0 % ["
    )
    assert about(table, "systems", "tokens")[0].startswith(
        "Highest V at token level: context, 77.8 %"
    )
    (agreement,) = about(table, "systems", "agreement")
    assert "rank the 6 systems differently: Spearman's rho .09" in agreement
    assert table.filter(stage="types", about="types").is_empty()
    first = table.filter(question="leading system", kind="answer")
    assert first.height <= 8


@pytest.mark.long
def test_findings_on_english_clusters_are_as_described(
    public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    public_data("corpora/UD_English-EWT.all.conllu.gz")
    table = check_findings(lx.run(CONFIGS / "ewt-pos-induction.toml", runs=tmp_path, report=False))
    assert "Highest V at token level: Clark 45, 53.5 %" in about(table, "systems", "tokens")[0]
    assert (
        "Highest MicroI 1-1 at type level: Brown 17, 36.4 %" in about(table, "systems", "types")[0]
    )
    assert "10 of 16 classes" in about(table, "types", "missed")[0]
    assert "39 smaller clusters" in about(table, "types", "clusters")[0]
    assert "1 in 24" in about(table, "systems", "few systems")[0]


@pytest.mark.long
def test_findings_on_invented_lexicons_are_as_described(tmp_path: Path) -> None:
    run = lx.run(CONFIGS / "lexicon.toml", runs=tmp_path, report=False)
    table = check_findings(run)
    (sentence,) = about(table, "comparison", "comparison")
    assert sentence.startswith(
        "By L*, computed is worse than generated (−8.7 points [−14.7, −2.8])"
    )
    lost = table.filter(about="lost", stage="computed_whole")["value"].item()
    star = run.table("computed_whole.quality").filter(statistic="L*")["value"].item()
    assert lost == pytest.approx(1 - star)
    assert "which L* ignores" in about(table, "keyed", "not in the dictionary")[0]


@pytest.mark.long
def test_findings_on_maltese_lexicons_have_no_limits(
    public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    public_data("lexicon/unimorph_mlt.tsv")
    table = check_findings(lx.run(CONFIGS / "maltese-lexicon.toml", runs=tmp_path, report=False))
    (sentence,) = about(table, "comparison", "comparison")
    assert sentence.startswith("By L*, GF is worse than UniMorph (exactly −6.5 points)")
    stars = table.filter(about="L*")
    assert stars.height == 3
    assert stars["lower"].null_count() == 3
    assert table.filter(about="needed").is_empty()


# Options of stages that findings read: each stage has them, and every default.

OPTION_MODELS: list[tuple[str, type[StageOptions]]] = [
    ("evaluate.comparison", comparison.TestOptions), ("evaluate.comparison", comparison.DifferenceOptions), ("evaluate.token_level", WithoutClusterOptions),
    ("evaluate.senses", Senses),
    ("evaluate.lexicon", EvaluationOptions), ("evaluate.lexicons", ComparisonOptions),
]  # fmt: skip


def every(model: type[StageOptions]) -> Iterator[type[StageOptions]]:
    for below in model.__subclasses__():
        if below.__module__.startswith(
            ("pipeline.findings.clustering", "pipeline.findings.lexicon")
        ):
            yield below
            yield from every(below)


def test_every_model_of_stage_options_is_tested() -> None:
    assert list(FINDERS)
    assert set(every(StageOptions)) <= {model for _, model in OPTION_MODELS}


@pytest.mark.parametrize(("use", "model"), OPTION_MODELS)
def test_the_stage_has_each_option(use: str, model: type[StageOptions]) -> None:
    assert set(model.model_fields) <= set(STAGES.get(use).config.model_fields)
    assert all(field.is_required() for field in model.model_fields.values())
