"""A preliminary sample chooses a list, and the list goes out: written once, never over."""

from __future__ import annotations

from pathlib import Path

import fastexcel
import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import ConfigError, LexassayError

CONFIG = Path(__file__).parents[2] / "configs" / "tuning.toml"


def run(folder: Path, **settings: object) -> lx.Run:
    own = {"sheets": str(folder / "sheets")}
    return lx.run(CONFIG, runs=folder / "runs", settings=own | settings, deliver=True, report=False)


def lists(folder: Path) -> list[Path]:
    return sorted((folder / "sheets" / "tuning-list").glob("[!.]*"))


def test_the_list_and_what_is_known_of_it(tmp_path: Path) -> None:
    done = run(tmp_path)
    choice = done.table("choice").row(0, named=True)
    assert choice["precision"] >= 0.3
    assert choice["lower_simultaneous"] < choice["lower"] <= choice["precision"]
    (file,) = lists(tmp_path)
    assert file.name.startswith(f"{choice['measure']}-{choice['n']}-best-")
    book = fastexcel.read_excel(file)
    assert book.sheet_names == ["List", "About"]
    rows = book.load_sheet("List").to_polars()
    assert rows["rank"].to_list() == list(range(1, choice["n"] + 1))
    judged = done.table("judgements").join(rows.select("id"), on="id")
    assert rows["verdict"].drop_nulls().len() == judged.height == choice["n_sampled"]
    assert (rows["verdict"] == "+").sum() == choice["k_sampled"]
    about = "\n".join(map(str, book.load_sheet("About", header_row=None).to_polars().rows()))
    assert f"{100 * choice['precision']:.1f} %, from {choice['n_sampled']} judged" in about
    assert f"among {choice['considered']} lists" in about


def test_the_same_list_is_written_once_and_stays_as_edited(tmp_path: Path) -> None:
    run(tmp_path)
    (file,) = lists(tmp_path)
    file.write_bytes(b"my notes")
    run(tmp_path)
    assert lists(tmp_path) == [file]
    assert file.read_bytes() == b"my notes"
    run(tmp_path, **{"stages.choice.min_precision": 0.25})
    assert len(lists(tmp_path)) == 2
    assert file.read_bytes() == b"my notes"


def test_csv_comes_with_a_text_about_it(tmp_path: Path) -> None:
    done = run(tmp_path, **{"stages.list.kind": "csv"})
    table, text = lists(tmp_path)
    assert (table.suffix, text.suffix) == (".csv", ".txt")
    rows = pl.read_csv(table)
    assert rows.height == done.table("choice")["n"].item()
    assert rows["f"].dtype == pl.Int64
    assert "estimated precision: " in text.read_text()


def test_nothing_is_good_enough(tmp_path: Path) -> None:
    with pytest.raises(LexassayError, match=r"no list meets min_precision = 0.99; the best are"):
        run(tmp_path, **{"stages.choice.min_precision": 0.99})
    where = "stage sampled: 1 mistake\n  - stages.sampled.measures: 'tscore' has not been ranked"
    with pytest.raises(ConfigError, match=where):
        run(tmp_path, **{"stages.sampled.measures": ["tscore"]})
    with pytest.raises(ConfigError, match="just one of size, min_precision, min_recall"):
        run(tmp_path, **{"stages.choice.size": 100})
