"""Columns as bytes: unpacking returns the packed values, to the digits shown."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.findings.base import StageView
from pipeline.report.explorer import (
    DIGITS,
    Attribute,
    Details,
    Explorer,
    Kind,
    attributes_of,
    encode,
    in_order,
    payload,
    shorten,
    sources,
)
from tests.report.report_frames import Reader, details_on_page, table_on_page

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
HOSTILE = ["</script><img onerror=alert(1)>", "=1+1", "\u2028", "שלום", "a\x00b", "", "[[x]]"]


def unpack(values: list[Any], kind: Kind, dtype: pl.DataType | type[pl.DataType]) -> list[Any]:
    how, content = encode(pl.Series("x", values, dtype=dtype), kind)
    reader = Reader(content)
    result = reader.column(how, len(values))
    assert reader.at == len(content)
    return result


@given(st.lists(st.none() | TEXTS | st.sampled_from(HOSTILE), max_size=40))
def test_texts_are_unpacked_unchanged(values: list[str | None]) -> None:
    assert unpack(values, "text", pl.String) == values


@given(st.lists(st.none() | TEXTS, min_size=300, max_size=400))
def test_distinct_texts_are_unpacked_unchanged(values: list[str | None]) -> None:
    assert unpack(values, "text", pl.String) == values


@given(st.lists(st.none() | st.integers(0, 2**48 - 2), max_size=40))
def test_whole_numbers_are_unpacked_unchanged(values: list[int | None]) -> None:
    assert unpack(values, "count", pl.Int64) == values
    assert unpack(values, "rank", pl.Int64) == values


@given(st.lists(st.none() | st.booleans(), max_size=20))
def test_flags_are_unpacked_unchanged(values: list[bool | None]) -> None:
    assert unpack(values, "flag", pl.Boolean) == [None if v is None else int(v) for v in values]


NUMBERS = st.floats(-1e308, 1e308) | st.sampled_from([math.inf, -math.inf, math.nan])


@given(st.lists(st.none() | NUMBERS, max_size=40))
def test_numbers_are_unpacked_to_the_digits_shown(values: list[float | None]) -> None:
    for before, after in zip(values, unpack(values, "number", pl.Float64), strict=True):
        if before is None or math.isnan(before):
            assert after is None
        elif math.isinf(before):
            assert after == before
        elif abs(before) < 1e-300:
            assert after == 0
        else:
            assert after == pytest.approx(before, rel=0.5 * 10 ** (1 - DIGITS) * 1.001)


@given(st.lists(st.none() | st.floats(0, 1), max_size=40))
def test_shares_are_unpacked_to_two_decimals_of_a_per_cent(values: list[float | None]) -> None:
    for before, after in zip(values, unpack(values, "share", pl.Float64), strict=True):
        assert (after is None) == (before is None)
        assert before is None or abs(after - before) <= 0.5001e-4


@pytest.mark.parametrize("value", [9999.6, 0.001, 1000.0, 12345.0, -0.00099996, 1e22, 5e-299])
def test_numbers_near_powers_of_ten_are_unpacked(value: float) -> None:
    assert unpack([value, 0.5], "number", pl.Float64)[0] == pytest.approx(value, rel=0.51e-3)


def test_whole_scores_keep_all_their_digits() -> None:
    assert unpack([123456.0, None, 0.0], "number", pl.Float64) == [123456, None, 0]


def test_columns_of_nulls_are_unpacked_unchanged() -> None:
    for kind, dtype in (
        ("number", pl.Float64),
        ("count", pl.Int64),
        ("text", pl.String),
        ("share", pl.Float64),
    ):
        assert unpack([None, None], kind, dtype) == [None, None]  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1, 2**48 - 1])
def test_counts_that_do_not_fit_are_refused(value: int) -> None:
    with pytest.raises(ValueError, match=r"column 'x'.*use the kind number"):
        encode(pl.Series("x", [value]), "count")


def test_a_share_above_one_is_kept() -> None:
    assert unpack([1.5, -0.25], "share", pl.Float64) == [1.5, -0.25]


@given(st.lists(TEXTS, max_size=20, unique=True))
def test_codes_follow_the_order_of_the_texts(values: list[str]) -> None:
    how, content = encode(pl.Series(values, dtype=pl.String), "label")
    codes = Reader(content[how["bytes"] :]).planes(how["width"], len(values))
    assert [text for _, text in sorted(zip(codes, values, strict=True))] == in_order(values)


# Long texts are cut so that the marked words are kept.


def one(text: str, most: int) -> str:
    return shorten(pl.Series([text, None]), most=most).to_list()[0]


def test_short_texts_and_nulls_are_unchanged() -> None:
    assert shorten(pl.Series(["short", None]), most=5).to_list() == ["short", None]


def test_shortened_texts_keep_the_marked_words() -> None:
    text = f"{'a ' * 300}[[kommen]] in [[Frage]]{' b' * 300}"
    short = one(text, 100)
    assert "[[kommen]] in [[Frage]]" in short
    assert short.startswith("…")
    assert short.endswith("…")
    assert len(short) <= 102


def test_no_mark_is_split() -> None:
    text = f"[[one]]{'x' * 60}[[{'two' * 5}]] and more"
    for most in range(10, 90):
        assert one(text, most).count("[[") == one(text, most).count("]]"), most


@given(st.text(max_size=200), st.integers(10, 100))
def test_cut_texts_are_parts_of_their_texts(text: str, most: int) -> None:
    short = one(text, most)
    assert short.strip("…") in text or short == text
    assert len(short) <= 2 * most + 2


# Content of the page: all rows or the most important ones, details of the first rows.

COLUMNS = (
    Attribute("word", "word", "text"),
    Attribute("f", "f", "count"),
    Attribute("score mi", "mi", "number", of="mi", part="score"),
    Attribute("judged", "judged", "flag"),
)


def explorer(rows: int = 50, **changed: object) -> Explorer:
    frame = pl.DataFrame(
        {
            "word": [f"w{i:05}" for i in range(rows)],
            "f": list(range(rows)),
            "score mi": [i / 7 for i in range(rows)],
            "judged": [i % 10 == 9 for i in range(rows)],
        },
        schema={"word": pl.String, "f": pl.Int64, "score mi": pl.Float64, "judged": pl.Boolean},
    )
    return replace(Explorer("all", "", ("word", "words"), frame, COLUMNS, key="word"), **changed)  # type: ignore[arg-type]


def examples(rows: int, *, each: int = 2, length: int = 20) -> Details:
    texts = [{"word": f"w{i:05}", "text": f"{i}.{n} {hash((i, n)):x}" * (length // 10)}
             for i in range(rows) for n in range(each)]  # fmt: skip
    frame = pl.DataFrame(texts, schema={"word": pl.String, "text": pl.String})
    return Details(
        "examples", "Examples", frame, (Attribute("text", "text", "text"),), "concordance", "judged"
    )


def test_all_rows_are_unpacked() -> None:
    whole = explorer()
    packed = payload(whole)
    assert packed.height == 50
    columns = table_on_page(packed)
    assert columns["word"] == whole.frame["word"].to_list()
    assert columns["f"] == whole.frame["f"].to_list()
    assert columns["judged"] == [int(v) for v in whole.frame["judged"]]
    assert columns["score mi"] == pytest.approx(whole.frame["score mi"].to_list(), rel=1e-3)


def test_the_last_rows_are_omitted() -> None:
    packed = payload(explorer(most_rows=7))
    assert packed.height == packed.head["rows"] == 7
    assert packed.head["whole"] == 50
    assert table_on_page(packed)["word"][-1] == "w00006"


def test_the_page_has_as_many_rows_as_fit() -> None:
    large = payload(explorer(5000))
    small = payload(explorer(5000, page_bytes=4000))
    assert large.height == 5000
    assert 10 < small.height < 2000
    assert table_on_page(small)["word"] == [f"w{i:05}" for i in range(small.height)]


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_no_and_one_row_are_packed(rows: int) -> None:
    packed = payload(explorer(rows, details=(examples(rows),)))
    assert packed.height == rows
    assert table_on_page(packed)["f"] == list(range(rows))
    assert len(details_on_page(packed)["examples"]) == rows


def test_details_belong_to_their_rows() -> None:
    some = examples(30, each=3)
    shuffled = replace(some, frame=some.frame.sample(fraction=1.0, shuffle=True, seed=1))
    result = details_on_page(payload(explorer(50, details=(shuffled,))))["examples"]
    assert [len(rows) for rows in result] == [3] * 30 + [0] * 20
    for place, rows in enumerate(result):
        assert all(text.startswith(f"{place}.") for (text,) in rows)


def test_details_of_omitted_rows_are_omitted() -> None:
    packed = payload(explorer(50, most_rows=4, details=(examples(50),)))
    assert len(details_on_page(packed)["examples"]) == 4
    assert packed.head["details"][0]["rows"] == 8


def test_details_of_flagged_rows_take_precedence() -> None:
    packed = payload(explorer(1000, details=(examples(1000, length=200),), detail_bytes=6000))
    (head,) = packed.head["details"]
    rows = details_on_page(packed)["examples"]
    places = {place for place, own in enumerate(rows) if own}
    judged = {place for place in range(1000) if place % 10 == 9}
    assert 0 < head["held"] == len(places) < head["has"] == 1000
    assert places <= judged or judged <= places
    assert min(judged) in places


def test_without_space_there_are_no_details() -> None:
    packed = payload(explorer(20, details=(examples(20),), detail_bytes=0))
    assert details_on_page(packed)["examples"] == [[]] * 20
    assert packed.head["details"][0]["has"] == 20


def test_equal_input_gives_equal_bytes() -> None:
    one, two = (payload(explorer(40, details=(examples(40),))) for _ in range(2))
    assert one == two


def test_the_head_is_json() -> None:
    packed = payload(explorer(3, details=(examples(3),)))
    head = json.loads(json.dumps(packed.head, allow_nan=False))
    assert [column["heading"] for column in head["columns"]] == ["word", "f", "mi", "judged"]
    assert head["titles"] == ["word"]


def test_rows_with_equal_keys_are_refused() -> None:
    twice = pl.concat([explorer(2).frame] * 2)
    with pytest.raises(ValueError, match="several rows have the same word"):
        payload(explorer(frame=twice))


# Sources of the table of all rows.


def stages(inputs: dict[str, list[str]]) -> dict[str, StageView]:
    among: dict[str, StageView] = {}
    for name, sources_read in inputs.items():
        options = {f"option.{i}": f"{each}.table" for i, each in enumerate(sources_read)}
        among[name] = StageView(
            name, "x", {}, lambda _: pl.LazyFrame(), inputs=options, stages=among
        )
    return among


def test_sources_are_all_inputs_of_a_stage_nearest_first() -> None:
    among = stages({"corpus": [], "pairs": ["corpus"], "scores": ["pairs"], "ranks": ["scores"],
                    "sample": ["pairs"], "joined": ["sample", "gone"]})  # fmt: skip
    assert [s.name for s in sources(among["ranks"])] == ["ranks", "scores", "pairs", "corpus"]
    assert [s.name for s in sources(among["joined"])] == ["joined", "sample", "pairs", "corpus"]


def test_nested_columns_are_omitted_and_constant_ones_hidden() -> None:
    frame = pl.DataFrame({"l1": ["a", "b"], "N": [9, 9], "parts": [[1], [2]], "f": [1, 2]})
    by_name = {
        each.name: each for each in attributes_of(frame, frame.columns, visible=["l1", "N", "f"])
    }
    assert list(by_name) == ["l1", "N", "f"]
    assert [each.visible for each in by_name.values()] == [True, False, True]
