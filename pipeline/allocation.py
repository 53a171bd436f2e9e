"""How Polars holds memory, in processes of ours: what is freed goes back, little is read ahead."""

from __future__ import annotations

SETTINGS = {
    # Pages that are freed go back to the system after half a second, not ten; at once costs CPU.
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:500,muzzy_decay_ms:0",
    # One row group of a Parquet file is read ahead, not several for each core.
    "POLARS_ROW_GROUP_PREFETCH_SIZE": "1",
}
"""Environment variables that Polars looks at when it is loaded; whoever has set one keeps it."""
