"""Packed files of every reader: gzip and zstd, of one member or several, whole and damaged."""

from __future__ import annotations

import gzip
import random
import re
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.formats import compression
from pipeline.formats.base import FORMATS, format_of
from pipeline.formats.compression import MembersReader, open_bytes, open_compressed
from pipeline.formats.lines import PADDING, ByteLines, require_matching_suffix, texts
from pipeline.memory import with_limit
from tests.formats.test_base import LAYOUTS_LINE_ENDS, RECORDS_LINE_ENDS


def zstd(content: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(content, asbytes=True)
    return packed


def bgzf(content: bytes) -> bytes:
    """Return a member with its size in the extra field, as bgzip writes it."""
    plain = gzip.compress(content)
    size = len(plain) + 8 - 1
    extra = (6).to_bytes(2, "little") + b"BC\2\0" + size.to_bytes(2, "little")
    return plain[:3] + bytes([plain[3] | 4]) + plain[4:10] + extra + plain[10:]


def skippable(content: bytes) -> bytes:
    """Return a frame with one before it that holds no text."""
    return (0x184D2A5A).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"hello" + zstd(content)


PACKING: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bgzf": bgzf,
    "zstd": zstd,
    "skippable": skippable,
}


def write_packed(folder: Path, how: str, pieces: Sequence[bytes], name: str = "a.txt") -> Path:
    path = folder / f"{name}.{'gz' if 'gz' in how else 'zst'}"
    path.write_bytes(b"".join(map(PACKING[how], pieces)))
    return path


@pytest.mark.parametrize("how", PACKING)
@pytest.mark.parametrize("number", [1, 2, 50])
def test_members_are_found_and_read_from(how: str, number: int, tmp_path: Path) -> None:
    draw = random.Random(number)
    text = b"".join(draw.choice([b"a b\n", b"cc", b"\r\n", b"\0"]) for _ in range(9999))
    starts = [0, *sorted(draw.sample(range(1, len(text)), number - 1))]
    pieces = [text[start:end] for start, end in pairwise([*starts, len(text)])]
    path = write_packed(tmp_path, how, pieces)
    with open_bytes(path) as file:
        assert file.read() == text
    with MembersReader(path) as reader:
        assert b"".join(iter(lambda: reader.read(777), b"")) == text
    assert [each.text for each in reader.members] == starts
    for member in reader.members:
        assert reader.before(member.text).text == member.text
        assert reader.after(member.text) is not None
        with open_compressed(path, member.place) as file:
            assert file.read() == text[member.text :]
    assert reader.after(len(text) + 1) is None


