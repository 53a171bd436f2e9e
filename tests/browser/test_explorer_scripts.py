"""The scripts of the table of all rows do what their twins in Python do."""

from __future__ import annotations

import base64
import math

import polars as pl
import pytest

from pipeline.formats.tables import to_csv
from pipeline.report.explorer import Kind, coded
from pipeline.report.view import cell, share
from tests.browser.pages import Open
from tests.report.explorer.twin import Reader

TEXTS = [
    "=1+1", "'=1", "'tis", "-5", "-5 kg", "+", "@x", "＝x", " =x", "\t", "a,b", 'say "x"', "a\nb", "",
    "</script>", "\u200b=x", "1e5", "−", "− x", "\ufeff=x", "כתב", "a\rb",
]  # fmt: skip
COLUMNS: dict[str, tuple[Kind, pl.Series]] = {
    "texts": ("text", pl.Series([*TEXTS, None])),
    "many texts": ("text", pl.Series([*(f"w{i} ß" for i in range(300)), None])),
    "counts": ("count", pl.Series([0, 1, None, 255, 256, 70_000, 2**32, 2**48 - 2])),
    "numbers": (
        "number",
        pl.Series([0.5, -1234.567, None, math.inf, -math.inf, 1e-250, 3e250, 9999.6, -0.0001]),
    ),
    "shares": ("share", pl.Series([0.0, 1.0, None, 0.12345, 0.5])),
    "flags": ("flag", pl.Series([True, None, False])),
}
READ = """([head, packed, rows]) => {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const column = new Unpack.Reader(bytes).column(head, rows);
  return Array.from({length: rows}, (_, row) => [Values.missing(column, row),
    column.listed ? column.listed[row] : column.texts ? column.texts[column.keys[row] - 1] ?? null
      : Number.isNaN(column.keys[row]) ? null : column.keys[row], Values.text(column, row)]);
}"""


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_read_as_they_were_packed(open_report: Open, name: str) -> None:
    kind, values = COLUMNS[name]
    how, content = coded(values, kind)
    page = open_report("annotated")
    head = {"kind": kind, "code": how}
    found = page.evaluate(READ, [head, base64.b64encode(content).decode(), len(values)])
    assert [value for _, value, _ in found] == Reader(content).column(how, len(values))
    assert [missing for missing, _, _ in found] == values.is_null().to_list()


def test_values_are_shown_as_elsewhere_on_the_page(open_report: Open) -> None:
    page = open_report("annotated")
    numbers = [0.5, -1234.0, 0.0000321, 1520.44, 12.345, 3.0, -0.25, 1e-5, 999.96]
    shown = page.evaluate("(numbers) => numbers.map(Values.number)", numbers)
    assert shown == [cell(number) for number in numbers]
    shares = "(v) => v.map((n) => Values.text({kind: 'share', keys: [n]}, 0))"
    assert page.evaluate(shares, [0.25, 1.0]) == [share(0.25), share(1.0)]


def test_formulas_are_guarded_as_in_the_files(open_report: Open) -> None:
    page = open_report("annotated")
    written = """(texts) => Saving.csv([{heading: "a", kind: "text", listed: texts}],
      texts.map((_, row) => row))"""
    for text in TEXTS:
        said = page.evaluate(written, [text]).encode()
        expected = to_csv(pl.DataFrame({"a": [text]}))
        assert said.replace(b'"', b"") == expected.replace(b'"', b""), repr(text)
