"""CoNLL-U by its bytes, against a slow reader and against the other ways to read it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.base import format_of
from pipeline.formats.corpora.conllu import scanned
from tests.formats.corpora import slow_readers
from tests.formats.corpora.test_conllu import TRAPS, WRONG, sentence

PLACES = ["line", "doc", "paragraph", "sentence", "position"]
ATTRIBUTES = ["form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"]
COLUMNS = [*PLACES, *ATTRIBUTES]
SIZES = (1, 300, 1 << 23)
# A tab in a comment is left to the other ways, and what comes before the first line is no part.
SCANNED = TRAPS.removeprefix("\ufeff").replace("FORM\twith\ttabs", "FORM")


def read(path: Path, columns: list[str], size: int, *, by_bytes: bool = True) -> pl.DataFrame:
    """Read some columns; where sent_id may not come twice there is no scan."""
    format_ = format_of(path.name)
    options = format_.options.model_validate({"unique_sent_id": not by_bytes})
    assert format_.read is not None
    return pl.concat(batch.tokens for batch in format_.read(path, options, columns, size))


def test_traps_are_certain(tmp_path: Path) -> None:
    assert scanned(SCANNED.encode(), 0, COLUMNS) is not None
    path = tmp_path / "t.conllu"
    path.write_text(SCANNED)
    expected = pl.DataFrame(slow_readers.conllu(path), infer_schema_length=None)
    for size in SIZES:
        found = read(path, COLUMNS, size)
        assert found.rows() == expected.select(COLUMNS).rows()
        assert found.equals(read(path, COLUMNS, size, by_bytes=False))
        for name in COLUMNS:
            assert read(path, [name], size).equals(found.select(name))


@pytest.mark.parametrize("case", sorted({*WRONG} - {"not UTF-8", "NUL"}))
def test_what_is_wrong_is_left_to_the_rules(case: str) -> None:
    damage, _ = WRONG[case]
    good = sentence(1, 2)
    broken = good.removesuffix("\n") + damage.rstrip("\n") + "\n\n"
    assert scanned(good.encode(), 0, COLUMNS) is not None
    assert scanned((good + broken + good).encode(), 0, COLUMNS) is None


def test_how_words_are_written_is_not_asked(tmp_path: Path) -> None:
    assert scanned(SCANNED.encode(), 0, ["form", "surface"]) is None
    assert scanned(SCANNED.encode(), 0, ["space_after"]) is None


def test_nothing() -> None:
    for content in (b"", b"\n\n", b"# newdoc\n\n"):
        found = scanned(content, 0, COLUMNS)
        assert found is not None
        assert found.tokens.is_empty()
        assert found.sentences == 0
        assert found.documents.height == content.count(b"newdoc")


FIELD = st.one_of(
    st.sampled_from(["_", "", "#", "NOUN", "exactly12chr", "just13letters"]),
    st.text(st.characters(blacklist_characters="\t\n\r\0", blacklist_categories=["Cs"])),
)
COMMENT = st.sampled_from(
    [
        "#",
        "# newdoc",
        "#newdoc id =  a b ",
        "# newpar id=p",
        "# newpar",
        "# newdocs",
        "# text = new",
    ]
)


def row(draw: st.DrawFn, identity: str, size: int) -> str:
    """Draw a line under an ID in a sentence of so many words."""
    fields = [identity, *(draw(FIELD) for _ in ATTRIBUTES)]
    fields[6] = draw(st.sampled_from(["_", "", *map(str, range(size + 1))]))
    return "\t".join(fields)


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """Draw a sentence with ranges, empty nodes and comments anywhere; or one without words."""
    size = draw(st.integers(0, 12))
    lines = [row(draw, "0.1", size)] if draw(st.booleans()) else []
    for word in range(1, size + 1):
        before = draw(st.sampled_from(["", "", f"{word}-{word + 1}", "# text = new"]))
        if before.startswith("#"):
            lines.append(before)
        elif before and word < size and word % 2:
            lines.append(row(draw, before, size))
        lines.append(row(draw, str(word), size))
        if draw(st.integers(0, 5)) == 0:
            lines.append(row(draw, f"{word}.1", size))
    return "".join(f"{line}\n" for line in [*draw(st.lists(COMMENT, max_size=2)), *lines])


@pytest.mark.long
@given(drawn=st.lists(sentences(), min_size=1, max_size=5), size=st.sampled_from(SIZES))
def test_is_read_as_by_the_slow_reader(
    drawn: list[str], size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = "\n".join(drawn)
    assert scanned(content.encode(), 0, COLUMNS) is not None
    path = tmp_path_factory.mktemp("drawn") / "t.conllu"
    path.write_text(content, newline="")
    expected = [[each[name] for name in COLUMNS] for each in slow_readers.conllu(path)]
    if expected:  # else the file is refused as one without tokens
        found = read(path, COLUMNS, size)
        assert [list(each) for each in found.rows()] == expected
        assert found.equals(read(path, COLUMNS, size, by_bytes=False))


def mutated(content: str) -> Iterator[str]:
    """Yield a content with one of its signs left out, and with another in its place."""
    others = itertools.cycle("\t\n0_")
    for place in range(len(content)):
        for sign in ("", next(others)):
            yield content[:place] + sign + content[place + 1 :]


@pytest.mark.long
def test_what_is_certain_is_right(tmp_path: Path) -> None:
    """Whatever one sign does to a file: either the scan leaves it to the rules, or they agree."""
    path, certain = tmp_path / "t.conllu", 0
    short = SCANNED[SCANNED.index("# newdoc") : SCANNED.index("# only a")]
    for content in mutated(short):
        if scanned(content.encode(), 0, COLUMNS) is None:
            continue
        certain += 1
        path.write_text(content, newline="")
        assert read(path, COLUMNS, SIZES[-1]).equals(
            read(path, COLUMNS, SIZES[-1], by_bytes=False)
        ), content
    assert certain > 100


@pytest.mark.long
def test_whole_treebank(public_data: Callable[[str], Path]) -> None:
    path = public_data("corpora/UD_English-EWT.all.conllu.gz")
    for size in (1 << 16, 1 << 23):
        found = read(path, COLUMNS, size)
        assert found.equals(read(path, COLUMNS, size, by_bytes=False))
