"""The kinds of spreadsheets, and the columns of their sheets."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.base import FormatOptions, format_of
from pipeline.formats.spreadsheets import write_csv, write_xlsx
from pipeline.formats.spreadsheets.kinds import SHEETS
from pipeline.formats.spreadsheets.layout import (
    escape,
    escape_controls,
    guard,
    needs_guard,
    unescape_controls,
    unguard,
)
from tests.formats.spreadsheets.sheet_frames import NASTY, cells


@given(text=cells)
def test_unguard_undoes_guard_and_escape(text: str) -> None:
    assert unguard(guard(text)) == text
    assert unguard(escape(text)) == text


@given(text=cells)
def test_a_guard_that_a_spreadsheet_removed_does_no_harm(text: str) -> None:
    """Typing an apostrophe in front means text: the cell then holds what follows."""
    guarded = guard(text)
    if guarded.startswith("'") and not text.startswith("'") and not text[-1:].isspace():
        assert unguard(guarded[1:]) == text


_WORDS = """
    007 1e5 1-2 1/2 12:30 TRUE wahr FAUX ИСТИНА YANLIŞ =A1 +1 -keit @x ＝1 5% $5 (5) 1.000,5 MARCH1
    Sept-2 10pm 2020-01-01T10:00:00Z #N/A #DIV/0! #NAME? ٣ १२ − 000000000000000000001
"""
DAMAGED = [*_WORDS.split(), "5 Jan 2024", "3 März 2020", "Fri 5 Jan 2024", "5 जनवरी"]
DAMAGED += [" x", "\tx", "\nx", "\ufeffx"]
SAFE = ["Frage", "in:Frage", "nan", "null", "", "'tis", "a b", "#tag", "שלום", "½", "E", "INF"]
SAFE += [
    "in 10 of 12 cases it holds",
    "http://example.org",
    "a=b",
    "[[Kraft]] [[treten]]",
    "x1234567890123456",
]


@pytest.mark.parametrize("text", DAMAGED)
def test_texts_that_a_spreadsheet_would_convert_are_guarded(text: str) -> None:
    assert needs_guard(text)
    assert guard(text) == "'" + text


@pytest.mark.parametrize("text", SAFE)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert guard(text) == escape(text) == text


def test_a_final_blank_is_guarded_by_a_sign_after_it() -> None:
    assert guard("end ") == "end '"
    assert guard("end '") == "end ''"
    assert guard(" ") == "' '"


def test_escape_changes_only_texts_that_look_guarded() -> None:
    changed = [text for text in NASTY if escape(text) != text]
    assert changed == ["'90", "it's '", "' "]


# Control characters made visible, and every text restored.

texts = st.text(st.sampled_from("\\\\x0157FDA_\r\t\n\x07\x1b_ae"), max_size=14) | st.text(
    max_size=9
)


@given(texts)
def test_escaped_control_characters_are_harmless_and_restored(text: str) -> None:
    escaped = escape_controls(text)
    assert unescape_controls(escaped) == text
    assert not {sign for sign in escaped if sign < " "} - {"\n"}
    assert "_x000D_" not in escaped
    if not {"\\", "_"} & set(text) and text.isprintable():
        assert escaped == text


@pytest.mark.parametrize("text", ["C:\\new", "a_x", "_x00_", "x07", "it's", r"\x41"])
def test_harmless_texts_are_not_escaped(text: str) -> None:
    assert escape_controls(text) == unescape_controls(text) == text


SHEET = format_of("", name="annotation_sheet")
FURTHER = ["l3", "l4", "l5", "l6"]


def rows(size: int) -> pl.DataFrame:
    """Return two rows of tuples of this size, with texts that a spreadsheet would change."""
    units = {f"l{n}": [f"=A{n}", f"00{n}"] for n in range(1, size + 1)}
    fields = {"annotator": "anna", "order": [1, 2], "id": ["x1", "x2"], "example_1": "so"}
    return pl.DataFrame(fields | units).with_columns(label=pl.lit("free"), note=pl.lit("hm"))


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
@pytest.mark.parametrize("size", [2, 3, 6])
def test_all_units_are_read_back(size: int, kind: str, tmp_path: Path) -> None:
    sheet = rows(size)
    layout = SHEETS["annotation_sheet"].layout(["SVC", "free"], sheet.columns)
    units = [f"l{n}" for n in range(1, size + 1)]
    assert layout.names == (*units, "label", "note", "example_1", "annotator", "id")
    csv = write_csv(sheet, layout)
    path = tmp_path / f"s.{kind}"
    path.write_bytes(
        csv if kind == "csv" else write_xlsx(sheet, layout, title="t", instructions="")
    )
    assert SHEET.check(path, FormatOptions()) == ()
    table = SHEET.scan(path, FormatOptions()).collect()
    assert table.columns == [
        "line",
        "annotator",
        "id",
        "l1",
        "l2",
        "label",
        "note",
        *FURTHER,
        "round",
    ]
    assert table.select("id", *units, "label").equals(sheet.select("id", *units, "label"))
    absent = table.select(name for name in FURTHER if name not in units)
    assert absent.null_count().row(0) == (2,) * (6 - size)


def test_sheets_of_pairs_and_tuples_have_the_same_columns(tmp_path: Path) -> None:
    """A folder of both can then be read as one table."""
    for size in (2, 3):
        layout = SHEETS["annotation_sheet"].layout([], rows(size).columns)
        (tmp_path / f"{size}.csv").write_bytes(write_csv(rows(size), layout))
    schemas = [SHEET.scan(tmp_path / f"{n}.csv", FormatOptions()).collect_schema() for n in (2, 3)]
    assert schemas[0] == schemas[1]
