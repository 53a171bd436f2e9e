"""Write a table of frequency signatures as a large corpus has them, nearly all of them distinct.

python benchmarks/make_table.py FILE.parquet ROWS
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl


def make_table(rows: int, *, seed: int = 1) -> pl.DataFrame:
    """Return `rows` candidates with Zipfian marginals out of a hundred million pair tokens."""
    generator = np.random.default_rng(seed)
    total = 100_000_000
    f1 = np.minimum(
        np.minimum(generator.zipf(1.3, rows), total) * 7 + np.arange(rows) % 1000, total // 50
    )
    f2 = np.minimum(
        np.minimum(generator.zipf(1.3, rows), total) * 5 + np.arange(rows) // 1000, total // 50
    )
    most = np.minimum(f1, f2)
    f = np.minimum(generator.zipf(1.6, rows), most)
    names = np.arange(rows)
    return pl.DataFrame(
        {
            "l1": pl.Series(names % 1000).cast(pl.String),
            "l2": pl.Series(names // 1000).cast(pl.String),
            "f": f.astype(np.int64),
            "f1": f1.astype(np.int64),
            "f2": f2.astype(np.int64),
            "N": np.full(rows, total),
        }
    )


def distinct_table(rows: int) -> pl.DataFrame:
    """Return `rows` candidates of which no two have the same signature."""
    table = make_table(rows + rows // 5 + 100)
    return table.unique(["f", "f1", "f2", "N"], maintain_order=True).head(rows)


if __name__ == "__main__":
    make_table(int(sys.argv[2])).write_parquet(Path(sys.argv[1]))
