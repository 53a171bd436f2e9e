"""An experiment with a designed sample from 300 invented candidates, of which some are judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.small_experiment import SMALL

COUNT = 300
STAGES = """
[stages.designed]
use = "sample.design"
ranks = "ranks"
cuts = [40, 100]
size = 120

[stages.answers]
use = "evaluate.designed"
ranks = "ranks"
judgements = "judgements"
sample = "designed"
inclusion = "designed.inclusion"

[stages.again]
use = "sample.random"
candidates = "candidates"
rate = 0.9
replacement = true

[stages.replaced]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
sample = "again"
"""


def write(folder: Path, *, stages: str = STAGES, judged: int = COUNT) -> Path:
    """Write the experiment and its candidates, so many of them judged."""
    (folder / "x.toml").write_text(SMALL + stages)
    bits = np.random.default_rng(11)
    f = bits.integers(3, 60, COUNT)
    f1, f2 = f + bits.integers(1, 200, COUNT), f + bits.integers(1, 200, COUNT)
    true = bits.random(COUNT) < 0.1 + 0.6 * (f > 30)
    lines = [
        f"a{i}\tb{i}\t{f[i]}\t{f1[i]}\t{f2[i]}\t9000\t{int(true[i]) if i < judged else ''}"
        for i in range(COUNT)
    ]
    (folder / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN\tTP", *lines]) + "\n")
    return folder / "x.toml"
