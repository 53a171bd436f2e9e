"""Files of corpora cut into parts: the tokens and their numbers are those of the whole file."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.formats.base import format_of
from tests.formats.corpora.cut_files import parts_of

WORDS = ("a", "B.", "c d", "née", "_", "#")
MANY = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
DOCUMENTS = (0.0, 0.05, 0.6)
"""How often a document begins."""


def conllu(draw: random.Random, sentences: int, documents: float, *, end: str = "\n") -> bytes:
    """Write sentences, some of one word, with ranges, empty nodes and comments."""
    lines = list[str]()
    for number in range(sentences):
        if draw.random() < documents:
            lines.append(draw.choice(["# newdoc id = x", "# newdoc", "# newdoc id = y"]))
        if draw.random() < 0.2:
            lines.append("# newpar")
        lines.append(f"# sent_id = {number}")
        if draw.random() < 0.2:
            lines.append("1-2\tab" + "\t_" * 8)
        for word in range(1, draw.randint(2, 5)):
            form = draw.choice(WORDS)
            lines.append(f"{word}\t{form}\t{form}\tX" + "\t_" * 6)
        if draw.random() < 0.2:
            lines.append("9.1\te" + "\t_" * 8)
        lines.append("")
    return (end.join(lines) + end).encode()


def table(draw: random.Random, sentences: int, documents: float) -> list[tuple[str, str, str, str]]:
    """Return doc, paragraph, sentence and form of tokens; sentences may have one name twice."""
    rows, doc, paragraph = list[tuple[str, str, str, str]](), "", 0
    for number in range(sentences):
        if draw.random() < documents:
            doc = f"d{number}" if draw.random() < 0.7 else ""
        paragraph += draw.random() < 0.3
        words = [draw.choice(WORDS) for _ in range(draw.randint(1, 5))]
        rows += [(doc, str(paragraph), str(number), word) for word in words]
    return rows


@pytest.mark.parametrize("documents", DOCUMENTS)
@pytest.mark.parametrize("size", [10, 150, 1000, 4000])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_conllu(documents: float, size: int, end: str, tmp_path: Path) -> None:
    draw = random.Random(f"{documents} {size}")
    for mark in (b"", b"\xef\xbb\xbf"):
        (tmp_path / "a.conllu").write_bytes(mark + conllu(draw, 60, documents, end=end))
        assert len(parts_of(tmp_path / "a.conllu", size)) > (1 if size < 4000 else -1)
        parts_of(tmp_path / "a.conllu", size, unique_sent_id=True)


def test_what_comes_twice_in_other_parts_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes(conllu(random.Random(1), 50, 0.1) * 2)
    assert len(parts_of(path, 300)) > 2
    assert parts_of(path, 300, unique_sent_id=True) == []
    path.write_bytes(conllu(random.Random(1), 100, 0.1))
    assert len(parts_of(path, 300, unique_sent_id=True)) > 2


@pytest.mark.parametrize("documents", DOCUMENTS)
@pytest.mark.parametrize("size", [10, 100, 300])
@pytest.mark.parametrize("columns", [(0, 1, 2, 3), (0, 3), (0, 2, 3), (1, 2, 3), (3,)])
@pytest.mark.parametrize("header", [False, True])
def test_token_tables(
    documents: float, size: int, columns: Sequence[int], header: bool, tmp_path: Path
) -> None:
    rows = table(random.Random(f"{documents} {size}"), 80, documents)
    names = [("doc", "paragraph", "sentence", "form")[each] for each in columns]
    lines, before = ["\t".join(names)] if header else list[str](), rows[0][2]
    for row in rows:
        lines += [] if row[2] == before or 2 in columns else [""]
        before = row[2]
        lines.append("\t".join(row[each] for each in reversed(columns)))
    names.reverse()
    lines[:1] = ["\t".join(names)] if header else lines[:1]
    (tmp_path / "a.tsv").write_text("\n".join(lines) + "\n")
    options: dict[str, Any] = {"name": "tokens", "columns": names, "header": header}
    assert len(parts_of(tmp_path / "a.tsv", size, **options)) > 1


@MANY
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 60),
    size=st.integers(1, 3000),
    documents=st.sampled_from(DOCUMENTS),
)
def test_parquet(seed: int, rows: int, size: int, documents: float, tmp_path: Path) -> None:
    tokens = table(random.Random(seed), 40, documents)
    names = ["doc", "paragraph", "sentence", "form"]
    frame = pl.DataFrame(tokens, schema=names, orient="row").with_columns(
        pl.col("sentence").cast(pl.Int64)
    )
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=rows)
    parts_of(tmp_path / "a.parquet", size)


def test_a_row_group_is_a_part_and_a_sentence_is_of_the_one_where_it_begins(tmp_path: Path) -> None:
    sentences = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 3]
    frame = pl.DataFrame({"sentence": sentences, "form": list("abcdefghijkl")})
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=4)
    parts = parts_of(tmp_path / "a.parquet", 1)
    assert [(part.range.lines, part.rows) for part in parts] == [(0, 10), (10, 2)]


def test_what_is_damaged_in_a_row_group_is_said_by_its_part(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame({"sentence": range(9000), "form": [f"w{each}" for each in range(9000)]})
    frame.write_parquet(path, row_group_size=3000, compression="uncompressed")
    parts, format_ = parts_of(path, 1), format_of("a.parquet", kind="corpus")
    assert len(parts) == 3
    assert format_.read_part
    content = bytearray(path.read_bytes())
    at = content.index(b"w4000")
    content[at : at + 5] = b"\xff" * 5
    path.write_bytes(content)
    read, options = format_.read_part, format_.options()
    assert sum(each.tokens.height for each in read(path, options, ["form"], 100, parts[0])) == 3000
    with pytest.raises(DataError, match="not a whole Parquet file"):
        list(read(path, options, ["form"], 100, parts[1]))


def test_a_lenient_reader_needs_the_whole_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b\n" * 99)
    (tmp_path / "a.conllu").write_bytes(conllu(random.Random(1), 50, 0.1))
    assert parts_of(tmp_path / "a.txt", 50, lenient=True) == []
    assert parts_of(tmp_path / "a.conllu", 50, lenient=True) == []
