"""Token tables by their bytes, against a slow reader and against the other way to read them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.base import format_of
from pipeline.formats.corpora.blocks import TextBlock
from pipeline.formats.corpora.token_table import TokenMarks, TokenScan
from tests.formats.corpora import slow_readers

PLACES = ["line", "doc", "paragraph", "sentence", "position"]
NAMES = ["form", "lemma", "upos"]
COLUMNS = [*PLACES, *NAMES]
SIZES = (1, 100, 1 << 23)
MARKS = TokenMarks("# ", r"^# doc +(.*?) *$")
SCAN = TokenScan(NAMES, MARKS, 0)
TRAPS = (
    "# form\tlemma\tupos\n"
    "# more\ttabs\tthan\tcolumns\n"
    "# doc one two \n"
    "#\t#\t2\n"
    '"\t\t\n'
    "#a\tNA\t_\n"
    "\n\n"
    "# doc no\tdocument\n"
    "a  b\texactly12chr\tjust13letters\n"
    "# a comment between tokens\n"
    "c\t# doc no\t\n"
    "# doc é\n"
    "née\td\t0"
)


def read(path: Path, wanted: list[str], size: int, **given: Any) -> pl.DataFrame:
    """Read some columns."""
    format_ = format_of(path.name, name="tokens")
    options = format_.options.model_validate({"columns": NAMES, "document": MARKS.document} | given)
    assert format_.read is not None
    return pl.concat(batch.tokens for batch in format_.read(path, options, wanted, size))


def unscanned(path: Path, wanted: list[str], size: int, **given: Any) -> pl.DataFrame:
    """Read the same in the other way."""
    with patch.object(TextBlock, "scanned", lambda *_: None):
        return read(path, wanted, size, **given)


def is_certain(content: str) -> bool:
    """Return whether a content is read by its bytes."""
    return SCAN(content.encode(), 0, COLUMNS) is not None


def test_traps_are_certain(tmp_path: Path) -> None:
    assert is_certain(TRAPS)
    path = tmp_path / "t.tsv"
    path.write_text(TRAPS)
    for size in SIZES:
        found = read(path, COLUMNS, size)
        assert found.rows() == [
            (4, "one two", None, 1, 1, "#", "#", "2"),
            (5, "one two", None, 1, 2, '"', None, None),
            (6, "one two", None, 1, 3, "#a", "NA", "_"),
            (10, "one two", None, 2, 1, "a  b", "exactly12chr", "just13letters"),
            (12, "one two", None, 2, 2, "c", "# doc no", None),
            (14, "é", None, 3, 1, "née", "d", "0"),
        ]
        assert found.equals(unscanned(path, COLUMNS, size))
        for name in COLUMNS:
            assert read(path, [name], size).equals(found.select(name))


@pytest.mark.parametrize("line", ["a\tb", "a\tb\tc\td", "a", "\tb\tc", "\t\t", "#", " # c", " "])
def test_what_is_wrong_is_left_to_the_rules(line: str) -> None:
    assert is_certain("a\tb\tc\n\n")
    assert not is_certain(f"a\tb\tc\n{line}\n\na\tb\tc\n")


@pytest.mark.parametrize("name", ["doc", "paragraph", "sentence", "file", "head", "space_after"])
def test_columns_that_say_more_are_left_to_the_other_way(name: str) -> None:
    assert SCAN.is_for()
    assert not TokenScan([*NAMES, name], MARKS, 0).is_for()
    assert not TokenScan(["form"], MARKS, 0).is_for()
    assert not TokenScan(NAMES, TokenMarks("#\t", ""), 0).is_for()


def test_the_header_is_no_token(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("\n# doc a\n# b\nword\ttag\n#\tX\n\nb\tY\n")
    for given_names in ({"columns": ()}, {"columns": ["word", "tag"], "header": True}):
        for size in SIZES:
            found = read(path, [*PLACES, "word"], size, **given_names)
            assert found.rows() == [(5, "a", None, 1, 1, "#"), (7, "a", None, 2, 1, "b")]
            assert found.equals(unscanned(path, [*PLACES, "word"], size, **given_names))


def test_nothing() -> None:
    for content in (b"", b"\n\n", b"# doc a\n\n"):
        found = SCAN(content, 0, COLUMNS)
        assert found is not None
        assert found.tokens.is_empty()
        assert found.sentences == 0
        assert found.documents.height == content.count(b"doc")


SIGNS = st.characters(blacklist_characters="\t\n\r\0", blacklist_categories=["Cs"])
FIELD = st.one_of(
    st.sampled_from(["_", "", "#", "# doc x", "exactly12chr", "just13letters"]), st.text(SIGNS)
)
FORM = FIELD.filter(lambda form: form and not form.startswith("# "))
ROW = st.builds("{}\t{}\t{}".format, FORM, FIELD, FIELD)
OTHER = st.sampled_from(
    ["", "# ", "# doc a  b", "# doc  x ", "# a\tcomment", "# doc no\tone", "\n"]
)


@given(
    lines=st.lists(st.one_of(ROW, ROW, OTHER), max_size=25),
    first=ROW,
    size=st.sampled_from(SIZES),
    end=st.booleans(),
)
def test_is_read_as_by_the_slow_reader(
    lines: list[str], first: str, size: int, end: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = "\n".join([*lines, first]) + "\n" * end
    assert is_certain(content)
    path = tmp_path_factory.mktemp("drawn") / "t.tsv"
    path.write_text(content, newline="")
    found = read(path, COLUMNS, size)
    expected = slow_readers.tokens(path, NAMES)
    assert found.rows() == [tuple(each[name] for name in COLUMNS) for each in expected]
    assert found.equals(unscanned(path, COLUMNS, size))


def mutated(content: str) -> Iterator[str]:
    """Yield a content with one of its signs left out, and with two others in its place."""
    others = itertools.cycle("\t\n# ")
    for place in range(len(content)):
        for sign in ("", next(others), next(others)):
            yield content[:place] + sign + content[place + 1 :]


@pytest.mark.long
def test_what_is_certain_is_right(tmp_path: Path) -> None:
    """Whatever one sign does to a file: either the scan leaves it to the rules, or they agree."""
    path, certain = tmp_path / "t.tsv", 0
    for content in mutated(TRAPS):
        if is_certain(content):
            certain += 1
            path.write_text(content, newline="")
            assert read(path, COLUMNS, 1 << 23).equals(unscanned(path, COLUMNS, 1 << 23)), content
    assert certain > 100


@pytest.mark.long
def test_novels(public_data: Callable[[str], Path]) -> None:
    path = public_data("corpora/eltec_eng_level2.tsv.gz")
    given_document = {"document": r"^# ?(?:new)?doc(?: id)?(?: *= *| +)(.*?) *$"}
    for size in (1 << 16, 1 << 23):
        found = read(path, COLUMNS, size, **given_document)
        assert found.equals(unscanned(path, COLUMNS, size, **given_document))
