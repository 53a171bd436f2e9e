"""Files of an experiment as stages see them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.formats.base import FormatOptions, format_of
from pipeline.runner.config.sources import SourceFile


def test_a_table_has_no_sentences(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("form\na\n")
    tsv = format_of("x.tsv")
    file = SourceFile("x.tsv", path, tsv, tsv.options.model_validate({}))
    assert file.scan().select("file", "form").collect().rows() == [("x.tsv", "a")]
    with pytest.raises(TypeError, match="format tsv reads no corpus"):
        next(file.batches(["form"], 100))


def test_a_corpus_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("a b\nc\n")
    options: FormatOptions = format_of("x.txt").options()
    file = SourceFile("all texts", path, format_of("x.txt"), options)
    batches = list(file.batches(["file", "form"], 2))
    rows = [row for batch in batches for row in batch.tokens.select("file", "form").rows()]
    assert rows == [("all texts", "a"), ("all texts", "b"), ("all texts", "c")]
