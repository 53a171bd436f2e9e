"""The table of all candidates: its columns, and the details of a row."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from pipeline import memory
from pipeline.errors import ConfigError
from pipeline.findings.base import StageView
from pipeline.report.explorer import Explorer, payload
from pipeline.report.view import Block, Listing, Text
from pipeline.report.views.collocations.candidates import RankView, candidate_explorer, show_ranks
from tests.report import report_frames as frames
from tests.report.report_frames import details_on_page, table_on_page

IDS = ["c1", "c2", "c3", "c4"]
RANKS = frames.ranks({"mi": [math.inf, 1.0, -math.inf, None], "dice": [1.0, 2.0, 3.0, 4.0]})
SCORES = pl.DataFrame(
    {"id": IDS, "l1": ["in:Frage", "zu:Ende", "</script><img onerror=x>", "על"], "f1": [20] * 4,
     "l2": ["kommen", "gehen", "=treffen", "sein"], "f": [9, 8, 7, 6], "f2": [30, 40, 50, 60],
     "N": [1000] * 4, "dice": [1.0, 2.0, 3.0, 4.0], "mi": [math.inf, 1.0, -math.inf, None],
     "judged": [1, 2, 3, 4]}
)  # fmt: skip
EXAMPLES = pl.DataFrame(
    {"id": ["c2", "c1", "c1", "x"], "number": [1, 2, 1, 1], "doc": ["d"] * 4,
     "text": ["[[zu]] x [[Ende]]", "second", "first", "of another"]}
)  # fmt: skip
ANNOTATIONS = pl.DataFrame(
    {"id": ["c1", "c1", "c3"], "annotator": ["ben", "anna", "anna"], "label": ["SVC", "free", "free"],
     "note": [None, "literal?", None]}
)  # fmt: skip
ADJUDICATED = pl.DataFrame(
    {"id": ["c1", "c3"], "label": [None, "free"], "annotators": [2, 1], "agreed": [False, True]}
)
JUDGEMENTS = frames.judgements({"c1": None, "c3": False})
TABLES = {
    "ranks": RANKS, "scores.scores": SCORES, "examples": EXAMPLES, "judgements": JUDGEMENTS,
    "annotations": ANNOTATIONS, "adjudicated": ADJUDICATED,
}  # fmt: skip


def stage(*others: tuple[str, str, str]) -> StageView:
    """Return the ranks of a run; the others have a name, a kind and an input each."""
    among: dict[str, StageView] = {}

    def open_table(name: str) -> pl.LazyFrame:
        return TABLES[name].lazy()

    for name, use, source in (
        ("pairs", "extract.pairs", ""),
        ("scores", "score.association", "pairs.candidates"),
        *others,
    ):
        among[name] = StageView(name, use, {}, open_table, inputs={"in": source}, stages=among)
    return StageView("ranks", "score.rank", {"scores": "scores.scores"}, open_table,
                     inputs={"scores": "scores.scores"}, stages=among)  # fmt: skip


SHEETS = ("people", "join.sheets", "pairs.candidates")
TABLE = ("truth", "join.table", "pairs.candidates")


def explorer(*others: tuple[str, str, str], most_rows: int = 100) -> Explorer:
    return candidate_explorer(
        stage(*others), SCORES.lazy(), measures=["mi", "dice"], most_rows=most_rows
    )


def test_each_measure_has_a_score_and_a_rank() -> None:
    table = explorer()
    own = {each.name: each for each in table.columns}
    assert {
        "score mi",
        "rank mi",
        "score dice",
        "rank dice",
        "l1",
        "l2",
        "f",
        "f1",
        "f2",
        "N",
    } <= set(own)
    row = table.frame.filter(id="c2").row(0, named=True)
    ranks = {m: RANKS.filter(measure=m, id="c2")["rank"].item() for m in ("mi", "dice")}
    assert {m: row[f"rank {m}"] for m in ranks} == ranks
    assert own["N"].visible is False


def test_candidates_best_under_any_measure_are_first() -> None:
    best = RANKS.group_by("id").agg(pl.col("rank").min()).sort("rank", "id")
    frame = explorer().frame
    order = dict(best.iter_rows())
    assert [order[name] for name in frame["id"]] == sorted(order.values())
    assert payload(explorer(most_rows=2)).height == 2


def test_without_judgements_there_are_no_columns_of_them() -> None:
    table = explorer()
    assert [each.name for each in table.columns if each.name.startswith("judged ")] == []
    assert [each.name for each in table.details] == ["examples"]


def test_judgements_of_annotators_are_shown() -> None:
    table = explorer(SHEETS)
    rows = {row["id"]: row for row in table.frame.to_dicts()}
    assert rows["c1"]["judged TP"] == "undecided"
    assert rows["c3"]["judged TP"] == "false positive"
    assert rows["c2"]["judged TP"] is None
    assert rows["c1"]["annotators differ"] is True
    assert rows["c3"]["annotators differ"] is None
    assert [rows[name]["judged"] for name in IDS] == [True, False, True, False]
    assert rows["c1"]["judged by anna"] == "free"
    assert rows["c1"]["judged by ben"] == "SVC"


def test_a_judgement_column_replaces_one_of_the_same_name() -> None:
    assert explorer(SHEETS).frame["judged"].dtype == pl.Boolean
    assert explorer().frame["judged"].dtype == pl.Int64


def test_headings_name_the_source_of_judgements() -> None:
    headings = [each.heading for each in explorer(SHEETS, TABLE).columns]
    assert {"TP (people)", "TP (truth)", "label", "anna", "judged"} <= set(headings)
    assert len(headings) == len(set(headings))


def test_judgements_on_other_candidates_are_omitted() -> None:
    assert [c.name for c in explorer(("other", "join.table", "elsewhere.candidates")).details] == [
        "examples"
    ]


def test_details_of_a_row_are_its_examples_and_judgements() -> None:
    table = explorer(SHEETS)
    opened = details_on_page(payload(table))
    place = table.frame["id"].to_list().index("c1")
    assert opened["examples"][place] == [("d", "first"), ("d", "second")]
    assert opened["judgements"][place] == [("anna", "free", "literal?"), ("ben", "SVC", None)]
    assert sum(map(len, opened["examples"])) == 3


def test_hostile_words_are_unpacked_unchanged() -> None:
    columns = table_on_page(payload(explorer(SHEETS)))
    assert set(columns["l1"]) == set(SCORES["l1"])
    assert set(columns["l2"]) == set(SCORES["l2"])


@pytest.mark.parametrize("missing", ["f1", "N"])
def test_without_counts_there_is_no_contingency_table(missing: str) -> None:
    ranks = stage()
    table = candidate_explorer(ranks, SCORES.drop(missing).lazy(), measures=["mi"], most_rows=9)
    assert table.cells is None
    assert explorer().cells is not None


def test_without_words_the_id_is_searched() -> None:
    table = candidate_explorer(
        stage(), SCORES.drop("l1", "l2").lazy(), measures=["mi"], most_rows=9
    )
    assert [each.name for each in table.columns if each.kind == "text"] == ["id"]
    assert table.titles == ("id",)


def test_the_table_of_candidates_can_be_disabled() -> None:
    blocks = show_ranks(stage(SHEETS), RankView(explorer_rows=3))
    assert isinstance(blocks[-1], Explorer)
    assert blocks[-1].most_rows == 3
    assert blocks[-1].order == "rank dice"
    without = show_ranks(stage(SHEETS), RankView(explorer=False))
    assert not any(isinstance(block, Explorer) for block in without)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_with_limited_memory_it_has_only_the_best(size: int) -> None:
    columns = len(SCORES.columns) + 4
    with memory.with_limit(64 * columns * size):
        few = explorer(SHEETS)
    whole = explorer(SHEETS)
    assert (few.rows, whole.rows) == (len(IDS), len(IDS))
    assert few.frame.height == size
    assert few.frame.equals(whole.frame.head(size))
    assert payload(few).height == size
    assert few.columns == whole.columns


# The blocks of the view of ranks.

RANKS_RANK = frames.ranks({"dice": [3.0, 2.0, 2.0, None], "mi": [math.inf, 1.0, -math.inf, None]})
SCORES_RANK = pl.DataFrame(
    {"id": ["c1", "c2", "c3", "c4"], "l1": ["in:Frage", "zu:Ende", "um:Uhr", "auf:Weg"],
     "l2": ["kommen", "gehen", "treffen", "sein"], "f": [9, 8, 7, 6]}
)  # fmt: skip
JUDGEMENTS_RANK = frames.judgements({"c1": True, "c2": False, "c3": None})
TABLES_RANK = {"ranks": RANKS_RANK, "scores": SCORES_RANK, "judgements": JUDGEMENTS_RANK}


def show_blocks(tables: dict[str, pl.DataFrame] = TABLES_RANK, **options: Any) -> list[Block]:
    stage = frames.stage("score.rank", tables, name="ranks", scores="scores")
    return list(show_ranks(stage, RankView(**options)))


def both(**options: Any) -> tuple[Listing, Listing]:
    best, scores, _ = show_blocks(**options)
    assert isinstance(best, Listing)
    assert isinstance(scores, Listing)
    return best, scores


def test_the_best_of_each_measure_are_side_by_side() -> None:
    best, _ = both(k=2)
    assert best.texts is not None
    assert best.texts.rows() == [
        ("1", "in:Frage kommen", "in:Frage kommen"), ("2", "zu:Ende gehen", "zu:Ende gehen"),
    ]  # fmt: skip
    assert best.frame.select("measure", "rank").rows() == [
        ("dice", 1), ("dice", 2), ("mi", 1), ("mi", 2),
    ]  # fmt: skip


def test_verdicts_are_marked() -> None:
    best, _ = both(k=4, judgements="judgements", measures=("mi",))
    assert best.texts is not None
    ends = [text.rpartition("\u00a0")[2] for text in best.texts["MI"]]
    assert ends == ["+", "-", "?", "auf:Weg sein"]
    assert "(TP)" in best.caption


def test_undefined_infinite_and_distinct_scores_are_counted() -> None:
    _, scores = both()
    assert scores.frame.rows() == [("dice", 4, 1, 0, 3), ("mi", 4, 1, 2, 4)]


def test_marks_belong_to_the_selected_category() -> None:
    two = pl.concat([JUDGEMENTS_RANK, frames.judgements({"c1": False}, category="fvg")])
    tables = {**TABLES_RANK, "judgements": two}
    first, _ = both(tables=tables, judgements="judgements", k=1)
    other, _ = both(tables=tables, judgements="judgements", k=1, category="fvg")
    assert first.texts is not None
    assert other.texts is not None
    assert first.texts["MI"].item() == "in:Frage kommen\u00a0+"
    assert other.texts["MI"].item() == "in:Frage kommen\u00a0-"


def test_without_words_the_id_is_shown() -> None:
    best, _ = both(tables={**TABLES_RANK, "scores": SCORES_RANK.drop("l1")}, k=1)
    assert best.texts is not None
    assert best.texts["MI"].to_list() == ["c1"]


def test_a_measure_may_be_called_rank() -> None:
    best, _ = both(tables={**TABLES_RANK, "ranks": frames.ranks({"rank": [1.0]})})
    assert best.texts is not None
    assert best.texts.rows() == [("1", "in:Frage kommen")]


def test_the_absence_of_candidates_is_stated() -> None:
    assert show_blocks({**TABLES_RANK, "ranks": RANKS_RANK.clear()}) == [
        Text("There are no candidates to rank.")
    ]


def test_an_unknown_category_is_refused() -> None:
    with pytest.raises(ConfigError, match="views.ranks.category"):
        show_blocks(judgements="judgements", category="x")
