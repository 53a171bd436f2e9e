"""TEI XML: tokens of small files, agreement with plain text, and files that are refused."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.formats.base import format_of
from tests.formats.corpora.corpus_files import ONE_SIZE, read, refusal, scan, skips, write

HEADER = """<teiHeader><fileDesc>
<titleStmt><title>A  Title</title><title type="sub">Other</title><author>B, C.</author><author>D</author></titleStmt>
<publicationStmt><date when="2019-11-09"/></publicationStmt>
<sourceDesc><bibl><title>No</title><author>No</author><date>1865</date><date>1999</date></bibl></sourceDesc>
</fileDesc><profileDesc><langUsage><language ident="eng">English</language></langUsage></profileDesc></teiHeader>
"""


def tei(body: str, *, header: str = "", text: str = "<text>", name: str = "") -> str:
    identity = f' xml:id="{name}"' if name else ""
    return f'<TEI xmlns="http://www.tei-c.org/ns/1.0"{identity}>{header}{text}<body>{body}</body></text></TEI>'


def tokens(path: Path, **options: Any) -> list[list[str]]:
    """Return the tokens of each sentence, preceded by the number of its paragraph."""
    table = read(path, **{"language": "en", **options})
    rows = table.group_by("sentence", maintain_order=True).agg("form", "paragraph")
    return [[f"{row['paragraph'][0]}", *row["form"]] for row in rows.iter_rows(named=True)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>The <hi>old</hi> ho<hi>use</hi>\n  stood<lb/>by. The end.</p><p>Two</p>",
         ["1 The old house stood by .", "1 The end .", "2 Two"]),
        ("<div><head>One</head><p>a</p> loose <p>b</p></div>", ["1 One", "2 a", "3 loose", "4 b"]),
        ("<p>exam<lb break='no'/>ple a<pb/>b</p>", ["1 example a b"]),
        ("<lg><l>One line</l><l>goes on. Two</l></lg><lg><l>three</l></lg>",
         ["1 One line goes on .", "1 Two", "2 three"]),
        ("<p>a<note>gone <p>too</p></note> b <choice><sic>teh</sic><corr>the</corr></choice> c</p>",
         ["1 a b the c"]),
        ("<p><s>One. Two</s> <s>three</s> four. Five</p>", ["1 One . Two", "1 three", "1 four .", "1 Five"]),
        ("<sp><speaker>A</speaker><p>x<stage>(off)</stage>y</p></sp>", ["1 A", "2 x", "3 ( off )", "4 y"]),
        ("<p>a &amp; &lt;b&gt; &#233;<![CDATA[ <c>]]></p>", ["1 a & < b > é < c >"]),
        ("<p>Mr. Smith left.</p>", ["1 Mr Smith left ."]),
        ("<p/><p> </p><p>x</p>", ["1 x"]),
        ("<p>a<!-- no --><?no thing?>b</p>", ["1 ab"]),
    ],
)  # fmt: skip
def test_running_text_is_divided_into_tokens(
    body: str, expected: list[str], tmp_path: Path
) -> None:
    for name in ("t.xml", "t.tei.gz"):
        path = write(tmp_path / name, tei(body))
        assert tokens(path) == [each.split(" ") for each in expected]
    for end in ("\r", "\r\n"):
        ended = write(tmp_path / "e.xml", tei(body).replace("\n", end))
        assert tokens(ended) == [each.split(" ") for each in expected]
    prefixed = tei(body).replace("xmlns=", "xmlns:t=").replace("<", "<t:").replace("<t:/", "</t:")
    for mark in ("!", "?"):
        prefixed = prefixed.replace(f"<t:{mark}", f"<{mark}")
    if "CDATA" not in body:
        assert tokens(write(tmp_path / "u.xml", prefixed)) == [e.split(" ") for e in expected]


WORDS = (
    '<p><s><w lemma="the" pos="DT">The</w> <w lemma="&lt;unknown&gt;" pos="NN">z<lb/>arp</w>'
    '<pc>,</pc> <w>do<seg/></w><w lemma="not">n\'t</w></s>\n<s><w join="right">l\'</w>\n<w>eau</w>'
    '\n<pc join="left">.</pc></s></p><p><w><w>in</w><w>to</w></w> rest</p>'
)


def test_marked_words_are_tokens_with_their_attributes(tmp_path: Path) -> None:
    path = write(tmp_path / "t.xml", tei(WORDS))
    table = read(path)
    assert table.select("paragraph", "sentence", "position", "form", "lemma", "pos").rows() == [
        (1, 1, 1, "The", "the", "DT"), (1, 1, 2, "zarp", "zarp", "NN"), (1, 1, 3, ",", None, None),
        (1, 1, 4, "do", None, None), (1, 1, 5, "n't", "not", None),
        (1, 2, 1, "l'", None, None), (1, 2, 2, "eau", None, None), (1, 2, 3, ".", None, None),
        (2, 3, 1, "in", None, None), (2, 3, 2, "to", None, None),
    ]  # fmt: skip
    assert table["space_after"].to_list() == [
        None, "", None, "", None, "", "", None, None, None,
    ]  # fmt: skip  # the last sentence has no white space, so nothing is known
    format_ = format_of("t.xml")
    assert format_.read
    (batch,) = format_.read(path, format_.options(), ["form"], 1 << 20)
    assert batch.replaced == {"lemma <unknown>": 1, "element text outside w": 1}
    assert read(path, placeholders=[])["lemma"][1] == "<unknown>"
    other = read(path, attributes=["pos"])
    assert "lemma" not in other.columns
    assert other["pos"].to_list() == table["pos"].to_list()


def test_documents_have_the_metadata_of_their_headers(tmp_path: Path) -> None:
    one = tei("<p>a b</p>", header=HEADER, name="x1")
    two = tei("<p>c</p>", text='<text xml:lang="fr-CA">').replace(
        "<body>", "<front><p>no</p></front><body>"
    )
    corpus = f"<teiCorpus>{HEADER.replace('A  Title', 'All')}{one}{two}{tei('', name='none')}{tei('<p>d</p>')}</teiCorpus>"
    path = write(tmp_path / "t.xml", corpus.replace(' xmlns="http://www.tei-c.org/ns/1.0"', ""))
    table = read(path)
    assert table.select("form", "doc", "title", "author", "date", "language").rows() == [
        *((form, "x1", "A Title", "B, C.; D", "1865", "eng") for form in "ab"),
        ("c", "#2", None, None, None, "fr-CA"), ("d", "#3", None, None, None, None),
    ]  # fmt: skip
    front = read(path, parts=["front", "body"])
    assert front["form"].to_list() == ["a", "b", "no", "c", "d"]


@pytest.mark.parametrize(
    ("header", "date"),
    [
        ("<profileDesc><creation><date when='1850'/></creation></profileDesc>", "1850"),
        ("<fileDesc><publicationStmt><date>2000</date></publicationStmt></fileDesc>", "2000"),
        ("<revisionDesc><change><date>2020</date></change></revisionDesc>", None),
    ],
)
def test_headers_give_dates(header: str, date: str | None, tmp_path: Path) -> None:
    path = write(tmp_path / "t.xml", tei("<p>a</p>", header=f"<teiHeader>{header}</teiHeader>"))
    assert read(path)["date"].to_list() == [date]


def test_declared_encodings_are_used(tmp_path: Path) -> None:
    text = f"<?xml version='1.0' encoding='%s'?>{tei('<p>née</p>')}"
    for encoding in ("ISO-8859-1", "windows-1252", "UTF-16", "UTF-8"):
        path = write(tmp_path / f"{encoding}.xml", (text % encoding).encode(encoding))
        assert read(path)["form"].to_list() == ["née"]


BOMB = "<!DOCTYPE TEI [<!ENTITY a 'ha'>" + "".join(
    f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12)
) + "]>"  # fmt: skip


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (BOMB.replace("a0", "a") + tei("<p>&a11;</p>"), "line 1: entity declarations ('a'"),
        ("\n<!DOCTYPE TEI [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>" + tei("<p>&x;</p>"), "line 2: entity declarations ('x'"),
        ("<!DOCTYPE TEI [<!ENTITY % p SYSTEM 'http://x.invalid/x.dtd'> %p;]>" + tei("<p>a</p>"), "entity declarations ('p'"),
        ("<!DOCTYPE TEI SYSTEM 'tei.dtd'>" + tei("<p>n&eacute;e</p>"), "line 1: the entity &eacute; is declared in another file"),
        (tei("<p>&eacute;</p>"), "line 1, character 57: not well-formed XML: undefined entity"),
        (tei("<p>a</q>"), "not well-formed XML: mismatched tag"),
        (tei("<p>a</p>")[:-4], "not well-formed XML"),
        ("plain text", "line 1, character 1: not well-formed XML"),
        ("<html><p>a</p></html>", "line 1: the first element is <html>, so this is not TEI"),
        (tei("<p> </p>"), "the file is empty: it has no tokens"),
        (tei("<p>" + "人人人人人人人" + "</p>", text='<text xml:lang="zh">'), "Chinese is written without blanks"),
    ],
)  # fmt: skip
def test_invalid_files_are_refused_quickly(content: str, problem: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.xml", content)
    start = time.monotonic()
    message = refusal(path)
    assert time.monotonic() - start < 1
    assert message.startswith(str(path))
    assert problem in message
    if "no tokens" not in problem:
        with pytest.raises(DataError):
            read(path, lenient=True)


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff"])
def test_an_empty_file_is_refused(content: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.xml", content)
    assert "the file is empty: it has no tokens\nOmit it" in refusal(path)
    assert len(skips(path)) == 1
    assert read(path, lenient=True).is_empty()


def test_a_document_type_alone_is_accepted(tmp_path: Path) -> None:
    types = "<!DOCTYPE TEI SYSTEM 'tei.dtd' [<!ATTLIST p n CDATA 'x'>]>"
    assert read(write(tmp_path / "t.xml", types + tei("<p>a</p>")))["form"].to_list() == ["a"]


WORD = st.sampled_from(["The", "house", "Mr.", "don't", "3.", "Mai", "end.", "«a»", "é", "No", "5"])
MARKUP = st.sampled_from(
    ["%s", "%s", "<hi>%s</hi>", "<hi/>%s", "%s<note>gone</note>", "<seg>%s\n</seg>"]
)


@given(
    paragraphs=st.lists(
        st.lists(st.tuples(WORD, MARKUP), min_size=1, max_size=8), min_size=1, max_size=6
    ),
    sizes=ONE_SIZE,
)
def test_text_is_read_like_plain_text(
    paragraphs: list[list[tuple[str, str]]],
    sizes: list[int],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("tei")
    marked = [" ".join(mark % escape(word) for word, mark in words) for words in paragraphs]
    body = "".join(f"<p>{each}</p>\n" for each in marked)
    table = read(write(folder / "t.xml", tei(body)), sizes=sizes, language="de")
    plain = "\n".join(" ".join(word for word, _ in words) for words in paragraphs)
    same = read(write(folder / "t.txt", plain), sizes=sizes, language="de", sentences="split")
    places = ["paragraph", "sentence", "position", "form", "space_after"]
    assert table.select(places).equals(same.select(places))


def test_queries_read_single_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "t.xml", tei("<p>a b</p>" * 50, header=HEADER))
    query = scan(path)
    assert query.collect_schema() == read(path).schema
    assert query.filter(form="b").select("sentence", "title").head(2).collect().rows() == [
        (1, "A Title"), (2, "A Title"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "text", "counts"),
    [
        (HEADER, "<text>", {}),
        ("", '<text xml:lang="fr">', {}),
        ("", "<text>", {"language English": 1}),
    ],
)
def test_only_a_guessed_language_is_counted(
    tmp_path: Path, declared: str, text: str, counts: dict[str, int]
) -> None:
    body = "<p>" + "The dog that was in the house did not see her. " * 20 + "</p>"
    path = write(tmp_path / "t.xml", tei(body, header=declared, text=text))
    format_ = format_of("t.xml")
    assert format_.read
    (batch,) = format_.read(path, format_.options(), ["form"], 1 << 20)
    assert {name: n for name, n in batch.replaced.items() if name.startswith("language")} == counts
