"""Files that are damaged, gone or refused: every reader names the file, in our words alone."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import DataError, LexassayError
from pipeline.formats import lines
from pipeline.formats.base import FORMATS, Format, reading
from pipeline.runner.inputs import SourceFile
from tests.formats.test_line_ends import LAYOUTS, RECORDS
from tests.test_causes import LIBRARY

TEXTS = sorted(RECORDS)
PARQUET = {"parquet": ".parquet", "token_parquet": ".parquet"}


def source(path: Path, name: str) -> SourceFile:
    kind = FORMATS.get(name)
    return SourceFile(path.name, path, kind, kind.options.model_validate(LAYOUTS.get(name, {})))


def read(path: Path, name: str) -> None:
    """Do with a file what a run does."""
    file = source(path, name)
    names = file.schema().names()
    if file.format.read is None:
        file.check()
        file.scan().collect()
    else:
        list(file.batches(names, 1 << 20))


def content(name: str) -> bytes:
    if name in PARQUET:
        rows = {"sentence": [i // 5 for i in range(400)], "form": [f"w{i % 7}" for i in range(400)]}
        buffer = io.BytesIO()
        pl.DataFrame(rows).write_parquet(buffer)
        return buffer.getvalue()
    return "".join(line + "\n" for line in RECORDS[name]).encode()


def refusal(path: Path, name: str) -> str:
    """Return what is said of a file, which has to name it."""
    with pytest.raises(DataError) as error:
        read(path, name)
    said = str(error.value)
    assert str(path) in said
    assert not LIBRARY.search(said), said
    return said


def cut(packed: bytes) -> bytes:
    return packed[:-12]


def wrong_sum(packed: bytes) -> bytes:
    return packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]


def scrambled(packed: bytes) -> bytes:
    return packed[:10] + b"\xff" * 20 + packed[30:]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("damage", [cut, wrong_sum, scrambled])
def test_a_damaged_gzip_file(name: str, damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "file.x.gz"
    path.write_bytes(damage(gzip.compress(content(name))))
    assert "the gzip file is damaged or cut short\nFetch it" in refusal(path, name)


@pytest.mark.parametrize("name", sorted(PARQUET))
@pytest.mark.parametrize("place", [4, 40, 100, -200, -60, -9, -2])
def test_damaged_parquet(name: str, place: int, tmp_path: Path) -> None:
    path, whole = tmp_path / "file.parquet", bytearray(content(name))
    whole[place : place + 2 if place + 2 else None] = b"\xff\xff"
    path.write_bytes(whole)
    assert "not a whole Parquet file: damaged, cut short, or of another" in refusal(path, name)


@pytest.mark.parametrize("name", sorted(PARQUET))
def test_no_byte_of_the_end_of_parquet_is_told_as_a_defect(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, whole = tmp_path / "file.parquet", content(name)
    end = int.from_bytes(whole[-8:-4], "little") + 8
    for place in range(len(whole) - end, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with contextlib.suppress(LexassayError):
            read(path, name)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", sorted(PARQUET))
def test_parquet_that_is_cut_or_packed(name: str, tmp_path: Path) -> None:
    whole = content(name)
    (tmp_path / "half.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.parquet").write_text("l1\tl2\n")
    (tmp_path / "cut.parquet.gz").write_bytes(gzip.compress(whole)[:-9])
    for file in ("half.parquet", "text.parquet"):
        assert "not a whole Parquet file" in refusal(tmp_path / file, name)
    assert "gzip file is damaged" in refusal(tmp_path / "cut.parquet.gz", name)


@pytest.mark.parametrize("name", [*TEXTS, *PARQUET, "annotation_sheet", "keying_sheet"])
def test_a_file_that_is_gone_or_a_folder(name: str, tmp_path: Path) -> None:
    ending = PARQUET.get(name, ".csv")
    gone, folder = tmp_path / f"gone{ending}", tmp_path / f"folder{ending}"
    folder.mkdir()
    for path in (gone, folder):
        refusal(path, name)


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (PermissionError(13, "Permission denied"), "cannot be read: this user may not do that"),
        (OSError(5, "Input/output error"), "cannot be read: the disk fails"),
        (MemoryError(), "cannot be read: the memory is used up"),
        (zlib.error("Error -3"), "the gzip file is damaged or cut short"),
        (EOFError("Compressed file ended"), "the gzip file is damaged or cut short"),
        (pl.exceptions.ComputeError("parquet: x"), "not a whole Parquet file"),
        (pl.exceptions.NoDataError("empty CSV"), "cannot be read: empty CSV"),
    ],
)
def test_whatever_a_reader_raises(raised: Exception, said: str, tmp_path: Path) -> None:
    def read(_path: Path, _options: object) -> pl.LazyFrame:
        raise raised

    path = tmp_path / "file.own"
    kind = Format("own", read, suffixes=[".own"], check=read)  # type: ignore[arg-type]  # raises
    for function in (kind.scan, kind.check):
        with pytest.raises(DataError) as error:
            function(path, kind.options())
        assert str(error.value).startswith(f"{path}: {said}")


def test_a_defect_of_a_reader_passes(tmp_path: Path) -> None:
    with pytest.raises(KeyError), reading(tmp_path):
        raise KeyError("line")


MUTATIONS: list[Callable[[bytearray, random.Random], object]] = [
    lambda b, r: b.__delitem__(slice(r.randrange(len(b)), None)),
    lambda b, r: b.__setitem__(at := r.randrange(len(b)), b[at] ^ 1 << r.randrange(8)),
    lambda b, r: b.insert(r.randrange(len(b)), 0),
    lambda b, r: b.insert(r.randrange(len(b)), 0xE9),
    lambda b, r: b.insert(r.randrange(len(b)), ord('"')),
    lambda b, r: b.insert(r.randrange(len(b)), ord("\r")),
    lambda b, r: b.insert(r.randrange(len(b)), ord("\t")),
    lambda b, r: b.__delitem__(slice(at := r.randrange(len(b)), at + r.randrange(1, 30))),
    lambda b, r: b.__setitem__(slice(0, 0), r.choice([b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b"])),
    lambda b, r: b.extend(r.randbytes(20)),
]


@pytest.mark.parametrize("name", [*TEXTS, *PARQUET])
def test_any_damage_is_read_or_refused_by_name(name: str, tmp_path: Path) -> None:
    for number in range(30):
        chance = random.Random(f"{name}-{number}")
        packed = number % 3 == 0
        raw = bytearray(gzip.compress(content(name)) if packed else content(name))
        chance.choice(MUTATIONS)(raw, chance)
        path = tmp_path / f"file{PARQUET.get(name, '.x')}{'.gz' if packed else ''}"
        path.write_bytes(raw)
        try:
            read(path, name)
        except LexassayError as error:
            said = "\n".join(line for line in str(error).splitlines() if line[:2] != "  ")
            assert str(path) in said, (number, said)
            assert not LIBRARY.search(said), (number, said)


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_a_long_field_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"file.{name}"
    first = content(name).decode()
    path.write_text(first.replace("\na", "\n" + "a" * 200_000, 1))
    read(path, name)


def test_a_field_too_long_for_one_has_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LONGEST", 1000)
    before = csv.field_size_limit(1000)
    try:
        path = tmp_path / "file.csv"
        path.write_text("l1,l2\na,b\nc," + "d" * 2000 + "\n")
        said = refusal(path, "csv")
    finally:
        csv.field_size_limit(before)
    assert "line 3: a field with more than 1,000 characters\nClose the quotation" in said


@pytest.mark.parametrize("separator", ["§", "\n", '"', "", "\t\t", "\0"])
def test_what_cannot_separate_fields(separator: str) -> None:
    with pytest.raises(ValueError, match="cannot separate fields: one ASCII character"):
        FORMATS.get("csv").options.model_validate({"separator": separator})


def test_a_column_that_is_called_as_the_readers_own(tmp_path: Path) -> None:
    path = tmp_path / "file.tsv"
    path.write_text("file\tl1\na\tb\n")
    assert "a column is called file" in refusal(path, "tsv")
