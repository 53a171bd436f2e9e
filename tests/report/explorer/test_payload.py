"""What the page holds: all rows or those that matter most, details of those that come first."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest

from pipeline.report.explorer import Attribute, Details, Explorer, payload
from tests.report.explorer import twin

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


def test_all_rows_come_back() -> None:
    whole = explorer()
    found = payload(whole)
    assert found.kept == 50
    columns = twin.table(found)
    assert columns["word"] == whole.frame["word"].to_list()
    assert columns["f"] == whole.frame["f"].to_list()
    assert columns["judged"] == [int(v) for v in whole.frame["judged"]]
    assert columns["score mi"] == pytest.approx(whole.frame["score mi"].to_list(), rel=1e-3)


def test_rows_are_left_out_at_the_end() -> None:
    found = payload(explorer(most_rows=7))
    assert found.kept == found.head["rows"] == 7
    assert found.head["whole"] == 50
    assert twin.table(found)["word"][-1] == "w00006"


def test_so_many_rows_as_there_is_room_for() -> None:
    large = payload(explorer(5000))
    small = payload(explorer(5000, page_bytes=4000))
    assert large.kept == 5000
    assert 10 < small.kept < 2000
    assert twin.table(small)["word"] == [f"w{i:05}" for i in range(small.kept)]


@pytest.mark.parametrize("rows", [0, 1])
def test_no_row_and_one_row(rows: int) -> None:
    found = payload(explorer(rows, details=(examples(rows),)))
    assert found.kept == rows
    assert twin.table(found)["f"] == list(range(rows))
    assert len(twin.details(found)["examples"]) == rows


def test_details_belong_to_their_rows() -> None:
    some = examples(30, each=3)
    shuffled = replace(some, frame=some.frame.sample(fraction=1.0, shuffle=True, seed=1))
    found = twin.details(payload(explorer(50, details=(shuffled,))))["examples"]
    assert [len(rows) for rows in found] == [3] * 30 + [0] * 20
    for place, rows in enumerate(found):
        assert all(text.startswith(f"{place}.") for (text,) in rows)


def test_details_of_rows_that_are_left_out_are_left_out() -> None:
    found = payload(explorer(50, most_rows=4, details=(examples(50),)))
    assert len(twin.details(found)["examples"]) == 4
    assert found.head["details"][0]["rows"] == 8


def test_rows_with_a_flag_have_their_details_first() -> None:
    found = payload(explorer(1000, details=(examples(1000, length=200),), detail_bytes=6000))
    (head,) = found.head["details"]
    rows = twin.details(found)["examples"]
    kept = {place for place, own in enumerate(rows) if own}
    judged = {place for place in range(1000) if place % 10 == 9}
    assert 0 < head["held"] == len(kept) < head["has"] == 1000
    assert kept <= judged or judged <= kept
    assert min(judged) in kept


def test_no_room_for_details() -> None:
    found = payload(explorer(20, details=(examples(20),), detail_bytes=0))
    assert twin.details(found)["examples"] == [[]] * 20
    assert found.head["details"][0]["has"] == 20


def test_equal_input_gives_equal_bytes() -> None:
    one, two = (payload(explorer(40, details=(examples(40),))) for _ in range(2))
    assert one == two


def test_the_head_is_json() -> None:
    found = payload(explorer(3, details=(examples(3),)))
    head = json.loads(json.dumps(found.head, allow_nan=False))
    assert [column["heading"] for column in head["columns"]] == ["word", "f", "mi", "judged"]
    assert head["titles"] == ["word"]


def test_two_rows_of_one_key_are_refused() -> None:
    twice = pl.concat([explorer(2).frame] * 2)
    with pytest.raises(ValueError, match="several rows have one word"):
        payload(explorer(frame=twice))
