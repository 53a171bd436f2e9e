"""The page escapes all its input."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.page.html import inline_json, render
from pipeline.report.page.model import (
    Answers,
    Data,
    FoldedParts,
    Grid,
    Link,
    Page,
    PageSection,
    Paragraph,
    Part,
    Picture,
    Place,
    Record,
    Statement,
)

NASTY = "</script><script>alert('1')</script><b>&amp;\"{{ 7 * 7 }}{% if %}"


class Tags(HTMLParser):
    """Counts elements, and collects the text outside scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self._in: str = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._in = tag

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002  as html.parser calls it
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in not in {"script", "style"}:
            self.texts.append(data)


def page(text: str = "plain", provenance: dict[str, Record] | None = None) -> Page:
    grid = Grid((text, "n"), (False, True), ((text, "1"),), text, omitted=7,
                links=(Link("csv", "tables/a.csv"),))  # fmt: skip
    picture = Picture(
        text, text, "data:image/svg+xml,", 640, 400, ({"title": text}, None), alt=text
    )
    parts: tuple[Part, ...] = (
        Paragraph(text),
        picture,
        grid,
        FoldedParts(text, (Paragraph(text),)),
    )
    data = (Data(text, 1, ()), Data("big", 9, (), "not copied"))
    section = PageSection("made", text, text, "score.rank", text, parts, data)
    statement = Statement(text, (text,), (Place("stage-made", ""), Place("figure-f", text)))
    answers = (
        Answers(text, "made", (statement,)),
        Answers(text, "", (statement,)),
        Answers(text, "", (statement,)),
    )
    return Page(
        text, text, (section,), {text: text} if provenance is None else provenance,
        answers=answers, cautions=(statement,),
    )  # fmt: skip


def test_no_input_becomes_markup() -> None:
    plain, nasty = (Tags(render(page(text))) for text in ("plain", NASTY))
    assert nasty.tags == plain.tags
    assert sum(NASTY in text for text in nasty.texts) == sum(
        "plain" in text for text in plain.texts
    )
    assert dict(nasty.attributes)["alt"] == NASTY


@given(st.recursive(st.text() | st.floats(allow_nan=False, allow_infinity=False) | st.none(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_inline_json_is_equal_json(value: object) -> None:
    text = inline_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


def test_inline_json_refuses_values_that_are_not_json() -> None:
    with pytest.raises(ValueError, match="JSON"):
        inline_json({"y": float("inf")})


def test_provenance_may_be_text_pairs_or_rows() -> None:
    given_records: dict[str, Record] = {
        "Experiment": 'name = "x"\n',
        "Versions": {"polars": "2.1.0"},
        "Tables": [{"table": "a", "rows": 5102}, {"table": "b", "digest": "ff"}],
    }
    html = render(page(provenance=given_records))
    assert ">name = &#34;x&#34;\n</pre>" in html
    assert '<th scope="row">polars</th><td>2.1.0</td>' in html
    assert '<th scope="row">a</th><td class="right">5,102</td><td>–</td>' in html
    assert '<th scope="row">b</th><td class="right">–</td><td>ff</td>' in html


def test_numbers_are_flush_right_under_a_sticky_heading() -> None:
    html = render(page())
    assert '<td class="right">1</td>' in html
    assert '<th scope="col" class="right">n</th>' in html
    assert "position: sticky" in html


def test_figures_tables_and_rows_are_numbered() -> None:
    html = render(page())
    for text in ("Figure 1.", "Table 1.", "7 more rows", "(1 row)", "(9 rows, not copied)"):
        assert text in html, text


def test_charting_scripts_occur_once_and_only_with_figures() -> None:
    assert render(page()).count("window.lexassayFigures=") == 1
    without = Tags(render(Page("t", "", (), {})))
    assert without.tags.count("script") == 1
    assert "noscript" not in without.tags


def test_figures_in_folds_are_drawn() -> None:
    picture = Picture("deep", "", "data:image/svg+xml,", 640, 400, ({"title": "x"}, None))
    fold = FoldedParts("more", (FoldedParts("still more", (picture,)),))
    result = render(Page("t", "", (PageSection("a", "a", "a", "a", "a", (fold,)),), {}))
    assert result.count('data-figure="deep"') == result.count("window.lexassayFigures=") == 1


def test_answers_are_first_and_link_to_their_section() -> None:
    html = render(page("Said so."))
    assert html.index('id="findings"') < html.index('id="stage-made"')
    assert '<strong>Said so.</strong> Said so. <a class="where" href="#stage-made"' in html
    assert '<a class="where" href="#figure-f">Said so.</a>' in html
    assert (
        html.count("<details") == 1 + 2 + 1 + 1 + 2
    )  # contents, further answers, a section, a fold, provenance
    assert "heading-cautions" in html


def test_a_page_without_findings_has_no_section_for_them() -> None:
    assert 'id="findings"' not in render(Page("t", "", (), {}))


def test_the_page_loads_nothing_from_outside() -> None:
    html = render(page())
    assert "default-src 'none'" in html
    assert not [value for name, value in Tags(html).attributes
                if name in {"src", "href"} and value and "//" in value]  # fmt: skip
