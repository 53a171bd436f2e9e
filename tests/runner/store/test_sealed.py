from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.runner.store.artefacts import Manifest, Part, TableRecord, sealed, unsealed

PART = Part(file="a/part-00000.parquet", bytes=120, sha256="ab" * 32, rows=3)
MADE = Manifest(
    stage="pairs",
    use="extract.pairs",
    fingerprint="0f" * 32,
    ingredients={"config": {"rate": 0.1, "name": "é\u2028"}},
    tables={"pairs": TableRecord(model="Candidates", digest="cd" * 32, rows=3, parts=(PART,))},
    created="2024-01-01T00:00:00.000+00:00",
    seconds=0.125,
    skipped_examples=("one", "two"),
)
WHOLE = sealed(MADE)


def test_a_record_comes_back_as_it_was() -> None:
    assert unsealed(WHOLE, Manifest) == MADE


@given(place=st.integers(0, len(WHOLE) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_is_found_or_changes_nothing(place: int, bit: int) -> None:
    content = bytearray(WHOLE)
    content[place] ^= 1 << bit
    try:
        found = unsealed(bytes(content), Manifest)
    except ValueError:
        return
    # White space between the fields, alone, may be another.
    assert found == MADE


@given(length=st.integers(0, len(WHOLE) - 1))
def test_what_is_cut_short_is_found(length: int) -> None:
    try:
        unsealed(WHOLE[:length], Manifest)
    except ValueError:
        return
    raise AssertionError(WHOLE[:length])


def test_other_json_is_no_record() -> None:
    for content in (b"[]", b"3", b"{}", b"null", b"\xff", MADE.model_dump_json().encode()):
        try:
            unsealed(content, Manifest)
        except ValueError:
            continue
        raise AssertionError(content)
