"""The beginning of a small experiment: candidates from pairs.tsv, judged, scored, ranked."""

from __future__ import annotations

SMALL = """
name = "small"

[stages.candidates]
use = "extract.table"
path = "pairs.tsv"

[stages.judgements]
use = "join.table"
path = "pairs.tsv"
candidates = "candidates"

[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["mi", "t_score"]

[stages.ranks]
use = "score.rank"
scores = "scores"

"""
