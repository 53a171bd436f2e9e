"""All findings of a run: their order, cautions once, stages that wait, the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl
import pytest

from pipeline.errors import NotMadeYet
from pipeline.findings import base
from pipeline.findings.base import Finder, Finding, StageView, Told, as_table, gathered
from pipeline.registry import Registry
from schemas import Findings
from tests.findings.stages import stage
from tests.valid import valid


def answers(of: StageView) -> Iterator[Finding]:
    yield Finding(about="late", text=f"{of.name} 2.", value=2.0)


def first(of: StageView) -> Iterator[Finding]:
    yield Finding(about="first", text=f"{of.name} 1.", value=1.0)
    yield Finding(kind="caution", about="few", text="Only 3 lemmas.")


def waits(_of: StageView) -> Iterator[Finding]:
    yield Finding(about="before", text="Before it waits: 1.")
    raise NotMadeYet("judgements")


@pytest.fixture(autouse=True)
def finders(monkeypatch: pytest.MonkeyPatch) -> None:
    registry: Registry[Finder] = Registry("finder", "tests.findings.collocations")
    add = registry.decorator(Finder)
    add(stages=("a.a", "b.b"), place=50)(answers)
    add(stages=("a.a", "b.b"), place=10)(first)
    add(stages=("waits.waits",))(waits)
    monkeypatch.setattr(base, "FINDERS", registry)


def stages(*uses: str) -> Mapping[str, StageView]:
    return {use[0]: stage(use, {}, name=use[0]) for use in uses}


def said(told: tuple[Told, ...]) -> list[str]:
    return [each.finding.text for each in told]


def test_answers_by_stage_and_place_then_cautions_once() -> None:
    told = gathered(stages("a.a", "b.b"))
    assert said(told) == ["a 1.", "a 2.", "b 1.", "b 2.", "Only 3 lemmas."]
    assert [each.stage for each in told] == ["a", "a", "b", "b", "a"]


def test_the_order_that_is_asked_for_leaves_others_out() -> None:
    every = stages("a.a", "b.b")
    assert said(gathered(every, order=["b", "a"]))[:2] == ["b 1.", "b 2."]
    assert said(gathered(every, order=["b"])) == ["b 1.", "b 2.", "Only 3 lemmas."]
    assert said(gathered(every, order=["b", "not_there"])) == ["b 1.", "b 2.", "Only 3 lemmas."]


def test_a_stage_that_waits_is_passed_over() -> None:
    assert "b 1." in said(gathered(stages("waits.waits", "b.b")))


def test_no_stage_and_a_stage_of_another_kind_say_nothing() -> None:
    assert gathered({}) == gathered(stages("c.c")) == ()


def test_the_table_is_valid_and_in_order() -> None:
    table = valid(as_table(gathered(stages("a.a", "b.b"))), Findings)
    assert table["order"].to_list() == [1, 2, 3, 4, 5]
    assert table["kind"].to_list() == ["answer"] * 4 + ["caution"]
    assert valid(as_table(()), Findings).is_empty()


def test_hostile_text_stays_as_it_is_in_the_table() -> None:
    text = "</script><img onerror=alert(1)> שלום 1."
    table = as_table([Told("s", Finding(about="x", text=text))])
    assert table.select(pl.col("text")).item() == text
