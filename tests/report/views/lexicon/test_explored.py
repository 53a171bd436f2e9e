"""The table of all lemmas: what it says of each, and its forms."""

from __future__ import annotations

from typing import Any

import polars as pl

from pipeline.report.explorer import Explorer, payload
from tests.report.explorer import twin
from tests.report.views.lexicon.test_lexicon import TABLES, blocks


def explorer(**options: Any) -> Explorer:
    found = [block for block in blocks(figures=False, **options) if isinstance(block, Explorer)]
    assert len(found) == 1
    return found[0]


def test_lemmas_that_cost_most_come_first() -> None:
    found = explorer()
    assert found.frame.height == TABLES["lemmas"].height
    cost = found.frame["cost"].to_list()
    assert cost == sorted(cost, reverse=True)
    assert found.columns[0].name == "lemma"


def test_a_lemma_opens_to_its_forms() -> None:
    found = explorer()
    opened = twin.details(payload(found))["forms"]
    for lemma, rows in zip(found.frame["lemma"], opened, strict=True):
        forms = TABLES["forms"].filter(lemma=lemma)
        assert sorted(g for g, _ in rows if g is not None) == sorted(forms.filter("gold")["form"])
        assert sorted(x for _, x in rows if x is not None) == sorted(
            forms.filter("lexicon")["form"]
        )
        both = [g is not None and x is not None for g, x in rows]
        assert both == sorted(both, reverse=True)


def test_it_can_be_smaller_or_left_out() -> None:
    assert payload(explorer(explorer_rows=5)).kept == 5
    assert not any(isinstance(b, Explorer) for b in blocks(figures=False, explorer=False))


def test_numbers_of_a_lemma() -> None:
    columns = twin.table(payload(explorer()))
    scores = {row["lemma"]: row for row in TABLES["lemmas"].to_dicts()}
    for place, lemma in enumerate(columns["lemma"]):
        for name in ("n_gold", "n_common", "n_missing", "n_spurious"):
            assert columns[name][place] == scores[lemma][name]
        assert abs(columns["L"][place] - scores[lemma]["L"]) < 1e-4
    assert columns["another"] == [
        int(columns["match"][i] != lemma) for i, lemma in enumerate(columns["lemma"])
    ]
    assert pl.Series(columns["n_gold"]).min() > 0
