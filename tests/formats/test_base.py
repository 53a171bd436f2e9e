"""Files that are damaged, absent or refused: every reader names the file, in our own words."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import pickle
import random
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DataError, LexassayError
from pipeline.formats import lines
from pipeline.formats.base import FORMATS, Format, _open_error, format_of, not_utf8, reading
from pipeline.runner.inputs import SourceFile
from tests.test_errors import LIBRARY

# Line ends of every kind: no reader loses data silently.

RECORDS_LINE_ENDS: dict[str, list[str]] = {
    "csv": ["l1,l2", "a,b", "c,d", "e,f"],
    "tsv": ["l1\tl2", "a\tb", "c\td", "e\tf"],
    "jsonl": ['{"l1": "a", "l2": "b"}', '{"l1": "c", "l2": "d"}', '{"l1": "e", "l2": "f"}'],
    "ucs": ["# comment", "l1\tl2", "a\tb", "c\td", "e\tf"],
    "brown": ["0\ta\t3", "01\tb\t4", "10\tc\t5"],
    "senseval": ["a a.1 s/1 t/2", "a a.2 s", "b b.1 u"],
    "blocks": ["a", "b", "", "c"],
    "wordform_blocks": ["go", "went", "", "be"],
    "unimorph": ["go\twent\tV;PST", "be\twas\tV;PST", "do\tdid\tV;PST"],
    "analyses": ["went:go<v>", "was:be<v>", "did:do<v>"],
    "conllu": [
        "# text = a b",
        "1\ta\ta\tX\t_\t_\t0\troot\t_\t_",
        "2\tb\tb\tX\t_\t_\t1\tx\t_\t_",
        "",
    ],
    "vertical": ["<s>", "a\tX", "b\tX", "</s>"],
    "tokens": ["form\ttag", "a\tX", "b\tX", "", "c\tX"],
    "text": ["a b c", "d e f", "g h i"],
    "word_counts": ["a 3", "b c 2"],
    "word_list": ["a", "b c", "d"],
    "treebank": ["1\ta\ta\tX\t_\t_\t0\troot\t_\t_", "2\tb\tb\tX\t_\t_\t1\tx\t_\t_", ""],
}
"""The lines of a file of each format."""
LAYOUTS_LINE_ENDS: dict[str, dict[str, object]] = {"vertical": {"attributes": ["form", "pos"]}}


def read_line_ends(path: Path, name: str) -> list[tuple[object, ...]]:
    """Return all rows that a format gives, after its check."""
    kind = format_of(path.name, name=name)
    options = kind.options.model_validate(LAYOUTS_LINE_ENDS.get(name, {}))
    if kind.read is None:
        kind.check(path, options)
        return kind.scan(path, options).collect().drop("line").rows()
    columns = kind.scan(path, options).collect_schema().names()
    tokens = [batch.tokens for batch in kind.read(path, options, columns, 1 << 20)]
    frame = pl.concat(tokens, how="diagonal_relaxed")
    return frame.drop("line", strict=False).rows()


def write_records(folder: Path, name: str, end: str, *, packed: bool = False) -> Path:
    content = "".join(line + end for line in RECORDS_LINE_ENDS[name]).encode()
    path = folder / f"file.x{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


def test_every_text_format_has_records() -> None:
    binary = {
        *("parquet", "token_parquet", "annotation_sheet", "keying_sheet", "workbook"),
        *("annotation_decisions", "keying_decisions"),
        "tei",  # XML, of which a carriage return alone ends a line
    }
    own = {name for name in FORMATS if FORMATS.place(name).startswith("pipeline.")}
    assert own - binary == set(RECORDS_LINE_ENDS)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", RECORDS_LINE_ENDS)
def test_unix_and_windows_ends_are_the_same(tmp_path: Path, name: str, packed: bool) -> None:
    unix = read_line_ends(write_records(tmp_path, name, "\n", packed=packed), name)
    windows = read_line_ends(write_records(tmp_path, name, "\r\n", packed=packed), name)
    assert unix
    assert unix == windows


@pytest.mark.parametrize("name", RECORDS_LINE_ENDS)
def test_a_file_of_carriage_returns_alone_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="carriage return"):
        read_line_ends(write_records(tmp_path, name, "\r"), name)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", RECORDS_LINE_ENDS)
def test_one_carriage_return_in_the_middle_is_refused_with_its_line(
    tmp_path: Path, name: str, packed: bool
) -> None:
    """One after each record in turn, except where a line feed or nothing follows."""
    places = [place for place, after in enumerate(RECORDS_LINE_ENDS[name][1:]) if after]
    for place in places:
        ends = ["\r" if number == place else "\n" for number in range(len(RECORDS_LINE_ENDS[name]))]
        text = "".join(line + end for line, end in zip(RECORDS_LINE_ENDS[name], ends, strict=True))
        path = tmp_path / f"file{place}.x{'.gz' if packed else ''}"
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        with pytest.raises(DataError, match="carriage return") as caught:
            read_line_ends(path, name)
        assert path.name in str(caught.value)
        assert f"line {place + 1}" in str(caught.value)


@pytest.mark.parametrize("name", RECORDS_LINE_ENDS)
def test_a_carriage_return_at_the_very_end_loses_nothing(tmp_path: Path, name: str) -> None:
    whole = read_line_ends(write_records(tmp_path, name, "\n"), name)
    path = tmp_path / "cut.x"
    path.write_bytes(("\n".join(RECORDS_LINE_ENDS[name]) + "\r").encode())
    assert read_line_ends(path, name) == whole


def test_carriage_returns_in_quotation_marks_are_data(tmp_path: Path) -> None:
    path = tmp_path / "quoted.csv"
    path.write_bytes(b'l1,l2\n"a\rb",c\nd,"e\r"\n')
    assert read_line_ends(path, "csv") == [("a\rb", "c"), ("d", "e\r")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('l1,l2\n"a",b\n"c"d,e\n', 'line 3, column l1: text after the closing .*: "c"d\n'),
        ('l1,l2\na,""62395\n', 'line 2, column l2: text after the closing .*: ""62395\n'),
        ('l1,l2\n"a,""b""","c" \n', 'line 2, column l2: text after the closing .*: "c" \n'),
        ('l1,l2\n"a\nb"c,d\n', "line 2: text after the closing quotation mark\n"),
        ('l1,l2\n"c"d,e', 'line 2, column l1: text after the closing .*: "c"d\n'),
        ('l1,"l2"x\na,b\n', 'line 1, column 2: text after the closing .*: "l2"x\n'),
        ('l1,l2\n"a,b\nc,d\n', "line 2: a quotation mark that is not closed\n"),
        ('l1,"l2\na,b\n', "line 1: a quotation mark that is not closed\n"),
    ],
)
def test_text_around_quotation_marks_is_refused_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "quoted.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=f"{re.escape(str(path))}: {message}Double quotation marks"):
        read_line_ends(path, "csv")


