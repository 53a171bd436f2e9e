"""Marginals of tuples against sums in plain Python, and keys packed into words."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.kernels.cooccurrence.counting import Packing, packed
from pipeline.kernels.cooccurrence.tuples import ROW, subset_sums, together, with_subsets
from schemas import Tuples
from schemas.candidates import cell, frequency_name, signature, subsets
from schemas.validate import validate

Counts = dict[tuple[str, ...], int]


@st.composite
def counted(draw: st.DrawFn) -> Counts:
    size = draw(st.integers(2, 6))
    words = st.tuples(*[st.sampled_from("abc")] * size)
    return draw(st.dictionaries(words, st.integers(1, 9), min_size=1, max_size=12))


def counts_frame(counts: Counts) -> pl.LazyFrame:
    size = len(next(iter(counts)))
    schema = {f"l{i}": pl.String for i in range(1, size + 1)} | {"f": pl.Int64}
    return pl.LazyFrame([(*each, f) for each, f in counts.items()], schema=schema, orient="row")


@given(counts=counted(), threshold=st.integers(1, 5))
def test_frequencies_of_all_subsets(counts: Counts, threshold: int) -> None:
    size = len(next(iter(counts)))
    made = with_subsets(counts_frame(counts), size=size, min_frequency=threshold).collect()
    assert made.height == sum(f >= threshold for f in counts.values())
    for row in made.iter_rows(named=True):
        mine = [row[f"l{i}"] for i in range(1, size + 1)]
        for each in subsets(size):
            slow = sum(f for w, f in counts.items() if all(w[i - 1] == mine[i - 1] for i in each))
            assert row[frequency_name(each, size)] == slow


@given(
    counts=counted(),
    threshold=st.integers(1, 5),
    cuts=st.lists(st.integers(0, 12), max_size=4),
    room_for=st.sampled_from([1, 2, 5, 1000]),
    data=st.data(),
)
@pytest.mark.long
def test_sums_on_the_disk_are_those_in_memory(
    counts: Counts, threshold: int, cuts: list[int], room_for: int, data: st.DataObject
) -> None:
    """Whatever parts the counts come in, and however few of them there is room for."""
    size = len(next(iter(counts)))
    whole = with_subsets(counts_frame(counts), size=size).collect()
    wanted = data.draw(st.lists(st.sampled_from(subsets(size)[:-1]), min_size=1, unique=True))
    names = [frequency_name(each, size) for each in wanted]
    joined = together(counts_frame(counts).collect(), size=size)
    bounds = sorted({0, *(min(cut, joined.height) for cut in cuts)})
    ends = [*bounds[1:], joined.height]
    parts = [joined[first:end] for first, end in zip(bounds, ends, strict=True)]
    with memory.limited(room_for * ROW):
        made = list(
            subset_sums([each.lazy() for each in parts], wanted, size=size, min_frequency=threshold)
        )
    assert [each.height for each in made] == [each.height for each in parts]
    enough = pl.col("f") >= threshold
    expected = whole.select(
        pl.col(name) if name == "N" else pl.when(enough).then(name).alias(name) for name in names
    )
    assert pl.concat(made).equals(expected)


def test_no_counts_have_no_sums() -> None:
    assert list(subset_sums([], [(), (1,)], size=2)) == []


@given(counts=counted())
def test_cells_are_what_they_count_and_the_laws_hold(counts: Counts) -> None:
    size = len(next(iter(counts)))
    made = with_subsets(counts_frame(counts), size=size).collect()
    observed = made.with_columns(cell(each, size).alias(str(each)) for each in subsets(size))
    for row in observed.iter_rows(named=True):
        mine = [row[f"l{i}"] for i in range(1, size + 1)]
        for each in subsets(size):
            agree = [[i for i in range(1, size + 1) if w[i - 1] == mine[i - 1]] for w in counts]
            slow = sum(f for f, at in zip(counts.values(), agree, strict=True) if at == list(each))
            assert row[str(each)] == slow
        assert sum(row[str(each)] for each in subsets(size)) == row["N"]
    table = made.with_columns(id=pl.col("l1")).select("id", pl.exclude("id"))
    assert validate([table], Tuples, name="tuples") == made.height


def test_signature_of_four() -> None:
    assert signature(4) == [
        "f", "f1", "f2", "f3", "f4", "f_12", "f_13", "f_14", "f_23", "f_24", "f_34",
        "f_123", "f_124", "f_134", "f_234", "N",
    ]  # fmt: skip


@given(
    sizes=st.lists(st.sampled_from([1, 2, 3, 1000, 2**16, 2**31, 2**32]), min_size=1, max_size=6),
    data=st.data(),
)
def test_packed_numbers_are_distinct_as_the_numbers_are(
    sizes: list[int], data: st.DataObject
) -> None:
    """Words tell the same rows apart as their numbers, all of them or some of them."""
    row = st.tuples(*[st.sampled_from(sorted({0, size // 2, size - 1})) for size in sizes])
    rows = data.draw(st.lists(row, min_size=1, max_size=20))
    some = sorted(data.draw(st.sets(st.sampled_from(range(len(sizes))), min_size=1)))
    names = [f"c{i}" for i in range(len(sizes))]
    numbers = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")
    packing = Packing.of(sizes)
    words = numbers.select(packing.words([pl.col(name) for name in names]))
    assert words.n_unique() == numbers.n_unique()
    part = words.select(packing.part(some))
    same = numbers.select(names[i] for i in some).hash_rows().rank("dense").to_list()
    assert part.hash_rows().rank("dense").n_unique() == len(set(same))


def test_six_positions_of_a_large_vocabulary_take_two_words() -> None:
    assert len(Packing.of([100_000] * 3).names) == 1
    assert len(Packing.of([100_000] * 6).names) == 2


def test_nothing_to_pack() -> None:
    nothing = pl.DataFrame(schema={"a": pl.String, "b": pl.String})
    words, _ = packed(nothing, ["a", "b"])
    assert words.height == 0
