"""Bootstrap over sentences: a slow twin that draws sentences by hand, laws, degenerate input."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.errors import DataError
from pipeline.kernels import partitions
from pipeline.kernels.clustering.token import bootstrap
from pipeline.kernels.clustering.token import bootstrap as counting
from pipeline.kernels.clustering.token.bootstrap import sentence_counts, token_intervals
from pipeline.kernels.clustering.token.measures import token_scores
from pipeline.kernels.sampling import seeded_generator
from pipeline.memory import with_limit
from schemas import TokenLevel
from schemas.validate import validate

NAMES = ["many_to_one", "one_to_one", "v", "vi", "nvi", "larsen", "adjusted_rand"]


def sentences(number: int = 30) -> pl.DataFrame:
    bits = np.random.default_rng(5)
    tokens = [
        (s, "abc"[g], "12345"[(g + int(bits.integers(3) == 0)) % 5])
        for s in range(number)
        for g in bits.integers(3, size=8)
    ]
    # A cluster and a class that most samples don't have.
    tokens += [(0, "d", "1"), (1, "a", "6")]
    frame = pl.DataFrame(tokens, schema=["sentence", "gold", "cluster"], orient="row")
    return frame.group_by("sentence", "gold", "cluster").agg(f=pl.len().cast(pl.Int64))


def run(cells: pl.DataFrame, **changed: Any) -> pl.DataFrame:
    options: dict[str, Any] = {
        "measures": NAMES,
        "confidence": 0.9,
        "replicates": 40,
        "seed": "s",
    } | changed
    return token_intervals(cells, **options)


def test_limits_are_those_of_sentences_drawn_by_hand() -> None:
    cells = sentences()
    bits = seeded_generator(seed="s", purpose="sentences")
    values = []
    for _ in range(40):
        sentences_of_sample = pl.DataFrame({"sentence": bits.integers(30, size=30)})
        sample = sentences_of_sample.join(cells.cast({"sentence": pl.Int64}), on="sentence")
        summed = sample.group_by("gold", "cluster").agg(pl.col("f").sum())
        values.append(token_scores(summed, measures=NAMES)["value"].to_list())
    low, high = np.quantile(np.array(values), [0.05, 0.95], axis=0)
    result = run(cells)
    assert result["lower"].to_list() == pytest.approx(list(low))
    assert result["upper"].to_list() == pytest.approx(list(high))
    assert result["standard_error"].to_list() == pytest.approx(list(np.std(values, axis=0, ddof=1)))
    whole = cells.group_by("gold", "cluster").agg(pl.col("f").sum())
    assert result["value"].to_list() == token_scores(whole, measures=NAMES)["value"].to_list()


def test_order_of_rows_and_size_of_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = sentences()
    first = run(cells)
    monkeypatch.setattr(bootstrap, "_WEIGHTS", 70)
    assert run(cells.sample(fraction=1.0, shuffle=True, seed=1)).equals(first)
    assert not run(cells, seed="t").equals(first)


def test_names_of_sentences_may_be_of_any_type() -> None:
    cells = sentences()
    renamed = cells.with_columns(pl.format("s{}", pl.col("sentence").cast(pl.String).str.zfill(4)))
    assert run(renamed).equals(run(cells))


def test_equal_sentences_have_no_spread() -> None:
    cells = pl.DataFrame({"sentence": [1, 2, 3], "gold": "a", "cluster": "1", "f": 2})
    result = run(cells, measures=["many_to_one"])
    assert result.row(0)[1:] == (1.0, 1.0, 1.0, 0.0, 0)


def test_samples_without_a_value_are_counted() -> None:
    cells = pl.DataFrame({"sentence": [1, 2], "gold": ["a", "b"], "cluster": ["1", "1"], "f": 2})
    result = run(cells, measures=["hubert_gamma"])
    assert (result["value"].item(), result["undefined"].item()) == (
        None,
        result["undefined"].item(),
    )
    assert 0 < result["undefined"].item() < 40


def test_tables_without_tokens_have_no_limits() -> None:
    empty = sentences().clear()
    result = run(empty, measures=["v", "vi"])
    assert (
        result.select("value", "lower", "upper", "standard_error").null_count().row(0) == (2,) * 4
    )
    with_names = result.select(pl.lit("s").alias("system"), pl.lit("1").alias("run"), pl.all())
    assert validate([with_names], TokenLevel, name="scores") == 2


def test_impossible_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"confidence 1\.0"):
        run(sentences(), confidence=1.0)
    with pytest.raises(ValueError, match="replicates 0"):
        run(sentences(), replicates=0)
    with pytest.raises(DataError, match="column sentence: 1 null"):
        run(
            pl.concat(
                [
                    sentences(),
                    sentences()
                    .head(1)
                    .with_columns(pl.lit(None, dtype=pl.Int64).alias("sentence")),
                ]
            )
        )


# Compact counts by sentence, against sums by hand.

COLUMNS = {"file": pl.String, "s": pl.Int64, "gold": pl.String, "cluster": pl.String, "f": pl.Int64}
ROWS = st.lists(
    st.tuples(
        st.sampled_from("ba"), st.integers(-3, 12), st.sampled_from("NVA"), st.sampled_from("12"),
        st.integers(0, 2**33),
    ),
    min_size=1,
)  # fmt: skip


def frame(rows: list[tuple[str, int, str, str, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, COLUMNS, orient="row")


@given(rows=ROWS, batch=st.integers(1, 9), memory=st.sampled_from([None, 1, 600]), data=st.data())
def test_weighted_counts_are_those_by_hand(
    rows: list[tuple[str, int, str, str, int]],
    batch: int,
    memory: int | None,
    data: st.DataObject,
) -> None:
    places = sorted({(file, s) for file, s, *_ in rows})
    times = st.lists(st.integers(0, 4), min_size=len(places), max_size=len(places))
    samples = data.draw(st.lists(times, min_size=1, max_size=3))
    with pytest.MonkeyPatch.context() as patch, with_limit(memory):
        patch.setattr(partitions, "_BATCH", batch)
        patch.setattr(counting, "_PLACE", 0)
        with sentence_counts(frame(rows).lazy(), "file", "s") as counts:
            assert counts.sentences == len(places)
            tables = list(counts.reweight(np.array(samples).T))
    for sample, table in zip(samples, tables, strict=True):
        sums = Counter[tuple[str, str]]()
        for file, s, gold, cluster, f in rows:
            sums[gold, cluster] += f * sample[places.index((file, s))]
        labels = [
            (table.gold[r], table.clusters[c])
            for r, c in zip(table.rows, table.columns, strict=True)
        ]
        assert dict(zip(labels, table.tokens.tolist(), strict=True)) == +sums


def test_rows_without_a_cluster_do_not_count() -> None:
    rows = [("a", 1, "N", "1", 2), ("a", 2, "V", "1", 3), ("b", 1, "N", "2", 4)]
    cells = frame(rows).with_columns(pl.when(pl.col("f") < 4).then("cluster").alias("cluster"))
    options: dict[str, Any] = {
        "measures": ["v", "many_to_one"],
        "confidence": 0.9,
        "replicates": 20,
        "seed": "s",
    }
    some = token_intervals(
        cells, **options, place=["file", "s"], among=pl.col("cluster").is_not_null()
    )
    without_rows = token_intervals(cells.drop_nulls(), **options, place=["file", "s"])
    assert some.equals(without_rows)


def test_too_many_sentences_for_the_memory_are_refused() -> None:
    cells = frame([("a", s, "N", "1", 2) for s in range(9)])
    expected = pytest.raises(DataError, match="counts of 9 sentences.*bootstrap")
    with with_limit(200), expected, sentence_counts(cells.lazy(), "file", "s"):
        pass


def test_counts_on_disk_give_the_same_limits(tmp_path: Path) -> None:
    rows = [("a", s % 9, "NV"[s % 2], "12"[s % 3 % 2], 1 + s) for s in range(200)]
    options: dict[str, Any] = {"measures": ["v"], "confidence": 0.9, "replicates": 20, "seed": "s"}
    in_memory = token_intervals(frame(rows), **options, place=["file", "s"])
    with with_limit(9 * 100), memory.spill_to(tmp_path / "aside"):
        on_disk = token_intervals(frame(rows), **options, place=["file", "s"])
        with sentence_counts(frame(rows).lazy(), "file", "s") as result:
            assert result.samples_at_a_time() == 1
            assert result.spill.files(0)
        assert not any((tmp_path / "aside").iterdir())
    assert on_disk.equals(in_memory)


def test_labels_of_any_batch_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "_BATCH", 2)
    cells = frame([("a", 1, "N", "1", 1)] * 5 + [("a", None, "N", "1", 1)])  # type: ignore[list-item]
    expected = pytest.raises(DataError, match="s")
    with expected, sentence_counts(cells.lazy(), "file", "s"):
        pass


def test_the_wrong_row_is_named() -> None:
    cells = frame([("a", 1, "N", "1", 1)] * 3 + [("a", 1, "", "1", 1)])
    expected = pytest.raises(DataError, match="column gold: 1 null or empty, e.g. row 3")
    with expected, sentence_counts(cells.lazy(), "file", "s"):
        pass


@pytest.mark.parametrize("f", [-1, None])
def test_an_impossible_count_is_refused_beside_valid_ones(f: int | None) -> None:
    cells = frame([("a", 1, "N", "1", 5)]).vstack(
        frame([("a", 1, "N", "1", 0)]).with_columns(f=pl.lit(f, pl.Int64))
    )
    expected = pytest.raises(DataError, match="column f: 1 null or negative")
    with expected, sentence_counts(cells.lazy(), "file", "s"):
        pass


def test_sums_of_counts_exceed_32_bits() -> None:
    most = 2**31 - 1
    rows = frame([("a", 1, "N", "1", most)] * 3)
    with sentence_counts(rows.lazy(), "file", "s") as counts:
        [table] = counts.reweight(np.ones((1, 1), dtype=np.int64))
    assert table.counts.tolist() == [[3 * most]]
