"""Shares of annotators: fixed by id and seed, balanced, with the requested overlap."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.annotation.sheets import (
    INSTEAD,
    assign,
    canonical,
    faults,
    fold,
    is_near,
    normalise,
    reassign,
    unassigned_faults,
    unify_names,
)
from pipeline.kernels.sampling import candidate_id, seeded_key
from schemas import Faults
from schemas.validate import validate

PEOPLE = ("ana", "bo", "cy")


def ids(count: int, *, first: int = 0) -> pl.LazyFrame:
    return pl.LazyFrame({"id": [f"x{i}" for i in range(first, first + count)]}, schema={"id": pl.String})  # fmt: skip


def key(text: str, *, seed: str, purpose: str) -> int:
    frame = pl.DataFrame({"text": [text]})
    return int(frame.select(seeded_key("text", seed=seed, purpose=purpose)).item())


def by_hand(count: int, people: tuple[str, ...], overlap: float, seed: str, times: int) -> set[tuple[object, ...]]:  # fmt: skip
    ids_by_person: dict[str, list[tuple[int, str]]] = {each: [] for each in people}
    for item in (f"x{i}" for i in range(count)):
        share = key(item, seed=seed, purpose="overlap") / 2**63
        weights = sorted((key(f"{item}\x1f{p}", seed=seed, purpose="annotator"), p) for p in people)
        for _, person in weights[: times if share < overlap else 1]:
            order = key(f"{item}\x1f{person}", seed=seed, purpose="annotation order")
            ids_by_person[person].append((order, item))
    orders = {person: enumerate(sorted(items), start=1) for person, items in ids_by_person.items()}
    return {(item, person, i) for person, items in orders.items() for i, (_, item) in items}


@given(
    count=st.integers(0, 12),
    people=st.permutations(["a", "b", "c", "d"]).flatmap(
        lambda names: st.integers(1, 4).map(lambda n: tuple(names[:n]))
    ),
    overlap=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    seed=st.text(max_size=3),
    data=st.data(),
)
def test_assignments_agree_with_a_loop(
    count: int, people: tuple[str, ...], overlap: float, seed: str, data: st.DataObject
) -> None:
    times = data.draw(st.none() | st.integers(1, len(people)))
    assignments = assign(
        ids(count), annotators=people, overlap=overlap, seed=seed, times=times
    ).collect()
    expected = by_hand(count, people, overlap, seed, times or len(people))
    assert set(assignments.rows()) == expected
    assert assignments.height == len(expected)
    assert assignments.equals(assignments.sort("annotator", "order"))
    assert assignments.schema == {"id": pl.String, "annotator": pl.String, "order": pl.Int64}


def test_row_order_repeats_and_order_of_names_do_not_matter() -> None:
    def assign_twice(frame: pl.LazyFrame, people: tuple[str, ...]) -> pl.DataFrame:
        return assign(frame, annotators=people, overlap=0.4, seed="s", times=2).collect()

    first = assign_twice(ids(50), PEOPLE)
    assert assign_twice(ids(50).reverse(), PEOPLE[::-1]).equals(first)
    assert assign_twice(pl.concat([ids(50), ids(20)]), PEOPLE).equals(first)


def test_an_id_keeps_its_annotators_when_the_sample_grows() -> None:
    few = assign(ids(100), annotators=PEOPLE, overlap=0.3, seed="s").collect()
    many = assign(ids(300), annotators=PEOPLE, overlap=0.3, seed="s").collect()
    again = many.join(few.select("id").unique(), on="id", how="semi")
    assert set(again.select("id", "annotator").rows()) == set(few.select("id", "annotator").rows())
    for person in PEOPLE:  # and existing ids keep their order
        of_person = pl.col("annotator") == person
        assert again.filter(of_person)["id"].to_list() == few.filter(of_person)["id"].to_list()


def test_a_new_annotator_moves_no_id_between_the_others() -> None:
    before = assign(ids(500), annotators=PEOPLE, overlap=0, seed="s").collect()
    after = assign(ids(500), annotators=(*PEOPLE, "di"), overlap=0, seed="s").collect()
    both = before.join(after, on="id", suffix="_new")
    moved = both.filter(pl.col("annotator") != pl.col("annotator_new"))
    assert set(moved["annotator_new"]) == {"di"}
    assert 85 < moved.height < 165  # a quarter; 4 standard deviations


def test_shares_are_balanced() -> None:
    assignments = assign(ids(9000), annotators=PEOPLE, overlap=0.2, seed="s").collect()
    copies = assignments.group_by("id").len()["len"]
    assert set(copies) == {1, 3}
    assert abs((copies == 3).sum() - 1800) < 4 * (9000 * 0.2 * 0.8) ** 0.5
    single = assignments.filter(pl.len().over("id") == 1).group_by("annotator").len()["len"]
    expected = single.sum() / 3
    assert ((single - expected) ** 2 / expected).sum() < 13.8  # chi-squared, 2 df, p = .001


def test_annotators_see_the_same_ids_in_different_orders() -> None:
    assignments = assign(ids(40), annotators=PEOPLE, overlap=1, seed="s").collect()
    orders = [tuple(part["id"]) for part in assignments.partition_by("annotator")]
    assert len(set(orders)) == 3
    assert all(sorted(order) == sorted(orders[0]) for order in orders)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"annotators": ()}, "distinct names"),
        ({"annotators": ("a", "a")}, "distinct names"),
        ({"overlap": 1.5}, "overlap"),
        ({"overlap": float("nan")}, "overlap"),
        ({"times": 4}, "times"),
        ({"times": 0}, "times"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    usual: dict[str, Any] = {"annotators": PEOPLE, "overlap": 0.1, "seed": "s"}
    with pytest.raises(ValueError, match=message):
        assign(ids(3), **(usual | options))


# Spellings of one name, and the spelling that is used.

SPELLINGS = ["José Ñ", "josé ñ", " JOSÉ  Ñ ", "José\u00a0Ñ", unicodedata.normalize("NFD", "José Ñ")]


def spell(names: list[str | None], *known: str) -> list[str | None]:
    rows = pl.LazyFrame({"annotator": pl.Series(names, dtype=pl.String)})
    return unify_names(rows, known).collect()["annotator"].to_list()


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_any_spelling_of_a_known_name_is_that_name(spelling: str) -> None:
    assert spell([spelling], "josé Ñ") == ["josé Ñ"]


def test_the_most_frequent_spelling_of_an_unknown_name_is_used() -> None:
    assert spell(["A1", " a1", "a1", "b", None, " "]) == ["a1", "a1", "a1", "b", None, None]
    assert spell(["b", "B"]) == ["B", "B"]
    assert spell([]) == []


def test_names_that_differ_in_more_than_case_stay_distinct() -> None:
    assert spell(["a1", "a 1", "a11"], "a1") == ["a1", "a 1", "a11"]


@given(st.text(max_size=8))
def test_folding_twice_changes_nothing(name: str) -> None:
    assert fold(fold(name)) == fold(name)
    assert fold(f" {name.upper()}  ") == fold(name.upper())


def test_unknown_annotators_are_reported_with_similar_names() -> None:
    rows = pl.LazyFrame({
        "file": ["a.csv"] * 3, "line": [2, 3, 4], "annotator": ["anne", "anna", "anne"],
        "label": ["SVC", "SVC", " "],
    })  # fmt: skip
    unassigned = unassigned_faults(
        rows, known=["anna", "annie", "ann", "hanna"], answer="label"
    ).collect()
    assert unassigned.select("file", "line", "column", "value").rows() == [
        ("a.csv", 2, "annotator", "anne")
    ]
    problem = unassigned["problem"].item()
    assert problem.startswith("is not an annotator: did you mean annie, ann, anna?")
    assert 'former = ["anne"]' in problem


# Faults of filled-in sheets, each with its line, and labels in one spelling.

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


def faults_of(rows: pl.LazyFrame, **options: Any) -> list[dict[str, object]]:
    frame = faults(rows, labels=LABELS, **options).sort("file", "line", "column").collect()
    validate([frame], Faults, name="faults")
    return frame.rows(named=True)


def test_a_good_sheet_has_no_faults() -> None:
    rows = sheet(
        {"label": "SVC"}, {"label": " svc "}, {"label": None}, {"label": " "}, {"label": "FREE"}
    )
    assert faults_of(rows) == []
    assert faults_of(rows.head(0)) == []


def test_empty_ids_are_faults() -> None:
    rows = sheet({}, {}, {}).with_columns(
        id=pl.when(pl.col("line") == 2).then(pl.lit("  ")).when(pl.col("line") == 3).then("id")
    )
    faulty = faults_of(rows)
    assert [(each["line"], each["column"], each["value"]) for each in faulty] == [
        (2, "id", "  "),
        (4, "id", None),
    ]
    assert all("restore the id" in str(each["problem"]) for each in faulty)


@pytest.mark.parametrize("change", [{"l1": "auf:1"}, {"l2": "stehen"}, {"l1": None}, {"l2": "Stellen"}])  # fmt: skip
def test_changed_read_only_cells_are_faults(change: dict[str, str | None]) -> None:
    rows = sheet({}, {}, {})
    new = [pl.when(pl.col("line") == 3).then(pl.lit(v)).otherwise(c).alias(c) for c, v in change.items()]  # fmt: skip
    (fault,) = faults_of(rows.with_columns(new))
    assert (fault["file"], fault["line"], fault["column"]) == ("a.csv", 3, "id")
    problem = str(fault["problem"])
    assert "do not belong together" in problem
    assert "restore the row from the original sheet" in problem
    assert (next(iter(change.values())) or "") in str(fault["value"])


@pytest.mark.parametrize("unit", ["sgwâr", "stellen"])
def test_blanks_and_separate_accents_are_no_changes(unit: str) -> None:
    rows = sheet({"l1": "auf:1", "l2": unit}, {}).with_columns(id=candidate_id("l1", "l2"))
    saved = pl.format(" {}\u00a0", pl.col("l2").str.normalize("NFD"))
    assert faults_of(rows.with_columns(l2=saved)) == []


def test_ids_sorted_without_the_other_columns_are_faults() -> None:
    """Every row with the id of another row is named."""
    rows = sheet({}, {}, {}, {}).collect()
    rows = rows.with_columns(pl.Series("id", [rows["id"][i] for i in (0, 2, 1, 3)]))
    faulty = faults_of(rows.lazy())
    assert [each["line"] for each in faulty] == [3, 4]
    (problem,) = {str(each["problem"]) for each in faulty}
    assert problem.startswith("id and pair do not belong together in 2 of 4 rows, perhaps as some")


def test_blanks_around_an_id_do_not_matter() -> None:
    rows = sheet({"label": "SVC"}).with_columns(id=pl.col("id") + " ")
    assert faults_of(rows) == []
    expected = "x" + hashlib.sha256(b"in:0\x1fstellen").hexdigest()[:16]
    assert normalise(rows, labels=LABELS).collect()["id"].item() == expected


def test_ids_are_checked_against_the_units_that_are_named() -> None:
    rows = sheet({"l1": "Haus"}).with_columns(id=pl.lit("lemma 1"))
    assert len(faults_of(rows)) == 1
    assert faults_of(rows, units=()) == []
    assert len(faults_of(rows, units=("l1",))) == 1
    assert faults_of(rows.with_columns(candidate_id("l1")), units=("l1",)) == []


def test_unknown_labels_are_faults_with_a_suggestion() -> None:
    rows = sheet({"label": "SVG"}, {"label": " figurativ"}, {"label": "42"}, {"label": "SVG"})
    assert [(each["line"], each["value"], each["problem"]) for each in faults_of(rows)] == [
        (2, "SVG", "is not a label; did you mean SVC?"),
        (3, " figurativ", "is not a label; did you mean figurative?"),
        (4, "42", "is not a label; valid: SVC, figurative, free"),
        (5, "SVG", "is not a label; did you mean SVC?"),
    ]


def test_two_labels_of_one_annotator_are_a_fault() -> None:
    rows = sheet(
        {"l1": "a", "label": "SVC"},
        {"l1": "b", "label": "SVC"},
        {"l1": "a", "label": "free ", "file": "b.csv"},
        {"l1": "b", "label": "svc"},
        {"l1": "a", "label": "free", "annotator": "bob"},
        {"l1": "c", "label": None},
        {"l1": "c", "label": "free"},
    )
    faulty = faults_of(rows)
    value = "a stellen: SVC (a.csv, line 2); free (b.csv, line 4)"
    assert [(each["file"], each["line"], each["value"]) for each in faulty] == [("a.csv", 2, value)]
    assert faulty[0]["problem"] == "ann gave several labels to one candidate; keep one"


def test_two_labels_of_a_nameless_annotator_are_a_fault() -> None:
    rows = sheet(
        {"l1": "a", "label": "SVC", "annotator": None},
        {"l1": "a", "label": "free", "annotator": None},
    )
    wrong = [(each["line"], each["column"]) for each in faults_of(rows)]
    assert sorted(wrong) == [(2, "annotator"), (2, "label"), (3, "annotator")]


def test_one_row_may_have_several_faults() -> None:
    rows = sheet({"label": "SVG"}).with_columns(l1=pl.lit("changed"))
    assert [(each["line"], each["column"]) for each in faults_of(rows)] == [(2, "id"), (2, "label")]


def test_labels_and_notes_are_normalised() -> None:
    rows = sheet(
        {"label": "svc ", "note": " hm "},
        {"label": "SVG", "note": ""},
        {"label": None},
        {"label": "free"},
    ).with_columns(id=pl.when(pl.col("line") < 5).then("id"))
    normalised = normalise(rows, labels=LABELS).sort("line").collect()
    assert normalised.columns == ["file", "line", "id", "annotator", "label", "note"]
    assert normalised.select("line", "label", "note").rows() == [
        (2, "SVC", "hm"),
        (3, None, None),
        (4, None, None),
    ]


labels = st.lists(
    st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=6),
    min_size=1,
    max_size=5,
)


def fold_label(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().lower()


@given(valid=labels, texts=labels, blanks=st.sampled_from(["", " ", "\t", "\u00a0"]))
def test_canonical_labels_agree_with_a_loop(
    valid: list[str], texts: list[str], blanks: str
) -> None:
    if len({fold_label(each) for each in valid}) < len(valid):
        with pytest.raises(ValueError, match="case or blanks"):
            canonical("label", labels=valid)
        return
    texts = [*texts, *(blanks + each + blanks for each in valid), *(each.title() for each in valid)]
    expected_labels = [
        next((v for v in valid if fold_label(v) == fold_label(each)), None) for each in texts
    ]
    frame = pl.DataFrame({"label": texts})
    assert frame.select(canonical("label", labels=valid)).to_series().to_list() == expected_labels


def test_any_label_is_a_fault_without_valid_labels() -> None:
    rows = sheet({"label": "SVC"}, {"label": None})
    assert faults(rows, labels=()).collect()["line"].to_list() == [2]


def test_the_id_of_a_tuple_belongs_to_all_its_units() -> None:
    units = ("l1", "l2", "l3")
    rows = sheet({}, {}, {}).with_columns(l3=pl.lit("now")).with_columns(candidate_id(*units))
    assert faults_of(rows, units=units) == []
    changed = pl.when(pl.col("line") == 3).then(pl.lit("then")).otherwise("l3")
    (fault,) = faults_of(rows.with_columns(l3=changed), units=units)
    assert (fault["line"], fault["column"]) == (3, "id")
    assert str(fault["problem"]).startswith("id and tuple do not belong together in 1 of 3 rows;")
    assert str(fault["value"]).endswith(": in:1 stellen then")
    assert [each["line"] for each in faults_of(rows.with_columns(l3=None), units=units)] == [
        2,
        3,
        4,
    ]


# Reassigned cards

ASKED = {
    "id": ["x", "x", "y", "z"],
    "annotator": ["ana", "ben", "ana", "Ben"],
    "order": [1, 1, 2, 2],
}


@pytest.mark.parametrize(
    ("moved", "expected"),
    [
        ([], ["ana", "ben", "ana", "Ben"]),
        ([("y", "eva", "ana")], ["ana", "ben", "eva", "Ben"]),
        ([("y", "eva", "ana"), ("y", "Ana", "ana")], ["ana", "ben", "ana", "Ben"]),  # given back
        ([("y", "eva", "ana"), ("y", "dan", "ANA")], ["ana", "ben", "dan", "Ben"]),  # the last one
        ([("z", "eva", "ben ")], ["ana", "ben", "ana", "eva"]),
        ([("x", "BEN", "ana")], ["ana", "ben", "ana", "Ben"]),  # has it already
        ([("x", "eva", "ana"), ("x", "eva", "ben")], ["eva", "ben", "ana", "Ben"]),  # only once
        ([("x", "eva", "dan"), ("w", "eva", "ana")], ["ana", "ben", "ana", "Ben"]),  # fits no more
        ([("x", "ben", "dan"), ("x", "eva", "ben")], ["ana", "eva", "ana", "Ben"]),
    ],
)
def test_reassigned_cards_have_their_new_annotators(
    moved: list[tuple[str, str, str]], expected: list[str]
) -> None:
    names = dict.fromkeys(("id", "annotator", INSTEAD), pl.String)
    reassigned = reassign(
        pl.LazyFrame(ASKED), pl.LazyFrame(moved, schema=names, orient="row")
    ).collect()
    assert reassigned["annotator"].to_list() == expected
    assert reassigned.drop("annotator").equals(pl.DataFrame(ASKED).drop("annotator"))


@pytest.mark.parametrize(
    ("label", "other", "near"),
    [
        ("colocation", "collocation", True),
        ("collocaiton", "collocation", True),
        ("light-verb", "light werb", False),  # a word of four letters
        ("true_colocation", "true collocation", True),
        ("idom", "idiom", False),
        ("idiomm", "idiom", True),
        ("metapher", "metaphor", True),
        ("major", "minor", False),
        ("internal", "external", False),
        ("unlikely", "likely", False),
        ("class1", "class2", False),
        ("typ A", "typ B", False),
        ("good", "goods", False),
        ("Idiom", "idiom", False),
    ],
)
def test_a_near_label_may_be_a_slip(label: str, other: str, near: bool) -> None:
    assert is_near(label, other) == is_near(other, label) == near
