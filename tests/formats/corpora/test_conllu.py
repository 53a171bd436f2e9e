"""CoNLL-U and its byte scan against a slow reader, on treebanks and on difficult files."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.formats.base import format_of
from pipeline.formats.corpora.conllu import scan_block
from schemas import SchemaViolation, Tokens
from schemas.validate import check_columns, validate
from tests.formats.corpora import slow_readers
from tests.formats.corpora.corpus_files import (
    ONE_SIZE,
    parts_of,
    read,
    refusal,
    scan,
    skips,
    write,
)

TREEBANKS = ["UD_English-EWT.all", "de_gsd-ud-dev", "de_gsd-ud-test"]
TRAPS_CONLLU = (
    "\ufeff# columns = ID FORM\twith\ttabs\n"
    "\n"
    "# newdoc id = first doc \n"
    "# newpar id = p1\n"
    "# sent_id = 1\n"
    '# text = # says "it\'s" _\n'
    "1-2\t#s\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\t#\t#\tSYM\t$\tA=b\t2\tdep\t2:dep\tSpaceAfter=No\n"
    "2\tsays\tsay\tVERB\tVBZ\t_\t0\troot\t0:root\t_\n"
    '3\t"it\'s\t"\tX\t_\t_\t2\tx\t_\t_\n'
    "3.1\t_\tgone\t_\t_\t_\t_\t_\t3:x\t_\n"
    "# a comment between words\n"
    "4\t_\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n"
    "5\tone two\t_\tX\t_\t_\t_\t_\t_\tnull\n"
    "\n"
    "\n"
    "# only a comment\n"
    "\n"
    "# newpar\n"
    "0.1\tE\te\t_\t_\t_\t_\t_\t0:root\t_\n"
    "1\t_\thidden\tNUM\t_\t_\t0\troot\t_\t_\n"
    "\n"
    "#newdoc\n"
    "1\tNA\tnull\tX\t_\t_\t0\troot\t_\t_\n"
    "\n"
    "# newdocument is another comment\n"
    "# newdoc id=d3\n"
    "# newpar id = q\n"
    "1\tx\ty\tX\t\t_\t0\troot\t_\t"
)


@pytest.mark.parametrize("name", TREEBANKS)
@pytest.mark.long
def test_treebanks_agree_with_the_slow_reader(
    name: str, public_data: Callable[[str], Path]
) -> None:
    path = public_data(f"corpora/{name}.conllu.gz")
    expected = pl.DataFrame(slow_readers.conllu(path), infer_schema_length=None)
    tokens = read(path, normalise="none")
    assert {*tokens.columns} == {*expected.columns}
    assert tokens.equals(
        expected.select(tokens.columns).cast(
            pl.Schema({name: tokens.schema[name] for name in tokens.columns})
        )
    )
    assert read(path, normalise="none", lenient=True).equals(tokens)
    assert skips(path) == []


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["t.conllu", "t[1]*.conllu.gz", "T.CONLLU"])
@pytest.mark.parametrize("lenient", [False, True])
def test_difficult_lines_agree_with_the_slow_reader(
    name: str, ending: str, lenient: bool, tmp_path: Path
) -> None:
    path = write(tmp_path / name, TRAPS_CONLLU.replace("\n", ending))
    tokens = read(path, lenient=lenient)
    assert tokens.rows(named=True) == slow_readers.conllu(path)
    assert tokens.select("line", "doc", "paragraph", "sentence", "position", "form").rows() == [
        (8, "first doc", 1, 1, 1, "#"),
        (9, "first doc", 1, 1, 2, "says"),
        (10, "first doc", 1, 1, 3, "\"it's"),
        (13, "first doc", 1, 1, 4, "_"),
        (14, "first doc", 1, 1, 5, "one two"),
        (21, "first doc", 2, 2, 1, None),
        (24, "#2", None, 3, 1, "NA"),
        (29, "d3", 3, 4, 1, "x"),
    ]
    assert tokens["lemma"].to_list() == ["#", "say", '"', "_", "one two", "hidden", "null", "y"]
    assert tokens["head"].to_list() == [2, 0, 2, 2, None, 0, 0, 0]


def test_the_plan_has_its_columns_and_satisfies_its_schema(tmp_path: Path) -> None:
    path = write(tmp_path / "t.conllu", TRAPS_CONLLU)
    frame = read(path).select(pl.lit("t").alias("file"), pl.all())
    check_columns(frame.lazy(), Tokens, name="tokens")
    assert validate(frame.iter_slices(3), Tokens, name="tokens") == 8
    negative = frame.with_columns(-pl.col("head"))
    with pytest.raises(SchemaViolation, match="head_is_a_position"):
        validate([negative], Tokens, name="tokens")


def test_filter_and_selection_do_not_change_the_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "t.conllu", TRAPS_CONLLU)
    for lenient in (False, True):
        plan = scan(path, lenient=lenient)
        whole, noun = plan.collect(), pl.col("upos") == "X"
        columns = ["sentence", "doc", "paragraph", "line"]
        assert plan.filter(noun).select(columns).collect().equals(whole.filter(noun)[columns])
        assert plan.head(3).collect().equals(whole.head(3))
        assert plan.tail(2).select("doc").collect().equals(whole.tail(2).select("doc"))


def sentence_conllu(*ids: int, head: str = "0", extra: str = "") -> str:
    return "".join(f"{i}\tw{i}\tw\tX\t_\t_\t{head}\tdep\t_\t_{extra}\n" for i in ids) + "\n"


GOOD = sentence_conllu(1, 2)
WRONG_CONLLU = {
    "short line": ("3\tx\tx\n", "expected 10 fields, found 3"),
    "long line": (sentence_conllu(3, extra="\tmore"), "expected 10 fields, found 11"),
    "spaces for tabs": ("3 x x X _ _ 0 root _ _\n", "expected 10 fields, found 1"),
    "white line of another kind": ("\u2003\n", "expected 10 fields, found 1"),
    "no ID": ("\tx\tx\tX\t_\t_\t0\t_\t_\t_\n", "ID is not a number"),
    "odd ID": ("3a\tx\tx\tX\t_\t_\t0\t_\t_\t_\n", "ID is not a number, range or decimal: '3a'"),
    "ID twice": (sentence_conllu(2), "duplicate ID: '2'"),
    "ID omitted": (sentence_conllu(4), "not the ID 3 that should follow: '4'"),
    "head outside": (
        sentence_conllu(3, head="4"),
        "head outside its sentence, whose last token is 3: '4'",
    ),
    "head negative": (sentence_conllu(3, head="-1"), "head is not a whole number: '-1'"),
    "head no number": (sentence_conllu(3, head="x"), "head is not a whole number: 'x'"),
    "not UTF-8": (sentence_conllu(3).replace("w3", "\udce4"), "UTF-8"),
    "NUL": (sentence_conllu(3).replace("w3", "w\0"), "NUL"),
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "packed"), [*((case, False) for case in sorted(WRONG_CONLLU)), ("NUL", True)]
)
def test_damaged_lines_are_named_and_skipped(case: str, packed: bool, tmp_path: Path) -> None:
    damage, problem = WRONG_CONLLU[case]
    content = GOOD + GOOD.removesuffix("\n") + damage.rstrip("\n") + "\n\n" + GOOD
    raw = content.encode("utf-8", "surrogateescape")
    path = write(tmp_path / ("t.conllu.gz" if packed else "t.conllu"), raw)
    message = refusal(path)
    for words in [path.name, "1 line ", "line 6:", problem]:
        assert words in message
    (skip,) = skips(path)
    assert skip.line == 6
    assert problem in str(skip)
    assert read(path, lenient=True)["sentence"].to_list() == [1, 1, 3, 3]


def test_the_first_bad_lines_are_quoted_and_all_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.conllu", GOOD + sentence_conllu(1, 3, 3, 9, head="7") + sentence_conllu(2)
    )
    message = refusal(path)
    assert "4 lines" in message
    assert [f"line {line}:" in message for line in (4, 5, 6, 7, 9)] == [False, *[True] * 3, False]
    assert "lenient = true" in message
    assert [skip.line for skip in skips(path)] == [5, 9]


def test_one_mistake_is_reported_once(tmp_path: Path) -> None:
    path = write(tmp_path / "t.conllu", GOOD.removesuffix("\n") + "3x\tx\n" + sentence_conllu(4, 5))
    assert "1 line " in refusal(path)
    late = write(tmp_path / "u.conllu", GOOD.removesuffix("\n") + sentence_conllu(4, 5))
    assert "1 line " in refusal(late)


def test_line_ends_are_kept_beside_an_undecodable_line(tmp_path: Path) -> None:
    content = (GOOD + sentence_conllu(1) + GOOD).replace("\n", "\r\n").encode()
    path = write(
        tmp_path / "t.conllu", content.replace(b"w1", b"\xff", 2).replace(b"\xff", b"w1", 1)
    )
    assert [skip.line for skip in skips(path)] == [4]
    tokens = read(path, lenient=True)
    assert tokens["line"].to_list() == [1, 2, 6, 7]
    assert tokens["misc"].to_list() == [None] * 4


def test_sentences_without_a_blank_line_between_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.conllu", GOOD.strip("\n") + "\n" + GOOD)
    assert "line 3: duplicate ID: '1'" in refusal(path)


@pytest.mark.long
def test_an_option_requires_unique_sent_ids(tmp_path: Path) -> None:
    content = "".join(f"# sent_id = {name}\n{GOOD}" for name in ["a", "b", "a ", "c"])
    path = write(tmp_path / "t.conllu", content)
    assert read(path).height == 8
    assert "line 9: duplicate sent_id: 'a'" in refusal(path, unique_sent_id=True)
    options: dict[str, Any] = {"unique_sent_id": True, "lenient": True}
    assert read(path, **options)["sentence"].unique().sort().to_list() == [1, 2, 4]
    assert [skip.line for skip in skips(path, **options)] == [9]


@pytest.mark.parametrize("content", ["", "\n\n", "# newdoc\n\n"])
def test_an_empty_file_is_refused(content: str, tmp_path: Path) -> None:
    for name in ("t.conllu", "t.conllu.gz"):
        path = write(tmp_path / name, content)
        assert "line 1: the file is empty" in refusal(path)
        (skip,) = skips(path)
        assert "empty" in skip.problem
        assert read(path, lenient=True).is_empty()
        assert scan(path).collect_schema() == read(path, lenient=True).schema


@pytest.mark.parametrize("lenient", [False, True])
def test_damaged_or_misnamed_gzip_files_are_refused(lenient: bool, tmp_path: Path) -> None:
    packed = gzip.compress((GOOD * 5000).encode())
    hopeless = {
        "plain.conllu.gz": GOOD.encode(),
        "packed.conllu": packed,
        "cut.conllu.gz": packed[: len(packed) // 2],
        "damaged.conllu.gz": packed[:-8] + b"12345678",
    }
    for name, raw in hopeless.items():
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(DataError, match=f"{name}.*gzip"):
            read(tmp_path / name, lenient=lenient)


FIELD = st.text(
    st.characters(blacklist_characters="\t\n\r\0", blacklist_categories=["Cs"]), min_size=1
)
HEADS = st.one_of(st.just("_"), st.integers(0, 3).map(str))


@st.composite
def sentences(draw: st.DrawFn) -> tuple[str, str, bool]:
    """Draw a sentence, a valid one with as many lines, and whether the first is valid."""
    size = draw(st.integers(1, 4))
    cells = [[str(i + 1), *(draw(FIELD) for _ in range(9))] for i in range(size)]
    heads = [draw(HEADS) for _ in range(size)]
    for row, head in zip(cells, heads, strict=True):
        row[6] = head
    damage = draw(st.sampled_from(["", "", "", "cut", "grow", "twice", "drop"]))
    victim = draw(st.integers(0, size - 1))
    if damage == "cut":
        cells[victim].pop()
    if damage == "grow":
        cells[victim].append("x")
    if damage == "twice":
        cells.insert(victim, cells[victim])
    if damage == "drop":
        cells[victim][0] = "x"
    comments = draw(st.lists(st.sampled_from(["# a\tb", "# newdoc id = d", "#"]), max_size=2))
    before = "".join(f"{comment}\n" for comment in comments)
    whole = not damage and all(head == "_" or int(head) <= size for head in heads)
    text = before + "".join("\t".join(row) + "\n" for row in cells)
    other = before + sentence_conllu(*range(1, len(cells) + 1)).removesuffix("\n")
    return text, text if whole else other, whole


@pytest.mark.long
@given(
    triples=st.lists(sentences(), min_size=1, max_size=6), blanks=st.integers(1, 3), sizes=ONE_SIZE
)
def test_the_lenient_reader_skips_broken_sentences_alone(
    triples: list[tuple[str, str, bool]],
    blanks: int,
    sizes: list[int],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("drawn")
    path = write(folder / "t.conllu", ("\n" * blanks).join(text for text, _, _ in triples))
    mended = write(folder / "m.conllu", ("\n" * blanks).join(text for _, text, _ in triples))
    broken = [number for number, (_, _, whole) in enumerate(triples, start=1) if not whole]
    expected = slow_readers.conllu(mended)
    assert read(mended, sizes=sizes, normalise="none").rows(named=True) == expected
    whole_rows = [row for row in expected if row["sentence"] not in broken]
    assert read(path, sizes=sizes, lenient=True, normalise="none").rows(named=True) == whole_rows
    assert len(skips(path)) == len(broken)
    if broken:
        assert str(path) in refusal(path, sizes=sizes)


# CoNLL-U by its bytes, against a slow reader and against the other ways to read it.

PLACES = ["line", "doc", "paragraph", "sentence", "position"]
ATTRIBUTES = ["form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"]
COLUMNS = [*PLACES, *ATTRIBUTES]
SIZES = (1, 300, 1 << 23)
# The scan leaves comments with a tab to the rules; what precedes the first line is no part.
SCANNED = TRAPS_CONLLU.removeprefix("\ufeff").replace("FORM\twith\ttabs", "FORM")


def read_in_parts(
    path: Path, columns: list[str], size: int, *, by_bytes: bool = True
) -> pl.DataFrame:
    """Read some columns; with unique sent_ids there is no scan."""
    format_ = format_of(path.name)
    options = format_.options.model_validate({"unique_sent_id": not by_bytes, "normalise": "none"})
    assert format_.read is not None
    return pl.concat(batch.tokens for batch in format_.read(path, options, columns, size))


@pytest.mark.long
def test_the_scan_reads_difficult_lines(tmp_path: Path) -> None:
    assert scan_block(SCANNED.encode(), 0, COLUMNS) is not None
    path = tmp_path / "t.conllu"
    path.write_text(SCANNED)
    expected = pl.DataFrame(slow_readers.conllu(path), infer_schema_length=None)
    for size in SIZES:
        tokens = read_in_parts(path, COLUMNS, size)
        assert tokens.rows() == expected.select(COLUMNS).rows()
        assert tokens.equals(read_in_parts(path, COLUMNS, size, by_bytes=False))
        for name in COLUMNS:
            assert read_in_parts(path, [name], size).equals(tokens.select(name))


@pytest.mark.parametrize("case", sorted({*WRONG_CONLLU} - {"not UTF-8", "NUL"}))
def test_the_scan_leaves_invalid_lines_to_the_rules(case: str) -> None:
    damage, _ = WRONG_CONLLU[case]
    good = sentence_conllu(1, 2)
    broken = good.removesuffix("\n") + damage.rstrip("\n") + "\n\n"
    assert scan_block(good.encode(), 0, COLUMNS) is not None
    assert scan_block((good + broken + good).encode(), 0, COLUMNS) is None


def test_the_scan_does_not_read_surfaces_and_spaces(tmp_path: Path) -> None:
    assert scan_block(SCANNED.encode(), 0, ["form", "surface"]) is None
    assert scan_block(SCANNED.encode(), 0, ["space_after"]) is None


def test_the_scan_finds_no_tokens_in_empty_content() -> None:
    for content in (b"", b"\n\n", b"# newdoc\n\n"):
        scanned = scan_block(content, 0, COLUMNS)
        assert scanned is not None
        assert scanned.tokens.is_empty()
        assert scanned.sentences == 0
        assert scanned.documents.height == content.count(b"newdoc")


FIELD_CONLLU_SCAN = st.one_of(
    st.sampled_from(["_", "", "#", "NOUN", "exactly12chr", "just13letters", "<unknown>"]),
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
        "# sent_id = s",
        "#sent_id=",
        "# a = 1",
        "# A  = two = 2 ",
        "# global.columns = x",
    ]
)
METADATA = ["sent_id", "newdoc", "newpar", "a"]


def row(draw: st.DrawFn, identity: str, size: int) -> str:
    """Draw a line under an ID in a sentence of so many words."""
    fields = [identity, *(draw(FIELD_CONLLU_SCAN) for _ in ATTRIBUTES)]
    fields[6] = draw(st.sampled_from(["_", "", *map(str, range(size + 1))]))
    return "\t".join(fields)


@st.composite
def sentences_in_parts(draw: st.DrawFn) -> str:
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
@given(texts=st.lists(sentences_in_parts(), min_size=1, max_size=5), size=st.sampled_from(SIZES))
def test_the_scan_agrees_with_the_slow_reader(
    texts: list[str], size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = "\n".join(texts)
    assume(not content.startswith("# global.columns"))  # a header that names other columns
    assert scan_block(content.encode(), 0, COLUMNS) is not None
    path = tmp_path_factory.mktemp("drawn") / "t.conllu"
    path.write_text(content, newline="")
    expected = [[each[name] for name in COLUMNS] for each in slow_readers.conllu(path)]
    if expected:  # else the file is refused as one without tokens
        tokens = read_in_parts(path, COLUMNS, size)
        assert [list(each) for each in tokens.rows()] == expected
        if content.count("sent_id") < 2:  # else it may come twice
            assert tokens.equals(read_in_parts(path, COLUMNS, size, by_bytes=False))
        format_ = format_of(path.name)
        assert format_.read
        options = format_.options.model_validate({"metadata": ["a"]})
        metadata = pl.concat(each.tokens for each in format_.read(path, options, METADATA, size))
        twin = [[each.get(name) for name in METADATA] for each in slow_readers.conllu(path)]
        assert [list(each) for each in metadata.rows()] == twin


def mutations(content: str) -> Iterator[str]:
    """Yield a content with one character removed, and with another in its place."""
    others = itertools.cycle("\t\n0_")
    for place in range(len(content)):
        for sign in ("", next(others)):
            yield content[:place] + sign + content[place + 1 :]


@pytest.mark.long
def test_the_scan_agrees_with_the_rules_after_any_mutation(tmp_path: Path) -> None:
    """After a change of one character, the scan leaves a file to the rules or agrees with them."""
    path, certain = tmp_path / "t.conllu", 0
    short = SCANNED[SCANNED.index("# newdoc") : SCANNED.index("# only a")]
    for content in mutations(short):
        if scan_block(content.encode(), 0, COLUMNS) is None:
            continue
        certain += 1
        path.write_text(content, newline="")
        assert read_in_parts(path, COLUMNS, SIZES[-1]).equals(
            read_in_parts(path, COLUMNS, SIZES[-1], by_bytes=False)
        ), content
    assert certain > 100


@pytest.mark.long
def test_the_scan_of_a_treebank_agrees_with_the_rules(public_data: Callable[[str], Path]) -> None:
    path = public_data("corpora/UD_English-EWT.all.conllu.gz")
    for size in (1 << 16, 1 << 23):
        tokens = read_in_parts(path, COLUMNS, size)
        assert tokens.equals(read_in_parts(path, COLUMNS, size, by_bytes=False))


WITH_METADATA = """# newdoc id = d1
# meta::genre = news
# newpar id = p1
# sent_id = s1
# speaker = A
1\ta\ta\tX\t_\t_\t0\troot\t_\t_

