"""The table of all lemmas: the scores of each, and its forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from pipeline.errors import ConfigError
from pipeline.kernels.lexicon.keying import compare_keyings, keying_agreement
from pipeline.report.charts import Look, lemma_chart, lexicon_chart, scatter_chart, trend_chart
from pipeline.report.explorer import Explorer, payload
from pipeline.report.page.images import svg
from pipeline.report.view import Block, Figure, Listing, Text, flatten_blocks
from pipeline.report.views.lexicon import (
    LexiconsView,
    LexiconView,
    lexicons_caption,
    lexicons_overview,
    show_generated,
    show_keyed,
    show_lexicon,
    show_lexicons,
    show_preparation,
    statistics_listing,
    wrap_forms,
)
from pipeline.stages.base import STAGES
from schemas import KeyedEntries, KeyedLemmas, KeyingAgreement, Preparation
from tests.report import report_frames as frames
from tests.report.report_frames import details_on_page, table_on_page

# The blocks and figures of the views of lexicons.

WORDS = [(f"l{i}", f"w{i}{j}") for i in range(20) for j in range(2 + i % 3)]
SCHEMA = {"lemma": pl.String, "form": pl.String}
GOLD = pl.DataFrame(WORDS, schema=SCHEMA, orient="row")
LEXICON = GOLD.filter(~pl.col("form").str.ends_with("1")).vstack(
    pl.DataFrame([("l12", "odd")], schema=SCHEMA, orient="row")
)


def run(use: str, config: dict[str, Any], **tables: pl.DataFrame) -> dict[str, pl.DataFrame]:
    stage = STAGES.get(use)
    lazy = {name: table.lazy() for name, table in tables.items()}
    result = stage.run(stage.config.model_validate(config), lazy)
    return {name: table.lazy().collect() for name, table in result.items()}


def sample_tables(
    lexicon: pl.DataFrame = LEXICON, size: int = 12, chances: list[float] | None = None
) -> dict[str, pl.DataFrame]:
    gold = {"gold": "gold", "lexicon": "lexicon"}
    overlaps = run("score.lexicon", gold, gold=GOLD, lexicon=lexicon)["overlaps"]
    lemmas = GOLD.select("lemma").unique().sort("lemma").head(size)
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("position")
    whole = {"population": pl.lit(20, pl.Int64), "drawn": pl.lit(value=True)}
    sample = lemmas.with_columns(
        place, **whole, pi=pl.Series(chances or [size / 20] * size), stratum=pl.lit("all")
    )
    config = {**gold, "overlaps": "overlaps", "sample": "sample", "replicates": 100, "seed": "s"}
    return run(
        "evaluate.lexicon", config, gold=GOLD, lexicon=lexicon, overlaps=overlaps, sample=sample
    )


TABLES_LEXICON = sample_tables()
BY_SIZE = sample_tables(chances=[0.3 + 0.05 * place for place in range(12)])


def blocks_lexicon(tables: dict[str, pl.DataFrame] = TABLES_LEXICON, **options: Any) -> list[Block]:
    config = {"order": "position", "sample": "sample"}
    stage = frames.stage("evaluate.lexicon", tables, name="quality", **config)
    return list(flatten_blocks(show_lexicon(stage, LexiconView(**options))))


def blocks_by_name(blocks: list[Block]) -> dict[str, Listing | Figure | Explorer]:
    return {each.name: each for each in flatten_blocks(blocks) if not isinstance(each, Text)}


def test_the_view_of_a_lexicon_has_all_its_blocks() -> None:
    blocks = blocks_lexicon()
    assert isinstance(blocks[0], Text)
    star = TABLES_LEXICON["lemmas"]["contribution"].sum()
    assert blocks[0].text.startswith(f"L* = {100 * star:.2f} %, ")
    assert (
        "from 12 lemmas of 20 (60.0 %). 95 % confidence limits (bootstrap-t): [" in blocks[0].text
    )
    assert list(blocks_by_name(blocks)) == [
        "quality", "intervals", "widths", "L", "scatter", "precision", "recall",
        "precision-recall-trend", "L-trend", "all-lemmas", "lemmas", "forms-1", "forms-2", "forms-3",
    ]  # fmt: skip


def test_a_full_sample_has_no_limits() -> None:
    full = pl.col("statistic").is_in(["sampled lemmas", "lemmas sampled from"])
    value = pl.when(full).then(20.0).otherwise("value")
    quality = TABLES_LEXICON["quality"].with_columns(value=value)
    listing = statistics_listing(quality)
    assert listing.caption.endswith("; L* is exact, since all common lemmas were compared.")
    assert listing.texts is not None
    assert "[" not in dict(listing.texts.select("statistic", "value").rows())["L*"]


def test_statistics_have_limits_and_counts_are_whole_numbers() -> None:
    listing = blocks_by_name(blocks_lexicon())["quality"]
    assert isinstance(listing, Listing)
    assert listing.texts is not None
    values = dict(listing.texts.select("statistic", "value").rows())
    assert values["gold lemmas"] == "20"
    assert values["L*"] == "77.96 %  [72.98, 80.62]"
    assert values["coverage"] == "100.00 %"


def test_the_listing_has_the_costliest_lemmas_first() -> None:
    listing = blocks_by_name(blocks_lexicon())["lemmas"]
    assert isinstance(listing, Listing)
    lost = listing.frame.select(pl.col("size") * (1 - pl.col("L"))).to_series().to_list()
    assert lost == sorted(lost, reverse=True)


def test_forms_of_gold_and_lexicon_are_side_by_side() -> None:
    listing = blocks_by_name(blocks_lexicon(aligned=("l12", "l1")))["forms-1"]
    assert isinstance(listing, Listing)
    assert listing.texts is not None
    assert listing.texts.columns == ["gold (2)", "lexicon: l12 (2)"]
    assert listing.texts.rows() == [("w120", "w120"), ("w121", ""), ("", "odd")]
    assert listing.caption.startswith("l12: 1 forms in common, P = 50.0 %, R = 50.0 %, L = 50.0 %")


def test_aligning_an_unsampled_lemma_is_refused() -> None:
    with pytest.raises(ConfigError, match="views.quality.aligned: 'l9' was not sampled"):
        blocks_lexicon(aligned=("l9",))


def test_the_absence_of_common_lemmas_is_stated() -> None:
    blocks = blocks_lexicon(sample_tables(GOLD.with_columns(lemma=pl.lit("zz"))))
    assert blocks[0] == Text("The gold and the lexicon have no sampled lemma in common.")
    assert len(blocks) == 2


def test_all_lemmas_need_no_interval() -> None:
    blocks = blocks_lexicon(sample_tables(size=20))
    assert "intervals" not in blocks_by_name(blocks)
    assert isinstance(blocks[0], Text)
    assert blocks[0].text.endswith("from 20 lemmas: all lemmas in common.")


def test_few_lemmas_are_pointed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "With fewer than 50 lemmas, coverage may be well below the nominal level."
    assert isinstance(few := blocks_lexicon()[0], Text)
    assert few.text.endswith(sentence)
    monkeypatch.setattr("pipeline.report.views.lexicon.FEW", 12)
    assert isinstance(enough := blocks_lexicon()[0], Text)
    assert enough.text.endswith("].")


def test_sampling_by_paradigm_size_is_stated() -> None:
    blocks = blocks_lexicon(BY_SIZE)
    assert isinstance(blocks[0], Text)
    sentence = "from 12 lemmas of 20 (60.0 %), drawn in proportion to paradigm size."
    assert f"{sentence} 95 % confidence limits (Korn and Graubard's beta): [" in blocks[0].text
    assert "With fewer than 30 lemmas" in blocks[0].text
    methods = blocks_by_name(blocks)["intervals"]
    assert isinstance(methods, Listing)
    assert methods.frame["method"].to_list() == ["beta", "linearised", "t"]
    widths = blocks_by_name(blocks)["widths"]
    assert isinstance(widths, Listing)
    assert widths.texts is not None
    assert widths.texts.columns[-2:] == [
        "SE by size (points)",
        "width by size (points)",
    ]


def test_the_caption_of_several_lexicons_states_the_sampling() -> None:
    assert "in proportion" not in lexicons_caption(pl.DataFrame({"pi": [0.5, 0.5]}))
    text = lexicons_caption(pl.DataFrame({"pi": [0.5, 0.2]}))
    assert "sampled lemmas, drawn in proportion to paradigm size, and L*" in text


def test_figures_can_be_disabled() -> None:
    assert not [block for block in blocks_lexicon(figures=False) if isinstance(block, Figure)]


@pytest.mark.parametrize("style", ["screen", "print"])
def test_every_figure_can_be_drawn(style: Any) -> None:
    look = Look(style=style)
    trends = TABLES_LEXICON["trends"]
    places = pl.DataFrame({"precision": [1.0, 0.5], "recall": [1.0, 0.2], "lemmas": [9, 1]})
    rows = pl.DataFrame(
        {"name": ["x", "y"], "value": [0.5, 0.4], "lower": [0.4, None], "upper": [0.6, None]}
    )
    for chart in (
        lemma_chart(trends, "precision", mean=0.8, order="x", look=look),
        trend_chart(trends, ("precision", "recall"), order="x", look=look),
        scatter_chart(places, look=look),
        lexicon_chart(rows, title="L*", zero=True, look=look),
    ):
        assert svg(chart).startswith("<svg")


def test_points_are_in_per_cent() -> None:
    spec = lemma_chart(TABLES_LEXICON["trends"], "L", mean=0.8, order="x")
    text = spec["layer"][0]["data"]["values"]
    first = TABLES_LEXICON["trends"].sort("n").row(0, named=True)
    assert text.splitlines()[1] == f"1,{round(100 * first['L'], 3)},{first['lemma']}"


def test_comparison_shows_differences_and_lemmas() -> None:
    scores = {"one": TABLES_LEXICON["lemmas"], "two": sample_tables(GOLD)["lemmas"]}
    stage = STAGES.get("evaluate.lexicons")
    config = stage.config.model_validate({"lexicons": list(scores), "seed": "s"})
    tables = stage.run(
        config, {f"lexicons.{i}": each.lazy() for i, each in enumerate(scores.values())}
    )
    result = {name: table.lazy().collect() for name, table in tables.items()}
    blocks = frames.stage("evaluate.lexicons", result, lexicons=["two", "one"])
    view = replace(blocks, labels={"one": "other"})
    outcome = blocks_by_name(list(show_lexicons(view, LexiconsView(k=2, labels={"one": "other"}))))
    assert list(outcome) == ["lexicons", "differences", "lemmas"]
    lemmas = outcome["lemmas"]
    assert isinstance(lemmas, Listing)
    assert lemmas.texts is not None
    assert lemmas.texts.height == 2
    assert lemmas.texts.columns[2:] == [
        "L (%): two",
        "missing: two",
        "L (%): other",
        "missing: other",
    ]
    differences = outcome["differences"]
    assert isinstance(differences, Listing)
    assert differences.frame.select("first", "second").row(0) == ("other", "two")
    glance = lexicons_overview(view)
    assert glance is not None
    assert glance.texts is not None
    assert set(glance.texts["lexicon"]) == {"two", "other"}
    with pytest.raises(ConfigError, match="views.shown.labels: unknown name 'onne'"):
        show_lexicons(view, LexiconsView(labels={"onne": "x"}))


def test_preparation_and_keyed_lemmas_are_listed() -> None:
    rows = {"number": [2, 1], "step": ["b", "a"], "n": [1, 2], "such_as": [None, "x"]}
    stage = frames.stage("extract.lexicon", {"preparation": pl.DataFrame(rows)})
    (listing,) = show_preparation(stage, LexiconView())
    assert isinstance(listing, Listing)
    assert listing.frame["step"].to_list() == ["a", "b"]
    keyed = pl.DataFrame({"lemma": ["a", "b"], "found": [True, False], "n_forms": [3, 0]})
    nothing = KeyedEntries.zero_rows().collect()
    tables = {"keyed": keyed, "preparation": pl.DataFrame(rows), "notes": nothing}
    tables["agreement"] = KeyingAgreement.zero_rows().collect()
    text, listing = show_keyed(frames.stage("join.keying", tables), LexiconView())
    assert isinstance(listing, Listing)
    assert listing.frame["step"].to_list() == ["a", "b"]
    (listing,) = show_generated(
        frames.stage("extract.paradigms", {"preparation": pl.DataFrame(rows)}), LexiconView()
    )
    assert isinstance(listing, Listing)
    assert text == Text("2 lemmas looked up; the dictionary has 1 (50.0 %), with 3 forms.")


def test_agreement_of_keyed_forms_is_listed() -> None:
    label = {"anna": ["u\x1fv", "w"], "ben": ["u", "w"]}
    values = [
        (lemma, who, text) for who in label for lemma, text in zip("ab", label[who], strict=True)
    ]
    names = ["lemma", "annotator", "label"]
    compared = compare_keyings(pl.LazyFrame(values, schema=names, orient="row"))
    tables = {
        "keyed": KeyedLemmas.zero_rows().collect(),
        "preparation": Preparation.zero_rows().collect(),
        "notes": KeyedEntries.zero_rows().collect(),
        "agreement": keying_agreement(compared),
        "compared": compared,
    }
    _, _, agreement, differ = show_keyed(frames.stage("join.keying", tables), LexiconView())
    assert isinstance(agreement, Listing)
    assert isinstance(differ, Listing)
    assert agreement.frame.select("first", "second", "statistic", "estimate").rows() == [
        ("anna", "ben", "equal lemmas", 0.5), ("anna", "ben", "agreement of forms", 0.8),
    ]  # fmt: skip
    assert differ.frame.rows() == [("a", "anna", "v", "ben", "", pytest.approx(2 / 3))]


def test_long_lists_of_forms_are_cut_and_counted() -> None:
    forms = ", ".join(f"form{number}" for number in range(30))
    text = wrap_forms(forms, width=20, most=2)
    assert text == "form0, form1, form2,\nform3, form4, form5, … 24 more"
    assert wrap_forms("") == ""


def explorer(**options: Any) -> Explorer:
    results = [
        block for block in blocks_lexicon(figures=False, **options) if isinstance(block, Explorer)
    ]
    assert len(results) == 1
    return results[0]


def test_the_table_has_the_costliest_lemmas_first() -> None:
    table = explorer()
    assert table.frame.height == TABLES_LEXICON["lemmas"].height
    cost = table.frame["cost"].to_list()
    assert cost == sorted(cost, reverse=True)
    assert table.columns[0].name == "lemma"


def test_details_of_a_lemma_are_its_forms() -> None:
    table = explorer()
    opened = details_on_page(payload(table))["forms"]
    for lemma, rows in zip(table.frame["lemma"], opened, strict=True):
        forms = TABLES_LEXICON["forms"].filter(lemma=lemma)
        assert sorted(g for g, _ in rows if g is not None) == sorted(forms.filter("gold")["form"])
        assert sorted(x for _, x in rows if x is not None) == sorted(
            forms.filter("lexicon")["form"]
        )
        both = [g is not None and x is not None for g, x in rows]
        assert both == sorted(both, reverse=True)


def test_the_table_of_lemmas_can_be_smaller_or_omitted() -> None:
    assert payload(explorer(explorer_rows=5)).height == 5
    assert not any(isinstance(b, Explorer) for b in blocks_lexicon(figures=False, explorer=False))


def test_numbers_of_a_lemma_equal_its_scores() -> None:
    columns = table_on_page(payload(explorer()))
    scores = {row["lemma"]: row for row in TABLES_LEXICON["lemmas"].to_dicts()}
    for place, lemma in enumerate(columns["lemma"]):
        for name in ("n_gold", "n_common", "n_missing", "n_spurious"):
            assert columns[name][place] == scores[lemma][name]
        assert abs(columns["L"][place] - scores[lemma]["L"]) < 1e-4
    assert columns["another"] == [
        int(columns["match"][i] != lemma) for i, lemma in enumerate(columns["lemma"])
    ]
    assert pl.Series(columns["n_gold"]).min() > 0
