"""Bootstrap over sentences: a slow twin that draws sentences by hand, laws, degenerate input."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from pipeline.errors import DataError
from pipeline.kernels.clustering.token import bootstrap
from pipeline.kernels.clustering.token.bootstrap import token_intervals
from pipeline.kernels.clustering.token.measures import token_scores
from pipeline.kernels.sampling import seeded_generator
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


def test_sentences_drawn_by_hand() -> None:
    cells = sentences()
    bits = seeded_generator(seed="s", purpose="sentences")
    values = []
    for _ in range(40):
        drawn = pl.DataFrame({"sentence": bits.integers(30, size=30)})
        sample = drawn.join(cells.cast({"sentence": pl.Int64}), on="sentence")
        summed = sample.group_by("gold", "cluster").agg(pl.col("f").sum())
        values.append(token_scores(summed, measures=NAMES)["value"].to_list())
    low, high = np.quantile(np.array(values), [0.05, 0.95], axis=0)
    found = run(cells)
    assert found["lower"].to_list() == pytest.approx(list(low))
    assert found["upper"].to_list() == pytest.approx(list(high))
    assert found["standard_error"].to_list() == pytest.approx(list(np.std(values, axis=0, ddof=1)))
    whole = cells.group_by("gold", "cluster").agg(pl.col("f").sum())
    assert found["value"].to_list() == token_scores(whole, measures=NAMES)["value"].to_list()


def test_order_of_rows_and_size_of_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = sentences()
    first = run(cells)
    monkeypatch.setattr(bootstrap, "_WEIGHTS", 70)
    assert run(cells.sample(fraction=1.0, shuffle=True, seed=1)).equals(first)
    assert not run(cells, seed="t").equals(first)


def test_names_of_sentences_of_any_kind() -> None:
    cells = sentences()
    named = cells.with_columns(pl.format("s{}", pl.col("sentence").cast(pl.String).str.zfill(4)))
    assert run(named).equals(run(cells))


def test_equal_sentences_have_no_spread() -> None:
    cells = pl.DataFrame({"sentence": [1, 2, 3], "gold": "a", "cluster": "1", "f": 2})
    found = run(cells, measures=["many_to_one"])
    assert found.row(0)[1:] == (1.0, 1.0, 1.0, 0.0, 0)


def test_samples_without_a_value_are_counted() -> None:
    cells = pl.DataFrame({"sentence": [1, 2], "gold": ["a", "b"], "cluster": ["1", "1"], "f": 2})
    found = run(cells, measures=["hubert_gamma"])
    assert (found["value"].item(), found["undefined"].item()) == (None, found["undefined"].item())
    assert 0 < found["undefined"].item() < 40


def test_no_tokens() -> None:
    empty = sentences().clear()
    found = run(empty, measures=["v", "vi"])
    assert found.select("value", "lower", "upper", "standard_error").null_count().row(0) == (2,) * 4
    named = found.select(pl.lit("s").alias("system"), pl.lit("1").alias("run"), pl.all())
    assert validate([named], TokenLevel, name="scores") == 2


def test_impossible_input() -> None:
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