@pytest.mark.parametrize("how", PACKING)
@pytest.mark.parametrize("damage", [lambda raw: raw[:-5], lambda raw: raw[: len(raw) // 3]])
def test_truncated_files_are_not_taken_for_complete(
    how: str, damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = write_packed(tmp_path, how, [b"a b c\n" * 99, b"d e f\n" * 99])
    path.write_bytes(damage(path.read_bytes()))
    with MembersReader(path) as reader, pytest.raises((EOFError, OSError)):
        reader.read(1 << 20)


@pytest.mark.parametrize("name", sorted(RECORDS_LINE_ENDS))
def test_every_reader_reads_zstd(name: str, tmp_path: Path) -> None:
    kind = FORMATS.get(name)
    options = kind.options.model_validate(LAYOUTS_LINE_ENDS.get(name, {}))
    content = "".join(line + "\n" for line in RECORDS_LINE_ENDS[name]).encode()
    half = len(content) // 2
    path = write_packed(tmp_path, "zstd", [content[:half], content[half:]], "file.x")
    (tmp_path / "file.x").write_bytes(content)
    assert list(kind.check(path, options)) == list(kind.check(tmp_path / "file.x", options))
    frames: list[pl.DataFrame] = [
        kind.scan(each, options).collect() for each in (path, tmp_path / "file.x")
    ]
    assert frames[0].equals(frames[1])
    path.write_bytes(zstd(content)[:-3])
    with pytest.raises(DataError, match="the zstd file is damaged or truncated"):
        kind.check(path, options)


def test_extensions_that_contradict_the_content_are_refused(tmp_path: Path) -> None:
    assert format_of("a.conllu.zst").name == "conllu"
    for name, content, message in (
        ("a.txt", zstd(b"a"), r"compressed with zstd: rename it with the extension .zst"),
        ("a.txt", gzip.compress(b"a"), r"gzipped: rename it with the extension .gz"),
        ("a.txt.zst", gzip.compress(b"a"), r"not a zstd file despite its extension .zst"),
        ("a.txt.gz", b"a", r"not a gzip file despite its extension .gz"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=message):
            require_matching_suffix(tmp_path / name)


PACKED = st.tuples(st.binary(max_size=9) | st.integers(1, 5000).map(bytes), st.integers(0, 9))


@given(st.lists(PACKED, max_size=4), st.integers(1, 40), st.integers(1, 9), st.data())
def test_gzip_read_in_pieces_agrees_with_the_library(
    members: list[tuple[bytes, int]], chunk: int, piece: int, data: st.DataObject
) -> None:
    """The reader of the standard library is the slow twin, for truncated files too."""
    content = b"".join(gzip.compress(each) + bytes(zeros) for each, zeros in members)
    content = content[: data.draw(st.integers(0, len(content)))]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        path = Path(folder, "a.gz")
        path.write_bytes(content)
        patched.setattr(compression, "_CHUNK", chunk)
        patched.setattr(compression, "_PIECE", piece)
        assert _read_or_not(lambda: open_compressed(path).read()) == _read_or_not(
            lambda: gzip.decompress(content)
        )


def _read_or_not(reader: Callable[[], bytes]) -> bytes | None:
    try:
        return reader()
    except (EOFError, gzip.BadGzipFile):  # its error for half a magic number
        return None


# Packed files of tables and lexicons, and endless lines, under a limit of memory.

BLANKS = {"a.tsv.gz": b"a\tb\n" + b"\n" * (3 << 20), "a.wordforms.gz": b"\n" * (3 << 20)}


@pytest.mark.parametrize("name", BLANKS)
def test_files_that_expand_enormously_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(BLANKS[name]))
    format_ = format_of(name, kind="table")
    with (
        with_limit(1 << 20),
        pytest.raises(DataError, match=r"(?s)that expand to .* or more.* memory ="),
    ):
        format_.check(tmp_path / name, format_.options())


def test_ordinary_packed_text_is_read_whatever_its_size(tmp_path: Path) -> None:
    words, generator = ["Haus", "Hund", "Katze", "laufen"], random.Random(1)
    rows = "".join(f"{generator.choice(words)}\t{generator.randrange(99)}\n" for _ in range(99_999))
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(("word\tf\n" + rows).encode()))
    format_ = format_of("a.tsv.gz", kind="table")
    with with_limit(1 << 16):
        assert format_.check(tmp_path / "a.tsv.gz", format_.options()) == ()


@pytest.mark.parametrize("name", ["a.txt", "a.conllu", "a.txt.gz", "a.conllu.gz"])
def test_a_line_without_an_end_is_refused_with_its_number(name: str, tmp_path: Path) -> None:
    path, content = tmp_path / name, b"\n" + b"word " * (1 << 20)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    format_ = format_of(name, kind="corpus")
    assert format_.read
    with with_limit(1 << 26), pytest.raises(DataError, match=rf"(?s){name}: line [12]: .*memory ="):
        list(format_.read(path, format_.options(), ["form"], 1 << 18))


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("words", [1 << 18, 1 << 20])
def test_the_memory_that_a_message_proposes_suffices_for_a_long_line(
    name: str, words: int, tmp_path: Path
) -> None:
    """The limit that the message proposes is enough."""
    path, content = tmp_path / name, b"short\n" + b"word " * words + b"\nshort\n"
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    format_ = format_of(name, kind="corpus")
    assert format_.read
    reader = partial(
        format_.read, path, format_.options.model_validate({"sentences": "line"}), ["form"], 1 << 16
    )
    with with_limit(1 << 26), pytest.raises(DataError, match="line 2: the ") as refused:
        list(reader())
    megabytes = re.search(r"memory = \"([\d.]+)(MB|GB)", str(refused.value))
    assert megabytes is not None
    size = float(megabytes[1]) * (1 << (20 if megabytes[2] == "MB" else 30))
    assert words * 316 < size < 2 * words * 400
    with with_limit(int(size)):
        assert sum(batch.tokens.height for batch in reader()) == words + 2


def test_a_header_without_an_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b" " * (17 << 20)))
    format_ = format_of("a.tsv.gz", kind="table")
    with pytest.raises(
        DataError, match="line 1 should be a header, but has 16,777,216 characters or more"
    ):
        format_.scan(tmp_path / "a.tsv.gz", format_.options())


TEXT = st.text(st.sampled_from("ab é1\t\n"), max_size=40)


@given(TEXT)
def test_lines_and_fields_agree_with_split_strings(text: str) -> None:
    expected = text.removesuffix("\n").split("\n") if text else []
    lines = ByteLines(text.encode())
    assert lines.tabs.tolist() == [line.count("\t") for line in expected]
    assert lines.is_blank.tolist() == [not line for line in expected]
    everything = np.arange(len(expected))
    whole = lines.texts(lines.whole(everything)).fill_null("").to_list()
    assert whole == expected
    for number, line in enumerate(expected):
        row = lines.rows(np.array([number]))
        for index, field in enumerate(line.split("\t")):
            assert lines.texts(row.field(index)).to_list() == [field or None]


@given(st.lists(st.text(st.sampled_from("0123456789-+. _x"), max_size=12), min_size=1))
def test_numbers_are_digits_alone(fields: list[str]) -> None:
    lines = ByteLines("\n".join(["", *fields, ""]).encode())
    numbers = lines.numbers(lines.rows(np.arange(len(fields)) + 1).field(0))
    good = [field.isdigit() and len(field) <= 9 for field in fields]
    expected = [int(field) if is_good else -1 for field, is_good in zip(fields, good, strict=True)]
    assert numbers.tolist() == expected


@pytest.mark.parametrize(
    ("field", "is_it"), [("_", True), ("", False), ("__", False), ("a", False)]
)
def test_is_only_finds_fields_of_one_character(field: str, is_it: bool) -> None:
    lines = ByteLines(f"{field}\t_".encode())
    assert lines.is_only(lines.rows(np.array([0])).field(0), "_").tolist() == [is_it]


def test_empty_bytes_have_no_lines() -> None:
    lines = ByteLines(b"")
    assert not lines.tabs.size
    assert not lines.is_blank.size


# Texts among bytes as a column, against Python's own slices.

TEXTS = st.lists(st.none() | st.text(max_size=30), max_size=20)


def column(values: Sequence[str | None], between: bytes = b"") -> pl.Series:
    """Write values one after the other, with something between them, and read them back."""
    raw = [(value or "").encode() for value in values]
    lengths = np.array([len(each) for each in raw], np.int64)
    starts = np.cumsum(lengths + len(between)) - lengths
    content = np.frombuffer(b"".join(between + each for each in raw) + bytes(PADDING), np.uint8)
    valid = np.array([value is not None for value in values], bool)
    return texts(content, starts, lengths, valid=valid)


@given(TEXTS, st.sampled_from([b"", b"\t", b"#" * 500]))
def test_columns_of_bytes_equal_the_written_values(
    values: list[str | None], between: bytes
) -> None:
    strings = column(values, between)
    assert strings.dtype == pl.String
    assert strings.to_list() == values
    assert strings.str.len_bytes().to_list() == [
        None if value is None else len(value.encode()) for value in values
    ]


@pytest.mark.parametrize("length", [0, 1, 4, 11, 12, 13, 14, 100])
def test_columns_of_texts_of_any_length_sort_and_compare(length: int) -> None:
    values = ["x" * length, "y" * length, "é" * length]
    strings, plain = column(values), pl.Series(values)
    assert (strings == plain).all()
    assert strings.sort().to_list() == plain.sort().to_list()
    assert strings.hash(1).to_list() == plain.hash(1).to_list()


def test_columns_do_not_keep_the_bytes_around_their_texts() -> None:
    """A few long texts among other bytes are copied; the column outlives its source."""
    strings = column(["a rather long word", "short"], bytes(10_000))
    assert strings.to_arrow().nbytes < 1_000
    assert strings.to_list() == ["a rather long word", "short"]
