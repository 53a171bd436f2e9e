from __future__ import annotations

import polars as pl

from tests.remarks.listening import hear

SCHEMA = ["l1", "l2", "f", "f1", "f2"]


def told(*rows: tuple[str, str, int, int, int]) -> list[str]:
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return [str(each) for each in hear("one_partner", outputs={"candidates": frame})]


def test_a_table_of_words_and_their_senses_is_none_of_pairs() -> None:
    (text,) = told(*((f"word{i}", f"sense{i % 3}", 4, 4, 40) for i in range(30)))
    assert "30 of 30 units of l1 that occur twice or more have one l2 only: f = f1" in text
    assert "word0 sense0" in text


def test_words_with_several_partners_are_pairs() -> None:
    pairs = [(f"word{i}", f"verb{j}", 2, 6, 60) for i in range(30) for j in range(3)]
    assert not told(*pairs)


def test_units_that_occur_once_have_one_partner_by_nature() -> None:
    assert not told(*((f"word{i}", "verb", 1, 1, 30) for i in range(30)))


def test_partners_that_were_too_rare_show_in_the_marginals() -> None:
    assert not told(*((f"word{i}", f"verb{i}", 4, 5, 6) for i in range(30)))
