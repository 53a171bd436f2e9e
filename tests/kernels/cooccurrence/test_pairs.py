"""Units and pair tokens against a slow counter in plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cooccurrence.pairs import Dependency, count, located, marginals, pair_tokens
from pipeline.kernels.cooccurrence.tokens import Related, Unit, numbered, units
from tests.kernels.cooccurrence.trees import Token, corpora, frame


def tokens(corpus: list[list[Token]]) -> pl.LazyFrame:
    return numbered(frame(corpus))


def found_units(corpus: list[list[Token]], unit: Unit) -> pl.DataFrame:
    where = tokens(corpus).select("token", "sentence", "position")
    return units(tokens(corpus), unit).join(where, on="token").collect()


def found_pairs(
    corpus: list[list[Token]], left: Unit, right: Unit, relation: Dependency | None
) -> pl.DataFrame:
    pairs = pair_tokens(tokens(corpus), left=left, right=right, relation=relation)
    return located(pairs, tokens(corpus)).collect()


NOUN, VERB, ADP = (pl.col("upos") == tag for tag in ("NOUN", "VERB", "ADP"))
CASE, OBJ, PRT = (pl.col("deprel") == label for label in ("case", "obj", "prt"))


def slow_units(
    sentence: list[Token], tag: str, deprel: str, *, optional: bool, each: bool
) -> list[tuple[int, str]]:
    """Tokens of a tag with the lemma of a dependent in front of their own."""
    found = []
    for token in sentence:
        if token["upos"] != tag:
            continue
        below = [t for t in sentence if t["head"] == token["position"] and t["deprel"] == deprel]
        names = [t["lemma"] for t in below] or ([""] if optional else [])
        for name in names if each else names[:1]:
            found.append((token["position"], f"{name}:{token['lemma']}"))
    return found


@given(corpus=corpora(), optional=st.booleans(), each=st.booleans())
def test_units_with_a_related_token(corpus: list[list[Token]], optional: bool, each: bool) -> None:
    related = Related(CASE, optional=optional, each=each)
    found = found_units(corpus, Unit(NOUN, "{prep.lemma}:{lemma}", {"prep": related}))
    slow = [
        (sentence[0]["sentence"], *unit)
        for sentence in corpus
        for unit in slow_units(sentence, "NOUN", "case", optional=optional, each=each)
    ]
    assert sorted(found.select("sentence", "position", "unit").rows()) == sorted(slow)


@given(corpus=corpora())
def test_head_as_related_token(corpus: list[list[Token]]) -> None:
    above = Unit(ADP, "{h.upos}>{lemma}", {"h": Related(pl.lit(value=True), side="head")})
    found = found_units(corpus, above)
    slow = [
        (token["sentence"], f"{sentence[token['head'] - 1]['upos']}>{token['lemma']}")
        for sentence in corpus
        for token in sentence
        if token["upos"] == "ADP" and token["head"] > 0
    ]
    assert sorted(found.select("sentence", "unit").rows()) == sorted(slow)


@given(corpus=corpora())
def test_sentence_relation(corpus: list[list[Token]]) -> None:
    left = Unit(NOUN, "{p.lemma}:{lemma}", {"p": Related(CASE)})
    found = pair_tokens(tokens(corpus), left=left, right=Unit(VERB, "{lemma}"), relation=None)
    slow: Counter[tuple[str, str]] = Counter()
    for sentence in corpus:
        for _, first in slow_units(sentence, "NOUN", "case", optional=False, each=False):
            for token in sentence:
                if token["upos"] == "VERB":
                    slow[first, token["lemma"]] += 1
    assert {(a, b): f for a, b, f in count(found).collect().select("l1", "l2", "f").rows()} == slow


@pytest.mark.parametrize("governor", ["left", "right", "either"])
@given(corpus=corpora())
def test_dependency_relation(
    governor: Literal["left", "right", "either"], corpus: list[list[Token]]
) -> None:
    relation = Dependency(OBJ, governor)
    left, right = Unit(VERB, "{lemma}"), Unit(NOUN, "{form}")
    found = found_pairs(corpus, left, right, relation)
    slow = []
    for sentence in corpus:
        for one in sentence:
            for two in sentence:
                down = two["head"] == one["position"] and two["deprel"] == "obj"
                up = one["head"] == two["position"] and one["deprel"] == "obj"
                holds = {"left": down, "right": up, "either": down or up}[governor]
                if one["upos"] == "VERB" and two["upos"] == "NOUN" and holds:
                    slow.append(
                        (
                            one["sentence"],
                            one["lemma"],
                            two["form"],
                            one["position"],
                            two["position"],
                        )
                    )
    columns = ["sentence", "l1", "l2", "position_1", "position_2"]
    assert sorted(found.select(columns).rows()) == sorted(slow)


@given(corpus=corpora())
def test_path_through_a_token(corpus: list[list[Token]]) -> None:
    relation = Dependency(OBJ, "left", through=ADP)
    left, right = Unit(VERB, "{lemma}"), Unit(NOUN, "{lemma}")
    found = found_pairs(corpus, left, right, relation)
    slow = []
    for sentence in corpus:
        for below in sentence:
            between = sentence[below["head"] - 1] if below["head"] else None
            if not between or between["upos"] != "ADP" or not between["head"]:
                continue
            above = sentence[between["head"] - 1]
            if (above["upos"], below["upos"], below["deprel"]) == ("VERB", "NOUN", "obj"):
                slow.append((below["sentence"], above["position"], below["position"]))
    assert sorted(found.select("sentence", "position_1", "position_2").rows()) == sorted(slow)


@given(corpus=corpora())
def test_no_token_pairs_with_itself(corpus: list[list[Token]]) -> None:
    every = Unit(pl.lit(value=True), "{lemma}")
    found = pair_tokens(tokens(corpus), left=every, right=every, relation=None).collect()
    assert found.height == sum(len(s) * (len(s) - 1) for s in corpus)


counts = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), st.integers(1, 9), max_size=9
)


@given(table=counts)
def test_marginals(table: dict[tuple[str, str], int]) -> None:
    rows = [(l1, l2, f) for (l1, l2), f in table.items()]
    schema = {"l1": pl.String, "l2": pl.String, "f": pl.Int64}
    made = marginals(pl.LazyFrame(rows, schema=schema, orient="row")).collect()
    for row in made.iter_rows(named=True):
        assert row["f1"] == sum(f for (l1, _), f in table.items() if l1 == row["l1"])
        assert row["f2"] == sum(f for (_, l2), f in table.items() if l2 == row["l2"])
        assert row["N"] == sum(table.values())


def test_null_attributes_make_no_unit() -> None:
    token = {"file": "f", "doc": "d", "sentence": 1, "position": 1, "head": 0, "form": "A"}
    one: Token = {**token, "lemma": None, "upos": "NOUN", "deprel": "root"}
    assert found_units([[one]], Unit(NOUN, "{lemma}")).is_empty()
    assert found_units([[one]], Unit(NOUN, "{form}")).height == 1


@given(corpus=corpora(), fold=st.booleans(), exclude=st.sets(st.sampled_from("abAB")))
def test_labels_are_folded_and_filtered(
    corpus: list[list[Token]], fold: bool, exclude: set[str]
) -> None:
    unit = Unit(NOUN, "{form}", fold=fold, matches="^[abAC]", exclude=sorted(exclude))
    slow = []
    for token in (token for sentence in corpus for token in sentence if token["upos"] == "NOUN"):
        label = token["form"].lower() if fold else token["form"]
        if label[0] in "abAC" and label not in exclude:
            slow.append((token["sentence"], token["position"], label))
    found = found_units(corpus, unit).select("sentence", "position", "unit")
    assert sorted(found.rows()) == sorted(slow)


@given(corpus=corpora())
def test_relations_are_named(corpus: list[list[Token]]) -> None:
    word = Unit(pl.lit(value=True), "{lemma}")
    relation = Dependency(pl.col("deprel") != "case", "either", named=True)
    found = pair_tokens(tokens(corpus), left=word, right=word, relation=relation).collect()
    slow = []
    for sentence in corpus:
        for token in sentence:
            if token["head"] > 0 and token["deprel"] != "case":
                above, name = sentence[token["head"] - 1], token["deprel"]
                slow += [
                    (f"{name}({above['lemma']}, *)", token["lemma"]),
                    (f"{name}(*, {token['lemma']})", above["lemma"]),
                ]
    pairs = found.select(pl.col("l1", "l2").cast(pl.String))
    assert sorted(pairs.rows()) == sorted(slow)