@pytest.mark.parametrize("text", ['l1,l2\na,b"c\nd,e"\nf,g\n', 'l1,l2\n"a,b\nc,d\n'])
def test_unpaired_quotation_marks_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "quoted.csv"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_line_ends(path, "csv")
    assert "polars" not in str(caught.value).lower()
    assert "Correct these lines" in str(caught.value) or "quotation marks" in str(caught.value)


@given(parts=st.lists(st.sampled_from(["\r", "\n", "a", "\r\n", "\ufeff", "é"]), max_size=30))
def test_line_numbers_agree_with_a_plain_count(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    content = "".join(parts).encode()
    path = tmp_path_factory.mktemp("ends") / "file.txt"
    path.write_bytes(content)
    bare = [
        place for place in range(len(content) - 1)
        if content[place] == 0x0D and content[place + 1] != 0x0A
    ]  # fmt: skip
    if not bare:
        lines.check_ends(path)
        return
    with pytest.raises(DataError, match=f"{len(bare)} carriage return") as caught:
        lines.check_ends(path)
    numbers = ", ".join(str(content.count(b"\n", 0, place) + 1) for place in bare[:3])
    assert f"(line {numbers})" in str(caught.value)


TEXTS = sorted(RECORDS_LINE_ENDS)
PARQUET = {"parquet": ".parquet", "token_parquet": ".parquet"}


def source(path: Path, name: str) -> SourceFile:
    kind = FORMATS.get(name)
    return SourceFile(
        path.name, path, kind, kind.options.model_validate(LAYOUTS_LINE_ENDS.get(name, {}))
    )


def read(path: Path, name: str) -> None:
    """Check and read a file as a run does."""
    file = source(path, name)
    names = [*file.schema()]
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
    return "".join(line + "\n" for line in RECORDS_LINE_ENDS[name]).encode()


def refusal(path: Path, name: str) -> str:
    """Return the message that refuses a file, which has to name it."""
    with pytest.raises(DataError) as error:
        read(path, name)
    message = str(error.value)
    assert str(path) in message
    assert not LIBRARY.search(message), message
    return message


def cut(packed: bytes) -> bytes:
    return packed[:-12]


def wrong_sum(packed: bytes) -> bytes:
    return packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]


def scramble(packed: bytes) -> bytes:
    return packed[:10] + b"\xff" * 20 + packed[30:]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("damage", [cut, wrong_sum, scramble])
