"""Taggings: both tags in one corpus, or in two that have to align."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import ConfigError, DataError
from tests.stages.small_run import SmallRun, counts

BOTH = """form	upos	t1	t2
dog	N	a	1
run	V	b	1
.	P		2

run	N	a	1
dog	N	b	1
"""
GOLD = "1\tdog\t_\tN\t_\t_\t_\t_\t_\t_\n2\trun\t_\tV\t_\t_\t_\t_\t_\t_\n\n1\trun\t_\tN\t_\t_\t_\t_\t_\t_\n"
ONE = '[stages.t]\nuse = "extract.tagging"\nsystem = "S"\ncorpus = "c.tsv"\n'
TWO = '[stages.t]\nuse = "join.tagging"\nsystem = "S"\ngold = "g.conllu"\ncluster = "tag"\n'
SIDE = 'induced = { path = "%s", columns = ["form", "tag"] }\n'


def columns(*places: int) -> str:
    """Return some columns of the corpus with both tags."""
    lines = [line.split("\t") if line else [] for line in BOTH.split("\n")]
    return "\n".join("\t".join(line[place] for place in places if line) for line in lines)


def rows(table: pl.DataFrame) -> list[tuple[object, ...]]:
    return table.drop("system").rows()


def test_one_corpus_with_two_runs(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": BOTH})
    made = small.run(ONE + 'cluster = ["t1", "t2"]\nexclude = ["P"]\n')
    assert rows(made["t.tagged"]) == [
        ("t1", "dog", "N", "a", 1), ("t1", "dog", "N", "b", 1), ("t1", "run", "N", "a", 1),
        ("t1", "run", "V", "b", 1), ("t2", "dog", "N", "1", 2), ("t2", "run", "N", "1", 1),
        ("t2", "run", "V", "1", 1),
    ]  # fmt: skip
    assert rows(made["t.entries"]) == [
        ("t1", "dog", "a", 1), ("t1", "dog", "b", 1), ("t1", "run", "a", 1), ("t1", "run", "b", 1),
        ("t2", "dog", "1", 2), ("t2", "run", "1", 2),
    ]  # fmt: skip
    assert made["t.gold"].rows() == [("dog", "N", 2), ("run", "N", 1), ("run", "V", 1)]
    assert counts(made["t.sizes"].filter(run="t1"))["tokens of the excluded class P"] == 1


def test_how_frequent_an_item_is_follows_from_one_run(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": BOTH})
    with pytest.raises(DataError, match="none of the 5 tokens counts"):
        small.run(ONE + 'cluster = ["t1", "t2"]\nmin_frequency = 3\n')


def test_tokens_without_an_induced_tag(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": BOTH})
    with pytest.raises(
        DataError, match=r"S: there are tokens without an induced tag: run t1: 1, such as '.'\n"
    ):
        small.run(ONE + 'cluster = "t1"\n')
    made = small.run(ONE + 'cluster = "t1"\nuntagged = true\nsentences = true\n')
    assert made["t.tagged"].filter(item=".").drop("system").rows() == [("t1", ".", "P", None, 1)]
    assert "." not in made["t.entries"]["item"]
    assert made["t.gold"].filter(item=".").height == 1
    assert counts(made["t.sizes"])["tokens that count but have no cluster"] == 1
    assert made["t.sentences"].drop("system", "run", "file").rows() == [
        (1, "N", "a", 1), (1, "P", None, 1), (1, "V", "b", 1), (2, "N", "a", 1), (2, "N", "b", 1),
    ]  # fmt: skip


def test_a_run_without_any_induced_tag_is_an_error(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": BOTH.replace("\t1\n", "\t\n").replace("\t2\n", "\t\n")})
    said = r"S: 1 of its runs have no induced tag on any token .*: run t2: none of 5\nLook at the"
    with pytest.raises(DataError, match=said):
        small.run(ONE + 'cluster = ["t1", "t2"]\nuntagged = true\n')


def test_two_files_side_by_side(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"g.conllu": GOLD, "i.tsv": "dog\tx\nrun\ty\n\nrun\tx\n"})
    made = small.run(TWO + SIDE % "i.tsv")
    assert rows(made["t.tagged"]) == [
        ("i", "dog", "N", "x", 1), ("i", "run", "N", "x", 1), ("i", "run", "V", "y", 1),
    ]  # fmt: skip
    assert made["t.gold"].rows() == [("dog", "N", 1), ("run", "N", 1), ("run", "V", 1)]


def test_one_file_and_two_say_the_same(tmp_path: Path) -> None:
    gold, side = (columns(0, 1), columns(0, 3))
    small = SmallRun(tmp_path, {"c.tsv": BOTH, "g.tsv": gold, "t2.tsv": side})
    one = small.run(ONE + 'cluster = "t2"\nsentences = true\n')
    two = TWO.replace("g.conllu", "g.tsv").replace('"tag"', '"t2"')
    both = small.run(two + 'induced = "t2.tsv"\nsentences = true\n')
    for name, table in one.items():
        held = [column for column in table.columns if column != "file"]
        assert both[name].select(held).equals(table.select(held)), name


def test_several_files_are_several_runs(tmp_path: Path) -> None:
    tags = {f"i/{i}.tsv": f"dog\tx\nrun\t{i}\nrun\tx\n" for i in "ab"}
    small = SmallRun(tmp_path, {"g.conllu": GOLD, **tags})
    made = small.run(TWO + SIDE % "i/*")
    assert made["t.tagged"].group_by("run").agg(pl.sum("f")).sort("run").rows() == [
        ("a", 3), ("b", 3),
    ]  # fmt: skip
    assert made["t.tagged"].filter(gold="V")["cluster"].to_list() == ["a", "b"]
    assert made["t.gold"]["f"].to_list() == [1, 1, 1]


def test_parts_of_one_run(tmp_path: Path) -> None:
    small = SmallRun(
        tmp_path, {"g.conllu": GOLD, "i/1.tsv": "dog\tx\nrun\ty\n", "i/2.tsv": "run\tx\n"}
    )
    made = small.run(TWO + SIDE % "i/*" + 'run = "whole"\n')
    assert made["t.tagged"]["f"].to_list() == [1, 1, 1]


WRONG = {
    "another token": (
        "dog\tx\nruns\ty\n\nrun\tx\n",
        ["i.tsv: column form: 1 x is not the token of the gold standard",
         "line 2: 'runs (sentence 1, token 2, i.tsv, line 2), gold run (sentence 1, token 2, g.con"],
    ),
    "too few": ("dog\tx\nrun\ty\n", ["1 x comes in the gold standard after the last token",
                                     "run (sentence 2, token 1, g.conllu, line 4)"]),
    "too many": ("dog\tx\nrun\ty\nrun\tz\nrun\tw\n", ["1 x comes after the last token of the gold",
                                                      "line 4: 'run (sentence 1, token 4"]),
    "an empty tag": ("dog\tx\nrun\t\nrun\tz\n", ["tokens without an induced tag: run i: 1, such as 'run'"]),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(WRONG))
def test_what_does_not_align_says_where(case: str, tmp_path: Path) -> None:
    content, said = WRONG[case]
    small = SmallRun(tmp_path, {"g.conllu": GOLD, "i.tsv": content})
    with pytest.raises(DataError) as error:
        small.run(TWO + SIDE % "i.tsv")
    for words in said:
        assert words in str(error.value)


def test_places_alone_are_compared_where_there_is_no_form(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"g.conllu": GOLD, "i.tsv": "x\ny\n\nx\n", "j.tsv": "x\ny\nx\n"})
    side = 'compare = ""\ninduced = { path = "%s", columns = ["tag"] }\n'
    assert small.run(TWO + side % "i.tsv")["t.tagged"].height == 3
    with pytest.raises(DataError, match="column position: 1 x is not the token"):
        small.run(TWO + side % "j.tsv")


def test_unknown_attributes(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, {"c.tsv": BOTH, "g.conllu": GOLD, "i.tsv": "dog\tx\n"})
    with pytest.raises(ConfigError, match=r"t.cluster: the tokens have no attribute 't3'.*t1"):
        small.run(ONE + 'cluster = "t3"\n')
    with pytest.raises(ConfigError, match=r"t.compare: the tokens have no attribute 'lemma'"):
        small.run(TWO + SIDE % "i.tsv" + 'compare = "lemma"\n')
    with pytest.raises(ConfigError, match=r"t.cluster: name one attribute, or several different"):
        small.run(ONE + 'cluster = ["t1", "t1"]\n')
