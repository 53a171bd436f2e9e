"""An experiment made from a few options, before it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.recipes.base import Recipe


@pytest.mark.parametrize(
    ("folder", "path"),
    [
        (None, "/data/corpora/a.conllu"),
        ("/data/corpora", "a.conllu"),
        ("/data/studies/verbs", "../../corpora/a.conllu"),
        ("/studies/verbs", "/data/corpora/a.conllu"),
    ],
)
def test_paths_are_relative_to_the_experiment_if_they_have_a_folder_in_common(
    folder: str | None, path: str
) -> None:
    stages = {"candidates": {"use": "extract.pairs", "corpus": {"path": [Path("/data/corpora/a.conllu")]}}}  # fmt: skip
    content = Recipe("collocates", "a", stages).content(None if folder is None else Path(folder))
    assert content["stages"]["candidates"]["corpus"]["path"] == [path]
