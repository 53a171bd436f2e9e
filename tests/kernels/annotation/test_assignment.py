"""Shares of annotators: fixed by id and seed, balanced, overlapping as asked."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.annotation.sheets import assign
from pipeline.kernels.sampling import seeded_key

PEOPLE = ("ana", "bo", "cy")


def ids(count: int, *, first: int = 0) -> pl.LazyFrame:
    return pl.LazyFrame({"id": [f"x{i}" for i in range(first, first + count)]}, schema={"id": pl.String})  # fmt: skip


def key(text: str, *, seed: str, purpose: str) -> int:
    frame = pl.DataFrame({"text": [text]})
    return int(frame.select(seeded_key("text", seed=seed, purpose=purpose)).item())


def by_hand(count: int, people: tuple[str, ...], overlap: float, seed: str, times: int) -> set[tuple[object, ...]]:  # fmt: skip
    chosen: dict[str, list[tuple[int, str]]] = {each: [] for each in people}
    for item in (f"x{i}" for i in range(count)):
        share = key(item, seed=seed, purpose="overlap") / 2**63
        weights = sorted((key(f"{item}\x1f{p}", seed=seed, purpose="annotator"), p) for p in people)
        for _, person in weights[: times if share < overlap else 1]:
            order = key(f"{item}\x1f{person}", seed=seed, purpose="annotation order")
            chosen[person].append((order, item))
    placed = {person: enumerate(sorted(items), start=1) for person, items in chosen.items()}
    return {(item, person, i) for person, items in placed.items() for i, (_, item) in items}


@given(
    count=st.integers(0, 12),
    people=st.permutations(["a", "b", "c", "d"]).flatmap(
        lambda names: st.integers(1, 4).map(lambda n: tuple(names[:n]))
    ),
    overlap=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    seed=st.text(max_size=3),
    data=st.data(),
)
def test_against_a_loop(
    count: int, people: tuple[str, ...], overlap: float, seed: str, data: st.DataObject
) -> None:
    times = data.draw(st.none() | st.integers(1, len(people)))
    made = assign(ids(count), annotators=people, overlap=overlap, seed=seed, times=times).collect()
    expected = by_hand(count, people, overlap, seed, times or len(people))
    assert set(made.rows()) == expected
    assert made.height == len(expected)
    assert made.equals(made.sort("annotator", "order"))
    assert made.schema == {"id": pl.String, "annotator": pl.String, "order": pl.Int64}


def test_row_order_repeats_and_order_of_names_do_not_matter() -> None:
    def made(frame: pl.LazyFrame, people: tuple[str, ...]) -> pl.DataFrame:
        return assign(frame, annotators=people, overlap=0.4, seed="s", times=2).collect()

    first = made(ids(50), PEOPLE)
    assert made(ids(50).reverse(), PEOPLE[::-1]).equals(first)
    assert made(pl.concat([ids(50), ids(20)]), PEOPLE).equals(first)


def test_an_id_keeps_its_annotators_when_the_sample_grows() -> None:
    few = assign(ids(100), annotators=PEOPLE, overlap=0.3, seed="s").collect()
    many = assign(ids(300), annotators=PEOPLE, overlap=0.3, seed="s").collect()
    again = many.join(few.select("id").unique(), on="id", how="semi")
    assert set(again.select("id", "annotator").rows()) == set(few.select("id", "annotator").rows())
    for person in PEOPLE:  # and what was there keeps its order
        mine = pl.col("annotator") == person
        assert again.filter(mine)["id"].to_list() == few.filter(mine)["id"].to_list()


def test_a_new_annotator_moves_no_id_between_the_others() -> None:
    before = assign(ids(500), annotators=PEOPLE, overlap=0, seed="s").collect()
    after = assign(ids(500), annotators=(*PEOPLE, "di"), overlap=0, seed="s").collect()
    both = before.join(after, on="id", suffix="_new")
    moved = both.filter(pl.col("annotator") != pl.col("annotator_new"))
    assert set(moved["annotator_new"]) == {"di"}
    assert 85 < moved.height < 165  # a quarter; 4 standard deviations


def test_shares_are_balanced() -> None:
    made = assign(ids(9000), annotators=PEOPLE, overlap=0.2, seed="s").collect()
    copies = made.group_by("id").len()["len"]
    assert set(copies) == {1, 3}
    assert abs((copies == 3).sum() - 1800) < 4 * (9000 * 0.2 * 0.8) ** 0.5
    single = made.filter(pl.len().over("id") == 1).group_by("annotator").len()["len"]
    expected = single.sum() / 3
    assert ((single - expected) ** 2 / expected).sum() < 13.8  # chi-squared, 2 df, p = .001


def test_annotators_see_the_same_ids_in_different_orders() -> None:
    made = assign(ids(40), annotators=PEOPLE, overlap=1, seed="s").collect()
    orders = [tuple(part["id"]) for part in made.partition_by("annotator")]
    assert len(set(orders)) == 3
    assert all(sorted(order) == sorted(orders[0]) for order in orders)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"annotators": ()}, "each once"),
        ({"annotators": ("a", "a")}, "each once"),
        ({"overlap": 1.5}, "overlap"),
        ({"overlap": float("nan")}, "overlap"),
        ({"times": 4}, "times"),
        ({"times": 0}, "times"),
    ],
)
def test_wrong_options(options: dict[str, object], said: str) -> None:
    usual: dict[str, Any] = {"annotators": PEOPLE, "overlap": 0.1, "seed": "s"}
    with pytest.raises(ValueError, match=said):
        assign(ids(3), **(usual | options))
