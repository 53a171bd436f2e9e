"""Line ends of every kind: nothing is lost in silence, whatever the reader."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.formats import lines
from pipeline.formats.base import FORMATS, format_of

RECORDS: dict[str, list[str]] = {
    "csv": ["l1,l2", "a,b", "c,d", "e,f"],
    "tsv": ["l1\tl2", "a\tb", "c\td", "e\tf"],
    "jsonl": ['{"l1": "a", "l2": "b"}', '{"l1": "c", "l2": "d"}', '{"l1": "e", "l2": "f"}'],
    "ucs": ["# comment", "l1\tl2", "a\tb", "c\td", "e\tf"],
    "brown": ["0\ta\t3", "01\tb\t4", "10\tc\t5"],
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
    "treebank": ["1\ta\ta\tX\t_\t_\t0\troot\t_\t_", "2\tb\tb\tX\t_\t_\t1\tx\t_\t_", ""],
}
"""What a file of each kind holds, line by line."""
LAYOUTS: dict[str, dict[str, object]] = {"vertical": {"attributes": ["form", "pos"]}}


def read(path: Path, name: str) -> list[tuple[object, ...]]:
    """Return all rows that a format gives, after its check."""
    kind = format_of(path.name, name=name)
    options = kind.options.model_validate(LAYOUTS.get(name, {}))
    if kind.read is None:
        kind.check(path, options)
        return kind.scan(path, options).collect().drop("line").rows()
    columns = kind.scan(path, options).collect_schema().names()
    tokens = [batch.tokens for batch in kind.read(path, options, columns, 1 << 20)]
    frame = pl.concat(tokens, how="diagonal_relaxed")
    return frame.drop("line", strict=False).rows()


def written(folder: Path, name: str, end: str, *, packed: bool = False) -> Path:
    content = "".join(line + end for line in RECORDS[name]).encode()
    path = folder / f"file.x{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


def test_every_text_format_is_here() -> None:
    binary = {
        *("parquet", "token_parquet", "annotation_sheet", "keying_sheet", "workbook"),
        *("annotation_decisions", "keying_decisions"),
    }
    own = {name for name in FORMATS if FORMATS.place(name).startswith("pipeline.")}
    assert own - binary == set(RECORDS)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", RECORDS)
def test_unix_and_windows_ends_are_the_same(tmp_path: Path, name: str, packed: bool) -> None:
    unix = read(written(tmp_path, name, "\n", packed=packed), name)
    windows = read(written(tmp_path, name, "\r\n", packed=packed), name)
    assert unix
    assert unix == windows


@pytest.mark.parametrize("name", RECORDS)
def test_a_file_of_carriage_returns_alone_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="carriage return"):
        read(written(tmp_path, name, "\r"), name)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", RECORDS)
def test_one_carriage_return_in_the_middle_is_refused_with_its_line(
    tmp_path: Path, name: str, packed: bool
) -> None:
    """After each record in turn, but where a line feed or nothing follows."""
    places = [place for place, after in enumerate(RECORDS[name][1:]) if after]
    for place in places:
        ends = ["\r" if number == place else "\n" for number in range(len(RECORDS[name]))]
        text = "".join(line + end for line, end in zip(RECORDS[name], ends, strict=True))
        path = tmp_path / f"file{place}.x{'.gz' if packed else ''}"
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        with pytest.raises(DataError, match="carriage return") as caught:
            read(path, name)
        assert path.name in str(caught.value)
        assert f"line {place + 1}" in str(caught.value).replace("line(s)", "line")


@pytest.mark.parametrize("name", RECORDS)
def test_a_carriage_return_at_the_very_end_loses_nothing(tmp_path: Path, name: str) -> None:
    whole = read(written(tmp_path, name, "\n"), name)
    path = tmp_path / "cut.x"
    path.write_bytes(("\n".join(RECORDS[name]) + "\r").encode())
    assert read(path, name) == whole


def test_within_quotation_marks_it_is_data(tmp_path: Path) -> None:
    path = tmp_path / "quoted.csv"
    path.write_bytes(b'l1,l2\n"a\rb",c\nd,"e\r"\n')
    assert read(path, "csv") == [("a\rb", "c"), ("d", "e\r")]


@pytest.mark.parametrize("text", ['l1,l2\na,b"c\nd,e"\nf,g\n', 'l1,l2\n"a,b\nc,d\n'])
def test_quotation_marks_that_are_not_in_pairs(tmp_path: Path, text: str) -> None:
    path = tmp_path / "quoted.csv"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read(path, "csv")
    assert "polars" not in str(caught.value).lower()
    assert "Mend these lines" in str(caught.value) or "quotation marks" in str(caught.value)


@given(parts=st.lists(st.sampled_from(["\r", "\n", "a", "\r\n", "\ufeff", "é"]), max_size=30))
def test_lines_are_counted_as_one_does_by_hand(
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
    assert f"in line(s) {numbers}:" in str(caught.value)
