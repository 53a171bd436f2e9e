"""Filled-in sheets as XLSX and CSV: every label must appear in the results."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import openpyxl

import pipeline as lx
from tests.mutation import oracles
from tests.mutation.mutations import MutationByteMutations, table_mutation, workbook
from tests.mutation.subject import Subject
from tests.mutation.table_subjects import text

_ANNOTATION = """
name = "x"
[stages.candidates]
use = "extract.table"
path = "pairs.tsv"
[stages.sample]
use = "sample.random"
candidates = "candidates"
size = 8
[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
folder = "pairs"
kind = "KIND"
labels = ["SVC", "figurative", "free"]
annotators = ["anna", "ben"]
overlap = 0.5
[stages.judgements]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "pairs"
categories = { TP = ["SVC", "figurative"] }
partial = true
"""
_KEYING = """
name = "x"
[stages.lexicon]
use = "extract.lexicon"
path = "lexicon.tsv"
[stages.sample]
use = "sample.lemmas"
lexicons = ["lexicon"]
size = 4
[stages.sheet]
use = "sheet.keying"
lexicon = "lexicon"
sample = "sample"
folder = "keyed"
kind = "KIND"
[stages.keyed]
use = "join.keying"
sheet = "sheet"
folder = "keyed"
partial = true
"""
_FORMS = "forms in the dictionary"
_LEXICON = "lemma\tform\n" + "".join(
    f"l{n}\tl{n}{end}\n" for n in range(6) for end in ("", "s", "ed")
)


def _fill(column: str, values: list[str]) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        for path in sorted((folder / "sheets").rglob("0*")):
            _fill_xlsx(path, column, values) if path.suffix == ".xlsx" else _fill_csv(
                path, column, values
            )

    return prepare


def _fill_xlsx(path: Path, column: str, values: list[str]) -> None:
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    header = next(row for row in page.iter_rows() if any(cell.value == "id" for cell in row))
    at = [cell.value for cell in header].index(column) + 1
    for number in range(header[0].row + 1, page.max_row + 1):
        page.cell(number, at).value = values[number % len(values)]
    book.save(path)


def _fill_csv(path: Path, column: str, values: list[str]) -> None:
    rows = list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    header = next(number for number, row in enumerate(rows) if "id" in row)
    at = rows[header].index(column)
    for number, row in enumerate(rows[header + 1 :]):
        row[at] = values[number % len(values)]
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    path.write_text(buffer.getvalue(), "utf-8", newline="")


def _labels(folder: Path) -> object:
    """Return every label in the sheets with its id, read from the files alone."""
    entries: set[tuple[str, str]] = set()
    for path in sorted((folder / "sheets").rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            cells = oracles.sheet_entries(path, "label")
            if cells is None:
                return None
            entries |= {(row, label) for row, labels in cells.items() for label in labels}
    return frozenset(entries)


def _joined_labels(folder: Path) -> object:
    finished = lx.show(folder / "x.toml", runs=folder / "runs")
    tables = [finished.table("judgements.annotations"), finished.table("judgements.others")]
    rows = [row for table in tables for row in table.select("id", "label").iter_rows()]
    return frozenset((row, " ".join(label.split()).casefold()) for row, label in rows if label)


def _forms(folder: Path) -> object:
    forms: set[str] = set()
    for path in sorted((folder / "sheets").rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            entries = oracles.sheet_entries(path, _FORMS)
            if entries is None:
                return None
            forms |= {form for cells in entries.values() for cell in cells for form in _parts(cell)}
    return frozenset(forms)


def _parts(cell: str) -> list[str]:
    texts = [unicodedata.normalize("NFC", part).strip() for part in re.split("[,;\n]", cell)]
    return [text for text in texts if text not in {"", "-"}]


def _keyed_forms(folder: Path) -> object:
    finished = lx.show(folder / "x.toml", runs=folder / "runs")
    others = [
        part
        for cell in finished.table("keyed.others")["forms"]
        for part in _parts((cell or "").casefold())
    ]
    return frozenset([*(form.casefold() for form in finished.table("keyed")["form"]), *others])


def _subject(
    name: str, kind: str, experiment: str, files: dict[str, bytes], mutation: MutationByteMutations
) -> Subject:
    keying = name == "keying"
    return Subject(
        name=f"{name}.{kind}",
        kind="sheets",
        files={"x.toml": experiment.replace("KIND", kind).encode(), **files},
        targets={f"sheets/**/0*.{kind}": mutation},
        before=(("run", "x.toml", "--no-report"),),
        prepare=_fill(_FORMS, ["a, b", "c", "d, e"])
        if keying
        else _fill("label", ["SVC", "free", "figurative"]),
        expected=_forms if keying else _labels,
        observed=_keyed_forms if keying else _joined_labels,
        weight=4 if kind == "xlsx" else 3,
    )


_PAIRS = {"pairs.tsv": text()}
_ENTRIES = {"lexicon.tsv": _LEXICON.encode()}
SUBJECTS = (
    _subject("annotation", "xlsx", _ANNOTATION, _PAIRS, workbook),
    _subject("annotation", "csv", _ANNOTATION, _PAIRS, table_mutation(",")),
    _subject("keying", "xlsx", _KEYING, _ENTRIES, workbook),
    _subject("keying", "csv", _KEYING, _ENTRIES, table_mutation(",")),
)
"""Filled-in sheets of annotation and of keying."""