def test_a_damaged_gzip_file_is_refused(
    name: str, damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "file.x.gz"
    path.write_bytes(damage(gzip.compress(content(name))))
    assert "the gzip file is damaged or truncated\nDownload or compress it" in refusal(path, name)


def test_a_plain_file_called_gzip_is_refused_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(b"The old man.\n")
    assert "not a gzip file despite its extension .gz: rename or compress it" in str(
        _open_error(path, zlib.error("incorrect header check"))
    )


@pytest.mark.parametrize(("ending", "remedy"), [("csv", "In Excel"), ("txt", "iconv -f UTF-16")])
def test_the_remedy_for_utf16_is_that_of_the_program(
    ending: str, remedy: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_text("a,b\n1,2\n", encoding="utf-16")
    assert "the file is UTF-16\nConvert the file to UTF-8 first" in str(not_utf8(path))
    assert remedy in str(not_utf8(path))


@pytest.mark.parametrize("name", sorted(PARQUET))
@pytest.mark.parametrize("place", [4, 40, 100, -200, -60, -9, -2])
def test_damaged_parquet_is_refused(name: str, place: int, tmp_path: Path) -> None:
    path, whole = tmp_path / "file.parquet", bytearray(content(name))
    whole[place : place + 2 if place + 2 else None] = b"\xff\xff"
    path.write_bytes(whole)
    assert "not a complete Parquet file: damaged, truncated, or in another" in refusal(path, name)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(PARQUET))
def test_damage_in_a_parquet_footer_prints_nothing(
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
def test_truncated_or_packed_parquet_is_refused(name: str, tmp_path: Path) -> None:
    whole = content(name)
    (tmp_path / "half.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.parquet").write_text("l1\tl2\n")
    (tmp_path / "cut.parquet.gz").write_bytes(gzip.compress(whole)[:-9])
    for file in ("half.parquet", "text.parquet"):
        assert "not a complete Parquet file" in refusal(tmp_path / file, name)
    assert "gzip file is damaged" in refusal(tmp_path / "cut.parquet.gz", name)


@pytest.mark.parametrize("name", [*TEXTS, *PARQUET, "annotation_sheet", "keying_sheet"])
def test_absent_files_and_folders_are_refused(name: str, tmp_path: Path) -> None:
    ending = PARQUET.get(name, ".csv")
    absent, folder = tmp_path / f"gone{ending}", tmp_path / f"folder{ending}"
    folder.mkdir()
    for path in (absent, folder):
        refusal(path, name)


@pytest.mark.parametrize(
    ("exception", "message"),
    [
        (PermissionError(13, "Permission denied"), "cannot be read: permission denied"),
        (OSError(5, "Input/output error"), "cannot be read: input or output error of the disk"),
        (MemoryError(), "cannot be read: out of memory"),
        (zlib.error("Error -3"), "the gzip file is damaged or truncated"),
        (EOFError("Compressed file ended"), "the gzip file is damaged or truncated"),
        (pl.exceptions.ComputeError("parquet: x"), "not a complete Parquet file"),
        (
            pl.exceptions.ComputeError("parquet: File out of specification: x (os error 5)"),
            "cannot be read: input or output error of the disk",
        ),
        (pl.exceptions.NoDataError("empty CSV"), "cannot be read: empty CSV"),
    ],
)
def test_exceptions_of_readers_become_data_errors(
    exception: Exception, message: str, tmp_path: Path
) -> None:
    def read(_path: Path, _options: object) -> pl.LazyFrame:
        raise exception

    path = tmp_path / "file.own"
    kind = Format("own", read, suffixes=[".own"], check=read)  # type: ignore[arg-type]  # raises
    for function in (kind.scan, kind.check):
        with pytest.raises(DataError) as error:
            function(path, kind.options())
        assert str(error.value).startswith(f"{path}: {message}")


def test_a_defect_of_a_reader_is_not_caught(tmp_path: Path) -> None:
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
def test_any_damaged_file_is_read_or_refused_by_name(name: str, tmp_path: Path) -> None:
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
            message = "\n".join(line for line in str(error).splitlines() if line[:2] != "  ")
            assert str(path) in message, (number, message)
            assert not LIBRARY.search(message), (number, message)


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_a_long_field_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"file.{name}"
    first = content(name).decode()
    path.write_text(first.replace("\na", "\n" + "a" * 200_000, 1))
    read(path, name)


def test_an_overlong_field_is_refused_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LONGEST", 1000)
    before = csv.field_size_limit(1000)
    try:
        path = tmp_path / "file.csv"
        path.write_text("l1,l2\na,b\nc," + "d" * 2000 + "\n")
        message = refusal(path, "csv")
    finally:
        csv.field_size_limit(before)
    assert "line 3: a field with more than 1,000 characters\nClose its quotation" in message


@pytest.mark.parametrize("separator", ["§", "\n", '"', "", "\t\t", "\0"])
def test_invalid_separators_are_refused(separator: str) -> None:
    with pytest.raises(ValueError, match="is not a valid separator; use one ASCII character"):
        FORMATS.get("csv").options.model_validate({"separator": separator})


def test_a_reserved_column_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.tsv"
    path.write_text("file\tl1\na\tb\n")
    assert "a column has the reserved name file" in refusal(path, "tsv")


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_can_be_sent_to_another_machine(name: str) -> None:
    assert pickle.loads(pickle.dumps(FORMATS.get(name))).name == name
