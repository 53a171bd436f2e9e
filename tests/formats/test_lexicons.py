"""Readers of lexicons: the rows that they read, and the lines that they refuse."""

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
    format_ = FORMATS.get(name)
    settings = format_.options.model_validate(options)
    format_.check(path, settings)
    return format_.scan(path, settings).collect()


def test_unimorph_rows_are_read(tmp_path: Path) -> None:
    entries = read("ra\trat\tV;PST;F\tra|t\n\nra\tra\n# x\n", "unimorph", tmp_path, comment="#")
    assert entries.rows() == [(1, "ra", "rat", "V;PST;F", "V"), (3, "ra", "ra", None, None)]


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
def test_a_header_of_unimorph_is_recognised(
    text: str, lemmas: list[str], forms: list[str], tmp_path: Path
) -> None:
    entries = read(text, "unimorph", tmp_path)
    assert entries["lemma"].to_list() == lemmas
    assert entries["form"].to_list() == forms


def test_an_option_says_whether_unimorph_has_a_header(tmp_path: Path) -> None:
    text = "lemma\tform\tN\nra\trat\tV\n"
    assert read(text, "unimorph", tmp_path, header=False)["lemma"].to_list() == ["lemma", "ra"]
    assert read("x\ty\nra\trat\n", "unimorph", tmp_path, header=True)["lemma"].to_list() == ["ra"]


@pytest.mark.parametrize(
    ("text", "format_name"),
    [
        ("ra\trat\tV;PST\nra\tra\tV;NFIN\n", "unimorph"),
        ("ra\trat\tV;NOM(3,SG)\tra|t\n\nra\tra\tV\t\n", "unimorph"),
        ("lemma\tform\nra\trat\n", "unimorph"),
        ("00\tdog\t3\n01\trun\t4\n", "brown"),
        ("dog\tN\t3\ncat\tN\t2\n", "tsv"),
        ("00\tdog\t3\n01\trun\tV\n", "tsv"),
        ("dog,N,3\ncat,N,2\n", "csv"),
        ('{"item": "a", "f": 1}\n{"item": "b", "f": 2}\n', "jsonl"),
        ('[{"item": "a", "f": 1},\n{"item": "b", "f": 2}]\n', None),
        ('[\n  {"item": "a", "f": 1}\n]\n', None),
        ("[\tPUNCT\na\tN\n", "tsv"),
        ("{a},1\nb,2\n", "csv"),
        ("a text\n", None),
        ("dog\tN\ncat\n", None),
        ("", None),
        ("a\x00b\tc\n", None),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_the_format_of_a_file_without_extension_is_recognised(
    text: str, format_name: str | None, packed: bool, tmp_path: Path
) -> None:
    path = tmp_path / ("tur.gz" if packed else "tur")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert table_format(path) == format_name


def test_unimorph_lines_with_other_field_counts_are_refused(tmp_path: Path) -> None:
    text = "ra\trat\tV\nra\na\tb\tc\td\te\n"
    with pytest.raises(DataError, match="2 invalid lines.*\n  line 2: 'ra'\n  line 3: "):
        read(text, "unimorph", tmp_path)


def test_blocks_of_wordforms_begin_with_their_lemma(tmp_path: Path) -> None:
    text = "\n\nmissier\nmissierek \n\n \nra\n# a note\nrajt\n"
    entries = read(text, "wordform_blocks", tmp_path, comment="#")
    assert entries.rows() == [
        (3, "missier", "missier"), (4, "missier", "missierek"), (7, "ra", "ra"), (9, "ra", "rajt"),
    ]  # fmt: skip


def test_blocks_may_begin_with_a_name(tmp_path: Path) -> None:
    entries = read("M1\nmissier\n\nM2\n", "wordform_blocks", tmp_path, head="name")
    assert entries.rows() == [(1, "M1", None), (2, "M1", "missier"), (4, "M2", None)]


def test_blocks_with_tabs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 invalid line \\(with a tab\\):\n  line 2"):
        read("ra\nra\trat\n", "wordform_blocks", tmp_path)


def test_analyses_have_lemma_form_tags_and_direction(tmp_path: Path) -> None:
    text = (
        "ra:ra<vblex><past>\nrajt:>:ra<vblex>\nx\\:y:<:x\\:y<n>\n"
        "takes care:take<vblex># care\ndel:de<pr>+el<det>\nbare:bare\n"
    )
    entries = read(text, "analyses", tmp_path)
    assert entries.select("lemma", "form", "tags", "direction", "pos").rows() == [
        ("ra", "ra", "<vblex><past>", "both", "vblex"),
        ("ra", "rajt", "<vblex>", "generation", "vblex"),
        ("x:y", "x:y", "<n>", "analysis", "n"),
        ("take# care", "takes care", "<vblex>", "both", "vblex"),
        ("de", "del", "<pr>", "both", "pr"),
        ("bare", "bare", "", "both", None),
    ]
    norm = read(text, "analyses", tmp_path, directions=["both", "generation"])
    assert norm.height == 5


def test_analyses_without_tags_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match="1 invalid line \\(not form:lemma<tags>\\):\n  line 2: 'nothing'"
    ):
        read("ra:ra<v>\nnothing\n", "analyses", tmp_path)


def test_a_treebank_is_a_lexicon(tmp_path: Path) -> None:
    rows = "# sent_id = 1\n1-2\tzur\t_\t_\t_\t_\t_\t_\t_\t_\n"
    rows += "1\tzu\tzu\tADP\t_\t_\t2\tcase\t_\t_\n2\tder\tder\tDET\t_\t_\t0\troot\t_\t_\n\n"
    entries = read(rows, "treebank", tmp_path)
    assert entries.select("line", "lemma", "form", "upos").rows() == [
        (3, "zu", "zu", "ADP"), (4, "der", "der", "DET"),
    ]  # fmt: skip
    unknown = rows.replace("\tzu\tzu\t", "\tzu\t_\t").replace("\tder\tder", "\tder\t<unknown>")
    assert read(unknown, "treebank", tmp_path)["lemma"].to_list() == [None, None]
    with pytest.raises(DataError, match="line 1"):
        read("1\tzu\n\n", "treebank", tmp_path)


@pytest.mark.parametrize("name", ["unimorph", "wordform_blocks", "analyses"])
def test_files_that_are_not_utf8_or_gzip_are_refused(name: str, tmp_path: Path) -> None:
    format_ = FORMATS.get(name)
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xff\tx\ty\n")
    with pytest.raises(DataError, match="as UTF-8"):
        format_.check(path, format_.options())
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(b"ra:ra<v>\n")[:-4])
    with pytest.raises(DataError, match="damaged or truncated"):
        format_.check(packed, format_.options())


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    for name in ("unimorph", "wordform_blocks", "analyses"):
        assert read("", name, tmp_path).height == 0
