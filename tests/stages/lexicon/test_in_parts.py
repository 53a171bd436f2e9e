"""Stages of lexicons in parts: the same tables in the order of their keys, whatever the room."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from pipeline import memory
from pipeline.errors import DataError
from pipeline.runner.store.digest import table_digest
from pipeline.stages.base import FAULTS, STAGES
from schemas.validate import validate
from tests.kernels.room_for import room_for

ROOMS = [pytest.param(1, marks=pytest.mark.long), 3, pytest.param(10, marks=pytest.mark.long)]
Made = dict[str, pl.DataFrame]


def in_parts(use: str, config: Mapping[str, Any], **tables: pl.DataFrame) -> Made:
    """Run a stage piece by piece; its parts are valid, and in the order of their key."""
    stage = STAGES.get(use)
    options = stage.config.model_validate(config)
    lazy = {name.replace("_0", ".0").replace("_1", ".1"): t.lazy() for name, t in tables.items()}
    made: dict[str, list[pl.DataFrame]] = {}
    pieces = stage.pieces(options, lazy) if stage.pieces else [stage.run(options, lazy)]
    for piece in pieces:
        for name, frame in piece.items():
            made.setdefault(name, []).append(_sorted(use, name, frame))
    whole = {name: pl.concat(parts) for name, parts in made.items()}
    assert whole.pop(FAULTS, pl.DataFrame()).is_empty()
    for name, model in stage.outputs.items():
        validate([whole[name]], model, name=name)
        assert whole[name].equals(whole[name].sort(model.key())), name
    return whole


def _sorted(use: str, name: str, frame: Any) -> pl.DataFrame:
    """Sort a part as the runner does before it is written."""
    outputs = STAGES.get(use).outputs
    table: pl.DataFrame = frame.lazy().collect()
    return table.sort(outputs[name].key()) if name in outputs else table


def digests(use: str, made: Made) -> dict[str, str]:
    models = STAGES.get(use).outputs
    return {
        name: table_digest(frame.lazy(), key=models[name].key(), name=name)[0]
        for name, frame in made.items()
    }


def rows(seed: str, count: int = 60) -> pl.DataFrame:
    """Make a file with homographs, repeats, blanks, fields of several forms and of none."""
    draw = random.Random(seed)
    lemmas = ["ra", "Ra", "dar", "ktieb", "bank", "ħobż", "z", "é", "é"]
    forms = [None, "", " ", "rat", "RAT", "rajt, rat", "dar", "djar,", "kotba", "é", "é", " xemx"]
    return pl.DataFrame(
        {
            "file": [draw.choice(["a.tsv", "b.tsv"]) for _ in range(count)],
            "line": list(range(2, count + 2)),
            "lemma": [draw.choice(lemmas) for _ in range(count)],
            "form": [draw.choice(forms) for _ in range(count)],
            "pos": [draw.choice(["N", "V", None]) for _ in range(count)],
        }
    )


def lexicon(seed: str, **config: Any) -> Made:
    return in_parts("extract.lexicon", {"path": "a.tsv", **config}, path=rows(seed))


@pytest.mark.parametrize("parts", ROOMS)
@pytest.mark.parametrize(
    "config",
    [
        {},
        {"case": "lower", "apart_by": ["pos"]},
        {"forms_separator": ",", "lemma_is_form": True},
        {"where": "pos = 'N'", "replace": {"a": "o", "at": "x"}, "unicode": "NFD"},
        {"where": "pos = 'X'"},
    ],
)
def test_a_lexicon_is_read_the_same(config: dict[str, Any], parts: int) -> None:
    expected = lexicon("one", **config)
    with room_for(parts):
        found = lexicon("one", **config)
    assert digests("extract.lexicon", found) == digests("extract.lexicon", expected)


@pytest.mark.parametrize("parts", ROOMS)
def test_faults_are_told_before_anything_is_made(parts: int) -> None:
    stage = STAGES.get("extract.lexicon")
    empty = rows("one").with_columns(lemma=pl.when(pl.col("line") % 20 > 0).then("lemma"))
    assert stage.pieces is not None
    with room_for(parts):
        pieces = stage.pieces(stage.config.model_validate({"path": "a"}), {"path": empty.lazy()})
        first = next(iter(pieces))
    assert first[FAULTS].lazy().collect()["line"].sort().to_list() == [20, 40, 60]


def generated(**config: Any) -> Made:
    """Generate forms by paradigms of many endings, of one, and of none."""
    entries = [(f" l{i % 7}", f"s{i % 5}", f"p{i % 3}") for i in range(40)] + [(" ", "s", "p0")]
    endings = [("p0", f"{i % 9}~É") for i in range(12)] + [("p1", None), ("p2", "e")]
    one = pl.DataFrame(entries, schema=["lemma", "stem", "paradigm"], orient="row")
    two = pl.DataFrame(endings, schema=["paradigm", "ending"], orient="row")
    line = pl.int_range(2, pl.len() + 2, dtype=pl.Int64).alias("line")
    tables = {
        name: table.select("*", line, file=pl.lit(f"{name}.tsv"))
        for name, table in (("entries", one), ("paradigms", two))
    }
    options = {"entries": "e.tsv", "paradigms": "p.tsv", **config}
    return in_parts("extract.paradigms", options, **tables)


@pytest.mark.parametrize("parts", [*ROOMS, 100])
@pytest.mark.parametrize("config", [{}, {"case": "lower", "replace": {"l1": "l2"}}])
def test_forms_are_generated_the_same(config: dict[str, Any], parts: int) -> None:
    expected = generated(**config)
    assert expected["lexicon"]["form"].n_unique() > 30
    with room_for(parts):
        found = generated(**config)
    assert digests("extract.paradigms", found) == digests("extract.paradigms", expected)


def united(seeds: tuple[str, ...]) -> pl.DataFrame:
    several = {f"lexicons_{i}": lexicon(seed)["lexicon"] for i, seed in enumerate(seeds)}
    return in_parts("extract.union", {"lexicons": seeds}, **several)["lexicon"]


@pytest.mark.parametrize("parts", ROOMS)
def test_a_union_is_the_same(parts: int) -> None:
    expected = united(("one", "two"))
    with room_for(parts):
        assert united(("one", "two")).equals(expected)


def words(seed: str, lemmas: int) -> pl.DataFrame:
    """Make a wordlist whose lemmas share forms, some without any."""
    draw = random.Random(seed)
    pairs = {
        (f"l{draw.randrange(lemmas)}", f"w{draw.randrange(lemmas)}") for _ in range(lemmas * 3)
    }
    bare: set[tuple[str, str | None]] = {(f"bare{i}", None) for i in range(3)}
    schema = {"lemma": pl.String, "form": pl.String}
    return pl.DataFrame([*pairs, *bare], schema=schema, orient="row").sort("lemma", "form")


def evaluated(
    config: dict[str, Any], sampled: dict[str, Any] | None, lemmas: int = 25
) -> dict[str, str]:
    """Return the digests of all tables from two wordlists to L*."""
    gold, other = words("gold", lemmas), words("lexicon", lemmas)
    tables = {"gold": gold, "lexicon": other}
    named = {name: name for name in tables}
    overlaps = in_parts("score.lexicon", named, **tables)
    found = digests("score.lexicon", overlaps)
    options = {**named, "overlaps": "overlaps", "seed": "s", **config}
    if sampled is not None:
        draw = {"gold": "gold", "lexicons": ["lexicon"], "seed": "s", **sampled}
        sample = in_parts("sample.lemmas", draw, gold=gold, lexicons_0=other)
        found |= digests("sample.lemmas", sample)
        tables |= {"sample": sample["sample"]}
        options["sample"] = "sample"
    made = in_parts("evaluate.lexicon", options, **tables, overlaps=overlaps["overlaps"])
    return found | digests("evaluate.lexicon", made)


@pytest.mark.parametrize("parts", ROOMS)
@pytest.mark.parametrize(
    ("config", "sampled"),
    [
        ({}, None),
        ({"weights": "published", "order": "size"}, None),
        ({"n": 5887, "weights": "published"}, {"rate": 0.4}),
        ({}, {"rate": 0.5, "design": "size"}),
        ({"complete": False, "order": "size"}, {"size": 7}),
        ({}, {"lemmas": ["l1", "l2", "bare1"]}),
    ],
)
def test_an_evaluation_is_the_same(
    config: dict[str, Any], sampled: dict[str, Any] | None, parts: int
) -> None:
    lemmas = 25 if parts > 3 else 12
    expected = evaluated(config, sampled, lemmas)
    with room_for(parts):
        assert evaluated(config, sampled, lemmas) == expected


@pytest.mark.parametrize("parts", ROOMS)
def test_nothing_in_common(parts: int) -> None:
    gold = words("gold", 5)
    other = gold.select(lemma="x" + pl.col("lemma"), form=pl.lit("y")).unique()
    named = {"gold": "gold", "lexicon": "lexicon"}
    with room_for(parts):
        overlaps = in_parts("score.lexicon", named, gold=gold, lexicon=other)["overlaps"]
        made = in_parts(
            "evaluate.lexicon", {**named, "overlaps": "overlaps", "seed": "s"},
            gold=gold, lexicon=other, overlaps=overlaps,
        )  # fmt: skip
    assert overlaps.is_empty()
    assert made["lemmas"].is_empty()


def test_scores_that_do_not_fit_are_refused() -> None:

    with memory.limited(2_000), pytest.raises(DataError, match="the scores of .* lemmas"):
        evaluated({}, None)