# meta::genre = own
1\tb\tb\tX\t_\t_\t0\troot\t_\t_

# newpar
1\tc\tc\tX\t_\t_\t0\troot\t_\t_

# newdoc
# meta::genre = novel
# late = yes
1\td\td\tX\t_\t_\t0\troot\t_\t_
"""


def test_comments_are_attributes_of_sentences_and_documents(tmp_path: Path) -> None:
    path = write(tmp_path / "t.conllu", WITH_METADATA)
    tokens = read(path)
    columns = ["form", "sent_id", "newdoc", "newpar", "meta_genre", "speaker", "late"]
    assert tokens.select(columns).rows() == [
        ("a", "s1", "d1", "p1", "news", "A", None),
        ("b", None, "d1", "p1", "own", None, None),
        ("c", None, "d1", None, "news", None, None),
        ("d", None, None, None, "novel", None, "yes"),
    ]
    assert scan(path).filter(meta_genre="news").select("form").collect().to_series().to_list() == [
        "a",
        "c",
    ]
    long = write(tmp_path / "u.conllu", (WITH_METADATA + "\n") * 20)
    assert len(parts_of(long, 300)) > 3
    format_ = format_of(long.name)
    assert format_.divide
    assert format_.read_part
    options, parts = format_.options(), format_.divide(long, format_.options(), 300).parts
    pieces = (format_.read_part(long, options, columns, 99, part) for part in parts)
    joined = pl.concat(each.tokens for piece in pieces for each in piece)
    assert joined.equals(read(long).select(columns))


@pytest.mark.parametrize(
    ("comments", "names"),
    [
        ("# Form = x\n# doc = y\n# global.columns = ID FORM\n# = z\n#no equals\n", []),
        ("# a b = 1\n# A.B = 2\n# a_b = 3\n", ["a_b"]),
        ("# größe = 1\n", ["größe"]),
    ],
)
def test_keys_of_comments_become_names_of_attributes(
    comments: str, names: list[str], tmp_path: Path
) -> None:
    path = write(tmp_path / "t.conllu", "# x\n" + comments + GOOD)
    assert read(path).columns[16:] == ["sent_id", "newdoc", "newpar", *names]
    renamed = read(path, metadata=["later key"])
    assert renamed.columns[16:] == ["sent_id", "newdoc", "newpar", "later_key", *names]
    assert renamed["later_key"].to_list() == [None, None]


# CoNLL-U Plus: columns that a file names, against the same words in CoNLL-U.

PLAIN = [
    ("1-2", "vom", *"________"),
    ("1", "von", "von", "ADP", "_", "_", "3", "case", "_", "_"),
    ("2", "dem", "der", "DET", "_", "_", "3", "det", "_", "_"),
    ("3", "Tee", "_", "NOUN", "_", "_", "0", "root", "_", "SpaceAfter=No"),
]
ORDERS = {
    "all": "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE",
    "other order": "ID DEPREL HEAD FORM MISC LEMMA PARSEME:MWE",
    "few": "ID FORM UPOS PARSEME:MWE",
    "no heads": "ID FORM LEMMA MISC",
}
_NAMES = ["ID", *(name.upper() for name in ATTRIBUTES)]


def plus(order: str, *, with_names: bool = True) -> str:
    """Write the words with the columns in an order, twice."""
    names, codes = order.split(), ["*", "1:VID", "_", "1"]
    rows = [dict(zip(_NAMES, row, strict=True)) for row in PLAIN]
    rows = [row | {"PARSEME:MWE": code} for row, code in zip(rows, codes, strict=True)]
    text = "".join("\t".join(row[name] for name in names) + "\n" for row in rows) + "\n"
    return (f"# global.columns = {order}\n" if with_names else "# a comment\n") + text * 2


@pytest.mark.long
@pytest.mark.parametrize("case", ORDERS)
@pytest.mark.parametrize("name", ["t.conllup", "t.cupt.gz", "t.conllu"])
def test_the_file_names_its_columns(case: str, name: str, tmp_path: Path) -> None:
    path, order = write(tmp_path / name, plus(ORDERS[case])), ORDERS[case]
    lines = ["\t".join(row) for row in PLAIN]
    expected = read(write(tmp_path / "p.conllu", "\n".join(["# a comment", *lines, "", *lines])))
    tokens = read(path)
    own = [each.lower() for each in order.split()[1:] if each.lower() in ATTRIBUTES]
    further = ["parseme_mwe"] if "PARSEME:MWE" in order else []
    spelt = ["surface", "space_after", "sent_id", "newdoc", "newpar"]
    assert set(tokens.columns[5:]) == {*own, *further, *spelt}
    places = [each for each in PLACES if each != "line"]
    same = [*places, *own, "surface", *(["space_after"] if "MISC" in order else [])]
    assert tokens.select(same).equals(expected.select(same))
    if further:
        assert tokens["parseme_mwe"].to_list() == ["1:VID", None, "1"] * 2
    unnamed = write(tmp_path / f"u{name}", plus(order, with_names=False))
    assert read(unnamed, columns=order.split()).drop("line").equals(tokens.drop("line"))
    assert len(parts_of(write(tmp_path / "long.conllup", plus(order) * 9), 60)) > 1


def test_the_extension_gives_the_columns_of_streusle(tmp_path: Path) -> None:
    row = "\t".join(["1", "a", "a", *"_______", "1:1", "V.VID", "a b", *"______"])
    tokens = read(write(tmp_path / "t.conllulex", row + "\n"))
    assert tokens.select("smwe", "lexcat", "lexlemma", "wmwe").row(0) == (
        "1:1",
        "V.VID",
        "a b",
        None,
    )


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("FORM ID LEMMA", "the first column must be ID, and another must be FORM"),
        ("ID LEMMA", "another must be FORM"),
        ("ID FORM LEMMA FORM", "duplicate names: form"),
        ("ID FORM DOC", "'doc' is a column that the reader adds"),
    ],
)
def test_impossible_columns_are_refused(order: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.cupt", f"# global.columns = {order}\n1\ta\n")
    with pytest.raises(DataError) as refused:
        scan(path)
    assert str(refused.value).startswith(
        f"{path}: line 1: the columns {', '.join(order.split())}: "
    )
    assert message in str(refused.value)
