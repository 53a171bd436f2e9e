"""Faults of filled-in sheets, each with its line, and labels in one spelling."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.annotation.sheets import canonical, faults, normalise
from pipeline.kernels.sampling import candidate_id
from schemas import Faults
from schemas.validate import validate

LABELS = ("SVC", "figurative", "free")
SCHEMA = dict.fromkeys(("file", "annotator", "l1", "l2", "label", "note"), pl.String)


def sheet(*rows: dict[str, str | None], ids: bool = True) -> pl.LazyFrame:
    """Return a sheet; by default line 2 and on of a.csv, by ann, with the right ids."""
    usual: dict[str, Any] = {
        "file": "a.csv",
        "annotator": "ann",
        "l2": "stellen",
        "label": None,
        "note": None,
    }
    full = [usual | {"l1": f"in:{i}"} | row for i, row in enumerate(rows)]
    lines = pl.int_range(2, pl.len() + 2, dtype=pl.Int64).alias("line")
    frame = pl.DataFrame(full, schema=SCHEMA, orient="row").with_columns(lines)
    return frame.with_columns(candidate_id("l1", "l2")).lazy()


def found(rows: pl.LazyFrame, **options: Any) -> list[dict[str, object]]:
    frame = faults(rows, labels=LABELS, **options).sort("file", "line", "column").collect()
    validate([frame], Faults, name="faults")
    return frame.rows(named=True)


def test_good_sheet_has_no_faults() -> None:
    rows = sheet(
        {"label": "SVC"}, {"label": " svc "}, {"label": None}, {"label": " "}, {"label": "FREE"}
    )
    assert found(rows) == []
    assert found(rows.head(0)) == []


def test_empty_id() -> None:
    rows = sheet({}, {}, {}).with_columns(
        id=pl.when(pl.col("line") == 2).then(pl.lit("  ")).when(pl.col("line") == 3).then("id")
    )
    faulty = found(rows)
    assert [(each["line"], each["column"], each["value"]) for each in faulty] == [
        (2, "id", "  "),
        (4, "id", None),
    ]
    assert all("restore the id" in str(each["problem"]) for each in faulty)


@pytest.mark.parametrize("change", [{"l1": "auf:1"}, {"l2": "stehen"}, {"l1": None}, {"l2": "stellen "}])  # fmt: skip
def test_changed_read_only_cell(change: dict[str, str | None]) -> None:
    rows = sheet({}, {}, {})
    new = [pl.when(pl.col("line") == 3).then(pl.lit(v)).otherwise(c).alias(c) for c, v in change.items()]  # fmt: skip
    (fault,) = found(rows.with_columns(new))
    assert (fault["file"], fault["line"], fault["column"]) == ("a.csv", 3, "id")
    problem = str(fault["problem"])
    assert "do not belong together" in problem
    assert "restore the row from the original sheet" in problem
    assert (next(iter(change.values())) or "") in problem


def test_ids_sorted_without_the_rest() -> None:
    """Every row that got another row's id is named."""
    rows = sheet({}, {}, {}, {}).collect()
    rows = rows.with_columns(pl.Series("id", [rows["id"][i] for i in (0, 2, 1, 3)]))
    assert [each["line"] for each in found(rows.lazy())] == [3, 4]


def test_blanks_around_an_id_do_not_matter() -> None:
    rows = sheet({"label": "SVC"}).with_columns(id=pl.col("id") + " ")
    assert found(rows) == []
    expected = "x" + hashlib.sha256(b"in:0\x1fstellen").hexdigest()[:16]
    assert normalise(rows, labels=LABELS).collect()["id"].item() == expected


def test_ids_that_are_no_hashes() -> None:
    rows = sheet({"l1": "Haus"}).with_columns(id=pl.lit("lemma 1"))
    assert len(found(rows)) == 1
    assert found(rows, units=()) == []
    assert len(found(rows, units=("l1",))) == 1
    assert found(rows.with_columns(candidate_id("l1")), units=("l1",)) == []


