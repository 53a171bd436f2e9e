"""Stages that refer to a list of tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import pipeline as lx
from pipeline.errors import ConfigError

HEAD = """
name = "lists"
[stages.a]
use = "extract.lexicon"
path = "a.tsv"
[stages.b]
use = "extract.lexicon"
path = "b.tsv"
[stages.both]
use = "extract.union"
"""


def run(folder: Path, lexicons: str) -> lx.Run:
    for name in "ab":
        (folder / f"{name}.tsv").write_text(f"lemma\tform\nx\t{name}\n")
    (folder / "x.toml").write_text(f"{HEAD}lexicons = {lexicons}\n")
    return lx.run(folder / "x.toml", runs=folder / "runs", report=False)


def test_every_table_of_a_list_is_handed_over(tmp_path: Path) -> None:
    assert run(tmp_path, '["a", "b"]').table("both")["form"].to_list() == ["a", "b"]
    assert run(tmp_path, '["b.lexicon"]').table("both")["form"].to_list() == ["b"]


def test_another_list_is_another_stage(tmp_path: Path) -> None:
    found = [
        run(tmp_path, lexicons).manifests["both"].fingerprint
        for lexicons in ('["a", "b"]', '["a"]', '["a", "b"]')
    ]
    assert found[0] == found[2] != found[1]


@pytest.mark.parametrize(
    ("lexicons", "said"),
    [
        ('["a", "c"]', "stages.both.lexicons.1: there is no stage 'c'"),
        ('["a", "b.lemmas"]', "'b.lemmas' gives lemmas .LemmaList., but WordList is needed"),
        ('["a", "both"]', "the stages refer to each other in a ring: both -> both"),
        ("[]", "stages.both.lexicons"),
    ],
)
def test_lists_that_lead_nowhere(tmp_path: Path, lexicons: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        run(tmp_path, lexicons)
