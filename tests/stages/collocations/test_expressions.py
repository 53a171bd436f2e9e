"""Gold judgements from annotated corpora, counted by hand and by plain loops."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from pipeline.errors import ConfigError, DataError
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import STAGES
from schemas import Judgements
from tests.stages.run_stage import SmallRun, run_stage
from tests.valid import valid

# Lemma, tag and code of each token.
SENTENCES = [
    "take/VERB/1:LVC.full a/DET/* walk/NOUN/1 take/VERB/* bus/NOUN/*",
    "take/VERB/* walk/NOUN/_",
    "kick/VERB/1:VID the/DET/1 bucket/NOUN/1 up/ADP/*",
    "give/VERB/1:VPC.full;2:VID up/ADP/1;2 ghost/NOUN/2",
    "give/VERB/1 up/ADP/1:VPC.full",
]
UNITS = """
relation = "sentence"
left = { where = "upos = 'VERB'" }
right = { where = "upos IN ('NOUN', 'ADP')" }
"""
TOKEN_COUNTS = {  # pair: pair tokens, and those in an expression of each type
    ("take", "walk"): (3, {"LVC.full": 1, "TP": 1}),
    ("take", "bus"): (2, {}),
    ("kick", "bucket"): (1, {"VID": 1, "TP": 1}),
    ("kick", "up"): (1, {}),
    ("give", "up"): (2, {"VPC.full": 2, "VID": 1, "TP": 2}),
    ("give", "ghost"): (1, {"VID": 1, "TP": 1}),
}
TYPES = ("LVC.full", "VID", "VPC.full")


def cupt(sentences: list[str] = SENTENCES) -> str:
    text = "# global.columns = ID FORM LEMMA UPOS PARSEME:MWE\n"
    for sentence in sentences:
        for number, token in enumerate(sentence.split(), start=1):
            lemma, upos, code = token.split("/")
            text += f"{number}\t{lemma}s\t{lemma}\t{upos}\t{code}\n"
        text += "\n"
    return text


def gold(folder: Path, *, least: int = 1, content: str = "", name: str = "c.cupt", more: str = "") -> dict[str, pl.DataFrame]:  # fmt: skip
    corpus = f'corpus = "{name}"\n'
    pairs = f'[stages.p]\nuse = "extract.pairs"\n{corpus}{UNITS}min_frequency = {least}\n'
    joined = f'[stages.g]\nuse = "join.corpus"\ncandidates = "p"\n{corpus}{UNITS}{more}\n'
    return SmallRun(folder, {name: content or cupt()}).run(pairs + joined)


def true_pairs(tables: dict[str, pl.DataFrame]) -> dict[str, set[tuple[str, str]]]:
    """Return the true pairs of each category."""
    rows = tables["g.judgements"].join(tables["p.candidates"].select("id", "l1", "l2"), on="id")
    by_name: dict[str, set[tuple[str, str]]] = {category: set() for category in rows["category"]}
    for category, one, two in rows.filter("tp").select("category", "l1", "l2").iter_rows():
        by_name[category].add((one, two))
    return by_name


def true(category: str, least: int = 1, share: float = 0.0) -> set[tuple[str, str]]:
    return {
        pair
        for pair, (f, inside) in TOKEN_COUNTS.items()
        if inside.get(category, 0) >= least and inside.get(category, 0) / f >= share
    }


def test_a_pair_within_one_expression_is_true(tmp_path: Path) -> None:
    tables = gold(tmp_path)
    assert true_pairs(tables) == {category: true(category) for category in ("TP", *TYPES)}
    valid(tables["g.judgements"], Judgements)
    assert tables["g.judgements"].height == 4 * len(TOKEN_COUNTS)
    counts = tables["g.counts"].join(tables["p.candidates"].select("id", "l1", "l2"), on="id")
    assert {(category, (l1, l2)): (f, inside) for _, category, f, inside, l1, l2 in
            counts.select("id", "category", "f", "inside", "l1", "l2").iter_rows()} == {
        (category, pair): (f, inside.get(category, 0))
        for pair, (f, inside) in TOKEN_COUNTS.items() for category in ("TP", *TYPES)
    }  # fmt: skip
    assert dict(tables["g.corpus"].iter_rows()) == {
        "tokens": 16, "pair tokens": 10, "expressions": 5, "expressions of type LVC.full": 1,
        "expressions of type VID": 2, "expressions of type VPC.full": 2,
    }  # fmt: skip


@pytest.mark.parametrize(("least", "share"), [(1, 0.0), (2, 0.0), (1, 0.5), (1, 1 / 3), (2, 1.0)])
def test_a_pair_must_be_in_expressions_often_enough(
    least: int, share: float, tmp_path: Path
) -> None:
    result = gold(tmp_path, more=f"least = {least}\nshare = {share}")
    assert true_pairs(result) == {
        category: true(category, least, share) for category in ("TP", *TYPES)
    }


def test_a_category_may_unite_types(tmp_path: Path) -> None:
    more = 'categories = { verbs = ["VID", "VPC.full"], all = ["*"], LVC = ["LVC.full"] }'
    tables = gold(tmp_path, more=more)
    assert true_pairs(tables) == {
        "verbs": true("VID") | true("VPC.full"), "all": true("TP"), "LVC": true("LVC.full"),
    }  # fmt: skip
    both = tables["g.counts"].filter(category="verbs", id=_id("give", "up"))
    assert both.select("f", "inside").row(0) == (2, 2)  # a pair token in two expressions is one


def _id(one: str, two: str) -> str:
    return str(pl.select(l1=pl.lit(one), l2=pl.lit(two)).select(candidate_id("l1", "l2")).item())


def test_pairs_that_are_not_candidates_are_counted(tmp_path: Path) -> None:
    tables = gold(tmp_path, least=2)
    columns = ("category", "n_candidates", "n_judged", "n_true", "n_unmatched")
    assert tables["g.coverage"].select(columns).rows() == [
        ("LVC.full", 3, 3, 1, 0), ("TP", 3, 3, 2, 2), ("VID", 3, 3, 1, 2), ("VPC.full", 3, 3, 1, 0),
    ]  # fmt: skip


def test_a_candidate_that_does_not_occur_is_not_judged(tmp_path: Path) -> None:
    corpus = 'corpus = { path = "c.cupt" }\n'
    table = "l1\tl2\tf\tf1\tf2\tN\ngive\tup\t2\t3\t3\t10\nsee\tlight\t1\t1\t1\t10\n"
    files = {"c.cupt": cupt(), "p.tsv": table}
    stages = '[stages.p]\nuse = "extract.table"\npath = "p.tsv"\n[stages.g]\n'
    tables = SmallRun(tmp_path, files).run(
        f'{stages}use = "join.corpus"\ncandidates = "p"\n{corpus}{UNITS}'
    )
    assert tables["g.judgements"]["id"].unique().to_list() == [_id("give", "up")]
    covered = tables["g.coverage"].filter(category="TP")
    assert covered.select("n_candidates", "n_judged").row(0) == (2, 1)


def test_expressions_of_streusle_are_read(tmp_path: Path) -> None:
    """Strong expressions are numbered by position; their category is at the first token."""
    words = [
        ("take", "VERB", "1:1", "V.LVC.full"), ("a", "DET", "_", "DET"),
        ("walk", "NOUN", "1:2", "_"), ("up", "ADP", "_", "P"),
    ]  # fmt: skip
    rows = [
        "\t".join([str(n), lemma, lemma, upos, *"______", smwe, lexcat, *"_______"])
        for n, (lemma, upos, smwe, lexcat) in enumerate(words, start=1)
    ]
    content = "\n".join(rows) + "\n\n"
    result = gold(tmp_path, name="c.conllulex", content=content)
    assert true_pairs(result) == {"TP": {("take", "walk")}, "V.LVC.full": {("take", "walk")}}


@pytest.mark.parametrize(
    ("more", "content", "message"),
    [
        ('categories = { X = ["VIT"] }', "", "categories.X: no expression has type 'VIT'; did you mean VID?"),
        ('expressions = "upos"', "", r"16 values of upos cannot be read(?s:.*)c.cupt: line 2: 'VERB'"),
        ('expressions = "mwe"', "", "expressions: the tokens have no attribute 'mwe'"),
        ("", cupt([each.replace("/1", "/*").replace(";2", "").replace("/2", "/*").replace(":VID", "").replace(":LVC.full", "").replace(":VPC.full", "") for each in SENTENCES]),
         "expressions: none of the 16 tokens are annotated as expressions of two or more tokens"),
        ("", cupt().replace(" PARSEME:MWE", " MISC"), "expressions: the tokens have no attribute with expression numbers .parseme_mwe or"),
        ('adjacent = { gap = 1 }', "", 'requires relation = "adjacent"'),
        ("categories = { X = [] }", "", "is too short"),
    ],
)  # fmt: skip
def test_invalid_categories_and_corpora_are_refused(
    more: str, content: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises((ConfigError, DataError), match=message):
        gold(tmp_path, more=more, content=content)


def test_candidates_of_another_relation_are_refused(tmp_path: Path) -> None:
    (tmp_path / "c.cupt").write_text(cupt())
    other = UNITS.replace('"sentence"', '"adjacent"').replace("'VERB'", "'NOUN'")
    text = 'name = "x"\n[stages.p]\nuse = "extract.pairs"\ncorpus = "c.cupt"\n' + other
    text += f'[stages.g]\nuse = "join.corpus"\ncandidates = "p"\ncorpus = "c.cupt"\n{UNITS}'
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        lx.check(tmp_path / "x.toml", runs=tmp_path / "runs")
    for option in ("left", "relation"):
        assert f"stages.g.{option}: differs from that of stages.p" in str(refused.value)


CODE = st.sampled_from(["*", "*", "1", "1:A", "2", "2:B", "1;2", "1:A;3:B", None])
WORD = st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), CODE)


def by_loops(sentences: list[list[tuple[str, str, str | None]]]) -> Counter[tuple[str, ...]]:
    """Count for each pair of a left and a right word of a sentence the types that it belongs to."""
    result: Counter[tuple[str, ...]] = Counter()
    for words in sentences:
        members: dict[str, list[int]] = {}
        kinds: dict[str, str] = {}
        for place, (_, _, code) in enumerate(words):
            for each in [] if code in {None, "*"} else str(code).split(";"):
                number, _, kind = each.partition(":")
                members.setdefault(number, []).append(place)
                kinds.setdefault(number, kind) if kind else None
        for one, two in product(range(len(words)), repeat=2):
            if one == two:
                continue
            pair = (words[one][0], words[two][1])
            shared = [n for n, own in members.items() if one in own and two in own]
            result["", *pair] += 1
            if shared:
                result["TP", *pair] += 1
            for kind in {kinds[n] for n in shared if n in kinds}:
                result[kind, *pair] += 1
    return result


@given(st.lists(st.lists(WORD, min_size=1, max_size=5), min_size=1, max_size=4), st.integers(0, 4))
def test_judgements_equal_those_of_loops_in_any_parts(
    sentences: list[list[tuple[str, str, str | None]]], cut: int
) -> None:
    expected = by_loops(sentences)
    rows = [
        {"file": "f", "line": 1, "sentence": n, "position": i, "left": one, "right": two, "mwe": code}
        for n, words in enumerate(sentences, start=1)
        for i, (one, two, code) in enumerate(words, start=1)
    ]  # fmt: skip
    tokens = pl.DataFrame(rows, schema_overrides={"mwe": pl.String})
    pairs = sorted({tuple(pair) for _, *pair in expected})
    candidates = pl.DataFrame(pairs, schema=["l1", "l2"], orient="row").with_columns(
        candidate_id("l1", "l2")
    )
    config: dict[str, Any] = {
        "candidates": "p", "corpus": "c", "expressions": "mwe", "left": {"label": "{left}"},
        "right": {"label": "{right}"},
    }  # fmt: skip
    parts = [tokens.filter(pl.col("sentence") <= cut), tokens.filter(pl.col("sentence") > cut)]
    result = [
        run_stage("join.corpus", config, corpus=part, candidates=candidates) for part in parts
    ]
    stage = STAGES.get("join.corpus")
    assert stage.counting
    options = stage.config.model_validate(config)
    stacked = {name: pl.concat([each[name] for each in result]).lazy() for name in result[0]}
    merged = stage.counting.merge(options, stacked)
    if not any(category == "TP" for category, *_ in expected):
        return  # such a corpus is refused
    summed = {name: each.lazy() for name, each in merged.items()}
    counts = stage.counting.combine(options, summed)["counts"].lazy().collect()
    joined_counts = counts.join(candidates, on="id")
    assert {
        (category, l1, l2): (f, inside)
        for category, l1, l2, f, inside in joined_counts.select(
            "category", "l1", "l2", "f", "inside"
        ).rows()
    } == {
        (category, *pair): (expected["", *pair], expected[category, *pair])
        for category in {name for name, *_ in expected} - {""}
        for pair in pairs
    }
