"""Files of corpora cut into parts: the tokens and their numbers are those of the whole file."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.formats.base import format_of
from tests.formats.corpora.corpus_files import parts_of

WORDS = ("a", "B.", "c d", "née", "ne\u0301e", "so\u00adlo", "_", "#")
MANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
DOCUMENTS = (0.0, 0.05, 0.6)
"""Probability that a document begins."""


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
    """Return doc, paragraph, sentence and form of tokens; names of sentences may repeat."""
    rows, doc, paragraph = list[tuple[str, str, str, str]](), "", 0
    for number in range(sentences):
        if draw.random() < documents:
            doc = f"d{number}" if draw.random() < 0.7 else ""
        paragraph += draw.random() < 0.3
        words = [draw.choice(WORDS) for _ in range(draw.randint(1, 5))]
        rows += [(doc, str(paragraph), str(number), word) for word in words]
    return rows


@pytest.mark.long
@pytest.mark.parametrize("documents", DOCUMENTS)
@pytest.mark.parametrize("size", [40, 400])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_parts_of_conllu_give_the_whole_file(
    documents: float, size: int, end: str, tmp_path: Path
) -> None:
    draw = random.Random(f"{documents} {size}")
    mark = b"\xef\xbb\xbf" if end == "\n" else b""
    (tmp_path / "a.conllu").write_bytes(mark + conllu(draw, 25, documents, end=end))
    assert len(parts_of(tmp_path / "a.conllu", size)) > 1


@pytest.mark.long
def test_duplicate_sent_ids_in_different_parts_are_found(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes(conllu(random.Random(1), 30, 0.1) * 2)
    assert len(parts_of(path, 900)) > 2
    assert parts_of(path, 900, unique_sent_id=True) == []
    path.write_bytes(conllu(random.Random(1), 60, 0.1))
    assert len(parts_of(path, 900, unique_sent_id=True)) > 2


@pytest.mark.parametrize("documents", DOCUMENTS)
@pytest.mark.parametrize("size", [20, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("columns", [(0, 1, 2, 3), (0, 3), (0, 2, 3), (1, 2, 3), (3,)])
@pytest.mark.parametrize("header", [pytest.param(False, marks=pytest.mark.long), True])
def test_parts_of_token_tables_give_the_whole_file(
    documents: float, size: int, columns: Sequence[int], header: bool, tmp_path: Path
) -> None:
    rows = table(random.Random(f"{documents} {size}"), 6 if size == 20 else 30, documents)
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
    rows=st.integers(1, 9),
    size=st.integers(1, 900),
    documents=st.sampled_from(DOCUMENTS),
)
@pytest.mark.long
def test_row_groups_of_parquet_give_the_whole_file(
    seed: int, rows: int, size: int, documents: float, tmp_path: Path
) -> None:
    tokens = table(random.Random(seed), 6, documents)
    names = ["doc", "paragraph", "sentence", "form"]
    frame = pl.DataFrame(tokens, schema=names, orient="row").with_columns(
        pl.col("sentence").cast(pl.Int64)
    )
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=rows)
    parts_of(tmp_path / "a.parquet", size)


def test_a_sentence_belongs_to_the_row_group_where_it_begins(tmp_path: Path) -> None:
    sentences = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 3]
    frame = pl.DataFrame({"sentence": sentences, "form": list("abcdefghijkl")})
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=4)
    parts = parts_of(tmp_path / "a.parquet", 1)
    assert [(part.range.lines, part.rows) for part in parts] == [(0, 10), (10, 2)]


@pytest.mark.long
def test_damage_of_a_row_group_is_reported_by_its_part(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame({"sentence": range(900), "form": [f"w{each}" for each in range(900)]})
    frame.write_parquet(path, row_group_size=300, compression="uncompressed")
    parts, format_ = parts_of(path, 1), format_of("a.parquet", kind="corpus")
    assert len(parts) == 3
    assert format_.read_part
    content = bytearray(path.read_bytes())
    at = content.index(b"w450")
    content[at : at + 4] = b"\xff" * 4
    path.write_bytes(content)
    read_part, options = format_.read_part, format_.options()
    assert (
        sum(each.tokens.height for each in read_part(path, options, ["form"], 1 << 20, parts[0]))
        == 300
    )
    with pytest.raises(DataError, match="not a complete Parquet file"):
        list(read_part(path, options, ["form"], 1 << 20, parts[1]))


def test_a_lenient_reader_needs_the_whole_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b\n" * 99)
    (tmp_path / "a.conllu").write_bytes(conllu(random.Random(1), 50, 0.1))
    assert parts_of(tmp_path / "a.txt", 50, lenient=True) == []
    assert parts_of(tmp_path / "a.conllu", 50, lenient=True) == []


PACKED = (".gz", ".zst")


def pack_pieces(pieces: Sequence[bytes], ending: str) -> bytes:
    """Return the pieces as members of a packed file."""
    if ending == ".gz":
        return b"".join(map(gzip.compress, pieces))
    return b"".join(pa.Codec("zstd").compress(each, asbytes=True) for each in pieces)


def pieces_of(draw: random.Random, content: bytes, number: int) -> list[bytes]:
    """Return content in pieces, which end anywhere, and may be empty."""
    places = sorted([0, len(content), *(draw.randrange(len(content)) for _ in range(number - 1))])
    return [content[start:end] for start, end in pairwise(places)]


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("documents", DOCUMENTS)
@pytest.mark.parametrize("number", [2, *(pytest.param(n, marks=pytest.mark.long) for n in (5, 60))])
def test_packed_files_are_divided_at_their_members(
    documents: float, number: int, ending: str, tmp_path: Path
) -> None:
    draw = random.Random(f"{documents} {number}")
    mark = b"\xef\xbb\xbf" if number == 5 else b""
    content = mark + conllu(draw, 120, documents)
    path = tmp_path / f"a.conllu{ending}"
    path.write_bytes(pack_pieces(pieces_of(draw, content, number), ending))
    most = [len(parts_of(path, size)) for size in (len(content) // 8, len(content) // 3)]
    assert max(most) <= number
    assert number < 60 or min(most) > 1


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize(
    "options", [{}, pytest.param({"sentences": "wrapped"}, marks=pytest.mark.long)]
)
def test_parts_of_packed_text_give_the_whole_file(
    options: dict[str, str], ending: str, tmp_path: Path
) -> None:
    draw = random.Random(3)
    content = "\r\n".join(draw.choice(["a b", "", "### x", "c d e"]) for _ in range(999)).encode()
    path = tmp_path / f"a.txt{ending}"
    path.write_bytes(pack_pieces(pieces_of(draw, content, 40), ending))
    assert len(parts_of(path, 500, document="^### (.*)$", **options)) > 2


@pytest.mark.parametrize("ending", PACKED)
def test_a_single_member_is_not_divided(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"a.txt{ending}").write_bytes(pack_pieces([b"a b\n" * 9999], ending))
    assert parts_of(tmp_path / f"a.txt{ending}", 100) == []


@pytest.mark.parametrize("ending", PACKED)
def test_a_damaged_packed_file_is_not_divided(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.txt{ending}"
    whole = pack_pieces([b"a b\n" * 99] * 9, ending)
    path.write_bytes(whole[:-9])
    assert parts_of(path, 100) == []
    path.write_bytes(whole + b"what is not packed")
    assert parts_of(path, 100) == []
    with pytest.raises(DataError, match=r"the (gzip|zstd) file is damaged or truncated"):
        format_of("a.txt").scan(path, format_of("a.txt").options()).collect()
