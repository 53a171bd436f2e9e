"""Lists as gold standards: categories of files, columns, case, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError, DataError
from pipeline.kernels.sampling import candidate_id
from tests.stages.run_stage import SmallRun, run_stage

CANDIDATES = pl.DataFrame(
    {"l1": ["ad", "Ad", "take", "take", "old"], "l2": ["hoc", "hoc", "place", "man", "man"],
     "lemma": ["ad", "ad", "TAKE", "TAKE", "OLD"]}
).with_columns(candidate_id("l1", "l2"))  # fmt: skip
LIST = pl.DataFrame({"l1": ["ad", "take ", "pay"], "l2": ["hoc", "place", "heed"]})


def gold(listed: pl.DataFrame, **config: Any) -> dict[str, pl.DataFrame]:
    return run_stage("join.gold", {"covered": "l1"} | config, path=listed, candidates=CANDIDATES)


def signs(tables: dict[str, pl.DataFrame], category: str = "TP") -> str:
    result = dict(tables["judgements"].filter(category=category).select("id", "tp").iter_rows())
    return "".join(
        {None: " ", True: "+", False: "-"}[result.get(each)] for each in CANDIDATES["id"]
    )


def test_listed_and_covered_candidates_are_judged() -> None:
    tables = gold(LIST)
    assert signs(tables) == "+ +- "
    assert tables["coverage"].row(0, named=True) == {
        "category": "TP", "n_candidates": 5, "n_judged": 3, "n_true": 2, "n_false": 1,
        "n_unjudged": 2, "n_entries": 3, "n_matched": 2, "n_unmatched": 1, "n_absent": 1,
        "n_duplicates": 0, "n_unreadable": 0,
    }  # fmt: skip
    assert tables["covered"]["id"].to_list() == sorted(CANDIDATES["id"][i] for i in (0, 2, 3))


def test_case_and_compared_columns_can_be_configured() -> None:
    assert signs(gold(LIST, case="lower")) == "+++- "
    assert signs(gold(LIST, case="lower", compare=["lemma", "l2"])) == "+++- "
    assert signs(gold(LIST, compare=["lemma", "l2"])) == "++   "
    with pytest.raises(
        ConfigError, match="compare: the candidates have no column 'lemmas'; did you mean"
    ):
        gold(LIST, compare=["lemmas", "l2"])


def test_entries_may_be_in_one_column() -> None:
    entries = pl.DataFrame({"headword": ["ad-hoc", "ad hoc", "take_place", "in spite of", "", "x"]})
    tables = gold(entries, columns={"entry": "headword"})
    assert signs(tables) == "+ +- "
    row = tables["coverage"].row(0, named=True)
    assert (row["n_entries"], row["n_duplicates"], row["n_unreadable"]) == (2, 1, 3)


def test_columns_of_the_list_can_be_named() -> None:
    assert signs(gold(LIST.rename({"l1": "node"}), columns={"l1": "node"})) == "+ +- "
    with pytest.raises(ConfigError, match=r"columns.l1: the file has no column 'l1'"):
        gold(LIST.rename({"l1": "node"}))


def test_entries_may_match_in_either_order() -> None:
    turned = LIST.select(l1="l2", l2="l1")
    assert signs(gold(turned, either_order=True)) == "+ +- "


@pytest.mark.parametrize(("wrong", "message"), [
    ({"columns": {"entry": "a", "l1": "b"}}, "give either entry, or l1 and l2"),
    ({"by_file": True, "category": "x"}, "omit category"),
    ({"covered": "nodes"}, "'l1', 'l2', 'either' or 'all'"),
])  # fmt: skip
def test_contradictory_options_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        gold(LIST, **wrong)


def test_a_list_without_pairs_is_refused() -> None:
    with pytest.raises(DataError, match="none of the 1 rows of pairs.tsv has two words"):
        gold(pl.DataFrame({"entry": ["tea"]}), columns={"entry": "entry"})


def test_a_list_without_candidates_is_refused() -> None:
    with pytest.raises(DataError, match="1 differ only in capital letters"):
        gold(LIST.select(pl.col("l1").str.to_uppercase(), pl.col("l2").str.to_uppercase()))


FILES = {
    "pairs.tsv": "l1\tl2\tf\tf1\tf2\tN\nad\thoc\t3\t5\t4\t99\ntake\tplace\t2\t9\t4\t99\n",
    "bbi.tsv": "ad hoc\n",
    "other.list.tsv": "take place\n",
}
STAGES = """
[stages.candidates]
use = "extract.table"
path = "pairs.tsv"
[stages.gold]
use = "join.gold"
path = { path = ["bbi.tsv", "other.list.tsv"], columns = ["entry"] }
columns = { entry = "entry" }
candidates = "candidates"
covered = "all"
"""


def test_each_file_may_be_a_category(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, FILES)
    (union,) = small.run(STAGES)["gold.coverage"].iter_rows(named=True)
    assert (union["category"], union["n_true"], union["n_false"]) == ("TP", 2, 0)
    own = small.run(STAGES + "by_file = true\n")["gold.coverage"]
    assert own.select("category", "n_true", "n_false").rows() == [("bbi", 1, 1), ("other", 1, 1)]


def test_files_of_the_same_name_are_refused_as_categories(tmp_path: Path) -> None:
    files = {"pairs.tsv": FILES["pairs.tsv"], "a/x.tsv": "ad hoc\n", "b/x.tsv": "take place\n"}
    stages = STAGES.replace('"bbi.tsv", "other.list.tsv"', '"a/x.tsv", "b/x.tsv"')
    with pytest.raises(ConfigError, match="2 files would make one category 'x': a/x.tsv, b/x.tsv"):
        SmallRun(tmp_path, files).run(stages + "by_file = true\n")
