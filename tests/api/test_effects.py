"""Main effects of tables: names of levels, groups, errors, and the effects that a sweep writes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.errors import ConfigError
from tests.small_experiment import SMALL

TABLE = pl.DataFrame(
    {
        "span": [1, 1, 1, 5, 5, 5],
        "measure": ["mi", "dice", "t_score"] * 2,
        "average_precision": [0.2, 0.4, 0.6, 0.4, 0.6, 0.8],
        "lower": [0.1, 0.3, 0.5, 0.2, 0.4, 0.6],
        "upper": [0.3, 0.5, 0.7, 0.6, 0.8, 1.0],
    }
)


def test_effects_equal_those_computed_by_hand() -> None:
    """Half-widths are .1 at span 1 and .2 at span 5, .15 on average at each measure."""
    table = lx.effects(TABLE, by=["span", "measure"])
    rounded = table.with_columns(pl.col("mean", "lower", "upper", "share").round(4))
    assert rounded.rows() == [
        ("span", "1", 0.4, 0.3, 0.5, 3, 0.2727),
        ("span", "5", 0.6, 0.4, 0.8, 3, 0.2727),
        ("measure", "mi", 0.3, 0.15, 0.45, 2, 0.7273),
        ("measure", "dice", 0.5, 0.35, 0.65, 2, 0.7273),
        ("measure", "t_score", 0.7, 0.55, 0.85, 2, 0.7273),
        ("residual", None, None, None, None, 6, 0.0),
    ]


def test_without_limits_in_the_table_effects_have_none() -> None:
    table = lx.effects(TABLE.drop("lower"), by="span")
    assert table["lower"].null_count() == table.height


def test_missing_values_are_omitted() -> None:
    more = pl.DataFrame(
        {"span": [1, 5], "measure": ["x", "y"], "average_precision": [None, float("nan")]}
    )
    whole = pl.concat([TABLE, more], how="diagonal")
    assert lx.effects(whole, by=["span", "measure"]).equals(
        lx.effects(TABLE, by=["span", "measure"])
    )


def test_groups_are_analysed_separately() -> None:
    twice = pl.concat(
        [
            TABLE.with_columns(n=pl.lit(10)),
            TABLE.with_columns(pl.col("average_precision") / 2, n=pl.lit(20)),
        ]
    )
    table = lx.effects(twice, by=["span", "measure"], within="n")
    assert table.columns[0] == "n"
    means = table.filter(setting="span").select("n", "level", pl.col("mean").round(6)).rows()
    assert means == [(10, "1", 0.4), (10, "5", 0.6), (20, "1", 0.2), (20, "5", 0.3)]


def test_settings_of_any_type_may_be_null() -> None:
    frame = pl.DataFrame(
        {"a": [None, True, None, True], "b": ["x", "x", "y", "y"], "v": [1, 2, 3, 4]}
    )
    table = lx.effects(frame, value="v", by=["a", "b"])
    assert table.select("setting", "level", "mean").rows()[:2] == [
        ("a", None, pytest.approx(2.0)), ("a", "true", pytest.approx(3.0)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": ["spam"]}, "spam: the table has no such column; did you mean span"),
        ({"by": []}, "by: names no setting"),
        ({"by": ["span"], "value": "measure"}, "measure: is String, not a number"),
        ({"by": ["span", "span"]}, "span: is named twice"),
        ({"by": ["span", "copy"]}, "span, copy: their effects cannot be told apart; remove one"),
        ({"by": ["span"], "within": "upper"}, "upper: is also a column of the result"),
        ({"by": ["span"], "value": "empty"}, "empty: has no values"),
    ],
)
def test_unsuitable_tables_and_options_are_refused(
    options: dict[str, object], message: str
) -> None:
    frame = TABLE.with_columns(copy=pl.col("span") * 2, empty=pl.lit(None, pl.Float64))
    with pytest.raises(ConfigError, match=message):
        lx.effects(frame, **options)  # type: ignore[arg-type]


SWEEP = """
[stages.whole]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
cuts = [5, 10]

[stages.ap]
use = "evaluate.average_precision"
ranks = "ranks"
judgements = "judgements"

[sweep]
collect = ["whole.cuts", "ap", "ranks"]
report = false
[[sweep.points]]
name = "frequent"
"stages.candidates.min_frequency" = 4
"stages.scores.measures" = ["mi", "dice"]
[[sweep.points]]
name = "all"
"stages.scores.measures" = ["dice", "mi"]
[sweep.over]
"stages.ranks.seed" = ["a", "b"]
"""


@pytest.mark.long
def test_a_sweep_writes_the_effects_of_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"a{n}\tb\t{n % 7 + 1}\t{n + 9}\t60\t999\t{int(n % 3 == 0)}" for n in range(40)]
    (tmp_path / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN\tTP", *rows]) + "\n")
    (tmp_path / "x.toml").write_text(SMALL + SWEEP)
    result = lx.sweep("x.toml")
    table = result.tables["effects"]
    assert table.equals(pl.read_parquet(result.folder / "effects.parquet"))
    assert (result.folder / "effects.csv").is_file()
    assert table.select("table", "value").unique(maintain_order=True).rows() == [
        ("whole.cuts", "precision"), ("ap", "average_precision"),
    ]  # fmt: skip
    assert table.filter(table="ap")["setting"].unique(maintain_order=True).to_list() == [
        "point", "stages.ranks.seed", "measure", "residual",
    ]  # fmt: skip
    ap = (
        result.tables["ap"]
        .group_by("point", maintain_order=True)
        .agg(pl.col("average_precision").mean())
    )
    means = table.filter(table="ap", setting="point").select("level", "mean").rows()
    assert means == [(name, pytest.approx(mean)) for name, mean in ap.rows()]
    assert table.filter(table="whole.cuts", setting="point")["rows"].to_list() == [4, 4, 4, 4]
    assert lx.show("x.toml").table("sweep.effects").equals(table)
    assert main(["show", "x.toml", "sweep.effects", "--format", "csv", "--raw"]) == 0
    assert capsys.readouterr().out == table.write_csv()
    assert main(["show", "x.toml"]) == 0
    assert "sweep.effects" in capsys.readouterr().out