def test_unknown_labels_with_the_nearest() -> None:
    rows = sheet({"label": "SVG"}, {"label": " figurativ"}, {"label": "42"}, {"label": "SVG"})
    assert [(each["line"], each["value"], each["problem"]) for each in found(rows)] == [
        (2, "SVG", "is no label; did you mean SVC?"),
        (3, " figurativ", "is no label; did you mean figurative?"),
        (4, "42", "is no label; valid: SVC, figurative, free"),
        (5, "SVG", "is no label; did you mean SVC?"),
    ]


def test_two_labels_of_one_annotator() -> None:
    rows = sheet(
        {"l1": "a", "label": "SVC"},
        {"l1": "b", "label": "SVC"},
        {"l1": "a", "label": "free ", "file": "b.csv"},
        {"l1": "b", "label": "svc"},
        {"l1": "a", "label": "free", "annotator": "bob"},
        {"l1": "c", "label": None},
        {"l1": "c", "label": "free"},
    )
    faulty = found(rows)
    assert [(each["file"], each["line"], each["value"]) for each in faulty] == [
        ("a.csv", 2, "SVC"),
        ("b.csv", 4, "free "),
    ]
    said = "ann gives this id several labels: SVC (a.csv, line 2); free (b.csv, line 4); keep one"
    assert {each["problem"] for each in faulty} == {said}


def test_two_labels_of_somebody_without_a_name() -> None:
    rows = sheet(
        {"l1": "a", "label": "SVC", "annotator": None},
        {"l1": "a", "label": "free", "annotator": None},
    )
    wrong = [(each["line"], each["column"]) for each in found(rows)]
    assert sorted(wrong) == [(2, "annotator"), (2, "label"), (3, "annotator"), (3, "label")]


def test_several_faults_of_one_row() -> None:
    rows = sheet({"label": "SVG"}).with_columns(l1=pl.lit("changed"))
    assert [(each["line"], each["column"]) for each in found(rows)] == [(2, "id"), (2, "label")]


def test_normalise() -> None:
    rows = sheet(
        {"label": "svc ", "note": " hm "},
        {"label": "SVG", "note": ""},
        {"label": None},
        {"label": "free"},
    ).with_columns(id=pl.when(pl.col("line") < 5).then("id"))
    kept = normalise(rows, labels=LABELS).sort("line").collect()
    assert kept.columns == ["file", "line", "id", "annotator", "label", "note"]
    assert kept.select("line", "label", "note").rows() == [
        (2, "SVC", "hm"),
        (3, None, None),
        (4, None, None),
    ]


labels = st.lists(
    st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=6),
    min_size=1,
    max_size=5,
)


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().lower()


@given(valid=labels, typed=labels, blanks=st.sampled_from(["", " ", "\t", "\u00a0"]))
def test_canonical_against_a_loop(valid: list[str], typed: list[str], blanks: str) -> None:
    if len({folded(each) for each in valid}) < len(valid):
        with pytest.raises(ValueError, match="case or blanks"):
            canonical("label", labels=valid)
        return
    typed = [*typed, *(blanks + each + blanks for each in valid), *(each.title() for each in valid)]
    meant = [next((v for v in valid if folded(v) == folded(each)), None) for each in typed]
    frame = pl.DataFrame({"label": typed})
    assert frame.select(canonical("label", labels=valid)).to_series().to_list() == meant


def test_no_labels_are_valid() -> None:
    rows = sheet({"label": "SVC"}, {"label": None})
    assert faults(rows, labels=()).collect()["line"].to_list() == [2]


def test_the_id_of_a_tuple_belongs_to_all_its_units() -> None:
    units = ("l1", "l2", "l3")
    rows = sheet({}, {}, {}).with_columns(l3=pl.lit("now")).with_columns(candidate_id(*units))
    assert found(rows, units=units) == []
    changed = pl.when(pl.col("line") == 3).then(pl.lit("then")).otherwise("l3")
    (fault,) = found(rows.with_columns(l3=changed), units=units)
    assert (fault["line"], fault["column"]) == (3, "id")
    said = "id and tuple do not belong together: ('in:1', 'stellen', 'then')"
    assert str(fault["problem"]).startswith(said)
    assert [each["line"] for each in found(rows.with_columns(l3=None), units=units)] == [2, 3, 4]
