"""Token-level accuracies that an independent program found for clusters of UD English EWT."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import pipeline as lx

FOUND = {
    ("[]", "Brown"): (254_818, 0, 0.6833),
    ("[]", "Clark"): (254_818, 1, 0.7219),
    ('["PUNCT"]', "Brown"): (225_051, 0, 0.6607),
    ('["PUNCT"]', "Clark"): (225_051, 1, 0.6934),
}
EXPERIMENT = """
name = "ewt"
[stages.gold]
use = "extract.gold"
corpus = "data:corpora/UD_English-EWT.all.conllu.gz"
exclude = %s
[stages.brown]
use = "extract.clusters"
system = "Brown"
path = "data:clustering/brown_ewtgum_c45.paths.gz"
[stages.clark]
use = "extract.clusters"
system = "Clark"
path = "data:clustering/clark_neyessenmorph_ewtgum_c45.tsv.gz"
columns = { item = "word" }
[stages.tokens]
use = "evaluate.token_level"
gold = "gold"
dictionaries = ["brown", "clark"]
measures = ["M-1"]
"""


@pytest.mark.parametrize("exclude", ["[]", '["PUNCT"]'])
def test_many_to_one(exclude: str, public_data: Callable[[str], Path], tmp_path: Path) -> None:
    public_data("corpora/UD_English-EWT.all.conllu.gz")
    public_data("clustering/brown_ewtgum_c45.paths.gz")
    (tmp_path / "ewt.toml").write_text(EXPERIMENT % exclude)
    made = lx.run(tmp_path / "ewt.toml", runs=tmp_path, report=False)
    sizes, scores = made.table("tokens.sizes"), made.table("tokens.scores")
    for system in ("Brown", "Clark"):
        tokens, alone, accuracy = FOUND[exclude, system]
        mine = sizes.filter(system=system)
        assert mine.filter(what="tokens")["count"].item() == tokens
        assert mine.filter(what="tokens without a cluster")["count"].item() == alone
        assert scores.filter(system=system)["value"].item() == pytest.approx(accuracy, abs=5e-5)
