"""Readers of lexicons: what they read, and what they say of bad lines."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline.errors import DataError
from pipeline.formats.base import FORMATS
from pipeline.formats.content import table_format


def read(text: str, name: str, folder: Path, **options: Any) -> pl.DataFrame:
    path = folder / "lexicon.txt"
    path.write_text(text, encoding="utf-8")
    known = FORMATS.get(name)
    given = known.options.model_validate(options)
    known.check(path, given)
    return known.scan(path, given).collect()


def test_unimorph(tmp_path: Path) -> None:
    made = read("ra\trat\tV;PST;F\tra|t\n\nra\tra\n# x\n", "unimorph", tmp_path, comment="#")
    assert made.rows() == [(1, "ra", "rat", "V;PST;F", "V"), (3, "ra", "ra", None, None)]


@pytest.mark.parametrize(
    ("text", "lemmas", "forms"),
    [
        ("lemma\tform\tfeats\nra\trat\tV\n", ["ra"], ["rat"]),
        ("\nLemma\tForm\nra\trat\n", ["ra"], ["rat"]),
        ("form\tlemma\ttag\nrat\tra\tV\n", ["ra"], ["rat"]),
        ("lemma\tlemmas\tN;PL\nform\tforms\tN;PL\n", ["lemma", "form"], ["lemmas", "forms"]),
        ("lemma\tform\tfeatures\tsegments\nra\trat\tV\tra|t\n", ["ra"], ["rat"]),
    ],
)
def test_a_header_of_unimorph(
    text: str, lemmas: list[str], forms: list[str], tmp_path: Path
) -> None:
    made = read(text, "unimorph", tmp_path)
    assert made["lemma"].to_list() == lemmas
    assert made["form"].to_list() == forms


def test_whether_unimorph_has_a_header_can_be_said(tmp_path: Path) -> None:
    text = "lemma\tform\tN\nra\trat\tV\n"
    assert read(text, "unimorph", tmp_path, header=False)["lemma"].to_list() == ["lemma", "ra"]
    assert read("x\ty\nra\trat\n", "unimorph", tmp_path, header=True)["lemma"].to_list() == ["ra"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ra\trat\tV;PST\nra\tra\tV;NFIN\n", "unimorph"),
        ("ra\trat\tV;NOM(3,SG)\tra|t\n\nra\tra\tV\t\n", "unimorph"),
        ("lemma\tform\nra\trat\n", "unimorph"),
        ("00\tdog\t3\n01\trun\t4\n", "brown"),
        ("dog\tN\t3\ncat\tN\t2\n", "tsv"),
        ("00\tdog\t3\n01\trun\tV\n", "tsv"),
        ("dog,N,3\ncat,N,2\n", "csv"),
        ("a text\n", None),
        ("dog\tN\ncat\n", None),
        ("", None),
        ("a\x00b\tc\n", None),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_the_format_of_a_file_without_ending(
    text: str, found: str | None, packed: bool, tmp_path: Path
) -> None:
    path = tmp_path / ("tur.gz" if packed else "tur")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert table_format(path) == found


def test_unimorph_with_other_fields(tmp_path: Path) -> None:
    text = "ra\trat\tV\nra\na\tb\tc\td\te\n"
    with pytest.raises(DataError, match="2 invalid lines.*\n  line 2: 'ra'\n  line 3: "):
        read(text, "unimorph", tmp_path)


def test_blocks(tmp_path: Path) -> None:
    text = "\n\nmissier\nmissierek \n\n \nra\n# a note\nrajt\n"
    made = read(text, "wordform_blocks", tmp_path, comment="#")
    assert made.rows() == [
        (3, "missier", "missier"), (4, "missier", "missierek"), (7, "ra", "ra"), (9, "ra", "rajt"),
    ]  # fmt: skip


def test_blocks_with_names(tmp_path: Path) -> None:
    made = read("M1\nmissier\n\nM2\n", "wordform_blocks", tmp_path, head="name")
    assert made.rows() == [(1, "M1", None), (2, "M1", "missier"), (4, "M2", None)]


def test_blocks_with_tabs(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 invalid line \\(with a tab\\):\n  line 2"):
        read("ra\nra\trat\n", "wordform_blocks", tmp_path)


def test_analyses(tmp_path: Path) -> None:
    text = (
        "ra:ra<vblex><past>\nrajt:>:ra<vblex>\nx\\:y:<:x\\:y<n>\n"
        "takes care:take<vblex># care\ndel:de<pr>+el<det>\nbare:bare\n"
    )
    made = read(text, "analyses", tmp_path)
    assert made.select("lemma", "form", "tags", "direction", "pos").rows() == [
        ("ra", "ra", "<vblex><past>", "both", "vblex"),
        ("ra", "rajt", "<vblex>", "generation", "vblex"),
        ("x:y", "x:y", "<n>", "analysis", "n"),
        ("take# care", "takes care", "<vblex>", "both", "vblex"),
        ("de", "del", "<pr>", "both", "pr"),
        ("bare", "bare", "", "both", None),
    ]
    norm = read(text, "analyses", tmp_path, directions=["both", "generation"])
    assert norm.height == 5


def test_analyses_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match="1 invalid line \\(not form:lemma<tags>\\):\n  line 2: 'nothing'"
    ):
        read("ra:ra<v>\nnothing\n", "analyses", tmp_path)


def test_a_treebank_is_a_lexicon(tmp_path: Path) -> None:
    rows = "# sent_id = 1\n1-2\tzur\t_\t_\t_\t_\t_\t_\t_\t_\n"
    rows += "1\tzu\tzu\tADP\t_\t_\t2\tcase\t_\t_\n2\tder\tder\tDET\t_\t_\t0\troot\t_\t_\n\n"
    made = read(rows, "treebank", tmp_path)
    assert made.select("line", "lemma", "form", "upos").rows() == [
        (3, "zu", "zu", "ADP"), (4, "der", "der", "DET"),
    ]  # fmt: skip
    unknown = rows.replace("\tzu\tzu\t", "\tzu\t_\t").replace("\tder\tder", "\tder\t<unknown>")
    assert read(unknown, "treebank", tmp_path)["lemma"].to_list() == [None, None]
    with pytest.raises(DataError, match="line 1"):
        read("1\tzu\n\n", "treebank", tmp_path)


@pytest.mark.parametrize("name", ["unimorph", "wordform_blocks", "analyses"])
def test_files_that_are_not_utf8_or_gzip(name: str, tmp_path: Path) -> None:
    known = FORMATS.get(name)
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xff\tx\ty\n")
    with pytest.raises(DataError, match="as UTF-8"):
        known.check(path, known.options())
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(b"ra:ra<v>\n")[:-4])
    with pytest.raises(DataError, match="damaged or truncated"):
        known.check(packed, known.options())


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    for name in ("unimorph", "wordform_blocks", "analyses"):
        assert read("", name, tmp_path).height == 0
